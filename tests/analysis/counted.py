"""What a program does, counted while it is interpreted: the independent number for ``analysis.cost``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tirscript as ts
from tirscript.ir import dtype as dt
from tirscript.ir import expr as ir
from tirscript.ir import stmt as st
from tirscript.ir.op import OPS
from tirscript.testing import evaluate, meaning, random_inputs

ARITHMETIC = (
    ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Mod, ir.FloorDiv, ir.FloorMod, ir.Min, ir.Max,
)  # fmt: skip
MATH = frozenset([op.name for op in OPS.values() if op.group in ("math", "bits")]) - {
    "isnan", "isinf", "isfinite", "ldexp", "fma",
}  # fmt: skip


class Tally:
    def __init__(self) -> None:
        self.flops = self.loads = self.stores = 0
        self.runs = 0
        self.footprint = 0  # of the largest run
        self.touched: set[tuple[int, int]] = set()


class Counting(meaning.Interpreter):
    """Counts what is done, for the whole and for each loop and block that is being run."""

    def __init__(self, functions: dict[str, ts.PrimFunc]) -> None:
        super().__init__(functions)
        self.parts: dict[Any, Tally] = defaultdict(Tally)
        self.active: list[Any] = ["all"]
        self.parts["all"].runs = 1
        self.kept: list[Any] = []
        self.scratch: dict[int, Any] = {}  # memory that is allocated anew each time, by whose it is

    def tallies(self) -> Iterator[Tally]:
        for key in dict.fromkeys(self.active):
            yield self.parts[key]

    def value(self, e: Any) -> Any:
        t = type(e)
        number = 0
        if t in ARITHMETIC and not self.exact(e):
            number = dt.lanes(e.dtype)
        elif t is ir.Call and e.op in MATH:
            number = dt.lanes(e.dtype)
        elif t is ir.Call and e.op == "fma":
            number = 2 * dt.lanes(e.dtype)
        if number:
            for part in self.tallies():
                part.flops += number
        return super().value(e)

    def _own(self, b: Any) -> None:
        super()._own(b)
        self.scratch[id(self.views[b].memory)] = b

    def run(self, s: Any) -> None:
        if type(s) is st.DeclBuffer:
            self.scratch.setdefault(id(self.env[s.buffer.data].memory), s.buffer.data)
        last = self.active[-1]
        if type(last) is st.Block and s is last.body:
            self.parts[last].runs += 1
        if type(s) is not st.For and type(s) is not st.BlockRealize:
            super().run(s)
            return
        node = s if type(s) is st.For else s.block
        part = self.parts[node]
        part.runs += type(s) is st.For
        outer, part.touched = part.touched, set()
        self.active.append(node)
        super().run(s)
        self.active.pop()
        part.footprint = max(part.footprint, len(part.touched))
        part.touched = outer

    def moved(self, view: Any, index: Any, is_write: bool) -> None:
        size = view.size * view.lanes
        at = view.place(index)
        self.kept.append(view.memory)  # so that its id is not given again
        # What a block allocates anew each time it runs is the same memory, to a cache.
        owner = id(self.scratch.get(id(view.memory), view.memory))
        for part in self.tallies():
            if is_write:
                part.stores += size
            else:
                part.loads += size
            part.touched.update([(owner, at + k) for k in range(size)])


@contextmanager
def _watched(x: Counting) -> Iterator[None]:
    read, write = evaluate.View.read, evaluate.View.write

    def reading(view: Any, index: Any) -> Any:
        x.moved(view, index, False)
        return read(view, index)

    def writing(view: Any, index: Any, value: Any) -> None:
        x.moved(view, index, True)
        write(view, index, value)

    evaluate.View.read, evaluate.View.write = reading, writing  # type: ignore[method-assign]
    try:
        yield
    finally:
        evaluate.View.read, evaluate.View.write = read, write  # type: ignore[method-assign]


def tallied(f: ts.PrimFunc, args: list[Any]) -> dict[Any, Tally]:
    """The tallies of a run: of ``"all"``, of each loop and each block."""
    x = Counting({})
    taken = meaning._Taken([a for a in args if isinstance(a, np.ndarray)])
    given = [taken.pointer(a) if isinstance(a, np.ndarray) else a for a in args]
    with _watched(x), np.errstate(all="ignore"):
        x.call(f, given)
    x.parts["all"].footprint = len(x.parts["all"].touched)
    return dict(x.parts)


def counted(f: ts.PrimFunc, sizes: dict[str, int] | None = None, seed: int = 0) -> dict[Any, Tally]:
    """The tallies of a run on random numbers."""
    return tallied(f, random_inputs(f, seed, symbols=sizes))
