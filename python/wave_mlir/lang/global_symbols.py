"""Symbols with a meaning of their own: address spaces, which `subs` binds others to, and scheduling parameters."""

import sympy

from .symbols import index_symbol, value_symbol

GLOBAL_ADDRESS_SPACE = index_symbol("$GLOBAL_ADDRESS_SPACE")
SHARED_ADDRESS_SPACE = index_symbol("$SHARED_ADDRESS_SPACE")
REGISTER_ADDRESS_SPACE = index_symbol("$REGISTER_ADDRESS_SPACE")

SPACES = {GLOBAL_ADDRESS_SPACE: "global", SHARED_ADDRESS_SPACE: "shared", REGISTER_ADDRESS_SPACE: "register"}
"""The address space that each symbol means."""

READ_SHARED_DELAY = index_symbol("$READ_SHARED_DELAY")
WRITE_SHARED_DELAY = index_symbol("$WRITE_SHARED_DELAY")
READ_GLOBAL_DELAY = index_symbol("$READ_GLOBAL_DELAY")
WRITE_GLOBAL_DELAY = index_symbol("$WRITE_GLOBAL_DELAY")
GLOBAL_TO_SHARED_DELAY = index_symbol("$GLOBAL_TO_SHARED_DELAY")
MMA_DELAY = index_symbol("$MMA_DELAY")
VALU_DELAY = index_symbol("$VALU_DELAY")
SHUFFLE_DELAY = index_symbol("$SHUFFLE_DELAY")
SHARED_MEMORY_UNITS = index_symbol("$SHARED_MEMORY_UNITS")
GLOBAL_MEMORY_UNITS = index_symbol("$GLOBAL_MEMORY_UNITS")
MMA_UNITS = index_symbol("$MMA_UNITS")
VALU_UNITS = index_symbol("$VALU_UNITS")
SHUFFLE_UNITS = index_symbol("$SHUFFLE_UNITS")

MMA_LHS, MMA_RHS, MMA_ACC = (index_symbol(f"$MMA_{part}") for part in ("LHS", "RHS", "ACC"))
MMA_LHS_SCALE, MMA_RHS_SCALE, MMA_SCALE_FP4 = (
    index_symbol(f"$MMA_{part}") for part in ("LHS_SCALE", "RHS_SCALE", "SCALE_FP4")
)
GPR_NUM = index_symbol("$GPR_NUM")
INPUT_SELECTOR = index_symbol("$INPUT_SELECTOR")
LINEAR_INDEX = index_symbol("$LINEAR_INDEX")

WORKGROUP_0, WORKGROUP_1, WORKGROUP_2 = (index_symbol(f"$WG{n}") for n in range(3))
THREAD_0, THREAD_1, THREAD_2 = (index_symbol(f"$T{n}") for n in range(3))
DEVICE_DIM_0, DEVICE_DIM_1, DEVICE_DIM_2 = (index_symbol(f"$DD{n}") for n in range(3))


def get_workgroup_symbol(i: int) -> sympy.Symbol:
    """The workgroup's number along grid dim i."""
    return index_symbol(f"$WG{i}")


def GET_ITER_ARG(i: int) -> sympy.Symbol:
    """The value number i that the innermost loop carries, in its condition or step: a uniform integer."""
    return value_symbol(f"$GET_ITER_ARG_{i}")
