#include "machine/Run.h"

namespace machine {

Table convertOps() { return {nullptr, 0}; }

} // namespace machine
