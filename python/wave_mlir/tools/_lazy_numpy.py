"""Put off importing numpy, a third of wave-opt's start-up: mlir's bindings import it, and most runs never use it."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from types import ModuleType


class _LazyNumpy(ModuleType):
    """Stands in for numpy until an attribute of it is asked for."""

    def __getattr__(self, name: str) -> object:
        if sys.modules.get("numpy") is self:
            del sys.modules["numpy"]
            vars(self).update(vars(importlib.import_module("numpy")))
        return getattr(sys.modules["numpy"], name)


def install() -> None:
    """From here on `import numpy` costs nothing, and the first use imports it, unless it is imported already."""
    if "numpy" not in sys.modules:
        stand_in = _LazyNumpy("numpy")
        stand_in.__spec__ = importlib.machinery.ModuleSpec("numpy", None)
        sys.modules["numpy"] = stand_in
