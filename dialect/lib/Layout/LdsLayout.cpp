//===- LdsLayout.cpp - LDS addresses and bank conflicts --------------------------===//
#include "wave/LayoutMap.h"
#include <algorithm>
using namespace wave;

static bool powerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

std::string wave::verifyLds(const LdsMap &m) {
  int64_t elements = 1;
  for (int64_t e : m.shape)
    if (e <= 0 || (elements *= e) > (int64_t(1) << 32))
      return "extents must be positive, and their product at most 2^32";
  if (m.phases != 1 || m.chunk != 1) {
    if (!powerOfTwo(m.chunk) || !powerOfTwo(m.phases))
      return "chunk and phases of a swizzle must be powers of two";
    if (m.rows <= 0)
      return "rows of a swizzle must be positive";
    if (m.shape.empty() || m.shape.back() % (m.chunk * m.phases))
      return "the last extent must be a multiple of chunk * phases = " + std::to_string(m.chunk * m.phases) +
             ", or the swizzle leaves the row";
  }
  if (m.interval < 0 || m.pad < 0 || (m.pad && !m.interval) || (m.interval && !m.pad))
    return "pad = [p : n] needs positive p and n";
  return "";
}

int64_t LdsMap::offset(const int64_t *coordinates) const {
  if (shape.empty())
    return 0;
  int64_t row = 0, column = coordinates[shape.size() - 1];
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    row = row * shape[d] + coordinates[d];
  column ^= row / rows % phases * chunk;
  int64_t linear = row * shape.back() + column;
  return interval ? linear + linear / interval * pad : linear;
}

int64_t LdsMap::size() const {
  int64_t last = 1;
  for (int64_t e : shape)
    last *= e;
  --last;
  return 1 + (interval ? last + last / interval * pad : last);
}

std::vector<int64_t> wave::bankConflicts(const std::vector<int64_t> &addresses, int64_t width, int64_t banks,
                                         int64_t bankBytes, const std::vector<std::vector<int64_t>> &phases) {
  std::vector<int64_t> degrees;
  std::vector<std::pair<int64_t, int64_t>> asked; // (bank, row)
  for (const std::vector<int64_t> &phase : phases) {
    asked.clear();
    for (int64_t lane : phase) {
      if (lane < 0 || lane >= int64_t(addresses.size()) || addresses[lane] < 0)
        continue;
      int64_t last = (addresses[lane] + width - 1) / bankBytes;
      for (int64_t word = addresses[lane] / bankBytes; word <= last; ++word)
        asked.push_back({word % banks, word / banks});
    }
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    int64_t worst = 0;
    for (size_t i = 0, j; i < asked.size(); i = j) {
      for (j = i; j < asked.size() && asked[j].first == asked[i].first; ++j)
        ;
      worst = std::max(worst, int64_t(j - i));
    }
    degrees.push_back(worst);
  }
  return degrees;
}
