// The launch: workgroups one after another, the waves of one in the order that the policy says. A workgroup that runs
// long without storing anything may wait for another: they take turns then.
#include "machine/Run.h"

#include "machine/Lds.h"
#include "machine/Memory.h"
#include "machine/Undefined.h"
#include "machine/Waits.h"

#include <algorithm>

namespace machine {

constexpr uint32_t kLongestSlice = 48; // instructions a wave runs on in random order before another may be picked
constexpr uint32_t kTurn = 1 << 18;    // instructions of a workgroup without a store before another gets its turn
constexpr uint32_t kMostWaiting = 2048; // waves of workgroups that have begun and wait: their registers take 130 kB each
constexpr uint64_t kMostQuiet = 64;     // turns of each workgroup, in which none stores, before the launch is given up

Run::Run(const Config &config, const Instruction *program, uint32_t length, Memory &memory)
    : config(config), program(program), length(length), memory(memory), counts(length), phases(length), bytes(length),
      segments(length), random(config.seed) {}

Run::~Run() = default;

void Run::startGroup() {
  lds.assign(config.ldsBytes, 0);
  for (size_t i = 0; i < lds.size(); ++i)
    lds[i] = uint8_t(kPoison >> 8 * (i % 4));
  shadow = std::make_unique<LdsShadow>(config.ldsBytes);
  uint32_t items = config.block[0] * config.block[1] * config.block[2];
  waves.clear();
  for (uint32_t id = 0; id * kLanes < items; ++id) {
    waves.push_back(std::make_unique<Wave>());
    start(*waves.back(), id);
  }
  waveCounts.resize(std::max<size_t>(waveCounts.size(), waves.size()));
  tracing = groupsStarted < config.traceGroups;
  current = config.order == uint32_t(Order::Reverse) ? 0 : uint32_t(waves.size()) - 1;
  slice = 0;
  turnStart = executed;
}

// Registers at the start of a wave: LLVM's "User Guide for AMDGPU Backend", "Initial Kernel Execution State".
void Run::start(Wave &wave, uint32_t id) {
  wave.id = id;
  wave.pc = config.start;
  wave.mode = config.mode;
  wave.waits = std::make_unique<WaitState>();
  wave.scratch.assign(size_t(config.scratchBytes) * kLanes, 0xBA);
  wave.scratchWritten.assign(wave.scratch.size(), 0);
  uint32_t items = config.block[0] * config.block[1] * config.block[2];
  uint64_t live = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t item = id * kLanes + lane, x = item % config.block[0], y = item / config.block[0] % config.block[1],
             z = item / config.block[0] / config.block[1];
    wave.v[0][lane] = x | y << 10 | z << 20;
    live |= uint64_t(item < items) << lane;
  }
  uint32_t at = config.sgprCount;
  std::copy_n(config.userSgpr, at, wave.s);
  const uint32_t enabled[3] = {config.idX, config.idY, config.idZ};
  for (int dim = 0; dim < 3; ++dim)
    if (enabled[dim])
      wave.s[at++] = group[dim];
  if (config.info)
    wave.s[at++] = 0;
  wave.setPair(kExec, live);
  if (groupsStarted == 0 && firstSgprs)
    std::copy_n(firstSgprs + size_t(id) * kSgprs, kSgprs, wave.s);
  if (groupsStarted == 0 && firstVgprs)
    std::copy_n(firstVgprs + size_t(id) * kVgprs * kLanes, size_t(kVgprs) * kLanes, wave.vectorFile.get());
}

// The next workgroup in the launch's order; x varies fastest.
bool Run::nextGroup() {
  uint32_t total = config.grid[0] * config.grid[1] * config.grid[2];
  if (groupsStarted >= total)
    return false;
  uint32_t n = config.order == uint32_t(Order::Reverse) ? total - 1 - groupsStarted : groupsStarted;
  group[0] = n % config.grid[0];
  group[1] = n / config.grid[0] % config.grid[1];
  group[2] = n / config.grid[0] / config.grid[1];
  startGroup();
  ++groupsStarted;
  return true;
}

// The workgroup that runs changes places with another.
void Run::exchange(Group &other) {
  lds.swap(other.lds);
  shadow.swap(other.shadow);
  waves.swap(other.waves);
  std::swap_ranges(group, group + 3, other.id);
  std::swap(current, other.current);
  std::swap(tracing, other.tracing);
}

// Another workgroup gets its turn, when this one has ended or runs for long without storing anything: the one that waits
// longest after one that ended, else one that has not begun. False when there is none left.
bool Run::endTurn(bool ended) {
  Group mine;
  if (!ended) {
    bool quiet = memory.changes == changes && memory.reads != reads;
    quietTurns = quiet ? quietTurns + 1 : 0;
    exchange(mine);
    waiting.push_back(std::move(mine));
  }
  changes = memory.changes;
  bool crowded = !waiting.empty() && waiting.size() * waiting.front().waves.size() >= kMostWaiting;
  if ((ended || crowded) && !waiting.empty()) {
    mine = std::move(waiting.front());
    waiting.pop_front();
    exchange(mine);
  } else if (!nextGroup()) {
    if (waiting.empty())
      return false;
    mine = std::move(waiting.front());
    waiting.pop_front();
    exchange(mine);
  }
  slice = 0;
  turnStart = executed;
  reads = memory.reads;
  return true;
}

// Chooses the wave that runs; false when none is ready.
bool Run::pick() {
  std::vector<uint32_t> ready;
  for (auto &wave : waves)
    if (wave->status == Status::Ready)
      ready.push_back(wave->id);
  if (ready.empty())
    return false;
  // In order each wave runs as long as it can; one that is still ready then may wait for another wave.
  bool tired = waves[current]->status == Status::Ready;
  switch (Order(config.order)) {
  case Order::Forward: {
    auto after = std::upper_bound(ready.begin(), ready.end(), current);
    current = tired && after != ready.end() ? *after : ready.front();
    slice = ~0u;
    break;
  }
  case Order::Reverse: {
    auto from = std::lower_bound(ready.begin(), ready.end(), current);
    current = tired && from != ready.begin() ? *(from - 1) : ready.back();
    slice = ~0u;
    break;
  }
  case Order::RoundRobin: {
    auto after = std::upper_bound(ready.begin(), ready.end(), current);
    current = after == ready.end() ? ready.front() : *after;
    slice = 1;
    break;
  }
  case Order::Random:
    current = ready[random() % ready.size()];
    slice = 1 + random() % kLongestSlice;
    break;
  }
  return true;
}

// All waves that have not ended stand at the barrier: they go on. A barrier that some have ended without reaching is a
// finding: the hardware goes on with those that are left, which is hardly ever what was meant.
void Run::meetBarrier() {
  Wave *waiting = nullptr, *ended = nullptr;
  for (auto &wave : waves)
    (wave->status == Status::AtBarrier ? waiting : ended) = wave.get();
  if (ended) {
    current = waiting->id;
    Fault found;
    found.kind = "barrier";
    found.text = "wave " + std::to_string(waiting->id) + " waits at a barrier that wave " + std::to_string(ended->id) +
                 " ended without reaching";
    found.other = int64_t(ended->pc) - 1; // both have stepped past their barrier or end
    found.otherWave = int(ended->id);
    --waiting->pc;
    report(*waiting, found);
    ++waiting->pc;
  }
  for (auto &wave : waves) {
    if (wave->status != Status::AtBarrier)
      continue;
    ++wave->epoch;
    wave->status = Status::Ready;
  }
  shadow->barrier(*this);
}

void Run::step(Wave &wave) {
  if (wave.pc >= length)
    fault("control", "execution runs past the end of the program");
  const Instruction &instruction = program[wave.pc];
  if (config.strict && wave.waits->pendingRegisters)
    checkUse(*this, wave, instruction);
  if (wave.undefinedScalars[0] | wave.undefinedScalars[1])
    checkUndefined(*this, wave, instruction);
  wave.next = wave.pc + 1;
  ++executed;
  ++counts[wave.pc];
  ++waveCounts[wave.id];
  if (tracing)
    trace.push_back({wave.pc, uint16_t(wave.id), 0, 0, 0});
  opInfo(instruction.op).run(*this, wave, instruction);
  wave.pc = wave.next;
}

Run::Outcome Run::launch(uint64_t budget) {
  uint64_t stop = budget ? executed + budget : ~0ull;
  try {
    if (!started && !nextGroup())
      return Outcome::Done;
    started = true;
    for (;;) {
      if (slice == 0 || waves[current]->status != Status::Ready) {
        if (executed >= stop)
          return Outcome::More;
        if (config.limit && executed >= config.limit)
          fault("limit", "more than " + std::to_string(config.limit) + " instructions executed");
        if (executed - turnStart >= kTurn && memory.changes != changes) {
          changes = memory.changes;
          turnStart = executed;
          quietTurns = 0;
        }
        if (executed - turnStart >= kTurn) {
          bool all = groupsStarted == config.grid[0] * config.grid[1] * config.grid[2];
          if (!config.limit && all && quietTurns >= kMostQuiet * (waiting.size() + 1))
            fault("deadlock", "workgroups run on without storing anything, " + std::to_string(kMostQuiet) +
                                  " times " + std::to_string(kTurn) +
                                  " instructions each: they wait for what nobody writes (or give a limit)");
          endTurn(false);
        }
        if (!pick()) {
          bool done = std::all_of(waves.begin(), waves.end(), [](auto &w) { return w->status == Status::Ended; });
          if (!done) {
            meetBarrier();
            continue;
          }
          quietTurns = 0;
          if (!endTurn(true))
            return Outcome::Done;
          continue;
        }
        slice = uint32_t(std::min<uint64_t>(slice, 1 << 16)); // so that budget and limit are looked at
      }
      --slice;
      step(*waves[current]);
    }
  } catch (const Fault &found) {
    record(*waves[current], found);
    return Outcome::Faulted;
  }
}

void Run::record(const Wave &wave, const Fault &found) {
  Finding finding;
  finding.kind = found.kind;
  finding.text = found.text;
  finding.instruction = wave.pc;
  finding.wave = wave.id;
  std::copy_n(group, 3, finding.group);
  finding.lane = found.lane;
  finding.hasAddress = found.hasAddress;
  finding.address = found.address;
  finding.other = found.other;
  finding.otherWave = found.otherWave;
  findings.push_back(std::move(finding));
}

constexpr size_t kMostFindings = 100; // one of a kind and instruction is kept

void Run::report(const Wave &wave, Fault found) {
  if (!config.collect)
    throw found;
  for (const Finding &old : findings)
    if (old.instruction == wave.pc && old.kind == found.kind)
      return;
  if (findings.size() < kMostFindings)
    record(wave, found);
}

void Run::profile(const Wave &wave, uint32_t moved, uint32_t touched, uint32_t cycles) {
  bytes[wave.pc] += moved;
  segments[wave.pc] += touched;
  phases[wave.pc] += cycles;
  if (tracing) {
    TraceEntry &entry = trace.back();
    entry.bytes = moved;
    entry.segments = touched;
    entry.phases = uint16_t(cycles);
  }
}

} // namespace machine
