"""Kernels as operators of torch: in graphs of `torch.compile`, under fake tensors, with autograd.

    op = torch_op.register("mine::gemm", compiled)      # compiled(a, b, c), where c is written
    c = op(a, b)                                        # torch.ops.mine.gemm: returns what the kernel writes
    op.out(a, b, c)                                     # torch.ops.mine.gemm_out: writes c in place
    op.register_autograd(backward, setup_context=setup_context)

This module imports torch; nothing else of wave_mlir imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch._library.custom_ops import CustomOpDef

from wave_mlir.compiler.abi import AbiError, KernelABI, KernelArg

_TORCH_DTYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64", "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2", "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E8M0FNU": "float8_e8m0fnu",
}  # fmt: skip


class Kernel(Protocol):
    """A compiled kernel: its ABI; (name, kind) of its parameters in signature order; the call."""

    @property
    def abi(self) -> KernelABI: ...
    @property
    def parameters(self) -> Sequence[tuple[str, str]]: ...
    def __call__(self, *args: object) -> None: ...


Specialize = Callable[..., Kernel]
"""From the arguments of a call, in signature order, to the kernel for their shapes. Results that are not made yet are
None, so shapes of arguments that are read decide."""


@dataclass(frozen=True)
class TorchOp:
    """The two operators of a kernel. Called, it is the one that returns its results.

    functional: takes all arguments but those only written, returns all that are written (new tensors).
    out: takes all arguments, writes in place and returns nothing.
    """

    functional: CustomOpDef
    out: CustomOpDef

    def __call__(self, *args: object) -> Any:
        return self.functional(*args)

    def register_autograd(self, backward: Callable, *, setup_context: Callable | None = None) -> None:
        """Give the functional operator a derivative: as `torch.library.register_autograd`."""
        self.functional.register_autograd(backward, setup_context=setup_context)


@dataclass(frozen=True)
class _Parameter:
    """name; kind: memory, scalar or symbol; arg: its entry of the ABI (None: a symbol that is static)."""

    name: str
    kind: str
    arg: KernelArg | None

    @property
    def written(self) -> bool:
        return self.arg is not None and self.kind == "memory" and self.arg.access != "read"

    @property
    def only_written(self) -> bool:
        return self.arg is not None and self.kind == "memory" and self.arg.access == "write"

    def schema(self, mark: str = "") -> str:
        if self.kind == "memory":
            return f"Tensor{mark} {self.name}"
        dtype = self.arg.dtype if self.arg is not None else "i32"
        floating = self.kind == "scalar" and dtype.startswith(("f", "bf"))
        return f"{'float' if floating else 'SymInt'} {self.name}"


def register(name: str, kernel: Kernel, *, specialize: Specialize | None = None) -> TorchOp:
    """Register a kernel as the operators `name` and `name_out`, for instance "mine::gemm" and "mine::gemm_out".

    specialize: gives the kernel for a call's arguments, where one kernel is not for all shapes; `kernel` then says what
    the arguments are. Raises AbiError for a kernel that torch cannot have a schema for.
    """
    signature = _Signature(kernel, specialize)
    out = torch.library.custom_op(
        f"{name}_out", signature.run, mutates_args=signature.mutated, schema=signature.out_schema()
    )
    out.register_fake(lambda *args: None)
    functional = torch.library.custom_op(
        name, signature.returning, mutates_args=(), schema=signature.functional_schema()
    )
    functional.register_fake(signature.allocated)
    return TorchOp(functional, out)


class _Signature:
    """The operators' arguments, in terms of the kernel's."""

    def __init__(self, kernel: Kernel, specialize: Specialize | None) -> None:
        self.kernel = kernel
        self.specialize = specialize
        by_name = {a.name: a for a in kernel.abi.args}
        self.parameters = [_Parameter(n, kind, by_name.get(n)) for n, kind in kernel.parameters]
        self.mutated = [p.name for p in self.parameters if p.written]
        self.inputs = [p for p in self.parameters if not p.only_written]
        self.outputs = [p for p in self.parameters if p.written]
        self.further = self._further()
        for p in self.outputs:
            if p.arg is not None and p.arg.dtype not in _TORCH_DTYPES:
                name = kernel.abi.name
                raise AbiError(f"kernel '{name}': torch has no dtype for {p.arg.dtype} of argument '{p.name}'")

    def _further(self) -> list[str]:
        """Dynamic symbols that only the written tensors say: arguments of the functional operator."""
        known = {p.name for p in self.inputs if p.kind == "symbol"}
        known |= {e for p in self.inputs if p.kind == "memory" and p.arg is not None for e in p.arg.shape}
        return [s for s in self.kernel.abi.dynamic_symbols if s not in known]

    def out_schema(self) -> str:
        """Of the operator that writes in place."""
        marks = {name: f"(a{number}!)" for number, name in enumerate(self.mutated)}
        return f"({', '.join(p.schema(marks.get(p.name, '')) for p in self.parameters)}) -> ()"

    def functional_schema(self) -> str:
        """Of the operator that returns its results."""
        given = [p.schema() for p in self.inputs] + [f"SymInt {s}" for s in self.further]
        results = ", ".join(["Tensor"] * len(self.outputs))
        return f"({', '.join(given)}) -> {results if len(self.outputs) == 1 else f'({results})'}"

    def run(self, *args: Any) -> None:
        """The in-place operator."""
        kernel = self.kernel if self.specialize is None else self.specialize(*args)
        kernel(*args)

    def returning(self, *args: Any) -> Any:
        """The functional operator."""
        results = self.allocated(*args)
        made = iter(results if isinstance(results, tuple) else (results,))
        written = {p.name: next(made) for p in self.outputs}
        given = dict(zip((p.name for p in self.inputs), args, strict=False))
        for p in self.outputs:
            if p.name in given:
                written[p.name].copy_(given[p.name])
        self.run(*(written[p.name] if p.name in written else given[p.name] for p in self.parameters))
        return results

    def allocated(self, *args: Any) -> Any:
        """What the functional operator returns, not yet written: for fake tensors too."""
        given = dict(zip((p.name for p in self.inputs), args, strict=False))
        kernel = self.kernel
        if self.specialize is not None:
            kernel = self.specialize(*(given.get(p.name) for p in self.parameters))
        shapes = {a.name: a for a in kernel.abi.memories}
        values = self._values(kernel.abi, given, args)
        tensors = [v for v in given.values() if isinstance(v, torch.Tensor)]
        device = tensors[0].device if tensors else torch.get_default_device()
        results = tuple(_empty(shapes[p.name], values, device) for p in self.outputs)
        return results[0] if len(results) == 1 else results

    def _values(self, abi: KernelABI, given: Mapping[str, Any], args: Sequence[Any]) -> dict[str, Any]:
        """Values of symbols; symbolic ones under torch.compile."""
        values: dict[str, Any] = dict(abi.symbols)
        values |= dict(zip(self.further, args[len(self.inputs) :], strict=True))
        values |= {p.name: given[p.name] for p in self.inputs if p.kind == "symbol"}
        for arg in abi.memories:
            if arg.name in given:
                extents = zip(arg.shape, given[arg.name].shape, strict=True)
                values |= {text: extent for text, extent in extents if text in abi.dynamic_symbols}
        return values


def _empty(arg: KernelArg, values: Mapping[str, Any], device: torch.device) -> torch.Tensor:
    """A tensor for a written memory, laid out as the kernel wants it."""
    shape, dtype = arg.extents(values), getattr(torch, _TORCH_DTYPES[arg.dtype])
    if not arg.strides or "?" in arg.strides:
        return torch.empty(shape, dtype=dtype, device=device)
    return torch.empty_strided(shape, arg.strides_under(values), dtype=dtype, device=device)
