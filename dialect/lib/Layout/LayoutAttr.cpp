//===- LayoutAttr.cpp - text and verification of layout attributes --------------===//
#include "wave/Layout.h"
#include "wave/Wave.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
using namespace mlir;
using namespace wave;

llvm::hash_code wave::hash_value(const LayoutDigit &d) { return llvm::hash_combine(d.extent, d.dim, d.stride); }
llvm::hash_code wave::hash_value(const LayoutMap &m) {
  llvm::hash_code h = llvm::hash_combine(llvm::hash_combine_range(m.dims.begin(), m.dims.end()),
                                         llvm::hash_combine_range(m.extents.begin(), m.extents.end()),
                                         llvm::hash_combine_range(m.clip.begin(), m.clip.end()));
  for (const auto &digits : m.digits)
    h = llvm::hash_combine(h, llvm::hash_combine_range(digits.begin(), digits.end()));
  return h;
}
llvm::hash_code wave::hash_value(const LdsMap &m) {
  return llvm::hash_combine(llvm::hash_combine_range(m.shape.begin(), m.shape.end()), m.chunk, m.phases, m.rows,
                            m.interval, m.pad);
}

//===- #wave.layout --------------------------------------------------------------===//
namespace {
struct LayoutParser {
  AsmParser &p;
  LayoutMap map;

  /// `[M = 64, …]`, handing out name, location of the name and value.
  ParseResult assignments(function_ref<ParseResult(StringRef, SMLoc, int64_t)> add) {
    return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
      StringRef name;
      int64_t value;
      SMLoc loc = p.getCurrentLocation();
      if (p.parseKeyword(&name) || p.parseEqual() || p.parseInteger(value))
        return failure();
      return add(name, loc, value);
    });
  }
  ParseResult dimension(int &dim, SMLoc loc, StringRef name) {
    dim = map.dimOf(std::string_view(name.data(), name.size()));
    if (dim < 0)
      return p.emitError(loc) << "unknown dim " << name << "; the tile's dims are [" << llvm::join(map.dims, ", ")
                              << "]";
    return success();
  }
  ParseResult digit(std::vector<LayoutDigit> &digits) {
    LayoutDigit d;
    StringRef name;
    if (p.parseInteger(d.extent) || p.parseColon())
      return failure();
    SMLoc loc = p.getCurrentLocation();
    if (p.parseKeyword(&name))
      return failure();
    if (name != "_" && (dimension(d.dim, loc, name) || p.parseStar() || p.parseInteger(d.stride)))
      return failure();
    digits.push_back(d);
    return success();
  }
  ParseResult clause(unsigned &seen) {
    StringRef name;
    SMLoc loc = p.getCurrentLocation();
    if (p.parseKeyword(&name) || p.parseEqual())
      return failure();
    bool isClip = name == "clip";
    int source = isClip ? kLayoutSources : layoutSourceOf(std::string_view(name.data(), name.size()));
    if (source < 0)
      return p.emitError(loc) << "unknown source " << name
                              << "; expected reg, lane, wave.x, wave.y, wave.z or clip";
    if (seen & (1u << source))
      return p.emitError(loc) << name << " is given twice";
    seen |= 1u << source;
    if (isClip)
      return assignments([&](StringRef n, SMLoc at, int64_t value) -> ParseResult {
        int dim;
        if (dimension(dim, at, n))
          return failure();
        if (map.clip[dim] != -1)
          return p.emitError(at) << "the clip of " << n << " is given twice";
        if (value <= 0)
          return p.emitError(at) << "the clip of " << n << " is " << value << "; it must be positive";
        map.clip[dim] = value;
        return success();
      });
    return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return digit(map.digits[source]); });
  }
  ParseResult parse() {
    if (p.parseLess() || assignments([&](StringRef name, SMLoc, int64_t extent) -> ParseResult {
          map.dims.push_back(name.str());
          map.extents.push_back(extent);
          map.clip.push_back(-1);
          return success();
        }))
      return failure();
    unsigned seen = 0;
    while (succeeded(p.parseOptionalComma()))
      if (clause(seen))
        return failure();
    return p.parseGreater();
  }
};
} // namespace

Attribute LayoutAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  LayoutParser parser{p, {}};
  if (parser.parse())
    return {};
  return p.getChecked<LayoutAttr>(loc, p.getContext(), parser.map);
}

void LayoutAttr::print(AsmPrinter &p) const {
  const LayoutMap &m = getMap();
  p << "<[";
  for (size_t d = 0; d < m.dims.size(); ++d)
    p << (d ? ", " : "") << m.dims[d] << " = " << m.extents[d];
  p << ']';
  for (int s = 0; s < kLayoutSources; ++s) {
    if (m.digits[s].empty())
      continue;
    p << ", " << layoutSourceName(s) << " = [";
    llvm::interleaveComma(m.digits[s], p, [&](const LayoutDigit &d) {
      p << d.extent << " : ";
      if (d.dim < 0)
        p << '_';
      else
        p << m.dims[d.dim] << " * " << d.stride;
    });
    p << ']';
  }
  const char *separator = ", clip = [";
  bool any = false;
  for (size_t d = 0; d < m.dims.size(); ++d) {
    if (m.clip[d] < 0)
      continue;
    p << separator << m.dims[d] << " = " << m.clip[d];
    separator = ", ";
    any = true;
  }
  p << (any ? "]>" : ">");
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, LayoutMap map) {
  std::string error = verifyLayout(map);
  if (!error.empty())
    return emitError() << error;
  return success();
}

//===- #wave.lds_layout ------------------------------------------------------------===//

/// `[chunk = 8, phases = 8, rows = 1]`, `rows` may be missing.
static ParseResult parseSwizzle(AsmParser &p, LdsMap &map) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    StringRef name;
    int64_t value;
    SMLoc loc = p.getCurrentLocation();
    if (p.parseKeyword(&name) || p.parseEqual() || p.parseInteger(value))
      return failure();
    int64_t *field = llvm::StringSwitch<int64_t *>(name)
                         .Case("chunk", &map.chunk)
                         .Case("phases", &map.phases)
                         .Case("rows", &map.rows)
                         .Default(nullptr);
    if (!field)
      return p.emitError(loc) << "unknown swizzle parameter " << name << "; expected chunk, phases or rows";
    *field = value;
    return success();
  });
}

Attribute LdsLayoutAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  LdsMap map;
  if (p.parseLess() || p.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                                 [&] { return p.parseInteger(map.shape.emplace_back()); }))
    return {};
  while (succeeded(p.parseOptionalComma())) {
    SMLoc at = p.getCurrentLocation();
    StringRef name;
    if (p.parseKeyword(&name) || p.parseEqual())
      return {};
    if (name == "swizzle") {
      if (parseSwizzle(p, map))
        return {};
    } else if (name == "pad") {
      if (p.parseLSquare() || p.parseInteger(map.pad) || p.parseColon() || p.parseInteger(map.interval) ||
          p.parseRSquare())
        return {};
    } else {
      p.emitError(at) << "unknown clause " << name << "; expected swizzle or pad";
      return {};
    }
  }
  if (map.phases == 1) // no swizzle, however it is written
    map.chunk = map.rows = 1;
  if (p.parseGreater())
    return {};
  return p.getChecked<LdsLayoutAttr>(loc, p.getContext(), map);
}

void LdsLayoutAttr::print(AsmPrinter &p) const {
  const LdsMap &m = getMap();
  p << "<[";
  llvm::interleaveComma(m.shape, p);
  p << ']';
  if (m.phases != 1)
    p << ", swizzle = [chunk = " << m.chunk << ", phases = " << m.phases << ", rows = " << m.rows << ']';
  if (m.interval)
    p << ", pad = [" << m.pad << " : " << m.interval << ']';
  p << '>';
}

LogicalResult LdsLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, LdsMap map) {
  std::string error = verifyLds(map);
  if (!error.empty())
    return emitError() << error;
  return success();
}
