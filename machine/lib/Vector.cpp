#include "machine/Run.h"

namespace machine {

Table vectorOps() { return {nullptr, 0}; }

} // namespace machine
