"""The last line of `make test` counts lit and pytest together, and says so when a runner breaks."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "tools" / "run_tests.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["run_tests"] = module
    spec.loader.exec_module(module)
    return module


def write(path, *suites):
    inner = "".join(
        f'<testsuite tests="{t}" failures="{f}" errors="{e}" skipped="{s}"></testsuite>' for t, f, e, s in suites
    )
    path.write_text(f"<testsuites>{inner}</testsuites>")
    return path


def test_counts(tool, tmp_path):
    report = write(tmp_path / "r.xml", (10, 1, 2, 3), (5, 0, 0, 0))
    assert str(tool.counts_of(report)) == "9 passed, 3 failed, 3 skipped"
    assert str(tool.judge("x", report, 1)) == "9 passed, 3 failed, 3 skipped"


@pytest.mark.parametrize(
    ("suites", "code", "failed"),
    [
        ([(4, 0, 0, 0)], 0, 0),
        ([(4, 0, 0, 0)], 2, 1),
        ([(4, 1, 0, 0)], 1, 1),
        ([(0, 0, 0, 0)], 5, 1),
        ([(2, 0, 0, 2)], 0, 1),
    ],
)
def test_a_run_is_judged(tool, tmp_path, suites, code, failed):
    assert tool.judge("x", write(tmp_path / "r.xml", *suites), code).failed == failed


def test_a_missing_or_broken_report_is_a_failure(tool, tmp_path):
    assert tool.judge("x", tmp_path / "none.xml", 0).failed == 1
    (tmp_path / "bad.xml").write_text("<testsuites>")
    assert tool.judge("x", tmp_path / "bad.xml", 0).failed == 1
