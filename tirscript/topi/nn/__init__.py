"""Operators of neural networks.

>>> from tirscript import te, topi
>>> x, w = te.placeholder((1, 3, 8, 8)), te.placeholder((4, 3, 3, 3))
>>> topi.nn.relu(topi.nn.conv2d(x, w, 1, 1, 1)).shape
(1, 4, 8, 8)
"""

from __future__ import annotations

from typing import Any

from tirscript.te import Tensor

from ..image.interpolation import scaled
from ..linalg import batch_matmul, dense
from ..linalg import nn_matmul as matmul
from . import activation, convolution, normalization, padding, pooling
from .activation import *  # noqa: F403
from .convolution import *  # noqa: F403
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403

__all__ = ["batch_matmul", "dense", "matmul", "upsampling", "upsampling3d"]


def upsampling(
    data: Tensor, scale_h: float, scale_w: float, layout: str = "NCHW", method: str = "nearest_neighbor",
    align_corners: bool = False, output_shape: Any = None,
) -> Tensor:  # fmt: skip
    """Images scaled by factors: ``nearest_neighbor``, ``bilinear`` or ``bicubic``.

    With ``align_corners`` the corners keep their place, else the first row and column do.

    >>> from tirscript import te, topi
    >>> topi.nn.upsampling(te.placeholder((1, 3, 8, 8)), 2, 2).shape
    (1, 3, 16, 16)
    """
    mode = "align_corners" if align_corners else "asymmetric"
    return scaled(data, (scale_h, scale_w), layout, method, mode, output_shape)


def upsampling3d(
    data: Tensor, scale_d: float, scale_h: float, scale_w: float, layout: str = "NCDHW",
    method: str = "nearest_neighbor", coordinate_transformation_mode: str = "half_pixel",
    output_shape: Any = None,
) -> Tensor:  # fmt: skip
    """Volumes scaled by factors: ``nearest_neighbor`` or ``trilinear``."""
    mode = coordinate_transformation_mode
    return scaled(data, (scale_d, scale_h, scale_w), layout, method, mode, output_shape)


for _part in (activation, convolution, normalization, padding, pooling):
    __all__ += _part.__all__
