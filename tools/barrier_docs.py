"""The table of barriers of all example kernels, docs/barriers.md.

    python tools/barrier_docs.py [--write] [EXAMPLE …]

Each example's `main` is run for what it compiles; its kernels are not executed. Kernels of the library, of which
`library_kernels.py` has one of each kind, follow by name. Without --write it exits with 1 when
the page is stale, or the rows of the named examples are, and when a kernel has more barriers than it needs.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import library_kernels
import numpy as np
from generated_page import write_or_compare
from mlir import ir

os.environ["WAVE_CACHE"] = "0"  # what is read from there is not compiled

from wave_mlir.compiler import driver
from wave_mlir.compiler.barrier_minimum import minimum
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.tile_ir import kernels
from wave_mlir.passes.place_barriers import PlaceBarriers
from wave_mlir.wave.compile import CompiledKernel

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "barriers.md"
HEADER = (ROOT / "tools" / "barrier_docs.md").read_text(encoding="utf-8")
NOT_COMPILED = ("build_gemm", "digits")  # one only builds a module, the other reads data; their GEMM is gemm.mlir's
_BARRIER = "wave.shared_memory_barrier"


@dataclass(frozen=True)
class Row:
    """One kernel."""

    example: str
    kernel: str
    waves: int
    accesses: int
    given: int
    placed: int
    a_trip: int
    fences: int
    least: int

    def __str__(self) -> str:
        numbers = (self.waves, self.accesses, self.given, self.placed, self.a_trip, self.fences, self.least)
        return f"| {self.example} | {self.kernel} | " + " | ".join(map(str, numbers)) + " |"


def examples() -> list[str]:
    """Names of all examples that compile kernels, and of those of the library."""
    names = sorted(p.stem for p in (ROOT / "examples").glob("*.py"))
    return [n for n in names if n not in NOT_COMPILED] + ["gemm.mlir", *library_kernels.names()]


def rows(example: str) -> list[Row]:
    """The kernels an example compiles, each once."""
    found: list[Row] = []

    def place(self: PlaceBarriers, module: ir.Module) -> None:
        before = str(module)
        right(self, module)
        for row in _rows_of(example, before, module):
            if row not in found:
                found.append(row)

    right = PlaceBarriers.run
    with mock.patch.object(PlaceBarriers, "run", place), _not_executed():
        if example.endswith(".mlir"):
            driver.compile_file(str(ROOT / "examples" / example))
        elif example in library_kernels.names():
            library_kernels.compile_kernel(example)
        else:
            _without_assertions(example).main()
    return found


@contextlib.contextmanager
def _not_executed() -> Iterator[None]:
    """Kernels are compiled; their results are what was there."""
    ignored = {"divide": "ignore", "invalid": "ignore", "over": "ignore"}
    with (
        mock.patch.object(CompiledKernel, "__call__", lambda *_, **__: None),
        contextlib.redirect_stdout(io.StringIO()),
        np.errstate(**ignored),  # type: ignore[arg-type]
    ):
        yield


def _without_assertions(example: str) -> types.ModuleType:
    """An example as a module that does not mind wrong results."""
    path = ROOT / "examples" / f"{example}.py"
    made = types.ModuleType(example)
    made.__file__ = str(path)
    sys.modules[example] = made  # dataclasses look there
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", optimize=1), made.__dict__)
    return made


def _rows_of(example: str, before: str, module: ir.Module) -> Iterator[Row]:
    for kernel in kernels(module.operation):
        text, info = str(kernel), KernelInfo.of(kernel)
        x, y, z = info.block_waves
        least = minimum(before)
        a_trip = max(_a_trip(kernel.operation.regions[0].blocks[0]), default=0)
        yield Row(
            example, ir.StringAttr(kernel.attributes["sym_name"]).value, x * y * z, least.accesses, least.given,
            text.count(_BARRIER) - least.given, a_trip, text.count("wave.wave_fence"), least.least,
        )  # fmt: skip


def _a_trip(block: ir.Block) -> Iterator[int]:
    """The barriers that each loop has by itself."""
    for view in block.operations:
        op = view.operation
        for inner in (b for region in op.regions for b in region.blocks):
            if op.name == "wave.iterate":
                yield _own(inner)
            yield from _a_trip(inner)


def _own(block: ir.Block) -> int:
    """Barriers of a block and its conditionals."""
    ops = [view.operation for view in block.operations]
    inner = [b for op in ops if op.name == "wave.conditional" for region in op.regions for b in region.blocks]
    return sum(op.name == _BARRIER for op in ops) + sum(map(_own, inner))


def table(found: list[Row]) -> str:
    """As Markdown."""
    return "\n".join(map(str, found)) + "\n"


def main(arguments: list[str]) -> int:
    """Write or compare the page, or compare some rows."""
    sys.path.insert(0, str(ROOT / "examples"))
    named = [a for a in arguments if not a.startswith("-")]
    found = [row for example in named or examples() for row in rows(example)]
    for row in found:
        if row.placed > row.least and row.waves > 1:
            print(f"{row.example}: {row.kernel} has {row.placed} barriers placed, and is proven to need {row.least}")
            return 1
    if not named:
        return write_or_compare(PAGE, HEADER + table(found), arguments)
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    missing = [str(row) for row in found if str(row) not in page]
    for row in missing:
        print(f"not in docs/barriers.md (run `make docs`): {row}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
