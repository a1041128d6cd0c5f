"""A whole network without a graph: its functions lowered by hand, from scripts, expressions and operators.

What the course does with Relax (a module whose `main` calls primitive functions) is done here by calls from
Python with arrays; predictions are asserted.
"""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm
from tirscript import te, topi
from tirscript.ir.module import IRModule
from tirscript.script import ir as I
from tirscript.script import tir as T

from .digits import SIDE, pictures, reference, trained

PIXELS, HIDDEN = SIDE * SIDE, 48


@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def relu0(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (1, n), "float32")
        Y = T.match_buffer(y, (1, n), "float32")
        for i, j in T.grid(1, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @T.prim_func
    def linear0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m, n, k = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (1, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n,), "float32")
        Z = T.match_buffer(z, (1, n), "float32")
        Y = T.alloc_buffer((1, n), "float32")
        for i, j, r in T.grid(1, n, m):
            with T.block("Y"):
                vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vr] * W[vj, vr]
        for i, j in T.grid(1, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]


def call_tir(prim_func, inputs, shape, dtype):
    """Destination passing: allocate the result, pass it last."""
    res = tvm.nd.empty(shape, dtype)
    prim_func(*inputs, res)
    return res


def scores(lib, image, p):
    x = tvm.nd.array(image.reshape(1, PIXELS))
    lv0 = call_tir(lib["linear0"], (x, p["w0"], p["b0"]), (1, HIDDEN), dtype="float32")
    lv1 = call_tir(lib["relu0"], (lv0,), (1, HIDDEN), dtype="float32")
    return call_tir(lib["linear0"], (lv1, p["w1"], p["b1"]), (1, 10), dtype="float32").numpy()


@pytest.fixture(scope="module")
def params():
    return {k: tvm.nd.array(v) for k, v in trained().items()}


def test_the_stand_in_is_learned() -> None:
    images, labels = pictures(300, seed=5)
    assert (reference(images, trained()).argmax(1) == labels).mean() > 0.9


@pytest.mark.parametrize("target", ["llvm", "python"])
def test_predictions_by_symbolic_functions(params, target) -> None:
    lib = tvm.build(MyModule, target=target)
    images, labels = pictures(300, seed=5)
    count = 40 if target == "llvm" else 3
    want = reference(images[:count], trained())
    have = np.concatenate([scores(lib, x, params) for x in images[:count]])
    np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-4)
    assert (have.argmax(1) == want.argmax(1)).all()
    if target == "llvm":
        assert (have.argmax(1) == labels[:count]).mean() > 0.85


def test_a_module_with_parameters_bound_by_specialization(params) -> None:
    """What binding parameters does to shapes: the symbols of one use get their values."""
    linear = MyModule["linear0"]
    x, w, b, z = linear.params
    fixed = linear.specialize({w: tvm.tir.decl_buffer((HIDDEN, PIXELS), "float32", "W")})
    assert [int(n) for n in fixed.buffer_map[fixed.params[0]].shape] == [1, PIXELS]
    func = tvm.build(fixed, target="llvm")["linear0"]
    image = pictures(300, seed=5)[0][:1]
    out = tvm.nd.empty((1, HIDDEN), "float32")
    func(tvm.nd.array(image), params["w0"], params["b0"], out)
    p = trained()
    np.testing.assert_allclose(out.numpy(), image @ p["w0"].T + p["b0"], rtol=1e-3, atol=1e-4)


def test_functions_from_operators() -> None:
    """`emit_te` by hand: each operator becomes a function of a module, and every function is built once."""
    p = trained()
    batch = te.var("batch", "int64")
    x = te.placeholder((batch, PIXELS), name="x", dtype="float32")
    w0 = te.placeholder((HIDDEN, PIXELS), name="w0")
    b0 = te.placeholder((HIDDEN,), name="b0")
    h = te.placeholder((batch, HIDDEN), name="h")
    w1 = te.placeholder((10, HIDDEN), name="w1")
    b1 = te.placeholder((10,), name="b1")
    t = te.placeholder((batch, 10), name="t")
    functions = {
        "transpose": te.create_prim_func([w0, topi.transpose(w0)]),
        "dense_relu": te.create_prim_func([x, w0, b0, topi.nn.relu(topi.add(topi.nn.dense(x, w0), b0))]),
        "dense": te.create_prim_func([h, w1, b1, topi.nn.dense(h, w1, b1)]),
        "softmax": te.create_prim_func([t, topi.nn.softmax(t)]),
        "argmax": te.create_prim_func([t, topi.argmax(t, 1)]),
    }
    mod = IRModule({k: f.with_attr("global_symbol", k) for k, f in functions.items()})
    assert sorted(g.name_hint for g in mod.functions) == sorted(functions)
    lib = tvm.build(mod, target="llvm")
    images, labels = pictures(300, seed=5)
    lv0 = call_tir(lib["dense_relu"], (images, p["w0"], p["b0"]), (300, HIDDEN), "float32")
    lv1 = call_tir(lib["dense"], (lv0, p["w1"], p["b1"]), (300, 10), "float32")
    lv2 = call_tir(lib["softmax"], (lv1,), (300, 10), "float32")
    best = call_tir(lib["argmax"], (lv2,), (300,), "int32")
    assert (best.numpy() == reference(images, p).argmax(1)).all()
    assert (best.numpy() == labels).mean() > 0.9
    np.testing.assert_allclose(lv2.numpy().sum(1), 1, rtol=1e-5)
    turned = call_tir(lib["transpose"], (p["w0"],), (PIXELS, HIDDEN), "float32")
    np.testing.assert_array_equal(turned.numpy(), p["w0"].T)


def test_a_convolution_network_by_operators() -> None:
    """conv2d, bias, relu, pool2d, flatten, dense: built one by one and as one function."""
    rng = np.random.default_rng(4)
    n = 2
    x = te.placeholder((n, 1, SIDE, SIDE), name="x")
    w = te.placeholder((4, 1, 3, 3), name="w")
    b = te.placeholder((1, 4, 1, 1), name="b")
    lw = te.placeholder((10, 4 * 4 * 4), name="lw")
    conv = topi.nn.conv2d(x, w, 1, 0, 1)
    act = topi.nn.relu(topi.add(conv, b))
    pool = topi.nn.pool2d(act, [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], "max")
    flat = topi.nn.flatten(pool)
    out = topi.nn.matmul(flat, lw, transpose_b=True)
    func = te.create_prim_func([x, w, b, lw, topi.reshape(out, (n, 10))])
    arrays = [rng.standard_normal([int(e) for e in t.shape], dtype="float32") for t in (x, w, b, lw)]
    X, W, B, LW = (a.astype("float64") for a in arrays)
    windows = np.lib.stride_tricks.sliding_window_view(X, (3, 3), axis=(2, 3))
    a = np.maximum(np.einsum("ncyxij,ocij->noyx", windows, W) + B, 0)
    want = a.reshape(n, 4, 4, 2, 4, 2).max((3, 5)).reshape(n, -1) @ LW.T
    have = tvm.nd.empty((n, 10), "float32")
    tvm.build(func, target="llvm")["main"](*map(tvm.nd.array, arrays), have)
    np.testing.assert_allclose(have.numpy(), want, rtol=1e-4, atol=1e-4)


def test_fusing_by_schedule_keeps_the_predictions(params) -> None:
    """The two loops of `linear0` brought together, and `update_func` puts the result back."""
    mod = IRModule(MyModule.functions)
    sch = tvm.tir.Schedule(mod)
    sch.work_on("linear0")
    y = sch.get_block("Y")
    sch.reverse_compute_at(sch.get_block("Z"), sch.get_loops(y)[1])
    mod.update_func(mod.get_global_var("linear0"), sch.mod["linear0"])
    lib = tvm.build(mod, target="llvm")
    images, _ = pictures(300, seed=5)
    p = trained()
    for x in images[:5]:
        np.testing.assert_allclose(scores(lib, x, params), reference(x[None], p), rtol=1e-3, atol=1e-4)


def test_calls_between_functions_of_a_module(params) -> None:
    """A `main` in TensorIR that calls the others, in place of a graph."""

    @I.ir_module
    class Whole:
        @T.prim_func(private=True)
        def relu(X: T.Buffer((1, 48), "float32"), Y: T.Buffer((1, 48), "float32")):
            for i, j in T.grid(1, 48):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

        @T.prim_func
        def main(X: T.Buffer((1, 48), "float32"), Y: T.Buffer((1, 48), "float32")):
            Whole.relu(X.data, Y.data)

    x = np.random.default_rng(0).standard_normal((1, 48), dtype="float32")
    y = np.zeros_like(x)
    tvm.build(Whole, target="llvm")["main"](x, y)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
