"""What a check of a definition finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tirscript.diagnostics import Mark, Span, TirscriptWarning, WellFormedError, render
from tirscript.ir import hooks
from tirscript.ir.expr import Expr, IntImm, Var
from tirscript.ir.node import Node

from .region import Axis


@dataclass(slots=True)
class Finding:
    """One thing to warn of; ``str`` is the text of the warning."""

    category: type[TirscriptWarning]
    code: str
    message: str
    node: Any
    span: Span | None = None
    notes: tuple[str, ...] = ()
    hint: str | None = None
    values: dict[Var, int] = field(default_factory=dict)

    def __str__(self) -> str:
        marks = [Mark(self.span)] if self.span is not None else []
        return render(f"[{self.code}]", self.message, marks=marks, notes=self.notes, hint=self.hint)

    def error(self) -> WellFormedError:
        """The same as an error of the verifier."""
        marks = [Mark(self.span)] if self.span is not None else []
        return WellFormedError(
            self.message, code=self.code, marks=marks, notes=list(self.notes), hint=self.hint
        )


def text_of(node: Node) -> str:
    if type(node) is IntImm:
        return str(node.value)
    return str(hooks.call("script", node))


def constant(e: Expr) -> int | None:
    return e.value if type(e) is IntImm else None


def constant_range(a: Axis) -> tuple[int, int, int] | None:
    """Lowest value, step and number of values, where they are constant."""
    low, extent = constant(a.min), constant(a.extent)
    step = 1
    if a.loop is not None and a.loop.step is not None:
        given = constant(a.loop.step)
        if given is None or given <= 0:
            return None
        step = given
    if low is None or extent is None:
        return None
    return low, step, max(0, -(-extent // step))


def values_text(at: dict[Var, int]) -> str:
    return ", ".join([f"{v.name}={n}" for v, n in at.items()])
