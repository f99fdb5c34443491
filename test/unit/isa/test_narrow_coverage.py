"""Matrix instructions and conversions of narrow floats that LLVM 22 reads for each target are in the registry."""

from __future__ import annotations

import re

import pytest
from wave_mlir.isa import native

EIGHTS = [f"{a}_{b}" for a in ("bf8", "fp8") for b in ("bf8", "fp8")]

# shape and blocks, and the types that have it
DENSE = {
    "32x32x1_2b 16x16x1_4b 4x4x1_16b 32x32x2 16x16x4": ["f32"],
    "32x32x4_2b 16x16x4_4b 4x4x4_16b 32x32x8 16x16x16": ["f16", "bf16"],
    "16x16x32 32x32x16": EIGHTS,
}
INTEGERS = "32x32x4_2b 16x16x4_4b 4x4x4_16b 32x32x16 16x16x32"
DENSE_GFX950 = {"16x16x32 32x32x16": ["f16", "bf16"], "16x16x128 32x32x64": ["f8f6f4"]}
SPARSE = {"16x16x32 32x32x16": ["f16", "bf16"], "16x16x64 32x32x32": EIGHTS}
SPARSE_GFX950 = {"16x16x64 32x32x32": ["f16", "bf16"], "16x16x128 32x32x64": EIGHTS}


def spelled(prefix: str, table: dict[str, list[str]]) -> list[str]:
    return [f"{prefix}_{shape}_{kind}" for shapes, kinds in table.items() for shape in shapes.split() for kind in kinds]


def matrices(target: str) -> list[str]:
    names = spelled("v_mfma_f32", DENSE) + spelled("v_mfma_i32", {INTEGERS: ["i8"]})
    names += ["v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64"]
    names += spelled("v_smfmac_f32", SPARSE) + spelled("v_smfmac_i32", {"16x16x64 32x32x32": ["i8"]})
    if target == "gfx942":
        return names + spelled("v_mfma_f32", {"16x16x8 32x32x4": ["xf32"]})
    names += spelled("v_mfma_f32", DENSE_GFX950) + spelled("v_mfma_i32", {"16x16x64 32x32x32": ["i8"]})
    names += spelled("v_mfma_scale_f32", {"16x16x128 32x32x64": ["f8f6f4"]})
    return names + spelled("v_smfmac_f32", SPARSE_GFX950) + spelled("v_smfmac_i32", {"16x16x128 32x32x64": ["i8"]})


def conversions(target: str) -> list[str]:
    names = [f"v_cvt_{how}{kind}" for kind in ("fp8", "bf8") for how in ("f32_", "pk_f32_")]
    names += [f"v_cvt_{how}_{kind}_f32" for kind in ("fp8", "bf8") for how in ("pk", "sr")]
    if target == "gfx942":
        return names
    names += ["v_cvt_f32_bf16", "v_prng_b32", "v_permlane16_swap_b32", "v_permlane32_swap_b32"]
    names += [f"v_cvt_{how}_{kind}_f32" for kind in ("f16", "bf16") for how in ("pk", "sr")]
    wide = ("f32", "f16", "bf16")
    names += [f"v_cvt_scalef32_pk_{kind}_{w}" for kind in ("fp8", "bf8", "fp4") for w in wide]
    names += [f"v_cvt_scalef32_pk_{w}_{kind}" for kind in ("fp8", "bf8", "fp4") for w in wide]
    names += [f"v_cvt_scalef32_sr_{kind}_{w}" for kind in ("fp8", "bf8") for w in wide]
    names += [f"v_cvt_scalef32_{w}_{kind}" for kind in ("fp8", "bf8") for w in ("f32", "f16")]
    names += [f"v_cvt_scalef32_sr_pk_fp4_{w}" for w in wide]
    for six in ("fp6", "bf6"):
        names += [f"v_cvt_scalef32_2xpk16_{six}_f32", *(f"v_cvt_scalef32_sr_pk32_{six}_{w}" for w in wide)]
        names += [f"v_cvt_scalef32_pk32_{six}_{w}" for w in ("f16", "bf16")]
        names += [f"v_cvt_scalef32_pk32_{w}_{six}" for w in wide]
    return names


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_registry(target: str) -> None:
    there = {op.name for op in native.opcodes().values() if target in op.targets}
    wanted = matrices(target) + conversions(target)
    assert len(set(wanted)) == len(wanted)
    assert [name for name in wanted if name not in there] == []
    today = [name for name in there if re.match(r"v_s?mf.*\dx\d+(_\d+b)?_[a-z]", name)]
    assert sorted(today) == sorted(matrices(target))


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_names_before_cdna3(target: str) -> None:
    """`v_mfma_f32_4x4x4_16b_f16` was `v_mfma_f32_4x4x4f16`; bf16 of CDNA2 ended in `_1k`."""
    ops = native.opcodes()
    for name in matrices(target):
        if "smfmac" in name or re.search(r"[bf]p?f?8(_|$)|f8f6f4", name.replace("_i8", "")):
            continue
        old = re.sub(r"(x\d+)(_\d+b)?_", r"\1", name)
        assert ops[old].signature == ops[name].signature
        if old.endswith("bf16") and "gfx942" in ops[name].targets:
            assert ops[f"{old}_1k"].signature == ops[name].signature
