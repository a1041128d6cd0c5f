"""Statements and functions as Python statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tirscript.diagnostics import Mark, NotYetError
from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, MatchBufferRegion
from tirscript.ir.expr import Add, Call, Expr, IntImm, IterVar, StringImm, Sub, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockRealize,
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
)
from tirscript.ir.visitor import free_vars

from . import build as py
from . import support as _support
from .blocks import InitPlan, Planner, jumps
from .expr import Expressions, not_yet
from .kinds import UNKNOWN, dtype_bounds
from .names import Names
from .outline import LEVELS, LOOPS, Outliner, loose_jumps
from .shapes import bind_symbols

_SUPPORT = frozenset(n for n in vars(_support) if not n.startswith("_"))


class Emitter(Expressions):
    """Emits one function.  ``others`` are the Python names of the module's functions."""

    def __init__(
        self,
        others: Mapping[str, str],
        outliner: Outliner,
        support: set[str],
        callees: Mapping[str, PrimFunc],
    ) -> None:
        super().__init__(Names({*others.values(), *_SUPPORT}))
        self.functions = dict(others)
        self.callees = dict(callees)
        self.outliner = outliner
        self.support = support
        self.threads: dict[str, str] = {}
        self.seen: dict[InitPlan, str] = {}
        self.loops: dict[Var, For] = {}
        self.depth = 0
        self.level = 0
        self.plan: Planner

    # ---- functions

    def function(self, name: str, f: PrimFunc) -> ast.stmt:
        self.plan = Planner(f)
        parameters: list[str] = []
        for p in f.params:
            buffer = f.buffer_map.get(p)
            python = self.names.new(p.name if buffer is None else buffer.name)
            parameters.append(python)
            self.variables[p] = python
            if buffer is not None:
                self.buffers[buffer] = self.variables[buffer.data] = python
        for p, python in zip(f.params, parameters, strict=True):
            if p not in f.buffer_map and p.dtype != "handle":
                self.scalar_parameter(p, python)
        bind_symbols(self, f)
        self.statement(f.body)
        if f.ret_type != "void" and not (self.out and isinstance(self.out[-1], ast.Return)):
            # Where the end is reached without a value.
            self.out.append(ast.Return(self.zero(f.ret_type)))
        return py.function(name, parameters, self.out)

    def zero(self, dtype: str) -> ast.expr:
        code = dt.info(dtype).code
        return py.number(False if code == "bool" else 0 if code in ("int", "uint") else 0.0)

    def scalar_parameter(self, p: Var, python: str) -> None:
        self.kinds.bounds[p] = dtype_bounds(p.dtype) if p.exact else UNKNOWN
        d = dt.info(p.dtype)
        if not d.is_int or not p.exact:
            if d.code == "bool":
                value = py.call("bool", py.name(python))
            elif p.dtype in ("float16", "float32", "float64"):
                value = py.call(f"np.{p.dtype}", py.name(python))
            else:
                value = self.helper("cast", py.name(python), py.string(p.dtype))
            self.out.append(py.assign(python, value))

    # ---- scopes

    @contextmanager
    def block(self) -> Iterator[list[ast.stmt]]:
        """A body of its own: what is emitted goes there."""
        outer, self.out = self.out, []
        self.level += 1
        try:
            yield self.out
        finally:
            self.out = outer
            self.level -= 1

    def define(self, v: Var, wanted: str | None = None) -> str:
        name = self.names.new(wanted or v.name)
        self.variables[v] = name
        return name

    # ---- statements

    def statement(self, s: Stmt) -> None:
        table = _TABLE.get(type(s))
        if table is None:
            raise not_yet(f"`{type(s).__name__}`", s)
        self.guarded(table, s)

    def guarded(self, table: Callable[[Any, Any], None], s: Stmt) -> None:
        try:
            table(self, s)
        except NotYetError as error:
            # Of the statements around what cannot be run, the innermost is shown.
            if not error.marks and s.span is not None:
                error.marks = [Mark(s.span, "here")]
            raise

    def body(self, s: Stmt) -> list[ast.stmt]:
        with self.block() as out:
            self.statement(s)
        return out

    def size(self, n: Expr) -> ast.expr:
        """An extent of memory: none where it turns out to be negative."""
        low = self.kinds.interval(n)[0]
        made = self.root(n)
        return made if low is not None and low >= 0 else py.call("max", made, py.number(0))

    def memory(self, shape: tuple[Expr, ...], dtype: str) -> ast.expr:
        extents = py.tuple_of([self.size(n) for n in shape])
        if dtype in ("bool", "float16", "float32", "float64") or (
            dt.info(dtype).base == dtype and dt.is_int(dtype)
        ):
            if dt.info(dtype).bits >= 8 or dtype == "bool":
                return py.call("np.empty", extents, dtype=py.string(dtype))
        return self.helper("empty", extents, py.string(dtype))

    def allocate(self, b: Buffer) -> str:
        name = self.names.new(b.name)
        self.buffers[b] = self.variables[b.data] = name
        self.out.append(py.assign(name, self.memory(b.shape, b.dtype)))
        return name


def _seq(x: Emitter, s: SeqStmt) -> None:
    for child in s.seq:
        x.statement(child)


def _store(x: Emitter, s: BufferStore) -> None:
    lanes = dt.lanes(s.buffer.dtype)
    at = [x.root(i) for i in s.indices]
    value = x.root(s.value, lambda e: x.stored(e, s.buffer.dtype))
    if s.predicate is not None:
        arguments = [py.name(x.buffers[s.buffer]), py.tuple_of(at), value, x.root(s.predicate)]
        x.out.append(ast.Expr(x.helper("masked_store", *arguments)))
        return
    if lanes != 1 and not at:
        at = [ast.Constant(...)]
    place = py.subscript(py.name(x.buffers[s.buffer]), at or [py.tuple_of([])], store=True)
    x.out.append(py.assign(place, value))


def stop_of(x: Emitter, low: Expr, extent: Expr) -> ast.expr:
    """``low + extent``, as it was written."""
    if type(low) is IntImm:
        if low.value == 0:
            return x.root(extent)
        if type(extent) is IntImm:
            return py.number(low.value + extent.value)
    if type(extent) is Sub and _same(extent.b, low):
        return x.root(extent.a)
    return py.binary(ast.Add(), x.root(low), x.root(extent))


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is IntImm:
        return bool(a.value == b.value)
    below = a.children()
    return bool(below) and all(_same(p, q) for p, q in zip(below, b.children(), strict=True))


def range_of(x: Emitter, s: For) -> ast.expr:
    stop = stop_of(x, s.min, s.extent)
    step = None if s.step is None or (type(s.step) is IntImm and s.step.value == 1) else s.step
    if step is None and type(s.min) is IntImm and s.min.value == 0:
        return py.call("range", stop)
    if step is None:
        return py.call("range", x.root(s.min), stop)
    low = x.kinds.interval(step)[0]
    if low is not None and low > 0:
        return py.call("range", x.root(s.min), stop, x.root(step))
    return x.helper("steps", x.root(s.min), stop, x.root(step))


def bound_loop(x: Emitter, s: For) -> None:
    """Remember what values the loop variable has."""
    low, _ = x.kinds.interval(s.min)
    high = x.kinds.interval(s.min)[1]
    extent = x.kinds.interval(s.extent)[1]
    step = s.step
    if step is not None and not (type(step) is IntImm and step.value > 0):
        x.kinds.bounds[s.loop_var] = UNKNOWN
        return
    top = None if high is None or extent is None else max(high + extent - 1, high)
    x.kinds.bounds[s.loop_var] = (low, top)


def _for(x: Emitter, s: For) -> None:
    plans = x.plan.at_loop.get(s, ())
    for plan in plans:
        if plan.form == "hoisted":
            _hoisted(x, plan)
        else:
            name = x.names.new(f"{plan.realize.block.name}_seen")
            x.seen[plan] = name
            x.out.append(py.assign(name, py.call("set")))
    nest = _perfect(x, s)
    iterables: list[ast.expr] = []
    names: list[str] = []
    for loop in nest:
        iterables.append(range_of(x, loop))
        names.append(x.define(loop.loop_var))
        x.loops[loop.loop_var] = loop
        bound_loop(x, loop)
        if loop.thread:
            x.threads.setdefault(loop.thread, names[-1])
    x.depth += 1
    inner = x.body(nest[-1].body)
    x.depth -= 1
    for loop, name in zip(nest, names, strict=True):
        if loop.thread and x.threads.get(loop.thread) == name:
            del x.threads[loop.thread]
    if len(nest) == 1:
        made = py.loop(py.target(names[0]), iterables[0], inner)
    else:
        left = ast.Tuple([py.target(n) for n in names], ast.Store())
        made = py.loop(left, py.call("product", *iterables), inner)
    nested(x, made)
    x.names.free(names)
    for plan in plans:
        if plan in x.seen:
            x.names.free([x.seen.pop(plan)])


def _perfect(x: Emitter, s: For) -> list[For]:
    """The loops to be written as one: more perfectly nested ones than Python can nest."""
    nest, variables = [s], {s.loop_var}
    while type(nest[-1].body) is For:
        inner: For = nest[-1].body
        if x.plan.at_loop.get(inner) or not variables.isdisjoint(
            free_vars(inner.min) | free_vars(inner.extent)
        ):
            break
        nest.append(inner)
        variables.add(inner.loop_var)
    return [s] if len(nest) < LOOPS or jumps(nest[-1]) else nest


def nested(x: Emitter, made: ast.stmt) -> None:
    """Add a loop, as a function of its own where loops nest too deep."""
    if x.depth % LOOPS == LOOPS - 1:
        if any(isinstance(n, ast.Return) for n in ast.walk(made)):
            raise not_yet("a return inside that many loops")
        made = x.outliner.outline(made)
    x.out.append(made)


def _while(x: Emitter, s: While) -> None:
    x.depth += 1
    with x.block() as inner:
        test = x.root(s.condition)
        simple = not inner
        if not simple:
            # Parts of the condition are assigned in every round.
            inner.append(py.condition(ast.UnaryOp(ast.Not(), test), [ast.Break()]))
        x.statement(s.body)
    x.depth -= 1
    nested(x, ast.While(test if simple else ast.Constant(True), inner or [ast.Pass()], []))


def _if(x: Emitter, s: IfThenElse) -> None:
    test = x.root(s.condition)
    then = x.body(s.then_case)
    made = py.condition(test, then, [] if s.else_case is None else x.body(s.else_case))
    if x.level % LEVELS == LEVELS - 1 and not loose_jumps(made):
        made = x.outliner.outline(made)
    x.out.append(made)


def _let(x: Emitter, s: LetStmt) -> None:
    exact = x.kinds.exact(s.value) and s.var.dtype != "handle"
    value = x.root(s.value, x.value if exact or s.var.dtype in ("handle", "bool") else x.typed)
    name = x.define(s.var)
    x.kinds.bounds[s.var] = x.kinds.interval(s.value) if exact else UNKNOWN
    x.out.append(py.assign(name, value))
    x.statement(s.body)
    x.names.free([name])


def _attr(x: Emitter, s: AttrStmt) -> None:
    axis = s.node
    if not isinstance(axis, IterVar) or s.key not in ("thread_extent", "virtual_thread"):
        x.statement(s.body)
        return
    known = x.threads.get(axis.thread_tag)
    if known is not None:
        x.variables[axis.var] = known
        x.statement(s.body)
        return
    extent = x.root(s.value)
    name = x.define(axis.var)
    high = x.kinds.interval(s.value)[1]
    x.kinds.bounds[axis.var] = (0, None if high is None else high - 1)
    x.threads[axis.thread_tag] = name
    x.depth += 1
    inner = x.body(s.body)
    x.depth -= 1
    del x.threads[axis.thread_tag]
    x.out.append(py.loop(py.target(name), py.call("range", extent), inner))
    x.names.free([name])


def _assert(x: Emitter, s: AssertStmt) -> None:
    message = s.message.value if isinstance(s.message, StringImm) else str(s.message)
    where = {} if s.span is None else {"where": py.string(str(s.span))}
    test = x.root(s.condition)
    x.out.append(ast.Expr(x.helper("check", test, py.string(message), **where)))


def _evaluate(x: Emitter, s: Evaluate) -> None:
    e: Any = s.value
    if type(e) is not Call:
        return  # a value without an effect
    if e.op == "break_loop":
        x.out.append(ast.Break())
    elif e.op == "continue_loop":
        x.out.append(ast.Continue())
    elif e.op == "thread_return":
        raise not_yet("`T.thread_return`", e)
    elif e.op == "ret":
        value = x.helper("scalar", x.root(e.args[0], x.typed)) if e.args else None
        x.out.append(ast.Return(value))
    elif e.op not in ("assume", "start_profile_intrinsic", "end_profile_intrinsic"):
        x.out.append(ast.Expr(x.root(e)))


def _allocate(x: Emitter, s: Allocate) -> None:
    name = x.define(s.buffer_var)
    x.out.append(py.assign(name, x.memory(s.extents, s.dtype)))
    x.statement(s.body)
    x.names.free([name])


def _allocate_const(x: Emitter, s: AllocateConst) -> None:
    name = x.define(s.buffer_var)
    items = ast.parse(repr(s.data.tolist()), mode="eval").body
    x.out.append(py.assign(name, x.helper("constant", items, py.string(s.dtype))))
    x.statement(s.body)
    x.names.free([name])


def _decl(x: Emitter, s: DeclBuffer) -> None:
    b = s.buffer
    pointer = x.variables.get(b.data)
    if pointer is None:
        raise not_yet(f"buffer `{b.name}` on a pointer that is not known here", s)
    name = x.names.new(b.name)
    shape = py.tuple_of([x.root(n) for n in b.shape])
    keywords: dict[str, ast.expr] = {}
    if b.strides:
        keywords["strides"] = py.tuple_of([x.root(e) for e in b.strides])
    if b.elem_offset is not None and not (type(b.elem_offset) is IntImm and b.elem_offset.value == 0):
        keywords["offset"] = x.root(b.elem_offset)
    x.buffers[b] = name
    x.out.append(py.assign(name, x.helper("view", py.name(pointer), shape, py.string(b.dtype), **keywords)))
    x.statement(s.body)
    x.names.free([name])


def _realize_buffer(x: Emitter, s: BufferRealize) -> None:
    name = x.allocate(s.buffer)
    x.statement(s.body)
    x.names.free([name])


# ---- blocks


def _domain_tests(x: Emitter, axis: IterVar, name: str) -> list[ast.expr]:
    """What keeps an axis within its domain, where that is not certain."""
    if axis.dom is None:
        return []
    low, high = x.kinds.interval(axis.dom.min)
    extent = x.kinds.interval(axis.dom.extent)[0]
    value = x.kinds.bounds[axis.var]
    above = value[0] is not None and high is not None and value[0] >= high
    below = value[1] is not None and low is not None and extent is not None and value[1] < low + extent
    tests: list[ast.expr] = []
    if not above:
        tests.append(py.compare(ast.GtE(), py.name(name), x.root(axis.dom.min)))
    if not below:
        tests.append(py.compare(ast.Lt(), py.name(name), stop_of(x, axis.dom.min, axis.dom.extent)))
    # What runs lies within the domain.
    top = x.kinds.interval(Add(axis.dom.min, axis.dom.extent))[1]
    x.kinds.bounds[axis.var] = (value[0] if above else low, value[1] if below or top is None else top - 1)
    return tests


def axes(
    x: Emitter, r: BlockRealize, kinds: Callable[[str], bool], names: list[str]
) -> dict[str, list[ast.expr]]:
    """Assign the axes; the tests that keep the spatial ones and the reduction ones in their domains."""
    targets: list[str] = []
    values: list[ast.expr] = []
    chosen = [(a, v) for a, v in zip(r.block.iter_vars, r.iter_values, strict=True) if kinds(a.kind)]
    for axis, value in chosen:
        made = x.root(value, x.integer)
        x.kinds.bounds[axis.var] = x.kinds.interval(value) if x.kinds.exact(value) else UNKNOWN
        if type(value) is Var and _covers(x, value, axis):
            x.kinds.bounds[axis.var] = x.kinds.interval(value)
        values.append(made)
        targets.append(x.names.new(axis.var.name))
    for (axis, _), name in zip(chosen, targets, strict=True):
        x.variables[axis.var] = name
    names += targets
    if len(targets) > 1 and all(isinstance(v, ast.Name) for v in values):
        left = ast.Tuple([py.target(t) for t in targets], ast.Store())
        x.out.append(ast.Assign([left], py.tuple_of(values)))
    else:
        x.out += [py.assign(t, v) for t, v in zip(targets, values, strict=True)]
    tests: dict[str, list[ast.expr]] = {"both": [], "update": []}
    for (axis, value), name in zip(chosen, targets, strict=True):
        if type(value) is Var and _covers(x, value, axis):
            continue
        tests["update" if axis.kind == "reduce" else "both"] += _domain_tests(x, axis, name)
    return tests


def _covers(x: Emitter, value: Var, axis: IterVar) -> bool:
    """Whether the loop is known to run over the axis's own domain, whatever its extent is."""
    loop = x.loops.get(value)
    return (
        loop is not None
        and axis.dom is not None
        and loop.step is None
        and _same(loop.min, axis.dom.min)
        and _same(loop.extent, axis.dom.extent)
    )


def _block(x: Emitter, r: BlockRealize) -> None:
    block = r.block
    guards = x.plan.guards[block]
    plan = x.plan.plans.get(block)
    names: list[str] = []
    tests = axes(x, r, lambda kind: True, names)
    both = tests["both"] + [x.root(p) for p in guards.both]
    update = tests["update"] + [x.root(p) for p in guards.update]
    if plan is None or plan.form == "hoisted":
        both, update = both + update, []
    with x.block() as inner:
        names += [x.allocate(b) for b in block.alloc_buffers]
        with views(x, block.match_buffers if not update else (), names):
            if plan is not None:
                _init(x, plan, views_of(block.init, block.match_buffers) if update else (), names)
            if update:
                with x.block() as body, views(x, block.match_buffers, names):
                    x.statement(block.body)
                x.out.append(py.condition(py.conjunction(update), body))
            else:
                x.statement(block.body)
    x.out += [py.condition(py.conjunction(both), inner)] if both else inner
    x.names.free(names)


@contextmanager
def views(
    x: Any,
    matches: Iterable[MatchBufferRegion],
    names: list[str],
    match: Callable[[Any, MatchBufferRegion], list[str]] | None = None,
) -> Iterator[None]:
    """Views of regions, for the statements within: where the block does not run, there may be no region."""
    variables, buffers = dict(x.variables), dict(x.buffers)
    for m in matches:
        names += (match or _match)(x, m)
    yield
    x.variables, x.buffers = variables, buffers


def _init(x: Emitter, plan: InitPlan, matches: Iterable[MatchBufferRegion], names: list[str]) -> None:
    """The init of a block where its update stands."""
    assert plan.realize.block.init is not None
    if plan.form == "hoisted":
        return
    with x.block() as inner:
        if plan.form == "seen":
            name = x.seen[plan]
            key = py.tuple_of([py.name(x.variables[k]) for k in plan.keys])
            inner.append(ast.Expr(py.call(f"{name}.add", key)))
        with views(x, matches, names):
            x.statement(plan.realize.block.init)
    if plan.form == "always":
        x.out += inner
        return
    if plan.form == "seen":
        test: ast.expr = py.compare(ast.NotIn(), key, py.name(name))
    else:
        test = py.conjunction([at_start(x, plan, loop) for loop in plan.reduction])
    x.out.append(py.condition(test, inner))


def at_start(x: Emitter, plan: InitPlan, loop: For) -> ast.expr:
    """Whether a reduction loop is in its first iteration, said of the axis where they are the same."""
    variable: Var = loop.loop_var
    for axis, value in zip(plan.realize.block.iter_vars, plan.realize.iter_values, strict=True):
        if value is loop.loop_var:
            variable = axis.var
    return py.compare(ast.Eq(), py.name(x.variables[variable]), x.root(loop.min))


def _hoisted(x: Emitter, plan: InitPlan) -> None:
    """The init of a block as a nest of its spatial loops, before its reduction loops."""
    realize = plan.hoist or plan.realize
    block = realize.block
    assert block.init is not None
    names: list[str] = []
    opened: list[tuple[ast.expr, ast.expr]] = []
    outer = x.out
    x.out = []
    for loop in plan.nest:
        iterable = range_of(x, loop)
        name = x.define(loop.loop_var)
        bound_loop(x, loop)
        names.append(name)
        opened.append((py.target(name), iterable))
    x.depth += len(opened)
    tests = axes(x, realize, lambda kind: kind != "reduce", names)
    both = tests["both"] + [x.root(p) for p in plan.conjuncts]
    with x.block() as inner, views(x, views_of(block.init, block.match_buffers), names):
        x.statement(block.init)
    made = [*x.out, *([py.condition(py.conjunction(both), inner)] if both else inner)]
    x.depth -= len(opened)
    x.out = outer
    for variable, iterable in reversed(opened):
        made = [py.loop(variable, iterable, made)]
    x.out += made
    x.names.free(names)


def views_of(s: Stmt | None, matches: tuple[MatchBufferRegion, ...]) -> list[MatchBufferRegion]:
    """The views that a statement uses: the regions of others may depend on reduction axes."""
    used: set[Any] = set()
    for n in () if s is None else walk(s):
        if type(n) is Var:
            used.add(n)
        elif isinstance(b := getattr(n, "buffer", None), Buffer):
            used |= {b, b.data}
    return [m for m in matches if m.buffer in used or m.buffer.data in used]


def _match(x: Emitter, m: MatchBufferRegion) -> list[str]:
    """A view of a region, and the symbols that its strides and offset define."""
    source = m.source
    slices: list[ast.expr] = []
    for r in source.region:
        low = x.root(r.min)
        if type(r.extent) is IntImm and r.extent.value == 1 and len(m.buffer.shape) < len(source.region):
            slices.append(low)
        else:
            slices.append(ast.Slice(low, stop_of(x, r.min, r.extent), None))
    if not all(isinstance(s, ast.Slice) for s in slices) and sum(
        isinstance(s, ast.Slice) for s in slices
    ) != len(m.buffer.shape):
        slices = [
            s if isinstance(s, ast.Slice) else ast.Slice(s, py.binary(ast.Add(), s, py.number(1)), None)
            for s in slices
        ]
    part = py.subscript(py.name(x.buffers[source.buffer]), slices or [py.tuple_of([])])
    if sum(isinstance(s, ast.Slice) for s in slices) != len(m.buffer.shape) or not _same_shape(m):
        part = x.helper("region", part, py.tuple_of([x.root(n) for n in m.buffer.shape]))
    name = x.names.new(m.buffer.name)
    x.buffers[m.buffer] = x.variables[m.buffer.data] = name
    pointer = x.variables.get(source.buffer.data)
    if m.buffer.elem_offset is not None and pointer is not None:
        x.variables[m.buffer.data] = pointer  # the offset counts from where the memory starts
    x.out.append(py.assign(name, part))
    made = [name]
    for axis, stride in enumerate(m.buffer.strides):
        if type(stride) is Var and stride not in x.variables:
            made.append(x.define(stride))
            value = x.helper("element_strides", py.name(name), py.number(axis))
            x.out.append(py.assign(made[-1], value))
    offset = m.buffer.elem_offset
    if type(offset) is Var and offset not in x.variables:
        made.append(x.define(offset))
        base = py.name(pointer or x.buffers[source.buffer])
        x.out.append(py.assign(made[-1], x.helper("offset_of", py.name(name), base)))
    return made


def _same_shape(m: MatchBufferRegion) -> bool:
    extents = [r.extent for r in m.source.region]
    kept = extents if len(extents) == len(m.buffer.shape) else [
        e for e in extents if not (type(e) is IntImm and e.value == 1)
    ]  # fmt: skip
    return len(kept) == len(m.buffer.shape) and all(
        _same(a, b) for a, b in zip(kept, m.buffer.shape, strict=True)
    )


_TABLE: dict[type, Callable[[Emitter, Any], None]] = {
    SeqStmt: _seq, BufferStore: _store, For: _for, While: _while, IfThenElse: _if, LetStmt: _let,
    AttrStmt: _attr, AssertStmt: _assert, Evaluate: _evaluate, Allocate: _allocate,
    AllocateConst: _allocate_const, DeclBuffer: _decl, BufferRealize: _realize_buffer, BlockRealize: _block,
}  # fmt: skip
__all__ = ["Block", "Emitter"]
