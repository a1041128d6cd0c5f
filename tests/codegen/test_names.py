"""Names of the script that are words of LLVM IR, or labels of the generated code, mean nothing there."""

import re

import numpy as np
import pytest

import tirscript as ts

PROGRAM = """
@T.prim_func
def f(A: T.Buffer((16,), "int32"), PARAM: T.int32):
    for LOOP in T.KIND(16):
        if LOOP > 3:
            VALUE: T.int32 = A[LOOP] + PARAM
            A[LOOP] = VALUE
"""
WORDS = (
    "begin", "entry", "exit", "status", "latch", "start", "chunk", "phi", "add", "br", "ret", "i32", "ptr",
    "label", "float", "define", "undef", "step", "end",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorized", "unroll"])
@pytest.mark.parametrize("word", WORDS)
def test_names(word, kind):
    for place in ("PARAM", "LOOP", "VALUE"):
        text = re.sub(rf"\b{place}\b", word, PROGRAM.replace("KIND", kind))
        a = np.arange(16, dtype="int32")
        ts.build(ts.parse(text))["f"](a, 5)
        np.testing.assert_array_equal(a, np.arange(16) + np.where(np.arange(16) > 3, 5, 0))
