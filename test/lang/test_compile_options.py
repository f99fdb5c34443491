"""Options of wave_compile that are of wrong types, or that would have no effect: refused or warned of at the call."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
import wave_mlir.lang as tkl
import wave_mlir.wave as tkw
from runtime_kernels import GEMM_SUBS, K, M, N, added, gemm
from wave_mlir.compiler import abi
from wave_mlir.compiler.diagnostics import CompileError, CompileWarning
from wave_mlir.compiler.pass_options import OptionError, parse_options
from wave_mlir.lang.global_symbols import GLOBAL_ADDRESS_SPACE as GLOBAL
from wave_mlir.passes.pipelines import PipelineOptions, expand
from wave_mlir.wave.compile import CompiledKernel, WaveCompileOptions, wave_compile
from wave_mlir.wave.scheduling import SchedulingType

ROWS = [
    tkw.WorkgroupConstraint(M, 1, 0),
    tkw.WorkgroupConstraint(N, 64, 1),
    tkw.HardwareConstraint(64, vector_shapes={M: 1, N: 64}),
]
X = tkl.Memory[M, N, GLOBAL, tkl.f32]
AT = r"test_compile_options\.py:\d+:\d+: error: "


def compiled(**options: object) -> CompiledKernel:
    return wave_compile(WaveCompileOptions(subs={M: 128}, target="gfx942", **options), added())


@pytest.mark.parametrize("given", [-1, 2.0, True, "2"])
def test_copies(given: object) -> None:
    with pytest.raises(CompileError, match=AT + rf"multi_buffer_count is {given!r}; it takes a number of copies"):
        compiled(multi_buffer_count=given)


@pytest.mark.parametrize("given", [3, True, b"x", ["x"], "a\0b"], ids=str)
@pytest.mark.parametrize("name", ["override_schedule", "dump_schedule", "dump_intermediates", "dump_binaries"])
def test_paths(name: str, given: object) -> None:
    with pytest.raises(CompileError) as failed:
        compiled(**{name: given})
    assert f"error: {name} is {given!r}; it takes a path" in str(failed.value)


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for off in (None, False, ""):
        compiled(override_schedule=off, dump_schedule=off, dump_intermediates=off, dump_binaries=off)
    assert not list(tmp_path.iterdir())


def test_a_dump_without_a_schedule(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=AT + r"dump_schedule: there is no schedule to write, .*Type\.NONE; choose"):
        compiled(dump_schedule=tmp_path / "x.txt")
    with pytest.raises(OptionError, match="'schedule-dump' is of scheduled loops; add schedule=modulo"):
        parse_options(PipelineOptions, "schedule-dump=x", "it")


def test_a_loop_that_is_not_scheduled() -> None:
    """The warning is at the loop's line, once, whatever forms are asked for; other warnings are left alone."""

    @tkw.wave([*ROWS, tkw.TilingConstraint(K, 1)])
    def kernel(x: X, y: X):
        @tkw.iterate(K, init_args=[tkw.read(x)])
        def loop(value):
            @tkw.conditional(K > 3, else_return=[value])
            def more():
                return value + value

            return more

        tkw.write(loop, y)

    subs = {M: 2, N: 64, K: 8}
    options = WaveCompileOptions(subs=subs, target="gfx942", schedule=SchedulingType.MODULO, cache=False)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = wave_compile(options, kernel)
        assert "wave.iterate" in made.ir("scheduled") and made.hsaco
    (warning,) = seen
    assert warning.category is CompileWarning and Path(warning.filename).resolve() == Path(__file__)
    first = inspect.getsourcelines(kernel.function)[1]
    assert warning.lineno == first + 2
    assert "this loop is not scheduled: 'wave.conditional' inside of it has a body" in str(warning.message)
    assert [note.message for note in warning.message.diagnostic.notes] == ["this op is in the way"]


def test_copies_without_a_schedule() -> None:
    with pytest.warns(UserWarning, match=r"multi_buffer_count=3 has no effect: schedule is .*Type\.NONE") as seen:
        compiled(multi_buffer_count=3)
    assert [w.filename for w in seen] == [__file__]
    with pytest.warns(UserWarning, match=r"schedule=SchedulingType\.MANUAL has no effect without a schedule"):
        compiled(schedule=SchedulingType.MANUAL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(multi_buffer_count=1)
        subs = GEMM_SUBS | {M: 64, N: 64, K: 256}
        options = WaveCompileOptions(
            subs=subs, target="gfx942", multi_buffer_count=2, schedule=SchedulingType.PREFETCH
        )
        wave_compile(options, gemm())
    with pytest.raises(OptionError, match="'buffer-copies' is of scheduled loops"):
        parse_options(PipelineOptions, "buffer-copies=2", "it")


@pytest.mark.parametrize("text", ["buffer-copies=-1 schedule=modulo", "buffer-copies=2.0"])
def test_copies_of_pipelines(text: str) -> None:
    with pytest.raises(OptionError, match="buffer-copies.* it takes (0 or more|an integer)"):
        expand(f"tile-to-gpu{{{text}}}")


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "schedule.bin"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CompileError, match=AT + r"override_schedule: .*schedule\.bin is no text of schedules: .*0xff"):
        compiled(override_schedule=path)


def test_what_wave_compile_takes() -> None:
    kernel = added()
    for given in (None, {}, kernel):
        with pytest.raises(CompileError, match=AT + r"wave_compile\(options, kernel\) takes WaveCompileOptions\(…\) f"):
            wave_compile(given, kernel)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [[], "x"], ids=["list", "text"])
def test_debug_logs(given: object) -> None:
    """Said before the kernel runs."""
    kernel = compiled()
    a, c = np.ones(128, np.float32), np.zeros(128, np.float32)
    with pytest.raises(abi.AbiError, match=rf"debug_logs is a {type(given).__name__}; give a dict"):
        kernel(a, c, debug_logs=given)  # type: ignore[arg-type]
    assert not c.any()


def test_no_xcds() -> None:
    for number in (0, -1):
        with pytest.raises(ValueError, match=f"there are {number} XCDs; at least one"):
            tkw.reordered_workgroups((M, N), xcds=number)
    assert tkw.reordered_workgroups((M, N)) == tkw.reordered_workgroups((M, N), xcds=1)
