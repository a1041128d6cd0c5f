"""Functions of attributes and of numbers: what is no operator on tensors."""

from __future__ import annotations

import itertools

import pytest

import tirscript as ts
from tirscript import te, topi
from tirscript.arith import Analyzer
from tirscript.ir import ops


def value(e):
    found = Analyzer().simplify(ops.as_expr(e))
    return found.value


SLICES = [(0, 5, 1), (1, 8, 3), (2, 3, 2), (7, 0, -2), (6, 1, -1), (4, 4, 1), (0, 9, 4)]


@pytest.mark.parametrize(("b", "e", "s"), SLICES)
def test_indices_of_slices(b, e, s):
    inside = list(range(b, e, s))
    for i in range(9):
        at = [ops.const(n) for n in (b, e, s)]
        assert bool(value(topi.within_index(*at, ops.const(i)))) == (i in inside)
        if i in inside:
            assert value(topi.make_idx(*at, ops.const(9), ops.const(i))) == inside.index(i)


def test_constants_are_read():
    n = te.var("n")
    for v in (0, 3, -7, 2**40):
        assert topi.nn.get_const_int(v) == topi.nn.get_const_int(ops.const(v, "int64")) == v
        assert topi.nn.equal_const_int(ops.const(v, "int64"), v)
        assert not topi.nn.equal_const_int(ops.const(v, "int64"), v + 1)
    assert not topi.nn.equal_const_int(n, 1)
    assert topi.nn.get_const_tuple((ops.const(2), 5, ops.const(-1))) == (2, 5, -1)
    mixed = topi.nn.get_const_tuple((3, n))
    assert mixed[0] == 3 and mixed[1] is n
    with pytest.raises(ts.TirscriptError):
        topi.nn.get_const_int(n)


@pytest.mark.parametrize("kernel", list(itertools.product((1, 2, 3, 4, 5), repeat=2)), ids=str)
def test_padding_in_every_spelling(kernel):
    h, w = kernel
    same = ((h - 1) // 2, (w - 1) // 2, (h - 1) - (h - 1) // 2, (w - 1) - (w - 1) // 2)
    pads = topi.nn.get_pad_tuple("SAME", kernel)
    # What is padded in all keeps the extent at stride 1; the halves differ by at most one.
    assert (pads[0] + pads[2], pads[1] + pads[3]) == (h - 1, w - 1)
    assert all(abs(a - b) <= 1 for a, b in ((pads[0], pads[2]), (pads[1], pads[3])))
    assert sorted(pads) == sorted(same)
    assert topi.nn.get_pad_tuple("VALID", kernel) == (0, 0, 0, 0)
    assert topi.nn.get_pad_tuple(2, kernel) == (2, 2, 2, 2)
    assert topi.nn.get_pad_tuple((1, 2), kernel) == (1, 2, 1, 2)
    assert topi.nn.get_pad_tuple((1, 2, 3, 4), kernel) == (1, 2, 3, 4)
    assert topi.nn.get_pad_tuple1d(3, (h,)) == (3, 3) and topi.nn.get_pad_tuple1d((1, 2), (h,)) == (1, 2)
    assert sum(topi.nn.get_pad_tuple1d("SAME", (h,))) == h - 1
    assert topi.nn.get_pad_tuple3d((1, 2, 3), (h, w, 2)) == (1, 2, 3, 1, 2, 3)
    assert topi.nn.get_pad_tuple3d("VALID", (h, w, 2)) == (0,) * 6
    assert topi.nn.get_pad_tuple_generic((1, 2), kernel) == ([1, 2], [1, 2])
    assert topi.nn.get_pad_tuple_generic((1, 2, 3, 4), kernel) == ([1, 2], [3, 4])


@pytest.mark.parametrize("shape", [(3, 4), (5,), (2, 1, 3), (0, 2), (1, 1)])
def test_padded_shapes(shape):
    x = te.placeholder(shape)
    before, after = list(range(len(shape))), [2] * len(shape)
    want = [n + b + a for n, b, a in zip(shape, before, after, strict=True)]
    assert [int(n) for n in topi.nn.get_padded_shape(x, before, after)] == want
    assert [int(n) for n in topi.nn.get_padded_shape(x, before)] == [
        n + 2 * b for n, b in zip(shape, before, strict=True)
    ]
