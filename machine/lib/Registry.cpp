#include "machine/Registry.h"

#include <vector>

namespace machine {

static std::vector<OpInfo> allOps() {
  std::vector<OpInfo> all;
  for (const Table &table : {scalarOps(), scalarMemoryOps(), vectorOps(), vectorIntegerOps(), vectorFloatOps(),
                             vectorConvertOps(), compareOps(), packedOps(), convertOps(), matrixOps(), ldsOps(),
                             ldsLaneOps(), globalOps(), bufferOps(), controlOps(), waitOps()})
    all.insert(all.end(), table.ops, table.ops + table.count);
  return all;
}

static const std::vector<OpInfo> &ops() {
  static const std::vector<OpInfo> all = allOps();
  return all;
}

const OpInfo &opInfo(uint16_t op) { return ops()[op]; }
size_t opCount() { return ops().size(); }

} // namespace machine
