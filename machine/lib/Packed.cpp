#include "machine/Run.h"

namespace machine {

Table packedOps() { return {nullptr, 0}; }

} // namespace machine
