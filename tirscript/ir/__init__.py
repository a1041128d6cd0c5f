"""What a program is: the nodes, the typed constructors behind the operators, equality, the verifier."""

from __future__ import annotations

import importlib as _importlib
from collections.abc import Iterable as _Iterable
from typing import Any as _Any

from . import buffer_methods as _buffer_methods  # noqa: F401  puts vload, access_ptr, ... on Buffer
from . import equation as _equation  # noqa: F401  puts == and != on expressions
from . import ops as _ops  # puts the operators on Expr and Buffer
from .buffer import Buffer, BufferRegion, MatchBufferRegion, full_region, make_buffer, point
from .dtype import DType
from .equal import StructuralMismatch, assert_structural_equal, structural_equal, structural_hash
from .expr import (
    EQ,
    FALSE,
    GE,
    GT,
    LE,
    LT,
    NE,
    TRUE,
    Add,
    And,
    BinaryOp,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    CmpOp,
    CommReducer,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    GlobalVar,
    IntImm,
    IterVar,
    Let,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    Ramp,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Var,
    const_int,
)
from .function import PrimFunc
from .module import IRModule, UnknownFunction
from .node import Node, walk
from .nodeclass import PublicRange as Range
from .op_object import Op
from .stmt import (
    Allocate,
    AllocateConst,
    AssertStmt,
    AttrStmt,
    Block,
    BlockLabel,
    BlockRealize,
    BufferRealize,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    SeqStmt,
    Stmt,
    While,
    seq,
)
from .types import FuncType, PointerType, PrimType, TupleType, Type
from .verify import check_well_formed
from .visitor import free_vars, fresh_copy, post_order, substitute

const = _ops.const
# TVM's further names: those that are others here, and those that are not here.
_SECOND = {
    "PrimExpr": "Expr", "BaseExpr": "Expr", "RelayExpr": "Expr", "RelaxExpr": "Expr", "BaseFunc": "PrimFunc",
    "PrimExprWithOp": "Expr", "ExprWithOp": "Expr", "TensorLoad": "BufferLoad",
    "TensorRegion": "BufferRegion",
}  # fmt: skip
_FACADES = ("instrument", "transform")
_NOT_YET = frozenset((
    "AnyType", "Array", "Attrs", "CallingConv", "Constant", "ConstantPool", "DerivedObject", "DictAttrs",
    "EnvFunc", "ExprOperand", "GenericConst", "GlobalInfo", "IncompleteType", "Map", "OpaqueExpr",
    "OpaqueType", "PoolInfo", "SequentialSpan", "SourceName", "Span", "StringType", "TensorAffineType",
    "TensorType", "Tuple", "TupleGetItem", "TypeConstraint", "TypeKind", "TypeVar", "VDevice",
    "WorkspaceMemoryPools", "attrs", "base", "derived_object", "json_compact", "load_json", "make_node",
    "memory_pools", "register_intrin_lowering", "register_op_attr", "save_json", "type_relation",
))  # fmt: skip

__all__ = [
    "EQ", "FALSE", "GE", "GT", "LE", "LT", "NE", "TRUE", "Add", "Allocate", "AllocateConst", "And",
    "AssertStmt", "AttrStmt", "BinaryOp", "Block", "BlockLabel", "BlockRealize", "Broadcast", "Buffer",
    "BufferLoad", "BufferRealize", "BufferRegion", "BufferStore", "Call", "Cast", "CmpOp",
    "CommReducer", "DType", "DeclBuffer", "Div", "Evaluate", "Expr", "FloatImm", "FloorDiv", "FloorMod",
    "For", "FuncType", "GlobalVar", "IRModule", "IfThenElse", "IntImm", "IterVar", "Let", "LetStmt",
    "MatchBufferRegion", "Max", "Min", "Mod", "Mul", "Node", "Not", "Op", "Or", "PointerType", "PrimFunc",
    "PrimType", "Ramp", "Range", "Select", "SeqStmt", "Shuffle", "Stmt", "StringImm", "StructuralMismatch",
    "Sub", "TupleType", "Type", "UnknownFunction",
    "Var", "While", "assert_structural_equal", "check_well_formed", "const", "const_int", "free_vars",
    "fresh_copy", "full_region", "make_buffer", "point", "post_order", "seq", "structural_equal",
    "structural_hash", "substitute", "walk",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    value: _Any
    if name in _SECOND:
        value = globals()[_SECOND[name]]
    elif name in _FACADES:
        value = _importlib.import_module("tirscript.transform")
    else:
        from tirscript.notyet import absent

        value = absent(__name__, name, __all__, _NOT_YET)
    globals()[name] = value
    return value


def __dir__() -> _Iterable[str]:
    return [*__all__, *_SECOND, *_FACADES]
