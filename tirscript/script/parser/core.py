"""The state of one parse: names, statements being collected, blocks, errors and spans.

Expressions are translated in ``expr``, statements in ``stmt``, calls of ``T`` in ``loops``, ``blocks``,
``buffers`` and ``frames``; each of these fills a table that is looked up by node type or by the called
object.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from tirscript.diagnostics import Mark, ParseError, Source, Span, TirscriptError, did_you_mean
from tirscript.ir.buffer import Buffer, BufferRegion, MatchBufferRegion
from tirscript.ir.expr import TRUE, Expr, IntImm, IterVar, Range, Var
from tirscript.ir.stmt import Evaluate, SeqStmt, Stmt
from tirscript.script.scope import MISSING, SAFE_BUILTINS, Environment

ExprHandler = Callable[["Parser", Any], Any]
StmtHandler = Callable[["Parser", Any], None]

EXPR: dict[type, ExprHandler] = {}
STMT: dict[type, StmtHandler] = {}
# Called objects with a meaning of their own; the handler gets the ast.Call.
CALLS: dict[Any, ExprHandler] = {}


def on_call(table: dict[Any, ExprHandler]) -> None:
    """Let the handlers read the calls of these objects."""
    CALLS.update(table)


# Called objects that stand in the header of a `for`.
LOOPS: dict[Any, Callable[[Parser, ast.For, ast.Call], None]] = {}


class Poisoned(Exception):
    """A name is used whose definition was a mistake that is already reported."""


class _Poison:
    def __repr__(self) -> str:
        return "<poison>"


POISON: Any = _Poison()


class Cell:
    """A scalar of the 0.27 dialect: a buffer of rank 0 that is read and written by its name."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer


class Frame:
    """A construct with a scope: a ``with``, or without one the rest of the enclosing body.

    ``wrap`` makes the statement out of the body, ``value`` is what ``as`` binds, ``kind`` what the name
    then stands for.
    """

    __slots__ = ("kind", "name", "value", "wrap")

    def __init__(
        self, name: str, wrap: Callable[[Stmt], Stmt], value: Any = None, kind: str = "a value"
    ) -> None:
        self.name = name
        self.wrap = wrap
        self.value = value
        self.kind = kind


class Defined:
    """A variable or buffer that a call has just defined: its name is bound to it without a statement."""

    __slots__ = ("kind", "value")

    def __init__(self, value: Any, kind: str) -> None:
        self.value = value
        self.kind = kind


class BlockFrame:
    """What is said of a block while its body is read."""

    __slots__ = (
        "allocs", "annotations", "init", "iter_vars", "matches", "name", "node", "outer", "predicate",
        "reads", "root", "seen", "values", "writes",
    )  # fmt: skip

    def __init__(self, name: str, node: ast.AST | None, outer: BlockFrame | None) -> None:
        self.name = name
        self.node = node
        self.root = outer is None
        self.outer = outer
        self.iter_vars: list[IterVar] = []
        self.values: list[Expr] = []
        self.reads: tuple[BufferRegion, ...] | None = None
        self.writes: tuple[BufferRegion, ...] | None = None
        self.predicate: Expr = TRUE
        self.init: Stmt | None = None
        self.allocs: list[Buffer] = []
        self.matches: list[MatchBufferRegion] = []
        self.annotations: dict[str, Any] = {}
        # The nodes where reads, writes, where and init stand: each may stand once.
        self.seen: dict[str, ast.AST] = {}

    @property
    def guarded(self) -> bool:
        """Whether a predicate decides if what stands here runs."""
        return self.predicate is not TRUE or (self.outer is not None and self.outer.guarded)


class Options:
    """What the decorator says: ``@T.prim_func(private=True, check_well_formed=False, s_tir=True)``."""

    __slots__ = ("check_well_formed", "private", "s_tir")

    def __init__(self, private: bool = False, check_well_formed: bool = True, s_tir: bool = False) -> None:
        self.private = private
        self.check_well_formed = check_well_formed
        self.s_tir = s_tir


class Parser:
    """Reads one function.  Errors of statements are collected in ``errors`` and the parse goes on."""

    __slots__ = (
        "annotating", "attrs", "axes", "block", "block_names", "buffer_map", "declared", "definition",
        "env", "errors", "gone", "guards", "has_block", "items", "kinds", "loop_kinds", "loops", "macros",
        "module", "names", "naming", "naming_node", "offsets", "open_ifs", "options", "params",
        "ret_type", "root_node", "source", "span", "string_vars", "tail_returns", "threads", "undo",
        "unicode_columns", "used",
    )  # fmt: skip

    def __init__(self, source: Source, env: Environment, options: Options, *, ascii_only: bool) -> None:
        self.env = env
        self.options = options
        self.errors: list[ParseError] = []
        # Names of the script and what they stand for, with a log to leave scopes.
        self.names: dict[str, Any] = {}
        self.kinds: dict[str, str] = {}
        self.undo: list[tuple[str, Any, str]] = []
        self.gone: dict[str, str] = {}
        # The names of variables and buffers that are visible: they differ from Python's where one is reused.
        self.used: set[str] = {"T", "I", "cls", "range"}
        # Statements of the body being read; a callable wraps all that follows it.
        self.items: list[Any] = []
        self.block = BlockFrame("root", None, None)
        self.has_block = False
        self.block_names: set[str] = set()
        # The ranges of loop variables and axes.
        self.loops: dict[Var, Range] = {}
        self.axes: dict[Var, Range] = {}
        self.definition: ast.AST | None = None
        self.loop_kinds: list[str] = []
        self.threads: dict[str, IterVar] = {}
        self.params: list[Var] = []
        self.buffer_map: dict[Var, Buffer] = {}
        # Views with an `offset_factor`, and the variables of those whose offset is used.
        self.offsets: dict[Buffer, Var | None] = {}
        self.attrs: dict[str, Any] = {}
        self.ret_type = "void"
        self.guards = 0  # the conditions around what is being read
        # The branches of the `with T.If(...)` that are open.
        self.open_ifs: list[Any] = []
        self.module: Any = None
        # The call whose result gets a name, and that name (or names).
        self.naming_node: ast.AST | None = None
        self.naming: Any = None
        self.annotating = False
        self.string_vars: dict[str, Var] = {}
        # The dtypes of shape variables that annotations name and the body declares: `n = T.int64()`.
        self.declared: dict[str, str] = {}
        # The ids of the `return` statements that end the function; the `with` of an explicit root block.
        self.tail_returns: set[int] = set()
        self.root_node: ast.AST | None = None
        self.macros: list[tuple[str, Span]] = []
        self.set_source(source, ascii_only)

    # ---- spans and errors

    def set_source(self, source: Source, ascii_only: bool) -> None:
        """Spans are of this text from now on; ast columns count UTF-8 bytes, spans count characters."""
        self.source = source
        self.unicode_columns = not ascii_only
        self.span: Callable[[Any], Span] = span_unicode(source) if not ascii_only else span_ascii(source)

    def header(self, node: Any, last: Any) -> Span:
        """The span from the start of ``node`` to the end of ``last``."""
        a, b = self.span(node), self.span(last)
        return Span(self.source, a.line, a.column, b.end_line, b.end_column)

    def error(
        self, node: Any, message: str, code: str = "syntax", *, label: str = "", hint: str | None = None,
        notes: tuple[str, ...] = (), also: tuple[tuple[Span | None, str], ...] = (),
    ) -> ParseError:  # fmt: skip
        """The diagnostic with a caret under ``node`` (a node or a span); the caller raises it."""
        span = node if isinstance(node, Span) else self.span(node)
        marks = [Mark(span, label)]
        marks += [Mark(s, text) for s, text in also if s is not None]
        if self.macros:
            notes = (*notes, *[f"in macro `{name}` called at {at}" for name, at in reversed(self.macros)])
        return ParseError(message, code=code, marks=marks, notes=notes, hint=hint)

    def located(self, error: TirscriptError, node: Any) -> ParseError:
        """``error``, raised below without a place, as a diagnostic at ``node``."""
        if isinstance(error, ParseError) and error.marks:
            return error
        return self.error(
            node, error.message, error.code or "value", hint=error.hint, notes=tuple(error.notes)
        )

    def internal(self, error: Exception, node: Any) -> ParseError:
        """The diagnostic for a fault of the parser itself: where it happened in the script and in us."""
        tb = error.__traceback__
        while tb is not None and tb.tb_next is not None:
            tb = tb.tb_next
        where = f"{tb.tb_frame.f_code.co_filename}:{tb.tb_lineno}" if tb is not None else "unknown"
        return self.error(
            first_line_span(self, node),
            f"internal error, {type(error).__name__}: {error}",
            "internal",
            notes=(f"raised at {where}",),
            hint="this is a fault of tirscript: please report it with the statement above",
        )

    def refuse(self, node: Any, what: str, hint: str | None = None) -> NoReturn:
        """Raise the diagnostic for Python that is no script."""
        raise self.error(node, f"{what} is not part of the script language", "unsupported", hint=hint)

    def report(self, error: ParseError) -> None:
        self.errors.append(error)

    # ---- names

    def bind(self, name: str, value: Any, kind: str) -> None:
        """``name`` stands for ``value`` until the scope is left."""
        self.undo.append((name, self.names.get(name, MISSING), self.kinds.get(name, "")))
        self.names[name] = value
        self.kinds[name] = kind

    def take(self, name: str) -> str:
        """A name for a new variable or buffer, like ``name`` and free among the visible ones."""
        used = self.used
        if name in used:
            k = 1
            while f"{name}_{k}" in used:
                k += 1
            name = f"{name}_{k}"
        used.add(name)
        self.undo.append(("", name, ""))
        return name

    def leave(self, mark: int) -> None:
        """Forget the names bound and taken since the undo log had the length ``mark``."""
        undo = self.undo
        while len(undo) > mark:
            name, value, kind = undo.pop()
            if not name:
                self.used.discard(value)
            elif value is MISSING:
                self.gone[name] = self.kinds[name]
                del self.names[name]
            else:
                self.names[name] = value
                self.kinds[name] = kind

    def poison(self, target: ast.AST) -> None:
        """The names in ``target`` were to be defined by something that is wrong."""
        for n in ast.walk(target):
            if isinstance(n, ast.Name):
                self.bind(n.id, POISON, "a name with a mistake in its definition")

    def undefined(self, node: ast.Name) -> ParseError:
        name = node.id
        kind = self.gone.get(name)
        if kind is not None:
            return self.error(
                node,
                f"`{name}` is not known here: it is {kind} that has ended",
                "out-of-scope",
                hint="use it inside only; a result is passed on through a buffer",
            )
        if self.annotating and isinstance(self.definition, ast.FunctionDef):
            if any(a.arg == name for a in self.definition.args.args):
                return self.error(
                    node,
                    f"`{name}` is a later parameter; an annotation mentions earlier ones only",
                    "used-before-definition",
                    hint="make the buffer a T.handle parameter and match it in the body: T.match_buffer",
                )
        later = self._defined_later(node)
        if later is not None:
            return self.error(
                node,
                f"`{name}` is used before it is defined",
                "used-before-definition",
                also=((self.span(later), "defined here"),),
            )
        hint = did_you_mean(name, [*self.names, *self.env.names(), *SAFE_BUILTINS])
        if hint is None and name in ("T", "I", "R"):
            module = {"T": "tir", "I": "ir", "R": "relax"}[name]
            hint = f"from tirscript.script import {module} as {name}"
        if hint is None and self.env.text_only:
            hint = f'a Python value is given by parse(text, {{"{name}": value}})'
        return self.error(node, f"`{name}` is not defined", "undefined-name", hint=hint)

    def _defined_later(self, node: ast.Name) -> ast.Name | None:
        """Where the function assigns to the name further down."""
        if self.definition is None or self.macros:
            return None
        for n in ast.walk(self.definition):
            if (
                isinstance(n, ast.Name)
                and isinstance(n.ctx, ast.Store)
                and n.id == node.id
                and n.lineno > node.lineno
            ):
                return n
        return None

    # ---- statements

    def emit(self, stmt: Stmt) -> None:
        self.items.append(stmt)

    def body(self, stmts: Iterable[ast.stmt], at: Any) -> Stmt:
        """The statement that a list of Python statements means, in a scope of its own."""
        outer, self.items = self.items, []
        mark = len(self.undo)
        self.statements(stmts)
        self.leave(mark)
        items, self.items = self.items, outer
        return fold(items, at)

    def statements(self, stmts: Iterable[ast.stmt]) -> None:
        """Read statements into the current body; mistakes are reported and skipped."""
        for s in stmts:
            try:
                STMT[type(s)](self, s)
            except ParseError as e:
                self.report(e)
                self.poison_statement(s)
            except Poisoned:
                self.poison_statement(s)
            except TirscriptError as e:
                self.report(self.located(e, s))
                self.poison_statement(s)
            except Exception as e:
                self.report(self.internal(e, s))
                self.poison_statement(s)

    def poison_statement(self, s: ast.stmt) -> None:
        if isinstance(s, ast.Assign):
            for target in s.targets:
                if not isinstance(target, ast.Subscript):
                    self.poison(target)
        elif isinstance(s, (ast.AnnAssign, ast.AugAssign)) and isinstance(s.target, ast.Name):
            self.poison(s.target)
        elif isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            self.bind(s.name, POISON, "a name with a mistake in its definition")
        elif isinstance(s, (ast.Import, ast.ImportFrom)):
            for alias in s.names:
                self.bind((alias.asname or alias.name).split(".")[0], POISON, "an import")

    def expr(self, node: ast.AST) -> Any:
        """The value of a Python expression: an Expr, a Buffer, a region or any Python value."""
        return EXPR[type(node)](self, node)

    def name_for(self, node: ast.AST, default: str) -> str:
        """A free name for the result of ``node``: the one it is assigned to, else ``default``."""
        if node is self.naming_node and isinstance(self.naming, str):
            return self.take(self.naming)
        return self.take(default)


def first_line_span(p: Parser, s: Any) -> Span:
    """The first line of a statement with a body, all of another one."""
    span = p.span(s)
    if span.end_line == span.line:
        return span
    width = len(p.source.line(span.line).rstrip())
    return Span(p.source, span.line, span.column, span.line, max(width, span.column + 1))


def span_ascii(source: Source) -> Callable[[Any], Span]:
    def span(node: Any) -> Span:
        return Span(source, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)

    return span


def span_unicode(source: Source) -> Callable[[Any], Span]:
    lines: dict[int, bytes | None] = {}

    def column(number: int, offset: int) -> int:
        raw = lines.get(number, MISSING)
        if raw is MISSING:
            text = source.line(number)
            raw = lines[number] = None if text.isascii() else text.encode()
        return offset if raw is None else len(raw[:offset].decode(errors="replace"))

    def span(node: Any) -> Span:
        first, last = node.lineno, node.end_lineno
        return Span(source, first, column(first, node.col_offset), last, column(last, node.end_col_offset))

    return span


def fold(items: list[Any], at: Span | None) -> Stmt:
    """The statement of a body: a callable among ``items`` takes the statement of all that follow it."""
    out: list[Stmt] = []  # in reverse order
    for item in reversed(items):
        if callable(item):
            whole = item(_sequence(out, at))
            out = list(reversed(whole.seq)) if type(whole) is SeqStmt else [whole]
        elif type(item) is SeqStmt:
            out += reversed(item.seq)
        else:
            out.append(item)
    return _sequence(out, at)


def _sequence(backwards: list[Stmt], at: Span | None) -> Stmt:
    if not backwards:
        return Evaluate(IntImm(0), at)
    if len(backwards) == 1:
        return backwards[0]
    return SeqStmt(tuple(reversed(backwards)), backwards[-1].span)


def arguments(
    p: Parser, node: ast.Call, *names: str, required: int = 0, keywords_only: Mapping[str, Any] | None = None
) -> dict[str, ast.expr]:
    """The argument nodes of a call by parameter name; arity and keyword mistakes are diagnostics.

    ``*args`` must be resolved by the caller beforehand (see ``values``).
    """
    args, keywords = node.args, node.keywords
    if len(args) > len(names):
        raise _too_many(p, node, names, keywords_only)
    out: dict[str, ast.expr] = dict(zip(names, args, strict=False))
    for arg in args:
        if type(arg) is ast.Starred:
            raise p.error(arg, f"{ast.unparse(node.func)} takes no starred arguments", "arity")
    for k in keywords:
        name = k.arg
        if (
            name is None
            or name in out
            or (name not in names and (keywords_only is None or name not in keywords_only))
        ):
            raise _bad_keyword(p, node, k, names, keywords_only)
        out[name] = k.value
    for name in names[:required]:
        if name not in out:
            hint = signature_hint(node, names, keywords_only)
            raise p.error(node, f"{ast.unparse(node.func)} needs `{name}`", "arity", hint=hint)
    return out


def _too_many(
    p: Parser, node: ast.Call, names: tuple[str, ...], keywords_only: Mapping[str, Any] | None
) -> ParseError:
    count = len(names)
    return p.error(
        node.args[count],
        f"{ast.unparse(node.func)} takes at most {count}, {len(node.args)} arguments are given",
        "arity",
        hint=signature_hint(node, names, keywords_only),
    )


def _bad_keyword(
    p: Parser, node: ast.Call, k: ast.keyword, names: tuple[str, ...], keywords_only: Mapping[str, Any] | None
) -> ParseError:
    what, known = ast.unparse(node.func), (*names, *(keywords_only or ()))
    if k.arg is None:
        return p.error(k.value, f"{what} takes no `**` arguments", "arity")
    if k.arg in known:
        return p.error(k, f"{what} gets `{k.arg}` twice", "arity")
    hint = did_you_mean(k.arg, known) or signature_hint(node, names, keywords_only)
    return p.error(k, f"{what} has no parameter `{k.arg}`", "unknown-keyword", hint=hint)


def signature_hint(node: ast.Call, names: Iterable[str], keywords_only: Iterable[str] | None) -> str:
    return f"{ast.unparse(node.func)}({', '.join([*names, *(keywords_only or ())])})"
