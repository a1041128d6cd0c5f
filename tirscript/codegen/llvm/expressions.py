"""Expressions: one function for each class of node, chosen by a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tirscript.diagnostics import CodegenError, NotYetError
from tirscript.ir import expr as ir
from tirscript.ir.expr import Expr

from . import calls, checks, floats, integers, memory
from .casts import as_data, as_kind, cast
from .values import (
    BITS,
    FLOATS,
    NARROW,
    REGISTER,
    SIGNED,
    Value,
    constant,
    exact_constant,
    llvm_type,
    parts,
    splat,
)

if TYPE_CHECKING:
    from .function import FunctionEmitter


def _var(f: FunctionEmitter, e: ir.Var) -> Value:
    v = f.env.get(e)
    if v is None:
        raise CodegenError(
            f"the variable `{e.name}` is not defined where it is used", code="undefined-variable"
        )
    return v


def _int(f: FunctionEmitter, e: ir.IntImm) -> Value:
    if e.dtype == "bool":
        v = constant(e.value, "bool")
        v.exact = True
        return v
    parts(e.dtype)
    return exact_constant(e.value)


def _float(f: FunctionEmitter, e: ir.FloatImm) -> Value:
    base, lanes = parts(e.dtype)
    return constant(e.value, base, lanes)


def _string(f: FunctionEmitter, e: ir.StringImm) -> Value:
    return Value(f.module.string(e.value), "handle")


# ---- arithmetic

_INTEGER = {
    ir.Add: integers.add, ir.Sub: integers.sub, ir.Mul: integers.mul, ir.Div: integers.truncdiv,
    ir.Mod: integers.truncmod, ir.FloorDiv: integers.floordiv, ir.FloorMod: integers.floormod,
    ir.Min: integers.minimum, ir.Max: integers.maximum,
}  # fmt: skip
_DIVISIONS = (ir.Div, ir.Mod, ir.FloorDiv, ir.FloorMod)
_FLOAT = {ir.Add: "fadd", ir.Sub: "fsub", ir.Mul: "fmul", ir.Div: "fdiv", ir.Mod: "frem"}


def _binary(f: FunctionEmitter, e: ir.BinaryOp) -> Value:
    base, _ = parts(e.dtype)
    t = type(e)
    if base not in FLOATS:
        if base == "bool" or base == "handle":
            raise CodegenError(f"no arithmetic on {base}", code="dtype")
        x, y = integers.unify(f, f.expr(e.a), f.expr(e.b), base)
        if not f.module.options.checked:
            return _integer(f, t, x, y)
        if t in _DIVISIONS:
            checks.divisor(f, e, y)
        made = _integer(f, t, x, y)
        checks.arithmetic(f, e, x, y, made)
        return made
    if base not in NARROW and f.module.options.contract and (t is ir.Add or t is ir.Sub):
        contracted = _contracted(f, e, base)
        if contracted is not None:
            return contracted
    x, y = as_data(f, f.expr(e.a), base), as_data(f, f.expr(e.b), base)
    opcode = _FLOAT.get(t)
    if opcode is not None:
        return floats.arithmetic(f, opcode, x, y)
    if t is ir.FloorDiv:
        return floats.floordiv(f, x, y)
    if t is ir.FloorMod:
        return floats.floormod(f, x, y)
    return floats.choose(f, "minimum" if t is ir.Min else "maximum", x, y)


def _integer(f: FunctionEmitter, t: type[ir.BinaryOp], x: Value, y: Value) -> Value:
    if t in _DIVISIONS and BITS[x.base] < 8:
        # Division needs 1 and -1, which one bit does not have both.
        wide = "int8" if x.base in SIGNED else "uint8"
        made = _INTEGER[t](f, integers.to_data(f, x, wide), integers.to_data(f, y, wide))
        return integers.to_data(f, made, x.base)
    return _INTEGER[t](f, x, y)


def _contracted(f: FunctionEmitter, e: ir.BinaryOp, base: str) -> Value | None:
    """``a*b + c``, ``a*b - c`` and ``c - a*b`` as one operation."""
    a, b = e.a, e.b
    subtract = type(e) is ir.Sub
    if type(b) is ir.Mul:
        # The addend first, as Python evaluates it.
        z = as_data(f, f.expr(a), base)
        x, y = as_data(f, f.expr(b.a), base), as_data(f, f.expr(b.b), base)
        return floats.multiply_add(f, floats.negate(f, x) if subtract else x, y, z)
    if type(a) is ir.Mul:
        x, y = as_data(f, f.expr(a.a), base), as_data(f, f.expr(a.b), base)
        z = as_data(f, f.expr(b), base)
        return floats.multiply_add(f, x, y, floats.negate(f, z) if subtract else z)
    return None


_WORDS = {ir.EQ: "eq", ir.NE: "ne", ir.LT: "lt", ir.LE: "le", ir.GT: "gt", ir.GE: "ge"}


def _compare(f: FunctionEmitter, e: ir.CmpOp) -> Value:
    base, _ = parts(e.a.dtype)
    word = _WORDS[type(e)]
    x, y = f.expr(e.a), f.expr(e.b)
    if base in FLOATS:
        return floats.compare(f, word, as_data(f, x, base), as_data(f, y, base))
    if base == "bool" or base == "handle":
        x, y = f.same_lanes(x, y)
        v = f.compare(f"icmp {word if word in ('eq', 'ne') else 'u' + word}", x, y)
    else:
        x, y = integers.unify(f, x, y, base)
        v = integers.compare(f, word, x, y)
    v.exact = x.exact and y.exact
    return v


# ---- conditions


def touches_memory(e: Expr) -> bool:
    """Whether evaluating ``e`` reads memory or calls foreign code: then only where it is needed."""
    stack: list[Any] = [e]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is ir.BufferLoad:
            return True
        if t is ir.Call and (not isinstance(n.op, str) or n.op in calls.FOREIGN):
            return True
        stack.extend(n.children())
    return False


def _lazy(f: FunctionEmitter, e: ir.BinaryOp) -> Value:
    """``and``, ``or``: the second operand only where the first does not decide."""
    is_and = type(e) is ir.And
    x = as_data(f, f.expr(e.a), "bool")
    lanes = parts(e.dtype)[1]
    if not touches_memory(e.b):
        y = as_data(f, f.expr(e.b), "bool")
        a, b = f.same_lanes(x, y)
    elif lanes == 1:
        more, join, before = f.name("more"), f.name("decided"), f.block
        f.cond_br(x.ref, more, join) if is_and else f.cond_br(x.ref, join, more)
        f.start(more)
        y = as_data(f, f.expr(e.b), "bool")
        after = f.block
        f.start(join)
        v = f.phi(y, [("false" if is_and else "true", before), (y.ref, after)])
        v.exact = x.exact and y.exact
        return v
    else:
        x = f.broadcast(x, lanes)
        with f.masked(x if is_and else _negated(f, x)):
            y = as_data(f, f.expr(e.b), "bool")
        a, b = f.same_lanes(x, y)
    # A select, not `and`: what the first operand excludes may be poison in the second.
    const = splat("false" if is_and else "true", "bool", a.lanes)
    arms = f"{b.typed}, {b.ty} {const}" if is_and else f"{b.ty} {const}, {b.typed}"
    return Value(f.ins(f"select {a.typed}, {arms}"), "bool", a.lanes, x.exact and y.exact)


def _negated(f: FunctionEmitter, v: Value) -> Value:
    return Value(f.op("xor", v, splat("true", "bool", v.lanes)), "bool", v.lanes, v.exact)


def _not(f: FunctionEmitter, e: ir.Not) -> Value:
    return _negated(f, as_data(f, f.expr(e.a), "bool"))


def _unified(f: FunctionEmitter, c: Value, x: Value, y: Value, dtype: str) -> tuple[Value, Value]:
    base, lanes = parts(dtype)
    if not (c.exact and x.exact and y.exact):
        x, y = as_data(f, x, base), as_data(f, y, base)
    return f.broadcast(x, lanes), f.broadcast(y, lanes)


def _select(f: FunctionEmitter, e: ir.Select) -> Value:
    c = as_data(f, f.expr(e.condition), "bool")
    x, y = _unified(f, c, f.expr(e.true_value), f.expr(e.false_value), e.dtype)
    return f.select(c, x, y)


def if_then_else(f: FunctionEmitter, e: ir.Call) -> Value:
    """A conditional expression: reads only what its condition allows."""
    condition, then_value, else_value = e.args
    c = as_data(f, f.expr(condition), "bool")
    if not touches_memory(then_value) and not touches_memory(else_value):
        x, y = _unified(f, c, f.expr(then_value), f.expr(else_value), e.dtype)
        return f.select(c, x, y)
    base, lanes = parts(e.dtype)
    exact = f.kinds.exact(e)
    if c.lanes > 1:
        with f.masked(c):
            x = f.broadcast(as_kind(f, f.expr(then_value), base, exact), lanes)
        with f.masked(_negated(f, c)):
            y = f.broadcast(as_kind(f, f.expr(else_value), base, exact), lanes)
        return f.select(c, x, y)
    then, other, join = f.name("then"), f.name("else"), f.name("join")
    f.cond_br(c.ref, then, other)
    f.start(then)
    x = f.broadcast(as_kind(f, f.expr(then_value), base, exact), lanes)
    x_block = f.block
    f.br(join)
    f.start(other)
    y = f.broadcast(as_kind(f, f.expr(else_value), base, exact), lanes)
    y_block = f.block
    f.start(join)
    return f.phi(x, [(x.ref, x_block), (y.ref, y_block)])


# ---- conversions and vectors


def _cast(f: FunctionEmitter, e: ir.Cast) -> Value:
    base, lanes = parts(e.dtype)
    v = f.expr(e.value)
    if v.base == "handle" or base == "handle":
        raise CodegenError(f"no conversion from {e.value.dtype} to {e.dtype}", code="dtype")
    if not v.exact and v.base not in FLOATS and v.base != "bool":
        v = as_data(f, v, parts(e.value.dtype)[0])
    return f.broadcast(cast(f, v, base), lanes)


def _broadcast(f: FunctionEmitter, e: ir.Broadcast) -> Value:
    v = f.expr(e.value)
    if v.lanes == 1:
        return f.broadcast(v, e.lanes)
    picks = ", ".join(f"i32 {i}" for _ in range(e.lanes) for i in range(v.lanes))
    lanes = v.lanes * e.lanes
    ref = f.ins(f"shufflevector {v.typed}, {v.ty} poison, <{lanes} x i32> <{picks}>")
    return Value(ref, v.base, lanes, v.exact, v.lo, v.hi)


def _ramp(f: FunctionEmitter, e: ir.Ramp) -> Value:
    base, lanes = parts(e.dtype)
    x, step = integers.unify(f, f.expr(e.base), f.expr(e.stride), base)
    if x.lanes != 1:
        raise NotYetError("ramps of vectors are not supported yet", code="ramp")
    if lanes == 1:
        return x
    number = step.constant
    scalar = REGISTER[x.base]
    if number is not None:
        items = ", ".join(f"{scalar} {f.const_like(number * i, x).ref}" for i in range(lanes))
        steps = Value(f"<{items}>", x.base, lanes, x.exact, *_ends(0, number * (lanes - 1)))
    else:
        items = ", ".join(f"{scalar} {i}" for i in range(lanes))
        ref = f.ins(f"mul {f.broadcast(step, lanes).typed}, <{items}>")
        steps = Value(ref, x.base, lanes, x.exact)
    if x.constant == 0:
        return steps
    wide = f.broadcast(x, lanes)
    total = Value(f.op("add", wide, steps.ref), x.base, lanes, x.exact)
    if x.exact and x.lo is not None and x.hi is not None and steps.lo is not None and steps.hi is not None:
        total.lo, total.hi = x.lo + steps.lo, x.hi + steps.hi
    return total


def _ends(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def _shuffle(f: FunctionEmitter, e: ir.Shuffle) -> Value:
    base, lanes = parts(e.dtype)
    items: list[Value] = []
    for v in [as_data(f, f.expr(x), base) for x in e.vectors]:
        items += [f.lane(v, i) for i in range(v.lanes)]
    picked = []
    for i in e.indices:
        if not isinstance(i, ir.IntImm) or not 0 <= i.value < len(items):
            raise CodegenError("the indices of a shuffle are constants inside the vectors", code="shuffle")
        picked.append(items[i.value])
    return picked[0] if lanes == 1 else f.from_lanes(picked)


def _let(f: FunctionEmitter, e: ir.Let) -> Value:
    f.bind(e.var, f.expr(e.value))
    return f.expr(e.body)


def _call(f: FunctionEmitter, e: ir.Call) -> Value:
    if e.op == "if_then_else":
        return if_then_else(f, e)
    return calls.call(f, e)


def _global(f: FunctionEmitter, e: ir.GlobalVar) -> Value:
    raise NotYetError(f"the function `{e.name}` as a value is not supported yet", code="function-value")


def _reducer(f: FunctionEmitter, e: ir.CommReducer) -> Value:
    raise NotYetError("cross-thread reductions are not supported on the CPU yet", code="reducer")


TABLE: dict[type, Callable[[Any, Any], Value]] = {
    ir.Var: _var,
    ir.IntImm: _int,
    ir.FloatImm: _float,
    ir.StringImm: _string,
    **dict.fromkeys(_INTEGER, _binary),
    **dict.fromkeys(_WORDS, _compare),
    ir.And: _lazy,
    ir.Or: _lazy,
    ir.Not: _not,
    ir.Select: _select,
    ir.Cast: _cast,
    ir.BufferLoad: memory.load,
    ir.Ramp: _ramp,
    ir.Broadcast: _broadcast,
    ir.Shuffle: _shuffle,
    ir.Let: _let,
    ir.Call: _call,
    ir.GlobalVar: _global,
    ir.CommReducer: _reducer,
}

__all__ = ["TABLE", "if_then_else", "llvm_type", "touches_memory"]
