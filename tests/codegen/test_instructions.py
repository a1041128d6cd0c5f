"""How many instructions sixteen lanes take, on one processor that does not depend on the host."""

from __future__ import annotations

import platform
import re

import pytest

import tirscript as ts

TARGET = "llvm -mcpu=skylake-avx512"

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="instructions of x86"
)


def instructions(value: str, dtype: str = "float32", out: str = "float32") -> list[str]:
    """The instructions on vectors and masks of ``O[0:16] = value``, loads and the store included; calls."""
    mod = ts.lower(
        ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((16,), "{dtype}"), B: T.Buffer((16,), "{dtype}"), O: T.Buffer((16,), "{out}")):
    for i in T.vectorized(16):
        O[i] = {value}
""")
    )
    text = assembly(mod)
    body = text.partition("ts.f:")[2].partition(".Lfunc_end")[0]
    found = re.findall(r"^\s+([a-z]\w+)", body, re.M)
    return [w for w in found if (w[0] in "vk" and w != "vzeroupper") or w.startswith("call")]


def assembly(mod: ts.IRModule) -> str:
    from tirscript.codegen.llvm import emit_module
    from tirscript.runtime.jit import Machine
    from tirscript.runtime.jit import assembly as assembled

    made = emit_module(mod, ts.Target(TARGET))
    o = made.options
    return assembled(made.text, Machine(o.cpu, o.features, o.triple, o.opt_level))


@pytest.mark.parametrize(
    "value, most",
    [
        ("T.max(A[i], B[i])", 3 + 2),  # and a load, the store
        ("T.min(A[i], B[i])", 3 + 2),
        ("T.max(A[i], T.float32(0))", 1 + 3),  # a load, the zero, the store
        ("T.max(T.float32(0), A[i])", 1 + 3),
        ("T.max(A[i], T.float32(2))", 1 + 3),
        ("A[i] + B[i]", 1 + 2),
        ("A[i] * B[i] + A[i]", 1 + 3),
    ],
)
def test_floats(value: str, most: int) -> None:
    assert len(instructions(value)) <= most, instructions(value)


@pytest.mark.parametrize("out, most", [("int32", 10), ("uint8", 6), ("int8", 8), ("int16", 8)])
def test_saturating_conversion(out: str, most: int) -> None:
    found = instructions(f'T.Cast("{out}", A[i])', out=out)
    assert len(found) <= most, found


@pytest.mark.parametrize("dtype, most", [("float16", 5), ("bfloat16", 19)])
def test_narrow_floats_stay_in_vectors(dtype: str, most: int) -> None:
    found = instructions("A[i] + B[i]", dtype, dtype)
    assert len(found) <= most, found


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="libmvec is a part of glibc")
def test_exp_makes_no_call_for_each_lane() -> None:
    found = instructions("T.exp(A[i])")
    assert found.count("callq") + found.count("call") <= 1, found
    assert len(found) <= 4, found
