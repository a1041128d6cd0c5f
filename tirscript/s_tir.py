"""``tirscript.s_tir`` is ``tirscript.tir`` under the name that newer TVM has for its scheduling half."""

from tirscript import tir

tir.enter_as(__name__)
