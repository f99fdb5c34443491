"""The compile driver and whole-or-nothing output."""

import os

import pytest
from wave_mlir.compiler import driver, outputs, rocdl

TILE = """
module attributes {wave.form = "tile", wave.target = "gfx942"} {
  wave.kernel @copy(%a: !wave.memory<[M], f16, global>, %b: !wave.memory<[M], f16, global>)
      symbols {M = 512, BLOCK_M = 64} dynamic [] constraints [#wave.workgroup<M, BLOCK_M, x>] {
    wave.return
  }
}
"""


def test_gpu_form_to_everything(gemm_text):
    compiled = driver.compile_module(gemm_text, emit=("hsaco",))
    assert compiled.form == "gpu" and compiled.hsaco[:4] == b"\x7fELF"
    assert compiled.kernels[0].name == "gemm" and "s_endpgm" in compiled.isa
    assert "gpu.func" in compiled.ir("gpu")
    assert {"optimize", "object", "link"} <= set(compiled.timings)
    with pytest.raises(driver.CompileError, match="no text in lane form"):
        compiled.ir("lane")


def test_until_rocdl(gemm_text):
    compiled = driver.compile_module(gemm_text, until="rocdl")
    assert "llvm.func @gemm" in compiled.emit("rocdl")
    with pytest.raises(driver.CompileError, match="machine code is made from gpu form"):
        compiled.emit("isa")


def test_symbols_are_set_in_tile_form():
    compiled = driver.compile_module(TILE, symbols={"M": 100}, until="tile")
    assert "M = 100" in compiled.ir("tile").replace("BLOCK_M = 64", "")
    with pytest.raises(driver.CompileError, match="no kernel has a static symbol 'K'; there are BLOCK_M, M"):
        driver.compile_module(TILE, symbols={"K": 100}, until="tile")


def test_target_override(gemm_text):
    compiled = driver.compile_module(gemm_text, "gfx950", until="gpu")
    assert compiled.kernels[0].target == "gfx950" and "--gfx950" in compiled.isa
    with pytest.raises(driver.CompileError, match="settled; start from tile form"):
        driver.compile_module(TILE.replace('"tile"', '"lane"'), "gfx950", until="lane")


def test_form_must_be_said(gemm_text):
    with pytest.raises(driver.CompileError, match="does not say its form"):
        driver.compile_module(gemm_text.replace('wave.form = "gpu", ', ""))
    with pytest.raises(driver.CompileError, match="unknown form 'machine'"):
        driver.compile_module(gemm_text, until="machine")


def test_kernel_choice(gemm_text):
    with pytest.raises(driver.CompileError, match="no kernel 'other' in the module; it has: gemm"):
        driver.compile_module(gemm_text, kernel="other")
    assert driver.compile_module(gemm_text, kernel="gemm").kernels[0].name == "gemm"


def test_outputs_are_whole_or_absent(tmp_path):
    good, bad = tmp_path / "a.bin", tmp_path / "absent" / "b.json"
    with pytest.raises(OSError, match="No such file"):
        outputs.write_atomically({good: b"1", bad: "2"})
    assert os.listdir(tmp_path) == []
    outputs.write_atomically({good: b"1", tmp_path / "b.json": "2"})
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "b.json"] and good.read_bytes() == b"1"


def test_passes_that_lead_nowhere_are_an_error(gemm_text, monkeypatch):
    monkeypatch.setattr(driver.pipelines, "between", lambda *_: ["canonicalize"])
    with pytest.raises(driver.CompileError, match="the passes from gpu form did not lead to rocdl form"):
        driver.compile_module(gemm_text, until="rocdl")


def test_translation_that_gives_nothing_is_an_error(gemm_text, monkeypatch):
    monkeypatch.setattr(rocdl.llvm, "translate_module_to_llvmir", lambda _: None)
    with pytest.raises(driver.CompileError, match="translation to LLVM IR failed"):
        _ = driver.compile_module(gemm_text).isa
