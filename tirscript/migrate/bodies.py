"""What changes inside functions and modules of script: decorators, buffers, lets, returns, slices.

In the classic language ``x = value`` names a value that never changes; in that of TVM 0.27 it makes a scalar
that can be assigned again, and the classic meaning is written ``x: T.let = value``.  ``T.alloc_buffer``
belongs to a block there and is a statement here.
"""

from __future__ import annotations

import ast
from typing import Any, Protocol

from .edits import Positions
from .scopes import Names

_T = ("tvm.script.tir.", "tvm.script.tirx.")
# What these give is no value of a let: a buffer, an axis, a variable, a Python value.
_NO_LET = frozenset(
    ("match_buffer", "alloc_buffer", "sblock_alloc_buffer", "decl_buffer", "buffer_decl", "Buffer", "buffer",
     "env_thread", "launch_thread", "allocate", "allocate_const", "meta_var", "var", "Var", "SizeVar",
     "iter_var", "Range", "comm_reducer", "index_map", "alloc_local", "alloc_shared", "target", "realize",
     "LetStmt", "let", "local_scalar", "shared_scalar", "alloc_scalar")
)  # fmt: skip
_BUFFERS = frozenset(
    ("match_buffer", "alloc_buffer", "sblock_alloc_buffer", "decl_buffer", "buffer_decl", "Buffer",
     "alloc_local", "alloc_shared")
)  # fmt: skip
_REGIONS = frozenset(("reads", "writes", "match_buffer", "tvm_access_ptr", "address_of", "attr", "realize"))


class Reports(Protocol):
    """What a part of the migration can say."""

    at: Positions
    quoted: set[ast.expr]

    def edit(self, start: int, end: int, new: str) -> None: ...
    def cannot(self, node: Any, name: str, why: str) -> None: ...
    def note(self, node: Any, name: str, why: str) -> None: ...


class Function:
    """A function or macro of script."""

    __slots__ = ("buffers", "decorator", "kept", "macro", "modern", "node", "scalars", "space", "variables")

    def __init__(self, node: ast.FunctionDef, decorator: ast.expr, macro: bool) -> None:
        self.node = node
        self.decorator = decorator
        self.macro = macro
        self.modern = False  # in the language of TVM 0.27
        self.kept = False  # stays in it
        self.space: str | None = None  # how `T` is written
        self.buffers: set[str] = set()
        self.variables: set[str] = set()
        self.scalars: list[ast.Assign | ast.AnnAssign] = []


class Bodies:
    """All functions and modules of script in a file."""

    def __init__(self, names: Names, era: str, tree: ast.Module, out: Reports) -> None:
        self.names = names
        self.era = era
        self.out = out
        self.tree = tree
        self.nodes = list(ast.walk(tree))
        self._told = {
            n.func.value.id
            for n in self.nodes
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr == "work_on"
            and isinstance(n.func.value, ast.Name)
        }  # schedules that are told what to work on
        self.skip: set[ast.AST] = set()  # names that go together with what they stand in
        self._function: dict[ast.AST, Function] = {}
        self._module: dict[ast.AST, ast.ClassDef] = {}
        # Functions that are evaluated where a class of script is known by `cls`.
        self.functions: list[Function] = []
        self.already_27 = any(
            isinstance(n, ast.ImportFrom) and n.module in ("tvm.script", "tvm.script.tirx")
            and (n.module.endswith("tirx") or any(a.name == "tirx" for a in n.names))
            for n in self.nodes
        )  # fmt: skip
        self._collect(tree, None, False)
        for f in self.functions:
            self._study(f)

    # ---- the functions

    def _collect(self, n: ast.AST, module: ast.ClassDef | None, modern: bool) -> None:
        for child in ast.iter_child_nodes(n):
            inner, inner_modern = module, modern
            if isinstance(child, ast.ClassDef):
                d = self._decorated(child, "ir_module")
                inner, inner_modern = (
                    (child, modern or _flag(d, "s_tir")) if d is not None else (None, modern)
                )
            elif isinstance(child, ast.FunctionDef):
                d, macro = self._decorated(child, "prim_func"), False
                if d is None:
                    d, macro = self._decorated(child, "macro"), True
                if d is not None:
                    f = Function(child, d, macro)
                    f.modern = self.already_27 or inner_modern or _flag(d, "s_tir")
                    self.functions.append(f)
                    for m in ast.walk(child):
                        self._function[m] = f
            if inner is not None:
                self._module[child] = inner
            self._collect(child, inner, inner_modern)

    def _decorated(self, n: ast.FunctionDef | ast.ClassDef, name: str) -> ast.expr | None:
        for d in n.decorator_list:
            path = self.names.path(d.func if isinstance(d, ast.Call) else d)
            if path is not None and path.startswith("tvm.script.") and path.rpartition(".")[2] == name:
                return d
        return None

    def _tir(self, n: ast.AST) -> str | None:
        """The name after ``T.`` that an expression is."""
        path = self.names.path(n)
        if path is None:
            return None
        for space in _T:
            if path.startswith(space):
                return path[len(space) :]
        return None

    def _study(self, f: Function) -> None:
        head = f.decorator.func if isinstance(f.decorator, ast.Call) else f.decorator
        if isinstance(head, ast.Attribute):
            f.space = ast.unparse(head.value)
        for a in [*f.node.args.posonlyargs, *f.node.args.args]:
            note = a.annotation
            inner = (
                note.func
                if isinstance(note, ast.Call)
                else note.value
                if isinstance(note, ast.Subscript)
                else note
            )
            name = None if inner is None else self._tir(inner)
            (f.buffers if name == "Buffer" else f.variables).add(a.arg)
        for n in _walk(f.node):
            if isinstance(n, ast.For):
                f.variables |= {m.id for m in ast.walk(n.target) if isinstance(m, ast.Name)}
            elif isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None:
                targets = n.targets if isinstance(n, ast.Assign) else [n.target]
                maker = self._tir(n.value.func) if isinstance(n.value, ast.Call) else None
                held = {m.id for t in targets for m in ast.walk(t) if isinstance(m, ast.Name) and _stored(m)}
                if maker in _BUFFERS or (isinstance(n.value, ast.Name) and n.value.id in f.buffers):
                    f.buffers |= held
                else:
                    f.variables |= held
        for n in _walk(f.node):
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
                if self._is_value(f, n.value):
                    f.scalars.append(n)
            elif isinstance(n, ast.AnnAssign) and n.value is not None and isinstance(n.target, ast.Name):
                let = self._let(n.annotation)
                if let is None:
                    f.scalars.append(n)
                elif self.era != "tvm-0.27":
                    self.skip.add(let)
            elif isinstance(n, ast.Expr) and self.era == "tvm-0.27" and self._returned(n) is not None:
                assert isinstance(n.value, ast.Call) and isinstance(n.value.args[0], ast.Call)
                self.skip |= {n.value.func, n.value.args[0].func}
        f.kept = f.modern and bool(f.scalars) and self.era == "tirscript" and not f.macro

    def _let(self, annotation: ast.expr) -> ast.expr | None:
        """``T.let`` in an annotation."""
        head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        return head if self._tir(head) == "let" else None

    def _is_value(self, f: Function, v: ast.expr) -> bool | None:
        """Whether ``x = v`` gives a name to a value of the program; None where that is not known."""
        if isinstance(v, ast.Constant):
            return isinstance(v.value, (bool, int, float)) and not isinstance(v.value, complex)
        if isinstance(v, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)):
            return True
        if isinstance(v, ast.Name):
            if v.id in f.buffers:
                return False
            return True if v.id in f.variables else self._constant(v)
        if isinstance(v, ast.Subscript):
            if any(isinstance(i, ast.Slice) for i in _indices(v)):
                return False  # a region
            return True if isinstance(v.value, ast.Name) and v.value.id in f.buffers else None
        if isinstance(v, ast.Call):
            name = self._tir(v.func)
            if name is None:
                if isinstance(v.func, ast.Attribute) and isinstance(v.func.value, ast.Name):
                    if v.func.value.id in f.buffers:
                        return v.func.attr in ("vload", "access_ptr", "offset_of")
                    if v.func.value.id in ("cls", *[c.name for c in self._module.values()]):
                        return True
                return None
            if name in _NO_LET or name.startswith("axis."):
                return False
            # `T.int32()` declares a variable, `T.int32(x)` is a value.
            return bool(v.args) or name in ("vscale", "infinity")
        return False

    def _constant(self, v: ast.Name) -> bool | None:
        """Whether a name from outside the function is a number."""
        bound = self.names.find(v.id, self.names.where.get(v, self.names.module))
        nodes = [b.node for b in bound]
        if nodes and all(isinstance(n, ast.Constant) and type(n.value) in (bool, int, float) for n in nodes):
            return True
        return None

    # ---- what the names of a function become

    def keeps(self, node: ast.AST, path: str) -> bool:
        f = self._function.get(node)
        return f is not None and f.kept and path.rpartition(".")[2] in ("alloc_buffer", "sblock_alloc_buffer")

    @staticmethod
    def kept_path(path: str) -> str:
        return f"tvm.script.tir.{path.rpartition('.')[2]}"

    def path(self, node: ast.AST, path: str) -> str | None:
        """The new path where it depends on the language of the function."""
        if path not in ("tvm.script.tir.alloc_buffer", "tvm.script.tirx.alloc_buffer"):
            return None
        f = self._function.get(node)
        modern = f.modern if f is not None else self.already_27
        if self.era == "tvm-0.27":
            return "tvm.script.tirx.alloc_buffer" if modern else "tvm.script.tirx.sblock_alloc_buffer"
        return "tvm.script.tir.decl_buffer" if modern else "tvm.script.tir.alloc_buffer"

    def handles(self, node: ast.AST, path: str) -> bool:
        """Whether the name goes with what it stands in."""
        return node in self.skip

    # ---- edits

    def run(self) -> None:
        for n in self.nodes:
            if isinstance(n, ast.Subscript) and self._tir(n.value) == "Buffer":
                if self.era != "course-2022":
                    self._buffer_call(n)
            elif isinstance(n, ast.Call) and self._tir(n.func) == "Buffer" and self.era == "course-2022":
                self._buffer_subscript(n)
            elif isinstance(n, ast.Name) and n.id == "cls" and self.era == "tvm-0.27":
                self._class_name(n)
            elif isinstance(n, ast.Assign) and self.era == "tvm-0.27":
                self._work_on(n)
        for f in self.functions:
            if self.era == "tvm-0.27":
                if not f.modern:
                    self._to_27(f)
            elif f.modern:
                self._to_classic(f)
            elif self.era == "course-2022":
                self._options(f)
        if self.era != "tvm-0.27":
            for n in self.nodes:
                if isinstance(n, ast.ClassDef):
                    d = self._decorated(n, "ir_module")
                    if d is not None and not any(f.kept for f in self._of(n)):
                        self._drop_flag(d)

    def _of(self, module: ast.ClassDef) -> list[Function]:
        return [f for f in self.functions if self._module.get(f.node) is module]

    def _to_27(self, f: Function) -> None:
        at = self.out.at
        if not f.macro:
            d = f.decorator
            if not isinstance(d, ast.Call):
                self.out.edit(at.end(d), at.end(d), "(s_tir=True)")
            elif not _flag(d, "s_tir"):
                last: list[ast.expr | ast.keyword] = [*d.args, *d.keywords]
                place = at.end(last[-1]) if last else at.text.index("(", at.end(d.func)) + 1
                self.out.edit(place, place, ", s_tir=True" if last else "s_tir=True")
        for n in f.scalars:
            self._make_let(f, n)
        for m in _walk(f.node):
            if isinstance(m, ast.Expr):
                value = self._returned(m)
                if value is not None:
                    self.out.edit(at.start(m), at.start(value), "return ")
                    self.out.edit(at.end(value), at.end(m), "")
            elif isinstance(m, ast.Assign):
                self._doubtful(f, m)
            else:
                self._lacking(f, m)
        for a in [*f.node.args.posonlyargs, *f.node.args.args]:
            if a.annotation in self.out.quoted:
                # TVM 0.27 does not read a string as an annotation.
                start, end = at.start(a.annotation), at.end(a.annotation)
                self.out.edit(start - 1, start, "")
                self.out.edit(end, end + 1, "")
        self._slices(f.node, f)

    def _returned(self, n: ast.Expr) -> ast.expr | None:
        """The value of ``T.evaluate(T.ret(value))``."""
        call = n.value
        if isinstance(call, ast.Call) and self._tir(call.func) == "evaluate" and len(call.args) == 1:
            inner = call.args[0]
            if isinstance(inner, ast.Call) and self._tir(inner.func) == "ret" and len(inner.args) == 1:
                return inner.args[0]
        return None

    def _make_let(self, f: Function, n: ast.Assign | ast.AnnAssign) -> None:
        at = self.out.at
        target = n.targets[0] if isinstance(n, ast.Assign) else n.target
        if f.space is None:
            self.out.cannot(n, ast.unparse(target), "there it must be `T.let`, and T has no name here")
            return
        space = self._space(f)
        if isinstance(n, ast.Assign):
            self.out.edit(at.end(target), at.end(target), f": {space}.let")
        else:
            self.out.edit(at.start(n.annotation), at.start(n.annotation), f"{space}.let[")
            self.out.edit(at.end(n.annotation), at.end(n.annotation), "]")

    def _space(self, f: Function) -> str:
        assert f.space is not None
        head = f.decorator.func if isinstance(f.decorator, ast.Call) else f.decorator
        renamed = getattr(self.out, "space_name", None)
        return str(renamed(head)) if renamed is not None else f.space

    def _doubtful(self, f: Function, n: ast.Assign) -> None:
        target = n.targets[0]
        if len(n.targets) != 1:
            return
        if isinstance(target, ast.Name) and self._is_value(f, n.value) is None:
            why = "if this is a value of the program, it must be `x: T.let = ...` there"
            self.out.cannot(n, f"{target.id} = ...", why)
        elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(n.value, (ast.Tuple, ast.List)):
            if any(self._is_value(f, v) for v in n.value.elts):
                why = "several values at once: write one `x: T.let = ...` for each"
                self.out.cannot(n, ast.unparse(target), why)

    def _lacking(self, f: Function, m: ast.AST) -> None:
        """Say what TVM 0.27 does not read inside a function."""
        lacks = "TVM 0.27 does not take it"
        if isinstance(m, ast.With):
            for item in m.items:
                call = item.context_expr
                name = self._tir(call.func) if isinstance(call, ast.Call) else None
                if name in ("let", "Let", "decl_buffer", "alloc_buffer", "LetStmt", "allocate"):
                    self.out.cannot(
                        call, f"with T.{name}(...)", f"{lacks} with `with`: it is a statement there"
                    )
        elif isinstance(m, ast.BinOp) and isinstance(m.op, ast.Pow):
            self.out.cannot(m, ast.unparse(m), f"{lacks} for values of the program: T.pow")
        elif isinstance(m, ast.Call):
            name = self._tir(m.func)
            for k in m.keywords:
                if k.arg in ("axis_separators", "buffer_type", "is_size_var"):
                    self.out.cannot(k, f"{k.arg}=", lacks)
            if isinstance(m.func, ast.Attribute) and m.func.attr in ("vload", "vstore"):
                for k in m.keywords:
                    if k.arg == "predicate":
                        self.out.cannot(k, f"{m.func.attr}(predicate=)", lacks)
            kinds = m.args[0] if name == "axis.remap" and m.args else None
            if isinstance(kinds, ast.Constant) and set(str(kinds.value)) - {"S", "R"}:
                self.out.cannot(kinds, str(kinds.value), f"{lacks}: T.axis.remap knows S and R there")
            if isinstance(m.func, ast.Name) and m.func.id in ("max", "min"):
                if not self.names.find(m.func.id, self.names.where[m.func]) and self._of_program(f, m):
                    self.out.cannot(
                        m, f"{m.func.id}(...)", f"{lacks} for values of the program: T.{m.func.id}"
                    )

    @staticmethod
    def _of_program(f: Function, m: ast.Call) -> bool:
        inside = {n.id for a in m.args for n in ast.walk(a) if isinstance(n, ast.Name)}
        return bool(inside & (f.buffers | f.variables))

    def _slices(self, n: ast.AST, f: Function) -> None:
        """Slices in expressions: vectors, which there are loaded through ``T.Ramp``."""
        if isinstance(n, ast.Call) and self._tir(n.func) in _REGIONS:
            return
        if (
            isinstance(n, ast.Assign)
            and isinstance(n.targets[0], ast.Name)
            and isinstance(n.value, ast.Subscript)
        ):
            return  # a region with a name
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in f.buffers:
            for i in _indices(n):
                if isinstance(i, ast.Slice):
                    self._ramp(n, i, f)
        for child in ast.iter_child_nodes(n):
            if not (isinstance(n, ast.FunctionDef) and child in (n.args, n.returns, *n.decorator_list)):
                self._slices(child, f)

    def _ramp(self, n: ast.Subscript, i: ast.Slice, f: Function) -> None:
        at = self.out.at
        step = _number(i.step) if i.step is not None else 1
        low = 0 if i.lower is None else _number(i.lower)
        high = None if i.upper is None else _number(i.upper)
        lanes = None
        start = "0" if i.lower is None else at.segment(i.lower)
        if low is not None and high is not None and step:
            lanes = -(-(high - low) // step)
        elif (
            step
            and isinstance(i.upper, ast.BinOp)
            and isinstance(i.upper.op, ast.Add)
            and i.lower is not None
        ):
            if ast.unparse(i.upper.left) == ast.unparse(i.lower) and _number(i.upper.right) is not None:
                lanes = -(-(_number(i.upper.right) or 0) // step)
        if lanes is None or lanes < 1 or f.space is None:
            self.out.cannot(n, at.segment(n), "TVM 0.27 takes no slice of unknown length as a vector")
            return
        first, last = at.offset(i.lineno, i.col_offset), at.end(i)
        # Names inside the slice may be renamed by other edits: none is, for they are of the function.
        self.out.edit(first, last, f"{self._space(f)}.Ramp({start}, {step}, {lanes})")

    def _to_classic(self, f: Function) -> None:
        at = self.out.at
        for n in _walk(f.node):
            if isinstance(n, ast.AnnAssign) and n.value is not None:
                let = self._let(n.annotation)
                if let is None:
                    continue
                if isinstance(n.annotation, ast.Subscript):
                    inner = n.annotation.slice
                    self.out.edit(at.start(n.annotation), at.start(inner), "")
                    self.out.edit(at.end(inner), at.end(n.annotation), "")
                else:
                    self.out.edit(at.end(n.target), at.end(n.annotation), "")
        if f.kept:
            which = ast.unparse(
                f.scalars[0].targets[0] if isinstance(f.scalars[0], ast.Assign) else f.scalars[0].target
            )
            self.out.note(
                f.scalars[0], which, "a scalar that can be assigned again: the function keeps its s_tir=True"
            )
            if not _flag(f.decorator, "s_tir"):
                if not isinstance(f.decorator, ast.Call):
                    self.out.edit(at.end(f.decorator), at.end(f.decorator), "(s_tir=True)")
            return
        again = _assigned_again(f.node)
        for n in f.scalars:
            target = n.targets[0] if isinstance(n, ast.Assign) else n.target
            assert isinstance(target, ast.Name)
            if target.id in again:
                self.out.cannot(
                    n, target.id, "a scalar that is assigned again: write a buffer of one element"
                )
        self._drop_flag(f.decorator)
        if self.era == "course-2022":
            self._options(f)

    def _options(self, f: Function) -> None:
        if isinstance(f.decorator, ast.Call):
            for k in f.decorator.keywords:
                if k.arg in ("private", "check_well_formed"):
                    self.out.cannot(k, f"prim_func({k.arg}=)", "the TVM of 2022 has no such option")

    def _drop_flag(self, d: ast.expr) -> None:
        if not isinstance(d, ast.Call):
            return
        at = self.out.at
        flags = [k for k in d.keywords if k.arg == "s_tir"]
        if not flags:
            return
        every: list[Any] = [*d.args, *d.keywords]
        if every == flags:
            self.out.edit(at.end(d.func), at.end(d), "")
            return
        n = every.index(flags[0])
        if n:
            self.out.edit(at.end(every[n - 1]), at.end(flags[0]), "")
        else:
            self.out.edit(at.start(flags[0]), at.start(every[1]), "")

    # ---- buffers

    def _buffer_call(self, n: ast.Subscript) -> None:
        """``T.Buffer[(8, 8), "float32"]`` to ``T.Buffer((8, 8), "float32")``."""
        at = self.out.at
        opens = at.text.index("[", at.end(n.value))
        close = at.end(n) - 1
        items = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
        # `T.Buffer[(8, 8)]` and `T.Buffer[18, 8]` are shapes alone.
        parenthesised = isinstance(n.slice, ast.Tuple) and at.text[at.start(n.slice)] == "("
        if parenthesised or not isinstance(n.slice, ast.Tuple):
            left, right = "(", ")"
        elif len(items) == 2 and not _is_extent(items[1]):
            left, right = "(", ")"
        elif all(_is_extent(i) for i in items) and not isinstance(items[0], ast.Tuple):
            left, right = "((", "))"
        else:
            left, right = "(", ")"
        self.out.edit(opens, opens + 1, left)
        self.out.edit(close, close + 1, right)

    def _buffer_subscript(self, n: ast.Call) -> None:
        at = self.out.at
        if (
            len(n.args) + len(n.keywords) > 2
            or any(k.arg not in ("shape", "dtype") for k in n.keywords)
            or not n.args
        ):
            self.out.cannot(
                n, "T.Buffer", "the TVM of 2022 knows T.Buffer[shape, dtype] alone: use T.match_buffer"
            )
            return
        opens = at.text.index("(", at.end(n.func))
        close = at.end(n) - 1
        self.out.edit(opens, opens + 1, "[")
        for k in n.keywords:
            self.out.edit(at.start(k), at.start(k.value), "")
        self.out.edit(close, close + 1, "]" if len(n.args) + len(n.keywords) == 2 else ', "float32"]')

    # ---- modules

    def _class_name(self, n: ast.Name) -> None:
        """``cls.f(...)``: TVM 0.27 knows the class by its name alone."""
        f = self._function.get(n)
        module = None if f is None else self._module.get(f.node)
        if module is not None and not self.names.find("cls", self.names.where[n]):
            self.out.edit(self.out.at.start(n), self.out.at.end(n), module.name)

    def _work_on(self, n: ast.Assign) -> None:
        """TVM works on a function named ``main``; where the only one has another name it must be told."""
        if not (isinstance(n.value, ast.Call) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name)):
            return
        if (
            self.names.kind(n.value) != "Schedule"
            or not n.value.args
            or not isinstance(n.value.args[0], ast.Name)
        ):
            return
        name = n.value.args[0]
        bound = self.names.find(name.id, self.names.where[name])
        if len(bound) != 1 or not isinstance(bound[0].node, ast.ClassDef):
            return
        functions = [f for f in self._of(bound[0].node) if not f.macro]
        if len(functions) != 1 or functions[0].node.name == "main" or n.targets[0].id in self._told:
            return
        at = self.out.at
        text = f'\n{at.indent(at.start(n))}{n.targets[0].id}.work_on("{functions[0].node.name}")'
        end = at.end(n)
        rest = at.text[end : at.text.find("\n", end) if "\n" in at.text[end:] else len(at.text)]
        if rest.strip() and not rest.strip().startswith("#"):
            self.out.cannot(n, "Schedule", f"TVM must be told {text.strip()}")
            return
        self.out.edit(end + len(rest.rstrip("\r")), end + len(rest.rstrip("\r")), text)


def _walk(function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function's body, without nested definitions."""
    out: list[ast.AST] = []
    todo: list[ast.AST] = list(reversed(function.body))
    while todo:
        n = todo.pop()
        out.append(n)
        if not isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            todo += reversed(list(ast.iter_child_nodes(n)))
    return out


def _stored(n: ast.Name) -> bool:
    return isinstance(n.ctx, ast.Store)


def _indices(n: ast.Subscript) -> list[ast.expr]:
    return list(n.slice.elts) if isinstance(n.slice, ast.Tuple) else [n.slice]


def _flag(d: ast.expr | None, name: str) -> bool:
    """Whether a decorator says ``name=True``."""
    return isinstance(d, ast.Call) and any(
        k.arg == name and isinstance(k.value, ast.Constant) and k.value.value is True for k in d.keywords
    )


def _number(n: ast.expr | None) -> int | None:
    if isinstance(n, ast.Constant) and type(n.value) is int:
        return n.value
    if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub):
        inner = _number(n.operand)
        return None if inner is None else -inner
    return None


def _is_extent(n: ast.expr) -> bool:
    return not (isinstance(n, ast.Constant) and isinstance(n.value, str)) and not isinstance(n, ast.Attribute)


def _assigned_again(function: ast.FunctionDef) -> set[str]:
    seen: set[str] = set()
    again: set[str] = set()
    for n in _walk(function):
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            again.add(n.target.id)
        elif isinstance(n, ast.Name) and _stored(n):
            (again if n.id in seen else seen).add(n.id)
    return again
