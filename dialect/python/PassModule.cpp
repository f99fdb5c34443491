//===- PassModule.cpp - Python bodies of MLIR passes -----------------------------===//
#include "PassModule.h"
#include "StringRef.h"
#include "wave/Bridge.h"
#include "wave/PassBridge.h"
#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
using namespace wave;
namespace nb = nanobind;
namespace D = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

namespace {
// Python's side of the passes. Never destroyed: passes may outlive the interpreter's modules.
struct Hooks {
  nb::object load, construct, describe, run;
};
Hooks &hooks() {
  static Hooks *h = new Hooks();
  return *h;
}
// Contexts that C++ made (mlir-opt's). Their Python wrapper would destroy them with its last reference.
bool contextsAreForeign = false;
std::vector<nb::object> &foreignContexts() {
  static auto *v = new std::vector<nb::object>();
  return *v;
}

nb::str str(MlirStringRef s) { return nb::str(s.data, s.length); }
using Sink = void (*)(MlirStringRef, MlirStringRef, void *);

void loadPass(MlirStringRef name) {
  nb::gil_scoped_acquire gil;
  try {
    hooks().load(str(name));
  } catch (nb::python_error &e) {
    e.discard_as_unraisable("loading a wave pass");
  }
}

// An exception that leaves a hook is a fault of the registry itself: its hooks turn every one into a diagnostic.
// It must not unwind through MLIR all the same.
void *constructPass(MlirStringRef name, MlirStringRef options, Sink sink, void *closure) {
  nb::gil_scoped_acquire gil;
  try {
    auto result = nb::cast<nb::tuple>(hooks().construct(str(name), str(options)));
    for (nb::handle pair : nb::cast<nb::list>(result[1]))
      sink(stringRef(nb::cast<std::string>(pair[0])), stringRef(nb::cast<std::string>(pair[1])), closure);
    return result[0].is_none() ? nullptr : nb::object(result[0]).release().ptr();
  } catch (const std::exception &e) {
    std::string text = e.what();
    if (auto *p = dynamic_cast<const nb::python_error *>(&e))
      text = nb::cast<std::string>(nb::str(p->value()));
    sink(stringRef(""), stringRef(text), closure);
  }
  return nullptr;
}

void describePass(MlirStringRef name, Sink sink, void *closure) {
  nb::gil_scoped_acquire gil;
  try {
    for (nb::handle pair : nb::cast<nb::list>(hooks().describe(str(name))))
      sink(stringRef(nb::cast<std::string>(pair[0])), stringRef(nb::cast<std::string>(pair[1])), closure);
  } catch (nb::python_error &e) {
    e.discard_as_unraisable("options of a wave pass");
  }
}

bool runPass(void *instance, MlirOperation op) {
  nb::gil_scoped_acquire gil;
  try {
    auto ctx = D::PyMlirContext::forContext(mlirOperationGetContext(op));
    if (contextsAreForeign) {
      nb::object o = ctx.getObject();
      auto &all = foreignContexts();
      if (all.empty() || !all.back().is(o))
        all.push_back(o);
    }
    nb::object done = hooks().run(nb::borrow(static_cast<PyObject *>(instance)),
                                  D::PyOperation::forOperation(ctx, op).releaseObject());
    if (done.is_none())
      PyErr_SetInterrupt(); // raised by the first Python code to run, which is MLIR's caller
    return done.is(nb::bool_(true));
  } catch (const std::exception &e) {
    mlirEmitError(mlirOperationGetLocation(op), (std::string("internal error in a pass: ") + e.what()).c_str());
  }
  return false;
}

void retain(void *instance) {
  nb::gil_scoped_acquire gil;
  Py_INCREF(static_cast<PyObject *>(instance));
}
void release(void *instance) {
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire gil;
  Py_DECREF(static_cast<PyObject *>(instance));
}
bool holdsLock() { return PyGILState_Check(); }

struct Diagnostic {
  MlirDiagnosticSeverity severity;
  MlirLocation location;
  std::string message;
  std::vector<Diagnostic> notes;
};

Diagnostic diagnosticOf(MlirDiagnostic d) {
  Diagnostic r{mlirDiagnosticGetSeverity(d), mlirDiagnosticGetLocation(d), {}, {}};
  mlirDiagnosticPrint(d, [](MlirStringRef s, void *p) {
    static_cast<std::string *>(p)->append(s.data, s.length);
  }, &r.message);
  for (intptr_t i = 0, n = mlirDiagnosticGetNumNotes(d); i < n; ++i)
    r.notes.push_back(diagnosticOf(mlirDiagnosticGetNote(d, i)));
  return r;
}

nb::tuple tupleOf(const Diagnostic &d) {
  nb::list notes;
  for (const Diagnostic &n : d.notes)
    notes.append(tupleOf(n));
  return nb::make_tuple(static_cast<int>(d.severity), d.location, d.message, notes);
}

nb::tuple runPipeline(MlirPassManager pm, MlirOperation op) {
  std::vector<Diagnostic> errors;
  MlirContext context = mlirOperationGetContext(op);
  auto collect = [](MlirDiagnostic d, void *p) {
    if (mlirDiagnosticGetSeverity(d) != MlirDiagnosticError)
      return mlirLogicalResultFailure(); // someone else's
    static_cast<std::vector<Diagnostic> *>(p)->push_back(diagnosticOf(d));
    return mlirLogicalResultSuccess();
  };
  MlirLogicalResult result;
  {
    // MLIR's worker threads need the lock when they come to a Python pass.
    nb::gil_scoped_release unlocked;
    MlirDiagnosticHandlerID id = mlirContextAttachDiagnosticHandler(context, collect, &errors, nullptr);
    result = mlirPassManagerRunOnOp(pm, op);
    mlirContextDetachDiagnosticHandler(context, id);
  }
  nb::list list;
  for (const Diagnostic &d : errors)
    list.append(tupleOf(d));
  return nb::make_tuple(mlirLogicalResultIsSuccess(result), list);
}

void emitDiagnostic(MlirLocation location, int severity, const std::string &message, nb::list notes) {
  std::vector<MlirLocation> locations;
  std::vector<std::string> texts;
  for (nb::handle note : notes) {
    locations.push_back(nb::cast<MlirLocation>(note[0]));
    texts.push_back(nb::cast<std::string>(note[1]));
  }
  std::vector<MlirStringRef> refs;
  for (const std::string &t : texts)
    refs.push_back(stringRef(t));
  waveEmitDiagnostic(location, static_cast<MlirDiagnosticSeverity>(severity), stringRef(message), refs.size(),
                     locations.data(), refs.data());
}
} // namespace

void populatePassModule(nb::module_ &m) {
  m.def("set_pass_hooks", [](nb::object load, nb::object construct, nb::object describe, nb::object run) {
    hooks() = {load, construct, describe, run};
    waveSetPassHooks({loadPass, constructPass, describePass, runPass, retain, release, holdsLock});
  }, nb::arg("load"), nb::arg("construct"), nb::arg("describe"), nb::arg("run"),
     "load(name), construct(name, text) -> (pass, [(key, text)]), describe(name) -> [(key, help)], run(pass, op) -> bool or None.");
  m.def("register_pass", [](const std::string &name, const std::string &description, const std::string &opName) {
    return waveRegisterPass(stringRef(name), stringRef(description), stringRef(opName));
  }, nb::arg("name"), nb::arg("description") = "", nb::arg("op_name") = "",
     "Register a pass that set_pass_hooks' callables implement; False if MLIR has another of this name.");
  m.def("describe_passes", waveDescribePasses, nb::arg("on"), "Make passes list their options, for --help.");
  m.def("run_pipeline", runPipeline, nb::arg("pass_manager"), nb::arg("op"),
        "Run without the GIL; (succeeded, [(severity, location, message, notes)]) of the errors.");
  m.def("emit_diagnostic", emitDiagnostic, nb::arg("location"), nb::arg("severity"), nb::arg("message"),
        nb::arg("notes"), "Emit an error (0), warning (1) or remark (3) with notes [(location, text)].");
  m.def("contains_op", waveContainsOp, nb::arg("root"), nb::arg("op"),
        "Is op root or inside it? Safe for an op that was erased.");
  m.def("opt_main", [](std::vector<std::string> args) {
    std::vector<char *> argv;
    for (auto &a : args)
      argv.push_back(a.data());
    argv.push_back(nullptr);
    contextsAreForeign = true;
    int code = waveOptMain(args.size(), argv.data());
    contextsAreForeign = false;
    return code;
  }, nb::arg("args"), "mlir-opt's main; its exit code.");
}
