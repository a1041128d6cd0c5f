"""The access movie: in which order a program touches its buffers, and what a small cache makes of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from tirscript.diagnostics import AssertFailed, TirscriptError, did_you_mean
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import IntImm

from . import stream
from .cache import (
    BufferMisses,
    CacheLevel,
    CacheReport,
    Simulator,
    bytes_text,
    cache_levels,
    check_limit,
    function_of,
    notes_of,
    percent,
)
from .stream import FIELD, Memory, Traced

__all__ = ["Movie", "Panel", "Touch", "movie"]

MAX_ACCESSES = 200_000  # of all buffers
MAX_TICKS = 20_000  # touches that are shown
MAX_CELLS = 4096
MAX_CHANGES = 20_000  # what the picture can hold


@dataclass(frozen=True, slots=True)
class Touch:
    """A moment of the movie: one element is touched.

    ``kind`` is ``load``, ``store`` or ``update`` (both, one after the other); ``level`` is the level of
    the cache that had the element's line: 0 for the first, the number of levels for none.
    """

    panel: int
    cell: int  # the number of the element, row-major
    kind: str
    level: int


@dataclass(frozen=True, slots=True)
class Change:
    """After a moment, a line is in another level of the cache."""

    tick: int
    panel: int
    line: int
    level: int


@dataclass(frozen=True)
class Panel:
    """One buffer of the picture: which line each of its elements lies in."""

    buffer: Buffer
    shape: tuple[int, ...]
    lines: tuple[int, ...]  # of each cell

    @property
    def name(self) -> str:
        return self.buffer.name

    @property
    def columns(self) -> int:
        if not self.shape:
            return 1
        if len(self.shape) == 1:
            return min(self.shape[0], 32) or 1
        return self.shape[-1] or 1

    @property
    def rows(self) -> int:
        return -(-len(self.lines) // self.columns)

    @property
    def title(self) -> str:
        shape = " x ".join([str(n) for n in self.shape]) or "scalar"
        return f"{self.name}: {shape} {self.buffer.dtype}"


@dataclass(frozen=True)
class Movie:
    """The movie: its facts, and pictures of them.

    In a notebook it is an animated picture with its caption; ``svg()`` is a picture that stands alone,
    ``save`` writes it to a file (``.svg`` or ``.html``).  Where animation is stripped, the picture shows
    the end: what is left in the cache, and how often each line was fetched.
    """

    name: str
    panels: tuple[Panel, ...]
    touches: tuple[Touch, ...]
    changes: tuple[Change, ...]
    report: CacheReport
    seconds: float

    @property
    def levels(self) -> tuple[CacheLevel, ...]:
        return self.report.levels

    @property
    def misses(self) -> tuple[int, ...]:
        """The misses of the whole program, of each level."""
        return self.report.misses

    @cached_property
    def caption(self) -> str:
        out = [f"{self.report.title}."]
        for p in self.panels:
            b = self.report[p.name]
            size = bytes_text(len(p.lines) * stream.item_size(p.buffer.dtype))
            misses = _misses(b)
            out.append(f"{p.title} ({size}): {b.loads:,} loads, {b.stores:,} stores; {misses}.")
        if len(self.report.buffers) > len(self.panels):
            out.append(f"All buffers: {self.report.accesses:,} accesses; {_misses(self.report.total)}.")
        return "\n".join([*out, *self.report.notes])

    def svg(self) -> str:
        """An animated picture that stands alone and follows the reader's light or dark theme."""
        from .movie_picture import picture

        return picture(self, alone=True)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the picture to a file: HTML where its name ends so, else SVG; the path."""
        name = os.fspath(path)
        text = self.svg()
        if name.lower().endswith((".html", ".htm")):
            from .movie_picture import page

            text = page(self)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def __str__(self) -> str:
        return self.caption

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .movie_picture import picture

        text = "<br>".join([escape(line) for line in self.caption.split("\n")])
        markup = (
            f'<figure style="margin:0">{picture(self, alone=False)}<figcaption>{text}</figcaption></figure>'
        )
        return {"text/plain": self.caption, "text/html": markup}


def _misses(b: BufferMisses) -> str:
    return ", ".join(
        [f"L{k} misses {m:,} ({percent(m, b.accesses)})" for k, m in enumerate(b.misses, start=1)]
    )


def movie(
    program: Any,
    buffer: str | Buffer | Sequence[str | Buffer] | None = None,
    cache: Any = "small",
    *,
    name: str | None = None,
    values: Mapping[Any, Any] | None = None,
    args: Sequence[Any] | None = None,
    seconds: float | None = None,
) -> Movie:
    """A movie of how a program touches ``buffer`` (a name, several, or by default all parameters).

    ``program`` is a function, a module (``name`` says which function) or a Schedule: its lowered form is
    what is watched.  Each cell is an element, each colour a cache line; a line is opaque while the first
    level of the simulated cache holds it, paler in the next ones.  ``cache`` is ``"small"`` (512 bytes
    and 2 KiB, so that small matrices do not fit), ``"machine"``, or what ``cache_levels`` takes; the
    misses count every buffer of the program.  ``values`` are for shape variables, ``args`` for programs
    whose accesses depend on data.

    Raises TirscriptError: a buffer that is not there (``no-such-buffer``), accesses that nobody knows
    (``symbolic-accesses``), more of them than a picture can show (``movie-too-long``,
    ``too-many-accesses``): ``cache_misses`` counts those.

    >>> from tirscript.schedule.testing import chain
    >>> movie(chain(), "A")
    chain in L1 512 B 4-way, L2 2 KiB 8-way, 64-byte lines.
    A: 16 float32 (64 B): 16 loads, 0 stores; L1 misses 1 (6.2 %), L2 misses 1 (6.2 %).
    All buffers: 64 accesses; L1 misses 3 (4.7 %), L2 misses 3 (4.7 %).
    """
    levels = cache_levels(cache)
    func = function_of(program, name)
    asked = _names(buffer)
    if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds < 3600):
        raise TirscriptError(
            f"the seconds of a movie are between 0 and 3600, not {seconds!r}", code="seconds"
        )
    traced = stream.traced(func, values, asked)
    shown = _shown(func, traced, asked)
    panels = [_panel(m, levels[0].line) for m in shown]
    cells = sum([len(p.lines) for p in panels])
    if cells > MAX_CELLS:
        _too_long(f"{cells:,} elements are more than the {MAX_CELLS:,} that a picture can show")
    check_limit(traced, func.name, 4 * MAX_ACCESSES)
    codes = _record(traced, args, func.name)
    made = _Film(levels, shown, panels, traced)
    made.run(codes)
    if len(made.touches) > MAX_TICKS or len(made.changes) > MAX_CHANGES:
        _too_long(f"{len(made.touches):,} touches are more than a picture can show")
    report = CacheReport(func.name, levels, made.rows(), notes_of(traced, args))
    if seconds is None:
        seconds = min(max(len(made.touches) / 40, 4.0), 30.0)
    return Movie(func.name, tuple(panels), tuple(made.touches), tuple(made.changes), report, float(seconds))


def _too_long(what: str) -> Any:
    raise TirscriptError(
        what,
        code="movie-too-long",
        hint="take a smaller shape or fewer buffers; display.cache_misses(...) counts without a picture",
    )


def _names(buffer: Any) -> list[str] | None:
    if buffer is None:
        return None
    items = [buffer] if isinstance(buffer, (str, Buffer)) else buffer
    if not isinstance(items, Sequence) or not items or not all(isinstance(b, (str, Buffer)) for b in items):
        raise TirscriptError(f"a buffer, its name, or several are wanted, not {buffer!r}", code="buffer")
    return list(dict.fromkeys([b if isinstance(b, str) else b.name for b in items]))


def _shown(func: Any, traced: Traced, asked: list[str] | None) -> list[Memory]:
    """The memories to show, in the order that was asked for."""
    known: dict[str, Memory] = {}
    for m in traced.memories:
        known.setdefault(m.name, m)
    if asked is None:
        params = [b.name for b in func.buffers]
        chosen = [m for m in traced.memories if m.name in params] or list(traced.memories)
        if not chosen:
            raise TirscriptError(f"`{func.name}` touches no buffer", code="no-such-buffer")
        return chosen
    for n in asked:
        if n not in known:
            raise TirscriptError(
                f"`{func.name}` touches no buffer `{n}`; it has {', '.join(known) or 'none'}",
                code="no-such-buffer",
                hint=did_you_mean(n, known),
            )
    return [known[n] for n in asked]


def _panel(memory: Memory, line: int) -> Panel:
    b = memory.buffer
    shape = tuple([n.value if type(n) is IntImm else -1 for n in b.shape])
    if -1 in shape or not memory.bytes:
        if 0 in shape:
            return Panel(b, shape, ())
        raise TirscriptError(f"the shape of `{b.name}` is known only when it runs", code="symbolic-accesses")
    count = 1
    for n in shape:
        count *= n
    if count > MAX_CELLS:
        return Panel(b, shape, (0,) * count)
    return Panel(b, shape, tuple([(memory.base + at) // line for at in _offsets(memory, shape)]))


def _offsets(memory: Memory, shape: Sequence[int]) -> list[int]:
    """Where each element lies, in bytes from the buffer's pointer."""
    b, item = memory.buffer, memory.item
    steps = [s.value if type(s) is IntImm else 0 for s in b.strides]
    if not steps:
        steps = [1] * len(shape)
        for d in range(len(shape) - 2, -1, -1):
            steps[d] = steps[d + 1] * shape[d + 1]
    first = b.elem_offset.value if type(b.elem_offset) is IntImm else 0
    out = [first]
    for n, step in zip(shape, steps, strict=True):
        out = [at + i * step for at in out for i in range(n)]
    return [at * item for at in out]


def _record(traced: Traced, args: Any, name: str) -> list[int]:
    """The codes of all accesses."""
    import numpy as np

    from tirscript.script import parse

    touch: Any = parse(stream.record_text(MAX_ACCESSES))
    codes, count = np.zeros(MAX_ACCESSES, "int64"), np.zeros(1, "int64")
    run = stream.touching(traced, touch)
    try:
        run(*stream.arguments(traced, args), codes, count)
    except AssertFailed as e:
        if not stream.stopped(e):
            raise
        _too_long(f"`{name}` makes more than the {MAX_ACCESSES:,} accesses of a movie")
    return codes[: int(count[0])].tolist()  # type: ignore[no-any-return]


class _Film:
    """Runs the stream through the cache, and notes what the picture needs."""

    def __init__(
        self, levels: Sequence[CacheLevel], shown: list[Memory], panels: list[Panel], traced: Traced
    ) -> None:
        self.cache = Simulator(levels)
        self.line = levels[0].line
        self.traced = traced
        self.touches: list[Touch] = []
        self.changes: list[Change] = []
        self.counts = [[0] * (2 + len(levels)) for _ in traced.memories]
        self.panel_of = {m.number: k for k, m in enumerate(shown)}
        self.cells = [
            dict(zip(_offsets(m, p.shape), range(len(p.lines)), strict=False))
            for m, p in zip(shown, panels, strict=True)
        ]
        self.owner = {line: k for k, p in enumerate(panels) for line in p.lines}

    def run(self, codes: list[int]) -> None:
        mask = (1 << FIELD) - 1
        bases = [m.base for m in self.traced.memories]
        for code in codes:
            number, store = (code & mask) >> 1, code & 1
            address = code >> FIELD
            line = address // self.line
            level, dropped = self.cache.access(line)
            row = self.counts[number]
            row[store] += 1
            for k in range(level):
                row[2 + k] += 1
            panel = self.panel_of.get(number)
            if panel is not None:
                cell = self.cells[panel].get(address - bases[number], -1)
                self.touch(Touch(panel, cell, "store" if store else "load", level))
            tick = max(len(self.touches) - 1, 0)
            if level and line in self.owner:
                self.changes.append(Change(tick, self.owner[line], line, 0))
            for _, gone in dropped:
                if gone in self.owner:
                    now = self.cache.level_of(gone)
                    if now:
                        self.changes.append(Change(tick, self.owner[gone], gone, now))

    def touch(self, t: Touch) -> None:
        """A moment more; an element that is touched again at once is the same moment."""
        before = self.touches[-1] if self.touches else None
        if before is not None and before.panel == t.panel and before.cell == t.cell:
            kind = before.kind if before.kind == t.kind else "update"
            self.touches[-1] = Touch(t.panel, t.cell, kind, max(before.level, t.level))
            return
        self.touches.append(t)

    def rows(self) -> tuple[BufferMisses, ...]:
        return tuple(
            [
                BufferMisses(m.name, row[0], row[1], tuple(row[2:]))
                for m, row in zip(self.traced.memories, self.counts, strict=True)
                if row[0] or row[1] or m.number in self.panel_of
            ]
        )
