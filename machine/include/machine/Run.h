// One launch: the program, memory, the workgroup that runs, and what was seen.
#pragma once
#include "machine/Registry.h"
#include "machine/State.h"

#include <deque>
#include <random>

namespace machine {

class Memory; // Memory.h: global buffers with their guards

enum class Order : uint32_t { Forward = 0, Reverse = 1, RoundRobin = 2, Random = 3 };

// Mirrored by wave_mlir.isa.native.Config (ctypes).
struct Config {
  uint32_t grid[3];  // workgroups
  uint32_t block[3]; // work-items
  uint32_t target;   // 0: gfx942, 1: gfx950
  uint32_t strict;   // loads arrive when a wait covers them; first use before is a fault
  uint32_t races;    // LDS races are faults
  uint32_t unwritten; // reading an unwritten byte is a fault
  uint32_t collect;  // go on after a finding that allows it
  uint32_t order;    // Order
  uint64_t seed;
  uint64_t limit; // instructions a launch may execute, 0: no limit
  uint32_t ldsBytes, scratchBytes; // a workgroup; a lane
  uint32_t mode;                   // MODE at the start
  uint32_t start;                  // index of the first instruction
  uint32_t sgprCount;              // scalars set at the start: user SGPRs; the workgroup ids follow as enabled
  uint32_t idX, idY, idZ, info;    // 1: that system SGPR is enabled
  uint32_t traceGroups;            // record a trace of so many workgroups
  uint32_t alignment; // 1: accesses are naturally aligned (docs/machine-code.md, "Alignment"); 0: the unaligned mode of amdhsa
  uint32_t userSgpr[32];
};

struct Finding {
  std::string kind, text;
  uint32_t instruction = 0, wave = 0, group[3] = {0, 0, 0};
  int lane = -1;
  bool hasAddress = false;
  uint64_t address = 0;
  int64_t other = -1; // as in Fault
  int otherWave = -1;
};

// One executed instruction of a traced workgroup; for memory, what the addresses were.
struct TraceEntry {
  uint32_t instruction;
  uint16_t wave;
  uint16_t phases;   // LDS: cycles of the access by the banks asked for
  uint32_t bytes;    // memory: bytes moved by all lanes
  uint32_t segments; // global memory: 64-byte segments touched; LDS: phases it takes without a conflict
};

// A workgroup that has begun: what `Run` has of the one that runs.
struct Group {
  std::vector<uint8_t> lds;
  std::unique_ptr<LdsShadow> shadow;
  std::vector<std::unique_ptr<Wave>> waves;
  uint32_t id[3], current;
  bool tracing;
};

class Run {
public:
  Run(const Config &config, const Instruction *program, uint32_t length, Memory &memory);
  ~Run();

  const Config &config;
  const Instruction *program;
  uint32_t length;
  Memory &memory;
  std::vector<uint8_t> lds;
  std::unique_ptr<LdsShadow> shadow;
  std::vector<std::unique_ptr<Wave>> waves;
  uint32_t group[3] = {0, 0, 0};
  std::vector<uint64_t> counts;        // executions, [instruction]
  std::vector<uint64_t> waveCounts;    // instructions executed by wave number, all workgroups together
  std::vector<uint64_t> phases, bytes, segments; // sums by instruction, as in TraceEntry
  std::vector<TraceEntry> trace;
  std::vector<Finding> findings;
  uint64_t executed = 0;

  // Registers for the first workgroup's waves to start with (tests of single instructions); null: as hardware does.
  const uint32_t *firstSgprs = nullptr, *firstVgprs = nullptr;

  // Executes up to `budget` instructions (0: all). More: to be called again. Faulted: the last finding says why.
  enum class Outcome { Done, More, Faulted };
  Outcome launch(uint64_t budget);

  // For handlers: a fault that does not stop a run that collects findings.
  void report(const Wave &wave, Fault fault);
  // For memory handlers: what the access was, for the profile.
  void profile(const Wave &wave, uint32_t bytes, uint32_t segments, uint32_t phases);

private:
  void startGroup();
  bool nextGroup();
  bool endTurn(bool ended);
  void exchange(Group &other);
  void start(Wave &wave, uint32_t id);
  void step(Wave &wave);
  bool pick();
  void meetBarrier();
  void record(const Wave &wave, const Fault &fault);
  std::mt19937_64 random;
  bool started = false, tracing = false;
  uint32_t groupsStarted = 0;
  std::deque<Group> waiting;   // workgroups whose turn is over; the longest waiting one first
  uint64_t turnStart = 0;      // instructions executed when the turn began, or memory changed last
  uint64_t changes = 0;        // of memory, as last seen
  uint64_t reads = 0;          // of memory, when the turn began
  uint64_t quietTurns = 0;     // in a row in which memory was read and did not change
  uint32_t current = 0; // wave that runs
  uint32_t slice = 0;   // instructions it has left before another is picked
};

} // namespace machine
