"""How a trace is written, as Python and as JSON, and read again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from tirscript.diagnostics import ScheduleValueError
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, FloatImm, IntImm, StringImm, Var
from tirscript.ir.visitor import free_vars

from ..errors import argument, expr_text
from ..refs import BlockRV, ExprRV, LoopRV


class Lines(list[str]):
    """Lines of Python; ``str`` joins them."""

    def __str__(self) -> str:
        return "\n".join(self)


class Names:
    """Names of results: b0, l1, l2, v3 ..."""

    def __init__(self) -> None:
        self.known: dict[Any, str] = {}
        self.count = 0

    def new(self, output: Any) -> str:
        letter = "l" if isinstance(output, LoopRV) else "b" if isinstance(output, BlockRV) else "v"
        name = f"{letter}{self.count}"
        self.count += 1
        if output is not None:
            self.known[output] = name
        return name

    def python(self, value: Any) -> str:
        if isinstance(value, ExprRV):
            return self.known.get(value) or self._computed(value)
        if isinstance(value, (LoopRV, BlockRV)):
            return self.known.get(value) or argument(value)
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join([self.python(v) for v in value]) + "]"
        if isinstance(value, dict):
            return "{" + ", ".join([f"{self.python(k)}: {self.python(v)}" for k, v in value.items()]) + "}"
        if _is_symbolic(value):
            return f"sch.expr({json.dumps(expr_text(value), ensure_ascii=False)})"
        written = getattr(value, "as_python", None)
        if written is not None:
            return str(written())
        value = plain(value)
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        return repr(value)

    def _computed(self, value: ExprRV) -> str:
        if value.of is None:
            return str(value.value)
        op, a, b = value.of
        return f"({self.python(a)} {op} {self.python(b)})"

    def json(self, value: Any) -> Any:
        if isinstance(value, ExprRV):
            known = self.known.get(value)
            if known is not None or value.of is None:
                return known or value.value
            op, a, b = value.of
            return {"op": op, "of": [self.json(a), self.json(b)]}
        if isinstance(value, (LoopRV, BlockRV)):
            return self.known.get(value) or argument(value)
        if value is None:
            return "None"
        if isinstance(value, (list, tuple)):
            return [self.json(v) for v in value]
        if isinstance(value, dict):
            return {self.json(k): self.json(v) for k, v in value.items()}
        if _is_symbolic(value):
            return {"expr": expr_text(value)}
        written = getattr(value, "as_json", None)
        value = self.json(written()) if written is not None else plain(value)
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}  # JSON has no such numbers
        return json.dumps(value) if isinstance(value, str) else value


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Expr) and not isinstance(value, (IntImm, FloatImm, StringImm))


def plain(value: Any) -> Any:
    """A constant expression as a Python value; a buffer by its name."""
    if isinstance(value, (IntImm, FloatImm, StringImm)):
        return bool(value.value) if value.dtype == "bool" else value.value
    if isinstance(value, Buffer):
        return value.name
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a NumPy scalar
        return value.item()
    return value


def read_json(value: Any, known: Mapping[str, Any], expression: Callable[[str], Expr]) -> Any:
    """What ``Names.json`` wrote; ``known`` are the results so far."""

    def here(value: Any) -> Any:
        if isinstance(value, str):
            if value == "None":
                return None
            if value.startswith('"'):
                return json.loads(value)
            if value in known:
                return known[value]
            raise ScheduleValueError(f"the trace uses {value!r} before it is made", code="trace-mismatch")
        if isinstance(value, list):
            return [here(v) for v in value]
        if isinstance(value, dict):
            # Keys of dicts that were written are quoted; these are not.
            if value.keys() == {"expr"}:
                return expression(value["expr"])
            if value.keys() == {"float"}:
                return float(value["float"])
            if value.keys() == {"op", "of"}:
                return ExprRV.computed(value["op"], *[here(v) for v in value["of"]])
            return {here(k): here(v) for k, v in value.items()}
        return value

    return here(value)


def replaced(value: Any, known: Mapping[Any, Any]) -> Any:
    """An argument with the handles and sampled numbers of another run."""
    if isinstance(value, (LoopRV, BlockRV)):
        return known.get(value, value)
    if isinstance(value, ExprRV):
        if value in known or value.of is None:
            return known.get(value, value)
        op, a, b = value.of
        a, b = replaced(a, known), replaced(b, known)
        # A result of another program may be no number: a tile of a loop of unknown extent.
        return None if a is None or b is None else ExprRV.computed(op, a, b)
    if isinstance(value, (list, tuple)):
        return [replaced(v, known) for v in value]
    return value


def sources(value: Any) -> list[Any]:
    """The results of earlier instructions that an argument is made of."""
    if isinstance(value, (LoopRV, BlockRV)):
        return [value]
    if isinstance(value, ExprRV):
        return [value] if value.of is None else [s for v in value.of[1:] for s in sources(v)]
    if isinstance(value, (list, tuple)):
        return [s for v in value for s in sources(v)]
    return []


def variables_of(value: Any) -> list[Var]:
    """The variables of a symbolic argument."""
    return list(free_vars(value)) if _is_symbolic(value) else []


__all__ = ["Lines", "Names", "plain", "read_json", "replaced", "sources", "variables_of"]
