"""The same steps in apache-tvm 0.27: the programs must be equal, names included.

Without apache-tvm (see ``tests.script.tvm_helper.peer``) these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import tirscript as ts
from tests.script.tvm_helper import normalize, peer, spelled_out
from tirscript.ir.equal import assert_structural_equal
from tirscript.schedule import Schedule
from tirscript.script import tir as T
from tirscript.script.printer import script

from .programs import copy_symbolic, matmul, two_stages
from .test_decompose_padding import pad2d

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it"),
]

CHILD = r"""
import json, sys
from tvm.script import from_source
from tvm.script import ir as I, tirx as T
from tvm import s_tir

for line in sys.stdin:
    text, steps = json.loads(line)
    try:
        sch = s_tir.Schedule(from_source(text, {"T": T, "I": I}))
        exec("\n".join(steps).replace("get_block(", "get_sblock("), {"sch": sch})
        answer = {"text": sch.mod.script()}
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print("\x01" + json.dumps(answer), flush=True)
"""


def steps_of_tiling(sch: Schedule) -> None:
    i, j, k = sch.get_loops(sch.get_block("C"))
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.vectorize(j1)
    sch.parallel(i)
    sch.unroll(k)


def three_factors(sch: Schedule) -> None:
    i, j, k = sch.get_loops(sch.get_block("C"))
    sch.split(i, [2, None, 4])
    sch.split(j, [None, 5, 1])
    sch.split(k, [3, None])


def guarded(sch: Schedule) -> None:
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.split(i, [None, 5])
    sch.split(j, [None, 3])


def fused(sch: Schedule) -> None:
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.parallel(sch.fuse(i, j))


def fused_three(sch: Schedule) -> None:
    sch.fuse(*sch.get_loops(sch.get_block("C")))


def fused_parts(sch: Schedule) -> None:
    i, j, _ = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 4])
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i0, j0, i1, j1)
    sch.fuse(i0, j0)
    sch.fuse(i1, j1)


def guarded_again(sch: Schedule) -> None:
    i, _, k = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 5])
    sch.split(i1, [None, 3])
    k0, k1 = sch.split(k, [None, 6])
    sch.split(k0, [2, 2])
    sch.split(i0, [2, None])
    sch.unroll(k1)


def split_again(sch: Schedule) -> None:
    i, j, _ = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 4])
    sch.split(i0, [2, None])
    sch.split(i1, [None, 2])
    sch.unroll(sch.split(sch.fuse(*sch.split(j, [4, 5])), [None, 10])[1])


def decomposed(sch: Schedule) -> None:
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i, j0, k, j1)
    sch.annotate(j1, "note", "x")
    sch.decompose_reduction(block, k)


def decomposed_outside(sch: Schedule) -> None:
    block = sch.get_block("C")
    i, _, k = sch.get_loops(block)
    sch.split(k, [None, 5])
    sch.split(i, [None, 3])
    sch.decompose_reduction(block, sch.get_loops(block)[0])


def annotated(sch: Schedule) -> None:
    block = sch.get_block("C")
    i = sch.get_loops(block)[0]
    sch.annotate(i, "pragma_auto_unroll_max_step", 16)
    sch.annotate(block, "list", [1, "a"])
    sch.annotate(block, "gone", 1)
    sch.unannotate(block, "gone")


def stages(sch: Schedule) -> None:
    for name in "BC":
        i, j = sch.get_loops(sch.get_block(name))
        sch.parallel(i)
        sch.vectorize(sch.split(j, [None, 5])[1])


def symbolic(sch: Schedule) -> None:
    i, j = sch.get_loops(sch.get_block("O"))
    sch.parallel(sch.split(sch.fuse(i, j), [None, 64])[0])


def symbolic_split(sch: Schedule) -> None:
    i, j = sch.get_loops(sch.get_block("O"))
    i0, i1 = sch.split(i, [None, 4])
    j0, j1 = sch.split(j, [None, 8])
    sch.reorder(i0, j0, i1, j1)


def bound(sch: Schedule) -> None:
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.y")
    sch.bind(sch.split(k, [None, 8])[1], "threadIdx.x")


def rearranged(sch: Schedule) -> None:
    block = sch.get_block("C")
    sch.add_unit_loop(sch.get_loops(block)[0])
    sch.add_unit_loop(block)
    sch.reorder_block_iter_var(block, [2, 0, 1])


def memory(sch: Schedule) -> None:
    block = sch.get_block("B")
    sch.storage_align(block, 0, 0, 32, 8)
    sch.storage_align(block, 0, -1, 2, 0)
    sch.storage_align(block, 0, 0, 16, 4)
    sch.set_scope(block, 0, "shared.dyn")
    sch.set_scope(block, 0, "local")


def inlined(sch: Schedule) -> None:
    sch.compute_inline(sch.get_block("B"))


def cached_reads(sch: Schedule) -> None:
    block = sch.get_block("C")
    sch.cache_read(block, 0, "shared")
    sch.cache_read(block, 1, "local")


def cached_stage(sch: Schedule) -> None:
    sch.cache_read(sch.get_block("C"), 0, "local")
    sch.cache_read(sch.get_block("B"), 0, "shared")


def cached_write(sch: Schedule) -> None:
    block = sch.get_block("C")
    sch.cache_write(block, 0, "local")


def cached_writes(sch: Schedule) -> None:
    sch.cache_write(sch.get_block("C"), 0, "local")
    sch.cache_write(sch.get_block("B"), 0, "shared")
    sch.cache_read(sch.get_block("C"), 0, "local")


def factored(sch: Schedule) -> None:
    block = sch.get_block("C")
    k0, _ = sch.split(sch.get_loops(block)[2], [None, 5])
    sch.rfactor(k0, 0)


def factored_inside(sch: Schedule) -> None:
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    sch.annotate(i, "note", "x")
    sch.annotate(block, "mark", 1)
    k0, k1 = sch.split(k, [None, 6])
    sch.reorder(k0, i, k1, j)
    sch.parallel(i)
    sch.rfactor(k1, -1)
    sch.decompose_reduction(block, k1)


def factored_again(sch: Schedule) -> None:
    k0, k1, k2 = sch.split(sch.get_loops(sch.get_block("C"))[2], [2, None, 4])
    partial = sch.rfactor(k1, 1)
    sch.rfactor(sch.get_loops(partial)[4], 2)


def padded(sch: Schedule) -> None:
    block = sch.get_block("pad")
    sch.decompose_padding(block, sch.get_loops(block)[0])


def padded_inside(sch: Schedule) -> None:
    block = sch.get_block("pad")
    i, j = sch.get_loops(block)
    sch.parallel(i)
    sch.split(j, [None, 5])
    sch.decompose_padding(block, sch.get_loops(block)[1])


def einsum_padded(sch: Schedule) -> None:
    block = sch.get_block("C")
    sch.parallel(sch.get_loops(block)[0])
    sch.pad_einsum(block, [32, 1, 10])


def einsum_padded_whole(sch: Schedule) -> None:
    block = sch.get_block("C")
    sch.pad_einsum(block, [3, 16, 32])


def merged(sch: Schedule) -> None:
    b, c = sch.get_block("B"), sch.get_block("C")
    sch.merge(sch.get_loops(b)[0], sch.get_loops(c)[0])


def merged_whole(sch: Schedule) -> None:
    b, c = sch.get_block("B"), sch.get_block("C")
    sch.merge(sch.get_loops(b)[1], sch.get_loops(c)[1])


def computed(sch: Schedule) -> None:
    i, j = sch.get_loops(sch.get_block("C"))
    i0, i1 = sch.split(i, [None, 5])
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(i0, j0, i1, j1)
    sch.compute_at(sch.get_block("B"), j0)


def computed_inside(sch: Schedule) -> None:
    sch.compute_at(sch.get_block("B"), sch.get_loops(sch.get_block("C"))[1], True)


def computed_behind(sch: Schedule) -> None:
    i, j = sch.get_loops(sch.get_block("B"))
    fused = sch.fuse(i, j)
    outer = sch.split(fused, [None, 20])[0]
    sch.reverse_compute_at(sch.get_block("C"), outer)


def tiled_with_caches(sch: Schedule) -> None:
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, [None, 4])
    j0, j1 = sch.split(j, [None, 5])
    k0, k1 = sch.split(k, [None, 6])
    sch.reorder(i0, j0, k0, i1, k1, j1)
    write = sch.cache_write(block, 0, "local")
    sch.reverse_compute_at(write, j0)
    for n in range(2):
        sch.compute_at(sch.cache_read(block, n, "shared"), k0)


def inlined_behind(sch: Schedule) -> None:
    sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 5])
    sch.reverse_compute_inline(sch.get_block("C"))


def halo(sch: Schedule) -> None:
    i0, _ = sch.split(sch.get_loops(sch.get_block("C"))[0], [None, 4])
    sch.compute_at(sch.get_block("B"), i0)


def rolled(sch: Schedule) -> None:
    halo(sch)
    sch.rolling_buffer(sch.get_block("B"), 0)


@T.prim_func
def stencil(A: T.Buffer((18, 8), "int32"), C: T.Buffer((16, 8), "int32")):
    B = T.alloc_buffer((18, 8), "int32")
    for i, j in T.grid(18, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j, k in T.grid(16, 8, 3):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + B[vi + vk, vj]


OF_MATMUL = (
    steps_of_tiling,
    three_factors,
    guarded,
    guarded_again,
    split_again,
    fused,
    fused_three,
    fused_parts,
    decomposed,
    decomposed_outside,
    annotated,
    bound,
    rearranged,
    cached_reads,
    cached_write,
    factored,
    factored_inside,
    factored_again,
    einsum_padded,
    einsum_padded_whole,
)
CASES: dict[str, tuple[Any, Callable[[Schedule], None]]] = {
    **{f.__name__: (matmul, f) for f in OF_MATMUL},
    "stages": (two_stages, stages),
    "memory": (two_stages, memory),
    "inlined": (two_stages, inlined),
    "cached_stage": (two_stages, cached_stage),
    "cached_writes": (two_stages, cached_writes),
    **{f.__name__: (two_stages, f) for f in (computed, computed_inside, computed_behind, inlined_behind)},
    "halo": (stencil, halo),
    "rolled": (stencil, rolled),
    "merged": (two_stages, merged),
    "merged_whole": (two_stages, merged_whole),
    "padded": (pad2d, padded),
    "padded_inside": (pad2d, padded_inside),
    "symbolic": (copy_symbolic, symbolic),
    "symbolic_split": (copy_symbolic, symbolic_split),
}


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, str]]:
    lines = []
    for program, steps in CASES.values():
        sch = Schedule(program)
        steps(sch)
        lines.append(json.dumps([script(program, dialect="tvm-0.27"), list(sch.trace.as_python())]))
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
    steps(sch)
    answer = answers[name]
    assert "text" in answer, answer
    theirs = normalize(ts.parse(spelled_out(answer["text"])))
    theirs = theirs[theirs.names()[0]] if isinstance(theirs, ts.IRModule) else theirs
    ours = normalize(sch.mod)["main"]
    assert_structural_equal(theirs.without_attr("global_symbol"), ours.without_attr("global_symbol"))
    assert ts.structural_equal(
        theirs.without_attr("global_symbol"), ours.without_attr("global_symbol"), names=True
    ), f"{answer['text']}\n{sch.mod.script()}"
