"""The same random steps here and in apache-tvm 0.27: who accepts what, and whether the programs are equal.

``python -m tests.schedule.peer_sequences COUNT [SEED]`` prints the counts and what differs.  A step names its
block and gives its loop by position, so that both sides can take it; a sequence consists of the steps that
TVM accepts.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tirscript as ts
from tests.script.tvm_helper import normalize, peer, spelled_out
from tirscript.arith import simplify
from tirscript.arith.linear import atom_expr, to_linear
from tirscript.ir import LT, Add, Block, BlockRealize, Expr, Mul, PrimFunc, Sub, const_int, walk
from tirscript.schedule import Schedule
from tirscript.script.printer import script

from .sequences import bounds, parsed, usual_program, values

# How a step is taken, on both sides; `b` gives a block by its name.
TAKE = """
def take(sch, b, step):
    name, block, at, args = step
    block = b(block)
    loops = sch.get_loops(block)
    loop = loops[at % len(loops)] if loops else None
    if name in ("split", "rfactor", "loop_partition"):
        getattr(sch, name)(loop, *args)
    elif name in ("fuse", "reorder"):
        sch_loops = [loops[n % len(loops)] for n in args]
        getattr(sch, name)(*sch_loops)
    elif name in ("parallel", "vectorize", "unroll", "bind"):
        getattr(sch, name)(loop, *args)
    elif name in ("compute_at", "reverse_compute_at"):
        goals = sch.get_loops(b(args[0]))
        getattr(sch, name)(block, goals[at % len(goals)])
    elif name in ("decompose_reduction", "decompose_padding"):
        getattr(sch, name)(block, loop)
    elif name == "transform_layout":
        sch.transform_layout(block, tuple(args[0]), MAPS[args[1]])
    elif name == "annotate":
        sch.annotate(loop if at % 2 else block, *args)
    elif name == "add_unit_loop":
        sch.add_unit_loop(loop if at % 2 else block)
    elif name == "reindex":
        sch.reindex(block, tuple(args[0]))
    elif name == "blockize":
        sch.blockize(loop)
    else:
        getattr(sch, name)(block, *args)

MAPS = {
    "turn": lambda i, j: (j, i),
    "tile": lambda i, j: (i, j // 2, j % 2),
    "row": lambda i: (i // 2, i % 2),
}
"""

CHILD = r"""
import json, sys
from tvm.script import from_source
from tvm.script import ir as I, tirx as T
from tvm import s_tir

for line in sys.stdin:
    text, steps = json.loads(line)
    answer = {"steps": []}
    try:
        sch = s_tir.Schedule(from_source(text, {"T": T, "I": I}))
        for step in steps:
            try:
                take(sch, sch.get_sblock, step)
                answer["steps"].append(sch.mod.script())
            except BaseException as error:
                answer["steps"].append(None)
    except BaseException as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    print("\x01" + json.dumps(answer), flush=True)
"""

Step = list[Any]
WRONG = ", and TVM's computes something else"


def steps_of(func: PrimFunc, r: random.Random) -> list[Step]:
    """Random steps on the blocks of a function, as data."""
    blocks = [s.block for s in _blocks(func)]
    names = [b.name for b in blocks]
    out: list[Step] = []
    for _ in range(r.randint(3, 8)):
        name = r.choice(sorted(STEPS))
        block = r.choice(blocks)
        if name == "transform_layout" and block.writes[0].buffer in func.buffers:
            continue  # it would change the arguments
        out.append([name, block.name, r.randrange(6), STEPS[name](r, block, names)])
    return out


def _blocks(func: PrimFunc) -> list[Any]:
    return [n for n in walk(func.body) if isinstance(n, BlockRealize) and n.block.name != "root"]


def _order(r: random.Random, count: int) -> list[int]:
    order = list(range(count))
    r.shuffle(order)
    return order


def _run(r: random.Random, *_: Any) -> list[int]:
    at = r.randrange(2)
    return [at, at + 1]


STEPS: dict[str, Any] = {
    "split": lambda r, b, ns: [r.choice([[None, 2], [2, None], [None, 3], [2, None, 2], [None, 4]])],
    "fuse": _run,
    "reorder": lambda r, b, ns: r.choice([[1, 0], [0, 1], [2, 0], [1, 2, 0], [2, 1]]),
    "parallel": lambda r, b, ns: [],
    "vectorize": lambda r, b, ns: [],
    "unroll": lambda r, b, ns: [],
    "bind": lambda r, b, ns: [r.choice(["threadIdx.x", "blockIdx.x"])],
    "compute_at": lambda r, b, ns: [r.choice(ns)],
    "reverse_compute_at": lambda r, b, ns: [r.choice(ns)],
    "compute_inline": lambda r, b, ns: [],
    "reverse_compute_inline": lambda r, b, ns: [],
    "cache_read": lambda r, b, ns: [r.randrange(max(len(b.reads), 1)), "local"],
    "cache_write": lambda r, b, ns: [0, "local"],
    "decompose_reduction": lambda r, b, ns: [],
    "rfactor": lambda r, b, ns: [r.choice([0, 1])],
    "decompose_padding": lambda r, b, ns: [],
    "set_scope": lambda r, b, ns: [0, "shared"],
    "storage_align": lambda r, b, ns: [0, 0, 32, 8],
    "add_unit_loop": lambda r, b, ns: [],
    "annotate": lambda r, b, ns: ["note", r.randrange(5)],
    "reindex": lambda r, b, ns: [[r.choice(["read", "write"]), 0]],
    "transform_layout": lambda r, b, ns: [
        ["write", 0], r.choice(["turn", "tile"]) if len(b.writes[0].region) == 2 else "row"
    ],
    "blockize": lambda r, b, ns: [],
    "reorder_block_iter_var": lambda r, b, ns: [_order(r, len(b.iter_vars))],
    "pad_einsum": lambda r, b, ns: [[r.choice([1, 2, 4]) for _ in b.iter_vars]],
}  # fmt: skip


@dataclass
class Pair:
    """A program with the steps that TVM accepts, and its program after each of them."""

    seed: int
    func: PrimFunc
    steps: list[Step]
    theirs: list[str]


@dataclass
class Counts:
    """What came of the comparison."""

    pairs: int = 0
    equal: int = 0
    steps: int = 0
    wrong: list[int] = field(default_factory=list)  # seeds where TVM's program computes something else
    differences: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], str] = field(default_factory=dict)


def pairs(seeds: range) -> list[Pair]:
    """Ask TVM; sequences of which it accepts nothing are left out."""
    asked = []
    for seed in seeds:
        r = random.Random(seed)
        func = parsed(usual_program(r))
        asked.append((seed, func, steps_of(func, r)))
    python = peer()
    assert python is not None
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    answers: list[Any] = []
    while len(answers) < len(asked):
        lines = [json.dumps([script(f, dialect="tvm-0.27"), s]) + "\n" for _, f, s in asked[len(answers) :]]
        child = subprocess.run(
            [python, "-c", TAKE + CHILD], input="".join(lines), capture_output=True, text=True,
            env=environment, check=False,
        )  # fmt: skip
        got = [json.loads(x[1:]) for x in child.stdout.splitlines() if x.startswith("\x01")]
        answers += got
        if len(got) < len(lines):  # this one ended the process
            answers.append({"steps": [], "error": child.stderr[-300:]})
    out = []
    for (seed, func, steps), answer in zip(asked, answers, strict=True):
        taken = [(s, t) for s, t in zip(steps, answer["steps"], strict=False) if t is not None]
        if taken:
            out.append(Pair(seed, func, [s for s, _ in taken], [t for _, t in taken]))
    return out


def read(text: str) -> PrimFunc:
    """TVM's program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ts.parse(spelled_out(text))
    found = found[found.names()[0]] if isinstance(found, ts.IRModule) else found
    assert isinstance(found, PrimFunc)
    return found


def simplified(n: Any) -> Any:
    """Sums as sorted terms, comparisons with 0, regions in order: one form for what is written in several."""
    if isinstance(n, LT):
        return LT(_sum(Sub(n.a, n.b)), const_int(0, n.a.dtype))
    if isinstance(n, Expr):
        return (
            _sum(n.map_children(simplified)) if n.dtype in ("int32", "int64") else n.map_children(simplified)
        )
    n = n.map_children(simplified)
    if isinstance(n, Block):
        regions = [tuple(sorted(rs, key=str)) for rs in (n.reads, n.writes)]
        return n.replace(reads=regions[0], writes=regions[1])
    return n


def _sum(e: Expr) -> Expr:
    linear = to_linear(simplify(e))
    if linear is None:
        return simplify(e)
    out: Expr = const_int(linear.const, e.dtype)
    for atom, k in sorted(linear.terms.items(), key=lambda item: str(atom_expr(item[0]))):
        out = Add(out, Mul(atom_expr(atom), const_int(k, e.dtype)))
    return out


def same_program(theirs: PrimFunc, ours: PrimFunc) -> bool:
    """Equal modulo what TVM folds while it parses, and how an index is written."""
    a, b = (normalize(f).without_attr("global_symbol") for f in (theirs, ours))
    if ts.structural_equal(a, b):
        return True
    return ts.structural_equal(a.replace(body=simplified(a.body)), b.replace(body=simplified(b.body)))


def computes_the_same(text: Any, func: PrimFunc) -> bool:
    """Whether a program gives the values of the start program; reading outside a buffer is not the same."""
    want = values(func, func, "python")
    try:
        have = values(read(text) if isinstance(text, str) else text, func, "python")
    except ts.NotYetError:
        return True
    except ts.TirscriptError:
        return False
    tolerances = [bounds(a) if a.dtype != "int32" else {} for a in have]
    return all(np.allclose(a, b, **t) for a, b, t in zip(have, want, tolerances, strict=True))


def compare(pair: Pair, counts: Counts) -> None:
    """Take the steps here too, until the programs differ."""
    space: dict[str, Any] = {}
    exec(TAKE, space)
    counts.pairs += 1
    if not computes_the_same(pair.theirs[-1], pair.func):
        counts.wrong.append(pair.seed)
    sch = Schedule(pair.func)
    for step, text in zip(pair.steps, pair.theirs, strict=True):
        counts.steps += 1
        kind, what = "", ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                space["take"](sch, sch.get_block, step)
        except ts.TirscriptError as error:
            kind, what = str(error.code), str(error)
        else:
            try:
                if not same_program(read(text), sch.mod["f"]):
                    ours_is_right = computes_the_same(sch.mod, pair.func)
                    kind = "other program" if ours_is_right else "ours computes something else"
            except ts.TirscriptError as error:
                kind, what = "unreadable", str(error)
        if kind:
            if not computes_the_same(text, pair.func) and not kind.startswith("ours"):
                kind += WRONG
            key = (step[0], kind)
            counts.differences[key] += 1
            counts.examples.setdefault(key, f"seed {pair.seed}, {step}: {what}\n{text}\n{sch.mod.script()}")
            return
    counts.equal += 1


def main() -> None:
    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts = Counts()
    for pair in pairs(range(start, start + count)):
        compare(pair, counts)
    print(
        f"{counts.pairs} pairs, {counts.equal} equal in all {counts.steps} steps; TVM computes something "
        f"else in {len(counts.wrong)}: {counts.wrong}"
    )
    for key, number in counts.differences.most_common():
        print(number, *key)
    if len(sys.argv) > 3:
        for key, text in counts.examples.items():
            print("=" * 20, *key)
            print(text)


if __name__ == "__main__":
    main()
