"""An llvm-mca with the AMDGPU target, for tests that compare the static model with LLVM's scheduling tables."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

NAMES = ("llvm-mca", "llvm-mca-22", "llvm-mca-23")
_ITERATIONS = 100


@cache
def find() -> str:
    """The first llvm-mca on PATH that knows AMDGPU, or ""."""
    for name in NAMES:
        if program := shutil.which(name):
            said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
            if "amdgcn" in said and re.search(r"LLVM version 2[2-9]", said):
                return program
    return ""


def clocks(lines: Sequence[str], target: str) -> float:
    """Clocks of the lines in a loop without end; llvm-mca's cycle is 4 of them."""
    command = [find(), "-mtriple=amdgcn", f"-mcpu={target}", f"-iterations={_ITERATIONS}"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if not found:
        raise ValueError(f"llvm-mca printed no cycles: {done.stdout[:200]}")
    return 4 * int(found[1]) / _ITERATIONS
