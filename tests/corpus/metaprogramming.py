"""Metaprogramming: values of the enclosing scopes, macros, factories, specialisation."""

from __future__ import annotations

import functools

import tirscript as ts
from tirscript.script import ir as I
from tirscript.script import tir as T

N, M = 6, 8
DTYPE = "float32"
SHAPE = (N, M)
WEIGHTS = [1, 2, 3]
PAIRS = {"a": 2, "b": 5}


def doubled(x):
    return x * 2


def poly(x, terms):
    """A Python function that builds an expression."""
    total = T.float32(0)
    for power in range(terms):
        total = total * x + T.float32(power + 1)
    return total


def marked(*flags):
    def mark(function):
        function.flags = flags
        return function

    return mark


@marked("run")
def meta_captured_globals():
    @T.prim_func
    def captured(A: T.Buffer((N, M), DTYPE), B: T.Buffer(SHAPE, DTYPE)):
        for i, j in T.grid(N, M):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(N)

    return captured


@marked("run")
def meta_captured_locals():
    n = 4
    shape = (n, n * 2)

    @T.prim_func
    def captured(A: T.Buffer(shape, "int32")):
        for i, j in T.grid(*shape):
            A[i, j] = i * n + j

    return captured


@marked("run")
def meta_python_function_in_expression():
    @T.prim_func
    def polynomial(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = poly(A[i], 4)

    return polynomial


@marked("run")
def meta_python_function_of_numbers():
    @T.prim_func
    def numbers(A: T.Buffer((doubled(4),), "int32")):
        for i in range(doubled(doubled(2))):
            A[i] = doubled(3) + doubled(i)

    return numbers


@marked("run")
def meta_var():
    @T.prim_func
    def kept_out(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for i in range(8):
            both = T.meta_var(A[i] + B[i])
            factor = T.meta_var(3)
            B[i] = both * factor

    return kept_out


@marked("run")
def meta_local_alias():
    @T.prim_func
    def alias(A: T.Buffer((8, 8), "int32")):
        half = T.meta_var(4)
        for i, j in T.grid(half, half):
            A[i, j] = A[i + half, j + half]

    return alias


@marked("run")
def meta_list_shape_starred():
    dims = [2, 3]

    @T.prim_func
    def starred(A: T.Buffer((4, *dims), "float32"), B: T.Buffer((4, *dims), "float32")):
        for i, *rest in T.grid(4, *dims):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                vj, vk = T.axis.remap("SS", rest)
                B[vi, vj, vk] = A[vi, vj, vk] * T.float32(2)

    return starred


@marked("run")
def meta_comprehension():
    @T.prim_func
    def comprehension(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for i in range(8):
            B[i] = sum([A[i] * w for w in WEIGHTS])

    return comprehension


@marked("run")
def meta_f_string_names():
    part = "out"

    @T.prim_func
    def named(A: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block(f"A_{part}_{N}"):
                vi = T.axis.spatial(8, i)
                T.block_attr({f"key_{part}": f"{N * 2}"})
                A[vi] = vi

    return named


@marked("run")
def meta_dictionary():
    @T.prim_func
    def dictionary(A: T.Buffer((PAIRS["a"], PAIRS["b"]), "int32")):
        for i, j in T.grid(PAIRS["a"], PAIRS["b"]):
            A[i, j] = i + len(PAIRS)

    return dictionary


@marked("run")
def meta_condition_at_parse_time():
    scale, debug = 3, False

    @T.prim_func
    def conditional(A: T.Buffer((8,), "int32")):
        for i in range(8):
            if debug:
                A[i] = -1
            if scale > 2 and not debug:
                A[i] = A[i] * scale
            else:
                A[i] = 0

    return conditional


@marked("run")
def meta_ternary_at_parse_time():
    wide = True

    @T.prim_func
    def ternary(A: T.Buffer((8 if wide else 4,), "int64" if wide else "int32")):
        for i in range(8 if wide else 4):
            A[i] = T.int64(i) if wide else i

    return ternary


@marked("run")
def meta_macro():
    @T.macro
    def store(X, i, value):
        X[i] = value

    @T.prim_func
    def expanded(A: T.Buffer((8,), "int32")):
        for i in range(8):
            store(A, i, i * 3)

    return expanded


@marked("run")
def meta_macro_with_block():
    @T.macro
    def add_one(X, Y, n, name):
        for i in range(n):
            with T.block(name):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] + T.float32(1)

    @T.prim_func
    def expanded(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,))
        add_one(A, B, 8, "B")
        add_one(B, C, 8, name="C")

    return expanded


@marked("run")
def meta_macro_hygienic():
    x = 7

    @T.macro
    def use(X, i):
        X[i] = x

    @T.prim_func
    def hygienic(A: T.Buffer((4,), "int32")):
        for x in range(4):
            use(A, x)

    return hygienic


@marked("run")
def meta_macro_unhygienic():
    @T.macro(hygienic=False)
    def use(X):
        X[k] = k + 1

    @T.prim_func
    def unhygienic(A: T.Buffer((4,), "int32")):
        for k in range(4):  # noqa: B007
            use(A)

    return unhygienic


@marked("run")
def meta_macro_arguments():
    @T.macro
    def fill(X, *index, value=5, **more):
        X[index] = value + more["extra"]

    @T.prim_func
    def arguments(A: T.Buffer((2, 3), "int32")):
        for i, j in T.grid(2, 3):
            fill(A, i, j, extra=2)

    return arguments


@marked("run")
def meta_macro_python_loop():
    @T.macro
    def unrolled(X, taps):
        for tap in T.meta_var(taps):
            X[0] = X[0] + tap

    @T.prim_func
    def taps(A: T.Buffer((1,), "int32")):
        unrolled(A, [1, 10, 100])

    return taps


@marked("run")
def meta_macro_nested():
    @T.macro
    def inner(X, i):
        X[i] = X[i] + 1

    @T.macro
    def outer(X):
        for i in range(4):
            inner(X, i)
        inner(X, 0)

    @T.prim_func
    def nested(A: T.Buffer((4,), "int32")):
        outer(A)

    return nested


@marked("run")
def meta_inline():
    @T.inline
    def twice(X, i):
        X[i] = X[i] * 2

    @T.prim_func
    def inlined(A: T.Buffer((4,), "int32")):
        for i in range(4):
            twice(A, i)

    return inlined


def _scaled(n, dtype, factor):
    @T.prim_func
    def scaled(A: T.Buffer((n,), dtype), B: T.Buffer((n,), dtype)):
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.Cast(dtype, factor)

    return scaled


@marked("run")
def meta_factory():
    return _scaled(16, "float64", 3)


@marked("run")
def meta_factory_two_levels():
    def outer(n):
        def inner(dtype):
            @T.prim_func
            def made(A: T.Buffer((n, 2), dtype)):
                for i, j in T.grid(n, 2):
                    A[i, j] = A[i, j] + A[i, j]

            return made

        return inner

    return outer(3)("float32")


@marked("run")
def meta_module_factory():
    functions = {}
    for n in (2, 4):

        @T.prim_func
        def f(A: T.Buffer((n,), "int32")):
            for i in range(n):
                A[i] = n

        functions[f"f{n}"] = f.with_attr("global_symbol", f"f{n}")
    return ts.IRModule({"main": functions["f4"].with_attr("global_symbol", "main")})


@marked("run")
def meta_specialized_size():
    @T.prim_func
    def generic(a: T.handle, b: T.handle, n: T.int32):
        A = T.match_buffer(a, (n, 4), "float32")
        B = T.match_buffer(b, (n, 4), "float32")
        for i, j in T.grid(n, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

    return generic.specialize({generic.params[2]: 8})


@marked("run")
def meta_index_map():
    swap = T.index_map(lambda i, j: (j, i))

    @T.prim_func
    def mapped(A: T.Buffer((4, 6), "int32"), B: T.Buffer((6, 4), "int32")):
        for i, j in T.grid(4, 6):
            B[swap.map_indices([i, j])] = A[i, j]

    return mapped


@marked("run")
def meta_lambda():
    @T.prim_func
    def lambdas(A: T.Buffer((8,), "int32")):
        for i in range(8):
            f = T.meta_var(lambda x: x * x + 1)
            A[i] = f(A[i])

    return lambdas


@marked("run")
def meta_partial_function():
    scale = functools.partial(lambda k, x: k * x, 5)

    @T.prim_func
    def partial(A: T.Buffer((8,), "int32")):
        for i in range(8):
            A[i] = scale(A[i])

    return partial


@marked("run")
def meta_object_attributes():
    class Config:
        n = 8
        dtype = "int32"
        offsets = (1, 2)

    config = Config()

    @T.prim_func
    def configured(A: T.Buffer((config.n,), config.dtype)):
        for i in range(config.n):
            A[i] = A[i] + config.offsets[1]

    return configured


@marked("run")
def meta_numpy_values():
    import numpy as np

    n = np.int64(8)
    factor = np.float32(0.5)

    @T.prim_func
    def with_numpy(A: T.Buffer((int(n),), "float32")):
        for i in range(int(n)):
            A[i] = A[i] * factor

    return with_numpy


@marked("run")
def meta_renamed_imports():
    from tirscript.script import tir as tt

    @tt.prim_func
    def renamed(A: tt.Buffer((8,), "int32")):
        for i in tt.serial(8):
            with tt.block("A"):
                vi = tt.axis.spatial(8, i)
                A[vi] = tt.max(vi, 3)

    return renamed


@marked("run")
def meta_captured_buffer_name():
    def stage(name):
        @T.prim_func
        def staged(A: T.Buffer((4,), "int32")):
            for i in range(4):
                with T.block(name):
                    vi = T.axis.spatial(4, i)
                    A[vi] = A[vi] - 1

        return staged

    return stage("stage_7")


@marked("run")
def meta_module_class():
    @I.ir_module
    class Module:
        @T.prim_func
        def main(A: T.Buffer((N,), "int32")):
            for i in range(N):
                A[i] = N - i

    return Module


@marked("run")
def meta_bool_mixing():
    flag = True

    @T.prim_func
    def mixing(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
        for i in range(4):
            B[i] = 0
            if (flag and not (A[i] > 0)) or not flag:
                B[i] = 1

    return mixing


@marked("run")
def meta_with_attr():
    @T.prim_func
    def plain(A: T.Buffer((4,), "int32")):
        A[0] = 1

    return plain.with_attr({"tir.noalias": True, "level": 2})


TEXT = """
#: meta_keyword_names run
@T.prim_func
def awkward(lambda_: T.Buffer((4,), "int32"), list: T.Buffer((4,), "int32"), print: T.Buffer((4,), "int32")):
    for str in range(4):
        with T.block("np"):
            max_ = T.axis.spatial(4, str)
            print[max_] = lambda_[max_] + list[max_]

#: meta_unicode_names run
@T.prim_func
def größe(Ä: T.Buffer((4,), "int32"), β: T.Buffer((4,), "int32")):
    for ι in range(4):
        β[ι] = Ä[ι] + 1

#: meta_underscore_names run
@T.prim_func
def _private(_A: T.Buffer((4,), "int32"), __B: T.Buffer((4,), "int32")):
    for _i in range(4):
        __B[_i] = _A[_i]
"""

MADE = [f for name, f in list(globals().items()) if name.startswith("meta_") and callable(f)]
