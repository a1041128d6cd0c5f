"""Arithmetic of floats: NumPy's minimum, maximum, // and %, contraction of a*b+c."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from . import narrow, polynomials
from .builder import Builder, vector_type_suffix
from .values import NARROW, Value, constant, llvm_type

if TYPE_CHECKING:
    from .function import FunctionEmitter


def arithmetic(b: FunctionEmitter, opcode: str, x: Value, y: Value) -> Value:
    """``fadd fsub fmul fdiv``."""
    x, y = b.same_lanes(x, y)
    made = Value(b.ins(f"{opcode} {b.fast}{x.ty} {x.ref}, {y.ref}"), x.base, x.lanes)
    return narrow.rounded(b, made, x.base) if x.base in NARROW else made


def negate(b: Builder, x: Value) -> Value:
    return Value(b.ins(f"fneg {x.typed}"), x.base, x.lanes)


def multiply_add(b: FunctionEmitter, x: Value, y: Value, z: Value) -> Value:
    """``x * y + z``, rounded once where the machine can."""
    lanes = max(x.lanes, y.lanes, z.lanes)
    args = ", ".join(b.broadcast(v, lanes).typed for v in (x, y, z))
    ty = llvm_type(x.base, lanes)
    name = f"@llvm.fmuladd.{vector_type_suffix(x.base, lanes)}"
    return Value(b.ins(f"call {b.fast}{ty} {name}({args})"), x.base, lanes)


def _is_number(v: Value) -> bool:
    """A constant that is not nan (all constants are written as the bits of a double)."""
    text = v.ref
    if text.startswith("splat ("):
        text = text[7:-1].partition(" ")[2]
    if not text.startswith("0x"):
        return False
    bits = int(text, 16)
    return not ((bits >> 52) & 0x7FF == 0x7FF and bits & ((1 << 52) - 1))


def choose(b: FunctionEmitter, word: str, x: Value, y: Value) -> Value:
    """``minimum`` or ``maximum``: a nan on either side wins, the sign of a zero is unspecified."""
    x, y = b.same_lanes(x, y)
    test = "fcmp ogt" if word == "maximum" else "fcmp olt"
    if b.fast:
        chosen = b.ins(f"{test} {x.ty} {x.ref}, {y.ref}")
        mask = llvm_type("bool", x.lanes)
        return Value(b.ins(f"select {b.fast}{mask} {chosen}, {x.typed}, {y.typed}"), x.base, x.lanes)
    for number, other in ((y, x), (x, y)):
        if _is_number(number):
            # One instruction: a nan in `other` fails the comparison and is kept.
            return b.select(b.compare(test, number, other), number, other)
    name = f"@llvm.{word}.{vector_type_suffix(x.base, x.lanes)}"
    return Value(b.ins(f"call nsz {x.ty} {name}({x.typed}, {y.typed})"), x.base, x.lanes)


def lanewise(b: Builder, f: Callable[..., Value], *args: Value) -> Value:
    """``f`` of scalars on each lane."""
    lanes = max(v.lanes for v in args)
    if lanes == 1:
        return f(*args)
    return b.from_lanes([f(*[b.lane(v, i) for v in args]) for i in range(lanes)])


def formula(b: FunctionEmitter, op: str, args: list[Value]) -> Value:
    """A function by a formula of ours, on scalars as on vectors."""
    lanes = max(v.lanes for v in args)
    base = args[0].base
    # In serial loops LLVM takes the variant for vectors where it makes some.
    apart = lanes == 1 and op in polynomials.BRANCHING and bool(b.loop_vars)
    made = _needed(b, polynomials.function(op, base, lanes, apart))
    hint = ""
    if apart:
        wide = b.module.options.lanes // (2 if base == "float64" else 1)
        variant = _needed(b, polynomials.function(op, base, wide, True)).name
        hint = vector_variant(b, made.name, variant, wide, len(args))
    shown = ", ".join(b.broadcast(v, lanes).typed for v in args)
    return Value(b.ins(f"call {llvm_type(base, lanes)} {made.name}({shown}){hint}"), base, lanes)


def _needed(b: FunctionEmitter, made: polynomials.Made) -> polynomials.Made:
    """The function and what it calls, put into the module."""
    b.module.helper(made.name, lambda: made.text)
    for name, text in made.outside.items():
        if name[0] == "@":
            b.module.helper(name, partial(str, text))
        else:
            b.module.declare(name, text)
    return made


def vector_variant(b: FunctionEmitter, scalar: str, vector: str, lanes: int, arity: int) -> str:
    """The attribute of a call of ``scalar`` that lets LLVM call ``vector`` for so many of them."""
    b.module.keep(vector)
    if scalar.startswith("@ts."):
        b.module.keep(scalar)  # with the parameters that it has
    word = f"_ZGV_LLVM_N{lanes}{'v' * arity}_{scalar[1:]}({vector[1:]})"
    return f' "vector-function-abi-variant"="{word}"'


def floordiv(b: FunctionEmitter, x: Value, y: Value) -> Value:
    return _whole(b, "floordiv", x, y)


def floormod(b: FunctionEmitter, x: Value, y: Value) -> Value:
    return _whole(b, "floormod", x, y)


def _whole(b: FunctionEmitter, word: str, x: Value, y: Value) -> Value:
    if x.base in NARROW:
        return narrow.rounded(b, formula(b, word, [narrow.wide(x), narrow.wide(y)]), x.base)
    return formula(b, word, [x, y])


_WORDS = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def compare(b: FunctionEmitter, word: str, x: Value, y: Value) -> Value:
    """A comparison: false where an operand is nan, ``ne`` true."""
    x, y = b.same_lanes(x, y)
    return b.compare(f"fcmp {_WORDS[word]}", x, y)


def zero(base: str, lanes: int = 1) -> Value:
    return constant(0.0, base, lanes)
