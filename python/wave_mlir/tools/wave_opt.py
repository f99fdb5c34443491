"""`wave-opt`: mlir-opt with the wave dialect and the passes written in Python, in this process."""

import sys

from wave_mlir.compiler import pass_registry
from wave_mlir.dialect import _wave


def main(argv: list[str] | None = None) -> int:
    """Run mlir-opt's main on `argv` (default: sys.argv) in this process and return its exit code."""
    argv = list(sys.argv if argv is None else argv)
    pass_registry.register_all(with_help=any(a.startswith(("--help", "-help", "--list-passes")) for a in argv))
    return _wave.opt_main([argv[0], "--mlir-disable-threading", *argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
