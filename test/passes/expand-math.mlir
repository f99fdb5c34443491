// RUN: wave-opt %s --split-input-file --wave-expand-math | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-expand-math=fast | FileCheck %s --check-prefix=FAST

// f32: arithmetic alone; no other function and no division by an instruction that is not exact is left.
// CHECK-LABEL: gpu.func @tanh
// CHECK-NOT: math.tanh
// CHECK: math.fma
// CHECK: arith.divf %{{[^,]*}}, %{{[^,]*}} : vector<4xf32>
// CHECK: math.copysign
// FAST-LABEL: gpu.func @tanh
// FAST-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.exp2"(%{{.*}}) : (f32)
// FAST: arith.divf %{{.*}} fastmath<{{.*}}afn{{.*}}> : vector<4xf32>
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @tanh(%x: vector<4xf32>, %o: memref<?xf32, #gpu.address_space<global>>) {
      %c0 = arith.constant 0 : index
      %y = math.tanh %x : vector<4xf32>
      vector.store %y, %o[%c0] : memref<?xf32, #gpu.address_space<global>>, vector<4xf32>
      gpu.return
    }
  }
}

// -----

// Large arguments go through a branch, which f16 has no use for: it is computed in f32 and rounded once.
// CHECK-LABEL: gpu.func @sin
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: scf.if
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: scf.if %{{.*}} -> (i32, f32, f32)
// CHECK: arith.mului_extended
// CHECK: scf.if %{{.*}} -> (i64, f64, f64)
// CHECK-NOT: math.sin
// FAST-LABEL: gpu.func @sin
// FAST: llvm.call_intrinsic "llvm.sin"(%{{.*}}) {{.*}} : (f32) -> f32
// FAST: llvm.call_intrinsic "llvm.sin"(%{{.*}}) {{.*}} : (f32) -> f32
// A quotient may be a product with a reciprocal. There is no approximate form in f64.
// FAST: arith.divf %{{.*}} fastmath<arcp,contract,afn> : f32
// FAST: scf.if %{{.*}} -> (i64, f64, f64)
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @sin(%x: f16, %y: f32, %z: f64, %o: memref<?xf16, #gpu.address_space<global>>,
                  %p: memref<?xf32, #gpu.address_space<global>>, %q: memref<?xf64, #gpu.address_space<global>>) {
      %c0 = arith.constant 0 : index
      %0 = math.sin %x : f16
      memref.store %0, %o[%c0] : memref<?xf16, #gpu.address_space<global>>
      %s = math.sin %y : f32
      %1 = arith.divf %s, %y : f32
      memref.store %1, %p[%c0] : memref<?xf32, #gpu.address_space<global>>
      %2 = math.sin %z : f64
      memref.store %2, %q[%c0] : memref<?xf64, #gpu.address_space<global>>
      gpu.return
    }
  }
}

// -----

// What LLVM does well stays, f16 goes through f32 where it does not, and afn asks for the instruction.
// CHECK-LABEL: gpu.func @stay
// CHECK: math.exp2 %{{.*}} : f32
// CHECK: math.log2 %{{.*}} : f16
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: math.log %[[WIDE]] : f32
// CHECK: llvm.call_intrinsic "llvm.amdgcn.exp2"(%{{.*}}) : (f32) -> f32
// CHECK: arith.remf %{{.*}} : f32
// CHECK-NOT: bf16 to f32
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @stay(%x: f16, %y: f32, %z: bf16, %o: memref<?xf16, #gpu.address_space<global>>,
                   %p: memref<?xf32, #gpu.address_space<global>>, %q: memref<?xbf16, #gpu.address_space<global>>) {
      %c0 = arith.constant 0 : index
      %0 = math.exp2 %y : f32
      %1 = math.log2 %x : f16
      %2 = math.log %1 : f16
      memref.store %2, %o[%c0] : memref<?xf16, #gpu.address_space<global>>
      %3 = math.exp2 %0 fastmath<afn> : f32
      memref.store %3, %p[%c0] : memref<?xf32, #gpu.address_space<global>>
      %4 = arith.remf %z, %z : bf16
      memref.store %4, %q[%c0] : memref<?xbf16, #gpu.address_space<global>>
      gpu.return
    }
  }
}
