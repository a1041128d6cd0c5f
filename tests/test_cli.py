"""The command: each subcommand's output, its exit status, and what it says when something is wrong."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tirscript.cli import main

SCALE = """\
from tirscript.script import tir as T


@T.prim_func
def scale(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32"), alpha: T.float32):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * alpha
"""
DYNAMIC = """\
from tirscript.script import ir as I, tir as T


@I.ir_module
class Mod:
    @T.prim_func
    def add_one(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 4), "int32")
        B = T.match_buffer(b, (n, 4), "int32")
        for i, j in T.grid(n, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1

    @T.prim_func
    def fill(b: T.Buffer((4,), "int64")):
        for i in range(4):
            b[i] = T.int64(7)
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--color` sets these for the process: put them back after each test."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.setenv(name, "")


@pytest.fixture
def scale(tmp_path: Path) -> str:
    path = tmp_path / "scale.py"
    path.write_text(SCALE)
    return str(path)


@pytest.fixture
def dynamic(tmp_path: Path) -> str:
    path = tmp_path / "dynamic.py"
    path.write_text(DYNAMIC)
    return str(path)


def test_help_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    commands = ("demo", "show", "lower", "diff", "run", "bench", "migrate", "doctor")
    for arguments in ([], *[[c] for c in commands]):
        with pytest.raises(SystemExit) as done:
            main([*arguments, "--help"])
        assert done.value.code == 0
        text = capsys.readouterr().out
        assert text.startswith("usage: tirscript")
        if arguments in (["show"], ["lower"], ["diff"], ["run"], ["bench"]):
            assert "imported as Python" in text and "runs nothing" in text


def test_wrong_usage_exits_with_2(
    capsys: pytest.CaptureFixture[str], scale: str, dynamic: str, tmp_path: Path
) -> None:
    for arguments in ([], ["frobnicate"], ["show"], ["show", scale, "--dialect", "latin"]):
        with pytest.raises(SystemExit) as done:
            main(arguments)
        assert done.value.code == 2
    capsys.readouterr()
    (tmp_path / "empty.py").write_text("x = 1\n")
    for arguments, words in (
        (["show", "no_such_file.py"], "no such file: no_such_file.py"),
        (["show", f"{scale}:scal"], "did you mean `scale`?"),
        (["show", f"{dynamic}:Mod.add_on"], "did you mean `add_one`?"),
        (["show", str(tmp_path / "empty.py")], "defines no T.prim_func"),
        (["run", dynamic], "say FILE:Module.function"),
        (["run", f"{dynamic}:Mod.add_one", "--set", "m=4"], "no size or scalar `m`"),
        (["run", scale, "--set", "alpha"], "--set takes NAME=NUMBER"),
        (["lower", scale, "--target", "lvm"], "--target lvm: there is no target kind `lvm`"),
        (["bench", scale, "--target", "llvm -mcpuu=x"], "--target llvm -mcpuu=x: "),
        (["bench", scale, "--number", "0"], "at least 1"),
        (["bench", scale, "--set", "beta=1"], "no size or scalar `beta`"),
        (["bench", "-", "-"], "only one"),
        (["diff", scale], "one argument must name a schedule"),
        (["diff", scale, scale, scale], "one schedule or two programs, not 3"),
        (["diff", scale, scale, "--step", "1"], "--step goes with one schedule"),
        (["diff", "-", "-"], "only one"),
    ):
        assert main(arguments) == 2, arguments
        captured = capsys.readouterr()
        assert words in captured.err
        assert "Traceback" not in captured.err


def test_show_prints_the_script(capsys: pytest.CaptureFixture[str], scale: str) -> None:
    assert main(["show", scale]) == 0
    text = capsys.readouterr().out
    assert (
        text
        == """\
# from tirscript.script import tir as T

@T.prim_func
def scale(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32"), alpha: T.float32):
    # with T.block("root"):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * alpha
"""
    )
    assert main(["show", scale, "--color", "always"]) == 0
    coloured = capsys.readouterr().out
    assert "\x1b[" in coloured and re.sub(r"\x1b\[[\d;]*m", "", coloured) == text


def test_show_takes_a_function_of_a_module(capsys: pytest.CaptureFixture[str], dynamic: str) -> None:
    assert main(["show", f"{dynamic}:Mod.fill"]) == 0
    assert "def fill(" in capsys.readouterr().out
    assert main(["show", f"{dynamic}:Mod", "--dialect", "tvm-0.27"]) == 0
    assert "T.sblock" in capsys.readouterr().out


def test_show_reads_standard_input_and_runs_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(SCALE))
    assert main(["show", "-"]) == 0
    assert "def scale(" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO("print('ran')\n" + SCALE))
    assert main(["show", "-"]) == 1
    captured = capsys.readouterr()
    assert "ran\n" not in captured.out
    assert "ParseError" in captured.err and "Traceback" not in captured.err


def test_a_program_that_is_wrong_exits_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "typo.py"
    path.write_text(SCALE.replace("A[vi] * alpha", "A[vi] * alpa"))
    assert main(["show", str(path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("ParseError[")
    assert f"--> {path}:9:29" in message
    assert "did you mean `alpha`?" in message
    path.write_text("def f():\n    return 1 // 0\n\n\nf()\n")
    assert main(["show", str(path)]) == 1
    message = capsys.readouterr().err
    assert "ZeroDivisionError" in message and "line 2, in f" in message and "importlib" not in message


def test_lower(capsys: pytest.CaptureFixture[str], scale: str) -> None:
    assert main(["lower", scale]) == 0
    lowered = capsys.readouterr().out
    assert "T.block" not in lowered and "for i in range(6):" in lowered
    assert main(["lower", scale, "--stop-after", "help"]) == 0
    assert "flatten_buffer" in capsys.readouterr().out.split()
    assert main(["lower", scale, "--stop-after", "flaten_buffer"]) == 1
    assert "did you mean `flatten_buffer`?" in capsys.readouterr().err
    assert main(["lower", scale, "--format", "ll"]) == 0
    assert "define " in capsys.readouterr().out
    assert main(["lower", scale, "--format", "python"]) == 0
    assert "def scale(" in capsys.readouterr().out


def test_run_prints_the_sum_that_numpy_has(capsys: pytest.CaptureFixture[str], scale: str) -> None:
    import numpy as np

    assert main(["run", scale, "--seed", "3", "--set", "alpha=2.0"]) == 0
    text = capsys.readouterr().out
    a = np.random.default_rng(3).random(6).astype("float32")
    printed = re.search(r"out B +float32\[6\] +sum ([\d.]+), crc32 [0-9a-f]{8}", text)
    assert printed is not None, text
    assert float(printed[1]) == pytest.approx(float((a * 2).sum(dtype="float64")), rel=1e-6)
    assert "agrees with the python target" in text
    assert re.search(r"time +[\d.]+ (ns|us|ms)", text)
    assert main(["run", scale, "--seed", "3", "--set", "alpha=2.0"]) == 0
    again = capsys.readouterr().out
    assert re.findall("crc32 .*", again) == re.findall("crc32 .*", text)


def test_run_chooses_symbolic_sizes(capsys: pytest.CaptureFixture[str], dynamic: str) -> None:
    assert main(["run", f"{dynamic}:Mod.add_one", "--set", "n=5", "--number", "0"]) == 0
    text = capsys.readouterr().out
    assert "int32[5, 4]" in text and "time" not in text
    assert main(["run", f"{dynamic}:Mod.fill", "--check", "never", "--number", "0"]) == 0
    assert "sum 28," in capsys.readouterr().out


TILED = (
    SCALE
    + """

import tirscript as ts

sch = ts.Schedule(scale)
(i,) = sch.get_loops("B")
i_0, i_1 = sch.split(i, [None, 3])
sch.vectorize(i_1)
"""
)


@pytest.fixture
def tiled(tmp_path: Path) -> str:
    path = tmp_path / "tiled.py"
    path.write_text(TILED)
    return str(path)


def test_diff_of_two_programs(capsys: pytest.CaptureFixture[str], tiled: str, tmp_path: Path) -> None:
    assert main(["diff", f"{tiled}:scale", f"{tiled}:sch"]) == 1
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[:2] == [f"--- {tiled}:scale", f"+++ {tiled}:sch"]
    assert [x for x in lines[2:] if x[0] in "+-"] == [
        "-     for i in range(6):",
        "+     for i_0 in range(2):",
        "+         for i_1 in T.vectorized(3):",
        "-             vi = T.axis.spatial(6, i)",
        "+                 vi = T.axis.spatial(6, i_0 * 3 + i_1)",
    ]
    assert main(["diff", f"{tiled}:scale", f"{tiled}:scale"]) == 0
    assert capsys.readouterr().out == ""
    # Names are no difference of programs.
    other = tmp_path / "other.py"
    other.write_text(SCALE.replace("vi", "v").replace(" i ", " x ").replace(", i)", ", x)"))
    assert main(["diff", f"{tiled}:scale", str(other)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "the same program: only names and spellings differ"
    assert main(["diff", f"{tiled}:scale", f"{tiled}:sch", "--color", "always"]) == 1
    coloured = capsys.readouterr().out
    assert "\x1b[32m+" in coloured and re.sub(r"\x1b\[[\d;]*m", "", coloured) == text


def test_diff_side_by_side(capsys: pytest.CaptureFixture[str], tiled: str) -> None:
    assert (
        main(["diff", f"{tiled}:scale", f"{tiled}:sch", "--side-by-side", "--width", "120", "--context", "0"])
        == 1
    )
    lines = capsys.readouterr().out.splitlines()
    assert all(len(x) <= 120 for x in lines)
    rows = [x for x in lines[1:] if x != "..."]
    assert [(x[:58].strip(), x[59], x[60:].strip()) for x in rows] == [
        ("for i in range(6):", "|", "for i_0 in range(2):"),
        ("", "+", "for i_1 in T.vectorized(3):"),
        ("vi = T.axis.spatial(6, i)", "|", "vi = T.axis.spatial(6, i_0 * 3 + i_1)"),
    ]


def test_diff_of_the_steps_of_a_schedule(capsys: pytest.CaptureFixture[str], tiled: str) -> None:
    assert main(["diff", tiled]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^step .*", text, re.MULTILINE) == [
        "step 1: split(i, [None, 3])",
        "step 2: vectorize(i_1)",
    ]
    assert main(["diff", f"{tiled}:sch", "--step", "2"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("step 2: vectorize(i_1)\n")
    assert [x for x in text.splitlines() if x[0] in "+-"] == [
        "-         for i_1 in range(3):",
        "+         for i_1 in T.vectorized(3):",
    ]
    assert main(["diff", tiled, "--step", "0"]) == 0
    assert "+++ sch, after 2 steps" in capsys.readouterr().out
    assert main(["diff", tiled, "--step", "2", "--side-by-side", "--width", "100"]) == 0
    assert "|         for i_1 in T.vectorized(3):" in capsys.readouterr().out
    assert main(["diff", tiled, "--step", "3"]) == 2
    assert "there is no step 3: sch has 2" in capsys.readouterr().err


def test_diff_reads_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, scale: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(SCALE.replace("* alpha", "+ alpha")))
    assert main(["diff", "-", scale]) == 1
    out = capsys.readouterr().out
    assert "--- -\n" in out and "+             B[vi] = A[vi] * alpha" in out
    monkeypatch.setattr(sys, "stdin", io.StringIO(SCALE.replace("A[vi]", "a[vi]")))
    assert main(["diff", "-", scale]) == 1
    assert "--> <stdin>:9:21" in capsys.readouterr().err


def test_bench(capsys: pytest.CaptureFixture[str], tiled: str) -> None:
    short = ["--number", "2", "--repeat", "2", "--min-repeat-ms", "0", "--set", "alpha=2.0"]
    assert main(["bench", tiled, "--target", "llvm", "--target", "python", *short]) == 0
    captured = capsys.readouterr()
    head, *rows = captured.out.splitlines()
    assert head.split()[:5] == ["program", "target", "median", "min", "std"] and head.endswith("speed-up")
    assert [r.split()[:2] for r in rows] == [
        ["scale", "llvm"], ["scale", "python"], ["sch", "llvm"], ["sch", "python"],
    ]  # fmt: skip
    assert rows[0].endswith("baseline") and all(re.search(r"\d\.\d\d x$", r) for r in rows[1:])
    assert captured.err == ""


def test_bench_holds_against_a_baseline(
    capsys: pytest.CaptureFixture[str], tiled: str, tmp_path: Path
) -> None:
    import json

    short = ["--number", "2", "--repeat", "3", "--min-repeat-ms", "0", "--set", "alpha=2.0", "--json"]
    assert main(["bench", f"{tiled}:sch", "--baseline", f"{tiled}:scale", *short]) == 0
    base, other = json.loads(capsys.readouterr().out)
    assert base["program"] == f"{tiled}:scale" and other["program"] == f"{tiled}:sch"
    assert len(other["results"]) == 3 and other["median"] > 0 and "speed-up" not in base
    assert other["speed-up"] == pytest.approx(base["median"] / other["median"])
    # Six multiplications, 48 bytes.
    assert other["GFLOP/s"] == pytest.approx(6e-9 / other["median"])
    # Another result is said, and is an error.
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SCALE.replace("* alpha", "* alpha + T.float32(1)"))
    assert main(["bench", str(wrong), "--baseline", f"{tiled}:scale", *short]) == 1
    captured = capsys.readouterr()
    assert "B[0] is" in json.loads(captured.out)[1]["wrong"]
    assert f"the baseline ({tiled}:scale on llvm) has" in captured.err


def test_bench_goes_on_after_a_program_that_cannot_be_built(
    capsys: pytest.CaptureFixture[str], scale: str
) -> None:
    short = ["--number", "1", "--repeat", "1", "--min-repeat-ms", "0"]
    assert main(["bench", scale, "--target", "opencl", "--target", "llvm", *short]) == 1
    captured = capsys.readouterr()
    failed, good = captured.out.splitlines()[1:]
    assert failed.split() == ["scale", "opencl", "failed"] and good.endswith("baseline")
    assert captured.err.startswith("scale on opencl: NotYetError[")


def test_a_file_that_ends_the_process(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text("import sys\nsys.exit(3)\n")
    assert main(["show", str(path)]) == 1
    assert "ended the process (sys.exit(3)) while it was imported" in capsys.readouterr().err


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    for step in ("sch.split(j, [None, 32])", "sch.reorder(", "sch.vectorize(j_1)", "sch.parallel(i)"):
        assert step in text
    assert "def mm_relu(" in text
    assert re.search(r"^\+.*T\.vectorized\(32\)", text, re.MULTILINE)
    assert re.search(r"^-.*for j in range\(128\)", text, re.MULTILINE)
    assert text.count("matches NumPy") == 2
    assert len(re.findall(r"[\d.]+ GFLOP/s", text)) == 2


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIRSCRIPT_NUM_THREADS", "3")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"compile and run +yes", text)
    assert re.search(r"TIRSCRIPT_NUM_THREADS +3", text)
    assert re.search(r"threads +\d+", text)
    assert re.search(r"llvmlite +\d+\.\d+", text)


def test_module_and_pipe(scale: str) -> None:
    """`python -m tirscript` works, without colours into a pipe, also one that is closed early."""
    done = subprocess.run(
        [sys.executable, "-m", "tirscript", "show", scale], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "\x1b" not in done.stdout and "def scale(" in done.stdout
    read, write = os.pipe()
    os.close(read)
    closed = subprocess.run(
        [sys.executable, "-m", "tirscript", "show", scale],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in closed.stderr
