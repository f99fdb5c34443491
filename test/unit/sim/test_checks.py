"""Each check: a kernel with the fault planted, and its clean twin."""

from __future__ import annotations

import numpy as np
import pytest
from sim_harness import GLOBAL, kernel, run_text
from wave_mlir import sim

LDS = "#gpu.address_space<workgroup>"
WG = f"memref<256xi32, {LDS}>"
VIEW = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c192 = arith.constant 192 : index
      %one = arith.constant 1 : i32
      %t = gpu.thread_id x
      %ti = arith.index_cast %t : index to i32
      %b = gpu.block_id x
      %s = memref.view %lds[%c0][] : memref<1024xi8, {LDS}> to {WG}
"""
ARGS = f"%a: memref<?xi32, {GLOBAL}>, %o: memref<?xi32, {GLOBAL}>"
OUT = f"memref.store %v, %o[%t] : memref<?xi32, {GLOBAL}>"


def run(body: str, *, threads=128, grid=1, target="gfx942", size=256, arguments=ARGS, lds=1024, **options):
    a, o = np.arange(size, dtype=np.int32), np.zeros(size, np.int32)
    text = kernel(VIEW + body, arguments, block=(threads, 1, 1), lds=lds, target=target)
    result = run_text(text, [a, o], grid=(grid, 1, 1), **options)
    return o, result, text


def fault(body: str, kind: str, at: str, **options) -> sim.SimError:
    """The error of a run, which must be of this kind at the line that contains `at`."""
    for order in ("forward", "reverse"):
        with pytest.raises(sim.SimError) as caught:
            run(body, order=order, **options)
        error = caught.value
        assert error.kind == kind, str(error)
        text = kernel(VIEW + body, ARGS, block=(options.get("threads", 128), 1, 1), lds=1024, target="gfx942")
        lines = [i for i, line in enumerate(text.splitlines(), 1) if at in line]
        assert int(error.location.split(":")[-2]) in lines, str(error)
    if kind in sim.CHECKS:
        run(body, **{**options, "checks": [kind]})
    return error


# -------------------------------------------------------------------------------------------------------------- races

NEIGHBOUR = f"""
      memref.store %ti, %s[%t] : {WG}
      BARRIER
      %n = arith.xori %t, MATE : index
      %v = memref.load %s[%n] : {WG}
      {OUT}"""


def neighbour(barrier: str, mate: str) -> str:
    return NEIGHBOUR.replace("BARRIER", barrier).replace("MATE", mate)


MASKED = f"""
      %p = arith.cmpi CONDITION, %t, %c1 : index
      %q = arith.cmpi ult, %t, %c64 : index
      %at = arith.select %p, %t, %c0 : index
      %x = memref.load %o[%at] : memref<?xi32, {GLOBAL}>
      %zero = arith.constant 0 : i32
      %y = arith.select CHOICE, %x, %zero : i32
      %v = arith.addi %y, %one : i32
      {OUT}"""


def masked(condition: str, choice: str) -> str:
    return MASKED.replace("CONDITION", condition).replace("CHOICE", choice)


def test_masked_load_is_no_access_of_lanes_that_drop_it():
    """All lanes but the first read element 0, which that one writes; what they get is dropped."""
    o, _, _ = run(masked("uge", "%p"))
    np.testing.assert_array_equal(o[:128], 1)
    fault(masked("ult", "%q"), "race", OUT)  # dropped by another condition: it counts
    outside = masked("uge", "%p").replace("select %p, %t, %c0", "select %p, %t, %big")
    with pytest.raises(sim.SimError, match="bounds"):
        run(outside.replace("%at =", "%big = arith.constant 4096 : index\n      %at ="))


@pytest.mark.parametrize("barrier", ["gpu.barrier", "amdgpu.lds_barrier", "rocdl.barrier"])
def test_lds_race(barrier):
    o, _, _ = run(neighbour(barrier, "%c64"))
    np.testing.assert_array_equal(o[:128], np.arange(128) ^ 64)
    error = fault(neighbour("", "%c64"), "race", "%v = memref.load", checks=["uninitialised"])
    assert len(error.waves) == 2 and "memref.store at" in str(error)
    run(neighbour("", "%c1"))  # within one wave no barrier is needed


def test_bare_barrier_needs_the_lds_wait():
    wait = "amdgpu.memory_counter_wait ds(0)\n rocdl.s.barrier"
    run(neighbour(wait, "%c64"))
    run(neighbour("rocdl.s.waitcnt 49279\n rocdl.s.barrier", "%c64"))  # lgkmcnt(0)
    fault(neighbour("rocdl.s.barrier", "%c64"), "race", "%v = memref.load")


def test_write_after_read_race():
    body = f"""
      memref.store %ti, %s[%t] : {WG}
      gpu.barrier
      %n = arith.xori %t, %c64 : index
      %v = memref.load %s[%n] : {WG}
      BARRIER
      memref.store %one, %s[%t] : {WG}
      {OUT}"""
    run(body.replace("BARRIER", "amdgpu.lds_barrier"))
    fault(body.replace("BARRIER", ""), "race", "memref.store %one")


def test_write_after_write_race():
    body = f"""
      %n = arith.remui %t, %MOD : index
      memref.store %ti, %s[%n] : {WG}"""
    run(body.replace("%MOD", "%c128"))
    fault(body.replace("%MOD", "%c64"), "race", "memref.store %ti")


def test_race_between_parts_of_words():
    """Bytes, not words: two waves may write different halves of a dword."""
    body = f"""
      %h = memref.view %lds[%c0][] : memref<1024xi8, {LDS}> to memref<512xi16, {LDS}>
      %x = arith.trunci %ti : i32 to i16
      %w = arith.divui %t, %c64 : index
      %l = arith.remui %t, %c64 : index
      %l2 = arith.addi %l, %l : index
      %n = arith.addi %l2, %w : index
      memref.store %x, %h[%n] : memref<512xi16, {LDS}>
      READ"""
    run(body.replace("READ", ""))
    read = f"%v = memref.load %s[%l] : {WG}"
    run(body.replace("READ", "gpu.barrier\n" + read))
    fault(body.replace("READ", read), "race", "%v = memref.load", checks=["uninitialised"])


def test_global_races():
    own = f"""
      %base = arith.muli %b, %c64 : index
      %n = arith.addi %base, %t : index
      memref.store %ti, %o[%n] : memref<?xi32, {GLOBAL}>"""
    run(own, threads=64, grid=2)
    same = f"memref.store %ti, %o[%t] : memref<?xi32, {GLOBAL}>"
    error = fault(same, "race", "memref.store %ti", threads=64, grid=2)
    assert "workgroups of one launch are not ordered" in str(error)
    exchange = f"""
      memref.store %ti, %o[%t] : memref<?xi32, {GLOBAL}>
      BARRIER
      %n = arith.xori %t, %c64 : index
      %v = memref.load %o[%n] : memref<?xi32, {GLOBAL}>"""
    run(exchange.replace("BARRIER", "gpu.barrier"))
    run(exchange.replace("BARRIER", "amdgpu.memory_counter_wait store(0)\n amdgpu.lds_barrier"))
    fault(exchange.replace("BARRIER", ""), "race", "%v = memref.load")
    fault(exchange.replace("BARRIER", "amdgpu.lds_barrier"), "race", "%v = memref.load")  # orders LDS only


def test_read_then_write_in_another_workgroup():
    body = f"""
      %v = memref.load %o[%c0] : memref<?xi32, {GLOBAL}>
      %n = arith.addi %b, PLUS : index
      memref.store %one, %o[%n] : memref<?xi32, {GLOBAL}>"""
    run(body.replace("PLUS", "%c1"), threads=64, grid=2)
    fault(body.replace("PLUS", "%c0"), "race", "memref.store %one", threads=64, grid=2)


def test_atomics():
    atomic = f"%v = memref.atomic_rmw addi %one, %o[%c0] : (i32, memref<?xi32, {GLOBAL}>) -> i32"
    o, _, _ = run(atomic, grid=3)
    assert o[0] == 3 * 128
    plain = f"%w = memref.load %o[%c0] : memref<?xi32, {GLOBAL}>"
    run(atomic + "\n" + plain, threads=64)
    fault(atomic + "\n" + plain, "race", "%w = memref.load")
    run(atomic + "\n gpu.barrier\n" + plain)


def test_same_array_twice():
    a = np.zeros(256, np.int32)
    body = f"""
      %v = memref.load %a[%t] : memref<?xi32, {GLOBAL}>
      %n = arith.xori %t, %c64 : index
      memref.store %v, %o[%n] : memref<?xi32, {GLOBAL}>"""
    with pytest.raises(sim.SimError, match="race"):
        run_text(kernel(VIEW + body, ARGS, block=(128, 1, 1), lds=1024), [a, a])
    with pytest.raises(sim.SimError, match="overlap in part"):
        run_text(kernel(VIEW + body, ARGS, block=(128, 1, 1), lds=1024), [a[:200], a[50:]])


# ------------------------------------------------------------------------------ bounds, alignment, initialisation


def test_bounds():
    body = f"""
      %n = arith.addi %t, SHIFT : index
      %v = memref.load %a[%n] : memref<?xi32, {GLOBAL}>
      {OUT}"""
    run(body.replace("SHIFT", "%c128"))
    error = fault(body.replace("SHIFT", "%c192"), "bounds", "%v = memref.load")
    assert error.lane == 0 and error.waves == ("wave 1 of workgroup (0, 0, 0)",) and error.address == 1024
    view = f"""
      %half = memref.view %lds[%c0][] : memref<1024xi8, {LDS}> to memref<64xi32, {LDS}>
      %n = arith.remui %t, LIMIT : index
      memref.store %ti, %half[%n] : memref<64xi32, {LDS}>"""
    run(view.replace("LIMIT", "%c64"), threads=64)
    fault(view.replace("LIMIT", "%c128"), "bounds", "memref.store %ti")
    allocation = f"""
      %big = memref.view %lds[%c128][] : memref<1024xi8, {LDS}> to {WG}
      memref.store %ti, %big[%n] : {WG}"""
    run("%n = arith.addi %t, %c0 : index" + allocation)
    fault("%n = arith.addi %t, %c128 : index" + allocation, "bounds", "memref.store %ti")


def test_masked_lanes_may_point_anywhere():
    body = f"""
      %n = arith.muli %t, %c64 : index
      %in = arith.cmpi ult, %n, %c192 : index
      scf.if %in {{
        %v = memref.load %a[%n] : memref<?xi32, {GLOBAL}>
        {OUT}
      }}
      %m = vector.broadcast %in : i1 to vector<4xi1>
      %z = arith.constant dense<7> : vector<4xi32>
      %w = vector.maskedload %a[%n], %m, %z
          : memref<?xi32, {GLOBAL}>, vector<4xi1>, vector<4xi32> into vector<4xi32>
      vector.maskedstore %o[%n], %m, %w : memref<?xi32, {GLOBAL}>, vector<4xi1>, vector<4xi32>"""
    o, _, _ = run(body, threads=64)
    want = np.zeros(256, np.int32)
    for n in (0, 64, 128):
        want[n // 64] = n
    for n in (0, 64, 128):
        want[n : n + 4] = np.arange(n, n + 4)
    np.testing.assert_array_equal(o, want)


@pytest.mark.parametrize(
    "memory, view, kind, good, bad",
    [
        (LDS, "%lds", "vector<2xi32>", 8, 4),
        (LDS, "%lds", "vector<4xi32>", 16, 8),
        (LDS, "%lds", "vector<3xi32>", 16, 4),
        (LDS, "%lds", "vector<4xf16>", 8, 2),
        (LDS, "%lds", "vector<1xf16>", 2, 1),
        (GLOBAL, "%g", "vector<4xi32>", 4, 2),
        (GLOBAL, "%g", "vector<4xf16>", 4, 2),
    ],
)
def test_alignment(memory, view, kind, good, bad):
    element = kind[:-1].split("x")[1]
    body = f"""
      %off = arith.constant OFFSET : index
      %v = memref.view {view}[%off][] : memref<1024xi8, {memory}> to memref<64x{element}, {memory}>
      %z = arith.constant dense<0{".0" if element[0] == "f" else ""}> : {kind}
      vector.store %z, %v[%c0] : memref<64x{element}, {memory}>, {kind}"""
    arguments = f"%g: memref<1024xi8, {GLOBAL}>"
    for offset, wrong in ((good, False), (bad, True)):
        text = kernel(VIEW + body.replace("OFFSET", str(offset)), arguments, lds=1024)
        if not wrong:
            run_text(text, [np.zeros(1024, np.int8)])
            continue
        with pytest.raises(sim.SimError) as caught:
            run_text(text, [np.zeros(1024, np.int8)])
        assert caught.value.kind == "alignment" and caught.value.address == bad


def test_alignment_attribute_is_a_promise():
    body = f"""
      %v = vector.load %a[%c1] {{alignment = ALIGN : i64}} : memref<?xi32, {GLOBAL}>, vector<2xi32>"""
    run(body.replace("ALIGN", "4"))
    fault(body.replace("ALIGN", "8"), "alignment", "%v = vector.load")


def test_uninitialised():
    body = f"""
      %v = memref.load %s[%t] : {WG}
      {OUT}"""
    run(f"memref.store %ti, %s[%t] : {WG}" + body)
    error = fault(body, "uninitialised", "%v = memref.load")
    assert error.address == 256  # the last run is in reverse order: wave 1 first
    half = f"""
      %in = arith.cmpi ult, %t, %c63 : index
      scf.if %in {{ memref.store %ti, %s[%t] : {WG} }}"""
    assert fault(half + body, "uninitialised", "%v = memref.load", threads=64).address == 252


# ----------------------------------------------------------------------------------------------- asynchronous copies

COPY = f"""
      %w = arith.divui %t, %c64 : index
      %base = arith.muli %w, %c64 : index
      amdgpu.gather_to_lds %a[%t], %s[%base] : i32, memref<?xi32, {GLOBAL}>, {WG}
      WAIT
      BARRIER
      %n = arith.xori %t, MATE : index
      %v = memref.load %s[%n] : {WG}
      {OUT}"""


def copy(wait: str, barrier: str, mate: str = "%c64") -> str:
    return COPY.replace("WAIT", wait).replace("BARRIER", barrier).replace("MATE", mate)


@pytest.mark.parametrize("wait", ["amdgpu.memory_counter_wait load(0)", "rocdl.s.waitcnt 3952"])
@pytest.mark.parametrize("barrier", ["rocdl.s.barrier", "amdgpu.lds_barrier", "gpu.barrier"])
def test_asynchronous_copy(wait, barrier):
    for mate, number in (("%c64", 64), ("%c1", 1)):
        o, _, _ = run(copy(wait, barrier, mate))
        np.testing.assert_array_equal(o[:128], np.arange(128) ^ number)
    if barrier != "gpu.barrier":
        fault(copy("", barrier), "async", "%v = memref.load")
    fault(copy(wait, ""), "race", "%v = memref.load")
    run(copy(wait, "", "%c1"))  # its own data: no barrier
    fault(copy("", "", "%c1"), "async", "%v = memref.load")
    fault(
        copy("amdgpu.memory_counter_wait load(1)", barrier if barrier != "gpu.barrier" else ""),
        "async",
        "%v = memref.load",
    )


def test_wait_after_the_barrier_covers_own_copies_only():
    late = copy("", "amdgpu.lds_barrier\n amdgpu.memory_counter_wait load(0)")
    with pytest.raises(sim.SimError) as caught:
        run(late)
    assert caught.value.kind in ("async", "race")
    run(copy("", "amdgpu.lds_barrier\n amdgpu.memory_counter_wait load(0)", "%c1"))


def test_counted_wait():
    """Two copies in flight; a wait for all but one covers the first."""
    body = f"""
      %half = memref.view %lds[%c512][] : memref<1024xi8, {LDS}> to memref<128xi32, {LDS}>
      amdgpu.gather_to_lds %a[%t], %s[%c0] : i32, memref<?xi32, {GLOBAL}>, {WG}
      amdgpu.gather_to_lds %a[%t], %half[%c0] : i32, memref<?xi32, {GLOBAL}>, memref<128xi32, {LDS}>
      amdgpu.memory_counter_wait load(1)
      %v = memref.load READ
      {OUT}"""
    body = "%c512 = arith.constant 512 : index" + body
    run(body.replace("READ", f"%s[%t] : {WG}"), threads=64)
    fault(body.replace("READ", f"%half[%t] : memref<128xi32, {LDS}>"), "async", "%v = memref.load", threads=64)


# ------------------------------------------------------------------------------------------------------------- barriers


def test_barrier_under_divergence():
    body = """
      %in = arith.cmpi ult, %t, LIMIT : index
      scf.if %in { gpu.barrier } ELSE"""
    run(body.replace("LIMIT", "%c128").replace("ELSE", ""))
    run(body.replace("LIMIT", "%c64").replace("ELSE", "else { gpu.barrier }"))  # whole waves, equally many barriers
    fault(body.replace("LIMIT", "%c63").replace("ELSE", ""), "barrier", "gpu.barrier")


def test_trip_count_that_differs_between_lanes():
    body = """
      %n = arith.remui %t, MOD : index
      scf.for %i = %c0 to %n step %c1 { amdgpu.lds_barrier }"""
    run(body.replace("MOD", "%c1"))
    fault(body.replace("MOD", "%c63"), "barrier", "amdgpu.lds_barrier")


def test_deadlock():
    body = """
      %in = arith.cmpi ult, %t, %c64 : index
      scf.if %in { gpu.barrier }"""
    error = fault(body, "deadlock", "gpu.barrier")
    assert "ended: wave 1" in str(error) and "equally many barriers" in str(error)
    loop = """
      %w = arith.divui %t, %c64 : index
      %n = arith.addi %w, %c1 : index
      scf.for %i = %c0 to %n step %c1 { rocdl.s.barrier }"""
    fault(loop, "deadlock", "rocdl.s.barrier")


def test_ping_pong():
    """Half of the waves are one barrier ahead, by one more before the loop and one less after it."""
    body = f"""
      %late = arith.cmpi uge, %t, %c64 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      memref.store %zero, %s[%c0] : {WG}
      scf.if %late {{ amdgpu.lds_barrier }}
      scf.for %i = %c0 to %c4 step %c1 {{
        scf.if %late {{
        }} else {{
          memref.store %one, %s[%c1] : {WG}
        }}
        amdgpu.lds_barrier
        scf.if %late {{
          %x = memref.load %s[%c1] : {WG}
        }}
        amdgpu.lds_barrier
      }}
      %early = arith.xori %late, %true : i1
      scf.if %early {{ amdgpu.lds_barrier }}"""
    body = "%true = arith.constant true" + body.replace("memref.store %zero, %s[%c0]", "memref.store %zero, %s[%t]")
    for order in ("forward", "reverse", "random"):
        try:
            run(body, order=order, checks=["race"])
        except sim.SimError as error:
            raise AssertionError(str(error)) from None


def test_split_barrier():
    body = neighbour(
        "amdgpu.memory_counter_wait ds(0)\n rocdl.s.barrier.signal id = -1\n rocdl.s.barrier.wait id = -1", "%c32"
    ).replace("%c128", "%c32")
    body = "%c32 = arith.constant 32 : index" + body
    run(body, threads=64, target="gfx1201")
    early = body.replace("rocdl.s.barrier.wait id = -1", "")
    with pytest.raises(sim.SimError, match="race"):
        run(early, threads=64, target="gfx1201")


# --------------------------------------------------------------------------------------------------------------- others


def test_unsupported_is_found_before_anything_runs():
    body = f"""
      memref.store %ti, %o[%t] : memref<?xi32, {GLOBAL}>
      %v = gpu.subgroup_mma_constant_matrix %cst : !gpu.mma_matrix<16x16xf32, "COp">"""
    a, o = np.zeros(256, np.int32), np.zeros(256, np.int32)
    text = kernel(VIEW + "%cst = arith.constant 0.0 : f32" + body, ARGS, block=(64, 1, 1), lds=1024)
    with pytest.raises(sim.SimError, match="gpu.subgroup_mma_constant_matrix") as caught:
        run_text(text, [a, o])
    assert caught.value.kind == "unsupported" and caught.value.location
    assert not o.any()


def test_operation_limit():
    body = "scf.for %i = %c0 to %c128 step %c1 { %x = arith.addi %i, %c1 : index }"
    run(body)
    with pytest.raises(sim.SimError, match="more than 50 operations"):
        run(body, limit=50)


@pytest.mark.parametrize(
    "args, message",
    [
        ([np.zeros(4, np.int32)], "takes 2 arguments"),
        ([np.zeros(4, np.float32), np.zeros(4, np.int32)], "holds i32"),
        ([np.zeros((8, 8), np.int32).T[:, :4], np.zeros(4, np.int32)], "not C-contiguous"),
        ([[1, 2], np.zeros(4, np.int32)], "give a numpy array"),
    ],
)
def test_bad_arguments(args, message):
    with pytest.raises(sim.SimError, match=message) as caught:
        run_text(kernel(VIEW, ARGS, lds=1024), args)
    assert caught.value.kind == "arguments"


def test_read_only_array():
    array = np.zeros(128, np.int32)
    array.flags.writeable = False
    body = f"memref.store %ti, %o[%t] : memref<?xi32, {GLOBAL}>"
    with pytest.raises(sim.SimError, match="read-only"):
        run_text(kernel(VIEW + body, ARGS, lds=1024), [np.zeros(4, np.int32), array])


def test_options():
    with pytest.raises(sim.SimError, match="unknown check"):
        run("", checks=["nonsense"])
    with pytest.raises(sim.SimError, match="none of forward"):
        run("", order="sideways")
    with pytest.raises(sim.SimError, match="unknown target"):
        run("", target="gfx000")
    _, result, _ = run("", grid=0)
    assert result.ops == 0
