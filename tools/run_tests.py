"""Run the lit tests and the pytest tests, and print as the last line how many passed and failed over both.

    python tools/run_tests.py [--all] [--jobs N] [--results FOLDER]

--all adds the tests marked slow, and properties are tried on more examples. Exit code 1 when a test failed, a runner
broke or found nothing to run. The last line is written to FOLDER/summary too, after `make` has added lines of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIT = "import sys; from lit.main import main; sys.exit(main())"


@dataclass(frozen=True)
class Counts:
    """Tests by outcome; a runner that broke counts as one failure."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def counts_of(report: Path) -> Counts | None:
    """Totals of a JUnit XML report, None where there is none that can be read."""
    try:
        root = ET.parse(report).getroot()
    except (OSError, ET.ParseError):
        return None
    suites = [root] if root.tag == "testsuite" else root.findall("testsuite")
    total = Counts()
    for suite in suites:
        number = {k: int(suite.get(k) or 0) for k in ("tests", "failures", "errors", "skipped")}
        failed = number["failures"] + number["errors"]
        total += Counts(max(0, number["tests"] - failed - number["skipped"]), failed, number["skipped"])
    return total


def judge(name: str, report: Path, code: int) -> Counts:
    """Counts of one runner, with a failure added where it broke or ran no test."""
    counts = counts_of(report)
    if counts is None:
        print(f"{name}: exit code {code} and no report", flush=True)
        return Counts(failed=1)
    if counts.passed + counts.failed == 0:
        print(f"{name}: ran no test", flush=True)
        return counts + Counts(failed=1)
    if code != 0 and counts.failed == 0:
        print(f"{name}: exit code {code} though no test failed", flush=True)
        return counts + Counts(failed=1)
    return counts


def run(name: str, command: list[str], report: Path) -> Counts:
    """Run one runner and count."""
    report.unlink(missing_ok=True)
    print(f"--- {name}", flush=True)
    started = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    counts = judge(name, report, code)
    print(f"--- {name}: {counts} in {time.monotonic() - started:.0f} s", flush=True)
    return counts


def main(arguments: list[str]) -> int:
    """Run all, print the summary, 1 on failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also the tests marked slow")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="tests at a time")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "test-results")
    options = parser.parse_args(arguments)
    results = options.results.resolve()
    results.mkdir(parents=True, exist_ok=True)
    (results / "summary").unlink(missing_ok=True)
    lit, pytest = results / "lit.xml", results / "pytest.xml"
    lit_command = [sys.executable, "-c", LIT, "-q", f"-j{options.jobs}", f"--xunit-xml-output={lit}", "test"]
    pytest_command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={pytest}", "--durations=10"]
    pytest_command += ["-n", str(options.jobs), "--dist", "worksteal"]
    if options.all:
        pytest_command += ["-m", ""]
        os.environ["WAVE_MORE_EXAMPLES"] = "1"
    total = run("lit", lit_command, lit) + run("pytest", pytest_command, pytest)
    (results / "summary").write_text(f"{total}\n")
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
