// Global memory: the buffers of a launch at device addresses far apart, so that what lies between is a guard.
#pragma once
#include "machine/Run.h"

namespace machine {

// Mirrored by wave_mlir.isa.native.BufferDesc.
struct BufferDesc {
  uint64_t address; // device address of the first byte
  uint64_t size;    // bytes
  uint8_t *data;
  uint8_t *written; // a byte for each: 1 when it holds a value; null: all do
  uint32_t writable;
  uint32_t argument; // for messages: the number of the kernel argument; ~0u for the machine's own (kernarg, code)
};

class Memory {
public:
  Memory(const BufferDesc *buffers, uint32_t count);

  uint64_t changes = 0; // stores and atomics so far
  uint64_t reads = 0;

  // The buffer that holds [address, address + size), or a fault "bounds" that names the nearest one.
  const BufferDesc &find(uint64_t address, uint64_t size, int lane) {
    if (last < buffers.size()) {
      const BufferDesc &buffer = buffers[last];
      if (buffer.size >= size && address - buffer.address <= buffer.size - size)
        return buffer;
    }
    return search(address, size, lane);
  }
  // Bytes from the address to the end of the buffer that holds it; 0 outside of all.
  uint64_t room(uint64_t address);
  // A byte that nothing has written is a finding "unwritten" if the run looks for them.
  void read(Run &run, const Wave &wave, uint64_t address, void *to, uint32_t size, int lane) {
    ++reads;
    const BufferDesc &buffer = find(address, size, lane);
    uint64_t at = address - buffer.address;
    if (buffer.written && run.config.unwritten && !allWritten(buffer.written + at, size))
      reportUnwritten(run, wave, buffer, address, size, lane);
    std::memcpy(to, buffer.data + at, size);
  }
  void write(uint64_t address, const void *from, uint32_t size, int lane) {
    std::memcpy(writable(address, size, lane), from, size);
  }
  // Where the bytes are, to be written: they count as written.
  uint8_t *writable(uint64_t address, uint32_t size, int lane) {
    const BufferDesc &buffer = find(address, size, lane);
    if (!buffer.writable)
      refuseWrite(buffer, address, size, lane);
    ++changes;
    uint64_t at = address - buffer.address;
    if (buffer.written)
      std::memset(buffer.written + at, 1, size);
    return buffer.data + at;
  }

private:
  static bool allWritten(const uint8_t *flags, uint32_t size) {
    for (uint32_t i = 0; i < size; ++i)
      if (!flags[i])
        return false;
    return true;
  }
  const BufferDesc &search(uint64_t address, uint64_t size, int lane);
  [[noreturn]] void outside(uint64_t address, uint64_t size, int lane) const;
  [[noreturn]] static void refuseWrite(const BufferDesc &buffer, uint64_t address, uint64_t size, int lane);
  static void reportUnwritten(Run &run, const Wave &wave, const BufferDesc &buffer, uint64_t address, uint64_t size,
                              int lane);
  std::vector<BufferDesc> buffers; // by address
  size_t last = 0;                 // where the last access fell
};

} // namespace machine
