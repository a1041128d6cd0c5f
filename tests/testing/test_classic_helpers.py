"""TVM's helpers of tests: parameters, fixtures, requirements, before and after, running a file."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import tirscript as tvm
import tirscript.testing
from tirscript import tir

HEAD = """
import pytest
import tirscript as tvm
import tirscript.testing
from tirscript import tir
from tirscript.script import tir as T, ir as I
"""


def run(tmp_path: Path, text: str, *arguments: str, main: bool = False) -> tuple[int, str]:
    """The exit code and output of pytest on a file of that text, or of the file as a program."""
    path = tmp_path / "test_it.py"
    path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
    command = [sys.executable, *([] if main else ["-m", "pytest"]), str(path), "-q", "-p", "no:cacheprovider"]
    here = str(Path(tvm.__file__).parent.parent)
    done = subprocess.run(
        [*command, "-W", "error", *arguments], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": here},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def passes(tmp_path: Path, text: str, count: str) -> None:
    code, out = run(tmp_path, text)
    assert code == 0 and count in out, out


def test_parameters_and_fixtures(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        size = tvm.testing.parameter(1, 2, 3)
        word = tvm.testing.parameter(by_dict={"first": "a", "second": "b"})
        x, y = tvm.testing.parameters((1, 2), (3, 4))
        made = []

        @tvm.testing.fixture
        def double(size):
            return 2 * size

        @tvm.testing.fixture(cache_return_value=True)
        def numbers(size):
            made.append(size)
            return [size]

        def test_size(size, double): assert double == 2 * size
        def test_word(word, request): assert request.node.name in ("test_word[first]", "test_word[second]")
        def test_together(x, y): assert y == x + 1
        def test_copy(numbers, size):
            assert numbers == [size]
            numbers.append(0)
        def test_copy_again(numbers, size): assert numbers == [size]
        def test_once(): assert sorted(made) == [1, 2, 3]

        class TestInside:
            n = tvm.testing.parameter(4, 5)
            a, b = tvm.testing.parameters((1, 2), (3, 4))

            def test_all(self, n, a, b): assert n in (4, 5) and b == a + 1
        """,
        "18 passed",
    )


def test_requirements(tmp_path: Path) -> None:
    passes(
        tmp_path,
        """
        @tvm.testing.requires_llvm
        def test_llvm(): pass

        @tvm.testing.requires_package("pytest")
        def test_package(): pass

        @tvm.testing.requires_package("no_such_package_at_all")
        def test_absent(): assert False

        @tvm.testing.requires_nvcc_version(12)
        def test_nvcc(): assert False

        @tvm.testing.requires_llvm_minimum_version(5)
        def test_version(): pass

        @tvm.testing.parametrize_targets("llvm", "python", "opencl")
        def test_targets(target, dev):
            assert target in ("llvm", "python") and str(dev) == "cpu:0"

        @tvm.testing.parametrize_targets
        def test_default(target, dev): assert target == "llvm"

        @tvm.testing.parametrize_targets("llvm", "python")
        @tvm.testing.exclude_targets("python")
        def test_excluded(target, dev): assert target == "llvm"

        @tvm.testing.slow
        def test_slow(): pass
        """,
        "8 passed, 3 skipped",
    )


def test_features() -> None:
    assert tvm.testing.requires_llvm.available() and tvm.testing.requires_llvm() is tvm.testing.requires_llvm
    assert not tvm.testing.requires_vulkan.available() and len(tvm.testing.requires_vulkan.marks()) == 1
    assert tvm.testing.device_enabled("llvm -num-cores=2") and not tvm.testing.device_enabled("metal")


COMPARE = """
class Base(tvm.testing.CompareBeforeAfter):
    transform = tir.transform.Simplify()

class TestFunctions(Base):
    def before(A: T.Buffer((16,), "int32")):
        for i in T.serial(16):
            A[i] = i + 0
    def expected(A: T.Buffer((16,), "int32")):
        for i in T.serial(16):
            A[i] = i

class TestSame(Base):
    def before(A: T.Buffer((16,), "int32")):
        A[0] = 0
    expected = before

class TestClasses(tvm.testing.CompareBeforeAfter):
    def transform(self):
        def inner(mod):
            return tir.transform.UnrollLoop()(mod)
        return inner
    class before:
        @T.prim_func
        def main(A: T.Buffer((2,), "int32")):
            for i in T.unroll(2):
                A[i] = i
    class expected:
        @T.prim_func
        def main(A: T.Buffer((2,), "int32")):
            A[0] = 0
            A[1] = 1

class TestMethods(Base):
    n = tvm.testing.parameter(4, 5)
    def before(self, n):
        @T.prim_func
        def f(A: T.Buffer((n,), "int32")):
            A[0] = 0
        return f
    @pytest.fixture
    def expected(self, before):
        return before

class TestErrors(tvm.testing.CompareBeforeAfter):
    def transform(self):
        def inner(mod):
            raise tvm.TVMError("x")
        return inner
    def before(A: T.Buffer((2,), "int32")):
        A[0] = 0
    expected = tvm.TVMError
"""


def test_before_and_after(tmp_path: Path) -> None:
    passes(tmp_path, COMPARE, "6 passed")


def test_a_difference_fails(tmp_path: Path) -> None:
    code, out = run(
        tmp_path,
        """
        class TestIt(tvm.testing.CompareBeforeAfter):
            transform = tir.transform.Simplify()
            def before(A: T.Buffer((16,), "int32")):
                A[0] = 0
            def expected(A: T.Buffer((16,), "int32")):
                A[0] = 1
        """,
    )
    assert code == 1 and "1 failed" in out and "StructuralMismatch" in out
    code, out = run(
        tmp_path,
        """
        class TestIt(tvm.testing.CompareBeforeAfter):
            transform = tir.transform.Simplify()
            def before(A: T.Buffer((16,), "int32")):
                A[j] = 0
            expected = before
        """,
    )
    assert code != 0 and "ParseError" in out and "`j`" in out


def test_main_runs_the_file(tmp_path: Path) -> None:
    text = 'def test_a(): pass\ndef test_b(): pass\nif __name__ == "__main__":\n    tvm.testing.main()\n'
    code, out = run(tmp_path, text, "-k", "test_a", main=True)
    assert code == 0 and "1 passed, 1 deselected" in out


def test_expressions() -> None:
    i, n = tir.Var("i", "int32"), tir.Var("n", "int32")
    tvm.testing.assert_prim_expr_equal(i + n - i, n)
    with pytest.raises(AssertionError, match="are not equal"):
        tvm.testing.assert_prim_expr_equal(i, n)
    ranges: Any = {i: tvm.ir.Range(0, 4), n: tvm.ir.Range(2, 5)}
    tvm.testing.check_bool_expr_is_true(i + n < 8, ranges)
    tvm.testing.check_bool_expr_is_true(i < 2, ranges, cond=i + n < 4)
    with pytest.raises(AssertionError, match="i=3, n=2"):
        tvm.testing.check_bool_expr_is_true(i < 3, ranges)


def test_every_name() -> None:
    for name in tvm.testing.__all__:
        if name != "programs":  # needs hypothesis
            assert callable(getattr(tvm.testing, name))
    with pytest.raises(tvm.NotYetError, match="requires_hexagon"):
        tvm.testing.requires_hexagon(lambda: None)
