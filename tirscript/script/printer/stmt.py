"""Statements."""

from __future__ import annotations

from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import Call, Expr, IntImm, IterVar, Range, Var
from tirscript.ir.node import walk
from tirscript.ir.ops import _same as same_expr
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
    While,
)

from .core import Printer, StmtPrinter
from .expr import arguments, end_text, indices_text, is_statement_call
from .names import quote
from .value import allocation_text, buffer_text, constant_data_text, dict_text, value_text


class StmtTable(dict[type, StmtPrinter]):
    """Printers by statement type; an expression in the place of a statement prints as a line."""

    def __missing__(self, kind: type) -> StmtPrinter:
        return lambda p, s, last: p.header(s, value_text(p, s))


def _seq(p: Printer, s: SeqStmt, last: bool) -> None:
    table = p.stmts
    items = s.seq
    for child in items[:-1]:
        table[type(child)](p, child, False)
    child = items[-1]
    table[type(child)](p, child, last)


def _store(p: Printer, s: BufferStore, last: bool) -> None:
    name = p.names.get(s.buffer) or p.free(s.buffer)
    table = p.exprs
    # The target is printed first: names of what is free are given in the order of the text.
    if s.predicate is None:
        target = f"{name}[{indices_text(p, s.indices)}]"
        p.header(s, f"{target} = {table[type(s.value)](p, s.value, 0)}")
        return
    indices = arguments(p, s.indices)
    value, predicate = p.expr(s.value), p.expr(s.predicate)
    p.header(s, f"{name}.vstore([{indices}], {value}, predicate={predicate})")


# ---- loops


def _for(p: Printer, s: For, last: bool) -> None:
    p.enter()
    if s.kind == "serial" and not s.annotations and s.step is None:
        low = s.min
        if p.sugar and type(low) is IntImm and low.value == 0:
            inner = s.body
            if type(inner) is For and _joins_grid(inner, [s.loop_var]):
                _grid(p, s)
                return
        text = f"range({_bounds(p, s)})"
    else:
        text = _loop_call(p, s)
    mark = len(p.scope)
    name = p.define(s.loop_var, s.loop_var.name)
    p.loops[s.loop_var] = s
    p.header(s, f"for {name} in {text}:")
    p.body(s.body)
    p.leave(mark)
    p.depth -= 1


def _joins_grid(s: For, variables: list[Var]) -> bool:
    if s.kind != "serial" or s.annotations or s.step is not None:
        return False
    low, extent = s.min, s.extent
    if type(low) is not IntImm or low.value != 0:
        return False
    return type(extent) is IntImm or not any(n is v for n in walk(extent) for v in variables)


def _grid(p: Printer, s: For) -> None:
    loops = [s]
    variables = [s.loop_var]
    inner = s.body
    while type(inner) is For and _joins_grid(inner, variables):
        loops.append(inner)
        variables.append(inner.loop_var)
        inner = inner.body
    extents = arguments(p, [x.extent for x in loops])
    mark = len(p.scope)
    names = ", ".join([p.define(v, v.name) for v in variables])
    for x in loops:
        p.loops[x.loop_var] = x
    p.header(s, f"for {names} in T.grid({extents}):")
    if p.lines is not None:
        for x in loops[1:]:
            p.same_line(x)
    p.body(inner)
    p.leave(mark)
    p.depth -= 1


def _bounds(p: Printer, s: For) -> str:
    low, extent = s.min, s.extent
    if type(low) is IntImm and low.value == 0 and s.step is None:
        return p.exprs[type(extent)](p, extent, 0)
    text = f"{p.expr(low)}, {end_text(p, low, extent)}"
    return text if s.step is None else f"{text}, {p.expr(s.step)}"


_LOOPS = {
    "serial": "T.serial",
    "parallel": "T.parallel",
    "vectorized": "T.vectorized",
    "unrolled": "T.unroll",
    "thread_binding": "T.thread_binding",
}


def _loop_call(p: Printer, s: For) -> str:
    if s.kind == "serial" and not s.annotations:
        return f"range({_bounds(p, s)})"
    low, extent = s.min, s.extent
    if type(low) is IntImm and low.value == 0 and (s.step is None or s.kind != "serial"):
        text = p.expr(extent)
    else:
        text = f"{p.expr(low)}, {end_text(p, low, extent)}"
    if s.kind == "thread_binding":
        text += f", thread={quote(s.thread)}"
    if s.annotations:
        text += f", annotations={dict_text(p, s.annotations)}"
    if s.step is not None:
        text += f", step={p.expr(s.step)}"
    return f"{_LOOPS.get(s.kind, 'T.' + s.kind)}({text})"


def _while(p: Printer, s: While, last: bool) -> None:
    p.enter()
    p.header(s, f"while {p.expr(s.condition)}:")
    p.body(s.body)
    p.depth -= 1


def _if(p: Printer, s: IfThenElse, last: bool) -> None:
    p.check_indent()
    word = "if"
    while True:
        p.header(s, f"{word} {p.expr(s.condition)}:")
        p.body(s.then_case)
        other = s.else_case
        if type(other) is not IfThenElse:
            break
        word, s = "elif", other
    if other is not None:
        p.line("else:")
        p.body(other)


# ---- statements with a scope: concise where nothing follows it


def _scope(
    p: Printer, s: Any, last: bool, concise: str, opening: str, token: Any = None, hint: str = ""
) -> None:
    """``name = concise`` (or ``concise`` alone without a token) and the body on the same level, or
    ``with opening as name:`` and the body inside."""
    if last:
        name = p.define(token, hint) if token is not None else ""
        p.header(s, concise.replace("\0", name))
        p.stmts[type(s.body)](p, s.body, True)
        return
    p.enter()
    mark = len(p.scope)
    name = p.define(token, hint) if token is not None else ""
    p.header(s, f"with {opening}{' as ' + name if name else ''}:")
    p.body(s.body)
    p.leave(mark)
    p.depth -= 1


def var_type_text(v: Var) -> str:
    """The annotation for a variable: ``T.int32``, ``T.handle("float32", "shared")``."""
    if v.dtype == "handle" and v.pointee is not None:
        dtype, scope = v.pointee
        return (
            f"T.handle({quote(dtype)})" if scope == "global" else f"T.handle({quote(dtype)}, {quote(scope)})"
        )
    return f"T.{v.dtype}"


def _let(p: Printer, s: LetStmt, last: bool) -> None:
    value = p.expr(s.value)
    pointer = f", {var_type_text(s.var)}" if s.var.dtype == "handle" and s.var.pointee is not None else ""
    concise = f"\0: {var_type_text(s.var)} = {value}"
    _scope(p, s, last, concise, f"T.LetStmt({value}{pointer})", s.var, s.var.name)


def _attr(p: Printer, s: AttrStmt, last: bool) -> None:
    node = s.node
    if s.key == "thread_extent" and type(node) is IterVar:
        text = f"T.launch_thread({quote(node.thread_tag)}, {p.expr(s.value)})"
        if node.var in p.names:
            # The variable of an outer launch, launched again.
            _scope(p, s, last, text, text)
        else:
            _scope(p, s, last, f"\0 = {text}", text, node.var, node.var.name)
        return
    shown = p.expr(node) if type(node) is IntImm else value_text(p, node)
    text = f"T.attr({shown}, {quote(s.key)}, {p.expr(s.value)})"
    _scope(p, s, last, text, text)


def _allocate(p: Printer, s: Allocate, last: bool) -> None:
    scope = s.buffer_var.pointee[1] if s.buffer_var.pointee is not None else "global"
    text = f"T.allocate([{arguments(p, s.extents)}], {quote(s.dtype)}, {quote(scope)}"
    if not (type(s.condition) is IntImm and s.condition.value):
        text += f", condition={p.expr(s.condition)}"
    if s.annotations:
        text += f", annotations={dict_text(p, s.annotations)}"
    text += ")"
    _scope(p, s, last, f"\0 = {text}", text, s.buffer_var, s.buffer_var.name)


def _allocate_const(p: Printer, s: AllocateConst, last: bool) -> None:
    data = constant_data_text(p, s.data)
    text = f"T.allocate_const({data}, {quote(s.dtype)}, [{arguments(p, s.extents)}]"
    if s.annotations:
        text += f", annotations={dict_text(p, s.annotations)}"
    text += ")"
    _scope(p, s, last, f"\0 = {text}", text, s.buffer_var, s.buffer_var.name)


def _decl_buffer(p: Printer, s: DeclBuffer, last: bool) -> None:
    b = s.buffer
    data = p.names.get(b.data) or p.free(b.data)
    text = f"T.decl_buffer({buffer_text(p, b, False, data)})"
    _scope(p, s, last, f"\0 = {text}", text, b, b.name)


def _realize(p: Printer, s: BufferRealize, last: bool) -> None:
    b = s.buffer
    if b not in p.names:
        opening = f"T.buffer_decl({buffer_text(p, b, False)})"
        name = p.define_buffer(b)
        p.line(f"{name} = {opening}")
    region = ", ".join([_interval(p, r) for r in s.bounds]) or "()"
    text = f"T.realize({p.names[b]}[{region}], {quote(b.scope)}"
    if not (type(s.condition) is IntImm and s.condition.value):
        text += f", {p.expr(s.condition)}"
    text += ")"
    _scope(p, s, last, text, text)


def _interval(p: Printer, r: Any) -> str:
    return f"{p.expr(r.min)}:{end_text(p, r.min, r.extent)}" if type(r) is Range else value_text(p, r)


# ---- simple statements


def _assert(p: Printer, s: AssertStmt, last: bool) -> None:
    p.header(s, f"assert {p.expr(s.condition)}, {p.expr(s.message)}")


def _evaluate(p: Printer, s: Evaluate, last: bool) -> None:
    value = s.value
    if type(value) is Call:
        if value.op == "break_loop":
            p.header(s, "break")
            return
        if value.op == "continue_loop":
            p.header(s, "continue")
            return
    text = p.exprs[type(value)](p, value, 0)
    p.header(s, text if is_statement_call(value) else f"T.evaluate({text})")


# ---- blocks

_KINDS = {"spatial": "S", "reduce": "R"}


def _block_realize(p: Printer, s: BlockRealize, last: bool) -> None:
    print_block(p, s.block, s, False)


def _block(p: Printer, s: Block, last: bool) -> None:
    print_block(p, s, None, False)


def print_block(p: Printer, b: Block, realize: BlockRealize | None, implicit: bool) -> None:
    """A block with its header; the implicit root block is a comment and its content is not indented."""
    if implicit:
        p.line(f'# with {p.words["block"]}("root"):')
        if p.lines is not None:
            _mark_block(p, b, realize)
        for buffer in b.alloc_buffers:
            _alloc_buffer(p, buffer)
        p.stmts[type(b.body)](p, b.body, True)
        return
    p.enter()
    p.line(
        f"with {p.words['block']}({quote(b.label.name)}{'' if realize is not None else ', no_realize=True'}):"
    )
    if p.lines is not None:
        _mark_block(p, b, realize)
    outer = p.indent
    mark = len(p.scope)
    p.indent = outer + "    "
    if b.iter_vars:
        _axes(p, b.iter_vars, () if realize is None else realize.iter_values)
    # Attributes may mention the block's own buffers: their names must be known.
    allocations = [(x, p.define_buffer(x)) for x in b.alloc_buffers] if b.alloc_buffers else ()
    if realize is not None and not (type(realize.predicate) is IntImm and realize.predicate.value):
        p.line(f"T.where({p.expr(realize.predicate)})")
    p.line(f"T.reads({_regions(p, b.reads)})")
    p.line(f"T.writes({_regions(p, b.writes)})")
    if b.annotations:
        p.line(f"{p.words['block_attr']}({dict_text(p, b.annotations)})")
    for buffer, name in allocations:
        p.header(buffer, f"{name} = {p.words['alloc_buffer']}({allocation_text(p, buffer)})")
    for m in b.match_buffers:
        _match_buffer(p, m.buffer, m.source)
    if b.init is not None:
        p.enter()
        p.line("with T.init():")
        p.body(b.init)
        p.depth -= 1
    p.stmts[type(b.body)](p, b.body, True)
    p.indent = outer
    p.leave(mark)
    p.depth -= 1


def _mark_block(p: Printer, b: Block, realize: BlockRealize | None) -> None:
    for node in (realize, b, b.label):
        if node is not None:
            p.same_line(node)


def _regions(p: Printer, regions: tuple[BufferRegion, ...]) -> str:
    if not regions:
        return ""
    table = p.exprs
    return ", ".join([table[BufferRegion](p, r, 0) for r in regions])


def _alloc_buffer(p: Printer, b: Buffer) -> None:
    data = p.names.get(b.data)
    text = allocation_text(p, b, data)
    p.header(b, f"{p.define_buffer(b)} = {p.words['alloc_buffer']}({text})")


def _match_buffer(p: Printer, b: Buffer, source: BufferRegion) -> None:
    declare_vars(p, b, None)
    text = f"T.match_buffer({p.exprs[BufferRegion](p, source, 0)}, {buffer_text(p, b, True)})"
    p.header(b, f"{p.define_buffer(b)} = {text}")


def declare_vars(p: Printer, b: Buffer, known: Any) -> None:
    """A line ``n = T.int32()`` for each variable that this declaration of ``b`` defines."""
    for e in (*b.shape, *b.strides, *(() if b.elem_offset is None else (b.elem_offset,))):
        if type(e) is IntImm:
            continue
        for v in walk(e):
            if type(v) is Var and v not in p.names and v not in p.hidden:
                name = p.define(v, v.name)
                p.header(v, f"{name} = T.{v.dtype}()")


def _axes(p: Printer, axes: tuple[IterVar, ...], values: tuple[Expr, ...]) -> None:
    n = 0
    while n < len(axes):
        run = n
        if p.sugar:
            while run < len(axes) and run < len(values) and _is_plain(p, axes[run], values[run]):
                run += 1
        if run - n >= 2:
            kinds = "".join([_KINDS[iv.kind] for iv in axes[n:run]])
            loops = ", ".join([p.names[v] for v in values[n:run]])
            names = ", ".join([p.define(iv.var, iv.var.name) for iv in axes[n:run]])
            p.line(f'{names} = T.axis.remap("{kinds}", [{loops}])')
            if p.lines is not None:
                for iv in axes[n:run]:
                    p.same_line(iv)
            n = run
            continue
        for k in range(n, max(run, n + 1)):
            _axis(p, axes[k], values[k] if k < len(values) else None)
        n = max(run, n + 1)


def _is_plain(p: Printer, iv: IterVar, value: Expr) -> bool:
    """Whether the axis is a loop variable over the range of its loop."""
    if type(value) is not Var or iv.kind not in _KINDS or iv.dom is None:
        return False
    loop = p.loops.get(value)
    if loop is None or loop.step is not None or iv.var.dtype != value.dtype or value not in p.names:
        return False
    return _equal(loop.extent, iv.dom.extent) and _equal(loop.min, iv.dom.min)


def _equal(a: Expr, b: Expr) -> bool:
    if a is b:
        return True
    if type(a) is IntImm and type(b) is IntImm:
        return a.value == b.value
    return same_expr(a, b)


def _axis(p: Printer, iv: IterVar, value: Expr | None) -> None:
    dom = iv.dom
    if dom is None:
        domain = "None"
    elif type(dom.min) is IntImm and dom.min.value == 0:
        domain = p.exprs[type(dom.extent)](p, dom.extent, 0)
    else:
        domain = f"({p.expr(dom.min)}, {end_text(p, dom.min, dom.extent)})"
    text = domain if value is None else f"{domain}, {p.exprs[type(value)](p, value, 0)}"
    if dom is not None and value is not None and iv.var.dtype != _wider(dom.extent.dtype, value.dtype):
        text += f', dtype="{iv.var.dtype}"'
    p.header(iv, f"{p.define(iv.var, iv.var.name)} = T.axis.{iv.kind}({text})")


def _wider(a: str, b: str) -> str:
    return a if a == b or dt.info(a).bits >= dt.info(b).bits else b


STMTS = StmtTable({
    SeqStmt: _seq,
    BufferStore: _store,
    For: _for,
    While: _while,
    IfThenElse: _if,
    LetStmt: _let,
    AttrStmt: _attr,
    Allocate: _allocate,
    AllocateConst: _allocate_const,
    DeclBuffer: _decl_buffer,
    BufferRealize: _realize,
    AssertStmt: _assert,
    Evaluate: _evaluate,
    BlockRealize: _block_realize,
    Block: _block,
})  # fmt: skip
