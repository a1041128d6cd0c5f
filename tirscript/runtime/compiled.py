"""The fast call: a builtin function that reads NumPy's arrays itself.

The arguments of all functions are checked by one routine, ``tirscript_arguments``, compiled once per process
with the layout of objects that was found by looking at probe arrays.  It reads a table of numbers that says
what a function takes, and fills slots with pointers and numbers.  Then the symbols of shapes are checked
and the kernel is called: by one function that most share, or by one compiled beside the kernel (see
``wrapper``).

Whatever is not plainly right goes to the slow path, ``CompiledFunction``, which accepts more kinds of
objects and knows what to say.  So the fast path may refuse anything, but accept only what the slow path
accepts, with the same values.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import sysconfig
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import jit, shared_call, wrapper
from .call import Function
from .ndarray import NDArray, numpy_dtype
from .signature import BufferParam, Signature

_METH_FASTCALL, _METH_KEYWORDS = 0x80, 0x02
_KNOWN = ((3, 10), (3, 14))  # versions of CPython whose calling convention is the one used here

_lock = threading.RLock()
_runtime: _Runtime | None = None
_unusable = False


# ---- the layout of objects


@dataclass(frozen=True, slots=True)
class Layout:
    """Where objects keep what is read from them, in bytes."""

    type: int
    data: int
    ndim: int
    shape: int
    strides: int
    descr: int
    flags: int
    number: int  # of a dtype: its type number
    order: int  # of a dtype: its byte order
    inner: int = 0  # of an NDArray: its NumPy array
    table: int = 0  # of a CompiledFunction: its table
    bytes: int = 0  # of a bytes object: the bytes


def probe() -> Layout | None:
    """The layout, checked against arrays of which all is known; None where it is another."""
    if sys.implementation.name != "cpython" or not _KNOWN[0] <= sys.version_info[:2] <= _KNOWN[1]:
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED") or struct.calcsize("P") != 8:
        return None
    head = object.__basicsize__
    layout = Layout(
        head - 8, head, head + 8, head + 16, head + 24, head + 40, head + 48, head + 12, head + 10
    )
    if head != 16 or np.ndarray.__basicsize__ < layout.flags + 4:
        return None
    base = np.arange(120, dtype="float32").reshape(4, 5, 6)
    frozen = np.zeros((2, 3), "int8")
    frozen.flags.writeable = False
    arrays: list[np.ndarray[Any, Any]] = [
        base, base[1:, ::2, ::-1], base.T, np.array(1.5), np.zeros(3, ">i4"), np.zeros((2, 2), bool), frozen,
        np.zeros(2, "longlong"), np.zeros(9, "uint8")[1:].view("float64"), np.zeros((0, 2), "uint64"),
    ]  # fmt: skip
    if not all(_as_expected(layout, a) for a in arrays):
        return None
    box, slow, table = NDArray(base, None), CompiledFunction.__new__(CompiledFunction), b"a table"  # type: ignore[arg-type]
    slow._table = table
    inner, held = _slot(box, base), _slot(slow, table)
    start = bytes.__basicsize__ - 1
    if not inner or not held or ctypes.string_at(id(table) + start, len(table)) != table or start % 8:
        return None
    return replace(layout, inner=inner, table=held, bytes=start)


def _slot(owner: Any, value: Any) -> int:
    """Where an object refers to another one; 0 where that is not seen."""
    size = type(owner).__basicsize__
    found = [at for at in range(object.__basicsize__, size, 8) if _word(id(owner) + at) == id(value)]
    return found[0] if len(found) == 1 else 0


def _word(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value


def _half(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _as_expected(at: Layout, a: np.ndarray[Any, Any]) -> bool:
    me, kind = id(a), id(a.dtype)
    signed = ctypes.c_ssize_t.from_address
    shape, strides = _word(me + at.shape), _word(me + at.strides)
    return (
        _word(me + at.type) == id(np.ndarray)
        and _word(me + at.data) == a.__array_interface__["data"][0]
        and _half(me + at.ndim) == a.ndim
        and all(signed(shape + 8 * d).value == a.shape[d] for d in range(a.ndim))
        and all(signed(strides + 8 * d).value == a.strides[d] for d in range(a.ndim))
        and _word(me + at.descr) == kind
        and _half(me + at.flags) == a.flags.num
        and _half(kind + at.number) == a.dtype.num
        and ctypes.c_char.from_address(kind + at.order).value == a.dtype.byteorder.encode()
    )


# ---- what is compiled once


class _Runtime:
    """The compiled check of arguments, and the addresses that fast calls need."""

    def __init__(self, layout: Layout) -> None:
        api = ctypes.pythonapi

        def address(name: str) -> int:
            return ctypes.cast(getattr(api, name), ctypes.c_void_p).value or 0

        used = {name: address(name) for name in wrapper.PYTHON_API}
        places = {
            **{name.upper(): getattr(layout, name) for name in Layout.__slots__},
            "NDARRAY_TYPE": id(np.ndarray), "BOX_TYPE": id(NDArray), "INT_TYPE": id(int),
            "BOOL_TYPE": id(bool), "FLOAT_TYPE": id(float), "NONE_OBJECT": id(None),
            "TRUE_OBJECT": id(True), "FALSE_OBJECT": id(False),
            "NATIVE_ORDER": ord("<" if sys.byteorder == "little" else ">"),
        }  # fmt: skip
        text = shared_call.runtime_text(places, immortal=sys.version_info >= (3, 12))
        self._code = jit.load(text, list(wrapper.HELPERS), jit.Machine(opt_level=1, passes=False), used, ())
        self.symbols = {**used, **self._code.addresses}
        # A prototype of our own: others may use the same function of `pythonapi`.
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self.new = make(address("PyCFunction_NewEx"))


def _get_runtime() -> _Runtime | None:
    """None where the slow path must serve the process."""
    global _runtime, _unusable
    if _runtime is None and not _unusable:
        with _lock:
            if _runtime is None and not _unusable:
                layout = probe()
                if layout is None:
                    _unusable = True
                else:
                    _runtime = _Runtime(layout)
    return _runtime


# ---- the parts of one function


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )  # fmt: skip


class CompiledFunction(Function):
    """The slow path of a compiled function, and what keeps its fast path alive.

    ``mod["f"]`` is a builtin function whose ``__self__`` is this.
    """

    __slots__ = ("_definition", "_table")
    _definition: _Definition
    _table: Any

    def _raise(self, status: int) -> None:
        """Raise what a status of the kernel means; compiled code calls this."""
        self._invoke._failed(status)  # type: ignore[attr-defined]


@dataclass(slots=True)
class Wrappers:
    """The fast calls of the functions of a module: text to compile with the kernels, and its symbols."""

    text: str
    names: dict[str, str]  # symbols by function, of those that have a wrapper of their own
    symbols: dict[str, int]  # addresses that the text uses
    tables: dict[str, Any]  # what each function takes, as numbers


def wrappers(signatures: Mapping[str, Signature], kernels: Mapping[str, str]) -> Wrappers:
    """The wrappers of compiled functions; none where fast calls are not possible."""
    made = Wrappers("", {}, {}, {})
    runtime = _get_runtime()
    if runtime is None:
        return made
    texts: list[str] = []
    used: set[str] = set()
    for k, (name, signature) in enumerate(signatures.items()):
        if not wrapper.is_possible(signature):
            continue
        words = wrapper.table(signature, _dtype_words)
        if wrapper.is_shared(signature):
            made.tables[name] = words
            continue
        symbol, table = f"tirscript.call.{k}", f"tirscript.takes.{k}"
        text = wrapper.emit(signature, f'@"{symbol}"', f'@"{table}"', f'@"{wrapper.escaped(kernels[name])}"')
        if text is None:
            continue
        texts += [f'@"{table}" = external global i64', text.body]
        used |= text.uses
        made.tables[name] = array = (ctypes.c_int64 * len(words))(*words)
        made.symbols[table] = ctypes.addressof(array)
        made.names[name] = symbol
    for helper in sorted(used):
        made.symbols[helper] = runtime.symbols[helper]
        texts.append(wrapper.DECLARATIONS[helper])
    made.text = "".join(f"{t}\n" for t in texts)
    return made


_words: dict[str, tuple[int, int, int]] = {}


def _dtype_words(p: BufferParam) -> tuple[int, int, int]:
    """NumPy's object of a dtype, a set of the type numbers that mean the same, and the size in bytes."""
    known = _words.get(p.dtype)
    if known is None:
        dtype = numpy_dtype(p.dtype)
        same = 0
        # Dtypes of NumPy itself; those of ml_dtypes go by identity alone.
        for code in "?bBhHiIlLqQefd" if dtype.num < 64 else "":
            if np.dtype(code) == dtype:
                same |= 1 << np.dtype(code).num
        known = _words[p.dtype] = (id(dtype), same, dtype.itemsize)
    return known


def builtin(function: CompiledFunction, kernel: int, code: int | None, table: Any) -> Any:
    """The builtin function whose self is ``function``.

    ``code`` is its wrapper; without one it is the shared call, and ``table`` are words.
    """
    runtime = _get_runtime()
    assert runtime is not None
    if code is None:
        code = runtime.symbols["tirscript_call"]
        table[wrapper.KERNEL] = kernel
        table = struct.pack(f"{len(table)}q", *table)
    signature = function.signature
    doc = f"{wrapper.signature_line(signature)}{signature}"
    # The structure keeps the texts alive; the function keeps the structure alive, and the builtin it.
    function._definition = definition = _Definition(
        signature.name.encode(), code, _METH_FASTCALL | _METH_KEYWORDS, doc.encode()
    )
    function._table = table
    return runtime.new(ctypes.addressof(definition), function, None)


def bound(function: Any, args: Sequence[Any]) -> Callable[[], Any]:
    """A call with these arguments, for timing: what needed the slow path was done now, once."""
    if isinstance(function, Function):
        return function.bound(args)
    slow: Function = function.__self__
    return functools.partial(function, *slow._arguments.check(args)[0])


__all__ = ["CompiledFunction", "Layout", "Wrappers", "bound", "builtin", "probe", "wrappers"]
