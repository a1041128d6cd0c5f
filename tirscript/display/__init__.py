"""What a notebook or a terminal shows of programs, schedules, modules and timings."""

import importlib
from typing import TYPE_CHECKING, Any

from .emit import ansi, diff_ansi, diff_html, html, svg
from .objects import in_notebook, mimebundle, show

if TYPE_CHECKING:
    from .access_movie import Movie, movie
    from .cache import CacheLevel, CacheReport, cache_misses
    from .linked_views import LinkedView, linked

__all__ = [
    "CacheLevel", "CacheReport", "LinkedView", "Movie", "ansi", "cache_misses", "diff_ansi", "diff_html",
    "html", "in_notebook", "linked", "mimebundle", "movie", "show", "svg",
]  # fmt: skip

# What is loaded on first use: showing a script needs none of it.
_LATER = {
    **dict.fromkeys(["Movie", "movie"], "access_movie"),
    **dict.fromkeys(["CacheLevel", "CacheReport", "cache_misses"], "cache"),
    **dict.fromkeys(["LinkedView", "linked"], "linked_views"),
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
