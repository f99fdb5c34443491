#include "machine/Memory.h"

#include <algorithm>

namespace machine {

namespace {
std::string nameOf(const BufferDesc &buffer) {
  return buffer.argument == ~0u ? std::string("a buffer of the machine's own (kernel arguments)")
                                : "the buffer of argument " + std::to_string(buffer.argument);
}

std::string plural(uint64_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}
} // namespace

Memory::Memory(const BufferDesc *descs, uint32_t count) : buffers(descs, descs + count) {
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const BufferDesc &a, const BufferDesc &b) { return a.address < b.address; });
}

uint64_t Memory::room(uint64_t address) {
  for (const BufferDesc &buffer : buffers)
    if (address - buffer.address < buffer.size)
      return buffer.size - (address - buffer.address);
  return 0;
}

const BufferDesc &Memory::search(uint64_t address, uint64_t size, int lane) {
  auto after = std::upper_bound(buffers.begin(), buffers.end(), address,
                                [](uint64_t at, const BufferDesc &buffer) { return at < buffer.address; });
  if (after == buffers.begin())
    outside(address, size, lane);
  const BufferDesc &buffer = *--after;
  if (buffer.size < size || address - buffer.address > buffer.size - size)
    outside(address, size, lane);
  last = size_t(after - buffers.begin());
  return buffer;
}

void Memory::outside(uint64_t address, uint64_t size, int lane) const {
  const BufferDesc *nearest = nullptr;
  uint64_t distance = ~0ull;
  for (const BufferDesc &buffer : buffers) {
    uint64_t end = buffer.address + buffer.size;
    uint64_t here = address < buffer.address ? buffer.address - address : address >= end ? address - end + 1 : 0;
    if (here < distance) {
      distance = here;
      nearest = &buffer;
    }
  }
  std::string text = "an access of " + plural(size, "byte") + " ";
  if (!nearest || distance > 1ull << 31) {
    text += "far from every buffer";
  } else if (address < nearest->address) {
    text += plural(nearest->address - address, "byte") + " before the start of " + nameOf(*nearest) + " (" +
            plural(nearest->size, "byte") + ")";
  } else {
    uint64_t offset = address - nearest->address;
    text += "at offset " + std::to_string(offset) + " of " + nameOf(*nearest) + ", which ends at " +
            std::to_string(nearest->size);
  }
  faultAt("bounds", text, lane, address);
}

void Memory::refuseWrite(const BufferDesc &buffer, uint64_t address, uint64_t size, int lane) {
  faultAt("bounds",
          "a store of " + plural(size, "byte") + " at offset " + std::to_string(address - buffer.address) + " of " +
              nameOf(buffer) + ", which may only be read",
          lane, address);
}

void Memory::reportUnwritten(Run &run, const Wave &wave, const BufferDesc &buffer, uint64_t address, uint64_t size,
                             int lane) {
  uint64_t at = address - buffer.address;
  for (uint64_t i = 0; i < size; ++i) {
    if (buffer.written[at + i])
      continue;
    Fault found;
    found.kind = "unwritten";
    found.text = "nothing has written byte " + std::to_string(at + i) + " of " + nameOf(buffer);
    found.lane = lane;
    found.hasAddress = true;
    found.address = address + i;
    run.report(wave, found);
    return;
  }
}

} // namespace machine
