//===- LayoutAlgebra.cpp - transformations and tables of layouts in Python ------===//
#include "LayoutModule.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
using namespace wave;

using Array = nb::ndarray<nb::numpy, int64_t>;

/// A numpy array that owns `values`.
static Array array(std::vector<int64_t> values, std::initializer_list<size_t> shape) {
  auto *kept = new std::vector<int64_t>(std::move(values));
  nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<int64_t> *>(p); });
  return Array(kept->data(), shape, owner);
}

static Array tableOf(PyLayout &l, const PySizes &given) {
  LayoutSizes n = l.map().complete(sizesOf(given));
  int64_t waves = n[WaveX] * n[WaveY] * n[WaveZ];
  if (waves * n[Lane] > (int64_t(1) << 26) / n[Reg])
    throw nb::value_error("the table would have over 2^26 entries");
  return array(layoutTable(l.map(), n), {size_t(waves), size_t(n[Lane]), size_t(n[Reg])});
}

static PyLayout renamed(PyLayout &l, const std::map<std::string, std::string> &names) {
  std::vector<std::string> list = l.map().dims;
  for (const auto &[from, to] : names)
    list[l.dim(from)] = to;
  return l.make(renameDims(l.map(), list));
}

static nb::tuple sliced(PyLayout &l, const std::string &dim, int64_t start, int64_t extent) {
  std::vector<int64_t> registers;
  PyLayout r = l.make(sliceDim(l.map(), dim, start, extent, registers));
  return nb::make_tuple(r, registers);
}

static int sourceNamed(const std::string &name) {
  int s = layoutSourceOf(name);
  if (s < 0)
    throw nb::value_error(("unknown source " + name + "; expected reg, lane, wave.x, wave.y or wave.z").c_str());
  return s;
}

static void bindTransformations(PyLayout::ClassTy &c) {
  c.def("canonical", [](PyLayout &l) { return l.make(canonicalLayout(l.map())); },
        "The canonical form: one spelling of each map.");
  c.def("same_map", [](PyLayout &l, PyLayout &o) { return sameLayout(l.map(), o.map()); }, nb::arg("other"),
        "Whether every element has the same places in both.");
  c.def("rename", renamed, nb::arg("names"),
        "Dims renamed by a dict of old to new names.");
  c.def("permute",
        [](PyLayout &l, const std::vector<std::string> &order) { return l.make(permuteDims(l.map(), order)); },
        nb::arg("order"),
        "The dims in another order; no element moves.");
  c.def("drop", [](PyLayout &l, const std::string &dim) { return l.make(dropDim(l.map(), dim)); }, nb::arg("dim"),
        "Without a dim, as after a reduction along it: its registers are gone, its lanes and waves replicate.");
  c.def("insert",
        [](PyLayout &l, const std::string &dim, int64_t position) {
          return l.make(insertDim(l.map(), dim, position));
        },
        nb::arg("dim"), nb::arg("position"),
        "With one more dim, of extent 1, at a position.");
  c.def("expand",
        [](PyLayout &l, const std::string &dim, int64_t count, const std::string &source,
           std::optional<int64_t> stride) {
          return l.make(expandDim(l.map(), dim, count, sourceNamed(source), stride.value_or(0)));
        },
        nb::arg("dim"), nb::arg("count"), nb::arg("source") = "reg", nb::arg("stride").none() = nb::none(),
        "Copies of the tile along a dim, numbered by the slowest digit of a source.");
  c.def("split",
        [](PyLayout &l, const std::string &dim, const std::string &outer, const std::string &inner, int64_t extent) {
          return l.make(splitDim(l.map(), dim, outer, inner, extent));
        },
        nb::arg("dim"), nb::arg("outer"), nb::arg("inner"), nb::arg("inner_extent"),
        "A dim as outer * inner_extent + inner.");
  c.def("merge",
        [](PyLayout &l, const std::string &outer, const std::string &inner, const std::string &name) {
          return l.make(mergeDims(l.map(), outer, inner, name));
        },
        nb::arg("outer"), nb::arg("inner"), nb::arg("name"),
        "Two dims as one: outer * extent of inner + inner.");
  c.def("slice", sliced, nb::arg("dim"), nb::arg("start"), nb::arg("extent"),
        "(the sub-tile [start, start + extent) of a dim, this layout's number of each of its registers).");
}

void wave::bindLayoutAlgebra(PyLayout::ClassTy &c) {
  bindTransformations(c);
  c.def("table", tableOf, nb::arg("sizes").none() = nb::none(),
        "Row-major element number at [wave, lane, register], -1 where none exists; wave = x + X * (y + Y * z).");
  c.def("part",
        [](PyLayout &l, const std::string &source, int64_t index, const std::string &dim) {
          if (index < 0)
            throw nb::value_error("an index is not negative");
          return l.map().part(sourceNamed(source), index, l.dim(dim));
        },
        nb::arg("source"), nb::arg("index"), nb::arg("dim"),
        "What one value of a source adds to the coordinate of a dim.");
  c.def("overshoots", [](PyLayout &l, const std::string &dim) {
    int d = l.dim(dim);
    return overshoots(l.map(), d) || clips(l.map(), d);
  }, nb::arg("dim"),
        "Whether some place lies beyond the extent or the clip of a dim.");
  c.def("widest_access", [](PyLayout &l, const std::string &dim) { return widestAccess(l.map(), l.dim(dim)); },
        nb::arg("dim"),
        "Elements of the widest access along a dim: aligned groups of that many registers are consecutive.");
  c.def("register_runs",
        [](PyLayout &l, const std::map<std::string, int64_t> &strides) {
          std::vector<int64_t> list(l.map().dims.size(), 0);
          for (const auto &[name, stride] : strides)
            list[l.dim(name)] = stride;
          std::vector<std::pair<int64_t, int64_t>> runs;
          for (const RegisterRun &r : registerRuns(l.map(), list))
            runs.push_back({r.first, r.length});
          return runs;
        },
        nb::arg("strides"),
        "(first register, length) of the runs that are consecutive in a memory with these strides by dim.");
}
