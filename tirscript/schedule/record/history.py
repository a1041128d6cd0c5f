"""The steps of a schedule: what was done, what each changed, and the difference as text."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from tirscript.ir import hooks
from tirscript.ir.function import PrimFunc

from .changes import what_changed
from .trace import Instruction

if TYPE_CHECKING:
    from ..state import FunctionState

Change = tuple["FunctionState", PrimFunc, PrimFunc]


class Step:
    """One step: its number from 1, its instruction, and the functions before and after."""

    __slots__ = ("at", "changes", "instruction", "number", "seconds")

    def __init__(
        self,
        number: int,
        instruction: Instruction,
        at: int,
        changes: tuple[Change, ...],
        seconds: float | None = None,
    ) -> None:
        self.number = number
        self.instruction = instruction
        self.at = at  # where the instruction stands in the trace
        self.changes = changes
        self.seconds = seconds  # how long it took

    @property
    def text(self) -> str:
        """The call, with loops and blocks by their names: ``split(i, [None, 16])``."""
        return self.instruction.text

    @property
    def changed(self) -> list[str]:
        """What it changed, in a few words."""
        out: list[str] = []
        for home, before, after in self.changes:
            found = what_changed(before, after)
            out += found if len(self.changes) == 1 else [f"{home.name}: {text}" for text in found]
        return out

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle

    def __repr__(self) -> str:
        return f"step {self.number}: {self.text}"


class History(Sequence[Step]):
    """The steps of a schedule in order; those that were undone are marked."""

    def __init__(self, steps: Sequence[Step], done: int) -> None:
        self._steps = tuple(steps)
        self.done = done

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._steps[: self.done][index]

    def __len__(self) -> int:
        return self.done

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps[: self.done])

    def rows(self) -> list[tuple[str, str, str]]:
        """Number, call and results of every step, undone ones too (their number in brackets)."""
        out = []
        for s in self._steps:
            number = str(s.number) if s.number <= self.done else f"({s.number})"
            made = ", ".join([str(o.token.name) for o in s.instruction.handles()])
            out.append((number, s.text, made))
        return out

    def __str__(self) -> str:
        rows = self.rows()
        if not rows:
            return "no steps yet"
        first = max([4, *(len(r[0]) for r in rows)])
        second = max([4, *(len(r[1]) for r in rows)])
        lines = [f"{'step':>{first}}  {'call':<{second}}  result"]
        lines += [f"{n:>{first}}  {call:<{second}}  {made}".rstrip() for n, call, made in rows]
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def all(self) -> tuple[Step, ...]:
        """The steps with those that were undone."""
        return self._steps

    def show(self) -> None:
        """Show the table: in a notebook with what each step changed, and how long it took."""
        hooks.call("show", self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle


class Diff(str):
    """The difference of programs as text; a notebook shows it side by side.

    ``parts`` are the functions that changed: a name, the lines before, the lines after.
    """

    heading: str
    parts: tuple[tuple[str, list[str], list[str]], ...]

    def __new__(
        cls, heading: str, parts: Sequence[tuple[str, list[str], list[str]]], context: int = 3
    ) -> Diff:
        out = [heading]
        for _, old, new in parts:
            out += _marked(old, new, context)
        if len(out) == 1:
            out.append("(nothing changed)")
        made = super().__new__(cls, "\n".join(out))
        made.heading = heading
        made.parts = tuple(parts)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.heading, self.parts

    def __repr__(self) -> str:
        return str(self)

    def show(self) -> None:
        """Show it: side by side in a notebook, in colours in a terminal."""
        hooks.call("show", self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle


def lines_of(func: PrimFunc, name: str) -> list[str]:
    """The script of a function, one loop and one axis a line."""
    from tirscript.script.printer import script

    return script(func, name=name, sugar=False).splitlines()


def diff_text(step: Step, context: int = 3) -> Diff:
    """The scripts before and after a step, one loop and one axis a line.

    Lines that went are marked ``-``, new ones ``+``; a line that only moved in or out is no change and shown
    where it stands now.
    """
    parts = [
        (home.name, lines_of(before, home.name), lines_of(after, home.name))
        for home, before, after in step.changes
    ]
    return Diff(f"step {step.number}: {step.text}", parts, context)


def _marked(old: list[str], new: list[str], context: int) -> list[str]:
    a, b = [x.strip() for x in old], [x.strip() for x in new]
    lines: list[tuple[str, str]] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [(" ", x) for x in new[j1:j2]]
        else:
            lines += [("-", x) for x in old[i1:i2]]
            lines += [("+", x) for x in new[j1:j2]]
    near: set[int] = set()
    for n, (mark, _) in enumerate(lines):
        if mark != " ":
            near.update(range(n - context, n + context + 1))
    out: list[str] = []
    gap = True
    for n, (mark, text) in enumerate(lines):
        if n in near:
            if gap and n:
                out.append("  ...")
            gap = False
            out.append(f"{mark} {text}".rstrip())
        else:
            gap = True
    if out and gap:
        out.append("  ...")
    return out
