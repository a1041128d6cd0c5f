"""The memory accesses of a program, in order.

The lowered program is rewritten to one that calls a function for every element that it loads or stores, and
compiled.  Where no index and no condition depends on data, nothing else is left of it.  Elements are
touched in the order of the loops: vectorized loops lane by lane, parallel loops by one thread, expressions
as Python evaluates them (the right side of an assignment before its indices).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tirscript.diagnostics import AssertFailed, NotYetError, TirscriptError, deep_recursion
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import (
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Expr,
    GlobalVar,
    IntImm,
    Let,
    Mul,
    Not,
    Or,
    Ramp,
    Shuffle,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.op import effect_of
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
    seq,
)
from tirscript.ir.visitor import free_vars

# A code is address * 2**12 + 2 * number of the memory + whether it is a store.
FIELD = 12
_PAGE = 4096
_UNKNOWN = 1 << 36  # room for memory whose size only a run knows
_REGISTERS = ("local", "warp", "wmma", "metal")  # scopes that no cache holds
_SKIPPED = frozenset({"assume", "undef", "type_annotation", "prefetch"})
_ATOMIC = frozenset({"atomic_add", "atomic_max", "atomic_min"})
_POINTERS = frozenset({"address_of", "tvm_access_ptr"})


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one buffer and of its views."""

    buffer: Buffer  # as the program has it before indices are flattened
    number: int
    base: int  # the address of its first byte; a page begins there
    bytes: int  # 0 where only a run knows

    @property
    def name(self) -> str:
        return self.buffer.name

    @property
    def item(self) -> int:
        """The size of an element in bytes."""
        return item_size(self.buffer.dtype)


@dataclass(frozen=True, slots=True)
class Traced:
    """A program that reports its accesses: ``touch(first, second, code)`` is called for each."""

    function: PrimFunc
    memories: tuple[Memory, ...]
    params: tuple[Any, ...]  # of the original program, where it runs on data
    estimate: float  # of the number of accesses, from above; inf where nobody knows
    on_data: bool
    unseen: tuple[str, ...]  # foreign functions, whose accesses are not seen


def item_size(dtype: str) -> int:
    d = dt.info(dtype)
    return max(1, d.bits // 8) * d.lanes


def traced(func: PrimFunc, values: Mapping[Any, Any] | None, wanted: Sequence[str] | None) -> Traced:
    """The tracing program of ``func`` with ``values`` for its shape variables and scalars.

    ``wanted`` names buffers that are traced even if they live in registers.
    """
    from tirscript.lowering import lower_function
    from tirscript.lowering.flatten_buffer import flatten_buffer

    if values:
        func = func.specialize(values)
    with deep_recursion():
        loops = lower_function(func, "plan_buffer_allocation")
        flat = flatten_buffer(loops)
        return _Tracer(loops, flat, wanted).traced()


def _symbolic(name: str, free: Sequence[Var]) -> NoReturn:
    names = ", ".join([f"`{v.name}`" for v in free])
    shown = ", ".join([f'"{v.name}": 64' for v in free])
    raise TirscriptError(
        f"the accesses of `{name}` depend on {names}",
        code="symbolic-accesses",
        hint=f"say for which: values={{{shown}}}",
    )


class _Tracer:
    def __init__(self, loops: PrimFunc, flat: PrimFunc, wanted: Sequence[str] | None) -> None:
        self.flat = flat
        self.wanted = frozenset(wanted or ())
        self.buffers = _buffers(loops)
        self.memories: dict[Var, Memory] = {}
        self.pointers: dict[Var, tuple[Var, Expr]] = {}  # what a pointer points into, and the offset in bytes
        self.next = _PAGE
        self.on_data = _runs_on_data(flat.body)
        self.unseen: dict[str, None] = {}
        self.state = [
            Buffer(f"state_{k}", (const_int(1),), "int64", Var(f"state_{k}_data", "handle")) for k in (0, 1)
        ]
        self.times = 1.0
        self.estimate = 0.0

    def traced(self) -> Traced:
        for b in self.flat.buffers:
            self.memory(b.data)
        body = self.stmt(self.flat.body) or Evaluate(const_int(0))
        free = [v for v in free_vars(body) if v not in {b.data for b in self.state}]
        handles = {b.data for b in self.flat.buffers} | set(self.flat.params)
        rest = [v for v in free if not (self.on_data and v in handles)]
        if rest:
            _symbolic(self.flat.name, sorted(rest, key=lambda v: v.name))
        own = [Var(f"state_{k}", "handle") for k in (0, 1)]
        params = self.flat.params if self.on_data else ()
        table = {p: b for p, b in self.flat.buffer_map.items() if self.on_data}
        function = PrimFunc(
            (*params, *own),
            {**table, **dict(zip(own, self.state, strict=True))},
            body,
            attrs={"global_symbol": "trace"},
        )
        memories = tuple(self.memories.values())
        unseen = tuple(self.unseen)
        return Traced(function, memories, tuple(params), self.estimate, self.on_data, unseen)

    # ---- memory

    def memory(self, data: Var) -> Memory:
        known = self.memories.get(data)
        if known is None:
            b = self.buffers.get(data)
            if b is None:
                raise NotYetError(
                    f"the accesses through the pointer `{data.name}` cannot be followed",
                    code="unknown-pointer",
                )
            size = _bytes(b)
            base = self.next
            self.next += -(-size // _PAGE) * _PAGE if size else _UNKNOWN
            known = self.memories[data] = Memory(b, len(self.memories), base, size)
        return known

    def touch(self, access: BufferLoad | BufferStore, store: bool) -> list[Stmt]:
        """Report each element of an access, a vector's one by one."""
        root, offset = self.pointers.get(access.buffer.data, (access.buffer.data, const_int(0, "int64")))
        memory = self.memory(root)
        scope = memory.buffer.scope
        if scope.startswith(_REGISTERS) and memory.name not in self.wanted:
            return []
        item = item_size(access.buffer.dtype)
        flags = 2 * memory.number + store

        def report(index: Expr, predicate: Expr | None) -> Stmt:
            at = Add(offset, Mul(_wide(index), const_int(item, "int64")))
            address = Add(const_int(memory.base, "int64"), at)
            code = Add(Mul(address, const_int(1 << FIELD, "int64")), const_int(flags, "int64"))
            args = (self.state[0].data, self.state[1].data, code)
            call = Evaluate(Call("int32", GlobalVar("touch"), args))
            return call if predicate is None else IfThenElse(predicate, call)

        (index,) = access.indices
        lanes = dt.lanes(index.dtype)
        self.estimate += self.times * lanes
        if lanes == 1:
            return [report(index, access.predicate)]
        lane = Var("lane", "int32")
        predicate = None if access.predicate is None else _lane(access.predicate, lane)
        body = report(_lane(index, lane), predicate)
        return [For(lane, const_int(0), const_int(lanes), "serial", body)]

    # ---- expressions

    def accesses(self, *exprs: Any) -> list[Stmt]:
        """The accesses of expressions, in the order in which they are evaluated."""
        out: list[Stmt] = []
        for e in exprs:
            if e is not None:
                self.expr(e, out)
        return out

    def expr(self, e: Any, out: list[Stmt]) -> None:
        t = type(e)
        if t is BufferLoad:
            out += self.accesses(*e.indices, e.predicate)
            out += self.touch(e, False)
        elif t is And or t is Or:
            self.expr(e.a, out)
            rest = self.accesses(e.b)
            if rest and dt.lanes(e.dtype) == 1:
                out.append(IfThenElse(e.a if t is And else Not(e.a), seq(*rest)))
            else:
                out += rest
        elif t is Let:
            self.expr(e.value, out)
            inner = self.accesses(e.body)
            if inner:
                out.append(self.let(e, seq(*inner)))
        elif t is Call:
            self.call(e, out)
        else:
            for c in e.children():
                self.expr(c, out)

    def call(self, e: Call, out: list[Stmt]) -> None:
        if e.op in _SKIPPED:
            return
        if e.op == "if_then_else":
            self.conditional(e, out)
        elif e.op == "address_of" and type(e.args[0]) is BufferLoad:
            out += self.accesses(*e.args[0].indices)
        elif e.op in _ATOMIC:
            out += self.accesses(*e.args)
            target = e.args[0]
            if type(target) is Call and target.op == "address_of" and type(target.args[0]) is BufferLoad:
                load = target.args[0]
                out += [*self.touch(load, False), *self.touch(load, True)]
            else:
                self.unseen[f"T.{e.op}"] = None
        else:
            out += self.accesses(*e.args)
            self.foreign(e)

    def conditional(self, e: Call, out: list[Stmt]) -> None:
        condition, *arms = e.args
        self.expr(condition, out)
        then, other = [self.accesses(a) for a in arms]
        if not then and not other:
            return
        if dt.lanes(condition.dtype) != 1:
            raise NotYetError(
                "the accesses of a conditional of vectors cannot be followed yet", code="vector-conditional"
            )
        if then:
            out.append(IfThenElse(condition, seq(*then), seq(*other) if other else None))
        else:
            out.append(IfThenElse(Not(condition), seq(*other)))

    def foreign(self, e: Call) -> None:
        """Note calls that may touch memory where nobody sees it."""
        if isinstance(e.op, GlobalVar):
            raise NotYetError(
                f"the accesses of a call of the function `{e.op.name}` cannot be followed yet",
                code="module-call",
            )
        pointers = any(a.dtype == "handle" and type(a) is not IntImm for a in e.args)
        if effect_of(e.op) == "update" and (pointers or "packed" in e.op):
            name = getattr(e.args[0], "value", None) if e.args else None
            self.unseen[name if isinstance(name, str) else f"T.{e.op}"] = None

    # ---- statements

    def stmt(self, s: Any) -> Stmt | None:
        """The accesses of a statement, and the statement itself where the program runs on data."""
        return _STATEMENTS[type(s)](self, s)  # type: ignore[no-any-return]

    def _seq(self, s: SeqStmt) -> Stmt | None:
        parts = [c for c in map(self.stmt, s.seq) if c is not None]
        return seq(*parts) if parts else None

    def _store(self, s: BufferStore) -> Stmt:
        own = s if self.on_data else None
        parts = [*self.accesses(s.value, *s.indices, s.predicate), *self.touch(s, True)]
        return seq(*parts, own) if parts or own is not None else Evaluate(const_int(0))

    def _for(self, s: For) -> Stmt | None:
        before = self.accesses(s.min, s.extent)
        outer = self.times
        count = s.extent.value if type(s.extent) is IntImm else float("inf")
        self.times *= max(count, 0)
        body = self.stmt(s.body)
        self.times = outer
        loop = None if body is None else s.replace(kind="serial", thread="", annotations={}, body=body)
        return seq(*before, loop) if before or loop is not None else None

    def _while(self, s: While) -> Stmt:
        outer, self.times = self.times, float("inf")
        test = self.accesses(s.condition)
        leave = IfThenElse(Not(s.condition), Evaluate(Call("void", "break_loop", ())))
        body = seq(*test, leave, self.stmt(s.body))
        self.times = outer
        return While(const_int(1, "bool"), body)

    def _if(self, s: IfThenElse) -> Stmt | None:
        before = self.accesses(s.condition)
        then = self.stmt(s.then_case)
        other = None if s.else_case is None else self.stmt(s.else_case)
        if then is None and other is None:
            return seq(*before) if before else None
        if then is None:
            return seq(*before, IfThenElse(Not(s.condition), other or Evaluate(const_int(0))))
        return seq(*before, IfThenElse(s.condition, then, other))

    def _let(self, s: LetStmt) -> Stmt | None:
        before = self.accesses(s.value)
        if s.var.dtype == "handle":
            self.point(s.var, s.value)
        body = self.stmt(s.body)
        if body is None:
            return seq(*before) if before else None
        return seq(*before, self.let(s, body))

    def let(self, s: LetStmt | Let, body: Stmt) -> Stmt:
        """``body`` with the variable, where it is still used."""
        if not self.on_data and s.var not in free_vars(body):
            return body
        return LetStmt(s.var, s.value, body)

    def point(self, var: Var, value: Expr) -> None:
        """What a pointer that is made of another one points to."""
        zero = const_int(0, "int64")
        if type(value) is Call and value.op == "reinterpret":
            value = value.args[0]
        if type(value) is Var:
            self.pointers[var] = self.pointers.get(value, (value, zero))
        elif type(value) is Call and value.op == "address_of" and type(value.args[0]) is BufferLoad:
            load = value.args[0]
            root, at = self.pointers.get(load.buffer.data, (load.buffer.data, zero))
            item = const_int(item_size(load.buffer.dtype), "int64")
            self.pointers[var] = root, Add(at, Mul(_wide(load.indices[0]), item))
        elif type(value) is Call and value.op == "tvm_access_ptr" and type(value.args[1]) is Var:
            root, at = self.pointers.get(value.args[1], (value.args[1], zero))
            item = const_int(item_size(value.args[0].dtype), "int64")
            self.pointers[var] = root, Add(at, Mul(_wide(value.args[2]), item))

    def _attr(self, s: AttrStmt) -> Stmt | None:
        return self.stmt(s.body)

    def _assert(self, s: AssertStmt) -> Stmt | None:
        before = self.accesses(s.condition)
        if self.on_data:
            before.append(s)
        return seq(*before) if before else None

    def _evaluate(self, s: Evaluate) -> Stmt | None:
        e = s.value
        before = self.accesses(e)
        jump = type(e) is Call and effect_of(e.op) == "control"
        if jump and isinstance(e, Call) and e.op == "ret":
            before.append(Evaluate(e.replace(args=())))
        elif jump or (self.on_data and type(e) is Call):
            before.append(s)
        return seq(*before) if before else None

    def _allocation(self, s: Allocate | AllocateConst | DeclBuffer) -> Stmt | None:
        body = self.stmt(s.body)
        return s.replace(body=body) if self.on_data and body is not None else body


_STATEMENTS: dict[type, Any] = {
    SeqStmt: _Tracer._seq,
    BufferStore: _Tracer._store,
    For: _Tracer._for,
    While: _Tracer._while,
    IfThenElse: _Tracer._if,
    LetStmt: _Tracer._let,
    AttrStmt: _Tracer._attr,
    AssertStmt: _Tracer._assert,
    Evaluate: _Tracer._evaluate,
    Allocate: _Tracer._allocation,
    AllocateConst: _Tracer._allocation,
    DeclBuffer: _Tracer._allocation,
}


def _wide(e: Expr) -> Expr:
    if type(e) is IntImm:
        return const_int(e.value, "int64")
    return e if e.dtype == "int64" else Cast("int64", e)


def _lane(e: Any, lane: Var) -> Expr:
    """One lane of an expression."""
    d = dt.info(e.dtype)
    t = type(e)
    if d.lanes == 1:
        return e  # type: ignore[no-any-return]
    if t is Ramp:
        step = lane if e.base.dtype == "int32" else Cast(e.base.dtype, lane)
        return Add(e.base, Mul(step, e.stride))
    if t is Broadcast and dt.lanes(e.value.dtype) == 1:
        return e.value  # type: ignore[no-any-return]
    if t in (Var, Shuffle, Broadcast) or (t is Call and e.op != "if_then_else"):
        raise NotYetError(
            "the accesses of a vector of indices of this form cannot be followed yet", code="vector-indices"
        )
    if t is Cast:
        return Cast(d.base, _lane(e.value, lane))
    if t is Call:
        return Call(d.base, e.op, tuple([_lane(a, lane) for a in e.args]))
    return e.map_children(lambda c: _lane(c, lane))  # type: ignore[no-any-return]


def _buffers(func: PrimFunc) -> dict[Var, Buffer]:
    """The first buffer over each pointer."""
    found = {b.data: b for b in func.buffers}
    for n in walk(func.body):
        if type(n) is DeclBuffer:
            found.setdefault(n.buffer.data, n.buffer)
        elif type(n) is BufferRealize:
            shape = tuple([r.extent for r in n.bounds])
            found.setdefault(n.buffer.data, n.buffer.replace(shape=shape))
        elif type(n) is AllocateConst:
            found.setdefault(n.buffer_var, Buffer(n.buffer_var.name, n.extents, n.dtype, n.buffer_var))
    return found


def _bytes(b: Buffer) -> int:
    """The size of a buffer's memory; 0 where it is not constant."""
    sizes = [n.value if type(n) is IntImm else None for n in b.shape]
    strides = [n.value if type(n) is IntImm else None for n in b.strides]
    offset = 0 if b.elem_offset is None else b.elem_offset.value if type(b.elem_offset) is IntImm else None
    total = 1
    if None in sizes or None in strides or offset is None:
        return 0
    for k, n in enumerate(sizes):
        if not b.strides:
            total *= max(n or 0, 0)
        elif n:
            total += (n - 1) * (strides[k] or 0)
    return (total + offset) * item_size(b.dtype)


def _runs_on_data(body: Stmt) -> bool:
    """Whether what is touched depends on what is in memory."""
    named: set[Var] = set()  # variables that stand for something in memory

    def data(*exprs: Any) -> bool:
        return any(
            type(n) is BufferLoad
            or (type(n) is Call and n.op not in _POINTERS and effect_of(n.op) not in ("pure", "hint"))
            or n in named
            for e in exprs
            if e is not None
            for n in walk(e)
        )

    for n in walk(body):
        t: Any = type(n)
        s: Any = n
        if (t is LetStmt or t is Let) and data(s.value):
            named.add(s.var)
    for n in walk(body):
        t, s = type(n), n
        if t is While or (t is For and data(s.min, s.extent)) or (t is IfThenElse and data(s.condition)):
            return True
        if (t is BufferLoad or t is BufferStore) and data(*s.indices, s.predicate):
            return True
        if (t is And or t is Or) and data(s.a) and data(s.b):
            return True
        if t is Call and s.op == "if_then_else" and data(s.args[0]) and data(*s.args[1:]):
            return True
    return False


def touching(traced: Traced, touch: PrimFunc) -> Any:
    """The compiled tracing program; its last two parameters are the arrays that ``touch`` works on."""
    from tirscript.codegen.llvm import build_llvm
    from tirscript.lowering import lower_function

    # The arrays are as long as `touch` says.
    function, last = traced.function, traced.function.params[-2:]
    table = dict(function.buffer_map)
    for p, b in zip(last, touch.buffers, strict=True):
        table[p] = table[p].replace(shape=b.shape)
    function = function.replace(buffer_map=table)
    mod = IRModule({"trace": function, "touch": lower_function(touch)})
    return build_llvm(mod)["trace"]


def arguments(traced: Traced, args: Sequence[Any] | None) -> list[Any]:
    """What the tracing program gets first: the given arguments, or arrays of ones and zeros."""
    import numpy as np

    if not traced.on_data:
        return []
    params, table = traced.params, traced.function.buffer_map
    if args is not None:
        if len(args) != len(params):
            raise TirscriptError(
                f"the program has {len(params)} parameters, {len(args)} arguments are given",
                code="argument-count",
            )
        return [np.array(a) if p in table else a for p, a in zip(params, args, strict=True)]
    made: list[Any] = []
    for p in params:
        b = table.get(p)
        if b is None:
            raise TirscriptError(
                f"the accesses of the program depend on data: a value of `{p.name}` is wanted",
                code="argument-wanted",
                hint="args=[...] are the arguments of a call",
            )
        from tirscript.runtime.ndarray import numpy_dtype

        shape = [n.value if type(n) is IntImm else 0 for n in b.shape]
        fill = np.ones if dt.is_float(b.dtype) else np.zeros
        if b.strides or dt.lanes(b.dtype) != 1:
            raise TirscriptError(
                f"the accesses of the program depend on data: an array for `{b.name}` is wanted",
                code="argument-wanted",
                hint="args=[...] are the arguments of a call",
            )
        made.append(fill(shape, numpy_dtype(b.dtype)))
    return made


_RECORD = """
@T.prim_func(private=True)
def touch(first: T.handle, second: T.handle, code: T.int64):
    codes = T.match_buffer(first, ({size},), "int64")
    at = T.match_buffer(second, (1,), "int64")
    assert at[0] < T.int64({size}), "{full}"
    codes[at[0]] = code
    at[0] = at[0] + T.int64(1)
"""
FULL = "the limit of accesses is reached"


def stopped(error: AssertFailed) -> bool:
    """Whether a program was stopped because it made too many accesses."""
    return FULL in error.message


def record_text(size: int) -> str:
    """A function that writes the codes of at most ``size`` accesses to an array."""
    return _RECORD.format(size=size, full=FULL)
