"""Notebooks: the code cells as one program, each with its magics; outputs and all else stay as they are."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .edits import apply
from .python import Remark, Unreadable, _Migration, read

# Cell magics whose body is Python.
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%snakeviz", "%%memit")
_LINE = re.compile(
    r"(?P<indent>\s*)(?P<magic>%timeit|%time|%prun|%memit)\b(?P<options>(?:\s+-\w+(?:\s+\d+)?)*)\s+(?=\S)"
)


class MigratedNotebook(NamedTuple):
    """The text of the notebook, its cells before and after, and what could not be rewritten in which cell."""

    text: str
    cells: list[tuple[int, str, str]]  # number from 1, before, after
    remarks: list[tuple[int, Remark]]

    @property
    def complete(self) -> bool:
        return not any(r.certain for _, r in self.remarks)


def migrate_notebook(text: str, to: str) -> MigratedNotebook:
    """The text of a notebook file with its code cells in the spellings of ``to``."""
    try:
        nb = json.loads(text)
        cells = nb["cells"]
    except (ValueError, KeyError, TypeError) as e:
        raise Unreadable(f"this is no notebook: {e}", 1, 1) from None
    code = [(n, c) for n, c in enumerate(cells, 1) if isinstance(c, dict) and c.get("cell_type") == "code"]
    sources = [_source(c) for _, c in code]
    remarks: list[tuple[int, Remark]] = []
    masked = []
    for (number, _), source in zip(code, sources, strict=True):
        shown, why = mask(source)
        if why is not None:
            remarks.append(
                (number, Remark(why.line, why.column, "cell", f"it could not be read: {why.message}"))
            )
        masked.append(shown)
    whole = "".join([s + "\n" for s in sources])
    work = _work(whole, "".join([m + "\n" for m in masked]), to)
    after, starts = _split(sources, work)
    for r in work[1]:
        n = max(n for n, s in enumerate(starts) if s <= r.line)
        remarks.append((code[n][0], r._replace(line=r.line - starts[n] + 1)))
    changed = []
    for (number, cell), old, new in zip(code, sources, after, strict=True):
        changed.append((number, old, new))
        if new != old:
            cell["source"] = new.splitlines(keepends=True) if isinstance(cell.get("source"), list) else new
    return MigratedNotebook(_written(nb, text), changed, sorted(remarks))


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def _work(whole: str, masked: str, to: str) -> tuple[list[Any], list[Remark]]:
    """The edits of the joined cells."""
    from tirscript.diagnostics import deep_recursion

    with deep_recursion():
        work = _Migration(masked, to, read(masked))
        work.run()
    return work.edits, sorted(dict.fromkeys(work.remarks))


def _split(sources: list[str], work: tuple[list[Any], list[Remark]]) -> tuple[list[str], list[int]]:
    """Each cell with its edits, and the line that each begins at in the whole."""
    out, lines = [], []
    at, line = 0, 1
    for source in sources:
        end = at + len(source)
        own = [e._replace(start=e.start - at, end=e.end - at) for e in work[0] if at <= e.start <= end]
        out.append(apply(source, own))
        lines.append(line)
        line += source.count("\n") + 1
        at = end + 1
    return out, lines


def mask(source: str) -> tuple[str, Unreadable | None]:
    """A cell of the same length that is Python: what IPython alone understands, masked.

    >>> mask("!pip install x\\na = 1")[0]
    'pass          \\na = 1'
    >>> mask("%time sch = build(m)")[0]
    'if 1: sch = build(m)'
    """
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        if lines[first].split()[0] not in _PYTHON_CELLS:
            return _blank(source), None
        lines[first] = _pass(lines[first])
    for _ in range(len(lines) + 1):
        try:
            read("\n".join(lines))
            return "\n".join(lines), None
        except Unreadable as e:
            n = e.line - 1
            if not 0 <= n < len(lines) or not _mask_line(lines, n):
                return _blank(source), e
    return _blank(source), None


def _mask_line(lines: list[str], n: int) -> bool:
    """Mask line ``n``, or that which it continues, if it is IPython's; False where it is not."""
    while n and lines[n - 1].rstrip().endswith("\\"):
        n -= 1
    line = lines[n]
    text = line.strip()
    timed = _LINE.match(line)
    if timed and len(timed[0]) - len(timed["indent"]) >= 6:
        width = len(timed[0]) - len(timed["indent"])
        lines[n] = f"{timed['indent']}if 1{' ' * (width - 6)}: {line[timed.end() :]}"
        return True
    assigned = re.match(r"\s*[\w.,\s]+=\s*[%!]", line)
    if not (text[:1] in ("%", "!", "?") or text.endswith("?") or assigned):
        return False
    while n < len(lines) - 1 and lines[n].rstrip().endswith("\\"):
        lines[n] = _pass(lines[n]) if lines[n] is line else " " * len(lines[n])
        n += 1
    lines[n] = _pass(lines[n]) if lines[n] is line else " " * len(lines[n])
    return True


def _pass(line: str) -> str:
    """A line of the same length that does nothing."""
    indent = line[: len(line) - len(line.lstrip())]
    width = len(line) - len(indent)
    return indent + ("pass" if width >= 4 else "0").ljust(width) if width else line


def _blank(source: str) -> str:
    return "\n".join([" " * len(line) for line in source.split("\n")])


def _written(nb: Any, text: str) -> str:
    """The notebook as text, written as the file was."""
    end = "\n" if text.endswith("\n") else ""
    original = json.loads(text)
    for indent in (1, 2, 4, None, 0):
        for ascii_only in (False, True):
            for separators in (None, (",", ":")):
                options: dict[str, Any] = {
                    "indent": indent, "ensure_ascii": ascii_only, "separators": separators
                }  # fmt: skip
                if json.dumps(original, **options) + end == text:
                    return json.dumps(nb, **options) + end
    return json.dumps(nb, indent=1, ensure_ascii=False) + end


__all__ = ["MigratedNotebook", "mask", "migrate_notebook"]
