"""From tensors to a program: one block for each computed tensor, each after those that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.analysis.inferred import infer_regions
from tirscript.arith import simplify
from tirscript.diagnostics import NotYetError, TirscriptError, deep_recursion
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, full_region, make_buffer
from tirscript.ir.expr import TRUE, BufferLoad, Expr, IntImm, IterVar, Range, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    Evaluate,
    For,
    LetStmt,
    Stmt,
    seq,
)
from tirscript.ir.visitor import fresh_copy, substitute

from .operation import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp
from .reduce import Reduce
from .tensor import Tensor
from .widen import widen


def create_prim_func(ops: Sequence[Any], index_dtype_override: str | None = None) -> PrimFunc:
    """The program that computes tensors: its arguments are ``ops``, tensors and scalar variables.

    Tensors in between are allocated.  ``index_dtype_override="int64"`` computes indices in 64 bits.

    >>> from tirscript import te
    >>> A, B = te.placeholder((8, 4), name="A"), te.placeholder((4, 8), name="B")
    >>> k = te.reduce_axis((0, 4), name="k")
    >>> C = te.compute((8, 8), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    >>> te.create_prim_func([A, B, C]).show()
    # from tirscript.script import tir as T
    <BLANKLINE>
    @T.prim_func
    def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        for i, j, k in T.grid(8, 8, 4):
            with T.block("C"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                T.reads(A[v_i, v_k], B[v_k, v_j])
                T.writes(C[v_i, v_j])
                with T.init():
                    C[v_i, v_j] = T.float32(0)
                C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]

    Source: TVM's ``te.create_prim_func``.
    """
    items = ops if isinstance(ops, (list, tuple)) else [ops]
    if index_dtype_override not in (None, "int32", "int64"):
        raise TirscriptError(
            f"index_dtype_override is 'int32' or 'int64', not {index_dtype_override!r}", code="dtype"
        )
    with deep_recursion():
        return _Builder(items, index_dtype_override).function()


def ordered(tensors: Sequence[Tensor]) -> list[Operation]:
    """The operations behind tensors, each after those that it reads from."""
    done: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(t.op, False) for t in reversed(tensors)]
    while stack:
        op, ready = stack.pop()
        if op in done:
            continue
        if ready:
            done[op] = None
        else:
            stack.append((op, True))
            stack.extend([(t.op, False) for t in reversed(op.input_tensors)])
    return list(done)


class _Builder:
    def __init__(self, items: Sequence[Any], index_dtype: str | None) -> None:
        self.index_dtype = index_dtype
        self.args = items
        self.names: set[str] = set()
        self.blocks: set[str] = set()
        self.buffers: dict[Buffer, Buffer] = {}  # what stands for a tensor
        self.scalars: dict[Var, Expr] = {}
        self.allocated: list[Buffer] = []
        self.noted: dict[str, Any] = {}

    def function(self) -> PrimFunc:
        tensors: list[Tensor] = []
        params: list[Var] = []
        buffer_map: dict[Var, Buffer] = {}
        for a in self.args:
            if isinstance(a, Tensor):
                if a in tensors:
                    raise TirscriptError(f"{a.name} is given twice", code="duplicate-argument")
                tensors.append(a)
            elif not isinstance(a, Var):
                raise TirscriptError(
                    f"the arguments of a function are tensors and variables, this is {type(a).__name__}",
                    code="not-a-tensor",
                )
        operations = ordered(tensors)
        given = set(tensors)
        for op in operations:
            if isinstance(op, PlaceholderOp) and op.outputs[0] not in given:
                raise TirscriptError(
                    f"{op.outputs[0].name} is read, but is not among the arguments",
                    code="missing-argument",
                    hint=f"create_prim_func([{op.name}, ...]) lists every placeholder and every output",
                )
        self._widen_symbols(operations)
        for a in self.args:
            if isinstance(a, Var):
                params.append(self.scalars.get(a, a))  # type: ignore[arg-type]
                continue
            buffer = self._buffer(a)
            handle = Var(f"{buffer.name}_handle", "handle", False)
            params.append(handle)
            buffer_map[handle] = buffer
        stages = [s for op in operations for s in self._stage(op, given)]
        body = seq(*stages) if stages else Evaluate(const_int(0))
        reads, writes = (), ()
        root = Block(BlockLabel("root"), (), reads, writes, body, alloc_buffers=tuple(self.allocated))
        attrs: dict[str, Any] = {"global_symbol": "main", "tir.noalias": True}
        free = self.noted.pop("layout_free_placeholders", None)
        if free is not None:
            attrs["layout_free_buffers"] = [n for n, a in enumerate(self.args) if any(a is t for t in free)]
        return PrimFunc(tuple(params), buffer_map, BlockRealize((), TRUE, root), attrs=attrs)

    # ---- names, buffers, symbols

    def _fresh(self, name: str, taken: set[str]) -> str:
        out, n = name, 0
        while out in taken:
            n += 1
            out = f"{name}_{n}"
        taken.add(out)
        return out

    def _widen_symbols(self, operations: Sequence[Operation]) -> None:
        """A variable of the other index dtype for each symbol of a shape."""
        dtype = self.index_dtype
        if dtype is None:
            return
        from tirscript.ir.visitor import free_vars

        for op in operations:
            for t in op.outputs:
                for n in t.shape:
                    for v in free_vars(n):
                        if v.dtype in ("int32", "int64") and v.dtype != dtype and v not in self.scalars:
                            self.scalars[v] = Var(v.name, dtype, v.exact)

    def expr(self, e: Expr, variables: dict[Var, Expr] | None = None) -> Expr:
        """An expression of the program: buffers for tensors, axes for the parameters of the lambda."""
        if self.index_dtype is not None:
            e = widen(e, self.scalars | (variables or {}), self.index_dtype)
            return substitute(e, {}, self.buffers) if self.buffers else e
        return substitute(e, variables or {}, self.buffers)

    def _extent(self, n: Expr) -> Expr:
        return n if self.index_dtype is None else widen(n, self.scalars, self.index_dtype)

    def _buffer(self, t: Tensor) -> Buffer:
        shape = tuple([self._extent(n) for n in t.shape])
        buffer = make_buffer(self._fresh(t.name, self.names), shape, t.dtype)
        self.buffers[t.buffer] = buffer
        return buffer

    def _outputs(self, op: Operation, given: set[Tensor]) -> list[Buffer]:
        out = []
        for t in op.outputs:
            buffer = self.buffers.get(t.buffer)
            if buffer is None:
                buffer = self._buffer(t)
                self.allocated.append(buffer)
            out.append(buffer)
        return out

    # ---- stages

    def _stage(self, op: Operation, given: set[Tensor]) -> list[Stmt]:
        if isinstance(op, PlaceholderOp):
            return []
        outputs = self._outputs(op, given)
        if isinstance(op, ComputeOp):
            return [self._compute(op, outputs)]
        if isinstance(op, ExternOp):
            return [self._extern(op, outputs)]
        if isinstance(op, ScanOp):
            return self._scan(op, outputs)
        raise NotYetError(f"{op!r} cannot become a program yet", code="not-yet")

    def _compute(
        self, op: ComputeOp, outputs: Sequence[Buffer], offset: Expr | None = None, kind: str = "spatial"
    ) -> Stmt:
        """The loops and blocks of a computation; ``offset`` starts the first axis later, for scans."""
        loops: list[tuple[Var, Expr, Expr]] = []
        blocks: list[Stmt] = []
        domains: list[tuple[Var, Range, str]] = []
        for n, a in enumerate((*op.axis, *op.reduce_axis)):
            assert a.dom is not None
            low, extent = self._extent(a.dom.min), self._extent(a.dom.extent)
            if n == 0 and offset is not None:
                low, extent = offset, simplify(ops.sub(extent, offset))
            domains.append((a.var, Range(low, extent), kind if n == 0 and op.axis else a.kind))
            loops.append((Var(a.var.name, extent.dtype), low, extent))
        values = [v for v, _, _ in loops]
        groups: list[tuple[str, list[int]]]
        if op.reduce_axis or len(op.body) == 1:
            groups = [(op.name, list(range(len(op.body))))]
        else:
            groups = [(op.outputs[n].name, [n]) for n in range(len(op.body))]
        for name, members in groups:
            axes: list[IterVar] = []
            variables: dict[Var, Expr] = {}
            for v, dom, how in domains:
                axis = Var(f"v_{v.name}", dom.extent.dtype)
                variables[v] = axis
                axes.append(IterVar(axis, dom, how))
            bound: list[Expr] = list(values)
            if not axes:
                axes = [IterVar(Var("vi"), Range(const_int(0), const_int(1)), "spatial")]
                bound = [const_int(0)]
            index = tuple([a.var for a in axes[: len(op.axis)]])
            first = op.body[members[0]]
            init: Stmt | None = None
            if isinstance(first, Reduce):
                init, body = self._reduction(op, first, outputs, index, variables)
            else:
                value = self.expr(first, variables)
                body = BufferStore(outputs[members[0]], value, index)
            blocks.append(self._block(name, axes, bound, body, init, op))
        out = seq(*blocks)
        for v, low, extent in reversed(loops):
            out = For(v, low, extent, "serial", out)
        return out

    def _reduction(
        self,
        op: ComputeOp,
        r: Reduce,
        outputs: Sequence[Buffer],
        index: tuple[Expr, ...],
        variables: dict[Var, Expr],
    ) -> tuple[Stmt, Stmt]:
        neutral = [self.expr(e) for e in r.combiner.identity]
        starts = [self.expr(e, variables) for e in r.init] or neutral
        init = seq(*[BufferStore(b, e, index) for b, e in zip(outputs, starts, strict=True)])
        given = [self.expr(e, variables) for e in r.source]
        if r.condition is not None:
            test = self.expr(r.condition, variables)
            given = [ops.if_then_else(test, e, z) for e, z in zip(given, neutral, strict=True)]
        replaced: dict[Var, Expr] = {}
        for v, b in zip(r.combiner.lhs, outputs, strict=True):
            replaced[v] = BufferLoad(b, index)
        replaced |= dict(zip(r.combiner.rhs, given, strict=True))
        results = [substitute(e, replaced) for e in r.combiner.result]
        if len(results) == 1:
            return init, BufferStore(outputs[0], results[0], index)
        lets = [Var(f"v_{b.name}", e.dtype, False) for b, e in zip(outputs, results, strict=True)]
        body = seq(*[BufferStore(b, v, index) for b, v in zip(outputs, lets, strict=True)])
        for v, e in zip(reversed(lets), reversed(results), strict=True):
            body = LetStmt(v, e, body)
        return init, body

    def _block(
        self,
        name: str,
        axes: list[IterVar],
        values: list[Expr],
        body: Stmt,
        init: Stmt | None,
        op: Operation,
    ) -> BlockRealize:
        reads, writes = infer_regions(axes, body, init)
        notes = dict(op.attrs)
        if "layout_free_placeholders" in notes:
            self.noted["layout_free_placeholders"] = notes.pop("layout_free_placeholders")
        label = BlockLabel(self._fresh(name, self.blocks))
        block = Block(label, tuple(axes), reads, writes, body, init, annotations=notes)
        return BlockRealize(tuple(values), TRUE, block)

    def _extern(self, op: ExternOp, outputs: Sequence[Buffer]) -> Stmt:
        swapped: dict[Buffer, Buffer] = {}
        pointers: dict[Var, Expr] = {}
        symbols: dict[Var, Expr] = {}
        actual = [self.buffers[t.buffer] for t in op.input_tensors] + list(outputs)
        for formal, b in zip((*op.input_placeholders, *op.output_placeholders), actual, strict=True):
            swapped[formal] = b
            pointers[formal.data] = b.data
            for have, want in zip(b.shape, formal.shape, strict=True):
                if isinstance(want, Var):
                    symbols[want] = have
                elif isinstance(have, IntImm) and isinstance(want, IntImm) and have.value != want.value:
                    raise TirscriptError(
                        f"{op.name}: buffer {formal.name} has extent {want.value}, the tensor {have.value}",
                        code="shape",
                    )
        body = substitute(fresh_copy(op.body), pointers | symbols, swapped)
        reads = tuple([full_region(self.buffers[t.buffer]) for t in op.input_tensors])
        writes = tuple([full_region(b) for b in outputs])
        inner = body.block if isinstance(body, BlockRealize) else None
        if inner is not None and not inner.iter_vars and inner.name == "root":  # a whole function's body
            block = inner.replace(
                label=BlockLabel(self._fresh(op.name, self.blocks)), reads=reads, writes=writes,
                annotations={**inner.annotations, **op.attrs},
            )  # fmt: skip
            return BlockRealize((), TRUE, block)
        label = BlockLabel(self._fresh(op.name, self.blocks))
        return BlockRealize((), TRUE, Block(label, (), reads, writes, body, annotations=dict(op.attrs)))

    def _scan(self, op: ScanOp, outputs: Sequence[Buffer]) -> list[Stmt]:
        stages: list[Stmt] = []
        for state, out in zip(op.state_placeholder, outputs, strict=True):
            self.buffers[state.buffer] = out
        for init, out in zip(op.init, outputs, strict=True):
            source = self.buffers[init.buffer]
            axes = [Var(f"v_i{n}", e.dtype) for n, e in enumerate(source.shape)]
            loops = [Var(f"i{n}", e.dtype) for n, e in enumerate(source.shape)]
            body: Stmt = self._block(
                f"{out.name}_init",
                [
                    IterVar(v, Range(const_int(0, e.dtype), e), "spatial")
                    for v, e in zip(axes, source.shape, strict=True)
                ],
                list(loops),
                BufferStore(out, BufferLoad(source, tuple(axes)), tuple(axes)),
                None,
                Operation(op.name),
            )
            for v, e in zip(reversed(loops), reversed(source.shape), strict=True):
                body = For(v, const_int(0, v.dtype), e, "serial", body)
            stages.append(body)
        for update in op.update:
            for t in update.op.input_tensors:
                depends = {x for o in ordered([t]) for x in o.outputs}
                if depends & set(op.state_placeholder) and t not in op.state_placeholder:
                    raise NotYetError(
                        f"{op.name}: {t.name} stands between the state and its update", code="not-yet",
                        hint="write what it computes into the update itself",
                    )  # fmt: skip
        begin = self.buffers[op.init[0].buffer].shape[0]
        steps = []
        time: Var | None = None
        for update, out in zip(op.update, outputs, strict=True):
            nest = self._compute(update.op, [out], begin, "scan")  # type: ignore[arg-type]
            assert isinstance(nest, For)
            if time is None:
                time, first = nest.loop_var, nest
            steps.append(substitute(nest.body, {nest.loop_var: time}))
        stages.append(For(first.loop_var, first.min, first.extent, "serial", seq(*steps)))
        return stages
