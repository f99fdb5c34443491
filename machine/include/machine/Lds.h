// Who touched which byte of LDS since when: races, reads of unwritten bytes, copies that have not arrived.
#pragma once
#include "machine/Run.h"

namespace machine {

class LdsShadow {
public:
  explicit LdsShadow(uint32_t) {}
};

} // namespace machine
