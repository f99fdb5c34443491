#include "machine/Spaces.h"

#include "machine/Lds.h"
#include "machine/Memory.h"

namespace machine {

void loadGlobal(Run &run, const Wave &wave, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes,
                LaneBytes &data) {
  checkAlignment(addresses, lanes, globalGranule(run, bytes), "this load");
  Memory &memory = run.memory;
  if (bytes == 16)
    forLanes(lanes, [&](int lane) { memory.read(run, wave, addresses[lane], data.of[lane], 16, lane); });
  else
    forLanes(lanes, [&](int lane) { memory.read(run, wave, addresses[lane], data.of[lane], bytes, lane); });
}

void storeGlobal(Run &run, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes, const LaneBytes &data) {
  checkAlignment(addresses, lanes, globalGranule(run, bytes), "this store");
  Memory &memory = run.memory;
  if (bytes == 16)
    forLanes(lanes, [&](int lane) { memory.write(addresses[lane], data.of[lane], 16, lane); });
  else
    forLanes(lanes, [&](int lane) { memory.write(addresses[lane], data.of[lane], bytes, lane); });
}

void atomicGlobal(Run &run, const Wave &wave, const Addresses64 &addresses, uint64_t lanes, uint32_t bytes,
                  AtomicOp op, LaneBytes &data) {
  checkAlignment(addresses, lanes, bytes, "an atomic");
  forLanes(lanes, [&](int lane) {
    uint64_t old = 0, operand = 0, compared = 0;
    std::memcpy(&operand, data.of[lane], bytes);
    std::memcpy(&compared, data.of[lane] + bytes, bytes);
    run.memory.read(run, wave, addresses[lane], &old, bytes, lane);
    const uint64_t result = atomicResult(op, bytes, old, operand, compared);
    run.memory.write(addresses[lane], &result, bytes, lane);
    std::memcpy(data.of[lane], &old, 8);
  });
}

static void checkScratch(const Run &run, const uint32_t *offsets, uint64_t lanes, uint32_t bytes) {
  forLanes(lanes, [&](int lane) {
    if (offsets[lane] + uint64_t(bytes) > run.config.scratchBytes)
      faultAt("bounds",
              "an access of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offsets[lane]) +
                  " of scratch, of which a lane has " + std::to_string(run.config.scratchBytes),
              lane, offsets[lane]);
  });
  checkAlignment(offsets, lanes, globalGranule(run, bytes), "this access to scratch");
}

void loadScratch(Run &run, const Wave &wave, const uint32_t *offsets, uint64_t lanes, uint32_t bytes,
                 LaneBytes &data) {
  checkScratch(run, offsets, lanes, bytes);
  forLanes(lanes, [&](int lane) {
    const size_t at = size_t(lane) * run.config.scratchBytes + offsets[lane];
    for (uint32_t i = 0; run.config.unwritten && i < bytes; ++i) {
      if (wave.scratchWritten[at + i] || isPadding(offsets[lane], bytes, offsets[lane] + i, [&](uint64_t byte) {
            return wave.scratchWritten[at - offsets[lane] + byte] != 0;
          }))
        continue;
      Fault found;
      found.kind = "unwritten";
      found.text = "nothing has written byte " + std::to_string(offsets[lane] + i) + " of the lane's scratch";
      found.lane = lane;
      found.hasAddress = true;
      found.address = offsets[lane] + i;
      run.report(wave, found);
      break;
    }
    std::memcpy(data.of[lane], &wave.scratch[at], bytes);
  });
}

void storeScratch(Run &run, Wave &wave, const uint32_t *offsets, uint64_t lanes, uint32_t bytes,
                  const LaneBytes &data) {
  checkScratch(run, offsets, lanes, bytes);
  forLanes(lanes, [&](int lane) {
    const size_t at = size_t(lane) * run.config.scratchBytes + offsets[lane];
    std::memcpy(&wave.scratch[at], data.of[lane], bytes);
    std::memset(&wave.scratchWritten[at], 1, bytes);
  });
}

void copyToLds(Run &run, Wave &wave, uint32_t offset, uint32_t extra, const LaneBytes &data, uint64_t lanes) {
  const uint32_t bytes = bytesOf(extra), size = bytes < 4 ? 4 : bytes;
  // 64 KiB of LDS need 16 bits of M0, 160 KiB (gfx950) all that it has.
  const uint32_t base = (run.config.target == 1 ? wave.s[kM0] : wave.s[kM0] & 0xFFFF) + offset;
  uint32_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    addresses[lane] = base + uint32_t(lane) * size;
  checkLds(run, addresses, lanes, size, 4, "a copy to LDS");
  const int64_t record = run.shadow->access(run, wave, LdsShadow::Kind::Copy, addresses, lanes, size);
  forLanes(lanes, [&](int lane) {
    uint8_t *to = &run.lds[addresses[lane]];
    if (bytes >= 4) {
      std::memcpy(to, data.of[lane], bytes);
      return;
    }
    int32_t value = bytes == 1 ? extra & kSignedLoad ? int8_t(data.of[lane][0]) : data.of[lane][0] : 0;
    if (bytes == 2) {
      uint16_t half;
      std::memcpy(&half, data.of[lane], 2);
      value = extra & kSignedLoad ? int16_t(half) : half;
    }
    std::memcpy(to, &value, 4);
  });
  issue(run, wave, Return::Vector, {}, record);
}

} // namespace machine
