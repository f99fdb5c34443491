"""The built-in ELF writer against lld, and how lld is found."""

import shutil
import struct

import pytest
import snippets
from mlir import ir
from wave_mlir.compiler import codegen, elf, linking
from wave_mlir.compiler.codegen_errors import CodegenError


class Elf:
    """What a loader reads of a shared object, found independently of the writer's own code."""

    def __init__(self, data: bytes):
        self.data = data
        self.head = struct.unpack_from("<16sHHIQQQIHHHHHH", data)
        table, count, names = self.head[6], self.head[12], self.head[13]
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
        self.sections = {self._text(raw[names][4] + s[0]): s for s in raw}
        self.programs = [struct.unpack_from("<IIQQQQQQ", data, self.head[5] + 56 * i) for i in range(self.head[10])]

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()

    def body(self, name: str) -> bytes:
        section = self.sections[name]
        return self.data[section[4] : section[4] + section[5]]

    def symbols(self) -> dict[str, tuple[int, int, int, int]]:
        """Name -> (info, visibility, address, size)."""
        strings = self.sections[".dynstr"][4]
        rows = struct.iter_unpack("<IBBHQQ", self.body(".dynsym"))
        return {self._text(strings + n): (info, other, value, size) for n, info, other, _, value, size in rows if n}

    def at(self, address: int, size: int) -> bytes:
        """Bytes of the loaded image."""
        for kind, _, offset, start, _, length, _, _ in self.programs:
            if kind == 1 and start <= address < start + length:
                return self.data[offset + address - start : offset + address - start + size]
        raise AssertionError(f"address {address:#x} is not loaded")

    def lookup(self, name: str) -> int:
        """Number of a dynamic symbol, found through the hash table as a loader does."""
        h = 0
        for byte in name.encode():
            h = (h << 4) + byte
            h = (h ^ (h & 0xF0000000) >> 24) & 0x0FFFFFFF
        buckets, chains = struct.unpack_from("<II", self.body(".hash"))
        words = struct.unpack_from(f"<{2 + buckets + chains}I", self.body(".hash"))
        number = words[2 + h % buckets]
        names = list(self.symbols())
        while number and names[number - 1] != name:
            number = words[2 + buckets + number]
        return number


@pytest.fixture
def two_kernels(context):
    one = snippets.unary("%r = arith.addf %x, %x : f32", "f32", name="first")
    two = snippets.unary("%r = math.exp %x : f32", "f32", name="second_kernel")
    inner = one[: one.rindex("}", 0, one.rindex("}"))].rstrip()
    function = two[two.index("gpu.func") : two.rindex("gpu.return") + len("gpu.return")]
    return codegen.generate(ir.Module.parse(f"{inner[:-1]}}}\n {function}\n }} }} }}"), emit=("obj",)).obj


def test_same_as_lld(two_kernels):
    lld = linking.find_lld()
    assert lld, "lld is a dependency of the project"
    ours, theirs = Elf(elf.link(two_kernels)), Elf(linking.link(two_kernels, lld))
    assert ours.head[0] == theirs.head[0] and ours.head[1:3] == theirs.head[1:3] and ours.head[7] == theirs.head[7]
    assert ours.body(".note") == theirs.body(".note")
    assert ours.body(".text") == theirs.body(".text")
    mine, other = ours.symbols(), theirs.symbols()
    assert sorted(mine) == sorted(other) == ["first", "first.kd", "second_kernel", "second_kernel.kd"]
    for name, (info, visibility, address, size) in mine.items():
        their_address = other[name][2]
        assert (info, visibility, size) == (*other[name][:2], other[name][3])
        if not name.endswith(".kd"):
            assert ours.at(address, size) == theirs.at(their_address, size)
            continue
        # a kernel descriptor: the same but for the distance to the code (8 bytes at 16)
        a, b = ours.at(address, 64), theirs.at(their_address, 64)
        assert a[:16] == b[:16] and a[24:] == b[24:]
        code = name.removesuffix(".kd")
        assert address + struct.unpack_from("<q", a, 16)[0] == mine[code][2]
        assert their_address + struct.unpack_from("<q", b, 16)[0] == other[code][2]


def test_hash_table_finds_every_symbol(two_kernels):
    made = Elf(elf.link(two_kernels))
    for number, name in enumerate(made.symbols(), 1):
        assert made.lookup(name) == number
    assert made.lookup("absent") == 0


def test_segments_do_not_overlap_and_sections_lie_in_them(two_kernels):
    made = Elf(elf.link(two_kernels))
    loads = sorted((p[3], p[3] + p[6]) for p in made.programs if p[0] == 1)
    assert all(a[1] <= b[0] for a, b in zip(loads, loads[1:], strict=False))
    assert all(p[2] % 0x1000 == p[3] % 0x1000 for p in made.programs if p[0] == 1)
    for name, section in made.sections.items():
        if section[2] & 2:
            assert made.at(section[3], section[5]) == made.body(name), name


@pytest.mark.parametrize(
    "data,message",
    [
        (b"", "not a 64-bit"),
        (b"\x7fELF\x02\x01" + bytes(80), "not an AMDGPU object"),
        (b"\x7fELF\x01\x01" + bytes(80), "not a 64"),
    ],
)
def test_refuses_other_files(data, message):
    with pytest.raises(CodegenError, match=message):
        elf.link(data)


def test_order_of_linkers(monkeypatch, tmp_path):
    monkeypatch.delenv(linking.ENVIRONMENT, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert linking.find_lld()[0].endswith("iree-lld")
    program = tmp_path / "ld.lld"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    linking._find_lld.cache_clear()
    assert linking.find_lld() == (str(program),)
    monkeypatch.setenv(linking.ENVIRONMENT, "builtin")
    assert linking.find_lld() == ()
    monkeypatch.setenv(linking.ENVIRONMENT, str(program))
    assert linking.find_lld()[0] == str(program)
    monkeypatch.setenv(linking.ENVIRONMENT, "no-such-lld")
    with pytest.raises(CodegenError, match="no-such-lld is no program"):
        linking.find_lld()


def test_linker_failure_is_an_error():
    with pytest.raises(CodegenError, match="linking with .* failed"):
        linking.link(b"no object", [shutil.which("false") or "/bin/false"])
