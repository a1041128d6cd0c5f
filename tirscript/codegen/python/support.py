"""What generated Python programs call: the arithmetic of the language where NumPy's own differs.

Exact integers are Python ints (vectors of them int64 arrays), data are NumPy scalars and arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tirscript.diagnostics import AssertFailed
from tirscript.ir import dtype as dt

from .llvm_intrinsics import llvm_intrinsic as llvm_intrinsic

_NATIVE = frozenset(
    {"bool", "float16", "float32", "float64"} | {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}
)
_dtypes: dict[str, Any] = {}


def numpy_dtype(dtype: str) -> Any:
    """The NumPy dtype in which elements of ``dtype`` (one lane) are stored: one byte for the narrow ones."""
    found = _dtypes.get(dtype)
    if found is None:
        if dtype in _NATIVE:
            found = np.dtype(dtype)
        elif dtype == "handle":
            found = np.dtype("uint64")
        else:
            import ml_dtypes

            # Older releases of ml_dtypes have no integers of one bit.
            found = np.dtype(getattr(ml_dtypes, dtype, dtype[:-1] + "8"))
        _dtypes[dtype] = found
    return found


# ---- memory


def empty(shape: tuple[int, ...], dtype: str) -> Any:
    """Memory without a value, of a dtype that NumPy lacks; vectors have their lanes as last dimension."""
    d = dt.info(dtype)
    return np.empty((*shape, d.lanes) if d.lanes != 1 else shape, numpy_dtype(d.base))


def constant(data: Any, dtype: str) -> Any:
    return np.asarray(data).astype(numpy_dtype(dtype))


def element_strides(array: Any, axis: int) -> int:
    """The stride of an array along ``axis`` in elements."""
    return int(array.strides[axis]) // int(array.itemsize)


def offset_of(view: Any, base: Any) -> int:
    """How many elements ``view`` starts behind ``base``."""
    distance: int = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return distance // int(view.itemsize)


def region(view: Any, shape: tuple[int, ...]) -> Any:
    """A region of an array seen in another shape of the same elements; never a copy."""
    if view.shape == shape:
        return view
    kept = [n for n in view.shape if n != 1]
    if [n for n in shape if n != 1] == kept:
        squeezed = view.reshape(view.shape) if not kept else np.squeeze(view)
        index = tuple([None if n == 1 else slice(None) for n in shape])
        return squeezed[index] if kept else view.reshape(shape)
    seen = view.reshape(shape)
    if not np.shares_memory(seen, view):
        raise AssertFailed(
            f"the region of shape {view.shape} has no view of shape {shape}", code="region-shape"
        )
    return seen


def view(
    pointer: Any, shape: tuple[int, ...], dtype: str, strides: tuple[int, ...] | None = None, offset: int = 0
) -> Any:
    """A buffer over memory that is there: ``strides`` and ``offset`` in elements.

    Memory that does not belong to the array behind ``pointer`` is never made reachable.
    """
    element = numpy_dtype(dt.info(dtype).base)
    lanes = dt.info(dtype).lanes
    full = (*shape, lanes) if lanes != 1 else tuple(shape)
    if strides is None:
        steps = [1] * len(full)
        for axis in range(len(full) - 2, -1, -1):
            steps[axis] = steps[axis + 1] * full[axis + 1]
    else:
        steps = [*strides, 1] if lanes != 1 else list(strides)
    if 0 in full:
        return np.empty(full, element)
    start = pointer.__array_interface__["data"][0] + int(offset) * element.itemsize
    reach = [(int(n) - 1) * int(s) * element.itemsize for n, s in zip(full, steps, strict=True)]
    low, high = byte_bounds(_owner(pointer))
    first = start + sum([r for r in reach if r < 0])
    last = start + sum([r for r in reach if r > 0]) + element.itemsize
    if first < low or last > high:
        raise AssertFailed(
            f"a buffer of shape {tuple(shape)} with strides {tuple(steps)} and offset {int(offset)} takes "
            f"bytes {first - low} to {last - low} of memory of {high - low} bytes",
            code="out-of-memory",
        )
    interface = {
        "shape": tuple([int(n) for n in full]),
        "typestr": f"|V{element.itemsize}",
        "data": (start, not pointer.flags.writeable),
        "strides": tuple([int(s) * element.itemsize for s in steps]),
        "version": 3,
    }
    return np.asarray(_Memory(interface, pointer)).view(element)


def _owner(array: Any) -> Any:
    """The outermost array that ``array`` is a view of."""
    while True:
        base = array.base.owner if type(array.base) is _Memory else array.base
        if not isinstance(base, np.ndarray):
            return array
        array = base


class _Memory:
    """Keeps the owner of the memory alive."""

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def masked_load(array: Any, index: tuple[Any, ...], mask: Any) -> Any:
    """The lanes of ``array[index]`` where ``mask`` holds, 0 elsewhere; the others are not read."""
    mask = np.broadcast_to(mask, np.broadcast_shapes(*[np.shape(i) for i in index]))
    out = np.zeros(mask.shape, array.dtype)
    out[mask] = array[tuple([np.broadcast_to(i, mask.shape)[mask] for i in index])]
    return out


def masked_store(array: Any, index: tuple[Any, ...], value: Any, mask: Any) -> None:
    """Store the lanes of ``value`` where ``mask`` holds."""
    mask = np.broadcast_to(mask, np.broadcast_shapes(*[np.shape(i) for i in index]))
    key = tuple([np.broadcast_to(i, mask.shape)[mask] for i in index])
    array[key] = np.broadcast_to(value, mask.shape)[mask]


def lanes(array: Any, index: tuple[Any, ...]) -> Any:
    """One vector element of a buffer of vectors."""
    return array[index].copy()


# ---- vectors


def ramp(base: int, stride: int, count: int) -> Any:
    """The vector ``base, base + stride, ...``."""
    return base + stride * np.arange(count)


def broadcast(value: Any, count: int) -> Any:
    return np.full(count, value) if not isinstance(value, np.generic) else np.full(count, value, value.dtype)


def shuffle(vectors: tuple[Any, ...], indices: tuple[int, ...]) -> Any:
    """Chosen elements of the vectors laid end to end; a single one is a scalar."""
    joined = np.concatenate([np.atleast_1d(v) for v in vectors])
    return joined[indices[0]] if len(indices) == 1 else joined[list(indices)]


def select(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``; both were evaluated."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    return a if condition else b


# ---- conversions


def narrow(value: Any, dtype: str) -> Any:
    """The integer, or array of integers, wrapped to an integer dtype."""
    base = dt.info(dtype).base
    element = numpy_dtype(base)
    if isinstance(value, np.ndarray):
        d = dt.info(base)
        if value.dtype != element or base not in _NATIVE:
            if base in _NATIVE:
                return value.astype(element)
            wide = value.astype(np.int64) & ((1 << d.bits) - 1)
            if d.code == "int":
                wide = np.where(wide >> (d.bits - 1), wide - (1 << d.bits), wide)
            return wide.astype(np.int8).astype(element)
        return value
    return element.type(dt.wrap(int(value), base))


def wide(value: Any) -> Any:
    """A narrow integer as a Python int, a vector of them as int64."""
    return value.astype(np.int64) if isinstance(value, np.ndarray) else int(value)


def saturate(value: Any, dtype: str) -> Any:
    """Floats to integers: toward zero, held within the dtype, nan to 0."""
    low, high = dt.bounds(dtype)
    if isinstance(value, np.ndarray):
        return np.array([saturate(v, dtype) for v in value], numpy_dtype(dtype))
    x = float(value)
    number = (
        0 if math.isnan(x) else (high if x > 0 else low) if math.isinf(x) else min(max(int(x), low), high)
    )
    return numpy_dtype(dtype).type(number)


def cast(value: Any, dtype: str) -> Any:
    """``T.cast``: integers wrap, floats saturate to integers and round once to floats."""
    d = dt.info(dtype)
    have = value.dtype if isinstance(value, (np.ndarray, np.generic)) else None
    is_float = isinstance(value, float) or (
        have is not None and have.kind not in "iub" and not _small_int(have)
    )
    if d.code in ("int", "uint"):
        return saturate(value, d.base) if is_float else narrow(wide(value), d.base)
    if d.code == "bool":
        return value != 0
    element = numpy_dtype(d.base)
    if isinstance(value, np.ndarray):
        return np.array([cast(v, d.base) for v in value], element)
    if d.base in ("float64", "float32", "float16"):
        return (
            element.type(value)
            if is_float or -(1 << 53) <= int(value) <= 1 << 53
            else _from_int(int(value), element)
        )
    return element.type(_odd_float32(value))


def _small_int(have: Any) -> bool:
    return str(have.name).startswith(("int", "uint"))


def _from_int(value: int, element: Any) -> Any:
    if element.itemsize == 8:
        return np.float64(value)
    return element.type(np.uint64(value)) if value >= 0 else element.type(np.int64(value))


def _odd_float32(value: Any) -> Any:
    """The float32 below which a second rounding, to 8 or 16 bits, gives what one rounding would."""
    exact = int(value) if isinstance(value, (int, np.integer)) else float(value)
    if isinstance(exact, float) and (math.isnan(exact) or math.isinf(exact)):
        return np.float32(exact)
    near = np.float32(exact)
    if math.isinf(near) or float(near) == exact:
        return near
    # Round to odd: the last bit says that something was cut off.
    toward = np.nextafter(near, np.float32(0)) if abs(float(near)) > abs(exact) else near
    bits = int(np.float32(toward).view(np.uint32)) | 1
    return np.uint32(bits).view(np.float32)


def reinterpret(value: Any, dtype: str) -> Any:
    """The same bits as another dtype."""
    d = dt.info(dtype)
    seen = np.atleast_1d(np.asarray(value)).view(numpy_dtype(d.base))
    return seen if d.lanes != 1 else seen[0]


# ---- integers


def floordiv(a: Any, b: Any) -> Any:
    """The quotient rounded down; 0 where the divisor is 0."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.floor_divide(a, b)
    return a // b if b else a - a


def floormod(a: Any, b: Any) -> Any:
    """The remainder with the sign of the divisor; 0 where that is 0."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.mod(a, b)
    return a % b if b else a - a


def truncdiv(a: Any, b: Any) -> Any:
    """The quotient rounded toward zero; 0 where the divisor is 0."""
    quotient = floordiv(a, b)
    remainder = floormod(a, b)
    if isinstance(quotient, np.ndarray):
        return quotient + ((remainder != 0) & ((a < 0) != (b < 0))).astype(quotient.dtype)
    return quotient + 1 if remainder != 0 and (a < 0) != (b < 0) else quotient


def truncmod(a: Any, b: Any) -> Any:
    """The remainder with the sign of the dividend; 0 where the divisor is 0."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.where(np.asarray(b) == 0, np.asarray(a) * 0, np.fmod(a, b))
    remainder = floormod(a, b)
    return remainder - b if remainder != 0 and (a < 0) != (b < 0) else remainder


def shift_left(a: Any, count: Any, dtype: str) -> Any:
    """``a << count``; 0 for a count that is negative or not below the width."""
    return _lanewise(lambda x, n, bits: x << n if 0 <= n < bits else 0, a, count, dtype)


def shift_right(a: Any, count: Any, dtype: str) -> Any:
    """``a >> count``; the sign for a count that is negative or not below the width."""
    return _lanewise(lambda x, n, bits: x >> n if 0 <= n < bits else -1 if x < 0 else 0, a, count, dtype)


def _lanewise(f: Callable[[int, int, int], int], a: Any, b: Any, dtype: str) -> Any:
    d = dt.info(dtype)
    if d.lanes == 1:
        return narrow(f(int(a), int(b), d.bits), d.base)
    x, y = np.broadcast_to(a, (d.lanes,)), np.broadcast_to(b, (d.lanes,))
    values = [narrow(f(int(p), int(q), d.bits), d.base) for p, q in zip(x, y, strict=True)]
    return np.array(values, numpy_dtype(d.base))


def power(a: Any, b: Any, dtype: str) -> Any:
    """The integer power; a negative exponent gives the truncated quotient, 0 of 0."""

    def one(x: int, n: int, bits: int) -> int:
        if n >= 0:
            return pow(x, n, 1 << bits)
        return 0 if abs(x) != 1 else (1 if x == 1 or n % 2 == 0 else -1)

    return _lanewise(one, a, b, dtype)


def popcount(a: Any, dtype: str) -> Any:
    """The number of bits that are set."""
    return _lanewise(lambda x, _, bits: (x & ((1 << bits) - 1)).bit_count(), a, 0, dtype)


def clz(a: Any, dtype: str) -> Any:
    """The number of leading zero bits; the width for 0."""
    return _lanewise(lambda x, _, bits: bits - (x & ((1 << bits) - 1)).bit_length(), a, 0, dtype)


def q_multiply_shift(x: Any, y: Any, q: Any, s: Any) -> Any:
    """``round(x * y * 2**(s - q))`` in fixed point, halves up."""
    q, s = int(q), int(s)
    left, right = max(s, 0), max(-s, 0)
    total = q + right
    value = (int(x) << left) * int(y)
    return narrow((value + (1 << (total - 1))) >> total if total else value, "int32")


def q_multiply_shift_per_axis(x: Any, y: Any, ls: Any, rs: Any, q: Any, lshift: Any, rshift: Any) -> Any:
    """As ``q_multiply_shift`` with the shifts to the left and to the right given apart."""
    total = int(q) + int(rs)
    value = (int(x) << int(ls) if lshift else int(x)) * int(y)
    return narrow((value + (1 << (total - 1))) >> total, "int32")


def dp4a(a: Any, b: Any, c: Any) -> Any:
    """``c`` plus the product of four bytes with four bytes; each side by its own sign."""
    x, y = [
        np.atleast_1d(np.asarray(v)).view(np.uint8 if np.asarray(v).dtype.kind == "u" else np.int8)
        for v in (a, b)
    ]
    total = sum([int(p) * int(q) for p, q in zip(x, y, strict=True)], int(c))
    return narrow(total, str(np.asarray(c).dtype))


# ---- floats


def rounded(function: Callable[..., float], *args: Any) -> Any:
    """A function of ``math`` on NumPy floats: computed in float64, rounded once, lane by lane."""
    first = args[0]
    if isinstance(first, np.ndarray) or any(isinstance(a, np.ndarray) for a in args):
        wide_args = np.broadcast_arrays(*args)
        values = [rounded(function, *lane) for lane in zip(*wide_args, strict=True)]
        return np.array(values, np.asarray(first).dtype)
    try:
        value = function(*[float(a) for a in args])
    except ValueError:
        value = math.nan
    except OverflowError:
        value = math.inf
    return first.dtype.type(value)


def sigmoid(x: Any) -> Any:
    z = np.exp(-np.abs(x))  # the power that does not overflow
    return np.where(x < 0, z, 1.0) / (1.0 + z)


def rsqrt(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


def float_power(a: Any, b: Any) -> Any:
    """C's ``pow``.  NumPy's may take a square root for a power of one half, but that of -0 is -0 and of
    -infinity none."""
    made = np.power(a, b)
    if not np.any(b == 0.5):
        return made
    root = np.where(np.isneginf(a), np.inf, np.sqrt(a + 0.0))
    return select(b == 0.5, root[()], made)


def nextafter(a: Any, b: Any) -> Any:
    """C's: of equal numbers the second, whose zero may have the other sign."""
    return select(a == b, b, np.nextafter(a, b))


def exp10(x: Any) -> Any:
    return rounded(lambda v: 10.0**v, x)


def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` rounded once."""
    from fractions import Fraction

    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or isinstance(c, np.ndarray):
        return np.array([fma(*lane) for lane in zip(*np.broadcast_arrays(a, b, c), strict=True)])
    values = [float(v) for v in (a, b, c)]
    element = np.asarray(a).dtype.type
    if not all(math.isfinite(v) for v in values):
        return element(values[0] * values[1] + values[2])
    exact = Fraction(values[0]) * Fraction(values[1]) + Fraction(values[2])
    if exact == 0:
        return element(values[0] * values[1] + values[2])
    return _round_fraction(exact, element)


def _round_fraction(exact: Any, element: Any) -> Any:
    """A rational number rounded once: to float64, or through float64 rounded to odd."""
    try:
        near = float(exact)
    except OverflowError:
        near = -math.inf if exact < 0 else math.inf
    if element is np.float64 or math.isinf(near):
        return element(near)
    from fractions import Fraction

    if Fraction(near) != exact:
        toward = math.nextafter(near, 0.0) if abs(Fraction(near)) > abs(exact) else near
        near = float(np.uint64(int(np.float64(toward).view(np.uint64)) | 1).view(np.float64))
    return cast(np.float64(near), element(0).dtype.name)


# ---- pointers


def address_of(array: Any, index: tuple[Any, ...]) -> Any:
    """A pointer to an element: the memory from there to the end of the array."""
    start = sum([int(i) * element_strides(array, axis) for axis, i in enumerate(index)])
    last = sum([(n - 1) * element_strides(array, axis) for axis, n in enumerate(array.shape)])
    return view(array, (max(last - start + 1, 0),), array.dtype.name, offset=start)


def atomic_add(pointer: Any, value: Any) -> Any:
    """Add to the cell that is pointed to; the old value."""
    old = pointer[0]
    pointer[0] = old + value
    return old


def atomic_max(pointer: Any, value: Any) -> Any:
    old = pointer[0]
    pointer[0] = np.maximum(old, value)
    return old


def atomic_min(pointer: Any, value: Any) -> Any:
    old = pointer[0]
    pointer[0] = np.minimum(old, value)
    return old


# ---- registered functions


def call_packed(name: str, *args: Any) -> Any:
    """A function that was registered under a name; it takes plain numbers, texts and arrays."""
    from tirscript.runtime.devices import cpu
    from tirscript.runtime.ndarray import NDArray
    from tirscript.runtime.registry import get_global_func

    function = get_global_func(name)
    assert function is not None
    given = [NDArray(a, cpu()) if isinstance(a, np.ndarray) else _plain(a) for a in args]
    result = function(*given)
    return narrow(0 if result is None else int(result), "int32")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        kind = value.dtype.kind
        return bool(value) if kind == "b" else int(value) if kind in "iu" else float(value)
    return value


# ---- statements


def steps(start: int, stop: int, step: int) -> range:
    """The range of a loop: empty where the step is no positive number."""
    return range(start, stop, step) if step > 0 else range(0)


def check(condition: Any, message: str, where: str | None = None) -> None:
    """An assert of the script."""
    if not condition:
        raise AssertFailed(message, code="assert", location=where)


def scalar(value: Any) -> Any:
    """What a function returns: a Python number."""
    return value.item() if isinstance(value, np.generic) and hasattr(value, "item") else value
