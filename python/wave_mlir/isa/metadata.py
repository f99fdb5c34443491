"""What a kernel's descriptor and metadata say about its launch: registers at the start, memory, arguments.

Facts: LLVM's "User Guide for AMDGPU Backend", "Kernel Descriptor", "Initial Kernel Execution State", "Code Object V5
Metadata". On these targets scratch has no setup registers and work-item ids are packed in v0.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .assembly import Listing
from .errors import IsaError
from .expressions import Symbols, evaluate

USER_SGPRS: tuple[tuple[str, int], ...] = (
    ("private_segment_buffer", 4),
    ("dispatch_ptr", 2),
    ("queue_ptr", 2),
    ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2),
    ("flat_scratch_init", 2),
    ("private_segment_size", 1),
)
"""User SGPRs in the order in which hardware sets them, and how many registers each takes."""

PRELOAD_PROLOGUE = 256
"""Bytes at the start of a kernel with preloaded arguments that hardware which preloads skips."""

_GRANULE = 8  # vector registers are allocated by so many ("Kernel Descriptor", GRANULATED_WORKITEM_VGPR_COUNT)

LDS_LIMITS = {"gfx942": 64 << 10, "gfx950": 160 << 10}
"""Bytes of LDS a workgroup can have."""


@dataclass(frozen=True)
class Argument:
    """One entry of the kernel argument segment: byte offset and size, value kind of the metadata ("global_buffer",
    "by_value", "hidden_block_count_x" …), name ("" if none), element type as the metadata names it ("" if it does not),
    whether the kernel only reads the buffer, and the alignment in bytes of LDS that it points to (0: not said)."""

    offset: int
    size: int
    kind: str
    name: str = ""
    value_type: str = ""
    read_only: bool = False
    align: int = 0

    @property
    def hidden(self) -> bool:
        """Filled by the runtime, not by the caller."""
        return self.kind.startswith("hidden_")

    @property
    def pointer(self) -> bool:
        """Takes a buffer."""
        return self.kind in ("global_buffer", "image", "pipe", "sampler", "queue")


@dataclass(frozen=True)
class Kernel:
    """One kernel's descriptor.

    user: names of USER_SGPRS that are enabled; user_count: registers that they and the preloaded arguments take (more
    where the descriptor says so). preload: (dwords, offset in dwords) of preloaded arguments. ids:
    workgroup ids x, y, z enabled; info: the workgroup info register too. lds, scratch: bytes of a workgroup, of a
    work-item. mode: the MODE register at the start. args: explicit and hidden ones, None when there is no metadata.
    block: the workgroup size that the kernel requires, None if any; most: the most work-items of one. allocated:
    vector and accumulation registers of a wave, None when the descriptor does not say them as numbers.
    """

    name: str
    user: tuple[str, ...] = ("kernarg_segment_ptr",)
    user_count: int = 0
    preload: tuple[int, int] = (0, 0)
    ids: tuple[bool, bool, bool] = (True, False, False)
    info: bool = False
    lds: int = 0
    scratch: int = 0
    dynamic_stack: bool = False
    mode: int = 0xF0 | 0x300
    kernarg: int = 0
    args: tuple[Argument, ...] | None = None
    block: tuple[int, int, int] | None = None
    most: int = 1024
    vgprs: int | None = field(default=None, compare=False)
    allocated: tuple[int, int] | None = None

    @property
    def explicit(self) -> tuple[Argument, ...]:
        """The arguments that a caller gives."""
        return tuple(a for a in self.args or () if not a.hidden)


def from_listing(listing: Listing, name: str) -> Kernel:
    """The descriptor of a kernel of an assembly file. IsaError "input" when the text has none."""
    if name not in listing.kernels:
        known = ", ".join(listing.kernels) or "none"
        raise IsaError("input", f"there is no .amdhsa_kernel {name}; the file has: {known}", source=listing.name)
    entry = read_yaml(listing.metadata, listing.name).get(name)
    values = _directives(listing, name)
    user = tuple(n for n, _ in USER_SGPRS if values.get(f"user_sgpr_{n}", 0))
    mode = (
        values.get("float_round_mode_32", 0)
        | values.get("float_round_mode_16_64", 0) << 2
        | values.get("float_denorm_mode_32", 0) << 4
        | values.get("float_denorm_mode_16_64", 3) << 6
        | values.get("dx10_clamp", 1) << 8
        | values.get("ieee_mode", 1) << 9
        | values.get("fp16_overflow", 0) << 23
    )
    kernel = Kernel(
        name=name,
        user=user,
        user_count=values.get("user_sgpr_count", 0),
        preload=(
            values.get("user_sgpr_kernarg_preload_length", 0),
            values.get("user_sgpr_kernarg_preload_offset", 0),
        ),
        ids=(
            bool(values.get("system_sgpr_workgroup_id_x", 1)),
            bool(values.get("system_sgpr_workgroup_id_y", 0)),
            bool(values.get("system_sgpr_workgroup_id_z", 0)),
        ),
        info=bool(values.get("system_sgpr_workgroup_info", 0)),
        lds=values.get("group_segment_fixed_size", 0),
        scratch=values.get("private_segment_fixed_size", 0),
        dynamic_stack=bool(values.get("uses_dynamic_stack", 0)),
        mode=mode,
        kernarg=values.get("kernarg_size", 0),
        allocated=_allocated(values.get("next_free_vgpr"), values.get("accum_offset")),
    )
    return with_metadata(kernel, entry)


def _allocated(total: int | None, vectors: int | None) -> tuple[int, int] | None:
    """Vector and accumulation registers of a wave that gets `total`, rounded up, of which `vectors` come first."""
    if total is None or vectors is None:
        return None
    granted = max(-(-total // _GRANULE), 1) * _GRANULE
    return min(vectors, granted), max(granted - vectors, 0)


# What a call makes an expression of other functions' needs. The metadata has the first two resolved.
_UNRESOLVED = ("private_segment_fixed_size", "uses_dynamic_stack", "next_free_vgpr", "accum_offset")
_NEEDED = frozenset(
    {f"user_sgpr_{n}" for n, _ in USER_SGPRS}
    | {"user_sgpr_kernarg_preload_length", "user_sgpr_kernarg_preload_offset", "kernarg_size", "fp16_overflow"}
    | {"user_sgpr_count", *_UNRESOLVED}
    | {f"system_sgpr_workgroup_{n}" for n in ("id_x", "id_y", "id_z", "info")}
    | {"group_segment_fixed_size", "private_segment_fixed_size", "uses_dynamic_stack", "dx10_clamp", "ieee_mode"}
    | {f"float_{what}_mode_{bits}" for what in ("round", "denorm") for bits in ("32", "16_64")}
)


def _directives(listing: Listing, name: str) -> dict[str, int]:
    """Values of the .amdhsa_ directives that matter here. What only the metadata says as a number is left out."""
    symbols = Symbols(sets=listing.sets)
    found = {}
    for directive, text in listing.kernels[name].items():
        key = directive.removeprefix(".amdhsa_")
        if key not in _NEEDED:
            continue
        try:
            found[key] = evaluate(text, symbols)
        except ValueError:
            if key not in _UNRESOLVED:
                message = f"{directive} {text}: not a number that the runner can work out"
                raise IsaError("input", message, source=listing.name) from None
    return found


def with_metadata(kernel: Kernel, entry: Mapping[str, object] | None) -> Kernel:
    """The kernel with what its metadata entry (keys as in the code object, ".args" …) adds. None: as it is."""
    if entry is None:
        return kernel
    args = entry.get(".args")
    sizes = entry.get(".reqd_workgroup_size")
    block = tuple(_int(s) for s in sizes) if isinstance(sizes, Sequence) and len(sizes) == 3 else None
    changes = {
        "args": tuple(_argument(a) for a in args) if isinstance(args, Sequence) else (),
        "block": block,
        "most": _int(entry.get(".max_flat_workgroup_size", kernel.most)),
        "kernarg": max(kernel.kernarg, _int(entry.get(".kernarg_segment_size", 0))),
        "lds": max(kernel.lds, _int(entry.get(".group_segment_fixed_size", 0))),
        "scratch": max(kernel.scratch, _int(entry.get(".private_segment_fixed_size", 0))),
        "dynamic_stack": kernel.dynamic_stack or bool(entry.get(".uses_dynamic_stack", False)),
        "vgprs": _int(entry[".vgpr_count"]) if ".vgpr_count" in entry else None,
    }
    return Kernel(**{**{n: getattr(kernel, n) for n in kernel.__dataclass_fields__}, **changes})  # type: ignore[arg-type]


def _int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise IsaError("input", f"the kernel's metadata has {value!r} where a number belongs")
    return value


def _argument(entry: object) -> Argument:
    if not isinstance(entry, Mapping):
        raise IsaError("input", "the kernel's metadata has an argument that is no map")
    access = entry.get(".actual_access", entry.get(".access", ""))
    return Argument(
        offset=_int(entry.get(".offset")),
        size=_int(entry.get(".size")),
        kind=str(entry.get(".value_kind", "")),
        name=str(entry.get(".name", "")),
        value_type=str(entry.get(".value_type", "")),
        read_only=access == "read_only" or bool(entry.get(".is_const", False)),
        align=_int(entry.get(".pointee_align", 0)),
    )


def read_yaml(text: str, source: str) -> dict[str, Mapping[str, object]]:
    """The metadata entries by kernel name. IsaError "input" when the text is no metadata."""
    if not text.strip():
        return {}
    import yaml  # 20 ms that only assembly text costs

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(text, loader)
    except yaml.YAMLError as error:
        raise IsaError("input", f"the .amdgpu_metadata is not YAML: {error}", source=source) from None
    return entries(data, source)


def entries(data: object, source: str) -> dict[str, Mapping[str, object]]:
    """The entries of `amdhsa.kernels` by kernel name."""
    kernels = data.get("amdhsa.kernels", []) if isinstance(data, Mapping) else None
    if not isinstance(kernels, Sequence) or not all(isinstance(k, Mapping) for k in kernels):
        raise IsaError("input", "the .amdgpu_metadata has no list amdhsa.kernels", source=source)
    return {str(k.get(".name")): k for k in kernels}


_DESCRIPTOR = struct.Struct("<III4xq20xIIIHH4x")


def from_descriptor(name: str, data: bytes) -> Kernel:
    """The kernel of the 64 bytes of its descriptor in a code object ("Kernel Descriptor" in the guide)."""
    lds, scratch, kernarg, _, rsrc3, rsrc1, rsrc2, properties, preload = _DESCRIPTOR.unpack(data[:64])
    # bits of kernel_code_properties, in the order of USER_SGPRS
    user = tuple(n for bit, (n, _) in enumerate(USER_SGPRS) if properties >> bit & 1)
    mode = rsrc1 >> 12 & 0xFF | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23
    return Kernel(
        name=name,
        user=user,
        user_count=rsrc2 >> 1 & 0x1F,
        preload=(preload & 0x7F, preload >> 7),
        ids=(bool(rsrc2 >> 7 & 1), bool(rsrc2 >> 8 & 1), bool(rsrc2 >> 9 & 1)),
        info=bool(rsrc2 >> 10 & 1),
        lds=lds,
        scratch=scratch,
        dynamic_stack=bool(properties >> 11 & 1),
        mode=mode,
        kernarg=kernarg,
        allocated=_allocated((rsrc1 & 63) * _GRANULE + 1, ((rsrc3 & 63) + 1) * 4),
    )
