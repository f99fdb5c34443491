"""A hand-written gpu-form GEMM with faults that can be planted: C[M,N] = A[M,K] · B[N,K]ᵀ, f16 in, f32 out.

Tiles 64x64x32, 2x2 waves of 64, one LDS buffer, two barriers a trip.
"""

from __future__ import annotations

import numpy as np

LDS_BARRIER = "amdgpu.lds_barrier"


def gemm_text(
    m: int,
    n: int,
    k: int,
    *,
    first_barrier: str = LDS_BARRIER,
    second_barrier: str = LDS_BARRIER,
    row_shift: int = 0,
    store_shift: int = 0,
) -> str:
    """MLIR of the GEMM. first_barrier: after the LDS writes; second_barrier: after the LDS reads."""
    mfma = []
    for i in range(2):
        for j in range(2):
            mfma.append(f"""
        %p{i}{j} = amdgpu.mfma 16x16x16 %a{i}0 * %b{j}0 + %acc{i}{j} blgp = none
            : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %q{i}{j} = amdgpu.mfma 16x16x16 %a{i}1 * %b{j}1 + %p{i}{j} blgp = none
            : vector<4xf16>, vector<4xf16>, vector<4xf32>""")
    reads, stores = [], []
    for name, base in (("a", "%wrow"), ("b", "%wcol")):
        for i in range(2):
            for kk in range(2):
                reads.append(f"""
        %r{name}{i}{kk} = affine.apply affine_map<(w, l) -> (w * 32 + l mod 16 + {16 * i})>({base}, %lane)
        %k{name}{i}{kk} = affine.apply affine_map<(l) -> ((l floordiv 16) * 4 + {16 * kk})>(%lane)
        %{name}{i}{kk} = vector.load %l{name}[%r{name}{i}{kk}, %k{name}{i}{kk}]
            : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>""")
    for i in range(2):
        for j in range(2):
            for r in range(4):
                stores.append(f"""
      %s{i}{j}{r} = affine.apply affine_map<(bx, by, wr, wc, l) -> (
          (bx * 64 + wr * 32 + {16 * i + r + store_shift} + (l floordiv 16) * 4) * {n}
          + by * 64 + wc * 32 + {16 * j} + l mod 16)>(%bx, %by, %wrow, %wcol, %lane)
      %e{i}{j}{r} = vector.extract %sum#{2 * i + j}[{r}] : f32 from vector<4xf32>
      memref.store %e{i}{j}{r}, %c[%s{i}{j}{r}] : memref<?xf32, #gpu.address_space<global>>""")
    return f"""
module attributes {{wave.form = "gpu", wave.target = "gfx942", gpu.container_module}} {{
  gpu.module @gemm_kernels {{
    gpu.func @gemm(%a: memref<?xf16, #gpu.address_space<global>>, %b: memref<?xf16, #gpu.address_space<global>>,
                   %c: memref<?xf32, #gpu.address_space<global>>)
        workgroup(%lds: memref<8192xi8, #gpu.address_space<workgroup>>)
        kernel attributes {{known_block_size = array<i32: 128, 2, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %off_b = arith.constant 4096 : index
      %trips = arith.constant {k // 32} : index
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %la = memref.view %lds[%c0][] : memref<8192xi8, #gpu.address_space<workgroup>>
          to memref<64x32xf16, #gpu.address_space<workgroup>>
      %lb = memref.view %lds[%off_b][] : memref<8192xi8, #gpu.address_space<workgroup>>
          to memref<64x32xf16, #gpu.address_space<workgroup>>
      %tx = gpu.thread_id x
      %wcol = gpu.thread_id y
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %wrow = affine.apply affine_map<(t) -> (t floordiv 64)>(%tx)
      %lane = affine.apply affine_map<(t) -> (t mod 64)>(%tx)
      %tid = affine.apply affine_map<(t, y) -> (t + y * 128)>(%tx, %wcol)
      %row = affine.apply affine_map<(t) -> (t floordiv 4)>(%tid)
      %col = affine.apply affine_map<(t) -> ((t mod 4) * 8)>(%tid)
      %lrow = affine.apply affine_map<(t) -> ((t floordiv 4 + {row_shift}) mod 64)>(%tid)
      %sum:4 = scf.for %iv = %c0 to %trips step %c1
          iter_args(%acc00 = %zero, %acc01 = %zero, %acc10 = %zero, %acc11 = %zero)
          -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {{
        %ia = affine.apply affine_map<(b, r, c, i) -> ((b * 64 + r) * {k} + i * 32 + c)>(%bx, %row, %col, %iv)
        %ib = affine.apply affine_map<(b, r, c, i) -> ((b * 64 + r) * {k} + i * 32 + c)>(%by, %row, %col, %iv)
        %ga = vector.load %a[%ia] : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
        %gb = vector.load %b[%ib] : memref<?xf16, #gpu.address_space<global>>, vector<8xf16>
        vector.store %ga, %la[%lrow, %col] : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<8xf16>
        vector.store %gb, %lb[%row, %col] : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<8xf16>
        {first_barrier}
        {"".join(reads)}
        {"".join(mfma)}
        {second_barrier}
        scf.yield %q00, %q01, %q10, %q11 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
      }}
      {"".join(stores)}
      gpu.return
    }}
  }}
}}
"""


def gemm_data(m: int, n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, C to fill, and the exact result; small integers, so that every sum is exact."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-4, 5, (m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (n, k)).astype(np.float16)
    return a, b, np.zeros((m, n), np.float32), a.astype(np.float32) @ b.astype(np.float32).T
