"""Errors that end a script show the user's frames and the message, no frame of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEADER = "import tirscript as ts\nfrom tirscript.script import tir as T\n"
FUNCTION = """
@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.float32(1)
"""
# What each script does wrong, the last of the user's lines in the traceback, and the first of the message.
SCRIPTS = {
    "parse": (
        FUNCTION.replace("T.float32(1)", "B[vi]"),
        "@T.prim_func",
        "ParseError[undefined-name]: `B` is not defined",
    ),
    "schedule": (
        FUNCTION + "\ndef tile(sch):\n    sch.get_block('c')\ntile(ts.Schedule(f))\n",
        "sch.get_block('c')",
        "ScheduleError[unknown-block]:",
    ),
    "split": (
        FUNCTION + "sch = ts.Schedule(f)\nsch.split(sch.get_loops('A')[0], [None, None])\n",
        "sch.split(sch.get_loops('A')[0], [None, None])",
        "ScheduleValueError[two-unknown-factors]:",
    ),
    "call": (
        FUNCTION + "ts.build(f)['f'](3)\n",
        "ts.build(f)['f'](3)",
        "CallTypeError[",
    ),
    "target": ("ts.Target('lvm')\n", "ts.Target('lvm')", "TargetError["),
    "not-yet": (
        "ts.opencl()\n",
        "ts.opencl()",
        "NotYetError[",
    ),
}


def ended(text: str, folder: Path, *, prelude: str = "", **environment: str) -> list[str]:
    """The lines on stderr of a script that fails."""
    path = folder / "script.py"
    path.write_text(prelude + HEADER + text)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)} | environment,
    )
    assert done.returncode == 1, done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_frame_of_ours(name: str, tmp_path: Path) -> None:
    text, last, message = SCRIPTS[name]
    shown = ended(text, tmp_path)
    assert shown[0] == "Traceback (most recent call last):"
    files = [line for line in shown if line.startswith('  File "')]
    assert files and all("script.py" in line for line in files)
    start = next(n for n, line in enumerate(shown) if line and not line.startswith(" ") and n)
    assert shown[start].startswith(message)
    assert last in [line.strip() for line in shown[:start]]


def test_all_frames_on_request(tmp_path: Path) -> None:
    shown = "\n".join(ended(SCRIPTS["split"][0], tmp_path, TIRSCRIPT_TRACEBACK="full"))
    assert "primitives/split.py" in shown or "primitives\\split.py" in shown


def test_other_errors_and_hooks_are_left_alone(tmp_path: Path) -> None:
    assert ended("1 / 0\n", tmp_path)[-1] == "ZeroDivisionError: division by zero"
    mine = "import sys\nsys.excepthook = lambda k, e, t: print('mine', k.__name__, file=sys.stderr)\n"
    assert ended("1 / 0\n", tmp_path, prelude=mine) == ["mine ZeroDivisionError"]
    assert ended("ts.Target('lvm')\n", tmp_path, prelude=mine) == ["mine TargetError"]


def test_the_cause_is_shown(tmp_path: Path) -> None:
    text = "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ts.TirscriptError('mine') from e\n"
    shown = ended(text, tmp_path)
    assert "ZeroDivisionError: division by zero" in shown
    assert "mine" in shown[-1]
