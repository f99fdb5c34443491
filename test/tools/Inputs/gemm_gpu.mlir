// C[M, N] = A[M, K] . B[N, K]^T in f32 from f16, M dynamic, N and K static; tile 64x64x32, 2x2 waves of 32x32.
// One LDS buffer, masked loads in M, N and K, masked stores.
module attributes {wave.form = "gpu", wave.target = "gfx942", gpu.container_module} {
  gpu.module @gemm_kernels {
    gpu.func @gemm(%a: memref<?xf16, #gpu.address_space<global>>, %b: memref<?xf16, #gpu.address_space<global>>,
                   %c: memref<?xf32, #gpu.address_space<global>>, %M: i32)
        workgroup(%lds: memref<8192xi8, #gpu.address_space<workgroup>>)
        kernel attributes {
          known_block_size = array<i32: 128, 2, 1>,
          wave.grid = [#wave.expr<M ceildiv 64>, #wave.expr<2>, #wave.expr<1>],
          wave.symbols = {N = 100, K = 72},
          wave.args = [{kind = "memory", name = "a", dtype = f16, shape = [#wave.expr<M>, #wave.expr<72>], access = "read"},
                       {kind = "memory", name = "b", dtype = f16, shape = [#wave.expr<100>, #wave.expr<72>], access = "read"},
                       {kind = "memory", name = "c", dtype = f32, shape = [#wave.expr<M>, #wave.expr<100>], access = "write"},
                       {kind = "symbol", name = "M"}]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c3 = arith.constant 3 : index
      %c4096 = arith.constant 4096 : index
      %N = arith.constant 100 : index
      %K = arith.constant 72 : index
      %Mi = arith.index_cast %M : i32 to index
      %zero4 = arith.constant dense<0.0> : vector<4xf32>
      %zero8 = arith.constant dense<0.0> : vector<8xf16>
      %step8 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xindex>
      %kvec = arith.constant dense<72> : vector<8xindex>
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %ty128 = arith.muli %ty, %c128 : index
      %tid = arith.addi %tx, %ty128 : index
      %lane = arith.remui %tx, %c64 : index
      %wx = arith.divui %tx, %c64 : index
      %la = memref.view %lds[%c0][] : memref<8192xi8, #gpu.address_space<workgroup>> to memref<64x32xf16, #gpu.address_space<workgroup>>
      %lb = memref.view %lds[%c4096][] : memref<8192xi8, #gpu.address_space<workgroup>> to memref<64x32xf16, #gpu.address_space<workgroup>>
      // cooperative load: row = tid / 4, column = tid mod 4 * 8
      %row = arith.divui %tid, %c4 : index
      %col4 = arith.remui %tid, %c4 : index
      %col = arith.muli %col4, %c8 : index
      %m0 = arith.muli %bx, %c64 : index
      %n0 = arith.muli %by, %c64 : index
      %am = arith.addi %m0, %row : index
      %bn = arith.addi %n0, %row : index
      %arow = arith.muli %am, %K : index
      %brow = arith.muli %bn, %K : index
      %am_ok = arith.cmpi slt, %am, %Mi : index
      %bn_ok = arith.cmpi slt, %bn, %N : index
      %am_ok8 = vector.broadcast %am_ok : i1 to vector<8xi1>
      %bn_ok8 = vector.broadcast %bn_ok : i1 to vector<8xi1>
      // fragments: row = lane mod 16, k = lane / 16 * 4
      %lr = arith.remui %lane, %c16 : index
      %lq = arith.divui %lane, %c16 : index
      %lk = arith.muli %lq, %c4 : index
      %lk1 = arith.addi %lk, %c16 : index
      %wm = arith.muli %wx, %c32 : index
      %wn = arith.muli %ty, %c32 : index
      %ar0 = arith.addi %wm, %lr : index
      %ar1 = arith.addi %ar0, %c16 : index
      %br0 = arith.addi %wn, %lr : index
      %br1 = arith.addi %br0, %c16 : index
      %r:4 = scf.for %k = %c0 to %K step %c32
          iter_args(%s00 = %zero4, %s01 = %zero4, %s10 = %zero4, %s11 = %zero4)
          -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
        %kc = arith.addi %k, %col : index
        %kc8 = vector.broadcast %kc : index to vector<8xindex>
        %kk = arith.addi %kc8, %step8 : vector<8xindex>
        %k_ok = arith.cmpi slt, %kk, %kvec : vector<8xindex>
        %amask = arith.andi %k_ok, %am_ok8 : vector<8xi1>
        %bmask = arith.andi %k_ok, %bn_ok8 : vector<8xi1>
        %ao = arith.addi %arow, %kc : index
        %bo = arith.addi %brow, %kc : index
        %ga = vector.maskedload %a[%ao], %amask, %zero8 : memref<?xf16, #gpu.address_space<global>>, vector<8xi1>, vector<8xf16> into vector<8xf16>
        %gb = vector.maskedload %b[%bo], %bmask, %zero8 : memref<?xf16, #gpu.address_space<global>>, vector<8xi1>, vector<8xf16> into vector<8xf16>
        amdgpu.lds_barrier
        vector.store %ga, %la[%row, %col] {alignment = 16} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<8xf16>
        vector.store %gb, %lb[%row, %col] {alignment = 16} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<8xf16>
        amdgpu.lds_barrier
        %a00 = vector.load %la[%ar0, %lk] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %a01 = vector.load %la[%ar0, %lk1] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %a10 = vector.load %la[%ar1, %lk] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %a11 = vector.load %la[%ar1, %lk1] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %b00 = vector.load %lb[%br0, %lk] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %b01 = vector.load %lb[%br0, %lk1] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %b10 = vector.load %lb[%br1, %lk] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %b11 = vector.load %lb[%br1, %lk1] {alignment = 8} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
        %t00 = amdgpu.mfma 16x16x16 %a00 * %b00 + %s00 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %t01 = amdgpu.mfma 16x16x16 %a00 * %b10 + %s01 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %t10 = amdgpu.mfma 16x16x16 %a10 * %b00 + %s10 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %t11 = amdgpu.mfma 16x16x16 %a10 * %b10 + %s11 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %u00 = amdgpu.mfma 16x16x16 %a01 * %b01 + %t00 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %u01 = amdgpu.mfma 16x16x16 %a01 * %b11 + %t01 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %u10 = amdgpu.mfma 16x16x16 %a11 * %b01 + %t10 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        %u11 = amdgpu.mfma 16x16x16 %a11 * %b11 + %t11 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
        scf.yield %u00, %u01, %u10, %u11 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
      }
      // result element i: row lane / 16 * 4 + i, column lane mod 16
      %cm = arith.addi %m0, %wm : index
      %cm0 = arith.addi %cm, %lk : index
      %cm1 = arith.addi %cm0, %c16 : index
      %cn = arith.addi %n0, %br0 : index
      %cn1 = arith.addi %cn, %c16 : index
      %n_ok0 = arith.cmpi slt, %cn, %N : index
      %n_ok1 = arith.cmpi slt, %cn1, %N : index
      scf.for %i = %c0 to %c4 step %c1 {
        %x00 = vector.extract %r#0[%i] : f32 from vector<4xf32>
        %x01 = vector.extract %r#1[%i] : f32 from vector<4xf32>
        %x10 = vector.extract %r#2[%i] : f32 from vector<4xf32>
        %x11 = vector.extract %r#3[%i] : f32 from vector<4xf32>
        %mi0 = arith.addi %cm0, %i : index
        %mi1 = arith.addi %cm1, %i : index
        %m_ok0 = arith.cmpi slt, %mi0, %Mi : index
        %m_ok1 = arith.cmpi slt, %mi1, %Mi : index
        %r0 = arith.muli %mi0, %N : index
        %r1 = arith.muli %mi1, %N : index
        %o00 = arith.addi %r0, %cn : index
        %o01 = arith.addi %r0, %cn1 : index
        %o10 = arith.addi %r1, %cn : index
        %o11 = arith.addi %r1, %cn1 : index
        %ok00 = arith.andi %m_ok0, %n_ok0 : i1
        %ok01 = arith.andi %m_ok0, %n_ok1 : i1
        %ok10 = arith.andi %m_ok1, %n_ok0 : i1
        %ok11 = arith.andi %m_ok1, %n_ok1 : i1
        scf.if %ok00 { memref.store %x00, %c[%o00] : memref<?xf32, #gpu.address_space<global>> }
        scf.if %ok01 { memref.store %x01, %c[%o01] : memref<?xf32, #gpu.address_space<global>> }
        scf.if %ok10 { memref.store %x10, %c[%o10] : memref<?xf32, #gpu.address_space<global>> }
        scf.if %ok11 { memref.store %x11, %c[%o11] : memref<?xf32, #gpu.address_space<global>> }
      }
      gpu.return
    }
  }
}
