"""The thread pools in LLVM IR; ``pool`` fills in MAX, PAUSE and SETMASK."""

SERIAL = """
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

CHUNK = """
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
"""

GOMP = """
@tirscript_pool_limit = global i64 1

declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()

define internal void @member(ptr %region) nounwind {
  %f = load ptr, ptr %region
  %r.at = getelementptr i64, ptr %region, i64 1
  %r = load ptr, ptr %r.at
  %count.at = getelementptr i64, ptr %region, i64 2
  %count = load i64, ptr %count.at
  %me = call i32 @omp_get_thread_num()
  %k = zext i32 %me to i64
  %all = call i32 @omp_get_num_threads()
  %n = zext i32 %all to i64
  call void @run_chunk(i64 %k, ptr %f, ptr %r, i64 %count, i64 %n)
  ret void
}

define void @tirscript_parallel(ptr %f, ptr %r, i64 %count) nounwind {
entry:
  %region = alloca [3 x i64], align 16
  %none = icmp sle i64 %count, 0
  br i1 %none, label %out, label %some
some:
  %limit = load i64, ptr @tirscript_pool_limit
  %n = call i64 @llvm.umin.i64(i64 %limit, i64 %count)
  %single = icmp ule i64 %n, 1
  br i1 %single, label %serial, label %team
serial:
  call void %f(ptr %r, i64 0, i64 %count, i64 0)
  br label %out
team:
  store ptr %f, ptr %region
  %r.at = getelementptr i64, ptr %region, i64 1
  store ptr %r, ptr %r.at
  %count.at = getelementptr i64, ptr %region, i64 2
  store i64 %count, ptr %count.at
  %threads = trunc i64 %n to i32
  call void @GOMP_parallel(ptr @member, ptr %region, i32 %threads, i32 0)
  br label %out
out:
  ret void
}
"""

# A worker goes to its CPU, if it has one.
PIN = """
declare i64 @pthread_self()
declare i32 @pthread_setaffinity_np(i64, i64, ptr)

define internal void @settle(i64 %id) nounwind {
entry:
  %mask = alloca [16 x i64], align 16
  %at = getelementptr i64, ptr @tirscript_pool_cpus, i64 %id
  %cpu = load i64, ptr %at
  %known = icmp ult i64 %cpu, 1024
  br i1 %known, label %pin, label %out
pin:
  store [16 x i64] zeroinitializer, ptr %mask
  %word = lshr i64 %cpu, 6
  %bit = and i64 %cpu, 63
  %place = getelementptr i64, ptr %mask, i64 %word
  %one = shl i64 1, %bit
  store i64 %one, ptr %place
  %me = call i64 @pthread_self()
  %status = call i32 @pthread_setaffinity_np(i64 %me, i64 128, ptr %mask)
  br label %out
out:
  ret void
}
"""

NO_PIN = """
define internal void @settle(i64 %id) nounwind {
  ret void
}
"""

TEXT = """
@mutex = internal global [128 x i8] zeroinitializer, align 64
@work = internal global [128 x i8] zeroinitializer, align 64
@done = internal global [128 x i8] zeroinitializer, align 64
@busy = internal global i32 0, align 64
; What a worker reads of a region lies in one cache line: generation, body, record, extent, stopping.
%Region = type { i64, ptr, ptr, i64, i32 }
@region = internal global %Region zeroinitializer, align 64
; The last generation that each worker ended, a cache line for each: only its worker writes it.
@ended = internal global [MAX x [8 x i64]] zeroinitializer, align 64
@waiting = internal global i64 0, align 64 ; the worker that a blocked caller waits for, else 0
@sleepers = internal global i64 0, align 64
@tirscript_pool_started = global i64 0, align 64
@tirscript_pool_spins = global i64 400
@births = internal global [MAX x i64] zeroinitializer
@tirscript_pool_handles = global [MAX x i64] zeroinitializer
@tirscript_pool_cpus = global [MAX x i64] zeroinitializer
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

define internal ptr @worker(ptr %arg) nounwind {
entry:
  %id = ptrtoint ptr %arg to i64
  %birth = getelementptr i64, ptr @births, i64 %id
  %born = load i64, ptr %birth
  call void @settle(i64 %id)
  %mine.at = getelementptr [MAX x [8 x i64]], ptr @ended, i64 0, i64 %id
  %spins = load i64, ptr @tirscript_pool_spins
  br label %wait
wait:
  %last = phi i64 [ %born, %entry ], [ %now, %wait.again ]
  br label %spin
spin:
  %turn = phi i64 [ 0, %wait ], [ %turn1, %again ]
  %seen = load atomic i64, ptr @region acquire, align 8
  %new = icmp ne i64 %seen, %last
  br i1 %new, label %awake, label %again
again:
  PAUSE
  %turn1 = add i64 %turn, 1
  %tired = icmp uge i64 %turn1, %spins
  br i1 %tired, label %sleep, label %spin
sleep:
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  %s0 = load i64, ptr @sleepers
  %s1 = add i64 %s0, 1
  store atomic i64 %s1, ptr @sleepers seq_cst, align 8
  br label %check
check:
  %g = load atomic i64, ptr @region seq_cst, align 8
  %changed = icmp ne i64 %g, %last
  br i1 %changed, label %wake, label %block
block:
  %w0 = call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %check
wake:
  %s2 = load i64, ptr @sleepers
  %s3 = sub i64 %s2, 1
  store atomic i64 %s3, ptr @sleepers seq_cst, align 8
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %awake
awake:
  %now = load atomic i64, ptr @region acquire, align 8
  %halt.at = getelementptr %Region, ptr @region, i64 0, i32 4
  %halt = load atomic i32, ptr %halt.at acquire, align 4
  %stop = icmp ne i32 %halt, 0
  br i1 %stop, label %exit, label %look
look:
  %n = and i64 %now, 65535
  %mine = icmp ult i64 %id, %n
  br i1 %mine, label %run, label %wait.again
run:
  %f.at = getelementptr %Region, ptr @region, i64 0, i32 1
  %r.at = getelementptr %Region, ptr @region, i64 0, i32 2
  %e.at = getelementptr %Region, ptr @region, i64 0, i32 3
  %f = load ptr, ptr %f.at
  %r = load ptr, ptr %r.at
  %e = load i64, ptr %e.at
  call void @run_chunk(i64 %id, ptr %f, ptr %r, i64 %e, i64 %n)
  store atomic i64 %now, ptr %mine.at seq_cst, align 8
  %who = load atomic i64, ptr @waiting seq_cst, align 8
  %me = icmp eq i64 %who, %id
  br i1 %me, label %signal, label %wait.again
signal:
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  %c1 = call i32 @pthread_cond_signal(ptr @done)
  %u1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %wait.again
wait.again:
  br label %wait
exit:
  ret ptr null
}

; Start workers until there are %wanted; the number that there are.
define internal i64 @start(i64 %wanted) nounwind {
entry:
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %have = load i64, ptr @tirscript_pool_started
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
  %now = load atomic i64, ptr @region monotonic, align 8
  store i64 %now, ptr %birth
  %handle = getelementptr i64, ptr @tirscript_pool_handles, i64 %id
  %arg = inttoptr i64 %id to ptr
  %failed = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %arg)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %unmask, label %made
made:
  store i64 %id, ptr @tirscript_pool_started
  br label %next
unmask:
  %m2 = call i32 @pthread_sigmask(i32 SETMASK, ptr %old, ptr null)
  br label %out
out:
  %result = load i64, ptr @tirscript_pool_started
  ret i64 %result
}

; To be timed.
define void @tirscript_pool_pauses(i64 %count) nounwind {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  PAUSE
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %count
  br i1 %more, label %next, label %out
out:
  ret void
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
  %f.at = getelementptr %Region, ptr @region, i64 0, i32 1
  %r.at = getelementptr %Region, ptr @region, i64 0, i32 2
  %e.at = getelementptr %Region, ptr @region, i64 0, i32 3
  %spins = load i64, ptr @tirscript_pool_spins
  %g0 = load i64, ptr @region
  %g2 = or i64 %g0, 65535
  %g3 = add i64 %g2, 1
  %g1 = or i64 %g3, %n
  store ptr %f, ptr %f.at
  store ptr %r, ptr %r.at
  store i64 %count, ptr %e.at
  ; Either this sees a worker that goes to sleep, or the worker sees the new generation.
  store atomic i64 %g1, ptr @region seq_cst, align 8
  %asleep = load atomic i64, ptr @sleepers seq_cst, align 8
  %wake = icmp ne i64 %asleep, 0
  br i1 %wake, label %broadcast, label %own
broadcast:
  %l0 = call i32 @pthread_mutex_lock(ptr @mutex)
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  %b0 = call i32 @pthread_cond_broadcast(ptr @work)
  br label %own
own:
  call void @run_chunk(i64 0, ptr %f, ptr %r, i64 %count, i64 %n)
  br label %join
join:
  %k = phi i64 [ 1, %own ], [ %k1, %ahead ]
  %all = icmp uge i64 %k, %n
  br i1 %all, label %joined, label %look
look:
  %ended.at = getelementptr [MAX x [8 x i64]], ptr @ended, i64 0, i64 %k
  br label %spin
spin:
  %turn = phi i64 [ 0, %look ], [ %turn1, %again ]
  %e0 = load atomic i64, ptr %ended.at acquire, align 8
  %finished = icmp eq i64 %e0, %g1
  br i1 %finished, label %ahead, label %again
again:
  PAUSE
  %turn1 = add i64 %turn, 1
  %tired = icmp uge i64 %turn1, %spins
  br i1 %tired, label %sleep, label %spin
sleep:
  %l1 = call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i64 %k, ptr @waiting seq_cst, align 8
  br label %check
check:
  %e1 = load atomic i64, ptr %ended.at seq_cst, align 8
  %over = icmp eq i64 %e1, %g1
  br i1 %over, label %wake2, label %block
block:
  %w0 = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %check
wake2:
  store atomic i64 0, ptr @waiting seq_cst, align 8
  %u1 = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %ahead
ahead:
  %k1 = add i64 %k, 1
  br label %join
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
  store i64 0, ptr @tirscript_pool_started
  store i64 0, ptr @sleepers
  store i64 0, ptr @waiting
  %halt.at = getelementptr %Region, ptr @region, i64 0, i32 4
  store i32 0, ptr %halt.at
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
  %halt.at = getelementptr %Region, ptr @region, i64 0, i32 4
  store atomic i32 1, ptr %halt.at release, align 4
  %g0 = load i64, ptr @region
  %g2 = or i64 %g0, 65535
  %g1 = add i64 %g2, 1
  store atomic i64 %g1, ptr @region release, align 8
  %b0 = call i32 @pthread_cond_broadcast(ptr @work)
  %u0 = call i32 @pthread_mutex_unlock(ptr @mutex)
  %n = load i64, ptr @tirscript_pool_started
  br label %next
next:
  %k = phi i64 [ 0, %stop ], [ %id, %join ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %join, label %joined
join:
  %id = add i64 %k, 1
  %slot = getelementptr i64, ptr @tirscript_pool_handles, i64 %id
  %handle = load i64, ptr %slot
  %j0 = call i32 @pthread_join(i64 %handle, ptr null)
  br label %next
joined:
  store i64 0, ptr @tirscript_pool_started
  store i32 0, ptr %halt.at
  store atomic i32 0, ptr @busy release, align 4
  br label %out
out:
  ret void
}
"""
