"""What programs of the corpus compute, written with NumPy: each changes its arguments as the program does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

REFERENCES: dict[str, Callable[..., Any]] = {}


def reference(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            REFERENCES[name] = function
        return function

    return add


def sets(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For programs that write their last argument: what is written, as a function of the others."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        def write(*args: Any) -> None:
            args[-1][...] = function(*args[:-1])

        return reference(*names)(write)

    return add


sets("buffer_tuple_shape", "buffer_symbolic_strides", "buffer_offset_factor", "block_where")(lambda a: a)
sets("buffer_subscript_annotation", "symbolic_shape_attribute", "meta_index_map")(lambda a: a.T)
sets("buffer_int_shape")(lambda a: a[::-1])
sets("buffer_list_shape")(lambda a: a * 0.5)
sets("buffer_default_dtype")(lambda a: a * a)
sets("buffer_decl_view_offset")(lambda a: a[1])
sets("buffer_decl_view_strides")(lambda a: np.diagonal(a))
sets("buffer_decl_in_with")(lambda a: a.reshape(4, 4).T)
sets("buffer_region_match")(lambda a: a + 1)
sets("buffer_rank0")(lambda a: a.sum())
sets("buffer_zero_extent")(lambda a: np.full(4, 7, "float32"))
sets("buffer_rank0_alloc")(lambda a: a - a.sum() / 8)
sets("block_axes_spelled_out", "tvm27_sblock")(lambda a: a.sum(1))
sets("block_axes_short")(lambda a: a.max(1))
sets("block_scan_axis")(lambda a: np.concatenate([[0], np.cumsum(a)]))
sets("block_where_conjunction")(lambda a: a.sum(1))
sets("block_reduction_outside_spatial")(lambda a: 10 - a.sum(0))
sets("block_empty_reduction")(lambda: 3)
sets("block_two_reductions")(lambda a: np.maximum(a.max((1, 2)), -10))
sets(
    "block_nested_reduction",
    "symbolic_matmul",
    "kernel_tiled_matmul",
    "kernel_packed_matmul",
    "gpu_bound_matmul",
)(lambda a, b: a @ b)
sets("block_where_without_reduction_guard")(lambda a: a.sum(1) + 5)
sets("block_rfactor_shape")(lambda a: a.sum(1))
sets("expr_floor_division")(lambda a, b: np.stack([a // b, a % b, a // 3, a % -3]))
sets("expr_truncating_division")(
    lambda a, b: np.stack(
        [
            [int(x / y) if y else 0 for x, y in zip(a.tolist(), b.tolist(), strict=True)],
            [int(math.fmod(x, y)) if y else 0 for x, y in zip(a.tolist(), b.tolist(), strict=True)],
            [int((i - 4) / 3) for i in range(8)],
        ]
    )
)
sets("expr_select")(np.abs)
sets("expr_conditional")(lambda a: np.where(a > 0, a, a * np.float32(0.1)))
sets("expr_if_then_else")(lambda a: np.pad(a, 1))
sets("math_gelu")(lambda a: 0.5 * a * (1 + np.vectorize(math.erf)(a / math.sqrt(2))))
sets("math_log_sum_exp")(lambda a: np.log(np.exp(a).sum(1)))
sets("kernel_mm_relu")(lambda a, b: np.maximum(a @ b, 0))
sets("kernel_int8_matmul")(lambda a, b: a.astype("int32") @ b.astype("int32").T)
sets("kernel_max_pool")(lambda a: a.reshape(2, 4, 2, 4, 2).max((2, 4)))
sets("kernel_average_pool")(lambda a: a.reshape(2, 2, 3, 2, 3).mean((2, 4)))
sets("kernel_softmax")(
    lambda a: np.exp(a - a.max(1, keepdims=True)) / np.exp(a - a.max(1, keepdims=True)).sum(1, keepdims=True)
)
sets("kernel_layer_norm")(
    lambda a, g, b: (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5) * g + b
)
sets("kernel_blur_computed_at")(lambda a: sliding_window_view(a, (3, 3)).sum((2, 3)))
sets("kernel_blur_inlined")(lambda a: sliding_window_view(a, (3, 3)).sum((2, 3)) / 9)
sets("kernel_embedding")(lambda j, w: w[j])
sets("kernel_concatenate")(lambda a, b: np.concatenate([a, b], 1))
sets("kernel_layout_transform")(lambda a: a.reshape(1, 2, 4, 3, 3).transpose(0, 1, 3, 4, 2))
sets("kernel_axpy_scalar")(lambda alpha, x: None)
sets("kernel_dot_product_vector_accumulators")(lambda a, b: a @ b)
sets("algo_cumulative_sum_rows")(lambda a: np.cumsum(a, 1))
sets("algo_newton")(np.sqrt)
sets("algo_life")(
    lambda a: [
        [
            int(n == 3 or (n == 2 and a[i, j] == 1))
            for j in range(8)
            for n in [sum(int(a[(i + y) % 8, (j + x) % 8]) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)]
        ]
        for i in range(8)
    ]
)
sets("symbolic_vector")(lambda a: a + 1)
sets("symbolic_ceildiv")(lambda a: [a[i : i + 4].sum() for i in range(0, len(a), 4)])
sets("symbolic_row_sums")(lambda a: a.sum(1))
sets("symbolic_difference")(np.diff)
sets("tvm27_nested_sblock")(lambda a: a)


@reference("kernel_axpy_scalar")
def axpy(alpha, x, y):
    y += np.float32(alpha) * x


@sets("kernel_conv2d")
def conv2d(a, w):
    return np.einsum("ncyxrs,fcrs->nfyx", sliding_window_view(a, (3, 3), (2, 3)), w)


@sets("kernel_conv2d_padded_strided")
def conv2d_strided(a, w):
    windows = sliding_window_view(np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))[:, :, ::2, ::2]
    return np.einsum("ncyxrs,fcrs->nfyx", windows, w)


@sets("kernel_depthwise")
def depthwise(a, w):
    return np.einsum("cyxrs,crs->cyx", sliding_window_view(a, (3, 3), (1, 2)), w)


@sets("kernel_conv_transposed")
def conv_transposed(a, w):
    stretched = np.zeros(9, "float32")
    stretched[::2] = a
    return np.convolve(stretched, w)


@sets("kernel_attention")
def attention(q, k, v):
    scores = np.where(np.arange(6) <= np.arange(4)[:, None] + 2, q @ k.T / math.sqrt(8), -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights @ v / weights.sum(1, keepdims=True)


@reference("kernel_stencil_5_point")
def stencil(a, b):
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


@sets("kernel_dequantize_int4")
def dequantize(w, s):
    nibbles = w[:, :, None] >> (np.arange(8, dtype="uint32") * 4) & 15
    return (nibbles.reshape(4, 16).astype("float32") - 8) * s


@reference("algo_bubble_sort")
def bubble_sort(a):
    a.sort()


@reference("algo_sieve")
def sieve(p):
    p[:] = [n > 1 and all(n % d for d in range(2, n)) for n in range(50)]


@reference("algo_argmax")
def argmax(a, j, v):
    j[:] = a.argmax(1)
    v[:] = a.max(1)


@reference("algo_fibonacci")
def fibonacci(f):
    a, b = 0, 1
    for i in range(20):
        f[i] = a % 65536
        a, b = b, a + b


@reference("algo_matrix_power")
def matrix_power(a, r):
    r[...] = np.linalg.matrix_power(a, 5)


@reference("algo_crc")
def crc(a, c):
    import zlib

    c[0] = zlib.crc32(a.tobytes()) ^ 0xFFFFFFFF


@reference("algo_compaction")
def compact(a, o, n):
    kept = a[a > 0]
    o[: len(kept)] = kept
    n[0] = len(kept)


@reference("algo_warshall")
def warshall(d):
    for k in range(5):
        d[...] = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])


@reference("algo_binary_search")
def binary_search(o, x):
    o[:2] = next(i for i in range(101) if i * i >= x or i == 100)
    low, high = 0, 100
    while low < high:
        o[2] = (low + high) // 2
        low, high = (o[2] + 1, high) if o[2] ** 2 < x else (low, o[2])


@reference("block_domain_pair_offset")
def sums_of_three(a, b):
    b[1:-1] = a[:-2] + a[1:-1] + a[2:]


@reference("algo_gcd")
def gcd(a, b, o):
    o[:] = np.gcd(a, b)
    a[:], b[:] = o, 0


@reference("loop_while")
def collatz(a, n):
    a[0], n[0] = 1, 111


@reference("loop_break")
def first_negative(a, n):
    below = np.flatnonzero(a < 0)
    n[0] = below[0] if len(below) else -1


@reference("stmt_return_evaluate")
def product(n, m):
    return n * m


@reference("meta_macro_hygienic")
def hygienic(a):
    a[:] = 7


@reference("meta_python_function_in_expression")
def polynomial(a, b):
    b[:] = ((1 * a + 2) * a + 3) * a + 4


from . import references_more as _more  # noqa: E402, F401  adds its own
