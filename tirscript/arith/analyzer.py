"""The analyzer: what is known of variables, and what follows for expressions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from tirscript.diagnostics import deep_recursion
from tirscript.ir.dtype import SCALARS, info, wrap
from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.expr import (
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
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
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
from tirscript.ir.op import OPS, effect_of

from . import bounds
from .classic import ClassicNames
from .exact import TRANSPARENT, is_exact
from .linear import (
    AtomKey,
    ConstantRange,
    Linear,
    NotLinear,
    key_of,
    make_atom,
    multiply,
    same,
    size_of,
    to_linear,
)
from .rules import cast as cast_rules
from .rules import compare, data, div, floats, logic, minmax, mod, select, trunc

DEEP = 200_000


class Turned:
    """An expression of data that has become exact by simplification, within its dtype."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr


class Analyzer(ClassicNames):
    """Facts about variables, and simplification and proof under them.

    >>> from tirscript.ir.expr import Range, const_int
    >>> i, n = Var("i"), Var("n")
    >>> cx = Analyzer()
    >>> cx.bind(i, Range(const_int(0), n))
    >>> cx.can_prove(LT(i, n)), cx.const_bounds(i % 4)
    (True, (0, 3))
    >>> cx.simplify((i * 4 + 3) // 4) is i
    True
    """

    def can_prove(self, condition: Expr, strength: object = None) -> bool:
        """Whether the condition holds for all values that are allowed.  ``strength`` is TVM's and not needed:
        symbolic bounds are always used."""
        return self.decided(condition) is True

    def can_prove_equal(self, a: Expr, b: Expr | int) -> bool:
        return self.can_prove(EQ(a, const_int(b, a.dtype) if isinstance(b, int) else b))

    def decided(self, condition: Expr) -> bool | None:
        """Whether the condition holds always (True), never (False), or None."""
        new = self.simplify(condition)
        return bool(new.value) if type(new) is IntImm else None

    def simplify(self, e: Expr, steps: int = 2) -> Expr:
        """An expression of the same value (bit for bit), simpler if possible; ``e`` itself if not.  ``steps``
        is TVM's and not needed: one step goes all the way.

        >>> i, j = Var("i"), Var("j")
        >>> Analyzer().simplify((i + j) - i) is j
        True
        """
        t = type(e)
        if t is IntImm or t is FloatImm or (t is Var and e not in self.values):
            return e
        try:
            return self._expr(self._visit(e), e)
        except RecursionError:
            if sys.getrecursionlimit() >= DEEP:
                raise
            with deep_recursion(DEEP):
                return self.simplify(e)
        except ConstantRange:
            # The whole cannot be written down: its parts are simplified.
            return self._parts(e)  # type: ignore[no-any-return]

    def linear(self, e: Expr) -> Linear | None:
        """The simplified normal form of an exact scalar integer; None for anything else."""
        t = type(e)
        if t is IntImm:
            return Linear({}, e.value)  # type: ignore[attr-defined]
        if e.dtype not in _INTS:
            return None
        if t is Var and e not in self.values:
            return Linear({e: 1}) if e.exact else None  # type: ignore[attr-defined, dict-item]
        try:
            out = self._visit(e)
        except RecursionError:
            if sys.getrecursionlimit() >= DEEP:
                raise
            with deep_recursion(DEEP):
                return self.linear(e)
        except ConstantRange:
            return to_linear(e)
        return out if type(out) is Linear else None

    # ---- the visitor: a Linear for what is exact, an Expr (or Turned) for the rest

    def _expr(self, out: Any, e: Expr) -> Expr:
        t = type(out)
        if t is Linear:
            return self._shorter(out.written(e.dtype), e)
        return out.expr if t is Turned else out  # type: ignore[no-any-return]

    def _reduced(self, out: Any, e: Expr) -> Expr:
        """``_expr`` of an operand of data: a constant is reduced to the dtype, as it will be."""
        if type(out) is Linear and not out.terms:
            value = wrap(out.const, e.dtype)
            if value != out.const:
                return const_int(value, e.dtype)
        return self._expr(out, e)

    def _shorter(self, new: Any, e: Any) -> Expr:
        """``new``, or ``e`` with its parts simplified where that is shorter (products multiplied out)."""
        if same(new, e):
            return e  # type: ignore[no-any-return]
        if self.values or size_of(new) <= size_of(e):
            return new  # type: ignore[no-any-return]
        parts = e.map_children(self.simplify)
        return parts if size_of(parts) < size_of(new) else new  # type: ignore[no-any-return]

    def _visit(self, e: Any) -> Any:
        t = type(e)
        if t is IntImm:
            return Linear({}, e.value) if e.dtype != "bool" else e
        if t is Var:
            if e.exact and e.dtype in _INTS:
                return self.values.get(e) or Linear({e: 1})
            return e
        visit = _VISITORS.get(t)
        return e if visit is None else visit(self, e)

    def _turned(self, out: Expr, e: Expr, *operands: Any) -> Any:
        """``out`` in place of ``e``, an integer of data.  Where it has become exact, the operands and the
        result must lie in the dtype, because they would have been reduced to it; else ``e`` stays."""
        if out is e:
            return out
        if type(out) is IntImm:
            return Turned(out)
        if not is_exact(out):
            return out
        for part in (*operands, out):
            if is_exact(part) and not data.safe(self, part, e.dtype):
                return e
        return Turned(out)

    def _parts(self, e: Any) -> Any:
        """``e`` with its parts simplified.  Data whose parts have all become exact would no longer wrap:
        ``e`` stays then, unless nothing in it can leave its dtype."""
        new = e.map_children(self.simplify)
        if new is e or not is_exact(new) or is_exact(e):
            return new
        for part in (*new.children(), new):
            if info(part.dtype).is_int and not data.safe(self, part, part.dtype):
                return e
        return new

    def _data_binary(self, e: Any, a: Any, b: Any) -> Any:
        """An operator on data: ``a`` and ``b`` are the results of its operands."""
        x, y = self._reduced(a, e.a), self._reduced(b, e.b)
        out = data.binary(self, e, x, y)
        if out is e:
            return e
        # Exact are a Linear, a Turned one, and constants; the tree need not be walked to see it.
        exact_a = type(a) is Linear or type(a) is Turned
        exact_b = type(b) is Linear or type(b) is Turned
        if out is x or out is y:
            exact = exact_a if out is x else exact_b
        else:
            exact = type(out) is IntImm or (exact_a and exact_b)
        return self._turned(out, e, x, y) if exact else out

    def _not_int(self, e: Any) -> Any:
        return self._vector(e) if info(e.dtype).lanes != 1 else floats.binary(self, e)

    def _arith(self, e: Any) -> Any:
        """Add, Sub, Mul."""
        if e.dtype not in _INTS:
            return self._not_int(e)
        leaves: list[tuple[Any, int]] = []
        const, count = _spine(e, leaves)
        terms: dict[AtomKey, int] = {}
        results = []
        exact = True
        values = self.values
        for leaf, k in leaves:
            if exact and type(leaf) is Var and leaf.exact and leaf not in values:
                terms[leaf] = terms.get(leaf, 0) + k
                results.append(leaf)
                continue
            out = self._product(leaf) if type(leaf) is Mul else self._visit(leaf)
            results.append(out)
            if exact and type(out) is Linear:
                const += k * out.const
                for atom, c in out.terms.items():
                    terms[atom] = terms.get(atom, 0) + k * c
            else:
                exact = False
        if exact:
            if 0 in terms.values():
                terms = {a: k for a, k in terms.items() if k}
            lin = Linear(terms, const)
            return div.join_parts(lin) if len(terms) > 1 else lin
        return self._data_sum(e, leaves, results, count)

    def _data_sum(self, e: Any, leaves: list[tuple[Any, int]], results: list[Any], count: int) -> Any:
        parts: list[tuple[Expr, int]] = []
        const = _spine(e, [])[0]
        changed = False
        for (leaf, k), out in zip(leaves, results, strict=True):
            new = self._reduced(out, leaf)
            changed = changed or new is not leaf
            if type(new) is IntImm:
                const += k * new.value
            else:
                parts.append((new, k))
        joined = data.ring(self, parts, const, count, e.dtype)
        if joined is not None:
            return self._turned(joined, e)
        if not changed:
            return e
        replaced = iter([self._reduced(out, leaf) for (leaf, _), out in zip(leaves, results, strict=True)])
        new = _respine(e, replaced)
        if all(type(out) in _NOW_EXACT for out in results):
            return self._turned(new, e, *[p for p, _ in parts])
        return new

    def _product(self, e: Any) -> Any:
        """A product of which neither side is a constant."""
        a, b = self._visit(e.a), self._visit(e.b)
        if type(a) is Linear and type(b) is Linear:
            written = e if self._expr(a, e.a) is e.a and self._expr(b, e.b) is e.b else None
            return multiply(a, b, written, e.dtype)
        return self._data_binary(e, a, b)

    def _binary(self, e: Any) -> Any:
        """Divisions, remainders, minimum, maximum."""
        if e.dtype not in _INTS:
            return self._not_int(e)
        a, b = self._visit(e.a), self._visit(e.b)
        if type(a) is Linear and type(b) is Linear:
            return _EXACT[type(e)](self, a, b, e.dtype)
        return self._data_binary(e, a, b)

    def _compare(self, e: Any) -> Expr:
        dtype = e.a.dtype
        if dtype not in _INTS and info(dtype).lanes != 1:
            return self._vector(e)
        t = type(e)
        a, b = self._visit(e.a), self._visit(e.b)
        if type(a) is Linear and type(b) is Linear:
            return self._shorter(compare.compare(self, t, a, b, dtype), e)
        kind = info(dtype)
        x, y = self._reduced(a, e.a), self._reduced(b, e.b)
        if kind.is_float:
            out = floats.comparison(self, t, x, y)
        elif kind.is_int or kind.code == "bool":
            out = data.comparison(self, t, x, y)
            if out is None and (x is not e.a or y is not e.b) and is_exact(x) and is_exact(y):
                # It would compare mathematical values now: they must be the reduced ones.
                if not is_exact(e) and not (data.safe(self, x, dtype) and data.safe(self, y, dtype)):
                    return e  # type: ignore[no-any-return]
        else:
            out = None
        if out is not None:
            return out
        return e if x is e.a and y is e.b else t(x, y)  # type: ignore[no-any-return]

    def _cast(self, e: Any) -> Any:
        kind = info(e.dtype)
        source = info(e.value.dtype)
        if kind.is_int and kind.lanes == 1 and (source.is_int or source.code == "bool"):
            out = self._visit(e.value)
            if type(out) is Linear:
                low, high = bounds.range_of_linear(self, out)
                least, most = dtype_bounds(e.dtype)
                if out.is_const:
                    return Linear({}, wrap(out.const, e.dtype))
                if low is not None and high is not None and least <= low and high <= most:
                    return out
                inner = self._expr(out, e.value)
                made = make_atom(Cast, (e.dtype, out.key()), e if inner is e.value else Cast(e.dtype, inner))
                return Linear({made: 1})
            if source.code == "bool" and is_exact(e.value):
                value = out
                if type(value) is IntImm:
                    return Linear({}, value.value)
                expr = e if value is e.value else Cast(e.dtype, value)
                return Linear({make_atom(Cast, (e.dtype, key_of(value)), expr): 1})
        new = cast_rules.cast(self, e)
        if kind.is_int and new is not e and is_exact(new):
            return self._turned(new, e)
        return new

    def _choice(self, e: Any) -> Any:
        """Select and if_then_else."""
        kind = info(e.dtype)
        is_select = type(e) is Select
        if kind.is_int and kind.lanes == 1 and is_exact(e):
            parts = (e.condition, e.true_value, e.false_value) if is_select else e.args
            test, yes, no = select.branches(self, *parts)
            # The branches are simplified: to do it again would double the work at each level of a chain.
            if type(test) is IntImm:
                return to_linear(yes if test.value else no)
            a, b = to_linear(yes), to_linear(no)
            assert a is not None and b is not None
            if a.key() == b.key():
                return a
            if test is parts[0] and yes is parts[1] and no is parts[2]:
                new = e
            else:
                new = Select(test, yes, no) if is_select else e.replace(args=(test, yes, no))
            tag = Select if is_select else "if_then_else"
            return Linear({make_atom(tag, (key_of(test), a.key(), b.key()), new): 1})
        new = select.select(self, e) if is_select else select.if_then_else(self, e)
        if kind.is_int and new is not e:
            parts = new.children()[1:] if type(new) is type(e) else ()
            return self._turned(new, e, *parts)
        return new

    def _call(self, e: Any) -> Any:
        op = e.op
        if op in TRANSPARENT:
            if op == "if_then_else":
                return self._choice(e)
            return self._visit(e.args[0]) if info(e.dtype).is_int else self._parts(e)
        known = OPS.get(op) if isinstance(op, str) else None
        if known is not None and (known.group == "bits" or op == "abs"):
            new = data.bits(self, e)
            if new is not e and info(e.dtype).is_int and info(e.dtype).lanes == 1 and is_exact(new):
                return self._turned(new, e)
            return new
        if known is not None and known.group == "math":
            return floats.math_call(self, e)
        return self._parts(e)

    def _let(self, e: Any) -> Any:
        if info(e.dtype).is_int and is_exact(e):
            new = select.let(self, e)
            if type(new) is not Let:
                return self._visit(new)
            atom = make_atom(Let, (new.var, key_of(new.value), key_of(new.body)), new)
            return Linear({atom: 1})
        new = select.let(self, e)
        return self._turned(new, e) if info(e.dtype).is_int and new is not e else new

    def _vector(self, e: Any) -> Expr:
        """Vectors: the operands are simplified; two broadcasts are computed before they are spread."""
        new = self._parts(e)
        t, a, b = type(new), getattr(new, "a", None), getattr(new, "b", None)
        if type(a) is Broadcast and type(b) is Broadcast:
            new = Broadcast(self.simplify(t(a.value, b.value)), a.lanes)
        elif type(a) is Ramp and type(b) is Broadcast and t in (Add, Sub):
            new = Ramp(self.simplify(t(a.base, b.value)), a.stride, a.lanes)
        elif type(a) is Broadcast and type(b) is Ramp and t is Add:
            new = Ramp(self.simplify(Add(a.value, b.base)), b.stride, b.lanes)
        elif type(a) is Ramp and type(b) is Broadcast and t is Mul:
            base = self.simplify(Mul(a.base, b.value))
            new = Ramp(base, self.simplify(Mul(a.stride, b.value)), a.lanes)
        if new is not e and info(e.dtype).is_int and is_exact(new) and not is_exact(e):
            return new if data.safe(self, new, e.dtype) else e  # type: ignore[no-any-return]
        return new  # type: ignore[no-any-return]

    def has_effect(self, e: Any) -> bool:
        """Whether evaluating ``e`` does, or depends on, more than its operands and buffers say."""
        t = type(e)
        if t is IntImm or t is Var or t is FloatImm:
            return False
        found = self._effects.get(e)
        if found is None:
            if t is Call and effect_of(e.op) not in ("pure", "hint"):
                found = True
            else:
                found = any(self.has_effect(c) for c in e.children())
            self._effects[e] = found
        return found


def _spine(e: Any, leaves: list[tuple[Any, int]]) -> tuple[int, int]:
    """Flatten sums and constant multiples: the constant part, and how many leaves and constants there are."""
    const = count = 0
    stack = [(e, 1)]
    while stack:
        n, k = stack.pop()
        t = type(n)
        if t is IntImm:
            const += k * n.value
            count += 1
        elif t is Add:
            stack.append((n.b, k))
            stack.append((n.a, k))
        elif t is Sub:
            stack.append((n.b, -k))
            stack.append((n.a, k))
        elif t is Mul and type(n.b) is IntImm:
            count += n.b.value in (0, 1)
            stack.append((n.a, k * n.b.value))
        elif t is Mul and type(n.a) is IntImm:
            count += n.a.value in (0, 1)
            stack.append((n.b, k * n.a.value))
        else:
            leaves.append((n, k))
            count += 1
    return const, count


def _respine(e: Any, leaves: Iterator[Expr]) -> Expr:
    """The sum with its leaves, in order, replaced."""
    t = type(e)
    if t is IntImm:
        return e  # type: ignore[no-any-return]
    if t is Add or t is Sub:
        a = _respine(e.a, leaves)
        b = _respine(e.b, leaves)
        return e if a is e.a and b is e.b else t(a, b)  # type: ignore[no-any-return]
    if t is Mul and type(e.b) is IntImm:
        a = _respine(e.a, leaves)
        return e if a is e.a else Mul(a, e.b)
    if t is Mul and type(e.a) is IntImm:
        b = _respine(e.b, leaves)
        return e if b is e.b else Mul(e.a, b)
    return next(leaves)


_INTS = frozenset(name for name, d in SCALARS.items() if d.is_int)
_NOW_EXACT = frozenset({Linear, Turned, Var})
_COMPARISONS = frozenset({EQ, NE, LT, LE, GT, GE})
_EXACT: dict[type, Callable[[Analyzer, Linear, Linear, str], Linear]] = {
    FloorDiv: div.floordiv,
    FloorMod: mod.floormod,
    Div: trunc.truncdiv,
    Mod: trunc.truncmod,
    Min: minmax.minimum,
    Max: minmax.maximum,
}
_VISITORS: dict[type, Callable[[Analyzer, Any], Any]] = {
    **dict.fromkeys((Add, Sub), Analyzer._arith),
    Mul: Analyzer._arith,
    **dict.fromkeys(_EXACT, Analyzer._binary),
    **dict.fromkeys(_COMPARISONS, Analyzer._compare),
    And: logic.conjunction,
    Or: logic.disjunction,
    Not: logic.logical_not,
    Select: Analyzer._choice,
    Cast: Analyzer._cast,
    Call: Analyzer._call,
    Let: Analyzer._let,
    BufferLoad: Analyzer._parts,
    Ramp: Analyzer._parts,
    Broadcast: Analyzer._parts,
}


def simplify(e: Expr) -> Expr:
    """``e`` simplified without any context.

    >>> i = Var("i")
    >>> simplify(i * 4 + 0) is simplify(i) , type(simplify(i - i)).__name__
    (False, 'IntImm')
    """
    return Analyzer().simplify(e)


def can_prove(condition: Expr) -> bool:
    """Whether the condition holds for all values of its variables."""
    return Analyzer().can_prove(condition)


__all__ = ["FALSE", "TRUE", "Analyzer", "NotLinear", "can_prove", "simplify", "to_linear"]
