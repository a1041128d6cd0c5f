import platform
import warnings

import numpy as np
import pytest

import tirscript as ts
from tirscript.diagnostics import BoundsWarning, LowerError, NotYetError, TargetError, TirscriptError
from tirscript.ir.module import IRModule
from tirscript.lowering import pass_names
from tirscript.script import ir as I
from tirscript.script import tir as T
from tirscript.target import Target


@T.prim_func
def twice(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)


@T.prim_func(private=True)
def hidden(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.float32(1)


def run(mod, name="twice"):
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    mod[name](a, b)
    return b


WANT = np.arange(8, dtype="float32") * 2


@pytest.mark.parametrize("target", ["llvm", "llvm -O=0", "python", Target("llvm"), {"kind": "python"}])
def test_build_runs(target):
    np.testing.assert_array_equal(run(ts.build(twice, target)), WANT)
    np.testing.assert_array_equal(run(ts.compile(IRModule.from_expr(twice), target=target)), WANT)


def test_target_none_is_the_enclosing_one_then_the_attribute_then_llvm():
    with Target("python"):
        assert ts.build(twice, None).target == Target("python")
    assert ts.build(twice.with_attr("target", Target("python")), target=None).target == Target("python")
    assert ts.build(twice.with_attr("target", "python"), target=None).target == Target("python")
    assert ts.build(twice, target=None).target == Target("llvm")
    with Target("python"):
        assert ts.build(twice, "llvm").target == Target("llvm")


def test_two_targets_in_one_module():
    mod = IRModule(
        {
            "f": twice.with_attr("global_symbol", "f"),
            "g": twice.with_attr({"global_symbol": "g", "target": "python"}),
        }
    )
    built = ts.build(mod, target=None)
    np.testing.assert_array_equal(run(built, "f"), WANT)
    np.testing.assert_array_equal(run(built, "g"), WANT)
    assert [m.target.kind for m in built.imported_modules] == ["llvm", "python"]


def test_name_renames_the_function():
    np.testing.assert_array_equal(run(ts.build(twice, name="double"), "double"), WANT)
    np.testing.assert_array_equal(run(ts.build(IRModule.from_expr(twice), name="double"), "double"), WANT)
    assert ts.lower(twice, name="double").names() == ["double"]
    with pytest.raises(TirscriptError, match="non-empty string"):
        ts.build(twice, name="")
    with pytest.raises(TirscriptError, match="has 2"):
        ts.build(IRModule({"f": twice, "g": hidden}), name="h")


def test_the_table_is_taken_as_it_is_when_built():
    mod = IRModule.from_expr(twice)
    built = ts.build(mod)
    lowered = ts.lower(mod)
    assert mod["twice"] is twice
    assert lowered["twice"] is not twice
    mod["twice"] = hidden
    np.testing.assert_array_equal(run(built), WANT)


def test_private_functions_are_not_exported():
    built = ts.build(IRModule({"twice": twice, "hidden": hidden}))
    assert list(built.functions) == ["twice"]
    with pytest.raises(KeyError):
        built["hidden"]
    with pytest.raises(TirscriptError) as caught:
        ts.build(IRModule({"f": hidden, "g": hidden.replace()}))
    assert caught.value.code == "no-entry"
    # The only function of a module is called `main`.
    a = np.zeros(8, "float32")
    ts.build(hidden)["main"](a)
    assert (a == 1).all()


@pytest.mark.parametrize("given", [[twice], (1, 2)])
def test_a_list_of_tensors_names_create_prim_func(given):
    for act in (lambda: ts.build(given), lambda: ts.build(twice, given), lambda: ts.lower(twice, given)):
        with pytest.raises(TirscriptError) as caught:
            act()
        assert "te.create_prim_func" in str(caught.value)


def test_what_is_no_program_is_refused():
    with pytest.raises(TirscriptError, match="not int"):
        ts.build(3)
    with pytest.raises(TirscriptError, match=r"sch\.mod"):
        ts.build(ts.Schedule(twice))
    with pytest.raises(TirscriptError) as caught:
        ts.build(IRModule())
    assert caught.value.code == "empty-module"
    with pytest.raises(TargetError, match="llvm"):
        ts.build(twice, "llvn")
    with pytest.raises(TargetError, match="attribute `target`"):
        ts.build(twice.with_attr("target", "llvn"), target=None)


@pytest.mark.parametrize("kind", ["cuda", "opencl", "metal"])
def test_gpu_targets_are_not_yet(kind):
    with pytest.raises(NotYetError) as caught:
        ts.build(twice, kind)
    assert kind in str(caught.value)


def test_gpu_intrinsics_name_the_call_and_its_line():
    @T.prim_func
    def sync(A: T.Buffer((8,), "float32")):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            A[t] = T.float32(1)
            T.evaluate(T.tvm_storage_sync("shared"))

    with pytest.raises(NotYetError) as caught:
        ts.build(sync)
    text = str(caught.value)
    assert "tvm_storage_sync" in text
    assert 'T.evaluate(T.tvm_storage_sync("shared"))' in text


def test_stop_after():
    first = ts.lower(twice, stop_after=pass_names()[0])
    assert first["twice"].body is twice.body
    assert "T.block" in ts.lower(twice, stop_after="lower_init_block").script()
    assert "T.block" not in ts.lower(twice, stop_after="LowerOpaqueBlock").script()
    with pytest.raises(LowerError) as caught:
        ts.lower(twice, stop_after="flatten_bufer")
    assert "did you mean `flatten_buffer`?" in str(caught.value)


def test_sources():
    built = ts.build(twice)
    assert "define" in built.get_source()
    assert "A_flat" in built.get_source("script")
    assert built.get_source("asm")
    assert "def twice" in ts.build(twice, "python").get_source()


def test_functions_call_each_other():
    @I.ir_module
    class Module:
        @T.prim_func(private=True)
        def one(A: T.Buffer((8,), "float32")):
            for i in range(8):
                A[i] = A[i] + T.float32(1)

        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            Module.one(A.data)
            Module.one(A.data)

    a = np.zeros(8, "float32")
    ts.build(Module)(a)
    assert (a == 2).all()


def test_accesses_that_are_certainly_outside_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundsWarning)

        @T.prim_func
        def outside(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int32")):
            for i in range(8):
                with T.block("O"):
                    vi = T.axis.spatial(8, i)
                    O[vi] = A[vi + 1]

    for target in ("llvm", "python"):
        with pytest.raises(LowerError) as caught:
            ts.build(outside, target)
        assert "A" in str(caught.value)
        assert "8" in str(caught.value)


@pytest.mark.parametrize("target", ["llvm", "python"])
def test_a_program_that_is_not_well_formed_is_named_as_that(target):
    broken = hidden.replace(body=hidden.body.body)  # the loop variable is not defined
    with pytest.raises(TirscriptError, match="`i` is not defined") as caught:
        ts.build(broken, target)
    assert caught.value.code != "internal"


def test_defects_are_owned(monkeypatch):
    import tirscript.lowering

    def fail(*_):
        raise KeyError("x")

    monkeypatch.setattr(tirscript.lowering, "lower_module", fail)
    with pytest.raises(TirscriptError, match="internal error while building `twice`: KeyError"):
        ts.build(twice)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("llvm -mcpu=nonsense", "nonsense"),
        ("llvm -mattr=+nonsense", "nonsense"),
        ("llvm -mattr=avx2", "+name or -name"),
    ],
)
def test_a_processor_that_llvm_does_not_know_is_refused(target, words):
    with pytest.raises(TargetError) as caught:
        ts.build(twice, target)
    assert words in str(caught.value)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86 names")
def test_processors_of_x86():
    for cpu in ("x86-64", "x86-64-v2", "core2"):
        np.testing.assert_array_equal(run(ts.build(twice, f"llvm -mcpu={cpu}")), WANT)
    np.testing.assert_array_equal(run(ts.build(twice, "llvm -mattr=-avx2")), WANT)
    # 32-bit only: LLVM would end the process.
    for cpu in ("i386", "pentium4"):
        with pytest.raises(TargetError):
            ts.build(twice, f"llvm -mcpu={cpu}")
