"""Tables as HTML with inline styles, and as text."""

from __future__ import annotations

from collections.abc import Sequence

from .emit import FAINT, FONT, colour, escape, line_html

_TABLE = f"border-collapse:collapse;border:0;{FONT}"
_CELL = "padding:2px 14px 2px 0;border:0;vertical-align:baseline"
_CODE = "background:none;color:inherit;padding:0;font-size:inherit;white-space:inherit"


def table_html(
    rows: Sequence[Sequence[str]],
    head: Sequence[str] = (),
    *,
    code: Sequence[int] = (),
    right: Sequence[int] = (),
    faint: Sequence[int] = (),
) -> str:
    """Rows as a table: columns ``code`` are script, ``right`` ones flush right; rows ``faint`` are pale."""
    out = [f'<table style="{_TABLE}">']
    if head:
        cells = "".join(
            [
                f'<th style="text-align:{"right" if n in right else "left"};{_CELL};color:{colour(FAINT)};'
                f'font-weight:normal;white-space:nowrap">{escape(text)}</th>'
                for n, text in enumerate(head)
            ]
        )
        out.append(f'<thead><tr style="background:none">{cells}</tr></thead>')
    out.append("<tbody>")
    for at, row in enumerate(rows):
        pale_row = f";color:{colour(FAINT)}" if at in faint else ""
        out.append('<tr style="background:none">')
        for n, text in enumerate(row):
            align = "right" if n in right else "left"
            bare = text.lstrip(" ")
            indent = "&nbsp;" * (len(text) - len(bare))
            body = indent + escape(bare)
            if n in code:
                body = f'<code style="{_CODE}">{indent}{line_html(bare)}</code>'
            pale = pale_row + (";white-space:nowrap" if n in right or n == 0 else "")
            out.append(f'<td style="text-align:{align};{_CELL}{pale}">{body}</td>')
        out.append("</tr>")
    return "".join([*out, "</tbody></table>"])


def table_text(rows: Sequence[Sequence[str]], head: Sequence[str] = (), *, right: Sequence[int] = ()) -> str:
    """Rows in columns.

    >>> print(table_text([["a", "1"], ["bcd", "23"]], ["name", "n"], right=(1,)))
    name   n
    a      1
    bcd   23
    """
    every = [list(head), *[list(r) for r in rows]] if head else [list(r) for r in rows]
    widths = [max([len(r[n]) for r in every if n < len(r)]) for n in range(max(map(len, every), default=0))]
    lines = []
    for row in every:
        cells = [f"{t:>{widths[n]}}" if n in right else f"{t:<{widths[n]}}" for n, t in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


__all__ = ["table_html", "table_text"]
