"""The built-in ELF writer against lld, and how lld is found."""

import shutil
import struct

import llvmlite.binding as llvm
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

    def symbols(self, table: str = ".dynsym") -> dict[str, tuple[int, ...]]:
        """Name -> (info, visibility, section, address, size)."""
        strings = self.sections[".dynstr" if table == ".dynsym" else ".strtab"][4]
        rows = struct.iter_unpack("<IBBHQQ", self.body(table))
        return {self._text(strings + name): rest for name, *rest in rows if name}

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


def kernels(*names: str) -> bytes:
    """The object of a module with kernels of these names."""
    bodies = {0: "%r = arith.addf %x, %x : f32", 1: "%r = math.exp %x : f32", 2: "%r = arith.mulf %x, %x : f32"}
    first, *rest = [snippets.unary(bodies[i % 3], "f32", name=name) for i, name in enumerate(names)]
    functions = [text[text.index("gpu.func") : text.rindex("gpu.return") + len("gpu.return")] + "\n}" for text in rest]
    inner = first[: first.rindex("}", 0, first.rindex("}"))].rstrip()
    return codegen.generate(ir.Module.parse("\n".join([inner, *functions, "}", "}"])), emit=("obj",)).obj


@pytest.fixture
def two_kernels(context):
    return kernels("first", "second_kernel")


def assert_loads_the_same(obj: bytes) -> None:
    """What is loaded, the program headers and the symbols tools see are lld's, byte for byte."""
    lld = linking.find_lld()
    assert lld, "lld is needed to compare with"
    assert elf.covers(obj)
    mine, other = elf.link(obj), linking.link(obj, lld)
    ours, theirs = Elf(mine), Elf(other)
    assert ours.programs == theirs.programs
    end = max(p[2] + p[5] for p in ours.programs)
    places = {*range(40, 48), *range(60, 64)}  # of the section headers, which are not loaded, in the ELF header
    assert end > 1000 and [i for i in range(end) if mine[i] != other[i] and i not in places] == []
    assert ours.symbols(".symtab") == theirs.symbols(".symtab")
    for name, section in ours.sections.items():
        if section[2] & 2:
            assert section[1:7] == theirs.sections[name][1:7], name


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 11, 16, 17])
def test_loads_the_same_bytes_as_with_lld(context, count):
    assert_loads_the_same(kernels(*(f"kernel_{i * i}" for i in range(count))))


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950", "gfx1201"])
def test_loads_the_same_bytes_for_every_target(context, target):
    text = snippets.unary("%r = math.exp %x : f32", "f32", name="k")
    assert_loads_the_same(codegen.generate(ir.Module.parse(text), target=target, emit=("obj",)).obj)


def test_gemm_loads_the_same_bytes_as_with_lld(context, gemm_text):
    assert_loads_the_same(codegen.generate(ir.Module.parse(gemm_text), emit=("obj",)).obj)


def test_lld_is_not_started_for_what_the_writer_covers(context, two_kernels, monkeypatch):
    monkeypatch.delenv(linking.ENVIRONMENT, raising=False)
    monkeypatch.setattr(linking, "_run", lambda *_: pytest.fail("lld was started"))
    assert linking.link(two_kernels) == elf.link(two_kernels)


def test_writable_data_goes_to_lld(context, monkeypatch):
    """An object the writer does not cover: it says so, and by default lld links it."""
    monkeypatch.delenv(linking.ENVIRONMENT, raising=False)
    source = 'target triple = "amdgcn-amd-amdhsa"\n@state = addrspace(1) global i32 7\n'
    obj = object_of(source)
    assert not elf.covers(obj)
    with pytest.raises(CodegenError, match="section .data is beyond the built-in linker; install an ELF lld"):
        elf.link(obj)
    assert ".data" in Elf(linking.link(obj)).sections


def object_of(text: str) -> bytes:
    """The object of a module of LLVM IR for gfx942."""
    module = llvm.parse_assembly(text)
    triple = llvm.Target.from_triple("amdgcn-amd-amdhsa")
    return triple.create_target_machine(cpu="gfx942", reloc="pic").emit_object(module)


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
        if section[2] & 2 and section[1] != 8:
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


def test_a_linker_that_cannot_run_is_an_error(tmp_path):
    program = tmp_path / "lld"
    program.write_text("")
    with pytest.raises(CodegenError, match="cannot run the linker .*lld: Permission denied"):
        linking.link(b"no object", [str(program)])


def test_linker_failure_is_an_error():
    with pytest.raises(CodegenError, match="linking with .* failed"):
        linking.link(b"no object", [shutil.which("false") or "/bin/false"])
