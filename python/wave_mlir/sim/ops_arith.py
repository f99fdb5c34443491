"""arith (without casts) and index: integers wrap, each float operation rounds once to its own type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir

from .cohort import CannotJoin, Cohort, select
from .dtypes import DType, constant_array, unsigned, wrap
from .errors import SimError
from .program import Compiler, OpInfo, handles

Binary = Callable[[np.ndarray, np.ndarray], np.ndarray]


@handles("arith.constant", "index.constant", "index.bool.constant")
def _constant(c: Compiler, op: ir.Operation) -> None:
    result = op.results[0]
    c.alias(result, c.constant(constant_array(op.attributes["value"], result.type)))


def emit_binary(c: Compiler, op: ir.Operation, function: Binary) -> None:
    """result = function(first, second)."""
    a, b, r = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[r] = function(env[a], env[b])

    c.emit(step)


# ----------------------------------------------------------------------------------------------------------- integers


def divide_trunc(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Signed quotient rounded toward zero."""
    quotient = np.floor_divide(a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return quotient + inexact.astype(quotient.dtype)


def divide_ceil(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quotient rounded up."""
    quotient = np.floor_divide(a, b)
    return quotient + (quotient * b != a).astype(quotient.dtype)


def remainder_trunc(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Signed remainder with the sign of the dividend."""
    return a - divide_trunc(a, b) * b


def _shift(function: Binary, width: int) -> Binary:
    def shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return function(a, b & b.dtype.type(width - 1 if width & (width - 1) == 0 else 63))

    return shift


_INT_OPS: dict[str, tuple[Binary, bool]] = {  # function, on the unsigned reading
    "addi": (np.add, False),
    "subi": (np.subtract, False),
    "muli": (np.multiply, False),
    "andi": (np.bitwise_and, False),
    "ori": (np.bitwise_or, False),
    "xori": (np.bitwise_xor, False),
    "maxsi": (np.maximum, False),
    "minsi": (np.minimum, False),
    "maxui": (np.maximum, True),
    "minui": (np.minimum, True),
    "divsi": (divide_trunc, False),
    "divui": (np.floor_divide, True),
    "floordivsi": (np.floor_divide, False),
    "ceildivsi": (divide_ceil, False),
    "ceildivui": (divide_ceil, True),
    "remsi": (remainder_trunc, False),
    "remui": (np.remainder, True),
}
_INDEX_NAMES = {
    "index.add": "addi",
    "index.sub": "subi",
    "index.mul": "muli",
    "index.and": "andi",
    "index.or": "ori",
    "index.xor": "xori",
    "index.maxs": "maxsi",
    "index.mins": "minsi",
    "index.maxu": "maxui",
    "index.minu": "minui",
    "index.divs": "divsi",
    "index.divu": "divui",
    "index.floordivs": "floordivsi",
    "index.ceildivs": "ceildivsi",
    "index.ceildivu": "ceildivui",
    "index.rems": "remsi",
    "index.remu": "remui",
    "index.shl": "shli",
    "index.shrs": "shrsi",
    "index.shru": "shrui",
}


def _integer_function(name: str, dtype: DType) -> Binary:
    """The operation on containers of `dtype`, its result wrapped."""
    if name in ("shli", "shrsi", "shrui"):
        return _shift_function(name, dtype)
    function, as_unsigned = _INT_OPS[name]
    if dtype.np == np.bool_:
        return _bool_function(name, function)
    odd = dtype.bits != dtype.np.itemsize * 8
    if as_unsigned:
        return lambda a, b: wrap(function(unsigned(a, dtype), unsigned(b, dtype)), dtype)
    if odd:
        return lambda a, b: wrap(function(a, b), dtype)
    return function


def _bool_function(name: str, function: Binary) -> Binary:
    plain = {
        "addi": np.logical_xor,
        "subi": np.logical_xor,
        "muli": np.logical_and,
        "andi": np.logical_and,
        "ori": np.logical_or,
        "xori": np.logical_xor,
        "maxui": np.logical_or,
        "minui": np.logical_and,
        "maxsi": np.logical_and,
        "minsi": np.logical_or,
    }
    if name in plain:
        return plain[name]
    return lambda a, b: (function(a.astype(np.int8), b.astype(np.int8)) & 1).astype(bool)


def _shift_function(name: str, dtype: DType) -> Binary:
    if dtype.np == np.bool_:
        return lambda a, b: a & ~b
    if name == "shrsi":
        return _shift(np.right_shift, dtype.bits)
    if name == "shrui":
        shift = _shift(np.right_shift, dtype.bits)
        return lambda a, b: wrap(shift(unsigned(a, dtype), unsigned(b, dtype)), dtype)
    left = _shift(np.left_shift, dtype.bits)
    return lambda a, b: wrap(left(a, b), dtype)


def _fault(cohort: Cohort, info: OpInfo, kind: str, bad: np.ndarray, text: str) -> None:
    """Report a fault of the active lanes among `bad` (waves or 1, lanes or 1, …)."""
    bad = np.asarray(bad.reshape(*bad.shape[:2], -1).any(axis=2))
    if cohort.mask is not None:
        bad = bad & cohort.mask
    if not bad.any():
        return
    wave, lane = (int(v) for v in np.argwhere(bad)[0])
    machine = cohort.machine
    name = machine.wave_name(int(cohort.waves[wave if bad.shape[0] > 1 else 0]))
    machine.report(
        SimError(
            kind,
            f"{info.name} of {name}, lane {lane}: {text}",
            location=info.location,
            waves=(name,),
            lane=lane,
        )
    )


def _checked_division(c: Compiler, op: ir.Operation, function: Binary) -> None:
    a, b, r, info = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0]), c.info
    assert info is not None

    def step(cohort: Cohort) -> None:
        env = cohort.env
        divisor = env[b]
        zero = divisor == 0
        if zero.any():
            if "division" in cohort.machine.checks:
                _fault(cohort, info, "division", zero, "division by zero; guard it with a condition")
            divisor = np.where(zero, divisor.dtype.type(1), divisor)
        env[r] = function(env[a], divisor)

    c.emit(step)


_HALF_RANGE = 1 << 62


def _exact(name: str, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """Where a op b leaves the signed range of `bits` bits, computed exactly."""
    pair = np.broadcast_arrays(a, b)
    x, y = (v.astype(object) for v in pair)
    total = x + y if name == "addi" else x - y if name == "subi" else x * y
    limit = 1 << (bits - 1)
    return ((total >= limit) | (total < -limit)).astype(bool)


def _signed_overflow(name: str, a: np.ndarray, b: np.ndarray, result: np.ndarray, dtype: DType) -> np.ndarray | None:
    """Where a signed operation overflowed, or None; the common case costs one or two reductions."""
    if dtype.bits < 64:
        wide = {"addi": np.add, "subi": np.subtract, "muli": np.multiply}[name](a.astype(np.int64), b.astype(np.int64))
        bad = wide != result
        return bad if bad.any() else None
    if name == "muli":
        largest = max(int(a.max()), -int(a.min())) * max(int(b.max()), -int(b.min()))
        return None if largest < 1 << 63 else _exact(name, a, b, 64)
    if max(int(a.max()), int(b.max())) < _HALF_RANGE and min(int(a.min()), int(b.min())) >= -_HALF_RANGE:
        return None
    return _exact(name, a, b, 64)


def _checked_range(c: Compiler, op: ir.Operation, name: str, function: Binary, dtype: DType, why: str) -> None:
    a, b, r, info = c.use(op.operands[0]), c.use(op.operands[1]), c.define(op.results[0]), c.info
    assert info is not None

    def step(cohort: Cohort) -> None:
        env = cohort.env
        first, second = env[a], env[b]
        result = function(first, second)
        env[r] = result
        if "overflow" in cohort.machine.checks:
            bad = _signed_overflow(name, first, second, result, dtype)
            if bad is not None:
                _fault(
                    cohort,
                    info,
                    "overflow",
                    bad,
                    f"the result does not fit {dtype.bits} bits{why}; widen the type or bound the operands",
                )

    c.emit(step)


def _integer(c: Compiler, op: ir.Operation) -> None:
    name = _INDEX_NAMES.get(op.name, op.name.split(".", 1)[1])
    dtype = c.dtype(op.operands[0])
    function = _integer_function(name, dtype)
    if "div" in name or "rem" in name:
        _checked_division(c, op, function)
        return
    if name in ("addi", "subi", "muli"):
        flags = str(op.attributes["overflowFlags"]) if "overflowFlags" in op.attributes else ""
        if dtype.kind == "index" or "nsw" in flags:
            _checked_range(c, op, name, function, dtype, "" if dtype.kind == "index" else ", which nsw promises")
            return
    emit_binary(c, op, function)


for _name in (*_INT_OPS, "shli", "shrsi", "shrui"):
    handles(f"arith.{_name}")(_integer)
for _name in _INDEX_NAMES:
    handles(_name)(_integer)


@handles("arith.mulsi_extended", "arith.mului_extended")
def _mul_extended(c: Compiler, op: ir.Operation) -> None:
    a, b = c.use(op.operands[0]), c.use(op.operands[1])
    low, high = c.define(op.results[0]), c.define(op.results[1])
    dtype, signed = c.dtype(op.operands[0]), op.name == "arith.mulsi_extended"

    def read(values: np.ndarray) -> np.ndarray:
        return (values if signed else unsigned(values, dtype)).astype(object)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        product = read(env[a]) * read(env[b])
        mask = (1 << dtype.bits) - 1
        env[low] = wrap((product & mask).astype(np.uint64), dtype)
        env[high] = wrap(((product >> dtype.bits) & mask).astype(np.uint64), dtype)

    c.emit(step)


@handles("arith.addui_extended")
def _add_extended(c: Compiler, op: ir.Operation) -> None:
    a, b = c.use(op.operands[0]), c.use(op.operands[1])
    total, carry = c.define(op.results[0]), c.define(op.results[1])
    dtype = c.dtype(op.operands[0])
    add = _integer_function("addi", dtype)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        env[total] = add(env[a], env[b])
        env[carry] = unsigned(env[total], dtype) < unsigned(env[a], dtype)

    c.emit(step)


_COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_INT_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@handles("arith.cmpi", "index.cmp")
def _compare_integers(c: Compiler, op: ir.Operation) -> None:
    if op.name == "index.cmp":
        name = str(op.attributes["pred"]).split()[-1].rstrip(">").removesuffix(")").split("<")[-1]
    else:
        name = _INT_PREDICATES[c.integer(op, "predicate")]
    function = _COMPARE[name[-2:]]
    dtype = c.dtype(op.operands[0])
    if name[0] == "u" and dtype.np != np.bool_:
        emit_binary(c, op, lambda a, b: function(unsigned(a, dtype), unsigned(b, dtype)))
    elif name[0] == "s" and dtype.np == np.bool_:
        emit_binary(c, op, lambda a, b: function(-a.astype(np.int8), -b.astype(np.int8)))
    else:
        emit_binary(c, op, function)


# ------------------------------------------------------------------------------------------------------------- floats

_FLOAT_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)


def _float_compare(name: str) -> Binary:
    if name in ("true", "false"):
        return lambda a, b: np.full(np.broadcast_shapes(a.shape, b.shape), name == "true")

    def unordered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a != a) | (b != b)

    if name == "ord":
        return lambda a, b: ~unordered(a, b)
    if name == "uno":
        return unordered
    function = _COMPARE[name[1:]]
    if name == "one":
        return lambda a, b: (a != b) & ~unordered(a, b)
    if name[0] == "o" or name == "une":
        return function
    return lambda a, b: function(a, b) | unordered(a, b)


@handles("arith.cmpf")
def _compare_floats(c: Compiler, op: ir.Operation) -> None:
    emit_binary(c, op, _float_compare(_FLOAT_PREDICATES[c.integer(op, "predicate")]))


def _extreme(a: np.ndarray, b: np.ndarray, least: bool) -> np.ndarray:
    """maximumf / minimumf: NaN wins, and -0 < +0."""
    out = np.minimum(a, b) if least else np.maximum(a, b)
    equal = (a == b) & (np.signbit(a) != np.signbit(b))
    if equal.any():
        negative = np.signbit(a) if least else ~np.signbit(a)
        out = np.where(equal, np.where(negative, a, b), out)
    return out


def _number_extreme(a: np.ndarray, b: np.ndarray, least: bool) -> np.ndarray:
    """maxnumf / minnumf: a number wins over NaN."""
    out = np.minimum(a, b) if least else np.maximum(a, b)
    return np.where(a != a, b, np.where(b != b, a, out))


FLOAT_OPS: dict[str, Binary] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maximumf": lambda a, b: _extreme(a, b, False),
    "minimumf": lambda a, b: _extreme(a, b, True),
    "maxnumf": lambda a, b: _number_extreme(a, b, False),
    "minnumf": lambda a, b: _number_extreme(a, b, True),
    "remf": lambda a, b: np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype),
}


@handles(*(f"arith.{name}" for name in FLOAT_OPS))
def _float(c: Compiler, op: ir.Operation) -> None:
    emit_binary(c, op, FLOAT_OPS[op.name.split(".")[1]])


@handles("arith.negf")
def _negate(c: Compiler, op: ir.Operation) -> None:
    a, r = c.use(op.operands[0]), c.define(op.results[0])

    def step(cohort: Cohort) -> None:
        cohort.env[r] = np.negative(cohort.env[a])

    c.emit(step)


@handles("arith.select")
def _select(c: Compiler, op: ir.Operation) -> None:
    condition, a, b = (c.use(v) for v in op.operands)
    r, info = c.define(op.results[0]), c.info
    assert info is not None
    whole = not c.shape(op.operands[0])
    is_memref = isinstance(op.results[0].type, ir.MemRefType)
    if is_memref:
        first, second = (c.roots(v) for v in list(op.operands)[1:])
        if first is not None and second is not None:
            c.set_roots(op.results[0], first | second)

    def step(cohort: Cohort) -> None:
        env = cohort.env
        test, x, y = env[condition], env[a], env[b]
        if test.size == 1 and whole:
            env[r] = x if test.item() else y
        elif is_memref:
            try:
                env[r] = select(test, x, y)
            except CannotJoin:
                raise SimError(
                    "unsupported",
                    f"{info.name}: memrefs into different buffers chosen lane by lane",
                    location=info.location,
                ) from None
        else:
            if whole:
                test = test.reshape(test.shape + (1,) * (x.ndim - 2))
            env[r] = np.where(test, x, y)

    c.emit(step)
