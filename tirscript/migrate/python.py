"""The text of a Python file from one era to another."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import NamedTuple

from .bodies import Bodies
from .edits import Edit, Positions, apply
from .eras import ERAS, KIND_OF, METHODS, NO_METHOD, TELLING, key, spelled
from .imports import Imports
from .scopes import OTHER, Names
from .targets import target_edits
from .there import is_there


class Remark(NamedTuple):
    """What was not rewritten (``certain``), or was on an assumption; the place counts from 1."""

    line: int
    column: int
    name: str
    why: str
    certain: bool = True


class Migrated(NamedTuple):
    """The new text, and what it could not be given."""

    text: str
    remarks: list[Remark]

    @property
    def complete(self) -> bool:
        """Whether everything was rewritten that needed to be."""
        return not any(r.certain for r in self.remarks)


class Unreadable(ValueError):
    """A text that is no Python."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


def migrate_text(text: str, to: str) -> Migrated:
    """The text of a Python file in the spellings of ``to``, one of ``ERAS``."""
    return edited(text, to, read(text))


def read(text: str) -> ast.Module:
    """The tree of a text; top-level ``await`` is allowed, as in notebooks."""
    try:
        tree: ast.Module = compile(
            text, "<text>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
    except SyntaxError as e:
        raise Unreadable(e.msg or "invalid syntax", e.lineno or 1, e.offset or 1) from None
    except (ValueError, RecursionError, MemoryError) as e:
        raise Unreadable(str(e) or type(e).__name__, 1, 1) from None
    return tree


def edited(text: str, to: str, tree: ast.Module) -> Migrated:
    """``text``, whose tree is ``tree``, with the edits that take it to the era ``to``."""
    if to not in ERAS:
        raise ValueError(f"there is no era {to!r}; there are {', '.join(ERAS)}")
    from tirscript.diagnostics import deep_recursion

    with deep_recursion():
        work = _Migration(text, to, tree)
        work.run()
    return Migrated(apply(text, work.edits), sorted(dict.fromkeys(work.remarks)))


class _Migration:
    def __init__(self, text: str, era: str, tree: ast.Module) -> None:
        self.era = era
        self.at = Positions(text)
        self.quoted = _open_annotations(tree, self.at)
        self.tree = tree
        self.names = Names(tree)
        self.bodies = Bodies(self.names, era, tree, self)
        self.imports = Imports(self.names, era, self.bodies.nodes)
        self.edits: list[Edit] = []
        self.remarks: list[Remark] = []
        self._uses: list[tuple[ast.expr, str]] = []

    # ---- what the parts report

    def edit(self, start: int, end: int, new: str) -> None:
        if self.at.text[start:end] != new:
            self.edits.append(Edit(start, end, new))

    def cannot(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword, name: str, why: str) -> None:
        self._remark(self.at.start(node), name, why, True)

    def note(self, node: ast.expr | ast.stmt, name: str, why: str) -> None:
        self._remark(self.at.start(node), name, why, False)

    def _remark(self, offset: int, name: str, why: str, certain: bool) -> None:
        self.remarks.append(Remark(*self.at.place(offset), name, why, certain))

    # ---- the work

    def run(self) -> None:
        self._find(self.tree)
        self._uses.sort(key=lambda use: self.at.start(use[0]))
        for star in self.names.stars:
            self.cannot(star, f"from {star.module} import *", "names that a star brings are not followed")
        for node, path in self._uses:
            new = self._new(node, path)
            for alias in self._aliases(node):
                if new is not None and not new.startswith("builtins."):
                    self.imports.want(alias, self.imports.base(alias, new))
        self._whole_names()
        self.imports.settle()
        for node, path in self._uses:
            new = self._new(node, path)
            if new is not None:
                self._spell(node, new)
        self._check_imports()
        self.edits += self.imports.edits(self.at)
        for n in self.bodies.nodes:
            if isinstance(n, ast.Attribute) and self.names.path(n) is None:
                self._method(n)
            elif isinstance(n, ast.Call):
                self._keys(n)
                target_edits(n, self.names, self.era, self)
            elif isinstance(n, ast.Subscript):
                self._attribute_key(n)
        self.bodies.run()
        for node, path in self._uses:
            self._missing(node, path)

    def _find(self, n: ast.AST) -> None:
        """Every longest dotted name that is one of tvm's."""
        todo = [n]
        while todo:
            n = todo.pop()
            if isinstance(n, (ast.Attribute, ast.Name)):
                path = self.names.path(n)
                if path is not None and isinstance(n.ctx, ast.Load):
                    if n not in self.bodies.skip:
                        self._uses.append((n, path))
                    continue
            todo += ast.iter_child_nodes(n)

    def _new(self, node: ast.expr, path: str) -> str | None:
        """The new path of a use; None where it stays as it is."""
        if self.bodies.keeps(node, path):
            return self.bodies.kept_path(path)
        special = self.bodies.path(node, path)
        if special is not None:
            return special
        new = spelled(path, self.era)
        if not new.why:
            return new.path
        # The name is not there; its module still gets its new name.
        parent, _, last = path.rpartition(".")
        return f"{spelled(parent, self.era).path}.{last}" if parent else None

    def _aliases(self, node: ast.expr) -> list[ast.alias]:
        base = _base(node)
        bound = self.names.find(base.id, self.names.where[base])
        return [b.node for b in bound if b.kind == "import" and self.imports.holds(b.node)]

    def _whole_names(self) -> None:
        """A name whose bindings disagree keeps the module that it had."""
        known = {id(_base(node)) for node, _ in self._uses}
        known |= {id(_base(n)) for n in self.bodies.skip if isinstance(n, ast.expr)}
        for n, scope in self.names.where.items():
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in known:
                for b in self.names.find(n.id, scope):
                    if b.kind == "import" and b.path is not None and self.imports.holds(b.node):
                        self.imports.want(b.node, self.imports.base(b.node, spelled(b.path, self.era).path))
                        self.cannot(
                            n, n.id, "it is bound in several ways here: which is meant is not decided"
                        )
                        break

    def _spell(self, node: ast.expr, new: str) -> None:
        base = _base(node)
        if new.startswith("builtins."):
            self._replace(node, new.removeprefix("builtins."))
            return
        aliases = self._aliases(node)
        if aliases:
            start = self.imports.base(aliases[0], new)
            self._replace(node, self.imports.local(aliases[0], start) + new[len(start) :])
            return
        # An alias by assignment: `tir = tvm.tir`.
        whole = self.names.path(base)
        assert whole is not None
        own = spelled(whole, self.era).path
        if new == own or new.startswith(own + "."):
            self._replace(node, base.id + new[len(own) :])
            return
        root = self.imports.root_name()
        if root is None:
            self.cannot(node, ast.unparse(node), f"its new place is {new}, and this file does not import tvm")
        else:
            self._replace(node, root + new[3:])

    def _replace(self, node: ast.expr, new: str) -> None:
        start, end = self.at.start(node), self.at.end(node)
        old = self.at.text[start:end]
        if old == ast.unparse(node):
            self.edit(start, end, new)
            return
        # Spread over lines or in parentheses: name by name.
        parts = new.split(".")
        chain: list[ast.expr] = [node]
        while isinstance(chain[-1], ast.Attribute):
            chain.append(chain[-1].value)
        if len(chain) != len(parts):
            self.cannot(node, ast.unparse(node), f"it is written over several lines; now it is {new}")
            return
        for n, part in zip(chain, reversed(parts), strict=True):
            length = len(n.attr) if isinstance(n, ast.Attribute) else len(n.id)  # type: ignore[attr-defined]
            self.edit(self.at.end(n) - length, self.at.end(n), part)

    def _missing(self, node: ast.expr, path: str) -> None:
        """Say what the new era has not."""
        shown = ast.unparse(node)
        new = spelled(path, self.era)
        if new.why and not self.bodies.handles(node, path):
            self.cannot(node, shown, new.why)
        elif self.era == "tirscript" and not self.bodies.handles(node, path):
            why = is_there(new.path)
            if why:
                self.cannot(node, shown, why)

    def _check_imports(self) -> None:
        used = {id(a) for node, _ in self._uses for a in self._aliases(node)}
        for s in self.imports.statements:
            for alias in s.names:
                if alias.name == "*" or not self.imports.holds(alias):
                    continue
                path = f"{s.module}.{alias.name}" if isinstance(s, ast.ImportFrom) else alias.name
                path = "tvm" + path[path.index(".") :] if "." in path else "tvm"
                new = spelled(path, self.era)
                why = new.why
                if not why and self.era == "tirscript":
                    why = is_there(new.path)
                if why and (id(alias) not in used or new.why):
                    self.cannot(alias, path, why)

    def space_name(self, head: ast.expr) -> str:
        """How ``T`` is written from now on, where ``T.prim_func`` was ``head``."""
        assert isinstance(head, ast.Attribute)
        path = self.names.path(head)
        new = self._new(head, path or "") or ""
        aliases = self._aliases(head)
        if not aliases:
            return ast.unparse(head.value)
        start = self.imports.base(aliases[0], new)
        return (self.imports.local(aliases[0], start) + new[len(start) :]).rpartition(".")[0]

    # ---- methods, keys

    def _method(self, n: ast.Attribute) -> None:
        kind = self.names.kind(n.value)
        table = METHODS[self.era]
        if kind in ("Module", "Executable") and n.attr == "mod" and self._drops_mod(kind):
            self.edit(self.at.end(n.value), self.at.end(n), "")
            return
        wanted = kind
        if kind is None and n.attr in TELLING:
            wanted = KIND_OF[n.attr]
        if wanted is None or wanted == OTHER:
            return
        why = NO_METHOD[self.era].get((wanted, n.attr))
        new = table.get((wanted, n.attr))
        if why and kind is not None:
            self.cannot(n, n.attr, why)
        if new is None:
            return
        if kind is None:
            what = ast.unparse(n.value)
            if n.attr in self.names.methods:
                self.cannot(
                    n,
                    n.attr,
                    f"a class of this file has a method of that name: what `{what}` is is not known",
                )
                return
            if not self.imports.statements:
                self.cannot(n, n.attr, f"what `{what}` is is not known, and the file imports nothing of tvm")
                return
            self.note(n, n.attr, f"`{what}` is taken for a {wanted}")
        end = self.at.end(n)
        self.edit(end - len(n.attr), end, new)

    def _drops_mod(self, kind: str) -> bool:
        return self.era == "course-2022" or (self.era == "tvm-0.27" and kind == "Module")

    def _keys(self, n: ast.Call) -> None:
        path = self.names.path(n.func) or ""
        name = path.rpartition(".")[2] or (n.func.attr if isinstance(n.func, ast.Attribute) else "")
        of_script = path.startswith(("tvm.script.tir.", "tvm.script.tirx."))
        if of_script or name in ("with_attr", "with_attrs", "PassContext"):
            for value in [
                *n.args[:1],
                *[k.value for k in n.keywords if k.arg in ("annotations", "config", "attrs")],
            ]:
                if isinstance(value, ast.Dict):
                    for k in value.keys:
                        self._key(k)
        if name == "with_attr" and n.args:
            self._key(n.args[0])
        if name in ("annotate", "unannotate", "call_intrin") and len(n.args) > 1:
            self._key(n.args[1])
        if path == "tvm.ir.Op.get" and n.args:
            self._key(n.args[0])

    def _attribute_key(self, n: ast.Subscript) -> None:
        if isinstance(n.value, ast.Attribute) and n.value.attr == "attrs":
            self._key(n.slice)

    def _key(self, n: ast.expr | None) -> None:
        if isinstance(n, ast.Constant) and isinstance(n.value, str):
            new = key(n.value, self.era)
            start, end = self.at.start(n), self.at.end(n)
            if new != n.value and self.at.text[start + 1 : end - 1] == n.value:
                self.edit(start + 1, end - 1, new)


def _base(node: ast.expr) -> ast.Name:
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node


# ---- annotations that are strings


def _open_annotations(tree: ast.Module, at: Positions) -> set[ast.expr]:
    """Put the trees of annotations that are strings in the strings' places; these trees."""
    opened = set()
    for n in ast.walk(tree):
        if isinstance(n, (ast.arg, ast.AnnAssign)) and isinstance(n.annotation, ast.Constant):
            inner = _opened(n.annotation, at)
            if inner is not n.annotation:
                opened.add(inner)
            n.annotation = inner
    return opened


def _opened(n: ast.Constant, at: Positions) -> ast.expr:
    text = at.segment(n)
    if not isinstance(n.value, str) or text[1:-1] != n.value or "\n" in n.value or n.value.startswith(" "):
        return n
    try:
        tree = ast.parse(n.value, mode="eval").body
    except SyntaxError:
        return n
    for m in ast.walk(tree):
        if isinstance(m, ast.expr | ast.keyword):
            m.lineno = n.lineno
            m.end_lineno = n.lineno
            m.col_offset += n.col_offset + 1
            m.end_col_offset = (m.end_col_offset or 0) + n.col_offset + 1
    return tree


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a Python file and its encoding."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeDecodeError) as e:
        raise Unreadable(re.sub(r"\s+", " ", str(e)), 1, 1) from None


__all__ = ["Migrated", "Remark", "Unreadable", "decoded", "edited", "migrate_text", "read"]
