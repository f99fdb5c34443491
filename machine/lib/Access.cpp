#include "machine/Access.h"

namespace machine {

namespace {
uint32_t extended(const uint8_t *bytes, uint32_t extra) {
  if (bytesOf(extra) == 1)
    return extra & kSignedLoad ? uint32_t(int32_t(int8_t(bytes[0]))) : bytes[0];
  uint16_t value;
  std::memcpy(&value, bytes, 2);
  return extra & kSignedLoad ? uint32_t(int32_t(int16_t(value))) : value;
}
} // namespace

void writeLoaded(Wave &wave, int row, const LaneBytes &data, uint64_t lanes, uint32_t extra) {
  uint32_t bytes = bytesOf(extra);
  if (bytes >= 4) {
    for (uint32_t k = 0; k < bytes / 4; ++k) {
      uint32_t *to = wave.v[row + int(k)];
      if (lanes == ~0ull)
        for (int lane = 0; lane < kLanes; ++lane)
          to[lane] = data.dword(lane, int(k));
      else
        forLanes(lanes, [&](int lane) { to[lane] = data.dword(lane, int(k)); });
    }
    return;
  }
  forLanes(lanes, [&](int lane) {
    uint32_t value = extended(data.of[lane], extra), &to = wave.v[row][lane];
    if (!(extra & kHalf))
      to = value;
    else if (extra & kHighHalf)
      to = (to & 0xFFFFu) | value << 16;
    else
      to = (to & 0xFFFF0000u) | (value & 0xFFFFu);
  });
}

void readStored(const Wave &wave, int row, LaneBytes &data, uint64_t lanes, uint32_t extra) {
  uint32_t bytes = bytesOf(extra);
  for (uint32_t k = 0; k < (bytes + 3) / 4; ++k) {
    const uint32_t *from = wave.v[row + int(k)];
    uint32_t shift = extra & kHighHalf ? 16 : 0;
    forLanes(lanes, [&](int lane) { data.setDword(lane, int(k), from[lane] >> shift); });
  }
}

// A lane touches at most two segments. A small table of those seen; lanes mostly come in order.
uint32_t segmentsOf(const uint64_t *addresses, uint64_t lanes, uint32_t bytes) {
  constexpr uint32_t kSlots = 256;
  uint64_t table[kSlots];
  bool used[kSlots] = {};
  uint32_t count = 0;
  uint64_t previous = ~0ull;
  auto add = [&](uint64_t segment) {
    if (segment == previous)
      return;
    previous = segment;
    uint32_t slot = uint32_t(segment * 0x9E3779B97F4A7C15ull >> 56);
    while (used[slot]) {
      if (table[slot] == segment)
        return;
      slot = (slot + 1) % kSlots;
    }
    used[slot] = true;
    table[slot] = segment;
    ++count;
  };
  forLanes(lanes, [&](int lane) {
    uint64_t first = addresses[lane] >> 6, end = (addresses[lane] + bytes - 1) >> 6;
    add(first);
    if (end != first)
      add(end);
  });
  return count;
}

void misaligned(uint64_t address, uint32_t granule, int lane, const char *what) {
  faultAt("alignment", std::string(what) + " needs an address that is a multiple of " + std::to_string(granule), lane,
          address);
}

uint32_t scalar32(const Wave &wave, const Operand &operand) {
  return isScalarRegister(operand) ? wave.s[operand.reg] : uint32_t(operand.value);
}

} // namespace machine
