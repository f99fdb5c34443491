//===- TypeModule.cpp - Python classes of tiles and memories ----------------------===//
#include "AttrModule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
using namespace wave;

static MlirStringRef ref(const std::string &s) { return mlirStringRefCreate(s.data(), s.size()); }

static nb::object typeObject(D::PyType &self, MlirType type) { return D::PyType(self.getContext(), type).maybeDownCast(); }
static MlirAttribute optionalAttribute(nb::handle attr) {
  return attr.is_none() ? MlirAttribute{nullptr} : nb::cast<D::PyAttribute &>(attr).get();
}
static MlirType checked(D::PyMlirContext::ErrorCapture &errors, MlirType type) {
  if (mlirTypeIsNull(type))
    throw D::MLIRError("Invalid type", errors.take());
  return type;
}

namespace {
struct PyTileType : D::PyConcreteType<PyTileType> {
  static constexpr IsAFunctionTy isaFunction = waveTypeIsATile;
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = waveTileTypeID;
  static constexpr const char *pyClassName = "TileType";
  using PyConcreteType::PyConcreteType;
  static PyTileType make(const D::PyMlirContextRef &ctx, MlirAttribute dims, MlirType element, MlirAttribute layout) {
    D::PyMlirContext::ErrorCapture errors(ctx);
    return PyTileType(ctx, checked(errors, waveTileGet(mlirLocationUnknownGet(contextOf(ctx)), dims, element, layout)));
  }
  static void bindDerived(ClassTy &c);
};

struct PyMemoryType : D::PyConcreteType<PyMemoryType> {
  static constexpr IsAFunctionTy isaFunction = waveTypeIsAMemory;
  static constexpr GetTypeIDFunctionTy getTypeIdFunction = waveMemoryTypeID;
  static constexpr const char *pyClassName = "MemoryType";
  using PyConcreteType::PyConcreteType;
  static void bindDerived(ClassTy &c);
};
} // namespace

void PyTileType::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle dims, D::PyType &element, nb::handle layout) {
    auto ctx = element.getContext();
    MlirAttribute names = dims.is_none() ? MlirAttribute{nullptr} : symbolArrayArgument(ctx, dims);
    return make(ctx, names, element, optionalAttribute(layout));
  }, nb::arg("dims").none(), nb::arg("element_type"), nb::arg("layout") = nb::none(),
  "A tile with these dims (symbols), or of unknown shape (None). MLIRError when dims repeat or the layout does not fit.");
  c.def_prop_ro("dims", [](PyTileType &self) { return toPython(self.getContext(), waveTileDims(self)); },
                "The dims (list of str), None when the shape is unknown.");
  c.def_prop_ro("element_type", [](PyTileType &self) { return typeObject(self, waveElementType(self)); });
  c.def_prop_ro("layout", [](PyTileType &self) { return toPython(self.getContext(), waveTileLayout(self)); },
                "The layout, or None.");
  c.def_prop_ro("known", [](PyTileType &self) { return !mlirAttributeIsNull(waveTileDims(self)); },
                "Whether the shape is known.");
  c.def("with_layout", [](PyTileType &self, nb::handle layout) {
    return make(self.getContext(), waveTileDims(self), waveElementType(self), optionalAttribute(layout));
  }, nb::arg("layout").none(), "The same tile with another layout, or without (None).");
  c.def("with_element_type", [](PyTileType &self, D::PyType &element) {
    return make(self.getContext(), waveTileDims(self), element, waveTileLayout(self));
  }, nb::arg("element_type"), "The same tile of other elements.");
}

// Expressions, or None where a stride is known at run time only.
static MlirAttribute stridesArgument(const D::PyMlirContextRef &ctx, nb::handle strides) {
  if (strides.is_none())
    return {nullptr};
  std::vector<MlirAttribute> values;
  for (nb::handle stride : strides)
    values.push_back(stride.is_none() ? mlirUnitAttrGet(contextOf(ctx)) : exprArgument(ctx, stride));
  return mlirArrayAttrGet(contextOf(ctx), values.size(), values.data());
}

void PyMemoryType::bindDerived(ClassTy &c) {
  c.def_static("get", [](nb::handle shape, D::PyType &element, const std::string &space, nb::handle strides) {
    auto ctx = element.getContext();
    MlirAttribute extents = exprArrayArgument(ctx, shape), steps = stridesArgument(ctx, strides);
    D::PyMlirContext::ErrorCapture errors(ctx);
    return PyMemoryType(ctx, checked(errors, waveMemoryGet(mlirLocationUnknownGet(contextOf(ctx)), extents, element,
                                                           ref(space), steps)));
  }, nb::arg("shape"), nb::arg("element_type"), nb::arg("space"), nb::arg("strides") = nb::none(),
  "A memory of this shape (expressions) in `global`, `shared` or `register` space. `strides` counts elements; None in it "
  "is a stride known at run time only.");
  c.def_prop_ro("shape", [](PyMemoryType &self) { return toPython(self.getContext(), waveMemoryShape(self)); },
                "The extent of each dim (list of Expr).");
  c.def_prop_ro("element_type", [](PyMemoryType &self) { return typeObject(self, waveElementType(self)); });
  c.def_prop_ro("space", [](PyMemoryType &self) {
    MlirStringRef s = waveMemorySpace(self);
    return nb::str(s.data, s.length);
  }, "global, shared or register.");
  c.def_prop_ro("strides", [](PyMemoryType &self) { return toPython(self.getContext(), waveMemoryStrides(self)); },
                "The strides as given (list of Expr or None), None when dense.");
  c.def_prop_ro("element_strides", [](PyMemoryType &self) {
    return toPython(self.getContext(), waveMemoryElementStrides(self));
  }, "The stride of each dim in elements (list of Expr), None where it is known at run time only.");
}

void wave::bindTypes(nb::module_ &m) {
  PyTileType::bind(m);
  PyMemoryType::bind(m);
}
