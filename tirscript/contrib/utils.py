"""Temporary directories."""

from __future__ import annotations

import os
import tempfile


class TempDirectory:
    """A directory that is removed with the object."""

    def __init__(self) -> None:
        self._dir = tempfile.TemporaryDirectory(prefix="tirscript_")
        self.temp_dir = self._dir.name

    def relpath(self, name: str) -> str:
        """The path of a file of that name in the directory."""
        return os.path.join(self.temp_dir, name)

    def listdir(self) -> list[str]:
        """The names in the directory."""
        return os.listdir(self.temp_dir)

    def remove(self) -> None:
        """Remove the directory now."""
        self._dir.cleanup()


def tempdir() -> TempDirectory:
    """A new temporary directory.

    >>> t = tempdir()
    >>> t.relpath("input.cc").endswith("input.cc")
    True
    """
    return TempDirectory()


__all__ = ["TempDirectory", "tempdir"]
