"""Each pass against a program written by hand."""

import numpy as np
import pytest

import tirscript as ts
from tirscript.diagnostics import LowerError, NotYetError
from tirscript.ir.equal import assert_structural_equal
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import For
from tirscript.lowering import PASSES, lower_function
from tirscript.lowering.unroll_loop import unroll_loop
from tirscript.script import tir as T

BY_NAME = {p.__name__: p for p in PASSES}


def check(name: str, before: PrimFunc, expected: PrimFunc) -> None:
    after = BY_NAME[name](before)
    assert_structural_equal(after.without_attr("global_symbol"), expected.without_attr("global_symbol"))


def kinds(f: PrimFunc) -> list[str]:
    return [n.kind for n in walk(f.body) if isinstance(n, For)]


def test_canonicalize_loop():
    @T.prim_func
    def before(A: T.Buffer((20,), "int32")):
        for i in range(2, 19, 3):
            A[i] = i
        for i in range(4, 9):
            A[i] = i

    @T.prim_func
    def expected(A: T.Buffer((20,), "int32")):
        for i in range(6):
            A[2 + i * 3] = 2 + i * 3
        for i in range(4, 9):
            A[i] = i

    check("canonicalize_loop", before, expected)


def test_init_goes_before_the_outermost_reduction_loop():
    @T.prim_func
    def before(A: T.Buffer((4, 6, 5), "int32"), O: T.Buffer((4, 6), "int32")):
        for i, k, j in T.grid(4, 5, 6):
            with T.block("O"):
                vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                T.reads(A[vi, vj, vk])
                T.writes(O[vi, vj])
                with T.init():
                    O[vi, vj] = 0
                O[vi, vj] = O[vi, vj] + A[vi, vj, vk]

    @T.prim_func
    def expected(A: T.Buffer((4, 6, 5), "int32"), O: T.Buffer((4, 6), "int32")):
        for i in range(4):
            for j in range(6):
                with T.block("O_init"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.reads()
                    T.writes(O[vi, vj])
                    O[vi, vj] = 0
            for k, j in T.grid(5, 6):
                with T.block("O"):
                    vi, vk, vj = T.axis.remap("SRS", [i, k, j])
                    T.reads(A[vi, vj, vk])
                    T.writes(O[vi, vj])
                    O[vi, vj] = O[vi, vj] + A[vi, vj, vk]

    check("lower_init_block", before, expected)


def test_conditions_of_reduction_loops_guard_the_update_alone():
    @T.prim_func
    def before(A: T.Buffer((10, 7), "int32"), O: T.Buffer((10,), "int32")):
        for i_0, k_0, i_1, k_1 in T.grid(4, 3, 3, 3):
            with T.block("O"):
                vi = T.axis.spatial(10, i_0 * 3 + i_1)
                vk = T.axis.reduce(7, k_0 * 3 + k_1)
                T.where(i_0 * 3 + i_1 < 10 and k_0 * 3 + k_1 < 7)
                T.reads(A[vi, vk])
                T.writes(O[vi])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    @T.prim_func
    def expected(A: T.Buffer((10, 7), "int32"), O: T.Buffer((10,), "int32")):
        for i_0 in range(4):
            for i_1 in range(3):
                with T.block("O_init"):
                    vi = T.axis.spatial(10, i_0 * 3 + i_1)
                    T.where(i_0 * 3 + i_1 < 10)
                    T.reads()
                    T.writes(O[vi])
                    O[vi] = 0
            for k_0, i_1, k_1 in T.grid(3, 3, 3):
                with T.block("O"):
                    vi = T.axis.spatial(10, i_0 * 3 + i_1)
                    vk = T.axis.reduce(7, k_0 * 3 + k_1)
                    T.where(i_0 * 3 + i_1 < 10 and k_0 * 3 + k_1 < 7)
                    T.reads(A[vi, vk])
                    T.writes(O[vi])
                    O[vi] = O[vi] + A[vi, vk]

    check("lower_init_block", before, expected)


def test_a_condition_of_both_kinds_keeps_its_loops_in_the_init():
    @T.prim_func
    def before(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
        for i, k in T.grid(4, 6):
            with T.block("O"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where(i + k < 5)
                T.reads(A[vi, vk])
                T.writes(O[vi])
                with T.init():
                    O[vi] = 0
                O[vi] = O[vi] + A[vi, vk]

    @T.prim_func
    def expected(A: T.Buffer((4, 6), "int32"), O: T.Buffer((4,), "int32")):
        for i in range(4):
            for k in range(6):
                with T.block("O_init"):
                    vi = T.axis.spatial(4, i)
                    T.where(i + k < 5)
                    T.reads()
                    T.writes(O[vi])
                    O[vi] = 0
            for k in range(6):
                with T.block("O"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    T.where(i + k < 5)
                    T.reads(A[vi, vk])
                    T.writes(O[vi])
                    O[vi] = O[vi] + A[vi, vk]

    check("lower_init_block", before, expected)


def test_axes_become_their_values_and_domains_guards():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32"), n: T.int32):
        for i in range(8):
            with T.block("inside"):
                vi = T.axis.spatial(8, i)
                T.reads()
                T.writes(A[vi])
                A[vi] = vi
        for i in range(n):
            with T.block("maybe"):
                vi = T.axis.spatial(8, i)
                T.reads()
                T.writes(A[vi])
                A[vi] = vi

    @T.prim_func
    def expected(A: T.Buffer((8,), "int32"), n: T.int32):
        for i in range(8):
            with T.block("inside"):
                T.reads()
                T.writes(A[i])
                A[i] = i
        for i in range(n):
            with T.block("maybe"):
                T.where(i < 8)
                T.reads()
                T.writes(A[i])
                A[i] = i

    check("convert_blocks_to_opaque", before, expected)


def test_matched_buffers_become_their_source():
    @T.prim_func
    def before(A: T.Buffer((16, 16), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("tile"):
                T.reads()
                T.writes(A[i * 4 : i * 4 + 4, j * 4 : j * 4 + 4])
                s = T.int32()
                V = T.match_buffer(A[i * 4 : i * 4 + 4, j * 4 : j * 4 + 4], (4, 4), strides=[s, 1])
                for x, y in T.grid(4, 4):
                    V[y, x] = T.cast(s, "float32")

    @T.prim_func
    def expected(A: T.Buffer((16, 16), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("tile"):
                T.reads()
                T.writes(A[i * 4 : i * 4 + 4, j * 4 : j * 4 + 4])
                for x, y in T.grid(4, 4):
                    A[i * 4 + y, j * 4 + x] = T.cast(16, "float32")

    after = BY_NAME["lower_match_buffer"](before)
    assert "match_buffer" not in after.script()
    assert "A[i * 4 + y, j * 4 + x] = " in after.script()
    assert_structural_equal(
        lower_function(after), lower_function(expected.with_attr("global_symbol", "before"))
    )


@pytest.mark.parametrize("strides", [(4, 1), (16, 2)])
def test_a_matched_buffer_of_other_strides_is_refused(strides):
    @T.prim_func
    def before(A: T.Buffer((16, 16), "float32")):
        with T.block("tile"):
            T.reads()
            T.writes(A[4:8, 4:8])
            V = T.match_buffer(A[4:8, 4:8], (4, 4), strides=strides)
            V[0, 0] = T.float32(1)

    with pytest.raises(LowerError) as caught:
        lower_function(before)
    assert caught.value.code == "match-shape"
    assert "stride of `V`" in str(caught.value)
    assert "T.match_buffer" in str(caught.value)


def test_what_cannot_be_known_of_a_match_is_asserted():
    @T.prim_func
    def before(A: T.Buffer((16,), "float32"), n: T.int32):
        with T.block("tile"):
            T.reads()
            T.writes(A[n : n + 4])
            V = T.match_buffer(A[n : n + 4], (4,), offset_factor=4)
            V[0] = T.float32(1)

    assert 'assert n % 4 == 0, "the offset of `V`' in lower_function(before, "lower_match_buffer").script()


def test_flatten():
    @T.prim_func
    def before(a: T.handle, B: T.Buffer((), "int32"), C: T.Buffer((4, 5, 6), "int32")):
        s = T.int32()
        A = T.match_buffer(a, (4, 5), "int32", strides=[s, 2], elem_offset=7)
        for i, j in T.grid(4, 5):
            A[i, j] = B[()] + C[i, j, 3]

    @T.prim_func
    def expected(a: T.handle, B: T.Buffer((), "int32"), C: T.Buffer((4, 5, 6), "int32")):
        s = T.int32()
        A = T.match_buffer(a, (4, 5), "int32", strides=[s, 2], elem_offset=7)
        A_flat = T.decl_buffer(
            (T.int64(1) + T.int64(3) * T.Cast("int64", s) + T.int64(8) + T.int64(7),), "int32", data=A.data
        )
        B_flat = T.decl_buffer((1,), "int32", data=B.data)
        C_flat = T.decl_buffer((120,), "int32", data=C.data)
        for i, j in T.grid(4, 5):
            A_flat[7 + i * s + j * 2] = B_flat[0] + C_flat[i * 30 + j * 6 + 3]

    after = BY_NAME["flatten_buffer"](before)
    got = [str(line).strip() for line in after.script().splitlines()]
    want = [str(line).strip() for line in expected.script().splitlines()]
    assert got[-1] == want[-1]
    assert got[-4] == want[-4]


def test_large_buffers_are_indexed_in_64_bits():
    @T.prim_func
    def before(A: T.Buffer((65536, 65536), "int8"), B: T.Buffer((4, 4), "int32")):
        for i in range(4):
            A[i, 5] = T.int8(1)
            A[B[i, 0], B[i, 1]] = T.int8(2)
            B[B[i, 0], 1] = 3

    after = lower_function(before).script()
    assert 'A_flat[T.Cast("int64", i) * T.int64(65536) + T.int64(5)] = T.int8(1)' in after
    assert 'T.Cast("int64", B_flat[i * 4]) * T.int64(65536) + T.Cast("int64", B_flat[i * 4 + 1])' in after
    assert 'B_flat[T.Cast("int64", B_flat[i * 4]) * T.int64(4) + T.int64(1)] = 3' in after


def test_vectors():
    @T.prim_func
    def before(A: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
        for i in range(8):
            for j in T.vectorized(8):
                O[i * 8 + j] = A[i * 8 + (7 - j)] + T.float32(1)

    @T.prim_func
    def expected(A: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
        for i in range(8):
            O[i * 8 : i * 8 + 8] = A[T.Ramp(i * 8 + 7, -1, 8)] + T.Broadcast(T.float32(1), 8)

    check("vectorize_loop", before, expected)


def test_long_vectors_are_cut():
    @T.prim_func
    def before(O: T.Buffer((149,), "float32")):
        for i in T.vectorized(149):
            O[i] = T.float32(1)

    @T.prim_func
    def expected(O: T.Buffer((149,), "float32")):
        for c in range(2):
            O[c * 64 : c * 64 + 64] = T.Broadcast(T.float32(1), 64)
        O[128:144] = T.Broadcast(T.float32(1), 16)
        O[144:149] = T.Broadcast(T.float32(1), 5)

    check("vectorize_loop", before, expected)


def test_a_uniform_condition_stays_and_a_split_one_is_tested_once():
    @T.prim_func
    def before(O: T.Buffer((30,), "float32"), n: T.int32):
        for i in range(4):
            for j in T.vectorized(8):
                if n > i:
                    O[i] = T.float32(2)
                if i * 8 + j < 30:
                    O[i * 8 + j] = T.float32(1)

    after = BY_NAME["vectorize_loop"](before).script()
    assert "if n > i:" in after
    assert "if i * 8 + 7 < 30:" in after
    assert "O[i * 8:i * 8 + 8] = T.Broadcast(T.float32(1), 8)" in after


def test_dependent_iterations_run_in_order():
    @T.prim_func
    def carried(A: T.Buffer((64,), "int32")):
        for i in T.vectorized(63):
            A[i + 1] = A[i]

    @T.prim_func
    def reduced(A: T.Buffer((64,), "int32"), O: T.Buffer((1,), "int32")):
        for i in T.vectorized(64):
            O[0] = O[0] + A[i]

    @T.prim_func
    def diagonal(A: T.Buffer((64,), "int32")):
        for i in T.vectorized(8):
            for k in range(8):
                A[i + k] = A[i + k] + 1

    @T.prim_func
    def scattered(A: T.Buffer((64,), "int32"), B: T.Buffer((8,), "int32")):
        for i in T.vectorized(8):
            A[B[i]] = i

    @T.prim_func
    def called(A: T.Buffer((64,), "int32")):
        for i in T.vectorized(8):
            T.evaluate(T.call_extern("int32", "f", A[i]))

    for f in (carried, reduced, diagonal, scattered, called):
        assert kinds(BY_NAME["serialize_dependent_loops"](f))[0] == "serial", f.name


def test_independent_iterations_stay_vectorized():
    @T.prim_func
    def rows(A: T.Buffer((8, 64), "int32"), n: T.int32):
        for i in T.vectorized(8):
            for k in range(64):
                A[i, k] = A[i, k] + n

    @T.prim_func
    def columns(A: T.Buffer((64, 8), "int32")):
        for i in T.vectorized(8):
            for k in range(63):
                A[k + 1, i] = A[k, i]

    @T.prim_func
    def flat(A: T.Buffer((512,), "int32")):
        for i in T.vectorized(8):
            for k in range(64):
                A[i * 64 + k] = A[i * 64 + k] * 2
                A[i * 64 + k] = A[i * 64 + 63 - k]

    @T.prim_func
    def interleaved(A: T.Buffer((512,), "int32")):
        for i in T.vectorized(8):
            for k in range(64):
                A[k * 8 + i] = A[k * 8 + i] * 2

    @T.prim_func
    def even_and_odd(A: T.Buffer((64,), "int32")):
        for i in T.vectorized(8):
            A[i * 2] = A[i * 2 + 1]

    @T.prim_func
    def far(A: T.Buffer((64,), "int32")):
        for i in T.vectorized(8):
            A[i] = A[i + 8]

    @T.prim_func
    def other(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
        for i in T.vectorized(8):
            A[i] = B[B[i]]

    for f in (rows, columns, flat, interleaved, even_and_odd, far, other):
        assert kinds(BY_NAME["serialize_dependent_loops"](f))[0] == "vectorized", f.name


def test_unroll():
    @T.prim_func
    def before(A: T.Buffer((6,), "int32")):
        for i in T.unroll(2):
            for j in T.unroll(3):
                x: T.int32 = A[i * 3 + j]
                A[i * 3 + j] = x + 1

    after = lower_function(before)
    assert kinds(after) == []
    assert after.script().count("= x + 1") == 6


def test_unrolling_has_a_budget_and_symbolic_loops_stay():
    @T.prim_func
    def huge(A: T.Buffer((3000000,), "int32"), n: T.int32):
        for i in T.unroll(3000000):
            A[i] = i
        for i in T.unroll(n):
            A[i] = i

    assert kinds(unroll_loop(huge)) == ["serial", "unrolled"]


def test_guards_of_splits_are_cut_off():
    @T.prim_func
    def before(A: T.Buffer((18,), "int32")):
        for i_0 in T.parallel(5):
            for i_1 in range(4):
                if i_0 * 4 + i_1 < 18:
                    A[i_0 * 4 + i_1] = 1

    @T.prim_func
    def expected(A: T.Buffer((18,), "int32")):
        for i_0 in T.parallel(4):
            for i_1 in range(4):
                A[i_0 * 4 + i_1] = 1
        for i_0 in range(4, 5):
            for i_1 in range(4):
                if i_0 * 4 + i_1 < 18:
                    A[i_0 * 4 + i_1] = 1

    check("loop_partition", before, expected)


def test_conditions_that_split_a_loop_badly_stay():
    @T.prim_func
    def before(A: T.Buffer((16, 16), "int32")):
        for i, j in T.grid(16, 16):
            if j <= i:
                A[i, j] = 1
            if i < 3:
                A[i, j] = 2
            if A[i, j] > 1:
                A[i, j] = 3

    check("loop_partition", before, before)


def test_allocations_enter_loops_and_shrink():
    @T.prim_func
    def before(A: T.Buffer((8, 16), "float32"), O: T.Buffer((8, 16), "float32")):
        B_data = T.allocate([128], "float32", "global")
        B = T.decl_buffer((8, 16), data=B_data)
        for i in range(8):
            for j in range(16):
                B[i, j] = A[i, j]
            for j in range(16):
                O[i, j] = B[i, 15 - j]

    after = lower_function(before)
    text = after.script()
    assert "T.allocate([16]" in text
    assert text.index("for i in") < text.index("T.allocate")


def test_memory_that_carries_values_stays_outside():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32")):
        B_data = T.allocate([1], "int32", "global")
        B = T.decl_buffer((1,), "int32", data=B_data)
        B[0] = 0
        for i in range(8):
            B[0] = B[0] + A[i]
            A[i] = B[0]

    text = lower_function(before).script()
    assert text.index("T.allocate") < text.index("for i in")


def test_no_ops_go_away():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32")):
        for _ in range(8):
            T.evaluate(0)
        for i in range(0):
            A[i] = 1
        if False:
            A[0] = 1
        else:
            A[1] = 2

    @T.prim_func
    def expected(A: T.Buffer((8,), "int32")):
        A[1] = 2

    check("remove_no_op", before, expected)


def test_a_negative_step_is_refused():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32")):
        for i in range(8):
            A[i] = 1

    loop = before.body
    assert isinstance(loop, For)
    from tirscript.ir.expr import const_int

    bad = before.replace(body=loop.replace(step=const_int(-1)))
    with pytest.raises(LowerError, match="step of loop `i` is -1"):
        lower_function(bad)


def test_a_thread_axis_inside_itself_is_the_same_thread():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32"), B: T.Buffer((4,), "int32")):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for u in T.thread_binding(8, thread="threadIdx.x"):
                A[u] = t
            for u in T.thread_binding(4, thread="threadIdx.x"):
                B[u] = t

    @T.prim_func
    def expected(A: T.Buffer((8,), "int32"), B: T.Buffer((4,), "int32")):
        for t in range(8):
            A[t] = t
            if t < 4:
                B[t] = t

    check("lower_thread_binding", before, expected)


def test_threads_that_exchange_values_are_refused():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32")):
        S = T.alloc_buffer((8,), "int32", scope="shared")
        for t in T.thread_binding(8, thread="threadIdx.x"):
            S[t] = A[t]
            A[t] = S[7 - t]

    with pytest.raises(NotYetError) as caught:
        lower_function(before)
    assert "`S` in shared memory" in str(caught.value)
    assert 'for t in T.thread_binding(8, thread="threadIdx.x"):' in str(caught.value)


def test_a_vectorized_loop_that_is_left_early_runs_in_order():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32")):
        for i in range(8):
            if A[i] > 4:
                break
            A[i] = 0

    assert isinstance(before.body, For)
    vectorized = before.replace(body=before.body.replace(kind="vectorized"))
    assert_structural_equal(lower_function(vectorized), lower_function(before))


def test_views_of_another_dtype_keep_lanes_apart():
    @T.prim_func
    def before(A: T.Buffer((8,), "int32"), O: T.Buffer((8,), "int16")):
        for i in T.vectorized(8):
            S_data = T.allocate([1], "int32", "global")
            S = T.decl_buffer((1,), "int32", data=S_data)
            H = T.decl_buffer((2,), "int16", data=S_data)
            S[0] = A[i]
            O[i] = H[0]

    after = lower_function(before)
    assert kinds(after) == ["serial"]
    a, o = np.arange(8, dtype="int32") * 70000, np.zeros(8, "int16")
    ts.build(before)(a, o)
    np.testing.assert_array_equal(o, a.view("int16")[::2])
