// Scalar registers that an instruction reads without naming them.
#pragma once
#include "machine/Registry.h"

namespace machine {

// A run of scalar registers; count 0: none.
struct ScalarRange {
  uint16_t first = 0, count = 0;
};
struct ImplicitReads {
  ScalarRange of[3]; // VCC, M0, EXEC
};

// VCC of branches and of v_div_fmas, M0 of what moves or addresses by it, EXEC of all that works by lane. SCC is not
// among them: no load fills it.
ImplicitReads implicitReads(const Instruction &instruction);

} // namespace machine
