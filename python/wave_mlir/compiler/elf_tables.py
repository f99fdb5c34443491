"""The tables a loader finds symbols by: string tables and the two hash tables of a shared object.

Formats: the System V ABI (DT_HASH) and the GNU hash section (DT_GNU_HASH: header, Bloom filter, buckets, chains). Where
the formats leave a choice (numbers of buckets and filter words), lld's is taken, so that both write the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_BLOOM_SHIFT = 26
_BLOOM_BITS_A_SYMBOL = 12


class Strings:
    """A string table; a name is kept once."""

    def __init__(self) -> None:
        self.data = bytearray(1)
        self._known: dict[str, int] = {"": 0}

    def add(self, name: str) -> int:
        """Offset of a name, which is appended when it is new."""
        at = self._known.get(name)
        if at is None:
            at = self._known[name] = len(self.data)
            self.data += name.encode() + b"\0"
        return at


def system_v_hash(name: str) -> int:
    """The System V ABI's hash of a symbol name."""
    h = 0
    for byte in name.encode():
        h = (h << 4) + byte
        high = h & 0xF0000000
        h = (h ^ high >> 24) & ~high
    return h & 0xFFFFFFFF


def gnu_hash(name: str) -> int:
    """Bernstein's hash, times 33 from 5381, modulo 2**32."""
    h = 5381
    for byte in name.encode():
        h = (h * 33 + byte) & 0xFFFFFFFF
    return h


def gnu_buckets(count: int) -> int:
    """Number of buckets of a GNU hash table over `count` symbols."""
    return max(1, count // 4)


def gnu_order(names: Sequence[str]) -> list[int]:
    """Positions of `names` in the order a GNU hash table demands of the symbol table: by bucket."""
    buckets = gnu_buckets(len(names))
    return sorted(range(len(names)), key=lambda i: gnu_hash(names[i]) % buckets)


def system_v_table(names: Sequence[str]) -> bytes:
    """A DT_HASH table: numbers of buckets and chains, the buckets, the chains. Symbol 0 is the null symbol."""
    count = len(names) + 1
    buckets, chains = [0] * count, [0] * count
    for number, name in enumerate(names, 1):
        bucket = system_v_hash(name) % count
        chains[number], buckets[bucket] = buckets[bucket], number
    return struct.pack(f"<{2 + 2 * count}I", count, count, *buckets, *chains)


def gnu_table(names: Sequence[str]) -> bytes:
    """A DT_GNU_HASH table of symbols 1, 2, …; `names` are in `gnu_order`."""
    hashes = [gnu_hash(name) for name in names]
    words = _bloom(hashes)
    buckets, chains = [0] * gnu_buckets(len(names)), []
    for number, h in enumerate(hashes, 1):
        bucket = h % len(buckets)
        buckets[bucket] = buckets[bucket] or number
        last = number == len(hashes) or hashes[number] % len(buckets) != bucket
        chains.append(h & ~1 | last)
    head = struct.pack("<4I", len(buckets), 1, len(words), _BLOOM_SHIFT)
    return head + struct.pack(f"<{len(words)}Q{len(buckets) + len(chains)}I", *words, *buckets, *chains)


def _bloom(hashes: Sequence[int]) -> list[int]:
    """The filter: a power of two of 64-bit words, two bits set for each symbol."""
    wanted = len(hashes) * _BLOOM_BITS_A_SYMBOL // 64
    words = [0] * (1 << wanted.bit_length())
    for h in hashes:
        words[h // 64 % len(words)] |= 1 << h % 64 | 1 << (h >> _BLOOM_SHIFT) % 64
    return words
