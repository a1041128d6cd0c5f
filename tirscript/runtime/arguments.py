"""The arguments of a call: every one is checked against the signature before compiled code sees it."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from tirscript.diagnostics import CallError, CallTypeError, CallValueError

from . import memory
from .dlpack import ON_THE_CPU, array_over
from .ndarray import FLOAT8, NDArray, numpy_dtype
from .signature import BufferParam, Extent, HandleParam, ScalarParam, Signature

Array = np.ndarray[Any, Any]
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", *FLOAT8})


_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400


def _slow_address(a: Array) -> int:
    address: int = a.__array_interface__["data"][0]
    return address


_word = ctypes.c_size_t.from_address
_DATA = object.__basicsize__  # where an ndarray keeps the pointer to its elements


def _fast_address(a: Array) -> int:
    return _word(id(a) + _DATA).value


def _probe() -> bool:
    """Whether the layout of arrays is what ``_fast_address`` takes it for."""
    a = np.arange(6)
    return np.ndarray.__basicsize__ >= 64 and all(_fast_address(x) == _slow_address(x) for x in (a, a[2:]))


address_of = _fast_address if _probe() else _slow_address


def int_bounds(dtype: str) -> tuple[int, int]:
    """The range of an integer dtype.

    >>> int_bounds("int8"), int_bounds("uint16")
    ((-128, 127), (0, 65535))
    """
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.lstrip("uint"))
    return (0, (1 << bits) - 1) if dtype[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def describe(value: Any) -> str:
    """What an argument is, in a few words.

    >>> describe(None), describe(2.5), describe(np.zeros((2, 3), "int8")), describe([])
    ('None', 'the float 2.5', 'int8[2, 3]', 'a value of type list')
    """
    kind = type(value)
    if kind is NDArray:
        return f"an NDArray {value.dtype}{list(value.shape)}"
    if kind is np.ndarray:
        return f"{value.dtype}{list(value.shape)}"
    if value is None:
        return "None"
    if kind is int and value.bit_length() > _WRITABLE:
        return shown(value)
    if kind in (bool, int, float, complex, str):
        return f"the {kind.__name__} {shown(value)}"
    if kind.__module__ == "numpy" and issubclass(kind, (np.number, np.bool_)):
        return f"the numpy.{kind.__name__} {shown(value)}"
    return f"a value of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")


_WRITABLE = 4096  # bits; Python refuses to write integers of thousands of digits


def shown(value: Any) -> str:
    """A number or a text as it is written, shortened."""
    if type(value) is int and value.bit_length() > _WRITABLE:
        return f"an int of {value.bit_length()} bits"
    text = repr(value) if not isinstance(value, np.generic) else str(value)
    return text if len(text) < 40 else text[:36] + "..."


class Arguments:
    """Checks the arguments of calls of one function.

    ``check(args)`` gives the values in the order of the parameters (NumPy arrays; Python numbers) and
    the values of the symbols, or raises a CallError that names the argument.
    """

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        # Place, parameter, dtype, the shape if it is constant, the flags that must be set, whether dense.
        self._buffers: list[tuple[int, BufferParam, np.dtype[Any], tuple[int, ...] | None, int, bool]] = []
        self._scalars: list[tuple[int, ScalarParam, int, int]] = []
        self._handles: list[int] = []
        for i, p in enumerate(signature.params):
            if isinstance(p, BufferParam):
                dense = p.strides is None
                sizes = [e.value for e in p.shape]
                shape = tuple(n for n in sizes if n is not None)
                flags = _ALIGNED | (_CONTIGUOUS if dense else 0) | (_WRITEABLE if p.written else 0)
                known = shape if len(shape) == len(sizes) else None
                self._buffers.append((i, p, numpy_dtype(p.dtype), known, flags, dense))
            elif isinstance(p, ScalarParam):
                low, high = (0, 0) if p.dtype in FLOATS else int_bounds(p.dtype)
                self._scalars.append((i, p, low, high))
            else:
                self._handles.append(i)
        self._bounds = [int_bounds(s.dtype) for s in signature.symbols]
        self._overlap = (
            signature.noalias and len(self._buffers) > 1 and any(b[1].written for b in self._buffers)
        )
        self._any_strides = any(b[1].strides is not None or b[1].offset is not None for b in self._buffers)

    # ---- errors

    def _fail(
        self, kind: type[CallError], i: int, message: str, code: str, hint: str | None = None
    ) -> NoReturn:
        name = self.signature.params[i].name
        raise kind(
            f"{self.signature.name}: argument {i + 1}, `{name}`: {message}",
            code=code,
            notes=[f"signature: {self.signature}"],
            hint=hint,
        )

    def _count(self, given: int) -> NoReturn:
        wanted = len(self.signature.params)
        raise CallTypeError(
            f"{self.signature.name} takes {wanted} argument{'s' if wanted != 1 else ''}, {given} "
            f"{'was' if given == 1 else 'were'} given",
            code="argument-count",
            notes=[f"signature: {self.signature}"],
            hint="outputs are passed as arguments, too" if given < wanted else None,
        )

    # ---- the check

    def check(self, args: Sequence[Any]) -> tuple[list[Any], list[int]]:
        signature = self.signature
        if len(args) != len(signature.params):
            self._count(len(args))
        values = list(args)
        symbols: list[Any] = [None] * len(signature.symbols)
        for i, s, low, high in self._scalars:
            values[i] = number = self._scalar(i, s, values[i], low, high)
            if s.symbol is not None:
                symbols[s.symbol] = number
        for i in self._handles:
            values[i] = self._handle(i, values[i])
        # All are taken before any is checked: an object's own code may change the others.
        for i, p, *_ in self._buffers:
            if type(values[i]) is not np.ndarray:
                values[i] = self._array(i, p, values[i])
        for i, p, dtype, shape, flags, _ in self._buffers:
            a = values[i]
            if a.dtype is not dtype:
                self._kind(i, p, a, dtype)
            if shape is None:
                if a.ndim != len(p.shape):
                    self._rank(i, p, a)
            elif a.shape != shape:
                self._shape(i, p, a)
            if a.flags.num & flags != flags or p.align:
                self._flags(i, p, a)
        if symbols:
            self._bind(values, symbols)
        if self._any_strides:
            for i, p, *_ in self._buffers:
                if p.strides is not None or p.offset is not None:
                    self._strides(i, p, values[i], symbols)
        if self._overlap:
            self._disjoint(values)
        return values, symbols

    # ---- one argument

    def _array(self, i: int, p: BufferParam, a: Any) -> Array:
        """Any object that holds an array on the CPU, as a NumPy array over the same memory."""
        kind = type(a)
        if kind is NDArray:
            a = a._array
            kind = type(a)
        if issubclass(kind, np.ndarray):
            return _base(a)
        want = str(p).partition(": ")[2]
        if a is None or issubclass(kind, (str, int, float, complex, np.generic, list, tuple, dict, set)):
            hint = None
            if issubclass(kind, (list, tuple)):
                hint = f"np.array(..., dtype={p.dtype!r}) makes an array of it"
            elif not p.shape and (kind in (bool, int, float) or issubclass(kind, np.number)):
                hint = f"np.array({shown(a)}, dtype={p.dtype!r}) makes a 0-d array of it"
            self._fail(
                CallTypeError, i, f"an array {want} is wanted, this is {describe(a)}", "not-an-array", hint
            )
        try:
            where = _device_of(a)
            found = None if where is not None and where not in ON_THE_CPU else _over(a, p.written)
        except Exception as e:
            self._fail(
                CallTypeError, i, f"an array {want} is wanted, this is {describe(a)}: {_words(e)}",
                "not-an-array",
                "pass a NumPy array, or an object with DLPack, __array_interface__ or the buffer protocol",
            )  # fmt: skip
        if found is None:
            self._fail(
                CallValueError, i, "the array is not on the CPU", "device", "copy it to the host first"
            )
        if found.size and not memory.is_there(found):
            self._fail(
                CallValueError, i, "there is no memory where it says that its elements are", "no-memory"
            )
        return found

    def _kind(self, i: int, p: BufferParam, a: Array, dtype: np.dtype[Any]) -> None:
        have = a.dtype
        if have == dtype:
            return
        hint = f"a.astype({p.dtype!r})"
        if have.newbyteorder("=") == dtype:
            self._fail(
                CallTypeError, i, f"{p.dtype} in this machine's byte order is wanted, this is {have.str}",
                "byte-order", f"{hint} converts it",
            )  # fmt: skip
        self._fail(
            CallTypeError, i, f"{p.dtype} is wanted, this is {describe(a)}", "dtype", f"{hint} converts it"
        )

    def _rank(self, i: int, p: BufferParam, a: Array) -> NoReturn:
        shown = ", ".join(e.text for e in p.shape)
        hint = None
        if all(e.value is not None for e in p.shape):
            if math.prod(e.value or 0 for e in p.shape) == a.size:
                hint = f"a.reshape({shown})"
        self._fail(
            CallValueError, i,
            f"{len(p.shape)} dimension{'s' if len(p.shape) != 1 else ''} [{shown}] wanted, this has {a.ndim}"
            f": {list(a.shape)}",
            "rank", hint,
        )  # fmt: skip

    def _shape(self, i: int, p: BufferParam, a: Array) -> NoReturn:
        if a.ndim != len(p.shape):
            self._rank(i, p, a)
        shown = ", ".join(e.text for e in p.shape)
        for d, e in enumerate(p.shape):
            if a.shape[d] != e.value:
                self._fail(
                    CallValueError, i,
                    f"the shape [{shown}] is wanted, this is {list(a.shape)}: dimension {d} is {a.shape[d]}, "
                    f"not {e.value}",
                    "shape",
                )  # fmt: skip
        raise AssertionError("the shapes are equal")

    def _layout(self, i: int, a: Array) -> NoReturn:
        strides = [s // a.itemsize if s % a.itemsize == 0 else s / a.itemsize for s in a.strides]
        self._fail(
            CallValueError, i,
            f"a C-contiguous array is wanted, this has strides {strides} (in elements) for the "
            f"shape {list(a.shape)}",
            "not-contiguous", "np.ascontiguousarray(a) makes a contiguous copy",
        )  # fmt: skip

    def _flags(self, i: int, p: BufferParam, a: Array) -> None:
        if p.strides is None and not a.flags.c_contiguous:
            self._layout(i, a)
        if p.written and not a.flags.writeable:
            self._fail(
                CallValueError, i, "the function writes it, and the array is read-only", "read-only",
                "pass a writeable array, for instance a.copy()",
            )  # fmt: skip
        if not a.flags.aligned or (p.align and address_of(a) % p.align):
            self._alignment(i, p, a)

    def _alignment(self, i: int, p: BufferParam, a: Array) -> None:
        if a.size == 0:
            return
        wanted = max(p.align, a.dtype.alignment)
        self._fail(
            CallValueError, i, f"the array's address must be a multiple of {wanted} bytes", "alignment",
            "a copy is aligned: a.copy()" if not p.align else "nd.array(a) is aligned to 64 bytes",
        )  # fmt: skip

    def _strides(self, i: int, p: BufferParam, a: Array, symbols: list[int]) -> None:
        if p.offset is not None and p.offset.at(symbols) != 0:
            self._fail(
                CallValueError, i,
                f"the buffer begins {p.offset.at(symbols)} elements after its address, an array "
                f"at its address",
                "offset",
            )  # fmt: skip
        for d, e in enumerate(p.strides or ()):
            step, rest = divmod(a.strides[d], a.itemsize)
            if a.shape[d] <= 1 or a.size == 0:
                continue
            if rest or step != e.at(symbols):
                self._fail(
                    CallValueError, i,
                    f"the stride of dimension {d} is {a.strides[d] / a.itemsize:g} elements, not "
                    f"{e.at(symbols)} (`{e.text}`)",
                    "stride",
                )  # fmt: skip
            if step == 0 and p.written:
                self._fail(
                    CallValueError,
                    i,
                    f"the function writes it, and its stride along dimension {d} is 0",
                    "stride",
                )

    def _scalar(self, i: int, s: ScalarParam, v: Any, low: int, high: int) -> Any:
        t = type(v)
        if s.dtype in FLOATS:
            if t is float:
                return v
            if issubclass(t, (float, int, np.floating, np.integer, np.bool_)):
                try:
                    if issubclass(t, float):
                        return float.__float__(v)  # a subclass may say anything
                    return float(int.__index__(v) if issubclass(t, int) else v)
                except OverflowError:
                    self._fail(CallValueError, i, f"{describe(v)} does not fit {s.dtype}", "scalar-range")
                except Exception as e:
                    self._fail(CallTypeError, i, f"{describe(v)} is no number: {_words(e)}", "scalar-type")
            self._fail(
                CallTypeError, i, f"a number ({s.dtype}) is wanted, this is {describe(v)}", "scalar-type"
            )
        if s.dtype == "bool":
            if issubclass(t, (bool, np.bool_)):
                return bool(v)
            self._fail(CallTypeError, i, f"a bool is wanted, this is {describe(v)}", "scalar-type")
        if t is not int:
            if not issubclass(t, (int, np.integer)):
                finite = issubclass(t, (float, np.floating)) and math.isfinite(v)
                hint = f"int({shown(v)}) truncates" if finite else None
                self._fail(
                    CallTypeError,
                    i,
                    f"an integer ({s.dtype}) is wanted, this is {describe(v)}",
                    "scalar-type",
                    hint,
                )
            try:
                v = int.__index__(v) if issubclass(t, int) else operator.index(v)
            except Exception as e:
                self._fail(CallTypeError, i, f"{describe(v)} is no integer: {_words(e)}", "scalar-type")
        if not low <= v <= high:
            self._fail(
                CallValueError,
                i,
                f"{shown(v)} does not fit {s.dtype}, which holds {low} to {high}",
                "scalar-range",
            )
        return v

    def _handle(self, i: int, v: Any) -> Any:
        """A pointer: the address of an array, a number, or None."""
        kind = type(v)
        if v is None:
            return 0
        if issubclass(kind, int):
            address = int.__index__(v)
            if not 0 <= address < 1 << 8 * ctypes.sizeof(ctypes.c_void_p):
                self._fail(CallValueError, i, f"{shown(address)} is no address", "handle")
            return address
        if kind is NDArray:
            v = v._array
            kind = type(v)
        if issubclass(kind, np.ndarray):
            return _base(v)
        try:
            where = _device_of(v)
            found = None if where is not None and where not in ON_THE_CPU else _over(v, True)
        except Exception:
            self._fail(CallTypeError, i, f"an array or an address is wanted, this is {describe(v)}", "handle")
        if found is None:
            self._fail(
                CallValueError, i, "the array is not on the CPU", "device", "copy it to the host first"
            )
        return found

    # ---- symbols

    def _bind(self, values: list[Any], symbols: list[Any]) -> None:
        pending: list[tuple[int, str, int, Extent, int]] = []
        for i, p, *_ in self._buffers:
            a = values[i]
            found = [("extent", d, e, a.shape[d]) for d, e in enumerate(p.shape)]
            if p.strides is not None:
                for d, e in enumerate(p.strides):
                    step = a.strides[d] // a.itemsize
                    # A stride that is never used may be anything: what a dense array would have.
                    if a.shape[d] <= 1 and e.symbol is not None:
                        step = math.prod(a.shape[d + 1 :])
                    found.append(("stride", d, e, step))
            if p.offset is not None:
                found.append(("offset", 0, p.offset, 0))
            for word, d, e, number in found:
                if e.symbol is not None and symbols[e.symbol] is None:
                    self._fits(i, e.symbol, number)
                    symbols[e.symbol] = number
                elif e.value is None or word == "extent":
                    pending.append((i, word, d, e, number))
        self._solve(pending, symbols)
        for i, word, d, e, number in pending:
            wanted = e.at(symbols)
            if number != wanted and word == "extent":
                where = f" (`{e.text}`)" if e.value is None else ""
                shape = list(values[i].shape)
                known = ", ".join(
                    f"{s.name} = {v}"
                    for s, v in zip(self.signature.symbols, symbols, strict=True)
                    if s.name in e.text
                )
                self._fail(
                    CallValueError, i,
                    f"dimension {d} is {number} in {shape}, not {wanted}{where}"
                    + (f" with {known}" if known else ""),
                    "shape",
                )  # fmt: skip

    def _fits(self, i: int, symbol: int, number: int) -> None:
        low, high = self._bounds[symbol]
        if not low <= number <= high:
            s = self.signature.symbols[symbol]
            self._fail(
                CallValueError,
                i,
                f"`{s.name}` would be {number}, which {s.dtype} does not hold",
                "extent-range",
            )

    def _solve(self, pending: list[tuple[int, str, int, Extent, int]], symbols: list[Any]) -> None:
        """Symbols without a plain occurrence, from expressions that are linear in them."""
        while None in symbols:
            before = symbols.count(None)
            for i, _, _, e, number in pending:
                missing = [s for s in e.mentions if symbols[s] is None]
                if len(missing) != 1 or missing[0] not in e.linear:
                    continue
                k = missing[0]
                trial = list(symbols)
                trial[k] = 0
                constant = e.at(trial)
                trial[k] = 1
                slope = e.at(trial) - constant
                if slope == 0 or (number - constant) % slope:
                    name = self.signature.symbols[k].name
                    self._fail(CallValueError, i, f"no {name} makes `{e.text}` equal {number}", "shape")
                symbols[k] = (number - constant) // slope
                self._fits(i, k, symbols[k])
            if symbols.count(None) == before:
                # Arguments of extent 0 may leave nothing to solve by.
                symbols[:] = [0 if s is None else s for s in symbols]

    # ---- overlap

    def _disjoint(self, values: list[Any]) -> None:
        ranges = []
        for i, p, _, _, _, dense in self._buffers:
            a = values[i]
            if a.size:
                low = high = address_of(a)
                if dense:
                    high += a.nbytes
                else:
                    for s, n in zip(a.strides, a.shape, strict=True):
                        low += min(0, s * (n - 1))
                        high += max(0, s * (n - 1))
                    high += a.itemsize
                ranges.append((low, high, i, p.written))
        if len(ranges) < 2:
            return
        ranges.sort()
        end = ranges[0][1]
        for k in range(1, len(ranges)):
            if ranges[k][0] < end:
                self._overlapping(values, ranges, k)
            end = max(end, ranges[k][1])

    def _overlapping(self, values: list[Any], ranges: list[tuple[int, int, int, bool]], k: int) -> None:
        low, _, i, written = ranges[k]
        for _, high, j, also_written in ranges[:k]:
            if low >= high or not (written or also_written):
                continue
            a, b = values[i], values[j]
            try:
                shared = np.shares_memory(a, b, max_work=100_000)  # type: ignore[arg-type]
            except Exception:
                shared = True
            if shared:
                target, other = (i, j) if written else (j, i)
                params = self.signature.params
                self._fail(
                    CallValueError, target,
                    f"the function writes it, and its memory overlaps that of `{params[other].name}`",
                    "overlap",
                    'pass a copy, or allow it with T.func_attr({"tir.noalias": False})',
                )  # fmt: skip


def _base(a: Array) -> Array:
    """The data of an array of a subclass, which may have methods of its own."""
    return a if type(a) is np.ndarray else np.ndarray.view(a, np.ndarray)


def _words(e: Exception) -> str:
    """What an exception of an object's own code says."""
    try:
        return str(e) or type(e).__name__
    except Exception:
        return type(e).__name__


def _device_of(a: Any) -> int | None:
    """DLPack's number of the kind of device that an object is on; None where it does not say."""
    where = getattr(a, "__dlpack_device__", None)
    if where is not None:
        return int(where()[0])
    if hasattr(a, "__cuda_array_interface__") and not hasattr(a, "__array_interface__"):
        return 2
    return None


def _over(a: Any, written: bool) -> Array:
    """A NumPy array over the memory of another object.  Raises whatever that object raises."""
    if hasattr(a, "__array_interface__"):
        found = np.asarray(a)
    elif hasattr(a, "__dlpack__"):
        found = array_over(a, written)
    else:
        found = np.asarray(memoryview(a))
    return _base(found)


__all__ = ["Arguments", "HandleParam", "describe", "int_bounds"]
