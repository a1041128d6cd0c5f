"""Generated programs: whatever IR is printed, the parser reads back equal."""

# ruff: noqa: E501 - lines of scripts are as long as they are

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirscript.ir import dtype as dt
from tirscript.ir import ops
from tirscript.ir.buffer import Buffer, make_buffer, point
from tirscript.ir.equal import assert_structural_equal, structural_equal
from tirscript.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    TRUE,
    Add,
    And,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    IterVar,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Range,
    Select,
    StringImm,
    Sub,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import (
    Allocate,
    AssertStmt,
    AttrStmt,
    Block,
    BlockLabel,
    BlockRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
    seq,
)
from tirscript.script.parser import parse
from tirscript.script.printer import render, script

DTYPES = ["int32", "int64", "int8", "uint8", "uint64", "float32", "float64", "float16", "bfloat16", "bool"]
BUFFERS = {d: make_buffer(f"B_{d}", (const_int(64), const_int(64)), d) for d in DTYPES}
PARAMS = {d: Var(f"p_{d}", d, dt.is_int(d)) for d in DTYPES if d != "bool"}
SCALAR = make_buffer("S", (), "int32")


class Scope:
    """What an expression may mention."""

    def __init__(self, draw, variables):
        self.draw = draw
        self.variables = variables

    def with_var(self, v):
        return Scope(self.draw, [*self.variables, v])

    def pick(self, items):
        return items[self.draw(st.integers(0, len(items) - 1))]

    def number(self, dtype):
        kind = dt.info(dtype)
        if kind.code == "bool":
            return const_int(self.draw(st.integers(0, 1)), "bool")
        if kind.is_float:
            value = self.draw(
                st.sampled_from(
                    [0.0, -0.0, 1.0, -2.5, 0.1, 1e-5, 12345.0, float("inf"), -float("inf"), float("nan")]
                )
                | st.floats(-1000, 1000)
            )
            return FloatImm(ops.round_float(value, dtype), dtype)
        low, high = dt.bounds(dtype)
        return IntImm(
            self.draw(st.sampled_from([0, 1, low, high]) | st.integers(max(low, -9), min(high, 9))), dtype
        )

    def leaf(self, dtype):
        found = [v for v in self.variables if v.dtype == dtype]
        if dtype in PARAMS:
            found.append(PARAMS[dtype])
        choice = self.draw(st.integers(0, 2))
        if choice == 0 and found:
            return self.pick(found)
        if choice == 1:
            return BufferLoad(BUFFERS[dtype], (self.index(0), self.index(0)))
        return self.number(dtype)

    def index(self, depth):
        """An integer expression that no check of bounds refuses: it mentions something that is not constant."""
        found = [v for v in self.variables if v.dtype == "int32"]
        return self.pick([PARAMS["int32"], *found])

    def expr(self, dtype, depth):
        if depth <= 0:
            return self.leaf(dtype)
        kind = dt.info(dtype)
        if kind.code == "bool":
            return self.boolean(depth)
        makers = [
            self.arithmetic,
            self.choose,
            self.let,
            self.cast,
            self.leaf_of,
            self.arithmetic,
            self.arithmetic,
        ]
        makers.append(self.bits if kind.is_int else self.mathematics)
        return self.pick(makers)(dtype, depth - 1)

    def leaf_of(self, dtype, depth):
        return self.leaf(dtype)

    def arithmetic(self, dtype, depth):
        kinds = [Add, Sub, Mul, Min, Max, FloorDiv, FloorMod, Div]
        if dt.is_int(dtype):
            kinds.append(Mod)
        kind, a, b = self.pick(kinds), self.expr(dtype, depth), self.expr(dtype, depth)
        if kind in (FloorDiv, FloorMod, Div, Mod) and isinstance(b, IntImm) and b.value == 0:
            b = IntImm(1, b.dtype)  # a literal zero as divisor is refused
        return kind(a, b)

    def choose(self, dtype, depth):
        test, a, b = self.expr("bool", depth), self.expr(dtype, depth), self.expr(dtype, depth)
        return Select(test, a, b) if self.draw(st.booleans()) else Call(dtype, "if_then_else", (test, a, b))

    def let(self, dtype, depth):
        kind = self.pick(["int64", "float32"])
        v = Var(self.pick(["x", "y", "p_int32", "i"]), kind, False)
        return Let(
            v, BufferLoad(BUFFERS[kind], (self.index(0), self.index(0))), self.with_var(v).expr(dtype, depth)
        )

    def cast(self, dtype, depth):
        source = self.pick([d for d in DTYPES if d != dtype])
        return Cast(dtype, self.expr(source, depth))

    def bits(self, dtype, depth):
        op = self.pick(
            ["bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right", "bitwise_not"]
        )
        a = self.expr(dtype, depth)
        return Call(dtype, op, (a,) if op == "bitwise_not" else (a, self.expr(dtype, depth)))

    def mathematics(self, dtype, depth):
        op = self.pick(["exp", "sqrt", "pow", "atan2", "floor", "fabs"])
        a = self.expr(dtype, depth)
        return Call(dtype, op, (a, self.expr(dtype, depth)) if op in ("pow", "atan2") else (a,))

    def boolean(self, depth):
        choice = self.draw(st.integers(0, 4))
        if choice == 0:
            return Not(self.expr("bool", depth - 1))
        if choice <= 2:
            return self.pick([And, Or])(self.expr("bool", depth - 1), self.expr("bool", depth - 1))
        dtype = self.pick(DTYPES)
        kinds = [EQ, NE] if dtype == "bool" else [EQ, NE, LT, LE, GT, GE]
        return self.pick(kinds)(self.expr(dtype, depth - 1), self.expr(dtype, depth - 1))


def function(body, *more: Buffer):
    """A function with one parameter for each buffer and variable of this file."""
    buffers = (*BUFFERS.values(), SCALAR, *more)
    handles = [Var(f"{b.name}_handle", "handle", False) for b in buffers]
    return PrimFunc(
        (*handles, *PARAMS.values()),
        dict(zip(handles, buffers, strict=True)),
        body,
        attrs={"global_symbol": "f"},
    )


def reads_back(f):
    text = script(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = parse(text)
    assert_structural_equal(g, f)
    assert script(g) == text
    rendered = render(f, sugar=False)
    assert rendered.text == script(f, sugar=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert structural_equal(parse(rendered.text), f)
    return g


@given(st.data())
def test_expressions(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    e = Scope(data.draw, []).expr(dtype, data.draw(st.integers(0, 5)))
    at = PARAMS["int32"]
    reads_back(function(BufferStore(BUFFERS[dtype], e, (at, at))))


class Statements(Scope):
    def with_var(self, v):
        return Statements(self.draw, [*self.variables, v])

    def name(self):
        return self.pick(["i", "j", "x", "B_int32", "for", "T", "i_1"])

    def stmt(self, depth) -> Stmt:
        if depth <= 0:
            return self.pick([self.store, self.evaluate, self.check])()
        maker = self.pick([self.loop, self.loop, self.branch, self.let_stmt, self.sequence, self.attr, self.allocate,
                           self.loop_while, self.vector])  # fmt: skip
        return maker(depth - 1)

    def small(self, dtype="int32"):
        return Scope(self.draw, self.variables).expr(dtype, self.draw(st.integers(0, 2)))

    def store(self):
        dtype = self.pick(DTYPES)
        return BufferStore(BUFFERS[dtype], self.small(dtype), (self.index(0), self.index(0)))

    def evaluate(self):
        return Evaluate(
            self.pick(
                [self.small(), const_int(0), Call("int32", "call_extern", (StringImm("f"), self.small()))]
            )
        )

    def check(self):
        return AssertStmt(self.small("bool"), StringImm(self.pick(["no", 'a "b"\n'])))

    def loop(self, depth):
        kind = self.pick(["serial", "serial", "serial", "parallel", "unrolled"])
        v = Var(self.name())
        low = self.pick([const_int(0), const_int(0), const_int(2), PARAMS["int32"]])
        extent = self.pick([const_int(4), const_int(7), PARAMS["int32"], Sub(PARAMS["int32"], low)])
        notes = self.pick([{}, {}, {}, {"b": 1, "a": "x"}])
        step = self.pick([None, None, None, const_int(2)])
        return For(v, low, extent, kind, self.with_var(v).stmt(depth), annotations=notes, step=step)

    def vector(self, depth):
        lanes = self.pick([2, 4])
        at = Ramp(self.index(0), const_int(self.pick([1, 2])), lanes)
        load = BufferLoad(BUFFERS["float32"], (self.index(0), at))
        return BufferStore(
            BUFFERS["float32"], Add(load, Broadcast(self.small("float32"), lanes)), (self.index(0), at)
        )

    def loop_while(self, depth):
        return While(self.small("bool"), self.stmt(depth))

    def branch(self, depth):
        other = self.stmt(depth) if self.draw(st.booleans()) else None
        return IfThenElse(self.small("bool"), self.stmt(depth), other)

    def let_stmt(self, depth):
        v = Var(self.name(), "int64", False)
        value = BufferLoad(BUFFERS["int64"], (self.index(0), self.index(0)))
        return LetStmt(v, value, self.with_var(v).stmt(depth))

    def sequence(self, depth):
        return seq(*[self.stmt(depth) for _ in range(self.draw(st.integers(2, 3)))])

    def attr(self, depth):
        return AttrStmt(const_int(0), self.pick(["pragma_a", "pragma_b"]), const_int(1), self.stmt(depth))

    def allocate(self, depth):
        pointer = Var(self.name(), "handle", False, ("float32", "global"))
        b = make_buffer(self.name(), (const_int(8),), data=pointer)
        inner = seq(BufferStore(b, FloatImm(1.0), (const_int(3),)), self.stmt(depth))
        return Allocate(pointer, "float32", (const_int(8),), TRUE, DeclBuffer(b, inner))


@given(st.data())
def test_statements(data):
    reads_back(function(Statements(data.draw, []).stmt(data.draw(st.integers(0, 5)))))


@given(st.data())
def test_blocks(data):
    """Blocks in nests, with axes that are plain or not, allocations and names that clash."""
    draw = data.draw
    names = st.sampled_from(["i", "v", "O", "O_handle", "X", "cls", "B_int32"])
    O = make_buffer("O", (const_int(64), const_int(64)), "int32")
    inner_buffers: list[Buffer] = []

    def nest(depth: int) -> Stmt:
        loops = [Var(draw(names)) for _ in range(draw(st.integers(1, 3)))]
        axes, values = [], []
        for v in loops:
            extent = draw(st.sampled_from([4, 8]))
            kind = draw(st.sampled_from(["spatial", "reduce"]))
            axes.append(IterVar(Var(draw(names)), Range(const_int(0), const_int(extent)), kind))
            values.append(v if draw(st.booleans()) else Add(v, const_int(0)))
        at: tuple[Expr, ...] = (axes[0].var, axes[-1].var)
        extra: tuple[Buffer, ...] = ()
        body: Stmt = BufferStore(O, Add(BufferLoad(O, at), at[0]), at)
        if draw(st.booleans()):
            X = make_buffer(draw(names), (const_int(8), const_int(8)), "int32", scope="local")
            extra = (X,)
            body = SeqStmt((BufferStore(X, at[0], at), body))
        if depth and draw(st.booleans()):
            body = seq(body, nest(depth - 1))
        init = BufferStore(O, const_int(0), at) if draw(st.booleans()) else None
        block = Block(
            BlockLabel(draw(st.sampled_from(["b", "a b", 'q"', "root"]))), tuple(axes), (point(O, at),), (point(O, at),),
            body, init, extra, (), draw(st.sampled_from([{}, {"k": [1, "x"]}])),
        )  # fmt: skip
        predicate = draw(st.sampled_from([TRUE, LT(loops[0], const_int(3))]))
        out: Stmt = BlockRealize(tuple(values), predicate, block)
        for v in reversed(loops):
            out = For(v, const_int(0), const_int(draw(st.sampled_from([4, 8]))), "serial", out)
        return out

    if draw(st.booleans()):
        inner_buffers.append(make_buffer(draw(names), (const_int(8),)))
    body = seq(*[nest(draw(st.integers(0, 2))) for _ in range(draw(st.integers(1, 2)))])
    root = BlockRealize(
        (), TRUE, Block(BlockLabel("root"), (), (), (), body, alloc_buffers=tuple(inner_buffers))
    )
    reads_back(function(root, O))


@pytest.mark.parametrize("low", [0, 3, -2])
@pytest.mark.parametrize("extent", [1, 4])
def test_constant_loops(low, extent):
    v = Var("i")
    reads_back(function(For(v, const_int(low), const_int(extent), "serial", Evaluate(v))))
