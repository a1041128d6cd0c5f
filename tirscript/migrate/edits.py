"""Edits of a text by position: what no edit touches stays as it is, to the last blank."""

from __future__ import annotations

import ast
from typing import NamedTuple


class Edit(NamedTuple):
    """The characters from ``start`` to ``end`` become ``new``."""

    start: int
    end: int
    new: str


class Positions:
    """From the lines and byte columns of a syntax tree to offsets in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        # As Python's tokenizer: a form feed or a separator of Unicode ends no line.
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8")[:column].decode("utf-8", "ignore"))
        return self._starts[line - 1] + column

    def start(self, node: ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.expr | ast.stmt | ast.alias | ast.arg | ast.keyword) -> str:
        return self.text[self.start(node) : self.end(node)]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        import bisect

        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def indent(self, offset: int) -> str:
        """The blanks that the line of ``offset`` begins with."""
        line = self._lines[self.place(offset)[0] - 1]
        return line[: len(line) - len(line.lstrip())]


def apply(text: str, edits: list[Edit]) -> str:
    """The edited text; edits must not overlap, insertions at one place keep their order."""
    out, at = [], 0
    for start, end, new in sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end)):
        assert start >= at, "edits overlap"
        out += [text[at:start], new]
        at = end
    return "".join([*out, text[at:]])
