# ruff: noqa: E501
"""The sanitizer finds each planted fault where it is, and none where there is none."""

from __future__ import annotations

import pickle
import re
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import tirscript as ts
from tests.codegen_python.planted import ARGS, SAYS, planted
from tests.corpus import CORPUS
from tirscript.codegen.python import compile_python, to_python
from tirscript.ir.function import PrimFunc
from tirscript.testing import programs, random_inputs, run_program

PLANTED = planted()
OVERFLOW = {"data-overflow", "shift-count", "cast-out-of-range", "cast-of-nan"}


def program_of(text: str) -> Any:
    with warnings.catch_warnings():
        # Some faults are seen at the definition already.
        warnings.simplefilter("ignore", ts.diagnostics.TirscriptWarning)
        return ts.parse(text.replace(" #!", ""))


def test_25_kinds_at_least() -> None:
    assert len({name.split()[0] for name in PLANTED}) >= 25
    assert set(SAYS) == set(PLANTED) and set(ARGS) <= set(PLANTED)


@pytest.mark.parametrize("name", list(PLANTED))
def test_planted(name: str) -> None:
    """The kind, the line under the carets, the iteration, the buffer and the cell."""
    text, code = PLANTED[name], name.split()[0]
    program = program_of(text)
    target = "python -checked=overflow" if code in OVERFLOW else "python -checked"
    args = ARGS[name]() if name in ARGS else random_inputs(program)
    built = ts.build(program, target)
    with pytest.raises((ts.CheckFailed, ts.AssertFailed)) as caught:
        built(*args)
    error = caught.value
    assert error.code == code
    said = str(error)
    for words in SAYS[name]:
        assert words in said, said
    line = next(s for s in text.split("\n") if s.endswith("#!"))[:-3].rstrip()
    marked = error.marks[0].span
    assert marked.source.line(marked.line) == line, said
    assert "^" in said and re.search(r"--> .*:\d+:\d+", said)
    assert str(pickle.loads(pickle.dumps(error))) == said


@pytest.mark.parametrize("name", [n for n in PLANTED if n.split()[0] in OVERFLOW])
def test_what_only_wraps_is_no_fault_unless_asked(name: str) -> None:
    program, args = program_of(PLANTED[name]), ARGS[name]()
    want = run_program(program, "python", args)
    got = run_program(program, "python -checked", args)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_equal(a, b)


# The values of these divide by zero: the inputs of the corpus say so on purpose.
DIVIDES_BY_ZERO = {"expr_floor_division", "expr_truncating_division"}


@pytest.mark.parametrize("name", [n for n, e in CORPUS.items() if e.executable])
def test_corpus(name: str) -> None:
    """No report, and the values of the unchecked program."""
    entry = CORPUS[name]
    program = entry.program()
    inputs = random_inputs(program, **entry.options)
    if name in DIVIDES_BY_ZERO:
        with pytest.raises(ts.CheckFailed, match="division by zero"):
            run_program(program, "python -checked", inputs)
        return
    want = run_program(program, "python", inputs)
    for a, b in zip(run_program(program, "python -checked", inputs), want, strict=True):
        np.testing.assert_equal(a, b)


@given(programs(executable=True, independent=True))
@settings(max_examples=min(max(settings.default.max_examples // 4, 50), 5000))
def test_generated(program: PrimFunc) -> None:
    """No report but of a division by zero, and the same bits."""
    inputs = random_inputs(program)
    want = run_program(program, "python", inputs)
    try:
        got = run_program(program, "python -checked", inputs)
    except ts.CheckFailed as error:
        assert error.code == "division-by-zero", str(error)
        return
    assert repr(got) == repr(want)


# ---- what is no fault

FINE = {
    "atomic updates of one cell": """
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    for i in T.parallel(8):
        T.evaluate(T.atomic_add(T.address_of(B[0]), A[i]))
""",
    "a reduction across threads": """
@T.prim_func
def f(A: T.Buffer((4, 32), "float32"), B: T.Buffer((4,), "float32")):
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [bx, tx])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
""",
    "all threads read one cell, written before": """
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), scope="shared")
    for tx in T.thread_binding(8, thread="threadIdx.x"):
        S[tx] = A[tx]
    for tx in T.thread_binding(8, thread="threadIdx.x"):
        B[tx] = S[7 - tx] + S[0]
""",
    "a loop of time steps around a block": """
@T.prim_func
def f(A: T.Buffer((10,), "float32"), B: T.Buffer((10,), "float32")):
    for t in range(3):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi + 1] = A[vi] + A[vi + 2]
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi + 1] = A[vi + 1] + B[vi + 1]
""",
    "the same values computed twice": """
@T.prim_func
def f(A: T.Buffer((10,), "float32"), B: T.Buffer((8,), "float32")):
    X = T.alloc_buffer((10,))
    for i in range(8):
        for ax in range(3):
            with T.block("X"):
                v = T.axis.spatial(10, i + ax)
                X[v] = A[v] * T.float32(2)
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = X[vi] + X[vi + 1] + X[vi + 2]
""",
    "a cell that one parallel iteration writes and reads": """
@T.prim_func
def f(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
    for i in T.parallel(8):
        B[i] = T.float32(0)
        for k in T.vectorized(1):
            B[i] = B[i] + A[i, k]
        for k in range(3):
            B[i] = B[i] + A[i, k + 1]
""",
    "parallel loops one after the other": """
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in T.parallel(8):
        B[i] = A[7 - i]
    for i in T.parallel(8):
        A[i] = B[7 - i]
""",
    "bytes of one word seen through a view": """
@T.prim_func
def f(A: T.Buffer((4,), "int32"), B: T.Buffer((16,), "int8")):
    X = T.alloc_buffer((4,), "int32")
    for i in range(4):
        X[i] = A[i]
    V = T.decl_buffer((16,), "int8", data=X.data)
    for i in T.parallel(16):
        B[i] = V[i]
""",
    "parameters that may be the same memory": """
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": False})
    for i in range(8):
        B[i] = A[i] + T.float32(1)
""",
    "a guarded read beyond the end": """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), O: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("O"):
            vi = T.axis.spatial(6, i)
            O[vi] = T.if_then_else(vi >= 1 and vi < 5, A[vi - 1], T.float32(-1))
""",
    "no time step": """
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    for t in range(n - n):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = A[vi] + 1
    for i in range(8):
        for t in range(n - n):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                A[vi] = A[vi] * 2
""",
    "an early return": """
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32) -> T.int32:
    if n < 100:
        T.ret(n)
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = 0
    T.ret(0)
""",
    "jumps inside a block": """
@T.prim_func
def f(A: T.Buffer((4, 8), "int32"), N: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("look"):
            vi = T.axis.spatial(4, i)
            N[vi] = 8
            for j in range(8):
                with T.block("one"):
                    vj = T.axis.opaque(8, j)
                    T.reads(A[vi, vj])
                    T.writes(N[vi])
                    if A[vi, vj] < 0:
                        N[vi] = vj
                if N[vi] < 8:
                    break
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi, 0] = N[vi]
""",
}


@pytest.mark.parametrize("name", list(FINE))
def test_no_report(name: str) -> None:
    program = ts.parse(FINE[name])
    inputs = random_inputs(program)
    want = run_program(program, "python", inputs)
    got = run_program(program, "python -checked=overflow", inputs)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_equal(a, b)


def test_one_array_for_two_parameters_that_may_alias() -> None:
    """The memory is one: a race between the two parameters is found."""
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": False})
    for i in T.parallel(8):
        B[i] = A[7 - i]
""")
    f = compile_python(program, checked=True)["f"]
    f(np.zeros(8, "float32"), np.zeros(8, "float32"))
    one = np.zeros(8, "float32")
    with pytest.raises(
        ts.CheckFailed, match=r"write and read A\[3\]|read and write B\[7\]|i = 0 and i = 7"
    ) as caught:
        f(one, one)
    assert caught.value.code == "race"


def test_arguments_of_the_functions_themselves() -> None:
    """Without the call path, that would refuse them, the program still looks at what it gets."""
    f = compile_python(
        ts.parse("""
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32", align=64)):
    for i in range(8):
        B[i] = A[i]
"""),
        checked=True,
    )["f"]
    a = np.zeros(8, "float32")
    line = np.zeros(256, "uint8")
    start = -line.__array_interface__["data"][0] % 64
    b = line[start : start + 32].view("float32")
    f(a, b)
    for args, code in [
        ((a, b.astype("float64")), "dtype-mismatch"),
        ((a[:7], b), "shape-mismatch"),
        ((a, line[start + 4 : start + 36].view("float32")), "misaligned"),
        ((b, b), "aliasing"),
    ]:
        with pytest.raises(ts.CheckFailed) as caught:
            f(*args)
        assert caught.value.code == code
    strided = compile_python(
        ts.parse("""
@T.prim_func
def f(A: T.Buffer((4, 4), "float32", strides=[8, 1])):
    A[0, 0] = T.float32(0)
"""),
        checked=True,
    )["f"]
    strided(np.zeros((4, 8), "float32")[:, :4])
    with pytest.raises(ts.CheckFailed) as caught:
        strided(np.zeros((4, 4), "float32"))
    assert caught.value.code == "stride-mismatch"
    b.flags.writeable = False
    with pytest.raises(ts.CheckFailed) as caught:
        f(a, b)
    assert caught.value.code == "read-only"


def test_the_source_runs_by_itself() -> None:
    """What `to_python(checked=True)` prints finds the fault too, and names the line."""
    program = ts.parse(PLANTED["race"].replace(" #!", ""))
    source = program.to_python(checked=True)
    assert source == ts.build(program, "python -checked").get_source("python")
    space: dict[str, Any] = {}
    exec(source, space)
    with pytest.raises(ts.CheckFailed, match="both write") as caught:
        space["f"](np.zeros(8, "float32"), np.zeros(4, "float32"))
    assert "B[i // 2] = A[i]" in str(caught.value)


def test_calls_after_a_fault_and_in_threads() -> None:
    f = ts.build(ts.parse(PLANTED["division-by-zero"].replace(" #!", "")), "python -checked")["f"]
    good, bad = np.ones(8, "int32"), np.zeros(8, "int32")
    with pytest.raises(ts.CheckFailed):
        f(good.copy(), bad)
    f(good.copy(), good)
    seen: list[str] = []

    def work(divisor: Any) -> None:
        for _ in range(20):
            try:
                f(np.ones(8, "int32"), divisor)
                seen.append("fine")
            except ts.CheckFailed as error:
                seen.append(error.code)

    threads = [threading.Thread(target=work, args=(d,)) for d in (good, bad, good, bad)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == ["division-by-zero"] * 40 + ["fine"] * 40


def test_a_program_called_by_what_it_calls() -> None:
    """A registered function runs another checked program, and the same one."""
    inner = ts.build(ts.parse(FINE["parallel loops one after the other"]), "python -checked")["f"]

    @ts.register_func("test.sanitizer.inner", override=True)
    def call(n: int) -> int:
        inner(np.zeros(8, "float32"), np.zeros(8, "float32"))
        return 0

    outer = ts.build(
        ts.parse("""
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        T.evaluate(T.call_packed("test.sanitizer.inner", i))
        A[i] = T.float32(1)
"""),
        "python -checked",
    )
    a = np.zeros(8, "float32")
    outer(a)
    assert a.all()


def test_programs_without_spans_are_named_by_their_text() -> None:
    from tirscript.ir.buffer import make_buffer
    from tirscript.ir.expr import Var, const_int
    from tirscript.ir.ops import const
    from tirscript.ir.stmt import BufferStore, For

    a = make_buffer("A", (const_int(4),))
    i = Var("i")
    handle = Var("a", "handle", False)
    store = BufferStore(a, const(1.0, "float32"), (i + 2,))
    body = For(i, const_int(0), const_int(4), "serial", store)
    program = PrimFunc((handle,), {handle: a}, body, attrs={"global_symbol": "f"})
    with pytest.raises(ts.CheckFailed, match=r"A\[4\] is out of bounds") as caught:
        compile_python(program, checked=True)["f"](np.zeros(4, "float32"))
    assert "A[i + 2] = T.float32(1)" in str(caught.value) and "i = 2" in str(caught.value)


def test_many_nested_loops() -> None:
    names = [f"i{k}" for k in range(40)]
    loops = "".join(f"{'    ' * (k + 1)}for {n} in range(1):\n" for k, n in enumerate(names))
    text = f'@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n{loops}{"    " * 41}A[{names[7]} + {names[39]}] = 3\n'
    a = np.zeros(4, "int32")
    compile_python(ts.parse(text), checked=True)["f"](a)
    assert a.tolist() == [3, 0, 0, 0]
    with pytest.raises(ts.CheckFailed, match="out of bounds"):
        compile_python(program_of(text.replace(f"A[{names[7]}", f"A[4 + {names[7]}")), checked=True)["f"](a)


def test_text_shows_the_unchecked_program_unless_asked() -> None:
    program = ts.parse(FINE["a guarded read beyond the end"])
    assert "watch" not in to_python(program)
    assert "watch.loop" in to_python(program, checked=True)
