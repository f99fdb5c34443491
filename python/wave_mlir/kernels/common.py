"""What the functions that make kernels share: element types, sizes given now or at the call, checks of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import sympy

import wave_mlir.lang as tkl
from wave_mlir.wave.utils.general_utils import torch_dtype_to_wave

if TYPE_CHECKING:
    import torch

Dtype: TypeAlias = "tkl.DataType | torch.dtype"
"""An element type of the language, or torch's name for one."""

Subs: TypeAlias = dict[sympy.Symbol, object]
"""Values of symbols, as `WaveCompileOptions(subs=…)` takes them."""


def dtype_of(given: Dtype) -> tkl.DataType:
    """The element type of the language. ValueError for one that it does not have."""
    return given if isinstance(given, tkl.DataType) else torch_dtype_to_wave(given)


def positive(what: str, values: Mapping[str, object]) -> None:
    """ValueError for a size that is no positive integer. what: the function that is asked."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{what}: {name} is {value!r}; it takes a positive integer")


def split_dynamic(
    what: str, sizes: Mapping[sympy.Symbol, int], dynamic: bool | Sequence[bool]
) -> tuple[Subs, list[sympy.Symbol]]:
    """(values of the sizes known now, symbols whose values come with the arguments).

    dynamic: for all sizes, or one for each. Raises ValueError for another number of them.
    """
    flags = [dynamic] * len(sizes) if isinstance(dynamic, bool) else list(dynamic)
    if len(flags) != len(sizes):
        names = ", ".join(str(s) for s in sizes)
        raise ValueError(f"{what}: dynamic_dims has {len(flags)} entries; give one bool, or one for each of {names}")
    known: Subs = {s: n for (s, n), late in zip(sizes.items(), flags, strict=True) if not late}
    return known, [s for s, late in zip(sizes, flags, strict=True) if late]
