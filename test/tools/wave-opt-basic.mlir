// RUN: wave-opt %s --canonicalize | FileCheck %s
// CHECK: module
// CHECK-NOT: arith.constant
module {
  func.func @f() {
    %0 = arith.constant 1 : i32
    return
  }
}
