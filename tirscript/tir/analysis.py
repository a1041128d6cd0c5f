"""TVM's ``tir.analysis``: questions about programs; what is not here says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tirscript.analysis.cost.flops import calculate_allocated_bytes, estimate_tir_flops
from tirscript.analysis.declared import undeclared
from tirscript.analysis.inferred import infer_regions
from tirscript.analysis.verify import check_bounds
from tirscript.diagnostics import TirscriptError, deep_recursion
from tirscript.ir import IRModule, Node, PrimFunc, free_vars, structural_equal, walk
from tirscript.ir.buffer import Buffer, BufferRegion
from tirscript.ir.expr import BufferLoad, Call, Var
from tirscript.ir.op import effect_of
from tirscript.ir.stmt import Block, BufferStore, For, Stmt
from tirscript.ir.verify import verify
from tirscript.ir.visitor import defined_tokens
from tirscript.lowering.context import PassContext
from tirscript.lowering.passes import ModulePass, Pass, PassInfo
from tirscript.notyet import absent


def _functions(program: PrimFunc | IRModule) -> list[PrimFunc]:
    if isinstance(program, PrimFunc):
        return [program]
    if isinstance(program, IRModule):
        return [f for _, f in program.items()]
    raise TirscriptError(
        f"a function or module is wanted, not {type(program).__name__}", code="not-a-program"
    )


def _function(func: Any) -> PrimFunc:
    if not isinstance(func, PrimFunc):
        raise TirscriptError(f"a PrimFunc is wanted, not {type(func).__name__}", code="not-a-program")
    return func


# ---- comparison, scopes


def expr_deep_equal(lhs: Any, rhs: Any) -> bool:
    """Whether two expressions are the same; variables are equal only to themselves.

    Source: TVM's ``tir.analysis.expr_deep_equal``.
    """
    return structural_equal(lhs, rhs)


def undefined_vars(node: Any, defs: Iterable[Var] = ()) -> list[Var]:
    """The variables that are used and not defined, those of ``defs`` left out, in order of first use.

    Source: TVM's ``tir.analysis.undefined_vars``.
    """
    if not isinstance(node, Node):
        raise TirscriptError(
            f"a program or a part is wanted, not {type(node).__name__}", code="not-a-program"
        )
    with deep_recursion():
        free = set(free_vars(node)) - set(defs)
    order: dict[Var, None] = {}
    for n in walk(node):
        named = n if type(n) is Var else n.buffer.data if isinstance(n, (BufferLoad, BufferStore)) else None
        if named in free:
            order.setdefault(named)
    return [*order, *sorted(free - set(order), key=lambda v: v.name)]


# ---- checks


def verify_well_formed(program: PrimFunc | IRModule, assert_mode: bool = True) -> bool:
    """Whether the program keeps the structural rules, and no block certainly reads or writes outside of the
    regions that it declares; with ``assert_mode`` the first fault is raised.

    Source: TVM's ``tir.analysis.verify_well_formed``.
    """
    _functions(program)
    faults = verify(program)
    if not faults:
        functions = [f for _, f in program.items()] if isinstance(program, IRModule) else [program]
        faults = [w.error() for f in functions for w in undeclared(f)]
    if faults and assert_mode:
        raise faults[0]
    return not faults


verify_tirx_well_formed = verify_well_formed


def verify_ssa(func: PrimFunc) -> bool:
    """Whether every variable is defined once.

    Source: TVM's ``tir.analysis.verify_ssa``.
    """
    tokens = [t for t in defined_tokens(_function(func)) if isinstance(t, Var)] + list(func.params)
    return len(set(tokens)) == len(tokens)


def verify_memory(func: PrimFunc) -> bool:
    """Whether a function for a GPU touches its buffers only inside of loops bound to threads.

    Source: TVM's ``tir.analysis.verify_memory``.
    """
    target = _function(func).attrs.get("target")
    kind = str(getattr(target, "kind", target or "llvm")).split()[0]
    if kind in ("llvm", "c", "python", "hexagon"):
        return True

    def outside(n: Any) -> bool:
        if type(n) is For and n.thread:
            return False
        if getattr(n, "key", None) in ("thread_extent", "device_scope"):
            return False
        if isinstance(n, (BufferLoad, BufferStore)):
            return True
        return any(outside(c) for c in n.children())

    with deep_recursion():
        return not outside(func.body)


def OOBChecker() -> Pass:
    """A pass that raises where an access is certainly outside of its buffer.

    Source: TVM's ``tir.analysis.OOBChecker``.
    """

    def check(mod: IRModule, cx: PassContext) -> IRModule:
        for f in _functions(mod):
            check_bounds(f)
        return mod

    return ModulePass(check, PassInfo(0, "tir.analysis.OOBChecker"))


# ---- regions of blocks


def get_block_access_region(
    block: Block, buffer_var_map: Mapping[Var, Buffer]
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    """What a block reads and writes, and what it touches through pointers, as its body says.

    Source: TVM's ``tir.analysis.get_block_access_region``.
    """
    reads, writes = _regions(block, buffer_var_map)
    pointers = set()
    for n in walk(block.body):
        if type(n) is Call:
            pointers |= {a for a in n.args if type(a) is Var}
    opaque = [r for r in writes if r.buffer.data in pointers]
    kept = {r.buffer for r in opaque}
    return (
        tuple([r for r in reads if r.buffer not in kept]),
        tuple([r for r in writes if r.buffer not in kept]),
        tuple(opaque),
    )


def get_block_read_write_region(
    block: Block, buffer_var_map: Mapping[Var, Buffer]
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    """What a block reads and what it writes, as its body says.

    Source: TVM's ``tir.analysis.get_block_read_write_region``.
    """
    return _regions(block, buffer_var_map)


get_sblock_access_region = get_block_access_region
get_sblock_read_write_region = get_block_read_write_region


def _regions(
    block: Block, buffers: Mapping[Var, Buffer]
) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    if not isinstance(block, Block):
        raise TirscriptError(f"a block is wanted, not {type(block).__name__}", code="node-argument")
    return infer_regions(
        block.iter_vars, block.body, block.init, block.alloc_buffers, block.match_buffers,
        tuple(buffers.values()),
    )  # fmt: skip


def detect_buffer_access_lca(func: PrimFunc) -> dict[Buffer, Stmt | None]:
    """For each buffer the innermost loop or block around all of its accesses; None where there is none.

    Source: TVM's ``tir.analysis.detect_buffer_access_lca``.
    """
    paths: dict[Buffer, list[Stmt]] = {}

    def meet(b: Buffer, path: list[Stmt]) -> None:
        known = paths.get(b)
        if known is None:
            paths[b] = list(path)
            return
        common = 0
        for mine, other in zip(known, path, strict=False):
            if mine is not other:
                break
            common += 1
        del known[common:]

    def visit(n: Any, path: list[Stmt]) -> None:
        if isinstance(n, (BufferLoad, BufferStore)):
            meet(n.buffer, path)
        if type(n) is Block:
            inner = [*path, n]
            for m in n.match_buffers:
                meet(m.source.buffer, inner)
            for part in (*([n.init] if n.init is not None else []), n.body):
                visit(part, inner)
            return
        if type(n) is For:
            visit(n.min, path)
            visit(n.extent, path)
            visit(n.body, [*path, n])
            return
        for c in n.children():
            visit(c, path)

    with deep_recursion():
        visit(_function(func).body, [])
    return {b: path[-1] if path else None for b, path in paths.items()}


# ---- kinds of functions and blocks


def is_pure_function(func: PrimFunc) -> bool:
    """Whether the function changes nothing outside of it.

    Source: TVM's ``tir.analysis.is_pure_function``.
    """
    return _impure(func) is None


def assert_pure_function(func: PrimFunc) -> bool:
    """True, or an error that says what the function changes.

    Source: TVM's ``tir.analysis.assert_pure_function``.
    """
    found = _impure(func)
    if found is not None:
        raise TirscriptError(f"`{func.name}` is not pure: {found!r}", code="impure")
    return True


def _impure(func: PrimFunc) -> Any:
    own = {t for t in defined_tokens(_function(func).body) if isinstance(t, Var)}
    for n in walk(func.body):
        if type(n) is BufferStore and n.buffer.data not in own:
            return n
        if type(n) is Call and effect_of(n.op) == "update":
            return n
    return None


def find_anchor_block(mod: IRModule) -> Block | None:
    """The block with an init that does the most; None where no block has one.

    Source: TVM's ``tir.analysis.find_anchor_block``.
    """
    best: tuple[float, Block] | None = None
    for f in _functions(mod):
        found: list[tuple[Block, float]] = []

        def visit(n: Any, times: float, found: list[tuple[Block, float]] = found) -> None:
            if type(n) is For:
                times *= getattr(n.extent, "value", 1)
            if type(n) is Block and n.init is not None:
                found.append((n, times))
            for c in n.children():
                if isinstance(c, Stmt):
                    visit(c, times)

        with deep_recursion():
            visit(f.body, 1.0)
        for block, times in found:
            work = times * max(estimate_tir_flops(block.body), 1.0)
            if best is None or work > best[0]:
                best = (work, block)
    return None if best is None else best[1]


find_anchor_sblock = find_anchor_block

__all__ = [
    "OOBChecker", "assert_pure_function", "calculate_allocated_bytes", "detect_buffer_access_lca",
    "estimate_tir_flops", "expr_deep_equal", "find_anchor_block", "find_anchor_sblock",
    "get_block_access_region", "get_block_read_write_region", "get_sblock_access_region",
    "get_sblock_read_write_region", "is_pure_function", "undefined_vars", "verify_memory", "verify_ssa",
    "verify_tirx_well_formed", "verify_well_formed",
]  # fmt: skip
_NOT_YET = frozenset((
    "apply_prim_func_arg_and_result_memory_constraints", "calculate_constant_bytes",
    "calculate_workspace_bytes", "get_prim_func_arg_and_result_memory_constraints",
    "get_vtcm_compaction_passes", "has_if_then_else", "identify_memcpy", "verify_gpu_code",
    "verify_vtcm_limit",
))  # fmt: skip


def __getattr__(name: str) -> Any:
    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
