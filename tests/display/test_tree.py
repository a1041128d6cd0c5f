"""The loop tree as text, HTML and SVG."""

from __future__ import annotations

import html
import pickle
import re
import xml.etree.ElementTree as ET

import pytest

import tirscript as ts
from tirscript import display

from .programs import matmul, tiled

SVG = "{http://www.w3.org/2000/svg}"


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_functions_modules_and_schedules_have_a_tree() -> None:
    f = matmul()
    want = str(ts.Schedule(f).tree())
    assert str(f.tree()) == str(ts.IRModule({"mm": f}).tree()) == str(display.tree(f)) == want
    assert want.splitlines() == [
        "mm(A: float32[16, 12], B: float32[12, 24], C: float32[16, 24])",
        "└─ for i: 16",
        "   └─ for j: 24",
        "      └─ for k: 12",
        '         └─ block "C"  vi:S, vj:S, vk:R; reads A[vi, vk], B[vk, vj]; writes C[vi, vj]; init',
    ]
    with pytest.raises(ts.TirscriptError, match="tree takes a function or a module, not str"):
        display.tree("f")  # type: ignore[arg-type]


def test_the_tree_says_kinds_predicates_and_scopes() -> None:
    sch = tiled()
    sch.goto(6)
    text = str(sch.tree())
    for part in (
        "for i_0: 4, parallel",
        "for j_1: 8, vectorized",
        "where i_0 * 5 + i_1 < 16",
        "B_local",
        "(local)",
    ):
        assert part in text


def test_html_holds_every_line_and_note() -> None:
    sch = tiled()
    bundle = sch.tree()._repr_mimebundle_()
    assert bundle["text/plain"] == str(sch.tree())
    shown = plain(bundle["text/html"])
    for line in bundle["text/plain"].splitlines():
        head, _, notes = re.sub(r"^[│├└─ ]+", "", line).partition("  ")
        assert head in shown
        assert all(note in shown for note in notes.split("; "))
    # Lists nest, so that a reader without styles indents them; what is inside folds.
    assert bundle["text/html"].count("<ul") == 1 + bundle["text/html"].count("<details open")
    ET.fromstring(bundle["text/html"].replace("<details open ", "<details "))


def test_svg_draws_a_line_from_each_loop_to_what_it_holds() -> None:
    tree = tiled().tree()
    root = ET.fromstring(tree.svg())
    lines = ["".join(t.itertext()) for t in root.iter(f"{SVG}text")]
    assert len(lines) == len(str(tree).splitlines())
    assert lines[1] == "for i_0: 4, parallel"
    assert len(list(root.iter(f"{SVG}path"))) == len(lines) - 1
    # Blocks stand in boxes; nothing reaches beyond the picture.
    assert len(list(root.iter(f"{SVG}rect"))) == 1
    width = int(root.get("width", "0"))
    for t in root.iter(f"{SVG}text"):
        assert int(t.get("x", "0")) + 7.8 * len("".join(t.itertext())) + 14 <= width
    # Each element names its own colour: readers that take styles away still draw it.
    assert all(t.get("fill") for t in root.iter(f"{SVG}text"))


def test_a_terminal_gets_the_same_text_in_colours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    tree = tiled().tree()
    tree.show()
    text = capsys.readouterr().out
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == f"{tree}\n"
    assert "\x1b[35mfor i_0: 4, parallel\x1b[0m" in text and '\x1b[31mblock "C"\x1b[0m' in text


def test_a_tree_can_be_pickled_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tree = tiled().tree()
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert repr(tree) == str(tree)
    tree.show()
    assert re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out) == f"{tree}\n"
