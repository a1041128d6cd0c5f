"""The access movie and the simulated caches, against accesses and caches written out here."""

from __future__ import annotations

import re
import statistics
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tirscript as ts
from tests.corpus import CORPUS
from tirscript.display import stream
from tirscript.display.access_movie import movie
from tirscript.display.cache import CacheLevel, Simulator, cache_levels, cache_misses
from tirscript.testing import meaning
from tirscript.testing.evaluate import View
from tirscript.testing.meaning import Meaning

SVG = "{http://www.w3.org/2000/svg}"


def function(text: str) -> ts.PrimFunc:
    f = ts.from_source(text)
    assert isinstance(f, ts.PrimFunc)
    return f


def matmul(n: int, dtype: str = "float32") -> ts.PrimFunc:
    return function(f"""
@T.prim_func
def matmul(A: T.Buffer(({n}, {n}), "{dtype}"), B: T.Buffer(({n}, {n}), "{dtype}"),
           C: T.Buffer(({n}, {n}), "{dtype}")):
    for i, j, k in T.grid({n}, {n}, {n}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{dtype}(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")


def ordered(n: int, order: str) -> ts.Schedule:
    sch = ts.Schedule(matmul(n))
    loops = dict(zip("ijk", sch.get_loops(sch.get_block("C")), strict=True))
    sch.reorder(*[loops[c] for c in order])
    return sch


def tiled(n: int, t: int) -> ts.Schedule:
    sch = ts.Schedule(matmul(n))
    block = sch.get_block("C")
    outer, inner = zip(*[sch.split(loop, [None, t]) for loop in sch.get_loops(block)], strict=True)
    sch.reorder(*outer, *inner)
    return sch


# ---- the brute force: addresses by hand, a cache of plain lists

Access = tuple[str, int, bool]  # buffer, element, whether it is a store


def iterations(n: int, order: str) -> Iterator[dict[str, int]]:
    for x in range(n):
        for y in range(n):
            for z in range(n):
                yield dict(zip(order, (x, y, z), strict=True))


def tiles(n: int, t: int) -> Iterator[dict[str, int]]:
    for i in range(0, n, t):
        for j in range(0, n, t):
            for k in range(0, n, t):
                for at in iterations(t, "ijk"):
                    yield {"i": i + at["i"], "j": j + at["j"], "k": k + at["k"]}


def accesses(n: int, points: Iterator[dict[str, int]], order: str) -> list[Access]:
    """What the matmul touches.  Cells are set to zero before the outermost loop bound to k."""
    out: list[Access] = []
    first = order.index("k")
    zeroed: set[tuple[int, int]] = set()
    around: Any = None
    for at in points:
        i, j, k = at["i"], at["j"], at["k"]
        if first == 2:
            if (i, j) not in zeroed:
                zeroed.add((i, j))
                out.append(("C", i * n + j, True))
        else:
            # Under `k` stand the loops over the rest of the cells: all of them are set first.
            outside = tuple(at[c] for c in order[:first])
            if outside != around:
                around = outside
                rest = list(order[first + 1 :])
                for u in range(n):
                    if len(rest) == 1:
                        cell = {**at, rest[0]: u}
                        out.append(("C", cell["i"] * n + cell["j"], True))
                    else:
                        out += [("C", u * n + v, True) for v in range(n)]
        c = i * n + j
        out += [("C", c, False), ("A", i * n + k, False), ("B", k * n + j, False), ("C", c, True)]
    return out


def misses(
    stream: list[Access], n: int, levels: tuple[tuple[int, int], ...], item: int = 4, line: int = 64
) -> dict[str, list[int]]:
    """The misses of each buffer, level by level.  A buffer begins at a page."""
    pages = -(-n * n * item // 4096)
    base = {"A": 4096, "B": 4096 * (1 + pages), "C": 4096 * (1 + 2 * pages)}
    caches = [[[] for _ in range(size // (ways * line))] for size, ways in levels]  # type: ignore[var-annotated]
    found = {name: [0] * len(levels) for name in "ABC"}
    for name, element, _ in stream:
        tag = (base[name] + element * item) // line
        for k, (_, ways) in enumerate(levels):
            entries = caches[k][tag % len(caches[k])]
            hit = tag in entries
            if hit:
                entries.remove(tag)
            entries.append(tag)
            if len(entries) > ways:
                entries.pop(0)
            if hit:
                break
            found[name][k] += 1
    return found


SMALL = ((512, 4), (2048, 8))
SCHEDULES: dict[str, tuple[Callable[[], ts.Schedule], Callable[[], list[Access]]]] = {
    "ijk": (lambda: ordered(16, "ijk"), lambda: accesses(16, iterations(16, "ijk"), "ijk")),
    "ikj": (lambda: ordered(16, "ikj"), lambda: accesses(16, iterations(16, "ikj"), "ikj")),
    "jki": (lambda: ordered(16, "jki"), lambda: accesses(16, iterations(16, "jki"), "jki")),
}


@pytest.mark.parametrize("caches", [SMALL, ((256, 1), (1024, 2)), ((1024, 16),)], ids=str)
@pytest.mark.parametrize("order", SCHEDULES)
def test_misses_agree_with_brute_force(order: str, caches: tuple[tuple[int, int], ...]) -> None:
    schedule, stream = SCHEDULES[order]
    want = misses(stream(), 16, caches)
    counted = cache_misses(schedule(), caches)
    shown = movie(schedule(), "B", caches)  # the report counts every buffer
    for name in "ABC":
        assert list(counted[name].misses) == want[name] == list(shown.report[name].misses), name
        loads = sum(n == name and not store for n, _, store in stream())
        stores = sum(n == name and store for n, _, store in stream())
        assert (counted[name].loads, counted[name].stores) == (loads, stores)
        assert (shown.report[name].loads, shown.report[name].stores) == (loads, stores)


def test_a_tiled_schedule_agrees_with_brute_force() -> None:
    """Tiles of 4: the cells of a tile are set to zero where its first tile of k begins."""
    stream: list[Access] = []
    tile: Any = None
    for at in tiles(16, 4):
        i, j, k = at["i"], at["j"], at["k"]
        if (i // 4, j // 4) != tile:
            tile = (i // 4, j // 4)
            stream += [
                ("C", (4 * tile[0] + u) * 16 + 4 * tile[1] + v, True) for u in range(4) for v in range(4)
            ]
        c = i * 16 + j
        stream += [("C", c, False), ("A", i * 16 + k, False), ("B", k * 16 + j, False), ("C", c, True)]
    want = misses(stream, 16, SMALL)
    counted, shown = cache_misses(tiled(16, 4), "small"), movie(tiled(16, 4))
    for name in "ABC":
        assert list(counted[name].misses) == want[name] == list(shown.report[name].misses)
    assert (
        sum(w[0] for w in want.values())
        < misses(accesses(16, iterations(16, "ijk"), "ijk"), 16, SMALL)["B"][0]
    )


def test_the_movie_touches_the_cells_in_the_order_of_the_loops() -> None:
    film = movie(ordered(4, "ijk"), "B")
    want = [k * 4 + j for _ in range(4) for j in range(4) for k in range(4)]
    assert [t.cell for t in film.touches] == want
    assert {t.kind for t in film.touches} == {"load"}
    film = movie(ordered(4, "ikj"), "B")
    assert [t.cell for t in film.touches] == [k * 4 + j for _ in range(4) for k in range(4) for j in range(4)]
    # A cell that is loaded and stored in one breath is one moment.
    film = movie(ordered(4, "ijk"), "C")
    assert [(t.cell, t.kind) for t in film.touches] == [(c, "update") for c in range(16)]


def test_the_three_loop_orders_as_time_has_them() -> None:
    """ikj before ijk before jki: by misses of this machine's caches and by the clock."""
    n = 256
    orders = ("ikj", "ijk", "jki")
    counted = {o: cache_misses(ordered(n, o), ((32 << 10, 8), (512 << 10, 8))).misses for o in orders}
    assert 4 * counted["ikj"][0] < counted["ijk"][0] and 1.5 * counted["ijk"][0] < counted["jki"][0]
    rng = np.random.default_rng(0)
    a, b = rng.random((n, n), "float32"), rng.random((n, n), "float32")
    c = np.zeros((n, n), "float32")
    runs = {o: ts.build(ordered(n, o).mod) for o in orders}
    times: dict[str, list[float]] = {o: [] for o in orders}
    for _ in range(5):
        for o in orders:
            times[o].append(runs[o].time_evaluator("matmul", ts.cpu(), number=1, repeat=1)(a, b, c).min)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    took = {o: statistics.median(t) for o, t in times.items()}
    assert sorted(orders, key=took.__getitem__) == sorted(orders, key=lambda o: counted[o][0]), took
    assert 1.5 * took["ikj"] < took["ijk"]
    assert 1.05 * took["ijk"] < took["jki"]


def test_both_simulators_agree_on_random_lines() -> None:
    """The compiled one, driven by a gather of random indices, and the one in Python."""
    f = function("""
@T.prim_func
def gather(I: T.Buffer((3000,), "int32"), A: T.Buffer((4096,), "float32"), B: T.Buffer((3000,), "float32")):
    for i in range(3000):
        B[i] = A[I[i]]
""")
    index = np.random.default_rng(3).integers(0, 4096, 3000).astype("int32")
    levels = cache_levels("1K/2, 4K/4, 8K/8")
    report = cache_misses(f, levels, args=[index, np.zeros(4096, "float32"), np.zeros(3000, "float32")])
    cache = Simulator(levels)
    base = {"I": 4096, "A": 4096 * 4, "B": 4096 * 8}
    # Only what names the buffers in another order would change: the first touched is the first in memory.
    want = {name: [0, 0, 0] for name in base}
    for i, at in enumerate(index):
        for name, element in (("I", i), ("A", int(at)), ("B", i)):
            level, _ = cache.access((base[name] + 4 * element) // 64)
            for k in range(level):
                want[name][k] += 1
    assert {b.name: list(b.misses) for b in report.buffers} == want
    assert report.notes == ()


def test_data_decides_what_is_touched() -> None:
    f = function("""
@T.prim_func
def pick(P: T.Buffer((8,), "int32"), A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        if P[i] > 0:
            B[i] = T.if_then_else(P[i] > 1, A[i], T.float32(0))
""")
    report = cache_misses(f, "small", args=[np.array([0, 1, 2] * 2 + [0, 2], "int32"), np.ones(8, "float32"),
                                            np.ones(8, "float32")])  # fmt: skip
    assert (report["P"].loads, report["A"].loads, report["B"].stores) == (8 + 5, 3, 5)
    assert "integers are 0" in cache_misses(f, "small").notes[0]
    assert [b.name for b in cache_misses(f, "small").buffers] == ["P"]


def test_loops_that_end_by_data_and_conditions_that_need_not_be_seen() -> None:
    f = function("""
@T.prim_func
def scan(A: T.Buffer((16,), "int32"), N: T.Buffer((1,), "int32")):
    N[0] = 0
    while N[0] < 16 and A[N[0]] != 7:
        N[0] = N[0] + 1
""")
    data = np.arange(16, dtype="int32")
    report = cache_misses(f, "small", args=[data, np.zeros(1, "int32")])
    # Eight looks at A; N is read twice for each of them, once for each step, and stored.
    assert (report["A"].loads, report["N"].loads, report["N"].stores) == (8, 8 * 2 + 7, 8)
    report = cache_misses(f, "small", args=[np.zeros(16, "int32"), np.zeros(1, "int32")])
    assert (report["A"].loads, report["N"].loads) == (16, 16 * 2 + 1 + 16)


def test_a_program_that_never_ends_is_stopped() -> None:
    f = function("""
@T.prim_func
def spin(A: T.Buffer((4,), "int32")):
    while A[0] < 1:
        A[1] = A[0]
""")
    for make in (lambda: movie(f), lambda: cache_misses(f, "small", limit=1e6)):
        with pytest.raises(ts.TirscriptError) as error:
            make()
        assert error.value.code in ("movie-too-long", "too-many-accesses") and error.value.hint


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
def test_views_strides_vectors_and_registers() -> None:
    f = function("""
@T.prim_func
def f(a: T.handle, B: T.Buffer((4, 2), "float32x4"), S: T.Buffer((), "float32")):
    A = T.match_buffer(a, (4, 8), "float32", strides=(16, 1))
    R = T.alloc_buffer((8,), "float32", scope="local")
    for i in range(4):
        for j in T.vectorized(8):
            with T.block("load"):
                vi, vj = T.axis.remap("SS", [i, j])
                R[vj] = A[vi, vj] * S[()]
        for j in range(2):
            with T.block("store"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Broadcast(R[vj * 4], 4)
""")
    report = cache_misses(f, "small")
    # A row of A is a line of its own (16 elements of 4 bytes apart), two rows of B are one line.
    assert {b.name: (b.loads, b.stores, b.misses[1]) for b in report.buffers} == {
        "A": (32, 0, 4), "S": (32, 0, 1), "B": (0, 8, 2),
    }  # fmt: skip
    film = movie(f, ["A", "B", "S", "R"])
    panels = {p.name: p for p in film.panels}
    assert len(set(panels["A"].lines)) == 4 and len(panels["A"].lines) == 32
    assert len(set(panels["B"].lines)) == 2 and len(panels["B"].lines) == 8
    assert panels["S"].shape == () and len(panels["S"].lines) == 1
    assert film.report["R"].stores == 32
    assert all(t.cell >= 0 for t in film.touches)
    ET.fromstring(film.svg())


def test_ramps_and_predicates_are_touched_lane_by_lane() -> None:
    f = function("""
@T.prim_func
def f(A: T.Buffer((64,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(2):
        B[i * 4:i * 4 + 4] = A[T.Ramp(i * 4, 8, 4)]
""")
    film = movie(f)
    assert [(t.panel, t.cell) for t in film.touches] == [
        (panel, cell)
        for i in range(2)
        for panel, cells in ((0, range(i * 4, i * 4 + 25, 8)), (1, range(i * 4, i * 4 + 4)))
        for cell in cells
    ]


def test_symbolic_shapes_and_scalars_need_values() -> None:
    f = function("""
@T.prim_func
def f(a: T.handle, m: T.int32, x: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n, 8), "float32")
    for i, j in T.grid(n, m):
        A[i, j] = x
""")
    with pytest.raises(ts.TirscriptError) as error:
        cache_misses(f)
    assert error.value.code == "symbolic-accesses" and "values={" in str(error.value.hint)
    report = cache_misses(f, "small", values={"n": 10, "m": 8})
    assert (report["A"].stores, report["A"].misses) == (80, (5, 5))
    assert movie(f, values={"n": 2, "m": 3}).report["A"].stores == 6


def test_what_a_picture_cannot_show_is_refused_with_a_hint() -> None:
    for n in (60, 128):
        with pytest.raises(ts.TirscriptError) as error:
            movie(matmul(n), "A")
        assert error.value.code in ("movie-too-long", "too-many-accesses")
    assert "cache_misses" in str(error.value.hint)
    with pytest.raises(ts.TirscriptError, match="more than the limit") as error:
        cache_misses(matmul(2048))
    assert error.value.code == "too-many-accesses"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: movie(matmul(4), "D"), "no-such-buffer"),
        (lambda: movie(matmul(4), 3), "buffer"),  # type: ignore[arg-type]
        (lambda: movie(matmul(4), []), "buffer"),
        (lambda: movie("matmul"), "not-a-program"),
        (lambda: movie(matmul(4), "A", "32K"), "cache"),
        (lambda: movie(matmul(4), "A", None), "cache"),
        (lambda: cache_misses(matmul(4), []), "cache"),
        (lambda: movie(matmul(4), "A", seconds=0), "seconds"),
        (lambda: movie(ts.Schedule(matmul(4)), "A", name=3), "name"),  # type: ignore[arg-type]
        (lambda: cache_misses(matmul(4), [(100, 2)]), "cache-level"),
        (lambda: cache_misses(matmul(4), [(0, 2)]), "cache-level"),
        (lambda: cache_misses(matmul(4), [(96, 2, 48)]), "cache-level"),
        (lambda: cache_misses(matmul(4), [(512, 4, 64), (1024, 4, 32)]), "cache-level"),
    ],
)
def test_refusals(make: Any, code: str) -> None:
    with pytest.raises(ts.TirscriptError) as error:
        make()
    assert error.value.code == code
    assert "Traceback" not in str(error.value)


def test_a_misspelt_buffer_gets_a_hint() -> None:
    with pytest.raises(ts.TirscriptError, match="it has A, B, C") as error:
        movie(matmul(4), "c")
    assert "C" in str(error.value.hint)


def test_caches_that_can_be_said() -> None:
    assert cache_levels("32K/8, 1MiB/16/64") == (CacheLevel(32 << 10, 8), CacheLevel(1 << 20, 16))
    assert cache_levels([(512, 4), CacheLevel(2048, 8)]) == cache_levels("small")
    machine = cache_levels("machine")
    assert len(machine) == 2 and machine[0].size < machine[1].size
    assert CacheLevel(512, 4).sets == 2


def test_the_caption_says_what_was_simulated() -> None:
    film = movie(ordered(16, "ijk"), "B")
    assert film.caption.split("\n") == [
        "matmul in L1 512 B 4-way, L2 2 KiB 8-way, 64-byte lines.",
        "B: 16 x 16 float32 (1 KiB): 4,096 loads, 0 stores; L1 misses 4,096 (100 %), L2 misses 16 (0.39 %).",
        "All buffers: 16,640 accesses; L1 misses 4,128 (24.8 %), L2 misses 48 (0.29 %).",
    ]
    assert repr(film) == film.caption
    bundle = film._repr_mimebundle_()
    assert bundle["text/plain"] == film.caption
    assert "L2 misses 16" in bundle["text/html"] and "<script" not in bundle["text/html"]
    assert film.svg() == movie(ordered(16, "ijk"), "B").svg()


# ---- the picture


def keyframes(svg: str) -> dict[str, list[tuple[float, str]]]:
    """The keyframes by name, in the order of time."""
    found = {}
    for name, body in re.findall(r"@keyframes (\w+)\{((?:[^{}]*\{[^{}]*\})*)\}", svg):
        steps = [
            (float(at.rstrip("%")), value)
            for ats, value in re.findall(r"([^{}]*)\{([^{}]*)\}", body)
            for at in ats.split(",")
        ]
        found[name] = sorted(steps)
    return found


def at_time(steps: list[tuple[float, str]], percent: float) -> tuple[float, float]:
    """Where a cursor is, by CSS's rules for these timing functions."""
    now = max((s for s in steps if s[0] <= percent + 1e-9), key=lambda s: s[0])
    place = [float(v) for v in re.findall(r"(-?[\d.]+)px", now[1])]
    match = re.search(r"steps\((\d+),jump-none\)", now[1])
    if match is None:
        return place[0], place[1]
    then = min((s for s in steps if s[0] > now[0]), key=lambda s: s[0])
    end = [float(v) for v in re.findall(r"(-?[\d.]+)px", then[1])]
    count = int(match[1])
    step = min(int((percent - now[0]) / (then[0] - now[0]) * count), count - 1)
    return tuple([a + (b - a) * step / (count - 1) for a, b in zip(place, end, strict=True)])  # type: ignore[return-value]


@pytest.mark.parametrize("make", [lambda: ordered(6, "ijk"), lambda: ordered(6, "jki"), lambda: tiled(8, 4)])
def test_the_cursor_is_where_the_program_is(make: Callable[[], ts.Schedule]) -> None:
    film = movie(make())
    root = ET.fromstring(film.svg())
    frames = keyframes(film.svg())
    cursors = [e for e in root.iter(f"{SVG}rect") if e.get("class") == "c"]
    assert len(cursors) == 3
    for k, cursor in enumerate(cursors):
        panel = film.panels[k]
        name = (cursor.get("style") or "").split(":")[1].split(",")[0]
        size = float(cursor.get("width") or 0)
        own = [(n, t.cell) for n, t in enumerate(film.touches) if t.panel == k]
        x0, y0 = min(at_time(frames[name], 92 * (n + 0.5) / len(film.touches)) for n, _ in own)
        for n, cell in own:
            x, y = at_time(frames[name], 92 * (n + 0.5) / len(film.touches))
            row, column = divmod(cell, panel.columns)
            assert abs(x - x0 - column * size) < 0.05 and abs(y - y0 - row * size) < 0.05, (k, n)
        # Without animation it stands at the end.
        assert cursor.get("transform", "").startswith("translate(")
        end = [float(v) for v in re.findall(r"-?[\d.]+", cursor.get("transform", ""))]
        row, column = divmod(own[-1][1], panel.columns)
        assert abs(end[0] - x0 - column * size) < 0.05 and abs(end[1] - y0 - row * size) < 0.05


def test_lines_are_as_opaque_as_they_are_near() -> None:
    film = movie(ordered(16, "jki"), "B")
    root = ET.fromstring(film.svg())
    lines = [e for e in root.iter(f"{SVG}path") if (e.get("fill") or "").startswith("hsl")]
    assert len(lines) == 16 and len({e.get("fill") for e in lines}) == 16
    cache = Simulator(film.levels)
    last = {c.line: c.level for c in film.changes}
    order = sorted(set(film.panels[0].lines))
    for line, element in zip(order, lines, strict=True):
        assert float(element.get("opacity") or 0) == {0: 0.9, 1: 0.45, 2: 0.13}[last[line]]
    assert cache.level_of(order[0]) == 2
    numbers = [e.text for e in root.iter(f"{SVG}text") if e.get("class") == "k"]
    assert numbers == ["16"] * 16  # each row is fetched once for each j


def test_the_picture_stands_alone_and_needs_no_script(tmp_path: Any) -> None:
    film = movie(tiled(16, 4))
    svg, inline = film.svg(), film._repr_mimebundle_()["text/html"]
    for text in (svg, inline):
        assert "<script" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "prefers-reduced-motion" in text and ":hover *{animation-play-state:paused}" in text
    assert "prefers-color-scheme:dark" in svg and "prefers-color-scheme" not in inline
    assert len(svg) < 250_000
    classes = re.findall(r'class="(m[0-9a-f]{8})"', inline)
    assert len(classes) == 1
    # Rules of the picture reach nothing else on the page.
    style = re.search(r"<style>(.*?)</style>", inline, re.S)
    assert style is not None
    plain = re.sub(r"@keyframes \w+\{(?:[^{}]*\{[^{}]*\})*\}", "", style[1])
    for selector in re.findall(r"([^{};]+)\{", re.sub(r"@media\([^)]*\)\{", "", plain)):
        assert selector.lstrip("} ").startswith(f".{classes[0]}"), selector
    assert film.save(tmp_path / "a.svg") == str(tmp_path / "a.svg")
    film.save(tmp_path / "a.html")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == svg
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "L1 misses" in page


def watched(traced: stream.Traced, flat: ts.PrimFunc, args: list[Any]) -> list[tuple[int, int, bool]]:
    """The accesses of the lowered program as the interpreter makes them: number of the memory, offset,
    whether it is a store."""
    seen: list[tuple[Any, int, bool]] = []

    class Watched(View):
        def read(self, index: Any) -> Any:
            seen.append((self.memory, self.place(index), False))
            return super().read(index)

        def write(self, index: Any, value: Any) -> None:
            seen.append((self.memory, self.place(index), True))
            super().write(index, value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meaning, "View", Watched)
        Meaning(flat).run(args)
    found = {id(memory): memory for memory, _, _ in seen}
    return [(list(found).index(id(memory)), at, store) for memory, at, store in seen]


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
def test_the_stream_is_what_the_interpreter_touches() -> None:
    """An evaluator that shares nothing with the compiled one, on programs of the corpus."""
    from tirscript.lowering import lower_function

    compared = ordered_alike = 0
    for entry in CORPUS.values():
        program = entry.program()
        if isinstance(program, ts.IRModule):
            continue
        try:
            flat = lower_function(program, "flatten_buffer")
            names = [m.name for m in stream.traced(program, None, None).memories]
            traced = stream.traced(program, None, names)
            args = stream.arguments(traced, None) if traced.on_data else filled(program)
        except ts.TirscriptError:
            continue
        if traced.estimate > 3000 or traced.unseen or len(args) != len(program.params):
            continue
        try:
            want = watched(traced, flat, [a.copy() for a in args])
        except NotImplementedError:
            continue
        size = max(len(want), 1)
        codes, count = np.zeros(size, "int64"), np.zeros(1, "int64")
        given = args if traced.on_data else []
        stream.touching(traced, function(stream.record_text(size)))(*given, codes, count)
        assert count[0] == len(want), entry.name
        got = []
        for code in codes[: len(want)].tolist():
            number = (code & 4095) >> 1
            got.append((number, (code >> 12) - traced.memories[number].base, bool(code & 1)))
        if traced.on_data:
            # Indices before or after the value of a store: nobody says.
            assert sorted(got_at for _, *got_at in got) == sorted(at for _, *at in want), entry.name
        else:
            assert [at for _, *at in got] == [at for _, *at in want], entry.name
            # What is allocated in a loop is new memory to the interpreter each time.
            number_of: dict[int, int] = {}
            for (mine, *_), (theirs, *_) in zip(got, want, strict=True):
                assert number_of.setdefault(theirs, mine) == mine, entry.name
            ordered_alike += 1
        compared += 1
        if compared == 60:
            break
    assert compared > 25 and ordered_alike > 15, (compared, ordered_alike)


def filled(program: ts.PrimFunc) -> list[Any]:
    """Arrays and numbers for the parameters of a function of constant shapes."""
    from tirscript.runtime.ndarray import numpy_dtype

    args: list[Any] = []
    for p in program.params:
        b = program.buffer_map.get(p)
        if b is None or b.strides or "x" in b.dtype:
            return []
        args.append(np.ones([n.value for n in b.shape], numpy_dtype(b.dtype)))  # type: ignore[attr-defined]
    return args


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
def test_programs_of_the_corpus_are_counted_or_refused() -> None:
    """Whatever the program: numbers, or an error of ours that says why not."""
    counted = 0
    for entry in list(CORPUS.values())[::6]:
        program = entry.program()
        if isinstance(program, ts.IRModule):
            if len(program) != 1:
                continue
            program = program["main"]
        try:
            report = cache_misses(program, "small", values=None)
        except ts.TirscriptError as e:
            assert e.code not in ("", "internal"), entry.name
            continue
        counted += 1
        assert all(b.misses[0] <= b.accesses and b.misses[1] <= b.misses[0] for b in report.buffers), (
            entry.name
        )
    assert counted > 10


def test_a_schedule_and_a_module_have_a_movie() -> None:
    sch = ordered(4, "ikj")
    assert sch.movie("B").touches == movie(sch.mod["main"], "B").touches == movie(sch.mod, "B").touches
    mod = ts.IRModule({"first": matmul(4), "second": matmul(2)})
    with pytest.raises(ts.TirscriptError, match="first, second") as error:
        movie(mod, "A")
    assert error.value.code == "which-function"
    assert len(movie(mod, "A", name="second").panels[0].lines) == 4
    two = ts.Schedule(mod)
    two.work_on("second")
    assert len(two.movie("A").panels[0].lines) == 4


def counts(program: Any, **options: Any) -> dict[str, tuple[int, int]]:
    return {b.name: (b.loads, b.stores) for b in cache_misses(program, "small", **options).buffers}


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("bool", 1), ("int8", 1), ("uint16", 2), ("int64", 8), ("float16", 2), ("bfloat16", 2), ("float64", 8),
     ("float8_e4m3fn", 1), ("float32x4", 16)],
)  # fmt: skip
def test_every_dtype_has_its_size(dtype: str, size: int) -> None:
    f = function(f"""
@T.prim_func
def copy(A: T.Buffer((256,), "{dtype}"), B: T.Buffer((256,), "{dtype}")):
    for i in range(256):
        B[i] = A[i]
""")
    report = cache_misses(f, "64K/8")
    assert report["A"].misses == report["B"].misses == (256 * size // 64,)


def test_loops_of_all_kinds_bounds_and_guards() -> None:
    f = function("""
@T.prim_func
def f(A: T.Buffer((20, 20), "float32"), B: T.Buffer((20,), "float32"), C: T.Buffer((20, 20), "float32")):
    for i in range(2, 7):
        for j in range(i, 9):
            C[i, j] = A[j, i]
    for i in T.parallel(0):
        B[i] = T.float32(1)
    for i in T.unroll(1):
        B[i] = B[i + 1]
    for i in range(0, 20, 3):
        if i % 2 == 0 and i > 2:
            B[19 - i] = T.float32(2)
        else:
            C[i, 0] = T.if_then_else(i < 9, A[i, 0], B[i])
    for i in range(20):
        if i == 4:
            break
        if i % 2 == 1:
            continue
        C[i, 1] = T.Select(i > 0, A[i, 1], A[0, 2])
""")
    first = sum(9 - i for i in range(2, 7))
    # 0, 3, ..., 18: six of them go to the second arm (0, 3, 9, 15 odd or small), three are even and large.
    large = [i for i in range(0, 20, 3) if i % 2 == 0 and i > 2]
    small = [i for i in range(0, 20, 3) if i not in large]
    lazy = sum(i < 9 for i in small)
    assert counts(f) == {
        "A": (first + lazy + 4, 0),
        "B": (1 + len(small) - lazy, 1 + len(large)),
        "C": (0, first + len(small) + 2),
    }


def test_threads_of_a_gpu_run_one_after_the_other() -> None:
    sch = ts.Schedule(matmul(8))
    block = sch.get_block("C")
    i, j, _ = sch.get_loops(block)
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    plain = cache_misses(matmul(8), "small")
    assert str(cache_misses(sch, "small")) == str(plain)


def test_uneven_tiles_touch_each_element_once() -> None:
    sch = ts.Schedule(function("""
@T.prim_func
def copy(A: T.Buffer((37,), "float32"), B: T.Buffer((37,), "float32")):
    for i in range(37):
        with T.block("B"):
            vi = T.axis.spatial(37, i)
            B[vi] = A[vi]
"""))  # fmt: skip
    (i,) = sch.get_loops(sch.get_block("B"))
    _, inner = sch.split(i, [None, 8])
    sch.vectorize(inner)
    assert counts(sch) == {"A": (37, 0), "B": (0, 37)}
    assert [t.cell for t in movie(sch, "A").touches] == list(range(37))


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
def test_pointers_atomics_and_foreign_functions() -> None:
    f = function("""
@T.prim_func
def f(A: T.Buffer((16,), "int32"), B: T.Buffer((4, 4), "int32"), F: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("rows"):
            vi = T.axis.spatial(4, i)
            T.reads(B[vi, 0:4])
            T.writes(B[vi, 0:4], A[0:16])
            R = T.match_buffer(B[vi, 0:4], (4,), "int32")
            R[0] = R[1]
            T.evaluate(T.atomic_add(T.address_of(A[vi * 4]), R[2]))
    F[0] = T.call_pure_extern("float32", "sqrtf", F[1])
    T.evaluate(T.call_extern("int32", "looks_at", F.data))
""")
    report = cache_misses(f, "small")
    assert {b.name: (b.loads, b.stores) for b in report.buffers} == {"A": (4, 4), "B": (8, 4), "F": (1, 1)}
    assert report.notes == ("What looks_at does with memory is not seen.",)
    assert "looks_at" in movie(f).caption


def test_realized_buffers_are_followed() -> None:
    f = CORPUS["buffer_realize"].program()
    realized = [n for n in ts.ir.walk(f.body) if isinstance(n, ts.ir.BufferRealize)]
    report = cache_misses(f, "small")
    assert realized and {n.buffer.name for n in realized} <= {b.name for b in report.buffers}


def test_calls_of_functions_of_the_module_are_refused() -> None:
    mod = ts.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def one(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)

    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        Module.one(A.data)
""")
    with pytest.raises(ts.NotYetError) as error:
        cache_misses(mod)
    assert error.value.code == "module-call" and "`one`" in str(error.value)
    assert counts(mod, name="one") == {"A": (0, 1)}


def test_arguments_are_checked_and_left_alone() -> None:
    f = function("""
@T.prim_func
def f(I: T.Buffer((4,), "int32"), A: T.Buffer((4,), "float32"), k: T.int32):
    for i in range(4):
        A[I[i]] = T.float32(i)
""")
    with pytest.raises(ts.TirscriptError) as error:
        cache_misses(f)
    assert error.value.code == "argument-wanted"
    with pytest.raises(ts.TirscriptError) as error:
        cache_misses(f, args=[np.zeros(4, "int32")])
    assert error.value.code == "argument-count"
    with pytest.raises(ts.CallError):
        cache_misses(f, args=[np.zeros(5, "int32"), np.zeros(4, "float32"), 1])
    a = np.full(4, 9, "float32")
    assert counts(f, args=[np.arange(4, dtype="int32"), a, 1]) == {"I": (4, 0), "A": (0, 4)}
    assert (a == 9).all()
