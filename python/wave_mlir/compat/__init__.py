"""`import wave_mlir.compat`: imports of `wave_lang.*` are answered with the modules of this package.

Kernels written for the existing Wave package then run as they are. It answers only where that package is not
installed, and only for names of its public interface; an import of what there is no counterpart for is an ImportError
that says so.
"""

from __future__ import annotations

import importlib.util
import warnings

from .finder import MODULES, PACKAGE, install

__all__ = ["MODULES"]

if importlib.util.find_spec(PACKAGE) is None:
    install()
elif not getattr(importlib.util.find_spec(PACKAGE).loader, "answers_for_wave_lang", False):  # type: ignore[union-attr]
    warnings.warn(
        f"the package {PACKAGE} is installed, so its imports are left to it; import wave_mlir.lang and wave_mlir.wave, "
        "or uninstall it",
        stacklevel=2,
    )
