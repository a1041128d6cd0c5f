"""``Op``: an operator of the table in ``op`` under TVM's name, such as ``Op.get("tir.exp")``."""

from __future__ import annotations

from tirscript.diagnostics import TirscriptError, did_you_mean

from .op import OPS

_PREFIXES = ("tir.", "tirx.", "s_tir.", "")
_known: dict[str, Op] = {}


class Op:
    """An operator: ``name`` is TVM's, ``operator`` the one that a ``Call`` holds.

    >>> Op.get("tir.exp"), Op.get("tirx.exp") is Op.get("tir.exp"), Op.get("tir.exp").num_inputs
    (Op(tir.exp), True, 1)
    """

    __slots__ = ("name", "operator")

    def __init__(self, operator: str) -> None:
        self.operator = operator
        self.name = f"tir.{operator}"

    @staticmethod
    def get(name: str | Op) -> Op:
        """The operator of that name, with or without ``tir.`` (``tirx.``).

        ``unknown-op``: there is none.
        """
        if isinstance(name, Op):
            return name
        prefix, _, own = name.rpartition(".")
        if own not in OPS or (prefix + "." if prefix else "") not in _PREFIXES:
            hint = did_you_mean(own, OPS)
            raise TirscriptError(f"there is no operator `{name}`", code="unknown-op", hint=hint)
        found = _known.get(own)
        if found is None:
            found = _known[own] = Op(own)
        return found

    @staticmethod
    def list_op_names() -> list[str]:
        """The names of all operators."""
        return sorted(f"tir.{n}" for n in OPS)

    @property
    def num_inputs(self) -> int:
        """The number of arguments; -1 where it varies."""
        low, high = OPS[self.operator].arity
        return low if low == high else -1

    @property
    def effect(self) -> str:
        """``pure``, ``read``, ``update``, ``control`` or ``hint``."""
        return OPS[self.operator].effect

    def __eq__(self, other: object) -> bool:
        """An operator is equal to its names: ``call.op == Op.get("tir.exp")``."""
        if isinstance(other, Op):
            return self.operator == other.operator
        if not isinstance(other, str):
            return NotImplemented
        prefix, _, own = other.rpartition(".")
        return own == self.operator and (prefix + "." if prefix else "") in _PREFIXES

    def __hash__(self) -> int:
        return hash(self.operator)

    def same_as(self, other: object) -> bool:
        """Whether it is the same operator, by object or name."""
        return self == other

    def __repr__(self) -> str:
        return f"Op({self.name})"


__all__ = ["Op"]
