"""The trace: every instruction of a schedule, to be read, replayed and written as Python or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from tirscript.diagnostics import ScheduleValueError
from tirscript.ir import hooks
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, FloatImm, IntImm, StringImm

from .errors import argument
from .refs import BlockRV, ExprRV, LoopRV

if TYPE_CHECKING:
    from .schedule import Schedule


class InstructionKind:
    """A kind of instruction: TVM's ``name``, the ``method`` of Schedule and its parameters.

    ``attrs`` of the parameters, the last ones, are attributes; the others are inputs.  With ``variadic``
    the first parameter takes any number of arguments.  A kind that is no ``step`` only looks.
    """

    __slots__ = ("attrs", "check", "method", "name", "params", "rewrite", "step", "variadic")
    table: ClassVar[dict[str, InstructionKind]] = {}

    def __init__(
        self,
        name: str,
        method: str,
        params: tuple[str, ...],
        check: Callable[..., Any],
        rewrite: Callable[..., Any],
        *,
        attrs: int = 0,
        variadic: bool = False,
        step: bool = True,
    ) -> None:
        self.name = name
        self.method = method
        self.params = params
        self.attrs = attrs
        self.variadic = variadic
        self.step = step
        self.check = check
        self.rewrite = rewrite
        InstructionKind.table[name] = self

    @staticmethod
    def get(name: str) -> InstructionKind:
        """The kind of that name, TVM's older and newer spellings included."""
        found = InstructionKind.table.get(name) or InstructionKind.table.get(name.replace("SBlock", "Block"))
        if found is None:
            raise ScheduleValueError(f"no instruction is called {name!r}", code="unknown-instruction")
        return found

    def __repr__(self) -> str:
        return f"InstructionKind({self.name})"


class Instruction:
    """One call of a primitive: its kind, arguments in the order of the parameters, and results."""

    __slots__ = ("args", "kind", "result")

    def __init__(self, kind: InstructionKind, args: tuple[Any, ...], result: Any) -> None:
        self.kind = kind
        self.args = args
        self.result = result

    @property
    def inputs(self) -> list[Any]:
        """Loops, blocks, factors: what an earlier instruction may have produced."""
        out: list[Any] = []
        for a in self.args[: len(self.args) - self.kind.attrs]:
            if isinstance(a, (list, tuple)) and self.kind.method != "annotate":
                out += a
            else:
                out.append(a)
        return out

    @property
    def attrs(self) -> list[Any]:
        """Names and flags."""
        return list(self.args[len(self.args) - self.kind.attrs :])

    @property
    def outputs(self) -> list[Any]:
        if self.result is None:
            return []
        return list(self.result) if isinstance(self.result, (list, tuple)) else [self.result]

    def handles(self) -> list[Any]:
        """The loops and blocks among the results."""
        return [o for o in self.outputs if isinstance(o, (LoopRV, BlockRV))]

    @property
    def text(self) -> str:
        """The call as in an error: names of loops and blocks, defaults left out."""
        parts: list[str] = []
        for n, (name, value) in enumerate(zip(self.kind.params, self.args, strict=False)):
            if n == 0 and self.kind.variadic:
                parts += [argument(v) for v in value]
            elif name in _DEFAULTS and value is _DEFAULTS[name]:
                continue
            else:
                parts.append(f"{name}={argument(value)}" if name in _DEFAULTS else argument(value))
        return f"{self.kind.method}({', '.join(parts)})"

    def __repr__(self) -> str:
        return self.text


_DEFAULTS: dict[str, Any] = {
    "preserve_unit_iters": True,
    "disable_predication": False,
    "func_name": None,
    "consumer_blocks": None,
    "preserve_unit_loops": False,
    "index": -1,
    "pad_value": None,
    "assume_injective_transform": False,
    "cse_thresh": 0,
}


class Lines(list[str]):
    """Lines of Python; ``str`` joins them."""

    def __str__(self) -> str:
        return "\n".join(self)


class Trace:
    """The instructions of a schedule in order.

    ``as_python`` gives statements over ``sch`` that do the same again on a fresh copy of the program.
    """

    def __init__(
        self,
        insts: list[Instruction] | None = None,
        decisions: dict[Instruction, Any] | None = None,
        *,
        checked: bool = True,
    ) -> None:
        self.insts = list(insts or [])
        self.decisions = dict(decisions or {})
        self.checked = checked

    def __len__(self) -> int:
        return len(self.insts)

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.insts)

    def append(self, inst: Instruction, decision: Any = None) -> None:
        """Add an instruction at the end."""
        self.insts.append(inst)
        if decision is not None:
            self.decisions[inst] = decision

    def pop(self) -> Instruction | None:
        """Remove the last instruction and return it; None where there is none."""
        if not self.insts:
            return None
        last = self.insts.pop()
        self.decisions.pop(last, None)
        return last

    def get_decision(self, inst: Instruction) -> Any:
        return self.decisions.get(inst)

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """Without instructions that only look and whose results nothing uses."""
        used: set[Any] = set()
        kept: list[Instruction] = []
        for inst in reversed(self.insts):
            if inst.kind.step or any(o in used for o in inst.handles()):
                kept.append(inst)
                used.update([i for i in _flat(inst.args) if isinstance(i, (LoopRV, BlockRV))])
        kept.reverse()
        return Trace(kept, self.decisions, checked=self.checked)

    def apply_to_schedule(
        self, sch: Schedule, remove_postproc: bool = False, decision_provider: Any = None
    ) -> None:
        """Run the instructions on another schedule."""
        known: dict[Any, Any] = {}

        def here(value: Any) -> Any:
            if isinstance(value, (LoopRV, BlockRV)):
                return known.get(value, value)
            if isinstance(value, (list, tuple)):
                return [here(v) for v in value]
            return value

        for inst in self.insts:
            args = [here(a) for a in inst.args]
            result = _call(sch, inst.kind, args)
            made = [] if result is None else result if isinstance(result, (list, tuple)) else [result]
            if len(made) != len(inst.outputs):
                raise ScheduleValueError(
                    f"{inst.text} gave {len(made)} results, the trace has {len(inst.outputs)}",
                    code="trace-mismatch",
                    hint="the trace was made for another program",
                )
            known.update(zip(inst.outputs, made, strict=True))

    def as_python(self) -> Lines:
        """The statements that do the same on a schedule ``sch``, one a line."""
        names = _Names()
        out = Lines()
        if not self.checked:
            out.append("# made with enable_check=False: legality was not tested")
        for inst in self.insts:
            kind = inst.kind
            parts: list[str] = []
            for n, (name, value) in enumerate(zip(kind.params, inst.args, strict=True)):
                if n == 0 and kind.variadic:
                    parts += [names.python(v) for v in value]
                else:
                    parts.append(f"{name}={names.python(value)}")
            call = f"sch.{kind.method}({', '.join(parts)})"
            made = [names.new(o) for o in inst.outputs]
            target = ""
            if isinstance(inst.result, (list, tuple)):
                target = f"{', '.join(made)}{',' if len(made) == 1 else ''} = " if made else ""
            elif made:
                target = f"{made[0]} = "
            out.append(target + call)
        return out

    def __str__(self) -> str:
        body = [f"  {line}" for line in self.as_python()] or ["  pass"]
        return "\n".join(
            ["# from tirscript import tir", "def apply_trace(sch: tir.Schedule) -> None:", *body]
        )

    __repr__ = __str__

    def show(self, style: str | None = None, black_format: bool = False) -> None:
        """Show the trace as Python: HTML in a notebook, colours in a terminal."""
        hooks.call("show", self, style=style, black_format=black_format)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle

    def as_json(self, remove_postproc: bool = False) -> Any:
        """``[[[kind, inputs, attrs, outputs], ...], decisions]``: plain lists that ``json`` can write."""
        names = _Names()
        insts = []
        for inst in self.insts:
            inputs = [names.json(v) for v in inst.inputs]
            attrs = [names.json(v) for v in inst.attrs]
            insts.append([inst.kind.name, inputs, attrs, [names.new(o) for o in inst.outputs]])
        return [insts, []]

    @staticmethod
    def apply_json_to_schedule(json_obj: Any, sch: Schedule) -> None:
        """Run what ``as_json`` gave (the lists, or their text) on a schedule."""
        data = json.loads(json_obj) if isinstance(json_obj, str) else json_obj
        known: dict[str, Any] = {}

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
                return {here(k): here(v) for k, v in value.items()}
            return value

        for name, inputs, attrs, outputs in data[0]:
            kind = InstructionKind.get(name)
            values = [here(v) for v in inputs]
            count = len(kind.params) - kind.attrs
            if kind.variadic:
                values = [values]
            elif len(values) > count:  # a list was spread: factors
                values = [*values[: count - 1], values[count - 1 :]]
            elif kind.method == "split" and count == 2:
                values = [values[0], values[1:]]
            result = _call(sch, kind, [*values, *[here(a) for a in attrs]])
            made = [] if result is None else result if isinstance(result, (list, tuple)) else [result]
            known.update(zip(outputs, made, strict=True))


def _call(sch: Schedule, kind: InstructionKind, args: list[Any]) -> Any:
    method = getattr(sch, kind.method)
    if kind.variadic:
        return method(*args[0], **dict(zip(kind.params[1:], args[1:], strict=True)))
    return method(**dict(zip(kind.params, args, strict=True)))


def _flat(values: Any) -> Iterator[Any]:
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        else:
            yield v


class _Names:
    """Names of results: b0, l1, l2, v3 ..."""

    def __init__(self) -> None:
        self.known: dict[Any, str] = {}
        self.count = 0

    def new(self, output: Any) -> str:
        letter = "l" if isinstance(output, LoopRV) else "b" if isinstance(output, BlockRV) else "v"
        name = self.known[output] = f"{letter}{self.count}"
        self.count += 1
        return name

    def python(self, value: Any) -> str:
        if isinstance(value, (LoopRV, BlockRV, ExprRV)):
            return self.known.get(value) or argument(value)
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join([self.python(v) for v in value]) + "]"
        if isinstance(value, dict):
            return "{" + ", ".join([f"{self.python(k)}: {self.python(v)}" for k, v in value.items()]) + "}"
        value = plain(value)
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

    def json(self, value: Any) -> Any:
        if isinstance(value, (LoopRV, BlockRV, ExprRV)):
            return self.known.get(value) or argument(value)
        if value is None:
            return "None"
        if isinstance(value, (list, tuple)):
            return [self.json(v) for v in value]
        if isinstance(value, dict):
            return {self.json(k): self.json(v) for k, v in value.items()}
        written = getattr(value, "as_json", None)
        value = self.json(written()) if written is not None else plain(value)
        return json.dumps(value) if isinstance(value, str) else value


def plain(value: Any) -> Any:
    """A constant expression as a Python value; other expressions as their text."""
    if isinstance(value, (IntImm, FloatImm, StringImm)):
        return bool(value.value) if value.dtype == "bool" else value.value
    if isinstance(value, Buffer):
        return value.name
    if isinstance(value, Expr):
        return argument(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a NumPy scalar
        return value.item()
    return value
