# Written by `python -m tirscript.testing.stubs`: do not edit.
"""``T``: every spelling of the script language, with its signature and what it means.

The parser knows these objects by identity.  Names of classic TVM that tirscript does not have yet are
here too: their use says so.
"""
from collections.abc import Callable as _Callable
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from tirscript.ir.buffer import Buffer as _Buffer
from tirscript.ir.expr import Expr as _Expr
from tirscript.script.constructs import _Metadata as __Metadata
from tirscript.script.dtypes import BufferAnnotation as _BufferAnnotation
from typing import Any as _Any
import builtins as _builtins

def Add(a: _Any, b: _Any) -> _Expr:
    """``a + b``"""
    ...
def And(a: _Any, b: _Any) -> _Expr:
    """``a and b``"""
    ...
def Assert(condition: _Any, message: _Any, error_kind: str = 'AssertionError') -> _Any:
    """``with T.Assert(condition, "message"):`` or ``assert condition, "message"``."""
    ...
def Broadcast(value: _Any, lanes: _Any) -> _Expr:
    """A value in every lane."""
    ...
class Buffer:
    """``T.Buffer(shape, "float32")``, as a parameter's annotation or with ``data=`` as a declaration.

    ``T.Buffer[shape, "float32"]`` is the older spelling.
    """
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def BufferLoad(buffer: _Buffer, indices: _Sequence[_Any], predicate: _Any = None) -> _Expr:
    """A load as a node: ``buffer[indices]``."""
    ...
def Call(dtype: _Any, op: _Any, args: _Sequence[_Any]) -> _Expr:
    """A call as a node: an operator by its name, or a function of the module."""
    ...
def CallEffectKind(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
def Cast(dtype: _Any, value: _Any) -> _Expr:
    """``value`` converted to ``dtype``."""
    ...
def CommReducer(lhs: _Sequence[_Any], rhs: _Sequence[_Any], result: _Sequence[_Any], identity_element: _Sequence[_Any]) -> _Any:
    """A reducer of its parts."""
    ...
def Div(a: _Any, b: _Any) -> _Expr:
    """``a / b`` of floats, the truncating quotient of integers."""
    ...
def EQ(a: _Any, b: _Any) -> _Expr:
    """``a == b``"""
    ...
def Else() -> _Any:
    """The other branch of ``T.If``."""
    ...
def FloatImm(dtype: _Any, value: float) -> _Expr:
    """A float constant."""
    ...
def FloorDiv(a: _Any, b: _Any) -> _Expr:
    """``a // b``"""
    ...
def FloorMod(a: _Any, b: _Any) -> _Expr:
    """``a % b``"""
    ...
def GE(a: _Any, b: _Any) -> _Expr:
    """``a >= b``"""
    ...
def GT(a: _Any, b: _Any) -> _Expr:
    """``a > b``"""
    ...
def If(condition: _Any) -> _Any:
    """``with T.If(condition):`` around ``with T.Then():`` and ``with T.Else():``."""
    ...
def IntImm(dtype: _Any, value: int) -> _Expr:
    """An integer constant."""
    ...
def IterVar(dom: _Any, var: _Any, iter_type: _Any = 0, thread_tag: str = '') -> _Any:
    """An axis as a value, in the order of arguments of the node."""
    ...
def LE(a: _Any, b: _Any) -> _Expr:
    """``a <= b``"""
    ...
def LT(a: _Any, b: _Any) -> _Expr:
    """``a < b``"""
    ...
def Let(expr: _Any, where: _Mapping[_Any, _Any]) -> _Expr:
    """``expr`` with variables standing for values: ``T.Let(x * x, where={x: 3})``."""
    ...
def LetStmt(value: _Any, type_annotation: _Any = None, *, var: _Any = None) -> _Any:
    """``with T.LetStmt(e) as x:`` the value has a name inside; ``x = T.LetStmt(e)`` for the rest."""
    ...
def Max(a: _Any, b: _Any) -> _Expr:
    """The larger one."""
    ...
def Min(a: _Any, b: _Any) -> _Expr:
    """The smaller one."""
    ...
def Mod(a: _Any, b: _Any) -> _Expr:
    """The remainder of the truncating quotient."""
    ...
def Mul(a: _Any, b: _Any) -> _Expr:
    """``a * b``"""
    ...
def NE(a: _Any, b: _Any) -> _Expr:
    """``a != b``"""
    ...
def Not(a: _Any) -> _Expr:
    """``not a``"""
    ...
def Or(a: _Any, b: _Any) -> _Expr:
    """``a or b``"""
    ...
def ProducerLoad(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
class Ptr:
    """``T.Ptr[T.float32, "shared"]`` or ``T.Ptr(T.float32, "shared")``: the type of a pointer."""
    def __init__(self, dtype: _Any, storage_scope: str = 'global') -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def Ramp(base: _Any, stride: _Any, lanes: _Any) -> _Expr:
    """The vector base, base + stride, ..."""
    ...
def Range(begin: _Any, end: _Any = None) -> _Any:
    """The interval from begin to end, from 0 with one argument."""
    ...
def Reduce(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
def Select(condition: _Any, true_value: _Any, false_value: _Any) -> _Expr:
    """true_value where the condition holds, else false_value; both are evaluated."""
    ...
def Shuffle(vectors: _Sequence[_Any], indices: _Sequence[_Any]) -> _Expr:
    """The elements with these indices of the vectors, put one after the other."""
    ...
def SizeVar(name: str = 'n', dtype: _Any = 'int32') -> _Any:
    """A variable that is not negative: here a plain one."""
    ...
def StringImm(value: str) -> _Expr:
    """A string constant."""
    ...
def Sub(a: _Any, b: _Any) -> _Expr:
    """``a - b``"""
    ...
def TVMBackendAllocWorkspace(device_type: _Any, device_id: _Any, nbytes: _Any, dtype_code_hint: _Any, dtype_bits_hint: _Any) -> _Any:
    """Memory of the runtime."""
    ...
def TVMBackendFreeWorkspace(device_type: _Any, device_id: _Any, ptr: _Any) -> _Any:
    """Give memory back."""
    ...
def Then() -> _Any:
    """The branch of ``T.If`` where the condition holds."""
    ...
def Var(name: str = 'v', dtype: _Any = 'int32') -> _Any:
    """A variable."""
    ...
def While(condition: _Any) -> _Any:
    """``with T.While(condition):`` as ``while condition:``."""
    ...
def abs(x: _Any) -> _Expr:
    """The absolute value."""
    ...
def acos(x: _Any) -> _Expr:
    """The inverse cosine."""
    ...
def acosh(x: _Any) -> _Expr:
    """The inverse hyperbolic cosine."""
    ...
def address_of(obj: _Any) -> _Expr:
    """The address of a buffer or of one of its elements."""
    ...
def alloc_buffer(shape: _Any, dtype: _Any = 'float32', data: _Any = None, strides: _Any = None, elem_offset: _Any = None, scope: str = 'global', align: int = -1, offset_factor: int = 0, buffer_type: str = 'default', axis_separators: _Any = None) -> _Any:
    """A buffer of the enclosing block (of the root block outside of one)."""
    ...
def allocate(extents: _Any, dtype: _Any, scope: str = 'global', condition: _Any = None, annotations: dict[str, _Any] | None = None) -> _Any:
    """Memory: ``with T.allocate([64], "float32", "shared") as p``, or ``p = T.allocate(...)``."""
    ...
def allocate_const(data: _Any, dtype: _Any, extents: _Any, annotations: dict[str, _Any] | None = None) -> _Any:
    """Constant memory that holds ``data``, a list or an array."""
    ...
def anylist_getitem(list_handle: _Any, index: _Any) -> _Any:
    """An item of a list of the virtual machine."""
    ...
def anylist_resetitem(list_handle: _Any, index: _Any) -> _Any:
    """An item of a list of the virtual machine."""
    ...
def anylist_setitem_call_cpacked(list_handle: _Any, index: _Any, func_name: _Any, *args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def anylist_setitem_call_packed(list_handle: _Any, index: _Any, func_name: _Any, *args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def arg(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
def asin(x: _Any) -> _Expr:
    """The inverse sine."""
    ...
def asinh(x: _Any) -> _Expr:
    """The inverse hyperbolic sine."""
    ...
def assume(cond: _Any) -> _Expr:
    """A condition that holds, for the compiler to use."""
    ...
def atan(x: _Any) -> _Expr:
    """The inverse tangent."""
    ...
def atan2(x: _Any, y: _Any) -> _Expr:
    """The angle of the point (y, x), given as atan2(y, x)."""
    ...
def atanh(x: _Any) -> _Expr:
    """The inverse hyperbolic tangent."""
    ...
def atomic_add(ptr: _Any, value: _Any, *more: _Any) -> _Expr:
    """Add to memory in one step; gives the value before."""
    ...
def atomic_max(ptr: _Any, value: _Any, *more: _Any) -> _Expr:
    """The larger one to memory in one step."""
    ...
def atomic_min(ptr: _Any, value: _Any, *more: _Any) -> _Expr:
    """The smaller one to memory in one step."""
    ...
def attr(node: _Any, attr_key: str, value: _Any) -> _Any:
    """An attribute of what follows, or of the body of the ``with``."""
    ...
class axis:
    """Axes of a block: ``T.axis.spatial``, ``.reduce``, ``.scan``, ``.opaque``, ``.remap``."""
    def __init__(self) -> None: ...
    @staticmethod
    def spatial(dom: _Any, binding: _Any, dtype: _Any = 'int32') -> _Any:
        """An axis whose instances are independent; ``dom`` is an extent or a pair (low, high)."""
        ...
    @staticmethod
    def reduce(dom: _Any, binding: _Any, dtype: _Any = 'int32') -> _Any:
        """An axis that is summed over."""
        ...
    @staticmethod
    def scan(dom: _Any, binding: _Any, dtype: _Any = 'int32') -> _Any:
        """An axis whose instances run in order."""
        ...
    @staticmethod
    def opaque(dom: _Any, binding: _Any, dtype: _Any = 'int32') -> _Any:
        """An axis of which nothing is known."""
        ...
    @staticmethod
    def remap(kinds: str, bindings: _Any, dtype: _Any = 'int32') -> _Any:
        """Several axes over the whole range of loops: ``vi, vk = T.axis.remap("SR", [i, k])``."""
        ...
    @staticmethod
    def S(dom: _Any, binding: _Any, dtype: _Any = 'int32') -> _Any:
        """An axis whose instances are independent; ``dom`` is an extent or a pair (low, high)."""
        ...
    @staticmethod
    def R(dom: _Any, binding: _Any, dtype: _Any = 'int32') -> _Any:
        """An axis that is summed over."""
        ...
class bfloat16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class bfloat16x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class bfloat16x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class bfloat16x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class bfloat16x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class bfloat16x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class bfloat16x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def bitwise_and(x: _Any, y: _Any) -> _Expr:
    """``x & y``"""
    ...
def bitwise_not(x: _Any) -> _Expr:
    """``~x``"""
    ...
def bitwise_or(x: _Any, y: _Any) -> _Expr:
    """``x | y``"""
    ...
def bitwise_xor(x: _Any, y: _Any) -> _Expr:
    """``x ^ y``"""
    ...
def block(name: str = '', no_realize: _builtins.bool = False) -> _Any:
    """A unit of computation over its axes: ``with T.block("C"):``."""
    ...
def block_attr(attrs: dict[str, _Any]) -> None:
    """Attributes of the block."""
    ...
def block_name_suffix_context(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
class bool(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class boolean(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def break_loop() -> _Expr:
    """``break`` as a call."""
    ...
def broadcast(value: _Any, lanes: _Any) -> _Expr:
    """A value in every lane."""
    ...
class buffer:
    """``T.Buffer(shape, "float32")``, as a parameter's annotation or with ``data=`` as a declaration.

    ``T.Buffer[shape, "float32"]`` is the older spelling.
    """
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def buffer_decl(shape: _Any, dtype: _Any = 'float32', data: _Any = None, strides: _Any = None, elem_offset: _Any = None, scope: str = 'global', align: int = 0, offset_factor: int = 0, buffer_type: str = '', axis_separators: _Any = None) -> _Any:
    """An older spelling of ``T.decl_buffer``."""
    ...
def buffer_store(buffer: _Any, value: _Any, indices: _Any, predicate: _Any = None) -> None:
    """``buffer[indices] = value``, with a predicate for lanes."""
    ...
def buffer_var(dtype: _Any, storage_scope: str = 'global') -> _Any:
    """A pointer variable."""
    ...
def call_cpacked(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def call_cpacked_lowered(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def call_extern(dtype: _Any, func_name: _Any, *args: _Any) -> _Expr:
    """A call of a C function: ``T.call_extern("float32", "sinf", x)``."""
    ...
def call_intrin(dtype: _Any, func_name: _Any, *args: _Any) -> _Expr:
    """A call of an operator by its name: ``T.call_intrin("float32", "exp", x)``."""
    ...
def call_kernel(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
def call_llvm_intrin(dtype: _Any, name: _Any, *args: _Any) -> _Expr:
    """A call of an LLVM intrinsic: ``T.call_llvm_intrin("float32", "llvm.fabs.f32", x)``."""
    ...
def call_llvm_pure_intrin(dtype: _Any, name: _Any, *args: _Any) -> _Expr:
    """A call of an LLVM intrinsic without effects."""
    ...
def call_packed(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def call_packed_lowered(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def call_pure_extern(dtype: _Any, func_name: _Any, *args: _Any) -> _Expr:
    """A call of a C function without effects."""
    ...
def cast(value: _Any, dtype: _Any) -> _Expr:
    """``value`` converted to ``dtype``: floats saturate to integers, integers wrap."""
    ...
def ceil(x: _Any) -> _Expr:
    """The smallest whole number not below x."""
    ...
def ceildiv(lhs: _Any, rhs: _Any) -> _Expr:
    """The quotient rounded up."""
    ...
def clz(x: _Any) -> _Expr:
    """The number of leading zero bits; the width for 0."""
    ...
def comm_reducer(combiner: _Callable[..., _Any], identity: _Sequence[_Any]) -> _Any:
    """A reducer: ``T.comm_reducer(lambda x, y: x + y, [T.float32(0)])``."""
    ...
def continue_loop() -> _Expr:
    """``continue`` as a call."""
    ...
def copysign(x: _Any, y: _Any) -> _Expr:
    """x with the sign of y."""
    ...
def cos(x: _Any) -> _Expr:
    """The cosine."""
    ...
def cosh(x: _Any) -> _Expr:
    """The hyperbolic cosine."""
    ...
def create_barriers(barrier_count: _Any) -> _Any:
    """Barriers in shared memory."""
    ...
def decl_buffer(shape: _Any, dtype: _Any = 'float32', data: _Any = None, strides: _Any = None, elem_offset: _Any = None, scope: str = 'global', align: int = 0, offset_factor: int = 0, buffer_type: str = '', axis_separators: _Any = None) -> _Any:
    """A view of the memory at ``data``; without ``data`` the memory is allocated too."""
    ...
def dp4a(vec1: _Any, vec2: _Any, acc: _Any = 0) -> _Expr:
    """The dot product of two vectors of four 8-bit integers, added to acc."""
    ...
class e4m3_float8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class e5m2_float8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def end_profile_intrinsic(id: _Any) -> _Any:
    """A mark for the profiler."""
    ...
def env_thread(thread_tag: str, dtype: str = 'int32') -> _Any:
    """The variable of a thread axis, which ``T.launch_thread`` launches."""
    ...
def erf(x: _Any) -> _Expr:
    """The error function."""
    ...
def evaluate(value: _Any) -> None:
    """An expression for its effect."""
    ...
def exp(x: _Any) -> _Expr:
    """e to the power x."""
    ...
def exp10(x: _Any) -> _Expr:
    """10 to the power x."""
    ...
def exp2(x: _Any) -> _Expr:
    """2 to the power x."""
    ...
def fabs(x: _Any) -> _Expr:
    """The absolute value of a float."""
    ...
class float16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float16x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float16x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float16x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float16x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float16x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float16x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float32x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float64x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e3m4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e4m3(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e4m3b11fnuz(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e4m3fn(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e4m3fnuz(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e5m2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e5m2fnuz(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class float8_e8m0fnu(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def floor(x: _Any) -> _Expr:
    """The largest whole number not above x."""
    ...
def floordiv(a: _Any, b: _Any) -> _Expr:
    """The quotient rounded down: ``a // b``."""
    ...
def floormod(a: _Any, b: _Any) -> _Expr:
    """The remainder with the sign of b: ``a % b``."""
    ...
def fma(x: _Any, y: _Any, z: _Any) -> _Expr:
    """x * y + z, rounded once."""
    ...
def fmod(x: _Any, y: _Any) -> _Expr:
    """The remainder of the truncating quotient, with the sign of x."""
    ...
def func_attr(attrs: dict[str, _Any]) -> None:
    """Attributes of the function: ``T.func_attr({"tir.noalias": True})``."""
    ...
def func_name(name: str) -> None:
    """The exported name of the function."""
    ...
def func_ret(dtype: _Any) -> None:
    """The dtype that the function returns."""
    ...
def get_active_lane_mask(dtype: _Any, base: _Any, limit: _Any) -> _Expr:
    """Which lanes of ``base, base + 1, ...`` are below the limit."""
    ...
def grid(*extents: _Any) -> _Any:
    """Nested serial loops: ``for i, j in T.grid(n, m)``; an extent may be a pair (start, stop)."""
    ...
class handle(_Expr):
    """``T.handle``: a parameter, a pointer ``T.handle("float32", "shared")``, or a new variable."""
    def __init__(self, dtype: _Any = None, storage_scope: str = 'global', *, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def handle_add_byte_offset(handle: _Any, offset: _Any) -> _Any:
    """The pointer moved by some bytes."""
    ...
def hypot(x: _Any, y: _Any) -> _Expr:
    """sqrt(x * x + y * y)."""
    ...
def if_then_else(cond: _Any, t: _Any, f: _Any) -> _Expr:
    """t where cond holds, else f; only the one needed is evaluated."""
    ...
def ignore_loop_partition(predicate: _Any) -> _Expr:
    """A condition that loop partition leaves alone."""
    ...
def index_map(mapping: _Any, *, inverse_index_map: _Any = None, index_dtype: str = 'int32') -> _Any:
    """A map of indices: ``T.index_map(lambda i, j: (i // 4, j, i % 4))``."""
    ...
def infinity(dtype: _Any) -> _Expr:
    """Positive infinity of a float dtype."""
    ...
def init() -> _Any:
    """``with T.init():`` what runs once for every spatial instance, before its first update."""
    ...
def inline(func: _Callable[..., _Any] | None = None, /) -> _Any:
    """Decorator: a macro that looks names up when it is called, in the scopes around its definition."""
    ...
class int1(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int16x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int32x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int64x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class int8x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def isfinite(x: _Any) -> _Expr:
    """Whether x is finite."""
    ...
def isinf(x: _Any) -> _Expr:
    """Whether x is infinite."""
    ...
def isnan(x: _Any) -> _Expr:
    """Whether x is no number."""
    ...
def isnullptr(x: _Any) -> _Any:
    """Whether a pointer is null."""
    ...
def iter_var(var: _Any, dom: _Any = None, iter_type: _Any = 'DataPar', thread_tag: str = '') -> _Any:
    """An axis as a value, for attributes."""
    ...
def large_uint_imm(low: _Any, high: _Any) -> _Expr:
    """The uint64 constant with these two halves."""
    ...
def launch_thread(thread: _Any, extent: _Any) -> _Any:
    """A thread axis: ``with T.launch_thread("threadIdx.x", 128) as tx:``, or for the rest of the body."""
    ...
def ldexp(x: _Any, y: _Any) -> _Expr:
    """x times 2 to the power y."""
    ...
def let(*args: _Any) -> _Any:
    """``x = T.let(e)`` names a value, ``with T.let(x, e):`` gives a variable a value."""
    ...
def likely(cond: _Any) -> _Expr:
    """The condition, with the hint that it usually holds."""
    ...
def llvm_lookup_intrinsic_id(name: _Any) -> _Any:
    """The number of an LLVM intrinsic."""
    ...
def log(x: _Any) -> _Expr:
    """The natural logarithm."""
    ...
def log10(x: _Any) -> _Expr:
    """The logarithm to base 10."""
    ...
def log1p(x: _Any) -> _Expr:
    """The natural logarithm of 1 + x."""
    ...
def log2(x: _Any) -> _Expr:
    """The logarithm to base 2."""
    ...
def lookup_param(param_name: _Any) -> _Any:
    """A parameter by its name."""
    ...
def macro(func: _Callable[..., _Any] | None = None, /, *, hygienic: _builtins.bool = True) -> _Any:
    """Decorator: a function whose body is read anew at every call in a script.

    A hygienic macro sees the names around its definition, another one also those around its calls.
    """
    ...
def make_filled_simdgroup_matrix(d: _Any, index: _Any, value: _Any, col: _Any = 8, row: _Any = 8) -> _Any:
    """Fill a simdgroup matrix."""
    ...
def match_buffer(param: _Any, shape: _Any = None, dtype: _Any = 'float32', data: _Any = None, strides: _Any = None, elem_offset: _Any = None, scope: str = 'global', align: int = -1, offset_factor: int = 0, buffer_type: str = 'default', axis_separators: _Any = None) -> _Any:
    """The buffer behind the pointer parameter ``param``, or a view of the region ``param`` in a block."""
    ...
def max(a: _Any, b: _Any) -> _Expr:
    """The larger one; a nan wins."""
    ...
def max_value(dtype: _Any) -> _Expr:
    """The largest finite value of the dtype."""
    ...
class meta_var:
    """Keeps ``value`` a Python value: ``n = T.meta_var(4)`` makes no statement."""
    def __init__(self, value: _Any) -> None: ...
metadata: __Metadata
def min(a: _Any, b: _Any) -> _Expr:
    """The smaller one; a nan wins."""
    ...
def min_value(dtype: _Any) -> _Expr:
    """The smallest finite value of the dtype."""
    ...
def mma_fill(*args: _Any, dtype: _Any = None) -> _Expr:
    """Store or fill a fragment of ptx_mma."""
    ...
def mma_store(*args: _Any, dtype: _Any = None) -> _Expr:
    """Store or fill a fragment of ptx_mma."""
    ...
def nearbyint(x: _Any) -> _Expr:
    """The nearest whole number, ties to even."""
    ...
def nextafter(x: _Any, y: _Any) -> _Expr:
    """The next float after x toward y."""
    ...
def parallel(start: _Any, stop: _Any = None, *, annotations: dict[str, _Any] | None = None, step: _Any = None) -> _Any:
    """A loop whose iterations run on several threads of the CPU."""
    ...
def popcount(x: _Any) -> _Expr:
    """The number of bits that are set."""
    ...
def pow(x: _Any, y: _Any) -> _Expr:
    """x to the power y."""
    ...
def prefetch(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
def preflattened_buffer(*args: _Any, **kwargs: _Any) -> _Any:
    """Known from TVM, not supported yet."""
    ...
def prim_func(func: _Callable[..., _Any] | None = None, /, *, private: _builtins.bool = False, check_well_formed: _builtins.bool = True, s_tir: _builtins.bool = False, persistent: _builtins.bool = False) -> _Any:
    """Decorator: the function, read as script, becomes a ``PrimFunc``.

    ``private=True``: not exported, no ``global_symbol``.  ``s_tir=True``: the dialect of TVM 0.27, where
    ``x = e`` is a mutable scalar.  ``check_well_formed=False`` leaves the checks out.
    """
    ...
def ptr(dtype: _Any, storage_scope: str = 'global') -> _Any:
    """A pointer variable."""
    ...
def ptx_arrive_barrier(barrier_id: _Any) -> _Any:
    """Arrive at a barrier."""
    ...
def ptx_arrive_barrier_expect_tx(barrier_id: _Any, byte_count: _Any) -> _Any:
    """Arrive, expecting bytes."""
    ...
def ptx_commit_group() -> _Any:
    """Commit the asynchronous copies so far as a group."""
    ...
def ptx_cp_async(*args: _Any, dtype: _Any = None) -> _Expr:
    """An asynchronous copy to shared memory."""
    ...
def ptx_cp_async_barrier(barrier_id: _Any) -> _Expr:
    """Let a barrier wait for the asynchronous copies so far."""
    ...
def ptx_cp_async_bulk(*args: _Any, dtype: _Any = None) -> _Expr:
    """An asynchronous copy to shared memory."""
    ...
def ptx_init_barrier_thread_count(barrier_id: _Any, thread_count: _Any) -> _Any:
    """Set a barrier's number of threads."""
    ...
def ptx_ldmatrix(*args: _Any, dtype: _Any = None) -> _Expr:
    """Load a matrix from shared memory into a fragment."""
    ...
def ptx_mma(*args: _Any, dtype: _Any = None) -> _Expr:
    """A matrix product of the tensor cores."""
    ...
def ptx_mma_sp(*args: _Any, dtype: _Any = None) -> _Expr:
    """A matrix product of the tensor cores."""
    ...
def ptx_wait_barrier(barrier_id: _Any) -> _Any:
    """Wait for a barrier."""
    ...
def ptx_wait_group(num: _Any) -> _Any:
    """Wait until at most so many groups are pending."""
    ...
def q_multiply_shift(x: _Any, y: _Any, q: _Any, s: _Any) -> _Expr:
    """round(x * y * 2^-s) of a fixed-point x and a multiplier y with q fractional bits."""
    ...
def q_multiply_shift_per_axis(x: _Any, y: _Any, ls: _Any, rs: _Any, q: _Any, is_lshift_required: _Any, is_rshift_required: _Any) -> _Expr:
    """``q_multiply_shift`` with shifts for each channel."""
    ...
def ramp(base: _Any, stride: _Any, lanes: _Any) -> _Expr:
    """The vector base, base + stride, ..."""
    ...
def reads(*regions: _Any) -> None:
    """What the block reads: points ``A[i, j]``, slices ``A[0:4]``, or whole buffers."""
    ...
def realize(buffer_slice: _Any, storage_scope: str, condition: _Any = True) -> _Any:
    """``with T.realize(A[0:n], "shared"):`` the region exists inside."""
    ...
def reinterpret(dtype: _Any, value: _Any) -> _Expr:
    """The bits of ``value`` as another dtype."""
    ...
def ret(value: _Any = None) -> _Expr:
    """Leave the function with this value."""
    ...
def round(x: _Any) -> _Expr:
    """The nearest whole number, ties to even."""
    ...
def rsqrt(x: _Any) -> _Expr:
    """1 / sqrt(x)."""
    ...
def sblock(name: str = '', no_realize: _builtins.bool = False) -> _Any:
    """``T.block`` in the spelling of TVM 0.27."""
    ...
def sblock_alloc_buffer(shape: _Any, dtype: _Any = 'float32', data: _Any = None, strides: _Any = None, elem_offset: _Any = None, scope: str = 'global', align: int = -1, offset_factor: int = 0, buffer_type: str = 'default', axis_separators: _Any = None) -> _Any:
    """A buffer of the enclosing block: ``T.alloc_buffer`` in the spelling of TVM 0.27."""
    ...
def sblock_attr(attrs: dict[str, _Any]) -> None:
    """``T.block_attr`` in the spelling of TVM 0.27."""
    ...
def serial(start: _Any, stop: _Any = None, *, annotations: dict[str, _Any] | None = None, step: _Any = None) -> _Any:
    """A loop in order: ``for i in T.serial(n)``, as ``range(n)``; takes annotations."""
    ...
def shift_left(x: _Any, y: _Any) -> _Expr:
    """``x << y``; 0 where y is negative or not below the width."""
    ...
def shift_right(x: _Any, y: _Any) -> _Expr:
    """``x >> y``; the sign where y is negative or not below the width."""
    ...
def sigmoid(x: _Any) -> _Expr:
    """1 / (1 + exp(-x))."""
    ...
def simdgroup_load(d: _Any, index: _Any, ptr: _Any, stride: _Any, col: _Any = 8, row: _Any = 8, transpose_matrix: _Any = False) -> _Any:
    """Move a simdgroup matrix."""
    ...
def simdgroup_multiply_accumulate(d: _Any, index_d: _Any, a: _Any, index_a: _Any, b: _Any, index_b: _Any, c: _Any, index_c: _Any) -> _Any:
    """D = A * B + C of simdgroup matrices."""
    ...
def simdgroup_store(d: _Any, index: _Any, ptr: _Any, stride: _Any, col: _Any = 8, row: _Any = 8, transpose_matrix: _Any = False) -> _Any:
    """Move a simdgroup matrix."""
    ...
def sin(x: _Any) -> _Expr:
    """The sine."""
    ...
def sinh(x: _Any) -> _Expr:
    """The hyperbolic sine."""
    ...
def sqrt(x: _Any) -> _Expr:
    """The square root."""
    ...
def start_profile_intrinsic(id: _Any) -> _Any:
    """A mark for the profiler."""
    ...
def tan(x: _Any) -> _Expr:
    """The tangent."""
    ...
def tanh(x: _Any) -> _Expr:
    """The hyperbolic tangent."""
    ...
def target(config: _Any, host: _Any = None) -> _Any:
    """A target, for ``T.func_attr({"target": T.target("cuda")})``."""
    ...
def thread_binding(start: _Any, stop: _Any = None, thread: str | None = None, *, annotations: dict[str, _Any] | None = None) -> _Any:
    """A loop over a thread axis: ``for i in T.thread_binding(128, thread="threadIdx.x")``."""
    ...
def thread_return() -> _Expr:
    """End this thread."""
    ...
def trunc(x: _Any) -> _Expr:
    """The whole part, toward zero."""
    ...
def truncdiv(a: _Any, b: _Any) -> _Expr:
    """The quotient of integers, rounded toward zero."""
    ...
def truncmod(a: _Any, b: _Any) -> _Expr:
    """The remainder of integers with the sign of a."""
    ...
def tvm_access_ptr(ptype: _Any, data: _Any, offset: _Any, extent: _Any, rw_mask: _Any) -> _Expr:
    """A pointer to ``extent`` elements from ``offset`` on; ``rw_mask`` is 1 read, 2 write, 3 both."""
    ...
def tvm_bmma_sync(fragment_d: _Any, index_d: _Any, fragment_a: _Any, index_a: _Any, fragment_b: _Any, index_b: _Any, fragment_c: _Any, index_c: _Any) -> _Any:
    """A matrix product of fragments: D = A * B + C."""
    ...
def tvm_call_cpacked(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def tvm_call_cpacked_lowered(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def tvm_call_packed(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def tvm_call_packed_lowered(*args: _Any) -> _Any:
    """A call of a registered function: the name, then the arguments."""
    ...
def tvm_fill_fragment(fragment: _Any, m: _Any, n: _Any, k: _Any, index: _Any, value: _Any) -> _Any:
    """Fill a fragment with a value."""
    ...
def tvm_load_matrix_sync(fragment: _Any, m: _Any, n: _Any, k: _Any, index: _Any, buffer_ptr: _Any, stride: _Any, layout: _Any) -> _Any:
    """Move a fragment from or to memory."""
    ...
def tvm_mma_sync(fragment_d: _Any, index_d: _Any, fragment_a: _Any, index_a: _Any, fragment_b: _Any, index_b: _Any, fragment_c: _Any, index_c: _Any) -> _Any:
    """A matrix product of fragments: D = A * B + C."""
    ...
def tvm_stack_alloca(dtype_str: _Any, num: _Any) -> _Any:
    """Room on the stack: a kind and a number."""
    ...
def tvm_stack_make_array(data: _Any, shape: _Any, strides: _Any, ndim: _Any, arr_dtype: _Any, elem_offset: _Any) -> _Any:
    """An array descriptor."""
    ...
def tvm_stack_make_shape(*args: _Any) -> _Any:
    """A shape on the stack."""
    ...
def tvm_storage_sync(storage_scope: _Any, *more: _Any) -> _Expr:
    """A barrier: ``T.tvm_storage_sync("shared")``."""
    ...
def tvm_store_matrix_sync(fragment: _Any, m: _Any, n: _Any, k: _Any, index: _Any, buffer_ptr: _Any, stride: _Any, layout: _Any) -> _Any:
    """Move a fragment from or to memory."""
    ...
def tvm_struct_get(arr: _Any, index: _Any, field: _Any, dtype: _Any) -> _Expr:
    """A field of a descriptor."""
    ...
def tvm_struct_set(arr: _Any, index: _Any, field: _Any, value: _Any) -> _Any:
    """Set a field of a descriptor."""
    ...
def tvm_thread_allreduce(*args: _Any) -> _Any:
    """A reduction over threads."""
    ...
def tvm_thread_invariant(cond: _Any) -> _Expr:
    """A condition that is the same in all threads."""
    ...
def tvm_throw_last_error() -> _Any:
    """Throw the last error."""
    ...
def tvm_tuple(*args: _Any) -> _Any:
    """Several values as one."""
    ...
def tvm_warp_activemask() -> _Any:
    """The lanes of the warp that are active."""
    ...
def tvm_warp_shuffle(mask: _Any, value: _Any, lane: _Any, width: _Any, warp_size: _Any) -> _Expr:
    """A value of another lane of the warp, by its number."""
    ...
def tvm_warp_shuffle_down(mask: _Any, value: _Any, lane: _Any, width: _Any, warp_size: _Any) -> _Expr:
    """A value of another lane of the warp, by a distance downward."""
    ...
def tvm_warp_shuffle_up(mask: _Any, value: _Any, lane: _Any, width: _Any, warp_size: _Any) -> _Expr:
    """A value of another lane of the warp, by a distance upward."""
    ...
def tvm_warp_shuffle_xor(mask: _Any, value: _Any, lane: _Any, width: _Any, warp_size: _Any) -> _Expr:
    """A value of another lane of the warp, by a mask."""
    ...
def type_annotation(dtype: _Any) -> _Expr:
    """A dtype as an argument, of T.tvm_access_ptr."""
    ...
class uint1(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint16x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint32x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint64x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8x16(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8x2(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8x32(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8x4(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8x64(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
class uint8x8(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def undef(dtype: str = 'int32') -> _Expr:
    """A value that is not said."""
    ...
def unroll(start: _Any, stop: _Any = None, *, annotations: dict[str, _Any] | None = None, step: _Any = None) -> _Any:
    """A loop that is written out."""
    ...
def var(dtype: _Any = 'int32', name: str = 'v') -> _Any:
    """A variable: ``n = T.var("int32")``."""
    ...
def vectorcombine(dtype: _Any, vec1: _Any, vec2: _Any) -> _Expr:
    """Two vectors as one."""
    ...
def vectorhigh(dtype: _Any, vec: _Any) -> _Expr:
    """The upper half of a vector."""
    ...
def vectorized(start: _Any, stop: _Any = None, *, annotations: dict[str, _Any] | None = None, step: _Any = None) -> _Any:
    """A loop whose iterations are the lanes of vectors."""
    ...
def vectorlow(dtype: _Any, vec: _Any) -> _Expr:
    """The lower half of a vector."""
    ...
class void(_Expr):
    """A dtype of the script: an annotation, a conversion ``T.float32(x)``, a variable ``T.int32()``.

    >>> float32 = DTypeConstructor("float32")
    >>> float32(0.1).value
    0.10000000149011612
    >>> float32("inf").value, DTypeConstructor("int32")().dtype
    (inf, 'int32')
    """
    def __init__(self, expr: _Any = None, is_size_var: _builtins.bool = False) -> None: ...
    def __class_getitem__(cls, item: _Any) -> _Any: ...
def vscale() -> _Expr:
    """The factor of scalable vectors."""
    ...
def where(predicate: _Any) -> None:
    """The block runs where the predicate holds."""
    ...
def writes(*regions: _Any) -> None:
    """What the block writes."""
    ...
