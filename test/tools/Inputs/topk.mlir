// The reference evaluator has no wave.topk.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @tk(%a: !wave.memory<[M, N], f32, global>, %o: !wave.memory<[M, T], f32, global>, %p: !wave.memory<[M, T], i32, global>) symbols {M = 9, N = 70, T = 3, BM = 4} dynamic [] constraints [#wave.workgroup<M, BM, x>, #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 128, T = 3}>] {
  %x = wave.read %a : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32>
  %v, %i = wave.topk %x k 3 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, T], f32>, !wave.tile<[M, T], i32>
  wave.write %v, %o : !wave.tile<[M, T], f32>, !wave.memory<[M, T], f32, global>
  wave.write %i, %p : !wave.tile<[M, T], i32>, !wave.memory<[M, T], i32, global>
    wave.return
  }
}
