"""Lane exchange against brute force written from AMD's ISA documents."""

from __future__ import annotations

import numpy as np
import pytest
from sim_harness import lanewise

LANES = np.arange(64)
X = (LANES * 3 + 100).astype(np.int32)
OLD = (-LANES - 1).astype(np.int32)


def dpp_source(kind: str, arg, lane: int) -> int | None:
    """The lane that `lane` reads, None where it has no source (CDNA ISA, "Data Parallel Primitives")."""
    row, place = divmod(lane, 16)
    match kind:
        case "quad_perm":
            return lane - lane % 4 + arg[lane % 4]
        case "row_shl":
            return lane + arg if place + arg <= 15 else None
        case "row_shr":
            return lane - arg if place - arg >= 0 else None
        case "row_ror":
            return 16 * row + (place - arg) % 16
        case "wave_shl":
            return lane + 1 if lane < 63 else None
        case "wave_rol":
            return (lane + 1) % 64
        case "wave_shr":
            return lane - 1 if lane > 0 else None
        case "wave_ror":
            return (lane - 1) % 64
        case "row_mirror":
            return 16 * row + 15 - place
        case "row_half_mirror":
            return lane - lane % 8 + 7 - lane % 8
        case "row_bcast_15":
            return 16 * row - 1 if row else None
        case "row_bcast_31":
            return 31 if row >= 2 else None
    raise AssertionError(kind)


def dpp_want(kind, arg, row_mask=15, bank_mask=15, bound_ctrl=False) -> list[int]:
    out = []
    for lane in range(64):
        if not (row_mask >> lane // 16 & 1 and bank_mask >> lane % 16 // 4 & 1):
            out.append(int(OLD[lane]))
            continue
        source = dpp_source(kind, arg, lane)
        out.append(int(X[source]) if source is not None else 0 if bound_ctrl else int(OLD[lane]))
    return out


CONTROLS = [
    ("quad_perm", [3, 1, 0, 2]),
    *[(k, n) for k in ("row_shl", "row_shr", "row_ror") for n in (1, 5, 15)],
    *[
        (k, None)
        for k in (
            "wave_shl",
            "wave_shr",
            "wave_ror",
            "wave_rol",
            "row_mirror",
            "row_half_mirror",
            "row_bcast_15",
            "row_bcast_31",
        )
    ],
]
MASKS = [(15, 15, False), (15, 15, True), (10, 15, False), (15, 6, True)]


@pytest.mark.parametrize("row_mask, bank_mask, bound", MASKS)
@pytest.mark.parametrize("kind, arg", CONTROLS)
def test_dpp(kind, arg, row_mask, bank_mask, bound):
    text = {list: f"({arg})", int: f"({arg} : i32)", type(None): ""}[type(arg)]
    if arg is None and kind.startswith("wave"):
        text = ""
    body = f"""%y0 = amdgpu.dpp %x1 %x0 {kind} {text} {{row_mask = {row_mask} : i32, bank_mask = {bank_mask} : i32,
        bound_ctrl = {str(bound).lower()}}} : i32"""
    (got,) = lanewise(body, [("i32", X), ("i32", OLD)], ["i32"])
    assert got.tolist() == dpp_want(kind, arg, row_mask, bank_mask, bound)


CODES = {
    0b10001101: ("quad_perm", [1, 3, 0, 2]),
    0x103: ("row_shl", 3),
    0x11F: ("row_shr", 15),
    0x124: ("row_ror", 4),
    0x130: ("wave_shl", 1),
    0x134: ("wave_rol", 1),
    0x138: ("wave_shr", 1),
    0x13C: ("wave_ror", 1),
    0x140: ("row_mirror", 0),
    0x141: ("row_half_mirror", 0),
    0x142: ("row_bcast_15", 0),
    0x143: ("row_bcast_31", 0),
}


@pytest.mark.parametrize("code", CODES)
def test_update_dpp(code):
    kind, arg = CODES[code]
    body = f"%y0 = rocdl.update.dpp %x1, %x0 with {code}, 5, 15, true : i32"
    (got,) = lanewise(body, [("i32", X), ("i32", OLD)], ["i32"])
    assert got.tolist() == dpp_want(kind, arg, 5, 15, True)


def test_inactive_lanes_are_no_dpp_source():
    body = """
      %c8 = arith.constant 8 : index
      %in = arith.cmpi ult, %lane, %c8 : index
      %y0 = scf.if %in -> i32 {
        %m = amdgpu.dpp %x1 %x0 row_shl(1 : i32) : i32
        scf.yield %m : i32
      } else {
        scf.yield %x0 : i32
      }"""
    (got,) = lanewise(body, [("i32", X), ("i32", OLD)], ["i32"])
    assert got.tolist() == [*X[1:8].tolist(), int(OLD[7]), *X[8:].tolist()]


@pytest.mark.parametrize("masks", [(31, 0, 1), (31, 0, 16), (0, 5, 0), (24, 3, 6), (15, 16, 31)])
def test_swizzle(masks):
    a, o, x = masks
    offset = a | o << 5 | x << 10
    body = f"""
      %y0 = amdgpu.swizzle_bitmode %x0 {a} {o} {x} : i32
      %pattern = arith.constant {offset} : i32
      %y1 = rocdl.ds_swizzle %x0, %pattern : (i32, i32) -> i32"""
    got = lanewise(body, [("i32", X)], ["i32", "i32"])
    want = [int(X[(lane & 32) | ((((lane & 31) & a) | o) ^ x)]) for lane in range(64)]
    assert got[0].tolist() == want and got[1].tolist() == want


def test_permlane_swaps():
    body = """
      %y0 = amdgpu.permlane_swap %x0 16 : i32
      %y1 = amdgpu.permlane_swap %x0 32 : i32
      %a = rocdl.permlane16.swap %x0, %x1, false, false : (i32, i32) -> !llvm.struct<(i32, i32)>
      %y2 = llvm.extractvalue %a[0] : !llvm.struct<(i32, i32)>
      %y3 = llvm.extractvalue %a[1] : !llvm.struct<(i32, i32)>
      %b = rocdl.permlane32.swap %x0, %x1, false, false : (i32, i32) -> !llvm.struct<(i32, i32)>
      %y4 = llvm.extractvalue %b[0] : !llvm.struct<(i32, i32)>
      %y5 = llvm.extractvalue %b[1] : !llvm.struct<(i32, i32)>"""
    got = lanewise(body, [("i32", X), ("i32", OLD)], ["i32"] * 6, target="gfx950")
    assert got[0].tolist() == X[LANES ^ 16].tolist()
    assert got[1].tolist() == X[LANES ^ 32].tolist()
    for row, first, second in ((16, got[2], got[3]), (32, got[4], got[5])):
        d, s = X.tolist(), OLD.tolist()
        for lane in range(64):
            if not lane & row:
                d[lane + row], s[lane] = s[lane], d[lane + row]
        assert first.tolist() == d and second.tolist() == s


def test_bpermute_ballot_mbcnt_broadcast():
    source = np.random.default_rng(0).permutation(64).astype(np.int32)
    body = """
      %c4 = arith.constant 4 : i32
      %c7 = arith.constant 7 : i32
      %zero = arith.constant 0 : i32
      %ones = arith.constant -1 : i32
      %at = arith.muli %x1, %c4 : i32
      %y0 = rocdl.ds_bpermute %at, %x0 : (i32, i32) -> i32
      %odd = arith.trunci %x1 : i32 to i1
      %y1 = rocdl.ballot %odd : i64
      %lo = rocdl.mbcnt.lo %ones, %zero : (i32, i32) -> i32
      %y2 = rocdl.mbcnt.hi %ones, %lo : (i32, i32) -> i32
      %y3 = rocdl.readfirstlane %x0 : i32
      %y4 = rocdl.readlane %x0, %c7 : (i32, i32) -> i32"""
    got = lanewise(body, [("i32", X), ("i32", source)], ["i32", "i64", "i32", "i32", "i32"])
    assert got[0].tolist() == X[source].tolist()
    word = sum(int(s & 1) << lane for lane, s in enumerate(source))
    assert set(got[1].view(np.uint64).tolist()) == {word}
    assert got[2].tolist() == LANES.tolist()
    assert set(got[3].tolist()) == {int(X[0])} and set(got[4].tolist()) == {int(X[7])}


@pytest.mark.parametrize("width", [8, 32, 64])
@pytest.mark.parametrize("mode", ["xor", "up", "down", "idx"])
def test_shuffle(mode, width):
    by = 3
    body = f"""
      %by = arith.constant {by} : i32
      %w = arith.constant {width} : i32
      %y0, %y1 = gpu.shuffle {mode} %x0, %by, %w : i32"""
    got = lanewise(body, [("i32", X)], ["i32", "i1"])
    for lane in range(64):
        start = lane - lane % width
        source = {"xor": lane ^ by, "up": lane - by, "down": lane + by, "idx": by}[mode]
        valid = (mode == "idx" or source >= start) and source < start + width
        assert bool(got[1][lane]) == valid
        assert got[0][lane] == X[source if valid else lane]


@pytest.mark.parametrize("kind, function", [("add", sum), ("maxsi", max), ("minsi", min)])
@pytest.mark.parametrize("size, stride", [(64, 1), (16, 1), (4, 16)])
def test_subgroup_reduce(kind, function, size, stride):
    cluster = f"cluster(size = {size}, stride = {stride})" if size < 64 else ""
    (got,) = lanewise(f"%y0 = gpu.subgroup_reduce {kind} %x0 {cluster} : (i32) -> i32", [("i32", X)], ["i32"])
    for lane in range(64):
        base = lane // (size * stride) * size * stride + lane % stride
        assert got[lane] == function(int(X[base + i * stride]) for i in range(size))


def test_all_reduce_over_workgroup():
    values = np.arange(256, dtype=np.float32)
    (got,) = lanewise("%y0 = gpu.all_reduce add %x0 {} : (f32) -> f32", [("f32", values)], ["f32"], lanes=256)
    assert set(got.tolist()) == {float(values.sum())}
