"""TVM's ``tir.stmt_functor``: visiting and substituting."""

from tirscript.ir.visitor import post_order as post_order_visit
from tirscript.ir.visitor import substitute

__all__ = ["post_order_visit", "substitute"]
