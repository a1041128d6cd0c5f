# ruff: noqa: E501
"""Statements: stores, lets, conditions, asserts, evaluations, attributes."""

TEXT = '''
#: stmt_store_scalar_to_many run
@T.prim_func
def fill(A: T.Buffer((4, 4), "float32"), x: T.float32):
    for i, j in T.grid(4, 4):
        A[i, j] = x

#: stmt_augmented_forms run
@T.prim_func
def augmented(A: T.Buffer((9,), "int32")):
    A[0] += 3
    A[1] -= 3
    A[2] *= 3
    A[3] //= 3
    A[4] %= 3
    A[5] <<= 2
    A[6] >>= 1
    A[7] &= 6
    A[8] |= 9
    A[8] ^= 5

#: stmt_augmented_float run
@T.prim_func
def augmented_float(A: T.Buffer((4,), "float32")):
    A[0] += T.float32(0.5)
    A[1] -= 1.5
    A[2] *= 2
    A[3] /= T.float32(4)

#: stmt_vector_store_ramp run
@T.prim_func
def ramp_store(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    B[T.ramp(0, 1, 8)] = A[T.ramp(8, 1, 8)]
    B[T.Ramp(8, 1, 8)] = T.Broadcast(T.float32(3), 8)

#: stmt_vector_store_slice run
@T.prim_func
def slice_store(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in range(4):
        B[i, 0:8] = A[i, 8:16]
        B[i, 8:16] = A[i, 0:16:2] + A[i, 1:17:2]

#: stmt_vector_store_offset_slice run
@T.prim_func
def offset_slice(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    for i in range(8):
        B[i * 4:i * 4 + 4] = A[i * 4:i * 4 + 4] * T.Broadcast(T.float32(2), 4)

#: stmt_gather_vector run ints=0:8
@T.prim_func
def gather_vector(J: T.Buffer((8,), "int32"), A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    B[0:8] = A[J[0:8]]

#: stmt_predicated_vector
@T.prim_func
def predicated(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    B.vstore([T.Ramp(0, 1, 8)], A.vload([T.Ramp(0, 1, 8)], predicate=T.Ramp(0, 1, 8) < T.Broadcast(n, 8)), predicate=T.Ramp(0, 1, 8) < T.Broadcast(n, 8))

#: stmt_let_annotated run
@T.prim_func
def annotated_let(A: T.Buffer((8,), "float32")):
    for i in range(8):
        x: T.float32 = A[i] + T.float32(1)
        A[i] = x * x

#: stmt_let_plain run
@T.prim_func
def plain_let(A: T.Buffer((8,), "int32")):
    for i in range(8):
        x = A[i] + 1
        y = x * 2
        A[i] = x + y

#: stmt_let_function run
@T.prim_func
def let_function(A: T.Buffer((8,), "int32")):
    for i in range(8):
        x = T.int32()
        with T.let(x, A[i] * 3):
            A[i] = x - i

#: stmt_let_with run
@T.prim_func
def let_with(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.LetStmt(A[i] + 2) as x:
            B[i] = x * x
        B[i] = B[i] - 1

#: stmt_let_with_short
@T.prim_func
def let_short(A: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.Let(A[i] * 5) as five:
            A[i] = five

#: stmt_let_chain run
@T.prim_func
def let_chain(A: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            x: T.int32 = vi + 1
            y: T.int32 = x * x
            z: T.int32 = y + 1
            A[vi] = z

#: stmt_let_kept_value run
@T.prim_func
def kept_value(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        t: T.float32 = A[i]
        A[i] = t * T.float32(2)
        B[i] = t

#: stmt_let_pointer
@T.prim_func
def let_pointer(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    p: T.handle("float32", "global") = A.data
    P = T.decl_buffer((8,), "float32", data=p)
    for i in range(8):
        B[i] = P[i]

#: stmt_let_rebinding run
@T.prim_func
def rebinding(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        x: T.int32 = A[i]
        B[i] = x
    for j in range(4):
        x: T.int32 = A[j] + 10
        B[j] = B[j] + x

#: stmt_if run
@T.prim_func
def only_if(A: T.Buffer((8,), "int32")):
    for i in range(8):
        if A[i] > 2:
            A[i] = 2

#: stmt_if_else run
@T.prim_func
def if_else(A: T.Buffer((8,), "int32")):
    for i in range(8):
        if A[i] > 0:
            A[i] = 1
        else:
            A[i] = -1

#: stmt_elif run
@T.prim_func
def elif_chain(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        if A[i] < T.float32(-1):
            B[i] = 0
        elif A[i] < T.float32(0):
            B[i] = 1
        elif A[i] < T.float32(1):
            B[i] = 2
        else:
            B[i] = 3

#: stmt_if_nested run
@T.prim_func
def nested_if(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        B[i] = 0
        if A[i] > 0:
            if A[i] % 2 == 0:
                B[i] = 1
            if i > 3:
                B[i] = B[i] + 2
        else:
            if A[i] < -3:
                B[i] = 9

#: stmt_if_frames run
@T.prim_func
def frames(A: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.If(A[i] > 0):
            with T.Then():
                A[i] = 1
            with T.Else():
                A[i] = 0

#: stmt_if_pass run
@T.prim_func
def pass_branch(A: T.Buffer((8,), "int32")):
    for i in range(8):
        if A[i] > 0:
            pass
        else:
            A[i] = 7

#: stmt_if_parse_time run
@T.prim_func
def parse_time(A: T.Buffer((8,), "int32")):
    for i in range(8):
        if 3 > 5:
            A[i] = 1
        elif 2 == 2:
            A[i] = 2
        else:
            A[i] = 3

#: stmt_assert run
@T.prim_func
def asserted(A: T.Buffer((8,), "int32"), n: T.int32):
    assert n == n, "n equals itself"
    for i in range(8):
        A[i] = n

#: stmt_assert_with
@T.prim_func
def assert_with(A: T.Buffer((8,), "int32"), n: T.int32):
    with T.Assert(n > -100, "n is not so small"):
        A[0] = n
    A[1] = n + 1

#: stmt_evaluate run
@T.prim_func
def evaluated(A: T.Buffer((8,), "int32")):
    T.evaluate(0)
    for i in range(8):
        T.evaluate(A[i] + 1)
        A[i] = 1

#: stmt_evaluate_only
@T.prim_func
def nothing_at_all():
    T.evaluate(0)

#: stmt_pass run
@T.prim_func
def passes(A: T.Buffer((8,), "int32")):
    for i in range(8):
        pass
    A[0] = 1

#: stmt_docstring_comments run
@T.prim_func
def documented(A: T.Buffer((8,), "int32")):
    """A docstring that is dropped."""
    # a comment
    for i in range(8):  # another
        "a string statement"
        A[i] = i  # the last

#: stmt_attr_with
@T.prim_func
def attr_with(A: T.Buffer((8,), "float32")):
    with T.attr(A, "storage_note", 3):
        for i in range(8):
            A[i] = T.float32(0)
    A[0] = T.float32(1)

#: stmt_attr_concise
@T.prim_func
def attr_concise(A: T.Buffer((8,), "float32")):
    T.attr(0, "pragma_note", "text")
    for i in range(8):
        T.attr(i, "pragma_inner", i + 1)
        A[i] = T.float32(0)

#: stmt_attr_of_axis
@T.prim_func
def attr_axis(A: T.Buffer((8,), "float32")):
    with T.attr(T.iter_var(T.int32(), (0, 8), "ThreadIndex", "threadIdx.x"), "virtual_thread", 8):
        A[0] = T.float32(0)

#: stmt_launch_thread_string
@T.prim_func
def launched(A: T.Buffer((128,), "float32")):
    bx = T.launch_thread("blockIdx.x", 4)
    tx = T.launch_thread("threadIdx.x", 32)
    A[bx * 32 + tx] = T.float32(1)

#: stmt_launch_thread_with
@T.prim_func
def launched_with(A: T.Buffer((128,), "float32")):
    with T.launch_thread("blockIdx.x", 4) as bx:
        with T.launch_thread("threadIdx.x", 32) as tx:
            A[bx * 32 + tx] = T.float32(1)

#: stmt_env_thread
@T.prim_func
def environment(A: T.Buffer((128,), "float32")):
    bx = T.env_thread("blockIdx.x")
    tx = T.env_thread("threadIdx.x")
    T.launch_thread(bx, 4)
    T.launch_thread(tx, 32)
    A[bx * 32 + tx] = T.float32(1)

#: stmt_env_thread_twice
@T.prim_func
def environment_twice(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    tx = T.env_thread("threadIdx.x")
    with T.launch_thread(tx, 32):
        A[tx] = T.float32(1)
    with T.launch_thread(tx, 32):
        B[tx] = T.float32(2)

#: stmt_launch_int64
@T.prim_func
def launch_wide(A: T.Buffer((T.int64(128),), "float32")):
    bx = T.launch_thread("blockIdx.x", T.int64(128))
    A[bx] = T.float32(1)

#: stmt_buffer_store_function run
@T.prim_func
def store_function(A: T.Buffer((4, 4), "int32")):
    for i, j in T.grid(4, 4):
        T.buffer_store(A, i + j, [i, j])

#: stmt_return_value run
@T.prim_func
def returned(A: T.Buffer((8,), "int32")) -> T.int32:
    A[0] = 3
    T.ret(A[0] + 4)

#: stmt_return_evaluate run
@T.prim_func
def returned_evaluate(n: T.int32, m: T.int32) -> T.int32:
    T.evaluate(T.ret(n * m))

#: stmt_return_statement run
@T.prim_func
def return_statement(x: T.float32) -> T.float32:
    return x + T.float32(1)

#: stmt_return_none run
@T.prim_func
def none_returned(A: T.Buffer((4,), "int32")) -> None:
    A[0] = 1

#: stmt_continuation_lines run
@T.prim_func
def continued(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"),
              C: T.Buffer((8,), "int32")):
    for i in range(8):
        C[i] = A[i] \\
            + B[i] + (
                A[i] * B[i]
            )

#: stmt_two_spaces_semicolons run
@T.prim_func
def two_spaces(A: T.Buffer((8,), "int32")):
  for i in range(8):
    A[i] = 1; A[i] = A[i] + i

#: stmt_many_parameters run
@T.prim_func
def many(a: T.int32, b: T.int64, c: T.float32, d: T.float64, e: T.bool, f: T.uint8, A: T.Buffer((6,), "float64")):
    A[0] = T.cast(a, "float64")
    A[1] = T.cast(b, "float64")
    A[2] = T.cast(c, "float64")
    A[3] = d
    A[4] = T.cast(e, "float64")
    A[5] = T.cast(f, "float64")

#: stmt_function_attributes
@T.prim_func
def function_attributes(A: T.Buffer((4,), "float32")):
    T.func_attr({"global_symbol": "another_name", "tir.noalias": True, "tir.is_scheduled": 1, "op_pattern": 4, "layout": ["NCHW", "OIHW"]})
    for i in range(4):
        A[i] = T.float32(0)

#: stmt_function_attr_classic_pair run
@T.prim_func
def classic_attributes(A: T.Buffer((4,), "float32")):
    T.func_attr({"global_symbol": "classic_attributes", "tir.noalias": True})
    for i in range(4):
        A[i] = T.float32(4)

#: stmt_function_private
@T.prim_func(private=True)
def private(A: T.Buffer((4,), "float32")):
    A[0] = T.float32(0)

#: stmt_function_target_attribute
@T.prim_func
def with_target(A: T.Buffer((4,), "float32")):
    T.func_attr({"target": T.target("llvm")})
    A[0] = T.float32(0)

#: stmt_function_noalias_false run
@T.prim_func
def may_alias(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    T.func_attr({"tir.noalias": False})
    for i in range(4):
        B[i] = A[i]

#: stmt_function_unchecked
@T.prim_func(check_well_formed=False)
def unchecked(A: T.Buffer((4,), "float32")):
    A[0] = T.float32(0)

#: stmt_no_parameters
@T.prim_func
def no_parameters() -> T.int32:
    T.ret(42)

#: stmt_store_with_conversion run lossy
@T.prim_func
def conversion(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int8")):
    for i in range(4):
        B[i] = A[i] * T.float32(100)
        C[i] = B[i]
'''
