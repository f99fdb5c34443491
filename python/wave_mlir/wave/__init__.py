"""Operations and constraints of the language: `import wave_mlir.wave as tkw`."""

from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.dtypes import i1
from wave_mlir.lang.mapping import IndexMapping

from .compute_ops import (
    apply_expr,
    broadcast,
    cumsum,
    extract,
    extract_slice,
    max,  # noqa: A004
    min,  # noqa: A004
    mma,
    permute,
    register,
    reshape,
    scalar,
    scaled_mma,
    scatter_add,
    self_index,
    set_symbol,
    shuffle,
    sum,  # noqa: A004
    topk,
)
from .constraints import (
    Assumption,
    DeviceConstraint,
    GenericDot,
    GridConstraint,
    HardwareConstraint,
    IteratorBindings,
    MMAOperand,
    MMAType,
    ReorderingConstraint,
    ScaledMMAType,
    SymbolicAlias,
    TilingConstraint,
    WaveConstraint,
    WorkgroupConstraint,
)
from .elementwise import (
    abs,  # noqa: A004
    atan2,
    bitcast,
    cast,
    cbrt,
    ceil,
    cos,
    cosh,
    eq,
    exp,
    exp2,
    floor,
    ge,
    gt,
    le,
    log,
    log2,
    log10,
    lt,
    maximum,
    minimum,
    mod,
    ne,
    powf,
    reciprocal,
    remf,
    round,  # noqa: A004
    roundeven,
    rsqrt,
    select,
    sin,
    sinh,
    softsign,
    sqrt,
    tan,
    tanh,
    tanh_approx,
    trunc,
)
from .kernel import WaveKernel, wave
from .memory_ops import MemoryAccessFlags, allocate, atomic_add, atomic_min, read, write
from .regions import conditional, iterate
from .sync_ops import (
    debug_log,
    memory_counter_wait,
    scheduling_barrier,
    set_wave_prio,
    shared_memory_barrier,
    shared_memory_barrier_signal,
    shared_memory_barrier_wait,
    workgroup_barrier,
)

__all__ = [name for name in dir() if not name.startswith("_")]
