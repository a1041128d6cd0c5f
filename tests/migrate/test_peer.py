"""What was migrated to TVM 0.27 runs there, its scripts are the same programs; the table of names is true.

Without apache-tvm (``TIRSCRIPT_PEERS`` names a Python that has it) these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from pathlib import Path

import pytest

from tests.corpus import THEMES, _entries
from tests.script.tvm_helper import normalize, peer, spelled_out, through_tvm
from tirscript.diagnostics import TirscriptError
from tirscript.ir import assert_structural_equal
from tirscript.migrate import eras, migrate_text
from tirscript.script import parse

from .programs import COURSE, LANGUAGE

needs_tvm = pytest.mark.skipif(
    peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it"
)
HEAD = "from tirscript.script import ir as I, tir as T\n"
ENTRIES = [e for theme in THEMES for e in _entries(theme) if e.text is not None]

# What TVM 0.27 does not parse, though every name of it is there.
REFUSED = {
    "buffer_alloc_strided_aligned", "buffer_buffer_decl", "expr_float_floor_division", "expr_int_constants",
    "expr_float_constants", "math_classification", "math_of_integers", "intrin_stack_alloca",
    "dtype_float8_old_names", "dtype_handles", "dtype_vector_constructors", "module_several_defs",
    "module_imports_and_docstring",
}  # fmt: skip
# What TVM folds or promotes while it parses, or prints in a way that is read otherwise.
DIFFERENT = {
    "stmt_attr_of_axis", "expr_ceildiv", "expr_promotions", "dtype_mixed_literals", "kernel_embedding",
    "symbolic_ceildiv", "buffer_matched_float_and_int_views",
}  # fmt: skip


def test_the_corpus_goes_to_027_and_comes_back() -> None:
    """Every program of the corpus: what cannot be written there stays as it is, so all come back equal."""
    complete = 0
    for e in ENTRIES:
        assert e.text is not None
        there = migrate_text(HEAD + e.text, "tvm-0.27")
        back = migrate_text(there.text, "tirscript")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert_structural_equal(parse(back.text, e.options.get("extra_vars")), e.program())
        complete += there.complete
    assert complete > 0.9 * len(ENTRIES)


@pytest.mark.peer
@needs_tvm
def test_the_corpus_is_the_same_in_tvm() -> None:
    texts = {}
    for e in ENTRIES:
        assert e.text is not None
        done = migrate_text(HEAD + e.text, "tvm-0.27")
        if done.complete:
            texts[e.name] = done.text.partition("\n")[2]
    programs = {e.name: e for e in ENTRIES}
    refused, different = {}, {}
    for (name, text), answer in zip(texts.items(), through_tvm(list(texts.values())), strict=True):
        if answer.text is None:
            refused[name] = f"{answer.error}\n{text}"
            continue
        try:
            theirs = parse(spelled_out(answer.text), s_tir=True)
            assert_structural_equal(normalize(theirs), normalize(programs[name].program()))
        except TirscriptError as e:
            different[name] = str(e)
    assert {n: t for n, t in refused.items() if n not in REFUSED} == {}
    assert {n: t for n, t in different.items() if n not in DIFFERENT} == {}


@pytest.mark.peer
@needs_tvm
@pytest.mark.parametrize("text", [COURSE, LANGUAGE], ids=["course", "language"])
def test_a_migrated_program_runs_in_tvm(text: str, tmp_path: Path) -> None:
    """The programs assert what they compute."""
    path = tmp_path / "migrated.py"
    path.write_text(migrate_text(text, "tvm-0.27").text)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(peer()), str(path)], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]


_LOOK = """
import importlib, json, os, sys
import tvm, tvm.script, tvm.s_tir, tvm.tirx, tvm.testing, tvm.support

def there(path):
    value = tvm
    for n, name in enumerate(path.split(".")[1:], 2):
        if not hasattr(value, name):
            folders = getattr(value, "__path__", [])
            if not any(os.path.exists(os.path.join(f, name + end)) for f in folders for end in ("", ".py")):
                return False
            if n == len(path.split(".")):
                return True  # some take minutes to import
            importlib.import_module(".".join(path.split(".")[:n]))
        value = getattr(value, name)
    return True

print(json.dumps([there(p) for p in json.load(sys.stdin)]))
"""


def _look(paths: list[str]) -> dict[str, bool]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(peer()), "-c", _LOOK],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return dict(zip(paths, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.peer
@needs_tvm
def test_the_table_of_names_is_true() -> None:
    # Not built into every wheel.
    unsure = {"tvm.support.rocm", "tvm.support.xcode", "tvm.support.ndk", "tvm.support.emcc"}
    new = sorted({p for p in eras._TO_27.values() if p.startswith("tvm.")} - unsure)
    assert [p for p, there in _look(new).items() if not there] == []
    # What is renamed or refused is not there under its old name.
    modules = {"tvm.script.ir_builder.tir", "tvm.script.parser.tir"}
    gone = [p for p, why in eras._NOT_IN_27.items() if not p.startswith("tvm.script.tir.")]
    gone += [p.replace("tvm.script.tir.", "tvm.script.tirx.") for p in eras._NOT_IN_27]
    gone += [
        p
        for p in eras._TO_27
        if p.startswith(("tvm.tir", "tvm.nd", "tvm.arith", "tvm.contrib")) or p in modules
    ]
    assert [p for p, there in _look(gone).items() if there] == []
