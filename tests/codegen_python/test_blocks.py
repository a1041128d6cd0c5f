"""Blocks on the python target: init, predicates, domains, orders; right values counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.codegen.python import compile_python, to_python

HEAD = """
@T.prim_func
def f(A: T.Buffer((4, 8), "int32"), B: T.Buffer((4,), "int32")):
"""
ROWS = np.arange(32, dtype="int32").reshape(4, 8)


def run(body: str, rows: Any = ROWS, start: int = 0) -> list[int]:
    text = HEAD + "\n".join("    " + line for line in body.strip("\n").split("\n"))
    out = np.full(4, start, "int32")
    compile_python(ts.parse(text))["f"](np.array(rows), out)
    return out.tolist()  # type: ignore[no-any-return]


UPDATE = """
            T.reads(A[vi, vk])
            T.writes(B[vi])
            with T.init():
                B[vi] = 100
            B[vi] = B[vi] + A[vi, vk]
"""


def sums(columns: Any = slice(None)) -> list[int]:
    return (100 + ROWS[:, columns].sum(1)).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("order", ["i, k in T.grid(4, 8)", "k, i in T.grid(8, 4)"])
def test_init_once_for_each_spatial_instance(order: str) -> None:
    body = f"""
for {order}:
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
{UPDATE.replace("            ", "        ")}"""
    assert run(body) == sums()


@pytest.mark.parametrize("order", ["i, k in T.grid(4, 0)", "k, i in T.grid(0, 4)"])
def test_empty_reduction_leaves_the_init(order: str) -> None:
    body = f"""
for {order}:
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
{UPDATE.replace("            ", "        ")}"""
    assert run(body) == [100] * 4


def test_symbolic_reduction_may_be_empty() -> None:
    program = ts.parse("""
@T.prim_func
def f(a: T.handle, B: T.Buffer((4,), "int32")):
    n = T.int32()
    A = T.match_buffer(a, (4, n), "int32")
    for i, k in T.grid(4, n):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 7
            B[vi] = B[vi] + A[vi, vk]
""")
    call = compile_python(program)["f"]
    for n in (0, 1, 5):
        out = np.zeros(4, "int32")
        call(ROWS[:, :n].copy(), out)
        assert out.tolist() == (7 + ROWS[:, :n].sum(1)).tolist()


def test_reversed_reduction_binding_inits_first() -> None:
    body = """
for i, k in T.grid(4, 8):
    with T.block("B"):
        vi = T.axis.spatial(4, i)
        vk = T.axis.reduce(8, 7 - k)
        with T.init():
            B[vi] = 0
        B[vi] = B[vi] * 2 + A[vi, vk] % 2
"""
    bits = [sum((int(ROWS[r, 7 - k]) % 2) << (7 - k) for k in range(8)) for r in range(4)]
    assert run(body) == bits


def test_split_reduction_with_a_guard_inits_once() -> None:
    body = """
for i, k_0, k_1 in T.grid(4, 3, 3):
    with T.block("B"):
        vi = T.axis.spatial(4, i)
        vk = T.axis.reduce(8, k_0 * 3 + k_1)
        T.where(k_0 * 3 + k_1 < 8)
        with T.init():
            B[vi] = 100
        B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums()


def test_reduction_conjuncts_guard_the_update_alone() -> None:
    """No iteration passes the guard of the reduction: the init is there all the same."""
    body = """
for i, k in T.grid(4, 8):
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.where(k > 100)
        with T.init():
            B[vi] = 100
        B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == [100] * 4


def test_spatial_conjuncts_guard_both() -> None:
    body = """
for i, k in T.grid(4, 8):
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.where(i < 2 and k > 3)
        with T.init():
            B[vi] = 100
        B[vi] = B[vi] + A[vi, vk]
"""
    want = (100 + ROWS[:2, 4:].sum(1)).tolist()
    assert run(body, start=-1) == [*want, -1, -1]


def test_instances_outside_the_domain_do_not_run() -> None:
    program = ts.parse("""
@T.prim_func(check_well_formed=False)
def f(B: T.Buffer((8,), "int32")):
    for i in range(8):
        if i < 100:
            with T.block("B"):
                vi = T.axis.spatial((2, 5), i)
                B[vi] = 1
""")
    out = np.zeros(8, "int32")
    compile_python(program)["f"](out)
    assert out.tolist() == [0, 0, 1, 1, 1, 0, 0, 0]


def test_reduction_instances_outside_the_domain_are_not_added_but_inited() -> None:
    body = """
for i, k in T.grid(4, 8):
    if i < 100:
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce((2, 5), k)
            with T.init():
                B[vi] = 100
            B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums(slice(2, 5))


def test_block_in_a_condition_that_skips_the_first_iterations() -> None:
    body = """
for i, k in T.grid(4, 8):
    if k > 2:
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 100
            B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums(slice(3, None))


def test_fused_spatial_and_reduction_loop() -> None:
    body = """
for f in range(32):
    with T.block("B"):
        vi = T.axis.spatial(4, f // 8)
        vk = T.axis.reduce(8, f % 8)
        with T.init():
            B[vi] = 100
        B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums()


def test_loop_around_that_no_axis_binds_runs_all_again() -> None:
    body = """
for t in range(2):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 100
            B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums()


def test_triangular_reduction() -> None:
    body = """
for k in range(4):
    for i in range(k + 1):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(8, k)
            T.where(i <= k)
            with T.init():
                B[vi] = 100
            B[vi] = B[vi] + A[vi, vk]
"""
    want = [100 + int(ROWS[i, i:4].sum()) for i in range(4)]
    assert run(body) == want


def test_reduction_axis_without_a_loop() -> None:
    body = """
for i in range(4):
    with T.block("B"):
        vi = T.axis.spatial(4, i)
        vk = T.axis.reduce(1, 0)
        with T.init():
            B[vi] = 100
        B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums(slice(0, 1))


def test_inner_block_that_goes_on_with_the_outer_reduction() -> None:
    """The inner axis runs over the outer one's tiles: one init for the whole sum."""
    body = """
for i, ko in T.grid(4, 2):
    with T.block("outer"):
        vi, vko = T.axis.remap("SR", [i, ko])
        T.reads(A[vi, vko * 4:vko * 4 + 4])
        T.writes(B[vi])
        for ki in range(4):
            with T.block("inner"):
                vk = T.axis.reduce(8, vko * 4 + ki)
                with T.init():
                    B[vi] = 100
                B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums()


def test_nested_block_with_its_own_reduction_is_inited_for_each_outer_instance() -> None:
    body = """
for i in range(4):
    with T.block("outer"):
        vi = T.axis.spatial(4, i)
        T.reads(A[vi, 0:8])
        T.writes(B[vi])
        for k in range(8):
            with T.block("inner"):
                vk = T.axis.reduce(8, k)
                with T.init():
                    B[vi] = 100
                B[vi] = B[vi] + A[vi, vk]
"""
    assert run(body) == sums()


def test_the_simple_form_is_used_where_it_may() -> None:
    text = (
        HEAD
        + """
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
"""
    )
    assert "if vk == 0:" in to_python(ts.parse(text))


def test_vectorized_parallel_and_bound_loops_run_in_order() -> None:
    program = ts.parse("""
@T.prim_func
def f(A: T.Buffer((2, 3, 4), "int32")):
    for i in T.parallel(2):
        for j in T.thread_binding(3, thread="threadIdx.x"):
            for k in T.vectorized(4):
                A[i, j, k] = i * 12 + j * 4 + k
""")
    out = np.zeros((2, 3, 4), "int32")
    compile_python(program)["f"](out)
    assert out.ravel().tolist() == list(range(24))
