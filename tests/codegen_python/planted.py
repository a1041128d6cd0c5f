"""Programs with one fault each: what the sanitizer calls it, where, and what it must say.

A program stands under ``#: code``; the line with the fault ends in ``#!``.  ``SAYS`` are the words that the
report must contain, ``ARGS`` what is passed where random inputs are not enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

TEXT = """
#: out-of-bounds-read
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
    for i, j in T.grid(4, 8):
        B[i] = A[i, j + n] #!

#: out-of-bounds-write
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), n: T.int32):
    for i in range(4):
        for j in range(8):
            A[i + n, j] = T.float32(1) #!

#: negative-index
@T.prim_func
def f(A: T.Buffer((8,), "float32"), J: T.Buffer((8,), "int32")):
    for i in range(8):
        A[J[i]] = T.float32(1) #!

#: uninitialised-read
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    X = T.alloc_buffer((8,))
    for i in range(7):
        with T.block("X"):
            vi = T.axis.spatial(7, i)
            X[vi] = A[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = X[vi] #!

#: uninitialised-read stale
@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    for i in range(4):
        p = T.allocate([1], "float32", "global")
        x = T.decl_buffer((1,), "float32", data=p)
        if i == 0:
            x[0] = T.float32(1)
        A[i] = x[0] #!

#: missing-init
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    S = T.alloc_buffer((4,))
    for i, k in T.grid(4, 8):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            S[vi] = S[vi] + A[vi, vk] #!
    for i in range(4):
        B[i] = S[i]

#: undeclared-read
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[7 - vi] #!

#: undeclared-write
@T.prim_func
def f(A: T.Buffer((8, 2), "float32"), B: T.Buffer((8, 2), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:2])
            T.writes(B[vi, 0])
            B[vi, 0] = A[vi, 0]
            B[vi, 1] = A[vi, 1] #!

#: undeclared-write view
@T.prim_func
def f(A: T.Buffer((4, 4), "float32")):
    flat = T.decl_buffer((16,), "float32", data=A.data)
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            T.reads()
            T.writes(A[vi, 0:2])
            for j in range(3):
                flat[vi * 4 + j] = T.float32(1) #!

#: init-outside-writes
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), B: T.Buffer((5,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(B[vi])
            with T.init():
                B[vi + 1] = T.float32(0) #!
            B[vi] = B[vi] + A[vi, vk]

#: race
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32")):
    for i in T.parallel(8):
        B[i // 2] = A[i] #!

#: race of a reduction
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    for k in T.parallel(8):
        B[0] = B[0] + A[k] #!

#: race read after
@T.prim_func
def f(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
    for i in T.parallel(8):
        for j in range(1):
            B[i] = A[i] #!
            A[i] = B[i + 1]

#: race through a view
@T.prim_func
def f(A: T.Buffer((4, 4), "float32")):
    flat = T.decl_buffer((16,), "float32", data=A.data)
    for i in T.parallel(4):
        A[i, 3] = T.float32(0) #!
        flat[15 - i * 4] = T.float32(2)

#: lane-dependence
@T.prim_func
def f(A: T.Buffer((9,), "float32")):
    for i in T.vectorized(8):
        A[i + 1] = A[i] #!

#: thread-race
@T.prim_func
def f(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    S = T.alloc_buffer((32,), scope="shared")
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            S[tx] = A[tx]
            if tx > 0:
                B[tx] = S[tx - 1] #!

#: lane-conflict
@T.prim_func
def f(A: T.Buffer((8,), "float32"), J: T.Buffer((4,), "int32")):
    A[J[T.Ramp(0, 1, 4)]] = T.Broadcast(T.float32(1), 4) #!

#: spatial-conflict
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi // 2] = A[vi] #!

#: spatial-conflict of a scan
@T.prim_func
def f(A: T.Buffer((9,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi + 1] = A[vi] + A[vi + 1] #!

#: repeated-instance
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(4, i // 2)
            B[vi] = B[vi] + A[vi] #!

#: repeated-instance of a reduction
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((1,), "float32")):
    for k in range(8):
        with T.block("B"):
            vk = T.axis.reduce(4, k % 4)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[vk] #!

#: axis-outside-domain
@T.prim_func
def f(A: T.Buffer((16,), "float32"), J: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("A"): #!
            vi = T.axis.spatial(8, J[i] + 3)
            A[vi] = T.float32(0)

#: axis-not-covered
@T.prim_func
def f(a: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m,), "float32")
    for i in range(n):
        with T.block("A"): #!
            vi = T.axis.spatial(m, i)
            A[vi] = T.float32(0)

#: axis-not-covered never reached
@T.prim_func
def f(A: T.Buffer((8,), "float32"), n: T.int32):
    for i in range(n - 3):
        with T.block("A"): #!
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)

#: division-by-zero
@T.prim_func
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        A[i] = A[i] // B[i] #!

#: division-by-zero exact
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(8):
        A[i] = 12 % (i - n) #!

#: division-by-zero truncating
@T.prim_func
def f(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "int8")):
    for i in range(8):
        A[i] = T.truncmod(A[i], B[i]) #!

#: index-overflow
@T.prim_func
def f(A: T.Buffer((2,), "int64"), n: T.int64):
    for i in range(2):
        A[i] = n * n + i #!

#: data-overflow
@T.prim_func
def f(A: T.Buffer((8,), "int8")):
    for i in range(8):
        A[i] = A[i] + T.int8(100) #!

#: shift-count
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(8):
        A[i] = A[i] << (i + n) #!

#: cast-out-of-range
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int8")):
    for i in range(4):
        B[i] = T.Cast("int8", A[i]) #!

#: cast-of-nan
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.Cast("int32", A[i]) #!

#: aliasing
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        cls.copy(A.data, A.data)

    @T.prim_func(private=True)
    def copy(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")): #!
        for i in range(8):
            Y[i] = X[i]

#: shape-mismatch
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((6,), "float32")):
        cls.copy(A.data, B.data)

    @T.prim_func(private=True)
    def copy(x: T.handle, y: T.handle):
        n = T.int32()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32") #!
        for i in range(n):
            Y[i] = X[i]

#: match-shape
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    for i in range(2):
        with T.block("A"):
            vi = T.axis.spatial(2, i)
            T.reads()
            T.writes(A[0:8, 0:8])
            S = T.match_buffer(A[0:n, 0:4], (4, 4)) #!
            S[0, 0] = T.float32(1)

#: match-strides
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    with T.block("A"):
        T.reads()
        T.writes(A[0:8, 0:8])
        S = T.match_buffer(A[0:4, 0:4], (4, 4), strides=[n, 1]) #!
        S[0, 0] = T.float32(1)

#: match-offset
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    with T.block("A"):
        T.reads()
        T.writes(A[0:8, 0:8])
        S = T.match_buffer(A[1:5, 0:8], (4, 8), elem_offset=n) #!
        S[0, 0] = T.float32(1)

#: thread-bound-twice
@T.prim_func
def f(A: T.Buffer((4, 4), "float32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for j in T.thread_binding(4, thread="threadIdx.x"): #!
            A[i, j] = T.float32(1)

#: match-offset-factor
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    with T.block("A"):
        T.reads()
        T.writes(A[0:8, 0:8])
        s = T.int32()
        S = T.match_buffer(A[0:4, n:n + 4], (4, 4), strides=[s, 1], offset_factor=4) #!
        S[0, 0] = T.float32(1)

#: match-out-of-bounds
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), n: T.int32):
    with T.block("A"):
        T.reads()
        T.writes(A[0:8, 0:8])
        S = T.match_buffer(A[n:n + 4, 0:8], (4, 8)) #!
        S[0, 0] = T.float32(1)

#: view-outside-memory
@T.prim_func
def f(A: T.Buffer((8,), "float32"), n: T.int32):
    B = T.decl_buffer((n,), "float32", data=A.data) #!
    B[0] = T.float32(1)

#: constant-written
@T.prim_func
def f(A: T.Buffer((4,), "int32"), n: T.int32):
    p = T.allocate_const([1, 2, 3, 4], "int32", [4])
    C = T.decl_buffer((4,), "int32", data=p)
    for i in range(4):
        A[i] = C[i]
        if i == n:
            C[i] = 0 #!

#: local-of-another-thread
@T.prim_func
def f(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    L = T.alloc_buffer((32,), scope="local")
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        L[tx] = A[tx]
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        B[tx] = L[31 - tx] #!

#: shared-of-another-block
@T.prim_func
def f(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    S = T.alloc_buffer((32,), scope="shared")
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            S[bx * 8 + tx] = A[bx * 8 + tx]
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            B[bx * 8 + tx] = S[31 - (bx * 8 + tx)] #!

#: endless-loop
@T.prim_func
def f(A: T.Buffer((4,), "int32")):
    A[0] = 0
    while A[0] < 10: #!
        A[1] = 5
        if A[0] < 7:
            A[0] = A[0] + 1

#: loop-step
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(0, 8, n): #!
        A[i] = 1

#: negative-extent
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    p = T.allocate([n - 10], "int32", "global") #!
    X = T.decl_buffer((1,), "int32", data=p)
    A[0] = 1

#: thread-extent
@T.prim_func
def f(A: T.Buffer((32,), "float32"), n: T.int32):
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            A[bx * 8 + tx] = T.float32(0)
        for tx in T.thread_binding(n, thread="threadIdx.x"): #!
            A[bx * 8 + 16 + tx] = T.float32(1)

#: assumption
@T.prim_func
def f(A: T.Buffer((8,), "int32"), n: T.int32):
    T.assume(n > 3) #!
    A[0] = n

#: assert
@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    for i in range(8):
        assert A[i] < 3, "too large" #!

#: missing-return
@T.prim_func
def f(n: T.int32) -> T.int32: #!
    if n > 5:
        T.ret(n)
"""

SAYS: dict[str, list[str]] = {
    "out-of-bounds-read": ["A[0, 8]", "shape of A is (4, 8)", "i = 0, j = 6"],
    "out-of-bounds-write": ["A[4, 0]", "i = 2, j = 0"],
    "negative-index": ["A[-2]", "i = 3"],
    "uninitialised-read": ["X[7]", "i = 7", "vi = 7"],
    "uninitialised-read stale": ["x[0]", "i = 1"],
    "missing-init": ["S[0]", "i = 0, k = 0", "T.init"],
    "undeclared-read": ['block "B"', "A[7]", "it declares A[0]", "i = 0"],
    "undeclared-write": ["B[0, 1]", "it declares B[0, 0]"],
    "undeclared-write view": ["flat[2]", "it declares A[0, 0:2]", "j = 2"],
    "init-outside-writes": ["the init of", "B[1]", "it declares B[0]"],
    "race": ["parallel loop `i`", "i = 0 and i = 1", "both write B[0]", "written at i = 1"],
    "race of a reduction": ["k = 0 and k = 1", "B[0]"],
    "race read after": ["i = 0 and i = 1", "read and write B[1]"],
    "race through a view": ["A[2, 3]", "i = 1 and i = 2"],
    "lane-dependence": ["vectorized loop `i`", "write and read A[1]", "i = 0 and i = 1"],
    "thread-race": ["thread-bound loop `tx`", "tx = 0 and tx = 1", "S[0]"],
    "lane-conflict": ["lanes 1 and 3", "A[5]"],
    "spatial-conflict": ["B[0]", "vi = 0", "vi = 1", "both write"],
    "spatial-conflict of a scan": ["A[1]", "write and read", "scan"],
    "repeated-instance": ["vi = 0", "second time", "B[0]"],
    "repeated-instance of a reduction": ["vk = 0", "second time", "B[0]"],
    "axis-outside-domain": ["`vi` is 8", "[0, 8)", "i = 5"],
    "axis-not-covered": ["miss 2 of its 8 instances", "vi = 6"],
    "axis-not-covered never reached": ["miss 8 of its 8", "vi = 0"],
    "division-by-zero": ["A[i] // B[i]", "i = 2"],
    "division-by-zero exact": ["12 % (i - n)", "i = 5"],
    "division-by-zero truncating": ["T.truncmod(A[i], B[i])", "i = 2"],
    "index-overflow": ["n * n", str(1 << 80)],
    "data-overflow": ["A[i] + T.int8(100)", "is 128", "i = 3"],
    "shift-count": ["by 32 bits", "i = 2"],
    "cast-out-of-range": ["200.0", "int8", "i = 2"],
    "cast-of-nan": ["nan", "i = 1"],
    "aliasing": ["`X`", "`Y`", "noalias"],
    "shape-mismatch": ["`Y` has the shape (8,)", "(6,)"],
    "match-shape": ["A[0:5, 0:4]", "(4, 4)"],
    "match-strides": ["stride 5", "has 8"],
    "match-offset": ["elem_offset 16", "starts 8 elements"],
    "thread-bound-twice": ["threadIdx.x"],
    "match-offset-factor": ["offset_factor 4", "3 elements"],
    "match-out-of-bounds": ["A[5:9, 0:8]", "(8, 8)"],
    "view-outside-memory": ["bytes 0 to 36", "32 bytes"],
    "constant-written": ["C[2]", "i = 2"],
    "local-of-another-thread": ["L[31]", "threadIdx.x = 0", "threadIdx.x = 31"],
    "shared-of-another-block": ["S[31]", "blockIdx.x = 0", "blockIdx.x = 3"],
    "endless-loop": ["never ends", "after 8 rounds"],
    "loop-step": ["is 0"],
    "negative-extent": ["(-6,)"],
    "thread-extent": ["extent 4 here and 8 before"],
    "assumption": ["T.assume"],
    "assert": ["too large", "i = 4"],
    "missing-return": ["`f`"],
}

F32 = np.float32


def _zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


ARGS: dict[str, Callable[[], list[Any]]] = {
    "out-of-bounds-read": lambda: [_zeros(4, 8), _zeros(4), 2],
    "out-of-bounds-write": lambda: [_zeros(4, 8), 2],
    "negative-index": lambda: [_zeros(8), np.array([0, 1, 2, -2, 0, 0, 0, 0], "int32")],
    "lane-conflict": lambda: [_zeros(8), np.array([0, 5, 2, 5], "int32")],
    "axis-outside-domain": lambda: [_zeros(16), np.arange(8, dtype="int32")],
    "axis-not-covered": lambda: [_zeros(8), 6],
    "axis-not-covered never reached": lambda: [_zeros(8), 2],
    "division-by-zero": lambda: [np.arange(8, dtype="int32"), np.array([2, 1, 0, 3, 4, 5, 6, 7], "int32")],
    "division-by-zero exact": lambda: [_zeros(8, dtype="int32"), 5],
    "division-by-zero truncating": lambda: [
        np.arange(8, dtype="int8"),
        np.array([2, 1, 0] + [1] * 5, "int8"),
    ],
    "index-overflow": lambda: [_zeros(2, dtype="int64"), 1 << 40],
    "data-overflow": lambda: [np.array([1, 2, 3, 28, 0, 0, 0, 0], "int8")],
    "shift-count": lambda: [_zeros(8, dtype="int32"), 30],
    "cast-out-of-range": lambda: [np.array([1, -128.9, 200, 0], F32), _zeros(4, dtype="int8")],
    "cast-of-nan": lambda: [np.array([1, np.nan, 200, 0], F32), _zeros(4, dtype="int32")],
    "match-shape": lambda: [_zeros(8, 8), 5],
    "match-strides": lambda: [_zeros(8, 8), 5],
    "match-offset": lambda: [_zeros(8, 8), 16],
    "match-offset-factor": lambda: [_zeros(8, 8), 3],
    "match-out-of-bounds": lambda: [_zeros(8, 8), 5],
    "view-outside-memory": lambda: [_zeros(8), 9],
    "constant-written": lambda: [_zeros(4, dtype="int32"), 2],
    "loop-step": lambda: [_zeros(8, dtype="int32"), 0],
    "negative-extent": lambda: [_zeros(8, dtype="int32"), 4],
    "thread-extent": lambda: [_zeros(32), 4],
    "assumption": lambda: [_zeros(8, dtype="int32"), 3],
    "assert": lambda: [np.array([0, 1, 2, 0, 3, 5, 0, 0], "int32")],
    "missing-return": lambda: [5],
}


def planted() -> dict[str, str]:
    """The programs by name."""
    out: dict[str, str] = {}
    for part in TEXT.split("\n#: ")[1:]:
        head, _, text = part.partition("\n")
        out[head.strip()] = text.strip() + "\n"
    return out
