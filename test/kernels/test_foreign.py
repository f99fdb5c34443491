"""Machine code that other compilers made runs right: Triton's and wave-lang's kernels against torch.

tools/foreign_kernels.py makes the kernels; without them these tests are deselected.
"""

from __future__ import annotations

from pathlib import Path

import foreign_kernels
import pytest

pytestmark = pytest.mark.foreign


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", foreign_kernels.descriptions(), ids=lambda p: p.stem)
def test_results_and_no_finding(path: Path, seed: int) -> None:
    """Waves in an order drawn from the seed, loads held back until their wait, race checks on; data of the seed too."""
    import foreign_data  # torch is slow to import
    from wave_mlir import isa

    kernel = foreign_data.ForeignKernel(path)
    about = kernel.description
    tensors = kernel.tensors(seed)
    args, arrays = kernel.arguments(tensors)
    run = isa.run(
        kernel.assembly, args, about["grid"], about["block"], kernel=about["kernel"], order="random", seed=seed,
        dynamic_lds=about["lds"],
    )  # fmt: skip
    assert not run.findings
    kernel.check(tensors, arrays)
