"""Expressions.  Constructors here are raw: no promotion, no folding; ``ops`` has the typed ones.

Integer ``Div`` and ``Mod`` truncate (``T.truncdiv``, ``T.truncmod``); ``FloorDiv`` and ``FloorMod`` floor.
Everything without a class of its own (mathematics, bitwise operators, intrinsics) is a ``Call`` of an
operator listed in ``op``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .node import Node, derived, node

if TYPE_CHECKING:
    from tirscript.diagnostics import Span

    from .buffer import Buffer
    from .types import Type


class Expr(Node):
    """An expression of one dtype.  Python operators build expressions with the promotions of ``ops``."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def dtype(self) -> str: ...
        @property
        def span(self) -> Span | None: ...

        # Filled in by `ops`.
        def __add__(self, other: Any) -> Expr: ...
        def __radd__(self, other: Any) -> Expr: ...
        def __sub__(self, other: Any) -> Expr: ...
        def __rsub__(self, other: Any) -> Expr: ...
        def __mul__(self, other: Any) -> Expr: ...
        def __rmul__(self, other: Any) -> Expr: ...
        def __truediv__(self, other: Any) -> Expr: ...
        def __rtruediv__(self, other: Any) -> Expr: ...
        def __floordiv__(self, other: Any) -> Expr: ...
        def __rfloordiv__(self, other: Any) -> Expr: ...
        def __mod__(self, other: Any) -> Expr: ...
        def __rmod__(self, other: Any) -> Expr: ...
        def __pow__(self, other: Any) -> Expr: ...
        def __rpow__(self, other: Any) -> Expr: ...
        def __lshift__(self, other: Any) -> Expr: ...
        def __rlshift__(self, other: Any) -> Expr: ...
        def __rshift__(self, other: Any) -> Expr: ...
        def __rrshift__(self, other: Any) -> Expr: ...
        def __and__(self, other: Any) -> Expr: ...
        def __rand__(self, other: Any) -> Expr: ...
        def __or__(self, other: Any) -> Expr: ...
        def __ror__(self, other: Any) -> Expr: ...
        def __xor__(self, other: Any) -> Expr: ...
        def __rxor__(self, other: Any) -> Expr: ...
        def __neg__(self) -> Expr: ...
        def __invert__(self) -> Expr: ...
        def __lt__(self, other: Any) -> Expr: ...
        def __le__(self, other: Any) -> Expr: ...
        def __gt__(self, other: Any) -> Expr: ...
        def __ge__(self, other: Any) -> Expr: ...
        def astype(self, dtype: str) -> Expr: ...

    def same_as(self, other: object) -> bool:
        """Whether it is this very object: nodes are compared so."""
        return self is other

    def __bool__(self) -> bool:
        raise TypeError(
            "an expression has no truth value while the program is built: use T.And, T.Or, T.Not, "
            "T.if_then_else or T.Select, and `is` or structural_equal to compare expressions"
        )


@node
class Var(Expr):
    """A variable; the object is its identity, the name only what is printed.

    ``exact`` says that it stands for a mathematical integer (loop variables, block axes, shapes, integer
    parameters); a let of a loaded value is not exact.  A pointer has dtype ``handle`` and may carry
    ``pointee = (dtype, scope)``.
    """

    name: str
    dtype: str = "int32"
    exact: bool = True
    pointee: tuple[str, str] | None = None
    span: Span | None = None

    @property
    def type_annotation(self) -> Type:
        """The type as an object, as TVM has it."""
        from .types import type_of

        return type_of(self)


@node
class IntImm(Expr):
    """An integer or bool constant; ``value`` fits the dtype."""

    value: int
    dtype: str = "int32"
    span: Span | None = None

    def __int__(self) -> int:
        return self.value


@node
class FloatImm(Expr):
    """A float constant, already rounded to its dtype."""

    value: float
    dtype: str = "float32"
    span: Span | None = None

    def __float__(self) -> float:
        return self.value


@node
class StringImm(Expr):
    """A string: only an argument of calls, a message, or an attribute's value."""

    value: str
    dtype: str = derived("'handle'")
    span: Span | None = None


@node
class BinaryOp(Expr):
    """Base of the arithmetic operators: both operands and the result have one dtype."""

    _child_: ClassVar[tuple[str, ...]] = ("a", "b")
    a: Expr
    b: Expr
    dtype: str = derived("a.dtype")
    span: Span | None = None


@node
class Add(BinaryOp):
    """``a + b``"""


@node
class Sub(BinaryOp):
    """``a - b``"""


@node
class Mul(BinaryOp):
    """``a * b``"""


@node
class Div(BinaryOp):
    """``a / b`` of floats; of integers the quotient that truncates toward zero."""


@node
class Mod(BinaryOp):
    """The remainder that goes with the truncating quotient: it has the sign of ``a``."""


@node
class FloorDiv(BinaryOp):
    """``a // b``, rounded toward minus infinity."""


@node
class FloorMod(BinaryOp):
    """``a % b``: it has the sign of ``b``."""


@node
class Min(BinaryOp):
    """The smaller one; a nan wins."""


@node
class Max(BinaryOp):
    """The larger one; a nan wins."""


@node
class CmpOp(Expr):
    """Base of the comparisons: operands of one dtype, a bool result with their lanes."""

    _child_: ClassVar[tuple[str, ...]] = ("a", "b")
    a: Expr
    b: Expr
    dtype: str = derived("'bool' if 'x' not in a.dtype else 'bool' + a.dtype[a.dtype.index('x'):]")
    span: Span | None = None


@node
class EQ(CmpOp):
    """``a == b``"""


@node
class NE(CmpOp):
    """``a != b``"""


@node
class LT(CmpOp):
    """``a < b``"""


@node
class LE(CmpOp):
    """``a <= b``"""


@node
class GT(CmpOp):
    """``a > b``"""


@node
class GE(CmpOp):
    """``a >= b``"""


@node
class And(BinaryOp):
    """``a and b`` of bools: ``b`` is evaluated only where ``a`` holds."""


@node
class Or(BinaryOp):
    """``a or b`` of bools: ``b`` is evaluated only where ``a`` does not hold."""


@node
class Not(Expr):
    """``not a`` of a bool."""

    _child_: ClassVar[tuple[str, ...]] = ("a",)
    a: Expr
    dtype: str = derived("a.dtype")
    span: Span | None = None


@node
class Select(Expr):
    """``true_value`` where ``condition`` holds, else ``false_value``; both are evaluated."""

    _child_: ClassVar[tuple[str, ...]] = ("condition", "true_value", "false_value")
    condition: Expr
    true_value: Expr
    false_value: Expr
    dtype: str = derived("true_value.dtype")
    span: Span | None = None


@node
class Cast(Expr):
    """``value`` converted to ``dtype``: integers wrap, floats saturate to integers and round to floats."""

    _child_: ClassVar[tuple[str, ...]] = ("value",)
    dtype: str
    value: Expr
    span: Span | None = None


def _load_dtype(buffer: Buffer, indices: tuple[Expr, ...]) -> str:
    dtype = buffer.dtype
    if indices:
        last = indices[-1].dtype
        if "x" in last:
            return f"{dtype}{last[last.index('x') :]}"
    return dtype


def _shuffle_dtype(vectors: tuple[Expr, ...], indices: tuple[Expr, ...]) -> str:
    base = vectors[0].dtype.partition("x")[0]
    return base if len(indices) == 1 else f"{base}x{len(indices)}"


@node
class BufferLoad(Expr):
    """``buffer[indices]``, of the buffer's dtype with the lanes of the last index."""

    _children_: ClassVar[tuple[str, ...]] = ("indices",)
    _optional_: ClassVar[tuple[str, ...]] = ("predicate",)
    buffer: Buffer
    indices: tuple[Expr, ...]
    predicate: Expr | None = None
    dtype: str = derived("_load_dtype(buffer, indices)")
    span: Span | None = None


@node
class Ramp(Expr):
    """The vector ``base, base + stride, ...`` with ``lanes`` elements."""

    _child_: ClassVar[tuple[str, ...]] = ("base", "stride")
    base: Expr
    stride: Expr
    lanes: int
    dtype: str = derived("f'{base.dtype}x{lanes}' if lanes != 1 else base.dtype")
    span: Span | None = None


@node
class Broadcast(Expr):
    """The vector of ``lanes`` times ``value``."""

    _child_: ClassVar[tuple[str, ...]] = ("value",)
    value: Expr
    lanes: int
    dtype: str = derived("f'{value.dtype}x{lanes}' if lanes != 1 else value.dtype")
    span: Span | None = None


@node
class Shuffle(Expr):
    """The elements ``indices`` (constants) of the concatenated ``vectors``."""

    _children_: ClassVar[tuple[str, ...]] = ("vectors", "indices")
    vectors: tuple[Expr, ...]
    indices: tuple[Expr, ...]
    dtype: str = derived("_shuffle_dtype(vectors, indices)")
    span: Span | None = None


@node
class Let(Expr):
    """``body`` with ``var`` standing for ``value``."""

    _child_: ClassVar[tuple[str, ...]] = ("value", "body")
    var: Var
    value: Expr
    body: Expr
    dtype: str = derived("body.dtype")
    span: Span | None = None


@node
class GlobalVar(Expr):
    """The name of a function in a module; the object is its identity within one module."""

    name: str
    dtype: str = derived("'handle'")
    span: Span | None = None

    @property
    def name_hint(self) -> str:
        """TVM's word for ``name``."""
        return self.name


@node
class Call(Expr):
    """``op(*args)``: an operator of the table in ``op`` by its name, or a function of the module."""

    _children_: ClassVar[tuple[str, ...]] = ("args",)
    dtype: str
    op: str | GlobalVar
    args: tuple[Expr, ...]
    span: Span | None = None


@node
class CommReducer(Expr):
    """A commutative, associative combiner of one or several values: ``result`` over ``lhs`` and ``rhs``.

    ``identity`` holds the neutral elements; all four tuples have one length.
    """

    _children_: ClassVar[tuple[str, ...]] = ("result", "identity")
    lhs: tuple[Var, ...]
    rhs: tuple[Var, ...]
    result: tuple[Expr, ...]
    identity: tuple[Expr, ...]
    dtype: str = derived("'handle'")
    span: Span | None = None

    @property
    def identity_element(self) -> tuple[Expr, ...]:
        """The neutral elements, as TVM calls them."""
        return self.identity


@node
class Range(Node):
    """The half-open interval ``[min, min + extent)``."""

    _child_: ClassVar[tuple[str, ...]] = ("min", "extent")
    min: Expr
    extent: Expr


@node
class IterVar(Node):
    """A block axis, or (with ``thread_tag``) a thread axis.

    ``kind`` is ``spatial``, ``reduce``, ``scan``, ``opaque`` or ``thread``; ``dom`` is None for a thread
    axis whose extent is said where it is launched.
    """

    _optional_: ClassVar[tuple[str, ...]] = ("dom",)
    var: Var
    dom: Range | None
    kind: str
    thread_tag: str = ""
    span: Span | None = None

    @property
    def iter_type(self) -> int:
        """TVM's number of the kind: 0 spatial, 1 thread, 2 reduce, 3 scan, 4 opaque."""
        return ("spatial", "thread", "reduce", "scan", "opaque").index(self.kind)


_SMALL = {dtype: tuple(IntImm(v, dtype) for v in range(-16, 1025)) for dtype in ("int32", "int64")}
_INT32 = _SMALL["int32"]
TRUE, FALSE = IntImm(1, "bool"), IntImm(0, "bool")


def const_int(value: int, dtype: str = "int32") -> IntImm:
    """An integer constant; small int32 and int64 ones are shared objects."""
    if -16 <= value <= 1024:
        if dtype == "int32":
            return _INT32[value + 16]
        if dtype == "int64":
            return _SMALL["int64"][value + 16]
    if dtype == "bool":
        return TRUE if value else FALSE
    return IntImm(value, dtype)
