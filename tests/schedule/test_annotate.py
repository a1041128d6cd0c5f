"""annotate and unannotate."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as ts
from tirscript.schedule import Schedule
from tirscript.script import tir as T

from .programs import matmul, roundtrip, run


@pytest.mark.parametrize("value", ["x", 7, 2.5, True, [1, "a"], {"k": [1, 2]}, [], -3])
def test_values(value: object) -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    sch.annotate(i, "note", value)
    sch.annotate(sch.get_block("C"), "mark", value)
    assert sch.get(i).annotations["note"] == value
    assert sch.get(sch.get_block("C")).annotations["mark"] == value
    roundtrip(sch.mod)
    sch.unannotate(i, "note")
    sch.unannotate("C", "mark")
    ts.assert_structural_equal(sch.mod["main"], matmul)


def test_expressions_and_numpy_numbers_become_plain() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    sch.annotate(i, "a", T.int32(3))
    sch.annotate(i, "b", np.int64(4))
    assert dict(sch.get(i).annotations) == {"a": 3, "b": 4}


def test_a_repeated_key_replaces_with_a_warning() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    sch.annotate(i, "note", 1)
    sch.annotate(i, "note", 1)  # the same value: no warning
    with pytest.warns(ts.TirscriptWarning, match="'note' was 1 and is now 2"):
        sch.annotate(i, "note", 2)
    assert dict(sch.get(i).annotations) == {"note": 2}


def test_an_unknown_pragma_warns() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    with pytest.warns(ts.TirscriptWarning, match="did you mean `pragma_auto_unroll_max_step`"):
        sch.annotate(i, "pragma_auto_unrol_max_step", 16)
    sch.annotate(i, "pragma_auto_unroll_max_step", 16)


def test_the_root_block() -> None:
    @T.prim_func
    def f(O: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.block("O"):
                vi = T.axis.spatial(4, i)
                O[vi] = vi

    sch = Schedule(f)
    sch.annotate(sch.get_block("root"), "mark", 7)
    assert "mark" in sch.mod.script()
    roundtrip(sch.mod)
    np.testing.assert_array_equal(run(sch.mod, np.zeros(4, "int32")), np.arange(4))


def test_refusals() -> None:
    sch = Schedule(matmul)
    i = sch.get_loops("C")[0]
    for key, value, code in ((3, 1, "bad-annotation-key"), ("a", object(), "bad-annotation-value")):
        with pytest.raises(TypeError) as caught:
            sch.annotate(i, key, value)  # type: ignore[arg-type]
        assert isinstance(caught.value, ts.ScheduleError) and caught.value.code == code
    sch.annotate(i, "note", 1)
    with pytest.raises(ts.ScheduleError) as refused:
        sch.unannotate(i, "noet")
    assert refused.value.message == "loop `i` has no annotation 'noet'; it has 'note'"
    assert "did you mean `note`?" in str(refused.value)
