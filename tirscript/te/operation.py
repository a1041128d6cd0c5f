"""The operations that make tensors: placeholders, computations, external code, scans."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.expr import BufferLoad, Expr, IntImm, IterVar, Range, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import Evaluate, Stmt
from tirscript.script.operators import read_dtype

from .reduce import Reduce, nested
from .tensor import Tensor, TensorBuffer, TensorSlice

_tags: list[str] = []


class Operation:
    """What made a tensor: ``name``, ``tag``, ``attrs``, ``input_tensors``, ``outputs``."""

    def __init__(self, name: str, tag: str = "", attrs: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.tag = tag or (_tags[-1] if _tags else "")
        self.attrs: dict[str, Any] = dict(attrs or {})
        self.outputs: list[Tensor] = []
        self.input_tensors: tuple[Tensor, ...] = ()

    @property
    def num_outputs(self) -> int:
        return len(self.outputs)

    def output(self, index: int) -> Tensor:
        """The tensor number ``index`` that this operation makes."""
        return self.outputs[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """An argument."""


class ComputeOp(Operation):
    """One expression for each element: ``axis``, ``reduce_axis``, ``body``."""

    axis: tuple[IterVar, ...]
    body: tuple[Expr, ...]

    @property
    def reduce_axis(self) -> tuple[IterVar, ...]:
        first = self.body[0]
        return first.axis if isinstance(first, Reduce) else ()


class ExternOp(Operation):
    """A statement that fills whole tensors: ``inputs``, ``body``, with the buffers that it names."""

    body: Stmt
    input_placeholders: tuple[Buffer, ...]
    output_placeholders: tuple[Buffer, ...]


class ScanOp(Operation):
    """States that are computed step by step: ``init``, ``update`` and ``state_placeholder`` for each."""

    init: tuple[Tensor, ...]
    update: tuple[Tensor, ...]
    state_placeholder: tuple[Tensor, ...]


@contextmanager
def tag_scope(tag: str) -> Iterator[None]:
    """Operations made inside carry the tag, where they have none of their own."""
    _tags.append(tag)
    try:
        yield
    finally:
        _tags.pop()


def var(name: str = "tindex", dtype: str = "int32", span: Any = None) -> Var:
    """A symbolic extent, or a scalar argument.

    >>> from tirscript import te
    >>> n = te.var("n")
    >>> te.placeholder((n, 4), name="A").shape
    (n, 4)
    """
    return Var(name, read_dtype(dtype))


def shape_of(shape: Any) -> tuple[Expr, ...]:
    """A shape as a tuple of integer expressions."""
    items = shape if isinstance(shape, (tuple, list)) else (shape,)
    out = tuple([ops.index(n) for n in items])
    for n in out:
        if isinstance(n, IntImm) and n.value < 0:
            raise TirscriptError(f"an extent is not negative, this is {n.value}", code="negative-extent")
    return out


def placeholder(shape: Any, dtype: Any = "float32", name: str = "placeholder") -> Tensor:
    """An argument of a tensor program: a tensor of the given shape and dtype.

    >>> from tirscript import te
    >>> te.placeholder((16,), "int8", name="A")
    Tensor(shape=[16], op.name=A)
    """
    op = PlaceholderOp(name)
    op.outputs = [Tensor(shape_of(shape), read_dtype("float32" if dtype is None else dtype), op)]
    return op.outputs[0]


def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor whose elements are ``fcompute(*indices)``; several tensors where that gives a tuple.

    The parameters of ``fcompute`` name the axes.  ``attrs`` become annotations of the block.

    >>> from tirscript import te
    >>> A = te.placeholder((4, 8), name="A")
    >>> B = te.compute((8, 4), lambda i, j: A[j, i] * 2.0, name="B")
    >>> te.create_prim_func([A, B]).show()
    # from tirscript.script import tir as T
    <BLANKLINE>
    @T.prim_func
    def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        for i, j in T.grid(8, 4):
            with T.block("B"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(A[v_j, v_i])
                T.writes(B[v_i, v_j])
                B[v_i, v_j] = A[v_j, v_i] * T.float32(2)
    """
    extents = shape_of(shape)
    names = _axis_names(fcompute, len(extents), name, varargs_names)
    op = ComputeOp(name, tag, attrs)
    op.axis = tuple(
        [
            IterVar(Var(a, n.dtype), Range(const_int(0, n.dtype), n), "spatial")
            for a, n in zip(names, extents, strict=True)
        ]
    )
    result = fcompute(*[a.var for a in op.axis])
    several = isinstance(result, (tuple, list))
    op.body = tuple([_element(e, name) for e in (result if several else (result,))])
    if not op.body:
        raise TirscriptError(f"the computation of {name} gives nothing", code="no-result")
    _check_reductions(op)
    op.input_tensors = inputs_of(op.body)
    count = len(op.body)
    op.outputs = [
        Tensor(extents, e.dtype, op, n, name if count == 1 else f"{name}_v{n}") for n, e in enumerate(op.body)
    ]
    return tuple(op.outputs) if several and count > 1 else op.outputs[0]


def _axis_names(f: Any, count: int, name: str, varargs_names: Sequence[str] | None) -> list[str]:
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        raise TirscriptError(
            f"te.compute of {name} takes a function of the indices", code="not-callable"
        ) from None
    fixed = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p.name for p in parameters if p.name in fixed and p.default is p.empty]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        rest = count - len(fixed)
        if rest >= 0 and varargs_names is not None and len(varargs_names) not in (rest, count):
            raise TirscriptError(
                f"varargs_names of {name} holds {len(varargs_names)} names for {rest} axes", code="arity"
            )
        if rest >= 0:
            if varargs_names is not None:
                return [*fixed, *varargs_names][-count:] if count else []
            return [*fixed, *[f"i{n}" for n in range(len(fixed), count)]]
    elif len(required) <= count <= len(fixed):
        return fixed[:count]
    elif not required and count == 0:
        return []
    wanted = f"{len(required)} indices" if len(required) != 1 else "1 index"
    raise TirscriptError(
        f"{name} has {count} dimensions, but its function takes {wanted}", code="arity",
        hint="write one parameter for each dimension, or *indices",
    )  # fmt: skip


def _element(value: Any, name: str) -> Expr:
    if isinstance(value, TensorSlice):
        return value.as_expression()
    try:
        return ops.as_expr(value)
    except TirscriptError as e:
        raise TirscriptError(f"the computation of {name}: {e.message}", code=e.code, hint=e.hint) from None


def _check_reductions(op: ComputeOp) -> None:
    reductions = [e for e in op.body if isinstance(e, Reduce)]
    for e in op.body:
        parts = [*e.source, *e.init, *([e.condition] if e.condition is not None else [])] if isinstance(
            e, Reduce
        ) else [e]  # fmt: skip
        if any(isinstance(n, Reduce) for part in parts for n in walk(part)):
            raise nested()
    if reductions and (
        len(reductions) != len(op.body)
        or any(r.combiner is not reductions[0].combiner for r in reductions)
        or len(reductions[0].source) != len(op.body)
    ):
        raise TirscriptError(
            f"the results of {op.name} must be all the values of one reduction", code="mixed-reduction"
        )


def inputs_of(exprs: Sequence[Expr]) -> tuple[Tensor, ...]:
    """The tensors that expressions read, in order."""
    out: dict[Tensor, None] = {}
    for e in exprs:
        parts: list[Expr] = [e]
        if isinstance(e, Reduce):
            parts = [*e.source, *e.init]
            if e.condition is not None:
                parts.append(e.condition)
        for part in parts:
            for n in walk(part):
                if isinstance(n, BufferLoad) and isinstance(n.buffer, TensorBuffer):
                    out[n.buffer.tensor] = None
    return tuple(out)


def extern(
    shape: Any,
    inputs: Sequence[Tensor],
    fcompute: Callable[..., Any],
    name: str = "extern",
    dtype: Any = None,
    in_buffers: Any = None,
    out_buffers: Any = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Tensors that a statement fills: ``fcompute(ins, outs)`` gets buffers and gives a statement or a call.

    ``shape`` is one shape or a list of shapes, ``dtype`` one dtype or a list (by default that of the first
    input).

    >>> from tirscript import te
    >>> from tirscript.script import tir as T
    >>> A = te.placeholder((8,), name="A")
    >>> def negate(ins, outs):
    ...     return T.call_packed("negate", ins[0], outs[0])
    >>> te.extern((8,), [A], negate, name="B")
    Tensor(shape=[8], op.name=B)
    """
    many = isinstance(shape, (list, tuple)) and bool(shape) and isinstance(shape[0], (list, tuple))
    shapes = [shape_of(s) for s in (shape if many else [shape])]
    op = ExternOp(name, tag, attrs)
    op.input_tensors = tuple(inputs)
    for t in op.input_tensors:
        if not isinstance(t, Tensor):
            raise TirscriptError(f"the inputs of {name} are tensors, this is {t!r}", code="not-a-tensor")
    if dtype is None:
        if not inputs:
            raise TirscriptError(f"{name} has no input to take the dtype from", code="dtype")
        dtypes = [op.input_tensors[0].dtype] * len(shapes)
    elif isinstance(dtype, (list, tuple)):
        dtypes = [read_dtype(d) for d in dtype]
    else:
        dtypes = [read_dtype(dtype)] * len(shapes)
    if len(dtypes) != len(shapes):
        raise TirscriptError(f"{name}: {len(shapes)} shapes, {len(dtypes)} dtypes", code="arity")
    op.input_placeholders = _buffers(in_buffers, [(t.name, t.shape, t.dtype) for t in op.input_tensors], name)
    names = [name if len(shapes) == 1 else f"{name}_v{n}" for n in range(len(shapes))]
    op.output_placeholders = _buffers(out_buffers, list(zip(names, shapes, dtypes, strict=True)), name)
    body = fcompute(op.input_placeholders, op.output_placeholders)
    if isinstance(body, Expr):
        body = Evaluate(body)
    if not isinstance(body, Stmt):
        raise TirscriptError(
            f"the function of {name} gives a statement or a call, this is {type(body).__name__}",
            code="not-a-statement",
        )
    op.body = body
    op.outputs = [Tensor(s, d, op, n, names[n]) for n, (s, d) in enumerate(zip(shapes, dtypes, strict=True))]
    return op.outputs if len(op.outputs) > 1 else op.outputs[0]


def _buffers(given: Any, wanted: list[tuple[str, tuple[Expr, ...], str]], name: str) -> tuple[Buffer, ...]:
    if given is None:
        return tuple([make_buffer(n, shape, dtype) for n, shape, dtype in wanted])
    buffers = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if len(buffers) != len(wanted):
        raise TirscriptError(f"{name}: {len(wanted)} tensors, {len(buffers)} buffers", code="arity")
    return buffers


def extern_primfunc(input_tensors: Sequence[Tensor], primfunc: PrimFunc, **kwargs: Any) -> Any:
    """The outputs of a ``PrimFunc`` applied to tensors: its buffers after those of the inputs.

    >>> from tirscript import te
    >>> from tirscript.schedule.testing import chain
    >>> A = te.placeholder((16,), name="A")
    >>> te.extern_primfunc([A], chain())
    Tensor(shape=[16], op.name=chain)
    """
    if not isinstance(primfunc, PrimFunc):
        raise TirscriptError(f"a PrimFunc is wanted, this is {type(primfunc).__name__}", code="not-a-program")
    from tirscript.ir.visitor import fresh_copy

    func = fresh_copy(primfunc)
    buffers = func.buffers
    if len(buffers) != len(func.params):
        raise TirscriptError("a function with scalar arguments is no tensor operation", code="not-a-tensor")
    count = len(input_tensors)
    if count >= len(buffers):
        raise TirscriptError(
            f"{func.name} has {len(buffers)} buffers: {count} inputs leave no output", code="arity"
        )
    for t, b in zip(input_tensors, buffers, strict=False):
        if t.dtype != b.dtype or t.ndim != b.ndim:
            raise TirscriptError(
                f"{t.name} ({t.ndim} dimensions, {t.dtype}) does not fit buffer {b.name} of {func.name} "
                f"({b.ndim} dimensions, {b.dtype})",
                code="dtype-mismatch",
            )
    outputs = buffers[count:]
    kwargs.setdefault("name", func.name)
    return extern(
        [b.shape for b in outputs],
        input_tensors,
        lambda ins, outs: func.body,
        in_buffers=buffers[:count],
        out_buffers=outputs,
        dtype=[b.dtype for b in outputs],
        **kwargs,
    )


def scan(
    init: Any,
    update: Any,
    state_placeholder: Any,
    inputs: Sequence[Tensor] = (),
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """States computed along their first axis: ``init`` gives the first rows, ``update`` each further one.

    >>> from tirscript import te
    >>> n = 10
    >>> X = te.placeholder((n, 4), name="X")
    >>> s = te.placeholder((n, 4), name="s")
    >>> first = te.compute((1, 4), lambda _, i: X[0, i], name="first")
    >>> step = te.compute((n, 4), lambda t, i: s[t - 1, i] + X[t, i], name="step")
    >>> te.scan(first, step, s, inputs=[X], name="running")
    Tensor(shape=[10, 4], op.name=running)
    """
    op = ScanOp(name, tag, attrs)
    op.init, op.update, op.state_placeholder = (
        tuple(x) if isinstance(x, (list, tuple)) else (x,) for x in (init, update, state_placeholder)
    )
    if not len(op.init) == len(op.update) == len(op.state_placeholder):
        raise TirscriptError(
            f"{name}: {len(op.init)} inits, {len(op.update)} updates and {len(op.state_placeholder)} states",
            code="arity",
        )
    for i, u, s in zip(op.init, op.update, op.state_placeholder, strict=True):
        if not (i.dtype == u.dtype == s.dtype and i.ndim == u.ndim == s.ndim and s.ndim):
            raise TirscriptError(f"{name}: init, update and state differ in kind", code="dtype-mismatch")
        if not isinstance(u.op, ComputeOp):
            raise TirscriptError(f"{name}: an update is a te.compute", code="not-a-compute")
    reads: dict[Tensor, None] = dict.fromkeys(op.init)
    for u in op.update:
        reads |= dict.fromkeys([t for t in u.op.input_tensors if t not in op.state_placeholder])
    reads |= dict.fromkeys(inputs)
    op.input_tensors = tuple(reads)
    count = len(op.update)
    op.outputs = [
        Tensor(s.shape, s.dtype, op, n, name if count == 1 else f"{name}_v{n}")
        for n, s in enumerate(op.state_placeholder)
    ]
    return op.outputs if count > 1 else op.outputs[0]


def thread_axis(dom: Any = None, tag: str = "", name: str = "", span: Any = None) -> IterVar:
    """A thread axis: ``te.thread_axis("threadIdx.x")``, or with its extent first."""
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise TirscriptError("a thread axis has a tag, like threadIdx.x", code="thread-tag")
    span_of = None
    if dom is not None:
        begin, end = dom if isinstance(dom, (tuple, list)) else (0, dom)
        span_of = Range(ops.index(begin), ops.sub(end, begin) if begin else ops.index(end))
    return IterVar(Var(name or tag, "int32"), span_of, "thread", tag)
