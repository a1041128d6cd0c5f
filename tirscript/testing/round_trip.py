"""Text and program, both ways."""

from __future__ import annotations

import difflib
import warnings
from typing import Any

from tirscript.diagnostics import TirscriptError, TirscriptWarning
from tirscript.ir.equal import assert_structural_equal, structural_equal


def structural_diff(a: Any, b: Any, *, names: bool = False) -> str | None:
    """What differs between two programs: a rendered message, None where they are equal.

    >>> from tirscript.ir.expr import Var, const_int
    >>> x = Var("x")
    >>> structural_diff(x + 1, x + 1) is None
    True
    >>> "2" in structural_diff(x + 1, x + 2)
    True
    """
    if structural_equal(a, b, names=names):
        return None
    try:
        assert_structural_equal(a, b)
    except TirscriptError as error:
        return str(error)
    first, second = a.script(), b.script()
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), "left", "right", lineterm="", n=1)
    return "the programs differ in names alone:\n" + "\n".join(lines)


def assert_round_trip(program: Any, *, names: bool = True) -> str:
    """Print, parse and print: the program comes back equal (names included) and the text the same.

    Returns the text.  The error shows the first difference and the text.

    >>> import tirscript as ts
    >>> text = assert_round_trip(ts.parse("@T.prim_func\\ndef f(n: T.int32) -> T.int32:\\n    T.ret(n + 1)"))
    >>> print(text.splitlines()[-1])
        T.ret(n + 1)
    """
    from tirscript.script.parser import parse

    text: str = program.script()
    with warnings.catch_warnings():
        # What is doubtful about the program was said where it was written.
        warnings.simplefilter("ignore", TirscriptWarning)
        try:
            back = parse(text)
        except TirscriptError as error:
            raise AssertionError(f"the printed text does not parse: {error}\n\n{text}") from None
    difference = structural_diff(program, back, names=names)
    if difference is not None:
        raise AssertionError(f"the program does not come back: {difference}\n\n{text}")
    again = back.script()
    if again != text:
        lines = difflib.unified_diff(text.splitlines(), again.splitlines(), "first", "second", lineterm="")
        raise AssertionError("the text is no fixpoint:\n" + "\n".join(lines))
    return text
