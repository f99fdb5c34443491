//===- LayoutMap.h - the algebra of layouts, without MLIR ----------------------===//
// Where each element of a workgroup's tile lives: (register, lane, wave) -> coordinates. Plain data and functions, so
// that both the dialect and the Python extension (which is compiled with RTTI) can include it.
#ifndef WAVE_LAYOUTMAP_H
#define WAVE_LAYOUTMAP_H
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wave {

/// What numbers an element's place. Waves are those along a block dim.
enum LayoutSource : int { Reg, Lane, WaveX, WaveY, WaveZ };
constexpr int kLayoutSources = 5;
/// The spelling of a source in text and as a symbol of expressions: reg, lane, wave.x, wave.y, wave.z.
const char *layoutSourceName(int source);
/// The source of that name, or -1.
int layoutSourceOf(std::string_view name);

/// One digit of a source's mixed-radix decomposition: it adds digit * stride to the coordinate of `dim`.
struct LayoutDigit {
  int64_t extent = 1;
  int dim = -1; ///< index into LayoutMap::dims; -1: the digit moves nothing (replication)
  int64_t stride = 0;
  bool operator==(const LayoutDigit &o) const {
    return extent == o.extent && dim == o.dim && stride == o.stride;
  }
};

/// Sizes of the sources: registers, lanes, waves along x, y, z. 0 means "as many as the layout's digits say".
using LayoutSizes = std::array<int64_t, kLayoutSources>;

/// A layout. Digits of a source are fastest first. An element exists where each coordinate is below the dim's extent
/// and, for a clipped dim, the part of the coordinate from reg and lane is below the clip.
struct LayoutMap {
  std::vector<std::string> dims;
  std::vector<int64_t> extents;
  std::vector<int64_t> clip; ///< per dim; -1: not clipped
  std::array<std::vector<LayoutDigit>, kLayoutSources> digits;

  bool operator==(const LayoutMap &o) const {
    return dims == o.dims && extents == o.extents && clip == o.clip && digits == o.digits;
  }
  int dimOf(std::string_view name) const;
  /// Values of a source that the digits tell apart (the product of their extents).
  int64_t size(int source) const;
  /// Elements of the tile.
  int64_t elements() const;
  /// What value `index` of a source adds to the coordinate of `dim`; indices beyond size(source) wrap around.
  int64_t part(int source, int64_t index, int dim) const;
  /// The greatest part of `dim` from the sources in [first, last].
  int64_t maxPart(int first, int last, int dim) const;
  /// Registers, lanes and waves as the digits say where `sizes` has 0.
  LayoutSizes complete(const LayoutSizes &sizes) const;
};

/// The error of a map, or "" when it is well formed: positive extents and strides, sizes that fit, every element of the
/// tile owned, and more than one owner only by replication.
std::string verifyLayout(const LayoutMap &map);

/// Canonical form: no digit of extent 1, adjacent digits that continue each other merged, no replication on top of
/// lanes and waves (it is implied), no clip that clips nothing. Two canonical layouts without overshoot or clip are
/// equal exactly when the maps are.
LayoutMap canonicalLayout(const LayoutMap &map);
/// Whether existing elements have the same places in both (names and order of dims count).
bool sameLayout(const LayoutMap &a, const LayoutMap &b);

/// Row-major element number by [wave][lane][reg] (wave = x + X * (y + Y * z)), -1 where no element exists.
std::vector<int64_t> layoutTable(const LayoutMap &map, const LayoutSizes &sizes);
/// Whether some place has a coordinate beyond the extent of `dim`, or beyond its clip.
bool overshoots(const LayoutMap &map, int dim);
bool clips(const LayoutMap &map, int dim);

/// A digit with its source and the product of the extents of the faster digits of that source.
struct PlacedDigit {
  int source;
  int64_t step;
  LayoutDigit digit;
};
/// Digits that move `dim` and are not 0 wherever an element exists, greatest stride first, waves before lanes and
/// registers of equal strides.
std::vector<PlacedDigit> digitsOf(const LayoutMap &map, int dim);
/// Whether dividing a coordinate by the strides of digitsOf, greatest first, finds its digits.
bool dividesOut(const LayoutMap &map, int dim);

//===- transformations: canonical results; an error leaves `error` set -----------===//
struct LayoutResult {
  LayoutMap map;
  std::string error;
};
LayoutResult renameDims(const LayoutMap &map, const std::vector<std::string> &names);
LayoutResult permuteDims(const LayoutMap &map, const std::vector<std::string> &order);
LayoutResult dropDim(const LayoutMap &map, const std::string &dim);
LayoutResult insertDim(const LayoutMap &map, const std::string &dim, int64_t position);
LayoutResult expandDim(const LayoutMap &map, const std::string &dim, int64_t count, int source, int64_t stride);
LayoutResult splitDim(const LayoutMap &map, const std::string &dim, const std::string &outer,
                      const std::string &inner, int64_t innerExtent);
LayoutResult mergeDims(const LayoutMap &map, const std::string &outer, const std::string &inner,
                       const std::string &name);
/// The sub-tile [start, start + extent) of `dim`; `registers` has the source's number of each of its registers.
LayoutResult sliceDim(const LayoutMap &map, const std::string &dim, int64_t start, int64_t extent,
                      std::vector<int64_t> &registers);

//===- access and conversion ------------------------------------------------------===//
struct RegisterRun {
  int64_t first, length;
};
/// Maximal runs of consecutive registers at consecutive offsets of a memory with one stride per dim.
std::vector<RegisterRun> registerRuns(const LayoutMap &map, const std::vector<int64_t> &strides);
/// The widest access: groups of that many registers, from register 0 on, are consecutive along `dim`, exist wholly or
/// not at all, and start at a multiple of their number along `dim`.
int64_t widestAccess(const LayoutMap &map, int dim);

/// One register of the source read by each lane from a lane of its wave.
struct LaneMove {
  int64_t reg;
  std::vector<int64_t> lanes; ///< by destination lane; -1: this move does not serve the lane
};
enum class PlanKind : int { Identity, Registers, Lanes, Lds };
struct LayoutPlan {
  PlanKind kind;
  int64_t elements;                         ///< of the tile
  std::vector<std::vector<LaneMove>> moves; ///< by destination register; none for Lds
};
/// How data in layout `src` gets into layout `dst` of the same tile; `error` is set when the tiles differ.
LayoutPlan planConversion(const LayoutMap &src, const LayoutMap &dst, const LayoutSizes &sizes, std::string &error);

/// Per phase (a list of lanes served together) the most different rows any bank is asked for. Lanes access `width`
/// bytes at `addresses` (negative: inactive); a bank is `bankBytes` wide.
std::vector<int64_t> bankConflicts(const std::vector<int64_t> &addresses, int64_t width, int64_t banks,
                                   int64_t bankBytes, const std::vector<std::vector<int64_t>> &phases);

//===- LDS layouts -------------------------------------------------------------------===//
/// Where an element of a row-major LDS buffer lives: chunks of `chunk` elements of the last dim are XORed by
/// (row floordiv rows) mod phases, and `pad` elements are left out after each `interval` elements.
struct LdsMap {
  std::vector<int64_t> shape;
  int64_t chunk = 1, phases = 1, rows = 1; ///< phases = 1: no swizzle
  int64_t interval = 0, pad = 0;           ///< interval = 0: no padding
  bool operator==(const LdsMap &o) const {
    return shape == o.shape && chunk == o.chunk && phases == o.phases && rows == o.rows && interval == o.interval &&
           pad == o.pad;
  }
  int64_t offset(const int64_t *coordinates) const; ///< in elements
  int64_t size() const;                             ///< elements from the first to the last, padding included
};
std::string verifyLds(const LdsMap &map);

} // namespace wave
#endif
