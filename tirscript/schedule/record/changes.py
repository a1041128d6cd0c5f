"""What a step changed, in a few words: loops and blocks that came and went, kinds, orders, buffers."""

from __future__ import annotations

from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.function import PrimFunc
from tirscript.ir.stmt import Block, BlockRealize, For, IfThenElse, SeqStmt

from ..refs import block_token
from ..state import WRAPPERS


class _Summary:
    """The loops, blocks and buffers of a function, in the order in which they stand."""

    def __init__(self, func: PrimFunc) -> None:
        self.loops: dict[Any, For] = {}
        self.blocks: dict[Any, Block] = {}
        self.buffers: dict[Buffer, None] = {}
        self.parents: dict[Any, Any] = {}
        stack: list[tuple[Any, Any]] = [(func.body, None)]
        while stack:
            s, above = stack.pop()
            t = type(s)
            if t is For:
                self.loops[s.loop_var] = s
                self.parents[s.loop_var] = above
                stack.append((s.body, s.loop_var))
            elif t is BlockRealize:
                token = block_token(s.block.label)
                self.blocks[token] = s.block
                self.parents[token] = above
                self.buffers.update(dict.fromkeys(s.block.alloc_buffers))
                if s.block.init is not None:
                    stack.append((s.block.init, token))
                stack.append((s.block.body, token))
            elif t is SeqStmt:
                stack.extend([(c, above) for c in reversed(s.seq)])
            elif t is IfThenElse:
                stack.extend([(c, above) for c in (s.else_case, s.then_case) if c is not None])
            elif t in WRAPPERS:
                stack.append((s.body, above))


def what_changed(before: PrimFunc, after: PrimFunc) -> list[str]:
    """The changes from one function to the next, each a short phrase."""
    old, new = _Summary(before), _Summary(after)
    out: list[str] = []
    gone = [f"`{v.name}`" for v in old.loops if v not in new.loops]
    come = [f"`{v.name}`" for v in new.loops if v not in old.loops]
    if gone and come:
        out.append(f"loop{_s(gone)} {', '.join(gone)} → {', '.join(come)}")
    elif come:
        out.append(f"new loop{_s(come)} {', '.join(come)}")
    elif gone:
        out.append(f"loop{_s(gone)} {', '.join(gone)} gone")
    blocks_gone = [f'"{b.name}"' for t, b in old.blocks.items() if t not in new.blocks]
    blocks_come = [f'"{b.name}"' for t, b in new.blocks.items() if t not in old.blocks]
    if blocks_come:
        out.append(f"new block{_s(blocks_come)} {', '.join(blocks_come)}")
    if blocks_gone:
        out.append(f"block{_s(blocks_gone)} {', '.join(blocks_gone)} gone")
    for v, loop in new.loops.items():
        was = old.loops.get(v)
        if was is not None and (was.kind, was.thread) != (loop.kind, loop.thread):
            out.append(f"`{v.name}` {loop.thread or loop.kind}")
        if was is not None and was.annotations != loop.annotations:
            out.append(f"`{v.name}` annotated")
    for t, block in new.blocks.items():
        was_block = old.blocks.get(t)
        if was_block is None or was_block is block:
            continue
        if was_block.name != block.name:
            out.append(f'block "{was_block.name}" renamed "{block.name}"')
        if was_block.annotations != block.annotations:
            out.append(f'block "{block.name}" annotated')
        if len(was_block.iter_vars) != len(block.iter_vars):
            out.append(
                f'block "{block.name}" has {len(block.iter_vars)} axes, had {len(was_block.iter_vars)}'
            )
    kept_old = [v for v in old.loops if v in new.loops]
    kept_new = [v for v in new.loops if v in old.loops]
    if kept_old != kept_new and not (gone or come):
        out.append(f"order {', '.join([f'`{v.name}`' for v in _moved(kept_old, kept_new)])}")
    buffers = [b for b in new.buffers if b not in old.buffers]
    names = {b.name: b for b in old.buffers if b not in new.buffers}
    if len(buffers) == len(names) == 1 and buffers[0].name not in names:
        (was_named,) = names
        scope = f" in {buffers[0].scope}" if buffers[0].scope != names[was_named].scope else ""
        out.append(f"buffer `{was_named}` → `{buffers[0].name}`{scope}")
        buffers, names = [], {}
    for b in buffers:
        twin = names.pop(b.name, None)
        scope = f" in {b.scope}" if b.scope != "global" else ""
        if twin is None:
            out.append(f"new buffer `{b.name}`{scope}")
        elif twin.scope != b.scope:
            out.append(f"buffer `{b.name}` moved to {b.scope}")
        else:
            out.append(f"buffer `{b.name}` laid out anew")
    out += [f"buffer `{name}` gone" for name in names]
    if not out:
        moved = [
            f'"{b.name}"'
            for t, b in new.blocks.items()
            if t in old.blocks and old.parents[t] is not new.parents[t]
        ]
        if moved:
            out.append(f"block{_s(moved)} {', '.join(moved)} moved")
    return out


def _moved(old: list[Any], new: list[Any]) -> list[Any]:
    """The loops from the first to the last that stands elsewhere."""
    low = 0
    while old[low] is new[low]:
        low += 1
    high = len(new)
    while old[high - 1] is new[high - 1]:
        high -= 1
    return new[low:high]


def _s(items: list[str]) -> str:
    return "" if len(items) == 1 else "s"


__all__ = ["what_changed"]
