"""Each file of passes/ is one pass of the same name, documented, tested and with options that print and parse."""

import subprocess
import sys
from pathlib import Path

import pytest
from wave_mlir.compiler.forms import FORMS
from wave_mlir.compiler.pass_options import options_of, options_text, parse_options
from wave_mlir.compiler.pass_registry import PREFIX, load_pass, pass_names, summary_of
from wave_mlir.passes import pipelines

ROOT = Path(__file__).resolve().parents[3]


def test_the_registry_agrees_with_the_folder():
    files = sorted(p.stem for p in (ROOT / "passes").glob("*.py") if not p.stem.startswith("_"))
    files.remove("pipelines")
    assert pass_names() == sorted(PREFIX + f.replace("_", "-") for f in files)


def test_listing_imports_no_pass():
    code = (
        "import sys; from wave_mlir.compiler import pass_registry as r; r.register_all(); "
        "print([m for m in sys.modules if m.startswith('wave_mlir.passes.')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", pass_names())
def test_pass(name):
    cls = load_pass(name)
    short = name.removeprefix(PREFIX)
    assert cls.info.name == name
    assert cls.__module__ == f"wave_mlir.passes.{short.replace('-', '_')}"
    assert cls.__name__ == "".join(word.capitalize() for word in short.split("-"))
    assert summary_of(cls).endswith(".")
    assert (ROOT / "test" / "passes" / f"{short}.mlir").is_file()
    assert (ROOT / "test" / "passes" / f"{short}-invalid.mlir").is_file()
    for spec in options_of(cls).values():
        assert spec.help
        assert parse_options(cls, options_text(cls())[1:-1], name) == cls()


def test_verify_after_each_stage():
    checks = [s for s in pipelines.expand("tile-to-gpu{verify}") if s.startswith("wave-verify-form")]
    assert checks == [f"wave-verify-form{{form={f}}}" for f in FORMS[1:7]]


def test_pass_reference_is_fresh():
    run = subprocess.run([sys.executable, ROOT / "tools/pass_docs.py"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
