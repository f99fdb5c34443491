"""Buffer accesses against numpy: random shifted copies, machine code, masks taken away, memories beyond 2 GiB."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.driver import Compiled

TARGETS = ("gfx942", "gfx950")
DTYPES = {"i8": np.int8, "f16": np.float16, "f32": np.float32, "i64": np.int64}


@dataclass(frozen=True)
class Copy:
    """o[i, j] = a[i + di, j + dj], 0 outside; `loop`: a workgroup walks N, else a grid dim does."""

    target: str
    dtype: str
    shape: tuple[int, int]
    shift: tuple[int, int]
    tile: tuple[int, int]
    loop: bool
    dynamic: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        memory, tile = f"!wave.memory<[M, N], {self.dtype}, global>", f"!wave.tile<[M, N], {self.dtype}>"
        di, dj = (f"+ {s}" if s >= 0 else f"- {-s}" for s in self.shift)
        copy = f"""
      %x = wave.read %a mapping <[M = i, N = j] -> [i {di}, j {dj}]> : {memory} -> {tile}
      wave.write %x, %o : {tile}, {memory}"""
        body = f"wave.iterate N {{{copy}\n      wave.yield\n    }}" if self.loop else copy
        columns = "#wave.tiling<N, BN>" if self.loop else "#wave.workgroup<N, BN, y>"
        sizes = {"M": self.shape[0], "N": self.shape[1]}
        bound = {n: v for n, v in sizes.items() if n not in self.dynamic}
        bound |= {"BM": self.tile[0], "BN": self.tile[1]}
        return f"""
module attributes {{wave.form = "tile", wave.target = "{self.target}"}} {{
  wave.kernel @k(%a: {memory}, %o: {memory})
      symbols {{{", ".join(f"{n} = {v}" for n, v in bound.items())}}} dynamic [{", ".join(self.dynamic)}]
      constraints [#wave.workgroup<M, BM, x>, {columns},
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {{M = 1, N = {self.tile[1]}}}>] {{
    {body}
    wave.return
  }}
}}"""

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Input, a wrong output, the right output."""
        rng = np.random.default_rng([*self.shape, abs(self.shift[0])])
        a = rng.integers(1, 100, self.shape).astype(DTYPES[self.dtype])
        want = np.zeros_like(a)
        rows, columns = np.mgrid[: self.shape[0], : self.shape[1]]
        rows, columns = rows + self.shift[0], columns + self.shift[1]
        inside = (rows >= 0) & (rows < self.shape[0]) & (columns >= 0) & (columns < self.shape[1])
        want[inside] = a[rows[inside], columns[inside]]
        return a, np.full_like(a, 101), want


def _random(seed: int) -> Copy:
    rng = np.random.default_rng(seed)
    return Copy(
        target=str(rng.choice(TARGETS)),
        dtype=str(rng.choice(list(DTYPES))),
        shape=(int(rng.integers(1, 20)), int(rng.choice([1, 7, 64, 100, 128, 300]))),
        shift=(int(rng.integers(-2, 3)), int(rng.choice([0, 0, 1, -3, 8]))),
        tile=(int(rng.choice([1, 4, 8])), int(rng.choice([64, 128]))),
        loop=bool(rng.integers(2)),
        dynamic=tuple(n for n in "MN" if rng.integers(4) == 0),
    )


COPIES = [_random(seed) for seed in range(60)]
EXECUTED = [pytest.param(COPIES[i], id=f"{i}") for i in range(0, len(COPIES), 4)]


def _sizes(copy: Copy) -> dict[str, int]:
    return {n: size for n, size in zip("MN", copy.shape, strict=True) if n in copy.dynamic}


def _counts(lane: str) -> dict[str, int]:
    patterns = {"buffer": r"wave\.buffer_", "masked": r"wave\.buffer_.* mask", "by range": r"range_masked",
                "64 bit": r"wave\.(read|write) "}  # fmt: skip
    return {name: len(re.findall(pattern, lane)) for name, pattern in patterns.items()}


def test_random_copies(record_property: Callable[[str, object], None]) -> None:
    """Exact, all checks on; none of the masks of a buffer access needs a branch."""
    total: dict[str, int] = {}
    for copy in COPIES:
        compiled = driver.compile_module(copy.text, keep=["lane"])
        a, o, want = copy.arrays()
        sim.run(compiled.module, [a, o], symbols=_sizes(copy))
        np.testing.assert_array_equal(o, want, err_msg=str(copy))
        counts = _counts(compiled.ir("lane"))
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
        if not copy.dynamic:
            assert counts["64 bit"] == 0 and "scf.if" not in compiled.ir("gpu"), copy
    for name, count in total.items():
        record_property(name, count)
        assert count > 0, f"no access of the kind '{name}' in {len(COPIES)} kernels"


@pytest.mark.parametrize("copy", EXECUTED)
def test_machine_code(copy: Copy, isa: Callable[..., object]) -> None:
    a, o, want = copy.arrays()
    isa(driver.compile_module(copy.text), a, o, symbols=_sizes(copy))
    np.testing.assert_array_equal(o, want)


def _lowered(lane: str) -> Compiled:
    return driver.compile_module(lane)


def test_missing_masks_are_found() -> None:
    """Each mask that a buffer access has is needed: without it the simulator sees an access out of range."""
    found = 0
    for copy in COPIES[:40]:
        if copy.dynamic:
            continue
        lane = driver.compile_module(copy.text, until="lane").ir("lane")
        without = re.sub(r"(wave\.buffer_load .*?) mask %\w+", r"\1", lane)
        if without == lane or copy.shift[0] == 0:
            continue
        a, o, want = copy.arrays()
        try:
            sim.run(_lowered(without).module, [a, o])
        except sim.SimError as error:
            assert error.kind == "bounds"
            found += 1
        else:  # it read a neighbouring row where 0 is right, or nothing was beyond
            found += not np.array_equal(o, want)
    assert found >= 5


LARGE = """
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k(%a: !wave.memory<[M, N], f32, global>, %o: !wave.memory<[M, N], f32, global>)
      symbols {{M = {m}, N = {n}, BM = {bm}, BN = 64}} dynamic []
      constraints [#wave.workgroup<M, BM, x>, #wave.workgroup<N, BN, y>,
                   #wave.hardware<threads_per_wave = 64, vector_shapes = {{M = 1, N = 64}}>] {{
    %x = wave.read %a : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32>
    wave.write %x, %o : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }}
}}"""


@pytest.mark.parametrize(("m", "n", "bm", "wide"), [
    (1 << 20, 1 << 12, 16, 0),  # 16 GiB, but a tile spans 256 KiB
    (1 << 5, 1 << 27, 4, 0),  # rows of 512 MiB: a tile spans 1.5 GiB and a little
    (1 << 5, 1 << 27, 8, 4),  # the upper half of a tile's rows is 2 GiB and more from its first
])  # fmt: skip
def test_large_memories(m: int, n: int, bm: int, wide: int) -> None:
    """Memories of more than 2 GiB have buffer accesses exactly where the offsets of a tile's lanes fit."""
    compiled = driver.compile_module(LARGE.format(m=m, n=n, bm=bm), keep=["lane"])
    counts = _counts(compiled.ir("lane"))
    assert counts["64 bit"] == 2 * wide and counts["buffer"] == 2 * (bm - wide)
    assert len(re.findall(r"\bglobal_load", compiled.isa)) == wide
    assert len(re.findall(r"\bbuffer_load", compiled.isa)) == bm - wide


def test_option_turns_it_off() -> None:
    from wave_mlir.passes import pipelines

    on = pipelines.expand("staged-to-lane")
    assert pipelines.expand("staged-to-lane{buffer-ops=false}") == [p for p in on if p != "wave-buffer-ops"] != on
