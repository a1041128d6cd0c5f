"""``Schedule``: a program that is rewritten step by step, each step checked and undoable."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter
from typing import Any, NoReturn

from tirscript.diagnostics import (
    NotYetError,
    ScheduleError,
    ScheduleTypeError,
    ScheduleValueError,
    deep_recursion,
)
from tirscript.ir import hooks
from tirscript.ir.expr import Expr, GlobalVar
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import Block, For, Stmt

from .api import Hardware, Layout, Loops, Memory, Moves, Notes, Reduction, Sampling
from .errors import BadValue, ExpiredReference, Refusal, UnknownReference
from .primitives import look
from .record import expressions
from .record.history import Diff, History, Step, diff_text
from .record.named import NamedStep
from .record.replay import complete_trace
from .record.trace import Instruction, InstructionKind, Trace
from .record.trace_text import replaced, sources
from .record.tree import Tree, tree_of
from .record.verifying import Verifier
from .refs import BlockRV, ExprRV, LoopRV, StmtSRef, block_token
from .resolve import any_place, function_of
from .state import FunctionState, ScheduleState

_MASKS = {"none": 0, "all": 3}
_MODULUS = 0x7FFFFFFF
_RUN_TWICE = (
    'a cell that is to run twice does its steps under `with sch.step("name"):`; '
    "sch.undo() takes back the last step"
)


class NoSuchStep(BadValue):
    code = "no-such-step"
    template = "there is no step {wanted}; {known}"


class Schedule(Loops, Moves, Memory, Reduction, Notes, Hardware, Layout, Sampling):
    """A schedule of a function or of a module: primitives rewrite the program, or refuse and say why.

    ``debug_mask="all"`` verifies the program after each step; ``enable_check=False`` skips the tests of
    legality (not those of arguments).  ``error_render_level`` is ``detail``, ``fast`` (no script) or
    ``none`` (one line).  ``verify=True`` runs the program on small data after each step, and refuses the
    first one that changes a result.

    Names that a ``let`` gives to values around blocks are replaced by the values, unless these read memory or
    the blocks use the names inside.

    >>> from tirscript.schedule.testing import mm_relu
    >>> sch = Schedule(mm_relu())
    >>> i, j, k = sch.get_loops(sch.get_block("Y"))
    >>> j_0, j_1 = sch.split(j, [None, 4])
    >>> sch.reorder(i, j_0, k, j_1)
    >>> sch.vectorize(j_1)
    >>> sch.history
    step  call                    result
       1  split(j, [None, 4])     j_0, j_1
       2  reorder(i, j_0, k, j_1)
       3  vectorize(j_1)
    """

    def __init__(
        self,
        mod: PrimFunc | IRModule,
        *,
        seed: int | None = None,
        debug_mask: str | int = "none",
        error_render_level: str = "detail",
        enable_check: bool = True,
        verify: bool = False,
    ) -> None:
        if not isinstance(mod, (PrimFunc, IRModule)):
            raise ScheduleTypeError(
                f"Schedule takes a PrimFunc or an IRModule, not a {type(mod).__name__}",
                code="not-a-program",
                hint="decorate the function with @T.prim_func, or the class with @I.ir_module",
            )
        mask = _MASKS.get(debug_mask) if isinstance(debug_mask, str) else debug_mask
        if not isinstance(mask, int):
            raise ScheduleValueError(
                f"debug_mask must be 'none', 'all' or an integer, not {debug_mask!r}", code="bad-debug-mask"
            )
        if error_render_level not in ("detail", "fast", "none"):
            raise ScheduleValueError(
                f"error_render_level must be 'detail', 'fast' or 'none', not {error_render_level!r}",
                code="bad-render-level",
            )
        self._state = ScheduleState(mod, debug_mask=mask, enable_check=enable_check)
        self._verifier = Verifier(self._state.mod) if verify else None
        self._level = error_render_level
        self._seed = 1
        if seed is not None:
            self.seed(seed)
        self._decisions: dict[Instruction, Any] = {}
        self._naming: str | None = None  # the named step that is being made
        self._insts: list[Instruction] = []
        self._last_look: Instruction
        self._steps: list[Step] = []
        self._done = 0  # how many of the steps are applied: undo leaves the others to goto
        self._start = [(f, f.func) for f in self._state.functions.values()]

    # ---- the object

    @property
    def mod(self) -> IRModule:
        """The module as it is now."""
        return self._state.mod

    @property
    def state(self) -> ScheduleState:
        """The functions, and where every loop and block stands."""
        return self._state

    @property
    def trace(self) -> Trace:
        """The instructions so far; each handle that they use is looked up first."""
        insts, decisions = complete_trace(
            self._active(), self._steps[: self._done], self._start, self._decisions
        )
        return Trace(insts, decisions, checked=self._state.enable_check)

    def _active(self) -> list[Instruction]:
        """The instructions without those of undone steps."""
        end = self._steps[self._done].at if self._done < len(self._steps) else len(self._insts)
        return self._insts[:end]

    @property
    def func_working_on(self) -> GlobalVar | None:
        """The function that block names are looked up in; None where none of several is ``main``."""
        name = self._state.working
        return None if name is None else self._state.functions[name].var

    def work_on(self, func_name: str) -> None:
        """Look block names up in that function."""
        try:
            self._state.working = function_of(self._state, func_name).name
        except Refusal as error:
            raise self._attach(error, "work_on", repr(func_name)) from None

    @property
    def check(self) -> Checks:
        """The primitives as mere checks: ``sch.check.split(i, [None, 16])`` raises what ``split`` would
        raise, and changes nothing."""
        return Checks(self)

    def copy(self) -> Schedule:
        """A schedule of its own at the same point; handles are good in both."""
        new = Schedule.__new__(Schedule)
        new._state = self._state.copy()
        new._level = self._level
        new._verifier = self._verifier
        new._seed = self.fork_seed()
        new._insts = list(self._insts)
        new._decisions = dict(self._decisions)
        new._naming = None
        moved = {f: new._state.functions[f.name] for f in self._state.functions.values()}
        new._steps = [
            Step(s.number, s.instruction, s.at, tuple([(moved[f], a, b) for f, a, b in s.changes]), s.seconds)
            for s in self._steps
        ]
        new._done = self._done
        new._start = [(moved[f], func) for f, func in self._start]
        return new

    def seed(self, seed: int) -> None:
        """Set the seed of the sampling primitives."""
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ScheduleTypeError(f"a seed is an int, not a {type(seed).__name__}", code="bad-seed")
        self._seed = seed % _MODULUS or 1

    def fork_seed(self) -> int:
        """A new seed, drawn from the schedule's own."""
        self._seed = (self._seed * 48271 + 11) % _MODULUS or 1
        return (self._seed * 69621) % _MODULUS or 1

    def show(self, *args: Any, **kwargs: Any) -> None:
        """Show the module as it is now: HTML in a notebook, colours in a terminal."""
        hooks.call("show", self.mod, *args, **kwargs)

    def get(self, rand_var_or_sref: Any) -> Any:
        """The loop, block or integer that a handle or place stands for."""
        if isinstance(rand_var_or_sref, StmtSRef):
            return rand_var_or_sref.stmt
        if isinstance(rand_var_or_sref, ExprRV):
            return rand_var_or_sref.value
        return self.get_sref(rand_var_or_sref).stmt

    def get_sref(self, rand_var_or_stmt: BlockRV | LoopRV | Stmt) -> StmtSRef:
        """The place of a handle, or of a loop or block of the current program."""
        try:
            if isinstance(rand_var_or_stmt, (Block, For)):
                place = self._state.get_sref(rand_var_or_stmt)
                if place is None:
                    name = (
                        rand_var_or_stmt.name
                        if isinstance(rand_var_or_stmt, Block)
                        else rand_var_or_stmt.loop_var
                    )
                    raise UnknownReference(None, what=f"this object of `{getattr(name, 'name', name)}`")
                return place
            return any_place(self._state, rand_var_or_stmt, "rand_var_or_stmt", "get_sref")
        except Refusal as error:
            raise self._attach(error, "get_sref", "") from None

    def expr(self, text: str) -> Expr:
        """An expression over the sizes of the function that is worked on: ``sch.expr("n // 4")``.

        So a trace writes a factor that is no number.
        """
        return expressions.read(text, expressions.sizes(self._state))

    def remove_rv(self, rand_var: BlockRV | LoopRV | ExprRV) -> None:
        """Nothing to do: a handle holds nothing of the schedule."""

    # ---- steps

    def step(self, name: str) -> NamedStep:
        """``with sch.step("tile"):`` makes the steps of its body one step of that name.

        Where there is one of that name already, this one takes its place, and what came after it is done
        again, so that a cell of a notebook may be run twice.  If that fails, or the body raises, the schedule
        is as it was.

        >>> from tirscript.schedule.testing import example
        >>> sch, i, j, k = example()
        >>> for inner in (4, 8):
        ...     with sch.step("tile"):
        ...         j_0, j_1 = sch.split(j, [None, inner])
        >>> sch.history
        step  call                 result
           1  split(j, [None, 8])  j_0, j_1
        """
        return NamedStep(self, name)

    @property
    def history(self) -> History:
        """The steps so far, as a table; undone ones in brackets."""
        return History(self._steps, self._done)

    def undo(self, steps: int = 1) -> None:
        """Take back the last step or steps; ``goto`` can bring them again."""
        if not isinstance(steps, int) or steps < 0 or steps > self._done:
            self._no_step(f"to go back {steps}" if isinstance(steps, int) else repr(steps))
        self.goto(self._done - steps)

    def goto(self, step: int) -> None:
        """Go to the program after that step, backwards or forwards; 0 is the start."""
        if not isinstance(step, int) or not 0 <= step <= len(self._steps):
            self._no_step(repr(step))
        while self._done > step:
            self._done -= 1
            for home, before, _ in reversed(self._steps[self._done].changes):
                home.restore(before)
        while self._done < step:
            for home, _, after in self._steps[self._done].changes:
                home.restore(after)
            self._done += 1

    def diff(self, step: int | None = None) -> Diff:
        """What a step (by default the last) changed: the scripts, one loop and one axis a line."""
        number = self._done if step is None else step
        if not isinstance(number, int) or not 1 <= number <= len(self._steps):
            self._no_step(repr(number) if step is not None else "yet")
        return diff_text(self._steps[number - 1])

    def tree(self) -> Tree:
        """The loops and blocks as a tree: extents, kinds, bindings, reads and writes, storage scopes.

        >>> from tirscript.schedule.testing import chain
        >>> Schedule(chain()).tree()
        chain(A: float32[16], C: float32[16])  allocates B: float32[16]
        ├─ for i: 16
        │  └─ block "B"  vi:S; reads A[vi]; writes B[vi]
        └─ for i: 16
           └─ block "C"  vi:S; reads B[vi]; writes C[vi]
        """
        return tree_of([(f.name, f.func) for f in self._state.functions.values()])

    def linked(self, target: Any = "llvm", **options: Any) -> Any:
        """Script, lowered script, LLVM IR and assembly with the lines that belong together.

        The options are those of ``tirscript.display.linked``.
        """
        return hooks.call("linked", self, target, **options)

    def movie(self, buffer: Any = None, cache: Any = "small", **options: Any) -> Any:
        """A movie of how the program touches a buffer, with the misses of a simulated cache.

        ``buffer`` is a name, several, or None for all parameters; ``cache`` is ``"small"``, ``"machine"`` or
        a text such as ``"32K/8, 512K/8"``.  The options are those of ``tirscript.display.movie``.
        """
        return hooks.call("movie", self, buffer, cache, **options)

    def _no_step(self, wanted: str) -> NoReturn:
        count = len(self._steps)
        known = f"steps 1 to {count} were made, {self._done} are applied" if count else "no step was made"
        raise NoSuchStep(None, wanted=wanted, known=known)

    # ---- running primitives

    def _apply(self, kind: InstructionKind, args: tuple[Any, ...]) -> Any:
        """Run a primitive as a transaction, and record it."""
        start = perf_counter()
        state = self._state
        if state.aliases:
            args = self._current(args)
        try:
            result = kind.rewrite(state, kind.check(state, *args))
            if state.debug_mask:
                state.verify()
            if self._verifier is not None:
                self._verify(kind, args)
        except BaseException as error:
            result = self._recover(error, kind, args)
        log = state.log
        if len(log) == 1:
            home, before = log[0]
            changes: tuple[tuple[FunctionState, PrimFunc, PrimFunc], ...] = ((home, before, home.func),)
        else:
            first: dict[FunctionState, PrimFunc] = {}
            for home, before in log:
                first.setdefault(home, before)
            changes = tuple([(home, before, home.func) for home, before in first.items()])
        state.log = []
        done = self._done
        if done != len(self._steps):
            del self._insts[self._steps[done].at :]
            del self._steps[done:]
        inst = Instruction(kind, args, result, self._naming)
        self._steps.append(Step(done + 1, inst, len(self._insts), changes, perf_counter() - start))
        self._insts.append(inst)
        self._done = done + 1
        return result

    def _look(self, kind: InstructionKind, args: tuple[Any, ...]) -> Any:
        """Run a query and record it."""
        args = self._current(args)
        try:
            result = kind.check(self._state, *args)
        except Refusal as error:
            raise self._attach(error, kind.method, _call_text(kind, args)) from None
        self._record(kind, args, result)
        return result

    def _sample(self, kind: InstructionKind, args: tuple[Any, ...], decision: Any) -> Any:
        """Draw, or take the decision, and record it."""
        args = self._current(args)
        try:
            plan = kind.check(self._state, *args)
            if decision is not None:
                decision = plan.fit(decision)
            else:
                decision = plan.draw(random.Random(self.fork_seed()))
        except Refusal as error:
            raise self._attach(error, kind.method, _call_text(kind, args)) from None
        result = plan.results(decision)
        inst = self._record(kind, args, result)
        if decision is not None:
            self._decisions[inst] = decision
        return result

    def _current(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, where handles that went with a named step mean what stands in their place."""
        aliases = self._state.aliases
        if not aliases:
            return args
        known: dict[Any, Any] = {}
        for handle in sources(args):
            if isinstance(handle, (LoopRV, BlockRV)) and handle.token in aliases:
                place = self._state.find(handle.token)
                if place is not None:
                    s = place.node
                    token = s.loop_var if isinstance(s, For) else block_token(s.block.label)
                    known[handle] = type(handle)(token, place.home.name)
        return tuple([replaced(a, known) for a in args]) if known else args

    def _record(self, kind: InstructionKind, args: tuple[Any, ...], result: Any) -> Instruction:
        """Record an instruction that leaves the program as it is."""
        inst = self._last_look = Instruction(kind, args, result, self._naming)
        if self._done < len(self._steps):
            # The undone steps stay for goto: the query stands before them.
            at = self._steps[self._done].at
            self._insts.insert(at, inst)
            for s in self._steps[self._done :]:
                s.at += 1
        else:
            self._insts.append(inst)
        return inst

    def _verify(self, kind: InstructionKind, args: tuple[Any, ...]) -> None:
        """Run what the step changed, and compare."""
        assert self._verifier is not None
        changed = dict.fromkeys([home for home, _ in self._state.log])
        self._verifier.check(self._state.mod, changed, _call_text(kind, args))

    def _recover(self, error: BaseException, kind: InstructionKind, args: tuple[Any, ...]) -> Any:
        """Put the old program back; raise what is to be raised, or run again with a deeper stack."""
        state = self._state
        state.roll_back()
        if isinstance(error, Refusal):
            raise self._attach(error, kind.method, _call_text(kind, args)) from None
        if isinstance(error, RecursionError):
            with deep_recursion():
                try:
                    result = kind.rewrite(state, kind.check(state, *args))
                    if self._verifier is not None:
                        self._verify(kind, args)
                    return result
                except Refusal as refusal:
                    state.roll_back()
                    raise self._attach(refusal, kind.method, _call_text(kind, args)) from None
                except BaseException:
                    state.roll_back()
                    raise
        if isinstance(error, (NotYetError, Warning)) or not isinstance(error, Exception):
            raise error
        steps = "; ".join([s.text for s in self._steps[: self._done]]) or "none"
        raise ScheduleError(
            f"{_call_text(kind, args)} failed inside tirscript: {type(error).__name__}: {error}",
            code="internal",
            notes=[f"steps before: {steps}"],
            hint="the schedule is as it was before this step; please report the program and these steps",
        ) from error

    def _attach(self, error: Refusal, method: str, call: str) -> Refusal:
        """Tell the error where it happened."""
        error.call = call
        error.level = self._level
        error.step = self._steps[self._done - 1] if self._done else None
        if not error.function and len(self._state.functions) == 1:
            error.function = next(iter(self._state.functions))
        if isinstance(error, ExpiredReference):
            self._explain(error)
        return error

    def _explain(self, error: ExpiredReference) -> None:
        """Say which step a reference fell victim to."""
        token = error.fields["token"]
        for n in range(len(self._steps) - 1, -1, -1):
            step = self._steps[n]
            for home, before, after in step.changes:
                had, has = (token in FunctionState("", home.var, f).index for f in (before, after))
                if had and not has and n < self._done:
                    made = [f"`{o.token.name}`" for o in step.instruction.handles()]
                    by = f" replaced it by {', '.join(made)}" if made else " removed it"
                    error.fields["why"] = f": step {step.number}, {step.text},{by}"
                    if error.call.partition("(")[0] == step.text.partition("(")[0]:
                        # Most likely the cell that did it runs a second time.
                        error._hint = error._hint or _RUN_TWICE
                    return
                if has and not had and n >= self._done:
                    error.fields["why"] = f": step {step.number}, {step.text}, which made it, was undone"
                    return
        error.fields["why"] = " in this schedule: no step of it made or removed it"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle

    def __repr__(self) -> str:
        names = ", ".join(self._state.functions)
        return f"Schedule({names}: {self._done} step{'' if self._done == 1 else 's'})"

    # ---- looking

    def get_block(self, name: str, func_name: str | None = None) -> BlockRV:
        """The only block of that name in the function that is worked on, or in ``func_name``."""
        result: BlockRV = self._look(look.GET_BLOCK, (name, func_name))
        # The trace says the function, so that it replays whatever is worked on; an only one is "main".
        self._last_look.args = (name, result.function if len(self._state.functions) > 1 else "main")
        return result

    get_sblock = get_block

    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:
        """The loops around a block, outermost first, up to the block that contains it."""
        result: list[LoopRV] = self._look(look.GET_LOOPS, (block,))
        return result

    def get_child_blocks(self, block_or_loop: BlockRV | LoopRV) -> list[BlockRV]:
        """The blocks directly inside a block or loop."""
        result: list[BlockRV] = self._look(look.GET_CHILD_BLOCKS, (block_or_loop,))
        return result

    def get_producers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks before this one in its scope that write what it reads or writes; each once."""
        result: list[BlockRV] = self._look(look.GET_PRODUCERS, (block,))
        return result

    def get_consumers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks after this one in its scope that read or write what it writes; each once."""
        result: list[BlockRV] = self._look(look.GET_CONSUMERS, (block,))
        return result

    def get_output_blocks(self, scope_block: BlockRV | str) -> list[BlockRV]:
        """The innermost blocks inside ``scope_block`` that write a parameter."""
        result: list[BlockRV] = self._look(look.GET_OUTPUT_BLOCKS, (scope_block,))
        return result


def _call_text(kind: InstructionKind, args: tuple[Any, ...]) -> str:
    return Instruction(kind, args, None).text


class Checks:
    """The primitives of a schedule as mere checks; each returns its plan."""

    def __init__(self, sch: Schedule) -> None:
        self._sch = sch

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kind = next((k for k in InstructionKind.table.values() if k.method == name and k.step), None)
        if kind is None:
            raise AttributeError(f"there is no primitive {name!r}")
        sch = self._sch

        def run(*args: Any, **kwargs: Any) -> Any:
            given = (args, *kwargs.values()) if kind.variadic else args
            named = {} if kind.variadic else kwargs
            try:
                return kind.check(sch._state, *given, **named)
            except Refusal as error:
                raise sch._attach(error, kind.method, _call_text(kind, (*given, *named.values()))) from None

        run.__name__ = run.__qualname__ = name
        run.__doc__ = kind.check.__doc__
        return run

    def __dir__(self) -> list[str]:
        return [k.method for k in InstructionKind.table.values() if k.step]


__all__ = ["Checks", "Schedule"]
