// Operands of vector instructions as 64 raw values, and the writing of results under EXEC.
#pragma once
#include "machine/Float.h"
#include "machine/Run.h"

namespace machine {

// A type of a signature (Registry.h).
struct Type {
  enum class Class : uint8_t { None, Bits, Unsigned, Signed, Float, BFloat, Mask, Immediate };
  Class cls = Class::None;
  uint16_t bits = 0;     // of one element
  uint8_t count = 1;     // elements: f16x2 has 2
  bool old = false;      // a destination whose old value is read
  bool optional = false; // may be left out in the text
  int width() const { return bits * count; }
  bool half() const { return bits == 16 && count == 1; }
  bool isFloat() const { return cls == Class::Float; }
};

struct Shape {
  Type dst[2], src[kSources];
  uint8_t dsts = 0, srcs = 0;
};

// The signature of an instruction of the registry, parsed once.
const Shape &shapeOf(uint16_t op);

using Values = uint64_t[kLanes];

// Where LDS and scratch lie in the flat address space (the high word of src_shared_base, src_private_base).
constexpr uint64_t kSharedAperture = 1ull << 48, kPrivateAperture = 2ull << 48;

// MODE, bit 27: s_set_gpr_idx_on; vector registers are indexed by M0 (CDNA3 ISA, "VGPR Indexing").
constexpr uint32_t kGprIndexing = 1u << 27;
inline bool indexesRegisters(const Wave &wave) { return wave.mode & kGprIndexing; }
// The instruction with the registers that it means in this mode.
Instruction indexed(const Wave &wave, const Instruction &instruction);
// A handler that gets the instruction so.
template <Handler F> void withIndexing(Run &run, Wave &wave, const Instruction &instruction) {
  if (indexesRegisters(wave))
    F(run, wave, indexed(wave, instruction));
  else
    F(run, wave, instruction);
}

// A scalar operand: registers, constant or special value; 32 or 64 bits.
uint64_t readScalar(const Wave &wave, const Operand &operand, int bits);
void writeScalar(Wave &wave, const Operand &operand, uint64_t value, int bits);

// 64 raw values of up to 64 bits: vector or accumulation registers, or a scalar in all lanes. No modifiers.
void readRaw(const Wave &wave, const Operand &operand, int bits, Values &out);
// Source `index` with SDWA selection, op_sel (16-bit types), abs and neg; DPP on source 0.
// `lanes` loses the lanes that DPP keeps from writing.
void readSource(const Wave &wave, const Instruction &instruction, int index, const Type &type, Values &out,
                uint64_t &lanes);
// All sources of the signature that are lane values; a mask ("sbool") comes as 0 or 1 in each lane.
// Returns the lanes that write: EXEC without what DPP takes away.
uint64_t readSources(const Wave &wave, const Instruction &instruction, const Shape &shape, Values *out);

// omod, clamp (saturation for integers: values are exact and sign-extended).
void modifyResult(const Wave &wave, const Instruction &instruction, const Type &type, Values &values);
// dst[0] in `lanes`: SDWA destination, half selection by op_sel. `keepHigh`: a 16-bit result leaves the other half
// as it is; most instructions zero the high half.
void writeResult(Wave &wave, const Instruction &instruction, const Type &type, const Values &values, uint64_t lanes,
                 bool keepHigh = false);
// Row `row` in `lanes`.
void writeRow(Wave &wave, int row, const uint32_t *values, uint64_t lanes);

// Bits of OpInfo::extra of what `vectorOp` runs.
enum VectorExtra : uint32_t { kKeepHigh = 1 };

// Runs OpInfo::lane on every active lane; arguments are the sources in order, then the old value of a "+" destination.
void vectorOp(Run &run, Wave &wave, const Instruction &instruction);

} // namespace machine
