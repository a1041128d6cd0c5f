"""tirscript: a tensor-program compiler in pure Python."""
