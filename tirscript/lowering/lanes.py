"""Expressions over the lanes of a vectorized loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.arith.linear import Linear, linear_expr, to_linear
from tirscript.ir import dtype as dt
from tirscript.ir.expr import (
    GE,
    GT,
    LE,
    LT,
    Add,
    And,
    BinaryOp,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    CmpOp,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Select,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.node import walk
from tirscript.ir.op import OPS, effect_of
from tirscript.ir.stmt import Stmt
from tirscript.ir.visitor import free_vars, substitute

from .bounds import Facts
from .fold import add, const_of, floordiv, floormod, is_exact
from .vectors import vadd, vcast, vmul, vsub, widen

Load = Callable[[BufferLoad], "Expr | None"]


class NoVector(Exception):
    """The statement has no vector form; it runs lane by lane."""


class Lanes:
    """What the variables are in each lane, and how expressions over them become vectors."""

    def __init__(self, facts: Facts, width: int) -> None:
        self.facts = facts
        self.width = width
        self.values: dict[Var, Expr] = {}
        self.names: set[Var] = set()  # variables and pointers that differ between lanes
        self.lets: list[tuple[Var, Expr]] = []  # lets that became vectors, with their value for one lane

    def bind(self, var: Var, value: Expr) -> None:
        self.values[var] = value
        self.names.add(var)

    def define(self, var: Var, vector: Expr, value: Expr) -> None:
        self.bind(var, vector)
        self.lets.append((var, value))

    def varies(self, e: Expr) -> bool:
        return not self.names.isdisjoint(free_vars(e))

    def wide(self, e: Expr) -> Expr:
        return widen(e, self.width)

    def leaves_early(self, body: Stmt) -> bool:
        """Whether some lanes may leave a loop with this body before others."""
        return any(type(n) is Call and n.op in ("break_loop", "continue_loop") for n in walk(body))

    def expr(self, e: Expr, load: Load) -> Expr:
        """``e`` for all lanes: itself where no lane differs, else a vector.  Raises NoVector."""
        if not self.varies(e):
            return e
        rule = _RULES.get(type(e))
        if rule is None:
            raise NoVector
        return rule(self, e, load)

    def safe(self, e: Expr) -> bool:
        """Whether every lane may evaluate ``e`` (a vector already): all loads are within their buffers."""
        for n in walk(e):
            if type(n) is BufferLoad:
                low, high = self.facts.interval(n.indices[0])
                size = self.facts.interval(n.buffer.shape[0])[0]
                if low is None or high is None or size is None or low < 0 or high >= size:
                    return False
            elif type(n) is Call and effect_of(n.op) not in ("pure", "hint"):
                return False
        return True


def _var(self: Lanes, e: Var, load: Load) -> Expr:
    return self.values[e]


def _arithmetic(self: Lanes, e: BinaryOp, load: Load) -> Expr:
    a, b = self.expr(e.a, load), self.expr(e.b, load)
    # Only mathematical integers keep the form of a ramp: data wraps at its own width.
    if dt.is_int(e.dtype) and is_exact(a) and is_exact(b):
        return {Add: vadd, Sub: vsub, Mul: vmul}[type(e)](a, b)
    return _both(self, e, a, b)


def _both(self: Lanes, e: Any, a: Expr, b: Expr) -> Expr:
    return type(e)(self.wide(a), self.wide(b), span=e.span)  # type: ignore[no-any-return]


def _binary(self: Lanes, e: BinaryOp | CmpOp, load: Load) -> Expr:
    return _both(self, e, self.expr(e.a, load), self.expr(e.b, load))


def _quotient(self: Lanes, e: BinaryOp, load: Load) -> Expr:
    a, b = self.expr(e.a, load), self.expr(e.b, load)
    divisor = const_of(b)
    if type(a) is Ramp and divisor is not None and divisor > 0:
        step = const_of(a.stride)
        if step is not None and step >= 0 and _one_period(self, a.base, step * (a.lanes - 1), divisor):
            if type(e) is FloorDiv:
                return Broadcast(floordiv(a.base, b), a.lanes)
            return Ramp(floormod(a.base, b), a.stride, a.lanes)
    return _both(self, e, a, b)


def _one_period(self: Lanes, base: Expr, reach: int, divisor: int) -> bool:
    """Whether ``base % divisor + reach`` stays below the divisor."""
    if reach >= divisor:
        return False
    form = to_linear(base)
    if form is None:
        return False
    rest = Linear({a: k for a, k in form.terms.items() if k % divisor}, form.const % divisor)
    low, high = self.facts.interval(linear_expr(rest, base.dtype))
    return low is not None and high is not None and low >= 0 and high + reach < divisor


def _shortcut(self: Lanes, e: And | Or, load: Load) -> Expr:
    a, b = self.expr(e.a, load), self.expr(e.b, load)
    if not self.safe(b):
        raise NoVector
    return _both(self, e, a, b)


def _not(self: Lanes, e: Not, load: Load) -> Expr:
    return Not(self.expr(e.a, load), span=e.span)


def _select(self: Lanes, e: Select, load: Load) -> Expr:
    condition = self.expr(e.condition, load)
    a, b = self.wide(self.expr(e.true_value, load)), self.wide(self.expr(e.false_value, load))
    return Select(self.wide(condition), a, b, span=e.span)


def _cast(self: Lanes, e: Cast, load: Load) -> Expr:
    value = self.expr(e.value, load)
    kind = dt.info(e.dtype)
    if kind.is_int and dt.is_int(value.dtype) and is_exact(value) and kind.base == "int64":
        return vcast(value, kind.base)
    return Cast(dt.with_lanes(kind.base, self.width), self.wide(value), span=e.span)


def _load(self: Lanes, e: BufferLoad, load: Load) -> Expr:
    found = load(e)
    if found is not None:
        return found
    if e.predicate is not None or "x" in e.buffer.dtype:
        raise NoVector
    return e.replace(indices=(self.expr(e.indices[0], load),))


def _let(self: Lanes, e: Let, load: Load) -> Expr:
    value = self.expr(e.value, load)
    if "x" in value.dtype:
        var = e.var.replace(dtype=value.dtype)
        self.bind(e.var, var)
    else:
        var = e.var
    return Let(var, value, self.wide(self.expr(e.body, load)), span=e.span)


def _call(self: Lanes, e: Call, load: Load) -> Expr:
    if e.op == "if_then_else":
        return _choice(self, e, load)
    known = OPS.get(e.op) if isinstance(e.op, str) else None
    if known is None or not (known.group in ("math", "bits") or e.op in ("reinterpret", "likely")):
        raise NoVector
    if "x" in e.dtype:
        raise NoVector
    args = tuple([self.wide(self.expr(a, load)) for a in e.args])
    return Call(dt.with_lanes(e.dtype, self.width), e.op, args, span=e.span)


def _choice(self: Lanes, e: Call, load: Load) -> Expr:
    condition, a, b = [self.expr(x, load) for x in e.args]
    a, b = self.wide(a), self.wide(b)
    if "x" not in condition.dtype:
        return Call(a.dtype, "if_then_else", (condition, a, b), span=e.span)
    if not (self.safe(a) and self.safe(b)):
        raise NoVector
    return Select(condition, a, b, span=e.span)


_RULES: dict[type, Callable[..., Expr]] = {
    Var: _var,
    Add: _arithmetic,
    Sub: _arithmetic,
    Mul: _arithmetic,
    FloorDiv: _quotient,
    FloorMod: _quotient,
    **dict.fromkeys((Div, Mod, Min, Max), _binary),
    **dict.fromkeys(CmpOp.__subclasses__(), _binary),
    And: _shortcut,
    Or: _shortcut,
    Not: _not,
    Select: _select,
    Cast: _cast,
    BufferLoad: _load,
    Let: _let,
    Call: _call,
}


def at_every_lane(condition: Expr, lanes: Lanes, var: Var, base: Expr) -> Expr | None:
    """A condition without lanes that says that ``condition`` holds in every lane; None if there is none.

    A comparison that is linear in the loop variable holds everywhere if it holds at one end.
    """
    if not lanes.varies(condition):
        return condition
    t = type(condition)
    if t not in (LT, LE, GT, GE) or not is_exact(condition):
        return None
    assert isinstance(condition, CmpOp)
    try:
        a, b = lanes.expr(condition.a, _no_load), lanes.expr(condition.b, _no_load)
    except NoVector:
        return None
    difference = vsub(a, b)
    step = const_of(difference.stride) if type(difference) is Ramp else None
    if step is None:
        return None
    rising = step > 0
    last = rising if t in (LT, LE) else not rising
    at = add(base, const_int(lanes.width - 1, base.dtype)) if last else base
    values: dict[Var, Expr] = {v: x for v, x in lanes.lets if is_exact(x)}
    for _ in lanes.lets:
        condition = substitute(condition, values)
    return None if _stuck(condition, lanes, var) else substitute(condition, {var: at})


def _stuck(condition: Expr, lanes: Lanes, var: Var) -> bool:
    return not (free_vars(condition) & lanes.names) <= {var}


def _no_load(e: BufferLoad) -> Expr | None:
    raise NoVector
