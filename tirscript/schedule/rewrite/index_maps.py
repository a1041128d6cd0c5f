"""Index maps as arguments of primitives: from functions to maps, and how a trace writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tirscript.arith.index_map import retyped
from tirscript.diagnostics import TirscriptError
from tirscript.ir import expr as nodes
from tirscript.ir.expr import Call, Cast, Expr, FloatImm, IntImm, Select, Var
from tirscript.ir.index_map import IndexMap
from tirscript.ir.ops import as_expr
from tirscript.ir.visitor import free_vars, substitute

from ..errors import BadArgument, Refusal, a_kind
from ..refs import StmtSRef

_OPERATORS: dict[str, Any] = {
    c.__name__: c
    for c in vars(nodes).values()
    if isinstance(c, type) and issubclass(c, (nodes.BinaryOp, nodes.CmpOp)) and c.__name__[-2:] != "Op"
}


_MADE: dict[str, Any] = {**_OPERATORS, "Not": nodes.Not, "Select": Select}


class BadIndexMap(BadArgument):
    code = "bad-index-map"
    template = "`{argument}` of {primitive} must be a function of indices or an IndexMap: {what}"


class Mapped:
    """A function of indices that was given to a primitive, and the map that it stands for.

    The trace keeps this object: it writes the map, not the function.
    """

    __slots__ = ("given", "made")

    def __init__(self, given: Any) -> None:
        self.given = given
        self.made: IndexMap | None = given if isinstance(given, IndexMap) else None

    def __repr__(self) -> str:
        return "a function" if self.made is None else _shown(self.made)

    def as_python(self) -> str:
        """The map as a lambda that can be run: what is no index of it is asked of the schedule by name."""
        m = self.made
        if m is None:
            return "a function"
        known = set(m.initial_indices)
        free = [v for v in dict.fromkeys(v for e in m.final_indices for v in free_vars(e)) if v not in known]
        marks = {v: v.replace(name=f"size_{n}_{v.name}") for n, v in enumerate(free)}
        text = _shown(IndexMap(m.initial_indices, [substitute(e, marks) for e in m.final_indices]))
        for v, mark in marks.items():
            text = re.sub(rf"\b{mark.name}\b", f'sch.expr("{v.name}")', text)
        return text

    def as_json(self) -> Any:
        """Plain lists and dicts that ``index_map_of`` reads."""
        return None if self.made is None else _encode_map(self.made)


def _shown(m: IndexMap) -> str:
    """A map as a lambda, its indices of int32 where they can be."""
    plain = {v: v.replace(dtype="int32") for v in m.initial_indices}
    final = [retyped(e, "int32", plain) for e in m.final_indices]
    if all(e is not None for e in final):
        return repr(IndexMap(list(plain.values()), [e for e in final if e is not None]))
    return repr(IndexMap(m.initial_indices, m.final_indices))


def held(value: Any) -> Any:
    """A function, index map or expression wrapped for the trace; any other value as it is."""
    if isinstance(value, (IntImm, FloatImm)):
        return value
    if callable(value) or isinstance(value, (IndexMap, Expr)):
        return Mapped(value)
    return value


def index_map_of(
    place: StmtSRef, value: Any, ndim: int, dtype: str, argument: str, primitive: str
) -> IndexMap:
    """The index map over ``ndim`` indices that an argument stands for."""
    holder = value if isinstance(value, Mapped) else None
    given = holder.given if holder is not None else value
    if isinstance(given, Expr) and argument == "pad_value":
        given = IndexMap([Var(f"axis{n}", dtype) for n in range(ndim)], [given])
    if holder is not None and holder.made is not None:
        given = holder.made
    try:
        if isinstance(given, Mapping):
            given = _decode_map(given, place)
        if not isinstance(given, IndexMap):
            if not callable(given):
                raise _bad(place, argument, primitive, f"{a_kind(given)} was given")
            given = IndexMap.from_func(given, ndim, index_dtype=dtype)
    except TirscriptError as error:
        if isinstance(error, Refusal):
            raise
        raise _bad(place, argument, primitive, error.message) from None
    except Exception as error:  # the function may raise anything
        raise _bad(place, argument, primitive, f"{type(error).__name__}: {error}") from None
    have = len(given.initial_indices)
    if have != ndim:
        raise _bad(place, argument, primitive, f"it takes {have} indices, {ndim} are wanted")
    for e in given.final_indices:
        if argument == "index_map" and e.dtype not in ("int32", "int64"):
            raise _bad(place, argument, primitive, f"{e} is a {e.dtype}, not an int32 or int64")
    if holder is not None:
        holder.made = given
    return given


def _bad(place: StmtSRef, argument: str, primitive: str, what: str) -> BadIndexMap:
    return BadIndexMap(place.home, at=[(place, None)], argument=argument, primitive=primitive, what=what)


# ---- as JSON


def _encode_map(m: IndexMap) -> Any:
    number = {v: n for n, v in enumerate(m.initial_indices)}
    out: dict[str, Any] = {
        "indices": [[v.name, v.dtype] for v in m.initial_indices],
        "final": [_encode(e, number) for e in m.final_indices],
    }
    if m.inverse_index_map is not None:
        out["inverse"] = _encode_map(m.inverse_index_map)
    return out


def _encode(e: Any, number: Mapping[Var, int]) -> Any:
    t = type(e)
    if t is Var:
        return ["index", number[e]] if e in number else ["var", e.name]
    if t is IntImm or t is FloatImm:
        return [e.value, e.dtype]
    if t.__name__ in _OPERATORS:
        return [t.__name__, _encode(e.a, number), _encode(e.b, number)]
    if t is nodes.Not:
        return ["Not", _encode(e.a, number)]
    if t is Select:
        return ["Select", *[_encode(c, number) for c in e.children()]]
    if t is Cast:
        return ["Cast", e.dtype, _encode(e.value, number)]
    if t is Call and isinstance(e.op, str):
        return ["Call", e.dtype, e.op, *[_encode(a, number) for a in e.args]]
    raise TirscriptError(f"{e} cannot be written to a trace as JSON", code="no-json")


def _decode_map(data: Mapping[str, Any], place: StmtSRef) -> IndexMap:
    indices = [Var(str(name), str(dtype)) for name, dtype in data["indices"]]
    known = _free_variables(place)
    final = [_decode(e, indices, known) for e in data["final"]]
    inverse = data.get("inverse")
    return IndexMap(indices, final, None if inverse is None else _decode_map(inverse, place))


def _free_variables(place: StmtSRef) -> Callable[[str], Expr]:
    func = place.home.func
    found: dict[str, Expr] = {p.name: p for p in func.params}
    for b in func.buffer_map.values():
        for e in b.shape:
            found.update({v.name: v for v in free_vars(e)})

    def known(name: str) -> Expr:
        return found[name]

    return known


def _decode(e: Any, indices: list[Var], known: Callable[[str], Expr]) -> Expr:
    head = e[0]
    if isinstance(head, (int, float)):
        return as_expr(head, str(e[1]))
    if head == "index":
        return indices[int(e[1])]
    if head == "var":
        return known(str(e[1]))
    if head == "Cast":
        return Cast(str(e[1]), _decode(e[2], indices, known))
    if head == "Call":
        return Call(e[1], e[2], tuple([_decode(a, indices, known) for a in e[3:]]))
    parts: list[Any] = [_decode(a, indices, known) for a in e[1:]]
    made: Expr = _MADE[head](*parts)
    return made


def default_dtype(place: StmtSRef) -> str:
    """The dtype of the indices of a block: that of its first axis."""
    axes = place.node.block.iter_vars
    return axes[0].var.dtype if axes else "int32"


__all__ = ["Mapped", "default_dtype", "held", "index_map_of"]
