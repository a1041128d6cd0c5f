"""The wheel, not the working tree: it holds every subpackage, the stubs and the marker, and it works."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tirscript"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_it_is_pure_python(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def test_it_holds_the_whole_package(wheel: Path) -> None:
    there = set(zipfile.ZipFile(wheel).namelist())
    source = {
        p.relative_to(ROOT).as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed")
        for p in PACKAGE.rglob(pattern)
        if "__pycache__" not in p.parts
    }
    assert source <= there
    assert {"tirscript/py.typed", "tirscript/__init__.pyi", "tirscript/script/tir.pyi"} <= there
    top = {n.partition("/")[0] for n in there}
    assert top == {"tirscript", f"{wheel.name.split('-py3')[0]}.dist-info"}


def test_its_metadata(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (path,) = [n for n in archive.namelist() if n.endswith("METADATA")]
    metadata = Parser().parsestr(archive.read(path).decode())
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    required = {r.split(";")[0].strip() for r in metadata.get_all("Requires-Dist", []) if "extra ==" not in r}
    assert {r.partition(">")[0] for r in required} == {"astor", "llvmlite", "ml-dtypes", "numpy", "pygments"}
    assert set(metadata.get_all("Provides-Extra", [])) == {
        "bench",
        "cuda",
        "cuda12",
        "dev",
        "notebook",
        "test",
    }
    assert any(n.endswith("licenses/LICENSE") for n in archive.namelist())


def test_it_works_from_where_it_is_unpacked(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    program = tmp_path / "smoke.py"
    program.write_text(
        """\
import numpy as np
import tirscript as ts
from tirscript.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def twice(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * T.float32(2)


sch = ts.Schedule(Module)
(i,) = sch.get_loops(sch.get_block("B"))
sch.vectorize(sch.split(i, [None, 4])[1])
for target in ("llvm", "python"):
    a, b = np.arange(8, dtype="float32"), np.zeros(8, dtype="float32")
    ts.build(sch.mod, target)["twice"](a, b)
    assert (b == 2 * a).all(), target
assert ts.from_source(sch.mod.script()).script() == sch.mod.script()
print(ts.__file__)
"""
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(site)
    script = subprocess.run(
        [sys.executable, "-m", "tirscript", "demo", "--brief"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert script.returncode == 0, script.stderr
    assert script.stdout.count("matches NumPy") == 2
