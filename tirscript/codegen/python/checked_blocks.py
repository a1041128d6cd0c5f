"""Blocks of checked programs: their instances, inits, domains and views."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tirscript.ir.buffer import MatchBufferRegion
from tirscript.ir.expr import IntImm, Var
from tirscript.ir.stmt import BlockRealize, For

from . import build as py
from .blocks import InitPlan
from .emit import at_start, axes, bound_loop, stop_of, views, views_of

if TYPE_CHECKING:
    from .checked import CheckedEmitter


def items_of(x: CheckedEmitter, s: For) -> ast.expr:
    stop = stop_of(x, s.min, s.extent)
    step = None if s.step is None or (type(s.step) is IntImm and s.step.value == 1) else s.step
    if step is None and type(s.min) is IntImm and s.min.value == 0:
        return py.call("range", stop)
    if step is None:
        return py.call("range", x.root(s.min), stop)
    return x.watch("steps", x.site(s), x.root(s.min), stop, x.root(step))


def watched_loop(x: CheckedEmitter, s: For) -> ast.expr:
    arguments = [py.string(s.kind), py.string(s.loop_var.name), items_of(x, s)]
    if s.thread:
        arguments.append(py.string(s.thread))
    return x.watch("loop", x.site(s), *arguments)


def block_statement(x: CheckedEmitter, r: BlockRealize) -> None:
    block = r.block
    guards = x.plan.guards[block]
    plan = x.plan.plans.get(block)
    names: list[str] = []
    tests = axes(x, r, lambda kind: True, names)
    guard_both = [x.root(p) for p in guards.both]
    guard_update = [x.root(p) for p in guards.update]
    watched = _domain(x, r)
    both, update = tests["both"] + guard_both, tests["update"] + guard_update
    if watched is not None:
        # Where the block runs, its axes are within their domains.
        whole = [x.root(p) for p in (*guards.both, *guards.update)]
        said: list[ast.stmt] = [ast.Expr(watched)]
        x.out += [py.condition(py.conjunction(whole), said)] if whole else said
    if plan is None or plan.form == "hoisted":
        both, update = both + update, []
    path, x.path = x.path, []
    with x.block() as inner:
        x.path = path
        x.enter(r)
        x.path = []
        names += [x.allocate(b) for b in block.alloc_buffers]
        with views(x, block.match_buffers if not update else (), names, _match):
            if not update and block.iter_vars:
                x.expected(block.body)
            if plan is not None:
                _init(x, plan, views_of(block.init, block.match_buffers) if update else (), names)
            if update:
                with x.block() as body, views(x, block.match_buffers, names, _match):
                    if block.iter_vars:
                        x.expected(block.body)
                    x.statement(block.body)
                x.out.append(py.condition(py.conjunction(update), body))
            else:
                x.statement(block.body)
        x.do(x.watch("leave"))
    x.path = path
    x.out += [py.condition(py.conjunction(both), inner)] if both else inner
    x.names.free(names)


def _domain(x: CheckedEmitter, r: BlockRealize) -> ast.expr | None:
    parts: list[ast.expr] = []
    for axis in r.block.iter_vars:
        if axis.dom is not None:
            name = py.name(x.variables[axis.var])
            parts.append(py.tuple_of([py.string(axis.var.name), name, x.root(axis.dom.min),
                                      x.root(axis.dom.extent)]))  # fmt: skip
    if not parts:
        return None
    with x.at(r.block):
        return x.watch("domain", x.site(), py.string(r.block.name), *parts)


def _init(x: CheckedEmitter, plan: InitPlan, matches: Iterable[MatchBufferRegion], names: list[str]) -> None:
    assert plan.realize.block.init is not None
    if plan.form == "hoisted":
        return
    with x.block() as inner:
        if plan.form == "seen":
            name = x.seen[plan]
            key = py.tuple_of([py.name(x.variables[k]) for k in plan.keys])
            inner.append(ast.Expr(py.call(f"{name}.add", key)))
        x.do(x.watch("initialise", py.number(True)))
        with views(x, matches, names, _match):
            x.statement(plan.realize.block.init)
        x.do(x.watch("initialise", py.number(False)))
    if plan.form == "always":
        x.out += inner
        return
    if plan.form == "seen":
        test: ast.expr = py.compare(ast.NotIn(), key, py.name(name))
    else:
        test = py.conjunction([at_start(x, plan, loop) for loop in plan.reduction])
    x.out.append(py.condition(test, inner))


def hoisted(x: CheckedEmitter, plan: InitPlan) -> None:
    realize = plan.hoist or plan.realize
    block = realize.block
    assert block.init is not None
    names: list[str] = []
    opened: list[tuple[ast.expr, ast.expr]] = []
    outer, path = x.out, x.path
    x.out = []
    x.path = list(path)
    for loop in plan.nest:
        with x.at(loop):
            items = watched_loop(x, loop)
        name = x.define(loop.loop_var)
        bound_loop(x, loop)
        names.append(name)
        opened.append((py.target(name), items))
        x.path.append(loop)
    x.depth += len(opened)
    tests = axes(x, realize, lambda kind: kind != "reduce", names)
    both = tests["both"] + [x.root(p) for p in plan.conjuncts]
    with x.block() as inner:
        x.enter(realize, only_init=True)
        x.path = []
        with views(x, views_of(block.init, block.match_buffers), names, _match):
            x.statement(block.init)
        x.do(x.watch("leave"))
    x.path = path
    made = [*x.out, *([py.condition(py.conjunction(both), inner)] if both else inner)]
    x.depth -= len(opened)
    x.out = outer
    for variable, items in reversed(opened):
        made = [py.loop(variable, items, made)]
    x.out += made
    x.names.free(names)


def _match(x: CheckedEmitter, m: MatchBufferRegion) -> list[str]:
    source, b = m.source, m.buffer
    box = [py.tuple_of([x.root(r.min, x.integer), x.root(r.extent, x.integer)]) for r in source.region]
    name = x.names.new(b.name)
    offsets = () if b.elem_offset is None else (b.elem_offset,)
    symbols = {e for e in (*b.strides, *offsets) if type(e) is Var and e not in x.variables}
    keywords: dict[str, ast.expr] = {}
    if not all(_free(s, symbols) for s in b.strides):
        keywords["strides"] = py.tuple_of(
            [ast.Constant(None) if _free(s, symbols) else x.root(s) for s in b.strides]
        )
    if b.elem_offset is not None and not _free(b.elem_offset, symbols):
        keywords["offset"] = x.root(b.elem_offset)
    if b.offset_factor > 1:
        keywords["factor"] = py.number(b.offset_factor)
    shape = py.tuple_of([x.root(n) for n in b.shape])
    with x.at(m.source if m.source.span is not None else x.nodes[-1]):
        made = x.watch("match", x.site(), py.string(b.name), py.name(x.buffers[source.buffer]),
                       py.tuple_of(box), shape, **keywords)  # fmt: skip
    x.buffers[b] = x.variables[b.data] = name
    pointer = x.variables.get(source.buffer.data)
    if b.elem_offset is not None and pointer is not None:
        x.variables[b.data] = pointer  # the offset counts from where the memory starts
    x.out.append(py.assign(name, made))
    names = [name]
    for axis, stride in enumerate(b.strides):
        if type(stride) is Var and stride not in x.variables:
            names.append(x.define(stride))
            value = x.helper("element_strides", py.name(name), py.number(axis))
            x.out.append(py.assign(names[-1], value))
    offset = b.elem_offset
    if type(offset) is Var and offset not in x.variables:
        names.append(x.define(offset))
        base = py.name(pointer or x.buffers[source.buffer])
        x.out.append(py.assign(names[-1], x.helper("offset_of", py.name(name), base)))
    return names


def _free(e: Any, symbols: set[Var]) -> bool:
    """Whether a stride or offset is a symbol that the region gives its value."""
    return type(e) is Var and e in symbols


__all__ = ["block_statement", "hoisted", "watched_loop"]
