"""Tensor cores: WMMA fragments of 16x16x16, and ``mma.sync`` of m16n8k16 with ``ldmatrix``.

Descriptions and names are TVM's.  A fragment of WMMA is opaque; its number in the buffer is worked out from
the offset.  For ``mma.sync`` the registers of a warp are a buffer of 32 lanes by 8 values, and a 16x16 tile
lies there as ``shared_16x16_to_ldmatrix_32x8_layout`` says (PTX: matrix fragments for m16n8k16).
"""

from __future__ import annotations

from collections.abc import Iterator

from .text import enter

DTYPES = {"f16": "float16", "f32": "float32", "s8": "int8", "s32": "int32"}
_ZERO = {"float16": "T.float16(0)", "float32": "T.float32(0)", "int32": "T.int32(0)"}


def shared_16x16_to_ldmatrix_32x8_layout(i: int, j: int) -> tuple[int, int]:
    """Lane and register of element ``(i, j)`` of a 16x16 tile.

    >>> shared_16x16_to_ldmatrix_32x8_layout(9, 3)
    (5, 3)
    """
    return 4 * (i % 8) + (j % 8) // 2, 4 * (j // 8) + (i // 8) * 2 + j % 2


def ldmatrix_32x8_to_shared_16x16_layout(thread_id: int, local_id: int) -> tuple[int, int]:
    """The element of a 16x16 tile that a lane has in a register.

    >>> ldmatrix_32x8_to_shared_16x16_layout(5, 3)
    (9, 3)
    """
    row = 8 * (local_id % 4 // 2) + thread_id // 4
    return row, 8 * (local_id // 4) + thread_id % 4 * 2 + local_id % 2


def _tail(scope: str) -> str:
    return scope.replace(".", "_")


def _frame(name: str, parameters: list[str], body: str) -> str:
    return f'@T.prim_func\ndef {name}({", ".join(parameters)}):\n    with T.block("root"):\n{body}\n'


def _buffer(name: str, shape: str, dtype: str, scope: str, strides: str = "", factor: int = 16) -> str:
    said = f", strides=[{strides}]" if strides else ""
    factored = f", offset_factor={factor}" if factor else ""
    return f'{name}: T.Buffer({shape}, "{dtype}"{said}, scope="{scope}"{factored})'


# ---- WMMA


def _fragment(name: str) -> str:
    """The number of the fragment that a view is: the buffer is cut into tiles of 16x16."""
    offset, row = f"{name}.elem_offset", f"{name}.strides[0]"
    return f"{offset} // {row} // 16 * ({row} // 16) + {offset} % {row} // 16"


def _both(
    name: str, kinds: list[tuple[str, str, str]], strides: str, desc: str, impl: str
) -> tuple[str, str]:
    """Description and implementation over tiles; ``kinds`` are name, dtype and scope of the buffers."""
    square = "(16, 16)"
    plain = [_buffer(n, square, dtype, scope) for n, dtype, scope in kinds]
    strided = [
        _buffer(n, square, dtype, scope, f'"{strides}{k}_0", "{strides}{k}_1"')
        for k, (n, dtype, scope) in enumerate(kinds)
    ]
    return _frame(f"{name}_desc", plain, desc), _frame(f"{name}_impl", strided, impl)


def _copy(source: str, target: str, block: str) -> str:
    return f"""
        T.reads({source}[0:16, 0:16])
        T.writes({target}[0:16, 0:16])
        for i, j in T.grid(16, 16):
            with T.block("{block}"):
                vi, vj = T.axis.remap("SS", [i, j])
                {target}[vi, vj] = {source}[vi, vj]"""


def wmma_load(dtype: str, scope: str, is_b: bool, col_major: bool) -> tuple[str, str]:
    """A tile of shared memory to a fragment."""
    matrix = "wmma.matrix_b" if is_b else "wmma.matrix_a"
    order = "col_major" if col_major else "row_major"
    impl = f"""
        T.reads(A[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.evaluate(T.tvm_load_matrix_sync(
            C.data, 16, 16, 16, {_fragment("C")}, A.access_ptr("r"), A.strides[0], "{order}"))"""
    kinds = [("A", dtype, scope), ("C", dtype, matrix)]
    return _both("wmma_load", kinds, "s", _copy("A", "C", "load"), impl)


def wmma_store(dtype: str, scope: str) -> tuple[str, str]:
    """A fragment to memory."""
    impl = f"""
        T.reads(A[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.evaluate(T.tvm_store_matrix_sync(
            A.data, 16, 16, 16, {_fragment("A")}, C.access_ptr("w"), C.strides[0], "row_major"))"""
    kinds = [("A", dtype, "wmma.accumulator"), ("C", dtype, scope)]
    return _both("wmma_store", kinds, "s", _copy("A", "C", "store"), impl)


def wmma_fill(dtype: str) -> tuple[str, str]:
    """A fragment of zeros."""
    desc = f"""
        T.reads()
        T.writes(C[0:16, 0:16])
        for i, j in T.grid(16, 16):
            with T.block("init"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = {_ZERO[dtype]}"""
    impl = f"""
        T.reads()
        T.writes(C[0:16, 0:16])
        T.evaluate(T.tvm_fill_fragment(C.data, 16, 16, 16, {_fragment("C")}, {_ZERO[dtype]}))"""
    return _both("wmma_fill", [("C", dtype, "wmma.accumulator")], "d", desc, impl)


def _cast(dtype: str, to: str, value: str) -> str:
    return value if dtype == to else f'T.Cast("{to}", {value})'


def wmma_sync(dtype: str, out: str, b_transposed: bool) -> tuple[str, str]:
    """``C += A @ B`` of fragments."""
    b = "B[vj, vk]" if b_transposed else "B[vk, vj]"
    product = f"{_cast(dtype, out, 'A[vi, vk]')} * {_cast(dtype, out, b)}"
    regions = """
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])"""
    desc = f"""{regions}
        for i, j, k in T.grid(16, 16, 16):
            with T.block("sync"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + {product}"""
    c = _fragment("C")
    impl = f"""{regions}
        T.evaluate(T.tvm_mma_sync(
            C.data, {c}, A.data, {_fragment("A")}, B.data, {_fragment("B")}, C.data, {c}))"""
    kinds = [("A", dtype, "wmma.matrix_a"), ("B", dtype, "wmma.matrix_b"), ("C", out, "wmma.accumulator")]
    return _both("wmma_sync", kinds, "t", desc, impl)


# ---- mma.sync


def _lane(i: str, j: str) -> str:
    """The layout function as script."""
    return f"4 * ({i} % 8) + {j} % 8 // 2, 4 * ({j} // 8) + {i} // 8 * 2 + {j} % 2"


def ldmatrix(scope: str, is_b: bool, transposed: bool) -> tuple[str, str]:
    """Four 8x8 matrices of shared memory to the registers of a warp.

    Of ``B`` the tile is read transposed, as ``mma`` wants its columns; a tile that is stored the other way
    round is read the other way round.
    """
    warp = _buffer("warp", "(32, 8)", "float16", "warp")
    desc = f"""
        T.reads(shared[0:16, 0:16])
        T.writes(warp[0:32, 0:8])
        for i, j in T.grid(16, 16):
            with T.block("shared_warp"):
                vi, vj = T.axis.remap("SS", [i, j])
                warp[{_lane("vi", "vj")}] = shared[vi, vj]"""
    across = "s0 * 8 * (tx // 16) + s0 * (tx % 8) + 8 * (tx % 16 // 8)"
    along = "s0 * (tx % 16) + 8 * (tx // 16)"
    impl = f"""
        T.reads(shared[0:16, 0:16])
        T.writes(warp[0:32, 0:8])
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            T.evaluate(T.ptx_ldmatrix(
                "float16", T.bool({is_b != transposed}), 4, ".b16", warp.data, warp.elem_offset + 8 * tx,
                shared.access_ptr("r"), {across if transposed else along}))"""
    return (
        _frame("ldmatrix_desc", [warp, _buffer("shared", "(16, 16)", "float16", scope)], desc),
        _frame("ldmatrix_impl", [warp, _buffer("shared", "(16, 16)", "float16", scope, '"s0", 1')], impl),
    )


def mma_sync(out: str, a_transposed: bool, b_transposed: bool) -> tuple[str, str]:
    """``C += A @ B`` of tiles of 16x16: two instructions of m16n8k16."""
    a = f"A[{_lane('vk', 'vi') if a_transposed else _lane('vi', 'vk')}]"
    b = f"B[{_lane('vj', 'vk') if b_transposed else _lane('vk', 'vj')}]"
    c = f"C[{_lane('vi', 'vj')}]"
    regions = """
        T.reads(C[0:32, 0:8], A[0:32, 0:8], B[0:32, 0:8])
        T.writes(C[0:32, 0:8])"""
    desc = f"""{regions}
        for i, j, k in T.grid(16, 16, 16):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                {c} = {c} + {_cast("float16", out, a)} * {_cast("float16", out, b)}"""
    kind = "fp32" if out == "float32" else "fp16"
    calls = "".join(
        f"""
            T.evaluate(T.ptx_mma(
                "{out}", "m16n8k16", "row", "col", "fp16", "fp16", "{kind}", A.data, A.elem_offset + tx * 8,
                B.data, B.elem_offset + tx * 8{more}, C.data, C.elem_offset + tx * 8{more}, T.bool(False)))"""
        for more in ("", " + 4")
    )
    impl = f"""{regions}
        for tx in T.thread_binding(32, thread="threadIdx.x"):{calls}"""
    kinds = [("A", "float16"), ("B", "float16"), ("C", out)]
    parameters = [_buffer(n, "(32, 8)", dtype, "warp") for n, dtype in kinds]
    return _frame("mma_sync_desc", parameters, desc), _frame("mma_sync_impl", parameters, impl)


def mma_fill(dtype: str) -> tuple[str, str]:
    """The registers of a warp set to zero."""
    desc = f"""
        T.reads()
        T.writes(C_warp[0:32, 0:8])
        for i, j in T.grid(16, 16):
            with T.block("C_warp"):
                vi, vj = T.axis.remap("SS", [i, j])
                C_warp[{_lane("vi", "vj")}] = {_ZERO[dtype]}"""
    impl = f"""
        T.reads()
        T.writes(C_warp[0:32, 0:8])
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            T.evaluate(T.mma_fill("{dtype}", 8, C_warp.data, C_warp.elem_offset))"""
    warp = _buffer("C_warp", "(32, 8)", dtype, "warp", factor=1)
    return _frame("mma_fill_desc", [warp], desc), _frame("mma_fill_impl", [warp], impl)


def mma_store(dtype: str, scope: str, simple: bool) -> tuple[str, str]:
    """The registers of a warp to memory; ``simple`` says it by loads and stores."""
    regions = """
        T.reads(C_warp[0:32, 0:8])
        T.writes(C[0:16, 0:16])"""
    desc = f"""{regions}
        for i, j in T.grid(16, 16):
            with T.block("C_warp"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = C_warp[{_lane("vi", "vj")}]"""
    body = f"""
            T.evaluate(T.mma_store(
                "{dtype}", 16, 16, C.access_ptr("w"), C_warp.data, C_warp.elem_offset, s0))"""
    if simple:
        body = """
            for r in range(8):
                C[8 * (r % 4 // 2) + tx // 4, 8 * (r // 4) + tx % 4 * 2 + r % 2] = C_warp[tx, r]"""
    impl = f"""{regions}
        for tx in T.thread_binding(32, thread="threadIdx.x"):{body}"""
    warp = _buffer("C_warp", "(32, 8)", dtype, "warp", factor=1)
    tile = _buffer("C", "(16, 16)", dtype, scope, factor=1)
    strided = _buffer("C", "(16, 16)", dtype, scope, '"s0", 1', factor=1)
    return _frame("mma_store_desc", [warp, tile], desc), _frame("mma_store_impl", [warp, strided], impl)


# ---- names


def _wmma() -> Iterator[tuple[str, tuple[str, str]]]:
    shape = "16x16x16"
    for short in ("f16", "s8"):
        dtype = DTYPES[short]
        for scope in ("shared", "shared.dyn"):
            for is_b in (False, True):
                for trans in (False, True):
                    name = f"{'b' if is_b else 'a'}{'_trans' if trans else ''}_{_tail(scope)}"
                    yield f"wmma_load_{shape}_{short}_{name}", wmma_load(dtype, scope, is_b, trans)
    for short in ("f32", "f16", "s32"):
        yield f"wmma_fill_{shape}_{short}", wmma_fill(DTYPES[short])
        for scope in ("shared", "shared.dyn", "global"):
            yield f"wmma_store_{shape}_{short}_{_tail(scope)}", wmma_store(DTYPES[short], scope)
    for a, c in (("f16", "f32"), ("f16", "f16"), ("s8", "s32")):
        for trans in (False, True):
            name = f"wmma_sync_{shape}_{a}{a}{c}{'_trans' if trans else ''}"
            yield name, wmma_sync(DTYPES[a], DTYPES[c], trans)


def _mma() -> Iterator[tuple[str, tuple[str, str]]]:
    for scope, tail in (("shared", ""), ("shared.dyn", "_dyn")):
        for is_b in (False, True):
            for trans in (False, True):
                name = f"mma_ldmatrix_f16_{'b' if is_b else 'a'}{'_trans' if trans else ''}{tail}"
                yield name, ldmatrix(scope, is_b, trans)
    for short in ("f32", "f16"):
        for trans_a in (False, True):
            for trans_b in (False, True):
                name = f"mma_f16f16{short}{'_trans_a' if trans_a else ''}{'_trans_b' if trans_b else ''}"
                yield name, mma_sync(DTYPES[short], trans_a, trans_b)
        yield f"mma_fill_16x16_{short}", mma_fill(DTYPES[short])
        yield f"mma_store_16x16_{short}_global_", mma_store(DTYPES[short], "global", False)
        yield f"mma_store_16x16_{short}_shared_dyn_", mma_store(DTYPES[short], "shared.dyn", False)
        yield f"mma_store_16x16_{short}_shared_dyn_simple_", mma_store(DTYPES[short], "shared.dyn", True)


def get_wmma_intrin_group(
    load_scope: str, store_scope: str, in_dtype: str, out_dtype: str, trans_b: bool = False
) -> dict[str, str]:
    """The names of the intrinsics of one matrix product: init, load_a, load_b, compute, store.

    >>> get_wmma_intrin_group("shared", "global", "float16", "float32")["load_b"]
    'wmma_load_16x16x16_f16_b_shared'
    """
    short = {v: k for k, v in DTYPES.items()}
    a, c = short[in_dtype], short[out_dtype]
    trans = "_trans" if trans_b else ""
    load = f"wmma_load_16x16x16_{a}_"
    return {
        "init": f"wmma_fill_16x16x16_{c}",
        "load_a": f"{load}a_{_tail(load_scope)}",
        "load_b": f"{load}b{trans}_{_tail(load_scope)}",
        "compute": f"wmma_sync_16x16x16_{a}{a}{c}{trans}",
        "store": f"wmma_store_16x16x16_{c}_{_tail(store_scope)}",
    }


def get_mma_intrin_group(
    load_scope: str, store_scope: str, out_dtype: str, trans_a: bool = False, trans_b: bool = False
) -> dict[str, str]:
    """The same for ``mma.sync`` of float16.

    >>> get_mma_intrin_group("shared.dyn", "global", "float32", trans_b=True)["compute"]
    'mma_f16f16f32_trans_b'
    """
    c = {v: k for k, v in DTYPES.items()}[out_dtype]
    a_trans, b_trans = "_trans" if trans_a else "", "_trans" if trans_b else ""
    dyn = "_dyn" if load_scope == "shared.dyn" else ""
    both = ("_trans_a" if trans_a else "") + ("_trans_b" if trans_b else "")
    return {
        "init": f"mma_fill_16x16_{c}",
        "load_a": f"mma_ldmatrix_f16_a{a_trans}{dyn}",
        "load_b": f"mma_ldmatrix_f16_b{b_trans}{dyn}",
        "compute": f"mma_f16f16{c}{both}",
        "store": f"mma_store_16x16_{c}_{_tail(store_scope)}_",
    }


def register() -> None:
    """Enter the names."""
    for name, (desc, impl) in (*_wmma(), *_mma()):
        enter(name, desc, impl)


__all__ = [
    "get_mma_intrin_group", "get_wmma_intrin_group", "ldmatrix", "ldmatrix_32x8_to_shared_16x16_layout",
    "mma_fill", "mma_store", "mma_sync", "register", "shared_16x16_to_ldmatrix_32x8_layout", "wmma_fill",
    "wmma_load", "wmma_store", "wmma_sync",
]  # fmt: skip
