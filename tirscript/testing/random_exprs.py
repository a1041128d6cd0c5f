"""Random expressions over what is in scope: the lower half of the random programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Select,
    Shuffle,
    Sub,
    Var,
    const_int,
)

INTS = ("int32", "int64", "int8", "uint8", "int16", "uint32", "uint64", "uint16")
FLOATS = ("float32", "float64", "float16", "bfloat16")
# What the native back end runs, bit for bit like the python target.
NATIVE = ("float32", "float64", *INTS, "bool", "float16", "bfloat16", "int4", "uint4")
EVERY = (*NATIVE, "float8_e4m3fn", "float8_e5m2")
SPECIAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-05, 0.1, 1e16, math.inf, -math.inf, math.nan)
MATH = (
    "exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "rsqrt", "sigmoid", "erf", "floor",
    "ceil", "round", "nearbyint", "trunc", "fabs",
)  # fmt: skip
MATH2 = ("atan2", "pow", "fmod", "hypot", "copysign", "nextafter")
# Of these the back ends agree to the bit.
EXACT_MATH = ("sqrt", "floor", "ceil", "trunc", "nearbyint", "round", "fabs")
EXACT_MATH2 = ("fmod", "copysign", "nextafter")
COMPARISONS = (EQ, NE, LT, LE, GT, GE)
Draw = Callable[[Any], Any]
_integers: dict[tuple[int, int], Any] = {}  # strategies: hypothesis takes long to make one


class Scope:
    """What expressions may mention: exact integers with bounds, values, buffers."""

    def __init__(self) -> None:
        self.ints: list[tuple[Var, int, int]] = []
        self.values: list[Var] = []
        self.buffers: list[Buffer] = []
        # Loops and axes with the symbolic extent over which they run.
        self.whole: list[tuple[Var, Expr]] = []
        self.names: set[str] = set()


class Expressions:
    """Draws expressions.  ``executable``: in bounds, without effect, and of operators that run."""

    def __init__(self, draw: Draw, executable: bool) -> None:
        from hypothesis import strategies as st

        self.st = st
        self.draw = draw
        self.executable = executable
        self.scope = Scope()
        # Loads may only come from these, where several iterations run at once.
        self.only: set[Buffer] | None = None

    # ---- choices

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) < percent

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.number(0, len(items) - 1)] if len(items) > 1 else items[0]

    def number(self, low: int, high: int) -> int:
        strategy = _integers.get((low, high))
        if strategy is None:
            strategy = _integers[low, high] = self.st.integers(low, high)
        return int(self.draw(strategy))

    # ---- constants

    def constant(self, dtype: str) -> Expr:
        d = dt.info(dtype)
        if d.code == "bool":
            return const_int(self.number(0, 1), "bool")
        if d.is_int:
            low, high = dt.bounds(dtype)
            if self.executable or self.chance(80):
                low, high = max(low, -9), min(high, 20)
            return const_int(self.number(low, high), dtype)
        value = self.pick(SPECIAL_FLOATS) if self.chance(70) else self.number(-100, 100) / 8
        if d.code == "float8" and not (abs(value) <= 16):
            value = 2.0
        if d.bits < 32 and 1e4 < abs(value) < math.inf:
            value = 1.5
        return FloatImm(ops.round_float(value, dtype), dtype)

    # ---- integers that mean an index

    def index(self, extent: Expr, lanes: int = 1) -> Expr:
        """An index within ``extent``; a ramp of ``lanes`` lanes where it is constant and long enough."""
        size = extent.value if isinstance(extent, IntImm) else 3
        dtype = extent.dtype
        if lanes != 1:
            stride = 2 if size >= 2 * lanes and self.chance(30) else 1
            start = self.within(size - stride * (lanes - 1), dtype)
            return Ramp(start, const_int(stride, dtype), lanes)
        over = [v for v, n in self.scope.whole if n is extent]
        if over and self.chance(70):
            v: Var = self.pick(over)
            return v
        return self.within(size, dtype)

    def within(self, size: int, dtype: str) -> Expr:
        """An expression with values from 0 to ``size - 1``."""
        fitting = [v for v, low, high in self.scope.ints if v.dtype == dtype and low >= 0 and high < size]
        if fitting and self.chance(75):
            v = self.pick(fitting)
            return v  # type: ignore[no-any-return]
        choice = self.number(0, 5)
        if choice == 0 or (not self.scope.ints and choice < 4):
            return const_int(self.number(0, size - 1), dtype)
        if choice == 1:
            loads = [b for b in self.loadable(dtype) if b.dtype == dtype]
            if loads and dt.is_int(dtype):
                return FloorMod(self.load(self.pick(loads)), const_int(size, dtype))
        same = [v for v, _, _ in self.scope.ints if v.dtype == dtype]
        if same and choice < 5:
            return FloorMod(self.affine(same, dtype), const_int(size, dtype))
        return const_int(self.number(0, size - 1), dtype)

    def affine(self, variables: Sequence[Var], dtype: str) -> Expr:
        e: Expr = self.pick(variables)
        for _ in range(self.number(0, 2)):
            kind = self.number(0, 3)
            if kind == 0:
                e = Add(e, const_int(self.number(-5, 9), dtype))
            elif kind == 1:
                e = Mul(e, const_int(self.number(-3, 7), dtype))
            elif kind == 2:
                e = Sub(e, self.pick(variables))
            else:
                e = FloorDiv(e, const_int(self.number(1, 5), dtype))
        return e

    # ---- loads

    def loadable(self, dtype: str) -> list[Buffer]:
        return [b for b in self.readable() if b.dtype == dtype]

    def readable(self) -> list[Buffer]:
        return [b for b in self.scope.buffers if (self.only is None or b in self.only) and has_cells(b)]

    def load(self, b: Buffer, lanes: int = 1) -> Expr:
        if lanes != 1:
            last = b.shape[-1] if b.shape else None
            if not isinstance(last, IntImm) or last.value < lanes:
                return Broadcast(self.load(b), lanes)
            return BufferLoad(b, (*[self.index(n) for n in b.shape[:-1]], self.index(last, lanes)))
        return BufferLoad(b, tuple([self.index(n) for n in b.shape]))

    # ---- expressions of a dtype

    def leaf(self, dtype: str, lanes: int = 1) -> Expr:
        found = self.loadable(dtype)
        if found and self.chance(60):
            return self.load(self.pick(found), lanes)
        others = [b for b in self.readable() if b.dtype != dtype]
        if others and self.chance(50):
            return Cast(dt.with_lanes(dtype, lanes), self.load(self.pick(others), lanes))
        scalar: Expr | None = None
        values: list[Var] = [v for v in self.scope.values if v.dtype == dtype]
        if dt.is_int(dtype):
            values = values + [v for v, _, _ in self.scope.ints if v.dtype == dtype]
        if values and self.chance(70):
            scalar = self.pick(values)
        if scalar is None:
            scalar = self.constant(dtype)
        if lanes == 1:
            return scalar
        if scalar.dtype == "int32" and self.chance(20):
            return Ramp(scalar, const_int(self.number(1, 3)), lanes)
        return Broadcast(scalar, lanes)

    def expr(self, dtype: str, depth: int, lanes: int = 1) -> Expr:
        """A random expression of ``dtype`` with ``lanes`` lanes."""
        if depth <= 0 or self.chance(15):
            return self.leaf(dtype, lanes)
        d = dt.info(dtype)
        if d.code == "bool":
            return self.boolean(depth, lanes)
        choice = self.number(0, 11)
        if choice == 0:
            return self.conversion(dtype, depth, lanes)
        if choice == 1:
            return Select(self.boolean(depth - 1, lanes), *self.two(dtype, depth, lanes))
        if choice == 2 and lanes == 1:
            args = (self.boolean(depth - 1), *self.two(dtype, depth))
            return Call(args[1].dtype, "if_then_else", args)
        if choice == 3 and lanes == 1:
            return self.let(dtype, depth)
        if choice == 4 and lanes != 1:
            return self.shuffle(dtype, depth, lanes)
        if choice <= 6:
            a, b = self.two(dtype, depth, lanes)
            return (Min if choice == 5 else Max)(a, b)
        return self.float_(dtype, depth, lanes) if d.is_float else self.int_(dtype, depth, lanes)

    def two(self, dtype: str, depth: int, lanes: int = 1) -> tuple[Expr, Expr]:
        return self.expr(dtype, depth - 1, lanes), self.expr(dtype, depth - 1, lanes)

    def boolean(self, depth: int, lanes: int = 1) -> Expr:
        if depth <= 0:
            return self.leaf("bool", lanes)
        choice = self.number(0, 7)
        if choice == 0:
            return Not(self.boolean(depth - 1, lanes))
        if choice <= 2:
            return (And if choice == 1 else Or)(
                self.boolean(depth - 1, lanes), self.boolean(depth - 1, lanes)
            )
        if choice == 3:
            return self.leaf("bool", lanes)
        if choice == 4 and lanes == 1:
            op = self.pick(("isnan", "isinf", "isfinite"))
            return Call("bool", op, (self.expr(self.pick(FLOATS), depth - 1),))
        dtype = self.pick(NATIVE if self.executable else EVERY)
        held = [b.dtype for b in self.scope.buffers]
        if held and self.chance(60):
            dtype = self.pick(held)
        if dtype == "bool":
            return self.pick((EQ, NE))(*self.two(dtype, depth, lanes))  # type: ignore[no-any-return]
        return self.pick(COMPARISONS)(*self.two(dtype, depth, lanes))  # type: ignore[no-any-return]

    def int_(self, dtype: str, depth: int, lanes: int) -> Expr:
        choice = self.number(0, 9)
        if choice <= 3:
            return self.pick((Add, Sub, Mul))(*self.two(dtype, depth, lanes))  # type: ignore[no-any-return]
        narrow = dtype in ("int4", "uint4")
        if choice <= 5 or narrow:
            a, b = self.two(dtype, depth, lanes)
            # A constant zero as divisor is a mistake that the parser reports.
            inner = b.value if isinstance(b, Broadcast) else b
            if isinstance(inner, IntImm) and inner.value == 0:
                three = const_int(3, dtype)
                b = three if lanes == 1 else Broadcast(three, lanes)
            return self.pick((FloorDiv, FloorMod, Div, Mod))(a, b)  # type: ignore[no-any-return]
        full = dt.with_lanes(dtype, lanes)
        if choice == 6:
            return Call(full, self.pick(("shift_left", "shift_right")), self.two(dtype, depth, lanes))
        if choice == 7:
            op = self.pick(("bitwise_and", "bitwise_or", "bitwise_xor"))
            return Call(full, op, self.two(dtype, depth, lanes))
        if choice == 8:
            return Call(full, "bitwise_not", (self.expr(dtype, depth - 1, lanes),))
        return Call(full, self.pick(("popcount", "clz", "abs")), (self.expr(dtype, depth - 1, lanes),))

    def float_(self, dtype: str, depth: int, lanes: int) -> Expr:
        full = dt.with_lanes(dtype, lanes)
        choice = self.number(0, 8)
        if choice <= 4:
            return self.pick((Add, Sub, Mul, Div))(*self.two(dtype, depth, lanes))  # type: ignore[no-any-return]
        if choice == 5:
            return self.pick((FloorDiv, FloorMod))(*self.two(dtype, depth, lanes))  # type: ignore[no-any-return]
        if choice == 6:
            op = self.pick(EXACT_MATH2 if self.executable else MATH2)
            return Call(full, op, self.two(dtype, depth, lanes))
        if choice == 7:
            return Call(full, "fma", (*self.two(dtype, depth, lanes), self.expr(dtype, depth - 1, lanes)))
        op = self.pick(EXACT_MATH if self.executable else MATH)
        return Call(full, op, (self.expr(dtype, depth - 1, lanes),))

    def conversion(self, dtype: str, depth: int, lanes: int) -> Expr:
        source = self.pick([t for t in (NATIVE if self.executable else EVERY) if t != dtype])
        value = self.expr(source, depth - 1, lanes)
        same_width = dt.info(source).bits == dt.info(dtype).bits and "bool" not in (source, dtype)
        if same_width and self.chance(30):
            return Call(dt.with_lanes(dtype, lanes), "reinterpret", (value,))
        return Cast(dt.with_lanes(dtype, lanes), value)

    def let(self, dtype: str, depth: int) -> Expr:
        source = self.pick(NATIVE if self.executable else EVERY)
        value = self.expr(source, depth - 1)
        v = Var(self.fresh("t"), source, exact=is_exact_integer(value))
        self.scope.values.append(v)
        body = self.expr(dtype, depth - 1)
        self.scope.values.remove(v)
        self.scope.names.discard(v.name)
        return Let(v, value, body)

    def shuffle(self, dtype: str, depth: int, lanes: int) -> Expr:
        vectors = [self.expr(dtype, depth - 1, lanes) for _ in range(self.number(1, 2))]
        indices = [const_int(self.number(0, lanes * len(vectors) - 1)) for _ in range(lanes)]
        return Shuffle(tuple(vectors), tuple(indices))

    def fresh(self, wanted: str) -> str:
        """A name that nothing visible has."""
        name, count = wanted, 0
        while name in self.scope.names:
            count += 1
            name = f"{wanted}_{count}"
        self.scope.names.add(name)
        return name


def has_cells(b: Buffer) -> bool:
    """Whether there is an element to read or to write."""
    return not any(isinstance(n, IntImm) and n.value == 0 for n in b.shape)


def is_exact_integer(e: Expr) -> bool:
    """Whether a let of ``e`` is exact."""
    from tirscript.arith.exact import is_exact

    return dt.is_int(e.dtype) and is_exact(e)
