//===- LayoutMap.cpp - places, coordinates, canonical form, verification --------===//
#include "wave/LayoutMap.h"
#include <algorithm>
using namespace wave;

static constexpr const char *sourceNames[kLayoutSources] = {"reg", "lane", "wave.x", "wave.y", "wave.z"};
// Bounds that keep all products of sizes within 64 bits and enumerations short.
static constexpr int64_t kMaxExtent = int64_t(1) << 24, kMaxSource = int64_t(1) << 16, kMaxElements = int64_t(1) << 40;

const char *wave::layoutSourceName(int source) { return sourceNames[source]; }
int wave::layoutSourceOf(std::string_view name) {
  for (int s = 0; s < kLayoutSources; ++s)
    if (name == sourceNames[s])
      return s;
  return -1;
}

int LayoutMap::dimOf(std::string_view name) const {
  auto it = std::find(dims.begin(), dims.end(), name);
  return it == dims.end() ? -1 : int(it - dims.begin());
}
int64_t LayoutMap::size(int source) const {
  int64_t n = 1;
  for (const LayoutDigit &d : digits[source])
    n *= d.extent;
  return n;
}
int64_t LayoutMap::elements() const {
  int64_t n = 1;
  for (int64_t e : extents)
    n *= e;
  return n;
}
int64_t LayoutMap::part(int source, int64_t index, int dim) const {
  int64_t sum = 0;
  for (const LayoutDigit &d : digits[source]) {
    if (d.dim == dim)
      sum += index % d.extent * d.stride;
    index /= d.extent;
  }
  return sum;
}
int64_t LayoutMap::maxPart(int first, int last, int dim) const {
  int64_t sum = 0;
  for (int s = first; s <= last; ++s)
    for (const LayoutDigit &d : digits[s])
      if (d.dim == dim)
        sum += (d.extent - 1) * d.stride;
  return sum;
}
LayoutSizes LayoutMap::complete(const LayoutSizes &sizes) const {
  LayoutSizes r = sizes;
  r[Reg] = size(Reg);
  for (int s = Lane; s < kLayoutSources; ++s)
    if (!r[s])
      r[s] = size(s);
  return r;
}

bool wave::overshoots(const LayoutMap &m, int dim) {
  int64_t inner = m.maxPart(Reg, Lane, dim), outer = m.maxPart(WaveX, WaveZ, dim);
  if (m.clip[dim] >= 0)
    inner = std::min(inner, m.clip[dim] - 1);
  return inner + outer >= m.extents[dim];
}
bool wave::clips(const LayoutMap &m, int dim) {
  return m.clip[dim] >= 0 && m.maxPart(Reg, Lane, dim) >= m.clip[dim];
}

std::vector<PlacedDigit> wave::digitsOf(const LayoutMap &m, int dim) {
  std::vector<PlacedDigit> r;
  for (int s = kLayoutSources - 1; s >= 0; --s) {
    int64_t step = 1, limit = m.extents[dim];
    if (s <= Lane && m.clip[dim] >= 0)
      limit = std::min(limit, m.clip[dim]);
    for (const LayoutDigit &d : m.digits[s]) {
      if (d.dim == dim && d.extent > 1 && d.stride < limit)
        r.push_back({s, step, d});
      step *= d.extent;
    }
  }
  std::stable_sort(r.begin(), r.end(),
                   [](const PlacedDigit &a, const PlacedDigit &b) { return a.digit.stride > b.digit.stride; });
  return r;
}

bool wave::dividesOut(const LayoutMap &m, int dim) {
  std::vector<PlacedDigit> digits = digitsOf(m, dim);
  for (int64_t c = 0; c < m.extents[dim]; ++c) {
    int64_t rest = c, inner = 0;
    for (const PlacedDigit &p : digits) {
      int64_t q = rest / p.digit.stride;
      if (q >= p.digit.extent)
        return false;
      rest -= q * p.digit.stride;
      if (p.source <= Lane)
        inner += q * p.digit.stride;
    }
    if (rest || (m.clip[dim] >= 0 && inner >= m.clip[dim]))
      return false;
  }
  return true;
}

//===- verification ------------------------------------------------------------------===//

/// All values of the sum of the digits of `dim` in the sources [first, last] below `limit`.
static std::vector<int64_t> sums(const LayoutMap &m, int first, int last, int dim, int64_t limit) {
  std::vector<int64_t> r{0};
  for (int s = first; s <= last; ++s)
    for (const LayoutDigit &d : m.digits[s]) {
      if (d.dim != dim)
        continue;
      size_t n = r.size();
      for (int64_t k = 1; k < d.extent && k * d.stride < limit; ++k)
        for (size_t i = 0; i < n; ++i)
          if (r[i] + k * d.stride < limit)
            r.push_back(r[i] + k * d.stride);
    }
  return r;
}

/// Mixed radix without gaps and clip: covers [0, product) once.
static bool isGapless(const LayoutMap &m, int dim) {
  if (m.clip[dim] >= 0)
    return false;
  std::vector<PlacedDigit> digits = digitsOf(m, dim);
  int64_t expected = 1;
  for (auto p = digits.rbegin(); p != digits.rend(); ++p) {
    if (p->digit.stride != expected)
      return false;
    expected *= p->digit.extent;
  }
  return expected >= m.extents[dim];
}

static std::string verifyCover(const LayoutMap &m, int dim) {
  if (isGapless(m, dim))
    return "";
  int64_t extent = m.extents[dim];
  std::vector<char> owned(extent, 0);
  int64_t limit = m.clip[dim] >= 0 ? std::min(m.clip[dim], extent) : extent;
  std::vector<int64_t> inner = sums(m, Reg, Lane, dim, limit);
  for (int64_t outer : sums(m, WaveX, WaveZ, dim, extent))
    for (int64_t i : inner) {
      if (outer + i >= extent)
        continue;
      if (owned[outer + i]++)
        return "two places hold the element at " + m.dims[dim] + " = " + std::to_string(outer + i) +
               "; only '_' digits may replicate";
    }
  auto hole = std::find(owned.begin(), owned.end(), 0);
  if (hole != owned.end())
    return "no place holds the element at " + m.dims[dim] + " = " + std::to_string(hole - owned.begin()) +
           " of a tile of " + std::to_string(extent) + "; the digits of a dim must reach its whole extent";
  return "";
}

static std::string verifyDigits(const LayoutMap &m) {
  std::vector<int64_t> reach(m.dims.size(), 1);
  for (int s = 0; s < kLayoutSources; ++s) {
    int64_t size = 1;
    for (const LayoutDigit &d : m.digits[s]) {
      std::string where = std::string("a digit of ") + sourceNames[s];
      if (d.extent <= 0)
        return where + " has extent " + std::to_string(d.extent) + "; it must be positive";
      if (d.dim < -1 || d.dim >= int(m.dims.size()))
        return where + " moves a dim that the tile does not have";
      if (d.dim >= 0 && (d.stride <= 0 || d.stride > kMaxExtent))
        return where + " moves " + m.dims[d.dim] + " by " + std::to_string(d.stride) +
               "; a stride is at least 1 and at most " + std::to_string(kMaxExtent) + " ('_' moves nothing)";
      if (d.extent > kMaxSource || (size *= d.extent) > kMaxSource)
        return std::string("the digits of ") + sourceNames[s] + " count over " + std::to_string(kMaxSource) + " values";
      if (d.dim >= 0 && (reach[d.dim] *= d.extent) > kMaxExtent)
        return "the digits of " + m.dims[d.dim] + " count over " + std::to_string(kMaxExtent) + " places";
    }
  }
  return "";
}

std::string wave::verifyLayout(const LayoutMap &m) {
  if (m.extents.size() != m.dims.size() || m.clip.size() != m.dims.size())
    return "one extent and one clip a dim are needed";
  int64_t elements = 1;
  for (size_t d = 0; d < m.dims.size(); ++d) {
    if (m.dimOf(m.dims[d]) != int(d))
      return "dim " + m.dims[d] + " is listed twice";
    if (m.extents[d] <= 0)
      return "the extent of " + m.dims[d] + " is " + std::to_string(m.extents[d]) + "; it must be positive";
    if (m.extents[d] > kMaxExtent || (elements *= m.extents[d]) > kMaxElements)
      return "the tile is too large: an extent is at most 2^24, a tile at most 2^40 elements";
    if (m.clip[d] == 0 || m.clip[d] < -1)
      return "the clip of " + m.dims[d] + " is " + std::to_string(m.clip[d]) + "; it must be positive";
  }
  std::string error = verifyDigits(m);
  for (size_t d = 0; d < m.dims.size() && error.empty(); ++d)
    error = verifyCover(m, int(d));
  return error;
}

//===- canonical form and equality -----------------------------------------------------===//

LayoutMap wave::canonicalLayout(const LayoutMap &m) {
  LayoutMap r = m;
  for (int s = 0; s < kLayoutSources; ++s) {
    std::vector<LayoutDigit> out;
    for (LayoutDigit d : m.digits[s]) {
      if (d.dim < 0)
        d.stride = 0;
      if (d.extent == 1)
        continue;
      if (!out.empty() && out.back().dim == d.dim && out.back().stride * out.back().extent == d.stride)
        out.back().extent *= d.extent;
      else
        out.push_back(d);
    }
    if (s != Reg && !out.empty() && out.back().dim < 0)
      out.pop_back();
    r.digits[s] = std::move(out);
  }
  for (size_t d = 0; d < r.dims.size(); ++d)
    if (r.clip[d] >= 0 && (!clips(r, d) || (r.clip[d] >= r.extents[d] && !r.maxPart(WaveX, WaveZ, d))))
      r.clip[d] = -1;
  return r;
}

bool wave::sameLayout(const LayoutMap &a, const LayoutMap &b) {
  if (a == b)
    return true;
  if (a.dims != b.dims || a.extents != b.extents)
    return false;
  LayoutMap x = canonicalLayout(a), y = canonicalLayout(b);
  if (x == y)
    return true;
  bool beyond = false;
  for (size_t d = 0; d < x.dims.size(); ++d)
    beyond |= overshoots(x, d) || clips(x, d) || overshoots(y, d) || clips(y, d);
  if (!beyond || x.size(Reg) != y.size(Reg))
    return false;
  LayoutSizes sizes{};
  for (int s = Lane; s < kLayoutSources; ++s) { // a common period of both
    int64_t p = x.size(s), q = y.size(s), g = p;
    for (int64_t h = q; h;) {
      int64_t t = g % h;
      g = h;
      h = t;
    }
    sizes[s] = p / g * q;
  }
  return layoutTable(x, sizes) == layoutTable(y, sizes);
}

std::vector<int64_t> wave::layoutTable(const LayoutMap &m, const LayoutSizes &given) {
  LayoutSizes n = m.complete(given);
  int64_t waves = n[WaveX] * n[WaveY] * n[WaveZ], lanes = n[Lane], regs = n[Reg];
  std::vector<int64_t> table(waves * lanes * regs, 0);
  std::vector<int64_t> inner(lanes * regs), outer(waves);
  for (size_t d = 0; d < m.dims.size(); ++d) {
    int64_t limit = m.clip[d] >= 0 ? m.clip[d] : kMaxElements, extent = m.extents[d];
    for (int64_t l = 0; l < lanes; ++l)
      for (int64_t r = 0, lanePart = m.part(Lane, l, d); r < regs; ++r)
        inner[l * regs + r] = l ? lanePart + inner[r] : m.part(Reg, r, d);
    for (int64_t w = 0; w < waves; ++w)
      outer[w] = m.part(WaveX, w % n[WaveX], d) + m.part(WaveY, w / n[WaveX] % n[WaveY], d) +
                 m.part(WaveZ, w / n[WaveX] / n[WaveY], d);
    for (int64_t w = 0, at = 0; w < waves; ++w)
      for (int64_t i = 0; i < lanes * regs; ++i, ++at) {
        int64_t c = inner[i] + outer[w];
        bool exists = inner[i] < limit && c < extent && table[at] >= 0;
        table[at] = exists ? table[at] * extent + c : -1;
      }
  }
  return table;
}
