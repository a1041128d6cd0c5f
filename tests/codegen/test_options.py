"""Targets: what their options change, and that they do not change meaning."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.codegen.lowered import buffer, build, elementwise, function, load, loop, ramp, store
from tirscript import Target
from tirscript.codegen.llvm import Options, emit
from tirscript.ir import ops
from tirscript.ir.module import IRModule


def test_options_of_targets() -> None:
    assert Options.of("llvm") == Options.of(None) == Options() == Options.of(Target("llvm"))
    o = Options.of(Target("llvm -mcpu=x86-64-v3 -fast-math -fp-contract=off -math=scalar -O=1"))
    assert (o.cpu, o.fast_math, o.contract, o.vector_math, o.opt_level) == (
        "x86-64-v3",
        True,
        False,
        False,
        1,
    )
    assert Options.of({"mattr": "+avx2,+fma"}).features == "+avx2,+fma"
    assert Options.of(o) is o


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels(level: int) -> None:
    x = np.arange(40, dtype="int32") - 20
    got = elementwise(lambda a: ops.floordiv(a, 7) + a % 7, [x], "int32", 8, {"O": level})
    np.testing.assert_array_equal(got, x // 7 + x % 7)


def test_fast_math() -> None:
    a, o = buffer("A", 1024), buffer("O")
    body = loop(1024, lambda i: store(o, load(o) + load(a, i)))
    f = function([a, o], body)
    fast, strict = build(f, target={"fast-math": True}), build(f)
    x, total = np.ones(1024, "float32"), np.zeros((), "float32")
    fast(x, total)
    assert total == 1024
    # Sums may be reassociated, so the loop becomes vectors.
    assert re.search(r"fadd fast <\d+ x float>", fast.get_source("ll-optimized"))
    assert not re.search(r"fadd <\d+ x float>", strict.get_source("ll-optimized"))
    y = np.array([3, -4, 0.5, 8], "float32")
    for f_, want in ((ops.maximum, np.maximum(y, y[::-1])), (ops.minimum, np.minimum(y, y[::-1]))):
        got = elementwise(f_, [y, y[::-1].copy()], "float32", 4, {"fast-math": True})
        np.testing.assert_array_equal(got, want)


def test_scalar_mathematics_calls_no_vector_library() -> None:
    x = np.linspace(-3, 3, 64).astype("float32")
    for target in (None, {"math": "scalar"}):
        got = elementwise(lambda a: ops.math_call("exp", a), [x], "float32", 16, target)
        np.testing.assert_allclose(got, np.exp(x), rtol=1e-6)
    a = buffer("A", 16)
    f = function([a], store(a, ops.math_call("exp", load(a, ramp(0, 16))), ramp(0, 16)))
    assert "_ZGV" not in emit(IRModule({"f": f}), {"math": "scalar"})


def test_other_processors() -> None:
    """Code for a named processor uses what that one has."""
    a = buffer("A", 64, dtype="float32")
    f = function([a], loop(64, lambda i: store(a, load(a, i) * 2.0, i)))
    plain = build(f, target={"mcpu": "x86-64"})
    assert "ymm" not in plain.get_source("asm")
    x = np.ones(64, "float32")
    plain(x)
    assert (x == 2).all()
