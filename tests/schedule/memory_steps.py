"""Random steps that copy buffers and change layouts, for the property tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirscript.schedule import BlockRV, Schedule

MEMORY_STEPS = [
    "layout", "layout", "block_layout", "reindex", "reindex_cache_read", "reindex_cache_write",
    "cache_inplace", "cache_index", "read_at", "write_at",
]  # fmt: skip

# Layouts of the stage W, which is 24 x 24, with or without padding.
LAYOUTS: list[tuple[Callable[..., Any], int | None]] = [
    (lambda i, j: (j, i), None),
    (lambda i, j: (i // 4, j // 8, i % 4, j % 8), None),
    (lambda i, j: i * 24 + j, None),
    (lambda i, j: (23 - j, i), None),
    (lambda i, j: ((i * 24 + j) % 9, (i * 24 + j) // 9), None),
    (lambda i, j: (i // 5, j, i % 5), 7),
    (lambda i, j: (j // 7, i // 5, i % 5, j % 7), 0),
    (lambda i, j: (i + 2, j), -1),
]


def memory_step(sch: Schedule, name: str, block: BlockRV, a: int, b: int, n: int) -> None:
    """One of ``MEMORY_STEPS``; what it works on is drawn from what is there."""
    stmt = sch.get(block)
    scope = ["local", "shared", "global"][n % 3]
    if name == "layout":
        where = next((x for x in ("W", block) if _uses(sch, x)), block)
        index_map, pad = LAYOUTS[b % len(LAYOUTS)]
        sch.transform_layout(where, "W", index_map, pad)
    elif name == "block_layout":
        sch.transform_block_layout(block, _axes_map(len(stmt.iter_vars), b, n))
    elif name == "reindex":
        kind = "read" if n % 2 else "write"
        count = len(stmt.reads if n % 2 else stmt.writes)
        sch.reindex(block, (kind, b % max(count, 1)))
    elif name in ("reindex_cache_read", "reindex_cache_write"):
        regions = stmt.reads if name == "reindex_cache_read" else stmt.writes
        number = b % max(len(regions), 1)
        used = [
            k for k, iv in enumerate(stmt.iter_vars) if regions and iv.var.name in str(regions[number].region)
        ]
        order = used[n % 2 :] + used[: n % 2]
        index_map = lambda *v: [v[k] for k in order] or [0]  # noqa: E731
        getattr(sch, name)(block, number, scope, index_map)
    elif name == "cache_inplace":
        sch.cache_inplace(block, b % max(len(stmt.reads), 1), scope)
    elif name == "cache_index":
        sch.cache_index(block, scope, n % 3)
    else:
        loops = sch.get_loops(block)
        regions = stmt.reads if name == "read_at" else stmt.writes
        if loops:
            getattr(sch, name)(loops[a % len(loops)], block, b % max(len(regions), 1), scope)


def _uses(sch: Schedule, block: Any) -> bool:
    try:
        stmt = sch.get(sch.get_block(block) if isinstance(block, str) else block)
    except Exception:
        return False
    return any(r.buffer.name == "W" for r in (*stmt.reads, *stmt.writes))


def _axes_map(count: int, b: int, n: int) -> Callable[..., Any]:
    """The axes in another order, one of them taken apart."""

    def f(*v: Any) -> list[Any]:
        order = [*v[b % count :], *v[: b % count]] if count else []
        return [order[0] // n, *order[1:], order[0] % n] if count and n > 1 else order

    return f
