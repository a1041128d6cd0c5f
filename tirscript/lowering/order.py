"""What must have run before a pass, for those who run single passes: the pipeline keeps the order itself."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import LowerError, Mark, Span
from tirscript.ir.expr import BufferLoad
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BufferStore

_AXES = "LowerInitBlock, ConvertBlocksToOpaque, LowerMatchBuffer, LowerOpaqueBlock"


def _has_init(n: Any) -> str | None:
    if type(n) is Block and n.init is not None:
        return f'block "{n.name}" still has an init'
    return None


def _is_block(n: Any) -> str | None:
    return f'block "{n.name}" is still there' if type(n) is Block else None


def _is_not_flat(n: Any) -> str | None:
    if type(n) in (BufferLoad, BufferStore) and len(n.indices) != 1:
        return f"`{n.buffer.name}` still has {len(n.indices)} dimensions"
    return _is_block(n)


# What a pass does not look for, and which passes take it away.
_NEEDS = {
    "ConvertBlocksToOpaque": (_has_init, "LowerInitBlock"),
    "FlattenBuffer": (_is_block, _AXES),
    "VectorizeLoop": (_is_not_flat, f"{_AXES}, FlattenBuffer"),
}


def check_order(name: str, func: PrimFunc) -> None:
    """Raise LowerError where the pass ``name`` would not see what is in the function.

    ``pass-order``: other passes come first.
    """
    need = _NEEDS.get(name)
    if need is None:
        return
    look, first = need
    for n in walk(func.body):
        found = look(n)
        if found is not None:
            span: Span | None = getattr(n, "span", None)
            raise LowerError(
                f"{name} of `{func.name}`: {found}",
                code="pass-order",
                marks=[Mark(span)] if span is not None else [],
                hint=f"first {first}",
            )
