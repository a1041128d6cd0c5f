"""Notes beside loops and blocks: what they cost, how they are run, what share of the machine that is."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.cost import Cost, Count, FunctionCost, cost_of
from tirscript.arith.linear import to_linear
from tirscript.diagnostics import TirscriptError
from tirscript.ir import dtype as dt
from tirscript.ir.expr import IntImm
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import For

from .units import amount, percent, seconds

_BOUNDS = {0: "", 1: "<= ", 2: ">= ", 3: "~ "}


def number(c: Count, unit: str, sizes: dict[str, int]) -> str:
    """A count with its unit; a formula where sizes are open."""
    mark = _BOUNDS[c.bound]
    known = c.const
    if known is None and all(v.name in sizes for v in c.sizes()):
        known = c.value(sizes)
    if known is not None:
        return mark + amount(known, unit)
    text = c.formula()
    return f"{mark}{text if ' ' not in text or text.startswith('(') else f'({text})'} {unit}"


def notes_for(
    program: PrimFunc | IRModule,
    *,
    sizes: dict[str, int] | None = None,
    timing: Any = None,
    machine: Any = None,
) -> dict[Any, str]:
    """The notes by node: each function, loop, and block."""
    functions = [("", program)] if isinstance(program, PrimFunc) else program.items()
    out: dict[Any, str] = {}
    for name, f in functions:
        cost = cost_of(program, name) if name else cost_of(f)
        # A memory of the last measurement, so that the share of the machine's peak can be told.
        measured = timing if timing is not None else memo_of(f).get("timing")
        out[f] = function_note(cost, sizes or {}, measured, machine)
        for part in cost:
            if part.what == "block" and part.node.name == "root":
                continue
            out[part.node] = part_note(part, sizes or {})
    return out


def function_note(cost: FunctionCost, sizes: dict[str, int], timing: Any = None, machine: Any = None) -> str:
    """What the whole function does; after a measurement also how fast."""
    parts = [
        number(cost.flops, "FLOP", sizes),
        f"moves {number(cost.bytes, 'B', sizes)}",
        f"touches {number(cost.footprint, 'B', sizes)}",
    ]
    ratio = _ratio(cost, sizes)
    if ratio:
        parts.append(ratio)
    if timing is not None:
        parts.append(speed_note(timing, machine))
    return ", ".join(parts)


def speed_note(timing: Any, machine: Any = None) -> str:
    """How fast a measured function was, and what share of the machine's peak that is."""
    text = seconds(timing.median)
    flops, through = timing.flops_per_second, timing.bytes_per_second
    if flops:
        share = f" ({percent(flops / machine.flops)} of peak)" if machine is not None else ""
        text += f", {amount(flops, 'FLOP/s')}{share}"
    if through:
        share = f" ({percent(through / machine.bandwidth)} of peak)" if machine is not None else ""
        text += f", {amount(through, 'B/s')}{share}"
    return text


def part_note(part: Cost, sizes: dict[str, int]) -> str:
    """What one loop or block does in all, and how much one run of it touches."""
    if part.runs == 0:
        return "never runs"
    out = []
    if part.runs != 1:
        out.append(_times(part.runs, sizes))
    if part.flops.terms:
        out.append(number(part.flops, "FLOP", sizes))
    if part.bytes.terms:
        out.append(number(part.bytes, "B", sizes))
    if isinstance(part.node, For) or part.what == "loop":
        if part.footprint.terms:
            out.append(f"touches {number(part.footprint, 'B', sizes)}")
        ratio = _ratio(part, sizes)
        if ratio:
            out.append(ratio)
        state = loop_state(part)
        if state:
            out.append(state)
    return ", ".join(out)


def _times(c: Count, sizes: dict[str, int]) -> str:
    known = c.const
    if known is None and all(v.name in sizes for v in c.sizes()):
        known = c.value(sizes)
    if known is None:
        return f"{number(c, '', sizes).strip()} times"
    return f"{_BOUNDS[c.bound]}{known:,}x"


def _ratio(part: Cost, sizes: dict[str, int]) -> str:
    if not part.flops.terms:
        return ""
    try:
        found = part.intensity(**sizes) if sizes else part.intensity()
    except TirscriptError:
        return ""
    return "" if found is None else f"{amount(found, 'FLOP/B')}"


def loop_state(part: Cost) -> str:
    """How a loop is run: lanes and strides of a vectorized one, iterations of a parallel one."""
    loop = part.node
    if not isinstance(loop, For):
        return ""
    extent = loop.extent.value if type(loop.extent) is IntImm else None
    if loop.kind == "vectorized":
        widths = {dt.info(a.buffer.dtype).bits for a in part.accesses}
        lanes = f"{extent} lanes" if extent is not None else "vector"
        if extent is not None and widths:
            lanes = f"{extent} x {max(widths)} bits"
        strides = _strides(part)
        return f"{lanes}; {strides}" if strides else lanes
    if loop.kind == "parallel":
        return f"{extent} tasks" if extent is not None else "parallel"
    return ""


def _strides(part: Cost) -> str:
    """Which accesses of a vectorized loop are contiguous, which stand still, which jump."""
    groups: dict[str, list[str]] = {"contiguous": [], "one element": [], "strided": []}
    for a in part.accesses:
        stride = 0
        step = 1
        known = True
        for n in range(len(a.indices) - 1, -1, -1):
            lin = to_linear(a.indices[n])
            size = a.buffer.shape[n]
            if lin is None or any(
                v is not part.node.loop_var and part.node.loop_var in _inside(v) for v in lin.terms
            ):
                known = False
                break
            stride += lin.coefficient(part.node.loop_var) * step
            if type(size) is not IntImm:
                if n and any(_uses(a.indices[k], part.node.loop_var) for k in range(n)):
                    known = False
                break
            step *= size.value
        kind = "strided" if not known or stride not in (0, 1) else ("one element", "contiguous")[stride]
        name = a.buffer.name if kind != "strided" or not known else f"{a.buffer.name} by {stride}"
        if name not in groups[kind]:
            groups[kind].append(name)
    if not groups["strided"] and not groups["one element"]:
        return "contiguous" if groups["contiguous"] else ""
    return ", ".join([f"{' '.join(names)} {kind}" for kind, names in groups.items() if names])


def _inside(atom: Any) -> Any:
    from tirscript.arith.linear import atom_expr
    from tirscript.ir.visitor import free_vars

    return free_vars(atom_expr(atom))


def _uses(e: Any, v: Any) -> bool:
    from tirscript.ir.visitor import free_vars

    return v in free_vars(e)


def cost_text(program: PrimFunc | IRModule, options: dict[str, Any]) -> str:
    """The script with the notes, one loop a line unless ``sugar=True`` is asked for."""
    own = {k: options.pop(k, None) for k in ("sizes", "timing", "machine")}
    if not isinstance(program, (PrimFunc, IRModule)):
        raise TirscriptError(
            f"cost=True takes a function or a module, not {type(program).__name__}", code="not-a-program"
        )
    notes = notes_for(program, **own)
    more = options.pop("annotate", None) or {}
    marked = {node: f"{_MARK}{note}" for node, note in notes.items()}
    text = program.script(**{"sugar": False, **options, "annotate": {**marked, **dict(more)}})
    return _aligned(text)


# Stands before a note until the notes are put below each other; no script holds it.
_MARK = "\x04"
_MARGIN = 76


def _aligned(text: str) -> str:
    """The notes in one column, as far right as the lines that are not long reach."""
    lines = [line.partition(f"  # {_MARK}") for line in text.split("\n")]
    noted = [len(code) for code, mark, _ in lines if mark]
    column = max([n for n in noted if n <= _MARGIN], default=0) + 2
    out = []
    for code, mark, note in lines:
        note = note.replace(_MARK, "")
        if not mark:
            out.append(code)
        elif len(code) <= _MARGIN:
            out.append(f"{code:<{column}}# {note}")
        else:
            # Beside a long line nobody would see it.
            indent = len(code) - len(code.lstrip()) + 4
            out += [code, f"{' ' * indent}# {note}"]
    return "\n".join(out)


__all__ = ["cost_of", "cost_text", "function_note", "loop_state", "notes_for", "part_note", "speed_note"]
