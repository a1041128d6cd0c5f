"""Which text and which HTML stand for each kind of object."""

from __future__ import annotations

import html as _html
import os
import sys
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir import hooks
from tirscript.ir.printable import Printable

from . import emit

_TABLE = "border-collapse:collapse;font-size:var(--jp-code-font-size, 13px)"
_CELL = "text-align:left;padding:2px 12px 2px 0;border:0"
_CODE = "background:none;color:inherit"


def in_notebook() -> bool:
    """Whether the code runs in a kernel that displays HTML."""
    module = sys.modules.get("IPython")
    if module is None:
        return False
    shell = module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def mimebundle(value: Any) -> dict[str, str]:
    """The plain text and the HTML that a notebook shows for ``value``."""
    for cls in type(value).__mro__:
        found = _SHOWN.get(cls.__name__)
        if found is not None:
            return found(value)
    text = str(value)
    return {"text/plain": text, "text/html": emit.html(text)}


def show(value: Any, *, style: str | None = None, black_format: bool = False, **options: Any) -> None:
    """Show the script of ``value``, highlighted.

    In a notebook as HTML in the notebook's colours; in a terminal in the terminal's; plain where the
    output goes to a file or ``NO_COLOR`` is set.  ``style`` names a style of Pygments; ``options`` are
    those of ``script``.  ``black_format`` is TVM's and changes nothing: the printed form is the only one.
    """
    text = _text(value, options)
    if in_notebook():
        from IPython.display import display

        bundle = {"text/plain": text, "text/html": emit.html(text, style=style)}
        display(bundle, raw=True)  # type: ignore[no-untyped-call]
    elif _colours():
        print(emit.ansi(text, style=style))
    else:
        print(text)


def _text(value: Any, options: dict[str, Any]) -> str:
    if isinstance(value, Printable):
        text: str = hooks.call("script", value, **options)
        return text
    for cls in type(value).__mro__:
        if cls.__name__ in _SHOWN and not options:
            return mimebundle(value)["text/plain"]
    raise TirscriptError(f"show takes a program, not {type(value).__name__}", code="not-a-program")


def _colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


# ---- objects of other rooms, by the name of their class: nothing is imported to show something else


def _schedule(sch: Any) -> dict[str, str]:
    text = sch.mod.script()
    return {"text/plain": text, "text/html": emit.html(text)}


def _trace(trace: Any) -> dict[str, str]:
    text = str(trace)
    return {"text/plain": text, "text/html": emit.html(text)}


def _diff(diff: Any) -> dict[str, str]:
    text = str(diff)
    return {"text/plain": text, "text/html": emit.diff_html(text)}


def _handle(rv: Any) -> dict[str, str]:
    text = repr(rv)
    return {"text/plain": text, "text/html": emit.html(text)}


def _table(rows: list[tuple[str, str]]) -> str:
    body = "".join(
        [
            f'<tr style="background:none"><td style="{_CELL}">{_html.escape(k)}</td>'
            f'<td style="{_CELL}"><code style="{_CODE}">{_html.escape(v)}</code></td></tr>'
            for k, v in rows
        ]
    )
    return f'<table style="{_TABLE}"><tbody>{body}</tbody></table>'


def _module(module: Any) -> dict[str, str]:
    names = [str(n) for n in module.functions]
    rows = [("target", str(module.target)), ("functions", ", ".join(names) or "none")]
    return {"text/plain": repr(module), "text/html": _table(rows)}


def seconds(t: float) -> str:
    """A time for people: four significant digits and a unit.

    >>> seconds(0.0012345), seconds(2.5e-6)
    ('1.234 ms', '2.500 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if t >= scale or unit == "ns":
            value = t / scale
            return f"{value:.{max(0, 3 - len(str(int(value))) + 1)}f} {unit}"
    raise AssertionError


def _timing(timing: Any) -> dict[str, str]:
    rows = [(n, seconds(getattr(timing, n))) for n in ("mean", "median", "min", "max", "std")]
    rows.append(("runs", str(len(timing.results))))
    return {"text/plain": repr(timing), "text/html": _table(rows)}


_SHOWN: dict[str, Callable[[Any], dict[str, str]]] = {
    "Schedule": _schedule,
    "Trace": _trace,
    "Diff": _diff,
    "BlockRV": _handle,
    "LoopRV": _handle,
    "Module": _module,
    "Timing": _timing,
}
