"""Formulas of shapes as instructions of LLVM, in 64 bits; what would not fit there is refused."""

from __future__ import annotations

import ast
from collections.abc import Sequence


class Lines:
    """Instructions of a straight line of code, and the conditions that must hold at its end."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0
        self._fine: str | None = None

    def ins(self, text: str) -> str:
        """An instruction with a result; its register."""
        self._count += 1
        self.lines.append(f"  %v{self._count} = {text}")
        return f"%v{self._count}"

    def require(self, condition: str) -> None:
        self._fine = condition if self._fine is None else self.ins(f"and i1 {self._fine}, {condition}")

    def refuse(self, condition: str) -> None:
        self.require(self.ins(f"xor i1 {condition}, true"))

    def all_fine(self) -> str | None:
        """The conjunction of all conditions; None where there are none."""
        return self._fine

    def arithmetic(self, op: str, a: str, b: str) -> str:
        """``add``, ``sub`` or ``mul``."""
        if op == "mul" and "1" in (a, b):
            return b if a == "1" else a
        pair = self.ins(f"call {{ i64, i1 }} @llvm.s{op}.with.overflow.i64(i64 {a}, i64 {b})")
        self.refuse(self.ins(f"extractvalue {{ i64, i1 }} {pair}, 1"))
        return self.ins(f"extractvalue {{ i64, i1 }} {pair}, 0")

    def divided(self, a: str, b: str) -> tuple[str, str]:
        """Quotient towards zero and remainder; 0 and 0 for a divisor of 0."""
        if b in ("0", "-1"):
            return ("0", "0") if b == "0" else (self.arithmetic("sub", "0", a), "0")
        if b[0] == "%":
            # -2**63 // -1 does not fit, and is refused by its negation.
            none = self.ins(f"icmp eq i64 {b}, 0")
            minus = self.ins(f"icmp eq i64 {b}, -1")
            lowest = self.ins(f"icmp eq i64 {a}, {-(1 << 63)}")
            self.refuse(self.ins(f"and i1 {minus}, {lowest}"))
            unsafe = self.ins(f"or i1 {none}, {self.ins(f'and i1 {minus}, {lowest}')}")
            safe = self.ins(f"select i1 {unsafe}, i64 1, i64 {b}")
            q, r = self.ins(f"sdiv i64 {a}, {safe}"), self.ins(f"srem i64 {a}, {safe}")
            return self.ins(f"select i1 {none}, i64 0, i64 {q}"), r
        return self.ins(f"sdiv i64 {a}, {b}"), self.ins(f"srem i64 {a}, {b}")


def emit(lines: Lines, code: str, symbols: Sequence[str]) -> str:
    """The register of a formula: Python code over ``s[0]``, ``s[1]`` ..., as signatures have them."""
    return _Formula(lines, symbols).value(ast.parse(code, mode="eval").body)


_OPERATORS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_COMPARISONS: dict[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip


class _Formula:
    def __init__(self, lines: Lines, symbols: Sequence[str]) -> None:
        self.lines = lines
        self.symbols = symbols

    def value(self, e: ast.expr) -> str:
        t = self.lines
        negative = isinstance(e, ast.UnaryOp) and isinstance(e.operand, ast.Constant)
        if isinstance(e, ast.Constant) or negative:
            number = int(ast.literal_eval(e))
            if not -(1 << 63) <= number < 1 << 63:
                t.require("false")
                return "0"
            return str(number)
        if isinstance(e, ast.UnaryOp):
            return t.arithmetic("sub", "0", self.value(e.operand))
        if isinstance(e, ast.Subscript):
            assert isinstance(e.slice, ast.Constant)
            return self.symbols[e.slice.value]  # type: ignore[index]
        if isinstance(e, ast.BinOp):
            return t.arithmetic(_OPERATORS[type(e.op)], self.value(e.left), self.value(e.right))
        if isinstance(e, ast.Compare):
            return t.ins(f"zext i1 {self._condition(e)} to i64")
        assert isinstance(e, ast.Call) and isinstance(e.func, ast.Name)
        name = e.func.id
        if name == "select":
            condition, a, b = self._condition(e.args[0]), self.value(e.args[1]), self.value(e.args[2])
            return t.ins(f"select i1 {condition}, i64 {a}, i64 {b}")
        a, b = self.value(e.args[0]), self.value(e.args[1])
        if name in ("min", "max"):
            return t.ins(f"call i64 @llvm.s{name}.i64(i64 {a}, i64 {b})")
        q, r = t.divided(a, b)
        if name == "truncdiv":
            return q
        # Round down: one less where there is a rest and the signs of rest and divisor differ.
        uneven = t.ins(f"icmp ne i64 {r}, 0")
        mixed = t.ins(f"icmp slt i64 {t.ins(f'xor i64 {r}, {b}')}, 0")
        down = t.ins(f"and i1 {uneven}, {mixed}")
        if name == "floordiv":
            return t.ins(f"sub i64 {q}, {t.ins(f'zext i1 {down} to i64')}")
        shifted = t.ins(f"select i1 {down}, i64 {t.ins(f'add i64 {r}, {b}')}, i64 {r}")
        zero = t.ins(f"icmp eq i64 {b}, 0")
        return t.ins(f"select i1 {zero}, i64 0, i64 {shifted}")

    def _condition(self, e: ast.expr) -> str:
        t = self.lines
        if isinstance(e, ast.Compare):
            a, b = self.value(e.left), self.value(e.comparators[0])
            return t.ins(f"icmp {_COMPARISONS[type(e.ops[0])]} i64 {a}, {b}")
        return t.ins(f"icmp ne i64 {self.value(e)}, 0")
