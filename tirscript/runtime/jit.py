"""From LLVM IR text to code in memory.

One target machine and one pass pipeline per set of options serve all builds; they are used under a lock,
so that many threads may build.  The code of a module is unloaded when its ``Code`` is dropped.
"""

from __future__ import annotations

import itertools
import re
import sys
import threading
from dataclasses import dataclass
from typing import Any

from tirscript.diagnostics import CodegenError, TargetError

_lock = threading.RLock()
_serial = itertools.count(1)
_state: dict[Any, Any] = {}
_CODE_MODEL = "jitdefault" if sys.platform == "win32" else "small"


@dataclass(frozen=True, slots=True)
class Machine:
    """What code is made for; empty strings mean the host."""

    cpu: str = ""
    features: str | None = None
    triple: str = ""
    opt_level: int = 3
    passes: bool = True  # False for text that needs none

    @property
    def is_host(self) -> bool:
        return not self.triple


class Code:
    """Loaded code: the addresses of its functions, valid as long as this object lives."""

    __slots__ = ("__weakref__", "_tracker", "addresses")

    def __init__(self, tracker: Any, addresses: dict[str, int]) -> None:
        self._tracker = tracker
        self.addresses = addresses


def _llvm() -> Any:
    import llvmlite.binding as llvm

    if "ready" not in _state:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()  # the spinning pool pauses by inline assembly
        _state["ready"] = True
    return llvm


def _tools(machine: Machine) -> tuple[Any, Any]:
    """The target machine and the tuning of the passes for these options."""
    known = _state.get(machine)
    if known is not None:
        return known  # type: ignore[no-any-return]
    llvm = _llvm()
    try:
        if machine.is_host:
            target = llvm.Target.from_default_triple()
        else:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            target = llvm.Target.from_triple(machine.triple)
    except RuntimeError as e:
        raise TargetError(f"LLVM has no target {machine.triple!r}: {e}", code="unknown-triple") from None
    cpu, features = machine.cpu, machine.features
    if not cpu and machine.is_host:
        cpu = llvm.get_host_cpu_name()
        if features is None:
            features = llvm.get_host_cpu_features().flatten()
    tm = target.create_target_machine(
        cpu=cpu, features=features or "", opt=min(machine.opt_level, 3), reloc="pic", codemodel=_CODE_MODEL
    )
    options = llvm.create_pipeline_tuning_options(speed_level=machine.opt_level)
    options.slp_vectorization = machine.opt_level >= 2
    options.loop_vectorization = machine.opt_level >= 2
    tools = _state[machine] = (tm, options)
    return tools


def _optimized(text: str, machine: Machine) -> tuple[Any, Any]:
    llvm = _llvm()
    tm, options = _tools(machine)
    module = _parsed(text)
    if machine.passes:
        # A builder keeps what its passes found, by address: one for each module, or another module's facts
        # are taken for those of this one.
        builder = llvm.create_pass_builder(tm, options)
        builder.getModulePassManager().run(module, builder)
        if options.slp_vectorization and not _is_valid(module):
            # LLVM 22's vectorizer of straight code may put an instruction before what it uses.
            return _optimized_without_slp(text, machine), tm
    return module, tm


_DEBUG_VERSION = '!"Debug Info Version"'
_DEBUG_INFO = re.compile(r",? !dbg !\d+|^!llvm\.dbg\.cu = .*$", re.M)


def _parsed(text: str) -> Any:
    llvm = _llvm()
    try:
        if _DEBUG_VERSION in text:
            # LLVM ends the process where a module with debug information is not valid: look at it without.
            bare = _DEBUG_INFO.sub("", text.replace(_DEBUG_VERSION, '!"Debug Info Left Out"'))
            llvm.parse_assembly(bare).verify()
        return llvm.parse_assembly(text)
    except RuntimeError as e:
        raise CodegenError(f"LLVM refuses the generated module: {e}", code="llvm-parse") from None


def _is_valid(module: Any) -> bool:
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


def _optimized_without_slp(text: str, machine: Machine) -> Any:
    llvm = _llvm()
    tm, _ = _tools(machine)
    options = llvm.create_pipeline_tuning_options(speed_level=machine.opt_level)
    options.slp_vectorization = False
    options.loop_vectorization = machine.opt_level >= 2
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(tm, options)
    builder.getModulePassManager().run(module, builder)
    if not _is_valid(module):
        raise CodegenError("LLVM's passes made a module that is not valid", code="llvm-passes",
                           hint='build with a lower level: target="llvm -O=1"')  # fmt: skip
    return module


def optimized_text(text: str, machine: Machine) -> str:
    """The module after LLVM's passes, as text."""
    with _lock:
        return str(_optimized(text, machine)[0])


def assembly(text: str, machine: Machine) -> str:
    """The machine's assembly of a module."""
    with _lock:
        module, tm = _optimized(text, machine)
        return tm.emit_assembly(module)  # type: ignore[no-any-return]


def object_code(text: str, machine: Machine) -> bytes:
    """The object file of a module."""
    with _lock:
        module, tm = _optimized(text, machine)
        return tm.emit_object(module)  # type: ignore[no-any-return]


def load(
    text: str, names: list[str], machine: Machine, symbols: dict[str, int], externs: tuple[str, ...]
) -> Code:
    """Compile a module and load it.

    ``names`` are the functions whose addresses are wanted, ``symbols`` addresses that the code may use,
    ``externs`` what else the process must have.
    """
    if not machine.is_host:
        raise TargetError(f"code for {machine.triple} cannot run in this process", code="foreign-triple")
    with _lock:
        llvm = _llvm()
        check_symbols(externs)
        image = object_code(text, machine)
        linker = _state.get("linker")
        if linker is None:
            tm = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel=_CODE_MODEL)
            linker = _state["linker"] = llvm.create_lljit_compiler(
                tm, use_jit_link=True, suppress_errors=True
            )
        builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        try:
            tracker = builder.link(linker, f"tirscript.{next(_serial)}")
        except RuntimeError as e:
            raise CodegenError(f"the code cannot be loaded: {e}", code="link") from None
        return Code(tracker, {name: tracker[name] for name in names})


def check_symbols(names: tuple[str, ...]) -> None:
    """Raise CodegenError for functions of C that the process does not have."""
    llvm = _llvm()
    missing = [n for n in names if not n.startswith("llvm.") and llvm.address_of_symbol(n) is None]
    if missing:
        if not _state.get("libm"):
            _state["libm"] = True
            for library in ("libm.so.6", "libmvec.so.1"):
                try:
                    llvm.load_library_permanently(library)
                except RuntimeError:
                    continue
            check_symbols(names)
            return
        shown = ", ".join(f"`{n}`" for n in missing)
        raise CodegenError(
            f"there is no external function {shown} in this process",
            code="unknown-symbol",
            hint="load its library first: ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)",
        )
