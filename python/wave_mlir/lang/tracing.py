"""The tracer that runs, if any: `lang` types call it when they are used inside a kernel."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .types import RegisterType


class Tracer(Protocol):
    """What a `Register[…](value)` needs of the tracer."""

    def register(self, register: RegisterType, value: object) -> object:
        """A tile of the register's shape filled with `value`."""
        ...


active: ContextVar[Tracer | None] = ContextVar("wave_mlir_tracer", default=None)


def require(what: str) -> Tracer:
    """The active tracer. RuntimeError outside of a kernel."""
    tracer = active.get()
    if tracer is None:
        raise RuntimeError(f"{what} was called outside of a kernel; it has a meaning only inside a @wave function")
    return tracer
