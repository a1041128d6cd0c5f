"""Whether a rewritten program computes what the original does: for ``Schedule(verify=True)``.

Both run on the python target, from 10^5 iterations on through LLVM at -O1 with checked accesses, and beyond
10^10 not at all.  Where there are few iterations the sanitizer looks for races and the like, too; somewhat
more are allowed to it after a step that made loops parallel or vectorized.  Symbolic extents are tried as 1,
as primes and as composite numbers; constant ones stay.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tirscript.diagnostics import CheckFailed, TirscriptError
from tirscript.display.progress_bar import progress
from tirscript.ir import dtype as dt
from tirscript.ir.expr import IntImm, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, For, Stmt, While
from tirscript.ir.visitor import buffer_exprs, free_vars

from .reference import TOLERANCE, copied, evaluate, random_inputs

INTERPRETED, RUN, MEMORY = 10**5, 10**10, 1 << 31
SANITIZED, SANITIZED_ONCE = 4000, 30_000
_PRIMES, _COMPOSITES = (7, 5, 11, 3, 13), (12, 8, 16, 4, 6)
# Integers that index other arrays must stay inside them: smaller ones are tried where larger ones do not.
_INTEGERS = ((-9, 10), (0, 4), (0, 1))
_UNKNOWN = 8  # iterations of a loop of which nothing is known
# Faults that are none where the results are right: what was read so was not used, and the like.
_HARMLESS = (
    "uninitialised-read",
    "repeated-instance",
    "axis-not-covered",
    "cast-of-nan",
    "cast-out-of-range",
)
_LLVM = "llvm -O=1 -fp-contract=off -math=scalar"


def _target(count: int, checked: bool, sanitized: int = SANITIZED) -> str:
    """What to run so many iterations on."""
    if count > INTERPRETED:
        return f"{_LLVM} -checked" if checked else _LLVM
    return "python -checked" if checked and count <= sanitized else "python"


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether results differ, and in what; without a difference, why nothing was compared (or "")."""

    differs: bool = False
    text: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments, and what the original made of them."""

    symbols: Mapping[str, int]
    given: Sequence[Any]
    wanted: Sequence[Any]
    checked: bool


class StepChecker:
    """Remembers what the functions of a module compute, and compares others with them.

    >>> import tirscript as ts
    >>> text = "@T.prim_func\\ndef f(A: T.Buffer((4,), 'int32')):\\n  for i in range(4):\\n    A[i] = i * "
    >>> checker = StepChecker(ts.IRModule({"f": ts.parse(text + "2")}))
    >>> checker.compare(ts.IRModule({"f": ts.parse(text + "3")}), "f").text
    '`A`[1] is 3, was 2'
    """

    def __init__(self, mod: IRModule) -> None:
        self._mod = IRModule(dict(mod.functions_items()), mod.attrs)
        self._known: dict[str, list[Case] | str] = {}
        self._kinds: dict[str, list[str]] = {name: _kinds(mod[name]) for name in mod}

    def compare(self, mod: IRModule, name: str) -> Answer:
        """Compare the function of that name in ``mod`` with the one that was given at first."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._cases(name)
        if isinstance(known, str):
            return Answer(text=known)
        func = mod[name]
        kinds = _kinds(func)
        sanitized = SANITIZED if kinds == self._kinds[name] else SANITIZED_ONCE
        answer = self._compared(mod, name, known, sanitized)
        if not answer.differs:
            self._kinds[name] = kinds
        return answer

    def _compared(self, mod: IRModule, name: str, known: list[Case], sanitized: int) -> Answer:
        func = mod[name]
        runs: dict[str, Any] = {}
        for case in progress(known, f"checking `{name}`"):
            shapes = _shapes(func, case.symbols)
            if shapes != [a.shape if isinstance(a, np.ndarray) else None for a in case.given]:
                return Answer(text="its parameters have other shapes than at first")
            count = iterations(func, case.symbols)
            if count > RUN:
                return Answer(text=f"it has about {count:.0e} iterations")
            target = _target(count, case.checked, sanitized)
            try:
                if target not in runs:
                    runs[target] = _runnable(mod, name, target)
                got = _run(runs[target], case.given)
            except CheckFailed as e:
                found = self._shown(mod, name, case, count)
                if found is not None:
                    return found
                if e.code not in _HARMLESS:
                    return Answer(True, f"{e.message}{_with(case.symbols)}", tuple(e.notes))
                continue
            except IndexError as e:
                return Answer(True, f"an access is out of bounds{_with(case.symbols)}", (str(e),))
            except TirscriptError as e:
                return Answer(text=f"it does not run: {type(e).__name__}: {e.message}")
            found = _difference(func, case, got)
            if found is not None:
                return found
        return Answer()

    def _shown(self, mod: IRModule, name: str, case: Case, count: int) -> Answer | None:
        """A wrong element of a program in which the sanitizer found a fault, if there is one to be seen."""
        if count > INTERPRETED:
            return None
        _leave_garbage(mod[name], case.symbols)
        try:
            return _difference(mod[name], case, _run(_runnable(mod, name, "python"), case.given))
        except (TirscriptError, IndexError, ValueError):
            return None

    def _cases(self, name: str) -> list[Case] | str:
        """What the original computes for each choice of its sizes, or why that is not known."""
        func = self._mod[name]
        cases: list[Case] = []
        reason = "it cannot be called"
        for symbols in _bindings(func):
            made = self._case(name, func, symbols)
            if isinstance(made, str):
                reason = made
            else:
                cases.append(made)
        return cases or reason

    def _case(self, name: str, func: PrimFunc, symbols: Mapping[str, int]) -> Case | str:
        reason = ""
        try:
            count = iterations(func, symbols)
            if count > RUN:
                return f"it has about {count:.0e} iterations"
            size = sum(math.prod(s) * 8 for s in _shapes(func, symbols) if s is not None)
            if size > MEMORY:
                return f"its arguments take about {size:.0e} bytes"
        except (TirscriptError, ZeroDivisionError, KeyError, OverflowError) as e:
            return f"its sizes are not known: {e}"
        for checked in (True, False):
            for ints in _INTEGERS:
                try:
                    given = random_inputs(func, 1, ints=ints, symbols=symbols)
                    # What is not checked must not read wherever a random index points.
                    if not checked and ints != (0, 1):
                        continue
                    wanted = _run(_runnable(self._mod, name, _target(count, checked)), given)
                    return Case(symbols, given, wanted, checked)
                except (TirscriptError, ValueError, IndexError) as e:
                    reason = f"it does not run: {type(e).__name__}: {e!s:.120}"
        return reason


def _bindings(func: PrimFunc) -> list[dict[str, int]]:
    names = list(dict.fromkeys(v.name for b in func.buffers for e in buffer_exprs(b) for v in _variables(e)))
    if not names:
        return [{}]
    return [
        {n: choice[k % len(choice)] for k, n in enumerate(names)} for choice in ((1,), _PRIMES, _COMPOSITES)
    ]


def _variables(e: Any) -> list[Var]:
    return list(free_vars(e))


def _values(func: PrimFunc, symbols: Mapping[str, int]) -> dict[Var, int]:
    return {
        v: symbols[v.name]
        for b in func.buffers
        for e in buffer_exprs(b)
        for v in _variables(e)
        if v.name in symbols
    }


def _shapes(func: PrimFunc, symbols: Mapping[str, int]) -> list[tuple[int, ...] | None]:
    """The shapes of the arguments; None for numbers."""
    values = _values(func, symbols)
    out: list[tuple[int, ...] | None] = []
    for p in func.params:
        buffer = func.buffer_map.get(p)
        if buffer is None:
            out.append(None)
            continue
        lanes = dt.info(buffer.dtype).lanes
        shape = tuple([evaluate(n, values) for n in buffer.shape])
        out.append(shape if lanes == 1 else (*shape, lanes))
    return out


def iterations(func: PrimFunc, symbols: Mapping[str, int]) -> int:
    """About how many iterations the innermost loops have together."""
    values = _values(func, symbols)

    def extent(loop: For) -> int:
        if type(loop.extent) is IntImm:
            return max(loop.extent.value, 0)
        try:
            return max(evaluate(loop.extent, values), 0)
        except (KeyError, TypeError, ValueError, TirscriptError, NotImplementedError):
            return _UNKNOWN

    total = 0
    stack: list[tuple[Any, int]] = [(func.body, 1)]
    while stack:
        s, count = stack.pop()
        if type(s) is For:
            count *= extent(s)
        elif type(s) is While:
            count *= _UNKNOWN
        children = [s.body] if type(s) is Block else s.children()
        inner = [c for c in children if isinstance(c, (Stmt, Block))]
        if not inner:
            total += count
        stack.extend((c, count) for c in inner)
    return total


def _kinds(func: PrimFunc) -> list[str]:
    """How the loops run that do not run in order."""
    return sorted(s.kind + s.thread for s in walk(func.body) if type(s) is For and s.kind != "serial")


def _leave_garbage(func: PrimFunc, symbols: Mapping[str, int]) -> None:
    """Fill memory that the function's own arrays are likely to be made of with bits that would be seen."""
    values = _values(func, symbols)
    made = []
    for s in walk(func.body):
        for b in s.alloc_buffers if type(s) is Block else ():
            try:
                count = math.prod([evaluate(n, values) for n in b.shape]) * max(dt.info(b.dtype).bits // 8, 1)
            except (KeyError, TypeError, ValueError, TirscriptError):
                continue
            if 0 < count < MEMORY:
                made += [np.full(count, 255, np.uint8) for _ in range(8)]


def _runnable(mod: IRModule, name: str, target: str) -> Any:
    from tirscript.driver import build

    part = IRModule(dict(mod.functions_items()), mod.attrs)
    if "global_symbol" not in part[name].attrs:
        part.update_func(part.get_global_var(name), part[name].with_attr("global_symbol", name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build(part, target)[name]


def _run(function: Any, given: Sequence[Any]) -> list[Any]:
    copies = [copied(a) for a in given]
    with np.errstate(all="ignore"):
        result = function(*copies)
    return [*copies, result]


def _difference(func: PrimFunc, case: Case, got: Sequence[Any]) -> Answer | None:
    names = [func.buffer_map[p].name if p in func.buffer_map else p.name for p in func.params]
    for name, a, b in zip([*names, "the result"], got, case.wanted, strict=True):
        if b is None:
            continue
        x, y = np.asarray(a), np.asarray(b)
        wrong = ~_equal(x, y)
        if wrong.any():
            at = tuple(int(n) for n in np.argwhere(wrong)[0])
            where = f"`{name}`[{', '.join(map(str, at))}]" if at else f"`{name}`" if name in names else name
            text = f"{where} is {x[at]}, was {y[at]}{_with(case.symbols)}"
            count = int(wrong.sum())
            return Answer(True, text, (f"{count} of {x.size} elements differ",) if x.size > 1 else ())
    return None


def _with(symbols: Mapping[str, int]) -> str:
    return f" with {', '.join(f'{n} = {v}' for n, v in symbols.items())}" if symbols else ""


def _equal(x: Any, y: Any) -> Any:
    if x.dtype.kind in "biu" or x.dtype.name.startswith(("int", "uint")):
        return x == y
    tolerance = TOLERANCE.get(x.dtype.name, 1e-1)
    a, b = x.astype(np.float64), y.astype(np.float64)
    finite = b[np.isfinite(b)]
    scale = float(np.max(np.abs(finite), initial=1.0))
    return np.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


__all__ = ["Answer", "StepChecker", "iterations"]
