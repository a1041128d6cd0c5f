# ruff: noqa: E501
"""Intrinsics: foreign calls, pointers, threads, hints, fixed point."""

TEXT = """
#: intrin_call_extern
@T.prim_func
def call_extern(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        with T.block("copy"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi * 4:vi * 4 + 4])
            T.writes(B[vi * 4:vi * 4 + 4])
            T.call_extern("int32", "copy4", A.access_ptr("r", offset=vi * 4), B.access_ptr("w", offset=vi * 4))

#: intrin_call_extern_value
@T.prim_func
def extern_value(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.call_extern("float32", "my_function", A[i], 3, "text")

#: intrin_call_pure_extern run
@T.prim_func
def pure_extern(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.call_pure_extern("float32", "fabsf", A[i])

#: intrin_call_packed
@T.prim_func
def packed(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.call_packed("my.packed.function", A.data, B.data, 1)
    T.evaluate(T.call_cpacked("my_cpacked", A.data, B.data))

#: intrin_tvm_call_packed
@T.prim_func
def old_packed(A: T.Buffer((8,), "float32")):
    T.tvm_call_packed("my.function", A.data)
    T.tvm_call_cpacked("my_c_function", A.data)

#: intrin_packed_with_arrays
@T.prim_func
def packed_arrays(A: T.Buffer((8,), "float32")):
    T.evaluate(T.tvm_call_packed("use", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(8), 0, 1, T.float32(0), 0)))

#: intrin_struct_access
@T.prim_func
def struct_access(p: T.handle, A: T.Buffer((1,), "int32")):
    A[0] = T.tvm_struct_get(p, 0, 4, "int32")
    T.tvm_struct_set(p, 0, 5, A[0])

#: intrin_stack_alloca
@T.prim_func
def stack_alloca():
    stack: T.handle = T.tvm_stack_alloca("shape", 4)
    T.call_extern("void", "use", stack)

#: intrin_call_llvm
@T.prim_func
def llvm_intrinsics(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.call_llvm_pure_intrin("float32", "llvm.sqrt", T.uint32(1), A[i])
        T.call_llvm_intrin("void", "llvm.donothing", T.uint32(0))

#: intrin_call_intrin
@T.prim_func
def generic_intrinsic(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.call_intrin("float32", "tir.exp", A[i])

#: intrin_address_of
@T.prim_func
def address(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        T.call_extern("void", "sum_row", T.address_of(A[i, 0]), T.address_of(B[i]))

#: intrin_access_ptr_masks
@T.prim_func
def masks(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16")):
    T.call_extern("void", "mix", A.access_ptr("r"), B.access_ptr("rw"), A.access_ptr(1, offset=16), B.access_ptr("w", ptr_type="int32"))

#: intrin_tvm_access_ptr
@T.prim_func
def access_ptr(A: T.Buffer((16,), "float32")):
    T.call_extern("void", "use", T.tvm_access_ptr(T.type_annotation("float32"), A.data, 4, 8, 3))

#: intrin_isnullptr
@T.prim_func
def null_check(p: T.handle, A: T.Buffer((1,), "int32")):
    if T.isnullptr(p):
        A[0] = 1
    else:
        A[0] = 0

#: intrin_storage_sync
@T.prim_func
def storage_sync(A: T.Buffer((32,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    s = T.allocate([32], "float32", "shared")
    S = T.decl_buffer((32,), "float32", data=s, scope="shared")
    S[tx] = A[tx]
    T.tvm_storage_sync("shared")
    A[tx] = S[31 - tx]

#: intrin_warp_shuffles
@T.prim_func
def warp_shuffles(A: T.Buffer((32,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    A[tx] = T.tvm_warp_shuffle(T.tvm_warp_activemask(), A[tx], 0, 32, 32)
    A[tx] = A[tx] + T.tvm_warp_shuffle_up(T.tvm_warp_activemask(), A[tx], 1, 32, 32)
    A[tx] = A[tx] + T.tvm_warp_shuffle_down(T.uint32(4294967295), A[tx], 16, 32, 32)
    A[tx] = A[tx] + T.tvm_warp_shuffle_xor(T.uint32(4294967295), A[tx], 16, 32, 32)

#: intrin_allreduce
@T.prim_func
def allreduce(A: T.Buffer((4, 32), "float32"), B: T.Buffer((4,), "float32")):
    bx = T.launch_thread("blockIdx.x", 4)
    tx = T.launch_thread("threadIdx.x", 32)
    r = T.allocate([1], "float32", "local")
    R = T.decl_buffer((1,), "float32", data=r, scope="local")
    with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", T.reinterpret("handle", T.uint64(0))):
        T.tvm_thread_allreduce(T.uint32(1), A[bx, tx], T.bool(True), R[0], tx)
    if tx == 0:
        B[bx] = R[0]

#: intrin_comm_reducer_pair
@T.prim_func
def argmax_allreduce(A: T.Buffer((32,), "float32"), J: T.Buffer((1,), "int32")):
    tx = T.launch_thread("threadIdx.x", 32)
    r0 = T.allocate([1], "int32", "local")
    r1 = T.allocate([1], "float32", "local")
    R0 = T.decl_buffer((1,), "int32", data=r0, scope="local")
    R1 = T.decl_buffer((1,), "float32", data=r1, scope="local")
    with T.attr(T.comm_reducer(lambda i0, v0, i1, v1: (T.Select(v0 >= v1, i0, i1), T.Select(v0 >= v1, v0, v1)), [-1, T.min_value("float32")]), "reduce_scope", T.reinterpret("handle", T.uint64(0))):
        T.tvm_thread_allreduce(T.uint32(2), tx, A[tx], T.bool(True), R0[0], R1[0], tx)
    J[0] = R0[0]

#: intrin_atomic_add axis
@T.prim_func
def histogram(A: T.Buffer((64,), "int32"), H: T.Buffer((8,), "int32")):
    for i in T.parallel(64):
        with T.block("H"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi])
            T.writes(H[0:8])
            T.atomic_add(T.address_of(H[A[vi] % 8]), 1)

#: intrin_assume
@T.prim_func
def assumed(A: T.Buffer((16,), "float32"), n: T.int32):
    T.assume(n > 0 and n <= 16)
    for i in range(n):
        T.assume(A[i] >= T.float32(0))
        A[i] = A[i] * T.float32(2)

#: intrin_undef
@T.prim_func
def undefined(A: T.Buffer((4,), "float32")):
    T.evaluate(T.undef())
    A[0] = T.float32(0)

#: intrin_fixed_point run
@T.prim_func
def fixed_point(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.q_multiply_shift(A[i], 1395864371, 31, 1)

#: intrin_fixed_point_per_axis
@T.prim_func
def fixed_point_axis(A: T.Buffer((8,), "int32"), M: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.q_multiply_shift_per_axis(A[i], M[i], 1, 2, 31, T.bool(True), T.bool(True))

#: intrin_dp4a
@T.prim_func
def dot4(A: T.Buffer((8, 4), "int8"), B: T.Buffer((8, 4), "int8"), O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.dp4a(A[i, 0:4], B[i, 0:4], O[i])

#: intrin_profile
@T.prim_func
def profiled(A: T.Buffer((4,), "float32")):
    T.start_profile_intrinsic(3)
    for i in range(4):
        A[i] = T.float32(0)
    T.end_profile_intrinsic(3)

#: intrin_ignore_partition
@T.prim_func
def ignore_partition(A: T.Buffer((10,), "float32")):
    for i in range(10):
        if T.ignore_loop_partition(i < 7):
            A[i] = T.float32(0)

#: intrin_thread_invariant
@T.prim_func
def invariant(A: T.Buffer((32,), "float32"), n: T.int32):
    tx = T.launch_thread("threadIdx.x", 32)
    if T.tvm_thread_invariant(n > 3):
        A[tx] = T.float32(0)

#: intrin_lookup_and_large
@T.prim_func
def lookups(A: T.Buffer((2,), "uint64")):
    A[0] = T.large_uint_imm(T.uint32(4294967295), T.uint32(2147483648))
    T.call_extern("void", "use", T.lookup_param("weights"))

#: intrin_workspace
@T.prim_func
def workspace():
    p: T.handle = T.TVMBackendAllocWorkspace(1, 0, T.uint64(1024), 2, 32)
    T.call_extern("void", "use", p)
    T.TVMBackendFreeWorkspace(1, 0, p)

#: intrin_vector_call
@T.prim_func
def vector_call(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32")):
    O[0:8] = T.call_llvm_pure_intrin("float32x8", "llvm.fma", T.uint32(3), A[0:8], A[8:16], O[0:8])
"""
