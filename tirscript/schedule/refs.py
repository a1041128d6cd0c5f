"""References into a schedule: handles that a user holds, and the places that they stand for.

A loop is its variable, a block is its label: a handle carries that token, and is good as long as the token
stands in the tree of the schedule that it is used with.
"""

from __future__ import annotations

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


class BlockRV(_Handle):
    """A reference to a block."""

    __slots__ = ()
    token: BlockLabel

    def __repr__(self) -> str:
        return f"BlockRV({self.token.name!r})"


class ExprRV:
    """A sampled integer; it serves wherever a factor is wanted."""

    __slots__ = ("name", "value")

    def __init__(self, value: int, name: str = "v") -> None:
        self.value = value
        self.name = name

    def __index__(self) -> int:
        return self.value

    def __int__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"ExprRV({self.name}={self.value})"


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
