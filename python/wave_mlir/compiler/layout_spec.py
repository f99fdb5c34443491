"""Layouts as plain data while they are being chosen: independent of the order of a tile's dims.

A `Spec` has the digits of `#wave.layout` in canonical form, so equal specs place elements alike.

Order of registers, a contract with later passes. Of an MMA operand: the element digits of the instruction's fragment
are the fastest, then copies of the instruction along K, then along M (lhs) or N (rhs), then along further dims. Of an
accumulator: the fragment, copies along N, copies along M, further dims.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from wave_mlir.dialect import Layout

from .diagnostics import PassError
from .kernel_info import KernelInfo
from .mma_shape import MmaShape
from .targets import Fragment, MmaKind

Digit = tuple[int, str | None, int]
"""(extent, dim or None for replication, stride) of one digit of a source."""


@dataclass(frozen=True)
class Spec:
    """Where the elements of a workgroup's tile live. `extents` and `clip` are sorted by dim; see `#wave.layout`."""

    extents: tuple[tuple[str, int], ...]
    reg: tuple[Digit, ...] = ()
    lane: tuple[Digit, ...] = ()
    waves: tuple[tuple[Digit, ...], tuple[Digit, ...], tuple[Digit, ...]] = ((), (), ())
    clip: tuple[tuple[str, int], ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        """Dims of the tile, sorted."""
        return tuple(d for d, _ in self.extents)

    def drop(self, dims: Collection[str]) -> Spec:
        """The layout of a tile without these dims: what differed along them only is replicated."""
        if not dims:
            return self

        def replicated(digits: Iterable[Digit]) -> tuple[Digit, ...]:
            return tuple((n, None, 0) if d in dims else (n, d, s) for n, d, s in digits)

        return make(
            {d: n for d, n in self.extents if d not in dims},
            [digit for digit in self.reg if digit[1] not in dims],
            replicated(self.lane),
            [replicated(w) for w in self.waves],
            {d: n for d, n in self.clip if d not in dims},
        )

    def fit(self, dims: Collection[str]) -> Spec:
        """The layout of a tile with these dims: without those it has not; of a new dim there is one element."""
        spec = self.drop([d for d in self.dims if d not in dims])
        new = {d: 1 for d in dims if d not in self.dims}
        return make({**dict(spec.extents), **new}, spec.reg, spec.lane, spec.waves, dict(spec.clip)) if new else spec

    def with_registers(self, dim: str, extent: int) -> Spec:
        """The layout of a tile that has another dim, all of which is in each lane's registers."""
        extents = {**dict(self.extents), dim: extent}
        return make(extents, [*self.reg, (extent, dim, 1)], self.lane, self.waves, dict(self.clip))

    def reach(self, dim: str) -> int:
        """How far the part of the coordinate from registers and lanes reaches: its greatest value + 1."""
        return 1 + sum((n - 1) * s for n, d, s in (*self.reg, *self.lane) if d == dim)

    def overshoots(self, dim: str) -> bool:
        """Whether some place stands for a coordinate that the dim's tile does not have or that is clipped."""
        waves = sum((n - 1) * s for w in self.waves for n, d, s in w if d == dim)
        return self.reach(dim) + waves > dict(self.extents)[dim] or dim in dict(self.clip)

    def attribute(self, dims: Sequence[str]) -> Layout:
        """The attribute for a tile with its dims in this order."""
        extents = dict(self.extents)
        x, y, z = (list(w) for w in self.waves)
        return Layout.get(
            {d: extents[d] for d in dims},
            reg=list(self.reg), lane=list(self.lane), wave_x=x, wave_y=y, wave_z=z,
            clip={d: n for d, n in self.clip},
        )  # fmt: skip


def make(
    extents: dict[str, int],
    reg: Sequence[Digit],
    lane: Sequence[Digit],
    waves: Sequence[Sequence[Digit]] = ((), (), ()),
    clip: dict[str, int] | None = None,
) -> Spec:
    """A spec in canonical form."""
    x, y, z = (_merge(w, trim=True) for w in waves)
    return Spec(
        tuple(sorted(extents.items())), _merge(reg), _merge(lane, trim=True), (x, y, z),
        tuple(sorted((clip or {}).items())),
    )  # fmt: skip


def _merge(digits: Sequence[Digit], trim: bool = False) -> tuple[Digit, ...]:
    """No digits of one value, digits that continue each other as one; with `trim` no replication on top."""
    result: list[Digit] = []
    for extent, dim, stride in digits:
        if extent == 1:
            continue
        if result:
            n, d, s = result[-1]
            if d == dim and (dim is None or stride == n * s):
                result[-1] = (n * extent, d, s)
                continue
        result.append((extent, dim, stride))
    if trim and result and result[-1][1] is None:
        result.pop()
    return tuple(result)


def of_layout(layout: Layout) -> Spec:
    """The spec of a layout attribute."""
    digits = layout.digits
    waves = [digits.get(f"wave.{axis}", []) for axis in "xyz"]
    return make(dict(layout.extents), digits.get("reg", []), digits.get("lane", []), waves, dict(layout.clip))


# --- waves ---


def wave_digits(info: KernelInfo, dims: Sequence[str]) -> list[list[Digit]]:
    """The digits of wave.x, wave.y and wave.z for a tile with these dims."""
    waves: list[list[Digit]] = [[], [], []]
    for dim in dims:
        axis = info.wave_axis(dim)
        if axis is None:
            continue
        if waves[axis]:
            raise PassError(
                info.kernel,
                f"a tile has dims {waves[axis][0][1]} and {dim}, both divided among the waves along "
                f"{'xyz'[axis]}; let waves along another block dim divide one of them: #wave.wave<{dim}, tile, axis>",
            )
        waves[axis].append((info.waves_of(dim), dim, info.wave_extent(dim)))
    return waves


def finish(info: KernelInfo, dims: Sequence[str], reg: Sequence[Digit], lane: Sequence[Digit]) -> Spec:
    """The spec with waves, and with a clip where a wave's places reach into the next wave's part."""
    extents = {d: info.tile_extent(d) for d in dims}
    spec = make(extents, reg, lane, wave_digits(info, dims))
    clip = {
        d: info.wave_extent(d)
        for d in dims
        if info.waves_of(d) > 1 and info.wave_axis(d) is not None and spec.reach(d) > info.wave_extent(d)
    }
    return make(extents, reg, lane, spec.waves, clip) if clip else spec


# --- MMA ---


@dataclass(frozen=True)
class MmaSpecs:
    """Layouts of the operands and the result of an MMA; scales of a scaled one only."""

    lhs: Spec
    rhs: Spec
    acc: Spec
    lhs_scale: Spec | None = None
    rhs_scale: Spec | None = None


def mma_specs(
    info: KernelInfo,
    shape: MmaShape,
    kind: MmaKind,
    scale_dims: tuple[str, str] | None = None,
    columns: int = 1,
) -> MmaSpecs:
    """The layouts that an MMA of this kind fixes. `scale_dims`: the dims of the scales in place of K.

    columns: how many neighbouring columns are in as many instructions; it divides the number of these.
    """

    def spec(fragment: Fragment, roles: dict[str, str], extra: Sequence[str], steps: dict[str, int]) -> Spec:
        reg: list[Digit] = [(d.extent, roles[d.dim] if d.dim else None, d.stride) for d in fragment.reg]
        lane: list[Digit] = [(d.extent, roles[d.dim] if d.dim else None, d.stride) for d in fragment.lane]
        for role, step in steps.items():
            dim, copies = roles[role], -(-info.wave_extent(roles[role]) // step)
            if role == "col" and columns > 1:
                reg, lane = (_spread(digits, dim, columns) for digits in (reg, lane))
                reg.append((columns, dim, 1))
                copies, step = copies // columns, step * columns
            reg.append((copies, dim, step))
        reg += [(info.wave_extent(d), d, 1) for d in extra]
        return finish(info, [*(roles[role] for role in steps), *extra], reg, lane)

    def lhs(fragment: Fragment, k: str, k_step: int) -> Spec:
        return spec(fragment, {"row": shape.row, "k": k}, (*shape.ks, *shape.rows, *shape.batch),
                    {"k": k_step, "row": kind.m})  # fmt: skip

    def rhs(fragment: Fragment, k: str, k_step: int) -> Spec:
        return spec(fragment, {"col": shape.col, "k": k}, (*shape.ks, *shape.cols, *shape.batch),
                    {"k": k_step, "col": kind.n})  # fmt: skip

    acc = spec(kind.acc, {"row": shape.row, "col": shape.col}, (*shape.cols, *shape.rows, *shape.batch),
               {"col": kind.n, "row": kind.m})  # fmt: skip
    specs = MmaSpecs(lhs(kind.lhs, shape.k, kind.k), rhs(kind.rhs, shape.k, kind.k), acc)
    if scale_dims is None or kind.lhs_scale is None or kind.rhs_scale is None:
        return specs
    return MmaSpecs(
        specs.lhs, specs.rhs, acc,
        lhs(kind.lhs_scale, scale_dims[0], kind.lhs_scale.extent("k")),
        rhs(kind.rhs_scale, scale_dims[1], kind.rhs_scale.extent("k")),
    )  # fmt: skip


def _spread(digits: Sequence[Digit], dim: str, by: int) -> list[Digit]:
    """Digits whose steps along a dim are so many times as wide."""
    return [(n, d, s * by if d == dim else s) for n, d, s in digits]


def in_order(spec: Spec, dim: str) -> Spec:
    """The layout with the registers of a lane renamed so that neighbours along `dim` are neighbours, if that gives
    longer runs of these."""
    own = sorted((digit for digit in spec.reg if digit[1] == dim), key=lambda digit: digit[2])
    others = [digit for digit in spec.reg if digit[1] != dim]
    ordered = make(dict(spec.extents), [*own, *others], spec.lane, spec.waves, dict(spec.clip))
    return ordered if _run(ordered, dim) > _run(spec, dim) else spec


def _run(spec: Spec, dim: str) -> int:
    """Elements along a dim that follow one another in the first registers."""
    return spec.reg[0][0] if spec.reg and spec.reg[0][1:] == (dim, 1) else 1


# --- values that no MMA shapes ---


def access_spec(
    info: KernelInfo,
    dims: Sequence[str],
    contiguous: str | None,
    bits: int,
    elements: int | None = None,
    spread: Collection[str] = (),
) -> Spec:
    """A layout for wide accesses along `contiguous` (default: the last dim) of elements of `bits` bits.

    Within the extents of `vector_shapes` (default: the wave's tile) a lane has up to 16 bytes of consecutive elements,
    or `elements` of them; lanes follow along `contiguous`, then along the other dims from the last to the first. The
    rest is copies, in registers. Of a dim in `spread` lanes take all they can first, whatever `vector_shapes` says.
    """
    if not dims:
        return make({}, [], [])
    first = contiguous if contiguous in dims else dims[-1]
    order = [first, *(d for d in reversed(dims) if d != first)]
    whole = {d: info.wave_extent(d) for d in order}
    inner = {d: whole[d] if d in spread else _inner(info, d, whole[d]) for d in order}
    width = elements or _width(info, inner, first, bits)
    covered = {d: width if d == first else 1 for d in order}
    lanes, digits = info.wave_size, []
    for exact in (True, False):  # lanes that divide the tile first
        for dim in sorted(order, key=lambda d: d not in spread):
            left = -(-inner[dim] // covered[dim])
            take = min(lanes, left & -left if exact else 1 << (left - 1).bit_length())
            take = 1 << (take.bit_length() - 1)
            digits.append((take, dim, covered[dim]))
            covered[dim] *= take
            lanes //= take
    reg: list[Digit] = [(width, first, 1)]
    for dim in order:
        reg.append((-(-inner[dim] // covered[dim]), dim, covered[dim]))
        span = covered[dim] * -(-inner[dim] // covered[dim])
        reg.append((-(-whole[dim] // span), dim, span))
    return finish(info, dims, reg, digits)


def _inner(info: KernelInfo, dim: str, whole: int) -> int:
    """What one op of the wave covers along a dim."""
    shape = info.vector_shape(dim)
    return whole if shape is None else max(1, min(shape, whole))


def _width(info: KernelInfo, inner: dict[str, int], dim: str, bits: int) -> int:
    """Consecutive elements a lane takes along `dim`: at most a load's width, and no more than keeps all lanes busy."""
    total = 1
    for extent in inner.values():
        total *= extent
    most = max(1, min(info.hardware.max_bits_per_load, 128) // max(bits, 1))
    width = min(inner[dim] & -inner[dim], 1 << (most.bit_length() - 1))
    while width > 1 and total < width * info.wave_size:
        width //= 2
    return width
