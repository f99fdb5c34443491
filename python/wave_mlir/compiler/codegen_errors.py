"""The error of code generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlir import ir


class CodegenError(Exception):
    """Code generation failed: `message` says what is wrong, `location` where (file:line:column, or "")."""

    def __init__(self, location: ir.Location | str, message: str):
        text = location if isinstance(location, str) else str(location)
        text = text.removeprefix("loc(").removesuffix(")").replace('"', "")
        self.location = "" if text == "unknown" else text
        self.message = message
        super().__init__(f"{self.location}: {message}" if self.location else message)
