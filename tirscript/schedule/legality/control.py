"""Statements that leave the normal order: which loops a break, continue or return belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirscript.ir.expr import Call
from tirscript.ir.node import memo_of
from tirscript.ir.stmt import BlockRealize, BufferStore, Evaluate, For, IfThenElse, SeqStmt, While

from ..errors import Refusal
from ..refs import StmtSRef
from ..state import WRAPPERS

_NOTHING: frozenset[str] = frozenset()
_WORDS = {"break_loop": "break", "continue_loop": "continue", "ret": "return", "thread_return": "return"}


class LeavesLoop(Refusal):
    code = "leaves-loop"
    template = "loop `{loop}` cannot be {word}: its body holds a `{what}`"
    hint_template = "replace the `{what}` by a condition on what it skips"


def escapes(s: Any) -> frozenset[str]:
    """Which of break, continue and return leave a statement; memoised on blocks."""
    while True:
        t = type(s)
        if t is BufferStore:
            return _NOTHING
        if t is For:
            inner = escapes(s.body)
            return inner & {"return"} if inner else inner
        if t is BlockRealize:
            memo = memo_of(s.block)
            found: frozenset[str] | None = memo.get("escapes")
            if found is None:
                found = memo["escapes"] = escapes(s.block.body)
            return found
        if t is While:
            return escapes(s.body) & {"return"}
        if t in WRAPPERS:
            s = s.body
            continue
        if t is SeqStmt:
            return _union(s.seq)
        if t is IfThenElse:
            return _union((s.then_case,) if s.else_case is None else (s.then_case, s.else_case))
        if t is Evaluate and type(s.value) is Call and s.value.op in _WORDS:
            return frozenset([_WORDS[s.value.op]])
        return _NOTHING


def _union(parts: Sequence[Any]) -> frozenset[str]:
    out = _NOTHING
    for p in parts:
        found = escapes(p)
        if found:
            out = out | found
    return out


def check_stays(place: StmtSRef, word: str, *what: str) -> None:
    """Refuse a loop whose body holds one of the named statements, not counting those of inner loops."""
    loop: For = place.node
    found = escapes(loop.body)
    if found:
        for w in what:
            if w in found:
                raise LeavesLoop(place.home, at=[(loop, None)], loop=loop, word=word, what=w)
