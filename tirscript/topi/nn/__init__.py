"""Operators of neural networks.

>>> from tirscript import te, topi
>>> x, w = te.placeholder((1, 3, 8, 8)), te.placeholder((4, 3, 3, 3))
>>> topi.nn.relu(topi.nn.conv2d(x, w, 1, 1, 1)).shape
(1, 4, 8, 8)
"""

from __future__ import annotations

from ..linalg import batch_matmul, dense
from ..linalg import nn_matmul as matmul
from . import activation, convolution, normalization, padding, pooling
from .activation import *  # noqa: F403
from .convolution import *  # noqa: F403
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403

__all__ = ["batch_matmul", "dense", "matmul"]
for _part in (activation, convolution, normalization, padding, pooling):
    __all__ += _part.__all__
