"""Two readers of one language: what we print for TVM 0.27, TVM parses to the same program.

Each program is printed in the dialect of TVM 0.27, parsed and printed by TVM in a child process, and TVM's
print is parsed here; the result must equal the program, modulo what TVM folds (``tvm_helper.normalize``).
Without apache-tvm (see ``tvm_helper.peer``) these tests are skipped.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.corpus import CORPUS
from tests.script.test_print_roundtrip import TEXTS, quiet_parse
from tests.script.tvm_helper import normalize, peer, spelled_out, through_tvm
from tirscript.diagnostics import NotYetError, TirscriptError
from tirscript.ir.equal import assert_structural_equal
from tirscript.script.printer import script

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(peer() is None, reason="no apache-tvm: set TIRSCRIPT_PEERS to a Python that has it"),
]


@dataclass
class Outcome:
    """What became of each program, by name."""

    equal: list[str] = field(default_factory=list)
    lacking: dict[str, str] = field(default_factory=dict)  # TVM has no such construct
    refused: dict[str, str] = field(default_factory=dict)  # TVM does not parse our text
    unfaithful: list[str] = field(default_factory=list)  # TVM does not read its own print back
    unreadable: dict[str, str] = field(default_factory=dict)  # we do not parse TVM's print
    different: dict[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        parsed = len(self.equal) + len(self.unreadable) + len(self.different) + len(self.unfaithful)
        return (
            f"parsed by TVM: {parsed}; constructs that TVM lacks: {len(self.lacking)}; "
            f"refused by TVM: {len(self.refused)}; equal: {len(self.equal)}; "
            f"different: {len(self.different)}; "
            f"TVM's print not read here: {len(self.unreadable)}, not even by TVM: {len(self.unfaithful)}"
        )


def cross(programs: dict[str, Any]) -> Outcome:
    """Every program through TVM and back."""
    out = Outcome()
    texts: dict[str, str] = {}
    for name, program in programs.items():
        try:
            texts[name] = script(program, dialect="tvm-0.27")
        except NotYetError as e:
            out.lacking[name] = e.message
    for (name, text), answer in zip(texts.items(), through_tvm(list(texts.values())), strict=True):
        if answer.text is None:
            out.refused[name] = f"{answer.error}\n{text}"
            continue
        try:
            back = quiet_parse(spelled_out(answer.text))
            assert_structural_equal(normalize(back), normalize(programs[name]))
            out.equal.append(name)
        except TirscriptError as e:
            if not answer.faithful:
                out.unfaithful.append(name)
            elif isinstance(e, AssertionError):
                out.different[name] = str(e)
            else:
                out.unreadable[name] = f"{e}\n{answer.text}"
    return out


def report(title: str, out: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{title}: {out.summary()}")


def assert_agreed(out: Outcome) -> None:
    for found in (out.refused, out.unreadable, out.different):
        assert not found, "\n\n".join(f"{k}: {v}" for k, v in found.items())


def test_programs_of_this_project(capsys: pytest.CaptureFixture[str]) -> None:
    # The infos of a module hold targets, which TVM fills in.
    out = cross({name: quiet_parse(text) for name, text in TEXTS.items() if name != "module_infos"})
    report("printed programs", out, capsys)
    assert_agreed(out)
    assert out.lacking.keys() == {
        "allocations",  # a pointer without a buffer
        "atomics",
        "constants",  # of uint64 above the largest int64
        "integer_mathematics",  # T.pow of integers
        "old_buffer_fields",
        "predicated",
        "realize",
    }
    # Where TVM does not read its own print: symbolic int64 extents become type variables, a comparison of
    # comparisons loses its brackets, strings with line ends go into metadata that it does not read.
    assert out.unfaithful == ["symbolic", "bools", "strings"]
    assert len(out.equal) >= 40


def test_the_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    programs = {}
    for name, entry in CORPUS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            programs[name] = entry.program()
    out = cross(programs)
    report("corpus", out, capsys)
    assert_agreed(out)
    assert len(out.equal) > 0.85 * len(programs)
