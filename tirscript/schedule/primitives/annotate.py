"""Note something on a block or loop, for passes and people that come later.

A key that is there already gets the new value, with a warning where the value was another one.

Requirements:
  * ``block_or_loop`` is a reference to a block or loop that is there (``wrong-handle``,
    ``expired-reference``)
  * ``ann_key`` is a string (``bad-annotation-key``)
  * ``ann_val`` is a string, a number, a constant, a list or a dict of those (``bad-annotation-value``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.annotate(i, "pragma_auto_unroll_max_step", 16)
>>> dict(sch.get(i).annotations)
{'pragma_auto_unroll_max_step': 16}

Source: TVM's ``annotate``.
"""

from __future__ import annotations

import warnings
from typing import Any

from tirscript.diagnostics import TirscriptWarning, did_you_mean, user_stacklevel
from tirscript.ir.expr import Expr, FloatImm, IntImm, StringImm
from tirscript.ir.stmt import BlockRealize, For

from ..errors import BadArgument, a_kind, argument
from ..record.trace import InstructionKind
from ..refs import ExprRV, StmtSRef
from ..resolve import any_place
from ..state import ScheduleState

# Pragmas that lowering understands; of others a warning says that nothing comes of them.
PRAGMAS = frozenset({
    "pragma_auto_unroll_max_step", "pragma_unroll_explicit", "pragma_import_llvm", "pragma_import_c",
    "pragma_loop_partition_hint", "pragma_debug_skip_region", "pragma_tensor_core", "pragma_scope",
    "pragma_parallel_launch_point", "pragma_parallel_stride_pattern", "pragma_parallel_barrier_when_finish",
})  # fmt: skip


class BadKey(BadArgument):
    code = "bad-annotation-key"
    template = "`ann_key` of {primitive} must be a string, {given} was given"


class BadAnnotation(BadArgument):
    code = "bad-annotation-value"
    template = (
        "`ann_val` of annotate must be a string, a number, a list or a dict of those, {given} was given"
    )


class Plan:
    """The place, the key, and the value as it will stand in the tree."""

    __slots__ = ("key", "place", "value")

    def __init__(self, place: StmtSRef, key: str, value: Any) -> None:
        self.place = place
        self.key = key
        self.value = value


def check(state: ScheduleState, block_or_loop: Any, ann_key: Any, ann_val: Any) -> Plan:
    """The place and the value."""
    place = any_place(state, block_or_loop, "block_or_loop", "annotate")
    if not isinstance(ann_key, str):
        raise BadKey(place.home, at=[(place, None)], primitive="annotate", given=a_kind(ann_key))
    return Plan(place, ann_key, _value(place, ann_val))


def _value(place: StmtSRef, value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, ExprRV):
        return value.value
    if isinstance(value, (IntImm, FloatImm, StringImm)):
        return bool(value.value) if value.dtype == "bool" else value.value
    if isinstance(value, Expr):
        return value
    if isinstance(value, (list, tuple)):
        return [_value(place, v) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: _value(place, v) for k, v in value.items()}
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    raise BadAnnotation(place.home, at=[(place, None)], given=a_kind(value))


def annotations_of(place: StmtSRef) -> Any:
    s = place.node
    return s.block.annotations if type(s) is BlockRealize else s.annotations


def set_annotations(state: ScheduleState, place: StmtSRef, new: dict[str, Any]) -> None:
    """Put other annotations on the block or loop."""
    s: Any = place.node
    if type(s) is BlockRealize:
        block = s.block.replace(annotations=new)
        state.replace(place, BlockRealize(s.iter_values, s.predicate, block, s.span))
    else:
        state.replace(place, For(s.loop_var, s.min, s.extent, s.kind, s.body, s.thread, new, s.step, s.span))


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Add the annotation."""
    have = annotations_of(plan.place)
    key = plan.key
    if key in have and argument(have[key]) != argument(plan.value):
        warnings.warn(
            f"annotation {key!r} was {argument(have[key])} and is now {argument(plan.value)}",
            TirscriptWarning,
            stacklevel=user_stacklevel(),
        )
    if key.startswith("pragma_") and key not in PRAGMAS:
        hint = did_you_mean(key, PRAGMAS)
        warnings.warn(
            f"no pass knows the pragma {key!r}" + (f"; {hint}" if hint else ""),
            TirscriptWarning,
            stacklevel=user_stacklevel(),
        )
    set_annotations(state, plan.place, {**have, key: plan.value})


KIND = InstructionKind("Annotate", "annotate", ("block_or_loop", "ann_key", "ann_val"), check, rewrite)
