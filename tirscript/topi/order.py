"""Running sums, sorting, searching, scattering: operators whose elements depend on many others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tirscript import te
from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.expr import BufferLoad, Expr, Var, const_int
from tirscript.ir.stmt import BufferStore, DeclBuffer, For, IfThenElse, LetStmt, Stmt, seq
from tirscript.script import operators as T
from tirscript.script import tir as S
from tirscript.script.operators import read_dtype
from tirscript.te import Tensor

from .shapes import axis_of, constant, error, product, same


def _flat(b: Buffer) -> Buffer:
    return make_buffer(f"{b.name}_flat", (product(b.shape),), b.dtype, data=b.data)


def _declared(body: Stmt, *buffers: Buffer) -> Stmt:
    for b in reversed(buffers):
        body = DeclBuffer(b, body)
    return body


def _loop(name: str, count: Expr, body: Callable[[Var], Stmt]) -> Stmt:
    v = Var(name, count.dtype)
    return For(v, const_int(0, count.dtype), count, "serial", body(v))


def scanop(
    data: Tensor,
    binop: Callable[[Any, Any], Any],
    identity_value: Any,
    op_name: str,
    axis: int | None = None,
    dtype: Any = None,
    exclusive: bool | None = None,
) -> Tensor:
    """The running combination along an axis; of the flattened tensor where ``axis`` is None.

    ``exclusive`` leaves out the element itself.
    """
    kind = data.dtype if dtype in (None, "") else read_dtype(dtype)
    outer: Expr
    inner: Expr
    if axis is None:
        shape: tuple[Expr, ...] = (product(data.shape),)
        outer, length, inner = const_int(1), shape[0], const_int(1)
    else:
        at = axis_of(axis, data.ndim)
        shape = data.shape
        outer, length, inner = product(shape[:at]), shape[at], product(shape[at + 1 :])
    start = ops.cast(ops.as_expr(identity_value), kind)

    def body(ins: Any, outs: Any) -> Stmt:
        a, o = _flat(ins[0]), _flat(outs[0])

        def row(i: Var) -> Stmt:
            def column(j: Var) -> Stmt:
                def cell(k: Expr) -> Expr:
                    return ops.add(ops.mul(ops.add(ops.mul(i, length), k), inner), j)

                def value(k: Expr) -> Expr:
                    return ops.cast(BufferLoad(a, (cell(k),)), kind)

                first = start if exclusive else value(const_int(0, length.dtype))
                begin = BufferStore(o, first, (cell(const_int(0, length.dtype)),))

                def step(k: Var) -> Stmt:
                    now, before = ops.add(k, 1), k
                    new = value(before) if exclusive else value(now)
                    combined = ops.cast(ops.as_expr(binop(BufferLoad(o, (cell(before),)), new)), kind)
                    return BufferStore(o, combined, (cell(now),))

                return IfThenElse(ops.gt(length, 0), seq(begin, _loop("k", ops.sub(length, 1), step)), None)

            return _loop("j", inner, column)

        return _declared(_loop("i", outer, row), a, o)

    out: Tensor = te.extern(shape, [data], body, name=op_name, dtype=kind, tag=op_name)
    return out


def cumsum(data: Tensor, axis: int | None = None, dtype: Any = None, exclusive: bool | None = None) -> Tensor:
    """The running sum along an axis.

    >>> from tirscript import te, topi
    >>> topi.cumsum(te.placeholder((2, 3)), axis=1).shape
    (2, 3)
    """
    return scanop(data, ops.add, 0, "cumsum_generic", axis, dtype, exclusive)


def cumprod(
    data: Tensor, axis: int | None = None, dtype: Any = None, exclusive: bool | None = None
) -> Tensor:
    """The running product along an axis."""
    return scanop(data, ops.mul, 1, "cumprod_generic", axis, dtype, exclusive)


# ---- sorting, by NumPy


def _register() -> None:
    import numpy as np

    from tirscript.runtime import register_func

    def order_of(a: Any, axis: int, ascending: int) -> Any:
        if ascending:
            return np.argsort(a, axis=axis, kind="stable")
        # A stable descending order: equal elements keep theirs.
        back = np.flip(a, axis)
        order = np.flip(np.argsort(back, axis=axis, kind="stable"), axis)
        return a.shape[axis] - 1 - order

    def sort(data: Any, out: Any, axis: int, ascending: int) -> None:
        a = data.numpy()
        out.copyfrom(np.take_along_axis(a, order_of(a, axis, ascending), axis))

    def argsort(data: Any, out: Any, axis: int, ascending: int) -> None:
        out.copyfrom(order_of(data.numpy(), axis, ascending).astype(out.dtype))

    def argsort_valid(data: Any, count: Any, out: Any, axis: int, ascending: int) -> None:
        a, valid = data.numpy(), count.numpy()
        result = np.broadcast_to(
            np.arange(a.shape[axis]).reshape([-1 if n == axis else 1 for n in range(a.ndim)]), a.shape
        ).copy()
        moved, target = np.moveaxis(a, axis, -1), np.moveaxis(result, axis, -1)
        for place in np.ndindex(moved.shape[:-1]):
            n = int(valid[place[: valid.ndim]])
            target[place][:n] = order_of(moved[place][:n], 0, ascending)
        out.copyfrom(result.astype(out.dtype))

    def topk(data: Any, values: Any, indices: Any, k: int, axis: int, ascending: int) -> None:
        a = data.numpy()
        order = np.take(order_of(a, axis, ascending), np.arange(k), axis)
        values.copyfrom(np.take_along_axis(a, order, axis))
        indices.copyfrom(order.astype(indices.dtype))

    def searchsorted(data: Any, values: Any, out: Any, right: int) -> None:
        rows, wanted = data.numpy(), values.numpy()
        side: Literal["left", "right"] = "right" if right else "left"
        if rows.ndim == 1:
            out.copyfrom(np.searchsorted(rows, wanted, side=side).astype(out.dtype))
            return
        found = np.empty(wanted.shape, out.dtype)
        for place in np.ndindex(rows.shape[:-1]):
            found[place] = np.searchsorted(rows[place], wanted[place], side=side)
        out.copyfrom(found)

    for f in (sort, argsort, argsort_valid, topk, searchsorted):
        register_func(f"tirscript.topi.{f.__name__}", f, override=True)


def sort(data: Tensor, axis: int = -1, is_ascend: int = 1) -> Tensor:
    """The elements in order along an axis; nan stands last, equal elements keep their order."""
    _register()
    at = axis_of(axis, data.ndim)

    def body(ins: Any, outs: Any) -> Any:
        return S.call_packed("tirscript.topi.sort", ins[0], outs[0], at, int(bool(is_ascend)))

    out: Tensor = te.extern(data.shape, [data], body, name="sort_cpu", tag="sort_cpu")
    return out


def argsort(
    data: Tensor,
    valid_count: Tensor | None = None,
    axis: int = -1,
    is_ascend: int = 1,
    dtype: Any = "float32",
) -> Tensor:
    """The indices that put an axis in order; with ``valid_count`` only the first so many are ordered."""
    _register()
    at = axis_of(axis, data.ndim)
    up = int(bool(is_ascend))
    kind = read_dtype(dtype)
    if valid_count is None:
        out: Tensor = te.extern(
            data.shape, [data], lambda i, o: S.call_packed("tirscript.topi.argsort", i[0], o[0], at, up),
            name="argsort_cpu", dtype=kind, tag="argsort_cpu",
        )  # fmt: skip
    else:
        out = te.extern(
            data.shape, [data, valid_count],
            lambda i, o: S.call_packed("tirscript.topi.argsort_valid", i[0], i[1], o[0], at, up),
            name="argsort_nms_cpu", dtype=kind, tag="argsort_nms_cpu",
        )  # fmt: skip
    return out


def topk(
    data: Tensor,
    k: Any = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: bool = False,
    dtype: Any = "int64",
) -> Any:
    """The ``k`` greatest elements along an axis (with ``is_ascend`` the least) and their indices.

    ``ret_type`` is ``both``, ``values`` or ``indices``; ``k < 1`` takes all.

    >>> from tirscript import te, topi
    >>> values, indices = topi.topk(te.placeholder((3, 8)), k=2)
    >>> values.shape, indices.dtype
    ((3, 2), 'int64')
    """
    if ret_type not in ("both", "values", "indices"):
        raise error(f"ret_type is 'both', 'values' or 'indices', not {ret_type!r}", "mode")
    _register()
    at = axis_of(axis, data.ndim)
    size = constant(data.shape[at], "the extent of the axis")
    count = constant(k, "k")
    count = size if count < 1 else count
    if count > size:
        raise error(f"k is {count}, the axis has {size} elements")
    shape = (*data.shape[:at], const_int(count, data.shape[at].dtype), *data.shape[at + 1 :])
    values, indices = te.extern(
        [shape, shape], [data],
        lambda i, o: S.call_packed("tirscript.topi.topk", i[0], o[0], o[1], count, at, int(bool(is_ascend))),
        name="topk_cpu", dtype=[data.dtype, read_dtype(dtype)], tag="topk_cpu",
    )  # fmt: skip
    if ret_type == "values":
        return values
    return indices if ret_type == "indices" else [values, indices]


def searchsorted(
    sorted_sequence: Tensor, values: Tensor, right: bool = False, out_dtype: Any = "int64"
) -> Tensor:
    """Where values would stand in sorted rows: the first place, with ``right`` the last."""
    _register()
    if sorted_sequence.ndim != 1 and sorted_sequence.ndim != values.ndim:
        raise error(f"{sorted_sequence.ndim} and {values.ndim} dimensions")
    out: Tensor = te.extern(
        values.shape, [sorted_sequence, values],
        lambda i, o: S.call_packed("tirscript.topi.searchsorted", i[0], i[1], o[0], int(bool(right))),
        name="searchsorted", dtype=read_dtype(out_dtype),
    )  # fmt: skip
    return out


# ---- scattering


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "update": lambda old, new: new, "add": ops.add, "mul": ops.mul, "min": T.min, "max": T.max,
}  # fmt: skip


def _combiner(name: str) -> Callable[[Any, Any], Any]:
    if name not in _COMBINE:
        raise error(f"reduction is one of {', '.join(_COMBINE)}, not {name!r}", "mode")
    return _COMBINE[name]


def _copied(a: Buffer, o: Buffer) -> Stmt:
    return _loop("i", product(a.shape), lambda v: BufferStore(o, BufferLoad(a, (v,)), (v,)))


def _from_end(index: Expr, size: Expr) -> Expr:
    at = ops.cast(index, size.dtype) if index.dtype != size.dtype else index
    return ops.select(ops.lt(at, 0), ops.add(at, size), at)


def scatter_elements(
    data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "update"
) -> Tensor:
    """``data`` with ``updates`` at the indices along an axis, in order; several for one cell combine."""
    at = axis_of(axis, data.ndim)
    combine = _combiner(reduction)
    if indices.ndim != data.ndim or updates.ndim != data.ndim:
        raise error(f"data has {data.ndim} dimensions, indices {indices.ndim}, updates {updates.ndim}")
    if data.dtype != updates.dtype or not dt.is_int(indices.dtype):
        raise error(f"data is {data.dtype}, updates {updates.dtype}, indices {indices.dtype}", "dtype")

    def body(ins: Any, outs: Any) -> Stmt:
        a, o = _flat(ins[0]), _flat(outs[0])

        def place(at_: list[Expr]) -> Expr:
            from .shapes import flat_index

            return flat_index(at_, data.shape)

        def nest(n: int, index: list[Var]) -> Stmt:
            if n < indices.ndim:
                return _loop(f"j{n}", indices.shape[n], lambda v: nest(n + 1, [*index, v]))
            v = Var("at", "int64" if data.shape[at].dtype == "int64" else "int32", False)
            where = ops.cast(_from_end(BufferLoad(ins[1], tuple(index)), data.shape[at]), v.dtype)
            cell = place([*index[:at], v, *index[at + 1 :]])
            new = combine(BufferLoad(o, (cell,)), BufferLoad(ins[2], tuple(index)))
            return LetStmt(v, where, BufferStore(o, new, (cell,)))

        return _declared(seq(_copied(a, o), nest(0, [])), a, o)

    out: Tensor = te.extern(
        data.shape, [data, indices, updates], body, name="scatter_elements_generic",
        tag="scatter_elements.generic",
    )  # fmt: skip
    return out


def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, mode: str = "update") -> Tensor:
    """``data`` with ``updates`` at the places whose indices the first dimension of ``indices`` holds."""
    combine = _combiner(mode)
    count = constant(indices.shape[0], "the first extent of indices")
    if count > data.ndim or updates.ndim != indices.ndim - 1 + data.ndim - count:
        raise error(f"{count} indices, {updates.ndim} dimensions of updates for {data.ndim} dimensions")

    def body(ins: Any, outs: Any) -> Stmt:
        a, o = _flat(ins[0]), _flat(outs[0])

        def nest(n: int, index: list[Var]) -> Stmt:
            if n < updates.ndim:
                return _loop(f"j{n}", updates.shape[n], lambda v: nest(n + 1, [*index, v]))
            from .shapes import flat_index

            lead = index[: indices.ndim - 1]
            at = [_from_end(BufferLoad(ins[1], (const_int(d), *lead)), data.shape[d]) for d in range(count)]
            cell = flat_index([*at, *index[indices.ndim - 1 :]], data.shape)
            v = Var("at", cell.dtype, False)
            new = combine(BufferLoad(o, (v,)), BufferLoad(ins[2], tuple(index)))
            return LetStmt(v, cell, BufferStore(o, new, (v,)))

        return _declared(seq(_copied(a, o), nest(0, [])), a, o)

    out: Tensor = te.extern(
        data.shape, [data, indices, updates], body, name="scatter_nd_generic", tag="scatter_nd.generic"
    )
    return out


def index_put(data: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """``data`` with ``data[indices] = values``, or ``+=``: 1-D index tensors for the leading axes."""
    many = list(indices) if isinstance(indices, (list, tuple)) else [indices]
    if len(many) > data.ndim or any(t.ndim != 1 for t in many):
        raise error(f"{len(many)} vectors of indices for {data.ndim} dimensions")
    for t in many[1:]:
        if not same(t.shape[0], many[0].shape[0]):
            raise error(f"index vectors of {many[0].shape[0]} and {t.shape[0]} elements")
    rest = data.shape[len(many) :]
    if values.ndim != 1 + len(rest):
        raise error(f"values have {values.ndim} dimensions, {1 + len(rest)} are wanted")
    combine = _COMBINE["add" if accumulate else "update"]

    def body(ins: Any, outs: Any) -> Stmt:
        a, o = _flat(ins[0]), _flat(outs[0])
        source = ins[-1]

        def nest(n: int, index: list[Var]) -> Stmt:
            if n < values.ndim:
                return _loop(f"j{n}", values.shape[n], lambda v: nest(n + 1, [*index, v]))
            from .shapes import flat_index

            at = [_from_end(BufferLoad(b, (index[0],)), data.shape[d]) for d, b in enumerate(ins[1:-1])]
            cell = flat_index([*at, *index[1:]], data.shape)
            v = Var("at", cell.dtype, False)
            new = combine(BufferLoad(o, (v,)), BufferLoad(source, tuple(index)))
            return LetStmt(v, cell, BufferStore(o, new, (v,)))

        return _declared(seq(_copied(a, o), nest(0, [])), a, o)

    out: Tensor = te.extern(
        data.shape, [data, *many, values], body, name="index_put_generic", tag="index_put.generic"
    )
    return out


__all__ = [
    "argsort", "cumprod", "cumsum", "index_put", "scanop", "scatter_elements", "scatter_nd",
    "searchsorted", "sort", "topk",
]  # fmt: skip
