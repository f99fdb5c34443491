"""Every MMA kind compiled by LLVM, and on gfx942 and gfx950 executed as machine code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mma_probe
import numpy as np
import pytest
from mma_probe import ACC, LHS, RHS, pack, unpack
from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import MmaKind, Target

import machine

ALL = targets.all_targets()
RUNNABLE = [(t, k) for t in ALL if t.name in ("gfx942", "gfx950") for k in t.kinds]
runnable = pytest.mark.parametrize(("target", "kind"), RUNNABLE, ids=[f"{t.name}-{k.name}" for t, k in RUNNABLE])
Run = Callable[..., object]


@pytest.mark.parametrize("target", ALL, ids=lambda t: t.name)
def test_llvm_emits_the_instruction(target: Target) -> None:
    for kind in target.kinds:
        text, _ = machine.machine_code(mma_probe.kernel(kind, target), target.name)
        emitted = [line.split()[0] for line in text.splitlines() if "v_mfma" in line or "v_wmma" in line]
        assert emitted == [kind.instruction.mnemonic] * kind.instruction.count, kind.name


class Probe:
    """The compiled kernel of one kind, run on batches of matrices."""

    def __init__(self, run: Run, target: Target, kind: MmaKind, folder: Path, byte: tuple[int, int] = (0, 0)) -> None:
        self.run, self.target, self.kind, self.byte = run, target, kind, byte
        text, code = machine.machine_code(mma_probe.kernel(kind, target, byte), target.name)
        (folder / "mma.s").write_text(text)
        self.path = machine.link(code, folder / "mma.hsaco")

    def __call__(self, lhs: np.ndarray, rhs: np.ndarray, acc: np.ndarray, scales: list[np.ndarray] | None = None):
        """Result matrices of A [b, m, k], B [b, n, k], C [b, m, n] and scales [b, m, k/32], [b, n, k/32]."""
        kind, wave = self.kind, self.target.wave_size
        count = len(acc)
        arrays = [pack(lhs, kind.lhs, wave, LHS), pack(rhs, kind.rhs, wave, RHS), pack(acc, kind.acc, wave, ACC)]
        fragments = (kind.lhs_scale, kind.rhs_scale)
        for matrix, fragment, axes, byte in zip(scales or [], fragments, (LHS, RHS), self.byte, strict=False):
            assert fragment is not None
            packed = pack(matrix, fragment, wave, axes)
            others = np.uint32(0xFFFFFFFF & ~(0xFF << 8 * byte))  # NaN in the bytes that must not be used
            arrays.append((packed << np.uint32(8 * byte)) | others)
        arrays = [np.ascontiguousarray(a) for a in arrays]
        self.run(self.path, "mma", arrays, (count, 1, 1), (wave, 1, 1), self.target.name, 0)
        return unpack(arrays[2], kind.acc, wave, ACC)


def integers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Small integers, exact in every type down to f4."""
    return rng.integers(-3, 4, shape).astype(np.float64)


def no_scales(kind: MmaKind, count: int) -> list[np.ndarray] | None:
    if not kind.is_scaled:
        return None
    blocks = kind.k // targets.SCALE_BLOCK
    return [np.ones((count, kind.m, blocks)), np.ones((count, kind.n, blocks))]


@pytest.mark.thin(3)
@runnable
def test_random_matrices(machine_run: Run, tmp_path: Path, target: Target, kind: MmaKind) -> None:
    rng = np.random.default_rng(1)
    probe = Probe(machine_run, target, kind, tmp_path)
    lhs, rhs = integers(rng, 4, kind.m, kind.k), integers(rng, 4, kind.n, kind.k)
    acc = rng.integers(-100, 100, (4, kind.m, kind.n)).astype(np.float64)
    got = probe(lhs, rhs, acc, no_scales(kind, 4))
    np.testing.assert_array_equal(got, lhs @ rhs.transpose(0, 2, 1) + acc)


def distinct_columns(rng: np.random.Generator, rows: int, k: int) -> np.ndarray:
    """A matrix whose columns differ pairwise, so that a column tells its k."""
    while True:
        matrix = integers(rng, rows, k)
        if len(np.unique(matrix, axis=1).T) == k:
            return matrix


@pytest.mark.thin(3)
@pytest.mark.second_opinion
@runnable
def test_one_hot(isa_run: Run, tmp_path: Path, target: Target, kind: MmaKind) -> None:
    """With a single 1 at A[i, k] row i of the result is column k of B and all else 0; the same for B."""
    rng = np.random.default_rng(2)
    probe = Probe(isa_run, target, kind, tmp_path)
    count = kind.m * kind.k
    hot = np.eye(count).reshape(count, kind.m, kind.k)
    zero = np.zeros((count, kind.m, kind.n))
    index = np.arange(count)

    other = distinct_columns(rng, kind.n, kind.k)
    want = zero.copy()
    want[index, index // kind.k] = other.T[index % kind.k]
    got = probe(hot, np.broadcast_to(other, (count, *other.shape)), zero, no_scales(kind, count))
    np.testing.assert_array_equal(got, want)

    other = distinct_columns(rng, kind.m, kind.k)
    want = zero.copy()
    want[index, :, index // kind.k] = other.T[index % kind.k]
    got = probe(np.broadcast_to(other, (count, *other.shape)), hot, zero, no_scales(kind, count))
    np.testing.assert_array_equal(got, want)


SCALED = [(t, k) for t, k in RUNNABLE if k.is_scaled]


@pytest.mark.thin(7)
@pytest.mark.parametrize(("target", "kind"), SCALED, ids=[f"{t.name}-{k.name}" for t, k in SCALED])
def test_scales(machine_run: Run, tmp_path: Path, target: Target, kind: MmaKind) -> None:
    """Random powers of two as scales, then each scale alone differing from 1, from every byte of the register."""
    rng = np.random.default_rng(3)
    blocks = kind.k // targets.SCALE_BLOCK
    single = kind.m * blocks
    lone = 1.0 + np.eye(single).reshape(single, kind.m, blocks)
    one = np.ones((single, kind.m, blocks))
    count = 4 + 2 * single
    lhs, rhs = integers(rng, count, kind.m, kind.k), integers(rng, count, kind.n, kind.k)
    acc = rng.integers(-100, 100, (count, kind.m, kind.n)).astype(np.float64)
    powers = [2.0 ** rng.integers(-3, 4, (4, kind.m, blocks)) for _ in range(2)]
    scales = [np.concatenate([powers[0], lone, one]), np.concatenate([powers[1], one, lone])]
    wide = [np.repeat(s, targets.SCALE_BLOCK, axis=2) for s in scales]
    want = (lhs * wide[0]) @ (rhs * wide[1]).transpose(0, 2, 1) + acc
    for byte in ((0, 0), (1, 2), (3, 1), (2, 3)):
        got = Probe(machine_run, target, kind, tmp_path, byte)(lhs, rhs, acc, scales)
        np.testing.assert_array_equal(got, want)
