"""What kernels of the existing Wave package may rely on that those of this one may not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import wave_mlir.compat  # noqa: F401
import wave_mlir.lang as tkl
import wave_mlir.wave as own
from wave_lang.kernel import wave as tkw  # type: ignore[import-not-found]
from wave_mlir.compiler.abi import AbiError
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.sim import SimError
from wave_mlir.wave.compile import WaveCompileOptions, wave_compile

M, N = tkl.sym.M, tkl.sym.N
SHAPES = own.HardwareConstraint(64, vector_shapes={M: 1, N: 64})
ROWS = [own.WorkgroupConstraint(M, 1, 0), own.WorkgroupConstraint(N, 64, 1), SHAPES]


def made(kernel: own.WaveKernel, subs: dict):
    return wave_compile(WaveCompileOptions(subs=subs, target="gfx942"), kernel)


def half(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, N, GLOBAL, tkl.f16]):
    own.write(own.read(x), y)


def test_writes_convert_to_the_type_of_memory() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32), np.zeros((2, 64), np.float16)
    made(tkw.wave(ROWS)(half), {M: 2, N: 64})(x, y)
    np.testing.assert_array_equal(y, x.astype(np.float16))
    with pytest.raises(CompileError, match="convert it"):
        made(own.wave(ROWS)(half), {M: 2, N: 64})


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_inputs_of_any_strides(library: str) -> None:
    kernel = made(tkw.wave(ROWS)(half), {M: 2, N: 64})
    x, y = np.arange(128, dtype=np.float32).reshape(64, 2), np.zeros((2, 64), np.float16)
    if library == "torch":
        torch = pytest.importorskip("torch")
        kernel(torch.from_numpy(x).T, torch.from_numpy(y))
    else:
        kernel(x.T, y)
        with pytest.raises(AbiError, match="array of argument 'x' is not contiguous"):
            kernel.plan(x.T, y)  # a copy would be gone when the plan is used
        with pytest.raises(AbiError, match="argument 'x'"):
            kernel(x, y)
    np.testing.assert_array_equal(y, x.T.astype(np.float16))
    y[:] = 0
    kernel.run_isa(x.T, y)
    np.testing.assert_array_equal(y, x.T.astype(np.float16))


def test_outputs_of_any_strides() -> None:
    """A column block of a wider array: the rest of it is left alone."""
    x, wide = np.arange(128, dtype=np.float32).reshape(2, 64), np.full((2, 80), 7, np.float16)
    made(tkw.wave(ROWS)(half), {M: 2, N: 64})(x, wide[:, 3:67])
    np.testing.assert_array_equal(wide[:, 3:67], x.astype(np.float16))
    assert (wide[:, :3] == 7).all() and (wide[:, 67:] == 7).all()


def test_tables_longer_than_their_dim() -> None:
    """Row i has the elements from starts[i] to starts[i + 1]: the table has one element more than there are rows."""
    i = tkw.IndexMapping.iterator(0)
    following = tkw.IndexMapping(1, {M: i + 1}, {M: i})

    @tkw.wave(ROWS)
    def lengths(
        starts: tkl.Memory[M, GLOBAL, tkl.i32], x: tkl.Memory[M, N, GLOBAL, tkl.i32], y: tkl.Memory[M, GLOBAL, tkl.i32]
    ):
        tkw.write(tkw.read(starts, mapping=following) - tkw.read(starts), y)

    starts, y = np.array([0, 4, 4, 9], np.int32), np.zeros(3, np.int32)
    for subs, dynamic in (({M: 3, N: 64}, ()), ({N: 64}, (M,))):
        kernel = wave_compile(WaveCompileOptions(subs=subs, dynamic_symbols=dynamic, target="gfx942"), lengths)
        y[:] = -1
        kernel(starts, np.zeros((3, 64), np.int32), y)
        np.testing.assert_array_equal(y, [4, 0, 5])


def twice(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, GLOBAL, tkl.f32]):
    own.write(own.sum(own.read(x) * 0.0, dim=N) + 3.0, y)


def test_workgroups_that_store_the_same() -> None:
    """Each row's value is stored by both of its workgroups: the same value is no race there, another one is."""
    x = np.random.default_rng(0).normal(size=(2, 128)).astype(np.float32)
    y = np.zeros(2, np.float32)
    made(tkw.wave(ROWS)(twice), {M: 2, N: 128})(x, y)
    np.testing.assert_array_equal(y, [3, 3])
    with pytest.raises(SimError, match="race"):
        made(own.wave(ROWS)(twice), {M: 2, N: 128})(x, y * 0)

    @tkw.wave(ROWS)
    def sums(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, GLOBAL, tkl.f32]):
        own.write(own.sum(own.read(x), dim=N), y)

    with pytest.raises(SimError, match="race"):
        made(sums, {M: 2, N: 128})(x, y)


def test_assumptions_that_do_not_hold() -> None:
    """They are hints: with other sizes the kernel is compiled without them."""

    def doubled(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        own.write(own.read(x) * 2.0, y)

    rules, x = [*ROWS, own.Assumption(N > 128)], np.random.default_rng(0).normal(size=(2, 100)).astype(np.float32)
    y = np.zeros_like(x)
    options = WaveCompileOptions(subs={M: 2}, dynamic_symbols=[N], target="gfx942")
    kernel = wave_compile(options, tkw.wave(rules)(doubled))
    kernel(x, y)
    np.testing.assert_array_equal(y, x * 2)
    y[:] = 0
    kernel.run_isa(x, y)
    np.testing.assert_array_equal(y, x * 2)
    assert kernel.plan(x, y).grid == (2, 2, 1)
    with pytest.raises(AbiError, match=r"test_compat_meaning.py:\d+:\d+: .*assumption that 129 le N; N = 100 breaks"):
        wave_compile(options, own.wave(rules)(doubled))(x, y)


def test_names_of_constraints() -> None:
    """Keyword names and defaults are those of the language."""
    tkw.ReorderingConstraint(reordered_equation=tkl.global_symbols.WORKGROUP_0, workgroup_dim=0)
    assert tkw.GridConstraint(M).sizes == (M, 1, 1) and tkw.GridConstraint((M, N)).sizes == (M, N, 1)
    assert tkw.DeviceConstraint(M).device_dim == 0
    assert tkw.HardwareConstraint(64, (1, 1, 1), (1, 1, 1), tkw.MMAType.F32_16x16x16_F16).workgroups_per_cluster
    mapping = tkw.IndexMapping(1, {M: tkw.IndexMapping.iterator(0)}, {N: tkw.IndexMapping.iterator(0)})
    assert mapping.input_mapping == mapping.inputs and mapping.output_mapping == mapping.outputs
    assert mapping.num_dynamic_vals == 0


def test_every_operation_takes_a_tag() -> None:
    @tkw.wave(ROWS)
    def tagged(x: tkl.Memory[M, N, GLOBAL, tkl.f32], y: tkl.Memory[M, N, GLOBAL, tkl.f32]):
        value = tkw.exp2(tkw.read(x, tag="read"), tag="power")
        value = tkw.cast(tkw.maximum(value, value, tag="max"), tkl.f32, tag="none")  # gives back its operand
        value = tkw.cast(src=value, dtype=tkl.f32, tag="none")
        tkw.write(value, y, tag="write")

    text = made(tagged, {M: 2, N: 64}).ir("tile")
    assert [text.count(f'wave.tag = "{n}"') for n in ("read", "power", "max", "write", "none")] == [1, 1, 1, 1, 0]


def test_kinds_of_an_mma_as_a_pair() -> None:
    """A HardwareConstraint may have several kinds where no MMA takes its own from there."""
    kinds = (tkw.MMAType.F32_16x16x16_F16, tkw.MMAType.F32_16x16x16_F16)
    rules = [*ROWS[:2], tkw.HardwareConstraint(64, mma_type=kinds, vector_shapes={M: 1, N: 64})]
    assert made(tkw.wave(rules)(half), {M: 2, N: 64}).hsaco


def test_dumps(tmp_path: Path) -> None:
    """Texts and the code object, also of a kernel that was compiled before."""
    kernel = tkw.wave(ROWS)(half)
    made(kernel, {M: 2, N: 64})
    options = WaveCompileOptions(subs={M: 2, N: 64}, target="gfx942")
    options.dump_intermediates, options.dump_binaries = tmp_path / "texts", str(tmp_path)
    wave_compile(options, kernel)
    assert {p.name for p in (tmp_path / "texts").iterdir()} == {"half.mlir", "half.ll", "half.rocmasm"}
    assert "s_endpgm" in (tmp_path / "texts" / "half.rocmasm").read_text()
    assert (tmp_path / "half.hsaco").read_bytes()[:4] == b"\x7fELF"
    options.dump_binaries = tmp_path / "half.hsaco"
    with pytest.raises(CompileError, match=r"test_compat_meaning.py:\d+:\d+: error: dump_.* give a folder"):
        wave_compile(options, kernel)
