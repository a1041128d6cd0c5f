"""Charts of timings: bars, and the roofline.  They are drawn by matplotlib, an extra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.runtime.timing import Timing

from .machine import Machine, measure_machine
from .units import amount, percent, seconds


def _pyplot(what: str) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise TirscriptError(
            f"{what} draws with matplotlib, which is not installed",
            code="missing-extra",
            hint='pip install "tirscript[notebook]"',
        ) from None
    return plt


def _named(timings: Timing | Mapping[str, Timing], what: str) -> dict[str, Timing]:
    if isinstance(timings, Timing):
        return {timings.name or "function": timings}
    named = dict(timings) if isinstance(timings, Mapping) else {}
    if not named or not all(isinstance(t, Timing) for t in named.values()):
        raise TirscriptError(f"{what} takes a Timing, or a dict of timings by name", code="not-a-timing")
    return named


def _machine(machine: Machine | None, peak_flops: float | None, bandwidth: float | None) -> Machine:
    if machine is not None:
        if not isinstance(machine, Machine):
            raise TirscriptError(
                f"a machine is a Machine, not a {type(machine).__name__}",
                code="machine",
                hint="display.Machine(flops=..., bandwidth=...)",
            )
        return machine
    if peak_flops is not None and bandwidth is not None:
        return Machine(peak_flops, bandwidth)
    measured = measure_machine()
    if peak_flops is None and bandwidth is None:
        return measured
    return Machine(
        peak_flops if peak_flops is not None else measured.flops,
        bandwidth if bandwidth is not None else measured.bandwidth,
        measured.name,
        "partly given, partly measured",
    )


def roofline(
    timings: Timing | Mapping[str, Timing],
    *,
    machine: Machine | None = None,
    peak_flops: float | None = None,
    bandwidth: float | None = None,
    ax: Any = None,
) -> Any:
    """The roofline plot: operations a second over operations a byte, under what the machine can do.

    The peaks are those of ``machine``, or ``peak_flops`` and ``bandwidth`` (a second), or measured; the plot
    says which.  Operations and bytes are the functions' own counts.  Returns the axes; needs matplotlib.
    """
    named = _named(timings, "roofline")
    places: dict[str, tuple[float, float]] = {}
    for name, t in named.items():
        rate, intensity = t.flops_per_second, t.intensity
        if rate and intensity:
            places[name] = (intensity, rate)
    if not places:
        raise TirscriptError(
            "none of the timings has both operations and bytes: a roofline needs them",
            code="no-work",
            hint="timings of mod.time_evaluator(...) count those of the function; a copy has no operations",
        )
    plt = _pyplot("roofline")
    chosen = _machine(machine, peak_flops, bandwidth)
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 4.2))
    low = min([chosen.ridge / 16, *[x / 2 for x, _ in places.values()]])
    high = max([chosen.ridge * 16, *[x * 2 for x, _ in places.values()]])
    xs = [low, chosen.ridge, high]
    ax.plot(xs, [chosen.attainable(x) for x in xs], color="#7f858b", linewidth=2)
    ax.axvline(chosen.ridge, color="#7f858b", linewidth=0.8, linestyle=":")
    ax.annotate(f"{amount(chosen.flops, 'FLOP/s')}", (high, chosen.flops), ha="right", va="bottom",
                color="#7f858b", fontsize=9)  # fmt: skip
    ax.annotate(f"{amount(chosen.bandwidth, 'B/s')}", (low, chosen.attainable(low)), ha="left", va="top",
                color="#7f858b", fontsize=9, xytext=(14, 2), textcoords="offset points")  # fmt: skip
    for n, (name, (x, y)) in enumerate(places.items()):
        share = percent(y / chosen.attainable(x))
        label = f"{name}: {amount(y, 'FLOP/s')}, {share} of what is possible"
        ax.plot([x], [y], "o", color=f"C{n}", markersize=8, label=label)
        ax.plot([x, x], [y, chosen.attainable(x)], color=f"C{n}", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(top=chosen.flops * 2.5)
    ax.set_xlabel("operations for each byte that goes through memory (FLOP/B)")
    ax.set_ylabel("operations a second (FLOP/s)")
    ax.set_title(f"Roofline: {chosen!r}", fontsize=10)
    ax.grid(True, which="major", alpha=0.25)
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=9)
    _on_any_ground(ax, legend)
    return ax


_GREY, _DARKER = "#7f858b", "#767c82"


def _on_any_ground(ax: Any, legend: Any = None) -> None:
    """Text and lines that read on white and on black, and no ground of their own."""
    ax.figure.patch.set_alpha(0)
    ax.patch.set_alpha(0)
    ax.tick_params(axis="x", colors=_GREY, which="both")
    # IPython paints a ground under pictures whose labels are all light, or all dark: these are not all one.
    ax.tick_params(axis="y", colors=_DARKER, which="both")
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend else ())):
        text.set_color(_GREY)
    for spine in ax.spines.values():
        spine.set_color(_GREY)


def bar_chart(
    timings: Mapping[str, Timing], *, baseline: str | None = None, metric: str = "time", ax: Any = None
) -> Any:
    """Bars of several timings: ``metric`` is ``"time"``, ``"gflops"`` or ``"gbps"``.

    Whiskers reach from the fastest to the slowest repetition.  With a ``baseline`` each bar says its
    speed-up.  Returns the axes; needs matplotlib.
    """
    from .report import Comparison

    named = _named(timings, "bar_chart")
    if metric not in ("time", "gflops", "gbps"):
        raise TirscriptError(f"a metric is time, gflops or gbps, not {metric!r}", code="metric")
    compared = Comparison(named, baseline)
    plt = _pyplot("bar_chart")
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 0.5 * len(named) + 1.2))
    base = compared.timings[compared.baseline]
    values = []
    for t in named.values():
        value = t.median * 1e3 if metric == "time" else getattr(t, metric)
        values.append(value or 0.0)
    names = list(named)
    ax.barh(names, values, color="#2f86d2")
    if metric == "time":
        spread = [
            [(t.median - t.min) * 1e3 for t in named.values()],
            [(t.max - t.median) * 1e3 for t in named.values()],
        ]
        ax.errorbar(values, names, xerr=spread, fmt="none", ecolor="#7f858b", capsize=3)
    ends = [t.max * 1e3 for t in named.values()] if metric == "time" else values
    for n, t in enumerate(named.values()):
        text = seconds(t.median) if metric == "time" else f"{values[n]:.3g}"
        if baseline is not None:
            text += f"  ({t.speedup(base):.2f}x)"
        ax.annotate(text, (ends[n], n), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9,
                    color=_GREY)  # fmt: skip
    ax.invert_yaxis()
    ax.margins(x=0.25)
    ax.set_xlabel({"time": "ms", "gflops": "GFLOP/s", "gbps": "GB/s"}[metric])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    _on_any_ground(ax)
    return ax


__all__ = ["bar_chart", "roofline"]
