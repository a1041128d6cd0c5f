"""Texts as the language's description says they print: each is what its own program prints."""

# ruff: noqa: E501 - lines of scripts are as long as they are

from __future__ import annotations

import warnings

import pytest

from tirscript.ir.equal import assert_structural_equal, structural_equal
from tirscript.script.parser import parse
from tirscript.script.printer import render, script

HEADER = "# from tirscript.script import tir as T\n\n@T.prim_func\n"

# Each text is a function without its header and decorator, in the form in which it is printed.
PROGRAMS = """
#: matmul
def f(A: T.Buffer((128, 64), "float32"), B: T.Buffer((64, 32), "float32"), C: T.Buffer((128, 32), "float32")):
    T.func_attr({"tir.noalias": True})
    # with T.block("root"):
    for i, j, k in T.grid(128, 32, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
#: relu_of_matmul
def mm_relu(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    # with T.block("root"):
    Y = T.alloc_buffer((16, 16))
    for i, j, k in T.grid(16, 16, 16):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(Y[vi, vj])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(Y[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
#: tiled_matmul
def f(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    # with T.block("root"):
    C_local = T.alloc_buffer((64, 64), scope="local")
    for i_0 in T.parallel(4):
        for j_0 in range(4):
            for i_1_init, j_1_init in T.grid(16, 16):
                with T.block("C_init"):
                    vi = T.axis.spatial(64, i_0 * 16 + i_1_init)
                    vj = T.axis.spatial(64, j_0 * 16 + j_1_init)
                    T.reads()
                    T.writes(C_local[vi, vj])
                    C_local[vi, vj] = T.float32(0)
            for k_0 in T.serial(16, annotations={"pragma_auto_unroll_max_step": 16}):
                for i_1 in range(16):
                    for k_1 in T.unroll(4):
                        for j_1 in T.vectorized(16):
                            with T.block("C_update"):
                                vi = T.axis.spatial(64, i_0 * 16 + i_1)
                                vj = T.axis.spatial(64, j_0 * 16 + j_1)
                                vk = T.axis.reduce(64, k_0 * 4 + k_1)
                                T.reads(C_local[vi, vj], A[vi, vk], B[vk, vj])
                                T.writes(C_local[vi, vj])
                                C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0, ax1 in T.grid(16, 16):
                with T.block("C_local"):
                    v0 = T.axis.spatial(64, i_0 * 16 + ax0)
                    v1 = T.axis.spatial(64, j_0 * 16 + ax1)
                    T.reads(C_local[v0, v1])
                    T.writes(C[v0, v1])
                    C[v0, v1] = C_local[v0, v1]
#: softmax
def f(A: T.Buffer((8, 16), "float32"), O: T.Buffer((8, 16), "float32")):
    # with T.block("root"):
    M = T.alloc_buffer((8,))
    E = T.alloc_buffer((8, 16))
    S = T.alloc_buffer((8,))
    for i, k in T.grid(8, 16):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(M[vi])
            with T.init():
                M[vi] = T.float32("-inf")
            M[vi] = T.max(M[vi], A[vi, vk])
    for i, j in T.grid(8, 16):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj], M[vi])
            T.writes(E[vi, vj])
            E[vi, vj] = T.exp(A[vi, vj] - M[vi])
    for i, k in T.grid(8, 16):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(E[vi, vk])
            T.writes(S[vi])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vk]
    for i, j in T.grid(8, 16):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(E[vi, vj], S[vi])
            T.writes(O[vi, vj])
            T.block_attr({"axis": 1})
            O[vi, vj] = E[vi, vj] / S[vi]
#: conv2d
def f(X: T.Buffer((1, 3, 10, 10), "float32"), W: T.Buffer((8, 3, 3, 3), "float32"), Y: T.Buffer((1, 8, 10, 10), "float32")):
    # with T.block("root"):
    P = T.alloc_buffer((1, 3, 12, 12))
    for n, c, h, w in T.grid(1, 3, 12, 12):
        with T.block("P"):
            vn, vc, vh, vw = T.axis.remap("SSSS", [n, c, h, w])
            T.reads(X[vn, vc, 0:10, 0:10])
            T.writes(P[vn, vc, vh, vw])
            P[vn, vc, vh, vw] = T.if_then_else(1 <= vh and vh < 11 and 1 <= vw and vw < 11, X[vn, vc, vh - 1, vw - 1], T.float32(0))
    for n, o, h, w, c, r, s in T.grid(1, 8, 10, 10, 3, 3, 3):
        with T.block("Y"):
            vn, vo, vh, vw, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, h, w, c, r, s])
            T.reads(P[vn, vc, vh + vr, vw + vs], W[vo, vc, vr, vs])
            T.writes(Y[vn, vo, vh, vw])
            with T.init():
                Y[vn, vo, vh, vw] = T.float32(0)
            Y[vn, vo, vh, vw] = Y[vn, vo, vh, vw] + P[vn, vc, vh + vr, vw + vs] * W[vo, vc, vr, vs]
#: thread_blocks
def f(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    # with T.block("root"):
    A_shared = T.alloc_buffer((1024,), scope="shared")
    for i_0 in T.thread_binding(8, thread="blockIdx.x"):
        for ax0 in T.thread_binding(128, thread="threadIdx.x", annotations={"tag": 1}):
            with T.block("A_shared"):
                v0 = T.axis.spatial(1024, i_0 * 128 + ax0)
                T.reads(A[v0])
                T.writes(A_shared[v0])
                T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                A_shared[v0] = A[v0]
        for i_1 in T.thread_binding(128, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(1024, i_0 * 128 + i_1)
                T.reads(A_shared[vi])
                T.writes(B[vi])
                B[vi] = A_shared[vi] + T.float32(1)
#: loops
def f(O: T.Buffer((40,), "int32"), n: T.int32):
    for i in T.serial(4, annotations={"a": 1, "b": "x", "c": [1, 2], "d": {"e": 2.5}, "z": T.int64(3)}):
        O[i] = 1
    for i in range(2, 9):
        O[i] = 1
    for i in range(0, 9, 3):
        O[i] = 1
    for i in range(n, n + 4):
        O[i] = 1
    for i in range(n, 40):
        O[i] = 1
    for i in range(3, n):
        O[i] = 1
    for i in T.unroll(1, 4):
        O[i] = 1
    for i in T.serial(0, 9, annotations={"a": 1}, step=2):
        O[i] = 1
    for i in T.parallel(9, step=2):
        O[i] = 1
#: loop_kinds
def f(O: T.Buffer((40,), "int32")):
    for i in T.parallel(4):
        for j in T.vectorized(4):
            O[i * 4 + j] = 1
    for i in T.thread_binding(4, thread="threadIdx.x"):
        O[i] = 1
    for i in T.thread_binding(4, thread="vthread.y"):
        O[i] = 1
#: grids
def f(O: T.Buffer((64,), "int32"), n: T.int32):
    for i, j, k in T.grid(4, n, n + 1):
        for l in range(i + 1):
            for m in range(n):
                O[l + m] = 1
            O[k] = j
    for i in range(3):
        for j in range(1, 4):
            O[i + j] = 2
#: while_break
def f(O: T.Buffer((4,), "int32")):
    while O[0] > 1:
        O[0] = O[0] - 1
        if O[0] == 3:
            break
        elif O[0] == 4:
            continue
        else:
            O[1] = 2
#: conditions
def f(O: T.Buffer((4,), "int32"), n: T.int32):
    if n > 3:
        O[0] = 1
    if n > 4 and n < 8 or n == 0:
        O[0] = 2
        O[1] = 3
    elif not n > 9:
        if n == 10:
            O[2] = 5
    else:
        T.evaluate(0)
#: lets
def f(O: T.Buffer((4,), "int64")):
    x: T.int64 = O[0]
    with T.LetStmt(O[1] + x) as y:
        O[1] = y
    for i in range(4):
        z: T.int32 = i * 2
        O[z] = x
    q: T.handle("int64") = O.data
    O[2] = x
    T.evaluate(q)
#: let_tail
def f(O: T.Buffer((4,), "int32")):
    # with T.block("root"):
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads()
            T.writes(O[vi])
            x: T.int32 = vi + 1
            y: T.int32 = x * x
            O[vi] = y
#: attributes
def f(O: T.Buffer((4,), "int32")):
    T.attr(0, "pragma_x", 1)
    T.attr("default", "async_scope", 1)
    for i in range(4):
        with T.attr(O.data, "k", "v"):
            O[i] = i
        O[i] = 1
#: launch
def f(O: T.Buffer((128,), "int32")):
    with T.launch_thread("threadIdx.x", 128) as tx:
        O[tx] = tx
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 64)
    O[bx * 64 + tx] = tx
#: allocations
def f(O: T.Buffer((16,), "float32"), n: T.int32):
    with T.allocate([16], "float32", "shared") as p:
        P = T.decl_buffer((4, 4), data=p, scope="shared")
        P[0, 0] = O[0]
    q = T.allocate([n], "int8", "global", condition=n > 4, annotations={"a": 1})
    Q = T.decl_buffer((n,), "int8", data=q)
    r = T.allocate_const([1, 2, 3, 4], "int32", [4])
    R = T.decl_buffer((4,), "int32", data=r)
    O_1 = T.decl_buffer((2, 2), data=O.data, strides=[4, 2], elem_offset=1)
    O_1[0, 1] = T.Cast("float32", R[2]) + T.Cast("float32", Q[0])
#: flat_allocation
def f(O: T.Buffer((16,), "float32")):
    t = T.allocate([16], "float32", "local")
    T_1 = T.decl_buffer((16,), data=t, scope="local")
    for i in range(16):
        T_1[i] = O[i] * T.float32(2)
    for i in range(16):
        O[i] = T_1[15 - i]
#: symbolic
def f(a: T.handle, n: T.int32, b: T.handle):
    T.func_attr({"k": [1, 2], "tir.noalias": True})
    m = T.int32()
    A = T.match_buffer(a, (m, n), "float32")
    p = T.int64()
    B = T.match_buffer(b, (p, p * T.int64(2)), "int8")
    # with T.block("root"):
    X = T.alloc_buffer((m,), "int8", scope="local")
    for i, j in T.grid(m, n):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(X[vi], B[T.int64(0), T.int64(0)])
            T.writes(A[vi, vj])
            A[vi, vj] = T.Cast("float32", X[vi] + B[T.int64(0), T.int64(0)])
#: strided
def f(n: T.int32, a: T.handle):
    s0 = T.int32()
    off = T.int32()
    A = T.match_buffer(a, (n, n), "float32", strides=[s0, 1], elem_offset=off, offset_factor=2)
    for i in range(n):
        A[i, i] = T.float32(1)
#: buffer_fields
def f(A: T.Buffer((8, 4), "int8", strides=[8, 2], elem_offset=4, scope="shared", align=16, offset_factor=4)):
    for i in range(8):
        A[i, 0] = T.int8(1)
#: old_buffer_fields
def f(A: T.Buffer((8, 4), "int8", buffer_type="auto", axis_separators=[1])):
    for i in range(8):
        A[i, 0] = T.int8(1)
#: region_match
def f(A: T.Buffer((16, 16), "float16")):
    # with T.block("root"):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            T.reads()
            T.writes(A[vi * 4:vi * 4 + 4, 0:16])
            T.block_attr({"x": 1})
            W = T.alloc_buffer((4,), scope="local")
            s0 = T.int32()
            s1 = T.int32()
            S = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (4, 16), "float16", strides=[s0, s1], offset_factor=1)
            with T.init():
                W[0] = T.float32(0)
            for k in range(4):
                S[k, 0] = T.float16(0.1)
#: blocks
def f(A: T.Buffer((8, 8), "float32"), s: T.Buffer((), "float32")):
    # with T.block("root"):
    for i, j in T.grid(8, 8):
        with T.block("a \\"b\\""):
            vi = T.axis.spatial((2, 8), i + 2)
            vj = T.axis.reduce(8, j)
            T.where(i < 6)
            T.reads(A[vi, 0:8])
            T.writes(s[()])
            with T.init():
                s[()] = T.float32(0)
            s[()] = s[()] + A[vi, vj]
    with T.block("scan"):
        v = T.axis.scan(8, 0)
        w = T.axis.opaque(8, 0)
        T.reads()
        T.writes()
        T.evaluate(0)
#: nested_blocks
def f(A: T.Buffer((8, 8), "float32")):
    # with T.block("root"):
    for i in range(2):
        with T.block("outer"):
            vo = T.axis.spatial(2, i)
            T.reads()
            T.writes(A[vo * 4:vo * 4 + 4, 0:8])
            for j, k in T.grid(4, 8):
                with T.block("inner"):
                    vj, vk = T.axis.remap("SS", [j, k])
                    T.reads()
                    T.writes(A[vo * 4 + vj, vk])
                    A[vo * 4 + vj, vk] = T.float32(1)
#: root
def f(O: T.Buffer((4,), "int32")):
    with T.block("root"):
        T.reads()
        T.writes()
        T.block_attr({"mark": 7})
        X = T.alloc_buffer((4,))
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                T.reads()
                T.writes(O[vi])
                O[vi] = vi
#: constants
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int8"), h: T.Buffer((4,), "float16"), g: T.Buffer((4,), "bfloat16"), k: T.Buffer((4,), "float8_e4m3fn"), l: T.Buffer((T.int64(4),), "float64"), u: T.Buffer((4,), "uint64")):
    A[0] = T.float32("inf") + A[1] - T.float32("nan") * A[2]
    A[1] = A[0] + T.float32(-0.0) + T.float32(1e-05) - T.float32("-inf")
    A[2] = T.float32(16777216) - A[0] * T.float32(1e+20)
    B[0] = T.int8(-3) + B[1]
    h[0] = T.float16(0.1) + h[1]
    g[0] = T.bfloat16(0.1) * g[1]
    k[0] = T.float8_e4m3fn(0.5)
    l[T.int64(0)] = l[T.int64(1)] - T.float64(0.1)
    u[0] = T.uint64(18446744073709551615) - u[1]
#: arithmetic
def f(O: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int8")):
    for i in range(8):
        O[i] = T.truncdiv(O[i], 3) + T.truncmod(i, 3) + (O[i] << 2) + ~i - (O[i] >> 1) + (O[i] & 3 | 4 ^ O[i])
        O[i] = T.min(O[i], i) * -1 + O[i] // 3 % 2 - (7 - (i - O[0]))
        O[i] = (O[i] - 3) * (i - 2) // (O[i] % (9 % (i + 2) + 1))
        B[i] = T.int8(-3) + B[i] // T.int8(2) + B[i] % T.int8(3)
        O[i] = T.Cast("int32", T.Cast("int64", i) * T.int64(3)) + T.Cast("int32", B[i])
#: literals
def f(O: T.Buffer((8,), "int32"), P: T.Buffer((8,), "bool")):
    for i in range(8):
        O[i] = T.Add(1, 2) + O[i] * T.Sub(3, 4)
        P[i] = T.LT(1, 2) and P[i]
        O[i] = T.max(1, 2) + O[i]
#: folded
def f(O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i + 0] = O[i * 1] + 0 * i - (0 + O[i]) // 1
        O[i % 8] = (1 * O[i] - 0) * (i // 8 + 1)
#: bools
def f(O: T.Buffer((8,), "int32"), P: T.Buffer((8,), "bool")):
    for i in range(8):
        P[i] = not i < 3 or O[i] == 3
        P[i] = not P[i]
        P[i] = P[i] == T.bool(True)
        P[i] = (i < 3) == (O[i] < 4) and (P[i] or P[0]) and (P[1] and P[2])
        P[i] = not (P[i] and O[i] != 3)
#: selections
def f(O: T.Buffer((8,), "int32"), A: T.Buffer((8,), "float32")):
    for i in range(8):
        O[i] = T.Select(i < 3, O[i], 4)
        O[i] = T.if_then_else(i < 7, O[i + 1], 0)
        A[i] = T.if_then_else(i < 3 and A[i] > T.float32(0), A[i], T.float32(-1.5))
#: let_expressions
def f(O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.Let(x * x, where={x: O[i] + 1}) + T.Let(x - T.Let(y + x, where={y: x * 2}), where={x: O[i]})
#: mathematics
def f(A: T.Buffer((8,), "float32"), O: T.Buffer((8,), "int32"), l: T.Buffer((8,), "float64")):
    for i in range(8):
        A[i] = T.sigmoid(A[i]) + T.fmod(A[i], A[i]) + T.Cast("float32", T.isnan(A[i])) + T.floor(A[i]) + T.ldexp(A[i], 3)
        A[i] = T.fabs(A[i]) + T.pow(A[i], T.float32(2)) + T.atan2(A[i], A[i]) / T.float32(3)
        A[i] = T.exp2(A[i]) - T.log1p(A[i]) * T.rsqrt(A[i]) + T.hypot(A[i], A[0]) - T.copysign(A[i], A[1])
        A[i] = T.erf(A[i]) + T.tanh(A[i]) + T.round(A[i]) + T.nearbyint(A[i]) + T.trunc(A[i]) + T.ceil(A[i])
        l[i] = T.sqrt(l[i]) + T.nextafter(l[i], l[0])
        O[i] = T.popcount(O[i]) + T.clz(O[i])
#: integer_mathematics
def f(O: T.Buffer((8,), "int32")):
    for i in range(8):
        O[i] = T.pow(O[i], 2) + T.shift_left(1, 2) + T.bitwise_not(3) + T.bitwise_and(1, 2)
        O[i] = T.abs(O[i]) + T.q_multiply_shift(O[i], O[i], 31, 1)
#: vectors
def f(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32"), i: T.int32):
    O[0:8] = A[0:8] + T.Broadcast(T.float32(1), 8)
    O[8:16] = A[0:16:2]
    O[i * 4:i * 4 + 4] = A[i:i + 4]
    O[0:8] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(3, 8), A[0:8], A[8:16])
    O[T.Ramp(7, -1, 8)] = A[T.Ramp(0, i, 8)]
    O[0] = T.Shuffle([A[0:4], A[4:8]], [3])
    O[0:2] = T.vectorlow("float32x2", A[0:4])
    O[0:4] = T.vectorcombine("float32x4", T.vectorlow("float32x2", A[0:4]), T.vectorhigh("float32x2", A[0:4]))
#: predicated
def f(A: T.Buffer((16,), "float32"), O: T.Buffer((16,), "float32"), i: T.int32):
    O.vstore([T.Ramp(0, 1, 4)], A.vload([T.Ramp(0, 1, 4)], predicate=T.Broadcast(i < 4, 4)), predicate=T.Broadcast(T.bool(True), 4))
#: calls
def f(O: T.Buffer((40,), "int32"), h: T.handle("float32"), hs: T.handle("float32", "shared")):
    assert O[0] > 3, "bad \\"n\\""
    T.call_extern("int32", "foo", O.data, 3, T.float32(1.5))
    T.call_packed("bar", O.data)
    T.call_cpacked("bar", O.data)
    O[0] = T.call_pure_extern("int32", "foo", 3)
    T.tvm_access_ptr(T.type_annotation("int32"), O.data, 0, 40, 1)
    T.address_of(O[3])
    O[1] = T.reinterpret("int32", T.float32(1))
    T.assume(O[0] > 3)
    T.evaluate(O[1])
    T.isnullptr(h)
    T.call_extern("int32", "bar", hs)
#: llvm_calls
def f(O: T.Buffer((40,), "int32")):
    O[2] = T.call_llvm_intrin("int32", "llvm.ctpop.i32", O[0])
    O[2] = T.call_llvm_pure_intrin("int32", "llvm.ctpop.i32", O[1])
#: thread_calls
def f(O: T.Buffer((40,), "int32")):
    T.tvm_storage_sync("shared")
    O[1] = T.dp4a(O[1], O[2], O[3])
    O[1] = T.tvm_warp_shuffle(T.tvm_warp_activemask(), O[1], 0, 32, 32)
#: atomics
def f(O: T.Buffer((40,), "int32")):
    T.atomic_add(O.data, 3)
#: struct_calls
def f(O: T.Buffer((40,), "int32"), h: T.handle, n: T.int64):
    T.tvm_struct_set(h, 0, 1, n)
    O[0] = T.tvm_struct_get(h, 0, 2, "int32")
#: returns
def f(n: T.int32) -> T.int32:
    T.ret(n + 1)
#: reducer
def f(A: T.Buffer((32,), "float32"), O: T.Buffer((1,), "float32")):
    r = T.allocate([1], "float32", "local")
    R = T.decl_buffer((1,), data=r, scope="local")
    tx = T.launch_thread("threadIdx.x", 32)
    with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", T.reinterpret("handle", T.uint64(0))):
        T.tvm_thread_allreduce(T.uint32(1), A[tx], T.bool(True), R[0], tx)
    O[0] = R[0]
#: argmax_reducer
def f(A: T.Buffer((32,), "float32")):
    T.attr(T.comm_reducer(lambda x0, x1, y0, y1: (T.Select(x1 >= y1, x0, y0), T.Select(x1 >= y1, x1, y1)), [-1, T.float32("-inf")]), "reduce_scope", 0)
    A[0] = T.float32(1)
#: int64
def f(O: T.Buffer((T.int64(6),), "int64")):
    # with T.block("root"):
    for i in range(T.int64(1), T.int64(5)):
        with T.block("O"):
            vi = T.axis.spatial(T.int64(6), i)
            T.reads()
            T.writes(O[vi])
            O[vi] = vi
    for i in T.thread_binding(T.int64(6), thread="blockIdx.x"):
        for j in T.thread_binding(T.int64(1), thread="threadIdx.x"):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(O[vi + vj])
                O[vi + vj] = vi
    for i, j in T.grid(T.int64(2), T.int64(3)):
        O[i * T.int64(3) + j] = T.int64(0)
#: attributes_of_functions
def hoho(A: T.Buffer((8,), "float32")):
    T.func_attr({"b": T.bool(True), "f": T.float32(0.5), "i": T.int32(3), "s": "text", "target": T.target("llvm"), "tir.is_entry_func": True, "x": [1, 2.5, None, [3]]})
    A[0] = T.float32(1)
#: annotations
def f(A: T.Buffer((8,), "float32"), n: T.int32):
    for i in T.serial(8, annotations={"b": A, "e": n + 1, "fl": T.float32(0.5), "i": T.int32(3), "m": T.index_map(lambda i_1: (i_1 // 4, i_1 % 4)), "r": A[0:4], "t": [1, 2], "x": None, "y": True}):
        A[i] = T.float32(1)
#: strings
def f(A: T.Buffer((8,), "float32")):
    for i in T.serial(8, annotations={"note": "a \\"q\\" \\\\ b\\nline2\\t'x'"}):
        A[i] = T.float32(1)
#: realize
def f(A: T.Buffer((8,), "float32")):
    R = T.buffer_decl((8,), scope="shared")
    T.realize(R[0:8], "shared")
    R[0] = A[0]
#: names
def f(T_1: T.Buffer((8,), "float32"), for_1: T.int32, print: T.int32):
    for i, i_1 in T.grid(8, 8):
        T_1[i] = T_1[i_1 + for_1 + print]
    for i in range(3):
        T_1[i] = T.float32(0)
"""


def _programs():
    found = {}
    for part in PROGRAMS.split("\n#: ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = HEADER + text.rstrip("\n")
    return found


TEXTS = _programs()
TEXTS["private"] = (
    "# from tirscript.script import tir as T\n\n@T.prim_func(private=True)\n"
    'def main(A: T.Buffer((8,), "float32")):\n    A[0] = T.float32(1)'
)
TEXTS["module"] = """\
# from tirscript.script import ir as I
# from tirscript.script import tir as T

@I.ir_module
class Module:
    I.module_attrs({"a": 1})
    @T.prim_func(private=True)
    def g(A: T.Buffer((8,), "float32"), n: T.int32):
        A[n] = T.float32(1)

    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "exported"})
        cls.g(A.data, 3)"""
TEXTS["module_infos"] = """\
# from tirscript.script import ir as I
# from tirscript.script import tir as T

@I.ir_module
class Module:
    I.module_attrs({"a": {"b": [1, 2]}})
    I.module_global_infos({"dummy": [I.dummy_global_info()], "vdevice": [I.vdevice("llvm", 0, "global")]})
    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        A[0] = T.float32(1)"""


def quiet_parse(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse(text)


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_a_fixpoint(name):
    text = TEXTS[name]
    f = quiet_parse(text)
    assert script(f) == text
    assert render(f).text == text


@pytest.mark.parametrize("name", TEXTS)
def test_every_form_reads_back(name):
    f = quiet_parse(TEXTS[name])
    for options in ({"sugar": False}, {"width": 60}, {"width": 100}):
        g = quiet_parse(script(f, **options))
        assert_structural_equal(g, f)
        assert structural_equal(g, f, names=True)


def test_long_sums_and_programs_read_back():
    text = HEADER + 'def f(A: T.Buffer((8,), "int32")):\n    A[0] = A[1]' + " + A[2]" * 5000
    assert script(quiet_parse(text)) == text
    text = HEADER + 'def f(A: T.Buffer((8,), "int32")):' + "\n    A[0] = A[1]" * 10_000
    assert script(quiet_parse(text)) == text


def test_too_many_blocks_read_back():
    """Python cannot compile it, but the text can be read."""
    from tirscript.ir.expr import Var, const_int
    from tirscript.ir.function import PrimFunc
    from tirscript.ir.stmt import Evaluate, For

    body = Evaluate(const_int(0))
    for _ in range(30):
        body = For(Var("i"), const_int(0), const_int(2), "unrolled", body)
    f = PrimFunc((), {}, body, attrs={"global_symbol": "f"})
    text = script(f)
    assert "# over Python's limit of 20 nested blocks" in text
    assert_structural_equal(quiet_parse(text), f)


def test_large_constants_read_back():
    import numpy as np

    from tirscript.ir.expr import Var, const_int
    from tirscript.ir.function import PrimFunc
    from tirscript.ir.node import walk
    from tirscript.ir.stmt import AllocateConst, Evaluate

    for dtype in ("float32", "int8", "float16", "bfloat16"):
        from tirscript.script.printer.metadata import _numpy_dtype

        data = (np.arange(300).reshape(3, 100) / 3).astype(_numpy_dtype(dtype))
        p = Var("p", "handle", False, (dtype, "global"))
        body = AllocateConst(p, dtype, (const_int(3), const_int(100)), data, Evaluate(p))
        f = PrimFunc((), {}, body, attrs={"global_symbol": "f"})
        g = quiet_parse(script(f))
        assert_structural_equal(g, f)
        back = next(n for n in walk(g) if isinstance(n, AllocateConst))
        assert back.data.dtype == data.dtype and back.data.tobytes() == data.tobytes()
        assert script(g) == script(f)
