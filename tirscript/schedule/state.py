"""The state of a schedule: the current functions and, for each, where every loop and block stands.

The trees are immutable.  ``replace`` copies the path from the root to the changed statement, shares
everything else, and patches the index: it walks the new subtree and stops at what was there before.
"""

from __future__ import annotations

from typing import Any

from tirscript.diagnostics import TirscriptError
from tirscript.ir.expr import GlobalVar, Var
from tirscript.ir.function import PrimFunc
from tirscript.ir.module import IRModule
from tirscript.ir.stmt import (
    Allocate,
    AllocateConst,
    AttrStmt,
    Block,
    BlockLabel,
    BlockRealize,
    BufferRealize,
    DeclBuffer,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
)
from tirscript.ir.verify import verify
from tirscript.ir.visitor import fresh_copy

from .lets import without_lets
from .refs import StmtSRef, block_token

Token = Var | BlockLabel
Index = dict[Any, StmtSRef]

# Statements with one statement inside, called ``body``, that are neither loop nor block.
WRAPPERS = frozenset({While, LetStmt, AttrStmt, Allocate, AllocateConst, DeclBuffer, BufferRealize})


class FunctionState:
    """One function of the module: its current tree, the index of its loops and blocks, facts of scopes."""

    __slots__ = ("_index", "_names", "facts", "func", "name", "var")

    def __init__(self, name: str, var: GlobalVar, func: PrimFunc) -> None:
        self.name = name
        self.var = var
        self.func = func
        self._index: Index | None = None
        self._names: tuple[Any, Any, frozenset[str]] | None = None
        # Facts about a block that depend on what stands around it, by the block's token.
        self.facts: dict[Any, dict[str, Any]] = {}

    @property
    def index(self) -> Index:
        """Token to place; built on first use."""
        found = self._index
        if found is None:
            found = self._index = {}
            _enter(self.func.body, found, self)
        return found

    @property
    def outer_names(self) -> frozenset[str]:
        """The names of parameters, of their buffers and of the sizes of these."""
        func = self.func
        found = self._names
        if found is None or found[0] is not func.params or found[1] is not func.buffer_map:
            names = {p.name for p in func.params}
            for b in func.buffer_map.values():
                names.add(b.name)
                for e in b.shape:
                    if type(e) is Var:
                        names.add(e.name)
            found = self._names = (func.params, func.buffer_map, frozenset(names))
        return found[2]

    def restore(self, func: PrimFunc) -> None:
        """Put another tree in place; the index is built again when it is needed."""
        self.func = func
        self._index = None
        self.facts.clear()


def _enter(root: Stmt, index: Index, home: FunctionState) -> None:
    stack: list[tuple[Any, StmtSRef | None, int]] = [(root, None, 0)]
    while stack:
        s, parent, slot = stack.pop()
        t = type(s)
        if t is For:
            place = index[s.loop_var] = StmtSRef(s, parent, slot, home)
            stack.append((s.body, place, 0))
        elif t is BlockRealize:
            label = s.block.label
            place = StmtSRef(s, parent, slot, home)
            index[label if label.same_as is None else label.same_as] = place
            stack.append((s.block.body, place, 0))
        elif t is SeqStmt:
            place = StmtSRef(s, parent, slot, home)
            stack.extend([(c, place, i) for i, c in reversed(tuple(enumerate(s.seq)))])
        elif t is IfThenElse:
            place = StmtSRef(s, parent, slot, home)
            if s.else_case is not None:
                stack.append((s.else_case, place, 1))
            stack.append((s.then_case, place, 0))
        elif t in WRAPPERS:
            stack.append((s.body, StmtSRef(s, parent, slot, home), 0))


def with_child(s: Any, slot: int, child: Stmt) -> Stmt:
    """A copy of the statement with another child."""
    t = type(s)
    if t is For:
        return For(s.loop_var, s.min, s.extent, s.kind, child, s.thread, s.annotations, s.step, s.span)
    if t is BlockRealize:
        b = s.block
        block = Block(
            b.label, b.iter_vars, b.reads, b.writes, child, b.init, b.alloc_buffers, b.match_buffers,
            b.annotations, b.span,
        )  # fmt: skip
        return BlockRealize(s.iter_values, s.predicate, block, s.span)
    if t is SeqStmt:
        return SeqStmt((*s.seq[:slot], child, *s.seq[slot + 1 :]), s.span)
    if t is IfThenElse:
        if slot == 0:
            return IfThenElse(s.condition, child, s.else_case, s.span)
        return IfThenElse(s.condition, s.then_case, child, s.span)
    new: Stmt = s.replace(body=child)
    return new


def lifted(scope: StmtSRef, place: StmtSRef, new: Stmt) -> Stmt:
    """The body of a scope with another statement at a place below it."""
    here = place
    while here.parent is not None and here.parent is not scope:
        new = with_child(here.parent.node, here.seq_index, new)
        here = here.parent
    return new


def lifted_parts(scope: StmtSRef, place: StmtSRef, parts: tuple[Stmt, ...]) -> Stmt:
    """The body of a scope with several statements at a place below it, in the sequence that it stands in."""
    up = place.parent
    if up is not None and type(up.node) is SeqStmt:
        items = up.node.seq
        slot = place.seq_index
        return lifted(scope, up, SeqStmt((*items[:slot], *parts, *items[slot + 1 :]), up.node.span))
    return lifted(scope, place, SeqStmt(parts) if len(parts) > 1 else parts[0])


class ScheduleState:
    """The functions that a schedule works on.

    ``enable_check`` says whether legality is tested; ``debug_mask`` whether every step is followed by a
    comparison of the index with a rebuilt one (1) and the structural verifier (2).
    """

    def __init__(self, mod: IRModule | PrimFunc, *, debug_mask: int = 0, enable_check: bool = True) -> None:
        module = IRModule.from_expr(mod) if isinstance(mod, PrimFunc) else mod
        items = module.functions_items()
        self.functions: dict[str, FunctionState] = {
            var.name: FunctionState(var.name, var, without_lets(func)) for var, func in items
        }
        if len(items) > 1:
            self._separate()
        self.attrs = dict(module.attrs)
        # The function that block names are looked up in; None where there are several and none is "main".
        names = list(self.functions)
        self.working: str | None = names[0] if len(names) == 1 else "main" if "main" in names else None
        self.debug_mask = debug_mask
        self.enable_check = enable_check
        # Tokens that went with a named step, and what a newer step of that name made in their place.
        self.aliases: dict[Any, Any] = {}
        # What the running transaction changed, so that it can be taken back.
        self.log: list[tuple[FunctionState, PrimFunc]] = []

    def _separate(self) -> None:
        """Copy a function that shares definitions with an earlier one: a token names one place."""
        seen: set[Any] = set()
        for f in self.functions.values():
            tokens = {*f.index, *f.func.params}
            if not seen.isdisjoint(tokens):
                f.restore(fresh_copy(f.func))
                tokens = {*f.index, *f.func.params}
            seen |= tokens

    @property
    def mod(self) -> IRModule:
        """The current module; a new table at each access, of shared functions."""
        return IRModule({f.var: f.func for f in self.functions.values()}, self.attrs)

    @property
    def index(self) -> dict[GlobalVar, Index]:
        """For each function, where its loops and blocks stand."""
        return {f.var: f.index for f in self.functions.values()}

    def copy(self) -> ScheduleState:
        """A state of its own over the same trees."""
        new = ScheduleState.__new__(ScheduleState)
        new.functions = {n: FunctionState(n, f.var, f.func) for n, f in self.functions.items()}
        new.attrs = dict(self.attrs)
        new.working = self.working
        new.debug_mask = self.debug_mask
        new.enable_check = self.enable_check
        new.aliases = dict(self.aliases)
        new.log = []
        return new

    def find(self, token: Any, function: str = "") -> StmtSRef | None:
        """The place of a token, looked for in the function first, then in all."""
        f = self.functions.get(function)
        if f is not None:
            place = f.index.get(token)
            if place is not None:
                return place
        for other in self.functions.values():
            if other is not f:
                place = other.index.get(token)
                if place is not None:
                    return place
        newer = self.aliases.get(token)
        return None if newer is None else self.find(newer, function)

    def get_sref(self, stmt: Stmt) -> StmtSRef | None:
        """The place of a loop or block of a current tree; None where it stands nowhere."""
        if isinstance(stmt, BlockRealize):
            stmt = stmt.block
        token = (
            stmt.loop_var
            if isinstance(stmt, For)
            else block_token(stmt.label)
            if isinstance(stmt, Block)
            else None
        )
        place = None if token is None else self.find(token)
        return place if place is not None and place.stmt is stmt else None

    # -- the only way to change a tree

    def replace(self, place: StmtSRef, new: Stmt, gone: tuple[Token, ...] | None = None) -> None:
        """Put ``new`` where the statement of ``place`` stands.

        A sequence put into a sequence is merged with it.  ``gone`` are the loops and blocks that vanish,
        where the caller knows.
        """
        old = place.node
        if old is new:
            return
        home = place.home
        index = home.index
        parent, slot = place.parent, place.seq_index
        if type(new) is SeqStmt and parent is not None and type(parent.node) is SeqStmt:
            items = parent.node.seq
            new = SeqStmt((*items[:slot], *new.seq, *items[slot + 1 :]), parent.node.span)
            place = parent
            old = place.node
            parent, slot = place.parent, place.seq_index
        func = home.func
        self.log.append((home, func))
        if home.facts:
            self._drop_facts(home, place)
        node = new
        p, k = parent, slot
        while p is not None:
            node = p.node = with_child(p.node, k, node)
            k = p.seq_index
            p = p.parent
        home.func = PrimFunc(func.params, func.buffer_map, node, func.ret_type, func.attrs, func.span)
        if type(new) is For and type(old) is For and new.body is old.body and new.loop_var is old.loop_var:
            place.node = new  # only the header changed
            return
        if (
            type(new) is BlockRealize
            and type(old) is BlockRealize
            and new.block.body is old.block.body
            and block_token(new.block.label) is block_token(old.block.label)
        ):
            place.node = new
            return
        _patch(index, new, parent, slot, home, old if gone is None else None)
        if gone:
            for token in gone:
                del index[token]

    def replace_function(self, home: FunctionState, func: PrimFunc) -> None:
        """Put another function in place, its parameters too; the index is built again."""
        self.log.append((home, home.func))
        home.restore(func)

    def _drop_facts(self, home: FunctionState, place: StmtSRef) -> None:
        facts = home.facts
        p: StmtSRef | None = place
        while p is not None:
            if type(p.node) is BlockRealize:
                facts.pop(block_token(p.node.block.label), None)
            p = p.parent
        # What stands below the place changed its surroundings too.
        for token in tuple(facts):
            if token not in home.index or _is_below(home.index[token], place):
                del facts[token]

    def roll_back(self) -> None:
        """Undo what the running transaction did."""
        for f, func in reversed(self.log):
            f.restore(func)
        self.log.clear()

    # -- self-checks

    def verify(self) -> None:
        """Compare every built index with a rebuilt one, and run the structural verifier.

        Raises a TirscriptError that says what is wrong: a defect of tirscript, not of the program.
        """
        if self.debug_mask & 1:
            for f in self.functions.values():
                _compare(f)
        if self.debug_mask & 2:
            faults = verify(self.mod)
            if faults:
                raise faults[0]


def _is_below(place: StmtSRef, top: StmtSRef) -> bool:
    p: StmtSRef | None = place
    while p is not None:
        if p is top:
            return True
        p = p.parent
    return False


def _patch(
    index: Index, new: Stmt, parent: StmtSRef | None, slot: int, home: FunctionState, old: Stmt | None
) -> None:
    """Bring the index to ``new``; subtrees that were indexed before are not entered.  What vanished with
    ``old`` is taken out."""
    live: set[Any] | None = None if old is None else set()
    pending: list[tuple[Any, StmtSRef | None, int]] = []
    s: Any = new
    while True:
        t = type(s)
        if t is For:
            token: Any = s.loop_var
            if live is not None:
                live.add(token)
            place = index.get(token)
            if place is None:
                parent = index[token] = StmtSRef(s, parent, slot, home)
                slot = 0
                s = s.body
                continue
            place.parent = parent
            place.seq_index = slot
            if place.node is not s:
                place.node = s
                parent, slot = place, 0
                s = s.body
                continue
        elif t is BlockRealize:
            block = s.block
            label = block.label
            token = label if label.same_as is None else label.same_as
            if live is not None:
                live.add(token)
            place = index.get(token)
            if place is None:
                parent = index[token] = StmtSRef(s, parent, slot, home)
                slot = 0
                s = block.body
                continue
            before = place.node
            place.parent = parent
            place.seq_index = slot
            if before is not s:
                place.node = s
                if type(before) is not BlockRealize or before.block is not block:
                    parent, slot = place, 0
                    s = block.body
                    continue
        elif t is SeqStmt:
            place = StmtSRef(s, parent, slot, home)
            items = s.seq
            if items:
                pending += [(items[n], place, n) for n in range(len(items) - 1, 0, -1)]
                parent, slot = place, 0
                s = items[0]
                continue
        elif t is IfThenElse:
            place = StmtSRef(s, parent, slot, home)
            if s.else_case is not None:
                pending.append((s.else_case, place, 1))
            parent, slot = place, 0
            s = s.then_case
            continue
        elif t in WRAPPERS:
            parent, slot = StmtSRef(s, parent, slot, home), 0
            s = s.body
            continue
        if not pending:
            break
        s, parent, slot = pending.pop()
    if live is None:
        return
    below: list[Any] = [old]
    while below:
        s = below.pop()
        t = type(s)
        if t is For:
            token, inside = s.loop_var, s.body
        elif t is BlockRealize:
            token, inside = block_token(s.block.label), s.block.body
        elif t is SeqStmt:
            below.extend(s.seq)
            continue
        elif t is IfThenElse:
            below.append(s.then_case)
            if s.else_case is not None:
                below.append(s.else_case)
            continue
        else:
            if t in WRAPPERS:
                below.append(s.body)
            continue
        if token in live:
            kept = index[token].node
            if kept is s or (t is BlockRealize and kept.block is s.block):
                continue
        elif token in index:
            del index[token]
        below.append(inside)


def _compare(f: FunctionState) -> None:
    have = f._index
    if have is None:
        return
    want: Index = {}
    _enter(f.func.body, want, f)
    problem = ""
    if have.keys() != want.keys():
        extra = [t.name for t in have if t not in want]
        missing = [t.name for t in want if t not in have]
        problem = f"stale tokens {extra}, missing tokens {missing}"
    else:
        for token, place in want.items():
            mine = have[token]
            same = mine.node is place.node and mine.seq_index == place.seq_index
            a, b = mine.parent, place.parent
            while same and (a is not None or b is not None):
                same = a is not None and b is not None and a.node is b.node and a.seq_index == b.seq_index
                a, b = a and a.parent, b and b.parent
            if not same:
                problem = f"`{token.name}` stands elsewhere than the index says"
                break
    if problem:
        raise TirscriptError(
            f"the index of `{f.name}` is wrong: {problem}",
            code="internal",
            hint="this is a defect of tirscript",
        )
