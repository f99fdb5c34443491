"""Builds the tile-form GEMM C[M, N] = A[M, K] * B[N, K]^T in Python and prints it.

python examples/build_gemm.py | wave-opt --pass-pipeline='builtin.module(canonicalize)'
"""

from mlir import ir
from wave_mlir.dialect import HardwareConstraintAttr, TilingConstraintAttr, WaveConstraintAttr, WorkgroupConstraintAttr
from wave_mlir.dialect import builders as wave


def constraints() -> list[ir.Attribute]:
    """64x64 tiles, one a workgroup of 2x2 waves; K in steps of BLOCK_K."""
    return [
        WorkgroupConstraintAttr.get("M", "BLOCK_M", "x"),
        WorkgroupConstraintAttr.get("N", "BLOCK_N", "y"),
        TilingConstraintAttr.get("K", "BLOCK_K"),
        WaveConstraintAttr.get("M", "BLOCK_M floordiv 2"),
        WaveConstraintAttr.get("N", "BLOCK_N floordiv 2"),
        HardwareConstraintAttr.get(64, mma="f32_16x16x16_f16"),
    ]


def gemm(m: int, n: int, k: int, target: str = "gfx942") -> ir.Module:
    """The module with kernel @gemm for A[m, k], B[n, k] of f16 and C[m, n] of f32."""
    f16, f32 = ir.F16Type.get(), ir.F32Type.get()
    result = wave.module("tile", target)
    arguments = {
        "a": wave.memory(["M", "K"], f16, "shared"),
        "b": wave.memory(["N", "K"], f16, "shared"),
        "c": wave.memory(["M", "N"], f32, "global"),
    }
    symbols = {"M": m, "N": n, "K": k, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    with (
        ir.InsertionPoint(result.body),
        wave.kernel("gemm", arguments, symbols, constraints=constraints()) as kernel,
    ):
        zero = wave.register(0.0, wave.tile(["M", "N"], f32))
        with wave.iterate("K", [zero]) as loop:
            x = wave.read(kernel.args["a"], wave.tile(["M", "K"], f16))
            y = wave.read(kernel.args["b"], wave.tile(["N", "K"], f16))
            loop.yield_(wave.mma(x, y, loop.carried[0]))
        wave.write(loop.results[0], kernel.args["c"])
    result.operation.verify()
    return result


def main() -> None:
    """Print the 512x512x256 GEMM."""
    with ir.Context(), ir.Location.unknown():
        print(gemm(512, 512, 256))


if __name__ == "__main__":
    main()
