"""Integer reasoning: normal forms, bounds, simplification, iterator maps."""

from __future__ import annotations

from collections.abc import Mapping as _Mapping
from enum import IntEnum as _IntEnum
from typing import Any as _Any

from tirscript.ir.expr import Expr as _Expr
from tirscript.ir.expr import Range as _Range
from tirscript.ir.expr import Var as _Var

from .analyzer import Analyzer, can_prove, simplify
from .classic import ConstIntBound, ModularSet
from .exact import is_exact
from .int_set import (
    IntervalSet,
    IntSet,
    deduce_bound,
    detect_clip_bound,
    detect_linear_equation,
    estimate_region_lower_bound,
    estimate_region_strict_bound,
    estimate_region_upper_bound,
)
from .iter_map import IterMap
from .iter_map import detect_iter_map as _detect_iter_map
from .linear import Linear, to_linear


class ProofStrength(_IntEnum):
    """How hard TVM's analyzer tries; here symbolic bounds are always used."""

    DEFAULT = 0
    SYMBOLIC_BOUND = 1


class IterMapLevel(_IntEnum):
    """What ``detect_iter_map`` asks of a map."""

    Bijective = 0
    Surjective = 1
    NoCheck = 3


def detect_iter_map(
    values: _Any,
    ranges: _Mapping[_Var, _Range],
    predicate: _Any = True,
    analyzer: _Any = None,
    *,
    check_level: _Any = None,
    require_bijective: bool = False,
    simplify_trivial_iterators: bool = True,
) -> IterMap | None:
    """The map from the variables of ``ranges`` to ``values``, where the predicate holds; None where it
    is not seen to be injective, or bijective where ``check_level`` or ``require_bijective`` say so.

    >>> from tirscript.ir.expr import const_int
    >>> i, j = _Var("i"), _Var("j")
    >>> box = {i: _Range(const_int(0), const_int(8)), j: _Range(const_int(0), const_int(4))}
    >>> detect_iter_map([i * 4 + j], box, check_level="bijective").bijective
    True
    >>> detect_iter_map([i * 8 + j], box).injective, detect_iter_map([i * 8 + j], box, True, "bijective")
    (True, None)

    Source: TVM's ``arith.detect_iter_map``.
    """
    from tirscript.ir.ops import as_expr

    if analyzer is not None and not isinstance(analyzer, Analyzer):
        check_level, analyzer = analyzer, None
    if isinstance(check_level, str):
        check_level = {"bijective": 0, "surjective": 1, "nocheck": 3}[check_level.lower()]
    found = _detect_iter_map([as_expr(v) for v in values], ranges, as_expr(predicate), analyzer)
    wanted = require_bijective or check_level == IterMapLevel.Bijective
    return None if found is None or (wanted and not found.bijective) else found


def iter_map_simplify(
    indices: _Any, input_iters: _Mapping[_Var, _Range], predicate: _Any = True, *options: _Any, **more: _Any
) -> list[_Expr]:
    """The indices, simplified where the iterators lie in their ranges and the predicate holds.

    >>> from tirscript.ir.expr import const_int
    >>> i = _Var("i")
    >>> iter_map_simplify([i // 8, (i * 4 + 3) // 4], {i: _Range(const_int(0), const_int(8))})
    [0, i]

    Source: TVM's ``arith.iter_map_simplify``.
    """
    from tirscript.ir.ops import as_expr

    cx = Analyzer()
    for v, r in input_iters.items():
        cx.bind(v, r)
    condition = as_expr(predicate)
    with cx.constraint(condition):
        return [cx.simplify(as_expr(e)) for e in indices]


__all__ = [
    "Analyzer", "ConstIntBound", "IntSet", "IntervalSet", "IterMap", "IterMapLevel", "Linear", "ModularSet",
    "ProofStrength",
    "can_prove", "deduce_bound", "detect_clip_bound", "detect_iter_map", "detect_linear_equation",
    "estimate_region_lower_bound", "estimate_region_strict_bound", "estimate_region_upper_bound", "is_exact",
    "iter_map_simplify", "simplify", "to_linear",
]  # fmt: skip
_NOT_YET = frozenset((
    "CompareResult", "Extension", "IntConstraints", "IntConstraintsTransform", "IntGroupBounds",
    "IterMapExpr", "IterMark", "IterSplitExpr", "IterSumExpr", "PresburgerSet",
    "Z3ContextScope",
    "domain_touched", "inverse_affine_iter_map", "normalize_iter_map_to_expr", "normalize_to_iter_sum",
    "solve_linear_equations", "solve_linear_inequalities", "subspace_divide",
))  # fmt: skip


def __getattr__(name: str) -> _Any:
    from tirscript.notyet import absent

    return absent(__name__, name, __all__, _NOT_YET)


def __dir__() -> list[str]:
    return __all__
