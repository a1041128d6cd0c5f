"""Random bodies of vectorized loops: machine code gives what the loop gives in order."""

import random
import warnings

import numpy as np
import pytest

import tirscript as ts
from tirscript.ir.verify import check_well_formed
from tirscript.lowering import PASSES

OPERATORS = ("+", "-", "*", "min", "max", "//", "%", "select", "if_then_else", "cast")


class Program:
    """A function over three arrays with one vectorized loop, written from a seed.

    In three of four programs all stores go to ``O[base]``, so that the loop stays a vector; in the fourth
    anything may depend on anything.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.free = seed % 4 == 0
        self.base = self.one("i", "i * 2", "i * 3 + 1", "20 - i", "i + 5")
        self.count = 0

    def one(self, *items):
        return self.random.choice(items)

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def source(self) -> str:
        arrays = ", ".join([f'{x}: T.Buffer((64,), "int32")' for x in "ABO"])
        lines = ["@T.prim_func", f"def f({arrays}, n: T.int32):"]
        loops = ["i"]
        depth = 1
        if self.random.random() < 0.6:
            lines.append(f"    for o in range({self.one(1, 2, 3)}):")
            loops.append("o")
            depth = 2
        lines.append(
            "    " * depth + f"for i in T.vectorized({self.one(1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 20)}):"
        )
        return "\n".join([*lines, *self.statements(loops, [], depth + 1, 0)])

    def index(self, loops, lets):
        v, k = self.one(*loops), self.random.randint
        forms = [
            v, v, f"{v} + {k(0, 9)}", f"{v} * {k(2, 4)}", f"63 - {v}", f"({v} * {k(1, 9)} + {k(0, 70)}) % 64",
            str(k(0, 63)), f"(B[{v}] % 64)", f"({v} * 8 + {self.one(*loops)}) % 64",
            f"{v} // 2 * 2 + {v} % 2",
        ]  # fmt: skip
        return self.one(*forms, *[f"({x} % 64)" for x in lets[:1]])

    def target(self, loops, lets):
        if self.free:
            return f"{self.one('O', 'O', 'A')}[{self.index(loops, lets)}]"
        return f"O[{self.base}]"

    def value(self, loops, lets, depth=0):
        if depth > 2 or self.random.random() < 0.3:
            mine = self.index(loops, lets) if self.free else self.base
            loads = [f"A[{self.index(loops, lets)}]", f"B[{self.index(loops, lets)}]", f"O[{mine}]"]
            return self.one(*loads, str(self.random.randint(-9, 9)), self.one(*loops), "n", *lets, *lets)
        a, b = self.value(loops, lets, depth + 1), self.value(loops, lets, depth + 1)
        op = self.one(*OPERATORS)
        if op in ("min", "max"):
            return f"T.{op}({a}, {b})"
        if op in ("//", "%"):
            return f"({a} {op} {self.one(1, 2, 3, 5, -3, 8, 16)})"
        if op in ("select", "if_then_else"):
            spelled = "T.Select" if op == "select" else "T.if_then_else"
            return f"{spelled}({self.condition(loops, lets)}, T.int32(1) * {a}, T.int32(1) * {b})"
        if op == "cast":
            return f'T.cast(T.cast({a}, "int8"), "int32")'
        return f"({a} {op} {b})"

    def condition(self, loops, lets):
        v, k = self.one(*loops), self.random.randint
        first = self.one(
            f"{v} < {k(0, 20)}", f"{v} * 3 >= {k(0, 40)}", f"A[{self.index(loops, lets)}] > {k(-5, 5)}",
            f"n > {k(-2, 5)}", f"{v} % 3 == 1", f"{v} + n <= 12",
        )  # fmt: skip
        if self.random.random() < 0.2:
            return f"({first}) and ({self.condition(loops, lets)})"
        return first

    def statements(self, loops, lets, indent, depth):
        lets = list(lets)
        pad = "    " * indent
        out = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.one("store", "store", "store", "let", "if", "for", "memory") if depth < 3 else "store"
            if kind == "store":
                out.append(f"{pad}{self.target(loops, lets)} = {self.value(loops, lets)}")
            elif kind == "let":
                x = self.name("x")
                out.append(f"{pad}{x}: T.int32 = {self.value(loops, lets)}")
                lets.append(x)
            elif kind == "if":
                out += [
                    f"{pad}if {self.condition(loops, lets)}:",
                    *self.statements(loops, lets, indent + 1, depth + 1),
                ]
                if self.random.random() < 0.4:
                    out += [f"{pad}else:", *self.statements(loops, lets, indent + 1, depth + 1)]
            elif kind == "for":
                k, how = self.name("k"), self.one("range", "range", "T.unroll", "T.vectorized")
                extent = self.one("3", "8", "1", *(["i"] if how == "range" else []))
                out.append(f"{pad}for {k} in {how}({extent}):")
                out += self.statements([*loops, k], lets, indent + 1, depth + 1)
            else:
                m = self.name("L")
                out += [
                    f'{pad}{m} = T.decl_buffer((4,), "int32")',
                    f"{pad}{m}[1] = {self.value(loops, lets)}",
                    f"{pad}{self.target(loops, lets)} = {m}[1] + {self.value(loops, lets)}",
                ]
        return out


@pytest.mark.parametrize("seed", range(48))
def test_random_bodies(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = ts.parse(Program(seed).source())
    numbers = np.random.default_rng(seed)
    arrays = [numbers.integers(-20, 20, 64).astype("int32") for _ in range(3)]
    want, got = [a.copy() for a in arrays], [a.copy() for a in arrays]
    try:
        ts.build(f, "python")(*want, 3)
    except (ts.LowerError, IndexError):
        pytest.skip("leaves its arrays")
    ts.build(f)(*got, 3)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)
    for passed in PASSES:
        f = passed(f)
        check_well_formed(f)
