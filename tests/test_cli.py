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
    for arguments in ([], ["demo"], ["show"], ["lower"], ["run"], ["doctor"]):
        with pytest.raises(SystemExit) as done:
            main([*arguments, "--help"])
        assert done.value.code == 0
        text = capsys.readouterr().out
        assert text.startswith("usage: tirscript")
        if arguments in (["show"], ["lower"], ["run"]):
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
