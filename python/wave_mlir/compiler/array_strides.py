"""Strides of the arrays of a call, in elements, and whether they are those that a kernel was compiled for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from . import exprtext


@runtime_checkable
class _Tensor(Protocol):
    """A tensor of torch."""

    def stride(self) -> Sequence[int]: ...


RUN_TIME = "?"
"""Stands for a stride given at run time among the expressions of declared ones."""


def element_strides(array: object) -> tuple[int, ...] | None:
    """Strides in elements: of a numpy array, a tensor, or what else has them; None for a bare shape.

    A dim of one element (or none) has whatever stride its library gives it, but none below 0. Raises ValueError when
    elements are not a whole number of elements apart.
    """
    shape = tuple(int(n) for n in getattr(array, "shape", ()))
    if isinstance(array, _Tensor):
        steps = tuple(int(s) for s in array.stride())
    elif (in_bytes := getattr(array, "strides", None)) is not None:  # numpy
        size = int(getattr(array, "itemsize", 1))
        if any(s % size for s, n in zip(in_bytes, shape, strict=True) if n > 1):
            raise ValueError("its elements are no whole number of elements apart")
        steps = tuple(s // size for s in in_bytes)
    else:
        return None
    return tuple(max(s, 0) if n <= 1 else s for s, n in zip(steps, shape, strict=True))


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a row-major array without gaps."""
    steps = [1] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        steps[dim] = steps[dim + 1] * shape[dim + 1]
    return tuple(steps)


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last of an array with these strides, which are not negative."""
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def fault(array: object, declared: Sequence[str], access: str, symbols: Mapping[str, int]) -> str | None:
    """What is wrong with the strides of an array, and what to do; None when they fit, or when it has none.

    declared: the strides a kernel was compiled for, as expressions or `RUN_TIME`; empty for dense and row-major.
    """
    shape = tuple(int(n) for n in getattr(array, "shape", ()))
    try:
        given = element_strides(array)
    except ValueError as error:
        return f"{error}; pass a copy"
    if given is None or 0 in shape:
        return None
    dense = dense_strides(shape)
    want = [_wanted(text, symbols) for text in declared] if declared else list(dense)
    wrong = [d for d, n in enumerate(shape) if n > 1 and want[d] not in (None, given[d])]
    if wrong and not declared:
        return (
            f"is not contiguous: its strides are {list(given)}, and the kernel is compiled for {list(dense)}; pass a "
            "contiguous copy (and copy the result back), or declare its strides: strides = [?, …] in the memory type, "
            "MemoryLayout(strides=(None, …)) in Python"
        )
    if wrong:
        texts = ", ".join(declared)
        return f"has stride {given[wrong[0]]} in dim {wrong[0]}; the kernel is compiled for [{texts}], which is {want}"
    if any(n > 1 and s < 0 for n, s in zip(shape, given, strict=True)):
        return f"has a negative stride: {list(given)}; pass a copy"
    if access != "read" and any(n > 1 and s == 0 for n, s in zip(shape, given, strict=True)):
        return f"is written, and its elements share places: its strides are {list(given)}; pass a copy"
    return None


def _wanted(text: str, symbols: Mapping[str, int]) -> int | None:
    return None if text == RUN_TIME else exprtext.evaluate(text, symbols)
