#ifndef WAVE_DIALECT_TD
#define WAVE_DIALECT_TD
include "mlir/IR/OpBase.td"

def Wave_Dialect : Dialect {
  let name = "wave";
  let summary = "tile programs over symbolic shapes";
  let description = [{
    A `wave.kernel` says what one workgroup computes on tensors of symbolic shape; constraints say how dims are
    divided among workgroups, waves and loops. Passes lower it form by form to gpu, vector and amdgpu.
  }];
  let cppNamespace = "::wave";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    // Each is where its storage or op classes are complete, so that one topic is one translation unit.
    void registerAttributes();
    void registerTypes();
    void registerComputeOps();
    void registerElementwiseOps();
    void registerKernelOps();
    void registerMemoryOps();
    void registerSyncOps();
  }];
}
#endif
