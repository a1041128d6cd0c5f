"""Tensor-core intrinsics: their descriptions are TVM's, and their implementations compute what these say.

The instructions are emulated here after NVIDIA's PTX manual (fragments of wmma, ldmatrix, mma.m16n8k16): the
arguments of the calls are evaluated for concrete strides and offsets, lane by lane.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.script.tvm_helper import normalize, peer, spelled_out
from tirscript.ir.expr import Call, Var
from tirscript.ir.stmt import Evaluate, For, Stmt
from tirscript.schedule import Schedule
from tirscript.script.printer import script
from tirscript.tensor_intrin.cuda import (
    get_mma_intrin_group,
    get_wmma_intrin_group,
    ldmatrix_32x8_to_shared_16x16_layout,
    shared_16x16_to_ldmatrix_32x8_layout,
)
from tirscript.tir import TensorIntrin


def impl_of(name: str) -> Any:
    intrin = TensorIntrin.get(name)
    assert intrin is not None
    return intrin.impl


def calls(s: Any, tx: int | None = None, out: list[tuple[Call, int | None]] | None = None) -> list[Any]:
    """The calls of an implementation in order; for each lane where a thread loop stands around them."""
    out = [] if out is None else out
    if type(s) is Evaluate:
        out.append((s.value, tx))
    elif type(s) is For and s.thread:
        for lane in range(32):
            calls(s.body, lane, out)
    else:
        for c in s.children():
            if isinstance(c, Stmt):
                calls(c, tx, out)
    return out


class Machine:
    """Flat memory by pointer, fragments by pointer and number, registers by pointer."""

    def __init__(self, impl: Any, where: dict[str, tuple[Any, int, int]]) -> None:
        """``where`` says of each buffer of the implementation: the flat array, its offset, its row stride."""
        self.impl = impl
        self.env: dict[str, int] = {}
        self.memory: dict[Var, Any] = {}
        for b in impl.buffer_map.values():
            array, offset, row = where[b.name]
            self.memory[b.data] = array
            if b.elem_offset is not None:
                self.env[b.elem_offset.name] = offset
            for stride, value in zip(b.strides, (row, 1), strict=False):
                if isinstance(stride, Var):
                    self.env[stride.name] = value

    def value(self, e: Any, tx: int | None = None) -> int:
        return int(eval(script(e), {}, {**self.env, "tx": tx}))

    def pointer(self, e: Any) -> tuple[Any, int]:
        assert e.op == "tvm_access_ptr"
        return self.memory[e.args[1]], self.value(e.args[2])

    def run(self) -> None:
        found = calls(self.impl.body)
        by_op: dict[str, list[Any]] = {}
        for n, (call, tx) in enumerate(found):
            by_op.setdefault(call.op, []).append((n, call, tx))
        for op, group in by_op.items():
            getattr(self, op)([(c, tx) for _, c, tx in group])

    # ---- WMMA: a fragment is a 16x16 array under its pointer and number

    def tvm_load_matrix_sync(self, group: list[Any]) -> None:
        ((e, _),) = group
        array, start = self.pointer(e.args[5])
        ld = self.value(e.args[6])
        tile = np.array([[array[start + i * ld + j] for j in range(16)] for i in range(16)])
        order = e.args[7].value
        self.memory[e.args[0]][self.value(e.args[4])] = tile if order == "row_major" else tile.T

    def tvm_fill_fragment(self, group: list[Any]) -> None:
        ((e, _),) = group
        self.memory[e.args[0]][self.value(e.args[4])] = np.full((16, 16), e.args[5].value)

    def tvm_mma_sync(self, group: list[Any]) -> None:
        ((e, _),) = group
        parts = [self.memory[e.args[2 * n]][self.value(e.args[2 * n + 1])] for n in (1, 2, 3)]
        a, b, c = [p.astype(np.float64) for p in parts]
        self.memory[e.args[0]][self.value(e.args[1])] = c + a @ b

    def tvm_store_matrix_sync(self, group: list[Any]) -> None:
        ((e, _),) = group
        array, start = self.pointer(e.args[5])
        ld = self.value(e.args[6])
        tile = self.memory[e.args[0]][self.value(e.args[4])]
        for i in range(16):
            array[start + i * ld : start + i * ld + 16] = tile[i]

    # ---- a warp: registers of lane t are the elements from the offset that the lane says

    def ptx_ldmatrix(self, group: list[Any]) -> None:
        lanes = {tx: e for e, tx in group}
        rows = []
        for tx in range(32):
            array, start = self.pointer(lanes[tx].args[5])
            at = start + self.value(lanes[tx].args[6], tx)
            rows.append(array[at : at + 8])
        for tx in range(32):
            e = lanes[tx]
            base = self.value(e.args[4], tx)
            for r in range(4):
                matrix = np.array(rows[8 * r : 8 * r + 8])
                if e.args[0].value:
                    matrix = matrix.T
                registers = self.memory[e.args[3]]
                registers[base + 2 * r : base + 2 * r + 2] = matrix[tx // 4, 2 * (tx % 4) : 2 * (tx % 4) + 2]

    def ptx_mma(self, group: list[Any]) -> None:
        for which in (0, 1):
            lanes = {tx: e for n, (e, tx) in enumerate(group) if n % 2 == which}
            a, b, c = np.zeros((16, 16)), np.zeros((16, 8)), np.zeros((16, 8))
            for tx in range(32):
                e = lanes[tx]
                ra, rb, rc = [self.memory[e.args[p]][self.value(e.args[p + 1], tx) :] for p in (6, 8, 10)]
                for i in range(8):
                    row = tx // 4 + 8 * (i // 2 % 2)
                    a[row, tx % 4 * 2 + i % 2 + 8 * (i // 4)] = ra[i]
                for i in range(4):
                    b[tx % 4 * 2 + i % 2 + 8 * (i // 2), tx // 4] = rb[i]
                    c[tx // 4 + 8 * (i // 2), tx % 4 * 2 + i % 2] = rc[i]
            d = c + a @ b
            for tx in range(32):
                e = lanes[tx]
                rc = self.memory[e.args[10]][self.value(e.args[11], tx) :]
                for i in range(4):
                    rc[i] = d[tx // 4 + 8 * (i // 2), tx % 4 * 2 + i % 2]

    def mma_fill(self, group: list[Any]) -> None:
        for e, tx in group:
            base = self.value(e.args[2]) + 8 * tx
            self.memory[e.args[1]][base : base + e.args[0].value] = 0

    def mma_store(self, group: list[Any]) -> None:
        for e, tx in group:
            array, start = self.pointer(e.args[2])
            base = self.value(e.args[4]) + 8 * tx
            for r in range(8):
                i, j = ldmatrix_32x8_to_shared_16x16_layout(tx, r)
                array[start + i * self.value(e.args[5]) + j] = self.memory[e.args[3]][base + r]


def tile_of(array: Any, offset: int, row: int) -> Any:
    return np.array([[array[offset + i * row + j] for j in range(16)] for i in range(16)])


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize(("a", "c"), [("float16", "float32"), ("float16", "float16"), ("int8", "int32")])
@pytest.mark.parametrize("scope", ["shared", "shared.dyn"])
def test_a_wmma_product(a: str, c: str, scope: str, trans: bool) -> None:
    """Loads of tiles inside larger buffers, fill, product and store give ``A @ B``."""
    store = "global" if scope == "shared" else scope
    names = get_wmma_intrin_group(scope, store, a, c, trans)
    random = np.random.default_rng(0)
    x, y = (random.integers(-4, 5, 16 * 40).astype(np.float64) for _ in range(2))
    result = np.full(16 * 64, -1.0)
    fragments: dict[str, dict[int, Any]] = {"A": {}, "B": {}, "C": {}}
    # The fragments are the tiles (1, 2), (0, 1) and (1, 0) of buffers 48, 32 and 64 wide.
    at = {"A": (16 * 48 + 32, 48, 1 * 3 + 2), "B": (16, 32, 1), "C": (16 * 64, 64, 4)}
    for name, array, key in (("load_a", x, "A"), ("load_b", y, "B")):
        m = Machine(impl_of(names[name]), {"A": (array, 16, 40), "C": (fragments[key], *at[key][:2])})
        m.run()
        assert list(fragments[key]) == [at[key][2]], name
    Machine(impl_of(names["init"]), {"C": (fragments["C"], *at["C"][:2])}).run()
    Machine(impl_of(names["compute"]), {k: (fragments[k], *at[k][:2]) for k in "ABC"}).run()
    Machine(impl_of(names["store"]), {"A": (fragments["C"], *at["C"][:2]), "C": (result, 32, 64)}).run()
    one, two = tile_of(x, 16, 40), tile_of(y, 16, 40)
    want = one @ (two.T if trans else two)
    np.testing.assert_array_equal(tile_of(result, 32, 64), want)
    # What the descriptions say of the product.
    intrin = TensorIntrin.get(names["compute"])
    assert intrin is not None
    got = np.zeros((16, 16), c)
    ts.build(intrin.desc, target="python")(one.astype(a), two.astype(a), got)
    np.testing.assert_array_equal(got.astype(np.float64), want)


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("c", ["float32", "float16"])
@pytest.mark.parametrize("scope", ["shared", "shared.dyn"])
def test_an_mma_product(c: str, scope: str, trans_a: bool, trans_b: bool) -> None:
    store = "global" if scope == "shared" else scope
    names = get_mma_intrin_group(scope, store, c, trans_a, trans_b)
    random = np.random.default_rng(1)
    x, y = (random.integers(-4, 5, 16 * 40).astype(np.float64) for _ in range(2))
    a, b, acc = np.zeros(512), np.zeros(512), np.full(512, 9.0)
    result = np.full(16 * 64, -1.0)
    for name, array, registers in (("load_a", x, a), ("load_b", y, b)):
        Machine(impl_of(names[name]), {"warp": (registers, 256, 8), "shared": (array, 16, 40)}).run()
    Machine(impl_of(names["init"]), {"C_warp": (acc, 256, 8)}).run()
    where = {"A": (a, 256, 8), "B": (b, 256, 8), "C": (acc, 256, 8)}
    Machine(impl_of(names["compute"]), where).run()
    Machine(impl_of(names["store"]), {"C_warp": (acc, 256, 8), "C": (result, 32, 64)}).run()
    one, two = tile_of(x, 16, 40), tile_of(y, 16, 40)
    want = (one.T if trans_a else one) @ (two.T if trans_b else two)
    np.testing.assert_array_equal(tile_of(result, 32, 64), want)
    assert (acc[:256] == 9).all()  # nothing before the registers is touched
    # The description of the product, on tiles laid out as it says.
    intrin = TensorIntrin.get(names["compute"])
    assert intrin is not None
    p, q, r = np.zeros((32, 8), "float16"), np.zeros((32, 8), "float16"), np.zeros((32, 8), c)
    for i in range(16):
        for j in range(16):
            p[shared_16x16_to_ldmatrix_32x8_layout(i, j)] = one[i, j]
            q[shared_16x16_to_ldmatrix_32x8_layout(i, j)] = two[i, j]
    ts.build(intrin.desc, target="python")(p, q, r)
    got = [[r[shared_16x16_to_ldmatrix_32x8_layout(i, j)] for j in range(16)] for i in range(16)]
    np.testing.assert_array_equal(np.array(got, np.float64), want)


def test_a_row_major_a_tile_is_where_its_description_says() -> None:
    intrin = TensorIntrin.get("mma_ldmatrix_f16_a")
    assert intrin is not None
    tile = np.arange(256, dtype="float16").reshape(16, 16)
    registers, warp = np.zeros(256), np.zeros((32, 8), "float16")
    Machine(intrin.impl, {"warp": (registers, 0, 8), "shared": (tile.ravel(), 0, 16)}).run()
    ts.build(intrin.desc, target="python")(warp, tile)
    np.testing.assert_array_equal(registers.reshape(32, 8), warp)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_the_simple_store_is_the_store(dtype: str) -> None:
    simple = TensorIntrin.get(f"mma_store_16x16_{dtype}_shared_dyn_simple_")
    assert simple is not None
    kind = {"f32": "float32", "f16": "float16"}[dtype]
    warp = np.arange(256, dtype=kind).reshape(32, 8)
    one, two = np.zeros((16, 16), kind), np.zeros((16, 16), kind)
    ts.build(simple.desc, target="python")(warp, one)
    ts.build(simple.impl, target="python")(warp, two)
    np.testing.assert_array_equal(one, two)
    flat = np.zeros(256)
    store = impl_of(f"mma_store_16x16_{dtype}_global_")
    Machine(store, {"C_warp": (warp.ravel().astype(float), 0, 8), "C": (flat, 0, 16)}).run()
    np.testing.assert_array_equal(flat.reshape(16, 16), one)


def test_layout_functions_are_inverse() -> None:
    cells = {shared_16x16_to_ldmatrix_32x8_layout(i, j): (i, j) for i in range(16) for j in range(16)}
    assert len(cells) == 256
    for (lane, register), element in cells.items():
        assert ldmatrix_32x8_to_shared_16x16_layout(lane, register) == element


# ---- they match programs

TILED = """
@T.prim_func
def f(X: T.Buffer((32, 32), "float16", scope="{a}"), Y: T.Buffer((32, 32), "float16", scope="{b}"), Z: T.Buffer((32, 32), "float32", scope="{c}")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("Z"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Z[vi, vj] = T.float32(0)
            Z[vi, vj] = Z[vi, vj] + T.Cast("float32", X[vi, vk]) * T.Cast("float32", Y[{y}])
"""  # noqa: E501


@pytest.mark.parametrize("trans", [False, True])
def test_wmma_matches_a_tiled_product(trans: bool) -> None:
    text = TILED.format(
        a="wmma.matrix_a", b="wmma.matrix_b", c="wmma.accumulator", y="vj, vk" if trans else "vk, vj"
    )
    sch = Schedule(ts.parse(text), debug_mask="all")
    pairs = [sch.split(x, [None, 16]) for x in sch.get_loops("Z")]
    sch.reorder(*[p[0] for p in pairs], *[p[1] for p in pairs])
    init = sch.decompose_reduction("Z", pairs[2][0])
    names = get_wmma_intrin_group("shared", "global", "float16", "float32", trans)
    sch.tensorize(pairs[0][1], names["compute"])
    sch.tensorize(sch.get_loops(init)[2], names["init"])
    text = sch.mod.script()
    assert "T.tvm_mma_sync(" in text and "T.tvm_fill_fragment(" in text
    assert ts.structural_equal(ts.parse(text), sch.mod, names=True)
    with pytest.raises(ts.ScheduleError):
        other = get_wmma_intrin_group("shared", "global", "float16", "float32", not trans)
        again = Schedule(ts.parse(TILED.format(
            a="wmma.matrix_a", b="wmma.matrix_b", c="wmma.accumulator", y="vj, vk" if trans else "vk, vj"
        )))  # fmt: skip
        again.tensorize(again.get_loops("Z")[0], other["compute"])


# ---- TVM's own

CHILD = r"""
import json
from tvm import s_tir
import tvm.s_tir.tensor_intrin.x86, tvm.s_tir.tensor_intrin.arm_cpu, tvm.s_tir.tensor_intrin.cuda
for line in open(0):
    name = line.strip()
    found = s_tir.TensorIntrin.get(name, allow_missing=True)
    print("\x01" + json.dumps([name, None if found is None else found.desc.script()]), flush=True)
"""


@pytest.mark.peer
@pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it")
def test_descriptions_are_tvms() -> None:
    names = [n for n in TensorIntrin.names() if not n.startswith(("test_", "t_", "dbl", "double", "tmm"))]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    child = subprocess.run(
        [str(peer()), "-c", CHILD], input="\n".join(names), capture_output=True, text=True, env=environment
    )
    answers = dict(json.loads(x[1:]) for x in child.stdout.splitlines() if x.startswith("\x01"))
    assert len(answers) == len(names), child.stderr[-1000:]
    missing = sorted(n for n, text in answers.items() if text is None)
    ours = ["dot_16x2_avx512_bf16", "dot_16x4_avx512_vnni", "dot_4x4", "dot_8x4_vnni"]
    assert missing == [*ours, "mma_store_16x16_f16_shared_dyn_"]
    for name, text in answers.items():
        if text is None:
            continue
        theirs = normalize(ts.parse(spelled_out(text)))
        theirs = theirs[theirs.names()[0]] if isinstance(theirs, ts.IRModule) else theirs
        intrin = TensorIntrin.get(name)
        assert intrin is not None
        mine = normalize(intrin.desc)
        # Alignment and offset factors say how a call is made, not what is computed.
        a, b = (_bare(f) for f in (theirs, mine))
        assert ts.structural_equal(a, b), f"{name}\n{a}\n{b}"


def _bare(f: Any) -> Any:
    from tirscript.ir.visitor import substitute

    new = {b: b.replace(align=0, offset_factor=0, elem_offset=None) for b in f.buffer_map.values()}
    body = substitute(f.body, {}, new)
    buffers = {p: new[b] for p, b in f.buffer_map.items()}
    return f.replace(body=body, buffer_map=buffers, attrs={})
