"""Annotations that are strings, with shapes from the enclosing functions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.helpers import eq, run
from tirscript.script import tir as T

# Warnings are allowed in cases.
pytestmark = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")


def test_par_03_from_future_import_annotations_with_a_shape_from_the_enclosing_function():
    def outer(n):
        def inner(dt):
            @T.prim_func
            def f(A: T.Buffer((n, 2), dt), O: T.Buffer((n, 2), dt)):
                for i, j in T.grid(n, 2):
                    with T.block("O"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        O[vi, vj] = A[vi, vj] + A[vi, vj]

            return f

        return inner

    a = np.arange(6, dtype="float32").reshape(3, 2)
    eq(run(outer(3)("float32"), a, np.zeros((3, 2), "float32")), 2 * a)
