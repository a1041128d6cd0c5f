"""Modules in LLVM's language that a program brings along, linked into its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tirscript.diagnostics import CodegenError

ATTRIBUTE = "tirscript.import_llvm"
_DECLARED = re.compile(r'^declare [^\n@]*@"?([^"(\n]+)"?\(([^\n]*)\)', re.M)


def imports_of(functions: Any) -> tuple[str, ...]:
    """The modules that the functions ask for, each once."""
    texts: dict[str, None] = {}
    for f in functions:
        for text in f.attrs.get(ATTRIBUTE, ()):
            texts[str(text)] = None
    return tuple(texts)


def link(text: str, externs: tuple[str, ...], imports: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The module with the others linked in, and what the process must still have."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmparser()
    whole = llvm.parse_assembly(text)
    declared = {m[1]: _types(m[2]) for m in _DECLARED.finditer(text)}
    defined: set[str] = set()
    for source in imports:
        other = _parsed(llvm, source)
        for f in other.functions:
            if not f.is_declaration:
                _check(f, declared, defined)
                defined.add(f.name)
        defined |= set(re.findall(r'^module asm "\s*\.glob[al]*l\\?\s*(\S+?)"', str(other), re.M))
        other.triple = whole.triple
        other.data_layout = whole.data_layout
        try:
            whole.link_in(other)
        except RuntimeError as e:
            raise CodegenError(
                f"the imported LLVM module cannot be linked: {e}", code="import-llvm"
            ) from None
    return str(whole), tuple([n for n in externs if n not in defined])


def _parsed(llvm: Any, source: str) -> Any:
    data: Any = source
    if "\n" not in source and source.endswith((".ll", ".bc")):
        path = Path(source)
        if not path.is_file():
            raise CodegenError(f"there is no LLVM module at {source}", code="import-llvm")
        data = path.read_bytes() if source.endswith(".bc") else path.read_text(encoding="utf-8")
    try:
        made = llvm.parse_bitcode(data) if isinstance(data, bytes) else llvm.parse_assembly(data)
        made.verify()
    except RuntimeError as e:
        raise CodegenError(
            f"LLVM refuses the imported module: {str(e).strip()}",
            code="import-llvm",
            hint="a module of another LLVM version may not be readable; contrib.clang.create_llvm makes one",
        ) from None
    return made


def _types(text: str) -> list[str]:
    return [part.split()[0] for part in _parts(text)]


def _parts(text: str) -> list[str]:
    out, depth, start = [], 0, 0
    for n, c in enumerate(text):
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            out.append(text[start:n].strip())
            start = n + 1
    return [*out, text[start:].strip()] if text.strip() else []


def _check(f: Any, declared: dict[str, list[str]], defined: set[str]) -> None:
    if f.name in defined:
        raise CodegenError(f"two imported modules define `{f.name}`", code="import-llvm")
    want = declared.get(f.name)
    have = [str(a.type).split()[0] for a in f.arguments]
    if want is not None and want[-1:] != ["..."] and want != have:
        raise CodegenError(
            f"`{f.name}` of the imported module takes ({', '.join(have)}), the program passes "
            f"({', '.join(want)})",
            code="import-llvm",
            hint="pass pointers as A.access_ptr(...), and numbers of the width that C has",
        )


__all__ = ["imports_of", "link"]
