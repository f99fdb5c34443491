"""Statistics of a code object (.hsaco): metadata from the ELF notes, code by an llvm-objdump that knows AMDGPU."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from . import assembly
from .assembly import AssemblyError
from .statistics import Report, analyze, analyze_listing

ENVIRONMENT = "WAVE_OBJDUMP"
"""Environment variable that names the llvm-objdump to use."""

_NAMES = ("llvm-objdump", "llvm-objdump-22", "llvm-objdump-23", "llvm-objdump-21")
_LLVM = 20  # the first that knows all targets (gfx950)
_METADATA_NOTE = 32


def analyze_file(path: str | os.PathLike[str]) -> Report:
    """Statistics of an assembly file or a code object. Raises AssemblyError, and OSError for an unreadable file."""
    data = Path(path).read_bytes()
    return analyze_hsaco(data) if data[:4] == b"\x7fELF" else analyze(data.decode(errors="replace"))


def analyze_hsaco(data: bytes) -> Report:
    """Statistics of a code object's bytes. Raises AssemblyError when no llvm-objdump for AMDGPU is found."""
    _objdump()
    try:
        metadata, sizes = _metadata(data), _function_sizes(data)
    except (struct.error, IndexError, ValueError):
        raise AssemblyError("damaged ELF file") from None
    text = disassemble(data, "--no-show-raw-insn", "--symbolize-operands")
    listing = assembly.parse(text, sizes)
    listing.target = target_of(data)
    return analyze_listing(listing, metadata, sizes)


def _objdump() -> str:
    objdump = find_objdump(os.environ.get(ENVIRONMENT, ""), os.environ.get("PATH", ""))
    if not objdump:
        raise AssemblyError(
            f"no llvm-objdump of LLVM {_LLVM} or later with the AMDGPU target is on PATH; install one, "
            f"name one in {ENVIRONMENT}, or give the .s"
        )
    return objdump


def disassemble(data: bytes, *options: str) -> str:
    """What `llvm-objdump -d` with the options prints of a code object. Raises AssemblyError."""
    objdump = _objdump()
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
        file.write(data)
        file.flush()
        done = subprocess.run([objdump, "-d", *options, file.name], capture_output=True, check=False)
    if done.returncode:
        raise AssemblyError(f"{objdump} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


@lru_cache(maxsize=4)
def find_objdump(wanted: str, path: str) -> str:
    """The first llvm-objdump that is new enough and has the AMDGPU target, or ""."""
    for name in [wanted] if wanted else _NAMES:
        program = shutil.which(name, path=path)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
            version = re.search(r"LLVM version (\d+)", said)
            if "amdgcn" in said and version and int(version[1]) >= _LLVM:
                return program
    return ""


# ELF machine numbers of AMDGPU targets (EF_AMDGPU_MACH_*), LLVM's "User Guide for AMDGPU Backend".
_MACHINES = {0x3F: "gfx90a", 0x4C: "gfx942", 0x4F: "gfx950", 0x4E: "gfx1201"}


def target_of(data: bytes) -> str:
    """The chip that a code object is for, "" when it is not known."""
    return _MACHINES.get(struct.unpack_from("<I", data, 48)[0] & 0xFF, "")


def _sections(data: bytes) -> list[tuple[int, int, int, int]]:
    """(type, offset, size, link) of each section."""
    table, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    return [(r[1], r[4], r[5], r[6]) for r in rows]


def _function_sizes(data: bytes) -> dict[str, int]:
    sections = _sections(data)
    sizes = {}
    for kind, offset, size, link in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        for name, info, _, _, _, length in struct.iter_unpack("<IBBHQQ", data[offset : offset + size]):
            start = sections[link][1] + name
            if info & 15 == 2:  # STT_FUNC
                sizes[data[start : data.index(b"\0", start)].decode()] = length
    return sizes


def _metadata(data: bytes) -> dict[str, dict[str, int]]:
    """The integers of the kernel metadata in the notes, by kernel."""
    return {
        str(entry[".name"]): {k[1:]: v for k, v in entry.items() if type(v) is int} for entry in metadata_entries(data)
    }


def metadata_entries(data: bytes) -> list[dict[str, object]]:
    """The entries of `amdhsa.kernels` in the notes. ValueError, IndexError or struct.error for a damaged file."""
    result: list[dict[str, object]] = []
    for kind, offset, size, _ in _sections(data):
        at = offset
        while kind == 7 and at + 12 <= offset + size:  # SHT_NOTE
            name_size, text_size, number = struct.unpack_from("<III", data, at)
            text = at + 12 + (name_size + 3 & ~3)
            if number == _METADATA_NOTE:
                decoded, _ = _unpack(data, text)
                if not isinstance(decoded, dict):
                    raise ValueError("the metadata is no map")
                result += decoded["amdhsa.kernels"]
            at = text + (text_size + 3 & ~3)
    return result


def _unpack(data: bytes, at: int) -> tuple[object, int]:
    """One MessagePack value (of the kinds LLVM writes) at `at`, and where the next one starts."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag < 0xC0:
        length = tag & (0x1F if tag >= 0xA0 else 0x0F)
        return _collection(data, at, length, "map" if tag < 0x90 else "list" if tag < 0xA0 else "text")
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    for kind, first, forms in (
        ("number", 0xCC, "BHIQbhiq"),
        ("text", 0xD9, "BHI"),
        ("list", 0xDC, "HI"),
        ("map", 0xDE, "HI"),
    ):
        if first <= tag < first + len(forms):
            form = ">" + forms[tag - first]
            value = struct.unpack_from(form, data, at)[0]
            at += struct.calcsize(form)
            return (value, at) if kind == "number" else _collection(data, at, value, kind)
    raise ValueError(f"MessagePack tag {tag:#x}")


def _collection(data: bytes, at: int, length: int, kind: str) -> tuple[object, int]:
    if kind == "text":
        return data[at : at + length].decode(errors="replace"), at + length
    items = []
    for _ in range(length * (2 if kind == "map" else 1)):
        item, at = _unpack(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2], strict=True)) if kind == "map" else items), at
