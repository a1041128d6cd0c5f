"""The IR: what a program is."""

from . import ops as ops
