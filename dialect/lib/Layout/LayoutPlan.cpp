//===- LayoutPlan.cpp - accesses and conversions ------------------------------------===//
#include "wave/LayoutMap.h"
#include <algorithm>
#include <tuple>
using namespace wave;

std::vector<RegisterRun> wave::registerRuns(const LayoutMap &map, const std::vector<int64_t> &strides) {
  std::vector<RegisterRun> runs;
  int64_t previous = 0;
  for (int64_t r = 0, n = map.size(Reg); r < n; ++r) {
    int64_t offset = 0;
    for (size_t d = 0; d < strides.size(); ++d)
      offset += map.part(Reg, r, int(d)) * strides[d];
    if (!runs.empty() && offset == previous + 1)
      ++runs.back().length;
    else
      runs.push_back({r, 1});
    previous = offset;
  }
  return runs;
}

int64_t wave::widestAccess(const LayoutMap &map, int dim) {
  LayoutMap m = canonicalLayout(map);
  if (m.digits[Reg].empty() || m.digits[Reg][0].dim != dim || m.digits[Reg][0].stride != 1)
    return 1;
  int64_t extent = m.digits[Reg][0].extent;
  auto fits = [&](int64_t w) {
    if ((overshoots(m, dim) && m.extents[dim] % w) || (clips(m, dim) && m.clip[dim] % w))
      return false;
    for (int s = 0; s < kLayoutSources; ++s)
      for (size_t i = s == Reg; i < m.digits[s].size(); ++i)
        if (m.digits[s][i].dim == dim && m.digits[s][i].stride % w)
          return false;
    return true;
  };
  for (int64_t w = extent; w > 1; --w)
    if (extent % w == 0 && fits(w))
      return w;
  return 1;
}

//===- conversion ------------------------------------------------------------------------===//
namespace {
struct Place {
  int64_t reg, lane;
};

/// Places of the source by element, for one wave: a counting sort of its table.
class Owners {
public:
  Owners(const int64_t *table, int64_t lanes, int64_t regs, int64_t elements) : first(elements + 1, 0) {
    for (int64_t i = 0; i < lanes * regs; ++i)
      if (table[i] >= 0)
        ++first[table[i] + 1];
    for (int64_t e = 0; e < elements; ++e)
      first[e + 1] += first[e];
    places.resize(first[elements]);
    std::vector<int64_t> next(first.begin(), first.end() - 1);
    for (int64_t r = 0; r < regs; ++r)
      for (int64_t l = 0; l < lanes; ++l)
        if (int64_t e = table[l * regs + r]; e >= 0)
          places[next[e]++] = {r, l};
  }
  const Place *begin(int64_t e) const { return places.data() + first[e]; }
  const Place *end(int64_t e) const { return places.data() + first[e + 1]; }

private:
  std::vector<int64_t> first;
  std::vector<Place> places;
};

class Planner {
public:
  Planner(const LayoutMap &src, const LayoutMap &dst, const LayoutSizes &n)
      : lanes(n[Lane]), waves(n[WaveX] * n[WaveY] * n[WaveZ]), srcRegs(src.size(Reg)), dstRegs(dst.size(Reg)),
        elements(src.elements()), from(layoutTable(src, n)), to(layoutTable(dst, n)), owners(waves) {}

  LayoutPlan run() {
    LayoutPlan plan{PlanKind::Identity, elements, {}};
    for (int64_t r = 0; r < dstRegs; ++r) {
      if (!candidatesOf(r))
        return {PlanKind::Lds, elements, {}};
      plan.moves.push_back(select(r));
      plan.kind = std::max(plan.kind, kindOf(plan.moves.back(), r));
    }
    if (plan.kind == PlanKind::Identity && srcRegs != dstRegs)
      plan.kind = PlanKind::Registers;
    return plan;
  }

private:
  int64_t lanes, waves, srcRegs, dstRegs, elements;
  std::vector<int64_t> from, to;
  std::vector<std::vector<Owners>> owners; // by wave, made on demand (at most one each)
  std::vector<std::vector<Place>> candidates;

  int64_t wanted(int64_t wave, int64_t lane, int64_t reg) const { return to[(wave * lanes + lane) * dstRegs + reg]; }

  /// Source places of the same wave that serve each lane of destination register `reg` in all waves.
  bool candidatesOf(int64_t reg) {
    candidates.assign(lanes, {});
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t wave = 0;
      while (wave < waves && wanted(wave, lane, reg) < 0)
        ++wave;
      if (wave == waves)
        continue; // nothing there in any wave
      if (owners[wave].empty())
        owners[wave].emplace_back(from.data() + wave * lanes * srcRegs, lanes, srcRegs, elements);
      const Owners &o = owners[wave][0];
      int64_t e = wanted(wave, lane, reg);
      for (const Place *p = o.begin(e); p != o.end(e); ++p)
        if (serves(*p, lane, reg, wave + 1))
          candidates[lane].push_back(*p);
      if (candidates[lane].empty())
        return false;
    }
    return true;
  }
  bool serves(const Place &p, int64_t lane, int64_t reg, int64_t wave) const {
    for (; wave < waves; ++wave) {
      int64_t e = wanted(wave, lane, reg);
      if (e >= 0 && from[(wave * lanes + p.lane) * srcRegs + p.reg] != e)
        return false;
    }
    return true;
  }

  /// Few source registers that serve all lanes, the one that serves most first, of equal ones register `reg` itself;
  /// own lanes before others, then the lane that differs in the lowest bits, which makes butterflies where replicas
  /// allow it.
  std::vector<LaneMove> select(int64_t reg) {
    std::vector<LaneMove> moves;
    std::vector<char> open(lanes);
    int64_t left = 0;
    for (int64_t l = 0; l < lanes; ++l)
      left += open[l] = !candidates[l].empty();
    std::vector<int64_t> served(srcRegs), own(srcRegs);
    while (left) {
      std::fill(served.begin(), served.end(), 0);
      std::fill(own.begin(), own.end(), 0);
      for (int64_t l = 0; l < lanes; ++l) {
        int64_t last = -1; // candidates come by register
        for (const Place &p : candidates[l]) {
          if (open[l] && p.reg != last)
            ++served[last = p.reg];
          own[p.reg] += open[l] && p.lane == l;
        }
      }
      int64_t best = 0;
      for (int64_t r = 1; r < srcRegs; ++r)
        if (std::tuple(served[r], own[r], r == reg) > std::tuple(served[best], own[best], best == reg))
          best = r;
      LaneMove move{best, std::vector<int64_t>(lanes, -1)};
      for (int64_t l = 0; l < lanes; ++l) {
        if (!open[l])
          continue;
        for (const Place &p : candidates[l])
          if (p.reg == best && (move.lanes[l] < 0 || (p.lane ^ l) < (move.lanes[l] ^ l)))
            move.lanes[l] = p.lane;
        if (move.lanes[l] >= 0)
          open[l] = 0, --left;
      }
      moves.push_back(std::move(move));
    }
    return moves;
  }

  PlanKind kindOf(const std::vector<LaneMove> &moves, int64_t reg) const {
    if (moves.size() > 1)
      return PlanKind::Lanes;
    for (const LaneMove &m : moves) {
      for (int64_t l = 0; l < lanes; ++l)
        if (m.lanes[l] >= 0 && m.lanes[l] != l)
          return PlanKind::Lanes;
      if (m.reg != reg)
        return PlanKind::Registers;
    }
    return PlanKind::Identity;
  }
};
} // namespace

LayoutPlan wave::planConversion(const LayoutMap &src, const LayoutMap &dst, const LayoutSizes &given,
                                std::string &error) {
  if (src.dims != dst.dims || src.extents != dst.extents) {
    error = "a conversion needs two layouts of one tile: the same dims in the same order, with the same extents";
    return {};
  }
  LayoutSizes sizes = given;
  for (int s = Lane; s < kLayoutSources; ++s) {
    int64_t needed = std::max(src.size(s), dst.size(s));
    if (!sizes[s])
      sizes[s] = needed;
    else if (sizes[s] < needed) {
      error = std::string("a layout counts ") + std::to_string(needed) + " values of " + layoutSourceName(s) +
              ", there are " + std::to_string(sizes[s]);
      return {};
    }
  }
  constexpr int64_t limit = int64_t(1) << 24;
  int64_t threads = sizes[Lane] * sizes[WaveX] * sizes[WaveY] * sizes[WaveZ];
  if (std::max(src.size(Reg), dst.size(Reg)) * threads > limit || src.elements() > limit) {
    error = "the tile is too large to plan a conversion: at most 2^24 places and elements";
    return {};
  }
  return Planner(src, dst, sizes).run();
}
