"""``CompareBeforeAfter``: a test that a pass makes the expected program, written as TVM's tests are."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir.equal import assert_structural_equal
from tirscript.ir.expr import Expr
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule

__all__ = ["CompareBeforeAfter", "assert_prim_expr_equal", "check_bool_expr_is_true"]


class CompareBeforeAfter:
    """The base of test classes with ``transform``, ``before`` and ``expected``.

    ``transform`` is a pass, or a method that gives one; ``before`` and ``expected`` are functions in script
    without decorator, classes of such, PrimFuncs, IRModules, or methods or fixtures that give one of these.
    ``expected`` may be a class of errors.

    Source: TVM's ``tvm.testing.CompareBeforeAfter``.
    """

    check_well_formed: bool = True

    def __init_subclass__(cls) -> None:
        frame = sys._getframe(1)
        own = vars(cls)
        for name in ("before", "expected"):
            if name in own:
                setattr(cls, name, _fixture(cls, own[name], frame))
        if "transform" in own:
            given = own["transform"]
            if not _is_fixture(given):
                setattr(cls, "transform", _value(given) if not _is_method(given) else _made(given))  # noqa: B010

    def test_compare(self, before: Any, expected: Any, transform: Callable[[IRModule], IRModule]) -> None:
        """The pass makes of ``before`` what is expected."""
        mod = IRModule.from_expr(before) if isinstance(before, PrimFunc) else before
        if inspect.isclass(expected) and issubclass(expected, BaseException):
            import pytest

            with pytest.raises(expected):
                transform(mod)
            return
        after: Any = transform(mod)
        if isinstance(expected, PrimFunc) and isinstance(after, IRModule):
            functions = list(after.functions.values())
            if len(functions) != 1:
                raise AssertionError(f"one function is expected, the pass made {len(functions)}")
            after = functions[0]
            name = after.attrs.get("global_symbol")
            # `before` and `expected` are names of the test, not of the program.
            expected = (
                expected.without_attr("global_symbol")
                if name is None
                else expected.with_attr("global_symbol", name)
            )
        assert_structural_equal(after, expected)


def _is_method(f: Any) -> bool:
    return isinstance(f, types.FunctionType) and "self" in inspect.signature(f).parameters


def _is_fixture(f: Any) -> bool:
    return type(f).__name__ == "FixtureFunctionDefinition" or hasattr(f, "_pytestfixturefunction")


def _value(value: Any) -> Any:
    """A fixture of that value."""
    import pytest

    return pytest.fixture(lambda self: value)


def _made(method: Any) -> Any:
    """A fixture of what a method gives; its further arguments are fixtures."""
    import pytest

    return pytest.fixture(method)


def _fixture(cls: type, given: Any, frame: types.FrameType) -> Any:
    if _is_fixture(given):
        return given
    if isinstance(given, (PrimFunc, IRModule)):
        return _value(given)
    if inspect.isclass(given):
        return _value(given if issubclass(given, BaseException) else _read_class(cls, given, frame))
    if _is_method(given):
        return _made(given)
    if isinstance(given, types.FunctionType):
        return _value(_read_function(cls, given, frame))
    raise TirscriptError(f"{given!r} is no program to compare", code="not-a-program")


def _read_function(cls: type, given: types.FunctionType, frame: types.FrameType) -> Any:
    from tirscript.script.parser import entry
    from tirscript.script.parser.core import Options

    options = Options(False, getattr(cls, "check_well_formed", True), False)
    return _raised(entry.decorated_function(given, frame, options))


def _read_class(cls: type, given: type, frame: types.FrameType) -> Any:
    """The module of a class that may have no decorator."""
    functions: dict[str, PrimFunc] = {}
    for name, member in vars(given).items():
        if isinstance(member, PrimFunc):
            functions[name] = member.with_attr("global_symbol", name)
        elif isinstance(member, types.FunctionType) and not name.startswith("_"):
            functions[name] = _read_function(cls, member, frame)
    return IRModule(functions)


def _raised(result: Any) -> Any:
    if isinstance(result, TirscriptError):
        raise result
    return result


# ---- expressions


def assert_prim_expr_equal(lhs: Any, rhs: Any) -> None:
    """Fail unless the difference of the two simplifies to 0.

    Source: TVM's ``tvm.testing.assert_prim_expr_equal``.
    """
    from tirscript.arith import Analyzer
    from tirscript.ir import ops

    a, b = ops.promote(lhs, rhs, comparison=True)
    if not Analyzer().can_prove(ops.eq(a, b)):
        raise AssertionError(f"{lhs!r} and {rhs!r} are not equal")


def check_bool_expr_is_true(bool_expr: Expr, vranges: Any, cond: Any = None) -> None:
    """Fail unless the condition holds for all values in the ranges for which ``cond`` does.

    Source: TVM's ``tvm.testing.check_bool_expr_is_true``.
    """
    import itertools

    from tirscript.arith import simplify
    from tirscript.ir import ops
    from tirscript.ir.expr import IntImm, const_int
    from tirscript.ir.visitor import substitute

    variables = list(vranges)
    ends = [(int(simplify(r.min).value), int(simplify(r.extent).value)) for r in vranges.values()]  # type: ignore[attr-defined]
    for values in itertools.product(*[range(low, low + size) for low, size in ends]):
        at = {v: const_int(x, v.dtype) for v, x in zip(variables, values, strict=True)}
        if cond is not None:
            test = simplify(substitute(ops.as_expr(cond), at))
            if isinstance(test, IntImm) and not test.value:
                continue
        holds = simplify(substitute(bool_expr, at))
        if not (isinstance(holds, IntImm) and holds.value):
            shown = ", ".join([f"{v.name}={x}" for v, x in zip(variables, values, strict=True)])
            raise AssertionError(f"{bool_expr!r} does not hold at {shown}: {holds!r}")
