// RUN: wave-opt %s | wave-opt | FileCheck %s
// Layouts and LDS layouts print as they are written.

// Layouts get an alias; the text of an attribute is that of its definition.
// CHECK-DAG: #[[ACC:layout[0-9]*]] = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16], lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>
// CHECK-DAG: #[[CLIP:layout[0-9]*]] = #wave.layout<[M = 112, K = 16], reg = [4 : K * 1, 4 : M * 16], lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 56], clip = [M = 56]>
// CHECK-DAG: #[[FEW:layout[0-9]*]] = #wave.layout<[M = 8], reg = [2 : _], lane = [2 : _, 16 : M * 1]>
// CHECK-DAG: #[[SCALAR:layout[0-9]*]] = #wave.layout<[]>
// CHECK: module attributes
module attributes {
  // CHECK-SAME: t.acc = #[[ACC]]{{[,}]}}
  t.acc = #wave.layout<[M = 64, N = 64], reg = [4 : M * 1, 2 : N * 16, 2 : M * 16],
                       lane = [16 : N * 1, 4 : M * 4], wave.x = [2 : M * 32], wave.y = [2 : N * 32]>,
  // The order of clauses is free.
  // CHECK-SAME: t.clip = #[[CLIP]]{{[,}]}}
  t.clip = #wave.layout<[M = 112, K = 16], clip = [M = 56], wave.x = [2 : M * 56], lane = [16 : M * 1, 4 : K * 4],
                        reg = [4 : K * 1, 4 : M * 16]>,
  // Replication, and more lanes than rows.
  // CHECK-SAME: t.few = #[[FEW]]{{[,}]}}
  t.few = #wave.layout<[M = 8], reg = [2 : _], lane = [2 : _, 16 : M * 1]>,
  // CHECK-SAME: t.lds = #wave.lds_layout<[64, 64], swizzle = [chunk = 8, phases = 8, rows = 1]>
  t.lds = #wave.lds_layout<[64, 64], swizzle = [chunk = 8, phases = 8]>,
  // CHECK-SAME: t.lds2 = #wave.lds_layout<[64, 64], swizzle = [chunk = 8, phases = 4, rows = 2], pad = [8 : 64]>
  t.lds2 = #wave.lds_layout<[64, 64], pad = [8 : 64], swizzle = [chunk = 8, phases = 4, rows = 2]>,
  // CHECK-SAME: t.plain = #wave.lds_layout<[64]>
  t.plain = #wave.lds_layout<[64]>,
  // CHECK-SAME: t.scalar = #[[SCALAR]]{{[,}]}}
  t.scalar = #wave.layout<[]>
} {}
