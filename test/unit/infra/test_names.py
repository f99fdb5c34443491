"""Test files are imported by their names, so these differ across folders."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_names_of_test_files_differ() -> None:
    files = [path for path in ROOT.rglob("*.py") if path.name != "conftest.py" and "Inputs" not in path.parts]
    names = Counter(path.name for path in files)
    assert [name for name, count in names.items() if count > 1] == []
