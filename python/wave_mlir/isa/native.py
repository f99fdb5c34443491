"""The runner's C interface (machine/lib/Api.cpp) through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache

import numpy as np

from . import _machine
from .encoding import FORMATS, INSTRUCTION, OPERAND, TRACE

ORDERS = ("forward", "reverse", "round-robin", "random")
TARGETS = ("gfx942", "gfx950")
_SGPRS, _VGPRS, _LANES = 128, 512, 64
_BUDGET = 1 << 18  # instructions between two looks at signals: under a second


class Config(Structure):
    """machine::Config."""

    _fields_ = [
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("target", c_uint32),
        ("strict", c_uint32),
        ("races", c_uint32),
        ("unwritten", c_uint32),
        ("collect", c_uint32),
        ("order", c_uint32),
        ("seed", c_uint64),
        ("limit", c_uint64),
        ("ldsBytes", c_uint32),
        ("scratchBytes", c_uint32),
        ("mode", c_uint32),
        ("start", c_uint32),
        ("sgprCount", c_uint32),
        ("idX", c_uint32),
        ("idY", c_uint32),
        ("idZ", c_uint32),
        ("info", c_uint32),
        ("traceGroups", c_uint32),
        ("alignment", c_uint32),
        ("userSgpr", c_uint32 * 32),
    ]


class BufferDesc(Structure):
    """machine::BufferDesc."""

    _fields_ = [
        ("address", c_uint64),
        ("size", c_uint64),
        ("data", c_void_p),
        ("written", c_void_p),
        ("writable", c_uint32),
        ("argument", c_uint32),
    ]


class _OpDesc(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("signature", c_char_p),
        ("format", c_uint32),
        ("extra", c_uint32),
        ("targets", c_uint32),
    ]


class _FindingDesc(Structure):
    _fields_ = [
        ("kind", c_char_p),
        ("text", c_char_p),
        ("instruction", c_uint32),
        ("wave", c_uint32),
        ("group", c_uint32 * 3),
        ("lane", c_int32),
        ("hasAddress", c_uint32),
        ("address", c_uint64),
        ("other", c_uint32),
        ("otherWave", c_uint32),
    ]


@dataclass(frozen=True)
class Opcode:
    """An instruction of the registry: its number, name, format (of FORMATS), signature, and targets that have it."""

    index: int
    name: str
    format: str
    signature: str
    extra: int
    targets: tuple[str, ...]


@dataclass(frozen=True)
class RawFinding:
    """A finding in the runner's terms: `instruction` is an index in the program.

    `other` is the index of the other instruction (the load not waited for, the other side of a race, the end that
    passed by a barrier) and `other_wave` its wave; None when there is none.
    """

    kind: str
    text: str
    instruction: int
    wave: int
    group: tuple[int, int, int]
    lane: int | None
    address: int | None
    other: int | None = None
    other_wave: int | None = None


@cache
def library() -> ctypes.CDLL:
    """The loaded library, its functions typed."""
    lib = ctypes.CDLL(_machine.__file__)
    lib.machine_op_count.restype = c_uint32
    lib.machine_op.argtypes = [c_uint32, POINTER(_OpDesc)]
    lib.machine_sizes.argtypes = [POINTER(c_uint32)]
    lib.machine_create.restype = c_void_p
    lib.machine_create.argtypes = [POINTER(Config), c_void_p, c_uint32, POINTER(BufferDesc), c_uint32]
    lib.machine_destroy.argtypes = [c_void_p]
    lib.machine_start_registers.argtypes = [c_void_p, c_void_p, c_void_p, c_uint32]
    lib.machine_launch.restype = c_uint32
    lib.machine_launch.argtypes = [c_void_p, c_uint64]
    lib.machine_registers.restype = c_uint32
    lib.machine_registers.argtypes = [c_void_p, c_uint32, c_void_p, c_void_p, POINTER(c_uint32)]
    lib.machine_lds.restype = c_void_p
    lib.machine_lds.argtypes = [c_void_p]
    lib.machine_executed.restype = c_uint64
    lib.machine_executed.argtypes = [c_void_p]
    lib.machine_counts.restype = c_void_p
    lib.machine_counts.argtypes = [c_void_p, c_uint32, POINTER(c_uint32)]
    lib.machine_trace.restype = c_void_p
    lib.machine_trace.argtypes = [c_void_p, POINTER(c_uint64)]
    lib.machine_finding_count.restype = c_uint32
    lib.machine_finding_count.argtypes = [c_void_p]
    lib.machine_finding.argtypes = [c_void_p, c_uint32, POINTER(_FindingDesc)]
    _check_sizes(lib)
    return lib


def _check_sizes(lib: ctypes.CDLL) -> None:
    sizes = (c_uint32 * 6)()
    lib.machine_sizes(sizes)
    mine = [INSTRUCTION.itemsize, OPERAND.itemsize, ctypes.sizeof(Config), ctypes.sizeof(BufferDesc)]
    mine += [TRACE.itemsize, ctypes.sizeof(_FindingDesc)]
    if list(sizes) != mine:
        raise ImportError(f"the runner's library and its Python side differ: {list(sizes)} and {mine}; build again")


@cache
def opcodes() -> dict[str, Opcode]:
    """All instructions by name (without _e32, _e64, _sdwa, _dpp)."""
    found = {}
    raw = _OpDesc()
    for index in range(library().machine_op_count()):
        library().machine_op(index, byref(raw))
        targets = tuple(t for bit, t in enumerate(TARGETS) if raw.targets >> bit & 1)
        name = raw.name.decode()
        found[name] = Opcode(index, name, FORMATS[raw.format], raw.signature.decode(), raw.extra, targets)
    return found


class Session:
    """One launch. `program` is an array of INSTRUCTION; buffers' memory must outlive the session."""

    def __init__(self, config: Config, program: np.ndarray, buffers: Sequence[BufferDesc]) -> None:
        if program.dtype != INSTRUCTION or not program.flags.c_contiguous:
            raise TypeError("program: a C-contiguous array of INSTRUCTION is needed")
        self._lib = library()
        self._buffers = (BufferDesc * max(1, len(buffers)))(*buffers)
        data = program.ctypes.data
        self._handle = self._lib.machine_create(byref(config), data, len(program), self._buffers, len(buffers))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.machine_destroy(self._handle)

    def start_registers(self, sgprs: np.ndarray, vgprs: np.ndarray) -> None:
        """Registers of the first workgroup's waves at their start: u32[waves, 128] and u32[waves, 512, 64]."""
        s = np.ascontiguousarray(sgprs, np.uint32).reshape(-1, _SGPRS)
        v = np.ascontiguousarray(vgprs, np.uint32).reshape(-1, _VGPRS, _LANES)
        self._lib.machine_start_registers(self._handle, s.ctypes.data, v.ctypes.data, len(s))

    def launch(self, tick: Callable[[int], None] | None = None) -> bool:
        """Run to the end. False when a fault ended the run: it is the last finding.

        tick: called now and then with the number of instructions executed so far.
        """
        while (outcome := self._lib.machine_launch(self._handle, _BUDGET)) == 1:
            if tick is not None:  # back in Python about once a second, so that an interrupt ends the run
                tick(self.executed)
        return outcome == 0

    def registers(self, wave: int) -> tuple[np.ndarray, np.ndarray, bool]:
        """(u32[128], u32[512, 64], SCC) of a wave of the last workgroup. IndexError when there is no such wave."""
        s, v = np.empty(_SGPRS, np.uint32), np.empty((_VGPRS, _LANES), np.uint32)
        scc = c_uint32()
        if not self._lib.machine_registers(self._handle, wave, s.ctypes.data, v.ctypes.data, byref(scc)):
            raise IndexError(f"no wave {wave} ran")
        return s, v, bool(scc.value)

    def lds(self, size: int) -> np.ndarray:
        """LDS of the last workgroup, u8[size]."""
        data = (ctypes.c_uint8 * size).from_address(self._lib.machine_lds(self._handle))
        return np.ctypeslib.as_array(data).copy()

    @property
    def executed(self) -> int:
        """Instructions executed, counted once a wave."""
        return self._lib.machine_executed(self._handle)

    def counts(self, which: str) -> np.ndarray:
        """u64 sums: "executions", "phases", "bytes", "segments" by instruction; "waves": instructions by wave."""
        index = ("executions", "phases", "bytes", "segments", "waves").index(which)
        length = c_uint32()
        data = self._lib.machine_counts(self._handle, index, byref(length))
        if not length.value:
            return np.zeros(0, np.uint64)
        return np.ctypeslib.as_array((c_uint64 * length.value).from_address(data)).copy()

    def trace(self) -> np.ndarray:
        """Array of TRACE: the instructions of the traced workgroups in the order in which they ran."""
        length = c_uint64()
        data = self._lib.machine_trace(self._handle, byref(length))
        if not length.value:
            return np.zeros(0, TRACE)
        raw = (ctypes.c_uint8 * (length.value * TRACE.itemsize)).from_address(data)
        return np.ctypeslib.as_array(raw).view(TRACE).copy()

    def findings(self) -> list[RawFinding]:
        """What the checks found, in order."""
        found = []
        raw = _FindingDesc()
        for index in range(self._lib.machine_finding_count(self._handle)):
            self._lib.machine_finding(self._handle, index, byref(raw))
            group = (raw.group[0], raw.group[1], raw.group[2])
            address = raw.address if raw.hasAddress else None
            lane = raw.lane if raw.lane >= 0 else None
            text = raw.text.decode(errors="replace")
            other, other_wave = (None if n == 0xFFFFFFFF else n for n in (raw.other, raw.otherWave))
            where = (raw.instruction, raw.wave, group, lane, address, other, other_wave)
            found.append(RawFinding(raw.kind.decode(), text, *where))
        return found
