"""Text of one LLVM function: instructions, blocks, registers.

Registers made by ``ins`` are unnamed (``%0``, ``%1`` ...), which LLVM wants numbered in the order in which
they stand in the text; everything placed elsewhere (allocas in the entry block, loop counters) is named.
"""

from __future__ import annotations

from .values import MEMORY, REGISTER, Value, constant, exact_constant, llvm_type, splat


class Builder:
    """Appends instructions to the block at hand."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.block = "begin"
        self.terminated = False
        self.debug = ""
        self.half = True  # whether the machine converts float16
        self._registers = 0
        self._names = 0

    # ---- instructions and blocks

    def ins(self, text: str) -> str:
        """An instruction with a result; its register."""
        ref = f"%{self._registers}"
        self._registers += 1
        self.lines.append(f"  {ref} = {text}{self.debug}")
        return ref

    def named(self, ref: str, text: str) -> str:
        """An instruction whose register has a name."""
        self.lines.append(f"  {ref} = {text}{self.debug}")
        return ref

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}{self.debug}")

    def name(self, stem: str) -> str:
        """A name used nowhere else in the function, without its ``%``."""
        self._names += 1
        return f"{stem}.{self._names}"

    def start(self, label: str) -> None:
        """Begin the block ``label``; the one before must have ended."""
        if not self.terminated:
            self.br(label)
        self.lines.append(f"{label}:")
        self.block = label
        self.terminated = False

    def br(self, label: str) -> None:
        self.end(f"br label %{label}")

    def cond_br(self, condition: str, then: str, other: str) -> None:
        self.end(f"br i1 {condition}, label %{then}, label %{other}")

    def end(self, text: str) -> None:
        """A terminator.  What follows it is never run, and gets a block of its own."""
        if self.terminated:
            self.lines.append(f"{self.name('dead')}:")
        self.lines.append(f"  {text}{self.debug}")
        self.terminated = True

    def reachable(self) -> None:
        """Make sure that instructions may be appended."""
        if self.terminated:
            self.start(self.name("dead"))

    # ---- vectors

    def op(self, opcode: str, a: Value, b: str) -> str:
        """``opcode type a, b``."""
        return self.ins(f"{opcode} {a.ty} {a.ref}, {b}")

    def broadcast(self, v: Value, lanes: int) -> Value:
        """A scalar in every lane."""
        if lanes == 1 or v.lanes == lanes:
            return v
        if v.ref[0] != "%" and v.ref[0] != "@":
            return Value(splat(v.ref, v.base, lanes), v.base, lanes, v.exact, v.lo, v.hi)
        ty = llvm_type(v.base, lanes)
        first = self.ins(f"insertelement {ty} poison, {v.typed}, i64 0")
        ref = self.ins(f"shufflevector {ty} {first}, {ty} poison, <{lanes} x i32> zeroinitializer")
        return Value(ref, v.base, lanes, v.exact, v.lo, v.hi)

    def same_lanes(self, a: Value, b: Value) -> tuple[Value, Value]:
        if a.lanes == b.lanes:
            return a, b
        lanes = max(a.lanes, b.lanes)
        return self.broadcast(a, lanes), self.broadcast(b, lanes)

    def lane(self, v: Value, i: int) -> Value:
        """One element of a vector."""
        if v.lanes == 1:
            return v
        if v.ref.startswith("splat ("):
            return Value(v.ref[7:-1].partition(" ")[2], v.base, 1, v.exact, v.lo, v.hi)
        return Value(self.ins(f"extractelement {v.typed}, i64 {i}"), v.base, 1, v.exact, v.lo, v.hi)

    def from_lanes(self, items: list[Value]) -> Value:
        """The vector of the scalars ``items``."""
        first = items[0]
        ty = llvm_type(first.base, len(items))
        ref = "poison"
        for i, v in enumerate(items):
            ref = self.ins(f"insertelement {ty} {ref}, {v.typed}, i64 {i}")
        return Value(ref, first.base, len(items), first.exact)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """``a`` where the condition holds, else ``b``, of one type."""
        a, b = self.same_lanes(a, b)
        if condition.lanes > a.lanes:
            a, b = self.broadcast(a, condition.lanes), self.broadcast(b, condition.lanes)
        ref = self.ins(f"select {condition.typed}, {a.typed}, {b.typed}")
        lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
        hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
        return Value(ref, a.base, a.lanes, a.exact, lo, hi)

    def phi(self, like: Value, arms: list[tuple[str, str]]) -> Value:
        """The value that came from the block that was run; ``arms`` are (ref, label)."""
        ref = self.ins(f"phi {like.ty} " + ", ".join(f"[ {r}, %{label} ]" for r, label in arms))
        return Value(ref, like.base, like.lanes, like.exact)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """A comparison of two values of one type: ``icmp slt``, ``fcmp olt``, ..."""
        return Value(self.ins(f"{predicate} {a.ty} {a.ref}, {b.ref}"), "bool", a.lanes)

    def const_like(self, value: float, v: Value) -> Value:
        """A constant of the kind of ``v``."""
        if v.exact:
            return exact_constant(int(value), v.lanes)
        return constant(value, v.base, v.lanes)

    def reserve(self, stem: str, ty: str, align: int) -> str:
        """Stack memory of a type, in the entry block; its pointer."""
        ref = f"%{self.name(stem)}"
        self.entry.append(f"  {ref} = alloca {ty}, align {align}")
        return ref


def memory_suffix(base: str, lanes: int) -> str:
    """As ``vector_type_suffix`` for the type in memory."""
    scalar = {"float": "f32", "double": "f64", "ptr": "p0"}.get(MEMORY[base], MEMORY[base])
    return scalar if lanes == 1 else f"v{lanes}{scalar}"


def vector_type_suffix(base: str, lanes: int) -> str:
    """How intrinsics name a type: ``f32``, ``v8f32``, ``i64``."""
    scalar = {"float": "f32", "double": "f64", "ptr": "p0"}.get(REGISTER[base], REGISTER[base])
    return scalar if lanes == 1 else f"v{lanes}{scalar}"
