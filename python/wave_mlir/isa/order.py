"""The order in which the modifiers of an instruction stand: the assembler takes no other.

Which follow which was asked of LLVM's assembler; several of one rank may stand in any order.
"""

from __future__ import annotations

from .assembly import Line

_CACHE = ("sc0", "sc1", "nt")
_CONTROLS = (
    *("quad_perm", "row_shl", "row_shr", "row_ror", "row_newbcast", "wave_shl", "wave_rol", "wave_shr", "wave_ror"),
    *("row_mirror", "row_half_mirror", "row_bcast"),
)
_Ranks = tuple[tuple[str, ...], ...]
_SDWA: _Ranks = (("clamp",), ("mul", "div"), ("dst_sel",), ("dst_unused",), ("src0_sel",), ("src1_sel",))
_DPP: _Ranks = (_CONTROLS, ("row_mask",), ("bank_mask",), ("bound_ctrl",))
_LONG: _Ranks = (
    *(("bitop3",), ("op_sel",), ("op_sel_hi",), ("neg_lo",), ("neg_hi",), ("clamp",), ("mul", "div")),
    *(("bound_ctrl",), ("fi",)),
)
_BY_FORMAT: dict[str, _Ranks] = {
    "mfma": (("op_sel",), ("op_sel_hi",), ("neg",), ("cbsz",), ("abid",), ("blgp",)),
    "mubuf": (("idxen",), ("offen",), ("offset",), _CACHE, ("lds",)),
    "flat": (("offset",), _CACHE),
    "global": (("offset",), _CACHE),
    "scratch": (("offset",), _CACHE),
    "ds": (("offset0",), ("offset1",)),
    "smem": (("offset",), ("glc",)),
}


def check(line: Line, format: str, encoding: str) -> None:
    """ValueError when a modifier stands behind one that it has to precede. format: of the instruction; encoding: its
    form, "" where there is one only."""
    ranks = {"sdwa": _SDWA, "dpp": _DPP}.get(encoding) or _BY_FORMAT.get(format, _LONG)
    place = {word: i for i, words in enumerate(ranks) for word in words}
    before = ""
    for word in line.modifiers:
        if before and place.get(word, 0) < place.get(before, 0):
            raise ValueError(f"the modifier {word} stands before {before}, not behind it")
        before = word
