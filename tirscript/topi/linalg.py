"""Products of matrices and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript import te
from tirscript.ir import ops
from tirscript.ir.expr import Expr
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from .shapes import axis_of, broadcast_index, broadcast_shapes, constants, error, known, same
from .tag import MATMUL


def _contracted(a: Expr, b: Expr, names: str) -> Expr:
    if not same(a, b) and (known(a) is not None and known(b) is not None):
        raise error(f"{names}: extents {a} and {b} of the summed axis differ")
    return a if known(a) is not None else b


def matmul(a: Tensor, b: Tensor, transp_a: bool = False, transp_b: bool = False) -> Tensor:
    """The product of two matrices, either transposed on request.

    >>> from tirscript import te, topi
    >>> topi.matmul(te.placeholder((4, 8)), te.placeholder((16, 8)), transp_b=True).shape
    (4, 16)
    """
    if a.ndim != 2 or b.ndim != 2:
        raise error(f"two matrices are wanted, these have {a.ndim} and {b.ndim} dimensions")
    rows, inner = (a.shape[1], a.shape[0]) if transp_a else a.shape
    other, columns = (b.shape[1], b.shape[0]) if transp_b else b.shape
    k = te.reduce_axis((0, _contracted(inner, other, "matmul")), name="k")

    def f(*index: Any) -> Any:
        i, j = index
        x = a(k.var, i) if transp_a else a(i, k.var)
        y = b(j, k.var) if transp_b else b(k.var, j)
        return te.sum(ops.mul(x, y), axis=k)

    out: Tensor = te.compute((rows, columns), f, name="T_matmul", tag=MATMUL, varargs_names=["ax0", "ax1"])
    return out


def tensordot(a: Tensor, b: Tensor, axes: Any = 2) -> Tensor:
    """The sum over axes of products: ``axes`` is a number of them, or those of ``a`` and those of ``b``."""
    if isinstance(axes, (list, tuple)) and len(axes) == 2 and not all(isinstance(n, int) for n in axes):
        left = [axis_of(n, a.ndim) for n in (axes[0] if isinstance(axes[0], (list, tuple)) else [axes[0]])]
        right = [axis_of(n, b.ndim) for n in (axes[1] if isinstance(axes[1], (list, tuple)) else [axes[1]])]
    elif isinstance(axes, (list, tuple)) and len(axes) == 2:
        left, right = [axis_of(axes[0], a.ndim)], [axis_of(axes[1], b.ndim)]
    else:
        count = constants(axes, "axes")[0]
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise error(f"{count} axes of {a.ndim} and {b.ndim}", "axis")
        left, right = list(range(a.ndim - count, a.ndim)), list(range(count))
    if len(left) != len(right):
        raise error(f"{len(left)} axes of one tensor, {len(right)} of the other", "axis")
    sums = [
        te.reduce_axis((0, _contracted(a.shape[x], b.shape[y], "tensordot")), name=f"k{n}")
        for n, (x, y) in enumerate(zip(left, right, strict=True))
    ]
    kept_a = [n for n in range(a.ndim) if n not in left]
    kept_b = [n for n in range(b.ndim) if n not in right]

    def f(*i: Any) -> Any:
        at_a: list[Any] = [None] * a.ndim
        at_b: list[Any] = [None] * b.ndim
        for n, k in zip(left, sums, strict=True):
            at_a[n] = k.var
        for n, k in zip(right, sums, strict=True):
            at_b[n] = k.var
        for n, v in zip(kept_a, i, strict=False):
            at_a[n] = v
        for n, v in zip(kept_b, i[len(kept_a) :], strict=True):
            at_b[n] = v
        value = ops.mul(a(*at_a), b(*at_b))
        return te.sum(value, axis=sums) if sums else value

    shape = (*[a.shape[n] for n in kept_a], *[b.shape[n] for n in kept_b])
    out: Tensor = te.compute(
        shape, f, name="T_tensordot", tag=MATMUL, varargs_names=[f"ax{n}" for n in range(len(shape))]
    )
    return out


def einsum(subscripts: str, *operand: Any) -> Tensor:
    """The sum of products that ``subscripts`` describes, as ``numpy.einsum`` (``...`` included).

    >>> from tirscript import te, topi
    >>> x, y = te.placeholder((2, 3, 4)), te.placeholder((2, 4, 5))
    >>> topi.einsum("bij,bjk->bik", x, y).shape
    (2, 3, 5)
    """
    tensors: Sequence[Tensor] = (
        operand[0] if len(operand) == 1 and isinstance(operand[0], (list, tuple)) else operand
    )
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    parts = inputs.split(",")
    if len(parts) != len(tensors):
        raise error(f"{len(parts)} subscripts for {len(tensors)} tensors", "arity")
    sizes: dict[str, Expr] = {}
    labels: list[list[str]] = []
    dots = 0
    for part, t in zip(parts, tensors, strict=True):
        before, ellipsis, after = part.partition("...")
        named = len(before) + len(after)
        extra = t.ndim - named
        if extra < 0 or (extra and not ellipsis) or (not (before + after).isalpha() and before + after):
            raise error(f"subscripts {part!r} do not fit {t.ndim} dimensions", "subscripts")
        dots = max(dots, extra)
        labels.append([*before, *[f".{n}" for n in range(extra - 1, -1, -1)], *after])
        for a, n in zip(labels[-1], t.shape, strict=True):
            if a not in sizes or known(sizes[a]) == 1:
                sizes[a] = n
            elif not same(sizes[a], n) and known(n) != 1:
                raise error(f"index {a!r} has extents {sizes[a]} and {n}")
    if arrow:
        before, ellipsis, after = output.partition("...")
        result = [*before, *([f".{n}" for n in range(dots - 1, -1, -1)] if ellipsis else []), *after]
        if any(a not in sizes for a in result) or len(set(result)) != len(result):
            raise error(f"output {output!r} names an index that no input has, or one twice", "subscripts")
    else:
        counts = inputs.replace(".", "").replace(",", "")
        result = [f".{n}" for n in range(dots - 1, -1, -1)]
        result += sorted(a for a in set(counts) if counts.count(a) == 1)
    axes = {a: te.reduce_axis((0, n), name=a.replace(".", "d")) for a, n in sizes.items() if a not in result}

    def f(*i: Any) -> Any:
        where: dict[str, Any] = dict(zip(result, i, strict=True)) | {a: x.var for a, x in axes.items()}
        value = None
        for names, t in zip(labels, tensors, strict=True):
            at = [0 if known(n) == 1 else where[a] for a, n in zip(names, t.shape, strict=True)]
            value = t(*at) if value is None else ops.mul(value, t(*at))
        return te.sum(value, axis=list(axes.values())) if axes else value

    shape = tuple([sizes[a] for a in result])
    out: Tensor = te.compute(
        shape, f, name="T_einsum", tag="einsum", varargs_names=[f"ax{n}" for n in range(len(shape))]
    )
    return out


def nn_matmul(
    tensor_a: Tensor,
    tensor_b: Tensor,
    bias: Tensor | None = None,
    out_dtype: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: Any = None,
) -> Tensor:
    """The product of two matrices, or of stacks of them, whose leading axes broadcast; with a bias.

    ``out_dtype`` is the dtype of the sum; the factors are converted to it.
    """
    if tensor_a.ndim < 1 or tensor_b.ndim < 1:
        raise error("a matrix product has at least one axis in each factor", "axis")
    kind = tensor_a.dtype if out_dtype is None else read_dtype(out_dtype)
    lead_a, lead_b = tensor_a.shape[:-2], tensor_b.shape[:-2]
    if tensor_a.ndim < 2 or tensor_b.ndim < 2:
        raise error(f"matrices are wanted, these have {tensor_a.ndim} and {tensor_b.ndim} dimensions")
    batch = broadcast_shapes(lead_a, lead_b)
    rows, inner = tensor_a.shape[-2:] if not transpose_a else tensor_a.shape[:-3:-1]
    other, columns = tensor_b.shape[-2:] if not transpose_b else tensor_b.shape[:-3:-1]
    k = te.reduce_axis((0, _contracted(inner, other, "matmul")), name="k")

    def f(*i: Any) -> Any:
        *b, r, c = i
        at_a = _batch_index(b, lead_a)
        at_b = _batch_index(b, lead_b)
        x = tensor_a(*at_a, *((k.var, r) if transpose_a else (r, k.var)))
        y = tensor_b(*at_b, *((c, k.var) if transpose_b else (k.var, c)))
        return te.sum(ops.mul(ops.cast(x, kind), ops.cast(y, kind)), axis=k)

    name = f"T_matmul_{'T' if transpose_a else 'N'}{'T' if transpose_b else 'N'}"
    shape = (*batch, rows, columns)
    out: Tensor = te.compute(
        shape, f, name=name, tag=MATMUL, attrs={"layout_free_placeholders": [tensor_b]},
        varargs_names=[f"i{n}" for n in range(len(shape))],
    )  # fmt: skip
    if bias is not None:
        from .broadcast import add
        from .elemwise import cast

        out = add(out, cast(bias, kind) if bias.dtype != kind else bias)
    return out


def _batch_index(index: Sequence[Any], shape: Sequence[Expr]) -> list[Any]:
    own = list(index[len(index) - len(shape) :]) if shape else []
    return [0 if known(n) == 1 else i for i, n in zip(own, shape, strict=True)]


def dense(
    data: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    out_dtype: Any = None,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: Any = None,
) -> Tensor:
    """``data @ weight.T + bias``: a fully connected layer.

    >>> from tirscript import te, topi
    >>> topi.nn.dense(te.placeholder((2, 8)), te.placeholder((4, 8)), te.placeholder((4,))).shape
    (2, 4)
    """
    return nn_matmul(data, weight, bias, out_dtype, False, True)


def batch_matmul(
    tensor_a: Tensor,
    tensor_b: Tensor,
    oshape: Any = None,
    out_dtype: Any = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
    auto_scheduler_rewritten_layout: str = "",
    meta_schedule_original_shape: Any = None,
) -> Tensor:
    """The products of the matrices of two stacks; ``tensor_b`` is transposed by default."""
    if tensor_a.ndim != 3 or tensor_b.ndim != 3:
        raise error(f"two stacks of matrices are wanted, these have {tensor_a.ndim} and {tensor_b.ndim} axes")
    kind = tensor_a.dtype if out_dtype is None else read_dtype(out_dtype)
    (batch,) = broadcast_shapes(tensor_a.shape[:1], tensor_b.shape[:1])
    rows, inner = tensor_a.shape[1:] if not transpose_a else tensor_a.shape[:0:-1]
    other, columns = tensor_b.shape[1:] if not transpose_b else tensor_b.shape[:0:-1]
    k = te.reduce_axis((0, _contracted(inner, other, "batch_matmul")), name="k")

    def f(b: Any, i: Any, j: Any) -> Any:
        ba, bb = broadcast_index(tensor_a, (b, 0, 0))[0], broadcast_index(tensor_b, (b, 0, 0))[0]
        x = tensor_a(ba, *((k.var, i) if transpose_a else (i, k.var)))
        y = tensor_b(bb, *((j, k.var) if transpose_b else (k.var, j)))
        return te.sum(ops.mul(ops.cast(x, kind), ops.cast(y, kind)), axis=k)

    name = f"T_batch_matmul_{'T' if transpose_a else 'N'}{'T' if transpose_b else 'N'}"
    out: Tensor = te.compute(
        (batch, rows, columns),
        f,
        name=name,
        tag="batch_matmul",
        attrs={"layout_free_placeholders": [tensor_b]},
    )
    if oshape is not None:
        from .transform import reshape

        out = reshape(out, oshape)
    return out
