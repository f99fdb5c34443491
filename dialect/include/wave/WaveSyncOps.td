#ifndef WAVE_SYNC_OPS_TD
#define WAVE_SYNC_OPS_TD
// Barriers, waits, scheduling and debugging.
include "wave/WaveBase.td"

// Both effects: accesses stay on their side, and the op is never dead.
class Wave_SyncOp<string mnemonic> : Wave_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def Wave_SharedMemoryBarrierOp : Wave_SyncOp<"shared_memory_barrier"> {
  let summary = "all waves of the workgroup arrive; LDS is consistent after";
  let description = [{
    LDS accesses before it are visible to every wave of the workgroup after it. With `wait_async` it also waits for the
    direct copies from global memory that any of the waves has started.

    ```mlir
    wave.shared_memory_barrier
    wave.shared_memory_barrier wait_async
    ```
  }];
  let arguments = (ins UnitAttr:$wait_async);
  let assemblyFormat = "(`wait_async` $wait_async^)? attr-dict";
}
def Wave_BarrierSignalOp : Wave_SyncOp<"barrier_signal"> {
  let summary = "first half of a split barrier";
  let description = [{
    The wave has done what the others wait for: it goes on, and the barrier `id` counts it. Stands after the producer.

    ```mlir
    wave.barrier_signal 0
    ```
  }];
  let arguments = (ins I64Attr:$id, UnitAttr:$wait_async);
  let assemblyFormat = "$id (`wait_async` $wait_async^)? attr-dict";
  let hasVerifier = 1;
}
def Wave_BarrierWaitOp : Wave_SyncOp<"barrier_wait"> {
  let summary = "second half of a split barrier";
  let description = [{
    Waits until all waves of the workgroup have signalled barrier `id`. Stands before the consumer.

    ```mlir
    wave.barrier_wait 0
    ```
  }];
  let arguments = (ins I64Attr:$id);
  let assemblyFormat = "$id attr-dict";
  let hasVerifier = 1;
}
def Wave_WorkgroupBarrierOp : Wave_SyncOp<"workgroup_barrier"> {
  let summary = "all waves of the workgroup arrive";
  let description = [{
    Execution only: it waits for no memory access.

    ```mlir
    wave.workgroup_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def Wave_WaveFenceOp : Wave_SyncOp<"wave_fence"> {
  let summary = "orders the LDS accesses of one wave";
  let description = [{
    No instruction: the compiler keeps LDS accesses on their side. Stands where lanes of one wave exchange values
    through LDS.

    ```mlir
    wave.wave_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def Wave_MemoryCounterWaitOp : Wave_SyncOp<"memory_counter_wait"> {
  let summary = "waits until few accesses are outstanding";
  let description = [{
    Waits until at most so many global loads, global stores, LDS accesses or exports of the wave are outstanding;
    what is not given is not waited for.

    ```mlir
    wave.memory_counter_wait load 4 ds 0
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$load, OptionalAttr<I64Attr>:$store, OptionalAttr<I64Attr>:$ds,
                       OptionalAttr<I64Attr>:$exp);
  let assemblyFormat = "(`load` $load^)? (`store` $store^)? (`ds` $ds^)? (`exp` $exp^)? attr-dict";
  let hasVerifier = 1;
}
def Wave_SetWavePrioOp : Wave_SyncOp<"set_wave_prio"> {
  let summary = "sets the wave's priority";
  let description = [{
    From 0 (the lowest, with which waves start) to 3. MMA clusters and barriers do not move across it.

    ```mlir
    wave.set_wave_prio 1
    ```
  }];
  let arguments = (ins I64Attr:$priority);
  let assemblyFormat = "$priority attr-dict";
  let hasVerifier = 1;
}
def Wave_SchedulingBarrierOp : Wave_SyncOp<"scheduling_barrier"> {
  let summary = "instructions stay on their side";
  let description = [{
    No instruction: the machine scheduler moves nothing across it but the classes listed.

    ```mlir
    wave.scheduling_barrier
    wave.scheduling_barrier allow [mma, valu]
    ```
  }];
  let arguments = (ins DefaultValuedAttr<TypedArrayAttrBase<Wave_InstructionClassAttr, "instruction classes">, "{}">:$allow);
  let assemblyFormat = "(`allow` ` ` `[` custom<InstructionClasses>($allow)^ `]`)? attr-dict";
}
def Wave_SchedulingGroupBarrierOp : Wave_SyncOp<"scheduling_group_barrier"> {
  let summary = "a number of instructions of a class come next";
  let description = [{
    No instruction: tells the machine scheduler to place `size` instructions of the classes here. Those with one `group`
    make a sequence.

    ```mlir
    wave.scheduling_group_barrier [mma] size 4 group 0
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<Wave_InstructionClassAttr, "instruction classes">:$instructions,
                       I64Attr:$size, I64Attr:$group);
  let assemblyFormat = "` ` `[` custom<InstructionClasses>($instructions) `]` `size` $size `group` $group attr-dict";
  let hasVerifier = 1;
}
def Wave_DebugLogOp : Wave_SyncOp<"debug_log"> {
  let summary = "records a value for the user to look at";
  let description = [{
    ```mlir
    wave.debug_log %x "scores" : !wave.tile<[M, N], f32>
    ```
  }];
  let arguments = (ins Wave_Value:$value, StrAttr:$label);
  let assemblyFormat = "$value $label attr-dict `:` type($value)";
}
#endif
