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
    // expected-error@+1 {{this op is in no loop, and tiles take turns with 2 copies of the buffer that it accesses; take wave.copies off the buffer}}
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
