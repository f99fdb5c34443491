"""What `subs` binds: values of symbols, and the address spaces that symbols stand for."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence

import sympy

from wave_mlir.lang.global_symbols import SPACES
from wave_mlir.lang.symbols import ExprLike, index_symbol
from wave_mlir.lang.types import AddressSpace

from . import source

_NAMES = {s.name.removeprefix("$"): space for s, space in SPACES.items()}

_SPACE_VALUES = {space.value for space in AddressSpace}  # what `AddressSpace.GLOBAL_MEMORY.value` is


class Bindings:
    """Static values of symbols by name, in the order given; address spaces; names of dynamic symbols in ABI order."""

    def __init__(self, subs: Mapping, dynamic: Sequence[sympy.Symbol | str]) -> None:
        self.values: dict[str, ExprLike] = {}
        self.spaces: dict[str, str] = {}
        if not isinstance(subs, Mapping):
            raise source.error(f"subs: values by symbol are needed, as in {{M: 64}}; {subs!r} was given")
        for key, value in subs.items():
            self._bind(key.name if isinstance(key, sympy.Symbol) else str(key), value)
        self.positional = self._of_workgroups()
        """Symbols bound to expressions of the workgroup's position: names for these, not sizes."""
        self.dynamic: list[str] = []
        for symbol in dynamic:
            self.add_dynamic(symbol.name if isinstance(symbol, sympy.Symbol) else str(symbol))

    def _bind(self, name: str, value: object) -> None:
        if isinstance(value, AddressSpace):
            self.spaces[name] = value.value
        elif isinstance(value, str) and value in _SPACE_VALUES:
            self.spaces[name] = value
        elif isinstance(value, sympy.Symbol) and value in SPACES:
            self.spaces[name] = SPACES[value]
        elif isinstance(value, (numbers.Integral, sympy.Integer)) or (isinstance(value, float) and value.is_integer()):
            self.values[name] = int(value)
        elif isinstance(value, sympy.Basic):
            self.values[name] = value
        elif not name.startswith("$"):  # "$…" are parameters of schedules, of any type
            raise source.error(f"subs: {name} = {value!r} is no integer, expression or address space")

    def _of_workgroups(self) -> dict[sympy.Symbol, ExprLike]:
        """The values that use WORKGROUP_n, themselves or through other symbols, with these written out."""
        expressions = {n: v for n, v in self.values.items() if isinstance(v, sympy.Basic)}
        found: dict[sympy.Symbol, ExprLike] = {}
        for _ in expressions:
            for name, value in expressions.items():
                written = value.subs(found)
                if any(s.name.startswith("$WG") for s in written.free_symbols if isinstance(s, sympy.Symbol)):
                    found[index_symbol(name)] = written
        return found

    def add_dynamic(self, name: str) -> None:
        """One more symbol whose value is given at the launch. A symbol that subs binds too is an error."""
        if name in self.values:
            raise source.error(
                f"symbol {name} is in subs ({name} = {self.values[name]}) and among the dynamic symbols; drop one"
            )
        if name not in self.dynamic:
            self.dynamic.append(name)

    def drop_dynamic(self, name: str) -> None:
        """A symbol that gets its value otherwise."""
        if name in self.dynamic:
            self.dynamic.remove(name)

    def space_of(self, space: sympy.Symbol | AddressSpace, owner: str) -> str:
        """The address space that the annotation of argument `owner` means: global, shared or register."""
        if isinstance(space, AddressSpace):
            return space.value
        if space in SPACES:
            return SPACES[space]
        if space.name in self.spaces:
            return self.spaces[space.name]
        known = ", ".join(_NAMES)
        raise source.error(
            f"argument {owner}: the address space {space} is not bound; give subs={{{space}: …}} with one of {known}"
        )

    def integer(self, name: str, seen: tuple[str, ...] = ()) -> int | None:
        """The static value of a symbol, None when it depends on a dynamic one."""
        if name in seen:
            raise source.error(f"subs: {' -> '.join((*seen, name))} is defined by itself")
        value = self.values.get(name)
        if value is None or isinstance(value, int):
            return value
        inner = {index_symbol(s.name): self.integer(s.name, (*seen, name)) for s in value.free_symbols}
        if any(v is None for v in inner.values()):
            return None
        result = value.subs({s: inner[index_symbol(s.name)] for s in value.free_symbols})
        return int(result) if result.is_Integer else None
