"""Arithmetic that checked programs call: operators that say when they leave what the integers hold."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tirscript.ir import dtype as dt

from . import support
from .reports import Reports

LOW, HIGH = -(1 << 63), (1 << 63) - 1
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip


class Arithmetic(Reports):
    """The part of the sanitizer that looks at values."""

    def exact(self, site: int, value: Any) -> Any:
        """An index or another exact integer: it must fit 64 bits."""
        if isinstance(value, np.ndarray) or LOW <= value <= HIGH:
            return value
        self.fail("index-overflow", f"`{self.text(site)}` is {value}, which does not fit 64 bits", site)

    def nonzero(self, site: int, divisor: Any) -> Any:
        """A divisor of integers."""
        if np.all(divisor):
            return divisor
        self.fail("division-by-zero", f"division by zero: `{self.text(site)}`", site)

    # ---- with `-checked=overflow`

    def data(self, site: int, sign: str, a: Any, b: Any, dtype: str) -> Any:
        """``a + b`` of data integers, which may not wrap around."""
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            x, y = np.broadcast_arrays(a, b)
            for p, q in zip(x, y, strict=True):
                self._fits(site, _PLAIN[sign](int(p), int(q)), dtype)
        else:
            self._fits(site, _PLAIN[sign](int(a), int(b)), dtype)
        return _PLAIN[sign](a, b)

    def _fits(self, site: int, value: int, dtype: str) -> None:
        low, high = dt.bounds(dt.info(dtype).base)
        if not low <= value <= high:
            self.fail("data-overflow", f"`{self.text(site)}` is {value}, which does not fit {dtype}", site)

    def narrow(self, site: int, value: Any, dtype: str) -> Any:
        if dt.info(dtype).is_int:
            for v in np.ravel(value).tolist() if isinstance(value, np.ndarray) else [int(value)]:
                self._fits(site, v, dtype)
        return support.narrow(value, dtype)

    def cast(self, site: int, value: Any, dtype: str) -> Any:
        """A conversion to integers may not meet a nan, nor what the dtype does not hold."""
        d = dt.info(dtype)
        if d.is_int:
            low, high = dt.bounds(d.base)
            for v in value if isinstance(value, np.ndarray) else [value]:
                number = float(v) if isinstance(v, float) or np.asarray(v).dtype.kind not in "iub" else int(v)
                if number != number:
                    self.fail("cast-of-nan", f"`{self.text(site)}` converts nan to {dtype}", site)
                # Conversion rounds toward zero.
                if not low - 1 < number < high + 1:
                    said = f"`{self.text(site)}` converts {number}, which {dtype} does not hold"
                    self.fail("cast-out-of-range", said, site)
        return support.cast(value, dtype)

    def _counts(self, site: int, count: Any, dtype: str) -> None:
        bits = dt.info(dtype).bits
        for n in count if isinstance(count, np.ndarray) else [count]:
            if not 0 <= int(n) < bits:
                self.fail("shift-count", f"`{self.text(site)}` shifts {dtype} by {int(n)} bits", site)

    def shift_left(self, site: int, a: Any, count: Any, dtype: str) -> Any:
        self._counts(site, count, dtype)
        return support.shift_left(a, count, dtype)

    def shift_right(self, site: int, a: Any, count: Any, dtype: str) -> Any:
        self._counts(site, count, dtype)
        return support.shift_right(a, count, dtype)


__all__ = ["Arithmetic"]
