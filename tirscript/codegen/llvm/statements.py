"""Statements: loops, branches, allocations, asserts; parallel loops as functions of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tirscript.codegen.cost import is_small
from tirscript.diagnostics import CodegenError, NotYetError
from tirscript.ir import stmt as ir
from tirscript.ir.expr import BufferLoad, Call, Expr, IntImm, IterVar, Ramp, StringImm, Var
from tirscript.ir.node import walk
from tirscript.ir.visitor import free_vars

from . import checks, integers, memory
from .casts import as_data
from .values import BYTES, Value, constant, exact_constant, parts

if TYPE_CHECKING:
    from .function import FunctionEmitter

# Larger temporaries go to the heap, unless all their indices are constants (then they become registers).
STACK_BUFFER = 8 << 10
STACK_FRAME = 64 << 10


def _seq(f: FunctionEmitter, s: ir.SeqStmt) -> None:
    for child in s.seq:
        f.statement(child)


def _if(f: FunctionEmitter, s: ir.IfThenElse) -> None:
    condition = as_data(f, f.expr(s.condition), "bool")
    then, join = f.name("then"), f.name("endif")
    other = join if s.else_case is None else f.name("else")
    f.cond_br(condition.ref, then, other)
    f.start(then)
    f.statement(s.then_case)
    if not f.terminated:
        f.br(join)
    if s.else_case is not None:
        f.start(other)
        f.statement(s.else_case)
    f.start(join)


def _for(f: FunctionEmitter, s: ir.For) -> None:
    if s.kind == "vectorized":
        raise CodegenError(f"the vectorized loop `{s.loop_var.name}` is not lowered", code="not-lowered")
    low, extent = f.exact(s.min), f.exact(s.extent)
    threads = s.kind == "parallel" and not f.parallel_body and not (extent.hi is not None and extent.hi <= 1)
    if threads and is_small(s):
        # One thread runs it, under the rules of a parallel loop.
        f.parallel_body = True
        _loop(f, s, low, integers.add(f, low, extent), extent, chunk=True)
        f.parallel_body = False
        return
    if threads:
        _parallel(f, s, low, extent)
        return
    step = 1
    if s.step is not None:
        if not isinstance(s.step, IntImm) or s.step.value < 1:
            raise CodegenError(f"the step of the loop `{s.loop_var.name}` is not lowered", code="not-lowered")
        step = s.step.value
    _loop(f, s, low, integers.add(f, low, extent), extent, step)


def _loop(
    f: FunctionEmitter,
    s: ir.For,
    low: Value,
    stop: Value,
    extent: Value,
    step: int = 1,
    *,
    chunk: bool = False,
) -> None:
    """A counting loop, tested at its end, with a test before it where it may be empty."""
    if extent.hi is not None and extent.hi <= 0:
        return
    stem = f.name(_stem(s.loop_var))
    body, latch, out = f"{stem}.body", f"{stem}.latch", f"{stem}.exit"
    if extent.lo is None or extent.lo < 1:
        before = f"{stem}.start"
        f.cond_br(f.ins(f"icmp slt i64 {low.ref}, {stop.ref}"), before, out)
        f.start(before)
    else:
        before = f.block
    f.start(body)
    at = len(f.lines)
    i = f.named(f"%{stem}", "phi")
    hi = None if stop.hi is None else stop.hi - 1
    f.env[s.loop_var] = Value(i, "int64", 1, True, low.lo, hi)
    outermost = not f.loops and not f.parallel_body
    f.loops.append((latch, "" if chunk else out, len(f.heap)))
    f.loop_vars.append(s.loop_var)
    f.statement(s.body)
    f.loop_vars.pop()
    f.loops.pop()
    f.start(latch)
    if outermost and f.module.options.checked:
        checks.poll(f)
        latch = f.block
    flags = "nuw nsw" if low.lo is not None and low.lo >= 0 else "nsw"
    start, _, end = f.lines[at].rpartition("phi")  # the name may hold these letters, too
    f.lines[at] = f"{start}phi i64 [ {low.ref}, %{before} ], [ %{stem}.next, %{latch} ]{end}"
    next_ = f.named(f"%{stem}.next", f"add {flags} i64 {i}, {step}")
    again = f.ins(f"icmp slt i64 {next_}, {stop.ref}")
    hint = f", !llvm.loop {f.module.unrolled()}" if s.kind == "unrolled" else ""
    f.end(f"br i1 {again}, label %{body}, label %{out}{hint}")
    f.start(out)


def _stem(var: Var) -> str:
    name = "".join(c if (c.isalnum() and c.isascii()) or c == "_" else "_" for c in var.name)
    return name if name and not name[0].isdigit() else f"v{name}"


def _while(f: FunctionEmitter, s: ir.While) -> None:
    stem = f.name("while")
    body, out = f"{stem}.body", f"{stem}.exit"
    f.start(stem)
    condition = as_data(f, f.expr(s.condition), "bool")
    f.cond_br(condition.ref, body, out)
    f.start(body)
    f.loops.append((stem, out, len(f.heap)))
    f.statement(s.body)
    f.loops.pop()
    if not f.terminated:
        if not f.loops and not f.parallel_body and f.module.options.checked:
            checks.poll(f)
        f.br(stem)
    f.start(out)


def _let(f: FunctionEmitter, s: ir.LetStmt) -> None:
    f.bind(s.var, f.expr(s.value))
    f.statement(s.body)


def _attr(f: FunctionEmitter, s: ir.AttrStmt) -> None:
    axis = s.node
    if s.key in ("thread_extent", "virtual_thread") and isinstance(axis, IterVar):
        # The threads of a launch run one after the other.
        extent = f.exact(s.value)
        loop = ir.For(axis.var, exact_zero(), s.value, "serial", s.body, span=s.span)
        _loop(f, loop, exact_constant(0), extent, extent)
        return
    f.statement(s.body)


def exact_zero() -> IntImm:
    return IntImm(0, "int32")


def _assert(f: FunctionEmitter, s: ir.AssertStmt) -> None:
    condition = as_data(f, f.expr(s.condition), "bool")
    if condition.lanes != 1:
        raise CodegenError("an assert takes one bool", code="assert")
    message = s.message.value if isinstance(s.message, StringImm) else ""
    told = checks.told_of(f, s.condition)
    if told:
        checks.fail(f, Value(f.op("xor", condition, "true"), "bool"), message, [], told, False)
        return
    fine, failed = f.name("holds"), f.name("fails")
    f.cond_br(condition.ref, fine, failed)
    f.start(failed)
    f.leave(str(f.module.site(message, s.span)))
    f.start(fine)


def _evaluate(f: FunctionEmitter, s: ir.Evaluate) -> None:
    e = s.value
    if type(e) is IntImm:
        return
    if type(e) is Call:
        if e.op == "ret" or e.op == "thread_return":
            f.return_value(e.args[0] if e.args else None)
            return
        if e.op in ("break_loop", "continue_loop"):
            if not f.loops:
                raise CodegenError(f"`{str(e.op)[:-5]}` outside a loop", code="loop-exit")
            again, out, open_ = f.loops[-1]
            if e.op == "break_loop" and not out:
                raise CodegenError("a parallel loop cannot be left by a break", code="parallel-break")
            f.give_back(open_)
            f.br(out if e.op == "break_loop" else again)
            return
    f.expr(e)


# ---- memory


def _constant_index(e: Expr) -> bool:
    return isinstance(e, IntImm) or (
        isinstance(e, Ramp) and isinstance(e.base, IntImm) and isinstance(e.stride, IntImm)
    )


def _in_registers(pointer: Var, body: ir.Stmt) -> bool:
    """Whether every use of the memory is an access at constant indices."""
    for n in walk(body):
        t = type(n)
        if t is Var:
            if n is pointer:
                return False
        elif t is BufferLoad or t is ir.BufferStore:
            assert isinstance(n, (BufferLoad, ir.BufferStore))
            if n.buffer.data is pointer and not all(_constant_index(i) for i in n.indices):
                return False
    return True


def _allocate(f: FunctionEmitter, s: ir.Allocate) -> None:
    base, lanes = parts(s.dtype)
    count = exact_constant(1)
    for e in s.extents:
        count = integers.mul(f, count, f.exact(e))
    unit = BYTES[base] * lanes
    number = count.constant
    if number is not None:
        size = max(number * unit, 1)
        small = size <= STACK_BUFFER or (size <= STACK_FRAME and _in_registers(s.buffer_var, s.body))
        if small and f.stack_bytes + size <= STACK_FRAME:
            f.stack_bytes += size
            pointer = f.reserve(_stem(s.buffer_var), f"[{size} x i8]", 64)
        else:
            pointer = _frame_memory(f, _stem(s.buffer_var), size)
        f.env[s.buffer_var] = Value(pointer, "handle")
        f.restricted.add(pointer)
        f.statement(s.body)
        return
    size_value = integers.mul(f, count, exact_constant(unit))
    rounded = f.ins(f"and i64 {f.ins(f'add i64 {size_value.ref}, 63')}, -64")
    at_least = f.ins(f"call i64 @llvm.smax.i64(i64 {rounded}, i64 64)")
    pointer = f.ins(f"call noalias ptr @aligned_alloc(i64 64, i64 {at_least})")
    f.module.declare_memory()
    _refuse_null(f, f.ins(f"icmp eq ptr {pointer}, null"))
    f.env[s.buffer_var] = Value(pointer, "handle")
    f.restricted.add(pointer)
    f.heap.append(pointer)
    f.statement(s.body)
    f.heap.pop()
    if not f.terminated:
        f.do(f"call void @free(ptr {pointer})")


def _refuse_null(f: FunctionEmitter, is_null: str) -> None:
    from .function import NO_MEMORY

    missing, fine = f.name("nomemory"), f.name("memory")
    f.cond_br(is_null, missing, fine)
    f.start(missing)
    f.leave(str(NO_MEMORY))
    f.start(fine)


def _frame_memory(f: FunctionEmitter, stem: str, size: int) -> str:
    """Heap memory for the whole call, allocated where the function begins."""
    f.module.declare_memory()
    ref = f"%{f.name(stem)}"
    f.in_entry(f"{ref} = call noalias ptr @aligned_alloc(i64 64, i64 {(size + 63) & -64})")
    f.frame.append(ref)
    return ref


def _allocate_const(f: FunctionEmitter, s: ir.AllocateConst) -> None:
    f.env[s.buffer_var] = Value(f.module.constant_data(s.data, s.dtype), "handle")
    f.statement(s.body)


def _declare(f: FunctionEmitter, s: ir.DeclBuffer) -> None:
    f.statement(s.body)


# ---- parallel loops


def _parallel(f: FunctionEmitter, s: ir.For, low: Value, extent: Value) -> None:
    """The iterations in chunks, one for each thread of the pool.

    The loop's body becomes a function of what it uses and of the bounds of a chunk.  A second function,
    which the pool calls, unpacks those from a record and notes the first failure: the lowest chunk wins,
    and within a chunk the first iteration.
    """
    from .function import FunctionEmitter

    module = f.module
    used = free_vars(s)
    if module.options.checked:
        used = used | set(f.loop_vars)
    captured = [(var, v) for var, v in f.env.items() if var in used]
    name = module.unique(f"{f.module.current}.{_stem(s.loop_var)}")
    with module.debug_scope(name, s.span) as (scope, location):
        inner = FunctionEmitter(module, f.kinds, parallel_body=True)
        inner.debug = location
        fields = _capture(f, inner, captured)
        inner.loop_vars, inner.span = list(f.loop_vars), f.span
        begin, end = inner.parameter("from", "i64"), inner.parameter("to", "i64")
        count = Value(end, "int64", 1, True, 1, None)
        hi = None if low.hi is None or extent.hi is None else low.hi + extent.hi
        first = Value(begin, "int64", 1, True, low.lo, None if hi is None else hi - 1)
        _loop(
            inner, s.replace(kind="serial"), first, Value(end, "int64", 1, True, None, hi), count, chunk=True
        )
        module.functions.append(inner.text(f"define internal i32 @{name}", debug=scope))

    record = "{ " + ", ".join([*(v.ty for v in fields), "i64", "i64"]) + " }"
    place = len(fields)
    with module.debug_scope(f"{name}.chunk", s.span) as suffixes:
        module.functions.append(_trampoline(name, record, [v.ty for v in fields], suffixes))
    frame = f.reserve("record", record, 64)
    for k, v in enumerate(fields):
        f.do(f"store {v.typed}, ptr {f.ins(f'getelementptr {record}, ptr {frame}, i64 0, i32 {k}')}")
    low_slot = f.ins(f"getelementptr {record}, ptr {frame}, i64 0, i32 {place}")
    f.do(f"store i64 {low.ref}, ptr {low_slot}")
    fault = f.ins(f"getelementptr {record}, ptr {frame}, i64 0, i32 {place + 1}")
    f.do(f"store i64 -1, ptr {fault}")
    module.declare("tirscript_parallel", "declare void @tirscript_parallel(ptr, ptr, i64)")
    f.do(f"call void @tirscript_parallel(ptr @{name}.chunk, ptr {frame}, i64 {extent.ref})")
    failed, fine = f.name("failed"), f.name("joined")
    found = f.ins(f"load i64, ptr {fault}")
    f.cond_br(f.ins(f"icmp eq i64 {found}, -1"), fine, failed)
    f.start(failed)
    f.leave(f.ins(f"trunc i64 {found} to i32"))
    f.start(fine)


def _capture(f: FunctionEmitter, inner: FunctionEmitter, captured: list[tuple[Var, Value]]) -> list[Value]:
    """Parameters of an outlined function for what it uses; the values that they take."""
    fields: list[Value] = []
    # A pointer derived from another one must not meet a promise about that one.
    apart = all(v.ref in f.restricted for _, v in captured if v.base == "handle" and v.ref[0] == "%")
    for var, v in captured:
        if v.ref[0] != "%":
            inner.env[var] = v
            continue
        restricted = apart and v.base == "handle"
        ref = inner.parameter(var.name, v.ty, "noalias" if restricted else "")
        inner.env[var] = Value(ref, v.base, v.lanes, v.exact, v.lo, v.hi)
        if restricted:
            inner.restricted.add(ref)
        fields.append(v)
    return fields


def _trampoline(name: str, record: str, types: list[str], debug: tuple[str, str]) -> str:
    """What the pool calls: (record, first iteration, stop, number of the chunk)."""
    subprogram, location = debug
    lines = [
        f"define internal void @{name}.chunk(ptr %record, i64 %from, i64 %to, i64 %chunk) #0{subprogram} {{"
    ]
    args = []
    for k, ty in enumerate([*types, "i64", "ptr"]):
        slot = f"getelementptr {record}, ptr %record, i64 0, i32 {k}"
        lines.append(f"  %slot{k} = {slot}{location}")
        if ty == "ptr" and k == len(types) + 1:
            break
        lines.append(f"  %field{k} = load {ty}, ptr %slot{k}{location}")
        if k < len(types):
            args.append(f"{ty} %field{k}")
    low = len(types)
    lines += [
        f"  %begin = add i64 %field{low}, %from{location}",
        f"  %end = add i64 %field{low}, %to{location}",
        f"  %status = call i32 @{name}({', '.join([*args, 'i64 %begin', 'i64 %end'])}){location}",
        f"  %fine = icmp eq i32 %status, 0{location}",
        f"  br i1 %fine, label %done, label %failed{location}",
        "failed:",
        f"  %high = shl i64 %chunk, 32{location}",
        f"  %code = zext i32 %status to i64{location}",
        f"  %fault = or i64 %high, %code{location}",
        f"  %old = atomicrmw umin ptr %slot{low + 1}, i64 %fault seq_cst, align 8{location}",
        f"  br label %done{location}",
        "done:",
        f"  ret void{location}",
        "}",
    ]
    return "\n".join(lines)


def _not_lowered(f: FunctionEmitter, s: Any) -> None:
    raise CodegenError(f"a {type(s).__name__} is left: the program is not lowered", code="not-lowered")


TABLE: dict[type, Callable[[Any, Any], None]] = {
    ir.BufferStore: memory.store,
    ir.For: _for,
    ir.While: _while,
    ir.IfThenElse: _if,
    ir.SeqStmt: _seq,
    ir.LetStmt: _let,
    ir.AttrStmt: _attr,
    ir.AssertStmt: _assert,
    ir.Evaluate: _evaluate,
    ir.Allocate: _allocate,
    ir.AllocateConst: _allocate_const,
    ir.DeclBuffer: _declare,
    ir.Block: _not_lowered,
    ir.BlockRealize: _not_lowered,
    ir.BufferRealize: _not_lowered,
}

__all__ = ["TABLE", "NotYetError", "constant"]
