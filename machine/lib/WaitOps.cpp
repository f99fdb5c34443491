// s_waitcnt.
#include "machine/Run.h"
#include "machine/Waits.h"

namespace machine {

namespace {

// Fields of the immediate (CDNA3 ISA, "S_WAITCNT"): vmcnt 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8. Nothing on these
// targets counts on expcnt: a store has read its data registers when it is issued. The hardware's counters hold no more
// than the fields: issue stalls before, so the highest value needs no case of its own.
void waitcnt(Run &run, Wave &wave, const Instruction &instruction) {
  uint32_t bits = uint32_t(instruction.offset);
  wave.waits->wait(run, (bits & 15) | (bits >> 14 & 3) << 4, bits >> 8 & 15);
}

const OpInfo kWaitOpsTable[] = {
    {"s_waitcnt", Format::Sopp, "= waitcnt", waitcnt},
};

} // namespace

Table waitOps() { return {kWaitOpsTable, sizeof kWaitOpsTable / sizeof *kWaitOpsTable}; }

} // namespace machine
