//===- LayoutAlgebra.cpp - transformations and LDS layouts in Python ------------===//
#include "LayoutModule.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
using namespace wave;

void wave::bindLayoutAlgebra(PyLayout::ClassTy &c) {
  c.def("canonical", [](PyLayout &l) { return l.make(canonicalLayout(l.map())); });
  c.def("same_map", [](PyLayout &l, PyLayout &o) { return sameLayout(l.map(), o.map()); }, nb::arg("other"));
}

void PyLdsLayout::bindDerived(ClassTy &c) {
  c.def_prop_ro("shape", [](PyLdsLayout &l) { return l.map().shape; });
}
