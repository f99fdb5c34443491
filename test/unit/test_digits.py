"""The demo on a part of its data, and how it ends when there is nothing sensible to do."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

DIGITS = Path(__file__).parents[2] / "examples" / "digits.py"


@pytest.fixture(scope="module")
def digits() -> ModuleType:
    pytest.importorskip("sklearn")
    spec = importlib.util.spec_from_file_location("digits_example", DIGITS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_demo_on_a_subset(digits: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert digits.main(["--train", "301", "--test", "77", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "greatest error of a dot product against numpy: 0 " in shown
    assert "the two results are the same bit for bit" in shown
    assert "nearest neighbours the same as numpy's" in shown
    accuracy = re.search(r"accuracy: \d+ of 77 test images, ([\d.]+) %", shown)
    assert accuracy is not None and float(accuracy[1]) > 85
    forms = ("tile", "typed", "placed", "staged", "lane", "scheduled", "gpu", "llvm", "isa", "hsaco")
    assert all(re.search(rf"^  {form} ", shown, re.M) for form in forms)
    assert re.search(r"wave-to-gpu +[\d.]+ ms", shown)
    assert "v_mfma_f32_16x16x16_f16" in shown
    assert (tmp_path / "digits.hsaco").read_bytes().startswith(b"\x7fELF")
    assert "v_mfma_f32_16x16x16" in (tmp_path / "digits.s").read_text()
    (kernel,) = json.loads((tmp_path / "digits.hsaco.json").read_text())["kernels"]
    assert kernel["name"] == "gemm"


def test_nearest_is_brute_force(digits: ModuleType) -> None:
    data = digits.load(50, 30)
    distances = ((data.test[:, None, :] - data.train[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(digits.nearest(data.test @ data.train.T, data), distances.argmin(axis=1))


def test_wrong_products_are_noticed(digits: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    data = digits.load(50, 30)
    products = (data.test @ data.train.T).astype(np.float32)
    products[3, 4] += 1
    assert digits.compare(products, data) is False
    assert "wrong" in capsys.readouterr().err
    assert digits.compare(np.full_like(products, np.nan), data) is False


@pytest.mark.parametrize(("train", "test"), [("0", "5"), ("1700", "500")])
def test_sizes_that_cannot_be(digits: ModuleType, train: str, test: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        digits.main(["--train", train, "--test", test])
    assert ended.value.code == 2
    assert "there are 1797" in capsys.readouterr().err
