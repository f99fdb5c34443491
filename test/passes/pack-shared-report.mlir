// RUN: wave-opt %s --wave-pack-shared=report=true 2>&1 | FileCheck %s

// The remarks of option report: what all waves write and read, and the conflicts that the swizzle left.
// CHECK: pack-shared-report.mlir:[[#@LINE+8]]:{{[0-9]+}}: remark: 512 bytes of LDS at 0; all waves write 512 and read 1024 bytes, read 2.0 times; at most 1 rows of a bank in a phase
// CHECK: remark: 16 bytes of LDS at 512; all waves write 0 and read 0 bytes; conflicts not known
// CHECK: wave.allocate offset 0
// CHECK: wave.allocate offset 512
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128}
      constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.hardware<threads_per_wave = 64>] {
    %c = arith.constant dense<1.0> : vector<1xf32>
    %0 = wave.allocate {wave.lds_conflicts = 1 : i64} : !wave.memory<[128], f32, shared>
    %1 = wave.allocate : !wave.memory<[4], f32, shared>
    wave.write %c, %0 index [wave.x * 64 + lane] : vector<1xf32>, !wave.memory<[128], f32, shared>
    wave.shared_memory_barrier
    %2 = wave.read %0 index [wave.x * 64 + lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    %3 = wave.read %0 index [127 - wave.x * 64 - lane] : !wave.memory<[128], f32, shared> -> vector<1xf32>
    wave.return
  }
}
