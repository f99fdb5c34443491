"""Compilations that keep what they make: the same program compiled again is read, from memory or from disk.

    made = cached.compile_cached(module, "gfx942")
    made.isa, made.hsaco, made.kernels, made.ir("lane"), made.module

Gpu form is made at once, so that errors come at once; machine code when it is first asked for.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property

from mlir import ir

from wave_mlir.passes.pipelines import PipelineOptions

from . import abi, cache, cache_key, driver, forms
from .diagnostics import CompileWarning
from .runnable import Runnable

IN_MEMORY = 256
"""Compilations that a process keeps; the least recently used goes first."""

_GPU, _ABI, _ISA, _HSACO, _LLVM = "gpu", "abi", "isa", "hsaco", "llvm"

_memory: OrderedDict[tuple[cache.Store, str], CachedCompiled] = OrderedDict()
_lock = threading.Lock()


class CachedCompiled(Runnable):
    """One program, compiled to gpu form, and to machine code on demand. `source` says where gpu form came from:
    "compiled" or "disk"."""

    def __init__(
        self, key: str, program: str, target: str, debug: bool, store: cache.Store | None, pipeline: PipelineOptions
    ) -> None:
        self.key = key
        self.target = target
        self.source = "compiled"
        self._program = program
        self._debug = debug
        self._store = store
        self._pipeline = pipeline
        self._parts: dict[str, bytes] = {}
        self._texts: dict[str, str] = {}
        self._compiled: driver.Compiled | None = None

    # --- what was made ---

    @cached_property
    def kernels(self) -> tuple[abi.KernelABI, ...]:
        """The ABI of each kernel."""
        described = json.loads(self._part(_ABI, self._make_abi))
        return tuple(abi.KernelABI.from_json(k) for k in described)

    @cached_property
    def module(self) -> ir.Module:
        """The module in gpu form, with locations; it must not be changed."""
        if self._compiled is not None:
            return self._compiled.module
        return driver.parse(self._part(_GPU, self._make_gpu).decode())

    @property
    def isa(self) -> str:
        """Assembly text."""
        return self._part(_ISA, lambda: self._machine.isa.encode()).decode()

    @property
    def hsaco(self) -> bytes:
        """Code object."""
        return self._part(_HSACO, lambda: self._machine.hsaco)

    @property
    def llvm_ir(self) -> str:
        """LLVM IR, before LLVM's own passes."""
        return self._part(_LLVM, lambda: self._machine.llvm_ir.encode()).decode()

    def ir(self, form: str) -> str:
        """MLIR text in a form: tile, typed, placed, staged, lane, scheduled, gpu or rocdl. Raises CompileError."""
        if form not in self._texts:
            if form == "gpu":
                self._texts[form] = str(self.module)
            elif form in forms.FORMS:
                with warnings.catch_warnings():  # they were given when the program was compiled
                    warnings.simplefilter("ignore", CompileWarning)
                    until = driver.compile_module(self._program, until=form, options=self._pipeline)
                self._texts[form] = until.ir(form)
            else:
                raise driver.unknown_form(form)
        return self._texts[form]

    # --- making it ---

    def _part(self, name: str, make: Callable[[], bytes]) -> bytes:
        """A part from memory, from disk, or made and kept."""
        data = self._parts.get(name)
        if data is None and self._store is not None:
            data = self._store.get(self.key, name)
        if data is None:
            data = make()
            if self._store is not None:
                self._store.put(self.key, name, data)
        self._parts[name] = data
        return data

    @property
    def _lowered(self) -> driver.Compiled:
        if self._compiled is None:
            self._compiled = driver.compile_module(self._program, debug=self._debug, options=self._pipeline)
        return self._compiled

    @cached_property
    def _machine(self) -> driver.Compiled:
        """What makes machine code: from gpu form, whether that was made here or read."""
        if self._compiled is None:
            return driver.compile_module(self.module, debug=self._debug)
        return self._compiled

    def _make_gpu(self) -> bytes:
        return program_text(self._lowered.module).encode()

    def _make_abi(self) -> bytes:
        return json.dumps([k.to_json() for k in abi_of(self.module)]).encode()

    def make(self) -> None:
        """Gpu form and ABI, so that errors come now. Raises CompileError."""
        stored = self._store is not None and self._store.get(self.key, _GPU)
        if stored:
            self.source = "disk"
            self._parts[_GPU] = stored
        else:
            self._part(_GPU, self._make_gpu)
        self._part(_ABI, self._make_abi)


def abi_of(module: ir.Module) -> tuple[abi.KernelABI, ...]:
    """The ABI of each kernel of a gpu-form module. Raises CompileError."""
    return driver.Compiled(module, {}, {}, False).kernels


def program_text(module: ir.Module) -> str:
    """The module as text, locations included."""
    return str(module.operation.get_asm(enable_debug_info=True, pretty_debug_info=False))


def compile_cached(
    module: ir.Module,
    target: str,
    *,
    debug: bool = False,
    use_cache: bool = True,
    options: Mapping[str, object],
    pipeline: PipelineOptions | None = None,
) -> CachedCompiled:
    """Compile a tile-form module, or take what was made of the same program before.

    target: as in the module. debug: line tables. use_cache: False compiles anew, whatever the environment says.
    options: plain data that the key has besides. pipeline: options of the pipelines.
    Raises CompileError, and cache.CacheError for what is no setting.
    """
    program = program_text(module)
    pipeline = pipeline or PipelineOptions()
    key = cache_key.key_of(program, {"target": target, "debug": debug, "pipeline": str(pipeline), **options})
    store = cache.current() if use_cache else None
    if store is None:
        return _made(key, program, target, debug, None, pipeline)
    with _lock:
        found = _memory.get((store, key))
        if found is not None:
            _memory.move_to_end((store, key))
            return found
    made = _made(key, program, target, debug, store, pipeline)
    with _lock:
        _memory[store, key] = made
        if len(_memory) > IN_MEMORY:
            _memory.popitem(last=False)
    return made


def _made(
    key: str, program: str, target: str, debug: bool, store: cache.Store | None, pipeline: PipelineOptions
) -> CachedCompiled:
    made = CachedCompiled(key, program, target, debug, store, pipeline)
    made.make()
    return made


def forget() -> None:
    """Drop what this process keeps in memory."""
    with _lock:
        _memory.clear()
