#include "machine/Run.h"

namespace machine {

Table globalOps() { return {nullptr, 0}; }

} // namespace machine
