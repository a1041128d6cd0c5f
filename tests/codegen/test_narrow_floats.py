"""float16, bfloat16 and floats of 8 bits: every value, every conversion, arithmetic rounded at each step."""

from __future__ import annotations

import bisect
import math
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirscript as ts
from tirscript.codegen.llvm.narrow import FORMATS, nearest
from tirscript.ir import dtype as dt
from tirscript.runtime.ndarray import numpy_dtype

# NumPy warns where nans and infinities are made.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NARROW = list(FORMATS)
SUB = ["int1", "int2", "int4", "uint1", "uint2", "uint4"]
INTS = [f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)]
STRICT = "llvm -fp-contract=off -math=scalar"


def elementwise(text: str, given: list[Any], out: str, lanes: int = 8, target: str = STRICT) -> Any:
    """``text`` of ``a``, ``b`` ... for each element."""
    names = "AB"[: len(given)]
    count = len(given[0])
    padded = [np.resize(a, -(-count // 8) * 8) for a in given]
    for k, a in zip("ab", "AB", strict=True):
        text = text.replace(f"${k}", f"{a}[i * 8 + j]")
    params = ", ".join(
        f'{n}: T.Buffer(({len(a)},), "{a.dtype.name}")' for n, a in zip(names, padded, strict=True)
    )
    kind = "vectorized" if lanes > 1 else "serial"
    f = ts.parse(f"""
@T.prim_func
def f({params}, O: T.Buffer(({len(padded[0])},), "{out}")):
    for i in range({len(padded[0]) // 8}):
        for j in T.{kind}(8):
            O[i * 8 + j] = {text}
""")
    result = np.zeros(len(padded[0]), numpy_dtype(out))
    ts.build(f, target)(*padded, result)
    return result[:count]


def all_values(dtype: str) -> Any:
    kind = numpy_dtype(dtype)
    if dtype in SUB:
        low, high = dt.bounds(dtype)
        return np.arange(low, high + 1).astype(kind)
    return np.arange(1 << 8 * kind.itemsize).astype(f"uint{8 * kind.itemsize}").view(kind)


def assert_same(got: Any, want: Any, name: str = "") -> None:
    """Equal numbers and signs of zeros; nans where nans are due."""
    g, w = got.astype("float64"), want.astype("float64")
    np.testing.assert_array_equal(g, w, err_msg=name)
    fine = ~np.isnan(w)
    np.testing.assert_array_equal(np.signbit(g[fine]), np.signbit(w[fine]), err_msg=name)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", NARROW)
def test_every_value_widens_and_comes_back(dtype: str, lanes: int) -> None:
    x = all_values(dtype)
    for wide in ("float32", "float64"):
        assert_same(elementwise(f'T.Cast("{wide}", $a)', [x], wide, lanes), x.astype(wide), wide)
        assert_same(elementwise(f'T.Cast("{dtype}", $a)', [x.astype(wide)], dtype, lanes), x, wide)
    back = elementwise("$a", [x], dtype, lanes)
    assert_same(back, x)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("dtype", [n for n in NARROW if n != "float8_e8m0fnu"])
def test_ties_go_to_even_and_nothing_is_rounded_twice(dtype: str, source: str, lanes: int) -> None:
    """Between neighbours: the middle goes to the even code, the next numbers on both sides to theirs."""
    codes = all_values(dtype)
    value = codes.astype("float64")
    order = np.flatnonzero(np.isfinite(value) & ~np.signbit(value))
    order = order[np.argsort(value[order])]
    low, high = order[:-1], order[1:]
    middle = ((value[low] + value[high]) / 2).astype(source)
    exact = middle.astype("float64") == (value[low] + value[high]) / 2
    low, high, middle = low[exact], high[exact], middle[exact]
    even = np.where(low % 2 == 0, low, high)
    up, down = np.nextafter(middle, np.array(np.inf, source)), np.nextafter(middle, np.array(0, source))
    for x, want in ((middle, even), (up, high), (down, low)):
        got = elementwise(f'T.Cast("{dtype}", $a)', [x], dtype, lanes)
        assert_same(got, codes[want])
        negative = elementwise(f'T.Cast("{dtype}", $a)', [-x], dtype, lanes)
        np.testing.assert_array_equal(negative.astype("float64"), -codes[want].astype("float64"))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", NARROW)
def test_float32_as_ml_dtypes_has_it(dtype: str, lanes: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1 << 32, 60_000, dtype="uint64").astype("uint32").view("float32")
    near = (rng.standard_normal(20_000) * 10.0 ** rng.integers(-8, 6, 20_000)).astype("float32")
    edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 57344, 65519, 65520, 1e-45], "float32")
    x = np.concatenate([x, near, edges, -edges])
    with np.errstate(all="ignore"):
        want = x.astype(numpy_dtype(dtype))
    assert_same(elementwise(f'T.Cast("{dtype}", $a)', [x], dtype, lanes), want)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_integers_are_rounded_once(dtype: str, lanes: int) -> None:
    for source in ("int32", "uint32", "int64", "uint64", "int16", "bool"):
        low, high = dt.bounds(source)
        points = {0, 1, low, high, high - 1}
        for e in range(1, high.bit_length()):
            for m in (256, 257, 258, 259, 385, 2048, 2049, 2050, 2051):
                points |= {(m << e >> 8) + d for d in (-1, 0, 1)} | {-(m << e >> 8) + d for d in (-1, 0, 1)}
        numbers = sorted(p for p in points if low <= p <= high)
        x = np.array(numbers, source)
        want = np.array([nearest_exactly(Fraction(n), dtype) for n in numbers])
        assert_same(elementwise(f'T.Cast("{dtype}", $a)', [x], dtype, lanes), want, source)


@cache
def finite_values(dtype: str) -> list[Fraction]:
    """The finite numbers that are not negative, by code."""
    value = all_values(dtype).astype("float64")
    value = value[np.isfinite(value) & ~np.signbit(value)]
    return [Fraction(float(v)) for v in value]


def nearest_exactly(x: Fraction, dtype: str) -> float:
    """By exact arithmetic among all values of the dtype; ties to the even code."""
    value = finite_values(dtype)
    size = abs(x)
    k = bisect.bisect_right(value, size) - 1
    if k + 1 == len(value):
        step = value[-1] - value[-2]
        past = size - value[-1] - step / 2
        if past > 0 or (past == 0 and k % 2 == 1):
            return math.copysign(math.inf if FORMATS[dtype].kind == "ieee" else math.nan, x)
    else:
        over = 2 * size - value[k] - value[k + 1]
        k += over > 0 or (over == 0 and k % 2 == 1)
    return math.copysign(float(value[k]), x)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("source", NARROW)
def test_to_integers_they_saturate(source: str, lanes: int) -> None:
    x = all_values(source)
    for dtype in [*INTS, *SUB]:
        low, high = dt.bounds(dtype)
        want = [
            0 if v != v else high if v >= high else low if v <= low else int(v)
            for v in x.astype("float64").tolist()
        ]
        got = elementwise(f'T.Cast("{dtype}", $a)', [x], dtype, lanes)
        assert [int(v) for v in got] == want, dtype
    got = elementwise('T.Cast("bool", $a)', [x], "bool", lanes)
    np.testing.assert_array_equal(got, x.astype("float64") != 0)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("source", [*SUB, *INTS, "bool"])
def test_integers_wrap_at_their_own_width(source: str, lanes: int) -> None:
    low, high = dt.bounds(source)
    numbers = sorted({low, low + 1, -1, 0, 1, 2, 3, 7, 8, 9, 15, 16, 100, high - 1, high})
    numbers = [n for n in numbers if low <= n <= high]
    x = np.array(numbers, source if source not in SUB else "int8").astype(numpy_dtype(source))
    for dtype in [*SUB, *(INTS if source in SUB else [])]:
        got = elementwise(f'T.Cast("{dtype}", $a)', [x], dtype, lanes)
        assert [int(v) for v in got] == [dt.wrap(n, dtype) for n in numbers], dtype


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", SUB)
def test_small_integers_compute_at_their_width(dtype: str, lanes: int) -> None:
    values = [int(v) for v in all_values(dtype)]
    pairs = [(p, q) for p in values for q in values]
    a, b = [np.array([p[k] for p in pairs]).astype(numpy_dtype(dtype)) for k in (0, 1)]

    def floor(x: int, y: int) -> int:
        return x // y if y else 0

    def rest(x: int, y: int) -> int:
        return x % y if y else 0

    bits = dt.info(dtype).bits
    table: dict[str, Any] = {
        "$a + $b": lambda x, y: x + y,
        "$a - $b": lambda x, y: x - y,
        "$a * $b": lambda x, y: x * y,
        "$a // $b": floor,
        "$a % $b": rest,
        "T.max($a, $b)": max,
        "T.min($a, $b)": min,
        "$a & $b": lambda x, y: x & y,
        "$a ^ $b": lambda x, y: x ^ y,
        "$a << $b": lambda x, y: x << y if 0 <= y < bits else 0,
    }
    for text, f in table.items():
        want = [dt.wrap(f(p, q), dtype) for p, q in pairs]
        for target in (STRICT, "python"):
            got = elementwise(text, [a, b], dtype, lanes, target)
            assert [int(v) for v in got] == want, (text, target)
    got = elementwise("$a < $b", [a, b], "bool", lanes)
    assert got.tolist() == [p < q for p, q in pairs]


OPERATIONS: dict[str, Any] = {
    "$a + $b": np.add, "$a - $b": np.subtract, "$a * $b": np.multiply, "$a / $b": np.true_divide,
    "T.max($a, $b)": np.maximum, "T.min($a, $b)": np.minimum, "$a // $b": np.floor_divide,
    "$a % $b": np.remainder,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [n for n in NARROW if n != "float8_e8m0fnu"])
def test_arithmetic_is_that_of_numpy(dtype: str) -> None:
    kind = numpy_dtype(dtype)
    rng = np.random.default_rng(2)
    if kind.itemsize == 2:
        a, b = rng.integers(0, 1 << 16, (2, 8192), dtype="uint32").astype("uint16").view(kind)
    else:
        codes = np.arange(256, dtype="uint8")
        a, b = np.repeat(codes, 256).view(kind), np.tile(codes, 256).view(kind)
    for text, f in OPERATIONS.items():
        want = f(a, b).astype("float64")
        for lanes in (1, 8):
            got = elementwise(text, [a, b], dtype, lanes)
            np.testing.assert_array_equal(got.astype("float64"), want, err_msg=text)
        got = elementwise(text, [a[:256], b[:256]], dtype, 1, "python")
        np.testing.assert_array_equal(got.astype("float64"), want[:256], err_msg=text)
    for text, g in {"T.sqrt($a)": np.sqrt, "T.abs($a)": np.abs, "T.floor($a)": np.floor}.items():
        got = elementwise(text, [a], dtype)
        np.testing.assert_array_equal(got.astype("float64"), g(a).astype("float64"), err_msg=text)
    np.testing.assert_array_equal(elementwise("$a < $b", [a, b], "bool"), a < b)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_each_step_is_rounded(dtype: str) -> None:
    """a*b + c is not contracted, and a sum of three is rounded twice, in default builds, too."""
    kind = numpy_dtype(dtype)
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 4096)).astype(kind)
    for target in ("llvm", STRICT, "python"):
        n = 256 if target == "python" else 4096
        got = elementwise("$a * $b + $a", [a[:n], b[:n]], dtype, 8, target)
        assert_same(got, a[:n] * b[:n] + a[:n], target)


def test_fma_is_rounded_once() -> None:
    codes = np.random.default_rng(4).integers(0, 0x7C00, (2, 2000)).astype("uint16")
    a, b = codes.view("float16")
    got = elementwise("T.fma($a, $b, $a)", [a, b], "float16")
    numbers = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    assert_same(got, np.array([nearest_exactly(x * y + x, "float16") for x, y in numbers]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_functions_are_within_an_ulp(dtype: str) -> None:
    x = all_values(dtype)
    wide = x.astype("float64")
    x = x[np.isfinite(wide) & (np.abs(wide) < 10) & (np.abs(wide) > 1e-3)]
    for text, f in {"T.exp($a)": np.exp, "T.tanh($a)": np.tanh, "T.sin($a)": np.sin}.items():
        for lanes in (1, 8):
            got = elementwise(text, [x], dtype, lanes, "llvm").astype("float64")
            exact = f(x.astype("float64"))
            exponent = np.maximum(np.floor(np.log2(np.abs(exact))), FORMATS[dtype].least_exponent)
            step = 2.0 ** (exponent - FORMATS[dtype].mantissa)
            assert (np.abs(got - exact) <= 0.51 * step).all(), text


def test_scalar_parameters_results_and_constants() -> None:
    for target in ("llvm", "python"):
        f = ts.build(
            ts.parse("""
@T.prim_func
def f(x: T.float16, y: T.bfloat16, z: T.float8_e4m3fn) -> T.float16:
    return x + T.Cast("float16", y) * T.Cast("float16", z) + T.float16(0.1)
"""),
            target,
        )
        half = np.float16
        y = ml_dtypes.bfloat16(0.3)
        want = half(1.7) + half(float(y)) * half(float(ml_dtypes.float8_e4m3fn(3.3))) + half(0.1)
        assert f(1.7, 0.3, 3.3) == float(want), target
        g = ts.build(ts.parse("@T.prim_func\ndef g(x: T.int4) -> T.int4:\n    return x + x\n"), target)
        assert g(7) == -2
        with pytest.raises(ts.CallValueError, match="int4"):
            g(8)


def test_arrays_must_have_the_dtype() -> None:
    f = ts.build(ts.parse('@T.prim_func\ndef f(A: T.Buffer((4,), "bfloat16")):\n    A[0] = A[1] + A[2]\n'))
    a = np.array([0, 1, 2, 3], ml_dtypes.bfloat16)
    f(a)
    assert float(a[0]) == 3
    for wrong in ("float16", "uint16"):
        with pytest.raises(ts.CallTypeError, match="bfloat16"):
            f(a.view(wrong))


def test_reinterpret_gives_the_bits() -> None:
    for dtype in NARROW:
        x = all_values(dtype)
        word = f"uint{FORMATS[dtype].bits}"
        keep = ~np.isnan(x.astype("float32"))
        for lanes in (1, 8):
            got = elementwise(f'T.reinterpret("{word}", $a)', [x], word, lanes)
            np.testing.assert_array_equal(got[keep], x.view(word)[keep])
            back = elementwise(f'T.reinterpret("{dtype}", $a)', [x.view(word)], dtype, lanes)
            assert_same(back, x)


def test_nearest_agrees_with_ml_dtypes() -> None:
    x = np.random.default_rng(5).standard_normal(2000) * 10.0 ** np.arange(-10, 10).repeat(100)
    for dtype in NARROW:
        want = x.astype("float32").astype(numpy_dtype(dtype)).astype("float64")
        got = np.array([nearest(v, dtype) for v in x.astype("float32")])
        np.testing.assert_array_equal(got, want, err_msg=dtype)


def test_code_for_machines_without_float16() -> None:
    """The same numbers without the conversions of the machine."""
    x = all_values("float16")
    for target in ("llvm -mcpu=x86-64", STRICT):
        got = elementwise(
            'T.Cast("float16", T.Cast("float32", $a) * T.float32(1.001))', [x], "float16", 8, target
        )
        with np.errstate(all="ignore"):
            assert_same(got, (x.astype("float32") * np.float32(1.001)).astype("float16"), target)
