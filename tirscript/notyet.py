"""Names of TVM that tirscript knows but does not have: they can be imported, and say so when used."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable
from types import ModuleType
from typing import Any, NoReturn

from tirscript.diagnostics import NotYetError, did_you_mean

# What each absent name was for, and what serves in its place today.
_INSTEAD = {
    "relax": "graphs of operators are not supported; write each operator as a T.prim_func and schedule it",
    "meta_schedule": "there is no tuner; transform a Schedule by hand",
    "dlight": "there are no default GPU schedules; transform a Schedule by hand",
    "rpc": "remote execution is not supported",
    "relay": "graphs of operators are not supported; write each operator as a T.prim_func and schedule it",
    "export_library": "a built module lives in its process: keep the program's script and build it again",
    "save": "a built module lives in its process: keep the program's script and build it again",
    "load_module": "a built module lives in its process: build the program again",
    "system_lib": "a built module lives in its process: build the program again",
    "create_schedule": "make a function of the tensors, te.create_prim_func([A, B]), and use tir.Schedule",
    "autotvm": "there is no tuner; transform a Schedule by hand",
    "auto_scheduler": "there is no tuner; transform a Schedule by hand",
}
# Absent modules inside absent modules: they can be imported, too.
_SUBMODULES: tuple[str, ...] = ()


def not_yet(name: str, used: str = "") -> NotYetError:
    """The error for a use of ``name``, a name of TVM that is not here."""
    return NotYetError(
        f"tirscript does not have `{used or name}` yet",
        code="not-yet",
        hint=_INSTEAD.get(name.rpartition(".")[2]),
    )


def missing(module: str, attribute: str) -> Exception:
    """What a module's ``__getattr__`` raises for a name of TVM; tools that look for theirs go on."""
    # What tools look for in every module is absent, not missing.
    if attribute.startswith(("_", "pytest", "setUp", "tearDown", "setup_", "teardown_")):
        return AttributeError(f"module {module!r} has no attribute {attribute!r}")
    return not_yet(module, f"{module}.{attribute}")


class NotYetModule(ModuleType):
    """A module that can be imported and named; the first use of anything in it raises NotYetError."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"`{name}` is a module of TVM that tirscript does not have yet.")
        self.__path__: list[str] = []

    def __getattr__(self, attribute: str) -> ModuleType:
        full = f"{self.__name__}.{attribute}"
        if full in _SUBMODULES:
            return importlib.import_module(full)
        raise missing(self.__name__, attribute)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise not_yet(self.__name__)

    def __dir__(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        return f"<{self.__name__}: not yet>"


class NotYet:
    """A class or function of TVM that is not here: calling it or taking an attribute raises NotYetError.

    >>> from tirscript.diagnostics import NotYetError, did_you_mean
    >>> try:
    ...     NotYet("tir.TensorIntrin").register("dot", None, None)
    ... except NotYetError as error:
    ...     print(error)
    NotYetError[not-yet]: tirscript does not have `tir.TensorIntrin.register` yet
    """

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"`{name}` is a name of TVM that tirscript does not have yet."

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        raise not_yet(self.__name__, f"{self.__name__}.{attribute}")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise not_yet(self.__name__)

    def __instancecheck__(self, instance: Any) -> bool:
        """Nothing is one of what is not here: code that only looks goes on."""
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        raise not_yet(self.__name__)

    def __repr__(self) -> str:
        return f"<{self.__name__}: not yet>"


def absent(module: str, name: str, known: Iterable[str], not_yet_names: Collection[str]) -> Any:
    """For a module's ``__getattr__``: what a name that it does not have stands for.

    A name of TVM is a ``NotYet``; any other is an AttributeError with a hint.
    """
    if name in not_yet_names:
        return NotYet(f"{module}.{name}")
    hint = None if name.startswith("_") else did_you_mean(name, known)
    raise AttributeError(f"module {module!r} has no attribute {name!r}" + (f"; {hint}" if hint else ""))
