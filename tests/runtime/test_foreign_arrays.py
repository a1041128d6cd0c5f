"""Arrays of other libraries: DLPack both ways, torch and JAX where they are installed."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.lowered import buffer, build, function, load, loop, store
from tirscript import nd
from tirscript.diagnostics import CallTypeError, CallValueError, TirscriptError
from tirscript.runtime import dlpack

NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "int4", "uint4")


def double(dtype: str = "float32", *, strides: bool = False) -> Any:
    from tirscript.ir.expr import Var

    steps = {"strides": (Var("s"), Var("t"))} if strides else {}
    a, o = buffer("A", 6, 4, dtype=dtype, **steps), buffer("O", 6, 4, dtype=dtype)
    body = loop(6, lambda i: loop(4, lambda j: store(o, load(a, i, j) + load(a, i, j), i, j), name="j"))
    return build(function([a, o], body))["f"]


@pytest.fixture(scope="module")
def fn() -> Any:
    return double()


class Export:
    """An array that is known only by DLPack."""

    def __init__(self, array: Any, versioned: bool = True) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        if not self.versioned and "max_version" in options:
            raise TypeError("an exporter from before version 1")
        return dlpack.capsule_of(self.array, options)


# ---- without other libraries


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float16", *NARROW])
def test_arrays_come_back_over_the_same_memory(dtype: str) -> None:
    made = nd.array(np.arange(6).reshape(2, 3), dtype=dtype)
    back = nd.from_dlpack(made)
    assert back.dtype == dtype and back.shape == (2, 3)
    assert np.array_equal(back.numpy(), made.numpy())
    made[1, 2] = 1
    made[0, 0] = 1
    assert back[1, 2] == 1 and back[0, 0] == 1


@pytest.mark.parametrize("dtype", ["float32", *NARROW])
def test_arguments_by_dlpack_alone(dtype: str) -> None:
    run = double(dtype)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, o = (np.arange(24) % 4).astype(kind).reshape(6, 4), np.zeros((6, 4), kind)
    versions = (True,) if dtype.endswith("int4") else (True, False)
    for versioned in versions:
        o[...] = 0
        run(Export(a, versioned), Export(o, versioned))
        assert np.array_equal(o, a + a)
    if dtype.endswith("int4"):
        with pytest.raises(CallTypeError, match=f"cannot say that {dtype} fills a byte"):
            run(Export(a, False), o)


def test_read_only_memory_is_not_written(fn: Any) -> None:
    a, o = np.ones((6, 4), "float32"), np.zeros((6, 4), "float32")
    o.flags.writeable = False
    fn(Export(a), np.zeros_like(a))
    with pytest.raises(CallValueError, match=r"argument 2, `O`.*read-only"):
        fn(a, Export(o))
    with pytest.raises(CallTypeError, match="argument 2, `O`"):
        fn(a, Export(o, versioned=False))  # NumPy does not export it so


def test_memory_is_freed_with_the_last_view() -> None:
    class Owned(np.ndarray):
        pass

    a = np.ones(8, "uint16").view(Owned)
    alive = weakref.ref(a)
    array = dlpack.array_over(Export(a.view(ml_dtypes.bfloat16)))
    del a
    gc.collect()
    assert alive() is not None and array.dtype == ml_dtypes.bfloat16
    del array
    gc.collect()
    assert alive() is None


def test_a_copy_is_no_output(fn: Any) -> None:
    class Copies(Export):
        def __dlpack__(self, **options: Any) -> Any:
            return dlpack.capsule_of(self.array, {**options, "copy": True})

    a, o = np.ones((6, 4), "float32"), np.zeros((6, 4), "float32")
    fn(Copies(a), o)
    assert (o == 2).all()
    with pytest.raises(CallTypeError, match=r"`O`.*gave a copy"):
        fn(a, Copies(o))


def test_capsules_that_are_none(fn: Any) -> None:
    a, o = np.ones((6, 4), "float32"), np.zeros((6, 4), "float32")
    used = a.__dlpack__(max_version=(1, 0))
    np.from_dlpack(type("Once", (Export,), {"__dlpack__": lambda self, **_: used})(a))
    for what in (None, 3, "dltensor", object(), used, ()):
        export = type("Odd", (Export,), {"__dlpack__": lambda self, what=what, **_: what})(a)
        with pytest.raises(CallTypeError, match=r"argument 1, `A`.*capsule"):
            fn(export, o)
        with pytest.raises(CallTypeError, match="capsule"):
            nd.from_dlpack(export)


def _changed(array: np.ndarray, **fields: Any) -> Any:
    """An export that says something else than the truth."""

    class Changed(Export):
        def __dlpack__(self, **options: Any) -> Any:
            capsule = super().__dlpack__(**options)
            tensor, managed = dlpack._open(capsule)
            for name, value in fields.items():
                owner = managed if name in ("flags", "major") else tensor
                setattr(owner, name, value)
            return capsule

    return Changed(array)


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"device_type": 2}, "not on the CPU"), ({"lanes": 2}, ""), ({"code": 3}, ""), ({"code": 99}, ""),
        ({"code": 5}, ""), ({"bits": 7}, ""), ({"data": None}, "no address"), ({"ndim": 99}, ""),
        ({"major": 2}, "DLPack 2"), ({"code": 0, "bits": 4}, "packed"),
    ],
)  # fmt: skip
def test_descriptions_that_are_not_taken(fn: Any, fields: dict[str, Any], words: str) -> None:
    a, o = np.ones((6, 4), "float32"), np.zeros((6, 4), "float32")
    with pytest.raises((CallTypeError, CallValueError), match="argument 1, `A`") as e:
        fn(_changed(a, **fields), o)
    assert words in str(e.value) and "signature: f(A: float32[6, 4]" in str(e.value)
    assert not o.any()


def test_what_arrays_are_made_of() -> None:
    for bad in ([[1], [1, 2]], object(), "x", b"x", {"a": 1}, np.zeros(2, object), 1j, [None]):
        with pytest.raises(CallTypeError):
            nd.array(bad)
    for dtype in ("float33", object, "O", 3.5, "datetime64[s]", [("x", "f4")]):
        with pytest.raises(CallTypeError):
            nd.array([1.0], dtype=dtype)
    with pytest.raises(CallTypeError):
        nd.array(["x"], dtype="float32")
    for shape in ("ab", 1.5, (2, 1.5), None, [None], {"a": 1}):
        with pytest.raises(CallTypeError):
            nd.empty(shape)
    for shape in (-1, (2, -1), 2**62, (2**40, 2**40)):
        with pytest.raises(CallValueError):
            nd.empty(shape)
    for kind in ("tpu", 3.5, ""):
        with pytest.raises(TirscriptError):
            nd.empty(3, device=kind)
    a = nd.empty((2, 2))
    with pytest.raises(CallValueError):
        a.copyfrom(np.zeros(3))
    with pytest.raises(CallTypeError):
        a.copyfrom([["x", "y"]] * 2)
    with pytest.raises(CallTypeError):
        nd.from_dlpack([1])


# ---- torch

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")


@needs_torch
def test_torch_tensors(fn: Any) -> None:
    a, o = torch.arange(24.0).reshape(6, 4), torch.zeros(6, 4)
    fn(a, o)
    assert torch.equal(o, 2 * a)
    with torch.inference_mode():
        o = torch.zeros(6, 4)
        fn(a, o)
        assert torch.equal(o, 2 * a)
    run = double("bfloat16")
    b, p = a.bfloat16(), torch.zeros(6, 4, dtype=torch.bfloat16)
    run(b, p)
    assert torch.equal(p, b + b)
    strided = double(strides=True)
    for view in (a.T.contiguous().T, torch.ones(4).expand(6, 4), a.repeat(2, 2)[::2, ::2]):
        strided(view, o)
        assert torch.equal(o, 2 * view)


@needs_torch
@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: torch.ones(6, 4, requires_grad=True), CallTypeError, "detach"),
        (lambda: torch.ones(6, 4, device="meta"), CallTypeError, "meta"),
        (lambda: torch.ones(6, 4).to_sparse(), CallTypeError, "layout"),
        (lambda: torch.ones(6, 4).bfloat16(), CallTypeError, "bfloat16"),
        (lambda: torch.ones(6, 4, dtype=torch.bool), CallTypeError, "bool"),
        (lambda: torch.ones(4, 6).T, CallValueError, "contiguous"),
        (lambda: torch.ones(6, 5), CallValueError, "dimension 1 is 5"),
        (lambda: torch.ones(6, 4)._neg_view(), CallTypeError, "resolve_neg"),
        (lambda: torch.ones(6, 4, dtype=torch.complex64).conj(), CallTypeError, "conjugate"),
    ],
)
def test_wrong_torch_tensors(fn: Any, make: Any, error: type[Exception], words: str) -> None:
    o = torch.zeros(6, 4)
    with pytest.raises(error) as e:
        fn(make(), o)
    assert words in str(e.value) and "argument 1, `A`" in str(e.value) and not o.any()


@needs_torch
def test_torch_takes_ours() -> None:
    for dtype in ("float32", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "bool"):
        made = nd.array(np.ones((2, 3)), dtype=dtype)
        seen = torch.from_dlpack(made)
        assert str(seen.dtype) == f"torch.{dtype}"
        seen[1, 2] = 0
        assert made[1, 2] == 0 and made[0, 0] == 1
    copied = nd.array(torch.ones(3, dtype=torch.bfloat16))
    assert copied.dtype == "bfloat16" and copied.numpy().tolist() == [1, 1, 1]
    with pytest.raises(CallTypeError, match="grad"):
        nd.array(torch.ones(3, requires_grad=True))


# ---- JAX


def test_jax_arrays(fn: Any) -> None:
    jax = pytest.importorskip("jax")
    a, o = jax.numpy.arange(24.0, dtype="float32").reshape(6, 4), np.zeros((6, 4), "float32")
    fn(a, o)
    assert np.array_equal(o, 2 * np.asarray(a))
    with pytest.raises((CallTypeError, CallValueError), match="`O`"):
        fn(o, a)  # JAX arrays are never written
    assert float(a[0, 1]) == 1
    assert jax.numpy.from_dlpack(nd.array([1.0, 2.0], dtype="float32")).sum() == 3
