"""Where kernels run."""

from __future__ import annotations

from wave_mlir.runtime.gpu import gpu_arch
from wave_mlir.wave.compile import WaveCompileOptions, get_default_arch

__all__ = ["get_arch_family", "get_default_arch", "set_default_run_config"]


def set_default_run_config(options: WaveCompileOptions) -> WaveCompileOptions:
    """Options for the device at hand: compiled for its GPU, if there is one; else left as they are, for the simulator.
    Gives the same options."""
    options.target = gpu_arch() or options.target
    return options


def get_arch_family(arch: str | None = None) -> str:
    """CDNA or RDNA, by the default target or the one given."""
    name = arch or get_default_arch()
    return "RDNA" if name.startswith(("gfx10", "gfx11", "gfx12")) else "CDNA"


enable_scheduling_barriers: bool | None = None
"""Asked for by the environment, in the Wave language; scheduling barriers are the compiler's own choice here."""
check_individual_kernels: bool | None = None
"""Whether test programs that run several kernels check each of them."""
