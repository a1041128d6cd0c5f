"""Convolutions of one, two and three dimensions: plain, grouped, depthwise, transposed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript import te
from tirscript.arith import simplify
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from ..shapes import constant, constants, error, extent, known, same
from .padding import dilate, get_pad_tuple_generic, pad

_OUT = {1: ["yy"], 2: ["yy", "xx"], 3: ["zz", "yy", "xx"]}
_WINDOW = {1: ["ry"], 2: ["ry", "rx"], 3: ["rz", "ry", "rx"]}
_KERNELS = {
    "NCW": "OIW", "NWC": "WIO", "NCHW": "OIHW", "NHWC": "HWIO", "HWCN": "HWIO", "NCDHW": "OIDHW",
    "NDHWC": "DHWIO",
}  # fmt: skip


def _each(value: Any, count: int, what: str) -> list[int]:
    """A number for each spatial axis."""
    given = constants(value, what)
    if len(given) == 1:
        given = given * count
    if len(given) != count or min(given) < 1:
        raise error(f"{what} {given} for {count} axes", what)
    return given


def conv(
    inp: Tensor,
    filt: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_layout: str,
    kernel_layout: str = "",
    out_dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """The convolution of a batch of images with a bank of filters.

    ``data_layout`` is ``NCW``, ``NCHW``, ``NCDHW`` or with the channels elsewhere; ``kernel_layout`` by
    default the one that goes with it (``OIHW``, ``HWIO`` ...).  ``padding`` is a number, one for each axis,
    two for each (all before, then all after), ``"SAME"`` or ``"VALID"``.

    >>> from tirscript import te, topi
    >>> x, w = te.placeholder((1, 3, 32, 32)), te.placeholder((8, 3, 3, 3))
    >>> topi.nn.conv2d(x, w, strides=2, padding=1, dilation=1).shape
    (1, 8, 16, 16)
    """
    kernel_layout = kernel_layout or _KERNELS.get(data_layout, "")
    spatial = [a for a in data_layout if a not in "NC"]
    if set(data_layout) != {"N", "C", *spatial} or sorted(kernel_layout) != sorted(["O", "I", *spatial]):
        raise error(f"layouts {data_layout} and {kernel_layout or '(none)'}", "layout")
    count = len(spatial)
    if inp.ndim != count + 2 or filt.ndim != count + 2 or count not in _OUT:
        raise error(f"layout {data_layout} of {inp.ndim} dimensions, filters of {filt.ndim}", "layout")
    strides, dilations = _each(stride, count, "stride"), _each(dilation, count, "dilation")
    parts = constant(groups, "groups")
    sizes = dict(zip(kernel_layout, filt.shape, strict=True))
    extents = dict(zip(data_layout, inp.shape, strict=True))
    kernel = [sizes[a] for a in spatial]
    reach = [extent(ops.add(ops.mul(ops.sub(k, 1), d), 1)) for k, d in zip(kernel, dilations, strict=True)]
    before, after = get_pad_tuple_generic(padding, reach)
    if parts < 1 or (known(sizes["O"]) is not None and (known(sizes["O"]) or 0) % parts):
        raise error(f"{sizes['O']} filters do not divide into {parts} groups", "groups")
    if not same(extents["C"], extent(ops.mul(sizes["I"], parts))) and known(extents["C"]) is not None:
        raise error(
            f"{extents['C']} channels, but filters of {sizes['I']} for each of {parts} groups", "groups"
        )
    lows, highs = [0] * inp.ndim, [0] * inp.ndim
    for a, low, high in zip(spatial, before, after, strict=True):
        lows[data_layout.index(a)], highs[data_layout.index(a)] = low, high
    padded = pad(inp, lows, highs, name="pad_temp")
    out_extents = {"N": extents["N"], "C": sizes["O"]}
    for a, k, s in zip(spatial, reach, strides, strict=True):
        n = padded.shape[data_layout.index(a)]
        out_extents[a] = extent(ops.add(ops.floordiv(ops.sub(n, k), s), 1))
        if (known(out_extents[a]) or 1) < 0:
            raise error(f"axis {a}: the filter reaches over {k} elements, the padded image has {n}")
    axes = dict(zip(spatial, _WINDOW[count], strict=True)) | {"I": "rc"}
    reduce = {a: te.reduce_axis((0, sizes[a]), name=axes[a]) for a in kernel_layout if a != "O"}
    kind = inp.dtype if out_dtype in (None, "") else read_dtype(out_dtype)
    each = extent(ops.floordiv(sizes["O"], parts))

    def f(*i: Any) -> Any:
        at = dict(zip(data_layout, i, strict=True))
        place: dict[str, Any] = {"N": at["N"]}
        channel = reduce["I"].var
        if parts > 1:
            place["C"] = ops.add(ops.mul(ops.floordiv(at["C"], each), sizes["I"]), channel)
        else:
            place["C"] = channel
        for a, s, d in zip(spatial, strides, dilations, strict=True):
            place[a] = simplify(ops.add(ops.mul(at[a], s), ops.mul(reduce[a].var, d)))
        x = padded(*[place[a] for a in data_layout])
        where = {a: r.var for a, r in reduce.items()} | {"O": at["C"]}
        w = filt(*[where[a] for a in kernel_layout])
        return te.sum(ops.mul(ops.cast(x, kind), ops.cast(w, kind)), axis=list(reduce.values()))

    names = dict(zip(spatial, _OUT[count], strict=True)) | {"N": "nn", "C": "ff"}
    called = name or f"{'group_' if parts > 1 else ''}conv{count}d_{data_layout.lower()}"
    out: Tensor = te.compute(
        tuple([out_extents[a] for a in data_layout]), f, name=called, tag=called,
        varargs_names=[names[a] for a in data_layout],
    )  # fmt: skip
    return out


def conv1d(
    data: Tensor,
    kernel: Tensor,
    strides: Any = 1,
    padding: Any = "VALID",
    dilation: Any = 1,
    groups: int = 1,
    data_layout: str = "NCW",
    kernel_layout: str = "",
    out_dtype: Any = None,
) -> Tensor:
    """The convolution along one axis; see ``conv``."""
    return conv(data, kernel, strides, padding, dilation, groups, data_layout, kernel_layout, out_dtype)


def conv2d(
    input: Tensor,
    filter: Tensor,
    strides: Any,
    padding: Any,
    dilation: Any,
    data_layout: str = "NCHW",
    kernel_layout: str = "",
    out_dtype: Any = None,
) -> Tensor:
    """The convolution along two axes; see ``conv``."""
    return conv(input, filter, strides, padding, dilation, 1, data_layout, kernel_layout, out_dtype)


def _of_layout(layout: str, doc: str) -> Callable[..., Tensor]:
    def convolution(
        data: Tensor, kernel: Tensor, stride: Any = 1, padding: Any = "VALID", dilation: Any = 1,
        out_dtype: Any = None, **ignored: Any,
    ) -> Tensor:  # fmt: skip
        stride = ignored.get("strides", stride)
        return conv(data, kernel, stride, padding, dilation, 1, layout, "", out_dtype)

    count = len(layout) - 2
    convolution.__name__ = convolution.__qualname__ = f"conv{count}d_{layout.lower()}"
    convolution.__doc__ = doc
    return convolution


def _grouped(layout: str, doc: str) -> Callable[..., Tensor]:
    def convolution(
        data: Tensor, kernel: Tensor, stride: Any = 1, padding: Any = "VALID", dilation: Any = 1,
        groups: int = 1, out_dtype: Any = None, **ignored: Any,
    ) -> Tensor:  # fmt: skip
        stride = ignored.get("strides", stride)
        name = f"group_conv{len(layout) - 2}d_{layout.lower()}"
        return conv(data, kernel, stride, padding, dilation, groups, layout, "", out_dtype, name)

    count = len(layout) - 2
    convolution.__name__ = convolution.__qualname__ = f"group_conv{count}d_{layout.lower()}"
    convolution.__doc__ = doc
    return convolution


conv1d_ncw = _of_layout("NCW", "The convolution of (N, C, W) with (O, I, W).")
conv1d_nwc = _of_layout("NWC", "The convolution of (N, W, C) with (W, I, O).")
conv2d_nchw = _of_layout("NCHW", "The convolution of (N, C, H, W) with (O, I, H, W).")
conv2d_nhwc = _of_layout("NHWC", "The convolution of (N, H, W, C) with (H, W, I, O).")
conv2d_hwcn = _of_layout("HWCN", "The convolution of (H, W, C, N) with (H, W, I, O).")
group_conv1d_ncw = _grouped("NCW", "The grouped convolution of (N, C, W) with (O, I, W).")
group_conv1d_nwc = _grouped("NWC", "The grouped convolution of (N, W, C) with (W, I, O).")
group_conv2d_nchw = _grouped("NCHW", "The grouped convolution of (N, C, H, W) with (O, I, H, W).")
group_conv2d_nhwc = _grouped("NHWC", "The grouped convolution of (N, H, W, C) with (H, W, I, O).")


def conv3d_ncdhw(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, groups: int = 1,
    out_dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The convolution of (N, C, D, H, W) with (O, I, D, H, W)."""
    return conv(Input, Filter, stride, padding, dilation, groups, "NCDHW", "", out_dtype)


def conv3d_ndhwc(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, groups: int = 1,
    out_dtype: Any = None, **ignored: Any,
) -> Tensor:  # fmt: skip
    """The convolution of (N, D, H, W, C) with (D, H, W, I, O)."""
    return conv(Input, Filter, stride, padding, dilation, groups, "NDHWC", "", out_dtype)


def _depthwise(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, dilation: Any, out_dtype: Any, layout: str,
    kernel_layout: str,
) -> Tensor:  # fmt: skip
    strides, dilations = _each(stride, 2, "stride"), _each(dilation, 2, "dilation")
    sizes = dict(zip(kernel_layout, kernel.shape, strict=True))
    extents = dict(zip(layout, data.shape, strict=True))
    if (
        not same(sizes["O"], extents["C"])
        and known(sizes["O"]) is not None
        and known(extents["C"]) is not None
    ):
        raise error(f"{extents['C']} channels, but {sizes['O']} filters", "groups")
    reach = [
        extent(ops.add(ops.mul(ops.sub(sizes[a], 1), d), 1)) for a, d in zip("HW", dilations, strict=True)
    ]
    before, after = get_pad_tuple_generic(padding, reach)
    lows = [before["HW".index(a)] if a in "HW" else 0 for a in layout]
    highs = [after["HW".index(a)] if a in "HW" else 0 for a in layout]
    padded = pad(data, lows, highs, name="PaddedInput")
    times = sizes["I"]
    result = {"N": extents["N"], "C": extent(ops.mul(extents["C"], times))}
    for a, k, s in zip("HW", reach, strides, strict=True):
        result[a] = extent(ops.add(ops.floordiv(ops.sub(padded.shape[layout.index(a)], k), s), 1))
    di = te.reduce_axis((0, sizes["H"]), name="di")
    dj = te.reduce_axis((0, sizes["W"]), name="dj")
    kind = data.dtype if out_dtype in (None, "") else read_dtype(out_dtype)

    def f(*i: Any) -> Any:
        at = dict(zip(layout, i, strict=True))
        channel = ops.floordiv(at["C"], times)
        place = {"N": at["N"], "C": channel}
        for a, r, s, d in zip("HW", (di, dj), strides, dilations, strict=True):
            place[a] = simplify(ops.add(ops.mul(at[a], s), ops.mul(r.var, d)))
        where = {"O": channel, "I": ops.floormod(at["C"], times), "H": di.var, "W": dj.var}
        x = padded(*[simplify(ops.as_expr(place[a])) for a in layout])
        w = kernel(*[simplify(ops.as_expr(where[a])) for a in kernel_layout])
        return te.sum(ops.mul(ops.cast(x, kind), ops.cast(w, kind)), axis=[di, dj])

    names = {"N": "b", "C": "c", "H": "i", "W": "j"}
    out: Tensor = te.compute(
        tuple([result[a] for a in layout]), f, name="DepthwiseConv2d",
        tag=f"depthwise_conv2d_{layout.lower()}", varargs_names=[names[a] for a in layout],
    )  # fmt: skip
    return out


def depthwise_conv2d_nchw(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, out_dtype: Any = None
) -> Tensor:
    """Each channel of (N, C, H, W) with filters of its own, (C, multiplier, H, W)."""
    return _depthwise(Input, Filter, stride, padding, dilation, out_dtype, "NCHW", "OIHW")


def depthwise_conv2d_nhwc(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, kernel_layout: str = "HWOI",
    out_dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Each channel of (N, H, W, C) with filters of its own, (H, W, C, multiplier)."""
    if sorted(kernel_layout) != sorted("HWOI"):
        raise error(f"kernel layout {kernel_layout}", "layout")
    return _depthwise(Input, Filter, stride, padding, dilation, out_dtype, "NHWC", kernel_layout)


def _transposed(
    data: Tensor, kernel: Tensor, strides: Any, padding: Any, out_dtype: Any, output_padding: Any, groups: int
) -> Tensor:
    """The transposed convolution of (N, C, ...) with (C, O / groups, ...)."""
    count = data.ndim - 2
    if count not in _OUT or kernel.ndim != data.ndim:
        raise error(f"{data.ndim} and {kernel.ndim} dimensions", "layout")
    steps = _each(strides, count, "stride")
    more = constants(output_padding, "output_padding")
    more = more * count if len(more) == 1 else more
    if len(more) != count or any(not 0 <= m < s for m, s in zip(more, steps, strict=True)):
        raise error(f"output_padding {more} must be below the strides {steps}", "padding")
    parts = constant(groups, "groups")
    if not same(data.shape[1], kernel.shape[0]) and known(data.shape[1]) is not None:
        raise error(f"{data.shape[1]} channels, but {kernel.shape[0]} filters", "groups")
    if (known(data.shape[1]) or 0) % parts:
        raise error(f"{data.shape[1]} channels do not divide into {parts} groups", "groups")
    before, after = get_pad_tuple_generic(padding, list(kernel.shape[2:]))
    dilated = dilate(data, [1, 1, *steps], name="data_dilate")
    low, high = [], []
    for k, p, q, m in zip(kernel.shape[2:], before, after, more, strict=True):
        low.append(constant(k, "the kernel's extent") - 1 - p)
        high.append(constant(k, "the kernel's extent") - 1 - q + m)
    padded = pad(dilated, [0, 0, *low], [0, 0, *high], name="data_pad")
    each_in = extent(ops.floordiv(data.shape[1], parts))
    each_out = kernel.shape[1]
    kind = data.dtype if out_dtype in (None, "") else read_dtype(out_dtype)
    letters = {1: ["w"], 2: ["h", "w"], 3: ["d", "h", "w"]}[count]
    dc = te.reduce_axis((0, each_in), name="dc")
    window = [te.reduce_axis((0, k), name=f"d{a}") for k, a in zip(kernel.shape[2:], letters, strict=True)]
    shape: list[Expr] = [data.shape[0], extent(ops.mul(each_out, parts))]
    for n, k in zip(padded.shape[2:], kernel.shape[2:], strict=True):
        shape.append(extent(ops.add(ops.sub(n, k), 1)))

    def f(b: Any, c: Any, *i: Any) -> Any:
        channel: Any = dc.var
        if parts > 1:
            channel = ops.add(ops.mul(ops.floordiv(c, each_out), each_in), dc.var)
        x = padded(b, channel, *[ops.add(v, r.var) for v, r in zip(i, window, strict=True)])
        back = [
            simplify(ops.sub(ops.sub(k, 1), r.var)) for k, r in zip(kernel.shape[2:], window, strict=True)
        ]
        w = kernel(channel, ops.floormod(c, each_out) if parts > 1 else c, *back)
        return te.sum(ops.mul(ops.cast(x, kind), ops.cast(w, kind)), axis=[dc, *window])

    layout = {1: "ncw", 2: "nchw", 3: "ncdhw"}[count]
    prefix = "group_" if parts > 1 else ""
    out: Tensor = te.compute(
        tuple(shape), f, tag=f"{prefix}conv{count}d_transpose_{layout}", varargs_names=["b", "c", *letters]
    )
    return out


def conv1d_transpose_ncw(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, out_dtype: Any, output_padding: Any
) -> Tensor:
    """The transposed convolution of (N, C, W) with (C, O, W)."""
    return _transposed(data, kernel, stride, padding, out_dtype, output_padding, 1)


def conv2d_transpose_nchw(
    Input: Tensor, Filter: Tensor, strides: Any, padding: Any, out_dtype: Any, output_padding: Any
) -> Tensor:
    """The transposed convolution of (N, C, H, W) with (C, O, H, W)."""
    return _transposed(Input, Filter, strides, padding, out_dtype, output_padding, 1)


def conv3d_transpose_ncdhw(
    Input: Tensor, Filter: Tensor, strides: Any, padding: Any, out_dtype: Any, output_padding: Any
) -> Tensor:
    """The transposed convolution of (N, C, D, H, W) with (C, O, D, H, W)."""
    return _transposed(Input, Filter, strides, padding, out_dtype, output_padding, 1)


def group_conv1d_transpose_ncw(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, out_dtype: Any, output_padding: Any, groups: int
) -> Tensor:
    """The grouped transposed convolution of (N, C, W) with (C, O / groups, W)."""
    return _transposed(data, kernel, stride, padding, out_dtype, output_padding, groups)


def group_conv2d_transpose_nchw(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, out_dtype: Any, output_padding: Any, groups: int
) -> Tensor:
    """The grouped transposed convolution of (N, C, H, W) with (C, O / groups, H, W)."""
    return _transposed(data, kernel, stride, padding, out_dtype, output_padding, groups)


def group_conv3d_transpose_ncdhw(
    data: Tensor, kernel: Tensor, strides: Any, padding: Any, out_dtype: Any, output_padding: Any, groups: int
) -> Tensor:
    """The grouped transposed convolution of (N, C, D, H, W) with (C, O / groups, D, H, W)."""
    return _transposed(data, kernel, strides, padding, out_dtype, output_padding, groups)


def conv2d_NCHWc(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, dilation: Any, layout: str, out_layout: str,
    out_dtype: Any = "float32",
) -> Tensor:  # fmt: skip
    """The convolution of (N, C / c, H, W, c) with (O / o, C / c, H, W, c, o), to (N, O / o, H, W, o)."""
    strides, dilations = _each(stride, 2, "stride"), _each(dilation, 2, "dilation")
    n, chunks, _, _, inner = data.shape
    outer, own, kh, kw, ic, oc = kernel.shape
    if not same(chunks, own) or not same(inner, ic):
        raise error(f"channels ({chunks}, {inner}) and filters for ({own}, {ic})", "groups")
    reach = [extent(ops.add(ops.mul(ops.sub(k, 1), d), 1)) for k, d in zip((kh, kw), dilations, strict=True)]
    before, after = get_pad_tuple_generic(padding, reach)
    padded = pad(data, [0, 0, *before, 0], [0, 0, *after, 0], name="data_pad")
    oh, ow = (
        extent(ops.add(ops.floordiv(ops.sub(padded.shape[2 + a], reach[a]), strides[a]), 1)) for a in range(2)
    )
    channel = extent(ops.mul(chunks, inner))
    rc = te.reduce_axis((0, channel), name="ic")
    ry, rx = te.reduce_axis((0, kh), name="kh"), te.reduce_axis((0, kw), name="kw")
    kind = read_dtype(out_dtype)

    def f(b: Any, chunk: Any, y: Any, x: Any, o: Any) -> Any:
        c, e = ops.floordiv(rc.var, inner), ops.floormod(rc.var, inner)
        at_y = ops.add(ops.mul(y, strides[0]), ops.mul(ry.var, dilations[0]))
        at_x = ops.add(ops.mul(x, strides[1]), ops.mul(rx.var, dilations[1]))
        value = padded(b, c, simplify(at_y), simplify(at_x), e)
        weight = kernel(chunk, c, ry.var, rx.var, e, o)
        return te.sum(ops.mul(ops.cast(value, kind), ops.cast(weight, kind)), axis=[rc, ry, rx])

    out: Tensor = te.compute(
        (n, outer, oh, ow, oc), f, name="conv2d_NCHWc", tag="conv2d_NCHWc",
        varargs_names=["n", "oc_chunk", "oh", "ow", "oc_block"],
    )  # fmt: skip
    return out


def unpack_NCHWc_to_nchw(packed_out: Tensor, out_dtype: Any) -> Tensor:
    """(N, C / c, H, W, c) as (N, C, H, W)."""
    n, chunks, h, w, inner = packed_out.shape
    out: Tensor = te.compute(
        (n, extent(ops.mul(chunks, inner)), h, w),
        lambda i, c, y, x: ops.cast(
            packed_out(i, ops.floordiv(c, inner), y, x, ops.floormod(c, inner)), read_dtype(out_dtype)
        ),
        name="output_unpack", tag="injective,unpack_nchwc",
    )  # fmt: skip
    return out


__all__ = [
    "conv", "conv1d", "conv1d_ncw", "conv1d_nwc", "conv1d_transpose_ncw", "conv2d", "conv2d_NCHWc",
    "conv2d_hwcn", "conv2d_nchw", "conv2d_nhwc", "conv2d_transpose_nchw", "conv3d_ncdhw", "conv3d_ndhwc",
    "conv3d_transpose_ncdhw", "depthwise_conv2d_nchw", "depthwise_conv2d_nhwc", "group_conv1d_ncw",
    "group_conv1d_nwc", "group_conv1d_transpose_ncw", "group_conv2d_nchw", "group_conv2d_nhwc",
    "group_conv2d_transpose_nchw", "group_conv3d_transpose_ncdhw", "unpack_NCHWc_to_nchw",
]  # fmt: skip
