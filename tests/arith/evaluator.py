"""An evaluator of expressions that shares no code with the package's folding: the meaning, spelled out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tirscript.ir import expr as E

LANE = object()  # the key of the lane whose value is asked, in ``values``


def bits_of(dtype: str) -> tuple[bool, int]:
    dtype = dtype.partition("x")[0]
    if dtype == "bool":
        return False, 1
    return dtype.startswith("int"), int(dtype.lstrip("uint"))


def reduce(value: int, dtype: str) -> int:
    signed, bits = bits_of(dtype)
    value %= 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


def exact(e: Any) -> bool:
    if isinstance(e, E.Var):
        return e.exact
    if isinstance(e, E.IntImm):
        return True
    if isinstance(e, (E.BufferLoad, E.FloatImm)):
        return False
    if isinstance(e, E.Call) and e.op not in ("if_then_else", "likely"):
        return False
    return all(exact(c) for c in e.children())


class Undefined(Exception):
    """An exact division by 0."""


def integer(kind: type, a: int, b: int) -> int:
    if kind is E.Add:
        return a + b
    if kind is E.Sub:
        return a - b
    if kind is E.Mul:
        return a * b
    if kind is E.Min:
        return a if a < b else b
    if kind is E.Max:
        return a if a > b else b
    if b == 0:
        raise ZeroDivisionError
    q = Fraction(a, b)
    floor = q.numerator // q.denominator
    trunc = int(q)  # Fraction truncates toward 0
    return {E.FloorDiv: floor, E.FloorMod: a - b * floor, E.Div: trunc, E.Mod: a - b * trunc}[kind]


def evaluate(e: Any, values: dict[Any, Any]) -> Any:
    """The value: a Python int (exact, or data in the range of its dtype), a bool, or a NumPy float.

    Of a vector it is the value of one lane.
    """
    if isinstance(e, E.Broadcast):
        return evaluate(e.value, values)
    if isinstance(e, E.Ramp):
        value = evaluate(e.base, values) + values[LANE] * evaluate(e.stride, values)
        return value if exact(e) else reduce(value, e.dtype)
    if isinstance(e, E.Var):
        return values[e]
    if isinstance(e, E.IntImm):
        return bool(e.value) if e.dtype == "bool" else e.value
    if isinstance(e, E.FloatImm):
        return np.dtype(e.dtype).type(e.value)
    if isinstance(e, E.BufferLoad):
        return values[e.buffer][tuple(evaluate(i, values) for i in e.indices)]
    if isinstance(e, E.BinaryOp) and not e.dtype.startswith("bool"):
        a, b = evaluate(e.a, values), evaluate(e.b, values)
        if e.dtype.startswith("float"):
            with np.errstate(all="ignore"):
                if type(e) is E.Min:
                    return np.minimum(a, b)
                if type(e) is E.Max:
                    return np.maximum(a, b)
                return {E.Add: a + b, E.Sub: a - b, E.Mul: a * b, E.Div: np.true_divide(a, b)}[type(e)]
        if exact(e):
            try:
                return integer(type(e), a, b)
            except ZeroDivisionError:
                raise Undefined from None
        a, b = reduce(a, e.dtype), reduce(b, e.dtype)
        try:
            return reduce(integer(type(e), a, b), e.dtype)
        except ZeroDivisionError:
            return 0
    if isinstance(e, E.CmpOp):
        a, b = evaluate(e.a, values), evaluate(e.b, values)
        if not e.a.dtype.startswith("float") and not exact(e):
            a, b = reduce(a, e.a.dtype), reduce(b, e.a.dtype)
        return bool(
            {E.LT: a < b, E.LE: a <= b, E.GT: a > b, E.GE: a >= b, E.EQ: a == b, E.NE: a != b}[type(e)]
        )
    if isinstance(e, E.And):
        return evaluate(e.a, values) and evaluate(e.b, values)
    if isinstance(e, E.Or):
        return evaluate(e.a, values) or evaluate(e.b, values)
    if isinstance(e, E.Not):
        return not evaluate(e.a, values)
    if isinstance(e, E.Select) or (isinstance(e, E.Call) and e.op == "if_then_else"):
        test, yes, no = e.children()
        chosen = evaluate(yes if evaluate(test, values) else no, values)
        if isinstance(e, E.Select):
            evaluate(yes, values), evaluate(no, values)
        if e.dtype.startswith(("bool", "float")) or exact(e):
            return chosen
        return reduce(chosen, e.dtype)
    if isinstance(e, E.Cast):
        value = evaluate(e.value, values)
        if e.dtype.startswith("float"):
            return np.dtype(e.dtype).type(value)
        if isinstance(value, (np.floating, float)):
            if np.isnan(value):
                return 0
            signed, bits = bits_of(e.dtype)
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            if np.isinf(value):
                return high if value > 0 else low
            return min(max(int(value), low), high)
        if e.dtype.startswith("bool"):
            return bool(value)
        return reduce(int(value), e.dtype)
    if isinstance(e, E.Let):
        value = evaluate(e.value, values)
        if not exact(e.value) and e.var.dtype.startswith(("int", "uint")):
            value = reduce(value, e.var.dtype)
        return evaluate(e.body, {**values, e.var: value})
    if isinstance(e, E.Call):
        args = [evaluate(a, values) for a in e.args]
        if e.op == "likely":
            return args[0]
        signed, bits = bits_of(e.dtype)
        args = [reduce(a, e.dtype) for a in args]
        pattern = args[0] % 2**bits
        if e.op == "shift_left":
            return reduce(args[0] * 2 ** args[1], e.dtype) if 0 <= args[1] < bits else 0
        if e.op == "shift_right":
            if 0 <= args[1] < bits:
                return args[0] // 2 ** args[1]
            return -1 if args[0] < 0 else 0
        if e.op == "popcount":
            return bin(pattern).count("1")
        if e.op == "clz":
            return bits - len(bin(pattern)[2:].lstrip("0"))
        other = args[1] % 2**bits if len(args) > 1 else 0
        if e.op == "bitwise_not":
            return reduce(2**bits - 1 - pattern, e.dtype)
        table = {
            "bitwise_and": pattern & other,
            "bitwise_or": pattern | other,
            "bitwise_xor": pattern ^ other,
        }
        return reduce(table[e.op], e.dtype)
    raise NotImplementedError(type(e))
