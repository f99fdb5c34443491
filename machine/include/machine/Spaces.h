// Loads, stores, atomics and copies of a wave in the address spaces: global memory, LDS, scratch.
#pragma once
#include "machine/Access.h"
#include "machine/Atomics.h"
#include "machine/Waits.h"

namespace machine {

using Addresses64 = uint64_t[kLanes];

// Global memory. `granule`: alignment that is checked, 1: none.
void loadGlobal(Run &run, const Wave &wave, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes,
                LaneBytes &data);
void storeGlobal(Run &run, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes, const LaneBytes &data);
// Lane by lane in order; `data` holds the operand (and, for a compare and swap, what is compared with behind it) and
// then the old values.
void atomicGlobal(Run &run, const Wave &wave, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes,
                  AtomicOp op, LaneBytes &data);
// What alignment of a plain global access is checked.
inline uint32_t globalGranule(const Run &run, uint32_t bytes) {
  return !run.config.alignment ? 1 : bytes < 4 ? bytes : 4;
}
inline void profileGlobal(Run &run, const Wave &wave, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes) {
  run.profile(wave, bytes * uint32_t(countLanes(lanes)), segmentsOf(addresses, lanes, bytes), 0);
}

// Scratch: `offsets` are bytes in the lane's own part. What is out of it is a fault "bounds".
void loadScratch(Run &run, const Wave &wave, const uint32_t *offsets, uint64_t lanes, uint32_t bytes, LaneBytes &data);
void storeScratch(Run &run, Wave &wave, const uint32_t *offsets, uint64_t lanes, uint32_t bytes,
                  const LaneBytes &data);

// Copies what was loaded to LDS: lane i's `bytes` (as extra says; less than a dword is extended to one) go to
// M0 + offset + i * size. Issues the operation.
void copyToLds(Run &run, Wave &wave, uint32_t offset, uint32_t extra, const LaneBytes &data, uint64_t lanes);

// A value of an atomic's operand registers, `bytes` from `row` on, into the first bytes of the lanes' data.
inline void readDwords(const Wave &wave, int row, uint32_t dwords, LaneBytes &data, uint64_t lanes) {
  for (uint32_t k = 0; k < dwords; ++k)
    forLanes(lanes, [&](int lane) { data.setDword(lane, int(k), wave.v[row + int(k)][lane]); });
}

} // namespace machine
