// RUN: wave-opt %s --wave-place-waits | FileCheck %s

// One load: its use waits for it, and LLVM does that. Three loads one after the other: the first use of a trip covers
// the second, and leaves one under way. The last loop is no steady loop.
// CHECK-LABEL: @k(
// CHECK-NOT:     wave.memory_counter_wait
// CHECK:         wave.iterate
// CHECK-NOT:     wave.memory_counter_wait
// CHECK:         wave.iterate
// CHECK:           arith.addf
// CHECK-NEXT:      wave.memory_counter_wait load 1
// CHECK-NEXT:      wave.scheduling_barrier
// CHECK-NEXT:      wave.write %{{.*}}, %{{.*}} index [lane * 4]
// CHECK-NOT:     wave.memory_counter_wait
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k(%a: !wave.memory<[256], f32, global>) symbols {K = 512, BK = 64} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %z = arith.constant dense<0.0> : vector<4xf32>
    %f = arith.constant dense<0.0> : vector<8xf8E4M3FNUZ>
    %t = arith.constant dense<0.0> : vector<16xf32>
    %l = wave.allocate : !wave.memory<[512], f32, shared>
    %s:2 = wave.iterate K iv(%k) trips(8) iter_args(%u = %z : vector<4xf32>, %v = %z : vector<4xf32>)
        attributes {wave.steady = 1 : i64} {
      wave.write %u, %l index [lane * 4] : vector<4xf32>, !wave.memory<[512], f32, shared>
      %x = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %m = wave.mma %f, %f, %v kind f32_16x16x32_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<4xf32>
      wave.yield %x, %m : vector<4xf32>, vector<4xf32>
    }
    %g:5 = wave.iterate K iv(%k) trips(8) iter_args(%u = %z : vector<4xf32>, %v = %t : vector<16xf32>, %w = %z : vector<4xf32>,
                                                    %q = %z : vector<4xf32>, %d = %z : vector<4xf32>) attributes {wave.steady = 1 : i64} {
      %n = arith.addf %q, %q : vector<4xf32>
      wave.write %u, %l index [lane * 4] : vector<4xf32>, !wave.memory<[512], f32, shared>
      wave.write %w, %l index [lane * 4 + 256] : vector<4xf32>, !wave.memory<[512], f32, shared>
      %x = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %y = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %p = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %m0 = wave.mma %f, %f, %v kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m1 = wave.mma %f, %f, %m0 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m2 = wave.mma %f, %f, %m1 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m3 = wave.mma %f, %f, %m2 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m4 = wave.mma %f, %f, %m3 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m5 = wave.mma %f, %f, %m4 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m6 = wave.mma %f, %f, %m5 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m7 = wave.mma %f, %f, %m6 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m8 = wave.mma %f, %f, %m7 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m9 = wave.mma %f, %f, %m8 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m10 = wave.mma %f, %f, %m9 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m11 = wave.mma %f, %f, %m10 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m12 = wave.mma %f, %f, %m11 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m13 = wave.mma %f, %f, %m12 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m14 = wave.mma %f, %f, %m13 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m15 = wave.mma %f, %f, %m14 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m16 = wave.mma %f, %f, %m15 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m17 = wave.mma %f, %f, %m16 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m18 = wave.mma %f, %f, %m17 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m19 = wave.mma %f, %f, %m18 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m20 = wave.mma %f, %f, %m19 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m21 = wave.mma %f, %f, %m20 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m22 = wave.mma %f, %f, %m21 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m23 = wave.mma %f, %f, %m22 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m24 = wave.mma %f, %f, %m23 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m25 = wave.mma %f, %f, %m24 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m26 = wave.mma %f, %f, %m25 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m27 = wave.mma %f, %f, %m26 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m28 = wave.mma %f, %f, %m27 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m29 = wave.mma %f, %f, %m28 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m30 = wave.mma %f, %f, %m29 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m31 = wave.mma %f, %f, %m30 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %r = wave.read %l index [lane * 4] : !wave.memory<[512], f32, shared> -> vector<4xf32>
      wave.write %d, %l index [lane * 4] : vector<4xf32>, !wave.memory<[512], f32, shared>
      wave.yield %x, %m31, %y, %r, %p : vector<4xf32>, vector<16xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
    }
    %h:5 = wave.iterate K iv(%k) trips(8) iter_args(%u = %z : vector<4xf32>, %v = %t : vector<16xf32>, %w = %z : vector<4xf32>,
                                                    %q = %z : vector<4xf32>, %d = %z : vector<4xf32>) {
      %n = arith.addf %q, %q : vector<4xf32>
      wave.write %u, %l index [lane * 4] : vector<4xf32>, !wave.memory<[512], f32, shared>
      wave.write %w, %l index [lane * 4 + 256] : vector<4xf32>, !wave.memory<[512], f32, shared>
      %x = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %y = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %p = wave.read %a index [lane * 4] : !wave.memory<[256], f32, global> -> vector<4xf32>
      %m0 = wave.mma %f, %f, %v kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m1 = wave.mma %f, %f, %m0 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m2 = wave.mma %f, %f, %m1 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m3 = wave.mma %f, %f, %m2 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m4 = wave.mma %f, %f, %m3 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m5 = wave.mma %f, %f, %m4 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m6 = wave.mma %f, %f, %m5 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m7 = wave.mma %f, %f, %m6 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m8 = wave.mma %f, %f, %m7 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m9 = wave.mma %f, %f, %m8 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m10 = wave.mma %f, %f, %m9 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m11 = wave.mma %f, %f, %m10 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m12 = wave.mma %f, %f, %m11 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m13 = wave.mma %f, %f, %m12 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m14 = wave.mma %f, %f, %m13 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m15 = wave.mma %f, %f, %m14 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m16 = wave.mma %f, %f, %m15 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m17 = wave.mma %f, %f, %m16 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m18 = wave.mma %f, %f, %m17 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m19 = wave.mma %f, %f, %m18 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m20 = wave.mma %f, %f, %m19 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m21 = wave.mma %f, %f, %m20 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m22 = wave.mma %f, %f, %m21 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m23 = wave.mma %f, %f, %m22 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m24 = wave.mma %f, %f, %m23 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m25 = wave.mma %f, %f, %m24 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m26 = wave.mma %f, %f, %m25 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m27 = wave.mma %f, %f, %m26 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m28 = wave.mma %f, %f, %m27 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m29 = wave.mma %f, %f, %m28 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m30 = wave.mma %f, %f, %m29 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %m31 = wave.mma %f, %f, %m30 kind f32_32x32x16_f8e4m3fnuz : vector<8xf8E4M3FNUZ>, vector<8xf8E4M3FNUZ>, vector<16xf32>
      %r = wave.read %l index [lane * 4] : !wave.memory<[512], f32, shared> -> vector<4xf32>
      wave.write %d, %l index [lane * 4] : vector<4xf32>, !wave.memory<[512], f32, shared>
      wave.yield %x, %m31, %y, %r, %p : vector<4xf32>, vector<16xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
    }
    wave.return
  }
}
