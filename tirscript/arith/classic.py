"""The analyzer's questions under the names that programs written for TVM use."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar, NamedTuple

from tirscript.ir.expr import Expr, Var

from .facts import Facts


class _Ends(NamedTuple):
    min_value: int
    max_value: int


class ConstIntBound(_Ends):
    """The least and the greatest value; ``POS_INF`` and ``NEG_INF`` where there is none."""

    __slots__ = ()
    POS_INF: ClassVar[int] = (1 << 63) - 1
    NEG_INF: ClassVar[int] = -((1 << 63) - 1)


class ModularSet(NamedTuple):
    """The value is ``base`` modulo ``coeff``; a ``coeff`` of 0 says that it is ``base``."""

    coeff: int
    base: int


class ClassicNames(Facts):
    """``const_int_bound``, ``modular_set``, ``rewrite_simplify`` and the like."""

    def simplify(self, e: Expr, steps: int = 2) -> Expr:
        """The analyzer's own."""
        raise NotImplementedError

    def const_int_bound(self, expr: Expr) -> ConstIntBound:
        """The constant bounds of an integer.

        >>> from tirscript.arith import Analyzer
        >>> from tirscript.ir.expr import Range, const_int
        >>> cx, i = Analyzer(), Var("i")
        >>> cx.bind(i, Range(const_int(0), const_int(8)))
        >>> cx.const_int_bound(i * 4 + 1)
        ConstIntBound(min_value=1, max_value=29)

        Source: TVM's ``Analyzer.const_int_bound``.
        """
        low, high = self.const_bounds(expr)
        return ConstIntBound(
            ConstIntBound.NEG_INF if low is None else low, ConstIntBound.POS_INF if high is None else high
        )

    def modular_set(self, expr: Expr) -> ModularSet:
        """What is known of an integer modulo a constant.

        >>> from tirscript.arith import Analyzer
        >>> Analyzer().modular_set(Var("i") * 8 + 3)
        ModularSet(coeff=8, base=3)

        Source: TVM's ``Analyzer.modular_set``.
        """
        return ModularSet(*self.modular(expr))

    def rewrite_simplify(self, expr: Expr) -> Expr:
        """``simplify``: there is one normal form here.

        Source: TVM's ``Analyzer.rewrite_simplify``.
        """
        return self.simplify(expr)

    def canonical_simplify(self, expr: Expr) -> Expr:
        """``simplify``: there is one normal form here.

        Source: TVM's ``Analyzer.canonical_simplify``.
        """
        return self.simplify(expr)

    def int_set(self, expr: Expr, dom_map: Mapping[Var, Any] | None = None) -> Any:
        """The values of an integer where variables lie in the intervals of ``dom_map``.

        >>> from tirscript.arith import Analyzer, IntervalSet
        >>> i = Var("i")
        >>> Analyzer().int_set(i * 2 + 1, {i: IntervalSet(0, 7)})
        IntervalSet[1, 15]

        Source: TVM's ``Analyzer.int_set``.
        """
        from .int_set import interval

        return interval(expr, dom_map or {}, self)  # type: ignore[arg-type]

    def update(self, var: Var, info: ConstIntBound | ModularSet, override: bool = False) -> None:
        """Say that a variable lies within the bounds, or is of that residue.  What is known already must not
        contradict it, unless ``override`` is set.

        >>> from tirscript.arith import Analyzer
        >>> cx, n = Analyzer(), Var("n")
        >>> cx.update(n, ConstIntBound(1, 64)); cx.update(n, ModularSet(4, 0))
        >>> cx.simplify(n % 2).value, cx.const_int_bound(n + 1)
        (0, ConstIntBound(min_value=2, max_value=65))

        Source: TVM's ``Analyzer.update``.
        """
        if isinstance(info, ModularSet):
            self.bind_modular(var, info.coeff, info.base)
            return
        known = self.ranges.get(var)
        low: int | None = None if info.min_value <= ConstIntBound.NEG_INF else info.min_value
        high: int | None = None if info.max_value >= ConstIntBound.POS_INF else info.max_value
        if known is not None and not override and known != (low, high):
            raise ValueError(
                f"the bounds of {var.name} are known to be {known[0]} and {known[1]}: pass override=True "
                f"to replace them by {low} and {high}"
            )
        self.set_range(var, (low, high))

    def constraint_scope(self, constraint: Expr) -> AbstractContextManager[None, None]:
        """``with cx.constraint_scope(c):`` assumes ``c`` inside.

        Source: TVM's ``Analyzer.constraint_scope``.
        """
        return self.constraint(constraint)

    def set_maximum_rewrite_steps(self, maximum: int) -> None:
        """Accepted for TVM's sake: simplification has an end of its own.

        Source: TVM's ``Analyzer.set_maximum_rewrite_steps``.
        """

    def can_prove_greater_equal(self, expr: Expr, lower_bound: int) -> bool:
        """Whether the integer is never less than the constant.

        Source: TVM's ``Analyzer.can_prove_greater_equal``.
        """
        lin = self.linear(expr)
        if lin is not None:
            return self.nonnegative(lin.shift(-lower_bound))
        low, _ = self.const_bounds(expr)
        return low is not None and low >= lower_bound

    def can_prove_less(self, expr: Expr, upper_bound: int) -> bool:
        """Whether the integer is always less than the constant.

        Source: TVM's ``Analyzer.can_prove_less``.
        """
        lin = self.linear(expr)
        if lin is not None:
            return self.nonnegative(lin.scale(-1).shift(upper_bound - 1))
        _, high = self.const_bounds(expr)
        return high is not None and high < upper_bound


__all__ = ["ClassicNames", "ConstIntBound", "ModularSet"]
