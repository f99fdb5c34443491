"""wave-verify-form."""

from dataclasses import dataclass

from wave_mlir.compiler import forms
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, option, register_pass


@register_pass("wave-verify-form")
@dataclass(frozen=True)
class VerifyForm(Pass):
    """Check that the module is what its `wave.form` promises.

    Options: `form` is the form that the module must declare; by default any.

    The IR is not changed. The first op that breaks the form is an error at that op. A module without `wave.form`
    promises nothing and passes, unless `form` is given.
    """

    form: str = option("", help="form that the module must be in; empty: the one it declares")

    def run(self, module: ModuleOp) -> None:
        """Raise PassError for the first thing that breaks the form."""
        declared = forms.form_of(module.operation)
        if self.form and declared != self.form:
            raise PassError(module, f"the module is in form {declared or 'unknown'}, not {self.form}")
        forms.verify(module)
