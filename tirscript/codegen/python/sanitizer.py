"""What a checked program calls while it runs: loops, block instances, conflicts, and what is reported.

One object watches the programs of one module.  It keeps the loops and the block instances that are
running; each access of a cell is compared with the last write of that cell and with the reads since:

* two iterations of a loop whose iterations run at once (parallel, vectorized, bound to a thread) must not
  meet in a cell that one of them writes;
* two instances of a block that differ in a spatial axis must not either;
* what a block instance reads and writes lies in the regions that the block declares.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any, NoReturn

import numpy as np

from tirscript.diagnostics import AssertFailed, CheckFailed, Mark, Span
from tirscript.ir import hooks

from .arithmetic import Arithmetic
from .watched import Cell, Index, Memory, Watched, allocated

# A step into a loop whose iterations run at once: (run of the loop, iteration, kind, name).
Step = tuple[int, int, str, str]
Path = tuple[Step, ...]
Values = tuple[tuple[str, int], ...]
SERIAL = frozenset({"serial", "unrolled"})
KINDS = {
    "parallel": ("race", "parallel"),
    "vectorized": ("lane-dependence", "vectorized"),
    "thread_binding": ("thread-race", "thread-bound"),
}


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
        "axes", "block", "dirty", "expected", "init", "initialising", "name", "outer", "path", "reads",
        "reduces", "repeated", "runs", "site", "spatial", "start", "stale", "touched", "visited", "writes",
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
        if self.buffer.memory is not buffer.memory:
            return False
        at = index if buffer is self.buffer else self.buffer.unravel(address)
        return at is not None and all(
            low <= i < low + extent for i, (low, extent) in zip(at, self.box, strict=True)
        )


class Sanitizer(Arithmetic):
    """Watches the programs of one module.  ``sites`` are the places in the script that reports name."""

    def __init__(self, sites: Sequence[str]) -> None:
        self.texts = sites
        self.spans: Sequence[tuple[Span | None, Any]] = ()
        self.lock = threading.RLock()
        self.reset()

    def reset(self) -> None:
        self.loops: list[list[Any]] = []  # [name, value]
        self.path: Path = ()
        self.coords: dict[str, int] = {}
        self.extents: dict[str, int] = {}
        self.frames: list[Frame] = []
        self.calls: list[tuple[int, int]] = []
        self.memories: list[Memory] = []
        self.time = 0
        self.changes = 0
        self.site = 0
        self._runs = 0
        self._values: Values | None = None

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call from outside.  One at a time is watched."""
        with self.lock:
            kept = dict(vars(self)) if self.frames else None
            self.reset()
            try:
                yield
            finally:
                if kept is None:
                    self.reset()
                else:
                    vars(self).update(kept)

    # ---- reports

    def mark(self, site: int, label: str = "") -> list[Mark]:
        span = self.spans[site][0] if site < len(self.spans) else None
        return [] if span is None else [Mark(span, label)]

    def text(self, site: int) -> str:
        """The statement or expression of a place."""
        if site < len(self.spans):
            node = self.spans[site][1]
            try:
                return str(hooks.call("script", node))
            except Exception:
                return type(node).__name__
        return self.texts[site] if site < len(self.texts) else ""

    def where(self, site: int) -> str:
        marks = self.mark(site)
        return f"at {marks[0].span}" if marks else f"in `{self.text(site).strip()}`"

    def values(self) -> Values:
        if self._values is None:
            self._values = tuple([(name, int(value)) for name, value in self.loops])
        return self._values

    def notes(self) -> list[str]:
        out = []
        if self.loops:
            out.append("in the iteration " + _shown(self.values()))
        out += [
            f'in block "{f.name}"' + (f" with {_shown(f.axes)}" if f.axes else "")
            for f in reversed(self.frames)
            if f.axes or f.reads is not None
        ]
        return out

    def fail(
        self,
        code: str,
        message: str,
        site: int,
        *,
        others: Sequence[tuple[int, str]] = (),
        notes: Sequence[str] = (),
        hint: str | None = None,
        error: type[AssertFailed | CheckFailed] = CheckFailed,
        label: str = "",
    ) -> NoReturn:
        marks = self.mark(site, label)
        for other, words in others:
            if other != site:
                marks += self.mark(other, words)
        more = [] if marks else [f"in `{self.text(site).strip()}`"]
        raise error(message, code=code, marks=marks, notes=[*notes, *self.notes(), *more], hint=hint)

    # ---- functions

    def begin(self, site: int, name: str) -> None:
        frame = Frame(site, name, self.time, self.path)
        self.calls.append((len(self.frames), len(self.loops)))
        self.frames.append(frame)

    def done(self, value: Any = None) -> Any:
        """The end of a function; what it returns."""
        frames, loops = self.calls.pop()
        while len(self.frames) > frames + 1:
            self.frames.pop()
        if self.frames[-1].expected:
            self._covered(self.frames[-1])
        del self.frames[frames:]
        del self.loops[loops:]
        self._values = None
        return value

    def no_return(self, site: int, name: str) -> None:
        self.fail("missing-return", f"`{name}` ends without `T.ret`: it has no value to return", site)

    def parameter(self, site: int, name: str, array: Any, lanes: int, written: bool) -> Watched:
        """An argument as a watched buffer."""
        if isinstance(array, Watched):
            made = Watched(self, name, array.array, array.memory, array.lanes)
        else:
            memory = Memory(name, array, "global", known=True, depth=0)
            for other in self.memories:
                if other.range[0] < memory.range[1] and memory.range[0] < other.range[1]:
                    memory = other
                    break
            else:
                self.memories.append(memory)
            made = Watched(self, name, array, memory, lanes)
        if written and not made.array.flags.writeable and not made.memory.constant:
            self.fail("read-only", f"`{name}` is written, and its array is read-only", site)
        return made

    def apart(self, site: int, buffers: Sequence[Watched], written: Sequence[bool]) -> None:
        """The memory of a buffer that is written is that of no other parameter."""
        for k, a in enumerate(buffers):
            for n, b in enumerate(buffers):
                if n == k or not written[k] or 0 in a.array.shape or 0 in b.array.shape:
                    continue
                if np.shares_memory(a.array, b.array):
                    self.fail(
                        "aliasing",
                        f"the arguments `{a.name}` and `{b.name}` share memory, and `{a.name}` is written",
                        site,
                        hint='make copies, or say T.func_attr({"tir.noalias": False}) in the function',
                    )

    def declared(
        self,
        site: int,
        buffer: Watched,
        shape: tuple[Any, ...],
        dtype: str,
        strides: tuple[Any, ...] | None = None,
        align: int = 0,
    ) -> None:
        """An argument has the dtype, shape, strides and alignment that the parameter declares."""
        if buffer.dtype != np.dtype(dtype) if dtype in _NATIVE else buffer.dtype.name != dtype:
            self.fail("dtype-mismatch", f"`{buffer.name}` is of {dtype}, and gets {buffer.dtype.name}", site)
        wanted = tuple([int(n) for n in shape])
        if buffer.shape != wanted:
            self.fail(
                "shape-mismatch", f"`{buffer.name}` has the shape {wanted}, and gets {buffer.shape}", site
            )
        if strides is not None:
            have = tuple([s // buffer.itemsize for s in buffer.steps])
            for n, s, want in zip(wanted, have, strides, strict=True):
                if n > 1 and 0 not in wanted and s != want:
                    said = f"`{buffer.name}` has the strides {tuple(map(int, strides))}, and gets {have}"
                    self.fail("stride-mismatch", said, site)
        if align and buffer.start % align and buffer.array.size:
            self.fail("misaligned", f"`{buffer.name}` is not aligned to {align} bytes", site)

    # ---- loops

    def loop(self, site: int, kind: str, name: str, items: Iterable[int], tag: str = "") -> Iterator[int]:
        """The iterations of a loop."""
        depth, frames, outer = len(self.loops), len(self.frames), self.path
        entry: list[Any] = [name, 0]
        concurrent = kind not in SERIAL
        self._runs += 1
        run = self._runs
        if tag:
            self._thread(site, tag, len(items) if isinstance(items, range) else -1)
        self.loops.append(entry)
        try:
            for value in items:
                del self.loops[depth + 1 :], self.frames[frames:]
                entry[1] = value
                self._values = None
                self.path = (*outer, (run, value, kind, name)) if concurrent else outer
                if tag:
                    self.coords = {**self.coords, tag: value}
                yield value
        finally:
            del self.loops[depth:], self.frames[frames:]
            self.path = outer
            self._values = None
            if tag:
                self.coords = {k: v for k, v in self.coords.items() if k != tag}

    def _thread(self, site: int, tag: str, extent: int) -> None:
        if not self.coords:
            self.extents = {}
        if tag in self.coords:
            self.fail("thread-bound-twice", f"a loop is bound to {tag} inside a loop bound to {tag}", site)
        known = self.extents.setdefault(tag, extent)
        if known != extent:
            said = f"{tag} has the extent {extent} here and {known} before, in one kernel"
            self.fail("thread-extent", said, site)

    def steps(self, site: int, start: int, stop: int, step: int = 1) -> range:
        """The range of a loop."""
        if step <= 0:
            self.fail("loop-step", f"the step of the loop is {step}", site)
        return range(start, stop, step)

    def rounds(self, site: int) -> Iterator[int]:
        """The rounds of a while loop.  One that changes nothing would be followed by the same for ever."""
        depth, frames, count = len(self.loops), len(self.frames), 0
        try:
            while True:
                del self.loops[depth:], self.frames[frames:]
                before = self.changes
                self._values = None
                yield count
                if self.changes == before:
                    said = "the loop never ends: a whole round of it changed nothing"
                    self.fail("endless-loop", said, site, notes=[f"after {count + 1} rounds"])
                count += 1
        finally:
            del self.loops[depth:], self.frames[frames:]

    # ---- blocks

    def expect(self, site: int, name: str, *domains: tuple[str, int, int]) -> None:
        """A block whose instances, one for each point of the domains, are to come."""
        self.frames[-1].expected[site] = (name, domains)

    def domain(self, site: int, name: str, *axes: tuple[str, int, int, int]) -> None:
        """The values of a block's axes lie in their domains."""
        for axis, value, low, extent in axes:
            if not low <= value < low + extent:
                said = f'`{axis}` is {value} in block "{name}", outside its domain [{low}, {low + extent})'
                hint = "such an instance does not run; guard it by T.where if that is meant"
                self.fail("axis-outside-domain", said, site, hint=hint)

    def enter(
        self,
        site: int,
        name: str,
        axes: Values,
        kinds: str,
        outer: tuple[Any, ...] = (),
        *,
        reads: Sequence[tuple[Any, ...]] | None = None,
        writes: Sequence[tuple[Any, ...]] | None = None,
        init: bool = False,
        joined: Sequence[str] = (),
        only_init: bool = False,
    ) -> None:
        """A block instance starts."""
        parent = self.frames[-1]
        frame = Frame(site, name, self.time, self.path)
        frame.axes = tuple([(axis, int(value)) for axis, value in axes])
        frame.spatial = tuple([v for (_, v), k in zip(frame.axes, kinds, strict=True) if k == "S"])
        frame.outer = outer
        frame.init = init
        frame.reduces = "R" in kinds
        frame.initialising = only_init
        if not only_init:
            point = tuple([v for _, v in frame.axes])
            parent.visited.setdefault(site, set()).add(point)
            runs = parent.runs.setdefault(site, set())
            frame.repeated = (outer, point) in runs
            runs.add((outer, point))
        if joined:
            # Threads of a reduction across threads are joined by it.
            self.path = tuple([s for s in self.path if s[3] not in joined or s[2] != "thread_binding"])
        self.frames.append(frame)
        if reads is not None:
            frame.reads = [self._region(site, *r) for r in reads]
        if writes is not None:
            frame.writes = [self._region(site, *r) for r in writes]

    def _region(self, site: int, buffer: Watched, *box: tuple[Any, Any]) -> Region:
        made = [(int(low), int(extent)) for low, extent in box]
        if all(extent > 0 for _, extent in made):
            for axis, ((low, extent), n) in enumerate(zip(made, buffer.shape, strict=True)):
                if low < 0 or low + extent > n:
                    self.fail(
                        "region-out-of-bounds",
                        f"the region {_slices(buffer, made)} that the block declares is out of bounds: "
                        f"dimension {axis} of {buffer.name} has the extent {n}",
                        site,
                    )
        return Region(buffer, made)

    def initialise(self, on: bool) -> None:
        self.frames[-1].initialising = on

    def leave(self) -> None:
        frame = self.frames.pop()
        if frame.expected:
            self.frames.append(frame)
            self._covered(frame)
            self.frames.pop()
        self.path = frame.path

    def _covered(self, frame: Frame) -> None:
        """Every point of the domains of the blocks inside had its instance."""
        for site, (name, domains) in frame.expected.items():
            found = frame.visited.get(site, set())
            total = 1
            for _, _, extent in domains:
                total *= max(extent, 0)
            if len(found) < total:
                points = product(*[range(low, low + extent) for _, low, extent in domains])
                missing = next(p for p in points if p not in found)
                point = _shown(tuple(zip([d[0] for d in domains], missing, strict=True)))
                said = f'the loops around block "{name}" miss {total - len(found)} of its {total} instances'
                self.fail("axis-not-covered", said, site, notes=[f"the first that is missing: {point}"])

    # ---- accesses

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
        said = f"lanes {first} and {second} of one vector store both write {_cell(buffer, index)}"
        self.fail("lane-conflict", said, site)

    def touch(
        self, buffer: Watched, index: Index, key: int, site: int, write: bool, atomic: bool = False
    ) -> None:
        """An access of one cell."""
        memory = buffer.memory
        self.time += 1
        if write:
            if memory.constant:
                said = f"{_cell(buffer, index)} is written, and {buffer.name} is constant"
                self.fail("constant-written", said, site)
            if not buffer.array.flags.writeable:
                said = f"{_cell(buffer, index)} is written, and its memory is read-only"
                self.fail("read-only", said, site)
        cell = memory.cells.get(key)
        if cell is None:
            if not write and not memory.known:
                self._unwritten(buffer, index, site)
            cell = memory.cells[key] = Cell()
        elif cell.write is None and not write and not memory.known:
            self._unwritten(buffer, index, site)
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
        said = f"{_cell(buffer, index)} is read before anything is written there"
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
            if _diverge(r.path, now.path) is not None or r.atomic != now.atomic:
                kept.append(r)
        cell.reads = [*kept[-2:], now]

    def _meet(
        self, buffer: Watched, index: Index, before: Access, now: Access, wrote: bool, writes: bool
    ) -> None:
        """Two accesses, at least one of which writes, may not be of iterations that run at once."""
        step = _diverge(before.path, now.path)
        if step is None or (before.atomic and now.atomic):
            return
        a, b = step
        code, word = KINDS.get(a[2], KINDS["parallel"])
        verbs = "both write" if wrote and writes else "write and read" if wrote else "read and write"
        self.fail(
            code,
            f"two iterations of the {word} loop `{a[3]}`, {a[3]} = {a[1]} and {a[3]} = {b[1]}, "
            f"{verbs} {_cell(buffer, index)}",
            now.site,
            label=f"{'written' if writes else 'read'} at {_shown(now.values)}",
            others=[(before.site, f"{'written' if wrote else 'read'} at {_shown(before.values)}")],
            notes=[f"one at {_shown(before.values)}, the other at {_shown(now.values)}"],
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
                    f"{_cell(buffer, index)} is {buffer.memory.scope} memory: {tag} = {value} reads what the "
                    f"{owner} {tag} = {last.coords[tag]} wrote into its own",
                    now.site,
                    others=[(last.site, f"written at {_shown(last.values)}")],
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
                            f'the instance {_shown(frame.axes)} of block "{frame.name}" runs a second time '
                            f"and changes {_cell(buffer, index)}, which it reads"
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
            if any(r.holds(buffer, index, address) for r in frame.writes):
                return
            code, part = ("init-outside-writes", "the init of ") if frame.initialising else (
                "undeclared-write", "")  # fmt: skip
            said = f'{part}block "{frame.name}" writes {_cell(buffer, index)}, which is not in its T.writes'
            declared = frame.writes
        else:
            if any(r.holds(buffer, index, address) for r in frame.reads):
                return
            if last is not None and last.time > frame.start:
                return  # its own
            if (frame.init or frame.initialising) and any(
                r.holds(buffer, index, address) for r in frame.writes
            ):
                return
            code = "undeclared-read"
            said = f'block "{frame.name}" reads {_cell(buffer, index)}, which is not in its T.reads'
            declared = frame.reads
        shown = ", ".join([_slices(r.buffer, r.box) for r in declared]) or "nothing"
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
                    f"{_cell(buffer, index)}: their order matters",
                    now.site,
                    label=f"{'written' if write else 'read'} by {_shown(frame.axes)}",
                    others=[(other[2], f"{'written' if wrote else 'read'} by {_shown(other[1])}")],
                    notes=[f"one is {_shown(other[1])}, the other {_shown(frame.axes)}"],
                    hint="an axis whose order matters is no T.axis.spatial: reduce, scan or opaque",
                )
        if write:
            known.write, known.reads = me, []
        elif len(known.reads) < 2 and all(r[0] != frame.spatial for r in known.reads):
            known.reads.append(me)

    # ---- memory

    def allocate(self, site: int, name: str, shape: tuple[Any, ...], dtype: str, scope: str) -> Watched:
        from tirscript.ir.dtype import info

        for n in shape:
            if n < 0:
                self.fail("negative-extent", f"`{name}` is allocated with the shape {shape}", site)
        array, memory = allocated(name, shape, dtype, scope, len(self.frames))
        return Watched(self, name, array, memory, info(dtype).lanes)

    def constant(self, site: int, name: str, array: Any) -> Watched:
        memory = Memory(name, array, "global", known=True, depth=len(self.frames))
        memory.constant = True
        return Watched(self, name, array, memory)

    def view(
        self,
        site: int,
        pointer: Watched,
        shape: tuple[Any, ...],
        dtype: str,
        strides: tuple[Any, ...] | None = None,
        offset: Any = 0,
        name: str | None = None,
    ) -> Watched:
        try:
            return pointer.view(name or pointer.name, shape, dtype, strides, offset)
        except AssertFailed as error:
            said = error.message
        self.fail("view-outside-memory", f"{name or pointer.name}: {said}", site)

    def address_of(self, site: int, buffer: Watched, index: tuple[Any, ...]) -> Watched:
        return buffer.address_of(site, index)

    def match(
        self,
        site: int,
        name: str,
        source: Watched,
        box: tuple[tuple[Any, Any], ...],
        shape: tuple[Any, ...],
        strides: tuple[Any, ...] = (),
        offset: Any = None,
        factor: int = 0,
    ) -> Watched:
        """A view of a region; ``strides`` and ``offset`` are those declared, None where they are symbols."""
        from . import support

        made = [(int(low), int(extent)) for low, extent in box]
        for (low, extent), n in zip(made, source.shape, strict=True):
            if extent > 0 and (low < 0 or low + extent > n):
                said = f"`{name}` matches {_slices(source, made)}, and {source.name} has the shape {source.shape}"
                self.fail("match-out-of-bounds", said, site)
        part = source.array[tuple([slice(low, low + extent) for low, extent in made])]
        wanted = tuple([int(n) for n in shape])
        full = (*wanted, source.lanes) if source.lanes != 1 else wanted
        if [n for n in wanted if n != 1] != [extent for _, extent in made if extent != 1]:
            said = f"`{name}` of shape {wanted} matches {_slices(source, made)}, which has another shape"
            self.fail("match-shape", said, site)
        view = Watched(self, name, support.region(part, full), source.memory, source.lanes)
        for axis, (n, want) in enumerate(zip(wanted, strides, strict=False)):
            have = view.steps[axis] // view.itemsize // source.lanes
            if want is not None and n > 1 and have != want:
                said = f"`{name}` declares the stride {want} in dimension {axis}, and the region has {have}"
                self.fail("match-strides", said, site)
        begin = (view.start - source.memory.range[0]) // view.itemsize if view.array.size else 0
        if offset is not None and begin != offset:
            said = f"`{name}` declares elem_offset {offset}, and the region starts {begin} elements in"
            self.fail("match-offset", said, site)
        if factor > 1 and begin % factor:
            said = f"`{name}` starts {begin} elements in, no multiple of its offset_factor {factor}"
            self.fail("match-offset-factor", said, site)
        return view

    def call_packed(self, site: int, name: str, *args: Any) -> Any:
        from . import support

        result = support.call_packed(name, *[a.array if isinstance(a, Watched) else a for a in args])
        for a in args:
            if isinstance(a, Watched):
                a.written(site)
        return result

    def _atomic(self, site: int, pointer: Watched, function: Any, value: Any) -> Any:
        return pointer.update(site, function, value)

    def atomic_add(self, site: int, pointer: Watched, value: Any) -> Any:
        return self._atomic(site, pointer, lambda old, new: old + new, value)

    def atomic_max(self, site: int, pointer: Watched, value: Any) -> Any:
        return self._atomic(site, pointer, np.maximum, value)

    def atomic_min(self, site: int, pointer: Watched, value: Any) -> Any:
        return self._atomic(site, pointer, np.minimum, value)

    # ---- statements

    def asserted(self, site: int, condition: Any, message: str) -> None:
        if not condition:
            self.fail("assert", message or "an assert does not hold", site, error=AssertFailed)

    def assume(self, site: int, condition: Any) -> None:
        if not condition:
            self.fail("assumption", "what T.assume promises does not hold", site)


_NATIVE = frozenset({"bool", "float16", "float32", "float64"} | {
    f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)})  # fmt: skip
_PRIVATE = frozenset({"local", "shared", "shared.dyn"})


def _diverge(a: Path, b: Path) -> tuple[Step, Step] | None:
    """Where two accesses are of different iterations of one run of a loop."""
    if a is b:
        return None
    for x, y in zip(a, b, strict=False):
        if x[0] != y[0]:
            return None
        if x[1] != y[1]:
            return x, y
    return None


def _cell(buffer: Watched, index: Index) -> str:
    return f"{buffer.name}[{', '.join(map(str, index)) or '()'}]"


def _slices(buffer: Watched, box: Sequence[tuple[int, int]]) -> str:
    parts = [str(low) if n == 1 else f"{low}:{low + n}" for low, n in box]
    return f"{buffer.name}[{', '.join(parts) or '()'}]"


def _shown(values: Sequence[tuple[str, int]]) -> str:
    return ", ".join([f"{name} = {value}" for name, value in values]) or "the call itself"


__all__ = ["Access", "Sanitizer"]
