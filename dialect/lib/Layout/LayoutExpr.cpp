//===- LayoutExpr.cpp - coordinates, owners and inverses as expressions ---------===//
#include "wave/Layout.h"
#include "wave/Wave.h"
using namespace mlir;
using namespace wave;

namespace {
/// Shorthand for building expressions; drops what does nothing, whatever canonicalisation does later.
struct ExprBuilder {
  MLIRContext *ctx;

  ExprAttr constant(int64_t v) { return getConstantExpr(ctx, v); }
  static std::optional<int64_t> value(ExprAttr e) {
    if (e.getKind() == ExprKind::Constant)
      return e.getValue();
    return std::nullopt;
  }
  ExprAttr add(ExprAttr a, ExprAttr b) {
    if (!a || value(a) == 0)
      return b;
    if (value(b) == 0)
      return a;
    if (value(a) && value(b))
      return constant(*value(a) + *value(b));
    return getExpr(ExprKind::Add, {a, b});
  }
  ExprAttr times(ExprAttr a, int64_t n) {
    if (value(a))
      return constant(*value(a) * n);
    return n == 1 ? a : getExpr(ExprKind::Mul, {a, constant(n)});
  }
  ExprAttr floordiv(ExprAttr a, int64_t n) {
    if (value(a))
      return constant(*value(a) / n);
    return n == 1 ? a : getExpr(ExprKind::FloorDiv, {a, constant(n)});
  }
  ExprAttr mod(ExprAttr a, int64_t n) {
    if (value(a))
      return constant(*value(a) % n);
    return n == 1 ? constant(0) : getExpr(ExprKind::Mod, {a, constant(n)});
  }
  ExprAttr conjoin(ExprAttr a, ExprAttr b) {
    if (!a || value(a) == 1 || value(b) == 0)
      return b;
    if (value(a) == 0 || value(b) == 1)
      return a;
    return getExpr(ExprKind::And, {a, b});
  }
  ExprAttr less(ExprAttr a, int64_t n) {
    if (value(a))
      return constant(*value(a) < n);
    return getExpr(ExprKind::Lt, {a, constant(n)});
  }
  ExprAttr isZero(ExprAttr a) {
    if (value(a))
      return constant(*value(a) == 0);
    return getExpr(ExprKind::Eq, {a, constant(0)});
  }
};

/// A layout's sources as expressions.
struct Places {
  ExprBuilder b;
  const LayoutMap &map;
  int64_t reg;
  LayoutSizes sizes;

  Places(MLIRContext *ctx, const LayoutMap &map, int64_t reg, LayoutSizes sizes)
      : b{ctx}, map(map), reg(reg), sizes(sizes) {
    this->sizes[Reg] = map.size(Reg);
  }
  ExprAttr source(int s) {
    if (s == Reg && reg >= 0)
      return b.constant(reg);
    return sizes[s] == 1 ? b.constant(0) : getSymbolExpr(b.ctx, layoutSourceName(s));
  }
  /// Digit `extent` of a source whose faster digits count `step` values.
  ExprAttr digit(int s, int64_t step, int64_t extent) {
    ExprAttr q = b.floordiv(source(s), step);
    return sizes[s] && sizes[s] <= step * extent ? q : b.mod(q, extent);
  }
  ExprAttr part(int dim, int first, int last) {
    ExprAttr sum = b.constant(0);
    for (int s = first; s <= last; ++s) {
      int64_t step = 1;
      for (const LayoutDigit &d : map.digits[s]) {
        if (d.dim == dim && d.extent > 1)
          sum = b.add(sum, b.times(digit(s, step, d.extent), d.stride));
        step *= d.extent;
      }
    }
    return sum;
  }
};
} // namespace

ExprAttr wave::layoutCoordinate(MLIRContext *ctx, const LayoutMap &map, int dim, int64_t reg,
                                const LayoutSizes &sizes) {
  Places p(ctx, map, reg, sizes);
  // Waves first: the uniform part of an address reads best in front.
  return p.b.add(p.part(dim, WaveX, WaveZ), p.b.add(p.part(dim, Lane, Lane), p.part(dim, Reg, Reg)));
}

ExprAttr wave::layoutExists(MLIRContext *ctx, const LayoutMap &map, int64_t reg, const LayoutSizes &sizes) {
  Places p(ctx, map, reg, sizes);
  ExprAttr all = p.b.constant(1);
  for (int d = 0, n = map.dims.size(); d < n; ++d) {
    if (clips(map, d))
      all = p.b.conjoin(all, p.b.less(p.b.add(p.part(d, Lane, Lane), p.part(d, Reg, Reg)), map.clip[d]));
    if (overshoots(map, d))
      all = p.b.conjoin(all, p.b.less(layoutCoordinate(ctx, map, d, reg, sizes), map.extents[d]));
  }
  return all;
}

ExprAttr wave::layoutOwner(MLIRContext *ctx, const LayoutMap &map, int64_t reg, const LayoutSizes &sizes) {
  Places p(ctx, map, reg, sizes);
  ExprAttr all = p.b.constant(1);
  for (int s = 0; s < kLayoutSources; ++s) {
    int64_t step = 1;
    for (size_t i = 0; i < map.digits[s].size(); ++i) {
      const LayoutDigit &d = map.digits[s][i];
      if (d.dim < 0 && d.extent > 1)
        all = p.b.conjoin(all, p.b.isZero(p.digit(s, step, d.extent)));
      step *= d.extent;
    }
    if (p.sizes[s] == 0 || p.sizes[s] > step) // values beyond the digits wrap around
      all = p.b.conjoin(all, step == 1 ? p.b.isZero(p.source(s)) : p.b.less(p.source(s), step));
  }
  return all;
}

ExprAttr wave::layoutInverse(MLIRContext *ctx, const LayoutMap &map, int source, ArrayRef<ExprAttr> coordinates) {
  ExprBuilder b{ctx};
  ExprAttr sum = b.constant(0);
  for (int d = 0, n = map.dims.size(); d < n; ++d) {
    if (!dividesOut(map, d))
      return {};
    // The rest of the coordinate is base mod modulus (no mod while modulus is 0) and below bound.
    ExprAttr base = coordinates[d];
    int64_t modulus = 0, bound = map.extents[d];
    for (const PlacedDigit &p : digitsOf(map, d)) {
      int64_t stride = p.digit.stride;
      if (bound <= stride)
        continue; // the digit is always 0
      if (modulus % stride) {
        base = b.mod(base, modulus);
        modulus = 0;
      }
      if (p.source == source) {
        ExprAttr q = b.floordiv(base, stride);
        sum = b.add(sum, b.times(modulus ? b.mod(q, modulus / stride) : q, p.step));
      }
      modulus = bound = stride;
    }
  }
  return sum;
}

ExprAttr wave::fitLaneTable(MLIRContext *ctx, ArrayRef<int64_t> table) {
  int64_t n = table.size(), first = 0;
  while (first < n && table[first] < 0)
    ++first;
  ExprBuilder b{ctx};
  if (first == n)
    return b.constant(0);
  // table = base + sum of weight[i] over the set bits; each weight from the first lane that settles it
  std::vector<int64_t> weight(64, 0);
  std::vector<char> known(64, 0);
  int64_t base = table[first];
  auto predict = [&](int64_t lane) {
    int64_t v = base;
    for (int i = 0; (int64_t(1) << i) < n; ++i)
      v += weight[i] * (((lane >> i) & 1) - ((first >> i) & 1));
    return v;
  };
  for (int64_t lane = first + 1; lane < n; ++lane) {
    if (table[lane] < 0)
      continue;
    int open = -1, count = 0;
    for (int i = 0; (int64_t(1) << i) < n; ++i)
      if (!known[i] && (((lane ^ first) >> i) & 1))
        open = i, ++count;
    if (count != 1)
      continue;
    int64_t difference = table[lane] - predict(lane);
    weight[open] = (lane >> open) & 1 ? difference : -difference;
    known[open] = 1;
  }
  for (int64_t lane = 0; lane < n; ++lane)
    if (table[lane] >= 0 && predict(lane) != table[lane])
      return {};
  ExprAttr lane = getSymbolExpr(ctx, "lane"), sum = b.constant(predict(0));
  for (int i = 0; (int64_t(1) << i) < n;) {
    int j = i + 1; // adjacent bits whose weights double are one digit
    while ((int64_t(1) << j) < n && weight[j] == weight[j - 1] * 2)
      ++j;
    if (weight[i]) {
      ExprAttr digit = b.floordiv(lane, int64_t(1) << i);
      if ((int64_t(1) << j) < n)
        digit = b.mod(digit, int64_t(1) << (j - i));
      sum = b.add(sum, b.times(digit, weight[i]));
    }
    i = j;
  }
  return sum;
}

ExprAttr wave::ldsOffset(MLIRContext *ctx, const LdsMap &map, ArrayRef<ExprAttr> coordinates) {
  ExprBuilder b{ctx};
  size_t n = map.shape.size();
  ExprAttr row = b.constant(0), column = n ? coordinates[n - 1] : b.constant(0);
  for (size_t d = 0; d + 1 < n; ++d)
    row = b.add(b.times(row, map.shape[d]), coordinates[d]);
  if (map.phases != 1) {
    ExprAttr key = b.mod(b.floordiv(row, map.rows), map.phases);
    // chunk is a power of two, so the whole column can be XORed: one instruction
    column = getExpr(ExprKind::Xor, {column, b.times(key, map.chunk)});
  }
  ExprAttr linear = n ? b.add(b.times(row, map.shape[n - 1]), column) : column;
  if (!map.interval)
    return linear;
  return b.add(linear, b.times(b.floordiv(linear, map.interval), map.pad));
}
