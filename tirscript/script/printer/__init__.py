"""Printing programs as script: ``script`` gives the text, ``render`` also where each node stands.

What is printed the parser reads back to a structurally equal program.  Anything can be printed: parts of
programs, lowered programs, programs with free variables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tirscript.diagnostics import Span, deep_recursion
from tirscript.ir.buffer import Buffer
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import Stmt
from tirscript.ir.visitor import free_vars

from .core import Printer
from .layout import decorate, lay_out
from .module import print_function, print_module
from .names import function_name
from .options import CARETS, around, indented, notes_of, own_options
from .record import Enough, LineFinder, Recorder, are_lines

__all__ = ["Rendered", "render", "script"]

P = TypeVar("P", bound=Printer)


@dataclass(frozen=True)
class Rendered:
    """A printed program: its text, and the span of each node where it stands first.

    A loop, a condition or a block has the span of its header line, an axis and an allocated buffer that
    of their line, a parameter its own range, an expression exactly its own characters.
    """

    text: str
    spans: dict[Any, Span]


def script(
    obj: Any,
    *,
    name: str | None = None,
    dialect: str = "tirscript",
    sugar: bool = True,
    width: int | None = None,
    show_meta: bool = True,
    line_numbers: bool = False,
    underline: Iterable[Any] = (),
    annotate: Mapping[Any, str] | Callable[[Any], str | None] | None = None,
    **more: Any,
) -> str:
    """The text of a function, a module, a statement, an expression or a buffer.

    ``name`` is the name of a function instead of its own.  ``dialect="tvm-0.27"`` prints what TVM 0.27
    parses to the same program.  ``sugar=False`` prints one loop and one axis a line.  ``width`` wraps
    longer lines inside brackets.  ``show_meta=False`` leaves the section with large constants out.
    ``underline`` are nodes to put carets under, ``annotate`` maps nodes to notes behind their lines, or is a
    function that gives them.  Further options are those of TVM (``obj_to_underline``, ``syntax_sugar``,
    ``indent_spaces``, ``num_context_lines`` ...).

    >>> from tirscript.ir.expr import Var
    >>> i = Var("i")
    >>> script((i + 1) * (i - (2 - i)))
    '(i + 1) * (i - (2 - i))'
    """
    if more:
        return _with_options(
            obj, more, name=name, dialect=dialect, sugar=sugar, width=width, show_meta=show_meta,
            line_numbers=line_numbers, underline=underline, annotate=annotate,
        )  # fmt: skip
    decorated = line_numbers or annotate or underline
    p: Printer = _printer(Recorder if decorated else Printer, dialect, sugar)
    _print(p, obj, name)
    lines, starts = lay_out(p.out, width)
    if isinstance(p, Recorder):
        text, spans = p.resolve(lines, starts, name or "script")
        if annotate is not None and not isinstance(annotate, Mapping):
            annotate = notes_of(annotate, spans)
        text = decorate(text, spans, underline, annotate, line_numbers)
    else:
        text = "\n".join(lines)
    if p.metadata and show_meta:
        from .metadata import dump

        text = "\n".join([text, "", *dump(p.metadata)])
    return text


def _with_options(obj: Any, more: dict[str, Any], **given: Any) -> str:
    """``script`` with options in TVM's spelling."""
    named = own_options(more)
    indent, context = named.pop("indent_spaces", 4), named.pop("num_context_lines", -1)
    given.update(named)
    given["underline"] = given["underline"] or ()
    text = script(obj, **given)
    if context is not None and context >= 0:
        carets = [
            n
            for n, line in enumerate(text.split("\n"))
            if CARETS.fullmatch(line.partition(" | ")[2] if given["line_numbers"] else line)
        ]
        text = around(text, carets, context)
    return indented(text, indent)


def render(
    obj: Any,
    *,
    sugar: bool = True,
    dialect: str = "tirscript",
    name: str | None = None,
    only: Container[Any] | None = None,
    whole: bool = True,
) -> Rendered:
    """The text of ``obj`` and the span of each node in it, or of each one in ``only``.  ``name`` is what
    errors call the text.  Without ``whole`` the text may end behind the last line that is wanted.

    >>> from tirscript.ir.expr import Var
    >>> i = Var("i")
    >>> product = i * 2
    >>> span = render(product + 1).spans[product]
    >>> span.column, span.end_column
    (0, 5)
    """
    p: Recorder | LineFinder
    if isinstance(only, (set, frozenset)) and are_lines(only):
        p = _printer(LineFinder, dialect, sugar)
        p.find(only, not whole and _prints_once(obj))
    else:
        p = _printer(Recorder, dialect, sugar)
        p.only = only
    with contextlib.suppress(Enough):
        _print(p, obj, None)
    lines, starts = lay_out(p.out, None)
    shown = name or (
        obj.name if isinstance(obj, PrimFunc) else "module" if isinstance(obj, IRModule) else "script"
    )
    text, spans = p.resolve(lines, starts, shown)
    if p.metadata:
        from .metadata import dump

        text = "\n".join([text, "", *dump(p.metadata)])
    return Rendered(text, spans)


def _prints_once(obj: Any) -> bool:
    """Whether the first lines of a function stay as they are whatever follows: a handle that its body uses
    changes them."""
    if type(obj) is not PrimFunc:
        return False
    try:
        return free_vars(obj.body).isdisjoint(obj.buffer_map)
    except RecursionError:
        return False


def _printer(kind: type[P], dialect: str, sugar: bool) -> P:
    from .dialect import tables

    exprs, stmts, words = tables(dialect)
    p = kind(exprs, stmts, sugar)
    p.words = words
    return p


def _print(p: Printer, obj: Any, name: str | None) -> None:
    with deep_recursion():
        if isinstance(obj, IRModule):
            p.out = [p.words["header_ir"], p.words["header_tir"], ""]
            print_module(p, obj)
        elif isinstance(obj, PrimFunc):
            p.out = [p.words["header_tir"], ""]
            print_function(p, obj, function_name(name or obj.name))
        elif isinstance(obj, Stmt):
            p.stmts[type(obj)](p, obj, True)
        elif isinstance(obj, Buffer):
            from .value import buffer_text

            p.line(f"T.Buffer({buffer_text(p, obj, True)})")
        else:
            p.line(p.expr(obj))
