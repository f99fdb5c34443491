// RUN: wave-opt %s --split-input-file --wave-schedule="strategy=modulo copies=3" --verify-diagnostics

// A module in another form than the one the pass starts from.
// expected-error@+1 {{wave-schedule needs a module in form lane, this one is in form staged}}
module attributes {wave.form = "staged", wave.target = "gfx942"} {
}

// -----

// A conditional in the body; the loop stays as it is, and a loop around a loop is not looked at.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @conditional(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic [T]
      constraints [#wave.hardware<threads_per_wave = 64>] {
    wave.iterate L iv(%l) trips(3) {
      // expected-warning@+1 {{this loop is not scheduled: 'wave.conditional' inside of it has a body of its own; it runs as it is written}}
      wave.iterate K iv(%k) trips(16) {
        // expected-note@+1 {{this op is in the way}}
        wave.conditional [T gt 0] {
        }
      }
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @log(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = arith.constant dense<0.0> : vector<1xf32>
    // expected-warning@+1 {{this loop is not scheduled: 'wave.debug_log' cannot be moved; it runs as it is written}}
    wave.iterate K iv(%k) trips(16) {
      // expected-note@+1 {{this op is in the way}}
      wave.debug_log %x "x" : vector<1xf32>
    }
    wave.return
  }
}

// -----

// Three copies of 32 KiB are more than there is.
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @room(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] {
    // expected-note@+1 {{32768 bytes a copy}}
    %l = wave.allocate : !wave.memory<[8192], f32, shared>
    %x = arith.constant dense<0.0> : vector<1xf32>
    // expected-error@+1 {{3 copies of this loop's LDS buffers take 65536 bytes more, and 32768 are free; ask for fewer copies or use smaller tiles}}
    %sum = wave.iterate K iv(%k) trips(16) iter_args(%acc = %x : vector<1xf32>) {
      wave.write %x, %l index [lane] : vector<1xf32>, !wave.memory<[8192], f32, shared>
      %y = wave.read %l index [lane] : !wave.memory<[8192], f32, shared> -> vector<1xf32>
      %z = arith.addf %acc, %y : vector<1xf32>
      wave.yield %z : vector<1xf32>
    }
    wave.return
  }
}

// -----

module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @while(%a: !wave.memory<[M], f32, global>) symbols {M = 64} dynamic []
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant 0 : index
    // expected-warning@+1 {{this loop is not scheduled: its trips end by a condition that each trip decides; it runs as it is written}}
    wave.iterate K iv(%k) start(%zero : index) condition(K lt 8) {
      wave.yield %k : index
    }
    wave.return
  }
}
