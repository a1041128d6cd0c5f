"""Functions of Python that programs call by name: ``T.call_packed("name", ...)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from tirscript.diagnostics import TirscriptError, did_you_mean

_functions: dict[str, Callable[..., Any]] = {}


@overload
def register_func(
    func_name: str, f: None = None, override: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...


@overload
def register_func(func_name: str, f: Callable[..., Any], override: bool = False) -> Callable[..., Any]: ...


@overload
def register_func(
    func_name: Callable[..., Any], f: None = None, override: bool = False
) -> Callable[..., Any]: ...


def register_func(func_name: Any, f: Any = None, override: bool = False) -> Any:
    """Give a function a name by which programs call it; also as a decorator, with or without a name.

    >>> @register_func("docs.twice")
    ... def twice(x):
    ...     return 2 * x
    >>> get_global_func("docs.twice")(21)
    42
    """
    if callable(func_name) and f is None:
        return _register(getattr(func_name, "__name__", ""), func_name, override)
    if f is None:
        return lambda function: _register(func_name, function, override)
    return _register(func_name, f, override)


register_global_func = register_func


def _register(name: Any, function: Any, override: bool) -> Any:
    if not isinstance(name, str) or not name:
        raise TirscriptError(f"the name of a function is a non-empty string, not {name!r}", code="register")
    if not callable(function):
        raise TirscriptError(f"{function!r} cannot be called", code="register")
    if name in _functions and not override:
        raise TirscriptError(
            f"a function `{name}` is registered already", code="register", hint="pass override=True"
        )
    _functions[name] = function
    return function


def get_global_func(name: str, allow_missing: bool = False) -> Callable[..., Any] | None:
    """The function registered under a name; where there is none, None if ``allow_missing``."""
    found = _functions.get(name)
    if found is None and not allow_missing:
        raise TirscriptError(
            f"no function `{name}` is registered",
            code="unknown-function",
            hint=did_you_mean(name, _functions) or "register it: tirscript.register_func(name, f)",
        )
    return found


def list_global_func_names() -> list[str]:
    """The names that are registered, sorted."""
    return sorted(_functions)


def remove_global_func(name: str) -> None:
    """Forget a name."""
    get_global_func(name)
    del _functions[name]


__all__ = ["get_global_func", "list_global_func_names", "register_func", "register_global_func",
           "remove_global_func"]  # fmt: skip
