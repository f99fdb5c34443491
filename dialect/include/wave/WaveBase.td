#ifndef WAVE_BASE_TD
#define WAVE_BASE_TD
// What the op files share: base classes, operand and attribute constraints, common descriptions.
include "wave/WaveDialect.td"
include "wave/WaveConstraints.td"
include "wave/WaveEnums.td"
include "wave/WaveExpr.td"
include "wave/WaveTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Wave_Op<string mnemonic, list<Trait> traits = []> : Op<Wave_Dialect, mnemonic, traits>;

//===- types -------------------------------------------------------------------===//
def Wave_Scalar : Type<CPred<"$_self.isIntOrIndexOrFloat()">, "integer, index or float">;
def Wave_Value : Type<Or<[CPred<"::llvm::isa<::wave::TileType>($_self)">, CPred<"::llvm::isa<::mlir::VectorType>($_self)">,
                          Wave_Scalar.predicate]>, "tile, vector or scalar">;
def Wave_IntValue : Type<And<[Wave_Value.predicate,
    CPred<"::wave::getElementType($_self).isIntOrIndex()">]>, "tile, vector or scalar of integers or index">;
def Wave_BoolValue : Type<And<[Wave_Value.predicate,
    CPred<"::wave::getElementType($_self).isInteger(1)">]>, "tile, vector or scalar of i1">;
def Wave_FloatValue : Type<And<[Wave_Value.predicate,
    CPred<"::llvm::isa<::mlir::FloatType>(::wave::getElementType($_self))">]>, "tile, vector or scalar of floats">;

//===- attributes --------------------------------------------------------------===//
def Wave_ExprArrayAttr : TypedArrayAttrBase<Wave_ExprAttr, "array of expressions">;
def Wave_SymbolNames : TypedArrayAttrBase<StrAttr, "array of symbols">;

// Every op with expressions takes values for symbols by name: `symbols(iv.K = %k, T = %n)`.
class Wave_SymbolArgs<dag before, dag after = (ins)> {
  dag args = !con(before, (ins Variadic<Wave_IntValue>:$symbol_values, OptionalAttr<Wave_SymbolNames>:$symbol_names),
                  after);
}
#endif
