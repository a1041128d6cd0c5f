"""Programs whose instances meet: axes that leave iterations together, cells that several instances write.

Sums, quotients and constants as values of axes; reductions that a loop begins again; stores where the last
one counts; predicates over any of the loops; blocks with axes of their own around, names for values, loops
that end when a cell says so; extents that are known at run time only.  Nothing here is a usual program, and
all of it has a meaning that a step must keep or refuse.
"""

from __future__ import annotations

import random
import re
from itertools import product

CODES = {"sum": ("0", "{c} + {v}"), "max": (str(-(2**31)), "T.max({c}, {v})"), "xor": ("0", "{c} ^ {v}"),
         "sub": ("0", "{c} - {v}")}  # fmt: skip


SIZES = {"n": 5, "m": 6}  # of the symbols
Extent = int | str
Range = tuple[int, Extent]


def meeting_program(r: random.Random) -> str:
    """The text of a function of int32: maybe a producer, the block whose instances meet, maybe a consumer."""
    symbols = r.choice([["n"], ["n", "m"]]) if r.random() < 0.2 else []
    ranges = {f"i{n}": span(r, symbols) for n in range(r.randint(2, 4))}
    loops = list(ranges)
    count = r.randint(0, min(2, len(loops) - 1))
    reduced, kept = loops[:count], loops[count:]
    if r.random() < 0.5:  # some loops stand in axes of both kinds, or in none
        reduced, kept = [x for x in loops if r.random() < 0.5], [x for x in loops if r.random() < 0.7]
    axes: list[tuple[str, str, Extent]] = []
    for kind, names in (("spatial", kept), ("reduce", reduced)):
        axes += [(kind, value, extent(value, ranges)) for value in values(r, names, ranges)]
    r.shuffle(axes)
    if r.random() < 0.1:
        axes = [(r.choice([k, "opaque"]), v, n) for k, v, n in axes]
    names = [f"v{n}" for n in range(len(axes))]
    spatial: list[tuple[str, Extent]] = [
        (v, n) for v, (kind, _, n) in zip(names, axes, strict=True) if kind != "reduce"
    ]
    out: list[tuple[str, Extent]] = [cell(r, *x) for x in spatial] or [("0", 1)]
    c = f"Y[{', '.join([i for i, _ in out])}]"
    domain: list[Extent] = [n for _, _, n in axes] or [1]
    shape = [n for _, n in out]
    source = r.choice(["X", "X", "B"])
    x = f"{source}[{', '.join(names) or 0}]"
    params: dict[str, list[Extent]] = {"X": domain, "Y": shape}
    if r.random() < 0.3:
        params["Z"] = shape
    lines = ["from tirscript.script import tir as T", "", "@T.prim_func", *head(params, symbols)]
    if source == "B":
        lines += [
            f'    B = T.alloc_buffer({shaped(domain)}, "int32")',
            *elementwise("B", domain, "X[{}] * 3"),
        ]
    block = ['with T.block("Y"):']
    block += [f"    {v} = T.axis.{k}({n}, {e})" for v, (k, e, n) in zip(names, axes, strict=True)]
    if r.random() < 0.2:
        block.append(f"    T.where({condition(r, ranges)})")
    init, code = CODES[r.choice(sorted(CODES))]
    what = r.random()
    if what < 0.6:
        block += ["    with T.init():", f"        {c} = {init}"]
    value = code.format(c=c, v=x) if what < 0.75 else f"{x} + {r.choice([*names, '1'])}"
    if r.random() < 0.1:
        block.append(f"    t: T.int32 = {value}")
        value = "t"
    first = f"X[{', '.join(['0'] * len(domain))}]"
    lines += nest(r, ranges, [*block, f"    {c} = {value}"], shape, first)
    if "Z" in params:
        lines += elementwise("Z", shape, "Y[{}] + 1")
    return "\n".join(lines) + "\n"


def head(params: dict[str, list[Extent]], symbols: list[str]) -> list[str]:
    """The first lines of the function; with symbols, which the shape of a buffer tells, a line for each."""
    if not symbols:
        arguments = [f'{b}: T.Buffer({shaped(shape)}, "int32")' for b, shape in params.items()]
        return [f"def f({', '.join(arguments)}):"]
    told: dict[str, list[Extent]] = {"N": [*symbols], **params}
    return [
        f"def f({', '.join([f'at_{b}: T.handle' for b in told])}):",
        *[f"    {n} = T.int32()" for n in symbols],
        *[f'    {b} = T.match_buffer(at_{b}, {shaped(shape)}, "int32")' for b, shape in told.items()],
    ]


def shaped(shape: list[Extent]) -> str:
    return f"({', '.join(map(str, shape))},)"


def size(n: Extent) -> int:
    return int(eval(str(n), dict(SIZES)))


def span(r: random.Random, symbols: list[str]) -> Range:
    low = r.choice([0, 0, 0, 0, 1, 2])
    if symbols and r.random() < 0.5:
        return low, r.choice(symbols)
    return low, low + r.choice([1, 2, 3, 4, 5])


def nest(
    r: random.Random, ranges: dict[str, Range], block: list[str], shape: list[Extent], first_cell: str
) -> list[str]:
    """The loops around the block: perfectly nested, or with something else on the way."""
    odd = r.sample(list(ranges), r.choice([1, 1, 2])) if r.random() < 0.4 else []
    choices = ["if", "other", "around", "name"]
    inside: dict[str, str] = {}  # what the loops are called inside of the block around
    lines = []
    indent = "    "
    for v, (low, high) in ranges.items():
        lines.append(f"{indent}for {v} in range({low}, {high}):")
        indent += "    "
        if v not in odd:
            continue
        known = {u: ranges[u] for u in list(ranges)[: list(ranges).index(v) + 1]}
        what = r.choice(choices)
        if what == "if":
            lines.append(f"{indent}if {called(condition(r, known), inside)}:")
            indent += "    "
        elif what == "other":
            at = ", ".join([r.choice([str(r.randrange(size(n))), f"w % {n}"]) for n in shape])
            lines += [f'{indent}with T.block("W"):', f"{indent}    w = T.axis.opaque(({low}, {high}), {v})"]
            if r.random() < 0.8:
                value = r.choice(["w", "7", f"Y[{at}] + w"])
                lines.append(f"{indent}    Y[{at}] = {value}")
            else:
                lines += [f"{indent}    while Y[{at}] > 9:", f"{indent}        Y[{at}] = Y[{at}] // 2"]
        elif what == "around":  # a block with an axis for each of the loops
            lines.append(f'{indent}with T.block("O"):')
            indent += "    "
            kinds = ["spatial", "spatial", "spatial", "reduce", "opaque"]
            for u, (first, end) in known.items():
                lines.append(f"{indent}{axis_around(u)} = T.axis.{r.choice(kinds)}(({first}, {end}), {u})")
            if r.random() < 0.3:
                lines.append(f"{indent}T.where({condition(r, known)})")
            choices.remove(what)
            inside = {u: axis_around(u) for u in known}
            block = [called(x, inside) for x in block]
        else:
            seen = f"T.min(T.max({first_cell}, {low}), {high} - 1)"
            value = r.choice([v, f"{high} - 1 - {v} + {low}", seen])
            lines.append(f"{indent}named: T.int32 = {value}")
            choices.remove(what)
            block = [called(x, {v: "named"}) for x in block]
    return lines + [indent + line for line in block]


def called(text: str, names: dict[str, str]) -> str:
    """A text with other names for loops."""
    return re.sub(r"\bi\d\b", lambda m: names.get(m[0], m[0]), text)


def axis_around(loop: str) -> str:
    return f"o{loop[1:]}"


def elementwise(out: str, extents: list[Extent], value: str) -> list[str]:
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
        last = f"{n} - 1" if isinstance(n, str) else n - 1
        if b:
            m = ranges[b][1]
            out += r.choice([
                [f"{a} + {b}"], [f"{a} * 2 + {b}"], [f"{a} * {m} + {b}"], [f"({a} * {m} + {b}) // 2"],
                [f"({a} * {m} + {b}) // 2", f"({a} * {m} + {b}) % 2"], [f"{a} + {b}", b], [a, a], [a],
                [f"{last} - {a} + {b}"], [f"T.max({a}, {b})"],
            ])  # fmt: skip
        else:
            out += r.choice([[a], [a], [a], [f"{a} // 2"], [f"{a} % 2"], [f"{last} - {a}"], ["1"],
                             [f"{a} // 2", f"{a} % 2"], [f"{a} * 2"]])  # fmt: skip
    return out


def extent(value: str, ranges: dict[str, Range]) -> Extent:
    """What is above all values: a symbol, where that is plain, else a number."""
    if value in ranges:
        return ranges[value][1]
    code = compile(value.replace("T.max", "max"), "", "eval")
    points = product(*[range(low, size(high)) for low, high in ranges.values()])
    known = {"max": max, **SIZES}
    return 1 + int(max(eval(code, known, dict(zip(ranges, p, strict=True))) for p in points))


def cell(r: random.Random, v: str, n: Extent) -> tuple[str, Extent]:
    """An index of the output and the extent that it needs."""
    if r.random() < 0.75:
        return v, n
    half, double = (f"({n} + 1) // 2", f"2 * {n}") if isinstance(n, str) else ((n + 1) // 2, 2 * n)
    return r.choice([(f"{v} // 2", half), (f"{v} * 2", double), ("0", 1), (f"{v} % 2", 2)])


def condition(r: random.Random, ranges: dict[str, Range]) -> str:
    a, b = r.choice(list(ranges)), r.choice(list(ranges))
    c = r.randint(0, 3)
    return r.choice([f"{a} < {c + 1}", f"{a} >= {c}", f"{a} + {b} < {c + 2}", f"{a} <= {b}", f"{a} != {c}"])


__all__ = ["meeting_program"]
