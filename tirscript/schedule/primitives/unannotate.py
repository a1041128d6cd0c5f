"""Take an annotation off a block or loop.

Requirements:
  * ``block_or_loop`` is a reference to a block or loop that is there (``wrong-handle``,
    ``expired-reference``)
  * ``ann_key`` is a string (``bad-annotation-key``), and an annotation of that key is there
    (``no-annotation``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> sch.annotate(i, "note", "outer")
>>> sch.unannotate(i, "note")
>>> dict(sch.get(i).annotations)
{}

Source: TVM's ``unannotate``.
"""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import did_you_mean

from ..errors import Refusal, a_kind, describe
from ..record.trace import InstructionKind
from ..refs import StmtSRef
from ..resolve import any_place
from ..state import ScheduleState
from .annotate import BadKey, annotations_of, set_annotations


class NoAnnotation(Refusal):
    code = "no-annotation"
    template = "{what} has no annotation {key!r}; it has {known}"


class Plan:
    """The place and the key."""

    __slots__ = ("key", "place")

    def __init__(self, place: StmtSRef, key: str) -> None:
        self.place = place
        self.key = key


def check(state: ScheduleState, block_or_loop: Any, ann_key: Any) -> Plan:
    """The place, if the annotation is there."""
    place = any_place(state, block_or_loop, "block_or_loop", "unannotate")
    if not isinstance(ann_key, str):
        raise BadKey(place.home, at=[(place, None)], primitive="unannotate", given=a_kind(ann_key))
    have = annotations_of(place)
    if ann_key not in have:
        raise NoAnnotation(
            place.home,
            at=[(place, None)],
            hint=did_you_mean(ann_key, have),
            what=describe(place.node),
            key=ann_key,
            known=", ".join([repr(k) for k in have]) or "none",
        )
    return Plan(place, ann_key)


def rewrite(state: ScheduleState, plan: Plan) -> None:
    """Drop the annotation."""
    have = annotations_of(plan.place)
    set_annotations(state, plan.place, {k: v for k, v in have.items() if k != plan.key})


KIND = InstructionKind("Unannotate", "unannotate", ("block_or_loop", "ann_key"), check, rewrite)
