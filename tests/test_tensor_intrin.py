"""Tensor intrinsics: the table, and that description and implementation of each agree on data."""

from __future__ import annotations

import platform
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirscript as ts
from tirscript.script import tir as T
from tirscript.tir import TensorIntrin

DOTS = {
    "dot_16x4_vnni": ("uint8", "int8", "int32"),
    "dot_16x4_avx512_vnni": ("uint8", "int8", "int32"),
    "dot_8x4_vnni": ("uint8", "int8", "int32"),
    "dot_4x4": ("uint8", "int8", "int32"),
    "dot_16x4_avx512": ("uint8", "int8", "int32"),
    "dot_16x2_avx512_bf16": ("bfloat16", "bfloat16", "float32"),
    "dot_4x4_i8i8s32_sdot": ("int8", "int8", "int32"),
    "dot_4x4_u8u8u32_udot": ("uint8", "uint8", "uint32"),
    "dot_4x4_u8u8i32_hdot": ("uint8", "uint8", "int32"),
    "dot_4x4_i8i8s32_neon": ("int8", "int8", "int32"),
    "dp4a_s8s8s32": ("int8", "int8", "int32"),
    "dp4a_u8s8s32": ("uint8", "int8", "int32"),
    "dp4a_s8u8s32": ("int8", "uint8", "int32"),
    "dp4a_u8u8u32": ("uint8", "uint8", "uint32"),
}


def data(dtype: str, shape: tuple[int, ...], seed: int, small: bool = False) -> Any:
    random = np.random.default_rng(seed)
    if dtype == "bfloat16":
        return random.normal(size=shape).astype(ml_dtypes.bfloat16)
    if dtype == "float32":
        return random.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    low, high = (max(-60, info.min), 60) if small else (info.min, info.max)
    return random.integers(low, high, shape, endpoint=True).astype(dtype)


def shapes(name: str) -> list[tuple[int, ...]]:
    intrin = TensorIntrin.get(name)
    assert intrin is not None
    return [tuple(n.value for n in b.shape) for b in intrin.desc.buffer_map.values()]


def product(a: Any, b: Any, c: Any) -> Any:
    """The dot product in NumPy, wrapping or in float64."""
    if c.dtype == np.float32:
        return c + (a.astype(np.float64) * b.astype(np.float64)).sum(-1)
    total = c.astype(np.int64) + (a.astype(np.int64) * b.astype(np.int64)).sum(-1)
    return total.astype(c.dtype)


@pytest.mark.parametrize("name", DOTS)
def test_dot_products_agree_with_their_description(name: str) -> None:
    intrin = TensorIntrin.get(name)
    assert intrin is not None
    sizes = shapes(name)
    desc, impl = (ts.build(f, target="python") for f in (intrin.desc, intrin.impl))
    for seed in range(4):
        small = name == "dot_16x4_avx512"  # its 16-bit sums saturate beyond
        a, b, c = (
            data(t, s, seed * 3 + n, small) for n, (t, s) in enumerate(zip(DOTS[name], sizes, strict=True))
        )
        one, two = c.copy(), c.copy()
        desc(a, b, one)
        impl(a, b, two)
        want = product(a, b, c)
        if c.dtype == np.float32:
            np.testing.assert_allclose(one, want, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(two, want, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(one, want)
            np.testing.assert_array_equal(two, want)


def test_the_old_avx512_dot_saturates() -> None:
    """Where the sum of a pair leaves 16 bits the instruction saturates, as the processor's manual says."""
    intrin = TensorIntrin.get("dot_16x4_avx512")
    assert intrin is not None
    a = np.full(4, 255, "uint8")
    b = np.full((16, 4), 127, "int8")
    c = np.zeros(16, "int32")
    ts.build(intrin.impl, target="python")(a, b, c)
    assert c.tolist() == [2 * 32767] * 16


@pytest.mark.parametrize("name", [n for n in DOTS if n.startswith("dp4a")])
def test_dp4a_runs_on_the_host(name: str) -> None:
    intrin = TensorIntrin.get(name)
    assert intrin is not None
    a, b, c = (data(t, s, n) for n, (t, s) in enumerate(zip(DOTS[name], shapes(name), strict=True)))
    want = product(a, b, c)
    ts.build(intrin.impl)(a, b, c)
    np.testing.assert_array_equal(c, want)


def assembly(f: Any, target: str) -> str:
    from tirscript.codegen.llvm import emit_module
    from tirscript.runtime.jit import Machine
    from tirscript.runtime.jit import assembly as assembled

    made = emit_module(ts.lower(f), ts.Target(target))
    o = made.options
    return assembled(made.text, Machine(o.cpu, o.features, o.triple, o.opt_level))


INSTRUCTIONS = {
    "dot_16x4_vnni": ("sapphirerapids", "vpdpbusd"),
    "dot_8x4_vnni": ("sapphirerapids", "vpdpbusd"),
    "dot_4x4": ("sapphirerapids", "vpdpbusd"),
    "dot_16x4_avx512": ("skylake-avx512", "vpmaddubsw"),
    "dot_16x2_avx512_bf16": ("sapphirerapids", "vdpbf16ps"),
}


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="instructions of x86")
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_the_instruction_is_there(name: str) -> None:
    intrin = TensorIntrin.get(name)
    assert intrin is not None
    cpu, instruction = INSTRUCTIONS[name]
    text = assembly(intrin.impl, f"llvm -mcpu={cpu}")
    assert len(re.findall(rf"^\s+(?:\{{\w+\}}\s+)?{instruction}\b", text, re.M)) == 1, text


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_on_a_host_that_has_it(name: str) -> None:
    import llvmlite.binding as llvm

    needs = {"vpdpbusd": "avx512vnni", "vpmaddubsw": "avx512bw", "vdpbf16ps": "avx512bf16"}
    if not llvm.get_host_cpu_features().get(needs[INSTRUCTIONS[name][1]]):
        pytest.skip("this processor does not have the instruction")
    intrin = TensorIntrin.get(name)
    assert intrin is not None
    a, b, c = (data(t, s, n, True) for n, (t, s) in enumerate(zip(DOTS[name], shapes(name), strict=True)))
    want = product(a, b, c)
    ts.build(intrin.impl)(a, b, c)
    np.testing.assert_allclose(c, want, rtol=1e-5)


# ---- the table


def _copy(name: str = "float32", extent: int = 4, scope: str = "global") -> Any:
    @T.prim_func
    def f(A: T.Buffer((extent,), name, scope=scope), B: T.Buffer((extent,), name)):
        with T.block("root"):
            T.reads(A[0:extent])
            T.writes(B[0:extent])
            for i in range(extent):
                with T.block("b"):
                    vi = T.axis.spatial(extent, i)
                    B[vi] = A[vi]

    return f


def test_registering() -> None:
    TensorIntrin.register("test_copy", _copy(), _copy(), override=True)
    found = TensorIntrin.get("test_copy")
    assert found is not None and ts.structural_equal(found.desc, _copy())
    assert TensorIntrin.get("test_copy") is found and "test_copy" in TensorIntrin.names()
    assert ts.TensorIntrin is TensorIntrin
    from tirscript import s_tir

    assert s_tir.TensorIntrin is TensorIntrin
    with pytest.raises(ts.ScheduleValueError, match="intrin-exists"):
        TensorIntrin.register("test_copy", _copy(), _copy())
    with pytest.raises(ts.ScheduleValueError, match="intrin-exists"):
        TensorIntrin.register("dot_4x4", _copy(), _copy())
    other = _copy("int32")
    TensorIntrin.register("test_copy", other, other, override=True)
    assert TensorIntrin.get("test_copy").desc is other  # type: ignore[union-attr]


def test_what_cannot_be_registered() -> None:
    f = _copy()
    for other in (_copy("int32"), _copy("float32", 8), _copy(scope="shared")):
        with pytest.raises(ts.ScheduleValueError, match="intrin-parameters"):
            TensorIntrin.register("test_bad", f, other)
    with pytest.raises(ts.ScheduleTypeError, match="intrin-function"):
        TensorIntrin.register("test_bad", f, 3)  # type: ignore[arg-type]
    with pytest.raises(ts.ScheduleTypeError, match="intrin-name"):
        TensorIntrin.register(3, f, f)  # type: ignore[arg-type]

    @T.prim_func
    def scalar(n: T.int32, A: T.Buffer((4,), "int32")):
        with T.block("root"):
            A[0] = n

    with pytest.raises(ts.ScheduleValueError, match="must be buffers"):
        TensorIntrin.register("test_bad", scalar, scalar)

    @T.prim_func
    def bare(A: T.Buffer((4,), "int32")):
        A[0] = 1

    with pytest.raises(ts.ScheduleValueError, match="intrin-block"):
        TensorIntrin.register("test_bad", bare, bare)
    assert TensorIntrin.get("test_bad", allow_missing=True) is None


def test_names_that_are_not_there() -> None:
    assert TensorIntrin.get("dot_16x4_vnn", allow_missing=True) is None
    with pytest.raises(ts.ScheduleValueError, match="did you mean `dot_16x4_vnni`"):
        TensorIntrin.get("dot_16x4_vnn")
    with pytest.raises(ts.ScheduleTypeError, match="intrin-name"):
        TensorIntrin.get(7)  # type: ignore[arg-type]


def test_every_shipped_intrinsic_is_well_formed() -> None:
    """Each prints, reads back, and its two functions take the same buffers."""
    from tirscript.ir.verify import check_well_formed

    for name in TensorIntrin.names():
        intrin = TensorIntrin.get(name)
        assert intrin is not None
        for f in (intrin.desc, intrin.impl):
            check_well_formed(f)
            assert ts.structural_equal(ts.parse(f.script()), f, names=True), name


def test_tvms_paths() -> None:
    """Programs written for TVM import names from these modules."""
    from tirscript.s_tir.tensor_intrin.arm_cpu import ARM_DOT_4x4_i8_SDOT_INTRIN
    from tirscript.tir.tensor_intrin.cuda import get_wmma_intrin_group
    from tirscript.tir.tensor_intrin.x86 import VNNI_DOT_16x4_INTRIN

    from tirscript.tir.tensor_intrin import cuda

    assert (VNNI_DOT_16x4_INTRIN, ARM_DOT_4x4_i8_SDOT_INTRIN) == ("dot_16x4_vnni", "dot_4x4_i8i8s32_sdot")
    assert cuda.get_wmma_intrin_group is get_wmma_intrin_group
    names = get_wmma_intrin_group("shared", "shared", "int8", "int32", True).values()
    assert all(TensorIntrin.get(n) is not None for n in names)
