"""The generators: pure functions from (request, arguments) to an array.

They draw no expected value and know no problem. Only raw 64-bit words of PCG64 are used, a stream
that NumPy promises to keep; every mapping from words to numbers is written here. Element i of a
random generator depends on word i alone (normal12: on three words), so a chunk equals the same part
of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Args = Mapping[str, Any]

CHUNK = 1 << 20
"""Elements worked on at a time: temporaries stay small beside the array itself."""


@dataclass(frozen=True)
class Stream:
    """Random words of one node of one array: seeded by (seed, array number, path of the node)."""

    seed: int
    path: tuple[int, ...]

    def child(self, index: int) -> Stream:
        """The independent stream of a nested generator.

        The path gets index + 1, because SeedSequence takes trailing zeros for absent.
        """
        return Stream(self.seed, self.path + (index + 1,))

    def words(self, start: int, count: int) -> NDArray[np.uint64]:
        """Words start .. start+count-1, uint64 (count,)."""
        bits = np.random.PCG64(np.random.SeedSequence([self.seed, *self.path]))
        if start:
            bits.advance(start)
        words: NDArray[np.uint64] = bits.random_raw(count)
        return words


@dataclass(frozen=True)
class Request:
    """What is wanted: n elements of dtype, in rows of `row` elements."""

    n: int
    row: int
    dtype: np.dtype[Any]
    stream: Stream
    earlier: Mapping[str, Array] = field(default_factory=dict)

    def nested(self, index: int, n: int | None = None) -> Request:
        """The request of a nested generator, with its own stream."""
        count = self.n if n is None else n
        return Request(count, self.row, self.dtype, self.stream.child(index), self.earlier)


class ArgumentError(ValueError):
    """Arguments that are well-formed but do not fit the request; the text names argument and remedy."""


Function = Callable[[Request, Args], Array]


@dataclass(frozen=True)
class Generator:
    """A row of the table: the function, its arguments (name -> kind) and the defaults of some."""

    function: Function
    arguments: Mapping[str, str]
    defaults: Mapping[str, Any]


GENERATORS: dict[str, Generator] = {}


def _generator(arguments: Mapping[str, str], **defaults: Any) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        GENERATORS[function.__name__.rstrip("_")] = Generator(function, arguments, defaults)
        return function

    return register


def make(request: Request, spec: Args) -> Array:
    """Runs the generator object `spec`, which the reader has checked; returns (n,) of the dtype."""
    row = GENERATORS[spec["gen"]]
    result = row.function(request, {**row.defaults, **spec})
    assert result.shape == (request.n,) and result.dtype == request.dtype
    return result


def number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number of problem.json as an element of dtype; NaN keeps the sign it is written with."""
    if isinstance(value, str):
        sign = -1.0 if value.startswith("-") else 1.0
        magnitude = np.float64(np.inf if value.endswith("inf") else np.nan)
        return np.copysign(magnitude, sign).astype(dtype)
    if dtype.kind in "iu" and value != int(value):
        raise ArgumentError(f"value {value} is no integer, but the array's dtype is {dtype}")
    return np.asarray(value).astype(dtype)


def _values(values: Sequence[Any], dtype: np.dtype[Any]) -> Array:
    return np.array([number(value, dtype) for value in values], dtype=dtype)


def _fill(request: Request, words_each: int, mapping: Callable[[Array], Array]) -> Array:
    """mapping(words) -> float64 or integer values, chunk by chunk, rounded once to the dtype."""
    result = np.empty(request.n, dtype=request.dtype)
    for start in range(0, request.n, CHUNK):
        stop = min(start + CHUNK, request.n)
        words = request.stream.words(start * words_each, (stop - start) * words_each)
        result[start:stop] = mapping(words)
    return result


@_generator({"values": "numbers"})
def list_(request: Request, args: Args) -> Array:
    """Exactly the given values."""
    if len(args["values"]) != request.n:
        raise ArgumentError(
            f"'values' has {len(args['values'])} elements, the shape wants {request.n}"
        )
    return _values(args["values"], request.dtype)


@_generator({"value": "number"})
def constant(request: Request, args: Args) -> Array:
    """One value everywhere."""
    return np.full(request.n, number(args["value"], request.dtype), dtype=request.dtype)


@_generator({"values": "numbers"})
def cycle(request: Request, args: Args) -> Array:
    """Element i is values[i mod len]."""
    return np.resize(_values(args["values"], request.dtype), request.n)


@_generator({"modulus": "count", "start": "integer", "step": "integer"}, start=0, step=1)
def ramp(request: Request, args: Args) -> Array:
    """start + step * (i mod modulus)."""
    index = np.arange(request.n, dtype=np.int64) % args["modulus"]
    values: Array = args["start"] + args["step"] * index
    return values.astype(request.dtype)


@_generator({"run": "count", "phase": "bit"})
def stairs(request: Request, args: Args) -> Array:
    """Ascending integers in runs; arrays of phase 0 and 1 interleave run by run without ties."""
    index = np.arange(request.n, dtype=np.int64)
    run = args["run"]
    values: Array = (2 * (index // run) + args["phase"]) * run + index % run
    return values.astype(request.dtype)


@_generator({"lo": "finite", "hi": "finite"})
def uniform(request: Request, args: Args) -> Array:
    """lo + (hi - lo) * j / 2^24 in float64, j the upper 24 bits of word i, rounded to the dtype."""
    lo, width = float(args["lo"]), float(args["hi"]) - float(args["lo"])
    if width < 0:
        raise ArgumentError("'lo' is above 'hi'")
    return _fill(request, 1, lambda w: lo + width * ((w >> np.uint64(40)) * 2.0**-24))


@_generator({"lo": "integer", "hi": "integer"})
def integers(request: Request, args: Args) -> Array:
    """Integers lo..hi: the upper 32 bits of word i times the count of values, shifted down."""
    lo, count = args["lo"], args["hi"] - args["lo"] + 1
    if not 0 < count <= 1 << 31:
        raise ArgumentError("'lo'..'hi' must hold 1 to 2^31 integers")
    half = np.uint64(32)

    def mapping(words: Array) -> Array:
        scaled: Array = ((words >> half) * np.uint64(count)) >> half
        values: Array = lo + scaled.astype(np.int64)
        return values

    return _fill(request, 1, mapping)


@_generator({})
def normal12(request: Request, args: Args) -> Array:
    """Sum of twelve 16-bit integers (three words) minus 393,210, times 2^-16."""

    def mapping(words: Array) -> Array:
        parts = words.view(np.uint16).reshape(-1, 12)  # the sum ignores the order of the parts
        sums: Array = parts.sum(axis=1, dtype=np.int64)
        return (sums - 393210) * np.float64(2.0**-16)

    return _fill(request, 3, mapping)


@_generator({"lo": "hex", "hi": "hex", "both_signs": "boolean"}, both_signs=False)
def bits(request: Request, args: Args) -> Array:
    """f32 patterns lo..hi, both included; with both_signs the lowest bit of word i is the sign."""
    if request.dtype != np.dtype(np.float32):
        raise ArgumentError("'bits' makes f32 patterns only")
    lo, hi = int(args["lo"], 16), int(args["hi"], 16)
    if not lo <= hi < 1 << 31:
        raise ArgumentError("needs lo <= hi <= 7fffffff: the sign bit comes from 'both_signs'")
    half, sign = np.uint64(32), np.uint64(1 if args["both_signs"] else 0)

    def mapping(words: Array) -> Array:
        pattern = np.uint64(lo) + (((words >> half) * np.uint64(hi - lo + 1)) >> half)
        pattern |= (words & sign) << np.uint64(31)
        return pattern.astype(np.uint32).view(np.float32)

    return _fill(request, 1, mapping)


def order_keys(values: Array) -> Array:
    """Signed integers in the order of the floats (-0 before +0); its own inverse on the keys."""
    integer = np.dtype(f"i{values.dtype.itemsize}")
    raw = values.view(integer)
    mask = np.iinfo(integer).max
    keys: Array = raw ^ ((raw >> (8 * integer.itemsize - 1)) & mask)
    return keys


def sort_total(values: Array) -> Array:
    """Ascending copy; the bits of the result depend on the multiset of bits alone."""
    if values.dtype.kind in "iu":
        return np.sort(values)
    keys = order_keys(values)
    keys.sort()
    return order_keys(keys).view(values.dtype)


@_generator({"of": "generator", "order": "order"}, order="up")
def sorted_(request: Request, args: Args) -> Array:
    """The nested array in ascending or descending order."""
    values = sort_total(make(request.nested(0), args["of"]))
    return values if args["order"] == "up" else values[::-1].copy()


@_generator({"of": "generator", "exp2": "integer"})
def scale(request: Request, args: Args) -> Array:
    """The nested array times 2^exp2."""
    return np.ldexp(make(request.nested(0), args["of"]), args["exp2"]).astype(request.dtype)


@_generator({"of": "generator"})
def minus_abs(request: Request, args: Args) -> Array:
    """Minus the absolute values of the nested array."""
    return -np.abs(make(request.nested(0), args["of"]))


@_generator(
    {
        "of": "generator",
        "exp2": "integers",
        "first": "natural",
        "count": "natural",
        "others": "others",
    },
    first=0,
    count=None,
    others="keep",
)
def rows(request: Request, args: Args) -> Array:
    """Rows first .. first+count-1 times 2^exp2 in turn; the others stay or become zero."""
    table = make(request.nested(0), args["of"]).reshape(-1, request.row)
    first = args["first"]
    last = len(table) if args["count"] is None else first + args["count"]
    if not first < last <= len(table):
        raise ArgumentError(f"rows {first}..{last - 1} are not all among the {len(table)} rows")
    exponents = np.resize(np.array(args["exp2"], dtype=np.int32), last - first)
    chosen = np.ldexp(table[first:last], exponents[:, None])
    result = table.copy() if args["others"] == "keep" else np.zeros_like(table)
    result[first:last] = chosen
    return result.reshape(-1)


@_generator({"of": "generator"})
def pairs(request: Request, args: Args) -> Array:
    """Element 2i + 1 is minus element 2i."""
    values = make(request.nested(0), args["of"])
    values[1::2] = -values[0 : request.n - 1 : 2] if request.n > 1 else values[1::2]
    return values


@_generator({"of": "generator", "sign": "sign"})
def halves(request: Request, args: Args) -> Array:
    """The second half repeats the first, times sign."""
    if request.n % 2:
        raise ArgumentError(f"'halves' needs an even size, not {request.n}")
    first = make(request.nested(0, request.n // 2), args["of"])
    return np.concatenate([first, first if args["sign"] == 1 else -first])


@_generator({"base": "generator", "values": "numbers", "count": "natural"})
def overlay(request: Request, args: Args) -> Array:
    """`count` distinct places, the ones with the smallest random words, take the values in turn."""
    count = args["count"]
    if count > request.n:
        raise ArgumentError(f"'count' {count} is more than the {request.n} elements")
    values = make(request.nested(0), args["base"])
    places = np.argsort(request.stream.child(1).words(0, request.n), kind="stable")[:count]
    values[places] = np.resize(_values(args["values"], request.dtype), count)
    return values


@_generator({"base": "generator", "at": "integers", "values": "numbers"})
def place(request: Request, args: Args) -> Array:
    """values[j] at index at[j]; a negative index counts from the end."""
    if len(args["at"]) != len(args["values"]):
        raise ArgumentError("'at' and 'values' differ in length")
    values = make(request.nested(0), args["base"])
    for index, value in zip(args["at"], args["values"]):
        if not -request.n <= index < request.n:
            raise ArgumentError(f"index {index} in 'at' is outside the {request.n} elements")
        values[index] = number(value, request.dtype)
    return values


@_generator({"count": "count", "at": "at", "first": "natural", "step": "count"}, first=0, step=1)
def plant(request: Request, args: Args) -> Array:
    """U(-1, 1), but `count` winners in U(2, 3) in one range or at a stride."""
    step = args["step"] if args["at"] == "stride" else 1
    places = args["first"] + step * np.arange(args["count"], dtype=np.int64)
    if places[-1] >= request.n:
        raise ArgumentError(f"the last winner would stand at {places[-1]} of {request.n}")
    values = uniform(request.nested(0), {"lo": -1, "hi": 1})
    values[places] = uniform(request.nested(1, args["count"]), {"lo": 2, "hi": 3})
    return values


@_generator({"parts": "parts"})
def concat(request: Request, args: Args) -> Array:
    """The parts one after the other; the last takes what is left."""
    parts, left = [], request.n
    for index, part in enumerate(args["parts"]):
        count = part.get("count", left)
        if count > left:
            raise ArgumentError(f"part {index} wants {count} elements, {left} are left")
        parts.append(make(request.nested(index, count), part["of"]))
        left -= count
    return np.concatenate(parts)


@_generator({"as": "array"})
def same(request: Request, args: Args) -> Array:
    """A copy of an earlier array of the case."""
    source = request.earlier.get(args["as"])
    if source is None or source.size != request.n or source.dtype != request.dtype:
        raise ArgumentError(f"'{args['as']}' is no earlier array of the same size and dtype")
    return source.reshape(-1).copy()
