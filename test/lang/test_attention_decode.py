"""Decode attention as in examples/attention_decode.py: split keys, paged, lengths known at run time."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
from attention_decode import Shape, phase_0_kernel, phase_1_kernel, reference, tables
from running import check_machine, compiled
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

F16_16 = (MMAType.F32_16x16x16_F16,) * 2
F16_32 = (MMAType.F32_32x32x8_F16,) * 2
TYPES = {"f16": (tkl.f16, np.float16, 2e-3), "bf16": (tkl.bf16, ml_dtypes.bfloat16, 1.5e-2)}


class Decode:
    """Both kernels compiled for a shape, and inputs for given lengths."""

    def __init__(
        self, shape: Shape, lengths: list[int], mma=F16_16, dtype: str = "f16", target: str = "gfx942"
    ) -> None:
        kind, array, self.tolerance = TYPES[dtype]
        self.shape, self.lengths = shape, lengths
        self.table, self.indptr = tables(shape, lengths)
        rng = np.random.default_rng(3)
        rows, kv = shape.rows, shape.kv_heads
        sizes = [(len(lengths), shape.heads, shape.qk_size), (rows, kv, shape.qk_size), (rows, kv, shape.v_size)]
        self.q, self.k, self.v = (rng.standard_normal(s).astype(array) for s in sizes)
        first, first_subs = phase_0_kernel(shape, len(lengths), len(self.table), mma, kind)
        second, second_subs = phase_1_kernel(shape, len(lengths))
        self.phases = compiled(first, first_subs, target), compiled(second, second_subs, target)

    def arguments(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of both phases; outputs hold NaN."""
        parts = np.full((self.shape.splits, len(self.lengths), self.shape.heads, self.shape.v_size), np.nan, np.float32)
        lse = np.full(parts.shape[:3], np.nan, np.float32)
        out = np.full(parts.shape[1:], np.nan, np.float32)
        lengths = np.array(self.lengths, np.int32)
        return [self.q, self.k, self.v, self.table, self.indptr, lengths, parts, lse], [parts, lse, out]

    def want(self) -> np.ndarray:
        return reference(self.shape, self.q, self.k, self.v, self.table, self.indptr, self.lengths)

    def check(self) -> tuple[CompiledKernel, CompiledKernel]:
        first, second = self.arguments()
        self.phases[0](*first)
        self.phases[1](*second)
        np.testing.assert_allclose(second[2], self.want(), rtol=0, atol=self.tolerance)
        return self.phases


@pytest.mark.thin(4)
@pytest.mark.parametrize("page", [1, 4, 16])
@pytest.mark.parametrize("splits", [1, 8])
def test_lengths_known_at_run_time(page: int, splits: int) -> None:
    """Splits without keys, sequences without keys, parts of pages."""
    Decode(Shape(8, 2, 64, 64, rows=160, page=page, splits=splits), [0, 1, 7, 64, 5]).check()


@pytest.mark.thin(3)
@pytest.mark.parametrize("ratio", [1, 3, 8, 16])
def test_query_heads_of_a_key_head(ratio: int) -> None:
    Decode(Shape(2 * ratio, 2, 32, 32, rows=64, splits=2), [9, 40]).check()


@pytest.mark.thin(3)
@pytest.mark.parametrize("mma", [F16_16, F16_32], ids=["16x16", "32x32"])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_kinds(mma, dtype: str, target: str) -> None:
    Decode(Shape(8, 2, 64, 32, rows=96, page=4, splits=3), [1, 33], mma, dtype, target).check()


@pytest.mark.parametrize("head", [40, 72])
def test_head_sizes(head: int) -> None:
    Decode(Shape(4, 1, head, head, rows=64, splits=2), [33]).check()


def test_machine_code() -> None:
    decode = Decode(Shape(8, 2, 32, 32, rows=160, page=4, splits=4), [0, 1, 7, 64])
    first, second = decode.arguments()
    decode.phases[0](*first)
    results = {6: first[6].astype(np.float64), 7: first[7].astype(np.float64)}
    given, _ = decode.arguments()
    check_machine(decode.phases[0], given, results, 1e-5, seed=1)
    check_machine(decode.phases[1], second, {2: decode.want()}, decode.tolerance, seed=2)


@pytest.mark.parametrize(("target", "direct"), [("gfx942", False), ("gfx950", True)])
def test_pages_reach_lds_in_wide_loads(target: str, direct: bool) -> None:
    """Pages of 16 tokens: rows of keys and values come in loads of 16 bytes, into LDS; directly too."""
    shape, lengths = Shape(4, 1, 64, 64, rows=96, page=16, splits=1), [7, 33]
    decode = Decode(shape, lengths, target=target)
    kernel, subs = phase_0_kernel(shape, len(lengths), len(decode.table))
    made = wave_compile(WaveCompileOptions(subs=subs, target=target, use_global_to_shared=direct), kernel)
    decode.phases = made, decode.phases[1]
    decode.check()
    first, _ = decode.arguments()
    made.run_isa(*first, order="random", seed=3)
    tiles = 2 * 32 * 64 * 2 // (64 * 16)
    loop = made.isa[: made.isa.rindex("v_mfma")]
    wide = len(re.findall(r"buffer_load_dwordx4.* lds\n" if direct else r"buffer_load_dwordx4", loop))
    assert wide >= tiles and not re.search("buffer_load_(ushort|short)|ds_read_u16|ds_write_b(8|16|32)", made.isa)
    assert not direct or ("ds_read_b64_tr_b16" in made.isa and "ds_write" not in made.isa)
