// RUN: wave-opt %s | wave-opt | FileCheck %s
// Expressions print in canonical form, and what is printed parses to the same expression.

// CHECK: module attributes
module attributes {
  // Sums: flattened, like terms merged, uniform symbols before those of a lane, the constant last.
  // CHECK-SAME: t.a00 = #wave.expr<wg.x * 64 + iv.K * 32 + M + lane mod 16 + 3>
  t.a00 = #wave.expr<1 + lane mod 16 + wg.x * 64 + (2 + iv.K * 32) + M>,
  // CHECK-SAME: t.a01 = #wave.expr<a - b * 3 - 1>
  t.a01 = #wave.expr<a + b - 4 * b - 1>,
  // CHECK-SAME: t.a02 = #wave.expr<0>
  t.a02 = #wave.expr<a - a>,
  // CHECK-SAME: t.a03 = #wave.expr<-a + b>
  t.a03 = #wave.expr<b - a>,
  // Products distribute over constants only.
  // CHECK-SAME: t.b00 = #wave.expr<a * 12 + b * 4 + 8>
  t.b00 = #wave.expr<4 * (a * 3 + b + 2)>,
  // CHECK-SAME: t.b01 = #wave.expr<K * (a + b) * 2>
  t.b01 = #wave.expr<(a * 2 + 2 * b) * K>,
  // CHECK-SAME: t.b02 = #wave.expr<lane mod 4 * 8>
  t.b02 = #wave.expr<lane mod 4 * 8>,
  // Divisions: multiples leave, common factors cancel, nested ones merge.
  // CHECK-SAME: t.c00 = #wave.expr<a + l floordiv 64>
  t.c00 = #wave.expr<(a * 64 + l) floordiv 64>,
  // CHECK-SAME: t.c01 = #wave.expr<x floordiv 12>
  t.c01 = #wave.expr<x floordiv 4 floordiv 3>,
  // CHECK-SAME: t.c02 = #wave.expr<M ceildiv 64>
  t.c02 = #wave.expr<(M + 63) floordiv 64>,
  // CHECK-SAME: t.c03 = #wave.expr<x floordiv 4 mod 16>
  t.c03 = #wave.expr<(x mod 64) floordiv 4>,
  // CHECK-SAME: t.c04 = #wave.expr<x mod 4>
  t.c04 = #wave.expr<(x mod 8 + y * 4) mod 4>,
  // CHECK-SAME: t.c05 = #wave.expr<-x floordiv 3>
  t.c05 = #wave.expr<x floordiv -3>,
  // CHECK-SAME: t.c06 = #wave.expr<a + b floordiv K>
  t.c06 = #wave.expr<(a * K + b) floordiv K>,
  // CHECK-SAME: t.c07 = #wave.expr<x floordiv (y * 2)>
  t.c07 = #wave.expr<x floordiv (y * 2)>,
  // CHECK-SAME: t.c08 = #wave.expr<-4>
  t.c08 = #wave.expr<-7 floordiv 2>,
  // CHECK-SAME: t.c09 = #wave.expr<-1>
  t.c09 = #wave.expr<7 mod -2>,
  // CHECK-SAME: t.d00 = #wave.expr<min(a, b, 5)>
  t.d00 = #wave.expr<min(min(b, 7), a, b + 2, 5)>,
  // CHECK-SAME: t.d01 = #wave.expr<a xor 3>
  t.d01 = #wave.expr<b xor 1 xor a xor b xor 2>,
  // Comparisons: positive terms on each side, divided by their common factor.
  // CHECK-SAME: t.e00 = #wave.expr<x lt 16>
  t.e00 = #wave.expr<x le 15>,
  // CHECK-SAME: t.e01 = #wave.expr<0 le x>
  t.e01 = #wave.expr<x ge 0>,
  // CHECK-SAME: t.e02 = #wave.expr<a + 3 lt b * 2>
  t.e02 = #wave.expr<b * 6 gt a * 3 + 9>,
  // CHECK-SAME: t.e03 = #wave.expr<0>
  t.e03 = #wave.expr<a * 4 eq b * 2 + 1>,
  // CHECK-SAME: t.f00 = #wave.expr<a lt b and c ne 0 or d eq 1>
  t.f00 = #wave.expr<(c and b gt a) or d eq 1>,
  // CHECK-SAME: t.f01 = #wave.expr<select(a lt b, a, b)>
  t.f01 = #wave.expr<select(a lt b, a, b)>,
  // What does not fit 64 bits stays as it is written.
  // CHECK-SAME: t.g00 = #wave.expr<9223372036854775807 + 1>
  t.g00 = #wave.expr<9223372036854775807 + 1>,
  // CHECK-SAME: t.g01 = #wave.expr<x * 9223372036854775807 * 2>
  t.g01 = #wave.expr<x * 9223372036854775807 * 2>,
  // CHECK-SAME: t.g02 = #wave.expr<-9223372036854775808>
  t.g02 = #wave.expr<-9223372036854775808>
} {}
