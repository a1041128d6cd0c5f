"""The value of expressions, from the meaning of each node and operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tirscript.ir import dtype as dt
from tirscript.ir import expr as ir
from tirscript.ir.buffer import Buffer
from tirscript.ir.function import PrimFunc

from . import numbers

COUNTED = ("int", "uint", "bool")
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ir.EQ: lambda a, b: a == b, ir.NE: lambda a, b: a != b, ir.LT: lambda a, b: a < b,
    ir.LE: lambda a, b: a <= b, ir.GT: lambda a, b: a > b, ir.GE: lambda a, b: a >= b,
}  # fmt: skip
_BINARY = (ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Mod, ir.FloorDiv, ir.FloorMod, ir.Min, ir.Max)
_DIVISIONS = frozenset({"Div", "Mod", "FloorDiv", "FloorMod"})
_SAME = frozenset({"likely", "ignore_loop_partition", "tvm_thread_invariant"})
HINTS = frozenset({"assume", "start_profile_intrinsic", "end_profile_intrinsic"})
_BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right"})


class NotInterpreted(NotImplementedError):
    """Foreign code, threads that wait for each other: what only a machine does."""


class Pointer:
    """Bytes from ``at`` on; where a buffer's own pointer is passed, its shape and strides (in elements)."""

    __slots__ = ("at", "memory", "shape", "strides")

    def __init__(
        self, memory: bytearray, at: int, shape: tuple[int, ...] = (), strides: tuple[int, ...] = ()
    ) -> None:
        self.memory = memory
        self.at = at
        self.shape = shape
        self.strides = strides


class View:
    """A buffer in memory: where it starts, the strides in bytes."""

    __slots__ = ("at", "base", "lanes", "memory", "name", "shape", "size", "steps")

    def __init__(
        self, b: Buffer, memory: bytearray, at: int, shape: tuple[int, ...], strides: tuple[int, ...] | None
    ) -> None:
        d = dt.info(b.dtype)
        self.name = b.name
        self.memory = memory
        self.at = at
        self.shape = shape
        self.base, self.lanes = d.base, d.lanes
        self.size = numbers.size_of(d.base)
        if strides is None:
            strides = dense(shape)
        self.steps = tuple([s * self.size * self.lanes for s in strides])

    def place(self, index: Sequence[int]) -> int:
        at = self.at
        for i, n, s in zip(index, self.shape, self.steps, strict=True):
            if not 0 <= i < n:
                raise IndexError(f"{self.name}{list(index)} of shape {self.shape}")
            at += i * s
        return at

    def read(self, index: Sequence[int]) -> Any:
        at = self.place(index)
        if self.lanes == 1:
            return numbers.load(self.memory, at, self.base)
        return [numbers.load(self.memory, at + k * self.size, self.base) for k in range(self.lanes)]

    def write(self, index: Sequence[int], value: Any) -> None:
        at = self.place(index)
        if self.lanes == 1:
            numbers.store(self.memory, at, value, self.base)
            return
        for k, v in enumerate(value):
            numbers.store(self.memory, at + k * self.size, v, self.base)


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= n
    return tuple(reversed(out))


def exact(e: Any) -> bool:
    """Whether ``e`` means the mathematical integer: all its leaves are exact, or literals."""
    t = type(e)
    if t is ir.Var:
        return e.exact and dt.info(e.dtype).code in COUNTED
    if t is ir.IntImm:
        return True
    if t is ir.Let:
        return exact(e.body)
    if t in (ir.BufferLoad, ir.FloatImm, ir.StringImm, ir.Shuffle, ir.CommReducer):
        return False
    if t is ir.Call and e.op not in ("if_then_else", "likely"):
        return False
    if t is ir.Cast and not {dt.info(e.dtype).code, dt.info(e.value.dtype).code} <= set(COUNTED):
        return False
    return all(exact(c) for c in e.children())


class Evaluator:
    """Values of expressions under the variables and buffers that are known."""

    def __init__(self, functions: dict[str, PrimFunc]) -> None:
        self.functions = functions
        self.env: dict[ir.Var, Any] = {}
        self.views: dict[Buffer, View] = {}
        self.zero_divisions = 0
        # A value that the language leaves open was looked at: the sign of the zero that is the smaller or
        # the larger of two zeros, the sign and the bits of a nan.
        self.loose = False
        # The lanes that a conditional of vectors evaluates.
        self.active: list[bool] | None = None
        # Another value that a function or a product of floats may have, in place of the nearest one: of its
        # name, the value and the dtype.
        self.nudge: Callable[[str, float, str], float] | None = None
        self._exact: dict[Any, bool] = {}

    def call(self, f: PrimFunc, args: Sequence[Any]) -> Any:
        raise NotImplementedError

    def exact(self, e: Any) -> bool:
        known = self._exact.get(e)
        if known is None:
            known = self._exact[e] = exact(e)
        return known

    def value(self, e: Any) -> Any:
        """The value: an exact integer as it is, data of their dtype."""
        return _VALUE[type(e)](self, e)

    def data(self, e: Any) -> Any:
        """The value as one of its dtype: an exact integer is reduced."""
        value = self.value(e)
        d = dt.info(e.dtype)
        if d.is_int and self.exact(e):
            return lift(lambda v: dt.wrap(int(v), d.base), value)
        return value

    def _var(self, e: ir.Var) -> Any:
        return self.env[e]

    def _int(self, e: ir.IntImm) -> Any:
        return bool(e.value) if e.dtype == "bool" else e.value

    def _float(self, e: ir.FloatImm) -> Any:
        return numbers.nearest(e.value, e.dtype)

    def _string(self, e: ir.StringImm) -> Any:
        return e.value

    def _binary(self, e: Any) -> Any:
        name, d = type(e).__name__, dt.info(e.dtype)
        if d.is_float:
            a, b = self.value(e.a), self.value(e.b)
            if name in ("Min", "Max"):
                self.loose |= any(_open_zero(p, q) for p, q in zip(_list(a), _list(b), strict=False))
            nudge = self.nudge
            if nudge is not None and name == "Mul":
                return lift(lambda p, q: nudge("Mul", p * q, d.base), a, b)
            return lift(numbers.float_operator(name, d.base), a, b)
        if d.code == "bool":
            return lift(numbers.INTEGER[name], self.value(e.a), self.value(e.b))
        function = numbers.INTEGER[name]
        if name in _DIVISIONS:
            function = self._division(name)
        if self.exact(e):
            return lift(function, self.value(e.a), self.value(e.b))
        return lift(lambda a, b: dt.wrap(function(a, b), d.base), self.data(e.a), self.data(e.b))

    def _division(self, name: str) -> Callable[[int, int], int]:
        def divide(a: int, b: int) -> int:
            self.zero_divisions += b == 0
            return numbers.INTEGER[name](a, b)

        return divide

    def _compare(self, e: Any) -> Any:
        both = self.exact(e.a) and self.exact(e.b)
        a, b = (self.value(e.a), self.value(e.b)) if both else (self.data(e.a), self.data(e.b))
        if dt.info(e.a.dtype).code == "handle":
            return _COMPARE[type(e)]((id(a.memory), a.at), (id(b.memory), b.at))
        return lift(_COMPARE[type(e)], a, b)

    def _logical(self, e: Any) -> Any:
        conjunction = type(e) is ir.And
        a = self.value(e.a)
        if isinstance(a, list) or dt.lanes(e.dtype) != 1:
            b = self.value(e.b)
            return lift(lambda p, q: p and q if conjunction else p or q, a, b)
        return bool(self.value(e.b)) if bool(a) == conjunction else bool(a)

    def _not(self, e: ir.Not) -> Any:
        return lift(lambda a: not a, self.value(e.a))

    def _select(self, e: ir.Select) -> Any:
        value = self.value if self.exact(e) else self.data
        return lift(lambda c, a, b: a if c else b, self.value(e.condition), value(e.true_value),
                    value(e.false_value))  # fmt: skip

    def _cast(self, e: ir.Cast) -> Any:
        have, want = dt.info(e.value.dtype).base, dt.info(e.dtype).base
        value = self.value(e.value)
        return lift(lambda v: numbers.convert(v, have, want), value)

    def _load(self, e: ir.BufferLoad) -> Any:
        view = self.views[e.buffer]
        index = [self.value(i) for i in e.indices]
        lanes = max([len(i) for i in index if isinstance(i, list)], default=0)
        if not lanes:
            return view.read(index)
        mask = self.active if self.active is not None and len(self.active) == lanes else [True] * lanes
        if e.predicate is not None:
            given = self.value(e.predicate)
            mask = [m and (given[k] if isinstance(given, list) else given) for k, m in enumerate(mask)]
        zero: Any = 0.0 if dt.is_float(e.dtype) else False if dt.is_bool(e.dtype) else 0
        return [
            view.read([i[k] if isinstance(i, list) else i for i in index]) if mask[k] else zero
            for k in range(lanes)
        ]

    def _ramp(self, e: ir.Ramp) -> Any:
        base, stride = self.value(e.base), self.value(e.stride)
        made = [base + stride * k for k in range(e.lanes)]
        return made if self.exact(e) else [dt.wrap(int(v), dt.info(e.dtype).base) for v in made]

    def _broadcast(self, e: ir.Broadcast) -> Any:
        value = self.value(e.value)
        return value * e.lanes if isinstance(value, list) else [value] * e.lanes

    def _shuffle(self, e: ir.Shuffle) -> Any:
        joined: list[Any] = []
        for v in e.vectors:
            part = self.data(v)
            joined += part if isinstance(part, list) else [part]
        chosen = [joined[int(self.value(i))] for i in e.indices]
        return chosen[0] if len(chosen) == 1 else chosen

    def _let_value(self, e: ir.Let) -> Any:
        self.env[e.var] = self.value(e.value) if self.exact(e.value) else self.data(e.value)
        return self.value(e.body)

    # ---- operators

    def _call(self, e: ir.Call) -> Any:
        op = e.op
        if isinstance(op, ir.GlobalVar):
            f = self.functions[op.name]
            return self.call(f, [self.data(a) for a in e.args])
        d = dt.info(e.dtype)
        if op in _SAME:
            return self.value(e.args[0])
        if op == "if_then_else":
            return self._if_then_else(e)
        if op in ("call_extern", "call_pure_extern"):
            return self._extern(e)
        if op in numbers.MATHEMATICS and (d.is_float or op in ("abs", "pow")):
            return self._mathematics(op, e)
        if op in _BITS:
            if d.code == "bool":
                return lift(lambda a, b: bool(numbers.bit_operator(op, int(a), int(b), 1)),
                            *[self.value(a) for a in e.args])  # fmt: skip
            return lift(lambda a, b: dt.wrap(numbers.bit_operator(op, a, b, d.bits), d.base),
                        *[self.data(a) for a in e.args])  # fmt: skip
        special = _OPERATORS.get(op)
        if special is None:
            raise NotInterpreted(f"T.{op}")
        return special(self, e, d)

    def _if_then_else(self, e: ir.Call) -> Any:
        test, a, b = e.args
        value = self.value if self.exact(e) else self.data
        chosen = self.value(test)
        if isinstance(chosen, list):
            outer = self.active
            self.active = [c and (outer is None or outer[k]) for k, c in enumerate(chosen)]
            first = value(a)
            self.active = [not c and (outer is None or outer[k]) for k, c in enumerate(chosen)]
            second = value(b)
            self.active = outer
            return lift(lambda c, p, q: p if c else q, chosen, first, second)
        return value(a) if chosen else value(b)

    def _mathematics(self, op: str, e: ir.Call) -> Any:
        d = dt.info(e.dtype)
        args = [self.data(a) for a in e.args]
        if d.is_int:
            function: Callable[..., Any] = abs if op == "abs" else numbers.integer_power
            return lift(lambda *a: dt.wrap(function(*a), d.base), *args)
        if op == "ldexp" and dt.is_float(e.args[1].dtype):
            args[1] = lift(lambda n: numbers.convert(n, dt.info(e.args[1].dtype).base, "int32"), args[1])
        if op == "copysign":
            self.loose |= any(v != v for v in _list(args[1]))
        exactly = numbers.MATHEMATICS[op]
        nudge = self.nudge
        if nudge is not None and op not in numbers.EXACT:
            return lift(lambda *a: nudge(op, exactly(*a), d.base), *args)
        return lift(lambda *a: numbers.nearest(exactly(*a), d.base), *args)

    def _extern(self, e: ir.Call) -> Any:
        name = str(getattr(e.args[0], "value", ""))
        plain = name if name in numbers.MATHEMATICS else name.removesuffix("f")
        if plain not in numbers.MATHEMATICS or not dt.is_float(e.dtype):
            raise NotInterpreted(f"the external function {name!r}")
        return self._mathematics(plain, e.replace(op=plain, args=e.args[1:]))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _open_zero(a: float, b: float) -> bool:
    return a == 0 == b and math.copysign(1.0, a) != math.copysign(1.0, b)


def lift(function: Callable[..., Any], *args: Any) -> Any:
    """Apply to scalars, or lane by lane where one of them is a vector."""
    for a in args:
        if type(a) is list:
            break
    else:
        return function(*args)
    lanes = max([len(a) for a in args if isinstance(a, list)], default=0)
    return [function(*[a[k] if isinstance(a, list) else a for a in args]) for k in range(lanes)]


# ---- operators of one meaning each

Operator = Callable[[Evaluator, ir.Call, dt.DType], Any]


def _lanewise(function: Callable[..., Any]) -> Operator:
    return lambda x, e, d: lift(function, *[x.data(a) for a in e.args])


def _of_bits(function: Callable[[int, int], int]) -> Operator:
    def build(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
        return lift(lambda a: dt.wrap(function(a & (1 << d.bits) - 1, d.bits), d.base), x.data(e.args[0]))

    return build


def _bitwise_not(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    if d.code == "bool":
        return lift(lambda a: not a, x.value(e.args[0]))
    return lift(lambda a: dt.wrap(~a, d.base), x.data(e.args[0]))


def _reinterpret(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    value = x.data(e.args[0])
    x.loose |= any(v != v for v in _list(value))
    made = numbers.reinterpreted(value if isinstance(value, list) else [value],
                                 dt.info(e.args[0].dtype).base, d.base)  # fmt: skip
    return made if d.lanes != 1 else made[0]


def _fixed_point(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    a, b, q, s = [int(x.data(v)) for v in e.args]
    return dt.wrap(_shifted_product(a << max(s, 0), b, q + max(-s, 0)), "int32")


def _fixed_point_axis(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    a, b, left, right, q, do_left, _ = [int(x.data(v)) for v in e.args]
    return dt.wrap(_shifted_product(a << left if do_left else a, b, q + right), "int32")


def _shifted_product(a: int, b: int, right: int) -> int:
    """Rounded to the nearest, halves up."""
    return (a * b * 2 + (1 << right)) >> (right + 1)


def _dp4a(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    a, b, c = [x.data(v) for v in e.args]
    kind = "uint8" if dt.info(e.args[0].dtype).code == "uint" else "int8"
    parts = [
        v if isinstance(v, list) else numbers.reinterpreted([v], dt.info(n.dtype).base, kind)
        for v, n in zip((a, b), e.args, strict=False)
    ]
    return dt.wrap(sum([p * q for p, q in zip(*parts, strict=True)], int(c)), d.base)


def _half(high: bool) -> Operator:
    def build(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
        lanes = x.data(e.args[0])
        count = len(lanes) // 2
        return lanes[count:] if high else lanes[:count]

    return build


def _lane_mask(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    base, limit = x.value(e.args[0]), x.value(e.args[1])
    return [base + k < limit for k in range(d.lanes)]


def _address_of(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    load: Any = e.args[0]
    view = x.views[load.buffer]
    at = view.at + sum([int(x.value(i)) * s for i, s in zip(load.indices, view.steps, strict=True)])
    return Pointer(view.memory, at, (max((len(view.memory) - at) // view.size, 0),), (1,))


def _access_ptr(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
    kind, data, offset, extent, _ = e.args
    pointer = x.value(data)
    size = numbers.size_of(dt.info(kind.dtype).base) * dt.lanes(kind.dtype)
    return Pointer(pointer.memory, pointer.at + int(x.value(offset)) * size, (int(x.value(extent)),), (1,))


def _atomic(function: Callable[[Any, Any], Any]) -> Operator:
    def build(x: Evaluator, e: ir.Call, d: dt.DType) -> Any:
        pointer, value = x.value(e.args[0]), x.data(e.args[1])
        base = dt.info(e.args[1].dtype).base
        old = numbers.load(pointer.memory, pointer.at, base)
        new = function(old, value)
        new = numbers.nearest(new, base) if dt.is_float(base) else dt.wrap(new, base)
        numbers.store(pointer.memory, pointer.at, new, base)
        return old

    return build


_OPERATORS: dict[str, Operator] = {
    "isnan": _lanewise(math.isnan),
    "isinf": _lanewise(math.isinf),
    "isfinite": _lanewise(math.isfinite),
    "fma": lambda x, e, d: lift(lambda a, b, c: numbers.fused(a, b, c, d.base), *[x.data(a) for a in e.args]),
    "nextafter": lambda x, e, d: lift(
        lambda a, b: numbers.next_after(a, b, d.base), *[x.data(a) for a in e.args]
    ),
    "bitwise_not": _bitwise_not,
    "popcount": _of_bits(lambda a, bits: a.bit_count()),
    "clz": _of_bits(lambda a, bits: bits - a.bit_length()),
    "q_multiply_shift": _fixed_point,
    "q_multiply_shift_per_axis": _fixed_point_axis,
    "dp4a": _dp4a,
    "reinterpret": _reinterpret,
    "undef": lambda x, e, d: 0.0 if d.is_float else 0,
    "vectorlow": _half(False),
    "vectorhigh": _half(True),
    "vectorcombine": lambda x, e, d: [v for a in e.args for v in x.data(a)],
    "get_active_lane_mask": _lane_mask,
    "large_uint_imm": lambda x, e, d: int(x.value(e.args[1])) << 32 | int(x.value(e.args[0])) & 0xFFFFFFFF,
    "address_of": _address_of,
    "tvm_access_ptr": _access_ptr,
    "isnullptr": lambda x, e, d: x.value(e.args[0]) is None,
    "atomic_add": _atomic(lambda a, b: a + b),
    "atomic_max": _atomic(max),
    "atomic_min": _atomic(min),
    **dict.fromkeys(HINTS, lambda x, e, d: True),
}
_VALUE: dict[type, Callable[[Evaluator, Any], Any]] = {
    ir.Var: Evaluator._var, ir.IntImm: Evaluator._int, ir.FloatImm: Evaluator._float,
    ir.StringImm: Evaluator._string, **dict.fromkeys(_BINARY, Evaluator._binary),
    **dict.fromkeys(_COMPARE, Evaluator._compare), ir.And: Evaluator._logical,
    ir.Or: Evaluator._logical, ir.Not: Evaluator._not, ir.Select: Evaluator._select,
    ir.Cast: Evaluator._cast, ir.BufferLoad: Evaluator._load, ir.Ramp: Evaluator._ramp,
    ir.Broadcast: Evaluator._broadcast, ir.Shuffle: Evaluator._shuffle, ir.Let: Evaluator._let_value,
    ir.Call: Evaluator._call,
}  # fmt: skip
__all__ = ["Evaluator", "NotInterpreted", "Pointer", "View", "dense", "lift"]
