"""What primitives that move or copy reads must know: who touches a buffer, and in which order things run."""

from __future__ import annotations

from typing import Any

from tirscript.analysis.access import Access, accesses_of
from tirscript.analysis.inferred import infer_regions
from tirscript.ir.stmt import Block, BlockRealize, For, IfThenElse, SeqStmt, Stmt, While

from ..refs import StmtSRef, block_token

Path = tuple[tuple[Stmt, int], ...]


def paths(top: Stmt) -> dict[int, Path]:
    """For every statement at or below ``top``, by its id: the statements around it, with the number of the
    child on the way."""
    out: dict[int, Path] = {}
    stack: list[tuple[Any, Path]] = [(top, ())]
    while stack:
        s, path = stack.pop()
        out[id(s)] = path
        if type(s) is BlockRealize:
            b = s.block
            out[id(b)] = path
            if b.init is not None:
                stack.append((b.init, (*path, (s, 0))))
            stack.append((b.body, (*path, (s, 1))))
        else:
            parts = s.seq if type(s) is SeqStmt else [c for c in s.children() if isinstance(c, Stmt)]
            stack.extend([(c, (*path, (s, n))) for n, c in enumerate(parts)])
    return out


def surely_before(a: Path, b: Path) -> bool:
    """Whether the statement at ``a`` has run for good before the one at ``b`` starts: they part at a
    sequence, and nothing around it repeats."""
    for (s, m), (t, n) in zip(a, b, strict=False):
        if s is not t:
            return False
        if m != n:
            return m < n and type(s) is SeqStmt
        if type(s) in (For, While) or (type(s) is BlockRealize and s.block.init is not None):
            return False
    return False


def touching(place: StmtSRef, buffer: Any) -> list[Access]:
    """All accesses to the memory of the buffer below a block, views included."""
    return [a for a in accesses_of(place.node.block) if a.buffer.data is buffer.data]


def without(place: StmtSRef) -> tuple[StmtSRef, Stmt | None]:
    """What to put where, so that the statement at ``place`` is gone with the loops that hold nothing else;
    None where a block or condition would be left empty."""
    p, slot = place.parent, place.seq_index
    here = place
    while p is not None:
        s: Any = p.node
        if type(s) is SeqStmt:
            rest = (*s.seq[:slot], *s.seq[slot + 1 :])
            return p, rest[0] if len(rest) == 1 else SeqStmt(rest, s.span)
        if type(s) is BlockRealize or type(s) is IfThenElse:
            return here, None
        here, slot, p = p, p.seq_index, p.parent
    return here, None


def vanished(place: StmtSRef, top: StmtSRef) -> tuple[Any, ...]:
    """The tokens of a block of a single store, and of the loops around it below ``top``."""
    out: list[Any] = [block_token(place.node.block.label)]
    p = place.parent
    while p is not None and p is not top:
        if type(p.node) is For:
            out.append(p.node.loop_var)
        p = p.parent
    return tuple(out)


def with_regions(block: Block, *, keep: tuple[Any, ...] = ()) -> Block:
    """The block with the regions that its body reads and writes."""
    reads, writes = infer_regions(
        block.iter_vars, block.body, block.init, block.alloc_buffers, block.match_buffers, keep
    )
    return block.replace(reads=reads, writes=writes)
