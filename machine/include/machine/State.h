// State of a wave and of its workgroup.
#pragma once
#include "machine/Instruction.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace machine {

struct OpInfo;
class Run;
class WaitState;  // outstanding memory operations of one wave (Waits.h)
class LdsShadow;  // who touched which byte of LDS (Lds.h)

enum class Status : uint8_t { Ready, AtBarrier, Ended };

// Recognisable poison of registers: a float NaN, an address outside of every buffer, an odd integer.
constexpr uint32_t kPoison = 0xFFBADBADu;

struct Wave {
  Wave();
  ~Wave();
  uint32_t s[kSgprs];
  uint32_t (*v)[kLanes]; // kVgprs rows
  std::unique_ptr<uint32_t[]> vectorFile;
  bool scc = false;
  uint32_t mode = 0; // MODE: bits 3:0 rounding, 7:4 denormals, 8 DX10_CLAMP, 9 IEEE (CDNA3 ISA, "MODE register")
  uint32_t pc = 0;   // index of the instruction
  uint32_t next = 0; // where it goes on; handlers of branches set it
  uint32_t id = 0;   // in the workgroup
  uint32_t epoch = 0; // barriers passed
  // A bit a scalar register without a value (Undefined.h), the load that left it so and its address.
  uint64_t undefinedScalars[kSgprs / 64] = {};
  uint32_t undefinedBy[kSgprs] = {};
  uint64_t undefinedFrom[kSgprs] = {};
  Status status = Status::Ready;
  std::unique_ptr<WaitState> waits;
  std::vector<uint8_t> scratch; // lane-major: bytes a lane * kLanes
  std::vector<uint8_t> scratchWritten;

  uint64_t pair(int reg) const { return s[reg] | uint64_t(s[reg + 1]) << 32; }
  void setPair(int reg, uint64_t value) {
    s[reg] = uint32_t(value);
    s[reg + 1] = uint32_t(value >> 32);
  }
  uint64_t exec() const { return pair(kExec); }
  uint64_t vcc() const { return pair(kVcc); }
  bool flushF32() const { return !(mode & 0x20); }    // output denormals of f32 are flushed (bit 5), inputs bit 4
  bool flushF32In() const { return !(mode & 0x10); }
  bool flushF16F64() const { return !(mode & 0x80); }
  bool flushF16F64In() const { return !(mode & 0x40); }
  bool clampNaNToZero() const { return mode & 0x100; }
  bool ieee() const { return mode & 0x200; }
};

// Whether an unwritten byte of an access is padding that compilers load with a vector of three elements (they store
// 3, 6 or 12 bytes and load 4, 8 or 16): it lies in the last quarter of an aligned block that is accessed whole, of which
// exactly the first three quarters are written. `written(address)` says which bytes are.
template <class Written> bool isPadding(uint64_t first, uint64_t bytes, uint64_t byte, Written written) {
  for (uint64_t size = 4; size <= 16; size *= 2) {
    const uint64_t block = byte & ~(size - 1), rest = block + size / 4 * 3;
    if (byte < rest || block < first || block + size > first + bytes)
      continue;
    bool fits = true;
    for (uint64_t at = block; at < block + size; ++at)
      fits &= written(at) == (at < rest);
    if (fits)
      return true;
  }
  return false;
}

// A fault of the program. `kind` is one of wave_mlir.isa.errors.KINDS.
struct Fault {
  std::string kind, text;
  int lane = -1;
  bool hasAddress = false;
  uint64_t address = 0;
  int64_t other = -1; // index of the other instruction (the load that has not arrived, the other side of a race)
  int otherWave = -1;
};

// `s5`, `vcc_lo`, `v3`, `a0`: the name of a register of the scalar or of the vector file.
std::string registerName(bool scalar, uint32_t reg);

[[noreturn]] void fault(std::string kind, std::string text, int lane = -1);
[[noreturn]] void faultAt(std::string kind, std::string text, int lane, uint64_t address);

} // namespace machine
