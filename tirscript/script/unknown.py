"""Unknown names of ``T`` that Python itself looks up, in annotations and decorators."""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from collections.abc import Iterable

from tirscript.diagnostics import Mark, ParseError, Source, Span, did_you_mean

from .source import display_name


class UnknownName(ParseError, AttributeError):
    """A name that ``T`` or ``I`` does not have; an AttributeError too, for ``hasattr``."""

    default_code = "unknown-name"

    @property
    def title(self) -> str:
        return f"ParseError[{self.code}]"


def unknown_name(letter: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for ``T.name``, with a caret in the file of the code that looked it up."""
    frame = sys._getframe(2)
    return UnknownName(
        f"`{letter}` has no `{name}`", marks=_marks(frame, name), hint=did_you_mean(name, known)
    )


def _marks(frame: types.FrameType, name: str) -> list[Mark]:
    """The range of the instruction that runs in the frame, as Python knows it."""
    code = frame.f_code
    place = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None), None)
    if place is None:
        return []
    line, end_line, column, end_column = place
    if line is None or end_line is None or column is None or end_column is None:
        return []
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    if not lines or name not in "".join(lines[line - 1 : end_line]):
        return []
    source = Source(display_name(code.co_filename), "".join(lines))
    return [
        Mark(
            Span(
                source,
                line,
                _characters(lines, line, column),
                end_line,
                _characters(lines, end_line, end_column),
            )
        )
    ]


def _characters(lines: list[str], line: int, offset: int) -> int:
    return len(lines[line - 1].encode()[:offset].decode(errors="replace"))
