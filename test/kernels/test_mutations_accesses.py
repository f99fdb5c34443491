"""Wrong indices, masks and places: kinds of faults of accesses, each with a kernel and wrong passes that are found.

What is checked of each kernel: forms, all checks of the simulator, exact results.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import gemm_cases
import numpy as np
import pytest
from gemm_cases import GemmCase
from mlir import ir
from mutations import Mutation, must_find, run
from wave_mlir import sim
from wave_mlir.compiler import (
    access_index,
    buffer_split,
    constraint_checks,
    driver,
    emit_expr,
    gpu_access,
    gpu_buffer,
    lane_access,
    lds_swizzle,
)
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.compiler.expansion import Expander
from wave_mlir.compiler.kernel_info import KernelInfo
from wave_mlir.compiler.lane_access import accesses, is_shared, stored_of, with_parts
from wave_mlir.compiler.lane_values import Lanes
from wave_mlir.dialect import Expr, MemoryType
from wave_mlir.passes import (
    bounds,
    buffer_ops,
    guard_domains,
    pack_shared,
    pipelines,
    promote,
    split_accesses,
    swizzle_shared,
)

Check = Callable[[], None]
WRONG = "not equal"
NOTICED = "not equal|bounds: |race: |uninitialised: |alignment: "
RNG = np.random.default_rng(5)


def memory(dims: str, dtype: str = "f32", more: str = "") -> str:
    return f"!wave.memory<[{dims}], {dtype}, global{more}>"


def tile(dims: str, dtype: str = "f32") -> str:
    return f"!wave.tile<[{dims}], {dtype}>"


def kernel(arguments: str, symbols: str, constraints: str, body: str) -> str:
    return f"""
module attributes {{wave.form = "tile", wave.target = "gfx942"}} {{
  wave.kernel @k({arguments}) symbols {{{symbols}}} dynamic [] constraints [{constraints}] {{
{body}
    wave.return
  }}
}}"""


def integers(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return RNG.integers(-4, 5, shape).astype(dtype)


MMA = "#wave.hardware<threads_per_wave = 64, mma = f32_{}>"
ROWS = "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 64}>"


# --- indices ---


def batched(permuted: bool) -> None:
    """[B, M, N] written as [M, B, N]."""
    source, target = tile("B, M, N"), tile("M, B, N")
    permute = f"%p = wave.permute %d : {source} -> {target}"
    body = f"""
    %zero = wave.register 0.0 : {source}
    %d = wave.iterate K iter_args(%acc = %zero : {source}) {{
      %x = wave.read %a : {memory("B, M, K", "f16")} -> {tile("B, M, K", "f16")}
      %y = wave.read %b : {memory("B, N, K", "f16")} -> {tile("B, N, K", "f16")}
      %z = wave.mma %x, %y, %acc : {tile("B, M, K", "f16")}, {tile("B, N, K", "f16")}, {source}
      wave.yield %z : {source}
    }}
    {permute if permuted else ""}
    wave.write {f"%p, %c : {target}" if permuted else f"%d, %c : {source}"}, {memory("M, B, N")}"""
    a, b = integers(4, 32, 32, dtype=np.float16), integers(4, 16, 32, dtype=np.float16)
    want = np.einsum("bmk,bnk->mbn", a.astype(np.float32), b.astype(np.float32))
    text = kernel(
        f"%a: {memory('B, M, K', 'f16')}, %b: {memory('B, N, K', 'f16')}, %c: {memory('M, B, N')}",
        "B = 4, M = 32, N = 16, K = 32",
        "#wave.workgroup<M, 32, x>, #wave.workgroup<N, 16, y>, #wave.workgroup<B, 1, z>, #wave.tiling<K, 16>, "
        + MMA.format("16x16x16_f16"),
        body,
    )
    run(text, [a, b, np.zeros((32, 4, 16), np.float32)], {2: want})


def gathered_bias() -> None:
    """A 32x32 accumulator and a bias whose place differs from register to register."""
    lhs, rhs, acc = memory("M, K", "f16"), memory("N, K", "f16"), tile("M, N")
    body = f"""
    %zero = wave.register 0.0 : {acc}
    %x = wave.read %a : {lhs} -> {tile("M, K", "f16")}
    %y = wave.read %b : {rhs} -> {tile("N, K", "f16")}
    %z = wave.mma %x, %y, %zero : {tile("M, K", "f16")}, {tile("N, K", "f16")}, {acc}
    %i = wave.read %t : {memory("M, N", "i32")} -> {tile("M, N", "i32")}
    %g = wave.read %s mapping <[M = i, N = j] -> [d0], dynamic = [[M = i, N = j]]> dynamic(%i : {tile("M, N", "i32")})
           : {memory("R")} -> {acc}
    %r = wave.add %z, %g : {acc}
    wave.write %r, %c : {acc}, {memory("M, N")}"""
    a, b = integers(32, 8, dtype=np.float16), integers(32, 8, dtype=np.float16)
    table, bias = RNG.integers(0, 50, (32, 32)).astype(np.int32), integers(50)
    text = kernel(
        f'%a: {lhs}, %b: {rhs}, %t: {memory("M, N", "i32")}, %s: {memory("R")}, %c: {memory("M, N")}',
        "M = 32, N = 32, K = 8, R = 50",
        "#wave.workgroup<M, 32, x>, #wave.workgroup<N, 32, y>, " + MMA.format("32x32x8_f16"), body,
    )  # fmt: skip
    want = (a.astype(np.float32) @ b.astype(np.float32).T) + bias[table]
    run(text, [a, b, table, bias, np.zeros((32, 32), np.float32)], {4: want})


def copied(m: int, n: int, body: str, out: tuple[int, int], constraints: str, bm: int, equation: str = "") -> None:
    """Copies of a matrix of numbers that all differ."""
    a = np.arange(m * n, dtype=np.float32).reshape(m, n)
    arguments = f"%a: {memory('M, N')}, %c: {memory('M, N' if out == (m, n) else 'N, M')}"
    read = f"    %x = wave.read %a : {memory('M, N')} -> {tile('M, N')}"
    rules = f"#wave.workgroup<M, BM, x>, {constraints}{equation}"
    text = kernel(arguments, f"M = {m}, N = {n}, BM = {bm}", rules, read + body)
    run(text, [a, np.full(out, -1, np.float32)], {1: a if out == (m, n) else a.T})


WRITTEN = f"\n    wave.write %x, %c : {tile('M, N')}, {memory('M, N')}"
four_waves = partial(copied, 64, 64, WRITTEN, (64, 64),
                     "#wave.wave<M, 4>, #wave.workgroup<N, 64, y>, " + ROWS, 16)  # fmt: skip
TRANSPOSED = f"\n    wave.write %x, %c : {tile('M, N')}, {memory('N, M')}"


def transposed(rows: int, columns: int) -> None:
    """Wide where memory is contiguous, one by one on the other side."""
    shapes = "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 16, N = 16}>"
    copied(rows, columns, TRANSPOSED, (columns, rows), "#wave.workgroup<N, 16, y>, " + shapes, 16)


def remapped(last_group: str) -> None:
    """Groups of 8 workgroups, which do not divide 9; a remap that is no bijection is refused."""
    number, size = "(wg.x + wg.y * 9)", last_group
    first = f"{number} floordiv 24 * 8"
    rows = f"{first} + {number} mod 24 mod {size.format(first=first)}"
    columns = f"{number} mod 24 floordiv {size.format(first=first)}"
    equation = f", #wave.reordering<{rows}, x>, #wave.reordering<{columns}, y>"
    copied(35, 192, WRITTEN, (35, 192), "#wave.workgroup<N, 64, y>, " + ROWS, 4, equation)


def remapped_wrongly() -> None:
    try:
        remapped("8")
    except CompileError as error:
        assert "bijection" in str(error), error


def divisions() -> None:
    """Quotients and remainders of negative numbers."""
    x = np.arange(-320, 320, dtype=np.int32).reshape(10, 64)
    for divisor in (1, 3, 512):
        kind, of = memory("M, N", "i32"), tile("M, N", "i32")
        body = f"""
    %x = wave.read %a : {kind} -> {of}
    %q = wave.apply_expr [(d - 7) floordiv {divisor} * 1000 + (d - 7) mod {divisor}] symbols(d = %x : {of}) : {of}
    wave.write %q, %c : {of}, {kind}"""
        text = kernel(f"%a: {kind}, %c: {kind}", "M = 10, N = 64", "#wave.workgroup<M, 2, x>, " + ROWS, body)
        run(text, [x, np.zeros_like(x)], {1: (x - 7) // divisor * 1000 + (x - 7) % divisor})


# --- memory ---


def gemm(case: GemmCase, direct: bool = False) -> None:
    a, b, c = gemm_cases.inputs(case)
    options = {"options": pipelines.PipelineOptions(global_to_shared=direct)}
    run(gemm_cases.gemm_text(case), [a, b, c], {2: gemm_cases.expected(a, b, c.dtype)}, options=options)


def tail_after_arithmetic() -> None:
    """K = 9 of 32, and 1 is added before the product: what lies outside counts as 0 all the same."""
    case = GemmCase("gfx942", "f16", 16, "shared", (16, 16, 32), (1, 1), 16, 16, 9)
    more = ""
    for name, dims in (("x", "M, K"), ("y", "N, K")):
        of = tile(dims, "f16")
        more += f"%one{name} = wave.register 1.0 : {of}\n      %{name}1 = wave.add %{name}, %one{name} : {of}\n      "
    text = gemm_cases.gemm_text(case).replace("%z = wave.mma %x, %y,", more + "%z = wave.mma %x1, %y1,")
    a, b, c = gemm_cases.inputs(case)
    run(text, [a, b, c], {2: gemm_cases.expected(a + np.float16(1), b + np.float16(1), c.dtype)})


def padded_view(flags: str = "", options: pipelines.PipelineOptions | None = None) -> None:
    """64 columns of 80, from an offset on; with flags, and rows beyond the end."""
    strided = memory("M, N", "f16", ", strides = [80, 1]")
    body = f"""
    %x = wave.read %a mapping <[M = i, N = j] -> [i + 1, j + 8]> {flags} : {strided} -> {tile("M, N", "f16")}
    wave.write %x, %c {flags} : {tile("M, N", "f16")}, {memory("M, N", "f16")}"""
    text = kernel(f'%a: {strided}, %c: {memory("M, N", "f16")}', "M = 5, N = 64",
                  "#wave.workgroup<M, 4, x>, " + ROWS, body)  # fmt: skip
    view = np.arange(8 * 80, dtype=np.float16).reshape(8, 80)[2:7, 8:72]
    want = np.zeros((5, 64), np.float16)
    want[:4, :56] = view[1:, 8:]
    run(text, [view, np.zeros((5, 64), np.float16)], {1: want}, options={"options": options} if options else None)


def beyond_two_gib() -> None:
    """A row that starts 2.5 GiB into its memory of 3 GiB, in one tile with rows that a descriptor reaches."""
    source, target = memory("M, N", "i8"), memory("M, P", "i8")
    body = f"""
    %x = wave.read %a mapping <[M = i, P = j] -> [i, j]> : {source} -> {tile("M, P", "i8")}
    wave.write %x, %o : {tile("M, P", "i8")}, {target}"""
    text = kernel(f"%a: {source}, %o: {target}", f"M = 6, N = {1 << 29}, P = 64", "#wave.workgroup<M, 6, x>, "
                  "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, P = 64}>", body)  # fmt: skip
    a = np.zeros((6, 1 << 29), np.int8)
    a[:, :64] = np.arange(6)[:, None] + 1
    run(text, [a, np.zeros((6, 64), np.int8)], {1: a[:, :64]})


def odd_rows(columns: int) -> None:
    """Rows of 257 f16 start at every second byte; of each the first `columns`."""
    shapes = "#wave.hardware<threads_per_wave = 64, vector_shapes = {M = 1, N = 256}>"
    source = memory("M, N", "f16", ", strides = [257, 1]")
    body = f"""
    %x = wave.read %a : {source} -> {tile("M, N", "f16")}
    wave.write %x, %c : {tile("M, N", "f16")}, {source}"""
    rules = "#wave.workgroup<M, 4, x>, " + shapes
    text = kernel(f"%a: {source}, %c: {source}", f"M = 9, N = {columns}", rules, body)
    a = np.arange(9 * 257).astype(np.float16).reshape(9, 257)
    c = np.zeros_like(a)
    sim.run(driver.compile_module(text).module, [a[:, :columns], c[:, :columns]])
    want = np.where(np.arange(257) < columns, a, 0)
    np.testing.assert_array_equal(c, want)


def walked_rows() -> None:
    """The last tile of a loop is beyond the end, which the scalar part of the offset alone says."""
    body = f"""
    wave.iterate M {{
      %x = wave.read %a : {memory("M, N")} -> {tile("M, N")}
      wave.write %x, %c : {tile("M, N")}, {memory("M, N")}
      wave.yield
    }}"""
    text = kernel(f'%a: {memory("M, N")}, %c: {memory("M, N")}', "M = 10, N = 64",
                  "#wave.tiling<M, 4>, #wave.workgroup<N, 64, x>, " + ROWS, body)  # fmt: skip
    a = np.arange(640, dtype=np.float32).reshape(10, 64)
    room = np.full((14, 64), -1, np.float32)  # what lies behind the result must stay
    run(text, [a, room[:10]], {1: a})


def lds_limit() -> None:
    """256x256x64 f16 takes all of gfx942's LDS; twice as much is refused, by name, before code generation."""
    fits = GemmCase("gfx942", "f16", 16, "shared", (256, 256, 64), (4, 4), 256, 256, 128)
    driver.compile_module(gemm_cases.gemm_text(fits), until="scheduled")
    try:
        driver.compile_module(gemm_cases.gemm_text(replace(fits, tile=(256, 256, 128), k=256)), until="scheduled")
    except CompileError as error:
        named = r"needs 131072 bytes of LDS and gfx942 has 65536(.|\n)*65536 bytes: !wave"
        assert re.search(named, str(error)), error
    else:
        raise AssertionError("not refused")


# --- wrong compilers ---


def _by_position(info, op, value, target):
    return list(value.dims)


def _all_consecutive(shape, facts):
    return [0] * shape.width


def _first_element(value, at, size):
    return elements_of(value, 0, size)


def _first_wave_only(self, layout, chunk):
    return {at: e.subs({"wave.x": 0}) for at, e in coordinates(self, layout, chunk).items()}


def _reads_only(self, buffer, layout):
    apply(self, replace(buffer, accesses=[op for op in buffer.accesses if op.name == "wave.read"]), layout)


def _always(self, *_):
    return Expr.constant(1)


def _by_half(self):
    return [Expr.symbol("wg.x") // 2, Expr.symbol("wg.y"), Expr.symbol("wg.z")]


def _dense(self, value):
    strides, total = [], Expr.constant(1)
    for extent in reversed(MemoryType(value.type).shape):
        strides.insert(0, total)
        total = total * self.resolve(extent)
    return tuple(strides)


def _copies_masked(self, module):
    """LDS is written only where what is copied is inside of memory: the rest keeps what was there."""
    run_bounds(self, module)
    for view in module.body.operations:
        for op in list(accesses(view.operation.regions[0].blocks[0])):
            source = None if op.name != "wave.write" or not is_shared(op) else stored_of(op).owner
            if source is not None and source.name == "wave.read" and source.opview.mask is not None:
                with op.location, ir.InsertionPoint(op):
                    with_parts(op, [Expr(e) for e in op.attributes["index"]], source.opview.mask)
                op.erase()


def _flags_lose_masks(op, place):
    return None if "nontemporal" in op.attributes or "is_volatile" in op.attributes else mask_of(op, place)


def _flagged_unmasked(function, op):
    flagged = "nontemporal" in op.attributes or "is_volatile" in op.attributes
    return None if flagged else condition_of(function, op)


def _scalar_counts(coordinates, conditions, lane, scalar, size, facts):
    """As though the range check saw the scalar offset."""
    still = [replace(c, step=Expr.constant(0)) if n == 0 else c for n, c in enumerate(coordinates)]
    found = not_left([*still], conditions, lane, Expr.constant(0), size, facts)
    first = coordinates[0]
    inside = (first.base + first.step + first.lane).lt(first.extent).simplify(facts)
    return tuple(c for c in found if c.simplify(facts) != inside)


def _padded_always(info, buffer, spare):
    return [lds_swizzle.RowLayout(8, pad=8)]


elements_of = lane_access.elements_of
coordinates, apply, run_bounds = Lanes.coordinates, swizzle_shared._Chooser._apply, bounds.Bounds.run
mask_of, condition_of, not_left = buffer_ops._mask, gpu_access.mask_condition, buffer_split._not_left_to_range
CONSECUTIVE = Mutation("all taken to be consecutive", split_accesses, "_consecutive_from", _all_consecutive, NOTICED)
UNSWIZZLED = Mutation("writes keep their places", swizzle_shared._Chooser, "_apply", _reads_only, WRONG)
TAIL = GemmCase("gfx942", "f16", 16, "shared", (16, 16, 32), (1, 1), 16, 16, 9)
SMALL_TILE = GemmCase("gfx942", "f16", 16, "shared", (8, 64, 32), (1, 4), 20, 64, 64)
TALL = GemmCase("gfx942", "f16", 32, "shared", (64, 64, 64), (2, 2), 64, 64, 128)
DIRECT = GemmCase("gfx950", "f16", 32, "shared", (64, 64, 64), (2, 2), 64, 64, 128)
POINTERS = pipelines.PipelineOptions(buffer_ops=False)

FAULTS: dict[str, tuple[Check, list[Mutation]]] = {
    "23": (partial(batched, False), [
        Mutation("dims by position", access_index, "dims_of_memory", _by_position, NOTICED)]),
    "23-permuted": (partial(batched, True), [
        Mutation("one wave's part", Lanes, "owner", lambda *_: Expr.constant(0), NOTICED)]),
    "25": (gathered_bias, [
        Mutation("all where the first one is", lane_access, "elements_of", _first_element, NOTICED)]),
    "26": (four_waves, [Mutation("one wave's part", Lanes, "coordinates", _first_wave_only, NOTICED)]),
    "27": (partial(transposed, 64, 48), [CONSECUTIVE]),
    "27-other": (partial(transposed, 48, 64), [CONSECUTIVE]),
    "28": (partial(remapped, "min(9 - ({first}), 8)"), [
        Mutation("remapped by half", KernelInfo, "workgroup_ids", property(_by_half), NOTICED)]),
    "28-refused": (remapped_wrongly, [
        Mutation("remaps not checked", constraint_checks, "_check_grid", lambda *_: None, NOTICED)]),
    "29": (divisions, [
        Mutation("quotients cut off", emit_expr.arith, "FloorDivSIOp", emit_expr.arith.DivSIOp, WRONG)]),
    "30": (partial(gemm, SMALL_TILE), [
        Mutation("tiles not clipped", Expander, "_predicate", _always, NOTICED + "|waves can run in an order")]),
    "31": (partial(gemm, TALL), [UNSWIZZLED]),
    "31-direct": (partial(gemm, DIRECT, True), [
        Mutation("copies keep their sources", swizzle_shared, "exchange", lambda *_: None, WRONG)]),
    "38": (partial(gemm, TAIL), [
        Mutation("tails not filled", bounds.Bounds, "run", _copies_masked, "uninitialised: |not equal")]),
    "38-arithmetic": (tail_after_arithmetic, [
        Mutation("operands not guarded", guard_domains.GuardDomains, "run", lambda *_: None, "not equal|nan")]),
    "42": (padded_view, [Mutation("taken to be dense", KernelInfo, "strides_of", _dense, NOTICED)]),
    "43": (beyond_two_gib, [
        Mutation("reach taken to be greater", buffer_split, "LIMIT", 1 << 40, NOTICED + "|out of range")]),
    "44": (partial(odd_rows, 256), [
        Mutation("taken to be aligned", split_accesses, "_needed_alignment", lambda *_: 1, NOTICED)]),
    "44-end": (partial(odd_rows, 257), [
        Mutation("taken to be alike", split_accesses, "same_in_run", lambda *_: True, NOTICED),
        Mutation("and aligned", split_accesses._Splitter, "_run_at", lambda *_: 4, NOTICED + "|multiple")]),
    "45-volatile": (partial(padded_view, "volatile"), [
        Mutation("flags lose masks", gpu_access, "mask_condition", _flagged_unmasked, NOTICED)]),
    "45-buffers": (partial(padded_view, "nontemporal"), [
        Mutation("flags lose masks", buffer_ops, "_mask", _flags_lose_masks, NOTICED)]),
    "45-nontemporal": (partial(padded_view, "nontemporal", POINTERS), [
        Mutation("flags lose masks", gpu_access, "mask_condition", _flagged_unmasked, NOTICED)]),
    "45-strides": (partial(padded_view, "nontemporal"), [
        Mutation("taken to be dense", KernelInfo, "strides_of", _dense, NOTICED)]),
    "46": (walked_rows, [
        Mutation("scalar offset taken to be checked", buffer_split, "_not_left_to_range", _scalar_counts, NOTICED)]),
    "46-masked": (partial(gemm, TAIL), [
        Mutation("masked lanes nearer", gpu_buffer, "MASKED", 1 << 30, "bounds: ")]),
    "49": (lds_limit, [
        Mutation("limit not checked", pack_shared, "check_fits", lambda *_: None, "not refused", (promote,)),
        Mutation("padded though it does not fit", lds_swizzle, "candidates", _padded_always, "bytes of LDS")]),
}  # fmt: skip
CASES = [pytest.param(entry[0], m, id=f"{n}-{m}") for n, entry in FAULTS.items() for m in entry[1]]


@pytest.mark.parametrize("check", [pytest.param(entry[0], id=n) for n, entry in FAULTS.items()])
def test_right(check: Check) -> None:
    check()


@pytest.mark.parametrize(("check", "mutation"), CASES)
def test_wrong_passes_are_found(check: Check, mutation: Mutation) -> None:
    must_find(check, mutation)
