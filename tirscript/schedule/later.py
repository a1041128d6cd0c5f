"""The primitives of TVM that tirscript does not have yet: each says so when it is called."""

from __future__ import annotations

from typing import Any, NoReturn

from tirscript.diagnostics import NotYetError


def _not_yet(name: str) -> NotYetError:
    return NotYetError(f"tirscript does not have the schedule primitive `{name}` yet", code="not-yet")


class Later:
    """Names, parameters and defaults as TVM's."""

    def rolling_buffer(self, block: Any, write_buffer_index: Any) -> NoReturn:
        raise _not_yet("rolling_buffer")
