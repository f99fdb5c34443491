"""Counts per kernel, basic block and hot loop, and what limits occupancy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from wave_mlir.compiler import targets

from . import assembly, loop_body
from .instructions import CLASSES, Instruction
from .l2 import L2Reuse
from .model import LoopModel, model

_WIDTHS = ("lds_read", "lds_write", "load", "store", "direct_to_lds")


@dataclass
class Counts:
    """Instructions of a piece of code: number by class, accesses by width, the waits in order.

    by_width: class -> bits a lane -> number, for the classes lds_read, lds_write, load, store and direct_to_lds.
    mfma: mnemonic -> number.  waits: operands of each wait ("vmcnt(0)"), in order.
    """

    instructions: int = 0
    by_class: dict[str, int] = field(default_factory=dict)
    by_width: dict[str, dict[int, int]] = field(default_factory=dict)
    mfma: dict[str, int] = field(default_factory=dict)
    waits: list[str] = field(default_factory=list)

    def __getitem__(self, kind: str) -> int:
        return self.by_class.get(kind, 0)

    def to_json(self) -> dict[str, object]:
        """Plain data; every class is there, zero or not."""
        return {
            "instructions": self.instructions,
            "by_class": {k: self[k] for k in CLASSES},
            "by_width": {k: {str(b): n for b, n in self.by_width.get(k, {}).items()} for k in _WIDTHS},
            "mfma": dict(self.mfma),
            "waits": list(self.waits),
        }


@dataclass
class HotLoop:
    """The innermost loop with the most MFMA instructions; all its blocks are counted.

    Of loops with equally many, which are versions of one loop, it is the shortest: the others run what that one leaves.
    Of loops without MFMA instructions it is the longest. `body`: the instructions of its heaviest trip, in order.
    """

    blocks: tuple[str, ...]
    counts: Counts
    body: tuple[Instruction, ...] = ()


@dataclass
class KernelReport:
    """One kernel. Registers are per lane (`vgpr`, `agpr`) or per wave (`sgpr`); sizes are in bytes.

    occupancy: waves on a SIMD of the target, limited by registers, LDS and whole workgroups; None when the target or
    the block size is not known.  code_bytes: None when the text does not say.  lds_clocks: clocks of LDS accesses whose
    addresses are known (`demand.LdsClocks`), set before `model` is asked for. l2: reuse in L2, where it is known.
    service: the loop of the waves that copy to LDS for those of the hot loop (half of the waves), if there are such.
    """

    name: str
    target: str
    vgpr: int
    agpr: int
    sgpr: int
    vgpr_spills: int
    sgpr_spills: int
    scratch_bytes: int
    lds_bytes: int
    threads: int
    occupancy: int | None
    code_bytes: int | None
    total: Counts
    blocks: list[tuple[str, Counts]]
    hot_loop: HotLoop | None
    service: HotLoop | None = None
    lds_clocks: Mapping[tuple[str, int], float] | None = None
    l2: L2Reuse | None = None

    @cached_property
    def model(self) -> LoopModel | None:
        """The static model of the hot loop; None without a loop, a known target or rates for it."""
        if self.hot_loop is None or self.occupancy is None:
            return None
        table = targets.get(self.target)
        waves = -(-self.threads // table.wave_size)
        per_group = -(-waves // table.simds_per_compute_unit)
        service = self.service.body if self.service else ()
        return model(self.hot_loop.body, table, self.occupancy, per_group, self.lds_clocks, service)

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        names = ("name", "target", "vgpr", "agpr", "sgpr", "vgpr_spills", "sgpr_spills", "scratch_bytes", "lds_bytes")
        head: dict[str, object] = {n: getattr(self, n) for n in (*names, "threads", "occupancy", "code_bytes")}
        loop, other = self.hot_loop, self.service
        return head | {
            "total": self.total.to_json(),
            "blocks": [{"label": label, **counts.to_json()} for label, counts in self.blocks],
            "hot_loop": {"blocks": list(loop.blocks), **loop.counts.to_json()} if loop else None,
            "service_loop": {"blocks": list(other.blocks), **other.counts.to_json()} if other else None,
            "model": self.model.to_json() if self.model else None,
            "l2": self.l2.to_json() if self.l2 else None,
        }


@dataclass
class Report:
    """All kernels of a text or code object."""

    target: str
    kernels: list[KernelReport]

    def to_json(self) -> dict[str, object]:
        """Plain data for `json.dump`."""
        return {"target": self.target, "kernels": [k.to_json() for k in self.kernels]}

    def __str__(self) -> str:
        """The text that `wave report` prints, without the blocks."""
        from .render import render_text  # it imports this module

        return render_text(self, blocks=False)


def analyze(isa_text: str) -> Report:
    """Statistics of LLVM assembly text. Raises assembly.AssemblyError when it holds no kernel."""
    return analyze_listing(assembly.parse(isa_text), metadata_of(isa_text), code_sizes_of(isa_text))


def analyze_listing(
    listing: assembly.Listing, metadata: Mapping[str, Mapping[str, int]], sizes: Mapping[str, int]
) -> Report:
    """Statistics of parsed functions; `metadata` and `sizes` (bytes of code) are by function."""
    reports = [_kernel(f, listing.target, metadata.get(f.name, {}), sizes.get(f.name)) for f in listing.functions]
    return Report(listing.target, reports)


def _kernel(function: assembly.Function, target: str, metadata: Mapping[str, int], size: int | None) -> KernelReport:
    used = _registers_named(i for b in function.blocks for i in b.instructions)
    agpr = metadata.get("agpr_count", used["a"])
    total = metadata.get("vgpr_count", used["v"] + agpr)
    threads, lds = metadata.get("max_flat_workgroup_size", 0), metadata.get("group_segment_fixed_size", 0)
    return KernelReport(
        name=function.name,
        target=target,
        vgpr=total - agpr if "vgpr_count" in metadata else used["v"],
        agpr=agpr,
        sgpr=metadata.get("sgpr_count", used["s"]),
        vgpr_spills=metadata.get("vgpr_spill_count", 0),
        sgpr_spills=metadata.get("sgpr_spill_count", 0),
        scratch_bytes=metadata.get("private_segment_fixed_size", 0),
        lds_bytes=lds,
        threads=threads,
        occupancy=_occupancy(target, total, lds, threads),
        code_bytes=size,
        total=count(i for b in function.blocks for i in b.instructions),
        blocks=[(_label(n, b), count(b.instructions)) for n, b in enumerate(function.blocks)],
        hot_loop=(hot := _hot_loop(function)),
        service=_service_loop(function, hot),
    )


def _occupancy(target: str, registers: int, lds: int, threads: int) -> int | None:
    if target not in targets.names() or threads == 0:
        return None
    table = targets.get(target)
    return table.occupancy(registers, lds, -(-threads // table.wave_size))


def _label(number: int, block: assembly.Block) -> str:
    return block.label or ("entry" if number == 0 else f"block {number}")


def _hot_loop(function: assembly.Function) -> HotLoop | None:
    best: tuple[int, float] = (-1, 0.0)
    chosen = None
    for body in assembly.loops(function.blocks):
        counts = count(i for b in sorted(body) for i in function.blocks[b].instructions)
        length = -counts.instructions if counts["mfma"] else counts.instructions
        if (weight := (counts["mfma"], length)) > best:
            best = weight
            labels = tuple(_label(b, function.blocks[b]) for b in sorted(body))
            chosen = HotLoop(labels, counts, loop_body.body(function.blocks, body, _weight))
    return chosen


def _service_loop(function: assembly.Function, hot: HotLoop | None) -> HotLoop | None:
    """The loop that fills LDS for a hot loop that only reads it: without MFMAs, and with as many barriers a trip."""
    if hot is None or hot.counts["lds_write"] or hot.counts["direct_to_lds"] or not hot.counts["barrier"]:
        return None
    for body in assembly.loops(function.blocks):
        counts = count(i for b in sorted(body) for i in function.blocks[b].instructions)
        fills = counts["lds_write"] + counts["direct_to_lds"]
        if fills and not counts["mfma"] and counts["barrier"] == hot.counts["barrier"]:
            labels = tuple(_label(b, function.blocks[b]) for b in sorted(body))
            return HotLoop(labels, counts, loop_body.body(function.blocks, body, _copies))
    return None


def _copies(instruction: Instruction) -> int:
    return instruction.kind in ("lds_write", "direct_to_lds")


def _weight(instruction: Instruction) -> int:
    return instruction.kind == "mfma"


def count(instructions: Iterable[Instruction]) -> Counts:
    """Counts of instructions."""
    counts, classes, mfma = Counts(), Counter[str](), Counter[str]()
    widths: dict[str, Counter[int]] = {}
    for i in instructions:
        counts.instructions += 1
        classes[i.kind] += 1
        if i.kind in _WIDTHS:
            widths.setdefault(i.kind, Counter())[i.bits] += 1
        elif i.kind == "mfma":
            mfma[i.mnemonic] += 1
        elif i.kind == "wait":
            name = "" if i.mnemonic == "s_waitcnt" else i.mnemonic.removeprefix("s_") + " "
            counts.waits.append(name + i.operands)
    counts.by_class = {k: classes[k] for k in CLASSES if classes[k]}
    counts.by_width = {k: dict(sorted(w.items())) for k, w in sorted(widths.items())}
    counts.mfma = dict(sorted(mfma.items()))
    return counts


def _registers_named(instructions: Iterable[Instruction]) -> dict[str, int]:
    """Highest vector, accumulator and scalar register in operands, plus one: for text without metadata."""
    top = {"v": 0, "a": 0, "s": 0}
    for i in instructions:
        for bank, single, last in re.findall(r"\b([vas])(?:(\d+)\b|\[\d+:(\d+)\])", i.operands):
            top[bank] = max(top[bank], int(single or last) + 1)
    return top


def metadata_of(isa_text: str) -> dict[str, dict[str, int]]:
    """The integers of the kernel metadata (`amdhsa.kernels`) in assembly text, by kernel."""
    start = isa_text.find("amdhsa.kernels:")
    if start < 0:
        return {}
    result = {}
    for entry in re.split(r"^  - ", isa_text[start:], flags=re.M)[1:]:
        name = re.search(r"^    \.name:\s+(\S+)", entry, re.M)
        fields = re.findall(r"^(?:    )?\.(\w+):\s+(\d+)\s*$", entry, re.M)
        if name:
            result[name[1].strip("'\"")] = {k: int(v) for k, v in fields}
    return result


def code_sizes_of(isa_text: str) -> dict[str, int]:
    """Bytes of code by function, from the comments LLVM writes after each."""
    names = re.findall(r"^\s*\.size\s+([\w.$]+),", isa_text, re.M)
    sizes = [int(n) for n in re.findall(r"^; codeLenInByte = (\d+)", isa_text, re.M)]
    return dict(zip(names, sizes, strict=True)) if len(names) == len(sizes) else {}
