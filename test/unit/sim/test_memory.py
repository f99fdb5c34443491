"""Loads and stores of every form against numpy; buffer resources; pointers; the kernel ABI."""

from __future__ import annotations

import numpy as np
import pytest
import wave_mlir.dialect  # noqa: F401  (registers #wave.expr)
from mlir import ir
from sim_harness import GLOBAL, kernel, run_text
from wave_mlir import sim

LDS = "#gpu.address_space<workgroup>"
FAT = "#amdgpu.address_space<fat_raw_buffer>"
HEAD = """
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %ti = arith.index_cast %t : index to i32
      %t4 = arith.muli %t, %c4 : index
"""
ARGS = f"%a: memref<?xf32, {GLOBAL}>, %o: memref<?xf32, {GLOBAL}>"
A = np.random.default_rng(1).normal(0, 1, 256).astype(np.float32)


def run(body: str, a: np.ndarray = A, size: int = 256, arguments: str = ARGS, **options) -> np.ndarray:
    o = np.full(size, -1, np.float32)
    text = kernel(HEAD + body, arguments, lds=4096, target=options.pop("target", "gfx942"))
    run_text(text, [a.copy(), o], **options)
    return o


def test_views_of_lds():
    """Row-major 2-D views, subviews, casts and a private array."""
    body = f"""
      %s = memref.view %lds[%c0][] : memref<4096xi8, {LDS}> to memref<16x16xf32, {LDS}>
      %c16 = arith.constant 16 : index
      %r = arith.divui %t4, %c16 : index
      %k = arith.remui %t4, %c16 : index
      %v = vector.load %a[%t4] : memref<?xf32, {GLOBAL}>, vector<4xf32>
      vector.store %v, %s[%r, %k] : memref<16x16xf32, {LDS}>, vector<4xf32>
      %sub = memref.subview %s[%r, %k] [1, 4] [1, 1] : memref<16x16xf32, {LDS}>
          to memref<1x4xf32, strided<[16, 1], offset: ?>, {LDS}>
      %flat = memref.reinterpret_cast %s to offset: [0], sizes: [256], strides: [1]
          : memref<16x16xf32, {LDS}> to memref<256xf32, strided<[1]>, {LDS}>
      %x = memref.load %sub[%c0, %c2] : memref<1x4xf32, strided<[16, 1], offset: ?>, {LDS}>
      %p = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
      memref.store %x, %p[%c2] : memref<4xf32, #gpu.address_space<private>>
      %y = memref.load %p[%c2] : memref<4xf32, #gpu.address_space<private>>
      %z = vector.load %flat[%t4] : memref<256xf32, strided<[1]>, {LDS}>, vector<4xf32>
      %w = vector.insert %y, %z[0] : f32 into vector<4xf32>
      vector.store %w, %o[%t4] : memref<?xf32, {GLOBAL}>, vector<4xf32>"""
    want = A.reshape(64, 4).copy()
    want[:, 0] = want[:, 2]
    np.testing.assert_array_equal(run(body).reshape(64, 4), want)


def test_gather_scatter_transfer():
    body = f"""
      %s = vector.step : vector<4xindex>
      %rev = arith.constant dense<[3, 2, 1, 0]> : vector<4xindex>
      %m = arith.constant dense<[true, true, true, false]> : vector<4xi1>
      %z = arith.constant dense<9.0> : vector<4xf32>
      %g = vector.gather %a[%t4] [%rev], %m, %z
          : memref<?xf32, {GLOBAL}>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      vector.scatter %o[%t4] [%s], %m, %g : memref<?xf32, {GLOBAL}>, vector<4xindex>, vector<4xi1>, vector<4xf32>
      %pad = arith.constant 5.0 : f32
      %c254 = arith.constant 254 : index
      %e = vector.transfer_read %a[%c254], %pad : memref<?xf32, {GLOBAL}>, vector<4xf32>
      %c255 = arith.constant 255 : index
      %last = arith.cmpi eq, %ti, %c63 : i32
      scf.if %last {{
        %x = vector.extract %e[3] : f32 from vector<4xf32>
        memref.store %x, %o[%c255] : memref<?xf32, {GLOBAL}>
      }}"""
    want = A.reshape(64, 4)[:, ::-1].copy()
    want[:, 3] = -1
    want[63, 3] = 5
    np.testing.assert_array_equal(run("%c63 = arith.constant 63 : i32" + body).reshape(64, 4), want)


@pytest.mark.parametrize("kind, function", [("addf", np.add), ("maximumf", np.maximum), ("minimumf", np.minimum)])
def test_atomics(kind, function):
    values = np.arange(64, dtype=np.float32) - 20
    body = f"""
      %x = memref.load %a[%t] : memref<?xf32, {GLOBAL}>
      %i = arith.remui %t, %c4 : index
      %r = memref.atomic_rmw {kind} %x, %o[%i] : (f32, memref<?xf32, {GLOBAL}>) -> f32"""
    got = run(body, values, 4)
    for slot in range(4):
        assert got[slot] == function.reduce(np.append(values[slot::4], np.float32(-1)))


# -------------------------------------------------------------------------------------------------------------- buffers


def test_fat_buffer_reads_zero_and_drops():
    body = f"""
      %fa = amdgpu.fat_raw_buffer_cast %a resetOffset : memref<?xf32, {GLOBAL}> to memref<?xf32, {FAT}>
      %bytes = arith.constant 1000 : i64
      %fo = amdgpu.fat_raw_buffer_cast %o validBytes(%bytes) resetOffset
          : memref<?xf32, {GLOBAL}> to memref<?xf32, {FAT}>
      %i = arith.addi %t4, %c2 : index
      %v = vector.load %fa[%i] : memref<?xf32, {FAT}>, vector<4xf32>
      vector.store %v, %fo[%t4] : memref<?xf32, {FAT}>, vector<4xf32>"""
    want = np.full(256, -1, np.float32)
    shifted = np.concatenate([A[2:], [0, 0]])
    want[:250] = shifted[:250]
    np.testing.assert_array_equal(run(body), want)


def test_raw_buffer_operations():
    body = f"""
      %four = arith.constant 4 : i32
      %one = arith.constant 1 : i32
      %far = arith.constant 2147483647 : i32
      %c60 = arith.constant 60 : i32
      %i = arith.muli %ti, %four : i32
      %in = arith.cmpi slt, %ti, %c60 : i32
      %at = arith.select %in, %i, %far : i32
      %v = amdgpu.raw_buffer_load {{indexOffset = 1 : i32}} %a[%at] sgprOffset %one
          : memref<?xf32, {GLOBAL}>, i32 -> vector<4xf32>
      amdgpu.raw_buffer_store {{boundsCheck = true}} %v -> %o[%at] : vector<4xf32> -> memref<?xf32, {GLOBAL}>, i32"""
    want = np.full(256, -1, np.float32)
    want[:240] = A[2:242]
    np.testing.assert_array_equal(run(body), want)


def test_raw_buffer_partly_in_range_by_dwords():
    half = f"%a: memref<?xf16, {GLOBAL}>, %o: memref<?xf16, {GLOBAL}>"
    a = np.arange(1, 10).astype(np.float16)  # 18 bytes: the last dword is half in range
    o = np.zeros(256, np.float16)
    body = f"""
      %i = arith.index_cast %t4 : index to i32
      %v = amdgpu.raw_buffer_load %a[%i] : memref<?xf16, {GLOBAL}>, i32 -> vector<4xf16>
      vector.store %v, %o[%t4] : memref<?xf16, {GLOBAL}>, vector<4xf16>"""
    run_text(kernel(HEAD + body, half), [a, o])
    np.testing.assert_array_equal(o[:16], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0])


def test_raw_buffer_atomics():
    body = f"""
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0 : i32
      amdgpu.raw_buffer_atomic_fadd %one -> %o[%zero] : f32 -> memref<?xf32, {GLOBAL}>, i32
      amdgpu.raw_buffer_atomic_fmax %one -> %o[%ti] : f32 -> memref<?xf32, {GLOBAL}>, i32
      %five = arith.constant 5.0 : f32
      %thirty = arith.constant 30 : i32
      %was = amdgpu.raw_buffer_atomic_cmpswap %five, %one -> %o[%thirty] : f32 -> memref<?xf32, {GLOBAL}>, i32"""
    got = run(body, size=32)
    assert got[0] == 63 and (got[1:30] == 1).all() and got[30] == 5 and got[31] == 1


def test_gather_to_lds_and_transposed_read():
    body = f"""
      %s = memref.view %lds[%c0][] : memref<4096xi8, {LDS}> to memref<512xf16, {LDS}>
      %fa = amdgpu.fat_raw_buffer_cast %a resetOffset : memref<?xf16, {GLOBAL}> to memref<?xf16, {FAT}>
      amdgpu.gather_to_lds %fa[%t4], %s[%c0] : vector<8xf16>, memref<?xf16, {FAT}>, memref<512xf16, {LDS}>
      amdgpu.memory_counter_wait load(0)
      gpu.barrier
      %v = amdgpu.transpose_load %s[%t4] : memref<512xf16, {LDS}> -> vector<4xf16>
      vector.store %v, %o[%t4] : memref<?xf16, {GLOBAL}>, vector<4xf16>"""
    body = body.replace("%fa[%t4]", "%fa[%t8]").replace(
        "%s = memref.view", "%c8 = arith.constant 8 : index\n%t8 = arith.muli %t, %c8 : index\n%s = memref.view"
    )
    half = f"%a: memref<?xf16, {GLOBAL}>, %o: memref<?xf16, {GLOBAL}>"
    a, o = np.arange(512).astype(np.float16), np.zeros(256, np.float16)
    run_text(kernel(HEAD + body, half, lds=4096, target="gfx950"), [a, o])
    rows = a[:256].reshape(4, 4, 16)  # each 16 lanes: 4 rows of 16
    np.testing.assert_array_equal(o.reshape(4, 16, 4), rows.transpose(0, 2, 1))
    with pytest.raises(sim.SimError, match="copies 1, 2, 4"):
        run_text(kernel(HEAD + body, half, lds=4096, target="gfx942"), [a, o])


def test_pointers_and_resources():
    body = f"""
      %i0 = memref.extract_aligned_pointer_as_index %a : memref<?xf32, {GLOBAL}> -> index
      %i1 = arith.index_cast %i0 : index to i64
      %p = llvm.inttoptr %i1 : i64 to !llvm.ptr<1>
      %s0 = arith.constant 0 : i16
      %z = arith.constant 0 : i32
      %bytes = arith.constant 512 : i64
      %flags = arith.constant 159744 : i32
      %r = rocdl.make.buffer.rsrc %p, %s0, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
      %size = arith.constant 4 : i32
      %off = arith.muli %ti, %size : i32
      %j0 = memref.extract_aligned_pointer_as_index %lds : memref<4096xi8, {LDS}> -> index
      %j1 = arith.index_cast %j0 : index to i32
      %l = llvm.inttoptr %j1 : i32 to !llvm.ptr<3>
      rocdl.raw.ptr.buffer.load.lds %r, %l, %size, %off, %z, %z, %z
      %bits = arith.constant 3952 : i32
      rocdl.s.waitcnt 3952
      rocdl.s.barrier
      %s = memref.view %lds[%c0][] : memref<4096xi8, {LDS}> to memref<64xf32, {LDS}>
      %x = memref.load %s[%t] : memref<64xf32, {LDS}>
      memref.store %x, %o[%t] : memref<?xf32, {GLOBAL}>
      %eight = arith.constant 8 : i32
      %off2 = arith.muli %ti, %eight : i32
      %y = rocdl.raw.ptr.buffer.load %r, %off2, %z, %z : vector<2xf32>
      %q = llvm.getelementptr %p[%i2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %w = llvm.load %q : !llvm.ptr<1> -> f32
      %c64 = arith.constant 64 : index
      %n = arith.addi %t, %c64 : index
      memref.store %w, %o[%n] : memref<?xf32, {GLOBAL}>
      %c128 = arith.constant 128 : index
      %m = arith.muli %t, %c2 : index
      %k = arith.addi %m, %c128 : index
      vector.store %y, %o[%k] : memref<?xf32, {GLOBAL}>, vector<2xf32>"""
    got = run("%i2 = arith.index_cast %t : index to i64" + body)
    np.testing.assert_array_equal(got[:64], A[:64])
    np.testing.assert_array_equal(got[64:128], A[:64])
    np.testing.assert_array_equal(got[128:], A[:128])


# ------------------------------------------------------------------------------------------------------------------ ABI

ABI = f"""
module attributes {{wave.form = "gpu", wave.target = "gfx942", gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @scale(%x: memref<?xf32, {GLOBAL}>, %o: memref<?xf32, {GLOBAL}>, %f: f32, %M: i32) kernel attributes {{
        known_block_size = array<i32: 64, 1, 1>, wave.grid = [#wave.expr<M ceildiv 64>, #wave.expr<1>, #wave.expr<1>],
        wave.symbols = {{N = 4}},
        wave.args = [{{kind = "memory", name = "x", dtype = f32,
                       shape = [#wave.expr<M>, #wave.expr<N>], access = "read"}},
                     {{kind = "memory", name = "o", dtype = f32,
                       shape = [#wave.expr<M>, #wave.expr<N>], access = "write"}},
                     {{kind = "scalar", name = "f", dtype = f32}}, {{kind = "symbol", name = "M"}}]}} {{
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %row = affine.apply affine_map<(t, b) -> (t + 64 * b)>(%t, %b)
      %i = affine.apply affine_map<(r) -> (r * 4)>(%row)
      %m = arith.index_cast %M : i32 to index
      %in = arith.cmpi ult, %row, %m : index
      scf.if %in {{
        %v = vector.load %x[%i] : memref<?xf32, {GLOBAL}>, vector<4xf32>
        %s = vector.broadcast %f : f32 to vector<4xf32>
        %w = arith.mulf %v, %s : vector<4xf32>
        vector.store %w, %o[%i] : memref<?xf32, {GLOBAL}>, vector<4xf32>
      }}
      gpu.return
    }}
  }}
}}
"""


@pytest.mark.parametrize("extra", [[], [100]])
def test_abi(extra):
    x, o = np.arange(400, dtype=np.float32).reshape(100, 4), np.zeros((100, 4), np.float32)
    with ir.Context():
        result = sim.run(ir.Module.parse(ABI), [x, o, 2.5, *extra])
    np.testing.assert_array_equal(o, x * np.float32(2.5))
    assert result.counts["workgroups"] == 2


@pytest.mark.parametrize(
    "args, options, message",
    [
        ([np.zeros((100, 5), np.float32), np.zeros((100, 4), np.float32), 1.0], {}, "extent 5 in dim 1"),
        ([np.zeros((100, 4), np.float32), np.zeros((90, 4), np.float32), 1.0], {}, "M is 100"),
        ([np.zeros((100, 4), np.float32)], {}, "takes 2 arrays and 1 scalars"),
        (
            [np.zeros((100, 4), np.float32), np.zeros((100, 4), np.float32), 1.0],
            {"symbols": {"Q": 1}},
            "unknown symbol",
        ),
        ([np.zeros((100, 4), np.float16), np.zeros((100, 4), np.float32), 1.0], {}, "holds f32"),
        ([np.zeros((100, 4), np.float32), np.zeros((100, 4), np.float32), "one"], {}, "give a Python number"),
    ],
)
def test_abi_errors(args, options, message):
    with ir.Context(), pytest.raises(sim.SimError, match=message) as caught:
        sim.run(ir.Module.parse(ABI), args, **options)
    assert caught.value.kind == "arguments" and caught.value.location


@pytest.mark.parametrize("promise", ["", ' {wave.out_of_range = "masked"}'])
@pytest.mark.parametrize("store", [False, True])
def test_out_of_range_without_a_mask(promise, store):
    """Lane 63's byte 504 is past the 500 valid ones: silent in general, found where only masked lanes may be."""
    access = (
        f"rocdl.raw.ptr.buffer.store %one, %r, %off, %z, %z{promise} : i32"
        if store
        else f"%x = rocdl.raw.ptr.buffer.load %r, %off, %z, %z{promise} : i32"
    )
    body = f"""
      %i0 = memref.extract_aligned_pointer_as_index %o : memref<?xf32, {GLOBAL}> -> index
      %i1 = arith.index_cast %i0 : index to i64
      %p = llvm.inttoptr %i1 : i64 to !llvm.ptr<1>
      %s0 = arith.constant 0 : i16
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %bytes = arith.constant 500 : i64
      %flags = arith.constant 159744 : i32
      %r = rocdl.make.buffer.rsrc %p, %s0, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
      %eight = arith.constant 8 : i32
      %far = arith.constant -2147483648 : i32
      %all = arith.muli %ti, %eight : i32
      %m = arith.cmpi ne, %ti, %LANE : i32
      %off = arith.select %m, %all, %far : i32
      {access}"""
    for lane, bad in (("63", False), ("62", bool(promise))):
        text = body.replace("%m =", f"%LANE = arith.constant {lane} : i32\n      %m =")
        if not bad:
            run(text)
            continue
        with pytest.raises(sim.SimError, match="lane 63.*touches bytes 504 to 507") as caught:
            run(text)
        assert caught.value.kind == "bounds"
