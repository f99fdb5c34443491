// SMEM: scalar loads, stores and atomics, clocks and cache control. They come back in any order (lgkmcnt).
#include "machine/Access.h"
#include "machine/Atomics.h"
#include "machine/Memory.h"
#include "machine/Undefined.h"
#include "machine/Waits.h"

#include <algorithm>

namespace machine {

namespace {

constexpr uint32_t kBuffer = 1 << 8, kScratch = 1 << 9, kDwordsMask = 0xFF;

// The operand after the base is a register, or the offset is in the instruction.
uint64_t offsetOf(const Wave &wave, const Instruction &instruction, const Operand &operand) {
  const uint64_t scalar = isScalarRegister(operand) ? wave.s[operand.reg] : 0;
  return scalar + uint64_t(int64_t(instruction.offset));
}

// Dwords of an access to a buffer that are in range: num_records counts bytes, or elements of `stride` bytes.
uint32_t inRange(const uint32_t *descriptor, uint64_t offset, uint32_t dwords) {
  const uint32_t stride = descriptor[1] >> 16 & 0x3FFF;
  const uint64_t size = uint64_t(descriptor[2]) * (stride ? stride : 1);
  if (offset >= size)
    return 0;
  const uint64_t room = (size - offset) / 4;
  return room < dwords ? uint32_t(room) : dwords;
}

struct Place {
  uint64_t address;
  uint32_t dwords; // in range
};

Place placeOf(const Wave &wave, const Instruction &instruction, const Operand *operands, uint32_t extra) {
  const uint32_t dwords = extra & kDwordsMask;
  uint64_t offset = offsetOf(wave, instruction, operands[1]);
  Place place{wave.pair(operands[0].reg), dwords};
  if (extra & kBuffer) {
    place.address &= (1ull << 48) - 1;
    offset = uint32_t(offset);
    place.dwords = inRange(wave.s + operands[0].reg, offset, dwords);
  } else if (extra & kScratch) {
    // The register's offset counts 64 bytes (s_scratch_load_dword).
    const uint64_t scalar = isScalarRegister(operands[1]) ? wave.s[operands[1].reg] : 0;
    offset = scalar * 64 + uint64_t(int64_t(instruction.offset));
  }
  place.address += offset;
  if (place.address & 3)
    misaligned(place.address, 4, -1, "a scalar access to memory");
  return place;
}

void loadScalar(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, dwords = extra & kDwordsMask;
  const Place place = placeOf(wave, instruction, instruction.src, extra);
  uint32_t data[16] = {}, bytes = 4 * place.dwords;
  const uint64_t room = run.memory.room(place.address);
  const bool cut = room && room < bytes; // it begins inside: what lies behind the end has no value (Undefined.h)
  if (cut) {
    std::fill_n(data, place.dwords, kPoison);
    bytes = uint32_t(room);
  }
  if (bytes)
    run.memory.read(run, wave, place.address, data, bytes, -1);
  const uint16_t first = instruction.dst[0].reg;
  std::memcpy(wave.s + first, data, 4 * dwords);
  if (cut) {
    const uint32_t whole = (bytes + 3) / 4;
    markUndefined(wave, first + whole, place.dwords - whole, place.address + 4 * whole);
  }
  issue(run, wave, Return::Scalar, {true, first, uint16_t(dwords)});
  run.profile(wave, 4 * dwords, 1, 0);
}

void storeScalar(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra;
  const Place place = placeOf(wave, instruction, instruction.src + 1, extra);
  if (place.dwords)
    run.memory.write(place.address, wave.s + instruction.src[0].reg, 4 * place.dwords, -1);
  issue(run, wave, Return::Scalar, {});
  run.profile(wave, 4 * place.dwords, 1, 0);
}

void atomicScalar(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, dwords = extra & kDwordsMask, bytes = 4 * dwords;
  const Operand &operand = instruction.src[0];
  const Place place = placeOf(wave, instruction, instruction.src + 1, extra);
  if (place.address & (bytes - 1))
    misaligned(place.address, bytes, -1, "an atomic");
  uint64_t old = 0, value = 0, compared = 0;
  std::memcpy(&value, wave.s + operand.reg, bytes);
  if (AtomicOp(extra >> kAtomicShift) == AtomicOp::CompareSwap)
    std::memcpy(&compared, wave.s + operand.reg + dwords, bytes);
  if (place.dwords == dwords) {
    run.memory.read(run, wave, place.address, &old, bytes, -1);
    const uint64_t result = atomicResult(AtomicOp(extra >> kAtomicShift), bytes, old, value, compared);
    run.memory.write(place.address, &result, bytes, -1);
  }
  WaitState::Target target;
  if (instruction.flags & kSc0) {
    std::memcpy(wave.s + operand.reg, &old, bytes);
    target = {true, operand.reg, uint16_t(dwords)};
  }
  issue(run, wave, Return::Scalar, target);
  run.profile(wave, bytes, 1, 0);
}

// A clock: the instructions executed so far stand for cycles.
void time(Run &run, Wave &wave, const Instruction &instruction) {
  wave.setPair(instruction.dst[0].reg, run.executed);
  issue(run, wave, Return::Scalar, {true, instruction.dst[0].reg, 2});
}

void cacheScalar(Run &run, Wave &wave, const Instruction &) { issue(run, wave, Return::Scalar, {}); }

constexpr uint32_t scalarAtomic(AtomicOp op, uint32_t dwords, uint32_t flags) {
  return dwords | flags | uint32_t(op) << kAtomicShift;
}

#define LOAD(stem, type, dwords)                                                                                      \
  {"s_load_" stem, Format::Smem, type " = b64 soff", loadScalar, nullptr, dwords},                                          \
      {"s_buffer_load_" stem, Format::Smem, type " = b128 soff", loadScalar, nullptr, (dwords) | kBuffer}
#define STORE(stem, type, dwords)                                                                                     \
  {"s_store_" stem, Format::Smem, "= " type " b64 soff", storeScalar, nullptr, (dwords)},                      \
      {"s_buffer_store_" stem, Format::Smem, "= " type " b128 soff", storeScalar, nullptr, (dwords) | kBuffer}
#define SCRATCH(stem, type, dwords)                                                                                   \
  {"s_scratch_load_" stem, Format::Smem, type " = b64 soff", loadScalar, nullptr, (dwords) | kScratch},                     \
      {"s_scratch_store_" stem, Format::Smem, "= " type " b64 soff", storeScalar, nullptr, (dwords) | kScratch}
#define ATOMIC(stem, type, op, dwords)                                                                                \
  {"s_atomic_" stem, Format::Smem, "= " type " b64 soff", atomicScalar, nullptr, scalarAtomic(AtomicOp::op, dwords, 0)},     \
      {"s_buffer_atomic_" stem, Format::Smem, "= " type " b128 soff", atomicScalar, nullptr,                                \
       scalarAtomic(AtomicOp::op, dwords, kBuffer)}
#define ATOMIC_BOTH(stem, op) ATOMIC(stem, "b32", op, 1), ATOMIC(stem "_x2", "b64", op, 2)

const OpInfo kScalarMemoryTable[] = {
    LOAD("dword", "b32", 1),
    LOAD("dwordx2", "b64", 2),
    LOAD("dwordx4", "b128", 4),
    LOAD("dwordx8", "b256", 8),
    LOAD("dwordx16", "b512", 16),
    STORE("dword", "b32", 1),
    STORE("dwordx2", "b64", 2),
    STORE("dwordx4", "b128", 4),
    SCRATCH("dword", "b32", 1),
    SCRATCH("dwordx2", "b64", 2),
    SCRATCH("dwordx4", "b128", 4),
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
    ATOMIC("cmpswap", "b64", CompareSwap, 1),
    ATOMIC("cmpswap_x2", "b128", CompareSwap, 2),
    {"s_memtime", Format::Smem, "b64 =", time},
    {"s_memrealtime", Format::Smem, "b64 =", time},
    {"s_dcache_inv", Format::Smem, "=", cacheScalar},
    {"s_dcache_wb", Format::Smem, "=", cacheScalar},
    {"s_dcache_inv_vol", Format::Smem, "=", cacheScalar},
    {"s_dcache_wb_vol", Format::Smem, "=", cacheScalar},
};

} // namespace

Table scalarMemoryOps() { return {kScalarMemoryTable, sizeof kScalarMemoryTable / sizeof *kScalarMemoryTable}; }

} // namespace machine

#undef LOAD
#undef STORE
#undef SCRATCH
#undef ATOMIC
#undef ATOMIC_BOTH
