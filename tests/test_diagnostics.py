"""The renderer of errors, and what all errors share."""

import pickle
import sys
import threading
import warnings

import pytest

from tirscript import diagnostics as d
from tirscript.diagnostics import Mark, ParseError, Source, Span, TirscriptError, deep_recursion, did_you_mean

TEXT = "def f(A):\n    A[0] = größe + 1\n\tB = 2\n    名前 = A[1] + x\n"
SOURCE = Source("f.py", TEXT, first_line=10)


def test_one_mark():
    error = ParseError(
        "name `größe` is not defined",
        code="undefined-name",
        marks=[Mark(Span(SOURCE, 11, 11, 11, 16), "here")],
        notes=["a note"],
        hint="did you mean `grosse`?",
    )
    assert str(error) == (
        "ParseError[undefined-name]: name `größe` is not defined\n"
        "  --> f.py:11:12\n"
        "  11 |     A[0] = größe + 1\n"
        "     |            ^^^^^ here\n"
        "  note: a note\n"
        "  hint: did you mean `grosse`?"
    )


def test_carets_under_wide_characters_and_tabs():
    wide = str(TirscriptError("m", marks=[Mark(Span(SOURCE, 13, 16, 13, 17))])).splitlines()
    assert wide[-2] == "  13 |     名前 = A[1] + x"
    assert wide[-1].index("^") - wide[-1].index("|") == 2 + 18, "two columns for each wide character"
    tab = str(TirscriptError("m", marks=[Mark(Span(SOURCE, 12, 1, 12, 2))])).splitlines()
    assert tab[-2] == "  12 |     B = 2"
    assert tab[-1] == "     |     ^"


def test_several_marks_and_lines():
    marks = [Mark(Span(SOURCE, 11, 4, 11, 8), "one"), Mark(Span(SOURCE, 11, 11, 11, 16), "two")]
    lines = str(TirscriptError("m", marks=marks)).splitlines()
    assert [line for line in lines if "größe" in line] == ["  11 |     A[0] = größe + 1"]
    assert lines[-2:] == ["     |     ^^^^ one", "     |            ^^^^^ two"]
    other = Mark(Span(Source("g.py", "x = 1"), 1, 0, 1, 1))
    assert "  --> g.py:1:1" in str(TirscriptError("m", marks=[marks[0], other]))
    over = str(TirscriptError("m", marks=[Mark(Span(SOURCE, 11, 4, 12, 3))])).splitlines()
    assert over[-1] == "     |     ^^^^^^^^^^^^^^^^"


def test_rendering_is_lazy():
    calls = []

    def message():
        calls.append(1)
        return "late"

    error = TirscriptError(message)
    assert not calls
    assert str(error) == "TirscriptError: late"
    assert str(error) == "TirscriptError: late"
    assert calls == [1]


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("ScheduleTypeError", (d.ScheduleError, TypeError)),
        ("ScheduleValueError", (d.ScheduleError, ValueError)),
        ("BindError", (d.LowerError, ValueError)),
        ("TargetError", (ValueError,)),
        ("CallTypeError", (d.CallError, TypeError)),
        ("CallValueError", (d.CallError, ValueError)),
        ("AssertFailed", (AssertionError,)),
        ("NotYetError", (NotImplementedError,)),
        ("ParseError", ()),
        ("WellFormedError", ()),
        ("CheckFailed", ()),
        ("CodegenError", ()),
    ],
)
def test_hierarchy_and_pickling(name, bases):
    cls = getattr(d, name)
    error = cls("what is wrong", code="some-code", hint="do this")
    assert isinstance(error, (TirscriptError, RuntimeError))
    for base in bases:
        assert isinstance(error, base)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert (str(copy), copy.code, copy.hint) == (str(error), "some-code", "do this")


def test_all_errors_of_a_function_in_one():
    errors = [ParseError(f"mistake {n}", marks=[Mark(Span(SOURCE, 10 + n, 0, 10 + n, 3))]) for n in range(3)]
    joined = ParseError.collect(errors)
    assert joined.diagnostics == errors
    text = str(joined)
    assert [f"mistake {n}" in text for n in range(3)] == [True] * 3
    assert text.endswith("3 errors")


def test_notebooks_show_the_text_only():
    assert TirscriptError("m", hint="h")._render_traceback_() == ["TirscriptError: m", "  hint: h"]


def test_did_you_mean():
    assert did_you_mean("c", ["C", "root"]) == "did you mean `C`?"
    assert did_you_mean("zzz", ["C", "root"]) is None


def test_warnings_name_user_code():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("w", d.BoundsWarning, stacklevel=d.user_stacklevel())
    assert seen[0].filename == __file__


def test_the_recursion_limit_comes_back_after_the_last_thread():
    before = sys.getrecursionlimit()
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with deep_recursion():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    with deep_recursion():
        assert sys.getrecursionlimit() >= 200_000
    assert sys.getrecursionlimit() >= 200_000, "another thread is still inside"
    leave.set()
    thread.join()
    assert sys.getrecursionlimit() == before
