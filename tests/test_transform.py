"""Passes over modules, and the context that they run in: what they do to programs and to their results."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tirscript as tvm
from tirscript import tir
from tirscript.lowering import PASSES
from tirscript.lowering.context import OTHER_PASSES, PASS_NAMES
from tirscript.script import from_source
from tirscript.transform import PassContext, PassContextError, Sequential

t = tir.transform


def module(text: str, extra: str = "") -> tvm.IRModule:
    body = "\n".join("    " + line for line in text.strip("\n").splitlines())
    return tvm.IRModule.from_expr(
        from_source(f'@T.prim_func\ndef f(A: T.Buffer((16,), "float32"){extra}):\n{body}\n')
    )


def text_of(mod: tvm.IRModule) -> str:
    """The body's lines."""
    lines = mod["f"].script().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("def f"))
    return "\n".join(line[4:] for line in lines[start + 1 :])


SHIFTED = "for i in range(2):\n    A[i + 1 - i] = A[i]"
MATMUL = from_source("""
@T.prim_func
def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    D = T.alloc_buffer((16, 16))
    for i, j, k in T.grid(16, 16, 16):
        with T.block("D"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = T.float32(0)
            D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vi, vj] + T.float32(1)
""")


# ---- single passes


def test_passes_in_the_order_of_tvm_lower_a_program() -> None:
    sch = tir.Schedule(MATMUL)
    sch.split(sch.get_loops("C")[1], [None, 3])
    sch.vectorize(sch.split(sch.get_loops("D")[1], [None, 4])[1])
    passes = [
        t.LowerInitBlock(), t.PlanAndUpdateBufferAllocationLocation(), t.ConvertBlocksToOpaque(),
        t.CompactBufferAllocation(), t.LowerMatchBuffer(), t.LowerOpaqueBlock(), t.LoopPartition(),
        t.Simplify(), t.FlattenBuffer(), t.VectorizeLoop(), t.UnrollLoop(), t.Simplify(), t.RemoveNoOp(),
    ]  # fmt: skip
    lowered = Sequential(passes)(sch.mod)
    seen: list[Any] = []
    tir.stmt_functor.post_order_visit(lowered["f"].body, seen.append)
    assert not any(isinstance(n, (tir.Block, tir.BlockRealize)) for n in seen)
    assert not any(isinstance(n, tir.For) and n.kind == "vectorized" for n in seen)
    assert all(len(n.indices) == 1 for n in seen if isinstance(n, (tir.BufferLoad, tir.BufferStore)))
    rng = np.random.default_rng(0)
    a, b = rng.random((16, 16), "float32"), rng.random((16, 16), "float32")
    c = np.zeros((16, 16), "float32")
    tvm.build(lowered)(a, b, c)
    np.testing.assert_allclose(c, a @ b + 1, rtol=1e-5)


ONE = "A[1] = T.float32(1)"
SINGLE: dict[str, tuple[Any, str, str]] = {
    "Simplify": (t.Simplify, SHIFTED, "for i in range(2):\n    A[1] = A[i]"),
    "UnrollLoop": (
        t.UnrollLoop,
        "for i in T.unroll(2):\n    A[i] = T.float32(1)",
        f"A[0] = T.float32(1)\n{ONE}",
    ),
    "VectorizeLoop": (t.VectorizeLoop, "for i in T.vectorized(4):\n    A[i] = A[i]", "A[0:4] = A[0:4]"),
    "VectorizeLoop off": (
        lambda: t.VectorizeLoop(False),
        "for i in T.vectorized(4):\n    A[i] = A[i]",
        "for i in range(4):\n    A[i] = A[i]",
    ),
    "CanonicalizeLoop": (
        t.CanonicalizeLoop,
        "for i in range(2, 10, 2):\n    A[i] = T.float32(1)",
        "for i in range(4):\n    A[2 + i * 2] = T.float32(1)",
    ),
    "RemoveNoOp": (t.RemoveNoOp, f"{ONE}\nT.evaluate(0)", ONE),
    "SkipAssert": (t.SkipAssert, f'assert A[0] > T.float32(0), "m"\n{ONE}', ONE),
    "RemoveAssume": (t.RemoveAssume, f"T.assume(A[0] > T.float32(0))\n{ONE}", ONE),
    "RemoveStoreUndef": (t.RemoveStoreUndef, f'A[0] = T.undef(dtype="float32")\n{ONE}', ONE),
    "LoopPartition": (
        t.LoopPartition,
        "for i in range(16):\n    if i < 12:\n        A[i] = T.float32(1)",
        "for i in range(12):\n    A[i] = T.float32(1)\n"
        "for i in range(12, 16):\n    if i < 12:\n        A[i] = T.float32(1)",
    ),
    "LowerOpaqueBlock": (
        t.LowerOpaqueBlock,
        f'with T.block("b"):\n    T.reads()\n    T.writes(A[1])\n    {ONE}',
        ONE,
    ),
}


@pytest.mark.parametrize("what", SINGLE)
def test_one_pass(what: str) -> None:
    make, before, after = SINGLE[what]
    mod = module(before)
    kept = mod.script()
    assert text_of(make()(mod)) == after
    assert mod.script() == kept


def test_blocks_and_inits_become_plain() -> None:
    mod = module("""
for i in range(4):
    with T.block("B"):
        v = T.axis.reduce(4, i)
        with T.init():
            A[0] = T.float32(0)
        A[0] = A[0] + A[v + 1]
""")  # fmt: skip
    lowered = t.LowerInitBlock()(mod)
    seen: list[Any] = []
    tir.stmt_functor.post_order_visit(lowered["f"].body, seen.append)
    assert all(n.init is None for n in seen if isinstance(n, tir.Block))
    opaque = t.ConvertBlocksToOpaque()(lowered)
    seen.clear()
    tir.stmt_functor.post_order_visit(opaque["f"].body, seen.append)
    assert all(not n.iter_vars for n in seen if isinstance(n, tir.Block))
    a = np.arange(16, dtype="float32")
    tvm.build(opaque)(a)
    assert a[0] == 10.0


def test_targets_entries_filters() -> None:
    mod = module("A[0] = T.float32(1)")
    bound = t.BindTarget("llvm -num-cores=2")(mod)
    assert str(bound["f"].attrs["target"]) == "llvm -num-cores=2" and "target" not in mod["f"].attrs
    assert t.AnnotateEntryFunc()(mod)["f"].attrs["tir.is_entry_func"] is True
    assert t.Filter(lambda f: "k" in f.attrs)(mod).names() == []
    assert t.Apply(lambda f: f.with_attr("k", 1))(mod)["f"].attrs["k"] == 1


@pytest.mark.parametrize("name", sorted(PASS_NAMES))
def test_every_pass_of_ours_is_there(name: str) -> None:
    p = getattr(t, name)()
    assert p.info.name == f"tir.{name}" and p.info.opt_level == 0
    assert p(module("A[0] = T.float32(1)"))["f"] is not None
    assert PASS_NAMES[name] in {q.__name__ for q in PASSES}


@pytest.mark.parametrize("name", ["StorageRewrite", "ThreadSync", "NarrowDataType", "LowerIntrin"])
def test_absent_passes_say_so(name: str) -> None:
    assert name in OTHER_PASSES
    with pytest.raises(tvm.NotYetError, match=name):
        getattr(t, name)()


def test_a_pass_takes_a_module() -> None:
    with pytest.raises(tvm.TirscriptError, match="from_expr"):
        t.Simplify()(MATMUL)
    with pytest.raises(tvm.TirscriptError, match="not int"):
        t.Simplify()(3)


# ---- passes of one's own


def test_module_and_function_passes() -> None:
    @tvm.transform.module_pass(opt_level=1, name="Doubled")
    def doubled(mod: Any, ctx: Any) -> Any:
        new = mod.copy()
        new.update_func("g", mod["f"].with_attr("global_symbol", "g"))
        return new

    @tir.transform.prim_func_pass(opt_level=0)
    class Marked:
        """Marks functions."""

        def __init__(self, word: str) -> None:
            self.word = word

        def transform_function(self, func: Any, mod: Any, ctx: Any) -> Any:
            return func.with_attr("word", self.word)

    mod = module("A[0] = T.float32(1)")
    out = Sequential([doubled, Marked("w")])(mod)
    assert out.names() == ["f", "g"] and {f.attrs["word"] for f in out.functions.values()} == {"w"}
    assert (doubled.info.name, doubled.info.opt_level) == ("Doubled", 1)
    # A pass above the context's level is left out, a required one is not.
    with PassContext(opt_level=0):
        assert Sequential([doubled])(mod).names() == ["f"]
    with PassContext(opt_level=0, required_pass=[]):
        assert Sequential([t.Simplify()])(mod).names() == ["f"]
    with PassContext(disabled_pass=["tir.Simplify"]):
        kept = Sequential([t.Simplify()])(module(SHIFTED))
    assert text_of(kept) == SHIFTED


def test_faults_of_passes() -> None:
    @tvm.transform.module_pass(opt_level=0)
    def nothing(mod: Any, ctx: Any) -> Any:
        return None

    mod = module("A[0] = T.float32(1)")
    with pytest.raises(tvm.TirscriptError, match="gives NoneType"):
        nothing(mod)
    with pytest.raises(tvm.TirscriptError, match="needs an opt_level"):
        tvm.transform.module_pass(lambda mod, ctx: mod)
    with pytest.raises(tvm.TirscriptError, match="made of passes"):
        Sequential([3])  # type: ignore[list-item]
    with pytest.raises(tvm.TirscriptError, match="transform_module"):
        tvm.transform.module_pass(opt_level=0)(type("P", (), {}))


# ---- the context


VECTOR = """
for i in T.vectorized(16):
    A[i] = A[i] + T.float32(1)
"""


def lowered_in(text: str, **context: Any) -> str:
    with PassContext(**context):
        return text_of(tvm.lower(module(text)))


def test_options_change_what_lowering_makes() -> None:
    assert "T.Broadcast" in lowered_in(VECTOR)
    off = lowered_in(VECTOR, config={"tir.disable_vectorize": True})
    assert "for i in range(16)" in off and "T.Broadcast" not in off
    assert off == lowered_in(VECTOR, disabled_pass=["tir.VectorizeLoop"])
    said = 'assert A[0] > T.float32(0), "m"\nA[1] = T.float32(1)'
    assert "assert" in lowered_in(said) and "assert" not in lowered_in(
        said, config={"tir.disable_assert": True}
    )
    loop = "for i in range(4):\n    A[i] = T.float32(1)"
    unrolled = lowered_in(loop, config={"tir.UnrollLoop": {"auto_max_step": 4}})
    assert "for" in lowered_in(loop) and unrolled.count("= T.float32(1)") == 4
    assert "for" in lowered_in(loop, config={"tir.UnrollLoop": {"auto_max_step": 3}})
    explicit = "for i in T.unroll(4):\n    A[i] = T.float32(1)"
    assert "T.unroll" in lowered_in(explicit, config={"tir.UnrollLoop": {"explicit_unroll": False}})
    guard = "for i in range(16):\n    if i < 12:\n        A[i] = T.float32(1)"
    assert "if" not in lowered_in(guard)
    assert "if" in lowered_in(guard, config={"tir.LoopPartition": {"partition_const_loop": False}})
    assert "if" in lowered_in(guard, disabled_pass=["LoopPartition"])


@pytest.mark.parametrize(
    "config",
    [
        {"tir.disable_vectorize": True},
        {"tir.UnrollLoop": {"auto_max_step": 64}},
        {"tir.LoopPartition": {"partition_const_loop": False}},
        {"tir.instrument_bound_checkers": True},
        {"tir.noalias": False},
        {"tir.disable_cse_tir": True},
    ],
)
def test_results_are_the_same_under_every_option(config: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((16, 16), "float32"), rng.random((16, 16), "float32")
    c = np.zeros((16, 16), "float32")
    sch = tir.Schedule(MATMUL)
    sch.vectorize(sch.split(sch.get_loops("C")[1], [None, 3])[1])
    with PassContext(config=config):
        tvm.build(sch.mod)(a, b, c)
    np.testing.assert_allclose(c, a @ b + 1, rtol=1e-5)


def test_bound_checkers_catch_an_access() -> None:
    mod = module("A[n] = T.float32(1)", ", n: T.int32")
    with PassContext(config={"tir.instrument_bound_checkers": True}):
        checked = tvm.build(mod)
    with pytest.raises(tvm.CheckFailed):
        checked(np.zeros(16, "float32"), 16)


def test_passes_that_the_user_adds() -> None:
    order: list[str] = []

    def note(phase: int) -> Any:
        def added(func: Any) -> Any:
            blocks: list[Any] = []
            tir.stmt_functor.post_order_visit(
                func.body, lambda n: blocks.append(n) if isinstance(n, tir.Block) else None
            )
            order.append(f"{phase}: {'blocks' if blocks else 'loops'}")
            return func

        return added

    with PassContext(config={"tir.add_lower_pass": [(3, note(3)), (0, note(0)), (1, note(1)), (2, note(2))]}):
        tvm.lower(tvm.IRModule.from_expr(MATMUL))
    assert order == ["0: blocks", "1: loops", "2: loops", "3: loops"]
    with PassContext(config={"tir.add_lower_pass": [(0, t.Apply(lambda f: f.with_attr("k", 7)))]}):
        assert tvm.lower(module("A[0] = T.float32(1)"))["f"].attrs["k"] == 7


def test_the_python_target_takes_what_it_can() -> None:
    mod = module('assert A[0] > T.float32(0), "m"\nA[1] = T.float32(1)')
    a = np.zeros(16, "float32")
    with PassContext(config={"tir.disable_assert": True}):
        tvm.build(mod, "python")(a)
    assert a[1] == 1.0
    with pytest.raises(tvm.AssertFailed):
        tvm.build(mod, "python")(a)
    doubled = t.Apply(lambda f: f.with_body(tir.SeqStmt([f.body, tir.BufferStore(f.buffers[0], 7.0, [2])])))
    with PassContext(config={"tir.add_lower_pass": [(0, doubled)], "tir.disable_assert": True}):
        tvm.build(mod, "python")(a)
    assert a[2] == 7.0
    late = PassContext(config={"tir.add_lower_pass": [(2, doubled)]})
    with late, pytest.raises(PassContextError, match="phase 2"):
        tvm.build(mod, "python")


def test_one_context_in_many_threads() -> None:
    cx = PassContext(opt_level=1)
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(200):
                with cx, PassContext(opt_level=3), cx:
                    assert PassContext.current() is cx
        except BaseException as e:  # told to the test
            faults.append(e)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not faults and PassContext.current().opt_level == 2


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"config": {"tir.disable_vectorise": True}}, PassContextError, "did you mean `tir.disable_vectorize`?"),
    ({"config": {"tir.UnrollLoop": {"auto_max_stp": 1}}}, PassContextError, "did you mean `auto_max_step`?"),
    ({"config": {"tir.UnrollLoop": {"auto_max_step": "x"}}}, PassContextError, "`auto_max_step`"),
    ({"config": {"tir.disable_vectorize": "yes"}}, PassContextError, "is a bool, not 'yes'"),
    ({"config": {"tir.add_lower_pass": [(9, len)]}}, PassContextError, "0, 1, 2 or 3"),
    ({"config": {"tir.add_lower_pass": [3]}}, PassContextError, "pairs (phase, pass)"),
    ({"config": [1]}, PassContextError, "config is a dict"),
    ({"config": {"tir.use_async_copy": True}}, tvm.NotYetError, "tir.use_async_copy"),
    ({"config": {"tir.InjectSoftwarePipeline": {"x": 1}}}, tvm.NotYetError, "tir.InjectSoftwarePipeline"),
    ({"config": {"relax.backend.use_cuda_graph": True}}, tvm.NotYetError, "relax.backend.use_cuda_graph"),
    ({"opt_level": 9}, PassContextError, "from 0 to 4"),
    ({"opt_level": "3"}, PassContextError, "from 0 to 4"),
    ({"disabled_pass": ["tir.UnrolLoop"]}, PassContextError, "did you mean `tir.UnrollLoop`?"),
    ({"disabled_pass": ["tir.FlattenBuffer"]}, PassContextError, "is needed to make code"),
    ({"disabled_pass": "tir.UnrollLoop"}, PassContextError, "list of names"),
    ({"required_pass": ["tir.Nothing"]}, PassContextError, "there is no pass"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_contexts(number: int) -> None:
    given, kind, said = WRONG[number]
    with pytest.raises(kind) as caught:
        PassContext(**given)
    assert said in str(caught.value)
    assert isinstance(caught.value, tvm.TirscriptError)


def test_options_that_ask_for_nothing_are_accepted() -> None:
    PassContext(
        config={
            "tir.use_async_copy": False,
            "tir.disable_storage_rewrite": True,
            "tirx.disable_cse_tir": True,
        }
    )
    PassContext(disabled_pass=["tir.CommonSubexprElimTIR", "relax.FuseOps"])
    listed = PassContext.list_configs()
    assert listed["tir.disable_vectorize"]["type"] == "bool" and all(o["doc"] for o in listed.values())


def test_contexts_nest_and_threads_have_their_own() -> None:
    assert PassContext.current().opt_level == 2
    seen: list[int] = []
    with PassContext(opt_level=3) as outer:
        with PassContext(opt_level=1):
            assert PassContext.current().opt_level == 1
        assert PassContext.current() is outer
        worker = threading.Thread(target=lambda: seen.append(PassContext.current().opt_level))
        worker.start()
        worker.join()
    assert seen == [2] and PassContext.current().opt_level == 2


# ---- instruments


def test_instruments_are_told_of_every_pass() -> None:
    told: list[tuple[str, str]] = []

    @tvm.instrument.pass_instrument
    class Notes:
        def enter_pass_ctx(self) -> None:
            told.append(("enter", ""))

        def exit_pass_ctx(self) -> None:
            told.append(("exit", ""))

        def should_run(self, mod: Any, info: Any) -> bool:
            return info.name != "loop_partition"

        def run_before_pass(self, mod: Any, info: Any) -> None:
            told.append(("before", info.name))

        def run_after_pass(self, mod: Any, info: Any) -> None:
            told.append(("after", info.name))

    with PassContext(instruments=[Notes()]):
        tvm.lower(module(VECTOR))
    assert told[0] == ("enter", "") and told[-1] == ("exit", "")
    ran = [name for what, name in told if what == "after"]
    assert ran == [p.__name__ for p in PASSES if p.__name__ != "loop_partition"]
    assert [n for w, n in told if w == "before"] == ran


def test_shipped_instruments(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    mod = module(SHIFTED)
    timing = tvm.instrument.PassTimingInstrument()
    dump = tvm.instrument.DumpIR(tmp_path / "ir")
    with PassContext(
        instruments=[tvm.instrument.PrintBeforeAll(), tvm.instrument.PrintAfterAll(), timing, dump]
    ):
        t.Simplify()(mod)
        assert "tir.Simplify" in timing.render()
    out = capsys.readouterr().out
    assert out.index("# Before running pass: tir.Simplify") < out.index("A[i + 1 - i]")
    assert out.index("# After running pass: tir.Simplify") < out.index("A[1] = A[i]")
    assert [p.name for p in (tmp_path / "ir").iterdir()] == ["000_Simplify.py"]
    same = from_source((tmp_path / "ir" / "000_Simplify.py").read_text())
    tvm.ir.assert_structural_equal(same, t.Simplify()(mod))
    tvm.transform.PrintIR("here")(mod)
    assert "# PrintIR(here)" in capsys.readouterr().out
    with PassContext(instruments=[tvm.instrument.PassPrintingInstrument(["tir.Simplify"], [])]):
        t.Simplify()(mod)
        t.RemoveNoOp()(mod)
    assert capsys.readouterr().out.count("running pass") == 1
