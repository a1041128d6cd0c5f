"""``tirscript diff``: two programs, or what each step of a schedule did."""

from __future__ import annotations

import difflib
import shutil
from argparse import Namespace
from collections.abc import Iterator

from tirscript import display
from tirscript.display.objects import _colours
from tirscript.ir import IRModule, PrimFunc, structural_equal
from tirscript.schedule import Schedule

from . import UsageError
from .load import Loaded, Program, as_program, load_all

_ADDED, _REMOVED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


def execute(arguments: Namespace) -> int:
    operands = [*arguments.program]
    if len(operands) == 1:
        return _steps(operands[0], arguments)
    if len(operands) != 2:
        raise UsageError(f"diff takes one schedule or two programs, not {len(operands)}")
    if arguments.step is not None:
        raise UsageError("--step goes with one schedule, not with two programs")
    if operands == ["-", "-"]:
        raise UsageError("only one of the two can be standard input")
    (name_a, a), (name_b, b) = [_only(o) for o in operands]
    return _compare(operands[0], name_a, as_program(a), operands[1], name_b, as_program(b), arguments)


def _only(operand: str) -> tuple[str, Loaded]:
    found = load_all(operand)
    if len(found) > 1:
        programs = [f for f in found if not isinstance(f[1], Schedule)]
        if len(programs) == 1:
            return programs[0]
        names = ", ".join([name for name, _ in found])
        raise UsageError(
            f"{operand} holds several programs: say {operand}:NAME, where NAME is one of {names}"
        )
    return found[0]


# ---- two programs


def _compare(
    first: str, name_a: str, a: Program, second: str, name_b: str, b: Program, arguments: Namespace
) -> int:
    if isinstance(a, PrimFunc) != isinstance(b, PrimFunc):
        a, b = _alone(a), _alone(b)
    old, new = _lines(a, arguments), _lines(b, arguments)
    if old == new:
        return 0
    _print(old, new, _title(first, name_a), _title(second, name_b), arguments)
    if type(a) is type(b) and structural_equal(a, b):
        print("the same program: only names and spellings differ")
        return 0
    return 1


def _alone(program: Program) -> Program:
    """The only function of a module, as a schedule of a function holds it."""
    return program.items()[0][1] if isinstance(program, IRModule) and len(program) == 1 else program


def _title(operand: str, name: str) -> str:
    return operand if operand.endswith(f":{name}") or operand == "-" else f"{operand}:{name}"


def _lines(program: Program, arguments: Namespace) -> list[str]:
    return str(program.script(sugar=arguments.sugar)).splitlines()


# ---- the steps of a schedule


def _steps(operand: str, arguments: Namespace) -> int:
    found = [(name, v) for name, v in load_all(operand) if isinstance(v, Schedule)]
    if len(found) != 1:
        names = ", ".join([name for name, _ in found]) or "none"
        raise UsageError(
            f"one argument must name a schedule: {operand} has {names}; two arguments are two programs"
        )
    name, sch = found[0]
    count = len(sch.history)
    if arguments.step == 0:
        own = sch.copy()
        own.goto(0)
        start, end = _lines(_alone(own.mod), arguments), _lines(_alone(sch.mod), arguments)
        _print(start, end, f"{name}, at the start",
               f"{name}, after {count} step{'' if count == 1 else 's'}", arguments)  # fmt: skip
        return 0
    if arguments.step is not None and not 1 <= arguments.step <= count:
        raise UsageError(f"there is no step {arguments.step}: {name} has {count}")
    if not count:
        print(f"{name}: no steps yet")
    numbers = range(1, count + 1) if arguments.step is None else [arguments.step]
    own = sch.copy()
    for n in numbers:
        if n != numbers[0]:
            print()
        if not arguments.side_by_side:
            text = str(sch.diff(n))
            print(display.diff_ansi(text) if _colours() else text)
            continue
        own.goto(n - 1)
        before = _lines(_alone(own.mod), arguments)
        own.goto(n)
        step = sch.history[n - 1]
        print(f"step {n}: {step.text}")
        _print(before, _lines(_alone(own.mod), arguments), "before", "after", arguments)
    return 0


# ---- printing

# What stands left and right, and between them: " " the same line (perhaps moved in or out), "-", "+", "|".
_Row = tuple[str, str, str]


def _print(old: list[str], new: list[str], title_a: str, title_b: str, arguments: Namespace) -> None:
    rows = _rows(old, new)
    if arguments.side_by_side:
        width = max(arguments.width or shutil.get_terminal_size((120, 24)).columns, 20)
        for line in side_by_side(rows, title_a, title_b, width, arguments.context, _colours()):
            print(line)
        return
    text = "\n".join([f"--- {title_a}", f"+++ {title_b}", *unified(rows, arguments.context)])
    print(display.diff_ansi(text) if _colours() else text)


def _rows(old: list[str], new: list[str]) -> list[_Row]:
    rows: list[_Row] = []
    # A line that only moved in or out is the same line.
    a, b = [x.strip() for x in old], [x.strip() for x in new]
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for n in range(max(i2 - i1, j2 - j1)):
            left = old[i1 + n] if i1 + n < i2 else None
            right = new[j1 + n] if j1 + n < j2 else None
            mark = " " if tag == "equal" else "-" if right is None else "+" if left is None else "|"
            rows.append((left or "", mark, right or ""))
    return rows


def _near(rows: list[_Row], context: int) -> set[int]:
    """The rows that are shown: the changed ones and those around them."""
    near: set[int] = set()
    for n, (_, mark, _) in enumerate(rows):
        if mark != " ":
            near.update(range(n - context, n + context + 1))
    return near


def unified(rows: list[_Row], context: int) -> Iterator[str]:
    """One below the other: what went marked ``-``, what came ``+``."""
    near = _near(rows, context)
    gap = False
    came: list[str] = []
    for n, (left, mark, right) in enumerate(rows):
        if mark in " " and came:
            yield from came
            came = []
        if n not in near:
            gap = True
            continue
        if gap:
            yield "  ..."
            gap = False
        if mark == " ":
            yield f"  {right}".rstrip()
        if mark in "-|":
            yield f"- {left}"
        if mark in "+|":
            came.append(f"+ {right}")
    yield from came
    if gap:
        yield "  ..."


def side_by_side(
    rows: list[_Row], title_a: str, title_b: str, width: int, context: int, colours: bool
) -> Iterator[str]:
    """Both texts in columns; ``-``, ``+`` and ``|`` mark lines that went, came and changed.

    >>> for line in side_by_side([("a", " ", "a"), ("b", "|", "c")], "x", "y", 24, 3, False):
    ...     print(line)
    x            y
    a            a
    b          | c
    """
    half = (width - 3) // 2
    yield f"{_cut(title_a, half)}   {_cut(title_b, half).rstrip()}".rstrip()
    near = _near(rows, context)
    gap = False
    for n, (left, mark, right) in enumerate(rows):
        if n not in near:
            gap = True
            continue
        if gap:
            yield "..."
            gap = False
        one, two = _cut(left, half), _cut(right, half).rstrip()
        if colours and mark != " ":
            one = f"{_REMOVED}{one}{_PLAIN}" if mark in "-|" else one
            two = f"{_ADDED}{two}{_PLAIN}" if mark in "+|" else two
        yield f"{one} {mark} {two}".rstrip()
    if gap:
        yield "..."


def _cut(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
