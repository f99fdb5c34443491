"""Errors of code generation that have no place in the source: from LLVM and from linking."""

from __future__ import annotations


class CodegenError(Exception):
    """LLVM or the linker refused something; the text says what is wrong. `codegen` turns it into a CompileError."""
