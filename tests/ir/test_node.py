"""Nodes: generated methods, identity, immutability when it is asked for."""

import os
import pickle
import subprocess
import sys

from tirscript.ir.buffer import make_buffer
from tirscript.ir.expr import Add, BufferLoad, Call, Mul, Ramp, Shuffle, Var, const_int
from tirscript.ir.node import walk
from tirscript.ir.stmt import BufferStore, For, IfThenElse, SeqStmt


def test_children_are_uses_in_order_of_evaluation():
    x, y = Var("x"), Var("y")
    a = make_buffer("A", (const_int(8),), "int32")
    load = BufferLoad(a, (x,))
    assert [type(n) for n in (load + y).children()] == [BufferLoad, Var]
    store = BufferStore(a, load, (y,))
    assert store.children() == (load, y)
    loop = For(x, const_int(0), const_int(8), "serial", store)
    assert [n is m for n, m in zip(loop.children(), (loop.min, loop.extent, store), strict=True)] == [
        True
    ] * 3
    branch = IfThenElse(x < 3, store)
    assert len(branch.children()) == 2
    assert len(branch.replace(else_case=store).children()) == 3


def test_map_children_keeps_what_does_not_change():
    x, y, z = Var("x"), Var("y"), Var("z")
    e = Add(x, Mul(y, y))
    assert e.map_children(lambda n: n) is e
    changed = e.map_children(lambda n: z if n is x else n)
    assert changed is not e
    assert changed.a is z
    assert changed.b is e.b
    call = Call("int32", "max", (x, y))
    assert call.map_children(lambda n: n) is call
    assert call.map_children(lambda n: z if n is y else n).args == (x, z)


def test_replace_recomputes_what_is_derived():
    x, long = Var("x"), Var("n", "int64")
    e = Add(x, x)
    assert e.replace(a=long, b=long).dtype == "int64"
    ramp = Ramp(x, const_int(1), 4)
    assert ramp.dtype == "int32x4"
    assert ramp.replace(lanes=8).dtype == "int32x8"


def test_vector_dtypes_of_accesses():
    a = make_buffer("A", (const_int(8), const_int(64)), "float16")
    x = Var("x")
    assert BufferLoad(a, (x, x)).dtype == "float16"
    assert BufferLoad(a, (x, Ramp(x, const_int(1), 8))).dtype == "float16x8"
    assert BufferLoad(make_buffer("B", ()), ()).dtype == "float32"
    v = BufferLoad(a, (x, Ramp(x, const_int(1), 8)))
    assert Shuffle((v,), (const_int(3),)).dtype == "float16"
    assert Shuffle((v, v), tuple(const_int(i) for i in range(12))).dtype == "float16x12"


def test_identity_and_hash():
    x, also = Var("x"), Var("x")
    assert x != also
    assert len({x, also}) == 2
    assert const_int(3) is const_int(3)


def test_walk_is_preorder_and_needs_no_recursion():
    x = Var("x")
    e = x
    for _ in range(50_000):
        e = Add(e, x)
    assert sum(1 for _ in walk(e)) == 100_001
    first = SeqStmt((BufferStore(make_buffer("A", (x,)), x, (x,)),) * 2)
    assert [type(n).__name__ for n in walk(first)][:3] == ["SeqStmt", "BufferStore", "Var"]


def test_nodes_pickle():
    x = Var("x")
    copy = pickle.loads(pickle.dumps(Add(x, x)))
    assert copy.a is copy.b
    assert copy.a.name == "x"


def test_frozen_on_request():
    program = (
        "from tirscript.ir.expr import Add, Var\n"
        "x = Var('x')\n"
        "e = Add(x, x).replace(b=Var('y'))\n"
        "try:\n    e.a = x\n"
        "except AttributeError:\n    print('frozen', e.dtype, e.b.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TIRSCRIPT_FROZEN": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "frozen int32 y\n"
