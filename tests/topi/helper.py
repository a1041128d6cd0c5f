"""What the tests of operators share: tensors from arrays, and what a program computes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import tirscript as ts
from tirscript import te
from tirscript.codegen.python.support import numpy_dtype


def placeholders(*arrays: Any, symbolic: bool = False) -> list[te.Tensor]:
    """A tensor for each array; with ``symbolic`` the leading extent of those like the first is a variable."""
    rows = te.var("n")
    out = []
    for n, a in enumerate(arrays):
        shape: list[Any] = list(a.shape)
        if symbolic and shape and a.ndim == arrays[0].ndim and shape[0] == arrays[0].shape[0]:
            shape[0] = rows
        out.append(te.placeholder(shape, str(a.dtype), name=f"X{n}"))
    return out


def evaluate(
    tensors: list[te.Tensor], outputs: Any, arrays: Any, shapes: Any = None, target: str = "llvm"
) -> Any:
    """What the outputs hold for these arrays."""
    several = isinstance(outputs, (list, tuple))
    outs = list(outputs) if several else [outputs]
    func = te.create_prim_func([*tensors, *outs])
    results = run(ts.build(func, target=target)["main"], outs, arrays, shapes)
    return results if several else results[0]


def run(f: Any, outs: list[te.Tensor], arrays: Any, shapes: Any = None) -> list[Any]:
    """What a built function writes into fresh arrays."""
    results = []
    for n, t in enumerate(outs):
        shape = shapes[n] if shapes is not None else [e.value for e in t.shape]
        results.append(np.full(shape, 77).astype(numpy_dtype(t.dtype)))
    f(*[np.array(a, order="C") for a in arrays], *results)
    return results


def check(f: Any, want: Any, *arrays: Any, tol: float = 1e-5, symbolic: bool = True) -> None:
    """``f`` of tensors gives ``want``: optimized, on the python target, and with a symbolic extent."""
    check_all([(f, want, arrays, symbolic)], tol, "llvm")


def check_all(cases: Any, tol: float = 1e-5, target: str = "llvm -O=0", slow: int = 2) -> None:
    """Every case ``(f, want, arrays, symbolic)``, all in one module.

    The first ``slow`` ones also run optimized and on the python target, and their programs are read back.
    """
    plans: list[Any] = []
    parts: dict[str, dict[str, Any]] = {target: {}, "python": {}, "llvm": {}, "llvm -O=0": {}}
    for (n, (f, want, arrays, symbolic)), symbols in itertools.product(enumerate(cases), (False, True)):
        if symbols and not symbolic:
            continue
        tensors = placeholders(*arrays, symbolic=symbols)
        outputs = f(*tensors)
        several = isinstance(outputs, (list, tuple))
        outs = list(outputs) if several else [outputs]
        wanted = [np.asarray(w) for w in (want if several else [want])]
        assert len(outs) == len(wanted)
        if not symbols:
            assert [tuple(e.value for e in t.shape) for t in outs] == [w.shape for w in wanted], n
        name = f"f{n}_{'n' if symbols else 'c'}"
        func = te.create_prim_func([*tensors, *outs]).with_attr("global_symbol", name)
        if n < slow and not symbols:
            ts.assert_structural_equal(ts.from_source(func.script()), func)
            parts["python"][name] = parts["llvm"][name] = func
        parts["llvm -O=0" if symbols else target][name] = func
        plans.append((name, outs, arrays, wanted))
    built = {way: ts.build(ts.IRModule(group), target=way) for way, group in parts.items() if group}
    for name, outs, arrays, wanted in plans:
        for way, lib in built.items():
            if name not in lib.functions:
                continue
            have = run(lib[name], outs, arrays, [w.shape for w in wanted])
            for h, w in zip(have, wanted, strict=True):
                near = max(tol, 4e-3) if h.dtype == np.float16 else tol
                np.testing.assert_allclose(
                    h.astype("float64"), w.astype("float64"), rtol=near, atol=near, err_msg=f"{way} {name}"
                )
