"""What compiled code asks of Python: registered functions, the values of a check that failed, Ctrl-C.

Compiled code calls these by their addresses from any thread; ctypes takes the GIL around each.  A failure is
kept here under a status, which the kernel hands back like that of an assert; the exception is made when the
call is over.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tirscript.diagnostics import TirscriptError

from .devices import cpu
from .ndarray import NDArray, numpy_dtype
from .registry import get_global_func
from .signature import Site

# Statuses of kept failures are FIRST and below; they come round again after LAST.
FIRST, LAST = -16, -(1 << 30)
_KEPT = 1024  # failures that nobody asked for, as that of a second thread, are forgotten in the end
_lock = threading.Lock()
# An exception of Python, or the number of a site and its values.
Failure = BaseException | tuple[int, list[int]]
_failures: dict[int, Failure] = {}
_next = FIRST


def _keep(what: Failure) -> int:
    global _next
    with _lock:
        status = _next
        _next = status - 1 if status > LAST else FIRST
        _failures[status] = what
        while len(_failures) > _KEPT:
            del _failures[next(iter(_failures))]
    return status


def failure(status: int) -> Failure | None:
    """What a status stands for."""
    with _lock:
        return _failures.pop(status, None)


# ---- calls of registered functions


def _text(address: int) -> str:
    return ctypes.string_at(address).decode()


class _Memory:
    """Memory by its address."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3,
        }  # fmt: skip


def array_at(address: int, dtype: str, shape: Sequence[int], strides: Sequence[int] | None) -> NDArray:
    """An array over memory of the program; strides in elements."""
    element = numpy_dtype(dtype)
    steps = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * max(shape[axis + 1], 1)
    if strides is not None:
        steps = list(strides)
    if 0 in shape:
        return NDArray(np.empty(shape, element), cpu())
    ends = [s * (n - 1) for s, n in zip(steps, shape, strict=True)]
    low, high = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends) + 1
    size = element.itemsize
    raw = np.asarray(_Memory(address + low * size, (high - low) * size)).view(element)
    seen = np.lib.stride_tricks.as_strided(raw[-low:], shape, [s * size for s in steps])
    return NDArray(seen, cpu())


def _packed(name: int, kinds: int, words: int, out: int) -> int:
    """Call a registered function.  ``kinds`` says what the words are: ``i`` and ``u`` integers, ``b`` a
    bool, ``f`` a float64, ``s`` a text, ``h`` a pointer, ``a:dtype:rank:strided;`` an array: pointer, shape,
    strides if any."""
    try:
        function = get_global_func(_text(name))
        assert function is not None
        result = function(*_values(_text(kinds), words))
        ctypes.c_int64.from_address(out).value = _as_int(result)
        return 0
    except BaseException as e:
        return _keep(e)


def _as_int(result: Any) -> int:
    if result is None:
        return 0
    if isinstance(result, (bool, int, np.integer, np.bool_)):
        value = int(result) & ((1 << 64) - 1)
        return value - (1 << 64) if value >> 63 else value
    raise TirscriptError(
        f"a function called by T.call_packed gives back an integer or None, not {result!r}", code="packed"
    )


def _values(kinds: str, words: int) -> list[Any]:
    read = (ctypes.c_int64 * _count(kinds)).from_address(words) if kinds else ()
    at = 0
    values: list[Any] = []
    for kind in kinds.split(";"):
        if not kind:
            continue
        word = read[at]
        at += 1
        if kind[0] == "a":
            _, dtype, rank, strided = kind.split(":")
            shape = [read[at + d] for d in range(int(rank))]
            at += int(rank)
            strides = None
            if strided == "1":
                strides = [read[at + d] for d in range(int(rank))]
                at += int(rank)
            values.append(array_at(word & ((1 << 64) - 1), dtype, shape, strides))
        else:
            values.append(number_of(kind, word))
    return values


def _count(kinds: str) -> int:
    total = 0
    for kind in kinds.split(";"):
        if kind:
            fields = kind.split(":")
            total += 1 if kind[0] != "a" else 1 + int(fields[2]) * (1 + int(fields[3]))
    return total


def number_of(kind: str, word: int) -> Any:
    """A word of 64 bits as a value of Python."""
    if kind == "f":
        return struct.unpack("<d", struct.pack("<q", word))[0]
    if kind == "b":
        return bool(word)
    if kind == "s":
        return _text(word & ((1 << 64) - 1))
    return word & ((1 << 64) - 1) if kind in "uh" else word


# ---- checks and asserts


def _report(site: int, words: int, count: int) -> int:
    """Keep the values of a check that failed."""
    try:
        values = list((ctypes.c_int64 * count).from_address(words)) if count else []
        return _keep((site, values))
    except BaseException as e:
        return _keep(e)


def explain(site: Site, words: Sequence[int]) -> tuple[str, list[str]]:
    """The message of a check that failed, with its values, and notes."""
    values = [number_of(kind, word) for kind, word in zip(site.kinds, words, strict=False)]
    message = site.message
    for k in range(site.inside):
        message = message.replace(f"{{{k}}}", str(values[k]), 1)
    shown = [f"{name} = {value}" for name, value in zip(site.names, values[site.inside :], strict=False)]
    return message, [f"with {', '.join(shown)}"] if shown else []


# ---- Ctrl-C


def _polls() -> Iterator[int]:
    """Each step lets Python act on signals: it does so on entry, which here is inside the ``try``."""
    status = 0
    while True:
        try:
            while True:
                yield status
                status = 0
        except BaseException as e:
            status = _keep(e)


_Packed = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_Report = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32)
_Poll = ctypes.CFUNCTYPE(ctypes.c_int32)
_made: dict[str, tuple[Any, int]] = {}
NAMES = ("tirscript_packed", "tirscript_report", "tirscript_poll")


def entry(name: str) -> int:
    """The address of a callback."""
    known = _made.get(name)
    if known is None:
        if name == "tirscript_packed":
            function: Any = _Packed(_packed)
        elif name == "tirscript_report":
            function = _Report(_report)
        else:
            steps: Any = _polls()
            next(steps)
            function = _Poll(steps.__next__)
        address = ctypes.cast(function, ctypes.c_void_p).value
        assert address is not None
        known = _made[name] = (function, address)
    return known[1]


__all__ = ["FIRST", "NAMES", "array_at", "entry", "explain", "failure"]
