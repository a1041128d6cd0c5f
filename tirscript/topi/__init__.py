"""Operators on tensors: broadcasting arithmetic, shapes, reductions, products; ``nn`` and ``image``.

>>> from tirscript import te, topi
>>> A, B = te.placeholder((4, 1), name="A"), te.placeholder((3,), name="B")
>>> C = topi.nn.relu(topi.add(A, B))
>>> C.shape
(4, 3)
"""

from __future__ import annotations

from . import (
    broadcast,
    elemwise,
    image,
    indexing,
    layout,
    making,
    nn,
    order,
    reduction,
    slicing,
    tag,
    transform,
)  # fmt: skip
from .broadcast import *  # noqa: F403
from .elemwise import *  # noqa: F403
from .indexing import *  # noqa: F403
from .layout import *  # noqa: F403
from .linalg import einsum, matmul, tensordot
from .making import *  # noqa: F403
from .order import *  # noqa: F403
from .reduction import *  # noqa: F403
from .slicing import *  # noqa: F403
from .transform import *  # noqa: F403

__all__ = ["einsum", "image", "matmul", "nn", "tag", "tensordot"]
for _part in (
    broadcast,
    elemwise,
    indexing,
    layout,
    making,
    order,
    reduction,
    slicing,
    transform,
):
    __all__ += _part.__all__
