"""wave-opt as a process: interruption, signals, what start-up costs."""

import os
import signal
import subprocess
import sys
import time

SLOW_PASS = """
import sys, time
from dataclasses import dataclass
from wave_mlir.compiler.pass_registry import Pass, register_pass

@register_pass("wave-test-slow")
@dataclass(frozen=True)
class Slow(Pass):
    "Take long."
    def run(self, module):
        print("started", file=sys.stderr, flush=True)
        for _ in range(1000):
            time.sleep(0.01)

from wave_mlir.tools.wave_opt import main
sys.exit(main(["wave-opt", "--wave-test-slow", sys.argv[1], "-o", sys.argv[2]]))
"""


def test_interrupt_ends_with_130_and_leaves_no_output(tmp_path):
    source, output = tmp_path / "a.mlir", tmp_path / "out.mlir"
    source.write_text("module {}")
    command = [sys.executable, "-c", SLOW_PASS, str(source), str(output)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "started\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=8)
    assert process.returncode == 130
    assert errors == "wave-opt: interrupted\n"
    assert os.listdir(tmp_path) == ["a.mlir"]


def test_start_up_cpu_time(tmp_path):
    source = tmp_path / "a.mlir"
    source.write_text("module {}")

    def cpu_seconds() -> float:
        before = os.times()
        subprocess.run([sys.executable, "-m", "wave_mlir.tools.wave_opt", source], capture_output=True, check=True)
        after = os.times()
        return after.children_user - before.children_user + after.children_system - before.children_system

    # 0.25 s on an idle machine; the load of others adds to it, hence the least of many
    assert any(cpu_seconds() < 0.4 for _ in range(10))


def test_numpy_is_imported_on_first_use():
    code = (
        "import sys, wave_mlir.tools.wave_opt; assert 'numpy.linalg' not in sys.modules\n"
        "import numpy as np; from numpy import array; import numpy.linalg, ml_dtypes\n"
        "print((np.arange(3) + array([1, 2, 3])).tolist(), numpy.linalg.norm([3, 4]), np.zeros(1, ml_dtypes.bfloat16))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "[1, 3, 5] 5.0 [0]\n", run.stderr
