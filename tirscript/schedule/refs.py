"""References into a schedule: handles that a user holds, and the places that they stand for.

A loop is its variable, a block is its label: a handle carries that token, and is good as long as the token
stands in the tree of the schedule that it is used with.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tirscript.ir import hooks
from tirscript.ir.expr import Var
from tirscript.ir.stmt import Block, BlockLabel, BlockRealize, For, Stmt

if TYPE_CHECKING:
    from .state import FunctionState


class _Handle:
    """A token and the name of the function that it was found in."""

    __slots__ = ("function", "token")
    token: Any

    def __init__(self, token: Any, function: str) -> None:
        self.token = token
        self.function = function

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.token is self.token

    def __hash__(self) -> int:
        return id(self.token)

    @property
    def name(self) -> str:
        """The name of the loop variable or block."""
        return str(self.token.name)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle


class LoopRV(_Handle):
    """A reference to a loop."""

    __slots__ = ()
    token: Var

    def __repr__(self) -> str:
        return f"LoopRV({self.token.name})"


# What ``sample_compute_location`` gives for a block that stays, and for one that is to be inlined.
ROOT, INLINE = Var("compute_root"), Var("compute_inline")


class BlockRV(_Handle):
    """A reference to a block."""

    __slots__ = ()
    token: BlockLabel

    def __repr__(self) -> str:
        return f"BlockRV({self.token.name!r})"


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip


class ExprRV:
    """A sampled integer; it serves wherever a factor is wanted.

    Sums, differences, products, quotients and remainders of such are such again: the trace keeps how they
    come about, so that they follow when it is replayed with other decisions.

    >>> v = ExprRV(6)
    >>> int(v * 2), v.value // 4
    (12, 1)
    """

    __slots__ = ("name", "of", "value")

    def __init__(self, value: int, name: str = "v", of: tuple[str, Any, Any] | None = None) -> None:
        self.value = value
        self.name = name
        self.of = of  # the operator and its operands, where it was computed from others

    @staticmethod
    def computed(op: str, a: Any, b: Any) -> ExprRV:
        """``a op b``, where one of them is sampled."""
        return ExprRV(_ARITHMETIC[op](operator.index(a), operator.index(b)), of=(op, a, b))

    def __index__(self) -> int:
        return self.value

    def __int__(self) -> int:
        return self.value

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = hooks.call("mimebundle", self)
        return bundle

    def __repr__(self) -> str:
        return f"ExprRV({self.name}={self.value})"


def _method(op: str, swapped: bool) -> Callable[[ExprRV, Any], Any]:
    def method(self: ExprRV, other: Any) -> Any:
        if isinstance(other, bool) or not isinstance(other, (int, ExprRV)):
            return NotImplemented
        return ExprRV.computed(op, other, self) if swapped else ExprRV.computed(op, self, other)

    return method


for _op, _name in zip(_ARITHMETIC, ("add", "sub", "mul", "floordiv", "mod"), strict=True):
    setattr(ExprRV, f"__{_name}__", _method(_op, False))
    setattr(ExprRV, f"__r{_name}__", _method(_op, True))


def block_token(label: BlockLabel) -> BlockLabel:
    """What identifies a block: the label that it had before any renaming."""
    return label if label.same_as is None else label.same_as


class StmtSRef:
    """The place of a statement: itself, the place around it, and its number among the children there.

    ``node`` is the statement as it stands in the tree; for a block that is its BlockRealize.
    """

    __slots__ = ("home", "node", "parent", "seq_index")

    def __init__(self, node: Any, parent: StmtSRef | None, seq_index: int, home: FunctionState) -> None:
        self.node = node
        self.parent = parent
        self.seq_index = seq_index
        self.home = home

    @property
    def stmt(self) -> Stmt:
        """The loop or block (the Block itself, not its realization)."""
        node: Stmt = self.node
        return node.block if isinstance(node, BlockRealize) else node

    def __repr__(self) -> str:
        s = self.stmt
        what = s.name if isinstance(s, Block) else s.loop_var.name if isinstance(s, For) else ""
        return f"StmtSRef({type(s).__name__} {what})".replace(" )", ")")
