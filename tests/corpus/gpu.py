# ruff: noqa: E501
"""Programs for GPUs: bindings, shared memory, warp and matrix units, asynchronous copies."""

TEXT = """
#: gpu_bound_matmul run
@T.prim_func
def bound_matmul(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    C_local = T.alloc_buffer((32, 32), scope="local")
    for by in T.thread_binding(2, thread="blockIdx.y"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for k in range(32):
                        with T.block("C"):
                            vi = T.axis.spatial(32, by * 16 + ty)
                            vj = T.axis.spatial(32, bx * 16 + tx)
                            vk = T.axis.reduce(32, k)
                            with T.init():
                                C_local[vi, vj] = T.float32(0)
                            C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]
                    with T.block("C_local"):
                        v0 = T.axis.spatial(32, by * 16 + ty)
                        v1 = T.axis.spatial(32, bx * 16 + tx)
                        C[v0, v1] = C_local[v0, v1]

#: gpu_cooperative_fetch
@T.prim_func
def cooperative(A: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    S = T.alloc_buffer((64, 64), scope="shared")
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for f_0 in range(8):
            for f_1 in T.thread_binding(32, thread="threadIdx.x"):
                for f_2 in T.vectorized(4):
                    with T.block("S"):
                        v0 = T.axis.spatial(64, bx * 16 + (f_0 * 128 + f_1 * 4 + f_2) // 64)
                        v1 = T.axis.spatial(64, (f_0 * 128 + f_1 * 4 + f_2) % 64)
                        T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                        S[v0, v1] = A[v0, v1]
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for i, j in T.grid(16, 2):
                with T.block("C"):
                    vi = T.axis.spatial(64, bx * 16 + i)
                    vj = T.axis.spatial(64, tx * 2 + j)
                    C[vi, vj] = S[vi, vj]

#: gpu_cross_thread_reduction
@T.prim_func
def cross_thread(A: T.Buffer((16, 128), "float32"), B: T.Buffer((16,), "float32")):
    for bx in T.thread_binding(16, thread="blockIdx.x"):
        for k_0 in range(4):
            for tx in T.thread_binding(32, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.spatial(16, bx)
                    vk = T.axis.reduce(128, k_0 * 32 + tx)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]

#: gpu_wmma_fragments
@T.prim_func
def wmma(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16"), C: T.Buffer((16, 16), "float32")):
    Am = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
    Bm = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_b")
    Cm = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
    with T.block("fill"):
        T.reads()
        T.writes(Cm[0:16, 0:16])
        T.tvm_fill_fragment(Cm.data, 16, 16, 16, 0, T.float32(0))
    with T.block("load"):
        T.reads(A[0:16, 0:16], B[0:16, 0:16])
        T.writes(Am[0:16, 0:16], Bm[0:16, 0:16])
        T.tvm_load_matrix_sync(Am.data, 16, 16, 16, 0, A.access_ptr("r"), 16, "row_major")
        T.tvm_load_matrix_sync(Bm.data, 16, 16, 16, 0, B.access_ptr("r"), 16, "col_major")
    with T.block("mma"):
        T.reads(Cm[0:16, 0:16], Am[0:16, 0:16], Bm[0:16, 0:16])
        T.writes(Cm[0:16, 0:16])
        T.tvm_mma_sync(Cm.data, 0, Am.data, 0, Bm.data, 0, Cm.data, 0)
    with T.block("store"):
        T.reads(Cm[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.tvm_store_matrix_sync(Cm.data, 16, 16, 16, 0, C.access_ptr("w"), 16, "row_major")

#: gpu_bmma
@T.prim_func
def bmma(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    T.tvm_bmma_sync(C.data, 0, A.data, 0, B.data, 0, C.data, 0)

#: gpu_ptx_mma
@T.prim_func
def ptx(A: T.Buffer((32, 4), "float16"), B: T.Buffer((32, 2), "float16"), C: T.Buffer((32, 4), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    a = T.allocate([4], "float16", "local")
    b = T.allocate([2], "float16", "local")
    c = T.allocate([4], "float32", "local")
    T.ptx_ldmatrix("float16", T.bool(False), 4, ".b16", a, 0, A.data, tx * 4)
    T.ptx_mma("m16n8k8", "row", "col", "fp16", "fp16", "fp32", a, 0, b, 0, c, 0, False, dtype="float32")

#: gpu_ptx_scopes
@T.prim_func
def fragment_scopes(A: T.Buffer((16, 8), "float16")):
    a = T.alloc_buffer((16, 8), "float16", scope="m16n8k8.matrixA")
    b = T.alloc_buffer((8, 8), "float16", scope="m16n8k8.matrixB")
    c = T.alloc_buffer((16, 8), "float32", scope="m16n8k8.matrixC")
    for i, j in T.grid(16, 8):
        with T.block("a"):
            vi, vj = T.axis.remap("SS", [i, j])
            a[vi, vj] = A[vi, vj]

#: gpu_cp_async
@T.prim_func
def copy_async(A: T.Buffer((32, 128), "float16"), B: T.Buffer((32, 128), "float16")):
    with T.block("root"):
        S = T.alloc_buffer((32, 128), "float16", scope="shared")
        tx = T.launch_thread("threadIdx.x", 32)
        for i in range(16):
            T.evaluate(T.ptx_cp_async("float16", S.data, tx * 128 + 8 * i, A.data, tx * 128 + 8 * i, 16))
        T.evaluate(T.ptx_commit_group())
        T.evaluate(T.ptx_wait_group(0))
        for i in range(128):
            B[tx, i] = S[tx, i]

#: gpu_cp_async_barrier
@T.prim_func
def copy_barrier(A: T.Buffer((32,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    T.create_barriers(1)
    T.ptx_init_barrier_thread_count(0, 32)
    T.ptx_arrive_barrier(0)
    T.ptx_wait_barrier(0)
    A[tx] = T.float32(0)

#: gpu_attributes_of_warp
@T.prim_func
def warp_execution(A: T.Buffer((32, 8), "float32")):
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        with T.block("warp"):
            vt = T.axis.spatial(32, tx)
            T.reads()
            T.writes(A[vt, 0:8])
            T.block_attr({"warp_execution": True, "meta_schedule.thread_extent_low_inclusive": 32})
            for i in range(8):
                A[vt, i] = T.float32(1)

#: gpu_shared_dynamic
@T.prim_func
def dynamic_shared(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), scope="shared.dyn")
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("S"):
                v = T.axis.spatial(64, tx)
                T.block_attr({"double_buffer_scope": 0, "tir.manifest_shared_memory_local_stage": 1})
                S[v] = A[v]
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("B"):
                v = T.axis.spatial(64, tx)
                B[v] = S[63 - v]

#: gpu_simdgroup
@T.prim_func
def simdgroup(A: T.Buffer((8, 8), "float32")):
    m = T.alloc_buffer((8, 8), "float32", scope="metal.simdgroup")
    with T.block("fill"):
        T.reads()
        T.writes(m[0:8, 0:8])
        T.make_filled_simdgroup_matrix(m.data, 0, T.float32(0), 8, 8)
    with T.block("store"):
        T.reads(m[0:8, 0:8])
        T.writes(A[0:8, 0:8])
        T.simdgroup_store(m.data, 0, A.access_ptr("w"), 8, 8, 8, T.bool(False))
"""
