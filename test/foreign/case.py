"""What a generated kernel's JSON says: how to launch it and what it must compute. Plain data, standard library only.

JSON keys: `name`, `maker` (the compiler and its version), `target`, `kernel` (symbol), `assembly` and, of Triton,
`code_object` (file names beside the JSON), `grid` (workgroups), `block` (work-items), `lds` (bytes of dynamic LDS),
`args` in the kernel's order.
By `kind` an argument is null (a pointer), a number with its type (`name`, `dtype`, `value`), or an array: `dtype`,
`shape`, `fill` (see `FILLS`), `low`, `high`, and for outputs `expected`, an expression in torch of the arrays' names
(`F` is torch.nn.functional, `f4(bytes)` decodes E2M1) that is compared within `rtol`, `atol` (both 0: equal). Outputs
start as poison, so that an element that is not stored is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FILLS = ("integers", "uniform", "normal", "bytes", "zero", "poison")
"""integers: in [low, high); uniform: in [low, high); normal: mean 0, deviation high; bytes: raw bits in [low, high)."""


@dataclass(frozen=True)
class Array:
    """An array argument, input (`expected` empty) or output."""

    dtype: str
    shape: tuple[int, ...]
    fill: str = "integers"
    low: float = -3
    high: float = 4
    expected: str = ""
    rtol: float = 0
    atol: float = 0

    def __post_init__(self) -> None:
        if self.fill not in FILLS:
            raise ValueError(f"fill {self.fill!r} is none of {FILLS}")


@dataclass(frozen=True)
class Number:
    """A scalar argument; `constant` ones are known to the compiler and are no argument of the machine code."""

    dtype: str
    value: int | float | str
    constant: bool = False


Argument = Array | Number


@dataclass(frozen=True)
class Case:
    """A kernel of `triton_kernels` with its arguments. `grid` counts programs."""

    name: str
    function: str
    args: dict[str, Argument]
    grid: tuple[int, int, int] = (1, 1, 1)
    warps: int = 4
    stages: int = 2
    buffers: bool = True  # the compiler may assume that arrays are smaller than 2 GiB, so that it takes buffer accesses
    aligned: bool = True  # arrays and numbers divisible by 16 are known to be
    targets: tuple[str, ...] = ("gfx942", "gfx950")
    options: dict[str, int | str | bool] = field(default_factory=dict)


def output(dtype: str, shape: tuple[int, ...], expected: str, rtol: float = 0, atol: float = 0) -> Array:
    """An output that starts as poison."""
    return Array(dtype, shape, "poison", expected=expected, rtol=rtol, atol=atol)
