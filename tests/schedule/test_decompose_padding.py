"""decompose_padding: the fill nest, what the block keeps, conditions of every form, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, rng, roundtrip, run


@T.prim_func
def pad2d(X: T.Buffer((8, 20), "int32"), Y: T.Buffer((10, 32), "int32")):
    for i, j in T.grid(10, 32):
        with T.block("pad"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.if_then_else(vi >= 1 and vi < 9 and vj >= 6 and vj < 26, X[vi - 1, vj - 6], 7)


def check(sch: Schedule, name: str = "pad") -> None:
    x = rng(8, 20, dtype="int32")
    want = np.full((10, 32), 7, "int32")
    want[1:9, 6:26] = x
    np.testing.assert_array_equal(run(sch.mod, x, np.full((10, 32), -1, "int32")), want)
    roundtrip(sch.mod)


def test_both_axes_get_smaller() -> None:
    @T.prim_func
    def after(X: T.Buffer((8, 20), "int32"), Y: T.Buffer((10, 32), "int32")):
        for i, j in T.grid(10, 32):
            with T.block("pad_pad_const"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(Y[vi, vj])
                Y[vi, vj] = 7
        for i, j in T.grid(8, 20):
            with T.block("pad"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi + 1, vj + 6])
                Y[vi + 1, vj + 6] = X[vi, vj]

    sch = Schedule(pad2d)
    block = sch.get_block("pad")
    i, j = sch.get_loops(block)
    assert sch.can_decompose_padding(block, i) and sch.can_decompose_padding("pad", j)
    fill = sch.decompose_padding(block, i)
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "pad2d"), names=True)
    assert sch.get(fill).name == "pad_pad_const" and sch.get(block).name == "pad"
    assert sch.get_loops(block) == [i, j]
    check(sch)


def test_inside_the_outer_loop() -> None:
    @T.prim_func
    def after(X: T.Buffer((8, 20), "int32"), Y: T.Buffer((10, 32), "int32")):
        for i in T.parallel(10):
            for j in range(32):
                with T.block("pad_pad_const"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads()
                    T.writes(Y[vi, vj])
                    Y[vi, vj] = 7
            for j in T.vectorized(20):
                with T.block("pad"):
                    vi = T.axis.spatial(8, i - 1)
                    vj = T.axis.spatial(20, j)
                    T.where(1 <= i and i < 9)  # noqa: SIM300
                    T.reads(X[vi, vj])
                    T.writes(Y[vi + 1, vj + 6])
                    T.block_attr({"mark": 1})
                    Y[vi + 1, vj + 6] = X[vi, vj]

    sch = Schedule(pad2d)
    i, j = sch.get_loops("pad")
    sch.parallel(i)
    sch.vectorize(j)
    sch.annotate("pad", "mark", 1)
    sch.decompose_padding("pad", j)
    assert ts.structural_equal(sch.mod["main"], after.with_attr("global_symbol", "pad2d"), names=True)
    check(sch)


@pytest.mark.parametrize("factor", [4, 5, 7])
@pytest.mark.parametrize("level", range(4))
def test_split_and_fused_loops(factor: int, level: int) -> None:
    sch = Schedule(pad2d)
    i, j = sch.get_loops("pad")
    sch.split(i, [None, factor])
    sch.split(j, [None, factor])
    sch.decompose_padding("pad", sch.get_loops("pad")[level])
    check(sch)
    if level == 0:
        sch = Schedule(pad2d)
        fused = sch.fuse(*sch.get_loops("pad"))
        outer, _ = sch.split(fused, [None, factor])
        sch.decompose_padding("pad", outer)
        check(sch)


def one(
    condition: str, value: str = "X[vi % 16]", pad: str = "0", form: str = "T.if_then_else(C, V, P)"
) -> Any:
    text = form.replace("C", condition).replace("V", value).replace("P", pad)
    return ts.parse(f"""
from tirscript.script import tir as T

@T.prim_func
def f(X: T.Buffer((16,), "int32"), Y: T.Buffer((24,), "int32")):
    for i in range(24):
        with T.block("pad"):
            vi = T.axis.spatial(24, i)
            Y[vi] = {text}
""")


CONDITIONS = {
    "vi >= 4": (20, False),
    "4 < vi": (19, False),
    "vi <= 20": (21, False),
    "20 > vi": (20, False),
    "vi * 2 < 9": (5, False),
    "vi * 3 >= 7": (21, False),
    "5 - vi <= 2": (21, False),
    "7 - vi * 2 > 0": (4, False),
    "vi >= 0": (24, False),
    "vi < 100": (24, False),
    "vi >= 4 and vi >= 6 and vi < 9": (3, False),
    "vi % 2 == 0": (24, True),
    "vi >= 3 and vi % 3 != 1": (21, True),
    "vi < 3 or vi > 20": (24, True),
    "vi < 0": (0, False),
    "vi > 9 and vi < 5": (0, False),
    "T.likely(vi < 7)": (7, False),
    "vi // 4 == 2": (24, True),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(condition: str) -> None:
    f = one(condition)
    x = rng(16, dtype="int32")
    want = run(f, x, np.full(24, -5, "int32"))
    sch = Schedule(f)
    loop = sch.get_loops("pad")[0]
    sch.decompose_padding("pad", loop)
    np.testing.assert_array_equal(run(sch.mod, x, np.full(24, -5, "int32")), want)
    extent, guarded = CONDITIONS[condition]
    assert sch.get(loop).extent.value == extent
    assert ("T.where" in sch.mod.script()) == guarded


@pytest.mark.parametrize(
    ("value", "pad", "form"),
    [
        ("X[vi - 4]", "0", "T.Select(C, V, P)"),
        ("X[vi - 4]", "0", "T.if_then_else(not (C), P, V)"),
        ("X[vi - 4] * 2 + vi", "vi * 3", "T.if_then_else(C, V, P)"),
        ("X[19 - vi]", "1", "(V) if (C) else (P)"),
        ("T.int32(9)", "1", "T.if_then_else(C, V, P)"),
    ],
)
def test_forms(value: str, pad: str, form: str) -> None:
    f = one("vi >= 4 and vi < 20", value, pad, form)
    x = rng(16, dtype="int32")
    sch = Schedule(f)
    sch.decompose_padding("pad", sch.get_loops("pad")[0])
    vi = np.arange(24)
    inside = {"X[vi - 4]": x, "X[vi - 4] * 2 + vi": x * 2 + vi[4:20], "X[19 - vi]": x[::-1]}.get(value, 9)
    want = np.broadcast_to(eval(pad), (24,)).copy()
    want[4:20] = inside
    np.testing.assert_array_equal(run(sch.mod, x, np.full(24, -5, "int32")), want)


test_forms = pytest.mark.filterwarnings("ignore::tirscript.diagnostics.BoundsWarning")(test_forms)


def test_symbolic_shapes() -> None:
    @T.prim_func
    def f(a: T.handle, o: T.handle):
        n = T.int32()
        X = T.match_buffer(a, (n,), "float32")
        Y = T.match_buffer(o, (n + 5,), "float32")
        for i in range(n + 5):
            with T.block("pad"):
                vi = T.axis.spatial(n + 5, i)
                Y[vi] = T.if_then_else(vi >= 2 and vi < n + 2, X[vi - 2], T.float32(-1))

    for factor in (None, 4):
        sch = Schedule(f)
        loop = sch.get_loops("pad")[0]
        if factor is not None:
            loop = sch.split(loop, [None, factor])[0]
        sch.decompose_padding("pad", loop)
        assert ("T.where" in sch.mod.script()) == (factor is not None)
        for n in (0, 1, 7):
            x = rng(n)
            want = np.concatenate([[-1, -1], x, [-1, -1, -1]]).astype("float32")
            np.testing.assert_array_equal(run(sch.mod, x, np.zeros(n + 5, "float32")), want)


def test_neighbours() -> None:
    @T.prim_func
    def f(X: T.Buffer((4, 6), "int32"), Y: T.Buffer((4, 8), "int32"), Z: T.Buffer((4,), "int32")):
        for i in range(4):
            for j in range(8):
                with T.block("pad"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = T.if_then_else(vj >= 1 and vj < 7, X[vi, vj - 1], 0)
            with T.block("Z"):
                vi = T.axis.spatial(4, i)
                Z[vi] = Y[vi, 3] + Y[(vi + 1) % 4, 0]

    x, zero = rng(4, 6, dtype="int32"), np.zeros(4, "int32")
    y = np.full((4, 8), 5, "int32")
    want = run(f, x, y, zero)
    sch = Schedule(f)
    i, j = sch.get_loops("pad")
    assert not sch.can_decompose_padding("pad", i)
    e = refused(sch, "other-access", "pad", i)
    assert 'block "Z" inside it touches Y' in str(e)
    sch.decompose_padding("pad", j)
    np.testing.assert_array_equal(run(sch.mod, x, y, zero), want)


def refused(sch: Schedule, code: str, block: Any, loop: Any) -> Any:
    before = sch.mod
    with pytest.raises(ts.ScheduleError, match=rf"\[{code}\]") as caught:
        sch.decompose_padding(block, loop)
    assert caught.value.code == code
    str(caught.value)
    assert all(sch.mod[n] is before[n] for n in before.names())
    return caught.value


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.AxisWarning")
def test_refusals() -> None:
    sch = Schedule(matmul)
    refused(sch, "not-complete", "C", sch.get_loops("C")[0])
    assert not sch.can_decompose_padding("C", sch.get_loops("C")[0])
    for form in ("X[vi % 16]", "T.if_then_else(vi < 3, X[vi], X[0])"):
        sch = Schedule(one("", form=form))
        refused(sch, "no-padding", "pad", sch.get_loops("pad")[0])
    sch = Schedule(one("X[vi % 16] > 0"))
    refused(sch, "data-dependent", "pad", sch.get_loops("pad")[0])
    sch = Schedule(one("vi > 3", "Y[vi - 1]"))
    e = refused(sch, "reads-itself", "pad", sch.get_loops("pad")[0])
    assert "may read Y" in str(e)
    sch = Schedule(
        ts.parse(one("vi > 3").script().replace("Y[vi] =", "Y[vi // 2] =").replace("Y[vi])", "Y[vi // 2])"))
    )
    refused(sch, "shared-cell", "pad", sch.get_loops("pad")[0])
    sch = Schedule(one("vi > 3"))
    refused(sch, "wrong-handle", "pad", "i")
    with pytest.raises(ts.ScheduleError, match="wrong-handle"):
        sch.can_decompose_padding("pad", 3)
    with pytest.raises(ts.ScheduleError, match="unknown-block"):
        sch.can_decompose_padding("padding", sch.get_loops("pad")[0])

    @T.prim_func
    def f(X: T.Buffer((4,), "int32"), Y: T.Buffer((6,), "int32"), Z: T.Buffer((6,), "int32")):
        for i in range(6):
            if X[0] > 0:
                with T.block("pad"):
                    vi = T.axis.spatial(6, i)
                    Y[vi] = T.if_then_else(vi < 4, X[vi], 0)
        for i in range(6):
            with T.block("Z"):
                Z[i] = T.if_then_else(i < 4, X[i], 0)

    sch = Schedule(f)
    refused(sch, "statement-between", "pad", sch.get_loops("pad")[0])
    refused(sch, "loop-not-around", "pad", sch.get_loops("Z")[0])
    e = refused(sch, "no-padding", "Z", sch.get_loops("Z")[0])
    assert "uses the loop `i` without an axis" in str(e)
