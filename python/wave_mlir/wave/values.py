"""What stands for tiles and memories while a kernel is traced."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from mlir import ir

from wave_mlir.lang.dtypes import DataType

from . import source

if TYPE_CHECKING:
    import numpy as np

    from wave_mlir.lang.types import MemoryType

Number = int | float | bool


class Value:
    """A tile of one dtype over named dims, or a scalar (no dims).

    It has `+ - * / // % & | ^ << >>`, unary `-` and comparisons with other values and with numbers.
    """

    __slots__ = ("dims", "dtype", "ir")

    def __init__(self, value: ir.Value, dims: tuple[str, ...], dtype: DataType) -> None:
        self.ir = value
        self.dims = dims
        self.dtype = dtype

    @property
    def is_scalar(self) -> bool:
        """True for a value that is no tile in IR (a scalar argument)."""
        return not str(self.ir.type).startswith("!wave.tile")

    def __repr__(self) -> str:
        return f"<tile [{', '.join(self.dims)}] of {self.dtype}>"

    def __bool__(self) -> bool:
        raise source.error(
            "a tile has no truth value while the kernel is traced; for a run-time decision use tkw.conditional or "
            "tkw.select"
        )

    def __iter__(self):
        raise source.error(
            "a tile has no elements while the kernel is traced, and cannot be unpacked; operations work on all of it, "
            "and an operation with several results gives a tuple"
        )

    def __getitem__(self, _: object):
        raise source.error(
            "a tile cannot be indexed; take tkw.extract(tile, [position]) for an element, a mapping for another order"
        )

    def _no_number(self):
        raise source.error(
            "a tile is no Python number while the kernel is traced; take the functions of tkw, such as tkw.sqrt(x) "
            "or tkw.cast(x, tkl.i32)"
        )

    __float__ = __int__ = __index__ = __len__ = __complex__ = _no_number

    # numpy calls this for its own operators too, with its numbers as arrays of no dims.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **_: object) -> Value:
        """Operators with a number of numpy (`np.float32(2) * x`) are those with Python's; other functions are
        errors."""
        import numpy as np  # it called this

        own = _OPERATORS.get(ufunc.__name__)
        plain = [x.item() if isinstance(x, np.generic | np.ndarray) and not x.ndim else x for x in inputs]
        if own is not None and method == "__call__" and all(isinstance(x, Value | int | float) for x in plain):
            return own(*plain)
        if any(isinstance(x, np.ndarray) for x in inputs):
            raise source.error("a kernel cannot compute with an array; pass it as an argument and read it: tkw.read(a)")
        raise source.error(
            f"numpy.{ufunc.__name__} is no function of tiles; take the functions of tkw, such as tkw.exp(x)"
        )

    def __add__(self, other: Operand) -> Value:
        return _binary("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return _binary("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return _binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return _binary("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return _binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return _binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return _binary("truediv", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _binary("truediv", other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return _binary("floordiv", self, other)

    def __rfloordiv__(self, other: Operand) -> Value:
        return _binary("floordiv", other, self)

    def __mod__(self, other: Operand) -> Value:
        return _binary("mod", self, other)

    def __rmod__(self, other: Operand) -> Value:
        return _binary("mod", other, self)

    def __and__(self, other: Operand) -> Value:
        return _binary("and", self, other)

    def __rand__(self, other: Operand) -> Value:
        return _binary("and", other, self)

    def __or__(self, other: Operand) -> Value:
        return _binary("or", self, other)

    def __ror__(self, other: Operand) -> Value:
        return _binary("or", other, self)

    def __xor__(self, other: Operand) -> Value:
        return _binary("xor", self, other)

    def __rxor__(self, other: Operand) -> Value:
        return _binary("xor", other, self)

    def __lshift__(self, other: Operand) -> Value:
        return _binary("shl", self, other)

    def __rlshift__(self, other: Operand) -> Value:
        return _binary("shl", other, self)

    def __rshift__(self, other: Operand) -> Value:
        return _binary("shr", self, other)

    def __rrshift__(self, other: Operand) -> Value:
        return _binary("shr", other, self)

    def __pow__(self, other: Operand) -> Value:
        return _binary("pow", self, other)

    def __rpow__(self, other: Operand) -> Value:
        return _binary("pow", other, self)

    def __neg__(self) -> Value:
        return _unary("neg", self)

    def __invert__(self) -> Value:
        return _unary("not", self)

    def __abs__(self) -> Value:
        return _unary("abs", self)

    def __lt__(self, other: Operand) -> Value:
        return _compare("lt", self, other)

    def __le__(self, other: Operand) -> Value:
        return _compare("le", self, other)

    def __gt__(self, other: Operand) -> Value:
        return _compare("gt", self, other)

    def __ge__(self, other: Operand) -> Value:
        return _compare("ge", self, other)

    def __eq__(self, other: Operand) -> Value:  # type: ignore[override]
        return _compare("eq", self, other)

    def __ne__(self, other: Operand) -> Value:  # type: ignore[override]
        return _compare("ne", self, other)

    __hash__ = None  # type: ignore[assignment]  (== is a comparison of elements)


_OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift, "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
"""By numpy's name; numpy calls them for its numbers on the left."""

Operand = Value | Number


class MemoryValue:
    """A memory argument, or an allocated buffer: `shape` as written, `space` global, shared or register."""

    __slots__ = ("dims", "ir", "name", "space", "type")

    def __init__(self, value: ir.Value, name: str, kind: MemoryType, dims: tuple[str, ...], space: str) -> None:
        self.ir = value
        self.name = name
        self.type = kind
        self.dims = dims
        self.space = space

    @property
    def dtype(self) -> DataType:
        """Element type."""
        return self.type.dtype

    def __repr__(self) -> str:
        return f"<memory {self.name}[{', '.join(self.dims)}] of {self.dtype}>"

    def _not_read(self, *_: object):
        raise source.error(f"{self.name} is a memory, not a tile; read it first: tkw.read({self.name})")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _not_read
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __and__ = __rand__ = __or__ = __ror__ = _not_read
    __xor__ = __rxor__ = __pow__ = __neg__ = __invert__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _not_read
    __lshift__ = __rshift__ = __bool__ = __iter__ = __getitem__ = __float__ = __int__ = __index__ = __len__ = _not_read


def _binary(name: str, lhs: Operand, rhs: Operand) -> Value:
    from . import elementwise  # the operators are its functions

    return elementwise.binary(name, lhs, rhs)


def _unary(name: str, operand: Value) -> Value:
    from . import elementwise

    return elementwise.unary(name, operand)


def _compare(name: str, lhs: Operand, rhs: Operand) -> Value:
    from . import elementwise

    return elementwise.compare(name, lhs, rhs)
