"""Kernels of the library that serve language models, against torch: in the simulator, one of each as machine code."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

torch = pytest.importorskip("torch")

from wave_mlir import kernels  # noqa: E402
from wave_mlir.kernels import AttentionShape, paged_decode_attention_shape  # noqa: E402
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile  # noqa: E402
from wave_mlir.wave.constraints import GenericDot, MMAOperand, MMAType  # noqa: E402

SMALL, TALL = MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16
SLOW = pytest.mark.slow


def run(kernel, subs: dict, dynamic: Sequence, args: Sequence, isa: bool) -> None:
    made = wave_compile(WaveCompileOptions(subs=subs, dynamic_symbols=dynamic, target="gfx942"), kernel)
    made.run_isa(*args, order="random") if isa else made(*args)


def starts(lengths: Sequence[int]) -> torch.Tensor:
    return torch.tensor([0, *torch.tensor(lengths).cumsum(0)], dtype=torch.int32)


def attend(q, k, v, *, cap: float = 0.0, seen=None, bias=None) -> torch.Tensor:
    """q [queries, heads, size], k and v [keys, heads of keys, …], in f32: [queries, heads, size]."""
    ratio = q.shape[1] // k.shape[1]
    k, v = (x.float().repeat_interleave(ratio, 1) for x in (k, v))
    logits = torch.einsum("qhd,khd->hqk", q.float(), k) / math.sqrt(q.shape[2])
    logits = cap * torch.tanh(logits / cap) if cap else logits
    logits = logits if bias is None else logits + bias
    logits = logits if seen is None else logits.masked_fill(~seen, -math.inf)
    return torch.einsum("hqk,khd->qhd", logits.softmax(-1).nan_to_num(0.0), v)


def close(got: torch.Tensor, want: torch.Tensor, tolerance: float = 2e-3) -> None:
    torch.testing.assert_close(got.float(), want, rtol=tolerance, atol=tolerance)


MHA = GenericDot(along_dim=MMAOperand.M, k_vec_size=4, k_mult=1)
PAGED = [
    pytest.param((16, 1, 64, 64), (40, 0, 7), SMALL, 0.0, torch.float16, True, id="16x1"),
    pytest.param((6, 2, 80, 13), (1, 64), TALL, 3.0, torch.float16, False, id="6x2-cap", marks=SLOW),
    pytest.param((128, 1, 32, 160), (5, 33), SMALL, 0.0, torch.bfloat16, False, id="128x1-bf16", marks=SLOW),
    pytest.param((4, 4, 64, 64), (20, 9), MHA, 2.0, torch.float16, False, id="4x4-dot", marks=SLOW),
]


@pytest.mark.parametrize(("sizes", "lengths", "mma", "cap", "dtype", "isa"), PAGED)
def test_paged_decode(sizes, lengths, mma, cap, dtype, isa) -> None:
    """Keys in no order in the cache; a sequence without keys, and parts without."""
    torch.manual_seed(0)
    heads, kv_heads, size, v_size = sizes
    shape = paged_decode_attention_shape(*sizes, block_size=32, num_seqs=len(lengths))
    indptr, rows = starts(lengths), sum(lengths) + 5
    table = torch.randperm(rows)[: sum(lengths)].int()
    q, k = torch.randn(len(lengths), heads, size).to(dtype), torch.randn(rows, kv_heads, size).to(dtype)
    v, out = (
        torch.randn(rows, kv_heads, v_size).to(dtype),
        torch.full((len(lengths), heads, v_size), torch.nan).to(dtype),
    )
    parts = kernels.get_paged_decode_intermediate_arrays_shapes(shape, 4)
    first, second, subs, second_subs, dynamic, second_dynamic = kernels.get_paged_decode_attention_kernels(
        shape, (mma, mma), 4, dtype, dtype, logit_cap=cap
    )
    outputs, sums = (torch.full(s, torch.nan) for s in parts)
    run(first, subs, dynamic, (q, k, v, indptr, table, outputs, sums), isa)
    run(second, second_subs, second_dynamic, (outputs, sums, indptr, out), isa)
    for s in range(len(lengths)):
        listed = table[indptr[s] : indptr[s + 1]].long()
        want = attend(q[s : s + 1], k[listed], v[listed], cap=cap)
        close(out[s : s + 1], want, 1e-2 if dtype == torch.bfloat16 else 2e-3)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "keys", "splits", "isa"),
    [(32, 1, 100, 8, True), pytest.param(8, 2, 70, 4, False, marks=SLOW), pytest.param(70, 1, 9, 4, False, marks=SLOW)],
)
def test_grouped_decode(heads: int, kv_heads: int, keys: int, splits: int, isa: bool) -> None:
    torch.manual_seed(1)
    shape = AttentionShape(heads, kv_heads, 64, 48, num_seqs=2, kv_seq_len=keys)
    q, k, v = (torch.randn(s).half() for s in ((2, heads, 64), (2, keys, kv_heads, 64), (2, keys, kv_heads, 48)))
    made = kernels.get_gqa_decode_attention_kernels(shape, (SMALL, SMALL), splits, k.shape, v.shape)
    outputs, sums = torch.full((splits, 2, 48, heads), torch.nan), torch.full((splits, 2, heads), torch.nan)
    out = torch.full((2, heads, 48), torch.nan).half()
    run(made[0], made[2], (), (q, k, v, outputs, sums), isa)
    run(made[1], made[3], (), (outputs, sums, out), isa)
    for s in range(2):
        close(out[s : s + 1], attend(q[s : s + 1], k[s], v[s]))


class Ragged:
    """Tensors of sequences with `lengths` new tokens behind `prefixes` cached ones; 4 heads of queries, 2 of keys."""

    def __init__(self, lengths: Sequence[int], prefixes: Sequence[int], size: int = 32, v_size: int = 48) -> None:
        torch.manual_seed(2)
        self.lengths, self.prefixes = lengths, prefixes
        tokens, cached = sum(lengths), sum(prefixes)
        sizes = (
            (tokens, 4, size),
            (tokens, 2, size),
            (tokens, 2, v_size),
            (cached + 3, 2, size),
            (cached + 3, 2, v_size),
        )
        self.new = [torch.randn(s).half() for s in sizes[:3]]
        self.cache = [torch.randn(s).half() for s in sizes[3:]]
        self.out = torch.full((tokens, 4, v_size), torch.nan)
        self.qo, self.kv = starts(lengths), starts(prefixes)
        self.indices = torch.randperm(cached + 3)[:cached].int()
        self.shape = AttentionShape(4, 2, size, v_size, num_seqs=len(lengths), max_seq_len=max(lengths))
        self.shapes = [tuple(x.shape) for x in (*self.new, *self.cache, self.out)]

    def check(self, *, causal: bool = False, cap: float = 0.0, masks=None, rpe=None) -> None:
        q, k, v = self.new
        for s, (n, p) in enumerate(zip(self.lengths, self.prefixes, strict=True)):
            own, listed = slice(self.qo[s], self.qo[s + 1]), self.indices[self.kv[s] : self.kv[s + 1]].long()
            keys, values = (torch.cat([c[listed], x[own]]) for c, x in zip(self.cache, (k, v), strict=True))
            distance = torch.arange(n)[:, None] + p - torch.arange(n + p)
            seen = distance >= 0 if causal else torch.ones(n, n + p, dtype=torch.bool)
            seen = seen if masks is None else masks[s] != 0
            bias = None
            if rpe is not None:
                most = len(rpe) - 1
                bias = rpe[torch.where((distance >= 0) & (distance < most), distance, most)]
            close(self.out[own], attend(q[own], keys, values, cap=cap, seen=seen, bias=bias))


def test_prefill() -> None:
    """Sequences of one token, of less than a tile and of more; the caller scales Q, to base 2."""
    given = Ragged((17, 1, 70), (0, 0, 0))
    q, k, v = given.new
    scaled = (q.float() * math.log2(math.e) / math.sqrt(32)).half()
    shapes = (*given.shapes[:3], given.shapes[-1])
    kernel, subs = kernels.get_prefill_attention_kernel(given.shape, (SMALL, SMALL), *shapes)
    lengths = torch.tensor(given.lengths, dtype=torch.int32)
    for isa in (False, True):
        given.out[:] = torch.nan
        run(kernel, subs, (), (scaled, k, v, given.qo[:-1].contiguous(), lengths, given.out), isa)
        given.check()


EXTEND = [
    pytest.param({"is_causal": True}, SMALL, True, id="causal"),
    pytest.param({"logit_cap": 3.0, "num_waves": 2}, TALL, False, id="cap", marks=SLOW),
    pytest.param({"use_custom_mask": True, "num_waves": 1}, SMALL, False, id="mask"),
    pytest.param({"layer_scaling": 32**-0.5, "num_waves": 2}, SMALL, False, id="scale", marks=SLOW),
]


@pytest.mark.parametrize(("options", "mma", "isa"), EXTEND)
def test_extend(options: dict, mma: MMAType, isa: bool) -> None:
    given = Ragged((17, 1, 40), (7, 0, 33))
    made = kernels.get_extend_attention_kernel(given.shape, (mma, mma), *given.shapes, **options)
    masks, more = None, []
    if options.get("use_custom_mask"):
        pairs = zip(given.lengths, given.prefixes, strict=True)
        masks = [(torch.rand(n, n + p) < 0.6).to(torch.int8) for n, p in pairs]
        masks[0][3] = 0  # a token that sees nothing
        more = [torch.cat([m.flatten() for m in masks]), starts([m.numel() for m in masks])]
    args = (*given.new, *given.cache, given.qo, given.kv, given.indices, *more, max(given.lengths), given.out)
    run(*made, args, isa)
    given.check(causal=options.get("is_causal", False), cap=options.get("logit_cap", 0.0), masks=masks)


def test_extend_with_biases_by_distance() -> None:
    given = Ragged((20, 5), (3, 30))
    rpe = torch.randn(6)
    made = kernels.get_extend_attention_rpe_kernel(
        given.shape, (SMALL, SMALL), *given.shapes, is_causal=True, num_waves=2, max_rpe_context_length=5
    )
    args = (*given.new, *given.cache, given.qo, given.kv, given.indices, rpe, max(given.lengths), given.out)
    run(*made, args, False)
    given.check(causal=True, rpe=rpe)


@pytest.mark.parametrize(("causal", "dynamic"), [(True, False), pytest.param(False, True, marks=SLOW)])
def test_attention_in_8_bits(causal: bool, dynamic: bool) -> None:
    """Inputs hold values of 8 bits; the weights are rounded to three bits of mantissa."""
    torch.manual_seed(3)
    shape = AttentionShape(2, 2, 64, 48, query_seq_len=70, kv_seq_len=100)
    q, k, v = (torch.randn(s).to(torch.float8_e4m3fnuz).half() for s in ((2, 70, 64), (2, 100, 64), (2, 100, 48)))
    kinds = (MMAType.F32_32x32x16_F8, MMAType.F32_32x32x16_K4_F8)
    scales = {"q_scale": 0.5, "k_scale": 3.0, "v_scale": 2.0}
    made = kernels.get_brevitas_pertensor_fp8_attention_kernel(
        shape, kinds, dynamic_dims=dynamic, is_causal=causal, **scales
    )
    out = torch.full((2, 70, 48), torch.nan)
    run(*made, (q, k, v, out), causal)
    logits = q.float() @ k.float().transpose(1, 2) * (1.5 / 8)
    if causal:
        logits = logits.masked_fill(torch.arange(100) > torch.arange(70)[:, None], -math.inf)
    weights = logits.softmax(-1)
    assert ((out - 2 * weights @ v.float()).abs() <= 2 * (2**-4 * weights @ v.float().abs() + 1e-3)).all()


PAGED_SHAPE = paged_decode_attention_shape(6, 4, 64, 64, 1, 2)
ROWS = ((5, 4, 32), (5, 2, 32), (6, 2, 48), (9, 2, 32), (9, 2, 48), (5, 4, 48))
HEADS = AttentionShape(4, 2, 32, 48, num_seqs=2, kv_seq_len=9)
MISTAKES = [
    (
        lambda: kernels.get_paged_decode_attention_kernels(PAGED_SHAPE, (SMALL, SMALL), 4),
        "6 heads of queries, 4 of keys",
    ),
    (
        lambda: kernels.get_paged_decode_attention_kernels(PAGED_SHAPE, (SMALL, SMALL), 0),
        "num_kv_splits is 0; it takes a positive integer",
    ),
    (
        lambda: kernels.get_paged_decode_attention_kernels(
            PAGED_SHAPE._replace(num_kv_heads=2), (SMALL, SMALL), 4, layer_scaling=0.0
        ),
        "layer_scaling is 0.0; it is a positive factor, or None",
    ),
    (
        lambda: kernels.get_extend_attention_kernel(HEADS, (SMALL, SMALL), *ROWS),
        "q, k, v and the output have 5, 5, 6, 5",
    ),
    (
        lambda: kernels.get_extend_attention_kernel(HEADS, (SMALL, SMALL), *ROWS, is_causal=True, use_custom_mask=True),
        "is_causal and use_custom_mask exclude each other",
    ),
    (
        lambda: kernels.get_extend_attention_kernel(
            HEADS, (SMALL, SMALL), *ROWS[:2], (5, 2, 48), *ROWS[3:], size_dtype=torch.int64
        ),
        "size_dtype is torch.int64; tables are of i32",
    ),
    (lambda: kernels.get_extend_attention_rpe_kernel(HEADS, (SMALL, SMALL), *ROWS), "max_rpe_context_length is 0"),
    (
        lambda: kernels.get_prefill_attention_kernel(
            AttentionShape(3, 2, 32, 48, num_seqs=2, max_seq_len=4), (SMALL, SMALL), *ROWS[:4]
        ),
        "3 heads of queries, 2 of keys",
    ),
    (
        lambda: kernels.get_brevitas_pertensor_fp8_attention_kernel(HEADS, (SMALL, SMALL), f8_dtype=torch.float16),
        "f8_dtype is torch.float16; it is a float of 8 bits",
    ),
    (
        lambda: kernels.get_gqa_decode_attention_kernels(HEADS, (SMALL, SMALL), 2, (2, 9, 2, 32), (2, 9, 2, 32)),
        r"v_shape is \(2, 9, 2, 32\), and the shape says \(2, 9, 2, 48\)",
    ),
    (
        lambda: kernels.get_gqa_decode_attention_kernels(
            AttentionShape(3, 2, 32, 48, num_seqs=2, kv_seq_len=9), (SMALL, SMALL), 2, (), ()
        ),
        "3 heads of queries, 2 of keys",
    ),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes(number: int) -> None:
    call, message = MISTAKES[number]
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_of_a_shape() -> None:
    assert list(HEADS) == [4, 2, 32, 48, 2, 9]
