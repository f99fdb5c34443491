"""The registry's memory instructions: known to the assembler as they are written here, and whole families of them."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from wave_mlir.isa.native import TARGETS, Opcode, opcodes

ASSEMBLER = next((t for t in ("llvm-mc-22", "llvm-mc") if shutil.which(t)), None)
FAMILIES = ("smem", "mubuf", "ds", "global", "scratch", "flat")
DWORDS = {f"b{32 * n}": n for n in (1, 2, 3, 4, 8, 16)}


def _registers(bank: str, first: int, count: int) -> str:
    return f"{bank}{first}" if count == 1 else f"{bank}[{first}:{first + count - 1}]"


def _operand(op: Opcode, type: str, position: int) -> str:
    """A text that fits the type in the format."""
    if type == "vaddr":
        return "v2" if op.format in ("scratch", "mubuf") else "v[2:3]"
    if type == "saddr":
        return "off"
    if type == "soff":
        return "0x10"
    count = DWORDS[type.strip("+?")]
    resource = op.format == "mubuf" and op.signature.split("=")[1].split()[position - 1 : position] == ["vaddr"]
    if (
        op.format == "mubuf"
        and position
        and not resource
        and op.signature.split("=")[1].split()[position - 1] == "b128"
    ):
        return "0"
    if op.format == "smem" or resource:
        return _registers("s", 16, count)
    return _registers("v", 16 + 8 * position, count)


def _line(op: Opcode) -> str:
    destinations, sources = (part.split() for part in op.signature.split("="))
    operands = [_operand(op, type, 0) for type in destinations]
    operands += [_operand(op, type, i) for i, type in enumerate(sources)]
    modifiers = " offen" if op.format == "mubuf" and sources else ""
    if "atomic" in op.name and any("?" in type for type in destinations):
        modifiers += " sc0"
    return f"{op.name} {', '.join(operands)}{modifiers}"


if ASSEMBLER:  # where there is none, there is nothing to ask

    @pytest.mark.parametrize("target", TARGETS)
    def test_the_assembler_knows_each(target: str) -> None:
        """Names and numbers of operands of the registry are those of the assembler."""
        ops = [op for op in opcodes().values() if op.format in FAMILIES and target in op.targets]
        lines = [_line(op) for op in ops]
        command = [str(ASSEMBLER), "-triple=amdgcn", f"-mcpu={target}"]
        done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
        wrong = [lines[int(e.split(":")[1]) - 1] for e in done.stderr.splitlines() if ": error:" in e]
        assert wrong == [] and len(ops) > 300


def test_families_are_regular() -> None:
    """What one family has, its sisters have: a load of every width, atomics of every kind."""
    names = set(opcodes())
    stems = [n.removeprefix("global_") for n in names if n.startswith("global_") and "_lds_" not in n]
    assert len(stems) == 54
    for stem in stems:
        assert f"flat_{stem}" in names
        assert f"buffer_{stem}" in names
        assert "atomic" in stem or f"scratch_{stem}" in names
        if stem.startswith("atomic") and not stem.split("_", 1)[1].startswith(("pk", "add_f", "min_f", "max_f")):
            assert f"s_{stem}" in names and f"s_buffer_{stem}" in names
