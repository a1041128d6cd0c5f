# ruff: noqa: E501
"""The constructs of the language and how each is spelled: regular expressions over the corpus's sources."""

CONSTRUCTS: dict[str, tuple[str, ...]] = {
    "module": (r"@I\.ir_module", r"@tvm\.script\.ir_module"),
    "module attributes": (r"I\.module_attrs", r"I\.module_global_infos"),
    "calls between functions": (r"cls = Module", r"cls\.\w+\(", r"Module\.\w+\("),
    "function": (r"@T\.prim_func$", r"private=True", r"s_tir=True", r"check_well_formed=False"),
    "function attributes": (r"T\.func_attr", r"tir\.noalias", r"tirx\.noalias", r"T\.target\("),
    "buffer annotation": (
        r"T\.Buffer\(\(\d", r"T\.Buffer\[\(", r"T\.Buffer\[\d", r"T\.Buffer\(\d", r"T\.Buffer\(\[",
        r"T\.Buffer\(\(\d+,\)\)", r"strides=\[", r"elem_offset=", r"scope=", r"align=", r"offset_factor=",
        r"buffer_type=", r"axis_separators=",
    ),
    "handles": (r"\w: T\.handle[,)]", r"T\.match_buffer\(a", r"T\.handle\(\"float32\", \"global\"\)", r"\"shared\"\)"),
    "scalars": (r"n: T\.int32", r"T\.bool[,)]", r"T\.uint8[,)]", r"T\.float64[,)]"),
    "return": (r"-> T\.int32", r"-> None", r"T\.ret\(", r"T\.evaluate\(T\.ret\(", r"^    return "),
    "symbolic shapes": (r"= T\.int32\(\)", r"= T\.int64\(\)", r"T\.var\(", r"n \* 4,", r"T\.ceildiv\(n", r"is_size_var"),
    "allocation": (
        r"T\.alloc_buffer", r"T\.sblock_alloc_buffer", r"T\.decl_buffer", r"T\.buffer_decl",
        r"= T\.allocate\(", r"with T\.allocate\(", r"= T\.allocate_const", r"with T\.allocate_const",
        r"with T\.decl_buffer",
    ),
    "region match": (r"T\.match_buffer\(A\[", r"strides=\[s0, s1\]", r"strides=\[\"p\""),
    "scopes": (
        r"\"shared\.dyn\"", r"\"local\"", r"\"warp\"", r"wmma\.matrix_a", r"wmma\.matrix_b", r"wmma\.accumulator",
        r"m16n8k8", r"global\.A_reg", r"metal\.simdgroup", r"global\.vtcm",
    ),
    "rank 0 and extents": (r"\[\(\)\]", r"T\.Buffer\(\(\)", r"\(0, 4\)", r"\(1, 8, 1\)"),
    "loops": (
        r"in range\(\d+\)", r"range\(\d+, \d+\)", r"range\(\d+, \d+, \d+\)", r"T\.serial\(\d", r"T\.parallel",
        r"T\.vectorized", r"T\.unroll", r"T\.thread_binding\(\d+, thread=", r"T\.thread_binding\(\d+, \"",
        r"T\.grid\(\d+\)", r"T\.grid\(\d+, ", r"annotations=\{", r"step=", r"for \w+, \*\w+ in",
    ),
    "while and jumps": (r"^ +while ", r"T\.While\(", r"^ +break$", r"^ +continue$", r"T\.break_loop", r"T\.continue_loop"),
    "blocks": (r"T\.block\(", r"T\.sblock\("),
    "axes": (
        r"T\.axis\.spatial", r"T\.axis\.reduce", r"T\.axis\.scan", r"T\.axis\.opaque", r"T\.axis\.S\(",
        r"T\.axis\.R\(", r"T\.axis\.remap\(\"SSR\"", r"spatial\(\(",
    ),
    "block parts": (
        r"T\.reads\(\w", r"T\.reads\(\)", r"T\.reads\(\[", r"T\.writes\(\w", r"T\.writes\(\[", r"T\.where\(",
        r"T\.init\(\)", r"T\.block_attr", r"T\.sblock_attr", r"T\.block\(\"root\"\)", r"T\.block\(\"a block,",
    ),
    "stores": (r"\] = ", *(rf"\] {op}= " for op in (r"\+", "-", r"\*", "//", "%", "<<", ">>", "&", r"\|", r"\^", "/")),
               r"A\[T\.ramp\(", r"A\[0:4\]", r"T\.buffer_store"),
    "lets": (r"\w: T\.int32 = ", r"^ +x = A\[", r"T\.let\(", r"T\.LetStmt", r"T\.Let\(", r"T\.let\["),
    "conditions": (r"^ +if ", r"^ +elif ", r"^ +else:", r"T\.If\(", r"T\.Then\(", r"T\.Else\("),
    "asserts": (r"^ +assert .*, \"", r"T\.Assert\("),
    "evaluate": (r"T\.evaluate\(",),
    "attributes": (r"with T\.attr\(", r"^ +T\.attr\("),
    "threads": (r"= T\.launch_thread\(\"", r"with T\.launch_thread\(", r"T\.env_thread", r"T\.launch_thread\(tx"),
    "realize": (r"with T\.realize\(", r"^ +T\.realize\("),
    "dropped": (r"^ +pass$", r'^ +"""', r"  # "),
    "operators": (
        r" \+ ", r" - ", r" \* ", r" / ", r" // ", r" % ", r" \*\* ", r" << ", r" >> ", r" & ", r" \| ", r" \^ ", r"~",
        r" < ", r" <= ", r" > ", r" >= ", r" == ", r" != ", r" and ", r" or ", r"not ", r"< \w+\[\w+\] <", r" if .* else ",
    ),
    "expression functions": (
        *(
        rf"T\.{n}\("
        for n in ["if_then_else", "Select", "min", "max", "ceildiv", "floordiv", "floormod", "truncdiv", "truncmod", "cast", "Cast", "reinterpret", "float32", "int64", "bool", "float32x4", "Broadcast", "broadcast", "Ramp", "ramp", "Shuffle", "min_value", "max_value", "infinity", "Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max", "EQ", "NE", "LT", "LE", "GT", "GE", "And", "Or", "Not", "IntImm", "FloatImm"]
        ),
        r"\.astype\(", r"float32\(\"inf\"\)", r"float32\(\"nan\"\)",
    ),
    "mathematics": (
        *(
        rf"T\.{n}\("
        for n in ["exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2", "sqrt", "rsqrt", "pow", "sigmoid", "erf", "floor", "ceil", "round", "nearbyint", "trunc", "abs", "fabs", "fmod", "hypot", "ldexp", "copysign", "nextafter", "isnan", "isinf", "isfinite", "popcount", "clz", "fma", "likely"]
        ),
    ),
    "intrinsics": (
        *(
        rf"T\.{n}\("
        for n in ["call_extern", "call_pure_extern", "call_packed", "call_cpacked", "call_llvm_intrin", "call_llvm_pure_intrin", "call_intrin", "address_of", "tvm_access_ptr", "tvm_storage_sync", "tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor", "tvm_warp_activemask", "tvm_thread_allreduce", "comm_reducer", "atomic_add", "tvm_load_matrix_sync", "tvm_mma_sync", "tvm_fill_fragment", "tvm_store_matrix_sync", "ptx_ldmatrix", "ptx_mma", "ptx_cp_async", "ptx_commit_group", "ptx_wait_group", "dp4a", "vectorlow", "vectorhigh", "vectorcombine", "assume", "undef", "q_multiply_shift"]
        ),
        r"\.access_ptr\(\"r\"",
    ),
    "dtypes": tuple(
        rf"\"{n}\""
        for n in ["bool", "int2", "int1", "int4", "int8", "int16", "int32", "int64", "uint1", "uint2", "uint4", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "handle", "float32x4", "int32x16", "e4m3_float8"]
    ),
    "metaprogramming": (
        r"T\.meta_var", r"@T\.macro$", r"@T\.macro\(hygienic=False\)", r"@T\.inline", r"f\"A_\{", r"T\.index_map",
        r"\.specialize\(", r"lambda x: x \* x", r"\*dims",
    ),
}  # fmt: skip

# Operators of the table that are variants of one that the corpus has.
OPERATORS_NOT_WRITTEN = {
    "call_packed_lowered", "call_cpacked_lowered", "tvm_call_packed_lowered", "tvm_call_cpacked_lowered",
    "llvm_lookup_intrinsic_id", "anylist_getitem", "anylist_resetitem", "anylist_setitem_call_packed",
    "anylist_setitem_call_cpacked", "handle_add_byte_offset", "tvm_tuple", "tvm_throw_last_error", "vscale",
    "atomic_max", "atomic_min", "ptx_mma_sp", "ptx_cp_async_bulk", "ptx_cp_async_barrier",
    "ptx_arrive_barrier_expect_tx", "mma_store", "mma_fill", "simdgroup_load", "simdgroup_multiply_accumulate",
    "thread_return", "exp10", "call_intrin",
}  # fmt: skip
