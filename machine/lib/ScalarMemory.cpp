#include "machine/Run.h"

namespace machine {

Table scalarMemoryOps() { return {nullptr, 0}; }

} // namespace machine
