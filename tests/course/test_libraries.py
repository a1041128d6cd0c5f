"""Functions of other libraries in a program, and arrays that other libraries look into without a copy."""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm
from tirscript.script import ir as I
from tirscript.script import tir as T

from .digits import SIDE, pictures, reference, trained

PIXELS, HIDDEN = SIDE * SIDE, 48


@tvm.register_func("course.linear", override=True)
def numpy_linear(x: tvm.nd.NDArray, w: tvm.nd.NDArray, b: tvm.nd.NDArray, out: tvm.nd.NDArray):
    x_np, w_np, b_np, out_np = (np.from_dlpack(t) for t in (x, w, b, out))
    np.matmul(x_np, w_np.T, out=out_np)
    np.add(out_np, b_np, out=out_np)


@tvm.register_global_func("course.relu", override=True)
def numpy_relu(x: tvm.nd.NDArray, out: tvm.nd.NDArray):
    np.maximum(np.from_dlpack(x), 0, out=np.from_dlpack(out))


def test_registered_functions_are_found_and_called() -> None:
    f = tvm.get_global_func("course.relu")
    x, out = tvm.nd.array(np.array([-1, 2], "float32")), tvm.nd.empty((2,), "float32")
    f(x, out)
    assert out.numpy().tolist() == [0, 2]
    assert tvm.get_global_func("course.nothing", allow_missing=True) is None
    with pytest.raises(tvm.TVMError, match=r"course\.linear"):
        tvm.get_global_func("course.linea")


@I.ir_module
class Network:
    """The network of the course's integration chapter, its calls made from a script."""

    @T.prim_func
    def main(
        x: T.Buffer((1, 100), "float32"),
        w0: T.Buffer((48, 100), "float32"),
        b0: T.Buffer((48,), "float32"),
        w1: T.Buffer((10, 48), "float32"),
        b1: T.Buffer((10,), "float32"),
        out: T.Buffer((1, 10), "float32"),
    ):
        lv0 = T.alloc_buffer((1, 48), "float32")
        lv1 = T.alloc_buffer((1, 48), "float32")
        with T.block("linear0"):
            T.reads(x[0:1, 0:100], w0[0:48, 0:100], b0[0:48])
            T.writes(lv0[0:1, 0:48])
            T.call_packed(
                "course.linear",
                T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(1, 100), 0, 2, T.float32(0), 0),
                T.tvm_stack_make_array(w0.data, T.tvm_stack_make_shape(48, 100), 0, 2, T.float32(0), 0),
                T.tvm_stack_make_array(b0.data, T.tvm_stack_make_shape(48), 0, 1, T.float32(0), 0),
                T.tvm_stack_make_array(lv0.data, T.tvm_stack_make_shape(1, 48), 0, 2, T.float32(0), 0),
            )
        for i, j in T.grid(1, 48):
            with T.block("relu0"):
                vi, vj = T.axis.remap("SS", [i, j])
                lv1[vi, vj] = T.max(lv0[vi, vj], T.float32(0))
        with T.block("linear1"):
            T.reads(lv1[0:1, 0:48], w1[0:10, 0:48], b1[0:10])
            T.writes(out[0:1, 0:10])
            T.call_packed(
                "course.linear",
                T.tvm_stack_make_array(lv1.data, T.tvm_stack_make_shape(1, 48), 0, 2, T.float32(0), 0),
                T.tvm_stack_make_array(w1.data, T.tvm_stack_make_shape(10, 48), 0, 2, T.float32(0), 0),
                T.tvm_stack_make_array(b1.data, T.tvm_stack_make_shape(10), 0, 1, T.float32(0), 0),
                T.tvm_stack_make_array(out.data, T.tvm_stack_make_shape(1, 10), 0, 2, T.float32(0), 0),
            )


@pytest.mark.parametrize("target", ["llvm", "python"])
def test_a_program_that_mixes_loops_and_library_calls(target) -> None:
    lib = tvm.build(Network, target=target)
    p = trained()
    images, labels = pictures(300, seed=5)
    want = reference(images, p)
    for n in range(12):
        out = tvm.nd.empty((1, 10), "float32")
        lib["main"](tvm.nd.array(images[n : n + 1]), p["w0"], p["b0"], p["w1"], p["b1"], out)
        np.testing.assert_allclose(out.numpy()[0], want[n], rtol=1e-3, atol=1e-4)
        assert out.numpy().argmax() == want[n].argmax()


def test_an_exception_of_the_library_comes_out_as_it_is() -> None:
    @tvm.register_func("course.fails", override=True)
    def fails(n):
        raise KeyError(f"no layer {n}")

    @T.prim_func
    def f(A: T.Buffer((1,), "int32")):
        T.evaluate(T.call_packed("course.fails", A[0]))

    with pytest.raises(KeyError, match="no layer 3"):
        tvm.build(f)["f"](np.array([3], "int32"))


def test_arrays_are_shared_both_ways() -> None:
    a = tvm.nd.array(np.arange(6, dtype="float32").reshape(2, 3))
    view = np.from_dlpack(a)
    view[0, 0] = 9
    assert a.numpy()[0, 0] == 9
    source = np.zeros((2, 2), "int64")
    tvm.nd.from_dlpack(source).copyfrom(np.ones((2, 2), "int64"))
    assert source.tolist() == [[1, 1], [1, 1]]


def test_torch_views_are_writable_and_share_memory() -> None:
    torch = pytest.importorskip("torch")
    a = tvm.nd.array(np.arange(6, dtype="float32").reshape(2, 3))
    view = torch.from_dlpack(a)
    view[1, 2] = 77
    assert a.numpy()[1, 2] == 77
    given = torch.zeros(2, 3)
    tvm.nd.from_dlpack(given).copyfrom(np.ones((2, 3), "float32"))
    assert given.sum() == 6

    @tvm.register_func("course.torch_linear", override=True)
    def torch_linear(x, w, b, out):
        x, w, b, out = (torch.from_dlpack(t) for t in (x, w, b, out))
        torch.mm(x, w.T, out=out)
        torch.add(out, b, out=out)

    p = trained()
    x = pictures(300, seed=5)[0][:1]
    out = tvm.nd.empty((1, HIDDEN), "float32")
    tvm.get_global_func("course.torch_linear")(
        tvm.nd.array(x), *(tvm.nd.array(p[k]) for k in ("w0", "b0")), out
    )
    np.testing.assert_allclose(out.numpy(), x @ p["w0"].T + p["b0"], rtol=1e-3, atol=1e-4)


def test_a_call_to_a_function_of_c() -> None:
    """`call_extern`: the C library's own, by name."""

    @T.prim_func
    def powers(A: T.Buffer((4,), "float64"), B: T.Buffer((4,), "float64")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = T.call_pure_extern("float64", "pow", A[vi], T.float64(3))

    a, b = np.arange(4.0), np.zeros(4)
    tvm.build(powers, target="llvm")["powers"](a, b)
    np.testing.assert_allclose(b, a**3)
