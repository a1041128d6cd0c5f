"""What checked builds test, and how a failure tells its values.

A failed test stores the values that its message names, hands them to the runtime, and leaves the function
with the status that it gets.  All of that stands in blocks that are run only then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirscript.ir import dtype as dt
from tirscript.ir import expr as ir
from tirscript.ir import hooks
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Expr, IntImm, Var
from tirscript.ir.node import walk
from tirscript.ir.visitor import free_vars

from . import foreign, integers
from .values import INT64_MAX, INT64_MIN, Value

if TYPE_CHECKING:
    from .function import FunctionEmitter

Told = list[tuple[str, Expr, Value | None]]  # name, expression, and its value where that is known


def loop_values(f: FunctionEmitter) -> Told:
    """The loops around."""
    return [(v.name, v, f.env[v]) for v in f.loop_vars if v in f.env]


def fail(f: FunctionEmitter, bad: Value, message: str, inside: list[Value], told: Told, check: bool) -> None:
    """Leave the function where ``bad`` holds in some lane; ``inside`` are the integers of the message."""
    lanes = bad.lanes
    some = bad.ref
    if lanes > 1:
        some = f.ins(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({bad.typed})")
    failed, fine = f.name("failed"), f.name("fine")
    f.cond_br(some, failed, fine)
    f.start(failed)
    first = ""
    if lanes > 1:
        bits = f.ins(f"bitcast {bad.typed} to i{lanes}")
        first = f.ins(f"call i{lanes} @llvm.cttz.i{lanes}(i{lanes} {bits}, i1 true)")
    kinds, words = [], []
    for v in inside:
        scalar = v
        if v.lanes > 1:
            scalar = Value(f.ins(f"extractelement {v.typed}, i{lanes} {first}"), v.base, 1, v.exact)
        unsigned = integers.is_large(v) or v.base == "uint64"
        kinds.append("u" if unsigned else "i")
        words.append(integers.to_data(f, scalar, "int64").ref)
    names = []
    for name, e, value in told:
        kind, word = foreign.word_of(f, e, value)
        kinds.append(kind)
        words.append(word)
        names.append(name)
    site = f.module.site(
        message, f.span, kinds="".join(kinds), names=tuple(names), inside=len(inside), check=check
    )
    if not words:
        f.leave(str(site))
    else:
        frame = f.reserve("told", f"[{len(words)} x i64]", 8)
        for k, word in enumerate(words):
            place = frame if k == 0 else f.ins(f"getelementptr i64, ptr {frame}, i64 {k}")
            f.do(f"store i64 {word}, ptr {place}, align 8")
        f.module.declare("tirscript_report", "declare i32 @tirscript_report(i32, ptr, i32) cold")
        f.leave(f.ins(f"call i32 @tirscript_report(i32 {site}, ptr {frame}, i32 {len(words)})"))
    f.start(fine)


def _either(f: FunctionEmitter, a: Value | None, b: Value) -> Value:
    if a is None:
        return b
    a, b = f.same_lanes(a, b)
    return Value(f.op("or", a, b.ref), "bool", a.lanes)


def _wanted(f: FunctionEmitter, bad: Value, predicate: Value | None) -> Value:
    """``bad`` for the lanes that count."""
    for mask in (predicate, f.mask):
        if mask is not None and (mask.lanes == bad.lanes or mask.lanes == 1 or bad.lanes == 1):
            a, b = f.same_lanes(bad, mask)
            bad = Value(f.op("and", a, b.ref), "bool", a.lanes)
    return bad


def inside(f: FunctionEmitter, buffer: Buffer, indices: list[Value], predicate: Value | None) -> None:
    """The indices of an access must be within the buffer's shape."""
    bad: Value | None = None
    shape = [f.exact(n) for n in buffer.shape]
    for i, n in zip(indices, shape, strict=True):
        known = i.lo is not None and i.hi is not None and n.lo is not None
        if known and i.lo >= 0 and i.hi < n.lo:  # type: ignore[operator]
            continue
        # As unsigned numbers negative indices are too large.
        a, b = f.same_lanes(i, n)
        bad = _either(f, bad, f.compare("icmp uge", a, b))
    if bad is None:
        return
    count = len(indices)
    at = ", ".join([f"{{{k}}}" for k in range(count)])
    size = ", ".join([f"{{{k + count}}}" for k in range(count)])
    message = f"{buffer.name}[{at}] is out of bounds: the shape of {buffer.name} is ({size})"
    fail(f, _wanted(f, bad, predicate), message, [*indices, *shape], loop_values(f), True)


def divisor(f: FunctionEmitter, e: ir.BinaryOp, y: Value) -> None:
    """A divisor must not be 0."""
    if y.exact and y.lo is not None and y.hi is not None and (y.lo > 0 or y.hi < 0):
        return
    zero = f.compare("icmp eq", y, f.const_like(0, y))
    fail(f, _wanted(f, zero, None), f"division by zero: `{shown(e)}`", [], loop_values(f), True)


_OVERFLOW = {ir.Add: "sadd", ir.Sub: "ssub", ir.Mul: "smul"}


def arithmetic(f: FunctionEmitter, e: ir.BinaryOp, x: Value, y: Value, made: Value) -> None:
    """Exact integers must not leave 64 bits."""
    word = _OVERFLOW.get(type(e))
    if word is None or not made.exact or made.lanes != 1 or integers.is_large(x) or integers.is_large(y):
        return
    if made.lo is not None and made.hi is not None and made.lo >= INT64_MIN and made.hi <= INT64_MAX:
        return
    pair = f.ins(f"call {{ i64, i1 }} @llvm.{word}.with.overflow.i64({x.typed}, {y.typed})")
    over = Value(f.ins(f"extractvalue {{ i64, i1 }} {pair}, 1"), "bool")
    message = f"`{shown(e)}` of {{0}} and {{1}} does not fit 64 bits"
    fail(f, _wanted(f, over, None), message, [x, y], loop_values(f), True)


def shown(e: Expr) -> str:
    """An expression as the script has it."""
    try:
        return str(hooks.call("script", e))
    except Exception:
        return type(e).__name__


def told_of(f: FunctionEmitter, condition: Expr) -> Told:
    """What an assert tells: the operands of its comparison, its variables, the loops around."""
    told: Told = []
    seen: set[Var] = set()
    if isinstance(condition, ir.CmpOp):
        for word, side in (("the left side", condition.a), ("the right side", condition.b)):
            if not isinstance(side, (IntImm, ir.FloatImm, Var)) and _is_number(side):
                # Accesses of flat buffers are not what the script has.
                as_written = f.module.options.checked or not any(type(n) is ir.BufferLoad for n in walk(side))
                told.append((shown(side) if as_written else word, side, None))
    for v in [*sorted(free_vars(condition), key=lambda v: v.name), *f.loop_vars]:
        if v in f.env and v not in seen and _is_number(v):
            seen.add(v)
            told.append((v.name, v, f.env[v]))
    return told


def _is_number(e: Expr) -> bool:
    d = dt.info(e.dtype)
    return d.lanes == 1 and d.code not in ("handle", "void")


def poll(f: FunctionEmitter) -> None:
    """Let Python act on Ctrl-C."""
    f.module.declare("tirscript_poll", "declare i32 @tirscript_poll()")
    f.check_status(f.ins("call i32 @tirscript_poll()"))


__all__ = ["arithmetic", "divisor", "fail", "inside", "loop_values", "poll", "told_of"]
