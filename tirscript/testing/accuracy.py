"""Errors of mathematics on each path to the CPU, measured: ``python -m tirscript.testing.accuracy``.

Every float16 and bfloat16 value is tried, and of float32 and float64 random bit patterns, numbers of usual
size, and the surroundings of every point where something changes.  Errors are in ulp of the result, against
NumPy's float64 for the narrower dtypes and its long double for float64.  What is promised stands in
``tirscript.codegen.llvm.accuracy``.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
CHUNK = 1 << 18

ONE = [
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "erf",
    "floor",
    "ceil",
    "round",
    "nearbyint",
    "trunc",
    "fabs",
]
TWO = ["pow", "atan2", "hypot", "fmod", "copysign", "nextafter", "ldexp"]


def _erf(x: Array) -> Array:
    """Positive terms only, so that nothing cancels; in float64 the C library's."""
    if x.dtype == np.float64:
        return np.fromiter(map(math.erf, x.tolist()), "float64", x.size)
    y = np.minimum(np.abs(x), 7)
    term = y.copy()
    total = y.copy()
    for n in range(1, 160):
        term = term * (2 * y * y) / (2 * n + 1)
        total += term
    made = total * np.exp(-y * y) * 2 / np.sqrt(np.longdouble("3.14159265358979323846264338327950288"))
    made = np.copysign(np.where(np.abs(x) > 6.9, 1, made), x)
    return np.where(np.isnan(x), x, made)


def _sigmoid(x: Array) -> Array:
    z = np.exp(-np.abs(x))
    return np.where(x < 0, z, 1) / (1 + z)


REFERENCE: dict[str, Callable[..., Array]] = {
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(x.dtype.type(10), x), "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": _sigmoid, "erf": _erf, "floor": np.floor, "ceil": np.ceil,
    "round": np.rint, "nearbyint": np.rint, "trunc": np.trunc, "fabs": np.abs, "pow": np.power,
    "atan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod, "copysign": np.copysign, "ldexp": np.ldexp,
}  # fmt: skip


def numpy_type(dtype: str) -> Any:
    if dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


# Bits of the significand with the hidden one, exponents of the least normal number and of the first one too
# large.
_FORMATS = {"float16": (11, -14, 16), "bfloat16": (8, -126, 128), "float32": (24, -126, 128),
            "float64": (53, -1022, 1024)}  # fmt: skip


def errors(got: Array, want: Array, dtype: str) -> Array:
    """The distance of each result from the exact value in steps of the dtype; inf where a nan or the sign of
    a zero is wrong.  Infinity counts as the first number too large."""
    precision, least, top = _FORMATS[dtype]
    wide = want.dtype.type
    limit = np.ldexp(wide(1), top)
    g, w = np.clip(got.astype(wide), -limit, limit), np.clip(want, -limit, limit)
    exponent = np.frexp(w)[1] - 1
    step = np.ldexp(wide(1), np.clip(exponent, least, top - 1) - (precision - 1))
    made = (np.abs(g - w) / step).astype("float64")
    # What rounds to infinity is right as infinity.
    made[np.isinf(got) & (np.abs(w) >= limit - step / 2) & (np.sign(g) == np.sign(w))] = 0
    nan = np.isnan(want)
    made[nan] = np.where(np.isnan(got[nan]), 0, np.inf)
    made[~nan & np.isnan(got)] = np.inf
    zero = want == 0
    made[zero & (got == 0) & (np.signbit(got.astype(wide)) != np.signbit(want))] = np.inf
    return made


# ---- arguments

# Where formulas change, and where results leave the numbers.
_EDGES = (
    0.25, 0.5, math.sqrt(0.5), 1.0, math.sqrt(2), 2.0, math.tan(math.pi / 8), 1 / math.tan(math.pi / 8), 3.95,
    9.0, 10.0, 38.53, 45.0, 88.7228, 89.4, 103.97, 104.0, 127.0, 128.0, 149.0, 150.0, 308.25, 323.3, 709.78,
    745.13, 1023.0, 1024.0, 1074.0, 2.0**20, 2.0**23, 2.0**24, 2.0**29, 2.0**52, 2.0**53,
    *[k * math.pi / 4 for k in range(1, 40)], *[k * math.log(2) / 2 for k in range(1, 20)],
)  # fmt: skip


def specials(dtype: str) -> Array:
    """Zeros, infinities, nan, the least and the largest numbers."""
    precision, least, top = _FORMATS[dtype]
    smallest, largest = (
        math.ldexp(1.0, least - precision + 1),
        math.ldexp(2 - 2.0 ** (1 - precision), top - 1),
    )
    sizes = [0.0, smallest, 3 * smallest, math.ldexp(1 - 2.0**-8, least), math.ldexp(1.0, least), largest,
             math.inf, 1.0, 2.0, 3.0, 0.5, 1.5, 2.5, 7.0]  # fmt: skip
    return np.array([*sizes, *[-v for v in sizes], math.nan]).astype(numpy_type(dtype))


def arguments(dtype: str, count: int, seed: int = 0) -> Iterator[Array]:
    """All values of a dtype of 16 bits; of others ``count`` values in pieces."""
    kind = numpy_type(dtype)
    if kind.itemsize == 2:
        yield np.arange(1 << 16).astype("uint16").view(kind)
        return
    rng = np.random.default_rng(seed)
    word = np.dtype(f"uint{8 * kind.itemsize}")
    yield specials(dtype)
    near = np.array(_EDGES, kind).view(word)[:, None] + np.arange(-200, 201).astype(word)
    near = near.ravel().view(kind)
    yield np.concatenate([near, -near])
    done, turn = 0, 0
    while done < count:
        n = min(CHUNK, count - done)
        if turn % 4 < 2:
            x = rng.integers(0, 1 << 8 * kind.itemsize, n, dtype=word).view(kind)
        elif turn % 4 == 2:
            x = np.ldexp(1 + rng.random(n), rng.integers(-12, 8, n)) * rng.choice([-1.0, 1.0], n)
        else:
            x = rng.uniform(-4, 4, n)
        yield x.astype(kind)
        done, turn = done + n, turn + 1


def pairs(dtype: str, count: int, seed: int = 0) -> Iterator[tuple[Array, Array]]:
    """Pairs of values: of the special ones all, then random bit patterns and numbers of usual size."""
    kind = numpy_type(dtype)
    rng = np.random.default_rng(seed)
    word = np.dtype(f"uint{8 * kind.itemsize}")
    a, b = np.meshgrid(specials(dtype), specials(dtype))
    yield a.ravel(), b.ravel()
    done, turn = 0, 0
    while done < count:
        n = min(CHUNK, count - done)
        if turn % 4 == 0:
            x, y = (rng.integers(0, 1 << 8 * kind.itemsize, n, dtype=word).view(kind) for _ in range(2))
        else:
            spread = (2, 30, 3)[turn % 4 - 1]
            x, y = (
                np.ldexp(1 + rng.random(n), rng.integers(-spread, spread, n))
                * rng.choice([-1.0, 1.0, 1.0], n)
                for _ in range(2)
            )
            if turn % 4 == 3:
                y = np.rint(y * 8) / 2
        yield x.astype(kind), y.astype(kind)
        done, turn = done + n, turn + 1


# ---- kernels


def kernel(op: str, dtype: str, lanes: int, size: int, target: str = "llvm") -> Callable[..., None]:
    """``O = op(A, ...)`` of ``size`` elements, by vectors or, with one lane, by a serial loop."""
    import tirscript as ts

    names = "AB"[: 2 if op in TWO else 1]
    index = f"i * {lanes} + j" if lanes > 1 else "i"
    second = "int32" if op == "ldexp" else dtype
    kinds = [dtype, second]
    params = ", ".join(f'{n}: T.Buffer(({size},), "{k}")' for n, k in zip(names, kinds, strict=False))
    loop = f"for j in T.vectorized({lanes}):\n            " if lanes > 1 else ""
    value = ", ".join(f"{n}[{index}]" for n in names)
    mod = ts.parse(f"""
@T.prim_func
def f({params}, O: T.Buffer(({size},), "{dtype}")):
    for i in range({size // lanes}):
        {loop}O[{index}] = T.{op}({value})
""")
    built: Callable[..., None] = ts.build(mod, target)["f"]
    return built


@dataclass
class Found:
    """The largest error, and where it was."""

    error: float = 0.0
    at: tuple[Any, ...] = ()
    got: Any = None
    want: Any = None


def measure(op: str, dtype: str, lanes: int = 16, *, count: int = 10_000_000, target: str = "llvm") -> Found:
    """The largest error of a function over its arguments."""
    kind = numpy_type(dtype)
    # Pieces as large as there are arguments; the last is filled up.
    least = 1 << 16 if kind.itemsize == 2 and op not in TWO else min(CHUNK, max(count, 1 << 13))
    size = -(-least // lanes) * lanes
    run = kernel(op, dtype, lanes, size, target)
    found = Found()
    pieces: Iterator[tuple[Array, ...]]
    pieces = pairs(dtype, count) if op in TWO else ((x,) for x in arguments(dtype, count))
    with np.errstate(all="ignore"):
        for given in pieces:
            n = len(given[0])
            for at in range(0, n, size):
                _piece(op, dtype, [g[at : at + size] for g in given], run, size, kind, found)
    return found


def _piece(
    op: str, dtype: str, given: Sequence[Array], run: Callable[..., None], size: int, kind: Any, found: Found
) -> None:
    wide = np.longdouble if dtype == "float64" else np.float64
    n = len(given[0])
    given = list(given)
    if op == "ldexp":
        given[1] = np.clip(np.nan_to_num(given[1].astype("float64")), -3000, 3000).astype("int32")
    out = np.empty(size, kind)
    run(*[np.resize(g, size) for g in given], out)
    got = out[:n]
    if op == "nextafter":
        # Of equal numbers C gives the second, whose zero may have the other sign.
        want = np.where(given[0] == given[1], given[1], np.nextafter(*given)).astype(wide)
    elif op == "ldexp":
        want = np.ldexp(given[0].astype(wide), given[1])
    else:
        want = REFERENCE[op](*[g.astype(wide) for g in given])
    e = errors(got, want, dtype)
    worst = int(np.argmax(e))
    if e[worst] > found.error:
        found.error = float(e[worst])
        found.at = tuple(g[worst] for g in given)
        found.got, found.want = got[worst], want[worst]


# How many values, or pairs: of pairs of narrow floats as many as of float64.
COUNTS = {
    "llvm": {"float32": 10_000_000, "float64": 1_000_000},
    "scalar": {"float32": 10_000_000, "float64": 1_000_000},
    "python": {"float32": 250_000, "float64": 100_000},
}


def count_of(dtype: str, path: str = "llvm") -> int:
    return COUNTS[path]["float32" if dtype == "float32" else "float64"]


def target_of(path: str, lanes: int) -> str:
    """The target of a path; at -O2 LLVM would make vectors of the loop over scalars."""
    from tirscript.codegen.llvm.accuracy import PATHS

    return PATHS[path] + (" -O1" if path == "llvm" and lanes == 1 else "")


_HEAD = """\
# How exact mathematics is

Errors in ulp, units in the last place, of the result: half a unit is correct rounding. In brackets is what
is promised, before it the largest error found; where two numbers stand, the first is that of scalar code, the
second that of vectors. Tried were all values of float16 and bfloat16, and as many of the others as is said
(pairs, for functions of two); infinities, nans, zeros of both signs and numbers below the normal ones are
among them.

What the tables do not name (`+ - * /`, `min`, `max`, `fma`, comparisons, casts) is correctly rounded on every
path; what is folded while a program is simplified is exact or correctly rounded too.

`python -m tirscript.testing.accuracy` measures on the machine at hand, `--path` one of the three;
`--document FILE` writes what it found into this text.
"""

_ABOUT = {
    "llvm": """\
## `target="llvm"`

{single:,} values of float32; {double:,} of float64 and pairs of narrower floats.

* float32 and float64 functions are formulas of our own, inlined. They give the same numbers for scalars and
  for vectors of any length, on every operating system; on processors without fused multiply-add (x86-64
  before 2013) the last bits may differ, within the same bounds. The C library is called by `fmod`, for
  quotients of 2^29 and more, and by `sin`, `cos` and `tan` of float64, beyond 2^16.
* float16 and bfloat16 are computed in float32 and rounded.
* `erf`, `pow`, `hypot`, `fmod` and `ldexp` of float64 are the C library's and, in vectors on x86-64 Linux,
  those of its vector library, libmvec, where it has them; LLVM takes these for serial loops as well. The
  bound is what libmvec promises.
""",
    "scalar": """\
## `target="llvm -math=scalar"`

{single:,} values of float32; {double:,} of float64 and pairs of narrower floats; with `-fp-contract=off`.

* The C library is called for every dtype and element. The bounds are those of glibc, whose largest known
  errors are published ("Accuracy of Mathematical Functions in Single, Double, Extended Double and Quadruple
  Precision", Gladman, Innocente, Mather and Zimmermann); `sigmoid` and `rsqrt` are formulas on top of it.
* float16 and bfloat16 are computed in float32 and rounded.
""",
    "python": """\
## `target="python"`

{single:,} values of float32; {double:,} of float64 and pairs of narrower floats.

* float16, bfloat16 and float32 are computed in float64 and rounded once.
* float64 is NumPy's. Where it takes Intel's SVML on processors with AVX-512, the bound is the 4 ulp of that;
  what stands before it was measured on one without. `erf`, `exp10` and `hypot` are the C library's.
""",
}

Measured = Mapping[tuple[str, str], tuple[float, float]]


def document(found: Mapping[str, Measured], before: str = "") -> str:
    """``ACCURACY.md``: a section for each path; of one that was not measured that of the text before."""
    out = [_HEAD]
    for path, about in _ABOUT.items():
        heading, counts = about.splitlines()[0], COUNTS[path]
        if path not in found and heading in before:
            kept = before[before.index(heading) :]
            out.append(kept.split("\n## ")[0].rstrip("\n") + "\n")
        else:
            text = about.format(single=counts["float32"], double=counts["float64"])
            out.append(text + "\n" + table(found.get(path, {}), path))
    return "\n".join(out)


def table(found: Measured, path: str = "llvm") -> str:
    """The errors of scalar and vector code and what is promised, as a table in Markdown."""
    from tirscript.codegen.llvm.accuracy import DTYPES, bound

    out = ["| function | " + " | ".join(DTYPES) + " |", "|---|" + "---|" * len(DTYPES)]
    for op in (*ONE, *TWO):
        cells = [_cell(found.get((op, dtype)), bound(op, dtype, path)) for dtype in DTYPES]
        out.append(f"| {op} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def _cell(measured: tuple[float, float] | None, limit: float) -> str:
    if measured is None:
        return f"({limit:g})"
    a, b = [f"{math.ceil(v * 1000) / 1000:g}" for v in measured]
    return f"{a} ({limit:g})" if a == b else f"{a} / {b} ({limit:g})"


def main(argv: Sequence[str] | None = None) -> int:
    from tirscript.codegen.llvm.accuracy import DTYPES, PATHS

    parser = argparse.ArgumentParser(
        prog="python -m tirscript.testing.accuracy",
        description="Measure the errors of mathematics on the CPU, in ulp.",
    )
    parser.add_argument("functions", nargs="*", help="their names; all where none is given")
    parser.add_argument("--path", choices=[*PATHS], action="append", help="the ways to compute; all of them")
    parser.add_argument("--dtype", default=",".join(DTYPES), help="float16,float32 ...")
    parser.add_argument("--count", type=int, help="values of float32 and float64 to try; up to 10 million")
    parser.add_argument("--lanes", type=int, default=16, help="of the vectors beside the scalars")
    parser.add_argument("--document", metavar="FILE", help="write the tables with their explanation there")
    options = parser.parse_args(argv)
    unknown = set(options.functions) - {*ONE, *TWO}
    if unknown:
        parser.error(f"no such function: {', '.join(sorted(unknown))}")
    found: dict[str, dict[tuple[str, str], tuple[float, float]]] = {}
    broken = 0
    for path in options.path or PATHS:
        for op in options.functions or [*ONE, *TWO]:
            for dtype in options.dtype.split(","):
                pair, wrong = _both(op, dtype, path, options)
                found.setdefault(path, {})[op, dtype] = pair
                broken += wrong
    if options.document:
        file = Path(options.document)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(document(found, before), encoding="utf-8")
    return 1 if broken else 0


def _both(op: str, dtype: str, path: str, options: argparse.Namespace) -> tuple[tuple[float, float], int]:
    """The errors of scalars and of vectors, and how many are above the bound."""
    from tirscript.codegen.llvm.accuracy import bound

    pair: list[float] = []
    broken = 0
    for lanes in (1, options.lanes):
        count = options.count or count_of(dtype, path)
        f = measure(op, dtype, lanes, count=count, target=target_of(path, lanes))
        pair.append(f.error)
        wrong = f.error > bound(op, dtype, path)
        broken += wrong
        where = f" at {', '.join(map(str, f.at))}: {f.got}, exactly {f.want}" if f.at else ""
        mark = "  ABOVE ITS BOUND" if wrong else ""
        print(f"{path:7}{op:10}{dtype:9} x{lanes:<3}{f.error:9.4f}{where}{mark}", flush=True)
    return (pair[0], pair[1]), broken


if __name__ == "__main__":
    sys.exit(main())
