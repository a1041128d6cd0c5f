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


@pytest.mark.parametrize(
    "out, most", [("int32", 10), ("uint32", 9), ("uint8", 6), ("uint16", 6), ("int8", 8), ("int16", 8)]
)
def test_saturating_conversion(out: str, most: int) -> None:
    found = instructions(f'T.Cast("{out}", A[i])', out=out)
    assert len(found) <= most, found


@pytest.mark.parametrize("dtype, most", [("float16", 5), ("bfloat16", 19)])
def test_narrow_floats_stay_in_vectors(dtype: str, most: int) -> None:
    found = instructions("A[i] + B[i]", dtype, dtype)
    assert len(found) <= most, found


def usual(found: list[str]) -> list[str]:
    """Those before the first call: what is seldom run stands after the function's end."""
    return found[: next((k for k, w in enumerate(found) if w.startswith("call")), len(found))]


# All that a function does to sixteen lanes, constants, the load and the store included.
@pytest.mark.parametrize(
    "op, most", [("exp", 25), ("exp2", 21), ("exp10", 24), ("tanh", 26), ("sigmoid", 33), ("erf", 36)]
)
def test_functions_without_a_call(op: str, most: int) -> None:
    found = instructions(f"T.{op}(A[i])")
    assert not [w for w in found if w.startswith("call")], found
    assert len(found) <= most, (len(found), found)


def test_log_calls_nothing_but_for_unusual_numbers() -> None:
    found = instructions("T.log(A[i])")
    assert len([w for w in found if w.startswith("call")]) == 1
    assert len(usual(found)) <= 27, (len(found), found)


@pytest.mark.parametrize("kind", ["serial", "vectorized"])
def test_a_reduction_to_the_largest_takes_three_a_step(kind: str) -> None:
    """The nan rule costs two; the lanes are merged after the loop, not in it."""
    loop = "" if kind == "serial" else "for j in T.vectorized(16):\n            "
    index, cell, extent = ("i", "0", 4096) if kind == "serial" else ("i * 16 + j", "j", 256)
    mod = ts.lower(
        ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((4096,), "float32"), O: T.Buffer((16,), "float32")):
    for i in range({extent}):
        {loop}O[{cell}] = T.max(O[{cell}], A[{index}])
""")
    )
    body = assembly(mod).partition("ts.f:")[2].partition(".Lfunc_end")[0]
    loops = re.findall(r"^(\.LBB\d+_\d+):((?:(?!^\.LBB).)*?)\sj\w+\s+\1\b", body, re.M | re.S)
    vectors = [re.findall(r"^\s+(v\w+)", text, re.M) for _, text in loops]
    steps = next(found for found in vectors if any(w.startswith("vmaxps") for w in found))
    most = 3 * sum(w == "vmaxps" for w in steps)
    assert len(steps) <= most and not any("shuf" in w or "perm" in w or "ext" in w for w in steps), steps


def serial(value: str, dtype: str = "float32") -> str:
    """The assembly of a serial loop."""
    mod = ts.lower(
        ts.parse(f"""
@T.prim_func
def f(A: T.Buffer((4096,), "{dtype}"), O: T.Buffer((4096,), "{dtype}")):
    for i in range(4096):
        O[i] = {value}
""")
    )
    return assembly(mod).partition("ts.f:")[2].partition(".Lfunc_end")[0]


@pytest.mark.parametrize("op", ["exp", "log", "tanh", "sigmoid", "erf", "atan"])
def test_serial_loops_become_vectors(op: str) -> None:
    """LLVM makes vectors of the formulas by itself."""
    assert re.search(r"vfmadd\w+ps\s.*%[yz]mm", serial(f"T.{op}(A[i])"))


@pytest.mark.parametrize("value", ["T.sin(A[i])", "T.tan(A[i])", "T.fmod(A[i], T.float32(3))"])
def test_serial_loops_call_the_variant_for_vectors(value: str) -> None:
    assert re.search(r"call\w*\s+ts\.math\.\w+\.f32x8\.whole", serial(value))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="libmvec is a part of glibc")
def test_serial_loops_of_float64_call_the_vector_library() -> None:
    assert re.search(r"call\w*\s+_ZGVdN4v_erf\b", serial("T.erf(A[i])", "float64"))
