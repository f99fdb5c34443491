// DS instructions that exchange data between lanes: permutes and swizzles (which touch no memory) and transposed reads.
#include "machine/Access.h"
#include "machine/Lds.h"
#include "machine/Waits.h"

namespace machine {

namespace {

using Row = uint32_t[kLanes];

void finishExchange(Run &run, Wave &wave, const Instruction &instruction, const Row &values) {
  forLanes(wave.exec(), [&](int lane) { wave.v[instruction.dst[0].reg][lane] = values[lane]; });
  issue(run, wave, Return::Lds, vectorTarget(instruction.dst[0], 1));
}

// Each active lane sends its value to a lane; the highest sender wins.
void permute(Run &run, Wave &wave, const Instruction &instruction) {
  Row values = {};
  forLanes(wave.exec(), [&](int lane) {
    uint32_t to = (wave.v[instruction.src[0].reg][lane] + uint32_t(instruction.offset)) / 4 % kLanes;
    values[to] = wave.v[instruction.src[1].reg][lane];
  });
  finishExchange(run, wave, instruction, values);
}

// Each lane fetches the value of a lane, 0 if that one is inactive.
void backwardPermute(Run &run, Wave &wave, const Instruction &instruction) {
  Row values = {};
  forLanes(wave.exec(), [&](int lane) {
    uint32_t from = (wave.v[instruction.src[0].reg][lane] + uint32_t(instruction.offset)) / 4 % kLanes;
    if (wave.exec() >> from & 1)
      values[lane] = wave.v[instruction.src[1].reg][from];
  });
  finishExchange(run, wave, instruction, values);
}

uint32_t reversed5(uint32_t bits) {
  uint32_t result = 0;
  for (int i = 0; i < 5; ++i)
    result |= (bits >> i & 1) << (4 - i);
  return result;
}

// The lane that `lane` reads, by the mode that the offset encodes (CDNA3 ISA, DS_SWIZZLE_B32); within 32 lanes.
uint32_t swizzleSource(uint32_t lane, uint32_t mode) {
  const uint32_t half = lane & 32, in = lane & 31;
  if (mode >= 0xE000) { // FFT: the bits reversed, except those of the mask
    uint32_t mask = mode & 31;
    return half | (reversed5(in) >> __builtin_popcount(mask)) | (in & mask);
  }
  if (mode >= 0xC000) { // rotation; the bits of the mask stay
    uint32_t mask = mode & 31, amount = mode >> 5 & 31;
    uint32_t moved = mode >> 10 & 1 ? in - amount : in + amount;
    return half | (in & mask) | (moved & ~mask & 31);
  }
  if (mode & 0x8000) // quads
    return (lane & ~3u) | (mode >> 2 * (lane & 3) & 3);
  return half | (((in & (mode & 31)) | (mode >> 5 & 31)) ^ (mode >> 10 & 31));
}

void swizzle(Run &run, Wave &wave, const Instruction &instruction) {
  Row values = {};
  forLanes(wave.exec(), [&](int lane) {
    uint32_t from = swizzleSource(uint32_t(lane), uint32_t(instruction.offset) & 0xFFFF);
    if (wave.exec() >> from & 1)
      values[lane] = wave.v[instruction.src[0].reg][from];
  });
  finishExchange(run, wave, instruction, values);
}

// 16 lanes read rows of 16 elements: 16/n lanes a row, n elements each. Lane i of them gets column i: element r of it
// is element i mod n of lane r * 16/n + i div n.
void readTransposed(Run &run, Wave &wave, const Instruction &instruction) {
  const uint32_t bits = opInfo(instruction.op).extra >> kComponentShift, bytes = bits == 6 ? 12 : 8;
  const uint32_t each = bits == 6 ? 16 : 64 / bits; // elements of a lane
  const uint64_t lanes = wave.exec();
  uint32_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    addresses[lane] = wave.v[instruction.src[0].reg][lane] + uint32_t(instruction.offset);
  const uint32_t granule = !run.config.alignment ? 1 : bytes == 12 ? 16 : 8;
  checkLds(run, addresses, lanes, bytes, granule, "a transposed read of LDS");
  const int64_t record = run.shadow->access(run, wave, LdsShadow::Kind::Read, addresses, lanes, bytes);
  LaneBytes data, result;
  std::memset(&data, 0, sizeof data);
  std::memset(&result, 0, sizeof result);
  forLanes(lanes, [&](int lane) { std::memcpy(data.of[lane], &run.lds[addresses[lane]], bytes); });
  auto bitsAt = [&](const uint8_t *from, uint32_t at) {
    uint32_t window = from[at / 8] | uint32_t(from[at / 8 + 1]) << 8 | uint32_t(from[at / 8 + 2]) << 16;
    return window >> at % 8 & ((1u << bits) - 1);
  };
  forLanes(lanes, [&](int lane) {
    const uint32_t column = uint32_t(lane) % 16, group = uint32_t(lane) - column;
    for (uint32_t row = 0; row < each; ++row) {
      uint32_t from = group + row * (16 / each) + column / each;
      uint32_t value = bitsAt(data.of[from], column % each * bits) << row * bits % 8;
      for (uint32_t i = row * bits / 8; value; ++i, value >>= 8)
        result.of[lane][i] |= uint8_t(value);
    }
  });
  writeLoaded(wave, instruction.dst[0].reg, result, lanes, bytes);
  issue(run, wave, Return::Lds, vectorTarget(instruction.dst[0], bytes / 4), record);
  const LdsCost cost = ldsCost(run.config.target, false, bytes, addresses, lanes);
  run.profile(wave, bytes * uint32_t(countLanes(lanes)), cost.phases, cost.cycles);
}



const OpInfo kLdsLanesTable[] = {
    {"ds_permute_b32", Format::Ds, "b32 = b32 b32", permute},
    {"ds_bpermute_b32", Format::Ds, "b32 = b32 b32", backwardPermute},
    {"ds_swizzle_b32", Format::Ds, "b32 = b32", swizzle},
    {"ds_read_b64_tr_b16", Format::Ds, "b64 = b32", readTransposed, nullptr, 16u << kComponentShift, kGfx950},
    {"ds_read_b64_tr_b8", Format::Ds, "b64 = b32", readTransposed, nullptr, 8u << kComponentShift, kGfx950},
    {"ds_read_b64_tr_b4", Format::Ds, "b64 = b32", readTransposed, nullptr, 4u << kComponentShift, kGfx950},
    {"ds_read_b96_tr_b6", Format::Ds, "b96 = b32", readTransposed, nullptr, 6u << kComponentShift, kGfx950},
};

} // namespace

Table ldsLaneOps() { return {kLdsLanesTable, sizeof kLdsLanesTable / sizeof *kLdsLanesTable}; }

} // namespace machine
