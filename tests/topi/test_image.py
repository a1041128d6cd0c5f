"""What operators on images refuse (their results: test_operators.py)."""

from __future__ import annotations

import pytest

import tirscript as ts
from tirscript import te, topi


def test_what_is_refused():
    x = te.placeholder((1, 3, 8, 8))
    for f in (
        lambda: topi.image.resize2d(x, None, (4, 4), method="lanczos"),
        lambda: topi.image.resize2d(x, None, (4, 4), coordinate_transformation_mode="middle"),
        lambda: topi.image.resize2d(x, None, (4, 4), method="nearest_neighbor", rounding_method="up"),
        lambda: topi.image.grid_sample(x, te.placeholder((1, 2, 4, 4)), "cubic"),
        lambda: topi.nn.upsampling(x, 2, 2, method="area"),
    ):
        with pytest.raises(ts.TirscriptError, match="mode"):
            f()
    with pytest.raises(ts.TirscriptError, match="layout"):
        topi.image.resize2d(x, None, (4, 4), layout="NCW")
