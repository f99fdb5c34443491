// What atomics do to the old value of their memory.
#pragma once
#include <cstdint>

namespace machine {

// clang-format off
enum class AtomicOp : uint8_t {
  Add, Sub, ReverseSub, MinSigned, MaxSigned, MinUnsigned, MaxUnsigned, And, Or, Xor, Inc, Dec, Swap, CompareSwap,
  CompareSwapFloat, MaskOr, Wrap, ExchangeIf, AddFloat, MinFloat, MaxFloat, PackedAddF16, PackedAddBf16,
};
// clang-format on

// The new value. `bytes` is 4 or 8, values are raw bits. `a` is the operand; `b`: the value compared with
// (CompareSwap), the bits set (MaskOr, `a` clears), the increment (Wrap). Floats round to nearest even and keep
// denormals.
uint64_t atomicResult(AtomicOp op, uint32_t bytes, uint64_t old, uint64_t a, uint64_t b);

} // namespace machine
