#include "machine/Memory.h"

namespace machine {} // namespace machine
