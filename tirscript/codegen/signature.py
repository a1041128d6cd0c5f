"""The signature of a function, for the call paths: shapes as numbers, symbols and formulas."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import CodegenError
from tirscript.ir import dtype as dt
from tirscript.ir import expr as ir
from tirscript.ir.buffer import Buffer, MatchBufferRegion
from tirscript.ir.expr import BufferLoad, Call, Expr, IntImm, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
from tirscript.ir.stmt import BufferStore, DeclBuffer
from tirscript.ir.visitor import buffer_exprs
from tirscript.runtime.signature import (
    BufferParam,
    Extent,
    HandleParam,
    Param,
    ScalarParam,
    Signature,
    Symbol,
)

from .cost import is_long


def symbols_of(function: PrimFunc) -> tuple[Var, ...]:
    """The variables of shapes, strides and offsets that are no parameters, in order of appearance."""
    params = set(function.params)
    found: dict[Var, None] = {}
    for buffer in function.buffers:
        for e in buffer_exprs(buffer):
            for n in walk(e):
                if type(n) is Var and n not in params:
                    found[n] = None
    return tuple(found)


def signature_of(function: PrimFunc, name: str | None = None) -> Signature:
    """What a call of the function must pass.

    Raises CodegenError where a shape variable could not be found from the arguments.
    """
    name = name or function.name
    passed = symbols_of(function)
    used = {n for b in function.buffers for e in buffer_exprs(b) for n in walk(e) if type(n) is Var}
    scalars = [p for p in function.params if p in used]
    order: dict[Var, int] = {v: i for i, v in enumerate([*scalars, *passed])}
    written = written_pointers(function)
    params: list[Param] = []
    for p in function.params:
        buffer = function.buffer_map.get(p)
        if buffer is not None:
            params.append(_buffer(buffer, order, buffer.data in written))
        elif p.dtype == "handle":
            params.append(HandleParam(p.name))
        else:
            params.append(ScalarParam(p.name, p.dtype, order.get(p)))
    signature = Signature(
        name,
        tuple(params),
        tuple(Symbol(v.name, v.dtype) for v in order),
        tuple(order[v] for v in passed),
        None if function.ret_type == "void" else function.ret_type,
        bool(function.attrs.get("tir.noalias", True)),
        is_long(function),
    )
    _check_solvable(signature, set(range(len(scalars))))
    return signature


def _buffer(b: Buffer, order: dict[Var, int], written: bool) -> BufferParam:
    kind = dt.info(b.dtype)
    extents = tuple(_extent(e, order) for e in b.shape)
    strides = tuple(_extent(e, order) for e in b.strides) if b.strides else None
    if kind.lanes != 1:
        # Elements that are vectors: one more dimension in memory.
        extents = (*extents, Extent(str(kind.lanes), kind.lanes))
        strides = None
    offset = None if b.elem_offset is None else _extent(b.elem_offset, order)
    return BufferParam(b.name, kind.base, extents, strides, offset, b.align, written)


def _check_solvable(signature: Signature, known: set[int]) -> None:
    """Every symbol must be bound by a plain occurrence, or solved from a linear expression."""
    extents: list[Extent] = []
    for p in signature.params:
        if isinstance(p, BufferParam):
            extents += [*p.shape, *(p.strides or ()), *([p.offset] if p.offset is not None else [])]
    known = known | {e.symbol for e in extents if e.symbol is not None}
    progress = True
    while progress:
        progress = False
        for e in extents:
            missing = [s for s in e.mentions if s not in known]
            if len(missing) == 1 and missing[0] in e.linear:
                known.add(missing[0])
                progress = True
    for i, s in enumerate(signature.symbols):
        if i not in known:
            where = ", ".join(f"`{e.text}`" for e in extents if i in e.mentions)
            raise CodegenError(
                f"the shape variable `{s.name}` of `{signature.name}` cannot be found from the arguments: it "
                f"stands only in {where}",
                code="unsolvable-shape",
                hint=f"use `{s.name}` alone as an extent of some buffer, or make it a parameter",
            )


# ---- formulas


def _extent(e: Expr, order: dict[Var, int]) -> Extent:
    if isinstance(e, IntImm):
        return Extent(str(e.value), e.value)
    if isinstance(e, Var):
        return Extent(e.name, None, order[e])
    code, text = _formula(e, order, 0)
    space: dict[str, Any] = {
        "truncdiv": _truncdiv,
        "select": _choose,
        "floordiv": _floordiv,
        "floormod": _floormod,
    }
    compute = eval(f"lambda s: {code}", space)
    mentioned = tuple(dict.fromkeys(order[n] for n in walk(e) if type(n) is Var))
    linear = tuple(i for i in mentioned if _degree(e, i, order) == 1)
    return Extent(text, None, None, compute, mentioned, linear, code)


def _truncdiv(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _floordiv(a: int, b: int) -> int:
    return a // b if b else 0


def _floormod(a: int, b: int) -> int:
    return a % b if b else 0


def _choose(condition: bool, a: int, b: int) -> int:
    return a if condition else b


# Class of node -> (Python code, what is shown, precedence); 3 binds tighter than 2.
_BINARY: dict[type, tuple[str, str, int]] = {
    ir.Add: ("({} + {})", "{} + {}", 2), ir.Sub: ("({} - {})", "{} - {}", 2),
    ir.Mul: ("({} * {})", "{} * {}", 3),
    ir.FloorDiv: ("floordiv({}, {})", "{} // {}", 3), ir.FloorMod: ("floormod({}, {})", "{} % {}", 3),
    ir.Div: ("truncdiv({}, {})", "truncdiv({}, {})", 4), ir.Min: ("min({}, {})", "min({}, {})", 4),
    ir.Max: ("max({}, {})", "max({}, {})", 4),
    ir.EQ: ("({} == {})", "{} == {}", 1), ir.NE: ("({} != {})", "{} != {}", 1),
    ir.LT: ("({} < {})", "{} < {}", 1),
    ir.LE: ("({} <= {})", "{} <= {}", 1), ir.GT: ("({} > {})", "{} > {}", 1),
    ir.GE: ("({} >= {})", "{} >= {}", 1),
}  # fmt: skip


def _formula(e: Any, order: dict[Var, int], outer: int) -> tuple[str, str]:
    """Python code over the symbols ``s``, and the text that is shown."""
    t = type(e)
    if t is IntImm:
        return str(e.value), str(e.value)
    if t is Var:
        return f"s[{order[e]}]", e.name
    if t is ir.Cast or (t is Call and e.op == "likely"):
        return _formula(e.value if t is ir.Cast else e.args[0], order, outer)
    if t is ir.Select or (t is Call and e.op == "if_then_else"):
        parts = e.children()
        codes, texts = zip(*[_formula(p, order, 0) for p in parts], strict=True)
        return f"select({', '.join(codes)})", f"({texts[1]} if {texts[0]} else {texts[2]})"
    known = _BINARY.get(t)
    if known is None:
        raise CodegenError(
            f"a {t.__name__} in a shape is not supported",
            code="shape-expression",
            hint="use + - * // % min max",
        )
    code, shown, level = known
    a, b = _formula(e.a, order, level), _formula(e.b, order, level + 1)
    text = shown.format(a[1], b[1])
    return code.format(a[0], b[0]), f"({text})" if level < outer else text


def _degree(e: Any, symbol: int, order: dict[Var, int]) -> int:
    """The degree of ``e`` in a symbol; 2 for all that is not linear."""
    t = type(e)
    if t is Var:
        return int(order[e] == symbol)
    if t is IntImm:
        return 0
    if t is ir.Cast:
        return _degree(e.value, symbol, order)
    below = [_degree(c, symbol, order) for c in e.children()]
    if t is ir.Add or t is ir.Sub:
        return max(below)
    if t is ir.Mul:
        return min(sum(below), 2)
    return 2 if any(below) else 0


# ---- what is written


def written_pointers(function: PrimFunc) -> set[Var]:
    """The pointers through which the function may write.

    A pointer that goes to foreign code counts as written, unless ``tvm_access_ptr`` says that it is read.
    """
    views: dict[Var, Var] = {}
    found: set[Var] = set()
    stack: list[Any] = [function.body]
    while stack:
        n = stack.pop()
        t = type(n)
        if t is Var:
            if n.dtype == "handle":
                found.add(n)
            continue
        if t is BufferStore:
            found.add(n.buffer.data)
        elif t is MatchBufferRegion:
            views[n.buffer.data] = n.source.buffer.data
        elif t is Call:
            if n.op == "tvm_access_ptr" and isinstance(n.args[-1], IntImm) and not n.args[-1].value & 2:
                stack.extend(a for a in n.args if type(a) is not Var)
                continue
            if n.op == "address_of" and isinstance(n.args[0], BufferLoad):
                found.add(n.args[0].buffer.data)
        elif t is DeclBuffer:
            stack.append(n.body)
            continue
        stack.extend(n.children())
    out = set(found)
    for pointer in found:
        while pointer in views:
            pointer = views[pointer]
            out.add(pointer)
    return out
