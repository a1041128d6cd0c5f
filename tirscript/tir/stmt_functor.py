"""TVM's ``tir.stmt_functor``: visiting, rewriting, substituting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tirscript.diagnostics import TirscriptError, deep_recursion
from tirscript.ir.expr import Expr, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.nodeclass import expr as as_expr
from tirscript.ir.stmt import SeqStmt, Stmt, seq
from tirscript.ir.visitor import fresh_copy
from tirscript.ir.visitor import substitute as _substitute
from tirscript.notyet import absent

__all__ = ["ir_transform", "post_order_visit", "pre_order_visit", "renew_defs", "substitute"]
_NOT_YET = frozenset((
    "ExprFunctor", "ExprMutator", "ExprVisitor", "PyStmtExprMutator", "PyStmtExprVisitor", "StmtFunctor",
    "StmtMutator", "StmtVisitor", "mutator", "visitor",
))  # fmt: skip


def _root(node: Any, name: str) -> Any:
    if isinstance(node, PrimFunc):
        return node.body
    if not isinstance(node, (Expr, Stmt)):
        raise TirscriptError(
            f"{name} takes a statement or an expression, not {type(node).__name__}", code="node-argument"
        )
    return node


def post_order_visit(stmt: Any, fvisit: Callable[[Any], Any]) -> None:
    """Call ``fvisit`` on every statement and expression, what is inside first; each object once.

    >>> from tirscript import tir
    >>> i = tir.Var("i", "int32")
    >>> seen = []
    >>> post_order_visit(i * i + 1, lambda n: seen.append(type(n).__name__))
    >>> seen
    ['Var', 'Mul', 'IntImm', 'Add']

    Source: TVM's ``tir.stmt_functor.post_order_visit``.
    """
    seen: set[Any] = set()
    stack: list[tuple[Any, bool]] = [(_root(stmt, "post_order_visit"), False)]
    while stack:
        n, below = stack.pop()
        if below:
            if isinstance(n, (Expr, Stmt)):
                fvisit(n)
        elif n not in seen:
            seen.add(n)
            stack.append((n, True))
            stack.extend([(c, False) for c in reversed(n.children())])


def pre_order_visit(stmt: Any, fvisit: Callable[[Any], bool]) -> None:
    """Call ``fvisit`` on every statement and expression, the outer first; what is inside of one for which it
    gives False is left out.

    Source: TVM's ``tir.stmt_functor.pre_order_visit``.
    """
    seen: set[Any] = set()
    stack: list[Any] = [_root(stmt, "pre_order_visit")]
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if isinstance(n, (Expr, Stmt)):
            more = fvisit(n)
            if more is not None and not more:
                continue
        stack.extend(reversed(n.children()))


def ir_transform(
    stmt: Any,
    preorder: Callable[[Any], Any] | None = None,
    postorder: Callable[[Any], Any] | None = None,
    only_enable: Iterable[str] | None = None,
) -> Any:
    """A rewritten statement.

    ``preorder(n)`` may give what stands for ``n``, whose inside is then not visited; None goes on.
    ``postorder(n)`` gets ``n`` with its inside rewritten and may give what stands for it; None keeps it.
    ``only_enable`` lists the kinds of nodes that they are asked about: ``["tir.For"]``.

    >>> from tirscript import tir
    >>> A, i = tir.decl_buffer((4,), "int32", "A"), tir.Var("i", "int32")
    >>> loop = tir.For(i, 0, 4, tir.ForKind.SERIAL, tir.BufferStore(A, i, [i]))
    >>> print(ir_transform(loop, None, lambda n: tir.Evaluate(0), ["tir.BufferStore"]))
    for i in range(4):
        T.evaluate(0)

    Source: TVM's ``tir.stmt_functor.ir_transform``.
    """
    names = None if only_enable is None else {str(n).rpartition(".")[2] for n in only_enable}
    if names and "SBlock" in names:
        names |= {"Block"}
    root = _root(stmt, "ir_transform")

    def asked(n: Any) -> bool:
        return isinstance(n, (Expr, Stmt)) and (names is None or type(n).__name__ in names)

    def checked(n: Any, new: Any) -> Any:
        kind = Stmt if isinstance(n, Stmt) else Expr
        if not isinstance(new, kind):
            raise TirscriptError(
                f"ir_transform: a {type(new).__name__} cannot stand for a {type(n).__name__}",
                code="node-argument",
            )
        return new

    def visit(n: Any) -> Any:
        wanted = asked(n)
        if wanted and preorder is not None:
            new = preorder(n)
            if new is not None:
                return checked(n, new)
        n = n.map_children(visit)
        if type(n) is SeqStmt and any(type(s) is SeqStmt for s in n.seq):
            n = seq(*n.seq)
        if wanted and postorder is not None:
            new = postorder(n)
            if new is not None:
                return checked(n, new)
        return n

    with deep_recursion():
        return visit(root)


def substitute(node: Any, vmap: Mapping[Var, Any]) -> Any:
    """``node`` with variables replaced.

    >>> from tirscript import tir
    >>> i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
    >>> substitute(i + 1, {i: j * 2})
    j * 2 + 1

    Source: TVM's ``tir.stmt_functor.substitute``.
    """
    values: dict[Var, Expr] = {}
    if not isinstance(vmap, Mapping):
        raise TirscriptError("substitute takes a dict of variables and values", code="node-argument")
    for var, value in vmap.items():
        if not isinstance(var, Var):
            raise TirscriptError(f"substitute: {var!r} is no variable", code="node-argument")
        new = as_expr("substitute", value, var.dtype if isinstance(value, int) else None)
        if new.dtype != var.dtype:
            raise TirscriptError(
                f"substitute: `{var.name}` is {var.dtype}, the value is {new.dtype}", code="dtype-mismatch"
            )
        values[var] = new
    if isinstance(node, PrimFunc):
        return node.replace(body=_substitute(node.body, values))
    with deep_recursion():
        return _substitute(_root(node, "substitute"), values)


def renew_defs(func: PrimFunc) -> PrimFunc:
    """A copy of the function that shares no definition with it.

    Source: TVM's ``tir.stmt_functor.renew_defs``.
    """
    if not isinstance(func, PrimFunc):
        raise TirscriptError(f"renew_defs takes a PrimFunc, not {type(func).__name__}", code="node-argument")
    return fresh_copy(func)


def __getattr__(name: str) -> Any:
    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
