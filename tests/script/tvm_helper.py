"""Apache TVM 0.27 as a second reader: texts are parsed and printed by it in one child process.

The child is the Python that ``TIRSCRIPT_PEERS`` names, else the running one if it has apache-tvm.
Comparison is modulo what TVM folds while it parses: ``normalize`` folds the same on our side.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tirscript.arith import simplify
from tirscript.diagnostics import deep_recursion
from tirscript.ir import dtype as dt
from tirscript.ir.equal import structural_equal
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Broadcast,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Range,
    Select,
    StringImm,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.index_map import IndexMap
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    AttrStmt,
    Block,
    DeclBuffer,
    Evaluate,
    For,
    LetStmt,
    SeqStmt,
    Stmt,
    seq,
)
from tirscript.ir.visitor import substitute

_CHILD = r"""
import json, sys
import tvm.ir
from tvm.script import from_source
from tvm.script import ir as I, tirx as T

for line in sys.stdin:
    try:
        program = from_source(json.loads(line), {"T": T, "I": I})
        answer = {"text": program.script()}
        try:
            again = from_source(answer["text"], {"T": T, "I": I})
            tvm.ir.assert_structural_equal(program, again)
            answer["faithful"] = True
        except BaseException as error:
            answer["faithful"] = False
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print("\x01" + json.dumps(answer), flush=True)
"""


@lru_cache
def peer() -> str | None:
    """A Python that can import apache-tvm, or None."""
    for name in ("TIRSCRIPT_PEERS", "TIRSCRIPT_TVM_PYTHON"):
        python = os.environ.get(name)
        if python:
            found = subprocess.run([python, "-c", "import tvm.script.tirx"], capture_output=True, check=False)
            return python if found.returncode == 0 else None
    return sys.executable if importlib.util.find_spec("tvm") else None


@dataclass(frozen=True)
class Answer:
    """What TVM made of a text: its own print, or its error.

    ``faithful``: TVM reads its print back to the same program.
    """

    text: str | None
    error: str = ""
    faithful: bool = False


def through_tvm(texts: Sequence[str]) -> list[Answer]:
    """Each text parsed and printed by TVM; a text that ends the process counts as an error."""
    python = peer()
    assert python is not None
    answers: list[Answer] = []
    while len(answers) < len(texts):
        todo = texts[len(answers) :]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        child = subprocess.run(
            [python, "-c", _CHILD],
            input="".join(json.dumps(t) + "\n" for t in todo),
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        got = [json.loads(line[1:]) for line in child.stdout.splitlines() if line.startswith("\x01")]
        answers += [Answer(g.get("text"), g.get("error", ""), g.get("faithful", False)) for g in got]
        if len(got) < len(todo):
            answers.append(Answer(None, f"TVM ended with {child.returncode}: {child.stderr[-300:]}"))
    return answers


_ALLOC = re.compile(r"T\.alloc_(shared|local)\((.*)\)$", re.MULTILINE)
_TARGET = re.compile(r'"\w+": T\.target\(\{.*?\}\)(, )?')
_VIEW = re.compile(r"^( *\w+) = (\w+)\.view\((.*)\)$", re.MULTILINE)
_SHAPE = re.compile(r"T\.Buffer\(\(((?:[^()]|\([^()]*\))*)\)")
_VARS = re.compile(r"^ *(\w+(?:, \w+)*) = T\.int32\(\)(?:, T\.int32\(\))*\n", re.MULTILINE)


def spelled_out(text: str) -> str:
    """TVM's print with the shorthands of its own dialect written out."""
    text = _ALLOC.sub(lambda m: f'T.alloc_buffer({m[2]}, scope="{m[1]}")', text)
    text = _VIEW.sub(lambda m: f"{m[1]} = {_view(text, m[2], m[3])}", text)
    text = text.replace("T.handle().ty", '"handle"').replace('T.dp4a("int32", ', "T.dp4a(")
    # TVM fills a target in with what its own build knows.
    return _TARGET.sub(
        "", "".join(_symbolic(part) for part in re.split(r"(?=^ *def )", text, flags=re.MULTILINE))
    )


def _view(text: str, buffer: str, shape: str) -> str:
    """``B.view(4, 4)``: the memory of B in another shape."""
    declared = re.search(
        rf"\b{buffer}(?:: T\.Buffer| = T\.\w+)\((.*?)\)(?:$|[,:] ?\w*:|\) *->|\):)", text, re.MULTILINE
    )
    fields = declared[1] if declared else ""
    dtype = re.search(r'\), "(\w+)"', fields)
    scope = re.search(r'scope="([\w.]+)"', fields)
    shown = f', "{dtype[1]}"' if dtype else ""
    return f"T.decl_buffer(({shape},){shown}, data={buffer}.data{f', scope={scope[0][6:]}' if scope else ''})"


def _symbolic(text: str) -> str:
    """A function with quoted extents: all extents quoted, for a bare name may mean a quoted one, and the
    names not declared once more in the body."""
    head, newline, body = text.partition("\n")
    if not re.search(r'T\.Buffer\(\((?:[^()]|\([^()]*\))*"', head):
        return text

    def quoted(found: re.Match[str]) -> str:
        dims = [d.strip() for d in found[1].split(",") if d.strip()]
        return (
            f"T.Buffer(({' '.join([(d if d[0] == chr(34) else chr(34) + d + chr(34)) + ',' for d in dims])})"
        )

    names = set(re.findall(r"[A-Za-z_]\w*", " ".join(_SHAPE.findall(head))))
    body = _VARS.sub(lambda m: "" if names.issuperset(m[1].split(", ")) else m[0], body)
    return _SHAPE.sub(quoted, head) + newline + body


# ---- modulo TVM's folding


def normalize(obj: Any) -> Any:
    """``obj`` with what TVM folds while it parses folded, statements flat, empty ones dropped."""
    with deep_recursion():
        if isinstance(obj, IRModule):
            return IRModule({k: normalize(f) for k, f in sorted(obj.items())}, _attrs(obj.attrs))
        if isinstance(obj, PrimFunc):
            f = _unprinted(obj)
            return f.replace(body=_fold(f.body), attrs=_attrs(f.attrs))
        return _fold(obj)


def _unprinted(f: PrimFunc) -> PrimFunc:
    """Parameters without what TVM does not print: its default alignment, an offset that is a variable."""
    buffers: dict[Buffer, Buffer] = {}
    for b in f.buffer_map.values():
        offset = None if type(b.elem_offset) is Var else b.elem_offset
        buffers[b] = b.replace(align=0 if b.align == 64 else b.align, elem_offset=offset)
    mapping = {v: buffers[b] for v, b in f.buffer_map.items()}
    return f.replace(buffer_map=mapping, body=substitute(f.body, {}, buffers))


def _attrs(attrs: Any) -> dict[str, Any]:
    return {
        ("tir." + k[5:] if k.startswith("tirx.") else k): _value(v)
        for k, v in attrs.items()
        if not _is_target(v)
    }


def _is_target(value: Any) -> bool:
    return type(value).__name__ == "Target"


def _value(value: Any) -> Any:
    if isinstance(value, IndexMap):
        return "an index map: TVM's are of int64"
    if isinstance(value, (list, tuple)):
        return [_value(v) for v in value]
    if isinstance(value, dict):
        return {k: _value(v) for k, v in value.items()}
    if isinstance(value, IntImm) and value.dtype in ("int32", "bool"):
        return bool(value.value) if value.dtype == "bool" else value.value
    return _fold(value) if isinstance(value, Expr) else value


def _fold(n: Any) -> Any:
    n = n.map_children(_fold)
    rule = _RULES.get(type(n))
    return n if rule is None else rule(n)


def _number(e: Any) -> int | float | None:
    return e.value if isinstance(e, (IntImm, FloatImm)) else None


def _is(e: Any, value: float) -> bool:
    if isinstance(e, Broadcast):
        return _is(e.value, value)
    found = _number(e)
    return found is not None and found == value


def _constant(value: Any, like: Any) -> Expr:
    if isinstance(like, FloatImm):
        from tirscript.ir.ops import round_float

        return FloatImm(round_float(float(value), like.dtype), like.dtype)
    return const_int(dt.wrap(int(value), like.dtype), like.dtype)


def _both(n: Any, f: Any) -> Expr:
    """``f`` of two constants; the node itself where it has others or ``f`` no value."""
    a, b = _number(n.a), _number(n.b)
    if a is not None and b is not None:
        with contextlib.suppress(ArithmeticError, ValueError, RuntimeError):
            return _constant(f(a, b), n.a)
    return n  # type: ignore[no-any-return]


def _add(n: Add) -> Expr:
    if _is(n.a, 0):
        return n.b
    if _is(n.b, 0):
        return n.a
    return _both(n, lambda a, b: a + b)


def _sub(n: Sub) -> Expr:
    return n.a if _is(n.b, 0) else _both(n, lambda a, b: a - b)


def _mul(n: Mul) -> Expr:
    if _is(n.a, 1) or _is(n.b, 0):
        return n.b
    if _is(n.b, 1) or _is(n.a, 0):
        return n.a
    return _both(n, lambda a, b: a * b)


def _div(n: Div) -> Expr:
    if _is(n.b, 1) or _is(n.a, 0):
        return n.a
    if dt.is_float(n.dtype):
        return _both(n, lambda a, b: a / b)
    return _both(n, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def _floordiv(n: FloorDiv) -> Expr:
    if _is(n.b, 1) or _is(n.a, 0):
        return n.a
    return _both(n, lambda a, b: a // b)


def _mod(n: Any) -> Expr:
    if _is(n.a, 0):
        return n.a  # type: ignore[no-any-return]
    if _is(n.b, 1) and not isinstance(n.b, FloatImm):
        return (
            n.b.replace(value=n.b.value.replace(value=0))
            if isinstance(n.b, Broadcast)
            else n.b.replace(value=0)
        )  # type: ignore[no-any-return]
    if isinstance(n, FloorMod):
        return _both(n, lambda a, b: a % b)
    return n  # type: ignore[no-any-return]


def _comparison(f: Any) -> Any:
    def fold(n: Any) -> Expr:
        a, b = _number(n.a), _number(n.b)
        return n if a is None or b is None else const_int(int(f(a, b)), "bool")  # type: ignore[no-any-return]

    return fold


def _and(n: And) -> Expr:
    if _is(n.a, 1) or _is(n.b, 0):
        return n.b
    return n.a if _is(n.b, 1) or _is(n.a, 0) else n


def _or(n: Or) -> Expr:
    if _is(n.a, 0) or _is(n.b, 1):
        return n.b
    return n.a if _is(n.b, 0) or _is(n.a, 1) else n


def _not(n: Not) -> Expr:
    return const_int(1 - n.a.value, "bool") if isinstance(n.a, IntImm) else n


def _cast(n: Cast) -> Expr:
    value = _number(n.value)
    if n.value.dtype == n.dtype:
        return n.value
    if value is None or dt.lanes(n.dtype) != 1:
        return n
    if dt.is_float(n.dtype):
        return _constant(value, FloatImm(0.0, n.dtype))
    return _constant(value, IntImm(0, n.dtype))


_BITS: dict[str, Any] = {
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << b,
    "shift_right": lambda a, b: a >> b,
}


_LLVM_SUFFIX = re.compile(r"(\.v?\d*[if]\d+)+$")


def _call(n: Call) -> Expr:
    args = n.args
    if n.op in _BITS and all(isinstance(a, IntImm) for a in args):
        return _constant(_BITS[n.op](args[0].value, args[1].value), args[0])  # type: ignore[attr-defined]
    if n.op in ("shift_left", "shift_right") and _is(args[1], 0):
        return args[0]
    if n.op == "if_then_else" and isinstance(args[0], IntImm):
        return args[1] if args[0].value else args[2]
    if n.op == "abs" and dt.is_int(n.dtype):
        x = args[0]
        return Select(GE(x, const_int(0, x.dtype)), x, Sub(const_int(0, x.dtype), x))
    if isinstance(n.op, str) and n.op.startswith("call_llvm") and isinstance(args[0], StringImm):
        # TVM keeps the number of the intrinsic, without the dtypes in its name.
        return n.replace(args=(StringImm(_LLVM_SUFFIX.sub("", args[0].value)), *args[1:]))
    if n.op in ("tvm_call_packed", "tvm_call_cpacked"):
        return n.replace(op=n.op[4:])  # type: ignore[index]
    if n.op == "tvm_storage_sync" and len(args) == 1:
        return n.replace(args=(args[0], const_int(0, "bool"), const_int(-1)))
    return n


def _seq(n: SeqStmt) -> Stmt:
    """Flat: what follows a let or an allocation is in its scope; constants for their effect are nothing."""
    out: Stmt | None = None
    for s in reversed(n.seq):
        if type(s) is Evaluate and isinstance(s.value, (IntImm, FloatImm)):
            continue
        out = s if out is None else _join(s, out)
    return Evaluate(const_int(0)) if out is None else out


def _join(first: Stmt, rest: Stmt) -> Stmt:
    if type(first) in (LetStmt, DeclBuffer, Allocate):
        return first.replace(body=_join(first.body, rest))  # type: ignore[attr-defined]
    if type(first) is SeqStmt:
        return seq(*first.seq[:-1], _join(first.seq[-1], rest))
    return seq(first, rest)


def _loop(n: For) -> Any:
    """TVM simplifies the difference of a loop's ends."""
    return _annotated(n if isinstance(n.extent, IntImm) else n.replace(extent=simplify(n.extent)))


def _range(n: Range) -> Range:
    return Range(simplify(n.min), simplify(n.extent))


def _annotated(n: Any) -> Any:
    return n.replace(annotations=_attrs(n.annotations)) if n.annotations else n


def _attr_stmt(n: AttrStmt) -> AttrStmt:
    return n.replace(node=_value(n.node)) if isinstance(n.node, Expr) else n


_RULES: dict[type, Any] = {
    Add: _add, Sub: _sub, Mul: _mul, Div: _div, FloorDiv: _floordiv, FloorMod: _mod, Mod: _mod,
    Min: lambda n: n.a if structural_equal(n.a, n.b) else _both(n, min),
    Max: lambda n: n.a if structural_equal(n.a, n.b) else _both(n, max),
    EQ: _comparison(lambda a, b: a == b), NE: _comparison(lambda a, b: a != b),
    LT: _comparison(lambda a, b: a < b), LE: _comparison(lambda a, b: a <= b),
    GT: _comparison(lambda a, b: a > b), GE: _comparison(lambda a, b: a >= b),
    And: _and, Or: _or, Not: _not, Cast: _cast, Call: _call, SeqStmt: _seq,
    For: _loop,
    Range: _range, Block: _annotated, AttrStmt: _attr_stmt,
}  # fmt: skip
