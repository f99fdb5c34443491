// The shadow of LDS. An access occupies the epochs (intervals between barriers) from its issue to its completion. All
// waves pass a barrier together, so the epoch is one number: a byte's stamp holds the last epoch in which it was
// touched, and a barrier stamps again what open accesses touch. Two accesses then share an epoch exactly when the older
// one's stamp is of the current epoch.
#include "machine/Lds.h"

#include "machine/Access.h"
#include "machine/Waits.h"

#include <algorithm>

namespace machine {

namespace {

typedef uint32_t Four __attribute__((vector_size(16)));

Four load(const uint32_t *from) {
  Four value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
void store(uint32_t *to, Four value) { std::memcpy(to, &value, sizeof value); }
Four all(uint32_t value) { return Four{value, value, value, value}; }
bool anyOf(Four value) { return value[0] | value[1] | value[2] | value[3]; }

constexpr size_t kFirstCapacity = 512; // records kept; what is older cannot be named as the other side of a race
constexpr uint32_t kLastEpoch = 0xFFFF;

} // namespace

LdsShadow::LdsShadow(uint32_t bytes) : size(bytes), writers(bytes), readers(bytes) {}

LdsShadow::Record &LdsShadow::add(int64_t &index) {
  while (capacity == 0 || records[size_t(next) & (capacity - 1)].open) {
    size_t larger = capacity ? 2 * capacity : kFirstCapacity;
    std::unique_ptr<Record[]> moved(new Record[larger]);
    for (int64_t i = next - int64_t(capacity); i < next; ++i)
      if (i >= 0)
        moved[size_t(i) & (larger - 1)] = at(i);
    records = std::move(moved);
    capacity = larger;
  }
  index = next++;
  return at(index);
}

int64_t LdsShadow::access(Run &run, const Wave &wave, Kind kind, const uint32_t *addresses, uint64_t lanes,
                          uint32_t bytes, const LaneBytes *data) {
  int64_t index;
  Record &record = add(index);
  record.instruction = wave.pc;
  record.bytes = bytes;
  record.wave = uint16_t(wave.id);
  record.kind = kind;
  record.open = true;
  record.lanes = lanes;
  std::memcpy(record.address, addresses, sizeof record.address);
  if (kind == Kind::Atomic && atomics.empty())
    atomics.assign(size, 0);
  if (suspicious(record))
    examine(run, wave, record, data);
  stamp(record);
  return index;
}

// A quick look at the stamps: false when there is surely nothing to report.
bool LdsShadow::suspicious(const Record &record) const {
  const Four epochs = all(kEpochMask), now = all(mark()), mine = all(mark() | kWritten | record.wave), none = all(0);
  const Four others = all(0xFFFFu & ~(1u << record.wave));
  const bool atomic = record.kind == Kind::Atomic, reads = record.kind == Kind::Read || atomic;
  const bool changes = record.kind != Kind::Read, looks = !atomic && !atomics.empty();
  Four bad = none;
  uint32_t narrow = 0; // the same for single bytes
  const uint32_t step = record.bytes >= 4 ? 4 : 1;
  forLanes(record.lanes, [&](int lane) {
    for (uint32_t byte = record.address[lane], end = byte + record.bytes; byte < end; byte += step) {
      if (step == 4) {
        Four w = load(&writers[byte]), r = load(&readers[byte]), a = atomics.empty() ? none : load(&atomics[byte]);
        bad |= Four(((w & epochs) == now) & (w != mine));
        if (reads)
          bad |= Four((w == none) & (a == none));
        if (changes)
          bad |= Four(((r & epochs) == now) & ((r & others) != none));
        if (looks)
          bad |= Four(((a & epochs) == now) & ((a & others) != none));
      } else {
        uint32_t w = writers[byte], r = readers[byte], a = atomics.empty() ? 0 : atomics[byte];
        narrow |= (w & kEpochMask) == mark() && w != mine[0];
        narrow |= reads && w == 0 && a == 0;
        narrow |= changes && (r & kEpochMask) == mark() && (r & others[0]);
        narrow |= looks && (a & kEpochMask) == mark() && (a & others[0]);
      }
    }
  });
  return narrow || anyOf(bad);
}

void LdsShadow::stamp(const Record &record) {
  const uint32_t bit = 1u << record.wave;
  if (record.kind == Kind::Write || record.kind == Kind::Copy) {
    const uint32_t mine = writeStamp(record);
    const Four four = all(mine);
    forLanes(record.lanes, [&](int lane) {
      uint32_t byte = record.address[lane], end = byte + record.bytes;
      for (; byte + 4 <= end; byte += 4)
        store(&writers[byte], four);
      for (; byte < end; ++byte)
        writers[byte] = mine;
    });
    return;
  }
  std::vector<uint32_t> &marks = record.kind == Kind::Read ? readers : atomics;
  const Four epochs = all(kEpochMask), now = all(mark()), bits = all(bit);
  forLanes(record.lanes, [&](int lane) {
    uint32_t byte = record.address[lane], end = byte + record.bytes;
    for (; byte + 4 <= end; byte += 4) {
      Four r = load(&marks[byte]), same = Four((r & epochs) == now);
      store(&marks[byte], (r & same) | now | bits);
    }
    for (; byte < end; ++byte)
      marks[byte] = ((marks[byte] & kEpochMask) == mark() ? marks[byte] : mark()) | bit;
  });
}

void LdsShadow::examine(Run &run, const Wave &wave, const Record &record, const LaneBytes *data) {
  bool found = false;
  forLanes(record.lanes, [&](int lane) {
    for (uint32_t i = 0; i < record.bytes && !found; ++i) {
      const uint32_t byte = record.address[lane] + i;
      found = examineByte(run, wave, record, byte, lane, data && data->of[lane][i] == run.lds[byte]);
    }
  });
}

// True when something was reported.
bool LdsShadow::examineByte(Run &run, const Wave &wave, const Record &record, uint32_t byte, int lane,
                            bool same) {
  const uint32_t now = mark(), bit = 1u << record.wave, writer = writers[byte];
  const bool reads = record.kind == Kind::Read || record.kind == Kind::Atomic;
  const uint32_t atomic = atomics.empty() ? 0 : atomics[byte];
  if (writer && (writer & kEpochMask) == now) {
    uint32_t other = writer & kWaveMask;
    // Waves that hold copies of a value may all write it: whichever is last, the byte is the same.
    const bool agree = same && !(writer & kCopying);
    if (other != record.wave && !agree)
      return run.config.races && race(run, wave, record, byte, lane, other, Kind::Write);
    if (other == record.wave && writer & kCopying) {
      if (record.kind == Kind::Copy) {
        overlapping = true;
        return false;
      }
      Fault found;
      found.kind = "wait";
      found.text = "byte " + std::to_string(byte) + " of LDS is " + (reads ? "read" : "overwritten") +
                   " before the copy that fills it has been waited for (vmcnt)";
      found.lane = lane;
      found.hasAddress = true;
      found.address = byte;
      const Record *copy = last(record, other, Kind::Copy, byte);
      found.other = copy ? int64_t(copy->instruction) : -1;
      found.otherWave = int(other);
      run.report(wave, found);
      return true;
    }
  }
  if (reads && !writer && !atomic && run.config.unwritten) {
    Fault found;
    found.kind = "unwritten";
    found.text = "nothing has written byte " + std::to_string(byte) + " of LDS";
    found.lane = lane;
    found.hasAddress = true;
    found.address = byte;
    run.report(wave, found);
    return true;
  }
  if (!run.config.races)
    return false;
  if (record.kind != Kind::Atomic && (atomic & kEpochMask) == now && (atomic & 0xFFFFu & ~bit))
    return race(run, wave, record, byte, lane, uint32_t(__builtin_ctz(atomic & 0xFFFFu & ~bit)), Kind::Atomic);
  const uint32_t reader = readers[byte];
  if (record.kind != Kind::Read && (reader & kEpochMask) == now && (reader & 0xFFFFu & ~bit))
    return race(run, wave, record, byte, lane, uint32_t(__builtin_ctz(reader & 0xFFFFu & ~bit)), Kind::Read);
  return false;
}

bool LdsShadow::race(Run &run, const Wave &wave, const Record &record, uint32_t byte, int lane, uint32_t otherWave,
                     Kind otherKind) {
  const Record *other = last(record, otherWave, otherKind, byte);
  auto verb = [](Kind kind) {
    return kind == Kind::Read ? "read" : kind == Kind::Atomic ? "changed" : kind == Kind::Copy ? "filled" : "written";
  };
  Fault found;
  found.kind = "race";
  found.text = "byte " + std::to_string(byte) + " of LDS is " + verb(record.kind) + " here by wave " +
               std::to_string(record.wave) + " and " + verb(other ? other->kind : otherKind) + " by wave " +
               std::to_string(otherWave);
  if (other)
    found.text += std::string(" (") + opInfo(run.program[other->instruction].op).name +
                  (other->open ? ", which has not been waited for)" : ")");
  found.text += " with no barrier between";
  found.lane = lane;
  found.hasAddress = true;
  found.address = byte;
  found.other = other ? int64_t(other->instruction) : -1;
  found.otherWave = int(otherWave);
  run.report(wave, found);
  return true;
}

// The newest access but `than` of the wave to the byte; Write also finds copies.
const LdsShadow::Record *LdsShadow::last(const Record &than, uint32_t wave, Kind kind, uint32_t byte) {
  for (int64_t i = next - 1; i >= 0 && i >= next - int64_t(capacity); --i) {
    const Record &record = at(i);
    if (&record == &than || record.wave != wave)
      continue;
    if (record.kind != kind && !(kind == Kind::Write && record.kind == Kind::Copy))
      continue;
    for (uint64_t mask = record.lanes; mask; mask &= mask - 1)
      if (byte - record.address[__builtin_ctzll(mask)] < record.bytes)
        return &record;
  }
  return nullptr;
}

void LdsShadow::complete(int64_t index) {
  Record &record = at(index);
  if (record.kind == Kind::Copy) {
    const uint32_t copying = writeStamp(record);
    record.open = false;
    forLanes(record.lanes, [&](int lane) {
      for (uint32_t byte = record.address[lane], end = byte + record.bytes; byte < end; ++byte)
        if (writers[byte] == copying)
          writers[byte] &= ~kCopying;
    });
    for (int64_t i = std::max<int64_t>(index + 1, 0); overlapping && i < next; ++i)
      if (at(i).open && at(i).kind == Kind::Copy && at(i).wave == record.wave)
        stamp(at(i));
  }
  record.open = false;
}

void LdsShadow::barrier(const Run &run) {
  if (++epoch > kLastEpoch) { // numbers start over: nothing old may look like now
    epoch = 1;
    for (uint32_t &writer : writers)
      writer = writer ? kWritten : 0;
    std::fill(readers.begin(), readers.end(), 0);
    for (uint32_t &atomic : atomics)
      atomic = atomic ? 1 : 0;
  }
  for (const auto &wave : run.waves)
    wave->waits->eachAccess([&](int64_t first, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
        stamp(at(first + i));
    });
}

void checkLds(const Run &run, const uint32_t *addresses, uint64_t lanes, uint32_t bytes, uint32_t granule,
              const char *what) {
  const uint64_t size = run.config.ldsBytes;
  forLanes(lanes, [&](int lane) {
    if (addresses[lane] + uint64_t(bytes) > size)
      faultAt("bounds",
              "an access of " + std::to_string(bytes) + " bytes at offset " + std::to_string(addresses[lane]) +
                  " of LDS, of which the workgroup has " + std::to_string(size),
              lane, addresses[lane]);
  });
  checkAlignment(addresses, lanes, granule, what);
}

} // namespace machine
