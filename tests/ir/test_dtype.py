"""Dtypes against NumPy and ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest

from tirscript.ir import dtype as dt


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_bounds_and_wrap_are_numpys(name):
    limits = np.iinfo(name)
    assert dt.bounds(name) == (limits.min, limits.max)
    for value in (0, -1, 1, 127, 128, 255, 256, -129, 2**31, 2**63, -(2**63), 2**64 + 5):
        assert dt.wrap(value, name) == int(np.array([value & (2**64 - 1)], "uint64").astype(name)[0])


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_narrow_integers_are_ml_dtypes(name):
    limits = ml_dtypes.iinfo(name)
    assert dt.bounds(name) == (limits.min, limits.max)


def test_parts():
    assert dt.info("float32x4") == ("float", 32, 4, "float32", False)
    assert dt.info("bfloat16x8").base == "bfloat16"
    assert dt.info("boolx16").lanes == 16
    assert dt.info("float32xvscalex4").scalable
    assert dt.info("float8_e4m3fn").bits == 8
    assert dt.with_lanes("int8x4", 1) == "int8"
    assert dt.with_lanes("int8", 4) == "int8x4"


@pytest.mark.parametrize(
    "bad", ["float33", "int", "float32x1", "float32x0", "handlex4", "", "x4", "float32 x4"]
)
def test_what_is_no_dtype(bad):
    with pytest.raises(ValueError, match="is no dtype"):
        dt.info(bad)


def test_suggestion():
    with pytest.raises(ValueError, match="did you mean `float32`"):
        dt.info("flaot32")


def test_normalize_takes_what_users_write():
    assert dt.normalize(np.dtype("int16")) == "int16"
    assert dt.normalize(np.float64) == "float64"
    assert dt.normalize(ml_dtypes.bfloat16) == "bfloat16"
    assert dt.normalize(np.bool_) == "bool"
    assert dt.normalize("e5m2_float8") == "float8_e5m2"
    assert dt.normalize(bool) == "bool"
