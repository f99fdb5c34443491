//===- AttrBridge.cpp - types and constraints for the Python extension -----------===//
#include "wave/AttrBridge.h"
#include "wave/Attrs.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace wave;

//===- fields ------------------------------------------------------------------===//
namespace {
/// Reads the fields of a dictionary; a field of another type counts as missing.
struct Reader {
  DictionaryAttr fields;
  template <typename A>
  A get(StringRef name) { return dyn_cast_or_null<A>(fields.get(name)); }
  ExprAttr expr(StringRef name) { return get<ExprAttr>(name); }
  StringAttr str(StringRef name) { return get<StringAttr>(name); }
  int64_t integer(StringRef name, int64_t otherwise = 0) {
    auto attr = get<IntegerAttr>(name);
    return attr ? attr.getInt() : otherwise;
  }
  bool flag(StringRef name) { return fields.contains(name); }
  template <typename A>
  SmallVector<A> list(StringRef name) {
    SmallVector<A> result;
    if (auto array = get<ArrayAttr>(name))
      for (Attribute a : array)
        result.push_back(cast<A>(a));
    return result;
  }
};

/// Collects the fields that are there.
struct Writer {
  Builder b;
  NamedAttrList fields;
  Writer &add(StringRef name, Attribute value) {
    if (value)
      fields.append(name, value);
    return *this;
  }
  Writer &add(StringRef name, int64_t value) { return add(name, b.getI64IntegerAttr(value)); }
  template <typename A>
  Writer &list(StringRef name, ArrayRef<A> values) {
    SmallVector<Attribute> attrs(values.begin(), values.end());
    return add(name, b.getArrayAttr(attrs));
  }
  DictionaryAttr done() { return fields.getDictionary(b.getContext()); }
};
} // namespace

//===- attributes --------------------------------------------------------------===//
bool waveAttributeIs(MlirAttribute attr, WaveAttrKind kind) {
  return unwrap(attr).getTypeID() == unwrap(waveAttributeTypeID(kind));
}

MlirTypeID waveAttributeTypeID(WaveAttrKind kind) {
  switch (kind) {
  case WaveKindWorkgroup: return wrap(WorkgroupConstraintAttr::getTypeID());
  case WaveKindTiling: return wrap(TilingConstraintAttr::getTypeID());
  case WaveKindWave: return wrap(WaveConstraintAttr::getTypeID());
  case WaveKindHardware: return wrap(HardwareConstraintAttr::getTypeID());
  case WaveKindReordering: return wrap(ReorderingConstraintAttr::getTypeID());
  case WaveKindGrid: return wrap(GridConstraintAttr::getTypeID());
  case WaveKindDevice: return wrap(DeviceConstraintAttr::getTypeID());
  case WaveKindAssume: return wrap(AssumeConstraintAttr::getTypeID());
  case WaveKindMapping: return wrap(MappingAttr::getTypeID());
  }
  llvm_unreachable("kind");
}

MlirAttribute waveAttributeGet(MlirLocation location, WaveAttrKind kind, MlirAttribute dictionary) {
  Location loc = unwrap(location);
  MLIRContext *ctx = loc.getContext();
  Reader r{cast<DictionaryAttr>(unwrap(dictionary))};
  auto emit = [&] { return emitError(loc); };
  Attribute result;
  switch (kind) {
  case WaveKindWorkgroup:
    result = WorkgroupConstraintAttr::getChecked(emit, ctx, r.str("dim"), r.expr("tile"), (unsigned)r.integer("axis"),
                                                 r.expr("fn"), r.expr("iters"), r.flag("secondary"));
    break;
  case WaveKindTiling:
    result = TilingConstraintAttr::getChecked(emit, ctx, r.str("dim"), r.expr("tile"), r.expr("iters"),
                                              r.expr("start"));
    break;
  case WaveKindWave:
    result = WaveConstraintAttr::getChecked(
        emit, ctx, r.str("dim"), r.expr("tile"),
        r.flag("axis") ? std::optional<unsigned>(r.integer("axis")) : std::nullopt);
    break;
  case WaveKindHardware: {
    SmallVector<int64_t> waves;
    for (IntegerAttr n : r.list<IntegerAttr>("waves_per_block"))
      waves.push_back(n.getInt());
    auto shapes = r.get<DictionaryAttr>("vector_shapes");
    result = HardwareConstraintAttr::getChecked(
        emit, ctx, r.integer("threads_per_wave"), r.str("mma"), shapes ? shapes : DictionaryAttr::get(ctx),
        ArrayRef<int64_t>(waves), r.integer("max_bits_per_load", 128), r.integer("service_waves"));
    break;
  }
  case WaveKindReordering:
    result = ReorderingConstraintAttr::getChecked(emit, ctx, r.expr("equation"), (unsigned)r.integer("axis"));
    break;
  case WaveKindGrid:
    result = GridConstraintAttr::getChecked(emit, ctx, ArrayRef<ExprAttr>(r.list<ExprAttr>("sizes")));
    break;
  case WaveKindDevice:
    result = DeviceConstraintAttr::getChecked(emit, ctx, r.str("dim"), r.expr("tile"),
                                              (unsigned)r.integer("device_dim"));
    break;
  case WaveKindAssume:
    result = AssumeConstraintAttr::getChecked(emit, ctx, r.expr("predicate"));
    break;
  case WaveKindMapping:
    result = MappingAttr::getChecked(emit, ctx, ArrayRef<StringAttr>(r.list<StringAttr>("dims")),
                                     ArrayRef<StringAttr>(r.list<StringAttr>("iterators")),
                                     ArrayRef<ExprAttr>(r.list<ExprAttr>("memory")),
                                     ArrayRef<DictionaryAttr>(r.list<DictionaryAttr>("dynamic")));
    break;
  }
  return wrap(result);
}

MlirAttribute waveAttributeFields(MlirAttribute wrapped) {
  Attribute attr = unwrap(wrapped);
  Writer w{Builder(attr.getContext()), {}};
  TypeSwitch<Attribute>(attr)
      .Case([&](WorkgroupConstraintAttr a) {
        w.add("dim", a.getDim()).add("tile", a.getTile()).add("axis", (int64_t)a.getAxis()).add("fn", a.getFn());
        w.add("iters", a.getIters());
        if (a.getSecondary())
          w.add("secondary", w.b.getUnitAttr());
      })
      .Case([&](TilingConstraintAttr a) {
        w.add("dim", a.getDim()).add("tile", a.getTile()).add("iters", a.getIters()).add("start", a.getStart());
      })
      .Case([&](WaveConstraintAttr a) {
        w.add("dim", a.getDim()).add("tile", a.getTile());
        if (a.getAxis())
          w.add("axis", (int64_t)*a.getAxis());
      })
      .Case([&](HardwareConstraintAttr a) {
        SmallVector<Attribute> waves;
        for (int64_t n : a.getWavesPerBlock())
          waves.push_back(w.b.getI64IntegerAttr(n));
        w.add("threads_per_wave", a.getThreadsPerWave()).add("mma", a.getMma());
        w.add("vector_shapes", a.getVectorShapes()).list<Attribute>("waves_per_block", waves);
        w.add("max_bits_per_load", a.getMaxBitsPerLoad()).add("service_waves", a.getServiceWaves());
      })
      .Case([&](ReorderingConstraintAttr a) {
        w.add("equation", a.getEquation()).add("axis", (int64_t)a.getAxis());
      })
      .Case([&](GridConstraintAttr a) { w.list("sizes", a.getSizes()); })
      .Case([&](DeviceConstraintAttr a) {
        w.add("dim", a.getDim()).add("tile", a.getTile()).add("device_dim", (int64_t)a.getDeviceDim());
      })
      .Case([&](AssumeConstraintAttr a) { w.add("predicate", a.getPredicate()); })
      .Case([&](MappingAttr a) {
        w.list("dims", a.getDims()).list("iterators", a.getIterators()).list("memory", a.getMemory());
        w.list("dynamic", a.getDynamic());
      });
  return wrap(Attribute(w.done()));
}

//===- types -------------------------------------------------------------------===//
bool waveTypeIsATile(MlirType type) { return isa<TileType>(unwrap(type)); }
bool waveTypeIsAMemory(MlirType type) { return isa<MemoryType>(unwrap(type)); }
MlirTypeID waveTileTypeID() { return wrap(TileType::getTypeID()); }
MlirTypeID waveMemoryTypeID() { return wrap(MemoryType::getTypeID()); }

template <typename A>
static SmallVector<A> elements(Attribute array) {
  SmallVector<A> result;
  if (array)
    for (Attribute a : cast<ArrayAttr>(array))
      result.push_back(cast<A>(a));
  return result;
}
template <typename A>
static MlirAttribute arrayOf(MLIRContext *ctx, ArrayRef<A> values) {
  SmallVector<Attribute> attrs(values.begin(), values.end());
  return wrap(Attribute(ArrayAttr::get(ctx, attrs)));
}

MlirType waveTileGet(MlirLocation location, MlirAttribute dims, MlirType element, MlirAttribute layout) {
  Location loc = unwrap(location);
  return wrap(Type(TileType::getChecked([&] { return emitError(loc); }, loc.getContext(), !mlirAttributeIsNull(dims),
                                        ArrayRef<StringAttr>(elements<StringAttr>(unwrap(dims))), unwrap(element),
                                        unwrap(layout))));
}
MlirType waveMemoryGet(MlirLocation location, MlirAttribute shape, MlirType element, MlirStringRef space,
                       MlirAttribute strides) {
  Location loc = unwrap(location);
  auto emit = [&] { return emitError(loc); };
  std::optional<AddressSpace> symbol = symbolizeAddressSpace(unwrap(space));
  if (!symbol) {
    emit() << "'" << unwrap(space) << "' is no address space; there are global, shared and register";
    return {nullptr};
  }
  return wrap(Type(MemoryType::getChecked(emit, loc.getContext(), ArrayRef<ExprAttr>(elements<ExprAttr>(unwrap(shape))),
                                          unwrap(element), *symbol,
                                          ArrayRef<Attribute>(elements<Attribute>(unwrap(strides))))));
}

MlirAttribute waveTileDims(MlirType type) {
  auto tile = cast<TileType>(unwrap(type));
  return tile.getKnown() ? arrayOf(tile.getContext(), tile.getDims()) : MlirAttribute{nullptr};
}
MlirAttribute waveTileLayout(MlirType type) { return wrap(cast<TileType>(unwrap(type)).getLayout()); }
MlirType waveElementType(MlirType type) { return wrap(getElementType(unwrap(type))); }
MlirAttribute waveMemoryShape(MlirType type) {
  auto memory = cast<MemoryType>(unwrap(type));
  return arrayOf(memory.getContext(), memory.getShape());
}
MlirStringRef waveMemorySpace(MlirType type) {
  return wrap(stringifyAddressSpace(cast<MemoryType>(unwrap(type)).getSpace()));
}
MlirAttribute waveMemoryStrides(MlirType type) {
  auto memory = cast<MemoryType>(unwrap(type));
  return memory.isStrided() ? arrayOf(memory.getContext(), memory.getStrides()) : MlirAttribute{nullptr};
}
MlirAttribute waveMemoryElementStrides(MlirType type) {
  auto memory = cast<MemoryType>(unwrap(type));
  SmallVector<Attribute> strides;
  for (ExprAttr stride : memory.getElementStrides())
    strides.push_back(stride ? Attribute(stride) : Attribute(UnitAttr::get(memory.getContext())));
  return wrap(Attribute(ArrayAttr::get(memory.getContext(), strides)));
}
