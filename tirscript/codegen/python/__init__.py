"""The python target: a program as plain Python loops over NumPy arrays.

It is the readable meaning of a program, blocks included, and the oracle of the tests.
"""

from __future__ import annotations

import ast
import itertools
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tirscript.diagnostics import CheckFailed, CodegenError, deep_recursion
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule

from . import build as py
from .names import Names

if TYPE_CHECKING:
    from .checked import Sites

__all__ = ["compile_python", "to_python"]


def to_python(func_or_mod: PrimFunc | IRModule, *, checked: bool | str = False) -> str:
    """The source of a Python module that runs the program on NumPy arrays.

    ``checked=True``: the program watches itself while it runs, and raises ``CheckFailed`` where it does
    what it may not do; with ``checked="overflow"`` also where data wrap around, shift too far or are
    converted to what cannot hold them.

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
    return _source(func_or_mod, checked)[0]


def _source(func_or_mod: PrimFunc | IRModule, checked: bool | str) -> tuple[str, Sites]:
    from .checked import Sites

    sites = Sites()
    with deep_recursion():
        body = module_body(func_or_mod, checked, sites)
        return py.render(body), sites


def compile_python(
    func_or_mod: PrimFunc | IRModule, *, checked: bool | str = False
) -> dict[str, Callable[..., Any]]:
    """The functions of the program by name; each takes NumPy arrays and numbers in the order of its
    parameters."""
    import numpy as np

    source, sites = _source(func_or_mod, checked)
    space: dict[str, Any] = {"__name__": "tirscript.generated"}
    file = f"<python target {next(_count)}>"
    try:
        with deep_recursion():
            code = compile(source, file, "exec")
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise CodegenError(f"Python cannot compile the program: {error}", code="python-limit") from None
    _remember(file, source)
    exec(code, space)

    watch = space.get("watch") if checked else None
    if watch is not None:
        watch.spans = sites.nodes

    def runner(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with np.errstate(all="ignore"), nullcontext() if watch is None else watch.call():
                try:
                    return function(*args)
                except IndexError as error:
                    # Only NumPy says so: a checked program says it itself.
                    raise _left(function.__name__, error).with_traceback(error.__traceback__) from None

        run.__name__ = run.__qualname__ = function.__name__
        return run

    return {name: runner(space[python]) for name, python in _names(func_or_mod, checked).items()}


def _left(name: str, error: IndexError) -> CheckFailed:
    """What a program that leaves a buffer fails with; debuggers still stop at the generated line."""
    import traceback

    lines = [f"in `{f.line}`" for f in traceback.extract_tb(error.__traceback__)[-1:] if f.line]
    return CheckFailed(
        f"`{name}` leaves a buffer: {error}",
        code="out-of-bounds",
        notes=lines,
        hint='build(mod, target="python -checked") says where, in which iteration',
    )


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


def _names(func_or_mod: PrimFunc | IRModule, checked: bool | str) -> dict[str, str]:
    """The Python name of every function."""
    from . import support

    own = ("watch", "Sanitizer") if checked else ()
    names = Names([*own, *[n for n in vars(support) if not n.startswith("_")]])
    return {name: names.new(name) for name, _ in _functions(func_or_mod)}


def module_body(func_or_mod: PrimFunc | IRModule, checked: bool | str, sites: Sites) -> list[ast.stmt]:
    """The statements of the Python module; ``sites`` collects the places that a checked one names."""
    from .checked import CheckedEmitter
    from .emit import Emitter
    from .outline import Outliner

    names = _names(func_or_mod, checked)
    used: set[str] = set()
    own = {"math", "watch"} if checked else {"math"}
    outliner = Outliner(lambda: used | set(names.values()) | own)
    made: list[ast.stmt] = []
    callees = dict(_functions(func_or_mod))
    for name, function in _functions(func_or_mod):
        outliner.owner = names[name]
        start = len(outliner.functions)
        emitter = (
            CheckedEmitter(names, outliner, used, callees, sites, checked == "overflow")
            if checked
            else Emitter(names, outliner, used, callees)
        )
        emitted = emitter.function(names[name], function)
        made += [*outliner.functions[start:], emitted]
    header: list[ast.stmt] = []
    loaded = {n.id for s in made for n in ast.walk(s) if isinstance(n, ast.Name)}
    if "math" in loaded:
        header.append(ast.Import([ast.alias("math", None)]))
    if "product" in loaded:
        header.append(ast.ImportFrom("itertools", [ast.alias("product", None)], 0))
    header.append(ast.Import([ast.alias("numpy", "np")]))
    here = "tirscript.codegen.python"
    if checked:
        header.append(ast.ImportFrom(f"{here}.sanitizer", [ast.alias("Sanitizer", None)], 0))
    if used:
        header.append(ast.ImportFrom(f"{here}.support", [ast.alias(n, None) for n in sorted(used)], 0))
    if checked:
        texts = [py.string(text) for text in sites.texts()]
        header.append(py.assign("watch", py.call("Sanitizer", ast.List(texts, ast.Load()))))
    return [*header, *made]
