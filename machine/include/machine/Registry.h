// The table of instructions. A family is one table in one file; Registry.cpp concatenates them.
//
// A signature says the operands in the order of the assembly text, destinations first: "f32 sbool = f32 f32 sbool".
// Types: b/u/i/f with the number of bits (f16, bf16, u24, b96 ...): raw bits, a lane's value;
//   a number after x: so many (f16x2 packed in one register, f32x2 in two);
//   sbool: a 64-bit lane mask in scalar registers (carry, VOPC result, select mask);
//   "-" after a type: the text may give fewer registers, Operand::dwords says how many (matrices of 4, 6 and 8 bits);
//   a constant for a type of several registers is the raw bits of one element, which the handler repeats;
//   "=" separates; a leading "+" of a destination says that its old value is read too (v_fmac, v_mac, d16_hi loads);
//   simm16, label, hwreg, waitcnt, sendmsg: immediates, in Instruction::offset (label: in target); their place among the
//     sources stays, with Kind::None ("= hwreg b32" has its value in src[1]); bitop3:n goes to offset too;
//   "?" after a type: may be left out in the text (its operand is Kind::None). A left-out destination is told by the number of
//   operands: "global_atomic_add v[0:1], v2, off" against "global_atomic_add v3, v[0:1], v2, off sc0".
// Memory types, operands in dst/src in the order of the signature as everywhere; `dwords` is what is written in the text:
//   vaddr: one or two vector registers, or `off` (Kind::None);
//   saddr: a scalar register or pair, or `off` (Kind::None; kSaddr is set when it is not off);
//   soff: of SMEM: a scalar register (also m0), or an immediate, which goes to Instruction::offset and leaves Kind::None;
//     "s4 offset:0x10" gives both;
//   scalar types (b32, b64, b128 ...) of SMEM, of MUBUF's descriptor (b128) and of its scalar offset (b32) are Sgpr or Constant.
// E.g. global_load_dwordx4 "b128 = vaddr saddr", global_store_dword "= vaddr b32 saddr", global_atomic_add
//   "b32? = vaddr b32 saddr", flat_load_dword "b32 = vaddr", buffer_load_dword "b32? = vaddr b128 b32" (left out with `lds`),
//   buffer_store_dword and buffer_atomic_add "= b32 vaddr b128 b32" (an atomic with sc0 returns in its data register),
//   s_load_dwordx2 "b64 = b64 soff", ds_write2_b32 "= b32 b32 b32", ds_read_b64 "b64 = b32" (offset0/offset1, offset: in
//   Instruction::offset, offset1; swizzle(...) as the 16-bit offset), s_waitcnt "= waitcnt" (the 16-bit field in offset).
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

// Values of OpInfo::targets.
constexpr uint8_t kGfx942 = 1, kGfx950 = 2, kBoth = 3;

struct Table {
  const OpInfo *ops;
  size_t count;
};

// The families.
Table scalarOps();
Table scalarMemoryOps();
Table vectorOps(); // carries, lanes, division
Table vectorIntegerOps();
Table vectorFloatOps();
Table vectorConvertOps();
Table compareOps();
Table packedOps();
Table convertOps();
Table matrixOps();
Table ldsOps();
Table ldsLaneOps();
Table globalOps();
Table bufferOps();
Table controlOps(); // branches, barriers, hardware registers
Table waitOps();

const OpInfo &opInfo(uint16_t op);
size_t opCount();

} // namespace machine
