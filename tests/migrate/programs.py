"""Programs in the manner of each era, each with assertions of its own, so that running it is the test."""

COURSE = """\
# A program in the manner of 2022: T.block in a comment stays.
import numpy as np
import tvm
from tvm import te, tir
from tvm.ir.module import IRModule
from tvm.script import tir as T  # the language
import tvm.testing


@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def mm_relu(A: T.Buffer[(16, 16), "float32"],
                B: T.Buffer[(16, 16), "float32"],
                C: T.Buffer[(16, 16), "float32"]):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((16, 16), dtype="float32")
        for i, j, k in T.grid(16, 16, 16):
            with T.block("Y"):
                vi = T.axis.spatial(16, i)
                vj = T.axis.spatial(16, j)
                vk = T.axis.reduce(16, k)
                with T.init():
                    Y[vi, vj] = T.float32(0)
                x = A[vi, vk]
                Y[vi, vj] = Y[vi, vj] + x * B[vk, vj]
        for i, j in T.grid(16, 16):
            with T.block("C"):
                T.block_attr({"note": 1})
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


class Registry:
    def get_block(self, name):
        return name


def transform(mod, jfactor):
    sch = tvm.tir.Schedule(mod)
    sch.work_on("mm_relu")
    block_Y = sch.get_block("Y", func_name="mm_relu")
    i, j, k = sch.get_loops(block_Y)
    j0, j1 = sch.split(j, factors=[None, jfactor])
    sch.reorder(i, j0, k, j1)
    block_C = sch.get_block("C", "mm_relu")
    sch.reverse_compute_at(block_C, j0)
    return sch


registry = Registry()
assert registry.get_block("x") == "x"
sch = transform(MyModule, 4)
rt_lib = tvm.build(sch.mod, target="llvm -opt-level=3")
a = np.random.default_rng(0).random((16, 16)).astype("float32")
b = np.random.default_rng(1).random((16, 16)).astype("float32")
a_nd = tvm.nd.array(a)
b_nd = tvm.nd.array(b)
c_nd = tvm.nd.empty((16, 16), dtype="float32")
rt_lib["mm_relu"](a_nd, b_nd, c_nd)
tvm.testing.assert_allclose(c_nd.asnumpy(), np.maximum(a @ b, 0), rtol=1e-5)
timer = rt_lib.time_evaluator("mm_relu", tvm.cpu(), number=2)
assert timer(a_nd, b_nd, c_nd).mean > 0
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + tir.const(1, "float32"), name="B")
func = te.create_prim_func([A, B])
sch2 = tir.Schedule(func)
(l,) = sch2.get_loops(sch2.get_block("B"))
assert isinstance(func, tir.PrimFunc)
assert "main" in str(IRModule({"main": func}))


@tvm.register_func("migrated.addone", override=True)
def addone(x):
    return None
"""

# What the language of 0.27 says differently inside functions.
LANGUAGE = """\
import numpy as np
import tirscript as tvm
from tirscript.script import ir as I, tir as T

N = 8


@I.ir_module
class Parts:
    @T.prim_func
    def apply(a: T.handle, b: T.handle, k: T.int32):
        T.func_attr({"tir.noalias": True})
        n = T.int32()
        A = T.match_buffer(a, (n, N), "int32")
        B = T.match_buffer(b, (n, N), "int32")
        for i in range(n):
            j: T.int32 = i + 0
            low = T.min(j, k)
            for c in range(N):
                B[j, c] = A[j, c] * 2 + low


@T.prim_func
def vectors(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    P = T.decl_buffer((8,), "float32")
    for i in range(4):
        P[0:8] = A[i, 0:8]
        B[i, 0:8] = P[0:8] * T.Broadcast(T.float32(3), 8)


rng = np.random.default_rng(0)
a = rng.integers(0, 9, (4, 8)).astype("int32")
b = np.zeros((4, 8), "int32")
lib = tvm.build(Parts, target="llvm")
lib["apply"](tvm.runtime.tensor(a), b_nd := tvm.runtime.tensor(b), 2)
np.testing.assert_array_equal(b_nd.numpy(), a * 2 + np.minimum(np.arange(4), 2)[:, None])
x = rng.random((4, 8)).astype("float32")
y = tvm.runtime.empty((4, 8), "float32")
tvm.build(vectors, target="llvm")["vectors"](tvm.runtime.tensor(x), y)
np.testing.assert_allclose(y.numpy(), x * 3, rtol=1e-6)
"""
