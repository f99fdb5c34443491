// RUN: wave-opt %s --split-input-file --wave-finish-rocdl | FileCheck %s

// CHECK: module attributes {{.*}}wave.form = "rocdl"
// CHECK: llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64}
// CHECK-NOT: @__ocml
// CHECK-LABEL: llvm.func @k
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.noundef, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noundef, llvm.writeonly}, %{{.*}}: f32 {llvm.noundef}
// CHECK-SAME: passthrough = {{\[}}["amdgpu-flat-work-group-size", "256,256"], ["amdgpu-agpr-alloc", "0"], ["uniform-work-group-size", "true"]]
// CHECK: %[[E:.*]] = llvm.intr.exp2(%{{.*}}) : (f32) -> f32
// CHECK: llvm.frem %[[E]], %{{.*}} : f32
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    llvm.func @__ocml_exp2_f32(f32) -> f32
    llvm.func @__ocml_fmod_f32(f32, f32) -> f32
    llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<64 x i8>
    llvm.func @k(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %x: f32) attributes {
        gpu.known_block_size = array<i32: 128, 2, 1>, rocdl.kernel, rocdl.flat_work_group_size = "1,1024",
        wave.args = [{kind = "memory", name = "a", dtype = f32, shape = [#wave.expr<1>], access = "read"}, {kind = "memory", name = "b", dtype = f32, shape = [#wave.expr<1>], access = "write"},
                     {kind = "scalar", name = "x", dtype = f32}]} {
      %0 = llvm.call @__ocml_exp2_f32(%x) : (f32) -> f32
      %1 = llvm.call @__ocml_fmod_f32(%0, %x) : (f32, f32) -> f32
      llvm.store %1, %b : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}

// -----

// A loop that carries most of the registers: LLVM has to order for few registers, not for early loads.
// CHECK-LABEL: llvm.func @tight
// CHECK-SAME: ["uniform-work-group-size", "true"], ["amdgpu-sched-strategy", "iterative-minreg"]]
// CHECK-LABEL: llvm.func @roomy
// CHECK-SAME: ["uniform-work-group-size", "true"]]
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    llvm.func @tight(%c: i1) attributes {gpu.known_block_size = array<i32: 64, 1, 1>, rocdl.kernel, wave.args = [{kind = "scalar", name = "c", dtype = i1}]} {
      %0 = llvm.mlir.zero : vector<96xf32>
      %1 = llvm.mlir.zero : vector<192xf16>
      llvm.br ^bb1(%0, %1 : vector<96xf32>, vector<192xf16>)
    ^bb1(%2: vector<96xf32>, %3: vector<192xf16>):
      llvm.cond_br %c, ^bb1(%2, %3 : vector<96xf32>, vector<192xf16>), ^bb2
    ^bb2:
      llvm.return
    }
    llvm.func @roomy(%c: i1) attributes {gpu.known_block_size = array<i32: 64, 1, 1>, rocdl.kernel, wave.args = [{kind = "scalar", name = "c", dtype = i1}]} {
      %0 = llvm.mlir.zero : vector<96xf32>
      %1 = llvm.mlir.zero : vector<190xf16>
      llvm.br ^bb1(%0, %1 : vector<96xf32>, vector<190xf16>)
    ^bb1(%2: vector<96xf32>, %3: vector<190xf16>):
      llvm.cond_br %c, ^bb1(%2, %3 : vector<96xf32>, vector<190xf16>), ^bb2
    ^bb2:
      llvm.return
    }
  }
}

// -----

// LDS beyond 64 KiB: constants from there on are counted from a base that LLVM cannot see through, one a window.
// CHECK-LABEL: llvm.func @far
// CHECK:         %[[L:.*]] = llvm.mlir.addressof @far_lds
// CHECK:         %[[W:.*]] = llvm.getelementptr %[[L]][65536] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK-NEXT:    %[[F:.*]] = llvm.inline_asm "", "=s,0" %[[W]] : (!llvm.ptr<3>) -> !llvm.ptr<3>
// CHECK:         llvm.getelementptr %[[L]][2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         llvm.getelementptr %[[F]][2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         llvm.getelementptr %[[F]][0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK-NOT:     llvm.inline_asm
module attributes {wave.form = "gpu", wave.target = "gfx950"} {
  gpu.module @m {
    llvm.mlir.global internal @far_lds() {addr_space = 3 : i32} : !llvm.array<131072 x i8>
    llvm.func @far(%b: !llvm.ptr<1>) attributes {
        gpu.known_block_size = array<i32: 64, 1, 1>, rocdl.kernel,
        wave.args = [{kind = "memory", name = "b", dtype = f32, shape = [#wave.expr<1>], access = "write"}]} {
      %lds = llvm.mlir.addressof @far_lds : !llvm.ptr<3>
      %near = llvm.getelementptr %lds[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %x = llvm.load %near : !llvm.ptr<3> -> f32
      %p = llvm.getelementptr %lds[67584] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %y = llvm.load %p : !llvm.ptr<3> -> f32
      %q = llvm.getelementptr %lds[65536] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %z = llvm.load %q : !llvm.ptr<3> -> f32
      llvm.store %x, %b : f32, !llvm.ptr<1>
      llvm.store %y, %b : f32, !llvm.ptr<1>
      llvm.store %z, %b : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
