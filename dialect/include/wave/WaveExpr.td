#ifndef WAVE_EXPR_TD
#define WAVE_EXPR_TD
include "wave/WaveDialect.td"
include "mlir/IR/AttrTypeBase.td"

// Storage of an expression node: see wave/Expr.h for construction, algebra and text syntax.
def Wave_ExprAttr : AttrDef<Wave_Dialect, "Expr"> {
  let mnemonic = "expr";
  let summary = "an integer expression over symbols";
  let description = [{
    `#wave.expr<wg.x * 64 + lane mod 16>`: an immutable, uniqued tree of `+ - * floordiv ceildiv mod min max xor`,
    comparisons, `and`, `or` and `select` over symbols and 64-bit integers, with floor semantics.
  }];
  let parameters = (ins "::wave::ExprKind":$kind, "int64_t":$value, "::mlir::StringAttr":$name,
                        ArrayRefParameter<"::mlir::Attribute">:$operands);
  let hasCustomAssemblyFormat = 1;
}
#endif
