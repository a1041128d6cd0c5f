"""The difference of two programs: side by side in HTML, unified in a terminal."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.schedule.record.history import Diff, lines_of

from . import emit
from .emit import ADDED, REMOVED, colour, escape, line_html
from .words import Pair, aligned, changed_words

CONTEXT = 3
_CELL = (
    "padding:0 8px 0 4px;text-align:left;vertical-align:top;border:0;"
    "white-space:pre-wrap;overflow-wrap:anywhere"
)
_NUMBER = (
    "padding:0 6px 0 0;text-align:right;vertical-align:top;border:0;white-space:pre;"
    f"color:{colour(emit.FAINT)}"
)
# Tints that read on white and on black: nothing is painted over the page's own ground.
_GONE, _COME = "rgba(208,69,58,.13)", "rgba(45,143,80,.15)"
_GONE_WORD, _COME_WORD = "rgba(208,69,58,.32)", "rgba(45,143,80,.36)"


def diff(old: PrimFunc | IRModule, new: PrimFunc | IRModule, title: str = "") -> Diff:
    """The difference of two programs, one loop and one axis a line: side by side in a notebook.

    >>> from tirscript.schedule import Schedule
    >>> from tirscript.schedule.testing import chain
    >>> sch = Schedule(chain())
    >>> sch.parallel(sch.get_loops("B")[0])
    >>> print(str(diff(chain(), sch.mod["chain"])).count("+"))
    1
    """
    pair = []
    for given in (old, new):
        if isinstance(given, PrimFunc):
            pair.append({given.name: given})
        elif isinstance(given, IRModule):
            pair.append(dict(given.items()))
        else:
            raise TirscriptError(
                f"diff takes functions or modules, not {type(given).__name__}", code="not-a-program"
            )
    before, after = pair
    if len(before) == len(after) == 1 and before.keys() != after.keys():
        (name,) = after
        before = {name: next(iter(before.values()))}
    parts = []
    for name in dict.fromkeys([*before, *after]):
        a, b = [lines_of(f[name], name) if name in f else [] for f in (before, after)]
        if a != b:
            parts.append((name, a, b))
    return Diff(title or f"{', '.join(before)} → {', '.join(after)}", parts)


def side_by_side(diff: Any, context: int = CONTEXT) -> str:
    """A ``Diff`` as an HTML table: old on the left, new on the right, changed words marked."""
    out = [f'<div style="margin:0 0 4px 0;{emit.FONT}">{line_html(diff.heading)}</div>']
    for name, old, new in diff.parts:
        rows = aligned(old, new)
        if len(diff.parts) > 1:
            out.append(f'<div style="{emit.FONT};font-weight:bold">{escape(name)}</div>')
        out.append(_table(old, new, rows, context))
    if not diff.parts:
        out.append(f'<div style="{emit.FONT};color:{colour(emit.FAINT)}">nothing changed</div>')
    return "".join(out)


def _changed(old: list[str], new: list[str], row: Pair) -> bool:
    i, j = row
    return i is None or j is None or old[i].strip() != new[j].strip()


def _table(old: list[str], new: list[str], rows: list[Pair], context: int) -> str:
    near: set[int] = set()
    for n, row in enumerate(rows):
        if _changed(old, new, row):
            near.update(range(n - context, n + context + 1))
    shown = [rows[n] for n in sorted(near) if 0 <= n < len(rows)]
    words = {row: _words(old, new, row) for row in shown if None not in row and _changed(old, new, row)}
    plain = _highlighted(
        [text for row in shown if row not in words for text in _whole(old, new, row)]
        + [side for both in words.values() for side in both]
    )
    lines = []
    hidden = 0
    for n, row in enumerate(rows):
        if n not in near:
            hidden += 1
            continue
        if hidden:
            lines.append(_gap(hidden))
            hidden = 0
        lines.append(_row(old, new, row, words.get(row), plain))
    if hidden and lines:
        lines.append(_gap(hidden))
    body = "".join(lines)
    return (
        f'<table style="border-collapse:collapse;table-layout:fixed;width:100%;{emit.FONT};border:0">'
        '<colgroup><col style="width:3.2em"><col><col style="width:3.2em"><col></colgroup>'
        f"<tbody>{body}</tbody></table>"
    )


def _gap(hidden: int) -> str:
    text = f"⋯ {hidden} line{'' if hidden == 1 else 's'} as before"
    return (
        f'<tr style="background:none"><td style="{_NUMBER}"></td>'
        f'<td colspan="3" style="{_CELL};color:{colour(emit.FAINT)}">{text}</td></tr>'
    )


# Around changed words, until the line is highlighted; no script holds them.
_START, _END = "\x01", "\x02"


def _words(old: list[str], new: list[str], row: Pair) -> tuple[str, str]:
    """Both lines of a changed row, with marks around the words that differ."""
    i, j = row
    assert i is not None and j is not None
    gone, come = changed_words(old[i], new[j])
    return _marked(old[i], gone), _marked(new[j], come)


def _marked(text: str, ranges: list[tuple[int, int]]) -> str:
    indent = len(text) - len(text.lstrip())  # no word of its own
    out: list[str] = []
    at = 0
    for start, end in ranges:
        if end > indent:
            start = max(start, indent)
            out += [text[at:start], _START, text[start:end], _END]
            at = end
    return "".join([*out, text[at:]])


def _whole(old: list[str], new: list[str], row: Pair) -> list[str]:
    """The lines of a row in which no words are marked."""
    i, j = row
    return [text[k] for text, k in ((old, i), (new, j)) if k is not None]


def _highlighted(lines: list[str]) -> dict[str, str]:
    """Each line with its HTML: all at once, which is faster than one by one."""
    unique = list(dict.fromkeys(lines))
    if not unique:
        return {}
    found = dict(zip(unique, line_html("\n".join(unique)).split("\n"), strict=True))
    for text in unique:
        if _START in text and ('"' in text or "'" in text or "#" in text):
            # A mark may begin inside a string and end outside of it.
            found[text] = _by_ranges(text)
    return found


def _by_ranges(text: str) -> str:
    ranges: list[tuple[int, int]] = []
    bare = ""
    for part in text.split(_START):
        word, end, rest = part.partition(_END)
        if end:
            ranges.append((len(bare), len(bare) + len(word)))
            bare += word + rest
        else:
            bare += part
    return line_html(bare, ranges, _START).replace(
        f'<span style="background:{_START};font-weight:bold">', _START
    )


def _row(
    old: list[str], new: list[str], row: Pair, words: tuple[str, str] | None, plain: dict[str, str]
) -> str:
    i, j = row
    if words is not None:
        left, right = [
            plain[text]
            .replace(_START, f'<span style="background:{tint};font-weight:bold">')
            .replace(_END, "</span>")
            for text, tint in zip(words, (_GONE_WORD, _COME_WORD), strict=True)
        ]
    else:
        left = plain[old[i]] if i is not None else ""
        right = plain[new[j]] if j is not None else ""
        if i is not None and j is not None:
            return f'<tr style="background:none">{_cells(i, " ", left)}{_cells(j, " ", right)}</tr>'
    return (
        '<tr style="background:none">'
        + (_cells(i, "-", left, _GONE, REMOVED) if i is not None else _empty())
        + (_cells(j, "+", right, _COME, ADDED) if j is not None else _empty())
        + "</tr>"
    )


def _cells(number: int, mark: str, body: str, tint: str = "none", bar: tuple[str, str] | None = None) -> str:
    edge = f";box-shadow:inset 3px 0 0 {colour(bar)}" if bar else ""
    shown = f'<span style="color:{colour(bar)}">{mark}</span>&nbsp;' if bar else "&nbsp;&nbsp;"
    return (
        f'<td style="{_NUMBER}">{number + 1}</td>'
        f'<td style="{_CELL};{_hang(body)};background:{tint}{edge}">{shown}{_indented(body)}</td>'
    )


def _hang(body: str) -> str:
    """What does not fit goes on below, further in than the line began."""
    n = len(body) - len(body.lstrip(" ")) + 6
    return f"padding-left:calc(8px + {n}ch);text-indent:-{n}ch"


def _indented(body: str) -> str:
    """Indentation that no reader takes away."""
    bare = body.lstrip(" ")
    return "&nbsp;" * (len(body) - len(bare)) + bare


def _empty() -> str:
    return f'<td style="{_NUMBER}"></td><td style="{_CELL}"></td>'


# ---- terminals

_RESET = "\x1b[0m"
_SIGNS = {"-": "\x1b[31m", "+": "\x1b[32m"}


def unified(diff: Any, context: int = CONTEXT, *, colours: bool = False) -> str:
    """A ``Diff`` as lines that went and came, in the colours of a terminal if wanted: changed words bold."""
    if not colours:
        return str(diff)
    out = [f"\x1b[1m{diff.heading}{_RESET}"]
    for name, old, new in diff.parts:
        if len(diff.parts) > 1:
            out.append(f"\x1b[1m{name}{_RESET}")
        rows = aligned(old, new)
        near: set[int] = set()
        for n, row in enumerate(rows):
            if _changed(old, new, row):
                near.update(range(n - context, n + context + 1))
        hidden = False
        n = 0
        while n < len(rows):
            if n not in near:
                hidden = True
                n += 1
                continue
            if hidden:
                out.append(f"\x1b[36m  ...{_RESET}")
                hidden = False
            if not _changed(old, new, rows[n]):
                j = rows[n][1]
                assert j is not None
                out.append(f"  {new[j]}".rstrip())
                n += 1
                continue
            # Changed rows in a run: first what went, then what came.
            end = n
            while end < len(rows) and _changed(old, new, rows[end]):
                end += 1
            run = rows[n:end]
            for side, sign, texts in ((0, "-", old), (1, "+", new)):
                for row in run:
                    k = row[side]
                    if k is not None:
                        out.append(_signed(sign, texts[k], _marks(old, new, row, side)))
            n = end
        if hidden:
            out.append(f"\x1b[36m  ...{_RESET}")
    if not diff.parts:
        out.append("(nothing changed)")
    return "\n".join(out)


def _marks(old: list[str], new: list[str], row: Pair, side: int) -> list[tuple[int, int]]:
    i, j = row
    if i is None or j is None:
        return []
    text = (old[i], new[j])[side]
    return [r for r in changed_words(old[i], new[j])[side] if r[1] > len(text) - len(text.lstrip())]


def _signed(sign: str, text: str, marks: list[tuple[int, int]]) -> str:
    start = _SIGNS[sign]
    at = 0
    parts = [f"{start}{sign} "]
    for a, b in marks:
        parts += [text[at:a], "\x1b[1;7m", text[a:b], "\x1b[22;27m"]
        at = b
    return "".join([*parts, text[at:], _RESET])


__all__ = ["diff", "side_by_side", "unified"]
