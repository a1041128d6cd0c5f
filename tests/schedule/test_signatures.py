"""Every method of TVM's Schedule is there, with its parameters and defaults."""

from __future__ import annotations

import inspect

import pytest

from tirscript.schedule import Schedule

# name: parameters, as `inspect` writes them
SIGNATURES = """
__init__ mod, *, seed=None, debug_mask='none', error_render_level='detail', enable_check=True
mod property
state property
trace property
func_working_on property
work_on func_name
copy
seed seed
fork_seed
show *args, **kwargs
get rand_var_or_sref
get_sref rand_var_or_stmt
remove_rv rand_var
sample_categorical candidates, probs, decision=None
sample_perfect_tile loop, n, max_innermost_factor=16, decision=None
sample_partitioned_tile loop, n, partition_pos=0, innerpart_factor=1, decision=None
sample_compute_location block, decision=None
get_block name, func_name=None
get_loops block
get_child_blocks block_or_loop
get_producers block
get_consumers block
get_output_blocks scope_block
merge *loops
fuse *loops, preserve_unit_iters=True
split loop, factors, preserve_unit_iters=True, disable_predication=False
loop_partition loop, factors, preserve_unit_iters=True
reorder *ordered_loops
reorder_block_iter_var block, new_order
add_unit_loop block_or_loop
parallel loop
vectorize loop
bind loop, thread_axis
unroll loop
cache_read block, read_buffer_index, storage_scope, consumer_blocks=None
cache_write block, write_buffer_index, storage_scope, consumer_blocks=None
reindex_cache_read block, read_buffer_index, storage_scope, index_map
reindex_cache_write block, write_buffer_index, storage_scope, index_map
cache_inplace block, read_buffer_index, storage_scope
cache_index block, storage_scope, cse_thresh=0
reindex block, buffer
read_at loop, block, read_buffer_index, storage_scope
write_at loop, block, write_buffer_index, storage_scope
compute_at block, loop, preserve_unit_loops=False, index=-1
reverse_compute_at block, loop, preserve_unit_loops=False, index=-1
compute_inline block
reverse_compute_inline block
fuse_reduction_epilogue reduction_block, epilogue_block
decompose_reduction block, loop
rfactor loop, factor_axis
storage_align block, buffer_index, axis, factor, offset
set_scope block, buffer_index, storage_scope
unsafe_set_dtype block, buffer_index, dtype
blockize target, preserve_unit_iters=True
tensorize block_or_loop, tensor_intrin, preserve_unit_iters=True
annotate block_or_loop, ann_key, ann_val
unannotate block_or_loop, ann_key
transform_layout block, buffer, index_map, pad_value=None, *, assume_injective_transform=False
transform_block_layout block, index_map
set_axis_separator block, buffer, axis_separators
decompose_padding block, loop
can_decompose_padding block, loop
pad_einsum block, padding
rolling_buffer block, write_buffer_index
enter_postproc
unsafe_hide_buffer_access block, buf_type, buf_index_array
annotate_buffer_access block, buffer_index, buf_type, gen_new_ranges
"""


def rows() -> list[tuple[str, str]]:
    lines = [line for line in SIGNATURES.strip().splitlines() if line]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


@pytest.mark.parametrize(("name", "want"), rows())
def test_signature(name: str, want: str) -> None:
    member = inspect.getattr_static(Schedule, name)
    if want == "property":
        assert isinstance(member, property)
        return
    parameters = list(inspect.signature(member).parameters.values())[1:]
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    have = str(inspect.Signature(bare))[1:-1]
    if name == "__init__":
        have = have.removesuffix(", verify=False")  # ours
    assert have == want


def test_second_names() -> None:
    assert Schedule.get_sblock is Schedule.get_block
