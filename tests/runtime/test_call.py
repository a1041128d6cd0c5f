"""Calls of compiled functions: what is accepted, and 50 kinds of wrong ones with what they say."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import buffer, build, function, load, loop, store
from tirscript.diagnostics import CallError, CallTypeError, CallValueError, CodegenError
from tirscript.ir import ops
from tirscript.ir.expr import Call, Cast, Expr, IntImm, Var
from tirscript.ir.stmt import Evaluate, seq
from tirscript.runtime import make_callable, tensor
from tirscript.runtime.signature import BufferParam, Extent, ScalarParam, Signature, Symbol


def double(**attrs: Any) -> Any:
    a, o = buffer("A", 6, 4), buffer("O", 6, 4)
    body = loop(6, lambda i: loop(4, lambda j: store(o, load(a, i, j) * 2.0, i, j), name="j"))
    return build(function([a, o], body, **attrs))


@pytest.fixture(scope="module")
def fn() -> Any:
    return double()


def z(*shape: int, dtype: Any = "float32") -> np.ndarray:
    return np.zeros(shape, dtype)


class Dlpack:
    """An object of another library, known only by DLPack."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0), versioned: bool = True) -> None:
        self.array, self.device, self.versioned = array, device, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> Any:
        if not self.versioned:
            if options.get("max_version") is not None:
                raise TypeError("an old exporter")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**options)


class OnGpu:
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (6, 4), "typestr": "<f4", "data": (0, False), "version": 3}


def read_only(a: np.ndarray) -> np.ndarray:
    a.flags.writeable = False
    return a


def misaligned() -> np.ndarray:
    return np.zeros(6 * 4 * 4 + 1, "uint8")[1:].view("float32").reshape(6, 4)


WRONG: dict[str, tuple[Callable[[], tuple[Any, ...]], type[CallError], str]] = {
    "no arguments": (lambda: (), CallTypeError, "takes 2 arguments, 0 were given"),
    "one missing": (lambda: (z(6, 4),), CallTypeError, "takes 2 arguments, 1 was given"),
    "one too many": (lambda: (z(6, 4), z(6, 4), z(6, 4)), CallTypeError, "takes 2 arguments, 3 were given"),
    "None": (lambda: (None, z(6, 4)), CallTypeError, "this is None"),
    "a string": (lambda: ("x", z(6, 4)), CallTypeError, "the str 'x'"),
    "a number": (lambda: (1.5, z(6, 4)), CallTypeError, "the float 1.5"),
    "a list": (lambda: ([[0.0] * 4] * 6, z(6, 4)), CallTypeError, "np.array"),
    "a NumPy scalar": (lambda: (np.float32(1), z(6, 4)), CallTypeError, "float32"),
    "a dict": (lambda: ({}, z(6, 4)), CallTypeError, "dict"),
    "any object": (lambda: (object(), z(6, 4)), CallTypeError, "a value of type object"),
    "a type": (lambda: (np.ndarray, z(6, 4)), CallTypeError, "argument 1, `A`"),
    "float64": (lambda: (z(6, 4, dtype="float64"), z(6, 4)), CallTypeError, "float64[6, 4]"),
    "int32": (lambda: (z(6, 4), z(6, 4, dtype="int32")), CallTypeError, "argument 2, `O`: float32 is wanted"),
    "bool": (lambda: (z(6, 4, dtype=bool), z(6, 4)), CallTypeError, "bool[6, 4]"),
    "complex": (lambda: (z(6, 4, dtype="complex64"), z(6, 4)), CallTypeError, "complex64"),
    "float16": (lambda: (z(6, 4, dtype="float16"), z(6, 4)), CallTypeError, "float16"),
    "objects": (lambda: (z(6, 4, dtype=object), z(6, 4)), CallTypeError, "object"),
    "records": (lambda: (z(6, 4, dtype=[("x", "f4")]), z(6, 4)), CallTypeError, "float32 is wanted"),
    "strings": (lambda: (z(6, 4, dtype="U1"), z(6, 4)), CallTypeError, "float32 is wanted"),
    "byte order": (lambda: (z(6, 4, dtype=">f4"), z(6, 4)), CallTypeError, "byte order"),
    "flat": (lambda: (z(24), z(6, 4)), CallValueError, "2 dimensions [6, 4] wanted, this has 1"),
    "flat hint": (lambda: (z(24), z(6, 4)), CallValueError, "a.reshape(6, 4)"),
    "transposed shape": (lambda: (z(4, 6), z(6, 4)), CallValueError, "dimension 0 is 4, not 6"),
    "one more dimension": (lambda: (z(1, 6, 4), z(6, 4)), CallValueError, "this has 3"),
    "0-d": (lambda: (np.array(1, "float32"), z(6, 4)), CallValueError, "this has 0"),
    "short": (lambda: (z(6, 3), z(6, 4)), CallValueError, "dimension 1 is 3, not 4"),
    "empty": (lambda: (z(0, 4), z(6, 4)), CallValueError, "dimension 0 is 0"),
    "long": (lambda: (z(6, 4), z(7, 4)), CallValueError, "argument 2, `O`"),
    "Fortran order": (lambda: (np.asfortranarray(z(6, 4)), z(6, 4)), CallValueError, "C-contiguous"),
    "transposed": (lambda: (z(4, 6).T, z(6, 4)), CallValueError, "np.ascontiguousarray"),
    "every other column": (lambda: (z(6, 8)[:, ::2], z(6, 4)), CallValueError, "strides [8, 2]"),
    "reversed": (lambda: (z(6, 4)[::-1], z(6, 4)), CallValueError, "strides [-4, 1]"),
    "broadcast": (lambda: (np.broadcast_to(z(4), (6, 4)), z(6, 4)), CallValueError, "strides [0, 1]"),
    "strided output": (lambda: (z(6, 4), z(6, 8)[:, ::2]), CallValueError, "argument 2, `O`"),
    "read-only output": (lambda: (z(6, 4), read_only(z(6, 4))), CallValueError, "read-only"),
    "broadcast output": (lambda: (z(6, 4), np.broadcast_to(z(4), (6, 4))), CallValueError, "`O`"),
    "misaligned": (lambda: (misaligned(), z(6, 4)), CallValueError, "multiple of 4 bytes"),
    "overlap": (lambda: overlapping(), CallValueError, "overlaps that of `A`"),
    "a subclass of the wrong dtype": (lambda: (np.ma.zeros((6, 4)), z(6, 4)), CallTypeError, "float64"),
    "bytes": (lambda: (bytes(96), z(6, 4)), CallTypeError, "uint8[96]"),
    "bytes as output": (lambda: (z(6, 4), bytearray(96)), CallTypeError, "uint8[96]"),
    "NDArray of another dtype": (lambda: (tensor(z(6, 4, dtype="int8")), z(6, 4)), CallTypeError, "int8"),
    "NDArray of another shape": (lambda: (tensor(z(6, 5)), z(6, 4)), CallValueError, "dimension 1 is 5"),
    "on a GPU, DLPack": (lambda: (Dlpack(z(6, 4), (2, 0)), z(6, 4)), CallValueError, "not on the CPU"),
    "on a GPU": (lambda: (OnGpu(), z(6, 4)), CallValueError, "not on the CPU"),
    "DLPack of another dtype": (lambda: (Dlpack(z(6, 4, dtype="int64")), z(6, 4)), CallTypeError, "int64"),
    "DLPack, strided": (lambda: (Dlpack(z(6, 8)[:, ::2]), z(6, 4)), CallValueError, "contiguous"),
    "a memoryview of doubles": (lambda: (memoryview(z(6, 4, dtype="f8")), z(6, 4)), CallTypeError, "float64"),
    "a released memoryview": (lambda: (released(), z(6, 4)), CallTypeError, "released"),
}  # fmt: skip


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    x = z(8, 4)
    return x[1:7], x[2:8]


def released() -> memoryview:
    m = memoryview(z(6, 4))
    m.release()
    return m


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_calls(fn: Any, kind: str) -> None:
    make, error, words = WRONG[kind]
    args = make()
    with pytest.raises(error) as e:
        fn(*args)
    text = str(e.value)
    assert words in text
    assert "signature: f(A: float32[6, 4], O: float32[6, 4])" in text
    assert isinstance(e.value, TypeError if error is CallTypeError else ValueError)
    # The next right call works.
    o = z(6, 4)
    fn(np.ones((6, 4), "float32"), o)
    assert (o == 2).all()


def test_keywords_are_refused(fn: Any) -> None:
    with pytest.raises(TypeError):
        fn(A=z(6, 4), O=z(6, 4))


def test_what_is_accepted(fn: Any) -> None:
    a = np.arange(24, dtype="float32").reshape(6, 4)
    interface = type("Foreign", (), {"__array_interface__": a.__array_interface__})()
    inputs = {
        "array": a,
        "read-only input": read_only(a.copy()),
        "an unpickled array": pickle.loads(pickle.dumps(a)),
        "an unpickled dtype": a.astype(pickle.loads(pickle.dumps(np.dtype("float32")))),
        "a view at an offset": np.arange(30, dtype="float32")[:24].reshape(6, 4),
        "subclass": a.view(type("Sub", (np.ndarray,), {})),
        "masked": np.ma.masked_array(a),
        "NDArray": tensor(a),
        "DLPack": Dlpack(a),
        "old DLPack": Dlpack(a, versioned=False),
        "array interface": interface,
        "memoryview": memoryview(a),
        "ctypes": np.ctypeslib.as_ctypes(a.copy()),
    }
    for kind, x in inputs.items():
        o = z(6, 4)
        fn(x, o)
        np.testing.assert_array_equal(o, a * 2, err_msg=kind)


def test_outputs_of_other_libraries(fn: Any) -> None:
    """The memory of the object itself is written."""
    a = np.ones((6, 4), "float32")
    for wrap in (
        tensor,
        memoryview,
        Dlpack,
        lambda o: Dlpack(o, versioned=False),
        lambda o: o.view(type("S", (np.ndarray,), {})),
    ):
        o = z(6, 4)
        target = wrap(o)
        fn(a, target)
        got = target.numpy() if hasattr(target, "numpy") else o
        np.testing.assert_array_equal(got, a * 2)


def test_strides_of_extents_one_and_zero_do_not_count() -> None:
    n = Var("n")
    a, o = buffer("A", n, 1, 4), buffer("O", n, 1, 4)
    body = loop(n, lambda i: loop(4, lambda j: store(o, load(a, i, 0, j), i, 0, j), name="j"))
    run = build(function([a, o], body))
    base = np.arange(24, dtype="float32").reshape(6, 4)
    odd = np.lib.stride_tricks.as_strided(base, (6, 1, 4), (16, 12345, 4))
    out = z(6, 1, 4)
    run(odd, out)
    np.testing.assert_array_equal(out[:, 0], base)
    empty = np.lib.stride_tricks.as_strided(base, (0, 1, 4), (-8, 3, 100))
    run(empty, z(0, 1, 4))


def test_equal_dtypes_of_other_names() -> None:
    a, o = buffer("A", 4, dtype="int64"), buffer("O", 4, dtype="int64")
    run = build(function([a, o], loop(4, lambda i: store(o, load(a, i), i))))
    for dtype in (np.longlong, np.int64, np.intp, "=i8"):
        out = np.zeros(4, dtype)
        run(np.arange(4, dtype=dtype), out)
        assert out.tolist() == [0, 1, 2, 3]


def test_rank_zero() -> None:
    a, o = buffer("A", dtype="float32"), buffer("O")
    run = build(function([a, o], store(o, load(a) + 1.0)))
    out = np.array(0, "float32")
    run(np.array(41, "float32"), out)
    assert out == 42
    with pytest.raises(CallTypeError, match="0-d"):
        run(np.float32(41), out)
    with pytest.raises(CallValueError, match="0 dimensions"):
        run(np.zeros(1, "float32"), out)


# ---- overlap


def test_overlap_rules() -> None:
    x = z(6, 4)
    with pytest.raises(CallValueError, match=r"tir\.noalias"):
        double()(x, x)
    x += 1
    double(**{"tir.noalias": False})(x, x)
    np.testing.assert_array_equal(x, np.full((6, 4), 2))
    # Inputs may share memory; empty arrays overlap nothing; neighbours do not.
    a, b, o = buffer("A", 4), buffer("B", 4), buffer("O", 4)
    run = build(function([a, b, o], loop(4, lambda i: store(o, load(a, i) + load(b, i), i))))
    y = np.arange(8, dtype="float32")
    run(y[:4], y[:4], y[4:])
    assert y[4:].tolist() == [0, 2, 4, 6]
    for args in ((y[:4], y[1:5], y[3:7]), (y[4:], y[:4], y[2:6]), (y[:4], y[4:], y[:4])):
        with pytest.raises(CallValueError, match="overlaps"):
            run(*args)


def test_interleaved_strided_arrays_do_not_overlap() -> None:
    s = Var("s", "int64")
    a, o = buffer("A", 4, strides=(s,)), buffer("O", 4, strides=(s,))
    run = build(function([a, o], loop(4, lambda i: store(o, load(a, i) + 1.0, i))))
    x = np.arange(8, dtype="float32")
    run(x[::2], x[1::2])
    assert x.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(CallValueError, match="overlaps"):
        run(x[::2], x[::2])


# ---- strides, offsets, alignment


def test_declared_strides() -> None:
    s0, s1 = Var("s0"), Var("s1")
    a, o = buffer("A", 3, 4, strides=(s0, s1)), buffer("O", 3, 4)
    run = build(
        function([a, o], loop(3, lambda i: loop(4, lambda j: store(o, load(a, i, j), i, j), name="j")))
    )
    base = np.arange(96, dtype="float32").reshape(8, 12)
    for view in (
        base[:3, :4],
        base[::3, ::3],
        base[2::-1, 3::-1],
        base.T[:3, :4],
        np.broadcast_to(base[0, :4], (3, 4)),
    ):
        out = z(3, 4)
        run(view, out)
        np.testing.assert_array_equal(out, view)
    fixed = buffer("A", 3, 4, strides=(IntImm(8), IntImm(1)))
    run = build(
        function(
            [fixed, o], loop(3, lambda i: loop(4, lambda j: store(o, load(fixed, i, j), i, j), name="j"))
        )
    )
    wide = np.arange(24, dtype="float32").reshape(3, 8)
    out = z(3, 4)
    run(wide[:, :4], out)
    np.testing.assert_array_equal(out, wide[:, :4])
    with pytest.raises(CallValueError, match="the stride of dimension 0 is 4 elements, not 8"):
        run(z(3, 4), out)


def test_a_written_buffer_needs_strides_that_are_not_zero() -> None:
    s = Var("s")
    o = buffer("O", 4, strides=(s,))
    run = build(function([o], loop(4, lambda i: store(o, 1.0, i))))
    cell = np.lib.stride_tricks.as_strided(z(1), (4,), (0,))
    with pytest.raises(CallValueError, match="stride along dimension 0 is 0"):
        run(cell)


def test_alignment_on_request() -> None:
    a, o = buffer("A", 16, align=64), buffer("O", 16)
    run = build(function([a, o], loop(16, lambda i: store(o, load(a, i), i))))
    whole = tensor(np.arange(17, dtype="float32"))
    run(whole[:16], z(16))
    with pytest.raises(CallValueError, match="multiple of 64 bytes"):
        run(whole[1:], z(16))


def test_an_offset_variable_is_zero() -> None:
    k = Var("k")
    a, o = buffer("A", 4, elem_offset=k), buffer("O", 4)
    run = build(function([a, o], loop(4, lambda i: store(o, load(a, i), i))))
    out = z(4)
    run(np.arange(9, dtype="float32")[5:], out)
    assert out.tolist() == [5, 6, 7, 8]


# ---- symbols


def symbolic(*shapes: tuple[Any, ...]) -> Any:
    """A function that writes the shape of its first array into the last."""
    buffers = [buffer(f"B{k}", *s) for k, s in enumerate(shapes)]
    o = buffer("O", 8, dtype="int64")
    stores = [store(o, Cast("int64", n) if isinstance(n, Expr) else n, d) for d, n in enumerate(shapes[0])]
    return build(function([*buffers, o], *stores))


def test_symbols_are_bound_and_checked() -> None:
    n, m = Var("n"), Var("m")
    run = symbolic((n, m), (m,), (n,))
    o = np.zeros(8, "int64")
    for a, b in ((3, 4), (1, 1), (0, 3), (5, 0)):
        run(z(a, b), z(b), z(a), o)
        assert o[:2].tolist() == [a, b]
    for shapes in (((3, 4), 5, 3), ((3, 4), 3, 3), ((3, 4), 4, 4), ((4, 3), 4, 3)):
        with pytest.raises(CallValueError, match=r"not \d+ \(`[nm]`\) with [nm] = \d"):
            run(z(*shapes[0]), z(shapes[1]), z(shapes[2]), o)


def test_linear_expressions_are_solved() -> None:
    n = Var("n")
    run = symbolic((n * 16 + 4,))
    o = np.zeros(8, "int64")
    run(z(36), o)
    assert o[0] == 36
    with pytest.raises(CallValueError, match=r"no n makes `n \* 16 \+ 4` equal 37"):
        run(z(37), o)
    with pytest.raises(CallValueError, match="no n makes"):
        symbolic((n * 2,), (3 - n,))(z(5), z(1), o)
    m = Var("m")
    run = symbolic((n, m), (n * m + m,))
    run(z(2, 3), z(9), o)
    with pytest.raises(CallValueError, match=r"dimension 0 is 8 in \[8\], not 9 \(`n \* m \+ m`\)"):
        run(z(2, 3), z(8), o)


def test_unsolvable_shapes_are_refused_at_build() -> None:
    n, m = Var("n"), Var("m")
    with pytest.raises(CodegenError, match="`n` of `f` cannot be found") as e:
        symbolic((n * n,))
    assert "`n * n`" in str(e.value) and "hint: use `n` alone" in str(e.value)
    with pytest.raises(CodegenError, match="cannot be found"):
        symbolic((n + m,))
    with pytest.raises(CodegenError, match="cannot be found"):
        symbolic((ops.floordiv(n, 2),))


def test_a_scalar_parameter_in_shapes() -> None:
    n = Var("n")
    a = buffer("A", n, ops.ceildiv(n, 4))
    run = build(function([a, n], loop(n, lambda i: store(a, 1.0, i, 0))))
    x = z(9, 3)
    run(x, 9)
    assert x.sum() == 9
    with pytest.raises(CallValueError, match=r"dimension 0 is 9 in \[9, 3\], not 8 \(`n`\) with n = 8"):
        run(x, 8)
    with pytest.raises(CallValueError, match=r"`\(n \+ 3\) // 4`"):
        run(z(9, 2), 9)


def test_an_extent_too_large_for_its_symbol() -> None:
    n = Var("n", "int8")
    a = buffer("A", n)
    run = build(function([a], Evaluate(IntImm(0))))
    run(z(127))
    with pytest.raises(CallValueError, match="`n` would be 128, which int8 does not hold"):
        run(z(128))


# ---- scalars


@pytest.fixture(scope="module")
def scalars() -> Any:
    n, x, b, u = Var("n"), Var("x", "float32", False), Var("b", "bool"), Var("u", "uint8")
    o = buffer("O", 4, dtype="float64")
    body = seq(*[store(o, Cast("float64", v), k) for k, v in enumerate((n, x, b, u))])
    return build(function([n, x, b, u, o], body))


def test_scalars(scalars: Any) -> None:
    o = np.zeros(4)
    for n, x, b, u in (
        (3, 1.5, True, 0),
        (np.int32(-3), np.float32(1.5), np.True_, np.uint8(255)),
        (np.int64(7), np.float64(0.5), False, 9),
        (True, 2, True, True),
        (-(2**31), np.int8(-4), False, np.int64(3)),
        (2**31 - 1, float("inf"), True, 1),
    ):
        scalars(n, x, b, u, o)
        assert o.tolist() == [float(n), float(x), float(b), float(u)]
    scalars(1, 0.1, True, 1, o)
    assert o[1] == float(np.float32(0.1))


@pytest.mark.parametrize(
    "args, error, words",
    [
        ((2**31, 1.0, True, 0), CallValueError, "2147483648 does not fit int32"),
        ((-(2**31) - 1, 1.0, True, 0), CallValueError, "does not fit int32"),
        ((2**100, 1.0, True, 0), CallValueError, "does not fit int32"),
        ((np.uint64(2**63), 1.0, True, 0), CallValueError, "does not fit int32"),
        ((1.0, 1.0, True, 0), CallTypeError, "an integer (int32) is wanted, this is the float 1.0"),
        ((np.float32(1), 1.0, True, 0), CallTypeError, "an integer (int32) is wanted"),
        (("3", 1.0, True, 0), CallTypeError, "the str '3'"),
        ((None, 1.0, True, 0), CallTypeError, "None"),
        ((np.array(3), 1.0, True, 0), CallTypeError, "int64[]"),
        ((3, "x", True, 0), CallTypeError, "a number (float32) is wanted"),
        ((3, 1j, True, 0), CallTypeError, "the complex 1j"),
        ((3, None, True, 0), CallTypeError, "None"),
        ((3, 10**400, True, 0), CallValueError, "does not fit float32"),
        ((3, np.zeros(1), True, 0), CallTypeError, "float64[1]"),
        ((3, 1.0, 1, 0), CallTypeError, "a bool is wanted, this is the int 1"),
        ((3, 1.0, None, 0), CallTypeError, "a bool is wanted"),
        ((3, 1.0, True, -1), CallValueError, "-1 does not fit uint8, which holds 0 to 255"),
        ((3, 1.0, True, 256), CallValueError, "256 does not fit uint8"),
    ],
)
def test_wrong_scalars(scalars: Any, args: tuple[Any, ...], error: type[CallError], words: str) -> None:
    with pytest.raises(error) as e:
        scalars(*args, np.zeros(4))
    assert words in str(e.value) and "n: int32, x: float32, b: bool, u: uint8" in str(e.value)


def test_wide_scalars() -> None:
    for dtype in ("int64", "uint64"):
        n, o = Var("n", dtype), buffer("O", 1, dtype=dtype)
        run = build(function([n, o], store(o, n, 0)))
        info = np.iinfo(dtype)
        for v in (info.min, info.max, 0):
            out = np.zeros(1, dtype)
            run(v, out)
            assert out[0] == v
        real = buffer("O", 1, dtype="float64")
        convert = build(function([n, real], store(real, Cast("float64", n), 0)))
        for v in (info.min, info.max, 0):
            out = np.zeros(1)
            convert(v, out)
            assert out[0] == float(v)
        for v in (int(info.min) - 1, int(info.max) + 1):
            with pytest.raises(CallValueError):
                run(v, np.zeros(1, dtype))


def test_pointers() -> None:
    p, o = Var("p", "handle", False), buffer("O", 1, dtype="bool")
    run = build(function([p, o], store(o, Call("bool", "isnullptr", (p,)), 0)))
    out = np.zeros(1, bool)
    for value, null in (
        (None, True),
        (0, True),
        (np.zeros(3), False),
        (tensor([1]), False),
        (bytearray(4), False),
    ):
        run(value, out)
        assert out[0] == null
    with pytest.raises(CallTypeError, match="an address is wanted"):
        run(object(), out)


# ---- life and threads


def test_functions_keep_their_code_alive() -> None:
    call = double()["f"].__call__
    gc.collect()
    for n in range(50):
        o = z(6, 4)
        call(np.full((6, 4), n, "float32"), o)
        assert o[0, 0] == 2 * n


def test_modules_and_code_are_freed() -> None:
    m = double()
    code = weakref.ref(m["f"].__self__._owner)
    del m
    gc.collect()
    assert code() is None


def test_calls_do_not_leak(fn: Any) -> None:
    a, o = np.ones((6, 4), "float32"), z(6, 4)
    before = (sys.getrefcount(a), sys.getrefcount(None))
    for _ in range(20_000):
        fn(a, o)
    assert sys.getrefcount(a) == before[0] and abs(sys.getrefcount(None) - before[1]) < 100


def test_many_threads_build_and_call(fn: Any) -> None:
    def work(n: int) -> bool:
        run = fn if n % 2 else double()
        a, o = np.full((6, 4), n, "float32"), z(6, 4)
        for _ in range(20):
            run(a, o)
        return bool((o == 2 * n).all())

    with ThreadPoolExecutor(8) as executor:
        assert all(executor.map(work, range(48)))


def test_errors_in_many_threads(fn: Any) -> None:
    found: list[bool] = []

    def work() -> None:
        for _ in range(50):
            try:
                fn(z(6, 4), z(6, 3))
            except CallValueError:
                found.append(True)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 400


def test_the_gil_is_released() -> None:
    o = buffer("O", 1, dtype="int64")
    spin = loop(300, lambda i: loop(1000000, lambda j: store(o, load(o, 0) * 3 + 1, 0), name="j"))
    run = build(function([o], spin), target={"O": 0})
    seen: list[int] = []
    done = threading.Event()

    def count() -> None:
        n = 0
        while not done.is_set():
            n += 1
        seen.append(n)

    t = threading.Thread(target=count)
    t.start()
    run(np.zeros(1, "int64"))
    done.set()
    t.join()
    assert seen[0] > 1000


# ---- Python functions behind the same checks


def test_python_functions() -> None:
    n = Extent("n", None, 0)
    signature = Signature(
        "g",
        (
            BufferParam("A", "float32", (n,), written=False),
            ScalarParam("s", "int32"),
            BufferParam("O", "float32", (n,)),
        ),
        (Symbol("n", "int32"),),
        (0,),
        "int32",
    )

    def raw(a: np.ndarray, s: int, o: np.ndarray) -> int:
        o[:] = a * s
        return len(a)

    run = make_callable(signature, raw)
    a, o = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    assert run(a, 2, o) == 3 and o.tolist() == [0, 2, 4]
    with pytest.raises(CallValueError, match="overlaps"):
        run(a, 2, a)
    with pytest.raises(CallTypeError, match=r"g\(A: float32\[n\], s: int32, O: float32\[n\]\) -> int32"):
        run(a, 2.5, o)
    with pytest.raises(CallValueError, match="with n = 3"):
        run(a, 2, np.zeros(4, "float32"))
