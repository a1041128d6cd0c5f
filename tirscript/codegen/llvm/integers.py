"""Arithmetic of integers: exact ones in 64 bits, data wrapping at its own dtype, nothing that traps.

Operands have one base and one number of lanes, and are both exact or both data (``unify``).
"""

from __future__ import annotations

from collections.abc import Callable

from tirscript.ir import dtype as dt

from .builder import Builder, vector_type_suffix
from .values import BITS, INT64_MAX, INT64_MIN, SIGNED, UINT64_MAX, Value, constant, exact_constant, llvm_type

Bounds = tuple[int | None, int | None]


def to_data(b: Builder, v: Value, base: str) -> Value:
    """An integer or bool as data of an integer dtype, reduced modulo 2^bits."""
    if v.base == base and not v.exact:
        return v
    number = v.constant
    if number is not None:
        return constant(number, base, v.lanes)
    if v.base == "bool" and BITS[base] == 1:
        return Value(v.ref, base, v.lanes)
    if v.base == "bool":
        return Value(b.ins(f"zext {v.typed} to {llvm_type(base, v.lanes)}"), base, v.lanes, False, 0, 1)
    have, want = BITS[v.base], BITS[base]
    low, high = dt.bounds(base)
    fits = v.lo is not None and v.hi is not None and low <= v.lo and v.hi <= high
    lo, hi = (v.lo, v.hi) if fits else (None, None)
    if have == want:
        return Value(v.ref, base, v.lanes, False, lo, hi)
    if have > want:
        opcode = "trunc"
    else:
        opcode = "sext" if v.base in SIGNED else "zext"
    return Value(b.ins(f"{opcode} {v.typed} to {llvm_type(base, v.lanes)}"), base, v.lanes, False, lo, hi)


def to_exact(b: Builder, v: Value) -> Value:
    """An integer or bool in 64 bits, where it counts as exact."""
    if v.exact:
        return v
    number = v.constant
    if number is not None:
        return exact_constant(number, v.lanes)
    wide = to_data(b, v, "int64")
    low, high = dt.bounds(v.base)
    lo = low if v.lo is None else v.lo
    hi = high if v.hi is None else v.hi
    if v.base == "uint64":
        lo, hi = INT64_MIN, INT64_MAX
    return Value(wide.ref, "int64", v.lanes, True, lo, hi)


def reduce_exact(b: Builder, v: Value, base: str) -> Value:
    """An exact value reduced to what a dtype holds; still exact."""
    low, high = dt.bounds(base)
    if v.lo is not None and v.hi is not None and low <= v.lo and v.hi <= high:
        return v
    if base == "int64":
        return v if v.hi is None or v.hi <= INT64_MAX else Value(v.ref, v.base, v.lanes, True)
    if base == "uint64":
        return Value(v.ref, v.base, v.lanes, True, low, high)
    return to_exact(b, to_data(b, v, base))


def unify(b: Builder, x: Value, y: Value, base: str) -> tuple[Value, Value]:
    """Both operands exact, or both data of ``base``; with one number of lanes."""
    if not (x.exact and y.exact):
        x, y = to_data(b, x, base), to_data(b, y, base)
    return b.same_lanes(x, y)


# ---- bounds of exact values


def _clip(lo: int | None, hi: int | None) -> Bounds:
    """Bounds outside 64 bits say nothing: the computation may have wrapped.

    A value that is not negative may use all 64 bits, as parameters of dtype uint64 do.
    """
    if lo is None or hi is None or lo < INT64_MIN or hi > (UINT64_MAX if lo >= 0 else INT64_MAX):
        return None, None
    return lo, hi


def is_large(v: Value) -> bool:
    """Whether an exact value may use the sign's bit: it is then not negative."""
    return v.exact and v.hi is not None and v.hi > INT64_MAX


def _add_bounds(x: Value, y: Value) -> Bounds:
    if x.lo is None or x.hi is None or y.lo is None or y.hi is None:
        return None, None
    return _clip(x.lo + y.lo, x.hi + y.hi)


def _sub_bounds(x: Value, y: Value) -> Bounds:
    if x.lo is None or x.hi is None or y.lo is None or y.hi is None:
        return None, None
    return _clip(x.lo - y.hi, x.hi - y.lo)


def _mul_bounds(x: Value, y: Value) -> Bounds:
    if x.lo is None or x.hi is None or y.lo is None or y.hi is None:
        return None, None
    corners = (x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi)
    return _clip(min(corners), max(corners))


def _result(x: Value, ref: str, bounds: Bounds = (None, None)) -> Value:
    lo, hi = bounds if x.exact else (None, None)
    return Value(ref, x.base, x.lanes, x.exact, lo, hi)


def _both(x: Value, y: Value) -> tuple[int, int] | None:
    a, c = x.constant, y.constant
    return None if a is None or c is None else (a, c)


def _folded(b: Builder, x: Value, number: int) -> Value:
    return b.const_like(number, x)


# ---- ring operations

Fold = Callable[[int, int], int]


def _ring(
    opcode: str, bounds: Callable[[Value, Value], Bounds], fold: Fold, unit: int
) -> Callable[..., Value]:
    def emit(b: Builder, x: Value, y: Value) -> Value:
        known = _both(x, y)
        if known is not None:
            return _folded(b, x, fold(*known))
        if y.constant == unit:
            return x
        limits = bounds(x, y) if x.exact else (None, None)
        # Bounds that hold in 64 bits prove that nothing wraps.
        flags = " nsw" if limits[1] is not None and limits[1] <= INT64_MAX else ""
        if is_large(x) or is_large(y):
            flags = ""
        return _result(x, b.ins(f"{opcode}{flags} {x.ty} {x.ref}, {y.ref}"), limits)

    return emit


add = _ring("add", _add_bounds, lambda x, y: x + y, 0)
sub = _ring("sub", _sub_bounds, lambda x, y: x - y, 0)
mul = _ring("mul", _mul_bounds, lambda x, y: x * y, 1)


# ---- division


def _signed(v: Value) -> bool:
    return v.base in SIGNED


def _fold_div(x: int, y: int) -> int:
    return x // y if y else 0


def _fold_mod(x: int, y: int) -> int:
    return x % y if y else 0


def _fold_truncdiv(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _fold_truncmod(x: int, y: int) -> int:
    return 0 if y == 0 else x - _fold_truncdiv(x, y) * y


def _safe_divisor(b: Builder, x: Value, y: Value) -> tuple[Value, list[tuple[str, Value]]]:
    """A divisor that cannot trap, and what the quotient is where it stands for another one."""
    fixes: list[tuple[str, Value]] = []
    number = y.constant
    if number is not None:
        return y, fixes
    one = b.const_like(1, y)
    nonzero = y.exact and y.lo is not None and y.hi is not None and (y.lo > 0 or y.hi < 0)
    safe = y
    if not nonzero:
        zero = b.compare("icmp eq", y, b.const_like(0, y))
        safe = Value(b.select(zero, one, safe).ref, y.base, y.lanes, y.exact)
        fixes.append((zero.ref, b.const_like(0, y)))
    if _signed(y) and not (y.exact and y.lo is not None and y.lo >= 0):
        minus = b.compare("icmp eq", y, b.const_like(-1, y))
        safe = Value(b.select(minus, one, safe).ref, y.base, y.lanes, y.exact)
        fixes.append((minus.ref, Value(b.op("sub", b.const_like(0, x), x.ref), x.base, x.lanes, x.exact)))
    return safe, fixes


def _fix(b: Builder, ref: str, like: Value, fixes: list[tuple[str, Value]]) -> str:
    mask = llvm_type("bool", like.lanes)
    for condition, value in fixes:
        ref = b.ins(f"select {mask} {condition}, {value.typed}, {like.ty} {ref}")
    return ref


def _nonnegative(v: Value) -> bool:
    return not _signed(v) or (v.lo is not None and v.lo >= 0)


def _quotient_bounds(x: Value, d: int) -> Bounds:
    if not x.exact or x.lo is None or x.hi is None:
        return None, None
    ends = (x.lo // d, x.hi // d)
    return min(ends), max(ends)


def floordiv(b: Builder, x: Value, y: Value) -> Value:
    """``x // y`` rounded down; 0 where y is 0; the least value by -1 wraps."""
    known = _both(x, y)
    if known is not None:
        return _folded(b, x, _fold_div(*known))
    d = y.constant
    if d is not None:
        return _floordiv_constant(b, x, d)
    if _nonnegative(x) and _nonnegative(y):
        safe, fixes = _safe_divisor(b, x, y)
        opcode = "udiv" if not _signed(x) or x.exact else "sdiv"
        bounds: Bounds = (0, x.hi) if x.exact else (None, None)
        return _result(x, _fix(b, b.op(opcode, x, safe.ref), x, fixes), bounds)
    safe, fixes = _safe_divisor(b, x, y)
    q = b.op("sdiv", x, safe.ref)
    r = b.op("sub", x, b.ins(f"mul {x.ty} {q}, {safe.ref}"))
    down = _needs_step(b, x, r, safe.ref)
    q = b.ins(f"add {x.ty} {q}, {b.ins(f'sext {down.typed} to {x.ty}')}")
    return _result(x, _fix(b, q, x, fixes))


def _needs_step(b: Builder, like: Value, r: str, divisor: str) -> Value:
    """Where the truncating remainder ``r`` is not zero and has not the divisor's sign."""
    zero = b.const_like(0, like).ref
    mask = llvm_type("bool", like.lanes)
    nonzero = b.ins(f"icmp ne {like.ty} {r}, {zero}")
    mixed = b.ins(f"icmp slt {like.ty} {b.ins(f'xor {like.ty} {r}, {divisor}')}, {zero}")
    return Value(b.ins(f"and {mask} {nonzero}, {mixed}"), "bool", like.lanes)


def _floordiv_constant(b: Builder, x: Value, d: int) -> Value:
    bounds = _quotient_bounds(x, d) if d else (0, 0)
    if d == 0:
        return b.const_like(0, x)
    if d == 1:
        return x
    if d == -1 and _signed(x):
        return _result(
            x, b.op("sub", b.const_like(0, x), x.ref), bounds if bounds[0] is not None else (None, None)
        )
    if not _signed(x) or (_nonnegative(x) and d > 0):
        return _result(x, b.op("udiv", x, b.const_like(d, x).ref), bounds)
    if d & (d - 1) == 0 and d > 0:
        return _result(x, b.op("ashr", x, b.const_like(d.bit_length() - 1, x).ref), bounds)
    divisor = b.const_like(d, x).ref
    q = b.op("sdiv", x, divisor)
    r = b.op("sub", x, b.ins(f"mul {x.ty} {q}, {divisor}"))
    test = "slt" if d > 0 else "sgt"
    down = b.ins(f"icmp {test} {x.ty} {r}, {b.const_like(0, x).ref}")
    step = b.ins(f"sext {llvm_type('bool', x.lanes)} {down} to {x.ty}")
    return _result(x, b.ins(f"add {x.ty} {q}, {step}"), bounds)


def floormod(b: Builder, x: Value, y: Value) -> Value:
    """``x % y`` with y's sign; 0 where y is 0."""
    known = _both(x, y)
    if known is not None:
        return _folded(b, x, _fold_mod(*known))
    d = y.constant
    if d is not None:
        return _floormod_constant(b, x, d)
    safe, fixes = _safe_divisor(b, x, y)
    # The remainder by -1 is 0, as it is by the 1 that stands for it.
    fixes = [(condition, b.const_like(0, x)) for condition, _ in fixes[:1] if fixes[0][1].constant == 0]
    if _nonnegative(x) and _nonnegative(y):
        opcode = "urem" if not _signed(x) or x.exact else "srem"
        top = None if y.hi is None or not y.exact else max(y.hi - 1, 0)
        return _result(
            x, _fix(b, b.op(opcode, x, safe.ref), x, fixes), (0, top) if top is not None else (None, None)
        )
    r = b.op("srem", x, safe.ref)
    step = _needs_step(b, x, r, safe.ref)
    moved = b.ins(f"add {x.ty} {r}, {safe.ref}")
    r = b.ins(f"select {step.typed}, {x.ty} {moved}, {x.ty} {r}")
    return _result(x, _fix(b, r, x, fixes))


def _floormod_constant(b: Builder, x: Value, d: int) -> Value:
    if d in (0, 1) or (d == -1 and _signed(x)):
        return b.const_like(0, x)
    bounds = (0, d - 1) if d > 0 else (d + 1, 0)
    if d > 0 and x.exact and x.lo is not None and x.hi is not None and x.lo >= 0 and x.hi < d:
        return x
    if not _signed(x) or (_nonnegative(x) and d > 0):
        return _result(x, b.op("urem", x, b.const_like(d, x).ref), bounds)
    if d & (d - 1) == 0 and d > 0:
        return _result(x, b.op("and", x, b.const_like(d - 1, x).ref), bounds)
    divisor = b.const_like(d, x).ref
    r = b.op("srem", x, divisor)
    test = "slt" if d > 0 else "sgt"
    off = b.ins(f"icmp {test} {x.ty} {r}, {b.const_like(0, x).ref}")
    moved = b.ins(f"add {x.ty} {r}, {divisor}")
    return _result(x, b.ins(f"select {llvm_type('bool', x.lanes)} {off}, {x.ty} {moved}, {x.ty} {r}"), bounds)


def truncdiv(b: Builder, x: Value, y: Value) -> Value:
    """The quotient that truncates toward zero; 0 where y is 0."""
    known = _both(x, y)
    if known is not None:
        return _folded(b, x, _fold_truncdiv(*known))
    if y.constant == 0:
        return b.const_like(0, x)
    if y.constant == -1 and _signed(x):
        return _result(x, b.op("sub", b.const_like(0, x), x.ref))
    safe, fixes = _safe_divisor(b, x, y)
    opcode = "sdiv" if _signed(x) and not _unsigned(x, y) else "udiv"
    return _result(x, _fix(b, b.op(opcode, x, safe.ref), x, fixes))


def truncmod(b: Builder, x: Value, y: Value) -> Value:
    """The remainder with x's sign; 0 where y is 0."""
    known = _both(x, y)
    if known is not None:
        return _folded(b, x, _fold_truncmod(*known))
    if y.constant == 0 or (y.constant == -1 and _signed(x)):
        return b.const_like(0, x)
    safe, fixes = _safe_divisor(b, x, y)
    fixes = [(condition, b.const_like(0, x)) for condition, _ in fixes]
    opcode = "srem" if _signed(x) and not _unsigned(x, y) else "urem"
    return _result(x, _fix(b, b.op(opcode, x, safe.ref), x, fixes))


def _unsigned(x: Value, y: Value) -> bool:
    """Whether two exact values must be taken as unsigned, and can be."""
    return (is_large(x) or is_large(y)) and _nonnegative(x) and _nonnegative(y)


# ---- order


def _choose(test: str, fold: Fold) -> Callable[..., Value]:
    def emit(b: Builder, x: Value, y: Value) -> Value:
        known = _both(x, y)
        if known is not None:
            return _folded(b, x, fold(*known))
        name = f"llvm.{'s' if _signed(x) and not _unsigned(x, y) else 'u'}{test}"
        ref = intrinsic(b, name, x, x, y)
        if not x.exact or x.lo is None or x.hi is None or y.lo is None or y.hi is None:
            return _result(x, ref)
        return _result(x, ref, (fold(x.lo, y.lo), fold(x.hi, y.hi)))

    return emit


minimum = _choose("min", min)
maximum = _choose("max", max)


def intrinsic(b: Builder, name: str, like: Value, *args: Value, tail: str = "", flags: str = "") -> str:
    """A call of an LLVM intrinsic that is overloaded on the type of ``like``."""
    full = f"@{name}.{vector_type_suffix(like.base, like.lanes)}"
    operands = ", ".join(v.typed for v in args) + tail
    return b.ins(f"call {flags}{like.ty} {full}({operands})")


def in_int32(v: Value) -> bool:
    return v.lo is not None and v.hi is not None and v.lo >= -(1 << 31) and v.hi < 1 << 31


def compare(b: Builder, word: str, x: Value, y: Value) -> Value:
    """``eq ne lt le gt ge``."""
    known = _both(x, y)
    if known is not None:
        a, c = known
        holds = {"eq": a == c, "ne": a != c, "lt": a < c, "le": a <= c, "gt": a > c, "ge": a >= c}[word]
        return constant(holds, "bool", x.lanes)
    if x.lanes > 1 and x.exact and all(in_int32(v) for v in (x, y)):
        # Vectors of 32 bits hold twice as many lanes.
        x, y = to_data(b, x, "int32"), to_data(b, y, "int32")
    if word not in ("eq", "ne"):
        if _signed(x) and (is_large(x) or is_large(y)) and not _unsigned(x, y):
            return _compare_large(b, word, x, y)
        word = ("s" if _signed(x) and not _unsigned(x, y) else "u") + word
    return b.compare(f"icmp {word}", x, y)


def _compare_large(b: Builder, word: str, x: Value, y: Value) -> Value:
    """A value of 64 bits without a sign and one that may be negative, which is then the smaller one."""
    signed, smaller = (y, word in ("gt", "ge")) if is_large(x) else (x, word in ("lt", "le"))
    negative = b.compare("icmp slt", signed, b.const_like(0, signed))
    return b.select(negative, constant(smaller, "bool", x.lanes), b.compare(f"icmp u{word}", x, y))


# ---- bits


def bitwise(b: Builder, opcode: str, x: Value, y: Value) -> Value:
    return _result(x, b.op(opcode, x, y.ref))


def shift(b: Builder, x: Value, y: Value, left: bool) -> Value:
    """A shift; a count that is negative or not below the width gives 0, or the sign where x is signed
    and shifted right."""
    bits = BITS[x.base]
    opcode = "shl" if left else ("ashr" if _signed(x) else "lshr")
    number = y.constant
    if number is not None:
        if 0 <= number < bits:
            return x if number == 0 else _result(x, b.op(opcode, x, y.ref))
        if opcode != "ashr":
            return b.const_like(0, x)
        return _result(x, b.op("ashr", x, b.const_like(bits - 1, x).ref))
    if opcode == "ashr":
        count = intrinsic(b, "llvm.umin", y, y, b.const_like(bits - 1, y))
        return _result(x, b.op("ashr", x, count))
    inside = b.ins(f"icmp ult {y.ty} {y.ref}, {b.const_like(bits, y).ref}")
    shifted = b.op(opcode, x, y.ref)
    mask = llvm_type("bool", x.lanes)
    return _result(x, b.ins(f"select {mask} {inside}, {x.ty} {shifted}, {b.const_like(0, x).typed}"))
