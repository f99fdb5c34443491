"""Target tables: look-up, errors, defaults, registers, LDS."""

from __future__ import annotations

import re

import pytest
from wave_mlir.compiler import targets
from wave_mlir.compiler.targets import TargetError, resolve_alias

import machine

ALL = targets.all_targets()
every_target = pytest.mark.parametrize("target", ALL, ids=lambda t: t.name)


def test_get() -> None:
    assert [t.name for t in ALL] == ["gfx90a", "gfx942", "gfx950", "gfx1201"]
    assert all(targets.get(t.name) is t for t in ALL)
    with pytest.raises(TargetError, match=r"unknown target 'gfx943'; known: gfx90a, .*gfx1201; did you mean gfx942\?"):
        targets.get("gfx943")
    with pytest.raises(TargetError, match=r"unknown target 'sm_90a'; known: gfx90a"):
        targets.get("sm_90a")


@every_target
def test_kind_names_are_unique_identifiers(target: targets.Target) -> None:
    names = [k.name for k in target.kinds]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert all(target.mma(name).name == name for name in names)
    f8 = {"f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2"}
    own = set(targets.F8_FLAVORS.get(target.f8_flavor or "", ()))
    assert {k.lhs_dtype for k in target.kinds} & f8 == own


@pytest.mark.parametrize(
    ("target", "name", "message"),
    [
        (
            "gfx942",
            "f32_16x16x32_f16",
            r"no MMA kind .*\(gfx950 has it\); its kinds for f16: f32_16x16x16_f16",
        ),
        ("gfx942", "i32_16x16x16_i8", r"\(gfx90a, gfx1201 have it\); its kinds for i8: i32_16x16x32_i8"),
        ("gfx942", "f32_16x16x32_f8e4m3fn", r"f8E4M3FN .* OCP kind, but gfx942 .* FNUZ .*did you mean .*f8e4m3fnuz\?"),
        ("gfx950", "f32_16x16x32_f8e5m2fnuz", r"f8E5M2FNUZ .* FNUZ kind, but gfx950 .* OCP"),
        ("gfx90a", "f32_16x16x32_f8e4m3fn", r"\(gfx950 has it\): gfx90a has no MMA for operands of f8E4M3FN"),
        ("gfx942", "f32_16x16x16_f61", r"no MMA kind 'f32_16x16x16_f61'; did you mean f32_16x16x16_f16\?"),
        ("gfx1201", "nonsense", r"gfx1201 has no MMA kind 'nonsense'; known: f32_16x16x16_f16, "),
        ("gfx950", "F32_16x16x32_F16", r"no MMA kind 'F32_16x16x32_F16'.*did you mean f32_16x16x32_f16"),
    ],
)
def test_unknown_kind(target: str, name: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        targets.get(target).mma(name)


@pytest.mark.parametrize(
    ("target", "dtype", "k", "name"),
    [
        ("gfx90a", "bf16", None, "f32_16x16x16_bf16"),
        ("gfx942", "f16", None, "f32_16x16x16_f16"),
        ("gfx942", "f8E4M3FNUZ", None, "f32_16x16x32_f8e4m3fnuz"),
        ("gfx942", "f32", None, "f32_16x16x4_f32"),
        ("gfx950", "f16", None, "f32_16x16x32_f16"),
        ("gfx950", "f16", 48, "f32_32x32x16_f16"),
        ("gfx950", "i8", None, "i32_16x16x64_i8"),
        ("gfx950", "i8", 32, "i32_32x32x32_i8"),
        ("gfx950", "f8E4M3FN", None, "f32_16x16x128_f8e4m3fn"),
        ("gfx950", "f8E4M3FN", 32, "f32_16x16x32_f8e4m3fn"),
        ("gfx950", "i8", 16, "i32_32x32x16_i8"),
        ("gfx950", "f16", 5, "f32_16x16x32_f16"),
        ("gfx1201", "f16", None, "f32_16x16x16_f16"),
    ],
)
def test_default(target: str, dtype: str, k: int | None, name: str) -> None:
    assert targets.get(target).default_mma(dtype, k).name == name


def test_no_default() -> None:
    with pytest.raises(
        TargetError, match=r"f8E4M3FN .*OCP kind, but gfx942 computes with FNUZ \(f8E4M3FNUZ, f8E5M2FNUZ"
    ):
        targets.get("gfx942").default_mma("f8E4M3FN")
    with pytest.raises(TargetError, match=r"gfx1201 has no MMA for operands of f64; it has them for bf16, f16"):
        targets.get("gfx1201").default_mma("f64")


@pytest.mark.parametrize(
    ("target", "alias", "types", "name"),
    [
        ("gfx942", "F32_16x16x16_F16", (), "f32_16x16x16_f16"),
        ("gfx942", "F32_32x32x8_F16", ("bf16", "bf16"), "f32_32x32x8_bf16"),
        ("gfx942", "F32_16x16x32_K8_F16", (), "f32_16x16x32_k8_f16"),
        ("gfx950", "F32_32x32x16_K8_F16", ("bf16",), "f32_32x32x16_k8_bf16"),
        ("gfx942", "F32_16x16x32_F8", (), "f32_16x16x32_f8e4m3fnuz"),
        ("gfx950", "F32_16x16x32_F8", (), "f32_16x16x32_f8e4m3fn"),
        ("gfx950", "F32_16x16x32_F8", ("f8E5M2", "f8E4M3FN"), "f32_16x16x32_f8e5m2_f8e4m3fn"),
        ("gfx942", "F32_32x32x16_K4_F8", ("f8E5M2FNUZ", "f8E5M2FNUZ"), "f32_32x32x16_k4_f8e5m2fnuz"),
        ("gfx942", "I32_16x16x32_I8", (), "i32_16x16x32_i8"),
        ("gfx90a", "I32_32x32x8_I8", (), "i32_32x32x8_i8"),
        ("gfx950", "F32_16x16x128_F8F6F4", (), "f32_16x16x128_scaled_f4e2m1fn"),
        ("gfx950", "F32_32x32x64_F8F6F4", ("f8E4M3FN", "f4E2M1FN"), "f32_32x32x64_scaled_f8e4m3fn_f4e2m1fn"),
    ],
)
def test_alias(target: str, alias: str, types: tuple[str, ...], name: str) -> None:
    assert resolve_alias(targets.get(target), alias, *types).name == name


def test_alias_errors() -> None:
    with pytest.raises(TargetError, match="unknown MMA type 'F32_1x1x1_F16'; known: F32_16x16x16_F16"):
        resolve_alias(targets.get("gfx942"), "F32_1x1x1_F16")
    with pytest.raises(TargetError, match="needs 8-bit floats, which gfx90a does not have"):
        resolve_alias(targets.get("gfx90a"), "F32_16x16x32_F8")
    with pytest.raises(TargetError, match="OCP kind, but gfx942 computes with FNUZ"):
        resolve_alias(targets.get("gfx942"), "F32_16x16x32_F8", "f8E4M3FN", "f8E4M3FN")


@every_target
def test_every_alias_is_a_kind_somewhere(target: targets.Target) -> None:
    for alias in targets.MMA_ALIASES:
        resolved = []
        for candidate in ALL:
            try:
                resolved.append(resolve_alias(candidate, alias))
            except TargetError as error:
                assert str(error)
        assert resolved, alias


@pytest.mark.parametrize("name", ["gfx90a", "gfx942", "gfx950"])
def test_waves_by_registers(name: str) -> None:
    target = targets.get(name)
    published = {64: 8, 72: 7, 80: 6, 96: 5, 128: 4, 168: 3, 256: 2, 512: 1}
    assert {r: target.waves_by_registers(r) for r in published} == published
    assert target.waves_by_registers(1) == 8
    assert target.waves_by_registers(513) == 0


@every_target
def test_waves_by_registers_agrees_with_llvm(target: targets.Target) -> None:
    for used in (1, 64, 65, 72, 73, 96, 97, 120, 121, 128, 129, 168, 169, 192, 193, 216, 217, 256):
        text = f"""
target triple = "{machine.TRIPLE}"
define amdgpu_kernel void @k() #0 {{
  call void asm sideeffect "; use", "~{{v{used - 1}}}"()
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="64,64" }}
"""
        printed = re.search(r"; Occupancy: (\d+)", machine.assembly(text, target.name))
        assert printed is not None
        assert target.waves_by_registers(used) == int(printed[1]), used


def test_occupancy() -> None:
    target = targets.get("gfx942")
    assert target.occupancy(registers=128, lds_bytes=0, waves_per_workgroup=4) == 4
    assert target.occupancy(registers=64, lds_bytes=16384, waves_per_workgroup=4) == 4
    assert target.occupancy(registers=64, lds_bytes=16385, waves_per_workgroup=4) == 3
    assert target.occupancy(registers=256, lds_bytes=65536, waves_per_workgroup=4) == 1
    assert target.occupancy(registers=512, lds_bytes=0, waves_per_workgroup=8) == 0


@every_target
def test_lds_phases(target: targets.Target) -> None:
    lds = target.lds
    for access in lds.accesses:
        assert sorted(lane for phase in access.phases for lane in phase) == list(range(target.wave_size))
        assert access.source
        peak = lds.read_bytes_per_clock if access.op == "read" else lds.write_bytes_per_clock
        assert all(len(phase) * access.bits // 8 <= peak for phase in access.phases)
    assert target.lds_access("read", 8).bits == 32
    assert target.lds_access("write", 96).bits == 96
    with pytest.raises(TargetError, match=r"no LDS read of 256 bits a lane; it has 32, 64, 96, 128"):
        target.lds_access("read", 256)


def test_facts() -> None:
    assert [t.wave_size for t in ALL] == [64, 64, 64, 32]
    assert [t.lds_bytes for t in ALL] == [65536, 65536, 163840, 65536]
    assert [t.lds_banks for t in ALL] == [32, 32, 64, 32]
    assert [t.f8_flavor for t in ALL] == [None, "FNUZ", "OCP", "OCP"]
    assert [t.max_waves_per_workgroup for t in ALL] == [16, 16, 16, 32]
    assert targets.get("gfx942").offsets["buffer"].bits == 12
    assert targets.get("gfx950").direct_to_lds_bits == (32, 96, 128)


def test_published_rates() -> None:
    """Peak rates from the tables, TFLOP/s, within 1 % of the vendor's figures."""

    def peak(name: str, kind: str) -> float:
        target = targets.get(name)
        mma = target.mma(kind)
        simds = target.compute_units * target.simds_per_compute_unit
        return mma.flops / mma.clocks * simds * target.clock_ghz / 1000

    for name, kind, published in (
        ("gfx942", "f32_16x16x16_f16", 1307), ("gfx942", "f32_32x32x16_f8e4m3fnuz", 2615),
        ("gfx942", "f32_16x16x8_xf32", 654), ("gfx942", "f64_16x16x4_f64", 163.4),
        ("gfx950", "f32_32x32x16_bf16", 2516), ("gfx950", "f32_16x16x128_f8e4m3fn", 5033),
        ("gfx950", "f32_16x16x128_scaled_f4e2m1fn", 10066), ("gfx950", "f64_16x16x4_f64", 78.6),
        ("gfx950", "i32_32x32x32_i8", 5033), ("gfx1201", "f32_16x16x16_f16", 195),
    ):  # fmt: skip
        assert peak(name, kind) == pytest.approx(published, rel=0.01), (name, kind)
