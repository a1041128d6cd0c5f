"""Every simplification rule is proved: what the simplifier makes of an expression is, by z3, equal to it
for all integers (exact ones unbounded or within the ranges that were said, data as bit vectors)."""

# ruff: noqa: E501 (the tables)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3

from tirscript.arith import Analyzer
from tirscript.arith.linear import same
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer
from tirscript.ir.dtype import info
from tirscript.ir.expr import Expr, Range, Var, const_int

x, y, w, n, m = (Var(v) for v in "xywnm")
i, j = Var("i"), Var("j")  # 0 <= i < 8, 0 <= j < 4
p = Var("p")  # 0 <= p < n, so n >= 1
RANGES = {i: 8, j: 4}


def analyzer() -> Analyzer:
    cx = Analyzer()
    for v, extent in RANGES.items():
        cx.bind(v, Range(const_int(0), const_int(extent)))
    cx.bind(p, Range(const_int(0), n))
    return cx


# ---- exact integers as z3 integers


def to_int(e: Any, values: dict[Var, Any]) -> Any:
    if isinstance(e, Var):
        return values.setdefault(e, z3.Int(f"{e.name}"))
    if isinstance(e, E.IntImm):
        return z3.BoolVal(bool(e.value)) if e.dtype == "bool" else z3.IntVal(e.value)
    if isinstance(e, E.Cast):
        inner = to_int(e.value, values)
        return z3.If(inner, 1, 0) if e.value.dtype == "bool" else inner
    parts = [to_int(c, values) for c in e.children()]
    a, b = [*parts, None, None][:2]
    floor = None
    if isinstance(e, (E.FloorDiv, E.FloorMod, E.Div, E.Mod)):
        # z3 divides so that the remainder is not negative.
        q = a / b
        floor = z3.If(b > 0, q, z3.If(q * b == a, q, q - 1))
        size = z3.If(a >= 0, a, -a) / z3.If(b >= 0, b, -b)
        trunc = z3.If((a >= 0) == (b >= 0), size, -size)
    table: dict[type, Callable[[], Any]] = {
        E.Add: lambda: a + b, E.Sub: lambda: a - b, E.Mul: lambda: a * b,
        E.FloorDiv: lambda: floor, E.FloorMod: lambda: a - b * floor,
        E.Div: lambda: trunc, E.Mod: lambda: a - b * trunc,
        E.Min: lambda: z3.If(a < b, a, b), E.Max: lambda: z3.If(a > b, a, b),
        E.LT: lambda: a < b, E.LE: lambda: a <= b, E.GT: lambda: a > b, E.GE: lambda: a >= b,
        E.EQ: lambda: a == b, E.NE: lambda: a != b,
        E.And: lambda: z3.And(a, b), E.Or: lambda: z3.Or(a, b), E.Not: lambda: z3.Not(a),
        E.Select: lambda: z3.If(a, b, parts[2]), E.Call: lambda: z3.If(a, b, parts[2]),
    }  # fmt: skip
    return table[type(e)]()


EXACT = [
    # sums and products
    (x + 0, True), (x * 1, True), (x * 0, True), (x - x, True), (x + y - x, True), ((x + 3) * 2 - 6, True),
    ((x + y) * (x - y) + y * y, True), (x * y - y * x, True), (3 - (x - 3), True),
    # floor division and remainder by constants
    ((x * 8 + 3) // 4, True), ((x * 4 + 5) // 4, True), ((x * 6 + 4) // 4, True), ((i * 4 + j) // 4, True),
    ((i * 4 + j) % 4, True), ((i * 4 + j) // 8, True), ((i * 4 + j) % 8, True), ((x * 4 + j) // 8, True),
    ((x * 4 + j) % 8, True), (x // 4 // 8, True), ((x // 4 + 3) // 8, True), (x % 64 % 16, True),
    ((x % 64 + y * 16) % 16, True), (x // 4 * 4 + x % 4, True), (x // -4, False), (x % -4, False),
    (x // 16 * 16 + x % 16 // 4 * 4 + x % 4, True), ((x * 32 - y) % 64, False), ((241 + 48 * x) // 16, True),
    ((x * 16 + y * 16) % 64, True), ((j - 4) // 4, True), ((j - 4) % 4, True), ((x + 7) % 4, True), ((x * 9) % 4, True),
    ((i * 4 + j + 1) // 4, False), ((x * 2 + 1) // 4 * 4 + (x * 2 + 1) % 4, True), (x // 1, True), (x % 1, True),
    ((i * 8 + j * 2) // 4, True), ((i * 8 + j * 2) % 4, True), ((x * 12 + i) // 24, True),
    # digits joined, however they are written; small coefficients
    (x // 12 % 3 * 12 + x % 12, True), (x // 32 * 32 + x // 8 % 4 * 8 + x % 8, True),
    ((x + 9) // 16 * 16 + (x + 9) // 4 % 4 * 4 + (x + 9) % 4, True), (x * 16 // 3 * 3 + x * 16 % 3, True),
    ((x * 16 + y) // 3 * 6 + (x * 16 + y) % 3 * 2, True), ((x * -2 + y) % 3, True), ((1 - j) % 2, False),
    ((x * 17 - y) % 8, True), (ops.eq(x % 16 // 4, x // 4 % 4), True), (ops.ne((x + 9) % 12 // 3, (x + 9) // 3 % 4), True),
    (i * 16 // 3 % 4 <= 3, True), (x // 2 <= (x + 1) // 2, True), (p // 3 < (n + 2) // 3, True), (p // 4 <= (n - 1) // 4, True),
    # by symbols: p lies in 0 .. n - 1
    ((x * n + p) // n, True), ((x * n + p) % n, True), ((x * n + p) // n * n + (x * n + p) % n, True),
    ((x * n) // n, True), ((x * n) % n, True), ((x * n - 1) // n, False), (p // n, True), (p % n, True),
    ((p - n) // n, True), ((p - n) % n, True),
    # truncation
    (ops.truncdiv(i * 4 + j, 4), True), (ops.truncmod(i * 4 + j, 4), True), (ops.truncdiv(-8 - i * 4, 4), True),
    (ops.truncmod(-1 - i, 4), False), (ops.truncdiv(x, 1), True), (ops.truncdiv(x, -1), True), (ops.truncmod(x, 1), True),
    (ops.truncdiv(241 + x * 48, 16), True), (ops.truncdiv(i, -3), False), (ops.truncmod(i, -3), True),
    # minimum and maximum
    (ops.minimum(x, x + 3), True), (ops.maximum(x + 1, x - 1), True), (ops.minimum(i, 7), True), (ops.maximum(i, 0), True),
    (ops.minimum(ops.minimum(x, 5), 3), True), (ops.maximum(ops.maximum(x, 5), 9), True), (ops.minimum(i * 4 + j, 31), True),
    (ops.minimum((x + 3) // 4 * 4, ops.maximum(x, 4)), False), (ops.minimum(x, ops.maximum(x, y)), True),
    (ops.maximum(x, ops.minimum(x, y)), True), (ops.minimum(p, n), True), (ops.minimum(p + 1, n), True),
    # comparisons
    (x < x + 1, True), (i * 4 + j < 32, True), (i * 4 + j < 16, True), (x * 4 < 15, True), (x * 4 + j <= 15, True),
    (x * 4 + j > 15, True), (x * 4 + j >= 14, False), (i * 64 + x < j * 64 + y + 64, False), (3 - x < 5, True), (x - y < 2, True),
    (ops.eq(x * 2, 7), True), (ops.ne(x * 2 + 1, y * 4), True), (ops.eq(x * 4 + 8, 0), True), (ops.eq(i, 9), True),
    (n // 4 * 4 <= n, True), (n < n // 4 * 4 + 4, True), (p < n, True), (x * n + p < x * n + n, True), (i < 0, True),
    (ops.ge(n, 1), True), (x - 3 > y, True), (x * -4 < 7, True), ((x % 4) < 4, True), (x + n < p + x, True),
    # logic
    (ops.logical_and(x < 3, x < 5), True), (ops.logical_and(x < 5, x < 3), True), (ops.logical_or(x < 3, x >= 3), True),
    (ops.logical_and(x < 3, x > 5), True), (ops.logical_or(x < 3, x < 3), True), (ops.logical_not(x < 3), True),
    (ops.logical_and(i < 8, x < 3), True), (ops.logical_or(i < 8, x < 3), True), (ops.logical_not(ops.logical_not(x < 3)), True),
    # choices and conversions
    (ops.select(i < 8, x, y), True), (ops.if_then_else(i < 0, x, y), True), (ops.select(x < 3, y, y), True),
    (ops.if_then_else(x < 3, ops.minimum(x, 2), x), True), (ops.if_then_else(x < 3, x, ops.maximum(x, 3)), True),
    (E.Cast("int32", E.Cast("int64", x)), True), (E.Cast("int32", i < 8), True), (E.Cast("int32", x < 3) * 2, False),
]  # fmt: skip


@pytest.mark.parametrize(("e", "simpler"), EXACT, ids=[str(q) for q in range(len(EXACT))])
def test_exact(e: Expr, simpler: bool) -> None:
    new = analyzer().simplify(e)
    assert not simpler or not same(new, e)
    values: dict[Var, Any] = {}
    a, b = to_int(e, values), to_int(new, values)
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    for v, extent in RANGES.items():
        if v in values:
            solver.add(values[v] >= 0, values[v] < extent)
    if p in values or n in values:
        low = values.setdefault(p, z3.Int("p"))
        solver.add(low >= 0, low < values.setdefault(n, z3.Int("n")))
    for v in (x, y, w, m):
        if v in values:
            # Exact variables hold values of their dtype; conversions of them keep the value.
            solver.add(values[v] >= -(2**31), values[v] < 2**31)
    solver.add(a != b)
    assert solver.check() == z3.unsat


# ---- data as bit vectors


def to_bits(e: Any, width: int) -> Any:
    """The bits of an expression of loads; ``width`` is that of the dtype."""
    signed = info(e.dtype).code == "int" if e.dtype != "bool" else False
    if isinstance(e, E.BufferLoad):
        return z3.BitVec(f"{e.buffer.name}{e.indices[0].value}", width)
    if isinstance(e, E.IntImm):
        return z3.BoolVal(bool(e.value)) if e.dtype == "bool" else z3.BitVecVal(e.value, width)
    if isinstance(e, E.CmpOp):
        a, b = to_bits(e.a, width), to_bits(e.b, width)
        if info(e.a.dtype).code == "int":
            return {E.LT: a < b, E.LE: a <= b, E.GT: a > b, E.GE: a >= b, E.EQ: a == b, E.NE: a != b}[type(e)]
        u = {E.LT: z3.ULT, E.LE: z3.ULE, E.GT: z3.UGT, E.GE: z3.UGE}.get(type(e))
        return u(a, b) if u else (a == b if isinstance(e, E.EQ) else a != b)
    parts = [to_bits(c, width) for c in e.children()]
    if isinstance(e, E.Select):
        return z3.If(*parts)
    a, b = [*parts, None][:2]
    if isinstance(e, E.Call):
        count = z3.UGE(b, width) if b is not None else None
        sign = (
            z3.If(a < 0, z3.BitVecVal(-1, width), z3.BitVecVal(0, width))
            if signed
            else z3.BitVecVal(0, width)
        )
        table = {
            "bitwise_and": lambda: a & b, "bitwise_or": lambda: a | b, "bitwise_xor": lambda: a ^ b,
            "bitwise_not": lambda: ~a, "shift_left": lambda: z3.If(count, z3.BitVecVal(0, width), a << b),
            "shift_right": lambda: z3.If(count, sign, a >> b if signed else z3.LShR(a, b)),
        }  # fmt: skip
        return table[e.op]()
    zero = z3.BitVecVal(0, width)
    less = (a < b) if signed else z3.ULT(a, b)
    if isinstance(e, (E.FloorDiv, E.FloorMod, E.Div, E.Mod)):
        q = a / b if signed else z3.UDiv(a, b)
        r = a - q * b
        if signed and isinstance(e, (E.FloorDiv, E.FloorMod)):
            down = z3.And(r != 0, (r < 0) != (b < 0))
            q, r = z3.If(down, q - 1, q), z3.If(down, r + b, r)
        return z3.If(b == 0, zero, q if isinstance(e, (E.FloorDiv, E.Div)) else r)
    return {
        E.Add: lambda: a + b, E.Sub: lambda: a - b, E.Mul: lambda: a * b,
        E.Min: lambda: z3.If(less, a, b), E.Max: lambda: z3.If(less, b, a),
    }[type(e)]()  # fmt: skip


def data_rules(dtype: str) -> list[Expr]:
    buffer = make_buffer("D", (const_int(2),), dtype)
    a, b = (ops.load(buffer, [const_int(q)]) for q in range(2))
    big = (1 << (info(dtype).bits - 1)) - 1
    return [
        a + 0, a * 1, a * 0, a - a, a + b - a, (a + big) + big, (a - 3) - 5, a * 3 + a * 5, a + a, (a + b) * 2 - b * 2,
        a // 1, a % 1, *[kind(a, ops.const(0, dtype)) for kind in (E.FloorDiv, E.FloorMod, E.Div, E.Mod)], ops.truncdiv(a, 1), ops.minimum(a, a),
        ops.maximum(a, a), ops.minimum(a, b), ops.const(0, dtype) // a, ops.const(0, dtype) % a, a < a, a <= a, ops.eq(a, a),
        ops.ge(a, 0), ops.shift_left(a, 0), ops.shift_right(a, 0), ops.bitwise_and(a, 0), ops.bitwise_or(a, 0),
        ops.bitwise_xor(a, 0), ops.bitwise_and(a, a), ops.bitwise_or(a, a), ops.shift_right(a, info(dtype).bits),
        ops.select(a < b, a, a), (a % 8) // 8, ops.minimum(ops.bitwise_and(a, 7), 9), ops.bitwise_and(a, 7) % 16,
        ops.bitwise_and(a, 7) < 8, (a + 1 < b + 1), (a - b < 0), ops.bitwise_not(ops.bitwise_not(a)),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_data(dtype: str) -> None:
    width = info(dtype).bits
    for e in data_rules(dtype):
        new = Analyzer().simplify(e)
        assert new.dtype == e.dtype
        solver = z3.Solver()
        solver.add(to_bits(e, width) != to_bits(new, width))
        assert solver.check() == z3.unsat, (e, new)
