// Signatures, parsed once for all of the registry.
#include "machine/Lanes.h"

#include <cctype>
#include <cstdlib>
#include <sstream>

namespace machine {

static Type parseType(std::string word) {
  Type type;
  if (word.front() == '+') {
    type.old = true;
    word.erase(0, 1);
  }
  if (!word.empty() && word.back() == '?') {
    type.optional = true;
    word.pop_back();
  }
  if (word == "sbool") {
    type.cls = Type::Class::Mask;
    type.bits = 64;
    return type;
  }
  size_t digits = word.compare(0, 2, "bf") == 0 ? 2 : 1;
  if (word.size() <= digits || !std::isdigit(static_cast<unsigned char>(word[digits]))) {
    type.cls = Type::Class::Immediate; // simm16, label, addr, off, ...
    return type;
  }
  switch (word[0]) {
  case 'b':
    type.cls = digits == 2 ? Type::Class::BFloat : Type::Class::Bits;
    break;
  case 'u':
    type.cls = Type::Class::Unsigned;
    break;
  case 'i':
    type.cls = Type::Class::Signed;
    break;
  case 'f':
    type.cls = Type::Class::Float;
    break;
  default:
    type.cls = Type::Class::Immediate;
    return type;
  }
  char *end = nullptr;
  type.bits = uint16_t(std::strtoul(word.c_str() + digits, &end, 10));
  if (*end == 'x')
    type.count = uint8_t(std::strtoul(end + 1, nullptr, 10));
  return type;
}

static Shape parseSignature(const char *signature) {
  Shape shape;
  std::istringstream words(signature);
  bool sources = false;
  for (std::string word; words >> word;) {
    if (word == "=") {
      sources = true;
      continue;
    }
    if (!sources && shape.dsts < 2)
      shape.dst[shape.dsts++] = parseType(word);
    else if (sources && shape.srcs < kSources)
      shape.src[shape.srcs++] = parseType(word);
  }
  return shape;
}

const Shape &shapeOf(uint16_t op) {
  static const std::vector<Shape> shapes = [] {
    std::vector<Shape> all;
    for (size_t i = 0; i < opCount(); ++i)
      all.push_back(parseSignature(opInfo(uint16_t(i)).signature));
    return all;
  }();
  return shapes[op];
}

} // namespace machine
