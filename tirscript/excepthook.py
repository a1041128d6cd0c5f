"""What a script shows of an error that nobody caught: the user's frames and the message, not our frames.

A ``TirscriptError`` says what is wrong with the program and where; the frames of this package that found it
out would stand between the two.  ``TIRSCRIPT_TRACEBACK=full`` in the environment shows them all.  Errors of
other kinds, and hooks that others have installed, are left as they are.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import TracebackType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def install() -> None:
    """Show errors this way from now on; a second call changes nothing."""
    if not getattr(sys.excepthook, "_of_tirscript", False):
        hook = _hook(sys.excepthook)
        hook._of_tirscript = True
        sys.excepthook = hook
    _complete_names()


def _complete_names() -> None:
    """In IPython, the names of blocks complete in strings."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None:
        # By name: what completes stands above.
        importlib.import_module("tirscript.display.completion").register(shell)


def _hook(before: Any) -> Any:
    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        from .diagnostics import TirscriptError

        if not isinstance(error, TirscriptError) or os.environ.get("TIRSCRIPT_TRACEBACK") == "full":
            before(kind, error, trace)
            return
        trace = without_internals(trace)
        chained = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if before is not sys.__excepthook__ or chained is not None or sys.stderr is None:
            before(kind, error.with_traceback(trace), trace)
            return
        import traceback

        if trace is not None:
            print("Traceback (most recent call last):", file=sys.stderr)
            traceback.print_tb(trace)
        print(error, file=sys.stderr)

    return show


def without_internals(trace: TracebackType | None) -> TracebackType | None:
    """The frames that are not of this package, in the same order."""
    kept: list[TracebackType] = []
    while trace is not None:
        if not os.path.abspath(trace.tb_frame.f_code.co_filename).startswith(_HERE):
            kept.append(trace)
        trace = trace.tb_next
    out: TracebackType | None = None
    for t in reversed(kept):
        out = TracebackType(out, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return out
