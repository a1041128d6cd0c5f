"""The dependence test against running the program."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.analysis.block_kind import block_kind
from tirscript.analysis.dependence import Unknown, Witness, instance_conflicts, loop_carried, reorder_legal
from tirscript.analysis.solve import BUDGET, _Rows
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.expr import Expr, Var, const_int
from tirscript.ir.stmt import BufferStore, For, IfThenElse, SeqStmt

from .programs import block, buffer, loop, nest, run, store

i, j, k = Var("i"), Var("j"), Var("k")
vi, vj, vk = Var("vi"), Var("vj"), Var("vk")
A, B, C = buffer("A", 64), buffer("B", 8, 8), buffer("C", 8, 8)

terms = st.one_of(
    st.sampled_from([i, j, k]),
    st.builds(lambda v, c: v * c, st.sampled_from([i, j, k]), st.integers(-3, 5)),
    st.builds(lambda v, c: v // c, st.sampled_from([i, j, k]), st.integers(1, 3)),
    st.builds(lambda v, c: v % c, st.sampled_from([i, j, k]), st.integers(1, 3)),
    st.builds(
        lambda v, u, c: (v * 2 + u) // c, st.sampled_from([i, j]), st.sampled_from([j, k]), st.integers(2, 3)
    ),
)
indices = st.builds(
    lambda parts, c: sum_of(parts, c), st.lists(terms, min_size=1, max_size=3), st.integers(-2, 4)
)
conditions = st.one_of(
    st.none(),
    st.builds(lambda v, c: v < c, st.sampled_from([i, j, k]), st.integers(0, 3)),
    st.builds(lambda v, u: ops.le(v, u), st.sampled_from([i, j]), st.sampled_from([j, k])),
)


def sum_of(parts: list[Expr], c: int) -> Expr:
    e: Expr = const_int(c)
    for q in parts:
        e = e + q
    return e


@st.composite
def programs(draw: Any) -> For:
    sizes = [draw(st.integers(1, 4)) for _ in range(3)]
    body: list[Any] = []
    for _ in range(draw(st.integers(1, 2))):
        s: Any = store(A, [draw(indices)], ops.load(A, [draw(indices)]) + 1.0)
        c = draw(conditions)
        body.append(s if c is None else IfThenElse(c, s))
    inner = body[0] if len(body) == 1 else SeqStmt(tuple(body))
    return nest(list(zip((i, j, k), sizes, strict=True)), inner)


def conflicts(events: list[Any]) -> list[tuple[Any, Any]]:
    """Pairs of accesses of one cell, in order, one of which writes."""
    by_cell: dict[Any, list[Any]] = {}
    for at, e in enumerate(events):
        by_cell.setdefault((e[1], e[2]), []).append((at, e))
    return [
        (a[1], b[1])
        for same in by_cell.values()
        for n, a in enumerate(same)
        for b in same[n + 1 :]
        if a[1][0] or b[1][0]
    ]


def check_witness(w: Witness, pairs: list[tuple[Any, Any]]) -> None:
    assert any(
        {w.first.items() <= a[3].items(), w.second.items() <= b[3].items(), w.cell == a[2]} == {True}
        or {w.first.items() <= b[3].items(), w.second.items() <= a[3].items(), w.cell == a[2]} == {True}
        for a, b in pairs
    )


@given(programs())
def test_loop_carried_as_run(top: For) -> None:
    pairs = conflicts(list(run(top, {})))
    want = [(a, b) for a, b in pairs if a[3][i] != b[3][i]]
    found = loop_carried(top)
    assert not isinstance(found, Unknown)
    assert (found is not None) == bool(want)
    if found is not None:
        check_witness(found, want)
    inner = top.body
    assert isinstance(inner, For)
    # The loop around is fixed, but at any value.
    want = [(a, b) for a, b in pairs if a[3][i] == b[3][i] and a[3][j] != b[3][j]]
    extent = top.extent
    assert isinstance(extent, E.IntImm)
    answer = loop_carried(inner, {i: (0, extent.value - 1)})
    assert not isinstance(answer, Unknown)
    assert (answer is not None) == bool(want)


@given(programs(), st.permutations([0, 1, 2]))
def test_reorder_as_run(top: For, order: list[int]) -> None:
    chain: list[For] = [top]
    for _ in range(2):
        below = chain[-1].body
        assert isinstance(below, For)
        chain.append(below)
    variables = [f.loop_var for f in chain]
    new = [variables[q] for q in order]
    pairs = conflicts(list(run(top, {})))
    want = [
        (a, b)
        for a, b in pairs
        if [a[3][v] for v in variables] < [b[3][v] for v in variables]
        and [a[3][v] for v in new] > [b[3][v] for v in new]
    ]
    # A sum over one cell may be reordered: not at issue here, nothing stands in a block.
    found = reorder_legal(chain, [chain[q] for q in order])
    assert not isinstance(found, Unknown)
    assert (found is not None) == bool(want)
    if found is not None:
        check_witness(found, want)


def test_a_sum_of_quotients_in_a_tiny_box() -> None:
    index = 0 + j + k % 2 + (j * 2 + k) // 2
    top = nest([(i, 1), (j, 2), (k, 2)], store(A, [index], ops.load(A, [0 + i]) + 1.0))
    chain = [top, top.body, top.body.body]  # type: ignore[attr-defined]
    # The four cells written are 0 to 3; cell 0 is read everywhere, and written first in either order.
    assert reorder_legal(chain, [chain[0], chain[2], chain[1]]) is None  # type: ignore[list-item]
    index = (j * 3 + k) // 2 + k % 2
    top = nest([(i, 1), (j, 2), (k, 2)], store(A, [index], 1.0))
    chain = [top, top.body, top.body.body]  # type: ignore[attr-defined]
    # Cells 0, 1 and 1, 3.
    found = reorder_legal(chain, [chain[0], chain[2], chain[1]])  # type: ignore[list-item]
    assert isinstance(found, Witness)
    assert found.text == "(j=0, k=1) and (j=1, k=0) both write A[1]"


@st.composite
def crooked(draw: Any) -> For:
    """Indices that are not linear in any way, in boxes of a few points; now and then triangular."""
    sizes = [draw(st.integers(0, 4)) for _ in range(3)]

    def index() -> Expr:
        parts = st.sampled_from([i, j, k, const_int(2)])
        kinds = st.sampled_from([E.Mul, E.Min, E.Max, E.FloorMod, E.FloorDiv, E.Add, E.Sub])
        e: Expr = draw(parts)
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(kinds)
            other = draw(parts)
            e = kind(e, other * other + 1 if kind in (E.FloorMod, E.FloorDiv) else other)
        return e

    s: Any = store(A, [index()], ops.load(A, [index()]) + 1.0)
    if draw(st.booleans()):
        s = IfThenElse(ops.le(index(), index()), s)
    inner = loop(k, draw(st.sampled_from([const_int(sizes[2]), i + 1])), s)
    return loop(i, sizes[0], loop(j, sizes[1], inner))


@given(crooked())
def test_small_boxes_are_decided_whatever_the_index(top: For) -> None:
    pairs = conflicts(list(run(top, {})))
    for around, asked in (([], top), ([i], top.body), ([i, j], top.body.body)):  # type: ignore[attr-defined]
        v = asked.loop_var
        if any(int_of(f) == 0 for f in (top, top.body)[: len(around)]):
            continue
        want = [(a, b) for a, b in pairs if a[3][v] != b[3][v] and all(a[3][x] == b[3][x] for x in around)]
        ranges = {x: (0, n) for x, n in ((i, int_of(top) - 1), (j, int_of(top.body) - 1)) if x in around}
        found = loop_carried(asked, ranges)
        assert not isinstance(found, Unknown)
        assert (found is not None) == bool(want)
        if found is not None:
            check_witness(found, [(a, b) for a, b in want])


def int_of(f: Any) -> int:
    assert isinstance(f.extent, E.IntImm)
    return f.extent.value


def test_what_is_around_counts_for_a_small_box() -> None:
    # A[i * j] within i: two j meet only where i is 0, which the condition around excludes.
    body = loop(j, 3, store(A, [i * j], 1.0))
    found = loop_carried(body, {i: (0, 3)})
    assert isinstance(found, Witness) and found.cell == (0,)
    assert loop_carried(body, {i: (0, 3)}, conditions=(ops.gt(i, const_int(0)),)) is None
    assert loop_carried(body, {i: (1, 3)}) is None


def test_intervals_in_a_small_box() -> None:
    inner = BufferStore(
        A, ops.as_expr(E.Broadcast(E.FloatImm(1.0), 4)), (E.Ramp(j * j * 3, const_int(1), 4),)
    )
    found = loop_carried(loop(j, 4, inner))
    # Cells 0-3, 3-6, 12-15, 27-30.
    assert isinstance(found, Witness) and found.cell == (3,) and found.text.startswith("j=0 and j=1")
    apart = BufferStore(A, inner.value, (E.Ramp(j * j * 4, const_int(1), 4),))
    assert loop_carried(loop(j, 4, apart)) is None


@pytest.mark.parametrize(
    ("base", "stride", "lanes", "cell"),
    [
        (i, 4, 4, None),  # columns: 0 4 8 12, 1 5 9 13 ...
        (i, 3, 4, 3),
        (i * 8, 2, 4, None),
        (i * 8, 2, 5, 8),
        (i * 7, 2, 4, None),
        (i * 6, 2, 4, 6),
        (i * 12 + 9, -3, 4, None),
        (i * 9 + 9, -3, 4, 9),
        (i * 4, 1, 4, None),
        (i * 3, 1, 4, 3),
        (i // 2 + 0, 5, 3, 0),
    ],
)
@pytest.mark.parametrize("extent", [4, 4000])
def test_lanes_of_a_vector(base: Expr, stride: int, lanes: int, cell: int | None, extent: int) -> None:
    if extent > 4 and stride in (3, 4) and base is i:
        return  # columns of a longer loop do meet
    value = E.Broadcast(E.FloatImm(1.0), lanes)
    s = BufferStore(buffer("V", 1 << 20), value, (E.Ramp(base, const_int(stride), lanes),))
    found = loop_carried(loop(i, extent, s))
    if cell is None:
        assert found is None
    else:
        assert isinstance(found, Witness) and found.cell == (cell,) and not found.parameters
    # Even beside odd.
    pair = SeqStmt((s, s.replace(indices=(E.Ramp(base + 1, const_int(2), lanes),))))
    assert not isinstance(loop_carried(loop(i, extent, pair)), Unknown)


def test_interleaved_vectors() -> None:
    value = E.Broadcast(E.FloatImm(1.0), 4)
    even, odd = (BufferStore(A, value, (E.Ramp(i * 8 + c, const_int(2), 4),)) for c in (0, 1))
    assert loop_carried(loop(i, 4, SeqStmt((even, odd)))) is None
    single = store(A, [i * 8 + 3], 1.0)
    assert loop_carried(loop(i, 4, SeqStmt((even, single)))) is None
    found = loop_carried(loop(i, 4, SeqStmt((even, store(A, [i * 8 + 10], 1.0)))))
    assert isinstance(found, Witness) and found.cell == (10,)


def test_the_solver_gives_up_in_time() -> None:
    """Twelve quotients of large loops: "too large", and never more steps than allowed."""
    e: Expr = const_int(0)
    for n, v in enumerate((i, j, k) * 4):
        e = e + (v * (2 * n + 3) + (j + k * 7) // (n + 5)) // (n + 2)
    top = nest([(i, 1000), (j, 1000), (k, 1000)], store(A, [e], ops.load(A, [e + 1])))
    made = []
    add = _Rows.add

    def counted(self: Any, terms: Any, const: int) -> None:
        made.append(1)
        add(self, terms, const)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Rows, "add", counted)
        found = loop_carried(top)
    assert isinstance(found, Unknown) and found.reason == "too large for the test"
    # Three pairs of accesses, each with about a hundred rows to begin with.
    assert len(made) < 3 * (BUDGET + 200)


def matmul(kind: str = "reduce") -> For:
    body = store(C, [vi, vj], ops.load(C, [vi, vj]) + ops.load(B, [vi, vk]) * ops.load(B, [vk, vj]))
    init = store(C, [vi, vj], 0.0)
    axes = [(vi, 8, "spatial", i), (vj, 8, "spatial", j), (vk, 8, kind, k)]
    return nest([(i, 8), (j, 8), (k, 8)], block("C", axes, body, init=init))


def blocks(top: For) -> Any:
    s: Any = top
    while isinstance(s, For):
        s = s.body
    return s.block


def test_matmul() -> None:
    top = matmul()
    loops = [top, top.body, top.body.body]  # type: ignore[attr-defined]
    assert loop_carried(loops[0]) is None
    assert loop_carried(loops[1], {i: (0, 7)}) is None
    found = loop_carried(loops[2], {i: (0, 7), j: (0, 7)})
    assert isinstance(found, Witness)
    assert found.kind == "reduction"
    assert found.text == "k=0 and k=1 both write C[0, 0]"
    assert instance_conflicts(blocks(top)) is None
    assert block_kind(blocks(top)) == "reduction"
    assert reorder_legal(loops, [loops[2], loops[0], loops[1]]) is None


def test_a_scan_axis_keeps_its_order() -> None:
    top = matmul("scan")
    loops = [top, top.body, top.body.body]  # type: ignore[attr-defined]
    found = loop_carried(loops[2], {i: (0, 7), j: (0, 7)})
    assert isinstance(found, Witness) and found.kind == "WAW"


def test_a_read_at_a_shifted_index() -> None:
    body = store(A, [vi], ops.load(A, [vi + 1]))
    top = loop(i, 63, block("A", [(vi, 63, "spatial", i)], body))
    found = loop_carried(top)
    assert isinstance(found, Witness)
    assert (found.kind, found.text) == ("WAR", "i=0 reads A[1], which i=1 writes")
    answer = instance_conflicts(top.body.block)  # type: ignore[attr-defined]
    assert isinstance(answer, Witness)


def test_an_anti_diagonal_cannot_be_interchanged() -> None:
    body = store(B, [i + 1, j], ops.load(B, [i, j + 1]))
    top = nest([(i, 7), (j, 7)], body)
    found = reorder_legal([top, top.body], [top.body, top])  # type: ignore[list-item]
    assert isinstance(found, Witness)
    assert found.text == "(i=0, j=1) writes B[1, 1], which (i=1, j=0) reads"


def test_what_is_fixed_around_the_loop_need_not_be_known() -> None:
    cube = buffer("Q", 8, 8, 8)
    body = store(cube, [i, j, k], ops.load(cube, [i, j - 1, k]))
    top = nest([(i, 8), (j, 7), (k, 8)], body)
    inner = top.body
    assert isinstance(inner, For)
    found = loop_carried(inner, {i: (0, 7)})
    assert isinstance(found, Witness) and found.cell == (0, 0, 0)
    assert found.text == "j=0 writes Q[0, 0, 0], which j=1 reads"


def test_symbolic_strides() -> None:
    n, m = Var("n"), Var("m")
    flat = buffer("F", 64)
    flat = flat.replace(shape=(n * m,))
    body = store(flat, [vi * m + vj], 1.0)
    realize = block("F", [(vi, n, "spatial", i), (vj, m, "spatial", j)], body)
    top = loop(i, n, loop(j, m, realize))
    assert loop_carried(top) is None
    assert loop_carried(top.body) is None  # type: ignore[arg-type]
    assert instance_conflicts(realize.block) is None
    assert reorder_legal([top, top.body], [top.body, top]) is None  # type: ignore[list-item]
    # With a stride that has nothing to do with the extent, cells coincide.
    other = block("F", [(vi, n, "spatial", i), (vj, n, "spatial", j)], body)
    assert loop_carried(loop(i, n, loop(j, n, other))) is not None


def test_an_index_of_data_is_unknown() -> None:
    where = buffer("I", 8).replace(dtype="int32")
    body = store(A, [ops.load(where, [vi])], 1.0)
    top = loop(i, 8, block("A", [(vi, 8, "spatial", i)], body))
    found = loop_carried(top)
    assert isinstance(found, Unknown)
    assert found.access.buffer is A
    assert isinstance(instance_conflicts(top.body.block), Unknown)  # type: ignore[attr-defined]


def test_a_data_condition_leaves_the_witness_uncertain() -> None:
    flag = buffer("I", 8).replace(dtype="int32")
    body = IfThenElse(ops.load(flag, [i]) < 3, store(A, [0], 1.0))
    found = loop_carried(loop(i, 8, body))
    assert isinstance(found, Witness) and not found.certain


def test_a_buffer_of_the_iteration_is_no_conflict() -> None:
    t = buffer("t", 1)
    inner = SeqStmt((store(t, [0], 1.0), store(A, [vi], ops.load(t, [0]))))
    top = loop(i, 8, block("A", [(vi, 8, "spatial", i)], inner, alloc_buffers=(t,)))
    assert loop_carried(top) is None
    outside = loop(i, 8, block("A", [(vi, 8, "spatial", i)], inner))
    assert isinstance(loop_carried(outside), Witness)


def test_parameters_that_may_overlap() -> None:
    d = buffer("D", 64)
    top = loop(i, 8, block("A", [(vi, 8, "spatial", i)], store(A, [vi], ops.load(d, [vi]))))
    assert loop_carried(top) is None
    assert isinstance(loop_carried(top, aliased=frozenset((A, d))), Unknown)


def test_fused_and_split_bindings() -> None:
    f = Var("f")
    body = store(B, [vi, vj], 1.0)
    top = loop(f, 64, block("B", [(vi, 8, "spatial", f // 8), (vj, 8, "spatial", f % 8)], body))
    assert loop_carried(top) is None
    wrong = loop(f, 64, block("B", [(vi, 8, "spatial", f // 16), (vj, 8, "spatial", f % 8)], body))
    found = loop_carried(wrong)
    assert isinstance(found, Witness)
    assert found.cell == (0, 0)


def test_a_guarded_split() -> None:
    e = Var("e")
    value = i * 4 + e
    body = store(A, [vi], 1.0)
    top = nest([(i, 5), (e, 4)], block("A", [(vi, 18, "spatial", value)], body, value < 18))
    assert loop_carried(top) is None


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_reversed_accesses_meet_in_the_middle(stride: int) -> None:
    top = loop(i, 16, store(A, [i * stride], ops.load(A, [45 - i * stride])))
    cells = {(n * stride, 45 - q * stride) for n in range(16) for q in range(16) if n != q}
    want = any(a == b for a, b in cells)
    assert (loop_carried(top) is not None) == want


def test_triangular_loops() -> None:
    top = loop(i, 8, loop(j, i, store(B, [i, j], ops.load(B, [j, i]))))
    assert loop_carried(top) is None  # the upper half is only read
    assert loop_carried(loop(i, 8, loop(j, 8, store(B, [i, j], ops.load(B, [j, i]))))) is not None
