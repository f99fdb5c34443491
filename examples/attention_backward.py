"""Attention, backward: dQ, dK and dV; the probabilities are computed anew from Q, K and the forward's log-sum-exp.

    S = Q K^T * scale,  P = 2^(S * log2(e) - lse),  dV = P^T dO,  dP = dO V^T,  D = rowsum(dO * O)
    dS = P * (dP - D) * scale,  dK = dS^T Q,  dQ = dS K

Three kernels. `rows_kernel` gives D. In `keys_kernel` a workgroup owns a tile of keys and walks the queries; it gives
dK and dV. In `queries_kernel` a workgroup owns a tile of queries and walks the keys; it gives dQ. Nothing is added up
in memory, so the results do not depend on the order of workgroups.

    python examples/attention_backward.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.lang.global_symbols import SHARED_ADDRESS_SPACE
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile
from wave_mlir.wave.constraints import MMAType

# B heads, M queries, K2 keys; K1 elements of a head of Q and K, N of V and O.
B, M, N, K1, K2 = tkl.sym.B, tkl.sym.M, tkl.sym.N, tkl.sym.K1, tkl.sym.K2
BLOCK_M, BLOCK_K2, SPACE = tkl.sym.BLOCK_M, tkl.sym.BLOCK_K2, tkl.sym.ADDRESS_SPACE
LOG2_E = math.log2(math.e)


@dataclass(frozen=True)
class Shape:
    """Heads, queries, keys, and a head's sizes. causal: key k2 for query m only if k2 - m <= keys - queries."""

    heads: int
    queries: int
    keys: int
    qk_size: int
    v_size: int
    causal: bool = False

    @property
    def scale(self) -> float:
        """Of the logits."""
        return 1 / math.sqrt(self.qk_size)

    def substitutions(self, block_m: int, block_k2: int) -> dict:
        """Values of the symbols."""
        sizes = {B: self.heads, M: self.queries, N: self.v_size, K1: self.qk_size, K2: self.keys}
        return sizes | {BLOCK_M: block_m, BLOCK_K2: block_k2, SPACE: SHARED_ADDRESS_SPACE}


def rows_kernel(shape: Shape, dtype: tkl.DataType = tkl.f16) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (o, do, d): d[b, m] = sum over n of o * do, f32."""
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(B, 1, 1),
        tkw.HardwareConstraint(64, vector_shapes={B: 0, M: 1, N: N}),
    ]

    @tkw.wave(constraints)
    def rows(
        o: tkl.Memory[B, M, N, GLOBAL, tkl.f32],
        do: tkl.Memory[B, M, N, GLOBAL, dtype],
        d: tkl.Memory[B, M, GLOBAL, tkl.f32],
    ):
        tkw.write(tkw.sum(tkw.read(o) * tkw.cast(tkw.read(do), tkl.f32), dim=N), d)

    return rows, shape.substitutions(4, 1)


def _probabilities(shape: Shape, s, lse, dims):
    """P of the logits' product `s` [B, M, K2] in any order: 0 for keys out of range or hidden from a query."""
    offset = shape.keys - shape.queries
    keys, rows = tkw.self_index(K2, tkl.i32), tkw.self_index(M, tkl.i32)
    inside = keys < tkw.scalar(K2, tkl.i32)
    if shape.causal:
        inside = tkw.broadcast(keys, [M, K2]) <= tkw.broadcast(rows + offset, [M, K2])
    p = tkw.exp2(s * (shape.scale * LOG2_E) - tkw.broadcast(lse, dims))
    return tkw.select(tkw.broadcast(inside, dims), p, tkl.Register[*dims, tkl.f32](0.0))


def keys_kernel(
    shape: Shape, mma: MMAType = MMAType.F32_16x16x16_F16, dtype: tkl.DataType = tkl.f16, waves: int = 2
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, do, lse, d, dk, dv). lse is in base 2; dk [B, K2, K1] and dv [B, K2, N] are f32."""
    side = 16 if "16x16" in mma.name else 32
    constraints = [
        tkw.WorkgroupConstraint(K2, BLOCK_K2, 0),
        tkw.WorkgroupConstraint(B, 1, 1),
        tkw.TilingConstraint(M, BLOCK_M),
        tkw.WaveConstraint(K2, BLOCK_K2 / waves),
        tkw.HardwareConstraint(64, mma_type=mma, vector_shapes={B: 0}),
    ]
    i, j, k = (tkw.IndexMapping.iterator(n) for n in range(3))
    q_columns = tkw.IndexMapping(3, inputs={B: i, M: k, K1: j}, outputs={B: i, K1: j, M: k})
    do_columns = tkw.IndexMapping(3, inputs={B: i, M: k, N: j}, outputs={B: i, N: j, M: k})

    @tkw.wave(constraints)
    def keys(
        q: tkl.Memory[B, M, K1, SPACE, dtype],
        k: tkl.Memory[B, K2, K1, GLOBAL, dtype],
        v: tkl.Memory[B, K2, N, GLOBAL, dtype],
        do: tkl.Memory[B, M, N, SPACE, dtype],
        lse: tkl.Memory[B, M, GLOBAL, tkl.f32],
        d: tkl.Memory[B, M, GLOBAL, tkl.f32],
        dk: tkl.Memory[B, K2, K1, GLOBAL, tkl.f32],
        dv: tkl.Memory[B, K2, N, GLOBAL, tkl.f32],
    ):
        dk_zero, dv_zero = tkl.Register[B, K2, K1, tkl.f32](0.0), tkl.Register[B, K2, N, tkl.f32](0.0)

        @tkw.iterate(M, init_args=[dk_zero, dv_zero])
        def loop(dk_acc, dv_acc):
            zero = tkl.Register[B, M, K2, tkl.f32](0.0)
            s = tkw.mma(tkw.read(q), tkw.read(k), zero)
            p = _probabilities(shape, s, tkw.read(lse), [B, M, K2])
            dp = tkw.mma(tkw.read(do), tkw.read(v), zero)
            ds = p * (dp - tkw.broadcast(tkw.read(d), [B, M, K2])) * shape.scale
            p_columns = tkw.permute(tkw.cast(p, dtype), target_shape=[B, K2, M])
            ds_columns = tkw.permute(tkw.cast(ds, dtype), target_shape=[B, K2, M])
            dv_acc = tkw.mma(p_columns, tkw.read(do, mapping=do_columns), dv_acc)
            dk_acc = tkw.mma(ds_columns, tkw.read(q, mapping=q_columns), dk_acc)
            return dk_acc, dv_acc

        tkw.write(loop[0], dk)
        tkw.write(loop[1], dv)

    return keys, shape.substitutions(32, side * waves)


def queries_kernel(
    shape: Shape, mma: MMAType = MMAType.F32_16x16x16_F16, dtype: tkl.DataType = tkl.f16, waves: int = 2
) -> tuple[tkw.WaveKernel, dict]:
    """The kernel (q, k, v, do, lse, d, dq). dq is [B, M, K1] f32."""
    side = 16 if "16x16" in mma.name else 32
    constraints = [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(B, 1, 1),
        tkw.TilingConstraint(K2, BLOCK_K2),
        tkw.WaveConstraint(M, BLOCK_M / waves),
        tkw.HardwareConstraint(64, mma_type=mma, vector_shapes={B: 0}),
    ]
    i, j, k = (tkw.IndexMapping.iterator(n) for n in range(3))
    k_columns = tkw.IndexMapping(3, inputs={B: i, K2: k, K1: j}, outputs={B: i, K1: j, K2: k})

    @tkw.wave(constraints)
    def queries(
        q: tkl.Memory[B, M, K1, GLOBAL, dtype],
        k: tkl.Memory[B, K2, K1, SPACE, dtype],
        v: tkl.Memory[B, K2, N, SPACE, dtype],
        do: tkl.Memory[B, M, N, GLOBAL, dtype],
        lse: tkl.Memory[B, M, GLOBAL, tkl.f32],
        d: tkl.Memory[B, M, GLOBAL, tkl.f32],
        dq: tkl.Memory[B, M, K1, GLOBAL, tkl.f32],
    ):
        lse_rows, d_rows = tkw.read(lse), tkw.read(d)

        @tkw.iterate(K2, init_args=[tkl.Register[B, M, K1, tkl.f32](0.0)])
        def loop(acc):
            zero = tkl.Register[B, K2, M, tkl.f32](0.0)
            s = tkw.permute(tkw.mma(tkw.read(k), tkw.read(q), zero), target_shape=[B, M, K2])
            p = _probabilities(shape, s, lse_rows, [B, M, K2])
            dp = tkw.permute(tkw.mma(tkw.read(v), tkw.read(do), zero), target_shape=[B, M, K2])
            ds = p * (dp - tkw.broadcast(d_rows, [B, M, K2])) * shape.scale
            return tkw.mma(tkw.cast(ds, dtype), tkw.read(k, mapping=k_columns), acc)

        tkw.write(loop, dq)

    return queries, shape.substitutions(side * waves, 32)


def inputs(shape: Shape, dtype: type, seed: int = 0) -> list[np.ndarray]:
    """Q, K, V, dO."""
    rng = np.random.default_rng(seed)
    queries, keys = (shape.heads, shape.queries), (shape.heads, shape.keys)
    sizes = [(*queries, shape.qk_size), (*keys, shape.qk_size), (*keys, shape.v_size), (*queries, shape.v_size)]
    return [rng.standard_normal(s).astype(dtype) for s in sizes]


def reference(shape: Shape, q, k, v, do) -> dict[str, np.ndarray]:
    """O, lse (base 2), D, dQ, dK, dV in f64."""
    q, k, v, do = (np.asarray(x, np.float64) for x in (q, k, v, do))
    s = q @ k.transpose(0, 2, 1) * shape.scale
    if shape.causal:
        last = np.arange(shape.queries)[:, None] + shape.keys - shape.queries
        s = np.where(np.arange(shape.keys) <= last, s, -np.inf)
    lse = np.log2(np.exp(s).sum(-1))
    p = np.exp2(s * LOG2_E - lse[..., None])
    o = p @ v
    d = (o * do).sum(-1)
    ds = p * (do @ v.transpose(0, 2, 1) - d[..., None]) * shape.scale
    found = {"dq": ds @ k, "dk": ds.transpose(0, 2, 1) @ q, "dv": p.transpose(0, 2, 1) @ do}
    return {"o": o, "lse": lse, "d": d} | found


def main() -> None:
    """Run the three kernels in the simulator and compare."""
    for causal in (False, True):
        shape = Shape(heads=2, queries=40, keys=70, qk_size=32, v_size=64, causal=causal)
        q, k, v, do = inputs(shape, np.float16)
        want = reference(shape, q, k, v, do)
        o, lse = want["o"].astype(np.float32), want["lse"].astype(np.float32)
        d, dq, dk, dv = (np.full(want[n].shape, np.nan, np.float32) for n in ("d", "dq", "dk", "dv"))

        def compiled(made):
            kernel, subs = made
            return wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)

        compiled(rows_kernel(shape))(o, do, d)
        compiled(keys_kernel(shape))(q, k, v, do, lse, d, dk, dv)
        compiled(queries_kernel(shape))(q, k, v, do, lse, d, dq)
        for name, got in (("d", d), ("dq", dq), ("dk", dk), ("dv", dv)):
            error = np.abs(got - want[name]).max()
            print(f"causal={causal} {name}: greatest error {error:.1e}")
            assert error < 5e-3


if __name__ == "__main__":
    main()
