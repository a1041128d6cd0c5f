"""Tensors in layouts with inner parts."""

from __future__ import annotations

from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import ops
from tirscript.ir.expr import Expr, const_int
from tirscript.te import Tensor

from .shapes import (
    error,
    extent,
    known,
)
from .tag import INJECTIVE
from .transform import simple


def layout_transform(array: Tensor, src_layout: str, dst_layout: str, schedule_rule: str = "None") -> Tensor:
    """The elements in another layout, like ``NCHW`` to ``NCHW4c``: capital letters are axes, small ones the
    inner parts of them with their extents; what an extent does not fill is zero."""
    if src_layout == dst_layout:
        return array
    source, target = _layout(src_layout), _layout(dst_layout)
    if {a for a, _ in source if a.isupper()} != {a for a, _ in target if a.isupper()}:
        raise error(f"layouts {src_layout} and {dst_layout} differ in their axes", "layout")
    if len(source) != array.ndim:
        raise error(f"layout {src_layout} is not one of {array.ndim} dimensions", "layout")
    kind = array.shape[0].dtype if array.shape else "int32"
    sizes: dict[str, Expr] = {}  # of whole axes
    for (a, _), n in zip(source, array.shape, strict=True):
        if a.isupper():
            part = next((f for b, f in source if b == a.lower()), 1)
            sizes[a] = extent(ops.mul(n, part))
    shape: list[Expr] = []
    for a, size in target:
        if a.islower():
            shape.append(const_int(size, kind))
        else:
            part = next((g for b, g in target if b == a.lower()), 1)
            shape.append(extent(ops.floordiv(ops.add(sizes[a], part - 1), part)))
    exact = all(known(ops.floormod(sizes[a.upper()], part)) == 0 for a, part in target if a.islower())

    def f(*i: Any) -> Any:
        whole: dict[str, Any] = {}
        for (a, _), v in zip(target, i, strict=True):
            if a.isupper():
                part = next((g for b, g in target if b == a.lower()), 1)
                whole[a] = ops.add(whole.get(a, const_int(0, kind)), ops.mul(v, part))
            else:
                whole[a.upper()] = ops.add(whole.get(a.upper(), const_int(0, kind)), v)
        at = []
        for a, n in source:
            part = next((g for b, g in source if b == a.lower()), 1)
            at.append(ops.floordiv(whole[a], part) if a.isupper() else ops.floormod(whole[a.upper()], n))
        at = simple([simplify(e) for e in at], i, shape)
        if exact:
            return array(*at)
        inside = te.all(*[ops.lt(whole[a], sizes[a]) for a in sizes])
        return ops.if_then_else(inside, array(*at), ops.const(0, array.dtype))

    out: Tensor = te.compute(
        tuple(shape), f, name="T_layout_trans", tag=INJECTIVE,
        attrs={
            "schedule_rule": schedule_rule, "src_layout": src_layout, "dst_layout": dst_layout,
            "input_shape": [known(n) if known(n) is not None else repr(n) for n in array.shape],
        },
        varargs_names=[f"ax{n}" for n in range(len(shape))],
    )  # fmt: skip
    return out


def _layout(text: str) -> list[tuple[str, int]]:
    """The axes of a layout: letters, with the extents of the small ones."""
    out: list[tuple[str, int]] = []
    digits = ""
    for c in text:
        if c.isdigit():
            digits += c
        elif c.isalpha():
            if c.islower() != bool(digits):
                raise error(
                    f"layout {text}: a small letter, and only that, has an extent before it", "layout"
                )
            out.append((c, int(digits) if digits else 0))
            digits = ""
        else:
            raise error(f"layout {text}: {c!r} is no axis", "layout")
    letters = [a for a, _ in out]
    if digits or len(set(letters)) != len(letters):
        raise error(f"layout {text} names an axis twice, or none", "layout")
    if any(a.islower() and a.upper() not in letters for a in letters):
        raise error(f"layout {text} splits an axis that it does not hold", "layout")
    return out


__all__ = [
    "layout_transform",
]  # fmt: skip
