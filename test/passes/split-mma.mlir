// RUN: wave-opt %s --wave-split-mma | FileCheck %s

// Each instruction of a chain gets its part of the operands; what else the MMA says is said of each. Outside of the
// loop, and where a kind is one instruction, nothing changes.
// CHECK-LABEL: @k(
// CHECK:         wave.iterate
// CHECK:         %[[X0:.*]] = vector.extract_strided_slice %[[X:.*]] {offsets = [0], sizes = [4]
// CHECK:         %[[Y0:.*]] = vector.extract_strided_slice %[[Y:.*]] {offsets = [0], sizes = [4]
// CHECK:         %[[P:.*]] = wave.mma %[[X0]], %[[Y0]], %{{.*}} kind f32_16x16x16_f16 {wave.transposed} :
// CHECK:         %[[X1:.*]] = vector.extract_strided_slice %[[X]] {offsets = [4], sizes = [4]
// CHECK:         %[[Y1:.*]] = vector.extract_strided_slice %[[Y]] {offsets = [4], sizes = [4]
// CHECK:         %[[Q:.*]] = wave.mma %[[X1]], %[[Y1]], %[[P]] kind f32_16x16x16_f16 {wave.transposed} :
// CHECK:         %[[R:.*]] = wave.mma %[[X0:.*]], %{{.*}}, %[[Q]] kind f32_16x16x16_f16 :
// CHECK:         wave.yield %[[R]]
// CHECK:         wave.mma {{.*}} kind f32_16x16x32_k8_f16
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @k() symbols {K = 64, BK = 32} dynamic []
      constraints [#wave.tiling<K, BK>, #wave.hardware<threads_per_wave = 64>] {
    %x = arith.constant dense<1.0> : vector<8xf16>
    %y = arith.constant dense<2.0> : vector<8xf16>
    %u = arith.constant dense<2.0> : vector<4xf16>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %r = wave.iterate K iv(%k) trips(2) iter_args(%acc = %zero : vector<4xf32>) {
      %z = wave.mma %x, %y, %acc kind f32_16x16x32_k8_f16 {wave.transposed} : vector<8xf16>, vector<8xf16>, vector<4xf32>
      %w = wave.mma %u, %u, %z kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
      wave.yield %w : vector<4xf32>
    }
    %s = wave.mma %x, %y, %r kind f32_16x16x32_k8_f16 : vector<8xf16>, vector<8xf16>, vector<4xf32>
    wave.return
  }
}
