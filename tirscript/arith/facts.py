"""What is known of variables: ranges, residues, linear facts; and questions that they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.diagnostics import deep_recursion
from tirscript.ir.dtype import info
from tirscript.ir.expr import EQ, GE, GT, LE, LT, NE, And, Call, Expr, FloorMod, Not, Range, Var, const_int

from . import bounds, modular, prove
from .bounds import Interval
from .linear import Atom, AtomKey, Linear
from .rules.logic import negation


class _Scope:
    """Puts back on exit what was known on entry."""

    __slots__ = ("cx", "kept")

    def __init__(self, cx: Facts) -> None:
        self.cx = cx

    def __enter__(self) -> None:
        cx = self.cx
        self.kept = (cx.ranges, cx.moduli, cx.facts, cx.values, cx.atom_ranges, cx.expr_ranges)
        cx.ranges, cx.moduli, cx.facts = dict(cx.ranges), dict(cx.moduli), list(cx.facts)
        cx.values, cx.atom_ranges = dict(cx.values), dict(cx.atom_ranges)
        cx.expr_ranges = dict(cx.expr_ranges)

    def __exit__(self, *exception: object) -> None:
        cx = self.cx
        cx.ranges, cx.moduli, cx.facts, cx.values, cx.atom_ranges, cx.expr_ranges = self.kept
        cx._about = None


class _Constraint(_Scope):
    __slots__ = ("condition",)

    def __init__(self, cx: Facts, condition: Expr) -> None:
        super().__init__(cx)
        self.condition = condition

    def __enter__(self) -> None:
        super().__enter__()
        self.cx.assume(self.condition)


class Facts:
    """The state of an analyzer; ``linear`` is the analyzer's own."""

    def __init__(self) -> None:
        self.ranges: dict[AtomKey, Interval] = {}
        self.moduli: dict[AtomKey, modular.Modular] = {}
        self.facts: list[Linear] = []  # forms that are at least 0
        self.values: dict[Var, Linear] = {}
        self.atom_ranges: dict[AtomKey, Interval] = {}  # caches
        self.expr_ranges: dict[Expr, tuple[Interval, bool]] = {}
        self._effects: dict[Expr, bool] = {}
        self._about: dict[AtomKey, list[Linear]] | None = None

    # ---- what is known

    def bind(self, var: Var, value: Range | Expr | int) -> None:
        """Say that ``var`` lies in a range (which then is not empty), or has a value."""
        if isinstance(value, int):
            value = const_int(value, var.dtype)
        if isinstance(value, Range):
            low, extent = self.linear(value.min), self.linear(value.extent)
            me = Linear({var: 1})
            if low is not None:
                self.know(me - low)
                if extent is not None:
                    self.know((low + extent - me).shift(-1))
            return
        lin = self.linear(value)
        if lin is not None:
            self.values[var] = lin
            self.set_range(var, bounds.range_of_linear(self, lin))
        elif info(value.dtype).is_int and info(value.dtype).lanes == 1:
            self.set_range(var, bounds.expr_range(self, value))

    def set_range(self, var: AtomKey, interval: Interval | None) -> None:
        """Replace the constant bounds of a variable; None forgets them."""
        if interval is None:
            self.ranges.pop(var, None)
        else:
            self.ranges[var] = interval
        if self.atom_ranges:
            self.atom_ranges = {}
        if self.expr_ranges:
            self.expr_ranges = {}

    def bind_modular(self, var: Var, coefficient: int, base: int) -> None:
        """Say that ``var`` is ``base`` modulo ``coefficient``."""
        self.moduli[var] = modular.normal(coefficient, base)

    def know(self, form: Linear) -> None:
        """Say that ``form >= 0``."""
        terms = form.terms
        if len(terms) == 1:
            ((atom, k),) = terms.items()
            low, high = self.atom_interval(atom)
            if k > 0:
                least = -(form.const // k)
                low = least if low is None else max(low, least)
            else:
                most = form.const // -k
                high = most if high is None else min(high, most)
            self.set_range(atom, (low, high))
        elif terms:
            self.facts.append(form)
            self._about = None

    def assume(self, condition: Expr) -> None:
        """Say that the condition holds.  Only exact conditions are used: data may change."""
        t: Any = type(condition)
        if t is And:
            self.assume(condition.a)  # type: ignore[attr-defined]
            self.assume(condition.b)  # type: ignore[attr-defined]
            return
        if t is Call and condition.op == "likely":  # type: ignore[attr-defined]
            self.assume(condition.args[0])  # type: ignore[attr-defined]
            return
        if t is Not:
            inner = negation(condition.a)  # type: ignore[attr-defined]
            if type(inner) is not Not:
                self.assume(inner)
            return
        if t not in _COMPARISONS:
            return
        a, b = self.linear(condition.a), self.linear(condition.b)  # type: ignore[attr-defined]
        if a is None or b is None:
            return
        if t is LT:
            self.know((b - a).shift(-1))
        elif t is LE:
            self.know(b - a)
        elif t is GT:
            self.know((a - b).shift(-1))
        elif t is GE:
            self.know(a - b)
        elif t is EQ:
            self.know(a - b)
            self.know(b - a)
            self._equal(a - b)
        else:
            self._unequal(a - b)

    def _equal(self, d: Linear) -> None:
        if len(d.terms) != 1:
            return
        ((atom, k),) = d.terms.items()
        # x % c == r, for a variable x
        if isinstance(atom, Atom) and atom[0] is FloorMod and d.const % k == 0:
            x, c = atom[1], atom[2]
            if isinstance(x, Var) and type(c) is int and c > 0:
                self.moduli[x] = modular.normal(c, -d.const // k)

    def _unequal(self, d: Linear) -> None:
        if len(d.terms) != 1:
            return
        ((atom, k),) = d.terms.items()
        if d.const % k:
            return
        value = -d.const // k
        low, high = self.atom_interval(atom)
        if low == value:
            self.set_range(atom, (value + 1, high))
        elif high == value:
            self.set_range(atom, (low, value - 1))

    def scope(self) -> _Scope:
        """``with cx.scope():`` forgets on exit what was said inside."""
        return _Scope(self)

    def constraint(self, condition: Expr) -> _Constraint:
        """``with cx.constraint(c):`` assumes ``c`` inside."""
        return _Constraint(self, condition)

    def facts_about(self, atom: AtomKey) -> Sequence[Linear]:
        """The facts in which the atom occurs."""
        about = self._about
        if about is None:
            about = self._about = {}
            for f in self.facts:
                for a in f.terms:
                    about.setdefault(a, []).append(f)
        return about.get(atom, ())

    # ---- questions

    def atom_interval(self, atom: AtomKey) -> Interval:
        return bounds.atom_range(self, atom)

    def nonnegative(self, lin: Linear) -> bool:
        """Whether ``lin >= 0`` is proved."""
        return prove.nonnegative(self, lin)

    def nonzero(self, lin: Linear) -> bool:
        return self.nonnegative(lin.shift(-1)) or self.nonnegative(lin.scale(-1).shift(-1))

    def const_bounds(self, e: Expr) -> Interval:
        """The least and the greatest value that ``e`` may have; None where there is no bound."""
        with deep_recursion():
            lin = self.linear(e)
            if lin is not None:
                return self.bounds_of(lin)
            return bounds.expr_range(self, e)

    def bounds_of(self, lin: Linear) -> Interval:
        return bounds.range_of_linear(self, lin)

    def modular(self, e: Expr) -> modular.Modular:
        """``(coefficient, base)``: the value is ``base`` modulo ``coefficient``; 0 for a constant.

        >>> from tirscript.arith import Analyzer
        >>> Analyzer().modular(Var("i") * 8 + 3)
        (8, 3)
        """
        lin = self.linear(e)
        return modular.ANY if lin is None else modular.modular_of_linear(self, lin)

    def linear(self, e: Expr) -> Linear | None:
        """The normal form of an exact integer."""
        raise NotImplementedError


_COMPARISONS = frozenset({EQ, NE, LT, LE, GT, GE})
