"""Random programs for property tests: functions of loops, blocks and expressions of every kind.

Needs hypothesis.  What is drawn is well formed; with ``executable=True`` it also runs, on every target with
the same bits: indices stay in bounds, loops end, iterations that run at once do not meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tirscript.ir import dtype as dt
from tirscript.ir.buffer import Buffer, make_buffer
from tirscript.ir.expr import (
    LT,
    TRUE,
    Add,
    And,
    BufferLoad,
    Call,
    Expr,
    IntImm,
    StringImm,
    Var,
    const_int,
)
from tirscript.ir.function import PrimFunc
from tirscript.ir.node import walk
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
    Stmt,
    While,
    seq,
)

from .random_blocks import LARGE, Blocks
from .random_exprs import EVERY, NATIVE, Draw, has_cells, is_exact_integer

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# Names that mean something to Python, to scripts or to the printer.
AWKWARD = (
    "class", "lambda", "T", "I", "cls", "range", "tir", "np", "print", "_", "__x", "i_1", "A_1", "T_1",
    "None_", "é", "x" * 40,
)  # fmt: skip
SCOPES = ("global", "shared", "shared.dyn", "local", "warp", "wmma.accumulator", "global.A_reg")
TEXTS = ("", "plain", 'quote "', "it's", "line\nbreak", "tab\t", "back\\slash", "ünïcode")


class Programs(Blocks):
    """Draws one function."""

    def __init__(
        self, draw: Draw, executable: bool, awkward: bool, symbolic: bool, independent: bool = False
    ) -> None:
        super().__init__(draw, executable)
        self.independent = independent
        self.awkward = awkward
        self.symbolic = symbolic
        self.fuel = self.number(2, 12)
        self.together: list[tuple[Var, int]] = []  # loops whose iterations run at once, with their extents
        self.inputs: set[Buffer] = set()
        self.size = None
        self.shown = {}
        self.loop_vars: set[Var] = set()
        self.blocks = 0
        self.loop_depth = 0

    # ---- declarations

    def name(self, wanted: str) -> str:
        return self.fresh(self.pick(AWKWARD) if self.awkward and self.chance(40) else wanted)

    def extent(self) -> IntImm:
        return const_int(self.pick((4, 3, 1, 8, 5, 2, 16)))

    def shape(self) -> tuple[Expr, ...]:
        made = [self.extent() for _ in range(self.pick((1, 2, 1, 2, 3, 0)))]
        if made and self.executable and self.chance(4):
            # No element at all: loops over it do not run.
            made[self.number(0, len(made) - 1)] = const_int(0)
        return tuple(made)

    def buffer(self, name: str, *, scope: str = "global", strided: bool = False) -> Buffer:
        shape = self.shape()
        fields: dict[str, Any] = {}
        if not self.executable:
            if self.chance(10):
                fields["align"] = self.pick((64, 128, 16))
            if self.chance(10):
                fields["offset_factor"] = self.pick((1, 4, 16))
            if shape and self.chance(10):
                fields["strides"] = tuple([const_int(self.number(1, 64)) for _ in shape])
        elif strided and shape and self.chance(12):
            step, strides = self.pick((1, 2, 3)), []
            for n in reversed(shape):
                strides.append(const_int(step))
                step = step * n.value + self.number(0, 2)  # type: ignore[attr-defined]
            fields["strides"] = tuple(reversed(strides))
        dtype = self.pick(NATIVE if self.executable else EVERY)
        return make_buffer(self.name(name), shape, dtype, scope=scope, **fields)

    def declare(self, b: Buffer) -> Buffer:
        self.scope.buffers.append(b)
        return b

    # ---- the function

    def function(self) -> PrimFunc:
        params: list[Var] = []
        buffer_map: dict[Var, Buffer] = {}
        size: Var | None = None
        if self.symbolic and self.chance(40):
            size = Var(self.name("n"), "int32", True)
        for i in range(self.number(1, 4)):
            b = self.buffer("ABCD"[i], strided=True)
            if size is not None and b.shape and not b.strides and self.chance(60):
                b = b.replace(shape=(size, *b.shape[1:]))
            handle = Var(f"{b.name}_handle", "handle", False)
            params.append(handle)
            buffer_map[handle] = self.declare(b)
        used = size is not None and any(size in b.shape for b in buffer_map.values())
        if size is not None:
            if used:
                self.scope.ints.append((size, 3, LARGE))
                self.size = size
            else:
                self.scope.names.discard(size.name)
        for _ in range(self.number(0, 2)):
            dtype = self.pick(NATIVE if self.executable else EVERY)
            p = Var(self.name("s"), dtype, dt.is_int(dtype))
            params.append(p)
            self.scope.values.append(p)
        self.inputs = set(list(buffer_map.values())[: self.number(0, max(len(buffer_map) - 1, 0))])
        attrs: dict[str, Any] = {"global_symbol": "f"}
        if self.chance(30):
            attrs["tir.noalias"] = True
        if self.chance(20):
            attrs |= self.annotations()
        allocations = [self.declare(self.buffer("X", scope=self.where())) for _ in range(self.number(0, 2))]
        fill = [self.filled(b) for b in allocations] if self.executable else []
        body = seq(*fill, *[self.statement() for _ in range(self.number(1, 3))])
        if allocations or any(type(n) is BlockRealize for n in walk(body)):
            root = Block(BlockLabel("root"), (), (), (), body, alloc_buffers=tuple(allocations))
            body = BlockRealize((), TRUE, root)
        return PrimFunc(tuple(params), buffer_map, body, attrs=attrs)

    def where(self) -> str:
        return "global" if self.executable else str(self.pick(SCOPES))

    def filled(self, b: Buffer) -> Stmt:
        """Loops that give every cell of an own buffer a value."""
        variables = [Var(self.fresh("z")) for _ in b.shape]
        body: Stmt = BufferStore(b, self.constant(b.dtype), tuple(variables))
        for v, n in zip(reversed(variables), reversed(b.shape), strict=True):
            body = For(v, const_int(0), n, "serial", body)
        for v in variables:
            self.scope.names.discard(v.name)
        return body

    def annotations(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for _ in range(self.number(1, 2)):
            key = self.pick(
                ("note", "pragma_auto_unroll_max_step", "a.b", "software_pipeline_stage", "key with space")
            )
            kind = self.number(0, 4)
            values: list[Any] = [
                self.number(-3, 1 << 20),
                self.pick(TEXTS),
                self.chance(50),
                self.number(-8, 8) / 4,
                [self.number(0, 9), [self.pick(TEXTS)]],
            ]
            out[key] = values[kind]
        return out

    # ---- statements

    def statement(self) -> Stmt:
        self.fuel -= 1
        if self.together:
            return self.one_of_many()
        if self.fuel <= 0:
            return self.store()
        kinds = [
            self.store,
            self.for_,
            self.for_,
            self.nest,
            self.nest,
            self.if_,
            self.let_stmt,
            self.several,
        ]
        kinds += [self.while_, self.allocation, self.view, self.assertion]
        kinds += [self.opaque_block, self.matched]
        if not self.executable:
            kinds += [self.evaluate, self.attribute]
        return self.pick(kinds)()  # type: ignore[no-any-return]

    def several(self) -> Stmt:
        return seq(*[self.statement() for _ in range(self.number(2, 3))])

    def store(self) -> Stmt:
        targets = [b for b in self.scope.buffers if b not in self.inputs and has_cells(b)]
        if not targets:
            return Evaluate(const_int(0))
        b = self.pick(targets)
        last = b.shape[-1] if b.shape else None
        lanes = 1
        if isinstance(last, IntImm) and last.value >= 2 and self.chance(20):
            lanes = self.pick([n for n in (4, 2, 3, 8, 5, 7) if n <= last.value])
        if lanes == 1:
            indices = tuple([self.index(n) for n in b.shape])
        else:
            indices = (*[self.index(n) for n in b.shape[:-1]], self.index(b.shape[-1], lanes))
        return BufferStore(b, self.expr(b.dtype, self.number(1, 3), lanes), indices)

    def one_of_many(self) -> Stmt:
        """A store by one of several iterations that run at once: into a cell of its own, from inputs."""
        for b in self.scope.buffers:
            if b in self.inputs or len(b.shape) < len(self.together) or not has_cells(b):
                continue
            sizes = [n.value if isinstance(n, IntImm) else 3 for n in b.shape]
            if all(size >= n for size, (_, n) in zip(sizes, self.together, strict=False)):
                own = [v for v, _ in self.together]
                rest = [const_int(self.number(0, s - 1)) for s in sizes[len(own) :]]
                self.only = self.inputs
                value = self.expr(b.dtype, self.number(1, 3))
                self.only = None
                return BufferStore(b, value, (*own, *rest))
        return Evaluate(const_int(0))

    def for_(self) -> Stmt:
        """One loop of any kind."""
        kind = self.pick(
            ("serial", "serial", "serial", "unrolled", "parallel", "vectorized", "thread_binding")
        )
        low = self.number(0, 2) if self.chance(25) else 0
        extent = self.pick((4, 3, 8, 1, 2, 5, 0))
        thread = ""
        if kind == "thread_binding":
            if self.executable:
                kind = "serial"
            else:
                thread = self.pick(("threadIdx.x", "blockIdx.y", "vthread.z"))
        if kind == "vectorized" and self.executable:
            extent = self.pick((4, 8, 2, 3, 5, 7))
        step = const_int(2) if kind == "serial" and self.chance(10) else None
        bound: tuple[Expr, Expr] = (const_int(low), const_int(extent))
        triangular = [v for v, lo, hi in self.scope.ints if lo >= 0 and hi <= 16 and v.dtype == "int32"]
        if kind == "serial" and step is None and triangular and self.chance(15):
            v = self.pick(triangular)
            high = next(h for w, _, h in self.scope.ints if w is v)
            bound, low, extent = (const_int(0), Add(v, const_int(1))), 0, high + 1
        variable = Var(self.name(self.pick("ijk")))
        if kind == "serial" and step is None and self.size is not None and self.chance(25):
            bound, low, extent = (const_int(0), self.size), 0, LARGE
            self.scope.whole.append((variable, self.size))
        together = self.executable and kind in ("parallel", "vectorized")
        if together:
            bound, low = (const_int(0), const_int(extent)), 0
        body = self.inside(variable, low, low + max(extent, 1) - 1, together, extent, kind == "serial")
        self.scope.whole = [e for e in self.scope.whole if e[0] is not variable]
        annotations = self.annotations() if self.chance(10) else {}
        return For(variable, *bound, kind, body, thread, annotations, step)

    def inside(self, v: Var, low: int, high: int, together: bool, extent: int, jumps: bool) -> Stmt:
        self.scope.ints.append((v, low, high))
        self.loop_vars.add(v)
        self.loop_depth += 1
        if together:
            self.together.append((v, extent))
        jump = jumps and not self.together and self.chance(8)
        made = self.statement()
        if jump:
            word = self.pick(("break_loop", "continue_loop"))
            leave = IfThenElse(self.boolean(1), Evaluate(Call("void", word, ())))
            made = seq(leave, made) if self.chance(50) else seq(made, leave)
        if together:
            self.together.pop()
        self.loop_depth -= 1
        self.scope.ints.pop()
        self.scope.names.discard(v.name)
        return made

    def if_(self) -> Stmt:
        test = self.boolean(2)
        then = self.statement()
        return IfThenElse(test, then, self.statement() if self.chance(50) else None)

    def let_stmt(self) -> Stmt:
        dtype = self.pick(NATIVE if self.executable else EVERY)
        value = self.expr(dtype, 2)
        v = Var(self.name("x"), dtype, is_exact_integer(value))
        self.scope.values.append(v)
        body = self.statement()
        self.scope.values.remove(v)
        self.scope.names.discard(v.name)
        return LetStmt(v, value, body)

    def while_(self) -> Stmt:
        """A loop that counts in a buffer of its own."""
        count = make_buffer(self.name("count"), (const_int(1),), "int32")
        zero = (const_int(0),)
        body = self.statement()
        test: Expr = LT(BufferLoad(count, zero), const_int(self.number(0, 3)))
        if self.chance(30):
            test = And(test, self.boolean(1))
        step = BufferStore(count, Add(BufferLoad(count, zero), const_int(1)), zero)
        loop = While(test, seq(step, body))
        self.scope.names.discard(count.name)
        inner = seq(BufferStore(count, const_int(0), zero), loop)
        return Allocate(count.data, "int32", (const_int(1),), TRUE, DeclBuffer(count, inner))

    def allocation(self) -> Stmt:
        b = self.buffer("buf", scope=self.where())
        if b.strides:
            b = b.replace(strides=())
        b = b.replace(data=Var(self.name("p"), "handle", False, (b.dtype, b.scope)))
        self.declare(b)
        fill = [self.filled(b)] if self.executable else []
        body = seq(*fill, self.statement())
        self.scope.buffers.remove(b)
        self.scope.names -= {b.name, b.data.name}
        return Allocate(b.data, b.dtype, b.shape or (const_int(1),), TRUE, DeclBuffer(b, body))

    def view(self) -> Stmt:
        """A second buffer over memory that is there."""
        bases = [
            b
            for b in self.scope.buffers
            if not b.strides and has_cells(b) and all(isinstance(n, IntImm) for n in b.shape)
        ]
        if not bases:
            return self.store()
        base = self.pick(bases)
        count = 1
        for n in base.shape:
            count *= n.value
        offset = self.number(0, count - 1)
        b = Buffer(
            self.name("view"), (const_int(count - offset),), base.dtype, base.data,
            elem_offset=const_int(offset) if offset else None, scope=base.scope,
        )  # fmt: skip
        self.declare(b)
        if base in self.inputs:
            self.inputs.add(b)
        body = self.statement()
        self.scope.buffers.remove(b)
        self.inputs.discard(b)
        self.scope.names.discard(b.name)
        return DeclBuffer(b, body)

    def assertion(self) -> Stmt:
        if self.executable:
            return AssertStmt(TRUE, StringImm("never"))
        return AssertStmt(self.boolean(2), StringImm(self.pick(TEXTS)))

    def evaluate(self) -> Stmt:
        choice = self.number(0, 3)
        if choice == 0:
            return Evaluate(self.expr(self.pick(EVERY), 2))
        if choice == 1:
            b = self.pick(self.scope.buffers)
            args = (
                StringImm(self.pick(("f", "ns::g"))),
                b.data,
                self.expr("int32", 1),
                StringImm(self.pick(TEXTS)),
            )
            return Evaluate(Call(self.pick(("void", "int32", "float32")), "call_extern", args))
        if choice == 2:
            load = self.load(self.pick(self.scope.buffers))
            address = Call("handle", "address_of", (load,))
            return Evaluate(Call("int32", "call_packed", (StringImm("g"), address)))
        return Evaluate(Call("bool", "assume", (self.boolean(2),)))

    def attribute(self) -> Stmt:
        node: Any = self.pick((const_int(0), self.pick(self.scope.buffers)))
        value = self.pick((const_int(self.number(0, 9)), StringImm(self.pick(TEXTS))))
        return AttrStmt(node, self.pick(("pragma_note", "storage.kind")), value, self.statement())


def programs(
    *,
    executable: bool = False,
    awkward_names: bool = False,
    symbolic: bool = True,
    independent: bool = False,
) -> SearchStrategy[PrimFunc]:
    """A hypothesis strategy of functions.

    ``executable``: they run on the python and the llvm target with the same bits (for the target
    ``llvm -fp-contract=off -math=scalar``).  ``awkward_names``: keywords and the script's own names too,
    which the printer has to rename.  ``independent``: instances of a block that differ in
    a spatial axis do not meet.

    ::

        @given(programs())
        def test(program):
            assert_round_trip(program)
    """
    from hypothesis import strategies as st

    @st.composite
    def make(draw: Draw) -> PrimFunc:
        return Programs(draw, executable, awkward_names, symbolic, independent).function()

    return make()
