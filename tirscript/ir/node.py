"""The base of all IR nodes and the decorator that makes them.

``@node`` turns a class with annotated fields into a slotted class with identity equality and generated
``__init__``, ``replace``, ``children`` and ``map_children``.  Nodes are immutable by convention; with
``TIRSCRIPT_FROZEN=1`` in the environment they are so in fact (about three times slower).

Which fields hold child nodes is said in the class body: ``_child_`` names those with one node,
``_optional_`` those with one or None, ``_children_`` those with a tuple of nodes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, dataclass_transform

from .printable import Printable

if TYPE_CHECKING:
    from typing import Self

FROZEN = os.environ.get("TIRSCRIPT_FROZEN") == "1"

_T = TypeVar("_T")


class _Keep:
    """The default of ``replace``'s parameters: keep what is there."""

    def __repr__(self) -> str:
        return "<keep>"


KEEP: Any = _Keep()


def derived(expression: str, *, init: Literal[False] = False) -> Any:
    """A field computed by ``__init__`` from the others: ``derived("a.dtype")``."""
    return _Derived(expression)


class _Derived:
    __slots__ = ("expression",)

    def __init__(self, expression: str) -> None:
        self.expression = expression


class Node(Printable):
    """A node of the IR.  Equality and hash are identity; see ``structural_equal``."""

    __slots__ = ()
    # Field names in order, and those that hold a node, a node or None, a tuple of nodes.
    _fields_: ClassVar[tuple[str, ...]] = ()
    _child_: ClassVar[tuple[str, ...]] = ()
    _optional_: ClassVar[tuple[str, ...]] = ()
    _children_: ClassVar[tuple[str, ...]] = ()
    _spec_: ClassVar[tuple[dict[str, str], dict[str, Any]]] = ({}, {})
    # What is stored of an argument, where that is not the argument itself: an expression of it.
    _stored_: ClassVar[dict[str, str]] = {}

    if TYPE_CHECKING:

        def replace(self, **changes: Any) -> Self:
            """A copy with some fields changed."""

        def children(self) -> tuple[Node, ...]:
            """The nodes below this one: expressions, statements, regions, ranges, axes; in order of
            evaluation.  Definitions (variables, buffers, labels) are fields, not children."""

        def map_children(self, f: Callable[[Any], Any]) -> Self:
            """This node with ``f`` applied to each child; ``self`` where nothing changed."""


def map_tuple(f: Callable[[Any], Any], items: tuple[_T, ...]) -> tuple[_T, ...]:
    """``f`` applied to each item; the same tuple where nothing changed."""
    new = tuple([f(x) for x in items])
    for a, b in zip(new, items, strict=True):
        if a is not b:
            return new
    return items


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(derived,))
def node(cls: type[_T]) -> type[_T]:
    """Make a node class of ``cls`` (see the module's docstring)."""
    derivations: dict[str, str] = {}
    defaults: dict[str, Any] = {}
    own = cls.__annotations__  # this class's alone, strings
    names = tuple(n for n in own if not own[n].startswith("ClassVar"))
    for name in names:
        value = cls.__dict__.get(name, KEEP)
        if isinstance(value, _Derived):
            derivations[name] = value.expression
            delattr(cls, name)
        elif value is not KEEP:
            defaults[name] = value
            delattr(cls, name)
    made: Any = dataclass(slots=True, eq=False, repr=False, init=False, frozen=FROZEN)(cls)
    if names:
        made._fields_ = names
        made._spec_ = (derivations, defaults)
    # A class without fields of its own is one more kind of its base: Add of BinaryOp.
    _generate(made, made._fields_, *made._spec_)
    return made  # type: ignore[no-any-return]


def _generate(
    made: Any, names: tuple[str, ...], derivations: dict[str, str], defaults: dict[str, Any]
) -> None:
    space: dict[str, Any] = dict(vars(sys.modules[made.__module__]))
    space |= {"KEEP": KEEP, "map_tuple": map_tuple, "set_": object.__setattr__, "cls": made}
    arguments = [n for n in names if n not in derivations and n != "_memo"]
    parameters = ", ".join(f"{n}=default_{n}" if n in defaults else n for n in arguments)
    space |= {f"default_{n}": v for n, v in defaults.items()}
    body = []
    for n in names:
        value = "None" if n == "_memo" else derivations.get(n, made._stored_.get(n, n))
        body.append(f"    set_(self, {n!r}, {value})" if FROZEN else f"    self.{n} = {value}")
    code = [f"def __init__(self, {parameters}):", *(body or ["    pass"])]
    code += [
        f"def replace(self, *, {', '.join(f'{n}=KEEP' for n in arguments)}):"
        if arguments
        else "def replace(self):"
    ]
    kept = ", ".join(f"self.{n} if {n} is KEEP else {n}" for n in arguments)
    code += [f"    return cls({kept})"]

    single = [n for n in names if n in made._child_ or n in made._optional_]
    several = [n for n in names if n in made._children_]
    involved = [n for n in names if n in single or n in several]
    code += ["def children(self):"]
    if made._optional_ or (several and len(involved) > 1):
        code += ["    out = []"]
        for n in involved:
            if n in several:
                code += [f"    out += self.{n}"]
            elif n in made._optional_:
                code += [f"    if self.{n} is not None: out.append(self.{n})"]
            else:
                code += [f"    out.append(self.{n})"]
        code += ["    return tuple(out)"]
    elif several:
        code += [f"    return self.{several[0]}"]
    else:
        code += [f"    return ({''.join(f'self.{n}, ' for n in single)})"]

    code += ["def map_children(self, f):"]
    for n in involved:
        if n in several:
            code += [f"    {n} = map_tuple(f, self.{n}) if self.{n} else self.{n}"]
        elif n in made._optional_:
            code += [f"    {n} = None if self.{n} is None else f(self.{n})"]
        else:
            code += [f"    {n} = f(self.{n})"]
    if involved:
        same = " and ".join(f"{n} is self.{n}" for n in involved)
        mapped = ", ".join(n if n in involved else f"self.{n}" for n in arguments)
        code += [f"    if {same}: return self", f"    return cls({mapped})"]
    else:
        code += ["    return self"]
    exec("\n".join(code), space)
    for name in ("__init__", "replace", "children", "map_children"):
        function = space[name]
        function.__qualname__ = f"{made.__name__}.{name}"
        setattr(made, name, function)


def memo_of(holder: Any) -> dict[Any, Any]:
    """The memo of a Block, For or PrimFunc: facts of this subtree alone, made on first use."""
    memo: dict[Any, Any] | None = holder._memo
    if memo is None:
        memo = {}
        object.__setattr__(holder, "_memo", memo)
    return memo


def walk(root: Node) -> Iterator[Node]:
    """Every node of the tree in pre-order, without recursion."""
    stack = [root]
    while stack:
        n = stack.pop()
        yield n
        below = n.children()
        if below:
            stack.extend(reversed(below))
