"""The same program on several targets, and against a reference, on random inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, IntImm, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.visitor import buffer_exprs

# Relative tolerances: default builds contract a * b + c and order vector sums as they like.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def entry_function(program: PrimFunc | IRModule, name: str | None = None) -> PrimFunc:
    """The function of a program that inputs are made for."""
    if isinstance(program, PrimFunc):
        return program
    return program[name or ("main" if "main" in program else next(iter(program)))]


def random_inputs(
    program: PrimFunc | IRModule,
    seed: int = 0,
    *,
    ints: tuple[int, int] = (-9, 10),
    floats: tuple[float, float] | None = None,
    size: int | None = None,
    symbols: Mapping[str, int] | None = None,
    name: str | None = None,
) -> list[Any]:
    """Arguments for a function: seeded random arrays of its shapes, and numbers.

    Integers come from ``range(*ints)`` as far as the dtype has them, floats from a normal distribution or
    the interval ``floats``; a symbolic extent is ``symbols[name]``, else ``size``, else a number from 3 to 9.
    """
    function = entry_function(program, name)
    rng = np.random.default_rng(seed)
    values: dict[Var, int] = {}
    for b in function.buffers:
        for v in [v for e in buffer_exprs(b) for v in _variables(e)]:
            if v not in values:
                given = (symbols or {}).get(v.name, size)
                values[v] = int(rng.integers(3, 10)) if given is None else given
        strides_of(b, values)
        if isinstance(b.elem_offset, Var):
            values[b.elem_offset] = 0
    out: list[Any] = []
    for p in function.params:
        buffer = function.buffer_map.get(p)
        if buffer is not None:
            out.append(_array(buffer, values, rng, ints, floats))
        elif p in values:
            out.append(values[p])
        else:
            number = _numbers(p.dtype, (1,), rng, ints, floats)[0]
            out.append(number.item() if hasattr(number, "item") else number)
    return out


def _variables(e: Any) -> list[Var]:
    return [e] if isinstance(e, Var) else [v for c in e.children() for v in _variables(c)]


def strides_of(b: Buffer, values: dict[Var, int]) -> list[int] | None:
    """The strides in elements, None for a dense buffer; symbolic ones get twice the dense stride."""
    if not b.strides:
        return None
    shape = [evaluate(n, values) for n in b.shape]
    step, out = 2, []
    for n, s in zip(reversed(shape), reversed(b.strides), strict=True):
        if isinstance(s, Var):
            values[s] = step
        out.append(evaluate(s, values))
        step = out[-1] * n + (1 if isinstance(s, Var) else 0)
    return out[::-1]


def evaluate(e: Expr, values: Mapping[Var, int]) -> int:
    """The value of a shape expression."""
    if isinstance(e, IntImm):
        return e.value
    if isinstance(e, Var):
        return values[e]
    from tirscript.codegen.python.expr import Expressions
    from tirscript.codegen.python.names import Names

    x = Expressions(Names(()))
    free = list(dict.fromkeys(_variables(e)))
    for i, v in enumerate(free):
        x.variables[v] = f"v{i}"
    import ast

    from tirscript.codegen.python import support

    body = ast.fix_missing_locations(ast.Expression(x.value(e)))
    space = {**vars(support), **{f"v{i}": values[v] for i, v in enumerate(free)}}
    return int(eval(compile(body, "<shape>", "eval"), space))


def _array(
    b: Buffer,
    values: dict[Var, int],
    rng: np.random.Generator,
    ints: tuple[int, int],
    floats: tuple[float, float] | None,
) -> Any:
    d = dt.info(b.dtype)
    shape = tuple([evaluate(n, values) for n in b.shape])
    full = (*shape, d.lanes) if d.lanes != 1 else shape
    strides = strides_of(b, values)
    if strides is None:
        made = _numbers(d.base, full, rng, ints, floats)
        return aligned(made, b.align) if b.align > made.itemsize else made
    count = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if 0 not in shape else 0
    flat = _numbers(d.base, (max(count, 1),), rng, ints, floats)
    return np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides])


def aligned(a: Any, align: int) -> Any:
    """A copy of an array at a multiple of ``align`` bytes."""
    memory = np.empty(a.nbytes + align, np.uint8)
    start = -int(memory.__array_interface__["data"][0]) % align
    out = memory[start : start + a.nbytes].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out


def extreme_inputs(program: PrimFunc | IRModule, seed: int = 0, **options: Any) -> list[Any]:
    """As ``random_inputs``, of values at the ends of each dtype: the least and the largest, zeros of both
    signs, infinities and nans, the smallest that are not zero."""
    given = random_inputs(program, seed, **options)
    rng = np.random.default_rng(seed + 1)
    function = entry_function(program, options.get("name"))
    for p, a in zip(function.params, given, strict=True):
        if isinstance(a, np.ndarray) and p in function.buffer_map and a.size:
            chosen = _extremes(dt.info(function.buffer_map[p].dtype).base)
            if chosen:
                for index in np.ndindex(a.shape):
                    a[index] = chosen[int(rng.integers(0, len(chosen)))]
    return given


def _extremes(dtype: str) -> list[Any]:
    d = dt.info(dtype)
    if d.is_int:
        low, high = dt.bounds(dtype)
        near = [low, low + 1, high - 1, high, 0, 1, 2, 3, -1, -2, -3, d.bits - 1, d.bits, high // 2]
        return [v for v in near if low <= v <= high]
    if not d.is_float:
        return [False, True] if d.code == "bool" else []
    from .numbers import FORMATS

    f = FORMATS.get(dtype)
    if f is None:
        return []
    least = math.ldexp(1.0, f.least)
    tiny = math.ldexp(1.0, f.least - f.precision + 1)
    sizes = [0.0, tiny, least, least - tiny, 1.0, 1.0 + math.ldexp(1.0, 1 - f.precision), 1.5, 2.5, f.top]
    return [*sizes, *[-v for v in sizes], math.nan, *([math.inf, -math.inf] if math.isinf(f.beyond) else [])]


def _numbers(
    dtype: str,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    ints: tuple[int, int],
    floats: tuple[float, float] | None,
) -> Any:
    from tirscript.codegen.python.support import numpy_dtype

    d = dt.info(dtype)
    if d.code == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if d.is_int:
        low, high = dt.bounds(dtype)
        low, high = max(low, int(ints[0])), min(high, int(ints[1]) - 1)
        return np.asarray(rng.integers(low, high + 1, shape)).astype(numpy_dtype(dtype))
    if d.is_float:
        drawn = rng.standard_normal(shape) if floats is None else rng.uniform(*floats, shape)
        return np.asarray(drawn).astype(np.float32 if d.bits < 32 else np.float64).astype(numpy_dtype(dtype))
    return np.zeros(shape, numpy_dtype(dtype))


def run_program(
    program: PrimFunc | IRModule, target: str, inputs: Sequence[Any], name: str | None = None
) -> list[Any]:
    """Build for ``target`` and call with copies of the inputs: the arrays afterwards, then the result.

    The target ``"meaning"`` is the interpreter that shares nothing with the code generators.
    """
    from tirscript.driver import build

    if target == "meaning":
        from .meaning import interpret

        given = [copied(a) for a in inputs]
        return [*given, interpret(program, given, name)]
    module = build(program, target)
    function = module[name] if name is not None else module[module.entry_name]
    copies = [copied(a) for a in inputs]
    result = function(*copies)
    return [*copies, result]


def copied(a: Any) -> Any:
    """A copy with the same strides, aligned as a cache line."""
    if not isinstance(a, np.ndarray):
        return a
    if a.flags.c_contiguous or a.ndim == 0:
        return aligned(a, 64)
    extent = 1 + sum((n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)) // a.itemsize
    flat = np.lib.stride_tricks.as_strided(a, (extent,), (a.itemsize,)).copy()
    return np.lib.stride_tricks.as_strided(flat, a.shape, a.strides)


def check_against_reference(
    program: PrimFunc | IRModule,
    reference: Callable[..., Any] | None = None,
    inputs: Sequence[Any] | None = None,
    *,
    targets: Iterable[str] = ("python", "llvm"),
    seed: int = 0,
    rtol: float | None = None,
    exact: bool = False,
    name: str | None = None,
    **random: Any,
) -> list[Any]:
    """Run on every target and compare: with each other, and with ``reference`` where it is given.

    ``reference`` is called with copies of the inputs and changes them as the program should.  Without
    ``inputs`` they are drawn by ``random_inputs``.  ``exact=True`` asks for equal bits (nan equals nan).
    Returns the values of the first target.

    >>> import tirscript as ts
    >>> f = ts.parse("@T.prim_func\\ndef f(n: T.int32) -> T.int32:\\n    T.ret(n * n)")
    >>> check_against_reference(f, lambda n: n * n, [7], targets=["python"])
    [7, 49]
    """
    given = list(inputs) if inputs is not None else random_inputs(program, seed, name=name, **random)
    wanted: list[Any] | None = None
    said = ""
    if reference is not None:
        wanted = [copied(a) for a in given]
        with np.errstate(all="ignore"):
            wanted.append(reference(*wanted))
        said = "the reference"
    first: list[Any] | None = None
    for target in targets:
        got = run_program(program, target, given, name)
        if first is None:
            first = got
        if wanted is not None:
            assert_same_values(got, wanted, target, said, program, rtol=rtol, exact=exact)
        else:
            wanted, said = got, target
    return first or []


def assert_same_values(
    got: Sequence[Any], wanted: Sequence[Any], target: str, said: str, program: Any, *,
    rtol: float | None = None, exact: bool = False,
) -> None:  # fmt: skip
    """The results of two runs are equal: within a tolerance for floats, or to the bit (nan equals nan)."""
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if b is None:
            continue
        x, y = np.asarray(a), np.asarray(b)
        if x.dtype.kind in "biu" or x.dtype.name.startswith(("int", "uint")):
            ok = bool(np.array_equal(x, y))
        elif exact:
            wide = x.astype(np.float64), y.astype(np.float64)
            ok = bool(np.array_equal(*wide, equal_nan=True))
        else:
            tolerance = TOLERANCE.get(x.dtype.name, 1e-1) if rtol is None else rtol
            wide = x.astype(np.float64), y.astype(np.float64)
            finite = wide[1][np.isfinite(wide[1])]
            scale = float(np.max(np.abs(finite), initial=1.0))
            ok = bool(np.allclose(*wide, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
        if not ok:
            raise AssertionError(
                f"argument {i} differs between {target} and {said}:\n{x!r}\n{y!r}\n\n{program.script()}"
            )
