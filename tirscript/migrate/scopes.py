"""What the names of a file stand for: modules and objects of tvm or tirscript, schedules, compiled modules.

A name is followed through imports, assignments and scopes.  Where two bindings of one scope disagree, it
stands for nothing, so that nothing is rewritten on a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

ROOTS = ("tvm", "tirscript")

# What calls of these make.
_MAKERS = {
    "tvm.tir.Schedule": "Schedule", "tvm.s_tir.Schedule": "Schedule", "tvm.Schedule": "Schedule",
    "tvm.tir.schedule.Schedule": "Schedule", "tvm.s_tir.schedule.Schedule": "Schedule",
    "tvm.build": "Module", "tvm.driver.build": "Module", "tvm.tirx.build": "Module",
    "tvm.runtime.load_module": "Module",
    "tvm.compile": "Executable", "tvm.driver.compile": "Executable",
    "tvm.nd.array": "Tensor", "tvm.nd.empty": "Tensor", "tvm.runtime.tensor": "Tensor",
    "tvm.runtime.empty": "Tensor",
}  # fmt: skip
OTHER = "other"


class Scope:
    __slots__ = ("bindings", "elsewhere", "kind", "parent")

    def __init__(self, kind: str, parent: Scope | None) -> None:
        self.kind = kind
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.elsewhere: dict[str, str] = {}  # names declared global or nonlocal

    def bind(self, name: str, binding: Binding) -> None:
        where = self
        if name in self.elsewhere:
            outer = self.parent
            while outer is not None and (outer.kind == "class" or self.elsewhere[name] == "global"):
                if outer.parent is None:
                    break
                outer = outer.parent
            where = outer or self
        where.bindings.setdefault(name, []).append(binding)


class Binding:
    """How a name gets its meaning: an import, an expression, a parameter, a definition, anything else."""

    __slots__ = ("kind", "node", "path", "scope", "statement")

    def __init__(
        self, kind: str, scope: Scope, node: Any = None, path: str | None = None, statement: Any = None
    ) -> None:
        self.kind = kind
        self.scope = scope
        self.node = node
        self.path = path
        self.statement = statement


class Names(ast.NodeVisitor):
    """The scopes of a file, and the scope of every name in it."""

    def __init__(self, tree: ast.AST) -> None:
        self.module = self.scope = Scope("module", None)
        self.where: dict[ast.AST, Scope] = {}
        self.attributes: dict[tuple[Scope, str], list[ast.expr]] = {}  # self.NAME = value, by class
        self.methods: set[str] = set()  # names of functions defined in classes of the file
        self.stars: list[ast.ImportFrom] = []
        self.all_names: set[str] = set()
        self._resolving: set[int] = set()
        self.visit(tree)

    # ---- building

    def visit(self, node: ast.AST) -> None:
        self.where[node] = self.scope
        super().visit(node)

    def _inside(self, kind: str, *groups: Iterable[ast.AST] | ast.AST) -> None:
        outer, self.scope = self.scope, Scope(kind, self.scope)
        try:
            self._each(groups)
        finally:
            self.scope = outer

    def _each(self, groups: Iterable[Any]) -> None:
        for group in groups:
            for node in [group] if isinstance(group, ast.AST) else group:
                self.visit(node)

    def visit_Import(self, n: ast.Import) -> None:
        for alias in n.names:
            root = alias.name.partition(".")[0]
            name = alias.asname or root
            path = (alias.name if alias.asname else root) if root in ROOTS else None
            self.all_names.add(name)
            self.scope.bind(name, Binding("import", self.scope, alias, _rooted(path), n))

    def visit_ImportFrom(self, n: ast.ImportFrom) -> None:
        module = n.module or ""
        ours = not n.level and module.partition(".")[0] in ROOTS
        for alias in n.names:
            if alias.name == "*":
                if ours:
                    self.stars.append(n)
                continue
            name = alias.asname or alias.name
            path = _rooted(f"{module}.{alias.name}") if ours else None
            self.all_names.add(name)
            self.scope.bind(name, Binding("import", self.scope, alias, path, n))

    def visit_FunctionDef(self, n: ast.FunctionDef) -> None:
        self._define(n)

    def visit_AsyncFunctionDef(self, n: ast.AsyncFunctionDef) -> None:
        self._define(n)

    def _define(self, n: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if self.scope.kind == "class":
            self.methods.add(n.name)
        self._bind(n.name, Binding("def", self.scope, n))
        args = n.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [a for a in (args.vararg, args.kwarg) if a is not None]
        self._each([n.decorator_list, args.defaults, [d for d in args.kw_defaults if d is not None]])
        self._each([[a.annotation for a in every if a.annotation is not None]])
        if n.returns is not None:
            self.visit(n.returns)
        outer, self.scope = self.scope, Scope("function", self.scope)
        for a in every:
            self.where[a] = self.scope
            self._bind(a.arg, Binding("parameter", self.scope, a))
        self._each([n.body])
        self.scope = outer

    def visit_Lambda(self, n: ast.Lambda) -> None:
        args = n.args
        self._each([args.defaults, [d for d in args.kw_defaults if d is not None]])
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [a for a in (args.vararg, args.kwarg) if a is not None]
        outer, self.scope = self.scope, Scope("function", self.scope)
        for a in every:
            self._bind(a.arg, Binding("parameter", self.scope, a))
        self.visit(n.body)
        self.scope = outer

    def visit_ClassDef(self, n: ast.ClassDef) -> None:
        self._bind(n.name, Binding("def", self.scope, n))
        self._each([n.decorator_list, n.bases, [k.value for k in n.keywords]])
        self._inside("class", n.body)

    def _comprehension(self, n: Any) -> None:
        first = n.generators[0].iter
        self.visit(first)
        outer, self.scope = self.scope, Scope("function", self.scope)
        for g in n.generators:
            self.visit(g.target)
            if g.iter is not first:
                self.visit(g.iter)
            self._each([g.ifs])
        self._each([[n.key, n.value] if isinstance(n, ast.DictComp) else [n.elt]])
        self.scope = outer

    def visit_ListComp(self, n: ast.ListComp) -> None:
        self._comprehension(n)

    def visit_SetComp(self, n: ast.SetComp) -> None:
        self._comprehension(n)

    def visit_GeneratorExp(self, n: ast.GeneratorExp) -> None:
        self._comprehension(n)

    def visit_DictComp(self, n: ast.DictComp) -> None:
        self._comprehension(n)

    def visit_Global(self, n: ast.Global) -> None:
        self.scope.elsewhere.update(dict.fromkeys(n.names, "global"))

    def visit_Nonlocal(self, n: ast.Nonlocal) -> None:
        self.scope.elsewhere.update(dict.fromkeys(n.names, "nonlocal"))

    def visit_Assign(self, n: ast.Assign) -> None:
        self.visit(n.value)
        for target in n.targets:
            self._target(target, n.value)

    def visit_AnnAssign(self, n: ast.AnnAssign) -> None:
        self.visit(n.annotation)
        if n.value is not None:
            self.visit(n.value)
        self._target(n.target, n.value)

    def visit_NamedExpr(self, n: ast.NamedExpr) -> None:
        self.visit(n.value)
        self._target(n.target, n.value)

    def _target(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.where[target] = self.scope
            self._bind(target.id, Binding("value", self.scope, value))
            return
        if isinstance(target, (ast.Tuple, ast.List)):
            values: list[ast.expr | None] = [None] * len(target.elts)
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                values = list(value.elts)
            starred = any(isinstance(t, ast.Starred) for t in target.elts)
            for n, (t, v) in enumerate(zip(target.elts, values, strict=True)):
                if isinstance(t, ast.Name) and isinstance(value, ast.Call) and not starred:
                    self.where[t] = self.scope
                    self._bind(t.id, Binding("item", self.scope, (value, n)))
                else:
                    self._target(t, v)
            return
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and value is not None:
            holder = self._class_of(target.value.id)
            if holder is not None:
                self.attributes.setdefault((holder, target.attr), []).append(value)
        self.visit(target)

    def _class_of(self, name: str) -> Scope | None:
        """The class whose method has ``name`` as its first parameter: ``self``."""
        s: Scope | None = self.scope
        while s is not None:
            if s.kind == "function" and s.parent is not None and s.parent.kind == "class":
                return s.parent if next(iter(s.bindings), None) == name else None
            s = s.parent
        return None

    def visit_Name(self, n: ast.Name) -> None:
        self.all_names.add(n.id)
        if not isinstance(n.ctx, ast.Load):
            self._bind(n.id, Binding("other", self.scope))

    def visit_ExceptHandler(self, n: ast.ExceptHandler) -> None:
        if n.name:
            self._bind(n.name, Binding("other", self.scope))
        self.generic_visit(n)

    def _bind(self, name: str, binding: Binding) -> None:
        self.all_names.add(name)
        self.scope.bind(name, binding)

    # ---- asking

    def find(self, name: str, scope: Scope) -> list[Binding]:
        """The bindings that ``name`` has where it is read; none for what Python or a magic provides."""
        s: Scope | None = scope
        first = True
        while s is not None:
            if name in s.bindings and (first or s.kind != "class"):
                return s.bindings[name]
            first = False
            s = s.parent
        return []

    def path(self, n: ast.AST) -> str | None:
        """The dotted path, from ``tvm`` on, of what an expression names; None where it is none of tvm's."""
        if isinstance(n, ast.Attribute):
            base = self.path(n.value)
            return None if base is None else f"{base}.{n.attr}"
        if not isinstance(n, ast.Name) or n not in self.where:
            return None
        found = {self._path_of(b) for b in self.find(n.id, self.where[n])}
        return found.pop() if len(found) == 1 else None

    def _path_of(self, b: Binding) -> str | None:
        if b.kind == "import":
            return b.path
        if b.kind != "value" or not isinstance(b.node, (ast.Name, ast.Attribute)) or id(b) in self._resolving:
            return None
        self._resolving.add(id(b))
        try:
            return self.path(b.node)
        finally:
            self._resolving.discard(id(b))

    def kind(self, n: ast.AST | None) -> str | None:
        """What kind of object an expression is: "Schedule", "Module", ..., ``OTHER``, or None: not known."""
        if isinstance(n, ast.Call):
            path = self.path(n.func)
            if path is not None:
                return _MAKERS.get(path, OTHER)
            if isinstance(n.func, ast.Attribute):
                if n.func.attr == "copy" and self.kind(n.func.value) == "Schedule":
                    return "Schedule"
                return None
            if isinstance(n.func, ast.Name):
                bound = self.find(n.func.id, self.where.get(n.func, self.module))
                if bound and all(b.kind == "def" for b in bound):
                    return self._only({self._kind_of_call(b) for b in bound})
            return None
        if isinstance(n, ast.Subscript):
            # `lib.imported_modules[0]`
            devices = isinstance(n.value, ast.Attribute) and n.value.attr in ("imported_modules", "imports")
            return self.kind(n.value) if devices else None
        if isinstance(n, ast.Attribute):
            if n.attr in ("mod", "imported_modules", "imports"):
                if self.kind(n.value) in ("Module", "Executable"):
                    return "Module"
            if isinstance(n.value, ast.Name):
                scope = self.where.get(n.value)
                for (holder, attr), values in self.attributes.items():
                    if attr == n.attr and scope is not None and self._holds(holder, scope, n.value.id):
                        return self._only({self.kind(v) for v in values})
            return OTHER if self.path(n) is not None else None
        if isinstance(n, ast.Name):
            if n not in self.where:
                return None
            bound = self.find(n.id, self.where[n])
            return self._only({self._kind_of(b) for b in bound}) if bound else None
        if isinstance(n, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda)):
            return OTHER
        return None

    def _kind_of_call(self, b: Binding, item: int | None = None) -> str | None:
        """What a call of a class or function of the file gives, or one of several that it gives."""
        if isinstance(b.node, ast.ClassDef):
            return OTHER if item is None else None
        if not isinstance(b.node, ast.FunctionDef) or id(b) in self._resolving:
            return None
        self._resolving.add(id(b))
        try:
            given = [r.value for r in _returns(b.node)]
            if item is not None:
                given = [
                    v.elts[item] if isinstance(v, ast.Tuple) and item < len(v.elts) else None for v in given
                ]
            return self._only({self.kind(v) for v in given}) if given else None
        finally:
            self._resolving.discard(id(b))

    @staticmethod
    def _only(kinds: set[str | None]) -> str | None:
        return kinds.pop() if len(kinds) == 1 else None

    def _holds(self, holder: Scope, scope: Scope, name: str) -> bool:
        s: Scope | None = scope
        while s is not None:
            if s.kind == "function" and s.parent is holder:
                return next(iter(s.bindings), None) == name
            s = s.parent
        return False

    def _kind_of(self, b: Binding) -> str | None:
        if b.kind == "value":
            if id(b) in self._resolving:
                return None
            self._resolving.add(id(b))
            try:
                return self.kind(b.node)
            finally:
                self._resolving.discard(id(b))
        if b.kind == "item":
            call, item = b.node
            name = call.func
            bound = self.find(name.id, self.where[name]) if isinstance(name, ast.Name) else []
            if bound and all(x.kind == "def" for x in bound):
                return self._only({self._kind_of_call(x, item) for x in bound})
            return None
        if b.kind == "parameter":
            annotation = b.node.annotation if isinstance(b.node, ast.arg) else None
            path = None if annotation is None else self.path(annotation)
            return _MAKERS.get(path or "")
        if b.kind == "import" or b.kind == "def":
            return OTHER
        return None


def _returns(function: ast.FunctionDef) -> list[ast.Return]:
    """The return statements of a function itself."""
    out = []
    todo: list[ast.AST] = [*function.body]
    while todo:
        n = todo.pop()
        if isinstance(n, ast.Return):
            out.append(n)
        elif not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(n)
    return out


def _rooted(path: str | None) -> str | None:
    """The path with ``tvm`` as its root, whichever package it was written with."""
    if path is None:
        return None
    _, dot, rest = path.partition(".")
    return f"tvm{dot}{rest}"


__all__ = ["OTHER", "ROOTS", "Binding", "Names", "Scope"]
