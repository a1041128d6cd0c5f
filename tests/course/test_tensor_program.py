"""Primitive tensor functions: a program defined, looked at, transformed, built and run.

Cell for cell the calls that the public course makes in its first chapter with code; only the import lines
differ from TVM's.
"""

from __future__ import annotations

import numpy as np
import pytest

import tirscript as tvm
from tirscript import te
from tirscript.ir.module import IRModule
from tirscript.script import tir as T


@tvm.script.ir_module
class Shifted:
    @T.prim_func
    def main(A: T.Buffer(96, "float32"), B: T.Buffer(96, "float32"), C: T.Buffer(96, "float32")):
        # extra annotations for the function
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i in range(96):
            with T.block("C"):
                # declare a data parallel iterator on the spatial domain
                vi = T.axis.spatial(96, i)
                C[vi] = A[vi] - B[vi]


@tvm.script.ir_module
class ShiftedOld:
    @T.prim_func
    def main(A: T.Buffer[(96,), "float32"], B: T.Buffer[96, "float32"], C: T.Buffer[[96], "float32"]) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i in T.serial(0, 96):
            with T.block("C"):
                vi = T.axis.S(96, i)
                C[vi] = A[vi] - B[vi]


def operands():
    rng = np.random.default_rng(0)
    return rng.random(96, dtype="float32"), rng.random(96, dtype="float32")


def run(mod, name="main"):
    a_np, b_np = operands()
    a, b = tvm.nd.array(a_np), tvm.nd.array(b_np)
    c = tvm.nd.empty((96,), dtype="float32")
    rt_mod = tvm.build(mod, target="llvm")
    func = rt_mod[name]
    func(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a_np - b_np, rtol=1e-6)


def test_a_module_and_its_function_are_shown_and_have_types(capsys) -> None:
    assert type(Shifted) is tvm.IRModule is IRModule
    assert isinstance(Shifted["main"], tvm.tir.PrimFunc)
    Shifted.show()
    shown = capsys.readouterr().out
    assert "vi = T.axis.spatial(96, i)" in shown
    Shifted["main"].show()
    assert "def main(" in capsys.readouterr().out
    assert "def main(" in Shifted.script() and "def main(" in Shifted["main"].script()
    assert Shifted["main"].attrs["tir.noalias"] and Shifted["main"].attrs["global_symbol"] == "main"


def test_the_old_spelling_is_the_same_program() -> None:
    tvm.ir.assert_structural_equal(Shifted, ShiftedOld)


def test_build_and_run() -> None:
    run(Shifted)
    rt_mod = tvm.build(Shifted, target="llvm")
    assert type(rt_mod) is tvm.runtime.Module
    a_np, b_np = operands()
    c = tvm.nd.array(np.empty((96,), dtype="float32"))
    rt_mod(tvm.nd.array(a_np), tvm.nd.array(b_np), c)  # the only function
    np.testing.assert_allclose(c.numpy(), a_np - b_np, rtol=1e-6)
    assert rt_mod.entry_name == "main"
    with tvm.target.Target("llvm"):
        run(Shifted)


def test_transform_step_by_step() -> None:
    sch = tvm.tir.Schedule(Shifted)
    assert type(sch) is tvm.tir.schedule.Schedule
    block_c = sch.get_block("C")
    (i,) = sch.get_loops(block_c)
    i_0, i_1, i_2 = sch.split(i, factors=[None, 4, 4])
    assert "for i_0, i_1, i_2 in T.grid(6, 4, 4):" in sch.mod.script()
    sch.reorder(i_0, i_2, i_1)
    assert "for i_0, i_2, i_1 in T.grid(6, 4, 4):" in sch.mod.script()
    sch.parallel(i_0)
    assert "for i_0 in T.parallel(6):" in sch.mod.script()
    run(sch.mod)
    # The given module is as it was.
    tvm.ir.assert_structural_equal(Shifted, ShiftedOld)


def test_two_blocks_one_fused_by_hand(capsys) -> None:
    @tvm.script.ir_module
    class Two:
        @T.prim_func
        def main(A: T.Buffer((8, 12), "float32"), B: T.Buffer((8, 12), "float32")):
            M = T.alloc_buffer((8, 12), dtype="float32")
            for i, j in T.grid(8, 12):
                with T.block("M"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    M[vi, vj] = A[vi, vj] * 2.0
            for i, j in T.grid(8, 12):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = M[vi, vj] + 1.0

    sch = tvm.tir.Schedule(Two)
    m, b = sch.get_block("M"), sch.get_block("B")
    assert [sch.get(x).name_hint for x in sch.get_consumers(m)] == ["B"]
    assert [sch.get(x).name_hint for x in sch.get_producers(b)] == ["M"]
    assert [sch.get(x).name_hint for x in sch.get_child_blocks(sch.get_block("root"))] == ["M", "B"]
    sch.compute_inline(m)
    assert "M = " not in sch.mod.script()
    print(sch.mod.script())
    assert "* T.float32(2)" in capsys.readouterr().out
    a = np.ones((8, 12), "float32")
    out = np.empty_like(a)
    tvm.build(sch.mod, target="llvm")["main"](a, out)
    assert (out == 3).all()


def test_the_same_program_as_a_tensor_expression() -> None:
    A = te.placeholder((96,), name="A", dtype="float32")
    B = te.placeholder((96,), name="B")
    C = te.compute((96,), lambda i: A[i] - B[i], name="C")
    func = te.create_prim_func([A, B, C])
    assert isinstance(func, tvm.tir.PrimFunc)
    func_named = func.with_attr("global_symbol", "difference")
    MyModule = IRModule({"difference": func_named})
    assert [g.name_hint for g in MyModule.get_global_vars()] == ["difference"]
    assert MyModule.get_global_var("difference").name_hint == "difference"
    run(MyModule, "difference")
    run(tvm.IRModule.from_expr(func_named), "difference")
    both = func.with_attr({"global_symbol": "main", "tir.noalias": True})
    tvm.ir.assert_structural_equal(IRModule({"main": both}), Shifted)


def test_text_and_files() -> None:
    again = tvm.script.from_source(Shifted.script())
    tvm.ir.assert_structural_equal(again, Shifted)
    import pickle

    tvm.ir.assert_structural_equal(pickle.loads(pickle.dumps(Shifted)), Shifted)


@pytest.mark.parametrize("which", [tvm.build, tvm.compile], ids=["build", "compile"])
def test_the_newer_spellings(which) -> None:
    @tvm.script.ir_module
    class New:
        @T.prim_func(s_tir=True)
        def main(A: T.Buffer((96,), "float32"), B: T.Buffer((96,), "float32"), C: T.Buffer((96,), "float32")):
            T.func_attr({"global_symbol": "main", "tirx.noalias": True})
            for i in range(96):
                with T.sblock("C"):
                    vi = T.axis.spatial(96, i)
                    C[vi] = A[vi] - B[vi]

    tvm.ir.assert_structural_equal(New, Shifted)
    sch = tvm.s_tir.Schedule(New)
    (i,) = sch.get_loops(sch.get_sblock("C"))
    sch.vectorize(sch.split(i, factors=[None, 8])[1])
    a_np, b_np = operands()
    a, b = tvm.runtime.tensor(a_np), tvm.runtime.tensor(b_np)
    c = tvm.runtime.empty((96,), "float32")
    lib = which(sch.mod, target="llvm")
    lib.mod["main"](a, b, c)
    assert isinstance(c, tvm.runtime.Tensor)
    np.testing.assert_allclose(c.numpy(), a_np - b_np, rtol=1e-6)
