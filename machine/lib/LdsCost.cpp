// Phases of LDS accesses and their bank conflicts.
#include "machine/Access.h"
#include "machine/Lds.h"

namespace machine {

namespace {

// Lanes that a phase serves, in order. The 128-bit reads are published measurements and not consecutive; other accesses
// are assumed to serve consecutive lanes, as many as the bytes a clock allow (gfx942: 128; gfx950: 256 for reads, 128
// for writes), 96 bits as 128.
const uint8_t kConsecutive[kLanes] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                      32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                      48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
const uint8_t kRead128Of942[kLanes] = {0,  1,  2,  3,  20, 21, 22, 23, 4,  5,  6,  7,  16, 17, 18, 19,
                                       8,  9,  10, 11, 28, 29, 30, 31, 12, 13, 14, 15, 24, 25, 26, 27,
                                       32, 33, 34, 35, 52, 53, 54, 55, 36, 37, 38, 39, 48, 49, 50, 51,
                                       40, 41, 42, 43, 60, 61, 62, 63, 44, 45, 46, 47, 56, 57, 58, 59};
const uint8_t kRead128Of950[kLanes] = {0,  1,  2,  3,  12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27,
                                       32, 33, 34, 35, 44, 45, 46, 47, 52, 53, 54, 55, 56, 57, 58, 59,
                                       4,  5,  6,  7,  8,  9,  10, 11, 16, 17, 18, 19, 28, 29, 30, 31,
                                       36, 37, 38, 39, 40, 41, 42, 43, 48, 49, 50, 51, 60, 61, 62, 63};

struct LaneOrder {
  const uint8_t *lanes;
  uint32_t width; // lanes a phase
};

LaneOrder orderOf(bool gfx950, bool write, uint32_t bytes) {
  if (bytes > 8)
    return write ? LaneOrder{kConsecutive, 8} : gfx950 ? LaneOrder{kRead128Of950, 16} : LaneOrder{kRead128Of942, 8};
  return {kConsecutive, (bytes > 4 ? 16u : 32u) * (gfx950 && !write ? 2 : 1)};
}

// Rows that each bank is asked for in one phase. What is counted is units of 4, 8 or 16 bytes: when every access is
// such a unit, aligned, the banks of a unit are asked for the same rows.
class Banks {
public:
  Banks(uint32_t banks, uint32_t unit) : groups(banks * 4 / unit) {}
  void clear() {
    std::memset(counts, 0, sizeof counts);
    most = 0;
  }
  void add(uint32_t unit) {
    const uint32_t bank = unit & (groups - 1);
    uint8_t &count = counts[bank];
    for (uint32_t i = 0; i < count; ++i)
      if (rows[bank][i] == unit)
        return;
    rows[bank][count++] = unit;
    most = count > most ? count : most;
  }
  uint32_t most = 0;

private:
  uint32_t groups;
  uint8_t counts[64];
  uint32_t rows[64][2 * kLanes]; // a lane asks a bank for two rows when it straddles
};

// The widest unit that every access is.
uint32_t unitOf(uint32_t bytes, const uint32_t *addresses, uint64_t lanes) {
  uint32_t low = 0;
  forLanes(lanes, [&](int lane) { low |= addresses[lane]; });
  return bytes == 16 && !(low & 15) ? 16 : bytes == 8 && !(low & 7) ? 8 : 4;
}

} // namespace

LdsCost ldsCost(uint32_t target, bool write, uint32_t bytes, const uint32_t *addresses, uint64_t lanes) {
  const bool gfx950 = target == 1;
  const LaneOrder order = orderOf(gfx950, write, bytes);
  const uint32_t unit = unitOf(bytes, addresses, lanes);
  Banks banks(gfx950 ? 64 : 32, unit);
  LdsCost cost{0, 0};
  for (uint32_t first = 0; first < kLanes; first += order.width) {
    banks.clear();
    for (uint32_t i = first; i < first + order.width; ++i) {
      uint32_t lane = order.lanes[i];
      if (!(lanes >> lane & 1))
        continue;
      for (uint32_t at = addresses[lane] / unit, last = (addresses[lane] + bytes - 1) / unit; at <= last; ++at)
        banks.add(at);
    }
    cost.cycles += banks.most > 1 ? banks.most : 1;
    ++cost.phases;
  }
  return cost;
}

} // namespace machine
