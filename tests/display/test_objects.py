"""What stands for each kind of object in a notebook and in a terminal."""

from __future__ import annotations

import html
import re
import sys
import time
from typing import Any

import numpy as np
import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import tirscript as ts
from tests.corpus import CORPUS, THEMES
from tirscript import display
from tirscript.display import emit, in_notebook, mimebundle, show
from tirscript.display.objects import seconds
from tirscript.runtime.timing import Timing

TEXT = """\
@T.prim_func
def f(A: T.Buffer((18, 8), "float32"), C: T.Buffer((18,), "float32")):
    for i, k in T.grid(18, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
"""


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.fixture
def f() -> ts.PrimFunc:
    function = ts.from_source(TEXT)
    assert isinstance(function, ts.PrimFunc)
    return function


def test_functions_and_modules_show_their_script(f: ts.PrimFunc) -> None:
    for program in (f, ts.IRModule({"f": f})):
        bundle = program._repr_mimebundle_()
        assert bundle["text/plain"] == program.script() == repr(program) == str(program)
        assert plain(bundle["text/html"]) == program.script()


def test_parts_of_programs_show_their_text(f: ts.PrimFunc) -> None:
    load = next(n for n in ts.ir.walk(f.body) if isinstance(n, ts.ir.BufferLoad) and n.buffer.name == "A")
    assert str(load) == repr(load) == "A[vi, vk]"
    assert load._repr_mimebundle_()["text/plain"] == "A[vi, vk]"


def every_kind(f: ts.PrimFunc) -> list[Any]:
    """One object of each kind that a notebook shows."""
    sch = ts.Schedule(f)
    block = sch.get_block("C")
    loops = sch.get_loops(block)
    sch.split(loops[0], [None, 4])
    tile = sch.sample_perfect_tile(loops[1], 2, decision=[2, 4])
    module = ts.build(sch.mod)
    a, c = np.ones((18, 8), "float32"), np.zeros(18, "float32")
    timing = module.time_evaluator("f", ts.cpu(), number=1, repeat=2)(a, c)
    A = ts.te.placeholder((4, 8), name="A")
    B = ts.te.compute((4,), lambda i: A[i, 0] + 1.0, name="B")
    return [
        f, ts.IRModule({"f": f}), f.body, sch, sch.trace, block, loops[1], tile[0], module, timing,
        sch.history, sch.history[0], sch.diff(), sch.tree(), f.tree(), A, B, ts.Target("llvm -num-cores=4"),
        ts.cpu(), ts.nd.array(np.arange(3)), display.cost_of(f), display.Machine(1e9, 1e9),
        display.Comparison({"a": timing, "b": timing}),
    ]  # fmt: skip


def test_every_kind_has_text_and_html_without_addresses_styles_or_scripts(f: ts.PrimFunc) -> None:
    for value in every_kind(f):
        bundle = value._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}, type(value)
        for text in (repr(value), str(value), *bundle.values()):
            assert not re.search(r"0x[0-9a-f]{5,}", text), (type(value), text)
            assert " object at " not in text
        markup = bundle["text/html"]
        assert "<style" not in markup and "<script" not in markup and "class=" not in markup, type(value)
        assert "http" not in markup.replace("http://www.w3.org/2000/svg", ""), type(value)  # self-contained


def test_representations_are_the_same_in_another_process(f: ts.PrimFunc) -> None:
    """Names, not identities: what depends on neither time nor memory is the same each time."""
    kinds = [v for v in every_kind(f) if type(v).__name__ not in ("Timing", "Comparison", "History")]
    again = [v for v in every_kind(f) if type(v).__name__ not in ("Timing", "Comparison", "History")]
    for one, other in zip(kinds, again, strict=True):
        assert one._repr_mimebundle_() == other._repr_mimebundle_(), type(one)


def test_html_uses_only_the_colours_that_read_on_light_and_dark(f: ts.PrimFunc) -> None:
    known = {p[1] for p in (*emit.COLOURS.values(), emit.FAINT, emit.ACCENT, emit.ADDED, emit.REMOVED)}
    for value in every_kind(f):
        for colour in re.findall(r"#[0-9a-f]{6}", value._repr_mimebundle_()["text/html"]):
            assert colour in known, type(value)


def test_a_schedule_shows_the_program_as_it_is(f: ts.PrimFunc) -> None:
    sch = ts.Schedule(f)
    i, _ = sch.get_loops(sch.get_block("C"))
    sch.split(i, [None, 4])
    assert "T.where(i_0 * 4 + i_1 < 18)" in plain(sch._repr_mimebundle_()["text/html"])


def test_timings_are_a_table() -> None:
    timing = Timing((0.001, 0.0014, 0.002), "f")
    markup = mimebundle(timing)["text/html"]
    assert plain(markup).startswith("f") and "3 repetitions from 1.000 ms to 2.000 ms" in markup
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", markup)
    assert [plain(row.replace("</td>", " ")).split() for row in rows] == [
        ["mean", "1.467", "ms"],
        ["median", "1.400", "ms"],
        ["min", "1.000", "ms"],
        ["max", "2.000", "ms"],
        ["std", "411.0", "us"],
        ["runs", "3"],
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000 ns"),
        (1.5e-9, "1.500 ns"),
        (2.5e-6, "2.500 us"),
        (0.0123456, "12.35 ms"),
        (123.4, "123.4 s"),
    ],
)
def test_times_for_people(value: float, text: str) -> None:
    assert seconds(value) == text


def test_show_prints_plain_text_where_there_is_no_terminal(
    f: ts.PrimFunc, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "")
    monkeypatch.setenv("NO_COLOR", "")
    assert not in_notebook()
    f.show()
    assert capsys.readouterr().out == f.script() + "\n"
    f.show(black_format=True, line_numbers=True)
    assert capsys.readouterr().out == f.script(line_numbers=True) + "\n"


def test_show_colours_a_terminal_unless_told_not_to(
    f: ts.PrimFunc, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "")
    monkeypatch.setenv("NO_COLOR", "")
    f.show()
    text = capsys.readouterr().out
    assert "\x1b[" in text and re.sub(r"\x1b\[[\d;]*m", "", text) == f.script() + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    f.show()
    assert "\x1b[" not in capsys.readouterr().out


def test_show_takes_programs_only() -> None:
    with pytest.raises(ts.TirscriptError, match="show takes a program, not object"):
        show(object())


def test_a_module_of_200_lines_is_shown_faster_than_pygments_colours_it() -> None:
    functions = {}
    for n in range(20):
        function = ts.from_source(TEXT.replace("def f(", f"def f{n}("))
        assert isinstance(function, ts.PrimFunc)
        functions[f"f{n}"] = function
    module = ts.IRModule(functions)
    text = module.script()
    assert text.count("\n") >= 200
    lexer, formatter = PythonLexer(), HtmlFormatter(noclasses=True)
    ours = theirs = float("inf")
    for _ in range(5):
        start = time.process_time()
        module._repr_mimebundle_()
        between = time.process_time()
        highlight(text, lexer, formatter)
        ours, theirs = min(ours, between - start), min(theirs, time.process_time() - between)
    assert ours < theirs / 2


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
@pytest.mark.parametrize("theme", THEMES)
def test_every_program_of_the_corpus_is_displayed_to_the_letter(theme: str) -> None:
    shown = 0
    for entry in CORPUS.values():
        if entry.theme == theme:
            program = entry.program()
            bundle = program._repr_mimebundle_()
            assert plain(bundle["text/html"]) == bundle["text/plain"] == program.script(), entry.name
            shown += 1
    assert shown


def test_a_trace_shows_its_python(f: ts.PrimFunc, capsys: pytest.CaptureFixture[str]) -> None:
    sch = ts.Schedule(f)
    sch.parallel(sch.get_loops(sch.get_block("C"))[0])
    assert "sch.parallel(" in sch.trace._repr_mimebundle_()["text/plain"]
    sch.trace.show()
    assert capsys.readouterr().out == f"{sch.trace}\n"
