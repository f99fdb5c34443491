// Outstanding memory operations of a wave, and what a wait completes. The rules are in docs/machine-code.md.
#pragma once
#include "machine/Run.h"

#include <deque>

namespace machine {

// How an operation comes back.
enum class Return : uint8_t {
  Vector, // vmcnt, in order: global, buffer, scratch; flat when no lane went to LDS
  Lds,    // lgkmcnt, in order
  Scalar, // lgkmcnt, any order: complete at 0 only
  Flat,   // flat with lanes in LDS: both counters, complete when each has been 0
};

class WaitState {
public:
  uint32_t pendingRegisters = 0; // registers that an outstanding load will write: 0 is the fast path

  // Registers that the operation will write; count 0: none.
  struct Target {
    bool scalar = false;
    uint16_t first = 0, count = 0;
  };
  // `access`: its record in the LDS shadow, `accesses` records from there on; -1: it does not touch LDS.
  void issue(Return how, uint32_t instruction, Target target, int64_t access = -1, uint32_t accesses = 1);
  // s_waitcnt; a count that is not waited for is ~0u.
  void wait(Run &run, uint32_t vector, uint32_t lgkm);
  // Everything is complete.
  void finish(Run &run);

  bool pendingVector(uint32_t first, uint32_t count) const { return any(vectorBits, first, count); }
  bool pendingScalar(uint32_t first, uint32_t count) const { return any(scalarBits, first, count); }
  // The instruction that fills the register last, and how it comes back.
  uint32_t fillerOf(bool scalar, uint32_t reg) const { return scalar ? scalarFiller[reg] : vectorFiller[reg]; }
  Return returnOf(bool scalar, uint32_t reg) const { return scalar ? Return::Scalar : vectorReturn[reg]; }
  // Calls f(first record, records) for each open access to LDS.
  template <class F> void eachAccess(F f) const {
    for (const auto *queue : {&vector, &lds, &unordered})
      for (const Open &open : *queue)
        if (open.access >= 0)
          f(open.access, open.accesses);
  }

private:
  struct Open {
    uint64_t serial;
    Target target;
    int64_t access;
    uint32_t accesses;
    Return how;
    bool vectorDone = false, lgkmDone = false; // flat: that counter has been 0
  };
  static bool any(const uint64_t *bits, uint32_t first, uint32_t count) {
    for (uint32_t reg = first, end = first + count; reg < end;) {
      uint32_t here = 64 - reg % 64 < end - reg ? 64 - reg % 64 : end - reg;
      uint64_t mask = (here == 64 ? ~0ull : (1ull << here) - 1) << reg % 64;
      if (bits[reg / 64] & mask)
        return true;
      reg += here;
    }
    return false;
  }
  void complete(Run &run, const Open &open);
  std::deque<Open> vector, lds, unordered;
  uint64_t serial = 0;
  uint64_t vectorBits[kVgprs / 64] = {}, scalarBits[kSgprs / 64] = {};
  uint64_t vectorSerial[kVgprs] = {}, scalarSerial[kSgprs] = {};
  uint32_t vectorFiller[kVgprs] = {}, scalarFiller[kSgprs] = {};
  Return vectorReturn[kVgprs] = {};
};

// For memory handlers: the operation is on its way (in a strict run; otherwise it has arrived).
void issue(Run &run, Wave &wave, Return how, WaitState::Target target, int64_t access = -1, uint32_t accesses = 1);
inline WaitState::Target vectorTarget(const Operand &operand, uint32_t dwords) {
  return {false, operand.reg, uint16_t(dwords)};
}

// Faults "wait" when the instruction reads or overwrites a register that an outstanding load has not written yet.
void checkUse(Run &run, Wave &wave, const Instruction &instruction);
// At the end of the program nothing needs to have arrived; drops what is outstanding.
void finish(Run &run, Wave &wave);

} // namespace machine
