"""Every schedule primitive against apache-tvm 0.27, interleaved in one process.

    TIRSCRIPT_PEERS=/path/to/python-with-apache-tvm python tests/benchmarks/schedule_time.py

Each row is the median processor time of runs in turns of five (so that each system works in a cache that it
has filled itself, as it does in use), each on a fresh schedule: on ``mm_relu``, on a chain of 48 elementwise
blocks, and on small programs that single primitives need.  A ratio above its goal (1 for most) is marked.
``--only WORD`` runs the rows whose name holds the word, ``--burst 1`` changes over at each run.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The ratio that a row must stay under (tirscript's time / TVM's) where it is not 1.
GOALS = {
    "matmul: split, guarded": 1 / 20, "matmul: tiling of 7": 1 / 4, "matmul: refused parallel": 1 / 2,
    "48 blocks: Schedule()": 1 / 20,
}  # fmt: skip
BURST = 5  # runs of one system in a row
SPELLINGS = {
    "tirscript": {"marker": "", "alloc": "alloc_buffer", "block": "block"},
    "tvm": {"marker": "(s_tir=True)", "alloc": "sblock_alloc_buffer", "block": "sblock"},
}
MATMUL = """
@T.prim_func{marker}
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    Y = T.{alloc}((128, 128), "float32")
    for i, j, k in T.grid(128, 128, 128):
        with T.{block}("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(128, 128):
        with T.{block}("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""  # noqa: E501
PADDED = """
@T.prim_func{marker}
def main(A: T.Buffer((126, 126), "float32"), B: T.Buffer((128, 128), "float32")):
    for i, j in T.grid(128, 128):
        with T.{block}("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.if_then_else(
                1 <= vi and vi < 127 and 1 <= vj and vj < 127, A[vi - 1, vj - 1], T.float32(0)
            )
"""
STENCIL = """
@T.prim_func{marker}
def main(A: T.Buffer((130, 130), "float32"), C: T.Buffer((128, 128), "float32")):
    B = T.{alloc}((130, 128), "float32")
    for i, j in T.grid(130, 128):
        with T.{block}("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, vj + 1] + A[vi, vj + 2]
    for i, j in T.grid(128, 128):
        with T.{block}("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]
"""
INPLACE = """
@T.prim_func{marker}
def main(A: T.Buffer((128, 128), "float32")):
    for i, j in T.grid(128, 128):
        with T.{block}("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + T.float32(1)
"""
RESIZE = """
@T.prim_func{marker}
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((128, 128), "float32")):
    for i, j in T.grid(128, 128):
        with T.{block}("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi * 64 // 128, vj * 64 // 128]
"""
DOT = """
@T.prim_func{marker}
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "float32", offset_factor=1)
    B = T.match_buffer(b, (4,), "float32", offset_factor=1)
    C = T.match_buffer(c, (1,), "float32", offset_factor=1)
    with T.{block}("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
        for i in range(4):
            with T.{block}("update"):
                vi = T.axis.remap("R", [i])
                C[0] = C[0] + A[vi] * B[vi]
"""
DOT_IMPL = """
@T.prim_func{marker}
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "float32", offset_factor=1)
    B = T.match_buffer(b, (4,), "float32", offset_factor=1)
    C = T.match_buffer(c, (1,), "float32", offset_factor=1)
    with T.{block}("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
        C[0] = C[0] + T.call_extern("float32", "dot4", A.data, B.data)
"""
PRODUCT = """
@T.prim_func{marker}
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    for i, j, k in T.grid(128, 128, 128):
        with T.{block}("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
"""  # noqa: E501


def chain(count: int, spelling: dict[str, str]) -> str:
    """Blocks B0, B1, ...: each adds 1 to what the one before stored."""
    shape = "(64, 64, 64, 64)"
    lines = [f"@T.prim_func{spelling['marker']}"]
    lines += [f'def main(X: T.Buffer({shape}, "float32"), Y: T.Buffer({shape}, "float32")):']
    names = ["X", *[f"S{n}" for n in range(count - 1)], "Y"]
    for name in names[1:-1]:
        lines.append(f'    {name} = T.{spelling["alloc"]}({shape}, "float32")')
    for n in range(count):
        lines += [
            "    for i, j, k, l in T.grid(64, 64, 64, 64):",
            f'        with T.{spelling["block"]}("B{n}"):',
            '            a, b, c, d = T.axis.remap("SSSS", [i, j, k, l])',
            f"            {names[n + 1]}[a, b, c, d] = {names[n]}[a, b, c, d] + T.float32(1)",
        ]
    return "\n".join(lines) + "\n"


Step = tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]


def of_matmul() -> dict[str, Step]:
    """For each primitive what comes before (it gives the arguments), and the step that is timed."""

    def loops(s: Any) -> Any:
        return s.get_loops(s.block("Y"))

    def tiled(s: Any) -> Any:
        i, j, k = loops(s)
        i0, i1 = s.split(i, [None, 16])
        j0, j1 = s.split(j, [None, 16])
        s.reorder(i0, j0, i1, j1, k)
        return i0, j0, i1, j1, k

    def split_k(s: Any) -> Any:
        return s.split(loops(s)[2], [None, 16])

    def seven(s: Any, given: Any = None) -> Any:
        """Three splits, a reorder, and the kinds of three loops."""
        i, j, k = given or loops(s)
        i0, i1 = s.split(i, [None, 16])
        j0, j1 = s.split(j, [None, 16])
        k0, k1 = s.split(k, [None, 8])
        s.reorder(i0, j0, k0, i1, j1, k1)
        s.parallel(i0)
        s.vectorize(j1)
        s.unroll(k1)
        return s

    def annotated(s: Any) -> Any:
        i = loops(s)[0]
        s.annotate(i, "note", 1)
        return i

    def y(s: Any) -> Any:
        return s.block("Y")

    def c(s: Any) -> Any:
        return s.block("C")

    return {
        "get_block": (lambda s: None, lambda s, _: s.block("Y")),
        "get_loops": (y, lambda s, b: s.get_loops(b)),
        "get_producers": (c, lambda s, b: s.get_producers(b)),
        "get_consumers": (y, lambda s, b: s.get_consumers(b)),
        "split": (loops, lambda s, x: s.split(x[1], [None, 4])),
        "split, guarded": (loops, lambda s, x: s.split(x[1], [None, 48])),
        "fuse": (loops, lambda s, x: s.fuse(x[0], x[1])),
        "reorder": (loops, lambda s, x: s.reorder(x[0], x[2], x[1])),
        "merge": (lambda s: (loops(s)[0], s.get_loops(s.block("C"))[0]), lambda s, x: s.merge(*x)),
        "loop_partition": (loops, lambda s, x: s.loop_partition(x[1], [2, None, 60])),
        "add_unit_loop": (y, lambda s, b: s.add_unit_loop(b)),
        "reorder_block_iter_var": (y, lambda s, b: s.reorder_block_iter_var(b, [1, 0, 2])),
        "parallel": (loops, lambda s, x: s.parallel(x[0])),
        "vectorize": (loops, lambda s, x: s.vectorize(x[1])),
        "unroll": (loops, lambda s, x: s.unroll(x[2])),
        "bind": (loops, lambda s, x: s.bind(x[0], "blockIdx.x")),
        "annotate": (loops, lambda s, x: s.annotate(x[0], "pragma_auto_unroll_max_step", 16)),
        "unannotate": (annotated, lambda s, x: s.unannotate(x, "note")),
        "get_child_blocks": (lambda s: s.block("root"), lambda s, b: s.get_child_blocks(b)),
        "get_output_blocks": (lambda s: s.block("root"), lambda s, b: s.get_output_blocks(b)),
        "read_at": (lambda s: (loops(s)[1], y(s)), lambda s, x: s.read_at(*x, 0, "shared")),
        "write_at": (lambda s: (loops(s)[1], y(s)), lambda s, x: s.write_at(*x, 0, "local")),
        "unsafe_set_dtype": (y, lambda s, b: s.unsafe_set_dtype(b, 0, "float16")),
        "set_axis_separator": (y, lambda s, b: s.set_axis_separator(b, ("write", 0), [1])),
        "unsafe_hide_buffer_access": (y, lambda s, b: s.unsafe_hide_buffer_access(b, "read", [0])),
        "annotate_buffer_access": (
            c,
            lambda s, b: s.annotate_buffer_access(
                b, 0, "read", lambda i, j: ((i, i + 1), (j, j + 1))
            ),
        ),
        "compute_inline": (lambda s: s.cache_read(y(s), 0, "shared"), lambda s, b: s.compute_inline(b)),
        "reverse_compute_inline": (
            lambda s: s.cache_write(c(s), 0, "local") and s.block("C_local"),
            lambda s, b: s.reverse_compute_inline(b),
        ),
        "decompose_reduction": (lambda s: (y(s), loops(s)[2]), lambda s, x: s.decompose_reduction(*x)),
        "rfactor": (lambda s: split_k(s)[0], lambda s, k: s.rfactor(k, 0)),
        "compute_at": (
            lambda s: (y(s), s.get_loops(c(s))[0]), lambda s, x: s.compute_at(*x)
        ),
        "reverse_compute_at": (
            lambda s: (c(s), tiled(s)[1]), lambda s, x: s.reverse_compute_at(*x)
        ),
        "cache_read": (y, lambda s, b: s.cache_read(b, 0, "shared")),
        "cache_write": (y, lambda s, b: s.cache_write(b, 0, "local")),
        "reindex": (y, lambda s, b: s.reindex(b, ("read", 0))),
        "reindex_cache_read": (
            y, lambda s, b: s.reindex_cache_read(b, 0, "shared", lambda i, j, k: (k, i))
        ),
        "reindex_cache_write": (
            y, lambda s, b: s.reindex_cache_write(b, 0, "local", lambda i, j, k: (j, i))
        ),
        "set_scope": (y, lambda s, b: s.set_scope(b, 0, "shared")),
        "storage_align": (y, lambda s, b: s.storage_align(b, 0, axis=0, factor=32, offset=8)),
        "transform_layout": (
            y,
            lambda s, b: s.transform_layout(
                b, ("write", 0), lambda i, j: (i // 16, j // 16, i % 16, j % 16)
            ),
        ),
        "transform_block_layout": (
            c, lambda s, b: s.transform_block_layout(b, lambda i, j: (i * 128 + j,))
        ),
        "blockize": (lambda s: tiled(s)[2], lambda s, x: s.blockize(x)),
        "pad_einsum": (y, lambda s, b: s.pad_einsum(b, [16, 16, 48])),
        "sample_perfect_tile": (lambda s: loops(s)[0], lambda s, x: s.sample_perfect_tile(x, 4)),
        "sample_categorical": (lambda s: None, lambda s, _: s.sample_categorical([1, 2, 4], [0.5, 0.3, 0.2])),
        "sample_partitioned_tile": (
            lambda s: loops(s)[0], lambda s, x: s.sample_partitioned_tile(x, 4, 2, 4)
        ),
        "sample_compute_location": (y, lambda s, b: s.sample_compute_location(b)),
        # As the goal is stated: from the module to the tiled program.
        "tiling of 7": (lambda s: s.mod, lambda s, mod: seven(type(s)(mod))),
        "its primitives": (loops, lambda s, x: seven(s, x)),
        "refused parallel": (loops, lambda s, x: _refused(s, lambda: s.parallel(x[2]))),
    }  # fmt: skip


def of_chain() -> dict[str, Step]:
    def block(s: Any) -> Any:
        return s.block("B24")

    def loops(s: Any) -> Any:
        return s.get_loops(block(s))

    return {
        "split": (loops, lambda s, x: s.split(x[0], [None, 8])),
        "fuse": (loops, lambda s, x: s.fuse(x[0], x[1])),
        "reorder": (loops, lambda s, x: s.reorder(x[1], x[0])),
        "parallel": (loops, lambda s, x: s.parallel(x[0])),
        "vectorize": (loops, lambda s, x: s.vectorize(x[3])),
        "unroll": (loops, lambda s, x: s.unroll(x[3])),
        "compute_inline": (block, lambda s, b: s.compute_inline(b)),
        "reverse_compute_inline": (block, lambda s, b: s.reverse_compute_inline(b)),
        "compute_at": (
            lambda s: (block(s), s.get_loops(s.block("B25"))[1]), lambda s, x: s.compute_at(*x)
        ),
        "reverse_compute_at": (
            lambda s: (block(s), s.get_loops(s.block("B23"))[1]), lambda s, x: s.reverse_compute_at(*x)
        ),
        "cache_read": (block, lambda s, b: s.cache_read(b, 0, "shared")),
        "cache_write": (block, lambda s, b: s.cache_write(b, 0, "shared")),
        "set_scope": (block, lambda s, b: s.set_scope(b, 0, "shared")),
        "reindex": (block, lambda s, b: s.reindex(b, ("read", 0))),
        "transform_layout": (
            block, lambda s, b: s.transform_layout(b, ("write", 0), lambda i, j, k, n: (i, k, j, n))
        ),
        "blockize": (lambda s: loops(s)[2], lambda s, x: s.blockize(x)),
        "get_producers": (block, lambda s, b: s.get_producers(b)),
    }  # fmt: skip


def of_padding() -> dict[str, Step]:
    return {
        "decompose_padding": (
            lambda s: (s.block("B"), s.get_loops(s.block("B"))[0]), lambda s, x: s.decompose_padding(*x)
        ),
    }  # fmt: skip


def of_stencil() -> dict[str, Step]:
    def moved(s: Any) -> Any:
        s.compute_at(s.block("B"), s.get_loops(s.block("C"))[0])
        return s.block("B")

    def tiled(s: Any) -> Any:
        i, j = s.get_loops(s.block("C"))
        return s.block("B"), s.split(i, [None, 8])[0]

    return {
        "rolling_buffer": (moved, lambda s, b: s.rolling_buffer(b, 0)),
        "compute_at": (tiled, lambda s, x: s.compute_at(*x)),
    }


def of_inplace() -> dict[str, Step]:
    return {"cache_inplace": (lambda s: s.block("A"), lambda s, b: s.cache_inplace(b, 0, "local"))}


def of_resize() -> dict[str, Step]:
    return {"cache_index": (lambda s: s.block("B"), lambda s, b: s.cache_index(b, "local"))}


def of_product() -> dict[str, Step]:
    def inner(s: Any) -> Any:
        b = s.block("C")
        k_0, k_1 = s.split(s.get_loops(b)[2], [None, 4])
        s.decompose_reduction(b, k_0)
        return k_1

    return {"tensorize": (inner, lambda s, k: s.tensorize(k, "benchmark_dot"))}


def _refused(sch: Any, step: Callable[[], Any]) -> None:
    try:
        step()
    except Exception as error:  # each system has its own class
        if "internal" in str(error):
            raise
        return
    raise AssertionError("the step was accepted")


def compared(
    makers: Mapping[str, Callable[[], Any]], steps: Mapping[str, Step], rounds: int, label: str
) -> list[tuple[str, dict[str, float | str]]]:
    rows = []
    for name, (before, step) in steps.items():
        times: dict[str, list[float]] = {who: [] for who in makers}
        failed: dict[str, str] = {}
        for turn in range(rounds // BURST + 1):
            for who, make in makers.items():
                for _ in range(BURST):
                    if who in failed:
                        break
                    sch = make()
                    try:
                        given = before(sch)
                        start = time.thread_time()
                        result = step(sch, given)
                        took = time.thread_time() - start
                        del result
                    except Exception as error:  # a row that one system cannot do
                        failed[who] = f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:60]}"
                        break
                    if turn:  # the first turn warms up
                        times[who].append(took)
        rows.append(
            (
                f"{label}: {name}",
                {who: failed.get(who) or statistics.median(t) * 1e6 for who, t in times.items()},
            )
        )
    return rows


def run(rounds: int, only: str) -> int:
    import tvm  # type: ignore[import-not-found, unused-ignore]
    from tvm.s_tir import Schedule as PeerSchedule  # type: ignore[import-not-found, unused-ignore]
    from tvm.s_tir import TensorIntrin as PeerIntrin  # type: ignore[import-not-found, unused-ignore]

    sys.path.insert(0, str(ROOT))
    import tirscript as ts
    from tirscript.schedule.tensor_intrin import TensorIntrin

    class Ours(ts.Schedule):
        block = ts.Schedule.get_block

    class Theirs(PeerSchedule):  # type: ignore[misc, unused-ignore]
        block = PeerSchedule.get_sblock

    header = "# from tvm.script import tirx as T\n"
    for register, parse, head, spelling in (
        (TensorIntrin.register, ts.parse, "", SPELLINGS["tirscript"]),
        (PeerIntrin.register, tvm.script.from_source, header, SPELLINGS["tvm"]),
    ):
        desc, impl = (parse(head + text.format(**spelling)) for text in (DOT, DOT_IMPL))
        register("benchmark_dot", desc, impl, True)
    rows = []
    for label, text, steps in (
        ("matmul", lambda s: MATMUL.format(**s), of_matmul()),
        ("48 blocks", lambda s: chain(48, s), of_chain()),
        ("padding", lambda s: PADDED.format(**s), of_padding()),
        ("stencil", lambda s: STENCIL.format(**s), of_stencil()),
        ("in place", lambda s: INPLACE.format(**s), of_inplace()),
        ("resize", lambda s: RESIZE.format(**s), of_resize()),
        ("product", lambda s: PRODUCT.format(**s), of_product()),
    ):
        steps["Schedule()"] = (lambda s: s.mod, lambda s, mod: type(s)(mod))
        steps = {name: step for name, step in steps.items() if only in f"{label}: {name}"}
        mine = ts.IRModule({"main": ts.parse(text(SPELLINGS["tirscript"]))})
        peer = tvm.IRModule({"main": tvm.script.from_source(header + text(SPELLINGS["tvm"]))})
        makers = {"tirscript": lambda mine=mine: Ours(mine), "tvm": lambda peer=peer: Theirs(peer)}
        rows += compared(makers, steps, rounds, label)
    over = 0
    print(f"{'':40} {'tirscript us':>13} {'tvm us':>10} {'ratio':>7} {'goal':>6}")
    for name, both in rows:
        ours, theirs = both["tirscript"], both["tvm"]
        if isinstance(ours, str) or isinstance(theirs, str):
            over += isinstance(ours, str)
            print(f"{name:40} {ours if isinstance(ours, str) else f'{ours:.1f}':>13} {theirs}")
            continue
        goal = GOALS.get(name, 1.0)
        mark = "  over" if ours > theirs * goal else ""
        over += ours > theirs * goal
        print(f"{name:40} {ours:13.1f} {theirs:10.1f} {ours / theirs:7.3f} {goal:6.2f}{mark}")
    print(f"\n{over} of {len(rows)} rows over their goal")
    return 0


def main() -> int:
    global BURST
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--burst", type=int, default=BURST)
    arguments = parser.parse_args()
    try:
        import tvm  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError:
        peer = os.environ.get("TIRSCRIPT_PEERS")
        if not peer:
            print("apache-tvm is not installed; TIRSCRIPT_PEERS may name a Python that has it")
            return 0
        return subprocess.call([peer, __file__, *sys.argv[1:]])
    BURST = arguments.burst
    return run(arguments.rounds, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
