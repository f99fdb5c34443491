"""Inputs of the kernels that other compilers made, and what their results must be."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as functional

_DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
    "f8e4m3fnuz": torch.float8_e4m3fnuz, "f8e5m2fnuz": torch.float8_e5m2fnuz,
}  # fmt: skip
_RAW = {
    1: (torch.uint8, np.uint8),
    2: (torch.int16, np.uint16),
    4: (torch.int32, np.uint32),
    8: (torch.int64, np.uint64),
}
_POISON = 0x5A
_F4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)  # OCP "Microscaling Formats", E2M1


def f4(packed: torch.Tensor) -> torch.Tensor:
    """E2M1 numbers of bytes u8[..., n], low half first, as f64[..., 2n]."""
    halves = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()
    return _F4[halves & 7] * torch.where(halves > 7, -1.0, 1.0).double()


@dataclass(frozen=True)
class ForeignKernel:
    """One kernel: its JSON (test/foreign/case.py says what is in it) and where the JSON is."""

    path: Path

    @cached_property
    def description(self) -> dict:
        """The JSON."""
        return json.loads(self.path.read_text())

    def tensors(self, seed: int) -> dict[str, torch.Tensor]:
        """Arrays by name, drawn from `seed`; outputs filled with a recognisable pattern."""
        random = torch.Generator().manual_seed(seed)
        return {a["name"]: _filled(a, random) for a in self.description["args"] if a["kind"] == "array"}

    def arguments(
        self, tensors: dict[str, torch.Tensor]
    ) -> tuple[list[np.ndarray | np.generic | None], dict[str, np.ndarray]]:
        """Arguments in the kernel's order (arrays as unsigned integers of their width), and the arrays by name."""
        arrays = {name: raw(tensor).copy() for name, tensor in tensors.items()}
        args: list[np.ndarray | np.generic | None] = []
        for argument in self.description["args"]:
            if argument["kind"] == "array":
                args.append(arrays[argument["name"]])
            elif argument["kind"] == "null":
                args.append(None)
            else:
                kind = {"f": np.dtype(np.float32), "i": np.dtype(f"i{int(argument['dtype'][1:]) // 8}")}
                args.append(kind[argument["dtype"][0]].type(argument["value"]))
        return args, arrays

    def check(self, tensors: dict[str, torch.Tensor], results: dict[str, np.ndarray]) -> None:
        """Compare the arrays after the run with what torch computes from those before it. AssertionError when wrong."""
        for argument in self.description["args"]:
            if argument["kind"] != "array":
                continue
            name, dtype = argument["name"], _DTYPES[argument["dtype"]]
            shape = argument["shape"]
            got = torch.from_numpy(results[name].astype(results[name].dtype)).view(dtype).reshape(shape)
            if not argument["expected"]:
                assert np.array_equal(results[name], raw(tensors[name])), f"{name} is an input and has changed"
                continue
            wanted = _evaluate(argument["expected"], tensors).reshape(shape)
            _compare(name, got, wanted.to(dtype), argument["rtol"], argument["atol"])


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The bits as unsigned integers."""
    as_int, as_numpy = _RAW[tensor.element_size()]
    return tensor.contiguous().view(as_int).numpy().view(as_numpy)


def _filled(argument: dict, random: torch.Generator) -> torch.Tensor:
    dtype, shape, low, high = _DTYPES[argument["dtype"]], argument["shape"], argument["low"], argument["high"]
    fill = argument["fill"]
    if fill in ("integers", "bytes"):
        return torch.randint(int(low), int(high), shape, generator=random).to(dtype)
    if fill == "uniform":
        return (torch.rand(shape, generator=random) * (high - low) + low).to(dtype)
    if fill == "normal":
        return (torch.randn(shape, generator=random) * high).to(dtype)
    if fill == "zero":
        return torch.zeros(shape, dtype=dtype)
    size = math.prod(shape) * dtype.itemsize
    return torch.full((size,), _POISON, dtype=torch.uint8).view(dtype).reshape(shape)


def _evaluate(expression: str, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
    names = {"torch": torch, "F": functional, "math": math, "f4": f4, **tensors}
    return eval(expression, names)  # the repository's own text, from test/foreign


def _compare(name: str, got: torch.Tensor, wanted: torch.Tensor, rtol: float, atol: float) -> None:
    if not got.dtype.is_floating_point:
        wrong = got != wanted
    else:
        a, b = got.double(), wanted.double()
        wrong = ~((a - b).abs() <= atol + rtol * b.abs()) & ~(a.isnan() & b.isnan()) & (a != b)
    count = int(wrong.sum())
    if count:
        at = tuple(int(i) for i in wrong.nonzero()[0])
        raise AssertionError(f"{name}{list(at)} is {got[at]}, {wanted[at]} expected; {count} of {got.numel()} differ")
