#ifndef WAVE_MEMORY_OPS_TD
#define WAVE_MEMORY_OPS_TD
// Access to memory.
include "wave/WaveBase.td"

class Wave_AccessOp<string mnemonic, list<Trait> traits = []>
    : Wave_Op<mnemonic, !listconcat([AttrSizedOperandSegments,
                                     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let hasVerifier = 1;
}
class Wave_MaskOf<string value>
    : OptionalTypesMatchWith<"the mask has i1 elements and the shape and layout of the value", value, "mask",
                             "::wave::getMaskType($_self)">;

def Wave_ReadOp : Wave_AccessOp<"read", [Wave_MaskOf<"result">]> {
  let summary = "reads a tile from memory";
  let description = [{
    Elements outside the memory or the dims' extents, and masked ones, read as 0.

    ```mlir
    %x = wave.read %a : !wave.memory<[M, K], f16, shared> -> !wave.tile<[M, K], f16>
    %y = wave.read %a mapping <[T = i, N = j] -> [d0, j], dynamic = [[T = i]]> dynamic(%table : !wave.tile<[T], i32>)
           : !wave.memory<[R, N], f32, global> -> !wave.tile<[T, N], f32>
    %z = wave.read %a mask %m index [wg.x * 64 + at.M, iv.K * 32 + at.K] symbols(iv.K = %k) volatile
           : !wave.memory<[M, K], f16, global> -> !wave.tile<[M, K], f16, #layout>
    %v = wave.read %a index [lane, 0] : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    ```

    `mapping` (tile form) says where in memory each point of the tile is; without it the tile's dims are the memory's.
    `index` (placed form and later) has one coordinate for each memory dim. In lane form the vector's elements follow
    each other along the last dim unless the index uses `el`. `elements_per_thread` asks for a width.
  }];
  let arguments = (ins Wave_MemoryType:$memory, Optional<Wave_BoolValue>:$mask,
                       Variadic<Wave_IntValue>:$dynamic_values, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, OptionalAttr<Wave_ExprArrayAttr>:$index,
                       OptionalAttr<Wave_MappingAttr>:$mapping, OptionalAttr<I64Attr>:$elements_per_thread,
                       UnitAttr:$is_volatile, UnitAttr:$nontemporal);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $memory (`mask` $mask^)? (`index` ` ` `[` custom<Exprs>($index)^ `]`)? (`mapping` $mapping^)?
    (`dynamic` `(` $dynamic_values^ `:` type($dynamic_values) `)`)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    (`elements_per_thread` $elements_per_thread^)? (`volatile` $is_volatile^)? (`nontemporal` $nontemporal^)?
    attr-dict `:` qualified(type($memory)) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Wave_WriteOp : Wave_AccessOp<"write", [Wave_MaskOf<"value">]> {
  let summary = "writes a tile to memory";
  let description = [{
    Elements outside the memory or the dims' extents, and masked ones, are dropped. Options as those of `wave.read`.

    ```mlir
    wave.write %sum, %c : !wave.tile<[M, N], f32>, !wave.memory<[M, N], f32, global>
    wave.write %x, %c mask %m index [wg.x * 64 + at.M, at.N] : …
    ```
  }];
  let arguments = (ins Wave_Value:$value, Wave_MemoryType:$memory, Optional<Wave_BoolValue>:$mask,
                       Variadic<Wave_IntValue>:$dynamic_values, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, OptionalAttr<Wave_ExprArrayAttr>:$index,
                       OptionalAttr<Wave_MappingAttr>:$mapping, OptionalAttr<I64Attr>:$elements_per_thread,
                       UnitAttr:$is_volatile, UnitAttr:$nontemporal);
  let assemblyFormat = [{
    $value `,` $memory (`mask` $mask^)? (`index` ` ` `[` custom<Exprs>($index)^ `]`)? (`mapping` $mapping^)?
    (`dynamic` `(` $dynamic_values^ `:` type($dynamic_values) `)`)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    (`elements_per_thread` $elements_per_thread^)? (`volatile` $is_volatile^)? (`nontemporal` $nontemporal^)?
    attr-dict `:` type($value) `,` qualified(type($memory))
  }];
  let hasCanonicalizer = 1;
}

def Wave_AllocateOp : Wave_Op<"allocate"> {
  let summary = "memory of the workgroup's own";
  let description = [{
    A buffer in shared memory (or registers) that lives as long as the workgroup. `offset`, in bytes, is where
    wave-pack-shared put it. `distributed` is the shape that is really allocated, where only a part of the memory's
    dims is held at a time.

    ```mlir
    %l = wave.allocate : !wave.memory<[64, 32], f16, shared>
    %p = wave.allocate offset 4096 : !wave.memory<[64, 32], f16, shared, strides = [40, 1]>
    %t = wave.allocate distributed [BLOCK_M, BLOCK_K] : !wave.memory<[M, K], f16, shared>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, OptionalAttr<Wave_ExprArrayAttr>:$distributed);
  let results = (outs Res<Wave_MemoryType, "", [MemAlloc]>:$memory);
  let assemblyFormat = [{
    (`offset` $offset^)? (`distributed` ` ` `[` custom<Exprs>($distributed)^ `]`)? attr-dict `:` qualified(type($memory))
  }];
  let hasVerifier = 1;
}

class Wave_BufferOp<string mnemonic, string value>
    : Wave_AccessOp<mnemonic, [Wave_MaskOf<value>]> {
  string commonDescription = [{
    The address is the memory's start plus `base`, uniform over the wave and added in 64 bits, plus `offset`, the
    lane's own part (32 bits); both count elements. `valid`, if given, is the number of elements in range from `base`
    on, otherwise that of the memory from there. What is out of range or masked reads 0, or is dropped.
  }];
}

def Wave_BufferLoadOp : Wave_BufferOp<"buffer_load", "result"> {
  let summary = "reads global memory through a descriptor";
  let description = commonDescription # [{

    ```mlir
    %x = wave.buffer_load %a base [wg.x * 64 * K + iv.K * 32] offset [lane floordiv 4 * K + lane mod 4 * 8] mask %m
           symbols(iv.K = %k) : !wave.memory<[M, K], f16, global> -> vector<8xf16>
    ```
  }];
  let arguments = (ins Wave_MemoryType:$memory, Optional<Wave_BoolValue>:$mask,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       Wave_ExprAttr:$base, Wave_ExprAttr:$offset, OptionalAttr<Wave_ExprAttr>:$valid,
                       UnitAttr:$is_volatile, UnitAttr:$nontemporal);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    $memory `base` ` ` `[` custom<Expr>($base) `]` `offset` ` ` `[` custom<Expr>($offset) `]`
    (`valid` ` ` `[` custom<Expr>($valid)^ `]`)? (`mask` $mask^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    (`volatile` $is_volatile^)? (`nontemporal` $nontemporal^)?
    attr-dict `:` qualified(type($memory)) `->` type($result)
  }];
}

def Wave_BufferStoreOp : Wave_BufferOp<"buffer_store", "value"> {
  let summary = "writes global memory through a descriptor";
  let description = commonDescription # [{

    ```mlir
    wave.buffer_store %x, %c base [wg.x * 64 * N] offset [lane * 4] : vector<4xf32>, !wave.memory<[M, N], f32, global>
    ```
  }];
  let arguments = (ins Wave_Value:$value, Wave_MemoryType:$memory, Optional<Wave_BoolValue>:$mask,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       Wave_ExprAttr:$base, Wave_ExprAttr:$offset, OptionalAttr<Wave_ExprAttr>:$valid,
                       UnitAttr:$is_volatile, UnitAttr:$nontemporal);
  let assemblyFormat = [{
    $value `,` $memory `base` ` ` `[` custom<Expr>($base) `]` `offset` ` ` `[` custom<Expr>($offset) `]`
    (`valid` ` ` `[` custom<Expr>($valid)^ `]`)? (`mask` $mask^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    (`volatile` $is_volatile^)? (`nontemporal` $nontemporal^)?
    attr-dict `:` type($value) `,` qualified(type($memory))
  }];
}

def Wave_GatherToSharedOp : Wave_AccessOp<"gather_to_shared"> {
  let summary = "copies from global to shared memory without registers";
  let description = [{
    An asynchronous copy of `elements` consecutive elements a lane. Each lane has its own source; the destination is
    that of the wave's first lane, the others follow it in lane order. It is complete after a
    `wave.shared_memory_barrier wait_async` or a `wave.memory_counter_wait` and a barrier. A masked lane's element
    reads as 0.

    ```mlir
    wave.gather_to_shared %a [wg.x * 64 + lane floordiv 4, iv.K * 32 + lane mod 4 * 8] to %la [wave.x * 16, 0]
        elements 8 symbols(iv.K = %k) : !wave.memory<[M, K], f16, global>, !wave.memory<[64, 32], f16, shared>
    ```
  }];
  let arguments = (ins Wave_MemoryType:$source, Wave_MemoryType:$target, Optional<I1>:$mask,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       Wave_ExprArrayAttr:$source_index, Wave_ExprArrayAttr:$target_index, I64Attr:$elements);
  let assemblyFormat = [{
    $source ` ` `[` custom<Exprs>($source_index) `]` `to` $target ` ` `[` custom<Exprs>($target_index) `]` `elements` $elements
    (`mask` $mask^)? (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` qualified(type($source)) `,` qualified(type($target))
  }];
}

def Wave_AtomicOp : Wave_AccessOp<"atomic", [Wave_MaskOf<"value">]> {
  let summary = "updates memory atomically";
  let description = [{
    `memory = kind(memory, value)` for each element, indivisibly; the optional result is what was there before.
    Options as those of `wave.write`.

    ```mlir
    wave.atomic add %x, %h : !wave.tile<[M], i32>, !wave.memory<[M], i32, global>
    %old = wave.atomic min %x, %h index [at.M] : !wave.tile<[M], i32, #l>, !wave.memory<[M], i32, shared>
             -> !wave.tile<[M], i32, #l>
    ```
  }];
  let arguments = (ins Wave_AtomicKindAttr:$kind, Wave_Value:$value, Wave_MemoryType:$memory,
                       Optional<Wave_BoolValue>:$mask, Variadic<Wave_IntValue>:$dynamic_values,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       OptionalAttr<Wave_ExprArrayAttr>:$index, OptionalAttr<Wave_MappingAttr>:$mapping,
                       OptionalAttr<I64Attr>:$elements_per_thread);
  let results = (outs Optional<Wave_Value>:$result);
  let assemblyFormat = [{
    $kind $value `,` $memory (`mask` $mask^)? (`index` ` ` `[` custom<Exprs>($index)^ `]`)? (`mapping` $mapping^)?
    (`dynamic` `(` $dynamic_values^ `:` type($dynamic_values) `)`)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    (`elements_per_thread` $elements_per_thread^)?
    attr-dict `:` type($value) `,` qualified(type($memory)) (`->` type($result)^)?
  }];
}

def Wave_ScatterAddOp : Wave_AccessOp<"scatter_add", [Wave_MaskOf<"value">]> {
  let summary = "adds elements to memory at given positions";
  let description = [{
    Adds each element of `value` atomically to the memory at its own coordinates, except along `dim` (a dim of the
    value), where the coordinate is the element of `positions`. It returns nothing.

    ```mlir
    wave.scatter_add %x at %pos along M to %out
        : !wave.tile<[M, N], f32>, !wave.tile<[M, N], i32>, !wave.memory<[R, N], f32, global>
    ```
  }];
  let arguments = (ins Wave_Value:$value, Wave_IntValue:$positions, StrAttr:$dim, Wave_MemoryType:$memory,
                       Optional<Wave_BoolValue>:$mask, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, OptionalAttr<Wave_ExprArrayAttr>:$index,
                       OptionalAttr<Wave_MappingAttr>:$mapping, OptionalAttr<I64Attr>:$elements_per_thread);
  let assemblyFormat = [{
    $value `at` $positions `along` custom<Word>($dim) `to` $memory (`mask` $mask^)?
    (`index` ` ` `[` custom<Exprs>($index)^ `]`)? (`mapping` $mapping^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    (`elements_per_thread` $elements_per_thread^)?
    attr-dict `:` type($value) `,` type($positions) `,` qualified(type($memory))
  }];
}

def Wave_BoundsCheckOp : Wave_Op<"bounds_check", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an access that must be inside the memory";
  let description = [{
    States that the index is inside the memory for every element of the mask's shape, or for the lane; a debug build
    stops a program where it is not.

    ```mlir
    wave.bounds_check %a index [wg.x * 64 + lane, 0] : !wave.memory<[M, K], f16, global>
    ```
  }];
  let arguments = (ins Wave_MemoryType:$memory, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names, Wave_ExprArrayAttr:$index);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $memory `index` ` ` `[` custom<Exprs>($index) `]`
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` qualified(type($memory))
  }];
}
#endif
