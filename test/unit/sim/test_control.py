"""Structured control flow with lanes, waves and workgroups that go different ways."""

from __future__ import annotations

import numpy as np
import pytest
from sim_harness import GLOBAL, kernel, lanewise, run_text

LANE = np.arange(64)


def test_if_with_results_and_nesting():
    body = """
      %c10 = arith.constant 10 : index
      %c50 = arith.constant 50 : index
      %c2 = arith.constant 2 : index
      %low = arith.cmpi ult, %lane, %c10 : index
      %y0, %y1 = scf.if %low -> (index, index) {
        %t = arith.muli %lane, %c2 : index
        scf.yield %t, %c10 : index, index
      } else {
        %high = arith.cmpi ugt, %lane, %c50 : index
        %u = scf.if %high -> index {
          scf.yield %c50 : index
        } else {
          %v = arith.addi %lane, %c2 : index
          scf.yield %v : index
        }
        scf.yield %u, %lane : index, index
      }"""
    got = lanewise(body, [], ["index", "index"])
    np.testing.assert_array_equal(got[0], np.where(LANE < 10, 2 * LANE, np.where(LANE > 50, 50, LANE + 2)))
    np.testing.assert_array_equal(got[1], np.where(LANE < 10, 10, LANE))


@pytest.mark.parametrize("trips", ["%lane", "%c0", "%c5"])
def test_for_with_lane_trip_counts(trips):
    body = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %y0, %y1 = scf.for %i = %c0 to {trips} step %c1 iter_args(%s = %c0, %p = %c1) -> (index, index) {{
        %t = arith.addi %s, %i : index
        scf.yield %t, %s : index, index
      }}"""
    got = lanewise(body, [], ["index", "index"])
    for lane in range(64):
        s, p = 0, 1
        for i in range({"%lane": lane, "%c0": 0, "%c5": 5}[trips]):
            s, p = s + i, s
        assert (got[0][lane], got[1][lane]) == (s, p)


def collatz(n: int) -> tuple[int, int]:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return n, steps


def test_while_that_ends_lane_by_lane():
    body = """
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %y0, %y1 = scf.while (%n = %x0, %k = %c0) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi sgt, %n, %c1 : i32
        scf.condition(%go) %n, %k : i32, i32
      } do {
      ^bb0(%m: i32, %j: i32):
        %r = arith.remsi %m, %c2 : i32
        %even = arith.cmpi eq, %r, %c0 : i32
        %next = scf.if %even -> i32 {
          %h = arith.divsi %m, %c2 : i32
          scf.yield %h : i32
        } else {
          %t = arith.muli %m, %c3 : i32
          %u = arith.addi %t, %c1 : i32
          scf.yield %u : i32
        }
        %q = arith.addi %j, %c1 : i32
        scf.yield %next, %q : i32, i32
      }"""
    values = np.arange(1, 65).astype(np.int32)
    got = lanewise(body, [("i32", values)], ["i32", "i32"])
    assert [tuple(map(int, pair)) for pair in zip(*got, strict=True)] == [collatz(int(v)) for v in values]


def test_index_switch_and_execute_region():
    body = """
      %c4 = arith.constant 4 : index
      %c9 = arith.constant 9 : index
      %k = arith.remui %lane, %c4 : index
      %y0 = scf.index_switch %k -> index
      case 1 { scf.yield %lane : index }
      case 3 { scf.yield %c9 : index }
      default { scf.yield %c4 : index }
      %y1 = scf.execute_region -> index { scf.yield %k : index }"""
    got = lanewise(body, [], ["index", "index"])
    want = np.where(LANE % 4 == 1, LANE, np.where(LANE % 4 == 3, 9, 4))
    np.testing.assert_array_equal(got[0], want)
    np.testing.assert_array_equal(got[1], LANE % 4)


WAVES = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %w = arith.divui %t, %c64 : index
      %base = arith.muli %b, %c256 : index
      %at = arith.addi %base, %t : index
      %s = memref.view %lds[%c0][] : memref<2048xi8, #gpu.address_space<workgroup>>
          to memref<256xi64, #gpu.address_space<workgroup>>
      BODY
      %out = arith.index_cast %r : index to i64
      memref.store %out, %o[%at] : memref<?xi64, {GLOBAL}>"""


def run_waves(body: str, order: str, groups: int = 3) -> np.ndarray:
    o = np.zeros(256 * groups, np.int64)
    text = kernel(WAVES.replace("BODY", body), f"%o: memref<?xi64, {GLOBAL}>", block=(256, 1, 1), lds=2048)
    run_text(text, [o], grid=(groups, 1, 1), order=order, seed=11)
    return o.reshape(groups, 256)


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_workgroups_with_their_own_trip_counts(order):
    """A loop with barriers whose trip count differs between workgroups; each trip rotates LDS by one."""
    body = """
      %v = arith.index_cast %t : index to i64
      memref.store %v, %s[%t] : memref<256xi64, #gpu.address_space<workgroup>>
      %n = arith.addi %t, %c1 : index
      %next = arith.remui %n, %c256 : index
      scf.for %i = %c0 to %b step %c1 {
        gpu.barrier
        %x = memref.load %s[%next] : memref<256xi64, #gpu.address_space<workgroup>>
        gpu.barrier
        memref.store %x, %s[%t] : memref<256xi64, #gpu.address_space<workgroup>>
      }
      %y = memref.load %s[%t] : memref<256xi64, #gpu.address_space<workgroup>>
      %r = arith.index_cast %y : i64 to index"""
    got = run_waves(body, order)
    for group in range(3):
        np.testing.assert_array_equal(got[group], (np.arange(256) + group) % 256)


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_producer_and_consumer_waves(order):
    """Wave 0 produces, the others consume: equally many barriers at different places."""
    body = """
      %producer = arith.cmpi eq, %w, %c0 : index
      %r = scf.if %producer -> index {
        %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%k = %c0) -> index {
          %v = arith.addi %t, %i : index
          %vi = arith.index_cast %v : index to i64
          memref.store %vi, %s[%t] : memref<256xi64, #gpu.address_space<workgroup>>
          amdgpu.lds_barrier
          amdgpu.lds_barrier
          scf.yield %v : index
        }
        scf.yield %last : index
      } else {
        %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%k = %c0) -> index {
          amdgpu.lds_barrier
          %l = arith.remui %t, %c64 : index
          %x = memref.load %s[%l] : memref<256xi64, #gpu.address_space<workgroup>>
          %xi = arith.index_cast %x : i64 to index
          %n = arith.addi %k, %xi : index
          amdgpu.lds_barrier
          scf.yield %n : index
        }
        scf.yield %sum : index
      }"""
    got = run_waves(body, order)
    lane = np.arange(256) % 64
    want = np.where(np.arange(256) < 64, lane + 3, 4 * lane + 6)
    for group in range(3):
        np.testing.assert_array_equal(got[group], want)


@pytest.mark.parametrize("order", ["forward", "random"])
def test_while_with_barriers_that_waves_leave_together(order):
    body = """
      %r = scf.while (%k = %b) : (index) -> index {
        gpu.barrier
        %go = arith.cmpi ult, %k, %c4 : index
        scf.condition(%go) %k : index
      } do {
      ^bb0(%j: index):
        %n = arith.addi %j, %c1 : index
        scf.yield %n : index
      }"""
    got = run_waves(body, order, groups=6)
    np.testing.assert_array_equal(got, np.maximum(np.arange(6), 4)[:, None] + np.zeros((6, 256), int))


def test_rotating_buffers_as_loop_values():
    body = """
      %p = memref.subview %s[%c0] [64] [1] : memref<256xi64, #gpu.address_space<workgroup>>
          to memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      %q = memref.subview %s[%c64] [64] [1] : memref<256xi64, #gpu.address_space<workgroup>>
          to memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
      %l = arith.remui %t, %c64 : index
      %first = arith.cmpi eq, %w, %c0 : index
      scf.if %first {
        %x:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %p, %z = %q)
            -> (memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
                memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>) {
          %ii = arith.index_cast %i : index to i64
          memref.store %ii, %a[%l] : memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
          scf.yield %z, %a : memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>,
              memref<64xi64, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
        }
      }
      gpu.barrier
      %c128 = arith.constant 128 : index
      %h = arith.remui %t, %c128 : index
      %y = memref.load %s[%h] : memref<256xi64, #gpu.address_space<workgroup>>
      %r = arith.index_cast %y : i64 to index"""
    got = run_waves(body, "forward")
    np.testing.assert_array_equal(got[0], np.where(np.arange(256) % 128 < 64, 2, 3))


def test_partial_last_wave():
    o = np.zeros(100, np.int64)
    text = kernel(
        f"""
      %t = gpu.thread_id x
      %v = arith.index_cast %t : index to i64
      gpu.barrier
      memref.store %v, %o[%t] : memref<?xi64, {GLOBAL}>""",
        f"%o: memref<?xi64, {GLOBAL}>",
        block=(100, 1, 1),
    )
    run_text(text, [o])
    np.testing.assert_array_equal(o, np.arange(100))


def test_ids_of_a_three_dimensional_launch():
    dims = ("x", "y", "z")
    names = [f"gpu.thread_id {d}" for d in dims] + [f"gpu.block_id {d}" for d in dims]
    lines = "\n".join(f"%v{i} = {name}" for i, name in enumerate(names))
    stores = "\n".join(
        f"""
      %k{i} = arith.constant {i} : index
      %p{i} = arith.addi %row, %k{i} : index
      %w{i} = arith.index_cast %v{i} : index to i64
      memref.store %w{i}, %o[%p{i}] : memref<?xi64, {GLOBAL}>"""
        for i in range(6)
    )
    body = f"""
      {lines}
      %linear = affine.apply affine_map<(a, b, c, x, y, z) -> (
          ((x + y * 2 + z * 6) * 128 + a + b * 32 + c * 64) * 6)>(%v0, %v1, %v2, %v3, %v4, %v5)
      %row = arith.addi %linear, %zero : index
      {stores}"""
    o = np.zeros((2 * 3 * 4) * 128 * 6, np.int64)
    run_text(
        kernel("%zero = arith.constant 0 : index" + body, f"%o: memref<?xi64, {GLOBAL}>", block=(32, 2, 2)),
        [o],
        grid=(2, 3, 4),
    )
    got = o.reshape(4, 3, 2, 2, 2, 32, 6)
    want = np.indices((4, 3, 2, 2, 2, 32))
    for column, axis in enumerate((5, 4, 3, 2, 1, 0)):
        np.testing.assert_array_equal(got[..., column], want[axis])


def test_linearised_indices_and_poison():
    body = """
      %u = ub.poison : index
      %d:3 = affine.delinearize_index %lane into (4, 4, 4) : index, index, index
      %y0 = affine.linearize_index [%d#2, %d#1, %d#0] by (4, 4, 4) : index
      %e:2 = affine.delinearize_index %lane into (5) : index, index
      %y1 = arith.muli %e#0, %e#1 : index
      %c = llvm.mlir.constant(3 : i64) : i64
      %y2 = arith.index_cast %c : i64 to index"""
    got = lanewise(body, [], ["index"] * 3)
    np.testing.assert_array_equal(got[0], LANE % 4 * 16 + LANE // 4 % 4 * 4 + LANE // 16)
    np.testing.assert_array_equal(got[1], LANE // 5 * (LANE % 5))
    assert (got[2] == 3).all()
