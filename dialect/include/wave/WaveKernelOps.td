#ifndef WAVE_KERNEL_OPS_TD
#define WAVE_KERNEL_OPS_TD
// Kernels, regions and symbols.
include "wave/WaveBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"

def Wave_KernelOp : Wave_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlockImplicitTerminator<"ReturnOp">,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a tile program";
  let description = [{
    What one workgroup computes. Arguments are memories and scalars, with their names. `symbols` binds static symbols
    to expressions, `dynamic` lists the symbols given at run time (in the order of the kernel's ABI), `constraints` say
    how dims are divided.

    ```mlir
    wave.kernel @copy(%a: !wave.memory<[M], f16, global>, %b: !wave.memory<[M], f16, global>)
        symbols {BLOCK_M = 64} dynamic [M]
        constraints [#wave.workgroup<M, BLOCK_M, x>, #wave.hardware<threads_per_wave = 64, vector_shapes = {M = 64}>] {
      %x = wave.read %a : !wave.memory<[M], f16, global> -> !wave.tile<[M], f16>
      wave.write %x, %b : !wave.tile<[M], f16>, !wave.memory<[M], f16, global>
      wave.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names, DictionaryAttr:$symbols,
                       StrArrayAttr:$dynamic, ArrayAttr:$constraints);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Wave_ReturnOp : Wave_Op<"return", [Terminator, Pure, HasParent<"KernelOp">]> {
  let summary = "end of a kernel";
  let description = "Ends the body of a `wave.kernel`; it returns nothing.\n\n```mlir\nwave.return\n```";
  let assemblyFormat = "attr-dict";
}

def Wave_YieldOp : Wave_Op<"yield", [Terminator, Pure, ReturnLike, ParentOneOf<["IterateOp", "ConditionalOp"]>]> {
  let summary = "end of a region";
  let description = [{
    Gives the results of a conditional, or the loop-carried values of an iterate for its next trip. In the while form
    with an induction variable the first operand is the next value of the axis.

    ```mlir
    wave.yield %z : !wave.tile<[M, N], f32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Wave_IterateOp : Wave_Op<"iterate", [AttrSizedOperandSegments, RecursiveMemoryEffects,
                                         SingleBlockImplicitTerminator<"YieldOp">,
                                         DeclareOpInterfaceMethods<LoopLikeOpInterface>,
                                         DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "loop over the tiles of a dim";
  let description = [{
    Runs its region for each tile of dim `axis`. The kernel's tiling constraint says how far and how often; from typed
    form on the trip count is `trips` and the trip counter (0, 1, 2, …) the operand `iv`:

    ```mlir
    %sum = wave.iterate K iv(%k) trips(K ceildiv BLOCK_K) iter_args(%acc = %zero : !wave.tile<[M, N], f32>) {
      …
      wave.yield %z : !wave.tile<[M, N], f32>
    }
    ```

    With `step(s)` a trip advances by s tiles. With `start` and `condition` it is a while loop whose axis is itself a
    carried index; the condition, in which the axis symbol stands for the carried value, is evaluated before each trip.
    In tile form a `wave.set_symbol` of the axis in the body gives the next value; from typed form on `iv` is the
    carried value and the first operand of the yield the next one:

    ```mlir
    wave.iterate B iv(%b) start(%first : index) condition(B lt LEN) symbols(LEN = %n) {
      …
      wave.yield %next : index
    }
    ```
  }];
  let arguments = (ins StrAttr:$axis, Optional<Wave_IntValue>:$start, Variadic<AnyType>:$init_args,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       OptionalAttr<Wave_ExprAttr>:$trips, OptionalAttr<Wave_ExprAttr>:$step,
                       OptionalAttr<Wave_ExprAttr>:$condition, UnitAttr:$has_iv);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    bool isWhile() { return static_cast<bool>(getStart()); }
    /// The induction variable, null in tile form.
    ::mlir::BlockArgument getInductionVar();
    /// The region's carried values, without the induction variable.
    ::mlir::Block::BlockArgListType getCarried();
    ::wave::YieldOp getYield();
  }];
}

def Wave_ConditionalOp : Wave_Op<"conditional", [AttrSizedOperandSegments, RecursiveMemoryEffects,
                                                 SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "runs a region if a condition holds";
  let description = [{
    The condition is an expression in brackets or a value of one integer element. The results come from the region that
    runs; without an else region they are the values after `otherwise`:

    ```mlir
    wave.conditional [T gt 0] symbols(T = %n) {
      wave.write %x, %a : …
    }
    %r = wave.conditional %c : !wave.tile<[], i1> otherwise(%old) -> (!wave.tile<[M], f32>) {
      wave.yield %new : !wave.tile<[M], f32>
    }
    %s = wave.conditional [M mod 2 eq 0] -> (index) {
      wave.yield %a : index
    } else {
      wave.yield %b : index
    }
    ```

    The condition must be uniform over the workgroup if a barrier is in the body, else over the wave.
  }];
  let arguments = (ins OptionalAttr<Wave_ExprAttr>:$condition, Optional<Wave_IntValue>:$condition_value,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names,
                       Variadic<AnyType>:$else_values);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$then_region, MaxSizedRegion<1>:$else_region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Wave_SetSymbolOp : Wave_Op<"set_symbol", [MemoryEffects<[MemWrite]>]> {
  let summary = "from here on a symbol means a value";
  let description = [{
    A definition with scope, of tile form only: visible after it, in its region and those nested in it. The value has
    one element a lane. From typed form on each op that uses the symbol has the value as an operand instead.

    ```mlir
    wave.set_symbol T = %n : !wave.tile<[S], i32>
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Wave_IntValue:$value);
  let assemblyFormat = "custom<Word>($symbol) `=` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

class Wave_ExprOp<string mnemonic, list<Trait> traits = []>
    : Wave_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let arguments = (ins Wave_ExprAttr:$expr, Variadic<Wave_IntValue>:$symbol_values,
                       OptionalAttr<Wave_SymbolNames>:$symbol_names);
  let results = (outs Wave_Value:$result);
  let assemblyFormat = [{
    ` ` `[` custom<Expr>($expr) `]` (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)?
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Wave_ApplyExprOp : Wave_ExprOp<"apply_expr"> {
  let summary = "index arithmetic on values";
  let description = [{
    Evaluates an expression for each element. The values it takes are named in `symbols`; other symbols are those in
    scope. Arithmetic is 64-bit with floor division. The result is of index or integers, of i1 for a predicate.

    ```mlir
    %p = wave.apply_expr [d0 * 16 + M] symbols(d0 = %page : !wave.tile<[T], i32>) : !wave.tile<[T], index>
    ```
  }];
}

def Wave_ScalarOp : Wave_ExprOp<"scalar"> {
  let summary = "the value of an expression as a dtype";
  let description = [{
    One element, converted to the result's element type.

    ```mlir
    %s = wave.scalar [M * 2] : f32
    ```
  }];
}

def Wave_MaskOp : Wave_ExprOp<"mask"> {
  let summary = "a predicate for each element";
  let description = [{
    Evaluates the predicate, over `at.*` and other symbols, for each element of the result.

    ```mlir
    %m = wave.mask [wg.x * 64 + at.M lt M] : !wave.tile<[M, K], i1, #layout>
    ```
  }];
}

def Wave_SelfIndexOp : Wave_Op<"self_index", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the coordinate of each element along a dim";
  let description = [{
    The global coordinate along `dim`, of each element of a tile along it.

    ```mlir
    %i = wave.self_index M : !wave.tile<[M], i32>
    ```
  }];
  let arguments = (ins StrAttr:$dim, OptionalAttr<I64Attr>:$elements_per_thread,
                       Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names);
  let results = (outs Wave_IntValue:$result);
  let assemblyFormat = [{
    custom<Word>($dim) (`elements_per_thread` $elements_per_thread^)?
    (`symbols` `(` custom<Symbols>($symbol_values, type($symbol_values), $symbol_names)^ `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}
#endif
