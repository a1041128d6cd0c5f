"""Functions and modules: the frame around statements."""

from __future__ import annotations

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import IntImm, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import Block, BlockRealize

from .core import Printer
from .names import function_name
from .stmt import declare_vars, print_block, var_type_text
from .value import buffer_text, dict_text, value_text


def print_function(p: Printer, f: PrimFunc, name: str) -> None:
    """The function as ``def name``."""
    start = len(p.out)
    lines = None if p.lines is None else list(p.lines)
    metadata = dict(p.metadata)
    forced: frozenset[Var] = frozenset()
    while True:
        p.reset()
        _function(p, f, name, forced)
        if not p.wanted - forced:
            return
        # A handle is used whose buffer was printed as the parameter: print it as a handle.
        forced = forced | p.wanted
        del p.out[start:]
        p.metadata = dict(metadata)
        if lines is not None:
            p.lines = list(lines)


def _function(p: Printer, f: PrimFunc, name: str, forced: frozenset[Var]) -> None:
    attrs = f.attrs
    symbol = attrs.get("global_symbol")
    p.line(p.words["prim_func"] if symbol is not None else p.words["private"])
    matched: list[tuple[Var, Buffer]] = []
    params: list[str] = []
    earlier: set[Var] = set()
    p.hidden = {v for v in f.params if v in f.buffer_map and v not in forced}
    for v in f.params:
        buffer = f.buffer_map.get(v)
        if buffer is not None and v not in forced and _is_self_contained(buffer, earlier):
            text = buffer_text(p, buffer, True)
            params.append(p.mark(buffer, f"{p.define_buffer(buffer)}: T.Buffer({text})"))
            continue
        p.hidden.discard(v)
        params.append(f"{p.define(v, v.name)}: {var_type_text(v)}")
        earlier.add(v)
        if buffer is not None:
            matched.append((v, buffer))
    result = "" if f.ret_type in ("void", "") else f" -> T.{f.ret_type}"
    p.header(f, f"def {name}({', '.join(params)}){result}:")
    outer = p.indent
    p.indent = outer + "    "
    shown = {k: x for k, x in attrs.items() if k != "global_symbol" or x != name}
    prefix = p.words["attr_prefix"]
    if prefix != "tir.":
        shown = {prefix + k[4:] if k.startswith("tir.") else k: x for k, x in shown.items()}
    if shown:
        p.line(f"T.func_attr({dict_text(p, shown)})")
    for v, buffer in matched:
        declare_vars(p, buffer, earlier)
        text = buffer_text(p, buffer, True)
        p.header(buffer, f"{p.define_buffer(buffer)} = T.match_buffer({p.names[v]}, {text})")
    body = f.body
    if type(body) is BlockRealize and is_implicit_root(body):
        print_block(p, body.block, body, True)
    else:
        p.stmts[type(body)](p, body, True)
    p.indent = outer


def is_implicit_root(realize: BlockRealize) -> bool:
    """Whether the body of a function is a root block that carries nothing but allocations."""
    b: Block = realize.block
    return (
        b.label.name == "root"
        and not (b.iter_vars or b.reads or b.writes or b.annotations or b.match_buffers)
        and b.init is None
        and type(realize.predicate) is IntImm
        and realize.predicate.value == 1
    )


def _is_self_contained(b: Buffer, earlier: set[Var]) -> bool:
    """Whether the declaration of a parameter mentions no variable but parameters before it."""
    for e in (*b.shape, *b.strides, *(() if b.elem_offset is None else (b.elem_offset,))):
        if type(e) is not IntImm and any(type(v) is Var and v not in earlier for v in walk(e)):
            return False
    return True


def print_module(p: Printer, m: IRModule) -> None:
    """The module as ``class Module``."""
    p.line("@I.ir_module")
    p.line("class Module:")
    outer = p.indent
    p.indent = outer + "    "
    attrs = dict(m.attrs)
    infos = attrs.pop("global_infos", None)
    if attrs:
        p.line(f"I.module_attrs({dict_text(p, attrs)})")
    if infos is not None:
        p.line(f"I.module_global_infos({value_text(p, infos)})")
    items = m.items()
    taken: set[str] = set()
    for key, _ in items:
        name = function_name(key)
        while name in taken:
            name += "_1"
        taken.add(name)
        p.functions[key] = name
    for n, (key, f) in enumerate(items):
        if n:
            p.out.append("")
        print_function(p, f, p.functions[key])
    if not items and not m.attrs:
        p.line("pass")
    p.indent = outer
