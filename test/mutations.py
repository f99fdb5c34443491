"""Mutations of the compiler: a decision is replaced by a wrong one, and something must notice.

A *check* compiles and runs a kernel and raises where anything is wrong: a located error of the compiler or of a form's
verifier, a fault in the simulator or in the machine-code runner, a wrong result, a wrong count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from wave_mlir import sim
from wave_mlir.compiler import driver
from wave_mlir.compiler.diagnostics import CompileError
from wave_mlir.compiler.pass_registry import set_verify_forms
from wave_mlir.isa.errors import IsaError

FOUND = (CompileError, sim.SimError, IsaError, AssertionError)


@dataclass(frozen=True)
class Mutation:
    """`owner.name` replaced by `wrong`.

    found: what the error must match, whoever finds it. owners: others that have it by this name.
    """

    label: str
    owner: object
    name: str
    wrong: object
    found: str
    owners: tuple[object, ...] = ()

    def __str__(self) -> str:
        return self.label

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The compiler is wrong inside."""
        with pytest.MonkeyPatch.context() as patch:
            for owner in (self.owner, *self.owners):
                patch.setattr(owner, self.name, self.wrong)
            yield


def must_find(check: Callable[[], None], mutation: Mutation) -> None:
    """The check passes, and fails for the right reason when the compiler is wrong."""
    with mutation.applied(), pytest.raises(FOUND) as raised:
        check()
    text = str(raised.value)
    if isinstance(raised.value, sim.SimError):
        text = f"{raised.value.kind}: {text}"
    assert "internal error" not in text, text
    assert re.search(mutation.found, text), text


@contextmanager
def unverified() -> Iterator[None]:
    """Forms are not verified inside, so that the runners get what a wrong pass makes."""
    before = set_verify_forms(False)
    try:
        yield
    finally:
        set_verify_forms(before)


def run(
    text: str,
    arrays: Sequence[np.ndarray],
    want: Mapping[int, np.ndarray],
    *,
    symbols: Mapping[str, int] | None = None,
    options: Mapping[str, object] | None = None,
) -> driver.Compiled:
    """Compile, run in the simulator with its checks, compare exactly. want: results by argument number."""
    compiled = driver.compile_module(text, keep=["scheduled"], **(options or {}))  # type: ignore[arg-type]
    for order in ("forward", "reverse"):
        given = [a.copy() if number in want else a for number, a in enumerate(arrays)]
        sim.run(compiled.module, given, symbols=symbols, order=order)
        for number, expected in want.items():
            np.testing.assert_array_equal(given[number], expected)
    return compiled
