"""Targets and devices: TVM 0.27 reads no options in a string, and knows a device by its own name alone."""

from __future__ import annotations

import ast
from typing import Any

from .scopes import Names

_TARGETS = ("tvm.target.Target", "tvm.Target", "tvm.script.tir.target", "tvm.script.tirx.target")
_BUILDERS = ("tvm.build", "tvm.compile", "tvm.driver.build", "tvm.driver.compile", "tvm.tir.build")


def target_edits(n: ast.Call, names: Names, era: str, out: Any) -> None:
    """Edit a call that takes a target or a device."""
    if era != "tvm-0.27":
        return
    path = names.path(n.func)
    if path is None:
        return
    given: ast.expr | None = None
    if path in _TARGETS:
        given = n.args[0] if n.args else None
    elif path in _BUILDERS:
        given = next(
            (k.value for k in n.keywords if k.arg == "target"), n.args[1] if len(n.args) > 1 else None
        )
        if isinstance(given, (ast.List, ast.Tuple)):
            out.cannot(given, "build", "TVM 0.27 builds no list of tensors: te.create_prim_func first")
    elif path in ("tvm.device", "tvm.runtime.device", "tvm.nd.device", "tvm.context"):
        kind = n.args[0] if n.args else None
        if isinstance(kind, ast.Constant) and kind.value == "llvm":
            quote = out.at.text[out.at.start(kind)]
            out.edit(out.at.start(kind), out.at.end(kind), f"{quote}cpu{quote}")
        return
    if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
        return
    if given.value.split()[:1] == ["python"]:
        out.cannot(given, given.value, "only tirscript has this target")
    elif " " in given.value.strip():
        new = _as_dict(given.value)
        if new is None:
            out.cannot(given, given.value, "TVM 0.27 reads targets with options from a dict alone")
        else:
            out.edit(out.at.start(given), out.at.end(given), new)


def _as_dict(text: str) -> str | None:
    """``llvm -num-cores=4`` as the text of a dict, its options as they are named there."""
    import shlex

    try:
        kind, *words = shlex.split(text)
    except ValueError:
        return None
    options: dict[str, Any] = {"kind": kind}
    words.reverse()
    while words:
        word = words.pop()
        if not word.startswith("-"):
            return None
        name, equal, value = word.lstrip("-").partition("=")
        if not equal and words and not words[-1].startswith("-"):
            value, equal = words.pop(), "="
        if not name:
            return None
        options[name] = _value(name, value) if equal else True
    items = ", ".join([f'"{k}": {_shown(v)}' for k, v in options.items()])
    return f"{{{items}}}"


def _value(name: str, value: str) -> Any:
    if name in ("mattr", "keys", "libs"):
        return value.split(",")
    return int(value) if value.isdigit() else value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join([_shown(v) for v in value])}]"
    return f'"{value}"' if isinstance(value, str) else repr(value)
