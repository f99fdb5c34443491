//===- LayoutModule.cpp - the Python class of #wave.layout -----------------------===//
#include "LayoutModule.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
using namespace wave;

int PyLayout::dim(const std::string &name) {
  int d = map().dimOf(name);
  if (d < 0)
    throw nb::value_error(("the layout has no dim " + name).c_str());
  return d;
}
PyLayout PyLayout::make(const LayoutMap &map) {
  std::string error = verifyLayout(map);
  if (!error.empty())
    throw nb::value_error(error.c_str());
  return PyLayout(getContext(), layoutAttribute(getContext()->get(), map));
}
PyLayout PyLayout::make(const LayoutResult &result) {
  if (!result.error.empty())
    throw nb::value_error(result.error.c_str());
  return make(result.map);
}

static int sourceOf(const std::string &name) {
  int s = layoutSourceOf(name);
  if (s < 0)
    throw nb::value_error(("unknown source " + name + "; expected reg, lane, wave.x, wave.y or wave.z").c_str());
  return s;
}
LayoutSizes wave::sizesOf(const PySizes &sizes) {
  LayoutSizes r{};
  if (sizes)
    for (const auto &[name, n] : *sizes) {
      if (n <= 0)
        throw nb::value_error(("the size of " + name + " must be positive").c_str());
      r[sourceOf(name)] = n;
    }
  return r;
}
nb::object wave::wrapAttribute(const PyContext &ctx, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr))
    return nb::none();
  return D::PyAttribute(ctx, attr).maybeDownCast();
}
MlirAttribute wave::exprOf(D::PyAttribute &attr) {
  if (!isExpr(attr))
    throw nb::type_error("expected an expression attribute (#wave.expr)");
  return attr;
}

/// A dict of dim to number, in its order.
static PyExtents numbers(const nb::dict &dict) {
  PyExtents r;
  for (auto [name, value] : dict)
    r.push_back({nb::cast<std::string>(name), nb::cast<int64_t>(value)});
  return r;
}
static int dimIn(const LayoutMap &m, const std::string &name) {
  int d = m.dimOf(name);
  if (d < 0)
    throw nb::value_error(("unknown dim " + name).c_str());
  return d;
}
static LayoutMap mapOf(const nb::dict &extents, const std::array<std::vector<PyDigit>, kLayoutSources> &digits,
                       const nb::dict &clip) {
  LayoutMap m;
  for (const auto &[name, extent] : numbers(extents)) {
    m.dims.push_back(name);
    m.extents.push_back(extent);
  }
  m.clip.assign(m.dims.size(), -1);
  for (int s = 0; s < kLayoutSources; ++s)
    for (const auto &[extent, name, stride] : digits[s])
      m.digits[s].push_back({extent, name ? dimIn(m, *name) : -1, name ? stride : 0});
  for (const auto &[name, n] : numbers(clip)) {
    if (n <= 0)
      throw nb::value_error(("the clip of " + name + " must be positive").c_str());
    m.clip[dimIn(m, name)] = n;
  }
  return m;
}

static PyDigits digitsOfMap(const LayoutMap &m) {
  PyDigits r;
  for (int s = 0; s < kLayoutSources; ++s) {
    std::vector<PyDigit> list;
    for (const LayoutDigit &d : m.digits[s])
      list.push_back({d.extent, d.dim < 0 ? std::nullopt : std::optional(m.dims[d.dim]), d.stride});
    if (!list.empty())
      r[layoutSourceName(s)] = std::move(list);
  }
  return r;
}

static void bindConstruction(PyLayout::ClassTy &c) {
  using Digits = std::vector<PyDigit>;
  c.def_static(
      "get",
      [](const nb::dict &extents, const Digits &reg, const Digits &lane, const Digits &x, const Digits &y,
         const Digits &z, const nb::dict &clip, D::DefaultingPyMlirContext ctx) {
        LayoutMap m = mapOf(extents, {reg, lane, x, y, z}, clip);
        std::string error = verifyLayout(m);
        if (!error.empty())
          throw nb::value_error(error.c_str());
        return PyLayout(ctx->getRef(), layoutAttribute(ctx->get(), m));
      },
      nb::arg("extents"), nb::kw_only(), nb::arg("reg") = Digits(), nb::arg("lane") = Digits(),
      nb::arg("wave_x") = Digits(), nb::arg("wave_y") = Digits(), nb::arg("wave_z") = Digits(),
      nb::arg("clip") = nb::dict(), nb::arg("context").none() = nb::none(),
        "A layout; digits are (extent, dim or None, stride), fastest first. ValueError when it is not well formed.");
  c.def_prop_ro("dims", [](PyLayout &l) { return l.map().dims; },
        "The dims of the tile, in order.");
  c.def_prop_ro("extents", [](PyLayout &l) {
    nb::dict r;
    for (size_t d = 0; d < l.map().dims.size(); ++d)
      r[nb::str(l.map().dims[d].c_str())] = l.map().extents[d];
    return r;
  },
        "Extent of the tile by dim.");
  c.def_prop_ro("clip", [](PyLayout &l) {
    nb::dict r;
    for (size_t d = 0; d < l.map().dims.size(); ++d)
      if (l.map().clip[d] >= 0)
        r[nb::str(l.map().dims[d].c_str())] = l.map().clip[d];
    return r;
  },
        "Clip by dim, of the clipped ones.");
  c.def_prop_ro("digits", [](PyLayout &l) { return digitsOfMap(l.map()); },
        "Digits by source, fastest first: (extent, dim or None, stride). Sources without digits are left out.");
  c.def("size", [](PyLayout &l, const std::string &source) { return l.map().size(sourceOf(source)); },
        nb::arg("source"),
        "How many values of a source the digits tell apart.");
  c.def_prop_ro("registers", [](PyLayout &l) { return l.map().size(Reg); },
        "Registers a lane needs.");
  c.def_prop_ro("elements", [](PyLayout &l) { return l.map().elements(); },
        "Elements of the tile.");
}

static void bindLayoutExpressions(PyLayout::ClassTy &c) {
  c.def("coord_expr",
        [](PyLayout &l, const std::string &dim, std::optional<int64_t> reg, const PySizes &sizes) {
          return wrapAttribute(l.getContext(), layoutCoordinateExpr(l.getContext()->get(), l.map(), l.dim(dim),
                                                                    reg.value_or(-1), sizesOf(sizes)));
        },
        nb::arg("dim"), nb::arg("reg").none() = nb::none(), nb::arg("sizes").none() = nb::none(),
        "The coordinate along a dim, over reg (or for one register), lane, wave.x, wave.y, wave.z.");
  for (auto [name, kind, doc] :
       {std::tuple("exists_expr", LayoutExprKind::Exists, "Whether an element exists at the place."),
        {"owner_expr", LayoutExprKind::Owner, "True at exactly one of the places that hold the same element."}})
    c.def(name,
          [kind = kind](PyLayout &l, std::optional<int64_t> reg, const PySizes &sizes) {
            return wrapAttribute(l.getContext(), layoutPredicateExpr(l.getContext()->get(), l.map(), kind,
                                                                     reg.value_or(-1), sizesOf(sizes)));
          },
          nb::arg("reg").none() = nb::none(), nb::arg("sizes").none() = nb::none(), doc);
  c.def("inverse_expr",
        [](PyLayout &l, const std::string &source, std::map<std::string, D::PyAttribute> coordinates) {
          std::vector<MlirAttribute> list;
          for (const std::string &name : l.map().dims) {
            auto it = coordinates.find(name);
            if (it == coordinates.end())
              throw nb::value_error(("no coordinate is given for " + name).c_str());
            list.push_back(exprOf(it->second));
          }
          return wrapAttribute(l.getContext(),
                               layoutInverseExpr(l.getContext()->get(), l.map(), sourceOf(source), list));
        },
        nb::arg("source"), nb::arg("coordinates"),
        "The value of a source that owns the element at the coordinates (by dim); None if there is no expression.");
}

void PyLayout::bindDerived(ClassTy &c) {
  bindConstruction(c);
  bindLayoutExpressions(c);
  bindLayoutAlgebra(c);
}

void wave::bindLayouts(nb::module_ &m) {
  PyLayout::bind(m);
  PyLdsLayout::bind(m);
  bindLayoutPlans(m);
}
