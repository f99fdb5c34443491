#ifndef WAVE_DIALECT_TD
#define WAVE_DIALECT_TD
include "mlir/IR/OpBase.td"

def Wave_Dialect : Dialect {
  let name = "wave";
  let summary = "tile programs over symbolic shapes";
  let cppNamespace = "::wave";
  let useDefaultTypePrinterParser = 0;
  let useDefaultAttributePrinterParser = 1;
}
#endif
