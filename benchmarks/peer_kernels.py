"""CPU seconds of compiling wave-lang's own templates: run by `compile_peer.py` with either package's interpreter.

    python peer_kernels.py ours|peer TEMPLATES [--pattern P] [--repeats N]

TEMPLATES is the folder of the templates, in the peer's package; both sides compile what is in there. Prints a line of
JSON a kernel: its name, and the CPU seconds of each compilation (children included), every one of another shape.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import importlib.util
import io
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGE = "wave_lang.kernel.wave.templates"
TARGET = "gfx942"


def load_templates(folder: Path) -> None:
    """Answer imports of the templates with the files in `folder`, whatever package the other names come from."""
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(folder)]
    sys.modules[PACKAGE] = package


def template(name: str) -> types.ModuleType:
    """A module of templates."""
    full = f"{PACKAGE}.{name}"
    if full not in sys.modules:
        path = Path(sys.modules[PACKAGE].__path__[0], f"{name}.py")
        spec = importlib.util.spec_from_file_location(full, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules[full]


def attention_shape(**sizes: int):
    """The templates' description of an attention problem."""
    given = {"num_query_heads": 4, "num_kv_heads": 4, "head_size": 64, "head_size_kv": 64, **sizes}
    return template("attention_common").AttentionShape(**given)


def jobs() -> Iterator[tuple[str, Callable[[int], tuple]]]:
    """Names, and for each what makes kernel, symbols (and dynamic symbols) for a serial number of its shape."""
    import torch
    import wave_lang.kernel.lang as tkl
    from wave_lang.kernel.wave.constraints import MMAType

    small, tall = MMAType.F32_16x16x16_F16, MMAType.F32_32x32x8_F16
    gemm = template("gemm")

    def blocks(m: int, n: int, k: int, mma=small, dtype=torch.float16, dynamic=False) -> Callable[[int], tuple]:
        return lambda i: gemm.get_gemm_kernel(
            (m * (2 + i), n * (3 + i), k * (4 + i)), dynamic, mma, dtype, block_shape=(m, n, k), waves_per_block=(2, 2)
        )

    yield "gemm 64x64x32", blocks(64, 64, 32)
    yield "gemm 128x128x64", blocks(128, 128, 64)
    yield "gemm 128x64x32, 32x32 MMA", blocks(128, 64, 32, tall)
    yield "gemm f8 64x64x64", blocks(64, 64, 64, MMAType.F32_16x16x32_F8, torch.float8_e4m3fnuz)
    yield "gemm, sizes at run time", blocks(64, 64, 32, dynamic=(True, True, True))
    yield (
        "gemm, transposed operands",
        lambda i: gemm.get_gemm_kernel_transpose_a_b((64 * (2 + i), 128, 64 * (1 + i)), False, small),
    )
    yield (
        "gemm, workgroups reordered",
        lambda i: template("reordered_gemm").get_reordered_matmul(512 * (i + 1), 512, 256, 64, 64, 32, 4, small),
    )
    vanilla = template("vanilla_attention")
    for name, causal in (("attention", False), ("attention, causal", True)):
        yield (
            name,
            lambda i, causal=causal: vanilla.get_vanilla_attention_kernel(
                attention_shape(query_seq_len=128 * (1 + i), kv_seq_len=64 * (2 + i)),
                (tall, tall),
                False,
                is_causal=causal,
            ),
        )
    yield (
        "attention, grouped queries",
        lambda i: template("gqa_vanilla_attention").get_gqa_bshd_attention_kernel(
            attention_shape(num_kv_heads=2, num_seqs=1, query_seq_len=128 * (1 + i), kv_seq_len=64 * (2 + i)),
            (tall, tall),
        ),
    )
    yield (
        "attention, two-dimensional batch and biases",
        lambda i: template("evoformer").get_evoformer_kernel(
            (1, 1), (64 * (1 + i), 1), (64 * (2 + i), 64), (4, 1), (32, 32), (64 * (2 + i), 64), (32, 32),
            tall, tkl.bf16,
        ),
    )  # fmt: skip
    yield (
        "attention, decode, first phase",
        lambda i: (
            template("decode_attention").get_decode_attention_kernels((4 * (1 + i), 128, 64, 64, 128 * (1 + i)), small)[
                :1
            ]
            + template("decode_attention").get_decode_attention_kernels(
                (4 * (1 + i), 128, 64, 64, 128 * (1 + i)), small
            )[2:3]
        ),
    )
    yield (
        "convolution",
        lambda i: template("conv").get_igemm_conv2d(
            "nhwc_hwcf", 2, 16 + i, 16, 32, 3, 3, 64, 1, tkl.f16, tkl.f32, block_m=64, block_n=64, block_k=32
        ),
    )
    yield (
        "silu and multiply",
        lambda i: template("moe").get_silu_and_mul_kernel(64 * (1 + i), 256, tkl.f16),
    )


def cpu() -> float:
    """CPU seconds of this process and its children."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def compile_one(made: tuple, ours: bool) -> None:
    """Compile to a code object, without any cache."""
    from wave_lang.kernel.wave.compile import WaveCompileOptions, wave_compile
    from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params

    kernel, symbols, *rest = made
    dynamic = rest[0] if rest and isinstance(rest[0], (list, tuple)) else []
    options = WaveCompileOptions(
        subs={**get_default_scheduling_params(), **symbols}, dynamic_symbols=list(dynamic), target=TARGET
    )
    compiled = wave_compile(options, kernel)
    if ours:
        assert compiled.hsaco


def measure(make: Callable[[int], tuple], repeats: int, ours: bool) -> list[float]:
    """CPU seconds of `repeats` compilations after one that warms up; making the kernel counts."""
    compile_one(make(0), ours)
    seconds = []
    for serial in range(1, repeats + 1):
        start = cpu()
        compile_one(make(serial), ours)
        seconds.append(cpu() - start)
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=("ours", "peer"))
    parser.add_argument("templates", type=Path)
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["WAVE_CACHE_ON"] = os.environ["WAVE_CACHE"] = "0"  # the peer's switch, and ours
    ours = arguments.side == "ours"
    if ours:
        import wave_mlir.compat  # noqa: F401  answers imports of wave_lang
    load_templates(arguments.templates)
    for name, make in jobs():
        if not fnmatch.fnmatch(name, arguments.pattern):
            continue
        record: dict[str, object] = {"name": name}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                record["seconds"] = measure(make, arguments.repeats, ours)
        except Exception as error:  # whatever the compiler raises
            record["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
