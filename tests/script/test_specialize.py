"""``PrimFunc.specialize``: sizes, scalars, buffers."""

import pytest

import tirscript as ts
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import IntImm, Var, const_int
from tirscript.ir.node import walk
from tirscript.ir.verify import check_well_formed

SYMBOLIC = """
@T.prim_func
def f(a: T.handle, b: T.handle, k: T.int32):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m * 2), "float32")
    B = T.match_buffer(b, (n,), "float32")
    X = T.alloc_buffer((n, k), "float32")
    for i, j in T.grid(n, m * 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = 0.0
            B[vi] = B[vi] + A[vi, vj] * T.cast(k, "float32")
    for i in range(n):
        X[i, 0] = B[i]
"""


def test_sizes_by_name_and_by_variable():
    f = ts.parse(SYMBOLIC)
    n, m = f.buffers[0].shape[0], f.buffers[0].shape[1].a
    want = ts.parse("""
@T.prim_func
def f(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4,), "float32"), k: T.int32):
    X = T.alloc_buffer((4, k), "float32")
    for i, j in T.grid(4, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = 0.0
            B[vi] = B[vi] + A[vi, vj] * T.cast(k, "float32")
    for i in range(4):
        X[i, 0] = B[i]
""")
    for key_n, key_m in (("n", "m"), (n, m)):
        g = f.specialize({key_n: 4, key_m: 8})
        ts.assert_structural_equal(g, want)
        check_well_formed(g)


def test_scalar_parameters_go_away():
    f = ts.parse(SYMBOLIC)
    g = f.specialize({f.params[2]: 3})
    assert len(g.params) == 2
    (allocated,) = g.body.block.alloc_buffers
    assert allocated.shape[1].value == 3
    check_well_formed(g)


def test_a_buffer_gives_the_sizes():
    f = ts.parse(SYMBOLIC)
    by_buffer = f.specialize({f.params[1]: make_buffer("Z", (const_int(6),), "float32")})
    assert by_buffer.buffers[1].shape[0].value == 6 and by_buffer.buffers[0].shape[0].value == 6
    by_name = f.specialize({"B": make_buffer("Z", (const_int(6),), "float32")})
    ts.assert_structural_equal(by_buffer, by_name)
    fixed = f.specialize({"m": 2})
    with pytest.raises(ts.TirscriptError, match="dimension 1 of `A` is 4, the value has 5"):
        fixed.specialize({"A": make_buffer("Z", (const_int(1), const_int(5)), "float32")})


def test_nothing_is_shared_with_the_original():
    f = ts.parse(SYMBOLIC)
    g = f.specialize({"n": 4})
    mine = {n for n in walk(f.body) if isinstance(n, Var)} | set(f.params)
    other = {n for n in walk(g.body) if isinstance(n, Var)} | set(g.params)
    assert not mine & other
    ts.assert_structural_equal(f.specialize({}), f)


def test_another_symbol_as_the_value():
    f = ts.parse(SYMBOLIC)
    p = Var("p")
    g = f.specialize({"n": p})
    assert g.buffers[0].shape[0] is g.buffers[1].shape[0] and g.buffers[0].shape[0].name == "p"
    check_well_formed(g)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"x": 3}, "no parameter or shape variable `x`"),
        ({"n": -1}, "cannot be -1"),
        ({"n": 1.5}, "1.5 is no int32"),
        ({"n": 3_000_000_000}, "does not fit"),
        ({"A": 3}, "is a buffer"),
        ({"A": make_buffer("Z", (const_int(3),), "float32")}, "2 dimensions, the value has 1"),
        ({"B": make_buffer("Z", (const_int(3),), "int8")}, "holds float32"),
        ({"n": IntImm(3), "B": make_buffer("Z", (const_int(4),), "float32")}, "two different values"),
        ({Var("n"): 3}, "no parameter and no shape variable"),
    ],
)
def test_mistakes(values, words):
    with pytest.raises(ts.TirscriptError, match=words):
        ts.parse(SYMBOLIC).specialize(values)
