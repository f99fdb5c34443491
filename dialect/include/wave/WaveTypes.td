#ifndef WAVE_TYPES_TD
#define WAVE_TYPES_TD
include "wave/WaveDialect.td"
include "wave/WaveEnums.td"
include "wave/WaveExpr.td"
include "mlir/IR/AttrTypeBase.td"

class Wave_Type<string name, string typeMnemonic> : TypeDef<Wave_Dialect, name> {
  let mnemonic = typeMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Wave_TileType : Wave_Type<"Tile", "tile"> {
  let summary = "a tile of a tensor held in registers";
  let description = [{
    The part of a tensor that one workgroup holds in the registers of its lanes. Its dims are distinct symbols:

    ```mlir
    !wave.tile<[M, K], f16>
    !wave.tile<[M, K], f16, #wave.layout<…>>  // placed: where each element lives
    !wave.tile<[], i32>                        // one element
    !wave.tile<*, f16>                         // shape not inferred yet (tile form only)
    ```

    How much of dim `M` the tile covers follows from the kernel's constraints, or from the layout once there is one.
  }];
  let parameters = (ins "bool":$known, ArrayRefParameter<"::mlir::StringAttr">:$dims, "::mlir::Type":$elementType,
                        "::mlir::Attribute":$layout);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$dims, "::mlir::Type":$elementType,
                                        CArg<"::mlir::Attribute", "{}">:$layout), [{
      return $_get(elementType.getContext(), true, dims, elementType, layout);
    }]>
  ];
  let extraClassDeclaration = [{
    /// A tile whose shape is not known yet.
    static TileType getUnknown(::mlir::Type elementType);
    int64_t getRank() const { return getDims().size(); }
    bool hasDim(::llvm::StringRef dim) const;
  }];
}

def Wave_MemoryType : Wave_Type<"Memory", "memory"> {
  let summary = "a tensor in memory";
  let description = [{
    A tensor of symbolic shape in an address space. The dims are expressions; a kernel argument in `shared` space lies
    in global memory and is read through LDS.

    ```mlir
    !wave.memory<[M, K floordiv 32], f16, global>
    !wave.memory<[64, 32], f16, shared, strides = [40, 1]>
    !wave.memory<[M, N], f32, global, strides = [?, 1]>   // a stride known at run time only
    ```

    Without `strides` the memory is dense and row-major. Strides count elements.
  }];
  let parameters = (ins ArrayRefParameter<"::wave::ExprAttr">:$shape, "::mlir::Type":$elementType,
                        "::wave::AddressSpace":$space, ArrayRefParameter<"::mlir::Attribute">:$strides);
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Whether the strides are given; a null stride is unknown until run time.
    bool isStrided() const { return !getStrides().empty(); }
    /// The stride of each dim in elements, dense ones computed; null where it is known at run time only.
    ::llvm::SmallVector<::wave::ExprAttr> getElementStrides() const;
  }];
}
#endif
