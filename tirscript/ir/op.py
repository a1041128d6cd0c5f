"""The operators that a ``Call`` may name: arity, effect and result dtype of each.

``effect`` is ``pure`` (a function of its arguments), ``read`` (reads memory or state), ``update`` (writes
memory or has another effect), ``control`` (leaves the normal order: break, continue, ret) or ``hint``.
``result`` says the dtype: ``same`` as the first argument, ``bool`` with its lanes, a dtype, or ``given``
by whoever builds the call.  ``opaque`` operators touch memory through pointers, so the accesses of a
block that holds one are those it declares.
"""

from __future__ import annotations

from typing import NamedTuple


class Op(NamedTuple):
    """One operator: see the module's docstring.  ``arity`` is ``(least, most)``, most -1 for no limit."""

    name: str
    arity: tuple[int, int]
    effect: str = "pure"
    result: str = "given"
    group: str = "intrinsic"
    opaque: bool = False


def _ops(names: str, arity: tuple[int, int] | int, **fields: str | bool) -> dict[str, Op]:
    span = (arity, arity) if isinstance(arity, int) else arity
    return {n: Op(n, span, **fields) for n in names.split()}  # type: ignore[arg-type]


ANY = (0, -1)

OPS: dict[str, Op] = {
    # Mathematics on floats, lane by lane.
    **_ops(
        "exp exp2 exp10 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
        "sqrt rsqrt sigmoid erf floor ceil round nearbyint trunc fabs",
        1, result="same", group="math",
    ),
    **_ops("atan2 pow fmod hypot copysign nextafter", 2, result="same", group="math"),
    **_ops("ldexp", 2, result="same", group="math"),
    **_ops("fma", 3, result="same", group="math"),
    **_ops("isnan isinf isfinite", 1, result="bool", group="math"),
    **_ops("abs", 1, result="same", group="math"),
    # Integers.
    **_ops("shift_left shift_right bitwise_and bitwise_or bitwise_xor", 2, result="same", group="bits"),
    **_ops("bitwise_not popcount clz", 1, result="same", group="bits"),
    **_ops("q_multiply_shift", 4, result="same", group="bits"),
    **_ops("q_multiply_shift_per_axis", 7, result="same", group="bits"),
    # Conditionals and conversions.
    **_ops("if_then_else", 3, group="select"),
    **_ops("reinterpret", 1, group="select"),
    **_ops("likely", 1, result="same", effect="hint", group="select"),
    **_ops("large_uint_imm", 2, group="select"),
    # Control.
    **_ops("break_loop continue_loop thread_return", 0, effect="control", result="void"),
    **_ops("ret", (0, 1), effect="control", result="void"),
    # Hints.
    **_ops("assume", 1, effect="hint", result="bool"),
    **_ops("undef", 0, effect="hint", result="given"),
    **_ops("ignore_loop_partition", 1, effect="hint", result="same"),
    **_ops("start_profile_intrinsic end_profile_intrinsic", 1, effect="update", result="void"),
    # Calls of foreign code.
    **_ops("call_extern call_packed call_cpacked call_packed_lowered call_cpacked_lowered "
           "call_llvm_intrin call_intrin",
           (1, -1), effect="update", opaque=True, group="call"),
    **_ops("tvm_call_packed tvm_call_cpacked tvm_call_packed_lowered tvm_call_cpacked_lowered", (1, -1),
           effect="update", opaque=True, group="call"),
    **_ops("call_pure_extern call_llvm_pure_intrin", (1, -1), group="call"),
    **_ops("llvm_lookup_intrinsic_id", 1, result="uint32", group="call"),
    **_ops("anylist_getitem anylist_resetitem anylist_setitem_call_packed anylist_setitem_call_cpacked", ANY,
           effect="update", opaque=True, group="call"),
    # Pointers.
    **_ops("address_of", 1, result="handle", opaque=True, group="pointer"),
    **_ops("tvm_access_ptr", 5, result="handle", opaque=True, group="pointer"),
    **_ops("type_annotation", 0, group="pointer"),
    **_ops("isnullptr", 1, result="bool", group="pointer"),
    **_ops("handle_add_byte_offset", 2, result="handle", group="pointer"),
    **_ops("tvm_stack_alloca", 2, result="handle", effect="update", group="pointer"),
    **_ops("tvm_stack_make_shape", ANY, result="handle", effect="update", group="pointer"),
    **_ops("tvm_stack_make_array", 6, result="handle", effect="update", opaque=True, group="pointer"),
    **_ops("tvm_struct_get", 3, effect="read", opaque=True, group="pointer"),
    **_ops("tvm_struct_set", 4, effect="update", opaque=True, result="int32", group="pointer"),
    **_ops("tvm_tuple", ANY, result="handle", group="pointer"),
    **_ops("tvm_throw_last_error", 0, effect="update", result="handle", group="pointer"),
    **_ops("lookup_param", 1, result="handle", group="pointer"),
    **_ops("TVMBackendAllocWorkspace", 5, result="handle", effect="update", group="pointer"),
    **_ops("TVMBackendFreeWorkspace", 3, result="int32", effect="update", group="pointer"),
    # Vectors.
    **_ops("vectorlow vectorhigh", 1, group="vector"),
    **_ops("vectorcombine", 2, group="vector"),
    **_ops("vscale", 0, result="int32", effect="read", group="vector"),
    **_ops("get_active_lane_mask", 2, group="vector"),
    **_ops("dp4a", 3, group="vector"),
    # Threads.
    **_ops("tvm_storage_sync", (1, 3), effect="update", result="int32", group="thread"),
    **_ops("tvm_warp_shuffle tvm_warp_shuffle_up tvm_warp_shuffle_down tvm_warp_shuffle_xor", 5,
           effect="update", group="thread"),
    **_ops("tvm_warp_activemask", 0, effect="update", result="uint32", group="thread"),
    **_ops("tvm_thread_invariant", 1, result="same", group="thread"),
    **_ops("tvm_thread_allreduce", (3, -1), effect="update", result="handle", opaque=True, group="thread"),
    **_ops("atomic_add atomic_max atomic_min", (2, 3), effect="update", opaque=True, group="thread"),
    # Matrix units and asynchronous copies.
    **_ops("tvm_load_matrix_sync tvm_mma_sync tvm_bmma_sync tvm_fill_fragment tvm_store_matrix_sync", (6, 8),
           effect="update", opaque=True, result="handle", group="gpu"),
    **_ops(
        "ptx_mma ptx_mma_sp ptx_ldmatrix ptx_cp_async ptx_cp_async_bulk ptx_cp_async_barrier "
        "ptx_commit_group "
        "ptx_wait_group ptx_init_barrier_thread_count ptx_arrive_barrier ptx_arrive_barrier_expect_tx "
        "ptx_wait_barrier create_barriers mma_store mma_fill make_filled_simdgroup_matrix simdgroup_load "
        "simdgroup_store simdgroup_multiply_accumulate",
        ANY, effect="update", opaque=True, group="gpu",
    ),
}  # fmt: skip


def effect_of(op: object) -> str:
    """The effect of a call's operator; a call of a function of the module is an update."""
    known = OPS.get(op) if isinstance(op, str) else None
    return known.effect if known is not None else "update"


def is_opaque(op: object) -> bool:
    """Whether the operator touches memory through pointers or is unknown."""
    known = OPS.get(op) if isinstance(op, str) else None
    return known.opaque if known is not None else True
