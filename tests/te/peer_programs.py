"""Tensor programs that mean the same in tirscript and in apache-tvm; each snippet defines ``args``.

Run by the other Python it prints the scripts of TVM, as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

PROGRAMS = {
    "two stages": """
A = te.placeholder((8, 6), name="A")
B = te.compute((8, 6), lambda x, y: A[x, y] * 2.0, name="B")
args = [A, te.compute((8, 6), lambda i, j: B[i, j] + 1.0, name="C")]
""",
    "symbolic sum": """
n, m = te.var("n"), te.var("m")
A = te.placeholder((n, m), name="A")
k = te.reduce_axis((0, m), name="k")
args = [A, te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")]
""",
    "several axes": """
A = te.placeholder((8, 8), "int32", name="A")
k1, k2 = te.reduce_axis((0, 8), "k1"), te.reduce_axis((1, 7), "k2")
args = [A, te.compute((1,), lambda i: te.max(A[k1, k2], axis=[k1, k2]), name="B"),
        te.compute((1,), lambda i: te.min(A[k1, k2], axis=[k1, k2]), name="C")]
""",
    "two results": """
A = te.placeholder((16, 16), name="A")
args = [A, *te.compute((16, 16), lambda i, j: (A[i, j] + 1.0, A[i, j] * 2.0), name="T")]
""",
    "argmax": """
A = te.placeholder((16, 16), "int32", name="A")
k = te.reduce_axis((0, 16), "k")
argmax = te.comm_reducer(
    lambda x, y: (tir.Select(x[1] >= y[1], x[0], y[0]), tir.Select(x[1] >= y[1], x[1], y[1])),
    lambda t0, t1: (tir.const(-1, t0), te.min_value(t1)), name="argmax")
args = [A, *te.compute((16,), lambda i: argmax((k.var, A[i, k]), axis=k), name="T")]
""",
    "rank 0": """
A = te.placeholder((), name="A")
args = [A, te.compute((), lambda: A() + 1.0, name="B")]
""",
    "attributes": """
A = te.placeholder((8, 8), name="A")
args = [A, te.compute((8, 8), lambda i, j: A[j, i], name="B", attrs={"foo": "bar"})]
""",
    "conditions": """
A = te.placeholder((8, 8), "int32", name="A")
B = te.placeholder((8,), "bool", "B")
C = te.compute((8, 8), lambda *i: tir.if_then_else(B[i[0]], A(*i), 0), name="C")
args = [A, B, te.compute((8, 8), lambda x, y: tir.if_then_else(tir.all(x < 7, y < 3), C[x + 1, y], 0), name="D")]
""",
    "64-bit extents": """
n = te.var("n", "int64")
A = te.placeholder((n, 4), name="A")
args = [A, te.compute((n, 4), lambda i, j: A[i, j] + 1.0, name="B")]
""",
    "mixed precision": """
A = te.placeholder((8, 8), "float16", name="A")
k = te.reduce_axis((0, 8), "k")
args = [A, te.compute((8, 8), lambda i, j: te.sum(
    A[i, k].astype("float32") * A[k, j].astype("float32"), axis=k), name="matmul")]
""",
    "add": """
A, B = te.placeholder((8, 8), name="A"), te.placeholder((8,), name="B")
args = [A, B, topi.add(A, B)]
""",
    "transpose": 'A = te.placeholder((2, 3, 4), name="A")\nargs = [A, topi.transpose(A, (0, 2, 1))]',
    "relu": 'A = te.placeholder((2, 3), name="A")\nargs = [A, topi.nn.relu(A)]',
    "exp": 'A = te.placeholder((2, 3), name="A")\nargs = [A, topi.exp(A)]',
    "sum": 'A = te.placeholder((2, 3, 4), name="A")\nargs = [A, topi.sum(A, axis=(0, 2), keepdims=True)]',
    "expand": 'A = te.placeholder((2, 3), name="A")\nargs = [A, topi.expand_dims(A, 1)]',
    "full": 'args = [topi.full((2, 3), "float32", 1.5)]',
    "softmax": 'A = te.placeholder((4, 9), name="A")\nargs = [A, topi.nn.softmax(A)]',
    "conv2d": """
A, W = te.placeholder((1, 3, 8, 8), name="A"), te.placeholder((4, 3, 3, 3), name="W")
args = [A, W, topi.nn.conv2d(A, W, 1, 1, 1)]
""",
    "conv2d nhwc": """
A, W = te.placeholder((1, 8, 8, 3), name="A"), te.placeholder((3, 3, 3, 4), name="W")
args = [A, W, topi.nn.conv2d(A, W, 2, 1, 1, "NHWC")]
""",
    "matmul": """
A, B = te.placeholder((4, 8), name="A"), te.placeholder((8, 4), name="B")
args = [A, B, topi.matmul(A, B)]
""",
    "concatenate": 'A = te.placeholder((2, 3), name="A")\nargs = [A, topi.concatenate([A, A], 1)]',
    "pad": 'A = te.placeholder((2, 3), name="A")\nargs = [A, topi.nn.pad(A, (1, 1), (2, 1))]',
}  # fmt: skip


def run(text: str, te: Any, tir: Any, topi: Any) -> Any:
    """The function of a snippet."""
    scope: dict[str, Any] = {"te": te, "tir": tir, "topi": topi}
    exec(text, scope)
    return te.create_prim_func(scope["args"])


def main() -> None:
    from tvm import te, tirx, topi  # type: ignore[import-not-found, unused-ignore]

    out = {name: run(text, te, tirx, topi).script(show_meta=False) for name, text in PROGRAMS.items()}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
