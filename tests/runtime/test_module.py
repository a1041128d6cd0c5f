"""Modules, sources, timing, devices, arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript
from tests.codegen.lowered import buffer, build, function, load, loop, store
from tirscript import nd
from tirscript.diagnostics import (
    CallError,
    CallTypeError,
    CallValueError,
    CodegenError,
    NotYetError,
    TargetError,
    TirscriptError,
)
from tirscript.runtime import Device, Module, NDArray, Timing, cpu, cuda, device, empty, load_python, tensor
from tirscript.runtime.jit import Machine, object_code
from tirscript.runtime.signature import Signature


def add(name: str, value: float, **attrs: Any) -> Any:
    a, o = buffer("A", 4), buffer("O", 4)
    return function([a, o], loop(4, lambda i: store(o, load(a, i) + value, i)), name=name, **attrs)


@pytest.fixture(scope="module")
def two() -> Module:
    return build(add("one", 1.0), add("two", 2.0))


def test_lookup(two: Module) -> None:
    o = np.zeros(4, "float32")
    for f, want in ((two["one"], 1), (two.two, 2), (two.get_function("one"), 1), (two.mod["two"], 2)):
        f(np.zeros(4, "float32"), o)
        assert o.tolist() == [want] * 4
    assert list(two.functions) == ["one", "two"] and "one" in two and "three" not in two
    assert two["one"].__name__ == "one" and two["one"].__doc__ == "one(A: float32[4], O: float32[4])"
    assert two["one"] is two["one"] and "A: float32[4]" in repr(two["one"].__self__)
    assert {"one", "two", "get_source"} <= set(dir(two)) and two.imported_modules == []
    with pytest.raises(KeyError) as e:
        two["tow"]
    assert isinstance(e.value, TirscriptError) and "did you mean `two`?" in str(e.value)
    with pytest.raises(AttributeError, match="three"):
        two.three
    with pytest.raises(CallError, match="no entry function"):
        two(o, o)
    with pytest.raises(CallError, match="`one`, `two`"):
        two.entry_name


def test_entry() -> None:
    o = np.zeros(4, "float32")
    only = build(add("f", 3.0))
    only(np.zeros(4, "float32"), o)
    assert o[0] == 3 and only.entry_name == "f"
    only["main"](o.copy(), o)
    assert o[0] == 6
    both = build(add("f", 1.0), add("main", 5.0))
    both(np.zeros(4, "float32"), o)
    assert o[0] == 5 and both.entry_name == "main"


def test_private_functions_are_not_exported() -> None:
    f = add("f", 1.0)
    hidden = f.without_attr("global_symbol")
    from tirscript.codegen.llvm import build_llvm
    from tirscript.ir.module import IRModule

    m = build_llvm(IRModule({"f": f, "hidden": hidden}))
    assert list(m.functions) == ["f"]


def test_sources(two: Module) -> None:
    assert "define i32 @ts.one" in two.get_source() == two.get_source("ll")
    assert "ts.one" in two.get_source("asm") and "ret" in two.get_source("asm")
    with pytest.raises(CallValueError) as e:
        two.get_source("cuda")
    assert "'ll'" in str(e.value)


def test_timing(two: Module) -> None:
    o = np.zeros(4, "float32")
    t = two.time_evaluator("one", cpu(), number=5, repeat=4)(np.zeros(4, "float32"), o)
    assert isinstance(t, Timing) and len(t.results) == 4
    assert 0 < t.min <= t.median <= t.max < 1 and t.min <= t.mean <= t.max and t.std >= 0
    assert "mean" in str(t) and o[0] == 1
    assert build(add("f", 1.0)).time_evaluator()(o.copy(), o).mean > 0
    slow = two.time_evaluator("one", number=1, repeat=2, min_repeat_ms=5)(o.copy(), o)
    assert len(slow.results) == 2
    with pytest.raises(CallTypeError):
        two.time_evaluator("one")(o)
    for options in ({"number": 0}, {"repeat": 0}, {"number": 1.5}):
        with pytest.raises(CallError):
            two.time_evaluator("one", **options)  # type: ignore[arg-type]


def test_python_modules() -> None:
    m = load_python({"f": lambda: 7}, {"f": Signature("f", ())}, sources={"python": lambda: "def f(): ..."})
    assert m() == 7 and m.get_source() == "def f(): ..." and m.time_evaluator("f")().mean >= 0


def test_other_machines_make_objects_but_do_not_run() -> None:
    text = build(add("f", 1.0)).get_source("ll")
    image = object_code(text, Machine(cpu="generic", triple="aarch64-unknown-linux-gnu"))
    assert image[:4] == b"\x7fELF" and image[18] == 183
    with pytest.raises(TargetError, match="cannot run"):
        build(add("f", 1.0), target={"mtriple": "aarch64-unknown-linux-gnu", "mcpu": "generic"})
    with pytest.raises(TargetError, match="nonsense"):
        build(add("f", 1.0), target={"mtriple": "nonsense"})
    with pytest.raises(CodegenError, match="LLVM refuses"):
        object_code("define nothing", Machine())


# ---- devices


def test_devices() -> None:
    assert str(cpu()) == "cpu:0" and repr(cuda(1)) == "cuda(1)" and hash(cpu(0)) == hash(Device("cpu"))
    assert cpu() == cpu(0) != cuda() and cpu(1) != cpu(0) and cpu() != "cpu:0"
    assert device("llvm") == device("python") == cpu() and device("cuda", 2) == cuda(2) == device("cuda:2")
    assert (
        device("llvm -mcpu=x") == cpu()
        and device(tirscript.Target("llvm")) == cpu()
        and device(cuda(1)) == cuda(1)
    )
    assert cpu().device_type == 1 and cuda(3).device_id == 3 and cpu().exist
    cpu().sync()
    with pytest.raises(TargetError, match="did you mean"):
        device("cpuu")
    with pytest.raises(TargetError):
        device("cpu:x")


# ---- arrays


def test_arrays_are_aligned_copies() -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)
    a = nd.array(x)
    x[0, 0] = 9
    assert a.shape == (2, 3) and a.dtype == "float32" and a.device == cpu() and a.ndim == 2 and len(a) == 2
    assert a.numpy()[0, 0] == 0
    a.numpy()[0, 0] = 5
    assert a.asnumpy()[0, 0] == 0
    for shape in ((), (1,), (7, 3)):
        assert empty(shape, "int8")._array.__array_interface__["data"][0] % 64 == 0
    assert nd.array(x.T).numpy().flags.c_contiguous
    assert isinstance(a, NDArray) and "float32[2, 3] on cpu:0" in repr(a)
    assert nd.array(np.arange(3, dtype=">i4")).numpy().tolist() == [0, 1, 2]
    assert nd.array([1, 2], dtype="float64").dtype == "float64" and tensor(True).dtype == "bool"


def test_copies_and_items() -> None:
    a, b = nd.array(np.zeros((2, 2))), nd.array(np.ones((2, 2)))
    assert a.copyfrom(b) is a and a.numpy().sum() == 4
    assert b.copyto(a) is a and nd.array(np.ones(2)).copyto(cpu()).shape == (2,)
    a[0] = 7
    assert a[0].numpy().tolist() == [7, 7] and a[1, 1] == 1
    with pytest.raises(CallValueError, match="shape"):
        a.copyfrom(np.zeros(3))
    np.testing.assert_array_equal(np.asarray(a), a.numpy())
    with pytest.raises(TypeError):
        a + 1  # type: ignore[operator]


def test_dlpack_shares_memory() -> None:
    a = nd.array(np.zeros(3, "float32"))
    view = np.from_dlpack(a)
    a[1] = 5
    assert view.tolist() == [0, 5, 0] and a.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_dtypes_of_ml_dtypes(dtype: str) -> None:
    assert empty((2,), dtype).dtype == dtype


def test_refusals() -> None:
    with pytest.raises(NotYetError):
        nd.array([1.0], device=cuda())
    for bad in (["a"], [{}], np.zeros(2, "M8[s]"), np.zeros(2, "c8")):
        with pytest.raises(CallTypeError):
            nd.array(bad)
    with pytest.raises(CallTypeError, match="did you mean"):
        empty((2,), "float31")
    with pytest.raises(CallValueError):
        empty((-1,))
