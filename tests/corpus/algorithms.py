# ruff: noqa: E501
"""Algorithms that are no tensor operators: sorts, scans, searches, sequences."""

TEXT = """
#: algo_bubble_sort run
@T.prim_func
def bubble_sort(A: T.Buffer((10,), "int32")):
    for i in range(10):
        for j in range(9 - i):
            if A[j] > A[j + 1]:
                t: T.int32 = A[j]
                A[j] = A[j + 1]
                A[j + 1] = t

#: algo_insertion_sort run
@T.prim_func
def insertion_sort(A: T.Buffer((10,), "float32"), J: T.Buffer((1,), "int32")):
    for i in range(1, 10):
        key: T.float32 = A[i]
        J[0] = i
        while J[0] > 0 and A[T.max(J[0] - 1, 0)] > key:
            A[J[0]] = A[J[0] - 1]
            J[0] = J[0] - 1
        A[J[0]] = key

#: algo_binary_search run
@T.prim_func
def binary_search(O: T.Buffer((3,), "int32"), x: T.int32):
    O[0] = 0
    O[1] = 100
    while O[0] < O[1]:
        O[2] = (O[0] + O[1]) // 2
        if O[2] * O[2] < x:
            O[0] = O[2] + 1
        else:
            O[1] = O[2]

#: algo_gcd run
@T.prim_func
def gcd(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32"), O: T.Buffer((4,), "int32")):
    for i in range(4):
        x = T.decl_buffer((1,), "int32", data=A.data, elem_offset=i)
        y = T.decl_buffer((1,), "int32", data=B.data, elem_offset=i)
        x[0] = T.abs(x[0])
        y[0] = T.abs(y[0])
        while y[0] != 0:
            t: T.int32 = x[0] % y[0]
            x[0] = y[0]
            y[0] = t
        O[i] = x[0]

#: algo_sieve run
@T.prim_func
def sieve(P: T.Buffer((50,), "bool")):
    for i in range(50):
        P[i] = i > 1
    for i in range(2, 8):
        if P[i]:
            for j in range(i * i, 50, i):
                P[j] = T.bool(False)

#: algo_argmax run
@T.prim_func
def argmax(A: T.Buffer((4, 16), "float32"), J: T.Buffer((4,), "int32"), V: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 16):
        with T.block("argmax"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(J[vi], V[vi])
            with T.init():
                J[vi] = -1
                V[vi] = T.min_value("float32")
            i0: T.int32 = T.Select(V[vi] >= A[vi, vk], J[vi], vk)
            v0: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])
            J[vi] = i0
            V[vi] = v0

#: algo_cumulative_sum_rows run
@T.prim_func
def cumulative(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i in range(4):
        C[i, 0] = A[i, 0]
        for j in range(1, 8):
            C[i, j] = C[i, j - 1] + A[i, j]

#: algo_scan_doubling run
@T.prim_func
def hillis_steele(A: T.Buffer((2, 16), "int32")):
    for s in range(4):
        for i in range(16):
            A[(s + 1) % 2, i] = A[s % 2, i] + T.if_then_else(i >= 1 << s, A[s % 2, T.max(i - (1 << s), 0)], 0)

#: algo_fibonacci run
@T.prim_func
def fibonacci(F: T.Buffer((20,), "uint16")):
    F[0] = T.uint16(0)
    F[1] = T.uint16(1)
    for i in range(2, 20):
        F[i] = F[i - 1] + F[i - 2]

#: algo_matrix_power run
@T.prim_func
def matrix_power(A: T.Buffer((3, 3), "int64"), R: T.Buffer((3, 3), "int64")):
    X = T.alloc_buffer((3, 3), "int64")
    for i, j in T.grid(3, 3):
        with T.block("R0"):
            vi, vj = T.axis.remap("SS", [i, j])
            R[vi, vj] = T.Select(vi == vj, T.int64(1), T.int64(0))
    for p in range(5):
        for i, j, k in T.grid(3, 3, 3):
            with T.block("X"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    X[vi, vj] = T.int64(0)
                X[vi, vj] = X[vi, vj] + R[vi, vk] * A[vk, vj]
        for i, j in T.grid(3, 3):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                R[vi, vj] = X[vi, vj]

#: algo_gauss_elimination run floats=1:2
@T.prim_func
def eliminate(A: T.Buffer((4, 5), "float64")):
    for p in range(4):
        for r in range(p + 1, 4):
            f: T.float64 = A[r, p] / A[p, p]
            for c in range(p, 5):
                A[r, c] = A[r, c] - f * A[p, c]

#: algo_cholesky run
@T.prim_func
def cholesky(A: T.Buffer((4, 4), "float64"), L: T.Buffer((4, 4), "float64")):
    for i, j in T.grid(4, 4):
        L[i, j] = T.if_then_else(i == j, T.float64(10), T.float64(0)) + A[i, j] * A[j, i] * T.float64(0.01)
    for j in range(4):
        for k in range(j):
            L[j, j] = L[j, j] - L[j, k] * L[j, k]
        L[j, j] = T.sqrt(L[j, j])
        for i in range(j + 1, 4):
            for k in range(j):
                L[i, j] = L[i, j] - L[i, k] * L[j, k]
            L[i, j] = L[i, j] / L[j, j]

#: algo_csr_spmv run ints=0:4
@T.prim_func
def spmv(P: T.Buffer((5,), "int32"), J: T.Buffer((12,), "int32"), V: T.Buffer((12,), "float32"), X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            T.reads(P[vi:vi + 2], J[0:12], V[0:12], X[0:4])
            T.writes(Y[vi])
            Y[vi] = T.float32(0)
            for k in range(P[vi], P[vi + 1]):
                Y[vi] = Y[vi] + V[k] * X[J[k]]

#: algo_compaction run
@T.prim_func
def compact(A: T.Buffer((16,), "int32"), O: T.Buffer((16,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    for i in range(16):
        if A[i] > 0:
            O[N[0]] = A[i]
            N[0] = N[0] + 1

#: algo_mandelbrot run
@T.prim_func
def mandelbrot(O: T.Buffer((6, 6), "int32"), Z: T.Buffer((3,), "float32")):
    for y, x in T.grid(6, 6):
        Z[0] = T.float32(0)
        Z[1] = T.float32(0)
        O[y, x] = 0
        while Z[0] * Z[0] + Z[1] * Z[1] < T.float32(4) and O[y, x] < 30:
            Z[2] = Z[0] * Z[0] - Z[1] * Z[1] + (T.cast(x, "float32") * T.float32(0.5) - T.float32(2))
            Z[1] = Z[0] * Z[1] * T.float32(2) + (T.cast(y, "float32") * T.float32(0.5) - T.float32(1.25))
            Z[0] = Z[2]
            O[y, x] = O[y, x] + 1

#: algo_life run ints=0:2
@T.prim_func
def life(A: T.Buffer((8, 8), "int8"), B: T.Buffer((8, 8), "int8")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            n: T.int8 = A[(vi + 7) % 8, (vj + 7) % 8] + A[(vi + 7) % 8, vj] + A[(vi + 7) % 8, (vj + 1) % 8] + A[vi, (vj + 7) % 8] + A[vi, (vj + 1) % 8] + A[(vi + 1) % 8, (vj + 7) % 8] + A[(vi + 1) % 8, vj] + A[(vi + 1) % 8, (vj + 1) % 8]
            B[vi, vj] = T.Select(n == T.int8(3) or n == T.int8(2) and A[vi, vj] == T.int8(1), T.int8(1), T.int8(0))

#: algo_crc run
@T.prim_func
def crc(A: T.Buffer((8,), "uint8"), C: T.Buffer((1,), "uint32")):
    C[0] = T.uint32(4294967295)
    for i in range(8):
        C[0] = C[0] ^ T.cast(A[i], "uint32")
        for b in range(8):
            C[0] = C[0] >> T.uint32(1) ^ T.uint32(3988292384) * (C[0] & T.uint32(1))

#: algo_xorshift run
@T.prim_func
def xorshift(S: T.Buffer((1,), "uint64"), O: T.Buffer((8,), "float64")):
    S[0] = S[0] | T.uint64(1)
    for i in range(8):
        S[0] = S[0] ^ S[0] << T.uint64(13)
        S[0] = S[0] ^ S[0] >> T.uint64(7)
        S[0] = S[0] ^ S[0] << T.uint64(17)
        O[i] = T.cast(S[0] >> T.uint64(11), "float64") * T.float64(1.1102230246251565e-16)

#: algo_newton run floats=1:9
@T.prim_func
def newton(A: T.Buffer((4,), "float64"), X: T.Buffer((4,), "float64")):
    for i in range(4):
        X[i] = A[i]
        for _ in range(6):
            X[i] = (X[i] + A[i] / X[i]) * T.float64(0.5)

#: algo_warshall run ints=1:9
@T.prim_func
def warshall(D: T.Buffer((5, 5), "int32")):
    for k in range(5):
        for i, j in T.grid(5, 5):
            D[i, j] = T.min(D[i, j], D[i, k] + D[k, j])
"""
