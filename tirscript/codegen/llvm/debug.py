"""Debug locations: the line of the script that an instruction comes from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tirscript.diagnostics import Source, Span


class DebugInfo:
    """Metadata nodes of one module; numbers below ``first`` belong to others."""

    def __init__(self, first: int) -> None:
        self.nodes: list[str] = []
        self._first = first
        self._files: dict[str, str] = {}
        self._locations: dict[tuple[str, int, int], str] = {}
        self._others: dict[tuple[str, str], str] = {}  # scopes inside a function for text of other files
        self.scope = ""
        self._file = ""  # of the function
        self._unit = ""

    @property
    def state(self) -> tuple[str, str]:
        """The function at hand: its scope and its file."""
        return self.scope, self._file

    @state.setter
    def state(self, value: tuple[str, str]) -> None:
        self.scope, self._file = value

    def add(self, text: str) -> str:
        ref = f"!{self._first + len(self.nodes)}"
        self.nodes.append(f"{ref} = {text}")
        return ref

    def file(self, name: str) -> str:
        known = self._files.get(name)
        if known is None:
            folder, base = os.path.split(name)
            text = f'!DIFile(filename: "{_quoted(base)}", directory: "{_quoted(folder)}")'
            known = self._files[name] = self.add(text)
        return known

    def unit(self) -> str:
        """The compile unit, with the first file that was named."""
        if not self._unit:
            file = next(iter(self._files.values()), "") or self.file("script")
            self._unit = self.add(
                f"distinct !DICompileUnit(language: DW_LANG_C, file: {file}, isOptimized: true, "
                "runtimeVersion: 0, emissionKind: LineTablesOnly)"
            )
        return self._unit

    def subprogram(self, name: str, source: Source | None, line: int) -> str:
        """A function's scope, which the locations that follow are in."""
        file = self._file = self.file(source.name if source is not None else "script")
        unit = self.unit()
        kind = self.add("!DISubroutineType(types: !{})")
        self.scope = self.add(
            f'distinct !DISubprogram(name: "{_quoted(name)}", scope: {file}, file: {file}, line: {line}, '
            f"type: {kind}, scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: {unit})"
        )
        return self.scope

    def location(self, span: Span) -> str:
        file = self.file(span.source.name)
        scope = self.scope
        if file != self._file:
            scope = self._others.get((scope, file), "")
            if not scope:
                text = f"!DILexicalBlockFile(scope: {self.scope}, file: {file}, discriminator: 0)"
                scope = self._others[self.scope, file] = self.add(text)
        return self._at(span.line, span.column + 1, scope)

    def at(self, line: int, column: int) -> str:
        """The suffix of an instruction at that place of the function's file."""
        return self._at(line, column, self.scope)

    def _at(self, line: int, column: int, scope: str) -> str:
        key = (scope, line, column)
        known = self._locations.get(key)
        if known is None:
            node = self.add(f"!DILocation(line: {line}, column: {column}, scope: {scope})")
            known = self._locations[key] = f", !dbg {node}"
        return known


def _quoted(text: str) -> str:
    return text.replace("\\", "\\5C").replace('"', "\\22")
