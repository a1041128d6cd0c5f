"""``tir.analysis`` and ``tir.stmt_functor``: answers that are known otherwise."""

from __future__ import annotations

from typing import Any

import pytest

import tirscript as tvm
from tirscript import tir
from tirscript.script import from_source

analysis, functor = tir.analysis, tir.stmt_functor


def function(body: str, parameters: str = 'A: T.Buffer((16,), "float32")') -> Any:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return from_source(f"@T.prim_func(check_well_formed=False)\ndef f({parameters}):\n{lines}\n")


TWO_STAGES = function("""
B = T.alloc_buffer((16,))
for i in range(16):
    with T.block("B"):
        v = T.axis.spatial(16, i)
        B[v] = A[v]
for i in range(4):
    for j in range(4):
        with T.block("A"):
            v = T.axis.spatial(16, i * 4 + j)
            A[v] = B[v] * T.float32(2)
""")


def blocks(f: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    functor.post_order_visit(
        f.body, lambda n: found.update({n.name_hint: n}) if isinstance(n, tir.Block) else None
    )
    return found


# ---- stmt_functor


def test_visits_in_both_orders() -> None:
    x = tir.Var("x", "int32")
    e = (x + 1) * (x + 2)
    post: list[Any] = []
    functor.post_order_visit(e, post.append)
    assert [type(n).__name__ for n in post] == ["Var", "IntImm", "Add", "IntImm", "Add", "Mul"]
    pre: list[Any] = []
    functor.pre_order_visit(e, lambda n: pre.append(n) or True)
    assert [type(n).__name__ for n in pre] == ["Mul", "Add", "Var", "IntImm", "Add", "IntImm"]
    # False leaves out what is inside; a shared node is visited once.
    pre.clear()
    functor.pre_order_visit(e, lambda n: pre.append(n) or not isinstance(n, tir.Add))
    assert [type(n).__name__ for n in pre] == ["Mul", "Add", "Add"]
    whole: list[Any] = []
    functor.post_order_visit(TWO_STAGES, whole.append)
    assert all(isinstance(n, (tir.Expr, tir.Stmt)) for n in whole) and isinstance(whole[-1], tir.BlockRealize)


def test_very_deep_trees() -> None:
    e: Any = tir.Var("x", "int32")
    for _ in range(5000):
        e = e + 1
    count: list[int] = []
    functor.post_order_visit(e, lambda n: count.append(1))
    assert len(count) >= 5001
    new = functor.substitute(e, {next(iter(analysis.undefined_vars(e))): tir.Var("y", "int32")})
    assert [v.name for v in analysis.undefined_vars(new)] == ["y"]
    assert functor.ir_transform(e, None, lambda n: None) is e


def test_transform() -> None:
    body = TWO_STAGES.body
    halved = functor.ir_transform(
        body,
        None,
        lambda n: tir.FloatImm("float32", 3.0) if n.value == 2.0 else None,
        ["tirx.FloatImm"],
    )
    assert "B[v] * T.float32(3)" in str(halved) and "B[v] * T.float32(2)" in str(body)
    # Preorder replaces without descending; None goes on.
    seen: list[Any] = []

    def pre(n: Any) -> Any:
        seen.append(n)
        return tir.Evaluate(7) if isinstance(n, tir.For) else None

    made = functor.ir_transform(body, pre, None)
    assert not any(isinstance(n, tir.BufferStore) for n in seen) and str(made).count("T.evaluate(7)") == 2
    assert functor.ir_transform(body, None, lambda n: None) is body
    with pytest.raises(tvm.TirscriptError, match="cannot stand for"):
        functor.ir_transform(body, None, lambda n: tir.IntImm("int32", 0), ["tir.For"])


def test_substitute_and_copies() -> None:
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    assert str(functor.substitute(x + y, {x: 3})) == "3 + y"
    assert str(functor.substitute(tir.Evaluate(x), {x: y})) == "T.evaluate(y)"
    f = function("A[0] = T.Cast('float32', n)", 'A: T.Buffer((16,), "float32"), n: T.int32')
    assert "A[0]" in str(functor.substitute(f, {f.params[1]: 5}))
    with pytest.raises(tvm.TirscriptError, match="no variable"):
        functor.substitute(x, {3: y})  # type: ignore[dict-item]
    with pytest.raises(tvm.TirscriptError, match="int32, the value is float32"):
        functor.substitute(x, {x: tir.FloatImm("float32", 1)})
    with pytest.raises(tvm.TirscriptError, match="takes a statement"):
        functor.post_order_visit(3, print)
    with pytest.raises(tvm.TirscriptError, match="takes a dict"):
        functor.substitute(x, [y])  # type: ignore[arg-type]
    with pytest.raises(tvm.TirscriptError, match="takes a PrimFunc"):
        functor.renew_defs(x)  # type: ignore[arg-type]
    copy = functor.renew_defs(TWO_STAGES)
    tvm.ir.assert_structural_equal(copy, TWO_STAGES)
    assert copy.params[0] is not TWO_STAGES.params[0]


# ---- analysis


def test_variables() -> None:
    x, y, z = [tir.Var(n, "int32") for n in "xyz"]
    assert analysis.undefined_vars(y + x + z + x) == [y, x, z]
    assert analysis.undefined_vars(tir.Let(x, y, x + z), [z]) == [y]
    assert analysis.undefined_vars(TWO_STAGES) == []
    assert analysis.verify_ssa(TWO_STAGES)
    loop = tir.For(x, 0, 4, 0, tir.Evaluate(x))
    assert not analysis.verify_ssa(tir.PrimFunc([], tir.SeqStmt([loop, loop])))
    assert analysis.expr_deep_equal(x + 1, x + 1) and not analysis.expr_deep_equal(x + 1, y + 1)


def test_regions_of_blocks() -> None:
    own = blocks(TWO_STAGES)
    buffers = {b.data: b for b in (TWO_STAGES.buffers[0], own["root"].alloc_buffers[0])}
    reads, writes = analysis.get_block_read_write_region(own["A"], buffers)
    assert [str(r) for r in reads] == ["B[v]"] and [str(w) for w in writes] == ["A[v]"]
    root_reads, root_writes, opaque = analysis.get_block_access_region(own["root"], buffers)
    assert [str(r) for r in root_reads] == ["A[0:16]"] and [str(w) for w in root_writes] == ["A[0:16]"]
    assert opaque == ()
    call = 'T.evaluate(T.call_extern("int32", "g", A.data))'
    f = function(f'with T.block("b"):\n    T.reads()\n    T.writes()\n    {call}')
    inner = blocks(f)["b"]
    pointed = analysis.get_block_access_region(inner, {f.buffers[0].data: f.buffers[0]})
    assert [str(r) for r in pointed[2]] == ["A[0:16]"] and pointed[:2] == ((), ())


def test_where_buffers_are_used_together() -> None:
    own = blocks(TWO_STAGES)
    lca = {b.name: s for b, s in analysis.detect_buffer_access_lca(TWO_STAGES).items()}
    assert lca == {"A": own["root"], "B": own["root"]}
    f = function("""
for i in range(4):
    for j in range(4):
        A[i * 4 + j] = C[j]
    C[i] = A[i]
""", 'A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32"), D: T.Buffer((1,), "int32")')  # fmt: skip
    outer = f.body
    lca = {b.name: s for b, s in analysis.detect_buffer_access_lca(f).items()}
    assert lca == {"A": outer, "C": outer}
    single = function("for i in range(4):\n    for j in range(4):\n        A[i] = T.float32(j)")
    assert list(analysis.detect_buffer_access_lca(single).values()) == [single.body.body]
    assert list(analysis.detect_buffer_access_lca(function("A[0] = T.float32(1)")).values()) == [None]


def test_purity() -> None:
    assert not analysis.is_pure_function(function("A[0] = T.float32(1)"))
    assert analysis.is_pure_function(function("T.evaluate(A[0])"))
    inner = function("B = T.decl_buffer((4,))\nB[0] = A[0]")
    assert analysis.is_pure_function(inner) and analysis.assert_pure_function(inner)
    assert not analysis.is_pure_function(function('T.evaluate(T.call_extern("int32", "g"))'))
    with pytest.raises(tvm.TirscriptError, match="`f` is not pure"):
        analysis.assert_pure_function(function("A[0] = T.float32(1)"))


def test_memory_of_gpus() -> None:
    host = function("for i in range(16):\n    A[i] = T.float32(1)")
    bound = function('for i in T.thread_binding(16, thread="threadIdx.x"):\n    A[i] = T.float32(1)')
    assert analysis.verify_memory(host)
    target = tvm.target.Target("cuda")
    assert not analysis.verify_memory(host.with_attr("target", target))
    assert analysis.verify_memory(bound.with_attr("target", target))


def test_checks() -> None:
    assert analysis.verify_well_formed(TWO_STAGES)
    stray = TWO_STAGES.with_body(tir.Evaluate(tir.Var("i", "int32")))
    assert not analysis.verify_well_formed(stray, assert_mode=False)
    with pytest.raises(tvm.WellFormedError):
        analysis.verify_well_formed(stray)
    inside = tvm.IRModule({"f": function("A[15] = T.float32(1)")})
    assert analysis.OOBChecker()(inside) is inside
    with pytest.raises(tvm.LowerError):
        analysis.OOBChecker()(tvm.IRModule({"f": function("for i in range(20):\n    A[i] = T.float32(1)")}))


def test_costs_and_anchors() -> None:
    flops = analysis.estimate_tir_flops(tvm.IRModule({"f": TWO_STAGES}))
    assert flops >= 16
    matmul = function("""
for i, j, k in T.grid(4, 4, 4):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + C[vi, vk]
for i, k in T.grid(4, 4):
    with T.block("D"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            D[vi] = T.float32(0)
        D[vi] = D[vi] + C[vi, vk]
""", 'C: T.Buffer((4, 4), "float32"), D: T.Buffer((4,), "float32")')  # fmt: skip
    assert analysis.find_anchor_block(tvm.IRModule({"f": matmul})).name_hint == "C"
    assert analysis.find_anchor_block(tvm.IRModule({"f": TWO_STAGES})) is None
    sizes = analysis.calculate_allocated_bytes(TWO_STAGES)
    assert 64 in next(iter(sizes.values())).values()


def test_every_name_and_the_absent_ones() -> None:
    for name in (*analysis.__all__, *functor.__all__):
        assert callable(getattr(analysis if name in analysis.__all__ else functor, name))
    with pytest.raises(tvm.NotYetError, match="verify_gpu_code"):
        analysis.verify_gpu_code(TWO_STAGES, {})
    with pytest.raises(tvm.NotYetError, match="StmtMutator"):
        functor.StmtMutator()
