"""The python target: a program as plain Python loops over NumPy arrays.

It is the readable meaning of a program, blocks included, and the oracle of the tests.
"""

from __future__ import annotations

import ast
import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import CodegenError, NotYetError, deep_recursion
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule

from . import build as py
from .names import Names

__all__ = ["compile_python", "to_python"]


def to_python(func_or_mod: PrimFunc | IRModule, *, checked: bool = False) -> str:
    """The source of a Python module that runs the program on NumPy arrays.

    >>> import tirscript as ts
    >>> f = ts.parse('''
    ... @T.prim_func
    ... def scale(A: T.Buffer((4,), "float32")):
    ...     for i in range(4):
    ...         A[i] = A[i] * T.float32(2)
    ... ''')
    >>> print(to_python(f), end="")
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def scale(A):
        for i in range(4):
            A[i] = A[i] * 2.0
    """
    if checked:
        raise NotYetError("`python -checked` is not there yet", code="not-yet-python")
    with deep_recursion():
        body, _ = _module(func_or_mod)
        return py.render(body)


def compile_python(
    func_or_mod: PrimFunc | IRModule, *, checked: bool = False
) -> dict[str, Callable[..., Any]]:
    """The functions of the program by name; each takes NumPy arrays and numbers in the order of its
    parameters."""
    import numpy as np

    source = to_python(func_or_mod, checked=checked)
    space: dict[str, Any] = {"__name__": "tirscript.generated"}
    file = f"<python target {next(_count)}>"
    try:
        with deep_recursion():
            code = compile(source, file, "exec")
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise CodegenError(f"Python cannot compile the program: {error}", code="python-limit") from None
    _remember(file, source)
    exec(code, space)

    def runner(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with np.errstate(all="ignore"):
                return function(*args)

        run.__name__ = run.__qualname__ = function.__name__
        return run

    return {name: runner(space[python]) for name, python in _names(func_or_mod).items()}


_count = itertools.count(1)
_KEPT = 256
_shown: deque[str] = deque()


def _remember(file: str, source: str) -> None:
    """Let debuggers and tracebacks show the generated lines, of the programs compiled last."""
    import linecache

    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    _shown.append(file)
    if len(_shown) > _KEPT:
        linecache.cache.pop(_shown.popleft(), None)


def _functions(func_or_mod: PrimFunc | IRModule) -> list[tuple[str, PrimFunc]]:
    if isinstance(func_or_mod, PrimFunc):
        return [(func_or_mod.name, func_or_mod)]
    return func_or_mod.items()


def _names(func_or_mod: PrimFunc | IRModule) -> dict[str, str]:
    """The Python name of every function."""
    from . import support

    names = Names(n for n in vars(support) if not n.startswith("_"))
    return {name: names.new(name) for name, _ in _functions(func_or_mod)}


def _module(func_or_mod: PrimFunc | IRModule) -> tuple[list[ast.stmt], dict[str, str]]:
    from .emit import Emitter
    from .outline import Outliner

    names = _names(func_or_mod)
    used: set[str] = set()
    outliner = Outliner(lambda: used | set(names.values()) | {"math"})
    made: list[ast.stmt] = []
    callees = dict(_functions(func_or_mod))
    for name, function in _functions(func_or_mod):
        outliner.owner = names[name]
        start = len(outliner.functions)
        emitted = Emitter(names, outliner, used, callees).function(names[name], function)
        made += [*outliner.functions[start:], emitted]
    header: list[ast.stmt] = []
    loaded = {n.id for s in made for n in ast.walk(s) if isinstance(n, ast.Name)}
    if "math" in loaded:
        header.append(ast.Import([ast.alias("math", None)]))
    if "product" in loaded:
        header.append(ast.ImportFrom("itertools", [ast.alias("product", None)], 0))
    header.append(ast.Import([ast.alias("numpy", "np")]))
    if used:
        where = "tirscript.codegen.python.support"
        header.append(ast.ImportFrom(where, [ast.alias(n, None) for n in sorted(used)], 0))
    return [*header, *made], names
