"""Notes in the margin: which numbers stand beside which loops."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tirscript as ts
from tirscript import display
from tirscript.display.units import amount, percent

from .programs import matmul, tiled


def shown(program: object, capsys: pytest.CaptureFixture[str], **options: object) -> dict[str, str]:
    """The notes by the code that they stand beside."""
    program.show(cost=True, **options)  # type: ignore[attr-defined]
    text = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    ts.parse(text)  # notes are comments
    out: dict[str, str] = {}
    above = ""
    for line in text.splitlines():
        code, _, note = line.partition("# ")
        if note and "import" not in note and 'T.block("root")' not in note:
            out[code.strip() or above] = note
        above = code.strip()
    return out


def test_every_loop_says_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    notes = shown(matmul(), capsys)
    m, n, k = 16, 24, 12
    total = 4 * (m * k + k * n + m * n)
    flops, moved = 2 * m * n * k, 4 * (3 * m * n * k + m * n * k + m * n)
    head = next(note for code, note in notes.items() if code.startswith("def mm"))
    assert head == (
        f"{amount(flops, 'FLOP')}, moves {amount(moved, 'B')}, touches {amount(total, 'B')}, "
        f"{amount(flops / total, 'FLOP/B')}"
    )
    assert notes["for i in range(16):"].endswith(f"touches {amount(total, 'B')}, 2.67 FLOP/B")
    assert notes["for k in range(12):"].startswith(f"{m * n}x, {amount(flops, 'FLOP')}, ")
    assert f"touches {4 * (2 * k + 1)} B" in notes["for k in range(12):"]
    assert notes['with T.block("C"):'].startswith("4,608x")


def test_vectorized_loops_say_their_lanes_and_strides(capsys: pytest.CaptureFixture[str]) -> None:
    notes = shown(tiled(), capsys)
    assert notes["for j_1 in T.vectorized(8):"].endswith("8 x 32 bits; C B contiguous, A one element")
    assert notes["for i_0 in T.parallel(4):"].endswith("4 tasks")
    sch = ts.Schedule(matmul())
    sch.vectorize(sch.get_loops("C")[0])
    assert shown(sch, capsys)["for i in T.vectorized(16):"].endswith(
        "16 x 32 bits; B one element, C by 24 A by 12 strided"
    )


def test_open_sizes_are_formulas_or_given(capsys: pytest.CaptureFixture[str]) -> None:
    f = ts.parse("""
@T.prim_func
def f(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    for i in range(n):
        A[i] = A[i] * T.float32(2)
""")
    assert shown(f, capsys)["for i in range(n):"].startswith("n FLOP, 8*n B, touches 4*n B")
    given = shown(f, capsys, sizes={"n": 1000})["for i in range(n):"]
    assert given == "1 kFLOP, 8 kB, touches 4 kB, 0.25 FLOP/B"


def test_after_a_measurement_the_share_of_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    f = matmul()
    mod = ts.build(f)
    rng = np.random.default_rng(0)
    arrays = [rng.random(s).astype("float32") for s in ((16, 12), (12, 24), (16, 24))]
    assert "FLOP/s" not in str(shown(f, capsys))
    timing = mod.time_evaluator("mm", ts.cpu(), number=2, repeat=3)(*arrays)
    machine = display.Machine(flops=1e12, bandwidth=1e11)
    head = next(n for code, n in shown(f, capsys, machine=machine).items() if code.startswith("def mm"))
    speed = 2 * 16 * 24 * 12 / timing.median
    assert f"{amount(speed, 'FLOP/s')} ({percent(speed / 1e12)} of peak)" in head
    other = next(n for c, n in shown(f, capsys, timing=timing).items() if c.startswith("def mm"))
    assert amount(speed, "FLOP/s") in other and "of peak" not in other


def test_what_never_runs_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    f = ts.parse("""
@T.prim_func
def f(A: T.Buffer((4,))):
    for i in range(0):
        for j in range(4):
            A[j] = T.float32(1)
""")
    assert shown(f, capsys)["for j in range(4):"] == "never runs"


def test_options_of_show_are_checked() -> None:
    f = matmul()
    with pytest.raises(
        ts.TirscriptError, match=r"there is no option `line_number`(.|\n)*did you mean `line_numbers`"
    ):
        f.show(line_number=True)
    with pytest.raises(ts.TirscriptError, match=r"did you mean `cost`"):
        f.show(costs=True)
    with pytest.raises(ts.TirscriptError, match="`machine` goes with cost=True"):
        f.show(machine=True)
    with pytest.raises(ts.TirscriptError, match="takes a function or a module"):
        f.body.show(cost=True)
    with pytest.raises(ts.TirscriptError, match="is shown without options"):
        display.show(tiled().tree(), cost=True)


def test_the_table_of_costs() -> None:
    cost = display.cost_of(matmul())
    bundle = cost._repr_mimebundle_()
    lines = bundle["text/plain"].splitlines()
    assert lines[0].split("  ")[-1].strip() == "FLOP/B"
    assert [line.split()[0:2] for line in lines[2:5]] == [["for", "i"], ["for", "j"], ["for", "k"]]
    assert "9.22 kFLOP" in lines[1] and "9.22 kFLOP" in bundle["text/html"]
