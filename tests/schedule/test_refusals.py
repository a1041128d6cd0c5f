"""One refusal for each error code of each primitive; here those that no test of the primitive itself pins.

A refusal leaves the schedule as it was.  That none is missing is checked against the docstrings.
"""

# ruff: noqa: E501
from __future__ import annotations

import ast
import importlib
import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest

import tirscript as ts
from tirscript.schedule import Schedule, primitives

from .test_docs import MODULES

HERE = pathlib.Path(__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore")

# ---- programs, as text

CHAIN = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    B = T.alloc_buffer((4, 6), "int32")
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1
"""
ROW = """
@T.prim_func
def f(B: T.Buffer((8,), "int32")):
    for i in range({extent}):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = vi
"""
SUM = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), S: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 6):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = 0
            S[vi] = S[vi] + A[vi, vk]
"""
CONSUMER = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    B = T.alloc_buffer((4, 6), "int32")
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2
    for i, j in T.grid(4, 6):  # C
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(6, j)
            C[vi, vj] = B[vi, vj] + 1
"""
BIAS = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), D: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    S = T.alloc_buffer((4,), "int32")
    for i, k in T.grid(4, 6):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = 0
            S[vi] = S[vi] + A[vi, vk]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = S[vi] + D[vi]
"""
DECLARED = """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), C: T.Buffer((4, 6), "int32")):
    V = T.decl_buffer((24,), "int32", data=A.data)
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(V[vi * 6 + vj])
            T.writes(V[vi * 6 + vj])
            V[vi * 6 + vj] = V[vi * 6 + vj] + 1
"""
POINTER = """
@T.prim_func
def f(a: T.handle, C: T.Buffer((4, 6), "int32")):
    A = T.match_buffer(a, (4, 6), "int32", strides=[8, 1])
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(A[vi, vj])
            T.evaluate(T.call_extern("int32", "g", A.data, vi, vj))
"""
SCATTER = """
@T.prim_func
def f(P: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
    for i, j in T.grid(2, 4):
        with T.block("O"):
            vi = T.axis.opaque(2, i)
            vj = T.axis.opaque(4, j)
            T.reads(P[vi * 4 + vj])
            T.writes(O[0:8])
            O[P[vi * 4 + vj]] = vi * 4 + vj
"""


def replaced(text: str, *pairs: str) -> str:
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return text


ALIGNED = """
@T.prim_func
def f(C: T.Buffer((4, 6), "int32")):
    B = T.alloc_buffer((4, 6), "int32")
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(B[vi, vj])
            T.block_attr({"buffer_dim_align": [[0, 0, 8, 1]]})
            B[vi, vj] = B[vi, vj] + 1
"""


Step = Callable[[Schedule], Any]
# The primitive and the code; the program; the step.
CASES: list[tuple[str, str, str, Step]] = [
    ("bind", "axis-not-covered", ROW.format(extent=3), lambda s: s.bind(s.get_loops("B")[0], "threadIdx.x")),
    ("bind", "axis-overrun", ROW.format(extent=5), lambda s: s.bind(s.get_loops("B")[0], "threadIdx.x")),
    ("bind", "dependence-unknown", SCATTER, lambda s: s.bind(s.get_loops("O")[0], "blockIdx.x")),
    ("reorder", "dependence-unknown", SCATTER, lambda s: s.reorder(*reversed(s.get_loops("O")))),
    ("transform_block_layout", "dependence-unknown", SCATTER.replace("opaque", "spatial"),
     lambda s: s.transform_block_layout("O", lambda i, j: (j, i))),
    ("parallel", "leaves-loop", replaced(CHAIN, "            B[vi, vj] = A[vi, vj] * 2",
     "            B[vi, vj] = A[vi, vj] * 2\n            if A[vi, vj] > 9:\n                T.evaluate(T.ret(0))"),
     lambda s: s.parallel(s.get_loops("B")[0])),
    *[(name, "declared-inside", DECLARED, step) for name, step in {
        "cache_inplace": lambda s: s.cache_inplace("C", 0, "local"),
        "read_at": lambda s: s.read_at(s.get_loops("C")[0], "C", 0, "local"),
        "write_at": lambda s: s.write_at(s.get_loops("C")[0], "C", 0, "local"),
    }.items()],
    *[(name, "used-otherwise", POINTER, step) for name, step in {
        "cache_inplace": lambda s: s.cache_inplace("C", 0, "local"),
        "read_at": lambda s: s.read_at(s.get_loops("C")[1], "C", 0, "local"),
        "write_at": lambda s: s.write_at(s.get_loops("C")[0], "C", 0, "local"),
    }.items()],
    ("cache_inplace", "init-before", replaced(SUM, "            with T.init", "            T.reads(S[vi], A[vi, vk])\n"
     "            T.writes(S[vi])\n            with T.init", "S[vi] = 0", "S[vi] = S[vi] + 1"),
     lambda s: s.cache_inplace("S", "S", "local")),
    ("decompose_reduction", "axis-overrun", replaced(SUM, "T.grid(4, 6)", "T.grid(5, 6)",
     'vi, vk = T.axis.remap("SR", [i, k])', "vi = T.axis.spatial(4, i)\n            vk = T.axis.reduce(6, k)"),
     lambda s: s.decompose_reduction("S", s.get_loops("S")[0])),
    ("decompose_reduction", "init-uses-reduction-axis", replaced(SUM, "S[vi] = 0", "S[vi] = vk"),
     lambda s: s.decompose_reduction("S", s.get_loops("S")[0])),
    ("decompose_reduction", "statement-between", replaced(SUM, "    for i, k in T.grid(4, 6):\n        with",
     "    for i in range(4):\n     while S[i] < 9:\n      for k in range(6):\n        with"),
     lambda s: s.decompose_reduction("S", s.get_loops("S")[0])),
    *[("fuse_reduction_epilogue", code, replaced(BIAS, *pairs),
       lambda s: s.fuse_reduction_epilogue("S", "C")) for code, *pairs in [
        ("axis-not-covered", "range(4)", "range(3)"),
        ("axis-overrun", "range(4)", "range(5)"),
        ("cells-missed", "T.grid(4, 6)", "T.grid(3, 6)"),
        ("cover-unknown", "(4", "(5000", "axis.spatial(5000, i)",
         "axis.spatial(5000, i * i % 5000)"),
        ("guarded-block", "for i in range(4)", "for i, j in T.grid(4, 2)", "vi = T.axis.spatial(4, i)",
         "vi = T.axis.spatial(4, i)\n            T.where(j == 0)"),
        ("loop-without-axis", "            vi = T.axis.spatial(4, i)\n            C[vi] = S[vi] + D[vi]",
         "            C[i] = S[i] + D[i]"),
        ("no-single-producer", "S[vi] + D[vi]", "S[0] + S[vi]"),
        ("not-invertible", "S[vi] + D[vi]", "S[vi // 2] + D[vi]"),
        ("other-reader", "C[vi] = S[vi] + D[vi]", "C[vi] = S[vi] + D[vi]\n    for i in range(4):\n"
         '        with T.block("D"):\n            vi = T.axis.spatial(4, i)\n            D[vi] = S[vi]'),
        ("statement-between", "    for i in range(4):\n        with", "    if D[0] > 0:\n      for i in range(4):\n        with"),
        ("dependence-unknown", "    for i in range(4):\n        with", '    for i in range(4):\n        with T.block("X"):\n'
         "            vi = T.axis.opaque(4, i)\n            D[D[vi]] = 1\n    for i in range(4):\n        with"),
    ]],
    ("fuse_reduction_epilogue", "other-iteration", """
@T.prim_func
def f(A: T.Buffer((4, 6), "int32"), D: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    S = T.alloc_buffer((4,), "int32")
    for i in range(4):
        for k in range(6):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = 0
                S[vi] = S[vi] + A[vi, vk]
        with T.block("C"):
            vi = T.axis.spatial(4, 3 - i)
            C[vi] = S[vi] + D[vi]
""", lambda s: s.fuse_reduction_epilogue("S", "C")),
    *[("reverse_compute_at", code, replaced(CONSUMER, *pairs),
       lambda s: s.reverse_compute_at("C", s.get_loops("B")[0])) for code, *pairs in [
        ("axis-overrun", "T.axis.spatial(6, j)", "T.axis.spatial(5, j)"),
        ("cover-unknown", "(4, 6)", "(4, 5000)", "T.axis.spatial(6, j)",
         "T.axis.spatial(5000, j * j % 5000)"),
        ("guarded-block", "for i, j in T.grid(4, 6):  # C", "for i, j, k in T.grid(4, 6, 2):",
         "T.axis.spatial(6, j)", "T.axis.spatial(6, j)\n            T.where(k == 0)"),
        ("loop-without-axis", "            vi = T.axis.spatial(4, i)\n            vj = T.axis.spatial(6, j)\n", "",
         "C[vi, vj] = B[vi, vj] + 1", "C[i, j] = B[i, j] + 1"),
    ]],
    ("reverse_compute_at", "statement-between", replaced(CHAIN, "    for i, j in T.grid(4, 6):\n        with T.block(\"C\")",
     "    while C[0, 0] < 3:\n     for i, j in T.grid(4, 6):\n        with T.block(\"C\")"),
     lambda s: s.reverse_compute_at("C", s.get_loops("B")[0])),
    ("reverse_compute_at", "other-scope", """
@T.prim_func
def f(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(B[vi])
            for j in range(1):
                with T.block("B"):
                    vj = T.axis.spatial(1, j)
                    B[vi + vj] = A[vi + vj]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi]
""", lambda s: s.reverse_compute_at("C", s.get_loops("B")[0])),
    ("reverse_compute_at", "loop-carried-dependence", """
@T.prim_func
def f(A: T.Buffer((4,), "int32"), C: T.Buffer((5,), "int32"), D: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in T.parallel(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = C[vi + 1]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi]
""", lambda s: s.reverse_compute_at("C", s.get_loops("B")[0])),
    ("reindex_cache_read", "bad-buffer-index", CHAIN,
     lambda s: s.reindex_cache_read("C", [], "local", lambda i, j: (i, j))),
    ("reindex_cache_read", "several-indices", replaced(CHAIN, "B[vi, vj] + 1", "B[vi, vj] + B[vi, 0]"),
     lambda s: s.reindex_cache_read("C", 0, "local", lambda i, j: (i, j))),
    ("reindex_cache_read", "cache-stale", """
@T.prim_func
def f(A: T.Buffer((9,), "int32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.scan(8, i)
            A[vi + 1] = A[vi] + 1
""", lambda s: s.reindex_cache_read("A", 0, "local", lambda i: (i,))),
    *[("reindex_cache_write", code, text, step) for code, text, step in [
        ("bad-buffer-index", CHAIN, lambda s: s.reindex_cache_write("C", [], "local", lambda i, j: (i, j))),
        ("no-such-buffer", CHAIN, lambda s: s.reindex_cache_write("C", 3, "local", lambda i, j: (i, j))),
        ("bad-scope", CHAIN, lambda s: s.reindex_cache_write("C", 0, 3, lambda i, j: (i, j))),
        ("bad-index-map", CHAIN, lambda s: s.reindex_cache_write("C", 0, "local", 3)),
        ("not-injective", CHAIN, lambda s: s.reindex_cache_write("C", 0, "local", lambda i, j: (i, j // 2))),
        ("root-block", CHAIN, lambda s: s.reindex_cache_write("root", 0, "local", lambda: ())),
        ("partial-write", replaced(CHAIN, "            C[vi, vj] = B", "            if vi > 2:\n                C[vi, vj] = B"),
         lambda s: s.reindex_cache_write("C", 0, "local", lambda i, j: (i, j))),
        ("several-indices", replaced(CHAIN, "            C[vi, vj] = B[vi, vj] + 1",
         "            C[vi, vj] = B[vi, vj] + 1\n            C[0, 0] = 1"),
         lambda s: s.reindex_cache_write("C", 0, "local", lambda i, j: (i, j))),
        ("unknown-shape", CHAIN,
         lambda s: s.reindex_cache_write("C", 0, "local", lambda i, j: (i * 1000000000, j))),
    ]],
    ("reindex_cache_read", "unknown-shape", CHAIN,
     lambda s: s.reindex_cache_read("C", 0, "local", lambda i, j: (i * 1000000000, j))),
    *[(name, "used-otherwise", ALIGNED, step) for name, step in {
        "reindex": lambda s: s.reindex("B", ("write", 0)),
        "reindex_cache_read": lambda s: s.reindex_cache_read("B", "B", "local", lambda i, j: (j, i)),
        "reindex_cache_write": lambda s: s.reindex_cache_write("B", 0, "local", lambda i, j: (j, i)),
    }.items()],
    ("storage_align", "bad-buffer-index", CHAIN, lambda s: s.storage_align("B", [], 0, 4, 0)),
    ("unannotate", "bad-annotation-key", CHAIN, lambda s: s.unannotate("B", 3)),
]  # fmt: skip


def refused(sch: Schedule, step: Step, code: str) -> None:
    before, steps = sch.mod["f"], len(sch.history)
    with pytest.raises(ts.ScheduleError) as caught:
        step(sch)
    assert caught.value.code == code, str(caught.value)
    assert str(caught.value).startswith(("ScheduleError[", "ScheduleTypeError[", "ScheduleValueError["))
    assert sch.mod["f"] is before and len(sch.history) == steps


@pytest.mark.parametrize(
    ("primitive", "code", "text", "step"), CASES, ids=[f"{name}-{code}" for name, code, *_ in CASES]
)
def test_refusals(primitive: str, code: str, text: str, step: Step) -> None:
    refused(Schedule(ts.parse(text)), step, code)


# ---- handles

HANDLES: dict[str, Callable[[Schedule, Any], Any]] = {
    "add_unit_loop": lambda s, x: s.add_unit_loop(x),
    "annotate": lambda s, x: s.annotate(x, "note", 1),
    "unannotate": lambda s, x: s.unannotate(x, "note"),
    "blockize": lambda s, x: s.blockize(x),
    "tensorize": lambda s, x: s.tensorize(x, "dot_4x4"),
}
LOOPS: dict[str, Callable[[Schedule, Any], Any]] = {
    "split": lambda s, x: s.split(x, [None, 2]),
    "fuse": lambda s, x: s.fuse(x, x),
    "reorder": lambda s, x: s.reorder(x, x),
    "merge": lambda s, x: s.merge(x, x),
    "loop_partition": lambda s, x: s.loop_partition(x, [1, None]),
    "parallel": lambda s, x: s.parallel(x),
    "vectorize": lambda s, x: s.vectorize(x),
    "unroll": lambda s, x: s.unroll(x),
    "bind": lambda s, x: s.bind(x, "threadIdx.x"),
    "rfactor": lambda s, x: s.rfactor(x, 0),
    "compute_at": lambda s, x: s.compute_at("B", x),
    "reverse_compute_at": lambda s, x: s.reverse_compute_at("C", x),
    "decompose_reduction": lambda s, x: s.decompose_reduction("B", x),
    "decompose_padding": lambda s, x: s.decompose_padding("B", x),
    "read_at": lambda s, x: s.read_at(x, "B", 0, "local"),
    "write_at": lambda s, x: s.write_at(x, "B", 0, "local"),
    "sample": lambda s, x: s.sample_perfect_tile(x, 2),
}
BLOCKS: dict[str, Callable[[Schedule, Any], Any]] = {
    "reorder_block_iter_var": lambda s, x: s.reorder_block_iter_var(x, [1, 0]),
    "cache_read": lambda s, x: s.cache_read(x, 0, "local"),
    "cache_write": lambda s, x: s.cache_write(x, 0, "local"),
    "cache_inplace": lambda s, x: s.cache_inplace(x, 0, "local"),
    "cache_index": lambda s, x: s.cache_index(x, "local"),
    "reindex": lambda s, x: s.reindex(x, ("read", 0)),
    "reindex_cache_read": lambda s, x: s.reindex_cache_read(x, 0, "local", lambda i, j: (i, j)),
    "reindex_cache_write": lambda s, x: s.reindex_cache_write(x, 0, "local", lambda i, j: (i, j)),
    "compute_inline": lambda s, x: s.compute_inline(x),
    "reverse_compute_inline": lambda s, x: s.reverse_compute_inline(x),
    "fuse_reduction_epilogue": lambda s, x: s.fuse_reduction_epilogue(x, "C"),
    "rolling_buffer": lambda s, x: s.rolling_buffer(x, 0),
    "pad_einsum": lambda s, x: s.pad_einsum(x, [2, 2]),
    "set_scope": lambda s, x: s.set_scope(x, 0, "local"),
    "storage_align": lambda s, x: s.storage_align(x, 0, 0, 4, 0),
    "unsafe_set_dtype": lambda s, x: s.unsafe_set_dtype(x, 0, "int64"),
    "transform_layout": lambda s, x: s.transform_layout(x, ("write", 0), lambda i, j: (j, i)),
    "transform_block_layout": lambda s, x: s.transform_block_layout(x, lambda i, j: (j, i)),
    "set_axis_separator": lambda s, x: s.set_axis_separator(x, ("write", 0), [1]),
    "annotate_buffer_access": lambda s, x: s.annotate_buffer_access(
        x, 0, "read", lambda i, j: ((0, 4), (0, 6))
    ),
    "unsafe_hide_buffer_access": lambda s, x: s.unsafe_hide_buffer_access(x, "read", [0]),
    "sample_compute_location": lambda s, x: s.sample_compute_location(x),
}


@pytest.mark.parametrize("name", [*HANDLES, *LOOPS, *BLOCKS])
def test_handles(name: str) -> None:
    """What was replaced, and what is no handle."""
    call = {**HANDLES, **LOOPS, **BLOCKS}[name]
    sch = Schedule(ts.parse(CHAIN))
    gone: list[Any] = []
    if name not in BLOCKS:
        gone.append(sch.get_loops("B")[1])
        sch.split(gone[0], [None, 2])
    if name not in LOOPS:
        copy = sch.cache_read("B", 0, "local")
        sch.compute_inline(copy)
        gone.append(copy)
    for x in gone:
        refused(sch, lambda s, x=x: call(s, x), "expired-reference")  # type: ignore[misc]
    for wrong in (3, None, sch.get_block("B") if name in LOOPS else sch.get_loops("B")[0]):
        if name not in HANDLES or wrong in (3, None):
            code = "bad-target" if name == "blockize" else "wrong-handle"
            refused(sch, lambda s, x=wrong: call(s, x), code)  # type: ignore[misc]


# ---- none is missing


def codes() -> list[tuple[str, str]]:
    """The primitives with the codes that their docstrings list."""
    out = []
    for name in MODULES:
        text = importlib.import_module(f"{primitives.__name__}.{name}").__doc__ or ""
        out += [(name, c) for c in sorted(set(re.findall(r"``([a-z0-9]+(?:-[a-z0-9]+)+)``", text)))]
    return out


def pinned() -> set[tuple[str, str]]:
    """The primitives and codes that stand together in a test, or the code in the tests of the primitive."""
    out = {(name, code) for name, code, *_ in CASES}
    out |= {
        (name, code) for name in (*HANDLES, *LOOPS, *BLOCKS) for code in ("expired-reference", "wrong-handle")
    }
    wanted = codes()
    for path in HERE.glob("test_*.py"):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for f in ast.parse(source).body:
            first = min([f.lineno, *[d.lineno for d in getattr(f, "decorator_list", [])]])
            found = set(re.findall(r"[\w-]+", "\n".join(lines[first - 1 : f.end_lineno])))
            out |= {
                (name, code)
                for name, code in wanted
                if code in found and (name in found or path.stem in (f"test_{name}", f"test_{name[:-1]}ing"))
            }
    return out


def test_every_code_is_pinned() -> None:
    have = pinned()
    assert [pair for pair in codes() if pair not in have] == []
