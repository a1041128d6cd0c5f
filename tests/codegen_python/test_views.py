"""Generated Python never reaches memory outside the array that it views."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.arith import simplify
from tirscript.codegen.python.support import view
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import const_int
from tirscript.lowering.lower_opaque_block import extents


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "last"),
    [((3, 4), (1, 5), 0, 17), ((4,), None, 2, 5), ((2, 2), (-1, -2), 3, 3), ((), None, 4, 4)],
)
def test_a_view_lies_in_its_memory(shape, strides, offset, last):
    memory = np.arange(last + 1, dtype="int32")
    flat = view(memory, shape, "int32", strides=strides, offset=offset)
    assert flat.shape == shape and flat.max() == last
    with pytest.raises(ts.AssertFailed, match="out-of-memory"):
        view(memory[:last].copy(), shape, "int32", strides=strides, offset=offset)
    with pytest.raises(ts.AssertFailed, match="out-of-memory"):
        view(memory, shape, "int32", strides=strides, offset=offset - 5)


def test_a_view_may_reach_over_the_array_it_comes_from():
    memory = np.arange(10, dtype="float32")
    part = view(memory, (2,), "float32", offset=6)
    assert view(part, (10,), "float32", offset=-6).tolist() == list(range(10))


def test_strided_allocations_are_as_big_as_they_reach():
    shape = (const_int(3), const_int(4))
    strided = make_buffer("B", shape, strides=(const_int(1), const_int(5)))
    assert [simplify(n).value for n in extents(strided)] == [18]
    assert [simplify(n).value for n in extents(make_buffer("B", shape, elem_offset=const_int(6)))] == [18]
    assert [simplify(n).value for n in extents(make_buffer("B", shape))] == [3, 4]


@pytest.mark.parametrize("target", ["python", "python -checked", "llvm"])
@pytest.mark.parametrize("through", [False, True])
def test_views_of_updates_that_do_not_run(target: str, through: bool) -> None:
    """A guard that leaves out an update leaves out its views, whose regions may lie outside of the buffer."""
    cell = "V[0]" if through else "C[vi]"
    f = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((3, 5), "int32"), C: T.Buffer((3,), "int32")):
    for i, ko, ki in T.grid(3, 2, 5):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(5, ko * 5 + ki)
            T.where(ko < 1)
            s = T.int32()
            R = T.match_buffer(A[vi, vk], (1,), "int32", strides=[s], offset_factor=1)
            t = T.int32()
            V = T.match_buffer(C[vi], (1,), "int32", strides=[t], offset_factor=1)
            with T.init():
                {cell} = 7
            {cell} = {cell} + R[0]
""")
    a = np.arange(15, dtype="int32").reshape(3, 5)
    c = np.zeros(3, "int32")
    ts.build(f, target=target)(a, c)
    assert c.tolist() == (7 + a.sum(1)).tolist()
