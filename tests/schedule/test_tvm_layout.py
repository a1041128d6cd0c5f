"""Layouts, reindexing and copies as apache-tvm 0.27 makes them: the programs must be equal, names included.

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
from tirscript.schedule import Schedule
from tirscript.script import tir as T
from tirscript.script.printer import script

from .programs import copy_symbolic, matmul, two_stages
from .test_tvm import CHILD

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it"),
]


@T.prim_func
def nested(A: T.Buffer((4, 8), "int32"), O: T.Buffer((4, 8), "int32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(O[vi, 0:8])
            for j in range(8):
                with T.block("O"):
                    vj = T.axis.spatial(8, j)
                    O[vi, vj] = A[vi, 7 - vj]


@T.prim_func
def together(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + 1
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + 1


@T.prim_func
def readers(
    A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32"),
    E: T.Buffer((8,), "int32"),
):  # fmt: skip
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + 1
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi] + C[vi]
    for i in range(8):
        with T.block("E"):
            vi = T.axis.spatial(8, i)
            E[vi] = A[vi] + C[vi]


@T.prim_func
def conv(
    A: T.Buffer((1, 8, 8, 4), "float32"),
    W: T.Buffer((3, 3, 4, 2), "float32"),
    C: T.Buffer((1, 6, 6, 2), "float32"),
):
    for n, h, w, c, rh, rw, rc in T.grid(1, 6, 6, 2, 3, 3, 4):
        with T.block("C"):
            vn, vh, vw, vc, vrh, vrw, vrc = T.axis.remap("SSSSRRR", [n, h, w, c, rh, rw, rc])
            with T.init():
                C[vn, vh, vw, vc] = T.float32(0)
            C[vn, vh, vw, vc] = C[vn, vh, vw, vc] + A[vn, vh + vrh, vw + vrw, vrc] * W[vrh, vrw, vrc, vc]


@T.prim_func
def guarded(A: T.Buffer((10,), "int32"), O: T.Buffer((12,), "int32")):
    for i in range(12):
        with T.block("O"):
            vi = T.axis.spatial(12, i)
            O[vi] = T.if_then_else(vi >= 1 and vi < 11, A[vi - 1], 0)


TILES = "lambda i, j: (i // 4, j // 2, i % 4, j % 2)"
CASES: dict[str, tuple[Any, str]] = {
    "layout of a stage": (two_stages, f'sch.transform_layout(b("B"), ("write", 0), {TILES})'),
    "layout that is read": (two_stages, f'sch.transform_layout(b("C"), ("read", 0), {TILES})'),
    "layouts of parameters": (
        matmul,
        'sch.transform_layout(b("C"), ("read", 0), lambda i, j: (j, i))\n'
        'sch.transform_layout(b("C"), ("read", 1), lambda i, j: (i * 20 + j,))\n'
        f'sch.transform_layout(b("C"), ("write", 0), {TILES})',
    ),
    "layouts after splits": (
        matmul,
        'sch.split(sch.get_loops(b("C"))[0], [None, 4])\n'
        'sch.transform_layout(b("C"), ("write", 0), lambda m, n: (m * 20 + n,))',
    ),
    "symbolic layouts": (
        copy_symbolic,
        'sch.transform_layout(b("O"), ("write", 0), lambda i, j: (j, i))',
    ),
    "block layout": (matmul, 'sch.transform_block_layout(b("C"), lambda i, j, k: (i // 4, j, k, i % 4))'),
    "block layout, fused": (two_stages, 'sch.transform_block_layout(b("B"), lambda i, j: (i * 10 + j,))'),
    "reindex": (
        conv,
        'for x in (("read", 0), ("read", 1), ("write", 0)):\n    sch.reindex(b("C"), x)',
    ),
    "reindex of stages": (two_stages, 'sch.reindex(b("C"), ("read", 0))\nsch.reindex(b("B"), ("write", 0))'),
    "reindex in a block": (nested, 'sch.reindex(b("O"), ("read", 0))\nsch.reindex(b("O"), ("write", 0))'),
    "reindexed caches": (
        matmul,
        'sch.reindex_cache_read(b("C"), 0, "shared", lambda i, j, k: (k, i))\n'
        'sch.reindex_cache_read(b("C"), 1, "shared", lambda i, j, k: (k * 20 + j,))\n'
        'sch.reindex_cache_write(b("C"), 0, "local", lambda i, j, k: (i // 4, j, i % 4))',
    ),
    "cache in a block": (nested, 'sch.cache_read(b("O"), 0, "local")\nsch.cache_write(b("O"), 0, "shared")'),
    "cache_read in a nest": (together, 'sch.cache_read(b("C"), 0, "local")'),
    "cache_write in a nest": (together, 'sch.cache_write(b("B"), 0, "local")'),
    "cache_read of all readers": (
        readers, 'sch.cache_read(b("E"), 0, "local")\nsch.cache_read(b("D"), 1, "local", [b("D")])',
    ),
    "cache_write with a reader": (readers, 'sch.cache_write(b("C"), 0, "local", [b("D")])'),
    "caches of split loops": (
        copy_symbolic,
        'sch.split(sch.get_loops(b("O"))[0], [None, 16])\n'
        'sch.cache_read(b("O"), 0, "global")\nsch.cache_write(b("O"), 0, "global")',
    ),
    "cache of guarded reads": (guarded, 'sch.cache_read(b("O"), 0, "local")'),
    "copies at loops": (
        matmul,
        'i, j, k = sch.get_loops(b("C"))\n'
        "i0, i1 = sch.split(i, [4, 4])\nk0, k1 = sch.split(k, [4, 6])\n"
        "sch.reorder(i0, j, k0, i1, k1)\n"
        'sch.read_at(k0, b("C"), 0, "shared.dyn")\nsch.read_at(k0, b("C"), 1, "shared")\n'
        'sch.write_at(j, b("C"), 0, "local")',
    ),
    "another dtype": (two_stages, 'sch.unsafe_set_dtype(b("B"), 0, "float16")'),
    "said regions": (
        two_stages,
        'sch.annotate_buffer_access(b("C"), 0, "read", lambda i, j: ((0, 12), (j, j + 1)))\n'
        'sch.annotate_buffer_access(b("C"), 0, "write", lambda i, j: ((i, i + 1), (j, j + 1)))',
    ),
}  # fmt: skip
BLOCK = "b = lambda name: sch.get_block(name)\n"


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, str]]:
    lines = [
        json.dumps([script(program, dialect="tvm-0.27"), (BLOCK + steps).splitlines()])
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


@pytest.mark.parametrize("name", CASES)
def test_equal_programs(name: str, answers: dict[str, dict[str, str]]) -> None:
    program, steps = CASES[name]
    sch = Schedule(program)
    exec(BLOCK + steps, {"sch": sch})
    answer = answers[name]
    assert "text" in answer, answer
    theirs = normalize(ts.parse(spelled_out(answer["text"])))
    theirs = theirs[theirs.names()[0]] if isinstance(theirs, ts.IRModule) else theirs
    ours = normalize(sch.mod)["main"]
    a, b = (f.without_attr("global_symbol") for f in (theirs, ours))
    ts.assert_structural_equal(a, b)
    assert ts.structural_equal(a, b, names=True), f"{answer['text']}\n{sch.mod.script()}"
