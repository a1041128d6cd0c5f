"""What every node and module offers to look at it.  The work is done upward, through ``hooks``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import hooks


class Printable:
    """``script()``, ``show()``, and what notebooks and terminals display."""

    __slots__ = ()

    def script(
        self,
        *,
        name: str | None = None,
        dialect: str = "tirscript",
        sugar: bool = True,
        width: int | None = None,
        show_meta: bool = True,
        line_numbers: bool = False,
        underline: Iterable[Any] = (),
        annotate: Mapping[Any, str] | Callable[[Any], str | None] | None = None,
        **more: Any,
    ) -> str:
        """The text of this program or part of one.

        ``dialect`` is ``"tirscript"`` or ``"tvm-0.27"``; ``sugar=False`` writes one loop and one axis a
        line; ``width`` wraps; ``underline`` and ``annotate`` mark nodes.  Further options are those of TVM
        (``obj_to_underline``, ``syntax_sugar``, ``indent_spaces`` ...).
        """
        text: str = hooks.call(
            "script",
            self,
            name=name,
            dialect=dialect,
            sugar=sugar,
            width=width,
            show_meta=show_meta,
            line_numbers=line_numbers,
            underline=underline,
            annotate=annotate,
            **more,
        )
        return text

    def show(self, **options: Any) -> None:
        """Show the script, highlighted: as HTML in a notebook, in colours in a terminal.

        The options are those of ``script``; ``cost=True`` writes beside each loop what it costs.
        """
        hooks.call("show", self, **options)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        try:
            return self.script()
        except Exception:  # a broken program must still have a representation
            name = getattr(self, "name", "")
            return f"<{type(self).__name__}{' ' if name else ''}{name}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For pretty printers (IPython's, hypothesis's): the script rather than the fields."""
        printer.text(repr(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle
