"""TVM's helpers for tests with pytest: parameters, fixtures, running a file.  pytest is imported on use."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

__all__ = ["fixture", "main", "parameter", "parameters"]

_count = itertools.count()


def main() -> NoReturn:
    """Run the tests of the file that calls this, with the command line's arguments; ends the program.

    Source: TVM's ``tvm.testing.main``.
    """
    import pytest

    path = inspect.getsourcefile(sys._getframe(1)) or sys.argv[0]
    sys.exit(pytest.main([path, *sys.argv[1:]]))


def _called_as_method(f: Callable[..., Any], names: Sequence[str]) -> Any:
    """``f(*names)`` as a function that pytest may also find in a class."""
    given = ", ".join(names)
    space: dict[str, Any] = {"f": f}
    exec(f"def value(*_, {given}): return f({given})", space)
    return space["value"]


def parameter(*values: Any, ids: Any = None, by_dict: Mapping[str, Any] | None = None) -> Any:
    """A parameter of the tests that have an argument of that name: each runs once for every value.

    ``size = parameter(16, 32)``, then ``def test(size): ...``.

    Source: TVM's ``tvm.testing.parameter``.
    """
    import pytest

    if by_dict is not None:
        if values or ids is not None:
            raise TypeError("parameter takes values and ids, or by_dict")
        ids, values = tuple(by_dict), tuple(by_dict.values())
    made = _called_as_method(lambda request: request.param, ["request"])
    return pytest.fixture(params=list(values), ids=ids)(made)


def parameters(*value_sets: Sequence[Any], ids: Any = None) -> list[Any]:
    """Parameters that vary together: ``x, y = parameters((1, 2), (3, 4))``.

    Source: TVM's ``tvm.testing.parameters``.
    """
    import pytest

    sizes = {len(s) for s in value_sets}
    if len(sizes) != 1:
        raise TypeError("parameters takes tuples of one length, a value for each name")
    # The one thing that varies is a fixture of its own, put beside the names that are assigned.
    which = f"parameter_set_{next(_count)}"
    chosen = _called_as_method(lambda request: request.param, ["request"])
    sys._getframe(1).f_locals[which] = pytest.fixture(params=range(len(value_sets)), ids=ids)(chosen)
    return [
        pytest.fixture(_called_as_method(lambda k, column=column: column[k], [which]))
        for column in zip(*value_sets, strict=True)
    ]


def fixture(func: Any = None, *, cache_return_value: bool = False) -> Any:
    """A fixture, as pytest's.  With ``cache_return_value`` it is computed once for equal arguments, and each
    test gets a copy.

    Source: TVM's ``tvm.testing.fixture``.
    """
    import pytest

    def decorate(f: Any) -> Any:
        return pytest.fixture(_cached(f) if cache_return_value else f)

    return decorate if func is None else decorate(func)


def _cached(f: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[bytes, Any] = {}

    @functools.wraps(f)
    def cached(*args: Any, **kwargs: Any) -> Any:
        try:
            key = pickle.dumps((args, sorted(kwargs.items())))
        except Exception:  # what cannot be compared is computed
            return f(*args, **kwargs)
        if key not in known:
            known[key] = f(*args, **kwargs)
        return copy.deepcopy(known[key])

    return cached
