"""Declarations of buffers: every field, both spellings, symbolic shapes."""

import pytest

import tirscript as ts
from tirscript.ir import structural_equal
from tirscript.ir.expr import Add, FloorDiv, IntImm, Mul, Var


def buffer(declaration: str, more: str = ""):
    f = ts.parse(f"def f({more}A: {declaration}):\n    pass")
    return f.buffers[0]


@pytest.mark.parametrize(
    ("declaration", "shape", "dtype"),
    [
        ('T.Buffer((4, 8), "int8")', [4, 8], "int8"),
        ("T.Buffer((4, 8))", [4, 8], "float32"),
        ("T.Buffer([4])", [4], "float32"),
        ("T.Buffer(4, 'bool')", [4], "bool"),
        ("T.Buffer((), 'float64')", [], "float64"),
        ("T.Buffer((0, 1))", [0, 1], "float32"),
        ("T.Buffer[(4, 8), 'int8']", [4, 8], "int8"),
        ("T.Buffer[4, 'int8']", [4], "int8"),
        ("T.Buffer[18, 8]", [18, 8], "float32"),
        ("T.Buffer[(4,)]", [4], "float32"),
        ("T.Buffer[[2, 2], T.int8]", [2, 2], "int8"),
        ("T.Buffer((4,), T.float16)", [4], "float16"),
        ("T.Buffer((4,), 'float32x4')", [4], "float32x4"),
        ("T.Buffer((2 * 3,), dtype='bfloat16')", [6], "bfloat16"),
        ("T.Buffer((4,), 'e4m3_float8')", [4], "float8_e4m3fn"),
        ("'T.Buffer((4,), \"int8\")'", [4], "int8"),
    ],
)
def test_shapes_and_dtypes(declaration, shape, dtype):
    b = buffer(declaration)
    assert [n.value for n in b.shape] == shape and b.dtype == dtype and b.name == "A"
    assert b.data.pointee == (dtype, "global") and not b.data.exact


def test_every_field():
    b = buffer(
        'T.Buffer((4, 8), "int8", strides=[n, 1], elem_offset=n * 2, scope="shared", align=64, '
        "offset_factor=8, "
        'buffer_type="auto", axis_separators=[1])',
        "n: T.int32, ",
    )
    assert isinstance(b.strides[0], Var) and b.strides[1].value == 1 and isinstance(b.elem_offset, Mul)
    assert (b.scope, b.align, b.offset_factor, b.buffer_type, b.axis_separators) == (
        "shared",
        64,
        8,
        "auto",
        (1,),
    )
    plain = buffer('T.Buffer((4,), elem_offset=0, align=-1, buffer_type="default", strides=None)')
    assert (
        plain.elem_offset is None
        and plain.align == 0
        and plain.buffer_type == "default"
        and plain.strides == ()
    )


def test_quoted_dimensions_define_variables():
    f = ts.parse('def f(A: T.Buffer(("n", "n + 1")), B: T.Buffer(("n", "m * 2"), "int8")):\n    pass')
    a, b = f.buffers
    n = a.shape[0]
    assert isinstance(n, Var) and n.exact and n.name == "n" and b.shape[0] is n
    assert structural_equal(a.shape[1], Add(n, IntImm(1)), map_free_vars=False)
    assert isinstance(b.shape[1], Mul) and b.shape[1].a.name == "m"


def test_the_body_declares_what_annotations_quote():
    f = ts.parse("""
def f(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n,), "float32")):
    n, m = T.int64(), T.int32()
    for i in range(n):
        B[i] = A[i, m - 1]
""")
    a, b = f.buffers
    assert [e.dtype for e in a.shape] == ["int64", "int32"] and b.shape[0] is a.shape[0]
    assert f.body.extent is a.shape[0]
    again = ts.parse(f.script())
    assert structural_equal(again, f)


def test_shape_variables_outside_of_the_function():
    f = ts.parse("""
# from typing import TypeVar
n = TypeVar("n")
@T.prim_func
def f(A: T.Buffer((n, 4), "float32"), B: T.Buffer((n,), "float32")):
    for i in range(n):
        B[i] = A[i, 3]
""")
    a, b = f.buffers
    assert a.shape[0].dtype == "int64" and b.shape[0] is a.shape[0] and f.body.extent is a.shape[0]


def test_handles_and_symbolic_shapes():
    f = ts.parse("""
def f(a: T.handle, b: T.handle, unmatched: T.handle, k: T.int32):
    n = T.int64()
    m = T.var("int32")
    A = T.match_buffer(a, (n, n * 16, T.ceildiv(k, 4)), "float16")
    B = T.match_buffer(b, [m], dtype="int8", strides=["s0"], elem_offset="off", offset_factor=4)
    T.evaluate(unmatched)
""")
    assert [v.dtype for v in f.params] == ["handle", "handle", "handle", "int32"]
    a, b = f.buffers
    assert a.shape[0].dtype == "int64" and a.shape[0].name == "n"
    assert structural_equal(a.shape[1], Mul(a.shape[0], IntImm(16, "int64")), map_free_vars=False)
    assert isinstance(a.shape[2], FloorDiv)
    assert b.strides[0].name == "s0" and b.elem_offset.name == "off" and b.offset_factor == 4
    assert f.params[2] not in f.buffer_map


def test_pointers_and_scalars():
    f = ts.parse("""
def f(p: T.handle("float32", "shared"), q: T.Ptr[T.int8], i: int, x: float, s: "T.int64",
      u: T.uint8, b: T.bool):
    P = T.decl_buffer((4,), "float32", data=p)
    P[0] = x
""")
    p, q, i, x, s, u, b = f.params
    assert p.pointee == ("float32", "shared") and q.pointee == ("int8", "global")
    assert [v.dtype for v in (i, x, s, u, b)] == ["int32", "float32", "int64", "uint8", "bool"]
    assert [v.exact for v in (i, x, s, u)] == [True, False, True, True]
    assert f.body.buffer.scope == "shared" and f.body.buffer.data is p


def test_members_of_buffers():
    f = ts.parse("""
def f(a: T.handle, R: T.Buffer((8,), "int32")):
    n = T.int32()
    s = T.int32()
    A = T.match_buffer(a, (4, n), "float32", strides=[s, 1], elem_offset=n)
    R[0] = A.shape[1]
    R[1] = A.strides[0]
    R[2] = A.elem_offset
    R[3] = A.offset_of([1, 2])[0]
    R[4] = R.elem_offset
    T.evaluate(A.access_ptr("r"))
    T.evaluate(R.access_ptr("rw", offset=4))
    X = T.alloc_buffer(A.shape, A.dtype, scope=R.scope())
    X[0, 0] = A[0, 0]
""")
    stores = f.body.block.body.seq
    n, s = f.buffers[0].shape[1], f.buffers[0].strides[0]
    assert stores[0].value is n and stores[1].value is s and stores[2].value is n
    expected = Add(n, Add(Mul(IntImm(1), s), Mul(IntImm(2), IntImm(1))))
    assert structural_equal(stores[3].value, expected, map_free_vars=False)
    assert stores[4].value.value == 0
    pointer = stores[5].value
    assert pointer.op == "tvm_access_ptr" and pointer.args[4].value == 1 and pointer.args[2] is n
    other = stores[6].value
    assert [a.value for a in other.args[2:3]] == [4] and other.args[4].value == 3


def test_names_may_be_reused():
    f = ts.parse("""
def f(A: T.Buffer((3, 4), "int32")):
    for i, j in T.grid(3, 4):
        with T.block("b"):
            i, j = T.axis.remap("SS", [i, j])
            A[i, j] = i * 10 + j
""")
    realize = f.body.block.body.body.body
    assert [v.name for v in realize.iter_values] == ["i", "j"]
    assert realize.iter_values[0] is f.body.block.body.loop_var
    assert realize.block.body.indices[0] is realize.block.iter_vars[0].var
