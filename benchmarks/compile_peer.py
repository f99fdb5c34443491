"""Compile times beside wave-lang's: `python benchmarks/compile_peer.py --venv FOLDER [--pattern P] [--repeats N]`.

Both compile the same sources, wave-lang's own kernel templates, to a gfx942 code object, in one run of this script, one
after the other: CPU seconds (children included), the process warm, caches off, another shape each time. Ours reads them
through `wave_mlir.compat`. FOLDER is an environment apart, made with

    python3.11 -m venv FOLDER && FOLDER/bin/pip install wave-lang==3.9.1 torch==2.13.0 sympy

Prints a table, and the geometric mean of the ratios over the kernels that both compile.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).with_name("peer_kernels.py")


def run(python: Path, side: str, templates: Path, pattern: str, repeats: int) -> dict[str, dict]:
    """What one side prints, by kernel."""
    command = [str(python), str(KERNELS), side, str(templates), "--pattern", pattern, "--repeats", str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{side}: {done.stderr.strip().splitlines()[-1]}")
    return {record["name"]: record for record in map(json.loads, done.stdout.splitlines())}


def templates_of(venv: Path) -> Path:
    """The folder of the templates in the environment apart."""
    found = sorted(venv.glob("lib/python3*/site-packages/wave_lang/kernel/wave/templates"))
    if not found:
        sys.exit(f"there is no wave-lang in {venv}; the head of this file says how to make such an environment")
    return found[0]


def shown(record: dict | None) -> str:
    """A cell of the table."""
    if record is None or "error" in record:
        return "-"
    return f"{statistics.median(record['seconds']):.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    templates = templates_of(arguments.venv)
    ours = run(Path(sys.executable), "ours", templates, arguments.pattern, arguments.repeats)
    peer = run(arguments.venv / "bin" / "python", "peer", templates, arguments.pattern, arguments.repeats)
    ratios = []
    print(f"{'kernel':44} {'ours':>6} {'wave-lang':>10} {'ratio':>6}")
    for name, record in ours.items():
        ratio = ""
        if "seconds" in record and "seconds" in peer.get(name, {}):
            ratios.append(statistics.median(peer[name]["seconds"]) / statistics.median(record["seconds"]))
            ratio = f"{ratios[-1]:.1f}"
        print(f"{name:44} {shown(record):>6} {shown(peer.get(name)):>10} {ratio:>6}")
        for side, found in (("ours", record), ("wave-lang", peer.get(name, {}))):
            if "error" in found:
                print(f"    {side}: {found['error']}")
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean over {len(ratios)} kernels: {mean:.1f}; least {min(ratios):.1f}")


if __name__ == "__main__":
    main()
