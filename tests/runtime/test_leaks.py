"""Many calls keep nothing: from one thread and from sixteen, after a fork, with exceptions in callbacks.

A million calls of each kind in the nightly profile (``HYPOTHESIS_PROFILE=nightly``), fewer otherwise.
"""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tirscript.runtime import callbacks, registry, tensor

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
CALLS = 1_000_000 if NIGHTLY else 40_000
THREADS = 16
ROUNDS = 4

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


class Refused(Exception):
    """What a callback raises."""


def resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def assert_kept(run: Callable[[int], None], counted: list[Any], times: int = CALLS) -> None:
    """``run(n)`` makes ``n`` calls: neither references nor memory are left of them.

    Caches and arenas of the allocator grow now and then; what each call loses is lost in every round.
    """
    run(max(times // 20, 2000))
    gc.collect()
    before, memory = [sys.getrefcount(v) for v in counted], [resident()]
    for _ in range(ROUNDS):
        run(times // ROUNDS)
        gc.collect()
        memory.append(resident())
    after = [sys.getrefcount(v) for v in counted]
    grown = [abs(a - b) for a, b in zip(after, before, strict=True)]
    assert max(grown) < 256, grown
    rounds = [b - a for a, b in itertools.pairwise(memory)]
    assert min(rounds) < max(4 * times // ROUNDS, 1 << 16), rounds


def in_threads(work: Callable[[int], None]) -> Callable[[int], None]:
    """Sixteen threads that share the calls; the first exception of one comes out."""

    def run(times: int) -> None:
        failures: list[BaseException] = []

        def one() -> None:
            try:
                work(times // THREADS)
            except BaseException as e:
                failures.append(e)

        threads = [threading.Thread(target=one) for _ in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if failures:
            raise failures[0]

    return run


def double() -> Any:
    return ts.build(
        ts.parse("""
@T.prim_func
def f(A: T.Buffer((6, 4), "float32"), O: T.Buffer((6, 4), "float32")):
    for i, j in T.grid(6, 4):
        O[i, j] = A[i, j] * T.float32(2)
"""),
        "llvm",
    )["f"]


def calls(f: Any, shared: list[Any]) -> Callable[[int], None]:
    """Right calls of arrays of both kinds, and some wrong ones."""
    a, flat = shared

    def work(times: int) -> None:
        o = np.zeros((6, 4), "float32")
        boxed = tensor(o)
        for n in range(times):
            f(a, boxed if n % 2 else o)
            if n % 50 == 0:
                with pytest.raises(ts.CallError):
                    f(a, flat)
        assert times == 0 or (o == 2 * a).all() or (boxed.numpy() == 2 * a).all()

    return work


def test_calls() -> None:
    f, shared = double(), [np.ones((6, 4), "float32"), np.zeros(24, "float32")]
    assert_kept(calls(f, shared), [*shared, f, f.__self__, None, shared[0].dtype])


def test_calls_from_sixteen_threads() -> None:
    f, shared = double(), [np.ones((6, 4), "float32"), np.zeros(24, "float32")]
    assert_kept(in_threads(calls(f, shared)), [*shared, f, f.__self__, None, shared[0].dtype])


@pytest.fixture
def callback() -> Iterator[list[Any]]:
    """A registered function that raises whenever its argument is odd; what it raised last, weakly."""
    raised: list[Any] = []

    def odd(n: int) -> int:
        if n % 2:
            error = Refused(f"no {n}")
            raised[:] = [weakref.ref(error)]
            raise error
        return n

    ts.register_func("test.odd", odd, override=True)
    yield raised
    registry.remove_global_func("test.odd")


def asking(parallel: bool = False) -> Any:
    loop = "T.parallel(4)" if parallel else "range(4)"
    return ts.build(
        ts.parse(f"""
@T.prim_func
def f(O: T.Buffer((4,), "int32"), n: T.int32):
    for i in {loop}:
        O[i] = T.call_packed("test.odd", n)
"""),
        "llvm",
    )["f"]


def refusals(f: Any) -> Callable[[int], None]:
    def work(times: int) -> None:
        o = np.zeros(4, "int32")
        for n in range(times):
            try:
                f(o, n)
            except Refused as e:
                assert n % 2 == 1 and str(e) == f"no {n}"
            else:
                assert n % 2 == 0 and o[3] == n

    return work


def test_exceptions_in_a_callback(callback: list[Any]) -> None:
    f = asking()
    assert_kept(refusals(f), [f, f.__self__, None, Refused], CALLS // 4)
    gc.collect()
    assert callback[0]() is None


def test_exceptions_in_a_callback_from_sixteen_threads(callback: list[Any]) -> None:
    f = asking()
    assert_kept(in_threads(refusals(f)), [f, f.__self__, None, Refused], CALLS // 4)
    gc.collect()
    assert callback[0]() is None


def test_exceptions_in_the_workers_of_a_loop(callback: list[Any]) -> None:
    """Of several workers that fail in one call, one is asked; of the others only the last are kept."""
    f = asking(parallel=True)
    before = ts.runtime.num_threads()
    ts.set_num_threads(4)
    try:
        assert_kept(refusals(f), [f, f.__self__, None], CALLS // 10)
        assert len(callbacks._failures) <= callbacks._KEPT
    finally:
        ts.set_num_threads(before)


_FORK = """
import os, sys
import numpy as np
import tirscript as ts
from tests.runtime.test_leaks import *

def odd(n):
    if n % 2:
        raise Refused(f"no {n}")
    return n

ts.register_func("test.odd", odd)
f, g, h = double(), asking(), asking(parallel=True)
shared = [np.ones((6, 4), "float32"), np.zeros(24, "float32")]
ts.set_num_threads(3)
refusals(h)(40)  # the pool runs before the fork

def everything():
    assert_kept(calls(f, shared), [*shared, f, f.__self__, None])
    assert_kept(in_threads(calls(f, shared)), [*shared, f, f.__self__, None])
    assert_kept(refusals(g), [g, g.__self__, None, Refused], CALLS // 8)
    assert_kept(refusals(h), [h, h.__self__, None], CALLS // 80)

child = os.fork()
if child == 0:
    try:
        everything()
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
refusals(h)(40)
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork() -> None:
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", _FORK], capture_output=True, text=True,
                          timeout=1800, check=False)  # fmt: skip
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr[-3000:]
