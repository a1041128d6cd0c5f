"""Mistakes: each is one diagnostic with its exact place, and all of a function are reported together."""

# The table holds one mistake a line.
# ruff: noqa: E501

import pickle
import warnings

import numpy as np
import pytest

import tirscript as ts
from tirscript.script import tir as T

HEAD = 'def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "int32"), n: T.int32):\n'


def errors(text: str, head: str = HEAD) -> list[ts.ParseError]:
    lines = text.strip("\n").splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ts.ParseError) as caught:
            ts.parse(head + "\n".join("    " + line for line in lines) + "\n")
    return caught.value.diagnostics


def marked(error: ts.ParseError) -> str:
    """The text under the carets."""
    span = error.marks[0].span
    assert span.line == span.end_line
    return span.source.line(span.line)[span.column : span.end_column]


@pytest.mark.parametrize(
    ("text", "code", "under", "words"),
    [
        ("B[0] = foo", "undefined-name", "foo", "extra_vars|parse\\(text"),
        ("B[0] = m", "undefined-name", "m", "not defined"),
        ("for index in range(8):\n    B[indx] = 1", "undefined-name", "indx", "did you mean `index`"),
        ("B[0] = X[0]\nX = T.alloc_buffer((4,))", "used-before-definition", "X", "before it is defined"),
        ("T.serail(3)", "unknown-name", "T.serail", "did you mean `serial`"),
        ("B[0] = T.truncate(A[0, 0])", "unknown-name", "T.truncate", "no `truncate`"),
        ("X = T.alloc_buffer((8,), dtyp='int8')", "unknown-keyword", "dtyp='int8'", "did you mean `dtype`"),
        ("X = T.alloc_buffer((8,), 'int9')", "dtype", "'int9'", "no dtype"),
        ("A[0, 0] = T.exp(1.0, 2.0)", "arity", "2.0", "takes 1 argument, 2 given"),
        ("for i in T.serial(1, 2, 3):\n    pass", "arity", "3", "at most 2"),
        ("for i in T.thread_binding(8):\n    pass", "arity", "T.thread_binding(8)", "thread"),
        ("for i in T.thread_binding(8, 'threadIdx.w'):\n    pass", "thread-tag", "'threadIdx.w'", "threadIdx.x/y/z"),
        ("for i, j in T.grid(8):\n    pass", "loop-target", "i, j", "2 names for 1 loop"),
        ("for i in n:\n    pass", "loop", "n", "range"),
        ("for i in range(1.5):\n    pass", "index-dtype", "1.5", "integer"),
        ("for i in range(0, 8, 0):\n    pass", "loop-step", "0", "step"),
        ("for i in range(8):\n    i = 2", "assigned-twice", "i", "loop variable"),
        ("n = 2", "assigned-twice", "n", "parameter"),
        ("x = 1\nx = 2", "assigned-twice", "x", "T.alloc_buffer"),
        ("x = 1\nx += 2", "assigned-twice", "x", "do not change"),
        ("A = 2", "assigned-twice", "A", "is a buffer"),
        ("A[0] = 1.0", "index-count", "A[0]", "2 dimensions, 1 given"),
        ("A[0, 0, 0] = 1.0", "index-count", "A[0, 0, 0]", "2 dimensions, 3 given"),
        ("B[8] = 1", "out-of-bounds", "8", "extent 8"),
        (
            "for i in range(8):\n    with T.block():\n        v = T.axis.spatial(8, i)\n"
            "        T.where(v < 3)\n        B[v] = 1",
            "where-axis", "v < 3", "write what it is bound to, `i`",
        ),
        ("B[-1] = 1", "out-of-bounds", "-1", "does not count from the end"),
        ("B[6:10] = 1", "out-of-bounds", "6:10", "index 9"),
        ("B[1.5] = 1", "index-dtype", "1.5", "integer"),
        ("B[A[0, 0]] = 1", "index-dtype", "A[0, 0]", "float32"),
        ("B[0] = 3000000000", "constant-range", "3000000000", "does not fit int32"),
        ("B[0] = T.int8(200)", "constant-range", "T.int8(200)", "does not fit int8"),
        ("B[0] = n / 2", "integer-division", "n / 2", "T.truncdiv"),
        ("B[0] = n + A", "buffer-as-value", "A", "write an index"),
        ("B[0] = T.max(n, B)", "buffer-as-value", "B", "write an index"),
        ("B[0] = 'text'", "dtype-mismatch", "'text'", "string"),
        ("B[0] = lambda x: x", "not-an-expression", "lambda x: x", "lambda"),
        ("B[0] = print", "not-an-expression", "print", "function"),
        ("B[0] = A[0, 0] & 1", "dtype-mismatch", "A[0, 0] & 1", "integers"),
        ("B[0] = n and True", "dtype-mismatch", "n", "x != 0"),
        ("B[0] = int(n)", "python-value", "int(n)", "T.cast"),
        ("B[0] = len(B)", "python-value", "len(B)", "shape"),
        ("B[0] = 1 // 0", "python-value", "1 // 0", "ZeroDivisionError"),
        ("B[0:n] = 1", "store", "B[0:n]", "constant length"),
        ("n[0] = 1", "store", "n", "no buffer"),
        ("vi = T.axis.spatial(8, n)", "outside-block", "T.axis.spatial(8, n)", "T.block"),
        ("T.where(n > 1)", "outside-block", "T.where(n > 1)", "T.block"),
        ("T.reads(A[0, 0])", "outside-block", "T.reads(A[0, 0])", "T.block"),
        ("with T.init():\n    B[0] = 1", "outside-block", "T.init()", "block"),
        ("with T.block('b'):\n    T.reads()\n    T.reads()", "duplicate", "T.reads()", "twice"),
        ("with T.block('b'):\n    T.block_attr({'a': 1})\n    T.block_attr({'a': 2})", "duplicate", "{'a': 2}", "'a'"),
        ("with T.block('b'):\n    with T.init():\n        B[0] = 0\n    with T.init():\n        B[0] = 0", "duplicate", "T.init()", "twice"),
        ("with T.block('b'):\n    v = T.axis.remap('S', [n])", "axis-binding", "n", "no loop variable"),
        ("for i in range(8):\n    with T.block('b'):\n        v, w = T.axis.remap('SS', [i])", "axis-count", "T.axis.remap('SS', [i])", "2 kinds"),
        ("for i in range(8):\n    with T.block('b'):\n        v, w = T.axis.remap('S', [i])", "unpack", "v, w", "2 names"),
        ("for i in range(8):\n    with T.block('b'):\n        v = T.axis.remap('X', [i])", "axis-kinds", "'X'", "S spatial"),
        ("for i in range(8):\n    with T.block('b'):\n        vi = T.axis.spatial(8, i)\n        B[vi] = 1\nB[vi] = 2", "out-of-scope", "vi", 'axis of block "b"'),
        ("for i in range(8):\n    B[i] = 1\nB[i] = 2", "out-of-scope", "i", "loop variable"),
        ("T.block('b')", "with", "T.block('b')", "with T.block"),
        ("with n:\n    pass", "with", "n", "no scope"),
        ("return 1\nB[0] = 1", "return", "return 1", "middle"),
        ("for i in range(2):\n    return", "return", "return", "middle"),
        ("break", "jump", "break", "outside of a loop"),
        ("for i in T.parallel(8):\n    break", "jump", "break", "parallel loop"),
        ("assert n > 1, n", "assertion", "n", "string"),
        ("T.func_attr(3)", "annotations", "3", "dict"),
        ("T.call_kernel(1)", "not-yet", "T.call_kernel(1)", "not supported yet"),
        ("B[0] = n @ n", "unsupported", "n @ n", "`@`"),
        ("B[0] = (k := 3)", "unsupported", "k := 3", "`:=`"),
        ("B[0] = 1 if n is 3 else 2", "unsupported", "n is 3", "`==`"),
        ("B[0] = n in [1, 2]", "unsupported", "n in [1, 2]", "`or`"),
        ("a = b = 1", "unsupported", "a = b = 1", "chained"),
        ("del B", "unsupported", "del B", "`del`"),
        ("global q", "unsupported", "global q", "`global`"),
        ("import os", "unsupported", "import os", "`import`"),
        ("from os import path", "unsupported", "from os import path", "`import`"),
        ("try:\n    pass\nfinally:\n    pass", "unsupported", "try:", "`try`"),
        ("raise ValueError", "unsupported", "raise ValueError", "assert"),
        ("yield n", "unsupported", "yield n", "`yield`"),
        ("match n:\n    case 1:\n        pass", "unsupported", "match n:", "`match`"),
        ("def g():\n    pass", "unsupported", "def g():", "T.macro"),
        ("class C:\n    pass", "unsupported", "class C:", "`class`"),
        ("async def g():\n    pass", "unsupported", "async def g():", "async"),
        ("for i in range(2):\n    pass\nelse:\n    B[0] = 1", "unsupported", "B[0] = 1", "`else` of a loop"),
        ("n.x = 1", "unsupported", "n.x", "attribute"),
    ],
)  # fmt: skip
def test_one_mistake_one_diagnostic(text, code, under, words):
    import re

    found = errors(text)
    assert len(found) == 1, "\n".join(map(str, found))
    (error,) = found
    assert error.code == code, str(error)
    assert marked(error) == under
    assert re.search(words, str(error)), str(error)


@pytest.mark.parametrize(
    ("signature", "under", "words"),
    [
        ("A, *rest", ["A", "rest"], "annotation"),
        ("A: T.int32, **k", ["k"], "kwargs"),
        ("A: T.int32 = 3", ["3"], "default"),
        ("A: T.int32, *, k: T.int32", ["k: T.int32"], "keyword-only"),
        ("A: 3", ["3"], "no type"),
        ('A: T.Buffer((4,), "flot")', ['"flot"'], "did you mean `float"),
        ("A: T.Buffer((m,)), m: T.int32", ["m"], "later parameter"),
        ("A: T.Buffer((4,), strides=[1, 2])", ["[1, 2]"], "2 strides for 1 dimension"),
        ("A: T.Buffer((-1,))", ["-1"], "not negative"),
        ("A: T.Buffer((1.5,))", ["1.5"], "integer"),
        ("A: T.Buffer((4,), scop='x')", ["scop='x'"], "did you mean `scope`"),
        ("A: T.Bufer((4,))", ["T.Bufer"], "did you mean `Buffer`"),
    ],
)
def test_the_head_of_a_function(signature, under, words):
    import re

    found = errors("pass", f"def f({signature}):\n")
    assert [marked(e) for e in found] == under
    assert re.search(words, "\n".join(map(str, found)))


def test_all_errors_of_a_function_in_order():
    found = errors("""
A[0, 0] = one
for i in range(two):
    with T.block("b"):
        vi = T.axis.spatial(8, i)
        B[vi] = three + A[0]
        B[9] = vi
if four:
    B[0] = five
x = six
B[0] = x + 1
""")
    assert [marked(e) for e in found] == ["one", "two", "three", "9", "four", "five", "six"]


def test_a_mistake_is_reported_once_and_not_where_its_name_is_used():
    found = errors("X = T.alloc_buffer((nothing,))\nX[0] = 1.0\ny = X[0]\nA[0, 0] = y\nB[0] = other")
    assert [marked(e) for e in found] == ["nothing", "other"]


def test_rendering_of_several():
    found = errors("B[0] = one\nB[1] = two")
    text = str(found[0])
    assert text.endswith("2 errors") and text.count("-->") == 2


def test_columns_count_characters():
    found = errors('s = "äöü漢字"; B[0] = größe + 1', head='def f(B: T.Buffer((8,), "int32")):\n')
    assert marked(found[0]) == "größe"
    assert found[0].marks[0].span.column == 4 + len('s = "äöü漢字"; B[0] = ')
    line = str(found[0]).splitlines()
    # The carets stand below the name; a wide character takes two columns.
    assert line[3].index("^") == line[2].index("größe") + 2


def test_an_error_in_a_decorated_function_points_into_this_file():
    with pytest.raises(ts.ParseError) as caught:

        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            for i in range(4):
                A[i] = nothing_here

    error = caught.value
    assert "test_parse_errors.py" in str(error) and marked(error) == "nothing_here"
    assert error.__cause__ is None and error.__suppress_context__
    frames = []
    tb = caught.tb
    while tb is not None:
        frames.append(tb.tb_frame.f_code.co_filename)
        tb = tb.tb_next
    assert sum("tirscript" in f and "tests" not in f for f in frames) <= 1


def test_an_error_does_not_poison_the_next_parse():
    for _ in range(2):
        with pytest.raises(ts.ParseError, match="nothing_here"):
            ts.parse('def f(A: T.Buffer((4,), "int32")):\n    A[0] = nothing_here')
    f = ts.parse('def f(A: T.Buffer((4,), "int32")):\n    A[0] = 1')
    assert f.name == "f"


def test_pickled_errors_keep_their_text():
    (error,) = errors("B[0] = foo")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_definition_warnings():
    with pytest.warns(ts.AxisWarning, match="vi"):
        ts.parse("""
def f(B: T.Buffer((128,), "int32")):
    for i in range(127):
        with T.block("b"):
            vi = T.axis.spatial(128, i)
            B[vi] = 1
""")
    with pytest.warns(ts.BoundsWarning, match="B"):
        ts.parse("""
def f(B: T.Buffer((8,), "int32")):
    for i in range(8):
        B[i + 1] = 1
""")


def test_well_formedness():
    with pytest.raises(ts.WellFormedError, match="loop variable") as caught:
        ts.parse("""
def f(B: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            B[vi] = i
""")
    assert marked(caught.value) == "i" and caught.value.marks[0].span.line == 6
    ts.parse("""
@T.prim_func(check_well_formed=False)
def f(B: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            B[vi] = i
""")


def test_unknown_names_that_python_looks_up():
    assert not hasattr(T, "Bufer")
    with pytest.raises(ts.ParseError, match="did you mean `Buffer`") as caught:

        @T.prim_func
        def f(A: T.Bufer((4,))):
            pass

    assert marked(caught.value) == "T.Bufer"


@pytest.mark.parametrize("open_, close", [("(", ")"), ("[", "][0]")])
def test_pythons_limits_are_named(open_, close):
    deep = open_ * 300 + "n" + close * 300
    with pytest.raises(ts.ParseError, match="200 open brackets") as caught:
        ts.parse(f'def f(B: T.Buffer((8,), "int32"), n: T.int32):\n    B[0] = {deep}')
    assert caught.value.code == "python-limit"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("B[0] = B[0] // 0", "division-by-zero", "division by zero"),
        ("B[0] = T.truncmod(n, 0)", "division-by-zero", "division by zero"),
        ("B[0] = T.Range(0, 4) * 2", "not-an-expression", "Range"),
        ("T.address_of(**[1])", "arity", "dict"),
        ("T.block_attr({'a', [1]})", "python-value", "unhashable"),
        ("T.func_attr({'tir.noalias': 'x'})", "annotations", "True or False"),
        ("X = T.alloc_buffer((4,), 'void')", "dtype", "no void"),
    ],
)
def test_more_mistakes(text, code, words):
    if "block_attr" in text:
        text = f"with T.block('b'):\n    {text}"
    (error,) = errors(text)
    assert error.code == code and words in str(error)


def test_a_fault_of_the_parser_is_a_diagnostic(monkeypatch):
    from tirscript.script.parser import index

    def fails(*_):
        raise KeyError("broken")

    monkeypatch.setattr(index, "_index", fails)
    (error,) = errors("B[0] = 1")
    assert error.code == "internal" and "KeyError" in str(error) and marked(error) == "B[0] = 1"


def test_a_definition_refuses_what_a_printed_text_may_hold():
    with pytest.raises(ts.ParseError, match="division by zero"):

        @T.prim_func
        def f(B: T.Buffer((8,), "int32")):
            B[0] = B[0] // 0

    with pytest.raises(ts.ParseError, match="division by zero"):

        @T.prim_func
        def g(B: T.Buffer((8,), "int32")):
            B[0] = T.truncmod(B[0], 0)

    with pytest.raises(ts.ParseError, match="region 6:12 leaves dimension 0"):

        @T.prim_func
        def h(B: T.Buffer((8,), "int32")):
            with T.block("b"):
                T.reads()
                T.writes(B[6:12])
                B[6] = 1


def test_names_are_free_among_the_visible_ones():
    f = ts.parse("""
def f(A: T.Buffer((4, 4), "int32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        for j in range(4):
            A[i, j] = i
        for i in range(4):
            B[i] = i
    for i, j in T.grid(4, 4):
        with T.block("b"):
            i, j = T.axis.remap("SS", [i, j])
            A[i, j] = i
""")
    from tirscript.ir import structural_equal
    from tirscript.ir.expr import IterVar
    from tirscript.ir.node import walk
    from tirscript.ir.stmt import For

    names = [
        n.loop_var.name if isinstance(n, For) else n.var.name
        for n in walk(f.body)
        if isinstance(n, (For, IterVar))
    ]
    assert names == ["i", "j", "i_1", "i", "j", "i_1", "j_1"]
    assert structural_equal(ts.parse(f.script()), f, names=True)


@pytest.mark.parametrize("guard", ["where", "if", "outer"])
def test_what_never_runs_reads_back(guard: str) -> None:
    """A primitive may leave an index outside of a buffer under a condition that does not hold; as text that is a
    program again.  Where nothing decides, it is a mistake."""
    where = "T.where(T.GE(-2, 0))" if guard == "where" else "pass"
    outer = "T.where(T.GE(-2, 0))" if guard == "outer" else "pass"
    store = "B[vi] = A[-2]"
    text = f"""
@T.prim_func
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    with T.block("outer"):
        {outer}
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                {where}
                {"if T.GE(-2, 0):" if guard == "if" else "if True:"}
                    {store}
"""
    f = ts.from_source(text)
    assert ts.structural_equal(ts.from_source(f.script()), f)
    a, b = np.arange(8, dtype="int32"), np.full(8, 7, "int32")
    for target in ("python", "llvm"):
        ts.build(f, target=target)(a, b)
        assert b.tolist() == [7] * 8
    with pytest.raises(ts.ParseError, match="out-of-bounds"):
        ts.from_source(text.replace("T.GE(-2, 0)", "True"))
