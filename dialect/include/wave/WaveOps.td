#ifndef WAVE_OPS_TD
#define WAVE_OPS_TD
include "wave/WaveDialect.td"
include "wave/WaveExpr.td"
include "wave/WaveLayout.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Wave_Op<string mnemonic, list<Trait> traits = []> : Op<Wave_Dialect, mnemonic, traits>;

def Wave_ReturnOp : Wave_Op<"return", [Terminator, Pure]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}
#endif
