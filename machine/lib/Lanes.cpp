// Operands in, results out.
#include "machine/Lanes.h"

#include <algorithm>

namespace machine {

static uint64_t lowBits(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

static uint64_t signExtend(uint64_t value, int bits) {
  return bits >= 64 ? value : uint64_t(int64_t(value << (64 - bits)) >> (64 - bits));
}

// --- scalars ---

static uint64_t specialValue(const Wave &wave, Special special) {
  switch (special) {
  case Special::Scc:
    return wave.scc;
  case Special::Vccz:
    return wave.vcc() == 0;
  case Special::Execz:
    return wave.exec() == 0;
  case Special::SharedBase:
    return kSharedAperture;
  case Special::SharedLimit:
    return kSharedAperture | 0xFFFFFFFFu;
  case Special::PrivateBase:
    return kPrivateAperture;
  case Special::PrivateLimit:
    return kPrivateAperture | 0xFFFFFFFFu;
  }
  return 0;
}

uint64_t readScalar(const Wave &wave, const Operand &operand, int bits) {
  switch (Kind(operand.kind)) {
  case Kind::Sgpr:
    return bits > 32 ? wave.pair(operand.reg) : wave.s[operand.reg];
  case Kind::Constant:
    return operand.value;
  case Kind::Special: {
    uint64_t value = specialValue(wave, Special(operand.reg));
    return bits > 32 ? value : uint32_t(value);
  }
  default:
    fault("program", "a scalar operand is needed here");
  }
}

void writeScalar(Wave &wave, const Operand &operand, uint64_t value, int bits) {
  if (Kind(operand.kind) != Kind::Sgpr)
    fault("program", "a scalar register is needed as the destination");
  if (bits > 32)
    wave.setPair(operand.reg, value);
  else
    wave.s[operand.reg] = uint32_t(value);
}

// --- register indexing ---

static void shift(Operand &operand, uint32_t by) {
  if (Kind(operand.kind) != Kind::Vgpr || operand.reg >= kVgprs / 2)
    return;
  uint32_t reg = operand.reg + by;
  if (reg + std::max<uint32_t>(operand.dwords, 1) > kVgprs / 2)
    fault("program", "indexing with M0 reaches v" + std::to_string(reg) + ", past the last register");
  operand.reg = uint16_t(reg);
}

Instruction indexed(const Wave &wave, const Instruction &instruction) {
  Instruction meant = instruction;
  uint32_t by = wave.s[kM0] & 0xFF, which = wave.s[kM0] >> 12;
  for (int i = 0; i < 3; ++i)
    if (which >> i & 1)
      shift(meant.src[i], by);
  if (which >> 3 & 1)
    shift(meant.dst[0], by);
  return meant;
}

// --- sources ---

void readRaw(const Wave &wave, const Operand &operand, int bits, Values &out) {
  if (Kind(operand.kind) != Kind::Vgpr) {
    std::fill_n(out, kLanes, readScalar(wave, operand, bits));
    return;
  }
  const uint32_t *low = wave.v[operand.reg];
  if (bits <= 32) {
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = low[lane];
    return;
  }
  const uint32_t *high = wave.v[operand.reg + 1];
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = low[lane] | uint64_t(high[lane]) << 32;
}

constexpr int kNoLane = -1;

// The lane that `lane` reads under a DPP control; kNoLane beyond the edge (CDNA3 ISA, "Data Parallel Primitives").
static int dppLane(unsigned control, int lane) {
  int row = lane & ~15, inRow = lane & 15, n = int(control & 15);
  if (control < 0x100)
    return (lane & ~3) | int(control >> 2 * (lane & 3) & 3);
  switch (control & 0x1F0) {
  case 0x100: // row_shl
    return inRow + n < 16 ? lane + n : kNoLane;
  case 0x110: // row_shr
    return inRow >= n ? lane - n : kNoLane;
  case 0x120: // row_ror
    return row | ((inRow - n) & 15);
  case 0x150: // row_newbcast
    return row | n;
  default:
    break;
  }
  switch (control) {
  case 0x130: // wave_shl
    return lane + 1 < kLanes ? lane + 1 : kNoLane;
  case 0x134: // wave_rol
    return (lane + 1) & (kLanes - 1);
  case 0x138: // wave_shr
    return lane - 1;
  case 0x13C: // wave_ror
    return (lane - 1) & (kLanes - 1);
  case 0x140: // row_mirror
    return row | (15 - inRow);
  case 0x141: // row_half_mirror
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142: // row_bcast:15, to the row that follows
    return row - 1;
  case 0x143: // row_bcast:31, to the upper half
    return lane >= 32 ? 31 : kNoLane;
  default:
    fault("unsupported", "DPP control " + std::to_string(control));
  }
}

static void readThroughDpp(const Wave &wave, const Instruction &instruction, Values &values, uint64_t &lanes) {
  Values from;
  std::copy_n(values, kLanes, from);
  uint64_t exec = wave.exec();
  bool zero = instruction.flags & kBoundCtrl;
  for (int lane = 0; lane < kLanes; ++lane) {
    int source = dppLane(instruction.dpp, lane);
    bool valid = source >= 0 && (exec >> source & 1);
    values[lane] = valid ? from[source] : 0;
    bool masked = !(instruction.rowmask >> (lane >> 4) & 1) || !(instruction.bankmask >> (lane >> 2 & 3) & 1);
    if (masked || (!valid && !zero))
      lanes &= ~(1ull << lane);
  }
}

static void selectSdwa(const Operand &operand, Values &values) {
  int bits = operand.sel <= uint8_t(Sel::Byte3) ? 8 : operand.sel <= uint8_t(Sel::Word1) ? 16 : 32;
  int shift = bits == 8 ? 8 * operand.sel : bits == 16 ? 16 * (operand.sel - int(Sel::Word0)) : 0;
  for (uint64_t &value : values) {
    value = value >> shift & lowBits(bits);
    if (operand.bits & kSext)
      value = signExtend(value, bits) & lowBits(32);
  }
}

void readSource(const Wave &wave, const Instruction &instruction, int index, const Type &type, Values &out,
                uint64_t &lanes) {
  const Operand &operand = instruction.src[index];
  readRaw(wave, operand, type.width(), out);
  if (instruction.flags & kDpp && index == 0)
    readThroughDpp(wave, instruction, out, lanes);
  if (instruction.flags & kSdwa && (operand.sel != uint8_t(Sel::Dword) || operand.bits & kSext))
    selectSdwa(operand, out);
  if (type.half() && instruction.opsel >> index & 1)
    for (uint64_t &value : out)
      value >>= 16;
  if (type.width() < 32) {
    uint64_t mask = lowBits(type.width());
    for (uint64_t &value : out)
      value &= mask;
  }
  if (operand.bits & (kAbs | kNeg)) {
    uint64_t sign = 1ull << (type.bits - 1);
    uint64_t keep = operand.bits & kAbs ? ~sign : ~0ull, flip = operand.bits & kNeg ? sign : 0;
    for (uint64_t &value : out)
      value = (value & keep) ^ flip;
  }
}

uint64_t readSources(const Wave &wave, const Instruction &instruction, const Shape &shape, Values *out) {
  uint64_t lanes = wave.exec();
  for (int i = 0; i < shape.srcs; ++i) {
    if (shape.src[i].cls != Type::Class::Mask) {
      readSource(wave, instruction, i, shape.src[i], out[i], lanes);
      continue;
    }
    uint64_t mask = readScalar(wave, instruction.src[i], 64);
    for (int lane = 0; lane < kLanes; ++lane)
      out[i][lane] = mask >> lane & 1;
  }
  return lanes;
}

// --- results ---

template <int Bits> static uint64_t modifyFloat(const Wave &wave, const Instruction &instruction, uint64_t raw) {
  using F = Fields<Bits>;
  // Output modifiers are ignored where IEEE mode or output denormals are on (CDNA3 ISA, "Output modifiers").
  if (instruction.omod && !wave.ieee() && flushesOut<Bits>(wave) && !isNaN<Bits>(raw)) {
    const double factors[] = {1, 2, 4, 0.5};
    raw = fromDouble<Bits>(toDouble<Bits>(raw) * factors[instruction.omod & 3], roundingOf<Bits>(wave));
    raw = flushOut<Bits>(wave, raw);
    if (isZero<Bits>(raw))
      raw = 0;
  }
  if (!(instruction.flags & kClamp))
    return raw;
  if (isNaN<Bits>(raw))
    return wave.clampNaNToZero() ? 0 : quiet<Bits>(raw);
  constexpr uint64_t one = uint64_t(F::bias) << F::mantissa;
  return raw & F::sign ? 0 : std::min(raw, one);
}

static uint64_t saturate(const Type &type, uint64_t value) {
  int64_t exact = int64_t(value);
  if (type.cls == Type::Class::Signed) {
    int64_t most = int64_t(lowBits(type.bits - 1));
    return uint64_t(std::clamp(exact, -most - 1, most));
  }
  return uint64_t(std::clamp<int64_t>(exact, 0, int64_t(lowBits(type.bits))));
}

void modifyResult(const Wave &wave, const Instruction &instruction, const Type &type, Values &values) {
  bool clamp = instruction.flags & kClamp;
  if (!clamp && !instruction.omod)
    return;
  for (uint64_t &value : values) {
    if (type.isFloat())
      value = type.bits == 16   ? modifyFloat<16>(wave, instruction, value)
              : type.bits == 32 ? modifyFloat<32>(wave, instruction, value)
                                : modifyFloat<64>(wave, instruction, value);
    else if (clamp && type.bits < 64)
      value = saturate(type, value);
  }
}

void writeRow(Wave &wave, int row, const uint32_t *values, uint64_t lanes) {
  uint32_t *to = wave.v[row];
  if (lanes == ~0ull) {
    std::copy_n(values, kLanes, to);
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = lanes >> lane & 1 ? values[lane] : to[lane];
}

static void writeSdwa(Wave &wave, const Instruction &instruction, const Values &values, uint64_t lanes) {
  int sel = instruction.dstsel;
  int bits = sel <= int(Sel::Byte3) ? 8 : sel <= int(Sel::Word1) ? 16 : 32;
  int shift = bits == 8 ? 8 * sel : bits == 16 ? 16 * (sel - int(Sel::Word0)) : 0;
  uint32_t mask = uint32_t(lowBits(bits) << shift);
  uint32_t row[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t placed = uint32_t(values[lane] << shift) & mask;
    if (Unused(instruction.dstunused) == Unused::Preserve)
      placed |= wave.v[instruction.dst[0].reg][lane] & ~mask;
    else if (Unused(instruction.dstunused) == Unused::Sext)
      placed = uint32_t(signExtend(values[lane] & lowBits(bits), bits) << shift);
    row[lane] = placed;
  }
  writeRow(wave, instruction.dst[0].reg, row, lanes);
}

static void writeHalf(Wave &wave, const Instruction &instruction, const Values &values, uint64_t lanes,
                      bool keepHigh) {
  const uint32_t *old = wave.v[instruction.dst[0].reg];
  bool high = instruction.opsel & 8;
  uint32_t row[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t value = uint32_t(values[lane]) & 0xFFFF;
    row[lane] = high       ? (old[lane] & 0xFFFF) | value << 16
                : keepHigh ? (old[lane] & 0xFFFF0000u) | value
                           : value;
  }
  writeRow(wave, instruction.dst[0].reg, row, lanes);
}

void writeResult(Wave &wave, const Instruction &instruction, const Type &type, const Values &values, uint64_t lanes,
                 bool keepHigh) {
  if (Kind(instruction.dst[0].kind) != Kind::Vgpr)
    fault("program", "a vector register is needed as the destination");
  if (instruction.flags & kSdwa) {
    Values cut;
    uint64_t mask = lowBits(type.width());
    for (int lane = 0; lane < kLanes; ++lane)
      cut[lane] = values[lane] & mask;
    writeSdwa(wave, instruction, cut, lanes);
    return;
  }
  if (type.half()) {
    writeHalf(wave, instruction, values, lanes, keepHigh);
    return;
  }
  uint32_t row[kLanes];
  for (int word = 0; word < (type.width() > 32 ? 2 : 1); ++word) {
    for (int lane = 0; lane < kLanes; ++lane)
      row[lane] = uint32_t(values[lane] >> 32 * word);
    writeRow(wave, instruction.dst[0].reg + word, row, lanes);
  }
}

// --- the generic instruction ---

static void eachLane(Run &, Wave &wave, const Instruction &instruction) {
  const OpInfo &op = opInfo(instruction.op);
  const Shape &shape = shapeOf(instruction.op);
  const Type &type = shape.dst[0];
  Values in[kSources + 1], out;
  int arguments = shape.srcs;
  uint64_t lanes = readSources(wave, instruction, shape, in);
  if (type.old) {
    readRaw(wave, instruction.dst[0], type.width(), in[arguments]);
    if (type.half())
      for (uint64_t &value : in[arguments])
        value = value >> (instruction.opsel & 8 ? 16 : 0) & 0xFFFF;
    ++arguments;
  }
  for (int i = arguments; i < 3; ++i)
    std::fill_n(in[i], kLanes, 0);
  {
    HostRounding rounding(type.bits == 32 ? roundingOf<32>(wave) : type.bits == 64 ? roundingOf<64>(wave) : kNearest);
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = lanes >> lane & 1 ? op.lane(wave, in[0][lane], in[1][lane], in[2][lane]) : 0;
  }
  modifyResult(wave, instruction, type, out);
  writeResult(wave, instruction, type, out, lanes, op.extra & kKeepHigh);
}

void vectorOp(Run &run, Wave &wave, const Instruction &instruction) {
  withIndexing<eachLane>(run, wave, instruction);
}

} // namespace machine
