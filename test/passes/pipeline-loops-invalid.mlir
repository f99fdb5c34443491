// RUN: wave-opt %s --split-input-file --wave-pipeline-loops --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-pipeline-loops needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

// A value used before it is there.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-note@+1 {{this is the other op: the first uses its result}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 1 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{the schedule runs this op (stage 0, order 1) before one in the same tile that it depends on (stage 1, order 0); give it a later stage, or a later order}}
      %y = arith.addf %x, %s {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// A carried value: the sum of the tile before.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-note@+1 {{this is the other op: the first uses its result}}
      %w = arith.addf %x, %z {wave.slot = {stage = 1 : i64, order = 2 : i64}} : f32
      // expected-error@+1 {{before one 1 tile earlier that it depends on}}
      %v = arith.addf %x, %s {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32
      wave.yield %w : f32
    }
    wave.return
  }
}

// -----

// One buffer, written for the next tile before it is read for this one.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{before one 1 tile earlier that it depends on (stage 1, order 2)}}
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      // expected-note@+1 {{this is the other op: the first uses the same LDS 1 tile earlier (the buffer has 1 copy)}}
      %y = wave.read %l index [63 - lane] {wave.slot = {stage = 1 : i64, order = 2 : i64}} : !wave.memory<[64], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// Two copies, and three tiles in the buffer.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 3 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{before one 2 tiles earlier that it depends on}}
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      // expected-note@+1 {{2 tiles earlier (the buffer has 2 copies)}}
      %y = wave.read %l index [63 - lane] {wave.slot = {stage = 2 : i64, order = 2 : i64}} : !wave.memory<[64], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// Global memory that is written: the read of the next tile may be of what this one writes.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{before one 1 tile earlier that it depends on}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-note@+1 {{this is the other op: the first accesses the same memory a tile earlier}}
      wave.write %x, %a index [lane] {wave.slot = {stage = 1 : i64, order = 1 : i64}} : f32, !wave.memory<[512], f32, global>
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

// In one tile too.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-note@+1 {{this is the other op: the first accesses the same memory}}
      %u = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 1 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{in the same tile that it depends on}}
      wave.write %z, %a index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[512], f32, global>
      wave.yield %z : f32
    }
    wave.return
  }
}

// -----

// A stage that there is not.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{the op is in stage 2 of a schedule with 2 stages}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 2 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 1 : i64}} : f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// One order twice.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-note@+1 {{the other op}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{two ops have order 1 in the schedule; each has its own}}
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 1 : i64}} : f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// An op with an effect and without a place.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{wave.read has no place in the schedule; give it a wave.slot}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 1 : i64}} : f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// A slot without an order.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{wave.slot has to be a dictionary with stage = N : i64, order = N : i64}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 1 : i64, order = 1 : i64}} : f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// No stages.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    // expected-error@+1 {{the schedule has 0 stages and unroll 1; both are at least 1}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 0 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      %y = arith.addf %x, %s {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// No copies.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{the buffer has 0 copies; it has at least 1}}
    %l = wave.allocate {wave.copies = 0 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

// A buffer of which tiles have copies, read behind the loop.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %x : f32
    }
    // expected-error@+1 {{this op is in no loop that is pipelined with this buffer, and tiles take turns with 2 copies of it; take wave.copies off the buffer}}
    %q = wave.read %l index [lane] : !wave.memory<[64], f32, shared> -> f32
    wave.return
  }
}

// -----

// An op that the pass does not know.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{wave.debug_log cannot be in a loop that is pipelined; take wave.pipeline off the loop}}
      wave.debug_log %x "x" {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

// A while loop.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %b = arith.constant 0 : index
    // expected-error@+1 {{a loop that ends by a condition cannot be pipelined; take wave.pipeline off it}}
    wave.iterate K iv(%k) start(%b : index) condition(K lt 8) attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %n = wave.apply_expr [K + 1] symbols(K = %k) : index
      wave.yield %n : index
    }
    wave.return
  }
}

// -----

// Two copies of a buffer that is read before the tile writes it: what is read is the tile's before.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{this op reads a buffer that tiles take turns with, and not all that its tile writes there stands before it: it needs what another tile wrote; take wave.copies off the buffer}}
      %y = wave.read %l index [63 - lane] {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[64], f32, shared> -> f32
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// Two copies of a buffer in which tiles alternate places: a tile reads there what another one wrote.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[128], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{this op writes a buffer that tiles take turns with, in other places from tile to tile: a tile would find what is left there of another one; take wave.copies off the buffer}}
      wave.write %x, %l index [iv.K mod 2 * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[128], f32, shared>
      %y = wave.read %l index [(iv.K + 1) mod 2 * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 1 : i64, order = 2 : i64}} : !wave.memory<[128], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// The same by a conditional.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.conditional [iv.K lt 4] symbols(iv.K = %k) attributes {wave.slot = {stage = 0 : i64, order = 1 : i64}} {
        // expected-error@+1 {{in other places from tile to tile}}
        wave.write %x, %l index [lane] : f32, !wave.memory<[64], f32, shared>
      }
      %y = wave.read %l index [lane] {wave.slot = {stage = 1 : i64, order = 2 : i64}} : !wave.memory<[64], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// A volatile read before the write is a read as well.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{this op reads a buffer that tiles take turns with, and not all that its tile writes there stands before it}}
      %y = wave.read %l index [lane] volatile {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[64], f32, shared> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// Volatile reads keep their order.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-note@+1 {{this is the other op: the first accesses the same memory}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) volatile {wave.slot = {stage = 0 : i64, order = 1 : i64}} : !wave.memory<[512], f32, global> -> f32
      // expected-error@+1 {{in the same tile that it depends on}}
      %y = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) volatile {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// Copies of a buffer that has its place.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{the buffer has 2 copies and an offset, which only one of them can have; take one of both off}}
    %l = wave.allocate offset 0 {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %s : f32
    }
    wave.return
  }
}

// -----

// Two buffers at one place.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate offset 0 : !wave.memory<[64], f32, shared>
    %m = wave.allocate offset 0 : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      // expected-note@+1 {{this is the other op: the first accesses the same memory}}
      %y = wave.read %l index [63 - lane] {wave.slot = {stage = 0 : i64, order = 4 : i64}} : !wave.memory<[64], f32, shared> -> f32
      // expected-error@+1 {{in the same tile that it depends on}}
      wave.write %x, %m index [lane] {wave.slot = {stage = 0 : i64, order = 2 : i64}} : f32, !wave.memory<[64], f32, shared>
      %v = wave.read %m index [63 - lane] {wave.slot = {stage = 1 : i64, order = 5 : i64}} : !wave.memory<[64], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// A buffer that tiles take turns with, read by a loop without a schedule.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %s : f32
    }
    %q = wave.iterate M iv(%m) trips(8) iter_args(%s = %z : f32) {
      // expected-error@+1 {{this op is in no loop that is pipelined with this buffer, and tiles take turns with 2 copies of it}}
      %y = wave.read %l index [63 - lane]  : !wave.memory<[64], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// Read in the loop around the scheduled one.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-note@+1 {{the buffer}}
    %l = wave.allocate {wave.copies = 2 : i64} : !wave.memory<[64], f32, shared>
    %o = wave.iterate M iv(%m) trips(4) iter_args(%t = %z : f32) {
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %s : f32
    }
      // expected-error@+1 {{this op is in no loop that is pipelined with this buffer}}
      %y = wave.read %l index [63 - lane]  : !wave.memory<[64], f32, shared> -> f32
      wave.yield %y : f32
    }
    wave.return
  }
}

// -----

// The wait of a split barrier before its signal.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-note@+1 {{this is the other op: the first is of the same split barrier, 0}}
      wave.barrier_signal 0 {wave.slot = {stage = 1 : i64, order = 1 : i64}}
      // expected-error@+1 {{in the same tile that it depends on}}
      wave.barrier_wait 0 {wave.slot = {stage = 0 : i64, order = 0 : i64}}
      wave.yield %s : f32
    }
    wave.return
  }
}

// -----

// The signal before the wait of the tile before.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{1 tile earlier that it depends on}}
      wave.barrier_signal 0 {wave.slot = {stage = 0 : i64, order = 0 : i64}}
      // expected-note@+1 {{this is the other op: the first is of the same split barrier, 0}}
      wave.barrier_wait 0 {wave.slot = {stage = 1 : i64, order = 1 : i64}}
      wave.yield %s : f32
    }
    wave.return
  }
}

// -----

// An op with an effect that is to move behind the prologue.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{wave.write cannot move to where the steady loop begins: wave.first is for barriers, waits and priorities; take it off}}
    wave.write %z, %a index [lane] {wave.first} : f32, !wave.memory<[512], f32, global>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 2 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

// More stages than make sense.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{the schedule has 100000000 stages and unroll 1; the most are 64 stages and unroll 1024}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 100000000 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

// More tiles a trip than make sense.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{the schedule has 1 stages and unroll 1025; the most are 64 stages and unroll 1024}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1025 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

// Copies that make more tiles a trip than make sense.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %l = wave.allocate {wave.copies = 1025 : i64} : !wave.memory<[64], f32, shared>
    // expected-error@+1 {{unroll 2 and the copies of the loop's buffers make 2050 tiles a trip, and 1024 is the most; take numbers with common factors}}
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 2 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %s : f32
    }
    wave.return
  }
}

// -----

// Copies that are no number.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{wave.copies is "x"; write a number, N : i64}}
    %l = wave.allocate {wave.copies = "x"} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 0 : i64}} : !wave.memory<[512], f32, global> -> f32
      wave.write %x, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %s : f32
    }
    wave.return
  }
}

// -----

// Numbers of more bits than there are.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{wave.copies is 99999999999999999999999 : i128; write a number, N : i64}}
    %l = wave.allocate {wave.copies = 99999999999999999999999 : i128} : !wave.memory<[64], f32, shared>
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      wave.write %s, %l index [lane] {wave.slot = {stage = 0 : i64, order = 1 : i64}} : f32, !wave.memory<[64], f32, shared>
      wave.yield %s : f32
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant 0.0 : f32
    %r = wave.iterate K iv(%k) trips(8) iter_args(%s = %z : f32)
        attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64}} {
      // expected-error@+1 {{wave.slot has to be a dictionary with stage = N : i64, order = N : i64}}
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) {wave.slot = {stage = 0 : i64, order = 99999999999999999999999 : i128}} : !wave.memory<[512], f32, global> -> f32
      wave.yield %x : f32
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @stagger(%a: !wave.memory<[512], f32, global>) symbols {K = 512, BK = 64}
      dynamic [] constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    // expected-error@+1 {{stagger in wave.pipeline is the condition of some waves: #wave.expr<…> over wave.x, …}}
    wave.iterate K iv(%k) trips(8) attributes {wave.pipeline = {stages = 1 : i64, unroll = 1 : i64, stagger = 4 : i64}} {
    }
    wave.return
  }
}
