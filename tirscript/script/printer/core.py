"""What a printer knows while it prints: names, scopes, the lines so far.

The functions that print each kind of node are in tables by type (``expr.EXPRS``, ``stmt.STMTS``); a
dialect changes some of their entries and the words below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tirscript.ir.buffer import Buffer
from tirscript.ir.expr import Var
from tirscript.ir.stmt import For

from .names import RESERVED, identifier

# (printer, node, precedence of what stands around it) -> text
ExprPrinter = Callable[["Printer", Any, int], str]
# (printer, node, whether its scope may stay open to the end of the body)
StmtPrinter = Callable[["Printer", Any, bool], None]

# CPython's compiler takes 20 nested for, while and with statements, its tokenizer 100 levels of
# indentation and 200 open brackets.
MAX_BLOCKS = 20
MAX_INDENT = 99
MAX_BRACKETS = 200


class Printer:
    """One run of the printer over one object.

    ``names`` maps variables and buffers to the text that stands for them; ``used`` holds the names that
    are visible, ``scope`` what to forget at the end of the scopes that are open.
    """

    # Words that dialects spell differently.
    words: Mapping[str, str] = {
        "block": "T.block",
        "block_attr": "T.block_attr",
        "alloc_buffer": "T.alloc_buffer",
        "prim_func": "@T.prim_func",
        "private": "@T.prim_func(private=True)",
        "header_ir": "# from tirscript.script import ir as I",
        "header_tir": "# from tirscript.script import tir as T",
        # What attributes of functions begin with that concern the compiler; how a target is written.
        "attr_prefix": "tir.",
        "target": "text",
    }

    # Whether long chains of one operator are printed in a loop, without their inner nodes.
    unroll = True

    def __init__(
        self, exprs: Mapping[type, ExprPrinter], stmts: Mapping[type, StmtPrinter], sugar: bool
    ) -> None:
        self.exprs = exprs
        self.stmts = stmts
        self.sugar = sugar
        self.out: list[str] = []
        self.indent = ""
        self.depth = 0
        self.metadata: dict[str, Any] = {}
        # The names that the functions of the module are printed under.
        self.functions: dict[str, str] = {}
        # Where marks are recorded: (node, index of its line).
        self.lines: list[tuple[Any, int]] | None = None
        self.reset()

    def reset(self) -> None:
        """Forget all names."""
        self.names: dict[Any, str] = {}
        self.used: set[str] = set(RESERVED)
        if self.words["attr_prefix"] != "tir.":
            self.used.add("Module")
        self.scope: list[Any] = []
        self.loops: dict[Var, For] = {}
        # Handles that stand in no text because their buffer is the parameter, and those that should.
        self.hidden: set[Var] = set()
        self.wanted: set[Var] = set()

    # ---- names

    def define(self, token: Any, hint: str) -> str:
        """A free name for ``token`` until the end of the scope, like ``hint``."""
        name = identifier(hint)
        used = self.used
        if name in used:
            n = 1
            while f"{name}_{n}" in used:
                n += 1
            name = f"{name}_{n}"
        used.add(name)
        self.scope.append(token)
        self.names[token] = name
        return name

    def define_buffer(self, buffer: Buffer) -> str:
        """A free name for a buffer; its pointer is then ``name.data`` unless it is known already."""
        name = self.define(buffer, buffer.name)
        if buffer.data not in self.names:
            self.names[buffer.data] = f"{self.names[buffer]}.data"
            self.scope.append(buffer.data)
        return name

    def leave(self, mark: int) -> None:
        """Forget what was defined since ``len(scope)`` was ``mark``."""
        scope = self.scope
        if len(scope) > mark:
            used, names = self.used, self.names
            for token in scope[mark:]:
                used.discard(names.pop(token, ""))
            del scope[mark:]

    def free(self, token: Any) -> str:
        """A name for a variable or buffer that nothing printed has defined; it stays taken."""
        if token in self.hidden:
            self.wanted.add(token)
        self.define(token, token.name)
        self.scope.pop()
        name = self.names[token]
        if type(token) is Buffer:
            self.names.setdefault(token.data, f"{name}.data")
        return name

    def mark(self, node: Any, text: str) -> str:
        """``text``, which stands for ``node``; a recorder marks it."""
        return text

    # ---- lines

    def line(self, text: str) -> None:
        self.out.append(self.indent + text)

    def header(self, node: Any, text: str) -> None:
        """The line that stands for ``node``."""
        if self.lines is not None:
            self.lines.append((node, len(self.out)))
        self.out.append(self.indent + text)

    def same_line(self, node: Any) -> None:
        """``node`` too is the line written last."""
        if self.lines is not None:
            self.lines.append((node, len(self.out) - 1))

    def expr(self, e: Any) -> str:
        return self.exprs[type(e)](self, e, 0)

    def body(self, stmt: Any) -> None:
        """``stmt`` one level deeper, in a scope of its own."""
        outer = self.indent
        mark = len(self.scope)
        self.indent = outer + "    "
        self.stmts[type(stmt)](self, stmt, True)
        self.indent = outer
        self.leave(mark)

    def enter(self) -> None:
        """Before the header of a for, while or with: count it, and say where Python's limit is passed."""
        self.depth += 1
        if self.depth == MAX_BLOCKS + 1:
            self.line("# over Python's limit of 20 nested blocks: read this text with from_source")
        self.check_indent()

    def check_indent(self) -> None:
        if len(self.indent) == 4 * MAX_INDENT:
            self.line("# over Python's limit of 100 indentation levels: this text cannot be read back")
