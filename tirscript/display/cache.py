"""Simulated caches: set-associative, least recently used, write-allocate.

Every level is looked up only for what missed in the levels before it, and takes what it missed.  A line
stays in an outer level when an inner one drops it; writing back costs nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from tirscript.diagnostics import AssertFailed, TirscriptError

from . import stream
from .stream import FIELD, Memory

__all__ = ["BufferMisses", "CacheLevel", "CacheReport", "Simulator", "cache_levels", "cache_misses"]


@dataclass(frozen=True)
class CacheLevel:
    """One level of a cache: its size in bytes, the lines of a set, the bytes of a line.

    >>> CacheLevel(32 * 1024, 8)
    CacheLevel(32 KiB, 8-way, 64-byte lines)
    """

    size: int
    ways: int
    line: int = 64

    def __post_init__(self) -> None:
        for name in ("size", "ways", "line"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise TirscriptError(
                    f"the {name} of a cache level is a positive integer, not {value!r}", code="cache-level"
                )
        if self.line & (self.line - 1):
            raise TirscriptError(f"a line of {self.line} bytes: a power of two is wanted", code="cache-level")
        if self.size % (self.ways * self.line):
            raise TirscriptError(
                f"{self.size} bytes are no whole number of sets of {self.ways} lines of {self.line} bytes",
                code="cache-level",
            )

    @property
    def sets(self) -> int:
        return self.size // (self.ways * self.line)

    def __str__(self) -> str:
        return f"{bytes_text(self.size)} {self.ways}-way"

    def __repr__(self) -> str:
        return f"CacheLevel({bytes_text(self.size)}, {self.ways}-way, {self.line}-byte lines)"


# Small enough that matrices of 16 x 16 do not fit: what a movie of them shows is what large ones do.
SMALL = (CacheLevel(512, 4), CacheLevel(2048, 8))
_USUAL = (CacheLevel(32 << 10, 8), CacheLevel(512 << 10, 8))
_SIZE = re.compile(r"(\d+)\s*([KMG]?)(?:i?B)?\s*/\s*(\d+)(?:\s*/\s*(\d+))?", re.I)


def bytes_text(n: int) -> str:
    """A number of bytes for people.

    >>> bytes_text(2048), bytes_text(100)
    ('2 KiB', '100 B')
    """
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= scale and n % (scale // 1024) == 0:
            value = n / scale
            return f"{value:g} {unit}" if value == round(value, 3) else f"{value:.1f} {unit}"
    return f"{n} B"


def cache_levels(cache: Any) -> tuple[CacheLevel, ...]:
    """The levels that ``cache`` says, the innermost first.

    ``"machine"`` is this machine's (levels 1 and 2), ``"small"`` one for small pictures; a text such as
    ``"32K/8, 512K/8"`` gives size and ways of each level (``"32K/8/128"`` also the bytes of a line).

    >>> cache_levels("32K/8, 1M/16")
    (CacheLevel(32 KiB, 8-way, 64-byte lines), CacheLevel(1 MiB, 16-way, 64-byte lines))
    """
    if cache == "machine":
        return machine_cache()
    if cache == "small":
        return SMALL
    levels: list[CacheLevel] = []
    if isinstance(cache, CacheLevel):
        levels = [cache]
    elif isinstance(cache, str):
        for part in cache.split(","):
            match = _SIZE.fullmatch(part.strip())
            if match is None:
                _no_cache(cache)
            size = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()]
            levels.append(CacheLevel(size, int(match[3]), int(match[4] or 64)))
    elif isinstance(cache, Sequence):
        for level in cache:
            if isinstance(level, Sequence) and not isinstance(level, str) and len(level) in (2, 3):
                level = CacheLevel(*level)
            if not isinstance(level, CacheLevel):
                _no_cache(cache)
            levels.append(level)
    if not 1 <= len(levels) <= 3:
        _no_cache(cache)
    if len({level.line for level in levels}) != 1:
        raise TirscriptError("all levels of a cache have lines of one size", code="cache-level")
    return tuple(levels)


def _no_cache(cache: Any) -> NoReturn:
    raise TirscriptError(
        f"{cache!r} is no cache of one to three levels",
        code="cache",
        hint='"machine", "small", "32K/8, 512K/8" (size and ways of each level) or a list of CacheLevel',
    )


def machine_cache() -> tuple[CacheLevel, ...]:
    """The first two levels of this machine's data caches; a usual one where the system does not say."""
    found: dict[int, CacheLevel] = {}
    if sys.platform == "linux":
        for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
            try:
                text = {
                    name: (folder / name).read_text(encoding="ascii").strip()
                    for name in ("level", "type", "size", "ways_of_associativity", "coherency_line_size")
                }
                if text["type"] != "Instruction":
                    size = int(text["size"].rstrip("K")) << (10 if text["size"].endswith("K") else 0)
                    line = int(text["coherency_line_size"])
                    ways = int(text["ways_of_associativity"]) or size // line
                    found[int(text["level"])] = CacheLevel(size, ways, line)
            except (OSError, ValueError, TirscriptError):
                continue
    if 1 in found and 2 in found and found[1].line == found[2].line:
        return found[1], found[2]
    return _USUAL


class Simulator:
    """The cache in Python, for short streams: which level has each line, and what it drops."""

    def __init__(self, levels: Sequence[CacheLevel]) -> None:
        self.levels = tuple(levels)
        # For each set its lines, the most recent last: a dict keeps the order of insertion.
        self._sets: list[list[dict[int, None]]] = [[{} for _ in range(v.sets)] for v in self.levels]

    def access(self, line: int) -> tuple[int, list[tuple[int, int]]]:
        """The level that has the line (as many as there are levels: none), and the lines that were dropped,
        each with its level."""
        dropped: list[tuple[int, int]] = []
        for k, level in enumerate(self.levels):
            lines = self._sets[k][line % level.sets]
            if line in lines:
                del lines[line]
                lines[line] = None
                return k, dropped
            if len(lines) == level.ways:
                oldest = next(iter(lines))
                del lines[oldest]
                dropped.append((k, oldest))
            lines[line] = None
        return len(self.levels), dropped

    def level_of(self, line: int) -> int:
        """The innermost level that has the line now; the number of levels where none has."""
        for k, level in enumerate(self.levels):
            if line in self._sets[k][line % level.sets]:
                return k
        return len(self.levels)


@dataclass(frozen=True)
class BufferMisses:
    """What one buffer's accesses came to; ``misses`` has a number for each level."""

    name: str
    loads: int
    stores: int
    misses: tuple[int, ...]

    @property
    def accesses(self) -> int:
        return self.loads + self.stores


@dataclass(frozen=True)
class CacheReport:
    """The misses of a program in a simulated cache: in all, and of each buffer (``report["A"]``)."""

    name: str
    levels: tuple[CacheLevel, ...]
    buffers: tuple[BufferMisses, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def total(self) -> BufferMisses:
        misses = [sum(b.misses[k] for b in self.buffers) for k in range(len(self.levels))]
        loads, stores = sum(b.loads for b in self.buffers), sum(b.stores for b in self.buffers)
        return BufferMisses("all", loads, stores, tuple(misses))

    @property
    def accesses(self) -> int:
        return self.total.accesses

    @property
    def misses(self) -> tuple[int, ...]:
        """The misses of each level."""
        return self.total.misses

    @property
    def miss_rates(self) -> tuple[float, ...]:
        """The share of all accesses that miss each level."""
        return tuple([m / self.accesses if self.accesses else 0.0 for m in self.misses])

    def __getitem__(self, name: str) -> BufferMisses:
        for b in self.buffers:
            if b.name == name:
                return b
        raise KeyError(name)

    def _rows(self) -> list[list[str]]:
        head = ["buffer", "loads", "stores"]
        for k in range(len(self.levels)):
            head += [f"L{k + 1} misses", "rate"]
        rows = [head]
        for b in (*self.buffers, *([self.total] if len(self.buffers) > 1 else [])):
            row = [b.name, f"{b.loads:,}", f"{b.stores:,}"]
            for m in b.misses:
                row += [f"{m:,}", percent(m, b.accesses)]
            rows.append(row)
        return rows

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        out = [self.title]
        for row in rows:
            cells = [row[0].ljust(widths[0]), *[c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]]
            out.append("  ".join(cells).rstrip())
        return "\n".join([*out, *self.notes])

    __repr__ = __str__

    @property
    def title(self) -> str:
        return f"{self.name} in {cache_text(self.levels)}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from html import escape

        style = "border:0;padding:2px 0 2px 14px;text-align:right"
        rows = []
        for n, row in enumerate(self._rows()):
            tag = "td" if n else "th"
            first = f'<{tag} style="border:0;padding:2px 0;text-align:left">{escape(row[0])}</{tag}>'
            rest = "".join([f'<{tag} style="{style}">{escape(c)}</{tag}>' for c in row[1:]])
            rows.append(f'<tr style="background:none">{first}{rest}</tr>')
        notes = "".join([f"<div>{escape(n)}</div>" for n in self.notes])
        markup = (
            f"<div>{escape(self.title)}</div>"
            '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;'
            f'font-size:var(--jp-code-font-size, 13px)"><tbody>{"".join(rows)}</tbody></table>{notes}'
        )
        return {"text/plain": str(self), "text/html": markup}


def percent(part: int, whole: int) -> str:
    """A share for people: two or three significant digits.

    >>> percent(1, 3), percent(1, 2000), percent(0, 0)
    ('33.3 %', '0.05 %', '0 %')
    """
    if not part or not whole:
        return "0 %"
    value = 100 * part / whole
    return f"{value:.0f} %" if value == 100 else f"{value:.1f} %" if value >= 1 else f"{value:.2g} %"


def cache_text(levels: Sequence[CacheLevel]) -> str:
    """The cache in words: ``L1 512 B 4-way, L2 2 KiB 8-way, 64-byte lines``."""
    shown = ", ".join([f"L{k} {level}" for k, level in enumerate(levels, start=1)])
    return f"{shown}, {levels[0].line}-byte lines"


# ---- long streams: the cache beside the program, compiled


def _level_text(levels: Sequence[CacheLevel], k: int, start: int, indent: str) -> list[str]:
    """Look the line up in level ``k``; on a miss count it, and go on with the next level."""
    level = levels[k]
    fields = 1 + len(levels)
    out = [
        f"first_{k} = T.int64({start}) + line % T.int64({level.sets}) * T.int64({level.ways})",
        f"if tags[first_{k}] != line:",
        f"    at[{k}] = T.int64(1)",
        f"    while at[{k}] < T.int64({level.ways}) and tags[first_{k} + at[{k}]] != line:",
        f"        at[{k}] = at[{k}] + T.int64(1)",
        f"    if at[{k}] >= T.int64({level.ways}):",
        f"        counts[slot * T.int64({fields}) + T.int64({k + 1})] = "
        f"counts[slot * T.int64({fields}) + T.int64({k + 1})] + T.int64(1)",
        f"        at[{k}] = T.int64({level.ways - 1})",
    ]
    if k + 1 < len(levels):
        out += _level_text(levels, k + 1, start + level.sets * level.ways, "        ")
    out += [
        f"    for back_{k} in range(at[{k}]):",
        f"        tags[first_{k} + at[{k}] - back_{k}] = tags[first_{k} + at[{k}] - back_{k} - T.int64(1)]",
        f"    tags[first_{k}] = line",
    ]
    return [indent + text for text in out]


def simulator_text(levels: Sequence[CacheLevel], slots: int, limit: int | None = None) -> str:
    """A function that looks one access up, and counts it and its misses; after ``limit`` it fails."""
    size = sum([level.sets * level.ways for level in levels])
    fields = 1 + len(levels)
    shift = FIELD + levels[0].line.bit_length() - 1
    head = [
        "@T.prim_func(private=True)",
        "def touch(first: T.handle, second: T.handle, code: T.int64):",
        f'    tags = T.match_buffer(first, ({size},), "int64")',
        f'    counts = T.match_buffer(second, ({slots * fields + 1},), "int64")',
        f'    at = T.alloc_buffer(({len(levels)},), "int64")',
        f"    line = code >> T.int64({shift})",
        f"    slot = code & T.int64({(1 << FIELD) - 1})",
        f"    counts[slot * T.int64({fields})] = counts[slot * T.int64({fields})] + T.int64(1)",
    ]
    if limit is not None:
        total = f"counts[T.int64({slots * fields})]"
        head += [
            f'    assert {total} < T.int64({limit}), "{stream.FULL}"',
            f"    {total} = {total} + T.int64(1)",
        ]
    return "\n".join([*head, *_level_text(levels, 0, 0, "    ")])


def cache_misses(
    program: Any,
    cache: Any = "machine",
    *,
    name: str | None = None,
    values: Mapping[Any, Any] | None = None,
    args: Sequence[Any] | None = None,
    limit: float = 4e9,
) -> CacheReport:
    """The misses of a program in a simulated cache, at some hundred million accesses a second.

    ``program`` is a function, a module (``name`` says which function) or a Schedule.  Every load and store
    of the lowered program counts, except of buffers in registers (scope ``local`` and the like); buffers
    begin at pages of their own.  ``cache`` is ``"machine"`` or what ``cache_levels`` takes; ``values`` are
    for shape variables and scalars; ``args`` are arguments for programs whose accesses depend on data,
    which otherwise run on ones and zeros.

    Raises TirscriptError for more than ``limit`` accesses (``too-many-accesses``) and for accesses that
    nobody knows (``symbolic-accesses``).

    >>> from tirscript.schedule.testing import chain
    >>> print(cache_misses(chain(), "512/4, 2K/8"))
    chain in L1 512 B 4-way, L2 2 KiB 8-way, 64-byte lines
    buffer  loads  stores  L1 misses   rate  L2 misses   rate
    A          16       0          1  6.2 %          1  6.2 %
    C           0      16          1  6.2 %          1  6.2 %
    B          16      16          1  3.1 %          1  3.1 %
    all        32      32          3  4.7 %          3  4.7 %
    """
    import numpy as np

    from tirscript.script import parse

    levels = cache_levels(cache)
    func = function_of(program, name)
    traced = stream.traced(func, values, None)
    check_limit(traced, func.name, limit)
    slots = 2 * max(len(traced.memories), 1)
    # A number of accesses that nobody knows before is counted on the way.
    unknown = traced.estimate == float("inf")
    touch: Any = parse(simulator_text(levels, slots, int(limit) if unknown else None))
    run = stream.touching(traced, touch)
    tags = np.full(sum([level.sets * level.ways for level in levels]), -1, "int64")
    counts = np.zeros(slots * (1 + len(levels)) + 1, "int64")
    try:
        run(*stream.arguments(traced, args), tags, counts)
    except AssertFailed as e:
        if not stream.stopped(e):
            raise
        _too_many(f"`{func.name}` makes more accesses than the limit of {limit:.2g}")
    return _report(func.name, levels, traced, counts[:-1].reshape(slots, -1).tolist(), args)


def _report(
    name: str, levels: tuple[CacheLevel, ...], traced: stream.Traced, counts: Any, args: Any
) -> CacheReport:
    rows = []
    for m in traced.memories:
        loads, stores = counts[2 * m.number], counts[2 * m.number + 1]
        if loads[0] or stores[0]:
            misses = tuple([a + b for a, b in zip(loads[1:], stores[1:], strict=True)])
            rows.append(BufferMisses(m.name, loads[0], stores[0], misses))
    return CacheReport(name, levels, tuple(rows), notes_of(traced, args))


def notes_of(traced: stream.Traced, args: Any) -> tuple[str, ...]:
    """What a reader of the numbers must know."""
    notes = []
    if traced.on_data and args is None:
        notes.append("The accesses depend on data: integers are 0 here, floats 1 (args=[...] gives others).")
    if traced.unseen:
        notes.append(f"What {', '.join(traced.unseen)} does with memory is not seen.")
    return tuple(notes)


def check_limit(traced: stream.Traced, name: str, limit: float) -> None:
    if traced.estimate > limit and traced.estimate != float("inf"):
        _too_many(f"`{name}` makes about {traced.estimate:.2g} accesses, more than the limit of {limit:.2g}")


def _too_many(what: str) -> NoReturn:
    raise TirscriptError(what, code="too-many-accesses", hint="take a smaller shape, or a larger limit=")


def function_of(program: Any, name: str | None = None) -> Any:
    """The function that a function, a module or a Schedule stands for."""
    from tirscript.ir.function import PrimFunc
    from tirscript.ir.module import IRModule

    mod = getattr(program, "mod", program)
    if name is not None and not isinstance(name, str):
        raise TirscriptError(f"the name of a function is a text, not {name!r}", code="name")
    if isinstance(program, PrimFunc):
        return program
    if isinstance(mod, IRModule):
        working = getattr(program, "func_working_on", None) if name is None else None
        if name is not None or working is not None:
            return mod[str(name if working is None else working.name)]
        if len(mod) == 1 or "main" in mod:
            return mod["main"]
        raise TirscriptError(
            f"the module has several functions: {', '.join(mod.names())}",
            code="which-function",
            hint='say which: name="..."',
        )
    raise TirscriptError(
        f"a function, a module or a Schedule is wanted, not {type(program).__name__}", code="not-a-program"
    )


def memory_named(memories: Sequence[Memory], name: str) -> Memory | None:
    return next((m for m in memories if m.name == name), None)
