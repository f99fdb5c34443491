// DS: reads, writes and atomics of LDS.
#include "machine/Access.h"
#include "machine/Atomics.h"
#include "machine/Lds.h"
#include "machine/Waits.h"

namespace machine {

namespace {

using Addresses = uint32_t[kLanes];

// Offsets of the one or two accesses of the instruction.
uint32_t offsetOf(const Instruction &instruction, uint32_t extra, int which) {
  if (!(extra & kTwo))
    return uint32_t(instruction.offset);
  uint32_t unit = bytesOf(extra) * (extra & kStride64 ? 64 : 1);
  return unit * uint32_t(which ? instruction.offset1 : instruction.offset);
}

void addressesOf(const Wave &wave, const Instruction &instruction, uint32_t offset, Addresses &out) {
  const uint32_t *base = wave.v[instruction.src[0].reg];
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = base[lane] + offset;
}

// Addresses of ds_*_addtid: a dword a lane from M0 on.
void threadAddresses(const Wave &wave, const Instruction &instruction, Addresses &out) {
  const uint32_t base = (wave.s[kM0] & 0xFFFF) + uint32_t(instruction.offset);
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = base + 4 * uint32_t(lane);
}

uint32_t naturalAlignment(const Run &run, uint32_t bytes) {
  return !run.config.alignment ? 1 : bytes == 12 ? 16 : bytes;
}

// Reads for the active lanes; returns the access's record.
int64_t readLanes(Run &run, Wave &wave, const Addresses &addresses, uint32_t bytes, LaneBytes &data) {
  const uint64_t lanes = wave.exec();
  checkLds(run, addresses, lanes, bytes, naturalAlignment(run, bytes), "this read of LDS");
  const uint8_t *lds = run.lds.data();
  if (bytes == 16)
    forLanes(lanes, [&](int lane) { std::memcpy(data.of[lane], lds + addresses[lane], 16); });
  else
    forLanes(lanes, [&](int lane) { std::memcpy(data.of[lane], lds + addresses[lane], bytes); });
  return run.shadow->access(run, wave, LdsShadow::Kind::Read, addresses, lanes, bytes);
}

int64_t writeLanes(Run &run, Wave &wave, const Addresses &addresses, uint32_t bytes, const LaneBytes &data) {
  const uint64_t lanes = wave.exec();
  checkLds(run, addresses, lanes, bytes, naturalAlignment(run, bytes), "this write of LDS");
  const int64_t record = run.shadow->access(run, wave, LdsShadow::Kind::Write, addresses, lanes, bytes, &data);
  uint8_t *lds = run.lds.data();
  forLanes(lanes, [&](int lane) { std::memcpy(lds + addresses[lane], data.of[lane], bytes); });
  return record;
}

void profileLds(Run &run, const Wave &wave, LdsCost cost, uint32_t bytes) {
  run.profile(wave, bytes * uint32_t(countLanes(wave.exec())), cost.phases, cost.cycles);
}

LdsCost costOf(Run &run, const Wave &wave, bool write, uint32_t bytes, const Addresses &addresses) {
  return ldsCost(run.config.target, write, bytes, addresses, wave.exec());
}

void read(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const int accesses = extra & kTwo ? 2 : 1;
  int64_t first = -1;
  LdsCost total{0, 0};
  Addresses addresses[2];
  LaneBytes data[2];
  for (int which = 0; which < accesses; ++which) {
    addressesOf(wave, instruction, offsetOf(instruction, extra, which), addresses[which]);
    int64_t record = readLanes(run, wave, addresses[which], bytes, data[which]);
    first = which ? first : record;
    LdsCost cost = costOf(run, wave, false, bytes, addresses[which]);
    total = {total.cycles + cost.cycles, total.phases + cost.phases};
  }
  const uint32_t dwords = (bytes + 3) / 4;
  for (int which = 0; which < accesses; ++which)
    writeLoaded(wave, instruction.dst[0].reg + which * int(dwords), data[which], wave.exec(), extra);
  issue(run, wave, Return::Lds, vectorTarget(instruction.dst[0], dwords * uint32_t(accesses)), first,
        uint32_t(accesses));
  profileLds(run, wave, total, bytes * uint32_t(accesses));
}

void write(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const int accesses = extra & kTwo ? 2 : 1;
  int64_t first = -1;
  LdsCost total{0, 0};
  for (int which = 0; which < accesses; ++which) {
    Addresses addresses;
    LaneBytes data;
    addressesOf(wave, instruction, offsetOf(instruction, extra, which), addresses);
    readStored(wave, instruction.src[1 + which].reg, data, wave.exec(), extra);
    int64_t record = writeLanes(run, wave, addresses, bytes, data);
    first = which ? first : record;
    LdsCost cost = costOf(run, wave, true, bytes, addresses);
    total = {total.cycles + cost.cycles, total.phases + cost.phases};
  }
  issue(run, wave, Return::Lds, {}, first, uint32_t(accesses));
  profileLds(run, wave, total, bytes * uint32_t(accesses));
}

void readThread(Run &run, Wave &wave, const Instruction &instruction) {
  Addresses addresses;
  LaneBytes data;
  threadAddresses(wave, instruction, addresses);
  int64_t record = readLanes(run, wave, addresses, 4, data);
  writeLoaded(wave, instruction.dst[0].reg, data, wave.exec(), 4);
  issue(run, wave, Return::Lds, vectorTarget(instruction.dst[0], 1), record);
  profileLds(run, wave, costOf(run, wave, false, 4, addresses), 4);
}

void writeThread(Run &run, Wave &wave, const Instruction &instruction) {
  Addresses addresses;
  LaneBytes data;
  threadAddresses(wave, instruction, addresses);
  readStored(wave, instruction.src[0].reg, data, wave.exec(), 4);
  int64_t record = writeLanes(run, wave, addresses, 4, data);
  issue(run, wave, Return::Lds, {}, record);
  profileLds(run, wave, costOf(run, wave, true, 4, addresses), 4);
}

// --- atomics ---

uint64_t laneValue(const Wave &wave, const Operand &operand, int lane, uint32_t bytes) {
  if (!isVector(operand))
    return 0;
  uint64_t value = wave.v[operand.reg][lane];
  return bytes == 8 ? value | uint64_t(wave.v[operand.reg + 1][lane]) << 32 : value;
}

bool comparesFirst(AtomicOp op) { return op == AtomicOp::CompareSwap || op == AtomicOp::CompareSwapFloat; }

void atomicLds(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t extra = opInfo(instruction.op).extra, bytes = bytesOf(extra);
  const AtomicOp op = AtomicOp(extra >> kAtomicShift & 0xFF);
  const int accesses = extra & kTwo ? 2 : 1;
  const uint64_t lanes = wave.exec();
  LaneBytes old[2];
  int64_t first = -1;
  LdsCost total{0, 0};
  for (int which = 0; which < accesses; ++which) {
    Addresses addresses;
    addressesOf(wave, instruction, offsetOf(instruction, extra, which), addresses);
    if (op == AtomicOp::ExchangeIf)
      for (uint32_t &address : addresses)
        address &= 0xFFF8;
    checkLds(run, addresses, lanes, bytes, bytes, "an atomic");
    int64_t record = run.shadow->access(run, wave, LdsShadow::Kind::Atomic, addresses, lanes, bytes);
    first = which ? first : record;
    forLanes(lanes, [&](int lane) {
      uint64_t before = 0;
      std::memcpy(&before, &run.lds[addresses[lane]], bytes);
      uint64_t a = laneValue(wave, instruction.src[1 + which], lane, bytes);
      uint64_t b = accesses == 2 ? 0 : laneValue(wave, instruction.src[2], lane, bytes);
      // ds_cmpst has the value compared with first.
      uint64_t after =
          comparesFirst(op) ? atomicResult(op, bytes, before, b, a) : atomicResult(op, bytes, before, a, b);
      std::memcpy(old[which].of[lane], &before, 8);
      std::memcpy(&run.lds[addresses[lane]], &after, bytes);
    });
    LdsCost cost = costOf(run, wave, true, bytes, addresses);
    total = {total.cycles + cost.cycles, total.phases + cost.phases};
  }
  WaitState::Target target;
  if (extra & kReturns) {
    for (int which = 0; which < accesses; ++which)
      writeLoaded(wave, instruction.dst[0].reg + which * int(bytes / 4), old[which], lanes, bytes);
    target = vectorTarget(instruction.dst[0], bytes / 4 * uint32_t(accesses));
  }
  issue(run, wave, Return::Lds, target, first, uint32_t(accesses));
  profileLds(run, wave, total, bytes * uint32_t(accesses));
}

// ds_append, ds_consume: one counter at M0 plus offset, changed by the number of active lanes; all get the old value.
void count(Run &run, Wave &wave, const Instruction &instruction) {
  const uint64_t lanes = wave.exec();
  const uint32_t address = wave.s[kM0] + uint32_t(instruction.offset);
  Addresses addresses = {address};
  const uint64_t one = lanes ? 1 : 0;
  checkLds(run, addresses, one, 4, 4, "an atomic");
  int64_t record = run.shadow->access(run, wave, LdsShadow::Kind::Atomic, addresses, one, 4);
  if (lanes) {
    uint32_t before, change = uint32_t(countLanes(lanes));
    std::memcpy(&before, &run.lds[address], 4);
    uint32_t after = AtomicOp(opInfo(instruction.op).extra >> kAtomicShift & 0xFF) == AtomicOp::Add ? before + change
                                                                                                  : before - change;
    std::memcpy(&run.lds[address], &after, 4);
    forLanes(lanes, [&](int lane) { wave.v[instruction.dst[0].reg][lane] = before; });
  }
  issue(run, wave, Return::Lds, vectorTarget(instruction.dst[0], 1), record);
  run.profile(wave, lanes ? 4 : 0, 1, 1);
}

void nothingLds(Run &run, Wave &wave, const Instruction &) { issue(run, wave, Return::Lds, {}); }

constexpr uint32_t ldsAtomic(AtomicOp op, uint32_t bytes, uint32_t flags = 0) {
  return bytes | flags | uint32_t(op) << kAtomicShift;
}

#define ATOMIC(name, returning, op, bits)                                                                             \
  {name, Format::Ds, "= b32 b" #bits, atomicLds, nullptr, ldsAtomic(AtomicOp::op, bits / 8)},                          \
      {returning, Format::Ds, "b" #bits " = b32 b" #bits, atomicLds, nullptr,                                            \
       ldsAtomic(AtomicOp::op, bits / 8, kReturns)}
#define ATOMIC2(name, returning, op, bits)                                                                            \
  {name, Format::Ds, "= b32 b" #bits " b" #bits, atomicLds, nullptr, ldsAtomic(AtomicOp::op, bits / 8)},               \
      {returning, Format::Ds, "b" #bits " = b32 b" #bits " b" #bits, atomicLds, nullptr,                                 \
       ldsAtomic(AtomicOp::op, bits / 8, kReturns)}
#define BOTH(stem, type, op)                                                                                          \
  ATOMIC("ds_" stem "_" type "32", "ds_" stem "_rtn_" type "32", op, 32),                                             \
      ATOMIC("ds_" stem "_" type "64", "ds_" stem "_rtn_" type "64", op, 64)
#define BOTH2(stem, type, op)                                                                                         \
  ATOMIC2("ds_" stem "_" type "32", "ds_" stem "_rtn_" type "32", op, 32),                                            \
      ATOMIC2("ds_" stem "_" type "64", "ds_" stem "_rtn_" type "64", op, 64)

const OpInfo kLdsOpsTable[] = {
    {"ds_read_u8", Format::Ds, "b32 = b32", read, nullptr, 1},
    {"ds_read_i8", Format::Ds, "b32 = b32", read, nullptr, 1 | kSignedLoad},
    {"ds_read_u16", Format::Ds, "b32 = b32", read, nullptr, 2},
    {"ds_read_i16", Format::Ds, "b32 = b32", read, nullptr, 2 | kSignedLoad},
    {"ds_read_u8_d16", Format::Ds, "+b32 = b32", read, nullptr, 1 | kHalf},
    {"ds_read_u8_d16_hi", Format::Ds, "+b32 = b32", read, nullptr, 1 | kHalf | kHighHalf},
    {"ds_read_i8_d16", Format::Ds, "+b32 = b32", read, nullptr, 1 | kSignedLoad | kHalf},
    {"ds_read_i8_d16_hi", Format::Ds, "+b32 = b32", read, nullptr, 1 | kSignedLoad | kHalf | kHighHalf},
    {"ds_read_u16_d16", Format::Ds, "+b32 = b32", read, nullptr, 2 | kHalf},
    {"ds_read_u16_d16_hi", Format::Ds, "+b32 = b32", read, nullptr, 2 | kHalf | kHighHalf},
    {"ds_read_b32", Format::Ds, "b32 = b32", read, nullptr, 4},
    {"ds_read_b64", Format::Ds, "b64 = b32", read, nullptr, 8},
    {"ds_read_b96", Format::Ds, "b96 = b32", read, nullptr, 12},
    {"ds_read_b128", Format::Ds, "b128 = b32", read, nullptr, 16},
    {"ds_read2_b32", Format::Ds, "b64 = b32", read, nullptr, 4 | kTwo},
    {"ds_read2_b64", Format::Ds, "b128 = b32", read, nullptr, 8 | kTwo},
    {"ds_read2st64_b32", Format::Ds, "b64 = b32", read, nullptr, 4 | kTwo | kStride64},
    {"ds_read2st64_b64", Format::Ds, "b128 = b32", read, nullptr, 8 | kTwo | kStride64},
    {"ds_write_b8", Format::Ds, "= b32 b32", write, nullptr, 1},
    {"ds_write_b16", Format::Ds, "= b32 b32", write, nullptr, 2},
    {"ds_write_b8_d16_hi", Format::Ds, "= b32 b32", write, nullptr, 1 | kHighHalf},
    {"ds_write_b16_d16_hi", Format::Ds, "= b32 b32", write, nullptr, 2 | kHighHalf},
    {"ds_write_b32", Format::Ds, "= b32 b32", write, nullptr, 4},
    {"ds_write_b64", Format::Ds, "= b32 b64", write, nullptr, 8},
    {"ds_write_b96", Format::Ds, "= b32 b96", write, nullptr, 12},
    {"ds_write_b128", Format::Ds, "= b32 b128", write, nullptr, 16},
    {"ds_write2_b32", Format::Ds, "= b32 b32 b32", write, nullptr, 4 | kTwo},
    {"ds_write2_b64", Format::Ds, "= b32 b64 b64", write, nullptr, 8 | kTwo},
    {"ds_write2st64_b32", Format::Ds, "= b32 b32 b32", write, nullptr, 4 | kTwo | kStride64},
    {"ds_write2st64_b64", Format::Ds, "= b32 b64 b64", write, nullptr, 8 | kTwo | kStride64},
    {"ds_read_addtid_b32", Format::Ds, "b32 =", readThread, nullptr, 4},
    {"ds_write_addtid_b32", Format::Ds, "= b32", writeThread, nullptr, 4},
    BOTH("add", "u", Add),
    BOTH("sub", "u", Sub),
    BOTH("rsub", "u", ReverseSub),
    BOTH("inc", "u", Inc),
    BOTH("dec", "u", Dec),
    BOTH("min", "i", MinSigned),
    BOTH("max", "i", MaxSigned),
    BOTH("min", "u", MinUnsigned),
    BOTH("max", "u", MaxUnsigned),
    BOTH("and", "b", And),
    BOTH("or", "b", Or),
    BOTH("xor", "b", Xor),
    BOTH("add", "f", AddFloat),
    BOTH("min", "f", MinFloat),
    BOTH("max", "f", MaxFloat),
    BOTH2("mskor", "b", MaskOr),
    BOTH2("cmpst", "b", CompareSwap),
    BOTH2("cmpst", "f", CompareSwapFloat),
    ATOMIC("ds_pk_add_f16", "ds_pk_add_rtn_f16", PackedAddF16, 32),
    ATOMIC("ds_pk_add_bf16", "ds_pk_add_rtn_bf16", PackedAddBf16, 32),
    {"ds_wrxchg_rtn_b32", Format::Ds, "b32 = b32 b32", atomicLds, nullptr, ldsAtomic(AtomicOp::Swap, 4, kReturns)},
    {"ds_wrxchg_rtn_b64", Format::Ds, "b64 = b32 b64", atomicLds, nullptr, ldsAtomic(AtomicOp::Swap, 8, kReturns)},
    {"ds_wrxchg2_rtn_b32", Format::Ds, "b64 = b32 b32 b32", atomicLds, nullptr,
     ldsAtomic(AtomicOp::Swap, 4, kReturns | kTwo)},
    {"ds_wrxchg2_rtn_b64", Format::Ds, "b128 = b32 b64 b64", atomicLds, nullptr,
     ldsAtomic(AtomicOp::Swap, 8, kReturns | kTwo)},
    {"ds_wrxchg2st64_rtn_b32", Format::Ds, "b64 = b32 b32 b32", atomicLds, nullptr,
     ldsAtomic(AtomicOp::Swap, 4, kReturns | kTwo | kStride64)},
    {"ds_wrxchg2st64_rtn_b64", Format::Ds, "b128 = b32 b64 b64", atomicLds, nullptr,
     ldsAtomic(AtomicOp::Swap, 8, kReturns | kTwo | kStride64)},
    {"ds_wrap_rtn_b32", Format::Ds, "b32 = b32 b32 b32", atomicLds, nullptr, ldsAtomic(AtomicOp::Wrap, 4, kReturns)},
    {"ds_condxchg32_rtn_b64", Format::Ds, "b64 = b32 b64", atomicLds, nullptr,
     ldsAtomic(AtomicOp::ExchangeIf, 8, kReturns)},
    {"ds_append", Format::Ds, "b32 =", count, nullptr, ldsAtomic(AtomicOp::Add, 4)},
    {"ds_consume", Format::Ds, "b32 =", count, nullptr, ldsAtomic(AtomicOp::Sub, 4)},
    {"ds_nop", Format::Ds, "=", nothingLds},
};

} // namespace

Table ldsOps() { return {kLdsOpsTable, sizeof kLdsOpsTable / sizeof *kLdsOpsTable}; }

} // namespace machine

#undef ATOMIC
#undef ATOMIC2
#undef BOTH
#undef BOTH2
