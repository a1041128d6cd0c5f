"""Images in another size: nearest, linear and cubic interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script import operators as T
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from ..shapes import constants, error, extent, known

_METHODS = ("nearest_neighbor", "linear", "cubic")
_MODES = (
    "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)  # fmt: skip
_SCALING = {
    "nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "trilinear": "linear", "linear": "linear",
    "bicubic": "cubic", "cubic": "cubic",
}  # fmt: skip


def _float(value: Any) -> Expr:
    return ops.cast(ops.as_expr(value), "float32")


def source_of(x: Any, size: Any, target: Any, mode: str, start: float = 0.0, end: float = 1.0) -> Expr:
    """Where in an axis of ``size`` the centre of pixel ``x`` of ``target`` lies, as float32."""
    at, n, m = _float(x), _float(size), _float(target)
    one, half = ops.const(1.0, "float32"), ops.const(0.5, "float32")
    scale = ops.div(n, m)
    if mode in ("half_pixel", "tf_half_pixel_for_nn"):
        shift = ops.const(0.0, "float32") if mode == "tf_half_pixel_for_nn" else half
        return ops.sub(ops.mul(ops.add(at, half), scale), shift)
    if mode == "pytorch_half_pixel":
        if known(target) == 1:
            return ops.const(0.0, "float32")
        return ops.sub(ops.mul(ops.add(at, half), scale), half)
    if mode == "align_corners":
        if known(target) == 1:
            return ops.const(0.0, "float32")
        return ops.mul(at, ops.div(ops.sub(n, one), ops.sub(m, one)))
    if mode == "asymmetric":
        return ops.mul(at, scale)
    if mode == "tf_crop_and_resize":
        low, high = ops.const(start, "float32"), ops.const(end, "float32")
        if known(target) == 1:
            return ops.mul(ops.mul(half, ops.add(low, high)), ops.sub(n, one))
        step = ops.div(ops.mul(ops.sub(high, low), ops.sub(n, one)), ops.sub(m, one))
        return ops.add(ops.mul(low, ops.sub(n, one)), ops.mul(at, step))
    raise error(f"coordinate_transformation_mode is one of {', '.join(_MODES)}, not {mode!r}", "mode")


def nearest(x: Expr, rounding: str, mode: str) -> Expr:
    """The pixel next to a place."""
    usual = {"align_corners": "round", "half_pixel": "round_prefer_floor"}
    how = rounding or usual.get(mode, "floor")
    half = ops.const(0.5, "float32")
    if how == "round":  # halves away from zero
        return ops.math_call("floor", ops.add(x, half))
    if how == "round_prefer_floor":
        return ops.math_call("ceil", ops.sub(x, half))
    if how == "round_prefer_ceil":
        return ops.math_call("floor", ops.add(x, half))
    if how in ("floor", "ceil"):
        return ops.math_call(how, x)
    raise error(
        "rounding_method is 'round', 'round_prefer_floor', 'round_prefer_ceil', 'floor' or 'ceil', "
        f"not {rounding!r}", "mode",
    )  # fmt: skip


def cubic_weights(t: Expr, alpha: float) -> list[Expr]:
    """The shares of the four pixels around a place, ``t`` behind the second: Keys's kernel."""
    a = ops.const(float(alpha), "float32")
    c = {n: ops.const(float(n), "float32") for n in (1, 2, 3, 4, 5, 8)}
    t2 = ops.mul(t, t)
    t3 = ops.mul(t2, t)
    u = ops.sub(c[1], t)
    u2 = ops.mul(u, u)
    u3 = ops.mul(u2, u)

    def far(d: Expr, d2: Expr, d3: Expr) -> Expr:  # at distance 1 + d, written in d
        return ops.mul(a, ops.add(ops.sub(d3, ops.mul(c[2], d2)), d))

    def near(d2: Expr, d3: Expr) -> Expr:
        return ops.add(ops.sub(ops.mul(ops.add(a, c[2]), d3), ops.mul(ops.add(a, c[3]), d2)), c[1])

    return [far(t, t2, t3), near(t2, t3), near(u2, u3), far(u, u2, u3)]


def resize(
    data: Tensor,
    roi: Any,
    size: Any,
    layout: str,
    method: str,
    coordinate_transformation_mode: str,
    rounding_method: str,
    bicubic_alpha: float,
    bicubic_exclude: int,
    extrapolation_value: float,
    out_dtype: Any,
    count: int,
) -> Tensor:
    """The image over ``count`` spatial axes in another size."""
    letters = list(layout)
    spatial = [n for n, c in enumerate(letters) if c in "DHW"]
    if len(letters) != data.ndim or len(spatial) != count or not set(letters) <= set("NCDHW"):
        raise error(f"layout {layout} of {data.ndim} dimensions, for {count} spatial axes", "layout")
    if method not in _METHODS:
        raise error(f"method is one of {', '.join(_METHODS)}, not {method!r}", "mode")
    mode = coordinate_transformation_mode
    wanted = [ops.index(n) for n in (size if isinstance(size, (list, tuple)) else [size])]
    wanted = wanted * count if len(wanted) == 1 else wanted
    if len(wanted) != count:
        raise error(f"{len(wanted)} sizes for {count} axes")
    parts = [0.0] * count + [1.0] * count
    if mode == "tf_crop_and_resize":
        parts = [float(getattr(v, "value", v)) for v in roi]
        if len(parts) != 2 * count:
            raise error(f"a region of interest has {2 * count} numbers, this has {len(parts)}", "arity")
    shape = list(data.shape)
    for a, n in zip(spatial, wanted, strict=True):
        shape[a] = n
    kind = data.dtype if out_dtype in (None, "") else read_dtype(out_dtype)

    def place(x: Any, k: int) -> Expr:
        return source_of(x, data.shape[spatial[k]], wanted[k], mode, parts[k], parts[count + k])

    def read(i: Sequence[Any], at: Sequence[Expr]) -> Expr:
        index = list(i)
        for a, v in zip(spatial, at, strict=True):
            n = data.shape[a]
            index[a] = T.max(T.min(v, ops.sub(n, 1)), ops.const(0, n.dtype))
        return data(*index)

    def whole(v: Expr, a: int) -> Expr:
        return ops.cast(v, data.shape[a].dtype)

    def combined(i: Sequence[Any], at: list[Expr], left: list[tuple[list[Expr], list[Expr]]]) -> Expr:
        """The weighted sum over the axes that are left: places and weights of each."""
        if not left:
            return _float(read(i, at))
        cells, weights = left[0]
        terms = [ops.mul(combined(i, [*at, c], left[1:]), w) for c, w in zip(cells, weights, strict=True)]
        out = terms[0]
        for t in terms[1:]:
            out = ops.add(out, t)
        return out

    def f(*i: Any) -> Any:
        sources = [place(i[a], k) for k, a in enumerate(spatial)]
        if method == "nearest_neighbor":
            at = [whole(nearest(s, rounding_method, mode), a) for s, a in zip(sources, spatial, strict=True)]
            value = read(i, at)
        else:
            axes: list[tuple[list[Expr], list[Expr]]] = []
            for s, a in zip(sources, spatial, strict=True):
                low = ops.math_call("floor", s)
                first, t = whole(low, a), ops.sub(s, low)
                if method == "linear":
                    one = ops.const(1.0, "float32")
                    axes.append(([first, ops.add(first, 1)], [ops.sub(one, t), t]))
                    continue
                cells = [ops.add(first, k) for k in (-1, 0, 1, 2)]
                weights = cubic_weights(t, bicubic_alpha)
                if bicubic_exclude:
                    zero = ops.const(0.0, "float32")
                    inside = [ops.logical_and(ops.ge(c, 0), ops.lt(c, data.shape[a])) for c in cells]
                    weights = [ops.select(ok, w, zero) for ok, w in zip(inside, weights, strict=True)]
                    total = ops.add(ops.add(weights[0], weights[1]), ops.add(weights[2], weights[3]))
                    weights = [ops.div(w, total) for w in weights]
                axes.append((cells, weights))
            value = combined(i, [], axes)
        if mode == "tf_crop_and_resize":
            out = [ops.lt(s, ops.const(0.0, "float32")) for s in sources]
            out += [
                ops.gt(s, _float(ops.sub(data.shape[a], 1))) for s, a in zip(sources, spatial, strict=True)
            ]
            beyond = ops.cast(ops.const(float(extrapolation_value), "float32"), value.dtype)
            value = ops.if_then_else(te.any(*out), beyond, value)
        return ops.cast(value, kind)

    out: Tensor = te.compute(tuple(shape), f, name="resize", tag="injective")
    return out


def resize1d(
    data: Tensor, roi: Any, size: Any, layout: str = "NCW", method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "",
    bicubic_alpha: float = -0.75, bicubic_exclude: int = 0, extrapolation_value: float = 0.0,
    out_dtype: Any = None, output_shape: Any = None,
) -> Tensor:  # fmt: skip
    """Rows in another length; see ``resize2d``."""
    return resize(
        data, roi, size, layout, method, coordinate_transformation_mode, rounding_method, bicubic_alpha,
        bicubic_exclude, extrapolation_value, out_dtype, 1,
    )  # fmt: skip


def resize2d(
    data: Tensor, roi: Any, size: Any, layout: str = "NCHW", method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "",
    bicubic_alpha: float = -0.75, bicubic_exclude: int = 0, extrapolation_value: float = 0.0,
    out_dtype: Any = None, output_shape: Any = None,
) -> Tensor:  # fmt: skip
    """Images in another size.

    ``method`` is ``nearest_neighbor``, ``linear`` or ``cubic``; ``coordinate_transformation_mode`` and
    ``rounding_method`` say, in ONNX's words, which place of the image a pixel stands for.

    >>> from tirscript import te, topi
    >>> topi.image.resize2d(te.placeholder((1, 3, 8, 8)), None, (16, 12)).shape
    (1, 3, 16, 12)
    """
    return resize(
        data, roi, size, layout, method, coordinate_transformation_mode, rounding_method, bicubic_alpha,
        bicubic_exclude, extrapolation_value, out_dtype, 2,
    )  # fmt: skip


def resize3d(
    data: Tensor, roi: Any, size: Any, layout: str = "NCDHW", method: str = "linear",
    coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "",
    bicubic_alpha: float = -0.75, bicubic_exclude: int = 0, extrapolation_value: float = 0.0,
    out_dtype: Any = None, output_shape: Any = None,
) -> Tensor:  # fmt: skip
    """Volumes in another size; see ``resize2d``."""
    return resize(
        data, roi, size, layout, method, coordinate_transformation_mode, rounding_method, bicubic_alpha,
        bicubic_exclude, extrapolation_value, out_dtype, 3,
    )  # fmt: skip


def scaled(data: Tensor, scales: Sequence[float], layout: str, method: str, mode: str, wanted: Any) -> Tensor:
    """The image scaled along its spatial axes."""
    if method not in _SCALING:
        raise error(f"method is one of {', '.join(_SCALING)}, not {method!r}", "mode")
    spatial = [n for n, c in enumerate(layout) if c in "DHW"]
    sizes = []
    for a, s in zip(spatial, scales, strict=True):
        n = known(data.shape[a])
        if n is not None:
            sizes.append(int(n * float(s) + 0.5))
        elif float(s).is_integer():
            sizes.append(extent(ops.mul(data.shape[a], int(s))))  # type: ignore[arg-type]
        else:
            raise error(f"extent {data.shape[a]} cannot be scaled by {s}", "not-constant")
    if wanted is not None:
        sizes = constants(list(wanted), "output_shape")[-len(spatial) :]
    how = "asymmetric" if _SCALING[method] == "nearest_neighbor" and mode == "half_pixel" else mode
    return resize(data, None, sizes, layout, _SCALING[method], how, "", -0.75, 0, 0.0, None, len(spatial))


__all__ = ["cubic_weights", "nearest", "resize", "resize1d", "resize2d", "resize3d", "scaled", "source_of"]
