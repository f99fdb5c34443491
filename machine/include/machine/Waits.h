// Outstanding memory operations of a wave, and what a wait completes.
#pragma once
#include "machine/Run.h"

namespace machine {

class WaitState {
public:
  WaitState() = default;
  uint32_t pendingRegisters = 0; // registers that an outstanding load will write: 0 is the fast path
};

// Faults "wait" when the instruction reads or overwrites a register that an outstanding load has not written yet.
void checkUse(Run &run, Wave &wave, const Instruction &instruction);
// At the end of the program nothing needs to have arrived; drops what is outstanding.
void finish(Run &run, Wave &wave);

} // namespace machine
