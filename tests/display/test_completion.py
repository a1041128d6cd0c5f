"""Names inside strings, as IPython's completer offers them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import tirscript as ts
from tirscript.display.completion import completions, register

TEXT = """
@I.ir_module
class M:
    @T.prim_func
    def main(A: T.Buffer((16,)), C: T.Buffer((16,))):
        B = T.alloc_buffer((16,))
        for i in range(16):
            with T.block("scale"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi] * T.float32(2)
        for j in range(16):
            with T.block("shift"):
                vj = T.axis.spatial(16, j)
                C[vj] = B[vj] + T.float32(1)
"""


@pytest.fixture
def names() -> dict[str, Any]:
    mod = ts.parse(TEXT)
    assert isinstance(mod, ts.IRModule)

    class Holder:
        sch = ts.Schedule(mod)

    return {"sch": ts.Schedule(mod), "mod": mod, "holder": Holder(), "n": 3}


@pytest.mark.parametrize(
    ("text", "typed", "offered"),
    [
        ('sch.get_block("', "", ["root", "scale", "shift"]),
        ("b = sch.get_block('sc", "sc", ["scale"]),
        ('x = 1\nb = sch.get_block(\n    "s', "s", ["scale", "shift"]),
        ('sch.get_block(name="s', "s", ["scale", "shift"]),
        ('sch.get_block("scale", func_name="', "", ["main"]),
        ('sch.get_sblock("sh', "sh", ["shift"]),
        ('sch.get_loops("', "", ["root", "scale", "shift"]),
        ('sch.compute_inline("sc', "sc", ["scale"]),
        ('sch.cache_read("scale", 0, "sh', "sh", ["shared", "shared.dyn"]),
        ('sch.bind(i, "threadIdx', "threadIdx", ["threadIdx.x", "threadIdx.y", "threadIdx.z"]),
        ('holder.sch.get_block("sc', "sc", ["scale"]),
        ('mod["', "", ["main"]),
        ('sch.mod["m', "m", ["main"]),
        ('sch.split(sch.get_loops("sc', "sc", ["scale"]),
    ],
)
def test_the_argument_says_what_is_offered(
    names: dict[str, Any], text: str, typed: str, offered: list[str]
) -> None:
    assert completions(text, names) == (typed, offered)


@pytest.mark.parametrize(
    "text",
    [
        "sch.get_block(", 'sch.get_block("scale")', '# sch.get_block("', 'other.get_block("', 'n.real("',
        'print("', 'sch.nothing("', "sch.get_block('zz", 'sch().get_block("', 'sch.get_block("a\n',
    ],
)  # fmt: skip
def test_elsewhere_nothing_is_offered(names: dict[str, Any], text: str) -> None:
    assert completions(text, names) is None


def test_only_plain_attributes_are_looked_at() -> None:
    class Trap:
        @property
        def sch(self) -> Any:
            raise AssertionError("a property was run")

    assert completions('trap.sch.get_block("', {"trap": Trap()}) is None


def test_the_names_follow_the_schedule(names: dict[str, Any]) -> None:
    sch = names["sch"]
    sch.cache_read("shift", 0, "local")
    assert completions('sch.get_block("B', names) == ("B", ["B_local"])


def test_ipython_offers_them_once_tirscript_is_imported() -> None:
    """In a shell of its own: import, define, complete."""
    code = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("import tirscript as ts")
shell.user_ns["mod"] = shell.user_ns["ts"].parse({TEXT!r})
shell.run_cell("sch = ts.Schedule(mod)")
from IPython.core.completer import provisionalcompleter
def offered(text):
    with provisionalcompleter():
        return sorted(text[:c.start] + c.text for c in shell.Completer.completions(text, len(text)))
found = offered('sch.get_block("s')
assert found == ['sch.get_block("scale', 'sch.get_block("shift'], found
assert offered('x = [sch.get_block("sh') == ['x = [sch.get_block("shift']
assert offered('y = 3\\nb = sch.get_loops("sc') == ['y = 3\\nb = sch.get_loops("scale']
assert any(t.endswith("get_block") for t in offered("sch.get_bl"))
shell.run_cell("import importlib; importlib.reload(ts)")
ours = [m for m in shell.Completer.custom_matchers if "tirscript" in getattr(m, "matcher_identifier", "")]
assert len(ours) == 1
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("done"), done.stdout[-800:] + done.stderr[-2000:]


def test_a_shell_without_a_completer_is_left_alone() -> None:
    assert register(object()) is False
