"""Simplification rules, one operator each.

Rules for exact integers build normal forms from normal forms: ``floordiv(cx, a, b, dtype)`` is the normal
form of ``a // b``.  ``data`` and ``floats`` hold what is valid for integers that wrap and for floats.
"""
