// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-prepare-rocdl=target=gfx942
// RUN: not wave-opt %s --split-input-file --wave-prepare-rocdl=target=gfx1 2>&1 | FileCheck %s
// CHECK: error: {{.*}}gfx1

// expected-error@+1 {{wave-prepare-rocdl needs a module in form gpu, this one is in form tile: run the pipeline 'tile-to-gpu' first}}
module attributes {wave.form = "tile"} {
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942", gpu.container_module} {
  gpu.module @m {
    // expected-error@+1 {{a block of 2048 x 1 x 1 = 2048 threads; gfx942 allows 1024}}
    gpu.func @k(%a: memref<?xf32, #gpu.address_space<global>>) kernel attributes {
        known_block_size = array<i32: 2048, 1, 1>, wave.grid = [#wave.expr<1>, #wave.expr<1>, #wave.expr<1>],
        wave.symbols = {}, wave.args = [{kind = "memory", name = "a", dtype = f32, shape = [#wave.expr<64>],
                                         access = "readwrite"}]} {
      gpu.return
    }
  }
}

// -----

module attributes {wave.form = "gpu", wave.target = "gfx942", gpu.container_module} {
  gpu.module @m {
    // expected-error@+1 {{wave.args}}
    gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
  }
}
