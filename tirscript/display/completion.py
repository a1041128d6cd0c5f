"""Names of blocks, loops and functions complete inside the strings that name them, in IPython.

``sch.get_block("<tab>`` offers the blocks of ``sch``; so does every argument of a schedule that takes a
block, a loop, a storage scope or a thread by name.  It is set up when tirscript is imported in IPython, or by
``%load_ext tirscript.display``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from typing import Any

from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import THREAD_TAGS, Block, For
from tirscript.ir.visitor import walk

_NAME = r"[A-Za-z_]\w*"
# The call that the cursor stands in: `sch.method(... "text`, or `mod["text`.
_CALL = re.compile(rf"((?:{_NAME}\.)*{_NAME})\.({_NAME})\($")
_ITEM = re.compile(rf"((?:{_NAME}\.)*{_NAME})\[$")
_SCOPES = (
    "global", "shared", "shared.dyn", "local", "warp", "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator",
)  # fmt: skip
_IDENTIFIER = "tirscript.names"


def register(shell: Any) -> bool:
    """Let the completer of an IPython shell ask for names; a second call changes nothing."""
    completer = getattr(shell, "Completer", None)
    matchers = getattr(completer, "custom_matchers", None)
    if matchers is None:
        return False
    if any(getattr(m, "matcher_identifier", "") == _IDENTIFIER for m in matchers):
        return True
    try:
        from IPython.core.completer import SimpleCompletion, context_matcher
    except ImportError:
        return False

    @context_matcher(identifier=_IDENTIFIER, priority=200)  # type: ignore[untyped-decorator]
    def names(context: Any) -> Any:
        found = completions(context.full_text[: _cursor(context)], shell.user_ns)
        if found is None:
            return {"completions": []}
        typed, offered = found
        return {
            "completions": [SimpleCompletion(text=n, type="block") for n in offered],
            "matched_fragment": typed,
            "suppress": bool(offered),
        }

    matchers.append(names)
    return True


def _cursor(context: Any) -> int:
    """The place of the cursor in the whole text."""
    lines = context.full_text.split("\n")
    return sum([len(line) + 1 for line in lines[: context.cursor_line]]) + int(context.cursor_position)


def completions(text: str, names: dict[str, Any]) -> tuple[str, list[str]] | None:
    """What the string at the end of ``text`` may become: the part that is typed, and the names.

    >>> from tirscript.schedule import Schedule
    >>> from tirscript.schedule.testing import chain
    >>> completions('b = sch.get_block("', {"sch": Schedule(chain())})
    ('', ['B', 'C', 'root'])
    """
    start = _open_string(text)
    if start is None:
        return None
    typed = text[start + 1 :]
    place = _enclosing(text[:start])
    if place is None:
        return None
    kind, head, position, keyword = place
    owner = _looked_up(head if kind == "item" else head.rpartition(".")[0], names)
    if owner is None:
        return None
    if kind == "item":
        offered: Iterable[str] = owner.names() if isinstance(owner, IRModule) else ()
    else:
        offered = _for_argument(owner, head.rpartition(".")[2], position, keyword)
    found = sorted({n for n in offered if n.startswith(typed)})
    return (typed, found) if found else None


def _open_string(text: str) -> int | None:
    """Where the string begins that the text ends in; None outside of strings."""
    quote = ""
    start = 0
    escaped = comment = False
    for n, c in enumerate(text):
        if comment:
            comment = c != "\n"
        elif quote:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == quote or c == "\n":
                quote = ""
        elif c in "\"'":
            quote, start = c, n
        elif c == "#":
            comment = True
    return start if quote else None


def _enclosing(text: str) -> tuple[str, str, int, str] | None:
    """The call or index that text ends in: its kind, its head, how many arguments stand before, a keyword."""
    depth = commas = 0
    keyword = ""
    found = re.search(rf"({_NAME})\s*=\s*$", text)
    if found:
        keyword = found.group(1)
        text = text[: found.start()]
    for n in range(len(text) - 1, -1, -1):
        c = text[n]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth:
                depth -= 1
                continue
            up_to = text[: n + 1]
            call = _CALL.search(up_to)
            if call is not None and c == "(":
                return "call", f"{call.group(1)}.{call.group(2)}", commas, keyword
            item = _ITEM.search(up_to)
            if item is not None and not commas:
                return "item", item.group(1), 0, ""
            # A list inside the call: its elements are names like the argument itself.
            commas = 0
        elif c == "," and not depth:
            commas += 1
        elif c == "\n" and not depth and not text[n + 1 :].strip():
            continue
    return None


def _looked_up(dotted: str, names: dict[str, Any]) -> Any:
    """The object of a dotted name; nothing is called or computed but plain attributes."""
    try:
        ast.parse(dotted, mode="eval")
    except SyntaxError:
        return None
    first, *rest = dotted.split(".")
    value = names.get(first)
    for attribute in rest:
        if value is None:
            return None
        known = inspect.getattr_static(value, attribute, None)
        # A schedule's `mod` is computed, and harmless.
        if isinstance(known, property) and not (attribute == "mod" and type(value).__name__ == "Schedule"):
            return None
        value = getattr(value, attribute, None)
    return value


def _for_argument(owner: Any, method: str, position: int, keyword: str) -> Iterable[str]:
    if type(owner).__name__ != "Schedule":
        return ()
    function = getattr(type(owner), method, None)
    if function is None or not callable(function):
        return ()
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    if keyword:
        chosen = next((p.name for p in parameters if p.name == keyword), "")
    elif position < len(parameters):
        chosen = parameters[position].name
    else:
        many = parameters and parameters[-1].kind is parameters[-1].VAR_POSITIONAL
        chosen = parameters[-1].name if many else ""
    mod: IRModule = owner.mod
    if chosen == "func_name":
        return mod.names()
    if "scope" in chosen and "block" not in chosen:
        return _SCOPES
    if chosen in ("thread_axis", "thread"):
        return THREAD_TAGS
    if "block" in chosen or (method in ("get_block", "get_sblock") and chosen == "name"):
        return block_names(mod)
    if chosen == "loop_or_block" or chosen == "block_or_loop":
        return [*block_names(mod), *loop_names(mod)]
    if "loop" in chosen:
        return loop_names(mod)
    return ()


def block_names(program: PrimFunc | IRModule) -> list[str]:
    """The names of the blocks of a program."""
    functions = [program] if isinstance(program, PrimFunc) else [f for _, f in program.items()]
    return [n.name for f in functions for n in walk(f) if isinstance(n, Block)]


def loop_names(program: PrimFunc | IRModule) -> list[str]:
    """The names of the loops of a program."""
    functions = [program] if isinstance(program, PrimFunc) else [f for _, f in program.items()]
    return [n.loop_var.name for f in functions for n in walk(f) if isinstance(n, For)]


__all__ = ["block_names", "completions", "loop_names", "register"]
