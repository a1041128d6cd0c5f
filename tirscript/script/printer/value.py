"""Plain values: of attributes and annotations, extents, constants; and buffers where they are declared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tirscript.diagnostics import NotYetError
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, IntImm, IterVar
from tirscript.ir.node import Node

from .core import Printer
from .expr import iter_var_text
from .names import quote

# Constants of at most so many elements stand in the line, larger ones in the metadata section.
INLINE_ELEMENTS = 64


def value_text(p: Printer, value: Any) -> str:
    """The value of an attribute or annotation.  Numbers are Python's; constants of the IR keep a dtype."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else f"float({quote(str(float(value)))})"
    if isinstance(value, Expr):
        if type(value) is IntImm and value.dtype == "int32":
            return f"T.int32({value.value})"
        return p.expr(value)
    if isinstance(value, IterVar):
        return iter_var_text(p, value)
    if isinstance(value, Node) and type(value) in p.exprs:
        return p.expr(value)
    if isinstance(value, Mapping):
        return dict_text(p, value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([value_text(p, v) for v in value])}]"
    if isinstance(value, bytes):
        return repr(value)
    return _other(p, value)


def dict_text(p: Printer, value: Mapping[Any, Any]) -> str:
    """A dict display with sorted keys."""
    keys = sorted(value, key=lambda k: (not isinstance(k, str), str(k)))
    return "{" + ", ".join([f"{value_text(p, k)}: {value_text(p, value[k])}" for k in keys]) + "}"


def _other(p: Printer, value: Any) -> str:
    """What is no node and no plain Python value: arrays, index maps, targets.

    A class can say itself how it is written: ``_script_(text)`` is given the function that prints a value.
    """
    custom = getattr(value, "_script_", None)
    if custom is not None:
        return str(custom(lambda v: value_text(p, v)))
    kind = type(value).__name__
    if hasattr(value, "initial_indices") and hasattr(value, "final_indices"):
        return _index_map(p, value)
    if kind == "Target":
        if p.words["target"] == "dict":
            return f"T.target({dict_text(p, value.export())})"
        return f"T.target({quote(str(value))})"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        if value.shape == () and hasattr(value, "item") and kind != "ndarray":
            return value_text(p, value.item())
        return metadata_text(p, value)
    if isinstance(value, Node):
        return f"<{kind}>"
    return f"T.metadata[{quote(repr(value))}]"


def _index_map(p: Printer, value: Any) -> str:
    mark = len(p.scope)
    names = [p.define(v, v.name) for v in value.initial_indices]
    final = [p.expr(e) for e in value.final_indices]
    p.leave(mark)
    result = f"({', '.join(final)}{',' if len(final) == 1 else ''})"
    inverse = getattr(value, "inverse_index_map", None)
    more = "" if inverse is None or callable(inverse) else f", inverse_index_map={_other(p, inverse)}"
    return f"T.index_map(lambda {', '.join(names)}: {result}{more})"


def metadata_text(p: Printer, array: Any) -> str:
    """A reference to an array in the metadata section."""
    from .metadata import key_of

    if p.words["target"] == "dict":
        raise NotYetError("TVM 0.27 reads no arrays from a script", code="tvm-lacks")
    key = key_of(array)
    p.metadata[key] = array
    return f"T.metadata[{quote(key)}]"


def constant_data_text(p: Printer, array: Any) -> str:
    """The data of an ``allocate_const``: a list where that reads back and is short."""
    if hasattr(array, "tolist"):
        plain = array.dtype.name.startswith(("int", "uint", "float")) or array.dtype.name == "bool"
        if plain and array.size <= INLINE_ELEMENTS and _all_finite(array.tolist()):
            return str(array.tolist())
        return metadata_text(p, array)
    return value_text(p, array)


def _all_finite(value: Any) -> bool:
    if isinstance(value, list):
        return all(_all_finite(v) for v in value)
    return isinstance(value, (bool, int, float)) and math.isfinite(value)


# ---- buffers


def shape_text(p: Printer, shape: tuple[Expr, ...]) -> str:
    table = p.exprs
    parts = [table[type(n)](p, n, 0) for n in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _check_fields(b: Buffer) -> None:
    """Refuse what buffers of TVM 0.27 have not."""
    what = (
        "axis_separators of buffers"
        if b.axis_separators
        else "buffer_type of buffers"
        if b.buffer_type != "default"
        else "buffers of handles"
        if b.dtype == "handle"
        else None
    )
    if what is not None:
        raise NotYetError(f"TVM 0.27 has no {what}", code="tvm-lacks")


def allocation_text(p: Printer, b: Buffer, data: str | None = None) -> str:
    """The arguments that allocate ``b`` in a block."""
    if p.words["target"] == "dict" and b.offset_factor:
        raise NotYetError("TVM 0.27 has no offset_factor of allocated buffers", code="tvm-lacks")
    return buffer_text(p, b, False, data)


def buffer_text(p: Printer, b: Buffer, show_dtype: bool, data: str | None = None) -> str:
    """The arguments that declare ``b``: shape, dtype, and every other field that is not the default."""
    text = shape_text(p, b.shape)
    if show_dtype or b.dtype != "float32":
        text += f', "{b.dtype}"'
    if data is not None:
        text += f", data={data}"
    if b.strides:
        text += f", strides=[{', '.join([p.expr(s) for s in b.strides])}]"
    if b.elem_offset is not None:
        text += f", elem_offset={p.expr(b.elem_offset)}"
    if b.scope != "global":
        text += f", scope={quote(b.scope)}"
    if b.align:
        text += f", align={b.align}"
    if b.offset_factor:
        text += f", offset_factor={b.offset_factor}"
    if p.words["target"] == "dict":
        _check_fields(b)
    if b.buffer_type != "default":
        text += f", buffer_type={quote(b.buffer_type)}"
    if b.axis_separators:
        text += f", axis_separators={list(b.axis_separators)}"
    return text
