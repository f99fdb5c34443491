#include "machine/Waits.h"

namespace machine {

void checkUse(Run &, Wave &, const Instruction &) {}
void finish(Run &, Wave &) {}

} // namespace machine
