"""What Jupyter and editors complete: jedi, which IPython asks, finds the names, signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import jedi
import pytest

import tirscript as ts
from tirscript.testing import stubs

PACKAGE = Path(ts.__file__).parent
PROJECT = jedi.Project(str(PACKAGE.parent))
HEAD = """\
import tirscript as tvm
from tirscript.script import ir as I, tir as T
from tirscript import te, tir, topi
"""
SCHEDULE = HEAD + "\ndef program() -> tvm.IRModule: ...\n\nsch = tvm.tir.Schedule(program())\n"
# TVM's names, kinds and parameters of the methods of Schedule, with defaults.
SIGNATURES = """\
work_on: func_name
copy:
seed: seed
fork_seed:
get: rand_var_or_sref
get_sref: rand_var_or_stmt
remove_rv: rand_var
sample_categorical: candidates, probs, decision=None
sample_perfect_tile: loop, n, max_innermost_factor=16, decision=None
sample_partitioned_tile: loop, n, partition_pos=0, innerpart_factor=1, decision=None
sample_compute_location: block, decision=None
get_block: name, func_name=None
get_loops: block
get_child_blocks: block_or_loop
get_producers: block
get_consumers: block
get_output_blocks: scope_block
merge: *loops
fuse: *loops, preserve_unit_iters=True
split: loop, factors, preserve_unit_iters=True, disable_predication=False
loop_partition: loop, factors, preserve_unit_iters=True
reorder: *ordered_loops
reorder_block_iter_var: block, new_order
add_unit_loop: block_or_loop
parallel: loop
vectorize: loop
bind: loop, thread_axis
unroll: loop
cache_read: block, read_buffer_index, storage_scope, consumer_blocks=None
cache_write: block, write_buffer_index, storage_scope, consumer_blocks=None
reindex_cache_read: block, read_buffer_index, storage_scope, index_map
reindex_cache_write: block, write_buffer_index, storage_scope, index_map
cache_inplace: block, read_buffer_index, storage_scope
cache_index: block, storage_scope, cse_thresh=0
reindex: block, buffer
read_at: loop, block, read_buffer_index, storage_scope
write_at: loop, block, write_buffer_index, storage_scope
compute_at: block, loop, preserve_unit_loops=False, index=-1
reverse_compute_at: block, loop, preserve_unit_loops=False, index=-1
compute_inline: block
reverse_compute_inline: block
fuse_reduction_epilogue: reduction_block, epilogue_block
decompose_reduction: block, loop
rfactor: loop, factor_axis
storage_align: block, buffer_index, axis, factor, offset
set_scope: block, buffer_index, storage_scope
unsafe_set_dtype: block, buffer_index, dtype
blockize: target, preserve_unit_iters=True
tensorize: block_or_loop, tensor_intrin, preserve_unit_iters=True
annotate: block_or_loop, ann_key, ann_val
unannotate: block_or_loop, ann_key
transform_layout: block, buffer, index_map, pad_value=None, assume_injective_transform=False
transform_block_layout: block, index_map
set_axis_separator: block, buffer, axis_separators
decompose_padding: block, loop
can_decompose_padding: block, loop
pad_einsum: block, padding
rolling_buffer: block, write_buffer_index
enter_postproc:
unsafe_hide_buffer_access: block, buf_type, buf_index_array
annotate_buffer_access: block, buffer_index, buf_type, gen_new_ranges
"""


def complete(code: str) -> dict[str, Any]:
    """The completions at the end of ``code``, by name."""
    lines = code.splitlines()
    found = jedi.Script(code, project=PROJECT).complete(len(lines), len(lines[-1]))
    return {c.name: c for c in found}


def signature(code: str) -> Any:
    """The signature that is shown at the end of ``code``, after an opening bracket."""
    lines = code.splitlines()
    (shown,) = jedi.Script(code, project=PROJECT).get_signatures(len(lines), len(lines[-1]))
    return shown


def parameters(shown: Any) -> str:
    """Names and defaults, as TVM's documentation writes them."""
    out = []
    for p in shown.params:
        text = p.to_string()
        star = text[: len(text) - len(text.lstrip("*"))]
        default = text.rpartition("=")[2].strip() if "=" in text else None
        out.append(star + p.name + (f"={default}" if default is not None else ""))
    return ", ".join(n for n in out if n != "*")


@pytest.fixture(scope="module")
def schedule() -> dict[str, Any]:
    return complete(SCHEDULE + "sch.")


def test_every_method_of_a_schedule_completes_with_tvms_signature(schedule: dict[str, Any]) -> None:
    wrong = {}
    for line in SIGNATURES.splitlines():
        name, _, expected = line.partition(":")
        assert name in schedule, name
        (shown,) = schedule[name].get_signatures()
        if parameters(shown) != expected.strip():
            wrong[name] = parameters(shown), expected.strip()
    assert wrong == {}


def test_every_method_of_a_schedule_has_a_docstring(schedule: dict[str, Any]) -> None:
    public = {n for n in dir(ts.Schedule) if not n.startswith("_")}
    assert public <= set(schedule)
    # A second name is a name for the same function.
    texts = {n: schedule[n].docstring(raw=True) or schedule[n].infer()[0].docstring(raw=True) for n in public}
    assert [n for n, text in texts.items() if len(text.split()) < 3] == []


def test_what_is_ours_completes_too(schedule: dict[str, Any]) -> None:
    assert {"history", "diff", "undo", "goto", "step", "tree", "check", "mod", "trace", "state"} <= set(
        schedule
    )


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("sch = tvm.Schedule(program())", "split"),
        ("from tirscript.tir import Schedule\nsch = Schedule(program())", "split"),
        ("sch = tir.Schedule(program())\nsch = sch.copy()", "split"),
        ("sch = tvm.s_tir.Schedule(program())", "get_sblock"),
        ("sch = tvm.tir.Schedule(program()).mod", "update_func"),
        ("sch = tvm.tir.Schedule(program()).trace", "as_python"),
        ("sch = tvm.build(program())", "time_evaluator"),
        ("sch = tvm.nd.array([1])", "numpy"),
        ("sch = tvm.target.Target('llvm')", "kind"),
        ("with tvm.Schedule(program()).step('x') as sch: pass", "split"),
    ],
)
def test_what_calls_give_completes(made: str, expected: str) -> None:
    assert expected in complete(f"{SCHEDULE}{made}\nsch.")


def test_handles_are_known() -> None:
    assert "function" in complete(SCHEDULE + "sch.get_block('C').")
    assert "function" in complete(SCHEDULE + "i, j = sch.split(sch.get_loops('C')[0], [None, 4])\ni.")


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("T.", {"grid", "block", "axis", "Buffer", "float32", "exp", "match_buffer", "alloc_buffer"}),
        ("T.axis.", {"spatial", "reduce", "remap", "scan", "opaque", "S", "R"}),
        ("I.", {"ir_module", "module_attrs"}),
        ("te.", {"placeholder", "compute", "reduce_axis", "create_prim_func", "sum", "exp"}),
        ("topi.", {"add", "matmul", "transpose", "nn", "sum", "reshape"}),
        ("topi.nn.", {"relu", "softmax", "conv2d", "dense", "pool2d"}),
        ("tir.", {"Schedule", "PrimFunc", "IntImm", "TensorIntrin", "IndexMap", "For", "schedule"}),
        ("tvm.", {"build", "lower", "nd", "Schedule", "target", "tir", "cpu", "runtime", "IRModule"}),
        ("tvm.tirx.", {"Var", "Schedule"}),
        ("tvm.nd.", {"array", "empty", "NDArray"}),
    ],
)  # fmt: skip
def test_modules_complete(prefix: str, names: set[str]) -> None:
    assert names <= set(complete(HEAD + prefix))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("T.match_buffer(", "param, shape"),
        ("T.grid(", "*extents"),
        ("T.axis.remap(", "kinds, bindings"),
        ("te.compute(", "shape, fcompute"),
        ("topi.nn.conv2d(", "input, filter"),
        ("tvm.build(", "func_or_mod, target='llvm'"),
        ("tir.IntImm(", "dtype, value"),
        ("tvm.nd.empty(", "shape, dtype='float32'"),
        ("tvm.tir.Schedule(", "mod, seed=None"),
    ],
)
def test_signatures_are_shown(call: str, expected: str) -> None:
    shown = signature(HEAD + call)
    assert parameters(shown).replace('"', "'").startswith(expected)
    assert shown.docstring().strip()


# ---- the stubs are true


def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.pyi")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_stub_says_what_there_is(path: Path) -> None:
    """Every name of a stub is there at run time, and a function has the parameters that it says."""
    import importlib

    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for n in tree.body:
        if isinstance(n, ast.ImportFrom):
            home = importlib.import_module(n.module or "")
            for a in n.names:
                if a.name != "*" and a.asname and not a.asname.startswith("_"):
                    assert getattr(module, a.asname) is getattr(home, a.name), f"{path.name}: {a.asname}"
        elif isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name):
            assert hasattr(module, n.target.id)
    for name, node in _functions(path).items():
        value = getattr(module, name)
        function = value if inspect.isroutine(value) else type(value).__call__
        real = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
        args = node.args
        said = [a.arg for a in [*args.posonlyargs, *args.args]]
        assert said == [p.name for p in real if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)], name
        assert [a.arg for a in args.kwonlyargs] == [p.name for p in real if p.kind is p.KEYWORD_ONLY], name
        defaults = len(args.defaults)
        assert defaults == sum(
            p.default is not p.empty for p in real if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ), name
        assert (args.vararg is not None) == any(p.kind is p.VAR_POSITIONAL for p in real), name


def test_every_public_name_of_a_lazy_module_is_in_its_stub() -> None:
    for name in stubs._FACADES:
        module = sys.modules.get(name) or __import__(name, fromlist=["x"])
        text = stubs._path(name).read_text(encoding="utf-8")
        tree = ast.parse(text)
        there = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        there |= {a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
        there |= {
            n.target.id for n in tree.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        }
        assert set(module.__all__) <= there, name
