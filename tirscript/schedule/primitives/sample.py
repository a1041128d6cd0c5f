"""Draw numbers that a schedule depends on: factors of loops, choices among candidates.

What is drawn is a *decision*: it stands in the trace, and a replay may decide otherwise.  The same seed gives
the same decisions.  The results are ``ExprRV``s, which serve as factors.

``sample_categorical(candidates, probs)`` draws one of some integers; the decision is its number.
``sample_perfect_tile(loop, n)`` draws ``n`` factors whose product is the number of iterations, the last at
most ``max_innermost_factor`` (-1: any); each such tile has the same chance.  ``sample_partitioned_tile`` asks
instead that ``innerpart_factor`` divides the product of the factors from ``partition_pos`` on.  Where the
number of iterations is not known (or 0, or no such tile exists) the first factor is None, the others are 1.
A given tile that does not fit the loop, as that of a trace of another program, is made to fit.

Requirements:
  * ``loop`` is a reference to a loop that is there (``wrong-handle``, ``expired-reference``)
  * ``candidates`` is a list of integers, ``probs`` one of as many weights that are not negative and not all
    0 (``bad-candidates``, ``bad-probabilities``)
  * ``n`` is an integer of at least 2 (``bad-tile``), as many are the factors of a decision
  * ``max_innermost_factor`` is a positive integer or -1, ``partition_pos`` from 0 to ``n``,
    ``innerpart_factor`` positive (``bad-tile``)
  * a decision is of the kind that the instruction makes (``bad-decision``)

>>> from tirscript.schedule.testing import example
>>> sch, i, j, k = example()
>>> factors = sch.sample_perfect_tile(j, 2, decision=[4, 4])
>>> sch.split(j, factors)
[LoopRV(j_0), LoopRV(j_1)]
>>> print(sch.trace.as_python()[2])
v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16, decision=[4, 4])

Source: TVM's ``sample_categorical``, ``sample_perfect_tile``, ``sample_partitioned_tile``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from tirscript.ir.expr import FloatImm, IntImm
from tirscript.ir.ops import ceildiv
from tirscript.ir.stmt import For

from ..errors import BadArgument, BadValue, a_kind
from ..record import sampling
from ..record.trace import InstructionKind
from ..refs import ExprRV
from ..resolve import integer, loop_place
from ..state import ScheduleState


class BadCandidates(BadArgument):
    code = "bad-candidates"
    template = "`candidates` of sample_categorical must be a list of integers, {given} was given"


class BadProbabilities(BadValue):
    code = "bad-probabilities"
    template = "`probs` of sample_categorical must be {count} numbers that are not negative and not all 0, {given} was given"  # noqa: E501


class BadTile(BadValue):
    code = "bad-tile"
    template = "`{argument}` of {primitive} must be {wanted}, {given} was given"


class BadDecision(BadValue):
    code = "bad-decision"
    template = "the decision of {primitive} must be {wanted}, {given} was given"


class Choice:
    """One of some integers."""

    def __init__(self, candidates: list[int], weights: list[float]) -> None:
        self.candidates = candidates
        self.weights = weights

    def draw(self, rng: random.Random) -> int:
        return sampling.weighted(self.weights, rng)

    def fit(self, decision: Any) -> int:
        number = integer(decision)
        if number is None or not 0 <= number < len(self.candidates):
            raise BadDecision(
                primitive="sample_categorical", wanted=f"from 0 to {len(self.candidates) - 1}",
                given=repr(decision),
            )  # fmt: skip
        return number

    def results(self, decision: Any) -> ExprRV:
        return ExprRV(self.candidates[decision])


class Tiling:
    """Factors of a number of iterations; ``extent`` is None where no tile can be drawn."""

    def __init__(self, primitive: str, extent: int | None, count: int) -> None:
        self.primitive = primitive
        self.extent = extent
        self.count = count

    def draw(self, rng: random.Random) -> list[int] | None:
        return None if self.extent is None else self.tile(self.extent, rng)

    def tile(self, extent: int, rng: random.Random) -> list[int]:
        raise NotImplementedError

    def fit(self, decision: Any) -> list[int] | None:
        factors = [integer(f) for f in decision] if isinstance(decision, (list, tuple)) else []
        given = [f for f in factors if f is not None]
        if len(given) != self.count or len(factors) != self.count:
            raise BadDecision(
                primitive=self.primitive, wanted=f"a list of {self.count} integers", given=repr(decision)
            )
        return None if self.extent is None else self.repaired(self.extent, given)

    def repaired(self, extent: int, factors: list[int]) -> list[int]:
        return sampling.repaired(extent, factors)

    def results(self, decision: list[int] | None) -> list[ExprRV | None]:
        if decision is None:
            return [None, *[ExprRV(1) for _ in range(self.count - 1)]]
        return [ExprRV(f) for f in decision]


class PerfectTile(Tiling):
    def __init__(self, extent: int | None, count: int, largest: int | None) -> None:
        super().__init__("sample_perfect_tile", extent, count)
        self.largest = largest

    def tile(self, extent: int, rng: random.Random) -> list[int]:
        return sampling.tile(extent, self.count, self.largest, rng)


class PartitionedTile(Tiling):
    def __init__(self, extent: int | None, count: int, position: int, inner: int) -> None:
        impossible = extent is not None and (extent % inner != 0 or (position == count and inner != 1))
        super().__init__("sample_partitioned_tile", None if impossible else extent, count)
        self.position = position
        self.inner = inner

    def tile(self, extent: int, rng: random.Random) -> list[int]:
        # With all factors in the inner part nothing is asked: the product is the extent.
        inner = 1 if self.position in (0, self.count) else self.inner
        return sampling.partitioned(extent, self.count, self.position, inner, rng)

    def repaired(self, extent: int, factors: list[int]) -> list[int]:
        out = sampling.repaired(extent, factors)
        if math.prod(out[self.position :]) % self.inner:
            out = [1] * self.count
            out[self.position] = extent
        return out


def check_categorical(state: ScheduleState, candidates: Any, probs: Any) -> Choice:
    """The candidates and their weights."""
    values = [integer(c) for c in candidates] if isinstance(candidates, (list, tuple)) else []
    known = [v for v in values if v is not None]
    if not known or len(known) != len(values):
        given = repr(candidates) if isinstance(candidates, (list, tuple)) else a_kind(candidates)
        raise BadCandidates(given=given)
    weights = _weights(probs)
    if weights is None or len(weights) != len(known):
        raise BadProbabilities(count=str(len(known)), given=repr(probs))
    return Choice(known, weights)


def _weights(probs: Any) -> list[float] | None:
    if not isinstance(probs, (list, tuple)):
        return None
    out: list[float] = []
    for p in probs:
        try:
            number = float(p.value if isinstance(p, (IntImm, FloatImm)) else p)
        except (TypeError, ValueError, OverflowError):
            return None
        if not 0 <= number < math.inf:
            return None
        out.append(number)
    total = math.fsum(out)
    return out if 0 < total < math.inf else None


def _number(value: Any, name: str, primitive: str, wanted: str, good: Any) -> int:
    number = integer(value)
    if number is None or not good(number):
        raise BadTile(argument=name, primitive=primitive, wanted=wanted, given=repr(value))
    return number


def _tiled(state: ScheduleState, loop: Any, n: Any, primitive: str) -> tuple[int | None, int]:
    """The number of iterations, None where it is not known or 0; and how many factors are wanted."""
    place = loop_place(state, loop, "loop", primitive)
    count = _number(n, "n", primitive, "an integer of at least 2", lambda v: v >= 2)
    s: For = place.node
    extent = s.extent if s.step is None else ceildiv(s.extent, s.step)
    if type(s.extent) is IntImm and type(s.step) is IntImm:
        return -(-s.extent.value // s.step.value) or None, count
    known = type(extent) is IntImm and extent.value > 0
    return (extent.value if known else None), count  # type: ignore[attr-defined]


def check_perfect_tile(
    state: ScheduleState, loop: Any, n: Any, max_innermost_factor: Any = 16
) -> PerfectTile:
    """What tiles the loop has."""
    extent, count = _tiled(state, loop, n, "sample_perfect_tile")
    largest = _number(
        max_innermost_factor, "max_innermost_factor", "sample_perfect_tile", "a positive integer or -1",
        lambda v: v >= 1 or v == -1,
    )  # fmt: skip
    return PerfectTile(extent, count, None if largest == -1 else largest)


def check_partitioned_tile(
    state: ScheduleState, loop: Any, n: Any, partition_pos: Any = 0, innerpart_factor: Any = 1
) -> PartitionedTile:
    """What tiles the loop has."""
    primitive = "sample_partitioned_tile"
    extent, count = _tiled(state, loop, n, primitive)
    position = _number(
        partition_pos, "partition_pos", primitive, f"an integer from 0 to {count}", lambda v: 0 <= v <= count
    )
    inner = _number(innerpart_factor, "innerpart_factor", primitive, "a positive integer", lambda v: v >= 1)
    return PartitionedTile(extent, count, position, inner)


def _nothing(state: ScheduleState, *args: Any) -> None:
    return None


def _kind(name: str, method: str, params: Sequence[str], check: Any, attrs: int) -> InstructionKind:
    return InstructionKind(
        name, method, tuple(params), check, _nothing, attrs=attrs, step=False, decides=True
    )


CATEGORICAL = _kind("SampleCategorical", "sample_categorical", ("candidates", "probs"), check_categorical, 2)
PERFECT_TILE = _kind(
    "SamplePerfectTile", "sample_perfect_tile", ("loop", "n", "max_innermost_factor"), check_perfect_tile, 2
)
PARTITIONED_TILE = _kind(
    "SamplePartitionedTile", "sample_partitioned_tile", ("loop", "n", "partition_pos", "innerpart_factor"),
    check_partitioned_tile, 3,
)  # fmt: skip
ENTER_POSTPROC = InstructionKind(
    "EnterPostproc", "enter_postproc", (), _nothing, _nothing, step=False, pure=False
)
