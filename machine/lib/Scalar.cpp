#include "machine/Run.h"

namespace machine {

Table scalarOps() { return {nullptr, 0}; }

} // namespace machine
