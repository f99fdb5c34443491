"""The trace: a kernel function runs once with values that stand for its tiles, and its operations become MLIR."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, ParamSpec

import sympy
from mlir import ir

from wave_mlir.compiler.targets import Target
from wave_mlir.dialect import Expr, builders
from wave_mlir.lang import tracing
from wave_mlir.lang.dtypes import DataType, index
from wave_mlir.lang.symbols import THREAD_X, ExpressionError, ExprLike, dialect_name, to_expr
from wave_mlir.lang.types import MemoryLayout, MemoryType, RegisterType

from . import source
from .bindings import Bindings
from .values import MemoryValue, Value

if TYPE_CHECKING:
    from .debug_log import DebugLog


@dataclass(frozen=True)
class WavePart:
    """A dim `whole` as `number`, of the waves' parts, and `inner`, of the `length` positions in one."""

    whole: str
    number: str
    inner: str
    length: int


class Trace:
    """One kernel under construction. Operations reach it through `current()`."""

    def __init__(self, bindings: Bindings, target: Target, compat: bool = False) -> None:
        self.bindings = bindings
        self.compat = compat
        self.target = target
        self.used: dict[str, tuple[str, int, int]] = {}
        """Symbols that occur, with the line of their first use."""
        self.derived: dict[str, Expr] = {}
        """Dims that are expressions of symbols (K // 32), by the name that stands for them."""
        self.set_symbols: dict[str, tuple[str, ...]] = {}
        """Symbols that the kernel sets, with the dims of the tile that was set last."""
        self.counted_axes: set[str] = set()
        """Dims that a counted loop walks."""
        thread = Expr.symbol("wave.x") * target.wave_size + Expr.symbol("lane")
        self.aliases: dict[str, Expr] = {THREAD_X: thread}
        """Symbols that stand for expressions: the work-item, the trip counters that users name."""
        self.while_axes: list[str] = []
        """Axes of the while loops around the place that is traced."""
        self.units: frozenset[str] = frozenset()
        """Dims whose tile in a workgroup has one element."""
        self.launch_values: dict[str, Expr] = {}
        """Sizes at the launch of dims that only a tensor's physical shape gives."""
        self.sized: set[str] = set()
        """Dims whose size at the launch is that of an argument's without a layout."""
        self.whole_tables: dict[str, ir.Type] = {}
        """Types of one-dimensional arguments with a layout, bounded by all of it; by argument."""
        self.bound_iterators: dict[sympy.Symbol, sympy.Expr] = {}
        """Iterators that IteratorBindings names, and their dims."""
        self.wave_parts: dict[str, WavePart] = {}
        """Dims that waves divide, each for results of its own (`wave_parts`)."""
        self.kernel: builders.Kernel | None = None
        """The kernel while its body is traced."""
        self.debug_logs: list[DebugLog] = []
        self.mma_kinds: list[str] = []
        self.default_mma: object = None

    # --- expressions, dims, types ---

    def expr(self, value: ExprLike, exact: bool = False) -> Expr:
        """The dialect's expression; its symbols count as used. An error is at the user's line."""
        if isinstance(value, sympy.Basic) and self.bindings.positional:
            value = value.subs(self.bindings.positional)
        try:
            result = to_expr(value, exact)
        except ExpressionError as error:
            raise source.error(str(error)) from None
        if any(s in self.aliases for s in result.symbols):
            result = result.subs(self.aliases)
        self._use(result)
        return result

    def _use(self, expr: Expr) -> None:
        new = [s for s in expr.symbols if s not in self.used]
        if new:
            self.used.update(dict.fromkeys(new, source.position()))

    def dim(self, value: ExprLike, what: str) -> str:
        """The name of a dim: a symbol's own, for an expression of symbols a symbol that stands for it."""
        if isinstance(value, sympy.Symbol):
            self.used.setdefault(value.name, source.position())
            return _dim_name(value)
        if isinstance(value, int) or not isinstance(value, sympy.Basic) or not value.free_symbols:
            raise source.error(f"{what}: dim {value} has no name; take a symbol and bind it in subs")
        return self._derived_dim(self.expr(value, exact=True))

    def _derived_dim(self, expr: Expr) -> str:
        name = "".join(c if c.isalnum() else "_" for c in str(expr).replace(" ", "_"))
        self.derived.setdefault(name, expr)
        self.used.setdefault(name, source.position())
        return name

    def resized_dim(self, name: str, times: int, divisor: int) -> str:
        """The dim of as many elements as `times / divisor` times those of dim `name`."""
        whole = self.derived.get(name)
        if whole is None and isinstance(self.bindings.values.get(name), sympy.Basic):
            whole = self.expr(self.bindings.values[name], exact=True)
        whole = Expr.symbol(name) if whole is None else whole
        if whole.kind == "floordiv" and whole.operands[1].constant_value is not None:
            divisor *= whole.operands[1].constant_value
            whole = whole.operands[0]
        if whole.kind == "mul" and len(whole.symbols) == 1:
            factor = whole.coefficient(whole.symbols[0])
            if factor is not None and factor.constant_value is not None:
                times *= factor.constant_value
                whole = Expr.symbol(whole.symbols[0])
        common = math.gcd(times, divisor)
        times, divisor = times // common, divisor // common
        if times == divisor == 1 and whole.kind == "symbol":
            self._use(whole)
            return whole.symbols[0]
        self._use(whole)
        return self._derived_dim(whole * times // divisor)

    def dims(self, shape: Sequence[ExprLike], what: str) -> tuple[str, ...]:
        """Names of the dims of a tile of a shape, which must differ."""
        names = self._named_dims(shape, what)
        if any(n in self.wave_parts for n in names):
            parts = (self.wave_parts.get(n, n) for n in names)
            names = tuple(d for p in parts for d in ((p,) if isinstance(p, str) else (p.number, p.inner)))
        return names

    def _named_dims(self, shape: Sequence[ExprLike], what: str) -> tuple[str, ...]:
        names = tuple(self.dim(s, what) for s in shape)
        for name in names:
            if names.count(name) > 1:
                raise source.error(f"{what}: dim {name} occurs twice")
        return names

    def tile_type(self, dims: Sequence[str], dtype: DataType) -> ir.Type:
        """`!wave.tile<[dims], dtype>`."""
        return builders.tile(list(dims), dtype.ir_type())

    def is_unit(self, dim: str) -> bool:
        """Whether a workgroup's tile, in a loop over the dim that of one trip, has one element along it."""
        return dim in self.units

    # --- values ---

    def value(self, result: ir.Value, dims: Sequence[str], dtype: DataType) -> Value:
        """The value that stands for an op's result."""
        return Value(result, tuple(dims), dtype)

    def register(self, register: RegisterType, value: object) -> Value:
        """A tile filled with a number, or with a scalar."""
        dims = self.dims(register.shape, "Register")
        return self.filled(value, dims, register.dtype)

    def filled(self, value: object, dims: Sequence[str], dtype: DataType) -> Value:
        """A tile of `dims` with one value: a number, a scalar value of that dtype, or an expression (of integers)."""
        result = self.tile_type(dims, dtype)
        with source.location():
            if isinstance(value, Value):
                return self._filled_scalar(value, dims, dtype)
            if getattr(value, "ndim", None) == 0:  # a number of numpy or torch
                value = value.item()
            if isinstance(value, (bool, int, float)):
                return Value(builders.register(_checked_number(value, dtype), result), tuple(dims), dtype)
            if isinstance(value, sympy.Basic):
                return self._filled_expression(value, dims, dtype)
        if hasattr(value, "__array__"):  # of numpy, torch and others
            raise source.error("a kernel cannot compute with an array; pass it as an argument and read it: tkw.read(a)")
        raise source.error(f"a tile cannot be filled with {value!r}; give a number, a scalar or an expression")

    def _filled_scalar(self, value: Value, dims: Sequence[str], dtype: DataType) -> Value:
        if not value.is_scalar:
            raise source.error("a tile is filled with a number or a scalar; to repeat a tile take tkw.broadcast")
        if value.dtype != dtype:
            raise source.error(f"a tile of {dtype} cannot be filled with a scalar of {value.dtype}; cast it first")
        return Value(builders.register(value.ir, self.tile_type(dims, dtype)), tuple(dims), dtype)

    def _filled_expression(self, value: sympy.Basic, dims: Sequence[str], dtype: DataType) -> Value:
        if value.is_Float or (value.is_number and not value.is_Integer):
            return self.filled(float(value), dims, dtype)
        scalar = builders.scalar(self.expr(value), dtype.ir_type())
        return Value(builders.register(scalar, self.tile_type(dims, dtype)), tuple(dims), dtype)

    def memory_type(self, kind: MemoryType, owner: str) -> tuple[ir.Type, tuple[str, ...], str]:
        """IR type, dim names and space of a memory argument."""
        space = self.bindings.space_of(kind.space, owner)
        dims = self._named_dims(kind.shape, f"argument {owner}")
        shape = [self.expr(s, exact=True) for s in kind.shape]
        strides = None
        if kind.layout is not None:
            shape, strides = self._layout(kind, shape, owner)
        made = builders.MemoryType.get(shape, kind.dtype.ir_type(), space, strides)
        if kind.layout is not None and kind.layout.shape is not None and len(shape) == 1:
            whole = self._physical(kind.layout.shape[0], owner, 0)
            self.whole_tables[owner] = builders.MemoryType.get([whole], kind.dtype.ir_type(), space, strides)
        return made, dims, space

    def kind_of(self, kind: MemoryType, owner: str) -> MemoryType:
        """The type of argument `owner`. With `compat` a table of integers may be longer than its dim: it is bounded by
        the tensor's own extent."""
        if not self.compat or kind.layout is not None or len(kind.shape) != 1 or kind.dtype.kind != "int":
            return kind
        if not isinstance(kind.shape[0], sympy.Symbol) or self.bindings.space_of(kind.space, owner) != "global":
            return kind
        return replace(kind, layout=MemoryLayout((None,)))

    def _layout(self, kind: MemoryType, shape: list[Expr], owner: str) -> tuple[list[Expr], list[Expr | None] | None]:
        """Extents and strides of a memory with a MemoryLayout."""
        layout = kind.layout
        assert layout is not None  # by the caller
        for given in (layout.shape, layout.strides):
            if given is not None and len(given) != len(kind.shape):
                raise source.error(
                    f"argument {owner} has {len(kind.shape)} dims and its MemoryLayout {len(given)}; give one for each "
                    "dim"
                )
        strides = None
        if layout.strides is not None:
            strides = [None if s is None else self.expr(s, exact=True) for s in layout.strides]
        if layout.shape is None:
            return shape, strides
        physical = [self._physical(e, owner, n) for n, e in enumerate(layout.shape)]
        extents = [self._extent(*pair) for pair in zip(kind.shape, shape, physical, strict=True)]
        return extents, list(_row_major(physical)) if strides is None else strides

    def _physical(self, given: ExprLike | None, owner: str, number: int) -> Expr:
        """A physical extent; one that is known at run time only becomes a dynamic symbol of its own."""
        if given is not None:
            return self.expr(given, exact=True)
        name = f"{owner}_extent_{number}"
        self.bindings.add_dynamic(name)
        return Expr.symbol(name)

    def _extent(self, dim: ExprLike, logical: Expr, physical: Expr) -> Expr:
        """What bounds accesses along a dim: its own extent if that is surely within the physical one.

        A dim whose size nobody gives has that of the tensor until the kernel sets it.
        """
        if logical == physical:
            return logical
        if not isinstance(dim, sympy.Symbol):
            return physical
        size, most = self.bindings.integer(dim.name), physical.constant_value
        if size is not None and most is not None and size <= most:
            return logical
        if dim.name not in self.bindings.values and dim.name not in self.sized:
            self.launch_values.setdefault(dim.name, physical)
            self.bindings.drop_dynamic(dim.name)
        return physical


def _dim_name(symbol: sympy.Symbol) -> str:
    try:
        return dialect_name(symbol)
    except ExpressionError as error:
        raise source.error(str(error)) from None


def _row_major(shape: Sequence[Expr]) -> list[Expr]:
    strides = [Expr.constant(1)]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return strides


def _checked_number(value: bool | int | float, dtype: DataType) -> bool | int | float:
    """The number, if it is one of the dtype (a fraction is no integer, 300 no i8)."""
    if dtype.is_float:
        return float(value)
    if isinstance(value, float) and not value.is_integer():
        raise source.error(f"{value} is no value of {dtype}; take a float type or round it")
    number = int(value)
    if dtype.kind == "bool" and number not in (0, 1):
        raise source.error(f"{number} is no value of {dtype}; take 0 or 1")
    if dtype != index and dtype.kind == "int" and not -(2 ** (dtype.bits - 1)) <= number < 2**dtype.bits:
        raise source.error(f"{number} does not fit {dtype}")
    return number


def current(what: str = "an operation of the language") -> Trace:
    """The trace that runs. RuntimeError outside of a kernel."""
    found = tracing.require(what)
    if not isinstance(found, Trace):
        raise RuntimeError("another tracer is active")
    return found


# --- checks that all operations share ---


def tagged(made: ir.OpView | ir.Operation, tag: str | None) -> None:
    """Give an op the name that a manual schedule knows it by."""
    if tag is not None:
        made.operation.attributes["wave.tag"] = ir.StringAttr.get(tag)


Parameters = ParamSpec("Parameters")


def with_tag(operation: Callable[Parameters, Value]) -> Callable[..., Value]:
    """The operation, taking `tag=` too: a name for a manual schedule."""

    @functools.wraps(operation)
    def _with_tag(*args: Parameters.args, **options: Parameters.kwargs) -> Value:
        tag = options.pop("tag", None)
        result = operation(*args, **options)
        given = (*args, *options.values())
        if isinstance(tag, str) and not isinstance(result.ir.owner, ir.Block) and not _is_among(result, given):
            tagged(result.ir.owner, tag)
        return result

    return _with_tag


def _is_among(result: Value, given: Sequence[object]) -> bool:
    """Whether an operation gave back an operand as it is."""
    return any(isinstance(v, Value) and v.ir == result.ir for v in given)


def want_value(value: object, what: str) -> Value:
    """The operand, if it is a tile or scalar."""
    if isinstance(value, Value):
        return check_visible(value)
    if isinstance(value, MemoryValue):
        raise source.error(f"{what} takes a tile, not the memory {value.name}; read it first: tkw.read({value.name})")
    raise source.error(f"{what} takes a tile; {value!r} was given")


def check_visible(value: Value) -> Value:
    """The value, unless it was made in the body of a loop or conditional that is closed."""
    owner = value.ir.owner
    home = owner if isinstance(owner, ir.Block) else owner.operation.block
    block: ir.Block | None = ir.InsertionPoint.current.block
    while block is not None:
        if block == home:
            return value
        parent = block.owner
        block = parent.operation.block if parent is not None and parent.name != "builtin.module" else None
    raise source.error(
        f"{value!r} was computed in the body of a loop or conditional and is used outside of it; return it from the "
        "body (a loop carries it in init_args), and use the result"
    )


def want_memory(value: object, what: str) -> MemoryValue:
    """The operand, if it is a memory."""
    if isinstance(value, MemoryValue):
        return value
    if isinstance(value, Value):
        raise source.error(f"{what} takes a memory argument of the kernel, not a tile")
    raise source.error(f"{what} takes a memory argument of the kernel; {value!r} was given")


def call_body(function: Callable, arguments: Sequence[Value], what: str) -> list[Value]:
    """Run the body of a region; its results as a list. A wrong number of parameters is an error at the function."""
    if isinstance(function, FunctionType):
        taken = function.__code__.co_argcount - len(function.__defaults__ or ())
        most = function.__code__.co_argcount
        takes_more = bool(function.__code__.co_flags & inspect.CO_VARARGS)
        if len(arguments) < taken or (len(arguments) > most and not takes_more):
            raise source.error(
                f"the body of {what} takes {most} values, and {len(arguments)} are carried; "
                "give one parameter for each of init_args",
                source.function_position(function),
            )
    result = function(*arguments)
    if result is None:
        return []
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    return [want_value(v, f"the result of {what}") for v in values]


def unpacked(values: Sequence[Value]) -> Value | tuple[Value, ...] | None:
    """What the name of a region stands for: its result, a tuple of several, None."""
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def bound_names(mapping: Mapping) -> list[str]:
    """Names of a mapping's keys, which are symbols."""
    return [k.name if isinstance(k, sympy.Symbol) else str(k) for k in mapping]
