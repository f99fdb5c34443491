"""`wave-opt`: mlir-opt with the wave dialect and the passes written in Python."""

import sys

from wave_mlir.dialect import _wave


def main(argv: list[str] | None = None) -> int:
    """Run mlir-opt's main on `argv` (default: sys.argv) in this process and return its exit code."""
    argv = list(sys.argv if argv is None else argv)
    return _wave.opt_main([argv[0], "--mlir-disable-threading", *argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
