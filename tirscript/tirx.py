"""``tirscript.tirx`` is ``tirscript.tir`` under the name that newer TVM has for it."""

from tirscript import tir

tir.enter_as(__name__)
