"""Compiles the cases with Triton's AMD backend, without a GPU: assembly and JSON. Runs where Triton is installed.

python build_triton.py OUTPUT [PATTERN]: only cases whose name matches the pattern.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import re
import sys
import warnings
from pathlib import Path

import triton
import triton.language as tl
import triton_kernels
from case import Argument, Array, Case
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_cases import all_cases

TYPES = {
    "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "u8": "u8",
    "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5", "f8e4m3fnuz": "fp8e4b8", "f8e5m2fnuz": "fp8e5b16",
}  # fmt: skip
"""Triton's names, where they differ."""


def signature(argument: Argument) -> str:
    """Triton's type of an argument."""
    pointer = "*" if isinstance(argument, Array) else ""
    return pointer + TYPES.get(argument.dtype, argument.dtype)


def attributes(case: Case) -> dict[tuple[int, ...], list[list[object]]]:
    """What Triton's launcher would find out about the arguments: divisibility by 16, arrays below 2 GiB."""
    found = {}
    for index, argument in enumerate(case.args.values()):
        facts: list[list[object]] = []
        array = isinstance(argument, Array)
        whole = isinstance(argument.value, int) if not array else True
        if case.aligned and whole and signature(argument) != "constexpr" and (array or argument.value % 16 == 0):
            facts.append(["tt.divisibility", 16])
        if case.buffers and array:
            facts.append(["tt.pointer_range", 32])
        if facts:
            found[index,] = facts
    return found


def constant(value: int | float | str | bool) -> object:
    """The value Triton takes: names of types become types."""
    return getattr(tl, value) if isinstance(value, str) and hasattr(tl, value) else value


def compile_case(case: Case, target: str, folder: Path) -> Path:
    """Writes the assembly, the code object and the JSON; returns the latter's path."""
    ones = [n for n, a in case.args.items() if not isinstance(a, Array) and a.dtype == "i32" and a.value == 1]
    known = {n: constant(a.value) for n, a in case.args.items() if not isinstance(a, Array) and a.constant}
    known |= dict.fromkeys(ones, 1)  # the launcher makes constants of arguments equal to 1
    types = {n: "constexpr" if n in known else signature(a) for n, a in case.args.items()}
    source = ASTSource(getattr(triton_kernels, case.function), types, known, attributes(case))
    options = {"num_warps": case.warps, "num_stages": case.stages, **case.options}
    compiled = triton.compile(source, target=GPUTarget("hip", target, 64), options=options)
    name = f"triton-{case.name}-{target}"
    (folder / f"{name}.s").write_text(compiled.asm["amdgcn"])
    (folder / f"{name}.hsaco").write_bytes(compiled.asm["hsaco"])
    args = []
    for arg_name, argument in case.args.items():
        if arg_name not in known:
            kind = "array" if isinstance(argument, Array) else "number"
            args.append({"kind": kind, "name": arg_name, **dataclasses.asdict(argument)})
    hidden = len(re.findall(r"value_kind: +(?:global_buffer|by_value)", compiled.asm["amdgcn"])) - len(args)
    for index in range(hidden):  # scratch that the launcher would give; these kernels need none
        args.append({"kind": "null", "name": f"scratch{index}"})
    text = {
        "name": name,
        "maker": f"triton {triton.__version__}",
        "target": target,
        "kernel": compiled.metadata.name,
        "assembly": f"{name}.s",
        "code_object": f"{name}.hsaco",
        "grid": case.grid,
        "block": (case.warps * 64, 1, 1),
        "lds": compiled.metadata.shared,
        "args": args,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(text, indent=1) + "\n")
    return path


def main(folder: str, pattern: str = "*") -> int:
    """Compile all; a case that its compiler refuses is reported and makes the exit code 1."""
    warnings.simplefilter("ignore")
    output, failed = Path(folder), 0
    output.mkdir(parents=True, exist_ok=True)
    for case in all_cases():
        for target in case.targets:
            if not fnmatch.fnmatch(f"triton-{case.name}-{target}", pattern):
                continue
            try:
                print(compile_case(case, target, output).name, flush=True)
            except Exception as error:  # whatever that compiler raises
                failed += 1
                print(
                    f"{case.name} for {target}: {type(error).__name__}: {str(error)[:600]}", file=sys.stderr, flush=True
                )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
