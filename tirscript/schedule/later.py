"""The primitives of TVM that tirscript does not have yet: each says so when it is called."""

from __future__ import annotations

from typing import Any, NoReturn

from tirscript.diagnostics import NotYetError


def _not_yet(name: str) -> NotYetError:
    return NotYetError(f"tirscript does not have the schedule primitive `{name}` yet", code="not-yet")


class Later:
    """Names, parameters and defaults as TVM's."""

    def sample_compute_location(self, block: Any, decision: Any = None) -> NoReturn:
        raise _not_yet("sample_compute_location")

    def loop_partition(self, loop: Any, factors: Any, preserve_unit_iters: Any = True) -> NoReturn:
        raise _not_yet("loop_partition")

    def reverse_compute_inline(self, block: Any) -> NoReturn:
        raise _not_yet("reverse_compute_inline")

    def fuse_reduction_epilogue(self, reduction_block: Any, epilogue_block: Any) -> NoReturn:
        raise _not_yet("fuse_reduction_epilogue")

    def unsafe_set_dtype(self, block: Any, buffer_index: Any, dtype: Any) -> NoReturn:
        raise _not_yet("unsafe_set_dtype")

    def rolling_buffer(self, block: Any, write_buffer_index: Any) -> NoReturn:
        raise _not_yet("rolling_buffer")

    def unsafe_hide_buffer_access(self, block: Any, buf_type: Any, buf_index_array: Any) -> NoReturn:
        raise _not_yet("unsafe_hide_buffer_access")

    def annotate_buffer_access(
        self, block: Any, buffer_index: Any, buf_type: Any, gen_new_ranges: Any
    ) -> NoReturn:
        raise _not_yet("annotate_buffer_access")
