"""Wrong programs of different kinds; the marks show where the first caret belongs.

``«`` and ``»`` stand around the range that the error must point at and are taken out before parsing.
The rendered messages are pinned in ``wrong_programs.txt``.
"""

FUNCTION = """
@T.prim_func
def f(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8,), "int32"), n: T.int32):
"""


def body(*lines: str) -> str:
    """The lines as the body of a function over A (8, 16) float32, B (8,) int32 and the scalar n."""
    return FUNCTION + "".join(f"    {line}\n" for line in lines)


WRONG: dict[str, str] = {
    # Names
    "undefined_name": body("for i in range(8):", "    B[i] = «scal» * 2"),
    "undefined_name_close": body("for index in range(8):", "    B[«indx»] = 2"),
    "unknown_t_name": body("for i in «T.vectorised»(8):", "    B[i] = 2"),
    "unknown_axis_kind": body("with T.block('b'):", "    vi = «T.axis.spacial»(8, 0)", "    B[vi] = 1"),
    "unknown_buffer_member": body("B[0] = T.cast(«A.stride», 'int32')"),
    "loop_variable_after_loop": body("for i in range(8):", "    B[i] = 1", "B[0] = «i»"),
    "axis_outside_its_block": body(
        "for i in range(8):",
        "    with T.block('b'):",
        "        vi = T.axis.spatial(8, i)",
        "        B[vi] = 1",
        "B[«vi»] = 0",
    ),
    "buffer_before_declaration": body("B[0] = T.cast(«Y»[0], 'int32')", "Y = T.alloc_buffer((8,))"),
    "known_tvm_name_not_here": body("«T.ptx.wgmma»(1)"),
    # Python that is no part of the language
    "try": body("«try:»", "    B[0] = 1", "except Exception:", "    B[0] = 2"),
    "import": body("«import math»", "B[0] = 1"),
    "del": body("«del B»"),
    "global": body("«global x»", "B[0] = 1"),
    "nonlocal_yield": body("«yield B[0]»"),
    "walrus": body("B[0] = («x := 3») + 1"),
    "chained_assignment": body("«x = y = B[0]»", "B[0] = x"),
    "match": body("«match n:»", "    case 1:", "        B[0] = 1"),
    "async_function": "\n@T.prim_func\n«async def f(n: T.int32):»\n    T.evaluate(n)\n",
    "nested_def": body("«def g(x):»", "    return x", "B[0] = 1"),
    "nested_class": body("«class C:»", "    pass", "B[0] = 1"),
    "for_else": body("for i in range(8):", "    B[i] = 1", "else:", "    «B[0] = 2»"),
    "while_else": body("while B[0] < 3:", "    B[0] += 1", "else:", "    «B[0] = 2»"),
    "raise": body("«raise ValueError('x')»"),
    "matrix_product": body("B[0] = «n @ n»"),
    "lambda_value": body("B[0] = «lambda x: x»"),
    "list_as_value": body("B[0] = «[1, 2]»"),
    "comparison_is": body("if «n is B»:", "    B[0] = 1"),
    "comparison_in": body("if «n in B»:", "    B[0] = 1"),
    "with_of_something_else": body("with «open('x')»:", "    B[0] = 1"),
    # The function's head
    "default_value": '\n@T.prim_func\ndef f(A: T.Buffer((8,), "float32"), n: T.int32 = «3»):\n    A[0] = 1.0\n',
    "star_args": '\n@T.prim_func\ndef f(A: T.Buffer((8,), "float32"), *«rest»):\n    A[0] = 1.0\n',
    "parameter_without_annotation": "\n@T.prim_func\ndef f(«A»):\n    A[0] = 1.0\n",
    "bad_dtype": '\n@T.prim_func\ndef f(A: T.Buffer((8,), «"flaot32"»)):\n    A[0] = 1.0\n',
    "negative_extent": '\n@T.prim_func\ndef f(A: T.Buffer((8, «-3»), "float32")):\n    A[0, 0] = 1.0\n',
    "float_extent": '\n@T.prim_func\ndef f(A: T.Buffer((«8.5»,), "float32")):\n    A[0] = 1.0\n',
    "undefined_extent": "\n@T.prim_func\ndef f(a: T.handle):\n    A = T.match_buffer(a, («mm», 4))\n    A[0, 0] = 1.0\n",
    "unknown_keyword": '\n@T.prim_func\ndef f(A: T.Buffer((8,), "float32", «scop="local"»)):\n    A[0] = 1.0\n',
    "match_of_no_parameter": body("X = T.match_buffer(«n», (8,))", "X[0] = 1.0"),
    "return_in_the_middle": body(
        "for i in range(8):", "    if B[i] > 3:", "        «return B[i]»", "    B[i] = 1"
    ),
    # Assignments and buffers
    "assignment_to_loop_variable": body("for i in range(8):", "    «i» = 3", "    B[0] = i"),
    "second_assignment": body("x = B[0]", "«x» = B[1]", "B[2] = x"),
    "augmented_let": body("x = B[0]", "«x» += 1", "B[2] = x"),
    "too_few_indices": body("«A[0]» = 1.0"),
    "too_many_indices": body("B[0] = «B[0, 1]»"),
    "index_of_float": body("B[«1.5»] = 1"),
    "index_beyond_the_end": body("B[«8»] = 1"),
    "negative_index": body("B[0] = B[«-1»]"),
    "store_to_a_scalar": body("«n» = 3", "B[0] = n"),
    "constant_does_not_fit": body("B[0] = «2147483648»"),
    "vector_lengths": body("B[0:4] = «B[0:3]»"),
    "load_of_a_number": body("B[0] = «n[0]»"),
    # Arithmetic
    "integer_division": body("B[0] = «B[1] / 2»"),
    "bits_of_float": body("B[0] = T.cast(«A[0, 0] & 1», 'int32')"),
    "and_of_ints": body("if «B[0]» and n:", "    B[0] = 1"),
    "float16_with_bfloat16": body(
        "x = T.cast(A[0, 0], 'float16')",
        "y = T.cast(A[0, 0], 'bfloat16')",
        "A[0, 0] = T.cast(«x + y», 'float32')",
    ),
    "string_in_arithmetic": body("B[0] = «B[1] + 'x'»"),
    "arity_of_intrinsic": body("A[0, 0] = T.exp(A[0, 1], «A[0, 2]»)"),
    "unknown_keyword_of_loop": body("for i in T.serial(8, «annotation={}»):", "    B[i] = 1"),
    # Blocks
    "remap_count": body(
        "for i, j in T.grid(8, 16):",
        "    with T.block('b'):",
        "        vi, vj = «T.axis.remap('SS', [i])»",
        "        A[vi, vj] = 1.0",
    ),
    "remap_kind": body(
        "for i in range(8):",
        "    with T.block('b'):",
        "        vi, = T.axis.remap(«'X'», [i])",
        "        B[vi] = 1",
    ),
    "remap_of_expression": body(
        "for i in range(8):",
        "    with T.block('b'):",
        "        vi, = T.axis.remap('S', [«i + 1»])",
        "        B[vi] = 1",
    ),
    "axis_outside_a_block": body("vi = «T.axis.spatial(8, 0)»", "B[vi] = 1"),
    "two_inits": body(
        "with T.block('b'):",
        "    vi = T.axis.reduce(8, 0)",
        "    with T.init():",
        "        B[0] = 0",
        "    with «T.init()»:",
        "        B[0] = 1",
        "    B[0] += vi",
    ),
    "reads_twice": body("with T.block('b'):", "    T.reads(B[0])", "    «T.reads(B[1])»", "    B[0] = 1"),
    "where_of_a_buffer": body("with T.block('b'):", "    T.where(«B»)", "    B[0] = 1"),
    "where_twice": body("with T.block('b'):", "    T.where(n > 1)", "    «T.where(n > 2)»", "    B[0] = 1"),
    "loop_variable_in_block": body(
        "for i in range(8):",
        "    with T.block('b'):",
        "        vi = T.axis.spatial(8, i)",
        "        B[vi] = «i»",
    ),
    "grid_targets": body("for «i, j» in T.grid(8, 16, 4):", "    A[i, j] = 1.0"),
    "conflicting_block_attrs": body(
        "with T.block('b'):", "    T.block_attr({'k': 1})", "    T.block_attr(«{'k': 2}»)", "    B[0] = 1"
    ),
    "break_outside_a_loop": body("«T.break_loop()»"),
    "init_outside_a_block": body("with «T.init()»:", "    B[0] = 0"),
    "reads_outside_a_block": body("«T.reads(B[0])»", "B[0] = 0"),
    "names_for_axes": body(
        "for i, j in T.grid(8, 16):",
        "    with T.block('b'):",
        "        «va, vb, vc» = T.axis.remap('SS', [i, j])",
        "        A[va, vb] = 1.0",
    ),
    "unpacking_a_value": body("«x, y» = B[0]", "B[1] = x"),
    "negative_unsigned": body("B[0] = T.cast(«T.uint8(-1)», 'int32')"),
    "calling_a_number": body("B[0] = «n»(3)"),
    "f_string_as_value": body("B[0] = «f'{n}'»"),
    "unknown_dtype_of_cast": body("A[0, 0] = T.cast(B[0], «'float31'»)"),
    "lanes_of_zero": body("B[«T.ramp(0, 1, 0)»] = 1"),
    "empty_slice": body("«B[4:4]» = 1"),
    "python_exception": body("B[0] = «[1, 2][5]»"),
    "augmented_undefined": body("«acc» += 1"),
    "thread_binding_without_thread": body("for i in «T.thread_binding(8)»:", "    B[i] = 1"),
    "where_outside_a_block": body("«T.where(n > 1)»", "B[0] = 0"),
    "select_arity": body("B[0] = «T.Select(n > 1, 2)»"),
    "float_loop": body("for i in range(«2.5»):", "    B[i] = 1"),
    "string_store": body("B[0] = «'x'»"),
    "unknown_thread": body("for i in T.thread_binding(8, thread=«'threadIdx.w'»):", "    B[i] = 1"),
    "loop_over_a_buffer": body("for x in «B»:", "    B[0] = x"),
    "literal_step_of_zero": body("for i in range(0, 8, «0»):", "    B[i] = 1"),
}
