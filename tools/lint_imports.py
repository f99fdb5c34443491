"""Check that imports point one way between the parts of wave_mlir (docs/design.md, "Layout of the tree").

    python tools/lint_imports.py [ROOT]

Prints `file:line: …` for each import that a part may not make, and exits with 1 if there is one. Imports inside
functions count; those under `if TYPE_CHECKING:` do too, since a type names a part as much as a call does.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "wave_mlir"
_PASSES = {"dialect", "compiler", "passes", "scheduling"}
_OUTPUT = {"dialect", "compiler.abi", "compiler.array_strides", "compiler.targets"}

ALLOWED: dict[str, set[str]] = {
    "dialect": {"_wave"},
    "scheduling": set(),
    "compiler": _PASSES,
    "passes": _PASSES,
    "sim": _OUTPUT,
    "report": _OUTPUT,
    "isa": _OUTPUT | {"report"},
    "runtime": _OUTPUT | {"sim", "isa"},
    "lang": {"dialect"},
    "wave": _PASSES | {"lang", "runtime", "report"},
    "kernels": {"lang", "wave"},
}
"""What each part may import of the others; a part may import itself. Parts that are not named may import all."""

EXTENSION_USERS = {"dialect", "compiler", "tools"}
"""Parts that may call the extension module `_wave` itself."""

THIRD_PARTY = {"sympy": {"lang", "wave", "kernels", "compat"}, "torch": {"runtime", "kernels", "compat"}}
"""Packages that only some parts may import."""


def imported_modules(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of each import, with the names imported from a package appended to it."""
    parent = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = parent[: len(parent) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{source}.{alias.name}"


def is_allowed(part: str, imported: str) -> bool:
    """May a module of `part` import the dotted name?"""
    names = imported.split(".")
    if names[0] in THIRD_PARTY:
        return part in THIRD_PARTY[names[0]]
    if names[0] != PACKAGE or len(names) == 1:
        return True
    inner = names[1:]
    if inner[0] == "_wave":
        return part in EXTENSION_USERS
    if part not in ALLOWED or inner[0] == part:
        return True
    return any(inner[: len(a.split("."))] == a.split(".") for a in ALLOWED[part]) or inner[0].startswith("__")


def modules(root: Path) -> Iterator[tuple[Path, str]]:
    """(file, dotted module name) of all sources."""
    for path in sorted((root / "python" / PACKAGE).rglob("*.py")):
        yield path, ".".join(path.relative_to(root / "python").with_suffix("").parts)
    for path in sorted((root / "passes").rglob("*.py")):
        yield path, ".".join((PACKAGE, *path.relative_to(root).with_suffix("").parts))


def violations(root: Path) -> list[str]:
    """One line for each import that points the wrong way."""
    found = []
    for path, module in modules(root):
        is_package = path.name == "__init__.py"
        name = module.removesuffix(".__init__")
        part = (name.split(".") + [""])[1]
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        for line, imported in sorted(set(imported_modules(tree, name, is_package))):
            if not is_allowed(part, imported):
                found.append(f"{path.relative_to(root)}:{line}: {part or PACKAGE} may not import {imported}")
    return found


def main(arguments: list[str]) -> int:
    """Print what is wrong in the tree; 1 if anything is."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = violations(root)
    print("\n".join(found) or "imports point one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
