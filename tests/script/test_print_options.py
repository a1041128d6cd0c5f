"""Options of ``script`` in TVM's spelling, and mistakes in them."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tirscript as ts
from tirscript.ir import Block, For
from tirscript.ir.node import walk

TEXT = """
@T.prim_func
def f(A: T.Buffer((4, 8)), B: T.Buffer((4, 8))):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
"""


@pytest.fixture
def f() -> ts.PrimFunc:
    function = ts.parse(TEXT)
    assert isinstance(function, ts.PrimFunc)
    return function


def loops(f: ts.PrimFunc) -> list[Any]:
    return [n for n in walk(f.body) if isinstance(n, For)]


def test_second_names_mean_the_same(f: ts.PrimFunc) -> None:
    outer = loops(f)[0]
    assert f.script(syntax_sugar=False) == f.script(sugar=False)
    assert f.script(print_line_numbers=True) == f.script(line_numbers=True)
    assert f.script(obj_to_underline=[outer]) == f.script(underline=[outer])
    assert f.script(obj_to_annotate={outer: "x"}) == f.script(annotate={outer: "x"})
    assert f.script(obj_to_underline=None) == f.script()


def test_options_with_one_value(f: ts.PrimFunc) -> None:
    plain = f.script(
        ir_prefix="I", tir_prefix="T", int_dtype="int32", show_object_address=False, verbose_expr=True
    )
    assert plain == f.script()
    with pytest.raises(ts.TirscriptError, match=r"`tir_prefix` cannot be 'TT'(.|\n)*imported as T"):
        f.script(tir_prefix="TT")
    with pytest.raises(ts.TirscriptError, match=r"no text holds addresses"):
        f.script(show_object_address=True)


@pytest.mark.parametrize(
    ("name", "meant"), [("line_number", "line_numbers"), ("suger", "sugar"), ("dialekt", "dialect")]
)
def test_a_mistyped_option(f: ts.PrimFunc, name: str, meant: str) -> None:
    with pytest.raises(TypeError, match=rf"there is no option `{name}`(.|\n)*did you mean `{meant}`"):
        f.script(**{name: True})
    with pytest.raises(ts.TirscriptError, match=r"the options are name, dialect"):
        f.script(zzzzzz=1)


@pytest.mark.parametrize("spaces", [1, 2, 8])
def test_indentation(f: ts.PrimFunc, spaces: int) -> None:
    text = f.script(indent_spaces=spaces)
    assert max(len(x) - len(x.lstrip()) for x in text.splitlines()) == spaces * 3
    assert ts.structural_equal(ts.parse(text), f)
    with pytest.raises(ts.TirscriptError, match="`indent_spaces` is a number from 1 to 16"):
        f.script(indent_spaces=0)


@pytest.mark.parametrize("spaces", [2, 4, 8])
@pytest.mark.parametrize("numbers", [False, True])
def test_carets_stay_under_what_they_mark(f: ts.PrimFunc, spaces: int, numbers: bool) -> None:
    block = next(n for n in walk(f.body) if isinstance(n, Block) and n.name == "B")
    lines = f.script(underline=[block], indent_spaces=spaces, line_numbers=numbers).splitlines()
    at = next(n for n, line in enumerate(lines) if "^" in line)
    marked = "".join(c for c, caret in zip(lines[at - 1], lines[at], strict=False) if caret == "^")
    assert marked == 'with T.block("B"):'


def test_context_lines(f: ts.PrimFunc) -> None:
    block = next(n for n in walk(f.body) if isinstance(n, Block) and n.name == "B")
    text = f.script(underline=[block], num_context_lines=1)
    assert [line.strip() for line in text.splitlines()][1:3] == ["# ...", 'with T.block("B"):'][
        :2
    ] or "# ..." in text
    assert len(text.splitlines()) < len(f.script(underline=[block]).splitlines())
    assert f.script(num_context_lines=1) == f.script()  # nothing is marked


def test_annotations_by_a_function(f: ts.PrimFunc) -> None:
    text = f.script(sugar=False, annotate=lambda n: n.loop_var.name.upper() if isinstance(n, For) else None)
    assert re.findall(r"for (\w+) in .*# (\w+)", text) == [("i", "I"), ("j", "J")]
    with pytest.raises(ts.TirscriptError, match="`annotate` maps nodes to texts"):
        f.script(annotate=3)  # type: ignore[arg-type]
