// C interface for ctypes (wave_mlir.isa.native).
#include "machine/Lds.h"
#include "machine/Memory.h"
#include "machine/Run.h"
#include "machine/Waits.h"

#include <algorithm>

#define API extern "C" __attribute__((visibility("default")))

using namespace machine;

namespace {
struct Session {
  Config config;
  std::vector<Instruction> program;
  Memory memory;
  std::vector<uint32_t> sgprs, vgprs;
  Run run;
  Session(const Config &config, const Instruction *program, uint32_t length, const BufferDesc *buffers, uint32_t count)
      : config(config), program(program, program + length), memory(buffers, count),
        run(this->config, this->program.data(), length, memory) {}
};

struct OpDesc {
  const char *name, *signature;
  uint32_t format, extra, targets;
};

struct FindingDesc {
  const char *kind, *text;
  uint32_t instruction, wave, group[3];
  int32_t lane;
  uint32_t hasAddress;
  uint64_t address;
  uint32_t other, otherWave; // ~0u: none
};
} // namespace

API uint32_t machine_op_count() { return uint32_t(opCount()); }

API void machine_op(uint32_t index, OpDesc *out) {
  const OpInfo &op = opInfo(uint16_t(index));
  *out = {op.name, op.signature, uint32_t(op.format), op.extra, op.targets};
}

API void machine_sizes(uint32_t *out) {
  out[0] = sizeof(Instruction);
  out[1] = sizeof(Operand);
  out[2] = sizeof(Config);
  out[3] = sizeof(BufferDesc);
  out[4] = sizeof(TraceEntry);
  out[5] = sizeof(FindingDesc);
}

API Session *machine_create(const Config *config, const Instruction *program, uint32_t length,
                            const BufferDesc *buffers, uint32_t count) {
  return new Session(*config, program, length, buffers, count);
}

API void machine_destroy(Session *session) { delete session; }

// Registers of all waves of the first workgroup at its start: [wave][kSgprs], [wave][kVgprs][kLanes].
API void machine_start_registers(Session *session, const uint32_t *sgprs, const uint32_t *vgprs, uint32_t waves) {
  session->sgprs.assign(sgprs, sgprs + size_t(waves) * kSgprs);
  session->vgprs.assign(vgprs, vgprs + size_t(waves) * kVgprs * kLanes);
  session->run.firstSgprs = session->sgprs.data();
  session->run.firstVgprs = session->vgprs.data();
}

API uint32_t machine_launch(Session *session, uint64_t budget) { return uint32_t(session->run.launch(budget)); }

// Registers of a wave of the last workgroup that ran; false when there is no such wave.
API uint32_t machine_registers(Session *session, uint32_t wave, uint32_t *sgprs, uint32_t *vgprs, uint32_t *scc) {
  if (wave >= session->run.waves.size())
    return 0;
  const Wave &w = *session->run.waves[wave];
  std::copy_n(w.s, kSgprs, sgprs);
  std::copy_n(w.vectorFile.get(), size_t(kVgprs) * kLanes, vgprs);
  *scc = w.scc;
  return 1;
}

API const uint8_t *machine_lds(Session *session) { return session->run.lds.data(); }
API uint64_t machine_executed(Session *session) { return session->run.executed; }

// 0: executions, 1: LDS phases, 2: bytes, 3: segments, by instruction; 4: instructions by wave.
API const uint64_t *machine_counts(Session *session, uint32_t which, uint32_t *length) {
  Run &run = session->run;
  const std::vector<uint64_t> *all[] = {&run.counts, &run.phases, &run.bytes, &run.segments, &run.waveCounts};
  *length = uint32_t(all[which]->size());
  return all[which]->data();
}

API const TraceEntry *machine_trace(Session *session, uint64_t *length) {
  *length = session->run.trace.size();
  return session->run.trace.data();
}

API uint32_t machine_finding_count(Session *session) { return uint32_t(session->run.findings.size()); }

API void machine_finding(Session *session, uint32_t index, FindingDesc *out) {
  const Finding &f = session->run.findings[index];
  *out = {f.kind.c_str(), f.text.c_str(), f.instruction, f.wave, {f.group[0], f.group[1], f.group[2]},
          f.lane,         f.hasAddress,   f.address,       uint32_t(f.other), uint32_t(f.otherWave)};
}

#undef API
