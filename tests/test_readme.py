"""The README is true: its example runs, prints what it says, and its picture is of that output."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.script.test_t_names import CLASSIC
from tirscript import display
from tirscript.script import tir as T
from tirscript.testing import random_inputs

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[str]]:
    """The scope after the README's first programs, and what each printed."""
    scope: dict[str, Any] = {}
    printed = []
    programs = [text for kind, text in BLOCKS if kind == "python" and "@T.prim_func\ndef row_sums" in text]
    assert programs[1].startswith("# from tirscript.script import tir as T")
    for n, text in enumerate((programs[0], next(t for k, t in BLOCKS if "print(c[:3])" in t))):
        path = tmp_path_factory.mktemp("readme") / f"example_{n}.py"
        path.write_text(text)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, str(path), "exec", dont_inherit=True), scope)
        printed.append(out.getvalue())
    return scope, printed


def test_the_example_prints_what_the_readme_says(example: tuple[dict[str, Any], list[str]]) -> None:
    _, printed = example
    texts = [text for _, text in BLOCKS]
    at = next(n for n, t in enumerate(texts) if "sch.vectorize(i_1)" in t)
    assert printed[0] == texts[at + 1]
    at = next(n for n, t in enumerate(texts) if "print(c[:3])" in t)
    assert printed[1] == texts[at + 1]


def test_the_refusal_is_as_the_readme_shows_it(example: tuple[dict[str, Any], list[str]]) -> None:
    scope, _ = example
    with pytest.raises(ts.ScheduleError) as refused:
        exec("sch.parallel(k)", scope)
    text = re.sub(r"\S*example_0\.py", "example.py", str(refused.value))
    at = next(n for n, (_, t) in enumerate(BLOCKS) if t == "sch.parallel(k)\n")
    assert BLOCKS[at + 1] == ("text", text + "\n")


def test_the_picture_is_of_the_output(example: tuple[dict[str, Any], list[str]]) -> None:
    _, printed = example
    (path,) = re.findall(r"!\[.*?\]\((.*?)\)", README)
    picture = (ROOT / path).read_text(encoding="utf-8")
    assert picture == display.svg(
        printed[0].rstrip("\n"), title="row_sums after split, reorder and vectorize"
    )
    assert len(picture) < 20_000


def test_links_lead_somewhere() -> None:
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (ROOT / link).exists(), link


def test_the_two_commands_are_there() -> None:
    commands = [text.strip() for kind, text in BLOCKS if kind == "sh"]
    assert commands == [
        "pip install -e . && python -m tirscript demo",
        "pip install -e '.[test]' && python -m pytest",
    ]


def test_the_counts_of_names_are_right() -> None:
    vectors = [
        f"{d}x{n}" for d in ("bfloat16", "float16", "float32", "float64") for n in (2, 4, 8, 16, 32, 64)
    ]
    vectors += [f"{c}int{b}x{n}" for c in ("", "u") for b in (8, 16, 32, 64) for n in (4, 8, 16, 32, 64)]
    names = [*CLASSIC, *vectors]
    missing = [n for n in names if n in T.NOT_YET]
    assert all(hasattr(T, n) for n in names)
    found = re.search(r"of the (\d+) names of TVM's classic `T`, (\d+) are supported and (\d+) say", README)
    assert found is not None
    assert [int(n) for n in found.groups()] == [len(names), len(names) - len(missing), len(missing)]


def test_the_primitives_named_are_there() -> None:
    (row,) = re.findall(r"^\| schedule \| (.*?);", README, re.MULTILINE)
    names = re.findall(r"`([a-z_]+)`", row)
    assert len(names) > 5
    for name in names:
        assert callable(getattr(ts.Schedule, name))


@pytest.mark.parametrize("dtype", sorted(set(ts.ir.dtype.SCALARS) - {"handle", "void"}))
def test_both_targets_compute_with_every_dtype(dtype: str) -> None:
    value = "A[i] and A[8 - i]" if dtype == "bool" else "T.max(A[i] * A[8 - i], A[i])"
    f = ts.from_source(
        f'@T.prim_func\ndef f(A: T.Buffer((9,), "{dtype}"), B: T.Buffer((9,), "{dtype}")):\n'
        f"    for i in range(9):\n        B[i] = {value}\n"
    )
    a = random_inputs(f, ints=(0, 8))[0]
    results = []
    for target in ("llvm", "python"):
        b = np.zeros_like(a)
        ts.build(f, target)["f"](a, b)
        results.append(b.astype("float64"))
    np.testing.assert_array_equal(*results)
    if dtype in ("float32", "float64", "int32", "int64"):
        np.testing.assert_array_equal(results[0], np.maximum(a * a[::-1], a))
