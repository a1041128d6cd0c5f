"""Combiners of several values: their laws against trying numbers, and what a block is read as."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tirscript.analysis import combiner
from tirscript.analysis.combiner import order_combiner, register_reducer
from tirscript.analysis.reducer import reduced_buffers, reductions_of
from tirscript.arith.evaluate import evaluate
from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import EQ, And, Expr, IntImm, Not, Or, Select, Var, const_int
from tirscript.ir.stmt import BufferStore, IfThenElse, LetStmt, SeqStmt

from .programs import block

X = tuple([Var(f"x{n}") for n in range(2)])
Y = tuple([Var(f"y{n}") for n in range(2)])
x0, x1, y0, y1 = *X, *Y
larger = x1 > y1
equal = EQ(x1, y1)

COMBINERS: dict[str, tuple[Expr, ...]] = {
    "argmax, first of equal indices": (
        Select(Or(larger, And(equal, x0 < y0)), x0, y0), Select(larger, x1, y1),
    ),
    "argmax, last of equal indices": (
        Select(Or(larger, And(equal, x0 > y0)), x0, y0), ops.maximum(x1, y1),
    ),
    "argmax, what came first": (Select(x1 >= y1, x0, y0), Select(x1 >= y1, x1, y1)),
    "argmax, what came last": (Select(larger, x0, y0), Select(larger, x1, y1)),
    "argmin": (Select(Or(x1 < y1, And(equal, x0 < y0)), x0, y0), ops.minimum(x1, y1)),
    "negated": (Select(Not(Or(larger, And(equal, x0 < y0))), y0, x0), Select(Not(larger), y1, x1)),
    "always the first": (x0, x1),
    "minimum and maximum": (ops.minimum(x0, y0), ops.maximum(x1, y1)),
    "the smaller of the larger": (ops.minimum(ops.maximum(x0, x1), y0), ops.maximum(x1, y1)),
    "no order": (Select(larger, x0, y0), Select(x0 > y0, x1, y1)),
    "one of both": (Select(x1 <= y1, y0, x0), Select(x1 < y1, y1, x1)),
}  # fmt: skip


def laws(results: tuple[Expr, ...]) -> tuple[bool, bool, bool]:
    """Associative, commutative, repeatable: by trying numbers."""
    numbers = list(product((-2, 0, 1, 5), repeat=2))

    def f(a: Any, b: Any) -> tuple[int, ...]:
        values = dict(zip((*X, *Y), (*a, *b), strict=True))
        return tuple([evaluate(e, values) for e in results])

    table = {(a, b): f(a, b) for a in numbers for b in numbers}

    def at(a: Any, b: Any) -> tuple[int, ...]:
        found = table.get((a, b))
        return f(a, b) if found is None else found

    return (
        all(at(at(a, b), c) == at(a, at(b, c)) for a in numbers for b in numbers for c in numbers),
        all(at(a, b) == at(b, a) for a in numbers for b in numbers),
        all(at(at(a, b), a) == at(a, b) for a in numbers for b in numbers),
    )


@pytest.mark.parametrize("name", COMBINERS)
def test_laws(name: str) -> None:
    results = COMBINERS[name]
    associative, commutative, repeatable = laws(results)
    found = order_combiner(X, Y, results)
    assert (found is not None) == associative
    if found is not None:
        assert (found.commutative, found.repeatable) == (commutative, repeatable)
        if found.identity is not None:
            for value in product((-3, 0, 7), repeat=2):
                values = [const_int(v) for v in value]
                for pair in ((found.identity, values), (values, found.identity)):
                    assert [evaluate(e, {}) for e in found.apply(*pair)] == list(value)


def test_what_is_more_than_comparing_and_choosing() -> None:
    for results in ((x0 + y0, x1), (Select(x0 + 1 > y0, x0, y0), x1), (x0, Select(Var("z") > x1, x1, y1))):
        assert order_combiner(X, Y, results) is None
    flags = tuple([Var(f"b{n}", "bool") for n in range(2)])
    assert order_combiner(flags[:1], flags[1:], (Select(flags[0], flags[0], flags[1]),)) is None


# ---- blocks

vi, vk, i, k = Var("vi"), Var("vk"), Var("i"), Var("k")
A = make_buffer("A", (const_int(8), const_int(8)), "int32")
B = make_buffer("B", (const_int(8), const_int(8)), "int32")
V = make_buffer("V", (const_int(8),), "int32")
N = make_buffer("N", (const_int(8),), "int32")
v, n = ops.load(V, [vi]), ops.load(N, [vi])
a, b = ops.load(A, [vi, vk]), ops.load(B, [vi, vk])


def made(body: Any) -> Any:
    return block("X", [(vi, 8, "spatial", i), (vk, 8, "reduce", k)], body).block


def to(buffer: Any, value: Any) -> BufferStore:
    return BufferStore(buffer, value, (vi,))


first = Or(v > a, And(EQ(v, a), n < b))
s, t = Var("s", exact=False), Var("t", exact=False)

FORMS: dict[str, Callable[[], Any]] = {
    "lets": lambda: LetStmt(
        s, Select(first, n, b), LetStmt(t, Select(v > a, v, a), SeqStmt((to(N, s), to(V, t))))
    ),
    "stores": lambda: SeqStmt((to(N, Select(first, n, b)), to(V, ops.maximum(v, a)))),
    "condition": lambda: IfThenElse(
        Or(a > v, And(EQ(a, v), b < n)), SeqStmt((to(V, a), to(N, b)))
    ),
    "else": lambda: IfThenElse(first, SeqStmt((to(V, v), to(N, n))), SeqStmt((to(N, b), to(V, a)))),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_argmax(form: str) -> None:
    made_block = made(FORMS[form]())
    found = reductions_of(made_block)
    assert found is not None and len(found) == 1
    assert {x.name for x in found[0].buffers} == {"V", "N"}
    assert found[0].combiner.commutative
    values = dict(zip(found[0].buffers, found[0].values, strict=True))
    assert values[V] is a and values[N] is b
    assert reduced_buffers(made_block) == {V, N}


def test_what_is_no_reduction() -> None:
    for body in (
        SeqStmt((to(V, ops.maximum(v, a)), to(N, v))),  # what is accumulated is read
        SeqStmt((to(V, ops.maximum(v, a)), to(N, Select(v > a, n, b)))),  # after it was stored
        to(V, Select(a > 3, b, v)),
        SeqStmt((to(V, a), to(N, n + b))),
        to(V, v * 2 + a),
        SeqStmt((to(V, v + a), BufferStore(V, ops.load(V, [vi + 1]) + a, (vi + 1,)))),
    ):
        found = reductions_of(made(body))
        assert found is None or not all(r.combiner.commutative for r in found)
    assert reduced_buffers(made(SeqStmt((to(V, ops.maximum(v, a)), to(N, v))))) == frozenset()


def test_buffers_that_have_nothing_to_do_with_one_another() -> None:
    found = reductions_of(made(LetStmt(s, v + a, SeqStmt((to(N, ops.minimum(n, b)), to(V, s))))))
    assert found is not None
    assert [[x.name for x in r.buffers] for r in found] in ([["N"], ["V"]], [["V"], ["N"]])
    assert {type(r.combiner.result[0]).__name__ for r in found} == {"Add", "Min"}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combiner, "_registered", [])
    monkeypatch.setattr(combiner, "_made", {})


@pytest.mark.usefixtures("registry")
def test_registered_combiners_match_up_to_order_of_operands_and_values() -> None:
    register_reducer(2, lambda p, q, r, w: (p * r, p * w + q), [1, 0])  # composition of p * x + q
    body = SeqStmt((to(N, n + b * v), to(V, a * v)))
    found = reductions_of(made(body))
    assert found is not None and len(found) == 1
    assert [x.name for x in found[0].buffers] == ["V", "N"] and found[0].values == (a, b)
    assert [e.value for e in found[0].combiner.identity or () if isinstance(e, IntImm)] == [1, 0]
    assert reductions_of(made(SeqStmt((to(N, n + b * v), to(V, a + v))))) is None
