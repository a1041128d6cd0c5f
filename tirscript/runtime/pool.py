"""The thread pool of parallel loops: pthreads, written in LLVM IR, compiled once per process.

``tirscript_parallel(body, record, extent)`` runs ``body(record, from, to, chunk)`` for chunks of
``[0, extent)``, one for each thread; the caller runs chunk 0.  The pool serves one region at a time: a
nested region, or one of another Python thread, runs serially in its caller.

Workers wait for a new generation, spinning a little and then blocking.  The low 16 bits of the generation
are its number of chunks: who takes part knows it from one read, and acknowledges, so the description of a
region stays until it was read; others may miss generations.  A forked child has no workers; it starts its
own at its first region.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import signal
import sys
import threading
from typing import Any

from tirscript.diagnostics import CallTypeError, CallValueError

MAX_THREADS = 256
_SPINS = 400  # about 20 microseconds of `pause`

_lock = threading.RLock()
_pool: _Pool | None = None
_threads: int | None = None


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


def set_num_threads(count: int) -> None:
    """Let parallel loops use ``count`` threads, the calling one included."""
    global _threads
    if isinstance(count, bool) or not isinstance(count, int):
        raise CallTypeError(f"the number of threads is an int, not {count!r}", code="num-threads")
    if not 1 <= count <= MAX_THREADS:
        raise CallValueError(f"{count} threads: 1 to {MAX_THREADS} are possible", code="num-threads")
    with _lock:
        _threads = count
        if _pool is not None:
            _pool.set_threads(count)


def entry() -> int:
    """The address of ``tirscript_parallel``."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = _Pool()
            _pool.set_threads(num_threads())
        return _pool.entry


class _Pool:
    """The compiled pool."""

    def __init__(self) -> None:
        from .jit import Machine, load

        kind = os.environ.get("TIRSCRIPT_POOL", "own")
        self.threaded = kind != "serial" and sys.platform != "win32"
        text = _TEXT if self.threaded else _SERIAL
        names = ["tirscript_parallel"]
        if self.threaded:
            names += ["tirscript_pool_limit", "tirscript_pool_reset", "tirscript_pool_stop"]
            text = text.replace("PAUSE", _pause()).replace("SPINS", str(_SPINS))
            text = text.replace("SETMASK", str(int(signal.SIG_SETMASK))).replace("MAX", str(MAX_THREADS))
        self._code = load(text, names, Machine(opt_level=2), {}, ())
        self.entry = self._code.addresses["tirscript_parallel"]
        if self.threaded:
            address = self._code.addresses
            call: Any = ctypes.CFUNCTYPE(None)
            self._limit = ctypes.c_int64.from_address(address["tirscript_pool_limit"])
            self._reset = call(address["tirscript_pool_reset"])
            self._stop = call(address["tirscript_pool_stop"])
            self._reset()
            os.register_at_fork(after_in_child=self._reset)
            atexit.register(self._stop)

    def set_threads(self, count: int) -> None:
        if self.threaded:
            self._limit.value = count


def _pause() -> str:
    """The instruction that tells a CPU that it waits."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64", "i686"):
        return 'call void asm sideeffect "pause", ""()'
    if machine in ("aarch64", "arm64"):
        return 'call void asm sideeffect "yield", ""()'
    return "fence seq_cst"


_SERIAL = """
define void @tirscript_parallel(ptr %body, ptr %record, i64 %extent) nounwind {
  %some = icmp sgt i64 %extent, 0
  br i1 %some, label %run, label %done
run:
  call void %body(ptr %record, i64 0, i64 %extent, i64 0)
  br label %done
done:
  ret void
}
"""

_TEXT = """
@mutex = internal global [128 x i8] zeroinitializer, align 64
@work = internal global [128 x i8] zeroinitializer, align 64
@done = internal global [128 x i8] zeroinitializer, align 64
@busy = internal global i32 0, align 64
@generation = internal global i64 0, align 64
@pending = internal global i64 0, align 64
@waiting = internal global i32 0, align 64
@sleepers = internal global i64 0, align 64
@stopping = internal global i32 0
@started = internal global i64 0
@body = internal global ptr null
@record = internal global ptr null
@extent = internal global i64 0
@births = internal global [MAX x i64] zeroinitializer
@handles = internal global [MAX x i64] zeroinitializer
@tirscript_pool_limit = global i64 1

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)

; Chunk k of n: [extent * k / n, extent * (k + 1) / n), without overflow.
define internal void @run_chunk(i64 %k, ptr %f, ptr %r, i64 %count, i64 %n) nounwind {
  %size = udiv i64 %count, %n
  %rest = urem i64 %count, %n
  %before = call i64 @llvm.umin.i64(i64 %k, i64 %rest)
  %scaled = mul i64 %size, %k
  %from = add i64 %scaled, %before
  %more = icmp ult i64 %k, %rest
  %one = zext i1 %more to i64
  %length = add i64 %size, %one
  %to = add i64 %from, %length
  call void %f(ptr %r, i64 %from, i64 %to, i64 %k)
  ret void
}

define internal ptr @worker(ptr %arg) nounwind {
entry:
  %id = ptrtoint ptr %arg to i64
  %birth = getelementptr i64, ptr @births, i64 %id
  %born = load i64, ptr %birth
  br label %wait
wait:
  %last = phi i64 [ %born, %entry ], [ %now, %acknowledged ]
  br label %spin
spin:
  %turn = phi i64 [ 0, %wait ], [ %turn1, %again ]
  %seen = load atomic i64, ptr @generation acquire, align 8
  %new = icmp ne i64 %seen, %last
  br i1 %new, label %awake, label %again
again:
  PAUSE
  %turn1 = add i64 %turn, 1
  %tired = icmp uge i64 %turn1, SPINS
  br i1 %tired, label %sleep, label %spin
sleep:
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  %s0 = load i64, ptr @sleepers
  %s1 = add i64 %s0, 1
  store i64 %s1, ptr @sleepers
  br label %check
check:
  %g = load atomic i64, ptr @generation acquire, align 8
  %changed = icmp ne i64 %g, %last
  br i1 %changed, label %wake, label %block
block:
  %w0 = call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %check
wake:
  %s2 = load i64, ptr @sleepers
  %s3 = sub i64 %s2, 1
  store i64 %s3, ptr @sleepers
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %awake
awake:
  %now = load atomic i64, ptr @generation acquire, align 8
  %halt = load atomic i32, ptr @stopping acquire, align 4
  %stop = icmp ne i32 %halt, 0
  br i1 %stop, label %exit, label %look
look:
  %n = and i64 %now, 65535
  %mine = icmp ult i64 %id, %n
  br i1 %mine, label %run, label %acknowledged
run:
  %f = load ptr, ptr @body
  %r = load ptr, ptr @record
  %e = load i64, ptr @extent
  call void @run_chunk(i64 %id, ptr %f, ptr %r, i64 %e, i64 %n)
  %left = atomicrmw sub ptr @pending, i64 1 seq_cst, align 8
  %final = icmp eq i64 %left, 1
  br i1 %final, label %tell, label %acknowledged
tell:
  %waited = load atomic i32, ptr @waiting seq_cst, align 4
  %asleep = icmp ne i32 %waited, 0
  br i1 %asleep, label %signal, label %acknowledged
signal:
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  %c1 = call i32 @pthread_cond_signal(ptr @done)
  %u1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %acknowledged
acknowledged:
  br label %wait
exit:
  ret ptr null
}

; Start workers until there are %wanted; the number that there are.
define internal i64 @start(i64 %wanted) nounwind {
entry:
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %have = load i64, ptr @started
  %enough = icmp uge i64 %have, %wanted
  br i1 %enough, label %out, label %mask
mask:
  ; Signals go to Python's threads.
  %m0 = call i32 @sigfillset(ptr %all)
  %m1 = call i32 @pthread_sigmask(i32 SETMASK, ptr %all, ptr %old)
  br label %next
next:
  %count = phi i64 [ %have, %mask ], [ %id, %made ]
  %more = icmp ult i64 %count, %wanted
  br i1 %more, label %make, label %unmask
make:
  %id = add i64 %count, 1
  %birth = getelementptr i64, ptr @births, i64 %id
  %now = load atomic i64, ptr @generation monotonic, align 8
  store i64 %now, ptr %birth
  %handle = getelementptr i64, ptr @handles, i64 %id
  %arg = inttoptr i64 %id to ptr
  %failed = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %arg)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %unmask, label %made
made:
  store i64 %id, ptr @started
  br label %next
unmask:
  %m2 = call i32 @pthread_sigmask(i32 SETMASK, ptr %old, ptr null)
  br label %out
out:
  %result = load i64, ptr @started
  ret i64 %result
}

define void @tirscript_parallel(ptr %f, ptr %r, i64 %count) nounwind {
entry:
  %none = icmp sle i64 %count, 0
  br i1 %none, label %out, label %some
some:
  %limit = load i64, ptr @tirscript_pool_limit
  %n0 = call i64 @llvm.umin.i64(i64 %limit, i64 %count)
  %single = icmp ule i64 %n0, 1
  br i1 %single, label %serial, label %claim
claim:
  %claimed = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %ours = extractvalue { i32, i1 } %claimed, 1
  br i1 %ours, label %staff, label %serial
serial:
  call void %f(ptr %r, i64 0, i64 %count, i64 0)
  br label %out
staff:
  %helpers = sub i64 %n0, 1
  %workers = call i64 @start(i64 %helpers)
  %n1 = add i64 %workers, 1
  %n = call i64 @llvm.umin.i64(i64 %n0, i64 %n1)
  %alone = icmp ule i64 %n, 1
  br i1 %alone, label %unclaim, label %publish
unclaim:
  store atomic i32 0, ptr @busy release, align 4
  br label %serial
publish:
  store ptr %f, ptr @body
  store ptr %r, ptr @record
  store i64 %count, ptr @extent
  %others = sub i64 %n, 1
  store atomic i64 %others, ptr @pending seq_cst, align 8
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  %g0 = load i64, ptr @generation
  %g2 = or i64 %g0, 65535
  %g3 = add i64 %g2, 1
  %g1 = or i64 %g3, %n
  store atomic i64 %g1, ptr @generation release, align 8
  %asleep = load i64, ptr @sleepers
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  %wake = icmp ne i64 %asleep, 0
  br i1 %wake, label %broadcast, label %own
broadcast:
  %b0 = call i32 @pthread_cond_broadcast(ptr @work)
  br label %own
own:
  call void @run_chunk(i64 0, ptr %f, ptr %r, i64 %count, i64 %n)
  br label %spin
spin:
  %turn = phi i64 [ 0, %own ], [ %turn1, %again ]
  %p0 = load atomic i64, ptr @pending acquire, align 8
  %finished = icmp eq i64 %p0, 0
  br i1 %finished, label %joined, label %again
again:
  PAUSE
  %turn1 = add i64 %turn, 1
  %tired = icmp uge i64 %turn1, SPINS
  br i1 %tired, label %sleep, label %spin
sleep:
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i32 1, ptr @waiting seq_cst, align 4
  br label %check
check:
  %p1 = load atomic i64, ptr @pending seq_cst, align 8
  %over = icmp eq i64 %p1, 0
  br i1 %over, label %wake2, label %block
block:
  %w0 = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %check
wake2:
  store atomic i32 0, ptr @waiting seq_cst, align 4
  %u1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %joined
joined:
  store atomic i32 0, ptr @busy release, align 4
  br label %out
out:
  ret void
}

; A process that has no workers: at first, and after a fork.
define void @tirscript_pool_reset() nounwind {
  %i0 = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %i1 = call i32 @pthread_cond_init(ptr @work, ptr null)
  %i2 = call i32 @pthread_cond_init(ptr @done, ptr null)
  store i64 0, ptr @started
  store i64 0, ptr @sleepers
  store i64 0, ptr @pending
  store i32 0, ptr @waiting
  store i32 0, ptr @stopping
  store atomic i32 0, ptr @busy release, align 4
  ret void
}

; End and join all workers, unless a region runs; later regions are serial.
define void @tirscript_pool_stop() nounwind {
entry:
  store i64 1, ptr @tirscript_pool_limit
  %claimed = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %ours = extractvalue { i32, i1 } %claimed, 1
  br i1 %ours, label %stop, label %out
stop:
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i32 1, ptr @stopping release, align 4
  %g0 = load i64, ptr @generation
  %g2 = or i64 %g0, 65535
  %g1 = add i64 %g2, 1
  store atomic i64 %g1, ptr @generation release, align 8
  %b0 = call i32 @pthread_cond_broadcast(ptr @work)
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  %n = load i64, ptr @started
  br label %next
next:
  %k = phi i64 [ 0, %stop ], [ %id, %join ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %join, label %joined
join:
  %id = add i64 %k, 1
  %slot = getelementptr i64, ptr @handles, i64 %id
  %handle = load i64, ptr %slot
  %j0 = call i32 @pthread_join(i64 %handle, ptr null)
  br label %next
joined:
  store i64 0, ptr @started
  store i32 0, ptr @stopping
  store atomic i32 0, ptr @busy release, align 4
  br label %out
out:
  ret void
}
"""
