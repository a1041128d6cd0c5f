# ruff: noqa: E731
"""More of what programs compute, written with NumPy: constructs of the language, numbers, algorithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .references import reference, sets


def changes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For programs that write their first argument: what it becomes, as a function of all."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        def write(*args: Any) -> None:
            args[0][...] = function(*args)

        return reference(*names)(write)

    return add


each = lambda f: np.vectorize(f, otypes=[float])
count = np.arange

# ---- buffers

sets("buffer_subscript_shape_only")(lambda a: -a)
sets("buffer_align")(lambda a: a + 2)
sets("buffer_match_handle")(lambda a, b: a - b.T)
sets("buffer_alloc_default")(lambda a: (a + 1) * 3)
sets("buffer_alloc_in_inner_block")(lambda a: (a * a).sum(1))
sets("buffer_decl_view_flat")(lambda a: 2 * a.ravel())
sets("buffer_allocate_concise")(lambda a: a[::-1] + 1)
sets("buffer_allocate_const")(lambda: [1, 4, 1, 3])
sets("buffer_buffer_decl")(lambda a: a.ravel())
sets("buffer_region_match_lower_rank")(lambda a: a[:, 0, ::-1])
changes("buffer_region_match_of_view")(lambda a: np.kron([[0, 1], [2, 3]], np.ones((4, 4))))
sets("buffer_unit_extents")(lambda a: a[0])
sets("buffer_seven_dimensions")(lambda a: a[:, 0, :, :, 0] + 1)
sets("buffer_int64_extents")(lambda a: a.ravel())
sets("buffer_vload_vstore")(lambda a: a + 1)
sets("buffer_same_memory_two_views")(lambda a: np.stack([a[:8], a[8:]], 1).ravel())

# ---- loops

changes("loop_range_start")(lambda a: a + np.where((count(12) >= 2) & (count(12) < 10), count(12), 0))
changes("loop_range_step")(lambda a: np.where(count(20) % 3 == 1, count(20), a))
changes("loop_downwards")(lambda a: np.concatenate([a[:1], a[:-1]]))
changes("loop_serial_step_keyword")(lambda a: np.where(count(16) % 4 == 0, count(16), a))
changes("loop_serial_annotated")(lambda a: a * 2)
changes("loop_parallel")(lambda a: a + 1)
changes("loop_parallel_start")(lambda a: np.where((count(16) < 4) | (count(16) >= 12), a, 0))
changes("loop_vectorized")(lambda a, b: a + b)
changes("loop_unroll")(lambda a: a * [1, 2, 3, 4])
changes("loop_grid_one")(lambda a: count(5))
changes("loop_grid_five")(lambda a: np.indices(a.shape).sum(0))
changes("loop_grid_starred")(lambda a: count(24).reshape(2, 3, 4))
changes("loop_triangular")(lambda a: np.where(np.tri(6, dtype=bool), 1, a))
changes("loop_band")(lambda a: np.where(np.abs(np.subtract.outer(count(8), count(8))) <= 1, 2, a))
changes("loop_empty")(lambda a: a)
sets("loop_data_dependent")(lambda p: [k * (k - 1) // 2 for k in p[:8].tolist()])
changes("loop_int64")(lambda a: np.where((count(10) >= 2) & (count(10) < 9), count(10) ** 2, a))
changes("loop_while_frame")(lambda n: 12)
sets("loop_continue")(lambda a: a[a % 2 == 0].sum())
sets("loop_while_break")(lambda a: 8)
changes("loop_underscore")(lambda a: a * 32)
changes("loop_grid_of_expressions")(lambda a: np.subtract.outer(count(12), count(8)))
changes("loop_kinds_mixed")(lambda a: a + 1)
changes("loop_deep")(lambda a: a + sum(x + p + a_ for x in (0, 1) for p in (0, 1) for a_ in (0, 1)) * 128)


@sets("loop_break_call")
def until_large(a):
    total = 0
    for v in a.tolist():
        if v > 5:
            break
        total += max(v, 0)
    return total


@sets("loop_nested_break")
def not_negative_at_first(a):
    return [next((j for j in range(8) if row[j] < 0), 8) for row in a]


@reference("loop_shadowed_name")
def shadowed(a, b):
    a[...] = count(4)[:, None]
    b[:] = count(4)


@reference("loop_siblings")
def siblings(*arrays):
    for a in arrays:
        a[:] = count(len(a))


sets("loop_imperfect_nest")(lambda a: 2 * a.sum(1))

# ---- blocks


@changes("block_opaque_axis")
def mirrored(a):
    b = a.copy()
    for i in range(8):
        b[i] = b[7 - i]
    return b


sets("block_remap_some_loops")(lambda a: a.ravel())
sets("block_remap_and_value", "block_constant_binding")(lambda a: a)
changes("block_domain_pair")(lambda a: np.where((count(10) >= 2) & (count(10) < 8), count(10), a))
changes("block_where_on_values")(lambda a: np.where(count(8) % 2 == 0, 1, a))
sets("block_reversed_reduction")(lambda a: 0.5**8 + (a * 0.5 ** count(8)).sum(1))
changes("block_no_axes")(lambda a: count(4))
changes("block_inside_loop_no_axes")(lambda a: count(4) + 1)
sets("block_nested")(lambda a: 2 * a)
changes("block_three_levels")(
    lambda a: [x * 100 + y * 10 + z for x in (0, 1) for y in (0, 1) for z in (0, 1)]
)
sets("block_regions_slices")(lambda a: a[:, ::-1])
sets("block_regions_list")(lambda a, b: a + b)
changes("block_regions_empty")(lambda a: 1)
sets("block_root_allocations")(lambda a: a)
changes("block_names_not_identifiers")(lambda a: a + 3)
changes("block_same_names")(lambda a: 2)
changes("block_axis_named_as_loop")(lambda a: np.add.outer(count(3) * 10, count(4)))
changes("block_axis_int64")(lambda a: count(8))
changes("block_under_condition")(lambda a: np.where(count(8) < 5, 1, 2))
changes("block_under_let")(lambda a: count(16))
sets("block_siblings_in_loop")(lambda a: (a + 1) ** 2)
sets("block_vectorized_axis")(lambda a: a + 1)
sets("block_init_in_vectorized")(lambda a: a.sum(0))
changes("block_overlapping_windows")(lambda a: count(6))


@reference("block_mixed_with_statements")
def mixed(a, b):
    a[:] = count(8)
    b[:] = 6


# ---- expressions


@sets("expr_brackets")
def brackets(a):
    return np.array([
        [v - (7 - i), v // (5 // (i + 1) + 1), v % (9 % (i + 2) + 1), (v - 3) * (i - 2), v * (i // 2) * 2,
         -(v + i), v + i + 3, v - 1 - (2 - i)]
        for i, v in enumerate(a.tolist())]).T  # fmt: skip


sets("expr_bits")(lambda a, b: np.stack([a & b | 3, (a | b) & 12, a ^ b ^ -1, ~a, a << 3 >> 1, a >> (b & 3)]))
sets("expr_bit_functions")(lambda a, b: np.stack([a & b, a | b, a ^ b, ~a, a << 2, a >> 1]))


@sets("expr_shift_counts")
def shifts(a, s):
    out = np.zeros((2, 8), "int32")
    for i, (v, n) in enumerate(zip(a.tolist(), (s * 8).tolist(), strict=True)):
        inside = 0 <= n < 32
        out[0, i] = np.int64(v << n).astype("int32") if inside else 0
        out[1, i] = v >> n if inside else -(v < 0)
    return out


@reference("expr_ceildiv")
def ceildiv(o, n):
    o[:] = [math.ceil(i / 5) + math.ceil(n / 3) for i in range(12)]


sets("expr_float_operators")(lambda a, b: np.stack([a / b, a - b * a, a / 3, -a]))
sets("expr_float_floor_division")(lambda a, b: np.stack([a // b, a % b]))
sets("expr_comparisons")(lambda a, b: np.stack([a < b, a <= b, a > b, a >= b, a == b, a != b]))
sets("expr_chained_comparison")(
    lambda a: (np.abs(a) < 1) + 2 * ((count(8) >= 2) & (count(8) < 5) & (a != 5) & (a > 0))
)
sets("expr_logic")(lambda a: ((a > 0) & (a % 2 != 0)) | ((count(8) == 3) & ((a < 2) | (a > 5))))
sets("expr_logic_functions")(lambda a, b: (a & ~b) == a)
sets("expr_bool_bits")(lambda a, b: np.stack([a & b, a | b, a ^ b]))
sets("expr_bool_arithmetic")(lambda a: (a > 0).astype(int) + 2 * (a < 3))
sets("expr_nested_conditionals")(lambda a: np.select([a > 3, a > 0, a > -3], [1, 2, 3], 4))
sets("expr_python_min_max")(lambda: np.maximum(count(8), 3) + np.minimum(count(8), 5))


@reference("expr_min_max")
def min_max(a, b):
    np.clip(a, -1, 1, out=a)
    b[:] = np.maximum(np.minimum(b, 5), count(8) - 2)


@reference("expr_abs")
def absolutes(a, b):
    np.abs(a, out=a)
    np.abs(b, out=b)


@reference("expr_int_constants")
def int_constants(o, p, q, r):
    o[:] = [-(2**31), 2**31 - 1, 127, 1000]
    p[:] = [-(2**63), 2**63 - 1, 5, 2**32]
    q[:2] = [255, 7]
    r[:] = [2**64 - 1, 2**63]


@reference("expr_float_constants")
def float_constants(o, p):
    o[:] = np.array(
        [0, -0.0, 1e-5, 0.1, np.inf, -np.inf, np.nan, 3.4028234663852886e38, 1e-45, 2**24, 1e16, 3]
    )
    p[:] = [0.1, 1e-300, 1.7976931348623157e308, np.inf, 123456789012345.678, 5e-324]


sets("expr_bool_constants")(lambda a: [True, False, a[0], a[1], not a[2]])


@reference("expr_limits")
def limits(o, p):
    top = np.finfo("float32").max
    o[:] = [-top, top, np.inf]
    p[:] = [-(2**31), 2**31 - 1, 127, 0]


@reference("expr_casts")
def casts(a, b, o, p):
    o[:] = a.astype(float) + b
    p[:] = np.trunc(a) + b


@reference("expr_cast_narrowing")
def narrowing(a, o, p):
    o[:] = (a * 100).astype("int8")
    p[:] = (a - 5).astype("uint16")


@reference("expr_cast_saturating")
def saturating(a, o, p, q):
    big = (a * np.float32(200)).astype(float)
    o[:] = np.clip(np.trunc(big), -128, 127)
    p[:] = np.clip(np.trunc(big), 0, 255)
    q[:] = np.clip(np.trunc((a * np.float32(1e10)).astype(float)), -(2**31), 2**31 - 1)


sets("expr_astype")(lambda a: a + count(8))
sets("expr_dtype_constructors")(lambda a: a.astype("int64") * 3 + 7 + a.astype("uint8"))


@reference("expr_reinterpret")
def magnitude(a, o, b):
    b[:] = np.abs(a)
    o[:] = b.view("int32")


@reference("expr_promotions")
def promotions(a, b, c, d, o, p):
    o[:] = [a * b, a + 1, a + count(4), b * 0.5, 2 * a - 1]
    wrapped = (b.astype("int64") + d).astype("int16")
    p[:] = [c + b, wrapped, c * 3 + count(4)]


@reference("expr_wraps")
def wraps(a, b, c):
    for x, factor, plus in ((a, 1000000007, 2147483647), (b, 37, -100), (c, 77, 200)):
        bits = 8 * x.itemsize
        whole = [(int(v) * factor + plus) % (1 << bits) for v in x]
        x[:] = np.array(whole, f"uint{bits}").astype(x.dtype)


@sets("expr_exact_indices")
def scattered():
    o = np.zeros(64, "int32")
    for i in range(8):
        for j in range(8):
            o[(i * 8 + j) * 5 % 64] = (i - 4) // 3 * 10 + (j - 4) % 3
    return o


sets("expr_let_expression")(lambda a: (a + 1) ** 2 + a + 1)
sets("expr_vector_int")(lambda a: a * 3 + 2 * count(8))
sets("expr_vector_select")(lambda a: np.maximum(a, 0))
sets("expr_vector_cast")(lambda a: a)
changes("expr_likely")(lambda a: 1)
sets("expr_long_sum")(lambda a: a[0] + a[1] + a[2] - a[3] + sum(range(1, 11)) + sum(range(11, 20)) - 6)


@sets("expr_vector_arithmetic")
def vector_arithmetic(a):
    return np.concatenate([a[:8] * a[8:] + 1, np.maximum(a[:8], a[8:]) - a[3]])


@sets("expr_node_classes")
def node_classes(a):
    out = []
    for i, v in enumerate(a.tolist()):
        r = v + v * (i - 3)
        if v < 0:
            r = v // 2 + v % 3 + min(v, 1) + max(v, 2)
        if v == 1:
            r = 0 + 1
        out.append(r + (v != 2) + (v <= 3) + (v > 4) + (v >= 5))
    return out


@reference("expr_immediates")
def immediates(o, p):
    o[:] = [5, -7]
    p[0] = 0.25


# ---- mathematics


@sets("math_exponentials")
def exponentials(a):
    a = a.astype(float)
    return np.stack([np.exp(a), np.exp2(a), np.sqrt(np.abs(a)), 2 * np.exp(a - 1)])


sets("math_exp10")(lambda a: 10.0 ** a.astype(float))
sets("math_logarithms")(lambda a: np.stack([np.log(a), np.log2(a), np.log10(a), np.log1p(a)]))
sets("math_trigonometry")(
    lambda a: np.stack([np.sin(a), np.cos(a), np.tan(a), np.arcsin(a), np.arccos(a), np.arctan(a),
                        np.arctan2(a, a[::-1])])
)  # fmt: skip
sets("math_hyperbolics")(
    lambda a: np.stack([np.sinh(a), np.cosh(a), np.tanh(a), np.arcsinh(a), np.arccosh(a + 1), np.arctanh(a)])
)
sets("math_roots_and_gates")(
    lambda a: np.stack(
        [a**-0.5, 1 / (1 + np.exp(-a.astype(float))), each(math.erf)(a), a.astype(float) ** 1.5]
    )
)
sets("math_rounding")(lambda a: np.stack([np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), np.abs(a)]))
sets("math_round")(lambda a: np.rint(a * 2) / 2)
sets("math_two_arguments")(
    lambda a, b: np.stack([np.fmod(a, b), np.hypot(a, b), np.copysign(a, b), np.nextafter(a, b),
                           a * 2.0 ** (count(8) - 2)])
)  # fmt: skip
sets("math_classification")(lambda a: np.stack([a != a, np.abs(a) == np.inf, np.zeros(8, bool)]))
sets("math_fma")(lambda a, b: a.astype(float) * b + float(np.float32(0.1)))


@reference("math_bit_counts")
def bit_counts(a, b, o, p):
    for x, out, bits in ((a, o, 32), (b, p, 8)):
        texts = [format(int(v) % (1 << bits), f"0{bits}b") for v in x]
        out[0] = [t.count("1") for t in texts]
        out[1] = [len(t) - len(t.lstrip("0")) for t in texts]


@reference("math_of_integers")
def of_integers(n, m, o, p):
    o[:] = np.exp(n.astype(float))
    p[:] = np.cos(m.astype(float))


changes("intrin_call_pure_extern")(np.abs)
sets("intrin_fixed_point")(lambda a: [math.floor(int(v) * 1395864371 / 2**30 + 0.5) for v in a])

# ---- dtypes


@reference("dtype_all_signed")
def signed(a, b, c, d):
    b[:] = (a.astype(int) * 300).astype("int16")
    c[:] = (b.astype(int) * 70000).astype("int32")
    d[:] = c.astype("int64") * 5_000_000_000


@reference("dtype_all_unsigned")
def unsigned(a, b, c, d):
    b[:] = (a.astype(int) - 300).astype("uint16")
    c[:] = (b.astype(int) * 70000).astype("uint32")
    d[:] = c // 3


@reference("dtype_narrow_ints")
def narrow_ints(a, b, o):
    o[:] = a.astype(int) * b.astype(int)
    a[:] = ((o + 8) % 16 - 8).astype(a.dtype)


@sets("dtype_float16")
def half(a, b):
    product = (a.astype(float) * b.astype(float)).astype("float16")
    return product.astype(float) + float(np.float16(0.1))


@sets("dtype_bfloat16")
def brain(a, b):
    square = (a.astype(float) ** 2).astype("float32").astype(a.dtype)
    return (square.astype("float32") + b.astype(a.dtype).astype("float32")).astype(a.dtype)


sets("dtype_float8")(lambda a, b: a.astype(float) + b.astype(float))
sets("dtype_bool")(np.count_nonzero)
changes("dtype_double")(lambda a, x: a * x + 1e-12)
changes("dtype_string_annotations")(lambda a, n: n)


@reference("dtype_called_annotations")
def called_annotations(n, x, a):
    a[:] = [x, n]


@reference("dtype_mixed_literals")
def mixed_literals(a, b, c):
    a += np.uint8(1)
    b[:] = 2 * b - 3
    c /= 3


# ---- kernels and algorithms

sets("kernel_batch_matmul")(lambda a, b: a @ b)
sets("kernel_half_matmul_float_accumulator")(lambda a, b: a.astype("float32") @ b.astype("float32"))


@reference("kernel_stencil_time_steps")
def heat(a):
    for t in range(5):
        old = a[t % 2].copy()
        a[(t + 1) % 2, 1:-1] = old[1:-1] * 0.5 + (old[:-2] + old[2:]) * 0.25


@sets("kernel_rotary")
def rotary(a):
    angle = 0.1 * count(4)[:, None]
    return np.cos(angle) * a + np.sin(angle) * np.concatenate([-a[:, 4:], a[:, :4]], 1)


@sets("kernel_winograd_tile")
def winograd(d):
    b = np.eye(4)
    b[2, 0], b[3, 2] = -1, 0
    return b.T @ d @ b


@reference("algo_insertion_sort")
def insertion_sort(a, j):
    last = a[-1]
    j[0] = np.count_nonzero(a[:-1] <= last)
    a.sort()


@changes("algo_scan_doubling")
def scan_doubling(a):
    rows = [a[0].copy(), a[1].copy()]
    for s in range(4):
        old = rows[s % 2]
        rows[(s + 1) % 2] = old + np.concatenate([np.zeros(1 << s, int), old[: -(1 << s)]])
    return np.stack(rows)


@reference("algo_gauss_elimination")
def eliminate(a):
    for p in range(4):
        a[p + 1 :] -= np.outer(a[p + 1 :, p] / a[p, p], a[p])


@reference("algo_cholesky")
def cholesky(a, low):
    spd = 10 * np.eye(4) + a * a.T * 0.01
    low[...] = np.linalg.cholesky(spd) + np.triu(spd, 1)


@sets("algo_csr_spmv")
def spmv(p, j, v, x):
    return [sum(v[k] * x[j[k]] for k in range(p[i], p[i + 1])) for i in range(4)]


@reference("algo_mandelbrot")
def mandelbrot(o, z):
    for y in range(6):
        for x in range(6):
            c, w, n = complex(x * 0.5 - 2, y * 0.5 - 1.25), 0j, 0
            while abs(w) < 2 and n < 30:
                w, n = w * w + c, n + 1
            o[y, x] = n
    z[:] = [w.real, w.imag, w.real]


@reference("algo_xorshift")
def xorshift(s, o):
    x, mask = int(s[0]) | 1, (1 << 64) - 1
    for i in range(8):
        x ^= x << 13 & mask
        x ^= x >> 7
        x ^= x << 17 & mask
        o[i] = (x >> 11) * 2.0**-53
    s[0] = x


# ---- symbolic shapes

changes("symbolic_var")(lambda a: count(a.size).reshape(a.shape))
sets("symbolic_int64")(lambda a: a[::-1])
sets("symbolic_multiple")(lambda a: a.reshape(-1, 4))
sets("symbolic_allocation")(lambda a: a * a + 1)
sets("symbolic_split_with_guard", "symbolic_strides_of_two")(lambda a: a)


@reference("symbolic_parameter")
def by_parameter(n, a):
    a[: min(max(n, 0), 16)] = n


@reference("symbolic_parameter_shape")
def doubled(n, a):
    a *= 2
