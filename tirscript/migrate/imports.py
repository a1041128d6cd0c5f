"""Import statements of tvm and tirscript, and how names that come from them are written afterwards."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from .edits import Edit, Positions
from .eras import spelled
from .scopes import Names

Statement = ast.Import | ast.ImportFrom


class Item(NamedTuple):
    """One name that a statement imports: from a module, or (``name`` empty) the module itself."""

    module: str
    name: str
    alias: str | None

    def text(self) -> str:
        what = self.name or self.module
        return what if self.alias is None else f"{what} as {self.alias}"


class Imports:
    """The plan: for each imported name, the modules that its uses need now and what they are called."""

    def __init__(self, names: Names, era: str, nodes: list[ast.AST]) -> None:
        self.names = names
        self.era = era
        self.root = "tirscript" if era == "tirscript" else "tvm"
        self.statements = [n for n in nodes if isinstance(n, Statement) and _ours(n)]
        # Alias and new path of a module or object, and the name that it has in the file.
        self._local: dict[tuple[ast.alias, str], str] = {}
        self._wanted: dict[ast.alias, dict[str, None]] = {}
        self._paths: dict[ast.alias, str] = {}
        self._taken = set(names.all_names)
        for statement in self.statements:
            for alias in statement.names:
                self._paths[alias] = _path(statement, alias)
                self._wanted[alias] = {}

    def holds(self, alias: Any) -> bool:
        return alias in self._paths

    def base(self, alias: ast.alias, new: str) -> str:
        """What the use of ``alias`` that is now ``new`` has to import: a prefix of ``new``."""
        own = spelled(self._paths[alias], self.era).path
        if new == own or new.startswith(own + "."):
            return own
        depth = self._paths[alias].count(".") + 1
        return ".".join(new.split(".")[:depth])

    def want(self, alias: ast.alias, base: str) -> None:
        self._wanted[alias].setdefault(base)

    def settle(self) -> None:
        """Give every import its name, now that all uses are known."""
        for statement in self.statements:
            for alias in statement.names:
                own = spelled(self._paths[alias], self.era).path
                wanted = self._wanted[alias]
                if not wanted:
                    wanted.setdefault(own)
                for base in sorted(wanted, key=lambda b: b != own):
                    self._local[alias, base] = self._name(statement, alias, base, own)

    def _name(self, statement: Statement, alias: ast.alias, base: str, own: str) -> str:
        old = alias.asname or (
            alias.name if isinstance(statement, ast.ImportFrom) else alias.name.split(".")[0]
        )
        first = not any(a is alias for a, _ in self._local)
        if alias.asname and first:
            return "tvm" if isinstance(statement, ast.Import) and old == "tirscript" else old
        if isinstance(statement, ast.Import):
            # `import tvm.testing` binds the package.
            return "tvm" if self._free("tvm", old, base) else old
        last = base.rpartition(".")[2]
        if last == old or self._free(last, old, base):
            self._taken.add(last)
            return last
        return old if first else f"{old}_{last}"

    def _free(self, name: str, old: str, base: str) -> bool:
        """Whether ``name`` may stand for ``base``: nothing else of the file has it."""
        if name == old or name not in self._taken:
            return True
        if any(b == base and n == name for (_, b), n in self._local.items()):
            return True
        bound = [b for s in set(self.names.where.values()) for b in s.bindings.get(name, [])]
        return bool(bound) and all(
            b.kind == "import" and b.path is not None and spelled(b.path, self.era).path == base
            for b in bound
        )

    def local(self, alias: ast.alias, base: str) -> str:
        return self._local[alias, base]

    def root_name(self) -> str | None:
        """The name of the whole package in this file, if it has one."""
        for (_, base), name in self._local.items():
            if base == "tvm":
                return name
        return None

    # ---- the statements

    def edits(self, at: Positions) -> list[Edit]:
        out: list[Edit] = []
        for s in self.statements:
            out += self._import(s, at) if isinstance(s, ast.Import) else self._from(s, at)
        return out

    def _real(self, path: str) -> str:
        return self.root + path[3:]

    def _import(self, s: ast.Import, at: Positions) -> list[Edit]:
        items: dict[str, None] = {}
        for alias in s.names:
            if not _is_ours(alias.name):
                items.setdefault(Item(alias.name, "", alias.asname).text())
                continue
            if alias.asname:
                for base in self._wanted[alias]:
                    name = self._local[alias, base]
                    items.setdefault(self._plain(self._real(base), name))
                continue
            name = self._local[alias, "tvm"]
            full = _rooted(alias.name)
            if full == "tvm":
                items.setdefault(self._plain(self.root, name))
                continue
            new = spelled(full, self.era).path
            # `import tirscript.testing` binds `tirscript`, and the file says `tvm`.
            if name != self.root and not self._bound_elsewhere(s, name):
                items.setdefault(self._plain(self.root, name))
            items.setdefault(self._real(new))
        return _replaced(at, s, [f"import {', '.join(items)}"])

    def _plain(self, module: str, name: str) -> str:
        return module if module == name else f"{module} as {name}"

    def _bound_elsewhere(self, s: ast.Import, name: str) -> bool:
        """Whether the package itself has that name by another statement of the same scope."""
        for b in self.names.find(name, self.names.where[s]) + self.names.find(
            "tirscript", self.names.where[s]
        ):
            alias = b.node
            if b.kind == "import" and isinstance(b.statement, ast.Import):
                if alias.name in ("tvm", "tirscript") and self._local.get((alias, "tvm")) == name:
                    return True
        return False

    def _from(self, s: ast.ImportFrom, at: Positions) -> list[Edit]:
        items: list[list[Item]] = []
        for alias in s.names:
            if alias.name == "*":
                return []
            group = []
            for base in self._wanted[alias]:
                module, _, name = base.rpartition(".")
                local = self._local[alias, base]
                if not module:  # the package itself, by `from`
                    return []
                group.append(Item(self._real(module), name, None if local == name else local))
            items.append(group)
        every = [i for group in items for i in group]
        modules = list(dict.fromkeys([i.module for i in every]))
        if len(modules) == 1 and len({*every}) == len(every):
            found = re.match(r"from\s+([\w.\s]+?)\s+import\b", at.segment(s))
            assert found is not None
            start = at.start(s)
            out = [Edit(start + found.start(1), start + found.end(1), modules[0])]
            for alias, group in zip(s.names, items, strict=True):
                out.append(Edit(at.start(alias), at.end(alias), ", ".join([i.text() for i in group])))
            return [e for e in out if at.text[e.start : e.end] != e.new]
        lines = []
        for module in modules:
            shown = dict.fromkeys([i.text() for i in every if i.module == module])
            lines.append(f"from {module} import {', '.join(shown)}")
        return _replaced(at, s, lines)


def _replaced(at: Positions, s: Statement, statements: list[str]) -> list[Edit]:
    start, end = at.start(s), at.end(s)
    if statements == [at.text[start:end]]:
        return []
    place = at.place(start)
    alone = not at.text[start - place[1] + 1 : start].strip()
    # On a line of its own each gets a line; after `if x:` or a semicolon they share it.
    between = "\n" + at.indent(start) if alone and not at.text[end:].lstrip(" ").startswith(";") else "; "
    return [Edit(start, end, between.join(statements))]


def _is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] in ("tvm", "tirscript")


def _ours(s: Statement) -> bool:
    if isinstance(s, ast.ImportFrom):
        return not s.level and _is_ours(s.module)
    return any(_is_ours(a.name) for a in s.names)


def _rooted(path: str) -> str:
    _, dot, rest = path.partition(".")
    return f"tvm{dot}{rest}"


def _path(s: Statement, alias: ast.alias) -> str:
    """The path that the name bound by ``alias`` stands for."""
    if isinstance(s, ast.ImportFrom):
        return _rooted(f"{s.module}.{alias.name}")
    return _rooted(alias.name) if alias.asname else "tvm"
