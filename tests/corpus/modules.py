"""Modules: several functions, calls between them, attributes, private functions."""

TEXT = '''
#: module_one run
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + T.float32(1)

#: module_two_functions
@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def first(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = T.float32(1)

    @T.prim_func
    def second(A: T.Buffer((8,), "float32"), n: T.int32):
        for i in range(n):
            A[i] = T.float32(2)

#: module_attributes
@I.ir_module
class Module:
    I.module_attrs({"system_lib_prefix": "p_", "level": 3, "flags": [1, 2]})

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        A[0] = T.float32(0)

#: module_calls
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = A[i] * T.float32(2)

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        cls = Module
        cls.double(A.data)
        Module.double(A.data)

#: module_call_with_value
@I.ir_module
class Module:
    @T.prim_func
    def square(x: T.int32) -> T.int32:
        T.ret(x * x)

    @T.prim_func
    def main(A: T.Buffer((8,), "int32")):
        for i in range(8):
            A[i] = Module.square(A[i]) + 1

#: module_global_infos
@I.ir_module
class Module:
    I.module_global_infos({"dummy": [I.dummy_global_info()]})

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        A[0] = T.float32(0)

#: module_two_targets
@I.ir_module
class Module:
    @T.prim_func
    def on_cpu(A: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target("llvm"), "tir.noalias": True})
        A[0] = T.float32(0)

    @T.prim_func
    def on_gpu(A: T.Buffer((8,), "float32")):
        T.func_attr({"target": T.target({"kind": "cuda", "arch": "sm_80"})})
        A[0] = T.float32(1)

#: module_several_defs
@T.prim_func
def one(A: T.Buffer((4,), "int32")):
    A[0] = 1


@T.prim_func
def two(A: T.Buffer((4,), "int32")):
    A[1] = 2

#: module_pipeline run
@I.ir_module
class Pipeline:
    @T.prim_func
    def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), D: T.Buffer((8, 8), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        C = T.alloc_buffer((8, 8))
        for i, j, k in T.grid(8, 8, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(8, 8):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vi, vj] + T.float32(1)

#: module_imports_and_docstring
from tirscript.script import ir as I
from tirscript.script import tir as T


@I.ir_module
class Module:
    """A module with a docstring."""

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        """And a function with one."""
        A[0] = T.float32(0)

#: module_unchecked
@I.ir_module(check_well_formed=False)
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        A[0] = T.float32(0)
'''
