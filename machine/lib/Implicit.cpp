#include "machine/Implicit.h"

#include <string>
#include <vector>

namespace machine {

namespace {

enum Reads : uint8_t { kReadsVcc = 1, kReadsM0 = 2, kReadsExec = 4 };

bool startsWith(const std::string &name, const char *prefix) { return name.rfind(prefix, 0) == 0; }
bool has(const std::string &name, const char *part) { return name.find(part) != std::string::npos; }

uint8_t readsOf(const OpInfo &op) {
  const std::string name = op.name;
  uint8_t reads = 0;
  if (startsWith(name, "s_cbranch_vcc") || startsWith(name, "v_div_fmas"))
    reads |= kReadsVcc;
  if (has(name, "movrel") || has(name, "_addtid_") || has(name, "_load_lds_") || startsWith(name, "s_sendmsg") ||
      startsWith(name, "ds_append") || startsWith(name, "ds_consume") || startsWith(name, "ds_gws"))
    reads |= kReadsM0;
  const bool lanes = op.format >= Format::Vop1 && op.format != Format::Mfma;
  if (lanes || startsWith(name, "s_cbranch_exec") || has(name, "saveexec") || has(name, "wrexec"))
    reads |= kReadsExec;
  return reads;
}

uint8_t readsOf(uint16_t op) {
  static const std::vector<uint8_t> all = [] {
    std::vector<uint8_t> made;
    for (size_t i = 0; i < opCount(); ++i)
      made.push_back(readsOf(opInfo(uint16_t(i))));
    return made;
  }();
  return all[op];
}

} // namespace

ImplicitReads implicitReads(const Instruction &instruction) {
  const uint8_t reads = readsOf(instruction.op);
  ImplicitReads found;
  if (reads & kReadsVcc)
    found.of[0] = {kVcc, 2};
  if (reads & kReadsM0 || instruction.flags & kLds)
    found.of[1] = {kM0, 1};
  if (reads & kReadsExec)
    found.of[2] = {kExec, 2};
  return found;
}

} // namespace machine
