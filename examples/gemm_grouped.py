"""A mixture of experts: each token is multiplied by the weights of its expert, in one kernel.

Tokens are sorted by expert, and each expert's group is padded to whole blocks of rows. `rows` says which token a row
is; a row of padding has the number of a token that is not there: it reads 0 and is not written. `experts` says whose
weights a block needs.

    python examples/gemm_grouped.py
"""

from __future__ import annotations

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE as SHARED
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K  # M: rows, padding included
TOKENS, EXPERTS, BLOCKS, EXPERT = tkl.sym.TOKENS, tkl.sym.EXPERTS, tkl.sym.BLOCKS, tkl.sym.EXPERT
BM, BN, BK = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
ROW, COL, TOKEN = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1), tkw.IndexMapping.dynamic_val(0)
# Element (row, column) of the tile is at the token's row of memory; TOKEN is what the kernel hands over for it.
GATHER = tkw.IndexMapping(2, inputs={TOKENS: TOKEN, K: COL}, outputs={M: ROW, K: COL}, dynamic_val_mappings={M: ROW})
SCATTER = tkw.IndexMapping(2, inputs={M: ROW, N: COL}, outputs={TOKENS: TOKEN, N: COL}, dynamic_val_mappings={M: ROW})
WEIGHTS = tkw.IndexMapping(2, inputs={EXPERTS: EXPERT, N: ROW, K: COL}, outputs={N: ROW, K: COL})


@tkw.wave(
    [
        tkw.WorkgroupConstraint(M, BM, 0),
        tkw.WorkgroupConstraint(BLOCKS, 1, 0, primary=False),  # block i of rows belongs to workgroup i too
        tkw.WorkgroupConstraint(N, BN, 1),
        tkw.TilingConstraint(K, BK),
        tkw.HardwareConstraint(64, mma_type=MMAType.F32_16x16x16_F16, vector_shapes={BLOCKS: 0}),
    ]
)
def grouped(
    x: tkl.Memory[TOKENS, K, SHARED, tkl.f16],
    w: tkl.Memory[EXPERTS, N, K, SHARED, tkl.f16],
    rows: tkl.Memory[M, GLOBAL, tkl.i32],
    experts: tkl.Memory[BLOCKS, GLOBAL, tkl.i32],
    out: tkl.Memory[TOKENS, N, GLOBAL, tkl.f32],
):
    """One expert a workgroup, so that its number is a symbol."""
    token = tkw.read(rows)
    tkw.set_symbol(EXPERT, tkw.read(experts))

    @tkw.iterate(K, init_args=[tkl.Register[M, N, tkl.f32](0.0)])
    def total(acc):
        picked = tkw.read(x, mapping=GATHER, mapping_dynamic_vals=(token,))
        return tkw.mma(picked, tkw.read(w, mapping=WEIGHTS), acc)

    tkw.write(total, out, mapping=SCATTER, mapping_dynamic_vals=(token,))


def sort_tokens(expert_of: np.ndarray, count: int, block: int) -> tuple[np.ndarray, np.ndarray]:
    """`rows` and `experts` for tokens with the given experts."""
    rows: list[int] = []
    experts: list[int] = []
    for expert in range(count):
        mine = np.flatnonzero(expert_of == expert)
        for first in range(0, len(mine), block):
            part = mine[first : first + block]
            rows += [*part, *[len(expert_of)] * (block - len(part))]
            experts.append(expert)
    return np.array(rows, np.int32), np.array(experts, np.int32)


def main() -> None:
    """40 tokens, 4 experts of which one has no token."""
    tokens, experts, n, k, block = 40, 4, 32, 48, 16
    rng = np.random.default_rng(0)
    expert_of = rng.choice([0, 1, 3], tokens)
    x, w = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((tokens, k), (experts, n, k)))
    rows, of_block = sort_tokens(expert_of, experts, block)
    out = np.empty((tokens, n), np.float32)
    subs = {BM: block, BN: 32, BK: 16, M: len(rows), N: n, K: k}
    subs |= {TOKENS: tokens, EXPERTS: experts, BLOCKS: len(of_block)}
    wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), grouped)(x, w, rows, of_block, out)
    want = np.einsum("tk,tnk->tn", x.astype(np.float32), w.astype(np.float32)[expert_of])
    assert (out == want).all()
    print(f"{tokens} tokens in {len(of_block)} blocks: exact")


if __name__ == "__main__":
    main()
