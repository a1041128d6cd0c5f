"""The normal form of exact integers: a constant plus integer multiples of atoms.

An atom is a variable, or an ``Atom``: anything that is not linear (a quotient, a product of variables, a
minimum), known by its structure, so that two equal ones are one.  Terms keep the order in which they were
first seen: what is built back looks like what was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tirscript.ir.dtype import bounds as dtype_bounds
from tirscript.ir.dtype import info
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Or,
    Select,
    StringImm,
    Sub,
    Var,
    const_int,
)

from .exact import TRANSPARENT, is_exact


class Atom(tuple):  # type: ignore[type-arg]
    """The structure of an expression that is not linear; ``expr`` is one that has it.

    Equality and hash are the tuple's: ``(kind, parts...)``.
    """

    expr: Expr
    _parts: tuple[Linear | None, ...] | None = None

    def parts(self) -> tuple[Linear | None, ...]:
        """The children of ``expr`` in normal form; read once."""
        found = self._parts
        if found is None:
            children: Any = self.expr.children()
            found = self._parts = tuple([to_linear(c) for c in children])
        return found


AtomKey: TypeAlias = "Var | Atom"


class NotLinear(Exception):
    """The expression holds data, or is no scalar integer."""


class ConstantRange(ValueError):
    """A constant of a normal form does not fit the dtype that it should be written in."""


class Linear:
    """``const + sum(coefficient * atom)`` over the integers.  Treat it as immutable.

    >>> i, j = Var("i"), Var("j")
    >>> to_linear((i + j) * 4 - i - 3)
    i * 3 + j * 4 - 3
    """

    __slots__ = ("const", "terms")

    def __init__(self, terms: dict[AtomKey, int], const: int = 0) -> None:
        self.terms = terms
        self.const = const

    def key(self) -> Any:
        """A hashable value that equal linear forms share."""
        terms = self.terms
        if not terms:
            return self.const
        if self.const == 0 and len(terms) == 1:
            atom, k = next(iter(terms.items()))
            if k == 1:
                return atom
        return (self.const, frozenset(terms.items()))

    def __add__(self, other: Linear) -> Linear:
        return self.plus(other, 1)

    def __sub__(self, other: Linear) -> Linear:
        return self.plus(other, -1)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """``self + factor * other``"""
        terms = dict(self.terms)
        for atom, k in other.terms.items():
            new = terms.get(atom, 0) + k * factor
            if new:
                terms[atom] = new
            else:
                terms.pop(atom, None)
        return Linear(terms, self.const + factor * other.const)

    def scale(self, factor: int) -> Linear:
        if factor == 1:
            return self
        if factor == 0:
            return Linear({}, 0)
        return Linear({a: k * factor for a, k in self.terms.items()}, self.const * factor)

    def shift(self, offset: int) -> Linear:
        """``self + offset``"""
        return Linear(self.terms, self.const + offset)

    @property
    def is_const(self) -> bool:
        return not self.terms

    def items(self) -> Iterator[tuple[Expr, int]]:
        """The atoms as expressions, with their coefficients."""
        for atom, k in self.terms.items():
            yield atom_expr(atom), k

    def coefficient(self, var: Var) -> int:
        return self.terms.get(var, 0)

    def mentions(self, variables: Any) -> bool:
        """Whether any of the variables occurs, also inside an atom."""
        return any(atom_mentions(a, variables) for a in self.terms)

    def vars_only(self) -> bool:
        """Whether all atoms are variables."""
        return all(type(a) is Var for a in self.terms)

    def to_expr(self, dtype: str = "int32") -> Expr:
        """An expression of this value, terms in the order in which they were seen."""
        return linear_expr(self, dtype)

    def written(self, dtype: str = "int32") -> Expr:
        """``to_expr``, but ConstantRange is raised where a constant does not fit the dtype: the expression
        could not be printed and read back.
        """
        least, most = dtype_bounds(dtype)
        if abs(self.const) > most and (self.terms or not least <= self.const <= most):
            raise ConstantRange
        for k in self.terms.values():
            if abs(k) > most:
                raise ConstantRange
        return linear_expr(self, dtype)

    def __repr__(self) -> str:
        parts = []
        for atom, k in self.terms.items():
            name = atom.name if isinstance(atom, Var) else "<" + type(atom.expr).__name__ + ">"
            size = name if abs(k) == 1 else f"{name} * {abs(k)}"
            parts.append(("- " if k < 0 else "+ ") + size)
        if self.const or not parts:
            parts.append(("- " if self.const < 0 else "+ ") + str(abs(self.const)))
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else "-" + text[2:]


def atom_expr(atom: AtomKey) -> Expr:
    return atom if isinstance(atom, Var) else atom.expr


def atom_mentions(atom: AtomKey, variables: Any) -> bool:
    """Whether the atom is one of the variables or holds one."""
    if isinstance(atom, Var):
        return atom in variables
    return mentions(atom.expr, variables)


def mentions(e: Any, variables: Any) -> bool:
    """Whether ``e`` holds one of the variables."""
    stack = [e]
    while stack:
        n = stack.pop()
        if type(n) is Var:
            if n in variables:
                return True
        else:
            stack.extend(n.children())
    return False


# ---- building back


def linear_expr(lin: Linear, dtype: str) -> Expr:
    """``lin`` as an expression of ``dtype``: positive terms first, differences as ``-``."""
    groups: dict[str, list[tuple[Expr, int]]] | None = None
    first: Expr | None = None
    later: list[tuple[Expr, int]] = []
    for atom, k in lin.terms.items():
        e = atom if type(atom) is Var else atom.expr  # type: ignore[union-attr]
        if e.dtype != dtype:
            # The value fits dtype (or it would be an atom), so it may be converted after it is computed.
            groups = groups or {}
            groups.setdefault(e.dtype, []).append((e, k))
            continue
        if first is None and k > 0:
            first = _times(e, k, dtype)
        else:
            later.append((e, k))
    if groups:
        for other, items in groups.items():
            if len(items) == 1 and items[0][1] != 1:
                e, k = items[0]
                items = [(Cast(dtype, e), k)]
                term: Expr = _sum(None, items, 0, dtype)
            else:
                term = Cast(dtype, _sum(None, items, 0, other))
            if first is None:
                first = term
            else:
                later.append((term, 1))
    return _sum(first, later, lin.const, dtype)


def _fits(value: int, dtype: str) -> bool:
    low, high = dtype_bounds(dtype)
    return low <= value <= high


def _constant(value: int, dtype: str) -> Expr:
    """A constant of a value that need not fit the dtype (exact sums may be larger than their parts)."""
    if _fits(value, dtype):
        return const_int(value, dtype)
    # Built from constants that fit; the nodes are exact, so they do not wrap.
    low, high = dtype_bounds(dtype)
    limit = high if value > 0 else -low if low else high
    q, r = divmod(abs(value), limit)
    if value < 0 and low == 0:
        return Sub(const_int(0, dtype), _constant(-value, dtype))
    sign = 1 if value > 0 else -1
    product = Mul(_constant(q, dtype), const_int(sign * limit, dtype))
    return product if r == 0 else Add(product, const_int(sign * r, dtype))


def _times(e: Expr, k: int, dtype: str) -> Expr:
    """``e * k``; a factor that does not fit is taken apart."""
    if k == 1:
        return e
    most = dtype_bounds(dtype)[1]
    if abs(k) <= most:
        return Mul(e, const_int(k, dtype))
    q, r = divmod(abs(k), most)
    large = _times(Mul(e, const_int(most if k > 0 else -most, dtype)), q, dtype)
    return large if r == 0 else Add(large, Mul(e, const_int(r if k > 0 else -r, dtype)))


def _sum(first: Expr | None, later: list[tuple[Expr, int]], const: int, dtype: str) -> Expr:
    out = first
    if out is None:
        for n, (e, k) in enumerate(later):
            if k > 0:
                out = _times(e, k, dtype)
                later = later[:n] + later[n + 1 :]
                break
    for e, k in later:
        if out is None:
            if const > 0:
                out, const = _constant(const, dtype), 0
            elif dtype_bounds(dtype)[0] == 0:
                out = const_int(0, dtype)
            else:
                out = _times(e, k, dtype)
                continue
        term = _times(e, abs(k), dtype)
        out = Add(out, term) if k > 0 else Sub(out, term)
    if out is None:
        return _constant(const, dtype)
    if const == 0:
        return out
    if const > 0:
        return Add(out, _constant(const, dtype))
    return Sub(out, _constant(-const, dtype))


# ---- reading in


def to_linear(e: Expr) -> Linear | None:
    """The normal form of an exact scalar integer expression; None for data, floats, bools and vectors.

    >>> to_linear(Var("x", "int32", False) + 1) is None
    True
    """
    t = type(e)
    if t is Var:
        if e.exact and info(e.dtype).is_int:  # type: ignore[attr-defined]
            return Linear({e: 1}, 0)  # type: ignore[dict-item]
        return None
    if t is IntImm:
        return Linear({}, e.value)  # type: ignore[attr-defined]
    kind = info(e.dtype)
    if not kind.is_int or kind.lanes != 1:
        return None
    terms: dict[AtomKey, int] = {}
    try:
        const = _read(e, 1, terms)
    except NotLinear:
        return None
    if 0 in terms.values():
        terms = {a: k for a, k in terms.items() if k}
    return Linear(terms, const)


def must_linear(e: Expr) -> Linear:
    """``to_linear`` of an expression that is known to be exact; raises NotLinear."""
    lin = to_linear(e)
    if lin is None:
        raise NotLinear
    return lin


def _read(e: Any, k: int, terms: dict[AtomKey, int]) -> int:
    """Add ``k * e`` to ``terms``; the constant part is returned."""
    t = type(e)
    if t is Var:
        if not e.exact:
            raise NotLinear
        terms[e] = terms.get(e, 0) + k
        return 0
    if t is IntImm:
        return k * e.value  # type: ignore[no-any-return]
    if t is Add:
        return _read(e.a, k, terms) + _read(e.b, k, terms)
    if t is Sub:
        return _read(e.a, k, terms) + _read(e.b, -k, terms)
    if t is Mul:
        if type(e.b) is IntImm:
            return _read(e.a, k * e.b.value, terms)
        if type(e.a) is IntImm:
            return _read(e.b, k * e.a.value, terms)
        product = multiply(must_linear(e.a), must_linear(e.b), e)
        for atom, c in product.terms.items():
            terms[atom] = terms.get(atom, 0) + k * c
        return k * product.const
    read = _READERS.get(t)
    if read is None:
        raise NotLinear
    lin = read(e)
    for atom, c in lin.terms.items():
        terms[atom] = terms.get(atom, 0) + k * c
    return k * lin.const


_MONOMIAL = "*"


def _powers(atom: AtomKey) -> dict[AtomKey, int]:
    if isinstance(atom, Atom) and atom[0] == _MONOMIAL:
        return dict(atom[1])
    return {atom: 1}


def monomial(a: AtomKey, b: AtomKey, expr: Expr | None = None, dtype: str | None = None) -> Atom:
    """The product of two atoms; ``expr`` is what it was written as."""
    powers = _powers(a)
    for x, n in _powers(b).items():
        powers[x] = powers.get(x, 0) + n
    made = Atom((_MONOMIAL, frozenset(powers.items())))
    if expr is None:
        left, right = atom_expr(a), atom_expr(b)
        to = dtype or left.dtype
        left = left if left.dtype == to else Cast(to, left)
        expr = Mul(left, right if right.dtype == to else Cast(to, right))
    made.expr = expr
    return made


def factors(atom: AtomKey) -> dict[AtomKey, int]:
    """The factors of a product with their powers; the atom itself where it is no product."""
    return _powers(atom)


def multiply(a: Linear, b: Linear, expr: Expr | None = None, dtype: str | None = None) -> Linear:
    """The product, multiplied out; ``expr`` is the product as it was written, of ``dtype``."""
    if not b.terms:
        return a.scale(b.const)
    if not a.terms:
        return b.scale(a.const)
    if dtype is None and expr is not None:
        dtype = expr.dtype
    if len(a.terms) == 1 and len(b.terms) == 1 and not a.const and not b.const:
        (x, m), (y, n) = next(iter(a.terms.items())), next(iter(b.terms.items()))
        return Linear({monomial(x, y, expr if m == n == 1 else None, dtype): m * n})
    if len(a.terms) * len(b.terms) > 64:
        to = dtype or next(a.items())[0].dtype
        return Linear({make_atom(Mul, (a.key(), b.key()), Mul(a.to_expr(to), b.to_expr(to))): 1})
    terms: dict[AtomKey, int] = {}
    for x, m in a.terms.items():
        for y, n in b.terms.items():
            p = monomial(x, y, None, dtype)
            terms[p] = terms.get(p, 0) + m * n
        if b.const:
            terms[x] = terms.get(x, 0) + m * b.const
    if a.const:
        for y, n in b.terms.items():
            terms[y] = terms.get(y, 0) + n * a.const
    return Linear({t: c for t, c in terms.items() if c}, a.const * b.const)


def make_atom(
    kind: Any, parts: tuple[Any, ...], expr: Expr, forms: tuple[Linear | None, ...] | None = None
) -> Atom:
    """The atom ``(kind, *parts)``; ``parts`` are keys, ``forms`` what ``parts()`` answers, if known."""
    made = Atom((kind, *parts))
    made.expr = expr
    if forms is not None:
        made._parts = forms
    return made


def _binary_atom(e: Any) -> Linear:
    a, b = must_linear(e.a), must_linear(e.b)
    return Linear({make_atom(type(e), (a.key(), b.key()), e, (a, b)): 1})


def _min_max(e: Any) -> Linear:
    a, b = must_linear(e.a), must_linear(e.b)
    return Linear({make_atom(type(e), (frozenset((a.key(), b.key())),), e, (a, b)): 1})


def default_range(dtype: str) -> tuple[int | None, int | None]:
    """What is known of an exact variable of that dtype."""
    return dtype_bounds(dtype)


def linear_range(
    lin: Linear, of: Callable[[AtomKey], tuple[int | None, int | None]]
) -> tuple[int | None, int | None]:
    """Bounds of ``lin`` from those of its atoms."""
    low: int | None = lin.const
    high: int | None = lin.const
    for atom, k in lin.terms.items():
        lo, hi = of(atom)
        if k < 0:
            lo, hi = hi, lo
        low = None if low is None or lo is None else low + k * lo
        high = None if high is None or hi is None else high + k * hi
    return low, high


def _plain_range(atom: AtomKey) -> tuple[int | None, int | None]:
    if isinstance(atom, Var):
        return default_range(atom.dtype)
    kind = atom[0]
    if kind is Cast:
        return dtype_bounds(atom.expr.dtype)
    if kind == _MONOMIAL:
        low, high = 1, 1
        for x, n in atom[1]:
            lo, hi = _plain_range(x)
            if lo is None or hi is None:
                return None, None
            for _ in range(n):
                ends = (low * lo, low * hi, high * lo, high * hi)
                low, high = min(ends), max(ends)
        return low, high
    e: Any = atom.expr
    if kind is FloorMod and type(e.b) is IntImm and e.b.value > 0:
        return 0, e.b.value - 1
    if kind is FloorDiv and type(e.b) is IntImm and e.b.value > 0:
        low_a, high_a = linear_range(must_linear(e.a), _plain_range)
        return (
            None if low_a is None else low_a // e.b.value,
            None if high_a is None else high_a // e.b.value,
        )
    return None, None


def _cast(e: Any) -> Linear:
    value: Expr = e.value
    if info(value.dtype).code == "bool":
        if not is_exact(value):
            raise NotLinear
        return Linear({make_atom(Cast, (e.dtype, key_of(value)), e): 1})
    lin = must_linear(value)
    low, high = linear_range(lin, _plain_range)
    least, most = dtype_bounds(e.dtype)
    if low is not None and high is not None and least <= low and high <= most:
        return lin
    return Linear({make_atom(Cast, (e.dtype, lin.key()), e): 1})


def _select(e: Any) -> Linear:
    if not is_exact(e.condition):
        raise NotLinear
    parts = (key_of(e.condition), must_linear(e.true_value).key(), must_linear(e.false_value).key())
    return Linear({make_atom(Select, parts, e): 1})


def _call(e: Any) -> Linear:
    if e.op == "likely":
        return must_linear(e.args[0])
    if e.op not in TRANSPARENT or not is_exact(e.args[0]):
        raise NotLinear
    parts = (key_of(e.args[0]), must_linear(e.args[1]).key(), must_linear(e.args[2]).key())
    return Linear({make_atom("if_then_else", parts, e): 1})


def _let(e: Any) -> Linear:
    if not is_exact(e):
        raise NotLinear
    if type(e.body) is Var and e.body is e.var:
        return must_linear(e.value)
    return Linear({make_atom(Let, (e.var, must_linear(e.value).key(), key_of(e.body)), e): 1})


_READERS: dict[type, Callable[[Any], Linear]] = {
    FloorDiv: _binary_atom,
    FloorMod: _binary_atom,
    Div: _binary_atom,
    Mod: _binary_atom,
    Min: _min_max,
    Max: _min_max,
    Cast: _cast,
    Select: _select,
    Call: _call,
    Let: _let,
}


# ---- keys of any expression


def key_of(e: Any) -> Any:
    """A hashable value that structurally equal expressions share; equal exact sums share it too."""
    t = type(e)
    if t is Var:
        return e
    if t is IntImm:
        return e.value if e.dtype != "bool" else (IntImm, e.value)
    exact: dict[int, bool] = {}
    _mark(e, exact)
    return _key(e, exact)


def _mark(e: Any, exact: dict[int, bool]) -> bool:
    """Which nodes below are exact, in one walk."""
    t = type(e)
    if t is Var:
        return bool(e.exact) and e.dtype != "handle"
    if t is IntImm:
        return True
    found = exact.get(id(e))
    if found is None:
        found = t not in _DATA_LEAVES
        for c in e.children():
            found = _mark(c, exact) and found
        if t is Call and e.op not in TRANSPARENT:
            found = False
        elif t is Cast and found:
            found = is_exact(e)
        exact[id(e)] = found
    return found


def _key(e: Any, exact: dict[int, bool]) -> Any:
    t = type(e)
    if t is Var:
        return e
    if t is IntImm:
        return e.value if e.dtype != "bool" else (IntImm, e.value)
    if t is FloatImm:
        # repr tells -0.0 from 0.0 and lets nan equal itself.
        return (FloatImm, e.dtype, repr(e.value))
    if t is StringImm:
        return (StringImm, e.value)
    if t in _LINEAR_KINDS and exact[id(e)]:
        lin = to_linear(e)
        if lin is not None:
            return lin.key()
    if t is BufferLoad:
        extra = () if e.predicate is None else (_key(e.predicate, exact),)
        return (BufferLoad, e.buffer, *[_key(i, exact) for i in e.indices], *extra)
    parts: list[Any] = [t, e.dtype]
    if t is Call:
        parts.append(e.op)
    elif t is Let:
        parts.append(e.var)
    elif t is GlobalVar:
        parts.append(e)
    parts += [_key(c, exact) if isinstance(c, Expr) else c for c in e.children()]
    return tuple(parts)


_DATA_LEAVES = frozenset({BufferLoad, FloatImm, StringImm, GlobalVar})
_LINEAR_KINDS = frozenset({Add, Sub, Mul, FloorDiv, FloorMod, Div, Mod, Min, Max, Cast, Select})


def substitute_linear(lin: Linear, values: Mapping[AtomKey, Linear]) -> Linear:
    """``lin`` with top-level atoms replaced."""
    out = Linear({}, lin.const)
    for atom, k in lin.terms.items():
        new = values.get(atom)
        out = out.plus(Linear({atom: 1}) if new is None else new, k)
    return out


def same(a: Any, b: Any) -> bool:
    """Whether two expressions are the same tree (spans aside)."""
    if a is b:
        return True
    t = type(a)
    if t is not type(b) or t is Var or a.dtype != b.dtype:
        return False
    if t is IntImm or t is FloatImm:
        return repr(a.value) == repr(b.value)
    if t is BufferLoad and a.buffer is not b.buffer:
        return False
    if t is Call and a.op != b.op:
        return False
    if t is Let and a.var is not b.var:
        return False
    if t is StringImm or t is GlobalVar:
        return False
    if t in _PLAIN:
        return same(a.a, b.a) and same(a.b, b.b)
    x, y = a.children(), b.children()
    return len(x) == len(y) and all(same(p, q) for p, q in zip(x, y, strict=True))


_PLAIN = frozenset({Add, Sub, Mul, FloorDiv, FloorMod, LT, LE, GT, GE, EQ, NE, And, Or, Min, Max})


def size_of(e: Any) -> int:
    """What a tree costs: its nodes, products of two variables counted threefold."""
    count = 0
    stack = [e]
    while stack:
        n = stack.pop()
        count += 1
        t = type(n)
        if t in _PLAIN:
            if t is Mul and type(n.b) is not IntImm and type(n.a) is not IntImm:
                count += 2
            stack.append(n.a)
            stack.append(n.b)
        elif t is not Var and t is not IntImm:
            stack.extend(n.children())
    return count
