module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @big(%a: !wave.memory<[M, N], f32, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 128, N = 1024} constraints [#wave.workgroup<M, 128, x>, #wave.wave<M, 8>,
        #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>] {
    %x = wave.read %a : !wave.memory<[M, N], f32, global> -> !wave.tile<[M, N], f32>
    %m = wave.reduce max %x along N : !wave.tile<[M, N], f32> -> !wave.tile<[M], f32>
    
    %b = wave.broadcast %m : !wave.tile<[M], f32> -> !wave.tile<[M, N], f32>
    %d = wave.sub %x, %b : !wave.tile<[M, N], f32>
    wave.write %d, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}
