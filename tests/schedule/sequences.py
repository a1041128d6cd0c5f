"""Programs of the usual kinds, and random steps of every primitive on them.

``python -m tests.schedule.sequences COUNT [SEED]`` runs that many sequences and prints what each primitive
did; the first that changes a result is printed whole.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

import tirscript as ts
from tirscript.arith import simplify
from tirscript.ir import For, IRModule, PrimFunc, Var, const_int
from tirscript.ir.stmt import BlockLabel
from tirscript.ir.visitor import substitute
from tirscript.schedule import BlockRV, Schedule
from tirscript.schedule.testing import verify_trace_roundtrip

from .intrinsics import intrinsic, may_match
from .meeting import meeting_program

HEAD = "from tirscript.script import tir as T\n\n@T.prim_func\n"
CODES = {"sum": "{c} + {v}", "prod": "{c} * {v}", "max": "T.max({c}, {v})", "min": "T.min({c}, {v})",
         "xor": "{c} ^ {v}", "sub": "{c} - {v}"}  # fmt: skip
IDENTITY = {"sum": 0, "prod": 1, "max": -(2**31), "min": 2**31 - 1, "xor": 0, "sub": 0}


def stage(name: str, out: str, extents: list[Any], axes: str, value: str, *, init: str = "") -> list[str]:
    """One nest with one block: ``axes`` are kinds, like ``SSR``."""
    loops = [f"{name.lower()}{n}" for n in range(len(extents))]
    lines = [f"    for {', '.join(loops)} in T.grid({', '.join(map(str, extents))}):"]
    if len(loops) == 1:
        lines = [f"    for {loops[0]} in range({extents[0]}):"]
    lines.append(f'        with T.block("{name}"):')
    names = [f"v{n}" for n in range(len(extents))]
    lines.append(f'            {", ".join(names)} = T.axis.remap("{axes}", [{", ".join(loops)}])')
    if len(names) == 1:
        lines[-1] = f'            {names[0]} = T.axis.remap("{axes}", [{loops[0]}])'
    if init:
        lines += ["            with T.init():", f"                {out} = {init}"]
    return [*lines, f"            {out} = {value}"]


def reduction(name: str, out: str, extents: list[Any], axes: str, value: str, kind: str) -> list[str]:
    init = f"T.int32({IDENTITY[kind]})"
    return stage(name, out, extents, axes, CODES[kind].format(c=out, v=value), init=init)


def program(r: random.Random) -> str:
    """The text of a function: one of the usual kinds, or one whose instances meet."""
    return meeting_program(r) if r.random() < 0.15 else usual_program(r)


def usual_program(r: random.Random) -> str:
    """The text of a function of one of the usual kinds, of int32 or floats."""
    text = int_program(r)
    dtype = r.choice(["int32", "int32", "float32", "float64"])
    if dtype == "int32" or "^" in text or "T.Select" in text:
        return text
    text = re.sub(r'"int32"', f'"{dtype}"', text)
    return re.sub(r"T\.int32\((?=[-\d])", f"T.{dtype}(", text)


def int_program(r: random.Random) -> str:
    """The text of a function of one of the kinds."""
    n, m, k = r.choice([4, 6, 8]), r.choice([3, 5, 8]), r.choice([2, 6, 9])
    kind = r.choice(sorted(CODES))
    x, y = f'X: T.Buffer(({n}, {m}), "int32")', f'Y: T.Buffer(({n}, {m}), "int32")'
    alloc = '    {} = T.alloc_buffer(({}, {}), "int32")'.format
    ij = "[v0, v1]"
    what = r.choice([
        "chain", "diamond", "stencil", "rows", "matmul", "padding", "scan", "moved", "broadcast", "symbolic",
        "argmax", "pool", "outputs", "rolled", "bias", "in place",
    ])  # fmt: skip
    if what == "chain":
        body = [alloc("B", n, m), alloc("C", n, m)]
        body += stage("B", "B" + ij, [n, m], "SS", "X[v0, v1] * 3 + v0")
        body += stage("C", "C" + ij, [n, m], "SS", "B[v0, v1] + 7")
        body += stage("Y", "Y" + ij, [n, m], "SS", "T.max(C[v0, v1], 0)")
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "diamond":
        body = [alloc("B", n, m), alloc("C", n, m), alloc("D", n, m)]
        body += stage("B", "B" + ij, [n, m], "SS", "X[v0, v1] + 1")
        body += stage("C", "C" + ij, [n, m], "SS", "B[v0, v1] * 2")
        body += stage("D", "D" + ij, [n, m], "SS", "B[v0, v1] - v1")
        body += stage("Y", "Y" + ij, [n, m], "SS", "C[v0, v1] * D[v0, v1]")
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "stencil":
        a, b, s = r.choice([1, 2]), r.choice([0, 1]), r.choice([1, 2])
        rows, cols = (n - a - 1) // s + 1, m - b
        body = [alloc("B", n, m)]
        body += stage("B", "B" + ij, [n, m], "SS", "X[v0, v1] * 5")
        body += stage("Y", "Y" + ij, [rows, cols], "SS", f"B[v0 * {s}, v1] + B[v0 * {s} + {a}, v1 + {b}]")
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "rows":
        body = [f'    S = T.alloc_buffer(({n},), "int32")']
        body += reduction("S", "S[v0]", [n, m], "SR", "X[v0, v1]", kind)
        body += stage("Y", "Y" + ij, [n, m], "SS", "X[v0, v1] - S[v0]")
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "matmul":
        w, b = f'W: T.Buffer(({m}, {k}), "int32")', f'b: T.Buffer(({k},), "int32")'
        out = f'Y: T.Buffer(({n}, {k}), "int32")'
        body = [alloc("C", n, k)]
        body += reduction("C", "C" + ij, [n, k, m], "SSR", "X[v0, v2] * W[v2, v1]", "sum")
        last = r.choice(["T.max(C[v0, v1] + b[v1], 0)", "C[v0, v1] + b[v1]"])
        body += stage("Y", "Y" + ij, [n, k], "SS", last)
        return f"{HEAD}def f({x}, {w}, {b}, {out}):\n" + "\n".join(body) + "\n"
    if what == "padding":
        p = r.choice([1, 2])
        body = [alloc("P", n + 2 * p, m + p)]
        test = f"{p} <= v0 and v0 < {n + p} and {p} <= v1"
        value = f"T.if_then_else({test}, X[v0 - {p}, v1 - {p}], 0)"
        body += stage("P", "P" + ij, [n + 2 * p, m + p], "SS", value)
        body += stage("Y", "Y" + ij, [n, m], "SS", f"P[v0, v1] + P[v0 + {2 * p}, v1 + {p}]")
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "scan":
        axes = r.choice(["scan", "opaque", "spatial"])
        body = [
            f"    for i, j in T.grid({n - 1}, {m}):", '        with T.block("Y"):',
            f"            vi = T.axis.{axes}((1, {n}), i + 1)", f"            vj = T.axis.spatial({m}, j)",
            "            Y[vi, vj] = Y[vi - 1, vj] + X[vi, vj]",
        ]  # fmt: skip
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "moved":
        out = f'Y: T.Buffer(({n * m},), "int32")'
        body = [alloc("B", m, n)]
        body += stage("B", "B" + ij, [m, n], "SS", "X[v1, v0]")
        body += stage("Y", "Y[v0]", [n * m], "S", f"B[v0 // {n}, v0 % {n}] + v0")
        return f"{HEAD}def f({x}, {out}):\n" + "\n".join(body) + "\n"
    if what == "broadcast":
        b = f'b: T.Buffer(({m},), "int32")'
        body = [f'    B = T.alloc_buffer(({m},), "int32")']
        body += stage("B", "B[v0]", [m], "S", "b[v0] * 2")
        body += stage("Y", "Y" + ij, [n, m], "SS", "X[v0, v1] + B[v1]")
        return f"{HEAD}def f({x}, {b}, {y}):\n" + "\n".join(body) + "\n"
    if what == "symbolic":
        body = ["    n, m = T.int32(), T.int32()"]
        body += ['    X = T.match_buffer(x, (n, m), "int32")', '    Y = T.match_buffer(y, (n, m), "int32")']
        body += ['    B = T.alloc_buffer((n, m), "int32")', '    S = T.alloc_buffer((n,), "int32")']
        body += stage("B", "B" + ij, ["n", "m"], "SS", "X[v0, v1] * 2")
        body += reduction("S", "S[v0]", ["n", "m"], "SR", "B[v0, v1]", kind)
        body += stage("Y", "Y" + ij, ["n", "m"], "SS", "B[v0, v1] + S[v0]")
        return f"{HEAD}def f(x: T.handle, y: T.handle):\n" + "\n".join(body) + "\n"
    if what == "argmax":
        out = f'at: T.Buffer(({n},), "int32"), top: T.Buffer(({n},), "int32")'
        body = [
            f"    for i, k in T.grid({n}, {m}):", '        with T.block("Y"):',
            '            vi, vk = T.axis.remap("SR", [i, k])', "            with T.init():",
            "                at[vi] = -1", "                top[vi] = T.min_value(\"int32\")",
            "            v_at: T.int32 = T.Select(top[vi] >= X[vi, vk], at[vi], vk)",
            "            v_top: T.int32 = T.Select(top[vi] >= X[vi, vk], top[vi], X[vi, vk])",
            "            at[vi] = v_at", "            top[vi] = v_top",
        ]  # fmt: skip
        return f"{HEAD}def f({x}, {out}):\n" + "\n".join(body) + "\n"
    if what == "pool":
        rows = (n - 2) // 2 + 1
        out = f'Y: T.Buffer(({rows}, {m}), "int32")'
        body = [alloc("B", n, m)]
        body += stage("B", "B" + ij, [n, m], "SS", "X[v0, v1] + 1")
        body += reduction("Y", "Y" + ij, [rows, m, 2], "SSR", "B[v0 * 2 + v2, v1]", kind)
        return f"{HEAD}def f({x}, {out}):\n" + "\n".join(body) + "\n"
    if what == "rolled":  # as compute_at leaves a stencil
        body = [
            alloc("B", n, m), f"    for i in range({n - 2}):", f"        for k, j in T.grid(3, {m}):",
            '            with T.block("B"):', f"                vi = T.axis.spatial({n}, i + k)",
            f"                vj = T.axis.spatial({m}, j)", "                B[vi, vj] = X[vi, vj] * 2",
            f"        for j in range({m}):", '            with T.block("Y"):',
            '                vi, vj = T.axis.remap("SS", [i, j])',
            "                Y[vi, vj] = B[vi, vj] + B[vi + 2, vj]",
        ]  # fmt: skip
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    if what == "bias":
        b = f'b: T.Buffer(({n},), "int32")'
        body = [f'    S = T.alloc_buffer(({n},), "int32")']
        body += reduction("S", "S[v0]", [n, m], "SR", "X[v0, v1]", "sum")
        body += stage("Y", "Y[v0]", [n], "S", "S[v0] + b[v0]")
        return f"{HEAD}def f({x}, {b}, {b.replace('b:', 'Y:')}):\n" + "\n".join(body) + "\n"
    if what == "in place":
        body = [alloc("B", n, m)]
        body += stage("B", "B" + ij, [n, m], "SS", "X[v0, v1] * 2")
        body += stage("Y", "Y" + ij, [n, m], "SS", "Y[v0, v1] * 3 + B[v0, v1]")
        body += stage("U", "Y" + ij, [n, m], "SS", "T.max(Y[v0, v1], v0)")
        return f"{HEAD}def f({x}, {y}):\n" + "\n".join(body) + "\n"
    z = f'Z: T.Buffer(({n}, {m}), "int32")'
    body = [alloc("B", n, m)]
    body += stage("B", "B" + ij, [n, m], "SS", "X[v0, v1] * 2")
    body += stage("Y", "Y" + ij, [n, m], "SS", "B[v0, v1] + 1")
    body += stage("Z", "Z" + ij, [n, m], "SS", "B[v0, v1] * Y[v0, v1]")
    return f"{HEAD}def f({x}, {y}, {z}):\n" + "\n".join(body) + "\n"


def parsed(text: str) -> PrimFunc:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        func = ts.from_source(text)
    assert isinstance(func, PrimFunc)
    return func


def inputs(func: PrimFunc) -> list[Any]:
    """Seeded arrays; symbols get small extents of their own."""
    rng = np.random.default_rng(1)
    sizes: dict[Any, int] = {}
    out = []
    for b in func.buffers:
        for e in b.shape:
            if isinstance(e, Var):
                sizes.setdefault(e, 5 + len(sizes))
        known = {v: const_int(n, v.dtype) for v, n in sizes.items()}
        shape = [getattr(simplify(substitute(e, known)), "value", None) for e in b.shape]
        numbers = rng.integers(-9, 10, shape)
        out.append((numbers if b.dtype == "int32" else numbers + rng.random(shape) / 4).astype(b.dtype))
    return out


def values(program: Any, func: PrimFunc, target: str) -> list[Any]:
    arrays = inputs(func)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ts.build(program, target=target)(*arrays)
    return arrays


def blocks_of(sch: Schedule) -> list[BlockRV]:
    f = next(iter(sch.state.functions.values()))
    return [
        BlockRV(t, f.name)
        for t, p in f.index.items()
        if isinstance(t, BlockLabel) and p.node.block.name != "root"
    ]


NAMES = (
    "split", "split", "fuse", "reorder", "reorder", "parallel", "vectorize", "unroll", "bind", "merge",
    "loop_partition", "add_unit_loop", "reorder_block_iter_var", "compute_at", "compute_at",
    "reverse_compute_at", "reverse_compute_at", "compute_inline", "reverse_compute_inline", "cache_read",
    "cache_write", "cache_inplace", "cache_index", "reindex", "reindex_cache_read", "reindex_cache_write",
    "set_scope", "storage_align", "decompose_reduction", "rfactor", "decompose_padding", "pad_einsum",
    "transform_layout", "transform_block_layout", "blockize", "tensorize", "annotate", "unannotate",
    "fuse_reduction_epilogue", "rolling_buffer", "read_at", "write_at", "set_axis_separator",
    "annotate_buffer_access", "unsafe_set_dtype", "sample_categorical", "sample_perfect_tile",
    "sample_partitioned_tile", "sample_compute_location",
)  # fmt: skip
# Steps after which others need not keep the values: only the last of a sequence is one of them.
LAST = ("unsafe_hide_buffer_access",)
OF_LOOPS = frozenset({
    "split", "fuse", "reorder", "parallel", "vectorize", "unroll", "bind", "loop_partition", "read_at",
    "write_at", "decompose_reduction", "rfactor", "decompose_padding", "sample_perfect_tile",
    "sample_partitioned_tile", "sample_categorical",
})  # fmt: skip


def fitting(name: str, node: Any) -> bool:
    """Whether a step is likely to have something to do at the block."""
    if name in ("decompose_reduction", "rfactor", "pad_einsum", "fuse_reduction_epilogue"):
        return node.init is not None
    if name == "decompose_padding":
        return "if_then_else" in str(node.body)
    if name == "cache_inplace":
        read = {region.buffer for region in node.reads}
        return any(region.buffer in read for region in node.writes)
    if name == "rolling_buffer":
        return node.name in ("B", "P")
    if name == "tensorize":
        return may_match(node)
    if name == "unsafe_set_dtype":
        return any(region.buffer.name in "BCDPS" for region in node.writes)
    return True


def attempt(sch: Schedule, r: random.Random, name: str, seen: list[Any]) -> None:
    """One random step; what it works on is drawn from what is there, and now and then it is something else:
    a handle of an earlier step, a number out of range.  ``seen`` holds the earlier handles."""
    blocks = blocks_of(sch)
    fit = [b for b in blocks if fitting(name, sch.get(b))]
    block: Any = r.choice(fit if fit and r.random() < 0.8 else blocks)
    node = sch.get(block)
    loops: list[Any] = sch.get_loops(block)
    other = r.choice(blocks)
    if name in OF_LOOPS and not loops:
        return
    loop: Any = r.choice(loops) if loops else None
    seen += [block, *loops]
    number = 0
    wrong = r.random() < 0.07
    if wrong:
        block, loop = (r.choice([*seen, "nowhere", None]) for _ in range(2))
        loops = [loop, *loops[1:]]
        number = 7
    if name in ("compute_at", "reverse_compute_at"):
        near = sch.get_consumers(other) if name == "compute_at" else sch.get_producers(other)
        goal = sch.get_loops(r.choice(near or blocks))
        if goal:
            moved = block if wrong else other
            getattr(sch, name)(moved, r.choice(goal), preserve_unit_loops=r.random() < 0.2)
    elif name == "unannotate":
        noted = [x for b in blocks for x in (b, *sch.get_loops(b)) if "note" in sch.get(x).annotations]
        sch.unannotate(block if wrong or not noted else r.choice(noted), "note")
    elif name == "merge":
        depth = r.randrange(max(len(loops), 1))
        other = r.choice([b for b in blocks if b != block] or blocks) if r.random() < 0.7 else other
        sch.merge(*[x[depth if r.random() < 0.8 else 0] for x in (loops, sch.get_loops(other)) if x[depth:]])
    elif name == "fuse_reduction_epilogue":
        sch.fuse_reduction_epilogue(block, other if wrong else r.choice(sch.get_consumers(block) or [other]))
    elif name == "tensorize":
        sch.tensorize(r.choice([block, *loops, *loops[-1:] * 4]), intrinsic(sch, node, loops))
    elif name in LOOP_STEPS:
        LOOP_STEPS[name](sch, r, loops, loop, block)
    else:
        BLOCK_STEPS[name](sch, r, node, block, number)


def shuffled(r: random.Random, count: int) -> list[int]:
    order = list(range(count))
    r.shuffle(order)
    return order


def some(r: random.Random, number: int, count: int) -> int:
    """The number of one of some regions, or one out of range."""
    return number or r.randrange(max(count, 1))


def reorder(sch: Schedule, r: random.Random, loops: list[Any], *_: Any) -> None:
    at = r.randrange(len(loops))
    sch.reorder(*r.choice(list(itertools.permutations(loops[at : at + 3]))))


def fuse(sch: Schedule, r: random.Random, loops: list[Any], *_: Any) -> None:
    at = r.randrange(len(loops))
    sch.fuse(*loops[at : at + r.choice([2, 3])])


FACTORS: list[list[int | None]] = [
    [None, 2], [2, None], [None, 3], [2, None, 2], [None, 4], [1, None], [None, 2], [2, None], [None, 3],
    [2, 2], [0, None], [None, None],
]  # fmt: skip

# A step of each primitive at a loop: the schedule, the loops around the block, the loop, the block.
LOOP_STEPS: dict[str, Any] = {
    "split": lambda s, r, ls, x, b: s.split(x, r.choice(FACTORS)),
    "fuse": fuse,
    "reorder": reorder,
    "parallel": lambda s, r, ls, x, b: s.parallel(x),
    "vectorize": lambda s, r, ls, x, b: s.vectorize(x),
    "unroll": lambda s, r, ls, x, b: s.unroll(x),
    "bind": lambda s, r, ls, x, b: s.bind(x, r.choice(["threadIdx.x", "blockIdx.x", "vthread.y", "lane"])),
    "loop_partition": lambda s, r, ls, x, b: s.loop_partition(
        x, r.choice([[None, 1], [2, None], [1, None, 1]])
    ),
    "decompose_reduction": lambda s, r, ls, x, b: s.decompose_reduction(b, x),
    "rfactor": lambda s, r, ls, x, b: s.rfactor(x, r.choice([0, 0, -1, 1])),
    "decompose_padding": lambda s, r, ls, x, b: s.decompose_padding(b, x),
    "sample_categorical": lambda s, r, ls, x, b: s.split(
        x, [None, s.sample_categorical([1, 2, 3], r.choice([[0.2, 0.3, 0.5]] * 7 + [[0.5, 0.5]]))]
    ),
    "sample_perfect_tile": lambda s, r, ls, x, b: s.split(
        x, s.sample_perfect_tile(x, r.choice([2, 2, 3, 0]), 4)
    ),
    "sample_partitioned_tile": lambda s, r, ls, x, b: s.split(
        x, s.sample_partitioned_tile(x, 2, r.choice([1, 1, 1, 4]), r.choice([1, 2]))
    ),
    "read_at": lambda s, r, ls, x, b: s.read_at(x, b, 0, "shared"),
    "write_at": lambda s, r, ls, x, b: s.write_at(x, b, 0, "shared"),
    "add_unit_loop": lambda s, r, ls, x, b: s.add_unit_loop(
        r.choice([b, *ls]) if r.random() < 0.95 else "root"
    ),
    "blockize": lambda s, r, ls, x, b: s.blockize(r.choice([b, *ls])),
    "annotate": lambda s, r, ls, x, b: s.annotate(
        r.choice([b, *ls]), r.choice(["note"] * 15 + [3]), r.randrange(5)
    ),
    "sample_compute_location": lambda s, r, ls, x, b: s.compute_at(b, s.sample_compute_location(b)),
}  # fmt: skip


def axes_map(r: random.Random, node: Any) -> Any:
    order = shuffled(r, len(node.iter_vars))
    keep = order[: r.choice([len(order), len(order), max(len(order) - 1, 1)])]
    return lambda *i: tuple(i[n] for n in keep)


def transform_layout(sch: Schedule, r: random.Random, node: Any, block: Any, number: int) -> None:
    regions = node.writes if r.random() < 0.7 else node.reads
    if regions and regions[0].buffer in next(iter(sch.state.functions.values())).func.buffers:
        return  # it would change the arguments
    rank = len(regions[0].region) if regions else 1
    maps: list[Any] = [lambda *i: i[::-1], lambda *i: (*i[:-1], i[-1] // 2, i[-1] % 2)]
    if rank == 2:
        maps.append(lambda i, j: (j // 3, i, j % 3))
    sch.transform_layout(block, ("write" if regions is node.writes else "read", number), r.choice(maps))


def set_axis_separator(sch: Schedule, r: random.Random, node: Any, block: Any, number: int) -> None:
    if not node.writes or node.writes[0].buffer not in next(iter(sch.state.functions.values())).func.buffers:
        sch.set_axis_separator(block, ("write", number), r.choice([[], [1], [1], [5]]))


def annotate_buffer_access(sch: Schedule, r: random.Random, node: Any, block: Any, number: int) -> None:
    kind = r.choice(["read", "write"])
    regions = node.reads if kind == "read" else node.writes
    if regions:
        whole = tuple((0, e) for e in regions[0].buffer.shape)
        sch.annotate_buffer_access(block, number, kind, lambda *_: whole)


def unsafe_set_dtype(sch: Schedule, r: random.Random, node: Any, block: Any, number: int) -> None:
    """A dtype that holds as much at least, which keeps the values."""
    wider = {"int32": "int64", "float32": "float64"}
    dtype = node.writes[0].buffer.dtype if node.writes else "int32"
    sch.unsafe_set_dtype(block, number, r.choice([wider.get(dtype, dtype)] * 9 + ["int3.5"]))


def unsafe_hide_buffer_access(sch: Schedule, r: random.Random, node: Any, block: Any, number: int) -> None:
    kind = r.choice(["read", "write"])
    count = len(node.reads if kind == "read" else node.writes)
    hidden = [number or r.randrange(max(count, 1)) for _ in range(2)]
    sch.unsafe_hide_buffer_access(block, kind, hidden if r.random() < 0.8 else [*hidden, count])


def transform_block_layout(sch: Schedule, r: random.Random, node: Any, block: Any, number: int) -> None:
    maps: list[Any] = [lambda *i: i[::-1], lambda *i: (*i[:-1], i[-1] // 2, i[-1] % 2)]
    sch.transform_block_layout(block, r.choice(maps))


# A step of each primitive at a block: the schedule, the block, its handle, 0 or a number out of range.
BLOCK_STEPS: dict[str, Any] = {
    "reorder_block_iter_var": lambda s, r, n, b, k: s.reorder_block_iter_var(
        b, shuffled(r, len(n.iter_vars) + (k > 0))
    ),
    "compute_inline": lambda s, r, n, b, k: s.compute_inline(b),
    "reverse_compute_inline": lambda s, r, n, b, k: s.reverse_compute_inline(b),
    "cache_read": lambda s, r, n, b, k: s.cache_read(
        b, some(r, k, len(n.reads)), r.choice(["local", "shared"])
    ),
    "cache_inplace": lambda s, r, n, b, k: s.cache_inplace(
        b, some(r, k, len(n.reads)), r.choice(["local", "shared"])
    ),
    "cache_write": lambda s, r, n, b, k: s.cache_write(
        b, some(r, k, len(n.writes)), r.choice(["local", "shared"])
    ),
    "cache_index": lambda s, r, n, b, k: s.cache_index(b, "local", r.choice([0, 1]) - k),
    "reindex": lambda s, r, n, b, k: s.reindex(b, (r.choice(["read", "write"]), k)),
    "reindex_cache_read": lambda s, r, n, b, k: s.reindex_cache_read(b, k, "shared", axes_map(r, n)),
    "reindex_cache_write": lambda s, r, n, b, k: s.reindex_cache_write(b, k, "shared", axes_map(r, n)),
    "set_scope": lambda s, r, n, b, k: s.set_scope(b, k, r.choice(["shared", "local", "global"])),
    "storage_align": lambda s, r, n, b, k: s.storage_align(b, k, r.choice([0, -1, -2]), 8, r.choice([1, 2])),
    "pad_einsum": lambda s, r, n, b, k: s.pad_einsum(b, [r.choice([1, 2, 4]) for _ in n.iter_vars]),
    "transform_layout": transform_layout,
    "transform_block_layout": transform_block_layout,
    "rolling_buffer": lambda s, r, n, b, k: s.rolling_buffer(b, k),
    "set_axis_separator": set_axis_separator,
    "annotate_buffer_access": annotate_buffer_access,
    "unsafe_set_dtype": unsafe_set_dtype,
    "unsafe_hide_buffer_access": unsafe_hide_buffer_access,
}  # fmt: skip


class Result:
    """What sequences did."""

    def __init__(self) -> None:
        self.accepted: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.lengths: list[int] = []

    @property
    def share(self) -> float:
        """How many of the steps were accepted."""
        accepted = self.accepted.total()
        return accepted / max(accepted + self.refused.total(), 1)


# Steps that draw before they change the program: the draw stays where the rest is refused.
DRAWS = frozenset(
    {"sample_categorical", "sample_perfect_tile", "sample_partitioned_tile", "sample_compute_location"}
)
# Steps that may put the summands of a reduction in another order.
REASSOCIATES = frozenset(
    {"reorder", "reorder_block_iter_var", "rfactor", "transform_block_layout", "fuse_reduction_epilogue"}
)
# What the CPU targets cannot run: threads of a GPU that exchange values in memory.
NOT_RUN = frozenset({"gpu-exchange"})


def step(sch: Schedule, r: random.Random, name: str, seen: list[Any], result: Result) -> bool:
    """Try one step; whether it was accepted.  A refusal must leave nothing behind."""
    before, count = sch.mod["f"], len(sch.history)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            attempt(sch, r, name, seen)
    except ts.ScheduleError as error:
        assert error.code != "internal", error
        assert str(error)
        assert sch.mod["f"] is before, f"{name} changed the program and was refused"
        assert len(sch.history) == count or name in DRAWS, f"{name} is in the history and was refused"
        result.refused[name] += 1
        return False
    finally:
        sch.state.verify()
    if sch.mod["f"] is before and len(sch.history) == count:
        return False
    result.accepted[name] += 1
    return True


def run(seed: int, result: Result, *, longest: int = 12, llvm: bool = True) -> None:
    """One program, one sequence.  AssertionError where a value changes, a refusal leaves a trace, the index
    is not that of the program, or the trace or the printed program does not give it again."""
    r = random.Random(seed)
    text = program(r)
    func = parsed(text)
    want = values(func, func, "python")
    sch = Schedule(func, debug_mask="all", seed=seed % 1000 + 1)
    seen: list[Any] = []
    count = r.randint(6, longest)
    names = [r.choice(NAMES) for _ in range(count)]
    if r.random() < 0.05:
        names.append(r.choice(LAST))
    result.lengths.append(sum(step(sch, r, name, seen, result) for name in names))
    story = f"{text}\n{sch.trace}\n{sch.mod.script()}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ts.structural_equal(ts.from_source(sch.mod.script()), sch.mod), story
        verify_trace_roundtrip(sch, func)
    programs: list[tuple[Any, str]] = [(sch.mod, "python"), (turned_round(sch.mod), "python")]
    if llvm:
        programs.append((sch.mod, "llvm -fp-contract=off -math=scalar"))
    for program_now, target in programs:
        try:
            have = values(program_now, func, target)
        except ts.NotYetError as error:
            if error.code in NOT_RUN:
                continue
            raise
        exact = REASSOCIATES.isdisjoint(x.kind.method for x in sch.trace.insts)
        for a, b in zip(have, want, strict=True):
            if exact or a.dtype == "int32":
                np.testing.assert_array_equal(a, b, err_msg=f"{target}\n{story}")
            else:
                np.testing.assert_allclose(a, b, **bounds(a), err_msg=f"{target}\n{story}")


def bounds(a: Any) -> dict[str, float]:
    """What the order of at most nine summands or factors can change: each below 250 where they are added."""
    eps = float(np.finfo(a.dtype).eps)
    return {"rtol": 16 * eps, "atol": 16 * 250 * 9 * eps}


def turned_round(mod: IRModule) -> IRModule:
    """The program with every parallel and vectorized loop as a serial one that runs backwards; those bound to
    threads too, but for `threadIdx`, which may share in a reduction and is only serial."""

    def f(n: Any) -> Any:
        n = n.map_children(f)
        if isinstance(n, For) and n.thread.startswith("threadIdx"):
            return n.replace(kind="serial", thread="")
        if isinstance(n, For) and (n.kind in ("parallel", "vectorized") or n.thread):
            last = n.min + n.extent - const_int(1, n.extent.dtype)
            body = substitute(n.body, {n.loop_var: n.min + last - n.loop_var})
            return n.replace(kind="serial", body=body, thread="")
        return n

    return IRModule({name: func.replace(body=f(func.body)) for name, func in mod.items()})


def main() -> None:
    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    result = Result()
    faults = 0
    for seed in range(start, start + count):
        try:
            run(seed, result, llvm=seed % 4 == 0)
        except Exception as error:
            faults += 1
            if faults <= 40:
                print(f"seed {seed}: {type(error).__name__}: {str(error).strip()[:300]}", flush=True)
    median = statistics.median(result.lengths or [0])
    print(f"{count} sequences, {faults} faults, median length {median}; {result.share:.0%} of steps accepted")
    for name in sorted({*NAMES, *LAST}):
        print(f"{name:24} {result.accepted[name]:6} {result.refused[name]:6}")


if __name__ == "__main__":
    main()
