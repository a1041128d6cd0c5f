"""What happens to the padding of a layout: who writes it, or what is assumed of it."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import accesses
from tirscript.arith.analyzer import Analyzer
from tirscript.ir.buffer import Buffer, point
from tirscript.ir.expr import (
    EQ,
    TRUE,
    BufferLoad,
    Call,
    Cast,
    Expr,
    IntImm,
    IterVar,
    Not,
    Or,
    Range,
    Var,
    const_int,
)
from tirscript.ir.index_map import IndexMap
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, Evaluate, For, SeqStmt, Stmt
from tirscript.ir.visitor import free_vars, substitute

from ..legality.moves import with_regions
from ..legality.prove import same
from ..names import free_name, names_around, names_inside
from ..refs import StmtSRef
from .layouts import Relayout, simplify_accesses


class Padding:
    """The two layouts of a buffer, where the elements of the new one come from, and what pads it."""

    def __init__(self, old: Buffer, new: Buffer, back: IndexMap, where: Expr, value: Expr) -> None:
        self.old = old
        self.new = new
        self.back = back
        self.where = where
        self.value = value

    def at(self, axes: list[Var]) -> tuple[Expr, Expr]:
        """The condition and the value for axes of a block."""
        put: dict[Var, Expr] = dict(zip(self.back.initial_indices, axes, strict=True))
        return substitute(self.where, put), substitute(self.value, put)

    @property
    def undefined(self) -> bool:
        return type(self.value) is Call and self.value.op == "undef"


def with_padding(home: StmtSRef, root: Any, change: Relayout, padding: Padding, param: bool) -> Stmt:
    """``root``, the statement at ``home`` with the new layout, and what its padding needs."""
    nests = _writers(root, padding.new)
    if not nests:
        if not param or padding.undefined:
            return root  # type: ignore[no-any-return]
        return _inserted(root, 0, _assumption(home, padding))
    if len(nests) == 1:
        nest = nests[0]
        made = _over_new_shape(nest, change, padding, home)
        if made is not None:
            whole: Stmt = _put(root, nest, made)
            return whole
    if padding.undefined:
        return root  # type: ignore[no-any-return]
    body = root.block.body
    parts = body.seq if type(body) is SeqStmt else (body,)
    last = max(n for n, s in enumerate(parts) if _writers(s, padding.new))
    return _inserted(root, last + 1, _filler(home, padding))


def _writers(root: Stmt, buffer: Buffer) -> list[Stmt]:
    """The outermost loops (or blocks) right above each store to the buffer, with nothing between."""
    out: list[Stmt] = []
    stack: list[tuple[Any, Any]] = [(root, None)]
    while stack:
        s, top = stack.pop()
        t = type(s)
        if t is For:
            if buffer.data in free_vars(s):
                stack.append((s.body, top if top is not None else s))
        elif t is BlockRealize:
            inner = s.block
            nested = [inner.body] if inner.init is None else [inner.init, inner.body]
            for part in nested:
                if _stores(part, buffer):
                    out.append(top if top is not None else s)
                    break
            else:
                stack.extend([(part, None) for part in nested])
        else:
            if t is BufferStore and s.buffer is buffer:
                out.append(s)
            stack.extend([(c, None) for c in s.children() if isinstance(c, Stmt)])
    return out


def _stores(s: Any, buffer: Buffer) -> bool:
    """Whether a statement stores to the buffer, not counting nested blocks."""
    stack = [s]
    while stack:
        n = stack.pop()
        if type(n) is BufferStore and n.buffer is buffer:
            return True
        if type(n) is not BlockRealize:
            stack.extend([c for c in n.children() if isinstance(c, Stmt)])
    return False


def _put(root: Any, old: Stmt, new: Stmt) -> Any:
    """``root`` with one statement replaced."""
    if root is old:
        return new
    if not isinstance(root, Stmt):
        return root
    return root.map_children(lambda n: _put(n, old, new))


def _inserted(root: Any, at: int, new: Stmt) -> BlockRealize:
    block = root.block
    parts = block.body.seq if type(block.body) is SeqStmt else (block.body,)
    body = SeqStmt((*parts[:at], new, *parts[at:]), getattr(block.body, "span", None))
    return BlockRealize(root.iter_values, root.predicate, block.replace(body=body), root.span)


class _Axes:
    """Loops and block axes over the new shape: ``axis0``, ``v_axis0``."""

    def __init__(self, taken: set[str], padding: Padding) -> None:
        wanted = [v.name for v in padding.back.initial_indices]
        shape = padding.new.shape
        self.loops = [Var(free_name(w, taken), n.dtype) for w, n in zip(wanted, shape, strict=True)]
        self.axes = [Var(free_name(f"v_{w}", taken), n.dtype) for w, n in zip(wanted, shape, strict=True)]
        self.shape = shape

    def iter_vars(self) -> list[IterVar]:
        return [
            IterVar(v, Range(const_int(0, n.dtype), n), "spatial")
            for v, n in zip(self.axes, self.shape, strict=True)
        ]

    def around(self, body: Stmt) -> Stmt:
        for v, n in zip(reversed(self.loops), reversed(self.shape), strict=True):
            body = For(v, const_int(0, n.dtype), n, "serial", body)
        return body


def _names_at_root(home: StmtSRef) -> set[str]:
    return names_around(StmtSRef(home.node, home, 0, home.home))


def _filler(home: StmtSRef, padding: Padding) -> Stmt:
    """A block that writes the padding alone."""
    over = _Axes(_names_at_root(home), padding)
    where, _ = padding.at(over.loops)
    _, value = padding.at(over.axes)
    index = tuple(over.axes)
    block = Block(
        BlockLabel(f"buffer_{padding.old.name}_padding"),
        tuple(over.iter_vars()),
        (),
        (point(padding.new, index),),
        BufferStore(padding.new, value, index),
    )
    return over.around(BlockRealize(tuple(over.loops), where, block))


def _assumption(home: StmtSRef, padding: Padding) -> Stmt:
    """A block that states what the caller puts into the padding."""
    over = _Axes(_names_at_root(home), padding)
    where, value = padding.at(over.axes)
    index = tuple(over.axes)
    said = Or(Not(where), EQ(BufferLoad(padding.new, index), value))
    block = Block(
        BlockLabel(f"buffer_{padding.old.name}_assumptions"),
        tuple(over.iter_vars()),
        (point(padding.new, index),),
        (),
        Evaluate(Call("bool", "assume", (said,))),
    )
    return over.around(BlockRealize(tuple(over.loops), TRUE, block))


def _over_new_shape(nest: Any, change: Relayout, padding: Padding, home: StmtSRef) -> Stmt | None:
    """The nest of the only writer, run over the new shape; None where it does not write the whole old one,
    an element for each iteration of consecutive loops, or does anything else."""
    loops: list[For] = []
    s = nest
    while type(s) is For:
        loops.append(s)
        s = s.body
    if type(s) is not BlockRealize or s.predicate is not TRUE:
        return None
    new = s.block
    old = next((b for b, made in change.blocks if made is new), None)
    if old is None or type(old.body) is not BufferStore or old.body.buffer is not padding.old:
        return None
    if old.init is not None and type(old.init) is not BufferStore:
        return None
    first = _first_loop(old, s, loops, padding.old)
    if first is None:
        return None
    count = len(padding.old.shape)
    index = old.body.indices
    for n in walk(old):
        if type(n) in (BufferLoad, BufferStore) and n.buffer is padding.old:  # type: ignore[attr-defined]
            if any(a is not b for a, b in zip(n.indices, index, strict=True)):  # type: ignore[attr-defined]
                return None
    taken = names_around(home.home.index[loops[0].loop_var] if loops else home)
    names_inside(nest, taken)
    for f in loops[first : first + count]:
        taken.discard(f.loop_var.name)
    over = _Axes(taken, padding)
    to = tuple(over.axes)
    put = dict(zip(padding.back.initial_indices, to, strict=True))
    values: dict[Var, Expr] = {}
    cx = Analyzer()
    for iv in over.iter_vars():
        cx.bind(iv.var, iv.dom)  # type: ignore[arg-type]
    for i, e in zip(index, padding.back.final_indices, strict=True):
        assert type(i) is Var
        e = substitute(e, put)
        values[i] = e if e.dtype == i.dtype else Cast(i.dtype, e)
    where, pad = padding.at(over.axes)

    def at_new(n: Any) -> Any:
        n = n.map_children(at_new)
        if type(n) is BufferLoad and n.buffer is padding.old:
            return n.replace(buffer=padding.new, indices=to)
        return n

    def stored(st: Any) -> BufferStore:
        value = substitute(at_new(st.value), values)
        value = Call(padding.new.dtype, "if_then_else", (where, pad, value))
        return BufferStore(padding.new, simplify_accesses(value, cx), to, None, st.span)

    spatial = set(index)
    iter_vars: list[IterVar] = []
    bound: list[Expr] = []
    for iv, value in zip(old.iter_vars, s.iter_values, strict=True):
        if iv.var not in spatial:
            iter_vars.append(iv)
            bound.append(value)
        elif not any(v.var is to[0] for v in iter_vars):
            iter_vars += over.iter_vars()
            bound += over.loops
    block = with_regions(
        new.replace(
            iter_vars=tuple(iter_vars),
            body=stored(old.body),
            init=None if old.init is None else stored(old.init),
        )
    )
    out: Stmt = BlockRealize(tuple(bound), TRUE, block, s.span)
    for f in reversed(loops[first + count :]):
        out = f.replace(body=out)
    out = over.around(out)
    for f in reversed(loops[:first]):
        out = f.replace(body=out)
    return out


def _first_loop(b: Block, s: BlockRealize, loops: list[For], buffer: Buffer) -> int | None:
    """The number of the first of consecutive loops that run over the buffer in row-major order."""
    axes = {iv.var: (iv, value) for iv, value in zip(b.iter_vars, s.iter_values, strict=True)}
    store: Any = b.body
    if len({id(i) for i in store.indices}) != len(store.indices) or not store.indices:
        return None
    first: int | None = None
    for n, (i, size) in enumerate(zip(store.indices, buffer.shape, strict=True)):
        found = axes.get(i) if type(i) is Var else None
        if found is None or found[0].kind != "spatial" or found[0].dom is None:
            return None
        dom, value = found[0].dom, found[1]
        at = next((k for k, f in enumerate(loops) if f.loop_var is value), None)
        if at is None or (first is not None and at != first + n):
            return None
        first = at if first is None else first
        f = loops[at]
        if f.kind != "serial" or f.annotations or f.step is not None:
            return None
        for low, extent in ((dom.min, dom.extent), (f.min, f.extent)):
            if not (type(low) is IntImm and low.value == 0) or not same(extent, size):
                return None
    if any(iv.kind == "spatial" and iv.var not in set(store.indices) for iv in b.iter_vars):
        return None
    if any(a.is_write and a.buffer is not buffer for a in accesses(b)):
        return None
    return first
