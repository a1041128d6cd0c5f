"""Programs whose instances meet: axes that leave iterations together, cells that several instances write.

Sums, quotients and constants as values of axes; reductions that a loop begins again; stores where the last
one counts; predicates over any of the loops.  Nothing here is a usual program, and all of it has a meaning
that a step must keep or refuse.
"""

from __future__ import annotations

import random
from itertools import product

CODES = {"sum": ("0", "{c} + {v}"), "max": (str(-(2**31)), "T.max({c}, {v})"), "xor": ("0", "{c} ^ {v}"),
         "sub": ("0", "{c} - {v}")}  # fmt: skip


Range = tuple[int, int]


def meeting_program(r: random.Random) -> str:
    """The text of a function of int32: maybe a producer, the block whose instances meet, maybe a consumer."""
    ranges = {f"i{n}": span(r) for n in range(r.randint(2, 4))}
    loops = list(ranges)
    count = r.randint(0, min(2, len(loops) - 1))
    reduced, kept = loops[:count], loops[count:]
    if r.random() < 0.5:  # some loops stand in axes of both kinds, or in none
        reduced, kept = [x for x in loops if r.random() < 0.5], [x for x in loops if r.random() < 0.7]
    axes: list[tuple[str, str, int]] = []
    for kind, names in (("spatial", kept), ("reduce", reduced)):
        axes += [(kind, value, 1 + largest(value, ranges)) for value in values(r, names, ranges)]
    r.shuffle(axes)
    if r.random() < 0.1:
        axes = [(r.choice([k, "opaque"]), v, n) for k, v, n in axes]
    names = [f"v{n}" for n in range(len(axes))]
    spatial = [(v, n) for v, (kind, _, n) in zip(names, axes, strict=True) if kind != "reduce"]
    out = [cell(r, *x) for x in spatial] or [("0", 1)]
    c = f"Y[{', '.join([i for i, _ in out])}]"
    domain, shape = [n for _, _, n in axes] or [1], [n for _, n in out]
    source = r.choice(["X", "X", "B"])
    x = f"{source}[{', '.join(names) or 0}]"
    params = {"X": domain, "Y": shape}
    if r.random() < 0.3:
        params["Z"] = shape
    arguments = [f'{b}: T.Buffer({tuple(n)}, "int32")' for b, n in params.items()]
    lines = ["from tirscript.script import tir as T", "", "@T.prim_func", f"def f({', '.join(arguments)}):"]
    if source == "B":
        lines += [f'    B = T.alloc_buffer({tuple(domain)}, "int32")', *elementwise("B", domain, "X[{}] * 3")]
    block = ['with T.block("Y"):']
    block += [f"    {v} = T.axis.{k}({n}, {e})" for v, (k, e, n) in zip(names, axes, strict=True)]
    if r.random() < 0.2:
        block.append(f"    T.where({condition(r, ranges)})")
    init, code = CODES[r.choice(sorted(CODES))]
    what = r.random()
    if what < 0.6:
        block += ["    with T.init():", f"        {c} = {init}"]
    value = code.format(c=c, v=x) if what < 0.75 else f"{x} + {r.choice([*names, '1'])}"
    lines += nest(r, ranges, [*block, f"    {c} = {value}"], shape)
    if "Z" in params:
        lines += elementwise("Z", shape, "Y[{}] + 1")
    return "\n".join(lines) + "\n"


def span(r: random.Random) -> Range:
    low = r.choice([0, 0, 0, 0, 1, 2])
    return low, low + r.choice([1, 2, 3, 4, 5])


def nest(r: random.Random, ranges: dict[str, Range], block: list[str], shape: list[int]) -> list[str]:
    """The loops around the block: perfectly nested, or with a condition or another block on the way."""
    odd = r.choice(list(ranges)) if r.random() < 0.3 else ""
    lines = []
    indent = "    "
    for v, (low, high) in ranges.items():
        lines.append(f"{indent}for {v} in range({low}, {high}):")
        indent += "    "
        if v != odd:
            continue
        known = {u: ranges[u] for u in list(ranges)[: list(ranges).index(v) + 1]}
        if r.random() < 0.5:
            lines.append(f"{indent}if {condition(r, known)}:")
            indent += "    "
        else:
            at = ", ".join([r.choice([str(r.randrange(n)), f"w % {n}"]) for n in shape])
            value = r.choice(["w", "7", f"Y[{at}] + w"])
            lines += [f'{indent}with T.block("W"):', f"{indent}    w = T.axis.opaque(({low}, {high}), {v})"]
            lines.append(f"{indent}    Y[{at}] = {value}")
    return lines + [indent + line for line in block]


def elementwise(out: str, extents: list[int], value: str) -> list[str]:
    loops = [f"{out.lower()}{n}" for n in range(len(extents))]
    at = [f"u{n}" for n in range(len(extents))]
    grid = f"T.grid({', '.join(map(str, extents))})"
    return [
        f"    for {', '.join(loops)} in {grid}:", f'        with T.block("{out}"):',
        *[f"            {u} = T.axis.spatial({n}, {i})" for u, n, i in zip(at, extents, loops, strict=True)],
        f"            {out}[{', '.join(at)}] = {value.format(', '.join(at))}",
    ]  # fmt: skip


def values(r: random.Random, names: list[str], ranges: dict[str, Range]) -> list[str]:
    """Values of axes over these loops: mostly each its own, else sums and digits of two of them."""
    names = list(names)
    r.shuffle(names)
    out = []
    while names:
        a = names.pop()
        b = names.pop() if names and r.random() < 0.5 else ""
        n = ranges[a][1]
        if b:
            m = ranges[b][1]
            out += r.choice([
                [f"{a} + {b}"], [f"{a} * 2 + {b}"], [f"{a} * {m} + {b}"], [f"({a} * {m} + {b}) // 2"],
                [f"({a} * {m} + {b}) // 2", f"({a} * {m} + {b}) % 2"], [f"{a} + {b}", b], [a, a], [a],
                [f"{n - 1} - {a} + {b}"], [f"T.max({a}, {b})"],
            ])  # fmt: skip
        else:
            out += r.choice([[a], [a], [a], [f"{a} // 2"], [f"{a} % 2"], [f"{n - 1} - {a}"], ["1"],
                             [f"{a} // 2", f"{a} % 2"], [f"{a} * 2"]])  # fmt: skip
    return out


def largest(value: str, ranges: dict[str, Range]) -> int:
    code = compile(value.replace("T.max", "max"), "", "eval")
    points = product(*[range(*span) for span in ranges.values()])
    return max(eval(code, {"max": max}, dict(zip(ranges, p, strict=True))) for p in points)


def cell(r: random.Random, v: str, n: int) -> tuple[str, int]:
    """An index of the output and the extent that it needs."""
    if r.random() < 0.75:
        return v, n
    return r.choice([(f"{v} // 2", (n + 1) // 2), (f"{v} * 2", 2 * n), ("0", 1), (f"{v} % 2", 2)])


def condition(r: random.Random, ranges: dict[str, Range]) -> str:
    a, b = r.choice(list(ranges)), r.choice(list(ranges))
    c = r.randint(0, 3)
    return r.choice([f"{a} < {c + 1}", f"{a} >= {c}", f"{a} + {b} < {c + 2}", f"{a} <= {b}", f"{a} != {c}"])


__all__ = ["meeting_program"]
