"""Random sequences of steps that apache-tvm 0.27 accepts: they are accepted here too and give an equal
program, or the difference is of a kind that is listed with its reason.

Without apache-tvm (see ``tests.script.tvm_helper.peer``) this is skipped.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.script.tvm_helper import peer

from .peer_sequences import WRONG, Counts, compare, pairs

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it"),
]

# What differs, by the primitive and the code of our refusal or "other program", and why.  Where TVM's program
# computes other values than the start program (or reads outside a buffer) nothing needs to be said.
JUSTIFIED = """
annotate: other program: a note that is there gets the new value here (with a warning); TVM keeps the old one
bind: bind-reduction-axis: which of equal values an argmax finds depends on the order
blockize: other program: an axis that starts above 0 keeps its domain; comparisons are left as written
cache_read: cache-stale: TVM's copy stands behind the block that should read it, and is not read
cache_read: other program: the cells that are read, right behind their writer; TVM copies all, or later
bind: nested-thread-axis: TVM binds two loops of one nest to the same axis of blocks
cache_write: other program: the copy back stands right behind its writer; TVM's in front of the next reader
cache_write: shared-nest: another block in the nest uses the buffer
compute_inline: read-overtakes-write: a loop around both blocks writes other cells later, not proved yet
decompose_padding: other program: loops bound to one thread axis keep equal extents
fuse: mixed-kinds: TVM forgets what kind the loops were
fuse: other program: the fused loop keeps its kind; TVM makes it serial
pad_einsum: bound-loop: loops bound to one thread axis keep equal extents
pad_einsum: not-einsum: TVM does nothing where the padding is 1, whatever the block is
pad_einsum: not-perfect-nest: TVM pads one of several blocks in a nest
pad_einsum: not-trivial-binding: TVM does nothing where the padding is 1, whatever the loops are
pad_einsum: other program: operands of max, min and product are padded with its identity; TVM's with 0
parallel: bound-loop: TVM forgets the thread that the loop was bound to
reindex: used-otherwise: TVM gives the alignment of one buffer to the one that takes its place
reverse_compute_at: other program: the reduction runs whole at each point; TVM divides it over the loop
reverse_compute_at: reversed-dependence: it would run first on what is not finished, and then again
reverse_compute_at: wrong-side: a producer is moved by compute_at; TVM recomputes all of it in the loop
reverse_compute_inline: cover-unknown: a loop around both blocks decides about digits of the axis
reverse_compute_inline: reversed-dependence: a reader in the same loop, not proved yet
rfactor: not-reduction-loop: the loop binds no axis; TVM makes partial results of one value
rfactor: other program: partial results of one value start from the identity; TVM stores them at once
split: other program: the inner loop keeps its kind; TVM makes it serial
transform_layout: used-otherwise: the alignment that a block asks for is of a dimension that would be gone
transform_layout: other program: the same region with its ends written in another way
"""


def test_sequences_that_tvm_accepts(record_property: Callable[[str, object], None]) -> None:
    counts = Counts()
    for pair in pairs(range(230)):
        compare(pair, counts)
    record_property("pairs", counts.pairs)
    record_property("equal", counts.equal)
    record_property("TVM computes other values", len(counts.wrong))
    assert counts.pairs >= 200
    assert counts.equal >= 0.7 * counts.pairs
    known = {tuple(line.split(": ")[:2]) for line in JUSTIFIED.splitlines()}
    unknown = [
        f"{' '.join(key)}: {text[:3000]}"
        for key, text in counts.examples.items()
        if not key[1].endswith(WRONG) and key not in known
    ]
    assert not unknown, "\n\n".join(unknown)
