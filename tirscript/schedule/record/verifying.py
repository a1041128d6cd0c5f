"""``Schedule(mod, verify=True)``: after each step the program runs on small data and is compared with the
program that the schedule began with.  How it is run is said by the hook ``step_checker``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from tirscript.diagnostics import TirscriptWarning, user_stacklevel
from tirscript.ir import hooks
from tirscript.ir.module import IRModule

from ..errors import Refusal
from ..state import FunctionState


class ChangedResult(Refusal):
    code = "changed-result"
    template = "{step} changes what `{function}` computes: {what}"
    hint_template = "the schedule is as it was before this step"


class Verifier:
    """Compares the functions of a schedule with what they were."""

    def __init__(self, mod: IRModule) -> None:
        self._checker: Any = hooks.call("step_checker", mod)
        self._told: set[str] = set()

    def check(self, mod: IRModule, changed: Iterable[FunctionState], call: str) -> None:
        """Raise ChangedResult if a changed function gives other results; warn where that was not checked."""
        for home in changed:
            answer = self._checker.compare(mod, home.name)
            if answer.differs:
                raise ChangedResult(home, step=call, function=home.name, what=answer.text, notes=answer.notes)
            if answer.text and answer.text not in self._told:
                self._told.add(answer.text)
                warnings.warn(
                    f"{call} was not checked: {answer.text}", TirscriptWarning, stacklevel=user_stacklevel()
                )


__all__ = ["ChangedResult", "Verifier"]
