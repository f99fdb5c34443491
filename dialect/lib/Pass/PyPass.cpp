//===- PyPass.cpp - passes with a foreign body in MLIR's registry ---------------===//
#include "wave/PassBridge.h"
#include "wave/Wave.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringMap.h"
#include <thread>
using namespace mlir;

namespace {
struct Info {
  TypeID id;
  std::string name, description, opName;
};
WavePassHooks hooks;
bool describing = false, registering = false;

llvm::StringMap<std::unique_ptr<Info>> &table() {
  static auto *t = new llvm::StringMap<std::unique_ptr<Info>>();
  return *t;
}
TypeIDAllocator &ids() {
  static auto *a = new TypeIDAllocator();
  return *a;
}

/// The value of an option as canonical text, printed as it stands: quotes and braces are already in it.
struct Text {
  std::string text;
  bool operator==(const Text &o) const { return text == o.text; }
};
raw_ostream &operator<<(raw_ostream &os, const Text &t) { return os << t.text; }
} // namespace

namespace llvm::cl {
template <> class parser<Text> : public basic_parser<Text> {
public:
  using basic_parser<Text>::basic_parser;
  StringRef getValueName() const override { return "value"; }
  bool parse(Option &, StringRef, StringRef arg, Text &value) {
    value.text = arg.str();
    return false;
  }
  void printOptionDiff(const Option &, const Text &, const OptionValue<Text> &, size_t) const {}
  void anchor() override {}
};
} // namespace llvm::cl

namespace {
struct CallbackPass : Pass {
  using OptionPtr = std::unique_ptr<Option<Text>>;

  explicit CallbackPass(const Info *i)
      : Pass(i->id, i->opName.empty() ? std::nullopt : std::optional<StringRef>(i->opName)), info(i) {
    if (!describing)
      return;
    hooks.describe(wrap(StringRef(info->name)), [](MlirStringRef key, MlirStringRef help, void *self) {
      static_cast<CallbackPass *>(self)->addOption(unwrap(key), "", unwrap(help));
    }, this);
  }
  CallbackPass(const CallbackPass &o) : Pass(o), info(o.info), instance(o.instance), runner(o.runner),
        runnerHoldsLock(o.runnerHoldsLock) {
    if (instance)
      hooks.retain(instance);
    for (const std::unique_ptr<Texts> &t : o.texts)
      addOption(t->key, t->value, "");
  }
  ~CallbackPass() override {
    if (instance)
      hooks.release(instance);
  }

  StringRef getName() const override { return info->name; }
  StringRef getArgument() const override { return info->name; }
  StringRef getDescription() const override { return info->description; }
  // mlir-opt's contexts load the others with it (OptMain.cpp), Python's have all.
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<wave::WaveDialect>(); }
  bool canScheduleOn(RegisteredOperationName n) const override {
    return info->opName.empty() || n.getStringRef() == info->opName;
  }
  bool canScheduleOn(Operation *op) const override {
    return info->opName.empty() || op->getName().getStringRef() == info->opName;
  }

  LogicalResult initializeOptions(StringRef text, function_ref<LogicalResult(const Twine &)> error) override {
    std::string message;
    std::pair<CallbackPass *, std::string *> closure(this, &message);
    void *made = hooks.construct(wrap(StringRef(info->name)), wrap(text),
                                 [](MlirStringRef key, MlirStringRef value, void *p) {
      auto &[self, message] = *static_cast<std::pair<CallbackPass *, std::string *> *>(p);
      if (key.length == 0)
        *message = unwrap(value).str();
      else if (!describing)
        self->addOption(unwrap(key), unwrap(value), "");
    }, &closure);
    if (!made)
      return error(message);
    if (instance)
      hooks.release(instance);
    instance = made;
    return success();
  }

  // Called in the thread that runs the pass manager. When that thread keeps the lock that the body needs (mlir's own
  // PassManager.run does), a worker thread would wait for it for ever.
  LogicalResult initialize(MLIRContext *) override {
    runner = std::this_thread::get_id();
    runnerHoldsLock = hooks.holdsLock();
    return success();
  }

  void runOnOperation() override {
    if (runnerHoldsLock && std::this_thread::get_id() != runner) {
      getOperation()->emitError() << "pass " << info->name << " cannot run in several threads under PassManager.run: "
                                  << "use wave_mlir's run_passes, or switch the context's multithreading off";
      return signalPassFailure();
    }
    if (!instance && failed(initializeOptions("", [&](const Twine &m) { return getOperation()->emitError(m); })))
      return signalPassFailure();
    if (!hooks.run(instance, wrap(getOperation())))
      signalPassFailure();
  }

  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<CallbackPass>(*this); }

private:
  // cl::Option keeps references to its strings.
  struct Texts {
    std::string key, value, help;
  };
  void addOption(StringRef key, StringRef value, StringRef help) {
    texts.push_back(std::make_unique<Texts>(Texts{key.str(), value.str(), help.str()}));
    Texts &t = *texts.back();
    options.push_back(std::make_unique<Option<Text>>(*this, t.key, llvm::cl::desc(t.help)));
    options.back()->setValue(Text{t.value});
  }
  const Info *info;
  void *instance = nullptr;
  std::thread::id runner;
  bool runnerHoldsLock = false;
  std::vector<std::unique_ptr<Texts>> texts;
  std::vector<OptionPtr> options;
};
} // namespace

void waveSetPassHooks(WavePassHooks h) { hooks = h; }
void waveDescribePasses(bool on) { describing = on; }

bool waveRegisterPass(MlirStringRef name, MlirStringRef description, MlirStringRef opName) {
  auto &slot = table()[unwrap(name)];
  const bool fresh = !slot;
  if (fresh && PassInfo::lookup(unwrap(name))) {
    table().erase(unwrap(name));
    return false;
  }
  if (fresh) {
    slot = std::make_unique<Info>();
    slot->id = ids().allocate();
  }
  slot->name = unwrap(name).str();
  slot->description = unwrap(description).str();
  slot->opName = unwrap(opName).str();
  registering = true; // MLIR makes one at once, to learn its name
  if (fresh)
    registerPass([info = slot.get()] {
      if (!registering)
        hooks.load(wrap(StringRef(info->name))); // may register again, with the anchor
      return std::make_unique<CallbackPass>(info);
    });
  registering = false;
  return true;
}

void waveEmitDiagnostic(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message, intptr_t count,
                        const MlirLocation *noteLocations, const MlirStringRef *notes) {
  Location loc = unwrap(location);
  auto kind = severity == MlirDiagnosticError     ? DiagnosticSeverity::Error
              : severity == MlirDiagnosticWarning ? DiagnosticSeverity::Warning
                                                  : DiagnosticSeverity::Remark;
  InFlightDiagnostic diag = loc->getContext()->getDiagEngine().emit(loc, kind);
  diag << unwrap(message);
  for (intptr_t i = 0; i < count; ++i)
    diag.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
}

bool waveContainsOp(MlirOperation root, MlirOperation op) {
  Operation *wanted = unwrap(op);
  return unwrap(root)
      ->walk([&](Operation *o) { return o == wanted ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}
