"""What went wrong in a call of a Python function or an operator: arity, keywords, or an error inside."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from tirscript.diagnostics import did_you_mean
from tirscript.ir.expr import Expr

from .core import Parser


def python_error(
    p: Parser, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any], error: Exception
) -> Exception:
    """The diagnostic for the exception ``error`` of ``function(*args, **kwargs)``."""
    what = ast.unparse(node.func)
    if isinstance(error, TypeError):
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            signature = None
        if signature is not None:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as e:
                return _arity(p, node, what, signature, args, e)
    if any(isinstance(a, Expr) for a in (*args, *kwargs.values())) and function in _PYTHON_NUMBERS:
        return p.error(
            node,
            f"Python's `{what}` takes a Python value, this is computed by the program",
            "python-value",
            hint=_PYTHON_NUMBERS[function],
        )
    if isinstance(error, NotImplementedError):
        return p.error(node, str(error), "not-yet")
    detail = str(error)
    text = f"{type(error).__name__}: {detail}" if detail else type(error).__name__
    return p.error(node, f"`{what}` raised {text}", "python-call")


_PYTHON_NUMBERS: dict[Any, str] = {
    int: 'T.cast(x, "int32") converts',
    float: 'T.cast(x, "float32") converts',
    bool: "`x != 0` is the truth of a number",
    len: "the shape of a buffer is `A.shape`",
    round: "T.round rounds",
    range: "`range` stands in the header of a `for`",
    complex: "there are no complex numbers",
    str: "a text is known while the script is read",
}


def _arity(
    p: Parser, node: ast.Call, what: str, signature: inspect.Signature, args: list[Any], error: TypeError
) -> Exception:
    parameters = signature.parameters
    hint = f"{what}{_plain(signature)}"
    takes_any = any(q.kind is q.VAR_KEYWORD for q in parameters.values())
    for k in node.keywords:
        if k.arg is not None and k.arg not in parameters and not takes_any:
            close = did_you_mean(k.arg, parameters)
            return p.error(k, f"{what} has no parameter `{k.arg}`", "unknown-keyword", hint=close or hint)
    positional = [q for q in parameters.values() if q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)]
    if len(args) > len(positional) and not any(q.kind is q.VAR_POSITIONAL for q in parameters.values()):
        where = node.args[len(positional)] if len(node.args) == len(args) else node
        plural = "s" if len(positional) != 1 else ""
        return p.error(
            where, f"{what} takes {len(positional)} argument{plural}, {len(args)} given", "arity", hint=hint
        )
    return p.error(node, f"{what}: {error}", "arity", hint=hint)


def _plain(signature: inspect.Signature) -> str:
    """The signature without annotations."""
    parameters = [q.replace(annotation=inspect.Parameter.empty) for q in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
