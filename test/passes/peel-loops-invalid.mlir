// RUN: not wave-opt %s --wave-peel-loops 2>&1 | FileCheck %s

// Loops are split where accesses have an index for each lane.
// CHECK: error: wave-peel-loops needs a module in form lane, this one is in form tile
module attributes {wave.form = "tile", wave.target = "gfx942"} {}
