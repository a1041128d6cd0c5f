# Written by `python -m tirscript.testing.stubs`: do not edit.
"""TVM's ``tir`` paths: node classes, ``Schedule``, helpers.  ``tirx`` and ``s_tir`` are the same module."""
from collections.abc import Mapping as _Mapping
from tirscript.diagnostics import ScheduleError as ScheduleError
from tirscript.driver import build as build
from tirscript.ir.buffer import Buffer as Buffer
from tirscript.ir.buffer import BufferRegion as _BufferRegion
from tirscript.ir.buffer import MatchBufferRegion as _MatchBufferRegion
from tirscript.ir.buffer import full_region as full_region
from tirscript.ir.buffer import make_buffer as make_buffer
from tirscript.ir.buffer import point as point
from tirscript.ir.equal import StructuralMismatch as StructuralMismatch
from tirscript.ir.equal import assert_structural_equal as assert_structural_equal
from tirscript.ir.equal import structural_equal as structural_equal
from tirscript.ir.equal import structural_hash as structural_hash
from tirscript.ir.expr import Add as _Add
from tirscript.ir.expr import And as _And
from tirscript.ir.expr import BinaryOp as BinaryOp
from tirscript.ir.expr import BinaryOp as BinaryOpExpr
from tirscript.ir.expr import Broadcast as _Broadcast
from tirscript.ir.expr import BufferLoad as _BufferLoad
from tirscript.ir.expr import Call as _Call
from tirscript.ir.expr import Cast as _Cast
from tirscript.ir.expr import CmpOp as CmpExpr
from tirscript.ir.expr import CmpOp as CmpOp
from tirscript.ir.expr import CommReducer as _CommReducer
from tirscript.ir.expr import Div as _Div
from tirscript.ir.expr import EQ as _EQ
from tirscript.ir.expr import Expr as Expr
from tirscript.ir.expr import Expr as ExprOp
from tirscript.ir.expr import Expr as PrimExpr
from tirscript.ir.expr import Expr as PrimExprWithOp
from tirscript.ir.expr import FloatImm as _FloatImm
from tirscript.ir.expr import FloorDiv as _FloorDiv
from tirscript.ir.expr import FloorMod as _FloorMod
from tirscript.ir.expr import GE as _GE
from tirscript.ir.expr import GT as _GT
from tirscript.ir.expr import GlobalVar as _GlobalVar
from tirscript.ir.expr import IntImm as _IntImm
from tirscript.ir.expr import IterVar as _IterVar
from tirscript.ir.expr import LE as _LE
from tirscript.ir.expr import LT as _LT
from tirscript.ir.expr import Let as _Let
from tirscript.ir.expr import Max as _Max
from tirscript.ir.expr import Min as _Min
from tirscript.ir.expr import Mod as _Mod
from tirscript.ir.expr import Mul as _Mul
from tirscript.ir.expr import NE as _NE
from tirscript.ir.expr import Not as _Not
from tirscript.ir.expr import Or as _Or
from tirscript.ir.expr import Ramp as _Ramp
from tirscript.ir.expr import Range as _Range
from tirscript.ir.expr import Select as _Select
from tirscript.ir.expr import Shuffle as _Shuffle
from tirscript.ir.expr import StringImm as _StringImm
from tirscript.ir.expr import Sub as _Sub
from tirscript.ir.expr import Var as _Var
from tirscript.ir.expr import const_int as const_int
from tirscript.ir.function import PrimFunc as _PrimFunc
from tirscript.ir.index_map import IndexMap as _IndexMap
from tirscript.ir.module import UnknownFunction as UnknownFunction
from tirscript.ir.node import Node as Node
from tirscript.ir.node import walk as walk
from tirscript.ir.op_object import Op as Op
from tirscript.ir.ops import const as const
from tirscript.ir.stmt import Allocate as _Allocate
from tirscript.ir.stmt import AllocateConst as _AllocateConst
from tirscript.ir.stmt import AssertStmt as _AssertStmt
from tirscript.ir.stmt import AttrStmt as _AttrStmt
from tirscript.ir.stmt import Block as _Block
from tirscript.ir.stmt import BlockLabel as BlockLabel
from tirscript.ir.stmt import BlockRealize as _BlockRealize
from tirscript.ir.stmt import BufferRealize as _BufferRealize
from tirscript.ir.stmt import BufferStore as _BufferStore
from tirscript.ir.stmt import DeclBuffer as _DeclBuffer
from tirscript.ir.stmt import Evaluate as _Evaluate
from tirscript.ir.stmt import For as _For
from tirscript.ir.stmt import IfThenElse as _IfThenElse
from tirscript.ir.stmt import LetStmt as _LetStmt
from tirscript.ir.stmt import SeqStmt as _SeqStmt
from tirscript.ir.stmt import Stmt as Stmt
from tirscript.ir.stmt import While as _While
from tirscript.ir.stmt import seq as seq
from tirscript.ir.types import PointerType as PointerType
from tirscript.ir.types import PrimType as PrimType
from tirscript.ir.verify import check_well_formed as check_well_formed
from tirscript.ir.visitor import free_vars as free_vars
from tirscript.ir.visitor import fresh_copy as fresh_copy
from tirscript.ir.visitor import post_order as post_order
from tirscript.ir.visitor import substitute as substitute
from tirscript.schedule.record.trace import Instruction as Instruction
from tirscript.schedule.record.trace import Trace as Trace
from tirscript.schedule.refs import StmtSRef as StmtSRef
from tirscript.schedule.schedule import Schedule as Schedule
from tirscript.schedule.state import ScheduleState as ScheduleState
from tirscript.schedule.tensor_intrin import TensorIntrin as TensorIntrin
from tirscript.script.tir import TVMBackendAllocWorkspace as TVMBackendAllocWorkspace
from tirscript.script.tir import TVMBackendFreeWorkspace as TVMBackendFreeWorkspace
from tirscript.script.tir import abs as abs
from tirscript.script.tir import acos as acos
from tirscript.script.tir import acosh as acosh
from tirscript.script.tir import address_of as address_of
from tirscript.script.tir import anylist_getitem as anylist_getitem
from tirscript.script.tir import anylist_resetitem as anylist_resetitem
from tirscript.script.tir import anylist_setitem_call_cpacked as anylist_setitem_call_cpacked
from tirscript.script.tir import anylist_setitem_call_packed as anylist_setitem_call_packed
from tirscript.script.tir import asin as asin
from tirscript.script.tir import asinh as asinh
from tirscript.script.tir import assume as assume
from tirscript.script.tir import atan as atan
from tirscript.script.tir import atan2 as atan2
from tirscript.script.tir import atanh as atanh
from tirscript.script.tir import bitwise_and as bitwise_and
from tirscript.script.tir import bitwise_not as bitwise_not
from tirscript.script.tir import bitwise_or as bitwise_or
from tirscript.script.tir import bitwise_xor as bitwise_xor
from tirscript.script.tir import break_loop as break_loop
from tirscript.script.tir import call_cpacked as call_cpacked
from tirscript.script.tir import call_cpacked_lowered as call_cpacked_lowered
from tirscript.script.tir import call_extern as call_extern
from tirscript.script.tir import call_intrin as call_intrin
from tirscript.script.tir import call_llvm_intrin as call_llvm_intrin
from tirscript.script.tir import call_llvm_pure_intrin as call_llvm_pure_intrin
from tirscript.script.tir import call_packed as call_packed
from tirscript.script.tir import call_packed_lowered as call_packed_lowered
from tirscript.script.tir import call_pure_extern as call_pure_extern
from tirscript.script.tir import ceil as ceil
from tirscript.script.tir import ceildiv as ceildiv
from tirscript.script.tir import clz as clz
from tirscript.script.tir import continue_loop as continue_loop
from tirscript.script.tir import copysign as copysign
from tirscript.script.tir import cos as cos
from tirscript.script.tir import cosh as cosh
from tirscript.script.tir import create_barriers as create_barriers
from tirscript.script.tir import dp4a as dp4a
from tirscript.script.tir import end_profile_intrinsic as end_profile_intrinsic
from tirscript.script.tir import erf as erf
from tirscript.script.tir import exp as exp
from tirscript.script.tir import exp10 as exp10
from tirscript.script.tir import exp2 as exp2
from tirscript.script.tir import floor as floor
from tirscript.script.tir import floordiv as floordiv
from tirscript.script.tir import floormod as floormod
from tirscript.script.tir import fma as fma
from tirscript.script.tir import fmod as fmod
from tirscript.script.tir import get_active_lane_mask as get_active_lane_mask
from tirscript.script.tir import hypot as hypot
from tirscript.script.tir import if_then_else as if_then_else
from tirscript.script.tir import ignore_loop_partition as ignore_loop_partition
from tirscript.script.tir import infinity as infinity
from tirscript.script.tir import isfinite as isfinite
from tirscript.script.tir import isinf as isinf
from tirscript.script.tir import isnan as isnan
from tirscript.script.tir import isnullptr as isnullptr
from tirscript.script.tir import ldexp as ldexp
from tirscript.script.tir import likely as likely
from tirscript.script.tir import log as log
from tirscript.script.tir import log10 as log10
from tirscript.script.tir import log1p as log1p
from tirscript.script.tir import log2 as log2
from tirscript.script.tir import lookup_param as lookup_param
from tirscript.script.tir import make_filled_simdgroup_matrix as make_filled_simdgroup_matrix
from tirscript.script.tir import max_value as max_value
from tirscript.script.tir import min_value as min_value
from tirscript.script.tir import mma_fill as mma_fill
from tirscript.script.tir import mma_store as mma_store
from tirscript.script.tir import nearbyint as nearbyint
from tirscript.script.tir import nextafter as nextafter
from tirscript.script.tir import popcount as popcount
from tirscript.script.tir import pow as pow
from tirscript.script.tir import ptx_arrive_barrier as ptx_arrive_barrier
from tirscript.script.tir import ptx_arrive_barrier_expect_tx as ptx_arrive_barrier_expect_tx
from tirscript.script.tir import ptx_commit_group as ptx_commit_group
from tirscript.script.tir import ptx_cp_async as ptx_cp_async
from tirscript.script.tir import ptx_cp_async_barrier as ptx_cp_async_barrier
from tirscript.script.tir import ptx_cp_async_bulk as ptx_cp_async_bulk
from tirscript.script.tir import ptx_init_barrier_thread_count as ptx_init_barrier_thread_count
from tirscript.script.tir import ptx_ldmatrix as ptx_ldmatrix
from tirscript.script.tir import ptx_mma as ptx_mma
from tirscript.script.tir import ptx_mma_sp as ptx_mma_sp
from tirscript.script.tir import ptx_wait_barrier as ptx_wait_barrier
from tirscript.script.tir import ptx_wait_group as ptx_wait_group
from tirscript.script.tir import q_multiply_shift as q_multiply_shift
from tirscript.script.tir import q_multiply_shift_per_axis as q_multiply_shift_per_axis
from tirscript.script.tir import reinterpret as reinterpret
from tirscript.script.tir import ret as ret
from tirscript.script.tir import round as round
from tirscript.script.tir import rsqrt as rsqrt
from tirscript.script.tir import shift_left as shift_left
from tirscript.script.tir import shift_right as shift_right
from tirscript.script.tir import sigmoid as sigmoid
from tirscript.script.tir import simdgroup_load as simdgroup_load
from tirscript.script.tir import simdgroup_multiply_accumulate as simdgroup_multiply_accumulate
from tirscript.script.tir import simdgroup_store as simdgroup_store
from tirscript.script.tir import sin as sin
from tirscript.script.tir import sinh as sinh
from tirscript.script.tir import sqrt as sqrt
from tirscript.script.tir import start_profile_intrinsic as start_profile_intrinsic
from tirscript.script.tir import tan as tan
from tirscript.script.tir import tanh as tanh
from tirscript.script.tir import thread_return as thread_return
from tirscript.script.tir import trunc as trunc
from tirscript.script.tir import truncdiv as truncdiv
from tirscript.script.tir import truncmod as truncmod
from tirscript.script.tir import tvm_access_ptr as tvm_access_ptr
from tirscript.script.tir import tvm_bmma_sync as tvm_bmma_sync
from tirscript.script.tir import tvm_fill_fragment as tvm_fill_fragment
from tirscript.script.tir import tvm_load_matrix_sync as tvm_load_matrix_sync
from tirscript.script.tir import tvm_mma_sync as tvm_mma_sync
from tirscript.script.tir import tvm_stack_alloca as tvm_stack_alloca
from tirscript.script.tir import tvm_stack_make_array as tvm_stack_make_array
from tirscript.script.tir import tvm_stack_make_shape as tvm_stack_make_shape
from tirscript.script.tir import tvm_storage_sync as tvm_storage_sync
from tirscript.script.tir import tvm_store_matrix_sync as tvm_store_matrix_sync
from tirscript.script.tir import tvm_struct_get as tvm_struct_get
from tirscript.script.tir import tvm_struct_set as tvm_struct_set
from tirscript.script.tir import tvm_thread_allreduce as tvm_thread_allreduce
from tirscript.script.tir import tvm_thread_invariant as tvm_thread_invariant
from tirscript.script.tir import tvm_throw_last_error as tvm_throw_last_error
from tirscript.script.tir import tvm_tuple as tvm_tuple
from tirscript.script.tir import tvm_warp_activemask as tvm_warp_activemask
from tirscript.script.tir import tvm_warp_shuffle as tvm_warp_shuffle
from tirscript.script.tir import tvm_warp_shuffle_down as tvm_warp_shuffle_down
from tirscript.script.tir import tvm_warp_shuffle_up as tvm_warp_shuffle_up
from tirscript.script.tir import tvm_warp_shuffle_xor as tvm_warp_shuffle_xor
from tirscript.script.tir import type_annotation as type_annotation
from tirscript.script.tir import undef as undef
from tirscript.script.tir import vectorcombine as vectorcombine
from tirscript.script.tir import vectorhigh as vectorhigh
from tirscript.script.tir import vectorlow as vectorlow
from tirscript.script.tir import vscale as vscale
from tirscript.te.functions import div as div
from tirscript.te.functions import indexdiv as indexdiv
from tirscript.te.functions import indexmod as indexmod
from tirscript.te.functions import logaddexp as logaddexp
from tirscript.te.functions import power as power
from tirscript.te.reduce import Reduce as _Reduce
from tirscript.te.reduce import comm_reducer as comm_reducer
from tirscript.te.reducers import all as all
from tirscript.te.reducers import any as any
from tirscript.tir import analysis as analysis
from tirscript.tir import ir_builder as ir_builder
from tirscript.tir import schedule as schedule
from tirscript.tir import stmt_functor as stmt_functor
from tirscript.tir import tensor_intrin as tensor_intrin
from tirscript.tir import transform as transform
from tirscript.tir.constructors import BufferType as BufferType
from tirscript.tir.constructors import CallEffectKind as CallEffectKind
from tirscript.tir.constructors import ForKind as ForKind
from tirscript.tir.constructors import stmt_list as stmt_list
from tirscript.tir.constructors import stmt_seq as stmt_seq
from tirscript.tir.helpers import convert as convert
from tirscript.tir.helpers import decl_buffer as decl_buffer
from types import ModuleType as _ModuleType
from typing import Any as _Any

buffer: _ModuleType
expr: _ModuleType
function: _ModuleType
generic: _ModuleType
op: _ModuleType
stmt: _ModuleType
class Add(_Add):
    """``a + b``

    ``Add(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Allocate(_Allocate):
    """Memory for ``extents`` elements at the pointer ``buffer_var``, alive in ``body``.

    ``Allocate(buffer_var, dtype, extents, condition, body, annotations=None)``
    """
    def __init__(self, buffer_var: _Any, dtype: _Any, extents: _Any, condition: _Any, body: _Any, annotations: _Any = None, span: _Any = None) -> None: ...
class AllocateConst(_AllocateConst):
    """The constant ``data`` (a NumPy array of the shape ``extents``) at ``buffer_var``.

    ``AllocateConst(buffer_var, dtype, extents, data, body, annotations=None)``
    """
    def __init__(self, buffer_var: _Any, dtype: _Any, extents: _Any, data_or_idx: _Any, body: _Any, annotations: _Any = None, span: _Any = None) -> None: ...
class And(_And):
    """``a and b`` of bools: ``b`` is evaluated only where ``a`` holds.

    ``And(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class AssertStmt(_AssertStmt):
    """An error with ``message`` unless ``condition`` holds.

    ``AssertStmt(condition, message, body)``: here the assert stands before its body.
    """
    def __init__(self, condition: _Any, message: _Any, body: _Any = None, span: _Any = None) -> None: ...
class AttrStmt(_AttrStmt):
    """``body`` with an attribute.  ``node`` is an Expr, a Buffer, an IterVar or another plain value.

    ``T.launch_thread(iv, extent)`` is the attribute ``thread_extent`` of the thread axis ``iv``; it
    defines ``iv.var`` in its body.

    ``AttrStmt(node, attr_key, value, body)``
    """
    def __init__(self, node: _Any, attr_key: _Any, value: _Any, body: _Any, span: _Any = None) -> None: ...
class Block(_Block):
    """A unit of computation over its axes: what it reads and writes, its init and its body.

    ``init`` runs once for every spatial instance, before its first update.  The block is identified by
    its ``label``; it stands in the tree inside a ``BlockRealize`` that binds the axes.

    ``Block(iter_vars, reads, writes, name_hint, body, init=None, alloc_buffers=None, ...)``
    """
    def __init__(self, iter_vars: _Any, reads: _Any, writes: _Any, name_hint: _Any, body: _Any, init: _Any = None, alloc_buffers: _Any = None, match_buffers: _Any = None, annotations: _Any = None, span: _Any = None) -> None: ...
class BlockRealize(_BlockRealize):
    """``block`` with its axes bound to ``iter_values``, run where ``predicate`` holds.

    ``BlockRealize(iter_values, predicate, block)``
    """
    def __init__(self, iter_values: _Any, predicate: _Any, block: _Any, span: _Any = None) -> None: ...
class Broadcast(_Broadcast):
    """The vector of ``lanes`` times ``value``.

    ``Broadcast(value, lanes)``
    """
    def __init__(self, value: _Any, lanes: _Any, span: _Any = None) -> None: ...
class BufferLoad(_BufferLoad):
    """``buffer[indices]``, of the buffer's dtype with the lanes of the last index.

    ``BufferLoad(buffer, indices, predicate=None)``
    """
    def __init__(self, buffer: _Any, indices: _Any, predicate: _Any = None, span: _Any = None) -> None: ...
class BufferRealize(_BufferRealize):
    """The region ``bounds`` of ``buffer`` is realized in ``body`` (``T.realize``).

    ``BufferRealize(buffer, bounds, condition, body)``
    """
    def __init__(self, buffer: _Any, bounds: _Any, condition: _Any, body: _Any, span: _Any = None) -> None: ...
class BufferRegion(_BufferRegion):
    """A box of a buffer: one range for each dimension.

    ``BufferRegion(buffer, region)``: one Range for each dimension.
    """
    def __init__(self, buffer: _Any, region: _Any) -> None: ...
class BufferStore(_BufferStore):
    """``buffer[indices] = value``, for the lanes where ``predicate`` holds.

    ``BufferStore(buffer, value, indices, predicate=None)``
    """
    def __init__(self, buffer: _Any, value: _Any, indices: _Any, predicate: _Any = None, span: _Any = None) -> None: ...
class Call(_Call):
    """``op(*args)``: an operator of the table in ``op`` by its name, or a function of the module.

    ``Call(dtype, op, args)``; ``op`` is an operator, its name (``"tir.exp"``) or a GlobalVar.
    """
    def __init__(self, dtype: _Any, op: _Any, args: _Any, span: _Any = None) -> None: ...
class Cast(_Cast):
    """``value`` converted to ``dtype``: integers wrap, floats saturate to integers and round to floats.

    ``Cast(dtype, value)``; a node even where the value has that dtype.
    """
    def __init__(self, dtype: _Any, value: _Any, span: _Any = None) -> None: ...
class CommReducer(_CommReducer):
    """A commutative, associative combiner of one or several values: ``result`` over ``lhs`` and ``rhs``.

    ``identity`` holds the neutral elements; all four tuples have one length.

    ``CommReducer(lhs, rhs, result, identity_element)``
    """
    def __init__(self, lhs: _Any, rhs: _Any, result: _Any, identity_element: _Any, span: _Any = None) -> None: ...
class DeclBuffer(_DeclBuffer):
    """``buffer``, a view of memory that is already there, is known in ``body``.

    ``DeclBuffer(buffer, body)``
    """
    def __init__(self, buffer: _Any, body: _Any, span: _Any = None) -> None: ...
class Div(_Div):
    """``a / b`` of floats; of integers the quotient that truncates toward zero.

    ``Div(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class EQ(_EQ):
    """``a == b``

    ``EQ(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Evaluate(_Evaluate):
    """An expression for its effect.  ``Evaluate(0)`` is the empty statement; ``break`` and ``continue``
    are calls of the operators ``break_loop`` and ``continue_loop``, a return is a call of ``ret``.

    ``Evaluate(value)``
    """
    def __init__(self, value: _Any, span: _Any = None) -> None: ...
class FloatImm(_FloatImm):
    """A float constant, already rounded to its dtype.

    ``FloatImm(dtype, value)``; the value is rounded to the dtype.
    """
    def __init__(self, dtype: _Any, value: _Any, span: _Any = None) -> None: ...
class FloorDiv(_FloorDiv):
    """``a // b``, rounded toward minus infinity.

    ``FloorDiv(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class FloorMod(_FloorMod):
    """``a % b``: it has the sign of ``b``.

    ``FloorMod(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class For(_For):
    """A loop over ``min, min + step, ...``, ``extent`` being the length of the interval.

    ``kind`` is one of ``LOOP_KINDS``; ``thread`` is the thread tag of a bound loop; ``step`` None is 1.
    The loop is identified by its ``loop_var``.

    ``For(loop_var, min, extent, kind, body, thread_binding=None, annotations=None, step=None)``
    """
    def __init__(self, loop_var: _Any, min: _Any, extent: _Any, kind: _Any, body: _Any, thread_binding: _Any = None, annotations: _Mapping[str, _Any] | None = None, step: _Any = None, span: _Any = None) -> None: ...
class GE(_GE):
    """``a >= b``

    ``GE(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class GT(_GT):
    """``a > b``

    ``GT(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class GlobalVar(_GlobalVar):
    """The name of a function in a module; the object is its identity within one module.

    ``GlobalVar(name_hint)``
    """
    def __init__(self, name_hint: _Any, span: _Any = None) -> None: ...
class IfThenElse(_IfThenElse):
    """``then_case`` where ``condition`` holds, else ``else_case`` if there is one.

    ``IfThenElse(condition, then_case, else_case=None)``
    """
    def __init__(self, condition: _Any, then_case: _Any, else_case: _Any = None, span: _Any = None) -> None: ...
class IndexMap(_IndexMap):
    """``final_indices`` as expressions over ``initial_indices``; optionally the inverse, which is then given.

    >>> m = IndexMap.from_func(lambda i, j: (i // 4, j, i % 4), index_dtype="int32")
    >>> m
    lambda i, j: (i // 4, j, i % 4)
    >>> m.map_shape([14, 8]), m.inverse([16, 8])
    ([4, 8, 4], lambda axis0, j, axis2: (axis0 * 4 + axis2, j))

    ``IndexMap(initial_indices, final_indices, inverse_index_map=None)``
    """
    def __init__(self, initial_indices: _Any, final_indices: _Any, inverse_index_map: _Any = None) -> None: ...
class IntImm(_IntImm):
    """An integer or bool constant; ``value`` fits the dtype.

    ``IntImm(dtype, value)``; the value must fit.
    """
    def __init__(self, dtype: _Any, value: _Any, span: _Any = None) -> None: ...
class IterVar(_IterVar):
    """A block axis, or (with ``thread_tag``) a thread axis.

    ``kind`` is ``spatial``, ``reduce``, ``scan``, ``opaque`` or ``thread``; ``dom`` is None for a thread
    axis whose extent is said where it is launched.

    ``IterVar(dom, var, iter_type, thread_tag="")``; ``dom`` is a Range, ``(begin, end)`` or None.
    """
    def __init__(self, dom: _Any, var: _Any, iter_type: _Any, thread_tag: str = '', span: _Any = None) -> None: ...
class LE(_LE):
    """``a <= b``

    ``LE(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class LT(_LT):
    """``a < b``

    ``LT(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Let(_Let):
    """``body`` with ``var`` standing for ``value``.

    ``Let(var, value, body)``
    """
    def __init__(self, var: _Any, value: _Any, body: _Any, span: _Any = None) -> None: ...
class LetStmt(_LetStmt):
    """``body`` with ``var`` standing for ``value``, evaluated once.

    ``LetStmt(var, value, body)``
    """
    def __init__(self, var: _Any, value: _Any, body: _Any, span: _Any = None) -> None: ...
class MatchBufferRegion(_MatchBufferRegion):
    """``buffer`` is a view of the region ``source`` of another buffer, inside one block.

    ``MatchBufferRegion(buffer, source)``
    """
    def __init__(self, buffer: _Any, source: _Any) -> None: ...
class Max(_Max):
    """The larger one; a nan wins.

    ``Max(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Min(_Min):
    """The smaller one; a nan wins.

    ``Min(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Mod(_Mod):
    """The remainder that goes with the truncating quotient: it has the sign of ``a``.

    ``Mod(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Mul(_Mul):
    """``a * b``

    ``Mul(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class NE(_NE):
    """``a != b``

    ``NE(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Not(_Not):
    """``not a`` of a bool.

    ``Not(a)``
    """
    def __init__(self, a: _Any, span: _Any = None) -> None: ...
class Or(_Or):
    """``a or b`` of bools: ``b`` is evaluated only where ``a`` does not hold.

    ``Or(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class PrimFunc(_PrimFunc):
    """A function over buffers and scalars.

    ``params`` are scalar variables and pointers; ``buffer_map`` gives the buffer that is matched to a
    pointer.  ``ret_type`` is a dtype, ``"void"`` for a function that returns nothing.  ``attrs`` holds
    ``global_symbol`` for an exported function, ``tir.noalias``, ``target`` and what the user adds.

    ``PrimFunc(params, body, ret_type=None, buffer_map=None, attrs=None)``; a Buffer may stand as one.
    """
    def __init__(self, params: _Any, body: _Any, ret_type: _Any = None, buffer_map: _Any = None, attrs: _Any = None, span: _Any = None) -> None: ...
class Ramp(_Ramp):
    """The vector ``base, base + stride, ...`` with ``lanes`` elements.

    ``Ramp(base, stride, lanes)``
    """
    def __init__(self, base: _Any, stride: _Any, lanes: _Any, span: _Any = None) -> None: ...
class Range(_Range):
    """The half-open interval ``[min, min + extent)``.

    ``Range(begin, end)``, or ``Range(extent)`` from 0; ``Range.from_min_extent(min, extent)``.
    """
    def __init__(self, begin: _Any, end: _Any = None, span: _Any = None) -> None: ...
class Reduce(_Reduce):
    """A reduction over ``axis``: the value ``value_index`` of the combination of ``source``.

    It is the whole body of a ``te.compute``, never a part of an expression.

    ``Reduce(combiner, src, rdom, condition, value_index, init=None)``, the body of a ``te.compute``.
    """
    def __init__(self, combiner: _Any, src: _Any, rdom: _Any, condition: _Any, value_index: _Any, init: _Any = None, span: _Any = None) -> None: ...
class SBlock(_Block):
    """A unit of computation over its axes: what it reads and writes, its init and its body.

    ``init`` runs once for every spatial instance, before its first update.  The block is identified by
    its ``label``; it stands in the tree inside a ``BlockRealize`` that binds the axes.

    ``Block(iter_vars, reads, writes, name_hint, body, init=None, alloc_buffers=None, ...)``
    """
    def __init__(self, iter_vars: _Any, reads: _Any, writes: _Any, name_hint: _Any, body: _Any, init: _Any = None, alloc_buffers: _Any = None, match_buffers: _Any = None, annotations: _Any = None, span: _Any = None) -> None: ...
class SBlockRealize(_BlockRealize):
    """``block`` with its axes bound to ``iter_values``, run where ``predicate`` holds.

    ``BlockRealize(iter_values, predicate, block)``
    """
    def __init__(self, iter_values: _Any, predicate: _Any, block: _Any, span: _Any = None) -> None: ...
class Select(_Select):
    """``true_value`` where ``condition`` holds, else ``false_value``; both are evaluated.

    ``Select(condition, true_value, false_value)``
    """
    def __init__(self, condition: _Any, true_value: _Any, false_value: _Any, span: _Any = None) -> None: ...
class SeqStmt(_SeqStmt):
    """Two or more statements in order; none of them is a SeqStmt (``seq`` builds it so).

    ``SeqStmt([a, b, ...])``, flattened; of one statement that statement.
    """
    def __init__(self, seq: _Any, span: _Any = None) -> None: ...
class Shuffle(_Shuffle):
    """The elements ``indices`` (constants) of the concatenated ``vectors``.

    ``Shuffle(vectors, indices)``
    """
    def __init__(self, vectors: _Any, indices: _Any, span: _Any = None) -> None: ...
class SizeVar(_Var):
    """A variable; the object is its identity, the name only what is printed.

    ``exact`` says that it stands for a mathematical integer (loop variables, block axes, shapes, integer
    parameters); a let of a loaded value is not exact.  A pointer has dtype ``handle`` and may carry
    ``pointee = (dtype, scope)``.

    ``Var(name, dtype)``; ``dtype`` is a string, a PrimType or a PointerType.
    """
    def __init__(self, name: _Any, dtype: _Any = 'int32', span: _Any = None) -> None: ...
class StringImm(_StringImm):
    """A string: only an argument of calls, a message, or an attribute's value.

    ``StringImm(value)``
    """
    def __init__(self, value: _Any, span: _Any = None) -> None: ...
class Sub(_Sub):
    """``a - b``

    ``Sub(a, b)``; a Python number takes the other side's dtype.
    """
    def __init__(self, a: _Any, b: _Any, span: _Any = None) -> None: ...
class Var(_Var):
    """A variable; the object is its identity, the name only what is printed.

    ``exact`` says that it stands for a mathematical integer (loop variables, block axes, shapes, integer
    parameters); a let of a loaded value is not exact.  A pointer has dtype ``handle`` and may carry
    ``pointee = (dtype, scope)``.

    ``Var(name, dtype)``; ``dtype`` is a string, a PrimType or a PointerType.
    """
    def __init__(self, name: _Any, dtype: _Any = 'int32', span: _Any = None) -> None: ...
class While(_While):
    """``body`` as long as ``condition`` holds.

    ``While(condition, body)``
    """
    def __init__(self, condition: _Any, body: _Any, span: _Any = None) -> None: ...
def max(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The greatest value over reduce axes; of nothing -inf, or the least integer."""
    ...
def min(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The least value over reduce axes; of nothing inf, or the greatest integer."""
    ...
def sum(expr: _Any, axis: _Any = None, where: _Any = None, init: _Any = None, *more: _Any) -> _Any:
    """The sum over reduce axes: ``te.sum(A[i, k], axis=k)``."""
    ...
