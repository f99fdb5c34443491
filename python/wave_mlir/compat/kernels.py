"""Names of `wave_lang.kernel.wave` that differ from those of `wave_mlir.wave`: kernels keep what they rely on there.

Values are converted to the element type of the memory that they are written to; arguments that are only read may be of
any strides; a table of integers may be longer than its dim says.
"""

from __future__ import annotations

import functools

from wave_mlir.wave import wave as _wave

__all__ = ["wave"]

wave = functools.partial(_wave, compat=True)
