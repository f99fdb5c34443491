"""The pieces of a mixture of experts: gating, sorting tokens by expert, the experts' GEMM, the weighted sum.

gating_kernel    softmax over the experts, the top TOP of them, weights that sum to 1
count_kernel     how many (token, choice) pairs each expert has: a histogram by atomics
offsets_kernel   where each expert's rows begin when every group is padded to BLOCK rows: a running sum
place_kernel     the row of every pair, and for every row its token (TOKENS where it is padding)
experts_kernel   silu(A Wg) * (A Wu) for gathered rows of A, with the weights of the row's expert
combine_kernel   each token's weighted sum of its rows

python examples/moe.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

# Tokens, experts, choices of a token; pairs = tokens * choices; rows of all groups with padding, in blocks.
TOKENS, EXPERTS, TOP, PAIRS, ROWS, BLOCKS = (
    tkl.sym.TOKENS,
    tkl.sym.EXPERTS,
    tkl.sym.TOP,
    tkl.sym.PAIRS,
    tkl.sym.ROWS,
    tkl.sym.BLOCKS,
)
K, N, BLOCK, BLOCK_K, BLOCK_N, EXPERT = (
    tkl.sym.K,
    tkl.sym.N,
    tkl.sym.BLOCK,
    tkl.sym.BLOCK_K,
    tkl.sym.BLOCK_N,
    tkl.sym.EXPERT,
)
ROW, COL, LAST = (tkw.IndexMapping.iterator(n) for n in range(3))
D0 = tkw.IndexMapping.dynamic_val(0)
LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class Shape:
    """tokens of `size` elements; experts with weights [width, size]; top: experts of a token; block: rows of a tile."""

    tokens: int
    experts: int
    top: int
    size: int
    width: int
    block: int = 16

    @property
    def rows(self) -> int:
        """Rows that suffice for any choice."""
        most = self.tokens * self.top + self.experts * (self.block - 1)
        return -(-most // self.block) * self.block

    @property
    def subs(self) -> dict:
        """Values of the symbols."""
        sizes = {TOKENS: self.tokens, EXPERTS: self.experts, TOP: self.top, PAIRS: self.tokens * self.top}
        tiles = {BLOCK: self.block, BLOCK_K: 32, BLOCK_N: 32, ROWS: self.rows, BLOCKS: self.rows // self.block}
        return sizes | tiles | {K: self.size, N: self.width}


def gating_kernel() -> tkw.WaveKernel:
    """The kernel (logits [TOKENS, EXPERTS] f32, weights [TOKENS, TOP] f32, ids [TOKENS, TOP] i32)."""
    constraints = [
        tkw.WorkgroupConstraint(TOKENS, 1, 0),
        tkw.HardwareConstraint(64, vector_shapes={TOKENS: 0, EXPERTS: EXPERTS, TOP: TOP}),
    ]

    @tkw.wave(constraints)
    def gating(
        logits: tkl.Memory[TOKENS, EXPERTS, GLOBAL, tkl.f32],
        weights: tkl.Memory[TOKENS, TOP, GLOBAL, tkl.f32],
        ids: tkl.Memory[TOKENS, TOP, GLOBAL, tkl.i32],
    ):
        x = tkw.read(logits) * LOG2_E
        e = tkw.exp2(x - tkw.max(x, dim=EXPERTS))
        values, positions = tkw.topk(e / tkw.sum(e, dim=EXPERTS), TOP, EXPERTS)
        tkw.write(values / tkw.sum(values, dim=TOP), weights)
        tkw.write(positions, ids)

    return gating


def count_kernel() -> tkw.WaveKernel:
    """The kernel (ids [PAIRS] i32, counts [EXPERTS] i32), which adds to counts."""
    bins = tkw.IndexMapping(1, inputs={PAIRS: ROW}, outputs={EXPERTS: D0}, dynamic_val_mappings={PAIRS: ROW})

    @tkw.wave([tkw.WorkgroupConstraint(PAIRS, 64, 0), tkw.HardwareConstraint(64, vector_shapes={PAIRS: 64})])
    def count(ids: tkl.Memory[PAIRS, GLOBAL, tkl.i32], counts: tkl.Memory[EXPERTS, GLOBAL, tkl.i32]):
        ones = tkl.Register[PAIRS, tkl.i32](1)
        tkw.atomic_add(ones, counts, mapping=bins, mapping_dynamic_vals=(tkw.read(ids),))

    return count


def offsets_kernel() -> tkw.WaveKernel:
    """The kernel (counts [EXPERTS], offsets [EXPERTS], ends [EXPERTS]), all i32: first and end row of each group."""
    constraints = [
        tkw.WorkgroupConstraint(EXPERTS, EXPERTS, 0),
        tkw.HardwareConstraint(64, vector_shapes={EXPERTS: EXPERTS}),
    ]

    @tkw.wave(constraints)
    def offsets(
        counts: tkl.Memory[EXPERTS, GLOBAL, tkl.i32],
        begins: tkl.Memory[EXPERTS, GLOBAL, tkl.i32],
        ends: tkl.Memory[EXPERTS, GLOBAL, tkl.i32],
    ):
        padded = tkw.apply_expr(tkw.read(counts), lambda n: sympy.ceiling(n / BLOCK) * BLOCK)
        padded = tkw.cast(padded, tkl.i32)
        running = tkw.cumsum(padded, dim=EXPERTS)
        tkw.write(running - padded, begins)
        tkw.write(running, ends)

    return offsets


def place_kernel() -> tkw.WaveKernel:
    """The kernel (ids [PAIRS], begins [EXPERTS], row_of [PAIRS], token_of [ROWS]), all i32. One workgroup an expert.

    token_of must hold TOKENS before: what no pair is placed at is padding.
    """
    constraints = [
        tkw.WorkgroupConstraint(EXPERTS, 1, 0),
        tkw.HardwareConstraint(64, vector_shapes={EXPERTS: 0, PAIRS: PAIRS}),
    ]
    to_pairs = tkw.IndexMapping(
        2, inputs={EXPERTS: ROW, PAIRS: COL}, outputs={PAIRS: D0}, dynamic_val_mappings={EXPERTS: ROW, PAIRS: COL}
    )
    to_rows = tkw.IndexMapping(
        2, inputs={EXPERTS: ROW, PAIRS: COL}, outputs={ROWS: D0}, dynamic_val_mappings={EXPERTS: ROW, PAIRS: COL}
    )

    @tkw.wave(constraints)
    def place(
        ids: tkl.Memory[PAIRS, GLOBAL, tkl.i32],
        begins: tkl.Memory[EXPERTS, GLOBAL, tkl.i32],
        row_of: tkl.Memory[PAIRS, GLOBAL, tkl.i32],
        token_of: tkl.Memory[ROWS, GLOBAL, tkl.i32],
    ):
        both = [EXPERTS, PAIRS]
        expert = tkw.broadcast(tkw.self_index(EXPERTS, tkl.i32), both)
        mine = tkw.broadcast(tkw.read(ids), both) == expert
        rank = tkw.cumsum(tkw.cast(mine, tkl.i32), dim=PAIRS) - 1
        nowhere = tkl.Register[EXPERTS, PAIRS, tkl.i32](-1)  # outside of memory: not written
        row = tkw.select(mine, tkw.broadcast(tkw.read(begins), both) + rank, nowhere)
        pair = tkw.broadcast(tkw.self_index(PAIRS, tkl.i32), both)
        token = tkw.cast(tkw.apply_expr(pair, lambda p: p // TOP), tkl.i32)
        tkw.write(token, token_of, mapping=to_rows, mapping_dynamic_vals=(row,))
        tkw.write(row, row_of, mapping=to_pairs, mapping_dynamic_vals=(tkw.select(mine, pair, nowhere),))

    return place


def experts_kernel(mma: MMAType = MMAType.F32_16x16x16_F16, dtype: tkl.DataType = tkl.f16) -> tkw.WaveKernel:
    """The kernel (a [TOKENS, K], gate, up [EXPERTS, N, K], token_of [ROWS], expert_of [BLOCKS], out [ROWS, N] f32)."""
    constraints = [
        tkw.WorkgroupConstraint(ROWS, BLOCK, 0),
        tkw.WorkgroupConstraint(BLOCKS, 1, 0, primary=False),  # the number of the workgroup's block of rows
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.TilingConstraint(K, BLOCK_K),
        tkw.HardwareConstraint(64, mma_type=mma, vector_shapes={BLOCKS: 0}),
    ]
    gather = tkw.IndexMapping(
        2, inputs={TOKENS: D0, K: COL}, outputs={ROWS: ROW, K: COL}, dynamic_val_mappings={ROWS: ROW}
    )
    of_expert = tkw.IndexMapping(2, inputs={EXPERTS: EXPERT, N: ROW, K: COL}, outputs={N: ROW, K: COL})

    @tkw.wave(constraints)
    def experts(
        a: tkl.Memory[TOKENS, K, SHARED, dtype],
        gate: tkl.Memory[EXPERTS, N, K, SHARED, dtype],
        up: tkl.Memory[EXPERTS, N, K, SHARED, dtype],
        token_of: tkl.Memory[ROWS, GLOBAL, tkl.i32],
        expert_of: tkl.Memory[BLOCKS, GLOBAL, tkl.i32],
        out: tkl.Memory[ROWS, N, GLOBAL, tkl.f32],
    ):
        tkw.set_symbol(EXPERT, tkw.read(expert_of))
        tokens = tkw.read(token_of)
        zero = tkl.Register[ROWS, N, tkl.f32](0.0)

        @tkw.iterate(K, init_args=[zero, zero])
        def loop(gated, upper):
            rows = tkw.read(a, mapping=gather, mapping_dynamic_vals=(tokens,))
            gated = tkw.mma(rows, tkw.read(gate, mapping=of_expert), gated)
            return gated, tkw.mma(rows, tkw.read(up, mapping=of_expert), upper)

        gated, upper = loop
        one = tkl.Register[ROWS, N, tkl.f32](1.0)
        tkw.write(gated / (one + tkw.exp2(gated * -LOG2_E)) * upper, out)

    return experts


def combine_kernel() -> tkw.WaveKernel:
    """The kernel (y [ROWS, N], row_of [TOKENS, TOP] i32, weights [TOKENS, TOP], out [TOKENS, N]), f32."""
    constraints = [
        tkw.WorkgroupConstraint(TOKENS, 1, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.HardwareConstraint(64, vector_shapes={TOKENS: 0, TOP: TOP, N: BLOCK_N}),
    ]
    rows = tkw.IndexMapping(
        3,
        inputs={ROWS: D0, N: LAST},
        outputs={TOKENS: ROW, TOP: COL, N: LAST},
        dynamic_val_mappings={TOKENS: ROW, TOP: COL},
    )

    @tkw.wave(constraints)
    def combine(
        y: tkl.Memory[ROWS, N, GLOBAL, tkl.f32],
        row_of: tkl.Memory[TOKENS, TOP, GLOBAL, tkl.i32],
        weights: tkl.Memory[TOKENS, TOP, GLOBAL, tkl.f32],
        out: tkl.Memory[TOKENS, N, GLOBAL, tkl.f32],
    ):
        chosen = tkw.read(y, mapping=rows, mapping_dynamic_vals=(tkw.read(row_of),))
        tkw.write(tkw.sum(chosen * tkw.read(weights), dim=TOP), out)

    return combine


def sorted_rows(shape: Shape, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Begins, ends, the row of each pair, the token of each row: what the sorting kernels give, by numpy."""
    flat = ids.ravel()
    padded = -(-np.bincount(flat, minlength=shape.experts) // shape.block) * shape.block
    ends = np.cumsum(padded)
    begins = ends - padded
    row_of = np.zeros(flat.size, np.int64)
    token_of = np.full(shape.rows, shape.tokens)
    for e in range(shape.experts):
        pairs = np.nonzero(flat == e)[0]
        row_of[pairs] = begins[e] + np.arange(len(pairs))
        token_of[row_of[pairs]] = pairs // shape.top
    return begins, ends, row_of, token_of


def reference(x: np.ndarray, gate: np.ndarray, up: np.ndarray, weights: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The weighted sum of the chosen experts, in f64."""
    x, gate, up = (np.asarray(v, np.float64) for v in (x, gate, up))
    out = np.zeros((x.shape[0], gate.shape[1]))
    for t in range(x.shape[0]):
        for w, e in zip(weights[t], ids[t], strict=True):
            g = gate[e] @ x[t]
            out[t] += w * g / (1 + np.exp(-g)) * (up[e] @ x[t])
    return out


def run(shape: Shape, logits: np.ndarray, x: np.ndarray, gate: np.ndarray, up: np.ndarray, target: str = "gfx942"):
    """All kernels one after the other. Returns the result, the weights and the ids."""

    def call(kernel: tkw.WaveKernel, *arguments: np.ndarray) -> None:
        wave_compile(WaveCompileOptions(subs=shape.subs, target=target), kernel)(*arguments)

    def whole(*sizes: int, value: int = 0) -> np.ndarray:
        return np.full(sizes, value, np.int32)

    ids, weights = whole(shape.tokens, shape.top), np.zeros((shape.tokens, shape.top), np.float32)
    call(gating_kernel(), logits, weights, ids)
    counts, begins, ends = (whole(shape.experts) for _ in range(3))
    call(count_kernel(), ids.ravel(), counts)
    call(offsets_kernel(), counts, begins, ends)
    row_of, token_of = whole(ids.size), whole(shape.rows, value=shape.tokens)
    call(place_kernel(), ids.ravel(), begins, row_of, token_of)
    first = np.arange(shape.rows // shape.block) * shape.block
    expert_of = np.minimum(np.searchsorted(ends, first, side="right"), shape.experts - 1).astype(np.int32)
    y, out = np.zeros((shape.rows, shape.width), np.float32), np.zeros((shape.tokens, shape.width), np.float32)
    call(experts_kernel(), x, gate, up, token_of, expert_of, y)
    call(combine_kernel(), y, row_of.reshape(ids.shape), weights, out)
    return out, weights, ids


def main() -> None:
    """Run a small mixture in the simulator and compare."""
    shape = Shape(tokens=20, experts=8, top=2, size=64, width=48)
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((shape.tokens, shape.experts)).astype(np.float32)
    x = rng.standard_normal((shape.tokens, shape.size)).astype(np.float16)
    sizes = (shape.experts, shape.width, shape.size)
    gate, up = ((rng.standard_normal(sizes) / 8).astype(np.float16) for _ in range(2))
    out, weights, ids = run(shape, logits, x, gate, up)
    error = np.abs(out - reference(x, gate, up, weights, ids)).max()
    print(f"greatest error {error:.1e}")
    assert error < 1e-3


if __name__ == "__main__":
    main()
