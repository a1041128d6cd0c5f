# ruff: noqa: E501
"""The text that the python target shows."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import tirscript as ts
from tests.corpus import CORPUS
from tirscript.codegen.python import compile_python, to_python
from tirscript.codegen.python import module_body as module_of
from tirscript.codegen.python.checked import Sites
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import BufferLoad, Var, const_int
from tirscript.ir.function import PrimFunc
from tirscript.ir.ops import const
from tirscript.ir.stmt import BufferStore, For, IfThenElse, seq

MM_RELU = """
@T.prim_func
def mm_relu(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    Y = T.alloc_buffer((128, 128), "float32")
    for i, j, k in T.grid(128, 128, 128):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(128, 128):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""

MM_RELU_PYTHON = """import numpy as np


def mm_relu(A, B, C):
    Y = np.empty((128, 128), dtype='float32')
    for i in range(128):
        for j in range(128):
            for k in range(128):
                vi, vj, vk = i, j, k
                if vk == 0:
                    Y[vi, vj] = 0.0
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i in range(128):
        for j in range(128):
            vi, vj = i, j
            C[vi, vj] = np.maximum(Y[vi, vj], 0.0)
"""


def body_of(text: str) -> str:
    """The generated statements of a function's body."""
    source = to_python(ts.parse(text))
    tree = ast.parse(source)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    return "\n".join(ast.unparse(s) for s in function.body)


def test_mm_relu_reads_as_a_person_would_write_it() -> None:
    assert to_python(ts.parse(MM_RELU)) == MM_RELU_PYTHON


def test_function_and_module_offer_it() -> None:
    program = ts.parse(MM_RELU)
    assert program.to_python() == MM_RELU_PYTHON
    assert ts.build(program, target="python").get_source("python") == MM_RELU_PYTHON


def test_source_runs_by_itself() -> None:
    space: dict[str, object] = {}
    exec(MM_RELU_PYTHON.replace("128", "16"), space)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 16, 16)).astype("float32")
    c = np.zeros((16, 16), "float32")
    space["mm_relu"](a, b, c)  # type: ignore[operator]
    np.testing.assert_allclose(c, np.maximum(a @ b, 0), rtol=1e-5, atol=1e-5)


def test_predicate_and_domain_become_one_guard() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((18,), "float32"), B: T.Buffer((18,), "float32")):
    for i_0, i_1 in T.grid(5, 4):
        with T.block("B"):
            vi = T.axis.spatial(18, i_0 * 4 + i_1)
            T.where(i_0 * 4 + i_1 < 18)
            B[vi] = A[vi] * T.float32(-2)
"""
    assert body_of(text) == (
        "for i_0 in range(5):\n"
        "    for i_1 in range(4):\n"
        "        vi = i_0 * 4 + i_1\n"
        "        if vi < 18 and i_0 * 4 + i_1 < 18:\n"
        "            B[vi] = A[vi] * -2.0"
    )


def test_symbolic_shapes_are_read_off_the_arrays() -> None:
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m * 4), "int32")
    B = T.match_buffer(b, (n,), "int32")
    for i in range(n):
        B[i] = A[i, m]
"""
    assert body_of(text) == ("n = A.shape[0]\nm = A.shape[1] // 4\nfor i in range(n):\n    B[i] = A[i, m]")


def test_negative_constants_keep_their_meaning() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((2,), "int32")):
    A[0] = A[1] * -2 - -3
    A[1] = 4 - (A[0] - -1)
"""
    assert body_of(text) == "A[0] = A[1] * -2 - -3\nA[1] = 4 - (A[0] - -1)"


def test_names_do_not_clash_with_python() -> None:
    text = """
@T.prim_func
def list(print: T.Buffer((4,), "int32"), np: T.Buffer((4,), "int32")):
    for range_ in range(4):
        with T.block("b"):
            max = T.axis.spatial(4, range_)
            np[max] = T.max(print[max], max)
"""
    run = compile_python(ts.parse(text))["list"]
    a, b = np.array([-5, 9, 0, 1], "int32"), np.zeros(4, "int32")
    run(a, b)
    assert b.tolist() == [0, 9, 2, 3]


def loops(count: int, body: object) -> For:
    made = body
    for i in range(count):
        made = For(Var(f"i{i}"), const_int(0), const_int(1), "serial", made)  # type: ignore[arg-type]
    return made  # type: ignore[return-value]


def _counter() -> tuple[object, BufferStore]:
    a = make_buffer("A", (const_int(1),), "int32")
    zero = (const_int(0),)
    return a, BufferStore(a, BufferLoad(a, zero) + 1, zero)


def _function(a: object, body: object) -> PrimFunc:
    handle = Var("A_handle", "handle", False)
    return PrimFunc((handle,), {handle: a}, body, attrs={"global_symbol": "f"})  # type: ignore[dict-item, arg-type]


def run_counter(f: PrimFunc) -> int:
    array = np.zeros(1, "int32")
    compile_python(f)["f"](array)
    return int(array[0])


def test_perfect_nest_of_40_loops_is_merged() -> None:
    a, step = _counter()
    f = _function(a, loops(40, step))
    assert "product(" in to_python(f)
    assert run_counter(f) == 1


def test_imperfect_nest_of_45_loops_is_cut_into_functions() -> None:
    a, _ = _counter()
    zero = (const_int(0),)

    def step() -> BufferStore:
        return BufferStore(a, BufferLoad(a, zero) + 1, zero)  # type: ignore[arg-type]

    made: object = step()
    for i in range(45):
        made = For(Var(f"i{i}"), const_int(0), const_int(1), "serial", seq(step(), made))  # type: ignore[arg-type]
    f = _function(a, made)
    assert "def f_part_1(" in to_python(f)
    assert run_counter(f) == 46


def test_150_nested_conditions() -> None:
    a, step = _counter()
    made: object = step
    for i in range(150):
        made = IfThenElse(BufferLoad(a, (const_int(0),)) < i + 1, made)  # type: ignore[arg-type]
    assert run_counter(_function(a, made)) == 1


@pytest.mark.parametrize("terms", [100, 5000])
def test_long_sums(terms: int) -> None:
    a, _ = _counter()
    zero = (const_int(0),)
    total = BufferLoad(a, zero)  # type: ignore[arg-type]
    for i in range(terms):
        total = total + i  # type: ignore[assignment]
    f = _function(a, BufferStore(a, total, zero))  # type: ignore[arg-type]
    assert run_counter(f) == sum(range(terms))


def test_high_tree_under_a_condition_is_not_evaluated_early() -> None:
    a = make_buffer("A", (const_int(4),), "int32")
    total = BufferLoad(a, (const_int(7),))  # outside: only read if the condition holds
    for i in range(50):
        total = total + i  # type: ignore[assignment]
    from tirscript.ir.ops import if_then_else

    value = if_then_else(BufferLoad(a, (const_int(0),)) > 0, total, const(5, "int32"))
    for i in range(50):
        value = value + 0 * i
    f = _function(a, BufferStore(a, value, (const_int(1),)))
    array = np.zeros(4, "int32")
    compile_python(f)["f"](array)
    assert array.tolist() == [0, 5, 0, 0]


def test_10_000_statements() -> None:
    a, _ = _counter()
    zero = (const_int(0),)
    body = seq(*[BufferStore(a, BufferLoad(a, zero) + 1, zero) for _ in range(10_000)])  # type: ignore[arg-type]
    assert run_counter(_function(a, body)) == 10_000


def test_tracebacks_show_generated_lines() -> None:
    import linecache
    import traceback

    f = ts.parse('@T.prim_func\ndef f(A: T.Buffer((4,), "int32"), n: T.int32):\n    A[n] = 1\n')
    with pytest.raises(ts.CheckFailed, match="A\\[n\\] = 1") as raised:
        compile_python(f)["f"](np.zeros(4, "int32"), 9)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert linecache.getline(last.filename, last.lineno or 0).strip() == "A[n] = 1"


def test_without_astor_the_source_means_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.14 has no more what astor needs: `ast.unparse` writes the text there."""
    from types import SimpleNamespace

    from tirscript.codegen.python import build

    by_astor = to_python(ts.parse(MM_RELU))
    monkeypatch.setattr(build, "sys", SimpleNamespace(version_info=(3, 14)))
    by_unparse = to_python(ts.parse(MM_RELU))
    assert ast.dump(ast.parse(by_unparse)) == ast.dump(ast.parse(by_astor))


# ---- every program of the corpus


RUNNING = [n for n, e in CORPUS.items() if e.executable]


@pytest.mark.parametrize("checked", [False, True, "overflow"])
@pytest.mark.parametrize("name", RUNNING)
def test_text_of_the_corpus_is_the_program(name: str, checked: bool | str) -> None:
    """What is printed, by astor or by `ast.unparse`, reads back to the tree that was built; it compiles, loads
    by itself, and defines the functions."""
    program = CORPUS[name].program()
    body = module_of(program, checked, Sites())
    tree = ast.fix_missing_locations(ast.Module(body, []))
    source = to_python(program, checked=checked)
    # Built again: rendering may not change what it renders.
    again = ast.Module(module_of(program, checked, Sites()), [])
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(ast.unparse(tree)))
    assert ast.dump(normal(ast.parse(source))) == ast.dump(normal(again))
    space: dict[str, object] = {}
    exec(compile(source, name, "exec"), space)
    defined = [n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    assert defined and all(callable(space[n]) for n in defined)
    if not checked:
        # As a person would have it: nothing but NumPy, the standard library and the helpers by name.
        roots = {n.module or "" for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom)}
        assert roots <= {"itertools", "tirscript.codegen.python.support"}
        assert "watch" not in source and "\t" not in source


class Normal(ast.NodeTransformer):
    """What a parser adds or cannot tell: kinds of constants, contexts that builders leave out."""

    def visit_Constant(self, n: ast.Constant) -> ast.AST:
        return ast.Constant(n.value)


def normal(tree: ast.Module) -> ast.Module:
    return Normal().visit(tree)  # type: ignore[no-any-return]
