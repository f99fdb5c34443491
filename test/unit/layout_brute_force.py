"""The meaning of layouts, from their text and by brute force: what the tests compare the algebra with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from types import CodeType

import numpy as np
from hypothesis import strategies as st
from mlir import ir

SOURCES = ("reg", "lane", "wave.x", "wave.y", "wave.z")


@dataclass
class Plain:
    """A layout as read off its text."""

    extents: dict[str, int]
    digits: dict[str, list[tuple[int, str | None, int]]]
    clip: dict[str, int] = field(default_factory=dict)

    def size(self, source: str) -> int:
        return int(np.prod([e for e, _, _ in self.digits.get(source, [])], dtype=int))

    def part(self, source: str, index: int, dim: str) -> int:
        total = 0
        for extent, moved, stride in self.digits.get(source, []):
            index, digit = divmod(index, extent)
            total += digit * stride * (moved == dim)
        return total

    def at(self, reg: int, lane: int, x: int, y: int, z: int) -> tuple[int, ...] | None:
        """The coordinates at a place, None where no element exists."""
        out = []
        for dim, extent in self.extents.items():
            inner = self.part("reg", reg, dim) + self.part("lane", lane, dim)
            outer = self.part("wave.x", x, dim) + self.part("wave.y", y, dim) + self.part("wave.z", z, dim)
            if inner >= self.clip.get(dim, inner + 1) or inner + outer >= extent:
                return None
            out.append(inner + outer)
        return tuple(out)

    def places(self, sizes: dict[str, int] | None = None) -> dict[tuple[int, int, int], tuple[int, ...] | None]:
        """Coordinates by (wave, lane, register)."""
        n = {s: self.size(s) for s in SOURCES} | (sizes or {})
        return {
            (x + n["wave.x"] * (y + n["wave.y"] * z), lane, reg): self.at(reg, lane, x, y, z)
            for z in range(n["wave.z"])
            for y in range(n["wave.y"])
            for x in range(n["wave.x"])
            for lane in range(n["lane"])
            for reg in range(n["reg"])
        }


def read(attribute: ir.Attribute) -> Plain:
    """The layout in the text of an attribute."""
    text = str(attribute)
    body = re.fullmatch(r"#wave\.layout<\[(.*?)\](.*)>", text)
    assert body, text
    pairs = [p.split(" = ") for p in body[1].split(", ") if p]
    plain = Plain({name: int(n) for name, n in pairs}, {})
    for name, clause in re.findall(r", ([\w.]+) = \[(.*?)\]", body[2]):
        if name == "clip":
            plain.clip = {dim: int(n) for dim, n in (p.split(" = ") for p in clause.split(", "))}
            continue
        plain.digits[name] = []
        for digit in clause.split(", "):
            extent, rest = digit.split(" : ")
            dim, _, stride = rest.partition(" * ")
            plain.digits[name].append((int(extent), None if dim == "_" else dim, int(stride or 0)))
    return plain


@cache
def compiled(text: str) -> CodeType:
    words = {"floordiv": "//", "mod": "%", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">"}
    words["ge"] = ">="
    text = text.removeprefix("#wave.expr<").removesuffix(">")
    text = re.sub(r"[A-Za-z_][\w.]*", lambda m: words.get(m[0], m[0].replace(".", "_")), text)
    return compile(text, "expression", "eval")


def evaluate(expr: ir.Attribute, **values: int) -> int:
    """The value of an expression attribute, by Python; dots of symbols are written as underscores."""
    names = {"__builtins__": {}, "min": min, "max": max, "select": lambda c, a, b: a if c else b}
    return int(eval(compiled(str(expr)), names, values))


@st.composite
def plains(draw: st.DrawFn, dims: tuple[str, ...] = ("M", "N", "K"), shared: dict[str, int] | None = None) -> Plain:
    """Well-formed layouts: mixed radix of each dim dealt to the sources, some replication, overshoot and clip.

    `shared`: the extents to cover; drawn when it is not given.
    """
    extents: dict[str, int] = {}
    clip: dict[str, int] = {}
    pool: list[tuple[str, int, str | None, int]] = []
    for dim in dims if shared is None else shared:
        goal = shared[dim] if shared is not None else draw(st.sampled_from([1, 2, 3, 4, 6, 8]))
        stride = 1
        while stride < goal:
            extent = draw(st.sampled_from([2, 2, 3, 4]))
            pool.append((draw(st.sampled_from(["reg", "reg", "lane", "lane"])), extent, dim, stride))
            stride *= extent
        tile = draw(st.integers(max(1, stride // 2), stride)) if shared is None else goal
        extents[dim] = tile
        if shared is None and draw(st.integers(0, 2)) == 0:
            count = draw(st.integers(2, 3))
            pool.append((draw(st.sampled_from(["wave.x", "wave.y", "wave.z"])), count, dim, tile))
            extents[dim] = draw(st.integers(tile * (count - 1) + 1, tile * count))
            if stride > tile:
                clip[dim] = tile
        elif shared is not None and draw(st.booleans()):
            # the slowest digit of the dim goes to waves
            last = max((i for i, p in enumerate(pool) if p[2] == dim), default=None, key=lambda i: pool[i][3])
            if last is not None:
                pool[last] = ("wave.x", *pool[last][1:])
    for _ in range(draw(st.integers(0, 2))):
        pool.append((draw(st.sampled_from(["reg", "lane", "wave.x"])), draw(st.integers(1, 2)), None, 0))
    pool = draw(st.permutations(pool))
    digits = {s: [(e, d, k) for source, e, d, k in pool if source == s] for s in SOURCES}
    return Plain(extents, digits, clip)
