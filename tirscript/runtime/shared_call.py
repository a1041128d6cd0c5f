"""The functions that all fast calls share, in LLVM IR: the check of arguments, and the call of most kernels.

They read the tables that ``wrapper`` describes.  The text is in the form that passes would give it, so that
it is compiled without any.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from .wrapper import HEAD, MANY, SLOTS

_FEW = 6  # arguments that need no stack on the usual machines


def runtime_text(places: Mapping[str, int], immortal: bool) -> str:
    """The shared functions for a layout of objects."""
    take = "" if immortal else "  call void @Py_IncRef(ptr %object)\n"
    words = {
        "RECORDS": HEAD, "SLOTS": SLOTS, "FEW": _FEW, "FEW_ARGUMENTS": _passed(_FEW),
        "MANY_ARGUMENTS": _passed(MANY), "LOADS": _loads(0, _FEW), "MORE_LOADS": _loads(_FEW, MANY),
    }  # fmt: skip
    return Template(_RUNTIME).substitute(places, TAKE=take, **words)


def _passed(count: int) -> str:
    return ", ".join(f"i64 %w{k}" for k in range(count))


def _loads(start: int, stop: int) -> str:
    """Slots as arguments.  A kernel that takes fewer does not look at the rest."""
    return "\n".join(
        f"  %a{k} = getelementptr i64, ptr %slots, i64 {k}\n  %w{k} = load i64, ptr %a{k}"
        for k in range(start, stop)
    )


_RUNTIME = """
@call_method = private unnamed_addr constant [7 x i8] c"_raise\\00"
@call_code = private unnamed_addr constant [2 x i8] c"i\\00"
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr) nounwind
declare ptr @PyObject_CallMethod(ptr, ptr, ptr, ...) nounwind
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr) nounwind
declare double @PyFloat_AsDouble(ptr) nounwind
declare void @Py_IncRef(ptr) nounwind
declare ptr @PyEval_SaveThread() nounwind
declare void @PyEval_RestoreThread(ptr) nounwind

define ptr @tirscript_slow(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {
  %r = tail call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)
  ret ptr %r
}

define ptr @tirscript_failed(ptr %self, i32 %status) nounwind cold {
  %r = call ptr (ptr, ptr, ptr, ...) @PyObject_CallMethod(ptr %self, ptr @call_method, ptr @call_code, i32 %status)
  ret ptr %r
}

define ptr @tirscript_done(ptr %self, i32 %status) nounwind {
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %failed
done:
  %object = inttoptr i64 $NONE_OBJECT to ptr
$TAKE  ret ptr %object
failed:
  %r = tail call ptr @tirscript_failed(ptr %self, i32 %status)
  ret ptr %r
}

define ptr @tirscript_bool(i8 %value) nounwind {
  %yes = icmp ne i8 %value, 0
  %number = select i1 %yes, i64 $TRUE_OBJECT, i64 $FALSE_OBJECT
  %object = inttoptr i64 %number to ptr
$TAKE  ret ptr %object
}

define ptr @tirscript_call(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {
  %slots = alloca [$SLOTS x i64], align 16
  %held.at = getelementptr i8, ptr %self, i64 $TABLE
  %held = load ptr, ptr %held.at
  %table = getelementptr i8, ptr %held, i64 $BYTES
  %ok = call zeroext i1 @tirscript_arguments(ptr %table, ptr %args, i64 %nargs, ptr %names, ptr %slots)
  br i1 %ok, label %symbols, label %slow
symbols:
  %place.at = getelementptr i64, ptr %table, i64 7
  %place = load i64, ptr %place.at
  %equations = getelementptr i64, ptr %table, i64 %place
  %count.at = getelementptr i64, ptr %table, i64 8
  %count = load i64, ptr %count.at
  br label %next
next:
  %k = phi i64 [ 0, %symbols ], [ %k1, %good ]
  %p = phi ptr [ %equations, %symbols ], [ %p1, %good ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %equation, label %passing
equation:
  %index = load i64, ptr %p
  %value.at = getelementptr i64, ptr %slots, i64 %index
  %value = load i64, ptr %value.at
  %highest.at = getelementptr i64, ptr %p, i64 2
  %highest = load i64, ptr %highest.at
  %fits = icmp sle i64 %value, %highest
  br i1 %fits, label %compare, label %slow
compare:
  %other.at = getelementptr i64, ptr %p, i64 1
  %other = load i64, ptr %other.at
  %first = icmp slt i64 %other, 0
  br i1 %first, label %good, label %equal
equal:
  %known.at = getelementptr i64, ptr %slots, i64 %other
  %known = load i64, ptr %known.at
  %same = icmp eq i64 %known, %value
  br i1 %same, label %good, label %slow
good:
  %k1 = add i64 %k, 1
  %p1 = getelementptr i64, ptr %p, i64 3
  br label %next
passing:
  %passed.at = getelementptr i64, ptr %table, i64 9
  %passed = load i64, ptr %passed.at
  %after = getelementptr i64, ptr %slots, i64 %nargs
  br label %pass
pass:
  %q = phi i64 [ 0, %passing ], [ %q1, %copy ]
  %q.more = icmp ult i64 %q, %passed
  br i1 %q.more, label %copy, label %run
copy:
  %from.at = getelementptr i64, ptr %p, i64 %q
  %from = load i64, ptr %from.at
  %symbol.at = getelementptr i64, ptr %slots, i64 %from
  %symbol = load i64, ptr %symbol.at
  %to = getelementptr i64, ptr %after, i64 %q
  store i64 %symbol, ptr %to
  %q1 = add i64 %q, 1
  br label %pass
run:
  %kernel.at = getelementptr i64, ptr %table, i64 5
  %kernel = load ptr, ptr %kernel.at
  %long.at = getelementptr i64, ptr %table, i64 6
  %long = load i64, ptr %long.at
  %size = add i64 %nargs, %passed
  %few = icmp ule i64 %size, $FEW
$LOADS
  %short = icmp eq i64 %long, 0
  %simple = and i1 %short, %few
  br i1 %simple, label %quick, label %release
quick:
  %status.quick = call i32 %kernel($FEW_ARGUMENTS)
  br label %done
release:
  br i1 %short, label %many, label %leave
leave:
  %thread = call ptr @PyEval_SaveThread()
  br label %many
many:
  %left = phi ptr [ null, %release ], [ %thread, %leave ]
$MORE_LOADS
  %status.many = call i32 %kernel($MANY_ARGUMENTS)
  br i1 %short, label %done, label %return
return:
  call void @PyEval_RestoreThread(ptr %left)
  br label %done
done:
  %status = phi i32 [ %status.quick, %quick ], [ %status.many, %many ], [ %status.many, %return ]
  %none = tail call ptr @tirscript_done(ptr %self, i32 %status)
  ret ptr %none
slow:
  %r = tail call ptr @PyObject_Vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)
  ret ptr %r
}

define zeroext i1 @tirscript_arguments(ptr %table, ptr %args, i64 %nargs, ptr %names, ptr %slots) nounwind {
entry:
  %overflow = alloca i32, align 4
  %wanted = load i64, ptr %table
  %count.good = icmp eq i64 %wanted, %nargs
  %plain = icmp eq ptr %names, null
  %begin = and i1 %count.good, %plain
  br i1 %begin, label %start, label %refuse
start:
  %raw.at = getelementptr i64, ptr %table, i64 1
  %raw.index = load i64, ptr %raw.at
  %raw.start = getelementptr i64, ptr %slots, i64 %raw.index
  %ranges.at = getelementptr i64, ptr %table, i64 2
  %ranges.index = load i64, ptr %ranges.at
  %ranges = getelementptr i64, ptr %slots, i64 %ranges.index
  %records = getelementptr i64, ptr %table, i64 $RECORDS
  br label %next

next:
  %k = phi i64 [ 0, %start ], [ %k1, %accepted ]
  %p = phi ptr [ %records, %start ], [ %p1, %accepted ]
  %raw = phi ptr [ %raw.start, %start ], [ %raw1, %accepted ]
  %more = icmp ult i64 %k, %nargs
  br i1 %more, label %argument, label %overlap
argument:
  %object.at = getelementptr ptr, ptr %args, i64 %k
  %object = load ptr, ptr %object.at
  %slot = getelementptr i64, ptr %slots, i64 %k
  %type.at = getelementptr i8, ptr %object, i64 $TYPE
  %type = load ptr, ptr %type.at
  %type.number = ptrtoint ptr %type to i64
  %kind = load i64, ptr %p
  switch i64 %kind, label %refuse [
    i64 0, label %array
    i64 1, label %integer
    i64 2, label %number
    i64 3, label %truth
    i64 4, label %pointer
  ]

; ---- arrays
array:
  %is.array = icmp eq i64 %type.number, $NDARRAY_TYPE
  br i1 %is.array, label %unboxed, label %box
box:
  %is.box = icmp eq i64 %type.number, $BOX_TYPE
  br i1 %is.box, label %open, label %refuse
open:
  %inner.at = getelementptr i8, ptr %object, i64 $INNER
  %inner = load ptr, ptr %inner.at
  %empty = icmp eq ptr %inner, null
  br i1 %empty, label %refuse, label %opened
opened:
  %inner.type.at = getelementptr i8, ptr %inner, i64 $TYPE
  %inner.type = load ptr, ptr %inner.type.at
  %inner.number = ptrtoint ptr %inner.type to i64
  %holds.array = icmp eq i64 %inner.number, $NDARRAY_TYPE
  br i1 %holds.array, label %unboxed, label %refuse
unboxed:
  %a = phi ptr [ %object, %array ], [ %inner, %opened ]
  %descr.at = getelementptr i8, ptr %a, i64 $DESCR
  %descr = load ptr, ptr %descr.at
  %descr.wanted.at = getelementptr i64, ptr %p, i64 1
  %descr.wanted = load ptr, ptr %descr.wanted.at
  %descr.same = icmp eq ptr %descr, %descr.wanted
  br i1 %descr.same, label %dtype, label %equal
equal:
  %number.at = getelementptr i8, ptr %descr, i64 $NUMBER
  %type.code = load i32, ptr %number.at
  %small = icmp ult i32 %type.code, 64
  br i1 %small, label %among, label %refuse
among:
  %same.at = getelementptr i64, ptr %p, i64 2
  %same = load i64, ptr %same.at
  %type.code.wide = zext i32 %type.code to i64
  %shifted = lshr i64 %same, %type.code.wide
  %known = trunc i64 %shifted to i1
  %order.at = getelementptr i8, ptr %descr, i64 $ORDER
  %order = load i8, ptr %order.at
  %order.native = icmp eq i8 %order, 61
  %order.none = icmp eq i8 %order, 124
  %order.this = icmp eq i8 %order, $NATIVE_ORDER
  %order.0 = or i1 %order.native, %order.none
  %order.good = or i1 %order.0, %order.this
  %equal.good = and i1 %known, %order.good
  br i1 %equal.good, label %dtype, label %refuse
dtype:
  %rank.at = getelementptr i8, ptr %a, i64 $NDIM
  %rank.narrow = load i32, ptr %rank.at
  %rank = sext i32 %rank.narrow to i64
  %rank.wanted.at = getelementptr i64, ptr %p, i64 3
  %rank.wanted = load i64, ptr %rank.wanted.at
  %rank.good = icmp eq i64 %rank, %rank.wanted
  %flags.at = getelementptr i8, ptr %a, i64 $FLAGS
  %flags.narrow = load i32, ptr %flags.at
  %flags = zext i32 %flags.narrow to i64
  %flags.wanted.at = getelementptr i64, ptr %p, i64 4
  %flags.wanted = load i64, ptr %flags.wanted.at
  %flags.have = and i64 %flags, %flags.wanted
  %flags.good = icmp eq i64 %flags.have, %flags.wanted
  %data.at = getelementptr i8, ptr %a, i64 $DATA
  %data = load i64, ptr %data.at
  %align.at = getelementptr i64, ptr %p, i64 5
  %align = load i64, ptr %align.at
  %beside = and i64 %data, %align
  %aligned = icmp eq i64 %beside, 0
  %good.0 = and i1 %rank.good, %flags.good
  %good.1 = and i1 %good.0, %aligned
  br i1 %good.1, label %shape, label %refuse
shape:
  store i64 %data, ptr %slot
  %dims.at = getelementptr i8, ptr %a, i64 $SHAPE
  %dims = load ptr, ptr %dims.at
  %extents = getelementptr i64, ptr %p, i64 9
  %size.at = getelementptr i64, ptr %p, i64 6
  %item = load i64, ptr %size.at
  br label %dim
dim:
  %d = phi i64 [ 0, %shape ], [ %d1, %dim.good ]
  %bytes = phi i64 [ %item, %shape ], [ %bytes1, %dim.good ]
  %raw.d = phi ptr [ %raw, %shape ], [ %raw.d1, %dim.good ]
  %dim.more = icmp slt i64 %d, %rank
  br i1 %dim.more, label %dim.look, label %shaped
dim.look:
  %n.at = getelementptr i64, ptr %dims, i64 %d
  %n = load i64, ptr %n.at
  %extent.at = getelementptr i64, ptr %extents, i64 %d
  %extent = load i64, ptr %extent.at
  %d1 = add i64 %d, 1
  %bytes1 = mul i64 %bytes, %n
  %n.equal = icmp eq i64 %n, %extent
  br i1 %n.equal, label %dim.good, label %dim.other
dim.other:
  %open.extent = icmp eq i64 %extent, -1
  br i1 %open.extent, label %dim.keep, label %refuse
dim.keep:
  store i64 %n, ptr %raw.d
  %raw.d.next = getelementptr i64, ptr %raw.d, i64 1
  br label %dim.good
dim.good:
  %raw.d1 = phi ptr [ %raw.d, %dim.look ], [ %raw.d.next, %dim.keep ]
  br label %dim
shaped:
  %p.after = getelementptr i64, ptr %extents, i64 %rank
  %strided.at = getelementptr i64, ptr %p, i64 7
  %strided = load i64, ptr %strided.at
  %dense = icmp eq i64 %strided, 0
  %end = add i64 %data, %bytes
  br i1 %dense, label %ranged, label %strides
strides:
  %steps.at = getelementptr i8, ptr %a, i64 $STRIDES
  %steps = load ptr, ptr %steps.at
  %nothing = icmp eq i64 %bytes, 0
  %end.first = add i64 %data, %item
  br label %stride
stride:
  %s = phi i64 [ 0, %strides ], [ %s1, %stride.next ]
  %low.s = phi i64 [ %data, %strides ], [ %low.s1, %stride.next ]
  %high.s = phi i64 [ %end.first, %strides ], [ %high.s1, %stride.next ]
  %raw.s = phi ptr [ %raw.d, %strides ], [ %raw.s1, %stride.next ]
  %stride.more = icmp slt i64 %s, %rank
  br i1 %stride.more, label %stride.next, label %strides.end
stride.next:
  %step.at = getelementptr i64, ptr %steps, i64 %s
  %step = load i64, ptr %step.at
  store i64 %step, ptr %raw.s
  %raw.s1 = getelementptr i64, ptr %raw.s, i64 1
  %m.at = getelementptr i64, ptr %dims, i64 %s
  %m = load i64, ptr %m.at
  %m.last = sub i64 %m, 1
  %reach = mul i64 %step, %m.last
  %reach.low = call i64 @llvm.smin.i64(i64 %reach, i64 0)
  %reach.high = call i64 @llvm.smax.i64(i64 %reach, i64 0)
  %low.s1 = add i64 %low.s, %reach.low
  %high.s1 = add i64 %high.s, %reach.high
  %s1 = add i64 %s, 1
  br label %stride
strides.end:
  %low.e = select i1 %nothing, i64 %data, i64 %low.s
  %high.e = select i1 %nothing, i64 %data, i64 %high.s
  br label %ranged
ranged:
  %raw.end = phi ptr [ %raw.d, %shaped ], [ %raw.s, %strides.end ]
  %low = phi i64 [ %data, %shaped ], [ %low.e, %strides.end ]
  %high = phi i64 [ %end, %shaped ], [ %high.e, %strides.end ]
  %place.at = getelementptr i64, ptr %p, i64 8
  %place = load i64, ptr %place.at
  %range.low = getelementptr { i64, i64 }, ptr %ranges, i64 %place
  %range.high = getelementptr i64, ptr %range.low, i64 1
  store i64 %low, ptr %range.low
  store i64 %high, ptr %range.high
  br label %accepted

; ---- numbers
integer:
  %is.int = icmp eq i64 %type.number, $INT_TYPE
  %is.bool = icmp eq i64 %type.number, $BOOL_TYPE
  %integral = or i1 %is.int, %is.bool
  br i1 %integral, label %integer.read, label %refuse
integer.read:
  %i = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  %i.over = load i32, ptr %overflow
  %i.fits = icmp eq i32 %i.over, 0
  %lowest.at = getelementptr i64, ptr %p, i64 1
  %lowest = load i64, ptr %lowest.at
  %highest.at = getelementptr i64, ptr %p, i64 2
  %highest = load i64, ptr %highest.at
  %i.low = icmp sge i64 %i, %lowest
  %i.high = icmp sle i64 %i, %highest
  %i.between = and i1 %i.low, %i.high
  %i.good = and i1 %i.fits, %i.between
  store i64 %i, ptr %slot
  %p.integer = getelementptr i64, ptr %p, i64 3
  br i1 %i.good, label %accepted, label %refuse
number:
  %p.number = getelementptr i64, ptr %p, i64 1
  %is.float = icmp eq i64 %type.number, $FLOAT_TYPE
  br i1 %is.float, label %float, label %whole
float:
  %f = call double @PyFloat_AsDouble(ptr %object)
  store double %f, ptr %slot
  br label %accepted
whole:
  %is.whole = icmp eq i64 %type.number, $INT_TYPE
  br i1 %is.whole, label %whole.read, label %refuse
whole.read:
  %w = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  %w.over = load i32, ptr %overflow
  %w.fits = icmp eq i32 %w.over, 0
  %w.float = sitofp i64 %w to double
  store double %w.float, ptr %slot
  br i1 %w.fits, label %accepted, label %refuse
truth:
  %p.truth = getelementptr i64, ptr %p, i64 1
  %object.number = ptrtoint ptr %object to i64
  %is.true = icmp eq i64 %object.number, $TRUE_OBJECT
  %is.false = icmp eq i64 %object.number, $FALSE_OBJECT
  %either = or i1 %is.true, %is.false
  %truth.value = zext i1 %is.true to i64
  store i64 %truth.value, ptr %slot
  br i1 %either, label %accepted, label %refuse

; ---- pointers
pointer:
  %p.pointer = getelementptr i64, ptr %p, i64 1
  %pointer.number = ptrtoint ptr %object to i64
  store i64 0, ptr %slot
  %is.none = icmp eq i64 %pointer.number, $NONE_OBJECT
  br i1 %is.none, label %accepted, label %pointer.array
pointer.array:
  %points.array = icmp eq i64 %type.number, $NDARRAY_TYPE
  br i1 %points.array, label %pointer.read, label %pointer.box
pointer.box:
  %points.box = icmp eq i64 %type.number, $BOX_TYPE
  br i1 %points.box, label %pointer.open, label %refuse
pointer.open:
  %held.at = getelementptr i8, ptr %object, i64 $INNER
  %held = load ptr, ptr %held.at
  %holds.none = icmp eq ptr %held, null
  br i1 %holds.none, label %refuse, label %pointer.opened
pointer.opened:
  %held.type.at = getelementptr i8, ptr %held, i64 $TYPE
  %held.type = load i64, ptr %held.type.at
  %held.array = icmp eq i64 %held.type, $NDARRAY_TYPE
  br i1 %held.array, label %pointer.read, label %refuse
pointer.read:
  %pointed = phi ptr [ %object, %pointer.array ], [ %held, %pointer.opened ]
  %target.at = getelementptr i8, ptr %pointed, i64 $DATA
  %target = load i64, ptr %target.at
  store i64 %target, ptr %slot
  br label %accepted

accepted:
  %p1 = phi ptr [ %p.after, %ranged ], [ %p.integer, %integer.read ], [ %p.number, %float ], [ %p.number, %whole.read ], [ %p.truth, %truth ], [ %p.pointer, %pointer ], [ %p.pointer, %pointer.read ]
  %raw1 = phi ptr [ %raw.end, %ranged ], [ %raw, %integer.read ], [ %raw, %float ], [ %raw, %whole.read ], [ %raw, %truth ], [ %raw, %pointer ], [ %raw, %pointer.read ]
  %k1 = add i64 %k, 1
  br label %next

; ---- written arrays against all after them; the written ones stand first
overlap:
  %written.at = getelementptr i64, ptr %table, i64 3
  %written = load i64, ptr %written.at
  %buffers.at = getelementptr i64, ptr %table, i64 4
  %buffers = load i64, ptr %buffers.at
  br label %outer
outer:
  %i1 = phi i64 [ 0, %overlap ], [ %i2, %outer.next ]
  %outer.more = icmp ult i64 %i1, %written
  br i1 %outer.more, label %outer.start, label %accept
outer.start:
  %i2 = add i64 %i1, 1
  %mine = getelementptr { i64, i64 }, ptr %ranges, i64 %i1
  %my.low = load i64, ptr %mine
  %my.end = getelementptr i64, ptr %mine, i64 1
  %my.high = load i64, ptr %my.end
  br label %inner.loop
inner.loop:
  %j = phi i64 [ %i2, %outer.start ], [ %j1, %apart ]
  %inner.more = icmp ult i64 %j, %buffers
  br i1 %inner.more, label %compare, label %outer.next
compare:
  %theirs = getelementptr { i64, i64 }, ptr %ranges, i64 %j
  %their.low = load i64, ptr %theirs
  %their.end = getelementptr i64, ptr %theirs, i64 1
  %their.high = load i64, ptr %their.end
  %before = icmp ule i64 %my.high, %their.low
  %after = icmp ule i64 %their.high, %my.low
  %separate = or i1 %before, %after
  %j1 = add i64 %j, 1
  br i1 %separate, label %apart, label %refuse
apart:
  br label %inner.loop
outer.next:
  br label %outer

accept:
  ret i1 true
refuse:
  ret i1 false
}
"""  # noqa: E501
