"""The importer behind `wave_mlir.compat`, and the table of what stands for what."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = "wave_lang"

_KERNEL = f"{PACKAGE}.kernel"
_WAVE = f"{_KERNEL}.wave"

MODULES: dict[str, tuple[str, ...]] = {
    PACKAGE: (),
    _KERNEL: (),
    f"{_KERNEL}.lang": ("wave_mlir.lang",),
    f"{_KERNEL}.lang.global_symbols": ("wave_mlir.lang.global_symbols",),
    f"{_KERNEL}.lang.wave_types": ("wave_mlir.lang",),
    f"{_KERNEL}.lang.kernel_buffer": ("wave_mlir.lang",),
    f"{_KERNEL}._support": (),
    f"{_KERNEL}._support.dtype": ("wave_mlir.lang.dtypes",),
    f"{_KERNEL}._support.indexing": ("wave_mlir.lang.symbols",),
    f"{_KERNEL}.ops": (),
    f"{_KERNEL}.ops.wave_ops": ("wave_mlir.compat.kernels", "wave_mlir.wave"),
    f"{_KERNEL}.ops.wave_schedule_ops": ("wave_mlir.wave.manual",),
    f"{PACKAGE}.support": (),
    f"{PACKAGE}.support.location_config": ("wave_mlir.wave.location_config",),
    f"{PACKAGE}.support.detect_water": ("wave_mlir.compat.backends",),
    f"{PACKAGE}.support.detect_waveasm": ("wave_mlir.compat.backends",),
    f"{PACKAGE}.support.indexing": ("wave_mlir.lang.symbols",),
    _WAVE: ("wave_mlir.compat.kernels", "wave_mlir.wave"),
    f"{_WAVE}.compile": ("wave_mlir.wave.compile",),
    f"{_WAVE}.compile_options": ("wave_mlir.wave.compile",),
    f"{_WAVE}.cache": ("wave_mlir.compat.cache",),
    f"{_WAVE}.execution_engine": ("wave_mlir.compat.backends",),
    f"{_WAVE}.iree_utils": ("wave_mlir.compat.references",),
    f"{_WAVE}.constraints": ("wave_mlir.wave.constraints",),
    f"{_WAVE}.assumptions": ("wave_mlir.wave.constraints",),
    f"{_WAVE}.symbolic_constraints": ("wave_mlir.wave.constraints",),
    f"{_WAVE}.scheduling": ("wave_mlir.wave.scheduling",),
    f"{_WAVE}.scheduling.schedule": ("wave_mlir.wave.scheduling",),
    f"{_WAVE}.scheduling.schedule_enums": ("wave_mlir.wave.scheduling",),
    f"{_WAVE}.nn": ("wave_mlir.kernels.layers",),
    f"{_WAVE}.nn.functional": ("wave_mlir.kernels.functional",),
    f"{_WAVE}.nn.functional.attention": ("wave_mlir.kernels.functional",),
    f"{_WAVE}.nn.functional.quant_attention": ("wave_mlir.kernels.functional",),
    f"{_WAVE}.nn.linear": ("wave_mlir.kernels.layers",),
    f"{_WAVE}.nn.quant_linear": ("wave_mlir.kernels.layers",),
    f"{_WAVE}.templates": ("wave_mlir.kernels",),
    f"{_WAVE}.templates.alibi_attention": ("wave_mlir.kernels.biased_attention",),
    f"{_WAVE}.templates.attention_common": ("wave_mlir.kernels.attention_shape",),
    f"{_WAVE}.templates.conv": ("wave_mlir.kernels.convolution",),
    f"{_WAVE}.templates.decode_attention": ("wave_mlir.kernels.decode_attention",),
    f"{_WAVE}.templates.evoformer": ("wave_mlir.kernels.biased_attention",),
    f"{_WAVE}.templates.extend_attention": ("wave_mlir.kernels.ragged_attention",),
    f"{_WAVE}.templates.extend_attention_rpe": ("wave_mlir.kernels.ragged_attention",),
    f"{_WAVE}.templates.gemm": (
        "wave_mlir.kernels.gemm",
        "wave_mlir.kernels.persistent_gemm",
        "wave_mlir.kernels.scaled_gemm",
    ),
    f"{_WAVE}.templates.gqa_decode_attention": ("wave_mlir.kernels.gqa_decode_attention",),
    f"{_WAVE}.templates.gqa_vanilla_attention": ("wave_mlir.kernels.attention",),
    f"{_WAVE}.templates.moe": ("wave_mlir.kernels.moe",),
    f"{_WAVE}.templates.paged_decode_attention": ("wave_mlir.kernels.paged_decode_attention",),
    f"{_WAVE}.templates.prefill_attention": ("wave_mlir.kernels.ragged_attention",),
    f"{_WAVE}.templates.quantized_attention": ("wave_mlir.kernels.quantized_attention",),
    f"{_WAVE}.templates.reordered_gemm": ("wave_mlir.kernels.reordered_gemm",),
    f"{_WAVE}.templates.t5_rpe_attention": ("wave_mlir.kernels.biased_attention",),
    f"{_WAVE}.templates.vanilla_attention": ("wave_mlir.kernels.attention",),
    f"{_WAVE}.utils": (),
    f"{_WAVE}.wave_sim": ("wave_mlir.wave.wave_sim",),
    f"{_WAVE}.wave_schedule": ("wave_mlir.wave.manual",),
    f"{_WAVE}.utils.classes": ("wave_mlir.wave.utils.classes",),
    f"{_WAVE}.utils.general_utils": ("wave_mlir.wave.utils.general_utils",),
    f"{_WAVE}.utils.run_utils": ("wave_mlir.wave.utils.run_utils",),
    f"{_WAVE}.utils.torch_utils": ("wave_mlir.wave.utils.torch_utils",),
    f"{_WAVE}.utils.mma_utils": ("wave_mlir.wave.utils.mma_utils",),
    f"{_WAVE}.utils.mxfp_utils": ("wave_mlir.wave.utils.mxfp_utils",),
    f"{_WAVE}.utils.reference_kernel_utils": ("wave_mlir.wave.utils.reference_kernel_utils",),
}
"""Module -> the modules of ours that have its names, the first first; none for a package that only holds others."""

_LACKING = {
    f"{_WAVE}.templates": "the library has other kernels (docs/compat.md); copy this one's function into your own file",
    f"{_WAVE}.schedules": "this version has no library of schedules; copy the schedule's function into your own file",
}


class Shim(ModuleType):
    """A module whose names are those of ours."""

    def __init__(self, name: str, sources: Sequence[ModuleType]) -> None:
        super().__init__(name, f"Answers for {name}.")
        self.__sources = tuple(sources)
        self.__all__ = sorted({n for s in sources for n in _public(s)})

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        inner = f"{self.__name__}.{name}"
        if inner in MODULES:
            return importlib.import_module(inner)
        for source in self.__sources:
            if hasattr(source, name):
                value = getattr(source, name)
                setattr(self, name, value)
                return value
        raise ImportError(_no_such_name(self.__name__, name, self.__all__))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__all__]


def _public(module: ModuleType) -> list[str]:
    return list(getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]))


def _no_such_name(module: str, name: str, known: Sequence[str]) -> str:
    for path, advice in _LACKING.items():
        if f"{module}.{name}" == path:
            return f"{path} has no counterpart in wave_mlir: {advice}"
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else "; docs/compat.md lists what there is"
    return f"wave_mlir has no counterpart of {name} in {module}{hint}"


class Finder(MetaPathFinder):
    """Answers for `wave_lang` and everything in it. It stands last, so that an installed package wins."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != PACKAGE:
            return None
        if fullname not in MODULES:
            raise ImportError(_no_such_module(fullname), name=fullname)
        is_package = any(other.startswith(f"{fullname}.") for other in MODULES)
        return ModuleSpec(fullname, ShimLoader(), is_package=is_package)


def _no_such_module(name: str) -> str:
    for path, advice in _LACKING.items():
        if name == path or name.startswith(f"{path}."):
            return f"{name} has no counterpart in wave_mlir: {advice}"
    close = difflib.get_close_matches(name, list(MODULES), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"wave_mlir has no counterpart of the module {name}{hint}; docs/compat.md lists what there is"


class ShimLoader(Loader):
    """Makes the module of a spec of `Finder`."""

    answers_for_wave_lang = True

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Shim(spec.name, [importlib.import_module(name) for name in MODULES[spec.name]])

    def exec_module(self, module: ModuleType) -> None:
        """Names are looked up when they are asked for."""


def install() -> None:
    """Answer imports from now on."""
    if not any(isinstance(f, Finder) for f in sys.meta_path):
        sys.meta_path.append(Finder())
