// RUN: wave-opt %s --split-input-file --wave-fold-conditions | FileCheck %s

// Keys of attention in whole tiles: the select goes, and all that only it needed. In the last tile of 250 keys it stays.
// CHECK-LABEL: @keys(
// CHECK:         wave.iterate K iv(%[[I:.*]]) trips(4)
// CHECK-NEXT:      %[[X:.*]] = wave.read
// CHECK-NEXT:      %[[KEY:.*]] = wave.apply_expr
// CHECK-NEXT:      wave.write %[[X]], %b index
// CHECK-NEXT:      %[[END:.*]] = arith.constant dense<250>
// CHECK-NEXT:      arith.cmpi slt, %[[KEY]], %[[END]]
// CHECK:           arith.select
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @keys(%a: !wave.memory<[K], f32, global>, %b: !wave.memory<[K], f32, global>) symbols {K = 256}
      constraints [#wave.tiling<K, 64>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<4xf32>
    wave.iterate K iv(%k) trips(4) {
      %x = wave.read %a index [iv.K * 64 + lane mod 16 * 4 + el] symbols(iv.K = %k) : !wave.memory<[K], f32, global> -> vector<4xf32>
      %key = wave.apply_expr [iv.K * 64 + lane mod 16 * 4 + el] symbols(iv.K = %k) : vector<4xi32>
      %end = wave.scalar [K] : i32
      %ends = vector.broadcast %end : i32 to vector<4xi32>
      %c = arith.cmpi slt, %key, %ends : vector<4xi32>
      %0 = vector.extract %c[0] : i1 from vector<4xi1>
      %1 = vector.extract %c[1] : i1 from vector<4xi1>
      %2 = vector.extract %c[2] : i1 from vector<4xi1>
      %3 = vector.extract %c[3] : i1 from vector<4xi1>
      %again = vector.from_elements %0, %1, %2, %3 : vector<4xi1>
      %m = wave.mask [lane lt 64] : vector<4xi1>
      %both = arith.andi %again, %m : vector<4xi1>
      %s = arith.select %both, %x, %zero : vector<4xi1>, vector<4xf32>
      wave.write %s, %b mask %m index [iv.K * 64 + lane mod 16 * 4 + el] symbols(iv.K = %k) : vector<4xf32>, !wave.memory<[K], f32, global>
      %less = arith.constant dense<250> : vector<4xi32>
      %d = arith.cmpi slt, %key, %less : vector<4xi32>
      %t = arith.select %d, %x, %zero : vector<4xi1>, vector<4xf32>
      wave.write %t, %b index [iv.K * 64 + lane mod 16 * 4 + el] symbols(iv.K = %k) : vector<4xf32>, !wave.memory<[K], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// A size of run time: folded in the loop of whole tiles, not in the one that runs the rest, whose counter goes on.
// CHECK-LABEL: @whole(
// CHECK:         wave.full
// CHECK-NEXT:    wave.read
// CHECK-NEXT:    wave.write
// CHECK-NEXT:    }
// CHECK:         wave.rest
// CHECK:         arith.cmpi slt
// CHECK:         arith.select
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @whole(%a: !wave.memory<[K], f32, global>, %b: !wave.memory<[K], f32, global>) dynamic [K]
      constraints [#wave.tiling<K, 64>, #wave.hardware<threads_per_wave = 64>] {
    %zero = arith.constant dense<0.0> : vector<1xf32>
    wave.iterate K iv(%k) trips(K floordiv 64) attributes {wave.full = {K = 64 : i64}} {
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) : !wave.memory<[K], f32, global> -> vector<1xf32>
      %key = wave.apply_expr [iv.K * 64 + lane] symbols(iv.K = %k) : vector<1xi32>
      %end = wave.scalar [K] : i32
      %ends = vector.broadcast %end : i32 to vector<1xi32>
      %c = arith.cmpi slt, %key, %ends : vector<1xi32>
      %s = arith.select %c, %x, %zero : vector<1xi1>, vector<1xf32>
      wave.write %s, %b index [iv.K * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[K], f32, global>
      wave.yield
    }
    wave.iterate K iv(%n) trips(K ceildiv 64 - K floordiv 64) attributes {wave.rest} {
      %k = wave.apply_expr [iv.K + K floordiv 64] symbols(iv.K = %n) : index
      %x = wave.read %a index [iv.K * 64 + lane] symbols(iv.K = %k) : !wave.memory<[K], f32, global> -> vector<1xf32>
      %key = wave.apply_expr [iv.K * 64 + lane] symbols(iv.K = %k) : vector<1xindex>
      %end = wave.scalar [K] : index
      %ends = vector.broadcast %end : index to vector<1xindex>
      %c = arith.cmpi slt, %key, %ends : vector<1xindex>
      %s = arith.select %c, %x, %zero : vector<1xi1>, vector<1xf32>
      wave.write %s, %b index [iv.K * 64 + lane] symbols(iv.K = %k) : vector<1xf32>, !wave.memory<[K], f32, global>
      wave.yield
    }
    wave.return
  }
}

// -----

// What never holds, and half of a conjunction. A loaded value may be anything, sums of i8 overflow, and a symbol that
// the kernel sets is not the size of that name.
// CHECK-LABEL: @others(
// CHECK:         %[[N:.*]] = wave.read %t
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0> : vector<1xi32>
// CHECK-NEXT:    wave.write %[[ZERO]], %b
// CHECK:         %[[ODD:.*]] = arith.cmpi sgt, %[[N]], %[[ZERO]]
// CHECK-NEXT:    %[[A:.*]] = arith.select %[[ODD]], %[[N]], %[[ZERO]]
// CHECK-NEXT:    wave.write %[[A]], %b
// CHECK:         %[[SUM:.*]] = arith.addi
// CHECK:         arith.cmpi sge, %[[SUM]]
// CHECK:         wave.mask [lane lt M] symbols(M = %
module attributes {wave.form = "lane", wave.target = "gfx942"} {
  wave.kernel @others(%t: !wave.memory<[M], i32, global>, %b: !wave.memory<[M], i32, global>) symbols {M = 64}
      constraints [#wave.hardware<threads_per_wave = 64>] {
    %n = wave.read %t index [lane] : !wave.memory<[M], i32, global> -> vector<1xi32>
    %zero = arith.constant dense<0> : vector<1xi32>
    %lane = wave.apply_expr [lane] : vector<1xi32>
    %never = arith.cmpi slt, %lane, %zero : vector<1xi32>
    %x = arith.select %never, %n, %zero : vector<1xi1>, vector<1xi32>
    wave.write %x, %b index [lane] : vector<1xi32>, !wave.memory<[M], i32, global>
    %odd = arith.cmpi sgt, %n, %zero : vector<1xi32>
    %always = arith.cmpi sge, %lane, %zero : vector<1xi32>
    %both = arith.andi %always, %odd : vector<1xi1>
    %y = arith.select %both, %n, %zero : vector<1xi1>, vector<1xi32>
    wave.write %y, %b index [lane] : vector<1xi32>, !wave.memory<[M], i32, global>
    %small = wave.apply_expr [lane] : vector<1xi8>
    %hundred = arith.constant dense<100> : vector<1xi8>
    %sum = arith.addi %small, %hundred : vector<1xi8>
    %over = arith.cmpi sge, %sum, %small : vector<1xi8>
    %z = arith.select %over, %n, %zero : vector<1xi1>, vector<1xi32>
    wave.write %z, %b index [lane] : vector<1xi32>, !wave.memory<[M], i32, global>
    %m = wave.mask [lane lt M] symbols(M = %n : vector<1xi32>) : vector<1xi1>
    %w = arith.select %m, %n, %zero : vector<1xi1>, vector<1xi32>
    wave.write %w, %b index [lane] : vector<1xi32>, !wave.memory<[M], i32, global>
    wave.return
  }
}
