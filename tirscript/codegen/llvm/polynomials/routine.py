"""The text of a function on vectors of any number of lanes, written with Python's operators.

A ``Reg`` is a register or constant; ``x * y + 1`` appends instructions to the routine that made ``x``.
Python numbers take the kind of the other operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..values import constant_text

# Kinds of values: how LLVM writes their scalars.
TYPES = {"f32": "float", "f64": "double", "i32": "i32", "i64": "i64", "i1": "i1"}
_SAME_WIDTH = {"f32": "i32", "f64": "i64", "i32": "f32", "i64": "f64"}
_FLOATS = ("f32", "f64")
Number = int | float


class Reg:
    """A value of a routine."""

    __slots__ = ("code", "kind", "ref")

    def __init__(self, code: Routine, ref: str, kind: str) -> None:
        self.code = code
        self.ref = ref
        self.kind = kind

    @property
    def typed(self) -> str:
        return f"{self.code.type(self.kind)} {self.ref}"

    def _of(self, other: Reg | Number) -> Reg:
        return other if isinstance(other, Reg) else self.code.const(other, self.kind)

    def _binary(self, opcode: str, other: Reg | Number) -> Reg:
        return self.code.ins(f"{opcode} {self.typed}, {self._of(other).ref}", self.kind)

    def _arithmetic(self, word: str, other: Reg | Number) -> Reg:
        return self._binary(f"f{word}" if self.kind in _FLOATS else word, other)

    def __add__(self, other: Reg | Number) -> Reg:
        return self._arithmetic("add", other)

    def __sub__(self, other: Reg | Number) -> Reg:
        return self._arithmetic("sub", other)

    def __mul__(self, other: Reg | Number) -> Reg:
        return self._arithmetic("mul", other)

    def __truediv__(self, other: Reg | Number) -> Reg:
        return self._binary("fdiv", other)

    def __radd__(self, other: Number) -> Reg:
        return self._of(other) + self

    def __rsub__(self, other: Number) -> Reg:
        return self._of(other) - self

    def __rmul__(self, other: Number) -> Reg:
        return self._of(other) * self

    def __rtruediv__(self, other: Number) -> Reg:
        return self._of(other) / self

    def __neg__(self) -> Reg:
        return self.code.ins(f"fneg {self.typed}", self.kind)

    def __and__(self, other: Reg | Number) -> Reg:
        return self._binary("and", other)

    def __or__(self, other: Reg | Number) -> Reg:
        return self._binary("or", other)

    def __xor__(self, other: Reg | Number) -> Reg:
        return self._binary("xor", other)

    def __invert__(self) -> Reg:
        return self._binary("xor", -1 if self.kind != "i1" else 1)

    def __lshift__(self, count: int) -> Reg:
        return self._binary("shl", count)

    def __rshift__(self, count: int) -> Reg:
        """Bits that come in are zeros."""
        return self._binary("lshr", count)

    def ashr(self, count: int) -> Reg:
        return self._binary("ashr", count)

    # Comparisons: of floats, false where one is nan; of integers, signed.

    def _compare(self, word: str, other: Reg | Number) -> Reg:
        if self.kind in _FLOATS:
            predicate = f"fcmp o{word}"
        else:
            predicate = f"icmp {word if word in ('eq', 'ne') else 's' + word}"
        return self.code.ins(f"{predicate} {self.typed}, {self._of(other).ref}", "i1")

    def lt(self, other: Reg | Number) -> Reg:
        return self._compare("lt", other)

    def le(self, other: Reg | Number) -> Reg:
        return self._compare("le", other)

    def gt(self, other: Reg | Number) -> Reg:
        return self._compare("gt", other)

    def ge(self, other: Reg | Number) -> Reg:
        return self._compare("ge", other)

    def eq(self, other: Reg | Number) -> Reg:
        return self._compare("eq", other)

    def ne(self, other: Reg | Number) -> Reg:
        """Of floats: different and both numbers."""
        return self._compare("ne", other)

    def is_nan(self) -> Reg:
        return self.code.ins(f"fcmp uno {self.typed}, {self.ref}", "i1")

    # Conversions.

    def bits(self) -> Reg:
        """A float's bits as an integer, or the float that has this integer's bits."""
        kind = _SAME_WIDTH[self.kind]
        return self.code.ins(f"bitcast {self.typed} to {self.code.type(kind)}", kind)

    def to(self, kind: str) -> Reg:
        """A float or signed integer of another kind."""
        if kind == self.kind:
            return self
        a, b = self.kind in _FLOATS, kind in _FLOATS
        wider = TYPES[kind] in ("double", "i64")
        if a and b:
            opcode = "fpext" if wider else "fptrunc"
        elif a or b:
            opcode = "fptosi" if a else "sitofp"
        elif self.kind == "i1":
            opcode = "zext"
        else:
            opcode = "sext" if wider else "trunc"
        return self.code.ins(f"{opcode} {self.typed} to {self.code.type(kind)}", kind)


class Routine:
    """One function: its instructions, then its text."""

    def __init__(self, name: str, kinds: Sequence[str], lanes: int) -> None:
        self.name = name
        self.lanes = lanes
        self.lines: list[str] = []
        self.params = [Reg(self, f"%x{k}", kind) for k, kind in enumerate(kinds)]
        self.outside: dict[str, str] = {}  # declarations and other routines that are called
        self._registers = 0
        self._labels = 0
        self._block = "entry"

    def type(self, kind: str) -> str:
        return TYPES[kind] if self.lanes == 1 else f"<{self.lanes} x {TYPES[kind]}>"

    def ins(self, text: str, kind: str) -> Reg:
        ref = f"%r{self._registers}"
        self._registers += 1
        self.lines.append(f"  {ref} = {text}")
        return Reg(self, ref, kind)

    def const(self, value: Number, kind: str) -> Reg:
        """A constant in every lane, the nearest of its kind."""
        if kind in _FLOATS:
            text = constant_text(value, "float32" if kind == "f32" else "float64")
        elif kind == "i1":
            text = "true" if value else "false"
        else:
            width = 1 << (32 if kind == "i32" else 64)
            number = int(value) % width
            text = str(number - width if number >= width // 2 else number)
        return Reg(self, text if self.lanes == 1 else f"splat ({TYPES[kind]} {text})", kind)

    def intrinsic(self, word: str, *args: Reg) -> Reg:
        kind = args[0].kind
        suffix = kind if self.lanes == 1 else f"v{self.lanes}{kind}"
        shown = ", ".join(a.typed for a in args)
        return self.ins(f"call {self.type(kind)} @llvm.{word}.{suffix}({shown})", kind)

    def call(self, other: Routine, *args: Reg, result: str) -> Reg:
        """Another routine, which becomes a part of the module, too."""
        self.outside.update(other.outside)
        shown = ", ".join(a.typed for a in args)
        return self.ins(f"call {self.type(result)} {other.name}({shown})", result)

    def lanewise(self, name: str, *args: Reg) -> Reg:
        """A function of the C library, a call for each lane."""
        kind = args[0].kind
        ty = TYPES[kind]
        declaration = f"declare {ty} @{name}({', '.join([ty] * len(args))}) nounwind memory(none)"
        self.outside[name] = declaration
        if self.lanes == 1:
            return self.ins(f"call {ty} @{name}({', '.join(a.typed for a in args)})", kind)
        made = Reg(self, "poison", kind)
        for i in range(self.lanes):
            parts = [self.ins(f"extractelement {a.typed}, i64 {i}", kind).ref for a in args]
            one = self.ins(f"call {ty} @{name}({', '.join(f'{ty} {p}' for p in parts)})", kind)
            made = self.ins(f"insertelement {made.typed}, {ty} {one.ref}, i64 {i}", kind)
        return made

    def where_any(
        self, mask: Reg, then: Callable[[], Sequence[Reg]], usual: Sequence[Reg]
    ) -> tuple[Reg, ...]:
        """The values ``then()`` if the mask holds in any lane, else the ``usual`` ones; a branch that is
        seldom taken."""
        if self.lanes == 1:
            test = mask
        else:
            word = f"@llvm.vector.reduce.or.v{self.lanes}i1"
            test = self.ins(f"call i1 {word}({mask.typed})", "i1")
        self._labels += 1
        rare, join, before = f"rare{self._labels}", f"join{self._labels}", self._block
        self.lines.append(f"  br i1 {test.ref}, label %{rare}, label %{join}")
        self.lines.append(f"{rare}:")
        self._block = rare
        made = then()
        after = self._block
        self.lines += [f"  br label %{join}", f"{join}:"]
        self._block = join
        return tuple(
            [
                self.ins(f"phi {self.type(u.kind)} [ {m.ref}, %{after} ], [ {u.ref}, %{before} ]", u.kind)
                for m, u in zip(made, usual, strict=True)
            ]
        )

    def text(self, result: Reg, how: str = "noinline cold") -> str:
        """The function; ``how`` says whether it becomes a part of its callers."""
        params = ", ".join(p.typed for p in self.params)
        body = "\n".join(self.lines)
        return (
            f"define internal {self.type(result.kind)} {self.name}({params}) {how} memory(none) #0 {{\n"
            f"entry:\n{body}\n  ret {result.typed}\n}}\n"
        )


# ---- the vocabulary of formulas


def fma(x: Reg, y: Reg | Number, z: Reg | Number) -> Reg:
    """``x * y + z``: one rounding where the machine multiplies and adds at once."""
    return x.code.intrinsic("fmuladd", x, x._of(y), x._of(z))


def polynomial(x: Reg, coefficients: Sequence[float]) -> Reg:
    """The polynomial with these coefficients, of the constant first; long ones by even and odd powers, two
    chains of instructions that run side by side."""
    if len(coefficients) < 7:
        return _horner(x, coefficients)
    square = x * x
    return fma(_horner(square, coefficients[1::2]), x, _horner(square, coefficients[::2]))


def _horner(x: Reg, coefficients: Sequence[float]) -> Reg:
    made: Reg = x.code.const(coefficients[-1], x.kind)
    for c in coefficients[-2::-1]:
        made = fma(made, x, c)
    return made


def where(mask: Reg, a: Reg | Number, b: Reg | Number) -> Reg:
    """``a`` in the lanes of the mask, ``b`` in the others; one of them is no number."""
    like = a if isinstance(a, Reg) else b
    assert isinstance(like, Reg)
    a, b = like._of(a), like._of(b)
    return like.code.ins(f"select {mask.typed}, {a.typed}, {b.typed}", like.kind)


def at_most(x: Reg, limit: float) -> Reg:
    """The smaller of both; a nan stays."""
    c = x._of(limit)
    return where(c.lt(x), c, x)


def at_least(x: Reg, limit: float) -> Reg:
    """The larger of both; a nan stays."""
    c = x._of(limit)
    return where(c.gt(x), c, x)


def magnitude(x: Reg) -> Reg:
    return x.code.intrinsic("fabs", x)


def root(x: Reg) -> Reg:
    return x.code.intrinsic("sqrt", x)


def with_sign(x: Reg, sign: Reg) -> Reg:
    return x.code.intrinsic("copysign", x, sign)
