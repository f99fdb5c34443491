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
