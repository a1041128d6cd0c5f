"""Programs whose costs are known: bodies of functions."""

# Of arrays A[18] and C[18, 20]: for the interpreter to count.
BODIES = {
    "triangle": "for i in range(18):\n    for j in range(i):\n        C[i, j] = A[i] + A[j]",
    "upper triangle": "for i in range(18):\n    for j in range(i, 20):\n        C[i, j] = A[i] * T.float32(2)",
    "empty for the first rows": "for i in range(18):\n    for j in range(i - 3):\n        C[i, j] = A[j] + A[i]",
    "steps": "for i in range(1, 18, 4):\n    C[i, i] = A[i] + A[i - 1]",
    "diagonal": "for i in range(18):\n    C[i, i] = A[i]",
    "guard": "for i, j in T.grid(18, 20):\n    if i + j < 18:\n        C[i, j] = A[i + j] * A[i]",
    "two guards": "for i, j in T.grid(18, 20):\n    if i < j and j % 3 == 1:\n        C[i, j] = A[i] + A[i]",
    "else": "for i in range(18):\n    if i < 5:\n        C[i, 0] = A[i]\n    else:\n"
    "        C[i, 1] = A[i] * A[i] + A[i]",
    "if_then_else": "for i in range(18):\n"
    "    C[i, 0] = T.if_then_else(1 <= i and i < 17, A[i - 1] + A[i + 1], A[i])",
    "short circuit": "for i in range(18):\n    C[i, 0] = T.Select(i > 3 and A[i] > T.float32(0), A[i], A[0])",
    "convolution": "for i, k in T.grid(16, 3):\n    C[i, 0] = C[i, 0] + A[i + k] * A[k]",
    "dilated": "for i, k in T.grid(4, 3):\n    C[i, 0] = C[i, 0] + A[i + k * 5]",
    "strided": "for i, k in T.grid(4, 2):\n    C[i, 0] = A[i * 4 + k]",
    "digits": "for i_0, i_1 in T.grid(5, 4):\n    if i_0 * 4 + i_1 < 18:\n        C[i_0 * 4 + i_1, 2] = A[i_0 * 4 + i_1]",
    "fused": "for x in range(360):\n    C[x // 20, x % 20] = A[x // 20]",
    "reversed": "for i in range(18):\n    C[17 - i, 3] = A[17 - i] - A[i]",
    "shifted union": "for i in range(1, 17):\n    C[i, 0] = A[i - 1] + A[i] + A[i + 1]",
    "mathematics": "for i in range(18):\n    C[i, 0] = T.exp(A[i]) + T.sqrt(A[i] * A[i]) - T.fabs(A[i])",
    "lets": "for i in range(18):\n    j = i * 2 % 18\n    x = A[j] * A[i]\n    C[j, 0] = x * x",
    "vectors": "for i in range(3):\n    C[i, 0:16] = A[0:16] * T.Broadcast(A[i], 16) + T.Broadcast(T.float32(1), 16)",
    "strided vector": "for i in range(3):\n    C[i, 0:16:2] = A[i * 2:i * 2 + 8]",
    "constant": "C[3, 4] = A[0] + T.float32(1)",
    "empty": "for i in range(0):\n    C[i, 0] = A[i] + A[i]",
    "index arithmetic": "for i in range(18):\n    C[(i * 7 + 3) % 18, i // 2] = T.Cast('float32', i * 3)",
    "block": """
for i_0, i_1 in T.grid(5, 4):
    with T.block("b"):
        vi = T.axis.spatial(18, i_0 * 4 + i_1)
        T.where(i_0 * 4 + i_1 < 18)
        C[vi, 0] = A[vi] * A[vi]""",
    "axis smaller than its loop": """
for i in range(20):
    with T.block("b"):
        vi = T.axis.spatial(18, i)
        C[vi, 0] = A[vi] * A[vi]""",
    "nested blocks": """
for i_0 in range(6):
    with T.block("o"):
        vo = T.axis.spatial(6, i_0)
        for i_1 in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i_1)
                C[vo * 3 + vi, 0] = A[vo * 3 + vi] * A[vo]""",
    "threads": """
for b in T.thread_binding(6, "blockIdx.x"):
    for t in T.thread_binding(3, "threadIdx.x"):
        C[b * 3 + t, 0] = A[b * 3 + t] + A[b]""",
    "scratch": """
B = T.alloc_buffer((18,), "float32")
for i in range(18):
    B[i] = A[i] * T.float32(3)
for i in range(18):
    C[i, 0] = B[i] + T.float32(1)""",
}

# Of an array A[n], with the operations.
SYMBOLIC = {
    "split": ("for i_0, i_1 in T.grid((n + 3) // 4, 4):\n    if i_0 * 4 + i_1 < n:\n"
              "        A[i_0 * 4 + i_1] = A[i_0 * 4 + i_1] * T.float32(2)", "n"),
    "triangle": ("for i in range(n):\n    for j in range(i + 1):\n        A[i] = A[i] + A[j]", "(n**2 + n)/2"),
    "window": ("for i, k in T.grid(n - 2, 3):\n    A[i + k] = A[i] * A[i + k]", "3*max(n - 2, 0)"),
}  # fmt: skip

# What apache-tvm 0.27 estimates for whole bodies.
STATEMENTS = {
    "    for i in range(16):\n        if A[i] > T.float32(0):\n            C[i] = A[i] + A[i]\n"
    "        else:\n            C[i] = A[i] * A[i] * A[i] * A[i]\n": 48,
    "    for i in range(16):\n        if A[i] + A[i] > T.float32(0):\n            C[i] = A[i]\n": 0,
    "    for i in range(16):\n        while A[i] + A[i] > T.float32(0):\n            C[i] = A[i] + A[i]\n": 16,
    "    for i in range(n):\n        C[i] = A[i] + A[i]\n": 2147483647,
    "    for i in range(n // 4):\n        C[i] = A[i] + A[i]\n": 536870911,
    "    for i in range(T.min(n, 10)):\n        C[i] = A[i] + A[i]\n": 10,
    "    for i in range(16):\n        for j in range(i):\n            C[i] = A[i] + A[j]\n": 240,
    "    for i in range(16):\n        for j in range(T.min(i, 4)):\n            C[i] = A[i] + A[j]\n": 64,
    "    for i in range(16):\n        for j in range(i, 16):\n            C[i] = A[i] + A[j]\n": 256,
    "    for i in range(16):\n        x = A[i] + A[i]\n        C[i] = x * x\n": 32,
    "    for i in range(4, 9):\n        C[i] = A[i] + A[i]\n": 5,
    "    for i in range(0, 8, 2):\n        C[i] = A[i] + A[i]\n": 8,
    "    for i in range(0):\n        C[i] = A[i] + A[i]\n": 0,
    "    for i in T.thread_binding(8, 'threadIdx.x'):\n        C[i] = A[i] + A[i]\n": 8,
    "    for i in range(16):\n        assert A[i] + A[i] > T.float32(0), 'x'\n        C[i] = A[i] * A[i]\n": 16,
    "    for i in range(4):\n        T.evaluate(T.call_extern('int32', 'foo', A[i] + A[i]))\n": 0,
    '    T.func_attr({"estimated_flops": 77})\n    for i in range(16):\n        C[i] = C[i] + A[i]\n': 77,
    """    for i, k in T.grid(5, 4):
        with T.block("b"):
            vi = T.axis.spatial(16, i * 4 + k)
            T.where(i * 4 + k < 16)
            with T.init():
                C[vi] = A[vi] + T.float32(0)
            C[vi] = C[vi] + A[vi]
""": 20,
    """    for i in T.serial(16):
        with T.block("b"):
            vi = T.axis.spatial(16, i)
            for j in range(vi):
                C[vi] = C[vi] + A[j]
""": 34359738352,
}
