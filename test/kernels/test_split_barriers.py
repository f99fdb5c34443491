"""Split barriers of gfx1201: what needs no barrier runs between signal and wait; exact, race detector on."""

from __future__ import annotations

import re

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from mutations import unverified
from wave_mlir import sim
from wave_mlir.compiler import driver, gpu_barrier
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

KERNEL = """
module attributes {wave.form = "lane", wave.target = "gfx1201"} {
  wave.kernel @k(%a: !wave.memory<[1024], f32, global>, %c: !wave.memory<[64], f32, global>)
      symbols {M = 64, K = 128} dynamic []
      constraints [#wave.workgroup<M, 64, x>, #wave.wave<M, 32>, #wave.tiling<K, 32>,
                   #wave.hardware<threads_per_wave = 32>] {
    %z = arith.constant dense<0.0> : vector<1xf32>
    %l = wave.allocate : !wave.memory<[64], f32, shared>
    %sum = wave.iterate K iv(%k) trips(4) iter_args(%s = %z : vector<1xf32>) {
      %x = wave.read %a index [iv.K * 64 + wave.x * 32 + lane] symbols(iv.K = %k)
             : !wave.memory<[1024], f32, global> -> vector<1xf32>
      wave.write %x, %l index [wave.x * 32 + lane] : vector<1xf32>, !wave.memory<[64], f32, shared>
      %t = arith.mulf %x, %x : vector<1xf32>
      %p = arith.addf %s, %t : vector<1xf32>
      %y = wave.read %l index [63 - wave.x * 32 - lane] : !wave.memory<[64], f32, shared> -> vector<1xf32>
      %n = arith.addf %p, %y : vector<1xf32>
      wave.yield %n : vector<1xf32>
    }
    wave.write %sum, %c index [wave.x * 32 + lane] : vector<1xf32>, !wave.memory<[64], f32, global>
    wave.return
  }
}
"""


def _run(made: driver.Compiled) -> None:
    a = np.random.default_rng(4).integers(-9, 9, 1024).astype(np.float32)
    trips = a[:256].reshape(4, 64)
    for order in ("forward", "reverse"):
        c = np.zeros(64, np.float32)
        sim.run(made.module, [a, c], order=order)
        np.testing.assert_array_equal(c, (trips * trips + trips[:, ::-1]).sum(0))


def test_work_runs_between() -> None:
    """Each trip has two barriers: squares are computed behind one's signal, a load is issued behind the other's.

    No LDS access of a wave is under way when it signals, and the machine code keeps the order.
    """
    made = driver.compile_module(KERNEL, keep=["scheduled"])
    _run(made)
    loop = made.ir("scheduled").partition("wave.iterate")[2]
    names = re.findall(r"(barrier_signal|barrier_wait|wave.read|wave.write|arith.mulf|shared_memory_barrier)", loop)
    first = ["barrier_signal", "wave.read", "barrier_wait", "wave.write"]
    assert names[:8] == [*first, "barrier_signal", "arith.mulf", "barrier_wait", "wave.read"]
    order = re.findall(r"\t(s_barrier_signal|s_barrier_wait|s_wait_dscnt|ds_\w+|v_fma\w*|v_dual_fma\w*)", made.isa)
    for number, name in enumerate(order):
        if name == "s_barrier_signal":
            before = [n for n in order[:number] if n.startswith(("ds_", "s_wait_dscnt"))]
            assert not before or before[-1] == "s_wait_dscnt"
    assert order.count("s_barrier_signal") == order.count("s_barrier_wait") > 0


def test_a_signal_before_lds_is_written_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_barrier.amdgpu, "MemoryCounterWaitOp", lambda **_: None)
    with unverified():
        made = driver.compile_module(KERNEL)
        with pytest.raises(sim.SimError, match="race|flight|wait"):
            _run(made)


def test_barriers_by_hand() -> None:
    """The user's own pair is the hardware's, too."""
    m = tkl.sym.M
    other = tkw.IndexMapping(
        1, inputs={m: (tkw.IndexMapping.iterator(0) + 32) % 64}, outputs={m: tkw.IndexMapping.iterator(0)}
    )

    @tkw.wave([tkw.WorkgroupConstraint(m, 64, 0), tkw.WaveConstraint(m, 32), tkw.HardwareConstraint(32)])
    def kernel(a: tkl.Memory[m, GLOBAL, tkl.f32], c: tkl.Memory[m, GLOBAL, tkl.f32]):
        buffer = tkw.allocate((m,), (m,), tkl.f32)
        x = tkw.read(a)
        tkw.write(x, buffer)
        tkw.shared_memory_barrier_signal()
        y = x * 2
        tkw.shared_memory_barrier_wait()
        tkw.write(y + tkw.read(buffer, mapping=other), c)

    a = np.arange(64, dtype=np.float32)
    made = wave_compile(WaveCompileOptions(subs={m: 64}, target="gfx1201"), kernel)
    c = np.zeros_like(a)
    made(a, c)
    np.testing.assert_array_equal(c, a * 2 + np.roll(a, 32))
    text = made.ir("gpu")
    assert text.count("s.barrier.signal") == text.count("s.barrier.wait") == 1 and "lds_barrier" not in text
    assert re.search(r"s_wait_dscnt 0x0\n\ts_barrier_signal -1\n(?:.*\n)*?\ts_barrier_wait -1", made.isa)
