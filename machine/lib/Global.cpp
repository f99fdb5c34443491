// GLOBAL, FLAT and SCRATCH instructions.
#include "machine/Lanes.h"
#include "machine/Lds.h"
#include "machine/Spaces.h"

namespace machine {

namespace {

// Where the operands are: a store has its data between address and base.
struct Operands {
  const Operand *address, *data, *base;
};

Operands operandsOf(const Instruction &instruction, bool hasData) {
  const Operand *src = instruction.src;
  return hasData ? Operands{&src[0], &src[1], &src[2]} : Operands{&src[0], nullptr, &src[1]};
}

// Global: a 64-bit address a lane, or a scalar base and an unsigned 32-bit offset a lane; flat: the former.
void globalAddresses(const Wave &wave, const Instruction &instruction, const Operands &operands, Addresses64 &out) {
  const uint64_t offset = uint64_t(int64_t(instruction.offset));
  if (isScalarRegister(*operands.base)) {
    const uint64_t base = wave.pair(operands.base->reg) + offset;
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = base + (isVector(*operands.address) ? wave.v[operands.address->reg][lane] : 0);
    return;
  }
  const uint32_t *low = wave.v[operands.address->reg], *high = wave.v[operands.address->reg + 1];
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = (low[lane] | uint64_t(high[lane]) << 32) + offset;
}

// Scratch: offsets in the lane's part; vector and scalar parts may be left out.
void scratchOffsets(const Wave &wave, const Instruction &instruction, const Operands &operands, uint32_t *out) {
  uint32_t base = uint32_t(instruction.offset);
  if (isScalarRegister(*operands.base))
    base += wave.s[operands.base->reg];
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = base + (isVector(*operands.address) ? wave.v[operands.address->reg][lane] : 0);
}

// --- global ---

void globalLoad(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const uint64_t lanes = wave.exec();
  Addresses64 addresses;
  LaneBytes data;
  globalAddresses(wave, instruction, operandsOf(instruction, false), addresses);
  loadGlobal(run, wave, addresses, lanes, bytes, data);
  profileGlobal(run, wave, addresses, lanes, bytes);
  if (extra & kToLds) {
    copyToLds(run, wave, uint32_t(instruction.offset), extra, data, lanes);
    return;
  }
  writeLoaded(wave, instruction.dst[0].reg, data, lanes, extra);
  issue(run, wave, Return::Vector, vectorTarget(instruction.dst[0], (bytes + 3) / 4));
}

void globalStore(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const uint64_t lanes = wave.exec();
  const Operands operands = operandsOf(instruction, true);
  Addresses64 addresses;
  LaneBytes data;
  globalAddresses(wave, instruction, operands, addresses);
  readStored(wave, operands.data->reg, data, lanes, extra);
  storeGlobal(run, addresses, lanes, bytes, data);
  profileGlobal(run, wave, addresses, lanes, bytes);
  issue(run, wave, Return::Vector, {});
}

AtomicOp atomicOf(uint32_t extra) { return AtomicOp(extra >> kAtomicShift & 0xFF); }

// The old values go to the destination when there is one.
WaitState::Target returnOld(Wave &wave, const Instruction &instruction, uint32_t bytes, const LaneBytes &old,
                            uint64_t lanes) {
  if (!isVector(instruction.dst[0]))
    return {};
  writeLoaded(wave, instruction.dst[0].reg, old, lanes, bytes);
  return vectorTarget(instruction.dst[0], bytes / 4);
}

void globalAtomic(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const uint64_t lanes = wave.exec();
  const Operands operands = operandsOf(instruction, true);
  Addresses64 addresses;
  LaneBytes data;
  globalAddresses(wave, instruction, operands, addresses);
  readDwords(wave, operands.data->reg, operands.data->dwords, data, lanes);
  atomicGlobal(run, wave, addresses, lanes, bytes, atomicOf(extra), data);
  profileGlobal(run, wave, addresses, lanes, bytes);
  issue(run, wave, Return::Vector, returnOld(wave, instruction, bytes, data, lanes));
}

// --- flat: each lane goes where its address lies ---

struct FlatLanes {
  uint64_t global = 0, lds = 0, scratch = 0;
  Addresses64 addresses;
  uint32_t low[kLanes]; // offsets in LDS or scratch
};

void splitFlat(const Wave &wave, const Instruction &instruction, bool hasData, FlatLanes &out) {
  Operands operands = operandsOf(instruction, hasData);
  const Operand none{};
  operands.base = &none;
  globalAddresses(wave, instruction, operands, out.addresses);
  for (int lane = 0; lane < kLanes; ++lane)
    out.low[lane] = uint32_t(out.addresses[lane]);
  forLanes(wave.exec(), [&](int lane) {
    const uint64_t aperture = out.addresses[lane] >> 32 << 32, bit = 1ull << lane;
    (aperture == kSharedAperture ? out.lds : aperture == kPrivateAperture ? out.scratch : out.global) |= bit;
  });
}

// Notes the part of a flat access that went to LDS and issues the whole.
void issueFlat(Run &run, Wave &wave, const FlatLanes &flat, LdsShadow::Kind kind, uint32_t bytes,
               WaitState::Target target) {
  profileGlobal(run, wave, flat.addresses, wave.exec(), bytes);
  if (!flat.lds) {
    issue(run, wave, Return::Vector, target);
    return;
  }
  issue(run, wave, Return::Flat, target, run.shadow->access(run, wave, kind, flat.low, flat.lds, bytes));
}

uint32_t ldsGranule(const Run &run, uint32_t bytes) { return !run.config.alignment ? 1 : bytes == 12 ? 16 : bytes; }

void flatLoad(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  FlatLanes flat;
  LaneBytes data;
  splitFlat(wave, instruction, false, flat);
  loadGlobal(run, wave, flat.addresses, flat.global, bytes, data);
  loadScratch(run, wave, flat.low, flat.scratch, bytes, data);
  checkLds(run, flat.low, flat.lds, bytes, ldsGranule(run, bytes), "this load");
  forLanes(flat.lds, [&](int lane) { std::memcpy(data.of[lane], &run.lds[flat.low[lane]], bytes); });
  writeLoaded(wave, instruction.dst[0].reg, data, wave.exec(), extra);
  issueFlat(run, wave, flat, LdsShadow::Kind::Read, bytes, vectorTarget(instruction.dst[0], (bytes + 3) / 4));
}

void flatStore(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  FlatLanes flat;
  LaneBytes data;
  splitFlat(wave, instruction, true, flat);
  readStored(wave, instruction.src[1].reg, data, wave.exec(), extra);
  storeGlobal(run, flat.addresses, flat.global, bytes, data);
  storeScratch(run, wave, flat.low, flat.scratch, bytes, data);
  checkLds(run, flat.low, flat.lds, bytes, ldsGranule(run, bytes), "this store");
  issueFlat(run, wave, flat, LdsShadow::Kind::Write, bytes, {});
  forLanes(flat.lds, [&](int lane) { std::memcpy(&run.lds[flat.low[lane]], data.of[lane], bytes); });
}

void flatAtomic(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  FlatLanes flat;
  LaneBytes data;
  splitFlat(wave, instruction, true, flat);
  if (flat.scratch)
    faultAt("unsupported", "an atomic on scratch memory", __builtin_ctzll(flat.scratch),
            flat.addresses[__builtin_ctzll(flat.scratch)]);
  readDwords(wave, instruction.src[1].reg, instruction.src[1].dwords, data, wave.exec());
  atomicGlobal(run, wave, flat.addresses, flat.global, bytes, atomicOf(extra), data);
  checkLds(run, flat.low, flat.lds, bytes, bytes, "an atomic");
  forLanes(flat.lds, [&](int lane) {
    uint64_t old = 0, operand = 0, compared = 0;
    std::memcpy(&operand, data.of[lane], bytes);
    std::memcpy(&compared, data.of[lane] + bytes, bytes);
    std::memcpy(&old, &run.lds[flat.low[lane]], bytes);
    const uint64_t result = atomicResult(atomicOf(extra), bytes, old, operand, compared);
    std::memcpy(&run.lds[flat.low[lane]], &result, bytes);
    std::memcpy(data.of[lane], &old, 8);
  });
  const WaitState::Target target = returnOld(wave, instruction, bytes, data, wave.exec());
  issueFlat(run, wave, flat, LdsShadow::Kind::Atomic, bytes, target);
}

// --- scratch ---

void scratchLoad(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const uint64_t lanes = wave.exec();
  uint32_t offsets[kLanes];
  LaneBytes data;
  scratchOffsets(wave, instruction, operandsOf(instruction, false), offsets);
  loadScratch(run, wave, offsets, lanes, bytes, data);
  run.profile(wave, bytes * uint32_t(countLanes(lanes)), 0, 0);
  if (extra & kToLds) {
    copyToLds(run, wave, uint32_t(instruction.offset), extra, data, lanes);
    return;
  }
  writeLoaded(wave, instruction.dst[0].reg, data, lanes, extra);
  issue(run, wave, Return::Vector, vectorTarget(instruction.dst[0], (bytes + 3) / 4));
}

void scratchStore(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const uint64_t lanes = wave.exec();
  const Operands operands = operandsOf(instruction, true);
  uint32_t offsets[kLanes];
  LaneBytes data;
  scratchOffsets(wave, instruction, operands, offsets);
  readStored(wave, operands.data->reg, data, lanes, extra);
  storeScratch(run, wave, offsets, lanes, bytes, data);
  run.profile(wave, bytes * uint32_t(countLanes(lanes)), 0, 0);
  issue(run, wave, Return::Vector, {});
}

constexpr uint32_t atomicExtra(AtomicOp op, uint32_t bytes) { return bytes | uint32_t(op) << kAtomicShift; }


// A load or store of the three families.
#define LOAD(stem, type, extra)                                                                                       \
  {"global_load_" stem, Format::Global, type " = vaddr saddr", globalLoad, nullptr, extra},                           \
      {"flat_load_" stem, Format::Flat, type " = vaddr", flatLoad, nullptr, extra},                                   \
      {"scratch_load_" stem, Format::Scratch, type " = vaddr saddr", scratchLoad, nullptr, extra}
#define STORE(stem, type, extra)                                                                                      \
  {"global_store_" stem, Format::Global, "= vaddr " type " saddr", globalStore, nullptr, extra},                      \
      {"flat_store_" stem, Format::Flat, "= vaddr " type, flatStore, nullptr, extra},                                 \
      {"scratch_store_" stem, Format::Scratch, "= vaddr " type " saddr", scratchStore, nullptr, extra}
#define COPY(stem, extra, targets)                                                                                    \
  {"global_load_lds_" stem, Format::Global, "= vaddr saddr", globalLoad, nullptr, (extra) | kToLds, targets}
#define SCRATCH_COPY(stem, extra)                                                                                     \
  {"scratch_load_lds_" stem, Format::Scratch, "= vaddr saddr", scratchLoad, nullptr, (extra) | kToLds}
#define ATOMIC(stem, result, operand, extra)                                                                          \
  {"global_atomic_" stem, Format::Global, result "? = vaddr " operand " saddr", globalAtomic, nullptr, extra},        \
      {"flat_atomic_" stem, Format::Flat, result "? = vaddr " operand, flatAtomic, nullptr, extra}
#define ATOMIC_BOTH(stem, op)                                                                                         \
  ATOMIC(stem, "b32", "b32", atomicExtra(AtomicOp::op, 4)),                                                           \
      ATOMIC(stem "_x2", "b64", "b64", atomicExtra(AtomicOp::op, 8))

const OpInfo kGlobalTable[] = {
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
    COPY("ubyte", 1, kBoth),
    COPY("sbyte", 1 | kSignedLoad, kBoth),
    COPY("ushort", 2, kBoth),
    COPY("sshort", 2 | kSignedLoad, kBoth),
    COPY("dword", 4, kBoth),
    COPY("dwordx3", 12, kGfx950),
    COPY("dwordx4", 16, kGfx950),
    SCRATCH_COPY("ubyte", 1),
    SCRATCH_COPY("sbyte", 1 | kSignedLoad),
    SCRATCH_COPY("ushort", 2),
    SCRATCH_COPY("sshort", 2 | kSignedLoad),
    SCRATCH_COPY("dword", 4),
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
    ATOMIC("cmpswap", "b32", "b64", atomicExtra(AtomicOp::CompareSwap, 4)),
    ATOMIC("cmpswap_x2", "b64", "b128", atomicExtra(AtomicOp::CompareSwap, 8)),
    ATOMIC("add_f32", "b32", "b32", atomicExtra(AtomicOp::AddFloat, 4)),
    ATOMIC("pk_add_f16", "b32", "b32", atomicExtra(AtomicOp::PackedAddF16, 4)),
    ATOMIC("pk_add_bf16", "b32", "b32", atomicExtra(AtomicOp::PackedAddBf16, 4)),
    ATOMIC("add_f64", "b64", "b64", atomicExtra(AtomicOp::AddFloat, 8)),
    ATOMIC("min_f64", "b64", "b64", atomicExtra(AtomicOp::MinFloat, 8)),
    ATOMIC("max_f64", "b64", "b64", atomicExtra(AtomicOp::MaxFloat, 8)),
};

} // namespace

Table globalOps() { return {kGlobalTable, sizeof kGlobalTable / sizeof *kGlobalTable}; }

} // namespace machine

#undef LOAD
#undef STORE
#undef COPY
#undef SCRATCH_COPY
#undef ATOMIC
#undef ATOMIC_BOTH
