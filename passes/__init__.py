"""Passes of the compiler, one file each."""
