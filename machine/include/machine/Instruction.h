// A decoded instruction, as Python hands it over: plain data, mirrored by `wave_mlir.isa.encoding`.
#pragma once
#include <cstdint>

namespace machine {

constexpr int kLanes = 64;

// What an operand names. `reg` counts 32-bit registers of its file.
enum class Kind : uint8_t {
  None = 0,
  Sgpr = 1,     // scalar file: s0-s101, then the numbers of kScalar* below
  Vgpr = 2,     // vector file: v0-v255 are 0-255, a0-a255 are 256-511
  Constant = 3, // value: the raw bits for the operand's type, widened by the encoder
  Special = 4,  // reg is a Special
};

enum class Special : uint16_t { Scc = 0, Vccz = 1, Execz = 2, SharedBase = 3, SharedLimit = 4, PrivateBase = 5, PrivateLimit = 6 };

// Numbers in the scalar file (CDNA3 ISA, "Scalar operands").
constexpr int kFlatScratch = 102, kXnackMask = 104, kVcc = 106, kTtmp = 108, kM0 = 124, kExec = 126, kSgprs = 128;
constexpr int kVgprs = 512;

enum OperandBits : uint8_t { kNeg = 1, kAbs = 2, kSext = 4 };

// SDWA selections (CDNA3 ISA, "SDWA").
enum class Sel : uint8_t { Byte0 = 0, Byte1, Byte2, Byte3, Word0, Word1, Dword };
enum class Unused : uint8_t { Pad = 0, Sext, Preserve };

struct Operand {
  uint8_t kind;   // Kind
  uint8_t dwords; // registers it spans
  uint8_t bits;   // OperandBits
  uint8_t sel;    // Sel, of an SDWA source; Sel::Dword otherwise
  uint16_t reg;
  uint16_t pad;
  uint64_t value;
};

enum Flags : uint32_t {
  kClamp = 1 << 0,
  kSc0 = 1 << 1, // also glc: an atomic returns the old value
  kSc1 = 1 << 2,
  kNt = 1 << 3,
  kLds = 1 << 4, // MUBUF: copy to LDS
  kOffen = 1 << 5,
  kIdxen = 1 << 6,
  kSdwa = 1 << 7,
  kDpp = 1 << 8,
  kBoundCtrl = 1 << 9, // DPP: lanes that read nothing get 0 ("bound_ctrl:1", printed "bound_ctrl:0" in old text)
  kGds = 1 << 10,
  kSaddr = 1 << 12, // global/scratch: src has a scalar base
};

constexpr int kSources = 5;

struct Instruction {
  uint16_t op; // index in the registry
  uint16_t file;
  uint32_t line; // source line of .loc, 0 when there is none
  uint32_t flags;
  int32_t target;   // branch: index of the instruction jumped to, else -1
  int32_t offset;   // DS offset0 or offset; MUBUF, FLAT and SMEM immediate; SOPP/SOPK immediate
  int32_t offset1;  // DS offset1
  uint8_t omod;     // 0, 1: x2, 2: x4, 3: /2
  // Bit per source; opsel bit 3: destination's high half. In VOP3 the last entry of the text's list is the destination's,
  // so it goes to bit 3 when there are fewer than four. v_mfma_scale: bits 0 and 1, of the two scales; absent means 0.
  uint8_t opsel, opselhi, neglo, neghi;
  uint8_t dstsel, dstunused;            // Sel, Unused
  uint8_t rowmask, bankmask;            // DPP
  uint8_t cbsz, abid, blgp;             // MFMA, f8f6f4 formats
  uint16_t dpp;                         // DPP control: dpp_ctrl of the ISA
  uint16_t pad;
  uint64_t address; // byte address of the instruction
  Operand dst[2];   // second: carry out (scalar), or the second register swapped
  Operand src[kSources];
};

} // namespace machine
