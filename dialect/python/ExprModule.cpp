//===- ExprModule.cpp - the Python class of expressions ----------------------------===//
#include "ExprModule.h"
#include "StringRef.h"
using namespace wave;
namespace nb = nanobind;

//===- conversions and errors ------------------------------------------------------===//

void wave::raise(PyObject *type, const std::string &message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}
void wave::check(WaveExprStatus status, const char *operation) {
  switch (status) {
  case WaveExprOk: return;
  case WaveExprDivisionByZero: raise(PyExc_ZeroDivisionError, std::string(operation) + ": division by zero");
  case WaveExprOverflow: raise(PyExc_OverflowError, std::string(operation) + ": a value does not fit 64 bits");
  case WaveExprTooLarge:
    raise(PyExc_ValueError, std::string(operation) + ": the expression is too large (nodes or depth)");
  case WaveExprMissingSymbol: raise(PyExc_KeyError, std::string(operation) + ": a symbol has no value");
  }
}
std::string wave::textOf(MlirAttribute e) {
  std::string s;
  waveExprPrint(e, [](MlirStringRef part, void *user) {
    static_cast<std::string *>(user)->append(part.data, part.length);
  }, &s);
  return s;
}
int64_t wave::toInt64(nb::handle h, const char *what) {
  PyObject *index = PyNumber_Index(h.ptr());
  if (!index)
    throw nb::python_error();
  int overflow = 0;
  int64_t v = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  if (overflow)
    raise(PyExc_OverflowError, std::string(what) + " does not fit 64 bits: " + nb::cast<std::string>(nb::str(h)));
  return v;
}
/// PyObjectRef has no const access.
static MlirContext contextPtr(const D::PyMlirContextRef &ctx) {
  return const_cast<D::PyMlirContextRef &>(ctx)->get();
}
bool wave::toExpr(nb::handle h, const D::PyMlirContextRef &ctx, MlirAttribute &out) {
  PyExpr *e;
  if (nb::try_cast<PyExpr *>(h, e, false) && e) {
    if (e->getContext()->get().ptr != contextPtr(ctx).ptr)
      raise(PyExc_ValueError, "expressions of different MLIR contexts cannot be combined");
    out = e->get();
    return true;
  }
  if (!PyIndex_Check(h.ptr()))
    return false;
  out = waveExprConstant(contextPtr(ctx), toInt64(h, "integer of an expression"));
  return true;
}
static MlirAttribute requireExpr(nb::handle h, const D::PyMlirContextRef &ctx) {
  MlirAttribute out;
  if (!toExpr(h, ctx, out))
    raise(PyExc_TypeError, "expected an Expr or an int, got " + nb::cast<std::string>(nb::str(h.type().attr("__name__"))));
  return out;
}
std::string wave::symbolName(nb::handle h) {
  PyExpr *e;
  if (nb::try_cast<PyExpr *>(h, e, false) && e) {
    if (waveExprKind(e->get()) != WaveExprSymbol)
      raise(PyExc_ValueError, "expected a symbol, got the expression " + textOf(e->get()));
    MlirStringRef name = waveExprName(e->get());
    return std::string(name.data, name.length);
  }
  if (!nb::isinstance<nb::str>(h))
    raise(PyExc_TypeError, "a symbol is given by its name or as an Expr");
  std::string name = nb::cast<std::string>(h);
  if (!waveExprIsSymbolName(stringRef(name)))
    raise(PyExc_ValueError, "'" + name + "' is no symbol: a user's symbol is an identifier without a dot and no "
                            "operator; reserved are wg.x, wave.x (and .y, .z), lane, el, iv.K and at.K");
  return name;
}
D::PyMlirContextRef wave::currentContext() {
  D::PyMlirContext *ctx = D::PyThreadContextEntry::getDefaultContext();
  if (!ctx)
    raise(PyExc_ValueError, "no MLIR context: make the expression inside `with Context():`, or from another expression");
  return ctx->getRef();
}
/// The context of the first Expr among the operands, else the current one.
static D::PyMlirContextRef contextOf(nb::args operands) {
  PyExpr *e;
  for (nb::handle h : operands)
    if (nb::try_cast<PyExpr *>(h, e, false) && e)
      return e->getContext();
  return currentContext();
}

//===- construction ----------------------------------------------------------------===//
static const char *operatorName(WaveExprKind kind) {
  static const char *names[] = {"constant", "symbol", "+",  "*",  "floordiv", "ceildiv", "mod", "min", "max",
                                "xor",      "eq",     "ne", "lt", "le",       "and",     "or",  "select"};
  return names[kind];
}
static PyExpr build(const D::PyMlirContextRef &ctx, WaveExprKind kind, std::initializer_list<MlirAttribute> ops) {
  MlirAttribute result;
  check(waveExprBuild(kind, ops.size(), ops.begin(), &result), operatorName(kind));
  return PyExpr(ctx, result);
}
static nb::object notImplemented() { return nb::borrow(Py_NotImplemented); }

/// e.op(other), and with `reflected` the operands exchanged.
template <WaveExprKind kind, bool reflected> static nb::object binary(PyExpr &e, nb::handle other) {
  MlirAttribute o;
  if (!toExpr(other, e.getContext(), o))
    return notImplemented();
  return nb::cast(reflected ? build(e.getContext(), kind, {o, e.get()}) : build(e.getContext(), kind, {e.get(), o}));
}
template <bool reflected> static nb::object subtract(PyExpr &e, nb::handle other) {
  MlirAttribute o, result;
  if (!toExpr(other, e.getContext(), o))
    return notImplemented();
  check(waveExprDifference(reflected ? o : e.get(), reflected ? e.get() : o, &result), "-");
  return nb::cast(PyExpr(e.getContext(), result));
}
/// e.lt(other) and the like; gt, ge exchange the operands.
template <WaveExprKind kind, bool exchanged> static PyExpr compare(PyExpr &e, nb::handle other) {
  MlirAttribute o = requireExpr(other, e.getContext());
  return exchanged ? build(e.getContext(), kind, {o, e.get()}) : build(e.getContext(), kind, {e.get(), o});
}
template <WaveExprKind kind> static PyExpr nary(nb::args args) {
  if (args.size() == 0)
    raise(PyExc_TypeError, std::string(operatorName(kind)) + " needs at least one operand");
  D::PyMlirContextRef ctx = contextOf(args);
  std::vector<MlirAttribute> ops;
  for (nb::handle h : args)
    ops.push_back(requireExpr(h, ctx));
  MlirAttribute result;
  check(waveExprBuild(kind, ops.size(), ops.data(), &result), operatorName(kind));
  return PyExpr(ctx, result);
}
static PyExpr ceilDivide(nb::handle a, nb::handle b) {
  D::PyMlirContextRef ctx = contextOf(nb::cast<nb::args>(nb::make_tuple(a, b)));
  return build(ctx, WaveExprCeilDiv, {requireExpr(a, ctx), requireExpr(b, ctx)});
}
static PyExpr selectOf(nb::handle c, nb::handle a, nb::handle b) {
  D::PyMlirContextRef ctx = contextOf(nb::cast<nb::args>(nb::make_tuple(c, a, b)));
  return build(ctx, WaveExprSelect, {requireExpr(c, ctx), requireExpr(a, ctx), requireExpr(b, ctx)});
}

static PyExpr parse(const std::string &text, D::DefaultingPyMlirContext context) {
  struct Report {
    std::string message;
    int64_t column = 0;
  } report;
  MlirAttribute e = waveExprParse(context->get(), stringRef(text), [](int64_t column, MlirStringRef m, void *user) {
    *static_cast<Report *>(user) = {std::string(m.data, m.length), column};
  }, &report);
  if (mlirAttributeIsNull(e))
    raise(PyExc_ValueError, "cannot parse expression '" + text + "' at column " + std::to_string(report.column + 1) +
                                ": " + report.message);
  return PyExpr(context->getRef(), e);
}

//===- the class -------------------------------------------------------------------===//
template <WaveExprKind kind> static void operators(PyExpr::ClassTy &c, const char *name, const char *reflected) {
  c.def(name, binary<kind, false>, nb::arg("other"), nb::is_operator());
  c.def(reflected, binary<kind, true>, nb::arg("other"), nb::is_operator());
}
static void bindOperators(PyExpr::ClassTy &c) {
  operators<WaveExprAdd>(c, "__add__", "__radd__");
  operators<WaveExprMul>(c, "__mul__", "__rmul__");
  operators<WaveExprFloorDiv>(c, "__floordiv__", "__rfloordiv__");
  operators<WaveExprMod>(c, "__mod__", "__rmod__");
  operators<WaveExprXor>(c, "__xor__", "__rxor__");
  c.def("__sub__", subtract<false>, nb::arg("other"), nb::is_operator());
  c.def("__rsub__", subtract<true>, nb::arg("other"), nb::is_operator());
  c.def("__neg__", [](PyExpr &e) {
    return build(e.getContext(), WaveExprMul, {e.get(), waveExprConstant(e.getContext()->get(), -1)});
  });
  c.def("eq", compare<WaveExprEq, false>, nb::arg("other"), "The condition self = other.");
  c.def("ne", compare<WaveExprNe, false>, nb::arg("other"), "The condition self != other.");
  c.def("lt", compare<WaveExprLt, false>, nb::arg("other"), "The condition self < other.");
  c.def("le", compare<WaveExprLe, false>, nb::arg("other"), "The condition self <= other.");
  c.def("gt", compare<WaveExprLt, true>, nb::arg("other"), "The condition self > other.");
  c.def("ge", compare<WaveExprLe, true>, nb::arg("other"), "The condition self >= other.");
  c.def_static("ceildiv", ceilDivide, nb::arg("a"), nb::arg("b"), "a / b rounded up.");
  c.def_static("select", selectOf, nb::arg("condition"), nb::arg("a"), nb::arg("b"), "a where the condition holds, else b.");
  c.def_static("min", nary<WaveExprMin>, nb::arg("operands"), "The least operand.");
  c.def_static("max", nary<WaveExprMax>, nb::arg("operands"), "The greatest operand.");
  c.def_static("sum", nary<WaveExprAdd>, nb::arg("operands"), "The sum of the operands.");
  c.def_static("product", nary<WaveExprMul>, nb::arg("operands"), "The product of the operands.");
  c.def_static("and_", nary<WaveExprAnd>, nb::arg("operands"), "1 where all operands are non-zero, else 0.");
  c.def_static("or_", nary<WaveExprOr>, nb::arg("operands"), "1 where some operand is non-zero, else 0.");
  c.def_static("not_", [](PyExpr &e) { return PyExpr(e.getContext(), waveExprNot(e.get())); }, nb::arg("condition"),
               "1 where the condition is 0, else 0.");
}
static void bindStructure(PyExpr::ClassTy &c) {
  c.def_prop_ro("kind", [](PyExpr &e) {
    WaveExprKind kind = waveExprKind(e.get());
    return std::string(kind == WaveExprAdd ? "add" : kind == WaveExprMul ? "mul" : operatorName(kind));
  }, "constant, symbol, add, mul, floordiv, ceildiv, mod, min, max, xor, eq, ne, lt, le, and, or or select.");
  c.def_prop_ro("operands", [](PyExpr &e) {
    std::vector<PyExpr> r;
    for (intptr_t i = 0, n = waveExprNumOperands(e.get()); i < n; ++i)
      r.emplace_back(e.getContext(), waveExprOperand(e.get(), i));
    return r;
  }, "Operands; sums and products have any number of them, a constant last.");
  c.def_prop_ro("name", [](PyExpr &e) -> std::optional<std::string> {
    if (waveExprKind(e.get()) != WaveExprSymbol)
      return std::nullopt;
    MlirStringRef name = waveExprName(e.get());
    return std::string(name.data, name.length);
  }, "A symbol's name; None for other kinds.");
  c.def_prop_ro("constant_value", [](PyExpr &e) -> std::optional<int64_t> {
    if (waveExprKind(e.get()) != WaveExprConstant)
      return std::nullopt;
    return waveExprValue(e.get());
  }, "A constant's value; None for other kinds.");
  c.def_prop_ro("symbols", [](PyExpr &e) {
    std::vector<std::string> r;
    waveExprSymbols(e.get(), [](MlirAttribute s, void *user) {
      MlirStringRef name = waveExprName(s);
      static_cast<std::vector<std::string> *>(user)->emplace_back(name.data, name.length);
    }, &r);
    return r;
  }, "Names of the symbols: wg, iv, the user's, wave, lane, at, el; by name within a class.");
  c.def("compare", [](PyExpr &e, PyExpr &o) { return waveExprCompare(e.get(), o.get()); }, nb::arg("other"),
        "-1, 0 or 1: a total order that depends on structure only.");
  c.def_prop_ro("stable_hash", [](PyExpr &e) { return waveExprStableHash(e.get()); },
                "A hash that is the same in every process.");
  c.def("__str__", [](PyExpr &e) { return textOf(e.get()); });
  c.def("__bool__", [](PyExpr &e) {
    if (waveExprKind(e.get()) != WaveExprConstant)
      raise(PyExc_TypeError, "'" + textOf(e.get()) + "' depends on symbols and is neither true nor false; use "
                             "prove(condition, facts), .eval(values), or == for the same expression");
    return waveExprValue(e.get()) != 0;
  });
}
void PyExpr::bindDerived(ClassTy &c) {
  c.def_static("parse", parse, nb::arg("text"), nb::arg("context") = nb::none(),
               "The expression of a text such as `wg.x * 64 + lane mod 16`. ValueError with the column of a mistake.");
  c.def_static("symbol", [](const std::string &name, D::DefaultingPyMlirContext ctx) {
    std::string checked = symbolName(nb::str(name.c_str()));
    return PyExpr(ctx->getRef(), waveExprSymbol(ctx->get(), stringRef(checked)));
  }, nb::arg("name"), nb::arg("context") = nb::none(), "A symbol: an identifier or one of the reserved names.");
  c.def_static("constant", [](nb::handle value, D::DefaultingPyMlirContext ctx) {
    return PyExpr(ctx->getRef(), waveExprConstant(ctx->get(), toInt64(value, "integer of an expression")));
  }, nb::arg("value"), nb::arg("context") = nb::none(), "A constant of 64 bits.");
  c.def_static("get", [](nb::handle value, D::DefaultingPyMlirContext ctx) {
    if (nb::isinstance<nb::str>(value))
      return parse(nb::cast<std::string>(value), ctx);
    return PyExpr(ctx->getRef(), requireExpr(value, ctx->getRef()));
  }, nb::arg("value"), nb::arg("context") = nb::none(), "An Expr as it is, an int as a constant, a str parsed.");
  bindOperators(c);
  bindStructure(c);
  bindExprAnalysis(c);
}
void wave::bindExpressions(nb::module_ &m) {
  bindFacts(m);
  PyExpr::bind(m);
}
