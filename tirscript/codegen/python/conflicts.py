"""Accesses of cells: which of them meet, what the block instances that are running declare and claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from .reports import Reports, Values, shown
from .watched import Cell, Index, Memory, Watched

# A step into a loop whose iterations run at once: (run of the loop, iteration, kind, name).
Step = tuple[int, int, str, str]
Path = tuple[Step, ...]
KINDS = {
    "parallel": ("race", "parallel"),
    "vectorized": ("lane-dependence", "vectorized"),
    "thread_binding": ("thread-race", "thread-bound"),
}
_PRIVATE = frozenset({"local", "shared", "shared.dyn"})


class Access:
    """One access of a cell: where, in which iteration, by which threads, when."""

    __slots__ = ("atomic", "coords", "path", "site", "time", "values")

    def __init__(
        self, path: Path, values: Values, site: int, time: int, atomic: bool, coords: dict[str, int]
    ) -> None:
        self.path = path
        self.values = values
        self.site = site
        self.time = time
        self.atomic = atomic
        self.coords = coords


class Frame:
    """A block instance that is running, or the function around all of them."""

    __slots__ = (
        "axes",
        "block",
        "dirty",
        "expected",
        "init",
        "initialising",
        "name",
        "outer",
        "path",
        "reads",
        "reduces",
        "repeated",
        "runs",
        "scope",
        "site",
        "spatial",
        "stale",
        "start",
        "touched",
        "visited",
        "writes",
    )  # fmt: skip

    def __init__(self, site: int, name: str, start: int, path: Path) -> None:
        self.site = self.block = site
        self.name = name
        self.start = start
        self.path = path
        self.axes: Values = ()
        self.spatial: Index = ()
        self.outer: tuple[Any, ...] = ()
        self.reads: list[Region] | None = None
        self.writes: list[Region] | None = None
        self.init = self.initialising = self.reduces = self.repeated = False
        self.scope = False  # a block without axes
        self.stale: set[tuple[int, int]] = set()  # cells read before they were written here
        self.dirty: set[tuple[int, int]] = set()
        # Of the blocks directly inside: instances to come, instances so far, and the cells they met.
        self.expected: dict[int, tuple[str, tuple[tuple[str, int, int], ...]]] = {}
        self.visited: dict[int, set[Index]] = {}
        self.runs: dict[int, set[tuple[Any, ...]]] = {}
        self.touched: dict[tuple[int, int, int], Touched] = {}


class Touched:
    """The instances of one block that met in a cell."""

    __slots__ = ("outer", "reads", "write")

    def __init__(self, outer: tuple[Any, ...]) -> None:
        self.outer = outer
        self.write: tuple[Index, Values, int] | None = None
        self.reads: list[tuple[Index, Values, int]] = []


class Region:
    """A box of a buffer that a block declares."""

    __slots__ = ("box", "buffer")

    def __init__(self, buffer: Watched, box: Sequence[tuple[int, int]]) -> None:
        self.buffer = buffer
        self.box = box

    def holds(self, buffer: Watched, index: Index, address: int) -> bool:
        own = self.buffer
        if own.memory is not buffer.memory:
            return False
        at = index if buffer is own else own.unravel(address)
        if at is None:
            return False
        for i, (low, extent) in zip(at, self.box, strict=True):  # noqa: SIM110  (runs for every access)
            if not low <= i < low + extent:
                return False
        return True


def _held(regions: Sequence[Region], buffer: Watched, index: Index, address: int) -> bool:
    for r in regions:  # noqa: SIM110  (runs for every access)
        if r.holds(buffer, index, address):
            return True
    return False


class Conflicts(Reports):
    """The part of the sanitizer that looks at accesses."""

    path: Path
    coords: dict[str, int]
    time: int
    copied: tuple[Watched, Index, int] | None = None  # what has just been read to be copied, and has no value

    def take_copied(self, memory: Memory) -> bool:
        """Whether what is stored next has no value; a result must have one."""
        found, self.copied = self.copied, None
        if found is not None and memory.known:
            self._unwritten(*found)
        return found is not None

    def outside(self, buffer: Watched, index: Index, site: int, write: bool) -> NoReturn:
        negative = any(i < 0 for i in index)
        code = "negative-index" if negative else f"out-of-bounds-{'write' if write else 'read'}"
        at, shape = ", ".join(map(str, index)), ", ".join(map(str, buffer.shape))
        self.fail(
            code,
            f"{buffer.name}[{at}] is out of bounds: the shape of {buffer.name} is ({shape})",
            site,
            label="written here" if write else "read here",
            hint="negative indices do not count from the end" if negative else None,
        )

    def two_lanes(self, buffer: Watched, index: Index, first: int, second: int, site: int) -> NoReturn:
        said = f"lanes {first} and {second} of one vector store both write {element(buffer, index)}"
        self.fail("lane-conflict", said, site)

    def touch(
        self,
        buffer: Watched,
        index: Index,
        key: int,
        site: int,
        write: bool,
        atomic: bool = False,
        copied: bool = False,
    ) -> None:
        """An access of one cell; ``copied``: a read that may find no value, or the write of none."""
        memory = buffer.memory
        self.time += 1
        if write:
            if memory.constant:
                said = f"{element(buffer, index)} is written, and {buffer.name} is constant"
                self.fail("constant-written", said, site)
            if not buffer.array.flags.writeable:
                said = f"{element(buffer, index)} is written, and its memory is read-only"
                self.fail("read-only", said, site)
        cell = memory.cells.get(key)
        if cell is None:
            cell = memory.cells[key] = Cell()
        if write:
            cell.unknown = copied
        elif cell.unknown or (cell.write is None and not memory.known):
            if not copied:
                self._unwritten(buffer, index, site)
            self.copied = buffer, index, site
        now = Access(self.path, self.values(), site, self.time, atomic, self.coords)
        last = cell.write
        if len(self.frames) > max(memory.depth, 1) or self.frames[-1].repeated:
            self._blocks(buffer, index, key, now, last, write)
        if last is not None:
            if last.path is not now.path:
                self._meet(buffer, index, last, now, True, write)
            if not write and memory.scope in _PRIVATE:
                self._of_another(buffer, index, last, now)
        if write:
            for r in cell.reads:
                self._meet(buffer, index, r, now, False, True)
            cell.write, cell.reads = now, []
        else:
            self._add_read(cell, now)

    def _unwritten(self, buffer: Watched, index: Index, site: int) -> NoReturn:
        frame = self.frames[-1]
        said = f"{element(buffer, index)} is read before anything is written there"
        if frame.reduces and not frame.init:
            hint = "with T.init(): gives the first update something to start from"
            said += f': the reduction "{frame.name}" has no init'
            self.fail("missing-init", said, site, hint=hint)
        self.fail("uninitialised-read", said, site)

    def _add_read(self, cell: Cell, now: Access) -> None:
        kept = []
        for r in cell.reads:
            if r.path is now.path and r.atomic == now.atomic:
                return
            if diverge(r.path, now.path) is not None or r.atomic != now.atomic:
                kept.append(r)
        cell.reads = [*kept[-2:], now]

    def _meet(
        self, buffer: Watched, index: Index, before: Access, now: Access, wrote: bool, writes: bool
    ) -> None:
        """Two accesses, at least one of which writes, may not be of iterations that run at once."""
        step = diverge(before.path, now.path)
        if step is None or (before.atomic and now.atomic):
            return
        a, b = step
        code, word = KINDS.get(a[2], KINDS["parallel"])
        verbs = "both write" if wrote and writes else "write and read" if wrote else "read and write"
        self.fail(
            code,
            f"two iterations of the {word} loop `{a[3]}`, {a[3]} = {a[1]} and {a[3]} = {b[1]}, "
            f"{verbs} {element(buffer, index)}",
            now.site,
            label=f"{'written' if writes else 'read'} at {shown(now.values)}",
            others=[(before.site, f"{'written' if wrote else 'read'} at {shown(before.values)}")],
            notes=[f"one at {shown(before.values)}, the other at {shown(now.values)}"],
        )

    def _of_another(self, buffer: Watched, index: Index, last: Access, now: Access) -> None:
        """What a thread keeps for itself, or a block of threads, no other one can read."""
        local = buffer.memory.scope == "local"
        for tag, value in now.coords.items():
            if (local or tag.startswith("blockIdx")) and last.coords.get(tag, value) != value:
                owner, code = ("thread", "local-of-another-thread") if local else (
                    "block of threads", "shared-of-another-block")  # fmt: skip
                self.fail(
                    code,
                    f"{element(buffer, index)} is {buffer.memory.scope} memory: {tag} = {value} reads "
                    f"what the {owner} {tag} = {last.coords[tag]} wrote into its own",
                    now.site,
                    others=[(last.site, f"written at {shown(last.values)}")],
                )

    def _blocks(
        self, buffer: Watched, index: Index, key: int, now: Access, last: Access | None, write: bool
    ) -> None:
        """What the block instances that are running declare and claim."""
        memory = buffer.memory
        at = (memory.ident, key)
        for level in range(max(memory.depth, 1), len(self.frames)):
            frame = self.frames[level]
            if frame.reads is not None and frame.writes is not None:
                self._declared(frame, buffer, index, key * memory.unit, now, last, write)
            if frame.repeated:
                if not write and at not in frame.dirty:
                    frame.stale.add(at)
                elif write:
                    if at in frame.stale:
                        said = (
                            f'the instance {shown(frame.axes)} of block "{frame.name}" runs a second time '
                            f"and changes {element(buffer, index)}, which it reads"
                        )
                        self.fail("repeated-instance", said, now.site)
                    frame.dirty.add(at)
            if frame.spatial and not now.atomic:
                self._apart(self.frames[level - 1], frame, buffer, index, key, now, write)

    def _declared(
        self, frame: Frame, buffer: Watched, index: Index, address: int, now: Access,
        last: Access | None, write: bool,
    ) -> None:  # fmt: skip
        assert frame.reads is not None and frame.writes is not None
        if write:
            if _held(frame.writes, buffer, index, address):
                return
            code, part = ("init-outside-writes", "the init of ") if frame.initialising else (
                "undeclared-write", "")  # fmt: skip
            said = f'{part}block "{frame.name}" writes {element(buffer, index)}, which is not in its T.writes'
            declared = frame.writes
        else:
            if _held(frame.reads, buffer, index, address):
                return
            if last is not None and last.time > frame.start:
                return  # its own
            if (frame.init or frame.initialising) and _held(frame.writes, buffer, index, address):
                return
            code = "undeclared-read"
            said = f'block "{frame.name}" reads {element(buffer, index)}, which is not in its T.reads'
            declared = frame.reads
        shown = ", ".join([slices(r.buffer, r.box) for r in declared]) or "nothing"
        note = f"it declares {shown}"
        self.fail(code, said, now.site, others=[(frame.site, "the block")], notes=[note])

    def _apart(
        self, parent: Frame, frame: Frame, buffer: Watched, index: Index, key: int, now: Access, write: bool
    ) -> None:
        """Instances along spatial axes may run in any order: they do not meet."""
        at = (frame.site, buffer.memory.ident, key)
        known = parent.touched.get(at)
        if known is None or known.outer != frame.outer:
            known = parent.touched[at] = Touched(frame.outer)
        me = (frame.spatial, frame.axes, now.site)
        others = [known.write] if known.write is not None else []
        if write:
            others += known.reads
        for other in others:
            if other[0] != frame.spatial:
                wrote = other is known.write
                verbs = "both write" if wrote and write else "write and read" if wrote else "read and write"
                self.fail(
                    "spatial-conflict",
                    f'two instances of block "{frame.name}" that differ in a spatial axis {verbs} '
                    f"{element(buffer, index)}: their order matters",
                    now.site,
                    label=f"{'written' if write else 'read'} by {shown(frame.axes)}",
                    others=[(other[2], f"{'written' if wrote else 'read'} by {shown(other[1])}")],
                    notes=[f"one is {shown(other[1])}, the other {shown(frame.axes)}"],
                    hint="an axis whose order matters is no T.axis.spatial: reduce, scan or opaque",
                )
        if write:
            known.write, known.reads = me, []
        elif len(known.reads) < 2 and all(r[0] != frame.spatial for r in known.reads):
            known.reads.append(me)


def diverge(a: Path, b: Path) -> tuple[Step, Step] | None:
    """Where two accesses are of different iterations of one run of a loop."""
    if a is b:
        return None
    for x, y in zip(a, b, strict=False):
        if x[0] != y[0]:
            return None
        if x[1] != y[1]:
            return x, y
    return None


def region(buffer: Watched, *box: tuple[Any, Any]) -> Region:
    """A declared region; it may reach beyond the buffer where a guard of the body does not."""
    return Region(buffer, [(int(low), int(extent)) for low, extent in box])


def element(buffer: Watched, index: Index) -> str:
    return f"{buffer.name}[{', '.join(map(str, index)) or '()'}]"


def slices(buffer: Watched, box: Sequence[tuple[int, int]]) -> str:
    parts = [str(low) if n == 1 else f"{low}:{low + n}" for low, n in box]
    return f"{buffer.name}[{', '.join(parts) or '()'}]"


__all__ = ["Access", "Conflicts", "Frame", "Path", "element", "region", "slices"]
