#include "machine/State.h"

#include "machine/Waits.h"

namespace machine {

Wave::Wave() : vectorFile(new uint32_t[kVgprs * kLanes]) {
  v = reinterpret_cast<uint32_t(*)[kLanes]>(vectorFile.get());
  for (auto &scalar : s)
    scalar = kPoison;
  for (int i = 0; i < kVgprs * kLanes; ++i)
    vectorFile[i] = kPoison;
}

Wave::~Wave() = default;

std::string registerName(bool scalar, uint32_t reg) {
  if (!scalar)
    return reg < 256 ? "v" + std::to_string(reg) : "a" + std::to_string(reg - 256);
  switch (reg) {
  case kVcc:
    return "vcc_lo";
  case kVcc + 1:
    return "vcc_hi";
  case kM0:
    return "m0";
  case kExec:
    return "exec_lo";
  case kExec + 1:
    return "exec_hi";
  default:
    return "s" + std::to_string(reg);
  }
}

void fault(std::string kind, std::string text, int lane) {
  Fault f;
  f.kind = std::move(kind);
  f.text = std::move(text);
  f.lane = lane;
  throw f;
}

void faultAt(std::string kind, std::string text, int lane, uint64_t address) {
  Fault f;
  f.kind = std::move(kind);
  f.text = std::move(text);
  f.lane = lane;
  f.hasAddress = true;
  f.address = address;
  throw f;
}

} // namespace machine
