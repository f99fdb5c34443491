#include "machine/Run.h"

namespace machine {

Table matrixOps() { return {nullptr, 0}; }

} // namespace machine
