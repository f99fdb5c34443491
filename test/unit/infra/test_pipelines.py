"""The stages fit together: each pass gets the form it requires, each stage leaves what its form promises."""

from __future__ import annotations

import pytest
from gemm_cases import GemmCase, gemm_text
from mlir import ir
from wave_mlir.compiler import forms
from wave_mlir.compiler.forms import FORMS
from wave_mlir.compiler.pass_registry import PREFIX, load_pass, run_passes
from wave_mlir.passes import pipelines

STAGES = list(zip(FORMS, FORMS[1:], strict=False))


def _passes(steps: list[str]) -> list[tuple[str, str]]:
    """Name and options of our passes among the steps."""
    parts = [step.partition("{") for step in steps]
    return [(name, options.removesuffix("}")) for name, _, options in parts if name.startswith(PREFIX)]


def test_each_pass_finds_the_form_it_requires() -> None:
    form = FORMS[0]
    for name, options in _passes(pipelines.between(FORMS[0], FORMS[-1])):
        info = load_pass(name).info
        assert not info.requires or form in info.requires, f"{name} requires {info.requires} and gets {form}"
        form = options.removeprefix("form=") if name == "wave-declare-form" else info.establishes or form
    assert form == FORMS[-1]


@pytest.mark.parametrize(("before", "after"), STAGES)
def test_each_stage_declares_its_form(before: str, after: str) -> None:
    """The last form that a stage's passes establish is the one it is named for; none goes beyond it."""
    steps = _passes(pipelines.between(before, after))
    made = [o.removeprefix("form=") if n == "wave-declare-form" else load_pass(n).info.establishes for n, o in steps]
    established = [form for form in made if form is not None]
    assert established[-1:] == [after]
    assert set(established) <= {before, after}


CASES = [
    GemmCase("gfx942", "f16", 16, "shared", (64, 64, 32), (2, 2), 100, 100, 100),
    GemmCase("gfx950", "bf16", 32, "global", (8, 64, 32), (1, 1), 17, 100, 300),
]


@pytest.mark.parametrize("dynamic", [(), ("M", "N", "K")], ids=["static", "dynamic"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_stage_ends_in_its_form_and_verifies(case: GemmCase, dynamic: tuple[str, ...]) -> None:
    options = pipelines.PipelineOptions(target=case.target)
    with ir.Context():
        module = ir.Module.parse(gemm_text(case, dynamic))
        forms.verify(module)
        for before, after in STAGES:
            assert forms.form_of(module.operation) == before
            run_passes(module, pipelines.between(before, after, options))
            forms.verify(module)
            again = ir.Module.parse(str(module))  # the text says all of it: a stage can be taken up from a file
            forms.verify(again)
            assert str(again) == str(module)
        assert forms.form_of(module.operation) == FORMS[-1]


def test_stages_from_text_give_the_same_code() -> None:
    """Printing and parsing after each stage changes nothing in what comes out at the end."""
    case = CASES[0]
    options = pipelines.PipelineOptions(target=case.target)
    with ir.Context():
        whole = ir.Module.parse(gemm_text(case))
        run_passes(whole, pipelines.between(FORMS[0], FORMS[-1], options))
        parts = ir.Module.parse(gemm_text(case))
        for before, after in STAGES:
            run_passes(parts, pipelines.between(before, after, options))
            parts = ir.Module.parse(str(parts))
        assert str(parts) == str(whole)


def test_a_form_is_not_skipped() -> None:
    """Each stage wants the form before it, and says which pipeline leads there."""
    with ir.Context():
        module = ir.Module.parse('module attributes {wave.form = "tile", wave.target = "gfx942"} {}')
        for before, after in STAGES[1:]:
            name, _ = _passes(pipelines.between(before, after))[0]
            if load_pass(name).info.requires:
                with pytest.raises(Exception, match=f"run the pipeline 'tile-to-{before}' first"):
                    run_passes(module, pipelines.between(before, after))
