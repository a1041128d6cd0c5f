"""Structural equality and hashing: programs up to the identity of what they define.

Variables, buffers and labels are mapped where they are defined; spans are ignored, and names too unless
``names=True``.  A free variable equals only itself unless ``map_free_vars=True``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tirscript.diagnostics import Mark, TirscriptError, deep_recursion

from . import hooks
from .buffer import Buffer, BufferRegion, MatchBufferRegion
from .expr import BufferLoad, Call, CommReducer, FloatImm, GlobalVar, IntImm, IterVar, Let, Var
from .function import PrimFunc
from .index_map import IndexMap
from .module import IRModule
from .node import Node
from .stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockLabel,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    For,
    LetStmt,
)


class StructuralMismatch(TirscriptError, AssertionError, ValueError):
    """Two programs differ: the first difference, shown in both."""

    default_code = "structural-mismatch"


class _Different(Exception):
    """The first difference; the path and the pairs are filled in from the inside outwards."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.path: list[str] = []
        self.pairs: list[tuple[Any, Any]] = []


class _Comparer:
    def __init__(self, map_free: bool, names: bool) -> None:
        self.map_free = map_free
        self.names = names
        self.defining = False  # inside a buffer's definition, where a shape may define a variable
        self.forward: dict[Any, Any] = {}
        self.backward: dict[Any, Any] = {}

    # -- definitions and uses

    def define(self, a: Any, b: Any) -> None:
        """Map what ``a`` defines to what ``b`` defines; a later definition of the same object replaces."""
        if self.names and a.name != b.name:
            raise _Different(f"name `{a.name}` against `{b.name}`")
        self.forward[a] = b
        self.backward[b] = a

    def define_var(self, a: Var, b: Var) -> None:
        if a.dtype != b.dtype:
            raise _Different(f"dtype {a.dtype} against {b.dtype}")
        if a.exact is not b.exact:
            raise _Different("an exact integer against one that wraps")
        self.define(a, b)

    def define_pointer(self, a: Buffer, b: Buffer) -> None:
        if a.data not in self.forward and b.data not in self.backward:
            self.forward[a.data] = b.data
            self.backward[b.data] = a.data

    def var(self, a: Var, b: Var) -> None:
        to, back = self.forward.get(a), self.backward.get(b)
        if to is None and back is None:
            if self.defining and a is not b:
                self.define_var(a, b)
                return
            if self.map_free:
                if a.dtype != b.dtype:
                    raise _Different(f"dtype {a.dtype} against {b.dtype}")
                self.define(a, b)
                return
            if a is b:
                return
            raise _Different(f"the free variable `{a.name}` against `{b.name}`")
        if to is not b or back is not a:
            raise _Different(f"`{a.name}` against `{b.name}`")

    def buffer(self, a: Buffer, b: Buffer) -> None:
        """A use of a buffer."""
        to, back = self.forward.get(a), self.backward.get(b)
        if to is b and back is a:
            return
        if to is None and back is None and (a is b or self.map_free):
            if a is not b:
                self.define_buffer(a, b)
            return
        raise _Different(f"the buffer `{a.name}` against `{b.name}`")

    def define_buffer(self, a: Buffer, b: Buffer, *, shared: bool = False) -> None:
        """``shared``: the pointer is one that is defined elsewhere, so it must match."""
        if a is b and a in self.forward:
            return
        if a.dtype != b.dtype:
            raise _Different(f"buffer dtype {a.dtype} against {b.dtype}")
        for field in ("scope", "align", "offset_factor", "buffer_type", "axis_separators"):
            x, y = getattr(a, field), getattr(b, field)
            if x != y:
                raise _Different(f"buffer {field} {x!r} against {y!r}")
        self.define(a, b)
        before, self.defining = self.defining, True
        try:
            self.step("shape", lambda: self.nodes(a.shape, b.shape))
            self.step("strides", lambda: self.nodes(a.strides, b.strides))
            self.step("elem_offset", lambda: self.maybe(_offset(a), _offset(b)))
        finally:
            self.defining = before
        if shared:
            self.step("data", lambda: self.var(a.data, b.data))
        else:
            self.define_pointer(a, b)

    # -- structure

    def step(self, name: str, compare: Callable[[], None]) -> None:
        try:
            compare()
        except _Different as d:
            d.path.append(name)
            raise

    def maybe(self, a: Node | None, b: Node | None) -> None:
        if a is None or b is None:
            if a is not b:
                raise _Different("present on one side only")
            return
        self.node(a, b)

    def nodes(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> None:
        for i in range(min(len(a), len(b))):
            try:
                self.node(a[i], b[i])
            except _Different as d:
                d.path.append(f"[{i}]")
                raise
        if len(a) != len(b):
            raise _Different(f"{len(a)} against {len(b)} items")

    def value(self, a: Any, b: Any) -> None:
        """Attributes and annotations."""
        if isinstance(a, Buffer) and isinstance(b, Buffer):
            self.buffer(a, b)
        elif isinstance(a, IterVar) and isinstance(b, IterVar):
            self.define_var(a.var, b.var)
            if (a.kind, a.thread_tag) != (b.kind, b.thread_tag):
                raise _Different(f"axis {a.thread_tag or a.kind} against {b.thread_tag or b.kind}")
            self.maybe(a.dom, b.dom)
        elif isinstance(a, PrimFunc) and isinstance(b, PrimFunc):
            self.function(a, b)
        elif isinstance(a, Node) and isinstance(b, Node):
            self.node(a, b)
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            self.mapping(a, b)
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            for i in range(min(len(a), len(b))):
                self.step(f"[{i}]", lambda i=i: self.value(a[i], b[i]))  # type: ignore[misc]
            if len(a) != len(b):
                raise _Different(f"{len(a)} against {len(b)} items")
        elif isinstance(a, IndexMap) and isinstance(b, IndexMap):
            if len(a.initial_indices) != len(b.initial_indices):
                raise _Different(f"{len(a.initial_indices)} against {len(b.initial_indices)} indices")
            for x, y in zip(a.initial_indices, b.initial_indices, strict=True):
                self.define_var(x, y)
            self.value(a.final_indices, b.final_indices)
            self.value(a.inverse_index_map, b.inverse_index_map)
        elif hasattr(a, "tobytes") and hasattr(b, "tobytes"):
            if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
                raise _Different("different constant data")
        elif isinstance(a, float) and isinstance(b, float):
            if not _same_float(a, b):
                raise _Different(f"{a!r} against {b!r}")
        elif isinstance(a, Node) or isinstance(b, Node) or not _same_plain(a, b):
            raise _Different(f"{_plain(a)} against {_plain(b)}")

    def mapping(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
        for key in a.keys() | b.keys():
            if key not in a or key not in b:
                raise _Different(f"the key {key!r} is on one side only")
        for key in sorted(a, key=str):
            self.step(f"[{key!r}]", lambda key=key: self.value(a[key], b[key]))  # type: ignore[misc]

    def node(self, a: Any, b: Any) -> None:
        t = type(a)
        if t is not type(b):
            raise _Different(f"{t.__name__} against {type(b).__name__}")
        if t is Var:
            self.var(a, b)
            return
        if a is b and t is IntImm:
            return
        try:
            special = _SPECIAL.get(t)
            if special is not None:
                special(self, a, b)
            else:
                self.fields(a, b)
        except _Different as d:
            d.pairs.append((a, b))
            raise

    def fields(self, a: Any, b: Any, skip: tuple[str, ...] = ()) -> None:
        """Every field in order, children by structure, the rest by value."""
        for name in a._fields_:
            if name == "span" or name == "_memo" or name in skip:
                continue
            x, y = getattr(a, name), getattr(b, name)
            try:
                if name in a._children_:
                    self.nodes(x, y)
                elif name in a._child_:
                    self.node(x, y)
                elif name in a._optional_:
                    self.maybe(x, y)
                elif x is not y and not _same_plain(x, y):
                    raise _Different(f"{_plain(x)} against {_plain(y)}")
            except _Different as d:
                d.path.append(name)
                raise

    def float_imm(self, a: FloatImm, b: FloatImm) -> None:
        if a.dtype != b.dtype or not _same_float(a.value, b.value):
            raise _Different(f"{a.dtype} {a.value!r} against {b.dtype} {b.value!r}")

    def access(self, a: Any, b: Any) -> None:
        self.buffer(a.buffer, b.buffer)
        self.fields(a, b, ("buffer",))

    def global_var(self, a: GlobalVar, b: GlobalVar) -> None:
        if a.name != b.name:
            raise _Different(f"the function `{a.name}` against `{b.name}`")

    def call(self, a: Call, b: Call) -> None:
        if a.dtype != b.dtype:
            raise _Different(f"dtype {a.dtype} against {b.dtype}")
        if isinstance(a.op, GlobalVar) and isinstance(b.op, GlobalVar):
            self.global_var(a.op, b.op)
        elif isinstance(a.op, GlobalVar) or isinstance(b.op, GlobalVar) or a.op != b.op:
            raise _Different(f"{_plain(a.op)} against {_plain(b.op)}")
        self.step("args", lambda: self.nodes(a.args, b.args))

    def let(self, a: Any, b: Any) -> None:
        self.step("value", lambda: self.node(a.value, b.value))
        self.define_var(a.var, b.var)
        self.step("body", lambda: self.node(a.body, b.body))

    def loop(self, a: For, b: For) -> None:
        if a.kind != b.kind or a.thread != b.thread:
            raise _Different(f"a {a.thread or a.kind} loop against a {b.thread or b.kind} one")
        self.step("min", lambda: self.node(a.min, b.min))
        self.step("extent", lambda: self.node(a.extent, b.extent))
        self.step("step", lambda: self.maybe(a.step, b.step))
        self.step("annotations", lambda: self.mapping(a.annotations, b.annotations))
        self.step("loop_var", lambda: self.define_var(a.loop_var, b.loop_var))
        self.step("body", lambda: self.node(a.body, b.body))

    def axis(self, a: IterVar, b: IterVar) -> None:
        if a.kind != b.kind or a.thread_tag != b.thread_tag:
            raise _Different(f"a {a.kind} axis against a {b.kind} one")
        self.step("dom", lambda: self.maybe(a.dom, b.dom))
        self.define_var(a.var, b.var)

    def block(self, a: Block, b: Block) -> None:
        if self.names and a.label.name != b.label.name:
            raise _Different(f"the block {a.label.name!r} against {b.label.name!r}")
        self.forward[a.label] = b.label
        self.step("iter_vars", lambda: self.nodes(a.iter_vars, b.iter_vars))
        if len(a.alloc_buffers) != len(b.alloc_buffers):
            raise _Different(f"{len(a.alloc_buffers)} against {len(b.alloc_buffers)} allocated buffers")
        for x, y in zip(a.alloc_buffers, b.alloc_buffers, strict=True):
            self.step("alloc_buffers", lambda x=x, y=y: self.define_buffer(x, y))  # type: ignore[misc]
        self.step("match_buffers", lambda: self.nodes(a.match_buffers, b.match_buffers))
        self.step("annotations", lambda: self.mapping(a.annotations, b.annotations))
        self.step("reads", lambda: self.nodes(a.reads, b.reads))
        self.step("writes", lambda: self.nodes(a.writes, b.writes))
        self.step("init", lambda: self.maybe(a.init, b.init))
        self.step("body", lambda: self.node(a.body, b.body))

    def matched(self, a: MatchBufferRegion, b: MatchBufferRegion) -> None:
        self.step("source", lambda: self.node(a.source, b.source))
        self.step("buffer", lambda: self.define_buffer(a.buffer, b.buffer))

    def allocate(self, a: Any, b: Any) -> None:
        if a.dtype != b.dtype:
            raise _Different(f"dtype {a.dtype} against {b.dtype}")
        scopes = [v.pointee[1] if v.pointee else "global" for v in (a.buffer_var, b.buffer_var)]
        if scopes[0] != scopes[1]:
            raise _Different(f"scope {scopes[0]} against {scopes[1]}")
        self.step("extents", lambda: self.nodes(a.extents, b.extents))
        if type(a) is Allocate:
            self.step("condition", lambda: self.node(a.condition, b.condition))
        else:
            self.step("data", lambda: self.value(a.data, b.data))
        self.step("annotations", lambda: self.mapping(a.annotations, b.annotations))
        self.define_var(a.buffer_var, b.buffer_var)
        self.step("body", lambda: self.node(a.body, b.body))

    def declared(self, a: DeclBuffer, b: DeclBuffer) -> None:
        self.step("buffer", lambda: self.define_buffer(a.buffer, b.buffer, shared=True))
        self.step("body", lambda: self.node(a.body, b.body))

    def realized(self, a: BufferRealize, b: BufferRealize) -> None:
        self.step("buffer", lambda: self.define_buffer(a.buffer, b.buffer))
        self.fields(a, b, ("buffer",))

    def attr(self, a: AttrStmt, b: AttrStmt) -> None:
        if a.key != b.key:
            raise _Different(f"attribute {a.key!r} against {b.key!r}")
        self.step("node", lambda: self.value(a.node, b.node))
        self.step("value", lambda: self.node(a.value, b.value))
        self.step("body", lambda: self.node(a.body, b.body))

    def reducer(self, a: CommReducer, b: CommReducer) -> None:
        if len(a.lhs) != len(b.lhs):
            raise _Different(f"{len(a.lhs)} against {len(b.lhs)} values")
        for x, y in zip((*a.lhs, *a.rhs), (*b.lhs, *b.rhs), strict=True):
            self.define_var(x, y)
        self.fields(a, b, ("lhs", "rhs"))

    def function(self, a: PrimFunc, b: PrimFunc) -> None:
        if len(a.params) != len(b.params):
            raise _Different(f"{len(a.params)} against {len(b.params)} parameters")
        for p, q in zip(a.params, b.params, strict=True):
            x, y = a.buffer_map.get(p), b.buffer_map.get(q)
            if (x is None) != (y is None):
                raise _Different("a buffer against a plain parameter")
            if x is None:
                if p.pointee != q.pointee:
                    raise _Different(f"parameter {p.name}: pointer to {p.pointee} against {q.pointee}")
                self.step("params", lambda p=p, q=q: self.define_var(p, q))  # type: ignore[misc]
            else:  # the pointer of a matched buffer has no name of its own
                self.forward[p], self.backward[q] = q, p
        for p, q in zip(a.params, b.params, strict=True):
            if p in a.buffer_map:
                x, y = a.buffer_map[p], b.buffer_map[q]
                self.step(f"buffer_map[{x.name}]", lambda x=x, y=y: self.define_buffer(x, y))  # type: ignore[misc]
        if a.ret_type != b.ret_type:
            raise _Different(f"returns {a.ret_type} against {b.ret_type}")
        self.step("attrs", lambda: self.mapping(a.attrs, b.attrs))
        self.step("body", lambda: self.node(a.body, b.body))

    def module(self, a: IRModule, b: IRModule) -> None:
        for name in [*a.names(), *b.names()]:
            if name not in a or name not in b:
                raise _Different(f"the function `{name}` is on one side only")
        self.step("attrs", lambda: self.mapping(a.attrs, b.attrs))
        for name, function in a.items():
            self.step(name, lambda f=function, n=name: self.node(f, b[n]))  # type: ignore[misc]

    def any(self, a: Any, b: Any) -> None:
        if isinstance(a, IRModule) and isinstance(b, IRModule):
            self.module(a, b)
        elif isinstance(a, Buffer) and isinstance(b, Buffer):
            self.define_buffer(a, b)
        else:
            self.value(a, b)


def _offset(buffer: Buffer) -> Any:
    """The offset, None where it is the constant 0."""
    offset = buffer.elem_offset
    return None if isinstance(offset, IntImm) and offset.value == 0 else offset


def _same_float(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)


def _same_plain(a: Any, b: Any) -> bool:
    if isinstance(a, Node) or isinstance(b, Node):
        return a is b
    if isinstance(a, bool) is not isinstance(b, bool):
        return False
    return bool(a == b)


def _plain(value: Any) -> str:
    return type(value).__name__ if isinstance(value, Node) else repr(value)


_SPECIAL: dict[type, Callable[[_Comparer, Any, Any], None]] = {
    FloatImm: _Comparer.float_imm,
    BufferLoad: _Comparer.access,
    BufferStore: _Comparer.access,
    BufferRegion: _Comparer.access,
    GlobalVar: _Comparer.global_var,
    Call: _Comparer.call,
    Let: _Comparer.let,
    LetStmt: _Comparer.let,
    For: _Comparer.loop,
    IterVar: _Comparer.axis,
    Block: _Comparer.block,
    MatchBufferRegion: _Comparer.matched,
    Allocate: _Comparer.allocate,
    AllocateConst: _Comparer.allocate,
    DeclBuffer: _Comparer.declared,
    BufferRealize: _Comparer.realized,
    AttrStmt: _Comparer.attr,
    CommReducer: _Comparer.reducer,
    PrimFunc: _Comparer.function,
    Buffer: _Comparer.buffer,
    BlockLabel: lambda self, a, b: None,
}


def structural_equal(a: Any, b: Any, map_free_vars: bool = False, *, names: bool = False) -> bool:
    """Whether two programs (functions, modules, statements, expressions) are the same up to what they define.

    ``names=True`` also compares the names of variables, axes, buffers and blocks.

    >>> from tirscript.ir.expr import Let, Var, const_int
    >>> x, y = Var("x"), Var("y")
    >>> structural_equal(Let(x, const_int(1), x + 2), Let(y, const_int(1), y + 2))
    True
    >>> structural_equal(x + 2, y + 2), structural_equal(x + 2, y + 2, map_free_vars=True)
    (False, True)
    """
    try:
        with deep_recursion():
            _Comparer(map_free_vars, names).any(a, b)
    except _Different:
        return False
    return True


def assert_structural_equal(a: Any, b: Any, map_free_vars: bool = False, *, names: bool = False) -> None:
    """Raise StructuralMismatch (an AssertionError and a ValueError) at the first difference."""
    try:
        with deep_recursion():
            _Comparer(map_free_vars, names).any(a, b)
        return
    except _Different as different:
        d = different
    path = ""
    for part in reversed(d.path):
        path += part if part.startswith("[") else f".{part}" if path else part
    raise StructuralMismatch(
        f"the programs differ at {path or 'the top'}: {d.reason}",
        marks=[*_marks(a, d, 0), *_marks(b, d, 1)],
        hint="names are compared too" if names and d.reason.startswith("name") else None,
    )


def _marks(program: Any, d: _Different, side: int) -> list[Mark]:
    """The innermost printed node of one side of the difference."""
    if not isinstance(program, (PrimFunc, IRModule, Node)):
        return []
    spans = hooks.call("render", program, sugar=False, name=("left", "right")[side]).spans
    for pair in d.pairs:
        span = spans.get(pair[side])
        if span is not None:
            return [Mark(span, d.reason.partition(" against ")[0] if side == 0 else "")]
    return []


def structural_hash(program: Any, map_free_vars: bool = False) -> int:
    """A hash that structurally equal programs share.

    >>> from tirscript.ir.expr import Let, Var, const_int
    >>> x, y = Var("x"), Var("y")
    >>> structural_hash(Let(x, const_int(1), x)) == structural_hash(Let(y, const_int(1), y))
    True
    """
    numbers: dict[Any, int] = {}

    def number(token: Any) -> int:
        return numbers.setdefault(token, len(numbers))

    def of(value: Any) -> Any:
        if isinstance(value, Var):
            if value in numbers or map_free_vars:
                return ("var", number(value), value.dtype)
            return ("free", id(value))
        if isinstance(value, Buffer):
            if value in numbers:
                return ("buffer", numbers[value])
            number(value)
            number(value.data)
            for e in (*value.shape, *value.strides):
                if isinstance(e, Var):
                    number(e)
            return (value.dtype, value.scope, of(value.shape), of(value.strides), of(_offset(value)))
        if isinstance(value, GlobalVar):
            return ("global", value.name)
        if isinstance(value, IRModule):
            return tuple(sorted((name, structural_hash(f)) for name, f in value.items()))
        if isinstance(value, PrimFunc):
            for p in value.params:
                number(p)
            return (*[of(b) for b in value.buffers], value.ret_type, of(value.attrs), of(value.body))
        if isinstance(value, Node):
            if isinstance(value, (For, Let, LetStmt)):
                number(value.loop_var if isinstance(value, For) else value.var)
            elif isinstance(value, IterVar):
                number(value.var)
            elif isinstance(value, (Allocate, AllocateConst)):
                number(value.buffer_var)
            elif isinstance(value, CommReducer):
                for v in (*value.lhs, *value.rhs):
                    number(v)
            elif isinstance(value, Block):
                for b in value.alloc_buffers:
                    of(b)
            elif isinstance(value, BlockLabel):
                return 0
            parts = [of(getattr(value, f)) for f in value._fields_ if f not in ("span", "_memo", "label")]
            return hash((type(value).__name__, *parts))
        if isinstance(value, Mapping):
            return tuple(sorted((str(k), hash(of(v))) for k, v in value.items()))
        if isinstance(value, (list, tuple)):
            return hash(tuple([of(v) for v in value]))
        if isinstance(value, IndexMap):
            for v in value.initial_indices:
                number(v)
            return hash(("IndexMap", of(value.final_indices), of(value.inverse_index_map)))
        if hasattr(value, "tobytes"):
            return hash(value.tobytes())
        if isinstance(value, float) and math.isnan(value):
            return "nan"
        return value

    with deep_recursion():
        return hash(of(program))
