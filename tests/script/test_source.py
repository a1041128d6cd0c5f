"""Where sources are found: files, cells, `python -c`, exec; names of several scopes; string annotations."""

import importlib.util
import subprocess
import sys
import textwrap

import pytest

import tirscript as ts
from tirscript.script import tir as T
from tirscript.script.source import first_line, parse_text

HEADER = "from tirscript.script import ir as I, tir as T\nimport tirscript as ts\n"


def module(tmp_path, text: str, name: str = "sample"):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def python(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments], input=stdin, capture_output=True, text=True, timeout=120, check=False
    )


def value_stored(func):
    return func.body.value.value


def test_other_decorators_above_and_below(tmp_path):
    m = module(
        tmp_path,
        HEADER
        + """
def note(*a, **k):
    return lambda fn: fn

@note((1, (2, 3)), key=lambda x: (x, (x,)))
@T.prim_func
def f(A: T.Buffer((4,), "int32")):
    A[0] = 1

@T.prim_func
@note(
    lambda g: g,
)
def g(A: T.Buffer((4,), "int32")):
    A[0] = 2
""",
    )
    assert value_stored(m.f) == 1 and value_stored(m.g) == 2


def test_the_definition_at_the_line_not_the_first_of_that_name(tmp_path):
    m = module(
        tmp_path,
        HEADER
        + """
made = []
for k in range(2):
    if k:
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            A[0] = 7
    else:
        @T.prim_func
        def f(A: T.Buffer((4,), "int32")):
            A[0] = 8
    made.append(f)
@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32")):
        A[0] = 3
First = M
@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32")):
        A[0] = 4
""",
    )
    assert [value_stored(f) for f in m.made] == [8, 7]
    assert value_stored(m.First["f"]) == 3 and value_stored(m.M["f"]) == 4


def test_annotations_that_are_strings(tmp_path):
    m = module(
        tmp_path,
        "from __future__ import annotations\n"
        + HEADER
        + """
def outer(n):
    def inner(dt):
        @T.prim_func
        def f(A: T.Buffer((n, 2), dt)):
            for i, j in T.grid(n, 2):
                A[i, j] = A[i, j] + 1
        return f
    return inner

def only_in_annotations(rows):
    def inner():
        width = 5
        @T.prim_func
        def f(A: T.Buffer((rows, width), "int8"), k: T.int32) -> T.int32:
            return k
        return f
    return inner()

f = outer(3)("float16")
g = only_in_annotations(4)

@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((N,), "int8")):
        A[0] = 1
""".replace("@I.ir_module", "N = 6\n@I.ir_module"),
    )
    a = m.f.buffers[0]
    assert [n.value for n in a.shape] == [3, 2] and a.dtype == "float16"
    assert [n.value for n in m.g.buffers[0].shape] == [4, 5] and m.g.ret_type == "int32"
    assert m.M["f"].buffers[0].shape[0].value == 6


def test_unicode_sources(tmp_path):
    m = module(
        tmp_path,
        HEADER
        + """
größe = 4
@T.prim_func
def funktion(Ä: T.Buffer((größe,), "int32")):
    "漢字 ☃"
    for ι in range(größe):
        Ä[ι] = ι + 1
""",
    )
    assert m.funktion.buffers[0].name == "Ä" and m.funktion.body.loop_var.name == "ι"
    with pytest.raises(ts.ParseError) as caught:
        module(
            tmp_path,
            HEADER + '@T.prim_func\ndef f(Ä: T.Buffer((4,), "int32")):\n    Ä[0], x = "ü", nichts\n',
            "other",
        )
    span = caught.value.marks[0].span
    assert span.source.line(span.line)[span.column : span.end_column] == "nichts"


def test_exec_says_what_to_do():
    text = '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    A[0] = 5\n'
    with pytest.raises(ts.ParseError, match=r"source of `f` could not be found(.|\n)*ts\.parse\(text\)"):
        exec(text, {"T": T})
    assert value_stored(ts.parse(text)) == 5
    with pytest.raises(ts.ParseError, match="source of `M` could not be found"):
        exec("@I.ir_module\nclass M:\n    " + text.replace("\n", "\n    "), {"T": T, "I": ts.script.ir})
    with pytest.raises(ts.ParseError, match="lambda"):
        T.prim_func(lambda A: A)
    with pytest.raises(ts.TirscriptError, match="decorates a function"):
        T.prim_func(3)


def test_exec_of_a_text_that_linecache_knows():
    from tirscript.script.source import register

    text = '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    A[0] = 6\n'
    register("<known text>", text)
    space = {"T": T}
    exec(compile(text, "<known text>", "exec"), space)
    assert value_stored(space["f"]) == 6


def test_the_command_line():
    program = HEADER + '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    A[0] = 5\nprint(f.script())\n'
    done = python("-c", program)
    assert done.returncode == 0 and "A[0] = 5" in done.stdout, done.stderr
    wrong = python("-c", program.replace("= 5", "= fife"))
    assert "<string>:5:12" in wrong.stderr and "`fife` is not defined" in wrong.stderr


def test_the_prompt_says_what_to_do():
    program = HEADER + '@T.prim_func\ndef f(A: T.Buffer((4,), "int32")):\n    A[0] = 5\n\n'
    done = python("-i", stdin=program)
    assert "A[0]" in done.stdout or "Python's prompt keeps no source" in done.stderr


def test_notebook_cells():
    pytest.importorskip("IPython")
    cells = [
        "from __future__ import annotations\n" + HEADER + "N = 4",
        "@I.ir_module\nclass M:\n    @T.prim_func\n"
        '    def f(A: T.Buffer((N,), "int32")):\n        A[0] = N\n',
        "assert M['f'].body.value.value == 4",
        '@T.prim_func\ndef g(A: T.Buffer((N,), "int32")):\n    A[0] = N + 1\nassert g.body.value.value == 5',
        # The same cell once more, changed: the new text counts.
        "@I.ir_module\nclass M:\n    @T.prim_func\n"
        '    def f(A: T.Buffer((N,), "int32")):\n        A[0] = 9\n',
        "assert M['f'].body.value.value == 9",
        '@T.prim_func\ndef wrong(A: T.Buffer((N,), "int32")):\n    A[0] = nothing_here\n',
    ]
    program = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {cells[:-1]!r}:
    result = shell.run_cell(cell)
    result.raise_error()
print("cells are done")
shell.run_cell({cells[-1]!r})
"""
    done = python("-c", program)
    assert "cells are done" in done.stdout, done.stderr + done.stdout
    shown = done.stdout.partition("cells are done")[2]
    assert "`nothing_here` is not defined" in shown and "3 |" in shown
    # No frames of ours.
    assert "entry.py" not in shown and "constructs.py" not in shown


def test_enclosing_scopes():
    size = 3

    def middle():
        unit = 2

        def inner():
            @T.prim_func
            def f(A: T.Buffer((size, unit), "int32")):
                A[0, 0] = size * 10 + unit

            return f

        return inner()

    f = middle()
    assert value_stored(f) == 32 and [n.value for n in f.buffers[0].shape] == [3, 2]


def test_a_file_is_parsed_once_for_all_its_definitions(monkeypatch, tmp_path):
    import tirscript.script.source as source

    calls = []
    real = source.python_tree
    monkeypatch.setattr(source, "python_tree", lambda *a, **k: (calls.append(1), real(*a, **k))[1])
    body = "".join(
        f'@T.prim_func\ndef f{k}(A: T.Buffer((4,), "int32")):\n    A[0] = {k}\n' for k in range(20)
    )
    m = module(tmp_path, HEADER + body, "many")
    assert value_stored(m.f19) == 19 and len(calls) == 1


def test_texts():
    text = parse_text("x = 1\n@d\n@e(\n)\ndef f():\n    pass\n")
    (definition,) = [n for n in text.tree.body if hasattr(n, "decorator_list")]
    assert first_line(definition) == 2 and text.ascii_only
