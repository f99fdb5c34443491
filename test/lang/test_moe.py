"""The pieces of a mixture of experts as in examples/moe.py."""

from __future__ import annotations

import numpy as np
import pytest
from moe import (
    Shape,
    combine_kernel,
    count_kernel,
    experts_kernel,
    gating_kernel,
    offsets_kernel,
    place_kernel,
    reference,
    run,
    sorted_rows,
)
from running import check, check_machine
from wave_mlir.wave.constraints import MMAType

SHAPE = Shape(tokens=20, experts=8, top=2, size=64, width=48)
RNG = np.random.default_rng(2)


def chosen(shape: Shape, of: int | None = None) -> np.ndarray:
    """Different experts for each token, among the first `of`: the others have no token."""
    return np.stack([RNG.permutation(of or shape.experts)[: shape.top] for _ in range(shape.tokens)]).astype(np.int32)


def filled(*sizes: int, value: int = 0) -> np.ndarray:
    return np.full(sizes, value, np.int32)


@pytest.mark.thin(2)
@pytest.mark.parametrize(("experts", "top"), [(8, 2), (8, 1), (60, 4), (64, 8), (5, 5)])
def test_gating(experts: int, top: int) -> None:
    shape = Shape(7, experts, top, 32, 32)
    logits = RNG.permutation(7 * experts).reshape(7, experts).astype(np.float32) / experts
    ids = np.argsort(-logits, axis=1)[:, :top].astype(np.int32)
    weights = np.exp(np.take_along_axis(logits, ids, 1).astype(np.float64))
    weights /= weights.sum(1, keepdims=True)
    given = [logits, np.zeros((7, top), np.float32), filled(7, top, value=-1)]
    made = check(gating_kernel(), shape.subs, given, {1: weights}, tolerance=1e-6)
    check(gating_kernel(), shape.subs, given, {2: ids})
    if experts == 60:
        check_machine(made, given, {1: weights, 2: ids}, 1e-6, seed=1)


@pytest.mark.parametrize("tokens", [1, 20, 100])
def test_counts_and_offsets(tokens: int) -> None:
    shape = Shape(tokens, 8, 2, 32, 32)
    ids = chosen(shape, of=6).ravel()
    counts = np.bincount(ids, minlength=8).astype(np.int32)
    begins, ends, _, _ = sorted_rows(shape, ids)
    made = check(count_kernel(), shape.subs, [ids, filled(8)], {1: counts})
    check_machine(made, [ids, filled(8)], {1: counts}, 0, seed=4)
    check(offsets_kernel(), shape.subs, [counts, filled(8), filled(8)], {1: begins, 2: ends})


@pytest.mark.parametrize("tokens", [1, 20, 50])
def test_places(tokens: int) -> None:
    shape = Shape(tokens, 8, 2, 32, 32)
    ids = chosen(shape).ravel()
    begins, _, row_of, token_of = sorted_rows(shape, ids)
    given = [ids, begins.astype(np.int32), filled(ids.size, value=-1), filled(shape.rows, value=tokens)]
    made = check(place_kernel(), shape.subs, given, {2: row_of, 3: token_of})
    if tokens == 20:
        check_machine(made, given, {2: row_of, 3: token_of}, 0, seed=2)


@pytest.mark.parametrize("mma", [MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16], ids=lambda m: m.name)
def test_experts(mma: MMAType) -> None:
    """Small integers: the products are exact, padding rows are 0."""
    shape = Shape(20, 4, 2, 40, 48, block=16 if "16x16" in mma.name else 32)
    ids = chosen(shape, of=3)
    _, ends, _, token_of = sorted_rows(shape, ids)
    expert_of = np.minimum(np.searchsorted(ends, np.arange(shape.rows // shape.block) * shape.block, "right"), 3)
    x = RNG.integers(-2, 3, (20, 40)).astype(np.float16)
    gate, up = (RNG.integers(-2, 3, (4, 48, 40)).astype(np.float16) for _ in range(2))
    rows = np.concatenate([x, np.zeros((1, 40))])[token_of].astype(np.float64)
    which = np.repeat(expert_of, shape.block)
    g, u = (np.einsum("rk,rnk->rn", rows, w[which].astype(np.float64)) for w in (gate, up))
    out = np.full((shape.rows, 48), np.nan, np.float32)
    given = [x, gate, up, token_of.astype(np.int32), expert_of.astype(np.int32), out]
    want = {5: g / (1 + np.exp(-g)) * u}
    made = check(experts_kernel(mma), shape.subs, given, want, tolerance=2e-3)
    check_machine(made, given, want, 2e-3, seed=6)


def test_combine() -> None:
    ids = chosen(SHAPE)
    _, _, row_of, _ = sorted_rows(SHAPE, ids)
    y = RNG.integers(-9, 9, (SHAPE.rows, 48)).astype(np.float32)
    weights = RNG.integers(1, 5, ids.shape).astype(np.float32)
    want = (y[row_of].reshape(20, 2, 48) * weights[:, :, None]).sum(1)
    given = [y, row_of.reshape(ids.shape).astype(np.int32), weights, np.zeros((20, 48), np.float32)]
    check_machine(check(combine_kernel(), SHAPE.subs, given, {3: want}), given, {3: want}, 0, seed=8)


@pytest.mark.parametrize("tokens", [1, 33])
def test_all_together(tokens: int) -> None:
    shape = Shape(tokens, 8, 2, 64, 32)
    logits = RNG.standard_normal((tokens, 8)).astype(np.float32)
    x = RNG.standard_normal((tokens, 64)).astype(np.float16)
    gate, up = ((RNG.standard_normal((8, 32, 64)) / 8).astype(np.float16) for _ in range(2))
    out, weights, ids = run(shape, logits, x, gate, up, target="gfx950")
    np.testing.assert_allclose(out, reference(x, gate, up, weights, ids), rtol=0, atol=1e-5)
