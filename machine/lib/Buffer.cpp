#include "machine/Run.h"

namespace machine {

Table bufferOps() { return {nullptr, 0}; }

} // namespace machine
