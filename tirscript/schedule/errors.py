"""Refusals: error classes as data, rendered when they are read.

A class of error has a stable ``code``, a message ``template`` over its fields and a ``hint``.  Fields may be
IR nodes: a loop is shown by its variable's name, a block by its name in quotes, an expression as script.
The text shows the program *as it stood*: trees are immutable, so keeping a reference is enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tirscript.diagnostics import (
    Mark,
    ScheduleError,
    ScheduleTypeError,
    ScheduleValueError,
    Span,
    did_you_mean,
    render,
)
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, IntImm, IterVar, StringImm, Var
from tirscript.ir.stmt import (
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    While,
)

from .refs import BlockRV, ExprRV, LoopRV, StmtSRef

if TYPE_CHECKING:
    from tirscript.ir.function import PrimFunc

    from .record.history import Step
    from .state import FunctionState, ScheduleState

# What carets stand under: a node, or an axis with the value that is bound to it.
Target = Any
Note = str | Callable[[], str | None]


class Refusal(ScheduleError):
    """A primitive that would not preserve the program, with what, where and why."""

    code: str = ""
    template: ClassVar[str] = ""
    hint_template: ClassVar[str | None] = None
    kind: ClassVar[str] = "ScheduleError"

    def __init__(
        self,
        home: FunctionState | None = None,
        *,
        at: Sequence[tuple[Target, str | None]] = (),
        notes: Sequence[Note] = (),
        hint: str | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(self._fill, code=type(self).code)
        self.fields = fields
        self.function = "" if home is None else home.name
        self.program: PrimFunc | None = None if home is None else home.func
        self.at = at
        self._notes = notes
        self._hint = hint
        # Filled in by the schedule that ran the primitive.
        self.call = ""
        self.step: Step | None = None
        self.level = "detail"

    def _fill(self) -> str:
        fields = {k: show(v) for k, v in self.fields.items()}
        fields.setdefault("call", self.call)
        return type(self).template.format(**fields)

    @property
    def raw_notes(self) -> Sequence[Note]:
        """The notes as they were given, for an error that takes this one's place."""
        return self._notes

    @property
    def title(self) -> str:
        return f"{self.kind}[{self.code}]"

    def _complete(self, whole: bool = True) -> str | None:
        """Fill in marks, notes, hint and place; the script is returned, without ``whole`` perhaps only up to
        the last mark."""
        spans: dict[Any, Span] = {}
        text: str | None = None
        if self.program is not None and (whole or self.at):
            drawn = _draw(self.program, self.function, _drawn([t for t, _ in self.at]), whole)
            if drawn is not None:
                text, spans = drawn
        marks = []
        for target, label in self.at:
            span = _span_of(target, spans)
            if span is not None:
                marks.append(Mark(span, self.call if label is None else label))
        self.marks = marks
        notes = [n if isinstance(n, str) else n() for n in self._notes]
        self.notes = [n for n in notes if n] + _origins([t for t, _ in self.at])
        hint = self._hint or type(self).hint_template
        self.hint = hint.format(**{k: show(v) for k, v in self.fields.items()}) if hint else None
        if self.function:
            self.location = self.function
            if self.step is not None:
                self.location += f", after step {self.step.number}: {self.step.text}"
        return text

    def render(self, *, full: bool = False) -> str:
        if "fields" not in self.__dict__:  # unpickled: the text is all that is left
            return self._text or super().render()
        if self.level == "none":
            return f"{self.title}: {self.message}"
        if self.level == "fast":
            self.program = None
        text = self._complete(full)
        out = render(
            self.title,
            self.message,
            location=self.location,
            marks=self.marks,
            notes=self.notes,
            hint=self.hint,
        )
        return f"{out}\n\n{text}" if full and text else out


class BadArgument(Refusal, ScheduleTypeError):
    """An argument of the wrong kind."""

    kind = "ScheduleTypeError"


class BadValue(Refusal, ScheduleValueError):
    """An argument with a value that cannot be."""

    kind = "ScheduleValueError"


# ---- what fields look like


def show(value: Any) -> str:
    """A field as it stands in a message."""
    if isinstance(value, str):
        return value
    if isinstance(value, StmtSRef):
        value = value.node
    if isinstance(value, For):
        return value.loop_var.name
    if isinstance(value, BlockRealize):
        return f'"{value.block.name}"'
    if isinstance(value, Block):
        return f'"{value.name}"'
    if isinstance(value, LoopRV):
        return value.token.name
    if isinstance(value, BlockRV):
        return f'"{value.token.name}"'
    if isinstance(value, BlockLabel):
        return f'"{value.name}"'
    if isinstance(value, (Var, Buffer)):
        return value.name
    if isinstance(value, IterVar):
        return value.var.name
    if isinstance(value, Expr):
        return expr_text(value)
    if isinstance(value, (list, tuple)):
        return ", ".join([show(v) for v in value])
    return str(value)


def expr_text(e: Expr) -> str:
    """An expression as script."""
    if isinstance(e, Var):
        return e.name
    if isinstance(e, IntImm):
        return str(bool(e.value)) if e.dtype == "bool" else str(e.value)
    from tirscript.script.printer import script

    return str(script(e, sugar=False))


def a_kind(value: Any) -> str:
    """The type of a value with its article: ``an int``."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def describe(s: Any) -> str:
    """A statement in a few words."""
    if isinstance(s, For):
        return f"loop `{s.loop_var.name}`"
    if isinstance(s, BlockRealize):
        return f'block "{s.block.name}"'
    if isinstance(s, BufferStore):
        return f"a store to {s.buffer.name}"
    if isinstance(s, SeqStmt):
        first = ", ".join([describe(x) for x in s.seq[:3]])
        return f"{len(s.seq)} statements ({first}{', ...' if len(s.seq) > 3 else ''})"
    words = {IfThenElse: "an `if`", While: "a `while`", LetStmt: "a let", Evaluate: "a call"}
    return words.get(type(s), f"a {type(s).__name__}")


def argument(value: Any) -> str:
    """An argument of a primitive as Python, handles by the names of what they stand for."""
    if isinstance(value, (LoopRV, BlockRV)):
        return str(value.token.name)
    if isinstance(value, ExprRV):
        return str(value.value)
    if isinstance(value, IntImm):
        return str(value.value)
    if isinstance(value, StringImm):
        return repr(value.value)
    if isinstance(value, Expr):
        return expr_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([argument(v) for v in value]) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join([f"{argument(k)}: {argument(v)}" for k, v in value.items()]) + "}"
    text = repr(value)
    return f"<{type(value).__name__}>" if text.startswith("<") else text


# ---- where


def _drawn(targets: Iterable[Target]) -> set[Any]:
    """The nodes whose places are wanted."""
    out: set[Any] = set()
    for target in targets:
        node = target.node if isinstance(target, StmtSRef) else target
        out.add(node[0] if isinstance(node, tuple) else node)
        if isinstance(node, BlockRealize):
            out.add(node.block)
    return out


def _draw(
    func: PrimFunc, name: str, only: set[Any] | None = None, whole: bool = True
) -> tuple[str, dict[Any, Span]] | None:
    try:
        from tirscript.script.printer import render as draw

        drawn = draw(func, sugar=False, name=name, only=only, whole=whole)
    except Exception:  # an error must be shown even where the program cannot be drawn
        return None
    return drawn.text, drawn.spans


def _span_of(target: Target, spans: dict[Any, Span]) -> Span | None:
    if isinstance(target, StmtSRef):
        target = target.node
    if isinstance(target, tuple):  # an axis and the variable in the value bound to it
        axis, var = target
        span = spans.get(axis)
        if span is None:
            return None
        line = span.source.line(span.line)
        found = list(re.finditer(rf"\b{re.escape(var.name)}\b", line))
        if not found:
            return span
        return Span(span.source, span.line, found[-1].start(), span.line, found[-1].end())
    found_span = spans.get(target)
    if found_span is None and isinstance(target, BlockRealize):
        found_span = spans.get(target.block)
    return found_span


def _origins(targets: Iterable[Target]) -> list[str]:
    """Where the user wrote the loops and blocks that are marked."""
    out: list[str] = []
    for target in targets:
        node = target.node if isinstance(target, StmtSRef) else target
        if isinstance(node, For):
            name, span = node.loop_var.name, node.span
        elif isinstance(node, BlockRealize):
            name, span = node.block.name, node.block.span or node.span
        else:
            continue
        if span is None:
            continue
        if node is not None and isinstance(node, BlockRealize) and not node.iter_values:
            continue  # the root block and its like are not written as such
        written = re.search(rf"\b{re.escape(name)}\b", span.source.line(span.line))
        note = f"`{name}` {'was written at' if written else 'comes from'} {span}"
        if note not in out:
            out.append(note)
    return out[:2]


# ---- errors of references


class WrongHandle(BadArgument):
    code = "wrong-handle"
    template = "`{argument}` of {primitive} must be {wanted}, {given} was given"


class ExpiredReference(Refusal):
    code = "expired-reference"
    template = "{what} no longer exists{why}"


class UnknownReference(Refusal):
    code = "unknown-reference"
    template = "{what} is not in this schedule"
    hint_template = "take references from this schedule: get_block, get_loops"


class UnknownBlock(Refusal):
    code = "unknown-block"
    template = 'there is no block "{name}"{where}; the blocks are {known}'

    @staticmethod
    def make(home: FunctionState | None, name: str, where: str, known: Sequence[str]) -> UnknownBlock:
        names = ", ".join([f'"{n}"' for n in known])
        if not known:
            return UnknownBlock(
                home,
                name=name,
                where=where,
                known="none",
                hint='only blocks can be scheduled: put the statements under `with T.block("...")`',
            )
        return UnknownBlock(home, name=name, where=where, known=names, hint=did_you_mean(name, known))


class AmbiguousBlock(Refusal):
    code = "ambiguous-block"
    template = '{count} blocks are called "{name}"{where}: {places}'
    hint_template = "give the blocks different names, or take them from get_child_blocks"


class NoFunction(BadValue):
    code = "no-function"
    template = "the module has several functions and none is worked on: {known}"
    hint_template = "say which: func_name=..., or sch.work_on(name) first"


class UnknownFunctionName(BadValue):
    code = "unknown-function"
    template = "the module has no function `{name}`; it has {known}"


def expired(state: ScheduleState, handle: LoopRV | BlockRV) -> Refusal:
    """The error for a handle whose token is not in the tree; the schedule completes it."""
    what = f"loop `{handle.token.name}`" if type(handle) is LoopRV else f'block "{handle.token.name}"'
    home = state.functions.get(handle.function)
    error = ExpiredReference(home, what=what, why="")
    error.fields["token"] = handle.token
    return error
