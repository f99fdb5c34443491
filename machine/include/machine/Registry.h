// The table of instructions. A family is one table in one file; Registry.cpp concatenates them.
//
// A signature says the operands in the order of the assembly text, destinations first: "f32 sbool = f32 f32 sbool".
// Types: b/u/i/f with the number of bits (f16, bf16, u24, b96 ...): raw bits, a lane's value;
//   a number after x: so many (f16x2 packed in one register, f32x2 in two);
//   sbool: a 64-bit lane mask in scalar registers (carry, VOPC result, select mask);
//   "=" separates; a leading "+" of a destination says that its old value is read too (v_fmac, v_mac, d16_hi loads);
//   simm16, label, hwreg, waitcnt, sendmsg: immediates, in Instruction::offset (label: in target);
//   addr, saddr, off: see the memory families. "?" after a type: may be left out in the text.
// The encoder (Python) reads signatures to turn constants into raw bits and to set Operand::dwords.
#pragma once
#include "machine/Instruction.h"

#include <cstddef>
#include <cstdint>

namespace machine {

struct Wave;
class Run;

enum class Format : uint8_t { Sop1, Sop2, Sopc, Sopk, Sopp, Smem, Vop1, Vop2, Vop3, Vop3p, Vopc, Mfma, Ds, Flat, Global, Scratch, Mubuf };

using Handler = void (*)(Run &, Wave &, const Instruction &);
// One lane: raw bits in, raw bits out (low bits of the word).
using LaneFn = uint64_t (*)(Wave &, uint64_t, uint64_t, uint64_t);

struct OpInfo {
  const char *name; // without _e32, _e64, _sdwa, _dpp
  Format format;
  const char *signature;
  Handler run;
  LaneFn lane = nullptr; // of the generic vector handler
  uint32_t extra = 0;    // for the handler: widths, formats; meaning is the family's
  uint8_t targets = 3;   // bit 0: gfx942, bit 1: gfx950
};

struct Table {
  const OpInfo *ops;
  size_t count;
};

// The families.
Table scalarOps();
Table scalarMemoryOps();
Table vectorOps();
Table compareOps();
Table packedOps();
Table convertOps();
Table matrixOps();
Table ldsOps();
Table globalOps();
Table bufferOps();
Table controlOps(); // branches, waits, barriers, hardware registers

const OpInfo &opInfo(uint16_t op);
size_t opCount();

} // namespace machine
