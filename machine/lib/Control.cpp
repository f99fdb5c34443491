// Branches, the program counter, EXEC's own operations, hardware registers, indexing modes, the end.
#include "machine/Lanes.h"
#include "machine/Waits.h"

#include <algorithm>

namespace machine {

static void endProgram(Run &run, Wave &wave, const Instruction &) {
  finish(run, wave);
  wave.status = Status::Ended;
}

static void barrier(Run &, Wave &wave, const Instruction &) { wave.status = Status::AtBarrier; }

// Hints to the scheduler, caches and counters: nothing that a program can see here.
static void nothing(Run &, Wave &, const Instruction &) {}

static void trap(Run &, Wave &, const Instruction &instruction) {
  fault("control", "s_trap " + std::to_string(instruction.offset) + " executed: the program gives up here");
}

static void halt(Run &, Wave &, const Instruction &instruction) {
  if (instruction.offset & 1)
    fault("control", "s_sethalt stops the wave for good");
}

// --- branches ---

static void jump(const Run &run, Wave &wave, const Instruction &instruction) {
  if (instruction.target < 0 || uint32_t(instruction.target) >= run.length)
    fault("control", "the branch leaves the program");
  wave.next = uint32_t(instruction.target);
}

template <bool (*Taken)(const Wave &)> static void branchIf(Run &run, Wave &wave, const Instruction &instruction) {
  if (Taken(wave))
    jump(run, wave, instruction);
}

static bool always(const Wave &) { return true; }
static bool never(const Wave &) { return false; } // the debugger's conditions
static bool sccClear(const Wave &wave) { return !wave.scc; }
static bool sccSet(const Wave &wave) { return wave.scc; }
static bool vccZero(const Wave &wave) { return wave.vcc() == 0; }
static bool vccNotZero(const Wave &wave) { return wave.vcc() != 0; }
static bool execZero(const Wave &wave) { return wave.exec() == 0; }
static bool execNotZero(const Wave &wave) { return wave.exec() != 0; }

// --- the program counter ---

constexpr uint64_t kWord = 4; // bytes of s_getpc, s_swappc and s_call

static void goTo(const Run &run, Wave &wave, uint64_t address) {
  const Instruction *end = run.program + run.length;
  const Instruction *at = std::lower_bound(run.program, end, address, [](const Instruction &instruction, uint64_t a) {
    return instruction.address < a;
  });
  if (at == end || at->address != address)
    faultAt("control", "no instruction of the program is at the address jumped to", -1, address);
  wave.next = uint32_t(at - run.program);
}

static void getPc(Run &, Wave &wave, const Instruction &instruction) {
  writeScalar(wave, instruction.dst[0], instruction.address + kWord, 64);
}

static void setPc(Run &run, Wave &wave, const Instruction &instruction) {
  goTo(run, wave, readScalar(wave, instruction.src[0], 64));
}

static void swapPc(Run &run, Wave &wave, const Instruction &instruction) {
  uint64_t to = readScalar(wave, instruction.src[0], 64);
  writeScalar(wave, instruction.dst[0], instruction.address + kWord, 64);
  goTo(run, wave, to);
}

static void call(Run &run, Wave &wave, const Instruction &instruction) {
  writeScalar(wave, instruction.dst[0], instruction.address + kWord, 64);
  jump(run, wave, instruction);
}

// --- EXEC ---

template <uint64_t (*Combine)(uint64_t source, uint64_t exec)>
static void saveExec(Run &, Wave &wave, const Instruction &instruction) {
  uint64_t source = readScalar(wave, instruction.src[0], 64), exec = wave.exec();
  writeScalar(wave, instruction.dst[0], exec, 64);
  wave.setPair(kExec, Combine(source, exec));
  wave.scc = wave.exec() != 0;
}

template <uint64_t (*Combine)(uint64_t source, uint64_t exec)>
static void writeExec(Run &, Wave &wave, const Instruction &instruction) {
  uint64_t result = Combine(readScalar(wave, instruction.src[0], 64), wave.exec());
  wave.setPair(kExec, result);
  writeScalar(wave, instruction.dst[0], result, 64);
  wave.scc = result != 0;
}

static uint64_t bothOf(uint64_t source, uint64_t exec) { return source & exec; }
static uint64_t anyOf(uint64_t source, uint64_t exec) { return source | exec; }
static uint64_t oneOf(uint64_t source, uint64_t exec) { return source ^ exec; }
static uint64_t andNotExec(uint64_t source, uint64_t exec) { return source & ~exec; }
static uint64_t orNotExec(uint64_t source, uint64_t exec) { return source | ~exec; }
static uint64_t andNotSource(uint64_t source, uint64_t exec) { return ~source & exec; }
static uint64_t orNotSource(uint64_t source, uint64_t exec) { return ~source | exec; }
static uint64_t notBoth(uint64_t source, uint64_t exec) { return ~(source & exec); }
static uint64_t neither(uint64_t source, uint64_t exec) { return ~(source | exec); }
static uint64_t same(uint64_t source, uint64_t exec) { return ~(source ^ exec); }

// --- registers by number ---

static int scalarIndex(const Wave &wave, const Operand &operand, int registers) {
  uint64_t reg = uint64_t(operand.reg) + wave.s[kM0];
  if (Kind(operand.kind) != Kind::Sgpr || reg + uint64_t(registers) > kFlatScratch)
    fault("program", "M0 names s" + std::to_string(reg) + ", which is no scalar register");
  return int(reg);
}

template <int Bits> static void moveFromIndexed(Run &, Wave &wave, const Instruction &instruction) {
  Operand from = instruction.src[0];
  from.reg = uint16_t(scalarIndex(wave, from, Bits / 32));
  writeScalar(wave, instruction.dst[0], readScalar(wave, from, Bits), Bits);
}

template <int Bits> static void moveToIndexed(Run &, Wave &wave, const Instruction &instruction) {
  Operand to = instruction.dst[0];
  to.reg = uint16_t(scalarIndex(wave, to, Bits / 32));
  writeScalar(wave, to, readScalar(wave, instruction.src[0], Bits), Bits);
}

static void setIndexEnables(Wave &wave, int32_t enables) {
  wave.s[kM0] = (wave.s[kM0] & ~0xF000u) | (uint32_t(enables) & 15) << 12;
}

static void setIndex(Wave &wave, uint64_t index) { wave.s[kM0] = (wave.s[kM0] & ~0xFFu) | (index & 0xFF); }

static void indexOn(Run &, Wave &wave, const Instruction &instruction) {
  setIndex(wave, readScalar(wave, instruction.src[0], 32));
  setIndexEnables(wave, instruction.offset);
  wave.mode |= kGprIndexing;
}
static void indexOff(Run &, Wave &wave, const Instruction &) { wave.mode &= ~kGprIndexing; }
static void indexMode(Run &, Wave &wave, const Instruction &instruction) {
  setIndexEnables(wave, instruction.offset);
}
static void indexValue(Run &, Wave &wave, const Instruction &instruction) {
  setIndex(wave, readScalar(wave, instruction.src[0], 32));
}

// --- hardware registers (numbers: CDNA3 ISA, "s_getreg_b32") ---

enum HardwareRegister { kHwMode = 1, kHwStatus = 2, kHwTrapStatus = 3, kHwId = 4, kHwMemoryBases = 15, kHwXcc = 20 };

static uint32_t hardwareRegister(const Wave &wave, int number) {
  switch (number) {
  case kHwMode:
    return wave.mode;
  case kHwStatus: // SCC, EXECZ, VCCZ, VALID
    return uint32_t(wave.scc) | uint32_t(wave.exec() == 0) << 9 | uint32_t(wave.vcc() == 0) << 10 | 1u << 16;
  case kHwTrapStatus: // no exception is recorded
  case kHwXcc:
    return 0;
  case kHwId: // wave slot, SIMD; one compute unit
    return (wave.id / 4 & 15) | (wave.id & 3) << 4;
  case kHwMemoryBases:
    return uint32_t(kPrivateAperture >> 48) | uint32_t(kSharedAperture >> 48) << 16;
  default:
    fault("unsupported", "hardware register " + std::to_string(number) + " is not modelled");
  }
}

struct Slice {
  int number;
  unsigned at;
  uint32_t mask; // of the value before it is moved to its place
  explicit Slice(int32_t immediate)
      : number(immediate & 63), at(immediate >> 6 & 31), mask(uint32_t((2ull << (immediate >> 11 & 31)) - 1)) {}
};

static void getRegister(Run &, Wave &wave, const Instruction &instruction) {
  Slice slice(instruction.offset);
  uint32_t value = hardwareRegister(wave, slice.number) >> slice.at & slice.mask;
  writeScalar(wave, instruction.dst[0], value, 32);
}

// Operands: the register (in offset), the value.
static void setRegister(Run &, Wave &wave, const Instruction &instruction) {
  Slice slice(instruction.offset);
  uint32_t mask = slice.mask << slice.at, value = uint32_t(readScalar(wave, instruction.src[1], 32)) << slice.at;
  if (slice.number == kHwMode)
    wave.mode = (wave.mode & ~mask) | (value & mask);
  else if (slice.number != kHwTrapStatus)
    fault("unsupported", "writing hardware register " + std::to_string(slice.number) + " is not modelled");
}

#define SAVE(name, combine) {name, Format::Sop1, "b64 = b64", saveExec<combine>}

static const OpInfo kControlTable[] = {
    {"s_endpgm", Format::Sopp, "=", endProgram},
    {"s_endpgm_saved", Format::Sopp, "=", endProgram},
    {"s_endpgm_ordered_ps_done", Format::Sopp, "=", endProgram},
    {"s_barrier", Format::Sopp, "=", barrier},
    {"s_nop", Format::Sopp, "= simm16", nothing},
    {"s_sleep", Format::Sopp, "= simm16", nothing},
    {"s_setprio", Format::Sopp, "= simm16", nothing},
    {"s_sendmsg", Format::Sopp, "= sendmsg", nothing},
    {"s_wakeup", Format::Sopp, "=", nothing},
    {"s_icache_inv", Format::Sopp, "=", nothing},
    {"s_incperflevel", Format::Sopp, "= simm16", nothing},
    {"s_decperflevel", Format::Sopp, "= simm16", nothing},
    {"s_ttracedata", Format::Sopp, "=", nothing},
    {"s_sethalt", Format::Sopp, "= simm16", halt},
    {"s_trap", Format::Sopp, "= simm16", trap},
    {"s_branch", Format::Sopp, "= label", branchIf<always>},
    {"s_cbranch_scc0", Format::Sopp, "= label", branchIf<sccClear>},
    {"s_cbranch_scc1", Format::Sopp, "= label", branchIf<sccSet>},
    {"s_cbranch_vccz", Format::Sopp, "= label", branchIf<vccZero>},
    {"s_cbranch_vccnz", Format::Sopp, "= label", branchIf<vccNotZero>},
    {"s_cbranch_execz", Format::Sopp, "= label", branchIf<execZero>},
    {"s_cbranch_execnz", Format::Sopp, "= label", branchIf<execNotZero>},
    {"s_cbranch_cdbgsys", Format::Sopp, "= label", branchIf<never>},
    {"s_cbranch_cdbguser", Format::Sopp, "= label", branchIf<never>},
    {"s_cbranch_cdbgsys_or_user", Format::Sopp, "= label", branchIf<never>},
    {"s_cbranch_cdbgsys_and_user", Format::Sopp, "= label", branchIf<never>},
    {"s_getpc_b64", Format::Sop1, "b64 =", getPc},
    {"s_setpc_b64", Format::Sop1, "= b64", setPc},
    {"s_swappc_b64", Format::Sop1, "b64 = b64", swapPc},
    {"s_call_b64", Format::Sopk, "b64 = label", call},
    SAVE("s_and_saveexec_b64", bothOf),
    SAVE("s_or_saveexec_b64", anyOf),
    SAVE("s_xor_saveexec_b64", oneOf),
    SAVE("s_andn2_saveexec_b64", andNotExec),
    SAVE("s_orn2_saveexec_b64", orNotExec),
    SAVE("s_andn1_saveexec_b64", andNotSource),
    SAVE("s_orn1_saveexec_b64", orNotSource),
    SAVE("s_nand_saveexec_b64", notBoth),
    SAVE("s_nor_saveexec_b64", neither),
    SAVE("s_xnor_saveexec_b64", same),
    {"s_andn1_wrexec_b64", Format::Sop1, "b64 = b64", writeExec<andNotSource>},
    {"s_andn2_wrexec_b64", Format::Sop1, "b64 = b64", writeExec<andNotExec>},
    {"s_movrels_b32", Format::Sop1, "b32 = b32", moveFromIndexed<32>},
    {"s_movrels_b64", Format::Sop1, "b64 = b64", moveFromIndexed<64>},
    {"s_movreld_b32", Format::Sop1, "+b32 = b32", moveToIndexed<32>},
    {"s_movreld_b64", Format::Sop1, "+b64 = b64", moveToIndexed<64>},
    {"s_set_gpr_idx_on", Format::Sopc, "= b32 simm16", indexOn},
    {"s_set_gpr_idx_off", Format::Sopp, "=", indexOff},
    {"s_set_gpr_idx_mode", Format::Sopp, "= simm16", indexMode},
    {"s_set_gpr_idx_idx", Format::Sop1, "= b32", indexValue},
    {"s_getreg_b32", Format::Sopk, "b32 = hwreg", getRegister},
    {"s_setreg_b32", Format::Sopk, "= hwreg b32", setRegister},
    {"s_setreg_imm32_b32", Format::Sopk, "= hwreg b32", setRegister},
};

Table controlOps() { return {kControlTable, sizeof kControlTable / sizeof *kControlTable}; }

} // namespace machine

#undef SAVE
