"""vector operations against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from sim_harness import NUMPY, lanewise

RNG = np.random.default_rng(5)
V8 = RNG.integers(-50, 50, (64, 8)).astype(np.int32)
W8 = RNG.integers(-50, 50, (64, 8)).astype(np.int32)
T8 = "vector<8xi32>"


def run(body: str, outputs: list[str]) -> list[np.ndarray]:
    return lanewise(body, [(T8, V8), (T8, W8)], outputs)


def test_shapes():
    body = """
      %m = vector.shape_cast %x0 : vector<8xi32> to vector<2x4xi32>
      %t = vector.transpose %m, [1, 0] : vector<2x4xi32> to vector<4x2xi32>
      %y0 = vector.shape_cast %t : vector<4x2xi32> to vector<8xi32>
      %y1 = vector.extract %m[1] : vector<4xi32> from vector<2x4xi32>
      %y2 = vector.extract %m[0, 3] : i32 from vector<2x4xi32>
      %b = vector.broadcast %y2 : i32 to vector<8xi32>
      %y3 = arith.addi %b, %x1 : vector<8xi32>
      %bb = vector.broadcast %y1 : vector<4xi32> to vector<2x4xi32>
      %y4 = vector.shape_cast %bb : vector<2x4xi32> to vector<8xi32>
      %i = vector.insert %y1, %m[0] : vector<4xi32> into vector<2x4xi32>
      %y5 = vector.shape_cast %i : vector<2x4xi32> to vector<8xi32>
      %y6 = vector.insert %y2, %x1[5] : i32 into vector<8xi32>"""
    got = run(body, [T8, "vector<4xi32>", "i32", T8, T8, T8, T8])
    m = V8.reshape(64, 2, 4)
    np.testing.assert_array_equal(got[0], m.transpose(0, 2, 1).reshape(64, 8))
    np.testing.assert_array_equal(got[1], m[:, 1])
    np.testing.assert_array_equal(got[2], m[:, 0, 3])
    np.testing.assert_array_equal(got[3], m[:, 0, 3:] + W8)
    np.testing.assert_array_equal(got[4], np.concatenate([m[:, 1], m[:, 1]], axis=1))
    np.testing.assert_array_equal(got[5], np.concatenate([m[:, 1], m[:, 1]], axis=1))
    want = W8.copy()
    want[:, 5] = m[:, 0, 3]
    np.testing.assert_array_equal(got[6], want)


def test_dynamic_positions():
    body = """
      %c8 = arith.constant 8 : index
      %at = arith.remui %lane, %c8 : index
      %y0 = vector.extract %x0[%at] : i32 from vector<8xi32>
      %y1 = vector.insert %y0, %x1[%at] : i32 into vector<8xi32>"""
    got = run(body, ["i32", T8])
    lane = np.arange(64)
    np.testing.assert_array_equal(got[0], V8[lane, lane % 8])
    want = W8.copy()
    want[lane, lane % 8] = V8[lane, lane % 8]
    np.testing.assert_array_equal(got[1], want)


def test_slices_and_shuffles():
    body = """
      %y0 = vector.extract_strided_slice %x0 {offsets = [2], sizes = [4], strides = [1]}
          : vector<8xi32> to vector<4xi32>
      %y1 = vector.insert_strided_slice %y0, %x1 {offsets = [3], strides = [1]} : vector<4xi32> into vector<8xi32>
      %y2 = vector.shuffle %x0, %x1 [0, 8, 15, 7] : vector<8xi32>, vector<8xi32>
      %y3 = vector.interleave %y0, %y2 : vector<4xi32> -> vector<8xi32>
      %y4, %y5 = vector.deinterleave %x0 : vector<8xi32> -> vector<4xi32>
      %e:8 = vector.to_elements %x0 : vector<8xi32>
      %y6 = vector.from_elements %e#7, %e#0 : vector<2xi32>
      %s = vector.step : vector<8xindex>
      %y7 = arith.index_cast %s : vector<8xindex> to vector<8xi32>"""
    v4 = "vector<4xi32>"
    got = run(body, [v4, T8, v4, T8, v4, v4, "vector<2xi32>", T8])
    cut = V8[:, 2:6]
    inserted = W8.copy()
    inserted[:, 3:7] = cut
    picked = np.concatenate([V8, W8], axis=1)[:, [0, 8, 15, 7]]
    woven = np.stack([cut, picked], axis=-1).reshape(64, 8)
    want = [cut, inserted, picked, woven, V8[:, 0::2], V8[:, 1::2], V8[:, [7, 0]], np.tile(np.arange(8), (64, 1))]
    for out, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(out, expected)


def test_masks():
    body = """
      %c3 = arith.constant 3 : index
      %m = vector.create_mask %lane : vector<8xi1>
      %y0 = arith.select %m, %x0, %x1 : vector<8xi1>, vector<8xi32>
      %k = vector.constant_mask [3] : vector<8xi1>
      %y1 = arith.select %k, %x0, %x1 : vector<8xi1>, vector<8xi32>
      %odd = arith.cmpi ugt, %lane, %c3 : index
      %y2 = arith.select %odd, %x0, %x1 : vector<8xi32>"""
    got = run(body, [T8] * 3)
    place, lane = np.arange(8)[None], np.arange(64)[:, None]
    for out, mask in zip(got, (place < lane, place < 3, lane > 3), strict=True):
        np.testing.assert_array_equal(out, np.where(mask, V8, W8))


@pytest.mark.parametrize("kind, function", [("add", np.sum), ("minsi", np.min), ("maxsi", np.max), ("mul", np.prod)])
def test_reductions(kind, function):
    body = f"""
      %zero = arith.constant 1 : i32
      %y0 = vector.reduction <{kind}>, %x0 : vector<8xi32> into i32
      %m = vector.shape_cast %x0 : vector<8xi32> to vector<2x4xi32>
      %acc = arith.constant dense<1> : vector<4xi32>
      %y1 = vector.multi_reduction <{kind}>, %m, %acc [0] : vector<2x4xi32> to vector<4xi32>"""
    got = run(body, ["i32", "vector<4xi32>"])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            got[0], function(V8, axis=1, **({"dtype": np.int32} if kind in ("add", "mul") else {}))
        )
        parts = np.concatenate([np.ones((64, 1, 4), np.int32), V8.reshape(64, 2, 4)], axis=1)
        want = function(parts, axis=1)
        np.testing.assert_array_equal(got[1], want)


def test_float_reduction_and_fma():
    a = RNG.normal(0, 1, (64, 4)).astype(np.float32)
    body = """
      %y0 = vector.fma %x0, %x0, %x0 : vector<4xf32>
      %y1 = vector.reduction <maximumf>, %x0 : vector<4xf32> into f32"""
    got = lanewise(body, [("vector<4xf32>", a)], ["vector<4xf32>", "f32"])
    wide = a.astype(np.float64)
    np.testing.assert_array_equal(got[0], (wide * wide + wide).astype(np.float32))
    np.testing.assert_array_equal(got[1], a.max(axis=1))


@pytest.mark.parametrize("kind, count", [("f16", 4), ("i8", 8), ("f8E4M3FNUZ", 8), ("i64", 1), ("f32", 2)])
def test_bitcast(kind, count):
    raw = RNG.integers(-(2**31), 2**31, (64, 2)).astype(np.int32)
    body = f"""%y0 = vector.bitcast %x0 : vector<2xi32> to vector<{count}x{kind}>
      %y1 = vector.bitcast %y0 : vector<{count}x{kind}> to vector<2xi32>"""
    got = lanewise(body, [("vector<2xi32>", raw)], [f"vector<{count}x{kind}>", "vector<2xi32>"])
    np.testing.assert_array_equal(got[0].view(np.uint8), raw.view(np.uint8))
    np.testing.assert_array_equal(got[1], raw)


def test_packed_conversions():
    values = RNG.normal(0, 10, (64, 2)).astype(np.float32)
    body = """
      %a = vector.extract %x0[0] : f32 from vector<2xf32>
      %b = vector.extract %x0[1] : f32 from vector<2xf32>
      %p = amdgpu.packed_trunc_2xfp8 %a, %b into undef[word 0] : f32 to vector<4xf8E4M3FNUZ>
      %y0 = amdgpu.packed_trunc_2xfp8 %b, %a into %p[word 1] : f32 to vector<4xf8E4M3FNUZ> into vector<4xf8E4M3FNUZ>
      %y1 = amdgpu.ext_packed_fp8 %y0[1] : vector<4xf8E4M3FNUZ> to f32
      %y2 = amdgpu.ext_packed_fp8 %y0[1] : vector<4xf8E4M3FNUZ> to vector<2xf32>
      %zero = arith.constant 0 : i32
      %y3 = amdgpu.packed_stoch_round_fp8 %a + %zero into undef[0] : f32 to vector<4xf8E4M3FNUZ>"""
    got = lanewise(
        body, [("vector<2xf32>", values)], ["vector<4xf8E4M3FNUZ>", "f32", "vector<2xf32>", "vector<4xf8E4M3FNUZ>"]
    )
    want = values[:, [0, 1, 1, 0]].astype(NUMPY["f8E4M3FNUZ"])
    np.testing.assert_array_equal(got[0].view(np.uint8), want.view(np.uint8))
    np.testing.assert_array_equal(got[1], want[:, 1].astype(np.float32))
    np.testing.assert_array_equal(got[2], want[:, 2:].astype(np.float32))
    cut, value = got[3][:, 0].astype(np.float64), values[:, 0].astype(np.float64)
    assert (np.abs(cut) <= np.abs(value)).all() and (np.abs(value - cut) < np.abs(value) / 8 + 2**-10).all()


def test_scaled_conversions():
    values = RNG.integers(-3, 4, (64, 2)).astype(np.float32)
    body = """
      %s = arith.constant 4.0 : f32
      %p = amdgpu.packed_scaled_trunc %x0 into undef[0], %s : vector<2xf32> to vector<4xf8E4M3FN>
      %y0 = amdgpu.scaled_ext_packed %p[0], %s : vector<4xf8E4M3FN> to vector<2xf32>"""
    (got,) = lanewise(body, [("vector<2xf32>", values)], ["vector<2xf32>"], target="gfx950")
    np.testing.assert_array_equal(got, values)
