"""The examples of kernels run as they are and find their results right."""

from __future__ import annotations

import importlib

import pytest

EXAMPLES = [
    "attention_backward",
    "attention_decode",
    "attention_forward",
    "attention_fp8",
    "attention_ragged",
    "control_flow",
    "lds_by_hand",
    "moe",
    "rowwise",
    "scans",
    "tables",
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(name).main()
    assert "greatest error" in capsys.readouterr().out
