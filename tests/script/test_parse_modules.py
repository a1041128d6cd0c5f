"""Modules, cross calls, and the dialect of TVM 0.27."""

import pytest

import tirscript as ts
from tirscript.ir.expr import Call, GlobalVar
from tirscript.ir.node import walk
from tirscript.script import ir as I
from tirscript.script import tir as T


def calls(func):
    return [n for n in walk(func.body) if isinstance(n, Call) and isinstance(n.op, GlobalVar)]


@I.ir_module
class Sample:
    """Docstrings are dropped."""

    I.module_attrs({"version": 3})
    SIZE = 4

    @T.macro
    def bump(X, i):
        X[i] = X[i] + SIZE

    @T.prim_func(private=True)
    def inner(A: T.Buffer((4,), "int32"), n: T.int32) -> T.int32:
        bump(A, n)
        return A[n]

    @T.prim_func
    def main(A: T.Buffer((4,), "int32")):
        cls = Sample
        A[0] = cls.inner(A.data, 1)
        Sample.inner(A, 2)


def test_a_class_and_its_functions():
    assert Sample.names() == ["inner", "main"] and Sample.attrs == {"version": 3}
    found = calls(Sample["main"])
    variable = Sample.get_global_var("inner")
    assert all(c.op is variable and c.dtype == "int32" for c in found) and len(found) == 2
    assert found[1].args[0] is Sample["main"].buffers[0].data


def test_text_and_decorator_agree():
    text = """
@I.ir_module
class Sample:
    I.module_attrs({"version": 3})
    @T.prim_func(private=True)
    def inner(A: T.Buffer((4,), "int32"), n: T.int32) -> T.int32:
        A[n] = A[n] + 4
        return A[n]
    @T.prim_func
    def main(A: T.Buffer((4,), "int32")):
        A[0] = cls.inner(A.data, 1)
        cls.inner(A.data, 2)
"""
    ts.assert_structural_equal(ts.parse(text), Sample)
    ts.assert_structural_equal(ts.parse(Sample.script()), Sample)


def test_other_decorators_of_modules():
    import tirscript as tvm

    @tvm.script.ir_module
    class First:
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            A[0] = 1

    @I.ir_module(check_well_formed=False)
    class Second:
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            A[0] = 1

    ts.assert_structural_equal(First, Second)


def test_two_classes_of_one_name_and_a_function_outside_of_a_module():
    def make(k):
        if k:

            @I.ir_module
            class M:
                @T.prim_func
                def f(A: T.Buffer((4,), "int32")):
                    A[0] = k

        else:

            @I.ir_module
            class M:
                @T.prim_func
                def g(A: T.Buffer((4,), "int32")):
                    A[1] = 7

        return M

    assert make(1).names() == ["f"] and make(0).names() == ["g"]

    class Plain:
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            A[0] = 1

    assert isinstance(Plain.f, ts.PrimFunc)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def helper(x):\n        return x", "`helper` is no script function"),
        ("@T.prim_func\n    def f(A: T.Buffer((4,), 'int32')):\n        cls.g(A)", "no function `g`"),
        (
            "@T.prim_func\n    def f(): pass\n    @T.prim_func\n    def f(): pass",
            "two functions are named `f`",
        ),
        ("for x in y: pass", "a module holds functions"),
        ("@T.prim_func(privat=True)\n    def f(): pass", "no parameter `privat`"),
    ],
)
def test_mistakes_in_modules(body, words):
    with pytest.raises(ts.ParseError, match=words):
        ts.parse(f"@I.ir_module\nclass M:\n    {body}\n")


def test_errors_of_all_functions_are_reported_together():
    with pytest.raises(ts.ParseError) as caught:
        ts.parse("""
@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32")):
        A[0] = one
    @T.prim_func
    def g(A: T.Buffer((4,), "int32")):
        A[0] = two
""")
    assert [e.message for e in caught.value.diagnostics] == ["`one` is not defined", "`two` is not defined"]


def test_a_captured_function_is_no_call():
    @T.prim_func
    def other(A: T.Buffer((4,), "int32")):
        A[0] = 1

    with pytest.raises(ts.ParseError, match=r"put both functions into one @I\.ir_module"):

        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            other(A)


def test_attributes():
    f = ts.parse(
        "def f(A: T.Buffer((4,))):\n"
        '    T.func_attr({"tirx.noalias": True, "global_symbol": "g", "x": [1, "a"]})'
    )
    assert f.attrs == {"tir.noalias": True, "global_symbol": "g", "x": [1, "a"]} and f.name == "g"
    with pytest.raises(ts.ParseError, match="private"):
        ts.parse(
            '@T.prim_func(private=True)\ndef f(A: T.Buffer((4,))):\n    T.func_attr({"global_symbol": "g"})'
        )
    with pytest.raises(ts.ParseError, match="another value"):
        ts.parse('def f(A: T.Buffer((4,))):\n    T.func_attr({"x": 1})\n    T.func_attr({"x": 2})')


# ---- the dialect of TVM 0.27


def test_scalars_of_the_new_dialect_are_mutable():
    f = ts.parse("""
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "int32")):
    x = 3
    x = x + 1
    x += 2
    y: T.int64 = x
    z: T.let = x + 1
    w: T.let[T.int8] = T.int8(1)
    q: T.int32
    q = z
    A[0] = x + q
""")
    g = ts.parse("""
def f(A: T.Buffer((8,), "int32")):
    x = T.decl_buffer((), "int32", scope="local")
    x[()] = 3
    x[()] = x[()] + 1
    x[()] = x[()] + 2
    y = T.decl_buffer((), "int64", scope="local")
    y[()] = x[()]
    z = x[()] + 1
    w: T.int8 = T.int8(1)
    q = T.decl_buffer((), "int32", scope="local")
    q[()] = z
    A[0] = x[()] + q[()]
""")
    ts.assert_structural_equal(f, g)


def test_allocations_of_the_new_dialect():
    f = ts.parse("""
@T.prim_func(s_tir=True)
def f(A: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((4,), "int32", scope="local")
    Y = T.sblock_alloc_buffer((4,), "int32")
    X[0] = 1
    Y[0] = X[0]
""")
    g = ts.parse("""
def f(A: T.Buffer((8,), "int32")):
    Y = T.alloc_buffer((4,), "int32")
    X = T.decl_buffer((4,), "int32", scope="local")
    X[0] = 1
    Y[0] = X[0]
""")
    ts.assert_structural_equal(f, g)


def test_other_spellings_do_not_switch_the_dialect():
    with pytest.raises(ts.ParseError, match="values do not change"):
        ts.parse('def f(A: T.Buffer((8,), "int32")):\n    with T.sblock("b"):\n        x = 1\n        x = 2')
