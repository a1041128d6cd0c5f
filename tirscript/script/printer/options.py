"""The options of ``script`` in TVM's spelling, and what is said about one that does not exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tirscript.diagnostics import Span, TirscriptError, did_you_mean

OWN = ("name", "dialect", "sugar", "width", "show_meta", "line_numbers", "underline", "annotate")
# TVM's second names of options.
_SAME = {
    "syntax_sugar": "sugar",
    "print_line_numbers": "line_numbers",
    "obj_to_underline": "underline",
    "obj_to_annotate": "annotate",
}
# Options of TVM that have one value here; any other is refused with the reason.
_FIXED: dict[str, tuple[tuple[Any, ...], str]] = {
    "ir_prefix": (("I",), "the module is imported as I"),
    "tir_prefix": (("T",), "the module is imported as T"),
    "relax_prefix": (("R",), "the module is imported as R"),
    "module_alias": (("cls",), "a module calls its functions by cls"),
    "int_dtype": (("int32",), "an integer without a dtype is an int32"),
    "float_dtype": (("void", "float32"), "floats are always written with their dtype"),
    "show_object_address": ((False,), "no text holds addresses: two objects of one name get two names"),
    "show_all_struct_info": ((True, False), ""),
    "show_all_ty": ((True, False), ""),
    "verbose_expr": ((True, False), ""),
    "buffer_dtype": (("float32",), "a buffer without a dtype is float32"),
    "path_to_underline": ((None, []), "nodes are underlined by object: obj_to_underline=[node]"),
    "path_to_annotate": ((None, {}), "nodes are annotated by object: obj_to_annotate={node: text}"),
    "binding_names": ((None, []), ""),
    "extra_config": ((None, {}), ""),
}
_EXTRA = ("indent_spaces", "num_context_lines")


_GUTTER = re.compile(r" *\d* \| ")
CARETS = re.compile(r"#[ ^]*\^[ ^]*")


class OptionError(TirscriptError, TypeError):
    """There is no such option, or it has no such value."""

    default_code = "unknown-option"


def own_options(given: Mapping[str, Any], also: Iterable[str] = ()) -> dict[str, Any]:
    """The options by their names here; ``also`` are those that the caller has besides.

    >>> own_options({"syntax_sugar": False, "indent_spaces": 2})
    {'sugar': False, 'indent_spaces': 2}
    """
    out: dict[str, Any] = {}
    for key, value in given.items():
        if key in OWN or key in _EXTRA:
            out[key] = value
        elif key in _SAME:
            out[_SAME[key]] = value
        elif key in _FIXED:
            allowed, why = _FIXED[key]
            if not any(value is a or value == a for a in allowed):
                raise OptionError(f"`{key}` cannot be {value!r}", hint=why or None)
        else:
            known = [*OWN, *_EXTRA, *_SAME, *_FIXED, *also]
            raise OptionError(
                f"there is no option `{key}`",
                hint=did_you_mean(key, known) or f"the options are {', '.join([*OWN, *_EXTRA, *also])}",
            )
    return out


def indented(text: str, spaces: int) -> str:
    """``text`` with that many spaces a level instead of four."""
    if isinstance(spaces, bool) or not isinstance(spaces, int) or not 1 <= spaces <= 16:
        raise OptionError(f"`indent_spaces` is a number from 1 to 16, not {spaces!r}", code="bad-option")
    if spaces == 4:
        return text
    out = []
    moved = 0  # how far the line above went to the right
    for line in text.split("\n"):
        found = _GUTTER.match(line)
        gutter = found.group() if found else ""
        code = line[len(gutter) :]
        if CARETS.fullmatch(code):
            out.append(f"{gutter}#{' ' * moved}{code[1 - min(moved, 0) :]}")
            continue
        bare = code.lstrip(" ")
        levels, rest = divmod(len(code) - len(bare), 4)
        moved = levels * (spaces - 4)
        out.append(f"{gutter}{' ' * (levels * spaces + rest)}{bare}")
    return "\n".join(out)


def around(text: str, wanted: Iterable[int], lines: int) -> str:
    """The lines of ``text`` that are at most ``lines`` from a wanted one (counted from 0)."""
    if isinstance(lines, bool) or not isinstance(lines, int):
        raise OptionError(f"`num_context_lines` is a number, not {lines!r}", code="bad-option")
    every = text.split("\n")
    near = {k for n in wanted for k in range(n - lines, n + lines + 1)}
    if lines < 0 or not near:
        return text
    out: list[str] = []
    skipped = False
    for n, line in enumerate(every):
        if n in near:
            if skipped:
                out.append("# ...")
            skipped = False
            out.append(line)
        else:
            skipped = True
    return "\n".join([*out, "# ..."] if skipped else out)


def notes_of(annotate: Any, spans: Mapping[Any, Span]) -> Mapping[Any, str]:
    """The notes by node; a function says for each node what stands beside it, or None."""
    if annotate is None:
        return {}
    if isinstance(annotate, Mapping):
        return annotate
    if not callable(annotate):
        raise OptionError(
            f"`annotate` maps nodes to texts, or gives the text of a node; not {annotate!r}",
            code="bad-option",
        )
    ask: Callable[[Any], str | None] = annotate
    return {node: note for node in spans if (note := ask(node)) is not None}


__all__ = ["CARETS", "OptionError", "around", "indented", "notes_of", "own_options"]
