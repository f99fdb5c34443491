// Global memory: the buffers of a launch at device addresses far apart, so that what lies between is a guard.
#pragma once
#include "machine/State.h"

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
  Memory(const BufferDesc *buffers, uint32_t count) : buffers(buffers, buffers + count) {}

  // The buffer that holds [address, address + size), or a fault "bounds" that names the nearest one.
  const BufferDesc &find(uint64_t address, uint64_t size, int lane);
  // Reads; a byte that nothing has written is a fault "unwritten" unless `allowUnwritten`.
  void read(uint64_t address, void *to, uint64_t size, int lane, bool allowUnwritten);
  void write(uint64_t address, const void *from, uint64_t size, int lane);

private:
  std::vector<BufferDesc> buffers;
  uint32_t last = 0; // where the last access fell
};

} // namespace machine
