"""Every public operator in ten combinations of shapes, dtypes and attributes, symbolic extents included."""

from __future__ import annotations

import inspect
from functools import reduce
from typing import Any

import numpy as np
import pytest

from tirscript import te, topi

from . import cases_elements, cases_image, cases_nn, cases_shapes
from .helper import check_all, evaluate, placeholders
from .table import TABLE, Call, put

# What is not an operator: functions of numbers and of attributes (tested in test_attributes.py).
HELPERS = {
    "make_idx", "within_index", "nn.equal_const_int", "nn.get_const_int", "nn.get_const_tuple",
    "nn.get_pad_tuple", "nn.get_pad_tuple1d", "nn.get_pad_tuple3d", "nn.get_pad_tuple_generic",
    "nn.get_padded_shape",
}  # fmt: skip
# Operators without a tensor whose leading extent could be unknown here.
NO_SYMBOL = {
    "full", "arange", "eye", "const_vector", "broadcast_to", "nn.conv2d_hwcn", "nn.batch_to_space_nd",
}  # fmt: skip
assert cases_elements and cases_shapes and cases_nn and cases_image


def public() -> list[str]:
    names = [n for n in topi.__all__ if n not in ("nn", "image", "tag")]
    names += [f"nn.{n}" for n in topi.nn.__all__] + [f"image.{n}" for n in topi.image.__all__]
    return sorted(set(names) - HELPERS)


def operator(name: str) -> Any:
    return reduce(getattr, name.split("."), topi)


def use(f: Any, call: Call, tensors: list[te.Tensor]) -> Any:
    at = iter(tensors)
    filled = put(lambda _: next(at), call)
    return f(*filled.args, **filled.kwargs)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_operator(name: str) -> None:
    entry, f = TABLE[name], operator(name)
    cases = []
    for n, call in enumerate(entry.calls):
        want = entry.reference(*call.args, **call.kwargs)
        want = list(want) if isinstance(want, (list, tuple)) else want
        cases.append((lambda *t, call=call: use(f, call, list(t)), want, call.arrays, n in entry.symbolic))
    check_all(cases, entry.tol)


@pytest.mark.parametrize("name", public())
def test_ten_combinations(name: str) -> None:
    assert callable(operator(name)) and not inspect.isclass(operator(name))
    assert name in TABLE, f"{name} has no cases"
    entry = TABLE[name]
    combinations = {call.words for call in entry.calls}
    assert len(combinations) >= 10, sorted(combinations)
    assert entry.symbolic or name in NO_SYMBOL, "no symbolic extent"


@pytest.mark.parametrize("name", ["nn.conv2d_hwcn", "nn.batch_to_space_nd"])
def test_an_unknown_last_extent(name: str) -> None:
    """Operators whose leading extent is not free: the images of a batch that stands last, the channels."""
    entry, f = TABLE[name], operator(name)
    tried = 0
    for call in entry.calls:
        x, *others = call.arrays
        blocks = len(call.args[1]) if name.endswith("space_nd") else 0
        if x.ndim <= blocks + 1 and blocks:
            continue  # no channels
        tensors = placeholders(x, *others)
        tensors[0] = te.placeholder((*x.shape[:-1], te.var("n")), str(x.dtype), name="X0")
        want = entry.reference(*call.args, **call.kwargs)
        have = evaluate(tensors, use(f, call, tensors), [x, *others], [want.shape])
        np.testing.assert_allclose(have, want, rtol=entry.tol, atol=entry.tol)
        tried += 1
    assert tried >= 3
