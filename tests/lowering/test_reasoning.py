"""What lowering concludes about integers, against counting them out."""

import itertools
import random

import pytest

from tirscript.arith.linear import to_linear
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mul,
    Ramp,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.stmt import Evaluate, For
from tirscript.lowering import fold, vectors
from tirscript.lowering.bounds import Facts
from tirscript.lowering.serialize_dependent_loops import _no_meeting

ARITHMETIC = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    FloorDiv: lambda a, b: a // b,
    FloorMod: lambda a, b: a % b,
    Min: min,
    Max: max,
}
COMPARISONS = {
    LT: lambda a, b: a < b,
    LE: lambda a, b: a <= b,
    GT: lambda a, b: a > b,
    GE: lambda a, b: a >= b,
    EQ: lambda a, b: a == b,
    NE: lambda a, b: a != b,
}
LOOPS = ((0, 4), (-3, 7), (2, 3))  # first value and extent


def value(e: Expr, at: dict[Var, int]) -> int:
    if isinstance(e, IntImm):
        return e.value
    if isinstance(e, Var):
        return at[e]
    return ARITHMETIC[type(e)](value(e.a, at), value(e.b, at))


def expression(r: random.Random, variables: list[Var], depth: int = 0) -> Expr:
    if depth > 2 or r.random() < 0.25:
        return r.choice([*variables, const_int(r.randint(-6, 9))])
    kind = r.choice(list(ARITHMETIC))
    a = expression(r, variables, depth + 1)
    if kind in (FloorDiv, FloorMod):
        return kind(a, const_int(r.choice([1, 2, 3, 5, -2])))
    return kind(a, expression(r, variables, depth + 1))


@pytest.mark.parametrize("seed", range(80))
def test_intervals_and_proofs_are_right(seed):
    r = random.Random(seed)
    variables = [Var(n) for n in "ijk"]
    facts = Facts()
    for v, (low, extent) in zip(variables, LOOPS, strict=True):
        facts.enter(For(v, const_int(low), const_int(extent), "serial", Evaluate(const_int(0))))
    points = [
        dict(zip(variables, p, strict=True))
        for p in itertools.product(*[range(low, low + extent) for low, extent in LOOPS])
    ]
    e, f = expression(r, variables), expression(r, variables)
    low, high = facts.interval(e)
    values = [value(e, at) for at in points]
    assert low is None or low <= min(values)
    assert high is None or high >= max(values)
    for kind, holds in COMPARISONS.items():
        c = kind(e, f)
        truth = [holds(value(e, at), value(f, at)) for at in points]
        if facts.proves(c):
            assert all(truth)
        if facts.disproves(c):
            assert not any(truth)


def test_what_is_said_of_symbols():
    n, i = Var("n"), Var("i")
    facts = Facts()
    facts.enter(For(i, const_int(0), n, "serial", Evaluate(const_int(0))))
    assert facts.proves(LT(i, n))
    assert facts.proves(GE(i, const_int(0)))
    assert not facts.proves(LT(i + 1, n))
    held = LT(i * 4 + 3, n)
    assert not facts.proves(held)
    facts.within([held])
    assert facts.proves(LT(i * 4 + 3, n))
    assert facts.proves(LT(i * 4, n))


@pytest.mark.parametrize("seed", range(80))
def test_folding_keeps_values(seed):
    r = random.Random(seed)
    v = [Var(n) for n in "ij"]
    a, b = expression(r, v, 1), expression(r, v, 1)
    for make, kind in ((fold.add, Add), (fold.sub, Sub), (fold.mul, Mul)):
        for x, y in itertools.product(range(-2, 3), repeat=2):
            at = {v[0]: x, v[1]: y}
            assert value(make(a, b), at) == value(kind(a, b), at)
    c = const_int(r.choice([1, 2, 5, -3]))
    for make, kind in ((fold.floordiv, FloorDiv), (fold.floormod, FloorMod)):
        assert value(make(a, c), {v[0]: 3, v[1]: -4}) == value(kind(a, c), {v[0]: 3, v[1]: -4})


def test_constants_that_would_not_fit_are_not_folded():
    large = const_int(2**31 - 1)
    assert isinstance(fold.add(large, const_int(1)), Add)
    assert isinstance(fold.mul(large, const_int(2)), Mul)
    assert fold.product([const_int(65536), const_int(65536)]).value == 2**32


def lanes(e: Expr, at: dict[Var, int]) -> list[int]:
    if isinstance(e, Ramp):
        base, stride = value(e.base, at), value(e.stride, at)
        return [base + stride * k for k in range(e.lanes)]
    return [value(e, at)]


def test_ramps_stay_ramps():
    i = Var("i")
    ramp = Ramp(i * 8, const_int(1), 4)
    at = {i: 3}
    assert lanes(vectors.vadd(ramp, const_int(5)), at) == [29, 30, 31, 32]
    assert lanes(vectors.vsub(const_int(5), ramp), at) == [-19, -20, -21, -22]
    assert lanes(vectors.vmul(ramp, const_int(3)), at) == [72, 75, 78, 81]
    assert lanes(vectors.vadd(ramp, ramp), at) == [48, 50, 52, 54]
    assert lanes(vectors.vsub(ramp, ramp), at) == [0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(150))
def test_iterations_that_are_called_apart_never_meet(seed):
    r = random.Random(seed)
    step, count, const = r.choice([1, 2, 3, 4, 8, 16, -1, -8]), r.randint(2, 6), r.randint(-20, 20)
    terms = []
    for _ in range(r.randint(0, 3)):
        low = r.randint(-2, 2)
        terms.append((r.choice([1, 2, 4, 8, 16, 32, -4, 64]), (low, low + r.randint(0, 4))))
    meets = any(
        step * d + const + sum(k * x for (k, _), x in zip(terms, point, strict=True)) == 0
        for d in range(1 - count, count)
        if d
        for point in itertools.product(*[range(a, b + 1) for _, (a, b) in terms])
    )
    if _no_meeting(step, count, const, list(terms)):
        assert not meets
    unknown = [(k, None) for k, _ in terms]
    if _no_meeting(step, count, const, unknown):
        assert not meets


def test_linear_forms_are_those_of_the_analysis():
    i = Var("i")
    assert to_linear(i * 4 + 3).coefficient(i) == 4
