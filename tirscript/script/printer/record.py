"""Printing with a record of where each node stands.

The text of each expression is put between control characters (which no script contains: strings are
escaped), and taken out again when the lines are complete.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from typing import Any

from tirscript.diagnostics import Source, Span
from tirscript.ir.expr import IterVar
from tirscript.ir.stmt import Stmt

from .core import ExprPrinter, Printer, StmtPrinter

# Nodes that are lines of their own.
_LINES = (Stmt, IterVar)
_OPEN, _SEP, _CLOSE = "\x01", "\x02", "\x03"
_MARK = re.compile(r"(\x01\d+\x02|\x03|\n)")
_ANY = re.compile(r"\x01\d+\x02|\x03")


def plain(text: str) -> str:
    """``text`` without marks."""
    return _ANY.sub("", text) if _OPEN in text or _CLOSE in text else text


class _Recording(dict[type, ExprPrinter]):
    """The table of expression printers, each of which marks what it returns."""

    def __init__(self, table: Mapping[type, ExprPrinter]) -> None:
        super().__init__()
        self.table = table

    def __missing__(self, kind: type) -> ExprPrinter:
        show = self.table[kind]

        def recorded(p: Printer, e: Any, outer: int) -> str:
            return p.mark(e, show(p, e, outer))

        self[kind] = recorded
        return recorded

    def __contains__(self, kind: object) -> bool:
        return kind in self.table


class Recorder(Printer):
    """A printer that remembers what it printed where."""

    unroll = False

    def __init__(
        self, exprs: Mapping[type, ExprPrinter], stmts: Mapping[type, StmtPrinter], sugar: bool
    ) -> None:
        super().__init__(_Recording(exprs), stmts, sugar)
        self.lines = []
        self.marked: list[Any] = []
        self.only: Container[Any] | None = None  # the nodes to record; None: all

    def mark(self, node: Any, text: str) -> str:
        if self.only is not None and node not in self.only:
            return text
        marked = self.marked
        marked.append(node)
        return f"{_OPEN}{len(marked) - 1}{_SEP}{text}{_CLOSE}"

    def define(self, token: Any, hint: str) -> str:
        name = Printer.define(self, token, hint)
        only = self.only
        return name if only is not None and token not in only else self.mark(token, name)

    def resolve(self, lines: list[str], starts: list[int], name: str) -> tuple[str, dict[Any, Span]]:
        """The text without marks and the span of each node where it stands first.

        ``starts`` maps the index of an entry of ``out`` to the index of its first line in ``lines``.
        """
        whole = "\n".join(lines)
        found = list(_ranges(whole)) if self.marked else []
        text = plain(whole)
        source = Source(name, text)
        only = self.only
        wanted = self.lines or ()
        spans = line_spans(wanted if only is None else [x for x in wanted if x[0] in only], starts, source)
        for number, start, end in found:
            spans.setdefault(self.marked[number], Span(source, *start, *end))
        return text, spans


class Enough(Exception):
    """All lines that were wanted are printed."""


class LineFinder(Printer):
    """A printer that remembers the lines of some nodes, which are lines of their own (``are_lines``).

    With ``stop`` it raises ``Enough`` behind the last of them: what comes after is not wanted.
    """

    def __init__(
        self, exprs: Mapping[type, ExprPrinter], stmts: Mapping[type, StmtPrinter], sugar: bool
    ) -> None:
        super().__init__(exprs, stmts, sugar)
        self.lines = []
        self.only: Set[Any] = frozenset()
        self.missing: set[Any] | None = None

    def find(self, nodes: Set[Any], stop: bool) -> None:
        """Look for those nodes."""
        self.only = nodes
        self.missing = set(nodes) if stop and nodes else None

    def header(self, node: Any, text: str) -> None:
        self.out.append(self.indent + text)
        if node in self.only:
            self._found(node)

    def same_line(self, node: Any) -> None:
        if node in self.only:
            self._found(node)

    def _found(self, node: Any) -> None:
        assert self.lines is not None
        self.lines.append((node, len(self.out) - 1))
        missing = self.missing
        if missing is not None:
            missing.discard(node)
            if not missing:
                raise Enough

    def resolve(self, lines: list[str], starts: list[int], name: str) -> tuple[str, dict[Any, Span]]:
        """The text and the span of each node where it stands first."""
        text = "\n".join(lines)
        return text, line_spans(self.lines or (), starts, Source(name, text))


def are_lines(nodes: Iterable[Any]) -> bool:
    """Whether those are nodes that are lines of their own: loops, blocks, axes."""
    return all(isinstance(n, _LINES) for n in nodes)


def line_spans(found: Iterable[tuple[Any, int]], starts: list[int], source: Source) -> dict[Any, Span]:
    """The spans of nodes that are the lines of those entries."""
    spans: dict[Any, Span] = {}
    for node, index in found:
        if node not in spans:
            at = starts[index]
            shown = source.lines[at]
            spans[node] = Span(source, at + 1, len(shown) - len(shown.lstrip()), at + 1, len(shown))
    return spans


def _ranges(text: str) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
    """Each mark with its first and last place (line from 1, column), in the order in which they open."""
    line, column = 1, 0
    open_marks: list[int] = []
    order: list[int] = []
    first: dict[int, tuple[int, int]] = {}
    last: dict[int, tuple[int, int]] = {}
    for part in _MARK.split(text):
        if part == "\n":
            line, column = line + 1, 0
        elif part == _CLOSE:
            last[open_marks.pop()] = (line, column)
        elif part[:1] == _OPEN:
            number = int(part[1:-1])
            open_marks.append(number)
            order.append(number)
            first[number] = (line, column)
        else:
            column += len(part)
    for number in order:
        yield number, first[number], last[number]
