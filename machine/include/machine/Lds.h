// Who touched which byte of LDS since when: races, reads of unwritten bytes, copies that have not arrived.
#pragma once
#include "machine/Run.h"

namespace machine {

struct LaneBytes;

class LdsShadow {
public:
  enum class Kind : uint8_t { Read, Write, Atomic, Copy };

  explicit LdsShadow(uint32_t bytes);

  // An access by a wave that begins now: checked against the accesses of this epoch and noted. The lanes' addresses
  // lie inside of LDS. `data`: what a write will store. Returns its record, which stays open until `complete`.
  int64_t access(Run &run, const Wave &wave, Kind kind, const uint32_t *addresses, uint64_t lanes, uint32_t bytes,
                 const LaneBytes *data = nullptr);
  void complete(int64_t record);
  // A barrier: accesses that are open reach into the new epoch.
  void barrier(const Run &run);

private:
  struct Record {
    uint32_t instruction = 0, bytes = 0;
    uint16_t wave = 0;
    Kind kind = Kind::Read;
    bool open = false;
    uint64_t lanes = 0;
    uint32_t address[kLanes];
  };
  // Stamps: the epoch is the high half. Of a write, the low half says the rest (0: never written); of reads and atomics
  // it is a bit for each wave.
  static constexpr uint32_t kWritten = 0x8000, kCopying = 0x4000, kEpochMask = 0xFFFF0000u, kWaveMask = 0x1F;
  uint32_t mark() const { return epoch << 16; }
  uint32_t writeStamp(const Record &record) const {
    return mark() | kWritten | (record.kind == Kind::Copy && record.open ? kCopying : 0) | record.wave;
  }
  Record &at(int64_t record) { return records[size_t(record) & (capacity - 1)]; }

  Record &add(int64_t &index);
  bool suspicious(const Record &record) const;
  void examine(Run &run, const Wave &wave, const Record &record, const LaneBytes *data);
  // `same`: the access writes what the byte holds already.
  bool examineByte(Run &run, const Wave &wave, const Record &record, uint32_t byte, int lane, bool same);
  void stamp(const Record &record);
  bool race(Run &run, const Wave &wave, const Record &record, uint32_t byte, int lane, uint32_t otherWave,
            Kind otherKind);
  const Record *last(const Record &than, uint32_t wave, Kind kind, uint32_t byte);

  uint32_t size;
  uint32_t epoch = 1;            // 1 to 65535, then over again
  std::vector<uint32_t> writers; // by byte: the last write that was no atomic
  std::vector<uint32_t> readers; // by byte: epoch, waves that read in it
  std::vector<uint32_t> atomics; // by byte: epoch, waves with atomics in it; empty until there is one
  std::unique_ptr<Record[]> records; // a ring, a power of two; an open record is not overwritten
  size_t capacity = 0;
  int64_t next = 0;
  bool overlapping = false; // copies of one wave have been open over one byte
};

// LDS accesses of the families: bounds and alignment, then the shadow.
void checkLds(const Run &run, const uint32_t *addresses, uint64_t lanes, uint32_t bytes, uint32_t granule,
              const char *what);

// Clocks that an access takes (the most rows that a bank is asked for, summed over the phases of the target) and
// the number of phases.
struct LdsCost {
  uint32_t cycles, phases;
};
LdsCost ldsCost(uint32_t target, bool write, uint32_t bytes, const uint32_t *addresses, uint64_t lanes);

} // namespace machine
