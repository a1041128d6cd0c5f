"""The text of fast calls, in LLVM IR: the check that all share, and wrappers for single kernels.

A call is ``PyObject *call(self, args, nargs, names)``.  Most functions share one, ``tirscript_call``, which
costs them no time when they are built; those with numbers that are no integers, strides, formulas or
results have a wrapper of their own, compiled beside the kernel.

The table that is given to ``tirscript_arguments`` holds the numbers below; the slots that come back hold a
word for each parameter, room for the symbols that are passed, then the extents and strides (in bytes) that
are still to be checked, then room for address ranges.

    head:    parameters, first extra slot, first range, written buffers (0: may overlap), buffers;
             for `tirscript_call`: kernel, whether it is long, place of the equations, their number,
             passed symbols
    array:   0, dtype, equal type numbers, rank, flags, alignment - 1, item size, strides wanted,
             place among the ranges (written ones first), extents (-1: into the extra slots)
    integer: 1, lowest, highest        number: 2        bool: 3        pointer: 4
    equation: slot, slot that must be equal (-1: none), highest value
    passed symbol: slot
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template

from . import formula
from .arguments import FLOATS, int_bounds
from .signature import BufferParam, Extent, HandleParam, ScalarParam, Signature

PYTHON_API = (
    "PyObject_Vectorcall", "PyObject_CallMethod", "PyLong_AsLongLongAndOverflow", "PyFloat_AsDouble",
    "Py_IncRef", "PyEval_SaveThread", "PyEval_RestoreThread", "PyLong_FromLongLong",
    "PyLong_FromUnsignedLongLong", "PyFloat_FromDouble",
)  # fmt: skip
HELPERS = (
    "tirscript_call", "tirscript_arguments", "tirscript_slow", "tirscript_done", "tirscript_failed",
    "tirscript_bool",
)  # fmt: skip
DECLARATIONS = {
    "tirscript_arguments": "declare zeroext i1 @tirscript_arguments(ptr, ptr, i64, ptr, ptr) nounwind",
    "tirscript_slow": "declare ptr @tirscript_slow(ptr, ptr, i64, ptr) cold nounwind",
    "tirscript_done": "declare ptr @tirscript_done(ptr, i32) nounwind",
    "tirscript_failed": "declare ptr @tirscript_failed(ptr, i32) cold nounwind",
    "tirscript_bool": "declare ptr @tirscript_bool(i8) nounwind",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread() nounwind",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr) nounwind",
    "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64) nounwind",
    "PyLong_FromUnsignedLongLong": "declare ptr @PyLong_FromUnsignedLongLong(i64) nounwind",
    "PyFloat_FromDouble": "declare ptr @PyFloat_FromDouble(double) nounwind",
}
# The types in which kernels take and give floats; the narrow ones come as doubles.
_FLOATS = {**dict.fromkeys(FLOATS, "double"), "float32": "float"}
_INTS = tuple(f"{c}{b}" for c in ("int", "uint") for b in (1, 2, 4, 8, 16, 32, 64))
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_ALIGNED, _CONTIGUOUS, _WRITEABLE = 0x100, 0x1, 0x400
_HEAD = 10
KERNEL = 5  # the place of the kernel's address
_SLOTS, _FEW, _MANY = 96, 6, 14  # what `tirscript_call` has room for: slots, arguments


def escaped(name: str) -> str:
    r"""A symbol as it stands between quotes in IR.

    >>> escaped('ts.a"b')
    'ts.a\\22b'
    """
    plain = (chr(c) if 32 <= c < 127 and c not in (34, 92) else f"\\{c:02X}" for c in name.encode())
    return "".join(plain)


def signature_line(signature: Signature) -> str:
    """What makes ``inspect.signature`` work on a builtin, at the beginning of its doc.

    >>> signature_line(Signature("f", (HandleParam("A"), ScalarParam("n", "int32")))).splitlines()
    ['f(A, n, /)', '--', '']
    """
    names = [p.name for p in signature.params]
    good = all(n.isidentifier() and not keyword.iskeyword(n) for n in [signature.name, *names])
    if not good or len(set(names)) < len(names):
        return ""
    shown = ", ".join([*names, "/"] if names else [])
    return f"{signature.name}({shown})\n--\n\n"


# ---- the table


def table(signature: Signature, dtype_words: Callable[[BufferParam], tuple[int, int, int]]) -> list[int]:
    """What the shared check is told of a function."""
    buffers = [p for p in signature.params if isinstance(p, BufferParam)]
    written = sum(p.written for p in buffers)
    extra = sum(_extras(p) for p in buffers)
    head = len(signature.params)
    apart = written if signature.noalias and len(buffers) > 1 else 0
    start = head + len(signature.passed)
    words = [
        head,
        start,
        start + extra,
        apart,
        len(buffers),
        0,
        int(signature.long),
        0,
        0,
        len(signature.passed),
    ]
    first, then = 0, written
    for p in signature.params:
        if isinstance(p, BufferParam):
            place = first if p.written else then
            first, then = first + p.written, then + (not p.written)
            descr, same, size = dtype_words(p)
            flags = _ALIGNED | (_CONTIGUOUS if p.strides is None else 0) | (_WRITEABLE if p.written else 0)
            strided = int(p.strides is not None)
            words += [0, descr, same, len(p.shape), flags, max(p.align, 1) - 1, size, strided, place]
            words += [-1 if e.value is None else e.value for e in p.shape]
        elif isinstance(p, HandleParam):
            words.append(4)
        elif p.dtype in _FLOATS:
            words.append(2)
        elif p.dtype == "bool":
            words.append(3)
        else:
            low, high = int_bounds(p.dtype)
            words += [1, low, min(high, _INT64_MAX)]
    shared = _equations(signature)
    if shared is not None:
        equations, passed = shared
        words[7:9] = [len(words), len(equations)]
        words += [n for e in equations for n in e] + passed
    return words


def is_shared(signature: Signature) -> bool:
    """Whether ``tirscript_call`` serves a function."""
    return _equations(signature) is not None


def _equations(signature: Signature) -> tuple[list[tuple[int, int, int]], list[int]] | None:
    """What must hold among the slots, and those of the passed symbols; None for what needs more."""
    count = len(signature.params) + len(signature.passed)
    buffers = [p for p in signature.params if isinstance(p, BufferParam)]
    if count > _MANY or signature.returns is not None:
        return None
    slot = count
    where: dict[int, int] = {}
    for i, p in enumerate(signature.params):
        if isinstance(p, ScalarParam):
            if p.dtype in _FLOATS:
                return None
            if p.symbol is not None:
                where[p.symbol] = i
    equations = []
    for p in buffers:
        if p.strides is not None or p.offset is not None:
            return None
        for e in p.shape:
            if e.value is not None:
                continue
            if e.symbol is None:
                return None
            known = where.setdefault(e.symbol, slot)
            if known != slot:
                equations.append((slot, known, _INT64_MAX))
            else:
                high = int_bounds(signature.symbols[e.symbol].dtype)[1]
                if high < _INT64_MAX:
                    equations.append((slot, -1, high))
            slot += 1
    if slot + 2 * len(buffers) > _SLOTS:
        return None
    return equations, [where[s] for s in signature.passed]


def _extras(p: BufferParam) -> int:
    return sum(e.value is None for e in p.shape) + (len(p.shape) if p.strides is not None else 0)


# ---- one wrapper


@dataclass(slots=True)
class Wrapper:
    """The text of a wrapper, and which of ``DECLARATIONS`` it uses."""

    body: str
    uses: set[str] = field(default_factory=set)


def is_possible(signature: Signature) -> bool:
    """Whether there is a fast call."""
    for p in signature.params:
        if isinstance(p, ScalarParam) and p.dtype not in (*_INTS, *_FLOATS, "bool"):
            return False
        if isinstance(p, BufferParam) and (p.align & (p.align - 1) or any(_negative(e) for e in p.shape)):
            return False
    return signature.returns in (None, "bool", *_INTS, *_FLOATS)


def emit(signature: Signature, symbol: str, takes: str, kernel: str) -> Wrapper | None:
    """The wrapper of a kernel; None for a function that only the slow path serves."""
    return _Emitter(signature, symbol, takes, kernel).wrapper()


def _negative(e: Extent) -> bool:
    return e.value is not None and e.value < 0


class _Emitter:
    def __init__(self, signature: Signature, symbol: str, takes: str, kernel: str) -> None:
        self.signature = signature
        self.symbol, self.takes, self.kernel = symbol, takes, kernel
        self.text = formula.Lines()
        self.extra = len(signature.params) + len(signature.passed)
        self.symbols: list[str | None] = [None] * len(signature.symbols)
        # Per buffer parameter: its extents and its strides in bytes.
        self.shapes: dict[int, list[str]] = {}
        self.steps: dict[int, list[str]] = {}

    def wrapper(self) -> Wrapper | None:
        signature, t = self.signature, self.text
        operands = self._operands()
        if signature.symbols or self.steps or any(_offset(p) for p in signature.params):
            if not self._shapes():
                return None
        operands += [f"i64 {self.symbols[s]}" for s in signature.passed]
        uses = {"tirscript_arguments", "tirscript_slow"}
        buffers = sum(isinstance(p, BufferParam) for p in signature.params)
        head = [
            f"define ptr {self.symbol}(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {{",
            f"  %slots = alloca [{max(self.extra + 2 * buffers, 1)} x i64], align 16",
        ]
        tail: list[str] = []
        returns = signature.returns
        if returns is not None:
            narrow = returns == "bool" or returns.lstrip("uint") in ("1", "2", "4")
            memory = _FLOATS.get(returns, "i8" if narrow else f"i{returns.lstrip('uint')}")
            head.append(f"  %out = alloca {memory}, align 8")
            operands.append("ptr %out")
        if signature.long:
            uses |= {"PyEval_SaveThread", "PyEval_RestoreThread"}
            tail.append("  %thread = call ptr @PyEval_SaveThread()")
        # Not inlined: it would be compiled twice for a nanosecond.
        tail.append(f"  %status = call i32 {self.kernel}({', '.join(operands)}) noinline")
        if signature.long:
            tail.append("  call void @PyEval_RestoreThread(ptr %thread)")
        if returns is None:
            uses.add("tirscript_done")
            tail += ["  %none = tail call ptr @tirscript_done(ptr %self, i32 %status)", "  ret ptr %none"]
        else:
            uses.add("tirscript_failed")
            tail += [
                "  %right = icmp eq i32 %status, 0",
                "  br i1 %right, label %result, label %failed",
                "failed:",
                "  %error = tail call ptr @tirscript_failed(ptr %self, i32 %status)",
                "  ret ptr %error",
                "result:",
                *_result(returns, memory, uses),
            ]
        fine = t.all_fine()
        head += [
            f"  %ok = call zeroext i1 @tirscript_arguments(ptr {self.takes}, ptr %args, i64 %nargs, "
            f"ptr %names, ptr %slots)",
            "  br i1 %ok, label %fast, label %slow",
            "slow:",
            "  %other = tail call ptr @tirscript_slow(ptr %self, ptr %args, i64 %nargs, ptr %names)",
            "  ret ptr %other",
            "fast:",
        ]
        check = [] if fine is None else [f"  br i1 {fine}, label %run, label %slow", "run:"]
        return Wrapper("\n".join([*head, *t.lines, *check, *tail, "}"]), uses)

    def _slot(self, k: int, ty: str) -> str:
        where = "%slots" if k == 0 else self.text.ins(f"getelementptr i64, ptr %slots, i64 {k}")
        return self.text.ins(f"load {ty}, ptr {where}, align 8")

    def _next(self) -> str:
        self.extra += 1
        return self._slot(self.extra - 1, "i64")

    def _operands(self) -> list[str]:
        operands = []
        for i, p in enumerate(self.signature.params):
            if isinstance(p, ScalarParam):
                if p.dtype in _FLOATS:
                    ref = self._slot(i, "double")
                    if p.dtype == "float32":
                        ref = self.text.ins(f"fptrunc double {ref} to float")
                    operands.append(f"{_FLOATS[p.dtype]} {ref}")
                else:
                    ref = self._slot(i, "i64")
                    operands.append(f"i64 {ref}")
                    if p.symbol is not None:
                        self.symbols[p.symbol] = ref
            else:
                operands.append(f"ptr {self._slot(i, 'ptr')}")
        for i, p in enumerate(self.signature.params):
            if isinstance(p, BufferParam):
                self.shapes[i] = [self._next() if e.value is None else str(e.value) for e in p.shape]
                if p.strides is not None:
                    self.steps[i] = [self._next() for _ in p.shape]
        return operands

    # ---- symbols, as `Arguments` binds and checks them

    def _shapes(self) -> bool:
        """Bind the symbols and check what mentions them; False where that cannot be done here."""
        t = self.text
        pending: list[tuple[str, Extent, str]] = []
        for i, word, d, e in self._found():
            if word == "extent":
                number = self.shapes[i][d]
            elif word == "offset":
                number = "0"
            else:
                number = self._step(i, d, e)
            if e.symbol is not None and self.symbols[e.symbol] is None:
                self._bind(e.symbol, number, word == "extent")
            elif e.value is None:
                pending.append((word, e, number))
        if not self._solve(pending):
            return False
        for word, e, number in pending:
            if word == "extent":
                t.require(t.ins(f"icmp eq i64 {number}, {self._at(e)}"))
        for i, p in enumerate(self.signature.params):
            if isinstance(p, BufferParam):
                if p.offset is not None:
                    t.require(t.ins(f"icmp eq i64 {self._at(p.offset)}, 0"))
                self._strides(i, p)
        return True

    def _found(self) -> list[tuple[int, str, int, Extent]]:
        found = []
        for i, p in enumerate(self.signature.params):
            if isinstance(p, BufferParam):
                found += [(i, "extent", d, e) for d, e in enumerate(p.shape)]
                found += [(i, "stride", d, e) for d, e in enumerate(p.strides or ())]
                if p.offset is not None:
                    found.append((i, "offset", 0, p.offset))
        return found

    def _shift(self, i: int) -> int:
        p = self.signature.params[i]
        assert isinstance(p, BufferParam)
        return _ITEM_BITS.get(p.dtype, 0)

    def _step(self, i: int, d: int, e: Extent) -> str:
        """A stride in elements, rounded down; for one that is never used what a dense array would have."""
        t = self.text
        step = t.ins(f"ashr i64 {self.steps[i][d]}, {self._shift(i)}")
        if e.symbol is None:
            return step
        dense = "1"
        for n in self.shapes[i][d + 1 :]:
            dense = t.arithmetic("mul", dense, n)
        used = t.ins(f"icmp sgt i64 {self.shapes[i][d]}, 1")
        return t.ins(f"select i1 {used}, i64 {step}, i64 {dense}")

    def _bind(self, symbol: int, number: str, extent: bool) -> None:
        t = self.text
        low, high = int_bounds(self.signature.symbols[symbol].dtype)
        if low > _INT64_MIN and not extent:
            t.require(t.ins(f"icmp sge i64 {number}, {low}"))
        if high < _INT64_MAX:
            t.require(t.ins(f"icmp sle i64 {number}, {high}"))
        self.symbols[symbol] = number

    def _solve(self, pending: list[tuple[str, Extent, str]]) -> bool:
        t = self.text
        while None in self.symbols:
            before = self.symbols.count(None)
            for _, e, number in pending:
                missing = [s for s in e.mentions if self.symbols[s] is None]
                if len(missing) != 1 or missing[0] not in e.linear:
                    continue
                k = missing[0]
                constant, one = self._at(e, {k: "0"}), self._at(e, {k: "1"})
                slope = t.arithmetic("sub", one, constant)
                rest = t.arithmetic("sub", number, constant)
                t.require(t.ins(f"icmp ne i64 {slope}, 0"))
                quotient, remainder = t.divided(rest, slope)
                t.require(t.ins(f"icmp eq i64 {remainder}, 0"))
                self._bind(k, quotient, False)
            if self.symbols.count(None) == before:
                return False
        return True

    def _at(self, e: Extent, known: Mapping[int, str] | None = None) -> str:
        if e.value is not None:
            return str(e.value)
        refs = [(known or {}).get(s, ref or "0") for s, ref in enumerate(self.symbols)]
        return refs[e.symbol] if e.symbol is not None else formula.emit(self.text, e.code, refs)

    def _strides(self, i: int, p: BufferParam) -> None:
        t = self.text
        for d, e in enumerate(p.strides or ()):
            step = self.steps[i][d]
            wanted = t.arithmetic("mul", self._at(e), str(1 << self._shift(i)))
            good = t.ins(f"icmp eq i64 {step}, {wanted}")
            if p.written:
                good = t.ins(f"and i1 {good}, {t.ins(f'icmp ne i64 {step}, 0')}")
            unused = t.ins(f"icmp sle i64 {self.shapes[i][d]}, 1")
            t.require(t.ins(f"or i1 {good}, {unused}"))


def _offset(p: object) -> bool:
    return isinstance(p, BufferParam) and p.offset is not None


_ITEM_BITS = {
    **{f"{c}{b}": {8: 0, 16: 1, 32: 2, 64: 3}[b] for c in ("int", "uint") for b in (8, 16, 32, 64)},
    "float16": 1, "bfloat16": 1, "float32": 2, "float64": 3,
}  # fmt: skip


def _result(returns: str, memory: str, uses: set[str]) -> list[str]:
    """From the value in memory to an object."""
    lines = [f"  %value = load {memory}, ptr %out, align 8"]
    if returns in _FLOATS:
        uses.add("PyFloat_FromDouble")
        wide = "%value"
        if memory == "float":
            wide = "%wide"
            lines.append("  %wide = fpext float %value to double")
        lines.append(f"  %object = tail call ptr @PyFloat_FromDouble(double {wide})")
    elif returns == "bool":
        uses.add("tirscript_bool")
        lines.append("  %object = tail call ptr @tirscript_bool(i8 %value)")
    else:
        make = "PyLong_FromUnsignedLongLong" if returns[0] == "u" else "PyLong_FromLongLong"
        uses.add(make)
        wide = "%value"
        if memory != "i64":
            wide = "%wide"
            lines.append(f"  %wide = {'zext' if returns[0] == 'u' else 'sext'} {memory} %value to i64")
        lines.append(f"  %object = tail call ptr @{make}(i64 {wide})")
    return [*lines, "  ret ptr %object"]


# ---- what all wrappers share


def runtime_text(places: Mapping[str, int], immortal: bool) -> str:
    """The shared functions for a layout of objects."""
    take = "" if immortal else "  call void @Py_IncRef(ptr %object)\n"
    words = {
        "RECORDS": _HEAD, "SLOTS": _SLOTS, "FEW": _FEW, "FEW_ARGUMENTS": _passed(_FEW),
        "MANY_ARGUMENTS": _passed(_MANY), "LOADS": _loads(0, _FEW), "MORE_LOADS": _loads(_FEW, _MANY),
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
  br i1 %points.array, label %pointer.read, label %refuse
pointer.read:
  %target.at = getelementptr i8, ptr %object, i64 $DATA
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
