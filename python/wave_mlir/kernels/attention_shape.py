"""Sizes of an attention problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

__all__ = ["AttentionShape"]


@dataclass
class AttentionShape:
    """Heads of queries, and of keys and values, which several query heads may share; sizes of a head in Q and K, and in
    V; how many sequences there are and how long. What a kernel does not need may be None."""

    num_query_heads: int
    num_kv_heads: int
    head_size: int
    head_size_kv: int
    batch_size: int | None = None
    num_seqs: int | None = None
    max_seq_len: int | None = None
    total_seq_len: int | None = None
    context_len: int | None = None
    fixed_seq_len_prefix: int | None = None
    fixed_seq_len_extend: int | None = None
    query_seq_len: int | None = None
    kv_seq_len: int | None = None
    block_size: int | None = None

    def __iter__(self) -> Iterator[int]:
        """The sizes that are given, in order."""
        return (size for field in fields(self) if (size := getattr(self, field.name)))
