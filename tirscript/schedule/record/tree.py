"""The loops and blocks of a schedule as a tree: extents, kinds, bindings, reads and writes, scopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tirscript.ir import hooks, ops
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import Expr, IntImm, Range, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import Block, BlockRealize, For, IfThenElse, SeqStmt

from ..errors import describe, expr_text
from ..state import WRAPPERS

_LONGEST = 100


class Node:
    """A line of the tree: what it is, its text, what is said beside it, and what stands below."""

    __slots__ = ("children", "notes", "stmt", "text", "what")

    def __init__(self, what: str, text: str, notes: Sequence[str] = ()) -> None:
        self.what = what
        self.text = text
        self.notes = tuple(notes)
        self.children: list[Node] = []
        self.stmt: Any = None

    def lines(self, lead: str = "", below: str = "") -> Iterator[str]:
        notes = "; ".join(self.notes)
        yield f"{lead}{self.text}{'  ' + notes if notes else ''}"
        for n, child in enumerate(self.children):
            last = n == len(self.children) - 1
            yield from child.lines(below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))


class Tree(str):
    """The tree as text; a notebook shows it with parts that fold.

    ``svg()`` is a picture of it, ``html()`` what a notebook shows.
    """

    nodes: tuple[Node, ...]

    def __new__(cls, nodes: Sequence[Node]) -> Tree:
        made = super().__new__(cls, "\n".join([line for n in nodes for line in n.lines()]))
        made.nodes = tuple(nodes)
        return made

    def __repr__(self) -> str:
        return str(self)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.nodes,)

    def svg(self) -> str:
        """The tree as a picture that stands alone: ``Path("tree.svg").write_text(tree.svg())``."""
        text: str = hooks.call("tree_svg", self)
        return text

    def html(self) -> str:
        """The tree as HTML with parts that fold."""
        return self._repr_mimebundle_()["text/html"]

    def show(self) -> None:
        """Show it: with parts that fold in a notebook, as text in a terminal."""
        hooks.call("show", self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle


def tree_of(functions: Sequence[tuple[str, PrimFunc]]) -> Tree:
    """The tree of some functions."""
    return Tree([_function(name, func) for name, func in functions])


def tree_of_program(program: PrimFunc | IRModule) -> Tree:
    """The tree of a function or of a module."""
    if isinstance(program, PrimFunc):
        return tree_of([(program.name, program)])
    return tree_of(program.items())


def _function(name: str, func: PrimFunc) -> Node:
    params = [
        _typed(func.buffer_map[p]) if p in func.buffer_map else f"{p.name}: {p.dtype}" for p in func.params
    ]
    top = Node("function", f"{name}({', '.join(params)})")
    body: Any = func.body
    if type(body) is BlockRealize and not body.iter_values:
        # The root block is not written as such.
        if body.block.alloc_buffers:
            top.notes = (_allocates(body.block),)
        body = body.block.body
    _below(body, top)
    return top


def _below(body: Any, parent: Node) -> None:
    stack: list[tuple[Any, Node]] = [(body, parent)]
    while stack:
        s, up = stack.pop()
        t = type(s)
        if t is SeqStmt:
            stack.extend([(c, up) for c in reversed(s.seq)])
        elif t is For:
            node = Node("loop", _loop(s), [f"{k} = {v!r}" for k, v in s.annotations.items()])
            node.stmt = s
            up.children.append(node)
            stack.append((s.body, node))
        elif t is BlockRealize:
            node = _block(s)
            up.children.append(node)
            if _has_inner(s.block.body):
                stack.append((s.block.body, node))
        elif t is IfThenElse:
            for word, part in (("if", s.then_case), ("else", s.else_case)):
                if part is not None and _has_inner(part):
                    node = Node("other", f"if {_short(s.condition)}" if word == "if" else "else")
                    up.children.append(node)
                    _below(part, node)
        elif t in WRAPPERS:
            stack.append((s.body, up))
        else:
            up.children.append(Node("other", describe(s)))


def _has_inner(s: Any) -> bool:
    stack = [s]
    while stack:
        n = stack.pop()
        if type(n) in (For, BlockRealize):
            return True
        if type(n) is SeqStmt:
            stack.extend(n.seq)
        elif type(n) is IfThenElse:
            stack.extend([c for c in (n.then_case, n.else_case) if c is not None])
        elif type(n) in WRAPPERS:
            stack.append(n.body)
    return False


def _loop(s: For) -> str:
    extent = _short(s.extent)
    step = "" if s.step is None or (type(s.step) is IntImm and s.step.value == 1) else f", {_short(s.step)}"
    if step or not (type(s.min) is IntImm and s.min.value == 0):
        end: Expr = ops.add(s.min, s.extent)
        if type(s.min) is IntImm and type(s.extent) is IntImm:
            end = const_int(s.min.value + s.extent.value)
        extent = f"range({_short(s.min)}, {_short(end)}{step})"
    kind = "" if s.kind == "serial" else f", {s.thread or s.kind}"
    return f"for {s.loop_var.name}: {extent}{kind}"


def _block(s: BlockRealize) -> Node:
    b = s.block
    notes = []
    if b.iter_vars:
        kinds = {"spatial": "S", "reduce": "R", "scan": "scan", "opaque": "opaque"}
        notes.append(", ".join([f"{v.var.name}:{kinds.get(str(v.kind), str(v.kind))}" for v in b.iter_vars]))
    if b.reads:
        notes.append(f"reads {', '.join([_region(r) for r in b.reads])}")
    if b.writes:
        notes.append(f"writes {', '.join([_region(r) for r in b.writes])}")
    if not (type(s.predicate) is IntImm and s.predicate.value):
        notes.append(f"where {_short(s.predicate)}")
    if b.init is not None:
        notes.append("init")
    if b.alloc_buffers:
        notes.append(_allocates(b))
    notes += [f"{k} = {v!r}" for k, v in b.annotations.items()]
    return Node("block", f'block "{b.name}"', notes)


def _allocates(b: Block) -> str:
    return f"allocates {', '.join([_typed(x) for x in b.alloc_buffers])}"


def _typed(b: Buffer) -> str:
    scope = f" in {b.scope}" if b.scope != "global" else ""
    return f"{b.name}: {b.dtype}[{', '.join([_short(e) for e in b.shape])}]{scope}"


def _region(r: BufferRegion) -> str:
    scope = f" ({r.buffer.scope})" if r.buffer.scope != "global" else ""
    return f"{r.buffer.name}[{', '.join([_range(x) for x in r.region])}]{scope}"


def _range(r: Range) -> str:
    if type(r.extent) is IntImm and r.extent.value == 1:
        return _short(r.min)
    low = _short(r.min)
    if low == "0":
        return f"0:{_short(r.extent)}"
    return f"{low}:+{_short(r.extent)}"


def _short(e: Any) -> str:
    text = expr_text(e)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


__all__ = ["Tree", "tree_of", "tree_of_program"]
