"""Arguments that lie, raise, change others, or only look like something: an answer or a CallError, always."""

from __future__ import annotations

import ctypes
import mmap
import multiprocessing
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.codegen.lowered import buffer, build, function, load, loop, store
from tests.runtime.test_call import WRONG, Dlpack
from tests.runtime.test_fastcall import double, rows, scalars
from tirscript.diagnostics import CallError, CallTypeError, CallValueError
from tirscript.ir.expr import Var
from tirscript.runtime import NDArray, tensor
from tirscript.runtime.devices import cpu


def z(*shape: int, dtype: Any = "float32") -> np.ndarray:
    return np.zeros(shape, dtype)


@pytest.fixture(scope="module")
def fn() -> Any:
    return double()


def _raising(name: str, error: type[BaseException] = KeyError) -> Any:
    """An object whose attribute raises."""

    def fails(self: Any, *_: Any, **__: Any) -> Any:
        raise error("its own")

    return type("Raising", (), {name: property(fails)})()


def _interface(**changes: Any) -> Any:
    facts = {"shape": (6, 4), "typestr": "<f4", "data": (64, False), "version": 3, **changes}
    return type("Lying", (), {"__array_interface__": facts})()


class Odd(np.ndarray):
    """A subclass with everything overridden that a call could ask."""

    def _no(self, *_: Any, **__: Any) -> Any:
        raise KeyError("its own")

    view = __array__ = __dlpack__ = __len__ = _no
    dtype = shape = strides = flags = ndim = size = property(_no)  # type: ignore[assignment]
    __array_interface__ = property(_no)  # type: ignore[assignment]


class OddInt(int):
    def _no(self, *_: Any) -> Any:
        raise KeyError("its own")

    __int__ = __index__ = __repr__ = __float__ = __lt__ = __le__ = __eq__ = _no  # type: ignore[assignment]
    __hash__ = int.__hash__


class OddFloat(float):
    def _no(self, *_: Any) -> Any:
        raise KeyError("its own")

    __float__ = __repr__ = __int__ = _no


class OddText(str):
    __slots__ = ()

    def __repr__(self) -> str:
        raise KeyError("its own")


def _posing(kind: type) -> Any:
    """An object that says that it is of another class."""
    return type("Posing", (), {"__class__": property(lambda self: kind)})()


HOSTILE: dict[str, Callable[[], Any]] = {
    "attribute raises, interface": lambda: _raising("__array_interface__"),
    "attribute raises, DLPack": lambda: _raising("__dlpack__"),
    "attribute raises, device": lambda: _raising("__dlpack_device__"),
    "attribute raises, CUDA": lambda: _raising("__cuda_array_interface__"),
    "attribute raises without words": lambda: _raising("__array_interface__", AssertionError),
    "recursion": lambda: _raising("__dlpack_device__", RecursionError),
    "poses as an array": lambda: _posing(np.ndarray),
    "poses as an NDArray": lambda: _posing(NDArray),
    "poses as an int": lambda: _posing(int),
    "a text that cannot be shown": lambda: OddText("x"),
    "an int that cannot be shown": lambda: OddInt(3),
    "an int too long to show": lambda: 10**5000,
    "no address": lambda: _interface(data=(0, False)),
    "an address in the first page": lambda: _interface(data=(64, False)),
    "a negative address": lambda: _interface(data=(-64, False)),
    "no data": lambda: _interface(data=None),
    "negative extents": lambda: _interface(shape=(-6, 4)),
    "extents that are no integers": lambda: _interface(shape=(6.5, 4)),
    "extents beyond 64 bits": lambda: _interface(shape=(2**70, 4)),
    "a dtype that is none": lambda: _interface(typestr="<q9"),
    "objects by their addresses": lambda: _interface(typestr="|O8"),
    "strides of another rank": lambda: _interface(strides=(4,)),
    "an interface that is no dict": lambda: type("L", (), {"__array_interface__": 3})(),
    "an interface as a class": lambda: type("L", (), {"__array_interface__": {}}),
    "a device of nowhere": lambda: Dlpack(z(6, 4), (99, 0)),
    "a device that is no pair": lambda: Dlpack(z(6, 4), None),  # type: ignore[arg-type]
    "every attribute there is": lambda: type("All", (), {"__getattr__": lambda s, n: lambda *a, **k: s})(),
    "a matrix of another dtype": lambda: np.zeros((6, 4)).view(np.matrix),
    "a recarray": lambda: np.recarray((6, 4), dtype=[("x", "f4")]),
    "dates": lambda: z(6, 4, dtype="datetime64[s]"),
    "void": lambda: z(6, 4, dtype="V4"),
    "bytes of four": lambda: z(6, 4, dtype="S4"),
    "a longdouble array": lambda: z(6, 4, dtype="longdouble"),
    "an unpickled array of another dtype": lambda: np.frombuffer(bytes(96), "i4").reshape(6, 4),
    "a range": lambda: range(24),
    "a generator": lambda: (x for x in ()),
    "a set": lambda: {1},
    "a function": lambda: len,
    "the function itself": lambda: double(),
    "a module": lambda: np,
    "an Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "an iterator of an array": lambda: z(6, 4).flat,
    "a ctypes array of doubles": lambda: ((ctypes.c_double * 4) * 6)(),
    "a ctypes pointer": lambda: ctypes.pointer(ctypes.c_float(1)),
    "a ctypes number": lambda: ctypes.c_float(1),
    "a map of memory": lambda: mmap.mmap(-1, 96),
    "a memoryview by bytes": lambda: memoryview(bytes(96)),
    "a memoryview, strided": lambda: memoryview(z(12, 4))[::2],
    "a dtype": lambda: np.dtype("float32"),
    "an NDArray of an odd array": lambda: NDArray(z(6, 4, dtype="float64").view(Odd), cpu()),
    "an array with 64 dimensions": lambda: z(*[1] * 64),
    "an array of extent 2^40": lambda: np.broadcast_to(np.float32(0), (2**40, 4)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_arguments(fn: Any, kind: str) -> None:
    for place, name in enumerate("AO"):
        args: list[Any] = [np.ones((6, 4), "float32"), z(6, 4)]
        args[place] = HOSTILE[kind]()
        with pytest.raises(CallError) as e:
            fn(*args)
        text = str(e.value)
        assert f"argument {place + 1}, `{name}`" in text
        assert "signature: f(A: float32[6, 4], O: float32[6, 4])" in text
    o = z(6, 4)
    fn(np.ones((6, 4), "float32"), o)
    assert (o == 2).all()


def test_subclasses_are_taken_for_their_data(fn: Any) -> None:
    a = np.arange(24, dtype="float32").reshape(6, 4)
    masked = np.ma.masked_array(a, mask=a > 3)
    for x in (a.view(Odd), a.view(np.matrix), masked, a.view(np.recarray), NDArray(a.view(Odd), cpu())):
        o = z(6, 4)
        fn(x, o)
        assert np.array_equal(o, 2 * a)
        o = z(6, 4)
        fn(a, o.view(type(x)) if isinstance(x, np.ndarray) else o)
        assert np.array_equal(o, 2 * a)


def test_memory_of_files(fn: Any, tmp_path: Any) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.ones((6, 4), "float32"))
    reads = np.load(path, mmap_mode="r")
    o = z(6, 4)
    fn(reads, o)
    assert (o == 2).all()
    with pytest.raises(CallValueError, match="read-only"):
        fn(o, reads)
    writes = np.load(path, mmap_mode="r+")
    fn(o, writes)
    assert (writes == 4).all()


def test_an_argument_that_changes_another(fn: Any) -> None:
    """What an object's own code does to arrays before it in the call is seen."""
    changes: dict[str, Callable[[np.ndarray], Any]] = {
        "resize": lambda v: v.resize((1, 1), refcheck=False),
        "shape": lambda v: setattr(v, "shape", (4, 6)),
        "dtype": lambda v: setattr(v, "dtype", "i4"),
        "flags": lambda v: v.flags.__setitem__("WRITEABLE", False),
    }
    for change in changes.values():
        v = z(6, 4)

        class Changing:
            @property
            def __array_interface__(self, v: Any = v, change: Any = change) -> Any:
                change(v)
                return np.ones((6, 4), "float32").__array_interface__

        a, b, o = buffer("A", 6, 4), buffer("B", 6, 4), buffer("O", 6, 4)
        body = loop(6, lambda i: loop(4, lambda j: store(o, load(a, i, j) + 1.0, i, j), name="j"))
        run = build(function([o, a, b], body))["f"]
        with pytest.raises(CallError, match="argument 1, `O`"):
            run(v, z(6, 4), Changing())


# ---- numbers


@pytest.fixture(scope="module")
def numbers() -> Any:
    return scalars()


ODD_NUMBERS: tuple[tuple[int, Any, type[CallError] | float], ...] = (
    # place, value, what comes: the number, or an error
    (0, float("nan"), CallTypeError), (0, float("inf"), CallTypeError), (0, -0.0, CallTypeError),
    (0, 1j, CallTypeError), (0, np.complex64(1), CallTypeError), (0, b"1", CallTypeError),
    (0, np.True_, CallTypeError), (0, np.float16(1), CallTypeError), (0, [1], CallTypeError),
    (0, 10**5000, CallValueError), (0, -(10**5000), CallValueError), (0, 2**63, CallValueError),
    (0, np.datetime64(1, "s"), CallTypeError), (0, _posing(int), CallTypeError), (0, object(), CallTypeError),
    (1, 10**5000, CallValueError), (1, _posing(float), CallTypeError), (1, np.complex128(1), CallTypeError),
    (1, OddFloat(2.5), 2.5), (1, OddInt(3), 3.0), (1, np.longdouble(1.5), 1.5), (1, np.True_, 1.0),
    (1, float("inf"), float("inf")), (1, 1e300, float("inf")), (1, b"1", CallTypeError),
    (2, 1, CallTypeError), (2, 0.0, CallTypeError), (2, "True", CallTypeError),
    (2, _posing(bool), CallTypeError),
    (2, np.array(True), CallTypeError), (2, np.False_, 0.0), (2, np.int8(1), CallTypeError),
    (3, -1, CallValueError), (3, 2**64, CallValueError), (3, np.int64(-1), CallValueError),
    (3, OddInt(7), 7.0), (3, 2**62, 2.0**62), (3, 1.0, CallTypeError),
)  # fmt: skip


@pytest.mark.parametrize("case", range(len(ODD_NUMBERS)))
def test_odd_numbers(numbers: Any, case: int) -> None:
    run = numbers
    place, value, comes = ODD_NUMBERS[case]
    args: list[Any] = [5, 1.5, True, 7, 2.5, -3]
    args[place] = value
    o = z(5, dtype="float64")
    if not isinstance(comes, type):
        run(*args, o)
        assert o[{1: 0, 2: 1, 3: 3}[place]] == comes
        return
    with pytest.raises(comes) as e:
        run(*args, o)
    text = str(e.value)
    assert f"argument {place + 1}, `{'nxbu'[place]}`" in text and "signature: f(n: int32, x: float32" in text


def test_keywords(fn: Any) -> None:
    a, o = z(6, 4), z(6, 4)
    for named in ({"A": a, "O": o}, {"O": o}, {"Out": o}, {"": o}, {"a b": 1}, {"self": 1}):
        with pytest.raises(CallTypeError, match="by their places") as e:
            fn(*[a] * (2 - len(named)), **named)
        assert all(f"`{name}`" in str(e.value) for name in named) and "signature: f(A:" in str(e.value)
    with pytest.raises(CallTypeError, match="`O` came by name"):
        fn(a, o, O=o)


# ---- extents


def test_extents_beyond_32_bits() -> None:
    def last(dtype: str) -> Any:
        n, o = Var("n", dtype), buffer("O", 1, dtype="int8")
        a = buffer("A", n, dtype="int8")
        return build(function([a, o], store(o, load(a, n - 1), 0)))["f"]

    huge = np.empty(2**31 + 5, "int8")  # untouched memory costs nothing
    huge[-1] = 7
    o = z(1, dtype="int8")
    last("int64")(huge, o)
    assert o[0] == 7
    with pytest.raises(CallValueError, match=r"`n` would be 2147483653, which int32 does not hold"):
        last("int32")(huge, o)


def test_symbols_that_disagree() -> None:
    run = rows()
    for a, b, o in (
        ((3, 4), (5,), (3, 4)),
        ((3, 4), (4,), (2, 4)),
        ((3, 4), (4,), (3, 5)),
        ((0, 4), (3,), (0, 4)),
    ):
        with pytest.raises(CallValueError, match=r"not 3|not 4") as e:
            run(z(*a), z(*b), z(*o))
        assert "signature: f(A: float32[n, m], B: float32[m], O: float32[n, m])" in str(e.value)
    run(z(0, 0), z(0), z(0, 0))
    run(z(0, 5), z(5), z(0, 5))


# ---- many calls, threads, processes


def _resident() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_wrong_calls_by_the_hundred_thousand_do_not_leak(fn: Any) -> None:
    bad = [make() for make, _, _ in WRONG.values()] + [(x, z(6, 4)) for x in ({}, "x", 10**30, z(6, 3))]
    bad = [args for args in bad if not any(isinstance(a, Dlpack) for a in args)]
    counted = [v for args in bad for v in args if isinstance(v, np.ndarray)] + [None, fn, fn.__self__]

    def run(times: int) -> None:
        for _ in range(times):
            for args in bad:
                try:
                    fn(*args)
                except CallError:
                    continue
                raise AssertionError("accepted")

    run(100)
    before, resident = [sys.getrefcount(v) for v in counted], _resident()
    run(100_000 // len(bad))
    assert all(abs(sys.getrefcount(v) - b) < 20 for v, b in zip(counted, before, strict=True))
    assert _resident() - resident < 4 << 20


def test_hostile_calls_from_sixteen_threads(fn: Any) -> None:
    wrong: list[str] = []

    def work(k: int) -> None:
        a = np.full((6, 4), k, "float32")
        for turn in range(6):
            for kind, make in HOSTILE.items():
                if kind == "the function itself":
                    continue
                o = z(6, 4)
                try:
                    fn(make(), o)
                    wrong.append(kind)
                except CallError:
                    pass
                fn(a, tensor(o) if turn % 2 else o)
                if not turn % 2 and not (o == 2 * k).all():
                    wrong.append(f"{kind}: numbers")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


_PROCESSES = """
import multiprocessing, sys
import numpy as np
from tests.runtime.test_fastcall import double
from tirscript.diagnostics import CallValueError

def child(queue):
    run = double()
    o = np.zeros((6, 4), "float32")
    run(np.ones((6, 4), "float32"), o)
    try:
        run(o, o)
    except CallValueError as e:
        queue.put((float(o.sum()), e))

if __name__ == "__main__":
    double()(np.ones((6, 4), "float32"), np.zeros((6, 4), "float32"))
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    total, error = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0 and total == 48
    assert isinstance(error, CallValueError) and "`O`" in str(error) and "signature: f(A:" in str(error)
    print("fine")
"""


@pytest.mark.parametrize(
    "method", [m for m in ("fork", "spawn", "forkserver") if m in multiprocessing.get_all_start_methods()]
)
def test_processes_of_multiprocessing(tmp_path: Any, method: str) -> None:
    """A child calls as its parent does; its errors come back through a queue with their words."""
    path = tmp_path / "processes.py"
    path.write_text(_PROCESSES)
    root = str(pathlib.Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, str(path), method], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr[-2000:]


def test_ctrl_c_during_a_long_call_comes_when_it_is_over() -> None:
    program = """
import os, signal, threading, time
import numpy as np
from tests.codegen.lowered import buffer, build, function, load, loop, store
for kind in ("serial", "parallel"):
    o = buffer("O", 8, dtype="int64")
    spin = loop(8, lambda k: loop(10, lambda i: loop(1000000, lambda j: store(o, load(o, k) * 3 + 1, k),
                name="j"), name="i"), kind, name="k")
    run = build(function([o], spin), target={"O": 0})["f"]
    x = np.zeros(8, "int64")
    run(x)
    want, x[:] = x.copy(), 0
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            run(x)
    except KeyboardInterrupt:
        pass
    y = np.zeros(8, "int64")
    run(y)
    print(kind, np.array_equal(y, want))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["serial", "True", "parallel", "True"]
