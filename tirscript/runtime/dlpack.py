"""Arrays of other libraries over the same memory, both ways, through DLPack.

NumPy makes and reads the capsules, and frees what they hold.  It knows only its own dtypes, so those of
ml_dtypes travel as unsigned integers of their size, and the dtype that stands in the capsule is rewritten:
a capsule is made for one exchange, and the consumer's copy of the description is nobody else's.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np

from .ndarray import numpy_dtype

Array = np.ndarray[Any, Any]

# kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged: memory that the CPU reads.
ON_THE_CPU = (1, 3, 11, 13)
_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_CODES = {
    "bfloat16": (_BFLOAT, 16), "float8_e3m4": (7, 8), "float8_e4m3": (8, 8), "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8), "float8_e4m3fnuz": (11, 8), "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8), "float8_e8m0fnu": (14, 8),
    **{f"{name}{b}": (code, b) for name, code in (("int", _INT), ("uint", _UINT)) for b in (1, 2, 4)},
}  # fmt: skip
_NAMES = {codes: name for name, codes in _CODES.items()}
_READ_ONLY, _COPIED, _PADDED = 1, 2, 4
_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"
_VERSIONS_KNOWN = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


# Prototypes of our own: others may use the same functions of `pythonapi`.
_is_valid: Any = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _open(capsule: Any) -> tuple[_Tensor, _Versioned | None]:
    """The description in a capsule that nobody has taken yet."""
    if _is_valid(capsule, _VERSIONED):
        managed = _Versioned.from_address(_pointer(capsule, _VERSIONED))
        if managed.major != 1:
            raise BufferError(f"DLPack {managed.major}.{managed.minor} is not understood")
        return managed.tensor, managed
    if _is_valid(capsule, _PLAIN):
        return _Tensor.from_address(_pointer(capsule, _PLAIN)), None
    raise BufferError("its __dlpack__ gave no DLPack capsule")


class _Holder:
    """Gives NumPy a capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class View:
    """Memory by its address, kept alive by its owner."""

    def __init__(self, owner: Array) -> None:
        self.owner = owner
        interface = dict(owner.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def array_over(source: Any, written: bool = False) -> Array:
    """A NumPy array over the memory of an object with ``__dlpack__``; raises what that object raises."""
    lazily = getattr(source, "is_neg", None)
    if callable(lazily) and lazily() is True:
        # Torch exports the memory of such a tensor, of which the negation is no part.
        raise BufferError("its elements are to be negated yet; resolve_neg() does it")
    capsule = None
    if _VERSIONS_KNOWN:
        # Exporters from before version 1 do not know the argument.
        with contextlib.suppress(TypeError):
            capsule = source.__dlpack__(max_version=(1, 0))
    if capsule is None:
        capsule = source.__dlpack__()
    tensor, managed = _open(capsule)
    flags = managed.flags if managed is not None else 0
    if tensor.device_type not in ON_THE_CPU:
        raise BufferError("the memory is not on the CPU")
    if not tensor.data and 0 not in tensor.shape[: max(tensor.ndim, 0)]:
        raise BufferError("its elements are at no address")  # NumPy would give new memory
    if written and flags & _COPIED:
        raise BufferError("its __dlpack__ gave a copy, which nobody would see written")
    tensor.device_type, tensor.device_id = 1, 0
    name = None if tensor.lanes != 1 else _NAMES.get((tensor.code, tensor.bits))
    if name is not None:
        if tensor.bits < 8 and not flags & _PADDED:
            raise BufferError(f"its elements of {tensor.bits} bits are packed; one to a byte are wanted")
        tensor.code, tensor.bits = _UINT, max(tensor.bits, 8)
    array: Array = np.from_dlpack(_Holder(capsule))
    # NumPy plays safe with what comes from before version 1, which has no flag for read-only memory.
    if managed is None and not array.flags.writeable and not _is_read_only(source):
        array = np.asarray(View(array))
    return array if name is None else array.view(numpy_dtype(name))


def _is_read_only(source: Any) -> bool:
    """Whether an object says by the buffer protocol what DLPack did not let it say, as JAX's arrays do."""
    try:
        return memoryview(source).readonly
    except Exception:
        return False


def capsule_of(array: Array, options: dict[str, Any]) -> Any:
    """What ``__dlpack__(**options)`` of an array gives, whatever its dtype."""
    codes = _CODES.get(array.dtype.name)
    if codes is None:
        return array.__dlpack__(**options)
    code, bits = codes
    capsule = array.view(f"u{array.dtype.itemsize}").__dlpack__(**options)
    tensor, managed = _open(capsule)
    if bits < 8:
        if managed is None:
            raise BufferError(f"DLPack before version 1 cannot say that {array.dtype.name} fills a byte")
        managed.flags |= _PADDED
    tensor.code, tensor.bits = code, bits
    return capsule


__all__ = ["ON_THE_CPU", "View", "array_over", "capsule_of"]
