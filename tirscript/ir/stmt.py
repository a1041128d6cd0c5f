"""Statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from .buffer import Buffer, BufferRegion, MatchBufferRegion
from .expr import Expr, IterVar, Var
from .node import Node, node

if TYPE_CHECKING:
    from tirscript.diagnostics import Span

# Values of attributes and annotations: str, int, float, bool, None, Expr, Buffer, lists and dicts of them.
Annotations = Mapping[str, Any]
NONE: Annotations = {}

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread_binding")
THREAD_TAGS = (
    *(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx", "vthread") for axis in "xyz"),
    "vthread",
    "cthread",
)


class Stmt(Node):
    """A statement."""

    __slots__ = ()

    def same_as(self, other: object) -> bool:
        """Whether it is this very object: nodes are compared so."""
        return self is other

    if TYPE_CHECKING:

        @property
        def span(self) -> Span | None: ...


@node
class BufferStore(Stmt):
    """``buffer[indices] = value``, for the lanes where ``predicate`` holds."""

    _children_: ClassVar[tuple[str, ...]] = ("indices",)
    _child_: ClassVar[tuple[str, ...]] = ("value",)
    _optional_: ClassVar[tuple[str, ...]] = ("predicate",)
    buffer: Buffer
    value: Expr
    indices: tuple[Expr, ...]
    predicate: Expr | None = None
    span: Span | None = None


@node
class For(Stmt):
    """A loop over ``min, min + step, ...``, ``extent`` being the length of the interval.

    ``kind`` is one of ``LOOP_KINDS``; ``thread`` is the thread tag of a bound loop; ``step`` None is 1.
    The loop is identified by its ``loop_var``.
    """

    _child_: ClassVar[tuple[str, ...]] = ("min", "extent", "body")
    _optional_: ClassVar[tuple[str, ...]] = ("step",)
    loop_var: Var
    min: Expr
    extent: Expr
    kind: str
    body: Stmt
    thread: str = ""
    annotations: Annotations = NONE
    step: Expr | None = None
    span: Span | None = None
    _memo: Any = None

    @property
    def thread_binding(self) -> IterVar | None:
        """The thread axis of a bound loop, as TVM has it."""
        if not self.thread:
            return None
        return IterVar(Var(self.thread, self.loop_var.dtype), None, "thread", self.thread)


@node
class While(Stmt):
    """``body`` as long as ``condition`` holds."""

    _child_: ClassVar[tuple[str, ...]] = ("condition", "body")
    condition: Expr
    body: Stmt
    span: Span | None = None


@node
class IfThenElse(Stmt):
    """``then_case`` where ``condition`` holds, else ``else_case`` if there is one."""

    _child_: ClassVar[tuple[str, ...]] = ("condition", "then_case")
    _optional_: ClassVar[tuple[str, ...]] = ("else_case",)
    condition: Expr
    then_case: Stmt
    else_case: Stmt | None = None
    span: Span | None = None


@node
class SeqStmt(Stmt):
    """Two or more statements in order; none of them is a SeqStmt (``seq`` builds it so)."""

    _children_: ClassVar[tuple[str, ...]] = ("seq",)
    seq: tuple[Stmt, ...]
    span: Span | None = None


@node
class LetStmt(Stmt):
    """``body`` with ``var`` standing for ``value``, evaluated once."""

    _child_: ClassVar[tuple[str, ...]] = ("value", "body")
    var: Var
    value: Expr
    body: Stmt
    span: Span | None = None


@node
class AttrStmt(Stmt):
    """``body`` with an attribute.  ``node`` is an Expr, a Buffer, an IterVar or another plain value.

    ``T.launch_thread(iv, extent)`` is the attribute ``thread_extent`` of the thread axis ``iv``; it
    defines ``iv.var`` in its body.
    """

    _child_: ClassVar[tuple[str, ...]] = ("value", "body")
    node: Any
    key: str
    value: Expr
    body: Stmt
    span: Span | None = None

    @property
    def attr_key(self) -> str:
        """The key, as TVM calls it."""
        return self.key


@node
class AssertStmt(Stmt):
    """An error with ``message`` unless ``condition`` holds."""

    _child_: ClassVar[tuple[str, ...]] = ("condition", "message")
    condition: Expr
    message: Expr
    span: Span | None = None


@node
class Evaluate(Stmt):
    """An expression for its effect.  ``Evaluate(0)`` is the empty statement; ``break`` and ``continue``
    are calls of the operators ``break_loop`` and ``continue_loop``, a return is a call of ``ret``."""

    _child_: ClassVar[tuple[str, ...]] = ("value",)
    value: Expr
    span: Span | None = None


@node
class Allocate(Stmt):
    """Memory for ``extents`` elements at the pointer ``buffer_var``, alive in ``body``."""

    _children_: ClassVar[tuple[str, ...]] = ("extents",)
    _child_: ClassVar[tuple[str, ...]] = ("condition", "body")
    buffer_var: Var
    dtype: str
    extents: tuple[Expr, ...]
    condition: Expr
    body: Stmt
    annotations: Annotations = NONE
    span: Span | None = None


@node
class AllocateConst(Stmt):
    """The constant ``data`` (a NumPy array of the shape ``extents``) at ``buffer_var``."""

    _children_: ClassVar[tuple[str, ...]] = ("extents",)
    _child_: ClassVar[tuple[str, ...]] = ("body",)
    buffer_var: Var
    dtype: str
    extents: tuple[Expr, ...]
    data: Any
    body: Stmt
    annotations: Annotations = NONE
    span: Span | None = None


@node
class DeclBuffer(Stmt):
    """``buffer``, a view of memory that is already there, is known in ``body``."""

    _child_: ClassVar[tuple[str, ...]] = ("body",)
    buffer: Buffer
    body: Stmt
    span: Span | None = None


@node
class BufferRealize(Stmt):
    """The region ``bounds`` of ``buffer`` is realized in ``body`` (``T.realize``)."""

    _children_: ClassVar[tuple[str, ...]] = ("bounds",)
    _child_: ClassVar[tuple[str, ...]] = ("condition", "body")
    buffer: Buffer
    bounds: tuple[Any, ...]
    condition: Expr
    body: Stmt
    span: Span | None = None


@node
class BlockLabel(Node):
    """The identity of a block, with the name that is printed.

    A renamed block gets a new label whose ``same_as`` is the label it had first: references to the block
    hold that one.
    """

    name: str
    same_as: BlockLabel | None = None


@node
class Block(Stmt):
    """A unit of computation over its axes: what it reads and writes, its init and its body.

    ``init`` runs once for every spatial instance, before its first update.  The block is identified by
    its ``label``; it stands in the tree inside a ``BlockRealize`` that binds the axes.
    """

    _children_: ClassVar[tuple[str, ...]] = ("iter_vars", "reads", "writes", "match_buffers")
    _optional_: ClassVar[tuple[str, ...]] = ("init",)
    _child_: ClassVar[tuple[str, ...]] = ("body",)
    label: BlockLabel
    iter_vars: tuple[IterVar, ...]
    reads: tuple[BufferRegion, ...]
    writes: tuple[BufferRegion, ...]
    body: Stmt
    init: Stmt | None = None
    alloc_buffers: tuple[Buffer, ...] = ()
    match_buffers: tuple[MatchBufferRegion, ...] = ()
    annotations: Annotations = NONE
    span: Span | None = None
    _memo: Any = None

    @property
    def name(self) -> str:
        return self.label.name

    @property
    def name_hint(self) -> str:
        """TVM's word for ``name``."""
        return self.label.name


@node
class BlockRealize(Stmt):
    """``block`` with its axes bound to ``iter_values``, run where ``predicate`` holds."""

    _children_: ClassVar[tuple[str, ...]] = ("iter_values",)
    _child_: ClassVar[tuple[str, ...]] = ("predicate", "block")
    iter_values: tuple[Expr, ...]
    predicate: Expr
    block: Block
    span: Span | None = None


def seq(*stmts: Stmt | None) -> Stmt:
    """The statements in order: nested sequences are flattened, one statement stands alone.

    Raises ValueError where there is none.
    """
    flat: list[Stmt] = []
    for s in stmts:
        if type(s) is SeqStmt:
            flat += s.seq
        elif s is not None:
            flat.append(s)
    if not flat:
        raise ValueError("a sequence needs at least one statement")
    return flat[0] if len(flat) == 1 else SeqStmt(tuple(flat))
