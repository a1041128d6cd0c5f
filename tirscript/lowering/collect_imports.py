"""LLVM modules that a program brings along: annotations become an attribute of the function."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import LowerError
from tirscript.ir.expr import StringImm
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import AttrStmt, Block, For, Stmt

KEY = "pragma_import_llvm"
ATTRIBUTE = "tirscript.import_llvm"


def collect_imports(func: PrimFunc) -> PrimFunc:
    """The values of ``pragma_import_llvm`` on loops, blocks and attributes, each once, go to the function.

    A value is the text of a module in LLVM's language, or the path of one (``.ll``, ``.bc``).
    """
    found: list[str] = []
    body = _collect(func.body, found)
    if not found:
        return func
    have = func.attrs.get(ATTRIBUTE, ())
    texts = tuple(dict.fromkeys([*have, *found]))
    return func.replace(body=body, attrs={**func.attrs, ATTRIBUTE: texts})


def _collect(s: Any, found: list[str]) -> Any:
    t = type(s)
    if t is AttrStmt and s.key == KEY:
        _add(s.value, s, found)
        return _collect(s.body, found)
    new = s.map_children(lambda c: _collect(c, found) if isinstance(c, Stmt) else c)
    if (t is For or t is Block) and KEY in s.annotations:
        _add(s.annotations[KEY], s, found)
        new = new.replace(annotations={k: v for k, v in s.annotations.items() if k != KEY})
    return new


def _add(value: Any, s: Any, found: list[str]) -> None:
    text = value.value if isinstance(value, StringImm) else value
    if not isinstance(text, str):
        raise LowerError(
            f"`{KEY}` takes the text or path of an LLVM module, not a {type(text).__name__}",
            code="import-llvm",
            hint="contrib.clang.create_llvm(c_code) makes one",
        )
    found.append(text)


__all__ = ["ATTRIBUTE", "collect_imports"]
