"""Compiles wave-lang's own GEMM and attention templates without a GPU: assembly and JSON. Runs where that is installed.

python build_wave_lang.py OUTPUT [PATTERN]: only cases whose name matches the pattern.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import torch
from case import Array, Number, output
from wave_lang.kernel.wave.compile import WaveCompileOptions, wave_compile
from wave_lang.kernel.wave.constraints import MMAType
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType
from wave_lang.kernel.wave.templates.attention_common import AttentionShape
from wave_lang.kernel.wave.templates.gemm import get_gemm_kernel, get_gemm_kernel_transpose_a_b
from wave_lang.kernel.wave.templates.vanilla_attention import get_vanilla_attention_kernel
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params

TORCH = {"f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8, "f8e4m3fnuz": torch.float8_e4m3fnuz}


@dataclass(frozen=True)
class Job:
    """One kernel: how to make it, its arrays in order, targets, compile options."""

    name: str
    make: Callable[[], tuple[object, dict, list]]
    args: dict[str, Array]
    targets: tuple[str, ...] = ("gfx942", "gfx950")
    options: dict[str, object] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()  # values of the sizes that are arguments


# name, dtype, MMA, block, waves, schedule, M, N, K, targets, other options
GEMMS = (
    ("plain", "f16", "F32_16x16x16_F16", (64, 64, 32), (2, 2), "NONE", 128, 128, 128, None, {}),
    ("32x32", "f16", "F32_32x32x8_F16", (128, 64, 32), (2, 2), "NONE", 128, 128, 96, None, {}),
    ("wide", "f16", "F32_16x16x32_K8_F16", (64, 128, 64), (2, 2), "NONE", 128, 128, 128, None, {}),
    ("buffers", "f16", "F32_16x16x16_F16", (64, 64, 32), (2, 2), "NONE", 128, 128, 128, None, {"use_buffer_ops": True}),
    ("prefetch", "f16", "F32_16x16x16_F16", (64, 64, 32), (2, 2), "PREFETCH", 128, 128, 256, None, {}),
    ("modulo", "f16", "F32_16x16x16_F16", (64, 64, 32), (2, 2), "MODULO", 128, 128, 256, None, {}),
    ("four-stage", "f16", "F32_32x32x8_F16", (64, 64, 32), (2, 2), "FOUR_STAGE", 128, 64, 512, None, {}),
    ("direct", "f16", "F32_16x16x16_F16", (64, 64, 64), (2, 2), "NONE", 128, 128, 256, None,
     {"use_global_to_shared": True}),
    ("direct-prefetch", "f16", "F32_16x16x32_F16", (128, 128, 64), (2, 2), "PREFETCH", 128, 256, 256, ("gfx950",),
     {"use_global_to_shared": True}),
    ("cdna4", "f16", "F32_32x32x16_F16", (64, 64, 64), (2, 2), "NONE", 64, 128, 256, ("gfx950",), {}),
    ("bf16", "bf16", "F32_16x16x32_BF16", (64, 64, 64), (2, 2), "MODULO", 64, 128, 256, ("gfx950",), {}),
    ("f8", "f8e4m3fnuz", "F32_16x16x32_F8", (64, 64, 64), (2, 2), "PREFETCH", 64, 128, 256, ("gfx942",), {}),
)  # fmt: skip


def gemms() -> list[Job]:
    """Products a [M, K] @ b [N, K].T of integers: exact."""
    jobs = []
    for name, dtype, mma, block, waves, schedule, m, n, k, targets, options in GEMMS:
        args = {"a": Array(dtype, (m, k)), "b": Array(dtype, (n, k))}
        args["c"] = output("f32", (m, n), "a.double() @ b.double().T")

        def make(mma=mma, dtype=dtype, block=block, waves=waves, shape=(m, n, k)) -> tuple[object, dict, list]:
            return get_gemm_kernel(shape, False, MMAType[mma], TORCH[dtype], block_shape=block, waves_per_block=waves)

        options = {"schedule": SchedulingType[schedule], **options}
        jobs.append(Job(f"gemm-{name}", make, args, targets or ("gfx942", "gfx950"), options))
    args = {"a": Array("f16", (128, 64)), "b": Array("f16", (128, 128))}
    args["c"] = output("f32", (64, 128), "a.double().T @ b.double()")
    transposed = get_gemm_kernel_transpose_a_b
    jobs.append(Job("gemm-transposed", lambda: transposed((64, 128, 128), False, MMAType.F32_16x16x16_F16), args))
    args = {"a": Array("f16", (100, 200)), "b": Array("f16", (72, 200))}
    args["c"] = output("f32", (100, 72), "a.double() @ b.double().T")
    dynamic = (True, True, True)
    jobs.append(
        Job(
            "gemm-dynamic",
            lambda: get_gemm_kernel((100, 72, 200), dynamic, MMAType.F32_16x16x16_F16),
            args,
            sizes=(100, 72, 200),
        )
    )
    return jobs


def attentions() -> list[Job]:
    """Attention with f16 inputs, [heads, length, head size], out in f32."""
    jobs = []
    for name, queries, keys, causal, schedule in (
        ("plain", 128, 128, False, "NONE"),
        ("causal", 128, 128, True, "NONE"),
        ("long", 256, 320, False, "NONE"),
        ("scheduled", 128, 256, False, "MODULO"),
    ):
        shape = AttentionShape(2, 2, 64, 64, query_seq_len=queries, kv_seq_len=keys)
        mma = (MMAType.F32_32x32x8_F16, MMAType.F32_32x32x8_F16)
        args = {
            "q": Array("f16", (2, queries, 64), "normal", high=1),
            "k": Array("f16", (2, keys, 64), "normal", high=1),
        }
        args["v"] = Array("f16", (2, keys, 64), "normal", high=1)
        expected = f"F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal={causal})"
        args["c"] = output("f32", (2, queries, 64), expected, 2e-3, 2e-3)

        def make(shape=shape, mma=mma, causal=causal) -> tuple[object, dict, list]:
            return get_vanilla_attention_kernel(shape, mma, False, is_causal=causal)

        jobs.append(Job(f"attention-{name}", make, args, options={"schedule": SchedulingType[schedule]}))
    return jobs


def compile_job(job: Job, target: str, folder: Path) -> Path:
    """Writes the assembly and the JSON; returns the latter's path."""
    kernel, symbols, dynamic = job.make()
    with tempfile.TemporaryDirectory() as dump:
        options = WaveCompileOptions(
            subs={**get_default_scheduling_params(), **symbols},
            dynamic_symbols=dynamic,
            target=target,
            dump_intermediates=dump,
            **job.options,
        )
        with contextlib.redirect_stdout(io.StringIO()):  # it prints its graphs when it fails
            wave_compile(options, kernel)
        (assembly,) = Path(dump).glob("*.rocmasm")
        text = assembly.read_text()
    launch = options.kernel_launch_info
    name = f"wave-lang-{job.name}-{target}"
    (folder / f"{name}.s").write_text(text)
    args = [{"kind": "array", "name": n, **dataclasses.asdict(a)} for n, a in job.args.items()]
    args += [
        {"kind": "number", "name": f"size{i}{half}", **dataclasses.asdict(Number("i32", part))}
        for i, value in enumerate(job.sizes)
        for half, part in (("low", value), ("high", 0))  # 64-bit sizes are passed in halves
    ]
    grid = launch.grid(list(job.sizes)) if job.sizes else launch.grid([])
    document = {
        "name": name,
        "maker": f"wave-lang {version('wave-lang')}",
        "target": target,
        "kernel": launch.func_name,
        "assembly": f"{name}.s",
        "grid": [int(g) for g in grid],
        "block": launch.blocks,
        "lds": 0,
        "args": args,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


def main(folder: str, pattern: str = "*") -> int:
    """Compile all; a case that its compiler refuses is reported and makes the exit code 1."""
    os.environ["WAVE_CACHE_ON"] = "0"
    out, failed = Path(folder), 0
    out.mkdir(parents=True, exist_ok=True)
    for job in [*gemms(), *attentions()]:
        for target in job.targets:
            if not fnmatch.fnmatch(f"wave-lang-{job.name}-{target}", pattern):
                continue
            try:
                print(compile_job(job, target, out).name, flush=True)
            except Exception as error:  # whatever that compiler raises
                failed += 1
                print(
                    f"{job.name} for {target}: {type(error).__name__}: {str(error)[:600]}", file=sys.stderr, flush=True
                )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
