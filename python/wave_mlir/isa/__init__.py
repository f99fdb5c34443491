"""Runs AMDGPU machine code (gfx942, gfx950) on the CPU, instruction by instruction, with checks.

See docs/machine-code.md.
"""
