"""Temporary directories."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref

from tirscript.diagnostics import TirscriptError


class TempDirectory:
    """A directory that is removed with the object."""

    def __init__(self, custom_path: str | None = None, keep_for_debug: bool = False) -> None:
        if custom_path is None:
            self.temp_dir = tempfile.mkdtemp(prefix="tirscript_")
        else:
            self.temp_dir = os.fspath(custom_path)
            # What is there already is not ours to remove.
            if os.path.exists(self.temp_dir):
                raise TirscriptError(f"{self.temp_dir!r} is there already", code="tempdir")
            os.makedirs(self.temp_dir)
        self._end = weakref.finalize(self, shutil.rmtree, self.temp_dir, ignore_errors=True)
        if keep_for_debug:
            self._end.detach()

    @property
    def path(self) -> str:
        """The path of the directory."""
        return self.temp_dir

    def relpath(self, name: str) -> str:
        """The path of a file of that name in the directory."""
        return os.path.join(self.temp_dir, name)

    def listdir(self) -> list[str]:
        """The names in the directory."""
        return os.listdir(self.temp_dir)

    def remove(self) -> None:
        """Remove the directory now."""
        self._end()


def tempdir(custom_path: str | None = None, keep_for_debug: bool = False) -> TempDirectory:
    """A new temporary directory, removed with the object unless ``keep_for_debug`` is set.

    ``custom_path`` says where it is.

    >>> t = tempdir()
    >>> t.relpath("input.cc").endswith("input.cc")
    True
    """
    return TempDirectory(custom_path, keep_for_debug)


__all__ = ["TempDirectory", "tempdir"]
