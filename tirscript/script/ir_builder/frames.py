"""The frames of functions, blocks, loops and conditions."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.inferred import infer_regions
from tirscript.diagnostics import TirscriptError
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion
from tirscript.ir.expr import TRUE, Expr, IterVar, Range, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, For, IfThenElse, Stmt

from .base import IRBuilder, IRBuilderError, IRBuilderFrame


class ModuleFrame(IRBuilderFrame):
    """``with I.ir_module():``"""

    title = "I.ir_module()"

    def __init__(self) -> None:
        super().__init__()
        self.module = IRModule()
        self.declared: dict[str, Any] = {}

    def take(self, made: Any) -> None:
        if not isinstance(made, PrimFunc):
            raise IRBuilderError(f"a {type(made).__name__} cannot stand inside I.ir_module()")
        raise IRBuilderError("a function in a module needs a name", hint='T.func_name("main")')

    def define(self, name: str, func: PrimFunc) -> None:
        """Put a function into the table."""
        if name in self.module:
            raise IRBuilderError(f"the module has a function `{name}` already")
        self.module.update_func(self.declared.get(name, name), func)

    def closed(self, body: Stmt) -> IRModule:
        missing = [name for name in self.declared if name not in self.module]
        if missing:
            raise IRBuilderError(f"the function `{missing[0]}` is declared and not defined")
        return self.module


class PrimFuncFrame(IRBuilderFrame):
    """``with T.prim_func():``"""

    title = "T.prim_func()"

    def __init__(self, private: bool) -> None:
        super().__init__()
        self.private = private
        self.name: str | None = None
        self.params: list[Var] = []
        self.buffer_map: dict[Var, Buffer] = {}
        self.attrs: dict[str, Any] = {}
        self.ret_type = "void"
        self.allocs: list[Buffer] = []

    def opened(self) -> None:
        if self.builder.frames and not isinstance(self.builder.frames[-1], ModuleFrame):
            raise IRBuilderError(f"a function inside {self.builder.frames[-1].title}")

    def closed(self, body: Stmt) -> PrimFunc | None:
        if self.allocs or any(type(s) is BlockRealize for s in walk(body)):
            only = body.block if type(body) is BlockRealize else None
            if only is not None and only.label.name == "root" and not only.iter_vars:
                root = only.replace(alloc_buffers=(*self.allocs, *only.alloc_buffers))
            else:
                root = Block(BlockLabel("root"), (), (), (), body, alloc_buffers=tuple(self.allocs))
            body = BlockRealize((), TRUE, root)
        attrs = dict(self.attrs)
        if self.name is not None and not self.private:
            attrs.setdefault("global_symbol", self.name)
        func = PrimFunc(tuple(self.params), self.buffer_map, body, self.ret_type, attrs)
        around = self.builder.frames[-1] if self.builder.frames else None
        if isinstance(around, ModuleFrame) and self.name is not None:
            around.define(self.name, func)
            return None
        return func


class BlockFrame(IRBuilderFrame):
    """``with T.block("C"):``"""

    title = "T.block(...)"

    def __init__(self, name: str, realize: bool) -> None:
        super().__init__()
        self.name = name
        self.realize = realize
        self.iter_vars: list[IterVar] = []
        self.values: list[Expr] = []
        self.reads: tuple[BufferRegion, ...] | None = None
        self.writes: tuple[BufferRegion, ...] | None = None
        self.predicate: Expr | None = None
        self.init: Stmt | None = None
        self.allocs: list[Buffer] = []
        self.matches: list[MatchBufferRegion] = []
        self.annotations: dict[str, Any] = {}

    def closed(self, body: Stmt) -> Stmt:
        reads, writes = self.reads, self.writes
        if reads is None or writes is None:
            found = infer_regions(
                tuple(self.iter_vars), body, self.init, self.allocs, self.matches, self._visible()
            )
            reads = found[0] if reads is None else reads
            writes = found[1] if writes is None else writes
        block = Block(
            BlockLabel(self.name), tuple(self.iter_vars), reads, writes, body, self.init, tuple(self.allocs),
            tuple(self.matches), self.annotations,
        )  # fmt: skip
        if not self.realize:
            return block
        return BlockRealize(tuple(self.values), TRUE if self.predicate is None else self.predicate, block)

    def _visible(self) -> list[Buffer]:
        """The buffers whose pointers may occur inside."""
        out: list[Buffer] = []
        for frame in self.builder.frames:
            if isinstance(frame, PrimFuncFrame):
                out += [*frame.buffer_map.values(), *frame.allocs]
            elif isinstance(frame, BlockFrame):
                out += [*frame.allocs, *[m.buffer for m in frame.matches]]
        return out


class InitFrame(IRBuilderFrame):
    """``with T.init():``"""

    title = "T.init()"

    def opened(self) -> None:
        block = self.builder.top(BlockFrame, "T.init()")
        if block.init is not None:
            raise IRBuilderError("T.init() stands twice in this block")

    def closed(self, body: Stmt) -> None:
        self.builder.top(BlockFrame, "T.init()").init = body


class ForFrame(IRBuilderFrame):
    """``with T.serial(n) as i:`` and its like, ``with T.grid(n, m) as (i, j):``."""

    title = "a loop"

    def __init__(
        self, domains: list[tuple[Var, Range]], kind: str, thread: str, annotations: Any, step: Expr | None,
        *, single: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.domains = domains
        self.kind = kind
        self.thread = thread
        self.annotations = annotations
        self.step = step
        variables = [v for v, _ in domains]
        self.value = variables[0] if single else variables

    @property
    def vars(self) -> list[Var]:
        """The loop variables, outer first."""
        return [v for v, _ in self.domains]

    def closed(self, body: Stmt) -> Stmt:
        for var, dom in reversed(self.domains):
            body = For(var, dom.min, dom.extent, self.kind, body, self.thread, self.annotations, self.step)
        return body


class IfFrame(IRBuilderFrame):
    """``with T.If(condition):``, which holds ``T.Then()`` and ``T.Else()``."""

    title = "T.If(...)"

    def __init__(self, condition: Expr) -> None:
        super().__init__()
        self.condition = condition
        self.then_case: Stmt | None = None
        self.else_case: Stmt | None = None

    def take(self, made: Any) -> None:
        raise IRBuilderError("a statement stands directly inside T.If(...)", hint="with T.Then(): ...")

    def closed(self, body: Stmt) -> Stmt:
        if self.then_case is None:
            raise IRBuilderError("T.If(...) has no T.Then()")
        return IfThenElse(self.condition, self.then_case, self.else_case)


class BranchFrame(IRBuilderFrame):
    """``with T.Then():`` and ``with T.Else():``"""

    def __init__(self, positive: bool) -> None:
        super().__init__()
        self.positive = positive
        self.title = "T.Then()" if positive else "T.Else()"

    def opened(self) -> None:
        around = self.builder.top(IfFrame, self.title)
        if (around.then_case if self.positive else around.else_case) is not None:
            raise IRBuilderError(f"{self.title} stands twice in this T.If(...)")
        if not self.positive and around.then_case is None:
            raise IRBuilderError("T.Else() stands before T.Then()")

    def closed(self, body: Stmt) -> None:
        around = self.builder.top(IfFrame, self.title)
        if self.positive:
            around.then_case = body
        else:
            around.else_case = body


def loop_domain(builder: IRBuilder, var: Any) -> Range:
    """The range of a loop that is open."""
    for frame in reversed(builder.frames):
        if isinstance(frame, ForFrame):
            for v, dom in frame.domains:
                if v is var:
                    return dom
    raise TirscriptError(f"{var!r} is no variable of an open loop", code="ir-builder")
