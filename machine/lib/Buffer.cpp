// MUBUF. Address (CDNA3 ISA, "Buffer Addressing"): base + scalar offset + buffer offset, where the buffer offset is the
// immediate + the lane's offset (offen) + stride * index, or the swizzled form of them. What is checked against
// num_records is in docs/machine-code.md.
#include "machine/Buffer.h"

#include "machine/Lds.h"

namespace machine {

Descriptor descriptorOf(const Wave &wave, const Operand &operand) {
  const uint32_t *words = wave.s + operand.reg;
  Descriptor d;
  d.base = words[0] | uint64_t(words[1] & 0xFFFF) << 32;
  d.stride = words[1] >> 16 & 0x3FFF;
  d.swizzle = words[1] >> 31;
  d.numRecords = words[2];
  d.selects = words[3] & 0xFFF;
  d.numFormat = words[3] >> 12 & 7;
  d.dataFormat = words[3] >> 15 & 15;
  d.indexStride = uint8_t(8u << (words[3] >> 21 & 3));
  d.addThread = words[3] >> 23 & 1;
  if (d.addThread)
    d.stride |= uint32_t(d.dataFormat) << 14; // the field is more of the stride then
  if (words[3] >> 30)
    fault("program", "s[" + std::to_string(operand.reg) + ":" + std::to_string(operand.reg + 3) +
                         "] holds no buffer descriptor: its type (bits 127:126) is " + std::to_string(words[3] >> 30) +
                         ", not 0");
  return d;
}

static uint64_t swizzled(const Descriptor &d, uint64_t index, uint64_t offset) {
  const uint64_t element = 4, across = d.indexStride;
  const uint64_t block = (index / across * d.stride + offset / element * element) * across;
  return block + index % across * element + offset % element;
}

// Bytes of an access of which `room` bytes are in range: dwords are checked one by one, atomics as a whole.
static uint32_t granted(uint64_t room, uint32_t bytes, bool allOrNothing) {
  return room >= bytes ? bytes : allOrNothing ? 0 : uint32_t(room / 4) * 4;
}

static uint64_t roomAt(const Descriptor &d, uint64_t offset) {
  return offset < d.numRecords ? d.numRecords - offset : 0;
}

// Published texts differ in whether the scalar offset counts, and whether the offset wraps at 32 bits. A program that
// works by one of them only is wrong.
static void checkReadings(const Descriptor &d, uint64_t offset, uint64_t scalar, uint32_t bytes, bool allOrNothing,
                          int lane, uint64_t address) {
  const uint32_t in = granted(roomAt(d, offset), bytes, allOrNothing);
  const bool counted = granted(roomAt(d, offset + scalar), bytes, allOrNothing) != in;
  if (!counted && (offset >> 32 == 0 || granted(roomAt(d, uint32_t(offset)), bytes, allOrNothing) == in))
    return;
  const std::string what = counted ? "the scalar offset " + std::to_string(scalar) + " counts" : "it wraps at 32 bits";
  faultAt("bounds",
          "whether offset " + std::to_string(offset) + " is in the " + std::to_string(d.numRecords) +
              " bytes of the buffer descriptor depends on whether " + what + ", on which published texts disagree",
          lane, address);
}

void bufferAccess(const Wave &wave, const Instruction &instruction, const Operand *operands, uint32_t bytes,
                  bool allOrNothing, BufferAccess &out) {
  out.descriptor = descriptorOf(wave, operands[1]);
  const Descriptor &d = out.descriptor;
  const bool offen = instruction.flags & kOffen, idxen = instruction.flags & kIdxen;
  const uint64_t scalar = scalar32(wave, operands[2]), base = d.base + scalar;
  const uint32_t *indices = idxen ? wave.v[operands[0].reg] : nullptr;
  const uint32_t *offsets = offen ? wave.v[operands[0].reg + (idxen ? 1 : 0)] : nullptr;
  const bool structured = idxen && d.stride;
  out.lanes = wave.exec();
  out.whole = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t index = (indices ? indices[lane] : 0) + uint64_t(d.addThread ? lane : 0);
    const uint64_t offset = uint64_t(uint32_t(instruction.offset)) + (offsets ? offsets[lane] : 0);
    const uint64_t linear = offset + index * d.stride;
    out.addresses[lane] = base + (d.swizzle && d.stride ? swizzled(d, index, offset) : linear);
    if (!(out.lanes >> lane & 1))
      continue;
    const uint64_t room = structured ? (index < d.numRecords ? bytes : 0) : roomAt(d, linear);
    if (!structured && (scalar | linear >> 32))
      checkReadings(d, linear, scalar, bytes, allOrNothing, lane, out.addresses[lane]);
    if (room >= bytes)
      out.whole |= 1ull << lane;
    else
      out.dwords[lane] = allOrNothing ? 0 : uint8_t(room / 4);
  }
}

void loadBuffer(Run &run, const Wave &wave, const BufferAccess &access, uint32_t bytes, LaneBytes &data) {
  loadGlobal(run, wave, access.addresses, access.whole, bytes, data);
  forLanes(access.lanes & ~access.whole, [&](int lane) {
    std::memset(data.of[lane], 0, sizeof data.of[lane]);
    if (access.dwords[lane]) {
      LaneBytes part;
      loadGlobal(run, wave, access.addresses, 1ull << lane, 4u * access.dwords[lane], part);
      std::memcpy(data.of[lane], part.of[lane], 4u * access.dwords[lane]);
    }
  });
}

void storeBuffer(Run &run, const BufferAccess &access, uint32_t bytes, const LaneBytes &data) {
  storeGlobal(run, access.addresses, access.whole, bytes, data);
  forLanes(access.lanes & ~access.whole, [&](int lane) {
    if (access.dwords[lane])
      storeGlobal(run, access.addresses, 1ull << lane, 4u * access.dwords[lane], data);
  });
}

namespace {

void profileBuffer(Run &run, const Wave &wave, const BufferAccess &access, uint32_t bytes) {
  profileGlobal(run, wave, access.addresses, access.whole, bytes);
}

void loadBuffer(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  BufferAccess access;
  LaneBytes data;
  bufferAccess(wave, instruction, instruction.src, bytes, false, access);
  loadBuffer(run, wave, access, bytes, data);
  profileBuffer(run, wave, access, bytes);
  if (instruction.flags & kLds) {
    copyToLds(run, wave, uint32_t(instruction.offset), extra, data, access.lanes);
    return;
  }
  writeLoaded(wave, instruction.dst[0].reg, data, access.lanes, extra);
  issue(run, wave, Return::Vector, vectorTarget(instruction.dst[0], (bytes + 3) / 4));
}

void storeBuffer(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  BufferAccess access;
  LaneBytes data;
  bufferAccess(wave, instruction, instruction.src + 1, bytes, false, access);
  readStored(wave, instruction.src[0].reg, data, access.lanes, extra);
  storeBuffer(run, access, bytes, data);
  profileBuffer(run, wave, access, bytes);
  issue(run, wave, Return::Vector, {});
}

// Out of range: nothing happens, the old value is 0.
void atomicBuffer(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const Operand &operand = instruction.src[0];
  BufferAccess access;
  LaneBytes data;
  bufferAccess(wave, instruction, instruction.src + 1, bytes, true, access);
  readDwords(wave, operand.reg, operand.dwords, data, access.lanes);
  atomicGlobal(run, wave, access.addresses, access.whole, bytes, AtomicOp(extra >> kAtomicShift & 0xFF), data);
  forLanes(access.lanes & ~access.whole, [&](int lane) { std::memset(data.of[lane], 0, sizeof data.of[lane]); });
  profileBuffer(run, wave, access, bytes);
  WaitState::Target target;
  if (instruction.flags & kSc0) {
    writeLoaded(wave, operand.reg, data, access.lanes, bytes);
    target = vectorTarget(operand, bytes / 4);
  }
  issue(run, wave, Return::Vector, target);
}

// Write-back and invalidation of caches: memory here has none, but they count.
void cacheBuffer(Run &run, Wave &wave, const Instruction &) { issue(run, wave, Return::Vector, {}); }

constexpr uint32_t bufferAtomic(AtomicOp op, uint32_t bytes) { return bytes | uint32_t(op) << kAtomicShift; }


#define LOAD(stem, type, extra) {"buffer_load_" stem, Format::Mubuf, type "? = vaddr b128 b32", loadBuffer, nullptr, extra}
#define STORE(stem, type, extra)                                                                                      \
  {"buffer_store_" stem, Format::Mubuf, "= " type " vaddr b128 b32", storeBuffer, nullptr, extra}
#define ATOMIC(stem, type, op, bytes, targets)                                                                        \
  {"buffer_atomic_" stem, Format::Mubuf, "= " type " vaddr b128 b32", atomicBuffer, nullptr,                                \
   bufferAtomic(AtomicOp::op, bytes), targets}
#define ATOMIC_BOTH(stem, op) ATOMIC(stem, "b32", op, 4, kBoth), ATOMIC(stem "_x2", "b64", op, 8, kBoth)

const OpInfo kBufferTable[] = {
    LOAD("ubyte", "b32", 1),
    LOAD("sbyte", "b32", 1 | kSignedLoad),
    LOAD("ushort", "b32", 2),
    LOAD("sshort", "b32", 2 | kSignedLoad),
    LOAD("dword", "b32", 4),
    LOAD("dwordx2", "b64", 8),
    LOAD("dwordx3", "b96", 12),
    LOAD("dwordx4", "b128", 16),
    LOAD("ubyte_d16", "+b32", 1 | kHalf),
    LOAD("ubyte_d16_hi", "+b32", 1 | kHalf | kHighHalf),
    LOAD("sbyte_d16", "+b32", 1 | kSignedLoad | kHalf),
    LOAD("sbyte_d16_hi", "+b32", 1 | kSignedLoad | kHalf | kHighHalf),
    LOAD("short_d16", "+b32", 2 | kHalf),
    LOAD("short_d16_hi", "+b32", 2 | kHalf | kHighHalf),
    STORE("byte", "b32", 1),
    STORE("byte_d16_hi", "b32", 1 | kHighHalf),
    STORE("short", "b32", 2),
    STORE("short_d16_hi", "b32", 2 | kHighHalf),
    STORE("dword", "b32", 4),
    STORE("dwordx2", "b64", 8),
    STORE("dwordx3", "b96", 12),
    STORE("dwordx4", "b128", 16),
    ATOMIC_BOTH("swap", Swap),
    ATOMIC_BOTH("add", Add),
    ATOMIC_BOTH("sub", Sub),
    ATOMIC_BOTH("smin", MinSigned),
    ATOMIC_BOTH("umin", MinUnsigned),
    ATOMIC_BOTH("smax", MaxSigned),
    ATOMIC_BOTH("umax", MaxUnsigned),
    ATOMIC_BOTH("and", And),
    ATOMIC_BOTH("or", Or),
    ATOMIC_BOTH("xor", Xor),
    ATOMIC_BOTH("inc", Inc),
    ATOMIC_BOTH("dec", Dec),
    ATOMIC("cmpswap", "b64", CompareSwap, 4, kBoth),
    ATOMIC("cmpswap_x2", "b128", CompareSwap, 8, kBoth),
    ATOMIC("add_f32", "b32", AddFloat, 4, kBoth),
    ATOMIC("pk_add_f16", "b32", PackedAddF16, 4, kBoth),
    ATOMIC("pk_add_bf16", "b32", PackedAddBf16, 4, kGfx950),
    ATOMIC("add_f64", "b64", AddFloat, 8, kBoth),
    ATOMIC("min_f64", "b64", MinFloat, 8, kBoth),
    ATOMIC("max_f64", "b64", MaxFloat, 8, kBoth),
    {"buffer_wbl2", Format::Mubuf, "=", cacheBuffer},
    {"buffer_inv", Format::Mubuf, "=", cacheBuffer},
};

} // namespace

Table bufferOps() { return {kBufferTable, sizeof kBufferTable / sizeof *kBufferTable}; }

} // namespace machine

#undef LOAD
#undef STORE
#undef ATOMIC
#undef ATOMIC_BOTH
