"""Random programs and random schedules for the property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .hardware_steps import HARDWARE_STEPS
from .memory_steps import MEMORY_STEPS
from .reduction_steps import REDUCTION_STEPS

HEAD = """\
from tirscript.script import tir as T

@T.prim_func
def f(A: T.Buffer((24, 24), "int32"), B: T.Buffer((24, 24), "int32"), O: T.Buffer((24, 24), "int32")):
"""

STAGE = """\
    for w0, w1 in T.grid(24, 24):
        with T.block("W"):
            vw0, vw1 = T.axis.remap("SS", [w0, w1])
            W[vw0, vw1] = SOURCE[vw0, vw1] * 3 + vw0 * 2 + vw1
"""

small = st.integers(0, 3)
kinds = st.sampled_from(["spatial", "spatial", "spatial", "scan", "opaque"])


def index(draw: Any, axes: list[str]) -> str:
    """An index that stays inside 0..23 for axes below 8."""
    form = draw(st.integers(0, 5))
    axis = draw(st.sampled_from(axes))
    if form <= 2:
        return f"{axis} + {draw(small)}" if form else axis
    if form == 3:
        return f"{axis} * {draw(st.integers(1, 2))} + {draw(st.sampled_from(axes))}"
    if form == 4:
        return f"{draw(st.integers(7, 10))} - {axis}"
    return draw(st.sampled_from([f"{axis} // 2", f"{axis} % 2", "0"]))


@st.composite
def ranges(draw: Any, outer: list[str]) -> tuple[str, str, str]:
    """A loop's range, and the axis domain that fits it."""
    n = draw(st.integers(1, 6))
    form = draw(st.integers(0, 7))
    if form == 0:
        low = draw(st.integers(1, 2))
        return f"{low}, {low + n}", f"({low}, {low + n})", ""
    if form == 1 and outer:
        return f"{draw(st.sampled_from(outer))} % 3 + 1", "6", ""
    return str(n), str(n), ""


@st.composite
def nests(draw: Any, name: str) -> list[str]:
    """The lines of one nest: loops, a block or two, an update."""
    lines: list[str] = []
    depth = draw(st.integers(1, 3))
    loops = [f"{name}{n}" for n in range(depth)]
    domains = []
    for n, v in enumerate(loops):
        bounds, domain, _ = draw(ranges(loops[:n]))
        lines.append("    " * (n + 1) + f"for {v} in range({bounds}):")
        domains.append(domain)
    for number in range(draw(st.sampled_from([1, 1, 1, 2]))):
        lines += block(draw, f"{name}_b{number}", loops, domains, depth + 1)
    return lines


def block(draw: Any, name: str, loops: list[str], domains: list[str], depth: int) -> list[str]:
    pad = "    " * depth
    axes = [f"v{v}" for v in loops]
    lines = [pad + f'with T.block("{name}"):']
    pad += "    "
    reduction = len(loops) > 1 and draw(st.booleans())
    reduced = draw(st.sampled_from(range(len(loops)))) if reduction else -1
    for n, (v, loop, domain) in enumerate(zip(axes, loops, domains, strict=True)):
        kind = "reduce" if n == reduced else draw(kinds)
        lines.append(pad + f"{v} = T.axis.{kind}({domain}, {loop})")
    if draw(st.integers(0, 5)) == 0:
        lines.append(pad + f"T.where({draw(st.sampled_from(loops))} < {draw(st.integers(1, 5))})")
    free = [v for n, v in enumerate(axes) if n != reduced]
    target = draw(st.sampled_from(["O", "O", "B"]))
    if reduction and draw(st.booleans()):
        cell = f"{target}[{free[0]}, {free[-1]}]"
        lines.append(pad + "with T.init():")
        lines.append(pad + f"    {cell} = {draw(st.integers(-3, 3))}")
        value = f"A[{index(draw, axes)}, {index(draw, axes)}]"
        update = draw(st.integers(0, 3))
        if update == 0:
            lines.append(pad + f"if {value} > 0:")
            lines.append(pad + f"    {cell} = {value}")
        elif update == 1:
            lines.append(pad + f"{cell} = T.max({cell}, {value})")
        else:
            lines.append(pad + f"{cell} = {cell} + {value}")
        return lines
    write = f"{target}[{index(draw, axes)}, {index(draw, axes)}]"
    source = draw(st.sampled_from(["A", "B", "O", target]))
    read = f"{source}[{index(draw, axes)}, {index(draw, axes)}]"
    lines.append(pad + f"{write} = {read} * 3 + {draw(st.sampled_from(axes))}")
    return lines


@st.composite
def programs(draw: Any) -> str:
    """The source of a function over A, B and O, of one to three nests and perhaps a stage W."""
    lines: list[str] = []
    staged = draw(st.booleans())
    at = draw(st.integers(0, 1))
    for n, name in enumerate("ijk"[: draw(st.integers(1, 3))]):
        nest = draw(nests(name))
        if staged and n == at:
            lines += STAGE.replace("SOURCE", draw(st.sampled_from("ABO"))).splitlines()
        if staged and n >= at and draw(st.integers(0, 3)):
            nest = [line.replace("A[", "W[") for line in nest]
        lines += nest
    if staged:
        lines.insert(0, '    W = T.alloc_buffer((24, 24), "int32")')
    return HEAD + "\n".join(lines) + "\n"


steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "split",
                "split",
                "fuse",
                "reorder",
                "reorder",
                "parallel",
                "vectorize",
                "unroll",
                "decompose",
                "bind",
                "unit",
                "axes",
                "cache_read",
                "cache_write",
                "inline",
                "inline",
                "scope",
                "align",
                "undo",
                *MEMORY_STEPS,
                *REDUCTION_STEPS,
                *HARDWARE_STEPS,
            ]
        ),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
        st.integers(1, 5),
    ),
    min_size=1,
    max_size=7,
)
