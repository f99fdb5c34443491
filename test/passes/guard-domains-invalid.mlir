// RUN: wave-opt %s --split-input-file --verify-diagnostics --wave-guard-domains

// Layouts come first.
// expected-error@+1 {{wave-guard-domains needs a module in form placed, this one is in form typed: run the pipeline 'typed-to-placed' first}}
module attributes {wave.form = "typed", wave.target = "gfx942"} {
}

// -----

// Which of a lane's elements is which does not follow from the coordinate by division: waves begin in between.
#odd = #wave.layout<[M = 108], reg = [4 : M * 1], lane = [16 : M * 4], wave.x = [2 : M * 54], clip = [M = 54]>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 108} constraints [#wave.hardware<threads_per_wave = 64, waves_per_block = [2, 1, 1]>] {
    %x = wave.read %a index [at.M] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #odd>
    // expected-error@+1 {{which of a lane's elements along M one is does not follow from its coordinate in this layout; take the slice of a value whose lanes hold neighbours or equally spaced elements}}
    %s = wave.extract_slice %x offsets [0] sizes [2] strides [1] : !wave.tile<[M], f32, #odd> -> !wave.tile<[M], f32, #odd>
    wave.write %s, %a index [at.M] : !wave.tile<[M], f32, #odd>, !wave.memory<[M], f32, global>
    wave.return
  }
}

// -----

// A part of a part that has moved.
#near = #wave.layout<[M = 256], reg = [4 : M * 1], lane = [64 : M * 4]>
#far = #wave.layout<[M = 256], reg = [4 : M * 64], lane = [64 : M * 1]>
module attributes {wave.form = "placed", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[M], f32, global>) symbols {M = 256} constraints [#wave.hardware<threads_per_wave = 64>] {
    %x = wave.read %a index [at.M] : !wave.memory<[M], f32, global> -> !wave.tile<[M], f32, #near>
    %s = wave.extract_slice %x offsets [0] sizes [2] strides [1] : !wave.tile<[M], f32, #near> -> !wave.tile<[M], f32, #near>
    %y = wave.relayout %s : !wave.tile<[M], f32, #near> -> !wave.tile<[M], f32, #far>
    // expected-error@+1 {{this is a part of a part whose elements have moved to other lanes; take both parts before they move, or the other one first}}
    %t = wave.extract_slice %y offsets [0] sizes [2] strides [1] : !wave.tile<[M], f32, #far> -> !wave.tile<[M], f32, #far>
    wave.write %t, %a index [at.M] : !wave.tile<[M], f32, #far>, !wave.memory<[M], f32, global>
    wave.return
  }
}
