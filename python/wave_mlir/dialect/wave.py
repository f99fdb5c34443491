"""Op classes, types and attributes of the dialect (the module mlir looks for).

Generated builders take expressions as `Expr`, int or text, lists of them, and symbols as str.
"""

import sys as _sys

from mlir import ir as _ir

from .._wave import (  # noqa: F401
    AssumeConstraintAttr,
    DeviceConstraintAttr,
    Expr,
    GridConstraintAttr,
    HardwareConstraintAttr,
    MappingAttr,
    MemoryType,
    ReorderingConstraintAttr,
    TileType,
    TilingConstraintAttr,
    WaveConstraintAttr,
    WorkgroupConstraintAttr,
)

# mlir-tblgen's generated enums import their helpers from the package above the one they are in.
_sys.modules.setdefault("wave_mlir.ir", _ir)

from ._wave_enums_gen import *  # noqa: E402, F403
from ._wave_ops_gen import *  # noqa: E402, F403
from ._wave_ops_gen import _Dialect  # noqa: E402, F401


def _register(name: str, build) -> None:
    _ir.register_attribute_builder(name, replace=True)(build)


_register("Wave_ExprAttr", Expr.get)
_register("Wave_ExprArrayAttr", lambda v, context=None: _ir.ArrayAttr.get([Expr.get(e, context) for e in v], context))
_register(
    "Wave_SymbolNames",
    lambda v, context=None: _ir.ArrayAttr.get([_ir.StringAttr.get(n, context=context) for n in v], context=context),
)
