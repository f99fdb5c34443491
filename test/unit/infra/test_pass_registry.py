"""Passes written in Python under MLIR's pass manager."""

import os
import signal
import threading
import time
from dataclasses import dataclass

import pytest
from mlir import ir
from mlir.passmanager import PassManager
from wave_mlir.compiler import forms, pass_registry
from wave_mlir.compiler.diagnostics import CompileError, emit_error, emit_warning
from wave_mlir.compiler.pass_registry import (
    Pass,
    PassError,
    option,
    register_all,
    register_pass,
    run_passes,
    split_pipeline,
)

TEXT = """
module attributes {wave.form = "tile"} {
  func.func @f() {
    return
  }
  func.func @g() {
    return
  }
}
"""
SEEN: list[str] = []


@register_pass("wave-test-act")
@dataclass(frozen=True)
class Act(Pass):
    """Do what the option says."""

    what: str = option("nothing", help="what to do")

    def run(self, module):
        """Dispatch."""
        SEEN.append(str(self))
        if self.what != "nothing":
            getattr(self, self.what)(module)

    def user_error(self, module):
        """A user's error with two notes."""
        f, g = module.body.operations
        raise PassError(f, "f is wrong; mend it").note(g, "g is here").note(ir.Location.file("x.py", 3, 4), "made here")

    def internal_error(self, module):
        """A fault of the pass, while at an op."""
        for op in module.body.operations:
            _ = {}[op.name.value]

    def erased_op(self, module):
        """A fault of the pass, while at an op that is gone."""
        op = list(module.body.operations)[1]
        op.erase()
        raise RuntimeError("gone")

    def bad_ir(self, module):
        """The bindings refuse to make something."""
        ir.Type.parse("!wave.nonsense")

    def invalid_ir(self, module):
        """Leave something that MLIR's verifier rejects."""
        next(iter(module.body.operations)).attributes["function_type"] = ir.StringAttr.get("no")

    def several(self, module):
        """Report two errors and a warning."""
        for op in module.body.operations:
            emit_error(op, "first of several")
        emit_warning(module, "careful")
        raise PassError(module, "two errors")

    def interrupt(self, module):
        """Control-C while it runs."""
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    def exit(self, module):
        """A pass has no business to do this."""
        raise SystemExit(3)


@register_pass("wave-test-nested", anchor="func.func")
@dataclass(frozen=True)
class Nested(Pass):
    """Note the thread that it runs in."""

    fail: bool = option(False, help="raise")

    def run(self, module):
        """Note it."""
        SEEN.append(threading.current_thread().name)
        if self.fail:
            raise PassError(module, "nested failure")


@register_pass("wave-test-step", requires=("placed", "staged"), establishes="lane")
@dataclass(frozen=True)
class Step(Pass):
    """Go from one form to another."""

    def run(self, module):
        """Nothing else."""


@pytest.fixture
def module():
    SEEN.clear()
    with ir.Context():
        yield ir.Module.parse(TEXT)


def failure(module, pipeline):
    with pytest.raises(CompileError) as e:
        run_passes(module, pipeline)
    return e.value


def test_options_reach_the_pass_and_print_back(module):
    register_all()
    text = "builtin.module(wave-test-act{what=nothing},func.func(wave-test-nested),wave-test-act)"
    assert str(PassManager.parse(text)) == "builtin.module(wave-test-act,func.func(wave-test-nested),wave-test-act)"
    again = str(PassManager.parse("builtin.module(wave-test-act{what='a b'})"))
    assert again == "builtin.module(wave-test-act{what='a b'})"
    assert str(PassManager.parse(again)) == again


def test_user_error_has_location_and_notes(module):
    (d,) = failure(module, "wave-test-act{what=user_error}").diagnostics
    assert (d.severity, d.location, d.message) == ("error", "-:3:3", "f is wrong; mend it")
    assert [(n.severity, n.location, n.message) for n in d.notes] == [
        ("note", "-:6:3", "g is here"),
        ("note", "x.py:3:4", "made here"),
    ]


def test_stray_exception_is_located_at_the_op_being_worked_at(module):
    (d,) = failure(module, "wave-test-act{what=internal_error}").diagnostics
    assert d.location == "-:3:3"
    assert d.message.startswith("internal error in pass wave-test-act: KeyError: 'f'")
    assert "WAVE_TRACEBACK=1" in d.message


def test_traceback_on_demand(module, monkeypatch, capsys):
    monkeypatch.setenv("WAVE_TRACEBACK", "1")
    failure(module, "wave-test-act{what=internal_error}")
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_stray_exception_after_the_op_was_erased(module):
    (d,) = failure(module, "wave-test-act{what=erased_op}").diagnostics
    assert d.location == "-:2:1"
    assert "RuntimeError: gone" in d.message


def test_ir_that_the_bindings_refuse(module):
    error = failure(module, "wave-test-act{what=bad_ir}")
    assert error.diagnostics[0].message.startswith("internal error in pass wave-test-act")
    assert "nonsense" in str(error)


def test_ir_that_the_verifier_refuses(module):
    assert "function_type" in str(failure(module, "wave-test-act{what=invalid_ir}"))


def test_several_errors(module):
    error = failure(module, "wave-test-act{what=several}")
    assert [d.location for d in error.diagnostics] == ["-:3:3", "-:6:3", "-:2:1"]


def test_a_pass_cannot_exit(module):
    assert "SystemExit" in str(failure(module, "wave-test-act{what=exit}"))


def test_context_is_usable_after_a_failure(module):
    for what in ("user_error", "internal_error", "exit"):
        failure(module, f"wave-test-act{{what={what}}}")
    module.context.enable_multithreading(False)
    module.context.enable_multithreading(True)
    run_passes(module, "wave-test-act,canonicalize")
    assert SEEN[-1] == "wave-test-act"


def test_interrupt_comes_through(module):
    # a shell that starts the tests in the background has Control-C ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_passes(module, "wave-test-act{what=interrupt}")
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 4
    run_passes(module, "wave-test-act")


def test_under_mlirs_own_pass_manager(module):
    register_all()
    manager = PassManager.parse("builtin.module(wave-test-act{what=user_error})")
    with pytest.raises(ir.MLIRError, match="f is wrong"):
        manager.run(module.operation)
    PassManager.parse("builtin.module(wave-test-act)").run(module.operation)


def test_nested_with_multithreading(module):
    manager_text = "func.func(wave-test-nested)"
    for _ in range(20):
        module.context.enable_multithreading(True)
        run_passes(module, manager_text)
    assert len(SEEN) == 40
    module.context.enable_multithreading(True)
    assert "nested failure" in str(failure(module, "func.func(wave-test-nested{fail})"))


def test_nested_never_deadlocks_under_mlirs_own_run(module):
    register_all()
    manager = PassManager.parse("builtin.module(func.func(wave-test-nested))")
    manager.run(module.operation)  # parsing has switched multithreading off
    module.context.enable_multithreading(True)
    with pytest.raises(ir.MLIRError, match="cannot run in several threads under PassManager.run"):
        manager.run(module.operation)
    run_passes(module, "func.func(wave-test-nested)")


def test_many_contexts_in_many_threads():
    errors = []

    def work():
        try:
            for _ in range(10):
                with ir.Context() as context:
                    module = ir.Module.parse(TEXT, context)
                    run_passes(module, "wave-test-act,func.func(wave-test-nested),canonicalize")
                    assert "f is wrong" in str(failure(module, "wave-test-act{what=user_error}"))
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("wave-test-act{wat=1}", "wave-test-act has no option 'wat'; did you mean 'what'?"),
        ("wave-test-nested{fail=2}", "bad value '2' of option 'fail'"),
        ("wave-no-such-pass", "does not refer to a registered pass"),
        ("func.func(wave-test-act)", "restricted to 'builtin.module'"),
        ("tile-to-gpu{x=1}", "pipeline 'tile-to-gpu' has no option 'x'"),
    ],
)
def test_bad_pipelines(module, pipeline, message):
    assert message in str(failure(module, pipeline))


def test_wrong_form_says_which_pipeline_leads_there(module):
    assert "run the pipeline 'tile-to-placed' first" in str(failure(module, "wave-test-step"))
    forms.set_form(module.operation, "gpu")
    assert "past that form already" in str(failure(module, "wave-test-step"))
    del module.operation.attributes["wave.form"]
    assert "does not say its form" in str(failure(module, "wave-test-step"))
    module.operation.attributes["wave.form"] = ir.StringAttr.get("til")
    assert "must be one of tile, typed" in str(failure(module, "wave-test-step"))


def test_form_is_established(module):
    forms.set_form(module.operation, "staged")
    run_passes(module, "wave-test-step")
    assert forms.form_of(module.operation) == "lane"
    assert forms.form_of(next(iter(module.body.operations)).operation) == "lane"


def test_verify_forms_runs_the_forms_verifiers(module, monkeypatch):
    def reject(op):
        raise PassError(op, "not really lane form")

    monkeypatch.setitem(forms._verifiers, "lane", [reject])
    forms.set_form(module.operation, "staged")
    with pytest.raises(CompileError, match="not really lane form"):
        run_passes(module, "wave-test-step", verify_forms=True)
    forms.set_form(module.operation, "staged")
    monkeypatch.setattr(pass_registry, "_verify_forms", False)
    run_passes(module, "wave-test-step")
    with pytest.raises(CompileError, match="not really lane form"):
        run_passes(module, "wave-verify-form")


def test_all_tests_verify_forms():
    """What test/conftest.py and lit.cfg.py set holds here: each pass of each test is checked."""
    assert pass_registry.set_verify_forms(True) is True


def test_timing_by_pass(module):
    times: dict[str, float] = {}
    run_passes(module, "wave-test-act,func.func(canonicalize,cse)", timing=times)
    assert list(times) == ["wave-test-act", "func.func(canonicalize,cse)"]
    assert all(t > 0 for t in times.values())


def test_overhead_of_a_pass_is_small(module):
    many = ["wave-test-act"] * 100
    run_passes(module, many, verify_ir=False)
    started = time.process_time()
    run_passes(module, many, verify_ir=False)
    assert (time.process_time() - started) / 100 < 200e-6


def test_split_pipeline():
    text = "builtin.module(a{x={1,2} y='(,'},gpu.module(b,func.func(c,d)),e)"
    assert split_pipeline(text) == ["a{x={1,2} y='(,'}", "gpu.module(b,func.func(c,d))", "e"]


def test_registration_is_checked():
    with pytest.raises(ValueError, match="no form 'lain'"):
        register_pass("wave-test-bad", requires="lain")
    with pytest.raises(TypeError, match="dataclass"):

        @register_pass("wave-test-bad")
        class NoDataclass(Pass):
            """No dataclass."""

    with pytest.raises(ValueError, match="already has a pass called 'canonicalize'"):

        @register_pass("canonicalize")
        @dataclass(frozen=True)
        class Taken(Pass):
            """Taken."""
