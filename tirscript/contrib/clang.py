"""C and C++ as modules in LLVM's language, for ``pragma_import_llvm``.

clang writes such modules itself.  What another compiler (gcc) writes is assembly, which a module in LLVM's
language may carry: the functions are there all the same, but LLVM cannot inline them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tirscript.diagnostics import TirscriptError


def find_clang(required: bool = True) -> list[str]:
    """The clang programs in the path, newest first.

    ``no-compiler``: none is there and ``required`` is given.
    """
    names = ["clang", *[f"clang-{n}" for n in range(25, 10, -1)]]
    found = [p for p in map(shutil.which, names) if p]
    if required and not found:
        raise TirscriptError("there is no clang in the path", code="no-compiler")
    return found


def create_llvm(
    inputs: str | Sequence[str],
    output: str | None = None,
    options: Sequence[str] | None = None,
    cc: str | None = None,
) -> str:
    """The text of an LLVM module with the functions of C or C++ code (or of files of it).

    ``cc`` is the compiler: clang if there is one, else ``c++``, ``g++``, ``cc`` or ``gcc``; ``options`` are
    added to ``-O3``.  Code that says ``extern "C"``, and files of C++, are C++.  With ``output`` the text is
    written there, too, and its path is what is returned.
    ``no-compiler``: there is none; ``compile-error``: it refuses the code.

    Source: TVM's ``contrib.clang.create_llvm``.
    """
    compiler = cc or _compiler()
    sources = [inputs] if isinstance(inputs, str) else list(inputs)
    parts = [_compiled(s, compiler, list(options or [])) for s in sources]
    if len(parts) > 1 and not all("module asm" in p and "define" not in p for p in parts):
        raise TirscriptError("several sources at once need one module each", code="compile-error")
    text = "\n".join(parts)
    if output is None:
        return text
    Path(output).write_text(text, encoding="utf-8")
    return output


def _compiler() -> str:
    found = find_clang(required=False)
    if found:
        return found[0]
    for name in ("c++", "g++", "cc", "gcc"):
        path = shutil.which(name)
        if path:
            return path
    raise TirscriptError(
        "there is no C compiler in the path", code="no-compiler", hint="install clang or gcc, or give cc=..."
    )


def _compiled(source: str, compiler: str, options: list[str]) -> str:
    is_file = "\n" not in source and Path(source).is_file()
    code = Path(source).read_text(encoding="utf-8") if is_file else source
    plus = is_file and Path(source).suffix not in (".c", ".h")
    language = "c++" if plus or 'extern "C"' in code else "c"
    clang = "clang" in Path(compiler).name
    with tempfile.TemporaryDirectory(prefix="tirscript_") as folder:
        out = Path(folder, "out.ll" if clang else "out.s")
        command = [compiler, "-x", language, "-O3", "-S", "-fPIC", *options, "-o", str(out), "-"]
        command += ["-emit-llvm"] if clang else ["-fno-asynchronous-unwind-tables", "-fno-exceptions", "-g0"]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TirscriptError(
                f"{Path(compiler).name} refuses the code:\n{done.stderr.strip()}", code="compile-error"
            )
        text = out.read_text(encoding="utf-8")
    return text if clang else as_module(text)


def as_module(assembly: str) -> str:
    """Assembly as a module in LLVM's language that carries it.

    >>> print(as_module(".globl f"))
    ; compiled to assembly
    module asm ".globl f"
    """
    lines = ["; compiled to assembly"]
    for line in assembly.splitlines():
        if not line.strip() or re.match(r"\s*\.(file|ident|loc|cfi_\w+)\b", line):
            continue
        text = line.replace("\t", " ").replace("\\", "\\5C").replace('"', "\\22").strip()
        lines.append(f'module asm "{text}"')
    return "\n".join(lines)


__all__ = ["as_module", "create_llvm", "find_clang"]
