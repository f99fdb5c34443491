// RUN: wave-opt %s --verify-diagnostics --wave-expand

#rows = #wave.layout<[M = 64, K = 4], reg = [4 : K * 1], lane = [64 : M * 1]>
#columns = #wave.layout<[M = 64, K = 4], reg = [4 : M * 1], lane = [16 : M * 4, 4 : K * 1]>
module attributes {wave.form = "staged", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>) symbols {M = 64, K = 4}
      constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<K, 4, y>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M, at.K] : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #rows>
    // expected-error@+1 {{this relayout moves elements between lanes; run wave-lower-relayouts first}}
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #rows> -> !wave.tile<[M, K], f16, #columns>
    wave.return
  }
}
