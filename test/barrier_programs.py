"""Small programs of accesses to two LDS buffers by two waves: as text for the passes, and as what each wave does.

An item is an access like "W0", ("loop", trips, items), or "B", a barrier. Accesses of buffer 0 or 1: W and O write and
read the wave's own half, X and R write and read the other wave's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir import ir
from wave_mlir.compiler.barrier_states import Event

Item = str | tuple
Program = Sequence[Item]
WAVES = 2
OWN, OTHER = "wave.x * 64 + lane", "127 - wave.x * 64 - lane"
INDEX = {"W": OWN, "O": OWN, "X": OTHER, "R": OTHER}
KIND = {"W": "write", "O": "read", "X": "write", "R": "read"}
MEMORY = "!wave.memory<[128], f32, shared>"


def text(program: Program, name: str) -> str:
    """A kernel of lane form."""
    lines = [
        f"  wave.kernel @{name}(%a: !wave.memory<[256], f32, global>) symbols {{M = 128, K = 256}} constraints ["
        "#wave.workgroup<M, 128, x>, #wave.wave<M, 64>, #wave.tiling<K, 32>, #wave.hardware<threads_per_wave = 64>] {",
        "    %z = arith.constant dense<0.0> : vector<1xf32>",
        *(f"    %b{n} = wave.allocate : {MEMORY}" for n in (0, 1)),
    ]
    count = iter(range(1000))
    _lines(program, lines, count)
    return "\n".join([*lines, "    wave.return", "  }"])


def _lines(program: Program, lines: list[str], count: Iterator[int]) -> None:
    for item in program:
        number = next(count)
        if isinstance(item, tuple):
            lines.append(f"    wave.iterate K iv(%i{number}) trips({item[1]}) {{")
            _lines(item[2], lines, count)
            lines += ["      wave.yield", "    }"]
        elif item == "B":
            lines.append("    wave.shared_memory_barrier")
        elif KIND[item[0]] == "write":
            lines.append(f"    wave.write %z, %b{item[1]} index [{INDEX[item[0]]}] : vector<1xf32>, {MEMORY}")
        else:
            lines.append(f"    %v{number} = wave.read %b{item[1]} index [{INDEX[item[0]]}] : {MEMORY} -> vector<1xf32>")


def module(programs: Sequence[Program]) -> str:
    """All of them as one module; kernel i is @p<i>."""
    kernels = "\n".join(text(program, f"p{n}") for n, program in enumerate(programs))
    return f'module attributes {{wave.form = "lane", wave.target = "gfx942"}} {{\n{kernels}\n}}'


def points(program: Program) -> int:
    """The number of places for a barrier: before each item, and at the end of each block."""
    return 1 + sum(1 + (points(item[2]) if isinstance(item, tuple) else 0) for item in program)


def read_back(kernel: ir.OpView, program: Program) -> set[int]:
    """The points at which a kernel made from a program has barriers that the program has not."""
    found: set[int] = set()
    _placed(kernel.operation.regions[0].blocks[0], program, iter(range(1000)), found)
    return found


def _placed(block: ir.Block, program: Program, count: Iterator[int], found: set[int]) -> None:
    ops = [v.operation for v in block.operations if v.operation.name.startswith("wave.")]
    ops = [op for op in ops if op.name not in ("wave.allocate", "wave.wave_fence")]
    for item in [*program, None]:
        point = next(count)
        own = ops[item == "B" and len(ops) > 1]  # the user's stands behind one that was placed there
        if own.name == "wave.shared_memory_barrier":
            found.add(point)
            ops.pop(0)
        op = ops.pop(0)
        if isinstance(item, tuple):
            _placed(op.regions[0].blocks[0], item[2], count, found)


def traces(program: Program, barriers: frozenset[int], most_trips: int) -> tuple[tuple[Event, ...], ...]:
    """What each wave does, with barriers at these points as well."""
    return tuple(
        tuple(Event(k, t, op=n) for k, t, n in _events(program, barriers, wave, most_trips)) for wave in range(WAVES)
    )


def _events(
    program: Program, barriers: frozenset[int], wave: int, most_trips: int, first: int = 0
) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    point = first
    for item in program:
        if point in barriers:
            found.append(("barrier", 0, -1))
        if isinstance(item, tuple):
            found += _events(item[2], barriers, wave, most_trips, point + 1) * min(item[1], most_trips)
            point += points(item[2])
        elif item == "B":
            found.append(("barrier", 0, -1))
        else:
            half = wave if INDEX[item[0]] == OWN else 1 - wave
            found.append((KIND[item[0]], 1 << 2 * int(item[1]) + half, point))
        point += 1
    if point in barriers:
        found.append(("barrier", 0, -1))
    return found
