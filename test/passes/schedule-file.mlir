// RUN: wave-opt %s --wave-schedule="strategy=four-stage dump=%t" > %t.mlir
// RUN: FileCheck %s < %t
// RUN: wave-opt %s --wave-schedule=file=%t | diff - %t.mlir
// RUN: sed "s/^ *3 .*mma.0.*//" %t > %t.short
// RUN: not wave-opt %s --wave-schedule=file=%t.short 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: sed "s/^ *2\( .*lds_read.0\)/ 0 \1/" %t > %t.early
// RUN: not wave-opt %s --wave-schedule=file=%t.early 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: sed "s/^ *2\( .*lds_read.0\)/ 4 \1/" %t > %t.late
// RUN: not wave-opt %s --wave-schedule=file=%t.late 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: sed "s/gemm.K/gemm.L/" %t > %t.other
// RUN: not wave-opt %s --wave-schedule=file=%t.other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed "s/^interval.*/interval none/" %t > %t.text
// RUN: not wave-opt %s --wave-schedule=file=%t.text 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: printf '\377\376schedule' > %t.binary
// RUN: not wave-opt %s --wave-schedule=file=%t.binary 2>&1 | FileCheck %s --check-prefix=BINARY
// RUN: not wave-opt %s --wave-schedule=file=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not wave-opt %s --wave-schedule="strategy=list dump=%t.none/x" 2>&1 | FileCheck %s --check-prefix=WRITE

// A schedule is written, read back to the same attributes, and changed by hand in ways that are wrong.
// CHECK:      schedule gemm.K
// CHECK-NEXT: strategy four-stage
// CHECK-NEXT: interval {{[0-9]+}}
// CHECK-NEXT: unroll 1
// CHECK-NEXT: copies lds.0 2
// CHECK-NEXT: copies lds.1 2
// CHECK:      # stage  clock  operation
// CHECK-DAG:  {{^ +0 +[0-9]+  global_load.0  # .*schedule-file.mlir:[0-9]+:[0-9]+$}}
// CHECK-DAG:  {{^ +3 +[0-9]+  mma.0  # }}
// SHORT:  error: schedule 'gemm.K': no place for 'mma.0'; add a line for each
// EARLY:  error: schedule 'gemm.K': broken dependence: 'lds_read.0' in the same trip needs 'lds_write.0' (read after write in lds.0: LDS), but
// EARLY-SAME: put 'lds_read.0' after 'lds_write.0' or in a later stage
// EARLY:  note: the other op
// LATE:   broken dependence: 'lds_write.0' 2 trips later needs 'lds_read.0' (write after read in lds.0: LDS): 'lds_write.0' has overwritten
// LATE-SAME: it has 2 copies: give it more, or read earlier
// OTHER:  has schedules of loops that are not there: gemm.L; the loops are gemm.K
// TEXT:   error: {{.*}}:3: 'none' is no interval; write a whole number from 1 to
// BINARY: cannot read the schedules of {{.*}}.binary: it is no text in UTF-8
// NONE:   cannot read the schedules of {{.*}}: No such file or directory
// WRITE:  cannot write the schedules to {{.*}}: No such file or directory
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @gemm(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 64, N = 64, K = 512} dynamic []
      constraints [#wave.workgroup<M, 32, x>, #wave.workgroup<N, 16, y>, #wave.tiling<K, 32>, #wave.wave<M, 16>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x32_k8_f16>] {
    %la = wave.allocate : !wave.memory<[32, 32], f16, shared>
    %lb = wave.allocate : !wave.memory<[32, 32], f16, shared>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %sum = wave.iterate K iv(%k) trips(16) iter_args(%acc = %zero : vector<4xf32>) {
      %ga = wave.buffer_load %a base [wg.x * 16384 + iv.K * 32] offset [wave.x * 8192 + lane floordiv 4 * 512 + lane mod 4 * 8] symbols(iv.K = %k) : !wave.memory<[M, K], f16, global> -> vector<8xf16>
      %gb = wave.buffer_load %b base [wg.y * 8192 + iv.K * 32] offset [wave.x * 8192 + lane floordiv 4 * 512 + lane mod 4 * 8] symbols(iv.K = %k) : !wave.memory<[N, K], f16, global> -> vector<8xf16>
      wave.write %ga, %la index [wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : vector<8xf16>, !wave.memory<[32, 32], f16, shared>
      wave.write %gb, %lb index [wave.x * 16 + lane floordiv 4, lane mod 4 * 8] : vector<8xf16>, !wave.memory<[32, 32], f16, shared>
      %x = wave.read %la index [wave.x * 16 + lane mod 16, lane floordiv 16 * 8] : !wave.memory<[32, 32], f16, shared> -> vector<8xf16>
      %y = wave.read %lb index [lane mod 16, lane floordiv 16 * 8] : !wave.memory<[32, 32], f16, shared> -> vector<8xf16>
      %z = wave.mma %x, %y, %acc kind f32_16x16x32_k8_f16 : vector<8xf16>, vector<8xf16>, vector<4xf32>
      wave.yield %z : vector<4xf32>
    }
    wave.buffer_store %sum, %c base [wg.x * 2048 + wg.y * 16] offset [wave.x * 1024 + lane floordiv 16 * 256 + lane mod 16] : vector<4xf32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
