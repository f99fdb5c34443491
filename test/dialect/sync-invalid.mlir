// RUN: wave-opt %s --split-input-file --verify-diagnostics
// Errors of barriers, waits and scheduling.

wave.kernel @k() {
  // expected-error @+1 {{names barrier -1; barriers count from 0}}
  wave.barrier_signal -1
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{names barrier -1; barriers count from 0}}
  wave.barrier_wait -1
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{waits for nothing; give one of load, store, ds, exp}}
  wave.memory_counter_wait
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{waits for ds -1; a count cannot be negative}}
  wave.memory_counter_wait ds -1
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{sets priority 4; priorities are 0 to 3}}
  wave.set_wave_prio 4
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{'mfma' is no class of instructions}}
  wave.scheduling_barrier allow [mfma]
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{names no class of instructions}}
  "wave.scheduling_group_barrier"() <{instructions = [], size = 1 : i64, group = 0 : i64}> : () -> ()
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{groups 0 instructions; give a positive size}}
  wave.scheduling_group_barrier [mma] size 0 group 0
}
// -----
wave.kernel @k() {
  // expected-error @+1 {{is of group -1; groups count from 0}}
  wave.scheduling_group_barrier [mma] size 1 group -1
}
