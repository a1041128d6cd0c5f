"""What a program means, read off its tree: an interpreter that shares nothing with the code generators.

It is slow and plain on purpose: numbers are exact Python numbers that are rounded or wrapped once, memory is
bytes, loops of every kind run in order.  Tests hold the targets against it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tirscript.diagnostics import AssertFailed, deep_recursion
from tirscript.ir import dtype as dt
from tirscript.ir import expr as ir
from tirscript.ir import stmt as st
from tirscript.ir.buffer import Buffer, MatchBufferRegion
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk

from . import numbers
from .evaluate import COUNTED, HINTS, Evaluator, NotInterpreted, Pointer, View, dense, lift

_JUMPS = ("break_loop", "continue_loop", "ret")


class _Jump(Exception):
    """``break``, ``continue`` or a return."""

    def __init__(self, kind: str, value: Any = None) -> None:
        self.kind = kind
        self.value = value


class Interpreter(Evaluator):
    """Runs one function of a module.  ``zero_divisions`` counts divisions of integers by zero."""

    def __init__(self, functions: dict[str, PrimFunc]) -> None:
        super().__init__(functions)
        self.threads: dict[str, ir.Var] = {}
        self.seen: dict[st.Block, set[tuple[int, ...]]] = {}
        self._conjuncts: dict[st.BlockRealize, tuple[list[Any], list[Any]]] = {}
        self._roots: dict[ir.Var, frozenset[ir.Var]] = {}
        self._anchors: dict[st.For, list[tuple[st.BlockRealize, frozenset[ir.Var]]]] = {}

    # ---- calls

    def call(self, f: PrimFunc, args: Sequence[Any]) -> Any:
        kept = (self.env, self.views, self.threads, self._roots, self._anchors, self.seen)
        self.env, self.views, self.threads, self._roots, self._anchors, self.seen = {}, {}, {}, {}, {}, {}
        try:
            self._bind(f, args)
            self._plan(f.body, [])
            self.run(f.body)
            code = dt.info(f.ret_type).code
            return None if code == "void" else False if code == "bool" else 0 if code in COUNTED else 0.0
        except _Jump as jump:
            if jump.kind != "ret":
                raise
            return jump.value
        finally:
            self.env, self.views, self.threads, self._roots, self._anchors, self.seen = kept

    def _bind(self, f: PrimFunc, args: Sequence[Any]) -> None:
        facts: list[tuple[ir.Expr, int]] = []
        for p, value in zip(f.params, args, strict=True):
            b = f.buffer_map.get(p)
            self.env[p] = value if b is not None or p.dtype == "handle" else self._scalar(value, p)
            if b is not None:
                if len(value.shape) == len(b.shape):
                    facts += zip(b.shape, value.shape, strict=True)
                    if b.strides:
                        facts += zip(b.strides, value.strides, strict=True)
                if b.elem_offset is not None:
                    facts.append((b.elem_offset, 0))
        progress = True
        while progress:
            progress = False
            for e, value in facts:
                free = [n for n in walk(e) if type(n) is ir.Var and n not in self.env]
                if len(set(free)) == 1:
                    self._solve(free[0], e, value)
                    progress = True
        for p, value in zip(f.params, args, strict=True):
            b = f.buffer_map.get(p)
            if b is not None:
                shape = tuple([int(self.value(n)) for n in b.shape])
                strides = tuple([int(self.value(s)) for s in b.strides]) if b.strides else None
                self.views[b] = View(b, value.memory, value.at, shape, strides)
                own = self.views[b]
                per = own.size * own.lanes
                self.env[b.data] = Pointer(
                    value.memory, value.at, shape, tuple([s // per for s in own.steps])
                )

    def _solve(self, v: ir.Var, e: ir.Expr, value: int) -> None:
        """``v`` from ``e == value``, ``e`` being linear in it."""
        if e is v:
            self.env[v] = value
            return
        ends = []
        for guess in (0, 1):
            self.env[v] = guess
            ends.append(int(self.value(e)))
        slope = ends[1] - ends[0]
        self.env[v] = (value - ends[0]) // slope if slope else 0

    def _scalar(self, value: Any, p: ir.Var) -> Any:
        d = dt.info(p.dtype)
        if d.code == "bool":
            return bool(value)
        return int(value) if d.is_int else numbers.nearest(float(value), p.dtype)

    # ---- when inits run

    def _plan(self, s: Any, path: list[Any]) -> None:
        """Find the outermost loop bound to a reduction axis of each block that has an init."""
        t = type(s)
        if t is st.For:
            self._roots[s.loop_var] = frozenset([s.loop_var])
        elif t is st.LetStmt:
            self._roots[s.var] = self._loops_of(s.value)
        elif t is st.BlockRealize:
            loops: dict[str, set[ir.Var]] = {"reduce": set(), "other": set()}
            for axis, value in zip(s.block.iter_vars, s.iter_values, strict=True):
                self._roots[axis.var] = self._loops_of(value)
                loops["reduce" if axis.kind == "reduce" else "other"] |= self._roots[axis.var]
            if s.block.init is not None:
                over = frozenset(loops["reduce"])
                anchor = next((n for n in path if type(n) is st.For and n.loop_var in over), None)
                if anchor is not None:
                    still = over - self._deciding([*path[path.index(anchor) :], s], over)
                    self._anchors.setdefault(anchor, []).append((s, still))
        below: list[Any] = [c for c in s.children() if isinstance(c, st.Stmt)]
        for c in below:
            self._plan(c, [*path, s])

    def _loops_of(self, e: Any) -> frozenset[ir.Var]:
        found: frozenset[ir.Var] = frozenset()
        for n in walk(e):
            if type(n) is ir.Var:
                found |= self._roots.get(n, frozenset())
        return found

    def _deciding(self, path: list[Any], over: frozenset[ir.Var]) -> frozenset[ir.Var]:
        """The loops that decide which spatial instances there are: they are in its axes, or in a condition
        that is not about reduction loops alone."""
        target = path[-1]
        spatial = self._spatial(target)
        pure = over - spatial
        found = set(spatial)
        for n, below in zip(path, [*path[1:], None], strict=True):
            conditions: list[Any] = []
            if type(n) is st.IfThenElse:
                conditions = self._parts(n.condition) if n.then_case is below else [n.condition]
            elif type(n) is st.BlockRealize:
                conditions = self._parts(n.predicate)
                if n is not target:
                    conditions += n.iter_values  # they lie in their domains
            for c in conditions:
                loops = self._loops_of(c)
                if not self._only(loops, pure):
                    found |= loops
        for n in reversed(path):
            if type(n) is st.For and n.loop_var in found:
                found |= self._loops_of(n.min) | self._loops_of(n.extent)
        return frozenset(found)

    def _initialise(self, s: Any, target: st.BlockRealize, still: frozenset[ir.Var]) -> None:
        """Run the init of one block for each of its spatial instances below ``s``; the loops ``still`` decide
        about updates alone."""
        t = type(s)
        if t is st.For:
            if s.loop_var in still:
                self.env[s.loop_var] = int(self.value(s.min))
                self._initialise(s.body, target, still)
                return
            for i in self._range(s):
                self.env[s.loop_var] = i
                self._initialise(s.body, target, still)
        elif t is st.LetStmt:
            self.env[s.var] = self.value(s.value)
            self._initialise(s.body, target, still)
        elif s is target:
            key = self._axes(s, lambda a: a.kind != "reduce")
            both, _ = self._guards(s)
            if key is not None:
                key += self._around(s)
            if key is not None and key not in self.seen[s.block] and all(self.value(p) for p in both):
                self.seen[s.block].add(key)
                assert s.block.init is not None
                # The regions of other views may depend on reduction axes.
                used = {getattr(n, "buffer", None) for n in walk(s.block.init)}
                used |= {n for n in walk(s.block.init) if type(n) is ir.Var}
                self._views([m for m in s.block.match_buffers if m.buffer in used or m.buffer.data in used])
                self.run(s.block.init)
        elif t is st.IfThenElse:
            if _holds(s.then_case, target):
                decisive = [p for p in self._parts(s.condition) if not self._only(self._loops_of(p), still)]
                if all(self.value(p) for p in decisive):
                    self._initialise(s.then_case, target, still)
            elif self._only(self._loops_of(s.condition), still) or not self.value(s.condition):
                self._initialise(s.else_case, target, still)
        elif t is st.BlockRealize:
            free = self._axes(s, lambda a: not self._only(self._roots[a.var], still)) is not None
            self._axes(s, lambda a: True)
            decisive = [p for p in self._parts(s.predicate) if not self._only(self._loops_of(p), still)]
            if free and all(self.value(p) for p in decisive):
                self._initialise(s.block.body, target, still)
        else:
            for c in s.children():
                if isinstance(c, st.Stmt) and any(n is target for n in walk(c)):
                    self._initialise(c, target, still)

    def _around(self, target: st.BlockRealize) -> tuple[Any, ...]:
        """What the loops and axes around that the init uses itself stand at: part of the instance."""
        return tuple([self.env[v] for v in self._outer(target)])

    def _outer(self, target: st.BlockRealize) -> list[ir.Var]:
        block = target.block
        if block.init is None:
            return []
        inside = {a.var for a in block.iter_vars}
        used: dict[ir.Var, None] = {}
        for n in walk(block.init):
            if type(n) is ir.Var:
                used[n] = None
            elif type(n) is st.For:
                inside.add(n.loop_var)
            elif type(n) is st.Block:
                inside.update([a.var for a in n.iter_vars])
        return [v for v in used if self._roots.get(v) and v not in inside]

    def _spatial(self, target: st.BlockRealize) -> frozenset[ir.Var]:
        """The loops that spatial axes depend on, and what the init uses itself."""
        roots = [self._roots[a.var] for a in target.block.iter_vars if a.kind != "reduce"]
        return frozenset().union(*roots, *[self._roots[v] for v in self._outer(target)])

    def _only(self, loops: frozenset[ir.Var], pure: frozenset[ir.Var]) -> bool:
        """Whether reduction loops alone decide."""
        return bool(loops) and loops <= pure

    def _parts(self, predicate: Any) -> list[Any]:
        parts: list[Any] = []
        stack = [predicate]
        while stack:
            e = stack.pop()
            if type(e) is ir.And:
                stack += [e.b, e.a]
            else:
                parts.append(e)
        return parts

    def _guards(self, r: st.BlockRealize) -> tuple[list[Any], list[Any]]:
        """Conjuncts that guard init and update, and those that guard the update alone."""
        known = self._conjuncts.get(r)
        if known is not None:
            return known
        parts = self._parts(r.predicate)
        over: set[ir.Var] = set()
        rest: set[ir.Var] = set()
        for a in r.block.iter_vars:
            (over if a.kind == "reduce" else rest).update(self._roots[a.var])
        both: list[Any] = []
        alone: list[Any] = []
        for e in parts:
            loops = self._loops_of(e)
            only = r.block.init is not None and loops and loops <= over and not loops & rest
            (alone if only else both).append(e)
        self._conjuncts[r] = both, alone
        return both, alone

    # ---- statements

    def run(self, s: Any) -> None:
        _RUN[type(s)](self, s)

    def _seq(self, s: st.SeqStmt) -> None:
        for c in s.seq:
            self.run(c)

    def _store(self, s: st.BufferStore) -> None:
        view = self.views[s.buffer]
        index = [self.value(i) for i in s.indices]
        value = self.value(s.value)
        have, want = dt.info(s.value.dtype), dt.info(s.buffer.dtype)
        if have.base != want.base:
            value = lift(lambda v: numbers.convert(v, have.base, want.base), value)
        elif self.exact(s.value) and have.is_int:
            value = lift(lambda v: dt.wrap(int(v), have.base), value)
        vector = [i for i in index if isinstance(i, list)]
        if not vector:
            if s.predicate is None or self.value(s.predicate):
                view.write(index, value)
            return
        mask = None if s.predicate is None else self.value(s.predicate)
        for lane in range(len(vector[0])):
            if mask is None or mask is True or (isinstance(mask, list) and mask[lane]):
                at = [i[lane] if isinstance(i, list) else i for i in index]
                view.write(at, value[lane] if isinstance(value, list) else value)

    def _range(self, s: st.For) -> range:
        low, extent = int(self.value(s.min)), int(self.value(s.extent))
        step = 1 if s.step is None else int(self.value(s.step))
        return range(low, low + extent, step) if step > 0 else range(0)

    def _for(self, s: st.For) -> None:
        inits = self._anchors.get(s, ())
        for target, still in inits:
            self.seen[target.block] = set()
            if self._simple(s, target):
                self._initialise(s, target, still)
        outer = self.threads
        if s.thread and s.thread not in outer:
            self.threads = {**outer, s.thread: s.loop_var}
        for i in self._range(s):
            self.env[s.loop_var] = i
            try:
                self.run(s.body)
            except _Jump as jump:
                if jump.kind == "break_loop":
                    break
                if jump.kind != "continue_loop":
                    raise
        self.threads = outer

    def _simple(self, s: Any, target: st.BlockRealize) -> bool:
        """Whether every iteration below ``s`` reaches the block: nothing else decides."""
        t = type(s)
        if s is target:
            return True
        if t in (st.For, st.LetStmt):
            return self._simple(s.body, target)
        if t is st.SeqStmt:
            jumps = any(
                type(n) is ir.Call and n.op in ("break_loop", "continue_loop", "ret") for n in walk(s)
            )
            return not jumps and any(self._simple(c, target) for c in s.seq if _holds(c, target))
        if t is st.IfThenElse:
            return any(self._simple(c, target) for c in (s.then_case, s.else_case) if c and _holds(c, target))
        if t is st.BlockRealize:
            return s.block.init is None and self._simple(s.block.body, target)
        return False

    def _while(self, s: st.While) -> None:
        while self.value(s.condition):
            try:
                self.run(s.body)
            except _Jump as jump:
                if jump.kind == "break_loop":
                    break
                if jump.kind != "continue_loop":
                    raise

    def _if(self, s: st.IfThenElse) -> None:
        if self.value(s.condition):
            self.run(s.then_case)
        elif s.else_case is not None:
            self.run(s.else_case)

    def _let(self, s: st.LetStmt) -> None:
        self.env[s.var] = self.data(s.value) if not self.exact(s.value) else self.value(s.value)
        self.run(s.body)

    def _attr(self, s: st.AttrStmt) -> None:
        axis = s.node
        if s.key not in ("thread_extent", "virtual_thread") or not isinstance(axis, ir.IterVar):
            self.run(s.body)
            return
        known = self.threads.get(axis.thread_tag)
        if known is not None:
            self.env[axis.var] = self.env[known]
            self.run(s.body)
            return
        outer = self.threads
        self.threads = {**outer, axis.thread_tag: axis.var}
        for i in range(int(self.value(s.value))):
            self.env[axis.var] = i
            self.run(s.body)
        self.threads = outer

    def _assert(self, s: st.AssertStmt) -> None:
        if not self.value(s.condition):
            raise AssertFailed(str(getattr(s.message, "value", "")), code="assert")

    def _evaluate(self, s: st.Evaluate) -> None:
        e = s.value
        if type(e) is ir.Call and e.op in ("break_loop", "continue_loop"):
            raise _Jump(str(e.op))
        if type(e) is ir.Call and e.op == "ret":
            raise _Jump("ret", self.data(e.args[0]) if e.args else None)
        if type(e) is ir.Call and e.op not in HINTS:
            self.value(e)

    def _memory(self, extents: Sequence[Any], dtype: str) -> bytearray:
        count = dt.lanes(dtype) * numbers.size_of(dt.info(dtype).base)
        for n in extents:
            count *= max(int(self.value(n)), 0)
        return bytearray(b"\xa5" * count)

    def _allocate(self, s: st.Allocate) -> None:
        self.env[s.buffer_var] = Pointer(self._memory(s.extents, s.dtype), 0)
        self.run(s.body)

    def _allocate_const(self, s: st.AllocateConst) -> None:
        memory = self._memory(s.extents, s.dtype)
        size = numbers.size_of(s.dtype)
        for k, v in enumerate(np.asarray(s.data).ravel().tolist()):
            numbers.store(memory, k * size, v, s.dtype)
        self.env[s.buffer_var] = Pointer(memory, 0)
        self.run(s.body)

    def _decl(self, s: st.DeclBuffer) -> None:
        b = s.buffer
        pointer = self.env[b.data]
        shape = tuple([int(self.value(n)) for n in b.shape])
        strides = tuple([int(self.value(n)) for n in b.strides]) if b.strides else None
        size = numbers.size_of(dt.info(b.dtype).base) * dt.lanes(b.dtype)
        offset = 0 if b.elem_offset is None else int(self.value(b.elem_offset))
        self.views[b] = View(b, pointer.memory, pointer.at + offset * size, shape, strides)
        self.run(s.body)

    def _own(self, b: Buffer) -> None:
        memory = self._memory(b.shape, b.dtype)
        shape = tuple([int(self.value(n)) for n in b.shape])
        self.views[b] = View(b, memory, 0, shape, None)
        self.env[b.data] = Pointer(memory, 0, shape, dense(shape))

    def _realize(self, s: st.BufferRealize) -> None:
        self._own(s.buffer)
        self.run(s.body)

    # ---- blocks

    def _axes(self, r: st.BlockRealize, wanted: Callable[[ir.IterVar], bool]) -> tuple[int, ...] | None:
        """Give the axes their values; None where one is outside its domain."""
        chosen = [(a, int(self.value(v))) for a, v in zip(r.block.iter_vars, r.iter_values, strict=True)
                  if wanted(a)]  # fmt: skip
        for a, v in chosen:
            self.env[a.var] = v
        for a, v in chosen:
            if a.dom is not None:
                low = int(self.value(a.dom.min))
                if not low <= v < low + int(self.value(a.dom.extent)):
                    return None
        return tuple([v for _, v in chosen])

    def _views(self, matches: Sequence[MatchBufferRegion]) -> None:
        for m in matches:
            self._match(m)

    def _block(self, r: st.BlockRealize) -> None:
        block = r.block
        key = self._axes(r, lambda a: a.kind != "reduce")
        both, alone = self._guards(r)
        update = self._axes(r, lambda a: a.kind == "reduce") is not None
        if key is None or not all(bool(self.value(p)) for p in both):
            return
        for b in block.alloc_buffers:
            self._own(b)
        self._views(block.match_buffers)
        if block.init is not None:
            seen = self.seen.get(block)
            if seen is None:
                self.run(block.init)
            elif (instance := key + self._around(r)) not in seen:
                seen.add(instance)
                self.run(block.init)
        if update and all(bool(self.value(p)) for p in alone):
            self.run(block.body)

    def _match(self, m: MatchBufferRegion) -> None:
        source, b = self.views[m.source.buffer], m.buffer
        lows = [int(self.value(r.min)) for r in m.source.region]
        extents = [int(self.value(r.extent)) for r in m.source.region]
        per = source.size * source.lanes
        at = source.at + sum([low * s for low, s in zip(lows, source.steps, strict=True)])
        shape = tuple([int(self.value(n)) for n in b.shape])
        # Dimensions of extent 1 may be left out or put in.
        steps = [s // per for s, n in zip(source.steps, extents, strict=True) if n != 1]
        strides: list[int] = []
        if len(shape) == len(extents):
            strides = [s // per for s in source.steps]
        else:
            strides = [steps.pop(0) if n != 1 and steps else 1 for n in shape]
        for e, s in zip(b.strides, strides, strict=False):
            if type(e) is ir.Var and e not in self.env:
                self.env[e] = s
        for e, s in zip(b.strides, strides, strict=False):
            if type(e) is ir.Var:
                self.env[e] = s
        self.views[b] = View(b, source.memory, at, shape, tuple(strides))
        self.env[b.data] = Pointer(source.memory, at, shape, tuple(strides))
        if b.elem_offset is not None:
            # The offset counts from where the memory of the region's buffer starts.
            self.env[b.data] = self.env[m.source.buffer.data]
            if type(b.elem_offset) is ir.Var:
                self.env[b.elem_offset] = (at - self.env[b.data].at) // per


def _holds(s: Any, target: Any) -> bool:
    return any(n is target for n in walk(s))


_RUN: dict[type, Callable[[Interpreter, Any], None]] = {
    st.SeqStmt: Interpreter._seq, st.BufferStore: Interpreter._store, st.For: Interpreter._for,
    st.While: Interpreter._while, st.IfThenElse: Interpreter._if, st.LetStmt: Interpreter._let,
    st.AttrStmt: Interpreter._attr, st.AssertStmt: Interpreter._assert, st.Evaluate: Interpreter._evaluate,
    st.Allocate: Interpreter._allocate, st.AllocateConst: Interpreter._allocate_const,
    st.DeclBuffer: Interpreter._decl, st.BufferRealize: Interpreter._realize,
    st.BlockRealize: Interpreter._block,
}  # fmt: skip


# ---- from outside


class _Taken:
    """The memory of NumPy arrays as bytes; arrays that overlap share them."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        bounds = sorted([byte_bounds(a) for a in arrays if a.size])
        self.parts: list[tuple[int, int, bytearray]] = []
        for low, high in bounds:
            if self.parts and low < self.parts[-1][1]:
                start, end, _ = self.parts.pop()
                low, high = start, max(high, end)
            self.parts.append((low, high, bytearray(ctypes.string_at(low, high - low))))

    def pointer(self, a: Any) -> Pointer:
        steps = tuple([s // a.itemsize for s in a.strides])
        if not a.size:
            return Pointer(bytearray(), 0, a.shape, steps)
        address = a.__array_interface__["data"][0]
        low, _, memory = next(p for p in self.parts if p[0] <= address < p[1])
        return Pointer(memory, address - low, a.shape, steps)

    def give_back(self) -> None:
        for low, _, memory in self.parts:
            ctypes.memmove(low, bytes(memory), len(memory))


def interpret(program: PrimFunc | IRModule, args: Sequence[Any], name: str | None = None) -> Any:
    """Run a function on NumPy arrays and numbers, which it changes as the program says; what it returns.

    >>> import numpy as np
    >>> import tirscript as ts
    >>> f = ts.parse('''
    ... @T.prim_func
    ... def f(A: T.Buffer((3,), "int8")):
    ...     for i in range(3):
    ...         A[i] = A[i] * A[i]
    ... ''')
    >>> a = np.array([3, -12, 16], "int8")
    >>> interpret(f, [a])
    >>> a.tolist()
    [9, -112, 0]
    """
    return Meaning(program, name).run(args)


class Meaning:
    """A function to interpret.

    Of the last run: ``zero_divisions`` counts divisions of integers by zero; ``loose`` says that a value was
    looked at that the language leaves open, as the sign of the larger of two zeros.

    ``nudge(op, value, dtype)`` gives what a function of floats, or ``"Mul"``, with this value, returns;
    without it that is the nearest number.
    """

    def __init__(
        self,
        program: PrimFunc | IRModule,
        name: str | None = None,
        nudge: Callable[[str, float, str], float] | None = None,
    ) -> None:
        from .reference import entry_function

        self.functions = dict(program.items()) if isinstance(program, IRModule) else {}
        self.function = entry_function(program, name)
        self.nudge = nudge
        self.zero_divisions = 0
        self.loose = False

    def run(self, args: Sequence[Any]) -> Any:
        f = self.function
        taken = _Taken([a for a in args if isinstance(a, np.ndarray)])
        given: list[Any] = []
        for p, a in zip(f.params, args, strict=True):
            pointer = taken.pointer(a) if isinstance(a, np.ndarray) else a
            b = f.buffer_map.get(p)
            if b is not None and dt.lanes(b.dtype) != 1:
                lanes = dt.lanes(b.dtype)
                pointer = Pointer(pointer.memory, pointer.at, pointer.shape[:-1],
                                  tuple([s // lanes for s in pointer.strides[:-1]]))  # fmt: skip
            given.append(pointer)
        x = Interpreter(self.functions)
        x.nudge = self.nudge
        with deep_recursion(), np.errstate(all="ignore"):
            result = x.call(f, given)
        taken.give_back()
        self.zero_divisions = x.zero_divisions
        self.loose = x.loose
        return result


__all__ = ["Meaning", "NotInterpreted", "interpret"]
