"""``tirscript run``: one call on random data, its time, and the same call in plain Python."""

from __future__ import annotations

import sys
import zlib
from argparse import Namespace
from typing import Any

import numpy as np

from tirscript.diagnostics import deep_recursion
from tirscript.display.objects import seconds
from tirscript.ir import IRModule
from tirscript.ir import dtype as dt

from . import UsageError
from .inputs import Arguments, parse_settings, steps
from .load import as_module, load_one

# A step of the python target takes about half a microsecond.
CHECKED_STEPS = 20_000_000
TOLERANCE = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


def execute(arguments: Namespace) -> int:
    from tirscript import driver

    _, program = load_one(arguments.program)
    module = as_module(program)
    name = entry(module)
    function = module[name]
    args = Arguments(function, parse_settings(arguments.set), arguments.seed)
    if not args.outputs:
        print(f"note: {name} writes none of its buffers", file=sys.stderr)

    compiled = driver.build(module, arguments.target)
    inputs = args.copies()
    result = compiled[name](*args.values)

    print(f"{name} on {compiled.target}, seed {arguments.seed}")
    for i, (argument, value) in enumerate(zip(args.names, args.values, strict=True)):
        if isinstance(value, np.ndarray):
            role = "out" if i in args.outputs else "in"
            checksum = _checksum(value) if role == "out" else ""
            print(f"  {role:<3} {argument:<12} {_shape(value):<24} {checksum}".rstrip())
        else:
            print(f"  in  {argument:<12} {value}")
    if result is not None:
        print(f"  returns {result}")
    outcome = _check(arguments, module, name, args, inputs, result)
    if arguments.number > 0:
        timing = compiled.time_evaluator(name, number=arguments.number, repeat=3)(*args.copies())
        print(f"  time    {seconds(timing.median)} (median of 3 times {arguments.number} runs)")
    return outcome


def entry(module: IRModule) -> str:
    exported = [n for n, f in module.items() if "global_symbol" in f.attrs]
    if len(exported) == 1:
        return exported[0]
    if "main" in exported:
        return "main"
    raise UsageError(f"say FILE:Module.function; the exported functions are {', '.join(exported) or 'none'}")


def _shape(array: np.ndarray[Any, Any]) -> str:
    return f"{array.dtype}[{', '.join([str(n) for n in array.shape])}]"


def _checksum(array: np.ndarray[Any, Any]) -> str:
    total = np.sum(array, dtype=np.float64)
    return f"sum {total:.9g}, crc32 {zlib.crc32(np.ascontiguousarray(array).tobytes()):08x}"


def _check(
    arguments: Namespace, module: IRModule, name: str, args: Arguments, inputs: list[Any], result: object
) -> int:
    """Compare with the python target; the exit status."""
    from tirscript import driver

    if arguments.check == "never":
        return 0
    with deep_recursion():
        count = steps(args.function, args.sizes)
    if arguments.check == "auto" and count > CHECKED_STEPS:
        print(f"  check   left out: about {count:.1e} steps in Python; --check always runs it")
        return 0
    expected_result = driver.build(module, "python")[name](*inputs)
    worst = 0.0
    for i in args.outputs:
        actual, expected = args.values[i], inputs[i]
        tolerance = TOLERANCE.get(str(actual.dtype), 0.0)
        kind = dt.info(args.function.buffer_map[args.function.params[i]].dtype)
        if not kind.is_float:
            same = bool(np.array_equal(actual, expected))
        else:
            a, e = actual.astype(np.float64), expected.astype(np.float64)
            same = bool(np.allclose(a, e, rtol=tolerance or 0.3, atol=tolerance or 0.3, equal_nan=True))
            finite = np.isfinite(a) & np.isfinite(e)
            if finite.any():
                worst = max(worst, float(np.max(np.abs(a - e)[finite])))
        if not same:
            at = tuple([int(x[0]) for x in np.nonzero(np.asarray(actual != expected))])
            print(f"  check   FAILED: {args.names[i]}{list(at)} is {actual[at]}, python says {expected[at]}")
            return 1
    if result is not None and not np.isclose(float(str(result)), float(str(expected_result)), equal_nan=True):
        print(f"  check   FAILED: returned {result}, python says {expected_result}")
        return 1
    print(f"  check   agrees with the python target (largest difference {worst:.3g})")
    return 0
