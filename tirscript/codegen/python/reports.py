"""What the sanitizer says: the place in the script, the iteration, the block instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tirscript.diagnostics import AssertFailed, CheckFailed, Mark, Span
from tirscript.ir import hooks

Values = tuple[tuple[str, int], ...]


class Reports:
    """Knows where the program is.  ``texts`` stand for the places where there are no spans."""

    texts: Sequence[str]
    spans: Sequence[tuple[Span | None, Any]]
    loops: list[list[Any]]
    frames: list[Any]
    changes: int
    _values: Values | None

    def mark(self, site: int, label: str = "") -> list[Mark]:
        span = self.spans[site][0] if site < len(self.spans) else None
        return [] if span is None else [Mark(span, label)]

    def text(self, site: int) -> str:
        """The statement or expression of a place."""
        if site < len(self.spans):
            node = self.spans[site][1]
            try:
                return str(hooks.call("script", node))
            except Exception:
                return type(node).__name__
        return self.texts[site] if site < len(self.texts) else ""

    def where(self, site: int) -> str:
        marks = self.mark(site)
        return f"at {marks[0].span}" if marks else f"in `{self.text(site).strip()}`"

    def values(self) -> Values:
        if self._values is None:
            self._values = tuple([(name, int(value)) for name, value in self.loops])
        return self._values

    def notes(self) -> list[str]:
        out = []
        if self.loops:
            out.append("in the iteration " + shown(self.values()))
        out += [
            f'in block "{f.name}"' + (f" with {shown(f.axes)}" if f.axes else "")
            for f in reversed(self.frames)
            if f.axes or f.reads is not None
        ]
        return out

    def fail(
        self,
        code: str,
        message: str,
        site: int,
        *,
        others: Sequence[tuple[int, str]] = (),
        notes: Sequence[str] = (),
        hint: str | None = None,
        error: type[AssertFailed | CheckFailed] = CheckFailed,
        label: str = "",
    ) -> NoReturn:
        marks = self.mark(site, label)
        for other, words in others:
            if other != site:
                marks += self.mark(other, words)
        more = [] if marks else [f"in `{self.text(site).strip()}`"]
        raise error(message, code=code, marks=marks, notes=[*notes, *self.notes(), *more], hint=hint)


def shown(values: Sequence[tuple[str, int]]) -> str:
    return ", ".join([f"{name} = {value}" for name, value in values]) or "the call itself"


__all__ = ["Reports", "Values", "shown"]
