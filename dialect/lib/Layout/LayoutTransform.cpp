//===- LayoutTransform.cpp - layouts from layouts ---------------------------------===//
#include "wave/LayoutMap.h"
#include <algorithm>
using namespace wave;

static LayoutResult fail(std::string error) { return {{}, std::move(error)}; }
static std::string unknown(const std::string &dim) { return "the layout has no dim " + dim; }
static LayoutResult done(const LayoutMap &map) {
  LayoutMap canonical = canonicalLayout(map);
  std::string error = verifyLayout(canonical);
  return {std::move(canonical), std::move(error)};
}
template <typename Fn>
static void eachDigit(LayoutMap &map, Fn fn) {
  for (int s = 0; s < kLayoutSources; ++s)
    for (LayoutDigit &d : map.digits[s])
      fn(s, d);
}

LayoutResult wave::renameDims(const LayoutMap &map, const std::vector<std::string> &names) {
  if (names.size() != map.dims.size())
    return fail("one name a dim is needed");
  LayoutMap r = map;
  r.dims = names;
  return done(r);
}

LayoutResult wave::permuteDims(const LayoutMap &map, const std::vector<std::string> &order) {
  if (order.size() != map.dims.size())
    return fail("a permutation names each dim once");
  LayoutMap r = map;
  std::vector<int> to(order.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    int d = map.dimOf(order[i]);
    if (d < 0 || to[d] >= 0)
      return fail(d < 0 ? unknown(order[i]) : "a permutation names each dim once");
    to[d] = int(i);
    r.dims[i] = order[i];
    r.extents[i] = map.extents[d];
    r.clip[i] = map.clip[d];
  }
  eachDigit(r, [&](int, LayoutDigit &d) { d.dim = d.dim < 0 ? -1 : to[d.dim]; });
  return done(r);
}

/// `map` without dim d, none of whose digits is left.
static void eraseDim(LayoutMap &map, int d) {
  map.dims.erase(map.dims.begin() + d);
  map.extents.erase(map.extents.begin() + d);
  map.clip.erase(map.clip.begin() + d);
  eachDigit(map, [&](int, LayoutDigit &digit) { digit.dim -= digit.dim > d; });
}

LayoutResult wave::dropDim(const LayoutMap &map, const std::string &dim) {
  int d = map.dimOf(dim);
  if (d < 0)
    return fail(unknown(dim));
  LayoutMap r = map;
  auto moves = [&](const LayoutDigit &digit) { return digit.dim == d; };
  r.digits[Reg].erase(std::remove_if(r.digits[Reg].begin(), r.digits[Reg].end(), moves), r.digits[Reg].end());
  eachDigit(r, [&](int, LayoutDigit &digit) {
    if (digit.dim == d)
      digit = {digit.extent, -1, 0};
  });
  eraseDim(r, d);
  return done(r);
}

LayoutResult wave::insertDim(const LayoutMap &map, const std::string &dim, int64_t position) {
  if (map.dimOf(dim) >= 0)
    return fail("the layout has a dim " + dim + " already");
  if (position < 0 || position > int64_t(map.dims.size()))
    return fail("there is no position " + std::to_string(position) + " among the dims");
  LayoutMap r = map;
  r.dims.insert(r.dims.begin() + position, dim);
  r.extents.insert(r.extents.begin() + position, 1);
  r.clip.insert(r.clip.begin() + position, -1);
  eachDigit(r, [&](int, LayoutDigit &d) { d.dim += d.dim >= position; });
  return done(r);
}

LayoutResult wave::expandDim(const LayoutMap &map, const std::string &dim, int64_t count, int source, int64_t stride) {
  int d = map.dimOf(dim);
  if (d < 0)
    return fail(unknown(dim));
  if (count <= 0)
    return fail("the number of copies must be positive");
  LayoutMap r = map;
  int64_t extent = map.extents[d];
  if (!stride)
    stride = extent;
  if (stride < extent)
    return fail("copies of a tile of " + std::to_string(extent) + " cannot lie " + std::to_string(stride) + " apart");
  if (source <= Lane && (overshoots(map, d) || clips(map, d)))
    return fail("digits of " + dim + " reach beyond the tile; only waves can repeat it");
  if (overshoots(map, d)) {
    if (map.maxPart(WaveX, WaveZ, d))
      return fail("waves already reach beyond the tile along " + dim + "; nothing can repeat it");
    r.clip[d] = map.clip[d] < 0 ? extent : std::min(map.clip[d], extent);
  }
  r.digits[source].push_back({count, d, stride});
  r.extents[d] = stride * (count - 1) + extent;
  return done(r);
}

LayoutResult wave::splitDim(const LayoutMap &map, const std::string &dim, const std::string &outer,
                            const std::string &inner, int64_t n) {
  int d = map.dimOf(dim);
  if (d < 0)
    return fail(unknown(dim));
  if (n <= 0 || map.extents[d] % n)
    return fail("an inner extent of " + std::to_string(n) + " does not divide " + std::to_string(map.extents[d]));
  if (map.clip[d] >= 0 && map.clip[d] % n)
    return fail("the clip of " + dim + " is not a multiple of " + std::to_string(n));
  LayoutMap r = map; // dim d becomes outer, d + 1 inner
  r.dims[d] = outer;
  r.dims.insert(r.dims.begin() + d + 1, inner);
  r.extents[d] /= n;
  r.extents.insert(r.extents.begin() + d + 1, n);
  if (r.clip[d] >= 0)
    r.clip[d] /= n;
  r.clip.insert(r.clip.begin() + d + 1, -1);
  for (std::vector<LayoutDigit> &digits : r.digits) {
    std::vector<LayoutDigit> out;
    for (LayoutDigit digit : digits) {
      if (digit.dim != d) {
        digit.dim += digit.dim > d;
        out.push_back(digit);
      } else if (digit.stride % n == 0) {
        out.push_back({digit.extent, d, digit.stride / n});
      } else if (digit.stride * digit.extent <= n) {
        out.push_back({digit.extent, d + 1, digit.stride});
      } else if (n % digit.stride == 0 && digit.extent % (n / digit.stride) == 0) {
        out.push_back({n / digit.stride, d + 1, digit.stride});
        out.push_back({digit.extent / (n / digit.stride), d, 1});
      } else {
        return fail("the digit " + std::to_string(digit.extent) + " : " + dim + " * " +
                    std::to_string(digit.stride) + " does not split at " + std::to_string(n));
      }
    }
    digits = std::move(out);
  }
  if (r.maxPart(Reg, WaveZ, d + 1) >= n)
    return fail("digits of " + dim + " carry across a multiple of " + std::to_string(n));
  return done(r);
}

LayoutResult wave::mergeDims(const LayoutMap &map, const std::string &outer, const std::string &inner,
                             const std::string &name) {
  int a = map.dimOf(outer), b = map.dimOf(inner);
  if (a < 0 || b < 0 || a == b)
    return fail(a < 0 ? unknown(outer) : b < 0 ? unknown(inner) : "merging needs two dims");
  if (overshoots(map, b) || clips(map, b))
    return fail("digits of " + inner + " reach beyond the tile; it cannot be the inner part of another dim");
  LayoutMap r = map;
  int64_t n = map.extents[b];
  eachDigit(r, [&](int, LayoutDigit &d) {
    if (d.dim == a)
      d.stride *= n;
    else if (d.dim == b)
      d.dim = a;
  });
  if (r.clip[a] >= 0)
    r.clip[a] *= n;
  r.extents[a] *= n;
  r.dims[a] = name;
  eraseDim(r, b);
  return done(r);
}

LayoutResult wave::sliceDim(const LayoutMap &map, const std::string &dim, int64_t start, int64_t extent,
                            std::vector<int64_t> &registers) {
  int d = map.dimOf(dim);
  if (d < 0)
    return fail(unknown(dim));
  if (start < 0 || extent <= 0 || start + extent > map.extents[d])
    return fail("the slice leaves the tile of " + std::to_string(map.extents[d]) + " along " + dim);
  // The register digits that make up `start`, greatest stride first.
  std::vector<int64_t> value(map.digits[Reg].size(), 0);
  std::vector<size_t> order;
  for (size_t i = 0; i < value.size(); ++i)
    if (map.digits[Reg][i].dim == d)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    return map.digits[Reg][x].stride > map.digits[Reg][y].stride;
  });
  int64_t rest = start;
  for (size_t i : order) {
    const LayoutDigit &digit = map.digits[Reg][i];
    value[i] = std::min(rest / digit.stride, digit.extent - 1);
    rest -= value[i] * digit.stride;
  }
  if (rest)
    return fail("element " + std::to_string(start) + " of " + dim +
                " is not the first of a register; a slice starts at one");
  LayoutMap r = map;
  r.extents[d] = extent;
  if (r.clip[d] >= 0 && (r.clip[d] -= start) <= 0)
    return fail("the slice lies beyond the clip of " + dim);
  registers = {0};
  int64_t step = 1;
  for (size_t i = 0; i < value.size(); ++i) {
    LayoutDigit &digit = r.digits[Reg][i];
    int64_t whole = digit.extent;
    if (digit.dim == d)
      digit.extent = std::min(whole - value[i], (extent + digit.stride - 1) / digit.stride);
    size_t n = registers.size();
    for (int64_t k = 0; k < digit.extent; ++k)
      for (size_t j = 0; j < n; ++j) {
        int64_t at = registers[j] + (k + value[i]) * step;
        if (k)
          registers.push_back(at);
      }
    for (size_t j = 0; j < n; ++j)
      registers[j] += value[i] * step;
    step *= whole;
  }
  LayoutResult result = done(r);
  if (!result.error.empty())
    result.error = "the slice of " + dim + " does not have the shape of a layout: " + result.error;
  return result;
}
