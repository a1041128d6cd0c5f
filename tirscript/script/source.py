"""Finding the text of a definition: from the frame of its decorator, through ``linecache``.

``inspect.getsource`` fails for classes that are defined in a notebook and takes the first of two
definitions of one name; the frame knows the file and the line.
"""

from __future__ import annotations

import ast
import collections
import linecache
import sys
import threading
import types
from collections.abc import Sequence
from typing import Any

from tirscript.diagnostics import Mark, ParseError, Source, Span, deep_recursion

Definition = ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef


class Text:
    """A parsed text: its ``Source``, its tree and its definitions."""

    __slots__ = ("ascii_only", "definitions", "source", "tree")

    def __init__(self, source: Source, tree: ast.Module, ascii_only: bool) -> None:
        self.source = source
        self.tree = tree
        self.ascii_only = ascii_only
        self.definitions: list[Definition] | None = None

    def find(self, kind: type, name: str, line: int) -> Any:
        """The innermost definition of that kind and name whose span, decorators included, holds the line."""
        if self.definitions is None:
            self.definitions = [
                n
                for n in ast.walk(self.tree)
                if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))
            ]
        found = None
        for d in self.definitions:
            if type(d) is kind and d.name == name and first_line(d) <= line <= (d.end_lineno or d.lineno):
                if found is None or first_line(d) >= first_line(found):
                    found = d
        return found


def first_line(definition: Definition) -> int:
    """The line of the first decorator, or of the definition."""
    return min([definition.lineno, *[d.lineno for d in definition.decorator_list]])


def parse_text(text: str, filename: str = "<script>") -> Text:
    """Parse a text with Python's grammar; a text that is indented as a whole is taken as it stands."""
    source = Source(filename, text)
    indented = text.lstrip("\n")[:1] in (" ", "\t") and _is_indented(source.lines)
    tree = python_tree("if 1:\n" + text if indented else text, source, 1 if indented else 0)
    if indented:
        block = tree.body[0]
        assert isinstance(block, ast.If)
        tree = ast.Module(block.body, [])
        ast.increment_lineno(tree, -1)
    return Text(source, tree, text.isascii())


def _is_indented(lines: Sequence[str]) -> bool:
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            return line[:1] in (" ", "\t")
    return False


def python_tree(text: str, source: Source, shift: int = 0) -> ast.Module:
    """The tree of a text; what Python refuses is a ParseError with its place."""
    try:
        return ast.parse(text)
    except SyntaxError as e:
        raise _syntax_error(e, source, shift) from None
    except (RecursionError, MemoryError):
        return _deep_tree(text, source, shift)
    except ValueError as e:  # a null byte
        raise ParseError(f"this is no text: {e}", code="syntax", location=source.name) from None


def _deep_tree(text: str, source: Source, shift: int) -> ast.Module:
    """Parse once more with a large stack: Python's parser recurses in C."""
    result: list[Any] = []

    def work() -> None:
        try:
            with deep_recursion():
                result.append(ast.parse(text))
        except BaseException as e:
            result.append(e)

    old = threading.stack_size(512 * 1024 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(old)
    thread.join()
    tree = result[0]
    if isinstance(tree, ast.Module):
        return tree
    if isinstance(tree, SyntaxError):
        raise _syntax_error(tree, source, shift)
    raise ParseError(
        "an expression is nested deeper than Python's parser can read "
        f"(its stack holds some 6,000 levels; the recursion limit is {sys.getrecursionlimit()})",
        code="python-limit",
        location=source.name,
        hint="name parts of the expression, or sum in a loop",
    )


_LIMITS = {
    "too many levels of indentation": "Python reads at most 100 levels of indentation; T.grid holds many",
    "too many nested parentheses": "Python reads at most 200 open brackets; name parts of the expression",
    "too many statically nested blocks": "Python compiles at most 20 nested loops; T.grid holds many",
}


def _syntax_error(e: SyntaxError, source: Source, shift: int) -> ParseError:
    message = e.msg or "invalid syntax"
    limit = next((hint for text, hint in _LIMITS.items() if text in message), None)
    line = max(1, (e.lineno or 1) - shift)
    column = max(0, (e.offset or 1) - 1)
    end_line = max(line, (e.end_lineno or e.lineno or 1) - shift)
    end = max(column + 1, (e.end_offset or 0) - 1) if end_line == line else column + 1
    return ParseError(
        message,
        code="python-limit" if limit else "python-syntax",
        marks=[Mark(Span(source, line, column, end_line, end))],
        hint=limit,
    )


# ---- files, notebook cells, `python -c`

_texts: dict[str, tuple[list[str], Text]] = {}
_texts_lock = threading.Lock()


def text_of_frame(frame: types.FrameType) -> Text | None:
    """The text of the file or cell that runs in ``frame``, None where it cannot be found."""
    filename = frame.f_code.co_filename
    lines = _lines(filename, frame)
    if not lines:
        return None
    with _texts_lock:
        known = _texts.get(filename)
    name = display_name(filename)
    if known is not None and known[0] == lines and known[1].source.name == name:
        return known[1]
    try:
        text = parse_text("".join(lines), name)
    except ParseError:
        return None
    with _texts_lock:
        if len(_texts) >= 16:
            _texts.pop(next(iter(_texts)))
        _texts[filename] = lines, text
    return text


def _lines(filename: str, frame: types.FrameType) -> list[str]:
    if filename == "<string>":
        return _command_line(frame)
    linecache.checkcache(filename)
    return linecache.getlines(filename, frame.f_globals)


def _command_line(frame: types.FrameType) -> list[str]:
    """The text of ``python -c``, where the frame runs as the main program."""
    if frame.f_globals.get("__name__") != "__main__":
        return []
    arguments = sys.orig_argv
    for k, a in enumerate(arguments[:-1]):
        if a == "-c":
            return arguments[k + 1].splitlines(keepends=True)
        if k > 0 and not a.startswith("-"):
            break
    return []


def _cell_name(filename: str) -> str | None:
    """``Cell In[3]`` for the file name that IPython made up for a cell, as its own tracebacks say."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    named = None if name_of is None else name_of(filename)
    return None if named is None else " ".join(named)


def display_name(filename: str) -> str:
    """What stands before the line number: a path relative to the working directory where that is shorter."""
    import os

    cell = _cell_name(filename)
    if cell is not None or filename.startswith("<"):
        return cell or filename
    try:
        relative = os.path.relpath(filename)
    except ValueError:
        return filename
    return relative if not relative.startswith("..") else filename


_registered: collections.deque[str] = collections.deque()


def register(filename: str, text: str) -> None:
    """Make ``linecache`` know a text, so that tracebacks and later definitions find it."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    _registered.append(filename)
    if len(_registered) > 256:
        linecache.cache.pop(_registered.popleft(), None)


def missing_source(name: str, filename: str = "") -> ParseError:
    """The error for a definition whose text cannot be found."""
    if filename.startswith("<stdin>"):
        hint = "Python's prompt keeps no source: use a file, IPython, or give the text to ts.parse(text)"
    else:
        hint = "it is in no file or notebook cell (exec, eval): give its text to ts.parse(text)"
    return ParseError(
        f"the source of `{name}` could not be found",
        code="no-source",
        hint=hint,
    )
