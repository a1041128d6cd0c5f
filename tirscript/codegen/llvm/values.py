"""Values of the generated code: an LLVM register or constant with the dtype that it stands for."""

from __future__ import annotations

import math
import struct

from tirscript.diagnostics import CodegenError, NotYetError
from tirscript.ir import dtype as dt

# Floats of 16 and 8 bits and their bytes: float32 in registers, with values of the dtype.
NARROW = {"float16": 2, "bfloat16": 2, **dict.fromkeys(dt.FLOAT8, 1)}
BITS = {f"{c}{b}": b for c in ("int", "uint") for b in (1, 2, 4, 8, 16, 32, 64)}
# Scalar dtypes in registers and in memory, where bools and narrow integers take a byte.
REGISTER = {
    "bool": "i1", "handle": "ptr", "float32": "float", "float64": "double", **dict.fromkeys(NARROW, "float"),
    **{name: f"i{b}" for name, b in BITS.items()},
}  # fmt: skip
MEMORY = {
    **REGISTER, "bool": "i8", **{name: f"i{8 * n}" for name, n in NARROW.items()},
    **{name: f"i{max(b, 8)}" for name, b in BITS.items()},
}  # fmt: skip
BYTES = {
    "bool": 1, "handle": 8, "float32": 4, "float64": 8, **NARROW,
    **{n: max(b // 8, 1) for n, b in BITS.items()},
}  # fmt: skip
SIGNED = frozenset(n for n in BITS if n[0] == "i")
FLOATS = frozenset({"float32", "float64", *NARROW})
# How scalars are passed to functions and given back: all floats narrower than float32 as doubles.
PASSED = {**MEMORY, **dict.fromkeys(NARROW, "double")}
INTS = frozenset(BITS)

INT64_MIN, INT64_MAX, UINT64_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


class Value:
    """A register or constant ``ref``.

    ``base`` is its scalar dtype.  ``exact`` integers stand for the mathematical integer and live in 64
    bits whatever dtype the expression has; ``base`` is then ``"int64"``.  ``lo`` and ``hi`` bound an
    integer where bounds are known.
    """

    __slots__ = ("base", "exact", "hi", "lanes", "lo", "ref")

    def __init__(
        self,
        ref: str,
        base: str,
        lanes: int = 1,
        exact: bool = False,
        lo: int | None = None,
        hi: int | None = None,
    ) -> None:
        self.ref = ref
        self.base = base
        self.lanes = lanes
        self.exact = exact
        self.lo = lo
        self.hi = hi

    @property
    def ty(self) -> str:
        return llvm_type(self.base, self.lanes)

    @property
    def constant(self) -> int | None:
        """The integer where it is known."""
        return self.lo if self.lo is not None and self.lo == self.hi else None

    @property
    def typed(self) -> str:
        """``type ref``, as operands of calls are written."""
        return f"{self.ty} {self.ref}"

    def __repr__(self) -> str:
        return f"Value({self.typed}{', exact' if self.exact else ''}, [{self.lo}, {self.hi}])"


def llvm_type(base: str, lanes: int = 1) -> str:
    """The type in a register."""
    scalar = REGISTER[base]
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def memory_type(base: str, lanes: int = 1) -> str:
    scalar = MEMORY[base]
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def parts(dtype: str) -> tuple[str, int]:
    """The scalar dtype and the lanes.  Raises NotYetError for what is not generated yet."""
    if dtype in REGISTER:
        return dtype, 1
    kind = dt.info(dtype)
    if kind.scalable:
        raise NotYetError(f"scalable vectors ({dtype}) are not supported yet", code="dtype")
    if kind.base not in REGISTER:
        if kind.code == "void":
            raise CodegenError("a value of dtype void", code="void-value")
        raise NotYetError(f"the LLVM backend does not compute with {kind.base} yet", code="dtype")
    return kind.base, kind.lanes


def float_text(value: float) -> str:
    """A float constant: the bits of the double, which LLVM reads for float too."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def constant_text(value: float, base: str) -> str:
    """A scalar constant of a dtype; integers wrap."""
    if base in NARROW:
        from .narrow import nearest

        return float_text(nearest(value, base))
    if base == "float32":
        return float_text(_float32(float(value)))
    if base in FLOATS:
        return float_text(float(value))
    if base == "bool":
        return "true" if value else "false"
    if base == "handle":
        return "null"
    return str(dt.wrap(int(value), base))


def _float32(value: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def splat(text: str, base: str, lanes: int) -> str:
    """The constant ``text`` in every lane."""
    return text if lanes == 1 else f"splat ({REGISTER[base]} {text})"


def constant(value: float, base: str, lanes: int = 1) -> Value:
    """A constant of data."""
    text = splat(constant_text(value, base), base, lanes)
    if base not in INTS:
        return Value(text, base, lanes)
    number = dt.wrap(int(value), base)
    return Value(text, base, lanes, False, number, number)


def exact_constant(value: int, lanes: int = 1) -> Value:
    """An exact integer constant."""
    return Value(splat(str(dt.wrap(value, "int64")), "int64", lanes), "int64", lanes, True, value, value)
