"""The tables of names that the course's programs and TVM's classic tests use: each name is called.

One case for every entry of a table; where a name has two spellings, both are called and give the same.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirscript as tvm
import tirscript.testing
from tirscript import te, tir, topi
from tirscript.contrib import clang, utils
from tirscript.ir.module import IRModule
from tirscript.script import ir as I
from tirscript.script import tir as T

same = tvm.ir.assert_structural_equal


def function(body: str, parameters: str = 'A: T.Buffer((16,), "float32")', head: str = "@T.prim_func") -> Any:
    """The function of a text."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return tvm.script.from_source(f"{head}\ndef f({parameters}):\n{lines}\n")


def run(f: Any, *arrays: Any) -> list[Any]:
    """The arrays after a call, on LLVM and on the python target, which must agree."""
    results = []
    for target in ("llvm", "python"):
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
        tvm.build(f, target)(*mine)
        results.append(mine)
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
    return results[0]


MATMUL = """
for i, j, k in T.grid(16, 16, 16):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
MATRICES = ", ".join([f'{name}: T.Buffer((16, 16), "float32")' for name in "ABC"])
CHAIN = """
B = T.alloc_buffer((16, 16))
for i, j in T.grid(16, 16):
    with T.block("B"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj] * T.float32(2)
for i, j in T.grid(16, 16):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = B[vi, vj] + T.float32(1)
"""
TWO = 'A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")'


def matmul() -> Any:
    return function(MATMUL, MATRICES)


def chain() -> Any:
    return function(CHAIN, TWO)


def keeps(func: Any, sch: Any) -> None:
    """The schedule computes what the function does."""
    rng = np.random.default_rng(7)
    shapes = [tuple(int(n) for n in b.shape) for b in func.buffers]
    arrays = [rng.integers(-4, 5, s).astype("float32") for s in shapes]
    before, after = [a.copy() for a in arrays], [a.copy() for a in arrays]
    tvm.build(func)(*before)
    tvm.build(sch.mod)(*after)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5)


# ---- imports


def test_the_import_lines() -> None:
    scope: dict[str, Any] = {}
    exec(
        """
import tirscript as tvm
from tirscript.ir.module import IRModule
from tirscript.script import ir as I, tir as T, relax as R
from tirscript import relax, te, tir, topi
from tirscript import meta_schedule as ms
import tirscript.testing
from tirscript.contrib import utils, clang
""",
        scope,
    )
    assert scope["IRModule"] is tvm.IRModule is tvm.ir.IRModule is tvm.ir.module.IRModule
    assert scope["T"] is tvm.script.tir is tvm.script.tirx


def test_submodules_are_attributes_without_importing_them() -> None:
    names = """
        te.placeholder topi.nn.relu testing.assert_allclose contrib.utils.tempdir contrib.clang.create_llvm
        tir.analysis.verify_well_formed tir.transform.Simplify tir.stmt_functor.substitute nd.array
        tir.schedule.testing.verify_trace_roundtrip target.Target transform.PassContext arith.Analyzer
        ir.transform.Sequential ir.module.IRModule script.ir_builder.IRBuilder s_tir.Schedule tirx.Var
        tir.tensor_intrin.x86 runtime.tensor te.compute script.ir_builder.tir.prim_func error.TVMError
    """.split()  # noqa: SIM905
    code = "import tirscript as tvm\n" + "\n".join(f"tvm.{n}" for n in names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- table: script


def _decorated() -> None:
    @tvm.script.ir_module
    class First:
        @T.prim_func
        def main(A: T.Buffer((4,), "float32")):
            A[0] = T.float32(1)

    @I.ir_module
    class Second:
        @T.prim_func(private=False, s_tir=False)
        def main(A: T.Buffer((4,), "float32")):
            A[0] = T.float32(1)

    same(First, Second)
    assert isinstance(First, IRModule)
    text = tvm.script.from_source(First.script())
    same(text, First)

    @T.prim_func(private=True)
    def hidden(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)

    assert "global_symbol" not in hidden.attrs

    @T.prim_func(s_tir=True)
    def newest(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)

    same(newest.with_attr("global_symbol", "main"), First["main"])


# ---- table: T declarations


def _buffers() -> None:
    for shape in ("16", "(16,)", "[16]"):
        for said in (f'T.Buffer({shape}, "float32")', f'T.Buffer[{shape}, "float32"]', f"T.Buffer({shape})"):
            f = function("A[3] = T.float32(2)", f"A: {said}")
            assert (len(f.buffers[0].shape), int(f.buffers[0].shape[0]), f.buffers[0].dtype) == (
                1,
                16,
                "float32",
            )


def _match_buffer() -> None:
    f = function(
        'A = T.match_buffer(a, (8, 4), dtype="int32", strides=["s", 1], elem_offset="o", offset_factor=1, '
        'align=64, scope="global")\nA[1, 2] = 7',
        "a: T.handle",
    )
    (b,) = f.buffers
    assert (b.dtype, b.align, b.offset_factor, b.scope, len(b.strides)) == ("int32", 64, 1, "global", 2)


def _alloc_buffer() -> None:
    texts = [
        f'B = T.{name}((16,), "float32", scope="shared")\nfor i in range(16):\n    with T.block("b"):\n'
        "        v = T.axis.spatial(16, i)\n        B[v] = A[v]"
        for name in ("alloc_buffer", "sblock_alloc_buffer")
    ]
    first, second = [function(t) for t in texts]
    same(first, second)
    assert first.body.block.alloc_buffers[0].scope() == "shared"


def _attributes() -> None:
    first = function('T.func_attr({"tir.noalias": True, "global_symbol": "f"})\nA[0] = T.float32(1)')
    second = function('T.func_attr({"tirx.noalias": True, "global_symbol": "f"})\nA[0] = T.float32(1)')
    same(first, second)
    assert first.attrs["tir.noalias"] is True
    said = 'with T.block("b"):\n    T.reads()\n    T.writes(A[0])\n    T.{}({{"k": 3}})\n    T.evaluate(0)'
    blocks = [function(said.format(n)) for n in ("block_attr", "sblock_attr")]
    same(*blocks)
    assert blocks[0].body.block.body.block.annotations == {"k": 3}


def _variables_and_casts() -> None:
    n_dim = 'A = T.match_buffer(a, (n,), "float32")\nfor i in range(n):\n    A[i] = T.float32(1)'
    for n in ("T.int32()", 'T.var("int32")', "T.int64()"):
        f = function(f"n = {n}\n{n_dim}", "a: T.handle")
        (a,) = run(f, np.zeros(5, "float32"))
        assert a.tolist() == [1.0] * 5
    f = function(
        "A[0] = T.int32(B[0])\nA[1] = T.int32(T.bool(B[0]))\nC[0] = T.int64(B[0]) * T.int64(4)",
        'A: T.Buffer((2,), "int32"), B: T.Buffer((1,), "float32"), C: T.Buffer((1,), "int64")',
    )
    a, _, c = run(f, np.zeros(2, "int32"), np.array([2.75], "float32"), np.zeros(1, "int64"))
    assert a.tolist() == [2, 1] and c.tolist() == [8]


# ---- table: T loops, blocks


def _loops() -> None:
    for extents, count in (("4", 4), ("2, 2", 4), ("2, 1, 2", 4), ("1, 2, 1, 2", 4)):
        names = ", ".join([f"i{k}" for k in range(len(extents.split(",")))])
        f = function(f"for {names} in T.grid({extents}):\n    A[0] = A[0] + T.float32(1)")
        (a,) = run(f, np.zeros(16, "float32"))
        assert a[0] == count
    for kind in ("T.serial(16)", "T.parallel(16)", "T.vectorized(16)", "T.unroll(16)", "range(16)",
                 'T.thread_binding(16, thread="threadIdx.x")', "T.serial(0, 16)"):  # fmt: skip
        (a,) = run(function(f"for i in {kind}:\n    A[i] = T.float32(3)"), np.zeros(16, "float32"))
        assert a.tolist() == [3.0] * 16


def _blocks() -> None:
    texts = [
        f"""
for i in range(16):
    with T.{block}("B"):
        v = T.axis.spatial(16, i)
        T.where(i < 12)
        T.reads(A[v])
        T.writes(A[v])
        A[v] = A[v] + T.float32(1)
"""
        for block in ("block", "sblock")
    ]
    first, second = [function(t) for t in texts]
    same(first, second)
    (a,) = run(first, np.zeros(16, "float32"))
    assert a.tolist() == [1.0] * 12 + [0.0] * 4


def _axes() -> None:
    said = 'for i in range(16):\n    with T.block("b"):\n        v = T.axis.{}\n        T.evaluate(v)'
    for letter, word in (("S", "spatial"), ("R", "reduce"), ("C", "scan"), ("O", "opaque")):
        f = function(said.format(f"{word}(16, i)"))
        same(f, function(said.format(f'remap("{letter}", [i])')))
        if letter in "SR":
            same(f, function(said.format(f"{letter}(16, i)")))


def _init() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((16, 16), "float32"), rng.random((16, 16), "float32")
    c = np.full((16, 16), np.nan, "float32")
    tvm.build(matmul())(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


# ---- table: T expressions


def _chosen() -> None:
    body = """
A[0] = T.max(B[0], B[1])
A[1] = T.min(B[0], B[1])
A[2] = T.cast(T.floordiv(n, 4), "float32")
A[3] = T.Cast("float32", T.floormod(n, 4))
A[4] = T.if_then_else(n > 0, B[0], B[1])
A[5] = T.Select(n < 0, B[0], B[1])
A[6] = T.exp(B[0])
A[7] = T.sqrt(B[1])
A[8] = T.tanh(B[0])
A[9] = T.erf(B[0])
A[10] = T.sigmoid(B[0])
"""
    f = function(body, 'A: T.Buffer((11,), "float32"), B: T.Buffer((2,), "float32"), n: T.int32')
    out = np.zeros(11, "float32")
    tvm.build(f)(out, np.array([0.5, 2.25], "float32"), 11)
    x = 0.5
    want = [2.25, 0.5, 2, 3, 0.5, 2.25, math.exp(x), 1.5, math.tanh(x), math.erf(x), 1 / (1 + math.exp(-x))]
    np.testing.assert_allclose(out, want, rtol=1e-6)


def _operators() -> None:
    body = """
A[0] = n + 3
A[1] = n - 3
A[2] = n * 3
A[3] = n // 3
A[4] = n % 3
A[5] = n & 6
A[6] = n | 8
A[7] = n ^ 1
A[8] = n << 2
A[9] = n >> 1
A[10] = -n
A[11] = ~n
A[12] = T.Select(n > 3 and n < 9, 1, 0)
A[13] = T.Select(n == 3 or n != 7, 1, 0)
A[14] = T.Select(not n >= 7, 1, 0)
"""
    f = function(body, 'A: T.Buffer((15,), "int32"), n: T.int32')
    (a, _) = run(f, np.zeros(15, "int32"), 7)
    n = 7
    assert a.tolist() == [
        n + 3,
        n - 3,
        n * 3,
        n // 3,
        n % 3,
        n & 6,
        n | 8,
        n ^ 1,
        n << 2,
        n >> 1,
        -n,
        ~n,
        1,
        0,
        0,
    ]


def _calls() -> None:
    f = function('T.evaluate(0)\nA[0] = T.call_extern("float32", "sqrtf", A[1])')
    a = np.array([0, 6.25, *[0] * 14], "float32")
    tvm.build(f)(a)
    assert a[0] == 2.5
    # The matrix units of a GPU: read, printed and read again.
    fragments = ", ".join(
        [
            f'{n}: T.Buffer((16, 16), "float16", scope="wmma.{s}")'
            for n, s in zip("XYZ", ("matrix_a", "matrix_b", "accumulator"), strict=True)
        ]
    )
    g = function(
        """
T.tvm_load_matrix_sync(X.data, 16, 16, 16, 0, A.access_ptr("r"), 16, "row_major")
T.tvm_fill_fragment(Z.data, 16, 16, 16, 0, T.float32(0))
T.tvm_mma_sync(Z.data, 0, X.data, 0, Y.data, 0, Z.data, 0)
T.tvm_store_matrix_sync(Z.data, 16, 16, 16, 0, A.access_ptr("w"), 16, "row_major")
""",
        f'A: T.Buffer((16, 16), "float16"), {fragments}',
    )
    same(tvm.script.from_source(g.script()), g)
    ops = [s.value.op for s in g.body.seq]
    assert ops == ["tvm_load_matrix_sync", "tvm_fill_fragment", "tvm_mma_sync", "tvm_store_matrix_sync"]


def _buffer_members() -> None:
    seen: list[Any] = []

    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (4, 4), "float32")
        T.evaluate(T.call_extern("int32", "g", A.data, A.elem_offset, A.access_ptr("rw", offset=4)))

    tir.stmt_functor.post_order_visit(f.body, lambda n: seen.append(n) if isinstance(n, tir.Call) else None)
    access = next(c for c in seen if c.op == "tvm_access_ptr")
    assert [int(tvm.arith.simplify(x)) for x in access.args[2:]] == [4, 12, 3]


def _slices() -> None:
    f = function('with T.block("b"):\n    T.reads(A[0:8])\n    T.writes(A[8:16], A[3])\n    T.evaluate(0)')
    block = f.body.block.body.block
    assert [[(int(r.min), int(r.extent)) for r in b.region] for b in (*block.reads, *block.writes)] == [
        [(0, 8)], [(8, 8)], [(3, 1)],
    ]  # fmt: skip


# ---- table: Python syntax


def _syntax() -> None:
    two = tvm.script.from_source('''
@T.prim_func
def f(A: "T.Buffer((16,), 'float32')"):
  # comments and indents of two
  for i, j in T.grid(4, 4):
    with T.block("b"):
      vi, vj = T.axis.remap("SS", [i, j])
      x = A[vi * 4 + vj] \\
          + T.float32(1)
      A[vi * 4 + vj] = x
      A[vi * 4 + vj] += T.float32(2)
''')  # fmt: skip
    (a,) = run(two, np.arange(16, dtype="float32"))
    np.testing.assert_array_equal(a, np.arange(16) + 3)


# ---- table: Schedule


def _split_fuse_reorder(get: str) -> None:
    sch = tir.Schedule(matmul())
    block = getattr(sch, get)("C")
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, factors=[None, 4])
    j0, j1 = sch.split(loop=j, factors=[2, None])
    sch.reorder(i0, j0, k, i1, j1)
    fused = sch.fuse(i0, j0)
    assert int(sch.get(fused).extent) == 8
    sch.parallel(fused)
    sch.unroll(i1)
    sch.vectorize(j1)
    kinds = [sch.get(x).kind for x in sch.get_loops(block)]
    assert kinds == ["parallel", "serial", "unrolled", "vectorized"]
    keeps(matmul(), sch)


def _bind() -> None:
    sch = tir.Schedule(chain())
    i, j = sch.get_loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, thread_axis="threadIdx.x")
    assert [sch.get(x).thread for x in (i, j)] == ["blockIdx.x", "threadIdx.x"]


def _caches() -> None:
    sch = tir.Schedule(matmul())
    read = sch.cache_read("C", 0, "local")
    write = sch.cache_write(sch.get_block("C"), 0, storage_scope="local")
    assert [sch.get(b).name for b in (read, write)] == ["A_local", "C_local"]
    sch.set_scope(read, 0, "shared")
    sch.storage_align(read, buffer_index=0, axis=-2, factor=8, offset=4)
    keeps(matmul(), sch)


def _moves() -> None:
    sch = tir.Schedule(chain())
    sch.compute_at("B", sch.get_loops("C")[0])
    keeps(chain(), sch)
    sch = tir.Schedule(chain())
    sch.reverse_compute_at(sch.get_block("C"), sch.get_loops("B")[1])
    keeps(chain(), sch)
    for inline in (lambda s: s.compute_inline("B"), lambda s: s.reverse_compute_inline("C")):
        sch = tir.Schedule(chain())
        inline(sch)
        assert len(sch.get_child_blocks(sch.get_block("root"))) == 1
        keeps(chain(), sch)


def _looks() -> None:
    sch = tir.Schedule(chain())
    b, c = sch.get_block("B"), sch.get_block("C")
    assert [sch.get(x).name for x in sch.get_consumers(b)] == ["C"]
    assert [sch.get(x).name for x in sch.get_producers(c)] == ["B"]
    assert [sch.get(x).name for x in sch.get_child_blocks(sch.get_block("root"))] == ["B", "C"]


def _reductions() -> None:
    sch = tir.Schedule(matmul())
    init = sch.decompose_reduction("C", sch.get_loops("C")[2])
    assert sch.get(init).name == "C_init"
    keeps(matmul(), sch)
    sch = tir.Schedule(matmul())
    ko, _ = sch.split(sch.get_loops("C")[2], [4, 4])
    factor = sch.rfactor(ko, factor_axis=0)
    assert sch.get(factor).name == "C_rf"
    keeps(matmul(), sch)


def _blockize_tensorize() -> None:
    sch = tir.Schedule(matmul())
    loops = sch.get_loops("C")
    inner = [sch.split(x, [4, 4]) for x in loops]
    sch.reorder(*[a for a, _ in inner], *[b for _, b in inner])
    outer = sch.blockize(inner[0][1])
    assert sch.get(outer).name == "C_o"
    keeps(matmul(), sch)

    @T.prim_func
    def desc(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (16,), "float32", offset_factor=1)
        B = T.match_buffer(b, (16,), "float32", offset_factor=1)
        with T.block("root"):
            T.reads(A[0:16])
            T.writes(B[0:16])
            for i in range(16):
                with T.block("b"):
                    v = T.axis.spatial(16, i)
                    B[v] = A[v] * T.float32(2)

    @T.prim_func
    def impl(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (16,), "float32", offset_factor=1)
        B = T.match_buffer(b, (16,), "float32", offset_factor=1)
        with T.block("root"):
            T.reads(A[0:16])
            T.writes(B[0:16])
            for i in T.vectorized(16):
                B[i] = A[i] + A[i]

    tir.TensorIntrin.register("course_names_double", desc, impl, override=True)
    assert tir.TensorIntrin is tvm.s_tir.TensorIntrin
    sch = tir.Schedule(chain())
    sch.tensorize(sch.get_loops("B")[1], "course_names_double")
    keeps(chain(), sch)


def _annotations_and_samples() -> None:
    sch = tir.Schedule(matmul(), seed=3)
    i, j, _ = sch.get_loops("C")
    sch.annotate(i, "pragma_auto_unroll_max_step", 16)
    sch.annotate(block_or_loop=sch.get_block("C"), ann_key="mine", ann_val="yes")
    assert sch.get(i).annotations == {"pragma_auto_unroll_max_step": 16}
    sch.unannotate(i, "pragma_auto_unroll_max_step")
    assert not sch.get(i).annotations
    factors = sch.sample_perfect_tile(j, n=3, max_innermost_factor=4)
    values = [int(sch.get(f)) for f in factors]
    assert math.prod(values) == 16 and values[-1] <= 4
    chosen = sch.sample_categorical([1, 2, 4], [0.25, 0.5, 0.25])
    assert int(sch.get(chosen)) in (1, 2, 4)
    sch.split(j, factors)
    sch.enter_postproc()
    keeps(matmul(), sch)


def _layouts() -> None:
    sch = tir.Schedule(chain())
    sch.transform_layout("B", buffer=("write", 0), index_map=lambda i, j: (j, i))
    keeps(chain(), sch)
    sch = tir.Schedule(matmul())
    sch.reindex("C", ("read", 0))
    keeps(matmul(), sch)


# ---- table: module, function


def _modules() -> None:
    mod = IRModule({"main": matmul()})
    assert mod["main"] is mod.functions[mod.get_global_var("main")]
    assert [v.name_hint for v in mod.get_global_vars()] == ["main"]
    assert IRModule.from_expr(matmul()).names() == ["f"]
    mod.update_func(mod.get_global_var("main"), chain())
    same(mod["main"], chain())
    assert "def main" in mod.script()
    func = chain().with_attr("k", 1).with_attr({"a": 2, "b": "c"})
    assert (func.attrs["k"], func.attrs["a"], func.attrs["b"]) == (1, 2, "c")
    with pytest.raises(tvm.ir.StructuralMismatch):
        tvm.ir.assert_structural_equal(matmul(), chain())


def _show(capsys: Any = None) -> None:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        IRModule({"main": matmul()}).show()
        matmul().show()
    assert out.getvalue().count("def ") == 2


# ---- table: runtime


def _build_and_call(build: Any) -> None:
    add = function("A[0] = A[0] + T.float32(1)").with_attr("global_symbol", "add")
    lib = build(IRModule({"add": add}), target="llvm")
    a = tvm.nd.array(np.zeros(16, "float32"))
    lib["add"](a)
    lib(a)
    lib.mod[lib.entry_name](a)
    assert a.numpy()[0] == 3.0
    timing = lib.time_evaluator("add", tvm.cpu(), number=2, repeat=3)(a)
    assert len(timing.results) == 3 and timing.mean > 0
    assert a.numpy()[0] > 3 and isinstance(lib.imported_modules, list)
    assert "define" in lib.get_source("ll") and "def add" in lib.get_source("script")


def _arrays(array: Any, empty: Any, kind: Any) -> None:
    a = array(np.arange(4, dtype="int64"))
    assert isinstance(a, kind) and a.numpy().tolist() == [0, 1, 2, 3]
    assert empty((2, 3), "float32").shape == (2, 3)
    view = np.from_dlpack(a)
    back = tvm.nd.from_dlpack(np.arange(3.0))
    assert view.tolist() == [0, 1, 2, 3] and back.numpy().tolist() == [0, 1, 2]


def _torch() -> None:
    torch = pytest.importorskip("torch")
    a = tvm.nd.array(np.zeros(4, "float32"))
    t = torch.from_dlpack(a)
    t[1] = 5
    assert a.numpy().tolist() == [0, 5, 0, 0]


def _devices() -> None:
    assert tvm.cpu() == tvm.cpu(0) == tvm.device("llvm", 0) == tvm.device("cpu", 0) == tvm.nd.cpu(0)
    assert tvm.cuda(1) == tvm.device("cuda", 1) and str(tvm.cuda(1)) == "cuda:1"
    assert (
        tvm.target.Target("llvm").kind.name == "llvm"
        and tvm.target.Target("cuda -arch=sm_80").arch == "sm_80"
    )


def _registered(register: Any) -> None:
    seen: list[float] = []

    @register("course_names.put", override=True)
    def put(x: Any) -> None:
        seen.append(float(x.numpy()[2]))

    assert tvm.get_global_func("course_names.put") is put
    f = function('A[2] = T.float32(9)\nT.evaluate(T.call_packed("course_names.put", A))')
    tvm.build(f)(np.zeros(16, "float32"))
    assert seen == [9.0]
    with pytest.raises(tvm.TVMError, match="no function"):
        tvm.get_global_func("course_names.absent")
    assert tvm.get_global_func("course_names.absent", allow_missing=True) is None


# ---- table: te, topi


def _te() -> None:
    A = te.placeholder((4, 8), name="A", dtype="float32")
    k = te.reduce_axis((0, 8), name="k")
    outs = [te.compute((4,), lambda i, f=f: f(A[i, k], axis=k), name="B") for f in (te.sum, te.max, te.min)]
    a = np.random.default_rng(0).random((4, 8), "float32")
    for out, want in zip(outs, (a.sum(1), a.max(1), a.min(1)), strict=True):
        assert isinstance(out, te.Tensor)
        f = te.create_prim_func([A, out])
        got = np.zeros(4, "float32")
        tvm.build(f)(a, got)
        np.testing.assert_allclose(got, want, rtol=1e-5)


def _evaluate(out: Any, *tensors_and_arrays: Any) -> Any:
    tensors, arrays = tensors_and_arrays[::2], tensors_and_arrays[1::2]
    got = np.zeros([int(n) for n in out.shape], out.dtype)
    tvm.build(te.create_prim_func([*tensors, out]))(*arrays, got)
    return got


def _topi() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.random((4, 6), "float32"), rng.random((4, 6), "float32")
    X, Y = te.placeholder((4, 6), name="X"), te.placeholder((4, 6), name="Y")
    np.testing.assert_allclose(_evaluate(topi.add(X, Y), X, x, Y, y), x + y)
    np.testing.assert_allclose(_evaluate(topi.transpose(X), X, x), x.T)
    np.testing.assert_allclose(_evaluate(topi.reshape(X, (3, 8)), X, x), x.reshape(3, 8))
    np.testing.assert_allclose(_evaluate(topi.nn.relu(X), X, x - 0.5), np.maximum(x - 0.5, 0))
    np.testing.assert_allclose(_evaluate(topi.nn.dense(X, Y), X, x, Y, y), x @ y.T, rtol=1e-5)
    Z = te.placeholder((6, 5), name="Z")
    z = rng.random((6, 5), "float32")
    np.testing.assert_allclose(_evaluate(topi.nn.matmul(X, Z), X, x, Z, z), x @ z, rtol=1e-5)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(_evaluate(topi.nn.softmax(X), X, x), e / e.sum(1, keepdims=True), rtol=1e-5)
    P = te.placeholder((1, 2, 4, 4), name="P")
    p = rng.random((1, 2, 4, 4), "float32")
    np.testing.assert_allclose(_evaluate(topi.nn.flatten(P), P, p), p.reshape(1, -1))
    pooled = topi.nn.pool2d(P, [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], "max")
    np.testing.assert_allclose(_evaluate(pooled, P, p), p.reshape(1, 2, 2, 2, 2, 2).max((3, 5)))
    W = te.placeholder((3, 2, 1, 1), name="W")
    w = rng.random((3, 2, 1, 1), "float32")
    conv = topi.nn.conv2d(P, W, 1, 0, 1)
    np.testing.assert_allclose(
        _evaluate(conv, P, p, W, w), np.einsum("nchw,oc->nohw", p, w[:, :, 0, 0]), rtol=1e-5
    )


# ---- table: other


def _other() -> None:
    tvm.testing.assert_allclose(np.ones(3), tvm.nd.array(np.ones(3)), rtol=1e-5)
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose(np.ones(3), np.zeros(3), rtol=1e-5)
    folder = utils.tempdir()
    path = folder.relpath("code.txt")
    with open(path, "w") as f:
        f.write("x")
    assert folder.listdir() == ["code.txt"]
    inner = utils.tempdir(folder.relpath("inner"))
    assert sorted(folder.listdir()) == ["code.txt", "inner"]
    del inner
    assert folder.listdir() == ["code.txt"]
    # A directory that is there already is not taken, so that it is not removed either.
    with pytest.raises(tvm.TVMError, match="there already"):
        utils.tempdir(folder.temp_dir)
    assert folder.listdir() == ["code.txt"]


def _clang() -> None:
    code = """
    extern "C" int course_twice(float *cc) { cc[1] = cc[0] * 2.0f; return 0; }
    """
    folder = utils.tempdir()
    try:
        path = clang.create_llvm(code, output=folder.relpath("code.ll"), options=["-O2"])
    except tvm.TVMError as e:
        assert e.code == "no-compiler"
        pytest.skip("there is no C compiler")
    with open(path) as f:
        text = f.read()
    body = """
for i in range(1):
    with T.block("b"):
        v = T.axis.spatial(1, i)
        T.reads(A[0])
        T.writes(A[1])
        T.evaluate(T.call_extern("int32", "course_twice", A.access_ptr("rw")))
"""
    sch = tir.Schedule(function(body))
    (i,) = sch.get_loops("b")
    sch.annotate(i, "pragma_import_llvm", text)
    a = np.array([4, *[0] * 15], "float32")
    tvm.build(sch.mod)(a)
    assert a[1] == 8.0


ROWS: dict[str, Callable[[], Any]] = {
    "script": _decorated,
    "T.Buffer": _buffers,
    "T.match_buffer": _match_buffer,
    "T.alloc_buffer | T.sblock_alloc_buffer": _alloc_buffer,
    "T.func_attr, T.block_attr | T.sblock_attr": _attributes,
    "T.var, T.int32, T.int64, T.bool": _variables_and_casts,
    "T.grid, serial, parallel, vectorized, unroll, thread_binding, range": _loops,
    "T.block | T.sblock, reads, writes, where": _blocks,
    "T.axis": _axes,
    "T.init": _init,
    "T.max min cast floordiv floormod if_then_else Select exp sqrt tanh erf sigmoid": _chosen,
    "operators": _operators,
    "T.evaluate, call_extern, tvm_*_sync": _calls,
    "Buffer.data elem_offset access_ptr": _buffer_members,
    "slices as regions": _slices,
    "Python syntax": _syntax,
    "sch.get_block get_loops split fuse reorder parallel": lambda: _split_fuse_reorder("get_block"),
    "sch.get_sblock": lambda: _split_fuse_reorder("get_sblock"),
    "sch.bind": _bind,
    "sch.cache_read cache_write set_scope storage_align": _caches,
    "sch.compute_at reverse_compute_at compute_inline reverse_compute_inline": _moves,
    "sch.get_child_blocks get_consumers get_producers": _looks,
    "sch.decompose_reduction rfactor": _reductions,
    "sch.blockize tensorize, tir.TensorIntrin | s_tir.TensorIntrin": _blockize_tensorize,
    "sch.annotate unannotate sample_perfect_tile sample_categorical enter_postproc": _annotations_and_samples,
    "sch.transform_layout reindex": _layouts,
    "module, function": _modules,
    "show": _show,
    "tvm.build": lambda: _build_and_call(tvm.build),
    "tvm.compile": lambda: _build_and_call(tvm.compile),
    "nd.array, empty, NDArray": lambda: _arrays(tvm.nd.array, tvm.nd.empty, tvm.nd.NDArray),
    "runtime.tensor, empty, Tensor": lambda: _arrays(
        tvm.runtime.tensor, tvm.runtime.empty, tvm.runtime.Tensor
    ),
    "DLPack with torch": _torch,
    "cpu, cuda, device, Target": _devices,
    "register_func": lambda: _registered(tvm.register_func),
    "register_global_func": lambda: _registered(tvm.register_global_func),
    "te": _te,
    "topi": _topi,
    "testing, contrib.utils": _other,
    "contrib.clang, pragma_import_llvm": _clang,
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_names_of_the_course(row: str) -> None:
    ROWS[row]()
