"""The fast call against the slow path: it takes what the slow path takes, and never anything else."""

from __future__ import annotations

import ctypes
import gc
import inspect
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.lowered import buffer, build, function, load, loop, store
from tests.runtime.test_call import WRONG
from tirscript.diagnostics import AssertFailed, CallError, CallTypeError
from tirscript.ir import ops
from tirscript.ir.expr import Call, Cast, FloatImm, IntImm, Max, Min, StringImm, Var
from tirscript.ir.stmt import AssertStmt, Evaluate, seq
from tirscript.runtime import NDArray, compiled, formula, jit, tensor

pytestmark = pytest.mark.skipif(compiled.probe() is None, reason="no fast call in this Python")


def z(*shape: int, dtype: Any = "float32") -> np.ndarray:
    return np.zeros(shape, dtype)


@pytest.fixture
def slow_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The calls that went to the slow path."""
    seen: list[tuple[Any, ...]] = []
    checked = compiled.CompiledFunction.__call__

    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        seen.append(args)
        return checked(self, *args, **keywords)

    monkeypatch.setattr(compiled.CompiledFunction, "__call__", call)
    return seen


# ---- the programs


def double(**attrs: Any) -> Any:
    a, o = buffer("A", 6, 4), buffer("O", 6, 4)
    body = loop(6, lambda i: loop(4, lambda j: store(o, load(a, i, j) * 2.0, i, j), name="j"))
    return build(function([a, o], body, **attrs))["f"]


def rows() -> Any:
    n, m = Var("n"), Var("m", "int64")
    a, b, o = buffer("A", n, m), buffer("B", m), buffer("O", n, m)
    body = loop(n, lambda i: loop(m, lambda j: store(o, load(a, i, j) + load(b, j), i, j), name="j"))
    return build(function([a, b, o], body))["f"]


def strided() -> Any:
    n, s, t, u, k = Var("n"), Var("s"), Var("t", "int64"), Var("u", "int8"), Var("k")
    a = buffer("A", n, 3, strides=(s, t), elem_offset=k)
    o = buffer("O", 3, n, strides=(u, IntImm(1)))
    body = loop(n, lambda i: loop(3, lambda j: store(o, load(a, i, j) + 1.0, j, i), name="j"))
    return build(function([a, o], body))["f"]


def formulas() -> Any:
    n, m = Var("n", "int8"), Var("m")
    a, b = buffer("A", n), buffer("B", n * 2 + 1, ops.floordiv(n + 3, 4))
    c, o = buffer("C", m * 3 - 2, Max(n, IntImm(3)) - Min(m, IntImm(2))), buffer("O", 2, dtype="int64")
    body = seq(store(o, Cast("int64", n), 0), store(o, Cast("int64", m), 1))
    return build(function([a, b, c, o], body))["f"]


def scalars() -> Any:
    n, x, b, u = Var("n"), Var("x", "float32", False), Var("b", "bool"), Var("u", "uint64")
    y, i = Var("y", "float64", False), Var("i", "int64")
    o = buffer("O", n, dtype="float64")
    values = (x, b, y, Cast("int64", u), i)
    return build(
        function([n, x, b, u, y, i, o], *[store(o, Cast("float64", v), k) for k, v in enumerate(values)])
    )["f"]


DTYPES = ("int64", "int8", "uint16", "float64", "bool")


def mixed() -> Any:
    pairs = [(buffer(f"A{k}", 4, dtype=d), buffer(f"O{k}", 4, dtype=d)) for k, d in enumerate(DTYPES)]
    body = [loop(4, lambda i, a=a, o=o: store(o, load(a, i), i)) for a, o in pairs]  # type: ignore[misc]
    return build(function([b for pair in pairs for b in pair], *body))["f"]


PROGRAMS: dict[str, Callable[[], Any]] = {
    "double": double, "aliased": lambda: double(**{"tir.noalias": False}), "rows": rows, "strided": strided,
    "formulas": formulas, "scalars": scalars, "mixed": mixed,
}  # fmt: skip


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    return {name: make() for name, make in PROGRAMS.items()}


def test_functions_are_builtins(programs: dict[str, Any]) -> None:
    f = programs["rows"]
    assert inspect.isbuiltin(f) and type(f.__self__) is compiled.CompiledFunction
    assert f.__name__ == "f" and f.__doc__ == "f(A: float32[n, m], B: float32[m], O: float32[n, m])"
    assert str(inspect.signature(f)) == "(A, B, O, /)"
    assert repr(f).startswith("<built-in method f of CompiledFunction")


def test_keywords(programs: dict[str, Any]) -> None:
    with pytest.raises(CallTypeError, match=r"by their places; `O` came by name\n.*signature: f\(A: float32"):
        programs["double"](z(6, 4), O=z(6, 4))


# ---- what is fast


def fast_calls() -> dict[str, tuple[str, Callable[[], tuple[Any, ...]]]]:
    a = np.arange(24, dtype="float32").reshape(6, 4)
    again = pickle.loads(pickle.dumps(np.dtype("float32")))
    wide = np.arange(60, dtype="float32").reshape(5, 12)
    return {
        "arrays": ("double", lambda: (a, z(6, 4))),
        "NDArrays": ("double", lambda: (tensor(a), tensor(a))),
        "both": ("double", lambda: (a, tensor(a))),
        "unpickled": ("double", lambda: (pickle.loads(pickle.dumps(a)), z(6, 4))),
        "an unpickled dtype": ("double", lambda: (a.astype(again), np.zeros((6, 4), again))),
        "a read-only input": ("double", lambda: (np.frombuffer(a.tobytes(), "f4").reshape(6, 4), z(6, 4))),
        "an offset": ("double", lambda: (wide.ravel()[3:27].reshape(6, 4), z(6, 4))),
        "neighbours": ("double", lambda: (z(12, 4)[:6], z(12, 4)[6:])),
        "one array twice": ("aliased", lambda: 2 * (a.copy(),)),
        "symbols": ("rows", lambda: (z(2, 3), z(3), z(2, 3))),
        "no rows": ("rows", lambda: (z(0, 3), z(3), z(0, 3))),
        "one row": ("rows", lambda: (z(1, 3), z(3), z(1, 3))),
        "strides": ("strided", lambda: (wide[:, ::4], z(3, 5))),
        "negative strides": ("strided", lambda: (wide[::-1, 8::-4], z(3, 5))),
        "strides of 0": ("strided", lambda: (np.broadcast_to(z(3), (5, 3)), z(3, 5))),
        "transposed": ("strided", lambda: (wide.T[:4, :3], z(3, 4))),
        "one row, any stride": ("strided", lambda: (wide[:1, ::4], z(3, 1))),
        "formulas": ("formulas", lambda: (z(5), z(11, 2), z(4, 3), z(2, dtype="int64"))),
        "scalars": ("scalars", lambda: (5, 0.1, True, 7, 2.5, -3, z(5, dtype="f8"))),
        "ints for floats": ("scalars", lambda: (5, 3, False, 2**63 - 1, 1 - 2**60, True, z(5, dtype="f8"))),
        "limits": ("scalars", lambda: (5, float("inf"), False, 0, float("nan"), -(2**63), z(5, dtype="f8"))),
        "dtypes": ("mixed", lambda: tuple(z(4, dtype=d) for d in DTYPES for _ in range(2))),
        "longlong": (
            "mixed",
            lambda: tuple(z(4, dtype="q" if d == "int64" else d) for d in DTYPES for _ in range(2)),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("kind", fast_calls())
def test_fast_calls(programs: dict[str, Any], slow_calls: list[Any], kind: str) -> None:
    name, make = fast_calls()[kind]
    f = programs[name]
    args = make()
    assert f(*args) is None and not slow_calls
    results = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    again = make()
    f.__self__(*again)
    for got, want in zip(results, again, strict=True):
        if isinstance(want, np.ndarray):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("count", [1, 5, 6, 7, 13, 14, 15, 40])
@pytest.mark.parametrize("long", [False, True])
def test_many_arguments(count: int, long: bool, slow_calls: list[Any]) -> None:
    n, k = Var("n"), Var("k", "int64")
    ins = [buffer(f"A{i}", n, dtype="int64") for i in range(count - 1)]
    o = buffer("O", n, 2, dtype="int64")
    total: Any = k
    for i, a in enumerate(ins):
        total = total + load(a, 0) * (i + 1)
    body = store(o, total, 0, 0)
    f = build(function([*ins, k, o], loop(n, lambda _: body) if long else body))["f"]
    assert f.__self__.signature.long is long
    arrays = [np.array([3 * i + 1], "int64") for i in range(count - 1)]
    out = z(1, 2, dtype="int64")
    f(*arrays, 1000, out)
    assert out[0, 0] == 1000 + sum((3 * i + 1) * (i + 1) for i in range(count - 1)) and not slow_calls
    if count > 1:
        with pytest.raises(CallError, match="`n`"):
            f(*arrays, 1000, z(2, 2, dtype="int64"))


def test_pointers(slow_calls: list[Any]) -> None:
    p, o = Var("p", "handle", False), buffer("O", 1, dtype="bool")
    run = build(function([p, o], store(o, Call("bool", "isnullptr", (p,)), 0)))["f"]
    for value, null in ((None, True), (z(3), False), (tensor(z(3)), False)):
        out = np.zeros(1, bool)
        run(value, out)
        assert out[0] == null and not slow_calls
    run(0, out)
    assert out[0] and len(slow_calls) == 1


RESULTS: dict[str, tuple[Any, ...]] = {
    "int8": (-128, 127), "int16": (-5,), "int32": (-(2**31),), "int64": (-(2**63), 2**63 - 1),
    "uint8": (255,), "uint16": (65535,), "uint32": (2**32 - 1,), "uint64": (2**64 - 1, 0),
    "bool": (True, False), "float32": (1.5, float("-inf")), "float64": (0.1,),
}  # fmt: skip


@pytest.mark.parametrize("dtype", RESULTS)
def test_results(dtype: str, slow_calls: list[Any]) -> None:
    o = buffer("O", 1, dtype=dtype)
    f = build(function([o], Evaluate(Call("void", "ret", (load(o, 0),))), returns=dtype))["f"]
    for value in RESULTS[dtype]:
        got = f(np.array([value], dtype))
        assert got == value and type(got) is type(value)
    assert not slow_calls


def test_other_dtypes(slow_calls: list[Any]) -> None:
    """Arrays that are only passed on: dtypes of ml_dtypes go by identity."""
    for dtype in ("bfloat16", "float8_e4m3fn", "int4", "float16"):
        f = build(function([buffer("A", 3, dtype=dtype)], Evaluate(IntImm(0))))["f"]
        f(tensor([1, 2, 3], dtype=dtype))
        assert not slow_calls
        with pytest.raises(CallTypeError):
            f(z(3))
        slow_calls.clear()


def test_alignment(slow_calls: list[Any]) -> None:
    f = build(function([buffer("A", 16, align=64)], Evaluate(IntImm(0))))["f"]
    whole = tensor(np.arange(17, dtype="float32"))
    f(whole[:16])
    assert not slow_calls
    with pytest.raises(CallError, match="64 bytes"):
        f(whole[1:])


def test_asserts_fail_in_the_fast_call(slow_calls: list[Any]) -> None:
    n, o = Var("n"), buffer("O", 1)
    f = build(function([n, o], AssertStmt(n > 3, StringImm("n is small")), store(o, 1.0, 0)))["f"]
    f(4, z(1))
    with pytest.raises(AssertFailed, match="n is small") as fast:
        f(3, z(1))
    assert not slow_calls
    with pytest.raises(AssertFailed) as slow:
        f.__self__(3, z(1))
    assert str(fast.value) == str(slow.value)


def test_without_fast_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_runtime", None)
    monkeypatch.setattr(compiled, "_unusable", True)
    f = double()
    assert type(f) is compiled.CompiledFunction
    o = z(6, 4)
    f(np.ones((6, 4), "float32"), o)
    assert (o == 2).all()
    with pytest.raises(CallTypeError, match="by their places"):
        f(o, O=o)


def test_unknown_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert compiled.probe() is None


# ---- the same as the slow path, whatever comes

POOL = 1 << 13
_memory = np.zeros(POOL // 8, "float64").view("uint8")
_dtypes = ("float32", "float32", "float64", "int64", "int32", "int8", "bool", ">f4", "q", "float16")


@st.composite
def arrays(
    draw: st.DrawFn, shape: tuple[int, ...] | None = None, dtype: str | None = None, place: int = 0
) -> np.ndarray:
    """A view of one pool of memory: arrays of a call may overlap, be strided, misaligned, read-only."""
    if shape is None or draw(st.integers(0, 19)) == 0:
        shape = tuple(draw(st.lists(st.integers(0, 6), max_size=3)))
    if dtype is None or draw(st.integers(0, 19)) == 0:
        dtype = draw(st.sampled_from(_dtypes))
    size = np.dtype(dtype).itemsize
    steps = list(np.cumprod([size, *[max(n, 1) for n in shape[:0:-1]]])[::-1]) if shape else []
    if draw(st.integers(0, 9)) == 0:
        steps = [s * draw(st.sampled_from((1, 1, 2, -1, 0))) for s in steps]
    if draw(st.integers(0, 19)) == 0:
        steps = list(draw(st.permutations(steps)))
    if draw(st.integers(0, 9)) == 0:
        steps = [s if n > 1 else 12345 for s, n in zip(steps, shape, strict=True)]
    used = [(n - 1) * int(s) if n > 1 else 0 for s, n in zip(steps, shape, strict=True)]
    low, high = sum(min(0, u) for u in used), sum(max(0, u) for u in used)
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, 15))
    slot = place * 512 + draw(st.sampled_from((0,) * 8 + (8, 4, 64, 1)))
    offset = min(max(slot, -low), POOL - size - high)
    a = np.lib.stride_tricks.as_strided(
        np.ndarray((), dtype, _memory, offset), shape, steps, writeable=draw(st.integers(0, 19)) > 0
    )  # fmt: skip
    return a


class Sub(np.ndarray):
    """A subclass."""


def wrapped(draw: st.DrawFn, a: np.ndarray) -> Any:
    kind = draw(st.integers(0, 29))
    if kind < 6:
        return NDArray(a, None)  # type: ignore[arg-type]
    if kind > 6:
        return a
    odd = (a.view(Sub), memoryview(a), None, a.tolist(), 3, 1.5, "x", object)
    return odd[draw(st.integers(0, len(odd) - 1))]


NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 5, True, False, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63),
    10**400, 0.0, -0.0, 1.5, 1e300, float("nan"), np.float32(2.5), np.int8(3), np.uint64(2**63), np.True_,
    None, "3", 1j,
)  # fmt: skip


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, list[Any]]:
    name = draw(st.sampled_from(list(PROGRAMS)))
    n, m = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    shapes: list[tuple[tuple[int, ...], str]]
    if name in ("double", "aliased"):
        shapes = [((6, 4), "float32")] * 2
    elif name == "rows":
        shapes = [((n, m), "float32"), ((m,), "float32"), ((n, m), "float32")]
    elif name == "strided":
        shapes = [((n, 3), "float32"), ((3, n), "float32")]
    elif name == "formulas":
        last = max(n, 3) - min(m, 2)
        shapes = [((n,), "float32"), ((2 * n + 1, (n + 3) // 4), "float32")]
        shapes += [((max(3 * m - 2, 0), last), "float32"), ((2,), "int64")]
    elif name == "mixed":
        shapes = [((4,), d) for d in DTYPES for _ in range(2)]
    else:
        numbers = [draw(st.sampled_from(NUMBERS)) for _ in range(6)]
        if draw(st.booleans()):
            numbers = [5, 1.5, True, 7, 2.5, -3]
            numbers[draw(st.integers(0, 5))] = draw(st.sampled_from(NUMBERS))
        return name, [*numbers, wrapped(draw, draw(arrays((5,), "float64")))]
    args = [wrapped(draw, draw(arrays(*s, k))) for k, s in enumerate(shapes)]
    if draw(st.integers(0, 19)) == 0:
        args = args[:-1] if draw(st.booleans()) else [*args, args[0]]
    return name, args


def outcome(f: Any, args: list[Any]) -> tuple[Any, ...]:
    """What a call does: its error, or the memory after it."""
    _memory[:] = np.arange(POOL) % 251 % 120
    try:
        result = f(*args)
    except CallError as e:
        return type(e), str(e)
    return result, _memory.tobytes()


@settings(max_examples=int(os.environ.get("TIRSCRIPT_CALL_EXAMPLES", "400")), deadline=None)
@given(calls())
def test_fast_and_slow_are_the_same(call: tuple[str, list[Any]]) -> None:
    name, args = call
    f = _built(name)
    slow = outcome(f.__self__, args)
    assert outcome(f, args) == slow


_cache: dict[str, Any] = {}


def _built(name: str) -> Any:
    if name not in _cache:
        _cache[name] = PROGRAMS[name]()
    return _cache[name]


# ---- formulas

FORMULAS = (
    "s[0] + s[1]", "s[0] - s[1] * 3", "(s[0] * s[1])", "floordiv(s[0], s[1])", "floormod(s[0], s[1])",
    "truncdiv(s[0], s[1])", "floordiv(s[0], 4)", "floormod(s[0], -3)", "floordiv(s[0], -1)",
    "truncdiv(s[0], 0)", "min(s[0], s[1]) + max(s[0], -7)", "select((s[0] < s[1]), s[0], s[1] * 2)",
    "((s[0] >= s[1]) + 1)",
    "select(s[1], 9223372036854775807, -9223372036854775808)", "floormod((s[0] * 8 + 5), 16) - s[1]",
)  # fmt: skip


@pytest.fixture(scope="module")
def evaluators() -> Iterator[list[Any]]:
    text = ""
    for k, code in enumerate(FORMULAS):
        lines = formula.Lines()
        value = formula.emit(lines, code, ["%a", "%b"])
        fine = lines.all_fine() or "true"
        text += f"define zeroext i1 @f{k}(i64 %a, i64 %b, ptr %out) {{\n" + "\n".join(lines.lines)
        text += f"\n  store i64 {value}, ptr %out\n  ret i1 {fine}\n}}\n"
    names = [f"f{k}" for k in range(len(FORMULAS))]
    code = jit.load(text, names, jit.Machine(), {}, ())
    kind = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    yield [kind(code.addresses[n]) for n in names]
    del code


_edges = st.sampled_from((-(2**63), 2**63 - 1, 2**62, -(2**62) - 1, 0, 1, -1, 2, -2))


_numbers = st.one_of(st.integers(-99, 99), _edges)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(FORMULAS) - 1), _numbers, _numbers)
def test_formulas(evaluators: list[Any], k: int, a: int, b: int) -> None:
    def floordiv(x: int, y: int) -> int:
        return x // y if y else 0

    def floormod(x: int, y: int) -> int:
        return x % y if y else 0

    def truncdiv(x: int, y: int) -> int:
        q = abs(x) // abs(y) if y else 0
        return q if (x < 0) == (y < 0) else -q

    def select(c: Any, x: int, y: int) -> int:
        return x if c else y

    want = eval(FORMULAS[k], {**locals(), "s": (a, b)})
    out = ctypes.c_int64()
    good = evaluators[k](a, b, ctypes.addressof(out))
    assert not good or out.value == want
    assert good or max(abs(a), abs(b)) > 99


# ---- life, leaks, threads, processes


def test_a_million_calls_do_not_leak(programs: dict[str, Any], slow_calls: list[Any]) -> None:
    f, g = programs["double"], programs["scalars"]
    a, o, boxed, x, y = np.ones((6, 4), "float32"), z(6, 4), tensor(z(6, 4)), 12345.5, 2**61 + 1
    out = z(5, dtype="f8")
    counted = (a, o, boxed, x, y, out, None, True, a.dtype, f, f.__self__, np.ndarray, NDArray, int, float)

    def run(count: int) -> None:
        for _ in range(count // 4):
            f(a, o)
            f(a, boxed)
            g(5, x, True, y, 3, y, out)
            f(a, o)

    run(4000)
    before = [sys.getrefcount(v) for v in counted]
    resident = _resident()
    run(1_000_000)
    assert all(abs(sys.getrefcount(v) - b) < 20 for v, b in zip(counted, before, strict=True))
    assert _resident() - resident < 4 << 20 and not slow_calls


def test_wrong_calls_do_not_leak(programs: dict[str, Any]) -> None:
    f = programs["double"]
    bad = [make() for make, _, _ in WRONG.values()]
    counted = [v for args in bad for v in args if isinstance(v, np.ndarray)]

    def run(times: int) -> None:
        for _ in range(times):
            for args in bad:
                with pytest.raises(CallError):
                    f(*args)

    run(2)
    gc.collect()
    before = [sys.getrefcount(v) for v in counted]
    tracemalloc.start()
    try:
        first = tracemalloc.get_traced_memory()[0]
        run(20)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 200_000
    finally:
        tracemalloc.stop()
    assert [sys.getrefcount(v) for v in counted] == before


def _resident() -> int:
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096
    except OSError:
        return 0


def test_functions_are_freed_in_any_order() -> None:
    for order in range(4):
        a, o = buffer("A", 4), buffer("O", 4)
        m = build(function([a, o], loop(4, lambda i: store(o, load(a, i) + 1.0, i))))
        f, slow = m["f"], m["f"].__self__
        code = weakref.ref(slow._owner)
        out = z(4)
        if order == 0:
            del m, slow
            gc.collect()
            f(z(4), out)
            del f
        elif order == 1:
            del f, m
            gc.collect()
            slow(z(4), out)
            del slow
        elif order == 2:
            del f, slow
            gc.collect()
            m["f"](z(4), out)
            del m
        else:
            method = f.__call__
            del f, m, slow
            gc.collect()
            method(z(4), out)
            del method
        assert out.tolist() == [1] * 4
        gc.collect()
        assert code() is None


def test_sixteen_threads(programs: dict[str, Any]) -> None:
    failures: list[Any] = []

    def work(k: int) -> None:
        f, g = programs["double"], double() if k % 4 == 0 else programs["rows"]
        a, o = np.full((6, 4), k, "float32"), z(6, 4)
        for n in range(300):
            f(a, tensor(o) if n % 2 else o)
            if k % 4:
                g(a, z(4), o)
            try:
                f(a, a)
                failures.append("overlap")
            except CallError:
                pass
        if not (o == (k if k % 4 else 2 * k)).all():
            failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def in_a_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


_PREAMBLE = """
import gc, os, sys
import numpy as np
from tests.runtime.test_fastcall import *
from tests.runtime.test_call import WRONG
f = double()
a, o = np.ones((6, 4), "float32"), np.zeros((6, 4), "float32")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork() -> None:
    out = in_a_process(
        _PREAMBLE
        + """
f(a, o)
child = os.fork()
if child == 0:
    ok = True
    for n in range(1000):
        f(a * n, o)
        ok &= bool((o == 2 * n).all())
    try:
        f(a, a)
        ok = False
    except CallError:
        pass
    ok &= double()(a, o) is None
    os._exit(0 if ok else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("fine")
"""
    )
    assert out == "fine\n"


def test_dangerous_calls() -> None:
    """Calls that would crash the process if anything was believed that was not checked."""
    out = in_a_process(
        _PREAMBLE
        + """
import atexit, functools
from tirscript.runtime import NDArray, tensor
from tirscript.diagnostics import TirscriptError

def refused(*args, g=f):
    try:
        g(*args)
    except (TirscriptError, AttributeError, TypeError, ValueError) as e:
        return
    raise SystemExit(f"accepted {args!r:.200}")

for make, _, _ in WRONG.values():
    refused(*make())
blank = NDArray.__new__(NDArray)
holds = [NDArray.__new__(NDArray) for _ in range(4)]
for box, inside in zip(holds, (None, 3, np.ma.zeros((6, 4)), np.zeros((6, 4), "f4")[::-1])):
    box._array = inside
others = (f, f.__self__, np, type, NotImplemented, ..., lambda: 0, range(24), np.float32, a.flags, a.dtype,
          a.__array_interface__, iter(a), np.nditer(a), b"", "", (), 0, -1, 2**200, 1e308, float("nan"), 1j)
for bad in (blank, *holds, *others):
    refused(bad, o)
    refused(a, bad)
refused(*[a] * 10000)
refused(*range(300))
class Evil:
    def __init__(self, what): self.what = what
    @property
    def __array_interface__(self): return self.what()
def boom(): raise KeyError("boom")
def recurse(): return Evil(recurse).__array_interface__
def interface(*shape): return {"shape": shape, "typestr": "<f4", "data": (64, False), "version": 3}
for what in (boom, recurse, dict, lambda: None, lambda: interface(6, 3), lambda: interface(-6, 4)):
    refused(Evil(what), o)
# All references to the function go while it runs.
class Dropping:
    @property
    def __array_interface__(self):
        globals().pop("g", None)
        gc.collect()
        return a.__array_interface__
for _ in range(20):
    g = double()
    g(Dropping(), o)
    assert (o == 2).all()
    g = double()
    try:
        g(Dropping(), a[:3])
    except CallError as e:
        assert "`O`" in str(e)
# Shapes and flags change under one object.
changes = (lambda v: setattr(v, "shape", (4, 6)), lambda v: setattr(v, "shape", 24),
           lambda v: v.flags.__setitem__("WRITEABLE", False), lambda v: setattr(v, "dtype", "i4"),
           lambda v: v.resize((5, 4), refcheck=False),
           lambda v: v.__setstate__((1, (2,), np.dtype("f8"), False, bytes(16))))
for change in changes:
    v = np.zeros((6, 4), "f4")
    f(a, v)
    change(v)
    refused(a, v)
list(map(functools.partial(f, a), [o] * 100))
class AtTheEnd:
    def __del__(self, f=f, a=a, o=o): f(a, o)
sys.keep = AtTheEnd()
atexit.register(f, a, o)
print("fine")
"""
    )
    assert out == "fine\n"


def test_a_daemon_thread_in_a_kernel_at_exit() -> None:
    out = in_a_process(
        """
import threading
import numpy as np
from tests.codegen.lowered import buffer, build, function, load, loop, store
o = buffer("O", 1, dtype="int64")
spin = loop(20, lambda i: loop(1000000, lambda j: store(o, load(o, 0) * 3 + 1, 0), name="j"))
m = build(function([o], spin), target={"O": 0})
begun = threading.Semaphore(0)
def work():
    f, a = m["f"], np.zeros(1, "int64")
    while True:
        f(a)
        begun.release()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
begun.acquire()
print("fine")
"""
    )
    assert out == "fine\n"


def test_dtypes_with_metadata(programs: dict[str, Any]) -> None:
    """A dtype with metadata equals the plain one, and is taken."""
    tagged = np.dtype("float32", metadata={"unit": "m"})
    o = np.zeros((6, 4), tagged)
    programs["double"](np.ones((6, 4), tagged), o)
    assert (o == 2).all()


def test_short_functions_keep_the_gil() -> None:
    a, o = buffer("A", 1024), buffer("O", 1024)
    short = build(function([a, o], loop(1024, lambda i: store(o, load(a, i) + 1.0, i))))["f"]
    assert not short.__self__.signature.long
    n = Var("n")
    long = (
        loop(100_000, lambda i: store(o, 1.0, 0)),
        loop(300, lambda i: loop(300, lambda j: store(o, 1.0, 0), name="j")),
        loop(n, lambda i: store(o, 1.0, 0)),
        loop(4, lambda i: store(o, 1.0, i), kind="parallel"),
        loop(5000, lambda i: store(o, Call("float32", "exp", (FloatImm(1.0, "float32"),)), 0)),
    )
    for body in long:
        assert build(function([n, o], body))["f"].__self__.signature.long
