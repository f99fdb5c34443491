// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-prepare-rocdl

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    // expected-error@+1 {{kernel 'k': a block of 2048 x 1 x 1 = 2048 threads; gfx942 allows 1024}}
    gpu.func @k() kernel attributes {known_block_size = array<i32: 2048, 1, 1>, wave.args = [], wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>]} {
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    // expected-error@+1 {{kernel 'k' needs 65552 bytes of LDS; gfx942 has 65536 for a workgroup; use smaller tiles or fewer buffers}}
    gpu.func @k() workgroup(%lds: memref<65552xi8, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>, wave.args = [], wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>]} {
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    // expected-error@+1 {{kernel 'k' lacks wave.grid}}
    gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>, wave.args = []} {
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @k(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{kind = "scalar", name = "x", dtype = f32}]} {
      // expected-error@+1 {{'math.erf' on f32 has no instruction on gfx942}}
      %0 = math.erf %x : f32
      gpu.return
    }
  }
}

// -----

// expected-error@+1 {{no gpu.func with 'kernel' to generate code for}}
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
  }
}

// -----

// expected-error@+1 {{unknown target 'gfx9'}}
module attributes {wave.form = "gpu", wave.target = "gfx9"} {
  gpu.module @m {
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @k(%x: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{kind = "scalar", name = "x", dtype = i32}]} {
      // expected-error@+1 {{'gpu.printf' cannot be compiled: no device library is linked}}
      gpu.printf "%d", %x : i32
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    // expected-error@+1 {{memory 'a' must be a one-dimensional memref, not memref<?x?xf32, #gpu.address_space<global>>}}
    gpu.func @k(%a: memref<?x?xf32, #gpu.address_space<global>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{kind = "memory", name = "a", dtype = f32, shape = [#wave.expr<4>, #wave.expr<4>], access = "read"}]} {
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    // expected-error@+1 {{kernel 'k': a shape names 'M', which is no symbol of it}}
    gpu.func @k(%a: memref<?xf32, #gpu.address_space<global>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.args = [{kind = "memory", name = "a", dtype = f32, shape = [#wave.expr<M>], access = "read"}]} {
      gpu.return
    }
  }
}
