"""Modular facts: a value is ``base`` modulo ``coefficient``; the coefficient 0 stands for a constant."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias

from tirscript.ir.expr import FloorDiv, FloorMod, IntImm, Max, Min, Select, Var

from .linear import AtomKey, Linear, to_linear

if TYPE_CHECKING:
    from .facts import Facts

Modular: TypeAlias = tuple[int, int]
ANY: Modular = (1, 0)


def normal(coefficient: int, base: int) -> Modular:
    """The base in ``[0, coefficient)``."""
    coefficient = abs(coefficient)
    return coefficient, base % coefficient if coefficient else base


def join(a: Modular, b: Modular) -> Modular:
    """What holds of either."""
    return normal(gcd(a[0], b[0], a[1] - b[1]), a[1])


def product(a: Modular, b: Modular) -> Modular:
    # (m x + r)(n y + s) = mn xy + ms x + nr y + rs
    return normal(gcd(a[0] * b[0], a[0] * b[1], b[0] * a[1]), a[1] * b[1])


def modular_of_linear(cx: Facts, lin: Linear) -> Modular:
    coefficient, base = 0, lin.const
    for atom, k in lin.terms.items():
        m, r = modular_of_atom(cx, atom)
        coefficient = gcd(coefficient, k * m)
        base += k * r
    return normal(coefficient, base)


def modular_of_atom(cx: Facts, atom: AtomKey) -> Modular:
    known = cx.moduli.get(atom)
    if known is not None:
        return known
    if isinstance(atom, Var):
        return ANY
    kind = atom[0]
    e: Any = atom.expr
    if kind == "*":
        out: Modular = (0, 1)
        for factor, power in atom[1]:
            for _ in range(power):
                out = product(out, modular_of_atom(cx, factor))
        return out
    if kind is FloorDiv and type(e.b) is IntImm and e.b.value > 0:
        m, r = modular_of_expr(cx, e.a)
        # (c m' x + r) // c = m' x + r // c
        return normal(m // e.b.value, r // e.b.value) if m % e.b.value == 0 else ANY
    if kind is FloorMod and type(e.b) is IntImm and e.b.value > 0:
        m, r = modular_of_expr(cx, e.a)
        c = e.b.value
        return (0, r % c) if m % c == 0 else normal(gcd(m, c), r)
    if kind is Min or kind is Max:
        return join(modular_of_expr(cx, e.a), modular_of_expr(cx, e.b))
    if kind is Select:
        return join(modular_of_expr(cx, e.true_value), modular_of_expr(cx, e.false_value))
    if kind == "if_then_else":
        return join(modular_of_expr(cx, e.args[1]), modular_of_expr(cx, e.args[2]))
    return ANY


def modular_of_expr(cx: Facts, e: Any) -> Modular:
    lin = to_linear(e)
    return ANY if lin is None else modular_of_linear(cx, lin)
