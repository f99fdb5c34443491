"""wave-declare-form."""

from dataclasses import dataclass

from wave_mlir.compiler import forms
from wave_mlir.compiler.pass_options import nearest
from wave_mlir.compiler.pass_registry import ModuleOp, Pass, PassError, option, register_pass


@register_pass("wave-declare-form")
@dataclass(frozen=True)
class DeclareForm(Pass):
    """Set the module's `wave.form`, after passes that are not ours and do not set it.

    Options: `form`, the form that the module is in now.

        module attributes {wave.form = "gpu"} { … }   // before
        module attributes {wave.form = "rocdl"} { … } // after, with form=rocdl

    Nothing is checked: wave-verify-form does that.
    """

    form: str = option("", help="form that the module is in")

    def run(self, module: ModuleOp) -> None:
        """Set the attribute."""
        if self.form not in forms.FORMS:
            hint = nearest(self.form, forms.FORMS)
            raise PassError(module, f"{self.info.name}: there is no form '{self.form}'{hint}")
        forms.set_form(module.operation, self.form)
