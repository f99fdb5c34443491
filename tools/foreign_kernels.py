"""Compile kernels with other compilers (Triton, wave-lang) for the machine-code runner's tests; no GPU is needed.

    python tools/foreign_kernels.py [PATTERN] [--out FOLDER] [--venv FOLDER] [--only triton|wave-lang]

Makes a virtual environment of its own (about 1.5 GB), installs the compilers at the versions below, and writes assembly
and JSON of every case in test/foreign whose name matches PATTERN (default: all) to FOLDER: build/foreign, or what the
environment variable WAVE_FOREIGN_KERNELS names. `pytest -m foreign` runs what it finds there. Both folders may be
deleted at any time. Exit code 1 when a compiler refused a case.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "test" / "foreign"
COMPILERS = {"triton": "build_triton.py", "wave-lang": "build_wave_lang.py"}
PACKAGES = ("triton==3.9.0", "wave-lang==3.9.1", "torch==2.13.0", "sympy", "numpy")


def environment(folder: Path) -> Path:
    """The Python of the environment, made and filled where that has not been done for these versions."""
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = "\n".join(PACKAGES)
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"installing {', '.join(PACKAGES)} into {folder}", flush=True)
        venv.create(folder, with_pip=True, symlinks=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-q"]
        subprocess.run([*pip, *PACKAGES], check=True)
        stamp.write_text(wanted)
    return python


def main(argv: list[str]) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--venv", type=Path, default=ROOT / "build" / "foreign-venv")
    parser.add_argument("--only", choices=sorted(COMPILERS))
    options = parser.parse_args(argv)
    out = options.out or Path(os.environ.get("WAVE_FOREIGN_KERNELS") or ROOT / "build" / "foreign")
    try:
        python = environment(options.venv)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the environment {options.venv} could not be made: {error}", file=sys.stderr)
        return 2
    settings = {**os.environ, "WAVE_CACHE_ON": "0", "TRITON_CACHE_DIR": str(options.venv / "cache")}
    code = 0
    for name, script in sorted(COMPILERS.items()):
        if options.only in (None, name):
            command = [str(python), str(SOURCES / script), str(out.resolve()), options.pattern]
            code = max(code, subprocess.run(command, env=settings, cwd=SOURCES).returncode)
    if code == 0 and not any(out.glob(f"{options.pattern}.json")):
        print(f"no kernel's name matches '{options.pattern}'; names are like triton-add-f32-gfx942", file=sys.stderr)
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
