"""Stub files for editors and type checkers, written from signatures and docstrings at run time.

``python -m tirscript.testing.stubs`` writes those of the package root, of ``T`` and of ``I``, and of the
modules whose names are loaded on first use, which editors cannot follow; with ``--check`` it only says
whether they are what it would write.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent
_HEADER = "# Written by `python -m tirscript.testing.stubs`: do not edit.\n"


class _Writer:
    """The stub of one module."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.names = public_names(module)
        self.imports: set[str] = set()
        self.body: list[str] = []

    def text(self) -> str:
        for name in self.names:
            self._name(name, getattr(self.module, name))
        doc = inspect.getdoc(self.module)
        return "\n".join(
            [_HEADER + (_docstring(doc, "") if doc else ""), *sorted(self.imports), "", *self.body, ""]
        )

    # ---- definitions

    def _name(self, name: str, value: Any) -> None:
        if isinstance(value, types.ModuleType):
            self.body.append(f"{name}: {self._type(types.ModuleType)}")
        elif inspect.isclass(value):
            self._class(name, value)
        elif inspect.isroutine(value):
            self._function(name, value, value)
        elif callable(value) and hasattr(type(value), "__getitem__"):
            self._annotation_class(name, value)
        elif callable(value):
            self._function(name, type(value).__call__, value, method=True)
        else:
            self.body.append(f"{name}: {self._type(type(value))}")

    def _function(self, name: str, function: Any, documented: Any, *, method: bool = False) -> None:
        parameters, result = self._signature(function, skip_self=method)
        self.body += [f"def {name}({parameters}) -> {result}:", *self._doc(documented)]

    def _class(self, name: str, cls: type) -> None:
        self.body += [f"class {name}:", *self._doc(cls, ellipsis=False)]
        parameters, _ = self._signature(cls, skip_self=True)
        self.body.append(f"    def __init__(self{', ' if parameters else ''}{parameters}) -> None: ...")
        for key, value in vars(cls).items():
            function = value.__func__ if isinstance(value, staticmethod) else value
            if key.startswith("_") or not inspect.isfunction(function):
                continue
            parameters, result = self._signature(function, skip_self=False)
            if function is not value:
                self.body.append("    @staticmethod")
            self.body += [f"    def {key}({parameters}) -> {result}:", *self._doc(value, "        ")]

    def _annotation_class(self, name: str, value: Any) -> None:
        """What is an annotation, a call and a subscript: a class; a dtype is one of expressions."""
        from tirscript.ir import Expr

        parameters, _ = self._signature(type(value).__call__, skip_self=True)
        base = f"({self._type(Expr)})" if hasattr(value, "dtype") else ""
        self.body += [
            f"class {name}{base}:",
            *self._doc(value, ellipsis=False),
            f"    def __init__(self{', ' if parameters else ''}{parameters}) -> None: ...",
            f"    def __class_getitem__(cls, item: {self._any()}) -> {self._any()}: ...",
        ]

    def _node_class(self, name: str, value: Any) -> None:
        """A node class that is called with TVM's arguments: a subclass, as far as types are concerned."""
        node = value._node
        parameters, _ = self._signature(value._build, skip_self=False)
        base = self._import(node.__module__, node.__name__)
        self.body += [f"class {name}({base}):", *self._doc(value, ellipsis=False)]
        self.body.append(f"    def __init__(self{', ' if parameters else ''}{parameters}) -> None: ...")

    def _doc(self, value: Any, indent: str = "    ", *, ellipsis: bool = True) -> list[str]:
        doc = inspect.getdoc(value)
        return [
            *([_docstring(doc, indent)] if doc else []),
            *([f"{indent}..."] if ellipsis or not doc else []),
        ]

    # ---- signatures

    def _signature(self, function: Any, *, skip_self: bool) -> tuple[str, str]:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return f"*args: {self._any()}, **kwargs: {self._any()}", self._any()
        space = vars(sys.modules[function.__module__])
        parts: list[str] = []
        previous = None
        parameters = list(signature.parameters.values())
        if skip_self and parameters and parameters[0].name == "self":
            parameters = parameters[1:]
        for p in parameters:
            if (
                previous is not None
                and previous.kind is p.POSITIONAL_ONLY
                and p.kind is not p.POSITIONAL_ONLY
            ):
                parts.append("/")
            if p.kind is p.KEYWORD_ONLY and (
                previous is None or previous.kind not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
            ):
                parts.append("*")
            star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            if p.name == "self":
                parts.append("self")
            else:
                default = "" if p.default is p.empty else f" = {_default(p.default)}"
                parts.append(f"{star}{p.name}: {self._annotation(p.annotation, space)}{default}")
            previous = p
        if previous is not None and previous.kind is previous.POSITIONAL_ONLY:
            parts.append("/")
        return ", ".join(parts), self._annotation(signature.return_annotation, space)

    def _any(self) -> str:
        return self._import("typing", "Any")

    def _import(self, module: str, name: str) -> str:
        self.imports.add(f"from {module} import {name} as _{name}")
        return f"_{name}"

    def _type(self, cls: type) -> str:
        if cls is type(None):
            return "None"
        if cls is types.ModuleType:
            return self._import("types", "ModuleType")
        if cls.__module__ == "builtins" and hasattr(builtins, cls.__name__):
            if cls.__name__ not in self.names:
                return cls.__name__
            self.imports.add("import builtins as _builtins")
            return f"_builtins.{cls.__name__}"
        if cls.__module__ == self.module.__name__:
            return cls.__name__ if cls.__name__ in self.names else self._any()
        return self._import(cls.__module__, cls.__name__)

    def _annotation(self, annotation: Any, space: dict[str, Any]) -> str:
        """An annotation, its names imported under private ones so that completion lists only ours."""
        if annotation is inspect.Signature.empty:
            return self._any()
        if not isinstance(annotation, str):
            annotation = getattr(annotation, "__name__", str(annotation))
        try:
            tree = ast.parse(annotation, mode="eval")
        except SyntaxError:
            return self._any()
        return ast.unparse(_Rename(self, space).visit(tree))


class _Rename(ast.NodeTransformer):
    def __init__(self, writer: _Writer, space: dict[str, Any]) -> None:
        self.writer = writer
        self.space = space

    def visit_Name(self, n: ast.Name) -> ast.AST:
        writer, name = self.writer, n.id
        value = self.space.get(name, getattr(builtins, name, None))
        if name in ("None", "True", "False"):
            return n
        if inspect.isclass(value):
            return _parsed(writer._type(value))
        origin = getattr(value, "__module__", None)
        if value is not None and origin in ("typing", "collections.abc", "typing_extensions"):
            return _parsed(writer._import(origin, name))
        return _parsed(writer._any())  # known to type checkers only, or an alias

    def visit_Attribute(self, n: ast.Attribute) -> ast.AST:
        return _parsed(self.writer._any())


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _default(value: Any) -> str:
    return repr(value) if value is None or type(value) in (bool, int, str) else "..."


def _docstring(doc: str, indent: str) -> str:
    quoted = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if quoted.endswith('"'):
        quoted += " "
    text = f'"""{quoted}"""' if "\n" not in quoted else f'"""{quoted}\n"""'
    return textwrap.indent(text, indent, lambda line: bool(line.strip()))


def public_names(module: types.ModuleType) -> list[str]:
    """What completes after the module's name: ``__all__``, else what the package itself puts there."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    names = []
    for name, value in vars(module).items():
        where = getattr(value, "__module__", None) or type(value).__module__
        if (
            not name.startswith("_")
            and where.startswith("tirscript.")
            and not isinstance(value, types.ModuleType)
        ):
            names.append(name)
    return sorted(names)


def _root() -> str:
    """The stub of the package: what is loaded on first use, as plain imports."""
    import tirscript
    from tirscript.notyet import NotYet, NotYetModule

    lines = [f"from tirscript.notyet import {name} as _{name}" for name in ("NotYet", "NotYetModule")]
    rest = ["__version__: str"]
    where_is: dict[str, str] = vars(tirscript)["_WHERE"]
    for name in public_names(tirscript):
        value = getattr(tirscript, name)
        if isinstance(value, (NotYet, NotYetModule)):
            rest.append(f"{name}: _{type(value).__name__}")
            continue
        package, _, own = where_is.get(name, value.__name__.replace(".", ":")).partition(":")
        if own == name:
            # `import X as X` is how a stub says that a name is public.
            lines.append(f"from {package} import {name} as {name}")
        else:
            rest.append(f"{name} = {own}")
    doc = inspect.getdoc(tirscript)
    return "\n".join([_HEADER + (_docstring(doc, "") if doc else ""), *lines, "", *rest, ""])


# Modules that give names of other rooms on first use: their stubs say from where.
_FACADES = ("tirscript.nd", "tirscript.te", "tirscript.tir", "tirscript.tir.schedule")
# Second names of the same module.
_SECOND = {"tirscript.s_tir": "tirscript.tir", "tirscript.tirx": "tirscript.tir"}


def _facade(module: types.ModuleType) -> str:
    """The stub of a module that gives names of other rooms: imports of them."""
    from tirscript.notyet import NotYet, NotYetModule

    lines: set[str] = set()
    rest = []
    own = _Writer(module)
    for name in sorted(set(getattr(module, "__all__", dir(module)))):
        value = getattr(module, name)
        if isinstance(value, (NotYet, NotYetModule)):
            kind = type(value).__name__
            lines.add(f"from tirscript.notyet import {kind} as _{kind}")
            rest.append(f"{name}: _{kind}")
        elif isinstance(value, types.ModuleType):
            package, _, last = value.__name__.rpartition(".")
            if getattr(value, "__file__", None):
                lines.add(f"from {package} import {last} as {name}")
            else:  # made at run time
                rest.append(f"{name}: {own._type(types.ModuleType)}")
        elif type(value).__name__ == "NodeClass":
            own._node_class(name, value)
        elif (home := _home(value)) is not None and home[0] != module.__name__:
            lines.add(f"from {home[0]} import {home[1]} as {name}")
        elif home is not None or inspect.isroutine(value):
            own._name(name, value)
        else:
            rest.append(f"{name}: {own._type(type(value))}")
    doc = inspect.getdoc(module)
    head = _HEADER + (_docstring(doc, "") if doc else "")
    return "\n".join([head, *sorted(lines | own.imports), "", *rest, *own.body, ""])


def _home(value: Any) -> tuple[str, str] | None:
    """The module and the name under which a class or function is found again."""
    from tirscript.script import tir as T

    where, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(name, str):
        # An object that stands in `T`: a dtype, a buffer.
        name = next((n for n in public_names(T) if getattr(T, n) is value), None)
        return None if name is None else (T.__name__, name)
    if getattr(T, name, None) is value:
        return T.__name__, name
    if not isinstance(where, str) or getattr(importlib.import_module(where), name, None) is not value:
        return None
    return where, name


def generate() -> dict[Path, str]:
    """Path and text of every stub."""
    made = {PACKAGE / "__init__.pyi": _root()}
    for name in ("tirscript.script.tir", "tirscript.script.ir"):
        made[_path(name)] = _Writer(importlib.import_module(name)).text()
    for name in _FACADES:
        made[_path(name)] = _facade(importlib.import_module(name))
    for name, of in _SECOND.items():
        made[_path(name)] = f"{_HEADER}from {of} import *\n"
    return made


def _path(name: str) -> Path:
    """Where the stub of a module stands: beside its file."""
    folder = PACKAGE.joinpath(*name.split(".")[1:])
    return folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")


def stale() -> list[Path]:
    """The stubs that are not what ``generate`` gives."""
    return [p for p, text in generate().items() if not p.exists() or p.read_text(encoding="utf-8") != text]


def main(argv: list[str]) -> int:
    if argv == ["--check"]:
        old = stale()
        for path in old:
            print(f"{path.relative_to(PACKAGE.parent)} is not up to date")
        return 1 if old else 0
    for path, text in generate().items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(PACKAGE.parent)}: {text.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
