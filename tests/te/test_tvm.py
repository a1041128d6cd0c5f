"""Tensor programs become the programs that TVM makes of them: names of blocks and axes, order, attributes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import tirscript as ts
from tirscript import te, tir, topi

from .peer_programs import PROGRAMS, run

PEER = os.environ.get("TIRSCRIPT_PEERS")


@pytest.fixture(scope="module")
def theirs() -> dict[str, str]:
    if not PEER:
        pytest.skip("TIRSCRIPT_PEERS names no Python with apache-tvm")
    script = Path(__file__).with_name("peer_programs.py")
    done = subprocess.run([PEER, str(script)], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def comparable(text: str) -> ts.PrimFunc:
    """Regions are inferred anew; the identity of a maximum of floats is -inf here, TVM's the least number."""
    lines = [line for line in text.splitlines() if not re.match(r"\s*T\.(reads|writes)\(", line)]
    text = "\n".join(lines).replace(
        "T.float32(-340282346638528859811704183484516925440.0)", 'T.float32("-inf")'
    )
    func = ts.from_source(text)
    assert isinstance(func, ts.PrimFunc)
    return func


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_program(name: str, theirs: dict[str, str]) -> None:
    mine = run(PROGRAMS[name], te, tir, topi)
    ts.assert_structural_equal(comparable(mine.script()), comparable(theirs[name]), names=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_builds(name: str) -> None:
    assert ts.build(run(PROGRAMS[name], te, tir, topi))["main"]
