"""loop_partition as apache-tvm 0.27 does it: the same blocks, loops and names.

The regions are not compared: TVM says that the blocks around the parts touch nothing, and that each instance
inside touches all that its part touches.  Nor are partitioned reductions, which TVM initializes in each part,
and loops that start above 0, whose parts TVM lets end too early.
Without apache-tvm (see ``tests.script.tvm_helper.peer``) these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

import tirscript as ts
from tests.script.tvm_helper import normalize, peer, spelled_out
from tirscript.ir import Block, PrimFunc
from tirscript.schedule import Schedule
from tirscript.script.printer import script

from .programs import matmul, two_stages
from .test_tvm import CHILD

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it"),
]

# The program, and a step at one of its loops.
CASES: dict[str, tuple[Any, str]] = {
    "a point": (two_stages, 'sch.loop_partition(sch.get_loops(sch.get_block("B"))[1], [4])'),
    "three parts": (two_stages, 'sch.loop_partition(sch.get_loops(sch.get_block("B"))[1], [2, None, 3])'),
    "the outer loop": (two_stages, 'sch.loop_partition(sch.get_loops(sch.get_block("B"))[0], [2, None])'),
    "a loop around a reduction": (
        matmul, 'sch.loop_partition(sch.get_loops(sch.get_block("C"))[1], [8, 4, None])'
    ),
    "the outermost loop": (matmul, 'sch.loop_partition(sch.get_loops(sch.get_block("C"))[0], [None, 8])'),
    "a part of a part": (
        two_stages,
        'sch.loop_partition(sch.get_loops(sch.get_block("B"))[1], [4])\n'
        'sch.loop_partition(sch.get_loops(sch.get_block("B_j0"))[0], [3, None])',
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, str]]:
    lines = [
        json.dumps([script(program, dialect="tvm-0.27"), steps.splitlines()])
        for program, steps in CASES.values()
    ]
    python = peer()
    assert python is not None
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    child = subprocess.run(
        [python, "-c", CHILD], input="\n".join(lines) + "\n", capture_output=True, text=True, env=environment
    )
    got = [json.loads(x[1:]) for x in child.stdout.splitlines() if x.startswith("\x01")]
    assert len(got) == len(CASES), child.stderr[-1000:]
    return dict(zip(CASES, got, strict=True))


def without_regions(n: Any) -> Any:
    n = n.map_children(without_regions)
    return n.replace(reads=(), writes=()) if isinstance(n, Block) else n


def comparable(program: Any) -> PrimFunc:
    """The one function, without its name and its regions."""
    func = normalize(program)
    if isinstance(func, ts.IRModule):
        func = func[func.names()[0]]
    return func.replace(body=without_regions(func.body)).without_attr("global_symbol")


@pytest.mark.parametrize("name", CASES)
def test_equal_programs(name: str, answers: dict[str, dict[str, str]]) -> None:
    program, steps = CASES[name]
    sch = Schedule(program)
    exec(steps, {"sch": sch})
    answer = answers[name]
    assert "text" in answer, answer
    theirs, ours = comparable(ts.parse(spelled_out(answer["text"]))), comparable(sch.mod)
    ts.assert_structural_equal(theirs, ours)
    assert ts.structural_equal(theirs, ours, names=True), f"{answer['text']}\n{sch.mod.script()}"
