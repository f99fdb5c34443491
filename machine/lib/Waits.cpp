#include "machine/Waits.h"

#include "machine/Implicit.h"
#include "machine/Lds.h"

#include <algorithm>

namespace machine {

void WaitState::issue(Return how, uint32_t instruction, Target target, int64_t access, uint32_t accesses) {
  Open open{++serial, target, access, accesses, how};
  uint64_t *bits = target.scalar ? scalarBits : vectorBits;
  for (uint32_t reg = target.first, end = reg + target.count; reg < end; ++reg) {
    pendingRegisters += !(bits[reg / 64] >> reg % 64 & 1);
    bits[reg / 64] |= 1ull << reg % 64;
    (target.scalar ? scalarSerial : vectorSerial)[reg] = serial;
    (target.scalar ? scalarFiller : vectorFiller)[reg] = instruction;
    if (!target.scalar)
      vectorReturn[reg] = how;
  }
  (how == Return::Vector ? vector : how == Return::Lds ? lds : unordered).push_back(open);
}

void WaitState::complete(Run &run, const Open &open) {
  uint64_t *bits = open.target.scalar ? scalarBits : vectorBits;
  const uint64_t *serials = open.target.scalar ? scalarSerial : vectorSerial;
  for (uint32_t reg = open.target.first, end = reg + open.target.count; reg < end; ++reg) {
    if (serials[reg] != open.serial || !(bits[reg / 64] >> reg % 64 & 1))
      continue; // a younger load will fill it
    bits[reg / 64] &= ~(1ull << reg % 64);
    --pendingRegisters;
  }
  for (uint32_t i = 0; open.access >= 0 && i < open.accesses; ++i)
    run.shadow->complete(open.access + i);
}

void WaitState::wait(Run &run, uint32_t vectorCount, uint32_t lgkmCount) {
  for (; vector.size() > vectorCount; vector.pop_front())
    complete(run, vector.front());
  for (; lds.size() > lgkmCount; lds.pop_front())
    complete(run, lds.front());
  if (unordered.empty() || (vectorCount && lgkmCount))
    return;
  for (Open &open : unordered) {
    open.vectorDone |= vectorCount == 0 || open.how == Return::Scalar;
    open.lgkmDone |= lgkmCount == 0;
    if (open.vectorDone && open.lgkmDone)
      complete(run, open);
  }
  unordered.erase(std::remove_if(unordered.begin(), unordered.end(),
                                 [](const Open &open) { return open.vectorDone && open.lgkmDone; }),
                  unordered.end());
}

void WaitState::finish(Run &run) { wait(run, 0, 0); }

void issue(Run &run, Wave &wave, Return how, WaitState::Target target, int64_t access, uint32_t accesses) {
  if (run.config.strict) {
    wave.waits->issue(how, wave.pc, target, access, accesses);
    return;
  }
  for (uint32_t i = 0; access >= 0 && i < accesses; ++i)
    run.shadow->complete(access + i);
}

namespace {
const char *counterName(Return how) {
  return how == Return::Vector ? "vmcnt" : how == Return::Flat ? "vmcnt and lgkmcnt" : "lgkmcnt";
}

void complain(Run &run, Wave &wave, bool scalar, uint32_t reg, bool write) {
  const WaitState &waits = *wave.waits;
  uint32_t filler = waits.fillerOf(scalar, reg);
  Fault found;
  found.kind = "wait";
  found.text = registerName(scalar, reg) + " is " + (write ? "overwritten" : "read") + " before " +
               opInfo(run.program[filler].op).name + " has filled it: no wait on " +
               counterName(waits.returnOf(scalar, reg)) + " between them covers it";
  found.other = filler;
  found.otherWave = int(wave.id);
  run.report(wave, found);
}

// Loads that come back in order may fill one register one after another.
bool inOrder(const OpInfo &op, Return how) {
  switch (op.format) {
  case Format::Global:
  case Format::Scratch:
  case Format::Mubuf:
    return how == Return::Vector;
  case Format::Ds:
    return how == Return::Lds;
  default:
    return false;
  }
}

void checkOperand(Run &run, Wave &wave, const Instruction &instruction, const Operand &operand, bool write) {
  const WaitState &waits = *wave.waits;
  uint32_t first = operand.reg, count = operand.dwords;
  bool scalar;
  if (operand.kind == uint8_t(Kind::Vgpr) && waits.pendingVector(first, count)) {
    scalar = false;
  } else if (operand.kind == uint8_t(Kind::Sgpr) && waits.pendingScalar(first, count)) {
    scalar = true;
  } else if (operand.kind == uint8_t(Kind::Special) && operand.reg == uint16_t(Special::Vccz) &&
             waits.pendingScalar(kVcc, 2)) {
    scalar = true;
    first = kVcc;
    count = 2;
  } else {
    return;
  }
  for (uint32_t reg = first; reg < first + count; ++reg) {
    if (!(scalar ? waits.pendingScalar(reg, 1) : waits.pendingVector(reg, 1)))
      continue;
    if (write && inOrder(opInfo(instruction.op), waits.returnOf(scalar, reg)))
      continue;
    complain(run, wave, scalar, reg, write);
    return;
  }
}
} // namespace

void checkUse(Run &run, Wave &wave, const Instruction &instruction) {
  for (const Operand &source : instruction.src)
    if (source.kind)
      checkOperand(run, wave, instruction, source, false);
  for (const Operand &destination : instruction.dst)
    if (destination.kind)
      checkOperand(run, wave, instruction, destination, true);
  if (wave.waits->pendingScalar(kVcc, kSgprs - kVcc))
    for (const ScalarRange &range : implicitReads(instruction).of)
      for (uint32_t reg = range.first; reg < uint32_t(range.first + range.count); ++reg)
        if (wave.waits->pendingScalar(reg, 1))
          complain(run, wave, true, reg, false);
}

void finish(Run &run, Wave &wave) { wave.waits->finish(run); }

} // namespace machine
