//===- ConstraintModule.cpp - Python classes of constraints and mappings ---------===//
#include "AttrModule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include <nanobind/stl/vector.h>
using namespace wave;

namespace {
template <WaveAttrKind kind>
struct PyFieldAttr : D::PyConcreteAttribute<PyFieldAttr<kind>> {
  using Base = D::PyConcreteAttribute<PyFieldAttr<kind>>;
  using Base::Base;
  static bool isa(MlirAttribute attr) { return waveAttributeIs(attr, kind); }
  static MlirTypeID typeId() { return waveAttributeTypeID(kind); }
  static constexpr typename Base::IsAFunctionTy isaFunction = isa;
  static constexpr typename Base::GetTypeIDFunctionTy getTypeIdFunction = typeId;
  static const char *const pyClassName;
  static void bindDerived(typename Base::ClassTy &c);

  static PyFieldAttr make(const D::PyMlirContextRef &ctx, const Fields &fields) {
    D::PyMlirContext::ErrorCapture errors(ctx);
    MlirAttribute attr = waveAttributeGet(mlirLocationUnknownGet(contextOf(ctx)), kind, fields.dictionary());
    if (mlirAttributeIsNull(attr))
      throw D::MLIRError("Invalid attribute", errors.take());
    return PyFieldAttr(ctx, attr);
  }
  nb::object field(const char *name) {
    MlirAttribute fields = waveAttributeFields(*this);
    return toPython(this->getContext(), mlirDictionaryAttrGetElementByName(fields, mlirStringRefCreateFromCString(name)));
  }
};
using Workgroup = PyFieldAttr<WaveKindWorkgroup>;
using Tiling = PyFieldAttr<WaveKindTiling>;
using Wave = PyFieldAttr<WaveKindWave>;
using Hardware = PyFieldAttr<WaveKindHardware>;
using Reordering = PyFieldAttr<WaveKindReordering>;
using Grid = PyFieldAttr<WaveKindGrid>;
using Device = PyFieldAttr<WaveKindDevice>;
using Assume = PyFieldAttr<WaveKindAssume>;
using Mapping = PyFieldAttr<WaveKindMapping>;

template <typename Class>
void property(Class &c, const char *name, const char *doc) {
  c.def_prop_ro(name, [name](typename Class::Type &self) { return self.field(name); }, doc);
}
} // namespace
template <> const char *const Workgroup::pyClassName = "WorkgroupConstraintAttr";
template <> const char *const Tiling::pyClassName = "TilingConstraintAttr";
template <> const char *const Wave::pyClassName = "WaveConstraintAttr";
template <> const char *const Hardware::pyClassName = "HardwareConstraintAttr";
template <> const char *const Reordering::pyClassName = "ReorderingConstraintAttr";
template <> const char *const Grid::pyClassName = "GridConstraintAttr";
template <> const char *const Device::pyClassName = "DeviceConstraintAttr";
template <> const char *const Assume::pyClassName = "AssumeConstraintAttr";
template <> const char *const Mapping::pyClassName = "MappingAttr";

static constexpr const char *dimDoc = "The symbol that is constrained.";
static constexpr const char *tileDoc = "Elements of one tile along the dim (Expr).";
static constexpr const char *axisDoc = "The grid dim, 0 for x.";

template <> void Workgroup::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle dim, nb::handle tile, nb::handle axis, nb::handle fn, nb::handle iters,
                         bool secondary, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).symbol("dim", dim).expr("tile", tile).axis("axis", axis).expr("fn", fn)
                         .expr("iters", iters).flag("secondary", secondary));
  }, nb::arg("dim"), nb::arg("tile"), nb::arg("axis"), nb::kw_only(), nb::arg("fn") = nb::none(),
  nb::arg("iters") = nb::none(), nb::arg("secondary") = false, nb::arg("context") = nb::none());
  property(c, "dim", dimDoc);
  property(c, "tile", tileDoc);
  property(c, "axis", axisDoc);
  property(c, "fn", "Where the workgroup's part starts, in tiles (Expr), or None.");
  property(c, "iters", "Workgroups along the grid dim (Expr), or None.");
  c.def_prop_ro("secondary", [](Workgroup &self) {
    return !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(
        waveAttributeFields(self), mlirStringRefCreateFromCString("secondary")));
  }, "Whether the dim rides on a grid dim that another constraint owns.");
}
template <> void Tiling::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle dim, nb::handle tile, nb::handle iters, nb::handle start, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).symbol("dim", dim).expr("tile", tile).expr("iters", iters).expr("start", start));
  }, nb::arg("dim"), nb::arg("tile") = nb::none(), nb::kw_only(), nb::arg("iters") = nb::none(),
  nb::arg("start") = nb::none(), nb::arg("context") = nb::none());
  property(c, "dim", dimDoc);
  property(c, "tile", "Elements of one trip along the dim (Expr), or None.");
  property(c, "iters", "The trip count (Expr), or None.");
  property(c, "start", "The first position (Expr), or None.");
}
template <> void Wave::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle dim, nb::handle tile, nb::handle axis, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).symbol("dim", dim).expr("tile", tile).axis("axis", axis));
  }, nb::arg("dim"), nb::arg("tile"), nb::arg("axis") = nb::none(), nb::kw_only(), nb::arg("context") = nb::none());
  property(c, "dim", dimDoc);
  property(c, "tile", "Elements of one wave along the dim (Expr).");
  property(c, "axis", "The block dim of the waves, 0 for x, or None.");
}
template <> void Hardware::bindDerived(ClassTy &c) {
  c.def_static("get", [](int64_t threads, nb::handle mma, nb::handle shapes, nb::handle waves, int64_t maxBits,
                         int64_t serviceWaves, nb::handle context) {
    auto ctx = contextArgument(context);
    Fields fields(ctx);
    fields.integer("threads_per_wave", threads).word("mma", mma);
    if (!shapes.is_none())
      fields.set("vector_shapes", exprDictionaryArgument(ctx, shapes));
    if (!waves.is_none()) {
      std::vector<MlirAttribute> numbers;
      for (nb::handle n : waves)
        numbers.push_back(mlirIntegerAttrGet(mlirIntegerTypeGet(contextOf(ctx), 64), toInt64(n, "waves_per_block")));
      fields.set("waves_per_block", mlirArrayAttrGet(contextOf(ctx), numbers.size(), numbers.data()));
    }
    return make(ctx, fields.integer("max_bits_per_load", maxBits).integer("service_waves", serviceWaves));
  }, nb::arg("threads_per_wave"), nb::arg("mma") = nb::none(), nb::arg("vector_shapes") = nb::none(), nb::kw_only(),
  nb::arg("waves_per_block") = nb::none(), nb::arg("max_bits_per_load") = 128, nb::arg("service_waves") = 0,
  nb::arg("context") = nb::none());
  property(c, "threads_per_wave", "Lanes of a wave.");
  property(c, "mma", "Name of the default MMA kind, or None.");
  property(c, "vector_shapes", "dict of dim to the extent that one op of one wave covers (Expr).");
  property(c, "waves_per_block", "Waves along x, y and z; empty when not given.");
  property(c, "max_bits_per_load", "Widest access of a lane in bits.");
  property(c, "service_waves", "Number of waves that only load.");
}
template <> void Reordering::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle equation, nb::handle axis, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).expr("equation", equation).axis("axis", axis));
  }, nb::arg("equation"), nb::arg("axis"), nb::kw_only(), nb::arg("context") = nb::none());
  property(c, "equation", "The program's workgroup id, of the hardware's ids (Expr).");
  property(c, "axis", axisDoc);
}
template <> void Grid::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle sizes, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).set("sizes", exprArrayArgument(ctx, sizes)));
  }, nb::arg("sizes"), nb::kw_only(), nb::arg("context") = nb::none());
  property(c, "sizes", "Workgroups along each grid dim (list of Expr).");
}
template <> void Device::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle dim, nb::handle tile, nb::handle device, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).symbol("dim", dim).expr("tile", tile).axis("device_dim", device));
  }, nb::arg("dim"), nb::arg("tile"), nb::arg("device_dim"), nb::kw_only(), nb::arg("context") = nb::none());
  property(c, "dim", dimDoc);
  property(c, "tile", "Elements of one device along the dim (Expr).");
  property(c, "device_dim", "Which dim of the devices' grid.");
}
template <> void Assume::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle predicate, nb::handle context) {
    auto ctx = contextArgument(context);
    return make(ctx, Fields(ctx).expr("predicate", predicate));
  }, nb::arg("predicate"), nb::kw_only(), nb::arg("context") = nb::none());
  property(c, "predicate", "What the caller guarantees (Expr).");
}
template <> void Mapping::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::dict iterators, nb::handle memory, nb::handle dynamic, nb::handle context) {
    auto ctx = contextArgument(context);
    std::vector<MlirAttribute> dims, names, positions;
    for (auto [dim, iterator] : iterators) {
      dims.push_back(stringAttribute(ctx, symbolName(dim)));
      names.push_back(stringAttribute(ctx, symbolName(iterator)));
    }
    for (nb::handle position : dynamic)
      positions.push_back(exprDictionaryArgument(ctx, position));
    MlirContext raw = contextOf(ctx);
    return make(ctx, Fields(ctx).set("dims", mlirArrayAttrGet(raw, dims.size(), dims.data()))
                         .set("iterators", mlirArrayAttrGet(raw, names.size(), names.data()))
                         .set("memory", exprArrayArgument(ctx, memory))
                         .set("dynamic", mlirArrayAttrGet(raw, positions.size(), positions.data())));
  }, nb::arg("iterators"), nb::arg("memory"), nb::arg("dynamic") = nb::list(), nb::kw_only(),
  nb::arg("context") = nb::none());
  c.def_prop_ro("iterators", [](Mapping &self) {
    nb::dict result;
    nb::list dims = nb::cast<nb::list>(self.field("dims")), names = nb::cast<nb::list>(self.field("iterators"));
    for (size_t i = 0; i < nb::len(dims); ++i)
      result[dims[i]] = names[i];
    return result;
  }, "dict of the tile's dims to the names of their iterators.");
  property(c, "memory", "The coordinate along each memory dim (list of Expr).");
  property(c, "dynamic", "For each dynamic value a dict of its dims to positions (Expr).");
}

void wave::bindConstraints(nb::module_ &m) {
  Workgroup::bind(m);
  Tiling::bind(m);
  Wave::bind(m);
  Hardware::bind(m);
  Reordering::bind(m);
  Grid::bind(m);
  Device::bind(m);
  Assume::bind(m);
  Mapping::bind(m);
}
