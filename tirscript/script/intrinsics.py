"""The calls of ``T``: loads, pointers, foreign code, threads, matrix units, asynchronous copies.

They are ordinary functions that build expressions, in a script and outside of one.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import expr as nodes
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, GlobalVar, const_int
from tirscript.ir.op import OPS

from .operators import dtype_anywhere, named, read_dtype

# ---- loads, calls, pointers


def BufferLoad(buffer: Buffer, indices: Sequence[Any], predicate: Any = None) -> Expr:
    """A load as a node: ``buffer[indices]``."""
    return ops.load(buffer, list(indices)).replace(
        predicate=None if predicate is None else ops.as_expr(predicate)
    )


def Call(dtype: Any, op: Any, args: Sequence[Any]) -> Expr:
    """A call as a node: an operator by its name, or a function of the module."""
    name = op if isinstance(op, (str, GlobalVar)) else getattr(op, "name", str(op))
    if isinstance(name, str):
        name = name.rpartition(".")[2]
    return nodes.Call(read_dtype(dtype), name, tuple([_argument(a) for a in args]))


def _argument(value: Any) -> Expr:
    return value.data if isinstance(value, Buffer) else ops.as_expr(value)


def _packed_argument(value: Any) -> Expr:
    """A buffer is passed as an array, with its shape."""
    if not isinstance(value, Buffer):
        return ops.as_expr(value)
    strides = ops.call("tvm_stack_make_shape", *value.strides) if value.strides else const_int(0)
    offset = const_int(0) if value.elem_offset is None else value.elem_offset
    shape = ops.call("tvm_stack_make_shape", *value.shape)
    zero = ops.cast(const_int(0), value.dtype)
    return nodes.Call(
        "handle", "tvm_stack_make_array", (value.data, shape, strides, const_int(value.ndim), zero, offset)
    )


def address_of(obj: Any) -> Expr:
    """The address of a buffer or of one of its elements."""
    if isinstance(obj, Buffer):
        obj = nodes.BufferLoad(obj, tuple([const_int(0)] * obj.ndim))
    if not isinstance(obj, (nodes.BufferLoad, nodes.Var)):
        raise TirscriptError("T.address_of takes a buffer or an element of one", code="address")
    return nodes.Call("handle", "address_of", (obj,))


def type_annotation(dtype: Any) -> Expr:
    """A dtype as an argument, of T.tvm_access_ptr."""
    return nodes.Call(read_dtype(dtype), "type_annotation", ())


def tvm_access_ptr(ptype: Any, data: Any, offset: Any, extent: Any, rw_mask: Any) -> Expr:
    """A pointer to ``extent`` elements from ``offset`` on; ``rw_mask`` is 1 read, 2 write, 3 both."""
    said = type_annotation(ptype) if not isinstance(ptype, Expr) else ptype
    return ops.call("tvm_access_ptr", said, _argument(data), offset, extent, rw_mask)


def undef(dtype: str = "int32") -> Expr:
    """A value that is not said."""
    return nodes.Call(read_dtype(dtype), "undef", ())


def assume(cond: Any) -> Expr:
    """A condition that holds, for the compiler to use."""
    return ops.call("assume", cond)


def ret(value: Any = None) -> Expr:
    """Leave the function with this value."""
    return ops.call("ret") if value is None else ops.call("ret", value)


def break_loop() -> Expr:
    """``break`` as a call."""
    return ops.call("break_loop")


def continue_loop() -> Expr:
    """``continue`` as a call."""
    return ops.call("continue_loop")


def thread_return() -> Expr:
    """End this thread."""
    return ops.call("thread_return")


@dtype_anywhere
def call_extern(dtype: Any, func_name: Any, *args: Any) -> Expr:
    """A call of a C function: ``T.call_extern("float32", "sinf", x)``."""
    return _foreign("call_extern", dtype, func_name, args)


@dtype_anywhere
def call_pure_extern(dtype: Any, func_name: Any, *args: Any) -> Expr:
    """A call of a C function without effects."""
    return _foreign("call_pure_extern", dtype, func_name, args)


@dtype_anywhere
def call_llvm_intrin(dtype: Any, name: Any, *args: Any) -> Expr:
    """A call of an LLVM intrinsic: ``T.call_llvm_intrin("float32", "llvm.fabs.f32", x)``."""
    return _foreign("call_llvm_intrin", dtype, name, args)


@dtype_anywhere
def call_llvm_pure_intrin(dtype: Any, name: Any, *args: Any) -> Expr:
    """A call of an LLVM intrinsic without effects."""
    return _foreign("call_llvm_pure_intrin", dtype, name, args)


def _foreign(op: str, dtype: Any, name: Any, args: tuple[Any, ...]) -> Expr:
    if not isinstance(name, (str, int, Expr)):
        raise TirscriptError("the name of the function is a string", code="call")
    return nodes.Call(read_dtype(dtype), op, (ops.as_expr(name), *[_argument(a) for a in args]))


@dtype_anywhere
def call_intrin(dtype: Any, func_name: Any, *args: Any) -> Expr:
    """A call of an operator by its name: ``T.call_intrin("float32", "exp", x)``."""
    name = str(getattr(func_name, "name", func_name)).rpartition(".")[2]
    exprs = tuple([_argument(a) for a in args])
    known = OPS.get(name)
    if known is not None:
        low, high = known.arity
        if len(exprs) < low or (high >= 0 and len(exprs) > high):
            raise TirscriptError(f"{name} takes {low} arguments, {len(exprs)} given", code="arity")
    return nodes.Call(read_dtype(dtype), name, exprs)


def _simple(names: str, dtype: str, doc: str, parameters: str = "*args") -> None:
    """Functions that pass their arguments on to the operator of their name."""
    kinds = {"*": inspect.Parameter.VAR_POSITIONAL}
    listed = []
    for p in parameters.split(", ") if parameters else ():
        kind = kinds.get(p[0], inspect.Parameter.POSITIONAL_OR_KEYWORD)
        name, _, default = p.lstrip("*").partition("=")
        value = {"": inspect.Parameter.empty, "8": 8, "False": False}[default]
        listed.append(inspect.Parameter(name, kind, default=value))
    for name in names.split():
        globals()[name] = _passed_on(name, dtype, doc, inspect.Signature(listed))


def _passed_on(name: str, dtype: str, doc: str, signature: inspect.Signature) -> Any:
    def function(*args: Any, **kwargs: Any) -> Expr:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        read = _packed_argument if "packed" in name else _argument
        return nodes.Call(dtype, name, tuple([read(a) for a in bound.args]))

    function.__signature__ = signature  # type: ignore[attr-defined]
    return named(function, name, doc)


_PACKED = "A call of a registered function: the name, then the arguments."
_simple("call_packed call_cpacked call_packed_lowered call_cpacked_lowered", "int32", _PACKED)
_simple("tvm_call_packed tvm_call_cpacked tvm_call_packed_lowered tvm_call_cpacked_lowered", "int32", _PACKED)
_simple(
    "anylist_getitem anylist_resetitem",
    "handle",
    "An item of a list of the virtual machine.",
    "list_handle, index",
)
_simple(
    "anylist_setitem_call_packed anylist_setitem_call_cpacked",
    "int32",
    _PACKED,
    "list_handle, index, func_name, *args",
)
_simple("llvm_lookup_intrinsic_id", "uint32", "The number of an LLVM intrinsic.", "name")
_simple("isnullptr", "bool", "Whether a pointer is null.", "x")
_simple("handle_add_byte_offset", "handle", "The pointer moved by some bytes.", "handle, offset")
_simple("tvm_stack_alloca", "handle", "Room on the stack: a kind and a number.", "dtype_str, num")
_simple("tvm_stack_make_shape", "handle", "A shape on the stack.")
_simple(
    "tvm_stack_make_array",
    "handle",
    "An array descriptor.",
    "data, shape, strides, ndim, arr_dtype, elem_offset",
)
_simple("tvm_struct_set", "int32", "Set a field of a descriptor.", "arr, index, field, value")
_simple("tvm_tuple", "handle", "Several values as one.")
_simple("tvm_throw_last_error", "handle", "Throw the last error.", "")
_simple("lookup_param", "handle", "A parameter by its name.", "param_name")
_simple(
    "TVMBackendAllocWorkspace", "handle", "Memory of the runtime.",
    "device_type, device_id, nbytes, dtype_code_hint, dtype_bits_hint",
)  # fmt: skip
_simple("TVMBackendFreeWorkspace", "int32", "Give memory back.", "device_type, device_id, ptr")
_simple("start_profile_intrinsic end_profile_intrinsic", "void", "A mark for the profiler.", "id")
_simple("tvm_thread_allreduce", "handle", "A reduction over threads.")
_simple("tvm_warp_activemask", "uint32", "The lanes of the warp that are active.", "")
_simple(
    "tvm_mma_sync tvm_bmma_sync", "handle", "A matrix product of fragments: D = A * B + C.",
    "fragment_d, index_d, fragment_a, index_a, fragment_b, index_b, fragment_c, index_c",
)  # fmt: skip
_simple("tvm_fill_fragment", "handle", "Fill a fragment with a value.", "fragment, m, n, k, index, value")
_simple(
    "tvm_load_matrix_sync tvm_store_matrix_sync", "handle", "Move a fragment from or to memory.",
    "fragment, m, n, k, index, buffer_ptr, stride, layout",
)  # fmt: skip
_simple("ptx_commit_group", "void", "Commit the asynchronous copies so far as a group.", "")
_simple("ptx_wait_group", "void", "Wait until at most so many groups are pending.", "num")
_simple(
    "ptx_init_barrier_thread_count", "void", "Set a barrier's number of threads.", "barrier_id, thread_count"
)
_simple("ptx_arrive_barrier", "void", "Arrive at a barrier.", "barrier_id")
_simple("ptx_arrive_barrier_expect_tx", "void", "Arrive, expecting bytes.", "barrier_id, byte_count")
_simple("ptx_wait_barrier", "void", "Wait for a barrier.", "barrier_id")
_simple("create_barriers", "void", "Barriers in shared memory.", "barrier_count")
_simple("make_filled_simdgroup_matrix", "void", "Fill a simdgroup matrix.", "d, index, value, col=8, row=8")
_simple(
    "simdgroup_load simdgroup_store", "void", "Move a simdgroup matrix.",
    "d, index, ptr, stride, col=8, row=8, transpose_matrix=False",
)  # fmt: skip
_simple(
    "simdgroup_multiply_accumulate", "void", "D = A * B + C of simdgroup matrices.",
    "d, index_d, a, index_a, b, index_b, c, index_c",
)  # fmt: skip


def _first_dtype(names: str, doc: str) -> None:
    """Functions that are given the dtype first, or as a keyword."""
    for name in names.split():
        globals()[name] = _dtype_function(name, doc)


def _dtype_function(name: str, doc: str) -> Any:
    def function(*args: Any, dtype: Any = None) -> Expr:
        if dtype is None:
            if not args:
                raise TirscriptError(f"{name} needs a dtype first", code="arity")
            dtype, args = args[0], args[1:]
        return nodes.Call(read_dtype(dtype), name, tuple([_argument(a) for a in args]))

    return named(function, name, doc)


_first_dtype("ptx_mma ptx_mma_sp", "A matrix product of the tensor cores.")
_first_dtype("ptx_ldmatrix", "Load a matrix from shared memory into a fragment.")
_first_dtype("ptx_cp_async ptx_cp_async_bulk ptx_cp_async_barrier", "An asynchronous copy to shared memory.")
_first_dtype("mma_store mma_fill", "Store or fill a fragment of ptx_mma.")


def ptx_cp_async_barrier(barrier_id: Any) -> Expr:
    """Let a barrier wait for the asynchronous copies so far."""
    return nodes.Call("void", "ptx_cp_async_barrier", (ops.as_expr(barrier_id),))


def tvm_struct_get(arr: Any, index: Any, field: Any, dtype: Any) -> Expr:
    """A field of a descriptor."""
    return nodes.Call(read_dtype(dtype), "tvm_struct_get", tuple([_argument(a) for a in (arr, index, field)]))


def tvm_storage_sync(storage_scope: Any, *more: Any) -> Expr:
    """A barrier: ``T.tvm_storage_sync("shared")``."""
    return ops.call("tvm_storage_sync", storage_scope, *more)


def tvm_thread_invariant(cond: Any) -> Expr:
    """A condition that is the same in all threads."""
    return ops.call("tvm_thread_invariant", cond)


def ignore_loop_partition(predicate: Any) -> Expr:
    """A condition that loop partition leaves alone."""
    return ops.call("ignore_loop_partition", predicate)


def _shuffle_function(name: str, third: str) -> Any:
    def function(mask: Any, value: Any, lane: Any, width: Any, warp_size: Any) -> Expr:
        moved = ops.as_expr(value)
        others = [ops.as_expr(a) for a in (lane, width, warp_size)]
        return nodes.Call(moved.dtype, name, (ops.as_expr(mask), moved, *others))

    return named(function, name, f"A value of another lane of the warp, by {third}.")


tvm_warp_shuffle = _shuffle_function("tvm_warp_shuffle", "its number")
tvm_warp_shuffle_up = _shuffle_function("tvm_warp_shuffle_up", "a distance upward")
tvm_warp_shuffle_down = _shuffle_function("tvm_warp_shuffle_down", "a distance downward")
tvm_warp_shuffle_xor = _shuffle_function("tvm_warp_shuffle_xor", "a mask")


def _atomic(name: str, doc: str) -> Any:
    def function(ptr: Any, value: Any, *more: Any) -> Expr:
        moved = ops.as_expr(value)
        where = address_of(ptr) if isinstance(ptr, (Buffer, nodes.BufferLoad)) else ptr
        return nodes.Call(moved.dtype, name, (where, moved, *[ops.as_expr(m) for m in more]))

    return named(function, name, doc)


atomic_add = _atomic("atomic_add", "Add to memory in one step; gives the value before.")
atomic_max = _atomic("atomic_max", "The larger one to memory in one step.")
atomic_min = _atomic("atomic_min", "The smaller one to memory in one step.")


__all__ = sorted(
    n
    for n, v in list(globals().items())
    if not n.startswith("_") and getattr(v, "__module__", None) == __name__
)
