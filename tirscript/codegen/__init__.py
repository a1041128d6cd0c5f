"""Backends: lowered programs to LLVM IR, programs to Python."""
