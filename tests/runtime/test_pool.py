"""The thread pool: all iterations once, from many threads, after a fork, while signals arrive."""

from __future__ import annotations

import ctypes.util
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import buffer, build, function, load, loop, store
from tirscript.diagnostics import CallTypeError, CallValueError
from tirscript.ir.expr import Var
from tirscript.runtime import num_threads, pool, set_num_threads


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = num_threads()
    yield
    set_num_threads(before)


def counter() -> Any:
    """Adds one to every element, in parallel."""
    n = Var("n")
    a = buffer("A", n, dtype="int32")
    return build(function([a], loop(n, lambda i: store(a, load(a, i) + 1, i), "parallel")))


@pytest.fixture(scope="module")
def count() -> Any:
    return counter()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 64, 1001])
@pytest.mark.parametrize("workers", [1, 2, 3, 7, 64])
def test_every_iteration_runs_once(count: Any, n: int, workers: int) -> None:
    set_num_threads(workers)
    a = np.zeros(n, "int32")
    for _ in range(50):
        count(a)
    assert (a == 50).all()


def test_changing_the_number_of_threads(count: Any) -> None:
    a = np.zeros(1000, "int32")
    for k in range(200):
        set_num_threads(k % 5 + 1)
        count(a)
    assert (a == 200).all() and num_threads() == 5


@pytest.mark.parametrize(
    "bad, error",
    [
        (0, CallValueError), (-1, CallValueError), (1000, CallValueError), (1.5, CallTypeError),
        ("2", CallTypeError), (True, CallTypeError),
    ],
)  # fmt: skip
def test_wrong_numbers(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        set_num_threads(bad)


def test_many_python_threads_at_once(count: Any) -> None:
    """The pool serves one; the others run their loops themselves."""
    set_num_threads(2)
    arrays = [np.zeros(500, "int32") for _ in range(8)]

    def work(a: np.ndarray) -> None:
        for _ in range(100):
            count(a)

    running = [threading.Thread(target=work, args=(a,)) for a in arrays]
    for t in running:
        t.start()
    for t in running:
        t.join()
    assert all((a == 100).all() for a in arrays)


def test_after_sleep(count: Any) -> None:
    """Workers that have blocked wake up."""
    set_num_threads(3)
    a = np.zeros(100, "int32")
    for _ in range(5):
        count(a)
        time.sleep(0.02)
    assert (a == 5).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork(count: Any) -> None:
    """A child made after a parallel region runs its own, and ends."""
    set_num_threads(2)
    count(np.zeros(100, "int32"))
    for _ in range(5):
        child = os.fork()
        if child == 0:
            a = np.zeros(1000, "int32")
            for _ in range(20):
                count(a)
            os._exit(0 if (a == 20).all() else 1)
        deadline = time.monotonic() + 20
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                pytest.fail("the child hangs")
            time.sleep(0.01)
        assert os.waitstatus_to_exitcode(status) == 0
        a = np.zeros(100, "int32")
        count(a)
        assert (a == 1).all()


def _in_child(queue: Any) -> None:
    run = counter()
    a = np.zeros(1000, "int32")
    for _ in range(10):
        run(a)
    queue.put(int(a.sum()))


def test_multiprocessing(count: Any) -> None:
    set_num_threads(2)
    count(np.zeros(100, "int32"))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == 10_000
    child.join(30)
    assert child.exitcode == 0


_PROGRAM = """
    import numpy as np
    from tests.runtime.test_pool import counter
    from tirscript.runtime import num_threads
    run = counter()
    a = np.zeros(1000, "int32")
    for _ in range(10):
        run(a)
    print(int(a.sum()), num_threads())
"""


def _run(program: str, **environment: str) -> str:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    env = {k: v for k, v in os.environ.items() if k not in ("TIRSCRIPT_NUM_THREADS", "OMP_NUM_THREADS")}
    env |= environment
    path = os.pathsep.join([root, env.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=60, env=env | {"PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.strip()


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize(
    "environment, threads",
    [
        ({"TIRSCRIPT_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "2,1"}, 2),
        ({"TIRSCRIPT_NUM_THREADS": "2", "OMP_NUM_THREADS": "9"}, 2),
        ({"TIRSCRIPT_POOL": "serial", "OMP_NUM_THREADS": "3"}, 3),
        ({"TIRSCRIPT_NUM_THREADS": "x", "OMP_NUM_THREADS": "0"}, _cpus()),
    ],
)  # fmt: skip
def test_environment(environment: dict[str, str], threads: int) -> None:
    """The settings are read, and the process ends with its workers."""
    assert _run(_PROGRAM, **environment) == f"10000 {threads}"


def test_signals_reach_python() -> None:
    """Ctrl-C after a parallel region interrupts the main thread's sleep."""
    program = """
        import os, signal, threading, time
        import numpy as np
        from tests.runtime.test_pool import counter
        run = counter()
        run(np.zeros(1000, "int32"))
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            time.sleep(20)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - start < 10)
    """
    assert _run(program, TIRSCRIPT_NUM_THREADS="4") == "interrupted True"


def test_the_pool_is_made_once() -> None:
    assert pool.entry() == pool.entry() != 0


@pytest.mark.skipif(
    not any(ctypes.util.find_library(n) for n in ("gomp", "omp", "iomp5")), reason="no OpenMP runtime here"
)
def test_an_openmp_runtime_instead() -> None:
    """Its threads run the loops; a forked child, which has none, runs its loops alone."""
    program = """
        import os, sys
        import numpy as np
        from tests.runtime.test_pool import counter
        from tirscript.runtime import num_threads, set_num_threads
        run = counter()
        for n in (0, 1, 2, 3, 1000):
            a = np.zeros(n, "int32")
            for k in range(20):
                set_num_threads(k % 4 + 1)
                run(a)
            assert (a == 20).all(), n
        threads = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 4
        if hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                b = np.zeros(1000, "int32")
                run(b)
                os._exit(0 if (b == 1).all() else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print(threads > 2, num_threads())
    """
    assert _run(program, TIRSCRIPT_POOL="gomp", OMP_NUM_THREADS="4") == "True 4"


def test_a_pool_that_there_is_not() -> None:
    program = """
        from tests.runtime.test_pool import counter
        from tirscript.diagnostics import CallValueError
        try:
            counter()
        except CallValueError as e:
            print("did you mean" in str(e), "own, gomp, serial" in str(e))
    """
    assert _run(program, TIRSCRIPT_POOL="gmp") == "True True"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_pinned_workers() -> None:
    """Each worker stays on one CPU, those that run already and those that come; and is let go again."""
    program = """
        import os, time
        import numpy as np
        from tests.runtime.test_pool import counter
        from tirscript.runtime import set_num_threads

        def allowed():
            found = {}
            for task in os.listdir("/proc/self/task"):
                if int(task) != os.getpid():
                    with open(f"/proc/self/task/{task}/status") as f:
                        found[task] = [l.split()[1] for l in f if l.startswith("Cpus_allowed_list")][0]
            return found

        cpus = sorted(os.sched_getaffinity(0))
        before = set(allowed())
        run, a = counter(), np.zeros(1000, "int32")
        set_num_threads(2)
        run(a)
        set_num_threads(4, pin=True)
        run(a)
        time.sleep(0.2)
        own = {t: c for t, c in allowed().items() if t not in before}
        print(sorted(own.values()) == sorted(str(cpus[k % len(cpus)]) for k in (1, 2, 3)), end=" ")
        set_num_threads(4)
        run(a)
        print(all(len(os.sched_getaffinity(int(t))) == len(cpus) for t in own), (a == 3).all())
        assert os.sched_getaffinity(0) == set(cpus)
    """
    assert _run(program) == "True True True"
