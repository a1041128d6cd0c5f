"""Dialects of the script: the tables and words of each."""

from __future__ import annotations

from collections.abc import Mapping

from tirscript.diagnostics import TirscriptError, did_you_mean

from .core import ExprPrinter, Printer, StmtPrinter
from .expr import EXPRS
from .stmt import STMTS

DIALECTS = ("tirscript", "tvm-0.27")

Tables = tuple[Mapping[type, ExprPrinter], Mapping[type, StmtPrinter], Mapping[str, str]]


def tables(dialect: str) -> Tables:
    """The printers of expressions and statements and the words of ``dialect``."""
    if dialect == "tirscript":
        return EXPRS, STMTS, Printer.words
    raise TirscriptError(
        f"there is no dialect {dialect!r}; there are {', '.join(DIALECTS)}",
        code="unknown-dialect",
        hint=did_you_mean(dialect, DIALECTS),
    )
