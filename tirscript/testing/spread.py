"""How far the results of a program may lie apart, where functions are within their stated bounds.

Two implementations of a program differ where its functions round differently, and by what the program makes
of that; default builds, which contract ``a * b + c``, also where products are not rounded.  Here the
interpreter runs several times, each function giving now the least and now the largest number that its bound
allows; how far the results move is the tolerance, element by element.  What does not move has to be the same
to the bit.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule

from . import numbers
from .meaning import Meaning
from .reference import copied

# Errors of the interpreter's own float64 functions, which are NumPy's.
_OWN = 4.0


def moved(value: float, dtype: str, ulp: float, up: bool) -> float:
    """The largest, or the least, number of a dtype that is at most so many ulp from a value."""
    if value == 0 or not math.isfinite(value):
        return numbers.nearest(value, dtype)
    f = numbers.FORMATS[dtype]
    exponent = max(math.frexp(value)[1] - 1, f.least)
    reach = Fraction(ulp) * Fraction(2) ** (exponent - f.precision + 1)
    limit = Fraction(value) + (reach if up else -reach)
    made = numbers.nearest(limit, dtype)
    if not math.isfinite(made):
        return made
    if (made > limit) if up else (made < limit):
        made = numbers.next_after(made, -math.inf if up else math.inf, dtype)
    return made


def _nudge(
    paths: Sequence[str], contract: bool, choose: Callable[[], bool]
) -> Callable[[str, float, str], float]:
    from tirscript.codegen.llvm.accuracy import bound

    def nudge(op: str, value: float, dtype: str) -> float:
        if op == "Mul":
            if not contract or dtype not in ("float32", "float64"):
                return numbers.nearest(value, dtype)
            return moved(value, dtype, 1.0, choose())
        ulp = max([bound(op, dtype, p) for p in paths]) + (_OWN if dtype == "float64" else 0.0)
        return moved(value, dtype, ulp, choose())

    return nudge


def _noted(choose: Callable[[], bool], asked: list[bool]) -> Callable[[], bool]:
    def chosen() -> bool:
        if not asked:
            asked.append(True)
        return choose()

    return chosen


def tolerances(
    program: PrimFunc | IRModule,
    inputs: Sequence[Any],
    paths: Iterable[str] = ("llvm", "python"),
    *,
    contract: bool = True,
    runs: int = 8,
) -> list[Any]:
    """How far each array may lie from what the interpreter gives: an array of distances for each argument.

    ``paths`` are those of ``tirscript.codegen.llvm.accuracy``; ``contract`` says whether one of them
    contracts.  Twice the distance that was seen is allowed, for errors that add up as in none of the runs: of
    all functions up, all down, and some each way.

    >>> import numpy as np
    >>> import tirscript as ts
    >>> f = ts.parse('''
    ... @T.prim_func
    ... def f(A: T.Buffer((3,), "float32")):
    ...     A[0] = T.exp(A[0])
    ...     A[1] = T.sqrt(A[1])
    ... ''')
    >>> tolerances(f, [np.array([1, 2, 3], "float32")])[0] > 0
    array([ True, False, False])
    """
    rng = random.Random(0)
    ways: list[Callable[[], bool]] = [lambda: True, lambda: False]
    ways += [lambda: rng.random() < 0.5] * (runs - 2)
    plain = _results(program, inputs, None)
    out = [np.zeros(np.shape(a)) for a in plain]
    for choose in ways:
        asked: list[bool] = []
        nudged = _results(program, inputs, _nudge(list(paths), contract, _noted(choose, asked)))
        if not asked:
            break  # nothing is rounded in more than one way
        for reach, a, b in zip(out, nudged, plain, strict=True):
            with np.errstate(all="ignore"):
                apart = np.abs(a - b)
            # Two infinities, two nans: equal; one alone leaves the element open.
            apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)
            np.maximum(reach, np.where(np.isnan(apart), np.inf, apart), out=reach)
    return [2 * reach for reach in out]


def _results(program: Any, inputs: Sequence[Any], nudge: Any) -> list[Any]:
    copies = [copied(a) for a in inputs]
    result = Meaning(program, nudge=nudge).run(copies)
    return [np.asarray(0.0 if a is None else a).astype("float64") for a in (*copies, result)]


def assert_within(
    got: Sequence[Any], wanted: Sequence[Any], tolerance: Sequence[Any], target: str, program: Any
) -> None:
    """Each element is as near to what is wanted as ``tolerances`` says; nan equals nan."""
    for i, (a, b, t) in enumerate(zip(got, wanted, tolerance, strict=True)):
        if b is None:
            continue
        x, y = np.asarray(a).astype("float64"), np.asarray(b).astype("float64")
        with np.errstate(all="ignore"):
            near = np.abs(x - y) <= t
        wrong = ~(near | (x == y) | (np.isnan(x) & np.isnan(y)) | np.isinf(t))
        if wrong.any():
            at = tuple([int(k) for k in np.argwhere(wrong)[0]])
            raise AssertionError(
                f"argument {i} of {target} at {at}: {x[at]!r} is not within {t[at]:.3g} of {y[at]!r}\n\n"
                f"{program.script()}"
            )
