"""Kinds of faults in values and indices: extremes, identities, f8 codes, mappings; each reproducer with neighbours."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from gemms import GLOBAL, M, N, constraints, integers, run, tiles
from running import check
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.dtypes import DataType
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

F16, F32, I32 = tkl.f16, tkl.f32, tkl.i32
A, B, C = tkl.sym.A, tkl.sym.B, tkl.sym.C
ROWS = [tkw.WorkgroupConstraint(M, 1, 0), tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64})]
I0, J, D0 = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)
F8 = {
    tkl.f8e4m3fn: (ml_dtypes.float8_e4m3fn, torch.float8_e4m3fn),
    tkl.f8e4m3fnuz: (ml_dtypes.float8_e4m3fnuz, torch.float8_e4m3fnuz),
    tkl.f8e5m2: (ml_dtypes.float8_e5m2, torch.float8_e5m2),
    tkl.f8e5m2fnuz: (ml_dtypes.float8_e5m2fnuz, torch.float8_e5m2fnuz),
}


def matrix(dtype: DataType):
    """A memory [M, N]."""
    return tkl.Memory[M, N, GLOBAL, dtype]


# --- f8 ---


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
@pytest.mark.parametrize("dtype", list(F8), ids=str)
def test_every_code_of_f8(dtype: DataType, target: str) -> None:
    """All 256 codes decode as torch decodes them, on targets that convert in hardware and on others."""

    @tkw.wave(ROWS)
    def decode(x: matrix(dtype), y: matrix(F32)):
        tkw.write(tkw.cast(tkw.read(x), F32), y)

    codes = np.arange(256, dtype=np.uint8).reshape(1, 256)
    want = torch.from_numpy(codes).view(F8[dtype][1]).float().numpy()
    run(decode, {M: 1, N: 256}, [codes.view(F8[dtype][0])], want, target=target, machine=True)


@pytest.mark.parametrize(("target", "dtype"), [("gfx942", tkl.f8e4m3fn), ("gfx950", tkl.f8e4m3fnuz)], ids=str)
def test_f8_of_the_other_kind_is_no_mma_operand(target: str, dtype: DataType) -> None:
    from gemms import plain

    kernel = plain(dtype, constraints(MMAType.F32_16x16x32_F8))
    subs = {**tiles(16, 16, 32), M: 16, N: 16, tkl.sym.K: 32}
    message = r"gemms.py:\d+:\d+: error: mma: .* of the (OCP|FNUZ) kind, but .* computes with"
    with pytest.raises(CompileError, match=message):
        wave_compile(WaveCompileOptions(subs=subs, target=target), kernel)


# --- softmax, silu, identities ---


@pytest.mark.thin(5)
@pytest.mark.parametrize(("low", "high"), [(-6e4, -5.9e4), (-2e6, -1.9e6), (-2e6, -6e4), (6e4, 6.1e4)])
@pytest.mark.parametrize("columns", [64, 100, 7])
def test_softmax_of_large_logits(low: float, high: float, columns: int) -> None:
    @tkw.wave(ROWS)
    def softmax(x: matrix(F32), y: matrix(F32)):
        row = tkw.read(x)
        e = tkw.exp(row - tkw.max(row, dim=N))
        tkw.write(e / tkw.sum(e, dim=N), y)

    x = np.random.default_rng(columns).uniform(low, high, (3, columns)).astype(np.float32)
    want = torch.softmax(torch.from_numpy(x).double(), dim=1).numpy()
    y = np.full_like(x, np.nan)
    made = check(softmax, {M: 3, N: columns}, [x, y], {1: want}, tolerance=1e-6)
    made.run_isa(x, y)
    np.testing.assert_allclose(y, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("hidden", [0, 1, 63, 99, 100])
def test_softmax_of_masked_columns(hidden: int) -> None:
    """Columns that are masked with the least logit count for nothing; a row that is masked whole is uniform."""

    @tkw.wave(ROWS)
    def softmax(x: matrix(F32), y: matrix(F32)):
        column = tkw.self_index(N, I32)
        row = tkw.select(tkw.broadcast(column < 100 - hidden, [M, N]), tkw.read(x), -1e30)
        e = tkw.exp2(row - tkw.max(row, dim=N))
        tkw.write(e / tkw.sum(e, dim=N), y)

    x = np.random.default_rng(hidden).normal(size=(2, 100))
    masked = np.where(np.arange(100) < 100 - hidden, x.astype(np.float32), np.float32(-1e30)).astype(float)
    e = np.exp2(masked - masked.max(axis=1, keepdims=True))
    y = np.full((2, 100), np.nan, np.float32)
    check(softmax, {M: 2, N: 100}, [x.astype(np.float32), y], {1: e / e.sum(axis=1, keepdims=True)}, tolerance=1e-6)


def test_mask_before_a_tiny_scale() -> None:
    """Masked logits stay masked when the logits are scaled by very little afterwards."""
    scale = 2.0**-20

    @tkw.wave(ROWS)
    def kernel(x: matrix(F32), y: matrix(F32)):
        keep = tkw.broadcast(tkw.self_index(N, I32) < 40, [M, N])
        row = tkw.select(keep, tkw.read(x) * scale, -1e30)
        e = tkw.exp2(row - tkw.max(row, dim=N))
        tkw.write(e / tkw.sum(e, dim=N), y)

    x = integers((2, 64), F32, most=9)
    e = np.exp2(x[:, :40] * scale - (x[:, :40] * scale).max(axis=1, keepdims=True))
    want = np.zeros((2, 64))
    want[:, :40] = e / e.sum(axis=1, keepdims=True)
    y = np.full((2, 64), np.nan, np.float32)
    check(kernel, {M: 2, N: 64}, [x, y], {1: want}, tolerance=1e-7)


@pytest.mark.parametrize("dtype", [F32, F16], ids=str)
def test_silu(dtype: DataType) -> None:
    """x · sigmoid(x) of random values, large ones, and the infinities."""

    @tkw.wave(ROWS)
    def silu(x: matrix(dtype), y: matrix(dtype)):
        wide = tkw.cast(tkw.read(x), F32)
        tkw.write(tkw.cast(wide / (tkw.exp(-wide) + 1.0), dtype), y)

    x = np.random.default_rng(0).normal(size=(2, 64)) * 4
    x[0, :6] = [-np.inf, np.inf, 0.0, -100.0, 100.0, -1e4]
    x = x.astype(np.float16 if dtype is F16 else np.float32)
    want = torch.nn.functional.silu(torch.from_numpy(x).float()).numpy().astype(np.float64)
    y = np.full_like(x, 7)
    made = wave_compile(WaveCompileOptions(subs={M: 2, N: 64}, target="gfx942"), silu)
    for call in (made, made.run_isa):
        call(x, y)
        finite = np.isfinite(want)
        np.testing.assert_allclose(y[finite], want[finite], rtol=2e-3 if dtype is F16 else 2e-6, atol=1e-6)
        assert np.isnan(y[0, 0]) and np.isnan(want[0, 0]) and y[0, 1] == np.inf  # −inf · 0


@pytest.mark.thin(5)
@pytest.mark.parametrize("columns", [64, 100, 1, 65])
@pytest.mark.parametrize(("dtype", "low"), [(F32, -3e38), (F32, -2e6), (F16, -65504.0), (I32, -(2**31))], ids=str)
def test_identities_of_reductions(dtype: DataType, low: float, columns: int) -> None:
    """Nothing greater than the least values gets into a maximum, nothing less than the greatest into a minimum."""

    @tkw.wave(ROWS)
    def kernel(x: matrix(dtype), most: tkl.Memory[M, GLOBAL, dtype], least: tkl.Memory[M, GLOBAL, dtype]):
        row = tkw.read(x)
        tkw.write(tkw.max(row, dim=N), most)
        tkw.write(tkw.min(row, dim=N), least)

    types = {F32: np.float32, F16: np.float16, I32: np.int32}
    x = np.full((2, columns), low, types[dtype])
    x[1] = -1 - x[1] if dtype is I32 else -x[1]
    out = np.zeros(2, types[dtype])
    made = check(kernel, {M: 2, N: columns}, [x, out, out], {1: x[:, 0], 2: x[:, 0]})
    most, least = out.copy(), out.copy()
    made.run_isa(x, most, least)
    assert (most == x[:, 0]).all() and (least == x[:, 0]).all()


# --- mappings ---


def test_order_of_keys_does_not_matter() -> None:
    texts = set()
    for inputs in ({M: J, N: I0}, {N: I0, M: J}):
        for outputs in ({M: I0, N: J}, {N: J, M: I0}):
            turn = tkw.IndexMapping(2, inputs=inputs, outputs=outputs)

            @tkw.wave(ROWS)
            def transpose(x: matrix(F32), y: matrix(F32)):
                tkw.write(tkw.read(x, mapping=turn), y)  # noqa: B023 (compiled before the next turn)

            x = integers((64, 64), F32)
            run(transpose, {M: 64, N: 64}, [x], np.ascontiguousarray(x.T))
            texts.add(wave_compile(WaveCompileOptions(subs={M: 64, N: 64}, target="gfx942"), transpose).isa)
    assert len(texts) == 1


@pytest.mark.parametrize("dtype", [F32, F16], ids=str)
def test_chained_indirection(dtype: DataType) -> None:
    """out[i] = a[b[c[i]]]."""
    through_c = tkw.IndexMapping(1, inputs={B: D0}, outputs={M: I0}, dynamic_val_mappings={M: I0})
    through_b = tkw.IndexMapping(1, inputs={A: D0}, outputs={M: I0}, dynamic_val_mappings={M: I0})

    @tkw.wave([tkw.WorkgroupConstraint(M, 64, 0), tkw.HardwareConstraint(64, vector_shapes={M: 64})])
    def chain(
        c: tkl.Memory[M, GLOBAL, I32],
        b: tkl.Memory[B, GLOBAL, I32],
        a: tkl.Memory[A, GLOBAL, dtype],
        out: tkl.Memory[M, GLOBAL, dtype],
    ):
        inner = tkw.read(b, mapping=through_c, mapping_dynamic_vals=(tkw.read(c),))
        tkw.write(tkw.read(a, mapping=through_b, mapping_dynamic_vals=(inner,)), out)

    rng = np.random.default_rng(0)
    for m in (1, 64, 100):
        c, b = rng.integers(0, 33, m).astype(np.int32), rng.integers(0, 50, 33).astype(np.int32)
        a = integers((50,), dtype)
        run(chain, {M: m, B: 33, A: 50}, [c, b, a], a[b[c]], machine=m == 100)


@pytest.mark.parametrize("mma", [MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16], ids=str)
def test_gathered_bias_on_accumulators(mma: MMAType) -> None:
    """A bias looked up per row and column, added to accumulators whose rows depend on the register."""
    k = tkl.sym.K
    look_up = tkw.IndexMapping(2, inputs={A: D0, N: J}, outputs={M: I0, N: J}, dynamic_val_mappings={M: I0})

    @tkw.wave(constraints(mma))
    def gemm(
        a: tkl.Memory[M, k, GLOBAL, F16],
        b: tkl.Memory[N, k, GLOBAL, F16],
        rows: tkl.Memory[M, GLOBAL, I32],
        bias: tkl.Memory[A, N, GLOBAL, F32],
        c: matrix(F32),
    ):
        @tkw.iterate(k, init_args=[tkl.Register[M, N, F32](0.0)])
        def total(acc):
            return tkw.mma(tkw.read(a), tkw.read(b), acc)

        tkw.write(total + tkw.read(bias, mapping=look_up, mapping_dynamic_vals=(tkw.read(rows),)), c)

    a, b, bias = integers((40, 32), F16), integers((70, 32), F16, 1), integers((9, 70), F32, 2)
    rows = np.random.default_rng(3).integers(0, 9, 40).astype(np.int32)
    want = (a.astype(np.float32) @ b.astype(np.float32).T + bias[rows]).astype(np.float32)
    run(gemm, {**tiles(32, 64, 32), M: 40, N: 70, k: 32, A: 9}, [a, b, rows, bias], want, machine=True)


@pytest.mark.parametrize(("m", "n"), [(64, 48), (48, 64), (100, 36)])
@pytest.mark.parametrize("dtype", [F16, F32], ids=str)
def test_copies_and_transposes_by_several_waves(m: int, n: int, dtype: DataType) -> None:
    turn = tkw.IndexMapping(2, inputs={N: I0, M: J}, outputs={N: I0, M: J})
    rules = [
        tkw.WorkgroupConstraint(M, 16, 0),
        tkw.WorkgroupConstraint(N, 64, 1),
        tkw.WaveConstraint(M, 4),
        tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
    ]

    @tkw.wave(rules)
    def copy(x: matrix(dtype), y: matrix(dtype)):
        tkw.write(tkw.read(x), y)

    @tkw.wave(rules)
    def transpose(x: tkl.Memory[N, M, GLOBAL, dtype], y: matrix(dtype)):
        tkw.write(tkw.permute(tkw.read(x, mapping=turn), target_shape=[M, N]), y)

    x = integers((m, n), dtype)
    run(copy, {M: m, N: n}, [x], x, machine=True)
    run(transpose, {M: m, N: n}, [np.ascontiguousarray(x.T)], x, machine=True)


@pytest.mark.parametrize("b", [4, 3])
def test_batched_result_permuted(b: int) -> None:
    """[B, M, N] written as [M, B, N]."""
    k = tkl.sym.K
    out = tkw.IndexMapping(
        3,
        inputs={B: I0, M: J, N: tkw.IndexMapping.iterator(2)},
        outputs={M: J, B: I0, N: tkw.IndexMapping.iterator(2)},
    )

    @tkw.wave([tkw.WorkgroupConstraint(B, 1, 2), *constraints(vector_shapes={B: 0})])
    def gemm(
        a: tkl.Memory[B, M, k, GLOBAL, F16], w: tkl.Memory[B, N, k, GLOBAL, F16], c: tkl.Memory[M, B, N, GLOBAL, F32]
    ):
        @tkw.iterate(k, init_args=[tkl.Register[B, M, N, F32](0.0)])
        def total(acc):
            return tkw.mma(tkw.read(a), tkw.read(w), acc)

        tkw.write(total, c, mapping=out)

    a, w = integers((b, 32, 32), F16), integers((b, 32, 32), F16, 1)
    want = np.einsum("bmk,bnk->mbn", a.astype(np.float32), w.astype(np.float32)).astype(np.float32)
    run(gemm, {**tiles(32, 32, 16), B: b, M: 32, N: 32, k: 32}, [a, w], np.ascontiguousarray(want), machine=True)
