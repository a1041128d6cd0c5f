"""``T`` for ``IRBuilder``: the names of a script, as functions that add to the open frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.ir import nodeclass as _n
from tirscript.ir import ops as _ops
from tirscript.ir import stmt as _stmt
from tirscript.ir.buffer import Buffer as _Buffer
from tirscript.ir.buffer import BufferRegion, MatchBufferRegion
from tirscript.ir.expr import TRUE, IterVar, Range, StringImm, Var, const_int
from tirscript.ir.stmt import THREAD_TAGS
from tirscript.script import constructs as _constructs
from tirscript.script import tir as _script

from . import arguments as _a
from .base import IRBuilder, IRBuilderError, WrapFrame
from .frames import BlockFrame, BranchFrame, ForFrame, IfFrame, InitFrame, PrimFuncFrame, loop_domain


def _builder() -> IRBuilder:
    return IRBuilder.current()


# ---- functions


def prim_func(
    is_private: bool = False, *, private: bool = False, s_tir: bool = False, **_: Any
) -> PrimFuncFrame:
    """``with T.prim_func():`` a function; its parts are said inside."""
    return PrimFuncFrame(is_private or private)


def func_name(name: str) -> None:
    """The name of the function."""
    if not isinstance(name, str) or not name:
        raise IRBuilderError(f"the name of a function is a non-empty string, not {name!r}")
    _builder().find(PrimFuncFrame, "T.func_name").name = name


def func_attr(attrs: Mapping[str, Any]) -> None:
    """Attributes of the function."""
    from tirscript.script.parser.frames import canonical_key

    frame = _builder().find(PrimFuncFrame, "T.func_attr")
    for key, value in _keys("T.func_attr", attrs).items():
        frame.attrs[canonical_key(key)] = value


def _keys(what: str, attrs: Any) -> Mapping[str, Any]:
    if not isinstance(attrs, Mapping) or not all(isinstance(k, str) for k in attrs):
        raise IRBuilderError(f"{what}: attributes are a dict with strings as keys")
    return attrs


def func_ret(ret_type: Any) -> Any:
    """The dtype that the function returns."""
    said = _n.dtype("T.func_ret", ret_type, "T.func_ret(dtype)")
    _builder().find(PrimFuncFrame, "T.func_ret").ret_type = said
    return ret_type


def arg(name: str, obj: Any) -> Any:
    """A parameter: a variable (``T.int32()``, ``T.handle()``) or a buffer (``T.Buffer(...)``)."""
    frame = _builder().find(PrimFuncFrame, "T.arg")
    if isinstance(obj, str):
        raise IRBuilderError(f"T.arg: {obj!r} is no parameter", hint='T.arg("n", T.int32())')
    if not isinstance(obj, (Var, _Buffer)) and hasattr(obj, "dtype"):
        obj = obj()
    if isinstance(obj, _Buffer):
        IRBuilder.name(name, obj)
        handle = Var(f"{name}_handle", "handle", False)
        frame.params.append(handle)
        frame.buffer_map[handle] = obj
        return obj
    if not isinstance(obj, Var):
        raise IRBuilderError(f"T.arg: a {type(obj).__name__} is no parameter", hint='T.arg("n", T.int32())')
    frame.params.append(obj)
    return IRBuilder.name(name, obj)


# ---- buffers


def Buffer(
    shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None,
    scope: str = "global", align: int = 0, offset_factor: int = 0, buffer_type: str = "",
    axis_separators: Any = None,
) -> _Buffer:  # fmt: skip
    """A buffer, for ``T.arg``."""
    return _a.buffer(
        "buffer", shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type,
        axis_separators,
    )  # fmt: skip


buffer_decl = Buffer


def match_buffer(
    param: Any, shape: Any = None, dtype: Any = None, data: Any = None, strides: Any = None,
    elem_offset: Any = None, scope: str = "", align: int = -1, offset_factor: int = 0,
    buffer_type: str = "default", axis_separators: Any = None,
) -> _Buffer:  # fmt: skip
    """The buffer behind a pointer parameter, or a view of a region in a block."""
    rest: dict[str, Any] = {
        "data": data, "strides": strides, "elem_offset": elem_offset, "align": align,
        "offset_factor": offset_factor, "buffer_type": buffer_type, "axis_separators": axis_separators,
    }  # fmt: skip
    if isinstance(param, Var):
        frame = _builder().find(PrimFuncFrame, "T.match_buffer")
        if not any(param is p for p in frame.params):
            raise IRBuilderError(f"`{param.name}` is no parameter", hint='a = T.arg("a", T.handle())')
        if param in frame.buffer_map:
            raise IRBuilderError(f"`{param.name}` is matched already")
        if shape is None:
            raise IRBuilderError("T.match_buffer of a parameter needs a shape")
        made = _a.buffer("buffer", shape, dtype or "float32", scope=scope, **rest)
        frame.buffer_map[param] = made
        return made
    (source,) = _a.regions("T.match_buffer", [param])
    block = _builder().find(BlockFrame, "T.match_buffer of a region")
    sizes = tuple([r.extent for r in source.region]) if shape is None else shape
    scope = scope or source.buffer.scope
    made = _a.buffer("buffer", sizes, dtype or source.buffer.dtype, scope=scope, **rest)
    block.matches.append(MatchBufferRegion(made, source))
    return made


def alloc_buffer(
    shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None,
    scope: str = "global", align: int = -1, offset_factor: int = 0, buffer_type: str = "default",
    axis_separators: Any = None,
) -> _Buffer:  # fmt: skip
    """A buffer of the innermost block, of the root block outside of one."""
    made = _a.buffer(
        "buffer", shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type,
        axis_separators,
    )  # fmt: skip
    for frame in reversed(_builder().frames):
        if isinstance(frame, (BlockFrame, PrimFuncFrame)):
            frame.allocs.append(made)
            return made
    raise IRBuilderError("T.alloc_buffer stands outside of a function", hint="with T.prim_func(): ...")


sblock_alloc_buffer = alloc_buffer


def decl_buffer(
    shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None,
    scope: str = "global", align: int = 0, offset_factor: int = 0, buffer_type: str = "",
    axis_separators: Any = None,
) -> WrapFrame:  # fmt: skip
    """``with T.decl_buffer(...) as X:`` a view of the memory at ``data``, which else is allocated."""
    made = _a.buffer(
        "buffer", shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type,
        axis_separators,
    )  # fmt: skip

    def wrap(body: _stmt.Stmt) -> _stmt.Stmt:
        declared = _stmt.DeclBuffer(made, body)
        if data is not None:
            return declared
        return _stmt.Allocate(made.data, made.dtype, made.shape, TRUE, declared)

    return WrapFrame("T.decl_buffer(...)", wrap, made)


def allocate(
    extents: Any, dtype: Any, scope: str = "global", condition: Any = None, annotations: Any = None
) -> WrapFrame:
    """``with T.allocate([64], "float32", "shared") as p:`` memory behind a pointer."""
    said = _n.dtype("T.allocate", dtype, "T.allocate(extents, dtype)")
    var = Var("v", "handle", False, (said, scope))
    sizes = _a.extents("T.allocate", extents)
    test = TRUE if condition is None else _ops.condition(condition)
    notes = dict(annotations or {})
    return WrapFrame("T.allocate(...)", lambda body: _stmt.Allocate(var, said, sizes, test, body, notes), var)


def allocate_const(data: Any, dtype: Any, extents: Any, annotations: Any = None) -> WrapFrame:
    """``with T.allocate_const([1, 2], "int32", [2]) as p:`` constant memory."""
    import numpy as np

    from tirscript.script.parser.frames import numpy_dtype

    said = _n.dtype("T.allocate_const", dtype, "T.allocate_const(data, dtype, extents)")
    var = Var("v", "handle", False, (said, "global"))
    sizes = _a.extents("T.allocate_const", extents)
    values = data.numpy() if hasattr(data, "numpy") else data
    array = np.asarray(values, dtype=numpy_dtype(said)).reshape([int(getattr(e, "value", -1)) for e in sizes])
    notes = dict(annotations or {})
    return WrapFrame(
        "T.allocate_const(...)", lambda body: _stmt.AllocateConst(var, said, sizes, array, body, notes), var
    )


def realize(buffer_slice: BufferRegion, storage_scope: str, condition: Any = True) -> WrapFrame:
    """``with T.realize(A[0:n], "shared"):`` the region exists inside."""
    (region,) = _a.regions("T.realize", [buffer_slice])
    target = region.buffer
    object.__setattr__(target, "scope", storage_scope)
    test = _ops.condition(condition)
    return WrapFrame("T.realize(...)", lambda body: _stmt.BufferRealize(target, region.region, test, body))


def buffer_store(buffer: _Buffer, value: Any, indices: Any, predicate: Any = None) -> None:
    """``buffer[indices] = value``"""
    if not isinstance(buffer, _Buffer):
        raise IRBuilderError(f"T.buffer_store: {buffer!r} is no buffer")
    items = indices if isinstance(indices, (list, tuple)) else (indices,)
    place = _ops.load(buffer, [_loop(i) for i in items])
    stored = _ops.const(value, place.dtype) if isinstance(value, (bool, int, float)) else value
    stored = _ops.cast(_n.expr("T.buffer_store", stored), place.dtype)
    when = None if predicate is None else _ops.condition(predicate)
    _builder().add(_stmt.BufferStore(buffer, stored, place.indices, when))


def _loop(i: Any) -> Any:
    return i if isinstance(i, slice) else _n.expr("an index", i)


# ---- loops


def _loops(kind: str, start: Any, stop: Any, annotations: Any, step: Any, thread: str = "") -> ForFrame:
    if stop is None:
        start, stop = 0, start
    low, high = _a.same_dtype(_a.index("a loop", start), _a.index("a loop", stop))
    dom = _n.range_of(low, high)
    var = Var("v", dom.extent.dtype)
    stride = None if step is None else _ops.cast(_a.index("a loop", step), var.dtype)
    notes = dict(_keys("a loop", annotations or {}))
    return ForFrame([(var, dom)], kind, thread, notes, stride, single=True)


def serial(start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None) -> ForFrame:
    """``with T.serial(n) as i:`` a loop in order."""
    return _loops("serial", start, stop, annotations, step)


def parallel(start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None) -> ForFrame:
    """A loop on several threads."""
    return _loops("parallel", start, stop, annotations, step)


def vectorized(start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None) -> ForFrame:
    """A loop whose iterations are lanes."""
    return _loops("vectorized", start, stop, annotations, step)


def unroll(start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None) -> ForFrame:
    """A loop that is written out."""
    return _loops("unrolled", start, stop, annotations, step)


def thread_binding(
    start: Any, stop: Any = None, thread: str | None = None, *, annotations: Any = None
) -> ForFrame:
    """A loop over a thread axis."""
    if thread is None and isinstance(stop, str):
        stop, thread = None, stop
    return _loops("thread_binding", start, stop, annotations, None, _tag(thread))


def _tag(thread: Any) -> str:
    if thread not in THREAD_TAGS:
        raise IRBuilderError(f"{thread!r} is no thread axis", hint='"threadIdx.x", "blockIdx.x", ...')
    return str(thread)


def grid(*extents: Any) -> ForFrame:
    """``with T.grid(n, m) as (i, j):`` nested loops."""
    if not extents:
        raise IRBuilderError("T.grid has no extents")
    domains = []
    for e in extents:
        dom = _a.domain("T.grid", e)
        domains.append((Var("v", dom.extent.dtype), dom))
    return ForFrame(domains, "serial", "", {}, None, single=False)


def While(condition: Any) -> WrapFrame:
    """``with T.While(condition):``"""
    test = _ops.condition(condition)
    return WrapFrame("T.While(...)", lambda body: _stmt.While(test, body))


def If(condition: Any) -> IfFrame:
    """``with T.If(condition):`` around ``T.Then()`` and ``T.Else()``."""
    return IfFrame(_ops.condition(condition))


def Then() -> BranchFrame:
    """Where the condition holds."""
    return BranchFrame(True)


def Else() -> BranchFrame:
    """Where it does not."""
    return BranchFrame(False)


# ---- blocks


def block(name: str = "", no_realize: bool = False) -> BlockFrame:
    """``with T.block("C"):`` a unit of computation over its axes."""
    return BlockFrame(name, not no_realize)


sblock = block


def init() -> InitFrame:
    """``with T.init():`` what runs before the first update."""
    return InitFrame()


def _block(what: str) -> BlockFrame:
    return _builder().find(BlockFrame, what)


def where(predicate: Any) -> None:
    """The block runs where the predicate holds."""
    frame = _block("T.where")
    if frame.predicate is not None:
        raise IRBuilderError("T.where stands twice in this block")
    frame.predicate = _ops.condition(predicate)


def reads(*buffer_slices: Any) -> None:
    """What the block reads."""
    frame = _block("T.reads")
    if frame.reads is not None:
        raise IRBuilderError("T.reads stands twice in this block")
    frame.reads = _a.regions("T.reads", buffer_slices)


def writes(*buffer_slices: Any) -> None:
    """What the block writes."""
    frame = _block("T.writes")
    if frame.writes is not None:
        raise IRBuilderError("T.writes stands twice in this block")
    frame.writes = _a.regions("T.writes", buffer_slices)


def block_attr(attrs: Mapping[str, Any]) -> None:
    """Attributes of the block."""
    frame = _block("T.block_attr")
    for key, value in _keys("T.block_attr", attrs).items():
        if key in frame.annotations and frame.annotations[key] != value:
            raise IRBuilderError(f"the attribute {key!r} has another value already")
        frame.annotations[key] = value


sblock_attr = block_attr


class axis:
    """Axes of the open block."""

    @staticmethod
    def _new(kind: str, dom: Any, binding: Any, dtype: Any) -> Var:
        frame = _block(f"T.axis.{kind}")
        given = _a.domain("an axis", dom)
        low, size, value = _a.same_dtype(given.min, given.extent, _a.index("an axis", binding))
        var = Var("v", value.dtype)
        frame.iter_vars.append(IterVar(var, Range(low, size), kind))
        frame.values.append(value)
        return var

    @staticmethod
    def spatial(dom: Any, binding: Any, dtype: Any = "int32") -> Var:
        """An axis whose instances are independent."""
        return axis._new("spatial", dom, binding, dtype)

    @staticmethod
    def reduce(dom: Any, binding: Any, dtype: Any = "int32") -> Var:
        """An axis that is summed over."""
        return axis._new("reduce", dom, binding, dtype)

    @staticmethod
    def scan(dom: Any, binding: Any, dtype: Any = "int32") -> Var:
        """An axis whose instances run in order."""
        return axis._new("scan", dom, binding, dtype)

    @staticmethod
    def opaque(dom: Any, binding: Any, dtype: Any = "int32") -> Var:
        """An axis of which nothing is known."""
        return axis._new("opaque", dom, binding, dtype)

    @staticmethod
    def remap(kinds: str, bindings: Any, dtype: Any = "int32") -> Any:
        """Several axes over the whole range of loops; one axis alone is not in a list."""
        names = {"S": "spatial", "R": "reduce", "C": "scan", "O": "opaque"}
        items = list(bindings) if isinstance(bindings, (list, tuple)) else [bindings]
        if not isinstance(kinds, str) or len(kinds) != len(items) or set(kinds) - set(names):
            raise IRBuilderError(f"T.axis.remap: {kinds!r} are no kinds of {len(items)} axes", hint='"SR"')
        made = [
            axis._new(names[k], loop_domain(_builder(), v), v, dtype)
            for k, v in zip(kinds, items, strict=True)
        ]
        return made[0] if len(made) == 1 else made

    S = spatial
    R = reduce


# ---- statements


def evaluate(value: Any) -> None:
    """An expression for its effect."""
    if isinstance(value, str):
        value = StringImm(value)
    _builder().add(_stmt.Evaluate(_n.expr("T.evaluate", value)))


def Assert(condition: Any, message: Any, error_kind: str = "AssertionError") -> WrapFrame:
    """``with T.Assert(condition, "message"):``"""
    test = _ops.condition(condition)
    text = StringImm(message) if isinstance(message, str) else _n.expr("T.Assert", message)
    return WrapFrame("T.Assert(...)", lambda body: _stmt.seq(_stmt.AssertStmt(test, text), body))


def LetStmt(value: Any, type_annotation: Any = None, *, var: Any = None) -> WrapFrame:
    """``with T.LetStmt(e) as x:`` the value has a name inside."""
    from tirscript.arith.exact import is_exact

    bound = _n.expr("T.LetStmt", value)
    if var is None:
        exact = bound.dtype[0] in "iu" and is_exact(bound)
        var = Var("v", bound.dtype, exact, bound.pointee if isinstance(bound, Var) else None)
    elif not isinstance(var, Var) or var.dtype != bound.dtype:
        raise IRBuilderError(f"T.LetStmt: a variable of dtype {bound.dtype} is wanted")
    return WrapFrame("T.LetStmt(...)", lambda body: _stmt.LetStmt(var, bound, body), var)


def let(var: Var, value: Any) -> WrapFrame:
    """``with T.let(x, e):`` gives a variable a value."""
    return LetStmt(value, var=var)


def attr(node: Any, attr_key: str, value: Any) -> WrapFrame:
    """``with T.attr(node, key, value):``"""
    from tirscript.script.parser.frames import canonical_key

    said = StringImm(value) if isinstance(value, str) else _n.expr("T.attr", value)
    target = const_int(node) if isinstance(node, int) else node
    return WrapFrame("T.attr(...)", lambda body: _stmt.AttrStmt(target, canonical_key(attr_key), said, body))


def env_thread(thread_tag: str, dtype: str = "int32") -> IterVar:
    """A thread axis, for ``T.launch_thread``."""
    return IterVar(Var(_tag(thread_tag).replace(".", "_"), dtype), None, "thread", thread_tag)


def launch_thread(thread: Any, extent: Any) -> WrapFrame:
    """``with T.launch_thread("threadIdx.x", 128) as tx:``"""
    size = _a.index("T.launch_thread", extent)
    if isinstance(thread, str):
        thread = env_thread(thread, size.dtype)
    if not isinstance(thread, IterVar):
        raise IRBuilderError(f"{thread!r} is no thread axis", hint='T.env_thread("threadIdx.x")')
    iv = thread.replace(dom=Range(const_int(0, size.dtype), size))
    key = "virtual_thread" if iv.thread_tag.startswith("vthread") else "thread_extent"
    return WrapFrame("T.launch_thread(...)", lambda body: _stmt.AttrStmt(iv, key, size, body), iv.var)


def meta_var(value: Any) -> Any:
    """The value itself: here everything is Python."""
    return value


_OWN = (
    "Assert", "Buffer", "Else", "If", "LetStmt", "Then", "While", "alloc_buffer", "allocate",
    "allocate_const", "arg", "attr", "axis", "block", "block_attr", "buffer_decl", "buffer_store",
    "decl_buffer", "env_thread", "evaluate", "func_attr", "func_name", "func_ret", "grid", "init",
    "launch_thread", "let", "match_buffer", "meta_var", "parallel", "prim_func", "reads", "realize", "sblock",
    "sblock_alloc_buffer", "sblock_attr", "serial", "thread_binding", "unroll", "vectorized", "where",
    "writes",
)  # fmt: skip
# What builds expressions is that of scripts.
_SHARED = tuple([n for n in vars(_script)["__all__"] if n not in _constructs.__all__ and n not in _OWN])
__all__ = sorted({*_OWN, *_SHARED, "target"})


def __getattr__(name: str) -> Any:
    if name in _SHARED or name == "target":
        # Not kept: `bool`, `int` and `float` of this module are Python's.
        return getattr(_script, name)
    if not name.startswith("_"):
        from tirscript.ir import dtype as dt

        try:
            dt.info(name)
        except ValueError:
            pass
        else:
            return getattr(_script, name)
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, frozenset(("prefetch", "preflattened_buffer", "macro", "inline")))


def __dir__() -> list[str]:
    return __all__
