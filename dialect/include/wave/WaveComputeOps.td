#ifndef WAVE_COMPUTE_OPS_TD
#define WAVE_COMPUTE_OPS_TD
// Matrix products, reductions and ops on the shape of values.
include "wave/WaveBase.td"

def Wave_RegisterOp : Wave_Op<"register", [Pure]> {
  let summary = "a tile filled with one number";
  let description = [{
    Every element is the literal, or the scalar operand.

    ```mlir
    %zero = wave.register 0.0 : !wave.tile<[M, N], f32>
    %low = wave.register 0xFF800000 : !wave.tile<[M], f32>     // -inf
    %x = wave.register %s : !wave.tile<[M, N], f32>            // %s : f32
    ```
  }];
  let arguments = (ins OptionalAttr<TypedAttrInterface>:$value, Optional<Wave_Scalar>:$scalar);
  let results = (outs Wave_Value:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

class Wave_DomainOp<string mnemonic, list<Trait> traits = []>
    : Wave_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let hasVerifier = 1;
}

def Wave_MmaOp : Wave_DomainOp<"mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply and accumulate";
  let description = [{
    `lhs * rhs^T + acc`. Of tiles: M are the dims of lhs that rhs has not, N those of rhs that lhs has not, K the common
    ones that acc has not; further common dims are batch. Only elements inside the real extent of K count. `kind` is
    the MMA kind, by default the hardware constraint's. From lane form on it is one instruction on a lane's vectors.

    ```mlir
    %z = wave.mma %x, %y, %acc : !wave.tile<[M, K], f16>, !wave.tile<[N, K], f16>, !wave.tile<[M, N], f32>
    %v = wave.mma %a, %b, %c kind f32_16x16x16_f16 : vector<4xf16>, vector<4xf16>, vector<4xf32>
    ```
  }];
  let arguments = (ins Wave_Value:$lhs, Wave_Value:$rhs, Wave_Value:$acc, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, OptionalAttr<StrAttr>:$kind);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`kind` custom<Word>($kind)^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)
  }];
}

def Wave_ScaledMmaOp : Wave_DomainOp<"scaled_mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply and accumulate with block scales";
  let description = [{
    As `wave.mma`, each 32 elements of lhs and rhs along K multiplied by a scale (f8E8M0FNU).

    ```mlir
    %z = wave.scaled_mma %x scale %xs, %y scale %ys, %acc
           : !wave.tile<[M, K], f4E2M1FN>, !wave.tile<[M, K_SCALE], f8E8M0FNU>,
             !wave.tile<[N, K], f4E2M1FN>, !wave.tile<[N, K_SCALE], f8E8M0FNU>, !wave.tile<[M, N], f32>
    ```
  }];
  let arguments = (ins Wave_Value:$lhs, Wave_Value:$lhs_scale, Wave_Value:$rhs, Wave_Value:$rhs_scale, Wave_Value:$acc,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       OptionalAttr<StrAttr>:$kind);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $lhs `scale` $lhs_scale `,` $rhs `scale` $rhs_scale `,` $acc (`kind` custom<Word>($kind)^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($lhs) `,` type($lhs_scale) `,` type($rhs) `,` type($rhs_scale) `,` type($acc)
  }];
}

def Wave_ReduceOp : Wave_DomainOp<"reduce",
    [AttrSizedOperandSegments,
     OptionalTypesMatchWith<"the accumulator has the result's type", "result", "acc", "$_self">]> {
  let summary = "combines elements along a dim";
  let description = [{
    `sum`, `max` or `min` over the elements inside the dim's real extent, then with `acc`. With `block` the dim is
    divided among waves and the result is the whole workgroup's. In lane form the sources are all copies along the dim.

    ```mlir
    %m = wave.reduce max %x along K acc %old : !wave.tile<[M, K], f32> -> !wave.tile<[M], f32>
    %s = wave.reduce sum %x along K block : !wave.tile<[M, K], f32> -> !wave.tile<[M], f32>
    ```
  }];
  let arguments = (ins Wave_ReduceKindAttr:$kind, Variadic<Wave_Value>:$sources, StrAttr:$dim,
                       Optional<Wave_Value>:$acc, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, UnitAttr:$block);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $kind $sources `along` custom<Word>($dim) (`acc` $acc^)? (`block` $block^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($sources) `->` type($result)
  }];
}

def Wave_CumsumOp : Wave_DomainOp<"cumsum", [AllTypesMatch<["source", "result"]>]> {
  let summary = "sums up to each element along a dim";
  let description = [{
    ```mlir
    %s = wave.cumsum %x along N : !wave.tile<[M, N], f32>
    ```
  }];
  let arguments = (ins Wave_Value:$source, StrAttr:$dim, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $source `along` custom<Word>($dim)
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($source)
  }];
}

def Wave_TopkOp : Wave_DomainOp<"topk"> {
  let summary = "the greatest elements along a dim and where they are";
  let description = [{
    The `k` greatest elements along `dim`, greatest first, and their positions along it; equal elements by position. The
    results have another dim, of extent k, in its place.

    ```mlir
    %v, %i = wave.topk %x k 4 along N : !wave.tile<[M, N], f32> -> !wave.tile<[M, TOP], f32>, !wave.tile<[M, TOP], i32>
    ```
  }];
  let arguments = (ins Wave_Value:$source, I64Attr:$k, StrAttr:$dim, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names);
  let results = (outs Wave_Value:$values, Wave_IntValue:$positions);
  let assemblyFormat = [{
    $source `k` $k `along` custom<Word>($dim)
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($source) `->` type($values) `,` type($positions)
  }];
}

class Wave_ShapeOp<string mnemonic, list<Trait> traits = []>
    : Wave_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = (ins Wave_Value:$source);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Wave_RelayoutOp : Wave_ShapeOp<"relayout"> {
  let summary = "moves elements to where another layout wants them";
  let description = [{
    The same tile with another layout. Lowered to register renaming, cross-lane exchange or a trip through LDS.

    ```mlir
    %y = wave.relayout %x : !wave.tile<[M, K], f16, #layout> -> !wave.tile<[M, K], f16, #layout1>
    ```
  }];
  let hasFolder = 1;
}
def Wave_PermuteOp : Wave_ShapeOp<"permute"> {
  let summary = "the dims in another order";
  let description = [{
    Elements keep their coordinates: no data moves.

    ```mlir
    %t = wave.permute %x : !wave.tile<[M, N], f32> -> !wave.tile<[N, M], f32>
    ```
  }];
  let hasFolder = 1;
}
def Wave_BroadcastOp : Wave_ShapeOp<"broadcast"> {
  let summary = "repeats a value along further dims";
  let description = [{
    ```mlir
    %y = wave.broadcast %x : !wave.tile<[M], f32> -> !wave.tile<[M, N], f32>
    ```
  }];
  let hasFolder = 1;
}
def Wave_ReshapeOp : Wave_ShapeOp<"reshape"> {
  let summary = "the same elements with other dims";
  let description = [{
    Row-major order of the elements is kept; the tile covers as many of them as before.

    ```mlir
    %y = wave.reshape %x : !wave.tile<[M, N], f32> -> !wave.tile<[MN], f32>
    ```
  }];
  let hasFolder = 1;
}
def Wave_CastOp : Wave_ShapeOp<"cast"> {
  let summary = "converts to another element type";
  let description = [{
    Floats round to nearest even; to integers toward zero. Overflow goes by the target type's rule, or with `saturate`
    to its greatest finite number. i1 counts as unsigned, other integers as signed.

    ```mlir
    %y = wave.cast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f16>
    ```
  }];
  let arguments = (ins Wave_Value:$source, UnitAttr:$saturate);
  let assemblyFormat = "$source (`saturate` $saturate^)? attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}
def Wave_BitcastOp : Wave_ShapeOp<"bitcast"> {
  let summary = "the same bits as another element type";
  let description = [{
    Between element types of different width the last dim's number of elements changes accordingly.

    ```mlir
    %y = wave.bitcast %x : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], i32>
    ```
  }];
  let hasFolder = 1;
}

def Wave_ExtractOp : Wave_Op<"extract", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "one element along each dim";
  let description = [{
    The element of a lane's value at the position, an expression for each dim of the source; the result keeps no dim.

    ```mlir
    %e = wave.extract %x [0] : !wave.tile<[M], f32> -> !wave.tile<[], f32>
    ```
  }];
  let arguments = (ins Wave_Value:$source, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, Wave_ExprArrayAttr:$position);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $source ` ` `[` custom<Exprs>($position) `]`
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Wave_ExtractSliceOp : Wave_Op<"extract_slice", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a strided part of a lane's value";
  let description = [{
    Elements `offset + i * stride`, i below size, along each dim of what a lane holds.

    ```mlir
    %e = wave.extract_slice %x offsets [0, 4] sizes [1, 4] strides [1, 1] : !wave.tile<[M, N], f32> -> !wave.tile<[M, N], f32>
    ```
  }];
  let arguments = (ins Wave_Value:$source, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, Wave_ExprArrayAttr:$offsets,
                       Wave_ExprArrayAttr:$sizes, Wave_ExprArrayAttr:$strides);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $source `offsets` ` ` `[` custom<Exprs>($offsets) `]` `sizes` ` ` `[` custom<Exprs>($sizes) `]`
    `strides` ` ` `[` custom<Exprs>($strides) `]`
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Wave_ShuffleOp : Wave_Op<"shuffle", [Pure, SameOperandsAndResultType]> {
  let summary = "another lane's value";
  let description = [{
    In each group of `width` lanes, lane l gets the value of lane `l xor offset`, `l - offset` (up), `l + offset`
    (down) or `offset` (idx); where that is outside the group, its own.

    ```mlir
    %y = wave.shuffle xor %x offset 16 width 64 : vector<1xf32>
    ```
  }];
  let arguments = (ins Wave_ShuffleModeAttr:$mode, Wave_Value:$source, I64Attr:$offset, I64Attr:$width);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = "$mode $source `offset` $offset `width` $width attr-dict `:` type($result)";
  let hasVerifier = 1;
}
#endif
