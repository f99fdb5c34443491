// A pass implemented by a foreign callback, registered under a name in MLIR's
// global registry, so that textual pipelines find it. No RTTI here.
#include "wave/Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringMap.h"
using namespace mlir;
namespace {
struct Info {
  TypeID id;
  std::string arg, desc, opName;
  WavePassRunFn run;
  void *userData;
};
// The live table: registering a name again replaces the callback (reloads, tests).
llvm::StringMap<std::unique_ptr<Info>> &table() {
  static auto *t = new llvm::StringMap<std::unique_ptr<Info>>();
  return *t;
}
TypeIDAllocator &ids() {
  static auto *a = new TypeIDAllocator();
  return *a;
}
struct CallbackPass : Pass {
  explicit CallbackPass(Info *i)
      : Pass(i->id, i->opName.empty() ? std::nullopt : std::optional<StringRef>(i->opName)), info(i) {}
  CallbackPass(const CallbackPass &o) : Pass(o), info(o.info) { text = o.text; }
  StringRef getName() const override { return info->arg; }
  StringRef getArgument() const override { return info->arg; }
  StringRef getDescription() const override { return info->desc; }
  bool canScheduleOn(RegisteredOperationName n) const override {
    return info->opName.empty() || n.getStringRef() == info->opName;
  }
  // `name{key=value ...}`: kept as text, parsed by the callee.
  LogicalResult initializeOptions(StringRef o, function_ref<LogicalResult(const Twine &)>) override {
    text = o.str();
    return success();
  }
  void runOnOperation() override {
    if (!info->run(wrap(getOperation()), wrap(StringRef(text)), info->userData))
      signalPassFailure();
  }
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<CallbackPass>(*this); }
  Info *info;
  std::string text;
};
} // namespace

void waveRegisterCallbackPass(MlirStringRef arg, MlirStringRef desc, MlirStringRef opName,
                            WavePassRunFn run, void *userData) {
  StringRef name = unwrap(arg);
  auto &slot = table()[name];
  bool fresh = !slot;
  if (fresh) {
    slot = std::make_unique<Info>();
    slot->id = ids().allocate();
  }
  slot->arg = name.str();
  slot->desc = unwrap(desc).str();
  slot->opName = unwrap(opName).str();
  slot->run = run;
  slot->userData = userData;
  if (fresh)
    registerPass([p = slot.get()] { return std::make_unique<CallbackPass>(p); });
}
