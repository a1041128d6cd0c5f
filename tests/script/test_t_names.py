"""Every public name of the classic ``T`` is here: supported, or refused by name."""

import inspect

import pytest

import tirscript as ts
from tirscript.script import constructs, dtypes
from tirscript.script import tir as T

# Public names of the classic T namespace (TVM 0.23), dtypes with lanes left out.
CLASSIC = [
    "Add", "And", "Assert", "Broadcast", "Buffer", "BufferLoad", "Call", "CallEffectKind", "Cast",
    "CommReducer", "Div", "EQ", "Else", "FloatImm", "FloorDiv", "FloorMod", "GE", "GT", "If", "IntImm",
    "IterVar", "LE", "LT", "Let", "LetStmt", "Max", "Min", "Mod", "Mul", "NE", "Not", "Or", "ProducerLoad",
    "Ptr", "Ramp", "Range", "Reduce", "Select", "Shuffle", "SizeVar", "StringImm", "Sub",
    "TVMBackendAllocWorkspace", "TVMBackendFreeWorkspace", "Then", "Var", "While", "abs", "acos", "acosh",
    "address_of", "alloc_buffer", "allocate", "allocate_const", "anylist_getitem", "anylist_resetitem",
    "anylist_setitem_call_cpacked", "anylist_setitem_call_packed", "arg", "asin", "asinh", "assume", "atan",
    "atan2", "atanh", "attr", "axis", "bfloat16", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "block", "block_attr", "block_name_suffix_context", "bool", "boolean", "break_loop", "broadcast",
    "buffer", "buffer_decl", "buffer_store", "buffer_var", "call_cpacked", "call_cpacked_lowered",
    "call_extern", "call_intrin", "call_kernel", "call_llvm_intrin", "call_llvm_pure_intrin", "call_packed",
    "call_packed_lowered", "call_pure_extern", "cast", "ceil", "ceildiv", "clz", "comm_reducer",
    "continue_loop", "copysign", "cos", "cosh", "create_barriers", "decl_buffer", "dp4a",
    "end_profile_intrinsic", "env_thread", "erf", "evaluate", "exp", "exp10", "exp2", "fabs", "float16",
    "float32", "float64", "floor", "floordiv", "floormod", "fmod", "func_attr", "func_name", "func_ret",
    "get_active_lane_mask", "grid", "handle", "handle_add_byte_offset", "hypot", "if_then_else",
    "ignore_loop_partition", "index_map", "infinity", "init", "int16", "int32", "int64", "int8", "isfinite",
    "isinf", "isnan", "isnullptr", "iter_var", "launch_thread", "ldexp", "let", "likely",
    "llvm_lookup_intrinsic_id", "log", "log10", "log1p", "log2", "lookup_param", "macro",
    "make_filled_simdgroup_matrix", "match_buffer", "max", "max_value", "meta_var", "min", "min_value",
    "mma_fill", "mma_store", "nearbyint", "nextafter", "parallel", "popcount", "pow", "prim_func", "ptr",
    "ptx_arrive_barrier", "ptx_arrive_barrier_expect_tx", "ptx_commit_group", "ptx_cp_async",
    "ptx_cp_async_barrier", "ptx_cp_async_bulk", "ptx_init_barrier_thread_count", "ptx_ldmatrix", "ptx_mma",
    "ptx_mma_sp", "ptx_wait_barrier", "ptx_wait_group", "q_multiply_shift", "q_multiply_shift_per_axis",
    "ramp", "reads", "realize", "reinterpret", "ret", "round", "rsqrt", "serial", "shift_left",
    "shift_right", "sigmoid", "simdgroup_load", "simdgroup_multiply_accumulate", "simdgroup_store", "sin",
    "sinh", "sqrt", "start_profile_intrinsic", "tan", "tanh", "target", "thread_binding", "thread_return",
    "trunc", "truncdiv", "truncmod", "tvm_access_ptr", "tvm_bmma_sync", "tvm_call_cpacked",
    "tvm_call_cpacked_lowered", "tvm_call_packed", "tvm_call_packed_lowered", "tvm_fill_fragment",
    "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_stack_alloca", "tvm_stack_make_array",
    "tvm_stack_make_shape", "tvm_storage_sync", "tvm_store_matrix_sync", "tvm_struct_get", "tvm_struct_set",
    "tvm_thread_allreduce", "tvm_thread_invariant", "tvm_throw_last_error", "tvm_tuple",
    "tvm_warp_activemask", "tvm_warp_shuffle", "tvm_warp_shuffle_down", "tvm_warp_shuffle_up",
    "type_annotation", "uint16", "uint32", "uint64", "uint8", "undef", "unroll", "var", "vectorcombine",
    "vectorhigh", "vectorized", "vectorlow", "void", "vscale", "where", "writes",
]  # fmt: skip
# Spellings of 0.27, and what tirscript has besides.
NEWER = [
    "sblock", "sblock_attr", "sblock_alloc_buffer", "inline", "tvm_warp_shuffle_xor", "atomic_add", "fma",
    "int4", "float8_e4m3fn",
]  # fmt: skip
NOT_YET = {"CallEffectKind", "ProducerLoad", "Reduce", "arg", "block_name_suffix_context", "call_kernel"}


def test_no_name_is_missing():
    assert [n for n in (*CLASSIC, *NEWER) if not hasattr(T, n)] == []
    lanes = [
        f"{d}x{n}"
        for d in ("int8", "uint32", "float16", "float64", "bfloat16")
        for n in (2, 4, 8, 16, 32, 64)
    ]
    assert all(hasattr(T, n) and n in T.__all__ for n in lanes)
    assert T.float32x3.dtype == "float32x3"


def test_which_names_are_not_supported_yet():
    refused = {n for n in CLASSIC if getattr(getattr(T, n), "not_yet", False)}
    assert refused == NOT_YET
    for name in sorted(refused):
        with pytest.raises(ts.NotYetError, match=name):
            getattr(T, name)()
        with pytest.raises(ts.ParseError, match=f"T.{name} is not supported yet"):
            ts.parse(f'def f(A: T.Buffer((4,), "int32")):\n    T.{name}()')


@pytest.mark.parametrize("name", [n for n in (*CLASSIC, *NEWER) if n not in NOT_YET])
def test_every_name_is_documented(name):
    found = getattr(T, name)
    assert (found.__doc__ or "").strip()
    if not isinstance(found, (dtypes.DTypeConstructor, type)):
        signature = inspect.signature(found)
        assert all(p.name for p in signature.parameters.values())


def test_constructs_outside_of_a_script_say_so():
    for name in ("grid", "block", "reads", "alloc_buffer", "serial", "init", "attr", "evaluate"):
        function = getattr(constructs, name)
        needed = [
            0 for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]  # fmt: skip
        with pytest.raises(ts.TirscriptError, match=rf"T\.{name} is part of the script language"):
            function(*needed)


def test_expressions_outside_of_a_script():
    n = T.int32()
    assert n.dtype == "int32" and n.exact
    assert T.max(n, 3).script() == "T.max(v, 3)"
    assert T.float16("-inf").value == float("-inf")
    assert T.int64(n).dtype == "int64"
    assert T.handle("float32", "shared").pointee == ("float32", "shared")
    assert str(T.float32) == "float32" and T.float32.name == "float32"
    reducer = T.comm_reducer(lambda a, b: a + b, [T.float32(0)])
    assert [v.name for v in (*reducer.lhs, *reducer.rhs)] == ["a", "b"]
    m = T.index_map(lambda i, j: (j, i // 4, i % 4))
    assert [e.value for e in map(_folded, m.map_indices([9, 2]))] == [2, 2, 1]


def _folded(e):
    from tirscript.arith import simplify

    return simplify(e)


def test_annotations_never_fail_when_python_evaluates_them():
    T.Buffer((None, object()), "no dtype", anything=3)
    T.Buffer[object(), "no dtype"]
    assert repr(T.Buffer((4,))) == "T.Buffer(...)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.int8(200), "does not fit int8"),
        (lambda: T.int32("inf"), "is no int32"),
        (lambda: T.float32("one"), "is no float32"),
        (lambda: T.cast(1, "flot32"), "did you mean `float32`"),
        (lambda: T.Shuffle([T.float32x4(0)], [4]), "outside the 4 elements"),
        (lambda: T.comm_reducer(lambda a: a, [0]), "2 parameters, this has 1"),
        (lambda: T.popcount(T.float32(1)), "takes integers"),
        (lambda: T.infinity("int32"), "no infinity"),
        (lambda: T.Ramp(0, 1, 4 * T.vscale()), "not supported yet"),
        (lambda: T.address_of(T.int32(3)), "takes a buffer"),
        (lambda: T.iter_var("v", 4, "nonsense"), "no kind of axis"),
    ],
)
def test_mistakes(call, words):
    with pytest.raises(ts.TirscriptError, match=words):
        call()


@pytest.mark.parametrize(
    ("body", "name"),
    [("T.ptx.mma(1)", "T.ptx.mma"), ("x = T.cluster_id([1])", "T.cluster_id"), ("T.cuda.f()", "T.cuda.f"),
     ("with T.warp():\n        T.evaluate(0)", "T.warp"), ("A[0] = T.float4_e2m1fn(0)", "T.float4_e2m1fn")],
)  # fmt: skip
def test_names_of_the_newest_tvm_say_that_they_are_not_here(body: str, name: str) -> None:
    with pytest.raises(ts.ParseError) as caught:
        ts.from_source(f'@T.prim_func\ndef f(A: T.Buffer((8,), "float32")):\n    {body}\n')
    assert caught.value.code == "not-yet" and f"does not have `{name}` yet" in str(caught.value)


def test_short_names_of_dtypes() -> None:
    assert T.f32 is T.float32 and T.i8 is T.int8 and T.u64 is T.uint64 and T.bf16 is T.bfloat16
    assert not {"f32", "cluster_id", "ptx"} & set(dir(T))
