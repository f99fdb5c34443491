"""`wave_mlir.kernels` against torch: in the simulator, and one of each kind as machine code. Integers are exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import wave_mlir.lang as tkl  # noqa: E402
from wave_mlir import kernels  # noqa: E402
from wave_mlir.kernels import AttentionShape, moe  # noqa: E402
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile  # noqa: E402
from wave_mlir.wave.constraints import MMAType, ScaledMMAType  # noqa: E402
from wave_mlir.wave.utils import mxfp_utils  # noqa: E402

SMALL, TALL, F8 = MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16, MMAType.F32_32x32x16_F8
SLOW = pytest.mark.slow
PAIRS = {"16": (SMALL, SMALL), "32": (TALL, TALL)}


def run(made: tuple, *args: torch.Tensor, isa: bool = False, target: str = "gfx942") -> None:
    """Compile and call what a function of the library gives. isa: run the machine code."""
    kernel, subs, *dynamic = made
    options = WaveCompileOptions(subs=subs, dynamic_symbols=dynamic[0] if dynamic else (), target=target)
    compiled = wave_compile(options, kernel)
    assert compiled.hsaco
    compiled.run_isa(*args) if isa else compiled(*args)


def ints(*shape: int, seed: int = 0, dtype=None) -> torch.Tensor:
    found = torch.from_numpy(np.random.default_rng([seed, *shape]).integers(-3, 4, shape))
    return found.to(dtype or torch.float16)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape)).to(torch.float16)


# --- products ---


SIZES = [pytest.param(False, id="static", marks=SLOW), pytest.param(True, id="dynamic", marks=SLOW)]


@pytest.mark.parametrize("dynamic", [*SIZES, pytest.param((True, False, True), id="some")])
def test_gemm(dynamic: bool | tuple[bool, ...]) -> None:
    a, b, c = ints(70, 72), ints(90, 72), torch.full((70, 90), torch.nan)
    made = kernels.get_gemm_kernel((70, 90, 72), dynamic, SMALL)
    assert [str(s) for s in made[2]] == {False: [], True: ["M", "N", "K"]}.get(dynamic, ["M", "K"])
    run(made, a, b, c, isa=dynamic is not True)
    assert torch.equal(c, a.float() @ b.float().T)


@pytest.mark.parametrize(
    ("dtype", "mma"),
    [
        pytest.param(torch.bfloat16, MMAType.F32_16x16x16_BF16, marks=SLOW),
        (torch.float8_e4m3fnuz, MMAType.F32_16x16x32_F8),
        pytest.param(tkl.f8e4m3fnuz, F8, marks=SLOW),
        pytest.param(torch.int8, MMAType.I32_16x16x32_I8, marks=SLOW),
    ],
    ids=str,
)
def test_gemm_of_types(dtype: object, mma: MMAType) -> None:
    given = dtype if isinstance(dtype, torch.dtype) else torch.float8_e4m3fnuz
    result = torch.int32 if dtype is torch.int8 else torch.float32
    a, b, c = ints(48, 64, dtype=given), ints(32, 64, dtype=given), torch.zeros(48, 32, dtype=result)
    block = {"block_shape": (32, 32, 64), "waves_per_block": (1, 1)}
    run(kernels.get_gemm_kernel((48, 32, 64), False, mma, dtype, **block), a, b, c)  # type: ignore[arg-type]
    assert torch.equal(c, a.to(result) @ b.to(result).T)


def test_gemm_of_transposed_operands() -> None:
    a, b, c = ints(72, 70), ints(72, 90), torch.full((70, 90), torch.nan)
    run(kernels.get_gemm_kernel_transpose_a_b((70, 90, 72), False, SMALL), a, b, c, isa=True)
    assert torch.equal(c, a.float().T @ b.float())


@pytest.mark.parametrize("splits", [pytest.param(1, marks=SLOW), 3, pytest.param(8, marks=SLOW)])
def test_gemm_with_the_sum_divided(splits: int) -> None:
    """In more parts than there are tiles too."""
    a, b, c = ints(40, 150), ints(70, 150), torch.zeros(40, 70)
    run(kernels.get_splitk_gemm_kernel((40, 70, 150), splits, SMALL), a, b, c, isa=splits == 3)
    assert torch.equal(c, a.float() @ b.float().T)


def test_gemm_in_another_order() -> None:
    a, b, c = ints(150, 40), ints(100, 40), torch.full((150, 100), torch.nan)
    run(kernels.get_reordered_matmul(150, 100, 40, 32, 32, 32, 2, SMALL), a, b, c)
    assert torch.equal(c, a.float() @ b.float().T)
    rounded = torch.zeros(64, 32, dtype=torch.bfloat16)
    narrow = kernels.get_reordered_matmul(64, 32, 40, 32, 32, 32, 1, SMALL, output_dtype=torch.bfloat16)
    run(narrow, a[:64].contiguous(), b[:32].contiguous(), rounded)
    assert torch.equal(rounded, (a[:64].float() @ b[:32].float().T).to(torch.bfloat16))


@pytest.mark.parametrize("groups", [pytest.param(2, marks=SLOW), 5, pytest.param(40, marks=SLOW)])
def test_gemm_of_few_workgroups(groups: int) -> None:
    """Fewer workgroups than tiles, not dividing their number, and more; sizes that no tile divides."""
    a, b, c = ints(70, 72), ints(90, 72), torch.full((70, 90), torch.nan)
    made = kernels.get_persistent_gemm_kernel((70, 90, 72), SMALL, block_shape=(32, 32, 32), num_ctas=groups)
    run(made, a, b, c, isa=groups == 5)
    assert torch.equal(c, a.float() @ b.float().T)


@pytest.mark.parametrize("kind", ["F32_16x16x128_F8F6F4", pytest.param("F32_32x32x64_F8F6F4", marks=SLOW)])
def test_gemm_of_scaled_floats(kind: str) -> None:
    """Sums of multiples of powers of two that f32 holds."""
    torch.manual_seed(0)
    x, w, x_scale, w_scale = mxfp_utils.generate_gemm_afp4wfp4_inputs((64, 96, 288))
    c = torch.full((64, 96), torch.nan)
    made = kernels.get_scaled_gemm_kernel((64, 96, 288), ScaledMMAType[kind], block_shape=(64, 64, 256))
    run(made, x, x_scale, w.T.contiguous(), w_scale, c, target="gfx950")
    assert torch.equal(c, mxfp_utils.torchScaledGemmMXFP4(x, w, x_scale, w_scale))


def test_experts() -> None:
    a, b, c = ints(40, 48), ints(70, 48), torch.full((40, 70), torch.nan)
    run(moe.get_gemm_kernel(40, 48, 70, SMALL, tkl.f16), a, b, c)
    assert torch.equal(c, a.float() @ b.float().T)
    x, y, out = normal(5, 100), normal(5, 100, seed=1), torch.zeros(5, 100, dtype=torch.float16)
    run(kernels.get_silu_and_mul_kernel(5, 100, tkl.f16), x, y, out, isa=True)
    torch.testing.assert_close(out.float(), torch.nn.functional.silu(x.float()) * y.float(), rtol=2**-10, atol=1e-6)


@pytest.mark.parametrize("layout", ["nhwc_hwcf", pytest.param("nchw_fchw", marks=SLOW)])
def test_convolution(layout: str) -> None:
    x, filters = ints(2, 20, 7, 9), ints(40, 20, 3, 2)
    want = torch.nn.functional.conv2d(x.float(), filters.float(), stride=2)
    out = torch.full(want.shape, torch.nan)
    if layout == "nhwc_hwcf":
        x, want = (t.permute(0, 2, 3, 1).contiguous() for t in (x, want))
        filters = filters.permute(2, 3, 1, 0).contiguous()
        out = torch.full(want.shape, torch.nan)
    run(kernels.get_igemm_conv2d(layout, 2, 7, 9, 20, 3, 2, 40, 2, tkl.f16, tkl.f32), x, filters, out)
    assert torch.equal(out, want)


# --- attention ---


def attention(q, k, v, scale: float, causal: bool = False, window: int = 0) -> torch.Tensor:
    """What it should be, for [..., queries, size]; a query without a key has 0."""
    logits = q.double() @ k.double().transpose(-1, -2) * scale
    query, key = torch.arange(logits.shape[-2])[:, None], torch.arange(logits.shape[-1])
    seen = torch.ones(logits.shape[-2:], dtype=torch.bool)
    if causal:
        seen &= key <= query
    if window:
        seen &= key >= query - window
    weights = torch.softmax(logits.masked_fill(~seen, -torch.inf), -1)
    return (torch.nan_to_num(weights) @ v.double()).float()


@pytest.mark.parametrize("pair", ["16", pytest.param("32", marks=SLOW)])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=SLOW),
        pytest.param({"is_causal": True}, marks=SLOW),
        {"is_causal": True, "sliding_window_size": 9},
        pytest.param({"is_v_transposed": True, "scale": 0.3}, marks=SLOW),
    ],
    ids=["plain", "causal", "window", "transposed"],
)
def test_attention(options: dict, pair: str) -> None:
    """Several workgroups and tiles of keys, which they begin and end apart; sizes that no tile divides; with a window
    the last queries see no key."""
    q, k, v = normal(1, 300, 32), normal(1, 230, 32, seed=1), normal(1, 230, 48, seed=2)
    shape = AttentionShape(1, 1, 32, 48, query_seq_len=300, kv_seq_len=230)
    out = torch.full((1, 300, 48), torch.nan)
    given = v.transpose(1, 2).contiguous() if "is_v_transposed" in options else v
    made = kernels.get_vanilla_attention_kernel(shape, PAIRS[pair], False, **options)
    run(made, q, k, given, out, isa=pair == "32" and "scale" not in options)
    want = attention(
        q, k, v, options.get("scale", 32**-0.5), "is_causal" in options, options.get("sliding_window_size", 0)
    )
    torch.testing.assert_close(out, want, rtol=0, atol=1e-3)


@SLOW
def test_attention_of_sizes_at_run_time() -> None:
    shape = AttentionShape(2, 2, 64, 64, query_seq_len=1, kv_seq_len=1)
    made = kernels.get_vanilla_attention_kernel(shape, PAIRS["16"], True, is_causal=True)
    assert [str(s) for s in made[2]] == ["M", "N", "B", "K2"]
    q, k, v, out = normal(3, 40, 64), normal(3, 70, 64, seed=1), normal(3, 70, 72, seed=2), torch.zeros(3, 40, 72)
    run(made, q, k, v, out)
    torch.testing.assert_close(out, attention(q, k, v, 0.125, True), rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("order", "masked"),
    [
        pytest.param("bshd", False, marks=SLOW),
        ("bshd", True),
        pytest.param("bhsd", False, marks=SLOW),
        pytest.param("bhsd", True, marks=SLOW),
    ],
)
def test_attention_with_heads_apart(order: str, masked: bool) -> None:
    q, k, v = normal(2, 3, 70, 64), normal(2, 3, 100, 64, seed=1), normal(2, 3, 100, 32, seed=2)
    mask = torch.from_numpy(np.random.default_rng(0).integers(-1, 2, (2, 70))).to(torch.int8)
    swapped = order == "bshd" or masked
    shape = AttentionShape(3, 3, 64, 32, batch_size=2, query_seq_len=70, kv_seq_len=100)
    make = getattr(kernels, f"get_{order}_attention_kernel")
    made = make(shape, PAIRS["16"], False, is_causal=not masked, is_custom_mask=masked)
    inputs = [t.transpose(1, 2).contiguous() if swapped else t for t in (q, k, v)]
    out = torch.full((2, 70, 3, 32) if swapped else (2, 3, 70, 32), torch.nan)
    run(made, *inputs, *([mask] if masked else []), out)
    want = attention(q, k, v, 0.125, causal=not masked)
    if masked:
        want = want * (mask == 0)[:, None, :, None]
    torch.testing.assert_close(out.transpose(1, 2) if swapped else out, want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("fp8", [pytest.param(False, marks=SLOW), True])
def test_attention_of_grouped_heads(fp8: bool) -> None:
    """With f8 the weights are rounded to three bits of mantissa, and the rest is as of rounded inputs."""
    q, k, v = normal(1, 4, 70, 64), normal(1, 2, 100, 64, seed=1), normal(1, 2, 100, 48, seed=2)
    shape = AttentionShape(4, 2, 64, 48, num_seqs=1, query_seq_len=70, kv_seq_len=100)
    scales = {"use_fp8": True, "q_scale": 0.5, "k_scale": 3.0, "v_scale": 3.0} if fp8 else {"layer_scaling": 0.2}
    made = kernels.get_gqa_bshd_attention_kernel(shape, (F8, F8) if fp8 else PAIRS["32"], **scales, is_causal=True)
    out = torch.full((1, 70, 4, 48), torch.nan)
    run(made, *(t.transpose(1, 2).contiguous() for t in (q, k, v)), out, isa=True)
    if fp8:
        q, k, v = (t.to(torch.float8_e4m3fnuz).float() for t in (q, k, v))
    k, v = (t.repeat_interleave(2, 1) for t in (k, v))
    scale = 0.125 * 0.5 * 3 if fp8 else 0.2
    want = attention(q, k, v, scale, causal=True) * (3 if fp8 else 1)
    error = (out.transpose(1, 2) - want).abs()
    if fp8:
        assert (error <= 3 * (2**-4 * attention(q, k, v.abs(), scale, causal=True) + 1e-3)).all()
    else:
        assert error.max() < 1e-3


def in_base_2(logits, v) -> torch.Tensor:
    """Weights are powers of 2 of logits."""
    return (torch.softmax(logits.double() * math.log(2), -1) @ v.double()).float()


def test_attention_with_slopes() -> None:
    q, k, v = normal(2, 70, 64), normal(2, 100, 64, seed=1), normal(2, 48, 100, seed=2)
    slopes, out = torch.tensor([0.05, 0.2]), torch.full((2, 70, 48), torch.nan)
    shape = AttentionShape(2, 2, 64, 48, query_seq_len=70, kv_seq_len=100)
    run(kernels.get_alibi_attention_kernel(shape, SMALL, False), q, k, v, slopes, out)
    behind = (torch.arange(100) - torch.arange(70)[:, None]).clamp(max=0)
    logits = q.double() @ k.double().transpose(1, 2) + slopes[:, None, None] * behind
    torch.testing.assert_close(out, in_base_2(logits, v.transpose(1, 2)), rtol=0, atol=1e-3)


@SLOW
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_attention_with_a_table_of_distances(dynamic: bool) -> None:
    """Distances of which the table has some, and its last entry for all others."""
    q, k, v = normal(2, 70, 64), normal(2, 100, 64, seed=1), normal(2, 48, 100, seed=2)
    table, out = normal(17, seed=3).float(), torch.full((2, 70, 48), torch.nan)
    shape = AttentionShape(2, 2, 64, 48, query_seq_len=70, kv_seq_len=100)
    run(kernels.get_t5_rpe_attention_kernel(shape, PAIRS["32"], dynamic, 16), q, k, v, table, out)
    ahead = torch.arange(70)[:, None] - torch.arange(100)
    terms = table[torch.where((ahead >= 0) & (ahead < 16), ahead, 16)]
    logits = q.double() @ k.double().transpose(1, 2) + terms
    torch.testing.assert_close(out, in_base_2(logits, v.transpose(1, 2)), rtol=0, atol=1e-3)


@pytest.mark.parametrize("tiles", [(64, 32), pytest.param((16, 16), marks=SLOW)], ids=str)
def test_attention_with_a_mask_and_biases_of_pairs(tiles: tuple[int, int]) -> None:
    """bf16: the result is rounded to 8 bits, and so are the weights."""
    batch, n, m, h, k1, k2 = 2, 2, 70, 2, 32, 100
    q, k, v = (normal(*s).bfloat16() for s in ((batch, n, m, h, k1), (batch, n, k2, h, k1), (batch, n, 32, h, k2)))
    mask, bias = normal(batch, n, k2).bfloat16(), normal(batch, h, m, k2).bfloat16()
    out = torch.full((batch, n, m, h, 32), torch.nan, dtype=torch.bfloat16)
    kind = TALL if tiles[0] == 64 else SMALL
    sizes = ((batch, 1), (n, 1), (k2, 64), (h, 1), (k1, 32), (m, tiles[0]), (32, tiles[1]))
    run(kernels.get_evoformer_kernel(*sizes, kind, tkl.bf16), q, k, v, mask, bias, out)
    logits = q.double().transpose(2, 3) @ k.double().permute(0, 1, 3, 4, 2)
    logits = logits + mask.double()[:, :, None, None] + bias.double()[:, None]
    values = v.double().permute(0, 1, 3, 4, 2)
    error = (out.float().transpose(2, 3) - in_base_2(logits, values)).abs()
    assert (error <= 2**-8 * in_base_2(logits, values.abs()) * 2).all()


@pytest.mark.parametrize(
    ("dynamic", "pair"), [(False, "16"), pytest.param(False, "32", marks=SLOW), pytest.param(True, "16", marks=SLOW)]
)
def test_attention_in_parts(dynamic: bool, pair: str) -> None:
    """The last part has fewer keys than others; what one kernel writes the other reads."""
    q, k, v = normal(2, 70, 64), normal(2, 150, 64, seed=1), normal(2, 48, 150, seed=2)
    made = kernels.get_decode_attention_kernels((2, 70, 48, 64, 150), PAIRS[pair], dynamic)
    parts = made[6]
    output, sums = torch.full((parts, 2, 48, 70), torch.nan), torch.full((parts, 2, 70), torch.nan)
    out = torch.full((2, 70, 48), torch.nan)
    run((made[0], made[2], made[4]), q, k, v, output, sums)
    run((made[1], made[3], made[5]), output, sums, out, isa=True)
    logits = q.double() @ k.double().transpose(1, 2)
    torch.testing.assert_close(out, in_base_2(logits, v.transpose(1, 2)), rtol=0, atol=1e-3)


# --- mistakes ---

SHAPE = AttentionShape(4, 3, 64, 64, query_seq_len=64, kv_seq_len=64)
MISTAKES = {
    "service": (lambda: kernels.get_gemm_kernel((1, 1, 1), False, SMALL, n_service_waves=1), "n_service_waves is 1;"),
    "size": (lambda: kernels.get_gemm_kernel((0, 1, 1), False, SMALL), "get_gemm_kernel: M is 0; it takes a positive"),
    "tile": (lambda: kernels.get_gemm_kernel((1, 1, 1), False, SMALL, block_shape=(64, 64, 2.0)), "BLOCK_K is 2.0;"),  # type: ignore[arg-type]
    "dims": (lambda: kernels.get_gemm_kernel((1, 1, 1), (True,), SMALL), "has 1 entries; give one bool, or one for"),  # type: ignore[arg-type]
    "splits": (lambda: kernels.get_splitk_gemm_kernel((1, 1, 1), 0, SMALL), "num_splits is 0"),
    "dtype": (lambda: kernels.get_gemm_kernel((1, 1, 1), False, SMALL, torch.complex64), "no element type of the"),
    "output": (
        lambda: kernels.get_reordered_matmul(1, 1, 1, 32, 32, 32, 1, SMALL, output_dtype=tkl.i32),
        "output_dtype is i32; sums of f16 are f32",
    ),
    "groups": (lambda: kernels.get_persistent_gemm_kernel((1, 1, 1), SMALL, num_ctas=0), "num_ctas is 0; it takes a"),
    "waves": (
        lambda: kernels.get_persistent_gemm_kernel((1, 1, 1), SMALL, waves_per_block=(2, 2, 2)),
        r"waves_per_block is \(2, 2, 2\); it has waves along M and N, and 1 along z",
    ),
    "scales": (
        lambda: kernels.get_scaled_gemm_kernel((1, 1, 48), ScaledMMAType["F32_16x16x128_F8F6F4"]),
        "K is 48; it is a multiple of 32",
    ),
    "context": (
        lambda: kernels.get_t5_rpe_attention_kernel(SHAPE, SMALL, False, 0),
        "max_rpe_context_length is 0; it takes a positive",
    ),
    "tiles": (
        lambda: kernels.get_evoformer_kernel((1, 0), *[(1, 1)] * 6, SMALL, tkl.bf16),  # type: ignore[arg-type]
        "get_evoformer_kernel: B, tile is 0",
    ),
    "decode": (
        lambda: kernels.get_decode_attention_kernels((1, 2, 3), SMALL),
        r"shape is \(1, 2, 3\); it has the sizes of B, M, N, K1 and K2",
    ),
    "silu": (lambda: kernels.get_silu_and_mul_kernel(1, 1, tkl.i32), "datatype is i32; it takes floats"),
    "layout": (
        lambda: kernels.get_igemm_conv2d("chwn", 1, 1, 1, 1, 1, 1, 1, 1, tkl.f16, tkl.f32),
        "layout is 'chwn'; it is one of nchw_fchw, nhwc_hwcf",
    ),
    "filters": (
        lambda: kernels.get_igemm_conv2d("nchw_fchw", 1, 2, 2, 1, 3, 1, 1, 1, tkl.f16, tkl.f32),
        "filters of 3 x 1 do not fit images of 2 x 2",
    ),
    "images": (
        lambda: kernels.get_igemm_conv2d("nchw_fchw", 1, 2, 2, 1, 1, 1, 1, 1, tkl.i8, tkl.f32),
        "i8 to f32; it takes f16 or bf16, and makes f32",
    ),
    "window": (
        lambda: kernels.get_vanilla_attention_kernel(SHAPE, PAIRS["16"], False, sliding_window_size=3),
        "sliding_window_size is 3; it needs is_causal=True",
    ),
    "pair": (lambda: kernels.get_vanilla_attention_kernel(SHAPE, [SMALL], False), "give two kinds of MMA"),  # type: ignore[arg-type]
    "missing": (
        lambda: kernels.get_bshd_attention_kernel(AttentionShape(1, 1, 64, 64, kv_seq_len=1), PAIRS["16"], False),
        "get_bshd_attention_kernel: shape: query_seq_len is None",
    ),
    "heads": (
        lambda: kernels.get_gqa_bshd_attention_kernel(SHAPE, PAIRS["16"]),
        "4 query heads cannot share 3 heads of keys evenly",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistakes(name: str) -> None:
    make, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        make()
