"""The tensor intrinsics that come with tirscript, by TVM's names where it has them.

``TensorIntrin.get`` finds them; their functions are made on first use.
"""

from __future__ import annotations


def register_all() -> None:
    """Enter the names of all intrinsics."""


__all__ = ["register_all"]
