"""What a notebook or a terminal shows of programs, schedules, modules and timings."""

from .emit import ansi, diff_ansi, diff_html, html, svg
from .objects import in_notebook, mimebundle, show

__all__ = ["ansi", "diff_ansi", "diff_html", "html", "in_notebook", "mimebundle", "show", "svg"]
