"""From printed lines to text: wrapping, Python's limit of brackets, underlines, notes, line numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from tirscript.diagnostics import Span

from .core import MAX_BRACKETS
from .record import plain

# No shorter line can hold more brackets than Python takes: each needs an opening and a closing one.
_SUSPECT = 2 * MAX_BRACKETS
TOO_MANY_BRACKETS = "# over Python's limit of 200 nested brackets: this text cannot be read back"


def bracket_depth(text: str) -> int:
    """How deeply brackets are nested in a line.

    >>> bracket_depth('f(a[0], "((")')
    2
    """
    depth = deepest = 0
    for _, c in _code(text):
        if c in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in ")]}":
            depth -= 1
    return deepest


def _code(text: str) -> Iterable[tuple[int, str]]:
    """The characters of ``text`` that are not in strings, with their places; strings are in double quotes."""
    inside = escaped = False
    for n, c in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == '"':
                inside = False
        elif c == '"':
            inside = True
        else:
            yield n, c


def lay_out(out: list[str], width: int | None) -> tuple[list[str], list[int]]:
    """The lines of the text, and for each entry of ``out`` the index of its first line."""
    longest = max(map(len, out), default=0)
    if longest <= _SUSPECT and (width is None or longest <= width):
        return out, list(range(len(out)))
    lines: list[str] = []
    starts: list[int] = []
    for entry in out:
        if len(entry) > _SUSPECT and bracket_depth(entry) > MAX_BRACKETS:
            lines.append(" " * (len(entry) - len(entry.lstrip())) + TOO_MANY_BRACKETS)
        starts.append(len(lines))
        if width is None or len(entry) <= width:
            lines.append(entry)
        else:
            lines += wrap(entry, width)
    return lines, starts


def wrap(line: str, width: int) -> list[str]:
    """``line`` broken inside brackets, so that it needs at most ``width`` columns where that can be.

    >>> print("\\n".join(wrap('T.reads(A[vi, vk], B[vk, vj])', 24)))
    T.reads(
        A[vi, vk], B[vk, vj]
    )
    """
    if len(plain(line)) <= width or line.lstrip().startswith("#"):
        return [line]
    found = _widest_brackets(line)
    if found is None:
        return [line]
    start, end, commas = found
    indent = len(line) - len(line.lstrip())
    inner = " " * (indent + 4)
    head, content = line[: start + 1], line[start + 1 : end]
    tail = wrap(" " * indent + line[end:], width)
    if len(plain(content)) + indent + 4 <= width and not head.lstrip().startswith("def "):
        return [head, inner + content, *tail]
    if not commas:
        return [head, *wrap(inner + content, width), *tail]
    cuts = [start, *commas, end]
    items = [line[a + 1 : b].strip() for a, b in itertools.pairwise(cuts)]
    body: list[str] = []
    for n, item in enumerate(items):
        if item:
            body += wrap(inner + item + ("," if n < len(items) - 1 else ""), width)
    return [head, *body, *tail]


def _widest_brackets(line: str) -> tuple[int, int, list[int]] | None:
    """The outermost pair of brackets that holds most, and its commas; None where none is worth breaking."""
    best: tuple[int, int, list[int]] | None = None
    opened: list[int] = []
    commas: list[int] = []
    for n, c in _code(line):
        if c in "([{":
            if not opened:
                commas = []
            opened.append(n)
        elif c in ")]}":
            if opened:
                start = opened.pop()
                if not opened and n - start > 12 and (best is None or n - start > best[1] - best[0]):
                    best = (start, n, commas)
        elif c == "," and len(opened) == 1:
            commas.append(n)
    return best


def decorate(
    text: str,
    spans: Mapping[Any, Span],
    underline: Iterable[Any],
    annotate: Mapping[Any, str] | None,
    numbers: bool,
) -> str:
    """``text`` with carets under nodes, notes behind lines, line numbers in front.

    Carets and notes are comments, so that the text can still be read back.
    """
    lines = text.split("\n")
    below: dict[int, list[Span]] = {}
    for node in underline:
        span = spans.get(node)
        if span is not None:
            below.setdefault(span.line, []).append(span)
    for node, note in (annotate or {}).items():
        span = spans.get(node)
        if span is not None:
            lines[span.line - 1] += f"  # {' '.join(note.split())}"
    gutter = max(4, len(str(len(lines))))
    out: list[str] = []
    for n, line in enumerate(lines, 1):
        out.append(f"{n:>{gutter}} | {line}".rstrip() if numbers else line)
        if n in below:
            carets = _carets(below[n], lines[n - 1])
            out.append(f"{'':>{gutter}} | {carets}" if numbers else carets)
    return "\n".join(out)


def _carets(spans: list[Span], line: str) -> str:
    row: list[str] = []
    for span in spans:
        end = span.end_column if span.end_line == span.line else len(line)
        row += " " * (max(end, span.column + 1) - len(row))
        row[span.column : end] = "^" * (end - span.column)
    return "#" + "".join(row[1:])
