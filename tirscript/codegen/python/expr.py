"""Expressions as Python expressions over NumPy scalars and arrays.

Exact integers become Python ints.  Data become NumPy scalars of their dtype, which wrap and round as the
language says; a constant beside such a value may stay a plain Python number, for NumPy then gives it
the dtype of the other side.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from tirscript.diagnostics import Mark, NotYetError
from tirscript.ir import dtype as dt
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
    BinaryOp,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
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
    StringImm,
    Sub,
    Var,
)
from tirscript.ir.function import PrimFunc

from . import build as py
from .calls import CALLS
from .kinds import Kinds
from .names import Names

_COMPARE: dict[type, type[ast.cmpop]] = {
    EQ: ast.Eq, NE: ast.NotEq, LT: ast.Lt, LE: ast.LtE, GT: ast.Gt, GE: ast.GtE,
}  # fmt: skip
_OPERATORS: dict[type, type[ast.operator]] = {Add: ast.Add, Sub: ast.Sub, Mul: ast.Mult}
NATIVE_FLOATS = frozenset({"float16", "float32", "float64"})
NATIVE_INTS = frozenset({f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)})
# Trees higher than this are cut into assignments: Python's own parser nests only so deep.
HEIGHT = 60


def not_yet(what: str, at: Any = None, *, hint: str | None = None) -> NotYetError:
    span = getattr(at, "span", None)
    return NotYetError(
        f"the python target cannot run {what} yet",
        code="not-yet-python",
        marks=[] if span is None else [Mark(span, "here")],
        hint=hint,
    )


class Expressions:
    """Builds expressions; knows the Python names of what is in scope."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.kinds = Kinds()
        self.variables: dict[Var, str] = {}
        self.buffers: dict[Buffer, str] = {}
        self.functions: dict[str, str] = {}
        self.callees: dict[str, PrimFunc] = {}
        self.support: set[str] = set()
        self.out: list[ast.stmt] = []
        self.cut: dict[Expr, ast.expr | None] = {}

    # ---- roots

    def root(self, e: Expr, how: Callable[[Any], ast.expr] | None = None) -> ast.expr:
        """An expression of a statement; parts of a very high one are assigned before it."""
        heights = _heights(e)
        if heights:
            self.cut.update(dict.fromkeys(_cuts(e, heights)))
            for n in [n for n in self.cut if self.cut[n] is None]:
                self.cut[n] = None
        return (how or self.value)(e)

    # ---- values

    def value(self, e: Any) -> ast.expr:
        """A Python int for an exact integer, else a NumPy value of the dtype (a bool may be either)."""
        if self.cut and e in self.cut:
            made = self.cut[e]
            if made is None:
                temporary = self.names.new("part")
                self.cut.pop(e)
                self.out.append(py.assign(temporary, self.value(e)))
                made = self.cut[e] = py.name(temporary)
            return made
        table = _TABLE.get(type(e))
        if table is None:
            raise not_yet(f"`{type(e).__name__}`", e)
        return table(self, e)

    def typed(self, e: Any) -> ast.expr:
        """A NumPy value of the dtype of ``e``, whatever ``e`` is."""
        if type(e) is Broadcast and not self.strong(e):
            return self.helper("broadcast", self.typed(e.value), py.number(e.lanes))
        d = dt.info(e.dtype)
        if d.is_int and self.kinds.exact(e):
            # What is converted here need not be reduced before.
            inner = self.value(e.value if type(e) is Cast and dt.is_int(e.value.dtype) else e)
            if d.base in NATIVE_INTS and d.lanes == 1 and self.kinds.fits(e, d.base):
                return py.call(f"np.{d.base}", inner)
            return self.helper("narrow", inner, py.string(d.base))
        return self.value(e)

    def weak(self, e: Any) -> ast.expr:
        """A value to stand beside a strong one: a plain Python number where that means the same."""
        if type(e) is FloatImm and e.dtype in NATIVE_FLOATS:
            return self.plain_float(e.value)
        if type(e) is Broadcast:
            return self.weak(e.value)
        d = dt.info(e.dtype)
        if (
            d.is_int
            and d.lanes == 1
            and self.kinds.exact(e)
            and d.base in NATIVE_INTS
            and self.kinds.fits(e, d.base)
        ):
            return self.value(e)
        return self.typed(e)

    def stored(self, e: Any, dtype: str) -> ast.expr:
        """A value to be stored into an array of ``dtype``."""
        if dt.info(e.dtype).base != dt.info(dtype).base:
            return self.convert(e, dt.with_lanes(dtype, dt.lanes(e.dtype)))
        return self.weak(e)

    def strong(self, e: Any) -> bool:
        """Whether ``value`` gives a NumPy value, and not a Python number or a constant."""
        t = type(e)
        if t is FloatImm or t is IntImm:
            return False
        if t is Broadcast:
            return self.strong(e.value)
        return not (dt.info(e.dtype).code in ("int", "uint", "bool") and self.kinds.exact(e))

    def pair(self, a: Any, b: Any) -> tuple[ast.expr, ast.expr]:
        """Both operands of a data operator: at least one is a NumPy value, which decides the dtype."""
        wide_a, wide_b = dt.lanes(a.dtype) != 1, dt.lanes(b.dtype) != 1
        if type(b) is Broadcast and wide_a and type(a) is not Broadcast:
            return self.typed(a), self.weak(b) if self.strong(a) else self.typed(b.value)
        if type(a) is Broadcast and wide_b and type(b) is not Broadcast:
            return self.weak(a) if self.strong(b) else self.typed(a.value), self.typed(b)
        if self.strong(a):
            return self.value(a), self.value(b) if self.strong(b) else self.weak(b)
        if self.strong(b):
            return self.weak(a), self.value(b)
        return self.typed(a), self.weak(b)

    def integer(self, e: Any) -> ast.expr:
        """A Python int of an exact or data integer."""
        return self.value(e) if not self.strong(e) else py.call("int", self.value(e))

    def index(self, e: Any) -> ast.expr:
        return self.value(e)

    # ---- helpers

    def helper(self, function: str, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
        self.support.add(function)
        return py.call(function, *args, **keywords)

    def dtype(self, dtype: str) -> ast.expr:
        return py.string(dtype)

    def plain_float(self, value: float) -> ast.expr:
        if math.isnan(value):
            return py.attribute(py.name("np"), "nan")
        if math.isinf(value):
            inf = py.attribute(py.name("np"), "inf")
            return inf if value > 0 else ast.UnaryOp(ast.USub(), inf)
        if value == 0 and math.copysign(1.0, value) < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(0.0))
        return py.number(value)

    def convert(self, e: Any, dtype: str) -> ast.expr:
        """``T.cast(e, dtype)``."""
        have, want = dt.info(e.dtype), dt.info(dtype)
        if want.code == "bool":
            return py.compare(ast.NotEq(), self.value(e), py.number(0))
        if want.is_int and have.code in ("int", "uint", "bool") and self.kinds.exact(e):
            inner = (
                py.call("int", self.value(e)) if have.code == "bool" and have.lanes == 1 else self.value(e)
            )
            if self.kinds.fits(e, want.base):
                return inner
            return self.helper("wide", self.helper("narrow", inner, py.string(want.base)))
        if want.base in NATIVE_FLOATS:
            if have.code == "bool" or (have.is_float and have.base in NATIVE_FLOATS) or self._small(e):
                return py.call(f"np.{want.base}", self.value(e))
        return self.helper("cast", self.value(e), py.string(want.base))

    def _small(self, e: Any) -> bool:
        """Whether the integer converts to float64 without rounding."""
        d = dt.info(e.dtype)
        if self.kinds.exact(e):
            low, high = self.kinds.interval(e)
            return low is not None and high is not None and low >= -(1 << 53) and high <= 1 << 53
        return d.is_int and d.bits <= 32 and d.base in NATIVE_INTS


# ---- one function a kind of node


def _var(x: Expressions, e: Var) -> ast.expr:
    return py.name(x.variables[e])


def _int(x: Expressions, e: IntImm) -> ast.expr:
    return py.number(bool(e.value) if e.dtype == "bool" else e.value)


def _float(x: Expressions, e: FloatImm) -> ast.expr:
    if e.dtype in NATIVE_FLOATS:
        return py.call(f"np.{e.dtype}", x.plain_float(e.value))
    return x.helper("cast", x.plain_float(e.value), py.string(e.dtype))


def _string(x: Expressions, e: StringImm) -> ast.expr:
    return py.string(e.value)


def _arithmetic(x: Expressions, e: BinaryOp) -> ast.expr:
    op = _OPERATORS[type(e)]()
    d = dt.info(e.dtype)
    if x.kinds.exact(e):
        return py.binary(op, x.value(e.a), x.value(e.b))
    if d.is_int and d.base not in NATIVE_INTS:
        return x.helper("narrow", py.binary(op, _wide(x, e.a), _wide(x, e.b)), py.string(d.base))
    return py.binary(op, *x.pair(e.a, e.b))


def _wide(x: Expressions, e: Any) -> ast.expr:
    """A Python int of an operand of narrow data: what is exact is reduced first."""
    if not x.strong(e) and x.kinds.fits(e, e.dtype):
        return x.value(e)
    return x.helper("wide", x.typed(e))


def _quotient(x: Expressions, e: BinaryOp) -> ast.expr:
    op = ast.FloorDiv() if type(e) is FloorDiv else ast.Mod()
    d = dt.info(e.dtype)
    if x.kinds.exact(e) or (d.is_int and d.base not in NATIVE_INTS):
        exact = x.kinds.exact(e)
        a, b = (x.value(e.a), x.value(e.b)) if exact else (_wide(x, e.a), _wide(x, e.b))
        if exact and x.kinds.nonzero(e.b):
            return py.binary(op, a, b)
        made = x.helper("floordiv" if type(e) is FloorDiv else "floormod", a, b)
        return made if exact else x.helper("narrow", made, py.string(d.base))
    return py.binary(op, *x.pair(e.a, e.b))


def _truncated(x: Expressions, e: BinaryOp) -> ast.expr:
    d = dt.info(e.dtype)
    if d.is_float:
        if type(e) is Div:
            return py.binary(ast.Div(), *x.pair(e.a, e.b))
        return py.call("np.fmod", *x.pair(e.a, e.b))
    function = "truncdiv" if type(e) is Div else "truncmod"
    if x.kinds.exact(e):
        return x.helper(function, x.value(e.a), x.value(e.b))
    if d.base not in NATIVE_INTS:
        return x.helper("narrow", x.helper(function, _wide(x, e.a), _wide(x, e.b)), py.string(d.base))
    return x.helper(function, x.typed(e.a), x.typed(e.b))


def _extreme(x: Expressions, e: BinaryOp) -> ast.expr:
    word = "min" if type(e) is Min else "max"
    d = dt.info(e.dtype)
    if x.kinds.exact(e) and d.lanes == 1:
        return py.call(word, x.value(e.a), x.value(e.b))
    if d.is_int and d.base not in NATIVE_INTS and d.lanes == 1:
        made = py.call(word, _wide(x, e.a), _wide(x, e.b))
        return x.helper("narrow", made, py.string(d.base))
    return py.call(f"np.{word}imum", *x.pair(e.a, e.b))


def _compare(x: Expressions, e: Any) -> ast.expr:
    op = _COMPARE[type(e)]()
    if dt.info(e.a.dtype).code == "bool" or dt.info(e.a.dtype).code == "handle":
        return py.compare(op, x.value(e.a), x.value(e.b))
    if x.kinds.exact(e.a) and x.kinds.exact(e.b):
        return py.compare(op, x.value(e.a), x.value(e.b))
    return py.compare(op, *x.pair(e.a, e.b))


def _logical(x: Expressions, e: Any) -> ast.expr:
    t = type(e)
    parts: list[Expr] = []
    left: Any = e
    while type(left) is t:
        parts.append(left.b)
        left = left.a
    parts.append(left)
    parts.reverse()
    if dt.lanes(e.dtype) != 1:
        function = "np.logical_and" if t is And else "np.logical_or"
        made = x.value(parts[0])
        for p in parts[1:]:
            made = py.call(function, made, x.value(p))
        return made
    return ast.BoolOp(ast.And() if t is And else ast.Or(), [x.value(p) for p in parts])


def _not(x: Expressions, e: Not) -> ast.expr:
    if dt.lanes(e.dtype) != 1:
        return py.call("np.logical_not", x.value(e.a))
    return ast.UnaryOp(ast.Not(), x.value(e.a))


def _select(x: Expressions, e: Select) -> ast.expr:
    value = x.value if not x.strong(e) else x.typed
    return x.helper("select", x.value(e.condition), value(e.true_value), value(e.false_value))


def _cast(x: Expressions, e: Cast) -> ast.expr:
    return x.convert(e.value, e.dtype)


def indices(x: Expressions, items: Sequence[Any]) -> list[ast.expr]:
    return [x.index(i) for i in items]


def _load(x: Expressions, e: BufferLoad) -> ast.expr:
    buffer = py.name(x.buffers[e.buffer])
    at = indices(x, e.indices)
    if e.predicate is not None:
        return x.helper("masked_load", buffer, py.tuple_of(at), x.value(e.predicate))
    if dt.lanes(e.buffer.dtype) != 1:
        return x.helper("lanes", buffer, py.tuple_of(at))
    return py.subscript(buffer, at or [py.tuple_of([])])


def _ramp(x: Expressions, e: Ramp) -> ast.expr:
    base, stride = x.value(e.base), x.value(e.stride)
    made = x.helper("ramp", base, stride, py.number(e.lanes))
    if x.kinds.exact(e):
        return made
    return x.helper("narrow", made, py.string(dt.info(e.dtype).base))


def _broadcast(x: Expressions, e: Broadcast) -> ast.expr:
    inner = x.value(e.value) if not x.strong(e) and x.kinds.exact(e) else x.typed(e.value)
    return x.helper("broadcast", inner, py.number(e.lanes))


def _shuffle(x: Expressions, e: Shuffle) -> ast.expr:
    vectors = py.tuple_of([x.typed(v) for v in e.vectors])
    return x.helper("shuffle", vectors, py.tuple_of([x.integer(i) for i in e.indices]))


def _let(x: Expressions, e: Let) -> ast.expr:
    value = x.value(e.value) if x.kinds.exact(e.value) else x.typed(e.value)
    name = x.names.new(e.var.name)
    x.variables[e.var] = name
    x.kinds.bounds[e.var] = x.kinds.interval(e.value) if e.var.exact else (None, None)
    # Within a lambda nothing can be assigned before the statement.
    saved, x.cut = x.cut, {}
    body = x.value(e.body)
    x.cut = saved
    x.names.free([name])
    arguments = ast.arguments([], [ast.arg(name)], None, [], [], None, [])
    return ast.Call(ast.Lambda(arguments, body), [value], [])


def _call(x: Expressions, e: Call) -> ast.expr:
    if isinstance(e.op, GlobalVar):
        known = x.functions.get(e.op.name)
        if known is None:
            raise not_yet(f"a call of `{e.op.name}`, which is in no module with this function", e)
        callee = x.callees[e.op.name]
        return py.call(known, *[_argument(x, a, callee, i) for i, a in enumerate(e.args)])
    build = CALLS.get(e.op)
    if build is None:
        raise not_yet(f"`T.{e.op}`", e)
    return build(x, e)


def _argument(x: Expressions, a: Any, callee: PrimFunc, place: int) -> ast.expr:
    """An argument of a call: memory is seen in the shape that the function called declares."""
    parameter = callee.params[place] if place < len(callee.params) else None
    buffer = None if parameter is None else callee.buffer_map.get(parameter)
    if buffer is None:
        return x.typed(a)
    shape = [n.value for n in buffer.shape if isinstance(n, IntImm)]
    own = next((b for b in x.buffers if b.data is a), None)
    same = own is not None and own.dtype == buffer.dtype and len(own.shape) == len(buffer.shape)
    if same and all(
        isinstance(m, IntImm) and m.value == n
        for m, n in zip(own.shape, shape, strict=False)  # type: ignore[union-attr]
    ):
        return x.value(a)
    if len(shape) != len(buffer.shape) or buffer.strides:
        return x.value(a)
    return x.helper("view", x.value(a), py.tuple_of([py.number(n) for n in shape]), py.string(buffer.dtype))


_TABLE: dict[type, Callable[[Expressions, Any], ast.expr]] = {
    Var: _var, IntImm: _int, FloatImm: _float, StringImm: _string,
    Add: _arithmetic, Sub: _arithmetic, Mul: _arithmetic, FloorDiv: _quotient, FloorMod: _quotient,
    Div: _truncated, Mod: _truncated, Min: _extreme, Max: _extreme,
    **dict.fromkeys(_COMPARE, _compare), And: _logical, Or: _logical, Not: _not,
    Select: _select, Cast: _cast, BufferLoad: _load, Ramp: _ramp, Broadcast: _broadcast, Shuffle: _shuffle,
    Let: _let, Call: _call,
}  # fmt: skip


# ---- very high trees


def _heights(root: Expr) -> dict[Expr, int] | None:
    """The height of every node, or None for a tree that needs no cut; without recursion."""
    deepest, stack = 0, [(root, 1)]
    while stack:
        n, depth = stack.pop()
        if depth > HEIGHT:
            deepest = depth
            break
        stack += [(c, depth + 1) for c in n.children()]  # type: ignore[misc]
    if deepest == 0:
        return None
    heights: dict[Expr, int] = {}
    todo: list[tuple[Expr, bool]] = [(root, False)]
    while todo:
        n, seen = todo.pop()
        below: Any = n.children()
        if seen:
            heights[n] = 1 + max([heights[c] for c in below], default=0)
        elif n not in heights:
            todo.append((n, True))
            todo += [(c, False) for c in below]
    return heights


def _cuts(root: Expr, heights: dict[Expr, int]) -> list[Expr]:
    """The nodes to assign beforehand: always evaluated, and a whole number of HEIGHT high."""
    found: list[Expr] = []
    stack: list[Any] = [root]
    while stack:
        n = stack.pop()
        if heights[n] % HEIGHT == 0 and n is not root and type(n) not in (StringImm, IntImm, FloatImm, Var):
            found.append(n)
        t = type(n)
        if t is And or t is Or:
            stack.append(n.a)
        elif t is Let:
            stack.append(n.value)
        elif t is Call and n.op == "if_then_else":
            stack.append(n.args[0])
        else:
            stack += n.children()
    return found
