"""What a notebook or a terminal shows of programs, schedules, modules and timings."""

import importlib
from typing import TYPE_CHECKING, Any

from .emit import ansi, diff_ansi, diff_html, html, svg
from .objects import in_notebook, mimebundle, show

if TYPE_CHECKING:
    from .access_movie import Movie, movie
    from .cache import CacheLevel, CacheReport, cache_misses
    from .charts import bar_chart, roofline
    from .diff_view import diff
    from .linked_views import LinkedView, linked
    from .machine import Machine, measure_machine
    from .margin import cost_of
    from .progress_bar import progress
    from .report import Comparison
    from .tree_view import tree, tree_svg

__all__ = [
    "CacheLevel", "CacheReport", "Comparison", "LinkedView", "Machine", "Movie", "ansi", "bar_chart",
    "cache_misses", "cost_of", "diff", "diff_ansi", "diff_html", "html", "in_notebook", "linked",
    "measure_machine", "mimebundle", "movie", "progress", "roofline", "show", "svg", "tree", "tree_svg",
]  # fmt: skip

# What is loaded on first use: showing a script needs none of it.
_LATER = {
    **dict.fromkeys(["Movie", "movie"], "access_movie"),
    **dict.fromkeys(["CacheLevel", "CacheReport", "cache_misses"], "cache"),
    **dict.fromkeys(["LinkedView", "linked"], "linked_views"),
    **dict.fromkeys(["bar_chart", "roofline"], "charts"),
    **dict.fromkeys(["Machine", "measure_machine"], "machine"),
    **dict.fromkeys(["tree", "tree_svg"], "tree_view"),
    "Comparison": "report",
    "cost_of": "margin",
    "diff": "diff_view",
    "progress": "progress_bar",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return __all__


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext tirscript.display``: names of blocks complete inside ``get_block("...")``."""
    from .completion import register

    register(shell)
