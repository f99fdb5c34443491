// Branches, waits, barriers, the end.
#include "machine/Run.h"
#include "machine/Waits.h"

namespace machine {

static void endProgram(Run &run, Wave &wave, const Instruction &) {
  finish(run, wave);
  wave.status = Status::Ended;
}

static void barrier(Run &, Wave &wave, const Instruction &) { wave.status = Status::AtBarrier; }

static const OpInfo kOps[] = {
    {"s_endpgm", Format::Sopp, "=", endProgram},
    {"s_barrier", Format::Sopp, "=", barrier},
};

Table controlOps() { return {kOps, sizeof kOps / sizeof *kOps}; }

} // namespace machine
