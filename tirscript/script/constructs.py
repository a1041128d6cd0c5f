"""The constructs of ``T`` that stand in a script: decorators, blocks, loops, buffers, attributes.

Their meaning is given by the parser, which looks them up by identity; what is here is what a reader and
an editor need, the signature and the docstring.  Called outside of a script they say so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import NotYetError, TirscriptError


def _outside(name: str) -> Any:
    raise TirscriptError(
        f"T.{name} is part of the script language: it stands inside a function decorated with @T.prim_func",
        code="outside-script",
    )


# ---- functions


def prim_func(
    func: Callable[..., Any] | None = None,
    /,
    *,
    private: bool = False,
    check_well_formed: bool = True,
    s_tir: bool = False,
    persistent: bool = False,
) -> Any:
    """Decorator: the function, read as script, becomes a ``PrimFunc``.

    ``private=True``: not exported, no ``global_symbol``.  ``s_tir=True``: the dialect of TVM 0.27, where
    ``x = e`` is a mutable scalar.  ``check_well_formed=False`` leaves the checks out.
    """
    from tirscript.script.parser import entry
    from tirscript.script.parser.core import Options

    options = Options(private, check_well_formed, s_tir)
    frame = sys._getframe(1)
    if func is not None:
        result = entry.decorated_function(func, frame, options)
        if isinstance(result, TirscriptError):
            raise result from None
        return result

    def decorate(f: Callable[..., Any]) -> Any:
        result = entry.decorated_function(f, frame, options)
        if isinstance(result, TirscriptError):
            raise result from None
        return result

    return decorate


def macro(func: Callable[..., Any] | None = None, /, *, hygienic: bool = True) -> Any:
    """Decorator: a function whose body is read anew at every call in a script.

    A hygienic macro sees the names around its definition, another one also those around its calls.
    """
    from tirscript.script.parser import macro as macros

    frame = sys._getframe(1)
    if func is not None:
        return macros.define(func, frame, hygienic=hygienic)
    return lambda f: macros.define(f, frame, hygienic=hygienic)


def inline(func: Callable[..., Any] | None = None, /) -> Any:
    """Decorator: a macro that looks names up when it is called, in the scopes around its definition."""
    from tirscript.script.parser import macro as macros

    frame = sys._getframe(1)
    if func is not None:
        return macros.define(func, frame, hygienic=True, late=True)
    return lambda f: macros.define(f, frame, hygienic=True, late=True)


def func_attr(attrs: dict[str, Any]) -> None:
    """Attributes of the function: ``T.func_attr({"tir.noalias": True})``."""
    _outside("func_attr")


def func_name(name: str) -> None:
    """The exported name of the function."""
    _outside("func_name")


def func_ret(dtype: Any) -> None:
    """The dtype that the function returns."""
    _outside("func_ret")


class meta_var:
    """Keeps ``value`` a Python value: ``n = T.meta_var(4)`` makes no statement."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __iter__(self) -> Any:
        return (meta_var(v) for v in self.value)


# ---- buffers


def match_buffer(
    param: Any,
    shape: Any = None,
    dtype: Any = "float32",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "default",
    axis_separators: Any = None,
) -> Any:
    """The buffer behind the pointer parameter ``param``, or a view of the region ``param`` in a block."""
    _outside("match_buffer")


def alloc_buffer(
    shape: Any,
    dtype: Any = "float32",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "default",
    axis_separators: Any = None,
) -> Any:
    """A buffer of the enclosing block (of the root block outside of one)."""
    _outside("alloc_buffer")


def sblock_alloc_buffer(
    shape: Any,
    dtype: Any = "float32",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "default",
    axis_separators: Any = None,
) -> Any:
    """A buffer of the enclosing block: ``T.alloc_buffer`` in the spelling of TVM 0.27."""
    _outside("sblock_alloc_buffer")


def decl_buffer(
    shape: Any,
    dtype: Any = "float32",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = 0,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Any = None,
) -> Any:
    """A view of the memory at ``data``; without ``data`` the memory is allocated too."""
    _outside("decl_buffer")


def buffer_decl(
    shape: Any,
    dtype: Any = "float32",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = 0,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Any = None,
) -> Any:
    """An older spelling of ``T.decl_buffer``."""
    _outside("buffer_decl")


def allocate(
    extents: Any,
    dtype: Any,
    scope: str = "global",
    condition: Any = None,
    annotations: dict[str, Any] | None = None,
) -> Any:
    """Memory: ``with T.allocate([64], "float32", "shared") as p``, or ``p = T.allocate(...)``."""
    _outside("allocate")


def allocate_const(data: Any, dtype: Any, extents: Any, annotations: dict[str, Any] | None = None) -> Any:
    """Constant memory that holds ``data``, a list or an array."""
    _outside("allocate_const")


def realize(buffer_slice: Any, storage_scope: str, condition: Any = True) -> Any:
    """``with T.realize(A[0:n], "shared"):`` the region exists inside."""
    _outside("realize")


def buffer_store(buffer: Any, value: Any, indices: Any, predicate: Any = None) -> None:
    """``buffer[indices] = value``, with a predicate for lanes."""
    _outside("buffer_store")


# ---- loops


def serial(
    start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None, step: Any = None
) -> Any:
    """A loop in order: ``for i in T.serial(n)``, as ``range(n)``; takes annotations."""
    _outside("serial")


def parallel(
    start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None, step: Any = None
) -> Any:
    """A loop whose iterations run on several threads of the CPU."""
    _outside("parallel")


def vectorized(
    start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None, step: Any = None
) -> Any:
    """A loop whose iterations are the lanes of vectors."""
    _outside("vectorized")


def unroll(
    start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None, step: Any = None
) -> Any:
    """A loop that is written out."""
    _outside("unroll")


def thread_binding(
    start: Any, stop: Any = None, thread: str | None = None, *, annotations: dict[str, Any] | None = None
) -> Any:
    """A loop over a thread axis: ``for i in T.thread_binding(128, thread="threadIdx.x")``."""
    _outside("thread_binding")


def grid(*extents: Any) -> Any:
    """Nested serial loops: ``for i, j in T.grid(n, m)``; an extent may be a pair (start, stop)."""
    _outside("grid")


def While(condition: Any) -> Any:
    """``with T.While(condition):`` as ``while condition:``."""
    _outside("While")


def If(condition: Any) -> Any:
    """``with T.If(condition):`` around ``with T.Then():`` and ``with T.Else():``."""
    _outside("If")


def Then() -> Any:
    """The branch of ``T.If`` where the condition holds."""
    _outside("Then")


def Else() -> Any:
    """The other branch of ``T.If``."""
    _outside("Else")


# ---- blocks


def block(name: str = "", no_realize: bool = False) -> Any:
    """A unit of computation over its axes: ``with T.block("C"):``."""
    _outside("block")


def sblock(name: str = "", no_realize: bool = False) -> Any:
    """``T.block`` in the spelling of TVM 0.27."""
    _outside("sblock")


def init() -> Any:
    """``with T.init():`` what runs once for every spatial instance, before its first update."""
    _outside("init")


def where(predicate: Any) -> None:
    """The block runs where the predicate holds."""
    _outside("where")


def reads(*regions: Any) -> None:
    """What the block reads: points ``A[i, j]``, slices ``A[0:4]``, or whole buffers."""
    _outside("reads")


def writes(*regions: Any) -> None:
    """What the block writes."""
    _outside("writes")


def block_attr(attrs: dict[str, Any]) -> None:
    """Attributes of the block."""
    _outside("block_attr")


def sblock_attr(attrs: dict[str, Any]) -> None:
    """``T.block_attr`` in the spelling of TVM 0.27."""
    _outside("sblock_attr")


class axis:
    """Axes of a block: ``T.axis.spatial``, ``.reduce``, ``.scan``, ``.opaque``, ``.remap``."""

    @staticmethod
    def spatial(dom: Any, binding: Any, dtype: Any = "int32") -> Any:
        """An axis whose instances are independent; ``dom`` is an extent or a pair (low, high)."""
        _outside("axis.spatial")

    @staticmethod
    def reduce(dom: Any, binding: Any, dtype: Any = "int32") -> Any:
        """An axis that is summed over."""
        _outside("axis.reduce")

    @staticmethod
    def scan(dom: Any, binding: Any, dtype: Any = "int32") -> Any:
        """An axis whose instances run in order."""
        _outside("axis.scan")

    @staticmethod
    def opaque(dom: Any, binding: Any, dtype: Any = "int32") -> Any:
        """An axis of which nothing is known."""
        _outside("axis.opaque")

    @staticmethod
    def remap(kinds: str, bindings: Any, dtype: Any = "int32") -> Any:
        """Several axes over the whole range of loops: ``vi, vk = T.axis.remap("SR", [i, k])``."""
        _outside("axis.remap")

    S = spatial
    R = reduce


# ---- frames and statements


def attr(node: Any, attr_key: str, value: Any) -> Any:
    """An attribute of what follows, or of the body of the ``with``."""
    _outside("attr")


def launch_thread(thread: Any, extent: Any) -> Any:
    """A thread axis: ``with T.launch_thread("threadIdx.x", 128) as tx:``, or for the rest of the body."""
    _outside("launch_thread")


def env_thread(thread_tag: str, dtype: str = "int32") -> Any:
    """The variable of a thread axis, which ``T.launch_thread`` launches."""
    _outside("env_thread")


def evaluate(value: Any) -> None:
    """An expression for its effect."""
    _outside("evaluate")


def Assert(condition: Any, message: Any, error_kind: str = "AssertionError") -> Any:
    """``with T.Assert(condition, "message"):`` or ``assert condition, "message"``."""
    _outside("Assert")


def LetStmt(value: Any, type_annotation: Any = None, *, var: Any = None) -> Any:
    """``with T.LetStmt(e) as x:`` the value has a name inside; ``x = T.LetStmt(e)`` for the rest."""
    _outside("LetStmt")


def let(*args: Any) -> Any:
    """``x = T.let(e)`` names a value, ``with T.let(x, e):`` gives a variable a value."""
    _outside("let")


def target(config: Any, host: Any = None) -> Any:
    """A target, for ``T.func_attr({"target": T.target("cuda")})``."""
    from tirscript.script.parser.frames import make_target

    return make_target(config, host)


def not_yet(name: str) -> Any:
    """What a known name of ``T`` is that tirscript does not have."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotYetError(f"T.{name} is not supported yet", code="not-yet")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Known from TVM, not supported yet."
    refuse.not_yet = True  # type: ignore[attr-defined]
    return refuse


class _Metadata:
    """``T.metadata["key"]``: a constant in the metadata section of the text."""

    def __getitem__(self, key: str) -> Any:
        _outside("metadata")


metadata = _Metadata()

__all__ = [
    "Assert", "Else", "If", "LetStmt", "Then", "While", "alloc_buffer", "allocate", "allocate_const",
    "attr", "axis", "block", "block_attr", "buffer_decl", "buffer_store", "decl_buffer", "env_thread",
    "evaluate", "func_attr", "func_name", "func_ret", "grid", "init", "inline", "launch_thread", "let",
    "macro", "match_buffer", "meta_var", "metadata", "parallel", "prim_func", "reads", "realize", "sblock",
    "sblock_alloc_buffer", "sblock_attr", "serial", "target", "thread_binding", "unroll", "vectorized",
    "where", "writes",
]  # fmt: skip
