"""Whether there is memory where an object of another library says that its elements are."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np

_FIRST_PAGE = 4096  # no system maps anything there
_END = 1 << 8 * ctypes.sizeof(ctypes.c_void_p)
_mincore: Any = None


def is_there(array: np.ndarray[Any, Any]) -> bool:
    """Whether the first and the last page of a non-empty array are mapped, as far as the system tells.

    >>> is_there(np.zeros(3))
    True
    """
    low, high = np.lib.array_utils.byte_bounds(array)
    if not _FIRST_PAGE <= low < high <= _END:
        return False
    return _is_mapped(low) and _is_mapped(high - 1)


def _is_mapped(address: int) -> bool:
    global _mincore
    if _mincore is None:
        _mincore = _find()
    if not _mincore:
        return True
    page = address & -mmap.PAGESIZE
    return bool(_mincore(page, 1, ctypes.byref(ctypes.c_ubyte())) == 0)


def _find() -> Any:
    """mincore(2), which fails where nothing is mapped; False where there is none."""
    if sys.platform == "win32":
        return False
    try:
        function = ctypes.CDLL(None).mincore
    except (OSError, AttributeError):
        return False
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    function.restype = ctypes.c_int
    return function


__all__ = ["is_there"]
