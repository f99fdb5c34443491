//===- ExprProgram.cpp - evaluation over arrays of points ----------------------===//
#include "wave/ExprProgram.h"
#include "ExprDetail.h"
using namespace mlir;
using namespace wave;
using namespace wave::detail;

static constexpr size_t blockSize = 512; // points: the values of a program stay in the L1/L2 caches

ExprProgram::ExprProgram(ArrayRef<ExprAttr> roots, ArrayRef<ExprAttr> symbols) {
  llvm::DenseMap<Attribute, uint32_t> done;
  for (ExprAttr e : roots)
    results.push_back(emit(e, done, symbols));
}

uint32_t ExprProgram::emit(ExprAttr e, llvm::DenseMap<Attribute, uint32_t> &done, ArrayRef<ExprAttr> symbols) {
  if (auto it = done.find(e); it != done.end())
    return it->second;
  ExprKind kind = e.getKind();
  SmallVector<uint32_t, 6> ops;
  for (Attribute a : e.getOperands())
    ops.push_back(emit(cast<ExprAttr>(a), done, symbols));
  auto push = [&](Instruction i) { return code.push_back(i), uint32_t(code.size() - 1); };
  uint32_t r;
  if (kind == ExprKind::Constant)
    r = push({kind, 0, 0, 0, e.getValue()});
  else if (kind == ExprKind::Symbol)
    r = push({kind, uint32_t(llvm::find(symbols, e) - symbols.begin()), 0, 0, 0});
  else if (kind == ExprKind::Select)
    r = push({kind, ops[0], ops[1], ops[2], 0});
  else {
    r = ops[0];
    for (uint32_t o : ArrayRef<uint32_t>(ops).drop_front())
      r = push({kind, r, o, 0, 0});
  }
  return done[e] = r;
}

/// The values (and, where a point has none, errors) of all instructions for one block of points.
struct ExprProgram::Block {
  SmallVector<SmallVector<int64_t, 0>, 0> storage;
  SmallVector<const int64_t *, 0> values; // into storage, or an input where it is
  SmallVector<SmallVector<uint8_t, 0>, 0> errors; // empty: no error
  ArrayRef<const int64_t *> inputs;
  ArrayRef<bool> uniform;
  size_t start;
};

/// Computes out[i] = op(a[i], b[i]); op returns true on an error. The flags are or-ed, so the loop has no branch.
template <typename Op>
static bool apply(const int64_t *a, const int64_t *b, int64_t *out, size_t n, Op op) {
  bool bad = false;
  for (size_t i = 0; i < n; ++i)
    bad |= op(a[i], b[i], out[i]);
  return bad;
}
/// Division by a positive power of two, most divisions of addresses: shifts and masks round as floor does.
static bool divideByPower(ExprKind kind, const int64_t *a, int64_t c, int64_t *out, size_t n) {
  if (c <= 0 || (c & (c - 1)) != 0 || (kind != ExprKind::FloorDiv && kind != ExprKind::Mod))
    return false;
  int shift = __builtin_ctzll(uint64_t(c));
  if (kind == ExprKind::FloorDiv)
    for (size_t i = 0; i < n; ++i)
      out[i] = a[i] >> shift;
  else
    for (size_t i = 0; i < n; ++i)
      out[i] = a[i] & (c - 1);
  return true;
}
/// Sums without a branch or a flag register, so that the loop is vectorised.
static bool addAll(const int64_t *a, const int64_t *b, int64_t *out, size_t n) {
  uint64_t bad = 0;
  for (size_t i = 0; i < n; ++i) {
    uint64_t x = uint64_t(a[i]), y = uint64_t(b[i]), r = x + y;
    out[i] = int64_t(r);
    bad |= (x ^ r) & (y ^ r);
  }
  return bad >> 63;
}
static bool binary(ExprKind kind, const int64_t *a, const int64_t *b, int64_t *out, size_t n) {
  auto divide = [](int64_t x, int64_t y, int64_t &r, bool ceil) {
    bool bad = y == 0 || (x == INT64_MIN && y == -1);
    int64_t d = bad ? 1 : y;
    r = floorDiv(x, d) + (ceil && x % d != 0);
    return bad;
  };
  switch (kind) {
  case ExprKind::Add: return addAll(a, b, out, n);
  case ExprKind::Mul: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { return mulOverflow(x, y, r); });
  case ExprKind::FloorDiv:
    return apply(a, b, out, n, [&](int64_t x, int64_t y, int64_t &r) { return divide(x, y, r, false); });
  case ExprKind::CeilDiv:
    return apply(a, b, out, n, [&](int64_t x, int64_t y, int64_t &r) { return divide(x, y, r, true); });
  case ExprKind::Mod:
    return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) {
      r = floorMod(x, y == 0 ? 1 : y);
      return y == 0;
    });
  case ExprKind::Min: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = std::min(x, y); return false; });
  case ExprKind::Max: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = std::max(x, y); return false; });
  case ExprKind::Xor: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = x ^ y; return false; });
  case ExprKind::Eq: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = x == y; return false; });
  case ExprKind::Ne: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = x != y; return false; });
  case ExprKind::Lt: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = x < y; return false; });
  case ExprKind::Le: return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = x <= y; return false; });
  case ExprKind::And:
    return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = (x != 0) & (y != 0); return false; });
  case ExprKind::Or:
    return apply(a, b, out, n, [](int64_t x, int64_t y, int64_t &r) { r = (x != 0) | (y != 0); return false; });
  default: return false;
  }
}
/// Which error a failed point of `binary` has.
static EvalError errorOf(ExprKind kind, int64_t a, int64_t b) {
  int64_t r;
  switch (kind) {
  case ExprKind::Add: return addOverflow(a, b, r) ? EvalError::Overflow : EvalError::None;
  case ExprKind::Mul: return mulOverflow(a, b, r) ? EvalError::Overflow : EvalError::None;
  case ExprKind::FloorDiv: case ExprKind::CeilDiv:
    return b == 0 ? EvalError::DivisionByZero : a == INT64_MIN && b == -1 ? EvalError::Overflow : EvalError::None;
  case ExprKind::Mod: return b == 0 ? EvalError::DivisionByZero : EvalError::None;
  default: return EvalError::None;
  }
}

void ExprProgram::step(const Instruction &inst, size_t index, size_t n, Block &block) const {
  auto &err = block.errors[index];
  err.clear();
  bool uniform = inst.kind == ExprKind::Symbol && inst.a < block.uniform.size() && block.uniform[inst.a];
  if (inst.kind == ExprKind::Symbol && !uniform) {
    block.values[index] = block.inputs[inst.a] + block.start;
    return;
  }
  int64_t *out = block.storage[index].data();
  if (inst.kind == ExprKind::Constant || uniform) {
    if (block.start == 0)
      std::fill_n(out, n, uniform ? *block.inputs[inst.a] : inst.constant);
    return;
  }
  const int64_t *a = block.values[inst.a], *b = block.values[inst.b];
  auto &ea = block.errors[inst.a], &eb = block.errors[inst.b];
  auto at = [](auto &errors, size_t i) { return errors.empty() ? uint8_t(0) : errors[i]; };
  if (inst.kind == ExprKind::Select) {
    const int64_t *c = block.values[inst.c];
    auto &ec = block.errors[inst.c];
    for (size_t i = 0; i < n; ++i)
      out[i] = a[i] ? b[i] : c[i];
    if (ea.empty() && eb.empty() && ec.empty())
      return;
    err.resize(n);
    for (size_t i = 0; i < n; ++i)
      err[i] = at(ea, i) ? at(ea, i) : a[i] ? at(eb, i) : at(ec, i);
    return;
  }
  const Instruction &rhs = code[inst.b];
  bool bad = !(rhs.kind == ExprKind::Constant && divideByPower(inst.kind, a, rhs.constant, out, n)) &&
             binary(inst.kind, a, b, out, n);
  if (!bad && ea.empty() && eb.empty())
    return;
  err.resize(n);
  bool isAnd = inst.kind == ExprKind::And, connective = isAnd || inst.kind == ExprKind::Or;
  for (size_t i = 0; i < n; ++i) {
    uint8_t x = at(ea, i), y = at(eb, i);
    err[i] = x ? x : y ? y : uint8_t(errorOf(inst.kind, a[i], b[i]));
    // an operand with a value that decides the result makes the other irrelevant
    if (connective && ((!x && (a[i] != 0) != isAnd) || (!y && (b[i] != 0) != isAnd))) {
      err[i] = 0;
      out[i] = !isAnd;
    }
  }
}

EvalError ExprProgram::run(ArrayRef<const int64_t *> inputs, size_t n, ArrayRef<int64_t *> outputs,
                           uint8_t *errors, ArrayRef<bool> uniform) const {
  size_t width = std::min(n, blockSize);
  Block block;
  block.inputs = inputs;
  block.uniform = uniform;
  block.storage.resize(code.size());
  block.errors.resize(code.size());
  for (auto [inst, v] : llvm::zip(code, block.storage)) {
    bool direct = inst.kind == ExprKind::Symbol && !(inst.a < uniform.size() && uniform[inst.a]);
    v.resize_for_overwrite(direct ? 0 : width);
    block.values.push_back(v.data());
  }
  for (size_t start = 0; start < n; start += width) {
    size_t count = std::min(width, n - start);
    block.start = start;
    for (auto [i, inst] : llvm::enumerate(code))
      step(inst, i, count, block);
    if (errors)
      std::fill_n(errors + start, count, 0);
    for (auto [j, r] : llvm::enumerate(results)) {
      std::copy_n(block.values[r], count, outputs[j] + start);
      for (size_t i = 0; i < block.errors[r].size(); ++i) {
        if (!block.errors[r][i])
          continue;
        if (!errors)
          return EvalError(block.errors[r][i]);
        errors[start + i] = block.errors[r][i];
      }
    }
  }
  return EvalError::None;
}
