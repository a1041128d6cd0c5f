"""Modules of compiled functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tirscript.diagnostics import CallError, CallTypeError, CallValueError, TirscriptError, did_you_mean

from . import callbacks, compiled, jit, pool
from .call import Function, Native, make_callable
from .signature import Signature, Site
from .timing import Timing, measure


class UnknownFunctionError(CallError, KeyError):
    """A module has no function of that name."""

    default_code = "unknown-function"


# TVM's methods of modules that are files or parts of files.
_NOT_YET = frozenset((
    "as_text", "clear_imports", "export_library", "format", "get_property_mask", "import_module",
    "is_dso_exportable", "profile", "save", "to_bytes",
))  # fmt: skip


class Module:
    """Compiled functions: ``mod["f"]``, ``mod.f``, and ``mod(...)`` for the only or the ``main`` one.

    ``sources`` gives the texts for ``get_source``, made when they are asked for; ``default_source`` is
    the last one before binary code.  A function is a ``Function``, or a builtin whose ``__self__`` is one.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        target: Any = None,
        sources: Mapping[str, Callable[[], str]] | None = None,
        default_source: str = "script",
    ) -> None:
        self._functions = dict(functions)
        self.target = target
        self._sources = dict(sources or {})
        self._default_source = default_source
        self.imported_modules: list[Module] = []
        # What is known of a function beyond its code: its work for given arguments, its last timing.
        self.about: Callable[[str], Any] | None = None

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The exported functions by name."""
        return dict(self._functions)

    @property
    def mod(self) -> Module:
        """The module itself (TVM's executables hold theirs so)."""
        return self

    @property
    def entry_name(self) -> str:
        """The function that ``mod(...)`` calls."""
        names = list(self._functions)
        if len(names) == 1:
            return names[0]
        if "main" in self._functions:
            return "main"
        shown = ", ".join(f"`{n}`" for n in names) or "none"
        raise CallError(
            f"the module has no entry function; it has {shown}",
            code="no-entry",
            hint='call one by its name: mod["f"](...)',
        )

    def __getitem__(self, name: str) -> Callable[..., Any]:
        found = self._functions.get(name)
        if found is None and name == "main" and len(self._functions) == 1:
            found = next(iter(self._functions.values()))
        if found is None:
            shown = ", ".join(f"`{n}`" for n in self._functions) or "none"
            raise UnknownFunctionError(
                f"the module has no function `{name}`; it has {shown}",
                hint=did_you_mean(str(name), self._functions),
            )
        return found

    def get_function(self, name: str) -> Callable[..., Any]:
        """The function of that name."""
        return self[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        functions = self.__dict__.get("_functions", {})
        found = functions.get(name)
        if found is None:
            if name in _NOT_YET:
                from tirscript.notyet import NotYet

                return NotYet(f"Module.{name}")
            hint = did_you_mean(name, [*functions, *[n for n in dir(type(self)) if not n.startswith("_")]])
            more = f"; {hint}" if hint else ""
            raise AttributeError(f"the module has no function and no attribute {name!r}{more}")
        return found

    @property
    def type_key(self) -> str:
        """The kind of the target, as TVM calls the kind of a module."""
        return str(self.target).split()[0]

    @property
    def is_runnable(self) -> bool:
        """Whether its functions can be called."""
        return True

    def implements_function(self, func_name: str, query_imports: bool = False) -> bool:
        """Whether it has a function of that name."""
        return func_name in self._functions

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self[self.entry_name](*args, **keywords)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(n for n in self._functions if n.isidentifier())]

    def get_source(self, fmt: str | None = None) -> str:
        """The program in a form: ``"script"`` (lowered), ``"ll"``, ``"asm"``, ``"python"`` ...; without
        ``fmt`` the last text before binary code."""
        key = self._default_source if fmt is None else fmt
        make = self._sources.get(key)
        if make is None:
            raise CallValueError(
                f"the module has no source {key!r}; it has {', '.join(map(repr, self._sources)) or 'none'}",
                code="unknown-source",
                hint=did_you_mean(str(key), self._sources),
            )
        return make()

    inspect_source = get_source

    def formats(self) -> list[str]:
        """The forms that ``get_source`` gives."""
        return list(self._sources)

    def time_evaluator(
        self,
        name: str | None = None,
        dev: Any = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
    ) -> Callable[..., Timing]:
        """A function that measures a function of the module on given arguments.

        The arguments are checked once; what is measured is the compiled code.
        """
        for word, value in (("number", number), ("repeat", repeat)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise CallTypeError(f"time_evaluator: {word} is an int, not {value!r}", code="time-evaluator")
            if value < 1:
                raise CallValueError(
                    f"time_evaluator: {word} is at least 1, not {value}", code="time-evaluator"
                )
        chosen = self.entry_name if name is None else name
        function = self[chosen]
        about = None if self.about is None else self.about(chosen)

        def evaluate(*args: Any) -> Timing:
            run = compiled.bound(function, args)  # which checks them
            work = None if about is None else about.work(args)
            timing = measure(run, number, repeat, min_repeat_ms, name=chosen, work=work)
            if about is not None:
                about.remember(timing)
            return timing

        return evaluate

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # By name: what displays stands above what runs.
        bundle: dict[str, str] = importlib.import_module("tirscript.display").mimebundle(self)
        return bundle

    def __repr__(self) -> str:
        shown = ", ".join(str(_checked(f).signature) for f in self._functions.values())
        return f"<tirscript Module for {self.target or 'llvm'}: {shown}>"


def _checked(function: Callable[..., Any]) -> Function:
    """The function that checks its arguments in Python: a builtin's own."""
    own: Any = function
    checked: Function = getattr(own, "__self__", own)
    return checked


def load_llvm(
    text: str,
    signatures: Mapping[str, Signature],
    symbols: Mapping[str, str],
    sites: Sequence[Site],
    *,
    machine: jit.Machine | None = None,
    externs: tuple[str, ...] = (),
    parallel: bool = False,
    target: Any = None,
    sources: Mapping[str, Callable[[], str]] | None = None,
    debug_text: Callable[[], str] | None = None,
) -> Module:
    """A module from LLVM IR.

    ``debug_text`` makes the same module with the lines of the script, for the assembly that is shown.
    """
    machine = machine or jit.Machine()
    addresses = {"tirscript_parallel": pool.entry()} if parallel else {}
    addresses |= {name: callbacks.entry(name) for name in callbacks.NAMES if f"@{name}(" in text}
    fast = compiled.wrappers(signatures, symbols)
    names = [*symbols.values(), *fast.names.values()]
    code = jit.load(text + fast.text, names, machine, {**addresses, **fast.symbols}, externs)
    functions: dict[str, Callable[..., Any]] = {}
    for name, s in signatures.items():
        kernel = code.addresses[symbols[name]]
        function = compiled.CompiledFunction(s, Native(s, kernel, sites, code), code)
        functions[name] = function
        if name in fast.tables:
            own = code.addresses[fast.names[name]] if name in fast.names else None
            functions[name] = compiled.builtin(function, kernel, own, fast.tables[name])
    with_lines = debug_text or (lambda: text)
    made: dict[str, Callable[[], str]] = dict(sources or {})
    made["ll"] = lambda: text
    made["asm"] = lambda: jit.assembly(with_lines(), machine)
    made["ll-optimized"] = lambda: jit.optimized_text(with_lines(), machine)
    return Module(functions, target, made, "ll")


def load_python(
    functions: Mapping[str, Callable[..., Any]],
    signatures: Mapping[str, Signature],
    *,
    target: Any = "python",
    sources: Mapping[str, Callable[[], str]] | None = None,
) -> Module:
    """A module of Python functions, with the same checks of a call."""
    made = {name: make_callable(s, functions[name]) for name, s in signatures.items()}
    return Module(made, target, sources, "python")


__all__ = ["Module", "TirscriptError", "load_llvm", "load_python"]
