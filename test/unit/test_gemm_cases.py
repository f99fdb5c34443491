"""The selection of GEMM cases itself."""

from __future__ import annotations

import itertools
import re
from dataclasses import astuple, replace

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase, covering, expected, expected_error, inputs


def test_all_cases() -> None:
    cases = list(gemm_cases.all_cases())
    assert len(cases) == len(set(cases)) == 2 * 5 * 2 * 2 * 4 * 4 * 6**3


def test_covering_has_every_pair_that_is_legal() -> None:
    """Pairs by brute force; sizes, which do not decide what is legal, come as all pairs of them."""
    cases = covering()
    assert all(expected_error(c) is None for c in cases)
    assert cases == covering()
    sizes = gemm_cases.SIZES
    triples = [(sizes[i], sizes[j], sizes[(i + j) % 6]) for i in range(6) for j in range(6)]
    matrix = (replace(c, m=m, n=n, k=k) for c in gemm_cases.configurations() for m, n, k in triples)
    legal = [c for c in matrix if expected_error(c) is None]
    have = {(i, a, j, b) for c in cases for (i, a), (j, b) in itertools.combinations(enumerate(astuple(c)), 2)}
    want = {(i, a, j, b) for c in legal for (i, a), (j, b) in itertools.combinations(enumerate(astuple(c)), 2)}
    assert have == want
    assert {(c.target, c.kind.name) for c in cases} == {(c.target, c.kind.name) for c in legal}
    assert len(cases) < 80


def test_configurations_use_all_sizes() -> None:
    cases = gemm_cases.configurations()
    assert len(cases) == 640
    assert {(c.m, c.n, c.k) for c in cases} == set(itertools.product(gemm_cases.SIZES, repeat=3))


@pytest.mark.parametrize(
    ("tile", "waves", "width", "error"),
    [
        ((256, 256, 64), (1, 1), 16, "accumulator"),
        ((256, 256, 64), (2, 2), 16, None),
        ((256, 256, 64), (4, 1), 32, None),
        ((128, 128, 64), (1, 1), 32, None),
        ((8, 64, 32), (4, 1), 32, None),
        ((64, 64, 32), (3, 1), 16, "divi"),
        ((256, 256, 128), (2, 2), 16, "LDS|shared"),
    ],
)
def test_expected_error(tile: tuple[int, int, int], waves: tuple[int, int], width: int, error: str | None) -> None:
    assert expected_error(GemmCase("gfx942", "f16", width, "shared", tile, waves, 1, 1, 1)) == error


def test_refused() -> None:
    errors = {expected_error(c) for c in gemm_cases.refused()}
    assert errors == {"accumulator", "divi", "LDS|shared"}


def test_text_names_the_case() -> None:
    case = GemmCase("gfx950", "i8", 32, "global", (128, 128, 64), (2, 2), 17, 100, 300)
    text = gemm_cases.gemm_text(case, dynamic=("M",))
    assert re.search(r"symbols \{N = 100, K = 300, BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 64\} dynamic \[M\]", text)
    assert "mma = i32_32x32x16_i8" in text
    assert "wave.register 0 : !wave.tile<[M, N], i32>" in text


@pytest.mark.parametrize("dtype", gemm_cases.DTYPES)
@pytest.mark.parametrize("target", gemm_cases.TARGETS)
def test_expected_is_what_torch_says(target: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    case = GemmCase(target, dtype, 16, "shared", (64, 64, 32), (1, 1), 17, 100, 300)
    a, b, c = inputs(case)
    left, right = (torch.from_numpy(x.astype(np.float32)) for x in (a, b))
    np.testing.assert_array_equal(expected(a, b, c.dtype), (left @ right.T).numpy().astype(c.dtype))
    assert {float(x) for x in a.astype(np.float32).ravel()} == set(map(float, range(-4, 5)))
    assert (c == -12345).all()
