#ifndef WAVE_LAYOUT_TD
#define WAVE_LAYOUT_TD
include "wave/WaveDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Wave_LayoutAttr : AttrDef<Wave_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "where each element of a workgroup's tile lives: register, lane and wave";
  let description = [{
    ```mlir
    #wave.layout<[M = 64, K = 32], reg = [4 : K * 1, 2 : K * 16, 2 : M * 16],
                 lane = [16 : M * 1, 4 : K * 4], wave.x = [2 : M * 32], clip = [M = 28]>
    ```
    Each source (`reg`, `lane`, `wave.x`, `wave.y`, `wave.z`) is decomposed in mixed radix, fastest digit first; the
    digit `extent : DIM * stride` adds digit * stride to the coordinate of DIM, `extent : _` moves nothing
    (replication). What a source counts beyond its digits, and a source not mentioned, replicate. The coordinate of a
    dim is the sum over all digits.

    An element exists where every coordinate is below the dim's extent and, for a dim under `clip`, the part of the
    coordinate that comes from `reg` and `lane` is below the clip. Digits may reach beyond (an MMA tile larger than
    the wave's tile, a load whose chunks do not fill the threads); what a register holds there is unspecified. The
    verifier wants an owner for every element of the tile, and more than one only by replication.
  }];
  let parameters = (ins AttrParameter<"::wave::LayoutMap", "the map", "const ::wave::LayoutMap &">:$map);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Wave_LdsLayoutAttr : AttrDef<Wave_Dialect, "LdsLayout"> {
  let mnemonic = "lds_layout";
  let summary = "where each element of an LDS buffer lives";
  let description = [{
    ```mlir
    #wave.lds_layout<[64, 64], swizzle = [chunk = 8, phases = 8, rows = 1], pad = [8 : 64]>
    ```
    Row-major, with two changes that avoid bank conflicts, both in elements. `swizzle`: chunk c of a row (`chunk`
    elements of the last dim) of row r (all other dims, linearised) is stored at chunk c xor (r floordiv rows) mod phases.
    `pad = [p : n]`: p elements are left out after each n. A bijection onto its offsets, so applying it on both sides of
    the buffer changes no value.
  }];
  let parameters = (ins AttrParameter<"::wave::LdsMap", "the map", "const ::wave::LdsMap &">:$map);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
#endif
