"""Which text and which HTML stand for each kind of object."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from tirscript.diagnostics import TirscriptError, did_you_mean
from tirscript.ir import hooks
from tirscript.ir.printable import Printable

from . import emit
from .tables import table_html
from .units import seconds as seconds

_COST = ("cost", "sizes", "timing", "machine")


def in_notebook() -> bool:
    """Whether the code runs in a kernel that displays HTML."""
    module = sys.modules.get("IPython")
    if module is None:
        return False
    shell = module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def mimebundle(value: Any) -> dict[str, str]:
    """The plain text and the HTML that a notebook shows for ``value``."""
    shown = _shown(value)
    if shown is not None:
        return shown(value)
    text = str(value)
    return {"text/plain": text, "text/html": emit.html(text)}


def _shown(value: Any) -> Callable[[Any], dict[str, str]] | None:
    for cls in type(value).__mro__:
        found = _SHOWN.get(cls.__name__)
        if found is not None and cls.__module__.startswith("tirscript."):
            return found
    return None


def show(
    value: Any,
    *,
    style: str | None = None,
    black_format: bool = False,
    cost: bool = False,
    **options: Any,
) -> None:
    """Show the script of ``value``, highlighted.

    In a notebook as HTML in the notebook's colours; in a terminal in the terminal's; plain where the
    output goes to a file or ``NO_COLOR`` is set.  ``style`` names a style of Pygments; ``options`` are
    those of ``script``.  ``black_format`` is TVM's and changes nothing: the printed form is the only one.

    ``cost=True`` writes beside each function, loop and block what it costs: how often it runs, operations,
    bytes moved, memory that one run touches, operations for each byte of that.  ``sizes={"n": 128}`` are
    numbers for symbolic sizes; ``timing=`` a measurement and ``machine=`` the machine (a ``Machine``, or
    ``True`` to measure it) add the speed and the share of the peak.
    """
    if not cost and (extra := [k for k in _COST[1:] if k in options]):
        raise TirscriptError(f"`{extra[0]}` goes with cost=True", code="unknown-option")
    if isinstance(value, Printable) or isinstance(getattr(value, "mod", None), Printable):
        bundle = _program(value if isinstance(value, Printable) else value.mod, style, cost, options)
    else:
        bundle = _other(value, cost, options)
    if in_notebook():
        from IPython.display import display

        display(bundle, raw=True)  # type: ignore[no-untyped-call]
    elif not _colours():
        print(bundle["text/plain"])
    elif "text/ansi" in bundle:
        print(bundle["text/ansi"])
    else:
        print(emit.ansi(bundle["text/plain"], style=style))


def _program(value: Printable, style: str | None, cost: bool, options: dict[str, Any]) -> dict[str, str]:
    if cost:
        from .margin import cost_text

        if options.get("machine") is True:
            from .machine import measure_machine

            options["machine"] = measure_machine()
        text = cost_text(value, options)  # type: ignore[arg-type]
    else:
        if options:
            from tirscript.script.printer.options import own_options

            options = own_options(options, ("style", *_COST))
        text = hooks.call("script", value, **options)
    return {"text/plain": text, "text/html": emit.html(text, style=style)}


def _other(value: Any, cost: bool, options: dict[str, Any]) -> dict[str, str]:
    shown = _shown(value)
    if shown is None and type(value).__module__.startswith("tirscript."):
        shown = getattr(type(value), "_repr_mimebundle_", None)
    if shown is None:
        raise TirscriptError(f"show takes a program, not {type(value).__name__}", code="not-a-program")
    if cost or options:
        word = "cost" if cost else next(iter(options))
        raise TirscriptError(
            f"a {type(value).__name__} is shown without options; `{word}` is for programs",
            code="unknown-option",
            hint=did_you_mean(word, ("style", "black_format")),
        )
    bundle = dict(shown(value))
    if _colours() and not in_notebook():
        if type(value).__name__ == "Diff":
            from .diff_view import unified

            bundle["text/ansi"] = unified(value, colours=True)
        elif type(value).__name__ == "Tree":
            from .tree_view import tree_ansi

            bundle["text/ansi"] = tree_ansi(value)
        elif type(value).__name__ not in ("Trace", "Schedule"):
            bundle["text/ansi"] = bundle["text/plain"]
    return bundle


def _colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


# ---- objects of other rooms, by the name of their class: nothing is imported to show something else


def _schedule(sch: Any) -> dict[str, str]:
    text = sch.mod.script()
    return {"text/plain": text, "text/html": emit.html(text)}


def _text(value: Any) -> dict[str, str]:
    text = str(value)
    return {"text/plain": text, "text/html": emit.html(text)}


def _repr(value: Any) -> dict[str, str]:
    text = repr(value)
    return {"text/plain": text, "text/html": emit.html(text)}


def _diff(diff: Any) -> dict[str, str]:
    from .diff_view import side_by_side

    return {"text/plain": str(diff), "text/html": side_by_side(diff)}


def _tree(tree: Any) -> dict[str, str]:
    from .tree_view import tree_html

    return {"text/plain": str(tree), "text/html": tree_html(tree)}


def _history(history: Any) -> dict[str, str]:
    rows = []
    undone = []
    for n, step in enumerate(history.all):
        gone = step.number > history.done
        if gone:
            undone.append(n)
        took = "" if step.seconds is None else seconds(step.seconds)
        rows.append(
            (f"({step.number})" if gone else str(step.number), step.text, "; ".join(step.changed), took)
        )
    if not rows:
        return {"text/plain": str(history), "text/html": emit.html(str(history))}
    html = table_html(rows, ("step", "call", "what changed", "took"), code=(1,), right=(0, 3), faint=undone)
    return {"text/plain": str(history), "text/html": html}


def _module(module: Any) -> dict[str, str]:
    rows = [("target", str(module.target or "llvm"))]
    for name, function in module.functions.items():
        signature = getattr(getattr(function, "__self__", function), "signature", None)
        rows.append(("function", str(signature) if signature is not None else str(name)))
    rows.append(("sources", ", ".join(module.formats())))
    return {"text/plain": repr(module), "text/html": table_html(rows, code=(1,))}


def _timing(timing: Any) -> dict[str, str]:
    from .report import timing_html

    return {"text/plain": timing.report(), "text/html": timing_html(timing)}


def _target(target: Any) -> dict[str, str]:
    rows = [("target", str(target.kind))]
    rows += [(key, str(value)) for key, value in target.attrs.items()]
    if target.host is not None:
        rows.append(("host", str(target.host)))
    return {"text/plain": repr(target), "text/html": table_html(rows, code=(1,))}


def _array(array: Any) -> dict[str, str]:
    shape = " × ".join([str(n) for n in array.shape]) or "one element"
    size = array.numpy().nbytes
    from .units import amount

    head = table_html(
        [("array", f"{array.dtype}, {shape}"), ("device", str(array.device)), ("size", amount(size, "B"))]
    )
    values = repr(array).partition("\n")[2]
    return {"text/plain": repr(array), "text/html": head + emit.html(values)}


def _te_tensor(tensor: Any) -> dict[str, str]:
    shape = ", ".join([repr(n) for n in tensor.shape])
    rows = [("tensor", f"{tensor.name}[{shape}]: {tensor.dtype}"), ("made by", repr(tensor.op))]
    axes = getattr(tensor.op, "axis", None)
    if axes is not None:
        index = ", ".join([v.var.name for v in axes])
        rows.append(("element", f"{tensor.name}[{index}] = {tensor.op.body[tensor.value_index]!r}"))
    if tensor.op.input_tensors:
        rows.append(("reads", ", ".join([t.name for t in tensor.op.input_tensors])))
    return {"text/plain": repr(tensor), "text/html": table_html(rows, code=(1,))}


def _cost(cost: Any) -> dict[str, str]:
    from .report import cost_html, cost_table

    return {"text/plain": cost_table(cost), "text/html": cost_html(cost)}


_SHOWN: dict[str, Callable[[Any], dict[str, str]]] = {
    "Schedule": _schedule,
    "Trace": _text,
    "Diff": _diff,
    "History": _history,
    "Step": _repr,
    "Tree": _tree,
    "BlockRV": _repr,
    "LoopRV": _repr,
    "ExprRV": _repr,
    "Module": _module,
    "Timing": _timing,
    "Target": _target,
    "Device": _repr,
    "NDArray": _array,
    "Tensor": _te_tensor,
    "FunctionCost": _cost,
    "Machine": _repr,
}
