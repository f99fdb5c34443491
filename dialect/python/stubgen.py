"""Write the type stub of the extension: stubgen.py EXTENSION-FILE OUTPUT."""

import importlib.util
import sys
from pathlib import Path

import mlir.ir  # noqa: F401  (the extension's classes derive from its classes)
from nanobind.stubgen import StubGen


def main(extension: str, output: str) -> None:
    """Import the extension from its file and write its stub."""
    spec = importlib.util.spec_from_file_location("_wave", extension)
    if spec is None or spec.loader is None:
        sys.exit(f"{extension} is not an extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generator = StubGen(module)
    generator.put(module)
    text = generator.get().replace("mlir._mlir_libs._mlir.ir", "mlir.ir")
    # Signatures name these without their module.
    Path(output).write_text(f"from mlir.ir import Attribute, Context, Location, Type, TypeID\n{text}")


main(*sys.argv[1:])
