"""The trace: every instruction of a schedule, to be read, replayed and written as Python or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tirscript.diagnostics import ScheduleValueError, did_you_mean
from tirscript.ir import hooks

from ..errors import argument
from ..refs import BlockRV, ExprRV, LoopRV
from .trace_text import Lines, Names, plain, read_json, replaced, sources

if TYPE_CHECKING:
    from ..schedule import Schedule


class InstructionKind:
    """A kind of instruction: TVM's ``name``, the ``method`` of Schedule and its parameters.

    ``attrs`` of the parameters, the last ones, are attributes; the others are inputs.  With ``variadic``
    the first parameter takes any number of arguments.  A kind that is no ``step`` leaves the program as it
    is; what it gives may depend on a decision (``decides``).
    """

    __slots__ = (
        "attrs",
        "check",
        "decides",
        "method",
        "name",
        "params",
        "pure",
        "rewrite",
        "step",
        "variadic",
    )
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
        decides: bool = False,
        pure: bool | None = None,
    ) -> None:
        self.name = name
        self.method = method
        self.params = params
        self.attrs = attrs
        self.variadic = variadic
        self.step = step
        self.decides = decides
        # Nothing is lost with an instruction whose results nothing uses.
        self.pure = not step if pure is None else pure
        self.check = check
        self.rewrite = rewrite
        InstructionKind.table[name] = self

    @staticmethod
    def get(name: str) -> InstructionKind:
        """The kind of that name, TVM's older and newer spellings included."""
        table = InstructionKind.table
        found = None
        if isinstance(name, str):
            found = table.get(name) or table.get(name.replace("SBlock", "Block"))
        if found is None:
            raise ScheduleValueError(
                f"no instruction is called {name!r}",
                code="unknown-instruction",
                hint=did_you_mean(str(name), table),
            )
        return found

    @property
    def is_pure(self) -> bool:
        """Whether an instruction of this kind only gives results."""
        return self.pure

    def __repr__(self) -> str:
        return f"InstructionKind({self.name})"


class Instruction:
    """One call of a primitive: its kind, arguments in the order of the parameters, and results."""

    __slots__ = ("args", "group", "kind", "result")

    def __init__(
        self, kind: InstructionKind, args: tuple[Any, ...], result: Any, group: str | None = None
    ) -> None:
        self.kind = kind
        self.args = args
        self.result = result
        self.group = group  # the named step that it belongs to

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

    def makes(self, used: set[Any]) -> bool:
        """Whether one of its results is among ``used``."""
        return any(isinstance(o, (LoopRV, BlockRV, ExprRV)) and o in used for o in self.outputs)

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

    def with_decision(self, inst: Instruction, decision: Any, remove_postproc: bool = False) -> Trace:
        """A trace in which ``inst``, one of this one's, decides otherwise."""
        if not any(i is inst for i in self.insts):
            raise ScheduleValueError("the instruction is not in this trace", code="unknown-instruction")
        if not inst.kind.decides:
            raise ScheduleValueError(f"{inst.text} decides nothing", code="no-decision")
        kept = self._until_postproc() if remove_postproc else self.insts
        decisions = {i: d for i, d in self.decisions.items() if any(i is k for k in kept)}
        if any(i is inst for i in kept):
            decisions[inst] = decision
        return Trace(kept, decisions, checked=self.checked)

    def _until_postproc(self) -> list[Instruction]:
        for n, inst in enumerate(self.insts):
            if inst.kind.name == "EnterPostproc":
                return self.insts[:n]
        return self.insts

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """Without instructions that only give results, which nothing uses."""
        used: set[Any] = set()
        kept: list[Instruction] = []
        for inst in reversed(self._until_postproc() if remove_postproc else self.insts):
            if not inst.kind.pure or inst.makes(used):
                kept.append(inst)
                used.difference_update(o for o in inst.outputs if o is not None)
                used.update(sources(inst.args))
        kept.reverse()
        decisions = {i: self.decisions[i] for i in kept if i in self.decisions}
        return Trace(kept, decisions, checked=self.checked)

    def apply_to_schedule(
        self,
        sch: Schedule,
        remove_postproc: bool = False,
        decision_provider: Callable[[Instruction, list[Any], list[Any], Any], Any] | None = None,
    ) -> None:
        """Run the instructions on another schedule.

        ``decision_provider(inst, inputs, attrs, decision)`` gives the decision of each sampling instruction,
        where it is given; None lets it be drawn.  ``remove_postproc`` leaves out what comes after
        ``enter_postproc``.
        """
        known: dict[Any, Any] = {}
        for inst in self._until_postproc() if remove_postproc else self.insts:
            args = [replaced(a, known) for a in inst.args]
            decision = self.decisions.get(inst)
            if decision_provider is not None and inst.kind.decides:
                inputs = [replaced(a, known) for a in inst.inputs]
                decision = decision_provider(inst, inputs, inst.attrs, decision)
            result = _call(sch, inst.kind, args, decision)
            made = _results(result)
            if len(made) != len(inst.outputs):
                raise ScheduleValueError(
                    f"{inst.text} gave {len(made)} results, the trace has {len(inst.outputs)}",
                    code="trace-mismatch",
                    hint="the trace was made for another program",
                )
            known.update((a, b) for a, b in zip(inst.outputs, made, strict=True) if a is not None)

    def as_python(self, remove_postproc: bool = False) -> Lines:
        """The statements that do the same on a schedule ``sch``, one a line."""
        names = Names()
        out = Lines()
        if not self.checked:
            out.append("# made with enable_check=False: legality was not tested")
        for inst in self._until_postproc() if remove_postproc else self.insts:
            kind = inst.kind
            parts: list[str] = []
            for n, (name, value) in enumerate(zip(kind.params, inst.args, strict=True)):
                if n == 0 and kind.variadic:
                    parts += [names.python(v) for v in value]
                else:
                    parts.append(f"{name}={names.python(value)}")
            decision = self.decisions.get(inst)
            if decision is not None:
                parts.append(f"decision={names.python(decision)}")
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
        """``[[[kind, inputs, attrs, outputs], ...], [[number, decision], ...]]``: plain lists that ``json``
        can write."""
        names = Names()
        insts: list[Any] = []
        decisions: list[Any] = []
        for n, inst in enumerate(self._until_postproc() if remove_postproc else self.insts):
            inputs = [names.json(v) for v in _spread(inst)]
            attrs = [names.json(v) for v in inst.attrs]
            insts.append([inst.kind.name, inputs, attrs, [names.new(o) for o in inst.outputs]])
            if inst in self.decisions:
                decisions.append([n, names.json(self.decisions[inst])])
        return [insts, decisions]

    @staticmethod
    def apply_json_to_schedule(json_obj: Any, sch: Schedule) -> None:
        """Run what ``as_json`` gave (the lists, or their text) on a schedule."""
        insts, decisions = _parts_of(json_obj)
        known: dict[str, Any] = {}

        def here(value: Any) -> Any:
            return read_json(value, known, sch.expr)

        for n, (name, inputs, attrs, outputs) in enumerate(insts):
            kind = InstructionKind.get(name)
            values = [here(v) for v in inputs]
            count = len(kind.params) - kind.attrs
            if kind.variadic:
                values = [values]
            elif len(values) > count:  # a list was spread: factors
                values = [*values[: count - 1], values[count - 1 :]]
            elif kind.method == "split" and count == 2:
                values = [values[0], values[1:]]
            args = [*values, *[here(a) for a in attrs]]
            if len(args) != len(kind.params):
                raise _mismatch(f"{name} takes {', '.join(kind.params)}; the trace has {len(args)} arguments")
            made = _results(_call(sch, kind, args, here(decisions.get(n))))
            if len(made) != len(outputs):
                raise _mismatch(f"{name} gave {len(made)} results, the trace has {len(outputs)}")
            known.update(zip(outputs, made, strict=True))


def _spread(inst: Instruction) -> list[Any]:
    """The inputs with the loops of ``fuse(*loops)`` and the factors of ``split`` among them, as TVM's."""
    kind = inst.kind
    inputs = list(inst.args[: len(inst.args) - kind.attrs])
    if kind.variadic:
        return [*inputs[0], *inputs[1:]]
    if kind.method == "split":
        return [inputs[0], *inputs[1]]
    return inputs


def _parts_of(json_obj: Any) -> tuple[list[Any], Mapping[int, Any]]:
    """The instructions and decisions of a trace that was written as JSON."""
    try:
        data = json.loads(json_obj) if isinstance(json_obj, (str, bytes)) else json_obj
        insts = [(str(kind), list(inputs), list(attrs), list(made)) for kind, inputs, attrs, made in data[0]]
        return insts, {int(n): d for n, d in (data[1] if len(data) > 1 else ())}
    except (TypeError, ValueError, KeyError, IndexError) as e:
        raise _mismatch(f"this is no trace as JSON: {type(e).__name__}: {e}") from None


def _mismatch(message: str) -> ScheduleValueError:
    return ScheduleValueError(message, code="trace-mismatch")


def _results(result: Any) -> list[Any]:
    return [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]


def run(sch: Schedule, kind: InstructionKind, args: list[Any], decision: Any = None) -> list[Any]:
    """Run an instruction on a schedule; its results."""
    return _results(_call(sch, kind, args, decision))


def _call(sch: Schedule, kind: InstructionKind, args: list[Any], decision: Any = None) -> Any:
    method = getattr(sch, kind.method)
    named = {"decision": decision} if decision is not None else {}
    if kind.variadic:
        return method(*args[0], **dict(zip(kind.params[1:], args[1:], strict=True)))
    return method(**dict(zip(kind.params, args, strict=True)), **named)


__all__ = ["Instruction", "InstructionKind", "Lines", "Trace", "plain", "run"]
