"""Which updates are reductions by a commutative, associative combiner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tirscript.analysis.block_kind import block_kind
from tirscript.analysis.reducer import identity_of, reduced_buffers, reducer_of, update_of
from tirscript.ir import expr as E
from tirscript.ir import ops
from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import Var, const_int
from tirscript.ir.stmt import BufferStore, IfThenElse, SeqStmt

from .programs import block, buffer, loop, store

vi, vk, i, k = Var("vi"), Var("vk"), Var("i"), Var("k")
X, A, Y = buffer("X", 8), buffer("A", 8, 8), buffer("Y", 8)
cell, value = ops.load(X, [vi]), ops.load(A, [vi, vk])


def reduction(body: Any, init: Any = None) -> Any:
    axes = [(vi, 8, "spatial", i), (vk, 8, "reduce", k)]
    return block("X", axes, body, init=init).block


@pytest.mark.parametrize(
    ("update", "kind"),
    [
        (cell + value, "sum"), (value + cell, "sum"), (cell * value, "prod"),
        (ops.minimum(cell, value), "min"),
        (ops.maximum(value, cell), "max"), (cell - value, "sum"), (cell + value + value, "sum"),
        (value + (value + cell), "sum"), (cell + value * value, "sum"),
    ],
)  # fmt: skip
def test_updates(update: Any, kind: str) -> None:
    s = BufferStore(X, update, (vi,))
    found = update_of(s)
    assert found is not None and found.reducer.kind == kind
    assert found.reducer.negated == isinstance(update, E.Sub)
    made = reduction(s, store(X, [vi], 0.0))
    assert reducer_of(made) is not None and reduced_buffers(made) == {X}
    assert block_kind(made) == "reduction"


@pytest.mark.parametrize(
    "update",
    [
        value, value - cell, cell + ops.load(X, [vi + 1]), cell + cell, cell / value, cell + value * cell,
        ops.load(X, [vk]) + value, ops.select(cell < value, value, cell), ops.minimum(cell, value) + 1.0,
    ],
)  # fmt: skip
def test_what_is_no_update(update: Any) -> None:
    s = BufferStore(X, update, (vi,))
    assert update_of(s) is None
    assert reduced_buffers(reduction(s)) == frozenset()


def test_every_store_of_the_buffer_counts() -> None:
    up = BufferStore(X, cell + value, (vi,))
    assert reduced_buffers(reduction(SeqStmt((up, BufferStore(X, cell + 1.0, (vi,)))))) == {X}
    assert reduced_buffers(reduction(SeqStmt((up, BufferStore(X, cell * 2.0, (vi,)))))) == frozenset()
    assert reduced_buffers(reduction(SeqStmt((up, store(X, [vi], 0.0))))) == frozenset()
    # What is accumulated is read.
    assert reduced_buffers(reduction(SeqStmt((up, store(Y, [vi], cell))))) == frozenset()
    assert reduced_buffers(reduction(IfThenElse(cell < 3.0, up))) == frozenset()
    assert reduced_buffers(reduction(IfThenElse(value < 3.0, up))) == {X}
    assert reduced_buffers(reduction(loop(Var("q"), 4, up))) == {X}


def test_bools_and_bits() -> None:
    flags = make_buffer("F", (const_int(8),), "bool")
    f = ops.load(flags, [vi])
    for op, kind in ((ops.logical_and, "all"), (ops.logical_or, "any")):
        found = update_of(BufferStore(flags, op(f, value < 1.0), (vi,)))
        assert found is not None and found.reducer.kind == kind
    ints = make_buffer("N", (const_int(8),), "int32")
    bits = ops.load(ints, [vi])
    found = update_of(BufferStore(ints, ops.bitwise_xor(bits, ops.const(3, "int32")), (vi,)))
    assert found is not None and found.reducer.kind == "bitwise_xor"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float64", "bool"])
def test_identities(dtype: str) -> None:
    kinds: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
    if dtype.startswith(("int", "uint")):
        kinds |= {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
    if dtype == "bool":
        kinds = {"all": np.logical_and, "any": np.logical_or}
    numbers = np.array([0, 1, 100], "int64").astype(dtype)
    for kind, combine in kinds.items():
        neutral: Any = identity_of(kind, dtype)
        assert neutral.dtype == dtype
        assert (combine(numbers, np.array(neutral.value).astype(dtype)) == numbers).all()


def test_complete_blocks() -> None:
    body = store(X, [vi], ops.load(Y, [vi]))
    assert block_kind(block("X", [(vi, 8, "spatial", i)], body).block) == "complete"
    again = store(X, [vi], ops.load(X, [vi]) + 1.0)
    assert block_kind(block("X", [(vi, 8, "spatial", i)], again).block) == "other"
    clash = store(X, [vi // 2], 1.0)
    assert block_kind(block("X", [(vi, 8, "spatial", i)], clash).block) == "other"
