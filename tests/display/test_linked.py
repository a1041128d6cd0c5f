"""Linked views: every link against the line tables of the code, read here a second time."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

import tirscript as ts
from tests.corpus import CORPUS
from tirscript.codegen.llvm import emit
from tirscript.display.linked_views import LinkedView, linked
from tirscript.ir.node import walk
from tirscript.ir.stmt import Stmt
from tirscript.runtime.jit import Machine, assembly
from tirscript.script.printer import render


def function(text: str) -> ts.PrimFunc:
    f = ts.from_source(text)
    assert isinstance(f, ts.PrimFunc)
    return f


def matmul(n: int = 128) -> ts.PrimFunc:
    return function(f"""
@T.prim_func
def mm(A: T.Buffer(({n}, {n}), "float32"), B: T.Buffer(({n}, {n}), "float32"),
       C: T.Buffer(({n}, {n}), "float32")):
    for i, j, k in T.grid({n}, {n}, {n}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
""")


def scheduled(n: int = 128) -> ts.Schedule:
    sch = ts.Schedule(matmul(n))
    block = sch.get_block("C")
    copy = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, [None, 8])
    j_0, j_1 = sch.split(j, [None, 16])
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(i_0, j_0, k_0, k_1, i_1, j_1)
    sch.reverse_compute_at(copy, j_0)
    sch.decompose_reduction(block, k_0)
    sch.vectorize(j_1)
    sch.unroll(i_1)
    sch.parallel(i_0)
    return sch


def uneven() -> ts.Schedule:
    sch = ts.Schedule(
        function("""
@T.prim_func
def relu(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
    for i in range(1000):
        with T.block("B"):
            vi = T.axis.spatial(1000, i)
            B[vi] = T.max(T.exp(A[vi]) - T.float32(1), T.float32(0))
""")
    )
    (i,) = sch.get_loops(sch.get_block("B"))
    _, inner = sch.split(i, [None, 64])
    sch.vectorize(inner)
    return sch


def data() -> ts.PrimFunc:
    return function("""
@T.prim_func
def f(I: T.Buffer((64,), "int32"), A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.func_attr({"tir.noalias": False})
    for i in range(64):
        if I[i] > 3:
            B[i] = A[I[i]]
        else:
            while B[i] < A[i]:
                B[i] = B[i] + T.float32(1)
    for i in range(64):
        A[i] = B[63 - i]
""")


PROGRAMS: dict[str, Callable[[], Any]] = {
    "matmul": matmul, "scheduled": scheduled, "uneven": uneven, "data": data,
}  # fmt: skip


# ---- the second reading


def script_line_table(program: Any) -> tuple[list[str], str]:
    """The printed script, and assembly whose ``.loc`` directives name its lines: the program is read back
    from its own text, so that the parser, not the view, says where each statement stands."""
    mod = program.mod if isinstance(program, ts.Schedule) else ts.IRModule.from_expr(program)
    f = mod.functions_items()[0][1]
    text = render(f, sugar=False).text
    again = ts.from_source(text)
    assert isinstance(again, ts.PrimFunc)
    lowered = ts.lower(again.with_attr("global_symbol", f.name))
    return text.split("\n"), assembly(emit(lowered, None, debug=True), Machine())


def instructions(text: str) -> list[tuple[str, int]]:
    """Each instruction with the line that a debugger would show for it."""
    found = []
    line = 0
    for raw in text.splitlines():
        words = raw.split()
        if raw.startswith("\t.loc\t"):
            line = int(words[2])
        elif raw.startswith("\t") and not words[0].startswith((".", "#")):
            found.append((" ".join(words), line))
        elif raw.endswith(":") and not raw.startswith(".L"):
            line = 0
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_assembly_lights_the_line_of_its_loc_directive(name: str) -> None:
    program = PROGRAMS[name]()
    view = linked(program)
    script, text = script_line_table(program)
    assert view["script"].text.split("\n") == script
    shown = [line for line in view["asm"].lines if line.text.startswith(" ")]
    table = instructions(text)
    assert [" ".join(line.text.split()) for line in shown] == [instruction for instruction, _ in table]
    assert [line.script or 0 for line in shown] == [line for _, line in table]
    linked_lines = {line.script for line in shown if line.script}
    assert len(linked_lines) >= 3
    # What is linked is a line with code, and its line of the script lights up too.
    lit = {n for n, line in enumerate(view["script"].lines, start=1) if line.script == n}
    assert linked_lines <= lit
    for n in linked_lines:
        assert re.search(r"\bdef \w|for |while |if |=|with T.block|T.where", script[n - 1]), script[n - 1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_links_through_the_lowered_script_agree(name: str) -> None:
    """A line's own line of the lowered script belongs to its line of the script."""
    view = linked(PROGRAMS[name](), panes=("script", "lowered", "llvm", "llvm-optimized", "asm"))
    of: dict[int | None, int | None] = {
        line.lowered: line.script for line in view["lowered"].lines if line.lowered
    }
    assert of
    for kind in ("llvm", "llvm-optimized", "asm"):
        lines = [line for line in view[kind].lines if line.lowered is not None]
        assert lines
        assert all(of.get(line.lowered) == line.script for line in lines)


def test_each_statement_of_the_scheduled_matmul_is_where_it_should_be() -> None:
    view = linked(scheduled())
    script = [line.text.strip() for line in view["script"].lines]

    def lit(kind: str, statement: str) -> list[str]:
        n = script.index(statement) + 1
        return [line.text.strip() for line in view[kind].lines if line.script == n]

    update = "C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]"
    assert len(lit("lowered", update)) == 8 and all("A_flat" in t for t in lit("lowered", update))
    assert any("fmuladd" in t for t in lit("llvm", update))
    # Multiplications stand nowhere else.
    fma = [line for line in view["asm"].lines if re.match(r"\s+(vfmadd|vmulps|fmla|fmadd)", line.text)]
    assert fma and {line.script for line in fma} == {script.index(update) + 1}
    # Where it is copied to C, there are stores and no arithmetic.
    copy = next(t for t in script if re.fullmatch(r"C\[\w+, \w+\] = C_local\[\w+, \w+\]", t))
    assert lit("lowered", copy) and all(t.startswith("C_flat[") for t in lit("lowered", copy))
    allocation = next(t for t in script if t.startswith("C_local = T.alloc_buffer"))
    assert any("allocate" in t or "C_local" in t for t in lit("lowered", allocation))
    # A loop's counter is counted on the loop's own line.
    loop = next(t for t in script if t.startswith("for k_0 in"))
    assert {t.split(" = ")[1].split()[0] for t in lit("llvm", loop) if " = " in t} >= {"phi", "add", "icmp"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_debug_information_changes_no_instruction(name: str) -> None:
    program = PROGRAMS[name]()
    mod = ts.lower(program.mod if isinstance(program, ts.Schedule) else program)
    plain, with_lines = emit(mod), emit(mod, debug=True)
    bare = re.sub(r",? !dbg !\d+", "", with_lines)
    kept = [
        t for t in bare.split("\n") if not t.startswith("!") or re.match(r"![01] = .*(llvm\.loop|!\{!0)", t)
    ]
    assert kept == plain.split("\n")
    assert "DICompileUnit" not in plain and "!dbg" not in plain
    first, second = [instructions(assembly(t, Machine())) for t in (plain, with_lines)]
    assert [i for i, _ in first] == [i for i, _ in second]
    assert {n for _, n in first} == {0}


@pytest.mark.filterwarnings("ignore::tirscript.diagnostics.TirscriptWarning")
def test_programs_of_the_corpus_have_views_and_unchanged_code() -> None:
    seen = 0
    for entry in list(CORPUS.values())[::23]:
        program = entry.program()
        mod = program if isinstance(program, ts.IRModule) else ts.IRModule.from_expr(program)
        try:
            ts.build(mod)
        except ts.TirscriptError:
            with pytest.raises(ts.TirscriptError):
                linked(mod)
            continue
        view = linked(mod)
        lowered = ts.lower(mod)
        codes = [
            [i for i, _ in instructions(assembly(emit(lowered, debug=d), Machine()))] for d in (False, True)
        ]
        assert codes[0] == codes[1], entry.name
        assert any(line.script for line in view["asm"].lines), entry.name
        count = len(view["script"].lines)
        assert all(1 <= line.script <= count for p in view.panes for line in p.lines if line.script), (
            entry.name
        )
        seen += 1
    assert seen > 5


def test_a_statement_of_another_file_keeps_its_own() -> None:
    """A macro's statements are in the macro's file: no line of the function is theirs."""
    from tirscript.diagnostics import Source, Span

    f = ts.lower(matmul(4))["main"]
    elsewhere = Span(Source("other.py", ""), 77, 0, 77, 1)

    def moved(s: Any) -> Any:
        new = s.map_children(lambda c: moved(c) if isinstance(c, Stmt) else c)
        return new.replace(span=elsewhere) if type(s).__name__ == "BufferStore" else new

    text = emit(ts.IRModule({"f": f.replace(body=moved(f.body))}), debug=True)
    places = dict(re.findall(r"^(!\d+) = !DILocation\((.*)\)$", text, re.M))
    scopes = {re.search(r"scope: (!\d+)", p)[1] for p in places.values() if "line: 77" in p}  # type: ignore[index]
    assert len(scopes) == 1
    (scope,) = scopes
    block = re.search(rf"^{scope} = !DILexicalBlockFile\(scope: !\d+, file: (!\d+)", text, re.M)
    assert block is not None
    assert re.search(rf'^{block[1]} = !DIFile\(filename: "other.py"', text, re.M)
    assert "other.py" in assembly(text, Machine())


def test_modules_show_all_their_functions() -> None:
    mod = ts.parse("""
@I.ir_module
class Module:
    @T.prim_func
    def one(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = A[i] + T.float32(1)

    @T.prim_func
    def two(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = A[i] * T.float32(3)
""")
    view = linked(mod)
    script = view["script"].text.split("\n")
    add, multiply = [n for n, t in enumerate(script, start=1) if "A[i] =" in t]
    names = {
        n: [line.text for line in view["llvm"].lines if line.script == n and " = " in line.text]
        for n in (add, multiply)
    }
    assert any("fadd" in t for t in names[add]) and not any("fmul" in t for t in names[add])
    assert any("fmul" in t for t in names[multiply]) and not any("fadd" in t for t in names[multiply])
    assert view.name == "one, two"


def test_a_private_function_and_other_machines() -> None:
    f = function("""
@T.prim_func(private=True)
def hidden(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = A[i] * T.float32(3)
""")
    assert any("mul" in line.text for line in linked(f)["asm"].lines if line.script)
    view = linked(f, "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")
    assert any(re.search(r"\bfmul\b", line.text) for line in view["asm"].lines if line.script)
    assert "aarch64" in view.target


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: linked(3), "not-a-program"),
        (lambda: linked(ts.IRModule()), "empty-module"),
        (lambda: linked(matmul(), panes=("script", "assembler")), "unknown-pane"),
        (lambda: linked(matmul(), panes=()), "unknown-pane"),
        (lambda: linked(matmul(), panes=3), "unknown-pane"),  # type: ignore[arg-type]
        (lambda: linked(matmul(), "python"), "not-yet-target"),
        (lambda: linked(matmul(), "llvn"), "target-kind"),
    ],
)
def test_refusals(make: Callable[[], LinkedView], code: str) -> None:
    with pytest.raises(ts.TirscriptError) as error:
        make()
    assert error.value.code == code or code == "target-kind"
    assert error.value.code not in ("", "internal")


def test_code_that_llvm_refuses_is_an_error() -> None:
    """LLVM itself ends the process where a module with debug information is not valid."""
    f = function("""
@T.prim_func
def wrong(A: T.Buffer((1,), "float32")):
    T.evaluate(T.call_llvm_intrin("void", "llvm.donothing", T.uint32(0)))
""")
    for panes in (("asm",), ("script", "llvm-optimized")):
        with pytest.raises(ts.CodegenError) as error:
            linked(f, panes=panes)
        assert error.value.code == "llvm-parse"


# ---- the document


class Reader(HTMLParser):
    """The text of each pane, and the classes of the group that each line stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.panes: list[list[tuple[str, str]]] = []
        self.open: list[str] = []
        self.group = ""
        self.inside = False
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "code":
            self.panes.append([])
            self.inside = True
        if tag == "label" and self.inside:
            self.group = dict(attrs).get("class") or ""
        if tag not in ("input", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "code":
            self.inside = False
        if tag == "label":
            self.group = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.panes[-1].append((data, self.group))


def lines_of(pane: list[tuple[str, str]]) -> list[tuple[str, str]]:
    out = [["", ""]]
    for text, group in pane:
        first, *rest = text.split("\n")
        out[-1][0] += first
        out[-1][1] = out[-1][1] or group
        out += [[more, group if more else ""] for more in rest]
    return [(text, group) for text, group in out]


def test_the_document_of_the_scheduled_matmul() -> None:
    view = linked(scheduled())
    text = view.html()
    assert len(text.encode()) < 200_000
    assert "<script" not in text and "http" not in text and " on" not in re.sub(r">[^<]*<", "><", text)
    reader = Reader()
    reader.feed(text)
    assert reader.tags <= {
        "html", "meta", "title", "style", "h1", "div", "label", "input", "span", "b", "pre", "code",
    }  # fmt: skip
    assert len(reader.panes) == 4
    for pane, shown in zip(view.panes, map(lines_of, reader.panes), strict=True):
        assert [t for t, _ in shown][: len(pane.lines)] == [line.text for line in pane.lines]
        for line, (_, group) in zip(pane.lines, shown, strict=False):
            own = next((name for name in group.split() if name[0] == "k"), "")
            assert own == (f"k{line.script}" if line.script else "")
    # A rule lights up each key, on pointing and on keeping.
    keys = {line.script for pane in view.panes for line in pane.lines if line.script}
    for k in keys:
        assert re.search(rf":has\(\.k{k}:hover,\.k{k}>:checked\) \.k{k}\{{--a:", text)
    # The only colours are tints, tokens and the reader's own.
    assert not re.search(r"background:#|[^-]color:#", text)


def test_views_of_much_code_leave_lines_out() -> None:
    body = "".join(
        [f"        A[i, {n}] = A[i, {n}] * T.float32({n}.5) + A[i, {n + 1}]\n" for n in range(700)]
    )
    view = linked(
        function(f"""
@T.prim_func
def long(A: T.Buffer((4, 702), "float32")):
    for i in range(4):
{body}"""),
        panes=("script", "lowered", "llvm"),
    )
    assert sum(len(p.lines) for p in view.panes) > 8_000
    text = view.html()
    assert len(text.encode()) < 200_000
    assert re.search(r"\.\.\. [\d,]+ more lines are left out", text)


def test_the_document_is_the_same_each_time_and_saved(tmp_path: Any) -> None:
    first, second = linked(scheduled()), linked(scheduled())
    assert first.html() == second.html()
    assert first.save(tmp_path / "mm.html") == str(tmp_path / "mm.html")
    assert (tmp_path / "mm.html").read_text(encoding="utf-8") == first.html()
    bundle = first._repr_mimebundle_()
    assert bundle["text/plain"] == repr(first) == str(first)
    assert "linked views of mm for llvm" in repr(first)
    assert bundle["text/html"] in first.html() and "<html" not in bundle["text/html"]
    # Without styles the texts stand there as they are.
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", "", bundle["text/html"], flags=re.S)
    assert "for i_0 in T.parallel(16):" in plain


def test_styles_reach_nothing_else_on_the_page() -> None:
    fragment = linked(matmul(16))._repr_mimebundle_()["text/html"]
    style = re.search(r"<style>(.*?)</style>", fragment, re.S)
    prefix = re.match(r'<div class="(v\w+)">', fragment)
    assert style is not None and prefix is not None
    for rule in re.findall(r"([^{}]+)\{[^{}]*\}", style[1]):
        assert rule.strip().startswith(f".{prefix[1]}"), rule


def test_views_do_not_change_the_program() -> None:
    sch = scheduled()
    before = sch.mod["main"]
    spans = [getattr(n, "span", None) for n in walk(before.body)]
    linked(sch)
    assert sch.mod["main"] is before
    assert [getattr(n, "span", None) for n in walk(before.body)] == spans


def test_programs_and_schedules_offer_their_views() -> None:
    sch = scheduled()
    want = linked(sch).html()
    assert sch.linked().html() == sch.mod.linked().html() == sch.mod["main"].linked().html() == want
    assert [p.kind for p in sch.linked(panes="asm").panes] == ["asm"]
