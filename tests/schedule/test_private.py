"""Parallel loops whose iterations fill their scratch before they read it."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule

from .programs import matmul, rng, run


def program(fill: str, read: str, where: str = "") -> ts.PrimFunc:
    func = ts.parse(f"""\
from tirscript.script import tir as T

@T.prim_func
def main(A: T.Buffer((8, 12), "int32"), O: T.Buffer((8, 10), "int32")):
    S = T.alloc_buffer((10,), "int32")
    for t in range(8):
        for i in range(12):
            with T.block("S"):
                vt = T.axis.opaque(8, t)
                vi = T.axis.spatial(10, {fill})
                T.where({fill} < 10{where})
                S[vi] = A[vt, vi] * 2
        for i in range(10):
            with T.block("O"):
                vt, vi = T.axis.remap("SS", [t, i])
                O[vt, vi] = {read}
""")
    assert isinstance(func, ts.PrimFunc)
    return func


@pytest.mark.parametrize(("fill", "read", "where", "private"), [
    ("i", "S[vi]", "", True), ("i", "S[9 - vi] + S[vi]", "", True), ("11 - i", "S[vi]", " and i >= 2", True),
    ("i", "S[vi]", " and i < 8", False), ("i", "S[vi]", " and t < 4", False),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_filled_in_each_iteration(fill: str, read: str, where: str, private: bool) -> None:
    sch = Schedule(program(fill, read, where))
    loop = sch.get_loops("O")[0]
    if not private:
        with pytest.raises(ts.ScheduleError, match="loop-carried-dependence"):
            sch.parallel(loop)
        return
    sch.parallel(loop)
    a = rng(8, 12, dtype="int32")
    want = a[:, :10] * 2
    if "9 - vi" in read:
        want = want[:, ::-1] + want
    for _ in range(10):
        np.testing.assert_array_equal(run(sch.mod, a, np.zeros((8, 10), "int32")), want)


def test_caches_of_uneven_tiles() -> None:
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 5])
    j_0, j_1 = sch.split(j, [None, 6])
    k_0, k_1 = sch.split(k, [None, 7])
    sch.reorder(i_0, j_0, k_0, i_1, k_1, j_1)
    sch.reverse_compute_at(sch.cache_write("C", 0, "local"), j_0)
    for n in range(2):
        sch.compute_at(sch.cache_read("C", n, "local"), k_0)
    sch.parallel(i_0)
    a, b = rng(16, 24), rng(24, 20)
    for _ in range(10):
        np.testing.assert_allclose(run(sch.mod, a, b, np.zeros((16, 20), "float32")), a @ b, rtol=1e-5)
