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
HEAD = 10  # words of the head
KERNEL = 5  # the place of the kernel's address
SLOTS, MANY = 96, 14  # what `tirscript_call` has room for: slots, arguments


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
    if count > MANY or signature.returns is not None:
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
    if slot + 2 * len(buffers) > SLOTS:
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
