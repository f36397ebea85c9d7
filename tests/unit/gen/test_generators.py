"""Properties of each generator; every row of the table must have one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen import generators
from gen.generators import GENERATORS, ArgumentError, Request, Stream, make, number

F32 = np.dtype(np.float32)
UNIFORM = {"gen": "uniform", "lo": -3, "hi": 5}
seeds = st.integers(0, (1 << 63) - 1)
sizes = st.integers(1, 300)


def draw(spec: dict[str, Any], n: int, seed: int = 1, row: int = 1, **earlier: Any) -> Any:
    return make(Request(n, row, F32, Stream(seed, (0,)), earlier), spec)


def check_list() -> None:
    assert draw({"gen": "list", "values": [1, 2.5, -3]}, 3).tolist() == [1, 2.5, -3]
    with pytest.raises(ArgumentError, match="'values' has 3 elements, the shape wants 4"):
        draw({"gen": "list", "values": [1, 2, 3]}, 4)


def check_constant() -> None:
    assert set(draw({"gen": "constant", "value": 0.1}, 9).tolist()) == {float(np.float32(0.1))}
    assert np.signbit(draw({"gen": "constant", "value": -0.0}, 2)).all()


def check_cycle() -> None:
    assert draw({"gen": "cycle", "values": [1, 2, 3]}, 5).tolist() == [1, 2, 3, 1, 2]


def check_ramp() -> None:
    assert draw({"gen": "ramp", "modulus": 3, "start": 1, "step": 2}, 5).tolist() == [1, 3, 5, 1, 3]


def check_stairs() -> None:
    low = draw({"gen": "stairs", "run": 3, "phase": 0}, 7).tolist()
    high = draw({"gen": "stairs", "run": 3, "phase": 1}, 5).tolist()
    assert low == [0, 1, 2, 6, 7, 8, 12] and high == [3, 4, 5, 9, 10]


def check_uniform() -> None:
    values = draw({"gen": "uniform", "lo": -1000, "hi": 1000}, 20000)
    assert -1000 <= values.min() < -990 and 990 < values.max() <= 1000
    assert abs(values.mean()) < 25
    grid = (
        values.astype(np.float64) * 2**20
    )  # multiples of 2^-20: sums of them are exact integers
    assert (grid == np.floor(grid)).all()
    with pytest.raises(ArgumentError, match="'lo' is above 'hi'"):
        draw({"gen": "uniform", "lo": 1, "hi": 0}, 1)


def check_integers() -> None:
    values = draw({"gen": "integers", "lo": -2, "hi": 2}, 5000)
    counts = {float(v): int((values == v).sum()) for v in np.unique(values)}
    assert set(counts) == {-2, -1, 0, 1, 2} and min(counts.values()) > 850
    with pytest.raises(ArgumentError, match="must hold 1 to 2\\^31 integers"):
        draw({"gen": "integers", "lo": 3, "hi": 2}, 1)


def check_normal12() -> None:
    values = draw({"gen": "normal12"}, 40000).astype(np.float64)
    assert abs(values.mean()) < 0.02 and abs(values.var() - 1) < 0.03 and abs(values).max() <= 6
    assert (values * 65536 == np.floor(values * 65536)).all()
    words = Stream(1, (0,)).words(0, 3)  # the first element again, in Python integers
    parts = [int(word) >> shift & 0xFFFF for word in words for shift in (0, 16, 32, 48)]
    assert values[0] == (sum(parts) - 393210) / 65536


def check_bits() -> None:
    spec = {"gen": "bits", "lo": "49742400", "hi": "49742403"}
    patterns = draw(spec, 500).view(np.uint32)
    assert set(patterns.tolist()) == set(range(0x49742400, 0x49742404))
    signs = np.signbit(draw({**spec, "both_signs": True}, 500))
    assert 150 < signs.sum() < 350
    with pytest.raises(ArgumentError, match="needs lo <= hi <= 7fffffff"):
        draw({"gen": "bits", "lo": "00000001", "hi": "80000000"}, 1)


def check_sorted() -> None:
    up = draw({"gen": "sorted", "of": UNIFORM}, 500)
    down = draw({"gen": "sorted", "of": UNIFORM, "order": "down"}, 500)
    assert (np.diff(up) >= 0).all() and (down == up[::-1]).all()
    mixed = {"gen": "cycle", "values": [0.0, -0.0, "inf", "-inf", -1]}
    values = draw({"gen": "sorted", "of": mixed}, 10)
    assert values.tolist() == [-math.inf] * 2 + [-1] * 2 + [0] * 4 + [math.inf] * 2
    assert np.signbit(values[4:8]).tolist() == [True, True, False, False]


def check_scale() -> None:
    assert (
        draw({"gen": "scale", "of": {"gen": "constant", "value": 3}, "exp2": -100}, 1)
        == 3 * 2**-100
    )


def check_minus_abs() -> None:
    assert (draw({"gen": "minus_abs", "of": UNIFORM}, 200) <= 0).all()


def check_rows() -> None:
    ones = {"gen": "constant", "value": 1}
    kept = draw({"gen": "rows", "of": ones, "first": 1, "count": 3, "exp2": [2, -1]}, 10, row=2)
    assert kept.tolist() == [1, 1, 4, 4, 0.5, 0.5, 4, 4, 1, 1]
    spec = {"gen": "rows", "of": ones, "first": 0, "count": 1, "exp2": [3], "others": "zero"}
    assert draw(spec, 6, row=3).tolist() == [8, 8, 8, 0, 0, 0]
    with pytest.raises(ArgumentError, match="rows 5..4 are not all among the 5 rows"):
        draw({"gen": "rows", "of": ones, "first": 5, "exp2": [1]}, 10, row=2)


def check_pairs() -> None:
    for n in (1, 2, 7, 100):
        values = draw({"gen": "pairs", "of": UNIFORM}, n)
        assert (values[1::2] == -values[0 : n - n % 2 : 2]).all()


def check_halves() -> None:
    minus = draw({"gen": "halves", "of": UNIFORM, "sign": -1}, 100)
    assert (minus[50:] == -minus[:50]).all() and math.fsum(minus) == 0
    plus = draw({"gen": "halves", "of": UNIFORM, "sign": 1}, 100)
    assert (plus[50:] == plus[:50]).all()
    with pytest.raises(ArgumentError, match="even size"):
        draw({"gen": "halves", "of": UNIFORM, "sign": 1}, 5)


def check_overlay() -> None:
    spec = {"gen": "overlay", "base": UNIFORM, "values": [100, 200], "count": 31}
    values = draw(spec, 100)
    assert (values == 100).sum() == 16 and (values == 200).sum() == 15
    assert (values == draw(UNIFORM, 100)).sum() < 5  # the base has its own stream
    with pytest.raises(ArgumentError, match="'count' 31 is more than the 30 elements"):
        draw(spec, 30)


def check_place() -> None:
    zero = {"gen": "constant", "value": 0}
    spec = {"gen": "place", "base": zero, "at": [0, -1], "values": [5, 7]}
    assert draw(spec, 4).tolist() == [5, 0, 0, 7]
    with pytest.raises(ArgumentError, match="index 4 in 'at' is outside the 4 elements"):
        draw({**spec, "at": [0, 4]}, 4)
    with pytest.raises(ArgumentError, match="differ in length"):
        draw({**spec, "at": [0]}, 4)


def check_plant() -> None:
    stride = draw({"gen": "plant", "count": 5, "at": "stride", "step": 10, "first": 3}, 100)
    assert np.flatnonzero(stride >= 2).tolist() == [3, 13, 23, 33, 43]
    near = draw({"gen": "plant", "count": 5, "at": "range", "first": 95}, 100)
    assert np.flatnonzero(near >= 2).tolist() == [95, 96, 97, 98, 99]
    with pytest.raises(ArgumentError, match="the last winner would stand at 100 of 100"):
        draw({"gen": "plant", "count": 5, "at": "range", "first": 96}, 100)


def check_concat() -> None:
    one, two = {"gen": "constant", "value": 1}, {"gen": "constant", "value": 2}
    spec = {"gen": "concat", "parts": [{"count": 2, "of": one}, {"of": two}]}
    assert draw(spec, 5).tolist() == [1, 1, 2, 2, 2]
    with pytest.raises(ArgumentError, match="part 0 wants 2 elements, 1 are left"):
        draw(spec, 1)


def check_same() -> None:
    source = draw(UNIFORM, 10)
    copy = draw({"gen": "same", "as": "A"}, 10, A=source)
    assert (copy == source).all() and copy is not source
    with pytest.raises(ArgumentError, match="'B' is no earlier array"):
        draw({"gen": "same", "as": "B"}, 10, A=source)


CHECKS: dict[str, Callable[[], None]] = {
    name[len("check_") :]: check for name, check in globals().items() if name.startswith("check_")
}


def test_every_generator_has_a_property() -> None:
    assert set(CHECKS) == set(GENERATORS)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_property(name: str) -> None:
    CHECKS[name]()


@given(seed=seeds, n=sizes, start=st.integers(0, 200))
def test_words_of_a_part_equal_the_part_of_the_words(seed: int, n: int, start: int) -> None:
    stream = Stream(seed, (3, 1))
    assert (stream.words(start, n) == stream.words(0, start + n)[start:]).all()


@pytest.mark.parametrize(
    "spec",
    [
        UNIFORM,
        {"gen": "normal12"},
        {"gen": "integers", "lo": 0, "hi": 9},
        {"gen": "bits", "lo": "00000001", "hi": "7f7fffff", "both_signs": True},
    ],
    ids=lambda spec: str(spec["gen"]),
)
def test_chunks_do_not_show(spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw(spec, 1000, seed=77)
    monkeypatch.setattr(generators, "CHUNK", 64)
    assert (draw(spec, 1000, seed=77).view(np.uint32) == whole.view(np.uint32)).all()
    assert (draw(spec, 400, seed=77) == whole[:400]).all()


@given(seed=seeds, n=sizes)
@settings(max_examples=25)
def test_the_seed_decides_the_bytes(seed: int, n: int) -> None:
    spec = {"gen": "overlay", "base": {"gen": "sorted", "of": UNIFORM}, "values": [9], "count": 1}
    assert draw(spec, n, seed).tobytes() == draw(spec, n, seed).tobytes()
    if n > 8:
        assert draw(spec, n, seed).tobytes() != draw(spec, n, seed ^ 1).tobytes()


def test_arrays_of_a_case_have_streams_of_their_own() -> None:
    first = make(Request(50, 1, F32, Stream(5, (0,))), UNIFORM)
    second = make(Request(50, 1, F32, Stream(5, (1,))), UNIFORM)
    assert (first != second).any()


PINNED = (14276969152011380360, 8095878257575067585)


def test_the_stream_is_pinned() -> None:
    """These words come from NumPy's promise; another value means that every pin is void."""
    words = Stream(42, (0,)).words(0, 2)
    bits = np.random.PCG64(np.random.SeedSequence([42, 0]))
    bits.advance(1)
    assert int(bits.random_raw()) == int(words[1])
    assert (int(words[0]), int(words[1])) == PINNED


def test_special_numbers_keep_their_bits() -> None:
    texts = ["inf", "-inf", "nan", "-nan"]
    patterns = [int(np.asarray(number(text, F32)).view(np.uint32)) for text in texts]
    assert patterns == [0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000]
    with pytest.raises(ArgumentError, match="value 1.5 is no integer"):
        number(1.5, np.dtype(np.int32))


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=60))
def test_order_keys_follow_the_floats(values: list[float]) -> None:
    array = np.array(values, dtype=np.float32)
    keys = generators.order_keys(array)
    assert (generators.order_keys(keys).view(np.float32) == array).all()
    ordered = array[np.argsort(keys, kind="stable")]
    assert (ordered[:-1] <= ordered[1:]).all()
