"""Printing programs as script: ``script`` gives the text, ``render`` also where each node stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tirscript.diagnostics import deep_recursion
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import Stmt

from .core import Printer
from .expr import EXPRS
from .module import function_name, print_function, print_module
from .stmt import STMTS


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
    annotate: Mapping[Any, str] | None = None,
) -> str:
    p = Printer(EXPRS, STMTS, sugar)
    with deep_recursion():
        if isinstance(obj, IRModule):
            p.out = [p.words["header_ir"], p.words["header_tir"], ""]
            print_module(p, obj)
        elif isinstance(obj, PrimFunc):
            p.out = [p.words["header_tir"], ""]
            print_function(p, obj, function_name(name or obj.name))
        elif isinstance(obj, Stmt):
            p.stmts[type(obj)](p, obj, True)
        else:
            p.line(p.expr(obj))
    return "\n".join(p.out)
