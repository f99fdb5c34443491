module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, N], f16, global>, %c: !wave.memory<[M, N], f16, global>)
      symbols {M = 256, N = 128} constraints [#wave.workgroup<M, 64, x>, #wave.workgroup<N, 64, y>,
        #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>] {
    %x = wave.read %a : !wave.memory<[M, N], f16, global> -> !wave.tile<[M, N], f16>
    wave.write %x, %c : !wave.tile<[M, N], f16>, !wave.memory<[M, N], f16, global>
    wave.return
  }
}
