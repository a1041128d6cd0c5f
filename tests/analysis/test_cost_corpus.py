"""The costs of every program of the corpus that runs, as written and lowered, against what it does."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tirscript as ts
from tests.corpus import CORPUS, THEMES
from tirscript.analysis.cost import AT_LEAST, AT_MOST, cost_of
from tirscript.testing import random_inputs
from tirscript.testing.evaluate import NotInterpreted

from .counted import tallied

NAMES = ("flops", "loads", "stores", "footprint")


def sizes_of(f: ts.PrimFunc, args: list[Any]) -> dict[Any, int]:
    out: dict[Any, int] = {}
    for p, value in zip(f.params, args, strict=True):
        b = f.buffer_map.get(p)
        if b is None:
            out[p] = value
            continue
        for n, given in zip(b.shape, value.shape, strict=False):
            out.setdefault(n, given)
    return out


@pytest.mark.parametrize("theme", THEMES)
def test_costs_are_what_is_done(theme: str) -> None:
    compared = 0
    for entry in CORPUS.values():
        if entry.theme != theme or not entry.executable:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = entry.program()
        if not isinstance(program, ts.PrimFunc) or any("x" in b.dtype for b in program.buffers):
            continue
        ints = entry.options.get("ints", (-9, 10))
        size = entry.options.get("size")
        for f in (program, next(iter(ts.lower(program).functions.values()))):
            args = random_inputs(f, ints=ints, size=None if size is None else int(size))
            try:
                true = tallied(f, args)["all"]
            except NotInterpreted:
                continue
            cost, sizes = cost_of(f), sizes_of(f, args)
            for name in NAMES:
                found, done = getattr(cost, name), getattr(true, name)
                value = found.value(sizes)
                if found.bound == 0:
                    assert value == done, (entry.name, name, found)
                    compared += 1
                elif found.bound == AT_MOST:
                    assert value >= done, (entry.name, name, found)
                elif found.bound == AT_LEAST and entry.name != "intrin_call_pure_extern":
                    assert value <= done, (entry.name, name, found)
    assert compared or theme in ("modules", "gpu", "references")
