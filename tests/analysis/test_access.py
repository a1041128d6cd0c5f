"""Regions: against hand-written ones, and against the cells that a run touches."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tirscript.analysis.access import accesses, accesses_of
from tirscript.analysis.inferred import infer_regions
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import BufferRegion, MatchBufferRegion, make_buffer
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import IterVar, Range, Var, const_int
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
)

from .programs import block, buffer, loop, nest, number, run, store
from .test_dependence import indices

vi, vj, k, q, n = Var("vi"), Var("vj"), Var("k"), Var("q"), Var("n")
A, B, C = buffer("A", 16, 16), buffer("B", 16), buffer("C", 16, 64)
I = make_buffer("I", (const_int(16),), "int32")
AXES = [IterVar(v, Range(const_int(0), const_int(16)), "spatial") for v in (vi, vj)]


def sides(body: Any, init: Any = None, **fields: Any) -> tuple[list[Any], list[Any]]:
    reads, writes = infer_regions(AXES, body, init, **fields)
    return [plain(r) for r in reads], [plain(w) for w in writes]


def plain(r: BufferRegion) -> Any:
    return r.buffer, [(x.min, x.extent) for x in r.region]


def same(found: list[Any], *want: Any) -> bool:
    """Regions as ``(buffer, (min, extent), ...)``; a bare index is a point."""
    assert [f[0] for f in found] == [w[0] for w in want]
    for f, w in zip(found, want, strict=True):
        for (low, extent), expected in zip(f[1], w[1:], strict=True):
            e_low, e_extent = expected if isinstance(expected, tuple) else (expected, 1)
            assert structural_equal(low, ops.as_expr(e_low)), (low, e_low)
            assert structural_equal(extent, ops.as_expr(e_extent)), (extent, e_extent)
    return True


def test_points_stay_as_written() -> None:
    reads, writes = sides(store(C, [vi, vj], ops.load(A, [vi + 0, vj * 1 - 1])))
    assert same(reads, (A, vi + 0, vj * 1 - 1))
    assert same(writes, (C, vi, vj))


def test_loops_inside_are_widened() -> None:
    reads, writes = sides(loop(k, 4, store(C, [vi, vj * 4 + k], ops.load(B, [vi + k]))))
    assert same(reads, (B, (vi, 4)))
    assert same(writes, (C, vi, (vj * 4, 4)))


def test_a_hull_of_several_accesses() -> None:
    reads, _ = sides(store(C, [vi, vj], ops.load(B, [vi - 1]) + ops.load(B, [vi + 1])))
    assert same(reads, (B, (vi - 1, 3)))
    reads, _ = sides(store(C, [vi, vj], ops.load(A, [vi, vj]) + ops.load(A, [vj, vi])))
    low, high = ops.minimum(vi, vj), ops.maximum(vi, vj)
    assert same(
        reads,
        (A, (low, high - low + 1), (ops.minimum(vj, vi), ops.maximum(vj, vi) - ops.minimum(vj, vi) + 1)),
    )


def test_conditions_are_used() -> None:
    reads, _ = sides(loop(k, 16, IfThenElse(k < vi, store(C, [vi, vj], ops.load(B, [k])))))
    assert same(reads, (B, (0, vi)))
    guarded = ops.if_then_else(ops.logical_and(ops.le(1, k), k < 9), ops.load(B, [k]), 0.0)
    reads, _ = sides(loop(k, 16, store(C, [vi, vj], guarded)))
    assert same(reads, (B, (1, 8)))
    tiled = loop(k, 4, loop(q, 8, IfThenElse(k * 8 + q < 18, store(C, [vi, vj], ops.load(B, [k * 8 + q])))))
    assert same(sides(tiled)[0], (B, (0, 18)))


def test_else_branches_know_the_negated_condition() -> None:
    body = IfThenElse(k < 3, store(C, [vi, vj], 0.0), store(C, [vi, vj], ops.load(B, [k])))
    assert same(sides(loop(k, 16, body))[0], (B, (3, 13)))


def test_data_stands_for_the_whole_extent() -> None:
    reads, writes = sides(store(C, [ops.load(I, [vi]), vj], ops.load(A, [ops.load(I, [vi]) + 1, vj])))
    # The index is evaluated before the load that it is for.
    assert same(reads, (I, vi), (A, (0, 16), vj))
    assert same(writes, (C, (0, 16), vj))


def test_order_of_first_evaluation() -> None:
    reads, _ = sides(store(C, [ops.load(I, [vi]), vj], ops.load(B, [vi])))
    assert [r[0] for r in reads] == [B, I]


def test_updated_cells_are_not_listed_with_init() -> None:
    update = store(C, [vi, vj], ops.load(C, [vi, vj]) + ops.load(B, [vj]))
    reads, writes = sides(update, store(C, [vi, vj], 0.0))
    assert same(reads, (B, vj))
    assert same(writes, (C, vi, vj))
    assert same(sides(update)[0], (C, vi, vj), (B, vj))
    # Another cell of the same buffer is read.
    other = store(C, [vi, vj], ops.load(C, [vi, vj]) + ops.load(C, [vi, vj + 1]))
    assert same(sides(other, store(C, [vi, vj], 0.0))[0], (C, vi, vj + 1))


def test_negative_coefficients_and_quotients() -> None:
    body = loop(k, 4, loop(q, 8, store(C, [vi, k * 8 + q], ops.load(B, [21 - 5 * k + q]))))
    assert same(sides(body)[0], (B, (6, 23)))
    body = loop(k, 16, store(C, [vi, vj], ops.load(A, [k // 4, k % 4])))
    assert same(sides(body)[0], (A, (0, 4), (0, 4)))


def test_triangular_loops_cancel() -> None:
    body = loop(k, 8, loop(q, k, store(C, [vi, vj], ops.load(B, [k - q]))))
    assert same(sides(body)[0], (B, (1, 7)))


def test_vectors() -> None:
    ramp = E.Ramp(vj * 4, const_int(1), 4)
    value = ops.load(C, [vi, E.Ramp(vj * 4 + 3, const_int(-1), 4)])
    reads, writes = sides(store(C, [vi, ramp], value))
    assert same(writes, (C, vi, (vj * 4, 4)))
    assert same(reads, (C, vi, (vj * 4, 4)))


def test_pointers_are_the_whole_buffer() -> None:
    call = Evaluate(ops.call("call_extern", E.StringImm("f"), B.data, dtype="int32"))
    reads, writes = sides(call, visible=[B])
    assert same(reads, (B, (0, 16)))
    assert same(writes, (B, (0, 16)))
    pointer = ops.call(
        "tvm_access_ptr",
        ops.call("type_annotation", dtype="float32"),
        B.data,
        const_int(0),
        const_int(4),
        const_int(1),
    )
    reads, writes = sides(
        Evaluate(ops.call("call_extern", E.StringImm("f"), pointer, dtype="int32")), visible=[B]
    )
    assert same(reads, (B, (0, 16)))
    assert writes == []


def test_nested_blocks_contribute_what_they_declare() -> None:
    vo = Var("vo")
    declared = (BufferRegion(B, (Range(vo * 4, const_int(4)),)),)
    local = buffer("L", 4)
    inside = Block(
        BlockLabel("inner"),
        (IterVar(vo, Range(const_int(0), const_int(3)), "spatial"),),
        (*declared, BufferRegion(local, (Range(const_int(0), const_int(4)),))),
        declared,
        Evaluate(const_int(0)),
        alloc_buffers=(local,),
    )
    body = loop(
        k, 8, E.Node and block("x", [], Evaluate(const_int(0))).replace(iter_values=(k,), block=inside)
    )
    reads, writes = sides(body)
    # The domain of its axis ends at 3.
    assert same(reads, (B, (0, 12)))
    assert same(writes, (B, (0, 12)))


def test_own_buffers_and_views() -> None:
    local = buffer("L", 16)
    body = SeqStmt((store(local, [vi], ops.load(B, [vi])), store(C, [vi, vj], ops.load(local, [vi]))))
    reads, writes = sides(body, alloc_buffers=[local])
    assert same(reads, (B, vi)) and same(writes, (C, vi, vj))
    view = buffer("V", 4)
    match = MatchBufferRegion(view, BufferRegion(A, (Range(vi, const_int(1)), Range(vj * 4, const_int(4)))))
    reads, _ = sides(loop(k, 4, store(C, [vi, k], ops.load(view, [k]))), match_buffers=[match])
    assert same(reads, (A, vi, (vj * 4, 4)))
    again = make_buffer("W", (const_int(8), const_int(2)), data=B.data)
    reads, _ = sides(DeclBuffer(again, store(C, [vi, vj], ops.load(again, [vi, vj]))), visible=[B])
    assert same(reads, (B, (0, 16)))


def test_lets() -> None:
    x = Var("x")
    reads, _ = sides(loop(k, 4, LetStmt(x, vi * 2 + k, store(C, [vi, vj], ops.load(B, [x])))))
    assert same(reads, (B, (vi * 2, 4)))
    y = Var("y", "int32", False)
    reads, _ = sides(LetStmt(y, ops.load(I, [vi]), store(C, [vi, vj], ops.load(B, [y]))))
    assert same(reads, (I, vi), (B, (0, 16)))


def test_lets_that_grow() -> None:
    names = [Var(f"x{t}") for t in range(40)]
    body: Any = store(C, [vi, vj], ops.load(B, [names[-1]]))
    for t in range(39, 0, -1):
        body = LetStmt(names[t], names[t - 1] + names[t - 1], body)
    reads, _ = sides(LetStmt(names[0], vi, body))
    assert [r[0] for r in reads] == [B]


def test_symbolic_extents() -> None:
    flat = B.replace(shape=(n * 4,))
    body = loop(k, n, store(C, [vi, vj], ops.load(flat, [k * 4 + 1])))
    assert same(sides(body)[0], (flat, (1, n * 4 - 3)))


def test_an_empty_loop_touches_nothing() -> None:
    assert sides(loop(k, 0, store(C, [vi, k], 0.0))) == ([], [])


def test_accesses_of_a_block() -> None:
    realize = block("C", [(vi, 16, "spatial", k)], loop(q, 4, store(C, [vi, q], ops.load(B, [vi]))))
    found = accesses(realize.block)
    assert [(a.buffer, a.is_write) for a in found] == [(B, False), (C, True)]
    assert [f.loop_var for f in found[1].loops] == [q]
    assert accesses(realize.block) is found
    outer = accesses_of(For(k, const_int(0), const_int(16), "serial", realize))
    assert outer[1].indices is not None and outer[1].indices[0] is k
    assert [a.var for a in outer[1].axes] == [k, q]
    assert not outer[1].guarded and len(outer[1].conditions) == 2


@given(indices, indices, st.tuples(*[st.integers(1, 4)] * 3), st.integers(0, 6))
def test_regions_hold_every_cell(a: Any, b: Any, sizes: tuple[int, int, int], limit: int) -> None:
    from .test_dependence import i, j, k

    data = buffer("D", 64)
    body = IfThenElse(i + j < limit, store(data, [a], ops.load(data, [b])))
    reads, writes = infer_regions(
        [IterVar(i, Range(const_int(0), const_int(4)), "spatial")], nest([(j, sizes[1]), (k, sizes[2])], body)
    )
    for at in range(sizes[0]):
        for is_write, _, cell, values in run(nest([(j, sizes[1]), (k, sizes[2])], body), {i: at}):
            region = (writes if is_write else reads)[0].region[0]
            low, extent = number(region.min, values), number(region.extent, values)
            assert low <= cell[0] < low + extent
