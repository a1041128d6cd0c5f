"""The picture of an access movie: SVG that is animated by CSS alone.

What stands in the attributes is the last frame, so a picture without animation shows the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .access_movie import Movie, Panel

# Middle tones, which read on white and on black: a hit, a miss of the first level, of the second ...
SERVED = ("#2d8f50", "#cf7a1c", "#d0453a", "#ad5fd0")
_OPACITY = (0.9, 0.45, 0.28, 0.28)  # of a line in the first level, the second ...
_AWAY = 0.13  # in memory
_PLAYED = 92.0  # percent of the time; the end is held for the rest
_EPSILON = 0.001
_GAP = 26
_PLOT = 64
_TITLE = 7.9  # the width of a character of a title
_SMALL = 'font-size="11" opacity=".75"'
_GRID = 'fill="none" stroke="currentColor" stroke-opacity=".18"'
_ROUTE = 'fill="none" stroke="currentColor" stroke-opacity=".3" stroke-width=".8"'
_MONO = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"


def picture(movie: Movie, *, alone: bool) -> str:
    """The movie as an ``<svg>``; ``alone``: with a ground of its own, in the reader's theme."""
    return _Picture(movie).svg(alone)


def page(movie: Movie) -> str:
    """An HTML document with the movie and its caption."""
    caption = "<br>".join([escape(line) for line in movie.caption.split("\n")])
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Accesses of {escape(movie.name)}</title>\n"
        "<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:24px}</style>\n"
        f'<figure style="margin:0">\n{picture(movie, alone=False)}\n'
        f'<figcaption style="margin-top:8px">{caption}</figcaption>\n</figure>\n</html>\n'
    )


def _number(value: float, digits: int = 2) -> str:
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


class _Place:
    """Where a panel stands: its corner and the size of a cell."""

    def __init__(self, panel: Panel, x: float, y: float, cell: float) -> None:
        self.panel, self.x, self.y, self.cell = panel, x, y, cell
        self.width, self.height = panel.columns * cell, panel.rows * cell

    def corner(self, cell: int) -> tuple[float, float]:
        row, column = divmod(cell, self.panel.columns)
        return self.x + column * self.cell, self.y + row * self.cell


class _Picture:
    def __init__(self, movie: Movie) -> None:
        self.movie = movie
        self.ticks = max(len(movie.touches), 1)
        self.digits = 3 if self.ticks < 6000 else 4
        digest = hashlib.sha1(repr((movie.caption, movie.seconds, movie.touches)).encode()).hexdigest()
        self.prefix = f"m{digest[:8]}"
        self.rules: list[str] = []
        self.places = self.layout()
        self.width = max(
            480.0, max([p.x + max(p.width, _TITLE * len(p.panel.title)) for p in self.places]) + 16
        )
        self.bottom = max([p.y + p.height for p in self.places])
        self.fetches = self.count_fetches()

    def layout(self) -> list[_Place]:
        panels = self.movie.panels
        room = 440 if len(panels) == 1 else 280 if len(panels) == 2 else 220
        places, x = [], 16.0
        for p in panels:
            cell = max(4.0, min(22.0, room / max(p.columns, 1), 440 / max(p.rows, 1)))
            places.append(_Place(p, x, 34.0, cell))
            x += max(p.columns * cell, _TITLE * len(p.title)) + _GAP
        return places

    def count_fetches(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for c in self.movie.changes:
            if c.level == 0:
                found[c.line] = found.get(c.line, 0) + 1
        return found

    # ---- time

    def percent(self, tick: float) -> float:
        return _PLAYED * tick / self.ticks

    def frames(self, name: str, steps: Sequence[tuple[float, str]]) -> str:
        """Keyframes of what jumps from one value to the next; the reference to them."""
        # The moments of one value together: most of the text would be the value again and again.
        moments: dict[str, list[str]] = {}
        for at, value in steps:
            moments.setdefault(value, []).append(f"{_number(at, self.digits)}%")
        body = "".join([f"{','.join(at)}{{{value}}}" for value, at in moments.items()])
        self.rules.append(f"@keyframes {self.prefix}{name}{{{body}}}")
        return f"animation-name:{self.prefix}{name}"

    # ---- parts

    def opacity(self, level: int) -> float:
        return _OPACITY[level] if level < len(self.movie.levels) else _AWAY

    def panel(self, k: int, place: _Place) -> Iterator[str]:
        panel = place.panel
        yield f'<text x="{_number(place.x)}" y="24">{escape(panel.title)}</text>'
        if not panel.lines:
            yield f'<text x="{_number(place.x)}" y="{_number(place.y + 12)}" {_SMALL}>no elements</text>'
            return
        cells: dict[int, list[int]] = {}
        for cell, line in enumerate(panel.lines):
            cells.setdefault(line, []).append(cell)
        events: dict[int, list[tuple[int, int]]] = {}
        for c in self.movie.changes:
            if c.panel == k:
                events.setdefault(c.line, []).append((c.tick, c.level))
        labels = []
        for n, (line, own) in enumerate(cells.items()):
            runs = list(_runs(own, panel.columns))
            shape = "".join([self.block(place, *run) for run in runs])
            happened = events.get(line, [])
            level = happened[-1][1] if happened else len(self.movie.levels)
            shown = _number(self.opacity(level) if happened else _AWAY)
            style = self.line_frames(n, k, happened)
            hue = _number(n * 137.508 % 360, 0)
            yield f'<path d="{shape}" fill="hsl({hue} 62% 52%)" opacity="{shown}"{style}/>'
            label = self.label(place, runs[0], self.fetches.get(line, 0))
            if label:
                labels.append(label)
        yield f'<path {_GRID} d="{self.grid(place)}"/>'
        yield self.planes(place)
        yield self.route(k, place)
        yield from labels
        yield self.cursor(k, place)

    def block(self, place: _Place, first: int, count: int) -> str:
        x, y = place.corner(first)
        w, h = _number(count * place.cell), _number(place.cell)
        return f"M{_number(x)} {_number(y)}h{w}v{h}h-{w}z"

    def line_frames(self, n: int, k: int, events: list[tuple[int, int]]) -> str:
        if not events:
            return ""
        steps = [(0.0, f"opacity:{_AWAY}")] if events[0][0] else []
        last = -1
        for tick, level in events:
            value = f"opacity:{_number(self.opacity(level))}"
            if tick == last:
                steps[-1] = (steps[-1][0], value)
            else:
                steps.append((self.percent(tick), value))
            last = tick
        return f' style="{self.frames(f"l{k}_{n}", steps)}"'

    def label(self, place: _Place, run: tuple[int, int], fetches: int) -> str:
        """How often a line was fetched, where there is room to write it."""
        first, count = run
        size = min(11.0, place.cell * 0.8)
        text = str(fetches)
        if not fetches or size < 6 or len(text) * size * 0.62 > count * place.cell - 1:
            return ""
        x, y = place.corner(first)
        at = f'x="{_number(x + count * place.cell / 2)}" y="{_number(y + place.cell / 2 + size * 0.36)}"'
        return f'<text {at} class="k" font-size="{_number(size)}" text-anchor="middle">{text}</text>'

    def grid(self, place: _Place) -> str:
        p, s = place.panel, place.cell
        x, y = _number(place.x), _number(place.y)
        width, height = _number(place.width), _number(place.height)
        rows = [f"M{x} {_number(place.y + r * s)}h{width}" for r in range(p.rows + 1)]
        columns = [f"M{_number(place.x + c * s)} {y}v{height}" for c in range(p.columns + 1)]
        return "".join([*rows, *columns])

    def planes(self, place: _Place) -> str:
        """Stronger lines between the matrices of a tensor."""
        p = place.panel
        step = p.shape[-2] if len(p.shape) > 2 else 0
        x, width = _number(place.x), _number(place.width)
        cuts = [
            f"M{x} {_number(place.y + r * place.cell)}h{width}" for r in range(step, p.rows, step or p.rows)
        ]
        return f'<path {_GRID} stroke-width="2.5" d="{"".join(cuts)}"/>' if step and cuts else ""

    def route(self, k: int, place: _Place) -> str:
        """The way from touch to touch, each piece once."""
        seen: dict[tuple[int, int], None] = {}
        before = -1
        for t in self.movie.touches:
            if t.panel == k and t.cell >= 0:
                if before >= 0 and before != t.cell:
                    seen[before, t.cell] = None
                before = t.cell
            if len(seen) > 1200:
                break
        parts, end = [], -1
        half = place.cell / 2
        for a, b in seen:
            xa, ya = place.corner(a)
            xb, yb = place.corner(b)
            start = "" if a == end else f"M{_number(xa + half)} {_number(ya + half)}"
            parts.append(f"{start}L{_number(xb + half)} {_number(yb + half)}")
            end = b
        return f'<path {_ROUTE} d="{"".join(parts)}"/>' if parts else ""

    def cursor(self, k: int, place: _Place) -> str:
        own = [(n, t) for n, t in enumerate(self.movie.touches) if t.panel == k and t.cell >= 0]
        if not own:
            return ""
        points = [(n, *place.corner(t.cell)) for n, t in own]
        moves = list(self.moves(points))
        looks: list[tuple[float, str]] = []
        before = ""
        for n, t in own:
            value = f"stroke:{SERVED[t.level]};fill-opacity:{'0' if t.kind == 'load' else '.55'}"
            if value != before:
                looks.append((self.percent(n) if looks else 0.0, value))
            before = value
        last = own[-1][1]
        x, y = place.corner(last.cell)
        names = f"{self.frames(f'p{k}', moves)},{self.frames(f's{k}', looks).partition(':')[2]}"
        size = _number(place.cell)
        fill = "0" if last.kind == "load" else ".55"
        return (
            f'<rect class="c" width="{size}" height="{size}" rx="2" stroke-width="2.5" '
            f'stroke="{SERVED[last.level]}" fill="{SERVED[last.level]}" fill-opacity="{fill}" '
            f'transform="translate({_number(x)} {_number(y)})" style="{names}"/>'
        )

    def moves(self, points: list[tuple[int, float, float]]) -> Iterator[tuple[float, str]]:
        """Where the cursor is: a row of equal steps is one keyframe."""

        def at(p: tuple[int, float, float]) -> str:
            return f"transform:translate({_number(p[1])}px,{_number(p[2])}px)"

        if points[0][0]:
            yield 0.0, at(points[0])
        k = 0
        while k < len(points):
            end = k + 1  # the first point that is no part of the row
            if end < len(points):
                step = _difference(points[k], points[end])
                while end + 1 < len(points) and _difference(points[end], points[end + 1]) == step:
                    end += 1
                if end + 1 < len(points) and points[end + 1][0] - points[end][0] == step[0]:
                    end += 1
            count = end - k
            start = self.percent(points[k][0])
            if count < 3 or end >= len(points):
                yield start, at(points[k])
                k += 1
                continue
            # All places of the row share the time until the next one comes.
            yield start, f"{at(points[k])};animation-timing-function:steps({count},jump-none)"
            yield self.percent(points[end][0]) - _EPSILON, at(points[end - 1])
            k = end

    def plot(self) -> Iterator[str]:
        """The misses so far, and a line that shows where the movie is."""
        top = self.bottom + 22
        left, width = 16.0, self.width - 32 - 112
        totals = [0] * len(self.movie.levels)
        curves: list[list[int]] = [[0] for _ in totals]
        for t in self.movie.touches:
            for k in range(len(totals)):
                totals[k] += t.level > k
                curves[k].append(totals[k])
        most = max([*totals, 1])
        yield f'<path {_GRID} d="M{_number(left)} {_number(top)}v{_PLOT}h{_number(width)}"/>'
        heights: list[float] = []
        for k, curve in enumerate(curves):
            points = []
            for n in range(int(width) // 2 + 1):
                tick = min(round(n * 2 * self.ticks / width), len(curve) - 1)
                points.append(f"{_number(left + 2 * n)},{_number(top + _PLOT * (1 - curve[tick] / most))}")
            colour = SERVED[k + 1]
            yield f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(points)}"/>'
            y = top + _PLOT * (1 - totals[k] / most) + 4
            while any(abs(y - h) < 13 for h in heights):
                y += 13
            heights.append(y)
            yield (
                f'<text x="{_number(left + width + 6)}" y="{_number(y)}" fill="{colour}" font-size="11">'
                f"L{k + 1} misses {totals[k]:,}</text>"
            )
        ends = [(0.0, "transform:none"), (_PLAYED, f"transform:translateX({_number(width)}px)")]
        ends.append((100.0, ends[-1][1]))
        yield (
            '<path stroke="currentColor" stroke-opacity=".7" '
            f'd="M{_number(left)} {_number(top - 4)}v{_PLOT + 4}" '
            f'transform="translate({_number(width)} 0)" style="{self.frames("t", ends)};'
            'animation-timing-function:linear"/>'
        )

    def legend(self) -> Iterator[str]:
        y = self.bottom + 22 + _PLOT + 22
        x = 16.0
        words = ["hit", *[f"L{k + 1} miss" for k in range(len(self.movie.levels))]]
        for colour, word in zip(SERVED, words, strict=False):
            yield (
                f'<rect x="{_number(x)}" y="{_number(y - 9)}" width="10" height="10" rx="2" fill="none" '
                f'stroke="{colour}" stroke-width="2"/>'
                f'<text x="{_number(x + 15)}" y="{_number(y)}" {_SMALL}>{word}</text>'
            )
            x += 32 + 6.6 * len(word)
        yield f'<text x="{_number(x)}" y="{_number(y)}" {_SMALL}>filled: store</text>'
        where = ["opaque in L1", *[f"paler in L{k + 1}" for k in range(1, len(self.movie.levels))]]
        text = ", ".join([*where, "faint in memory"])
        y += 18
        yield f'<text x="16" y="{_number(y)}" {_SMALL}>One colour is one line: {text}.</text>'
        text = "A number says how often its line was fetched."
        yield f'<text x="16" y="{_number(y + 18)}" {_SMALL}>{text}</text>'

    def svg(self, alone: bool) -> str:
        body = [part for k, place in enumerate(self.places) for part in self.panel(k, place)]
        body += [*self.plot(), *self.legend()]
        height = _number(self.bottom + 22 + _PLOT + 68)
        width = _number(self.width)
        p = self.prefix
        style = (
            f".{p} *{{animation:0s step-end var(--movie-delay,0s) infinite none;"
            f"animation-duration:{_number(self.movie.seconds)}s;"
            "animation-play-state:var(--movie-state,running)}"
            f".{p}:hover *{{animation-play-state:paused}}"
            f"@media(prefers-reduced-motion:reduce){{.{p} *{{animation-name:none!important}}}}"
        )
        ground = ""
        if alone:
            style += (
                f".{p}{{color:#24292f}}.{p} .b{{fill:#f6f8fa;stroke:#d0d7de}}"
                f"@media(prefers-color-scheme:dark){{.{p}{{color:#d1d7e0}}"
                f".{p} .b{{fill:#161b22;stroke:#30363d}}}}"
            )
            ground = (
                f'<rect class="b" fill="#f6f8fa" stroke="#d0d7de" x=".5" y=".5" '
                f'width="{_number(self.width - 1)}" '
                f'height="{_number(float(height) - 1)}" rx="6"/>'
            )
        names = ", ".join([panel.name for panel in self.movie.panels])
        verb = "is" if len(self.places) == 1 else "are"
        title = f"{self.movie.name}: the order in which {names} {verb} touched"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="{p}" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" role="img" fill="currentColor" font-size="13" '
                f'font-family="{_MONO}">',
                f"<title>{escape(title)}</title>",
                f"<style>{style}{''.join(self.rules)}</style>",
                *([ground] if ground else []),
                *body,
                "</svg>",
            ]
        )


def _runs(cells: Sequence[int], columns: int) -> Iterator[tuple[int, int]]:
    """Neighbours in a row as (first, number)."""
    first = last = -2
    for cell in cells:
        if cell == last + 1 and cell % columns:
            last = cell
            continue
        if first >= 0:
            yield first, last - first + 1
        first = last = cell
    if first >= 0:
        yield first, last - first + 1


def _difference(a: tuple[int, float, float], b: tuple[int, float, float]) -> tuple[int, float, float]:
    return b[0] - a[0], round(b[1] - a[1], 3), round(b[2] - a[2], 3)


__all__ = ["page", "picture"]
