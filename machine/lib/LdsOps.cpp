#include "machine/Run.h"

namespace machine {

Table ldsOps() { return {nullptr, 0}; }

} // namespace machine
