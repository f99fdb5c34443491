//===- WaveModule.cpp - the Python extension -----------------------------------===//
#include "wave/Bridge.h"
#include "LayoutModule.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
namespace nb = nanobind;
namespace D = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

// A named pass whose body is a Python callable fn(op, options: str) -> None. An exception never unwinds through
// MLIR's frames: it is kept, and the pass fails.
static nb::object &pendingException() {
  static nb::object *o = new nb::object(nb::none());
  return *o;
}
static bool runPythonPass(MlirOperation op, MlirStringRef options, void *userData) {
  nb::gil_scoped_acquire gil;
  try {
    auto ctx = D::PyMlirContext::forContext(mlirOperationGetContext(op));
    nb::borrow(reinterpret_cast<PyObject *>(userData))(
        D::PyOperation::forOperation(ctx, op).releaseObject(), nb::str(options.data, options.length));
    return true;
  } catch (nb::python_error &e) {
    pendingException() = nb::borrow(e.value());
  } catch (std::exception &e) { // nb::cast_error and the like
    pendingException() = nb::borrow(PyExc_RuntimeError)(nb::str(e.what()));
  }
  return false;
}

static MlirStringRef ref(const std::string &s) { return mlirStringRefCreate(s.data(), s.size()); }

NB_MODULE(_wave, m) {
  wave::bindLayouts(m);
  m.def("insert_into_registry", [](MlirDialectRegistry r) {
    mlirDialectHandleInsertDialect(mlirGetDialectHandle__wave__(), r);
  });
  m.def("register_dialect", [](D::DefaultingPyMlirContext ctx, bool load) {
    MlirDialectHandle h = mlirGetDialectHandle__wave__();
    mlirDialectHandleRegisterDialect(h, ctx->get());
    if (load)
      mlirDialectHandleLoadDialect(h, ctx->get());
  }, nb::arg("context").none() = nb::none(), nb::arg("load") = true);
  m.def("register_pass", [](nb::callable fn, const std::string &arg, const std::string &desc,
                            const std::string &opName) {
    waveRegisterCallbackPass(ref(arg), ref(desc), ref(opName), runPythonPass, fn.inc_ref().ptr());
  }, nb::arg("fn"), nb::arg("argument"), nb::arg("description") = "", nb::arg("op_name") = "");
  m.def("take_exception", [] {
    nb::object r = pendingException();
    pendingException() = nb::none();
    return r;
  });
  m.def("opt_main", [](std::vector<std::string> args) {
    std::vector<char *> argv;
    for (auto &a : args)
      argv.push_back(a.data());
    argv.push_back(nullptr);
    return waveOptMain(args.size(), argv.data());
  });
}
