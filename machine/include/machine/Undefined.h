// Scalar registers that hold what lies behind the end of a buffer: LLVM widens a scalar load where the alignment
// shows that the rest cannot fault. The rest has no value, so using it is the fault, not loading it.
#pragma once
#include "machine/Run.h"

namespace machine {

// The registers hold nothing that the program may use; `address` is where the first of them was to come from.
void markUndefined(Wave &wave, uint32_t first, uint32_t count, uint64_t address);

// Before an instruction, when there are such registers: a finding "unwritten" for one that it reads, but for moves,
// whose destinations then hold nothing either. What it writes is marked no more.
void checkUndefined(Run &run, Wave &wave, const Instruction &instruction);

} // namespace machine
