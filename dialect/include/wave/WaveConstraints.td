#ifndef WAVE_CONSTRAINTS_TD
#define WAVE_CONSTRAINTS_TD
include "wave/WaveDialect.td"
include "wave/WaveExpr.td"
include "mlir/IR/AttrTypeBase.td"

class Wave_Constraint<string name, string attrMnemonic> : AttrDef<Wave_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Wave_WorkgroupConstraintAttr : Wave_Constraint<"WorkgroupConstraint", "workgroup"> {
  let summary = "a dim is cut in tiles, one a workgroup";
  let description = [{
    `#wave.workgroup<M, BLOCK_M, x>` cuts dim `M` in tiles of `BLOCK_M` along grid dim `x`: the workgroup's part of `M`
    starts at `wg.x * BLOCK_M`; the grid has `ceildiv(M, BLOCK_M)` workgroups along `x`.

    Options, in this order: `fn = e` starts the part at `e * BLOCK_M` (an expression over `wg.*`); `iters = e` is the
    grid's extent; `secondary` marks a dim that rides on a grid dim another constraint owns. A grid dim is `x`, `y`,
    `z` or a number from 3 up: grids of more than three dims are folded into z.
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "::wave::ExprAttr":$tile, "unsigned":$axis,
                        "::wave::ExprAttr":$fn, "::wave::ExprAttr":$iters, "bool":$secondary);
}

def Wave_TilingConstraintAttr : Wave_Constraint<"TilingConstraint", "tiling"> {
  let summary = "a dim is walked by a loop";
  let description = [{
    `#wave.tiling<K, BLOCK_K>`: `wave.iterate K` walks dim `K` in steps of `BLOCK_K`. Options: `iters = e` is the trip
    count instead of `ceildiv(K, BLOCK_K)` (0 means no trip), `start = e` the first position. The tile is left out
    for a dim that only a while loop walks.
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "::wave::ExprAttr":$tile, "::wave::ExprAttr":$iters,
                        "::wave::ExprAttr":$start);
}

def Wave_WaveConstraintAttr : Wave_Constraint<"WaveConstraint", "wave"> {
  let summary = "the workgroup's part of a dim is divided among waves";
  let description = [{
    `#wave.wave<M, BLOCK_M floordiv 2>`: a wave has `BLOCK_M floordiv 2` of the workgroup's `BLOCK_M`. The waves come
    from the block dim that equals the grid dim of M's workgroup constraint, or the one named: `#wave.wave<M, 32, y>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "::wave::ExprAttr":$tile, "::std::optional<unsigned>":$axis);
}

def Wave_HardwareConstraintAttr : Wave_Constraint<"HardwareConstraint", "hardware"> {
  let summary = "wave size, MMA kind and vector shapes";
  let description = [{
    ```mlir
    #wave.hardware<threads_per_wave = 64, mma = f32_16x16x16_f16, vector_shapes = {M = 16, B = 0},
                   waves_per_block = [2, 2, 1], max_bits_per_load = 128, service_waves = 0>
    ```

    Only `threads_per_wave` is needed. `mma` names the default MMA kind, whose meaning the target's table has.
    `vector_shapes` has, for dims no MMA shapes, the extent that one op instance of one wave covers; 0 is a batch dim
    (one element a workgroup). `waves_per_block` has three numbers, `service_waves` the number of waves that only load.
  }];
  let parameters = (ins "int64_t":$threadsPerWave, "::mlir::StringAttr":$mma, "::mlir::DictionaryAttr":$vectorShapes,
                        ArrayRefParameter<"int64_t">:$wavesPerBlock, "int64_t":$maxBitsPerLoad,
                        "int64_t":$serviceWaves);
}

def Wave_ReorderingConstraintAttr : Wave_Constraint<"ReorderingConstraint", "reordering"> {
  let summary = "remaps a workgroup id";
  let description = [{
    `#wave.reordering<wg.x floordiv 2 + wg.y * 4, x>`: the program's workgroup id along `x` is the expression of the
    hardware's ids. All remaps together must be a bijection of the grid.
  }];
  let parameters = (ins "::wave::ExprAttr":$equation, "unsigned":$axis);
}

def Wave_GridConstraintAttr : Wave_Constraint<"GridConstraint", "grid"> {
  let summary = "fixes the grid";
  let description = "`#wave.grid<[304, 1, 1]>`: the number of workgroups along each grid dim, whatever the tiles say.";
  let parameters = (ins ArrayRefParameter<"::wave::ExprAttr">:$sizes);
}

def Wave_DeviceConstraintAttr : Wave_Constraint<"DeviceConstraint", "device"> {
  let summary = "a dim is divided among devices";
  let description = "`#wave.device<M, M floordiv 2, 0>`: device dim 0 divides `M`, `M floordiv 2` a device.";
  let parameters = (ins "::mlir::StringAttr":$dim, "::wave::ExprAttr":$tile, "unsigned":$deviceDim);
}

def Wave_AssumeConstraintAttr : Wave_Constraint<"AssumeConstraint", "assume"> {
  let summary = "a fact the simplifier may use";
  let description = "`#wave.assume<K mod 64 eq 0>`: the caller guarantees the predicate.";
  let parameters = (ins "::wave::ExprAttr":$predicate);
}

def Wave_MappingAttr : Wave_Constraint<"Mapping", "mapping"> {
  let summary = "where in memory each point of a tile is";
  let description = [{
    The index mapping of a read or write in tile form. The iterators name the points of the register tile, one for
    each dim; the memory coordinates are expressions over iterators, symbols and dynamic values `d0`, `d1`…:

    ```mlir
    // reg[s, h, k2, k1] = mem[table[k2], h, k1]
    #wave.mapping<[S = i, H = h, K2 = k, K1 = l] -> [d0, h, l], dynamic = [[K2 = k]]>
    ```

    There is one coordinate for each memory dim, in its order. `dynamic` has for each dynamic value which of its
    elements belongs to an iteration point: an expression for each of its dims. Key order has no meaning.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$dims, ArrayRefParameter<"::mlir::StringAttr">:$iterators,
                        ArrayRefParameter<"::wave::ExprAttr">:$memory,
                        ArrayRefParameter<"::mlir::DictionaryAttr">:$dynamic);
}
#endif
