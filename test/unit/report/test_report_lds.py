"""`wave report --lds`: banks and phases against brute force, the runner's counts, and layouts element by element."""

from __future__ import annotations

import random
from collections.abc import Callable

import gemm_model_cases
import numpy as np
import pytest
from wave_mlir import report
from wave_mlir.compiler import driver, targets
from wave_mlir.dialect.layout import bank_conflicts, owners
from wave_mlir.report.lds_banks import Access, Buffer, LdsReport, degrees, touches
from wave_mlir.tools import wave_lds

TARGET = targets.get("gfx942")
CASE = gemm_model_cases.CASES[0]
TEXT = gemm_model_cases.TEXT.format(target=CASE.target, kind=CASE.kind, tile=64, space="shared", k=64)


def access(addresses: list[int], bits: int = 32, op: str = "read", buffer: int = 0) -> Access:
    return Access(op, buffer, bits, tuple(addresses), "here")


def test_degrees_by_hand() -> None:
    """gfx942, 32 bits a lane: two phases of 32 lanes on 32 banks of 4 bytes."""
    assert degrees(access([4 * lane for lane in range(64)]), TARGET) == [1, 1]
    assert degrees(access([8 * lane for lane in range(64)]), TARGET) == [2, 2]
    assert degrees(access([128 * lane for lane in range(64)]), TARGET) == [32, 32], "a column of rows of 128 bytes"
    assert degrees(access([0] * 64), TARGET) == [1, 1], "one row is read once for all"
    assert degrees(access([4 * (lane % 32) + 128 * (lane == 5) for lane in range(64)]), TARGET) == [1, 1]
    assert degrees(access([16 * lane for lane in range(64)], 128), TARGET) == [1] * 8
    first = touches(access([16 * lane for lane in range(64)], 128), TARGET)[0]
    assert {t.lane for t in first} == {0, 1, 2, 3, 20, 21, 22, 23} and len(first) == 32


@pytest.mark.parametrize("bits", (8, 16, 32, 64, 96, 128))
@pytest.mark.parametrize("op", ("read", "write"))
@pytest.mark.parametrize("name", ("gfx942", "gfx950"))
def test_degrees_are_those_of_the_dialect(bits: int, op: str, name: str) -> None:
    target, random_places = targets.get(name), random.Random(bits)
    phases = [list(p) for p in target.lds_access(op, bits).phases]
    for _ in range(8):
        size = bits // 8 if bits != 96 else 16
        places = [size * random_places.randrange(4096 // size) for _ in range(64)]
        found = degrees(access(places, bits, op), target)
        assert found == bank_conflicts(places, bits // 8, target.lds_banks, phases)


def scheduled() -> LdsReport:
    module = driver.compile_module(TEXT, until="scheduled").module
    with module.context:
        return wave_lds.reports(module)["gemm"]


def test_against_executed_machine_code(isa: Callable[..., object]) -> None:
    """The bytes and LDS clocks that the report has are those that the runner counts, for two trips of four waves."""
    found = scheduled()
    compiled = driver.compile_module(TEXT)
    a, b = (np.ones((64, 64), np.float16) for _ in "ab")
    run = isa(compiled, a, b, np.zeros((64, 64), np.float32))
    counted = run.profile().lds_accesses()  # type: ignore[attr-defined]
    trips, waves = 2, 4
    assert sum(c.bytes for c in counted) == trips * sum(b.read + b.written for b in found.buffers)
    clocks = sum(a.count * sum(degrees(a, TARGET)) for a in found.accesses)
    assert sum(c.cost for c in counted) == trips * waves * clocks
    assert [(b.read, b.written) for b in found.buffers] == [(2 * 64 * 32 * 2, 64 * 32 * 2)] * 2
    assert [found.degree(n) for n in range(2)] == [1, 1]


def test_model_takes_the_clocks() -> None:
    """An access with conflicts costs what its places say, not what its width says."""
    found = LdsReport("k", TARGET, 8192, [Buffer("b", 0, 8192)], [access([128 * lane for lane in range(64)])])
    assert found.clocks() == {("read", 32): 64.0} and found.degree(0) == 32
    text = report.lds_text(found, [])
    assert "2 phases, 64 clocks" in text and "9..............................." in text, "9: nine or more"
    svg = report.lds_svg(found, [])
    assert "32x" in svg and svg.count("<rect") > 64


def test_pictures_of_layouts() -> None:
    """Each shown element is at a place that the layout names as one of its owners, the first."""
    module = driver.compile_module(TEXT, until="placed").module
    with module.context:
        pictures = wave_lds.pictures(module)["gemm"]
        assert [p.dims for p in pictures] == [("M", "N"), ("M", "K"), ("N", "K")]
        values = [op.operation for op in _ops(module)]
        reads = [v for v in values if v.name == "wave.read"]
        for picture, read in zip(pictures[1:], reads, strict=True):
            layout = read.results[0].type.layout
            for row in range(32):
                for column in range(32):
                    here = owners(layout, dict(zip(picture.dims, (row, column), strict=True)))
                    first = min(((lane, reg) for wave, lane, reg in here if wave == 0), default=(-1, -1))
                    assert (picture.lanes[row, column], picture.registers[row, column]) == first
    text = report.lds_text(scheduled(), pictures)
    assert "wave.read at -:" in text and "[M, K] = 64 x 32, of which 16 x 32 are shown" in text
    svg = report.lds_svg(scheduled(), pictures)
    assert "layout of wave.read" in svg and ">63." in svg


def _ops(module) -> list:
    from wave_mlir.compiler.tile_ir import body_of, walk

    return [op for kernel in module.body.operations for op in walk(body_of(kernel))]


def test_places_that_are_not_known() -> None:
    """A gather from LDS counts as unknown; its bytes count."""
    text = """
module attributes {wave.form = "scheduled", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    %c = arith.constant dense<1> : vector<1xi32>
    %0 = wave.allocate offset 0 : !wave.memory<[64], f32, shared>
    %1 = wave.read %0 index [d0] symbols(d0 = %c : vector<1xi32>) : !wave.memory<[64], f32, shared> -> vector<1xf32>
    %2 = wave.read %0 index [0] : !wave.memory<[64], f32, shared> -> vector<1xf32>
    wave.return
  }
}
"""
    module = driver.parse(text)
    with module.context:
        found = wave_lds.reports(module)["k"]
    (buffer,) = found.buffers
    assert (buffer.unknown, buffer.read, buffer.written) == (1, 2 * 64 * 4, 0)
    assert [a.addresses for a in found.accesses] == [(0,) * 64]
    assert "1 accesses of unknown place" in report.lds_text(found, [])
    assert report.lds_text(LdsReport("k", TARGET, 0), []).endswith("no buffers\n")
