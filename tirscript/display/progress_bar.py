"""Progress bars for what takes longer than a second, where somebody is looking.

The bars are tqdm's; without tqdm, or where the output is a file, there are none.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from types import TracebackType
from typing import Any, TypeVar

PATIENCE = 1.0  # seconds before a bar appears

_T = TypeVar("_T")


def watched() -> bool:
    """Whether somebody sees the bar: a notebook, or a terminal on the error stream."""
    from .objects import in_notebook

    if os.environ.get("TQDM_DISABLE"):
        return False
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _tqdm() -> Any:
    """tqdm's bar for this place; None where there is none.

    In a notebook it needs ipywidgets: without them a bar would be text that stays in the saved output.
    """
    from .objects import in_notebook

    try:
        if in_notebook():
            importlib.import_module("ipywidgets")
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


class Progress:
    """Counts steps; after a second the bar appears.

    >>> with Progress(3, "steps") as bar:
    ...     for _ in range(3):
    ...         bar.update()
    >>> bar.done
    3
    """

    def __init__(self, total: int | None, what: str, patience: float | None = None) -> None:
        self.total = total
        self.what = what
        self.done = 0
        self._start = time.perf_counter()
        self._patience = PATIENCE if patience is None else patience
        self._bar: Any = None
        self._off = False

    def update(self, steps: int = 1) -> None:
        """Say that so many steps more are done."""
        self.done += steps
        if self._bar is not None:
            self._bar.update(steps)
        elif not self._off and time.perf_counter() - self._start >= self._patience:
            self._begin()

    def _begin(self) -> None:
        if not watched():
            self._off = True
            return
        tqdm = _tqdm()
        if tqdm is None:
            self._off = True
            return
        self._bar = tqdm(total=self.total, desc=self.what, initial=self.done, leave=False)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def progress(items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
    """The items, with a bar if they take longer than a second."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with Progress(total, what) as bar:
        for item in items:
            yield item
            bar.update()


__all__ = ["Progress", "progress", "watched"]
