"""GEMMs whose results are narrower than their accumulators, and of f32 operands: every access has 16 bytes a lane."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import BK, BM, BN, SPACE, K, M, N
from running import check, check_machine
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType as Mma

TYPES = {
    "f16": (tkl.f16, np.float16), "bf16": (tkl.bf16, ml_dtypes.bfloat16), "f32": (tkl.f32, np.float32),
    "fnuz": (tkl.f8e4m3fnuz, ml_dtypes.float8_e4m3fnuz), "ocp": (tkl.f8e4m3fn, ml_dtypes.float8_e4m3fn),
}  # fmt: skip
SIZES = (100, 128, 64)


def run(
    target: str, mma: Mma | None, source: str, result: str, columns: int = 128, direct: bool = False
) -> CompiledKernel:
    """A · Bᵀ + bias, rounded to `result`; integers that are exact in all types."""
    (kind, array), (out, stored) = TYPES[source], TYPES[result]

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, BM, 0),
            tkw.WorkgroupConstraint(N, BN, 1),
            tkw.TilingConstraint(K, BK),
            tkw.WaveConstraint(M, BM / 2),
            tkw.WaveConstraint(N, BN / 2),
            tkw.HardwareConstraint(64, mma_type=mma),
        ]
    )
    def gemm(
        a: tkl.Memory[M, K, SPACE, kind],
        b: tkl.Memory[N, K, SPACE, kind],
        bias: tkl.Memory[N, GLOBAL, tkl.f32],
        c: tkl.Memory[M, N, GLOBAL, out],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        total = loop + tkw.broadcast(tkw.read(bias), [M, N])
        tkw.write(total if out == tkl.f32 else tkw.cast(total, out), c)

    m, n, k = SIZES
    rng = np.random.default_rng(5)
    a, b = rng.integers(-1, 2, (m, k)), rng.integers(-1, 2, (n, k))
    a[:, 9:] = 0  # sums below 16, which f8 has
    bias = rng.integers(-3, 4, n).astype(np.float32)
    want = (a @ b.T + bias).astype(stored)
    subs = {M: m, N: n, K: k, BM: 64, BN: columns, BK: 32, SPACE: SHARED}
    args = [a.astype(array), b.astype(array), bias, np.zeros_like(want)]
    if not direct:
        return check(gemm, subs, args, {3: want}, target=target, orders=("forward",))
    made = wave_compile(WaveCompileOptions(subs=subs, target=target, use_global_to_shared=True), gemm)
    made(*args)
    np.testing.assert_array_equal(args[3], want)
    args[3][:] = 7
    check_machine(made, args, {3: want}, 0.0, seed=3)
    return made


def widths(made: CompiledKernel, stem: str) -> set[str]:
    """The instructions that begin with `stem`."""
    return set(re.findall(rf"\t({stem}\w+)", made.isa))


@pytest.mark.parametrize(
    ("target", "mma", "result"),
    [
        ("gfx942", Mma.F32_16x16x16_F16, "f16"),
        ("gfx942", Mma.F32_32x32x8_F16, "bf16"),
        ("gfx950", Mma.F32_16x16x32_F16, "bf16"),
        ("gfx942", Mma.F32_16x16x16_F16, "fnuz"),
        ("gfx950", Mma.F32_32x32x16_F16, "f16"),
    ],
)
def test_narrow_results(target: str, mma: Mma, result: str) -> None:
    """Neighbouring columns belong to several instructions in turn; LDS has no conflicts nonetheless."""
    made = run(target, mma, "f16", result)
    assert widths(made, "buffer_store") == {"buffer_store_dwordx4"}
    assert widths(made, "ds_") == {"ds_read_b128", "ds_write_b128"}
    assert re.findall(r"lds_conflicts = (\d+)", made.ir("lane")) == ["1", "1"]


def test_too_few_columns() -> None:
    """A wave with one instruction's columns stores what it has: 8 bytes."""
    assert widths(run("gfx942", Mma.F32_16x16x16_F16, "f16", "f16", columns=32), "buffer_store") == {
        "buffer_store_dwordx2"
    }


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_f32_operands(target: str) -> None:
    """Four instructions behind one access of four elements of f32."""
    made = run(target, None, "f32", "f32")
    assert widths(made, "ds_") == {"ds_read_b128", "ds_write_b128"} and "v_mfma_f32_16x16x4_f32" in made.isa
    assert widths(made, "buffer_store") == {"buffer_store_dwordx4"}


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_narrow_results_with_direct_copies(target: str) -> None:
    """Rows of 64 bytes of which a read takes every other one: two rows are one to the swizzle, on the global side."""
    made = run(target, Mma.F32_16x16x16_F16, "f16", "f16", direct=True)
    assert "ds_write" not in made.isa and widths(made, "buffer_store") == {"buffer_store_dwordx4"}
    assert re.findall(r"lds_conflicts = (\d+)", made.ir("lane")) == ["1", "1"]


@pytest.mark.thin(3)
@pytest.mark.parametrize(("target", "mma"), [("gfx942", Mma.F32_16x16x16_F16), ("gfx950", Mma.F32_32x32x16_F16)])
@pytest.mark.parametrize(("lhs", "rhs"), [((M, K), (K, N)), ((K, M), (K, N)), ((K, M), (N, K))], ids=["nn", "tn", "tt"])
def test_transposed_operands(target: str, mma: Mma, lhs: tuple, rhs: tuple) -> None:
    """Wide loads, and LDS reads of 16 bytes: rows become columns in LDS, by registers; or at the read, by hardware."""

    @tkw.wave(
        [
            tkw.WorkgroupConstraint(M, BM, 0),
            tkw.WorkgroupConstraint(N, BN, 1),
            tkw.TilingConstraint(K, BK),
            tkw.WaveConstraint(M, BM / 2),
            tkw.WaveConstraint(N, BN / 2),
            tkw.HardwareConstraint(64, mma_type=mma),
        ]
    )
    def gemm(
        a: tkl.Memory[(*lhs, SHARED, tkl.f16)],
        b: tkl.Memory[(*rhs, SHARED, tkl.f16)],
        c: tkl.Memory[M, N, GLOBAL, tkl.f32],
    ):
        @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
        def loop(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(loop, c)

    m, n, k = 100, 128, 72
    rng = np.random.default_rng(6)
    a, b = rng.integers(-3, 4, (m, k)).astype(np.float16), rng.integers(-3, 4, (n, k)).astype(np.float16)
    want = a.astype(np.float32) @ b.astype(np.float32).T
    given = [np.ascontiguousarray(x.T) if dims[0] is K else x for x, dims in ((a, lhs), (b, rhs))]
    subs = {M: m, N: n, K: k, BM: 64, BN: 64, BK: 64}
    made = check(gemm, subs, [*given, np.zeros_like(want)], {2: want}, target=target, orders=("forward",))
    hardware = {"ds_read_b64_tr_b16"} if target == "gfx950" else set()
    assert widths(made, "ds_read") - {"ds_read_b128"} == hardware
    assert not widths(made, "ds_write_b(?:8|16)") and not widths(made, "buffer_load_(?:ushort|short|ubyte)")
    assert all(int(n) <= 2 for n in re.findall(r"lds_conflicts = (\d+)", made.ir("lane")))
