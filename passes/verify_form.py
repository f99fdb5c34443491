"""wave-verify-form."""

from dataclasses import dataclass

from mlir import ir
from wave_mlir.compiler import forms
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, option, register_pass


@register_pass("wave-verify-form")
@dataclass(frozen=True)
class VerifyForm(Pass):
    """Check that the module is what its `wave.form` promises.

    Options: `form` and `target` are what the module must declare; by default anything.

    The IR is not changed. The first op that breaks the form is an error at that op. A module without `wave.form`
    promises nothing and passes, unless `form` is given.
    """

    form: str = option("", help="form that the module must be in; empty: the one it declares")
    target: str = option("", help="chip that the module must be for; empty: the one it declares")

    def run(self, module: ModuleOp) -> None:
        """Raise PassError for the first thing that breaks the form."""
        declared = forms.form_of(module.operation)
        if self.form and declared != self.form:
            raise PassError(module, f"the module must be in form {self.form}, and {_says('form', declared)}")
        target = module.operation.attributes.get("wave.target")
        chip = target.value if isinstance(target, ir.StringAttr) else None
        if self.target and chip != self.target:
            advice = f": give the pipeline target={chip}" if chip else ""
            raise PassError(module, f"the pipeline lowers to {self.target}, and {_says('target', chip)}{advice}")
        forms.verify(module)


def _says(what: str, value: str | None) -> str:
    return f"this one's wave.{what} is {value}" if value else f"this one has no wave.{what}"
