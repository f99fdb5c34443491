// RUN: wave-opt %s --split-input-file --wave-expand-casts | FileCheck %s
// RUN: wave-opt %s --split-input-file --wave-expand-casts=target=gfx950 | FileCheck %s --check-prefix=OCP

// To 32 bits the instruction saturates; less is cut in integers; a bf16 is computed in f32.
// CHECK-LABEL: gpu.func @to_integers
// CHECK: %[[WORD:.*]] = arith.fptosi %{{.*}} : f32 to i32
// CHECK: %[[LOW:.*]] = arith.maxsi %[[WORD]], %{{.*}} : i32
// CHECK: %[[CUT:.*]] = arith.minsi %[[LOW]], %{{.*}} : i32
// CHECK: arith.trunci %[[CUT]] : i32 to i8
// CHECK: llvm.call_intrinsic "llvm.fptosi.sat"(%{{.*}}) : (f32) -> i64
// CHECK: arith.fptosi %{{.*}} : f32 to i32
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @to_integers(%x: f32, %o: memref<?xi8, #gpu.address_space<global>>,
                          %p: memref<?xi64, #gpu.address_space<global>>, %q: memref<?xi32, #gpu.address_space<global>>) {
      %c0 = arith.constant 0 : index
      %0 = arith.fptosi %x : f32 to i8
      memref.store %0, %o[%c0] : memref<?xi8, #gpu.address_space<global>>
      %1 = arith.fptosi %x : f32 to i64
      memref.store %1, %p[%c0] : memref<?xi64, #gpu.address_space<global>>
      %2 = arith.fptosi %x : f32 to i32
      memref.store %2, %q[%c0] : memref<?xi32, #gpu.address_space<global>>
      gpu.return
    }
  }
}

// -----

// A flavor of the target's own stays, but from f64 it is rounded to odd in f32 first; another one is taken apart.
// CHECK-LABEL: gpu.func @eight_bits
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FNUZ
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FNUZ
// CHECK-NOT: arith.truncf
// CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
// OCP-LABEL: gpu.func @eight_bits
// OCP: arith.bitcast %{{.*}} : i8 to f8E4M3FNUZ
// OCP: arith.bitcast %{{.*}} : i8 to f8E4M3FNUZ
// OCP: arith.truncf %{{.*}} : f32 to f8E4M3FN
module attributes {wave.form = "gpu", wave.target = "gfx942"} {
  gpu.module @m {
    gpu.func @eight_bits(%x: f32, %y: f64, %o: memref<?xf8E4M3FNUZ, #gpu.address_space<global>>,
                         %p: memref<?xf8E4M3FN, #gpu.address_space<global>>) {
      %c0 = arith.constant 0 : index
      %0 = arith.truncf %x : f32 to f8E4M3FNUZ
      memref.store %0, %o[%c0] : memref<?xf8E4M3FNUZ, #gpu.address_space<global>>
      %1 = arith.truncf %y : f64 to f8E4M3FNUZ
      memref.store %1, %o[%c0] : memref<?xf8E4M3FNUZ, #gpu.address_space<global>>
      %2 = arith.truncf %x : f32 to f8E4M3FN
      memref.store %2, %p[%c0] : memref<?xf8E4M3FN, #gpu.address_space<global>>
      gpu.return
    }
  }
}
