"""The node classes as TVM's programs call them: argument order, lists, Python numbers (see ``ir.nodeclass``).

Each function here is named after its class and makes one node of it.  Arguments are converted where TVM
converts them (numbers, lists, dtypes in any spelling) and refused by name where they do not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Any

import tirscript.ir as ir
from tirscript.ir import dtype as dt
from tirscript.ir import nodeclass as n
from tirscript.ir import ops
from tirscript.ir.index_map import IndexMap as RawIndexMap
from tirscript.ir.nodeclass import NodeArgumentError, node_class, range_of
from tirscript.ir.stmt import LOOP_KINDS, THREAD_TAGS
from tirscript.ir.types import PointerType, PrimType
from tirscript.script import operators as script_ops
from tirscript.te.reduce import Reduce as RawReduce


class ForKind(StrEnum):
    """The kinds of loops; each is equal to the string in ``For.kind``."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD_BINDING = "thread_binding"


class IterKind(IntEnum):
    """TVM's numbers of the kinds of axes: ``IterVar.DataPar`` and the like."""

    DataPar = 0
    ThreadIndex = 1
    CommReduce = 2
    Ordered = 3
    Opaque = 4
    Unrolled = 5
    Vectorized = 6
    Parallelized = 7
    Tensorized = 8


class CallEffectKind(IntEnum):
    """What a call may do, as TVM counts it."""

    ExprAnnotation = 0
    Pure = 1
    ReadState = 2
    UpdateState = 3
    Opaque = UpdateState
    SpecialCallArg = 4
    EmbedInfo = 5
    ControlJump = 6


class BufferType(IntEnum):
    """How a buffer treats extents of 1."""

    DEFAULT = 1
    AUTO_BROADCAST = 2


# ---- leaves


def Var(name: Any, dtype: Any = "int32", span: Any = None) -> ir.Var:
    """``Var(name, dtype)``; ``dtype`` is a string, a PrimType or a PointerType."""
    if not isinstance(name, str):
        raise n.wrong("Var", name, "name", 'the order is Var("i", "int32")')
    if isinstance(dtype, PointerType):
        inside = dtype.element_type
        pointee = (inside.dtype, dtype.storage_scope) if isinstance(inside, PrimType) else None
        return ir.Var(name, "handle", False, pointee, span)
    said = n.dtype("Var", dtype, "Var(name, dtype)")
    return ir.Var(name, said, dt.is_int(said), None, span)


def IntImm(dtype: Any, value: Any, span: Any = None) -> ir.IntImm:
    """``IntImm(dtype, value)``; the value must fit."""
    said = n.dtype("IntImm", dtype, "IntImm(dtype, value)")
    kind = dt.info(said)
    if kind.lanes != 1 or not (kind.is_int or kind.code == "bool"):
        raise NodeArgumentError(f"IntImm: {said} is no integer dtype", hint="FloatImm(dtype, value)")
    number = _number("IntImm", value)
    if isinstance(number, float):
        raise n.wrong("IntImm", number, "integer", f'FloatImm("float32", {number!r})')
    made = ops.const(number, said)
    assert isinstance(made, ir.IntImm)
    return made if span is None else made.replace(span=span)


def FloatImm(dtype: Any, value: Any, span: Any = None) -> ir.FloatImm:
    """``FloatImm(dtype, value)``; the value is rounded to the dtype."""
    said = n.dtype("FloatImm", dtype, "FloatImm(dtype, value)")
    kind = dt.info(said)
    if kind.lanes != 1 or not kind.is_float:
        raise NodeArgumentError(f"FloatImm: {said} is no float dtype", hint="IntImm(dtype, value)")
    made = ops.const(float(_number("FloatImm", value)), said)
    assert isinstance(made, ir.FloatImm)
    return made if span is None else made.replace(span=span)


def _number(what: str, value: Any) -> int | float:
    if isinstance(value, (ir.IntImm, ir.FloatImm)):
        return value.value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    if not isinstance(value, (int, float)):
        raise n.wrong(what, value, "number", f"the order is {what}(dtype, value)")
    return value


def StringImm(value: Any, span: Any = None) -> ir.StringImm:
    """``StringImm(value)``"""
    if not isinstance(value, str):
        raise n.wrong("StringImm", value, "string")
    return ir.StringImm(value, span)


def GlobalVar(name_hint: Any, span: Any = None) -> ir.GlobalVar:
    """``GlobalVar(name_hint)``"""
    if not isinstance(name_hint, str):
        raise n.wrong("GlobalVar", name_hint, "name")
    return ir.GlobalVar(name_hint, span)


# ---- expressions


def _spanned(made: Any, span: Any) -> Any:
    return made if span is None else made.replace(span=span)


def _raw_value(what: str, value: Any) -> Any:
    """An operand: a number stays one, it takes the other side's dtype."""
    return value if isinstance(value, (bool, int, float)) else n.expr(what, value)


def _binary(name: str) -> Any:
    def build(a: Any, b: Any, span: Any = None) -> Any:
        made = getattr(script_ops, name)(_raw_value(name, a), _raw_value(name, b))
        return _spanned(made, span)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"``{name}(a, b)``; a Python number takes the other side's dtype."
    return build


def Not(a: Any, span: Any = None) -> Any:
    """``Not(a)``"""
    return _spanned(script_ops.Not(n.expr("Not", a)), span)


def Cast(dtype: Any, value: Any, span: Any = None) -> ir.Cast:
    """``Cast(dtype, value)``; a node even where the value has that dtype."""
    said = n.dtype("Cast", dtype, "Cast(dtype, value)")
    return ir.Cast(said, n.expr("Cast", value), span)


def Select(condition: Any, true_value: Any, false_value: Any, span: Any = None) -> Any:
    """``Select(condition, true_value, false_value)``"""
    parts = [_raw_value("Select", v) for v in (true_value, false_value)]
    return _spanned(ops.select(n.expr("Select", condition), *parts), span)


def BufferLoad(buffer: Any, indices: Any, predicate: Any = None, span: Any = None) -> ir.BufferLoad:
    """``BufferLoad(buffer, indices, predicate=None)``"""
    made = ops.load(n.buffer("BufferLoad", buffer), _indices("BufferLoad", indices))
    return made.replace(predicate=None if predicate is None else n.expr("BufferLoad", predicate), span=span)


def _indices(what: str, indices: Any) -> tuple[Any, ...]:
    """One index, or a list; slices with constant ends are ramps."""
    if isinstance(indices, slice) or not isinstance(indices, (list, tuple)):
        indices = (indices,)
    return tuple([i if isinstance(i, slice) else n.expr(what, i) for i in indices])


def Ramp(base: Any, stride: Any, lanes: Any, span: Any = None) -> Any:
    """``Ramp(base, stride, lanes)``"""
    return _spanned(script_ops.Ramp(n.expr("Ramp", base), n.expr("Ramp", stride), lanes), span)


def Broadcast(value: Any, lanes: Any, span: Any = None) -> Any:
    """``Broadcast(value, lanes)``"""
    return _spanned(script_ops.Broadcast(n.expr("Broadcast", value), lanes), span)


def Shuffle(vectors: Any, indices: Any, span: Any = None) -> Any:
    """``Shuffle(vectors, indices)``"""
    return _spanned(script_ops.Shuffle(n.exprs("Shuffle", vectors), n.exprs("Shuffle", indices)), span)


def Call(dtype: Any, op: Any, args: Any, span: Any = None) -> ir.Call:
    """``Call(dtype, op, args)``; ``op`` is an operator, its name (``"tir.exp"``) or a GlobalVar."""
    said = n.dtype("Call", dtype, "Call(dtype, op, args)")
    from tirscript.ir.op import OPS
    from tirscript.ir.op_object import Op

    if isinstance(op, ir.GlobalVar):
        name: Any = op
    else:
        name = Op.get(op).operator if isinstance(op, (str, Op)) else None
        if name is None:
            raise n.wrong("Call", op, "operator", 'a name such as "tir.exp", or a GlobalVar')
        low, high = OPS[name].arity
        count = len(args) if isinstance(args, (list, tuple)) else 1
        if count < low or (high >= 0 and count > high):
            raise NodeArgumentError(f"Call: {name} takes {low} arguments, {count} given", code="arity")
    if not isinstance(args, (list, tuple)):
        raise n.wrong("Call", args, "list of arguments", "the order is Call(dtype, op, args)")
    values = [a.data if isinstance(a, ir.Buffer) else n.expr("Call", a) for a in args]
    return ir.Call(said, name, tuple(values), span)


def Let(var: Any, value: Any, body: Any, span: Any = None) -> ir.Let:
    """``Let(var, value, body)``"""
    bound = n.variable("Let", var)
    return ir.Let(bound, _bound("Let", bound, value), n.expr("Let", body), span)


def _bound(what: str, var: ir.Var, value: Any) -> ir.Expr:
    found = n.expr(what, value, var.dtype if isinstance(value, (int, float)) else None)
    if found.dtype != var.dtype:
        raise NodeArgumentError(
            f"{what}: `{var.name}` is {var.dtype}, the value is {found.dtype}", hint="tir.Cast(dtype, value)"
        )
    return found


def CommReducer(lhs: Any, rhs: Any, result: Any, identity_element: Any, span: Any = None) -> ir.CommReducer:
    """``CommReducer(lhs, rhs, result, identity_element)``"""
    sides = [tuple([n.variable("CommReducer", v) for v in _items("CommReducer", s)]) for s in (lhs, rhs)]
    results = n.exprs("CommReducer", result)
    neutral = n.exprs("CommReducer", identity_element)
    if len({len(sides[0]), len(sides[1]), len(results), len(neutral)}) != 1:
        raise NodeArgumentError("CommReducer: lhs, rhs, result and identity_element have different lengths")
    return ir.CommReducer(sides[0], sides[1], results, neutral, span)


def Reduce(
    combiner: Any, src: Any, rdom: Any, condition: Any, value_index: Any, init: Any = None, span: Any = None
) -> RawReduce:
    """``Reduce(combiner, src, rdom, condition, value_index, init=None)``, the body of a ``te.compute``."""
    if not isinstance(combiner, ir.CommReducer):
        raise n.wrong("Reduce", combiner, "reducer", "tir.CommReducer(lhs, rhs, result, identity_element)")
    source = n.exprs("Reduce", src)
    axes = _all("Reduce", rdom if isinstance(rdom, (list, tuple)) else (rdom,), ir.IterVar, "axis")
    if len(source) != len(combiner.result) or not 0 <= int(value_index) < len(source):
        raise NodeArgumentError(
            f"Reduce: {len(source)} values, number {value_index}, for a reducer of {len(combiner.result)}"
        )
    test = None if condition is None else ops.condition(condition)
    if isinstance(test, ir.IntImm) and test.value:
        test = None
    start = n.exprs("Reduce", init) if init else ()
    return RawReduce(combiner, source, start, axes, test, int(value_index), source[int(value_index)].dtype)


def IterVar(dom: Any, var: Any, iter_type: Any, thread_tag: str = "", span: Any = None) -> ir.IterVar:
    """``IterVar(dom, var, iter_type, thread_tag="")``; ``dom`` is a Range, ``(begin, end)`` or None."""
    if isinstance(iter_type, IntEnum):
        iter_type = int(iter_type)
    if not isinstance(iter_type, (int, str)):
        raise n.wrong("IterVar", iter_type, "kind of axis", "tir.IterVar.DataPar, CommReduce, ...")
    if isinstance(dom, list):
        dom = tuple(dom)
    return script_ops.iter_var(var, dom, iter_type, thread_tag).replace(span=span)


# ---- statements


def LetStmt(var: Any, value: Any, body: Any, span: Any = None) -> ir.LetStmt:
    """``LetStmt(var, value, body)``"""
    bound = n.variable("LetStmt", var)
    return ir.LetStmt(bound, _bound("LetStmt", bound, value), n.statement("LetStmt", body), span)


def AssertStmt(condition: Any, message: Any, body: Any = None, span: Any = None) -> ir.Stmt:
    """``AssertStmt(condition, message, body)``: here the assert stands before its body."""
    test = ops.condition(n.expr("AssertStmt", condition))
    if isinstance(message, str):
        message = ir.StringImm(message)
    made = ir.AssertStmt(test, n.expr("AssertStmt", message), span)
    return made if body is None else ir.seq(made, n.statement("AssertStmt", body))


def _kind_of_loop(kind: Any) -> str:
    if isinstance(kind, ForKind):
        return kind.value
    if isinstance(kind, int) and not isinstance(kind, bool) and 0 <= kind < len(LOOP_KINDS):
        return LOOP_KINDS[kind]
    if kind in LOOP_KINDS:
        return str(kind)
    raise n.wrong("For", kind, "kind of loop", "tir.ForKind." + ", ".join(k.name for k in ForKind))


def For(
    loop_var: Any,
    min: Any,
    extent: Any,
    kind: Any,
    body: Any,
    thread_binding: Any = None,
    annotations: Mapping[str, Any] | None = None,
    step: Any = None,
    span: Any = None,
) -> ir.For:
    """``For(loop_var, min, extent, kind, body, thread_binding=None, annotations=None, step=None)``"""
    var = n.variable("For", loop_var)
    low, count = (_of_dtype("For", e, var.dtype) for e in (min, extent))
    said = _kind_of_loop(kind)
    tag = thread_binding.thread_tag if isinstance(thread_binding, ir.IterVar) else thread_binding
    if said == "thread_binding":
        if tag not in THREAD_TAGS:
            raise n.wrong("For", tag, "thread tag", 'thread_binding="threadIdx.x"')
    elif tag:
        raise NodeArgumentError(f"For: a {said} loop has no thread", hint="kind=tir.ForKind.THREAD_BINDING")
    return ir.For(
        var, low, count, said, n.statement("For", body), tag or "", _annotations("For", annotations),
        None if step is None else _of_dtype("For", step, var.dtype), span,
    )  # fmt: skip


def _of_dtype(what: str, value: Any, dtype: str) -> ir.Expr:
    """An integer of the dtype: constants take it, another expression must have it."""
    found = n.expr(what, value, dtype if isinstance(value, int) else None)
    if isinstance(found, ir.IntImm) and found.dtype != dtype:
        return ops.const(found.value, dtype)
    if found.dtype != dtype:
        raise NodeArgumentError(f"{what}: {dtype} is wanted, {found!r} is {found.dtype}")
    return found


def _annotations(what: str, given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(k, str) for k in given):
        raise n.wrong(what, given, "dict with strings as keys")
    return dict(given)


def While(condition: Any, body: Any, span: Any = None) -> ir.While:
    """``While(condition, body)``"""
    return ir.While(ops.condition(n.expr("While", condition)), n.statement("While", body), span)


def IfThenElse(condition: Any, then_case: Any, else_case: Any = None, span: Any = None) -> ir.IfThenElse:
    """``IfThenElse(condition, then_case, else_case=None)``"""
    other = None if else_case is None else n.statement("IfThenElse", else_case)
    test = ops.condition(n.expr("IfThenElse", condition))
    return ir.IfThenElse(test, n.statement("IfThenElse", then_case), other, span)


def SeqStmt(seq: Any, span: Any = None) -> ir.Stmt:
    """``SeqStmt([a, b, ...])``, flattened; of one statement that statement."""
    if not isinstance(seq, Iterable):
        raise n.wrong("SeqStmt", seq, "list of statements")
    items = [n.statement("SeqStmt", s) for s in seq]
    if not items:
        raise NodeArgumentError("SeqStmt: no statements", hint="tir.Evaluate(0) does nothing")
    return ir.seq(*items)


def stmt_seq(*args: Any) -> ir.Stmt:
    """The statements in order; expressions become statements."""
    items = [a if isinstance(a, ir.Stmt) else Evaluate(a) for a in args]
    return items[0] if len(items) == 1 else SeqStmt(items)


def stmt_list(stmt: Any) -> list[ir.Stmt]:
    """The statements of a sequence, one after the other."""
    return list(stmt.seq) if isinstance(stmt, ir.SeqStmt) else [n.statement("stmt_list", stmt)]


def Evaluate(value: Any, span: Any = None) -> ir.Evaluate:
    """``Evaluate(value)``"""
    return ir.Evaluate(n.expr("Evaluate", value), span)


def BufferStore(buffer: Any, value: Any, indices: Any, predicate: Any = None, span: Any = None) -> Any:
    """``BufferStore(buffer, value, indices, predicate=None)``"""
    target = n.buffer("BufferStore", buffer)
    place = ops.load(target, _indices("BufferStore", indices))
    if isinstance(value, (int, float)):
        stored = ops.const(value, place.dtype)
    else:
        stored = n.expr("BufferStore", value)
    if stored.dtype != place.dtype:
        wide = dt.info(place.dtype).lanes != 1 and dt.info(stored.dtype).lanes == 1
        if wide and dt.info(place.dtype).base == stored.dtype:
            stored = ir.Broadcast(stored, dt.info(place.dtype).lanes)
        else:
            raise NodeArgumentError(
                f"BufferStore: `{target.name}` holds {place.dtype} there, the value is {stored.dtype}",
                hint=f'tir.Cast("{place.dtype}", value)',
            )
    when = None if predicate is None else n.expr("BufferStore", predicate)
    return ir.BufferStore(target, stored, place.indices, when, span)


def BufferRealize(buffer: Any, bounds: Any, condition: Any, body: Any, span: Any = None) -> ir.BufferRealize:
    """``BufferRealize(buffer, bounds, condition, body)``"""
    return ir.BufferRealize(
        n.buffer("BufferRealize", buffer), _ranges(bounds), ops.condition(condition),
        n.statement("BufferRealize", body), span,
    )  # fmt: skip


def _ranges(region: Any) -> tuple[ir.Range, ...]:
    return tuple([r if isinstance(r, ir.expr.Range) else _range(r) for r in _items("a region", region)])


def _range(r: Any) -> ir.Range:
    if isinstance(r, slice):
        return range_of(0 if r.start is None else r.start, r.stop)
    if isinstance(r, (tuple, list)):
        return range_of(*r)
    at = ops.index(r)
    return ir.expr.Range(at, ops.const(1, at.dtype))


def Allocate(
    buffer_var: Any, dtype: Any, extents: Any, condition: Any, body: Any, annotations: Any = None,
    span: Any = None,
) -> ir.Allocate:  # fmt: skip
    """``Allocate(buffer_var, dtype, extents, condition, body, annotations=None)``"""
    test = ir.TRUE if condition is None else ops.condition(condition)
    return ir.Allocate(
        n.variable("Allocate", buffer_var),
        n.dtype("Allocate", dtype, "Allocate(buffer_var, dtype, extents, condition, body)"),
        n.exprs("Allocate", extents), test, n.statement("Allocate", body),
        _annotations("Allocate", annotations), span,
    )  # fmt: skip


def AllocateConst(
    buffer_var: Any, dtype: Any, extents: Any, data_or_idx: Any, body: Any, annotations: Any = None,
    span: Any = None,
) -> ir.AllocateConst:  # fmt: skip
    """``AllocateConst(buffer_var, dtype, extents, data, body, annotations=None)``"""
    data = data_or_idx.numpy() if hasattr(data_or_idx, "numpy") else data_or_idx
    if not hasattr(data, "reshape"):
        raise n.wrong("AllocateConst", data_or_idx, "array")
    return ir.AllocateConst(
        n.variable("AllocateConst", buffer_var),
        n.dtype("AllocateConst", dtype, "AllocateConst(buffer_var, dtype, extents, data, body)"),
        n.exprs("AllocateConst", extents), data, n.statement("AllocateConst", body),
        _annotations("AllocateConst", annotations), span,
    )  # fmt: skip


def DeclBuffer(buffer: Any, body: Any, span: Any = None) -> ir.DeclBuffer:
    """``DeclBuffer(buffer, body)``"""
    return ir.DeclBuffer(n.buffer("DeclBuffer", buffer), n.statement("DeclBuffer", body), span)


def AttrStmt(node: Any, attr_key: Any, value: Any, body: Any, span: Any = None) -> ir.AttrStmt:
    """``AttrStmt(node, attr_key, value, body)``"""
    if not isinstance(attr_key, str):
        raise n.wrong("AttrStmt", attr_key, "key", "the order is AttrStmt(node, attr_key, value, body)")
    return ir.AttrStmt(node, attr_key, n.expr("AttrStmt", value), n.statement("AttrStmt", body), span)


def BufferRegion(buffer: Any, region: Any) -> ir.BufferRegion:
    """``BufferRegion(buffer, region)``: one Range for each dimension."""
    whole = n.buffer("BufferRegion", buffer)
    ranges = _ranges(region)
    if len(ranges) != whole.ndim:
        raise NodeArgumentError(
            f"BufferRegion: `{whole.name}` has {whole.ndim} dimensions, {len(ranges)} given",
            code="index-count",
        )
    return ir.BufferRegion(whole, ranges)


def MatchBufferRegion(buffer: Any, source: Any) -> ir.MatchBufferRegion:
    """``MatchBufferRegion(buffer, source)``"""
    if not isinstance(source, ir.BufferRegion):
        raise n.wrong("MatchBufferRegion", source, "region")
    return ir.MatchBufferRegion(n.buffer("MatchBufferRegion", buffer), source)


def Block(
    iter_vars: Any,
    reads: Any,
    writes: Any,
    name_hint: Any,
    body: Any,
    init: Any = None,
    alloc_buffers: Any = None,
    match_buffers: Any = None,
    annotations: Any = None,
    span: Any = None,
) -> ir.Block:
    """``Block(iter_vars, reads, writes, name_hint, body, init=None, alloc_buffers=None, ...)``"""
    if not isinstance(name_hint, str):
        raise n.wrong("Block", name_hint, "name", "the order is Block(iter_vars, reads, writes, name, body)")
    return ir.Block(
        ir.BlockLabel(name_hint),
        _all("Block", iter_vars, ir.IterVar, "axis"),
        _all("Block", reads, ir.BufferRegion, "region"),
        _all("Block", writes, ir.BufferRegion, "region"),
        n.statement("Block", body),
        None if init is None else n.statement("Block", init),
        _all("Block", alloc_buffers or (), ir.Buffer, "buffer"),
        _all("Block", match_buffers or (), ir.MatchBufferRegion, "matched buffer"),
        _annotations("Block", annotations),
        span,
    )


def _items(what: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise n.wrong(what, values, "list")
    return list(values)


def _all(what: str, values: Any, kind: type, word: str) -> tuple[Any, ...]:
    if not isinstance(values, (list, tuple)):
        raise n.wrong(what, values, f"list of {word}s")
    for v in values:
        if not isinstance(v, kind):
            raise n.wrong(what, v, word)
    return tuple(values)


def BlockRealize(iter_values: Any, predicate: Any, block: Any, span: Any = None) -> ir.BlockRealize:
    """``BlockRealize(iter_values, predicate, block)``"""
    if not isinstance(block, ir.Block):
        raise n.wrong("BlockRealize", block, "block")
    values = n.exprs("BlockRealize", iter_values)
    if len(values) != len(block.iter_vars):
        raise NodeArgumentError(
            f'BlockRealize: "{block.name}" has {len(block.iter_vars)} axes, {len(values)} values given'
        )
    typed = tuple(
        [_of_dtype("BlockRealize", v, iv.var.dtype) for v, iv in zip(values, block.iter_vars, strict=True)]
    )
    return ir.BlockRealize(typed, ops.condition(predicate), block, span)


# ---- functions, maps


def PrimFunc(
    params: Any, body: Any, ret_type: Any = None, buffer_map: Any = None, attrs: Any = None, span: Any = None
) -> ir.PrimFunc:
    """``PrimFunc(params, body, ret_type=None, buffer_map=None, attrs=None)``; a Buffer may stand as one."""
    if buffer_map is not None and not isinstance(buffer_map, Mapping):
        raise n.wrong(
            "PrimFunc", buffer_map, "dict of parameters and buffers", "the order is PrimFunc(params, body)"
        )
    mapped: dict[ir.Var, ir.Buffer] = dict(buffer_map or {})
    variables: list[ir.Var] = []
    for p in [params] if isinstance(params, (ir.Var, ir.Buffer)) else _items("PrimFunc", params):
        if isinstance(p, ir.Buffer):
            handle = ir.Var(f"{p.name}_handle", "handle", False)
            mapped[handle] = p
            variables.append(handle)
        else:
            variables.append(n.variable("PrimFunc", p))
    for key, value in mapped.items():
        n.buffer("PrimFunc", value)
        if not any(key is v for v in variables):
            raise NodeArgumentError(f"PrimFunc: `{key!r}` in buffer_map is no parameter")
    void = ret_type is None or (isinstance(ret_type, ir.types.TupleType) and not ret_type.fields)
    returned = (
        "void" if void else n.dtype("PrimFunc", ret_type, "PrimFunc(params, body, ret_type, buffer_map)")
    )
    return ir.PrimFunc(
        tuple(variables),
        mapped,
        n.statement("PrimFunc", body),
        returned,
        _annotations("PrimFunc", attrs),
        span,
    )


def IndexMap(initial_indices: Any, final_indices: Any, inverse_index_map: Any = None) -> RawIndexMap:
    """``IndexMap(initial_indices, final_indices, inverse_index_map=None)``"""
    initial = [n.variable("IndexMap", v) for v in _items("IndexMap", initial_indices)]
    dtype = initial[0].dtype if initial else "int32"
    final = [
        n.expr("IndexMap", e, dtype if isinstance(e, int) else None)
        for e in _items("IndexMap", final_indices)
    ]
    return RawIndexMap(initial, final, inverse_index_map)


# ---- the classes

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max", "EQ", "NE", "LT",
               "LE", "GT", "GE", "And", "Or")  # fmt: skip
_BUILDERS: Sequence[Any] = (
    IntImm, FloatImm, StringImm, GlobalVar, Not, Cast, Select, BufferLoad, Ramp, Broadcast, Shuffle, Call,
    Let, CommReducer, LetStmt, AssertStmt, For, While, IfThenElse, SeqStmt, Evaluate, BufferStore,
    BufferRealize, Allocate, AllocateConst, DeclBuffer, AttrStmt, BufferRegion, MatchBufferRegion, Block,
    BlockRealize, PrimFunc,
)  # fmt: skip
CLASSES: dict[str, Any] = {
    **{name: node_class(getattr(ir, name), _binary(name)) for name in _ARITHMETIC},
    **{build.__name__: node_class(getattr(ir, build.__name__), build) for build in _BUILDERS},
    "Var": node_class(ir.Var, Var),
    "IterVar": node_class(ir.IterVar, IterVar, **{kind.name: kind for kind in IterKind}),
    "IndexMap": node_class(RawIndexMap, IndexMap),
    "Range": ir.Range,
    "Reduce": node_class(RawReduce, Reduce),
}
# What newer TVM calls blocks.
CLASSES["SBlock"], CLASSES["SBlockRealize"] = CLASSES["Block"], CLASSES["BlockRealize"]
CLASSES["SizeVar"] = CLASSES["Var"]
