"""Run pyright on the package as it is installed: sources, passes and generated modules in one tree of links.

    python tools/typecheck.py [pyright's arguments]

The bindings of MLIR downcast at run time: `op.attributes["x"]` is a StringAttr where it is one, while their stubs only
know Attribute. So the tree has a copy of the stubs in which what is downcast is Any.

pyright cannot follow the editable install's import hook, and `passes/` is not below `python/`. Run it with the Python
that has wave_mlir installed. Its paths are printed as those of the sources. Exit code: pyright's.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "typecheck"
CONFIG = """{
  "include": ["wave_mlir"],
  "exclude": ["**/_wave.pyi", "**/_wave_ops_gen.py", "**/_wave_enums_gen.py"],
  "extraPaths": ["."],
  "pythonVersion": "3.11",
  "typeCheckingMode": "basic",
  "reportMissingModuleSource": false,
  "executionEnvironments": [
    {"root": "wave_mlir/compiler", "extraPaths": ["."], %(dynamic)s},
    {"root": "wave_mlir/dialect", "extraPaths": ["."], %(dynamic)s},
    {"root": "wave_mlir/passes", "extraPaths": ["."], %(dynamic)s},
    {"root": "wave_mlir/lang", "extraPaths": ["."], %(symbolic)s},
    {"root": "wave_mlir/wave", "extraPaths": ["."], %(dynamic)s, %(symbolic)s},
    {"root": "."}
  ]
}
"""
# What a form promises (a tile has dims and a layout) is no part of the types: in code that walks IR these rules would
# ask for a check of each.
DYNAMIC = (
    "reportArgumentType", "reportAssignmentType", "reportCallIssue", "reportOperatorIssue", "reportOptionalIterable",
    "reportOptionalMemberAccess", "reportOptionalOperand", "reportReturnType",
)  # fmt: skip

# sympy has no types of its own: every node is a Basic, whatever it was tested to be.
SYMBOLIC = ("reportAttributeAccessIssue", "reportGeneralTypeIssues")


def _off(rules: tuple[str, ...]) -> str:
    return ", ".join(f'"{rule}": "none"' for rule in rules)


def installed_package() -> list[Path]:
    """Folders of wave_mlir in this Python: generated modules and the extension are only there."""
    spec = importlib.util.find_spec("wave_mlir")
    if spec is None:
        sys.exit("wave_mlir is not installed in this Python; `make dev` installs it")
    return [Path(p) for p in spec.submodule_search_locations or []]


def link(source: Path, destination: Path) -> None:
    """Link each file below `source` at the same place below `destination`, where nothing stands yet."""
    for path in sorted(source.rglob("*")):
        target = destination / path.relative_to(source)
        if path.is_file() and path.suffix in (".py", ".pyi", ".so") and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(path, target)


# Results that the bindings give as their most derived class.
_DOWNCAST = re.compile(r"-> (?:_ods_ir\.)?(?:Attribute|Type|OpView)(?: \| None)?:|-> _Optional\[_ods_ir\.Attribute\]:")
_CLASS = re.compile(r"^class (?:Attribute|Type|OpView)\b.*:$", re.MULTILINE)
_ANY_MEMBERS = """
    def __getattr__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __len__(self) -> int: ...
"""


def say_what_is_downcast(path: Path, *, classes: bool = False) -> None:
    """Replace a link by a copy in which results that are downcast, and members of base classes, are Any."""
    text = _DOWNCAST.sub("-> Any:", path.read_text(encoding="utf-8"))
    if classes:
        text = _CLASS.sub(lambda m: m[0] + _ANY_MEMBERS, text)
    path.unlink()
    path.write_text("from typing import Any\n" + text, encoding="utf-8")


def link_bindings() -> None:
    """MLIR's bindings, without headers and libraries."""
    spec = importlib.util.find_spec("mlir")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for part in ("dialects", "extras", "_mlir_libs/_mlir"):
            link(Path(folder) / part, TREE / "mlir" / part)
        for pattern in ("*.py", "_mlir_libs/*.py", "_mlir_libs/*.pyi", "_mlir_libs/*.so"):
            for path in sorted(Path(folder).glob(pattern)):
                os.symlink(path, TREE / "mlir" / path.relative_to(folder))
    say_what_is_downcast(TREE / "mlir/_mlir_libs/_mlir/ir.pyi", classes=True)


def build_tree() -> None:
    """Make the tree of links anew."""
    shutil.rmtree(TREE, ignore_errors=True)
    package = TREE / "wave_mlir"
    link(ROOT / "python" / "wave_mlir", package)
    link(ROOT / "passes", package / "passes")
    for folder in installed_package():
        if (folder / "_wave.pyi").exists() or list(folder.glob("_wave*.so")):
            link(folder, package)
    link_bindings()
    say_what_is_downcast(package / "dialect/_wave_ops_gen.py")
    (TREE / "pyrightconfig.json").write_text(CONFIG % {"dynamic": _off(DYNAMIC), "symbolic": _off(SYMBOLIC)})


def main(arguments: list[str]) -> int:
    """Build the tree, run pyright, print its findings with the sources' paths."""
    build_tree()
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(TREE), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    text = run.stdout + run.stderr
    text = text.replace(f"{TREE}/wave_mlir/passes/", "passes/").replace(f"{TREE}/wave_mlir/", "python/wave_mlir/")
    print(text.strip())
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
