"""HTML, SVG and terminal colours of scripts."""

from __future__ import annotations

import html as _html
import re
import time
import xml.etree.ElementTree as ET

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tirscript import display
from tirscript.display.emit import ACCENT, ADDED, COLOURS, FAINT, REMOVED
from tirscript.display.tokens import tokens

TEXT = '''\
# from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):
    # with T.block("root"):
    for i_0, k in T.grid(5, 8):
        with T.block("C"):
            vi = T.axis.spatial(18, i_0 * 4 + k)
            T.where(i_0 * 4 + k < 18 and k & 1 > 0)
            T.reads(A[vi, vk])
            C[vi] = C[vi] + T.float32(1e-05) * A[vi, T.int64(3)] + T.float32("inf")
            assert C[vi] < T.float32(2), "a \\"quoted\\" & <odd> # text"'''


def plain(markup: str) -> str:
    """The text that a browser shows."""
    return _html.unescape(re.sub(r"<[^>]*>", "", markup))


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_tokens_put_together_are_the_text() -> None:
    assert "".join(piece for _, piece in tokens(TEXT)) == TEXT
    kinds = {piece: kind for kind, piece in tokens(TEXT) if kind}
    assert kinds["T.axis.spatial"] == "space"
    assert kinds["18"] == kinds["1e-05"] == "number"
    assert kinds["and"] == kinds["def"] == "keyword"
    assert kinds["f"] == "definition"
    assert kinds['"a \\"quoted\\" & <odd> # text"'] == "string"
    assert kinds['# with T.block("root"):'] == "comment"
    assert "i_0" not in kinds and "vi" not in kinds


@pytest.mark.parametrize("name", ["i_0", "in_1", "for_", "Tx", "x4", "e5"])
def test_names_that_look_like_something_else(name: str) -> None:
    assert list(tokens(f"A[{name}]")) == [("", f"A[{name}]")]


def test_html_shows_the_text_and_nothing_else() -> None:
    markup = display.html(TEXT)
    assert plain(markup) == TEXT
    ET.fromstring(markup.replace("&", "&amp;"))  # every tag is closed
    assert "<style" not in markup and "class=" not in markup
    assert "background:none" in markup and not re.search(r"background(-color)?:(?!none)", markup)
    assert '<span style="color:var(--jp-mirror-editor-keyword-color, ' in markup


def test_html_escapes_before_it_colours() -> None:
    markup = display.html("x < y & z > T.int64(1)  # <script>&amp;")
    assert "<script>" not in markup
    assert plain(markup) == "x < y & z > T.int64(1)  # <script>&amp;"


def test_marked_lines_get_a_bar() -> None:
    markup = display.html(TEXT, marked=(6,))
    marked = [line for line in markup.split("\n") if "box-shadow" in line]
    assert [plain(line) for line in marked] == ["    for i_0, k in T.grid(5, 8):"]
    assert plain(markup) == TEXT


def test_a_pygments_style_can_be_named() -> None:
    markup = display.html("for i in range(4):", style="monokai")
    assert plain(markup).strip() == "for i in range(4):"
    assert "var(" not in markup


@pytest.mark.parametrize("pair", [*COLOURS.values(), ADDED, REMOVED, ACCENT, FAINT])
def test_fallback_colours_read_on_light_and_dark(pair: tuple[str, str]) -> None:
    assert contrast(pair[1], "#ffffff") >= 3.5
    assert contrast(pair[1], "#111111") >= 4.0


def test_html_of_200_lines_is_fast() -> None:
    """At most a fourth of what Pygments takes: 15 ms, where that takes 60."""
    text = "\n".join([TEXT] * 17)
    assert text.count("\n") >= 200
    lexer, formatter = PythonLexer(), HtmlFormatter(noclasses=True)
    ours = theirs = float("inf")
    for _ in range(5):
        start = time.process_time()
        display.html(text)
        between = time.process_time()
        highlight(text, lexer, formatter)
        ours, theirs = min(ours, between - start), min(theirs, time.process_time() - between)
    assert ours < theirs / 4


def test_ansi_shows_the_text_in_colours_of_the_terminal() -> None:
    text = display.ansi(TEXT)
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == TEXT
    codes = set(re.findall(r"\x1b\[(\d+)", text))
    assert codes <= {"31", "32", "34", "35", "39", "90"}
    assert re.sub(r"\x1b\[[\d;]*m", "", display.ansi(TEXT, style="monokai")) == TEXT


def test_diffs_are_coloured_by_line() -> None:
    diff = "-for i in range(18):\n+for i_0, i_1 in T.grid(5, 4):\n     C[i] < 1"
    assert plain(display.diff_html(diff)) == diff
    assert display.diff_html(diff).count("<span") == 2
    assert re.sub(r"\x1b\[[\d;]*m", "", display.diff_ansi(diff)) == diff


def test_svg_is_a_picture_of_the_text() -> None:
    root = ET.fromstring(display.svg(TEXT, title="f & g"))
    name = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{name}title") == "f & g"
    lines = ["".join(t.itertext()) for t in root.iter(f"{name}text")]
    assert lines == TEXT.split("\n")
    assert "prefers-color-scheme:dark" in (root.findtext(f"{name}style") or "")
