"""Typed constructors: promotion as in ``language.md``, no folding.

``a`` and ``b`` may be expressions or Python numbers; a Python number takes the dtype of the other side.
Mistakes are TirscriptErrors without a place; the parser adds the caret.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError

from . import dtype as dt
from .buffer import Buffer, BufferRegion
from .expr import (
    EQ,
    FALSE,
    GE,
    GT,
    LE,
    LT,
    NE,
    TRUE,
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
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    IterVar,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Range,
    Select,
    StringImm,
    Sub,
    const_int,
)
from .op import OPS

# Of each narrow float: significant bits with the hidden one, smallest normal exponent, largest finite value.
_FLOATS: dict[str, tuple[int, int, float]] = {
    "float16": (11, -14, 65504.0),
    "bfloat16": (8, -126, float.fromhex("0x1.fep127")),
    "float8_e3m4": (5, -2, 15.5),
    "float8_e4m3": (4, -6, 240.0),
    "float8_e4m3fn": (4, -6, 448.0),
    "float8_e4m3b11fnuz": (4, -10, 30.0),
    "float8_e4m3fnuz": (4, -7, 240.0),
    "float8_e5m2": (3, -14, 57344.0),
    "float8_e5m2fnuz": (3, -15, 57344.0),
    "float8_e8m0fnu": (1, -127, 2.0**127),
}


def error(message: str, code: str = "dtype-mismatch", **kwargs: Any) -> TirscriptError:
    return TirscriptError(message, code=code, **kwargs)


def round_float(value: float, dtype: str) -> float:
    """``value`` rounded to ``dtype``, ties to even; a finite value that becomes inf is an error.

    >>> round_float(0.1, "float16"), round_float(1 + 2**-9, "bfloat16")
    (0.0999755859375, 1.0)
    """
    if dtype == "float64" or math.isinf(value) or math.isnan(value) or value == 0:
        return value
    if dtype == "float32":
        try:
            rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
            return rounded
        except OverflowError:
            raise error(f"{value!r} does not fit {dtype}", "constant-range") from None
    precision, lowest, largest = _FLOATS[dtype]
    exponent = max(math.frexp(value)[1] - 1, lowest)
    unit = math.ldexp(1.0, exponent - precision + 1)
    rounded = round(value / unit) * unit
    if abs(rounded) > largest:
        raise error(f"{value!r} does not fit {dtype}", "constant-range")
    return rounded if rounded != 0 else math.copysign(0.0, value)


def const(value: bool | int | float, dtype: str | None = None) -> Expr:
    """A constant; without ``dtype`` a bool, int32 (int64 where it must be) or float32.

    Raises TirscriptError where the value does not fit the dtype.
    """
    if dtype == "int32" and type(value) is int and -(1 << 31) <= value < 1 << 31:
        return const_int(value)
    if dtype is None:
        if isinstance(value, bool):
            return TRUE if value else FALSE
        if isinstance(value, float):
            dtype = "float32"
        else:
            value = int(value)
            dtype = "int32" if -(1 << 31) <= value < 1 << 31 else "int64"
    kind = dt.info(dtype)
    if kind.lanes != 1:
        return Broadcast(const(value, kind.base), kind.lanes)
    if kind.code in ("int", "uint", "bool"):
        if isinstance(value, float) and not value.is_integer():
            raise error(
                f"{value!r} is no {dtype}", "constant-range", hint=f"T.cast({value!r}, {dtype!r}) converts"
            )
        number = int(value)
        low, high = dt.bounds(dtype)
        if not low <= number <= high:
            raise error(f"{number} does not fit {dtype}, which holds {low} to {high}", "constant-range")
        return const_int(number, dtype)
    if kind.is_float:
        try:
            return FloatImm(round_float(float(value), dtype), dtype)
        except OverflowError:
            raise error(f"{value} does not fit {dtype}", "constant-range") from None
    raise error(f"there are no constants of dtype {dtype}")


def as_expr(value: Any, dtype: str | None = None) -> Expr:
    """``value`` as an expression: an Expr as it is, a Python or NumPy number or string as a constant; what
    stands for an expression has a method ``as_expression``."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, IterVar):
        return value.var
    if isinstance(value, (bool, int, float)):
        return const(value, dtype)
    if isinstance(value, str):
        return StringImm(value)
    if hasattr(value, "as_expression"):
        return value.as_expression()  # type: ignore[no-any-return]
    if hasattr(value, "item") and hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return const(value.item(), dtype or dt.normalize(value.dtype))
    raise error(f"{type(value).__name__} is no expression", "not-an-expression")


def promoted(a: str, b: str, *, comparison: bool = False) -> str:
    """The scalar dtype that operands of the scalar dtypes ``a`` and ``b`` are converted to.

    >>> promoted("int32", "float16"), promoted("int8", "uint16"), promoted("bool", "int64")
    ('float16', 'int16', 'int64')
    """
    if a == b and (a != "bool" or comparison):
        return a
    x, y = dt.info(a), dt.info(b)
    for d, name in ((x, a), (y, b)):
        if d.code in ("handle", "void"):
            raise error(f"no arithmetic on {name}")
    if x.code == "bool" or y.code == "bool":
        return "int32" if x.code == y.code else (b if x.code == "bool" else a)
    if x.is_float and y.is_float:
        if x.bits == y.bits:
            raise error(f"{a} and {b} have no common dtype", hint="T.cast one of them")
        return a if x.bits > y.bits else b
    if x.is_float or y.is_float:
        return a if x.is_float else b
    if x.code == y.code:
        return a if x.bits >= y.bits else b
    return f"int{max(x.bits, y.bits)}"


def _with_dtype(value: Expr, dtype: str, lanes: int) -> Expr:
    kind = dt.info(value.dtype)
    if kind.base != dtype:
        value = Cast(dt.with_lanes(dtype, kind.lanes), value)
    return Broadcast(value, lanes) if lanes != 1 and kind.lanes == 1 else value


def promote(a: Any, b: Any, *, comparison: bool = False) -> tuple[Expr, Expr]:
    """Both operands as expressions of one dtype."""
    is_a = isinstance(a, Expr)
    if is_a and type(b) is int and a.dtype == "int32":  # the usual case of index arithmetic
        return a, const(b, "int32")
    is_b = isinstance(b, Expr)
    if is_a and is_b:
        if a.dtype == b.dtype and (a.dtype != "bool" or comparison):
            return a, b
        x, y = dt.info(a.dtype), dt.info(b.dtype)
        if x.lanes != y.lanes and 1 not in (x.lanes, y.lanes):
            raise error(f"vectors of {x.lanes} and {y.lanes} lanes do not match")
        dtype = promoted(x.base, y.base, comparison=comparison)
        lanes = max(x.lanes, y.lanes)
        return _with_dtype(a, dtype, lanes), _with_dtype(b, dtype, lanes)
    if is_a:
        return promote_literal(a, b, comparison)
    if is_b:
        second, first = promote_literal(b, a, comparison)
        return first, second
    return promote(as_expr(a), as_expr(b), comparison=comparison)


def promote_literal(a: Expr, b: Any, comparison: bool = False) -> tuple[Expr, Expr]:
    """``b``, a Python value, in the dtype of ``a``; an int ``a`` with a float ``b`` becomes float32."""
    if isinstance(b, IterVar):
        return promote(a, b.var, comparison=comparison)
    if not isinstance(b, (bool, int, float)):
        return promote(a, as_expr(b), comparison=comparison)
    kind = dt.info(a.dtype)
    if isinstance(b, bool) and kind.code == "bool" and comparison:
        return a, const(b, a.dtype)
    if kind.code == "bool":
        return promote(a, const(b), comparison=comparison)
    if isinstance(b, float) and not kind.is_float:
        return promote(a, const(b, "float32"), comparison=comparison)
    if kind.code in ("handle", "void"):
        raise error(f"no arithmetic on {a.dtype}")
    return a, const(b, a.dtype)


def binary(cls: type[BinaryOp], a: Any, b: Any) -> Expr:
    return cls(*promote(a, b))


def compare(cls: type[CmpOp], a: Any, b: Any) -> Expr:
    return cls(*promote(a, b, comparison=True))


def add(a: Any, b: Any) -> Expr:
    return Add(*promote(a, b))


def sub(a: Any, b: Any) -> Expr:
    return Sub(*promote(a, b))


def mul(a: Any, b: Any) -> Expr:
    return Mul(*promote(a, b))


def div(a: Any, b: Any) -> Expr:
    """``a / b`` of floats; two integers are an error."""
    x, y = promote(a, b)
    if not dt.is_float(x.dtype):
        raise error(
            "`/` of two integers is ambiguous",
            "integer-division",
            hint="write `//` to round down, T.truncdiv to truncate, or cast to a float",
        )
    return Div(x, y)


def floordiv(a: Any, b: Any) -> Expr:
    return FloorDiv(*_divisible(*promote(a, b)))


def floormod(a: Any, b: Any) -> Expr:
    return FloorMod(*_divisible(*promote(a, b)))


def _divisible(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """Both operands; a divisor that is the integer constant 0 is an error (a computed one gives 0)."""
    if isinstance(y, IntImm) and y.value == 0:
        raise error("division by zero", "division-by-zero")
    return x, y


def truncdiv(a: Any, b: Any) -> Expr:
    x, y = _divisible(*promote(a, b))
    if dt.is_float(x.dtype):
        raise error("truncdiv takes integers", hint="T.trunc(a / b) truncates a quotient of floats")
    return Div(x, y)


def truncmod(a: Any, b: Any) -> Expr:
    x, y = _divisible(*promote(a, b))
    if dt.is_float(x.dtype):
        raise error("truncmod takes integers", hint="T.fmod is the remainder of floats")
    return Mod(x, y)


def ceildiv(a: Any, b: Any) -> Expr:
    """The quotient rounded up, as ``(a + (b - 1)) // b`` with a constant ``b - 1`` where b is one."""
    x, y = _divisible(*promote(a, b))
    if isinstance(y, IntImm):
        return FloorDiv(Add(x, const(y.value - 1, y.dtype)), y)
    return FloorDiv(Sub(Add(x, y), const(1, x.dtype)), y)


def minimum(a: Any, b: Any) -> Expr:
    return Min(*promote(a, b))


def maximum(a: Any, b: Any) -> Expr:
    return Max(*promote(a, b))


def eq(a: Any, b: Any) -> Expr:
    return compare(EQ, a, b)


def ne(a: Any, b: Any) -> Expr:
    return compare(NE, a, b)


def lt(a: Any, b: Any) -> Expr:
    return compare(LT, a, b)


def le(a: Any, b: Any) -> Expr:
    return compare(LE, a, b)


def gt(a: Any, b: Any) -> Expr:
    return compare(GT, a, b)


def ge(a: Any, b: Any) -> Expr:
    return compare(GE, a, b)


def condition(value: Any) -> Expr:
    """``value`` as a condition: a bool as it is, a number as ``value != 0``."""
    expr = as_expr(value)
    kind = dt.info(expr.dtype)
    if kind.code == "bool":
        return expr
    if kind.code in ("handle", "void"):
        raise error(f"a condition is wanted, this is a {expr.dtype}")
    return NE(expr, const(0, expr.dtype))


def _bool_operand(value: Any, word: str) -> Expr:
    expr = as_expr(value)
    if not dt.is_bool(expr.dtype):
        raise error(f"`{word}` takes bools, this is {expr.dtype}", hint="compare with 0: `x != 0`")
    return expr


def logical_and(a: Any, b: Any) -> Expr:
    x, y = _bool_operand(a, "and"), _bool_operand(b, "and")
    return And(*promote(x, y, comparison=True))


def logical_or(a: Any, b: Any) -> Expr:
    x, y = _bool_operand(a, "or"), _bool_operand(b, "or")
    return Or(*promote(x, y, comparison=True))


def logical_not(a: Any) -> Expr:
    expr = as_expr(a)
    return Not(expr) if dt.is_bool(expr.dtype) else EQ(expr, const(0, expr.dtype))


def neg(a: Any) -> Expr:
    """``-a``: the negated constant, else ``a * -1`` in a's dtype."""
    if not isinstance(a, Expr):
        return as_expr(-a)
    if isinstance(a, IntImm) and a.dtype != "bool":
        return const(-a.value, a.dtype)
    if isinstance(a, FloatImm):
        return FloatImm(-a.value, a.dtype)
    kind = dt.info(a.dtype)
    if kind.code == "uint":
        return Sub(const(0, a.dtype), a)
    return mul(a, -1)


def cast(value: Any, dtype: str) -> Expr:
    """``value`` converted to ``dtype``; the value itself where it has that dtype."""
    dtype = dt.normalize(dtype)
    if isinstance(value, (bool, int, float)):
        kind = dt.info(dtype)
        if isinstance(value, float) and not kind.is_float:
            return Cast(dtype, const(value))
        return const(bool(value) if kind.code == "bool" else value, dtype)
    expr = as_expr(value)
    if expr.dtype == dtype:
        return expr
    have, want = dt.info(expr.dtype), dt.info(dtype)
    if have.lanes != want.lanes:
        if have.lanes != 1:
            raise error(f"{expr.dtype} has {have.lanes} lanes, {dtype} has {want.lanes}")
        return Broadcast(cast(expr, want.base), want.lanes)
    return Cast(dtype, expr)


def call(op: str, *args: Any, dtype: str | None = None) -> Call:
    """A call of the operator ``op``; arity and result dtype by the table in ``op``."""
    known = OPS[op]
    low, high = known.arity
    if len(args) < low or (high >= 0 and len(args) > high):
        wanted = str(low) if low == high else f"{low} to {high}" if high >= 0 else f"at least {low}"
        raise error(f"{op} takes {wanted} argument{'s' if wanted != '1' else ''}, {len(args)} given", "arity")
    exprs = tuple([as_expr(a) for a in args])
    if dtype is None:
        if known.result == "same":
            dtype = exprs[0].dtype
        elif known.result == "bool":
            dtype = dt.with_lanes("bool", dt.lanes(exprs[0].dtype))
        elif known.result == "given":
            raise error(f"{op} needs a dtype")
        else:
            dtype = known.result
    return Call(dtype, op, exprs)


def math_call(op: str, *args: Any) -> Expr:
    """A function on floats; an integer argument is converted to float32, or float64 from 64 bits."""
    low, high = OPS[op].arity
    if not low <= len(args) <= high:
        return call(op, *args)
    if op == "ldexp":
        return call(op, _as_float(args[0]), as_expr(args[1]))
    if len(args) == 1:
        return call(op, _as_float(args[0]))
    first = next((a for a in args if isinstance(a, Expr)), None)
    if first is None:
        return call(op, *[const(float(a)) for a in args])
    joined: Expr = first
    for a in args:
        joined = promote(joined, a)[0]
    target = _as_float(joined).dtype
    return call(
        op, *[const(float(a), target) if isinstance(a, (int, float)) else cast(a, target) for a in args]
    )


def _as_float(value: Any) -> Expr:
    if isinstance(value, (bool, int)):
        return const(float(value))
    expr = as_expr(value)
    kind = dt.info(expr.dtype)
    if kind.is_float:
        return expr
    if kind.code in ("handle", "void"):
        raise error(f"a number is wanted, this is a {expr.dtype}")
    return Cast(dt.with_lanes("float64" if kind.bits == 64 else "float32", kind.lanes), expr)


def power(a: Any, b: Any) -> Expr:
    """``a ** b``: of two integers the integer power, else of floats."""
    x, y = promote(a, b)
    return call("pow", x, y) if dt.is_int(x.dtype) else math_call("pow", x, y)


def absolute(a: Any) -> Expr:
    expr = as_expr(a)
    return call("fabs", expr) if dt.is_float(expr.dtype) else call("abs", expr)


def _bits(op: str, word: str) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = promote(a, b, comparison=True)
        code = dt.info(x.dtype).code
        if code not in ("int", "uint") and not (code == "bool" and word in "&|^"):
            raise error(f"`{word}` takes integers, this is {x.dtype}")
        return call(op, x, y)

    build.__name__ = op
    return build


bitwise_and = _bits("bitwise_and", "&")
bitwise_or = _bits("bitwise_or", "|")
bitwise_xor = _bits("bitwise_xor", "^")
shift_left = _bits("shift_left", "<<")
shift_right = _bits("shift_right", ">>")


def bitwise_not(a: Any) -> Expr:
    expr = as_expr(a)
    if dt.is_bool(expr.dtype):
        return Not(expr)
    if not dt.is_int(expr.dtype):
        raise error(f"`~` takes integers, this is {expr.dtype}")
    return call("bitwise_not", expr)


def _branches(cond: Any, a: Any, b: Any) -> tuple[Expr, Expr, Expr]:
    test = condition(cond)
    x, y = promote(a, b, comparison=True)
    lanes = dt.lanes(test.dtype)
    if lanes != 1 and dt.lanes(x.dtype) == 1:
        x, y = Broadcast(x, lanes), Broadcast(y, lanes)
    return test, x, y


def if_then_else(cond: Any, a: Any, b: Any) -> Expr:
    """``a`` where ``cond`` holds, else ``b``; only the one needed is evaluated."""
    test, x, y = _branches(cond, a, b)
    return Call(x.dtype, "if_then_else", (test, x, y))


def select(cond: Any, a: Any, b: Any) -> Expr:
    """``a`` where ``cond`` holds, else ``b``; both are evaluated."""
    return Select(*_branches(cond, a, b))


def index(value: Any) -> Expr:
    """``value`` as an index: an integer expression."""
    expr = as_expr(value)
    if not dt.is_int(expr.dtype):
        raise error(f"an index is an integer, this is {expr.dtype}", "index-dtype")
    return expr


def load(buffer: Buffer, indices: Sequence[Any]) -> BufferLoad:
    """``buffer[indices]``; a slice with constant ends is a ramp.  Raises for a wrong number of indices."""
    if len(indices) != buffer.ndim:
        raise error(
            f"{buffer.name} has {_counted(buffer.ndim, 'dimension')}, {len(indices)} given",
            "index-count",
        )
    return BufferLoad(buffer, tuple([ramp_of(i) if isinstance(i, slice) else index(i) for i in indices]))


def _counted(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def ramp_of(part: slice) -> Expr:
    """The ramp that a slice with a constant length means as an index."""
    start = index(0 if part.start is None else part.start)
    if part.stop is None:
        raise error("a slice as an index needs an end", "slice")
    step = 1 if part.step is None else part.step
    length = _constant_difference(part.stop, start)
    if length is None or not isinstance(step, int):
        raise error("the length of a slice as an index must be a constant", "slice")
    count = -(-length // step)
    if count <= 0:
        raise error(f"an empty slice: {count} elements", "slice")
    return start if count == 1 else Ramp(start, const(step, start.dtype), count)


def _constant_difference(stop: Any, start: Expr) -> int | None:
    end = index(stop)
    if isinstance(end, IntImm) and isinstance(start, IntImm):
        return end.value - start.value
    if isinstance(end, Add):
        for base, offset in ((end.a, end.b), (end.b, end.a)):
            if isinstance(offset, IntImm) and _same(base, start):
                return offset.value
            if isinstance(start, Add) and isinstance(offset, IntImm) and isinstance(start.b, IntImm):
                if _same(base, start.a):
                    return offset.value - start.b.value
    return None


def _same(a: Expr, b: Expr) -> bool:
    """Whether two indices are written alike."""
    if a is b:
        return True
    if type(a) is not type(b) or a.dtype != b.dtype:
        return False
    if isinstance(a, IntImm) and isinstance(b, IntImm):
        return a.value == b.value
    if isinstance(a, BufferLoad) and isinstance(b, BufferLoad):
        if a.buffer is not b.buffer:
            return False
    elif isinstance(a, Call) and isinstance(b, Call):
        if a.op != b.op or not a.args:
            return False
    elif not isinstance(a, (BinaryOp, Cast, CmpOp, Select)):
        return False
    x, y = a.children(), b.children()
    return len(x) == len(y) and all(_same(p, q) for p, q in zip(x, y, strict=True))  # type: ignore[arg-type]


def region(buffer: Buffer, indices: Sequence[Any]) -> BufferRegion:
    """The region that points and slices describe; missing trailing dimensions are whole."""
    if len(indices) > buffer.ndim:
        raise error(f"{buffer.name} has {buffer.ndim} dimensions, {len(indices)} given", "index-count")
    ranges = []
    for i, n in zip([*indices, *[slice(None)] * (buffer.ndim - len(indices))], buffer.shape, strict=True):
        if not isinstance(i, slice):
            at = index(i)
            ranges.append(Range(at, const(1, at.dtype)))
            continue
        if i.step not in (None, 1):
            raise error("a region has no step", "slice")
        start = const_int(0, n.dtype) if i.start is None else index(i.start)
        if i.stop is None:
            extent = n if isinstance(start, IntImm) and start.value == 0 else sub(n, start)
        else:
            length = _constant_difference(i.stop, start)
            if length is not None:
                extent = const(length, start.dtype)
            elif isinstance(start, IntImm) and start.value == 0:
                extent = index(i.stop)
            else:
                end = index(i.stop)
                extent = _offset_from(end, start)
        ranges.append(Range(start, extent))
    return BufferRegion(buffer, tuple(ranges))


def _offset_from(end: Expr, start: Expr) -> Expr:
    """``end - start``, as the term that was added to ``start`` where ``end`` is written so."""
    if isinstance(end, Add) and _same(end.a, start):
        return end.b
    return sub(end, start)


def _getitem(self: Buffer, indices: Any) -> BufferLoad | BufferRegion:
    items = indices if isinstance(indices, tuple) else (indices,)
    if any(isinstance(i, slice) for i in items) or len(items) < self.ndim:
        return region(self, items)
    return load(self, items)


def _swap(f: Callable[[Any, Any], Expr]) -> Callable[[Any, Any], Expr]:
    return lambda self, other: f(other, self)


for _name, _f in {
    "add": add, "sub": sub, "mul": mul, "truediv": div, "floordiv": floordiv, "mod": floormod, "pow": power,
    "lshift": shift_left, "rshift": shift_right, "and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor,
}.items():  # fmt: skip
    setattr(Expr, f"__{_name}__", _f)
    setattr(Expr, f"__r{_name}__", _swap(_f))
for _name, _g in {"neg": neg, "invert": bitwise_not, "astype": cast}.items():
    setattr(Expr, _name if _name == "astype" else f"__{_name}__", _g)
for _name, _f in {"lt": lt, "le": le, "gt": gt, "ge": ge}.items():
    setattr(Expr, f"__{_name}__", _f)
Buffer.__getitem__ = _getitem  # type: ignore[method-assign]
setattr(Buffer, "__iter__", None)  # noqa: B010  indexing would never end
