"""lit configuration: `lit test` runs all lit tests, `lit test/passes/promote.mlir` one."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import lit.formats
import lit.TestRunner

root = Path(__file__).resolve().parent


def llvm_tool(name: str, fallback: str) -> str:
    """The command of an LLVM test tool: from the installed LLVM tools, else `fallback` (PyPI's filecheck)."""
    spec = importlib.util.find_spec("llvm")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "bin" / name
        if path.is_file():
            return str(path)
    return shutil.which(name) or fallback


def project_python() -> str:
    """The interpreter that has wave_mlir: the one that runs lit, else the project's own environment."""
    if importlib.util.find_spec("wave_mlir") is None:
        own = root / ".venv" / "bin" / "python"
        if own.is_file():
            return str(own)
        lit_config.fatal("wave_mlir is not installed in the Python that runs lit; `make dev` makes .venv")  # noqa: F821
    return sys.executable


python = project_python()
config.name = "wave-mlir"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".test"]  # noqa: F821
config.excludes = ["unit", "kernels", "Inputs", "build", "docs", "examples", "benchmarks", ".venv"]  # noqa: F821
config.test_source_root = str(root)  # noqa: F821
config.test_exec_root = str(root / "build" / "lit")  # noqa: F821
config.environment["PYTHONHASHSEED"] = "random"  # noqa: F821
config.environment["WAVE_VERIFY_FORMS"] = "1"  # noqa: F821  (the module's form is checked after each pass)
config.environment["WAVE_CACHE"] = "0"  # noqa: F821
for name in ("WAVE_SECOND_OPINION", "HOME", "LANG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]  # noqa: F821
config.substitutions += [  # noqa: F821
    (r"\bwave-opt\b", f"{python} -m wave_mlir.tools.wave_opt"),
    (r"(?<![-\w./%#@!])wave(?= (compile|run|report)\b)", f"{python} -m wave_mlir.tools.wave"),
    (r"\bFileCheck\b", llvm_tool("FileCheck", f"{python} -m filecheck")),
    (r"\bnot\b", llvm_tool("not", "!")),
    ("%python", python),
    ("%root", str(root)),
]
