"""Highlighted script as HTML, as SVG, and in the colours of a terminal."""

from __future__ import annotations

import html as _html
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from .tokens import COLOURED, TOKEN, tokens

# JupyterLab's variable for each kind of token, and a colour that reads on white and on black alike.
COLOURS: dict[str, tuple[str, str]] = {
    "keyword": ("--jp-mirror-editor-keyword-color", "#ad5fd0"),
    "decorator": ("--jp-mirror-editor-meta-color", "#ad5fd0"),
    "space": ("--jp-mirror-editor-property-color", "#2f86d2"),
    "definition": ("--jp-mirror-editor-def-color", "#2f86d2"),
    "string": ("--jp-mirror-editor-string-color", "#cc5a3c"),
    "number": ("--jp-mirror-editor-number-color", "#2d8f50"),
    "comment": ("--jp-mirror-editor-comment-color", "#7f858b"),
}
ADDED = ("--jp-success-color1", "#2d8f50")
REMOVED = ("--jp-error-color1", "#d0453a")
ACCENT = ("--jp-brand-color1", "#2f86d2")
FAINT = ("--jp-ui-font-color2", "#7f858b")

FONT = (
    "font-family:var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace);"
    "font-size:var(--jp-code-font-size, 13px);line-height:1.35"
)

_PRE = (
    "margin:0;padding:0 0 0 var(--jp-code-padding, 0);background:none;color:inherit;border:0;"
    "white-space:pre;overflow-x:auto;line-height:1.35;"
    "font-family:var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace);"
    "font-size:var(--jp-code-font-size, 13px)"
)


def colour(pair: tuple[str, str]) -> str:
    """A CSS colour: the notebook's own, else the fallback."""
    return f"var({pair[0]}, {pair[1]})"


_OPEN = {kind: f'<span style="color:{colour(pair)}">' for kind, pair in COLOURS.items()}
_OPEN["keyword"] = _OPEN["keyword"].replace('">', ';font-weight:bold">')
_OPEN["comment"] = _OPEN["comment"].replace('">', ';font-style:italic">')


def _coloured(match: Any) -> str:
    kind = match.lastgroup
    text: str = match.group()
    return f"{_OPEN[kind]}{text}</span>" if kind in COLOURED else text


def html(text: str, *, marked: Collection[int] = (), style: str | None = None) -> str:
    """``text`` as highlighted HTML with inline styles.  The lines ``marked`` (from 1) get a bar.

    ``style`` names a style of Pygments that is used instead of the notebook's colours.
    """
    if style is not None:
        return _pygments_html(text, style)
    # Quotes stay as they are, so that the expression sees strings; entities are a token of their own.
    body = TOKEN.sub(_coloured, _html.escape(text, quote=False))
    if marked:
        bar = f'<span style="box-shadow:-3px 0 0 {colour(ACCENT)};font-weight:bold">'
        lines = body.split("\n")
        body = "\n".join(
            [f"{bar}{line}</span>" if n in marked else line for n, line in enumerate(lines, start=1)]
        )
        return f'<pre style="{_PRE};padding-left:6px">{body}</pre>'
    return f'<pre style="{_PRE}">{body}</pre>'


def escape(text: str) -> str:
    """``text`` for HTML; quotes stay, it is no attribute."""
    return _html.escape(text, quote=False)


def line_html(text: str, marks: Sequence[tuple[int, int]] = (), tint: str = "") -> str:
    """A highlighted line without its ``<pre>``; the ranges ``marks`` get the background ``tint``."""
    if not marks:
        return TOKEN.sub(_coloured, escape(text))
    out: list[str] = []
    at = 0
    waiting = list(marks)
    for kind, piece in tokens(text):
        while piece:
            while waiting and waiting[0][1] <= at:
                waiting.pop(0)
            if not waiting or waiting[0][0] >= at + len(piece):
                size, marked = len(piece), False
            elif waiting[0][0] > at:
                size, marked = waiting[0][0] - at, False
            else:
                size, marked = min(waiting[0][1] - at, len(piece)), True
            body = escape(piece[:size])
            if marked:
                body = f'<span style="background:{tint};font-weight:bold">{body}</span>'
            out.append(f"{_OPEN[kind]}{body}</span>" if kind else body)
            piece, at = piece[size:], at + size
    return "".join(out)


def diff_html(text: str) -> str:
    """A unified diff as HTML: the added and removed lines in the notebook's colours."""
    out = []
    for line in text.split("\n"):
        escaped = _html.escape(line, quote=False)
        pair = ADDED if line.startswith("+") else REMOVED if line.startswith("-") else None
        out.append(escaped if pair is None else f'<span style="color:{colour(pair)}">{escaped}</span>')
    return f'<pre style="{_PRE}">{chr(10).join(out)}</pre>'


# ---- terminals


@cache
def _lexer() -> Any:
    from pygments.lexer import Lexer
    from pygments.token import Token

    kinds = {
        "": Token.Text,
        "keyword": Token.Keyword,
        "decorator": Token.Name.Decorator,
        "space": Token.Name.Builtin,
        "definition": Token.Name.Function,
        "string": Token.Literal.String,
        "number": Token.Literal.Number,
        "comment": Token.Comment,
    }

    class ScriptLexer(Lexer):  # type: ignore[misc]
        name = "tirscript"

        def get_tokens_unprocessed(self, text: str) -> Any:
            at = 0
            for kind, piece in tokens(text):
                yield at, kinds[kind], piece
                at += len(piece)

    return ScriptLexer(stripnl=False, ensurenl=False)


def ansi(text: str, *, style: str | None = None) -> str:
    """``text`` with terminal colours: the sixteen that follow the terminal's theme, or a Pygments style."""
    from pygments import highlight
    from pygments.formatters import Terminal256Formatter, TerminalFormatter
    from pygments.token import Token

    if style is not None:
        return str(highlight(text, _lexer(), Terminal256Formatter(style=style)))
    # Of the sixteen, those that read on a light and on a dark ground.
    plain = {
        Token: "",
        Token.Keyword: "magenta",
        Token.Name.Decorator: "magenta",
        Token.Name.Builtin: "blue",
        Token.Name.Function: "blue",
        Token.Literal.String: "red",
        Token.Literal.Number: "green",
        Token.Comment: "brightblack",
    }
    scheme = {token: (name, name) for token, name in plain.items()}
    return str(highlight(text, _lexer(), TerminalFormatter(colorscheme=scheme)))


def diff_ansi(text: str) -> str:
    """A unified diff with terminal colours."""
    codes = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
    return "\n".join(
        [f"{codes[line[0]]}{line}\x1b[0m" if line[:1] in codes else line for line in text.split("\n")]
    )


def _pygments_html(text: str, style: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    return str(highlight(text, _lexer(), HtmlFormatter(noclasses=True, nobackground=True, style=style)))


# ---- pictures


def svg(text: str, *, title: str = "") -> str:
    """``text`` as a picture that stands alone and follows the reader's light or dark theme."""
    lines = text.split("\n")
    width = round(max(map(len, lines)) * 7.8 + 32)
    height = len(lines) * 18 + 28
    light: Mapping[str, str] = {k: pair[1] for k, pair in COLOURS.items()}
    rules = "".join([f".{k}{{fill:{c}}}" for k, c in light.items()])
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>{_html.escape(title)}</title>" if title else "",
        "<style>text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#24292f;"
        f"white-space:pre}}rect{{fill:#f6f8fa;stroke:#d0d7de}}{rules}"
        "@media(prefers-color-scheme:dark){text{fill:#d1d7e0}rect{fill:#161b22;stroke:#30363d}}</style>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>',
    ]
    for n, line in enumerate(lines):
        spans = "".join(
            [
                f'<tspan class="{kind}">{_html.escape(piece, quote=False)}</tspan>'
                if kind
                else _html.escape(piece, quote=False)
                for kind, piece in tokens(line)
            ]
        )
        out.append(f'<text x="16" y="{n * 18 + 27}" xml:space="preserve">{spans}</text>')
    return "\n".join([*filter(None, out), "</svg>\n"])
