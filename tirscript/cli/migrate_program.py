"""``tirscript migrate``: the spellings of one era for those of another, as a difference or in place."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

from tirscript import display
from tirscript.display.objects import _colours
from tirscript.migrate import Remark, Unreadable, migrate_notebook, migrate_text
from tirscript.migrate.python import decoded

from . import UsageError


class _Result(NamedTuple):
    """The new file, the pieces to compare (a title, before, after), and the remarks, each with its title."""

    text: str
    pieces: list[tuple[str, str, str]]
    remarks: list[tuple[str, Remark]]


def execute(arguments: Namespace) -> int:
    if arguments.output is not None and len(arguments.program) > 1:
        raise UsageError("-o takes the result of one file; here there are several: use --in-place")
    if arguments.output is not None and arguments.in_place:
        raise UsageError("say -o OUT or --in-place, not both")
    if arguments.in_place and "-" in arguments.program:
        raise UsageError("standard input cannot be written in place")
    status = 0
    for name in arguments.program:
        status = max(status, _one(name, arguments))
    return status


def _one(name: str, arguments: Namespace) -> int:
    encoding = "utf-8"
    if name == "-":
        text = sys.stdin.read()
    else:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"no such file: {name}")
        try:
            text, encoding = decoded(path.read_bytes())
        except Unreadable as e:
            print(f"{name}: cannot be read: {e.message}", file=sys.stderr)
            return 1
    try:
        result = _migrate(name, text, arguments.to)
    except Unreadable as e:
        print(f"{name}:{e.line}:{e.column}: cannot be read: {e.message}", file=sys.stderr)
        return 1
    if arguments.output is not None:
        _write(arguments.output, result.text, encoding)
    elif arguments.in_place:
        if result.text != text:
            _write(name, result.text, encoding)
    else:
        _show(result.pieces)
    failed = False
    for title, r in result.remarks:
        failed |= r.certain
        word = "not rewritten" if r.certain else "note"
        print(f"{title}:{r.line}:{r.column}: {word}: {r.name}: {r.why}", file=sys.stderr)
    return 1 if failed else 0


def _migrate(name: str, text: str, to: str) -> _Result:
    if name.endswith(".ipynb"):
        nb = migrate_notebook(text, to)
        pieces = [(f"{name}:cell {n}", old, new) for n, old, new in nb.cells]
        return _Result(nb.text, pieces, [(f"{name}:cell {n}", r) for n, r in nb.remarks])
    done = migrate_text(text, to)
    return _Result(done.text, [(name, text, done.text)], [(name, r) for r in done.remarks])


def _write(name: str, text: str, encoding: str) -> None:
    if name == "-":
        sys.stdout.write(text)
        return
    try:
        with open(name, "w", encoding=encoding, newline="") as f:
            f.write(text)
    except OSError as e:
        raise UsageError(f"{name} cannot be written: {e.strerror}") from None


def _show(pieces: list[tuple[str, str, str]]) -> None:
    for title, old, new in pieces:
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), title, f"{title} (migrated)", lineterm=""
        )
        diff = "\n".join(lines)
        if diff:
            print(display.diff_ansi(diff) if _colours() else diff)
