// The table of matrix instructions.
#include "machine/Matrix.h"

#include <deque>
#include <string>
#include <unordered_map>

namespace machine {



static constexpr OpInfo dense(const char *name, const char *signature, Handler run, MatrixOp op,
                              uint8_t targets = kBoth) {
  return {name, Format::Mfma, signature, run, nullptr, op.packed(), targets};
}

constexpr const char *k1f32 = "f32x4 = f32 f32 f32x4", *k16f32 = "f32x16 = f32 f32 f32x16",
                     *k32f32 = "f32x32 = f32 f32 f32x32";
constexpr const char *k64x4 = "f32x4 = b64 b64 f32x4", *k64x16 = "f32x16 = b64 b64 f32x16",
                     *k64x32 = "f32x32 = b64 b64 f32x32";
constexpr const char *k128x4 = "f32x4 = b128 b128 f32x4", *k128x16 = "f32x16 = b128 b128 f32x16";
constexpr const char *kSparse64x4 = "+f32x4 = b64 b128 b32", *kSparse64x16 = "+f32x16 = b64 b128 b32";
constexpr const char *kSparse128x4 = "+f32x4 = b128 b256 b32", *kSparse128x16 = "+f32x16 = b128 b256 b32";

using E = Element;

#define SPARSE(name, signature, run, m, k, a, b, targets)                                                              \
  dense(name, signature, run, MatrixOp{m, k, 1, a, b, true}, targets)
// The four pairs of 8-bit types.
#define PAIRS(make, name, signature, m, k, targets)                                                                    \
  make(name "_bf8_bf8", signature, m, k, E::Bf8, E::Bf8, targets),                                                     \
      make(name "_bf8_fp8", signature, m, k, E::Bf8, E::Fp8, targets),                                                 \
      make(name "_fp8_bf8", signature, m, k, E::Fp8, E::Bf8, targets),                                                 \
      make(name "_fp8_fp8", signature, m, k, E::Fp8, E::Fp8, targets)
#define DENSE8(name, signature, m, k, a, b, targets)                                                                   \
  dense(name, signature, matrixFloat, MatrixOp{m, k, 1, a, b}, targets)
#define SPARSE8(name, signature, m, k, a, b, targets) SPARSE(name, signature, matrixFloat, m, k, a, b, targets)

static constexpr OpInfo kMatrixOpsTable[] = {
    dense("v_mfma_f32_32x32x1_2b_f32", k32f32, matrixF32, {32, 1, 2, E::F32, E::F32}),
    dense("v_mfma_f32_16x16x1_4b_f32", k16f32, matrixF32, {16, 1, 4, E::F32, E::F32}),
    dense("v_mfma_f32_4x4x1_16b_f32", k1f32, matrixF32, {4, 1, 16, E::F32, E::F32}),
    dense("v_mfma_f32_32x32x2_f32", k16f32, matrixF32, {32, 2, 1, E::F32, E::F32}),
    dense("v_mfma_f32_16x16x4_f32", k1f32, matrixF32, {16, 4, 1, E::F32, E::F32}),
    dense("v_mfma_f32_16x16x8_xf32", k64x4, matrixFloat, {16, 8, 1, E::Xf32, E::Xf32}, kGfx942),
    dense("v_mfma_f32_32x32x4_xf32", k64x16, matrixFloat, {32, 4, 1, E::Xf32, E::Xf32}, kGfx942),
    dense("v_mfma_f64_16x16x4_f64", "f64x4 = f64 f64 f64x4", matrixF64, {16, 4, 1, E::F64, E::F64}),
    dense("v_mfma_f64_4x4x4_4b_f64", "f64 = f64 f64 f64", matrixF64, {4, 4, 4, E::F64, E::F64}),

    dense("v_mfma_f32_32x32x4_2b_f16", k64x32, matrixFloat, {32, 4, 2, E::F16, E::F16}),
    dense("v_mfma_f32_16x16x4_4b_f16", k64x16, matrixFloat, {16, 4, 4, E::F16, E::F16}),
    dense("v_mfma_f32_4x4x4_16b_f16", k64x4, matrixFloat, {4, 4, 16, E::F16, E::F16}),
    dense("v_mfma_f32_32x32x8_f16", k64x16, matrixFloat, {32, 8, 1, E::F16, E::F16}),
    dense("v_mfma_f32_16x16x16_f16", k64x4, matrixFloat, {16, 16, 1, E::F16, E::F16}),
    dense("v_mfma_f32_32x32x16_f16", k128x16, matrixFloat, {32, 16, 1, E::F16, E::F16}, kGfx950),
    dense("v_mfma_f32_16x16x32_f16", k128x4, matrixFloat, {16, 32, 1, E::F16, E::F16}, kGfx950),
    dense("v_mfma_f32_32x32x4_2b_bf16", k64x32, matrixFloat, {32, 4, 2, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_16x16x4_4b_bf16", k64x16, matrixFloat, {16, 4, 4, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_4x4x4_16b_bf16", k64x4, matrixFloat, {4, 4, 16, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_32x32x8_bf16", k64x16, matrixFloat, {32, 8, 1, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_16x16x16_bf16", k64x4, matrixFloat, {16, 16, 1, E::Bf16, E::Bf16}),
    dense("v_mfma_f32_32x32x16_bf16", k128x16, matrixFloat, {32, 16, 1, E::Bf16, E::Bf16}, kGfx950),
    dense("v_mfma_f32_16x16x32_bf16", k128x4, matrixFloat, {16, 32, 1, E::Bf16, E::Bf16}, kGfx950),

    PAIRS(DENSE8, "v_mfma_f32_16x16x32", k64x4, 16, 32, kBoth),
    PAIRS(DENSE8, "v_mfma_f32_32x32x16", k64x16, 32, 16, kBoth),

    dense("v_mfma_i32_32x32x4_2b_i8", "i32x32 = b32 b32 i32x32", matrixI8, {32, 4, 2, E::I8, E::I8}),
    dense("v_mfma_i32_16x16x4_4b_i8", "i32x16 = b32 b32 i32x16", matrixI8, {16, 4, 4, E::I8, E::I8}),
    dense("v_mfma_i32_4x4x4_16b_i8", "i32x4 = b32 b32 i32x4", matrixI8, {4, 4, 16, E::I8, E::I8}),
    dense("v_mfma_i32_32x32x16_i8", "i32x16 = b64 b64 i32x16", matrixI8, {32, 16, 1, E::I8, E::I8}),
    dense("v_mfma_i32_16x16x32_i8", "i32x4 = b64 b64 i32x4", matrixI8, {16, 32, 1, E::I8, E::I8}),
    dense("v_mfma_i32_32x32x32_i8", "i32x16 = b128 b128 i32x16", matrixI8, {32, 32, 1, E::I8, E::I8}, kGfx950),
    dense("v_mfma_i32_16x16x64_i8", "i32x4 = b128 b128 i32x4", matrixI8, {16, 64, 1, E::I8, E::I8}, kGfx950),

    dense("v_mfma_f32_16x16x128_f8f6f4", "f32x4 = b256- b256- f32x4", matrixF8f6f4, {16, 128, 1, E::F8f6f4, E::F8f6f4},
          kGfx950),
    dense("v_mfma_f32_32x32x64_f8f6f4", "f32x16 = b256- b256- f32x16", matrixF8f6f4, {32, 64, 1, E::F8f6f4, E::F8f6f4},
          kGfx950),
    dense("v_mfma_scale_f32_16x16x128_f8f6f4", "f32x4 = b256- b256- f32x4 b32 b32", matrixF8f6f4,
          {16, 128, 1, E::F8f6f4, E::F8f6f4, false, true}, kGfx950),
    dense("v_mfma_scale_f32_32x32x64_f8f6f4", "f32x16 = b256- b256- f32x16 b32 b32", matrixF8f6f4,
          {32, 64, 1, E::F8f6f4, E::F8f6f4, false, true}, kGfx950),

    SPARSE("v_smfmac_f32_16x16x32_f16", kSparse64x4, matrixFloat, 16, 32, E::F16, E::F16, kBoth),
    SPARSE("v_smfmac_f32_32x32x16_f16", kSparse64x16, matrixFloat, 32, 16, E::F16, E::F16, kBoth),
    SPARSE("v_smfmac_f32_16x16x32_bf16", kSparse64x4, matrixFloat, 16, 32, E::Bf16, E::Bf16, kBoth),
    SPARSE("v_smfmac_f32_32x32x16_bf16", kSparse64x16, matrixFloat, 32, 16, E::Bf16, E::Bf16, kBoth),
    SPARSE("v_smfmac_i32_16x16x64_i8", "+i32x4 = b64 b128 b32", matrixI8, 16, 64, E::I8, E::I8, kBoth),
    SPARSE("v_smfmac_i32_32x32x32_i8", "+i32x16 = b64 b128 b32", matrixI8, 32, 32, E::I8, E::I8, kBoth),
    PAIRS(SPARSE8, "v_smfmac_f32_16x16x64", kSparse64x4, 16, 64, kBoth),
    PAIRS(SPARSE8, "v_smfmac_f32_32x32x32", kSparse64x16, 32, 32, kBoth),
    SPARSE("v_smfmac_f32_16x16x64_f16", kSparse128x4, matrixFloat, 16, 64, E::F16, E::F16, kGfx950),
    SPARSE("v_smfmac_f32_32x32x32_f16", kSparse128x16, matrixFloat, 32, 32, E::F16, E::F16, kGfx950),
    SPARSE("v_smfmac_f32_16x16x64_bf16", kSparse128x4, matrixFloat, 16, 64, E::Bf16, E::Bf16, kGfx950),
    SPARSE("v_smfmac_f32_32x32x32_bf16", kSparse128x16, matrixFloat, 32, 32, E::Bf16, E::Bf16, kGfx950),
    SPARSE("v_smfmac_i32_16x16x128_i8", "+i32x4 = b128 b256 b32", matrixI8, 16, 128, E::I8, E::I8, kGfx950),
    SPARSE("v_smfmac_i32_32x32x64_i8", "+i32x16 = b128 b256 b32", matrixI8, 32, 64, E::I8, E::I8, kGfx950),
    PAIRS(SPARSE8, "v_smfmac_f32_16x16x128", kSparse128x4, 16, 128, kGfx950),
    PAIRS(SPARSE8, "v_smfmac_f32_32x32x64", kSparse128x16, 32, 64, kGfx950),
};

struct Plans {
  MatrixPlan byRuns[4]; // bit 0: A in runs, bit 1: B
};

const MatrixPlan &matrixPlan(uint32_t extra, bool runsA, bool runsB) {
  static const std::unordered_map<uint32_t, Plans> all = [] {
    std::unordered_map<uint32_t, Plans> plans;
    for (const OpInfo &info : kMatrixOpsTable) {
      MatrixOp op = MatrixOp::unpack(info.extra);
      for (int i = 0; i < (op.a == Element::F8f6f4 ? 4 : 1); ++i)
        plans[info.extra].byRuns[i] = planOf(op, i & 1, i >> 1);
    }
    return plans;
  }();
  return all.at(extra).byRuns[runsA + 2 * runsB];
}

// The name before CDNA3, which LLVM still reads: without the number of blocks and the last "_"; empty when there is
// none.
static std::string oldName(const OpInfo &info) {
  const MatrixOp op = MatrixOp::unpack(info.extra);
  if (op.sparse || op.a == Element::Fp8 || op.a == Element::Bf8 || op.a == Element::F8f6f4)
    return "";
  std::string name = info.name;
  size_t type = name.rfind('_'), shape = name.find('x'), end = name.find('_', shape);
  return name.substr(0, end) + name.substr(type + 1);
}

Table matrixOps() {
  static std::deque<std::string> names; // where the pointers stay valid
  static const std::vector<OpInfo> all = [] {
    std::vector<OpInfo> ops(std::begin(kMatrixOpsTable), std::end(kMatrixOpsTable));
    auto add = [&](OpInfo info, std::string name) {
      info.name = names.emplace_back(std::move(name)).c_str();
      ops.push_back(info);
    };
    for (const OpInfo &info : kMatrixOpsTable) {
      std::string old = oldName(info);
      if (old.empty())
        continue;
      add(info, old);
      if (MatrixOp::unpack(info.extra).a == Element::Bf16 && info.targets == kBoth)
        add(info, old + "_1k");
    }
    return ops;
  }();
  return {all.data(), all.size()};
}

} // namespace machine

#undef SPARSE
#undef PAIRS
#undef DENSE8
#undef SPARSE8
