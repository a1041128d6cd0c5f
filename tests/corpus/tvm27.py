"""The dialect of TVM 0.27: `s_tir=True`, `T.sblock`, flat allocations, scalars as buffers of rank 0."""

TEXT = """
#: tvm27_sblock run tvm27
@T.prim_func(s_tir=True)
def sblock(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"global_symbol": "sblock", "tirx.noalias": True})
    for i, k in T.grid(8, 8):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]

#: tvm27_sblock_alloc run tvm27
@T.prim_func(s_tir=True)
def sblock_alloc(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.sblock_alloc_buffer((8,))
    D = T.sblock_alloc_buffer((8, 2), "float32", scope="local")
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            T.sblock_attr({"note": 1})
            B[vi] = A[vi] + T.float32(1)
    for i, j in T.grid(8, 2):
        with T.sblock("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi]
    for i in range(8):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = D[vi, 0] * D[vi, 1]

#: tvm27_flat_alloc run tvm27
@T.prim_func(s_tir=True)
def flat_alloc(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    P = T.alloc_buffer((8,), "float32")
    for i in range(8):
        P[i] = A[i] + T.float32(1)
    for i in range(8):
        B[i] = P[7 - i]

#: tvm27_scalar_assignment run tvm27
@T.prim_func(s_tir=True)
def scalar_assignment(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        x = A[i] + 1
        x = x * 2
        B[i] = x

#: tvm27_scalar_annotated run tvm27
@T.prim_func(s_tir=True)
def scalar_annotated(A: T.Buffer((8,), "float32")):
    s: T.float32 = T.float32(0)
    for i in range(8):
        s += A[i]
        A[i] = s

#: tvm27_let_annotation tvm27
@T.prim_func(s_tir=True)
def let_annotation(A: T.Buffer((8,), "int32")):
    for i in range(8):
        x: T.let = A[i] + 1
        y: T.let[T.int32] = x * 2
        A[i] = y

#: tvm27_return run tvm27
@T.prim_func(s_tir=True)
def returned(x: T.int32) -> T.int32:
    return x + 1

#: tvm27_decl tvm27
@T.prim_func(s_tir=True)
def declared(A: T.Buffer((4, 4), "float32"), B: T.Buffer((16,), "float32")):
    V = T.decl_buffer((16,), "float32", data=A.data)
    for i in range(16):
        B[i] = V[i]

#: tvm27_sblock_in_classic run
@T.prim_func
def classic_sblock(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    C = T.sblock_alloc_buffer((8,), "int32")
    for i in range(8):
        with T.sblock("C"):
            vi = T.axis.spatial(8, i)
            T.sblock_attr({"note": "n"})
            C[vi] = A[vi] + 1
    for i in range(8):
        with T.sblock("B"):
            vi = T.axis.spatial(8, i)
            x = C[vi] * 2
            B[vi] = x

#: tvm27_threads tvm27
@T.prim_func(s_tir=True)
def threads(A: T.Buffer((8, 32), "float32")):
    for bx in T.thread_binding(8, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("A"):
                vb, vt = T.axis.remap("SS", [bx, tx])
                T.reads()
                T.writes(A[vb, vt])
                A[vb, vt] = T.float32(1)

#: tvm27_while_scalar run tvm27
@T.prim_func(s_tir=True)
def while_scalar(A: T.Buffer((1,), "int32")):
    i: T.int32 = 0
    while i < 10:
        A[0] = A[0] + i
        i = i + 1

#: tvm27_match tvm27
@T.prim_func(s_tir=True)
def matched(a: T.handle, b: T.handle):
    T.func_attr({"global_symbol": "matched", "tirx.noalias": True, "tirx.is_scheduled": True})
    n = T.int64()
    A = T.match_buffer(a, (n,), "float16")
    B = T.match_buffer(b, (n,), "float16")
    for i in range(n):
        with T.sblock("B"):
            vi = T.axis.spatial(n, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi]

#: tvm27_module tvm27
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def helper(A: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = T.float32(0)

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32")):
        for i in T.parallel(4):
            with T.sblock("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = T.float32(1)

#: tvm27_nested_sblock run tvm27
@T.prim_func(s_tir=True)
def nested_sblock(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        with T.sblock("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi * 4:vi * 4 + 4])
            T.writes(B[vi * 4:vi * 4 + 4])
            A1 = T.match_buffer(A[vi * 4:vi * 4 + 4], (4,), offset_factor=1)
            for j in range(4):
                with T.sblock("inner"):
                    vj = T.axis.spatial(4, j)
                    T.reads(A1[vj])
                    T.writes(B[vi * 4 + vj])
                    B[vi * 4 + vj] = A1[vj]
"""
