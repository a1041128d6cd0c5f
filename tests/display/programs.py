"""Programs that are looked at."""

from __future__ import annotations

import tirscript as ts

TEXT = """
@T.prim_func
def mm(A: T.Buffer((16, 12)), B: T.Buffer((12, 24)), C: T.Buffer((16, 24))):
    for i, j, k in T.grid(16, 24, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def matmul() -> ts.PrimFunc:
    f = ts.parse(TEXT)
    assert isinstance(f, ts.PrimFunc)
    return f


def tiled() -> ts.Schedule:
    """Split (guarded), reorder, vectorize, parallel, a copy in local memory; the last step is undone."""
    sch = ts.Schedule(matmul())
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 5])
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i_0, j_0, k, i_1, j_1)
    sch.vectorize(j_1)
    sch.parallel(i_0)
    sch.cache_read("C", 1, "local")
    sch.undo()
    return sch
