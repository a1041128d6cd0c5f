"""Blocks that touch more than they declare: a warning at definition, an error of the verifier."""

import pytest

import tirscript as tvm
from tirscript.analysis.declared import undeclared
from tirscript.diagnostics import BoundsWarning, WellFormedError
from tirscript.script import from_source
from tirscript.tir.analysis import verify_well_formed


def block(lines: str, *, n: str = "16", shape: str = "(16,)") -> str:
    body = "\n            ".join(lines.strip().split("\n"))
    return f"""
@T.prim_func
def f(A: T.Buffer({shape}, "float32"), O: T.Buffer((16,), "float32")):
    for i in range({n}):
        with T.block("O"):
            vi = T.axis.spatial({n}, i)
            {body}
"""


TOO_SMALL = {
    "no read": ("T.reads()\nT.writes(O[vi])\nO[vi] = A[vi]", "reads A[vi], which its T.reads", "vi=0"),
    "no write": ("T.reads(A[vi])\nT.writes()\nO[vi] = A[vi]", "writes O[vi], which its T.writes", "vi=0"),
    "another element": (
        "T.reads(A[vi])\nT.writes(O[vi])\nO[vi] = A[15 - vi]",
        "reads A[15 - vi], which its T.reads",
        "vi=",
    ),
    "too short": (
        "T.reads(A[vi:vi + 2], O[vi])\nT.writes(O[vi])\nfor j in range(3):\n    O[vi] = O[vi] + A[vi + j]",
        "reads A[vi + j], which its T.reads",
        "j=2",
    ),
    "before it": (
        "T.reads(A[vi + 1:vi + 4])\nT.writes(O[vi])\nO[vi] = A[vi]",
        "reads A[vi], which its T.reads",
        "vi=0",
    ),
}


@pytest.mark.parametrize("name", TOO_SMALL)
def test_too_small(name: str) -> None:
    lines, words, values = TOO_SMALL[name]
    with pytest.warns(BoundsWarning, match="undeclared-access") as caught:
        f = from_source(block(lines, shape="(19,)"))
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.count("vi=") == 1
    assert f'block "O" {words} leaves out' in text and values in text and "^" in text
    with pytest.raises(WellFormedError, match="leaves out") as e:
        verify_well_formed(f)
    assert e.value.code == "undeclared-access" and values in str(e.value)
    assert not verify_well_formed(f, assert_mode=False)


LARGE_ENOUGH = {
    "the same": "T.reads(A[vi])\nT.writes(O[vi])\nO[vi] = A[vi]",
    "larger": "T.reads(A[0:16])\nT.writes(O[0:16])\nO[vi] = A[15 - vi]",
    "a window": "T.reads(A[vi:vi + 3])\nT.writes(O[vi])\nfor j in range(3):\n    O[vi] = O[vi] + A[vi + j]",
    "in two parts": "T.reads(A[0:8], A[8:16])\nT.writes(O[vi])\nO[vi] = A[vi]",
    "under a condition": "T.reads(A[vi])\nT.writes(O[vi])\nO[vi] = T.if_then_else(vi > 20, O[vi], A[vi])",
    "cells that it updates": "T.reads(A[vi])\nT.writes(O[vi])\nO[vi] = 0.0\nO[vi] = O[vi] + A[vi]",
    "scratch of its own": (
        "T.reads(A[vi])\nT.writes(O[vi])\nS = T.alloc_buffer((1,))\nS[0] = A[vi]\nO[vi] = S[0]"
    ),
    "opaque": 'T.reads()\nT.writes()\nT.evaluate(T.call_extern("int32", "g", O.data, A.data))',
    "overridden": 'T.reads()\nT.writes(O[vi])\nT.block_attr({"explicit_read_region": [0]})\nO[vi] = A[vi]',
}


@pytest.mark.parametrize("name", LARGE_ENOUGH)
def test_large_enough(name: str) -> None:
    f = from_source(block(LARGE_ENOUGH[name], shape="(19,)"))
    assert undeclared(f) == [] and verify_well_formed(f)


def test_a_reduction_does_not_list_the_cells_that_it_updates() -> None:
    f = from_source("""
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), O: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:8])
            T.writes(O[vi])
            for j in range(8):
                with T.block("inner"):
                    vj = T.axis.reduce(8, j)
                    T.reads(A[vi, vj])
                    T.writes(O[vi])
                    with T.init():
                        O[vi] = 0.0
                    O[vi] = O[vi] + A[vi, vj]
""")
    assert undeclared(f) == []


def test_a_nested_block_goes_by_what_both_declare() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), O: T.Buffer((4, 8), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:{n}])
            T.writes(O[vi, 0:8])
            for j in range(8):
                with T.block("inner"):
                    vj = T.axis.spatial(8, j)
                    T.reads(A[vi, vj])
                    T.writes(O[vi, vj])
                    O[vi, vj] = A[vi, vj]
"""
    assert undeclared(from_source(text.format(n=8))) == []
    with pytest.warns(BoundsWarning, match=r'block "outer" reads A\[vi, vj\]') as caught:
        from_source(text.format(n=7))
    assert "j=7" in str(caught[0].message)


def test_what_size_decides_is_not_reported() -> None:
    f = from_source("""
@T.prim_func
def f(a: T.handle, o: T.handle, n: T.int32):
    A = T.match_buffer(a, (n,)); O = T.match_buffer(o, (n,))
    for i in range(n):
        with T.block("O"):
            vi = T.axis.spatial(n, i)
            T.reads(A[0:n])
            T.writes(O[vi])
            O[vi] = A[vi]
""")
    assert undeclared(f) == []


def test_what_primitives_write_is_declared() -> None:
    """A primitive derives the regions of what it changes: the verifier finds nothing after any step."""
    f = from_source("""
@T.prim_func
def mm(A: T.Buffer((32, 32)), B: T.Buffer((32, 32)), C: T.Buffer((32, 32))):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
""")
    sch = tvm.Schedule(f)
    c = sch.get_block("C")
    i, j, k = sch.get_loops(c)
    i0, i1 = sch.split(i, [None, 5])
    sch.reorder(i0, k, i1, j)
    sch.cache_read(c, 0, "local")
    sch.cache_write(c, 0, "local")
    sch.compute_at("A_local", i0)
    sch.reverse_compute_at("C_local", i0)
    sch.blockize(i1)
    assert verify_well_formed(sch.mod)
