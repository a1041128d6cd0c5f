"""Differences: which lines stand beside each other, what is marked, in HTML and in a terminal."""

from __future__ import annotations

import html
import pickle
import re
import time
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tirscript as ts
from tirscript import display
from tirscript.display.diff_view import unified
from tirscript.display.words import aligned, changed_words

from .programs import matmul, tiled

ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.S)
CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.S)


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("\xa0", " ")


def rows(diff: Any) -> list[list[str]]:
    """The cells of the table: number, line, number, line."""
    markup = diff._repr_mimebundle_()["text/html"]
    return [[plain(c) for c in CELL.findall(row)] for row in ROW.findall(markup)]


def marked(diff: Any) -> list[str]:
    """The words that are marked inside changed lines, in order."""
    markup = diff._repr_mimebundle_()["text/html"].replace("&nbsp;", " ").replace("<col>", "")
    markup = re.sub(r"<col [^>]*>", "", markup)
    spans = ET.fromstring(f"<div>{markup}</div>").iter("span")
    return ["".join(x.itertext()) for x in spans if x.get("style", "").startswith("background:rgba")]


def test_a_split_shows_old_and_new_side_by_side() -> None:
    diff = tiled().diff(1)
    table = rows(diff)
    changed = [[c.strip() for c in row] for row in table if any(c[:1] in "+-" for c in row[1::2] if c)]
    assert changed == [
        ["6", f"- {' ' * 4}for i in range(16):", "6", f"+ {' ' * 4}for i_0 in range(4):"],
        ["", "", "7", f"+ {' ' * 8}for i_1 in range(5):"],
        ["10", f"- {' ' * 20}vi = T.axis.spatial(16, i)",
         "11", f"+ {' ' * 24}vi = T.axis.spatial(16, i_0 * 5 + i_1)"],
        ["", "", "14", f"+ {' ' * 24}T.where(i_0 * 5 + i_1 < 16)"],
    ]  # fmt: skip
    assert marked(diff) == ["i", "16", "i_0", "4", "i", "i_0 * 5 + i_1"]
    same = [row for row in table if len(row) == 4 and row[1].strip() == row[3].strip() and row[1].strip()]
    assert ["8", f"  {' ' * 12}for k in range(12):"] in [r[:2] for r in same]


def test_lines_that_only_moved_in_or_out_are_no_change() -> None:
    table = rows(tiled().diff(1))
    inner = next(row for row in table if len(row) == 4 and row[1].strip() == "for j in range(24):")
    assert inner[3].strip() == "for j in range(24):"
    # Each at its own depth.
    assert len(inner[3]) - len(inner[3].lstrip()) == len(inner[1]) - len(inner[1].lstrip()) + 4


def test_what_stays_is_folded() -> None:
    table = rows(tiled().diff(5))
    assert [row[1] for row in table if len(row) == 2] == ["⋯ 2 lines as before", "⋯ 11 lines as before"]
    kept = [row for row in table if len(row) == 4]
    assert len(kept) == 7  # the changed line, with three before and three after


def test_html_needs_no_styles_to_be_read() -> None:
    """GitHub takes styles away: signs, numbers and indentation stay."""
    markup = tiled().diff(1)._repr_mimebundle_()["text/html"]
    assert "<style" not in markup and "class=" not in markup and "<script" not in markup
    bare = re.sub(r' style="[^"]*"', "", markup)
    assert "-</span>" in bare and "+</span>" in bare and "&nbsp;&nbsp;&nbsp;&nbsp;" in bare
    # No ground is painted over the reader's own: tints only.
    assert set(re.findall(r"background:([^;\"]*)", markup)) == {
        "none", "rgba(208,69,58,.13)", "rgba(45,143,80,.15)", "rgba(208,69,58,.32)", "rgba(45,143,80,.36)",
    }  # fmt: skip


def test_a_terminal_gets_lines_in_colours_with_changed_words_inverted() -> None:
    text = unified(tiled().diff(1), colours=True)
    lines = text.split("\n")
    assert lines[0] == "\x1b[1mstep 1: split(i, [None, 5])\x1b[0m"
    red = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines if line.startswith("\x1b[31m")]
    green = [re.sub(r"\x1b\[[\d;]*m", "", line).strip() for line in lines if line.startswith("\x1b[32m")]
    assert [r.strip() for r in red] == [
        f"- {' ' * 4}for i in range(16):",
        f"- {' ' * 20}vi = T.axis.spatial(16, i)",
    ]
    assert green[:2] == ["+     for i_0 in range(4):", "+         for i_1 in range(5):"]
    assert re.findall(r"\x1b\[1;7m(.*?)\x1b\[22;27m", text)[:4] == ["i", "16", "i_0", "4"]
    # Without colours it is the text that the object is.
    assert unified(tiled().diff(1)) == str(tiled().diff(1))


def test_show_prints_the_difference(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "")
    monkeypatch.setenv("NO_COLOR", "")
    diff = tiled().diff(4)
    diff.show()
    assert capsys.readouterr().out == f"{diff}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    diff.show()
    assert capsys.readouterr().out == unified(diff, colours=True) + "\n"


def test_two_programs() -> None:
    sch = tiled()
    diff = display.diff(matmul(), sch.mod["mm"])
    assert diff.heading == "mm → mm" and len(diff.parts) == 1
    assert str(display.diff(matmul(), matmul())) == "mm → mm\n(nothing changed)"
    f, g = matmul(), matmul().with_attr("global_symbol", "g")
    both = display.diff(ts.IRModule({"f": f}), ts.IRModule({"f": f, "g": g}))
    assert [(name, old == []) for name, old, _ in both.parts] == [("g", True)]
    with pytest.raises(ts.TirscriptError, match="diff takes functions or modules, not int"):
        display.diff(matmul(), 3)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(diff))
    assert again == diff and again.parts == diff.parts


def test_script_that_looks_like_markup_is_escaped() -> None:
    f = ts.parse(
        '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    A[0] = T.Cast("int32", A[1] < A[2])\n'
    )
    g = ts.parse(
        '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    A[0] = T.Cast("int32", A[1] < A[3])\n'
    )
    markup = display.diff(f, g)._repr_mimebundle_()["text/html"]  # type: ignore[arg-type]
    assert "&lt;" in markup and marked(display.diff(f, g)) == ["2", "3"]  # type: ignore[arg-type]


SOME = ["for i in range(4):", "for j in range(8):", "  for i in range(5):", "x", "y = 1"]
SOME = ["for i in range(4):", "for j in range(8):", "  for i in range(5):", "x", "y = 1"]
LINES = st.lists(st.sampled_from(SOME))


@given(LINES, LINES)
def test_every_line_stands_once_and_in_order(old: list[str], new: list[str]) -> None:
    pairs = aligned(old, new)
    assert [i for i, _ in pairs if i is not None] == list(range(len(old)))
    assert [j for _, j in pairs if j is not None] == list(range(len(new)))
    assert all(i is not None or j is not None for i, j in pairs)


@given(st.text("ab 1+(", max_size=12), st.text("ab 1+(", max_size=12))
def test_what_is_not_marked_is_common(old: str, new: str) -> None:
    gone, come = changed_words(old, new)

    def rest(text: str, ranges: list[tuple[int, int]]) -> str:
        for start, end in reversed(ranges):
            assert start < end
            text = text[:start] + text[end:]
        return text

    assert rest(old, gone) == rest(new, come)


def test_a_difference_of_200_lines_costs_little() -> None:
    """Less than three times as much as printing both programs, and colouring them."""
    head = "@T.prim_func\ndef f(A: T.Buffer((64, 64)), O: T.Buffer((64, 64))):\n"
    body = "".join(
        f"    for i, j in T.grid(64, 64):\n        with T.block('B{n}'):\n"
        f"            vi, vj = T.axis.remap('SS', [i, j])\n"
        f"            O[vi, vj] = A[vi, vj] * T.float32({n})\n"
        for n in range(25)
    )
    f = ts.parse(head + body)
    assert isinstance(f, ts.PrimFunc)
    sch = ts.Schedule(f)
    for n in range(25):
        sch.split(sch.get_loops(f"B{n}")[0], [None, 8])
    g = sch.mod["f"]
    ours = theirs = float("inf")
    for _ in range(5):
        start = time.process_time()
        display.diff(f, g)._repr_mimebundle_()
        between = time.process_time()
        for program in (f, g):
            display.html(program.script(sugar=False))
        ours, theirs = min(ours, between - start), min(theirs, time.process_time() - between)
    assert ours < 3 * theirs
