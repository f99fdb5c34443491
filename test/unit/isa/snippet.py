"""Runs a few lines of assembly in one wave from given registers, and gives the registers after."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from wave_mlir.isa import assembly, encoder
from wave_mlir.isa.errors import Finding, IsaError
from wave_mlir.isa.native import ORDERS, TARGETS, BufferDesc, Config, Session

VCC, M0, EXEC = 106, 124, 126
LANES = 64
MODE = 0x3F0  # denormals kept, DX10_CLAMP, IEEE: what LLVM sets
_BUFFER_BASE = 0x1000_0000_0000
_BUFFER_STEP = 1 << 36


def buffer_address(index: int) -> int:
    """Device address of the `index`-th of `buffers`."""
    return _BUFFER_BASE + index * _BUFFER_STEP


@dataclass
class Registers:
    """What one wave holds at the end: s u32[128], v u32[512, 64] (a0 is v[256]), scc; LDS bytes; the session."""

    s: np.ndarray
    v: np.ndarray
    scc: bool
    lds: np.ndarray
    session: Session
    program: encoder.Program

    def pair(self, register: int) -> int:
        """The 64-bit value of two scalar registers."""
        return int(self.s[register]) | int(self.s[register + 1]) << 32

    @property
    def vcc(self) -> int:
        """VCC."""
        return self.pair(VCC)

    def v64(self, register: int) -> np.ndarray:
        """u64[64] of two vector registers."""
        return self.v[register].astype(np.uint64) | self.v[register + 1].astype(np.uint64) << np.uint64(32)


def _words(value: object, dwords: int | None = None) -> np.ndarray:
    """u32[dwords] of an integer (of 64 bits when it does not fit in 32), or of an array's bytes."""
    if isinstance(value, int):
        count = dwords or (2 if value >> 32 not in (0, -1) else 1)
        return np.array([value >> 32 * i & 0xFFFFFFFF for i in range(count)], np.uint32)
    return np.ascontiguousarray(np.asarray(value)).reshape(-1).view(np.uint32)


def _lanes(value: object) -> np.ndarray:
    """u32[registers, 64]: of a number (all lanes), or an array [64] or [64, n] of 1, 2, 4 or 8 bytes an element."""
    if isinstance(value, float):
        value = np.full(LANES, value, np.float32)
    if isinstance(value, int):
        value = np.full(LANES, value & 0xFFFFFFFF, np.uint32)
    array = np.ascontiguousarray(np.asarray(value))
    if array.shape[0] != LANES:
        raise ValueError(f"a vector register has 64 lanes, not {array.shape[0]}")
    if array.ndim == 1 and array.itemsize < 4:
        return array.view(np.uint8 if array.itemsize == 1 else np.uint16).astype(np.uint32)[None]
    return array.reshape(LANES, -1).view(np.uint32).T


def run_lines(
    text: str | Sequence[str],
    vgprs: Mapping[int, object] | None = None,
    sgprs: Mapping[int, object] | None = None,
    *,
    exec: int = (1 << 64) - 1,
    vcc: int | None = None,
    m0: int | None = None,
    target: str = "gfx942",
    mode: int = MODE,
    lds: int = 0,
    buffers: Sequence[np.ndarray] = (),
    written: Sequence[np.ndarray | None] = (),
    scratch: int = 0,
    waves: int = 1,
    strict: bool = True,
    races: bool = True,
    collect: bool = False,
    order: str = "forward",
    seed: int = 0,
    wave: int = 0,
    limit: int = 1_000_000,
) -> Registers:
    """Run the lines (an s_endpgm follows) in `waves` waves of one workgroup.

    vgprs: by register (256 is a0): a number, an array of 64, or [64, n] that fills several registers; one element of
    8 bytes fills two; arrays of 64 * waves are cut in waves. sgprs: by register: an integer, of 64 bits in two
    registers, or an array of words. All else is poison; buffers lie at buffer_address(i) and are changed in place;
    SCC is 0 (set it with s_cmp). lds, scratch: bytes of a workgroup, of a lane. Returns the registers of wave `wave`.
    Raises IsaError for a fault.
    """
    body = text if isinstance(text, str) else "\n".join(text)
    listing = assembly.parse(f"snippet:\n{body}\ns_endpgm\n", "snippet")
    program = encoder.encode(listing.functions, target)
    config = Config()
    config.grid[:] = (1, 1, 1)
    config.block[:] = (LANES * waves, 1, 1)
    config.target, config.order, config.seed = TARGETS.index(target), ORDERS.index(order), seed
    config.strict, config.races, config.unwritten, config.collect = strict, races, 1, collect
    config.limit, config.ldsBytes, config.scratchBytes, config.mode = limit, lds, scratch, mode
    session = Session(config, program.instructions, _descriptors(buffers, written))
    starts = [_start(_of_wave(vgprs or {}, w, waves), sgprs or {}, exec, vcc, m0) for w in range(waves)]
    session.start_registers(np.stack([s for s, _ in starts]), np.stack([v for _, v in starts]))
    if not session.launch():
        found = session.findings()[-1]
        line = program.lines[found.instruction].text if found.instruction < len(program.lines) else ""
        raise IsaError.of(Finding(found.kind, found.text, line, "", found.group, found.wave, found.lane, found.address))
    s, v, scc = session.registers(wave)
    return Registers(s, v, scc, session.lds(lds) if lds else np.zeros(0, np.uint8), session, program)


def _descriptors(buffers: Sequence[np.ndarray], written: Sequence[np.ndarray | None]) -> list[BufferDesc]:
    out = []
    for i, (buffer, mask) in enumerate(itertools.zip_longest(buffers, written)):
        if not buffer.flags.c_contiguous:
            raise ValueError("buffers are C-contiguous arrays")
        data = None if mask is None else mask.ctypes.data
        out.append(BufferDesc(buffer_address(i), buffer.nbytes, buffer.ctypes.data, data, 1, i))
    return out


def _of_wave(vgprs: Mapping[int, object], wave: int, waves: int) -> dict[int, object]:
    """The part of a wave of values given for all waves."""
    part = slice(wave * LANES, (wave + 1) * LANES)

    def cut(value: object) -> object:
        return value[part] if isinstance(value, np.ndarray) and waves > 1 and len(value) == waves * LANES else value

    return {register: cut(value) for register, value in vgprs.items()}


def _start(
    vgprs: Mapping[int, object], sgprs: Mapping[int, object], exec: int, vcc: int | None, m0: int | None
) -> tuple[np.ndarray, np.ndarray]:
    s, v = np.full(128, 0xFFBADBAD, np.uint32), np.full((512, LANES), 0xFFBADBAD, np.uint32)
    s[EXEC : EXEC + 2] = _words(exec, 2)
    if vcc is not None:
        s[VCC : VCC + 2] = _words(vcc, 2)
    if m0 is not None:
        s[M0] = m0
    for register, value in sgprs.items():
        words = _words(value)
        s[register : register + len(words)] = words
    for register, value in vgprs.items():
        rows = _lanes(value)
        v[register : register + len(rows)] = rows
    return s, v
