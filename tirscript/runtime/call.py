"""The call: checked arguments to compiled code, and what it says back."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tirscript.diagnostics import AssertFailed, CallError, CallTypeError, CheckFailed, TirscriptError

from . import callbacks
from .arguments import FLOATS, Arguments, address_of
from .signature import BufferParam, HandleParam, Signature, Site

# Floats narrower than float32 are passed and given back as doubles, narrow integers as bytes.
_C_TYPES: dict[str, Any] = {**dict.fromkeys(FLOATS, ctypes.c_double), "float32": ctypes.c_float}
_RESULTS: dict[str, Any] = {
    **_C_TYPES, "bool": ctypes.c_bool,
    **{f"int{b}": ctypes.c_int8 for b in (1, 2, 4)}, **{f"uint{b}": ctypes.c_uint8 for b in (1, 2, 4)},
    **{f"int{b}": getattr(ctypes, f"c_int{b}") for b in (8, 16, 32, 64)},
    **{f"uint{b}": getattr(ctypes, f"c_uint{b}") for b in (8, 16, 32, 64)},
}  # fmt: skip


class Function:
    """A function that can be called: ``f(a, b, c)``, positional arguments only.

    It keeps the code that it runs alive.
    """

    __slots__ = ("__weakref__", "_arguments", "_invoke", "_owner", "signature")

    def __init__(
        self,
        signature: Signature,
        invoke: Callable[[list[Any], list[int]], Any],
        owner: Any = None,
    ) -> None:
        self.signature = signature
        self._arguments = Arguments(signature)
        self._invoke = invoke
        self._owner = owner

    @property
    def __name__(self) -> str:
        return self.signature.name

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(self.signature)

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if keywords:
            raise CallTypeError(
                f"{self.signature.name} takes its arguments by their places; "
                f"{', '.join(f'`{k}`' for k in keywords)} came by name",
                code="keyword-arguments",
                notes=[f"signature: {self.signature}"],
            )
        values, symbols = self._arguments.check(args)
        return self._invoke(values, symbols)

    def bound(self, args: Sequence[Any]) -> Callable[[], Any]:
        """The call with these arguments, checked now and not again: for timing."""
        values, symbols = self._arguments.check(args)
        prepare = getattr(self._invoke, "prepare", None)
        if prepare is not None:
            return prepare(values, symbols)  # type: ignore[no-any-return]
        return lambda: self._invoke(values, symbols)

    def __repr__(self) -> str:
        return f"<tirscript function {self.signature}>"


def make_callable(signature: Signature, raw: Callable[..., Any], owner: Any = None) -> Function:
    """A checked call of a Python function that takes NumPy arrays and numbers in the order of the
    parameters."""

    def invoke(values: list[Any], symbols: list[int]) -> Any:
        return raw(*values)

    return Function(signature, invoke, owner)


class Native:
    """Calls compiled code through ctypes; the GIL is released while it runs."""

    def __init__(self, signature: Signature, address: int, sites: Sequence[Site], owner: Any) -> None:
        self.signature = signature
        self.sites = sites
        self._owner = owner
        types: list[Any] = []
        self._pointers: list[int] = []
        for i, p in enumerate(signature.params):
            if isinstance(p, (BufferParam, HandleParam)):
                types.append(ctypes.c_void_p)
                self._pointers.append(i)
            else:
                types.append(_C_TYPES.get(p.dtype, ctypes.c_int64))
        types += [ctypes.c_int64] * len(signature.passed)
        self._result = None if signature.returns is None else _RESULTS[signature.returns]
        if self._result is not None:
            types.append(ctypes.c_void_p)
        self._raw = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)

    def _operands(self, values: list[Any], symbols: list[int]) -> list[Any]:
        operands = list(values)
        for i in self._pointers:
            a = operands[i]
            operands[i] = address_of(a) if type(a) is np.ndarray else a
        operands.extend([symbols[s] for s in self.signature.passed])
        return operands

    def __call__(self, values: list[Any], symbols: list[int]) -> Any:
        operands = self._operands(values, symbols)
        if self._result is None:
            status = self._raw(*operands)
            if status:
                self._failed(status)
            return None
        out = self._result()
        status = self._raw(*operands, ctypes.addressof(out))
        if status:
            self._failed(status)
        return out.value

    def prepare(self, values: list[Any], symbols: list[int]) -> Callable[[], Any]:
        operands = self._operands(values, symbols)
        out = None if self._result is None else self._result()
        if out is not None:
            operands.append(ctypes.addressof(out))
        raw = self._raw

        def run() -> Any:
            # `values` keeps the arrays alive.
            status = raw(*operands)
            if status:
                self._failed(status)
            return out.value if out is not None else values and None

        return run

    def _failed(self, status: int) -> None:
        name = self.signature.name
        values: Sequence[int] = ()
        if status <= callbacks.FIRST:
            kept = callbacks.failure(status)
            if isinstance(kept, BaseException):
                raise kept
            if kept is not None:
                status, values = kept
        if status < 0 or status > len(self.sites):
            raise CallError(f"{name}: there is no memory for its temporaries", code="no-memory")
        site = self.sites[status - 1]
        message, notes = callbacks.explain(site, values)
        kind_of_error: type[TirscriptError] = CheckFailed if site.check else AssertFailed
        raise kind_of_error(
            message or "an assert does not hold",
            code="check" if site.check else "assert",
            marks=() if site.mark is None else (site.mark,),
            notes=[*notes, f"in a call of {self.signature}"],
        )


__all__ = ["Arguments", "Function", "Native", "make_callable"]
