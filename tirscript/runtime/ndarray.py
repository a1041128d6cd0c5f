"""Arrays on devices.  On the CPU an NDArray holds an aligned NumPy array."""

from __future__ import annotations

import importlib
import math
import operator
from typing import Any

import numpy as np

from tirscript.diagnostics import CallTypeError, CallValueError, NotYetError, did_you_mean

from .devices import Device, cpu, device

ALIGNMENT = 64
FLOAT8 = (
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
_OTHER = ("bfloat16", *FLOAT8, *(f"{c}{b}" for c in ("int", "uint") for b in (1, 2, 4)))
_NUMPY = (
    "bool",
    "float16",
    "float32",
    "float64",
    *(f"{c}{b}" for c in ("int", "uint") for b in (8, 16, 32, 64)),
)
_dtypes: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in _NUMPY}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype of a dtype; those that NumPy lacks come from ml_dtypes.

    >>> numpy_dtype("float32"), numpy_dtype("bfloat16").itemsize
    (dtype('float32'), 2)
    """
    known = _dtypes.get(name)
    if known is None:
        if name not in _OTHER:
            known_names = (*_NUMPY, *_OTHER)
            raise CallTypeError(
                f"there are no arrays of dtype {name!r}", code="dtype", hint=did_you_mean(name, known_names)
            )
        import ml_dtypes

        # Older releases of ml_dtypes have no integers of one bit.
        known = _dtypes[name] = np.dtype(getattr(ml_dtypes, name, name[:-1] + "8"))
    return known


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A C-contiguous array whose first byte is at a multiple of 64."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.__array_interface__["data"][0] % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


class NDArray:
    """An array on a device; made by ``nd.array`` and ``nd.empty``."""

    __slots__ = ("__weakref__", "_array", "device")

    # NumPy leaves operators to us (there are none), rather than making arrays of objects.
    __array_ufunc__ = None

    def __init__(self, array: np.ndarray[Any, Any], where: Device) -> None:
        self._array = array
        self.device = where

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def dtype(self) -> str:
        name: str = self._array.dtype.name
        return name

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def ctx(self) -> Device:
        """The device, in TVM's older word."""
        return self.device

    def same_as(self, other: object) -> bool:
        """Whether it is this very object."""
        return self is other

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy as a NumPy array."""
        return self._array.copy()

    asnumpy = numpy

    def copyfrom(self, source: Any) -> NDArray:
        """Copy the elements of an array of the same shape; the dtype is converted."""
        array = _as_array(source)
        if array.shape != self.shape:
            raise CallValueError(
                f"an array of shape {array.shape} cannot be copied into one of shape {self.shape}",
                code="shape",
            )
        _fill(self._array, array)
        return self

    def copyto(self, target: NDArray | Device) -> NDArray:
        """Copy to an array, or to a new one on a device."""
        if isinstance(target, Device):
            return tensor(self, target)
        return target.copyfrom(self)

    def __getitem__(self, key: Any) -> Any:
        item = self._array[key]
        return NDArray(item, self.device) if isinstance(item, np.ndarray) else item

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value._array if isinstance(value, NDArray) else value

    def __len__(self) -> int:
        return len(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False and dtype is not None and np.dtype(dtype) != self._array.dtype:
            raise ValueError("a conversion needs a copy")
        if copy is False:
            return self._array
        return np.array(self._array, dtype=dtype, copy=True)

    def __dlpack__(self, **options: Any) -> Any:
        from .dlpack import capsule_of

        return capsule_of(self._array, options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.device_type, self.device.index

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # By name: what displays stands above what runs.
        bundle: dict[str, str] = importlib.import_module("tirscript.display").mimebundle(self)
        return bundle

    def __repr__(self) -> str:
        return f"<tirscript.NDArray {self.dtype}{list(self.shape)} on {self.device}>\n{self._array!r}"


Tensor = NDArray


def _host(where: Device | Any) -> Device:
    where = device(where)
    if where.kind != "cpu":
        raise NotYetError(f"arrays on {where} are not supported yet", code="device")
    return where


def tensor(source: Any, device: Any = None, dtype: Any = None) -> NDArray:
    """A copy of an array, list or number on a device (the CPU if none is given).

    >>> tensor([1.0, 2.0]).dtype, tensor(np.arange(3, dtype="int8")).shape
    ('float64', (3,))
    """
    where = _host(cpu() if device is None else device)
    array = _as_array(source)
    wanted = array.dtype if dtype is None else _dtype_of(dtype)
    if (
        wanted.hasobject
        or wanted.fields is not None
        or (wanted.kind in "SUmMcV" and wanted.name not in _OTHER)
    ):
        raise CallTypeError(f"there are no arrays of dtype {wanted}", code="dtype")
    # The dtype object that calls compare with, in this machine's byte order.
    out = _allocate(array.shape, _dtypes.get(wanted.name) or wanted.newbyteorder("="))
    _fill(out, array)
    return NDArray(out, where)


def empty(shape: Any, dtype: Any = "float32", device: Any = None) -> NDArray:
    """An array with unspecified elements.

    >>> empty((2, 3), "int32").shape
    (2, 3)
    """
    where = _host(cpu() if device is None else device)
    try:
        sizes = tuple(operator.index(n) for n in (shape if np.iterable(shape) else (shape,)))
    except TypeError:
        raise CallTypeError(f"a shape is integers, not {shape!r:.80}", code="shape") from None
    if any(n < 0 for n in sizes):
        raise CallValueError(f"a negative extent: {sizes}", code="shape")
    return NDArray(_allocate(sizes, _dtype_of(dtype)), where)


def from_dlpack(source: Any) -> NDArray:
    """An array over the memory of another library's array, which has ``__dlpack__``.  Nothing is copied.

    >>> a = np.arange(3, dtype="int32")
    >>> b = from_dlpack(a)
    >>> a[0] = 7
    >>> int(b[0])
    7
    """
    from .arguments import describe
    from .dlpack import array_over

    if not hasattr(source, "__dlpack__"):
        raise CallTypeError(f"an object with __dlpack__ is wanted, this is {describe(source)}", code="dlpack")
    try:
        return NDArray(array_over(source), cpu())
    except Exception as e:
        raise CallTypeError(
            f"there is no array on the CPU in {describe(source)}: {e or type(e).__name__}", code="dlpack"
        ) from None


# ---- what users give


def _as_array(source: Any) -> np.ndarray[Any, Any]:
    if isinstance(source, NDArray):
        return source._array
    from .dlpack import array_over

    try:
        if hasattr(source, "__dlpack__") and not hasattr(source, "__array_interface__"):
            return array_over(source)
        return np.asarray(source)
    except Exception as e:
        from .arguments import describe

        raise CallTypeError(
            f"no array can be made of {describe(source)}: {e or type(e).__name__}", code="not-an-array"
        ) from None


def _dtype_of(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, str):
        return numpy_dtype(dtype)
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except Exception:
        raise CallTypeError(f"{dtype!r:.80} is no dtype", code="dtype") from None
    return _dtypes.get(kind.name) or kind


def _allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    try:
        return aligned_empty(shape, dtype)
    except (MemoryError, ValueError, OverflowError) as e:
        raise CallValueError(f"there is no memory for {dtype}{list(shape)}: {e}", code="no-memory") from None


def _fill(out: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> None:
    try:
        out[...] = array
    except Exception as e:
        raise CallTypeError(f"{array.dtype} is not converted to {out.dtype}: {e}", code="dtype") from None
