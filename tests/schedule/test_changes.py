"""What a step changed, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tirscript as ts
from tirscript.schedule import Schedule

from .programs import matmul, two_stages


def step(sch: Schedule, act: Callable[[Schedule], object]) -> list[str]:
    act(sch)
    return sch.history[-1].changed


CASES: dict[str, tuple[Callable[[Schedule], object], list[str]]] = {
    "split": (lambda s: s.split(s.get_loops("C")[0], [None, 4]), ["loop `i` → `i_0`, `i_1`"]),
    "fuse": (lambda s: s.fuse(*s.get_loops("C")[:2]), ["loops `i`, `j` → `i_j_fused`"]),
    "reorder": (lambda s: s.reorder(*reversed(s.get_loops("C")[:2])), ["order `j`, `i`"]),
    "parallel": (lambda s: s.parallel(s.get_loops("C")[0]), ["`i` parallel"]),
    "bind": (lambda s: s.bind(s.get_loops("C")[0], "threadIdx.x"), ["`i` threadIdx.x"]),
    "annotate": (lambda s: s.annotate(s.get_loops("C")[0], "pragma", 1), ["`i` annotated"]),
    "annotate block": (lambda s: s.annotate(s.get_block("C"), "pragma", 1), ['block "C" annotated']),
    "cache_read": (
        lambda s: s.cache_read("C", 0, "shared"),
        ["new loops `ax0`, `ax1`", 'new block "A_shared"', "new buffer `A_shared` in shared"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_step_on_a_matmul(name: str) -> None:
    act, words = CASES[name]
    assert step(Schedule(matmul), act) == words


def test_steps_on_two_stages() -> None:
    sch = Schedule(two_stages)
    first, second = [b.name for b in sch.get_child_blocks(sch.get_block("root"))]
    copy = sch.copy()
    assert step(copy, lambda s: s.compute_inline(first)) == [
        f"loops {', '.join(f'`{v.name}`' for v in sch.get_loops(first))} gone",
        f'block "{first}" gone',
        "buffer `B` gone",
    ]
    assert step(sch, lambda s: s.set_scope(first, 0, "shared")) == ["buffer `B` → `B_shared` in shared"]
    loop = sch.get_loops(second)[0]
    assert any("gone" in w or "→" in w for w in step(sch, lambda s: s.compute_at(first, loop)))


def test_a_step_that_changes_several_functions_names_them() -> None:
    mod = ts.IRModule(
        {"f": matmul.with_attr("global_symbol", "f"), "g": matmul.with_attr("global_symbol", "g")}
    )
    sch = Schedule(mod)
    sch.parallel(sch.get_loops(sch.get_block("C", "g"))[0])
    assert sch.history[-1].changed == ["`i` parallel"]


def test_the_table_in_html_says_what_changed_and_how_long_it_took() -> None:
    sch = Schedule(matmul)
    sch.split(sch.get_loops("C")[0], [None, 4])
    sch.parallel(sch.get_loops("C")[0])
    sch.undo()
    markup = sch.history._repr_mimebundle_()["text/html"]
    assert "loop `i` → `i_0`, `i_1`" in markup and "(2)" in markup and "what changed" in markup
    assert any(unit in markup for unit in (" us<", " ms<"))
    assert sch.history._repr_mimebundle_()["text/plain"] == str(sch.history)
