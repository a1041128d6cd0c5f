"""Walking and rewriting trees: free variables, substitution, fresh copies.

A visitor needs no base class: ``walk`` yields nodes, ``map_children`` rewrites.  What is here knows which
fields *define* variables, buffers and labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .buffer import Buffer, BufferRegion, MatchBufferRegion
from .expr import (
    Add,
    BufferLoad,
    CommReducer,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    IterVar,
    Let,
    Mul,
    Range,
    StringImm,
    Sub,
    Var,
)
from .function import PrimFunc
from .node import Node, memo_of, walk
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

__all__ = [
    "buffer_exprs", "defined_tokens", "free_vars", "fresh_copy", "post_order", "substitute", "walk",
]  # fmt: skip

N = TypeVar("N", bound=Node)
_LEAVES = frozenset({IntImm, FloatImm, StringImm, GlobalVar})
_ARITHMETIC = frozenset({Add, Sub, Mul, FloorDiv, FloorMod})
_EMPTY: frozenset[Var] = frozenset()


def post_order(root: Node, visit: Callable[[Node], None]) -> None:
    """Call ``visit`` on every node, children first; no recursion."""
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        n, seen = stack.pop()
        if seen:
            visit(n)
            continue
        stack.append((n, True))
        stack.extend([(child, False) for child in reversed(n.children())])


def buffer_exprs(buffer: Buffer) -> tuple[Expr, ...]:
    """The expressions that a buffer is made of: shape, strides and offset (not the pointer)."""
    offset = () if buffer.elem_offset is None else (buffer.elem_offset,)
    return (*buffer.shape, *buffer.strides, *offset)


# ---- free variables


def free_vars(n: Node) -> frozenset[Var]:
    """The variables that are used in ``n`` and not defined in it, pointers and shapes of buffers included.

    Memoised on blocks, loops and functions.
    """
    t = type(n)
    if t is For or t is Block or t is PrimFunc:
        memo = memo_of(n)
        found: frozenset[Var] | None = memo.get("free_vars")
        if found is None:
            out: set[Var] = set()
            _collect_scope(n, out)
            found = memo["free_vars"] = frozenset(out)
        return found
    out = set()
    _collect(n, out)
    return frozenset(out)


def _collect(n: Any, out: set[Var]) -> None:
    t = type(n)
    if t is Var:
        out.add(n)
    elif t in _LEAVES:
        pass
    elif t in _ARITHMETIC:
        e = n.a
        if type(e) is Var:
            out.add(e)
        else:
            _collect(e, out)
        e = n.b
        if type(e) is Var:
            out.add(e)
        elif type(e) is not IntImm:
            _collect(e, out)
    elif t is For or t is Block:
        out |= free_vars(n)
    elif t in _SCOPES:
        _collect_scope(n, out)
    elif t is BufferLoad or t is BufferStore:
        _collect_buffer(n.buffer, out)
        for i in n.indices:
            if type(i) is Var:
                out.add(i)
            elif type(i) is not IntImm:
                _collect(i, out)
        if t is BufferStore:
            _collect(n.value, out)
        if n.predicate is not None:
            _collect(n.predicate, out)
    elif t is BufferRegion:
        _collect_buffer(n.buffer, out)
        for r in n.region:
            low, extent = r.min, r.extent
            if type(low) is Var:
                out.add(low)
            elif type(low) is not IntImm:
                _collect(low, out)
            if type(extent) is not IntImm:
                _collect(extent, out)
    elif t is IterVar:
        dom = n.dom
        if dom is not None and (type(dom.min) is not IntImm or type(dom.extent) is not IntImm):
            _collect(dom, out)
    else:
        for child in n.children():
            _collect(child, out)


def _collect_buffer(buffer: Buffer, out: set[Var]) -> None:
    out.add(buffer.data)
    for e in buffer_exprs(buffer):
        if type(e) is not IntImm:
            _collect(e, out)


def _collect_value(value: Any, out: set[Var]) -> None:
    """The variables in a plain value: an annotation or an attribute's node."""
    if isinstance(value, Buffer):
        _collect_buffer(value, out)
    elif isinstance(value, Node):
        if not isinstance(value, IterVar):
            _collect(value, out)
    elif isinstance(value, Mapping):
        for v in value.values():
            _collect_value(v, out)
    elif isinstance(value, (list, tuple)):
        for v in value:
            _collect_value(v, out)


def _collect_scope(n: Any, out: set[Var]) -> None:
    """The free variables of a node that defines some."""
    t = type(n)
    inner: set[Var] = set()
    for child in n.children():
        _collect(child, inner)
    if t is For:
        _collect_value(n.annotations, inner)
        inner.discard(n.loop_var)
    elif t is Let or t is LetStmt:
        inner.discard(n.var)
        _collect(n.value, inner)
    elif t is Block:
        _collect_value(n.annotations, inner)
        for b in n.alloc_buffers:
            _collect_buffer(b, inner)
        for b in n.alloc_buffers:
            inner.discard(b.data)
        for m in n.match_buffers:
            for e in buffer_exprs(m.buffer):
                if type(e) is Var and e not in _outer_vars(m.source):
                    inner.discard(e)
            inner.discard(m.buffer.data)
        for iv in n.iter_vars:
            inner.discard(iv.var)
    elif t is Allocate or t is AllocateConst:
        _collect_value(n.annotations, inner)
        inner.discard(n.buffer_var)
    elif t is DeclBuffer:
        _collect_buffer(n.buffer, inner)
    elif t is BufferRealize:
        _collect_buffer(n.buffer, inner)
        inner.discard(n.buffer.data)
    elif t is AttrStmt:
        if isinstance(n.node, IterVar):
            inner.discard(n.node.var)
        else:
            _collect_value(n.node, inner)
    elif t is CommReducer:
        inner.difference_update(n.lhs, n.rhs)
    elif t is PrimFunc:
        for b in n.buffer_map.values():
            inner.discard(b.data)
            for e in buffer_exprs(b):
                if type(e) is not IntImm:
                    inner.difference_update([v for v in walk(e) if type(v) is Var])
        inner.difference_update(n.params)
    out |= inner


def _outer_vars(source: BufferRegion) -> set[Var]:
    out: set[Var] = set()
    for r in source.region:
        _collect(r, out)
    return out


_SCOPES = frozenset(
    {
        For,
        Let,
        LetStmt,
        Block,
        Allocate,
        AllocateConst,
        DeclBuffer,
        BufferRealize,
        AttrStmt,
        CommReducer,
        PrimFunc,
    }
)


# ---- substitution


def substitute(root: N, variables: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer] | None = None) -> N:
    """``root`` with variables and buffers replaced.

    A buffer whose shape, strides, offset or pointer mention a replaced variable is replaced by a new one,
    at its declaration and at its uses.  Subtrees that mention none of the variables are kept as they are.
    """
    t = type(root)
    if t is Var:
        return variables.get(root, root)  # type: ignore[call-overload,no-any-return]
    if t is IntImm or (not variables and not buffers):
        return root
    return _substitute(root, variables, buffers or {}, skip=not buffers)


def substituter(variables: Mapping[Var, Expr]) -> Callable[[Any], Any]:
    """``substitute`` for several nodes in turn, which share what it finds out about buffers."""
    return _substituter(variables, {}, skip=True)


def _substitute(root: N, variables: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer], skip: bool) -> N:
    return _substituter(variables, buffers, skip)(root)  # type: ignore[no-any-return]


def _substituter(
    variables: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer], skip: bool
) -> Callable[[Any], Any]:
    keys = variables.keys()
    value = variables.get
    known: dict[Buffer, Buffer] = dict(buffers)

    def buffer(b: Buffer) -> Buffer:
        new = known.get(b)
        if new is None:
            new = known[b] = _map_buffer(b, f)
        return new

    def each(items: tuple[Any, ...]) -> tuple[Any, ...]:
        new = [value(e, e) if type(e) is Var else f(e) for e in items]
        for a, b in zip(new, items, strict=True):
            if a is not b:
                return tuple(new)
        return items

    def f(n: Any) -> Any:
        t = type(n)
        if t is Var:
            return value(n, n)
        if t in _LEAVES:
            return n
        if t in _ARITHMETIC:
            a, b = f(n.a), f(n.b)
            return n if a is n.a and b is n.b else t(a, b, n.span)
        if t is BufferLoad or t is BufferStore:
            b = n.buffer
            new = known.get(b)
            if new is None:
                new = buffer(b)
            stored: Any = None if t is BufferLoad else f(n.value)
            indices = each(n.indices)
            predicate = None if n.predicate is None else f(n.predicate)
            if indices is n.indices and new is b and predicate is n.predicate:
                if t is BufferLoad or stored is n.value:
                    return n
            if t is BufferLoad:
                return BufferLoad(new, indices, predicate, n.span)
            return BufferStore(new, stored, indices, predicate, n.span)
        if t is BufferRegion:
            b = n.buffer
            new = known.get(b)
            if new is None:
                new = buffer(b)
            changed = new is not b
            ranges = []
            for r in n.region:
                low, extent = r.min, r.extent
                x = value(low, low) if type(low) is Var else f(low)
                y = extent if type(extent) is IntImm else f(extent)
                if x is not low or y is not extent:
                    changed = True
                    r = Range(x, y)
                ranges.append(r)
            return BufferRegion(new, tuple(ranges), n.span) if changed else n
        if t is Range:
            low, extent = f(n.min), n.extent
            if type(extent) is not IntImm:
                extent = f(extent)
            return n if low is n.min and extent is n.extent else Range(low, extent)
        if skip and (t is For or t is Block) and keys.isdisjoint(free_vars(n)):
            return n
        made = n.map_children(f)
        rewrite = _FIELDS.get(t)
        return made if rewrite is None else rewrite(made, f, buffer)

    return f


def _map_buffer(b: Buffer, f: Callable[[Any], Any]) -> Buffer:
    if not b.strides and b.elem_offset is None:
        for e in b.shape:
            if type(e) is not IntImm:
                break
        else:
            data = f(b.data)
            return b if data is b.data or type(data) is not Var else b.replace(data=data)
    shape = tuple([f(e) for e in b.shape])
    strides = tuple([f(e) for e in b.strides])
    offset = None if b.elem_offset is None else f(b.elem_offset)
    data = f(b.data)
    same = all(x is y for x, y in zip((*shape, *strides), (*b.shape, *b.strides), strict=True))
    if same and offset is b.elem_offset and data is b.data:
        return b
    if type(data) is not Var:
        data = b.data
    return b.replace(shape=shape, strides=strides, elem_offset=offset, data=data)


def _map_value(value: Any, f: Callable[[Any], Any], buffer: Callable[[Buffer], Buffer]) -> Any:
    if isinstance(value, Buffer):
        return buffer(value)
    if isinstance(value, Expr):
        return f(value)
    if isinstance(value, Mapping):
        new = {k: _map_value(v, f, buffer) for k, v in value.items()}
        return value if all(new[k] is v for k, v in value.items()) else new
    if isinstance(value, (list, tuple)):
        items = [_map_value(v, f, buffer) for v in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)
    return value


def _annotated(n: Any, f: Callable[[Any], Any], buffer: Callable[[Buffer], Buffer]) -> Any:
    if not n.annotations:
        return n
    new = _map_value(n.annotations, f, buffer)
    return n if new is n.annotations else n.replace(annotations=new)


def _block(n: Block, f: Callable[[Any], Any], buffer: Callable[[Buffer], Buffer]) -> Block:
    n = _annotated(n, f, buffer)
    if n.alloc_buffers:
        allocated = tuple([buffer(b) for b in n.alloc_buffers])
        if any(a is not b for a, b in zip(allocated, n.alloc_buffers, strict=True)):
            n = n.replace(alloc_buffers=allocated)
    return n


def _holder(n: Any, f: Callable[[Any], Any], buffer: Callable[[Buffer], Buffer]) -> Any:
    b = buffer(n.buffer)
    return n if b is n.buffer else n.replace(buffer=b)


def _attr(n: AttrStmt, f: Callable[[Any], Any], buffer: Callable[[Buffer], Buffer]) -> AttrStmt:
    new = _map_value(n.node, f, buffer)
    return n if new is n.node else n.replace(node=new)


_FIELDS: dict[type, Callable[..., Any]] = {
    For: _annotated,
    Block: _block,
    Allocate: _annotated,
    AllocateConst: _annotated,
    DeclBuffer: _holder,
    BufferRealize: _holder,
    MatchBufferRegion: _holder,
    AttrStmt: _attr,
}


# ---- definitions


def defined_tokens(root: Node) -> list[Var | BlockLabel | Buffer]:
    """Every variable, block label and buffer that ``root`` defines inside, in pre-order."""
    out: list[Var | BlockLabel | Buffer] = []
    for n in walk(root):
        t = type(n)
        if t is For:
            out.append(n.loop_var)  # type: ignore[attr-defined]
        elif t is Let or t is LetStmt:
            out.append(n.var)  # type: ignore[attr-defined]
        elif t is IterVar:
            out.append(n.var)  # type: ignore[attr-defined]
        elif t is Block:
            assert isinstance(n, Block)
            out.append(n.label)
            out += n.alloc_buffers
            out += [b.data for b in n.alloc_buffers]
            for m in n.match_buffers:
                outer = _outer_vars(m.source)
                out.append(m.buffer)
                out.append(m.buffer.data)
                seen: set[Var] = set()
                for e in buffer_exprs(m.buffer):
                    if type(e) is Var and e not in outer and e not in seen:
                        seen.add(e)
                        out.append(e)
        elif t is Allocate or t is AllocateConst:
            out.append(n.buffer_var)  # type: ignore[attr-defined]
        elif t is DeclBuffer:
            out.append(n.buffer)  # type: ignore[attr-defined]
        elif t is BufferRealize:
            out += [n.buffer, n.buffer.data]  # type: ignore[attr-defined]
        elif t is AttrStmt and isinstance(n.node, IterVar):  # type: ignore[attr-defined]
            out.append(n.node.var)  # type: ignore[attr-defined]
        elif t is CommReducer:
            out += [*n.lhs, *n.rhs]  # type: ignore[attr-defined]
    return out


def fresh_copy(root: N) -> N:
    """A copy that shares no definition with ``root``: variables, axes, labels and buffers are new."""
    variables: dict[Var, Var] = {}
    labels: dict[BlockLabel, BlockLabel] = {}
    own: list[Buffer] = []
    for token in defined_tokens(root):
        if isinstance(token, Var):
            variables[token] = token.replace()
        elif isinstance(token, BlockLabel):
            labels[token] = BlockLabel(token.name)
        else:
            own.append(token)
    if isinstance(root, PrimFunc):
        for p in root.params:
            variables.setdefault(p, p.replace())
        for b in root.buffer_map.values():
            own.append(b)
            variables.setdefault(b.data, b.data.replace())
            for e in buffer_exprs(b):
                for v in walk(e):
                    if type(v) is Var and v not in variables:
                        variables[v] = v.replace()

    if not (variables or labels or own) and not isinstance(root, PrimFunc):
        return root  # defines nothing

    def var(e: Any) -> Any:
        return variables.get(e, e) if type(e) is Var else e.map_children(var)

    # In order of definition: a view's pointer may be a buffer's own.
    buffers: dict[Buffer, Buffer] = {}
    for b in own:
        new = _map_buffer(b, var)
        buffers[b] = b.replace() if new is b else new
    # Loops and blocks bind what is renamed here, so none may be skipped for having no free variable of it.
    copy = _substitute(root, variables, buffers, skip=False)
    return _renew(copy, variables, labels, buffers)  # type: ignore[no-any-return]


def _renew(
    root: Any,
    variables: Mapping[Var, Var],
    labels: Mapping[BlockLabel, BlockLabel],
    buffers: Mapping[Buffer, Buffer],
) -> Any:
    def f(n: Any) -> Any:
        new = n.map_children(f)
        t = type(n)
        if t is For:
            return new.replace(loop_var=variables[n.loop_var])
        if t is Let or t is LetStmt or (t is IterVar and n.var in variables):
            return new.replace(var=variables[n.var])
        if t is Block:
            return new.replace(label=labels[n.label])
        if t is Allocate or t is AllocateConst:
            return new.replace(buffer_var=variables[n.buffer_var])
        if t is AttrStmt and isinstance(n.node, IterVar):
            return new.replace(node=n.node.replace(var=variables[n.node.var]))
        if t is CommReducer:
            return new.replace(
                lhs=tuple([variables[v] for v in n.lhs]), rhs=tuple([variables[v] for v in n.rhs])
            )
        return new

    if isinstance(root, PrimFunc):
        return root.replace(
            params=tuple([variables[p] for p in root.params]),
            buffer_map={variables[p]: buffers[b] for p, b in root.buffer_map.items()},
            body=f(root.body),
        )
    return f(root)
