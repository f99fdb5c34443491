"""Text of AMDGPU assembly, as LLVM writes it, → labels, instructions with operands and modifiers, directives.

Knows the syntax only; which instructions there are, and what their operands mean, is the encoder's business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .errors import IsaError

_LABEL = re.compile(r"^([\w.$@]+):")
_FILE = re.compile(r'^(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_TARGET = re.compile(r"amd(?:gcn|gpu[0-9.]*)-amd-amdhsa-\w*-(gfx[0-9a-f]+)")  # newer LLVM: amdgpu9.42-amd-…
_SUFFIX = re.compile(r"_(e32|e64_dpp|e64|sdwa|dpp)$")
_MODIFIER = re.compile(r"^[a-z][a-z0-9_]*:")
_CACHE = ("sc0", "sc1", "nt", "glc", "slc")
_BARE = frozenset({"clamp", *_CACHE, "offen", "idxen", "lds", "gds", "tfe", "row_mirror", "row_half_mirror", "fi"})
_TEXT_SECTION = re.compile(r"^\.text\b")
_EXPANDED = re.compile(r"\.(macro|endm|purgem|altmacro|rept?|irpc?|endr|if\w*|else\w*|endif|include|incbin|org)$")
_DATA = re.compile(
    r"\.([1-8]?byte|short|hword|half|value|word|int|long|quad|octa|float|single|double|asci[iz]|string"
    r"|fill|zero|skip|space)$"
)
_ENDS = ("s_endpgm", "s_endpgm_saved", "s_branch", "s_setpc_b64", "s_trap")
_PADDING = re.compile(r"\.fill\s+\d+,\s*4,\s*(3212836864|0xbf800000)$")  # s_nop 0, behind the last function


@dataclass(frozen=True)
class Line:
    """One instruction of the text.

    mnemonic without its encoding suffix ("e32", "e64", "sdwa", "dpp", "e64_dpp" or "" in `encoding`); operands as
    written; modifiers by name, the text after the colon ("" for a bare one); `text` as written; `number` its line
    in the assembly, from 1; (file, line) of the last .loc, or (0, 0); `address` where a disassembly says it, else -1.
    """

    mnemonic: str
    encoding: str
    operands: tuple[str, ...]
    modifiers: dict[str, str]
    tail: str
    text: str
    number: int
    file: int = 0
    line: int = 0
    address: int = -1


@dataclass
class Function:
    """The instructions of one function, its labels (indices of instructions), and where .p2align moves the address."""

    name: str
    lines: list[Line] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    alignments: dict[int, int] = field(default_factory=dict)


@dataclass
class Listing:
    """A file of assembly.

    kernels: lines of each .amdhsa_kernel block by kernel name. metadata: YAML text, "" if none. data: directives of
    the other sections, (section, line number, text). sets: `.set` assignments as text. lds: (size, alignment) by
    symbol.
    """

    name: str
    target: str = ""
    functions: list[Function] = field(default_factory=list)
    files: dict[int, str] = field(default_factory=dict)
    kernels: dict[str, dict[str, str]] = field(default_factory=dict)
    metadata: str = ""
    data: list[tuple[str, int, str]] = field(default_factory=list)
    sets: dict[str, str] = field(default_factory=dict)
    lds: dict[str, tuple[int, int]] = field(default_factory=dict)

    def function(self, name: str) -> Function | None:
        """The function of that name."""
        return next((f for f in self.functions if f.name == name), None)


def split_top(text: str, separator: str) -> list[str]:
    """Split at commas (separator ",") or white space (separator " ") outside of brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and (char == separator or (separator == " " and char.isspace())):
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    stripped = [p.strip() for p in parts]
    return [p for p in stripped if p] if separator == " " else stripped


def strip_comment(line: str) -> str:
    """The line without its comment."""
    quoted = False
    for i, char in enumerate(line):
        if char == '"' and (i == 0 or line[i - 1] != "\\"):
            quoted = not quoted
        elif not quoted and (char == ";" or (char == "/" and line[i + 1 : i + 2] == "/")):
            return line[:i].rstrip()
    return line.rstrip()


def strip_blocks(line: str, inside: bool) -> tuple[str, bool]:
    """The line without its /* comments */, given whether one is open before it; and whether one is open after it."""
    out, at = "", 0
    while at < len(line):
        if inside:
            end = line.find("*/", at)
            if end < 0:
                return out, True
            at, inside = end + 2, False
            continue
        start = line.find("/*", at)
        before = line[at:] if start < 0 else line[at:start]
        out += before
        if start < 0:
            break
        if strip_comment(out) != out.rstrip() or out.count('"') % 2:  # in a comment of the line, or in a string
            return out + line[start:], False
        out, at, inside = out + " ", start + 2, True
    return out, inside


def _is_modifier(word: str) -> bool:
    return word in _BARE or bool(_MODIFIER.match(word))


def parse_instruction(text: str, number: int, file: int = 0, line: int = 0, address: int = -1) -> Line:
    """The instruction of one line of text (no label, no comment)."""
    head, _, rest = text.strip().partition(" ") if " " in text.strip() else text.strip().partition("\t")
    mnemonic, _, more = head.partition("\t")
    rest = f"{more} {rest}".strip()
    suffix = _SUFFIX.search(mnemonic)
    encoding = suffix[1] if suffix else ""
    operands: list[str] = []
    modifiers: dict[str, str] = {}
    for piece in split_top(rest, ",") if rest else []:
        words = split_top(piece, " ")
        count = next((i for i, w in enumerate(words) if _is_modifier(w)), len(words))
        if count or not words:
            operands.append(" ".join(words[:count]))
        for word in words[count:]:
            name, _, value = word.partition(":")
            modifiers[name] = value
    name = mnemonic[: suffix.start()] if suffix else mnemonic
    return Line(name, encoding, tuple(operands), modifiers, rest, " ".join(text.split()), number, file, line, address)


class _Parser:
    def __init__(self, name: str) -> None:
        self.out = Listing(name)
        self.section = ".text"
        self.stack: list[str] = []
        self.kernel: dict[str, str] | None = None
        self.metadata: list[str] | None = None
        self.location = (0, 0)
        self.named: set[str] = set()
        self.comment = False

    def feed(self, number: int, raw: str) -> None:
        stripped = raw.strip()
        if self.metadata is not None:
            if stripped == ".end_amdgpu_metadata":
                self.out.metadata = "\n".join(self.metadata)
                self.metadata = None
            else:
                self.metadata.append(raw.rstrip())
            return
        if self.comment or "/*" in raw:
            raw, self.comment = strip_blocks(raw, self.comment)
        line = strip_comment(raw).strip()
        while label := _LABEL.match(line):
            self._label(label[1], number)
            line = line[label.end() :].strip()
        if not line:
            return
        if line.startswith("."):
            self._directive(line, number)
        elif _TEXT_SECTION.match(self.section):
            self._instruction(line, number)

    def _label(self, name: str, number: int) -> None:
        if not _TEXT_SECTION.match(self.section):
            self.out.data.append((self.section, number, f"{name}:"))
        elif name in self.named or not self.out.functions:
            self.out.functions.append(Function(name, labels={name: 0}))
            self.location = (0, 0)
        else:
            function = self.out.functions[-1]
            if name in function.labels:
                raise self._error("input", f"the label {name} is defined a second time", number)
            function.labels[name] = len(function.lines)

    def _instruction(self, line: str, number: int) -> None:
        if not self.out.functions:
            self.out.functions.append(Function(""))
        self.out.functions[-1].lines.append(parse_instruction(line, number, *self.location))

    def _directive(self, line: str, number: int) -> None:
        name, _, rest = line.replace("\t", " ").partition(" ")
        rest = rest.strip()
        if self.kernel is not None:
            if name == ".end_amdhsa_kernel":
                self.kernel = None
            else:
                self.kernel[name] = rest
        elif name == ".amdhsa_kernel":
            self.kernel = self.out.kernels.setdefault(rest, {})
        elif name == ".amdgpu_metadata":
            self.metadata = []
        elif name in (".amdgcn_target", ".amdgcn_target_id"):
            found = _TARGET.search(rest)
            self.out.target = found[1] if found else rest.strip('"')
        elif name == ".loc":
            words = rest.split()
            self.location = (int(words[0]), int(words[1]))
        elif name == ".file":
            self._file(rest)
        elif name in (".set", ".equ"):
            self._set(rest, number)
        elif _EXPANDED.match(name):
            message = f"{name} is for an assembler to expand; give what it makes of the text (llvm-mc) or a code object"
            raise self._error("unsupported", message, number)
        elif name in (".amdgpu_lds", ".lds"):
            words = [w.strip() for w in rest.split(",")]
            self.out.lds[words[0]] = (int(words[1], 0), int(words[2], 0) if len(words) > 2 else 4)
        elif not self._change_section(name, rest):
            if not _TEXT_SECTION.match(self.section):
                self.out.data.append((self.section, number, line))
            elif name == ".p2align" and self.out.functions:
                function = self.out.functions[-1]
                function.alignments[len(function.lines)] = 1 << int(rest.split(",")[0], 0)
            elif _DATA.match(name) and not _PADDING.match(line):
                self._data_in_code(line, number)

    def _data_in_code(self, line: str, number: int) -> None:
        """Data behind the end of a function are padding; those that execution comes to are instructions."""
        function = self.out.functions[-1] if self.out.functions else None
        if function and function.lines and function.lines[-1].mnemonic not in _ENDS:
            message = f"'{line}' among the instructions: the runner decodes no bytes; write the instruction as text"
            raise self._error("unsupported", message, number)

    def _set(self, rest: str, number: int) -> None:
        symbol, _, value = (part.strip() for part in rest.partition(","))
        if self.out.sets.get(symbol, value) != value:
            message = f"{symbol} is set to {self.out.sets[symbol]} before; the runner has one value a symbol"
            raise self._error("unsupported", message, number)
        self.out.sets[symbol] = value

    def _error(self, kind: str, message: str, number: int) -> IsaError:
        return IsaError(kind, message, source=f"{self.out.name}:{number}")

    def _change_section(self, name: str, rest: str) -> bool:
        if name == ".section":
            self.section = rest.split(",")[0].strip().strip('"')
        elif name == ".pushsection":
            self.stack.append(self.section)
            self.section = rest.split(",")[0].strip().strip('"')
        elif name == ".popsection" and self.stack:
            self.section = self.stack.pop()
        elif name in (".text", ".data", ".rodata", ".bss"):
            self.section = name
        else:
            return False
        return True

    def _file(self, rest: str) -> None:
        match = _FILE.match(rest)
        if match:
            path = f"{match[2]}/{match[3]}" if match[3] and not match[3].startswith("/") else match[3] or match[2]
            self.out.files[int(match[1])] = path


_FUNCTION = re.compile(r"^\s*\.type\s+([\w.$]+),\s*@function", re.M)
_KERNEL = re.compile(r"^\s*\.amdhsa_kernel\s+([\w.$]+)", re.M)


def parse(text: str, name: str = "kernel.s") -> Listing:
    """The listing of a text; `name` stands in messages. IsaError "input" when there is no instruction in it."""
    parser = _Parser(name)
    parser.named = set(_FUNCTION.findall(text)) | set(_KERNEL.findall(text))
    for number, line in enumerate(text.splitlines(), 1):
        parser.feed(number, line)
    out = parser.out
    out.functions = [f for f in out.functions if f.lines]
    if not out.functions:
        raise IsaError("input", "no AMDGPU instruction in the text; give LLVM assembly of a kernel (.s)", source=name)
    return out
