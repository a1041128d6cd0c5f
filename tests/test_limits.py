"""Deep and long programs are printed, parsed and run, or refused with a message that names the limit."""

import numpy as np
import pytest

import tirscript as ts
from tirscript.ir import structural_equal
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import Add, BufferLoad, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import BufferStore, For, SeqStmt

TERMS = 5000
DEPTH = 30


def function(body, buffer):
    p = Var("A_handle", "handle", False)
    return PrimFunc((p,), {p: buffer}, body, attrs={"global_symbol": "f"})


def sum_of(terms, *, right=False):
    """A[0] = A[0] + A[1] + ... + A[terms - 1], nested to the left or to the right."""
    a = make_buffer("A", (const_int(terms),), "int64")
    loads = [BufferLoad(a, (const_int(n),)) for n in range(terms)]
    if right:
        loads.reverse()
    e = loads[0]
    for term in loads[1:]:
        e = Add(term, e) if right else Add(e, term)
    return function(BufferStore(a, e, (const_int(0),)), a)


def nest(depth, **fields):
    """One store inside ``depth`` loops of one or two iterations."""
    a = make_buffer("A", (const_int(1),), "int64")
    body = BufferStore(a, BufferLoad(a, (const_int(0),)) + 1, (const_int(0),))
    for n in reversed(range(depth)):
        body = For(Var(f"i{n}"), const_int(0), const_int(2 if n < 5 else 1), "serial", body, **fields)
    return function(body, a)


def imperfect(depth):
    """Loops that each hold a store beside the next loop, so that no ``T.grid`` can join them."""
    a = make_buffer("A", (const_int(1),), "int64")
    store = BufferStore(a, BufferLoad(a, (const_int(0),)) + 1, (const_int(0),))
    body = store
    for n in reversed(range(depth)):
        pair = SeqStmt((store, body))
        body = For(Var(f"i{n}"), const_int(0), const_int(1), "serial", pair)
    return function(body, a)


def test_a_long_sum_prints_parses_and_runs():
    f = sum_of(TERMS)
    text = f.script()
    again = ts.parse(text)
    assert structural_equal(f, again, names=True)
    assert again.script() == text
    data = np.arange(TERMS, dtype="int64")
    for target in ("llvm", "python"):
        a = data.copy()
        ts.build(again, target)["f"](a)
        assert a[0] == data.sum()


def test_a_long_sum_nested_to_the_right_is_refused_by_name():
    """Python allows 200 open brackets, so this has no text that reads back."""
    f = sum_of(TERMS, right=True)
    text = f.script()
    assert "200" in text.splitlines()[0] or any("200" in line for line in text.splitlines() if "#" in line)
    with pytest.raises(ts.ParseError, match=r"200|nested too deeply|too many nested"):
        ts.parse(text)


def test_a_sum_nested_to_the_right_within_the_limit_round_trips():
    f = sum_of(90, right=True)
    assert structural_equal(f, ts.parse(f.script()), names=True)


def test_thirty_loops_in_a_perfect_nest():
    f = nest(DEPTH)
    text = f.script()
    assert "T.grid" in text
    assert structural_equal(f, ts.parse(text), names=True)
    compile(text, "f.py", "exec")  # Python itself takes the text
    for target in ("llvm", "python"):
        a = np.zeros(1, "int64")
        ts.build(f, target)["f"](a)
        assert a[0] == 2**5


@pytest.mark.parametrize("make", [lambda: nest(DEPTH, annotations={"k": 1}), lambda: imperfect(DEPTH)])
def test_thirty_loops_that_no_grid_can_join(make):
    """Python's compiler takes 20 nested loops: the text says so, ``parse`` reads it all the same."""
    f = make()
    text = f.script()
    assert any("20" in line and "#" in line for line in text.splitlines()), "a comment names the limit"
    with pytest.raises(SyntaxError, match="too many statically nested blocks"):
        compile(text, "f.py", "exec")
    assert structural_equal(f, ts.parse(text), names=True)
    for target in ("llvm", "python"):
        a = np.zeros(1, "int64")
        ts.build(f, target)["f"](a)
        assert a[0] == (2**5 if "T.serial" in text else DEPTH + 1)


def test_a_hundred_levels_of_indentation_are_refused_by_name():
    f = imperfect(110)
    with pytest.raises(ts.ParseError, match="100"):
        ts.parse(f.script())


def test_thirty_loops_made_by_splits():
    f = ts.parse(
        '@T.prim_func\ndef f(A: T.Buffer((1073741824,), "int8")):\n'
        "    for i in range(1073741824):\n"
        "        with T.block('b'):\n"
        "            vi = T.axis.spatial(1073741824, i)\n"
        "            A[vi] = T.int8(1)\n"
    )
    sch = ts.Schedule(f)
    loop = sch.get_loops("b")[0]
    for _ in range(DEPTH - 1):
        _, loop = sch.split(loop, [2, None])
    assert len(sch.get_loops("b")) == DEPTH
    text = sch.mod.script()
    assert structural_equal(sch.mod, ts.parse(text), names=True)
    sch.fuse(*sch.get_loops("b"))
    assert structural_equal(sch.mod, ts.parse(sch.mod.script()), names=True)


def test_a_sum_made_by_ten_thousand_statements_is_linear_enough_to_finish():
    lines = "\n".join(f"    A[{n % 10}] = A[{n % 7}] + {n}" for n in range(10_000))
    f = ts.parse(f'@T.prim_func\ndef f(A: T.Buffer((10,), "int64")):\n{lines}\n')
    assert structural_equal(f, ts.parse(f.script()), names=True)
    want = np.arange(10)
    for n in range(10_000):
        want[n % 10] = want[n % 7] + n
    a = np.arange(10)
    ts.build(f, "python")["f"](a)
    np.testing.assert_array_equal(a, want)
