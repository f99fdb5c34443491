#include "machine/Atomics.h"

#include "machine/Float.h"

namespace machine {

namespace {

uint64_t bf16Sum(uint64_t a, uint64_t b) {
  const double sum = addToOdd(bf16ToDouble(a), bf16ToDouble(b));
  if (!std::isfinite(sum) || sum == 0)
    return rawF32(float(sum)) >> 16;
  // Rounded at the last bit that bf16 has here: 8 significant bits, none below 2^-133.
  int exponent;
  std::frexp(sum, &exponent);
  const int unit = exponent - 8 < -133 ? -133 : exponent - 8;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(sum, -unit)), unit);
  return rawF32(float(rounded)) >> 16;
}

uint64_t f16Sum(uint64_t a, uint64_t b) { return doubleToF16(f16ToDouble(a) + f16ToDouble(b), kNearest); }

template <uint64_t (*Sum)(uint64_t, uint64_t)> uint64_t packedSum(uint64_t a, uint64_t b) {
  return Sum(a & 0xFFFF, b & 0xFFFF) | Sum(a >> 16 & 0xFFFF, b >> 16 & 0xFFFF) << 16;
}

template <class Float, class Raw> uint64_t floatResult(AtomicOp op, Raw oldRaw, Raw aRaw, Raw bRaw) {
  const Float old = bitCast<Float>(oldRaw), a = bitCast<Float>(aRaw), b = bitCast<Float>(bRaw);
  switch (op) {
  case AtomicOp::AddFloat:
    return bitCast<Raw>(Float(old + a));
  case AtomicOp::MinFloat:
    return a < old ? aRaw : oldRaw;
  case AtomicOp::MaxFloat:
    return a > old ? aRaw : oldRaw;
  default: // CompareSwapFloat
    return old == b ? aRaw : oldRaw;
  }
}

// A pair of words, each exchanged when the operand's top bit is set (ds_condxchg32).
uint64_t exchangeIf(uint64_t old, uint64_t a) {
  uint32_t low = a >> 31 & 1 ? uint32_t(a) & 0x7FFFFFFFu : uint32_t(old);
  uint32_t high = a >> 63 ? uint32_t(a >> 32) & 0x7FFFFFFFu : uint32_t(old >> 32);
  return low | uint64_t(high) << 32;
}

template <class Raw, class Signed> uint64_t integerResult(AtomicOp op, Raw old, Raw a, Raw b) {
  switch (op) {
  case AtomicOp::Add:
    return Raw(old + a);
  case AtomicOp::Sub:
    return Raw(old - a);
  case AtomicOp::ReverseSub:
    return Raw(a - old);
  case AtomicOp::MinSigned:
    return Signed(a) < Signed(old) ? a : old;
  case AtomicOp::MaxSigned:
    return Signed(a) > Signed(old) ? a : old;
  case AtomicOp::MinUnsigned:
    return a < old ? a : old;
  case AtomicOp::MaxUnsigned:
    return a > old ? a : old;
  case AtomicOp::And:
    return old & a;
  case AtomicOp::Or:
    return old | a;
  case AtomicOp::Xor:
    return old ^ a;
  case AtomicOp::Inc:
    return old >= a ? 0 : Raw(old + 1);
  case AtomicOp::Dec:
    return old == 0 || old > a ? a : Raw(old - 1);
  case AtomicOp::Swap:
    return a;
  case AtomicOp::CompareSwap:
    return old == b ? a : old;
  case AtomicOp::MaskOr:
    return (old & ~a) | b;
  case AtomicOp::Wrap:
    return old >= a ? Raw(old - a) : Raw(old + b);
  default:
    return old;
  }
}

} // namespace

uint64_t atomicResult(AtomicOp op, uint32_t bytes, uint64_t old, uint64_t a, uint64_t b) {
  switch (op) {
  case AtomicOp::PackedAddF16:
    return packedSum<f16Sum>(old, a);
  case AtomicOp::PackedAddBf16:
    return packedSum<bf16Sum>(old, a);
  case AtomicOp::ExchangeIf:
    return exchangeIf(old, a);
  case AtomicOp::AddFloat:
  case AtomicOp::MinFloat:
  case AtomicOp::MaxFloat:
  case AtomicOp::CompareSwapFloat:
    return bytes == 8 ? floatResult<double>(op, old, a, b)
                      : floatResult<float>(op, uint32_t(old), uint32_t(a), uint32_t(b));
  default:
    return bytes == 8 ? integerResult<uint64_t, int64_t>(op, old, a, b)
                      : integerResult<uint32_t, int32_t>(op, uint32_t(old), uint32_t(a), uint32_t(b));
  }
}

} // namespace machine
