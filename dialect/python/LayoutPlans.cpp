//===- LayoutPlans.cpp - conversion plans, LDS layouts, bank conflicts in Python --===//
#include "LayoutModule.h"
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
using namespace wave;

static constexpr const char *kindNames[] = {"identity", "registers", "lanes", "lds"};

/// (kind, elements, per destination register a list of (source register, source lane by lane))
static nb::tuple plan(PyLayout &src, PyLayout &dst, const PySizes &sizes) {
  std::string error;
  LayoutPlan p = planConversion(src.map(), dst.map(), sizesOf(sizes), error);
  if (!error.empty())
    throw nb::value_error(error.c_str());
  nb::list registers;
  for (const std::vector<LaneMove> &moves : p.moves) {
    nb::list list;
    for (const LaneMove &m : moves)
      list.append(nb::make_tuple(m.reg, m.lanes));
    registers.append(list);
  }
  return nb::make_tuple(kindNames[int(p.kind)], p.elements, registers);
}

static void checkRank(const LdsMap &map, size_t n) {
  if (n != map.shape.size())
    throw nb::value_error(("the buffer has " + std::to_string(map.shape.size()) + " dims").c_str());
}

void PyLdsLayout::bindDerived(ClassTy &c) {
  c.def_static(
      "get",
      [](const std::vector<int64_t> &shape, int64_t chunk, int64_t phases, int64_t rows, int64_t pad,
         int64_t interval, D::DefaultingPyMlirContext ctx) {
        LdsMap m;
        m.shape = shape;
        if (phases != 1) // without phases the other two mean nothing: one spelling
          m.chunk = chunk, m.phases = phases, m.rows = rows;
        m.pad = pad, m.interval = interval;
        std::string error = verifyLds(m);
        if (!error.empty())
          throw nb::value_error(error.c_str());
        return PyLdsLayout(ctx->getRef(), ldsAttribute(ctx->get(), m));
      },
      nb::arg("shape"), nb::kw_only(), nb::arg("chunk") = 1, nb::arg("phases") = 1, nb::arg("rows") = 1,
      nb::arg("pad") = 0, nb::arg("interval") = 0, nb::arg("context").none() = nb::none(),
        "An LDS layout; all numbers in elements. ValueError when it is not well formed.");
  c.def_prop_ro("shape", [](PyLdsLayout &l) { return l.map().shape; },
        "Extents of the buffer.");
  c.def_prop_ro("chunk", [](PyLdsLayout &l) { return l.map().chunk; },
        "Elements that the swizzle keeps together.");
  c.def_prop_ro("phases", [](PyLdsLayout &l) { return l.map().phases; },
        "Chunks are XORed with 0 .. phases - 1; 1: no swizzle.");
  c.def_prop_ro("rows", [](PyLdsLayout &l) { return l.map().rows; },
        "Neighbouring rows with the same XOR.");
  c.def_prop_ro("pad", [](PyLdsLayout &l) { return l.map().pad; },
        "Elements left out after each interval.");
  c.def_prop_ro("interval", [](PyLdsLayout &l) { return l.map().interval; },
        "Elements between two paddings; 0: none.");
  c.def_prop_ro("size", [](PyLdsLayout &l) { return l.map().size(); },
        "Elements from the first to the last, padding included.");
  c.def("offset",
        [](PyLdsLayout &l, const std::vector<int64_t> &coordinates) {
          checkRank(l.map(), coordinates.size());
          for (size_t d = 0; d < coordinates.size(); ++d)
            if (coordinates[d] < 0 || coordinates[d] >= l.map().shape[d])
              throw nb::value_error("a coordinate is outside the buffer");
          return l.map().offset(coordinates.data());
        },
        nb::arg("coordinates"),
        "Offset of the element at the coordinates.");
  c.def("offset_expr",
        [](PyLdsLayout &l, std::vector<D::PyAttribute> coordinates) {
          checkRank(l.map(), coordinates.size());
          std::vector<MlirAttribute> list;
          for (D::PyAttribute &a : coordinates)
            list.push_back(exprOf(a));
          return wrapAttribute(l.getContext(), ldsOffsetExpr(l.getContext()->get(), l.map(), list));
        },
        nb::arg("coordinates"),
        "Offset of the element at the coordinates, as an expression.");
}

void wave::bindLayoutPlans(nb::module_ &m) {
  m.def("layout_plan", plan, nb::arg("src"), nb::arg("dst"), nb::arg("sizes").none() = nb::none());
  m.def("lane_table_expr",
        [](const std::vector<int64_t> &table, D::DefaultingPyMlirContext ctx) {
          return wrapAttribute(ctx->getRef(), laneTableExpr(ctx->get(), table));
        },
        nb::arg("table"), nb::arg("context").none() = nb::none());
  m.def("bank_conflicts",
        [](const std::vector<int64_t> &addresses, int64_t width, int64_t banks,
           const std::vector<std::vector<int64_t>> &phases, int64_t bankBytes) {
          if (width <= 0 || banks <= 0 || bankBytes <= 0)
            throw nb::value_error("width, banks and the bytes of a bank must be positive");
          return bankConflicts(addresses, width, banks, bankBytes, phases);
        },
        nb::arg("addresses"), nb::arg("width"), nb::arg("banks"), nb::arg("phases"), nb::arg("bank_bytes") = 4,
        "Per phase the most rows any bank is asked for; a negative address is an inactive lane.");
}
