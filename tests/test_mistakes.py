"""The mistakes that learners make, each in a notebook's cell and in a script: what is said, word for word.

A cell shows the message alone; a script shows the user's own frames before it.  A mistake is a text and
the words; ``{file}`` is the name that the user knows the text by.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
HEAD = "import tirscript as tvm\nfrom tirscript.script import ir as I, tir as T\n"
COPY = """
@T.prim_func
def copy(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
"""
MATMUL = """
@T.prim_func
def matmul(A: T.Buffer((128, 128)), B: T.Buffer((128, 128)), C: T.Buffer((128, 128))):
    for i, j, k in T.grid(128, 128, 128):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
sch = tvm.tir.Schedule(matmul)
i, j, k = sch.get_loops(sch.get_block("C"))
"""
HALF = """
@T.prim_func
def half(A: T.Buffer((128, 8)), B: T.Buffer((128,))):
    for i, k in T.grid(127, 8):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            vk = T.axis.reduce(8, k)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
"""
QUIET = "import warnings; warnings.simplefilter('ignore')"


class Mistake(NamedTuple):
    text: str
    said: str
    user_line: str = ""  # the last of the user's lines in the traceback of a script
    warning: bool = False


MISTAKES = {
    # 1. undefined name, unknown T.x, `try:` in a script
    "undefined-name": Mistake(
        COPY.replace("A[vi]", "a[vi]"),
        """\
ParseError[undefined-name]: `a` is not defined
  --> {file}:9:21
   9 |             B[vi] = a[vi]
     |                     ^
  hint: did you mean `A`?""",
        "@T.prim_func",
    ),
    "unknown-name-of-T": Mistake(
        COPY.replace("B[vi] = A[vi]", "B[vi] = T.sqr(A[vi])"),
        """\
ParseError[unknown-name]: `T` has no `sqr`
  --> {file}:9:21
   9 |             B[vi] = T.sqr(A[vi])
     |                     ^^^^^
  hint: did you mean `sqrt`?""",
        "@T.prim_func",
    ),
    "unknown-axis": Mistake(
        COPY.replace("T.axis.spatial", "T.axis.spacial"),
        """\
ParseError[unknown-attribute]: `T.axis` has no `spacial`
  --> {file}:8:18
   8 |             vi = T.axis.spacial(8, i)
     |                  ^^^^^^^^^^^^^^
  hint: did you mean `spatial`?""",
        "@T.prim_func",
    ),
    "try": Mistake(
        COPY.replace(
            "            B[vi] = A[vi]",
            "            try:\n                B[vi] = A[vi]\n            except ValueError:\n"
            "                pass",
        ),
        """\
ParseError[unsupported]: `try` is not part of the script language
  --> {file}:9:13
   9 |             try:
     |             ^^^^""",
        "@T.prim_func",
    ),
    # 2. what has no source to be read
    "exec": Mistake(
        f"text = '''{COPY}'''\nexec(text)\n",
        """\
ParseError[no-source]: the source of `copy` could not be found
  hint: it is in no file or notebook cell (exec, eval): give its text to ts.parse(text)""",
        "exec(text)",
    ),
    # 3. a loop that is one short
    "loop-of-127": Mistake(
        HALF,
        """\
AxisWarning: [axis-missed]: the loops around block "B" never run `vi` = 127 of the domain 128
  --> {file}:8:18
   8 |             vi = T.axis.spatial(128, i)
     |                  ^^^^^^^^^^^^^^^^^^^^^^
  hint: let the loops cover the domain, or make the domain smaller""",
        warning=True,
    ),
    "loop-of-127-vectorised": Mistake(
        f"{QUIET}\n{HALF}sch = tvm.tir.Schedule(half)\nsch.vectorize(sch.get_loops('B')[0])\n",
        """\
ScheduleError[axis-not-covered]: loop `i` cannot be vectorized: \
the loops around block "B" never run `vi` = 127
  --> half
   6 |     for i in range(127):
     |     ^^^^^^^^^^^^^^^^^^^^ vectorize(i)
   9 |                 vi = T.axis.spatial(128, i)
     |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^ bound here
  note: `i` was written at {file}:7:5
  hint: let the loops run over the whole domain of the axis, 0 to 127""",
        "sch.vectorize(sch.get_loops('B')[0])",
    ),
    # 4. an old handle after split
    "old-handle": Mistake(
        MATMUL + "sch.reorder(j, i)\ni_0, i_1 = sch.split(i, [None, 16])\nsch.parallel(i)\n",
        """\
ScheduleError[expired-reference]: loop `i` no longer exists: \
step 2, split(i, [None, 16]), replaced it by `i_0`, `i_1`
  --> matmul, after step 2: split(i, [None, 16])""",
        "sch.parallel(i)",
    ),
    # 5. a reduction in parallel
    "parallel-reduction": Mistake(
        MATMUL + "sch.parallel(k)\n",
        """\
ScheduleError[parallel-reduction-axis]: loop `k` cannot be parallel: block "C" binds it to a reduction axis
  --> matmul
   8 |             for k in range(128):
     |             ^^^^^^^^^^^^^^^^^^^^ parallel(k)
  12 |                     vk = T.axis.reduce(128, k)
     |                                             ^ bound here
  note: k=0 and k=1 both write C[0, 0]
  note: `k` was written at {file}:6:5
  hint: rfactor(k, 0) first, or make a loop bound to spatial axes parallel: i, j""",
        "sch.parallel(k)",
    ),
    # 6. a thread axis that is none
    "thread-axis": Mistake(
        MATMUL + 'sch.bind(i, "threadIdx.w")\n',
        """\
ScheduleValueError[bad-thread-axis]: 'threadIdx.w' is no thread axis; \
there are blockIdx.x, blockIdx.y, blockIdx.z, \
threadIdx.x, threadIdx.y, threadIdx.z, vthread.x, vthread.y, vthread.z
  --> matmul
   6 |     for i in range(128):
     |     ^^^^^^^^^^^^^^^^^^^^ bind(i, 'threadIdx.w')
  note: `i` was written at {file}:6:5
  hint: did you mean `threadIdx.z`?""",
        'sch.bind(i, "threadIdx.w")',
    ),
    # 7. a block by a wrong name
    "wrong-block": Mistake(
        MATMUL + 'sch.get_block("c")\n',
        """\
ScheduleError[unknown-block]: there is no block "c"; the blocks are "root", "C"
  --> matmul
  hint: did you mean `C`?""",
        'sch.get_block("c")',
    ),
    # 8. beyond the end: at definition, at build, and where only the call can tell
    "past-the-end": Mistake(
        COPY.replace("A[vi]", "A[vi + 1]"),
        """\
BoundsWarning: [out-of-bounds]: A[vi + 1] is read outside of its bounds: index 8, but A has 8 there
  --> {file}:9:21
   9 |             B[vi] = A[vi + 1]
     |                     ^^^^^^^^^
  note: at i=7
  hint: make the buffer larger or the loops shorter, or guard the access with a condition""",
        warning=True,
    ),
    "past-the-end-built": Mistake(
        f"{QUIET}\n{COPY.replace('A[vi]', 'A[vi + 1]')}tvm.build(copy)\n",
        """\
LowerError[out-of-bounds]: A[vi + 1] is read outside of its bounds: index 8, but A has 8 there
  --> {file}:10:21
  10 |             B[vi] = A[vi + 1]
     |                     ^^^^^^^^^
  note: at i=7
  hint: make the buffer larger or the loops shorter, or guard the access with a condition""",
        "tvm.build(copy)",
    ),
    "past-the-end-called": Mistake(
        COPY.replace("A[vi]", "A[vi + n]").replace("):\n", ", n: T.int32):\n", 1)
        + "import numpy as np\na = np.zeros(8, 'float32')\nlib = tvm.build(copy, target='llvm -checked')\n"
        + "lib['copy'](a, a.copy(), 3)\n",
        """\
CheckFailed[check]: A[8] is out of bounds: the shape of A is (8)
  --> {file}:9:13
   9 |             B[vi] = A[vi + n]
     |             ^^^^^^^^^^^^^^^^^
  note: with i = 5
  note: in a call of copy(A: float32[8], B: float32[8], n: int32)""",
        "lib['copy'](a, a.copy(), 3)",
    ),
}  # fmt: skip
# A class in a cell, in `python -c` and in a script is found.
FOUND = "\n@I.ir_module\nclass M:\n" + "".join([f"    {x}\n" for x in COPY.strip().splitlines()])
FOUND += "print('found', M['copy'].name)\n"

_CELLS = """
import contextlib, io, json, sys, warnings
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("colors", "nocolor")
shown = {}
for name, text in json.load(sys.stdin).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        shell.run_cell(text, store_history=True)
    shown[name] = out.getvalue() + err.getvalue()
print(json.dumps(shown))
"""


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "PYTHONWARNINGS": "default"}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a notebook's shell shows for each text."""
    folder = tmp_path_factory.mktemp("cells")
    done = subprocess.run(
        [sys.executable, "-c", _CELLS],
        input=json.dumps({name: HEAD + m.text for name, m in MISTAKES.items()} | {"found": HEAD + FOUND}),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**environment(), "IPYTHONDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    shown: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return shown


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """The exit status of each text as a script, and what stands on stderr."""
    folder = tmp_path_factory.mktemp("scripts")
    found = {}
    for name, m in MISTAKES.items():
        path = folder / f"{name}.py"
        path.write_text(HEAD + m.text)
        done = subprocess.run(
            [sys.executable, path.name],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=environment(),
        )
        found[name] = done.returncode, done.stderr
    return found


@pytest.mark.parametrize("name", MISTAKES)
def test_in_a_cell(name: str, cells: dict[str, str]) -> None:
    said = MISTAKES[name].said
    shown = cells[name]
    # A cell's name is its number in brackets.
    shown = re.sub(r"Cell In\[\d+\]|<ipython-input-[^>]*>|cell \d+", "{file}", shown)
    assert said in shown, shown
    assert "Traceback" not in shown and "tirscript/" not in shown
    if not MISTAKES[name].warning:
        assert shown.strip() == said, shown


@pytest.mark.parametrize("name", MISTAKES)
def test_in_a_script(name: str, scripts: dict[str, tuple[int, str]]) -> None:
    mistake = MISTAKES[name]
    status, shown = scripts[name]
    assert mistake.said.replace("{file}", f"{name}.py") in shown, shown
    assert str(ROOT / "tirscript") not in shown, "frames of the package"
    if mistake.warning:
        assert status == 0
        # The place of the warning is the user's decorator.
        assert re.search(rf"{name}\.py:4: (Axis|Bounds)Warning", shown), shown
        return
    assert status == 1
    frames = shown.split("\n" + mistake.said.splitlines()[0])[0]
    assert mistake.user_line in frames, shown
    assert shown.rstrip().endswith(mistake.said.replace("{file}", f"{name}.py").splitlines()[-1])


def test_a_class_is_found_in_a_cell_and_after_dash_c(cells: dict[str, str]) -> None:
    assert cells["found"].strip() == "found copy"
    done = subprocess.run(
        [sys.executable, "-c", HEAD + FOUND], capture_output=True, text=True, check=False, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "found copy\n", "")


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the prompt of Python 3.13 keeps its text")
def test_the_prompt_says_what_to_do() -> None:
    typed = HEAD + COPY + "\n"
    done = subprocess.run(
        [sys.executable, "-i"], input=typed, capture_output=True, text=True, check=False, env=environment()
    )
    assert "ParseError[no-source]: the source of `copy` could not be found" in done.stderr
    assert "hint: " in done.stderr.split("ParseError[no-source]")[1]
