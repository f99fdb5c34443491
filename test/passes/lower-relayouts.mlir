// RUN: wave-opt %s --split-input-file --wave-lower-relayouts | FileCheck %s
// RUN: wave-opt %s --split-input-file --pass-pipeline='builtin.module(wave-lower-relayouts{way=lds})' | FileCheck %s --check-prefix=LDS

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>

// To the layout it has: goes away.
// CHECK-LABEL: @identity(
// CHECK-NOT:   wave.relayout
// CHECK-NOT:   wave.allocate
// CHECK:       wave.return
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @identity(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 4} constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #rows>
    wave.write %y, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #rows>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#same = #wave.layout<[M = 64, K = 4], reg = [2 : K * 1, 2 : K * 2], lane = [64 : M * 1]>

// To the layout it has, spelled otherwise: another type, for wave-expand.
// CHECK-LABEL: @spelling(
// CHECK-NOT:   wave.allocate
// CHECK:       wave.relayout
// CHECK:       wave.return
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @spelling(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 4} constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #same>
    wave.write %y, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #same>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#swap = #wave.layout<[M = 64, K = 4], reg = [2 : K * 2, 2 : K * 1], lane = [64 : M * 1]>

// Inside a lane: stays for wave-expand.
// CHECK-LABEL: @registers(
// CHECK-NOT:   wave.allocate
// CHECK:       wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @registers(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 4} constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #swap>
    wave.write %y, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #swap>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#columns = #wave.layout<[M = 64, K = 4], reg = [4 : M * 1], lane = [16 : M * 4, 4 : K * 1]>

// Between lanes: they exchange, which is cheaper; or, if asked, written to a buffer in one layout and read back in the
// other.
// CHECK-LABEL: @through_lds(
// CHECK-NOT:   wave.allocate
// CHECK:       wave.relayout {{.*}}wave.way = "lanes"
// CHECK-NOT:   wave.allocate
// CHECK:       wave.return
// LDS-LABEL: @through_lds(
// LDS:       %[[L:.*]] = wave.allocate : !wave.memory<[64, 4], f16, shared>
// LDS:       %[[X:.*]] = wave.read %a
// LDS-NEXT:  wave.write %[[X]], %[[L]] index [at.M, at.K]
// LDS-NEXT:  %[[Y:.*]] = wave.read %[[L]] index [at.M, at.K]
// LDS-NEXT:  wave.write %[[Y]], %c
// LDS-NOT:   wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @through_lds(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 4} constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #columns>
    wave.write %y, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #columns>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}

// -----

#waves = #wave.layout<[M = 64, K = 4], reg = [2 : K * 1], lane = [64 : M * 1], wave.x = [2 : K * 2]>
#others = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [32 : M * 1, 2 : _], wave.x = [2 : M * 32]>

// Between waves: through LDS, whatever it costs.
// CHECK-LABEL: @between_waves(
// CHECK:       wave.allocate : !wave.memory<[64, 4], f16, shared>
// CHECK-NOT:   wave.relayout
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @between_waves(%a: !wave.memory<[M, K], f16, global>, %c: !wave.memory<[M, K], f16, global>)
      symbols {M = 64, K = 4}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.wave<M, 32>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #waves>
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #waves> -> !wave.tile<[M, K], f16, #others>
    wave.write %y, %c index [at.M, at.K] : !wave.tile<[M, K], f16, #others>, !wave.memory<[M, K], f16, global>
    wave.return
  }
}
