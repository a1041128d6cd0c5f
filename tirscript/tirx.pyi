# Written by `python -m tirscript.testing.stubs`: do not edit.
from tirscript.tir import *
