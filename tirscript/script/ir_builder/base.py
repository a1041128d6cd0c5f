"""The builder: a stack of open frames, each of which becomes a statement, a function or a module."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tirscript.diagnostics import TirscriptError
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import IterVar, Var, const_int
from tirscript.ir.stmt import Evaluate, Stmt, seq

F = TypeVar("F", bound="IRBuilderFrame")


class IRBuilderError(TirscriptError):
    """A frame or a statement stands where it cannot."""

    default_code = "ir-builder"


class IRBuilder:
    """``with IRBuilder() as ib:`` around the frames; ``ib.get()`` is what they made.

    Source: TVM's ``script.ir_builder.IRBuilder``.
    """

    def __init__(self) -> None:
        self.frames: list[IRBuilderFrame] = []
        self._results: list[Any] = []

    def __enter__(self) -> IRBuilder:
        _stack.set((*_stack.get(), self))
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        _stack.set(_stack.get()[:-1])
        if kind is not None:
            self.frames.clear()

    @staticmethod
    def current() -> IRBuilder:
        """The builder of the innermost ``with``."""
        stack = _stack.get()
        if not stack:
            raise IRBuilderError("there is no builder here", hint="with IRBuilder() as ib: ...")
        return stack[-1]

    @staticmethod
    def is_in_scope() -> bool:
        """Whether there is a ``with IRBuilder()`` around."""
        return bool(_stack.get())

    def get(self) -> Any:
        """The function, module or statement that was made."""
        if self.frames:
            raise IRBuilderError(f"the frame {self.frames[-1].title} is still open")
        if not self._results:
            raise IRBuilderError(
                "nothing was made", hint="with T.prim_func(): ... inside the builder's `with`"
            )
        if all(isinstance(r, Stmt) for r in self._results):
            return seq(*self._results)
        if len(self._results) != 1:
            raise IRBuilderError(
                f"{len(self._results)} things were made side by side", hint="put functions into I.ir_module()"
            )
        return self._results[0]

    def find(self, kind: type[F], what: str) -> F:
        """The innermost open frame of that kind; ``what`` is what needs one."""
        for frame in reversed(self.frames):
            if isinstance(frame, kind):
                return frame
        raise IRBuilderError(f"{what} stands outside of {kind.title}", hint=f"with {kind.title}: ...")

    def top(self, kind: type[F], what: str) -> F:
        """The innermost frame, which must be of that kind."""
        frame = self.frames[-1] if self.frames else None
        if not isinstance(frame, kind):
            where = "at the top" if frame is None else f"directly inside {frame.title}"
            raise IRBuilderError(f"{what} stands {where}", hint=f"it belongs directly inside {kind.title}")
        return frame

    def add(self, made: Any) -> None:
        """A statement of the innermost frame, or the result."""
        if self.frames:
            self.frames[-1].take(made)
        else:
            self._results.append(made)

    @staticmethod
    def name(s: str, v: Any) -> Any:
        """Give what was just made a name: a variable, a buffer, an axis or a list of these; ``v`` itself."""
        if not isinstance(s, str) or not s:
            raise IRBuilderError(f"a name is a non-empty string, not {s!r}")
        if isinstance(v, (list, tuple)):
            for k, item in enumerate(v):
                IRBuilder.name(f"{s}_{k}", item)
        elif isinstance(v, IterVar):
            _rename(v.var, s)
        elif isinstance(v, (Var, Buffer)):
            _rename(v, s)
            if isinstance(v, Buffer) and v.data.name.endswith("_data"):
                _rename(v.data, f"{s}_data")
        return v

    @staticmethod
    def name_many(s: Sequence[str], vs: Sequence[Any]) -> Sequence[Any]:
        """Give several things their names."""
        if len(s) != len(vs):
            raise IRBuilderError(f"{len(s)} names for {len(vs)} things")
        for one, v in zip(s, vs, strict=True):
            IRBuilder.name(one, v)
        return vs


def _rename(v: Any, name: str) -> None:
    # What the builder has just made is nobody else's yet: it may still get its name.
    object.__setattr__(v, "name", name)


class IRBuilderFrame:
    """One open scope.  ``title`` is how errors name it."""

    title = "a frame"
    # What a script's `as` binds.
    value: Any = None

    def __init__(self) -> None:
        self.statements: list[Stmt] = []

    def __enter__(self) -> Any:
        self.builder = IRBuilder.current()
        self.opened()
        self.builder.frames.append(self)
        return self.value

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        frames = self.builder.frames
        if kind is not None:
            if self in frames:
                del frames[frames.index(self) :]
            return
        if not frames or frames[-1] is not self:
            raise IRBuilderError(f"the frame {self.title} is closed while another inside it is open")
        frames.pop()
        made = self.closed(self.body())
        if made is not None:
            self.builder.add(made)

    def opened(self) -> None:
        """The frame begins: a place to check what is around."""

    def closed(self, body: Stmt) -> Any:
        """What the frame makes of the statements inside."""
        raise NotImplementedError

    def take(self, made: Any) -> None:
        """A statement that was made inside."""
        if not isinstance(made, Stmt):
            raise IRBuilderError(f"a {type(made).__name__} cannot stand inside {self.title}")
        self.statements.append(made)

    def body(self) -> Stmt:
        """The statements inside as one."""
        return seq(*self.statements) if self.statements else Evaluate(const_int(0))


class WrapFrame(IRBuilderFrame):
    """A frame that is described by a function from its body to a statement."""

    def __init__(self, title: str, wrap: Callable[[Stmt], Stmt], value: Any = None) -> None:
        super().__init__()
        self.title = title
        self.wrap = wrap
        self.value = value

    def closed(self, body: Stmt) -> Stmt:
        return self.wrap(body)


_stack: contextvars.ContextVar[tuple[IRBuilder, ...]] = contextvars.ContextVar("ir_builders", default=())
