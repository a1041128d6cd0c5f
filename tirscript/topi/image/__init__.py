"""Operators on images.

>>> from tirscript import te, topi
>>> topi.image.resize2d(te.placeholder((1, 3, 8, 8)), None, (4, 4), method="cubic").shape
(1, 3, 4, 4)
"""

from __future__ import annotations

from .interpolation import resize1d, resize2d, resize3d
from .sampling import affine_grid, crop_and_resize, dilation2d_nchw, dilation2d_nhwc, grid_sample

__all__ = [
    "affine_grid", "crop_and_resize", "dilation2d_nchw", "dilation2d_nhwc", "grid_sample", "resize1d",
    "resize2d", "resize3d",
]  # fmt: skip
