"""Timings and costs as tables: one, or several beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.runtime.timing import Timing

from .emit import ACCENT, FAINT, FONT, colour, escape
from .tables import table_html, table_text
from .units import amount, seconds


def timing_rows(timing: Any) -> list[tuple[str, str]]:
    """What is said of one timing."""
    rows = [(n, seconds(getattr(timing, n))) for n in ("mean", "median", "min", "max", "std")]
    rows.append(("runs", str(len(timing.results))))
    work = timing.work
    if work is not None:
        mark = "" if work.exact else "<= "
        if work.flops:
            rows.append(
                ("speed", f"{mark}{amount(work.flops / timing.median, 'FLOP/s')}" if timing.median else "-")
            )
        if work.bytes:
            rows.append(
                ("memory", f"{mark}{amount(work.bytes / timing.median, 'B/s')}" if timing.median else "-")
            )
        if work.flops and work.bytes:
            rows.append(("intensity", amount(work.flops / work.bytes, "FLOP/B")))
    return rows


def timing_text(timing: Any) -> str:
    """One number a line."""
    title = f"{timing.name}\n" if timing.name else ""
    return title + table_text(timing_rows(timing))


def timing_html(timing: Any) -> str:
    """The numbers as a table, and the runs as a strip of points."""
    title = f'<div style="{FONT};font-weight:bold">{escape(timing.name)}</div>' if timing.name else ""
    return title + table_html(timing_rows(timing)) + _strip(timing)


def _strip(timing: Any) -> str:
    """The repetitions on a line: where they lie, and the median."""
    if len(timing.results) < 2:
        return ""
    low, high = timing.min, timing.max
    width, left = 320, 6
    span = (high - low) or 1.0
    points = "".join(
        [
            f'<circle cx="{left + width * (t - low) / span:.1f}" cy="12" r="4" '
            f'fill="{ACCENT[1]}" fill-opacity=".45"/>'
            for t in timing.results
        ]
    )
    at = left + width * (timing.median - low) / span
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2 * left}" height="40" role="img">'
        f"<title>{len(timing.results)} repetitions from {seconds(low)} to {seconds(high)}</title>"
        f'<path d="M{left} 12H{width + left}" stroke="{FAINT[1]}" stroke-opacity=".6"/>{points}'
        f'<path d="M{at:.1f} 3V21" stroke="{ACCENT[1]}" stroke-width="2"/>'
        f'<g font-size="11" fill="{FAINT[1]}" font-family="sans-serif">'
        f'<text x="{left}" y="36">{seconds(low)}</text>'
        f'<text x="{width + left}" y="36" text-anchor="end">{seconds(high)}</text></g></svg>'
    )


# ---- several


class Comparison:
    """Several timings beside each other; the first, or the one named, is the baseline.

    >>> c = Comparison({"plain": Timing((2.0,)), "tiled": Timing((0.5,))})
    >>> c
               median    speed-up
    plain     2.000 s       1.00x
    tiled    500.0 ms       4.00x
    """

    def __init__(self, timings: Mapping[str, Timing], baseline: str | None = None) -> None:
        if not isinstance(timings, Mapping) or not timings:
            raise TirscriptError("a comparison takes a dict of timings by name", code="comparison")
        for name, t in timings.items():
            if not isinstance(t, Timing):
                raise TirscriptError(
                    f"`{name}` is a {type(t).__name__}, not a Timing: time_evaluator gives those",
                    code="comparison",
                )
        self.timings = dict(timings)
        self.baseline = baseline if baseline is not None else next(iter(self.timings))
        if self.baseline not in self.timings:
            raise TirscriptError(
                f"there is no timing {self.baseline!r}; there are {', '.join(self.timings)}",
                code="comparison",
            )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The head and the rows."""
        base = self.timings[self.baseline]
        work = {n: t.work for n, t in self.timings.items()}
        head = ["", "median", "speed-up"]
        flops = any(w is not None and w.flops for w in work.values())
        moved = any(w is not None and w.bytes for w in work.values())
        head += ["FLOP/s"] if flops else []
        head += ["B/s"] if moved else []
        rows = []
        for name, t in self.timings.items():
            row = [name, seconds(t.median), f"{t.speedup(base):.2f}x"]
            w = work[name]
            if flops:
                row.append(amount(w.flops / t.median, "FLOP/s") if w is not None and w.flops else "")
            if moved:
                row.append(amount(w.bytes / t.median, "B/s") if w is not None and w.bytes else "")
            rows.append(row)
        return head, rows

    def __str__(self) -> str:
        head, rows = self.table()
        return table_text(rows, head, right=range(1, len(head)))

    __repr__ = __str__

    def show(self) -> None:
        """Show it: with bars in a notebook, as text in a terminal."""
        from .objects import show

        show(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        head, rows = self.table()
        return {"text/plain": str(self), "text/html": _bars(self, head, rows)}


def _bars(c: Comparison, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table with a bar of the time in each row."""
    most = max(t.median for t in c.timings.values()) or 1.0
    cell = "padding:2px 14px 2px 0;border:0"
    out = [f'<table style="border-collapse:collapse;border:0;{FONT}"><thead><tr style="background:none">']
    for n, text in enumerate([*head, "time"]):
        align = "left" if n in (0, len(head)) else "right"
        style = f"text-align:{align};{cell};color:{colour(FAINT)};font-weight:normal"
        out.append(f'<th style="{style}">{escape(text)}</th>')
    out.append("</tr></thead><tbody>")
    for row, t in zip(rows, c.timings.values(), strict=True):
        out.append('<tr style="background:none">')
        for n, text in enumerate(row):
            out.append(f'<td style="text-align:{"left" if n == 0 else "right"};{cell}">{escape(text)}</td>')
        long = max(2, round(240 * t.median / most))
        out.append(
            f'<td style="text-align:left;{cell}"><svg width="{long}" height="12" role="img" '
            f'xmlns="http://www.w3.org/2000/svg"><title>{seconds(t.median)}</title>'
            f'<rect width="{long}" height="12" rx="2" fill="{ACCENT[1]}"/></svg></td></tr>'
        )
    return "".join([*out, "</tbody></table>"])


# ---- costs


def _cost_rows(cost: Any) -> list[list[str]]:
    from .margin import _ratio, _times, loop_state, number

    rows = []
    for part in [cost, *cost]:
        if part.what == "block" and part.node.name == "root":
            continue
        where = "" if part is cost else "  " * part.depth
        word = "for " if part.what == "loop" else "block " if part.what == "block" else ""
        rows.append(
            [
                f"{where}{word}{part.name}",
                _times(part.runs, {}),
                number(part.flops, "FLOP", {}),
                number(part.loads, "B", {}),
                number(part.stores, "B", {}),
                number(part.footprint, "B", {}),
                _ratio(part, {}),
                loop_state(part),
            ]
        )
    return rows


_COST_HEAD = ("", "runs", "operations", "read", "written", "touched by a run", "FLOP/B", "")


def cost_table(cost: Any) -> str:
    """The costs of a function's loops and blocks, as text."""
    return table_text(_cost_rows(cost), _COST_HEAD, right=(1, 2, 3, 4, 5, 6))


def cost_html(cost: Any) -> str:
    """The costs of a function's loops and blocks, as a table."""
    return table_html(_cost_rows(cost), _COST_HEAD, code=(0,), right=(1, 2, 3, 4, 5, 6))


__all__ = ["Comparison", "cost_html", "cost_table", "timing_html", "timing_text"]
