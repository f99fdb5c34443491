// Buffer descriptors ("V#") and the addresses of MUBUF instructions.
#pragma once
#include "machine/Spaces.h"

namespace machine {

// CDNA3 ISA, "Buffer Resource Descriptor". Elements of a swizzled buffer are dwords on these targets.
struct Descriptor {
  uint64_t base;       // 48 bits
  uint32_t stride;     // 14 bits, with add_tid 18
  uint32_t numRecords; // bytes, or elements of `stride` bytes
  uint32_t selects;    // 3 bits for each of x, y, z, w
  uint8_t numFormat, dataFormat;
  uint8_t indexStride; // 8, 16, 32 or 64
  bool swizzle, addThread;
};

// From four scalar registers; a descriptor of another kind is a fault "program".
Descriptor descriptorOf(const Wave &wave, const Operand &operand);

// Lane addresses of an instruction, and what is in range.
struct BufferAccess {
  Descriptor descriptor;
  uint64_t lanes;         // active
  uint64_t whole;         // of them, those whose access is in range as a whole
  Addresses64 addresses;  // of all lanes
  uint8_t dwords[kLanes]; // of the others, dwords in range: they are the first ones
};
// `address`, `resource`, `offset`: operands. Dwords are checked one by one unless `allOrNothing`.
void bufferAccess(const Wave &wave, const Instruction &instruction, const Operand *operands, uint32_t bytes,
                  bool allOrNothing, BufferAccess &out);

// Loads; what is out of range is 0.
void loadBuffer(Run &run, const Wave &wave, const BufferAccess &access, uint32_t bytes, LaneBytes &data);
// Stores; what is out of range is dropped.
void storeBuffer(Run &run, const BufferAccess &access, uint32_t bytes, const LaneBytes &data);

} // namespace machine
