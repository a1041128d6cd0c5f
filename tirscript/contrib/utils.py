"""Temporary directories."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref


class TempDirectory:
    """A directory that is removed with the object."""

    def __init__(self) -> None:
        self.temp_dir = tempfile.mkdtemp(prefix="tirscript_")
        self._end = weakref.finalize(self, shutil.rmtree, self.temp_dir, ignore_errors=True)

    def relpath(self, name: str) -> str:
        """The path of a file of that name in the directory."""
        return os.path.join(self.temp_dir, name)

    def listdir(self) -> list[str]:
        """The names in the directory."""
        return os.listdir(self.temp_dir)

    def remove(self) -> None:
        """Remove the directory now."""
        self._end()


def tempdir() -> TempDirectory:
    """A new temporary directory.

    >>> t = tempdir()
    >>> t.relpath("input.cc").endswith("input.cc")
    True
    """
    return TempDirectory()


__all__ = ["TempDirectory", "tempdir"]
