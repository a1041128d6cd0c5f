"""Arithmetic of floats: NumPy's minimum, maximum, // and %, contraction of a*b+c."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import narrow
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


def floordiv(b: FunctionEmitter, x: Value, y: Value) -> Value:
    return _helper(b, "floordiv", x, y)


def floormod(b: FunctionEmitter, x: Value, y: Value) -> Value:
    return _helper(b, "floormod", x, y)


def _helper(b: FunctionEmitter, word: str, x: Value, y: Value) -> Value:
    ty = llvm_type(x.base)
    name = f"@ts.helper.{word}.{x.base}"
    b.module.helper(name, lambda: (_FLOORDIV if word == "floordiv" else _FLOORMOD)(name, ty))

    def one(p: Value, q: Value) -> Value:
        return Value(b.ins(f"call {ty} {name}({p.typed}, {q.typed})"), p.base)

    made = lanewise(b, one, x, y)
    return narrow.rounded(b, made, x.base) if x.base in NARROW else made


def _suffix(ty: str) -> str:
    return "f32" if ty == "float" else "f64"


def _DIVMOD(ty: str) -> str:
    """The remainder with y's sign (%mod) and the quotient before rounding (%div), as NumPy has them."""
    s = _suffix(ty)
    return f"""\
  %rem = frem {ty} %x, %y
  %diff = fsub {ty} %x, %rem
  %quot = fdiv {ty} %diff, %y
  %yneg = fcmp olt {ty} %y, 0.0
  %rneg = fcmp olt {ty} %rem, 0.0
  %mixed = xor i1 %yneg, %rneg
  %some = fcmp une {ty} %rem, 0.0
  %step = and i1 %mixed, %some
  %moved = fadd {ty} %rem, %y
  %signed = call {ty} @llvm.copysign.{s}({ty} 0.0, {ty} %y)
  %kept = select i1 %some, {ty} %rem, {ty} %signed
  %mod = select i1 %step, {ty} %moved, {ty} %kept
  %less = fsub {ty} %quot, 1.0
  %div = select i1 %step, {ty} %less, {ty} %quot
  %yzero = fcmp oeq {ty} %y, 0.0
"""


def _FLOORDIV(name: str, ty: str) -> str:
    s = _suffix(ty)
    return f"""\
define internal {ty} {name}({ty} %x, {ty} %y) alwaysinline nounwind {{
{_DIVMOD(ty)}\
  %plain = fdiv {ty} %x, %y
  %down = call {ty} @llvm.floor.{s}({ty} %div)
  %gap = fsub {ty} %div, %down
  %wide = fcmp ogt {ty} %gap, 0.5
  %up = fadd {ty} %down, 1.0
  %near = select i1 %wide, {ty} %up, {ty} %down
  %none = fcmp oeq {ty} %div, 0.0
  %zero = call {ty} @llvm.copysign.{s}({ty} 0.0, {ty} %plain)
  %q = select i1 %none, {ty} %zero, {ty} %near
  %r = select i1 %yzero, {ty} %plain, {ty} %q
  ret {ty} %r
}}
"""


def _FLOORMOD(name: str, ty: str) -> str:
    return f"""\
define internal {ty} {name}({ty} %x, {ty} %y) alwaysinline nounwind {{
{_DIVMOD(ty)}\
  %r = select i1 %yzero, {ty} %rem, {ty} %mod
  ret {ty} %r
}}
"""


_WORDS = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def compare(b: FunctionEmitter, word: str, x: Value, y: Value) -> Value:
    """A comparison: false where an operand is nan, ``ne`` true."""
    x, y = b.same_lanes(x, y)
    return b.compare(f"fcmp {_WORDS[word]}", x, y)


def zero(base: str, lanes: int = 1) -> Value:
    return constant(0.0, base, lanes)
