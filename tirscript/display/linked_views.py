"""Linked views: script, lowered script, LLVM IR and assembly side by side, line linked to line.

The links are the debug locations of the generated code: the program is lowered with the lines of its
printed script as the places of its statements, and the code generator writes them as line tables, which
are read back from LLVM's own output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tirscript.diagnostics import NotYetError, Source, Span, TirscriptError, deep_recursion, did_you_mean
from tirscript.ir.expr import Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import walk
from tirscript.ir.stmt import Allocate, Block, DeclBuffer, Stmt

__all__ = ["Line", "LinkedView", "Pane", "linked", "read_assembly", "read_llvm"]

Links = list[tuple[str, int | None]]  # lines of code, each with the line of the file that it comes from


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a pane, and the lines of the script and of the lowered script that it belongs to."""

    text: str
    script: int | None = None
    lowered: int | None = None


@dataclass(frozen=True, slots=True)
class Pane:
    """One text of the view; ``kind`` is ``script``, ``lowered``, ``llvm``, ``llvm-optimized`` or ``asm``."""

    kind: str
    title: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return "\n".join([line.text for line in self.lines])


@dataclass(frozen=True)
class LinkedView:
    """The panes; in a notebook they stand side by side, and lines that belong together light up together.

    ``html()`` is a document that stands alone and needs no script; ``save`` writes it.
    """

    name: str
    target: str
    panes: tuple[Pane, ...]

    def __getitem__(self, kind: str) -> Pane:
        for pane in self.panes:
            if pane.kind == kind:
                return pane
        raise KeyError(kind)

    def html(self) -> str:
        from .linked_html import document

        return document(self)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the document to a file; the path."""
        name = os.fspath(path)
        with open(name, "w", encoding="utf-8") as file:
            file.write(self.html())
        return name

    def __str__(self) -> str:
        shown = ", ".join([f"{p.title} ({len(p.lines)} lines)" for p in self.panes])
        return f"linked views of {self.name} for {self.target}: {shown}"

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .linked_html import fragment

        return {"text/plain": str(self), "text/html": fragment(self)}


def linked(
    program: Any,
    target: Any = "llvm",
    *,
    panes: Sequence[str] = ("script", "lowered", "llvm", "asm"),
) -> LinkedView:
    """The program's script, lowered script and code, with the lines that belong together.

    ``program`` is a function, a module or a Schedule.  ``panes`` are some of ``script``, ``lowered``,
    ``llvm`` (what the code generator writes), ``llvm-optimized`` (what LLVM makes of it) and ``asm``.  The
    script stands with one loop and one axis a line.

    Raises TirscriptError for other panes (``unknown-pane``), what ``build`` raises for programs that cannot
    be built, and NotYetError for targets without such code (``not-yet-target``).

    >>> from tirscript.schedule.testing import chain
    >>> view = linked(chain())
    >>> [pane.kind for pane in view.panes]
    ['script', 'lowered', 'llvm', 'asm']
    >>> [line.text.strip() for line in view["script"].lines if line.script]
    ... # doctest: +ELLIPSIS
    ['def chain(A: ...]
    """
    mod = _module_of(program)
    wanted = _wanted(panes)
    chosen = _target_of(mod, target)
    code = _CODE.get(str(chosen.kind))
    if code is None:
        raise NotYetError(
            f"there are no linked views for `{chosen.kind}` yet", code="not-yet-target", hint='target="llvm"'
        )
    with deep_recursion():
        return _View(mod, chosen, wanted).view(code)


def _module_of(program: Any) -> IRModule:
    if isinstance(program, PrimFunc):
        return IRModule.from_expr(program)
    mod = getattr(program, "mod", program)
    if not isinstance(mod, IRModule):
        raise TirscriptError(
            f"a function, a module or a Schedule is wanted, not {type(program).__name__}",
            code="not-a-program",
        )
    if not len(mod):
        raise TirscriptError("the module has no functions", code="empty-module")
    return mod


def _wanted(panes: Any) -> tuple[str, ...]:
    if isinstance(panes, str):
        panes = (panes,)
    if not isinstance(panes, Sequence) or not panes:
        raise TirscriptError(f"the panes are one or more names, not {panes!r}", code="unknown-pane")
    for p in panes:
        if not isinstance(p, str) or p not in TITLES:
            raise TirscriptError(
                f"there is no pane {p!r}; there are {', '.join(TITLES)}",
                code="unknown-pane",
                hint=did_you_mean(str(p), TITLES),
            )
    return tuple(dict.fromkeys(panes))


def _target_of(mod: IRModule, target: Any) -> Any:
    from tirscript.target import Target

    if target is None:
        own = [f.attrs.get("target") for f in mod.functions.values()]
        target = Target.current() or next((t for t in own if t is not None), "llvm")
    return target if isinstance(target, Target) else Target(target)


# ---- places


def _places(obj: PrimFunc | IRModule, name: str) -> tuple[list[str], dict[Any, Span]]:
    """The script of a program, and where its statements and buffers stand in it."""
    from tirscript.script.printer import render

    rendered = render(obj, sugar=False, name=name)
    return rendered.text.split("\n"), rendered.spans


def _placed(s: Any, place: Callable[[Any], Span | None]) -> Any:
    """A copy of a statement with the places of all statements in it; no statement stands twice in it."""
    new = s.map_children(lambda c: _placed(c, place) if isinstance(c, Stmt) else c)
    return new.replace(span=place(s))


def _with_places(mod: IRModule, place: Callable[[Any], Span | None]) -> IRModule:
    new = mod.copy()
    for var, f in mod.functions_items():
        new.update_func(var, f.replace(body=_placed(f.body, place), span=place(f)))
    return new


class _View:
    def __init__(self, mod: IRModule, target: Any, wanted: tuple[str, ...]) -> None:
        self.target = target
        self.wanted = wanted
        self.mod = _exported(_with_places(mod, lambda s: s.span))  # a copy in which no statement is shared
        self.alone = len(mod) == 1
        self.name = mod.items()[0][1].name if self.alone else ", ".join(mod.names())

    def shown(self, mod: IRModule) -> PrimFunc | IRModule:
        """What is printed: a function where there is only one."""
        return mod.items()[0][1] if self.alone else mod

    def view(self, code: Callable[[_View], list[Pane]]) -> LinkedView:
        from tirscript.driver import lower

        self.script, spans = _places(self.shown(self.mod), "script")
        source = _source_of(spans)
        self.memory = _memory_places(self.mod, spans)
        lowered = lower(_with_places(self.mod, spans.get), self.target)
        lowered = _with_places(lowered, lambda s: s.span)
        self.lowered, places = _places(self.shown(lowered), "lowered")

        def script_place(s: Any) -> Span | None:
            if type(s) in (Allocate, DeclBuffer):
                data = s.buffer_var if type(s) is Allocate else s.buffer.data
                return self.memory.get(data)
            return s.span if s.span is not None and s.span.source is source else None

        self.by_script = _with_places(lowered, script_place)
        self.by_lowered = _with_places(lowered, places.get)
        self.script_of = _lines(lowered, places, script_place)
        panes = code(self)
        used = {n for p in panes for line in p.lines for n in [line.script] if n}
        used |= set(self.script_of.values())
        first = [Line(text, n if n in used else None) for n, text in enumerate(self.script, start=1)]
        second = [
            Line(text, self.script_of.get(n), n if n in self.script_of else None)
            for n, text in enumerate(self.lowered, start=1)
        ]
        made = {
            "script": Pane("script", TITLES["script"], tuple(first)),
            "lowered": Pane("lowered", TITLES["lowered"], tuple(second)),
            **{p.kind: p for p in panes},
        }
        chosen = tuple([made[kind] for kind in self.wanted if kind in made])
        return LinkedView(self.name, str(self.target), chosen)


def _exported(mod: IRModule) -> IRModule:
    """The module with something that can be called: what nobody can call LLVM removes."""
    if not any("global_symbol" in f.attrs for _, f in mod.items()):
        for name, f in mod.items():
            mod.update_func(name, f.with_attr("global_symbol", name))
    return mod


def _source_of(spans: Mapping[Any, Span]) -> Source | None:
    return next((span.source for span in spans.values()), None)


def _memory_places(mod: IRModule, spans: Mapping[Any, Span]) -> dict[Var, Span]:
    """Where the buffers over each pointer are allocated or declared, by pointer."""
    found: dict[Var, Span] = {}
    for f in mod.functions.values():
        for b in f.buffers:
            place = spans.get(b) or spans.get(f)
            if place is not None:
                found.setdefault(b.data, place)
        for n in walk(f.body):
            own = n.alloc_buffers if type(n) is Block else (n.buffer,) if type(n) is DeclBuffer else ()
            for b in own:
                place = spans.get(b) or spans.get(n)
                if place is not None:
                    found.setdefault(b.data, place)
    return found


def _lines(
    lowered: IRModule, places: Mapping[Any, Span], script_place: Callable[[Any], Span | None]
) -> dict[int, int]:
    """The line of the script of each line of the lowered script."""
    found: dict[int, int] = {}
    for f in lowered.functions.values():
        for n in (f, *walk(f.body)):
            if n is f or isinstance(n, Stmt):
                at, of = places.get(n), script_place(n)
                if at is not None and of is not None:
                    found.setdefault(at.line, of.line)
    return found


# ---- code of the llvm target


def _llvm_code(view: _View) -> list[Pane]:
    """The panes of LLVM IR and of assembly."""
    from tirscript.codegen.llvm import emit_module
    from tirscript.runtime import jit

    by_script = emit_module(view.by_script, view.target, debug=True)
    by_lowered = emit_module(view.by_lowered, view.target, debug=True)
    options = by_script.options
    machine = jit.Machine(options.cpu, options.features, options.triple, options.opt_level)

    def pane(kind: str, read: Callable[[str, str], Links], make: Callable[[str], str]) -> Pane:
        first = read(make(by_script.text), "script")
        second = read(make(by_lowered.text), "lowered")
        # The same code twice, with the lines of two files.
        same = [text for text, _ in first] == [text for text, _ in second]
        lowered = [n for _, n in second] if same else [None] * len(first)
        lines = []
        for (text, n), m in zip(first, lowered, strict=True):
            # A place of another statement's script line would light up what does not belong there.
            lines.append(Line(text, n, m if n is not None and view.script_of.get(m or 0) == n else None))
        return Pane(kind, TITLES[kind], tuple(lines))

    panes = []
    if "llvm" in view.wanted:
        panes.append(pane("llvm", read_llvm, lambda text: text))
    if "llvm-optimized" in view.wanted:
        panes.append(pane("llvm-optimized", read_llvm, lambda text: jit.optimized_text(text, machine)))
    if "asm" in view.wanted:
        panes.append(pane("asm", read_assembly, lambda text: jit.assembly(text, machine)))
    return panes


# What makes the panes of code for each kind of target; they are joined with script and lowered script.
_CODE: dict[str, Callable[[_View], list[Pane]]] = {"llvm": _llvm_code}
TITLES = {
    "script": "script",
    "lowered": "lowered script",
    "llvm": "LLVM IR",
    "llvm-optimized": "LLVM IR, optimized",
    "asm": "assembly",
    "cuda": "CUDA",
}


_DEBUG = re.compile(r" !dbg !(\d+)")
_ATTACHED = re.compile(r",? ![\w.]+ !\d+")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = re.compile(r"(\w+): (\"(?:[^\"\\]|\\.)*\"|[^,\s]+)")


def read_llvm(text: str, file: str) -> Links:
    """The lines of LLVM IR without debug information, each with the line of ``file`` that it comes from."""
    nodes: dict[str, dict[str, str]] = {}
    code = []
    for line in text.split("\n"):
        if line.startswith("!"):
            match = _LOCATION.match(line)
            if match:
                nodes[match[1]] = {"": match[2], **dict(_FIELD.findall(match[3]))}
        else:
            code.append(line)

    def file_of(node: str) -> str:
        fields = nodes.get(node, {})
        while "file" not in fields and "scope" in fields:
            fields = nodes.get(fields["scope"][1:], {})
        return nodes.get(fields.get("file", "")[1:], {}).get("filename", "").strip('"')

    out: Links = []
    for line in code:
        match = _DEBUG.search(line)
        number = None
        if match is not None and match[1] in nodes and file_of(match[1]) == file:
            number = int(nodes[match[1]].get("line", "0")) or None
        # What other attachments refer to is not shown either.
        shown = _ATTACHED.sub("", line)
        if shown.strip() or (out and out[-1][0]):
            out.append((shown.rstrip(), number))
    while out and not out[-1][0]:
        out.pop()
    return out


_TEXT = re.compile(r"\.text\b|\.section\s+\S*text")
_WORD = re.compile(r"[\w.$@]+")


def read_assembly(text: str, file: str) -> Links:
    """The instructions and labels of assembly, each instruction with the line of ``file`` that its ``.loc``
    directive says."""
    files: dict[str, str] = {}
    place: int | None = None
    in_text = True
    lines: list[tuple[str, int | None, bool]] = []
    used: set[str] = set()
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith(".file"):
            match = re.match(r'\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"', line)
            if match:
                files[match[1]] = match[2]
        elif line.startswith(".loc"):
            parts = line.split()
            at = int(parts[2])
            place = at if at and files.get(parts[1]) == file else None
        elif _TEXT.match(line):
            in_text = True
        elif line.startswith((".section", ".data", ".bss", ".rodata", ".const")):
            in_text = False
        elif not line or not in_text or line.startswith("#"):
            continue
        elif line.endswith(":"):
            if not line.startswith((".L", "L")):
                place = None
            lines.append((line, None, True))
        elif not line.startswith("."):
            used.update(_WORD.findall(line))
            lines.append(("    " + line.replace("\t", " ", 1).expandtabs(4), place, False))
    return [
        (shown, at)
        for shown, at, label in lines
        if not label or not shown.startswith((".L", "Ltmp", "Lfunc")) or shown[:-1] in used
    ]
