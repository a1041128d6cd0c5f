"""Helpers for tests and docstrings of the schedule: a small program, and checks of a schedule's trace."""

from __future__ import annotations

import importlib
from typing import Any

from tirscript.ir.buffer import full_region, make_buffer, point
from tirscript.ir.equal import assert_structural_equal
from tirscript.ir.expr import (
    GE,
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    FloatImm,
    IterVar,
    Max,
    Mul,
    Range,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, BufferStore, For, SeqStmt, Stmt

from .refs import LoopRV
from .schedule import Schedule


def mm_relu(n: int = 128) -> PrimFunc:
    """The course's two-block program: a matrix product into ``Y``, its positive part into ``C``."""
    size = const_int(n)
    a, b, c, y = (make_buffer(name, (size, size)) for name in "ABCY")
    dom = Range(const_int(0), size)

    def nest(loops: list[Var], kinds: str, label: str, make: Any) -> Stmt:
        axes = [Var("v" + v.name) for v in loops]
        names = {"S": "spatial", "R": "reduce"}
        block = make(axes, tuple([IterVar(v, dom, names[k]) for v, k in zip(axes, kinds, strict=True)]))
        out: Stmt = BlockRealize(tuple(loops), TRUE, block.replace(label=BlockLabel(label)))
        for v in reversed(loops):
            out = For(v, const_int(0), size, "serial", out)
        return out

    def product(v: list[Expr], axes: tuple[IterVar, ...]) -> Block:
        i, j, k = v
        value = Add(BufferLoad(y, (i, j)), Mul(BufferLoad(a, (i, k)), BufferLoad(b, (k, j))))
        return Block(
            BlockLabel(""), axes, (point(a, (i, k)), point(b, (k, j))), (point(y, (i, j)),),
            BufferStore(y, value, (i, j)), BufferStore(y, FloatImm(0.0), (i, j)),
        )  # fmt: skip

    def relu(v: list[Expr], axes: tuple[IterVar, ...]) -> Block:
        i, j = v
        value = Max(BufferLoad(y, (i, j)), FloatImm(0.0))
        return Block(
            BlockLabel(""), axes, (point(y, (i, j)),), (point(c, (i, j)),), BufferStore(c, value, (i, j))
        )

    body = SeqStmt((
        nest([Var("i"), Var("j"), Var("k")], "SSR", "Y", product),
        nest([Var("i"), Var("j")], "SS", "C", relu),
    ))  # fmt: skip
    root = Block(BlockLabel("root"), (), (), (), body, None, (y,))
    handles = [Var(f"{x.name}_handle", "handle", False) for x in (a, b, c)]
    return PrimFunc(
        tuple(handles),
        dict(zip(handles, (a, b, c), strict=True)),
        BlockRealize((), TRUE, root),
        attrs={"global_symbol": "mm_relu"},
    )


def chain(n: int = 16) -> PrimFunc:
    """Two elementwise blocks: ``B = A * 2``, then ``C = B + 1``."""
    size = const_int(n)
    a, b, c = (make_buffer(name, (size,)) for name in "ABC")

    def stage(label: str, source: Any, target: Any, make: Any) -> Stmt:
        i, vi = Var("i"), Var("vi")
        block = Block(
            BlockLabel(label), (IterVar(vi, Range(const_int(0), size), "spatial"),), (point(source, (vi,)),),
            (point(target, (vi,)),), BufferStore(target, make(BufferLoad(source, (vi,))), (vi,)),
        )  # fmt: skip
        return For(i, const_int(0), size, "serial", BlockRealize((i,), TRUE, block))

    body = SeqStmt((
        stage("B", a, b, lambda x: Mul(x, FloatImm(2.0))),
        stage("C", b, c, lambda x: Add(x, FloatImm(1.0))),
    ))  # fmt: skip
    handles = [Var(f"{x.name}_handle", "handle", False) for x in (a, c)]
    return PrimFunc(
        tuple(handles),
        dict(zip(handles, (a, c), strict=True)),
        BlockRealize((), TRUE, Block(BlockLabel("root"), (), (), (), body, None, (b,))),
        attrs={"global_symbol": "chain"},
    )


def double(n: int = 4) -> PrimFunc:
    """``B = A * 2``, as the description of an instruction would say it."""
    size = const_int(n)
    a, b = (make_buffer(name, (size,), offset_factor=1) for name in "AB")
    i, vi = Var("i"), Var("vi")
    dom = Range(const_int(0), size)
    block = Block(
        BlockLabel("B"), (IterVar(vi, dom, "spatial"),), (point(a, (vi,)),), (point(b, (vi,)),),
        BufferStore(b, Mul(BufferLoad(a, (vi,)), FloatImm(2.0)), (vi,)),
    )  # fmt: skip
    body = For(i, const_int(0), size, "serial", BlockRealize((i,), TRUE, block))
    root = Block(BlockLabel("root"), (), (full_region(a),), (full_region(b),), body)
    handles = [Var(f"{x.name}_handle", "handle", False) for x in (a, b)]
    buffers = dict(zip(handles, (a, b), strict=True))
    return PrimFunc(tuple(handles), buffers, BlockRealize((), TRUE, root), attrs={"global_symbol": "double"})


def padding(n: int = 16, pad: int = 2) -> PrimFunc:
    """A block that pads with zeros on both sides: ``Y = X`` between them."""
    x, y = make_buffer("X", (const_int(n),)), make_buffer("Y", (const_int(n + 2 * pad),))
    i, vi = Var("i"), Var("vi")
    inside = And(GE(vi, const_int(pad)), LT(vi, const_int(n + pad)))
    value = Call("float32", "if_then_else", (inside, BufferLoad(x, (vi - pad,)), FloatImm(0.0)))
    block = Block(
        BlockLabel("Y"), (IterVar(vi, Range(const_int(0), y.shape[0]), "spatial"),), (point(x, (vi - pad,)),),
        (point(y, (vi,)),), BufferStore(y, value, (vi,)),
    )  # fmt: skip
    body = For(i, const_int(0), y.shape[0], "serial", BlockRealize((i,), TRUE, block))
    handles = [Var(f"{b.name}_handle", "handle", False) for b in (x, y)]
    return PrimFunc(
        tuple(handles),
        dict(zip(handles, (x, y), strict=True)),
        BlockRealize((), TRUE, Block(BlockLabel("root"), (), (), (), body)),
        attrs={"global_symbol": "padding"},
    )


def example() -> tuple[Schedule, LoopRV, LoopRV, LoopRV]:
    """A schedule of a 16x16x16 ``mm_relu``, and the loops of its block ``Y``."""
    sch = Schedule(mm_relu(16), debug_mask="all")
    i, j, k = sch.get_loops(sch.get_block("Y"))
    return sch, i, j, k


def loop_lines(sch: Schedule) -> None:
    """Print the headers of the loops, outermost first, without their indentation."""
    words = {
        "serial": "range",
        "vectorized": "T.vectorized",
        "parallel": "T.parallel",
        "unrolled": "T.unroll",
    }
    for f in sch.state.functions.values():
        stack: list[Any] = [f.func.body]
        while stack:
            s = stack.pop()
            if isinstance(s, For):
                extent = getattr(s.extent, "value", s.extent)
                print(f"for {s.loop_var.name} in {words.get(s.kind, s.kind)}({extent}):")
            stack.extend([c for c in reversed(s.children()) if isinstance(c, Stmt)])


def verify_trace_roundtrip(
    sch: Schedule, mod: Any, *, debug_mask: str = "all", text_format: Any = ("python", "json")
) -> Schedule:
    """Replay the trace of a schedule on ``mod``, as objects, as Python and as JSON, and compare the results.

    The last replay is returned.
    """
    formats = (text_format,) if isinstance(text_format, str) else tuple(text_format)
    trace = sch.trace
    new = _fresh(sch, mod, debug_mask)
    trace.apply_to_schedule(new)
    assert_structural_equal(new.mod, sch.mod)
    if "python" in formats:
        new = _fresh(sch, mod, debug_mask)
        script = importlib.import_module("tirscript.script.tir")
        exec("\n".join(trace.as_python()), {"sch": new, "T": script})
        assert_structural_equal(new.mod, sch.mod)
    if "json" in formats:
        import json

        new = _fresh(sch, mod, debug_mask)
        type(trace).apply_json_to_schedule(json.loads(json.dumps(trace.as_json())), new)
        assert_structural_equal(new.mod, sch.mod)
    return new


def _fresh(sch: Schedule, mod: Any, debug_mask: str) -> Schedule:
    return Schedule(mod, debug_mask=debug_mask, enable_check=sch.state.enable_check)


def assert_structural_equal_ignore_global_symbol(a: Any, b: Any) -> None:
    """Compare two functions or modules whose functions may bear different exported names."""

    def plain(x: Any) -> Any:
        return x.without_attr("global_symbol") if isinstance(x, PrimFunc) else x

    assert_structural_equal(plain(a), plain(b))
