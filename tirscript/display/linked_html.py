"""Linked views as HTML: lines light up by CSS alone, on pointing at one and, kept, on a click.

Every group of lines is a label with a radio button in it; rules with ``:has`` light up the others of the
same line of the script.  Where a page strips styles, the texts stand one after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from .emit import COLOURS, colour
from .tokens import COLOURED, TOKEN

if TYPE_CHECKING:
    from .linked_views import LinkedView, Pane

MAX_SIZE = 185_000
_LIMITS = (2500, 1500, 900, 500, 250, 120)  # lines of a pane: the first with which the size is kept
_KINDS = {kind: kind[0] for kind in COLOURS}  # keyword k, decorator d, space s, definition -> f, ...
_KINDS["definition"] = "f"
_KINDS["string"] = "q"
_MONO = "var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)"


def document(view: LinkedView) -> str:
    """A document that stands alone."""
    title = f"{escape(view.name)} for {escape(view.target)}, line by line"
    p, rest = _prefix(view), 118 if len(view.panes) < 3 else 78
    page = (
        ":root{color-scheme:light dark}body{margin:12px;font:14px system-ui,sans-serif}"
        "h1{font-size:16px;margin:0 0 6px}"
        # The panes fill the window: two rows where there are more than two.
        f".{p}.{p} pre{{height:max(16em,{100 if len(view.panes) < 3 else 50}vh - {rest}px)}}"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<h1>{title}</h1>\n{fragment(view)}\n<style>{page}</style>\n</html>\n"
    )


def fragment(view: LinkedView) -> str:
    """The panes with their styles, for a page of others."""
    p = _prefix(view)
    for limit in _LIMITS:
        several = {m: k for m, k in _several(view).items() if m <= limit}
        body = "\n".join([_pane(p, k, pane, several, limit) for k, pane in enumerate(view.panes)])
        style = _style(view, p, several, limit)
        if len(body.encode()) + len(style) < MAX_SIZE:
            break
    switches = "".join(
        [
            f'<label><input type="checkbox" class="t{k}" checked>{escape(pane.title)}</label>'
            for k, pane in enumerate(view.panes)
        ]
    )
    bar = (
        f'<div class="bar" hidden>{switches}'
        '<label><input type="checkbox" class="only">only lines that are kept</label>'
        f'<label><input type="radio" name="{p}" checked>keep none</label>'
        "<span>Point at a line, click to keep it; the numbers are lines of the script.</span></div>"
    )
    return f'<div class="{p}"><style>{style}</style>{bar}\n<div class="all">{body}</div></div>'


def _prefix(view: LinkedView) -> str:
    text = "\0".join([p.text for p in view.panes]) + view.target
    return "v" + hashlib.sha1(text.encode()).hexdigest()[:7]


def _several(view: LinkedView) -> dict[int, int]:
    """Lines of the lowered script that share their line of the script with others, and that line."""
    own: dict[int, set[int]] = {}
    for pane in view.panes:
        for line in pane.lines:
            if line.script is not None and line.lowered is not None:
                own.setdefault(line.script, set()).add(line.lowered)
    return {m: k for k, lines in own.items() if len(lines) > 1 for m in sorted(lines)}


# ---- text


def _pane(p: str, k: int, pane: Pane, several: dict[int, int], limit: int) -> str:
    show = _script if pane.kind in ("script", "lowered", "cuda") else _code
    groups: list[tuple[str, list[str]]] = []
    for line in pane.lines[:limit]:
        link = "" if line.script is None else f"k{line.script}"
        if link and line.lowered in several and line.lowered is not None:
            link += f" m{line.lowered}"
        if groups and groups[-1][0] == link and (not link or pane.kind not in ("script", "lowered")):
            groups[-1][1].append(line.text)
        else:
            groups.append((link, [line.text]))
    out = []
    for link, texts in groups:
        text = show("\n".join(texts)) + "\n"
        out.append(f'<label class="{link}"><input type="radio" name="{p}">{text}</label>' if link else text)
    rest = len(pane.lines) - limit
    if rest > 0:
        out.append(f"... {rest:,} more lines are left out\n")
    return f'<div class="p p{k}"><b>{escape(pane.title)}</b><pre><code>{"".join(out)}</code></pre></div>'


def _script(text: str) -> str:
    return TOKEN.sub(_token, escape(text, quote=False))


def _token(match: Any) -> str:
    kind, text = match.lastgroup, match.group()
    return f'<span class="{_KINDS[kind]}">{text}</span>' if kind in COLOURED else text


def _code(text: str) -> str:
    """Code of LLVM or a machine: names of instructions and of labels stand out."""
    out = []
    for line in escape(text, quote=False).split("\n"):
        body = line.lstrip()
        if not line.startswith(" ") or not body:
            out.append(f'<span class="f">{line}</span>' if line.endswith(":") else line)
            continue
        space, head = line[: len(line) - len(body)], ""
        if body.startswith("%") and " = " in body:
            head, _, body = body.partition(" = ")
            head += " = "
        name, gap, rest = body.partition(" ")
        out.append(f'{space}{head}<span class="s">{name}</span>{gap}{rest}')
    return "\n".join(out)


# ---- styles


def _style(view: LinkedView, p: str, several: dict[int, int], limit: int) -> str:
    shown = [line.script for pane in view.panes for line in pane.lines[:limit]]
    keys = sorted({n for n in shown if n is not None})
    return "".join([*_layout(view, p), *_lights(p, keys, several)])


def _layout(view: LinkedView, p: str) -> Iterator[str]:
    # Twice the class: as strong as a notebook's own rules for output, and later.
    q = f".{p}.{p}"
    yield f"{q}{{--f:12.5px}}"
    yield f"{q} .bar{{display:flex;flex-wrap:wrap;gap:2px 14px;margin-bottom:6px;font-size:13px}}"
    yield f"{q} .bar span{{opacity:.75}}{q} .bar input{{margin:0 4px 0 0;vertical-align:-1px}}"
    least = "min(100%,max(400px,34%))"  # at most two beside each other
    yield f"{q} .all{{display:grid;grid-template-columns:repeat(auto-fit,minmax({least},1fr));gap:8px}}"
    yield f"{q} .p{{border:1px solid #8886;border-radius:6px;min-width:0}}"
    yield f"{q} .p>b{{display:block;padding:3px 10px;border-bottom:1px solid #8884;font-size:13px}}"
    yield (
        f"{q} pre{{margin:0;padding:4px 0;height:24em;overflow:auto;"
        "scrollbar-color:#8889 transparent;background:none;color:inherit;border:0;"
        f"white-space:pre;font:var(--f)/1.45 {_MONO}}}"
    )
    yield (
        f"{q} code{{display:block;box-sizing:border-box;width:max-content;min-width:100%;margin:0;"
        "padding:0 10px 0 3.4em;background:none;color:inherit;font:inherit;white-space:inherit}"
    )
    yield (
        f"{q} code label{{display:block;position:relative;margin:0 -10px 0 -3.4em;padding:0 10px 0 3.4em;"
        "font:inherit;color:inherit;cursor:pointer;border-left:3px solid hsl(var(--h) 60% 50%);"
        "padding-left:calc(3.4em - 3px);background:hsl(var(--h) 75% 50%/var(--a,0));"
        "box-shadow:inset var(--b,0) 0 0 hsl(var(--h) 60% 50%)}"
    )
    yield (
        f"{q} code label::before{{content:var(--n);position:absolute;left:0;width:2.4em;text-align:right;"
        "opacity:.6}"
    )
    yield f"{q} code input{{position:absolute;left:0;margin:0;opacity:0;pointer-events:none}}"
    yield f"{q} label:has(:focus-visible){{outline:2px solid {colour(COLOURS['space'])};outline-offset:-2px}}"
    for kind, letter in _KINDS.items():
        yield f"{q} .{letter}{{color:{colour(COLOURS[kind])}}}"
    # Kept lines: the other panes scroll to them, and can leave out the rest.
    yield f"{q}:has(code :checked) .p:not(:hover) pre{{scroll-snap-type:y mandatory}}"
    yield f"{q}:has(.only:checked):has(code :checked) code{{font-size:0}}"
    yield f"{q}:has(.only:checked):has(code :checked) code label{{font-size:calc(var(--f)*var(--o,0))}}"
    for k in range(len(view.panes)):
        yield f"{q}:has(.t{k}:not(:checked)) .p{k}{{display:none}}"


def _lights(p: str, keys: list[int], parts: dict[int, int]) -> Iterator[str]:
    for n, k in enumerate(keys):
        yield f'.{p} .k{k}{{--h:{round(n * 137.508) % 360};--n:"{k}"}}'
        yield f".{p}:has(.k{k}:hover,.k{k}>:checked) .k{k}{{--a:.2}}"
        yield f".{p}:has(.k{k}>:checked) .k{k}{{--o:1;scroll-snap-align:center}}"
    for m, k in parts.items():
        yield f".{p}:has(.m{m}:hover,.m{m}>:checked) .m{m}{{--a:.3;--b:7px}}"
        # Panes scroll to these lines rather than to others of the same line of the script.
        yield f'.{p}:has(.m{m}>:checked) .k{k}[class*=" m"]:not(.m{m}){{scroll-snap-align:none}}'


__all__ = ["document", "fragment"]
