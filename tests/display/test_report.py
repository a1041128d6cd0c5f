"""Reports of timings, comparisons, charts, machines, bars of progress."""

from __future__ import annotations

import io
import logging
import pickle
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript import display
from tirscript.display import progress_bar
from tirscript.display.progress_bar import Progress, progress
from tirscript.display.units import amount, percent
from tirscript.runtime import timing as timing_module
from tirscript.runtime.timing import Timing, Work, measure

from .programs import matmul

FAST = Timing((0.001, 0.002, 0.004), "fast", 1, lambda: Work(4_000_000, 800_000))
SLOW = Timing((0.010,), "slow", 1, lambda: Work(4_000_000, 800_000))
BARE = Timing((0.5,))
MACHINE = display.Machine(flops=1e10, bandwidth=1e9, name="m")


def arrays() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.random(s).astype("float32") for s in ((16, 12), (12, 24), (16, 24))]


# ---- timings


def test_a_timing_knows_the_work_of_its_function() -> None:
    mod = ts.build(matmul())
    timing = mod.time_evaluator("mm", ts.cpu(), number=2, repeat=3)(*arrays())
    m, n, k = 16, 24, 12
    assert timing.name == "mm" and len(timing.results) == 3
    # Read: A and B, and the C that the reduction adds to; written: C.
    assert timing.work == Work(2 * m * n * k, 4 * (m * k + k * n + 2 * m * n))
    assert timing.gflops == pytest.approx(2 * m * n * k / timing.median / 1e9)
    assert timing.gbps == pytest.approx(timing.work.bytes / timing.median / 1e9)
    assert timing.intensity == pytest.approx(timing.work.flops / timing.work.bytes)


@pytest.mark.parametrize("target", ["llvm", "python"])
def test_sizes_come_from_the_arguments(target: str) -> None:
    f = ts.parse("""
@T.prim_func
def f(a: T.handle, s: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n, 3))
    for i, j in T.grid(n, 3):
        A[i, j] = A[i, j] * s + T.float32(1)
""")
    evaluate = ts.build(f, target).time_evaluator("f", ts.cpu(), number=1, repeat=1)
    for n in (4, 7):
        timing = evaluate(np.ones((n, 3), "float32"), 2.0)
        assert timing.work == Work(2 * 3 * n, 2 * 4 * 3 * n)


def test_sizes_may_be_numbers_and_wrong_arguments_are_refused_first() -> None:
    f = ts.parse("""
@T.prim_func
def f(A: T.Buffer((16,)), n: T.int32):
    for i in range(n):
        A[i] = A[i] * T.float32(2)
""")
    evaluate = ts.build(f).time_evaluator("f", ts.cpu(), number=1, repeat=1)
    for n in (5, np.int32(7)):
        assert evaluate(np.ones(16, "float32"), n).work == Work(int(n), 8 * int(n))
    with pytest.raises(ts.CallTypeError):
        evaluate("no array", 3)
    # A size that stands in an expression is solved for.
    g = ts.parse("""
@T.prim_func
def g(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n * 4,))
    for i in range(n):
        A[i] = A[i] * T.float32(2)
""")
    timing = ts.build(g).time_evaluator("g", ts.cpu(), number=1, repeat=1)(np.ones(8, "float32"))
    assert timing.work == Work(2, 16)
    assert BARE.work is None and BARE.gflops is None and "speed" not in BARE.report()


def test_work_that_data_decides_is_a_bound() -> None:
    f = ts.parse("""
@T.prim_func
def f(A: T.Buffer((8,))):
    for i in range(8):
        if A[i] > T.float32(0):
            A[i] = A[i] * T.float32(2)
""")
    timing = ts.build(f).time_evaluator("f", ts.cpu(), number=1, repeat=1)(np.ones(8, "float32"))
    assert timing.work is not None and not timing.work.exact and timing.work.flops == 8
    assert re.search(r"speed +<= ", timing.report())


def test_counting_waits_until_it_is_asked_for() -> None:
    asked = []
    timing = measure(lambda: None, 1, 1, work=lambda: asked.append(1) or Work(1, 1))  # type: ignore[func-returns-value]
    assert not asked
    assert timing.work == Work(1, 1) and asked


def test_speed_ups() -> None:
    assert FAST.speedup(SLOW) == 5.0 and FAST.speedup(0.002) == 1.0 and SLOW.speedup(FAST) == 0.2
    with pytest.raises(TypeError, match="a baseline is a Timing or seconds, not str"):
        FAST.speedup("slow")  # type: ignore[arg-type]


def test_the_report_in_text_and_html() -> None:
    rows = [re.split(r"  +", line) for line in FAST.report().splitlines()]
    assert rows == [
        ["fast"], ["mean", "2.333 ms"], ["median", "2.000 ms"], ["min", "1.000 ms"], ["max", "4.000 ms"],
        ["std", "1.247 ms"], ["runs", "3"], ["speed", "2 GFLOP/s"], ["memory", "400 MB/s"],
        ["intensity", "5 FLOP/B"],
    ]  # fmt: skip
    bundle = FAST._repr_mimebundle_()
    assert bundle["text/plain"] == FAST.report()
    for part in ("2 GFLOP/s", "400 MB/s", "<svg", "3 repetitions from 1.000 ms to 4.000 ms"):
        assert part in bundle["text/html"]
    assert "speed" not in BARE.report() and "<svg" not in BARE._repr_mimebundle_()["text/html"]


def test_timings_can_be_pickled_and_compared() -> None:
    again = pickle.loads(pickle.dumps(FAST))
    assert again == FAST and again.name == "fast" and again.work == FAST.work
    assert Timing((1.0,), "a") == Timing((1.0,), "b")


# ---- several


def test_a_comparison() -> None:
    c = display.Comparison({"a": SLOW, "b": FAST})
    assert [line.split() for line in str(c).splitlines()] == [
        ["median", "speed-up", "FLOP/s", "B/s"],
        ["a", "10.00", "ms", "1.00x", "400", "MFLOP/s", "80", "MB/s"],
        ["b", "2.000", "ms", "5.00x", "2", "GFLOP/s", "400", "MB/s"],
    ]
    widths = re.findall(r'<svg width="(\d+)"', c._repr_mimebundle_()["text/html"])
    assert [int(w) for w in widths] == [240, 48]  # the bars are as long as the times
    assert "0.20x" in str(display.Comparison({"a": SLOW, "b": FAST}, baseline="b"))
    assert "FLOP" not in str(display.Comparison({"x": BARE}))


def test_reports_show_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    for value in (FAST, display.Comparison({"a": SLOW, "b": FAST})):
        value.show()
        assert capsys.readouterr().out == f"{value._repr_mimebundle_()['text/plain']}\n"


@pytest.mark.parametrize("wrong", [{}, [FAST], {"a": 1.0}])
def test_comparisons_take_timings_by_name(wrong: Any) -> None:
    with pytest.raises(ts.TirscriptError, match="comparison"):
        display.Comparison(wrong)
    with pytest.raises(ts.TirscriptError, match="there is no timing 'z'; there are a"):
        display.Comparison({"a": FAST}, baseline="z")


# ---- charts


@pytest.fixture
def plt() -> Any:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_the_roofline_has_a_point_for_each_timing(plt: Any) -> None:
    ax = display.roofline({"slow": SLOW, "fast": FAST}, machine=MACHINE)
    roof, *rest = ax.get_lines()
    assert list(roof.get_ydata())[1:] == [1e10, 1e10] and roof.get_xdata()[1] == MACHINE.ridge == 10.0
    assert roof.get_ydata()[0] == pytest.approx(1e9 * roof.get_xdata()[0])
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in rest if line.get_marker() == "o"]
    assert points == [(5.0, 4e8), (5.0, 2e9)]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "slow: 400 MFLOP/s, 8.0% of what is possible", "fast: 2 GFLOP/s, 40% of what is possible",
    ]  # fmt: skip
    # It says where the peaks come from.
    assert ax.get_title() == "Roofline: m: 10 GFLOP/s, 1 GB/s (given)"
    assert ax.get_xscale() == ax.get_yscale() == "log"
    given = display.roofline(FAST, peak_flops=2e10, bandwidth=1e9)
    assert "20 GFLOP/s, 1 GB/s (given)" in given.get_title()


def test_charts_have_no_ground_of_their_own(plt: Any) -> None:
    """Nor does IPython paint one, as it does where all labels of a picture are light, or all dark."""
    inline = pytest.importorskip("matplotlib_inline.backend_inline")
    ax = display.roofline({"slow": SLOW, "fast": FAST}, machine=MACHINE)
    ax.figure.canvas.draw()
    assert ax.figure.patch.get_alpha() == 0 == ax.patch.get_alpha()
    assert not inline._fetch_figure_metadata(ax.figure)


def test_bars_have_whiskers_and_speed_ups(plt: Any) -> None:
    ax = display.bar_chart({"slow": SLOW, "fast": FAST}, baseline="slow")
    assert [bar.get_width() for bar in ax.patches] == [10.0, 2.0]
    assert [t.get_text() for t in ax.texts] == ["10.00 ms  (1.00x)", "2.000 ms  (5.00x)"]
    rates = display.bar_chart({"slow": SLOW, "fast": FAST}, metric="gflops")
    assert [bar.get_width() for bar in rates.patches] == pytest.approx([0.4, 2.0])
    assert rates.get_xlabel() == "GFLOP/s"
    with pytest.raises(ts.TirscriptError, match="a metric is time, gflops or gbps"):
        display.bar_chart({"a": FAST}, metric="speed")


def test_what_a_roofline_needs() -> None:
    with pytest.raises(ts.TirscriptError, match="none of the timings has both operations and bytes"):
        display.roofline(BARE, machine=MACHINE)
    with pytest.raises(ts.TirscriptError, match="roofline takes a Timing, or a dict"):
        display.roofline([FAST])  # type: ignore[arg-type]
    with pytest.raises(ts.TirscriptError, match="a machine is a Machine, not a float"):
        display.roofline(FAST, machine=1e9)  # type: ignore[arg-type]


def test_without_matplotlib_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
import tirscript as ts
from tirscript import display
from tirscript.runtime.timing import Timing, Work
t = Timing((1.0,), "f", 1, lambda: Work(10, 10))
for draw in (lambda: display.roofline(t, peak_flops=1e9, bandwidth=1e9), lambda: display.bar_chart({"f": t})):
    try:
        draw()
    except ts.TirscriptError as e:
        print(e.code, e.hint)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ['missing-extra pip install "tirscript[notebook]"'] * 2


# ---- machines


def test_a_machine_says_what_is_attainable() -> None:
    assert MACHINE.attainable(1.0) == 1e9 and MACHINE.attainable(100.0) == 1e10
    for wrong in (0, -1.0, "fast", True):
        with pytest.raises(ts.TirscriptError, match="a number above 0"):
            display.Machine(flops=wrong, bandwidth=1e9)  # type: ignore[arg-type]


def test_peaks_are_measured_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "tirscript"):
        machine = display.measure_machine()
    assert machine.source == "measured" and machine.flops > 1e8 and machine.bandwidth > 1e7
    assert display.measure_machine() is machine
    assert any(r.name == "tirscript.display" for r in caplog.records)
    with pytest.raises(ts.TirscriptError, match="float32 or float64"):
        display.measure_machine("int8")


# ---- progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_bar_before_a_second_nor_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    for err, patience in ((Terminal(), 1000.0), (io.StringIO(), 0.0)):
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr(progress_bar, "PATIENCE", patience)
        assert list(progress(range(3), "work")) == [0, 1, 2]
        assert err.getvalue() == ""


def test_a_bar_after_a_second_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    with Progress(4, "timing f", patience=0.0) as bar:
        bar.update()
        bar.update(3)
        assert bar.done == 4
    assert "timing f" in err.getvalue() and "1/4" in err.getvalue()


def test_long_measurements_show_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    clock = iter(range(0, 10_000, 2))  # each look at the clock is two seconds later
    monkeypatch.setattr(timing_module.time, "perf_counter", lambda: float(next(clock)))
    measure(lambda: None, 1, 3, name="f")
    assert "timing f" in err.getvalue()


# ---- numbers for people, and the log


def test_numbers_for_people() -> None:
    assert [amount(v, "B") for v in (0, 1, 999, 1000, 12_345, 999_600, 5e15)] == [
        "0 B", "1 B", "999 B", "1 kB", "12.3 kB", "1.00 MB", "5 PB",
    ]  # fmt: skip
    assert [percent(v) for v in (0, 0.004, 0.05, 0.5, 1.2)] == ["0%", "0.4%", "5.0%", "50%", "120%"]


def test_builds_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "tirscript.build"):
        ts.build(matmul())
    assert [r.getMessage() for r in caplog.records if r.name == "tirscript.build"]
    assert "built mm for llvm in" in caplog.text
