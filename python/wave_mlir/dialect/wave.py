"""Generated op classes and typed attributes of the dialect (the module mlir looks for)."""

from ._wave_ops_gen import *  # noqa: F403
from ._wave_ops_gen import _Dialect  # noqa: F401
