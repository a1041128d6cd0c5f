"""A module of lowered functions as the text of an LLVM module."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tirscript.codegen.python.kinds import Kinds
from tirscript.codegen.python.support import numpy_dtype
from tirscript.codegen.signature import signature_of, symbols_of
from tirscript.diagnostics import CodegenError, Mark, Span, TirscriptError, deep_recursion
from tirscript.ir import dtype as dt
from tirscript.ir.expr import GlobalVar, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.runtime.signature import Signature, Site

from .casts import as_data
from .debug import DebugInfo
from .function import FunctionEmitter
from .imports import imports_of, link
from .options import Options
from .values import FLOATS, MEMORY, NARROW, PASSED, Value, parts

# Functions of C that the generated code itself calls.
_MEMORY = (
    "declare noalias ptr @aligned_alloc(i64 allocalign, i64) nounwind willreturn "
    'allockind("alloc,uninitialized,aligned") allocsize(1) "alloc-family"="malloc"',
    'declare void @free(ptr allocptr captures(none)) nounwind willreturn allockind("free") '
    '"alloc-family"="malloc"',
)


@dataclass(slots=True)
class Emitted:
    """The LLVM module and what is needed to load and call it."""

    text: str
    signatures: dict[str, Signature]  # exported functions
    symbols: dict[str, str]  # their symbols in the object
    sites: list[Site]  # asserts, by status - 1
    externs: tuple[str, ...]  # symbols that the process must have
    options: Options
    parallel: bool = False


@dataclass(slots=True)
class Callee:
    """A function as others of the module call it."""

    symbol: str
    params: tuple[Var, ...]
    returns: str | None
    extra: tuple[Var, ...] = field(default=())  # the variables of its shapes, passed after the parameters


class ModuleEmitter:
    """What the functions of one module share: declarations, constants, asserts, metadata."""

    def __init__(self, mod: IRModule, options: Options, debug: bool) -> None:
        self.options = options
        self.functions: list[str] = []
        self.current = ""
        self.sites: list[Site] = []
        self.debug: DebugInfo | None = DebugInfo(4) if debug else None
        self._declared: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._globals: list[str] = []
        self._strings: dict[str, str] = {}
        self._names: dict[str, int] = {}
        self._unrolled = False
        self._kept: dict[str, None] = {}
        self._symbols = {name: _symbol(name) for name in mod.names()}
        self._table = dict(mod.items())

    # ---- shared text

    def declare(self, name: str, text: str) -> None:
        """A function from outside."""
        self._declared.setdefault(name, text)

    def declare_memory(self) -> None:
        for text, name in zip(_MEMORY, ("aligned_alloc", "free"), strict=True):
            self._declared.setdefault(name, text)

    def helper(self, name: str, text: Callable[[], str]) -> None:
        """A function of our own that several may call."""
        if name not in self._helpers:
            self._helpers[name] = text()

    def keep(self, name: str) -> None:
        """A function that is not called yet, but may be by LLVM's passes."""
        self._kept[name] = None

    def unique(self, stem: str) -> str:
        count = self._names[stem] = self._names.get(stem, 0) + 1
        return f"{stem}.{count}"

    def string(self, text: str) -> str:
        """A constant C string; its address."""
        known = self._strings.get(text)
        if known is None:
            data = text.encode() + b"\0"
            known = self._strings[text] = self._bytes(data, 1)
        return known

    def _bytes(self, data: bytes, align: int) -> str:
        name = f"@{self.unique('const')}"
        shown = "".join([_ESCAPED[c] for c in data])
        self._globals.append(
            f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{shown}", align {align}'
        )
        return name

    def constant_data(self, data: Any, dtype: str) -> str:
        """A constant array; its address."""
        import numpy as np

        base, _ = parts(dtype)
        array = np.ascontiguousarray(data)
        if array.dtype.name != base:
            array = array.astype(numpy_dtype(base))
        return self._bytes(array.tobytes() or b"\0", 64)

    def site(self, message: str, span: Span | None, **more: Any) -> int:
        """The status of an assert that failed."""
        self.sites.append(Site(message, None if span is None else Mark(span), **more))
        return len(self.sites)

    def unrolled(self) -> str:
        self._unrolled = True
        return "!0"

    def callee(self, var: GlobalVar) -> Callee:
        function = self._table.get(var.name)
        if function is None:
            raise CodegenError(f"the module has no function `{var.name}`", code="unknown-function")
        returns = None if function.ret_type == "void" else function.ret_type
        return Callee(self._symbols[var.name], function.params, returns, symbols_of(function))

    # ---- functions

    @contextlib.contextmanager
    def debug_scope(self, name: str, span: Span | None) -> Iterator[tuple[str, str]]:
        """A function's own scope for locations: the suffixes of its definition and of an instruction."""
        if self.debug is None:
            yield "", ""
            return
        before = self.debug.state
        line = span.line if span is not None else 0
        scope = self.debug.subprogram(name, span.source if span is not None else None, line)
        yield f" !dbg {scope}", self.debug.at(line, 0)
        self.debug.state = before

    def function(self, name: str, function: PrimFunc) -> None:
        symbol = self._symbols[name]
        self.current = symbol[1:].strip('"')
        f = FunctionEmitter(self, Kinds())
        apart = "noalias" if function.attrs.get("tir.noalias", True) else ""
        with self.debug_scope(name, function.span) as (scope, f.debug):
            self._body(f, name, function, apart, scope)

    def _body(self, f: FunctionEmitter, name: str, function: PrimFunc, apart: str, scope: str) -> None:
        for p in function.params:
            buffer = function.buffer_map.get(p)
            if buffer is not None:
                v = Value(f.parameter(buffer.name, "ptr", apart), "handle")
                f.env[buffer.data] = f.env[p] = v
            else:
                v = _scalar(f, p, apart)
            if v.base == "handle" and apart:
                f.restricted.add(v.ref)
        for s in symbols_of(function):
            _scalar(f, s, "", extent=s in _extents(function))
        if function.ret_type != "void":
            f.give(function.ret_type)
        f.statement(function.body)
        linkage = "" if "global_symbol" in function.attrs else "internal "
        self.functions.append(f.text(f"define {linkage}i32 {self._symbols[name]}", debug=scope))

    def text(self) -> str:
        out = [*self._globals, *self._declared.values(), *self._helpers.values(), *self.functions]
        if self._kept:
            names = ", ".join(f"ptr {name}" for name in self._kept)
            out.append(
                f"@llvm.compiler.used = appending global [{len(self._kept)} x ptr] [{names}], "
                'section "llvm.metadata"'
            )
        out.append('attributes #0 = { nounwind "min-legal-vector-width"="512" }')
        if self._unrolled:
            # A count: left to itself LLVM writes out millions of iterations.
            out += ["!0 = distinct !{!0, !1}", '!1 = !{!"llvm.loop.unroll.count", i32 8}']
        if self.debug is not None:
            out += [
                f"!llvm.dbg.cu = !{{{self.debug.unit()}}}",
                "!llvm.module.flags = !{!2, !3}",
                '!2 = !{i32 2, !"Debug Info Version", i32 3}',
                '!3 = !{i32 7, !"Dwarf Version", i32 4}',
                *self.debug.nodes,
            ]
        return "\n".join(out) + "\n"

    @property
    def externs(self) -> tuple[str, ...]:
        return tuple(n for n in self._declared if not n.startswith("tirscript_"))

    @property
    def parallel(self) -> bool:
        return "tirscript_parallel" in self._declared


_ESCAPED = [chr(c) if 32 <= c < 127 and c not in (34, 92) else f"\\{c:02X}" for c in range(256)]


def _symbol(name: str) -> str:
    """The symbol of a function: no name of C."""
    return f"@ts.{name}" if name.isidentifier() and name.isascii() else f'@"ts.{_escape(name)}"'


def _escape(name: str) -> str:
    return "".join(_ESCAPED[c] for c in name.encode())


def _extents(function: PrimFunc) -> set[Var]:
    """Variables that stand alone as an extent, which makes them non-negative."""
    return {e for b in function.buffers for e in b.shape if type(e) is Var}


def _scalar(f: FunctionEmitter, var: Var, apart: str, extent: bool = False) -> Value:
    """A scalar parameter.  Integers and bools come in 64 bits."""
    base, lanes = parts(var.dtype)
    if lanes != 1:
        raise CodegenError(f"the parameter `{var.name}` is a vector", code="vector-parameter")
    if base == "handle":
        v = Value(f.parameter(var.name, "ptr", apart), "handle")
    elif base in NARROW:
        v = as_data(f, Value(f.parameter(var.name, PASSED[base]), "float64"), base)
    elif base in FLOATS:
        v = Value(f.parameter(var.name, MEMORY[base]), base)
    else:
        low, high = dt.bounds(base)
        if extent:
            low = 0
        known = base not in ("int64", "uint64")
        attributes = f"range(i64 {low}, {high + 1})" if known else ""
        raw = Value(f.parameter(var.name, "i64", attributes), "int64", 1, True)
        if known:
            raw.lo, raw.hi = low, high
        elif extent:
            raw.lo, raw.hi = 0, (1 << 63) - 1
        elif base == "uint64":
            raw.lo, raw.hi = low, high
        if base == "bool":
            v = Value(f.ins(f"icmp ne i64 {raw.ref}, 0"), "bool", 1, var.exact)
        elif var.exact:
            v = raw
        else:
            f.bind(var, raw)
            return f.env[var]
    f.env[var] = v
    return v


def emit_module(
    mod: IRModule | Mapping[str, PrimFunc], target: Any = None, *, debug: bool = False
) -> Emitted:
    """The LLVM module of a lowered module.

    Raises CodegenError for what is not lowered and NotYetError for what this backend does not have; both
    name the function and the line.
    """
    module = mod if isinstance(mod, IRModule) else IRModule(dict(mod))
    options = Options.of(target)
    emitter = ModuleEmitter(module, options, debug)
    signatures: dict[str, Signature] = {}
    symbols: dict[str, str] = {}
    with deep_recursion():
        for name, function in module.items():
            if "global_symbol" in function.attrs:
                exported = function.name
                signatures[exported] = signature_of(function, exported)
                symbols[exported] = f"ts.{name}"
            try:
                emitter.function(name, function)
            except TirscriptError as e:
                e.notes = [*e.notes, f"in the function `{name}`"]
                e._text = None
                raise
    text, externs = emitter.text(), emitter.externs
    imports = imports_of([f for _, f in module.items()])
    if imports:
        text, externs = link(text, externs, imports)
    return Emitted(text, signatures, symbols, emitter.sites, externs, options, emitter.parallel)


def emit(mod: IRModule, target: Any = None, *, debug: bool = False) -> str:
    """The text of the LLVM module of a lowered module."""
    return emit_module(mod, target, debug=debug).text


__all__ = ["Emitted", "ModuleEmitter", "emit", "emit_module"]
