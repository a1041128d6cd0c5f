"""The loop tree as HTML with parts that fold, and as a picture that stands alone."""

from __future__ import annotations

import html as _html
from collections.abc import Iterator
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.schedule.record.tree import Tree, tree_of_program

from .emit import COLOURS, FAINT, FONT, colour, escape

# The kinds of lines, in the colours of the kinds of tokens.
_KINDS = {
    "function": COLOURS["definition"],
    "loop": COLOURS["keyword"],
    "block": COLOURS["string"],
    "other": COLOURS["comment"],
}
_NOTE = FAINT


def tree(program: PrimFunc | IRModule) -> Tree:
    """The loops and blocks of a program as a tree; ``sch.tree()`` is that of a schedule.

    >>> from tirscript.schedule.testing import chain
    >>> print(str(tree(chain())).splitlines()[1])
    ├─ for i: 16
    """
    if not isinstance(program, (PrimFunc, IRModule)):
        raise TirscriptError(
            f"tree takes a function or a module, not {type(program).__name__}", code="not-a-program"
        )
    return tree_of_program(program)


def tree_html(tree: Any) -> str:
    """A ``Tree`` as nested lists: indented where styles are taken away, foldable in a browser."""
    return f'<div style="{FONT};overflow-x:auto">{_list(tree.nodes)}</div>'


def _head(node: Any) -> str:
    style = f"color:{colour(_KINDS.get(node.what, FAINT))};background:none;font-weight:bold"
    notes = "".join([f' <span style="color:{colour(_NOTE)}">· {escape(note)}</span>' for note in node.notes])
    return f'<code style="{style}">{escape(node.text)}</code>{notes}'


def _list(nodes: Any) -> str:
    edge = colour(("--jp-border-color2", "#8884"))
    items = "".join([f'<li style="list-style:none;margin:0;padding:0">{_node(n)}</li>' for n in nodes])
    return f'<ul style="margin:0 0 0 5px;padding:0 0 0 10px;border-left:1px solid {edge}">{items}</ul>'


def _node(node: Any) -> str:
    if not node.children:
        return f'<div style="margin-left:14px;white-space:nowrap">{_head(node)}</div>'
    return (
        f'<details open style="white-space:nowrap"><summary style="cursor:pointer">{_head(node)}</summary>'
        f"{_list(node.children)}</details>"
    )


# ---- terminals

_CODES = {"function": "34", "loop": "35", "block": "31", "other": "90"}


def tree_ansi(tree: Any) -> str:
    """A ``Tree`` in the colours of a terminal."""
    return "\n".join([line for n in tree.nodes for line in _ansi_lines(n, "", "")])


def _ansi_lines(node: Any, lead: str, below: str) -> Iterator[str]:
    notes = "; ".join(node.notes)
    faint = f"  \x1b[90m{notes}\x1b[0m" if notes else ""
    yield f"\x1b[90m{lead}\x1b[0m\x1b[{_CODES.get(node.what, '39')}m{node.text}\x1b[0m{faint}"
    for n, child in enumerate(node.children):
        last = n == len(node.children) - 1
        yield from _ansi_lines(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))


# ---- a picture

_ROW, _INDENT, _WIDE = 22, 26, 7.85


def tree_svg(tree: Any, *, title: str = "loop tree") -> str:
    """A ``Tree`` as SVG: lines from each loop to what it holds, blocks in boxes.

    It follows the reader's light or dark theme where it is an image of its own, and names its colours in
    each element too, for readers that take styles away.
    """
    rows = list(_rows(tree.nodes, 0, None))
    width = max([_INDENT * depth + round(_WIDE * len(_line(n))) for n, depth, _ in rows], default=0) + 56
    height = len(rows) * _ROW + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" style="max-width:100%;height:auto">',
        f"<title>{_html.escape(title)}</title>",
        "<style>.ts-t{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}</style>",
    ]
    for at, (node, depth, parent) in enumerate(rows):
        x, y = 14 + depth * _INDENT, 14 + at * _ROW
        tone = _KINDS.get(node.what, FAINT)[1]
        if parent is not None:
            px, py = 14 + (depth - 1) * _INDENT + 5, 14 + parent * _ROW + 16
            out.append(
                f'<path d="M{px} {py}V{y + 5}H{x - 6}" fill="none" stroke="#8b949e" stroke-opacity=".7"/>'
            )
        if node.what == "block":
            long = round(_WIDE * len(node.text)) + 14
            out.append(
                f'<rect x="{x - 5}" y="{y - 4}" width="{long}" height="19" rx="4" fill="{tone}" '
                f'fill-opacity=".12" stroke="{tone}" stroke-opacity=".6"/>'
            )
        notes = "; ".join(node.notes)
        note = f'<tspan dx="14" fill="{_NOTE[1]}">{_html.escape(notes, quote=False)}</tspan>' if notes else ""
        out.append(
            f'<text class="ts-t" x="{x}" y="{y + 10}" fill="{tone}" font-size="13" '
            f'font-family="ui-monospace, Menlo, Consolas, monospace" xml:space="preserve">'
            f"{_html.escape(node.text, quote=False)}{note}</text>"
        )
    return "\n".join([*out, "</svg>\n"])


def _line(node: Any) -> str:
    notes = "; ".join(node.notes)
    return f"{node.text}   {notes}" if notes else str(node.text)


def _rows(
    nodes: Any, depth: int, parent: int | None, start: int = 0
) -> Iterator[tuple[Any, int, int | None]]:
    """Each node with its depth and the row of its parent."""
    counter = [start]

    def walk(node: Any, at_depth: int, above: int | None) -> Iterator[tuple[Any, int, int | None]]:
        mine = counter[0]
        counter[0] += 1
        yield node, at_depth, above
        for c in node.children:
            yield from walk(c, at_depth + 1, mine)

    for n in nodes:
        yield from walk(n, depth, parent)


__all__ = ["tree", "tree_ansi", "tree_html", "tree_svg"]
