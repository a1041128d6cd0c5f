"""Mathematics: errors within what is promised, special values as C has them, scalars as vectors."""

from __future__ import annotations

import itertools
import math
import platform
import re
from pathlib import Path

import numpy as np
import pytest

import tirscript as ts
from tests.codegen.lowered import elementwise_all
from tirscript.codegen.llvm import Options, emit, polynomials
from tirscript.codegen.llvm import accuracy as promised
from tirscript.ir import ops
from tirscript.testing import accuracy

EXTENDED = np.finfo(np.longdouble).nmant > 60
COUNTS = {"float32": 200_000, "float64": 50_000}
DTYPES = ["float16", "bfloat16", "float32", "float64"]
ALL = [*accuracy.ONE, *accuracy.TWO]
x86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="a processor of x86")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ALL)
def test_errors_are_within_the_bound(op: str, dtype: str) -> None:
    """Every float16 and bfloat16 value, a sample of the others."""
    if dtype == "float64" and not EXTENDED:
        pytest.skip("no wider float to compare with")
    found = accuracy.measure(op, dtype, 16, count=COUNTS.get(dtype, 50_000))
    assert found.error <= promised.bound(op, dtype), found


@pytest.mark.skipif(not EXTENDED, reason="no wider float to compare with")
@pytest.mark.parametrize("op", ALL)
def test_scalar_float64_is_within_the_bound(op: str) -> None:
    found = accuracy.measure(op, "float64", 1, count=20_000, target="llvm -O1")
    assert found.error <= promised.bound(op, "float64"), found


INF, NAN = math.inf, math.nan
# What C demands, beside what the largest errors show.
POWERS = [
    (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (0.0, -3.0, INF), (-0.0, -3.0, -INF),
    (-0.0, -2.0, INF), (0.0, 0.0, 1.0), (NAN, 0.0, 1.0), (1.0, NAN, 1.0), (1.0, INF, 1.0), (-1.0, INF, 1.0),
    (-1.0, -INF, 1.0), (2.0, INF, INF), (0.5, INF, 0.0), (2.0, -INF, 0.0), (-2.0, INF, INF), (INF, -1.0, 0.0),
    (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, -3.0, -0.0), (-INF, 0.5, INF), (-2.0, 3.0, -8.0),
    (-2.0, 2.0, 4.0), (-2.0, 0.5, NAN), (-8.0, 1 / 3, NAN), (NAN, 1.0, NAN), (2.0, NAN, NAN),
    (0.0, -INF, INF), (-0.0, INF, 0.0), (9.0, 0.5, 3.0), (2.0, -2.0, 0.25),
]  # fmt: skip
ANGLES = [
    (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, math.pi), (-0.0, -1.0, -math.pi), (0.0, 0.0, 0.0),
    (0.0, -0.0, math.pi), (-0.0, -0.0, -math.pi), (-0.0, 0.0, -0.0), (1.0, 0.0, math.pi / 2),
    (-1.0, -0.0, -math.pi / 2), (INF, INF, math.pi / 4), (INF, -INF, 3 * math.pi / 4),
    (-INF, INF, -math.pi / 4), (-INF, -INF, -3 * math.pi / 4), (1.0, INF, 0.0), (-1.0, INF, -0.0),
    (1.0, -INF, math.pi), (INF, 1.0, math.pi / 2), (-INF, -1.0, -math.pi / 2), (NAN, 1.0, NAN),
    (1.0, NAN, NAN),
]  # fmt: skip
LENGTHS = [
    (INF, NAN, INF),
    (NAN, -INF, INF),
    (-INF, 1.0, INF),
    (NAN, 1.0, NAN),
    (3.0, 4.0, 5.0),
    (-0.0, 0.0, 0.0),
]
REMAINDERS = [
    (7.0, 3.0, 1.0), (-7.0, 3.0, -1.0), (7.0, -3.0, 1.0), (-6.0, 3.0, -0.0), (5.0, INF, 5.0),
    (-0.0, 2.0, -0.0), (INF, 2.0, NAN), (1.0, 0.0, NAN), (NAN, 1.0, NAN), (1.0, NAN, NAN),
    (60000.0, 0.0009765625, 0.0),
]  # fmt: skip


OTHERS = ["scalar", "python"]
glibc = platform.libc_ver()[0] == "glibc"


@pytest.mark.parametrize("path", OTHERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ALL)
def test_the_other_paths_are_within_the_bound(op: str, dtype: str, path: str) -> None:
    """Special values, every place where a formula may change, and a sample; of functions of one all values
    of 16 bits.  ``-math=scalar`` has the bounds of glibc."""
    if dtype == "float64" and not EXTENDED:
        pytest.skip("no wider float to compare with")
    if path == "scalar" and not glibc:
        pytest.skip("another C library")
    count = 2_000 if path == "python" else 20_000
    found = accuracy.measure(op, dtype, 1, count=count, target=promised.PATHS[path])
    assert found.error <= promised.bound(op, dtype, path), found


@pytest.mark.parametrize("path", OTHERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name, rows", [("pow", POWERS), ("atan2", ANGLES), ("hypot", LENGTHS), ("fmod", REMAINDERS)]
)
def test_special_values_on_the_other_paths(
    name: str, rows: list[tuple[float, float, float]], dtype: str, path: str
) -> None:
    kind = accuracy.numpy_type(dtype)
    x, y, want = (np.array(column).astype(kind) for column in zip(*rows, strict=True))
    got = np.empty_like(x)
    accuracy.kernel(name, dtype, 1, len(x), promised.PATHS[path])(x, y, got)
    g, w = got.astype("float64"), want.astype("float64")
    tolerance = 2.0 ** (2 - accuracy._FORMATS[dtype][0]) if name == "atan2" else 0
    np.testing.assert_allclose(g, w, rtol=tolerance, atol=0)
    fine = ~np.isnan(w)
    np.testing.assert_array_equal(np.signbit(g[fine]), np.signbit(w[fine]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_of_the_python_target(dtype: str) -> None:
    """What a vector gives, lane by lane, and a function of constants is a vector too."""
    kind = accuracy.numpy_type(dtype)
    base = np.array([0.25, 0.5, 0.75, 1.0], kind)
    for op in [n for n in ALL if n not in ("ldexp", "atanh", "acosh")]:
        args = "A[0:4], A[0:4]" if op in accuracy.TWO else "A[0:4]"
        constant = ", ".join([f"T.Broadcast(T.{dtype}(0.5), 4)"] * (2 if op in accuracy.TWO else 1))
        f = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((4,), "{dtype}"), B: T.Buffer((4,), "{dtype}"), C: T.Buffer((2,), "{dtype}")):
    B[0:4] = T.{op}({args})
    C[0:2] = T.vectorlow("{dtype}x2", T.{op}({constant}))
""")
        lanes, halves = np.empty(4, kind), np.empty(2, kind)
        ts.build(f, "python")["f"](base, lanes, halves)
        alone = np.empty(4, kind)
        two = [base, base] if op in accuracy.TWO else [base]
        accuracy.kernel(op, dtype, 1, 4, "python")(*two, alone)
        limit = 2 * promised.bound(op, dtype, "python")  # two roundings of one exact value
        for got, want in ((lanes, alone), (halves, alone[[1, 1]])):
            with np.errstate(over="ignore"):
                error = accuracy.errors(got, want.astype("float64"), dtype).max()
            assert error <= limit, op


def inputs(dtype: str) -> np.ndarray:
    kind = accuracy.numpy_type(dtype)
    rng = np.random.default_rng(1)
    usual = np.concatenate([rng.normal(size=90) * 3, rng.normal(size=40) * 1e4, rng.uniform(0, 1, 30)])
    return np.concatenate([accuracy.specials(dtype), usual.astype(kind)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_of_any_length_give_what_scalars_give(dtype: str) -> None:
    """Bit for bit: the code is the same."""
    x = inputs(dtype)
    y = np.roll(x, 7)
    # Of float64 those that are formulas of ours.
    names = [n for n in ALL if n != "ldexp" and (dtype != "float64" or polynomials.available(n, dtype))]
    functions = [
        (lambda a, b, n=n: ops.power(a, b) if n == "pow" else ops.math_call(n, a, b))
        if n in accuracy.TWO
        else (lambda a, b, n=n: ops.math_call(n, a))
        for n in names
    ]
    word = f"uint{8 * x.dtype.itemsize}"
    first: list[np.ndarray] = []
    for lanes in (0, 1, 2, 3, 5, 16, 32) if dtype == "float32" else (0, 1, 7, 8):
        # First by scalars, then by what LLVM makes of a serial loop.
        level = Options(opt_level=1 if lanes == 0 else 3)
        made = elementwise_all(functions, [x, y], dtype, max(lanes, 1), level)
        if not first:
            first = made
            continue
        for n, a, b in zip(names, first, made, strict=True):
            nan = np.isnan(a)
            np.testing.assert_array_equal(np.isnan(b), nan)
            np.testing.assert_array_equal(a[~nan].view(word), b[~nan].view(word), err_msg=f"{n} {lanes}")


@pytest.mark.parametrize("lanes", [3, 7, 8, 32])
@pytest.mark.parametrize("op", ["exp", "log", "sin", "tanh", "pow", "sigmoid", "fmod"])
def test_float64_vectors_of_other_lengths(op: str, lanes: int) -> None:
    if not EXTENDED:
        pytest.skip("no wider float to compare with")
    found = accuracy.measure(op, "float64", lanes, count=4000)
    assert found.error <= promised.bound(op, "float64"), found


OURS = [(n, d) for d in ("float32", "float64") for n in ALL if polynomials.available(n, d)]


@x86
@pytest.mark.skipif(not EXTENDED, reason="no wider float to compare with")
@pytest.mark.parametrize("op, dtype", OURS)
def test_without_fused_multiply_add(op: str, dtype: str) -> None:
    found = accuracy.measure(op, dtype, 8, count=20_000, target="llvm -mcpu=x86-64")
    assert found.error <= promised.bound(op, dtype), found


@pytest.mark.skipif(not EXTENDED, reason="no wider float to compare with")
@pytest.mark.parametrize("op", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_next_to_multiples_of_half_pi(op: str, dtype: str) -> None:
    """Where almost all of the argument cancels."""
    half_pi = np.longdouble("3.14159265358979323846264338327950288") / 2
    x = (np.arange(1, 1 << 16) * half_pi).astype(dtype)
    for neighbour in (np.nextafter(x, np.array(0, dtype)), x, np.nextafter(x, np.array(np.inf, dtype))):
        given = np.resize(neighbour, 1 << 16)
        got = np.empty_like(given)
        accuracy.kernel(op, dtype, 16, 1 << 16)(given, got)
        want = accuracy.REFERENCE[op](given.astype(np.longdouble))
        assert accuracy.errors(got, want, dtype).max() <= promised.bound(op, dtype)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "name, rows", [("pow", POWERS), ("atan2", ANGLES), ("hypot", LENGTHS), ("fmod", REMAINDERS)]
)
def test_special_values_of_functions_of_two(
    name: str, rows: list[tuple[float, float, float]], dtype: str, lanes: int
) -> None:
    kind = accuracy.numpy_type(dtype)
    x, y, want = (np.array(column).astype(kind).astype("float64") for column in zip(*rows, strict=True))
    call = ops.power if name == "pow" else lambda a, b: ops.math_call(name, a, b)
    (got,) = elementwise_all([call], [x.astype(kind), y.astype(kind)], dtype, lanes)
    got = got.astype("float64")
    # The nearest number to an angle, and one beside it.
    tolerance = 2.0 ** (2 - accuracy._FORMATS[dtype][0]) if name == "atan2" else 0
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=0)
    fine = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[fine]), np.signbit(want[fine]))


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(INF, INF), (-INF, 0), (0, 1), (-0.0, 1), (1000, INF), (-1000, 0)],
    "log": [(0, -INF), (-0.0, -INF), (-1, NAN), (1, 0), (INF, INF), (-INF, NAN)],
    "log1p": [(-1, -INF), (-2, NAN), (-0.0, -0.0), (INF, INF)],
    "sin": [(INF, NAN), (-INF, NAN), (-0.0, -0.0), (0, 0)],
    "cos": [(INF, NAN), (0, 1)],
    "tan": [(INF, NAN), (-0.0, -0.0)],
    "asin": [(2, NAN), (-2, NAN), (-0.0, -0.0)],
    "acos": [(2, NAN), (1, 0), (-INF, NAN)],
    "atan": [(-0.0, -0.0)],
    "sinh": [(INF, INF), (-INF, -INF), (-0.0, -0.0)],
    "cosh": [(-INF, INF), (0, 1)],
    "tanh": [(INF, 1), (-INF, -1), (-0.0, -0.0)],
    "asinh": [(INF, INF), (-INF, -INF), (-0.0, -0.0)],
    "acosh": [(1, 0), (0.5, NAN), (INF, INF), (-INF, NAN)],
    "atanh": [(1, INF), (-1, -INF), (2, NAN), (-0.0, -0.0)],
    "sqrt": [(-0.0, -0.0), (-1, NAN), (INF, INF)],
    "rsqrt": [(0, INF), (-0.0, -INF), (INF, 0), (-1, NAN)],
    "sigmoid": [(INF, 1), (-INF, 0), (0, 0.5)],
    "erf": [(INF, 1), (-INF, -1), (-0.0, -0.0)],
}


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values(dtype: str, lanes: int) -> None:
    x = np.array(sorted({a for row in SPECIAL.values() for a, _ in row}), "float64")
    x = np.concatenate([x, [0.0, -0.0, NAN]])
    given = x.astype(accuracy.numpy_type(dtype))
    found = elementwise_all([lambda a, n=n: ops.math_call(n, a) for n in SPECIAL], [given], dtype, lanes)
    for (name, row), got in zip(SPECIAL.items(), found, strict=True):
        assert np.isnan(float(got[-1])), name
        for a, want in row:
            at = np.flatnonzero((x == a) & (np.signbit(x) == (math.copysign(1, a) < 0)))[0]
            value = float(got[at])
            assert (math.isnan(value) and math.isnan(want)) or value == want, (name, a, value)
            assert math.isnan(want) or math.copysign(1, value) == math.copysign(1, want), (name, a, value)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e8m0fnu"])
def test_neighbours_of_eight_bits(dtype: str) -> None:
    import ml_dtypes

    kind = np.dtype(getattr(ml_dtypes, dtype))
    every = np.arange(256, dtype="uint8").view(kind)
    x, y = (a.ravel() for a in np.meshgrid(every, every))
    (got,) = elementwise_all([lambda a, b: ops.math_call("nextafter", a, b)], [x, y], dtype, 16)
    np.testing.assert_array_equal(got.astype("float32"), np.nextafter(x, y).astype("float32"))


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_classes_of_every_narrow_value(dtype: str, lanes: int) -> None:
    (x,) = accuracy.arguments(dtype, 0)
    names = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
    found = elementwise_all([lambda a, n=n: ops.call(n, a) for n in names], [x], "bool", lanes)
    for reference, got in zip(names.values(), found, strict=True):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, reference(x.astype("float32")))


@pytest.mark.parametrize("op", ["pow", "erf", "exp", "sin"])
def test_other_processors_get_no_function_of_this_ones_library(op: str) -> None:
    value = "T.pow(A[i], A[i])" if op == "pow" else f"T.{op}(A[i])"
    mod = ts.lower(
        ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((64,), "float64"), O: T.Buffer((64,), "float64")):
    for i in T.vectorized(64):
        O[i] = {value}
""")
    )
    assert "_ZGV" not in emit(mod, ts.Target("llvm -mtriple=aarch64-linux-gnu"))


def test_fma_rounds_once() -> None:
    rng = np.random.default_rng(3)
    a, b, c = (rng.normal(size=4000).astype("float32") for _ in range(3))
    c[::2] = -(a[::2] * b[::2])  # what the product's rounding lost is left
    want = (a.astype(np.longdouble) * b + c).astype("float32")
    for lanes in (1, 8):
        (got,) = elementwise_all([lambda x, y, z: ops.call("fma", x, y, z)], [a, b, c], "float32", lanes)
        np.testing.assert_array_equal(got, want)


def source(op: str, target: str, dtype: str = "float32", lanes: int = 16) -> str:
    mod = ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((64,), "{dtype}"), O: T.Buffer((64,), "{dtype}")):
    for i in range({64 // lanes}):
        for j in T.vectorized({lanes}):
            O[i * {lanes} + j] = T.{op}(A[i * {lanes} + j])
""")
    text: str = ts.build(mod, target).get_source("ll")
    return text


def test_scalar_mathematics_is_the_libraries() -> None:
    text = source("exp", "llvm -math=scalar")
    assert "@ts.math" not in text and len(re.findall(r"call float @expf", text)) == 16
    for op in accuracy.ONE:
        if polynomials.available(op, "float32"):
            found = accuracy.measure(op, "float32", 1, count=20_000, target="llvm -math=scalar")
            assert found.error <= 4, (op, found)


def test_no_formula_calls_a_library() -> None:
    for op, dtype in OURS:
        if op in accuracy.ONE:
            names = set(re.findall(r"^declare [^@]*@([\w.]+)", source(op, "llvm", dtype), re.M))
            # sin, cos and tan of float64 do, of numbers that are far from zero.
            assert all(n.startswith("llvm.") or (n == op and dtype == "float64") for n in names), (op, names)


# ---- the measuring itself


@pytest.mark.skipif(not EXTENDED, reason="no wider float to compare with")
@pytest.mark.parametrize("op", sorted(accuracy.REFERENCE))
def test_the_reference_is_right(op: str) -> None:
    """NumPy's long double against arithmetic of fifty digits."""
    mp = pytest.importorskip("mpmath")
    formulas = {
        "exp10": lambda x: mp.power(10, x), "exp2": lambda x: mp.power(2, x), "log2": lambda x: mp.log(x, 2),
        "log10": lambda x: mp.log(x, 10), "rsqrt": lambda x: 1 / mp.sqrt(x),
        "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "pow": mp.power, "round": mp.nint, "nearbyint": mp.nint,
        "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)), "fabs": abs,
        "fmod": lambda x, y: mp.sign(x) * mp.fmod(abs(x), abs(y)),
        "copysign": lambda x, y: abs(x) * (1 if y >= 0 else -1),
        "ldexp": lambda x, y: x * mp.power(2, int(y)),
    }  # fmt: skip
    formula = formulas.get(op) or getattr(mp, op)
    domains = {
        "acosh": (1, 50),
        "atanh": (-0.999, 0.999),
        "asin": (-1, 1),
        "acos": (-1, 1),
        "log1p": (-0.99, 9),
    }
    positive = op.startswith(("log", "pow", "sqrt", "rsqrt")) and op != "log1p"
    low, high = domains.get(op, (0.001, 40) if positive else (-40, 40))
    rng = np.random.default_rng(5)
    two = op in accuracy.TWO
    x = rng.uniform(low, high, 60)
    y = rng.integers(-9, 9, 60) if op == "ldexp" else rng.uniform(-9, 9, 60)
    with mp.workdps(50):
        given = [x.astype(np.longdouble), y if op == "ldexp" else y.astype(np.longdouble)][: 2 if two else 1]
        got = accuracy.REFERENCE[op](*given)
        for k in range(60):
            exact = formula(*[mp.mpf(float(a[k])) for a in ((x, y) if two else (x,))])
            near = mp.mpf(float(got[k])) + mp.mpf(float(got[k] - np.longdouble(float(got[k]))))
            assert abs(near - exact) <= abs(exact) * mp.mpf(2) ** -58, (op, x[k], y[k], got[k], exact)


def test_errors_in_steps_of_the_dtype() -> None:
    largest = 2.0**128 - 2.0**104
    want = np.array([1.0, 1.0, 1e-45, 2.0**128, largest, np.nan, 1.0, 0.0, -np.inf], "float64")
    got = np.array([1.0, 1 + 2.0**-23, 0, np.inf, np.inf, np.nan, np.nan, -0.0, -np.inf], "float32")
    with np.errstate(all="ignore"):
        made = accuracy.errors(got, want, "float32")
    assert made[0] == 0 and made[1] == 1 and 0.7 < made[2] < 0.72 and made[3] == 0
    assert made[4] == 1 and made[5] == 0 and made[6] == np.inf and made[7] == np.inf and made[8] == 0


@pytest.mark.parametrize("path", promised.PATHS)
def test_the_document_says_what_is_promised(path: str) -> None:
    text = (Path(promised.__file__).parent / "ACCURACY.md").read_text(encoding="utf-8")
    headings = [about.splitlines()[0] for about in accuracy._ABOUT.values()]
    assert [line for line in text.splitlines() if line.startswith("## ")] == headings
    section = text.split("\n## ")[1 + list(promised.PATHS).index(path)]
    rows = {
        cells[0]: cells[1:]
        for line in section.splitlines()
        if line.startswith("| ") and (cells := [c.strip() for c in line.strip("|").split("|")])
    }
    assert set(rows) - {"function"} == set(ALL)
    for op, (k, dtype) in itertools.product(ALL, enumerate(promised.DTYPES)):
        *measured, limit = [float(n) for n in re.findall(r"[\d.]+", rows[op][k])]
        assert limit == promised.bound(op, dtype, path), (op, dtype)
        assert measured and max(measured) <= limit, (op, dtype)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "table.md"
    arguments = ["floor", "exp", "--dtype", "float16,float32", "--count", "9000", "--document", str(file)]
    assert accuracy.main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.count("exp       float32   x16") == 3 and "ABOVE" not in shown
    text = file.read_text(encoding="utf-8")
    assert text.count("| exp | 0.5") == 3
    # One path again: the others stay.
    assert accuracy.main(["floor", "--dtype", "float16", "--path", "python", "--document", str(file)]) == 0
    again = file.read_text(encoding="utf-8")
    assert again.count("| exp | 0.5") == 2 and again.split("\n## ")[:3] == text.split("\n## ")[:3]
    with pytest.raises(SystemExit):
        accuracy.main(["expo"])
