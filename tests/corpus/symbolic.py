"""Symbolic shapes: variables in extents, strides, offsets and loops."""

TEXT = """
#: symbolic_vector run
@T.prim_func
def symbolic(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] + T.float32(1)

#: symbolic_matmul run
@T.prim_func
def symbolic_matmul(a: T.handle, b: T.handle, c: T.handle):
    m, n, k = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (m, k), "float32")
    B = T.match_buffer(b, (k, n), "float32")
    C = T.match_buffer(c, (m, n), "float32")
    for i, j, r in T.grid(m, n, k):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, r])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

#: symbolic_var run
@T.prim_func
def old_var(a: T.handle):
    n = T.var("int32")
    A = T.match_buffer(a, (n, 4), "int32")
    for i, j in T.grid(n, 4):
        A[i, j] = i * 4 + j

#: symbolic_int64 run
@T.prim_func
def symbolic_wide(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[n - T.int64(1) - i]

#: symbolic_multiple run size=3
@T.prim_func
def multiple_of_four(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n * 4,), "float32")
    B = T.match_buffer(b, (n, 4), "float32")
    for i, j in T.grid(n, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi * 4 + vj]

#: symbolic_ceildiv run
@T.prim_func
def tiles_of(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (T.ceildiv(n, 4),), "float32")
    for i, j in T.grid(T.ceildiv(n, 4), 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + T.if_then_else(vi * 4 + vj < n, A[vi * 4 + vj], T.float32(0))

#: symbolic_parameter run size=5
@T.prim_func
def by_parameter(n: T.int32, A: T.Buffer((16,), "int32")):
    for i in range(T.min(T.max(n, 0), 16)):
        A[i] = n

#: symbolic_parameter_shape run size=5
@T.prim_func
def parameter_shape(n: T.int32, a: T.handle):
    A = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        A[i] = A[i] * T.float32(2)

#: symbolic_allocation run
@T.prim_func
def symbolic_allocation(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    C = T.alloc_buffer((n,))
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi] * A[vi]
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = C[vi] + T.float32(1)

#: symbolic_row_sums run
@T.prim_func
def row_sums(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m), "int32")
    B = T.match_buffer(b, (n,), "int32")
    for i, k in T.grid(n, m):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]

#: symbolic_split_with_guard run
@T.prim_func
def split_guard(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i_0, i_1 in T.grid((n + 7) // 8, 8):
        with T.block("B"):
            vi = T.axis.spatial(n, i_0 * 8 + i_1)
            T.where(i_0 * 8 + i_1 < n)
            B[vi] = A[vi]

#: symbolic_strides_of_two run
@T.prim_func
def two_strided(a: T.handle, b: T.handle):
    n = T.int32()
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, (n,), "float32", strides=[s])
    B = T.match_buffer(b, (n,), "float32", strides=[t])
    for i in range(n):
        B[i] = A[i]

#: symbolic_named_strides
@T.prim_func
def named_strides(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (8, 8), "float32", strides=["s0", "s1"])
    B = T.match_buffer(b, (8, 8), "float32", strides=["t0", "t1"])
    for i, j in T.grid(8, 8):
        B[i, j] = A[i, j]

#: symbolic_quoted_extents
@T.prim_func
def quoted(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer(("m", "n"), "float32")):
    for i, j in T.grid(A.shape[0], A.shape[1]):
        B[j, i] = A[i, j]

#: symbolic_shape_attribute run
@T.prim_func
def shape_attribute(A: T.Buffer((6, 4), "int32"), B: T.Buffer((4, 6), "int32")):
    for i, j in T.grid(A.shape[0], B.shape[0]):
        B[j, i] = A[i, j]

#: symbolic_difference run size=6
@T.prim_func
def adjacent(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "int32")
    B = T.match_buffer(b, (n - 1,), "int32")
    for i in range(n - 1):
        with T.block("B"):
            vi = T.axis.spatial(n - 1, i)
            B[vi] = A[vi + 1] - A[vi]

#: symbolic_size_var
@T.prim_func
def size_var(a: T.handle):
    n = T.int32(is_size_var=True)
    A = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        A[i] = T.float32(0)
"""
