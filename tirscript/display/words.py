"""What differs within lines: words, and lines that belong together."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
Ranges = list[tuple[int, int]]
# Lines that share less than this are shown as one that went and one that came.
_ALIKE = 0.4


def changed_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges of ``old`` that went and those of ``new`` that came.

    >>> changed_words("for j in range(64):", "for j_0 in range(16):")
    ([(4, 5), (15, 17)], [(4, 7), (17, 19)])
    """
    a, b = _WORD.findall(old), _WORD.findall(new)
    at_a, at_b = _starts(a), _starts(b)
    gone: Ranges = []
    come: Ranges = []
    # What the lines have in common at both ends need not be searched.
    low, most = 0, min(len(a), len(b))
    while low < most and a[low] == b[low]:
        low += 1
    high = 0
    while high < most - low and a[-1 - high] == b[-1 - high]:
        high += 1
    x, y = a[low : len(a) - high], b[low : len(b) - high]
    codes: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(x), 0, len(y))]
    if not set(x).isdisjoint(y):
        codes = difflib.SequenceMatcher(None, x, y, autojunk=False).get_opcodes()
    for tag, i1, i2, j1, j2 in codes:
        if tag != "equal":
            _add(gone, at_a[low + i1], at_a[low + i2])
            _add(come, at_b[low + j1], at_b[low + j2])
    return gone, come


def _starts(words: Sequence[str]) -> list[int]:
    out = [0]
    for w in words:
        out.append(out[-1] + len(w))
    return out


def _add(ranges: Ranges, start: int, end: int) -> None:
    if start == end:
        return
    if ranges and ranges[-1][1] == start:
        ranges[-1] = (ranges[-1][0], end)
    else:
        ranges.append((start, end))


Pair = tuple[int | None, int | None]


def aligned(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Rows of line numbers (from 0), old and new: equal or similar lines side by side.

    Lines are compared without their indentation, so that one that only moved in or out is no change.
    """
    a, b = [x.strip() for x in old], [x.strip() for x in new]
    rows: list[Pair] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += zip(range(i1, i2), range(j1, j2), strict=True)
        else:
            rows += _matched(a, b, range(i1, i2), range(j1, j2))
    return rows


def _matched(a: Sequence[str], b: Sequence[str], left: range, right: range) -> list[Pair]:
    """Of changed lines, those that are alike side by side, in order; the others alone."""
    if len(left) * len(right) > 400:
        both = min(len(left), len(right))
        rows: list[Pair] = list(zip(left[:both], right[:both], strict=True))
        return [*rows, *[(i, None) for i in left[both:]], *[(None, j) for j in right[both:]]]
    # The best order-keeping matching, as for the longest common subsequence.
    words = {k: _WORD.findall(text[k]) for text, span in ((a, left),) for k in span}
    others = {k: _WORD.findall(b[k]) for k in right}
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    alike: dict[tuple[int, int], float] = {}
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            likeness = _likeness(words[left[i]], others[right[j]])
            alike[i, j] = likeness
            paired = best[i + 1][j + 1] + likeness if likeness >= _ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    out: list[Pair] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if alike[i, j] >= _ALIKE and best[i][j] == best[i + 1][j + 1] + alike[i, j]:
            out.append((left[i], right[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            out.append((left[i], None))
            i += 1
        else:
            out.append((None, right[j]))
            j += 1
    return [*out, *[(k, None) for k in left[i:]], *[(None, k) for k in right[j:]]]


def _likeness(a: Sequence[str], b: Sequence[str]) -> float:
    """How much of two lines is the same, from 0 to 1; lines that begin otherwise are not alike."""
    if not a or not b or a[0] != b[0]:
        return 0.0
    rest = list(b)
    common = 0
    for w in a:
        if w in rest:
            rest.remove(w)
            common += 1
    return 2 * common / (len(a) + len(b))


__all__ = ["aligned", "changed_words"]
