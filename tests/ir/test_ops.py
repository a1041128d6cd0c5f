"""Typed constructors: promotion, constants, indexing."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.diagnostics import TirscriptError
from tirscript.ir import ops
from tirscript.ir.buffer import BufferRegion, make_buffer
from tirscript.ir.expr import (
    EQ,
    NE,
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    FloatImm,
    IntImm,
    Mul,
    Not,
    Ramp,
    Select,
    Sub,
    Var,
)

INTS = ["int8", "int16", "int32", "int64"]
UINTS = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def bits(name):
    return int("".join(filter(str.isdigit, name)))


@pytest.mark.parametrize(("a", "b"), list(itertools.product(INTS + UINTS + FLOATS, repeat=2)))
def test_promotion(a, b):
    """The rule of the language: floats win, else the wider; mixed signs give the signed of that width."""
    got = ops.add(Var("x", a), Var("y", b)).dtype
    if a in FLOATS or b in FLOATS:
        want = max((d for d in (a, b) if d in FLOATS), key=bits)
    elif a[0] == b[0]:
        want = max(a, b, key=bits)
    else:
        want = f"int{max(bits(a), bits(b))}"
    assert got == want


def test_promotion_casts_only_the_side_that_differs():
    x, y = Var("x", "int32"), Var("y", "int64")
    e = x + y
    assert isinstance(e, Add)
    assert isinstance(e.a, Cast)
    assert e.b is y


@pytest.mark.parametrize("other", ["bfloat16", "float8_e4m3fn"])
def test_floats_without_a_common_dtype(other):
    same_width = "float16" if other == "bfloat16" else "float8_e5m2"
    with pytest.raises(TirscriptError, match="no common dtype"):
        ops.add(Var("x", same_width), Var("y", other))


def test_bool_counts_as_zero_or_one():
    b = Var("b", "bool")
    assert (b + Var("x", "float64")).dtype == "float64"
    assert (b + b).dtype == "int32"
    assert (b + 1).dtype == "int32"
    assert ops.eq(b, True).b.dtype == "bool"


def test_a_literal_takes_the_dtype_of_the_other_side():
    for name in INTS + UINTS:
        e = Var("x", name) + 3
        assert (e.dtype, e.b.value) == (name, 3)
    assert (Var("x", "float16") * 2).b.dtype == "float16"
    assert (1 - Var("x", "int64")).a.dtype == "int64"
    mixed = Var("x", "int32") * 0.5
    assert (mixed.dtype, type(mixed.a)) == ("float32", Cast)


@pytest.mark.parametrize(
    ("dtype", "value"), [("int8", 128), ("uint8", -1), ("uint8", 256), ("int32", 2**31), ("bool", 2)]
)
def test_an_integer_constant_must_fit(dtype, value):
    with pytest.raises(TirscriptError, match=f"does not fit {dtype}"):
        ops.const(value, dtype)


def test_default_dtypes_of_constants():
    assert ops.const(2**31 - 1).dtype == "int32"
    assert ops.const(2**31).dtype == "int64"
    assert ops.const(-(2**31)).dtype == "int32"
    assert ops.const(1.0).dtype == "float32"
    assert ops.const(True).dtype == "bool"
    assert type(ops.const(1, "int8x4")) is Broadcast


@given(st.floats(width=64, allow_nan=False, allow_infinity=False), st.sampled_from(["float16", "float32"]))
def test_float_constants_round_as_numpy_does(value, dtype):
    with np.errstate(over="ignore"):
        want = float(np.dtype(dtype).type(value))
    if math.isinf(want):
        with pytest.raises(TirscriptError, match="does not fit"):
            ops.const(value, dtype)
    else:
        got = ops.const(value, dtype).value
        assert got == want
        assert math.copysign(1, got) == math.copysign(1, want)


@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from(["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4"]),
)
def test_narrow_float_constants_round_as_ml_dtypes_does(value, dtype):
    want = float(np.array(value, "float32").astype(getattr(ml_dtypes, dtype)))
    if math.isinf(want) or math.isnan(want):
        with pytest.raises(TirscriptError, match="does not fit"):
            ops.const(value, dtype)
    else:
        assert ops.const(value, dtype).value == want


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "float8_e5m2"])
def test_special_float_constants_are_kept(dtype):
    assert ops.const(math.inf, dtype).value == math.inf
    assert math.isnan(ops.const(math.nan, dtype).value)
    assert math.copysign(1, ops.const(-0.0, dtype).value) == -1


def test_division_of_integers_is_refused_by_name():
    x = Var("x")
    with pytest.raises(TirscriptError, match=r"`//`.*T\.truncdiv"):
        _ = x / 2
    assert (Var("f", "float32") / 2).dtype == "float32"
    assert (x / 2.0).dtype == "float32"


def test_negation():
    x = Var("x")
    e = -x
    assert isinstance(e, Mul)
    assert e.b.value == -1
    assert (-ops.const(5)).value == -5
    assert type(-Var("u", "uint8")) is Sub
    assert math.copysign(1, (-FloatImm(0.0)).value) == -1


def test_logic_takes_bools_and_conditions_take_numbers():
    b, x = Var("b", "bool"), Var("x")
    assert type(ops.logical_and(b, True)) is And
    assert type(ops.logical_not(b)) is Not
    assert type(ops.logical_not(x)) is EQ
    assert type(ops.condition(x)) is NE
    assert ops.condition(b) is b
    with pytest.raises(TirscriptError, match="`and` takes bools"):
        ops.logical_and(x, b)


def test_bit_operators():
    x = Var("x", "uint8")
    assert (x & 3).op == "bitwise_and"
    assert (x << 1).dtype == "uint8"
    assert (~x).op == "bitwise_not"
    assert type(~Var("b", "bool")) is Not
    with pytest.raises(TirscriptError, match="takes integers"):
        _ = Var("f", "float32") & 1


def test_cast():
    x = Var("x")
    assert ops.cast(x, "int32") is x
    assert type(ops.cast(x, "float16")) is Cast
    assert ops.cast(3, "int8").value == 3
    vector = ops.cast(x, "float32x4")
    assert type(vector) is Broadcast
    assert vector.dtype == "float32x4"
    with pytest.raises(TirscriptError, match="lanes"):
        ops.cast(Ramp(x, ops.const(1), 4), "int32x8")


def test_mathematics_converts_integers():
    assert ops.math_call("exp", Var("x")).dtype == "float32"
    assert ops.math_call("exp", Var("x", "int64")).dtype == "float64"
    assert ops.math_call("pow", Var("x", "float16"), 2).dtype == "float16"
    assert ops.math_call("isnan", Var("v", "float32x4")).dtype == "boolx4"
    with pytest.raises(TirscriptError, match="exp takes 1 argument, 2 given"):
        ops.math_call("exp", 1.0, 2.0)


def test_vectors_and_scalars():
    v = Ramp(Var("x"), ops.const(1), 4)
    e = v + 1
    assert (e.dtype, type(e.b)) == ("int32x4", Broadcast)
    assert type(ops.select(v < 2, 1.0, 0.0)) is Select
    assert ops.select(v < 2, 1.0, 0.0).dtype == "float32x4"
    with pytest.raises(TirscriptError, match="4 and 8 lanes"):
        _ = v + Ramp(Var("x"), ops.const(1), 8)


def test_indexing():
    a = make_buffer("A", (ops.const(8), ops.const(16)))
    x = Var("x")
    assert type(a[x, 3]) is BufferLoad
    with pytest.raises(TirscriptError, match="A has 2 dimensions, 3 given"):
        a[x, x, x]
    with pytest.raises(TirscriptError, match="an index is an integer, this is float32"):
        a[x, Var("f", "float32")]
    region = a[x : x + 4, 2:6]
    assert type(region) is BufferRegion
    assert [(type(r.extent), r.extent.value) for r in region.region] == [(IntImm, 4), (IntImm, 4)]
    whole = a[x]
    assert type(whole) is BufferRegion
    assert whole.region[1].extent.value == 16
    ramp = ops.load(a, (x, slice(0, 8, 2)))
    assert ramp.dtype == "float32x4"
    n = Var("n")
    assert a[x : x + n, 0:1].region[0].extent is n


def test_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(Var("x") < 3)


def test_if_then_else_is_lazy_and_select_is_not():
    x = Var("x")
    lazy = ops.if_then_else(x > 0, x, 0)
    assert isinstance(lazy, Call)
    assert lazy.op == "if_then_else"
    assert lazy.args[2].dtype == "int32"


@pytest.mark.parametrize("build", [ops.floordiv, ops.floormod, ops.truncdiv, ops.truncmod, ops.ceildiv])
def test_a_constant_zero_divisor_is_an_error(build):
    with pytest.raises(TirscriptError, match="division by zero"):
        build(Var("x"), 0)
    assert build(Var("x"), Var("y")).dtype == "int32"
    assert ops.div(Var("f", "float32"), 0).dtype == "float32"
