"""The core of every load and store: addresses, bounds, alignment, races, then the data.

A buffer resource (MemRef.valid) changes only the bounds: what is out of range reads 0 or is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cohort import Cohort
from .dtypes import DType
from .errors import SimError
from .memory import GLOBAL, LDS, PRIVATE, MemRef, Storage
from .program import OpInfo
from .shadow import Access
from .waits import ATOMIC, PLAIN


@dataclass(slots=True)
class Plan:
    """What is known of an access when compiling. count: elements; alignment: bytes the op itself promises, or 0."""

    info: OpInfo
    dtype: DType
    count: int
    alignment: int = 0
    counter: bool = True  # counts as a memory operation of the wave
    volatile: bool = False

    @property
    def size(self) -> int:
        return self.dtype.size * self.count


def required_alignment(space: str, size: int, element: int) -> int:
    """Bytes an access of `size` bytes must be aligned to; from the hardware's rules for dword, b64 and b128 accesses.

    LDS: b64 needs 8, b96 and b128 need 16. Global and buffer: a dword or more needs 4. Less than a dword: its element.
    """
    if space == PRIVATE:
        return element if size < 4 else min(4, element) or 1
    if size < 4:
        return element
    if space == LDS:
        return 16 if size >= 12 else 8 if size >= 8 else 4
    return 4


def offsets(memref: MemRef, indices: list[np.ndarray]) -> np.ndarray:
    """Byte offset in the instance of memref[indices], int64 broadcastable to (waves, lanes)."""
    total = memref.base
    for index, stride in zip(indices, memref.strides, strict=True):
        if isinstance(stride, int):
            scale = stride * memref.dtype.size
            if scale == 0:
                continue
            total = total + (index * scale if scale != 1 else index)
        else:
            total = total + index * (stride * memref.dtype.size)
    return total


def mask_for(cohort: Cohort, extra: np.ndarray | None) -> np.ndarray | None:
    """Active lanes, further limited by `extra`; None when all are."""
    if extra is None:
        return cohort.mask
    return extra if cohort.mask is None else extra & cohort.mask


def _first(bad: np.ndarray, cohort: Cohort) -> tuple[int, int]:
    """Wave and lane of the first set element of (waves or 1, lanes or 1)."""
    where = np.argwhere(bad)[0]
    return int(cohort.waves[where[0] if bad.shape[0] > 1 else 0]), int(where[1])


def check_bounds(
    cohort: Cohort, plan: Plan, memref: MemRef, indices: list[np.ndarray], at: np.ndarray, mask: np.ndarray | None
) -> None:
    """Raise when an active lane leaves the memref or its storage."""
    last = len(indices) - 1
    for dim, (index, extent) in enumerate(zip(indices, memref.shape, strict=True)):
        if extent is None:
            continue
        reach = plan.count if dim == last else 1
        bad = (index < 0) | (index > np.subtract(extent, reach))
        if bad.any():
            _bounds_error(cohort, plan, memref, bad, mask, at, (dim, index, extent))
    storage = memref.storage
    if int(at.min(initial=0)) < 0 or int(at.max(initial=0)) > storage.size - plan.size:
        _bounds_error(cohort, plan, memref, (at < 0) | (at > storage.size - plan.size), mask, at, None)


def _bounds_error(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    bad: np.ndarray,
    mask: np.ndarray | None,
    at: np.ndarray,
    by_dim: tuple[int, np.ndarray, object] | None,
) -> None:
    if mask is not None:
        bad = bad & mask
    if not bad.any():
        return
    wave, lane = _first(bad, cohort)
    where = np.argwhere(bad)[0]

    def value(array: object) -> int:
        array = np.asarray(array)
        if array.ndim < 2:
            return int(array)
        return int(array[tuple(w if n > 1 else 0 for w, n in zip(where, array.shape, strict=True))])

    storage, info = memref.storage, plan.info
    machine = cohort.machine
    name = machine.wave_name(wave)
    offset = value(at)
    if by_dim is not None:
        dim, index, extent = by_dim
        first = value(index)
        text = (
            f"{info.name} of {name}, lane {lane}, touches elements {first} to "
            f"{first + (plan.count if dim == len(memref.shape) - 1 else 1) - 1} of dim {dim} of {storage.name}, "
            f"which has {value(extent)}"
        )
    else:
        text = (
            f"{info.name} of {name}, lane {lane}, touches bytes {offset} to {offset + plan.size - 1} of "
            f"{storage.name}, which has {storage.size}"
        )
    text += "; mask the access or correct its index"
    machine.report(SimError("bounds", text, location=info.location, waves=(name,), lane=lane, address=offset))


def report_out_of_bounds(cohort: Cohort, plan: Plan, memref: MemRef, bad: np.ndarray, at: np.ndarray) -> None:
    """Report the first lane in `bad` (waves or 1, lanes or 1), whose access is at byte `at` of the storage."""
    _bounds_error(cohort, plan, memref, bad, None, at, None)


def check_alignment(
    cohort: Cohort, plan: Plan, storage: Storage, at: np.ndarray, mask: np.ndarray | None, element_wise: bool = False
) -> None:
    """Raise when an active lane's access is misaligned."""
    size = plan.dtype.size if element_wise else plan.size
    need = max(required_alignment(storage.space, size, plan.dtype.size), plan.alignment)
    if need <= 1 or not int(np.bitwise_or.reduce(at, axis=None)) & (need - 1):
        return
    bad = (at & (need - 1)) != 0
    if mask is not None:
        bad = bad & mask
    if not bad.any():
        return
    wave, lane = _first(bad, cohort)
    offset = int(np.broadcast_to(at, np.broadcast_shapes(at.shape, bad.shape))[bad][0])
    machine, info = cohort.machine, plan.info
    name = machine.wave_name(wave)
    promised = ", as its alignment attribute promises" if need == plan.alignment else ""
    machine.report(
        SimError(
            "alignment",
            f"{info.name} of {name}, lane {lane}, accesses {size} bytes at byte {offset} of {storage.name}; "
            f"this needs an address that {need} divides{promised}. Use narrower accesses, or pad the row",
            location=info.location,
            waves=(name,),
            lane=lane,
            address=offset,
        )
    )


def flat_addresses(cohort: Cohort, storage: Storage, at: np.ndarray) -> np.ndarray:
    """Addresses in the storage's array of all instances."""
    if storage.space == LDS:
        return at + cohort.group * storage.stride
    if storage.space == PRIVATE:
        lanes = cohort.machine.lanes
        return at + (cohort.waves[:, None] * lanes + np.arange(lanes)) * storage.stride
    return at


def record(
    cohort: Cohort,
    plan: Plan,
    storage: Storage,
    flat: np.ndarray,
    mask: np.ndarray | None,
    *,
    reads: bool,
    writes: bool,
    kind: int = PLAIN,
    size: int | None = None,
) -> None:
    """Tell shadow memory of an access, and raise what it finds. flat: (waves or 1, lanes or 1[, elements])."""
    shadow = storage.shadow
    if shadow is None:
        return
    machine = cohort.machine
    if plan.volatile and machine.turns is not None and storage.space == GLOBAL:
        if not writes:
            return
        kind = ATOMIC  # volatile accesses are how waves that wait for each other do it
    checks = machine.checks
    shape = np.broadcast_shapes(flat.shape, (cohort.size, 1) + (1,) * (flat.ndim - 2))
    if mask is not None:
        shape = np.broadcast_shapes(shape, mask.shape)

    def spread(values: np.ndarray) -> np.ndarray:
        values = values.reshape(values.shape + (1,) * (len(shape) - values.ndim))
        full = np.broadcast_to(values, shape)
        return full.reshape(-1) if mask is None else full[np.broadcast_to(mask, shape)]

    addresses = spread(flat)
    if addresses.size == 0:
        return
    waits = machine.waits
    counter = machine.counted.get(storage.space, "") if kind == PLAIN else ""
    stamp = cohort.signalled
    if kind not in (PLAIN, ATOMIC) or counter:
        stamp = waits.issued["vm" if kind != PLAIN else counter][cohort.waves][:, None]
    access = Access(
        addresses,
        plan.size if size is None else size,
        spread(cohort.wave1),
        spread(cohort.passed),
        spread(cohort.signalled),
        spread(cohort.group),
        plan.info.number,
        waits,
        spread(stamp),
        machine.counted.get(storage.space, ""),
        kind,
    )
    if "race" not in checks and "async" not in checks:
        found = shadow.check_init(access) if reads and "uninitialised" in checks and shadow.tracks_init else None
        if writes:
            shadow.mark(access)
    elif writes:
        found = shadow.write(access)
    else:
        found = shadow.read(access, "uninitialised" in checks)
    if found is None or found.what not in checks:
        return
    wave = int(access.wave1[found.index]) - 1
    lane = _lane_of(shape, mask, found.index, cohort)
    machine.conflict(plan.info, storage, found, wave, lane)


def _lane_of(shape: tuple[int, ...], mask: np.ndarray | None, index: int, cohort: Cohort) -> int | None:
    if shape[1] == 1:
        return None
    if mask is not None:
        index = int(np.flatnonzero(np.broadcast_to(mask, shape))[index])
    return int(np.unravel_index(index, shape)[1])


def count_operation(cohort: Cohort, plan: Plan, space: str, mask: np.ndarray | None) -> None:
    """Count a memory operation of each wave that takes part, where some wait may ask for it."""
    machine = cohort.machine
    if not machine.counts_operations or space == PRIVATE or not plan.counter:
        return
    waves = cohort.waves
    if mask is not None:
        waves = waves[np.broadcast_to(mask, (cohort.size, mask.shape[1])).any(axis=1)]
    amount = max(1, -(-plan.size // 16))
    machine.waits.issue("ds" if space == LDS else "vm", waves, amount)


def in_range(memref: MemRef, at: np.ndarray, size: int) -> np.ndarray | None:
    """Of a buffer resource: where [at, at+size) lies in the valid bytes; None for plain memory.

    The hardware takes the distance from the resource's base as 32 bits without sign.
    """
    if memref.valid is None:
        return None
    start = at if memref.origin is None else at - memref.origin
    return (start & _UNSIGNED_32) + size <= memref.valid


_UNSIGNED_32 = 0xFFFFFFFF


def load(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    indices: list[np.ndarray],
    mask: np.ndarray | None = None,
    wanted: np.ndarray | None = None,
) -> np.ndarray:
    """Elements memref[indices], …: (waves or 1, lanes or 1, count). Lanes not active read garbage, never outside.

    wanted: (waves or 1, lanes or 1): lanes whose value is used. The others must read inside the memory, at an aligned
    address, but what they get is dropped, so that it may be what another wave writes, or nothing.
    """
    at = offsets(memref, indices)
    if memref.valid is not None:
        return load_buffer(cohort, plan, memref, at, mask)
    active = mask_for(cohort, mask)
    return load_at(cohort, plan, memref, indices, at, active, wanted)


def load_at(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    indices: list[np.ndarray],
    at: np.ndarray,
    active: np.ndarray | None,
    wanted: np.ndarray | None = None,
) -> np.ndarray:
    """`load` after the address is known."""
    storage = memref.storage
    checks = cohort.machine.checks
    if "bounds" in checks:
        check_bounds(cohort, plan, memref, indices, at, active)
    if "alignment" in checks:
        check_alignment(cohort, plan, storage, at, active)
    count_operation(cohort, plan, storage.space, active)
    inside = _clamped(at, active, storage, plan.size, "bounds" in checks)
    if inside is None:
        return np.zeros((1, 1, plan.count), dtype=plan.dtype.np)
    flat = flat_addresses(cohort, storage, inside)
    if storage.shadow is not None:
        used = active if wanted is None else wanted if active is None else active & wanted
        record(cohort, plan, storage, flat, used, reads=True, writes=False)
    return storage.load(flat, plan.dtype, plan.count)


def _clamped(
    at: np.ndarray, active: np.ndarray | None, storage: Storage, size: int, checked: bool
) -> np.ndarray | None:
    """Addresses with those of inactive lanes moved inside; None when the storage is too small for any access."""
    if storage.size < size:
        return None
    if active is not None:
        at = np.where(active, at, 0)
    return at if checked else np.clip(at, 0, storage.size - size)


def store(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    indices: list[np.ndarray],
    values: np.ndarray,
    mask: np.ndarray | None = None,
) -> None:
    """Write values (waves or 1, lanes or 1, count) to memref[indices], … in active lanes."""
    at = offsets(memref, indices)
    active = mask_for(cohort, mask)
    if memref.valid is not None:
        store_buffer(cohort, plan, memref, at, values, active)
        return
    storage = memref.storage
    checks = cohort.machine.checks
    if "bounds" in checks:
        check_bounds(cohort, plan, memref, indices, at, active)
    if "alignment" in checks:
        check_alignment(cohort, plan, storage, at, active)
    count_operation(cohort, plan, storage.space, active)
    at = _clamped(at, active, storage, plan.size, "bounds" in checks)
    if at is not None:
        write_flat(cohort, plan, storage, flat_addresses(cohort, storage, at), values, active)


def write_flat(
    cohort: Cohort, plan: Plan, storage: Storage, flat: np.ndarray, values: np.ndarray, active: np.ndarray | None
) -> None:
    """Record and do a store at flat addresses."""
    if storage.shadow is not None:
        recorded = active
        if cohort.machine.agreeing_writes and storage.space == GLOBAL:
            recorded = _changing(cohort, plan, storage, flat, values, active)
        record(cohort, plan, storage, flat, recorded, reads=False, writes=True)
    shape = np.broadcast_shapes(flat.shape, values.shape[:2], (1, 1) if active is None else active.shape)
    flat = np.broadcast_to(flat, shape)
    values = np.broadcast_to(values, (*shape, values.shape[2]))
    if active is not None:
        chosen = np.broadcast_to(active, shape)
        flat, values = flat[chosen], values[chosen]
    storage.store(flat, values, plan.dtype)


def _changing(
    cohort: Cohort, plan: Plan, storage: Storage, flat: np.ndarray, values: np.ndarray, active: np.ndarray | None
) -> np.ndarray:
    """The lanes of a store that change memory, one for each address where several store the same."""
    mask = (1, 1) if active is None else active.shape
    shape = np.broadcast_shapes((cohort.size, 1), flat.shape, values.shape[:2], mask)
    lanes = np.ones(shape, bool) if active is None else np.broadcast_to(active, shape).copy()
    at = np.broadcast_to(flat, shape)[lanes]
    if not len(at):
        return lanes
    new = np.ascontiguousarray(np.broadcast_to(values, (*shape, values.shape[2]))[lanes], dtype=plan.dtype.np)
    new = new.view(np.uint8).reshape(len(at), -1)
    old = storage.load(at, plan.dtype, values.shape[2]).copy().view(np.uint8).reshape(len(at), -1)
    kept = (new != old).any(axis=1)
    order = np.lexsort((*new.T, at))
    repeats = np.zeros(len(at), bool)
    repeats[order[1:]] = (at[order][1:] == at[order][:-1]) & (new[order][1:] == new[order][:-1]).all(axis=1)
    lanes[lanes] = kept & ~repeats
    return lanes


def _pieces(plan: Plan) -> list[tuple[int, int]]:
    """(first element, elements) of what the hardware checks as one: dwords, or smaller rests."""
    each = max(1, 4 // plan.dtype.size)
    return [(first, min(each, plan.count - first)) for first in range(0, plan.count, each)]


def _buffer_lanes(
    cohort: Cohort, plan: Plan, memref: MemRef, at: np.ndarray, active: np.ndarray | None
) -> tuple[list[tuple[int, int]], list[np.ndarray]]:
    """How to cut an access through a resource, and the lanes in which each piece is in range and active."""
    whole, some = in_range(memref, at, plan.size), in_range(memref, at, min(plan.size, 4))
    assert whole is not None and some is not None
    if (whole == some).all():
        pieces, inside = [(0, plan.count)], [whole]
    else:
        pieces = _pieces(plan)
        inside = []
        for first, count in pieces:
            here = in_range(memref, at + first * plan.dtype.size, count * plan.dtype.size)
            assert here is not None
            inside.append(here)
    if active is not None:
        inside = [lanes & active for lanes in inside]
    return pieces, inside


def _wrapped(memref: MemRef, at: np.ndarray) -> np.ndarray:
    """The address as the hardware forms it: base plus a 32-bit distance."""
    origin = 0 if memref.origin is None else memref.origin
    return origin + ((at - origin) & _UNSIGNED_32)


def load_buffer(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    at: np.ndarray,
    mask: np.ndarray | None,
    shift: np.ndarray | None = None,
) -> np.ndarray:
    """A load through a resource: dwords (or less, for smaller accesses) out of range read 0.

    shift: bytes added to the address outside the range check (the scalar offset).
    """
    active = mask_for(cohort, mask)
    storage = memref.storage
    count_operation(cohort, plan, storage.space, active)
    pieces, inside = _buffer_lanes(cohort, plan, memref, at, active)
    address = _wrapped(memref, at) if shift is None else _wrapped(memref, at) + shift
    parts = []
    for (first, count), lanes in zip(pieces, inside, strict=True):
        part = Plan(plan.info, plan.dtype, count, plan.alignment if first == 0 else 0, volatile=plan.volatile)
        here = address + first * plan.dtype.size
        where = _check_buffer(cohort, part, memref, here, lanes)
        if where is None:
            parts.append(np.zeros((1, 1, count), dtype=plan.dtype.np))
            continue
        if storage.shadow is not None:
            record(cohort, part, storage, where, lanes, reads=True, writes=False)
        raw = storage.load(where, plan.dtype, count)
        parts.append(np.where(lanes[..., None], raw, plan.dtype.np.type(0)))
    if len(parts) == 1:
        return parts[0]
    shape = np.broadcast_shapes(*(p.shape[:2] for p in parts))
    return np.concatenate([np.broadcast_to(p, (*shape, p.shape[2])) for p in parts], axis=-1)


def store_buffer(
    cohort: Cohort,
    plan: Plan,
    memref: MemRef,
    at: np.ndarray,
    values: np.ndarray,
    active: np.ndarray | None,
    shift: np.ndarray | None = None,
) -> None:
    """A store through a resource: dwords (or less, for smaller accesses) out of range are dropped."""
    storage = memref.storage
    count_operation(cohort, plan, storage.space, active)
    pieces, inside = _buffer_lanes(cohort, plan, memref, at, active)
    address = _wrapped(memref, at) if shift is None else _wrapped(memref, at) + shift
    for (first, count), lanes in zip(pieces, inside, strict=True):
        part = Plan(plan.info, plan.dtype, count, plan.alignment if first == 0 else 0, volatile=plan.volatile)
        where = _check_buffer(cohort, part, memref, address + first * plan.dtype.size, lanes)
        if where is not None:
            write_flat(cohort, part, storage, where, values[..., first : first + count], lanes)


def _check_buffer(cohort: Cohort, plan: Plan, memref: MemRef, at: np.ndarray, lanes: np.ndarray) -> np.ndarray | None:
    """Addresses to use for a piece; lanes out of range point inside. None when no access is possible."""
    if "alignment" in cohort.machine.checks:
        check_alignment(cohort, plan, memref.storage, at, lanes)
    _check_resource(cohort, plan, memref, at, lanes)
    return _clamped(at, lanes, memref.storage, plan.size, True)


def _check_resource(cohort: Cohort, plan: Plan, memref: MemRef, at: np.ndarray, lanes: np.ndarray) -> None:
    """A resource that promises more bytes than its memory has lets accesses through that fault: report them."""
    size = memref.storage.size
    bad = lanes & ((at < 0) | (at > size - plan.size))
    if bad.any():
        _bounds_error(cohort, plan, memref, bad, None, at, None)
        raise SimError(
            "bounds",
            f"{plan.info.name}: a buffer resource promises bytes that {memref.storage.name} does not have",
            location=plan.info.location,
        )
