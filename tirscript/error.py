"""TVM's ``error``: the classes of errors under its names."""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import ParseError as DiagnosticError
from tirscript.diagnostics import ScheduleError
from tirscript.diagnostics import TirscriptError as InternalError
from tirscript.diagnostics import TirscriptError as TVMError

__all__ = ["DiagnosticError", "InternalError", "ScheduleError", "TVMError"]
_NOT_YET = frozenset((
    "OpAttributeInvalid", "OpAttributeRequired", "OpAttributeUnImplemented", "OpError", "OpNotImplemented",
    "RPCError", "RPCSessionTimeoutError", "register_error",
))  # fmt: skip


def __getattr__(name: str) -> Any:
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
