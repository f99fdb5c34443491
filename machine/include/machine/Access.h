// What the memory families share: lanes, the meaning of OpInfo::extra, loaded values into registers, profile numbers.
#pragma once
#include "machine/Run.h"

namespace machine {

// OpInfo::extra of loads and stores: bytes a lane in the low bits, then flags.
enum AccessBits : uint32_t {
  kBytesMask = 0x1F,
  kSignedLoad = 1 << 5,  // sub-dword: sign-extended to what the register (or half) holds
  kHalf = 1 << 6,        // d16: only half of the register is written
  kHighHalf = 1 << 7,    // d16_hi: it is the upper half, of a store too
  kToLds = 1 << 8,       // a copy from memory to LDS
  kReturns = 1 << 9,     // DS atomic that returns the old value
  kTwo = 1 << 10,        // DS: two accesses
  kStride64 = 1 << 11,   // DS: offsets of the two count 64 elements
  kAtomicShift = 16,     // bits 16-23: an AtomicOp
  kComponentShift = 24,  // bits 24-26: components of a format access
};
inline uint32_t bytesOf(uint32_t extra) { return extra & kBytesMask; }

// Calls f(lane) for each lane of the mask, in order.
template <class F> inline void forLanes(uint64_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(__builtin_ctzll(mask));
}
inline int countLanes(uint64_t mask) { return __builtin_popcountll(mask); }

// What a wave moves: for each lane up to 16 bytes.
struct LaneBytes {
  alignas(16) uint8_t of[kLanes][16];
  uint32_t dword(int lane, int index) const {
    uint32_t value;
    std::memcpy(&value, of[lane] + 4 * index, 4);
    return value;
  }
  void setDword(int lane, int index, uint32_t value) { std::memcpy(of[lane] + 4 * index, &value, 4); }
};

// Writes what was loaded (`extra`: bytes and flags) into the registers from row on.
void writeLoaded(Wave &wave, int row, const LaneBytes &data, uint64_t lanes, uint32_t extra);
// The bytes that a store of `extra` writes, from the registers from row on.
void readStored(const Wave &wave, int row, LaneBytes &data, uint64_t lanes, uint32_t extra);

// 64-byte segments that the lanes' accesses touch.
uint32_t segmentsOf(const uint64_t *addresses, uint64_t lanes, uint32_t bytes);

// The finding "alignment" for an access whose address is no multiple of `granule`.
[[noreturn]] void misaligned(uint64_t address, uint32_t granule, int lane, const char *what);
// Checks the lanes; `granule` is a power of two.
template <class Address>
inline void checkAlignment(const Address *addresses, uint64_t lanes, uint32_t granule, const char *what) {
  uint64_t low = 0;
  forLanes(lanes, [&](int lane) { low |= addresses[lane]; });
  if (low & (granule - 1))
    forLanes(lanes, [&](int lane) {
      if (addresses[lane] & (granule - 1))
        misaligned(addresses[lane], granule, lane, what);
    });
}

// Scalar operand of a memory instruction: registers or a constant.
uint32_t scalar32(const Wave &wave, const Operand &operand);

inline bool isVector(const Operand &operand) { return operand.kind == uint8_t(Kind::Vgpr); }
inline bool isScalarRegister(const Operand &operand) { return operand.kind == uint8_t(Kind::Sgpr); }

} // namespace machine
