// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-infer-types --wave-bind-symbols --wave-check-constraints

// A missing hardware constraint.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the kernel has no hardware constraint; give exactly one: #wave.hardware<threads_per_wave = 64>}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Two of them.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the kernel has 2 hardware constraints; give exactly one}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// The target's wave size.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{threads_per_wave = 32, but waves of gfx942 have 64 lanes; write threads_per_wave = 64}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 32, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// A kind of another target.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{gfx942 has no MMA kind 'f32_16x16x32_f16' (gfx950 has it)}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x32_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Two constraints of a kind on one dim.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dim M has two workgroup constraints; keep one}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 32, x>,
                   #wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Two dims along one grid dim.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dims M and N are both distributed along grid dim x; give one of them another grid dim, or mark}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, x>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Riding on nothing.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dim N is secondary on a grid dim that no other constraint owns}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y, secondary>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// A tile that waves do not divide.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the workgroup's tile of dim M has 64 elements, which waves of 24 do not divide}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 24>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Waves counted twice.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{waves_per_block has 4 waves along x, but the tiles of dim M make 2}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16, waves_per_block = [4, 2, 1]>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Too many threads.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a workgroup of 16 x 4 x 1 waves has 4096 threads; gfx942 allows 1024}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 4>,
                   #wave.wave<N, 16>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Waves of different number along a block dim.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{4 waves along y and 2 for dim M; dims that the same waves divide need equally many}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32, y>,
                   #wave.wave<N, 16>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// A vector shape that the MMA does not have.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16, vector_shapes = {M = 20}>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      // expected-error@+1 {{vector_shapes says M = 20, but MMA kind f32_16x16x16_f16 covers 16 elements of M; leave M out of vector_shapes or make it a multiple of 16}}
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Types of the operands.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_bf16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      // expected-error@+1 {{MMA kind f32_16x16x16_bf16 wants lhs of bf16, but it has f16; use kind f32_16x16x16_f16, or wave.cast the operand}}
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// A contracted dim divided among waves, for which no block dim is left.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dim K is divided among 2 waves, but no block dim (x, y, z) has that many that divide no other dim; drop a wave constraint, or make waves_per_block agree}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.wave<K, 16>,
                   #wave.hardware<threads_per_wave = 64, waves_per_block = [2, 2, 1], mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Accumulators that do not fit.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 256, x>,
                   #wave.workgroup<N, 256, y>,
                   #wave.tiling<K, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      // expected-error@+1 {{the accumulators of this MMA need 1024 registers a lane (1 x wave tile M: 256, N: 256); gfx942 has 256: use smaller tiles or more waves}}
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Reorderings that lose workgroups.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{its remap of workgroups is no bijection of the grid 8 x 8 x 1: workgroups (0, 0, 0) and (1, 0, 0) compute the same tile; reorderings must be a bijection of the grid [8, 8, 1]}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>,
                   #wave.reordering<wg.x floordiv 2, x>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// Reorderings that leave the grid.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the remapped id wg.x + 1 is from 1 to 8 on the grid 8 x 8 x 1, outside of 0 to 7; reorderings must be a bijection of the grid [8, 8, 1]}}
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>,
                   #wave.reordering<wg.x + 1, x>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
      %y = wave.read %b : !wave.memory<[N, K], f16, global> -> !wave.tile<[N, K], f16>
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// 8-bit floats of the other kind.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f8E4M3FN, global>, %b: !wave.memory<[N, K], f8E4M3FN, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x32_f8e4m3fnuz>] {
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %sum = wave.iterate K iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      %x = wave.read %a : !wave.memory<[M, K], f8E4M3FN, global> -> !wave.tile<[M, K], f8E4M3FN>
      %y = wave.read %b : !wave.memory<[N, K], f8E4M3FN, global> -> !wave.tile<[N, K], f8E4M3FN>
      // expected-error@+1 {{MMA kind f32_16x16x32_f8e4m3fnuz wants lhs of f8E4M3FNUZ, but it has f8E4M3FN: f8E4M3FN is an 8-bit float of the OCP kind, f8E4M3FNUZ of the FNUZ kind}}
      %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f8E4M3FN>, !wave.tile<[N, K], f8E4M3FN>, !wave.tile<[M, N], f32>
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.return
  }
}

// -----

// A dim of run-time size under no constraint.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>)
      symbols {} dynamic [M]
      constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{dim M is under no constraint and its size is known at run time only; add #wave.workgroup<M, tile, axis> or #wave.tiling<M, tile>, or bind M}}
    %x = wave.read %a : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
    wave.write %x, %a : !wave.tile<[M], f16>, !wave.memory<[M], f16, global>
    wave.return
  }
}

// -----

// A tiled dim outside of its loop.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M, K], f16, global>, %b: !wave.memory<[N, K], f16, global>, %c: !wave.memory<[M, N], f32, global>)
      symbols {M = 512, N = 512, K = 256} dynamic []
      constraints [#wave.workgroup<M, 64, x>,
                   #wave.workgroup<N, 64, y>,
                   #wave.tiling<K, 32>,
                   #wave.wave<M, 32>,
                   #wave.wave<N, 32>,
                   #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    // expected-error@+1 {{dim K is walked by a loop in tiles of 32 but used outside of one; put this op into wave.iterate K, or drop the tiling constraint of K}}
    %x = wave.read %a : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16>
    wave.return
  }
}

// -----

// A written dim divided among waves only.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f16, global>)
      symbols {M = 256} dynamic []
      constraints [#wave.wave<M, 64, x>,
                   #wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 0.0 : !wave.tile<[M], f16>
    // expected-error@+1 {{dim M is divided among waves but not among workgroups; add #wave.workgroup<M, tile, axis>}}
    wave.write %x, %a : !wave.tile<[M], f16>, !wave.memory<[M], f16, global>
    wave.return
  }
}

// -----

// A reduced dim divided among waves.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>)
      symbols {M = 256} dynamic []
      constraints [#wave.workgroup<M, 128, x>,
                   #wave.wave<M, 64>,
                   #wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32>
    // expected-error@+1 {{dim M is divided among 2 waves; add 'block' to combine their results}}
    %s = wave.reduce sum %x along M : !wave.tile<[M], f32> -> !wave.tile<[], f32>
    wave.return
  }
}

// -----

// A memory of less than no elements.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a has -8 elements along M; it cannot be negative}}
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = L - 72, L = 64}
      constraints [#wave.workgroup<M, 64, x>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// Two grids.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the kernel has two grid constraints; keep one}}
  wave.kernel @k() symbols {M = 64} constraints [#wave.grid<[4]>, #wave.grid<[8]>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// One grid dim is reordered twice.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{grid dim 0 has two reordering constraints; keep one}}
  wave.kernel @k() symbols {M = 128} constraints [#wave.workgroup<M, 64, x>, #wave.reordering<1 - wg.x, x>, #wave.reordering<wg.x, x>,
      #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// A reordering by what differs between lanes.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a reordering uses lane; it may use wg.x, wg.y, wg.z and symbols}}
  wave.kernel @k() symbols {M = 128} constraints [#wave.workgroup<M, 64, x>, #wave.reordering<wg.x + lane, x>,
      #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// A reordering of a grid dim that is not there.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a reordering constraint remaps grid dim 4; the grid has 3 dims}}
  wave.kernel @k() symbols {M = 128} constraints [#wave.workgroup<M, 64, x>, #wave.reordering<wg.x, 4>,
      #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// Symbols without a value.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the symbols A, B are defined by each other; give one of them a value}}
  wave.kernel @k(%a: !wave.memory<[A], f32, global>) symbols {A = B * 2, B = A - 1} constraints [#wave.workgroup<A, 64, x>,
      #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// A tile whose size is not known.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) dynamic [M, T] constraints [#wave.workgroup<M, T, x>,
      #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{the tile of dim M is T, which is known at run time only (T); bind it in 'symbols {…}'}}
    %x = wave.read %a : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32>
    wave.return
  }
}

// -----

// A dim that is a part of one whose tile it does not divide.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[S], f32, global>) symbols {M = 128, S = M floordiv 48} constraints [#wave.workgroup<M, 64, x>,
      #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{dim S = M floordiv 48 needs tiles of M that make whole elements of it; they have 64}}
    %x = wave.read %a : !wave.memory<[S], f32, global> -> !wave.tile<[S], f32>
    wave.return
  }
}

// -----

// An MMA without rows.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @k() symbols {N = 16, K = 16} constraints [#wave.workgroup<N, 16, x>, #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16>] {
    %x = wave.register 1.0 : !wave.tile<[K], f16>
    %y = wave.register 1.0 : !wave.tile<[N, K], f16>
    %c = wave.register 0.0 : !wave.tile<[N], f32>
    // expected-error@+1 {{this MMA has no M: lhs [K], rhs [N, K], accumulator [N]; M are the dims of lhs that rhs has not, N those of rhs that lhs has not, K common ones that the accumulator has not}}
    %z = wave.mma %x, %y, %c : !wave.tile<[K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[N], f32>
    wave.return
  }
}

// -----

// A kind with scales in an MMA without.
module attributes {wave.form = "tile", wave.target = "gfx950"} {
  wave.kernel @k() symbols {M = 16, N = 16, K = 128} constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M, K], f8E4M3FN>
    %y = wave.register 1.0 : !wave.tile<[N, K], f8E4M3FN>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-error@+1 {{MMA kind f32_16x16x128_scaled_f8e4m3fn takes scales; use wave.scaled_mma}}
    %z = wave.mma %x, %y, %c kind f32_16x16x128_scaled_f8e4m3fn : !wave.tile<[M, K], f8E4M3FN>, !wave.tile<[N, K], f8E4M3FN>, !wave.tile<[M, N], f32>
    wave.return
  }
}

// -----

// A kind without scales in an MMA with.
module attributes {wave.form = "tile", wave.target = "gfx950"} {
  wave.kernel @k() symbols {M = 16, N = 16, K = 32, S = 1} constraints [#wave.workgroup<M, 16, x>, #wave.hardware<threads_per_wave = 64>] {
    %x = wave.register 1.0 : !wave.tile<[M, K], f8E4M3FN>
    %s = wave.register 1 : !wave.tile<[M, S], i8>
    %y = wave.register 1.0 : !wave.tile<[N, K], f8E4M3FN>
    %t = wave.register 1 : !wave.tile<[N, S], i8>
    %c = wave.register 0.0 : !wave.tile<[M, N], f32>
    // expected-error@+1 {{MMA kind f32_16x16x32_f8e4m3fn takes no scales; use a scaled kind}}
    %z = wave.scaled_mma %x scale %s, %y scale %t, %c kind f32_16x16x32_f8e4m3fn : !wave.tile<[M, K], f8E4M3FN>, !wave.tile<[M, S], i8>, !wave.tile<[N, K], f8E4M3FN>, !wave.tile<[N, S], i8>, !wave.tile<[M, N], f32>
    wave.return
  }
}

// -----

// A tile of no elements.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the tile of dim M has 0 elements; it must have at least one}}
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 128, T = 0} constraints [#wave.workgroup<M, T, x>, #wave.wave<M, 64>,
      #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// A dim that both workgroups and a loop divide: the loop would run into other workgroups' parts.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dim M is divided among workgroups, each with 64 of it, and walked by a loop that goes on to the end of the dim: say how many trips each makes, #wave.tiling<M, 16, iters = …> with 64 divided by 16 (in Python: TilingConstraint(M, 16, iters=…)), or drop one of the two constraints}}
  wave.kernel @k() symbols {M = 512}
      constraints [#wave.workgroup<M, 64, x>, #wave.tiling<M, 16>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{dim M is divided among workgroups, each with 64 of it}}
  wave.kernel @k() dynamic [M]
      constraints [#wave.workgroup<M, 64, x>, #wave.tiling<M, 16>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// Assumptions that do not hold.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the assumption M mod 16 eq 0 does not hold, where M = 37; drop it, or give symbols other values}}
  wave.kernel @k() symbols {M = 37}
      constraints [#wave.workgroup<M, 64, x>, #wave.assume<M mod 16 eq 0>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{the assumption M lt 0 does not hold, whatever the symbols are}}
  wave.kernel @k() dynamic [M]
      constraints [#wave.workgroup<M, 64, x>, #wave.assume<M lt 0>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}

// -----

// Several devices.
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  // expected-error@+1 {{a kernel runs on one device in this version, so #wave.device<M, 32, 0> would have no effect; drop it and launch the kernel once for each device, on its part of dim M}}
  wave.kernel @k() symbols {M = 512}
      constraints [#wave.workgroup<M, 64, x>, #wave.device<M, 32, 0>, #wave.hardware<threads_per_wave = 64>] {
    wave.return
  }
}
