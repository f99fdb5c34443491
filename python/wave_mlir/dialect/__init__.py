"""The wave dialect: importing this module makes every later `mlir.ir.Context` know it."""

from mlir import ir as _ir  # noqa: F401  (loads libMLIRPythonCAPI.so first)
from mlir._mlir_libs import _mlir as _cext
from mlir._mlir_libs import get_dialect_registry as _registry

from .. import _wave

# Without this prefix mlir finds no module `wave` and hands out plain OpViews.
_cext.globals.append_dialect_search_prefix("wave_mlir.dialect")
_wave.insert_into_registry(_registry())

from .expr import *  # noqa: E402, F403
from .layout import *  # noqa: E402, F403
from .layout_plan import *  # noqa: E402, F403
from .wave import *  # noqa: E402, F403
