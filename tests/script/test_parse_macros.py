"""Macros, captured values, factories: Python around and inside a script."""

import pytest

import tirscript as ts
from tirscript.script import tir as T

VALUE = 1


@T.macro
def add_value(X, i):
    X[i] = X[i] + VALUE


@T.macro(hygienic=False)
def add_local(X, i):
    X[i] = X[i] + VALUE


def text(body: str) -> ts.PrimFunc:
    return ts.parse(f'def f(A: T.Buffer((8,), "int32")):\n{body}')


def test_hygiene():
    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        VALUE = 10
        add_value(A, 0)
        add_local(A, 1)

    ts.assert_structural_equal(f, text("    VALUE = 10\n    A[0] = A[0] + 1\n    A[1] = A[1] + VALUE"))


def test_parameters_follow_python():
    @T.macro
    def many(X, *rest, k=3, **named):
        X[rest[0]] = k + named["z"]

    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        many(A, 1, 2, z=4)
        many(A, 2, k=5, z=6)

    ts.assert_structural_equal(f, text("    A[1] = 7\n    A[2] = 11"))


def test_each_call_makes_its_own_loops_and_names_its_blocks_apart():
    @T.macro
    def fill(X, value):
        for i in range(8):
            with T.block("fill"):
                vi = T.axis.spatial(8, i)
                X[vi] = value

    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        fill(A, 1)
        fill(A, 2)
        fill(A, 3)

    from tirscript.ir.node import walk
    from tirscript.ir.stmt import Block, For

    blocks = [b.name for b in walk(f.body) if isinstance(b, Block)]
    assert blocks == ["root", "fill", "fill_1", "fill_2"]
    loops = [x.loop_var for x in walk(f.body) if isinstance(x, For)]
    assert len(set(loops)) == 3


def test_macros_inside_a_script_and_inline():
    @T.prim_func
    def f(A: T.Buffer((8,), "int32"), n: T.int32):
        @T.macro
        def store(i):
            A[i] = n

        @T.inline
        def twice(i):
            store(i)
            store(i + 1)

        store(0)
        for j in range(3):
            twice(j)

    g = ts.parse(
        'def f(A: T.Buffer((8,), "int32"), n: T.int32):\n    A[0] = n\n    for j in range(3):\n'
        "        A[j] = n\n        A[j + 1] = n"
    )
    ts.assert_structural_equal(f, g)


def test_inline_looks_names_up_late():
    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        @T.inline
        def store(i):
            A[i] = later

        later = 5
        store(0)

    ts.assert_structural_equal(f, text("    later = 5\n    A[0] = later"))


def test_recursion_ends():
    @T.macro
    def halves(X, n):
        if n > 0:
            X[n] = n
            halves(X, n // 2)

    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        halves(A, 5)

    ts.assert_structural_equal(f, text("    A[5] = 5\n    A[2] = 2\n    A[1] = 1"))

    @T.macro
    def endless(X):
        endless(X)

    with pytest.raises(ts.ParseError, match="without end"):

        @T.prim_func
        def g(A: T.Buffer((8,), "int32")):
            endless(A)


def test_an_error_in_a_macro_tells_where_it_was_called():
    @T.macro
    def wrong(X):
        X[0] = nothing_here

    with pytest.raises(ts.ParseError) as caught:

        @T.prim_func
        def f(A: T.Buffer((8,), "int32")):
            wrong(A)

    assert "nothing_here" in str(caught.value) and "in macro `wrong` called at" in str(caught.value)
    with pytest.raises(ts.ParseError, match="needs `i`"):

        @T.prim_func
        def g(A: T.Buffer((8,), "int32")):
            add_value(A)

    with pytest.raises(ts.TirscriptError, match="inside a script"):
        add_value(1, 2)


def test_closures_win_over_globals():
    VALUE = 2

    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        A[0] = VALUE

    ts.assert_structural_equal(f, text("    A[0] = 2"))


def test_factories_capture_sizes_dtypes_functions_and_buffers():
    def make(n, dtype, op, store):
        shape = (n, *[2] * 2)

        @T.prim_func(private=True)
        def f(A: T.Buffer(shape, dtype)):
            for i, j, k in T.grid(*shape):
                A[i, j, k] = op(A[i, j, k])

        return f

    f = make(3, "float16", lambda x: x * 2 + 1, None)
    g = ts.parse("""
@T.prim_func(private=True)
def f(A: T.Buffer((3, 2, 2), "float16")):
    for i, j, k in T.grid(3, 2, 2):
        A[i, j, k] = A[i, j, k] * 2 + 1
""")
    ts.assert_structural_equal(f, g)


def test_f_strings_name_blocks_and_annotations():
    @T.prim_func
    def f(A: T.Buffer((8,), "int32")):
        for k in [1, 2]:
            for i in T.serial(8, annotations={f"step{k}": k}):
                with T.block(f"B{k:02d}"):
                    vi = T.axis.spatial(8, i)
                    A[vi] = k

    assert "B01" in f.script() and 'step2": 2' in f.script()


def test_what_a_python_function_raises_is_a_diagnostic():
    def fails(x):
        raise KeyError("inside")

    with pytest.raises(ts.ParseError, match="`fails` raised KeyError: 'inside'"):

        @T.prim_func
        def f(A: T.Buffer((8,), "int32")):
            A[0] = fails(1)
