#include "machine/Undefined.h"

#include "machine/Implicit.h"

namespace machine {

namespace {

bool marked(const Wave &wave, uint32_t reg) { return wave.undefinedScalars[reg / 64] >> reg % 64 & 1; }
void setMark(Wave &wave, uint32_t reg, bool on) {
  const uint64_t bit = 1ull << reg % 64;
  wave.undefinedScalars[reg / 64] = on ? wave.undefinedScalars[reg / 64] | bit : wave.undefinedScalars[reg / 64] & ~bit;
}

// Copies of registers, whole: compilers move and spill tuples with parts that nobody uses.
bool isMove(const Instruction &instruction) {
  const std::string name = opInfo(instruction.op).name;
  return name == "s_mov_b32" || name == "s_mov_b64";
}
bool isSpill(const Instruction &instruction) { return std::string(opInfo(instruction.op).name) == "v_writelane_b32"; }

// True when something was reported.
bool complainOf(Run &run, Wave &wave, uint32_t first, uint32_t count) {
  for (uint32_t reg = first; reg < first + count && reg < kSgprs; ++reg) {
    if (!marked(wave, reg))
      continue;
    setMark(wave, reg, false);
    Fault found;
    found.kind = "unwritten";
    found.text = registerName(true, reg) + " is read, but the load that filled it took it from behind the end of a buffer";
    found.hasAddress = true;
    found.address = wave.undefinedFrom[reg];
    found.other = int64_t(wave.undefinedBy[reg]);
    found.otherWave = int(wave.id);
    run.report(wave, found);
    return true;
  }
  return false;
}

// The destination's marks are the source's.
void moveMarks(Wave &wave, const Operand &to, const Operand &from) {
  bool marks[2] = {false, false};
  const uint32_t count = to.dwords < 2 ? 1 : 2;
  for (uint32_t i = 0; i < count; ++i)
    marks[i] = Kind(from.kind) == Kind::Sgpr && marked(wave, from.reg + i);
  for (uint32_t i = 0; i < count; ++i) {
    setMark(wave, to.reg + i, marks[i]);
    if (marks[i]) {
      wave.undefinedBy[to.reg + i] = wave.undefinedBy[from.reg + i];
      wave.undefinedFrom[to.reg + i] = wave.undefinedFrom[from.reg + i];
    }
  }
}

} // namespace

void markUndefined(Wave &wave, uint32_t first, uint32_t count, uint64_t address) {
  for (uint32_t i = 0; i < count; ++i) {
    setMark(wave, first + i, true);
    wave.undefinedBy[first + i] = wave.pc;
    wave.undefinedFrom[first + i] = address + 4 * i;
  }
}

void checkUndefined(Run &run, Wave &wave, const Instruction &instruction) {
  if (isMove(instruction) && Kind(instruction.dst[0].kind) == Kind::Sgpr) {
    moveMarks(wave, instruction.dst[0], instruction.src[0]);
    return;
  }
  bool found = isSpill(instruction);
  for (const Operand &source : instruction.src)
    if (!found && Kind(source.kind) == Kind::Sgpr)
      found = complainOf(run, wave, source.reg, source.dwords);
  for (const ScalarRange &range : implicitReads(instruction).of)
    if (!found)
      found = complainOf(run, wave, range.first, range.count);
  for (const Operand &destination : instruction.dst)
    for (uint32_t i = 0; Kind(destination.kind) == Kind::Sgpr && i < destination.dwords; ++i)
      setMark(wave, destination.reg + i, false);
}

} // namespace machine
