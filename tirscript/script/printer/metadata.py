"""The metadata section of a script: constants too large for a line, as base64 in comments.

In the program such a value is written ``T.metadata["key"]``; at the end of the text stands, for each key,

    # metadata["float32_2x3_1a2b3c4d"] = float32[2, 3], zlib, base64
    #   eJxjYGBg...

The key holds a digest of the content, so sections of several texts can be joined.  The printer calls
``dump``; the parser calls ``load`` on the whole text and looks ``T.metadata["key"]`` up in its result.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import zlib
from collections.abc import Mapping
from typing import Any

from tirscript.diagnostics import TirscriptError

_START = '# metadata["'
_WIDTH = 96


def _numpy_dtype(name: str) -> Any:
    """NumPy's dtype of that name; bfloat16, float8 and int4 come from ml_dtypes."""
    import numpy as np

    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        found = getattr(ml_dtypes, name, None)
        if found is None:
            raise TirscriptError(f"metadata of dtype {name} cannot be read", code="bad-metadata") from None
        return np.dtype(found)


def key_of(array: Any) -> str:
    """The key under which ``array`` is written: dtype, shape and a digest of the content."""
    import numpy as np

    data = np.ascontiguousarray(array)
    shape = "x".join(map(str, data.shape)) or "scalar"
    digest = hashlib.sha256(f"{data.dtype.name}{data.shape}".encode() + data.tobytes()).hexdigest()[:8]
    return f"{data.dtype.name}_{shape}_{digest}"


def dump(arrays: Mapping[str, Any]) -> list[str]:
    """The comment lines that hold the arrays (NumPy arrays by their keys)."""
    import sys

    import numpy as np

    lines: list[str] = []
    for key, array in arrays.items():
        data = np.ascontiguousarray(array)
        if sys.byteorder == "big":
            data = data.byteswap()
        raw = data.tobytes()
        packed = zlib.compress(raw, 9)
        how = "zlib, base64" if len(packed) < len(raw) else "base64"
        text = base64.b64encode(packed if len(packed) < len(raw) else raw).decode("ascii")
        # Not from `data`: ascontiguousarray makes a scalar an array of one element.
        lines.append(f'{_START}{key}"] = {data.dtype.name}{list(np.shape(array))}, {how}')
        lines += [f"#   {text[i : i + _WIDTH]}" for i in range(0, len(text), _WIDTH)]
    return lines


def load(text: str) -> dict[str, Any]:
    """The arrays of every metadata section in ``text`` by their keys; ``{}`` where there is none.

    Raises TirscriptError for a section that is damaged.

    >>> import numpy as np
    >>> a = np.arange(6, dtype="float32").reshape(2, 3)
    >>> load("\\n".join(dump({"a": a})))["a"].tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    found: dict[str, Any] = {}
    if _START not in text:
        return found
    lines = [line.strip() for line in text.splitlines()]
    n = 0
    while n < len(lines):
        line = lines[n]
        n += 1
        if not line.startswith(_START):
            continue
        key, _, rest = line[len(_START) :].partition('"] = ')
        parts = []
        while n < len(lines) and lines[n].startswith("#   "):
            parts.append(lines[n][4:].strip())
            n += 1
        found[key] = _decode(key, rest, "".join(parts))
    return found


def _decode(key: str, header: str, text: str) -> Any:
    import sys

    import numpy as np

    try:
        name, _, rest = header.partition("[")
        extents, _, how = rest.partition("]")
        shape = tuple([int(n) for n in extents.split(",") if n.strip()])
        raw = base64.b64decode(text, validate=True)
        if "zlib" in how:
            raw = zlib.decompress(raw)
        dtype = _numpy_dtype(name)
        if len(raw) != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{len(raw)} bytes")
    except (ValueError, binascii.Error, zlib.error) as problem:
        raise TirscriptError(
            f'the metadata "{key}" is damaged: {problem}', code="bad-metadata", hint="print the program again"
        ) from None
    array = np.frombuffer(raw, dtype=dtype).reshape(shape)
    if sys.byteorder == "big":
        array = array.byteswap()
    return array.copy()
