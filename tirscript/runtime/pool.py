"""The thread pool of parallel loops: pthreads, written in LLVM IR, compiled once per process.

``tirscript_parallel(body, record, extent)`` runs ``body(record, from, to, chunk)`` for chunks of
``[0, extent)``, one for each thread; the caller runs chunk 0.  The pool serves one region at a time: a
nested region, or one of another Python thread, runs serially in its caller.

Workers wait for a new generation, spinning a little and then blocking.  The low 16 bits of the generation
are its number of chunks: who takes part knows it from one read, and writes the generation to a cache line of
its own when it ends, so the description of a region stays until it was read; others may miss generations.
Locks are for who blocks and who wakes another, never on the way of threads that spin.  A forked child has no
workers; it starts its own at its first region.

``TIRSCRIPT_POOL=gomp`` gives the work to an OpenMP runtime instead (whose threads do not survive a fork: a
child runs its loops serially), ``TIRSCRIPT_POOL=serial`` to nobody.
"""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import os
import platform
import signal
import sys
import threading
import time
from typing import Any

from tirscript.diagnostics import CallTypeError, CallValueError, did_you_mean

from . import pool_text

MAX_THREADS = 256
_SPIN_SECONDS = 10e-6  # what blocking and waking cost is of this order

_lock = threading.RLock()
_pool: _Pool | None = None
_threads: int | None = None
_pinned = False
_made: list[_Pool] = []  # code in which threads may wait is never unloaded
_SYMBOLS = ("limit", "spins", "pauses", "reset", "stop", "cpus", "started", "handles")
KINDS = ("own", "gomp", "serial")


def default_threads() -> int:
    """TIRSCRIPT_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs that this process may use."""
    for name in ("TIRSCRIPT_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return min(int(text), MAX_THREADS)
    try:
        return min(len(os.sched_getaffinity(0)), MAX_THREADS)
    except AttributeError:
        return min(os.cpu_count() or 1, MAX_THREADS)


def num_threads() -> int:
    """The number of threads that parallel loops use."""
    global _threads
    if _threads is None:
        _threads = default_threads()
    return _threads


def set_num_threads(count: int, pin: bool = False) -> None:
    """Let parallel loops use ``count`` threads, the calling one included.

    ``pin``: each thread of the pool stays on a CPU of its own, where the system can do that (Linux).  The
    calling thread is left free, and the first of the CPUs to it.
    """
    global _threads, _pinned
    if isinstance(count, bool) or not isinstance(count, int):
        raise CallTypeError(f"the number of threads is an int, not {count!r}", code="num-threads")
    if not 1 <= count <= MAX_THREADS:
        raise CallValueError(f"{count} threads: 1 to {MAX_THREADS} are possible", code="num-threads")
    with _lock:
        _threads, _pinned = count, bool(pin)
        if _pool is not None:
            _pool.set_threads(count)
            _pool.pin(_pinned)


def entry() -> int:
    """The address of ``tirscript_parallel``."""
    global _pool
    with _lock:
        if _pool is None:
            made = _Pool(_kind())
            made.set_threads(num_threads())
            made.pin(_pinned)
            _pool = made
        return _pool.entry


def _kind() -> str:
    kind = os.environ.get("TIRSCRIPT_POOL", "") or "own"
    if kind not in KINDS:
        raise CallValueError(
            f"TIRSCRIPT_POOL is {kind!r}; {', '.join(KINDS)} are possible",
            code="pool",
            hint=did_you_mean(kind, KINDS),
        )
    return kind


class _Pool:
    """The compiled pool."""

    def __init__(self, kind: str) -> None:
        from .jit import Machine, load

        if sys.platform == "win32":
            kind = "serial"
        _made.append(self)
        self.threaded = kind != "serial"
        self._own = kind == "own"
        names, symbols = ["tirscript_parallel"], {}
        if kind == "serial":
            text = pool_text.SERIAL
        elif kind == "gomp":
            text, symbols = pool_text.CHUNK + pool_text.GOMP, _openmp()
            names.append("tirscript_pool_limit")
        else:
            text = (pool_text.CHUNK + pool_text.TEXT).replace("PAUSE", _pause())
            text = text.replace("SETMASK", str(int(signal.SIG_SETMASK))).replace("MAX", str(MAX_THREADS))
            text += pool_text.PIN if _can_pin() else pool_text.NO_PIN
            names += [f"tirscript_pool_{n}" for n in _SYMBOLS]
        self._code = load(text, names, Machine(opt_level=2), symbols, ())
        address = self._code.addresses
        self.entry = address["tirscript_parallel"]
        if self.threaded:
            self._limit = ctypes.c_int64.from_address(address["tirscript_pool_limit"])
        if kind == "gomp":
            os.register_at_fork(after_in_child=self._alone)
        if self._own:
            call: Any = ctypes.CFUNCTYPE(None)
            self._cpus = (ctypes.c_int64 * MAX_THREADS).from_address(address["tirscript_pool_cpus"])
            self._handles = (ctypes.c_uint64 * MAX_THREADS).from_address(address["tirscript_pool_handles"])
            self._started = ctypes.c_int64.from_address(address["tirscript_pool_started"])
            self._reset = call(address["tirscript_pool_reset"])
            self._stop = call(address["tirscript_pool_stop"])
            pauses: Any = ctypes.CFUNCTYPE(None, ctypes.c_int64)(address["tirscript_pool_pauses"])
            ctypes.c_int64.from_address(address["tirscript_pool_spins"]).value = _spins(pauses)
            self._reset()
            os.register_at_fork(after_in_child=self._reset)
            atexit.register(self._stop)

    def set_threads(self, count: int) -> None:
        if self.threaded:
            self._limit.value = count

    def _alone(self) -> None:
        """A forked child of a process whose OpenMP threads are gone."""
        self._limit.value = 1

    def pin(self, pinned: bool) -> None:
        """Say on which CPU each worker is to stay (-1: on any), and move those that there are."""
        if not self._own or not _can_pin():
            return
        cpus = sorted(os.sched_getaffinity(0))
        for k in range(1, MAX_THREADS):
            self._cpus[k] = cpus[k % len(cpus)] if pinned else -1
        move: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p)(
            ("pthread_setaffinity_np", ctypes.CDLL(None))
        )
        for k in range(1, self._started.value + 1):
            stays = [self._cpus[k]] if pinned else cpus
            mask = bytearray(_CPU_SET)
            for cpu in stays:
                if cpu < 8 * _CPU_SET:
                    mask[cpu // 8] |= 1 << cpu % 8
            move(self._handles[k], _CPU_SET, (ctypes.c_char * _CPU_SET).from_buffer(mask))


_CPU_SET = 128  # bytes of a cpu_set_t


def _can_pin() -> bool:
    return hasattr(os, "sched_getaffinity") and hasattr(ctypes.CDLL(None), "pthread_setaffinity_np")


def _openmp() -> dict[str, int]:
    """What is used of an OpenMP runtime: GNU's, or LLVM's and Intel's, which export the same."""
    for name in ("gomp", "omp", "iomp5"):
        for path in (ctypes.util.find_library(name), f"lib{name}.so.1", f"lib{name}.so"):
            try:
                library = ctypes.CDLL(path) if path else None
                if library is not None:
                    return {
                        f: ctypes.cast(getattr(library, f), ctypes.c_void_p).value or 0
                        for f in ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")
                    }
            except (OSError, AttributeError):
                continue
    raise CallValueError(
        "TIRSCRIPT_POOL is gomp, and no OpenMP runtime was found",
        code="pool",
        hint="install libgomp, or leave TIRSCRIPT_POOL unset",
    )


def _spins(pauses: Any) -> int:
    """How many pauses to spin: one takes 3 to 140 cycles, by the kind of CPU."""
    count, best = 500, float("inf")
    for _ in range(3):
        start = time.perf_counter()
        pauses(count)
        best = min(best, time.perf_counter() - start)
    return max(50, min(int(_SPIN_SECONDS / best * count), 20_000))


def _pause() -> str:
    """The instruction that tells a CPU that it waits."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64", "i686"):
        return 'call void asm sideeffect "pause", ""()'
    if machine in ("aarch64", "arm64"):
        return 'call void asm sideeffect "yield", ""()'
    return "fence seq_cst"
