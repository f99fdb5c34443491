"""The wave dialect: importing this module makes every later `mlir.ir.Context` know it."""

from mlir import ir as _ir  # noqa: F401  (loads libMLIRPythonCAPI.so first)
from mlir._mlir_libs import _mlir as _cext
from mlir._mlir_libs import get_dialect_registry as _registry

from .. import _wave

# Without this prefix mlir finds no module `wave` and hands out plain OpViews.
_cext.globals.append_dialect_search_prefix("wave_mlir.dialect")
_wave.insert_into_registry(_registry())

from . import wave as _wave_ops  # noqa: E402
from .expr import *  # noqa: E402, F403
from .layout import *  # noqa: E402, F403
from .layout_plan import *  # noqa: E402, F403
from .wave import (  # noqa: E402, F401
    AddressSpace,
    AssumeConstraintAttr,
    AtomicKind,
    DeviceConstraintAttr,
    GridConstraintAttr,
    HardwareConstraintAttr,
    InstructionClass,
    MappingAttr,
    MemoryType,
    Predicate,
    ReduceKind,
    ReorderingConstraintAttr,
    ShuffleMode,
    TileType,
    TilingConstraintAttr,
    WaveConstraintAttr,
    WorkgroupConstraintAttr,
)

# The op classes; the generated functions (`abs`, `round`, …) would hide Python's own and stay in `wave`.
globals().update({n: getattr(_wave_ops, n) for n in dir(_wave_ops) if n.endswith("Op")})
