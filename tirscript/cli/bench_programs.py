"""``tirscript bench``: times of programs on targets, side by side, on the same random data."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

import numpy as np

from tirscript.diagnostics import TirscriptError
from tirscript.display.objects import seconds
from tirscript.ir import IRModule, PrimFunc
from tirscript.ir import dtype as dt

from . import UsageError
from .inputs import Arguments, parse_settings
from .load import as_module, as_program, load_all
from .run_program import TOLERANCE, entry


class _Row:
    """One program on one target: what it is called, its time, its results."""

    def __init__(self, name: str, target: str) -> None:
        self.name = name
        self.target = target
        self.timing: Any = None
        self.outputs: dict[str, np.ndarray[Any, Any]] = {}
        self.dtypes: dict[str, str] = {}
        self.error = ""
        self.wrong = ""

    @property
    def label(self) -> str:
        return f"{self.name} on {self.target}"


def execute(arguments: Namespace) -> int:
    if min(arguments.number, arguments.repeat) < 1:
        raise UsageError("--number and --repeat are at least 1")
    programs = _programs(arguments)
    targets = arguments.target or ["llvm"]
    settings = parse_settings(arguments.set)
    rows = []
    for name, module in programs:
        for target in targets:
            rows.append(_measure(name, module, target, settings, arguments))
            if not arguments.json:
                _progress(rows[-1])
    base = next((r for r in rows if r.timing is not None), None)
    if base is not None:
        for r in rows:
            if r is not base and r.timing is not None:
                r.wrong = _difference(base, r)
    print(json.dumps([_record(r, base) for r in rows], indent=2) if arguments.json else _table(rows, base))
    for r in rows:
        if r.error:
            print(r.error, file=sys.stderr)
        if r.wrong:
            print(f"{r.label}: {r.wrong}", file=sys.stderr)
    return 1 if any(r.error or r.wrong for r in rows) else 0


def _programs(arguments: Namespace) -> list[tuple[str, IRModule]]:
    """The baseline first."""
    operands = [*([arguments.baseline] if arguments.baseline else []), *arguments.program]
    if operands.count("-") > 1:
        raise UsageError("only one of the programs can be standard input")
    found: list[tuple[str, IRModule]] = []
    loaded: dict[str, list[tuple[str, Any]]] = {}
    for operand in operands:
        if operand not in loaded:
            loaded[operand] = load_all(operand)
        several = len(operands) > 1
        for name, value in loaded[operand]:
            label = operand if operand == "-" or operand.endswith(f":{name}") else f"{operand}:{name}"
            found.append((label if several else name, as_module(as_program(value))))
    return list(dict(found).items())


def _measure(
    name: str, module: IRModule, target: str, settings: dict[str, int | float], arguments: Namespace
) -> _Row:
    from tirscript import driver

    row = _Row(name, target)
    function = entry(module)
    args = Arguments(module[function], settings, arguments.seed)
    try:
        compiled = driver.build(module, target)
        compiled[function](*args.values)
        row.outputs = {args.names[i]: args.values[i] for i in args.outputs}
        row.dtypes = {args.names[i]: _dtype(args.function, i) for i in args.outputs}
        row.timing = compiled.time_evaluator(
            function, number=arguments.number, repeat=arguments.repeat, min_repeat_ms=arguments.min_repeat_ms
        )(*args.copies())
    except TirscriptError as error:
        row.error = f"{row.label}: {error}"
    return row


def _dtype(function: PrimFunc, i: int) -> str:
    return function.buffer_map[function.params[i]].dtype


def _difference(base: _Row, row: _Row) -> str:
    """How the results differ from those of the baseline; empty where they agree or are other things."""
    for name, actual in row.outputs.items():
        expected = base.outputs.get(name)
        if expected is None or expected.shape != actual.shape or expected.dtype != actual.dtype:
            continue
        if dt.info(row.dtypes[name]).is_float:
            tolerance = TOLERANCE.get(str(actual.dtype), 0.3)
            a, e = actual.astype(np.float64), expected.astype(np.float64)
            same = np.isclose(a, e, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            same = np.asarray(actual == expected)
        if not same.all():
            at = tuple([int(x[0]) for x in np.nonzero(~same)])
            return f"{name}{list(at)} is {actual[at]}, the baseline ({base.label}) has {expected[at]}"
    return ""


# ---- what is shown


def _rates(timing: Any) -> dict[str, float]:
    """GFLOP/s and GB/s, where the timing knows the work of the function."""
    rates = {"GFLOP/s": timing.gflops, "GB/s": timing.gbps}
    return {shown: float(value) for shown, value in rates.items() if value is not None}


def _table(rows: list[_Row], base: _Row | None) -> str:
    rates = {k: None for r in rows if r.timing is not None for k in _rates(r.timing)}
    head = ["program", "target", "median", "min", "std", *rates, "speed-up"]
    lines = [head]
    for r in rows:
        if r.timing is None:
            lines.append([r.name, r.target, "failed", *[""] * (len(head) - 3)])
            continue
        own = _rates(r.timing)
        speed = "" if base is None or r is base else f"{base.timing.median / r.timing.median:.2f} x"
        lines.append([
            r.name, r.target, seconds(r.timing.median), seconds(r.timing.min), seconds(r.timing.std),
            *[f"{own[k]:.2f}" if k in own else "" for k in rates],
            "baseline" if r is base else speed + (" (wrong)" if r.wrong else ""),
        ])  # fmt: skip
    widths = [max([len(line[n]) for line in lines]) for n in range(len(head))]
    out = []
    for line in lines:
        # Words to the left, numbers to the right.
        cells = [
            c.ljust(w) if n < 2 else c.rjust(w) for n, (c, w) in enumerate(zip(line, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def _record(r: _Row, base: _Row | None) -> dict[str, Any]:
    out: dict[str, Any] = {"program": r.name, "target": r.target}
    if r.timing is None:
        return out | {"error": r.error}
    out |= {n: getattr(r.timing, n) for n in ("median", "mean", "min", "max", "std")}
    out |= {"results": list(r.timing.results), **_rates(r.timing)}
    if base is not None and r is not base:
        out["speed-up"] = base.timing.median / r.timing.median
    return out | ({"wrong": r.wrong} if r.wrong else {})


def _progress(row: _Row) -> None:
    """Say in a terminal what is done; the table comes at the end."""
    if sys.stderr.isatty():
        took = "failed" if row.timing is None else seconds(row.timing.median)
        print(f"  {row.label}: {took}", file=sys.stderr)
