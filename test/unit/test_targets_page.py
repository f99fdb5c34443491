"""docs/targets.md is what the tables say."""

from pathlib import Path

from wave_mlir.compiler.targets.document import page


def test_page_is_current() -> None:
    path = Path(__file__).parents[2] / "docs" / "targets.md"
    assert path.read_text() == page(), "run: python -m wave_mlir.compiler.targets > docs/targets.md"
