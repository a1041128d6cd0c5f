"""Sources, spans and the one renderer of errors: what is wrong, where, why, and what to do.

Nothing of tirscript is imported here, so every other room may raise these errors.  Rendering is lazy:
it happens in ``str(error)``, never where the error is raised.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any


class Source:
    """A piece of text that programs are read from: a file, a notebook cell, a string.

    ``name`` is what a user sees before the line number; ``lines`` are the text's lines, the first of
    which is line ``first_line`` of ``name``.
    """

    __slots__ = ("first_line", "lines", "name")

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        self.name = name
        self.lines = text.splitlines()
        self.first_line = first_line

    def line(self, number: int) -> str:
        """The text of line ``number``; an empty string where there is none."""
        index = number - self.first_line
        return self.lines[index] if 0 <= index < len(self.lines) else ""

    def __repr__(self) -> str:
        return f"Source({self.name!r})"


class Span:
    """A range of a source: lines count from 1, columns from 0 in characters, the end is exclusive."""

    __slots__ = ("column", "end_column", "end_line", "line", "source")

    def __init__(self, source: Source, line: int, column: int, end_line: int, end_column: int) -> None:
        self.source = source
        self.line = line
        self.column = column
        self.end_line = end_line
        self.end_column = end_column

    def join(self, other: Span | None) -> Span:
        """The smallest span that covers both; ``self`` where the sources differ."""
        if other is None or other.source is not self.source:
            return self
        first = min((self.line, self.column), (other.line, other.column))
        last = max((self.end_line, self.end_column), (other.end_line, other.end_column))
        return Span(self.source, *first, *last)

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column + 1}"

    def __repr__(self) -> str:
        return f"Span({self!s})"


class Mark:
    """A span with the words that stand beside its carets."""

    __slots__ = ("label", "span")

    def __init__(self, span: Span, label: str = "") -> None:
        self.span = span
        self.label = label


def _width(text: str) -> int:
    """Columns that ``text`` takes in a terminal: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _excerpt(mark: Mark, gutter: int) -> Iterator[str]:
    span = mark.span
    raw = span.source.line(span.line)
    stop = span.end_column if span.end_line == span.line else len(raw.rstrip())
    before, under = raw[: span.column].expandtabs(4), raw[span.column : stop].expandtabs(4)
    yield f"{span.line:>{gutter}} | {raw.expandtabs(4)}".rstrip()
    carets = " " * _width(before) + "^" * max(1, _width(under))
    yield f"{'':>{gutter}} | {carets} {mark.label}".rstrip()


def render(
    title: str,
    message: str,
    *,
    location: str | None = None,
    marks: Sequence[Mark] = (),
    notes: Iterable[str] = (),
    hint: str | None = None,
) -> str:
    """The text of one diagnostic: title line, place, marked source lines, notes, hint."""
    out = [f"{title}: {message}"]
    if location is None and marks:
        location = str(marks[0].span)
    if location is not None:
        out.append(f"  --> {location}")
    gutter = max([4, *(len(str(m.span.line)) for m in marks)])
    previous: Source | None = marks[0].span.source if marks else None
    for mark in marks:
        if mark.span.source is not previous:
            out.append(f"  --> {mark.span}")
            previous = mark.span.source
        lines = list(_excerpt(mark, gutter))
        # Two marks on one line share the source line.
        out += lines[1:] if len(out) > 2 and out[-2] == lines[0] else lines
    out += [f"  note: {note}" for note in notes]
    if hint:
        out.append(f"  hint: {hint}")
    return "\n".join(out)


class TirscriptError(RuntimeError):
    """Base of every error that tirscript raises: a stable code, a message, the place, notes and a hint.

    ``str(error)`` is the whole rendered text.  ``message`` may be given as a function, which is called
    when the text is first needed.
    """

    default_code = ""

    def __init__(
        self,
        message: str | Callable[[], str],
        *,
        code: str | None = None,
        location: str | None = None,
        marks: Sequence[Mark] = (),
        notes: Sequence[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__()
        self._message = message
        self.code = self.default_code if code is None else code
        self.location = location
        self.marks: Sequence[Mark] = marks
        self.notes: Sequence[str] = notes
        self.hint = hint
        self._text: str | None = None

    @property
    def message(self) -> str:
        if not isinstance(self._message, str):
            self._message = self._message()
        return self._message

    @property
    def title(self) -> str:
        name = type(self).__name__
        return f"{name}[{self.code}]" if self.code else name

    def render(self, *, full: bool = False) -> str:
        """The text of the error; ``full=True`` adds the whole program where there is one."""
        return render(
            self.title,
            self.message,
            location=self.location,
            marks=self.marks,
            notes=self.notes,
            hint=self.hint,
        )

    def __str__(self) -> str:
        if self._text is None:
            self._text = self.render()
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), str(self), self.code, self.message, tuple(self.notes), self.hint)

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines instead of a traceback of our internals."""
        return str(self).splitlines()


def _restore(
    cls: type[TirscriptError], text: str, code: str, message: str, notes: tuple[str, ...], hint: str | None
) -> TirscriptError:
    error = cls.__new__(cls)
    TirscriptError.__init__(error, message, code=code, notes=notes, hint=hint)
    error._text = text
    return error


class ParseError(TirscriptError):
    """A script that is no program.  ``diagnostics`` holds every mistake of the function, in source order."""

    def __init__(self, message: str | Callable[[], str], **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.diagnostics: list[ParseError] = [self]

    def render(self, *, full: bool = False) -> str:
        if len(self.diagnostics) <= 1:
            return super().render(full=full)
        parts = [TirscriptError.render(d) for d in self.diagnostics]
        return "\n\n".join([*parts, f"{len(parts)} errors"])

    @staticmethod
    def collect(errors: Sequence[ParseError]) -> ParseError:
        """One error that carries all of ``errors`` (at least one)."""
        first = errors[0]
        first.diagnostics = list(errors)
        return first


class WellFormedError(TirscriptError):
    """An IR that breaks a structural rule: a variable out of scope, a token defined twice, ..."""


class ScheduleError(TirscriptError):
    """A schedule primitive that would not preserve the program."""


class ScheduleTypeError(ScheduleError, TypeError):
    """An argument of a schedule primitive has the wrong type."""


class ScheduleValueError(ScheduleError, ValueError):
    """An argument of a schedule primitive has a value outside its range."""


class LowerError(TirscriptError):
    """A program that cannot be lowered to loops."""


class BindError(LowerError, ValueError):
    """A function for a GPU without the thread bindings that it needs."""


class CodegenError(TirscriptError):
    """A lowered program that a backend cannot emit."""


class TargetError(TirscriptError, ValueError):
    """A target description that names nothing."""


class CallError(TirscriptError):
    """A call of a compiled function that cannot be made."""


class CallTypeError(CallError, TypeError):
    """Wrong number or kind of arguments."""


class CallValueError(CallError, ValueError):
    """An argument of the right kind with a wrong shape, stride, device or value."""


class AssertFailed(TirscriptError, AssertionError):
    """An assert of the script did not hold."""


class CheckFailed(TirscriptError):
    """The sanitizer or a checked build found a fault while the program ran."""


class NotYetError(TirscriptError, NotImplementedError):
    """A known TVM name that tirscript does not have yet."""


class TirscriptWarning(UserWarning):
    """Base of all warnings."""


class PrecisionLossWarning(TirscriptWarning):
    """A value is stored into a buffer whose dtype holds less."""


class AxisWarning(TirscriptWarning):
    """A loop range misses or leaves the domain of a block axis."""


class BoundsWarning(TirscriptWarning):
    """An access that is certainly outside its buffer."""


class PerformanceWarning(TirscriptWarning):
    """Correct, but slower than it could be."""


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The closest of the known names as a hint, or None.

    >>> did_you_mean("scal", ["scale", "vi"])
    'did you mean `scale`?'
    """
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not close:
        close = [n for n in names if n.lower() == name.lower()]
    return f"did you mean `{close[0]}`?" if close else None


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def user_stacklevel() -> int:
    """The ``stacklevel`` for ``warnings.warn`` (called where this is called) that names user code."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    return level


_recursion_lock = threading.Lock()
_recursion_users = 0
_recursion_limit = 0  # the limit to restore when the last user leaves


@contextlib.contextmanager
def deep_recursion(limit: int = 200_000) -> Iterator[None]:
    """Raise Python's recursion limit while a tree is walked.

    Calls from Python to Python use no C stack in CPython 3.11 and newer, so deep programs (sums of
    thousands of terms, long chains of statements) need only a higher limit.  The limit belongs to the
    process: it is put back when the last of all threads leaves.
    """
    global _recursion_users, _recursion_limit
    with _recursion_lock:
        if _recursion_users == 0:
            _recursion_limit = sys.getrecursionlimit()
            if _recursion_limit < limit:
                sys.setrecursionlimit(limit)
        _recursion_users += 1
    try:
        yield
    finally:
        with _recursion_lock:
            _recursion_users -= 1
            if _recursion_users == 0:
                sys.setrecursionlimit(_recursion_limit)
