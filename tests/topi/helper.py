"""What the tests of operators share: tensors from arrays, and what a program computes."""

from __future__ import annotations

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
    ts.assert_structural_equal(ts.from_source(func.script()), func)
    results = []
    for n, t in enumerate(outs):
        shape = shapes[n] if shapes is not None else [e.value for e in t.shape]
        results.append(np.full(shape, 77).astype(numpy_dtype(t.dtype)))
    ts.build(func, target=target)["main"](*[np.array(a, order="C") for a in arrays], *results)
    return results if several else results[0]


def check(f: Any, want: Any, *arrays: Any, tol: float = 1e-5, symbolic: bool = True) -> None:
    """``f`` of tensors gives ``want`` on LLVM and on the python target, and with a symbolic extent."""
    ways = [("llvm", False), ("python", False)] + ([("llvm", True)] if symbolic else [])
    for target, symbols in ways:
        tensors = placeholders(*arrays, symbolic=symbols)
        outputs = f(*tensors)
        several = isinstance(outputs, (list, tuple))
        wanted = [np.asarray(w) for w in (want if several else [want])]
        outs = list(outputs) if several else [outputs]
        assert len(outs) == len(wanted)
        have = evaluate(tensors, outs, arrays, [w.shape for w in wanted], target)
        for t, h, w in zip(outs, have, wanted, strict=True):
            if not symbols:
                assert tuple(e.value for e in t.shape) == w.shape
            np.testing.assert_allclose(
                h.astype("float64"), w.astype("float64"), rtol=tol, atol=tol, err_msg=f"{target} {symbols}"
            )
