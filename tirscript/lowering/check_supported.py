"""What a processor without GPU threads cannot run is refused before it is lowered."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import Mark, NotYetError, Span
from tirscript.ir.expr import Call
from tirscript.ir.function import PrimFunc
from tirscript.ir.op import OPS

_GROUPS = {
    "thread": "synchronizes or exchanges values between GPU threads",
    "gpu": "is an instruction of a GPU",
}


# Of these groups, what a processor can do as well.
_ON_CPU = ("tvm_thread_invariant", "atomic_add", "atomic_max", "atomic_min")


def check_supported(func: PrimFunc) -> PrimFunc:
    """The function itself; raises NotYetError at the first call that needs a GPU."""
    stack: list[tuple[Any, Span | None]] = [(func.body, func.span)]
    while stack:
        n, span = stack.pop()
        span = getattr(n, "span", None) or span
        if type(n) is Call and isinstance(n.op, str):
            known = OPS.get(n.op)
            if known is not None and known.group in _GROUPS and n.op not in _ON_CPU:
                raise NotYetError(
                    f"`{n.op}` {_GROUPS[known.group]}, which the CPU cannot run yet",
                    code="gpu-intrinsic",
                    marks=[Mark(span, "called here")] if span is not None else [],
                    notes=[f"in the function `{func.name}`"],
                )
        stack += [(c, span) for c in n.children()]
    return func
