"""Remaps of workgroup ids: which ones there are, and that one is a bijection of the grid.

`remapped` gives the program's ids for the hardware's, for any kind of expression. That it is a bijection is an argument
in two steps, each exact for every grid; the tests prove both with symbols for the sizes, and enumerate all grids up to
20 x 20.

1. XCDs. Of n ids, id i goes to XCD i mod X as its number i div X. XCD x gets n div X ids, one more if x < n mod X. The
   new id is x * (n div X) + min(x, n mod X) + i div X: XCD x has the ids from x * (n div X) + min(x, n mod X) on, as
   many as it has numbers, and these intervals follow each other without a gap from 0 to n.
2. Groups. Ids are cut in runs of g * C for C columns: run r covers the rows from r * g to min(R, r g + g), s rows.
   Every run but the last has g * C ids for g * C tiles; the last has what is left, R * C - r * g * C = s * C, for as
   many tiles. In a run, number q goes to row q mod s and column q div s: the digits of q in the mixed radix (s, C), so
   each pair once.

Remaps that users write are checked by enumeration: at compile time where the grid is known, else at each launch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

from . import exprtext

LIMIT = 1 << 24
"""Workgroups of the largest grid that is enumerated; a remap of a larger one is an error."""


class _Arithmetic(Protocol):
    """What ids are: `Expr`, sympy's expressions, integers, arrays."""

    def __add__(self, other, /): ...
    def __sub__(self, other, /): ...
    def __mul__(self, other, /): ...
    def __floordiv__(self, other, /): ...
    def __mod__(self, other, /): ...


Id = TypeVar("Id", bound=_Arithmetic)


def remapped(
    ids: tuple[Id, Id], sizes: tuple[Id, Id], group: int, along: int, xcds: int, minimum: Callable[[Id, Id | int], Id]
) -> tuple[Id, Id]:
    """The program's ids along two grid dims for the hardware's, of which the first counts fastest.

    sizes: of the grid along both. group: rows along dim `along` (0 or 1) that are gone through together, column by
    column; xcds: chips that workgroups go to in turns; each gets a run of consecutive ids. 1 leaves out a step.
    """
    number = ids[1] * sizes[0] + ids[0]
    if xcds > 1:
        total = sizes[0] * sizes[1]
        chip = number % xcds
        number = chip * (total // xcds) + minimum(chip, total % xcds) + number // xcds
    rows, columns = sizes if along == 0 else (sizes[1], sizes[0])
    run = columns * group
    first = number // run * group
    height = minimum(rows - first, group)
    row, column = first + number % run % height, number % run // height
    return (row, column) if along == 0 else (column, row)


class RemapError(ValueError):
    """A remap is no bijection of a grid; the message says which workgroups clash."""


@lru_cache(maxsize=256)
def check(remap: tuple[str, ...], program: tuple[int, ...], grid: tuple[int, int, int], values: tuple) -> None:
    """Raises RemapError unless the remap takes the hardware's grid to the program's, each workgroup once.

    remap: texts of the program's ids over `wg.x`, `wg.y`, `wg.z` and the symbols of `values`, pairs (name, value).
    """
    import numpy as np

    total = grid[0] * grid[1] * grid[2]
    if total == 0:
        return
    if total > LIMIT:
        raise RemapError(f"a remap of {total} workgroups cannot be checked; {LIMIT} is the most")
    z, y, x = (axis.reshape(-1) for axis in np.indices(grid[::-1]))
    known = dict(values) | {"wg.x": x, "wg.y": y, "wg.z": z}
    number = np.zeros(total, np.int64)
    for text, size in zip(remap, program, strict=True):
        try:
            ids = np.broadcast_to(_evaluate(exprtext.parse(text), known), (total,))
        except ZeroDivisionError:
            raise RemapError(f"the remapped id {text} divides by zero on the grid {_by(grid)}") from None
        if ids.min() < 0 or ids.max() >= size:
            raise RemapError(
                f"the remapped id {text} is from {ids.min()} to {ids.max()} on the grid {_by(grid)}, outside of 0 to "
                f"{size - 1}"
            )
        number = number * size + ids
    order = np.argsort(number, kind="stable")
    again = np.flatnonzero(np.diff(number[order]) == 0)
    if len(again):
        a, b = order[again[0]], order[again[0] + 1]
        raise RemapError(
            f"its remap of workgroups is no bijection of the grid {_by(grid)}: workgroups ({x[a]}, {y[a]}, {z[a]}) and "
            f"({x[b]}, {y[b]}, {z[b]}) compute the same tile"
        )


def _by(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def _evaluate(node: exprtext.Node, values: Mapping[str, object]):
    """The value of a parsed expression, where symbols may be arrays. Raises ZeroDivisionError."""
    import numpy as np

    if isinstance(node, int):
        return node
    if isinstance(node, str):
        return values[node]
    operator, *operands = node
    parts = [_evaluate(o, values) for o in operands]
    if operator in ("floordiv", "ceildiv", "mod") and np.any(np.asarray(parts[1]) == 0):
        raise ZeroDivisionError
    if operator in ("min", "max"):
        combine = np.minimum if operator == "min" else np.maximum
        result = parts[0]
        for part in parts[1:]:
            result = combine(result, part)
        return result
    return _OPERATORS[operator](*parts)


def _operators() -> dict[str, Callable]:
    import operator as op

    def select(condition, a, b):
        import numpy as np

        return np.where(condition, a, b)

    return {
        "+": op.add, "-": op.sub, "*": op.mul, "floordiv": op.floordiv, "mod": op.mod, "xor": op.xor,
        "ceildiv": lambda a, b: -(-a // b), "select": select,
        "eq": op.eq, "ne": op.ne, "lt": op.lt, "le": op.le, "gt": op.gt, "ge": op.ge,
        "and": lambda a, b: (a != 0) & (b != 0), "or": lambda a, b: (a != 0) | (b != 0),
    }  # fmt: skip


_OPERATORS = _operators()
