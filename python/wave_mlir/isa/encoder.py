"""Instruction text → the array that the runner executes, by the signatures of the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from . import constants, expressions, immediates, memory_rules, modifiers, registers, rules, signature
from .assembly import Function, Line
from .data import CODE_BASE
from .encoding import INSTRUCTION, SOURCES, Flags, Kind, OperandBits
from .errors import IsaError
from .expressions import Symbols
from .native import Opcode, opcodes
from .signature import Type

_SCALAR_FORMATS = frozenset({"sop1", "sop2", "sopc", "sopk", "sopp", "smem"})
_VALU_FORMATS = frozenset({"vop1", "vop2", "vop3", "vop3p", "vopc"})
_MEMORY_FORMATS = frozenset({"ds", "flat", "global", "scratch", "mubuf"})
_SHORT_FORMATS = frozenset({"sop1", "sop2", "sopc", "vop1", "vop2", "vopc"})
_ALWAYS_LITERAL = ("v_fmamk", "v_fmaak", "v_madmk", "v_madak")
_MIXED = ("v_mad_mix", "v_fma_mix")  # VOP3P whose op_sel_hi is 0 unless said
_TO_SCALAR = ("v_readlane", "v_readfirstlane")
_INDEXING = ("s_set_gpr_idx_on", "s_set_gpr_idx_mode")
_ALIGN = 256
_NO_OPERAND = (int(Kind.NONE), 0, 0, 6, 0, 0, 0)
_DWORD = 6  # Sel::Dword
_MOST_LISTED = 30

_Encoded = tuple[int, int, int, int, int, int, int]


@dataclass
class Program:
    """What the runner executes.

    instructions: array of INSTRUCTION. lines: the text of each. functions: index of the first instruction by name.
    """

    instructions: np.ndarray
    lines: list[Line]
    functions: dict[str, int]
    files: Mapping[int, str] = field(default_factory=dict)
    name: str = "kernel.s"

    def source(self, index: int) -> str:
        """`file:line` of an instruction: the source's by .loc, else the assembly's."""
        if not 0 <= index < len(self.lines):
            return self.name
        line = self.lines[index]
        if line.line and line.file in self.files:
            return f"{self.files[line.file]}:{line.line}"
        return _place_of(self, line)


def _size(line: Line, op: Opcode) -> int:
    """Bytes of the instruction (CDNA3 ISA, "Microcode formats")."""
    if rules.encoding_of(line, op) in ("e64", "sdwa", "dpp"):
        return 8
    if op.format in _SHORT_FORMATS:
        if line.mnemonic.startswith(_ALWAYS_LITERAL):
            return 8
        types = signature.parse(op.signature)
        sources = line.operands[len(types.dst) :]
        pairs = zip(sources, types.src, strict=False)
        return 8 if any(rules.literal(text, type) for text, type in pairs) else 4
    if op.format == "sopk":
        return 8 if line.mnemonic == "s_setreg_imm32_b32" else 4
    if op.format == "sopp":
        return 4
    return 16 if line.mnemonic.startswith("v_mfma_scale") else 8


def _unwrap(text: str) -> tuple[str, int]:
    """The operand without its modifiers, and their OperandBits."""
    bits = 0
    while True:
        if text.startswith("-") and not constants.is_constant(text) and len(text) > 1:
            bits |= OperandBits.NEG
            text = text[1:]
        elif text.startswith("|") and text.endswith("|") and len(text) > 2:
            bits |= OperandBits.ABS
            text = text[1:-1]
        elif text.startswith(("neg(", "abs(")) and text.endswith(")"):
            bits |= OperandBits.NEG if text.startswith("neg") else OperandBits.ABS
            text = text[4:-1]
        elif text.startswith("sext(") and text.endswith(")"):
            bits |= OperandBits.SEXT
            text = text[5:-1]
        else:
            return text, bits


class _Encoder:
    """Encodes one instruction; its place and the symbols are known."""

    def __init__(self, line: Line, op: Opcode, address: int, symbols: Symbols) -> None:
        self.line, self.op, self.address, self.symbols = line, op, address, symbols
        self.types = signature.parse(op.signature)
        packed = op.format == "vop3p" and not op.name.startswith(_MIXED)
        self.fields: dict[str, int] = {"flags": 0, "opselhi": 7 if packed else 0, "dstsel": _DWORD, "target": -1}

    def encode(self) -> tuple[dict[str, int], list[_Encoded], list[_Encoded], str]:
        """(fields, destinations, sources, label that a branch goes to or "")."""
        line, fields = self.line, self.fields
        encoding = rules.encoding_of(line, self.op)
        if encoding == "sdwa":
            fields["flags"] |= Flags.SDWA
        if encoding == "dpp":
            fields |= {"flags": fields["flags"] | Flags.DPP, "rowmask": 15, "bankmask": 15, "dpp": 0xE4}
        label = ""
        dst: list[_Encoded] = []
        src: list[_Encoded] = []
        given = self._assign()
        for i, (type, text) in enumerate(given):
            is_dst = i < len(self.types.dst)
            if text is not None and type.cls in signature.IMMEDIATES:
                label = self._immediate(type, text) or label
                encoded = _NO_OPERAND  # its place stays, so that operands stand where the signature has them
            else:
                encoded = _NO_OPERAND if text is None else self._operand(type, text, is_dst)
            (dst if is_dst else src).append(encoded)
        rules.check(line, self.op, self.types, given)
        count = len(self.types.src)
        for name, value in line.modifiers.items():
            modifiers.apply(fields, name, value, count, self.op.format)
        memory_rules.check_offset(self.op, fields.get("offset", 0))
        for i, name in enumerate(("src0_sel", "src1_sel")):
            if name in fields and i < len(src):
                src[i] = (*src[i][:3], fields.pop(name), *src[i][4:])
        fields.pop("src0_sel", None)
        fields.pop("src1_sel", None)
        return fields, dst, src, label

    def _assign(self) -> list[tuple[Type, str | None]]:
        """The operands' texts by type, destinations then sources; None for one that the text leaves out."""
        given = list(self.line.operands)
        dst, src = self.types.dst, self.types.src
        if [t.cls for t in src] == ["waitcnt"]:
            given = [self.line.tail]
        if [t.cls for t in src][-1:] == ["soff"] and len(given) == len(dst) + len(src) - 1:
            given.append("0")  # the assembler takes scalar memory without an offset
        every = (*dst, *src)
        spare = len(given) - sum(not t.optional for t in every)
        if spare < 0 or len(given) > len(every):
            least = sum(not t.optional for t in every)
            needed = str(least) if least == len(every) else f"{least} to {len(every)}"
            raise ValueError(f"{len(given)} operands, but the instruction takes {needed}")
        taken: list[tuple[Type, str | None]] = []
        for type in every:
            if type.optional and spare == 0:
                taken.append((type, None))
                continue
            spare -= type.optional
            taken.append((type, given.pop(0)))
        return taken

    def _immediate(self, type: Type, text: str) -> str:
        if type.cls == "label":
            return text
        read = immediates.indexing if self.op.name in _INDEXING else getattr(immediates, type.cls)
        self.fields["offset"] = read(text)
        return ""

    def _operand(self, type: Type, text: str, is_dst: bool) -> _Encoded:
        if text == "off" and type.cls in ("vaddr", "saddr"):
            return _NO_OPERAND
        bare, bits = _unwrap(text)
        register = registers.parse(bare)
        if register is not None:
            self._check_register(type, register, text, is_dst)
            dwords = register.dwords or type.dwords
            if type.cls == "saddr":
                self.fields["flags"] |= Flags.SADDR
            return int(register.kind), dwords, int(bits), _DWORD, register.number, 0, 0
        if is_dst or type.cls in ("vaddr", "saddr", "sbool"):
            raise ValueError(f"{text!r} is not a register")
        if type.cls == "soff":
            value = constants.whole(text)
            if value is None:
                value = expressions.value(text, self.symbols, self.address)
            self.fields["offset"] = self.fields.get("offset", 0) + value
            return _NO_OPERAND
        if constants.is_constant(bare):
            value = constants.raw_bits(bare, type)
        elif type.bits == 64:
            raise ValueError(f"{text!r} is neither a register nor a constant; a symbol has 32 bits")
        else:
            word = expressions.value(bare, self.symbols, self.address + 4)
            value = constants.raw_bits(f"lit({word})", type)
        return int(Kind.CONSTANT), type.dwords, int(bits), _DWORD, 0, 0, value

    def _check_register(self, type: Type, register: registers.Register, text: str, is_dst: bool) -> None:
        vector = register.kind == Kind.VGPR
        format = self.op.format
        if vector and (format in _SCALAR_FORMATS or type.cls in ("sbool", "saddr", "soff")):
            raise ValueError(f"{text}: a scalar register is needed here")
        scalar_result = type.cls == "sbool" or self.op.name.startswith(_TO_SCALAR)
        if not vector and format not in _SCALAR_FORMATS and (type.cls == "vaddr" or (is_dst and not scalar_result)):
            raise ValueError(f"{text}: a vector register is needed here")
        if is_dst and register.kind == Kind.SPECIAL:
            raise ValueError(f"{text} cannot be written")
        accumulator = vector and register.number >= 256
        if accumulator and format in _VALU_FORMATS and not self.op.name.startswith("v_accvgpr"):
            raise ValueError(f"{text}: vector arithmetic cannot use accumulation registers")
        self._check_width(type, register, text)

    def _check_width(self, type: Type, register: registers.Register, text: str) -> None:
        if register.kind == Kind.SPECIAL:
            return
        if type.cls in ("vaddr", "saddr"):
            most = 1 if self.op.format == "scratch" or type.cls == "soff" else 2
            if register.dwords > most:
                raise ValueError(f"{text} spans {register.dwords} registers, but an address takes {most} at most")
            return
        if register.dwords != type.dwords and not (type.fewer and register.dwords < type.dwords):
            raise ValueError(f"{text} spans {register.dwords} registers, but the operand has {type.dwords}")


def encode(
    functions: Sequence[Function],
    target: str,
    *,
    symbols: Symbols | None = None,
    files: Mapping[int, str] | None = None,
    name: str = "kernel.s",
    base: int = CODE_BASE,
) -> Program:
    """The program of some functions, whose addresses ascend (the runner finds calls and returns by bisection).

    symbols: values of names that are not labels. files: paths by number of .file. name: of the assembly, in messages.
    base: device address of the code. Raises IsaError "unsupported" that lists all instructions that the runner does not
    have, else "program" for the first whose operands are wrong.
    """
    program = Program(np.zeros(0, INSTRUCTION), [], {}, files or {}, name)
    program.lines = [line for f in functions for line in f.lines]
    ops = _lookup(program, target)
    values = dict((symbols or Symbols()).values)
    addresses, labels = _place(functions, ops, base, program, values)
    scope = replace(symbols or Symbols(), values=values)
    by_address = {address: i for i, address in enumerate(addresses)}
    rows = []
    for i, (line, op) in enumerate(zip(program.lines, ops, strict=True)):
        try:
            fields, dst, src, label = _Encoder(line, op, addresses[i], scope).encode()
            if label:
                fields["target"] = _branch_target(label, labels, by_address, addresses[i])
        except ValueError as error:
            raise IsaError("program", str(error), instruction=line.text, source=_place_of(program, line)) from None
        rows.append(_row(line, op, fields, addresses[i], dst, src))
    program.instructions = np.array(rows, INSTRUCTION)
    return program


def _lookup(program: Program, target: str) -> list[Opcode]:
    table = opcodes()
    found, missing = [], []
    for line in program.lines:
        op = table.get(line.mnemonic)
        if op is None or target not in op.targets:
            missing.append(line)
        else:
            found.append(op)
    if missing:
        raise IsaError("unsupported", _missing_text(program, missing, target), source=_place_of(program, missing[0]))
    return found


def _missing_text(program: Program, missing: list[Line], target: str) -> str:
    table = opcodes()
    first: dict[str, Line] = {}
    for line in missing:
        first.setdefault(line.mnemonic, line)
    shown = []
    for name, line in list(first.items())[:_MOST_LISTED]:
        reason = f" (not an instruction of {target})" if name in table else ""
        shown.append(f"  {_place_of(program, line)}: {line.text}{reason}")
    more = f"\n  and {len(first) - _MOST_LISTED} more" if len(first) > _MOST_LISTED else ""
    noun = "instruction" if len(first) == 1 else "instructions"
    return f"{len(first)} {noun} that the runner does not have on {target}:\n" + "\n".join(shown) + more


def _place_of(program: Program, line: Line) -> str:
    """Where the instruction stands: the line of the assembly, or the address in a code object."""
    return f"{program.name}:{line.number or hex(line.address)}"


def _place(
    functions: Sequence[Function], ops: list[Opcode], base: int, program: Program, values: dict[str, int]
) -> tuple[list[int], dict[str, int]]:
    """Addresses of the instructions and labels' indices; fills `values` with labels' and functions' addresses."""
    addresses: list[int] = []
    labels: dict[str, int] = {}
    at = base
    for function in functions:
        start = len(addresses)
        at = (at + _ALIGN - 1) // _ALIGN * _ALIGN
        program.functions[function.name] = start
        for i, line in enumerate(function.lines):
            if line.address >= 0:
                at = base + line.address
            elif align := function.alignments.get(i, 0):
                at = (at + align - 1) // align * align
            addresses.append(at)
            at += _size(line, ops[len(addresses) - 1])
        for label, index in function.labels.items():
            labels[label] = start + index
            values.setdefault(label, addresses[start + index] if start + index < len(addresses) else at)
    return addresses, labels


def _branch_target(label: str, labels: dict[str, int], by_address: dict[int, int], address: int) -> int:
    if label in labels:
        return labels[label]
    if constants.is_constant(label):
        goal = address + 4 + 4 * immediates.simm16(label)
        if goal in by_address:
            return by_address[goal]
        raise ValueError(f"the branch goes {immediates.simm16(label)} words on, where no instruction starts")
    raise ValueError(f"there is no label {label}")


def _row(
    line: Line, op: Opcode, fields: dict[str, int], address: int, dst: list[_Encoded], src: list[_Encoded]
) -> tuple[object, ...]:
    values = dict(fields, op=op.index, file=line.file, line=line.line, address=address)
    plain = tuple(values.get(n, 0) for n in (INSTRUCTION.names or ()) if n not in ("dst", "src"))
    dst += [_NO_OPERAND] * (2 - len(dst))
    src += [_NO_OPERAND] * (SOURCES - len(src))
    return (*plain, dst, src)
