"""Named steps: ``with sch.step("tile"):`` replaces the earlier step of that name, and what came after it is
done again, so that running the cell of a notebook twice does no harm."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from tirscript.diagnostics import ScheduleError, ScheduleTypeError

from ..refs import BlockRV, LoopRV
from .trace import Instruction, run
from .trace_text import replaced

if TYPE_CHECKING:
    from ..schedule import Schedule


class StepNotReplayed(ScheduleError):
    """What came after a replaced step cannot be done after the new one."""


class _Memory:
    """A schedule as it was, to go back to."""

    def __init__(self, sch: Schedule) -> None:
        self.insts, self.steps, self.done = list(sch._insts), list(sch._steps), sch._done
        self.places = [s.at for s in sch._steps]
        self.functions = [(f, f.func) for f in sch._state.functions.values()]
        self.seed, self.decisions = sch._seed, dict(sch._decisions)
        self.aliases = dict(sch._state.aliases)

    def put_back(self, sch: Schedule) -> None:
        sch._insts, sch._steps, sch._done = self.insts, self.steps, self.done
        for s, at in zip(self.steps, self.places, strict=True):
            s.at = at
        for f, func in self.functions:
            if f.func is not func:
                f.restore(func)
        sch._seed, sch._decisions = self.seed, self.decisions
        sch._state.aliases = self.aliases


class NamedStep:
    """The context manager that ``Schedule.step`` gives."""

    def __init__(self, sch: Schedule, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ScheduleTypeError(
                f"the name of a step is a non-empty string, not {name!r}", code="bad-step-name"
            )
        self._sch = sch
        self._name = name
        self._memory: _Memory | None = None
        self._old: list[Instruction] = []
        self._later: list[Instruction] = []

    def __enter__(self) -> Schedule:
        sch = self._sch
        if sch._naming is not None:
            raise ScheduleError(
                f"step {self._name!r} begins inside step {sch._naming!r}", code="nested-step",
                hint="let one `with sch.step(...)` end before the next",
            )  # fmt: skip
        self._memory = _Memory(sch)
        insts = sch._active()
        own = [n for n, i in enumerate(insts) if i.group == self._name]
        if own:
            first, last = own[0], own[-1]
            self._old, self._later = insts[first : last + 1], insts[last + 1 :]
            before = sum(1 for s in sch._steps[: sch._done] if s.at < first)
            sch.goto(before)
            del sch._steps[before:]
            del sch._insts[first:]
        sch._naming = self._name
        return sch

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sch, memory = self._sch, self._memory
        assert memory is not None
        sch._naming = None
        if error is not None:
            memory.put_back(sch)
            return
        if self._old:
            try:
                self._again([i for i in sch._active() if i.group == self._name])
            except ScheduleError as e:
                memory.put_back(sch)
                raise StepNotReplayed(
                    f"after the new step {self._name!r}, a later step cannot be done again: {e.message}",
                    code="step-not-replayed", hint="the schedule is as it was before this step",
                ) from e  # fmt: skip
            except BaseException:
                memory.put_back(sch)
                raise

    def _again(self, new: list[Instruction]) -> None:
        """Do again what came later, on what the new step made in the place of the old."""
        sch = self._sch
        known: dict[Any, Any] = {}
        for a, b in _pairs(self._old, new):
            _match(a, b.outputs, known)
        self._remember(known)
        for inst in self._later:
            sch._naming = inst.group
            try:
                made = run(sch, inst.kind, [replaced(a, known) for a in inst.args], self._memory_of(inst))
            finally:
                sch._naming = None
            found: dict[Any, Any] = {}
            _match(inst, made, found)
            known.update(found)
            self._remember(found)

    def _memory_of(self, inst: Instruction) -> Any:
        assert self._memory is not None
        return self._memory.decisions.get(inst)

    def _remember(self, known: dict[Any, Any]) -> None:
        """Handles that the user still holds mean the new loops and blocks."""
        aliases = self._sch._state.aliases
        for a, b in known.items():
            if isinstance(a, (LoopRV, BlockRV)) and a.token is not b.token:
                aliases[a.token] = b.token


def _pairs(old: list[Instruction], new: list[Instruction]) -> list[tuple[Instruction, Instruction]]:
    """Instructions that take each other's place: the first of a kind the first of that kind, and so on."""
    waiting: dict[str, list[Instruction]] = {}
    for i in new:
        waiting.setdefault(i.kind.name, []).append(i)
    return [(i, waiting[i.kind.name].pop(0)) for i in old if waiting.get(i.kind.name)]


def _match(inst: Instruction, made: list[Any], known: dict[Any, Any]) -> None:
    pairs = zip(inst.outputs, made, strict=False)
    known.update({a: b for a, b in pairs if a is not None and b is not None})


__all__ = ["NamedStep", "StepNotReplayed"]
