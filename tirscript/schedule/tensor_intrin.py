"""Tensor intrinsics: what an instruction computes, as a program, and how it is called.

The *description* is a function over small buffers with one block that says what is computed; the
*implementation* has the same parameters, and a body that calls the instruction.  ``tensorize`` looks for
the description in a program and puts the implementation there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from tirscript.diagnostics import ScheduleTypeError, ScheduleValueError, did_you_mean
from tirscript.ir import hooks
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import IntImm
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import BlockRealize

Made = tuple[PrimFunc, PrimFunc]


class TensorIntrin:
    """A description and an implementation; the named ones are in a table.

    >>> from tirscript.schedule.testing import chain
    >>> TensorIntrin.get("no such one", allow_missing=True) is None
    True
    """

    __slots__ = ("desc", "impl")
    desc: PrimFunc
    impl: PrimFunc
    _table: ClassVar[dict[str, TensorIntrin | Callable[[], Made]]] = {}

    def __init__(self, desc: PrimFunc, impl: PrimFunc) -> None:
        self.desc = _function(desc, "desc")
        self.impl = _function(impl, "impl")
        a, b = parameters(desc), parameters(impl)
        if len(a) != len(b):
            raise ScheduleValueError(
                f"the description has {len(a)} buffers, the implementation {len(b)}",
                code="intrin-parameters",
                hint="both take the same buffers in the same order",
            )
        for x, y in zip(a, b, strict=True):
            what = (
                f"dtype {x.dtype}, not {y.dtype}" if x.dtype != y.dtype
                else f"scope {x.scope!r}, not {y.scope!r}" if x.scope != y.scope
                else "another shape" if not _same_shape(x, y) else ""
            )  # fmt: skip
            if what:
                raise ScheduleValueError(
                    f"the buffer `{x.name}` of the description has {what} as in the implementation",
                    code="intrin-parameters",
                )

    @staticmethod
    def register(name: str, desc: PrimFunc, impl: PrimFunc, override: bool = False) -> None:
        """Enter an intrinsic under a name.

        ``intrin-parameters``: the two functions take different buffers, or none; ``intrin-block``: one has
        no block around all it does; ``intrin-exists``: the name is taken and ``override`` is not given.

        Source: TVM's ``TensorIntrin.register``.
        """
        _name(name)
        made = TensorIntrin(desc, impl)
        if not override and TensorIntrin._find(name) is not None:
            raise ScheduleValueError(
                f"a tensor intrinsic {name!r} is there already",
                code="intrin-exists",
                hint="TensorIntrin.register(..., override=True) takes its place",
            )
        TensorIntrin._table[name] = made

    @staticmethod
    def register_lazily(name: str, make: Callable[[], Made]) -> None:
        """Enter an intrinsic whose functions are made when it is first asked for."""
        TensorIntrin._table.setdefault(name, make)

    @staticmethod
    def get(name: str, allow_missing: bool = False) -> TensorIntrin | None:
        """The intrinsic of that name; where there is none, None or (``unknown-intrin``) an error."""
        _name(name)
        found = TensorIntrin._find(name)
        if found is None:
            if allow_missing:
                return None
            raise ScheduleValueError(
                f"there is no tensor intrinsic {name!r}",
                code="unknown-intrin",
                hint=did_you_mean(name, TensorIntrin.names())
                or "TensorIntrin.register(name, desc, impl) enters one",
            )
        if not isinstance(found, TensorIntrin):
            found = TensorIntrin._table[name] = TensorIntrin(*found())
        return found

    @staticmethod
    def names() -> list[str]:
        """The names of all intrinsics."""
        hooks.call("tensor_intrins")
        return sorted(TensorIntrin._table)

    @staticmethod
    def _find(name: str) -> TensorIntrin | Callable[[], Made] | None:
        found = TensorIntrin._table.get(name)
        if found is None:
            hooks.call("tensor_intrins")
            found = TensorIntrin._table.get(name)
        return found

    def __repr__(self) -> str:
        return f"TensorIntrin({self.desc.attrs.get('global_symbol', 'desc')})"


def _name(name: object) -> None:
    if not isinstance(name, str):
        raise ScheduleTypeError(
            f"the name of a tensor intrinsic is a string, not a {type(name).__name__}", code="intrin-name"
        )


def _function(f: object, what: str) -> PrimFunc:
    if not isinstance(f, PrimFunc):
        raise ScheduleTypeError(
            f"`{what}` of a tensor intrinsic is a function, not a {type(f).__name__}",
            code="intrin-function",
            hint="decorate it with @T.prim_func",
        )
    if any(p not in f.buffer_map for p in f.params) or not f.params:
        raise ScheduleValueError(
            f"the parameters of `{what}` must be buffers, at least one", code="intrin-parameters"
        )
    if type(f.body) is not BlockRealize or f.body.block.iter_vars:
        raise ScheduleValueError(
            f"`{what}` needs one block without axes around all it does",
            code="intrin-block",
            hint='put its statements under `with T.block("root"):` and say what they read and write',
        )
    return f


def parameters(f: PrimFunc) -> list[Buffer]:
    """The buffers of a function in the order of its parameters."""
    return [f.buffer_map[p] for p in f.params]


def _same_shape(a: Buffer, b: Buffer) -> bool:
    if len(a.shape) != len(b.shape):
        return False
    for x, y in zip(a.shape, b.shape, strict=True):
        if type(x) is IntImm and type(y) is IntImm and x.value != y.value:
            return False
    return True


__all__ = ["TensorIntrin", "parameters"]
