"""The state: the index is patched, not rebuilt; replace shares what it does not touch; facts of scopes."""

from __future__ import annotations

import pytest

import tirscript as ts
from tirscript.ir import BlockRealize, For, SeqStmt
from tirscript.schedule import Schedule, ScheduleState
from tirscript.schedule.refs import block_token
from tirscript.script import tir as T

from .programs import matmul, two_stages


def place_of(state: ScheduleState, name: str):
    f = next(iter(state.functions.values()))
    return next(p for t, p in f.index.items() if t.name == name)


def test_the_index_of_a_function() -> None:
    state = ScheduleState(two_stages)
    (var,) = state.index
    assert var.name == "two_stages"
    names = [t.name for t in state.index[var]]
    assert names == ["root", "i", "j", "B", "i", "j", "C"]
    b = place_of(state, "B")
    assert b.parent is not None and b.parent.stmt.loop_var.name == "j"
    assert b.parent.parent is not None and b.parent.parent.parent is not None
    assert isinstance(b.parent.parent.parent.node, SeqStmt)
    assert b.parent.parent.seq_index == 0 and place_of(state, "C").parent.parent.seq_index == 1


def test_replace_shares_what_it_does_not_touch() -> None:
    state = ScheduleState(two_stages, debug_mask=3)
    before = state.mod["main"]
    c = place_of(state, "C")
    block, nest = c.stmt, c.parent.parent.node
    loop = place_of(state, "B").parent
    old = loop.node
    state.replace(loop, old.replace(kind="unrolled"))
    state.verify()
    after = state.mod["main"]
    assert after is not before and before.script() == two_stages.script()
    assert place_of(state, "C").stmt is block and place_of(state, "C").parent.parent.node is nest
    assert place_of(state, "B").parent is loop and loop.node.kind == "unrolled"


def test_a_sequence_in_a_sequence_is_merged() -> None:
    state = ScheduleState(two_stages, debug_mask=3)
    nest = place_of(state, "B").parent.parent
    from tirscript.ir.visitor import fresh_copy

    state.replace(nest, SeqStmt((nest.node, fresh_copy(nest.node))))
    body = state.mod["main"].body
    assert isinstance(body, BlockRealize) and isinstance(body.block.body, SeqStmt)
    assert [type(s) for s in body.block.body.seq] == [For, For, For]
    assert place_of(state, "C").parent.parent.seq_index == 2
    state.verify()


def test_a_wrong_index_is_found() -> None:
    state = ScheduleState(matmul, debug_mask=1)
    place = place_of(state, "C")
    state.verify()
    place.seq_index = 7
    with pytest.raises(ts.TirscriptError, match="`C` stands elsewhere"):
        state.verify()
    del place.home.index[block_token(place.stmt.label)]
    with pytest.raises(ts.TirscriptError, match="missing tokens"):
        state.verify()


def test_facts_of_scopes_go_with_what_changes_around_them() -> None:
    @T.prim_func
    def f(O: T.Buffer((4, 4), "int32"), P: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.spatial(4, i)
                for j in range(4):
                    with T.block("inner"):
                        vj = T.axis.spatial(4, j)
                        O[vi, vj] = vj
        for k in range(4):
            with T.block("other"):
                vk = T.axis.spatial(4, k)
                P[vk] = vk

    state = ScheduleState(f)
    home = next(iter(state.functions.values()))
    for token, p in home.index.items():
        if p.node.__class__ is BlockRealize:
            home.facts[token] = {"seen": True}
    place = place_of(state, "j")
    state.replace(place, place.node.replace(kind="unrolled"))
    assert [t.name for t in home.facts] == ["other"]


def test_roll_back() -> None:
    state = ScheduleState(matmul)
    loop = place_of(state, "j")
    state.replace(loop, loop.node.replace(kind="parallel"))
    assert state.mod["main"] is not matmul
    state.roll_back()
    assert state.mod["main"] is matmul and place_of(state, "j").node.kind == "serial"


def test_renamed_blocks_keep_their_token() -> None:
    sch = Schedule(matmul)
    block = sch.get_block("C")
    sch.decompose_reduction(block, sch.get_loops(block)[2])
    label = sch.get(block).label
    assert label.name == "C_update" and label is not block.token and block_token(label) is block.token
    again = Schedule(sch.mod)  # the token goes with the tree
    assert again.get(block).name == "C_update" and again.get_block("C_update") == block
