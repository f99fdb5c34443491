//===- ExprFacts.cpp - Python: facts, analysis and evaluation of expressions ---------===//
#include "ExprModule.h"
#include "StringRef.h"
using namespace wave;
namespace nb = nanobind;

//===- facts -----------------------------------------------------------------------===//

void PyFacts::release() {
  if (compiled.ptr)
    waveFactsDestroy(compiled);
  compiled.ptr = nullptr;
  context.reset();
}
WaveFacts PyFacts::in(D::PyMlirContextRef ctx) {
  if (context && (*context)->get().ptr == ctx->get().ptr)
    return compiled;
  std::vector<MlirAttribute> conditions;
  for (PyExpr &e : assumptions) {
    if (e.getContext()->get().ptr != ctx->get().ptr)
      raise(PyExc_ValueError, "the facts' assumptions are of another MLIR context than the expression");
    conditions.push_back(e.get());
  }
  release();
  std::vector<WaveSymbolFact> known;
  for (auto &[name, s] : symbols)
    known.push_back({waveExprSymbol(ctx->get(), stringRef(name)), s.lo.has_value(), s.hi.has_value(), s.lo.value_or(0),
                     s.hi.value_or(0), s.modulus, s.remainder});
  compiled = waveFactsCreate(ctx->get(), known.size(), known.data(), conditions.size(), conditions.data());
  context.emplace(std::move(ctx));
  return compiled;
}

static std::optional<int64_t> bound(nb::handle h) {
  if (h.is_none())
    return std::nullopt;
  return toInt64(h, "bound of a range");
}
static void addRange(PyFacts &f, nb::handle key, nb::handle value) {
  std::string name = symbolName(key);
  PyFacts::Symbol &s = f.symbols[name];
  std::optional<int64_t> lo, hi;
  if (PyIndex_Check(value.ptr())) {
    lo = hi = bound(value);
  } else {
    if (!nb::isinstance<nb::sequence>(value) || nb::len(value) != 2)
      raise(PyExc_TypeError, "the range of '" + name + "' is a pair (least, greatest), None for an open end");
    lo = bound(value[0]);
    hi = bound(value[1]);
  }
  if (lo && (!s.lo || *lo > *s.lo)) s.lo = lo;
  if (hi && (!s.hi || *hi < *s.hi)) s.hi = hi;
  if (s.lo && s.hi && *s.lo > *s.hi)
    raise(PyExc_ValueError, "the range of '" + name + "' is empty: " + std::to_string(*s.lo) + " to " + std::to_string(*s.hi));
}
static void addDivisor(PyFacts &f, nb::handle key, nb::handle value) {
  std::string name = symbolName(key);
  int64_t modulus, remainder = 0;
  if (PyIndex_Check(value.ptr())) {
    modulus = toInt64(value, "divisor");
  } else {
    if (!nb::isinstance<nb::sequence>(value) || nb::len(value) != 2)
      raise(PyExc_TypeError, "the divisor of '" + name + "' is an int, or a pair (modulus, remainder)");
    modulus = toInt64(value[0], "modulus");
    remainder = toInt64(value[1], "remainder");
  }
  if (modulus <= 0)
    raise(PyExc_ValueError, "the divisor of '" + name + "' must be positive, got " + std::to_string(modulus));
  f.symbols[name].modulus = modulus;
  f.symbols[name].remainder = (remainder % modulus + modulus) % modulus;
}
static void extend(PyFacts &f, nb::dict ranges, nb::dict divisors, nb::iterable assumptions) {
  for (auto [key, value] : ranges)
    addRange(f, key, value);
  for (auto [key, value] : divisors)
    addDivisor(f, key, value);
  for (nb::handle h : assumptions) {
    PyExpr *e;
    if (nb::isinstance<nb::str>(h))
      f.assumptions.push_back(nb::cast<PyExpr>(nb::type<PyExpr>().attr("parse")(h)));
    else if (nb::try_cast<PyExpr *>(h, e, false) && e)
      f.assumptions.push_back(*e);
    else
      raise(PyExc_TypeError, "an assumption is a condition: an Expr or its text");
    if (f.assumptions.back().getContext()->get().ptr != f.assumptions.front().getContext()->get().ptr)
      raise(PyExc_ValueError, "assumptions of different MLIR contexts");
  }
}
static std::string repr(const PyFacts &f) {
  std::string ranges, divisors, conditions;
  auto text = [](std::optional<int64_t> v) { return v ? std::to_string(*v) : std::string("None"); };
  for (auto &[name, s] : f.symbols) {
    if (s.lo || s.hi)
      ranges += (ranges.empty() ? "'" : ", '") + name + "': (" + text(s.lo) + ", " + text(s.hi) + ")";
    if (s.modulus != 1)
      divisors += (divisors.empty() ? "'" : ", '") + name + "': (" + std::to_string(s.modulus) + ", " +
                  std::to_string(s.remainder) + ")";
  }
  for (const PyExpr &e : f.assumptions)
    conditions += (conditions.empty() ? "'" : ", '") + textOf(e.get()) + "'";
  return "Facts({" + ranges + "}, {" + divisors + "}, [" + conditions + "])";
}
void wave::bindFacts(nb::module_ &m) {
  auto c = nb::class_<PyFacts>(m, "Facts", "What is known of symbols: ranges, divisibility, assumed conditions.");
  c.def("__init__", [](PyFacts *self, nb::dict ranges, nb::dict divisors, nb::iterable assumptions) {
    new (self) PyFacts();
    extend(*self, ranges, divisors, assumptions);
  }, nb::arg("ranges") = nb::dict(), nb::arg("divisors") = nb::dict(), nb::arg("assumptions") = nb::tuple(),
     "ranges: symbol -> (least, greatest), None for an open end, or one value. divisors: symbol -> divisor, or (modulus, "
     "remainder). assumptions: conditions, as Expr or text.");
  c.def("extended", [](const PyFacts &f, nb::dict ranges, nb::dict divisors, nb::iterable assumptions) {
    PyFacts r(f);
    extend(r, ranges, divisors, assumptions);
    return r;
  }, nb::arg("ranges") = nb::dict(), nb::arg("divisors") = nb::dict(), nb::arg("assumptions") = nb::tuple(),
     "These facts and more; a range intersects the one there is, a divisor replaces it.");
  c.def_prop_ro("ranges", [](const PyFacts &f) {
    std::map<std::string, std::pair<std::optional<int64_t>, std::optional<int64_t>>> r;
    for (auto &[name, s] : f.symbols)
      if (s.lo || s.hi)
        r[name] = {s.lo, s.hi};
    return nb::cast(r);
  });
  c.def_prop_ro("divisors", [](const PyFacts &f) {
    std::map<std::string, std::pair<int64_t, int64_t>> r;
    for (auto &[name, s] : f.symbols)
      if (s.modulus != 1)
        r[name] = {s.modulus, s.remainder};
    return nb::cast(r);
  });
  c.def_prop_ro("assumptions", [](const PyFacts &f) { return f.assumptions; });
  c.def("__repr__", repr);
}

//===- evaluation ------------------------------------------------------------------===//
static nb::dict dictOf(nb::handle h) {
  if (PyDict_Check(h.ptr()))
    return nb::borrow<nb::dict>(h);
  nb::dict r; // of another mapping
  if (!PyMapping_Check(h.ptr()) || PyDict_Update(r.ptr(), h.ptr()) != 0)
    raise(PyExc_TypeError, "expected a mapping from symbols to values");
  return r;
}
static std::vector<MlirAttribute> symbolsOf(MlirAttribute e) {
  std::vector<MlirAttribute> r;
  waveExprSymbols(e, [](MlirAttribute s, void *user) {
    static_cast<std::vector<MlirAttribute> *>(user)->push_back(s);
  }, &r);
  return r;
}
static std::string nameOf(MlirAttribute s) {
  MlirStringRef name = waveExprName(s);
  return std::string(name.data, name.length);
}
static int64_t evaluate(PyExpr &e, nb::handle env) {
  std::vector<std::string> names;
  std::vector<int64_t> values;
  nb::dict given = dictOf(env);
  PyObject *key, *value;
  for (Py_ssize_t pos = 0; PyDict_Next(given.ptr(), &pos, &key, &value);) {
    if (PyUnicode_Check(key)) { // any name: more than the expression's own is fine
      Py_ssize_t n;
      const char *s = PyUnicode_AsUTF8AndSize(key, &n);
      names.emplace_back(s, n);
    } else {
      names.push_back(symbolName(key));
    }
    values.push_back(toInt64(value, "value of a symbol"));
  }
  std::vector<MlirStringRef> refs;
  for (auto &n : names)
    refs.push_back(stringRef(n));
  int64_t result;
  MlirAttribute missing;
  WaveExprStatus status = waveExprEvaluate(e.get(), refs.size(), refs.data(), values.data(), &result, &missing);
  if (status == WaveExprMissingSymbol)
    raise(PyExc_KeyError, "no value for symbol '" + nameOf(missing) + "' of " + textOf(e.get()));
  check(status, "eval");
  return result;
}
static nb::object evaluateNumpy(PyExpr &e, nb::handle env) {
  nb::module_ np = nb::module_::import_("numpy");
  std::vector<MlirAttribute> symbols = symbolsOf(e.get());
  nb::dict arrays; // of all values given: the shape does not depend on which symbols a simplification leaves
  nb::list shapes;
  for (auto [key, value] : dictOf(env)) {
    std::string name = symbolName(key);
    nb::object a = np.attr("asarray")(value);
    std::string kind = nb::cast<std::string>(a.attr("dtype").attr("kind"));
    if (kind != "i" && kind != "u" && kind != "b")
      raise(PyExc_TypeError, "values of symbol '" + name + "' are not integers");
    if (kind == "u" && nb::cast<int>(a.attr("dtype").attr("itemsize")) == 8)
      raise(PyExc_TypeError, "values of symbol '" + name + "' are uint64; convert them to int64");
    shapes.append(a.attr("shape"));
    arrays[nb::str(name.c_str())] = a;
  }
  nb::object shape = np.attr("broadcast_shapes")(*shapes);
  nb::object out = np.attr("empty")(shape, "int64");
  std::vector<nb::object> keep;
  std::vector<const int64_t *> inputs;
  std::unique_ptr<bool[]> uniform(new bool[symbols.size()]());
  auto data = [](nb::handle a) { return nb::cast<intptr_t>(a.attr("ctypes").attr("data")); };
  for (MlirAttribute s : symbols) {
    nb::str name(nameOf(s).c_str());
    if (!arrays.contains(name))
      raise(PyExc_KeyError, "no value for symbol '" + nameOf(s) + "' of " + textOf(e.get()));
    nb::object a = nb::object(arrays[name]).attr("astype")("int64", nb::arg("copy") = false);
    uniform[inputs.size()] = nb::cast<size_t>(a.attr("size")) == 1;
    keep.push_back(np.attr("ascontiguousarray")(uniform[inputs.size()] ? a : np.attr("broadcast_to")(a, shape)));
    inputs.push_back(reinterpret_cast<const int64_t *>(data(keep.back())));
  }
  size_t points = nb::cast<size_t>(out.attr("size"));
  check(waveExprEvaluateMany(e.get(), symbols.size(), symbols.data(), inputs.data(), uniform.get(), points,
                             reinterpret_cast<int64_t *>(data(out))), "eval_numpy");
  return out;
}

//===- substitution, analysis ------------------------------------------------------===//
static PyExpr substitute(PyExpr &e, nb::handle replacements) {
  std::vector<MlirAttribute> from, to;
  nb::dict given = dictOf(replacements);
  PyObject *key, *value;
  for (Py_ssize_t pos = 0; PyDict_Next(given.ptr(), &pos, &key, &value);) {
    std::string name = symbolName(key);
    from.push_back(waveExprSymbol(e.getContext()->get(), stringRef(name)));
    MlirAttribute v;
    if (!toExpr(value, e.getContext(), v))
      raise(PyExc_TypeError, "the replacement of '" + name + "' is no Expr or int");
    to.push_back(v);
  }
  MlirAttribute result;
  check(waveExprSubstitute(e.get(), from.size(), from.data(), to.data(), &result), "subs");
  return PyExpr(e.getContext(), result);
}
static PyFacts &orNone(PyFacts *facts) {
  static PyFacts *none = new PyFacts(); // only the reserved symbols' sign
  return facts ? *facts : *none;
}
static auto linearParts(PyExpr &e) {
  struct Collect {
    D::PyMlirContextRef ctx;
    std::vector<std::pair<PyExpr, int64_t>> terms;
    int64_t constant = 0;
  } c{e.getContext(), {}, 0};
  bool fits = waveExprLinear(e.get(), [](MlirAttribute factor, int64_t k, void *user) {
    Collect &c = *static_cast<Collect *>(user);
    if (mlirAttributeIsNull(factor))
      c.constant = k;
    else
      c.terms.emplace_back(PyExpr(c.ctx, factor), k);
  }, &c);
  if (!fits)
    raise(PyExc_OverflowError, "linear_parts: a coefficient does not fit 64 bits");
  return std::make_pair(std::move(c.terms), c.constant);
}
static std::pair<PyExpr, PyExpr> split(PyExpr &e, nb::iterable symbols) {
  std::vector<MlirAttribute> list;
  for (nb::handle h : symbols) {
    std::string name = symbolName(h);
    list.push_back(waveExprSymbol(e.getContext()->get(), stringRef(name)));
  }
  MlirAttribute only, rest;
  waveExprSplit(e.get(), list.size(), list.data(), &only, &rest);
  return {PyExpr(e.getContext(), only), PyExpr(e.getContext(), rest)};
}
static std::optional<PyExpr> coefficient(PyExpr &e, nb::handle symbol) {
  std::string name = symbolName(symbol);
  MlirAttribute r = waveExprCoefficient(e.get(), waveExprSymbol(e.getContext()->get(), stringRef(name)));
  if (mlirAttributeIsNull(r))
    return std::nullopt;
  return PyExpr(e.getContext(), r);
}
static nb::object proveCondition(PyExpr &e, PyFacts *facts, size_t budget) {
  int r = waveFactsProve(orNone(facts).in(e.getContext()), e.get(), budget);
  return r < 0 ? nb::none() : nb::object(nb::bool_(r != 0));
}

void wave::bindExprAnalysis(PyExpr::ClassTy &c) {
  auto none = nb::none();
  c.def("subs", substitute, nb::arg("replacements"),
        "Replaces symbols, all at once: a dict from symbols (name or Expr) to Expr or int.");
  c.def("eval", evaluate, nb::arg("values"),
        "The value as an int. KeyError: a symbol is missing; ZeroDivisionError; OverflowError: 64 bits do not suffice.");
  c.def("eval_numpy", evaluateNumpy, nb::arg("values"),
        "The values over integer arrays (broadcast against each other) as an int64 array; errors as of eval.");
  c.def("expand", [](PyExpr &e) {
    MlirAttribute r;
    check(waveExprExpand(e.get(), &r), "expand");
    return PyExpr(e.getContext(), r);
  }, "With products distributed over sums.");
  c.def("linear_parts", linearParts, "([(factor, coefficient), ...], constant): the expanded sum.");
  c.def("coefficient", coefficient, nb::arg("symbol"),
        "a, where self = a * symbol + b and neither depends on the symbol; None when there is no such form.");
  c.def("split", split, nb::arg("symbols"),
        "(terms over the given symbols only, the rest with the constant), of the expanded sum.");
  c.def("simplify", [](PyExpr &e, PyFacts *facts) {
    return PyExpr(e.getContext(), waveFactsSimplify(orNone(facts).in(e.getContext()), e.get()));
  }, nb::arg("facts").none() = none, "An expression with the same value wherever the facts hold.");
  c.def("range", [](PyExpr &e, PyFacts *facts) {
    bool hasLo, hasHi;
    int64_t lo, hi;
    waveFactsRange(orNone(facts).in(e.getContext()), e.get(), &hasLo, &lo, &hasHi, &hi);
    return std::make_pair(hasLo ? std::optional<int64_t>(lo) : std::nullopt,
                          hasHi ? std::optional<int64_t>(hi) : std::nullopt);
  }, nb::arg("facts").none() = none, "(least, greatest) bound of the value, None where none is known.");
  c.def("divisor", [](PyExpr &e, PyFacts *facts) {
    return waveFactsDivisor(orNone(facts).in(e.getContext()), e.get());
  }, nb::arg("facts").none() = none, "The greatest number known to divide the value; 0 if the value is 0.");
  c.def("congruence", [](PyExpr &e, PyFacts *facts) {
    int64_t modulus, remainder;
    waveFactsCongruence(orNone(facts).in(e.getContext()), e.get(), &modulus, &remainder);
    return std::make_pair(modulus, remainder);
  }, nb::arg("facts").none() = none, "(modulus, remainder): the value's residue class; modulus 0: the value is the remainder.");
  c.def("prove", proveCondition, nb::arg("facts").none() = none, nb::arg("budget") = size_t(1) << 16,
        "True: non-zero for all values of the symbols that fit the facts; False: zero for all; None: not decided.");
}
